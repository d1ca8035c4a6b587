//! What searches tell on a terminal while they go on. Needs `script` (util-linux), which makes one; counted as ignored
//! where that is absent.

use libtest_mimic::{Failed, Trial};
use std::path::Path;
use std::process::Command;

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let absent = Command::new("script").arg("--version").output().is_err();
    let prove = "prove ptx-examples/reduction --memory fermi --for 4s --save-schedule";
    let compare = "compare ptx-examples/spinlock --for 6s --schedules";
    let trials = [("prove", prove, " states, "), ("compare", compare, "crs flat: ")]
        .map(|(name, command, told)| Trial::test(name, move || moves(command, told)).with_ignored_flag(absent));
    trials.into()
}

/// A line is there from the beginning, says how far the search is, and moves also where a state takes long.
fn moves(command: &str, told: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("found").display().to_string();
    let line = format!("{} {command} {file}", env!("CARGO_BIN_EXE_warpstep"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shown = Command::new("script").args(["-qec", &line, "/dev/null"]).current_dir(root).output()?.stdout;
    let shown = String::from_utf8_lossy(&shown);
    let glyphs = "\u{2801}\u{2802}\u{2804}\u{2840}\u{2880}\u{2820}\u{2810}\u{2808}";
    let turned = glyphs.chars().filter(|g| shown.contains(*g)).count();
    if turned > 2 && ["begins in 0s; Ctrl-C ends it", told].iter().all(|word| shown.contains(word)) {
        return Ok(());
    }
    Err(format!("{turned} of the spinner's places: {shown}").into())
}
