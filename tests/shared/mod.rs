//! Extra material that some machines have: `../shared`, beside the checkout or one level up.

use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};

/// The folder, where it is.
pub fn found() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    ["../shared", "../../shared"].iter().map(|p| here.join(p)).find(|p| p.is_dir())
}

/// The folder; `None`, with a notice that says what is skipped, where it is absent.
#[allow(dead_code, reason = "not every test file asks so")]
pub fn folder(skipped: &str) -> Option<PathBuf> {
    let found = found();
    if found.is_none() {
        eprintln!("notice: ../shared is absent; {skipped}: skipped");
    }
    found
}

/// A test that reads `needs`, a path below the folder: counted as ignored, with what is missing as its kind, where that is
/// absent.
#[allow(dead_code, reason = "not every test file asks so")]
pub fn trial(name: &str, needs: &str, test: fn(&Path) -> Result<(), Failed>) -> Trial {
    match found().filter(|folder| folder.join(needs).exists()) {
        Some(folder) => Trial::test(name, move || test(&folder)),
        None => Trial::test(name, || Ok(())).with_kind(format!("../shared/{needs} is absent")).with_ignored_flag(true),
    }
}
