//! Lanes in functions that call each other natively: who waits at which depth, and where stack frames begin.

use super::apart::Apart;
use super::callees::{Callee, Callees};
use super::context::RUNS;
use crate::base::{Frame, LaneMask, lanes_of};
use crate::machine::control::{Flow, Group, Nested};
use crate::program::instr::{STACK_BASE, STACK_TOP};

/// Where stack frames begin: at multiples of so many bytes, as the interpreter has it.
pub(super) const ALIGN: u32 = 16;

/// A function of which lanes wait while others run that have called from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// Its number.
    pub number: usize,
    /// Where its frame begins.
    pub base: u32,
    /// How many wait in its callers.
    pub waiting: usize,
}

/// Room for functions that call each other natively.
#[derive(Debug)]
pub(super) struct Stacked {
    /// Who waits in the function that runs.
    pub apart: Apart,
    /// Its callers, the deepest last, as far as they have called natively.
    pub levels: Vec<Level>,
    /// By place, who waits in these.
    pub waiting: Vec<(u8, LaneMask)>,
    /// By depth: the function whose constants the frame has, and for which lanes, as far as that is known.
    pub filled: Vec<Option<(usize, LaneMask)>>,
}

/// Lanes that run.
#[derive(Clone, Copy)]
pub(super) struct Here {
    /// Their function, and where its frame begins.
    pub number: usize,
    pub base: u32,
    pub depth: u32,
    pub mask: LaneMask,
    /// The instruction, from the function's start.
    pub k: usize,
}

/// What there is when lanes begin.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    /// Where the frame of their function begins.
    pub base: u32,
    /// All lanes that are ready; none where others are left to the control model. And those of them that are in callers.
    pub ready: LaneMask,
    pub beyond: LaneMask,
    /// How many instructions there may be until others come first.
    pub patience: u32,
}

impl Stacked {
    /// Nobody is in any.
    pub fn new() -> Self {
        Self { apart: Apart::new(0, 0), levels: Vec::new(), waiting: Vec::new(), filled: Vec::new() }
    }

    /// Gets ready for lanes in a function and for those who wait. `None`: it is not so simple.
    pub fn begin(&mut self, callee: &Callee, frame: &Frame, flow: Flow, nested: Nested) -> Option<Begun> {
        let all = nested.here.iter().fold(flow.mask, |all, (lanes, _)| all | lanes);
        let base = base(callee, frame, flow.mask, all)?;
        self.clear();
        for (lanes, pc) in nested.here {
            self.apart.wait(callee.plan.place(pc)?, lanes);
        }
        Some(Begun { base, ready: all | nested.beyond, beyond: nested.beyond, patience: nested.patience })
    }

    /// Gets ready for lanes in a function that run until somebody else is to.
    pub fn alone(&mut self, callee: &Callee, frame: &Frame, flow: Flow) -> Option<Begun> {
        let base = base(callee, frame, flow.mask, flow.mask)?;
        self.clear();
        // Where no run can be noted, native code leaves when lanes part.
        self.apart.all.count = RUNS as u32;
        Some(Begun { base, ready: 0, beyond: 0, patience: 0 })
    }

    fn clear(&mut self) {
        self.levels.clear();
        self.waiting.clear();
        self.filled.clear();
        // Who waited when functions were left is where the control model has it.
        while self.apart.take().is_some() {}
        self.apart.gather();
    }

    /// Those who run in a function wait for others, whom they have called.
    #[inline(always)]
    pub fn push(&mut self, here: Here) {
        self.levels.push(Level { number: here.number, base: here.base, waiting: self.waiting.len() });
        while let Some((place, lanes)) = self.apart.take() {
            self.waiting.push((place, lanes));
        }
    }

    /// Lanes have returned to where others may wait in the function that called last.
    #[inline(always)]
    pub fn come_back(&mut self, place: u8, lanes: LaneMask) {
        let from = self.levels.last().map_or(0, |level| level.waiting);
        match self.waiting[from..].iter_mut().find(|(other, _)| *other == place) {
            Some((_, others)) => *others |= lanes,
            None => self.waiting.push((place, lanes)),
        }
    }

    /// The function that runs next, of which those run who are behind: the same one, or where nobody is left in that, its caller.
    #[inline(always)]
    pub fn next(&mut self, callees: &Callees, here: Here) -> Option<Here> {
        let mut next = here;
        if self.apart.all.places == 0 {
            let level = self.levels.pop()?;
            for (place, lanes) in self.waiting.drain(level.waiting..) {
                self.apart.wait(place, lanes);
            }
            next = Here { number: level.number, base: level.base, depth: here.depth - 1, ..here };
        }
        let (place, mask) = self.apart.take()?;
        let k = *callees.made(next.number)?.plan.meets.get(usize::from(place))? as usize;
        Some(Here { mask, k, ..next })
    }

    /// Who waits where.
    pub fn others(&self, callees: &Callees, here: Here) -> Vec<Group> {
        let mut all = Vec::new();
        let mut add = |number: usize, depth: u32, place: u8, lanes: LaneMask| {
            if let Some(plan) = callees.made(number).map(|callee| &callee.plan)
                && let Some(k) = plan.meets.get(usize::from(place))
            {
                all.push((lanes, plan.function.start.0 + k, depth));
            }
        };
        self.apart.those().for_each(|(place, lanes)| add(here.number, here.depth, place, lanes));
        let ends = self.levels.iter().skip(1).map(|level| level.waiting).chain([self.waiting.len()]);
        for (index, (level, end)) in self.levels.iter().zip(ends).enumerate() {
            let depth = here.depth - (self.levels.len() - index) as u32;
            let waiting = &self.waiting[level.waiting..end];
            waiting.iter().for_each(|(place, lanes)| add(level.number, depth, *place, *lanes));
        }
        all
    }
}

/// Where the stack frame of a function begins, of some lanes and of all. `None`: it is not the same.
pub(super) fn base(callee: &Callee, frame: &Frame, lead: LaneMask, all: LaneMask) -> Option<u32> {
    let base = frame.w[STACK_BASE.index()].0[lead.trailing_zeros() as usize % 32];
    let top = base.checked_add(callee.plan.function.frame_bytes)?;
    let same = |row: &[u32; 32], value: u32| lanes_of(all).all(|l| row[l] == value);
    let stands = same(&frame.w[STACK_BASE.index()].0, base) && same(&frame.w[STACK_TOP.index()].0, top);
    (stands && base.is_multiple_of(ALIGN)).then_some(base)
}
