//! The folders of `tests/ui`.

use crate::case::Case;

/// The folders and the exit codes of what lies in them.
pub const FOLDERS: [(&str, i32); 6] =
    [("pass", 0), ("stuck", 1), ("bug", 1), ("limit", 3), ("unsupported", 4), ("syntax", 2)];

/// All files of a folder.
pub fn all(folder: &str) -> Vec<Case> {
    Case::below(&format!("tests/ui/{folder}"))
}
