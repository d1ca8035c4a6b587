//! Runs that never end: cycles of states that a fair scheduler can stay in.
//!
//! A run that never ends stays, from some point on, in one strongly connected part of the graph. It is weakly fair if
//! everybody who is promised progress steps in it or is now and then not able to, and strongly fair to threads if everybody
//! who is able to now and then does. So a part with a step in it holds a weakly fair run exactly if nobody is promised
//! progress in all of its states without stepping in it; for strong fairness of threads the states in which somebody waits
//! in vain are taken out, and what remains is looked at again (E. Clarke et al., "Model Checking", 6.3).
//!
//! Strong fairness of transitions, which is what is published of progress models, asks more of a scheduler: a step that is
//! promised again and again is taken, not only some step of its thread. Then a run never ends only where no way of promised
//! steps leads out (D-progress).

use super::graph::{Edge, Graph, NONE};
use super::left::Unit;
use super::roles::{Kinds, Parted};
use super::units::Units;
use crate::base::{sort, words};
use crate::explore::strong::{Steps, parts};
use crate::verdict::LimitKind;
use fixedbitset::FixedBitSet;
use serde::Serialize;

/// States between two questions whether there is time left.
const PATIENCE: u32 = 1 << 12;

words! {
    /// What a scheduler promises.
    #[derive(Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Fairness {
        /// Who is able to step from some point on does.
        Weak = "weak",
        /// Each step that can be taken again and again is.
        Strong = "strong",
        /// Who is able to step again and again does, but perhaps never in this way.
        StrongThreads = "strong-threads",
    }
}

/// A part of the graph in which a fair run never ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Its states, in ascending order.
    pub states: Vec<u32>,
    /// Whether a silent rule, which nobody promises, leads out of them.
    pub silent: bool,
}

