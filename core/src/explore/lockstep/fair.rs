//! Runs that never end although they are fair (D-lsc-fair): every step that is possible from some time on is made.

use super::reduce::Reduced;
use crate::memory::lockstep::{Fired, Step, System};
use std::collections::BTreeSet;

/// A state of each part of the graph, strongly connected, in which a fair run stays for ever: whatever step is possible in all of its
/// states is made within it. The first state of each, in the order of their numbers.
pub(super) fn circles(reduced: &Reduced<'_>, states: &[System], edges: &[(u32, u32, Step)]) -> Vec<u32> {
    let components = components(states.len(), edges);
    let mut inner: Vec<Vec<&(u32, u32, Step)>> = vec![Vec::new(); states.len()];
    for edge in edges.iter().filter(|(from, to, _)| components[*from as usize] == components[*to as usize]) {
        inner[components[edge.0 as usize] as usize].push(edge);
    }
    let mut found = Vec::new();
    for edges in inner.iter().filter(|e| !e.is_empty()) {
        let members: BTreeSet<u32> = edges.iter().flat_map(|e| [e.0, e.1]).collect();
        // Possible everywhere, and made nowhere: a fair run leaves.
        let mut always: Option<Vec<Step>> = None;
        for member in &members {
            let possible = possible(reduced, &states[*member as usize]);
            always = Some(match always {
                None => possible,
                Some(before) => before.into_iter().filter(|s| possible.contains(s)).collect(),
            });
        }
        let leaves = always.unwrap_or_default().iter().any(|step| edges.iter().all(|e| e.2 != *step));
        found.extend(members.first().filter(|_| !leaves));
    }
    found.sort_unstable();
    found
}

fn possible(reduced: &Reduced<'_>, system: &System) -> Vec<Step> {
    let mut steps = Vec::new();
    system.candidates(reduced.program, &mut steps);
    steps.retain(|step| reduced.step(&mut { *system }, *step, &mut Fired::default()));
    steps
}

/// For each state a number that it has in common with those that it reaches and that reach it (Tarjan, without recursion).
fn components(count: usize, edges: &[(u32, u32, Step)]) -> Vec<u32> {
    // The edges come in the order of their first states.
    let first = |state: u32| edges.partition_point(|e| e.0 < state);
    let mut order = vec![u32::MAX; count];
    let mut low = vec![0_u32; count];
    let mut component = vec![u32::MAX; count];
    let (mut next, mut stack, mut calls) = (0, Vec::new(), Vec::new());
    for root in 0..count as u32 {
        if order[root as usize] != u32::MAX {
            continue;
        }
        calls.push((root, first(root)));
        while let Some((state, edge)) = calls.pop() {
            let s = state as usize;
            if order[s] == u32::MAX {
                (order[s], low[s]) = (next, next);
                next += 1;
                stack.push(state);
            }
            match edges.get(edge).filter(|e| e.0 == state) {
                Some((_, to, _)) => {
                    calls.push((state, edge + 1));
                    let t = *to as usize;
                    if order[t] == u32::MAX {
                        calls.push((*to, first(*to)));
                    } else if component[t] == u32::MAX {
                        low[s] = low[s].min(order[t]);
                    }
                }
                None => {
                    if low[s] == order[s] {
                        while let Some(member) = stack.pop() {
                            component[member as usize] = state;
                            if member == state {
                                break;
                            }
                        }
                    }
                    if let Some((parent, _)) = calls.last() {
                        let p = *parent as usize;
                        low[p] = low[p].min(low[s]);
                    }
                }
            }
        }
    }
    component
}
