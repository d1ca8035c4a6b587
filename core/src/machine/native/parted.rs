//! Lanes that have parted natively: what their warp and its control model are told when native code is left before they meet.

use super::context::{Back, Parting};
use super::forms::Token;
use super::plan::Plan;
use crate::machine::control::{Control, Flow};
use crate::machine::warp::state::Warp;

/// How often lanes part from each other at most, without meeting.
pub(super) const LEVELS: usize = 4;

/// Who has parted, the first ones first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Partings {
    all: [Parting; LEVELS],
    /// How many there are, where native code was left.
    count: u32,
    /// For each the numbers of lines that its lanes had before they parted.
    kept: Vec<u64>,
    scalars: usize,
}

impl Partings {
    /// None yet, of a kernel with so many numbers of lines.
    pub fn new(scalars: usize) -> Self {
        Self { all: [Parting::default(); LEVELS], count: 0, kept: vec![0; LEVELS * scalars], scalars }
    }

    /// Where native code finds them and the numbers, for a kernel with so many of these. `None`: there is no room for them.
    pub fn clear(&mut self, scalars: usize) -> Option<(*mut Parting, *mut u32, *mut u64)> {
        self.count = 0;
        let fits = self.kept.len() >= LEVELS * scalars;
        fits.then_some((self.all.as_mut_ptr(), &raw mut self.count, self.kept.as_mut_ptr()))
    }

    /// The partings of the warp that came back last.
    fn open(&self) -> &[Parting] {
        self.all.get(..self.count as usize).unwrap_or_default()
    }

    /// How many thread instructions were fewer than if all lanes had executed each instruction.
    #[inline(always)]
    pub fn fewer(&self, back: Back) -> u64 {
        let open = self.open().iter().map(|parting| {
            let (left, hidden) = ((parting.left >> 32) as u32, parting.left as u32);
            let counted = left.wrapping_sub(back.left).wrapping_sub(back.hidden.wrapping_sub(hidden));
            u64::from(counted) * u64::from((parting.mask & !parting.runs()).count_ones())
        });
        back.fewer + open.sum::<u64>()
    }

    /// Tells the warp of the lanes that came back where the others are; `flow`: all of them, where some came back.
    #[inline(always)]
    pub fn tell<C: Control>(&self, plan: &Plan, warp: &mut Warp<C>, flow: &mut Flow) {
        if self.count != 0 {
            self.tell_all(plan, warp, flow);
        }
    }

    #[cold]
    fn tell_all<C: Control>(&self, plan: &Plan, warp: &mut Warp<C>, flow: &mut Flow) {
        let (at, start) = (flow.pc, plan.function.start.0);
        for (level, parting) in self.open().iter().enumerate() {
            let Parting { mask, taken, tokens, branch, second, .. } = *parting;
            let k = branch as usize;
            let (Some(i), Some(region)) = (plan.code.get(k), plan.regions[k].as_ref()) else { continue };
            *flow = Flow { pc: start + branch, mask, depth: 0 };
            push(warp, *flow, plan.tokens[k].as_deref().unwrap_or_default(), tokens as usize);
            let runs = parting.runs();
            if runs != mask {
                let place = if second == 0 {
                    warp.control.diverge(flow, taken, i.imm);
                    branch
                } else {
                    region.join as u32
                };
                let numbers = self.kept.get(level * self.scalars..).and_then(|kept| kept.get(..self.scalars));
                warp.lines.0.wait(place, mask & !runs, numbers.unwrap_or_default());
            }
            flow.mask = runs;
        }
        flow.pc = at;
    }
}

/// Tokens that were pushed natively are still on the stack.
pub(super) fn push<C: Control>(warp: &mut Warp<C>, flow: Flow, stack: &[Token], count: usize) {
    for (kind, to) in &stack[stack.len().saturating_sub(count)..] {
        let mut here = flow;
        warp.control.push(&mut here, *kind, flow.mask, *to);
    }
}
