//! A state space as DOT text: for cases small enough to look at.

use crate::program::flow::dot::{escape, quote};
use std::fmt::Write;

/// What a state is, for its colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Role {
    /// Somebody goes on.
    #[default]
    Inner,
    /// The end: everybody has finished.
    Final,
    /// Nobody can go on, and not everybody has finished.
    Deadlock,
    /// On a fair cycle: a run that never ends.
    Cycle,
}

/// A graph of states being drawn.
#[derive(Default)]
pub struct Drawing {
    nodes: String,
    edges: String,
    count: usize,
}

impl Drawing {
    /// Adds a state, whose label may have several lines; `initial`: runs begin here. Gives its number.
    pub fn node(&mut self, label: &str, role: Role, initial: bool) -> usize {
        let k = self.count;
        let look = match role {
            Role::Inner => "",
            Role::Final => ", peripheries=2",
            Role::Deadlock => ", style=\"rounded,filled\", fillcolor=\"#f4b6b6\"",
            Role::Cycle => ", style=\"rounded,filled\", fillcolor=\"#f4dcb6\"",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(self.nodes, "  s{k} [label=\"{}\"{look}];", lines(label));
        if initial {
            let _ = writeln!(self.nodes, "  start{k} [shape=point];\n  start{k} -> s{k};");
        }
        self.count += 1;
        k
    }

    /// Adds a transition: who goes on, and how; may have several lines.
    pub fn edge(&mut self, from: usize, to: usize, label: &str) {
        let label = if label.is_empty() { String::new() } else { format!(" [label=\"{}\"]", lines(label)) };
        let _ = writeln!(self.edges, "  s{from} -> s{to}{label};");
    }

    /// The graph as a DOT digraph: final states are double circles, deadlocks and fair cycles are filled, an arrow from nowhere
    /// leads to the initial ones.
    #[must_use]
    pub fn finish(self, name: &str) -> String {
        format!(
            "digraph {} {{\n  node [shape=box, style=rounded, fontname=monospace];\n  edge [fontname=monospace];\n{}{}}}\n",
            quote(name),
            self.nodes,
            self.edges
        )
    }
}

/// Lines, each aligned to the left where there are several.
fn lines(text: &str) -> String {
    let end = if text.contains('\n') { "\\l" } else { "" };
    text.lines().map(|line| escape(line) + end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_seen_and_text_is_escaped() {
        let mut drawing = Drawing::default();
        drawing.node("0", Role::Inner, true);
        drawing.node("warp 0\nwarp 1", Role::Cycle, false);
        drawing.node("\"\\\"", Role::Deadlock, false);
        drawing.node("end", Role::Final, false);
        for (from, to, label) in [(0, 1, "w0"), (1, 1, ""), (1, 2, "x\ny"), (1, 3, "")] {
            drawing.edge(from, to, label);
        }
        let text = drawing.finish("a \"b\"");
        let expected = r##"digraph "a \"b\"" {
  node [shape=box, style=rounded, fontname=monospace];
  edge [fontname=monospace];
  s0 [label="0"];
  start0 [shape=point];
  start0 -> s0;
  s1 [label="warp 0\lwarp 1\l", style="rounded,filled", fillcolor="#f4dcb6"];
  s2 [label="\"\\\"", style="rounded,filled", fillcolor="#f4b6b6"];
  s3 [label="end", peripheries=2];
  s0 -> s1 [label="w0"];
  s1 -> s1;
  s1 -> s2 [label="x\ly\l"];
  s1 -> s3;
}
"##;
        assert_eq!(text, expected);
    }
}
