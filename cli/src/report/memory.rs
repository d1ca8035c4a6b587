//! Memory with a life of its own, for people: each step that it makes in a line, and the environment as the report's tables
//! have it (4.2, 4.3, 4.6): operations in flight, lines of caches, locks; and the same as data.

use super::launches::Launches;
use super::words::{counted, lanes, listed, place_in, word};
use crate::verdict::{
    CacheView, Event, Inside, LaneBytes, LineView, LockView, MarkView, MemoryStep, MemoryView, OperationView, Region,
    Rule, StepEnd, WhichCache, Who,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::LowerHex;

impl Launches {
    /// What an address is called: a buffer or variable and the distance from its start, or the number.
    fn address(&self, region: Region, address: u64) -> String {
        let named = || Inside::of(self.names(), address).and_then(|inside| place_in(&inside));
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
            Region::Local(who) => format!("local memory of {}, interleaved byte {base}", warp_of(who)),
            _ => self.address(region, base),
        }
    }

    /// A step in one line.
    pub fn step(&self, step: &MemoryStep) -> String {
        match step {
            MemoryStep::Operation { operation, from, end } => {
                let OperationView { processor, file, line, .. } = operation;
                let lines = match from {
                    0 => String::new(),
                    from if from == line || *end == StepEnd::Ends => format!(", {file}:{from}"),
                    from => format!(", {file}:{from} up to {line}"),
                };
                format!("{}, SM {processor}{lines}: {}", self.operation(operation).text(2), word(end))
            }
            MemoryStep::Silent { rule, cache, line, written } => {
                let line = line.map(|(region, base)| format!("the line at {}", self.line(region, base)));
                let line = line.unwrap_or_else(|| "all global lines".to_owned());
                let (cache, written) = (Level::of(*cache).name(), ranges(*written));
                let what = match rule {
                    Rule::MWbL1 => format!("bytes {written} of {line} are written back from {cache} to L2"),
                    Rule::MWbL2 => format!("bytes {written} of {line} are written back from {cache} to memory"),
                    Rule::MFlush => format!("{line} that nobody pins leave {cache}"),
                    Rule::RspEnvFlushL1 => format!("bytes {written} of {line} are flushed from {cache}"),
                    Rule::RspEnvFetchL1 => format!("bytes {written} of {line} are fetched into {cache}"),
                    _ => format!("{line} leaves {cache}"),
                };
                format!("{}: {what}", rule.id())
            }
        }
    }

    /// The last step, for programs.
    pub fn step_data(&self, step: &MemoryStep) -> Value {
        let mut data = match step {
            MemoryStep::Operation { operation, from, end } => {
                let mut data = json!(self.operation(operation));
                data["from"] = (*from).into();
                data["end"] = json!(end);
                data
            }
            MemoryStep::Silent { rule, cache, line, written } => {
                let line = line.map(|(region, base)| self.line(region, base));
                json!({ "rule": rule, "cache": Level::of(*cache), "line": line, "written": ranges(*written) })
            }
        };
        data["step"] = self.steps.into();
        data["text"] = self.step(step).into();
        data
    }

    fn operation(&self, o: &OperationView) -> Operation {
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
            alone: o.lanes.count_ones() == 1,
            behind: o.above,
            waits: o.waits,
        }
    }

    fn fifo(&self, block: u64, marks: &[MarkView]) -> Fifo {
        let mark = |mark: &MarkView| match mark {
            MarkView::Written(base, bytes) => {
                format!("bytes {} of the line at {}", ranges(*bytes), self.line(Region::Global, *base))
            }
            MarkView::Flush(who, lane) => format!("flush marker of lane {lane} of {}", warp_of(*who)),
        };
        Fifo { block, marks: marks.iter().map(mark).collect() }
    }

    fn lock(&self, (lock, who, lane): &(LockView, Who, u32)) -> HeldLock {
        let lock = match lock {
            LockView::Updates(block) => format!("read-modify-writes of block {block}"),
            LockView::Unit(base) => format!("the line at {}", self.line(Region::Global, *base)),
        };
        HeldLock { lock, by: format!("lane {lane} of {}", warp_of(*who)) }
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
            bytes: l.bytes.iter().map(|byte| byte.map_or_else(|| "..".to_owned(), |b| format!("{b:02x}"))).collect(),
            pins: l.pins.clone(),
            class: if l.first { "first" } else { "normal" },
        };
        let cache = |c: &CacheView| {
            let [sets, ways, line_bytes] = c.shape;
            Cache { cache: Level::of(c.cache), sets, ways, line_bytes, lines: c.lines.iter().map(line).collect() }
        };
        let locked = |&(processor, banks): &(u32, u64)| Locked { processor, banks: ranges(banks.into()) };
        let owned = |(who, entry): &(Who, u32)| Owned { warp: warp_of(*who), entry: *entry };
        Environment {
            operations: view.operations.iter().map(|o| self.operation(o)).collect(),
            caches: view.caches.iter().map(cache).collect(),
            locked: view.locked.iter().map(locked).collect(),
            mutexes: view.mutexes.iter().map(owned).collect(),
            fifos: view.fifos.iter().map(|(block, marks)| self.fifo(*block, marks)).collect(),
            locks: view.locks.iter().map(|lock| self.lock(lock)).collect(),
            step,
            text,
        }
    }
}

