//! What a launch fixes for the race check, and where its threads are.

use super::clock::Thread;
use crate::base::Pc;
use crate::verdict::{Place, Shape};

/// What a launch fixes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch {
    pub shape: Shape,
    pub program: u32,
    /// The number of its first warp.
    pub first: u32,
    /// Warps in a block.
    pub warps: u32,
    /// Whether the lanes of a warp execute in lockstep, one instruction after another (D-race-lockstep).
    pub lockstep: bool,
    /// Whether there is one block only.
    pub one_block: bool,
    /// Whether accesses and fences take effect later than they are issued.
    pub later: bool,
}

impl Launch {
    /// Where a thread executes an instruction.
    pub fn place(&self, entry: &str, thread: Thread, pc: Pc) -> Place {
        let number = thread.warp - self.first;
        let warp = number % self.warps;
        Place {
            program: self.program,
            entry: entry.to_owned(),
            pc,
            block: self.shape.block_index((number / self.warps).into()),
            thread: self.shape.thread_index(warp, thread.lane),
            warp,
            lane: thread.lane,
            lanes: 1 << thread.lane,
            calls: Vec::new(),
        }
    }
}
