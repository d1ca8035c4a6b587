//! The launches of a run, learnt from its events.

use crate::base::{FileId, Pc, SourceMap, Span};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, Named, Who};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The launches of a run so far.
pub struct Launches {
    programs: Vec<Arc<ProgEnv>>,
    /// The files of the programs.
    pub(super) sources: SourceMap,
    all: BTreeMap<u32, Arc<Launched>>,
    /// Steps that memory has made.
    pub(super) steps: u64,
}

/// A launch.
pub(super) struct Launched {
    /// The number of its program.
    pub program: u32,
    pub env: Arc<ProgEnv>,
    /// Whether it is under the token stack.
    pub tokens: bool,
    /// The buffers and variables of its context.
    pub names: Vec<Named>,
}

impl Launched {
    /// Where an instruction of the program stands; helpers of the lowering are none.
    pub fn place(&self, pc: Pc) -> Option<(FileId, Span)> {
        self.env.origin.get(pc.0 as usize).filter(|o| !o.hidden).map(|o| (o.file, o.span))
    }
}

impl Launches {
    /// Those of `programs`, which are numbered as the host numbers them; `sources` are the files of all.
    #[must_use]
    pub const fn new(programs: Vec<Arc<ProgEnv>>, sources: SourceMap) -> Self {
        Self { programs, sources, all: BTreeMap::new(), steps: 0 }
    }

    /// Takes note of an event.
    pub(super) fn event(&mut self, who: Who, event: &Event<'_>) {
        match *event {
            Event::Launch { tokens, program, names, .. } => {
                if let Some(env) = self.programs.get(program as usize) {
                    let launched = Launched { program, env: Arc::clone(env), tokens, names: names.to_vec() };
                    self.all.insert(who.launch, Arc::new(launched));
                }
            }
            Event::MemoryStep(_) => self.steps += 1,
            _ => {}
        }
    }

    /// The launch that something belongs to.
    pub(super) fn get(&self, who: Who) -> Option<Arc<Launched>> {
        self.all.get(&who.launch).cloned()
    }

    /// The buffers and variables of the last launch's context.
    pub(super) fn names(&self) -> &[Named] {
        self.all.values().next_back().map_or(&[], |launched| &launched.names)
    }

    /// Where an instruction stands, as `FILE:LINE`.
    pub(super) fn instruction(&self, who: Who, pc: Pc) -> String {
        let place = self.all.get(&who.launch).and_then(|launched| launched.env.place(pc));
        let line = place.and_then(|(file, span)| self.sources.file_line(file, span));
        line.unwrap_or_else(|| format!("@{}", pc.0))
    }
}
