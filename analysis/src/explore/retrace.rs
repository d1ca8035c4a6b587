//! The way of a search as a schedule of an ordinary run.
//!
//! A search steps agents; a run asks its oracle whose turn it is, and not when only one can go on. So the way is walked
//! again, every instruction is written down with who executed it, and an oracle that is told what the run does answers so
//! that it does the same.

use super::odometer::Odometer;
use super::space::Move;
use crate::base::LaneMask;
use crate::choice::{Alternative, Fair, Menu, Name, Observed, Oracle, Pick, Site};
use crate::machine::walk::{Agent, Reached, Walk};
use crate::machine::{Bounds, Tell};
use crate::verdict::{Event, LimitKind, Stop, Who};
use std::cell::{Cell, RefCell};
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
    /// An operation of memory makes a micro step, or a silent rule fires.
    Memory(Alternative),
}

/// Alternatives at choices within a step, for each site in order: where a block is issued a little later than in the
/// walk, sites may swap.
type Choices = BTreeMap<Site, VecDeque<Alternative>>;

/// Who does what, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    scenes: VecDeque<Scene>,
    choices: Choices,
    /// The lanes of the last instruction.
    last: LaneMask,
    /// Instructions in all.
    length: u64,
}

impl Script {
    /// One more instruction; `said`: the lanes that tell who executes it.
    fn add(&mut self, who: Who, active: LaneMask, said: LaneMask) {
        self.length += 1;
        let before = std::mem::replace(&mut self.last, active);
        // Lanes that go on look for others only in front of where they began: who jumps back and meets some, there or on the way
        // forward again, begins a new turn.
        let meets = active & !before != 0;
        match self.scenes.back_mut() {
            Some(Scene::Turn(turn)) if (turn.who, turn.lanes) == (who, said) && !meets => turn.count += 1,
            _ => self.scenes.push_back(Scene::Turn(Turn { who, lanes: said, count: 1 })),
        }
    }
}

/// The choices of a step, as an oracle that takes them.
fn combination(walk: &mut dyn Walk, step: Move, agent: Agent) -> Odometer {
    // The combinations before the one that was taken are gone through again: only they say what comes next.
    let mut odometer = Odometer::new();
    for _ in 0..step.nth {
        // What they come to was looked at before.
        let _ = and_back(walk, |walk| walk.advance(agent, &mut odometer, None));
        if !odometer.advance() {
            break;
        }
    }
    odometer
}

/// Makes a step of a path; an error says why the run stops there. `None`: there is no such step.
pub(super) fn take(walk: &mut dyn Walk, step: Move, tell: Option<Tell<'_>>) -> Option<Result<(), Stop>> {
    let agent = agent(walk, step)?;
    let mut odometer = combination(walk, step, agent);
    Some(walk.advance(agent, &mut odometer, tell).map(|_| ()))
}

/// What comes of going on with a walk, which stands where it stood afterwards.
pub(super) fn and_back<T>(walk: &mut dyn Walk, on: impl FnOnce(&mut dyn Walk) -> T) -> T {
    let start = walk.mark();
    let result = on(walk);
    walk.back(start);
    result
}

/// The agent of a step.
fn agent(walk: &mut dyn Walk, step: Move) -> Option<Agent> {
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
        let Some(Ok(())) = take(walk, *step, None) else { break };
    }
    Ok(())
}

/// Why a run stops at the end of a path from where the walk stands, which is where it stands again afterwards. `None`: it
/// does not.
pub(super) fn stop_on(walk: &mut dyn Walk, path: &[Move]) -> Option<Stop> {
    and_back(walk, |walk| {
        for (k, step) in path.iter().enumerate() {
            if let Err(stop) = take(walk, *step, None)? {
                return (k + 1 == path.len()).then_some(stop);
            }
        }
        let mut agents = Vec::new();
        walk.agents(&mut agents);
        match walk.state().reached() {
            Reached::Stuck(stop) if agents.is_empty() => Some(stop),
            _ => None,
        }
    })
}

impl Script {
    /// Walks a path from the start, where the walk stands, which is where it stands again afterwards. `fresh` stands there, too,
    /// and has never gone back: it numbers operations of memory as a run does. `split`: lanes at one address may run without
    /// each other.
    ///
    /// # Errors
    /// A bound was reached before the end of the path.
    pub(super) fn of(
        walk: &mut dyn Walk,
        fresh: &mut dyn Walk,
        path: &[Move],
        split: bool,
        bounds: &Bounds,
    ) -> Result<Self, LimitKind> {
        and_back(walk, |walk| Self::along(walk, fresh, path, split, bounds))
    }

