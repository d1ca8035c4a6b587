//! Executions of litmus tests and kernels with names and lines in place of numbers.

use super::data::{
    Deciding, Edge, EndlessExecution, EventKind, Forbidden, LitmusEvent, LitmusExecution, LitmusStep, PartOf,
};
use super::focus::{Focus, asides, cycle};
use super::names::{KernelNames, Names, Shown, TestNames};
use crate::axiom::{Evaluation, Execution, Finding, INITIAL, Kind, Link, Model, Place, Relation, Value, Witness};
use crate::base::Source;
use crate::explore::Target;
use crate::litmus::Lasso;
use crate::litmus::kernel::Kernel;
use crate::litmus::tree::Litmus;

/// A test or kernel whose executions are shown.
pub struct Subject<'a> {
    names: Box<dyn Names + 'a>,
}

impl<'a> Subject<'a> {
    /// A test and its text.
    #[must_use]
    pub fn new(litmus: &'a Litmus, source: &'a Source) -> Self {
        Self { names: Box::new(TestNames::new(litmus, source)) }
    }

    /// The first launch of a target.
    #[must_use]
    pub fn kernel(kernel: &'a Kernel, target: &'a Target) -> Self {
        Self { names: Box::new(KernelNames { kernel, target }) }
    }

    /// An instruction of a thread.
    #[must_use]
    pub fn step(&self, thread: usize, instruction: usize) -> LitmusStep {
        self.names.step(thread, instruction)
    }

    /// What an access is to.
    #[must_use]
    pub fn location(&self, place: Place) -> String {
        self.names.location(place)
    }

    /// An execution that a model allows, with the flags that it raises.
    #[must_use]
    pub fn execution(&self, model: &Model, execution: &Execution) -> LitmusExecution {
        let shown = self.part(model, execution, &|_| true);
        self.focused(execution, shown, &Focus { places: &[], threads: &[], flags: true })
    }

    /// The same; the last values of some places are what is to be shown.
    #[must_use]
    pub fn about(&self, model: &Model, execution: &Execution, places: &[Place]) -> LitmusExecution {
        let shown = self.part(model, execution, &|_| true);
        self.focused(execution, shown, &Focus { places, threads: &[], flags: false })
    }

    /// Says what has a part in what is to be shown, of a whole execution of a kernel.
    fn focused(&self, execution: &Execution, mut shown: LitmusExecution, focus: &Focus<'_>) -> LitmusExecution {
        if self.names.many() {
            if !focus.flags {
                shown.cycle = cycle(execution).into_iter().fold(Vec::new(), joined);
            }
            for event in asides(execution, &shown, focus) {
                shown.events[event].aside = true;
            }
        }
        shown
    }

    /// Of an execution that a model forbids: the axiom that does, with what contradicts it, and the execution.
    #[must_use]
    pub fn forbidden(&self, model: &Model, execution: &Execution, axiom: usize, alone: bool) -> Option<Forbidden> {
        let single = Model { axioms: vec![model.axioms[axiom].clone()], ..model.clone() };
        let evaluation = Evaluation::of(&single, &execution.bases(model));
        let axiom = deciding(&evaluation, &evaluation.failed()?);
        Some(Forbidden { axiom, alone, execution: self.execution(model, execution) })
    }

    /// The axioms that forbid an execution, by their numbers.
    #[must_use]
    pub fn contradicted(model: &Model, execution: &Execution) -> Vec<usize> {
        let bases = execution.bases(model);
        let fails = |k: &usize| {
            let single = Model { axioms: vec![model.axioms[*k].clone()], ..model.clone() };
            Evaluation::of(&single, &bases).failed().is_some()
        };
        (0..model.axioms.len()).filter(fails).collect()
    }

    /// An execution that never ends.
    #[must_use]
    pub fn endless(&self, model: &Model, lasso: &Lasso) -> EndlessExecution {
        let prefix = lasso.prefix.as_ref().map(|(execution, cut)| {
            let within = |n: usize| {
                let (id, _) = execution.events[n];
                cut.get(id.thread as usize).is_none_or(|most| (id.position as usize) < *most)
            };
            let shown = self.part(model, execution, &within);
            let threads: Vec<usize> = lasso.round.iter().map(|(thread, _)| *thread).collect();
            self.focused(execution, shown, &Focus { places: &[], threads: &threads, flags: false })
        });
        let steps = |all: &[(usize, usize)]| all.iter().map(|(thread, at)| self.step(*thread, *at)).collect();
        EndlessExecution { prefix, stem: steps(&lasso.stem), round: steps(&lasso.round), waits: steps(&lasso.waits) }
    }

    fn part(&self, model: &Model, execution: &Execution, kept: &dyn Fn(usize) -> bool) -> LitmusExecution {
        let kept: Vec<usize> = (0..execution.events.len()).filter(|n| kept(*n)).collect();
        let number = |event: usize| kept.binary_search(&event).ok();
        let whole = kept.len() == execution.events.len();
        let pairs = |relation: &Relation| -> Vec<[usize; 2]> {
            relation.iter().filter_map(|(a, b)| Some([number(a)?, number(b)?])).collect()
        };
        let co = next(&execution.co.plus());
        let evaluation = Evaluation::of(model, &execution.bases(model));
        let flags = if whole { evaluation.flags() } else { Vec::new() };
        let named = |name: &str, relation: &Relation| -> Vec<Edge> {
            let one_way = |pair: &[usize; 2]| pair[0] < pair[1] || !relation.contains(kept[pair[1]], kept[pair[0]]);
            let edge = |[from, to]: [usize; 2]| Edge { from, to, name: name.to_owned() };
            pairs(relation).into_iter().filter(one_way).map(edge).collect()
        };
        let shown = model.shows.iter().filter_map(|(name, node)| match evaluation.value(*node) {
            Value::Relation(relation) => Some(named(name, relation)),
            Value::Set(_) => None,
        });
        let edges = shown.flatten().chain(named("sync_fence", &next(&execution.fences.plus())));
        LitmusExecution {
            events: kept.iter().enumerate().map(|(k, event)| self.event(execution, *event, k, &number)).collect(),
            rf: pairs(&execution.rf),
            fr: pairs(&execution.rf.inverse().then(&co)).into_iter().filter(|[read, write]| read != write).collect(),
            co: pairs(&co),
            edges: edges.collect(),
            flags: flags.iter().map(|flag| deciding(&evaluation, flag)).collect(),
            cycle: Vec::new(),
        }
    }

