//! Accesses beside asynchronous copies in flight, and what a wait for copies tells (D-async-races).

use super::access;
use super::clock::Thread;
use super::context::Context;
use super::copies::{By, DEVICE, Flown};
use super::finding::Conflict;
use super::history::Raced;
use super::sites::{Awaited, Flight, Side, Site};
use super::watch::Watch;
use crate::base::{Frame, LANES, LaneMask, lanes_of};
use crate::verdict::{Access, AccessKind, Contents, DeviceMemory, Step, Stop, Stride, Unordered, Who};

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
                let shared = self.is_shared(cx, address).unwrap_or(false);
                let place = if shared { cx.at } else { DEVICE };
                let Some((flown, source, theirs, byte)) = self.copies.meets(place, access.kind, address, access.bytes)
                else {
                    continue;
                };
                let thread = Thread { lane: u32::try_from(theirs).unwrap_or(0), ..flown.first };
                let raced = Raced { thread, pc: flown.pcs[usize::from(!source)], value: None, times: 1 };
                let conflict = Conflict { raced, byte, shared, with_copy: Some(Unordered::InFlight) };
                let start = cx.site.start(byte);
                self.conflict(cx, lane, start, None, &conflict)?;
            }
        }
        self.across_proxies(cx)?;
        if let Some(flight) = cx.site.copies
            && let Some(block) = &self.blocks[cx.at]
        {
            let by = By { at: cx.at, warp: u32::try_from(cx.warp).unwrap_or(0), first: block.thread(cx.warp, 0) };
            let lane = access.lanes.trailing_zeros() as usize & (LANES - 1);
            let shared = self.is_shared(cx, access.addresses[lane]).unwrap_or(false);
            self.copies.begin(by, access, flight, if shared { cx.at } else { DEVICE });
        }
        Ok(())
    }

    /// Ordinary accesses that write are noted where a program has bulk copies, and sources of these are compared with them.
    ///
    /// # Errors
    /// A race, where the first one is to stop the run.
    fn across_proxies(&mut self, cx: &Context<'_>) -> Result<(), Stop> {
        let access = cx.access;
        let reads = cx.site.copies == Some(Flight { side: Side::Source, bulk: true });
        let writes = self.copies.proxies.matter() && cx.site.copies.is_none() && access.kind != AccessKind::Read;
        for lane in lanes_of(access.lanes).filter(|_| reads || writes) {
            let address = access.addresses[lane];
            if !self.is_shared(cx, address).unwrap_or(false) {
                continue;
            }
            if writes && let Some(block) = &self.blocks[cx.at] {
                self.copies.proxies.stored(cx.at, (address, access.bytes), (block.thread(cx.warp, lane), cx.pc));
            }
            let behind = self.copies.proxies.behind(cx.at, address, access.bytes).filter(|_| reads);
            if let Some((byte, (thread, pc))) = behind {
                let raced = Raced { thread, pc, value: None, times: 1 };
                let conflict = Conflict { raced, byte, shared: true, with_copy: Some(Unordered::Proxy) };
                self.conflict(cx, lane, cx.site.start(byte), None, &conflict)?;
            }
        }
        Ok(())
    }

    /// Lanes of a warp have waited for their copies: their accesses come before what the lanes do next, and may have been as late
    /// as now.
    ///
    /// # Errors
    /// A race, where the first one is to stop the run.
    pub(super) fn waited(&mut self, who: Who, step: &Step<'_>, awaited: Awaited, sites: &[Site]) -> Result<(), Stop> {
        let Some(at) = self.block(who) else { return Ok(()) };
        for (number, lanes) in self.copies.awaited(at, who.warp, step.lanes, awaited) {
            let Some(flown) = self.copies.wait(number, lanes, awaited.read) else { continue };
            flown.again(lanes, awaited.read, step.regs, &mut |access| access::noted(self, at, who, access, sites))?;
        }
        Ok(())
    }
}

impl Flown {
    /// Tells the accesses of lanes once more: those that they read by, and those that they wrote by unless they have only `read`.
    ///
    /// # Errors
    /// Those of `tell`.
    pub(super) fn again(
        &self,
        lanes: LaneMask,
        read: bool,
        regs: &Frame,
        tell: &mut dyn FnMut(&Access<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let memory = Contents { device: &Nothing, window: 0, shared: &[], later: true };
        let source = (self.pcs[0], AccessKind::Read, &self.from, &self.taken);
        let goal = (self.pcs[1], self.writes, &self.to, &self.bytes);
        for (pc, kind, first, bytes) in std::iter::once(source).chain((!read).then_some(goal)) {
            for (lanes, addresses, bytes) in pieces(lanes, first, bytes) {
                tell(&Access {
                    pc,
                    lanes,
                    together: lanes,
                    element: 0,
                    kind,
                    addresses: &addresses,
                    strides: [Stride::Mixed; 2],
                    bytes,
                    regs,
                    memory,
                    access_id: None,
                })?;
            }
        }
        Ok(())
    }
}

/// What lanes accessed, 16 bytes of each lane at most at once: lanes, addresses, bytes of each.
fn pieces(lanes: LaneMask, first: &[u64; LANES], bytes: &[u32; LANES]) -> Vec<(LaneMask, [u64; LANES], u32)> {
    let longest = lanes_of(lanes).map(|lane| bytes[lane]).max().unwrap_or(0);
    let mut all = Vec::new();
    for from in (0..longest).step_by(16) {
        let mut sizes: Vec<u32> = lanes_of(lanes).map(|lane| bytes[lane].saturating_sub(from).min(16)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes.into_iter().filter(|size| *size > 0) {
            let alike = lanes_of(lanes).filter(|lane| bytes[*lane].saturating_sub(from).min(16) == size);
            all.push((alike.fold(0, |m, lane| m | 1 << lane), first.map(|at| at.wrapping_add(from.into())), size));
        }
    }
    all
}

/// Memory of which nothing is known.
#[derive(Debug)]
struct Nothing;

impl DeviceMemory for Nothing {
    fn bytes(&self, _: u64, _: u64) -> Option<&[u8]> {
        None
    }
}
