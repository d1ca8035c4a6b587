//! Ordinary stores to shared memory and bulk copies, which go by another proxy: between the two there must be a `fence.proxy.async` (PTX ISA,
//! "Proxies" of the memory consistency model; D-bulk-proxy).

use super::clock::Thread;
use crate::base::{Pc, sort};
use crate::program::env::ProgEnv;
use crate::program::instr::Op;
use rustc_hash::FxHashMap;

/// Who stored a word, and by which instruction.
type By = (Thread, Pc);

/// Whether a program copies in bulk.
pub(super) fn has_bulk(env: &ProgEnv) -> bool {
    env.code.iter().any(|i| matches!(i.op, Op::Bulk(_)))
}

/// The words of shared memory that were stored since their block's last fence between proxies.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    /// Whether the program has bulk copies.
    matter: bool,
    /// By the block's place and the word.
    stored: FxHashMap<(usize, u64), By>,
}

impl Proxies {
    /// A launch of a program begins.
    pub fn begin(&mut self, env: &ProgEnv) {
        *self = Self { matter: has_bulk(env), stored: FxHashMap::default() };
    }

    /// Whether ordinary accesses matter.
    pub const fn matter(&self) -> bool {
        self.matter
    }

    /// A thread has stored bytes.
    pub fn stored(&mut self, at: usize, (address, bytes): (u64, u32), by: By) {
        words(address, bytes).for_each(|word| _ = self.stored.insert((at, word), by));
    }

    /// A thread of a block has executed a fence between proxies. Which stores it is for is not looked at: no store before it is told any more.
    pub fn fenced(&mut self, at: usize) {
        self.stored.retain(|(block, _), _| *block != at);
    }

    /// It as bytes.
    pub fn bytes(&self, out: &mut Vec<u8>) {
        let mut all: Vec<_> = self.stored.iter().collect();
        sort::sort_by_key(&mut all, |(word, _)| **word);
        for ((at, word), (thread, pc)) in all {
            let numbers = [*at as u64, *word, thread.warp.into(), thread.lane.into(), pc.0.into()];
            numbers.iter().for_each(|n| out.extend(n.to_le_bytes()));
        }
    }

    /// The first byte of some that was stored with no fence since, and who stored it.
    pub fn behind(&self, at: usize, address: u64, bytes: u32) -> Option<(u64, By)> {
        words(address, bytes).find_map(|word| Some(((word * 4).max(address), *self.stored.get(&(at, word))?)))
    }
}

/// The words that bytes at an address lie in.
fn words(address: u64, bytes: u32) -> impl Iterator<Item = u64> {
    address / 4..address.saturating_add(bytes.into()).div_ceil(4)
}