/// The parts of a graph in which a fair run never ends. `promised` reduces those who can step in a state to those whom the
/// scheduler promises progress there. When `up` says why not to go on, those that were found by then, and that reason.
#[must_use]
pub fn cycles_until(
    graph: &Graph,
    fairness: Fairness,
    promised: &mut dyn FnMut(u32, &mut Promised<'_>),
    up: &dyn Fn() -> Option<LimitKind>,
) -> (Vec<Cycle>, Option<LimitKind>) {
    let all: Vec<u32> = (0..u32::try_from(graph.states()).unwrap_or(u32::MAX)).collect();
    if fairness == Fairness::Strong {
        return traps(graph, &all, promised, up).map_or_else(|limit| (Vec::new(), Some(limit)), |found| (found, None));
    }
    let mut found = Vec::new();
    let (mut parts, mut limit) = match graph.connected() {
        Some(_) => (Vec::new(), None),
        None => components(graph, &all, &|_, _| true, up),
    };
    // There may be millions, nearly all of them a state with a step to itself: they are not copied.
    let mut known = graph.connected().into_iter().flat_map(|connected| connected.all());
    let mut inside = FixedBitSet::with_capacity(graph.states());
    let kinds = Kinds::of(graph);
    loop {
        let made;
        let part = match known.next() {
            Some(part) => part,
            None => match parts.pop() {
                Some(part) => {
                    made = part;
                    &made
                }
                None => break,
            },
        };
        limit = limit.or_else(up);
        if limit.is_some() {
            break;
        }
        let judged = if graph.followed().is_empty() {
            by_name(graph, (part, fairness), promised, &mut inside, up)
        } else {
            by_role((graph, &kinds), part, fairness, promised, up)
        };
        match judged {
            Err(cut) => {
                limit = Some(cut);
                break;
            }
            Ok(Kept::Nothing) => {}
            Ok(Kept::Some(rest)) if rest.len() < part.len() => {
                let (more, cut) = components(graph, &rest, &|_, _| true, up);
                parts.extend(more);
                limit = limit.or(cut);
            }
            Ok(Kept::All | Kept::Some(_)) => {
                found.push(Cycle { states: part.to_vec(), silent: silent_leaves(graph, part) });
            }
        }
    }
    sort::sort_by_key(&mut found, |c| c.states.first().copied());
    (found, limit)
}

/// Where in a part a fair run can stay.
enum Kept {
    All,
    /// Nowhere: somebody waits in vain.
    Nothing,
    /// In these states, or parts of them.
    Some(Vec<u32>),
}

/// Where a fair run can stay in a part whose agents are all told apart. `inside` is empty, and is again afterwards.
///
/// # Errors
/// What `up` says ends it, asked for each state: a state may have thousands who step.
fn by_name(
    graph: &Graph,
    (part, fairness): (&[u32], Fairness),
    promised: &mut dyn FnMut(u32, &mut Promised<'_>),
    inside: &mut FixedBitSet,
    up: &dyn Fn() -> Option<LimitKind>,
) -> Result<Kept, LimitKind> {
    inside.extend(part.iter().map(|s| *s as usize));
    let mut steps = Units::default();
    for edge in part.iter().flat_map(|state| graph.from(*state)) {
        if edge.to != NONE && inside.contains(edge.to as usize) {
            steps.insert(graph.unit(edge));
        }
    }
    part.iter().for_each(|s| inside.remove(*s as usize));
    let mut waits = |state: u32| match up() {
        Some(limit) => Err(limit),
        None => Ok(promised_in(graph, state, promised).without(&steps)),
    };
    if fairness == Fairness::Weak {
        return Ok(if always(part, &mut waits)? { Kept::Nothing } else { Kept::All });
    }
    let mut rest = Vec::new();
    for state in part {
        if waits(*state)?.is_empty() {
            rest.push(*state);
        }
    }
    Ok(Kept::Some(rest))
}

/// The same where some agents are alike: by their roles (D-symmetry).
///
/// # Errors
/// What `up` says ends it.
fn by_role(
    (graph, kinds): (&Graph, &Kinds),
    part: &[u32],
    fairness: Fairness,
    promised: &mut dyn FnMut(u32, &mut Promised<'_>),
    up: &dyn Fn() -> Option<LimitKind>,
) -> Result<Kept, LimitKind> {
    let mut able = |state: u32| promised_in(graph, state, promised);
    let mut parted = Parted::of(graph, part, kinds, up)?;
    if fairness == Fairness::Weak {
        return Ok(if parted.starves(&mut able, up)? { Kept::Nothing } else { Kept::All });
    }
    Ok(Kept::Some(parted.rest(&mut able, up)?))
}

/// Whether somebody waits in all states of a part.
///
/// # Errors
/// Those of `waits`.
fn always(part: &[u32], waits: &mut dyn FnMut(u32) -> Result<Units, LimitKind>) -> Result<bool, LimitKind> {
    let mut always: Option<Units> = None;
    for &state in part {
        let here = waits(state)?;
        match &mut always {
            None => always = Some(here),
            Some(always) => always.retain(&here),
        }
        if always.as_ref().is_some_and(Units::is_empty) {
            return Ok(false);
        }
    }
    Ok(always.is_some())
}

/// Those of a state's units whom the scheduler promises progress there.
fn promised_in(graph: &Graph, state: u32, promised: &mut dyn FnMut(u32, &mut Promised<'_>)) -> Units {
    let mut able = Units::default();
    graph.from(state).map(|edge| graph.unit(edge)).chain(graph.left(state)).for_each(|unit| able.insert(unit));
    promised(state, &mut Promised(&mut able));
    able
}

/// Whether a silent rule leads out of a part.
fn silent_leaves(graph: &Graph, part: &[u32]) -> bool {
    let leaves = |to: u32| to == NONE || part.binary_search(&to).is_err();
    let left = |s: &u32| graph.left(*s).any(|unit| unit == Unit::Silent);
    part.iter().flat_map(|s| graph.from(*s)).any(|e| graph.unit(e) == Unit::Silent && leaves(e.to))
        || part.iter().any(left)
}

/// The parts that a run never leaves by promised steps, and in which it never comes to a state where nobody is promised
/// anything. A promised step that leads nowhere known (a defect, a limit of the search) counts as a way out.
///
/// # Errors
/// What `up` says ends it.
fn traps(
    graph: &Graph,
    all: &[u32],
    promised: &mut dyn FnMut(u32, &mut Promised<'_>),
    up: &dyn Fn() -> Option<LimitKind>,
) -> Result<Vec<Cycle>, LimitKind> {
    let go_on = |state: u32| if state.is_multiple_of(PATIENCE) { up().map_or(Ok(()), Err) } else { Ok(()) };
    let mut units: Vec<Units> = Vec::with_capacity(all.len());
    for &state in all {
        go_on(state)?;
        units.push(promised_in(graph, state, promised));
    }
    let of = |state: u32, unit: Unit| units.get(state as usize).is_some_and(|units| units.contains(unit));
    // Backwards from where a run may rest.
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); all.len()];
    let mut free = vec![false; all.len()];
    let mut open = Vec::new();
    for &state in all {
        go_on(state)?;
        let mut rests = units[state as usize].is_empty() || graph.left(state).any(|unit| of(state, unit));
        for edge in graph.from(state).filter(|e| of(state, graph.unit(e))) {
            match before.get_mut(edge.to as usize) {
                Some(list) => list.push(state),
                None => rests = true,
            }
        }
        if rests {
            free[state as usize] = true;
            open.push(state);
        }
    }
    while let Some(state) = open.pop() {
        go_on(state)?;
        for &earlier in &before[state as usize] {
            if !std::mem::replace(&mut free[earlier as usize], true) {
                open.push(earlier);
            }
        }
    }
    let held: Vec<u32> = all.iter().copied().filter(|s| !free[*s as usize]).collect();
    let by = |state: u32, edge: &Edge| of(state, graph.unit(edge));
    let (parts, cut) = components(graph, &held, &by, up);
    if let Some(limit) = cut {
        return Err(limit);
    }
    let mut found: Vec<Cycle> = parts
        .into_iter()
        .filter(|part| {
            let mut steps = part.iter().flat_map(|s| graph.from(*s).filter(|e| by(*s, e)));
            steps.all(|e| part.binary_search(&e.to).is_ok())
        })
        .map(|states| Cycle { silent: silent_leaves(graph, &states), states })
        .collect();
    sort::sort_by_key(&mut found, |c| c.states.first().copied());
    Ok(found)
}

/// Those whom a scheduler promises progress in a state: at first all who can step.
pub struct Promised<'a>(&'a mut Units);

impl Promised<'_> {
    /// Only the warps for which `keep` says so; operations of memory stay.
    pub fn warps(&mut self, keep: impl Fn(u64, u32) -> bool) {
        self.0.keep(keep);
    }

    /// The first warp that can step: block and number in it.
    #[must_use]
    pub fn lowest(&self) -> Option<(u64, u32)> {
        self.0.lowest()
    }
}

/// Steps of a kind.
struct Kind<'a> {
    graph: &'a Graph,
    by: &'a dyn Fn(u32, &Edge) -> bool,
}

