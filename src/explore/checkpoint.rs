//! What a search that stopped early has done, in a file: a frame that names what it belongs to, around the search's own data.
//!
//! ```text
//! warpstep checkpoint 1
//! hunt 0.1 38f1c2d3e4a5b6c7 1f2e3d4c5b6a7988 57 9a8b7c6d5e4f3a2b
//! …
//! ```
//!
//! The second line has the kind of search, warpstep's minor version, the hashes of the program and of the setup, the number
//! of bytes that follow, and their hash (xxh3).

use super::{Target, minor_version};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &str = "warpstep checkpoint 1";

/// Why a checkpoint is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "fields are named for what they are")]
pub enum CheckpointError {
    /// The file cannot be read or written.
    File(std::io::ErrorKind),
    /// The file is no checkpoint of this version of the format.
    NoCheckpoint,
    /// It is of another kind of search.
    Kind { found: String, wanted: &'static str },
    /// It is of another minor version of warpstep.
    Version { found: String, own: String },
    /// It is of another program.
    OtherProgram,
    /// It is of other launches, arguments, memory or device.
    OtherSetup,
    /// It was cut off or edited.
    Damaged,
    /// It is of a search with other options.
    OtherOptions,
}

/// Writes a checkpoint of a search of `kind` (one word), in place of an older one.
///
/// # Errors
/// The file cannot be written; an older one is left as it was.
pub fn save(path: &Path, kind: &'static str, target: &Target, data: &[u8]) -> Result<(), CheckpointError> {
    let mut bytes = format!(
        "{MAGIC}\n{kind} {} {:016x} {:016x} {} {:016x}\n",
        minor_version(),
        target.ptx_hash(),
        target.setup_hash(),
        data.len(),
        xxh3_64(data)
    )
    .into_bytes();
    bytes.extend_from_slice(data);
    // A search that is killed while it writes must not lose what it had.
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    std::fs::write(&new, bytes).and_then(|()| std::fs::rename(&new, path)).map_err(|e| CheckpointError::File(e.kind()))
}

/// Reads the data of a checkpoint. `None`: there is no such file.
///
/// # Errors
/// It does not belong to this search.
pub fn load(path: &Path, kind: &'static str, target: &Target) -> Result<Option<Vec<u8>>, CheckpointError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(CheckpointError::File(e.kind())),
    };
    let mut lines = bytes.splitn(3, |b| *b == b'\n');
    let mut line = || std::str::from_utf8(lines.next().unwrap_or_default()).unwrap_or_default();
    if line() != MAGIC {
        return Err(CheckpointError::NoCheckpoint);
    }
    let words: Vec<&str> = line().split(' ').collect();
    let [found, version, ptx, setup, length, hash] = words[..] else { return Err(CheckpointError::Damaged) };
    let data = lines.next().unwrap_or_default();
    if length.parse() != Ok(data.len()) || u64::from_str_radix(hash, 16) != Ok(xxh3_64(data)) {
        return Err(CheckpointError::Damaged);
    }
    if found != kind {
        return Err(CheckpointError::Kind { found: found.to_owned(), wanted: kind });
    }
    if version != minor_version() {
        return Err(CheckpointError::Version { found: version.to_owned(), own: minor_version() });
    }
    if u64::from_str_radix(ptx, 16) != Ok(target.ptx_hash()) {
        return Err(CheckpointError::OtherProgram);
    }
    if u64::from_str_radix(setup, 16) != Ok(target.setup_hash()) {
        return Err(CheckpointError::OtherSetup);
    }
    Ok(Some(data.to_vec()))
}
