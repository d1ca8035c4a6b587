//! Wavefronts as axiomatic models meet them.
//!
//! Under LSC and SLSC a wavefront is one thread with one program order, and lanes of one instruction are in no order (paper, 3.2); under SC
//! each lane is a thread of its own. So a program is made of groups of columns, each of which is in lockstep, and it depends on the model
//! which groups these are.

use super::bytes::Cuts;
use super::column::Column;
use super::runner::Runner;
use super::tree::{LOCATION, Op, Program};
use super::wave::{Layout, Wave};
use crate::axiom::{self, Event, Known, Model, Place, Stall, Trace};
use crate::base::Span;
use crate::base::mutant::{Mutant, on};
use crate::litmus::check::Names;
use crate::litmus::outcome::Observed;
use crate::litmus::tree::{DeclKind, Initial, Litmus, Placing, TermKind, Thread, Value};
use indexmap::IndexSet;

/// Where something is that is asked about.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// A register, by group and index among those asked about.
    Register(usize, usize),
    /// A location, whose parts are these last values.
    Location(usize, usize),
}

/// The wavefronts of a test, or its lanes, as threads.
#[derive(Clone, Debug)]
pub struct Waves {
    waves: Vec<Wave>,
    layout: Layout,
    /// What each location begins with.
    initial: Vec<u64>,
    asked: Vec<Asked>,
    /// The places whose last values are asked about: parts of locations.
    pub finals: Vec<Place>,
    constants: Vec<u64>,
}

impl Waves {
    /// The sets of events.
    const TAGS: &'static [&'static str] = &["RMW"];

    /// Whether a model is about wavefronts, so that these are its threads; otherwise lanes are.
    #[must_use]
    pub fn lockstep(model: &Model) -> bool {
        model.relations.iter().any(|name| name == "wpo" || name == "si")
    }

    /// The threads of a test without errors, for a model.
    #[must_use]
    pub fn of(litmus: &Litmus, program: &Program, model: &Model) -> Self {
        let lanes = || (0..program.columns.len()).map(|k| vec![k]).collect();
        Self::grouped(litmus, program, if Self::lockstep(model) { program.waves() } else { lanes() })
    }

    /// The threads of a test without errors, each of some columns in lockstep.
    #[must_use]
    pub fn grouped(litmus: &Litmus, program: &Program, groups: Vec<Vec<usize>>) -> Self {
        let names = Names::of(litmus);
        let locations: IndexSet<String> = names.locations.iter().map(|name| (*name).to_owned()).collect();
        let number = |name: &str| locations.get_index_of(name).and_then(|k| u32::try_from(k).ok()).unwrap_or(u32::MAX);
        let observed = Observed::of(litmus);
        let looked_at: Vec<u32> = observed
            .places()
            .filter_map(|place| match place {
                TermKind::Location { name, .. } => Some(number(name)),
                _ => None,
            })
            .collect();
        let cuts = Cuts::of(program, &groups, &number, &looked_at);
        let mut waves: Vec<Wave> = groups.into_iter().map(|group| Wave::of(program, group)).collect();
        waves.iter_mut().for_each(|wave| wave.begin(litmus, program));
        let (mut finals, mut asked) = (Vec::new(), Vec::new());
        for place in observed.places() {
            match place {
                TermKind::Register { thread, name } => {
                    let column = litmus.thread(*thread).unwrap_or(0);
                    let wave = waves.iter().position(|wave| wave.columns.contains(&column)).unwrap_or(0);
                    let own = &mut waves[wave];
                    let lane = own.columns.iter().position(|c| *c == column).unwrap_or(0);
                    let register = own.names.get_index_of(name.as_str()).unwrap_or(0);
                    own.asked.push((lane, register));
                    asked.push(Asked::Register(wave, own.asked.len() - 1));
                }
                TermKind::Location { name, .. } => {
                    let (location, first) = (number(name), finals.len());
                    let parts = cuts.parts(location, 0, LOCATION).into_iter();
                    finals.extend(parts.map(|(offset, bytes)| Place { location, address: location, offset, bytes }));
                    asked.push(Asked::Location(first, finals.len()));
                }
                TermKind::Number(_) => {}
            }
        }
        let mut initial = vec![0; locations.len()];
        for decl in &litmus.init {
            if let DeclKind::Location { name, value: Initial::Number(n) } = &decl.kind
                && let Some(k) = locations.get_index_of(name.name.as_str())
            {
                initial[k] = n.cast_unsigned();
            }
        }
        let constants = constants(program, &initial);
        let layout = Layout { columns: program.columns.len(), locations, cuts };
        Self { waves, layout, initial, asked, finals, constants }
    }

    /// The row and the column of an event.
    #[must_use]
    pub fn stands(&self, origin: u32) -> (usize, usize) {
        self.layout.stands(origin)
    }

    /// A place in words: `x`, `x+4`.
    #[must_use]
    pub fn location(&self, place: Place) -> String {
        let name = self.layout.locations.get_index(place.location as usize).map_or("?", String::as_str);
        if place.offset == 0 { name.to_owned() } else { format!("{name}+{}", place.offset) }
    }

    /// The values of what is asked about, as far as they are known.
    #[must_use]
    pub fn observe(&self, registers: &[&[Option<u64>]], finals: &[Option<u64>]) -> Vec<Option<i64>> {
        let value = |asked: &Asked| match *asked {
            Asked::Register(wave, index) => registers.get(wave)?.get(index).copied().flatten(),
            Asked::Location(from, to) => (from..to).try_fold(0, |all, k| {
                let value = finals.get(k).copied().flatten()?;
                Some(all | value << (8 * self.finals.get(k)?.offset))
            }),
        };
        self.asked.iter().map(|asked| value(asked).map(u64::cast_signed)).collect()
    }
}