impl Steps for Kind<'_> {
    fn states(&self) -> usize {
        self.graph.states()
    }

    fn cursor(&self, state: u32) -> u32 {
        self.graph.cursor(state)
    }

    fn next(&self, state: u32, cursor: &mut u32) -> Option<u32> {
        while let Some(edge) = self.graph.next(cursor) {
            if edge.to != NONE && (self.by)(state, edge) {
                return Some(edge.to);
            }
        }
        None
    }
}

/// The parts of some states that are strongly connected by steps of a kind, as [`parts`].
fn components(
    graph: &Graph,
    states: &[u32],
    by: &dyn Fn(u32, &Edge) -> bool,
    up: &dyn Fn() -> Option<LimitKind>,
) -> (Vec<Vec<u32>>, Option<LimitKind>) {
    parts(&Kind { graph, by }, states, &mut || up())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OperationName;

    fn cycles(graph: &Graph, fairness: Fairness, promised: &mut dyn FnMut(u32, &mut Promised<'_>)) -> Vec<Cycle> {
        cycles_until(graph, fairness, promised, &|| None).0
    }

    /// One warp goes round two states; another is able to leave in the first only.
    fn round() -> Graph {
        let mut graph = Graph::default();
        let (round, leaves) = (Unit::Lanes(0, 0, !0), Unit::Lanes(0, 1, !0));
        let [a, b, end] = [1, 2, 3].map(|n| graph.state(n).0);
        graph.edge(a, round, 0, 0, b);
        graph.edge(a, leaves, 1, 0, end);
        graph.edge(b, round, 0, 0, a);
        graph
    }

    #[test]
    fn who_is_able_now_and_then_is_let_by_a_strong_scheduler_only() {
        let graph = round();
        let weak = cycles(&graph, Fairness::Weak, &mut |_, _| ());
        assert_eq!(weak, [Cycle { states: vec![0, 1], silent: false }]);
        assert_eq!(cycles(&graph, Fairness::StrongThreads, &mut |_, _| ()), []);
        assert_eq!(cycles(&graph, Fairness::Strong, &mut |_, _| ()), []);
    }

    /// One thread takes one of two steps again and again, and one of them would end the run.
    #[test]
    fn a_step_that_is_never_taken_is_fair_to_its_thread_only() {
        let mut graph = Graph::default();
        let one = Unit::Lanes(0, 0, !0);
        let [a, end] = [1, 2].map(|n| graph.state(n).0);
        graph.edge(a, one, 0, 0, a);
        graph.edge(a, one, 0, 1, end);
        assert_eq!(cycles(&graph, Fairness::StrongThreads, &mut |_, _| ()).len(), 1);
        assert_eq!(cycles(&graph, Fairness::Strong, &mut |_, _| ()), []);
    }

    /// Steps that nobody is promised lead nowhere: who is promised goes round for ever.
    #[test]
    fn a_way_out_by_who_is_promised_nothing_is_none() {
        let graph = round();
        let promised = &mut |_: u32, p: &mut Promised<'_>| p.warps(|_, warp| warp == 0);
        assert_eq!(cycles(&graph, Fairness::Strong, promised), [Cycle { states: vec![0, 1], silent: false }]);
    }

    #[test]
    fn who_is_able_all_the_time_is_let_by_a_weak_one() {
        let mut graph = round();
        graph.edge(1, Unit::Lanes(0, 1, !0), 1, 0, 2);
        assert_eq!(cycles(&graph, Fairness::Weak, &mut |_, _| ()), []);
        // Unless nobody promised it anything.
        let promised = &mut |_: u32, p: &mut Promised<'_>| p.warps(|_, warp| warp == 0);
        assert_eq!(cycles(&graph, Fairness::Strong, promised).len(), 1);
    }

    #[test]
    fn operations_of_memory_end_and_silent_rules_are_promised_to_nobody() {
        let mut graph = round();
        graph.edge(0, Unit::Silent, 2, 0, 2);
        graph.edge(1, Unit::Silent, 2, 0, 2);
        assert!(cycles(&graph, Fairness::Weak, &mut |_, _| ())[0].silent);
        let operation = Unit::Operation(OperationName { block: 0, warp: 0, place: 7 });
        graph.edge(0, operation, 3, 0, 2);
        graph.edge(1, operation, 3, 0, 2);
        assert_eq!(cycles(&graph, Fairness::Weak, &mut |_, _| ()), []);
    }
}
