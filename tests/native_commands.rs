//! What `run` tells of kernels with defects does not depend on what executes them.

use crate::case::Case;

/// Folders with cases.
const FOLDERS: [&str; 7] = [
    "tests/ui/bug",
    "tests/ui/pass",
    "tests/ui/limit",
    "tests/ui/stuck",
    "tests/bounds",
    "tests/barriers",
    "tests/hangs",
];

#[test]
fn engines_tell_the_same_of_cases_under_checks() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for case in FOLDERS.into_iter().flat_map(Case::below) {
        let own = case.arguments();
        if own.first() != Some(&"run") || own.contains(&"--engine") {
            continue;
        }
        for checks in ["races", "bounds", "races,bounds"] {
            let told = |engine: &'static str| {
                let mut arguments = own.clone();
                arguments.extend(["--engine", engine, "--max-steps", "20000", "--check", checks]);
                let output = case.run(&arguments).unwrap();
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                (output.status.code(), text(&output.stdout), text(&output.stderr))
            };
            let (wanted, seen) = (told("interpreter"), told("native"));
            // Where a flag does not fit there is no run.
            compared += u64::from(wanted.0 != Some(2));
            if wanted != seen {
                wrong.push(format!("{} --check {checks}\n{wanted:#?}\n{seen:#?}", case.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 150, "{compared}");
}
