//! From values of literals to executions, and clauses that exclude what is not wanted or was there already.

use super::choices::{Values, World};
use super::cnf::{Answer, Bit, Formula};
use super::grounds::Grounds;
use super::pairs::Pairs;
use super::unfold::Unfolding;
use crate::axiom::evaluate::Evaluation;
use crate::axiom::execution::Execution;
use crate::axiom::frame::{Frame, INITIAL, frame};
use crate::axiom::model::Model;
use crate::axiom::program::{End, Known, Program, Trace};
use crate::axiom::question::{Question, Searched};
use crate::axiom::relation::Relation;
use crate::base::mutant::{Mutant, on};
use std::ops::ControlFlow;
use std::rc::Rc;

/// Looks for executions.
pub(super) struct Decoder<'a, 'q> {
    pub(super) program: &'a dyn Program,
    pub(super) model: &'a Model,
    pub(super) question: &'a Question<'a>,
    pub(super) bound: u32,
    pub(super) unfolding: &'a Unfolding,
    pub(super) world: &'a World,
    pub(super) formula: &'a mut Formula<'q>,
}

/// Registers of each thread and last values.
type Outcome = (Vec<Vec<Option<u64>>>, Vec<Option<u64>>);

impl Decoder<'_, '_> {
    /// Calls `found` with each execution.
    pub(super) fn run(&mut self, done: &mut Searched, found: &mut dyn FnMut(&Execution) -> ControlFlow<()>) {
        self.exclude_values();
        let constants = self.program.constants();
        loop {
            match self.formula.solve() {
                Answer::None => return,
                Answer::Limit => {
                    done.limited = true;
                    return;
                }
                Answer::Model => {}
            }
            let ends = self.ends();
            let traces: Vec<Trace> = ends.iter().map(|part| self.trace(*part)).collect();
            let (registers, finals) = self.outcome(&traces);
            if self.wanted(&registers, &finals) == Some(false) {
                self.exclude_outcome((registers, finals));
                continue;
            }
            if let Some(bits) = Grounds::of(self.unfolding, self.world, self.formula).missing(&constants) {
                self.exclude(&bits);
                continue;
            }
            let frame = frame(self.program, self.model, &traces, &mut self.unfolding.places.clone());
            match self.execution(Rc::new(frame), &traces, &finals) {
                Some(execution) => {
                    done.found += 1;
                    if found(&execution).is_break() {
                        return;
                    }
                    self.exclude(&self.reading());
                }
                None => {
                    done.inexact += 1;
                    self.exclude(&self.chosen());
                }
            }
        }
    }

    /// Excludes what holds of these together.
    fn exclude(&mut self, bits: &[Bit]) {
        self.formula.forbid(bits.iter().copied());
    }

    fn wanted(&self, registers: &[Vec<Option<u64>>], finals: &[Option<u64>]) -> Option<bool> {
        let registers: Vec<&[Option<u64>]> = registers.iter().map(|all| &all[..]).collect();
        (self.question.wanted)(&registers, finals)
    }

    /// An outcome of which nothing is known.
    fn unknown(&self) -> Outcome {
        let registers = self.world.registers.iter().map(|all| vec![None; all.len()]).collect();
        (registers, vec![None; self.question.finals.len()])
    }

    /// Excludes values that are not wanted whatever the others are.
    fn exclude_values(&mut self) {
        let (mut registers, mut finals) = self.unknown();
        let mut never: Vec<Bit> = Vec::new();
        for (thread, all) in self.world.registers.iter().enumerate() {
            for (register, values) in all.iter().enumerate() {
                for (value, bit) in values {
                    registers[thread][register] = Some(*value);
                    never.extend((self.wanted(&registers, &finals) == Some(false)).then_some(*bit));
                }
                registers[thread][register] = None;
            }
        }
        for (place, values) in self.world.finals.iter().enumerate() {
            for (value, bit) in values {
                finals[place] = Some(*value);
                never.extend((self.wanted(&registers, &finals) == Some(false)).then_some(*bit));
            }
            finals[place] = None;
        }
        never.into_iter().for_each(|bit| self.formula.forbid([bit]));
    }

    /// Excludes an outcome, and all that have in common with it what makes it unwanted.
    fn exclude_outcome(&mut self, (mut registers, mut finals): Outcome) {
        let world = self.world;
        let mut bits = Vec::new();
        let bit = |values: &Values, value: Option<u64>| {
            values.iter().find(|(other, _)| Some(*other) == value).map(|(_, bit)| *bit)
        };
        for (thread, all) in world.registers.iter().enumerate() {
            for (register, values) in all.iter().enumerate() {
                let value = registers[thread][register].take();
                if self.wanted(&registers, &finals) != Some(false) {
                    registers[thread][register] = value;
                    bits.push(bit(values, value));
                }
            }
        }
        for (place, values) in world.finals.iter().enumerate() {
            let value = finals[place].take();
            if self.wanted(&registers, &finals) != Some(false) {
                finals[place] = value;
                bits.push(bit(values, value));
            }
        }
        match bits.into_iter().collect::<Option<Vec<Bit>>>() {
            Some(bits) => self.exclude(&bits),
            None => self.exclude(&self.reading()),
        }
    }

