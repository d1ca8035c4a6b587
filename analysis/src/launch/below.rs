//! Launch files and host scripts below a folder.
//!
//! A project has other TOML files (`Cargo.toml`, devices, suppressions), so a file in a folder is one of ours only where it
//! looks like one: by its name, `launch.toml` or `launch.….toml`, or by what it has, `ptx` or a list `launch` or `host`. One
//! that is broken is looked at line by line: a mistake must not make a test go away. Nothing whose name begins with a dot is
//! looked at, and links to folders are not followed, which may lead round.

use super::file::{text_of, unreadable};
use super::problem::ProblemKind;
use crate::base::sort;
use std::fs::read_dir;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// What was found below a path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Below {
    /// Launch files and host scripts, in the order of their paths.
    pub files: Vec<PathBuf>,
    /// Other TOML files.
    pub others: Vec<PathBuf>,
}

/// The launch files and host scripts below a folder, or the file that is named, whatever it is.
///
/// # Errors
/// A folder cannot be read, or there is nothing of the name.
pub fn below(path: &Path) -> Result<Below, ProblemKind> {
    let about = std::fs::metadata(path).map_err(|e| unreadable(path, &e))?;
    if !about.is_dir() {
        return Ok(Below { files: vec![path.to_owned()], others: Vec::new() });
    }
    let (mut found, mut folders) = (Below::default(), vec![path.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in read_dir(&folder).map_err(|e| unreadable(&folder, &e))? {
            let entry = entry.map_err(|e| unreadable(&folder, &e))?;
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let kind = entry.file_type().map_err(|e| unreadable(&path, &e))?;
            let toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
            if kind.is_dir() {
                folders.push(path);
            } else if toml && !path.is_dir() {
                if is_launch(&path) { found.files.push(path) } else { found.others.push(path) }
            }
        }
    }
    sort::sort(&mut found.files);
    sort::sort(&mut found.others);
    Ok(found)
}

/// Whether a TOML file is a launch file or a host script, or was meant to be. One that cannot be read counts as one: who
/// tests it is told.
#[must_use]
pub fn is_launch(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    if name == "launch.toml" || name.starts_with("launch.") {
        return true;
    }
    let Ok(text) = text_of(path) else { return true };
    let (table, errors) = DeTable::parse_recoverable(&text);
    let table = table.get_ref();
    let list = |key: &str| table.get(key).is_some_and(|value| value.get_ref().is_array());
    let heads = |line: &str| ["[[launch]]", "[[host]]"].iter().any(|head| line.trim_start().starts_with(head));
    table.contains_key("ptx") || list("launch") || list("host") || !errors.is_empty() && text.lines().any(heads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(paths: &[PathBuf], root: &Path) -> Vec<String> {
        paths.iter().map(|p| p.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn launch_files_are_told_from_others() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let put = |name: &str, text: &str| {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        };
        put("b/launch.toml", "");
        put("a/launch.sm_70.toml", "nothing");
        put("a/plain.TOML", "ptx = \"k.ptx\"\n");
        put("a/script.toml", "[[host]]\ndo = \"create\"\n");
        put("c/broken.toml", "ptx = [\n[[launch]]\nentry = \"k\"\n");
        put("c/no-ptx.toml", "[[launch]]\nentry = \"k\"\n");
        // Others of a project, one of them broken and one with words of ours that mean something else.
        put("Cargo.toml", "[package]\nname = \"x\"\n");
        put("settings.toml", "host = \"localhost\"\nlaunch = true\n");
        put("odd.toml", "x = {{ y }}\n");
        put(".hidden/launch.toml", "");
        put("a/.launch.toml", "");
        put("a/launch.json", "");
        let found = below(root).unwrap();
        let wanted =
            ["a/launch.sm_70.toml", "a/plain.TOML", "a/script.toml", "b/launch.toml", "c/broken.toml", "c/no-ptx.toml"];
        assert_eq!(names(&found.files, root), wanted);
        assert_eq!(names(&found.others, root), ["Cargo.toml", "odd.toml", "settings.toml"]);
        // A file that is named is taken at its word.
        assert_eq!(below(&root.join("Cargo.toml")).unwrap().files, [root.join("Cargo.toml")]);
        assert!(matches!(below(&root.join("none")), Err(ProblemKind::Unreadable { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_lead_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("launch.toml"), "").unwrap();
        std::os::unix::fs::symlink(root, root.join("round")).unwrap();
        std::os::unix::fs::symlink(root.join("launch.toml"), root.join("launch.too.toml")).unwrap();
        assert_eq!(names(&below(root).unwrap().files, root), ["launch.toml", "launch.too.toml"]);
    }
}
