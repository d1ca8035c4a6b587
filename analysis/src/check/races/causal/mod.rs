//! Data races in all schedules: what happened before what, small enough to belong to a state of a search (D-race-search).
//!
//! [`Races`](super::Races) observes one run and counts epochs, which grow with each fence. A search comes back to the states that it
//! knows, so a state here says only what can still matter: which accesses of a location no later one stands for, and for everybody who
//! can hand on knowledge - threads, fences, releases, barriers - which of these happened before what comes next there.

mod copies;
mod known;
mod order;
mod state;

pub use state::History;

use super::RacesOptions;
use super::conflict::cause;
use super::context::stored;
use super::finding::Benign;
use super::proxies::has_bulk;
use super::sites::{AccessSite, Site, access_at, sites};
use crate::base::{Pc, lanes_of};
use crate::program::env::ProgEnv;
use crate::program::instr::Space;
use crate::verdict::{
    Access, AccessKind, AllocKind, Bug, BugKind, Event, Inside, Named, Race, Shape, Stop, Strength, Unordered, Who,
};
use known::{Set, Spot, Table, Thread, Touch, thread};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// What stays the same in a search for races.
pub struct Causal {
    env: Arc<ProgEnv>,
    sites: Vec<Site>,
    /// The shapes of its launches.
    shapes: Vec<Shape>,
    names: Vec<Named>,
    /// Whether the lanes of a warp execute in lockstep (D-race-lockstep).
    lockstep: bool,
    /// Whether the program copies in bulk.
    has_bulk: bool,
    benign: Benign,
    /// Bytes of a spot.
    grain: u64,
    table: Table,
}

/// An element that a lane accesses.
#[derive(Clone, Copy)]
struct Part<'a> {
    who: Who,
    access: &'a Access<'a>,
    site: &'a AccessSite,
    me: Thread,
    lane: usize,
    space: Option<u64>,
    address: u64,
}

impl Part<'_> {
    const fn element(&self) -> state::Element {
        (self.space, self.address, self.site.width)
    }

    fn spots(&self, grain: u64) -> impl Iterator<Item = Spot> + use<> {
        let (space, first) = (self.space, self.address);
        (0..u64::from(self.site.width) / grain).map(move |k| (space, first.wrapping_add(k * grain)))
    }

    fn value(&self) -> Option<u64> {
        if self.site.copies.is_some() {
            return None;
        }
        stored(self.access, self.site, self.lane, self.address)
    }
}

