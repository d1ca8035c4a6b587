//! What events of litmus tests and kernels are called.

use super::data::{LitmusStep, Spot};
use crate::axiom::{Place, Program};
use crate::base::{Pc, Source, Span};
use crate::explore::Target;
use crate::launch::{Scalar, Value};
use crate::litmus::kernel::Kernel;
use crate::litmus::lockstep::Waves;
use crate::litmus::tree::Litmus;
use crate::litmus::{Threads, code};
use crate::report::stop::Cuda;
use crate::verdict::AllocKind;
use std::borrow::Cow;

/// A value in the words of what was given.
#[derive(Default)]
pub(super) struct Shown {
    /// As a buffer's type has it.
    pub typed: Option<Value>,
    /// The location whose address it is.
    pub address_of: Option<String>,
}

/// What executions are of.
pub(super) trait Names {
    /// The names of sets, by the bits of events.
    fn tags(&self) -> &[&'static str];

    /// An instruction of a thread.
    fn step(&self, thread: usize, instruction: usize) -> LitmusStep;

    /// What an access is to.
    fn location(&self, place: Place) -> String;

    /// A value that was read or written.
    fn value(&self, place: Option<Place>, value: u64) -> Shown;

    /// Whether there are more events than anybody wants to see: those that have no part in what is to be shown are left out.
    fn many(&self) -> bool;
}

/// The text of a span in a line.
fn words(span: Span, text: &str) -> String {
    span.of(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A litmus test.
pub(super) struct TestNames<'a> {
    litmus: &'a Litmus,
    source: &'a Source,
    /// The text, without comments among instructions.
    code: Cow<'a, str>,
    threads: Threads,
    /// Of wavefronts: where their events stand.
    waves: Option<Waves>,
}

impl<'a> TestNames<'a> {
    pub fn new(litmus: &'a Litmus, source: &'a Source) -> Self {
        let waves = litmus.lockstep.as_ref().map(|program| Waves::grouped(litmus, program, program.waves()));
        Self { litmus, source, code: code(&source.text), threads: Threads::of(litmus), waves }
    }
}

impl Names for TestNames<'_> {
    fn tags(&self) -> &[&'static str] {
        self.waves.as_ref().map_or_else(|| self.threads.tags(), |waves| waves.tags())
    }

    fn step(&self, thread: usize, instruction: usize) -> LitmusStep {
        if let Some((waves, program)) = self.waves.as_ref().zip(self.litmus.lockstep.as_ref()) {
            let (row, column) = waves.stands(u32::try_from(instruction).unwrap_or(u32::MAX));
            let cell = program.rows.get(row).and_then(|row| row.get(column)?.as_ref());
            let thread = program.columns.get(column).map_or(0, |(column, _)| column.number());
            let line = cell.map_or(0, |cell| self.source.line_col(cell.span.start).0);
            let instruction = cell.map_or_else(|| "the end".to_owned(), |cell| words(cell.span, &self.code));
            return LitmusStep { thread, spot: None, line, instruction, cuda: None };
        }
        let of = self.litmus.threads.get(thread);
        let span = of.and_then(|t| t.instructions().nth(instruction)).map(|(_, span)| span);
        let (line, instruction) = match span {
            Some(span) => (self.source.line_col(span.start).0, words(span, &self.code)),
            None => (0, "the end".to_owned()),
        };
        LitmusStep { thread: of.map_or(0, |t| t.number), spot: None, line, instruction, cuda: None }
    }

    fn location(&self, place: Place) -> String {
        self.waves.as_ref().map_or_else(|| self.threads.location(place).to_owned(), |waves| waves.location(place))
    }

    fn value(&self, _: Option<Place>, value: u64) -> Shown {
        if self.waves.is_some() {
            return Shown::default();
        }
        Shown { typed: None, address_of: self.threads.address_of(value).map(str::to_owned) }
    }

    fn many(&self) -> bool {
        false
    }
}

/// A launch of a kernel.
pub(super) struct KernelNames<'a> {
    pub kernel: &'a Kernel,
    pub target: &'a Target,
}

impl KernelNames<'_> {
    /// The type of a buffer's elements, where a place is one of them.
    fn element(&self, place: Place) -> Option<(String, Scalar, u32)> {
        let inside = self.kernel.inside(place).filter(|inside| inside.kind == AllocKind::Buffer)?;
        let (ty, _) = self.target.start().contents(&inside.name)?;
        let bytes = u32::from(ty.bytes);
        (place.bytes == bytes && place.offset.is_multiple_of(bytes)).then(|| (inside.name, ty, place.offset / bytes))
    }
}

impl Names for KernelNames<'_> {
    fn tags(&self) -> &[&'static str] {
        self.kernel.tags()
    }

    fn step(&self, thread: usize, instruction: usize) -> LitmusStep {
        let (env, sources) = self.target.listing();
        let pc = Pc(u32::try_from(instruction).unwrap_or(u32::MAX));
        let place = env.place(pc).and_then(|(file, span)| Some((sources.get(file)?, span)));
        let (line, text) = match place {
            Some((source, span)) => (source.line_col(span.start).0, words(span, &source.text)),
            None => (0, "the end".to_owned()),
        };
        LitmusStep {
            thread: u32::try_from(thread).unwrap_or(u32::MAX),
            spot: Some(self.spot(thread)),
            line,
            instruction: text.trim_end_matches(';').to_owned(),
            cuda: Cuda::of(env, sources, pc),
        }
    }

    fn location(&self, place: Place) -> String {
        if let Some((name, _, index)) = self.element(place) {
            return format!("{name}[{index}]");
        }
        let Some(inside) = self.kernel.inside(place) else { return format!("{}+{}", place.location, place.offset) };
        let name = if inside.name.is_empty() { "shared" } else { &inside.name };
        let at = if inside.offset == 0 { name.to_owned() } else { format!("{name}+{}", inside.offset) };
        match self.kernel.block_of(place.location) {
            Some(block) => format!("{at} of block {}", coordinates(self.block(block))),
            None => at,
        }
    }

    fn value(&self, place: Option<Place>, value: u64) -> Shown {
        let typed = place.map(|place| match self.element(place) {
            Some((_, ty, _)) => ty.decode(&value.to_le_bytes()[..ty.size()]),
            None => Value::Unsigned(value),
        });
        Shown { typed, address_of: None }
    }

    fn many(&self) -> bool {
        true
    }
}

impl KernelNames<'_> {
    fn block(&self, linear: u64) -> [u32; 3] {
        unfold(linear, self.kernel.shape().grid)
    }

    fn spot(&self, thread: usize) -> Spot {
        let (block, thread) = self.kernel.spot(thread);
        Spot { block: self.block(block), thread: unfold(thread.into(), self.kernel.shape().block) }
    }
}

/// The coordinates of a linear index, x first.
fn unfold(linear: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x.max(1)), u64::from(y.max(1)));
    [linear % x, linear / x % y, linear / (x * y)].map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}

/// Coordinates without zeros at their end: `1`, `0,2`.
pub(super) fn coordinates(at: [u32; 3]) -> String {
    let used = at.iter().rposition(|n| *n > 0).unwrap_or(0);
    at[..=used].iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl Spot {
    /// It in words.
    #[must_use]
    pub fn text(&self) -> String {
        format!("block {} thread {}", coordinates(self.block), coordinates(self.thread))
    }
}
