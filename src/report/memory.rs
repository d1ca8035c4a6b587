//! Memory with a life of its own, for people: each step that it makes in a line, and the environment as the report's tables
//! have it (4.2, 4.3, 4.6): operations in flight, lines of caches, locks; and the same as data.

use super::bug::place_in;
use super::stop::lanes;
use crate::base::{Pc, SourceMap};
use crate::program::env::ProgEnv;
use crate::verdict::{
    CacheView, Event, Inside, LaneBytes, LineView, MemoryStep, MemoryView, Named, OperationView, Region, Rule, StepEnd,
    Who,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::LowerHex;
use std::sync::Arc;

/// What addresses and instructions are called, learnt from a run's events.
pub(super) struct Names {
    programs: Vec<Arc<ProgEnv>>,
    sources: SourceMap,
    /// Of each launch its program and the buffers and variables of its context.
    launches: BTreeMap<u32, (Arc<ProgEnv>, Vec<Named>)>,
    /// Steps that memory has made.
    steps: u64,
}

impl Names {
    /// Of the launches of `programs`, which are numbered as the host numbers them.
    pub fn new(programs: Vec<Arc<ProgEnv>>, sources: SourceMap) -> Self {
        Self { programs, sources, launches: BTreeMap::new(), steps: 0 }
    }

    /// Takes note of an event. Gives the number of the step of memory that it is, from 1.
    pub fn event(&mut self, who: Who, event: &Event<'_>) -> Option<u64> {
        match event {
            Event::Launch { program, names, .. } => {
                if let Some(env) = self.programs.get(*program as usize) {
                    self.launches.insert(who.launch, (Arc::clone(env), names.to_vec()));
                }
                None
            }
            Event::MemoryStep(_) => {
                self.steps += 1;
                Some(self.steps)
            }
            _ => None,
        }
    }

    /// How many steps memory has made.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Where an instruction stands.
    fn instruction(&self, who: Who, pc: Pc) -> String {
        let origin = self.launches.get(&who.launch).and_then(|(env, _)| env.origin.get(pc.0 as usize));
        let source = origin.and_then(|o| Some((self.sources.get(o.file)?, o.span)));
        source.map_or_else(|| format!("@{}", pc.0), |(s, span)| format!("{}:{}", s.name, s.line_col(span.start).0))
    }

    /// What an address is called: a buffer or variable and the distance from its start, or the number.
    fn address(&self, region: Region, address: u64) -> String {
        let named = || {
            let all = self.launches.values().next_back().map_or(&[][..], |(_, names)| names);
            Inside::of(all, address).and_then(|inside| place_in(&inside))
        };
        match region {
            Region::Global | Region::Generic | Region::Const => named().unwrap_or_else(|| format!("{address:#x}")),
            Region::Shared => format!("shared+{address}"),
            Region::Param => format!("param+{address}"),
            Region::Local(_) => format!("local+{address}"),
        }
    }

    /// A line's first byte: for local memory a place among the words of all threads of the warp.
    fn line(&self, region: Region, base: u64) -> String {
        match region {
            Region::Local(who) => format!("local memory of {}, interleaved byte {base}", warp(who)),
            _ => self.address(region, base),
        }
    }

    /// What a lane accesses; `alone`: it is the operation's only one, which has been told.
    fn access(&self, region: Region, access: &LaneBytes, alone: bool) -> String {
        let value = access.value.map_or_else(String::new, |v| format!(" = {v:#x}"));
        let bytes = if access.bytes == 1 { "1 byte".to_owned() } else { format!("{} bytes", access.bytes) };
        let lane = if alone { String::new() } else { format!("lane {}: ", access.lane) };
        format!("{lane}{bytes} at {}{value}", self.address(region, access.address))
    }

    /// What an operation is and accesses; at most `most` lanes of it.
    fn operation(&self, o: &OperationView, most: usize) -> String {
        let mut text = format!("{}, {}, {}: {}", warp(o.who), lanes(o.lanes), self.instruction(o.who, o.pc), o.name);
        let region = o.region.unwrap_or(Region::Generic);
        let alone = o.lanes.count_ones() == 1;
        let mut shown: Vec<String> = o.accesses.iter().take(most).map(|a| self.access(region, a, alone)).collect();
        if o.accesses.len() > most {
            shown.push(format!("and {} more", o.accesses.len() - most));
        }
        if !shown.is_empty() {
            text = format!("{text}, {}", shown.join("; "));
        }
        if !o.operands.is_empty() {
            let all: Vec<String> = o.operands.iter().map(|v| format!("{v:#x}")).collect();
            text = format!("{text}; operands {}", all.join(", "));
        }
        text
    }

    /// A step in one line.
    pub fn step(&self, step: &MemoryStep) -> String {
        match step {
            MemoryStep::Operation { operation, from, end } => {
                let what = self.operation(operation, 2);
                let lines = match (from, operation.line) {
                    (0, _) => String::new(),
                    (from, line) if *from == line || *end == StepEnd::Ends => {
                        format!(", {}:{from}", operation.file)
                    }
                    (from, line) => format!(", {}:{from} up to {line}", operation.file),
                };
                format!("{what}, SM {}{lines}: {}", operation.processor, ended(*end))
            }
            MemoryStep::Silent { rule, processor, line, written } => {
                let cache = cache(*processor);
                let line = line.map_or_else(
                    || "all global lines".to_owned(),
                    |(region, base)| format!("the line at {}", self.line(region, base)),
                );
                let what = match rule {
                    Rule::MWbL1 => format!("bytes {} of {line} are written back from {cache} to L2", ranges(*written)),
                    Rule::MWbL2 => {
                        format!("bytes {} of {line} are written back from {cache} to memory", ranges(*written))
                    }
                    Rule::MFlush => format!("{line} that nobody pins leave {cache}"),
                    _ => format!("{line} leaves {cache}"),
                };
                format!("{}: {what}", rule.id())
            }
        }
    }

    /// The environment as tables.
    pub fn environment(&self, view: &MemoryView) -> String {
        let mut out = String::new();
        for (k, o) in view.operations.iter().enumerate() {
            let at = if o.line == 0 { String::new() } else { format!(", {}:{}", o.file, o.line) };
            let state = match (o.above, o.waits) {
                (0, false) => String::new(),
                (0, true) => ", waits".to_owned(),
                (n, _) => format!(", behind {n} earlier"),
            };
            out += &format!("  operation {k}: SM {}, {}{at}{state}\n", o.processor, self.operation(o, usize::MAX));
        }
        for c in &view.caches {
            let [sets, ways, line] = c.shape;
            out += &format!("  {}: {sets} sets of {ways} lines of {line} bytes\n", cache(c.processor));
            for line in &c.lines {
                out += &self.line_text(line);
            }
        }
        for (processor, banks) in &view.locked {
            out += &format!("  banks of shared memory locked on SM {processor}: {}\n", ranges(u128::from(*banks)));
        }
        if out.is_empty() { "  nothing is in flight, cached or locked\n".to_owned() } else { out }
    }

    fn line_text(&self, line: &LineView) -> String {
        let valid = valid(line);
        let mut facts = vec![format!("valid {}", ranges(valid))];
        for (mask, what) in [(line.dirty, "dirty"), (line.filling, "being fetched")] {
            if mask != 0 {
                facts.push(format!("{what} {}", ranges(mask)));
            }
        }
        if !line.pins.is_empty() {
            let pins: Vec<String> = line.pins.iter().map(usize::to_string).collect();
            facts.push(format!("pinned by operation {}", pins.join(", ")));
        }
        if line.first {
            facts.push("evicted first".to_owned());
        }
        let (set, way, name) = (line.set, line.way, self.line(line.region, line.base));
        format!("    set {set}, line {way}: {name}: {}\n      {}\n", facts.join("; "), words(&line.bytes, " "))
    }

    /// A step for programs.
    pub fn step_data(&self, number: u64, step: &MemoryStep) -> Value {
        let text = self.step(step);
        let made = match step {
            MemoryStep::Operation { operation, from, end } => {
                Made::Operation { operation: self.operation_data(operation), from: *from, end: ended(*end) }
            }
            MemoryStep::Silent { rule, processor, line, written } => Made::Silent {
                rule: *rule,
                cache: Level::of(*processor),
                line: line.map(|(region, base)| self.line(region, base)),
                written: ranges(*written),
            },
        };
        json!(StepData { made, step: number, text })
    }

    fn operation_data(&self, o: &OperationView) -> Operation {
        let region = o.region.unwrap_or(Region::Generic);
        let access = |a: &LaneBytes| Bytes {
            lane: a.lane,
            address: hex(a.address),
            place: self.address(region, a.address),
            bytes: a.bytes,
            value: a.value.map(hex),
        };
        Operation {
            launch: o.who.launch,
            block: o.who.block,
            warp: o.who.warp,
            place: o.place,
            lanes: lanes(o.lanes),
            processor: o.processor,
            instruction: self.instruction(o.who, o.pc),
            operation: o.name.clone(),
            program: (o.line != 0).then(|| Statement { file: o.file.clone(), line: o.line }),
            accesses: o.accesses.iter().map(access).collect(),
            operands: o.operands.iter().copied().map(hex).collect(),
            behind: o.above,
            waits: o.waits,
        }
    }

    /// The environment for programs, after a step.
    fn data(&self, view: &MemoryView, step: u64, text: String) -> Environment {
        let line = |l: &LineView| Line {
            set: l.set,
            line: l.way,
            place: self.line(l.region, l.base),
            base: hex(l.base),
            valid: ranges(valid(l)),
            dirty: ranges(l.dirty),
            filling: ranges(l.filling),
            bytes: words(&l.bytes, ""),
            pins: l.pins.clone(),
            class: if l.first { "first" } else { "normal" },
        };
        let cache = |c: &CacheView| {
            let [sets, ways, line_bytes] = c.shape;
            Cache { cache: Level::of(c.processor), sets, ways, line_bytes, lines: c.lines.iter().map(line).collect() }
        };
        let locked = |&(processor, banks): &(u32, u64)| Locked { processor, banks: ranges(banks.into()) };
        Environment {
            operations: view.operations.iter().map(|o| self.operation_data(o)).collect(),
            caches: view.caches.iter().map(cache).collect(),
            locked: view.locked.iter().map(locked).collect(),
            step,
            text,
        }
    }
}

/// A step of memory for programs.
#[derive(Serialize)]
struct StepData {
    #[serde(flatten)]
    made: Made,
    step: u64,
    text: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Made {
    Operation {
        #[serde(flatten)]
        operation: Operation,
        from: u32,
        end: &'static str,
    },
    Silent {
        rule: Rule,
        cache: Level,
        line: Option<String>,
        written: String,
    },
}

/// The memory environment after a step of memory (`--show memory`). Masks are ranges, e.g. "0-3, 8", or "none".
#[derive(Clone, Serialize, JsonSchema)]
pub struct Environment {
    /// The operations in flight.
    operations: Vec<Operation>,
    /// The caches that have lines in use.
    caches: Vec<Cache>,
    /// The multiprocessors with locked banks of shared memory.
    locked: Vec<Locked>,
    /// The step of memory after which it is like this, from 1.
    #[schemars(range(min = 1))]
    step: u64,
    /// That step, in words.
    text: String,
}

/// An operation in flight.
#[derive(Clone, Serialize, JsonSchema)]
struct Operation {
    launch: u32,
    block: u64,
    warp: u32,
    /// Its place among the operations of its warp.
    place: u32,
    lanes: String,
    processor: u32,
    /// FILE:LINE of the PTX instruction.
    instruction: String,
    operation: String,
    /// The next statement of its memory program.
    program: Option<Statement>,
    accesses: Vec<Bytes>,
    operands: Vec<String>,
    /// Earlier operations that it waits for.
    behind: u32,
    waits: bool,
}

/// A statement of a memory program.
#[derive(Clone, Serialize, JsonSchema)]
struct Statement {
    file: String,
    line: u32,
}

/// What a lane accesses.
#[derive(Clone, Serialize, JsonSchema)]
struct Bytes {
    lane: u32,
    address: String,
    /// The buffer or variable and the distance from its start, or the address.
    place: String,
    bytes: u32,
    /// What is written, or has been read by now.
    value: Option<String>,
}

/// A cache.
#[derive(Clone, Serialize, JsonSchema)]
struct Cache {
    cache: Level,
    sets: u32,
    ways: u32,
    line_bytes: u32,
    lines: Vec<Line>,
}

/// Which cache: the L2, or the L1 of a multiprocessor.
#[derive(Clone, Serialize, JsonSchema)]
struct Level {
    #[schemars(extend("enum" = [1, 2]))]
    level: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    processor: Option<u32>,
}

impl Level {
    fn of(processor: Option<u32>) -> Self {
        Self { level: if processor.is_some() { 1 } else { 2 }, processor }
    }
}

/// A line of a cache.
#[derive(Clone, Serialize, JsonSchema)]
struct Line {
    set: u32,
    line: u32,
    place: String,
    base: String,
    valid: String,
    dirty: String,
    filling: String,
    /// Hexadecimal, `..` for bytes that are not valid.
    bytes: String,
    /// Indices of the operations that pin it.
    pins: Vec<usize>,
    #[schemars(extend("enum" = ["first", "normal"]))]
    class: &'static str,
}

/// Locked banks of a multiprocessor's shared memory.
#[derive(Clone, Serialize, JsonSchema)]
struct Locked {
    processor: u32,
    banks: String,
}

fn hex(number: impl LowerHex) -> String {
    format!("{number:#x}")
}

fn warp(who: Who) -> String {
    let launch = if who.launch == 0 { String::new() } else { format!("launch {}, ", who.launch) };
    format!("{launch}block {}, warp {}", who.block, who.warp)
}

fn cache(processor: Option<u32>) -> String {
    processor.map_or_else(|| "L2".to_owned(), |sm| format!("the L1 of SM {sm}"))
}

const fn ended(end: StepEnd) -> &'static str {
    match end {
        StepEnd::Yields => "yields",
        StepEnd::Waits => "waits",
        StepEnd::Ends => "ends",
        StepEnd::Stuck => "stuck",
    }
}

fn valid(line: &LineView) -> u128 {
    (0..128).zip(&line.bytes).filter(|(_, byte)| byte.is_some()).fold(0, |mask, (k, _)| mask | 1 << k)
}

/// The set bits of a mask as ranges: `0-3, 8`.
fn ranges(mask: u128) -> String {
    if mask == 0 { "none".to_owned() } else { super::count::ranges((0..128).filter(|bit| mask >> bit & 1 != 0)) }
}

/// Bytes in hexadecimal, those that are not known as `..`, in words of four.
fn words(bytes: &[Option<u8>], between: &str) -> String {
    let word = |word: &[Option<u8>]| -> String {
        word.iter().map(|byte| byte.map_or_else(|| "..".to_owned(), |b| format!("{b:02x}"))).collect()
    };
    bytes.chunks(4).map(word).collect::<Vec<_>>().join(between)
}

/// Shows the environment after steps of memory (`--show memory`).
pub struct MemoryShow {
    names: Names,
    /// The step after which it is shown; none: after each.
    at: Option<u64>,
    /// Whether it was shown after that step.
    shown: bool,
    /// The last step.
    last: String,
    /// Takes text; none: kept as JSON.
    write: Option<fn(&str)>,
    kept: Vec<Environment>,
}

impl MemoryShow {
    /// Of the launches of `programs`, which are numbered as the host numbers them; after step `at`, or after each. `write`
    /// takes text; without it what is shown is kept for [`MemoryShow::finish`].
    #[must_use]
    pub fn new(programs: Vec<Arc<ProgEnv>>, sources: SourceMap, at: Option<u64>, write: Option<fn(&str)>) -> Self {
        Self { names: Names::new(programs, sources), at, shown: false, last: String::new(), write, kept: Vec::new() }
    }

    /// Takes note of an event.
    pub fn event(&mut self, who: Who, event: &Event<'_>) {
        self.names.event(who, event);
        if self.shown {
            return;
        }
        // Steps that are made at once are one here: nobody could look in between.
        let due = self.at.is_none_or(|at| self.names.steps() >= at);
        match event {
            Event::MemoryStep(step) if due => self.last = self.names.step(&step.look()),
            Event::Environment(view) if due => {
                self.shown = self.at.is_some();
                let (step, view) = (self.names.steps(), view.look());
                match self.write {
                    Some(write) => {
                        write(&format!("memory after step {step}: {}\n{}", self.last, self.names.environment(&view)));
                    }
                    None => {
                        self.kept.push(self.names.data(&view, step, self.last.clone()));
                    }
                }
            }
            _ => {}
        }
    }

    /// What was kept. Says in text when the step never came.
    pub fn finish(self) -> Vec<Environment> {
        if let (Some(at), Some(write), false) = (self.at, self.write, self.shown) {
            write(&format!("memory after step {at}: the run has only {} steps of memory\n", self.names.steps()));
        }
        self.kept
    }
}
