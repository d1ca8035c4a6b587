//! Random executions: of nothing at all, of PTX, of Vulkan.

use super::Bases;
use crate::axiom::model::Model;
use crate::axiom::relation::{Relation, Set};
use std::collections::BTreeMap;

/// Random numbers: xorshift64*.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }

    /// So many times in a hundred.
    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Sets and relations by name.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) events: usize,
    pub(super) sets: BTreeMap<String, Set>,
    pub(super) relations: BTreeMap<String, Relation>,
}

impl World {
    /// The bases that a model wants.
    pub(super) fn bases(&self, model: &Model) -> Bases {
        let n = self.events;
        let set = |name: &String| self.sets.get(name).cloned().unwrap_or_else(|| Set::new(n));
        let relation = |name: &String| self.relations.get(name).cloned().unwrap_or_else(|| Relation::new(n));
        Bases::named(model, n, set, relation)
    }

    /// Anything: each set and relation of some models is as full as chance has it.
    pub(super) fn any(models: &[&Model], dice: &mut Dice) -> Self {
        let n = 1 + dice.below(6);
        let mut world = Self { events: n, ..Self::default() };
        for model in models {
            for name in &model.sets {
                let share = dice.one(&[20, 50, 90]);
                world.sets.entry(name.clone()).or_insert_with(|| Set::of(n, (0..n).filter(|_| dice.percent(share))));
            }
            // The public models know nothing of accesses that overlap in part.
            let uniform = models.len() > 1;
            for name in model.relations.iter().filter(|name| !uniform || *name != "mixed" && *name != "parts") {
                let share = dice.one(&[0, 10, 10, 30, 60, 90]);
                let pairs: Vec<(usize, usize)> =
                    (0..n * n).filter(|_| dice.percent(share)).map(|k| (k / n, k % n)).collect();
                world.relations.entry(name.clone()).or_insert_with(|| Relation::of(n, pairs));
            }
        }
        world
    }
}

/// An event in the making.
#[derive(Clone, Debug, Default)]
struct Event {
    tags: Vec<&'static str>,
    thread: Option<usize>,
    location: Option<usize>,
    address: usize,
    barrier: Option<usize>,
    /// The scope: how many of the levels of the hierarchy it leaves out.
    scope: usize,
    /// The index of the read that it is the write to.
    read: Option<usize>,
}

impl Event {
    fn has(&self, tag: &str) -> bool {
        self.tags.contains(&tag)
    }
}

/// A world's events, and in which group of each level each thread is, the smallest level first.
struct Draft {
    events: Vec<Event>,
    places: Vec<[usize; 3]>,
    locations: usize,
}

impl Draft {
    fn new(dice: &mut Dice) -> Self {
        let locations = 1 + dice.below(2);
        let initial = |k| Event { tags: vec!["W", "M", "IW"], location: Some(k), address: k, ..Event::default() };
        let mut events: Vec<Event> = (0..locations).map(initial).collect();
        for event in &mut events {
            event.scope = 3;
        }
        let threads = 1 + dice.below(3);
        // Groups nest: who is together on one level is together on wider ones.
        let mut places = Vec::new();
        for _ in 0..threads {
            let wide = usize::from(dice.percent(15));
            let middle = 2 * wide + usize::from(dice.percent(30));
            places.push([2 * middle + usize::from(dice.percent(40)), middle, wide]);
        }
        Self { events, places, locations }
    }

    /// Whether an event's scope has another's thread in it: level 3 is everybody.
    fn reaches(&self, one: &Event, two: &Event) -> bool {
        match (one.thread, two.thread) {
            _ if one.scope >= 3 => true,
            (Some(a), Some(b)) => self.places[a][one.scope] == self.places[b][one.scope],
            _ => true,
        }
    }

