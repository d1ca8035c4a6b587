//! A run as a timeline (`--trace`): a file in the Trace Event Format, which ui.perfetto.dev loads.
//!
//! A group of tracks stands for a multiprocessor, with a track for each warp of the blocks that it holds and for each
//! barrier that they use; a group for the device has the host's messages, the oracle's choices and the silent rules of
//! memory. Time is counted in warp instructions of the whole device: they are executed one after another, so that a slice
//! of one unit shows whose turn it was. Arrows lead from each arrival at a barrier to where the warp goes on.

mod writer;

use self::writer::{Track, Writer};
use super::launches::Launches;
use super::rules::message;
use super::words::{lanes, word};
use crate::base::{Pc, SourceMap, lanes_of};
use crate::check::rules_of;
use crate::choice::{Decision, Decisions};
use crate::program::env::ProgEnv;
use crate::verdict::{Access, Arrive, Event, MemoryStep, Rule, Sink, Step, StepEnd, Stop, Who};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::rc::Rc;

/// Viewers take process 0 for an idle one.
const DEVICE: u32 = 1;
/// The group of multiprocessor 0.
const PROCESSORS: u32 = 2;
const HOST: Track = Track { pid: DEVICE, tid: 1 };
const CHOICES: Track = Track { pid: DEVICE, tid: 2 };
const MEMORY: Track = Track { pid: DEVICE, tid: 3 };
/// The first track of a warp or barrier.
const FIRST: u32 = 4;

/// A barrier of a block: the launch, the block, the number.
type Barrier = (u32, u64, u32);

/// A slice that is still being described: accesses follow their instruction.
struct Slice {
    track: Track,
    name: Rc<str>,
    /// The members of an object of JSON.
    args: String,
    /// What the last access did.
    memory: Option<String>,
    /// Arrows that end here.
    arrows: Vec<u64>,
}

/// What an instruction is called: a string of JSON, and members of an object, without braces.
type Called = (Rc<str>, Rc<str>);

/// Writes a run as a timeline.
pub struct Timeline<'a, W: Write> {
    decisions: &'a Decisions,
    /// Whether rules are shown.
    rules: bool,
    out: Writer<W>,
    /// Warp instructions so far.
    clock: u64,
    /// The time of what happens now: that of the last instruction, or later.
    now: u64,
    choices: u64,
    slice: Option<Slice>,
    /// What instructions are called: finding a line in the text for every step would take most of the time.
    texts: FxHashMap<(u32, Pc), Called>,
    /// What addresses and instructions are called in steps of memory.
    launches: Launches,
    /// The multiprocessors that have a name.
    named: BTreeSet<u32>,
    /// The multiprocessor of each block.
    processors: BTreeMap<(u32, u64), u32>,
    /// The tracks of warps and barriers: the launch, the block, which of the two, the number.
    tracks: BTreeMap<(u32, u64, &'static str, u32), Track>,
    /// Barriers that somebody has arrived at, and the arrows from there to the warps that wait.
    open: BTreeMap<Barrier, Vec<(Who, u64)>>,
    /// Arrows that end at the warp's next instruction.
    arrows: BTreeMap<Who, Vec<u64>>,
    next_track: u32,
    next_arrow: u64,
}

impl<'a, W: Write> Timeline<'a, W> {
    /// A timeline of the launches of a run, from its beginning. `decisions` is told by the oracle of the run. `out` is the
    /// file, and how many bytes it gets, about; what is left out then is said there.
    #[must_use]
    pub fn new(launches: Launches, decisions: &'a Decisions, rules: bool, (out, most): (W, u64)) -> Self {
        let mut out = Writer::new(out, most);
        out.name_process(DEVICE, "device");
        for (track, name) in [(HOST, "host"), (CHOICES, "choices"), (MEMORY, "memory")] {
            out.name_thread(track, name);
        }
        Self {
            launches,
            decisions,
            rules,
            out,
            clock: 0,
            now: 0,
            choices: 0,
            slice: None,
            texts: FxHashMap::default(),
            named: BTreeSet::new(),
            processors: BTreeMap::new(),
            tracks: BTreeMap::new(),
            open: BTreeMap::new(),
            arrows: BTreeMap::new(),
            next_track: FIRST,
            next_arrow: 0,
        }
    }

    /// Ends the timeline; `stop` says why the run ended early. Gives the file back, and whether it was cut.
    ///
    /// # Errors
    /// What went wrong first when the file was written.
    pub fn finish(mut self, stop: Option<&Stop>) -> io::Result<(W, bool)> {
        self.flush();
        self.choose();
        self.now = self.clock;
        self.abandon(|_| true);
        if let Some(stop) = stop {
            self.out.instant(HOST, &format!("stopped: {}", stop.kind().id()), "stop", self.now, json!({}));
        }
        self.out.finish()
    }

