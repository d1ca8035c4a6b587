//! Whether every execution of a test ends (D-lasso).
//!
//! An execution that does not end is a lasso: a prefix that the model allows, and then a part that repeats for ever, in which every
//! read sees the coherence-last write. The part is fair: of the threads to whom the progress model promises to go on, each takes a
//! step in it, or has ended, or waits at a barrier. In the repeated part memory is as one value a location: memory fairness
//! (Lahav and others 2021) lets each write reach every reader in the end; a repeated part that lags behind for ever is not
//! looked at. Loops that only read are the spins of the Dartagnan paper's section 6.4; loops that write need no
//! special case, since the part repeats what memory and threads are like, not the events.
//!
//! Scopes do not matter in the repeated part, as in the paper's definition.
//!
//! First come the prefixes in which each read sees the coherence-last write, too: every model allows them. Where all accesses are to one
//! location and morally strong towards each other, there are no others: coherence orders them all. Otherwise the model's
//! executions, up to a bound on loops, are cut at every set of events that is closed under program order and reads-from.

mod cut;
mod cycles;
mod spins;
mod tail;

use super::decided::{Decided, Lasso};
use super::events::Threads;
use super::tree::Litmus;
use crate::axiom::{Limits, Model, Searched, Way, forgets};
use crate::explore::Progress;
use cycles::Graph;
use spins::spins;
use tail::Tail;

/// The most states, or choices, that are looked at first where another way leads on.
const STATES: u64 = 20_000;

/// Decides whether every execution ends under a progress model.
#[must_use]
pub fn liveness(litmus: &Litmus, model: &Model, progress: Progress, limits: Limits) -> Decided {
    liveness_until(litmus, model, progress, (Way::Graphs, limits), &|| false)
}

/// The same by a way to find the executions that come before what repeats; stops as at a limit once `up` says so.
#[must_use]
pub fn liveness_until(
    litmus: &Litmus,
    model: &Model,
    progress: Progress,
    (way, limits): (Way, Limits),
    up: &dyn Fn() -> bool,
) -> Decided {
    if litmus.lockstep.is_some() {
        let what = "liveness of wavefronts is not asked of axioms: `warpstep prove` goes through what the machine does";
        let searched = Searched { unsupported: Some(what.to_owned()), ..Searched::default() };
        return Decided { pass: false, witness: None, lasso: None, searched };
    }
    let threads = Threads::of(litmus);
    let relevant = threads.relevant();
    // What spins, spins on locations that ways depend on.
    let counts = relevant.as_ref().unwrap_or(&threads).coherence_counts();
    let mut tried = 0;
    if let Some(relevant) = relevant.as_ref().filter(|_| forgets(model)) {
        let decided = ends(relevant, counts, model, progress, (way, limits), up);
        if decided.pass || up() {
            return decided;
        }
        tried = decided.searched.choices;
    }
    let mut decided = ends(&threads, counts, model, progress, (way, less(limits, tried)), up);
    decided.searched.choices += tried;
    decided
}

/// What is left of limits after so many choices.
fn less(limits: Limits, choices: u64) -> Limits {
    Limits { choices: limits.choices.saturating_sub(choices), ..limits }
}

/// The same by the definition alone (D-lasso), without what makes large tests small: for comparison.
#[must_use]
pub fn liveness_plainly(litmus: &Litmus, model: &Model, progress: Progress, limits: Limits) -> Decided {
    let threads = Threads::of(litmus);
    let tail = Tail { threads: &threads };
    let mut graph = Graph::new(&tail, progress, &|| false);
    let mut lasso = graph.explore(tail.start(), limits.choices);
    let mut searched = Searched { choices: graph.len() as u64, ..Searched::default() };
    if lasso.is_none() && !threads.coherent() {
        (lasso, searched) = cut::prefixes(&threads, &tail, model, (Way::Graphs, limits), &|| false, &mut graph);
    }
    searched.limited |= graph.limited();
    Decided { pass: lasso.is_none(), witness: None, lasso, searched }
}

/// Decides whether every execution of threads ends. `counts`: whether coherence says which write comes last, where ways depend on it.
fn ends(
    threads: &Threads,
    counts: bool,
    model: &Model,
    progress: Progress,
    (way, limits): (Way, Limits),
    up: &dyn Fn() -> bool,
) -> Decided {
    let tail = Tail { threads };
    let mut graph = Graph::new(&tail, progress, up);
    let quiet = progress == Progress::Fair && threads.quiet();
    let coherent = threads.coherent();
    let most = if quiet && !coherent { limits.choices.min(STATES) } else { limits.choices };
    let lasso = graph.explore(tail.start(), most);
    let mut searched = Searched { choices: graph.len() as u64, limited: graph.limited(), ..Searched::default() };
    let decided = |lasso: Option<Lasso>, searched| Decided { pass: lasso.is_none(), witness: None, lasso, searched };
    if lasso.is_some() || coherent || up() {
        return decided(lasso, searched);
    }
    if graph.limited() {
        // What was begun is not looked at to its end, and nothing may be taken from it.
        graph = Graph::new(&tail, progress, up);
    }
    if quiet && counts {
        let all = threads.ordered().is_some();
        let mut left = less(limits, searched.choices);
        if !all {
            left.choices = left.choices.min(STATES);
        }
        let (lasso, found) = spins((threads, &tail), model, (way, left), up, &mut graph);
        searched = add(&searched, found, &graph);
        if all || lasso.is_some() || up() {
            return decided(lasso, searched);
        }
    }
    let left = less(limits, searched.choices);
    let (lasso, found) = cut::prefixes(threads, &tail, model, (way, left), up, &mut graph);
    let searched = add(&searched, found, &graph);
    decided(lasso, searched)
}

/// Both searches, of which the second says how it ended.
fn add(one: &Searched, two: Searched, graph: &Graph<'_>) -> Searched {
    Searched { choices: one.choices + two.choices, limited: two.limited || graph.limited(), ..two }
}
