//! Files: read where they are regular, written whole or not at all.
//!
//! What is read may come from anybody. A pipe that nobody writes to would hang, and `/dev/zero` has no end, so neither is
//! opened. What is written replaces an older file only when all of it is on the disk (D-whole-files).

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes of a file that is read at most: [`Span`](super::Span) counts to 4 GB, and data has to fit into a device.
const LARGEST: u64 = 1 << 36;

/// Bytes that are asked for at once: a length that a file only claims is not reserved.
const CHUNK: u64 = 1 << 26;

/// Names that are tried for a draft. More are taken only where drafts of killed processes with the same number lie.
const NAMES: u32 = 1000;

/// Why a file cannot be used, in words.
pub fn why(cause: ErrorKind) -> String {
    match cause {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::InvalidInput => "it is no regular file".to_owned(),
        ErrorKind::StorageFull => "no space is left on the device".to_owned(),
        other => other.to_string(),
    }
}

/// Reads a regular file, or what a link to one names.
///
/// # Errors
/// It cannot be read; [`ErrorKind::InvalidInput`]: it is neither a regular file nor a folder; [`ErrorKind::FileTooLarge`];
/// [`ErrorKind::OutOfMemory`]: there is no room for it.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Before it is opened, since to open a pipe waits for its writer.
    let size = regular(&fs::metadata(path)?)?;
    let mut file = File::open(path)?;
    regular(&file.metadata()?)?;
    let mut bytes = Vec::new();
    let reserve = |bytes: &mut Vec<u8>, more: u64| {
        bytes
            .try_reserve(usize::try_from(more).unwrap_or(usize::MAX))
            .map_err(|_| io::Error::from(ErrorKind::OutOfMemory))
    };
    reserve(&mut bytes, size.min(CHUNK))?;
    loop {
        if (&mut file).take(CHUNK).read_to_end(&mut bytes)? == 0 {
            // What is kept for long should not hold more than it needs.
            bytes.shrink_to_fit();
            return Ok(bytes);
        }
        if bytes.len() as u64 > LARGEST {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let more = CHUNK.min(bytes.len() as u64);
        reserve(&mut bytes, more)?;
    }
}

/// Whether a file lies in a folder or in one of its folders, all links followed; so does one that is not there.
#[must_use]
pub fn lies_in(folder: &Path, file: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (fs::canonicalize(folder), fs::canonicalize(file)) {
        (Ok(folder), Ok(file)) => file.starts_with(folder),
        (_, Err(e)) => e.kind() == ErrorKind::NotFound,
        (Err(_), Ok(_)) => false,
    }
}

/// The length of what is a regular file.
fn regular(about: &fs::Metadata) -> io::Result<u64> {
    match about.len() {
        _ if about.is_dir() => Err(ErrorKind::IsADirectory.into()),
        _ if !about.is_file() => Err(ErrorKind::InvalidInput.into()),
        length if length > LARGEST => Err(ErrorKind::FileTooLarge.into()),
        length => Ok(length),
    }
}

/// Writes a file, in place of an older one.
///
/// # Errors
/// It cannot be written; an older one is as it was.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::create(path)?;
    draft.write_all(bytes)?;
    draft.keep()
}

/// Whether a file can be written, before the work whose result it will hold.
///
/// # Errors
/// Why it cannot.
pub fn writable(path: &Path) -> io::Result<()> {
    // To open a pipe waits for its reader, who may wait for the result.
    if fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Ok(());
    }
    Draft::create(path).map(drop)
}

/// A file that is being written, under another name until it is whole. A draft that is not kept is removed.
#[derive(Debug)]
pub struct Draft {
    file: File,
    path: PathBuf,
    /// Where it is written; `None`: to a device or a pipe, of which there is no older state.
    beside: Option<PathBuf>,
}

impl Draft {
    /// Begins a file.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn create(path: &Path) -> io::Result<Self> {
        // The file that a link names is replaced, not the link.
        let path = match fs::canonicalize(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => path.to_owned(),
            found => found?,
        };
        if let Ok(about) = fs::metadata(&path) {
            if about.permissions().readonly() {
                return Err(ErrorKind::PermissionDenied.into());
            }
            if !about.is_file() {
                let file = OpenOptions::new().write(true).open(&path)?;
                return Ok(Self { file, path, beside: None });
            }
        }
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if path.file_name().is_none() {
            return Err(ErrorKind::InvalidInput.into());
        }
        let process = std::process::id();
        for number in 0..NAMES {
            let beside = folder.join(format!(".warpstep-{process}-{number}.tmp"));
            // A name that is taken, by a link too, is not opened.
            match OpenOptions::new().write(true).create_new(true).open(&beside) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                made => return Ok(Self { file: made?, path, beside: Some(beside) }),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// It is not on the disk; an older one is as it was.
    pub fn keep(mut self) -> io::Result<()> {
        let Some(beside) = &self.beside else { return self.file.flush() };
        if let Ok(about) = fs::metadata(&self.path) {
            self.file.set_permissions(about.permissions())?;
        }
        self.file.sync_all()?;
        fs::rename(beside, &self.path)?;
        self.beside = None;
        Ok(())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            // Nobody is told: whoever did not keep it has something more important to tell.
            let _ = fs::remove_file(beside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_read_holds_no_more_than_it_needs() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        for size in [0, 1, 1000, 200_000] {
            fs::write(&file, vec![7; size]).unwrap();
            let bytes = read(&file).unwrap();
            assert!(bytes.len() == size && bytes.capacity() <= 2 * size + 64, "{size}: {}", bytes.capacity());
        }
    }

    #[test]
    fn a_draft_that_is_not_kept_leaves_the_older_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        write(&file, b"old").unwrap();
        let mut draft = Draft::create(&file).unwrap();
        draft.write_all(b"ne").unwrap();
        assert_eq!((names(folder.path()).len(), read(&file).unwrap()), (2, b"old".to_vec()));
        drop(draft);
        assert_eq!((names(folder.path()), read(&file).unwrap()), (vec!["a".to_owned()], b"old".to_vec()));
        write(&file, b"new").unwrap();
        assert_eq!((names(folder.path()), read(&file).unwrap()), (vec!["a".to_owned()], b"new".to_vec()));
        assert!(write(&folder.path().join("none/a"), b"").is_err());
    }

    #[test]
    fn two_writers_of_a_file_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let (mut one, mut two) = (Draft::create(&file).unwrap(), Draft::create(&file).unwrap());
        one.write_all(b"one").unwrap();
        two.write_all(b"two").unwrap();
        two.keep().unwrap();
        one.keep().unwrap();
        assert_eq!((names(folder.path()), read(&file).unwrap()), (vec!["a".to_owned()], b"one".to_vec()));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), "mine").unwrap();
        // Whoever guesses the name of a draft gains nothing.
        symlink(at("victim"), at(&format!(".warpstep-{}-0.tmp", std::process::id()))).unwrap();
        write(&at("a"), b"new").unwrap();
        assert_eq!((read(&at("victim")).unwrap(), read(&at("a")).unwrap()), (b"mine".to_vec(), b"new".to_vec()));
        symlink(at("a"), at("link")).unwrap();
        write(&at("link"), b"newer").unwrap();
        assert!(at("link").is_symlink());
        assert_eq!(read(&at("a")).unwrap(), b"newer");
        assert_eq!(read(Path::new("/dev/zero")).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(read(folder.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
        if Path::new("/dev/full").exists() {
            assert_eq!(write(Path::new("/dev/full"), b"x").unwrap_err().kind(), ErrorKind::StorageFull);
            assert!(Path::new("/dev/full").exists());
        }
    }
}
