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

/// A state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// What is told of it; may have several lines.
    pub label: String,
    /// What it is.
    pub role: Role,
    /// Whether runs begin here.
    pub initial: bool,
}

/// A transition between two states, which are indices of nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// Who goes on, and how; may have several lines.
    pub label: String,
}

/// A graph of states as a DOT digraph: final states are double circles, deadlocks and fair cycles are filled, an arrow from
/// nowhere leads to the initial ones.
#[must_use]
pub fn dot(name: &str, nodes: &[Node], edges: &[Edge]) -> String {
    let mut out = format!("digraph {} {{\n", quote(name));
    out.push_str("  node [shape=box, style=rounded, fontname=monospace];\n  edge [fontname=monospace];\n");
    // Writing to a string cannot fail.
    for (k, node) in nodes.iter().enumerate() {
        let look = match node.role {
            Role::Inner => "",
            Role::Final => ", peripheries=2",
            Role::Deadlock => ", style=\"rounded,filled\", fillcolor=\"#f4b6b6\"",
            Role::Cycle => ", style=\"rounded,filled\", fillcolor=\"#f4dcb6\"",
        };
        let _ = writeln!(out, "  s{k} [label=\"{}\"{look}];", lines(&node.label));
        if node.initial {
            let _ = writeln!(out, "  start{k} [shape=point];\n  start{k} -> s{k};");
        }
    }
    for Edge { from, to, label } in edges {
        let label = if label.is_empty() { String::new() } else { format!(" [label=\"{}\"]", lines(label)) };
        let _ = writeln!(out, "  s{from} -> s{to}{label};");
    }
    out.push_str("}\n");
    out
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
        let node = |label: &str, role, initial| Node { label: label.into(), role, initial };
        let edge = |from, to, label: &str| Edge { from, to, label: label.into() };
        let nodes = [
            node("0", Role::Inner, true),
            node("warp 0\nwarp 1", Role::Cycle, false),
            node("\"\\\"", Role::Deadlock, false),
            node("end", Role::Final, false),
        ];
        let text = dot("a \"b\"", &nodes, &[edge(0, 1, "w0"), edge(1, 1, ""), edge(1, 2, "x\ny"), edge(1, 3, "")]);
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