    fn world(&self, dice: &mut Dice) -> World {
        let n = self.events.len();
        let mut world = World { events: n, ..World::default() };
        for (k, event) in self.events.iter().enumerate() {
            for tag in &event.tags {
                world.sets.entry((*tag).to_owned()).or_insert_with(|| Set::new(n)).insert(k);
            }
        }
        let event = |k: usize| &self.events[k];
        let both = |a: usize, b: usize| (event(a), event(b));
        let same_thread = |a, b| event(a).thread.is_some() && event(a).thread == event(b).thread;
        let same_location = |a, b| event(a).location.is_some() && event(a).location == event(b).location;
        let level = |level: usize| {
            move |a: usize, b: usize| match (event(a).thread, event(b).thread) {
                (Some(x), Some(y)) => self.places[x][level] == self.places[y][level],
                _ => a == b,
            }
        };
        let mut put = |name: &str, relation: Relation| drop(world.relations.insert(name.to_owned(), relation));
        let matching = |test: &dyn Fn(usize, usize) -> bool| Relation::matching(n, test);
        put("po", matching(&|a, b| a < b && same_thread(a, b)));
        put("po-loc", matching(&|a, b| a < b && same_thread(a, b) && same_location(a, b)));
        put("loc", matching(&same_location));
        put("vloc", matching(&|a, b| same_location(a, b) && event(a).address == event(b).address));
        put("id", matching(&|a, b| a == b));
        put("int", matching(&|a, b| event(a).thread == event(b).thread));
        put("ext", matching(&|a, b| event(a).thread != event(b).thread));
        put("rmw", matching(&|a, b| event(b).read == Some(a)));
        put("sr", matching(&|a, b| self.reaches(event(a), event(b)) && self.reaches(event(b), event(a))));
        put("ssg", matching(&level(0)));
        put("swg", matching(&level(1)));
        put("scta", matching(&level(1)));
        put("sqf", matching(&level(2)));
        let meets = |a: usize, b: usize| event(a).barrier.is_some() && event(a).barrier == event(b).barrier;
        put("syncbar", matching(&|a, b| meets(a, b) && level(1)(a, b)));
        let systems = dice.percent(15);
        let ordered: Vec<bool> = (0..n).map(|_| dice.percent(50)).collect();
        put("ssw", matching(&|a, b| systems && event(a).thread < event(b).thread && ordered[a] && !ordered[b]));
        let fence = |k: usize| event(k).has("SC");
        let shuffled: Vec<usize> = (0..n).map(|k| dice.below(100) * n + k).collect();
        let in_scope = |a, b| self.reaches(both(a, b).0, both(a, b).1) && self.reaches(both(a, b).1, both(a, b).0);
        let fences = matching(&|a, b| fence(a) && fence(b) && in_scope(a, b) && shuffled[a] < shuffled[b]);
        put("sync_fence", fences);
        for name in ["addr", "data", "ctrl"] {
            let chosen = dice.percent(20);
            let pairs: Vec<bool> = (0..n * n).map(|_| chosen && dice.percent(30)).collect();
            let reads = |k: usize| event(k).has("R");
            put(name, matching(&|a, b| a < b && same_thread(a, b) && reads(a) && !reads(b) && pairs[a * n + b]));
        }
        let (rf, co) = self.communication(dice);
        put("rf", rf);
        put("co", co);
        world
    }

    /// From where reads take their values, and the order of writes, which are often what running one event after another makes.
    fn communication(&self, dice: &mut Dice) -> (Relation, Relation) {
        let n = self.events.len();
        let (tidy, partial) = (dice.percent(60), dice.percent(30));
        let moments: Vec<usize> =
            (0..n).map(|k| if tidy && dice.percent(85) { k * 100 } else { dice.below(100 * n) }).collect();
        let writes = |k: usize| self.events[k].has("W");
        let initial = |k: usize| self.events[k].has("IW");
        let same = |a: usize, b: usize| self.events[a].location == self.events[b].location;
        let earlier = |a: usize, b: usize| !initial(b) && (initial(a) || (moments[a], a) < (moments[b], b));
        let co = Relation::matching(n, |a, b| writes(a) && writes(b) && same(a, b) && earlier(a, b));
        let mut rf = Relation::new(n);
        for read in (0..n).filter(|k| self.events[*k].has("R")) {
            let from: Vec<usize> = (0..n).filter(|w| writes(*w) && same(*w, read)).collect();
            let last = from.iter().copied().filter(|w| *w < read).max_by_key(|w| (!initial(*w), moments[*w]));
            let from =
                if tidy && dice.percent(70) { last } else { None }.unwrap_or_else(|| from[dice.below(from.len())]);
            rf.insert(from, read);
        }
        let mut kept = co;
        if partial {
            for (a, b) in kept.clone().iter() {
                if !initial(a) && dice.percent(50) {
                    kept.remove(a, b);
                }
            }
        }
        (rf, kept)
    }
}

