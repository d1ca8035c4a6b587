//! The folder of a launch file or host script, which file names in it are relative to.

use super::problem::ProblemKind;
use crate::base::files::lies_in;
use std::path::{Component, Path, PathBuf};

/// A folder, and whether a file in it may name others only of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folder<'a> {
    pub path: &'a Path,
    /// What is not its owner's may not be read for whoever wrote the file (D-confined).
    pub confined: bool,
}

impl Folder<'_> {
    /// A file that is named in one of this folder.
    ///
    /// # Errors
    /// It lies elsewhere, and must not.
    pub fn file(&self, name: &str) -> Result<PathBuf, ProblemKind> {
        let file = self.path.join(name);
        // That a file is there is not told either, so that the name decides before the disk does.
        let up = |c: Component<'_>| !matches!(c, Component::Normal(_) | Component::CurDir);
        if self.confined && (Path::new(name).components().any(up) || !lies_in(self.path, &file)) {
            return Err(ProblemKind::Outside { path: PathBuf::from(name), folder: self.path.to_owned() });
        }
        Ok(file)
    }
}
