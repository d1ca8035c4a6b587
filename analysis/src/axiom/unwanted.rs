//! Sources of reads with which nothing comes about that is asked for.

use super::frame::Frame;
use super::program::{End, Kind, Trace};
use super::question::Question;
use super::relation::Relation;

/// The first node of a search.
pub(super) struct Begun<'a> {
    pub(super) frame: &'a Frame,
    pub(super) traces: &'a [Trace],
    /// What each thread's reads returned.
    pub(super) reads: &'a [Vec<Option<u64>>],
    /// Which writes each read may read from.
    pub(super) sources: &'a Relation,
    pub(super) question: &'a Question<'a>,
}

impl Begun<'_> {
    /// Pairs of a write and a read of a thread that ends whatever it reads, so that what is asked for does not come about when the read
    /// returns what is written. `written` gives that, where it is known; `run` runs a thread with what its reads return.
    pub(super) fn unwanted(
        &self,
        written: &dyn Fn(usize) -> Option<u64>,
        run: &dyn Fn(usize, &[Option<u64>]) -> Trace,
    ) -> Vec<(usize, usize)> {
        let sources = self.sources.inverse();
        let unknown = vec![None; self.question.finals.len()];
        let registers: Vec<&[Option<u64>]> = self.traces.iter().map(|trace| &trace.registers[..]).collect();
        let mut found = Vec::new();
        for (read, (id, event)) in self.frame.events.iter().enumerate() {
            let (thread, position) = (id.thread as usize, id.position as usize);
            let ends = self.traces.get(thread).is_some_and(|trace| trace.end == End::Done);
            if event.kind != Kind::Read || !ends {
                continue;
            }
            let mut reads = self.reads[thread].clone();
            reads.resize(reads.len().max(position + 1), None);
            for write in sources.from(read) {
                reads[position] = written(write);
                let trace = run(thread, &reads);
                if reads[position].is_none() || trace.end != End::Done {
                    continue;
                }
                let mut registers = registers.clone();
                registers[thread] = &trace.registers;
                if (self.question.wanted)(&registers, &unknown) == Some(false) {
                    found.push((write, read));
                }
            }
        }
        found
    }
}