/// An execution of PTX.
pub(super) fn ptx(dice: &mut Dice) -> World {
    let mut draft = Draft::new(dice);
    let strong = if dice.percent(70) { 75 } else { 30 };
    let proxies = dice.percent(50);
    for event in &mut draft.events {
        event.tags.extend(["WEAK", "GEN", "SYS"]);
    }
    let scopes = [("CTA", 1), ("GPU", 2), ("SYS", 3)];
    let most = 4 + dice.below(4);
    while draft.events.len() < most {
        let thread = Some(dice.below(draft.places.len()));
        let (tag, scope) = dice.one(&scopes);
        let proxy = if proxies && dice.percent(40) { dice.one(&["TEX", "SUR", "CON"]) } else { "GEN" };
        let location = dice.below(draft.locations);
        let address = if proxies && dice.percent(20) { location + 10 } else { location };
        let access = Event { thread, location: Some(location), address, scope, ..Event::default() };
        let new = |tags: &[&'static str]| Event { tags: tags.to_vec(), thread, scope, ..Event::default() };
        match dice.below(12) {
            0..8 => {
                let write = dice.percent(50);
                let kind = if write { "W" } else { "R" };
                let order = if !dice.percent(strong) {
                    "WEAK"
                } else if dice.percent(50) {
                    "RLX"
                } else if write {
                    "REL"
                } else {
                    "ACQ"
                };
                let mut tags = vec![kind, "M", order, proxy];
                tags.extend((order != "WEAK").then_some(tag));
                draft.events.push(Event { tags, ..access });
            }
            8 => {
                let read = draft.events.len();
                let (acquire, release) = (dice.percent(50), dice.percent(50));
                draft.events.push(Event {
                    tags: vec!["R", "M", "RMW", if acquire { "ACQ" } else { "RLX" }, tag, "GEN"],
                    ..access.clone()
                });
                draft.events.push(Event {
                    tags: vec!["W", "M", "RMW", if release { "REL" } else { "RLX" }, tag, "GEN"],
                    read: Some(read),
                    ..access
                });
            }
            9 | 10 if proxies && dice.percent(50) => {
                let kind = dice.one(&["ALIAS", "TEX", "SUR", "CON"]);
                draft.events.push(new(&["F", kind]));
            }
            9 | 10 => {
                let mut fence = new(&["F", "ACQ_REL", tag, "GEN"]);
                fence.tags.extend(dice.percent(50).then_some("SC"));
                draft.events.push(fence);
            }
            _ => draft.events.push(Event { barrier: Some(dice.below(2)), ..new(&["B"]) }),
        }
    }
    draft.world(dice)
}

/// An execution of Vulkan.
pub(super) fn vulkan(dice: &mut Dice) -> World {
    let mut draft = Draft::new(dice);
    let (loose, classes) = (dice.percent(40), 1 + dice.below(2));
    let sc = ["SC0", "SC1", "SC2", "SC3"];
    let sem = ["SEMSC0", "SEMSC1", "SEMSC2", "SEMSC3"];
    let base = dice.below(4);
    for (k, event) in draft.events.iter_mut().enumerate() {
        event.tags.extend([sc[(base + k % classes) % 4], "NONPRIV", "ATOM", "AV", "DV"]);
    }
    let scopes = [("SG", 0), ("WG", 1), ("QF", 2), ("DV", 3)];
    let most = 5 + dice.below(5);
    while draft.events.len() < most {
        let thread = Some(dice.below(draft.places.len()));
        let (tag, scope) = if dice.percent(50) { ("DV", 3) } else { dice.one(&scopes) };
        let location = dice.below(draft.locations);
        let address = if loose && dice.percent(20) { location + 10 } else { location };
        let class = if loose && dice.percent(15) { dice.one(&sc) } else { sc[(base + location % classes) % 4] };
        let access = Event { thread, location: Some(location), address, scope, ..Event::default() };
        let mut semantics: Vec<&'static str> = (0..4).filter(|_| dice.percent(15)).map(|k| sem[k]).collect();
        semantics.push(sem[(base + location % classes) % 4]);
        if dice.percent(if loose { 60 } else { 85 }) {
            semantics.extend(["SEMAV", "SEMVIS"]);
        }
        match dice.below(14) {
            0..5 => {
                let write = dice.percent(50);
                let mut tags = vec![if write { "W" } else { "R" }, "M", class];
                tags.extend(dice.percent(if loose { 70 } else { 95 }).then_some("NONPRIV"));
                if dice.percent(40) {
                    tags.extend([if write { "AV" } else { "VIS" }, tag]);
                }
                draft.events.push(Event { tags, ..access });
            }
            5..9 => {
                let (write, orders) = (dice.percent(50), dice.percent(60));
                let kind: [&str; 3] = if write { ["W", "REL", "AV"] } else { ["R", "ACQ", "VIS"] };
                let mut tags = vec![kind[0], "M", "ATOM", "NONPRIV", kind[2], class, tag];
                if orders {
                    tags.push(kind[1]);
                    tags.extend(semantics);
                }
                draft.events.push(Event { tags, ..access });
            }
            9 => {
                let read = draft.events.len();
                let mut all = vec!["M", "ATOM", "NONPRIV", "RMW", class, tag];
                let orders = dice.percent(60);
                if orders {
                    all.extend(semantics);
                }
                let with = |more: &[&'static str]| [&all[..], more].concat();
                let tags = if orders { with(&["R", "VIS", "ACQ"]) } else { with(&["R", "VIS"]) };
                draft.events.push(Event { tags, ..access.clone() });
                let tags = if orders { with(&["W", "AV", "REL"]) } else { with(&["W", "AV"]) };
                draft.events.push(Event { tags, read: Some(read), ..access });
            }
            10 | 11 => {
                let orders = dice.one(&[&["ACQ"][..], &["REL"], &["ACQ", "REL"]]);
                let tags = [&["F", tag][..], orders, &semantics].concat();
                draft.events.push(Event { tags, thread, scope, ..Event::default() });
            }
            12 => {
                let mut tags = vec!["CBAR", "B", tag];
                if dice.percent(70) {
                    tags.extend(["F", "ACQ", "REL"]);
                    tags.extend(semantics);
                }
                draft.events.push(Event { tags, thread, scope, barrier: Some(0), ..Event::default() });
            }
            _ => {
                let tags = vec![dice.one(&["AVDEVICE", "VISDEVICE"])];
                draft.events.push(Event { tags, thread, scope, ..Event::default() });
            }
        }
    }
    draft.world(dice)
}
