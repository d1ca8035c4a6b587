//! Lockstep sequential consistency (Puthoor, Lipasti, "Systems-on-Chip with Strong Ordering", TACO 2021, section 3.2; `--memory lsc`).
//!
//! A wavefront is a warp: its next instruction begins when all accesses of the last one have taken effect (first condition); those of one
//! instruction take effect in any order, interleaved with others' (second condition); each sees what is there then (third
//! condition). This is [`Split`], but for stores of one instruction to the same bytes: each byte keeps what any of them stored. So a store
//! that takes effect after another one of its instruction may leave bytes to that one, unless somebody else has
//! written them since: then it comes behind that write.

use super::bytes::{Byte, Bytes, either, stores_plainly, written};
use super::pending::Instruction;
use super::{Arena, Split};
use crate::base::LaneMask;
use crate::base::mutant::{Mutant, on};
use crate::memory::{
    Acted, Active, Cx, Environment, Fault, Issuer, Memory, Movable, OperationName, Part, Snapshot, Stores, Taken,
    Trouble, Uses, snapshot,
};
use crate::program::instr::WarpRequest;
use crate::verdict::{MemoryView, Rule, Sink, Who};
use std::collections::BTreeMap;

/// An instruction that is not complete: who executes it, and with which lanes.
type Instructed = (Who, LaneMask);

/// Flat memory that warps access as lockstep sequential consistency has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lsc {
    split: Split,
    /// Bytes whose last write is by an instruction of which another lane will store there, too.
    contested: BTreeMap<Byte, Instructed>,
}

impl Environment for Lsc {
    type Model = ();

    fn create((): &(), base: u64, cap: Option<u64>) -> Self {
        Self { split: Split::create(&(), base, cap), contested: BTreeMap::new() }
    }
}

/// What is contested is the first shared section, before those of memory.
impl Snapshot for Lsc {
    fn sections(&self) -> u32 {
        self.split.sections().saturating_add(1)
    }

    fn changed(&mut self, out: &mut Vec<u32>) {
        out.push(0);
        let first = out.len();
        self.split.changed(out);
        out.iter_mut().skip(first).for_each(|section| *section += 1);
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        match part {
            Part::Shared(0) => self.contested.iter().for_each(|entry| snapshot::put(&entry, out)),
            Part::Shared(k) => self.split.save(Part::Shared(k - 1), out),
            Part::Heap | Part::Warp(_) => self.split.save(part, out),
        }
    }

    fn load(&mut self, part: Part, mut from: &[u8]) {
        match part {
            Part::Shared(0) => {
                self.contested.clear();
                while let Some((byte, by)) = snapshot::take(&mut from) {
                    self.contested.insert(byte, by);
                }
            }
            Part::Shared(k) => self.split.load(Part::Shared(k - 1), from),
            Part::Heap | Part::Warp(_) => self.split.load(part, from),
        }
    }
}

impl Lsc {
    /// The bytes that an access writes.
    fn written(&self, instruction: &Instruction, which: (usize, usize), stores: &mut dyn Stores) -> Bytes {
        let at = instruction.at;
        let regs = stores.frame(at.who, at.depth);
        regs.map_or_else(Bytes::new, |regs| written(instruction, which, regs, &self.split.arena.windows()))
    }

    /// The bytes that other lanes of an instruction will store to.
    fn to_come(&self, instruction: &Instruction, stores: &mut dyn Stores) -> Vec<Byte> {
        let left = self.split.pending.left(instruction.at.who, instruction.lanes);
        left.into_iter().flat_map(|which| self.written(instruction, which, stores)).collect()
    }
}

impl Lsc {
    /// The access of a lane takes effect.
    ///
    /// Rule: lsc.access
    fn access<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let Some((instruction, lane, k)) = self.split.pending.look(number) else { return Ok(()) };
        let (instruction, which, at) = (instruction.clone(), (lane, k), instruction.at);
        let stopped = |stop| Box::new(Trouble { at, lanes: 1 << lane, fault: Fault::Stop(stop) });
        cx.sink.fire(at.who, Rule::LscAccess).map_err(stopped)?;
        let bytes = self.written(&instruction, which, stores);
        let own = (at.who, instruction.lanes);
        let plain = stores_plainly(&instruction.request);
        let held = |byte: &Byte| self.contested.get(byte) == Some(&own) && plain && !on(Mutant::LscWholeStores);
        let before: Vec<Byte> = bytes.iter().copied().filter(held).collect();
        let mut kept = Vec::new();
        for byte in before {
            kept.extend(byte.content(&mut self.split.arena, stores).map(|content| (byte, *content)));
        }
        self.split.step(number, stores, cx)?;
        for held in kept {
            either(held, at.who, &mut self.split.arena, stores, cx).map_err(stopped)?;
        }
        let to_come = if plain { self.to_come(&instruction, stores) } else { Vec::new() };
        for byte in bytes {
            self.contested.remove(&byte);
            if to_come.contains(&byte) {
                self.contested.insert(byte, own);
            }
        }
        self.contested.retain(|byte, by| *by != own || to_come.contains(byte));
        Ok(())
    }
}

impl Memory for Lsc {
    const IMMEDIATE: bool = false;

    fn arena(&self) -> &Arena {
        self.split.arena()
    }

    fn arena_mut(&mut self) -> &mut Arena {
        self.split.arena_mut()
    }

    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        self.split.issue(on, request, cx)
    }

    fn blocked(&self, at: Issuer, uses: &Uses, lanes: LaneMask) -> LaneMask {
        self.split.blocked(at, uses, lanes)
    }

    fn ready(&self) -> &[u64] {
        self.split.ready()
    }

    fn pending(&self) -> usize {
        self.split.pending()
    }

    fn movable(&self, who: Who, out: &mut Vec<Movable>) {
        self.split.movable(who, out);
    }

    fn operation(&self, launch: u32, name: OperationName) -> Option<u32> {
        self.split.operation(launch, name)
    }

    fn step<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let who = self.split.pending.look(number).map(|(instruction, ..)| instruction.at.who);
        self.access(number, stores, cx)?;
        while let Some(who) = who.filter(|_| on(Mutant::LscTogether)) {
            let mut left = Vec::new();
            self.split.movable(who, &mut left);
            let next = left.first().and_then(|next| self.split.operation(who.launch, next.name));
            let Some(next) = next else { break };
            self.access(next, stores, cx)?;
        }
        Ok(())
    }

    fn woken(&mut self, out: &mut Vec<Who>) {
        self.split.woken(out);
    }

    fn in_flight(&self, launch: u32, block: Option<u64>) -> usize {
        self.split.in_flight(launch, block)
    }

    fn view(&self) -> MemoryView {
        self.split.view()
    }
}
