//! Extra material that some machines have: `../shared`, beside the checkout or one level up. Tests that read it are counted
//! as ignored where it is absent.

use libtest_mimic::Trial;
use std::path::{Path, PathBuf};

/// The folder, where it is.
pub fn found() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    ["../shared", "../../shared"].iter().map(|p| here.join(p)).find(|p| p.is_dir())
}

/// A file of it, for a test that is run only where the file is.
pub fn text(path: &str) -> String {
    let file = found().expect("asked for where it is").join(path);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A test that reads `needs`, a path below the folder; where that is absent it is ignored, with what is missing as its kind.
pub fn trial(name: &str, needs: &str, test: fn()) -> Trial {
    let there = found().is_some_and(|folder| folder.join(needs).exists());
    unless_absent(name, &format!("../shared/{needs}"), there, test)
}

/// A test that is ignored unless `there`.
pub fn unless_absent(name: &str, needs: &str, there: bool, test: fn()) -> Trial {
    let trial = Trial::test(name, move || {
        test();
        Ok(())
    });
    if there { trial } else { trial.with_kind(format!("{needs} is absent")).with_ignored_flag(true) }
}

/// A test: its name, what it reads of the folder if it does, and its body.
pub type Test<'a> = (&'a str, Option<&'a str>, fn());

/// The tests of a list.
pub fn trials(tests: &[Test<'_>]) -> Vec<Trial> {
    let trial = |(name, needs, test): &Test<'_>| match needs {
        Some(needs) => trial(name, needs, *test),
        None => unless_absent(name, "", true, *test),
    };
    tests.iter().map(trial).collect()
}