    /// The last part of each thread.
    fn ends(&self) -> Vec<usize> {
        let parts = (0..self.unfolding.branches.len()).filter(|part| self.unfolding.branches[*part].end.is_some());
        parts.filter(|part| self.formula.holds(self.world.branches[*part])).collect()
    }

    /// What a read returns.
    fn returned(&self, read: usize) -> Option<u64> {
        let values = self.world.returns.get(&read)?;
        values.iter().find(|(_, bit)| self.formula.holds(*bit)).map(|(value, _)| *value)
    }

    fn run_thread(&self, thread: usize, reads: &[Option<u64>]) -> Trace {
        self.program.run(thread, Known { reads, assumed: &[], bound: self.bound })
    }

    fn trace(&self, part: usize) -> Trace {
        let branch = &self.unfolding.branches[part];
        let reads: Vec<Option<u64>> = branch.events.iter().map(|event| self.returned(*event)).collect();
        self.run_thread(branch.thread, &reads)
    }

    fn outcome(&self, traces: &[Trace]) -> Outcome {
        let registers = traces.iter().map(|trace| trace.registers.clone()).collect();
        let finals = self.world.last.iter().map(|last| {
            let (write, _) = last.iter().find(|(_, bit)| self.formula.holds(*bit))?;
            let (id, event) = &self.unfolding.events[*write];
            match traces.get(id.thread as usize) {
                Some(trace) => trace.events[id.position as usize].value,
                None => event.value,
            }
        });
        (registers, finals.collect())
    }

    /// Pairs that are so, and whose events are done.
    fn pairs<'s>(&'s self, of: &'s Pairs) -> impl Iterator<Item = (usize, usize, Bit)> + 's {
        let done = |event: usize| self.formula.holds(self.world.done[event]);
        of.iter().filter(move |(a, b, bit)| self.formula.holds(*bit) && done(*a) && done(*b))
    }

    /// What is read from where, with which values, and what is written last.
    fn reading(&self) -> Vec<Bit> {
        let world = self.world;
        let mut all: Vec<Bit> = self.pairs(&world.rf).map(|(.., bit)| bit).collect();
        let last = world.last.iter().flatten().map(|(_, bit)| *bit).filter(|bit| self.formula.holds(*bit));
        all.extend(last.filter(|_| !on(Mutant::LastWritesAlike)));
        if self.unfolding.loops {
            let done = |read: &usize| self.formula.holds(world.done[*read]);
            let values = world.returns.iter().filter(|(read, _)| done(read)).flat_map(|(_, values)| values);
            all.extend(values.map(|(_, bit)| *bit).filter(|bit| self.formula.holds(*bit)));
        }
        all
    }

    /// All that is chosen.
    fn chosen(&self) -> Vec<Bit> {
        let mut all = self.reading();
        for order in [&self.world.co, &self.world.fences, &self.world.meetings] {
            all.extend(order.iter().map(|(.., bit)| if self.formula.holds(bit) { bit } else { !bit }));
        }
        all
    }

    /// A relation between the events that are done.
    fn relation(&self, of: &Pairs, frame: &Frame) -> Relation {
        let number = |event: usize| {
            let (id, _) = self.unfolding.events[event];
            if id.thread == INITIAL { Some(event) } else { frame.number(id) }
        };
        let pairs = self.pairs(of).filter_map(|(a, b, _)| number(a).zip(number(b)));
        Relation::of(frame.len(), pairs)
    }

    /// The execution, if the model allows it and raises a flag if it has to.
    fn execution(&self, frame: Rc<Frame>, traces: &[Trace], finals: &[Option<u64>]) -> Option<Execution> {
        let world = self.world;
        let mut events = frame.events.clone();
        for (id, event) in &mut events {
            if let Some(trace) = traces.get(id.thread as usize) {
                event.value = trace.events[id.position as usize].value;
            }
        }
        let finals = self.question.finals.iter().copied().zip(finals.iter().map(|value| value.unwrap_or(0))).collect();
        let relation = |of: &Pairs| self.relation(of, &frame);
        let mut execution = Execution {
            events,
            rf: relation(&world.rf),
            co: relation(&world.co),
            fences: relation(&world.fences),
            meetings: relation(&world.meetings),
            registers: traces.iter().map(|t| t.registers.iter().map(|r| r.unwrap_or(0)).collect()).collect(),
            finals,
            flags: Vec::new(),
            frame: Rc::clone(&frame),
        };
        let evaluation = Evaluation::of(self.model, &execution.bases(self.model));
        if evaluation.failed().is_some() {
            return None;
        }
        let flags = evaluation.flags();
        if self.question.flagged && flags.is_empty() {
            return None;
        }
        if self.question.flagged {
            execution.flags = flags.iter().map(|flag| flag.axiom.name.clone()).collect();
        }
        debug_assert!(traces.iter().all(|trace| trace.end == End::Done), "only whole runs are left");
        Some(execution)
    }
}
