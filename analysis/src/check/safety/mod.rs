//! The safety property of the report's chapter 6, asserted at each step: a thread does only what it would do alone.
//!
//! The reference semantics runs along. Before each step of a warp, stack consistency (6.2), active and inactive consistency
//! and the invariant (6.4) must hold. Under control models without tokens, active consistency is left: a lane executes the
//! instruction that its thread is at. A violation is an error of the injection or of the machine.

mod state;

use super::bug;
use super::plain::at;
use super::reference::{Reference, Thread};
use crate::base::sorted::SortedSet;
use crate::base::{LaneMask, Pc, lanes_of};
use crate::program::env::ProgEnv;
use crate::verdict::{BugKind, Event, Property, Rule, Sink, Step, Stop, Tokens, Violation, Who};
use rustc_hash::FxHashMap;
use state::Broken;
use std::sync::Arc;

/// The rules whose firing a violation is told with.
fn of_the_stack(rule: Rule) -> bool {
    rule.id().starts_with("crs.") && !matches!(rule, Rule::CrsUnwind | Rule::CrsUpdExecState)
}

#[derive(Clone, Debug)]
struct Warp {
    reference: Reference,
    last: Option<Rule>,
    /// Lanes that were active at some time.
    seen: LaneMask,
}

/// By launch and block.
type Blocks = FxHashMap<(u32, u64), Vec<Option<Warp>>>;

fn warp(blocks: &mut Blocks, who: Who) -> Option<&mut Warp> {
    blocks.get_mut(&(who.launch, who.block))?.get_mut(who.warp as usize)?.as_mut()
}

/// Asserts the safety property.
pub struct Safety {
    env: Arc<ProgEnv>,
    /// The warps of each resident block.
    blocks: Blocks,
    fired: SortedSet<Rule>,
}

impl Safety {
    /// An observer of a program's runs.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>) -> Self {
        Self { env, blocks: FxHashMap::default(), fired: SortedSet::new() }
    }

    /// The rules of the reference semantics that fired.
    #[must_use]
    pub const fn fired(&self) -> &SortedSet<Rule> {
        &self.fired
    }

    fn step(&mut self, who: Who, step: &Step<'_>) -> Result<(), Stop> {
        let Self { env, blocks, fired } = self;
        let fresh = || Warp { reference: Reference::new(step.pc.0), last: None, seen: 0 };
        let warp = at(blocks.entry((who.launch, who.block)).or_default(), who.warp).get_or_insert_with(fresh);
        warp.seen |= step.active;
        warp.reference.reset(step.active, fired);
        let threads = warp.reference.threads();
        let checked = active(threads, step).and_then(|()| match &step.tokens {
            Some(tokens) => {
                state::invariant(step.active, tokens)?;
                inactive(threads, step.active, tokens)?;
                let op = env.code.get(step.pc.0 as usize).map(|i| i.op);
                op.map_or(Ok(()), |op| state::stack(op, step, tokens))
            }
            None => Ok(()),
        });
        if let Err((property, lanes)) = checked {
            return Err(violation(warp, step, property, lanes));
        }
        warp.reference.step(env, step, fired);
        Ok(())
    }

    /// A block has come to its end: so must have each of its threads.
    fn done(&mut self, who: Who) -> Result<(), Stop> {
        for warp in self.blocks.remove(&(who.launch, who.block)).into_iter().flatten().flatten() {
            warp.reference.idle(&mut self.fired);
            let threads = warp.reference.threads();
            let live = |l: &usize| threads.get(*l).is_some_and(|t| t.pc.is_some());
            let lanes = lanes_of(warp.seen).filter(live).fold(0, |m, l| m | 1 << l);
            if let Some(next) = lanes_of(lanes).next().and_then(|l| threads.get(l)?.pc) {
                let (property, active, disabled, stack) = (Property::Invariant(1), 0, [0; 3], Vec::new());
                let violation =
                    Violation { property, rule: warp.last, lanes, next: Some(next), active, disabled, stack };
                return Err(bug(BugKind::Unsafe(Box::new(violation)), Pc(next), lanes));
            }
        }
        Ok(())
    }
}

/// Active consistency; here also that the call stack of thread and warp are equally deep.
fn active(threads: &[Thread], step: &Step<'_>) -> Result<(), Broken> {
    let astray = |lane: &usize| {
        let Some(thread) = threads.get(*lane) else { return true };
        let again = thread.waits && thread.pc == Some(step.pc.0 + 1);
        (thread.pc != Some(step.pc.0) && !again) || thread.calls.len() != step.depth as usize
    };
    let bad = lanes_of(step.active).filter(astray).fold(0, |m, l| m | 1 << l);
    if bad == 0 { Ok(()) } else { Err((Property::Active, bad)) }
}

/// Inactive consistency.
fn inactive(threads: &[Thread], active: LaneMask, tokens: &Tokens<'_>) -> Result<(), Broken> {
    let mut bad = 0;
    tokens.activations(active, |_, token, lanes| {
        for lane in lanes_of(lanes) {
            let Some(thread) = threads.get(lane) else { continue };
            if thread.pc != Some(token.pc) || thread.calls.len() != token.depth as usize {
                bad |= 1 << lane;
            }
        }
    });
    if bad == 0 { Ok(()) } else { Err((Property::Inactive, bad)) }
}

#[cold]
fn violation(warp: &Warp, step: &Step<'_>, property: Property, lanes: LaneMask) -> Stop {
    let lead = lanes_of(lanes).next().unwrap_or(0);
    let next = match property {
        Property::Active | Property::Inactive => warp.reference.threads().get(lead).and_then(|t| t.pc),
        _ => None,
    };
    let (stack, disabled) = step.tokens.map_or((Vec::new(), [0; 3]), |t| (t.stack.to_vec(), t.disabled));
    let violation = Violation { property, rule: warp.last, lanes, next, active: step.active, disabled, stack };
    bug(BugKind::Unsafe(Box::new(violation)), Pc(step.pc.0), lanes)
}

impl Sink for Safety {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            // Other grids may be running.
            Event::Launch { .. } => self.blocks.retain(|(launch, _), _| *launch != who.launch),
            Event::Step(step) => return self.step(who, &step),
            Event::Fired(rule) if of_the_stack(rule) => {
                if let Some(warp) = warp(&mut self.blocks, who) {
                    warp.last = Some(rule);
                }
            }
            Event::Enter(enter) => {
                if let Some(warp) = warp(&mut self.blocks, who) {
                    warp.reference.reset(enter.lanes, &mut self.fired);
                }
            }
            Event::BlockDone => return self.done(who),
            _ => {}
        }
        Ok(())
    }
}
