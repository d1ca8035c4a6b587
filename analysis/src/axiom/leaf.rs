//! The last choices of an execution whose threads and sources are known: which write to a place is the last one, who comes first to
//! barriers, and the orders of writes and fences. Whether some way of choosing is allowed is what counts: the first one is kept.

use super::bounds::Bounds;
use super::choices::{Choices, Conflict, Interval};
use super::execution::Execution;
use super::frame::overlap;
use super::model::Model;
use super::program::{Kind, Trace};
use super::question::{Question, total};
use super::relation::Relation;
use crate::base::mutant::{Mutant, on};
use std::ops::ControlFlow;
use std::rc::Rc;

/// A leaf of the search.
pub(super) struct Leaf<'a> {
    pub(super) model: &'a Model,
    pub(super) question: &'a Question<'a>,
    pub(super) traces: &'a [Trace],
}

/// What is called with an execution.
type Found<'a> = dyn FnMut(&Execution) -> ControlFlow<()> + 'a;

impl Leaf<'_> {
    /// Calls `found` once for each way of choosing last writes that some orders allow.
    pub(super) fn orders(&self, bounds: &mut Bounds<'_>, choices: Choices, found: &mut Found<'_>) -> ControlFlow<()> {
        self.finals(bounds, choices, &mut Vec::new(), found)
    }

    /// What is written last to the places that are asked about.
    fn finals(
        &self,
        bounds: &mut Bounds<'_>,
        choices: Choices,
        last: &mut Vec<(usize, u64)>,
        found: &mut Found<'_>,
    ) -> ControlFlow<()> {
        let frame = Rc::clone(&bounds.frame);
        let registers: Vec<&[Option<u64>]> = self.traces.iter().map(|trace| &trace.registers[..]).collect();
        let mut values: Vec<Option<u64>> = last.iter().map(|(_, value)| Some(*value)).collect();
        values.resize(self.question.finals.len(), None);
        if (self.question.wanted)(&registers, &values) == Some(false) {
            return ControlFlow::Continue(());
        }
        let Some(place) = self.question.finals.get(last.len()) else {
            return match self.complete(bounds, choices, last) {
                Some(execution) => found(&execution),
                None => ControlFlow::Continue(()),
            };
        };
        for write in 0..frame.events.len() {
            let event = frame.event(write);
            let here = event.kind == Kind::Write && event.place.is_some_and(|p| overlap(p, *place));
            if !here || choices.co.must.from(write).next().is_some() {
                continue;
            }
            let mut child = choices.clone();
            let later: Vec<usize> = child.co.may.from(write).collect();
            if !on(Mutant::LastIsOverwritten) {
                later.into_iter().for_each(|other| child.co.may.remove(write, other));
            }
            if bounds.propagate(&mut child).is_ok() {
                let (id, event) = &frame.events[write];
                let value = match self.traces.get(id.thread as usize) {
                    Some(trace) => trace.events[id.position as usize].value,
                    None => event.value,
                };
                last.push((write, value.unwrap_or(0)));
                let flow = self.finals(bounds, child, last, found);
                last.pop();
                flow?;
            }
        }
        ControlFlow::Continue(())
    }

    /// An execution that is allowed, with what is chosen already.
    fn complete(&self, bounds: &mut Bounds<'_>, choices: Choices, last: &[(usize, u64)]) -> Option<Execution> {
        self.met(bounds, choices, 0, last)
    }

    /// Who comes first to the barriers with late-comers from one of them on, and the rest.
    fn met(&self, bounds: &mut Bounds<'_>, choices: Choices, group: usize, last: &[(usize, u64)]) -> Option<Execution> {
        if group < bounds.frame.late.len() {
            let (quorum, list) = bounds.frame.late[group].clone();
            let quorum = usize::try_from(quorum).unwrap_or(usize::MAX);
            return subsets(&list, quorum).into_iter().find_map(|first| {
                let mut child = choices.clone();
                meet(&mut child.meetings, &bounds.frame.meetings, &list, &first).ok()?;
                bounds.propagate(&mut child).ok()?;
                self.met(bounds, child, group + 1, last)
            });
        }
        self.ordered(bounds, choices, last)
    }

    fn ordered(&self, bounds: &mut Bounds<'_>, choices: Choices, last: &[(usize, u64)]) -> Option<Execution> {
        let total = total(self.model);
        let guess = extension(&choices, &bounds.frame.co, &bounds.frame.near, total);
        let open = |pair: &(usize, usize)| choices.co.open(pair.0, pair.1) || choices.fences.open(pair.0, pair.1);
        let mut next = None;
        if let Some(guess) = guess {
            let judged = bounds.judge(&guess);
            match judged.failed {
                None if !self.question.flagged || !judged.flags.is_empty() => {
                    return Some(self.execution(bounds, &guess, judged.flags, last));
                }
                None => {}
                Some(witness) => next = witness.filter(open).or(witness.map(|(a, b)| (b, a)).filter(open)),
            }
        }
        if on(Mutant::FirstOrderOnly) || self.question.flagged && !bounds.may_flag_of(&choices) {
            return None;
        }
        let near = bounds.frame.near.clone();
        let (a, b) = next.or_else(|| {
            let mut pairs = choices.fences.may.iter().chain(choices.co.may.iter());
            pairs.find(open)
        })?;
        let is_co = choices.co.open(a, b);
        let partial = if is_co { !total } else { !near.contains(a, b) };
        let sides: &[Option<bool>] =
            if partial { &[Some(true), Some(false), None] } else { &[Some(true), Some(false)] };
        sides.iter().find_map(|forwards| {
            let mut child = choices.clone();
            let order = if is_co { &mut child.co } else { &mut child.fences };
            match forwards {
                Some(true) => order.fix(a, b).ok()?,
                Some(false) => order.fix(b, a).ok()?,
                None => {
                    order.drop(a, b).ok()?;
                    order.drop(b, a).ok()?;
                }
            }
            bounds.propagate(&mut child).ok()?;
            self.ordered(bounds, child, last)
        })
    }

    fn execution(
        &self,
        bounds: &Bounds<'_>,
        choices: &Choices,
        flags: Vec<String>,
        last: &[(usize, u64)],
    ) -> Execution {
        let mut events = bounds.frame.events.clone();
        for (id, event) in &mut events {
            if let Some(trace) = self.traces.get(id.thread as usize) {
                event.value = trace.events[id.position as usize].value;
            }
        }
        Execution {
            frame: Rc::clone(&bounds.frame),
            events,
            rf: choices.rf.must.clone(),
            co: choices.co.must.clone(),
            fences: choices.fences.must.clone(),
            meetings: choices.meetings.must.clone(),
            registers: self.traces.iter().map(|t| t.registers.iter().map(|r| r.unwrap_or(0)).collect()).collect(),
            finals: self.question.finals.iter().copied().zip(last.iter().map(|(_, value)| *value)).collect(),
            flags,
        }
    }
}

