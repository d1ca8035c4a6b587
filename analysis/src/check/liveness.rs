//! The liveness property of the report's 6.5: every token that is pushed is popped in the end.
//!
//! It is refuted by a state of the whole device that repeats under the deterministic schedule: the machine remembers a
//! state now and then, compares later ones with it, and says so. A token that was on its stack all the time between the
//! two is never popped. Nothing is concluded from a run that ends, that reaches a limit, or that is scheduled at random.

use crate::base::{LANES, LaneMask, Pc, lanes_of};
use crate::verdict::{
    Access, AccessKind, Event, Hang, NeverPopped, Place, Sink, Stack, Step, Stop, StuckKind, Taken, Token, Who,
};
use std::collections::BTreeMap;

/// What is known of a warp.
#[derive(Clone, Debug, Default)]
struct Warp {
    /// Where it was last, and its active lanes there.
    pc: u32,
    active: LaneMask,
    disabled: [LaneMask; 3],
    /// Its tokens, each with the instruction that pushed it.
    stack: Vec<(Token, Pc)>,
    /// The least number of tokens since the state was remembered.
    least: usize,
    /// Whether it did anything since.
    moved: bool,
}

/// Finds tokens that are never popped.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    warps: BTreeMap<Who, Warp>,
    /// Atomic operations by location: the block of shared memory, and the address. Those of each are in order.
    taken: BTreeMap<(Option<u64>, u64), Vec<By>>,
}

/// Lanes of a warp that access a location by an instruction, and what it held before where that was known.
type By = (Who, LaneMask, Pc, Option<u64>);

/// Locations at most of which atomic operations are kept: locks are few, histograms are not.
const TAKEN: usize = 1 << 12;

impl Liveness {
    /// An observer of runs.
    #[must_use]
    pub const fn new() -> Self {
        Self { warps: BTreeMap::new(), taken: BTreeMap::new() }
    }

    fn step(&mut self, who: Who, step: &Step<'_>) {
        let warp = self.warps.entry(who).or_default();
        (warp.active, warp.moved) = (step.active, true);
        if let Some(tokens) = step.tokens {
            warp.disabled = tokens.disabled;
            // One instruction pushes one token or pops some, so what is above the common part was just pushed.
            warp.stack.truncate(tokens.stack.len());
            let pushed = Pc(warp.pc);
            warp.stack.extend(tokens.stack.iter().skip(warp.stack.len()).map(|t| (*t, pushed)));
            warp.least = warp.least.min(warp.stack.len());
        }
        warp.pc = step.pc.0;
    }

    /// Who takes what by an atomic operation, or gives it back by a store.
    fn access(&mut self, who: Who, access: &Access<'_>) {
        if access.kind == AccessKind::Read || access.kind == AccessKind::Write && self.taken.is_empty() {
            return;
        }
        let shared = access.memory.shared.len() as u64;
        for lane in lanes_of(access.lanes) {
            let address = access.addresses[lane % LANES];
            let block = (address.wrapping_sub(access.memory.window) < shared).then_some(who.block);
            let (at, lane) = ((block, address), 1 << lane);
            if access.kind == AccessKind::Write {
                self.taken.remove(&at);
                continue;
            }
            if self.taken.len() >= TAKEN && !self.taken.contains_key(&at) {
                continue;
            }
            let by = self.taken.entry(at).or_default();
            by.iter_mut().filter(|b| b.0 == who).for_each(|b| b.1 &= !lane);
            let before = access.memory.number(address, access.bytes);
            match by.last_mut().filter(|b| (b.0, b.2, b.3) == (who, access.pc, before)) {
                Some(last) => last.1 |= lane,
                None => by.push((who, lane, access.pc, before)),
            }
            by.retain(|b| b.1 != 0);
        }
    }

    /// The atomic operations on each location since which nobody stored to it.
    #[must_use]
    pub fn taken(&self) -> Vec<Taken> {
        let one = |(&(block, address), by): (&_, &Vec<_>)| Taken { address, block, by: by.clone() };
        self.taken.iter().map(one).collect()
    }

    fn remembered(&mut self) {
        for warp in self.warps.values_mut() {
            (warp.least, warp.moved) = (warp.stack.len(), false);
        }
    }

    /// The state repeats.
    fn repeated(&self) -> Stop {
        let mut tokens = Vec::new();
        let (mut place, mut last) = (Place::default(), Who::default());
        for (&who, w) in &self.warps {
            if !w.moved {
                continue;
            }
            let here = Place { pc: Pc(w.pc), lanes: w.active, ..Place::default() };
            let stack: Vec<Token> = w.stack.iter().map(|t| t.0).collect();
            let view = crate::verdict::Tokens { stack: &stack, disabled: w.disabled };
            view.activations(w.active, |at, token, waiting| {
                if let Some((_, pushed)) = w.stack.get(at).filter(|_| at < w.least) {
                    let place = here.clone();
                    tokens.push(NeverPopped { who, place, token: *token, waiting, pushed: *pushed });
                }
            });
            (place, last) = (here, who);
        }
        let hang = Box::new(Hang { stacks: self.stacks(), taken: self.taken(), ..Hang::default() });
        Stop::Stuck(Box::new(StuckKind::Endless { tokens, who: last, place, hang }))
    }

    /// The token stacks that are not empty, each as it was before the last step of its warp.
    #[must_use]
    pub fn stacks(&self) -> Vec<Stack> {
        let some = self.warps.iter().filter(|(_, w)| !w.stack.is_empty());
        let one = |(&who, w): (&_, &Warp)| Stack { who, tokens: w.stack.clone() };
        some.map(one).collect()
    }
}

impl Sink for Liveness {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            // Other grids may be running.
            Event::Launch { .. } => {
                self.warps.retain(|w, _| w.launch != who.launch);
                self.taken.clear();
            }
            Event::Access(access) => self.access(who, access),
            Event::Step(step) => self.step(who, &step),
            Event::Remembered => self.remembered(),
            Event::Repeated => return Err(self.repeated()),
            Event::BlockDone => {
                self.warps.retain(|w, _| (w.launch, w.block) != (who.launch, who.block));
            }
            _ => {}
        }
        Ok(())
    }
}
