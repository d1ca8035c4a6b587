//! An access takes effect in memory.

use super::Mutexed;
use super::observed::Touched;
use super::wavefront::{Instruction, Part};
use crate::base::lanes_of;
use crate::base::{Frame, number};
use crate::memory::flat::carry_out;
use crate::memory::{Acted, Cx, Fault, Held, LocalMemory, Near, Stores, Trouble};
use crate::program::env::Root;
use crate::program::ops::Class;
use crate::verdict::{AccessId, Sink, Stop};

/// Puts registers into a frame that may be any other's.
fn put(held: &Held, frame: &mut Frame) {
    for (class, slot) in held.registers() {
        let end = slot.index() + 1;
        match class {
            Class::W => frame.grow(end, 0, 0),
            Class::Q => frame.grow(0, end, 0),
            Class::P => frame.grow(0, 0, end),
        }
    }
    held.put(frame, !0);
}

impl Mutexed {
    /// Carries out a part of an instruction, lanes in ascending order: of several that write the same bytes the last one's stay
    /// (D-lsc-ptx-coalesce).
    pub(super) fn perform<S: Sink>(
        &mut self,
        instruction: &Instruction,
        part: Part,
        shared: bool,
        stores: &mut dyn Stores,
        cx: &mut Cx<'_, S>,
    ) -> Acted {
        let Instruction { at, request, held, access_id, .. } = instruction;
        let trouble = |fault| Box::new(Trouble { at: *at, lanes: part.lanes, fault });
        let gone = || {
            let stop = Stop::internal("a memory operation is in flight whose warp is gone", None);
            trouble(Fault::Stop(stop))
        };
        // The frame is taken out while the block's shared memory is at hand.
        let own = held.is_empty();
        let mut regs = if own {
            stores.frame(at.who, at.depth).map(std::mem::take).ok_or_else(gone)?
        } else {
            let mut scratch = std::mem::take(&mut self.scratch.0);
            put(held, &mut scratch);
            scratch
        };
        let (mut local, map) = (LocalMemory::default(), self.arena.windows());
        let done = {
            let bytes = if shared { stores.shared(at.who.launch, at.who.block).ok_or_else(gone)? } else { &mut [] };
            let mut near =
                Near { shared: bytes, local: &mut local, param: &[], map: &map, root: Root::NONE, uses: None };
            let hint = &mut *cx.hints.at(at.pc);
            if S::ON && *access_id != AccessId::NONE {
                self.observed(instruction, part, shared, (&mut regs, &mut near), cx)
            } else {
                carry_out(&mut self.arena, part.lanes, request, &mut regs, &mut near, hint)
            }
        };
        if own {
            if let Some(frame) = stores.frame(at.who, at.depth) {
                *frame = regs;
            }
        } else {
            self.scratch.0 = regs;
        }
        done.map_err(|fault| trouble(*fault))
    }

    /// The same lane by lane, each with what it reads and writes told.
    fn observed<S: Sink>(
        &mut self,
        instruction: &Instruction,
        part: Part,
        shared: bool,
        (regs, near): (&mut Frame, &mut Near<'_>),
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Box<Fault>> {
        for lane in lanes_of(part.lanes) {
            let touched = Touched::of(instruction, lane, shared, (regs, near.map));
            let found = |address: u64, bytes: u32| {
                let at = usize::try_from(address).ok()?;
                let near = || near.shared.get(at..at.checked_add(bytes as usize)?);
                let found = if shared { near() } else { self.arena.bytes_at(address, bytes.into()) };
                found.filter(|_| bytes <= 8).map(number)
            };
            touched.tell_reads(&self.writers, found, cx)?;
            let hint = cx.hints.at(instruction.at.pc);
            carry_out(&mut self.arena, 1 << lane, &instruction.request, regs, near, hint)?;
            touched.tell_writes(&mut self.writers, cx)?;
        }
        Ok(())
    }
}
