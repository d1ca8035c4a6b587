//! The hash of a run's trace: two runs with the same hash did the same things in the same order.

use crate::base::lanes_of;
use crate::program::env::{Origin, ProgEnv};
use crate::verdict::{AccessKind, Event, Sink, Stop, Who};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Hashes the visible part of a run: who executes which PTX instruction with which lanes, and where memory is accessed.
///
/// The instruction is taken by its place in the source, and helpers that the lowering adds are left out, so that the hash
/// does not depend on how a program is prepared; nor does it depend on the host or the build.
pub struct TraceHash {
    env: Arc<ProgEnv>,
    hasher: Xxh3,
}

impl TraceHash {
    /// The hash of an empty trace of a program.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>) -> Self {
        Self { env, hasher: Xxh3::new() }
    }

    /// The hash so far (xxh3, 64 bits).
    #[must_use]
    pub fn value(&self) -> u64 {
        self.hasher.digest()
    }

    fn visible(&self, pc: crate::base::Pc) -> Option<Origin> {
        self.env.origin.get(pc.0 as usize).copied().filter(|o| !o.hidden)
    }

    fn add(&mut self, tag: u8, who: Who, words: &[u32]) {
        // One buffer an event: 1 + 16 bytes of head, at most 5 words.
        let mut bytes = [0; 40];
        bytes[0] = tag;
        bytes[1..5].copy_from_slice(&who.launch.to_le_bytes());
        bytes[5..13].copy_from_slice(&who.block.to_le_bytes());
        bytes[13..17].copy_from_slice(&who.warp.to_le_bytes());
        let mut end = 17;
        for word in words.iter().take(5) {
            bytes[end..end + 4].copy_from_slice(&word.to_le_bytes());
            end += 4;
        }
        self.hasher.update(&bytes[..end]);
    }
}

impl Sink for TraceHash {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Launch { .. } => self.add(0, who, &[]),
            Event::Block { .. } => self.add(1, who, &[]),
            Event::Step(step) => {
                if let Some(origin) = self.visible(step.pc) {
                    self.add(2, who, &[origin.file.0, origin.span.start, origin.span.end, step.lanes]);
                }
            }
            Event::Access(access) => {
                if self.visible(access.pc).is_some() {
                    let kind = match access.kind {
                        AccessKind::Read => 0,
                        AccessKind::Write => 1,
                        AccessKind::Atomic => 2,
                    };
                    self.add(3, who, &[kind, access.lanes, access.bytes]);
                    for lane in lanes_of(access.lanes) {
                        self.hasher.update(&access.addresses[lane].to_le_bytes());
                    }
                }
            }
            Event::Alloc { address, bytes, .. } => {
                self.add(4, who, &[]);
                self.hasher.update(&address.to_le_bytes());
                self.hasher.update(&bytes.to_le_bytes());
            }
            Event::BlockDone => self.add(5, who, &[]),
            Event::Survivor { pc, lanes, winner } => self.add(6, who, &[pc.0, lanes, winner]),
            Event::Landed { pc, lanes } => self.add(7, who, &[pc.0, lanes]),
            // What follows from the others, or only says which rule it was.
            Event::Fired(_)
            | Event::Enter(_)
            | Event::Exchange(_)
            | Event::Arrive(_)
            | Event::Released(_)
            | Event::Passed { .. }
            | Event::Performed(_)
            | Event::Message(_)
            | Event::Remembered
            | Event::Traffic(_)
            | Event::Memory
            | Event::MemoryStep(_)
            | Event::Environment(_)
            | Event::Repeated => {}
        }
        Ok(())
    }
}
