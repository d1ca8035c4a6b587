//! Memory with a life of its own, for people: each step that it makes in a line, and the environment as the report's tables
//! have it (4.2, 4.3, 4.6): operations in flight, lines of caches, locks.

use super::bug::place_in;
use super::stop::lanes;
use crate::base::{Pc, SourceMap};
use crate::program::env::ProgEnv;
use crate::verdict::{
    CacheView, Event, Inside, LaneBytes, LineView, MemoryStep, MemoryView, Named, OperationView, Region, Rule, StepEnd,
    Who,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
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
    pub fn step_json(&self, number: u64, step: &MemoryStep) -> Value {
        let mut value = match step {
            MemoryStep::Operation { operation, from, end } => {
                let mut value = self.operation_json(operation);
                value["from"] = (*from).into();
                value["end"] = ended(*end).into();
                value
            }
            MemoryStep::Silent { rule, processor, line, written } => json!({
                "rule": rule.id(),
                "cache": cache_json(*processor),
                "line": line.map(|(region, base)| self.line(region, base)),
                "written": ranges(*written),
            }),
        };
        value["step"] = number.into();
        value["text"] = self.step(step).into();
        value
    }

    fn operation_json(&self, o: &OperationView) -> Value {
        let region = o.region.unwrap_or(Region::Generic);
        let access = |a: &LaneBytes| {
            json!({
                "lane": a.lane,
                "address": format!("{:#x}", a.address),
                "place": self.address(region, a.address),
                "bytes": a.bytes,
                "value": a.value.map(|v| format!("{v:#x}")),
            })
        };
        json!({
            "launch": o.who.launch, "block": o.who.block, "warp": o.who.warp, "place": o.place,
            "lanes": lanes(o.lanes),
            "processor": o.processor,
            "instruction": self.instruction(o.who, o.pc),
            "operation": o.name,
            "program": if o.line == 0 { Value::Null } else { json!({ "file": o.file, "line": o.line }) },
            "accesses": o.accesses.iter().map(access).collect::<Vec<_>>(),
            "operands": o.operands.iter().map(|v| format!("{v:#x}")).collect::<Vec<_>>(),
            "behind": o.above,
            "waits": o.waits,
        })
    }

    /// The environment for programs.
    pub fn environment_json(&self, view: &MemoryView) -> Value {
        let line = |l: &LineView| {
            json!({
                "set": l.set, "line": l.way,
                "place": self.line(l.region, l.base),
                "base": format!("{:#x}", l.base),
                "valid": ranges(valid(l)), "dirty": ranges(l.dirty), "filling": ranges(l.filling),
                "bytes": words(&l.bytes, ""),
                "pins": l.pins,
                "class": if l.first { "first" } else { "normal" },
            })
        };
        let cache = |c: &CacheView| {
            let [sets, ways, bytes] = c.shape;
            let lines: Vec<Value> = c.lines.iter().map(line).collect();
            json!({ "cache": cache_json(c.processor), "sets": sets, "ways": ways, "line_bytes": bytes, "lines": lines })
        };
        let locked =
            |(processor, banks): &(u32, u64)| json!({ "processor": processor, "banks": ranges(u128::from(*banks)) });
        json!({
            "operations": view.operations.iter().map(|o| self.operation_json(o)).collect::<Vec<_>>(),
            "caches": view.caches.iter().map(cache).collect::<Vec<_>>(),
            "locked": view.locked.iter().map(locked).collect::<Vec<_>>(),
        })
    }
}

fn warp(who: Who) -> String {
    let launch = if who.launch == 0 { String::new() } else { format!("launch {}, ", who.launch) };
    format!("{launch}block {}, warp {}", who.block, who.warp)
}

fn cache(processor: Option<u32>) -> String {
    processor.map_or_else(|| "L2".to_owned(), |sm| format!("the L1 of SM {sm}"))
}

fn cache_json(processor: Option<u32>) -> Value {
    processor.map_or_else(|| json!({ "level": 2 }), |sm| json!({ "level": 1, "processor": sm }))
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
    let runs = crate::memory::fermi::cache::runs(mask);
    let all: Vec<String> = runs
        .map(|run| if run.len() == 1 { run.start.to_string() } else { format!("{}-{}", run.start, run.end - 1) })
        .collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
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
    kept: Vec<Value>,
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
                        let mut value = self.names.environment_json(&view);
                        value["step"] = step.into();
                        value["text"] = self.last.clone().into();
                        self.kept.push(value);
                    }
                }
            }
            _ => {}
        }
    }

    /// What was kept. Says in text when the step never came.
    pub fn finish(self) -> Vec<Value> {
        if let (Some(at), Some(write), false) = (self.at, self.write, self.shown) {
            write(&format!("memory after step {at}: the run has only {} steps of memory\n", self.names.steps()));
        }
        self.kept
    }
}
