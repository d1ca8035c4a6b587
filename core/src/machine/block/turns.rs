//! Turns of a block's warps that are taken natively, one after the other: whose they are, and how far they went.

#![cfg_attr(not(all(feature = "native", target_arch = "x86_64")), allow(dead_code, reason = "native code reads it"))]

use crate::machine::context::processors::Processors;
use crate::machine::warp::run::Begun;
use crate::verdict::LimitKind;

/// Whose turn it is: the warp, for how long, and what the grid knows of who is ready.
pub(in crate::machine) struct Whose<'a> {
    pub warp: usize,
    pub lease: u32,
    /// What is left of the pick.
    pub hold: &'a mut u64,
    pub ready: &'a mut [u64],
    /// Where the block's warps begin there, and a bit for each that may be.
    pub base: usize,
    pub mask: u32,
    pub after: After<'a>,
}

/// What a grid knows of the block that comes after one in its slot.
pub(in crate::machine) struct After<'a> {
    /// The next block to be issued, and how many there are.
    pub next: &'a mut u64,
    pub total: u64,
    /// The block that was issued to the slot last: one number.
    pub issued: &'a mut [u64],
    /// Turns used up since a block was issued.
    pub pressure: &'a mut u32,
    pub processors: &'a mut Processors,
    /// Whether blocks are issued as soon as there is room, and not when another one is complete.
    pub eager: bool,
}

impl Whose<'_> {
    /// The warps of the block that are ready.
    #[inline(always)]
    pub fn own(&self) -> u32 {
        // A slot has as many bits as a power of two, so that none straddles words.
        (self.ready.get(self.base / 64).copied().unwrap_or(0) >> (self.base % 64)) as u32 & self.mask
    }

    /// Whether warps of other blocks are ready.
    #[inline(always)]
    pub fn others(&self) -> bool {
        let own = u64::from(self.own()) << (self.base % 64);
        self.ready.iter().enumerate().any(|(k, word)| *word != if k == self.base / 64 { own } else { 0 })
    }
}

/// How far a block's warps went.
#[derive(Default)]
pub(in crate::machine) struct Turns {
    /// The warp whose turn was the last that ended. `None`: none ended.
    pub last: Option<usize>,
    /// The limit that is reached.
    pub limit: Option<LimitKind>,
    /// The turn that has begun and not ended.
    pub begun: Option<Part>,
}

/// The first part of a turn.
pub(in crate::machine) struct Part {
    pub warp: usize,
    /// What is left of the turn's instructions.
    pub left: u32,
    /// The lanes, and what they have executed.
    pub lanes: Begun,
}
