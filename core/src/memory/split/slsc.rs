//! Strictly lockstep sequential consistency (the same paper, end of section 3.2; `--memory slsc`): the accesses of an instruction take
//! effect at one point of memory order, so that nobody sees an instruction half done.
//!
//! [`Flat`](crate::memory::flat::Flat) does this, too, with lanes in ascending order; here each byte that several lanes store to keeps what any
//! of them stored, and atomic operations on one location come one after another in any order. The
//! instruction takes effect in a step of its own, which others may come before.

use super::bytes::{Byte, either, stores_plainly, written};
use super::pending::Instruction;
use super::{Arena, Split, elements};
use crate::base::mutant::{Mutant, on};
use crate::base::{LaneMask, lanes_of};
use crate::choice::{Oracle, Site, one_of};
use crate::memory::{
    Acted, Active, Cx, Environment, Fault, Issuer, Memory, Movable, OperationName, Part, Snapshot, Stores, Taken,
    Trouble, Uses,
};
use crate::program::instr::{MemOp, WarpRequest};
use crate::verdict::{MemoryView, Rule, Sink, Stop, Who};
use std::collections::BTreeMap;

/// Flat memory that warps access as strictly lockstep sequential consistency has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slsc {
    split: Split,
}

impl Environment for Slsc {
    type Model = ();

    fn create((): &(), base: u64, cap: Option<u64>) -> Self {
        Self { split: Split::create(&(), base, cap) }
    }
}

impl Snapshot for Slsc {
    fn sections(&self) -> u32 {
        self.split.sections()
    }

    fn changed(&mut self, out: &mut Vec<u32>) {
        self.split.changed(out);
    }

    fn save(&self, part: Part, out: &mut Vec<u8>) {
        self.split.save(part, out);
    }

    fn load(&mut self, part: Part, from: &[u8]) {
        self.split.load(part, from);
    }
}

impl Slsc {
    /// The lanes of an instruction in an order in which they may access memory: it matters where atomic operations are on one location.
    fn order(
        &self,
        instruction: &Instruction,
        stores: &mut dyn Stores,
        oracle: &mut dyn Oracle,
    ) -> Result<Vec<usize>, Stop> {
        let lanes: Vec<usize> = lanes_of(instruction.together).collect();
        if matches!(instruction.request.op, MemOp::Load | MemOp::Store) {
            return Ok(lanes);
        }
        let (at, map) = (instruction.at, self.split.arena.windows());
        let first = elements(&instruction.request).next().unwrap_or(0);
        let mut places: BTreeMap<Option<Byte>, Vec<usize>> = BTreeMap::new();
        for lane in lanes {
            let regs = stores.frame(at.who, at.depth);
            let byte = regs.and_then(|regs| written(instruction, (lane, first), regs, &map).first().copied());
            places.entry(byte).or_default().push(lane);
        }
        let mut order = Vec::new();
        for mut same in places.into_values() {
            let mut last = Vec::new();
            // Which one is last, of those that are left.
            while !same.is_empty() {
                last.push(same.remove(one_of(oracle, Site::Winner, same.len())?));
            }
            order.extend(last.into_iter().rev());
        }
        Ok(order)
    }
}

impl Memory for Slsc {
    const IMMEDIATE: bool = false;

    fn arena(&self) -> &Arena {
        self.split.arena()
    }

    fn arena_mut(&mut self) -> &mut Arena {
        self.split.arena_mut()
    }

    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken {
        self.split.take_in(on, request, cx, !self::on(Mutant::SlscApart))
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

    /// Rule: slsc.instruction
    fn step<S: Sink>(&mut self, number: u32, stores: &mut dyn Stores, cx: &mut Cx<'_, S>) -> Acted {
        let Some((instruction, ..)) = self.split.pending.look(number) else { return Ok(()) };
        if instruction.together == 0 {
            return self.split.step(number, stores, cx);
        }
        let Some((instruction, ..)) = self.split.pending.take(number) else { return Ok(()) };
        self.split.woken.push(instruction.at.who);
        let stopped = |stop: Stop| {
            Box::new(Trouble { at: instruction.at, lanes: instruction.together, fault: Fault::Stop(stop) })
        };
        cx.sink.fire(instruction.at.who, Rule::SlscInstruction).map_err(stopped)?;
        let order = self.order(&instruction, stores, cx.oracle).map_err(stopped)?;
        let (plain, map) = (stores_plainly(&instruction.request), self.split.arena.windows());
        let (at, mut seen) = (instruction.at, std::collections::BTreeSet::new());
        for lane in order {
            for k in elements(&instruction.request) {
                let regs = stores.frame(at.who, at.depth).filter(|_| plain);
                let bytes = regs.map_or_else(Default::default, |regs| written(&instruction, (lane, k), regs, &map));
                let mut kept = Vec::new();
                for byte in bytes.into_iter().filter(|byte| !seen.insert(*byte)) {
                    kept.extend(byte.content(&mut self.split.arena, stores).map(|content| (byte, *content)));
                }
                self.split.act(&instruction, (lane, k), stores, cx)?;
                for held in kept {
                    either(held, at.who, &mut self.split.arena, stores, cx).map_err(stopped)?;
                }
            }
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