/// The memory environment after a step of memory (`--show memory`). Masks are ranges, e.g. "0-3, 8", or "none".
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// The operations in flight.
    operations: Vec<Operation>,
    /// The caches that have lines in use.
    caches: Vec<Cache>,
    /// The multiprocessors with locked banks of shared memory.
    locked: Vec<Locked>,
    /// The mutexes that warps have. Only with `--memory lsc-mutex`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mutexes: Vec<Owned>,
    /// The synchronisation fifos that are not empty. Only with `--memory rsp`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fifos: Vec<Fifo>,
    /// The locks of remote accesses that somebody has. Only with `--memory rsp`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locks: Vec<HeldLock>,
    /// The step of memory after which it is like this, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    step: u64,
    /// That step, in words.
    text: String,
}

impl Environment {
    /// The same as tables.
    fn tables(&self) -> String {
        let mut out = String::new();
        for (k, o) in self.operations.iter().enumerate() {
            let at = o.program.as_ref().map_or_else(String::new, |p| format!(", {}:{}", p.file, p.line));
            let state = match (o.behind, o.waits) {
                (0, false) => String::new(),
                (0, true) => ", waits".to_owned(),
                (n, _) => format!(", behind {n} earlier"),
            };
            out += &format!("  operation {k}: SM {}, {}{at}{state}\n", o.processor, o.text(usize::MAX));
        }
        for Cache { cache, sets, ways, line_bytes, lines } in &self.caches {
            out += &format!("  {}: {sets} sets of {ways} lines of {line_bytes} bytes\n", cache.name());
            out.extend(lines.iter().map(Line::text));
        }
        for Locked { processor, banks } in &self.locked {
            out += &format!("  banks of shared memory locked on SM {processor}: {banks}\n");
        }
        for Owned { warp, entry } in &self.mutexes {
            out += &format!("  mutex {entry}: {warp}\n");
        }
        for Fifo { block, marks } in &self.fifos {
            out += &format!("  fifo of block {block}: {}\n", marks.join("; "));
        }
        for HeldLock { lock, by } in &self.locks {
            out += &format!("  lock of {lock}: {by}\n");
        }
        if out.is_empty() { "  nothing is in flight, cached or locked\n".to_owned() } else { out }
    }
}

/// A mutex that somebody has.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Owned {
    /// The warp.
    warp: String,
    /// The entry of the pool.
    entry: u32,
}

/// The synchronisation fifo of a block's cache.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Fifo {
    block: u64,
    /// What is in it, in words; what leaves first comes first.
    marks: Vec<String>,
}

/// A lock of remote accesses.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct HeldLock {
    /// Of what.
    lock: String,
    /// The thread that has it.
    by: String,
}

/// An operation in flight.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Whether one lane executes it, whose accesses need not name it.
    #[serde(skip)]
    alone: bool,
    /// Earlier operations that it waits for.
    behind: u32,
    waits: bool,
}

impl Operation {
    /// What it is and accesses; at most `most` lanes of it.
    fn text(&self, most: usize) -> String {
        let Self { launch, block, warp, lanes, instruction, operation, accesses, .. } = self;
        let warp = warp_of(Who { launch: *launch, block: *block, warp: *warp });
        let mut text = format!("{warp}, {lanes}, {instruction}: {operation}");
        let shown = listed(accesses, most, |a| a.text(self.alone), |n| format!("and {n} more"));
        if !shown.is_empty() {
            text += &format!(", {}", shown.join("; "));
        }
        if !self.operands.is_empty() {
            text += &format!("; operands {}", self.operands.join(", "));
        }
        text
    }
}

/// A statement of a memory program.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Statement {
    file: String,
    line: u32,
}

/// What a lane accesses.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Bytes {
    lane: u32,
    address: String,
    /// The buffer or variable and the distance from its start, or the address.
    place: String,
    bytes: u32,
    /// What is written, or has been read by now.
    value: Option<String>,
}