impl Causal {
    /// Of launches of a program, which run one after another. `tokens`: warps follow the report's branching algorithm (5.4.1);
    /// `names`: the buffers and variables of memory, for reports.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>, shapes: Vec<Shape>, tokens: bool, names: Vec<Named>, options: RacesOptions) -> Self {
        let sites = sites(&env, options.weak_volatile, options.remote);
        let widths = sites.iter().filter_map(|site| match site {
            Site::Access(site) => Some(u64::from(site.width.max(1))),
            _ => None,
        });
        let grain = widths.min().unwrap_or(1);
        let lockstep = tokens && env.target.sm < 70;
        let has_bulk = has_bulk(&env);
        Self { env, sites, shapes, names, lockstep, has_bulk, benign: options.benign, grain, table: Table::default() }
    }

    /// A number for a history: others have others (128 bits).
    #[must_use]
    pub fn key(&self, history: &History) -> u128 {
        xxh3_128(&self.bytes(history))
    }

    /// What [`Causal::key`] is made from.
    #[must_use]
    pub fn bytes(&self, history: &History) -> Vec<u8> {
        history.bytes(&self.table)
    }

    /// Bytes that it has come to take, about.
    #[must_use]
    pub fn held(&self) -> usize {
        self.table.bytes()
    }

    /// Takes note of an event of a run with this history.
    ///
    /// # Errors
    /// A race.
    pub fn event(&mut self, history: &mut History, who: Who, event: &Event<'_>) -> Result<(), Stop> {
        if let Event::Step(_) | Event::Access(_) | Event::Arrive(_) = event
            && history.launch != who.launch
        {
            *history = History { launch: who.launch, ..History::default() };
        }
        match event {
            Event::Access(access) => return self.access(history, who, access),
            Event::Step(step) => return self.step(history, who, step),
            Event::Arrive(arrive) => history.arrive(who, arrive),
            Event::Released(id) => history.released(who, *id),
            Event::Passed { lanes } => history.passed(who, *lanes),
            Event::Landed { pc, lanes } => history.landed(who, *pc, *lanes),
            Event::BlockDone => history.end_block(who.block),
            _ => {}
        }
        Ok(())
    }

    /// Whose memory an address lies in, for an instruction: the block whose shared memory it is. `None`: no other thread sees it.
    fn space(&self, site: &AccessSite, who: Who, address: u64) -> Option<Option<u64>> {
        match site.space {
            Space::Shared => Some(Some(who.block)),
            Space::Generic => match self.env.addresses().inside(address) {
                Some((Space::Shared, _)) => Some(Some(who.block)),
                Some(_) => None,
                None => Some(None),
            },
            _ => Some(None),
        }
    }

    fn access(&mut self, history: &mut History, who: Who, access: &Access<'_>) -> Result<(), Stop> {
        let Some(&site) = access_at(&self.sites, access.pc) else { return Ok(()) };
        if self.lockstep {
            history.lockstep(who);
        }
        if self.has_bulk || site.copies.is_some() || !history.copies.is_empty() {
            self.beside_copies(history, (who, access, &site))?;
        }
        self.touch_all(history, who, access, &site)
    }

    /// Lanes access the elements of an access.
    fn touch_all(
        &mut self,
        history: &mut History,
        who: Who,
        access: &Access<'_>,
        site: &AccessSite,
    ) -> Result<(), Stop> {
        let mut twins = Set::default();
        for lane in lanes_of(access.lanes) {
            let Some(space) = self.space(site, who, access.addresses[lane]) else { continue };
            let me = thread(who, lane);
            let first = access.addresses[lane];
            let count = access.bytes / site.width.max(1);
            let parts = (0..count).map(|k| first.wrapping_add(u64::from(k * site.width)));
            let parts = parts.map(|address| Part { who, access, site, me, lane, space, address });
            for part in parts.clone() {
                self.lane_decides(&part)?;
                self.touch(history, &part, &mut twins)?;
            }
            parts.for_each(|part| history.publish(&part, self.grain));
        }
        Ok(())
    }

    /// A lane accesses an element: what it observes, what it races with, and what it stands for.
    fn touch(&mut self, history: &mut History, part: &Part<'_>, twins: &mut Set) -> Result<(), Stop> {
        let Part { site, me, .. } = *part;
        let mut patterns = Vec::new();
        for spot in part.spots(self.grain) {
            let observed = history.cells.get(&spot).and_then(|cell| cell.latest.filter(|w| self.observes(part, *w)));
            if let Some(cell) = history.cells.get(&spot).filter(|_| observed.is_some()) {
                history.threads.entry(me).or_default().known.join(&cell.behind);
                patterns.extend(cell.patterns.iter().map(|(pattern, known)| (*pattern, known.clone())));
            }
            let kept = history.cells.entry(spot).or_default().kept.clone();
            let known = history.threads.entry(me).or_default().known.clone();
            for number in kept.iter() {
                let Some(earlier) = self.table.touch(number) else { continue };
                let Some(theirs) = access_at(&self.sites, earlier.pc) else { continue };
                let near = earlier.thread.0 == me.0;
                let conflict = (theirs.kind.writes() || site.kind.writes()) && earlier.thread != me;
                if known.has(number) {
                    if site.stands_for(theirs, near) {
                        history.forget(number);
                    }
                } else if conflict && !theirs.morally_strong(site, near) {
                    self.race(part, (earlier, theirs), spot, twins.has(number), None)?;
                }
            }
            let value = part.value().filter(|_| self.benign == Benign::SameValue && site.kind == AccessKind::Write);
            let number = self.table.number(Touch { spot, thread: me, pc: part.access.pc, value });
            history.forget(number);
            twins.add(number);
            history.did(spot, me, number, site.kind.writes(), observed.is_some());
        }
        history.observe(part, patterns);
        Ok(())
    }

    /// Whether an access observes a write that is the last one where it reads.
    fn observes(&self, part: &Part<'_>, write: usize) -> bool {
        let Some(touch) = self.table.touch(write) else { return false };
        let Some(theirs) = access_at(&self.sites, touch.pc) else { return false };
        let near = touch.thread.0 == part.me.0;
        part.site.kind.reads()
            && theirs.width == part.site.width
            && (touch.thread == part.me || theirs.morally_strong(part.site, near))
    }

    /// Two accesses race, if that is a defect.
    fn race(
        &self,
        part: &Part<'_>,
        (earlier, theirs): (Touch, &AccessSite),
        spot: Spot,
        twins: bool,
        with_copy: Option<Unordered>,
    ) -> Result<(), Stop> {
        let Part { site, me, address, access, .. } = *part;
        let near = earlier.thread.0 == me.0;
        let usual = cause(theirs, site, twins, near && earlier.thread.1 == me.1, near);
        let cause = with_copy.unwrap_or(usual);
        let start = theirs.start(spot.1);
        let lane = earlier.thread.2 as usize;
        let before = if twins { stored(access, site, lane, start) } else { earlier.value };
        let value = part.value().filter(|_| site.kind == AccessKind::Write);
        let (first, second) = (theirs.party(start, before), site.party(address, value));
        let stores = first.kind == AccessKind::Write && second.kind == AccessKind::Write;
        let equal = stores && (start, first.bytes) == (address, second.bytes) && value.is_some() && before == value;
        let space = if spot.0.is_some() { AllocKind::Shared } else { AllocKind::Global };
        let inside = self.inside(part, spot.0.is_some());
        let kind = BugKind::Race(Box::new(Race { first, second, space, inside, cause, same_value: equal }));
        if self.benign.hides(&kind) {
            return Ok(());
        }
        self.stop(part, kind, (earlier.thread, earlier.pc))
    }

    /// Lanes of one strong store write different values to one location.
    fn lane_decides(&self, part: &Part<'_>) -> Result<(), Stop> {
        let Part { site, access, lane, address, who, .. } = *part;
        if site.kind != AccessKind::Write || site.strength == Strength::Weak {
            return Ok(());
        }
        let mine = part.value();
        let element = address.wrapping_sub(access.addresses[lane]);
        for other in lanes_of(access.together & ((1 << lane) - 1)) {
            let same = access.addresses[other].wrapping_add(element) == address;
            let theirs = stored(access, site, other, address);
            if same && theirs != mine {
                let inside = self.inside(part, part.space.is_some());
                let kind = BugKind::LaneDecides { address, bytes: site.width, inside, first: theirs, second: mine };
                return self.stop(part, kind, (thread(who, other), access.pc));
            }
        }
        Ok(())
    }

    /// The variable that an access lies in.
    fn inside(&self, part: &Part<'_>, shared: bool) -> Option<Inside> {
        if !shared {
            return Inside::of(&self.names, part.address);
        }
        let (_, at) = self.env.addresses().inside(part.address)?;
        let entry = self.shapes.get(part.who.launch as usize)?.entry;
        Some(self.env.functions.get_index(entry as usize)?.1.inside_shared(at))
    }

    fn stop(&self, part: &Part<'_>, kind: BugKind, other: (Thread, Pc)) -> Result<(), Stop> {
        let lost = || Stop::internal("a race in a launch that a search does not have", None);
        let shape = self.shapes.get(part.who.launch as usize).ok_or_else(lost)?;
        let place = |thread, pc| shape.place((0, self.env.name_of(shape.entry)), pc, thread);
        let (mut place, other) = (place(part.me, part.access.pc), Some(place(other.0, other.1)));
        // The block that is stopped knows the calls, too: it completes a place without an entry.
        place.entry.clear();
        Err(Stop::Bug(Box::new(Bug { kind, place, other })))
    }
}
