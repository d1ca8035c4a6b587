//! Executions of litmus tests as DOT text.

use super::data::{Edge, EventKind, LitmusEvent, LitmusExecution};
use super::kernel::place;
use crate::program::flow::dot::quote;
use std::fmt::Write;

/// How relations look: name and attributes; those not named are dotted.
const LOOKS: &[(&str, &str)] = &[
    ("po", "color=gray40, fontcolor=gray40"),
    ("parts", "color=gray70, fontcolor=gray70, style=dotted, dir=none"),
    ("rf", "color=forestgreen, fontcolor=forestgreen"),
    ("co", "color=blue, fontcolor=blue, style=dashed"),
    ("fr", "color=red, fontcolor=red"),
    ("sync_fence", "color=purple, fontcolor=purple, style=dotted"),
];

fn look(name: &str) -> &'static str {
    let found = LOOKS.iter().find(|(known, _)| *known == name);
    found.map_or("color=darkorange3, fontcolor=darkorange3, style=dotted", |(_, look)| look)
}

/// An event's label: its number, kind and sets, then what it accesses.
fn label(event: &LitmusEvent) -> String {
    let kind = match event.kind {
        EventKind::Read => "R",
        EventKind::Write => "W",
        EventKind::Fence => "F",
        EventKind::Barrier => "B",
        EventKind::Other => "",
    };
    let mut words = vec![format!("{}:", event.number), kind.to_owned()];
    if event.thread.is_some() {
        // That an event has the generic path is the rule; its kind, and that it is half of an atomic operation, is seen.
        words.extend(
            event
                .tags
                .iter()
                .filter(|tag| !["GEN", "RMW", "R", "W", "M", "F"].contains(*tag))
                .map(|tag| (*tag).to_owned()),
        );
    }
    words.push(event.content());
    words.retain(|word| !word.is_empty());
    let what = words.join(" ");
    match (&event.instruction, event.spot.and(event.line)) {
        (Some(instruction), Some(line)) => {
            format!("{what}\n{instruction}\nline {}", place(line, event.cuda.as_ref()))
        }
        _ => what,
    }
}

impl LitmusExecution {
    /// It as a picture: a cluster for each thread in program order; rf is green, co blue and dashed, fr red. `bold`: edges that decide.
    #[must_use]
    pub fn dot(&self, name: &str, bold: &[Edge]) -> String {
        // Writing to a string cannot fail.
        let mut out = format!("digraph {} {{\n  label={};\n", quote(name), quote(name));
        out.push_str("  labelloc=t;\n  fontname=monospace;\n  node [shape=plaintext, fontname=monospace];\n  edge [fontname=monospace];\n");
        let flagged: Vec<usize> = self.flags.iter().flat_map(|flag| flag.events.iter().copied()).collect();
        let mut threads: Vec<Option<u32>> = self.shown().map(|event| event.thread).collect();
        threads.dedup();
        let mut edges = String::new();
        let both = |from: usize, to: usize| !self.events[from].aside && !self.events[to].aside;
        for thread in threads {
            let inside: Vec<&LitmusEvent> = self.shown().filter(|event| event.thread == thread).collect();
            let title = inside[0].whose();
            let _ = writeln!(out, "  subgraph {} {{\n    label={};", quote(&format!("cluster_{title}")), quote(&title));
            out.push_str(if thread.is_none() { "    style=dashed;\n" } else { "    style=rounded;\n" });
            for event in &inside {
                let heavy = if flagged.contains(&event.number) { ", shape=box, penwidth=3" } else { "" };
                let _ = writeln!(out, "    e{} [label={}{heavy}];", event.number, quote(&label(event)));
            }
            out.push_str("  }\n");
            let program_order = inside.windows(2).filter(|_| thread.is_some());
            for pair in program_order {
                let name = if pair[1].continues() { "parts" } else { "po" };
                edge(&mut edges, (pair[0].number, pair[1].number, name), bold);
            }
        }
        for (pairs, name) in [(&self.rf, "rf"), (&self.co, "co"), (&self.fr, "fr")] {
            let all = pairs.iter().filter(|[from, to]| both(*from, *to));
            all.for_each(|[from, to]| edge(&mut edges, (*from, *to, name), bold));
        }
        self.edges.iter().filter(|e| both(e.from, e.to)).for_each(|e| edge(&mut edges, (e.from, e.to, &e.name), bold));
        // What decides may be a pair that is not drawn otherwise: one of program order with something between, say.
        let drawn =
            |edge: &Edge| edges.contains(&format!("e{} -> e{} [label={},", edge.from, edge.to, quote(&edge.name)));
        let missing: Vec<&Edge> = bold.iter().filter(|e| !drawn(e) && both(e.from, e.to)).collect();
        missing.iter().for_each(|e| edge(&mut edges, (e.from, e.to, &e.name), bold));
        let _ = writeln!(out, "{edges}}}");
        out
    }
}

fn edge(out: &mut String, (from, to, name): (usize, usize, &str), bold: &[Edge]) {
    let heavy = bold.iter().any(|edge| (edge.from, edge.to, &*edge.name) == (from, to, name));
    let heavy = if heavy { ", penwidth=3" } else { "" };
    // Threads stand side by side: only program order says what is above.
    let free = if matches!(name, "po" | "parts") { "" } else { ", constraint=false" };
    let _ = writeln!(out, "  e{from} -> e{to} [label={}, {}{heavy}{free}];", quote(name), look(name));
}
