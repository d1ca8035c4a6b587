//! Where the files of a project lie: names in reports for other programs are relative to its root, and lines of CUDA source
//! are told only of files that it has.
//!
//! `.loc` names a file as the compiler saw it, on whatever computer that was. Who shows reports beside the source (code
//! scanning, annotations of a change) knows the files of the checkout alone.

use super::stop::StopReport;
use crate::base::{FileId, Pc, SourceMap, Span};
use serde::Serialize;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The root of a project, and where names begin that are not absolute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roots {
    root: PathBuf,
    here: PathBuf,
}

/// A line of a file, for programs that show reports beside the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spot {
    /// Relative to the root of the project, where it lies there.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 when unknown.
    pub column: u32,
}

impl Roots {
    /// Those of a project with this root, for a process that works where it is now.
    ///
    /// # Errors
    /// There is no such folder, or none to work in.
    pub fn new(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        if root.is_dir() {
            Ok(Self { root, here: std::env::current_dir()? })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// The name of a file relative to the root; of one that lies elsewhere, as it is.
    #[must_use]
    pub fn relative(&self, name: &str) -> String {
        let whole = plain(&self.here.join(name));
        let below = |path: &Path| path.strip_prefix(&self.root).map(slashed).ok().filter(|name| !name.is_empty());
        // A link may lie in the project and lead out of it, or the other way round.
        let found = below(&whole).or_else(|| below(&whole.canonicalize().ok()?));
        found.unwrap_or_else(|| name.to_owned())
    }

    /// The file of the project that `.loc` names in a PTX file, relative to the root: where it was compiled, or else the file
    /// with the longest end of that path, or the one beside the PTX. `None`: the project does not have it.
    #[must_use]
    pub fn source(&self, named: &str, ptx: &str) -> Option<String> {
        let (named, root) = (Path::new(named), self.root.as_path());
        let inside = named.strip_prefix(root).ok().map(plain).filter(|path| root.join(path).is_file());
        let parts: Vec<_> = named.components().filter(|c| matches!(c, Component::Normal(_))).collect();
        let ends = |from: usize, to: usize| {
            (from..to).map(|k| parts[k..].iter().collect::<PathBuf>()).find(|end| root.join(end).is_file())
        };
        let last = parts.len().checked_sub(1)?;
        let beside = || {
            let file = plain(&self.here.join(ptx)).parent()?.join(parts[last]);
            file.strip_prefix(root).ok().map(Path::to_owned).filter(|_| file.is_file())
        };
        let found = inside.or_else(|| ends(0, last)).or_else(beside).or_else(|| ends(last, last + 1))?;
        Some(slashed(&found))
    }

    /// The name of a file that is relative to the root, as it is from anywhere.
    pub(super) fn absolute(&self, file: &str) -> String {
        self.root.join(file).display().to_string()
    }

    /// A place in a file that was read.
    pub(super) fn spot(&self, file: FileId, span: Span, sources: &SourceMap) -> Option<Spot> {
        let source = sources.get(file)?;
        let (line, column) = source.line_col(span.start);
        Some(Spot { file: self.relative(&source.name), line, column })
    }

    /// The line of the project's own source of an instruction, if there is one.
    pub(super) fn cuda(&self, report: &StopReport<'_>, pc: Pc) -> Option<Spot> {
        let cuda = report.cuda(pc)?;
        let ptx = report.sources.get(report.span(pc).0)?;
        let file = self.source(&cuda.file, &ptx.name)?;
        Some(Spot { file, line: cuda.line.max(1), column: cuda.column })
    }
}

/// A path without `.` and `..`, as far as its text tells.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = out.pop(),
            other => out.push(other),
        }
    }
    out
}

/// A path with slashes, as tools want it on every system.
fn slashed(path: &Path) -> String {
    path.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        for file in ["src/a/k.cu", "k.cu", "out/k.ptx", "out/beside.cu"] {
            let file = folder.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let root = folder.path().canonicalize().unwrap();
        let roots = Roots { here: root.join("out"), root };
        (folder, roots)
    }

    #[test]
    fn names_are_relative_to_the_root() {
        let (_folder, roots) = project();
        let whole = roots.root.join("src/a/k.cu").display().to_string();
        for (name, wanted) in [
            ("k.ptx", "out/k.ptx"),
            ("./../src/./a/k.cu", "src/a/k.cu"),
            (&whole, "src/a/k.cu"),
            ("/elsewhere/k.ptx", "/elsewhere/k.ptx"),
            ("../../k.ptx", "../../k.ptx"),
        ] {
            assert_eq!(roots.relative(name), wanted);
        }
    }

    #[test]
    fn a_source_is_found_where_the_project_has_it() {
        let (_folder, roots) = project();
        let find = |named: &str| roots.source(named, "k.ptx");
        let here = roots.root.join("src/a/k.cu").display().to_string();
        assert_eq!(find(&here).as_deref(), Some("src/a/k.cu"));
        // Compiled on another computer.
        assert_eq!(find("/build/7/src/a/k.cu").as_deref(), Some("src/a/k.cu"));
        assert_eq!(find("/build/7/beside.cu").as_deref(), Some("out/beside.cu"));
        assert_eq!(find("k.cu").as_deref(), Some("k.cu"));
        assert_eq!(find("/usr/local/cuda/include/cuda_fp16.hpp"), None);
        assert_eq!(find(""), None);
    }

    #[test]
    fn a_root_is_a_folder() {
        let (folder, _) = project();
        assert!(Roots::new(&folder.path().join("k.cu")).is_err() && Roots::new(&folder.path().join("none")).is_err());
        assert!(Roots::new(folder.path()).is_ok());
    }
}