/// Numbers that the text has.
fn constants(program: &Program, initial: &[u64]) -> Vec<u64> {
    let values = program.rows.iter().flatten().flatten().flat_map(|cell| cell.kind.values());
    let numbers = values.filter_map(|value| match value {
        Value::Number(n, _) => Some(n.cast_unsigned()),
        Value::Register(_) => None,
    });
    let mut all: Vec<u64> = numbers.chain(initial.iter().copied()).chain([0, 1]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl axiom::Program for Waves {
    fn threads(&self) -> usize {
        self.waves.len()
    }

    fn run(&self, thread: usize, known: Known<'_>) -> Trace {
        Runner::new(&self.layout, &self.waves[thread], known).run()
    }

    fn tags(&self) -> &[&'static str] {
        Self::TAGS
    }

    fn initial(&self) -> Vec<(Place, u64)> {
        let each = |(location, value): (u32, &u64)| {
            let value = *value;
            let parts = self.layout.cuts.parts(location, 0, LOCATION).into_iter();
            parts.map(move |(offset, bytes)| {
                (Place { location, address: location, offset, bytes }, super::bytes::part(value, offset, bytes))
            })
        };
        (0..).zip(&self.initial).flat_map(each).collect()
    }

    fn initial_tags(&self, _: Place) -> u64 {
        0
    }

    fn may_write(&self, thread: usize, _: &Stall, place: Place) -> bool {
        let spots =
            self.waves[thread].rows.iter().flat_map(|row| &row.cells).filter_map(|(_, cell)| match &cell.kind {
                Op::Store { to, .. } => Some(to),
                Op::Atomic { at, .. } => Some(at),
                _ => None,
            });
        let mut all = spots.map(|spot| self.layout.place(spot));
        all.any(|at| {
            at.location == place.location
                && at.offset < place.offset + place.bytes
                && place.offset < at.offset + at.bytes
        })
    }

    fn constants(&self) -> Vec<u64> {
        self.constants.clone()
    }

    fn in_parts(&self) -> bool {
        true
    }

    /// Program order of wavefronts, and which events are of one instruction.
    fn related(&self, relation: &str, one: (Option<usize>, &Event), two: (Option<usize>, &Event)) -> bool {
        let (Some(a), Some(b)) = (one.0, two.0) else { return false };
        let (first, second) = (one.1.instruction, two.1.instruction);
        match relation {
            "wpo" => {
                let column = |event: &Event| self.stands(event.origin).1;
                a == b && first < second && (!on(Mutant::LanesUnordered) || column(one.1) == column(two.1))
            }
            "si" => a == b && first == second,
            _ => false,
        }
    }
}

impl Program {
    /// The columns as threads, without their code, which is in rows.
    #[must_use]
    pub fn threads(&self) -> Vec<Thread> {
        let thread = |(column, span): &(Column, Span)| Thread {
            number: column.number(),
            place: Placing::Lockstep(*column),
            span: *span,
            code: Vec::new(),
        };
        self.columns.iter().map(thread).collect()
    }
}
