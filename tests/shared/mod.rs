//! Extra material that some machines have: `../shared`, beside the checkout or one level up.

use std::path::{Path, PathBuf};

/// The folder; `None`, with a notice that says what is skipped, where it is absent.
pub fn folder(skipped: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = ["../shared", "../../shared"].iter().map(|p| here.join(p)).find(|p| p.is_dir());
    if found.is_none() {
        eprintln!("notice: ../shared is absent; {skipped}: skipped");
    }
    found
}
