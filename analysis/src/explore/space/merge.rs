//! One graph of what several threads of a search have noted: that of a search by one, number by number.
//!
//! Depth first, agents in their order, is how one thread goes: whoever saw a state first, so its number is the same, and with
//! it all that is told of the graph. The strongly connected parts are found on the way (R. Tarjan, 1972).

use super::followed::Merged;
use super::graph::{Connected, Edge, Graph, NONE};
use super::ledger::Notes;
use crate::base::{drop_beside, sort};
use crate::verdict::LimitKind;
use fixedbitset::FixedBitSet;

/// Steps between two questions whether to go on.
const PATIENCE: u32 = 1 << 12;

/// A state on the way.
struct Level {
    state: u32,
    /// The next of its steps, by the number that its thread gave it.
    next: u32,
    low: u32,
}

/// The graph, and which of its states and steps are those of threads.
pub(super) struct Joined {
    pub graph: Graph,
    /// States by thread and place; [`NONE`]: nobody comes to it.
    states: Vec<Vec<u32>>,
    /// Steps that led nowhere, by their numbers here and there.
    nowhere: Vec<(u32, u32)>,
    pub deepest: u64,
    /// Why the graph ends before all that threads have noted.
    pub cut: Option<LimitKind>,
    bits: u32,
}

impl Joined {
    /// The number of a thread's state.
    pub fn state(&self, old: u32) -> Option<u32> {
        let (worker, place) = split(old, self.bits);
        self.states.get(worker)?.get(place).copied().filter(|new| *new != NONE)
    }

    /// The number of a thread's step that led nowhere.
    pub fn nowhere(&self, old: u32) -> Option<u32> {
        self.nowhere.binary_search_by_key(&old, |(old, _)| *old).ok().map(|k| self.nowhere[k].1)
    }
}

fn split(number: u32, bits: u32) -> (usize, usize) {
    ((number & ((1 << bits) - 1)) as usize, (number >> bits) as usize)
}

/// Joins the steps of states of which threads have made some each; gives whose roles such a state has.
fn chain(notes: &mut [Notes], bits: u32) -> Vec<(u32, usize, usize)> {
    let all = notes.iter().enumerate().flat_map(|(w, l)| l.chains.iter().map(move |chain| (w, *chain)));
    let mut chains: Vec<_> = all.collect();
    sort::sort_by_key(&mut chains, |(_, chain)| (chain.state, chain.agent));
    let mut roles: Vec<(u32, usize, usize)> = chains.iter().map(|(w, chain)| (chain.state, *w, chain.roles)).collect();
    roles.dedup_by_key(|(state, ..)| *state);
    for (_, chain) in chains.into_iter().filter(|(_, chain)| chain.first != NONE) {
        let (worker, place) = split(chain.state, bits);
        let before = notes[worker].seen[place].join(chain.first, chain.last);
        if before != NONE {
            let (worker, place) = split(before, bits);
            notes[worker].edges[place].set_next(chain.first);
        }
    }
    roles
}

/// One graph of all, or what there is of it where `up` says why it cannot be made to its end.
pub(super) fn merge(mut notes: Vec<Notes>, bits: u32, up: &dyn Fn() -> Option<LimitKind>) -> Joined {
    let taken = chain(&mut notes, bits);
    let states = notes.iter().map(|l| vec![NONE; l.seen.len()]).collect();
    let (count, steps) =
        (notes.iter().map(|l| l.seen.len()).sum::<usize>(), notes.iter().map(|l| l.edges.len()).sum::<usize>());
    let joined =
        Joined { graph: Graph::with_room(count, steps), states, nowhere: Vec::new(), deepest: 0, cut: None, bits };
    let parted = notes.iter().any(|l| !l.followed.is_empty() || !l.adopted.is_empty());
    let open = FixedBitSet::with_capacity(count);
    let merged = notes.iter().map(|_| [Merged::default(), Merged::default()]).collect();
    let (loops, connected) = (FixedBitSet::with_capacity(count), Connected::default());
    let mut merging =
        Merging { notes, taken, parted, merged, joined, open, loops, stack: Vec::new(), way: Vec::new(), connected };
    merging.joined.cut = merging.all(up);
    let Merging { mut joined, connected, notes, .. } = merging;
    drop_beside(notes);
    joined.graph.connect(connected);
    joined.nowhere.sort_unstable();
    joined
}