    /// Ends barriers that nobody will release any more.
    fn abandon(&mut self, which: impl Fn(&Barrier) -> bool) {
        let all: Vec<Barrier> = self.open.keys().copied().filter(which).collect();
        for barrier in all {
            self.open.remove(&barrier);
            let track = self.barrier(barrier);
            self.out.end(track, "barrier", "barrier", self.now, json!({ "released": false }));
        }
    }

    /// The track of a warp or barrier, which begins when it is asked for first.
    fn track(&mut self, launch: u32, block: u64, what: &'static str, number: u32) -> Track {
        if let Some(track) = self.tracks.get(&(launch, block, what, number)) {
            return *track;
        }
        let processor = self.processors.get(&(launch, block)).copied().unwrap_or(0);
        let track = Track { pid: processor.saturating_add(PROCESSORS), tid: self.next_track };
        self.next_track += 1;
        self.out.name_thread(track, &format!("grid {launch} block {block} {what} {number}"));
        self.tracks.insert((launch, block, what, number), track);
        track
    }

    fn warp(&mut self, who: Who) -> Track {
        self.track(who.launch, who.block, "warp", who.warp)
    }

    fn barrier(&mut self, (launch, block, number): Barrier) -> Track {
        self.track(launch, block, "barrier", number)
    }

    /// Writes the slice that is complete now.
    fn flush(&mut self) {
        let Some(Slice { track, name, mut args, memory, arrows }) = self.slice.take() else { return };
        if let Some(memory) = memory {
            args = args + r#","memory":""# + &memory + "\"";
        }
        self.out.instruction(track, &name, self.now, &args);
        for id in arrows {
            self.out.flow("f", track, "barrier", self.now, id);
        }
    }

    /// Shows what the oracle has decided since the last event.
    fn choose(&mut self) {
        for (Decision { what, lease }, arity) in self.decisions.take() {
            self.now = self.clock;
            let args = json!({ "number": self.choices, "alternatives": arity, "lease": lease });
            self.out.instant(CHOICES, &what.to_string(), "choice", self.now, args);
            self.choices += 1;
        }
    }

