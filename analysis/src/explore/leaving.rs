//! A walk that ends where a run leaves a cycle.
//!
//! In the states of a cycle the locations that are read, and not stored to, hold the values that are read there. A run on
//! from one of them with lanes set free has left the cycle when a location holds another: how it goes on does not matter to
//! what the cycle is called, and is often far more than what comes before, since all who were held up compete then.

use super::circle::{Circle, Deeds, LaneId, Location, Write, bytes_of, narrow};
use crate::base::lanes_of;
use crate::choice::Oracle;
use crate::machine::Tell;
use crate::machine::walk::{Agent, Begun, Mark, State, Walk};
use crate::program::env::ProgEnv;
use crate::verdict::{AccessKind, Event, Stop, Who};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Some of the lanes, which step while the others rest.
struct Part<'a> {
    lanes: &'a BTreeSet<LaneId>,
    /// All lanes there are.
    all: &'a BTreeSet<LaneId>,
    deeds: Deeds,
    /// Locations with their sizes that atomic operations accessed which take effect later.
    later: BTreeSet<(Location, u32)>,
    /// The bytes that hold in the cycle what is read there: who changes them leaves it, at the latest when all see it.
    held: BTreeSet<Location>,
}

/// A walk that ends where it leaves a cycle.
pub(super) struct Leaving<'a> {
    walk: &'a mut dyn Walk,
    /// Locations with their sizes in bytes and the values that they hold in the cycle.
    holds: Vec<(Location, u32, &'a BTreeSet<u64>)>,
    circle: &'a Circle,
    /// Who steps. `None`: everybody.
    part: Option<Part<'a>>,
}

impl<'a> Leaving<'a> {
    /// A walk on from a state of a cycle.
    pub fn new(walk: &'a mut dyn Walk, circle: &'a Circle) -> Self {
        // What is stored in the cycle may hold what nobody reads there.
        let known = circle
            .reads
            .iter()
            .filter(|(at, reads)| !reads.values.is_empty() && !reads.stored_to(**at, &circle.stores));
        let holds = known.map(|(at, reads)| (*at, reads.bytes, &reads.values)).collect();
        Self { walk, holds, circle, part: None }
    }

    /// The same, in which only some of `all` lanes step; what they do is taken down.
    pub fn of(
        walk: &'a mut dyn Walk,
        circle: &'a Circle,
        lanes: &'a BTreeSet<LaneId>,
        all: &'a BTreeSet<LaneId>,
    ) -> Self {
        let new = Self::new(walk, circle);
        let held = new.holds.iter().flat_map(|(at, bytes, _)| bytes_of(*at, *bytes)).collect();
        let part = Part { lanes, all, deeds: Deeds::default(), later: BTreeSet::new(), held };
        Self { part: Some(part), ..new }
    }

    /// The lanes that step have made an access before.
    pub fn issued(&mut self, access: &Write, writes: bool) {
        if let Some(part) = &mut self.part {
            part.touch((access.at, access.bytes), writes);
        }
    }

    /// What the lanes did that stepped.
    pub fn deeds(self) -> Deeds {
        self.part.map_or_else(Deeds::default, |part| part.deeds)
    }

    fn left(&mut self) -> bool {
        let other = |value: Option<u64>, values: &BTreeSet<u64>| value.is_some_and(|v| !values.contains(&v));
        let state = self.walk.state();
        self.holds.iter().any(|(at, bytes, values)| other(state.number(at.0, at.1, *bytes), values))
    }
}

