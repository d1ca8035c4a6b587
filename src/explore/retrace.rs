//! The way of a search as a schedule of an ordinary run.
//!
//! A search steps agents; a run asks its oracle whose turn it is, and not when only one can go on. So the way is walked
//! again, every instruction is written down with who executed it, and an oracle that is told what the run does answers so
//! that it does the same.

use super::odometer::Odometer;
use super::space::Move;
use crate::choice::{Fair, Menu, Oracle, Pick, Site};
use crate::machine::Tell;
use crate::machine::walk::Walk;
use crate::verdict::{Event, Stop, Who};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// Lanes of a warp that execute some instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Turn {
    who: Who,
    /// The lowest of the lanes.
    lane: u32,
    count: u64,
}

/// Who executes what, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    turns: VecDeque<Turn>,
    /// Alternatives at choices within an instruction.
    targets: VecDeque<u32>,
    /// Instructions in all.
    length: u64,
}

/// Takes down what is decided within steps.
struct Listening<'a> {
    odometer: Odometer,
    targets: &'a mut VecDeque<u32>,
}

impl Oracle for Listening<'_> {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let pick = self.odometer.choose(menu)?;
        if menu.site == Site::Target {
            self.targets.push_back(pick.index);
        }
        Ok(pick)
    }
}

/// One more instruction.
fn add(turns: &mut VecDeque<Turn>, length: &mut u64, who: Who, lane: u32) {
    *length += 1;
    match turns.back_mut() {
        Some(turn) if (turn.who, turn.lane) == (who, lane) => turn.count += 1,
        _ => turns.push_back(Turn { who, lane, count: 1 }),
    }
}

/// Makes a step of a path: tells whether the run goes on. `oracle` makes an oracle of one that takes the step's combination.
pub(super) fn take<O: Oracle>(
    walk: &mut dyn Walk,
    step: Move,
    oracle: impl FnOnce(Odometer) -> O,
    tell: Option<Tell<'_>>,
) -> bool {
    let mut agents = Vec::new();
    walk.agents(&mut agents);
    let Some(agent) = agents.get(usize::from(step.agent)).copied() else { return false };
    // The combinations before the one that was taken are gone through again: only they say what comes next.
    let mut odometer = Odometer::new();
    let here = walk.mark();
    for _ in 0..step.nth {
        // What they come to was looked at before.
        let _ = walk.advance(agent, &mut odometer, None);
        walk.back(here);
        odometer.advance();
    }
    walk.advance(agent, &mut oracle(odometer), tell).is_ok()
}

/// Goes along a path, as far as the run goes on.
pub(super) fn follow(walk: &mut dyn Walk, path: &[Move]) {
    for step in path {
        if !take(walk, *step, |odometer| odometer, None) {
            return;
        }
    }
}

impl Script {
    /// Walks a path from the start, where the walk stands, which is where it stands again afterwards.
    pub fn of(walk: &mut dyn Walk, path: &[Move]) -> Self {
        let start = walk.mark();
        let mut script = Self::default();
        for (who, lane) in walk.begun() {
            add(&mut script.turns, &mut script.length, *who, *lane);
        }
        for step in path {
            let Self { turns, length, targets } = &mut script;
            let mut tell = |who: Who, event: Event<'_>| {
                if let Event::Step(step) = event {
                    add(turns, length, who, step.active.trailing_zeros());
                }
                Ok(())
            };
            if !take(walk, *step, |odometer| Listening { odometer, targets }, Some(&mut tell)) {
                break;
            }
        }
        walk.back(start);
        script
    }

    /// Instructions in all.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }
}

/// The state of a run that follows a script.
struct Following {
    script: Script,
    /// The block in each slot of the current grid.
    slots: Vec<Option<u64>>,
    launch: u32,
}

/// An oracle that follows a script, when it is told of the run's events.
pub struct Follow {
    state: RefCell<Following>,
    /// Places of a block's warps in the menus of warps, as a power of two, by launch.
    shifts: Vec<u32>,
}

impl Follow {
    /// Follows a script; `warps` are those of a block, by launch.
    #[must_use]
    pub fn new(script: Script, warps: &[u32]) -> Self {
        let shifts = warps.iter().map(|n| n.next_power_of_two().trailing_zeros()).collect();
        Self { state: RefCell::new(Following { script, slots: Vec::new(), launch: 0 }), shifts }
    }

    /// Takes note of what the run does.
    pub fn event(&self, who: Who, event: &Event<'_>) {
        let mut state = self.state.borrow_mut();
        match event {
            Event::Launch { .. } => state.slots.clear(),
            Event::Block { .. } => {
                state.launch = who.launch;
                match state.slots.iter_mut().find(|s| s.is_none()) {
                    Some(free) => *free = Some(who.block),
                    None => state.slots.push(Some(who.block)),
                }
            }
            Event::BlockDone => {
                if let Some(slot) = state.slots.iter_mut().find(|s| **s == Some(who.block)) {
                    *slot = None;
                }
            }
            Event::Step(_) => {
                let turns = &mut state.script.turns;
                if let Some(turn) = turns.front_mut() {
                    turn.count -= 1;
                    if turn.count == 0 {
                        turns.pop_front();
                    }
                }
            }
            _ => {}
        }
    }
}

impl Oracle for &Follow {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let mut state = self.state.borrow_mut();
        let wanted = match (menu.site, state.script.turns.front()) {
            (Site::Warp, Some(turn)) => {
                let slot = state.slots.iter().position(|s| *s == Some(turn.who.block));
                let shift = self.shifts.get(state.launch as usize).copied().unwrap_or(0);
                slot.and_then(|s| u32::try_from(s << shift).ok()).map(|base| (base + turn.who.warp, turn.count))
            }
            (Site::Group, Some(turn)) => Some((turn.lane, turn.count)),
            (Site::Target, _) => state.script.targets.pop_front().map(|pick| (pick, 1)),
            _ => None,
        };
        match wanted.filter(|(index, _)| menu.offers(*index)) {
            Some((index, count)) => {
                let lease = u32::try_from(count).unwrap_or(u32::MAX);
                Ok(Pick { index, lease: NonZeroU32::new(lease).unwrap_or(NonZeroU32::MIN) })
            }
            None => Fair.choose(menu),
        }
    }
}
