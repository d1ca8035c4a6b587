//! The liveness property of the report's 6.5: every token that is pushed is popped in the end.
//!
//! It is refuted by a state of the whole device that repeats under the deterministic schedule: the machine remembers a
//! state now and then, compares later ones with it, and says so. A token that was on its stack all the time between the
//! two is never popped. Nothing is concluded from a run that ends, that reaches a limit, or that is scheduled at random.

use crate::base::{LaneMask, Pc};
use crate::verdict::{Event, Hang, NeverPopped, Place, Sink, Stack, Step, Stop, StuckKind, Token, Who};
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
    warps: BTreeMap<(u32, u64, u32), Warp>,
}

impl Liveness {
    /// An observer of runs.
    #[must_use]
    pub const fn new() -> Self {
        Self { warps: BTreeMap::new() }
    }

    fn step(&mut self, who: Who, step: &Step<'_>) {
        let warp = self.warps.entry((who.launch, who.block, who.warp)).or_default();
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

    fn remembered(&mut self) {
        for warp in self.warps.values_mut() {
            (warp.least, warp.moved) = (warp.stack.len(), false);
        }
    }

    /// The state repeats.
    fn repeated(&self) -> Stop {
        let mut tokens = Vec::new();
        let (mut place, mut last) = (Place::default(), Who::default());
        for (&(launch, block, warp), w) in &self.warps {
            if !w.moved {
                continue;
            }
            let who = Who { launch, block, warp };
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
        let hang = Box::new(Hang { stacks: self.stacks(), ..Hang::default() });
        Stop::Stuck(Box::new(StuckKind::Endless { tokens, who: last, place, hang }))
    }

    /// The token stacks that are not empty, each as it was before the last step of its warp.
    #[must_use]
    pub fn stacks(&self) -> Vec<Stack> {
        let some = self.warps.iter().filter(|(_, w)| !w.stack.is_empty());
        let one = |(&(launch, block, warp), w): (&_, &Warp)| Stack {
            who: Who { launch, block, warp },
            tokens: w.stack.clone(),
        };
        some.map(one).collect()
    }
}

impl Sink for Liveness {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            // Other grids may be running.
            Event::Launch { .. } => self.warps.retain(|(launch, ..), _| *launch != who.launch),
            Event::Step(step) => self.step(who, &step),
            Event::Remembered => self.remembered(),
            Event::Repeated => return Err(self.repeated()),
            Event::BlockDone => {
                let of = (who.launch, who.block, 0)..=(who.launch, who.block, u32::MAX);
                let ended: Vec<_> = self.warps.range(of).map(|(k, _)| *k).collect();
                ended.iter().for_each(|k| _ = self.warps.remove(k));
            }
            _ => {}
        }
        Ok(())
    }
}
