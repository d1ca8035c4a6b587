//! The rules of a run, one a line, in the order in which they fire (`--rules`): to be laid beside the report.
//!
//! An instruction is a line of its own, indented, before the rules that execute it. A message between the host and the
//! device is a line that begins with `--`.

use super::launches::Launches;
use crate::check::rules_of;
use crate::verdict::{Event, MemoryStep, Message, Region, Rule, Sink, Step, Stop, WhichCache, Who};

/// Writes a run's rules.
pub struct RuleTrace {
    launches: Launches,
    write: fn(&str),
}

impl RuleTrace {
    /// A trace of the launches of a run, from its beginning. `write` takes whole lines.
    #[must_use]
    pub const fn new(launches: Launches, write: fn(&str)) -> Self {
        Self { launches, write }
    }

    fn rule(&mut self, who: Who, rule: Rule) {
        let id = rule.id();
        let place = match id.split('.').next() {
            Some("device" | "dio" | "cio") => String::new(),
            Some("grid" | "context") => format!("grid {}", who.launch),
            Some("block") => format!("grid {} block {}", who.launch, who.block),
            _ => format!("grid {} block {} warp {}", who.launch, who.block, who.warp),
        };
        (self.write)(format!("{id:<20} {place}").trim_end());
    }

    fn step(&mut self, who: Who, step: &Step<'_>) {
        let Some(launched) = self.launches.get(who) else { return };
        if let Some((file, span)) = launched.place(step.pc) {
            let line = self.launches.sources.get(file).map_or(0, |s| s.line_col(span.start).0);
            let words = self.launches.sources.words(file, span);
            (self.write)(&format!("    line {line}: {words}    lanes {:x} of {:x}", step.lanes, step.active));
        }
        let mut fired = Vec::new();
        rules_of(&launched.env, launched.tokens, step, |rule| fired.push(rule));
        fired.into_iter().for_each(|rule| self.rule(who, rule));
    }
}

/// Which line of which cache a silent rule acts on.
fn cache(cache: WhichCache, line: Option<(Region, u64)>) -> String {
    let level = match cache {
        WhichCache::L2 => "L2".to_owned(),
        WhichCache::Processor(sm) => format!("multiprocessor {sm}, L1"),
        WhichCache::Block(block) => format!("block {block}, L1"),
    };
    let region = |region| match region {
        Region::Local(Who { launch, block, warp }) => format!("local of grid {launch} block {block} warp {warp},"),
        Region::Const => "const".to_owned(),
        Region::Param => "param".to_owned(),
        Region::Shared => "shared".to_owned(),
        Region::Generic | Region::Global => "global".to_owned(),
    };
    match line {
        Some((of, address)) => format!("{level}, line {} {address:#x}", region(of)),
        None => level,
    }
}

/// A message, and what becomes of it.
pub(super) fn message(message: Message) -> String {
    match message {
        Message::Create(c) => format!("create: context {c} is made"),
        Message::Destroy(c) => format!("destroy: context {c} is gone"),
        Message::Load(p, c) => format!("load: program {p} of context {c} is loaded"),
        Message::ToContext(c) => format!("a message for context {c}"),
        Message::FromContext(c) => format!("a message from context {c}"),
        Message::Start(g, c) => format!("start: grid {g} of context {c} is made"),
        Message::Abort(g, c) => format!("abort: grid {g} of context {c} is removed"),
        Message::Complete(g, c) => format!("grid {g} of context {c} is complete and removed"),
        Message::Created(c) => format!("to the host: created {c}"),
        Message::Loaded(p, c) => format!("to the host: loaded {p} {c}"),
        Message::Started(g, c) => format!("to the host: started {g}, by context {c}"),
        Message::Completed(g, c) => format!("to the host: completed {g}, by context {c}"),
    }
}

impl Sink for RuleTrace {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self.launches.event(who, &event);
        match event {
            Event::Step(step) => self.step(who, &step),
            // Told with what it acts on, by the event that follows.
            Event::Fired(Rule::MEvictL1 | Rule::MEvictL2 | Rule::MWbL1 | Rule::MWbL2 | Rule::MFlush) => {}
            Event::Fired(rule) => self.rule(who, rule),
            Event::MemoryStep(step) => {
                if let MemoryStep::Silent { rule, cache: which, line, .. } = step.look() {
                    (self.write)(&format!("{:<20} {}", rule.id(), cache(which, line)));
                }
            }
            Event::Message(m) => (self.write)(&format!("-- {}", message(m))),
            _ => {}
        }
        Ok(())
    }
}
