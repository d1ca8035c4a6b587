//! Steps that are looked up and not made lead where they lead when they are made.

use crate::small::Small;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::choice::Fair;
use warpstep::explore::space::{Options, Space, explore};
use warpstep::launch::build;
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel, MemoryModel};

/// A lock, and a block that is complete before the others: threads leave one by one.
const LOCK: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 memory)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %m;
    ld.param.u64 %m, [memory];
    mov.u32 %r3, %ctaid.x;
LOOP:
    atom.global.cas.b32 %r0, [%m], 0, 1;
    setp.ne.s32 %p, %r0, 0;
    @%p bra LOOP;
    ld.global.u32 %r1, [%m+4];
    add.s32 %r1, %r1, %r3;
    st.global.u32 [%m+4], %r1;
    atom.global.exch.b32 %r0, [%m], 0;
    bar.sync 0;
    ret;
}
";

/// The lock on all memories and control models, a lane in a warp and several.
fn locks() -> Vec<Small> {
    let models = [MemoryModel::Flat, MemoryModel::Split, MemoryModel::preset("fermi").unwrap()];
    let mut sources = SourceMap::default();
    let id = sources.add("lock.ptx", LOCK);
    let mut all = Vec::new();
    for memory in models {
        for control in [ControlModel::Crs, ControlModel::Its, ControlModel::Thread] {
            for (blocks, threads, warp_size) in [(2, 2, 1), (2, 1, 1), (1, 4, 2)] {
                let config = Config {
                    control: Some(control),
                    memory: memory.clone(),
                    warp_size,
                    eager: true,
                    ..Config::default()
                };
                let env = Arc::new(build(&[id], Some(control), &sources).unwrap());
                all.push(Small { env, blocks, threads, bytes: 64, config });
            }
        }
    }
    all
}

/// Bounds of a search: switches, and whether states tell who has stepped.
type Bounds = (Option<u32>, bool);

fn space(program: &Small, grain: Grain, (preemptions, stepped): Bounds, audit: bool) -> Space<Vec<u8>> {
    let mut poll = |_: &_| None;
    let warps = program.warps();
    let most = Some(3_000);
    let mut options = Options { audit, preemptions, stepped, max_states: most, ..Options::states(warps, &mut poll) };
    program.search(grain, |walk, outcome| explore(walk, &mut options, outcome))
}

/// An audit makes all steps.
#[test]
fn a_search_that_makes_all_steps_is_the_same() {
    for program in locks() {
        for (grain, bounds) in [
            (Grain::Visible, (None, false)),
            (Grain::Instruction, (None, false)),
            (Grain::Visible, (Some(2), false)),
            (Grain::Visible, (None, true)),
        ] {
            let [skimmed, made] = [false, true].map(|audit| space(&program, grain, bounds, audit));
            let steps = |space: &Space<_>| -> Vec<Vec<_>> {
                let states = u32::try_from(space.graph.states()).unwrap();
                let of = |state| space.graph.from(state).map(|e| (e.to, e.unit, e.agent, e.nth)).collect();
                (0..states).map(of).collect()
            };
            assert_eq!(steps(&skimmed), steps(&made), "{:?} {grain:?} {bounds:?}", program.config);
            assert_eq!(skimmed.outcomes, made.outcomes);
            assert_eq!(skimmed.progress.transitions, made.progress.transitions);
            assert_eq!((skimmed.limit, made.progress.collisions), (made.limit, 0));
        }
    }
}

#[test]
fn what_is_foreseen_comes_true() {
    for program in locks() {
        let mut foreseen = 0;
        program.search(Grain::Visible, |walk, _| {
            let start = walk.mark();
            // Ways that part where agents take turns in other orders: the later ones meet what is known from the earlier ones.
            for way in 0..40_usize {
                walk.back(start);
                for step in 0..60_usize {
                    let mut agents = Vec::new();
                    walk.agents(&mut agents);
                    if agents.is_empty() {
                        break;
                    }
                    let (mut all, asked) = (Vec::new(), Vec::from_iter(0..agents.len()));
                    walk.foresee(&agents, &asked, &mut all);
                    for (at, agent) in agents.iter().enumerate() {
                        let told = all.iter().find(|(of, _)| *of == at).map(|(_, told)| *told);
                        let here = walk.mark();
                        let used = walk.advance(*agent, &mut Fair, None).unwrap();
                        if let Some(told) = told {
                            assert_eq!((told.number, told.used), (walk.key(), used), "{:?}: {agent:?}", program.config);
                            foreseen += 1;
                        }
                        walk.back(here);
                    }
                    let next = agents[(step * (way + 1) + way) % agents.len()];
                    walk.advance(next, &mut Fair, None).unwrap();
                }
            }
        });
        assert!(foreseen > 100, "{:?}: {foreseen}", program.config);
    }
}
