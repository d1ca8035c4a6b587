//! The way of a search as a schedule of an ordinary run.
//!
//! A search steps agents; a run asks its oracle whose turn it is, and not when only one can go on. So the way is walked
//! again, every instruction is written down with who executed it, and an oracle that is told what the run does answers so
//! that it does the same.

use super::odometer::Odometer;
use super::space::Move;
use crate::base::LaneMask;
use crate::choice::{
    Fair, LANES_ALL, LANES_FIRST, LANES_NONE, MICRO_END, MICRO_SILENT, MICRO_STEPS, Menu, Oracle, Pick, Site,
};
use crate::machine::walk::{Agent, Reached, Walk};
use crate::machine::{Bounds, Tell};
use crate::verdict::{Event, LimitKind, Stop, Who};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

/// Lanes of a warp that execute some instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Turn {
    who: Who,
    /// The lanes; the lowest only, where that says which.
    lanes: LaneMask,
    count: u64,
}

/// What happens next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scene {
    /// Lanes run.
    Turn(Turn),
    /// An operation of memory makes a micro step.
    Micro(u32),
    /// A silent rule fires: its place in the engine's order.
    Silent(u32),
}

/// Alternatives at choices within a step, for each site in order: where a block is issued a little later than in the
/// walk, sites may swap.
type Choices = BTreeMap<Site, VecDeque<u32>>;

/// Who does what, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    scenes: VecDeque<Scene>,
    choices: Choices,
    /// Instructions in all.
    length: u64,
}

/// Takes down what is decided within steps.
struct Listening<'a> {
    odometer: Odometer,
    choices: &'a mut Choices,
}

impl Oracle for Listening<'_> {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let pick = self.odometer.choose(menu)?;
        self.choices.entry(menu.site).or_default().push_back(pick.index);
        Ok(pick)
    }
}

/// One more instruction.
fn add(scenes: &mut VecDeque<Scene>, length: &mut u64, who: Who, lanes: LaneMask) {
    *length += 1;
    match scenes.back_mut() {
        Some(Scene::Turn(turn)) if (turn.who, turn.lanes) == (who, lanes) => turn.count += 1,
        _ => scenes.push_back(Scene::Turn(Turn { who, lanes, count: 1 })),
    }
}

/// Makes a step of a path; an error says why the run stops there. `oracle` makes an oracle of one that takes the step's
/// combination.
pub(super) fn take<O: Oracle>(
    walk: &mut dyn Walk,
    step: Move,
    agent: Agent,
    oracle: impl FnOnce(Odometer) -> O,
    tell: Option<Tell<'_>>,
) -> Result<(), Stop> {
    // The combinations before the one that was taken are gone through again: only they say what comes next.
    let mut odometer = Odometer::new();
    let here = walk.mark();
    for _ in 0..step.nth {
        // What they come to was looked at before.
        let _ = walk.advance(agent, &mut odometer, None);
        walk.back(here);
        if !odometer.advance() {
            break;
        }
    }
    walk.advance(agent, &mut oracle(odometer), tell).map(|_| ())
}

/// The agent of a step.
pub(super) fn agent(walk: &mut dyn Walk, step: Move) -> Option<Agent> {
    let mut agents = Vec::new();
    walk.agents(&mut agents);
    agents.get(usize::from(step.agent)).copied()
}

/// Steps of a path between two questions whether there is time left.
const PATIENCE: usize = 1 << 6;

/// Why a path is not gone on at its `k`-th step, if it is not.
fn up(bounds: &Bounds, k: usize) -> Option<LimitKind> {
    if k.is_multiple_of(PATIENCE) { bounds.up() } else { None }
}

/// Goes along a path, as far as the run goes on.
///
/// # Errors
/// A bound was reached; the walk stands somewhere on the path.
pub(super) fn follow(walk: &mut dyn Walk, path: &[Move], bounds: &Bounds) -> Result<(), LimitKind> {
    for (k, step) in path.iter().enumerate() {
        if let Some(limit) = up(bounds, k) {
            return Err(limit);
        }
        let Some(agent) = agent(walk, *step) else { break };
        if take(walk, *step, agent, |odometer| odometer, None).is_err() {
            break;
        }
    }
    Ok(())
}

/// Why a run stops at the end of a path from where the walk stands, which is where it stands again afterwards. `None`: it
/// does not.
pub(super) fn stop_on(walk: &mut dyn Walk, path: &[Move]) -> Option<Stop> {
    let start = walk.mark();
    let mut along = || {
        for (k, step) in path.iter().enumerate() {
            let agent = agent(walk, *step)?;
            if let Err(stop) = take(walk, *step, agent, |odometer| odometer, None) {
                return (k + 1 == path.len()).then_some(stop);
            }
        }
        let mut agents = Vec::new();
        walk.agents(&mut agents);
        match walk.state().reached() {
            Reached::Stuck(stop) if agents.is_empty() => Some(stop),
            _ => None,
        }
    };
    let stop = along();
    walk.back(start);
    stop
}

