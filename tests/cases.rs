//! PTX files and memory programs with their golden output.
//!
//! `tests/case` says how they are run. The output lies beside in NAME.out; `BLESS=1 cargo test --test ui -- ui` writes it. The
//! folder says what the exit code may be.

use crate::case::Case;
use crate::folders::{FOLDERS, all};
use libtest_mimic::{Failed, Trial};

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (folder, code) in FOLDERS {
        for case in all(folder) {
            let stem = case.path.file_stem().and_then(|s| s.to_str()).unwrap_or("").to_owned();
            trials.push(Trial::test(format!("{folder}/{stem}"), move || check(&case, code)));
        }
    }
    trials
}

fn check(case: &Case, folder_code: i32) -> Result<(), Failed> {
    if case.arguments().is_empty() {
        return Err("no `// args:` line".into());
    }
    let code: i32 = case.header("exit").first().ok_or("no `// exit:` line")?.parse()?;
    if code != folder_code {
        return Err(format!("exit code {code} belongs into another folder").into());
    }
    let output = case.run(&case.arguments())?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() != Some(code) {
        return Err(format!("exit code {:?}, expected {code}\n{text}", output.status.code()).into());
    }
    if let Some(missing) = case.header("says").into_iter().find(|words| !text.contains(words)) {
        return Err(format!("the output does not say {missing:?}\n{text}").into());
    }
    let golden = case.path.with_extension("out");
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
