//! Single instructions that ptxas takes or refuses: the files of `tests/verdicts/` say which, and we say the same.
//!
//! A line `@ 8.8 sm_90` says for which version and target the next ones are, `+ add.u32 %r0, %r1, %r2;` that ptxas takes an
//! instruction, `-` that it does not. Where ptxas is there (`tests/oracle.rs`), it is asked again; `BLESS=1` writes
//! what it says.

use crate::{oracle, shared};
use libtest_mimic::Trial;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Registers that the instructions may use.
const REGISTERS: &str = ".reg .b32 %r<20>; .reg .u32 %u<9>; .reg .s32 %s<9>; .reg .b64 %rd<9>; .reg .u64 %ud<9>; .reg .pred %p<9>;\n\
    .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b16 %h<9>; .reg .u16 %us<9>; .reg .b8 %b<9>; .reg .v4 .u32 %v<3>;\n\
    .shared .align 16 .b8 sh[64]; .local .align 16 .b8 lo[64];\n";

/// Those that old versions do not have.
const NEWER: &str = ".reg .f16x2 %hh<9>; .reg .f16 %hf<9>; .reg .b128 %q<9>;\n";

/// Declarations of a module.
const GLOBALS: &str = ".global .align 16 .b8 gl[64]; .const .align 16 .b8 co[64];\n";

/// Instructions of one version and target.
struct Group {
    version: String,
    target: String,
    /// Whether ptxas takes it, and its text.
    lines: Vec<(bool, String)>,
}

impl Group {
    /// A module with some of its instructions, and how many lines come before the first one.
    fn module(&self, instructions: &[&str]) -> (String, usize) {
        let newer = if self.version.starts_with(['2', '3', '4']) { "" } else { NEWER };
        let head = format!(
            ".version {}\n.target {}\n.address_size 64\n{GLOBALS}.visible .entry k(.param .u64 pa, .param .u32 pb) {{\n\
             {REGISTERS}{newer}",
            self.version, self.target
        );
        let before = head.lines().count();
        (format!("{head}{}\nret;\n}}\n", instructions.join("\n")), before)
    }

    /// The instructions that ptxas refuses, by index. An error may hide later ones, so what it refuses is taken out until
    /// nothing is.
    fn refused(&self, ptxas: &Path, file: &Path) -> BTreeMap<usize, String> {
        let mut all = BTreeMap::new();
        loop {
            let left: Vec<usize> = (0..self.lines.len()).filter(|i| !all.contains_key(i)).collect();
            let texts: Vec<&str> = left.iter().map(|i| self.lines[*i].1.as_str()).collect();
            let (text, before) = self.module(&texts);
            let found = oracle::all_errors(ptxas, &text, &oracle::arch(&text), file);
            let Some(errors) = found else { return all };
            let numbered = errors.iter().filter_map(|(line, error)| Some((line.checked_sub(before + 1)?, error)));
            let mut new = 0;
            for (index, error) in numbered {
                if let Some(at) = left.get(index) {
                    new += usize::from(all.insert(*at, error.clone()).is_none());
                }
            }
            assert!(new > 0, "ptxas refuses the whole: {errors:?}\n{text}");
        }
    }
}

fn read(path: &Path) -> (String, Vec<Group>) {
    let text = std::fs::read_to_string(path).expect("the file is part of the repository");
    let mut comment = String::new();
    let mut groups: Vec<Group> = Vec::new();
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("#", _)) if groups.is_empty() => writeln!(comment, "{line}").unwrap(),
            Some(("@", of)) => {
                let (version, target) = of.split_once(' ').expect(line);
                groups.push(Group { version: version.to_owned(), target: target.to_owned(), lines: Vec::new() });
            }
            Some((sign @ ("+" | "-"), text)) => {
                groups.last_mut().expect("a target first").lines.push((sign == "+", text.to_owned()));
            }
            _ => assert!(line.is_empty() || line.starts_with('#'), "{}: {line}", path.display()),
        }
    }
    (comment, groups)
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("the folder").flatten().map(|e| e.path()).collect();
    files.retain(|path| path.extension().is_some_and(|x| x == "txt"));
    files.sort();
    files
}

/// We take and refuse what ptxas does.
fn ours(path: &Path) {
    let mut wrong = Vec::new();
    for group in read(path).1 {
        for (taken, text) in &group.lines {
            let complaint = oracle::ours(&group.module(&[text]).0);
            match (taken, complaint) {
                (true, Some(complaint)) => wrong.push(format!("taken by ptxas: {text} -- {complaint}")),
                (false, None) => wrong.push(format!("refused by ptxas: {text}")),
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{} verdicts differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The files say what ptxas says.
fn theirs() {
    let ptxas = oracle::ptxas().expect("the test is ignored where there is none");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut wrong = Vec::new();
    for path in files() {
        let (mut text, groups) = read(&path);
        for group in groups {
            let refused = group.refused(&ptxas, &folder.path().join("all.ptx"));
            writeln!(text, "@ {} {}", group.version, group.target).unwrap();
            for (index, (taken, line)) in group.lines.iter().enumerate() {
                let error = refused.get(&index);
                if error.is_none() != *taken {
                    wrong.push(format!("{line}: {error:?}"));
                }
                writeln!(text, "{} {line}", if error.is_none() { "+" } else { "-" }).unwrap();
            }
        }
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, text).expect("the file is writable");
        }
    }
    assert!(wrong.is_empty() || std::env::var_os("BLESS").is_some(), "ptxas says otherwise of\n{}", wrong.join("\n"));
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = files()
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Trial::test(name, move || {
                ours(&path);
                Ok(())
            })
        })
        .collect();
    trials.push(shared::unless_absent("they_are_those_of_ptxas", "ptxas", oracle::ptxas().is_some(), theirs));
    trials
}
