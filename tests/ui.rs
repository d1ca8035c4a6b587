//! PTX files and memory programs with their golden output.
//!
//! `tests/ui/*/*.{ptx,memp}` begin with comments: `// args: …` are the arguments of `warpstep` (the file's name is put after the
//! first of them, and words are split at blanks), `// exit: N` the exit code, `// says: …` words that the output must contain.
//! The output lies beside in NAME.out; `BLESS=1 cargo test --test ui` writes it. The folder says what the exit code may be.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders and the exit codes of what lies in them.
const FOLDERS: [(&str, i32); 6] =
    [("pass", 0), ("stuck", 1), ("bug", 1), ("limit", 3), ("unsupported", 4), ("syntax", 2)];

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let mut trials = Vec::new();
    for (folder, code) in FOLDERS {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten().map(|e| e.path()).collect();
        files.retain(|f| f.extension().is_some_and(|e| e == "ptx" || e == "memp"));
        files.sort();
        for file in files {
            let stem = file.file_stem().and_then(|s| s.to_str()).unwrap_or("").to_owned();
            trials.push(Trial::test(format!("{folder}/{stem}"), move || case(&file, code)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn case(file: &Path, folder_code: i32) -> Result<(), Failed> {
    let source = std::fs::read_to_string(file)?;
    let header = |key: &str| -> Vec<&str> {
        let lines = source.lines().take_while(|l| l.starts_with("//"));
        lines.filter_map(|l| l.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": ")).collect()
    };
    let arguments: Vec<&str> = header("args").into_iter().flat_map(str::split_whitespace).collect();
    let (command, rest) = arguments.split_first().ok_or("no `// args:` line")?;
    let code: i32 = header("exit").first().ok_or("no `// exit:` line")?.parse()?;
    if code != folder_code {
        return Err(format!("exit code {code} belongs into another folder").into());
    }
    let folder = file.parent().ok_or("no folder")?;
    let name = file.file_name().ok_or("no name")?;
    let output = Command::new(env!("CARGO_BIN_EXE_warpstep"))
        .arg(command)
        .arg(name)
        .args(rest)
        // No case runs for seconds; one that hangs should say so.
        .args(if *command == "run" { &["--timeout", "60s"][..] } else { &[] })
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() != Some(code) {
        return Err(format!("exit code {:?}, expected {code}\n{text}", output.status.code()).into());
    }
    if let Some(missing) = header("says").into_iter().find(|words| !text.contains(words)) {
        return Err(format!("the output does not say {missing:?}\n{text}").into());
    }
    let golden = file.with_extension("out");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&golden, &text)?;
        return Ok(());
    }
    let wanted =
        std::fs::read_to_string(&golden).map_err(|e| format!("{}: {e}; BLESS=1 writes it", golden.display()))?;
    if wanted == text {
        Ok(())
    } else {
        Err(format!("the output has changed; BLESS=1 takes it\n--- was\n{wanted}\n--- is\n{text}").into())
    }
}
