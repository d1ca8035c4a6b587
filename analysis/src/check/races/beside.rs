//! Accesses beside asynchronous copies in flight, and what a wait for copies tells (D-async-races).

use super::access;
use super::clock::Thread;
use super::context::Context;
use super::copies::{Flown, NO_GROUP};
use super::finding::Conflict;
use super::history::Raced;
use super::sites::Site;
use super::watch::Watch;
use crate::base::{LANES, LaneMask, lanes_of};
use crate::verdict::{Access, AccessKind, Contents, DeviceMemory, Step, Stop, Stride, Who};

impl Watch {
    /// An access meets copies in flight, and may begin some itself.
    ///
    /// # Errors
    /// A race, where the first one is to stop the run.
    #[inline(never)]
    pub(super) fn beside_copies(&mut self, cx: &Context<'_>) -> Result<(), Stop> {
        let access = cx.access;
        if !self.copies.is_empty() {
            for lane in lanes_of(access.lanes) {
                let address = access.addresses[lane];
                let Some((flown, source, theirs, byte)) = self.copies.meets(cx.at, access.kind, address, access.bytes)
                else {
                    continue;
                };
                let shared = self.is_shared(cx, address).unwrap_or(false);
                let thread = Thread { lane: u32::try_from(theirs).unwrap_or(0), ..flown.first };
                let raced = Raced { thread, pc: flown.pcs[usize::from(!source)], value: None, times: 1 };
                let conflict = Conflict { raced, byte, shared, in_flight: true };
                let start = cx.site.start(byte);
                self.conflict(cx, lane, start, None, &conflict)?;
            }
        }
        if cx.site.copies
            && let Some(block) = &self.blocks[cx.at]
        {
            let me = block.thread(cx.warp, 0);
            self.copies.begin(cx, me);
        }
        Ok(())
    }

    /// Lanes of a warp have waited for their copies, for all groups but so many of the newest, or for all: their accesses come before what
    /// the lanes do next, and may have been as late as now.
    ///
    /// # Errors
    /// A race, where the first one is to stop the run.
    pub(super) fn waited(
        &mut self,
        who: Who,
        step: &Step<'_>,
        newest: Option<u32>,
        sites: &[Site],
    ) -> Result<(), Stop> {
        let Some(at) = self.block(who) else { return Ok(()) };
        let awaited = |flown: &Flown| {
            let over = |lane: &usize| match newest {
                None => true,
                Some(newest) => flown.ages[*lane] != NO_GROUP && flown.ages[*lane] >= newest,
            };
            lanes_of(flown.lanes & step.lanes).filter(over).fold(0, |m: LaneMask, lane| m | 1 << lane)
        };
        for number in self.copies.of(|flown| (flown.at, flown.warp) == (at, who.warp)) {
            let Some(flown) = self.copies.get(number) else { continue };
            let lanes = awaited(flown);
            if lanes == 0 {
                continue;
            }
            let flown = flown.clone();
            self.copies.end(number, lanes);
            let memory = Contents { device: &Nothing, window: 0, shared: &[], later: true };
            let mut again = |pc, lanes, kind, addresses: &[u64; LANES], bytes| {
                let strides = [Stride::Mixed; 2];
                let (together, element, regs) = (lanes, 0, step.regs);
                let access = Access {
                    pc,
                    lanes,
                    together,
                    element,
                    kind,
                    addresses,
                    strides,
                    bytes,
                    regs,
                    memory,
                    access_id: None,
                };
                access::noted(self, at, who, &access, sites)
            };
            let mut sizes: Vec<u32> = lanes_of(lanes).map(|lane| flown.taken[lane]).filter(|n| *n > 0).collect();
            sizes.sort_unstable();
            sizes.dedup();
            for size in sizes {
                let alike = lanes_of(lanes).filter(|l| flown.taken[*l] == size).fold(0, |m: LaneMask, l| m | 1 << l);
                again(flown.pcs[0], alike, AccessKind::Read, &flown.from, size)?;
            }
            again(flown.pcs[1], lanes, AccessKind::Write, &flown.to, flown.bytes)?;
        }
        Ok(())
    }
}

/// Memory of which nothing is known.
#[derive(Debug)]
struct Nothing;

impl DeviceMemory for Nothing {
    fn bytes(&self, _: u64, _: u64) -> Option<&[u8]> {
        None
    }
}