    fn event(
        &self,
        execution: &Execution,
        at: usize,
        number: usize,
        numbers: &dyn Fn(usize) -> Option<usize>,
    ) -> LitmusEvent {
        let (id, event) = &execution.events[at];
        let step = (id.thread != INITIAL).then(|| self.step(id.thread as usize, event.origin as usize));
        let part = self.part_of(execution, at, numbers);
        let shown = event.value.map_or_else(Shown::default, |value| self.names.value(event.place, value));
        let mut tags: Vec<&'static str> = self.names.tags().to_vec();
        let mut bit = 0;
        tags.retain(|_| {
            bit += 1;
            event.tags >> (bit - 1) & 1 == 1
        });
        LitmusEvent {
            number,
            thread: step.as_ref().map(|step| step.thread),
            spot: step.as_ref().and_then(|step| step.spot),
            line: step.as_ref().map(|step| step.line),
            cuda: step.as_ref().and_then(|step| step.cuda.clone()),
            instruction: step.map(|step| step.instruction),
            kind: match event.kind {
                Kind::Read => EventKind::Read,
                Kind::Write => EventKind::Write,
                Kind::Fence => EventKind::Fence,
                Kind::Barrier => EventKind::Barrier,
                Kind::Other => EventKind::Other,
            },
            tags,
            location: event.place.map(|place| part.as_ref().map_or_else(|| self.location(place), PartOf::named)),
            part,
            value: event.value.map(u64::cast_signed),
            typed: shown.typed,
            address_of: shown.address_of,
            reads_from: execution.rf.iter().find(|(_, read)| *read == at).and_then(|(write, _)| numbers(write)),
            aside: false,
        }
    }
}

impl Subject<'_> {
    /// The access that an event is a part of.
    fn part_of(&self, execution: &Execution, at: usize, numbers: &dyn Fn(usize) -> Option<usize>) -> Option<PartOf> {
        let (id, event) = &execution.events[at];
        let (whole, place) = (event.whole?, event.place?);
        let parts = || {
            let all = execution.events.iter().enumerate();
            all.filter(|(_, (other, e))| other.thread == id.thread && e.whole == Some(whole) && e.kind == event.kind)
        };
        let all = execution.accesses(id.thread as usize);
        let value = all.get(whole.position as usize).and_then(|access| access.value);
        let first = place.offset - whole.place.offset;
        Some(PartOf {
            event: parts().find_map(|(n, _)| numbers(n))?,
            location: self.location(whole.place),
            first,
            last: first + place.bytes - 1,
            value: value.map(u64::cast_signed),
            typed: value.and_then(|value| self.names.value(Some(whole.place), value).typed),
        })
    }
}

/// The pairs of a transitive relation that have nothing between them.
fn next(closed: &Relation) -> Relation {
    let between = |a: usize, b: usize| closed.from(a).any(|c| c != a && c != b && closed.contains(c, b));
    let pairs: Vec<(usize, usize)> = closed.iter().filter(|(a, b)| a != b && !between(*a, *b)).collect();
    Relation::of(closed.events(), pairs)
}

/// What shows a finding.
fn deciding(evaluation: &Evaluation<'_>, finding: &Finding<'_>) -> Deciding {
    let of = finding.axiom.of;
    let chain = |from: usize, to: usize| -> Vec<Edge> {
        match evaluation.value(of) {
            Value::Relation(_) => evaluation.chain(of, from, to).into_iter().fold(Vec::new(), joined),
            Value::Set(_) => Vec::new(),
        }
    };
    let (events, chain) = match &finding.witness {
        Witness::Cycle(events) => {
            let ends = events.iter().skip(1).chain(events.first());
            let chain = events.iter().zip(ends).flat_map(|(from, to)| chain(*from, *to)).collect();
            (events.clone(), chain)
        }
        Witness::Event(event) => (vec![*event], chain(*event, *event)),
        Witness::Pair(from, to) => (vec![*from, *to], chain(*from, *to)),
        Witness::Holds => (Vec::new(), Vec::new()),
    };
    Deciding { name: finding.axiom.name.clone(), events, chain }
}

/// Adds a link to a chain: steps of an order are one, and what was read and what overwrites that is `fr`.
fn joined(mut chain: Vec<Edge>, Link { from, to, name }: Link) -> Vec<Edge> {
    if let Some(last) = chain.last_mut() {
        let together = match (&*last.name, &*name) {
            ("po", "po") | ("co", "co") | ("fr", "co") => true,
            ("rf^-1", "co") => {
                "fr".clone_into(&mut last.name);
                true
            }
            _ => false,
        };
        if together {
            last.to = to;
            return chain;
        }
    }
    chain.push(Edge { from, to, name });
    chain
}