struct Merging {
    notes: Vec<Notes>,
    /// States that were taken over, in ascending order, with whose roles they have.
    taken: Vec<(u32, usize, usize)>,
    /// Whether some may be exchanged.
    parted: bool,
    /// Rows of roles and ways that have come to the graph, by thread: those of its states and steps, and of what it took over.
    merged: Vec<[Merged; 2]>,
    joined: Joined,
    /// States of which the part is not known yet, in the order in which they were come to.
    open: FixedBitSet,
    stack: Vec<u32>,
    /// States with a step to themselves.
    loops: FixedBitSet,
    way: Vec<Level>,
    connected: Connected,
}

impl Merging {
    fn all(&mut self, up: &dyn Fn() -> Option<LimitKind>) -> Option<LimitKind> {
        self.enter(0, NONE, NONE);
        let mut patience = PATIENCE;
        while let Some(level) = self.way.last_mut() {
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                if let Some(limit) = up() {
                    return Some(limit);
                }
            }
            if level.next == NONE {
                self.leave();
                continue;
            }
            let (worker, place) = split(level.next, self.joined.bits);
            let (number, from) = (level.next, level.state);
            let edge: Edge = self.notes[worker].edges[place];
            level.next = edge.following();
            let known = if edge.to == NONE { Some(NONE) } else { self.joined.state(edge.to) };
            let to = known.unwrap_or_else(|| u32::try_from(self.joined.graph.states()).unwrap_or(NONE));
            let unit = self.notes[worker].named.unit(edge.unit);
            let id = self.joined.graph.edge(from, unit, edge.agent.into(), edge.nth.into(), to);
            if self.parted {
                let from = &self.notes[worker].followed;
                self.merged[worker][0].step(self.joined.graph.followed_mut(), (id, place), from);
            }
            if to == NONE {
                self.joined.nowhere.push((number, id));
            } else if known.is_none() {
                self.joined.deepest = self.joined.deepest.max(self.way.len() as u64);
                self.enter(edge.to, from, id);
            } else if to == from {
                self.loops.insert(to as usize);
            } else if self.open.contains(to as usize)
                && let Some(level) = self.way.last_mut()
            {
                level.low = level.low.min(to);
            }
        }
        None
    }

    /// A state that was not come to before.
    fn enter(&mut self, old: u32, from: u32, by: u32) {
        let (worker, place) = split(old, self.joined.bits);
        let noted = &self.notes[worker];
        let own = noted.seen[place];
        let state = self.joined.graph.push(own.number(), from, by);
        self.joined.states[worker][place] = state;
        if let Some(stepped) = noted.stepped.get(place).filter(|_| from != NONE) {
            self.joined.graph.set_stepped(state, *stepped);
        }
        if self.parted {
            let graph = self.joined.graph.followed_mut();
            match self.taken.binary_search_by_key(&old, |(state, ..)| *state) {
                Ok(k) if !noted.followed.has(place) => {
                    let (_, worker, row) = self.taken[k];
                    self.merged[worker][1].state(graph, (state, row), &self.notes[worker].adopted);
                }
                _ => self.merged[worker][0].state(graph, (state, place), &noted.followed),
            }
        }
        self.open.insert(state as usize);
        self.stack.push(state);
        self.way.push(Level { state, next: own.first, low: state });
    }

    /// All steps of the last state were come to.
    fn leave(&mut self) {
        let Some(Level { state, low, .. }) = self.way.pop() else { return };
        if let Some(before) = self.way.last_mut() {
            before.low = before.low.min(low);
        }
        if low != state {
            return;
        }
        let first = self.stack.iter().rposition(|s| *s == state).unwrap_or(0);
        let part = &mut self.stack[first..];
        part.iter().for_each(|s| self.open.remove(*s as usize));
        match *part {
            [one] if self.loops.contains(one as usize) => self.connected.single(one),
            [_] => {}
            _ => {
                part.sort_unstable();
                self.connected.part(part);
            }
        }
        self.stack.truncate(first);
    }
}
