//! A set of memory programs that serves every operation.

use super::{OpKey, Program};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A program of a [`ProgramSet`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProgramId(u16);

/// Memory programs by operation. Immutable while a machine runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramSet {
    programs: Vec<Program>,
    by_key: FxHashMap<OpKey, ProgramId>,
}

impl ProgramSet {
    /// The program of an operation: the one for its scope if there is one, else that for every scope (D-scope).
    #[must_use]
    pub fn find(&self, key: OpKey) -> Option<ProgramId> {
        self.by_key.get(&key).or_else(|| self.by_key.get(&key.any_scope())).copied()
    }

    /// A program by its number.
    #[must_use]
    pub fn get(&self, id: ProgramId) -> Option<&Program> {
        self.programs.get(usize::from(id.0))
    }

    /// All programs.
    #[must_use]
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// Adds a program. An operation that is served already keeps its program.
    pub fn add(&mut self, program: Program) {
        let Ok(id) = u16::try_from(self.programs.len()).map(ProgramId) else { return };
        for key in program.serves() {
            self.by_key.entry(key).or_insert(id);
        }
        self.programs.push(program);
    }

    /// The operations that no program serves, in a fixed order.
    #[must_use]
    pub fn missing(&self) -> Vec<OpKey> {
        OpKey::all().into_iter().filter(|key| !self.by_key.contains_key(key)).collect()
    }
}