    fn along(
        walk: &mut dyn Walk,
        fresh: &mut dyn Walk,
        path: &[Move],
        split: bool,
        bounds: &Bounds,
    ) -> Result<Self, LimitKind> {
        let mut script = Self::default();
        let mut choices = Choices::default();
        let said = |lanes: LaneMask| if split { lanes } else { lanes & lanes.wrapping_neg() };
        for pick in &walk.begun().picks {
            choices.entry(pick.site()).or_default().push_back(*pick);
        }
        for (who, _, active) in &walk.begun().steps {
            script.add(*who, *active, said(*active));
        }
        for (k, step) in path.iter().enumerate() {
            if let Some(limit) = up(bounds, k) {
                return Err(limit);
            }
            let Some(agent) = agent(walk, *step) else { break };
            match agent {
                Agent::Flow { .. } | Agent::Begin => {}
                Agent::Micro(operation) => {
                    let number = fresh.state().operation(operation.name);
                    script.scenes.extend(number.map(|k| Scene::Memory(Alternative::Numbered(Site::Micro, k.into()))));
                }
                Agent::Silent(k) => {
                    script.scenes.push_back(Scene::Memory(Alternative::Numbered(Site::Silent, k.into())))
                }
            }
            let mut tell = |who: Who, event: Event<'_>| {
                if let Event::Step(step) = event {
                    script.add(who, step.active, said(step.active));
                }
                Ok(())
            };
            let mut odometer = combination(walk, *step, agent);
            let went = walk.advance(agent, &mut odometer.clone(), None);
            let note = |menu: &Menu<'_>, pick: Pick| {
                choices.entry(menu.site).or_default().push_back(menu.name(pick.index));
            };
            let told = fresh.advance(agent, &mut Observed::new(&mut odometer, note), Some(&mut tell));
            if went.is_err() || told.is_err() {
                break;
            }
        }
        Ok(Self { choices, ..script })
    }

    /// Instructions in all.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }
}

/// Who else of a group runs along, when `lanes` are to run; those offered lie above who was chosen before.
fn along(lanes: LaneMask, menu: &Menu<'_>) -> Alternative {
    let lane = |index: u32| match menu.name(index) {
        Alternative::Numbered(_, lane) => Some(lane),
        _ => None,
    };
    let all = Alternative::Named(Site::Lanes, Name::All);
    let mut offered = menu.offered().filter_map(lane);
    let next = offered.clone().find(|lane| lanes >> lane & 1 == 1);
    match next {
        _ if menu.find(all).is_some() && offered.all(|lane| lanes >> lane & 1 == 1) => all,
        Some(lane) => Alternative::Numbered(Site::Lanes, lane),
        None => Alternative::Named(Site::Lanes, Name::Alone),
    }
}

impl Scene {
    /// What is to be chosen for it to happen, and for how many instructions, where that follows from it.
    fn wanted(&self, menu: &Menu<'_>) -> Option<(Alternative, u64)> {
        let memory = |name| Some((Alternative::Named(Site::Micro, name), 1));
        match (*self, menu.site) {
            (Self::Turn(Turn { who, count, .. }), Site::Warp) => {
                Some((Alternative::Warp { block: who.block, warp: who.warp }, count))
            }
            (Self::Turn(Turn { lanes, count, .. }), site @ Site::Group) => {
                Some((Alternative::Numbered(site, lanes.trailing_zeros().into()), count))
            }
            (Self::Turn(turn), Site::Lanes) => Some((along(turn.lanes, menu), 1)),
            (Self::Turn(_), Site::Micro) => memory(Name::End),
            (Self::Memory(Alternative::Numbered(Site::Silent, _)), Site::Micro) => memory(Name::Silent),
            (Self::Memory(what), site) => Some((what, 1)).filter(|_| what.site() == site),
            (Self::Turn(_), _) => None,
        }
    }
}

/// An oracle that follows a script, when it is told of the run's events.
pub struct Follow {
    script: RefCell<Script>,
    /// The run has done something else than the script says.
    strayed: Cell<bool>,
}

impl Follow {
    /// Follows a script.
    #[must_use]
    pub const fn new(script: Script) -> Self {
        Self { script: RefCell::new(script), strayed: Cell::new(false) }
    }

    /// Takes note of what the run does.
    pub fn event(&self, who: Who, event: &Event<'_>) {
        let Script { scenes, .. } = &mut *self.script.borrow_mut();
        match (event, scenes.front_mut()) {
            (Event::Step(step), Some(Scene::Turn(turn))) => {
                self.strayed.set(self.strayed.get() || turn.who != who || turn.lanes & !step.active != 0);
                turn.count -= 1;
                if turn.count == 0 {
                    scenes.pop_front();
                }
            }
            (Event::Memory, Some(Scene::Memory(_))) => drop(scenes.pop_front()),
            (Event::Step(_) | Event::Memory, Some(_)) => self.strayed.set(true),
            _ => {}
        }
    }

    /// Whether the run went the whole way, and no other.
    #[must_use]
    pub fn followed(&self) -> bool {
        !self.strayed.get() && self.script.borrow().scenes.is_empty()
    }
}

impl Oracle for &Follow {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let Script { scenes, choices, .. } = &mut *self.script.borrow_mut();
        let mut within = || Some((choices.get_mut(&menu.site)?.pop_front()?, 1));
        let wanted = scenes.front().and_then(|scene| scene.wanted(&menu)).or_else(&mut within);
        let Some((index, count)) = wanted.and_then(|(what, count)| Some((menu.find(what)?, count))) else {
            return Fair.choose(menu);
        };
        let lease = u32::try_from(count).ok().and_then(NonZeroU32::new);
        Ok(Pick { index, lease: lease.unwrap_or(NonZeroU32::MAX) })
    }
}
