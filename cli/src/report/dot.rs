//! The states of a search as DOT text: for cases small enough to look at.

use crate::base::LaneMask;
use crate::explore::Proof;
use crate::explore::space::Unit;
use crate::program::flow::dot::quote;
use std::fmt::Write;
use std::path::Path;

/// States of a graph at most that is drawn.
pub const DRAWN: usize = 500;

/// That a space is too large to be drawn.
#[must_use]
pub fn too_large(states: usize, file: &Path) -> String {
    format!(
        "{} is not written: {states} states are too many to look at, {DRAWN} are drawn at most; \
         fewer threads or blocks make fewer, and so does --max-states\n",
        file.display()
    )
}

/// How states look that nobody leaves though not everybody has finished, and those that a fair run need not leave.
const DEADLOCK: &str = ", style=\"rounded,filled\", fillcolor=\"#f4b6b6\"";
const CYCLE: &str = ", style=\"rounded,filled\", fillcolor=\"#f4dcb6\"";

/// The states and steps of a search as a digraph: final states are double circles, deadlocks and fair cycles are filled, an
/// arrow from nowhere leads to the first state. Steps that stop a run lead to a state of their own.
#[must_use]
pub fn drawn(name: &str, proof: &Proof) -> String {
    let graph = &proof.graph;
    let count = u32::try_from(graph.states()).unwrap_or(u32::MAX);
    let on_cycle = |k: u32| proof.endless.iter().any(|e| e.cycle.states.binary_search(&k).is_ok());
    let stuck: Vec<u32> = proof.defects.iter().filter_map(|d| graph.end_of(&d.path)).collect();
    let look = |k: u32| match graph.from(k).next() {
        _ if on_cycle(k) => CYCLE,
        None if stuck.contains(&k) => DEADLOCK,
        None if graph.left(k).next().is_none() => ", peripheries=2",
        _ => "",
    };
    // Writing to a string cannot fail.
    let (mut nodes, mut edges, mut next) = (String::new(), String::new(), count);
    for k in 0..count {
        let _ = writeln!(nodes, "  s{k} [label=\"{k}\"{}];", look(k));
        if k == 0 {
            nodes.push_str("  start0 [shape=point];\n  start0 -> s0;\n");
        }
    }
    for from in 0..count {
        // The last step comes first.
        let mut steps: Vec<_> = graph.from(from).collect();
        steps.reverse();
        for step in steps {
            let label = match graph.unit(step) {
                Unit::Lanes(block, warp, LaneMask::MAX) => format!("block {block}, warp {warp}"),
                Unit::Lanes(block, warp, lanes) => format!("block {block}, warp {warp}, lanes {lanes:#x}"),
                Unit::Operation(o) => format!("memory operation {} of block {}, warp {}", o.place, o.block, o.warp),
                Unit::Silent => "silent rule".to_owned(),
            };
            let mut to = step.to;
            if to >= count {
                // With a limit, who was left out, and not what stops.
                if proof.limit.is_some() {
                    continue;
                }
                to = next;
                next += 1;
                let _ = writeln!(nodes, "  s{to} [label=\"stops\"{DEADLOCK}];");
            }
            let _ = writeln!(edges, "  s{from} -> s{to} [label=\"{label}\"];");
        }
    }
    format!(
        "digraph {} {{\n  node [shape=box, style=rounded, fontname=monospace];\n  edge [fontname=monospace];\n{nodes}{edges}}}\n",
        quote(name)
    )
}
