//! What stays the same while an access is taken apart, and which values it reads and writes.

use super::clock::Thread;
use super::launch::Launch;
use super::sites::{AccessSite, Site};
use super::view::View;
use crate::base::{LANES, Pc, lanes_of};
use crate::program::instr::NO_SLOT;
use crate::verdict::{Access, AccessId, AccessKind};

/// What stays the same while an access is taken apart.
pub(super) struct Context<'a> {
    pub launch: Launch,
    /// Where the block is.
    pub at: usize,
    pub warp: usize,
    pub access: &'a Access<'a>,
    /// What the instructions of the program are.
    pub sites: &'a [Site],
    pub site: &'a AccessSite,
    pub pc: Pc,
    /// What the access is called while it is in flight, where memory acts later; else [`AccessId::NONE`].
    pub access_id: AccessId,
}

impl Context<'_> {
    /// The number that a lane stores at an address of its access.
    pub fn stored(&self, lane: usize, address: u64) -> Option<u64> {
        stored(self.access, self.site, lane, address)
    }

    /// What a lane writes, or reads, at an address of its access. What an atomic operation finds is not known where an
    /// earlier lane of the instruction changes it.
    pub fn value(&self, lane: usize, address: u64) -> Option<u64> {
        let addresses = self.access.addresses;
        let mut earlier = lanes_of(self.access.lanes & ((1 << lane) - 1));
        match self.site.kind {
            _ if self.site.copies.is_some() => None,
            AccessKind::Write => self.stored(lane, address),
            AccessKind::Atomic if earlier.any(|l| addresses[l] == addresses[lane]) => None,
            AccessKind::Read | AccessKind::Atomic => self.access.memory.number(address, self.site.width),
        }
    }

    /// Whether an access was by a lane of this very instruction.
    pub fn is_twin(&self, warp: u32, thread: Thread, pc: Pc, byte: u64) -> bool {
        let lane = thread.lane as usize & (LANES - 1);
        let inside = byte.wrapping_sub(self.access.addresses[lane]) < self.access.bytes.into();
        thread.warp == warp && pc == self.pc && self.access.together >> lane & 1 == 1 && inside
    }

    /// What an access at a byte read or wrote that is not older than the last write.
    pub fn past(&self, view: &View, thread: Thread, pc: Pc, site: &AccessSite, byte: u64) -> Option<u64> {
        let start = site.start(byte);
        if self.is_twin(view.warp, thread, pc, start) && site.kind == AccessKind::Write {
            return self.stored(thread.lane as usize, start);
        }
        // What a copy writes is not there yet.
        let known = site.kind != AccessKind::Atomic && site.copies.is_none();
        self.access.memory.number(start, site.width).filter(|_| known)
    }
}

/// The number that a lane stores at an address of an access.
pub(super) fn stored(access: &Access<'_>, site: &AccessSite, lane: usize, address: u64) -> Option<u64> {
    let element = address.wrapping_sub(access.addresses[lane & (LANES - 1)]) / u64::from(site.width);
    let slot = usize::try_from(element).ok().and_then(|k| site.data.slots.get(k + usize::from(access.element)));
    let slot = slot.filter(|s| **s != NO_SLOT && site.width <= 8)?.index();
    let value = if site.data.wide { access.regs.q.get(slot)?.0[lane] } else { access.regs.w.get(slot)?.0[lane].into() };
    Some(if site.width == 8 { value } else { value & ((1 << (8 * site.width)) - 1) })
}
