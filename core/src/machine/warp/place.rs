//! Where lanes are, for a report.

use crate::base::{LaneMask, Pc, lanes_of};
use crate::machine::grid::loaded::Loaded;
use crate::program::env::ProgEnv;
use crate::verdict::Place;

/// Where `lanes` of a warp of a block are; `calls` are the return addresses of the first of them.
pub(in crate::machine) fn place(
    env: &ProgEnv,
    loaded: &Loaded,
    (block, warp): ([u32; 3], u32),
    lanes: LaneMask,
    pc: Pc,
    calls: Vec<u32>,
) -> Place {
    let lane = lanes_of(lanes).next().and_then(|l| u32::try_from(l).ok()).unwrap_or(0);
    Place {
        program: loaded.program,
        entry: env.function(loaded.entry).map_or_else(String::new, |f| f.name.clone()),
        pc,
        block,
        thread: loaded.thread(warp, lane),
        warp,
        lane,
        lanes,
        // A return address stands behind its call.
        calls: calls.into_iter().map(|back| call_before(env, back)).collect(),
    }
}

/// The call whose return address is `back`: the visible instruction before it.
fn call_before(env: &ProgEnv, back: u32) -> Pc {
    let visible = |pc: &u32| env.origin.get(*pc as usize).is_some_and(|o| !o.hidden);
    Pc((0..back).rev().take(64).find(visible).unwrap_or(back))
}
