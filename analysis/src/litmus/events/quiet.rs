//! Whether no loop of a test can go around for ever changing memory.

use super::{Code, Step, Threads};
use crate::litmus::tree::Atom;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

impl Threads {
    /// Whether no thread can write again and again, and none waits for a number of others: then an execution that does not end has, from
    /// some time on, threads that have ended and threads that only look at memory.
    pub(in crate::litmus) fn quiet(&self) -> bool {
        let counted = |step: &Step| matches!(step, Step::Barrier { quorum: Some(_), .. });
        self.codes.iter().all(|code| code.quiet() && !code.steps.iter().any(counted))
    }
}

impl Code {
    /// Whether no way around a loop writes. A swap that succeeds is a step of its own here, which leads where the branch on
    /// what it read does.
    fn quiet(&self) -> bool {
        let count = self.steps.len();
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        // Steps, the end, and behind it what each does when it writes.
        for _ in 0..=2 * count {
            graph.add_node(());
        }
        let node = NodeIndex::<u32>::new;
        let writes = |k: usize| count + 1 + k;
        for (k, step) in self.steps.iter().enumerate() {
            match step {
                Step::Branch { test, to } => {
                    graph.add_edge(node(k), node(*to), ());
                    if test.is_some() {
                        graph.add_edge(node(k), node(k + 1), ());
                    }
                }
                Step::Store { .. } | Step::Atomic { .. } => {
                    let fails = matches!(step, Step::Atomic { op: Atom::CasSuccess, .. });
                    if fails {
                        graph.add_edge(node(k), node(k + 1), ());
                    }
                    graph.add_edge(node(k), node(writes(k)), ());
                    graph.add_edge(node(writes(k)), node(self.after_success(k).unwrap_or(k + 1)), ());
                }
                _ => {
                    graph.add_edge(node(k), node(k + 1), ());
                }
            }
        }
        // A step that writes leads on, and not to itself: where it lies on a cycle there are others on it.
        tarjan_scc(&graph).iter().all(|part| part.len() == 1 || part.iter().all(|n| n.index() <= count))
    }
}
