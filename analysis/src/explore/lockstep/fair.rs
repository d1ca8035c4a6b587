//! Runs that never end although they are fair (D-lsc-fair): every step that is possible from some time on is made.

use super::reduce::Reduced;
use crate::explore::breadth::PATIENCE;
use crate::explore::strong::{Steps, parts};
use crate::memory::lockstep::{Fired, Step, System};
use crate::verdict::LimitKind;

/// Steps in the order of the states that they are from.
struct Listed<'a> {
    states: usize,
    edges: &'a [(u32, u32, Step)],
}

impl<'a> Listed<'a> {
    fn from(&self, state: u32) -> &'a [(u32, u32, Step)] {
        let rest = &self.edges[self.cursor(state) as usize..];
        &rest[..rest.partition_point(|e| e.0 == state)]
    }
}

impl Steps for Listed<'_> {
    fn states(&self) -> usize {
        self.states
    }

    fn cursor(&self, state: u32) -> u32 {
        self.edges.partition_point(|e| e.0 < state) as u32
    }

    fn next(&self, state: u32, cursor: &mut u32) -> Option<u32> {
        let (_, to, _) = self.edges.get(*cursor as usize).filter(|e| e.0 == state)?;
        *cursor += 1;
        Some(*to)
    }
}

/// A state of each part of the graph, strongly connected, in which a fair run stays for ever: whatever step is possible in all of its
/// states is made within it. The first state of each, in the order of their numbers; or why they were not all found.
pub(super) fn circles(
    reduced: &Reduced<'_>,
    states: usize,
    state: &dyn Fn(u32) -> System,
    edges: &[(u32, u32, Step)],
    up: &mut dyn FnMut() -> Option<LimitKind>,
) -> Result<Vec<u32>, LimitKind> {
    let listed = Listed { states, edges };
    let all: Vec<u32> = (0..states as u32).collect();
    let (parts, cut) = parts(&listed, &all, up);
    if let Some(limit) = cut {
        return Err(limit);
    }
    let mut found = Vec::new();
    for part in parts {
        let inside = |to: u32| part.binary_search(&to).is_ok();
        // Possible everywhere, and made nowhere: a fair run leaves.
        let mut waits: Option<Vec<Step>> = None;
        for (k, member) in part.iter().enumerate() {
            if k % PATIENCE == 0
                && let Some(limit) = up()
            {
                return Err(limit);
            }
            let possible = possible(reduced, &state(*member));
            match &mut waits {
                None => waits = Some(possible),
                Some(waits) => waits.retain(|s| possible.contains(s)),
            }
        }
        let mut waits = waits.unwrap_or_default();
        for (_, to, step) in part.iter().flat_map(|s| listed.from(*s)) {
            waits.retain(|s| s != step || !inside(*to));
        }
        found.extend(part.first().filter(|_| waits.is_empty()));
    }
    found.sort_unstable();
    Ok(found)
}

fn possible(reduced: &Reduced<'_>, system: &System) -> Vec<Step> {
    let mut steps = Vec::new();
    system.candidates(reduced.program, &mut steps);
    steps.retain(|step| reduced.step(&mut { *system }, *step, &mut Fired::default()));
    steps
}