impl Bytes {
    fn text(&self, alone: bool) -> String {
        let value = self.value.as_ref().map_or_else(String::new, |v| format!(" = {v}"));
        let lane = if alone { String::new() } else { format!("lane {}: ", self.lane) };
        format!("{lane}{} at {}{value}", counted(self.bytes.into(), "byte"), self.place)
    }
}

/// A cache.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Cache {
    cache: Level,
    sets: u32,
    ways: u32,
    line_bytes: u32,
    lines: Vec<Line>,
}

/// Which cache: the L2, or the L1 of a multiprocessor or of a block.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Level {
    #[cfg_attr(feature = "schema", schemars(extend("enum" = [1, 2])))]
    level: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    processor: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u64>,
}

impl Level {
    const fn of(cache: WhichCache) -> Self {
        match cache {
            WhichCache::L2 => Self { level: 2, processor: None, block: None },
            WhichCache::Processor(sm) => Self { level: 1, processor: Some(sm), block: None },
            WhichCache::Block(block) => Self { level: 1, processor: None, block: Some(block) },
        }
    }

    fn name(&self) -> String {
        match (self.processor, self.block) {
            (Some(sm), _) => format!("the L1 of SM {sm}"),
            (_, Some(block)) => format!("the L1 of block {block}"),
            _ => "L2".to_owned(),
        }
    }
}

/// A line of a cache.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["first", "normal"])))]
    class: &'static str,
}

impl Line {
    fn text(&self) -> String {
        let Self { set, line, place, .. } = self;
        let mut facts = vec![format!("valid {}", self.valid)];
        for (bytes, what) in [(&self.dirty, "dirty"), (&self.filling, "being fetched")] {
            if bytes != NONE {
                facts.push(format!("{what} {bytes}"));
            }
        }
        if !self.pins.is_empty() {
            let pins: Vec<String> = self.pins.iter().map(usize::to_string).collect();
            facts.push(format!("pinned by operation {}", pins.join(", ")));
        }
        if self.class == "first" {
            facts.push("evicted first".to_owned());
        }
        let digits: Vec<char> = self.bytes.chars().collect();
        let words: Vec<String> = digits.chunks(8).map(|word| word.iter().collect()).collect();
        format!("    set {set}, line {line}: {place}: {}\n      {}\n", facts.join("; "), words.join(" "))
    }
}

/// Locked banks of a multiprocessor's shared memory.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Locked {
    processor: u32,
    banks: String,
}

fn hex(number: impl LowerHex) -> String {
    format!("{number:#x}")
}

fn warp_of(who: Who) -> String {
    let launch = if who.launch == 0 { String::new() } else { format!("launch {}, ", who.launch) };
    format!("{launch}block {}, warp {}", who.block, who.warp)
}

fn valid(line: &LineView) -> u128 {
    (0..128).zip(&line.bytes).filter(|(_, byte)| byte.is_some()).fold(0, |mask, (k, _)| mask | 1 << k)
}

/// The ranges of no bits.
const NONE: &str = "none";

/// The set bits of a mask as ranges: `0-3, 8`.
fn ranges(mask: u128) -> String {
    if mask == 0 { NONE.to_owned() } else { super::words::ranges((0..128).filter(|bit| mask >> bit & 1 != 0)) }
}

/// Shows the environment after steps of memory (`--show memory`).
pub struct MemoryShow {
    launches: Launches,
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
    /// Of the launches of a run, from its beginning; after step `at`, or after each. `write` takes text; without it what is
    /// shown is kept for [`MemoryShow::finish`].
    #[must_use]
    pub const fn new(launches: Launches, at: Option<u64>, write: Option<fn(&str)>) -> Self {
        Self { launches, at, shown: false, last: String::new(), write, kept: Vec::new() }
    }

    /// Takes note of an event.
    pub fn event(&mut self, who: Who, event: &Event<'_>) {
        self.launches.event(who, event);
        if self.shown {
            return;
        }
        // Steps that are made at once are one here: nobody could look in between.
        let due = self.at.is_none_or(|at| self.launches.steps >= at);
        match event {
            Event::MemoryStep(step) if due => self.last = self.launches.step(&step.look()),
            Event::Environment(view) if due => {
                self.shown = self.at.is_some();
                let step = self.launches.steps;
                let environment = self.launches.data(&view.look(), step, self.last.clone());
                match self.write {
                    Some(write) => write(&format!("memory after step {step}: {}\n{}", self.last, environment.tables())),
                    None => self.kept.push(environment),
                }
            }
            _ => {}
        }
    }

    /// What was kept. Says in text when the step never came.
    pub fn finish(self) -> Vec<Environment> {
        if let (Some(at), Some(write), false) = (self.at, self.write, self.shown) {
            write(&format!("memory after step {at}: the run has only {} steps of memory\n", self.launches.steps));
        }
        self.kept
    }
}
