//! How an arena is a view of memory, where blocks run ahead: what instructions access is asked for before.

use super::Arena;
use super::deeds::Deeds;
use super::over::{Below, Does, Manners, Over, PAGE, Slabs, View};
use super::place::addresses;
use crate::base::{Frame, LANES, LaneMask, lanes_of};
use crate::memory::{Fault, Hint, Near, Plain32, Taken};
use crate::program::instr::{MemOp, Space, WarpRequest};
use crate::verdict::{AllocKind, LimitKind, Who};
use aligned_vec::AVec;
use std::sync::Arc;

/// The words of lanes.
fn gather(bytes: &[u8], mask: LaneMask, place: impl Fn(usize) -> usize, to: &mut [u32; LANES]) {
    for lane in lanes_of(mask) {
        if let Some(word) = bytes.get(place(lane)..).and_then(|b| b.first_chunk()) {
            to[lane] = u32::from_le_bytes(*word);
        }
    }
}

impl Arena {
    /// Takes memory out, to be looked at by several; there is nothing in its place. `None`: parts of it are not the arena's own.
    pub(crate) fn lower(&mut self) -> Option<Below> {
        if self.has_guests {
            return None;
        }
        let (bytes, blocks) = (std::mem::replace(&mut self.bytes, AVec::new(64)), std::mem::take(&mut self.blocks));
        Some(Below { bytes, blocks })
    }

    /// Puts it back.
    pub(crate) fn raise(&mut self, below: Below) {
        (self.bytes, self.blocks) = (below.bytes, below.blocks);
    }

    /// What blocks see that run ahead of memory that was taken out, in one of so many views.
    pub(crate) fn show(&self, under: &Arc<Below>, view: (View, usize), manners: &Manners, spare: &mut Slabs) -> Self {
        let mut shown = Self::new(self.base, self.cap);
        shown.blocks.clone_from(&under.blocks);
        (shown.over, shown.has_guests) = (Some(Box::new(Over::new(Arc::clone(under), view, manners, spare))), true);
        shown
    }

    /// A warp is about to access memory natively: a number that changes where what native code knows of memory is of no use any more.
    /// It is where the vector of bytes is, but for blocks that run ahead, whose warps may have to be told apart.
    #[cfg(all(feature = "native", target_arch = "x86_64"))]
    pub(crate) fn begin(&mut self, who: Who) -> usize {
        match &mut self.over {
            Some(over) => over.begin(who),
            None => self.bytes.as_ptr() as usize,
        }
    }

    /// The number of the block that bytes at an address lie in, and how far from its beginning.
    fn number_of(&self, address: u64, len: u64) -> Option<(usize, usize)> {
        let k = self.blocks.partition_point(|b| b.address <= address).checked_sub(1)?;
        let block = &self.blocks[k];
        let inside = address - block.address;
        let whole = inside < block.len && len <= block.len - inside && !block.is_freed();
        (whole && block.kind != AllocKind::Const).then_some((k, inside as usize))
    }

    /// Has what an instruction is about to access be there. What cannot be accessed is left to the access to find out.
    ///
    /// # Errors
    /// It cannot be shown.
    pub(super) fn bring(
        &mut self,
        (who, mask): (Who, LaneMask),
        rq: &WarpRequest,
        regs: &Frame,
        (near, hint): (&Near<'_>, &Hint),
    ) -> Taken {
        let (addresses, len) = (addresses(rq, regs), u64::from(rq.bytes()));
        let does = match rq.op {
            MemOp::Load => Does::LOADS,
            MemOp::Store => Does::STORES,
            MemOp::Atom(..) | MemOp::Red(..) => Does::BOTH,
        };
        if let Some(over) = &mut self.over {
            over.is_of(who);
        }
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            if rq.space == Space::Generic && near.map.inside(address).is_some() {
                continue;
            }
            // A hint is about what is read where it lies.
            let within = address.wrapping_sub(hint.address);
            if does == Does::LOADS && within < hint.len && len <= hint.len - within {
                continue;
            }
            let Some((k, inside)) = self.number_of(address, len) else { continue };
            let Some(over) = &mut self.over else { continue };
            over.asked += 1;
            if !over.ask(k, (inside, len as usize), does) {
                return Err(Box::new(Fault::Limit(LimitKind::Interrupted)));
            }
        }
        Ok(())
    }

    /// A plain access of words that lie close together in one buffer, without asking for each. `None`: it is another one, or is none of
    /// a view, and nothing has been done.
    #[inline(never)]
    pub(super) fn words(&mut self, (who, mask): (Who, LaneMask), site: Plain32, regs: &mut Frame) -> Option<()> {
        self.over.as_ref()?;
        let addresses = regs.q.get(site.a.index())?.0.map(|base| base.wrapping_add_signed(site.offset.into()));
        let (mut low, mut high, mut all) = (u64::MAX, 0, 0);
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            (low, high, all) = (low.min(address), high.max(address), all | address);
        }
        let len = high.checked_sub(low)?.checked_add(4).filter(|_| all.is_multiple_of(4))?;
        let (k, inside) = self.number_of(low, len)?;
        let (over, loads) = (self.over.as_mut()?, site.op == MemOp::Load);
        over.is_of(who);
        let place = |lane: usize| (addresses[lane] - low) as usize;
        let data = regs.w.get_mut(site.d.index())?;
        if loads && !over.manners[k].written {
            let bytes = over.in_place(k, inside, usize::try_from(len).ok()?)?;
            gather(bytes, mask, place, &mut data.0);
            return Some(());
        }
        // What lies between the words is noted with them.
        let most = if over.is_exact(k) { 4 * mask.count_ones() as usize } else { PAGE };
        let len = usize::try_from(len).ok().filter(|len| *len <= most)?;
        if !over.ask(k, (inside, len), if loads { Does::LOADS } else { Does::STORES }) {
            return None;
        }
        let bytes = over.copied(k, (inside, len))?;
        if loads {
            gather(bytes, mask, place, &mut data.0);
        } else {
            for lane in lanes_of(mask) {
                if let Some(word) = bytes.get_mut(place(lane)..).and_then(|b| b.first_chunk_mut()) {
                    *word = data.0[lane].to_le_bytes();
                }
            }
        }
        Some(())
    }

    /// Where native code finds bytes at an address: see [`Arena::block_to_use`].
    #[cfg(all(feature = "native", target_arch = "x86_64"))]
    pub(super) fn window(&mut self, address: u64, len: u64, does: Does) -> Option<(u64, usize, u64)> {
        let (k, inside) = self.number_of(address, len)?;
        let first = self.blocks[k].address;
        let over = self.over.as_mut()?;
        let asked = (inside, usize::try_from(len).ok()?);
        if !over.ask(k, asked, does) {
            return None;
        }
        let (from, place, count) = over.around(k, asked, does)?;
        Some((first + from as u64, place, count as u64))
    }

    /// What was done to a view.
    pub(crate) fn deeds(&mut self) -> Option<Deeds> {
        Some(Deeds::of(*self.over.take()?))
    }
}