impl Walk for Leaving<'_> {
    fn agents(&mut self, out: &mut Vec<Agent>) {
        if self.left() {
            return;
        }
        let first = out.len();
        self.walk.agents(out);
        if let Some(part) = &mut self.part {
            let mut found = out.split_off(first);
            found.retain(|agent| part.steps(agent));
            part.deeds.ends |= found.is_empty();
            out.append(&mut found);
        }
    }

    fn advance(&mut self, agent: Agent, oracle: &mut dyn Oracle, tell: Option<Tell<'_>>) -> Result<u32, Stop> {
        let Some(part) = &mut self.part else { return self.walk.advance(agent, oracle, tell) };
        let before: Vec<Option<u64>> = part.later.iter().map(|l| number(self.walk.state(), *l)).collect();
        let (mut seen, circle) = (Vec::new(), self.circle);
        let mut listen = |who: Who, event: Event<'_>| {
            part.hear(circle, who, &event, &mut seen);
            Ok(())
        };
        let used = self.walk.advance(agent, oracle, Some(&mut listen))?;
        let watched: Vec<_> = part.later.iter().copied().collect();
        if !self.left() {
            let (state, part) = (self.walk.state(), self.part.as_mut());
            part.into_iter().for_each(|part| part.judge(state, seen.as_slice(), &watched, &before));
        }
        Ok(used)
    }

    fn begun(&self) -> &Begun {
        self.walk.begun()
    }

    fn key(&self) -> u128 {
        self.walk.key()
    }

    fn whole(&self) -> Vec<u8> {
        self.walk.whole()
    }

    fn mark(&mut self) -> Mark {
        self.walk.mark()
    }

    fn back(&mut self, to: Mark) {
        self.walk.back(to);
    }

    fn held(&self) -> usize {
        self.walk.held()
    }

    fn grows(&self, steps: u64) -> usize {
        self.walk.grows(steps)
    }

    fn program(&self) -> Arc<ProgEnv> {
        self.walk.program()
    }

    // Where a cycle is left the run could go on: that it is said to be stuck there is of no account.
    fn state(&mut self) -> &dyn State {
        self.walk.state()
    }
}

/// The lanes whose step an agent makes: block, warp, lane.
pub(super) fn lanes_of_agent(agent: &Agent) -> Vec<LaneId> {
    let (block, warp, lanes) = match agent {
        Agent::Flow { block, warp, flow, .. } => (*block, *warp, flow.mask),
        Agent::Micro(operation) => (operation.name.block, operation.name.warp, operation.lanes),
        Agent::Begin | Agent::Silent(_) => return Vec::new(),
    };
    lanes_of(lanes).map(|lane| (block, warp, narrow(lane))).collect()
}

/// What lies at a location.
fn number(state: &dyn State, (at, bytes): (Location, u32)) -> Option<u64> {
    state.number(at.0, at.1, bytes)
}

/// An access before it took effect, and what it found; whether that is not known yet.
type Heard = (Write, Option<u64>, AccessKind, bool);

impl Part<'_> {
    /// Whether an agent is one of the part's. What evictions could change for lanes that others leave alone is only when
    /// they go on.
    fn steps(&mut self, agent: &Agent) -> bool {
        let lanes = lanes_of_agent(agent);
        let inside = lanes.iter().filter(|l| self.lanes.contains(l)).count();
        let flow = matches!(agent, Agent::Flow { .. });
        // Lanes that step together, or have come since, are none that this part can be told apart from.
        self.deeds.more |= flow && inside > 0 && inside < lanes.len() || lanes.iter().any(|l| !self.all.contains(l));
        inside > 0
    }

    fn hear(&mut self, circle: &Circle, who: Who, event: &Event<'_>, seen: &mut Vec<Heard>) {
        match event {
            Event::Access(access) => {
                let found = |w: &Write| access.memory.number(w.at.1, w.bytes);
                let all = circle.accesses(who, access).into_iter();
                seen.extend(all.map(|w| (w, found(&w), access.kind, access.memory.later)));
            }
            Event::Arrive(_) | Event::Exchange(_) | Event::Released(_) => _ = self.deeds.meets.insert(who.block),
            Event::Block { .. } | Event::Alloc { .. } | Event::Launch { .. } => self.deeds.more = true,
            _ => {}
        }
    }

    fn touch(&mut self, (at, bytes): (Location, u32), changes: bool) {
        for byte in bytes_of(at, bytes) {
            *self.deeds.bytes.entry(byte).or_insert(false) |= changes && !self.held.contains(&byte);
        }
    }

    /// Takes down what a step did that did not leave the cycle.
    fn judge(&mut self, state: &dyn State, seen: &[Heard], watched: &[(Location, u32)], before: &[Option<u64>]) {
        for (write, found, kind, later) in seen {
            let place = (write.at, write.bytes);
            // A store that takes effect later may be seen by some before all see it.
            let changes = match kind {
                AccessKind::Read => false,
                AccessKind::Write if *later => true,
                AccessKind::Atomic if *later => {
                    self.later.insert(place);
                    false
                }
                AccessKind::Write | AccessKind::Atomic => number(state, place) != *found,
            };
            self.touch(place, changes);
        }
        for (place, before) in watched.iter().zip(before) {
            self.touch(*place, number(state, *place) != *before);
        }
    }
}
