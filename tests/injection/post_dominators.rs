//! A warp with an immediate-post-dominator stack, as hardware before independent threads is usually described: how many
//! instructions it executes when its lanes go the ways that they went alone.

use warpstep::program::env::ProgEnv;
use warpstep::program::flow::{Graph, post_dominators};

/// Warp instructions of a kernel of one function, none injected; `walks` are the addresses that each lane passed alone.
pub fn instructions(env: &ProgEnv, walks: &[Vec<u32>]) -> u64 {
    let graph = Graph::of(&env.code, &env.tables);
    let meets = post_dominators(&graph);
    let block_of = |pc: u32| graph.blocks().partition_point(|b| b.end <= pc);
    let mut at = vec![0; walks.len()];
    let next = |at: &[usize], lane: usize| walks[lane].get(at[lane]).copied();
    let mut count = 0;
    // (where to pop, lanes); the lanes of an entry are all at one address.
    let everybody: Vec<usize> = (0..walks.len()).collect();
    let mut stack = vec![(u32::MAX, everybody)];
    while let Some((until, lanes)) = stack.last_mut() {
        let until = *until;
        // Lanes that have ended leave; those of the entries above have come to where the others are.
        lanes.retain(|l| next(&at, *l).is_some());
        let Some(pc) = lanes.first().and_then(|l| next(&at, *l)) else {
            stack.pop();
            continue;
        };
        if pc == until {
            stack.pop();
            continue;
        }
        count += u64::from(env.origin.get(pc as usize).is_some_and(|o| !o.hidden));
        for lane in lanes.iter() {
            at[*lane] += 1;
        }
        let mut ways: Vec<(u32, Vec<usize>)> = Vec::new();
        for lane in lanes.iter().copied() {
            let Some(to) = next(&at, lane) else { continue };
            match ways.iter_mut().find(|w| w.0 == to) {
                Some(way) => way.1.push(lane),
                None => ways.push((to, vec![lane])),
            }
        }
        if ways.len() > 1 {
            let meet = meets[block_of(pc)].map_or(u32::MAX, |b| graph.blocks()[b as usize].start);
            if meet == u32::MAX {
                lanes.clear();
            }
            // The lanes below wait at the meeting point, where those above will be when they are popped.
            ways.sort_by_key(|w| w.0 != pc + 1);
            for (_, lanes) in ways {
                stack.push((meet, lanes));
            }
        }
    }
    count
}
