//! What a search that stopped early has done, in a file: a frame that names what it belongs to, around the search's own data.
//!
//! ```text
//! warpstep checkpoint 2
//! hunt 0.1 38f1c2d3e4a5b6c7 1f2e3d4c5b6a7988 57 9a8b7c6d5e4f3a2b
//! …
//! ```
//!
//! The second line has the kind of search, warpstep's minor version, the hashes of the program and of the setup, the number
//! of bytes that follow, and their hash (xxh3).

use super::minor_version;
use super::space::{Keep, Options, Rest, Space, freeze, go_on, thaw};
use crate::base::{complaints, files};
use crate::machine::walk::{Grain, State, Walk};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::hash::Hash;
use std::io::ErrorKind;
use std::path::{Display, Path};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &str = "warpstep checkpoint 4";

/// What a checkpoint belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Owner {
    /// A hash of the program's text.
    pub program: u64,
    /// A hash of what else decides about its runs: [`setup_hash`](super::setup_hash).
    pub setup: u64,
}

complaints! {
    /// Why a checkpoint is refused, which is named by its path.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what they are")]
    pub enum CheckpointError(path: Display<'_>) {
        /// The file cannot be read or written.
        File(cause: ErrorKind) =>
            "checkpoint-file" ("cannot use checkpoint `{path}`: {}", files::why(*cause)) ("") ("{AGAIN}");
        /// The file is no checkpoint.
        NoCheckpoint => "no-checkpoint" ("`{path}` is no checkpoint") ("") ("{AGAIN}");
        /// It is of another version of the format.
        Format => "checkpoint-format" ("checkpoint `{path}` is of another format than this warpstep reads") ("") ("{AGAIN}");
        /// It is of another kind of search.
        Kind { found: String, wanted: &'static str } =>
            "checkpoint-kind" ("`{path}` is a checkpoint of `{found}`, not of `{wanted}`") ("") ("{AGAIN}");
        /// It is of another minor version of warpstep.
        Version { found: String, own: String } =>
            "checkpoint-version" ("checkpoint `{path}` is of warpstep {found}, this is {own}") ("") ("{AGAIN}");
        /// It is of another program.
        OtherProgram =>
            "checkpoint-program" ("checkpoint `{path}` belongs to another program") ("") ("{AGAIN}");
        /// It is of other launches, arguments, memory or device.
        OtherSetup =>
            "checkpoint-setup"
            ("checkpoint `{path}` belongs to another launch: other arguments, control model, memory or device")
            ("") ("{AGAIN}");
        /// It was cut off or edited.
        Damaged => "checkpoint-damaged" ("checkpoint `{path}` was cut off or edited") ("") ("{AGAIN}");
        /// It is of a search with other options.
        OtherOptions =>
            "checkpoint-options" ("checkpoint `{path}` is of a search with other options") ("") ("{AGAIN}");
    }
}

/// What to do about a checkpoint that is refused.
const AGAIN: &str = "name another file, or delete this one to begin anew";

/// Writes a checkpoint of a search of `kind` (one word), in place of an older one.
///
/// # Errors
/// The file cannot be written; an older one is left as it was.
pub fn save(path: &Path, kind: &'static str, owner: Owner, data: &[u8]) -> std::io::Result<()> {
    let mut bytes = format!(
        "{MAGIC}\n{kind} {} {:016x} {:016x} {} {:016x}\n",
        minor_version(),
        owner.program,
        owner.setup,
        data.len(),
        xxh3_64(data)
    )
    .into_bytes();
    bytes.extend_from_slice(data);
    files::write(path, &bytes)
}

/// Whether a checkpoint can be written, before the search that it will keep.
///
/// # Errors
/// Why it cannot.
pub fn writable(path: &Path) -> Result<(), CheckpointError> {
    files::writable(path).map_err(|e| CheckpointError::File(e.kind()))
}

/// Reads the data of a checkpoint. `None`: there is no such file.
///
/// # Errors
/// It does not belong to this search.
pub fn load(path: &Path, kind: &'static str, owner: Owner) -> Result<Option<Vec<u8>>, CheckpointError> {
    let bytes = match files::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(CheckpointError::File(e.kind())),
    };
    let mut lines = bytes.splitn(3, |b| *b == b'\n');
    let mut line = || std::str::from_utf8(lines.next().unwrap_or_default()).unwrap_or_default();
    match line() {
        MAGIC => {}
        other if other.starts_with("warpstep checkpoint ") => return Err(CheckpointError::Format),
        _ => return Err(CheckpointError::NoCheckpoint),
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
    if u64::from_str_radix(ptx, 16) != Ok(owner.program) {
        return Err(CheckpointError::OtherProgram);
    }
    if u64::from_str_radix(setup, 16) != Ok(owner.setup) {
        return Err(CheckpointError::OtherSetup);
    }
    Ok(Some(data.to_vec()))
}

/// What was done before, and where it is kept while the search goes on and when it stops.
pub struct Kept<'a> {
    /// What an earlier search has done, if there was one.
    pub before: Option<Vec<u8>>,
    /// Asked now and then: whether it is time to keep what was done.
    pub due: &'a mut dyn FnMut() -> bool,
    /// Keeps it.
    pub save: &'a mut dyn FnMut(&[u8]),
}

/// Goes on with a search through states that `kept` holds, if anything, and keeps there what it does. `walk` stands at
/// its start, and does so afterwards. Whole states ([`Options::audit`]) are not kept.
///
/// # Errors
/// `kept` is of another search.
pub fn search_on<O: Serialize + DeserializeOwned + Clone + Eq + Hash>(
    walk: &mut dyn Walk,
    grain: Grain,
    options: &mut Options<'_>,
    outcome: &mut dyn FnMut(&dyn State) -> O,
    kept: &mut Kept<'_>,
) -> Result<Space<O>, CheckpointError> {
    // What decides which states there are; by whom progress is promised is asked of the graph.
    let races = options.races.map_or_else(String::new, |races| format!(" races {races:?}"));
    let named = format!("{grain:?} stepped {} preemptions {:?}{races}\n", options.stepped, options.preemptions);
    let from = match &kept.before {
        None => (Space::default(), Rest::default()),
        Some(bytes) => match bytes.strip_prefix(named.as_bytes()) {
            Some(search) => thaw(search, walk, outcome).ok_or(CheckpointError::Damaged)?,
            None if bytes.contains(&b'\n') => return Err(CheckpointError::OtherOptions),
            None => return Err(CheckpointError::Damaged),
        },
    };
    let Kept { due, save, .. } = kept;
    let mut save = |space: &Space<O>, rest: &Rest| save(&freeze(space, rest, named.clone().into_bytes()));
    go_on(walk, options, outcome, from, Keep { due, save: &mut save }).ok_or(CheckpointError::Damaged)
}