    fn step(&mut self, who: Who, step: &Step<'_>) {
        let Some(launched) = self.launches.get(who) else { return };
        let (program, env) = (launched.program, &launched.env);
        if launched.place(step.pc).is_some() {
            let track = self.warp(who);
            self.now = self.clock;
            self.clock += 1;
            let describe = || called(env, &self.launches.sources, step.pc);
            let (name, of_all) = self.texts.entry((program, step.pc)).or_insert_with(describe).clone();
            let mut args = format!(r#"{of_all},"lanes":"{}""#, lanes(step.lanes));
            if step.active != step.lanes {
                args = args + r#","guarded off":""# + &lanes(step.active & !step.lanes) + "\"";
            }
            if step.depth > 0 {
                args = args + r#","call depth":"# + &step.depth.to_string();
            }
            let arrows = self.arrows.remove(&who).unwrap_or_default();
            self.slice = Some(Slice { track, name, args, memory: None, arrows });
        }
        if self.rules {
            rules_of(env, launched.tokens, step, |rule| self.rule(who, rule));
        }
    }

    fn access(&mut self, who: Who, access: &Access<'_>) {
        let all = || lanes_of(access.lanes).map(|lane| access.addresses[lane]);
        let (low, high) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        let what = word(access.kind);
        let text = format!("{what} of {} bytes at {low:#x} to {:#x}", access.bytes, high + u64::from(access.bytes));
        match &mut self.slice {
            Some(slice) => slice.memory = Some(text),
            None => {
                let track = self.warp(who);
                self.out.instant(track, &what, "memory", self.now, json!({ "memory": text }));
            }
        }
    }

    fn rule(&mut self, who: Who, rule: Rule) {
        let id = rule.id();
        let level = id.split('.').next().unwrap_or(id);
        // Steps of memory are told by events of their own.
        if !self.rules || level == "m" {
            return;
        }
        self.flush();
        let track = match level {
            "device" | "dio" | "cio" | "context" | "grid" | "block" => HOST,
            _ => self.warp(who),
        };
        self.out.instant(track, id, "rule", self.now, json!({}));
    }

    /// A step of memory. It is no instruction: without it a timeline would have holes.
    fn memory(&mut self, who: Who, step: &MemoryStep) {
        let (track, rule) = match step {
            MemoryStep::Operation { end: StepEnd::Ends, .. } => (self.warp(who), Rule::MEnd),
            MemoryStep::Operation { .. } => (self.warp(who), Rule::MStep),
            MemoryStep::Silent { rule, .. } => (MEMORY, *rule),
        };
        let args = self.launches.step_data(step);
        self.out.instant(track, rule.id(), "memory", self.now, args);
    }

    fn arrive(&mut self, who: Who, arrive: &Arrive) {
        let key = (who.launch, who.block, arrive.id);
        let (warp, barrier) = (self.warp(who), self.barrier(key));
        if !self.open.contains_key(&key) {
            self.out.begin(barrier, "barrier", "barrier", self.now, json!({ "first": format!("warp {}", who.warp) }));
        }
        let waiting = self.open.entry(key).or_default();
        if arrive.waits {
            let id = self.next_arrow;
            self.next_arrow += 1;
            waiting.push((who, id));
            self.out.flow("s", warp, "barrier", self.now, id);
            self.out.flow("t", barrier, "barrier", self.now, id);
        }
    }

    fn released(&mut self, who: Who, id: u32) {
        let key = (who.launch, who.block, id);
        let Some(waiting) = self.open.remove(&key) else { return };
        self.now = self.clock;
        let track = self.barrier(key);
        self.out.end(track, "barrier", "barrier", self.now, json!({ "released": true }));
        for (who, arrow) in waiting {
            self.arrows.entry(who).or_default().push(arrow);
        }
    }

    fn survivor(&mut self, who: Who, pc: Pc, all: u32, winner: u32) {
        let track = self.warp(who);
        let place = self.launches.get(who).map(|l| describe(&l.env, &self.launches.sources, pc).0);
        let args = json!({ "instruction": place, "lanes": lanes(all) });
        self.out.instant(track, &format!("lane {winner} writes last"), "memory", self.now, args);
    }
}

/// An instruction's name, and what there is to know of it whoever executes it.
fn describe(env: &ProgEnv, sources: &SourceMap, pc: Pc) -> (String, Map<String, Value>) {
    let place = env.place(pc);
    let source = place.and_then(|(file, span)| Some((sources.get(file)?, span)));
    let words = place.map_or_else(String::new, |(file, span)| sources.words(file, span));
    let line = source.map_or(0, |(s, span)| s.line_col(span.start).0);
    let mut args = Map::new();
    args.insert("file".to_owned(), source.map(|(s, _)| s.name.as_str()).into());
    args.insert("line".to_owned(), line.into());
    if let Some((file, loc)) = env.cuda(pc) {
        args.insert("cuda".to_owned(), format!("{file}:{}", loc.line).into());
    }
    (format!("{line}: {words}"), args)
}

/// The same as JSON.
fn called(env: &ProgEnv, sources: &SourceMap, pc: Pc) -> Called {
    let (name, args) = describe(env, sources, pc);
    let object = Value::Object(args).to_string();
    let members = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    (Value::from(name).to_string().into(), members.into())
}

impl<W: Write> Sink for Timeline<'_, W> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        if self.out.failed() {
            return Ok(());
        }
        if let Event::Access(access) = event {
            self.access(who, access);
            return Ok(());
        }
        self.flush();
        self.choose();
        self.launches.event(who, &event);
        match event {
            Event::Launch { .. } => {
                self.out.instant(HOST, &format!("grid {} begins", who.launch), "host", self.now, json!({}));
            }
            Event::Block { processor } => {
                if self.named.insert(processor) {
                    self.out.name_process(processor.saturating_add(PROCESSORS), &format!("SM {processor}"));
                }
                self.processors.insert((who.launch, who.block), processor);
            }
            Event::Step(step) => self.step(who, &step),
            Event::Fired(rule) => self.rule(who, rule),
            Event::Arrive(arrive) => self.arrive(who, &arrive),
            Event::Released(id) => self.released(who, id),
            Event::Survivor { pc, lanes, winner } => self.survivor(who, pc, lanes, winner),
            Event::Alloc { address, bytes, .. } => {
                let (track, args) = (self.warp(who), json!({ "address": format!("{address:#x}"), "bytes": bytes }));
                self.out.instant(track, "malloc or free", "memory", self.now, args);
            }
            Event::Message(m) => self.out.instant(HOST, &message(m), "host", self.now, json!({})),
            Event::BlockDone => {
                self.now = self.clock;
                self.abandon(|key| (key.0, key.1) == (who.launch, who.block));
                self.processors.remove(&(who.launch, who.block));
                self.tracks.retain(|key, _| (key.0, key.1) != (who.launch, who.block));
                self.arrows.retain(|w, _| (w.launch, w.block) != (who.launch, who.block));
            }
            Event::Repeated => self.out.instant(HOST, "the state repeats", "host", self.now, json!({})),
            Event::MemoryStep(step) => self.memory(who, &step.look()),
            // Seen by the instruction that does it, or of no account for a reader.
            Event::Access(_) | Event::Enter(_) | Event::Exchange(_) | Event::Memory | Event::Passed { .. } => {}
            Event::Environment(_)
            | Event::Remembered
            | Event::Performed(_)
            | Event::Landed { .. }
            | Event::Traffic(_) => {}
        }
        Ok(())
    }
}