/// All ways to take so many of a list.
fn subsets(list: &[usize], size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (k, first) in list.iter().enumerate() {
        for mut rest in subsets(&list[k + 1..], size - 1) {
            rest.insert(0, *first);
            all.push(rest);
        }
    }
    all
}

/// Those who come first meet each other, and late-comers are after them.
fn meet(meetings: &mut Interval, all: &Relation, list: &[usize], first: &[usize]) -> Result<(), Conflict> {
    for (a, b) in all.iter().filter(|(a, b)| list.contains(a) && list.contains(b)) {
        if first.contains(&a) { meetings.fix(a, b)? } else { meetings.drop(a, b)? }
    }
    Ok(())
}

/// One way to decide what is open: orders that are to be total get the order of the events, others only what they must have.
fn extension(choices: &Choices, writes: &Relation, near: &Relation, total: bool) -> Option<Choices> {
    let mut all = choices.clone();
    if total {
        linear(&mut all.co, writes)?;
    }
    linear(&mut all.fences, near)?;
    for it in [&mut all.rf, &mut all.co, &mut all.fences, &mut all.meetings] {
        it.may = it.must.clone();
    }
    Some(all)
}

/// Decides each pair of `pairs`.
fn linear(order: &mut Interval, pairs: &Relation) -> Option<()> {
    let mut closure = order.must.plus();
    for (a, b) in pairs.iter().filter(|(a, b)| a < b) {
        if closure.contains(a, b) || closure.contains(b, a) {
            continue;
        }
        let (a, b) = if order.may.contains(a, b) { (a, b) } else { (b, a) };
        order.fix(a, b).ok()?;
        closure.insert(a, b);
        closure = closure.plus();
    }
    Some(())
}