impl Script {
    /// Walks a path from the start, where the walk stands, which is where it stands again afterwards. `split`: lanes at one
    /// address may run without each other.
    ///
    /// # Errors
    /// A bound was reached before the end of the path.
    pub(super) fn of(walk: &mut dyn Walk, path: &[Move], split: bool, bounds: &Bounds) -> Result<Self, LimitKind> {
        let start = walk.mark();
        let script = Self::along(walk, path, split, bounds);
        walk.back(start);
        script
    }

    fn along(walk: &mut dyn Walk, path: &[Move], split: bool, bounds: &Bounds) -> Result<Self, LimitKind> {
        let mut script = Self::default();
        let said = |lanes: LaneMask| if split { lanes } else { lanes & lanes.wrapping_neg() };
        for (site, pick) in &walk.begun().picks {
            script.choices.entry(*site).or_default().push_back(*pick);
        }
        for (who, lanes) in &walk.begun().steps {
            add(&mut script.scenes, &mut script.length, *who, said(*lanes));
        }
        for (k, step) in path.iter().enumerate() {
            if let Some(limit) = up(bounds, k) {
                return Err(limit);
            }
            let Some(agent) = agent(walk, *step) else { break };
            let Self { scenes, length, choices } = &mut script;
            match agent {
                Agent::Flow { .. } | Agent::Begin => {}
                Agent::Micro(operation) => scenes.push_back(Scene::Micro(operation.number)),
                Agent::Silent(rule) => scenes.push_back(Scene::Silent(rule)),
            }
            let mut tell = |who: Who, event: Event<'_>| {
                if let Event::Step(step) = event {
                    add(scenes, length, who, said(step.active));
                }
                Ok(())
            };
            if take(walk, *step, agent, |odometer| Listening { odometer, choices }, Some(&mut tell)).is_err() {
                break;
            }
        }
        Ok(script)
    }

    /// Instructions in all.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }
}

/// Who else of a group runs along, when `lanes` are to run; those offered lie above who was chosen before.
fn along(lanes: LaneMask, ready: &[u64]) -> u32 {
    let ready = ready.first().copied().unwrap_or(0);
    let offered = (ready & ((1 << LANES_NONE) - 1)) >> LANES_FIRST;
    let wanted = u64::from(lanes) & offered;
    if ready >> LANES_ALL & 1 == 1 && wanted == offered {
        LANES_ALL
    } else if wanted != 0 {
        LANES_FIRST + wanted.trailing_zeros()
    } else {
        LANES_NONE
    }
}

/// The state of a run that follows a script.
struct Following {
    script: Script,
    /// The block in each slot of the current grid.
    slots: Vec<Option<u64>>,
    launch: u32,
    /// The run has done something else than the script says.
    strayed: bool,
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
        Self { state: RefCell::new(Following { script, slots: Vec::new(), launch: 0, strayed: false }), shifts }
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
            Event::Step(step) => {
                let Following { script: Script { scenes, .. }, strayed, .. } = &mut *state;
                match scenes.front_mut() {
                    Some(Scene::Turn(turn)) => {
                        *strayed |= turn.who != who || turn.lanes & !step.active != 0;
                        turn.count -= 1;
                        if turn.count == 0 {
                            scenes.pop_front();
                        }
                    }
                    Some(Scene::Micro(_) | Scene::Silent(_)) => *strayed = true,
                    None => {}
                }
            }
            Event::Memory => {
                let Following { script: Script { scenes, .. }, strayed, .. } = &mut *state;
                match scenes.front() {
                    Some(Scene::Micro(_) | Scene::Silent(_)) => drop(scenes.pop_front()),
                    Some(Scene::Turn(_)) => *strayed = true,
                    None => {}
                }
            }
            _ => {}
        }
    }
}

impl Follow {
    /// Whether the run went the whole way, and no other.
    #[must_use]
    pub fn followed(&self) -> bool {
        let state = self.state.borrow();
        !state.strayed && state.script.scenes.is_empty()
    }
}

impl Oracle for &Follow {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let mut state = self.state.borrow_mut();
        let wanted = match (menu.site, state.script.scenes.front()) {
            (Site::Warp, Some(Scene::Turn(turn))) => {
                let slot = state.slots.iter().position(|s| *s == Some(turn.who.block));
                let shift = self.shifts.get(state.launch as usize).copied().unwrap_or(0);
                slot.and_then(|s| u32::try_from(s << shift).ok()).map(|base| (base + turn.who.warp, turn.count))
            }
            (Site::Group, Some(Scene::Turn(turn))) => Some((turn.lanes.trailing_zeros(), turn.count)),
            (Site::Lanes, Some(Scene::Turn(turn))) => Some((along(turn.lanes, menu.ready), 1)),
            (Site::Micro, Some(Scene::Turn(_))) => Some((MICRO_END, 1)),
            (Site::Micro, Some(Scene::Micro(operation))) => Some((MICRO_STEPS + operation, 1)),
            (Site::Micro, Some(Scene::Silent(_))) => Some((MICRO_SILENT, 1)),
            (Site::Silent, Some(Scene::Silent(rule))) => Some((*rule, 1)),
            (site, _) => state.script.choices.get_mut(&site).and_then(VecDeque::pop_front).map(|pick| (pick, 1)),
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
