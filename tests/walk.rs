//! A state is what the steps to it make it, whatever the walk looked at before: searches know states by their numbers, and
//! go back and forth on one device.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::explore::Odometer;
use warpstep::launch::build;
use warpstep::machine::walk::{Agent, Grain, Walk};
use warpstep::machine::{Config, Context, ControlModel, Launch, MemoryModel};
use warpstep::program::env::ProgEnv;

/// Blocks after each other on one multiprocessor, whose lanes part and call functions of different sizes, and leave values
/// in registers and local memory that later blocks and calls must not see.
const CALLS: &str = "
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 out) large(.param .b32 in) {
    .local .align 4 .b8 room[8];
    .reg .b32 %r<6>; .reg .b64 %rd<2>; .reg .pred %p;
    ld.param.u32 %r0, [in];
    mov.u64 %rd0, room;
    add.u32 %r1, %r0, 7;
    st.local.u32 [%rd0+4], %r1;
    mul.lo.u32 %r2, %r1, %r0;
    setp.gt.u32 %p, %r2, 20;
    @%p add.u32 %r2, %r2, 1;
    ld.local.u32 %r3, [%rd0+4];
    add.u32 %r4, %r3, %r2;
    st.param.b32 [out], %r4;
    ret;
}
.func (.param .b32 out) small(.param .b32 in, .param .b64 at) {
    .reg .b32 %r<3>; .reg .b64 %rd<1>;
    ld.param.u64 %rd0, [at];
    ld.param.u32 %r0, [in];
    atom.global.add.u32 %r1, [%rd0], %r0;
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd0+32], %r2;
    st.param.b32 [out], %r2;
    ret;
}
.entry k(.param .u64 m) {
    .reg .b32 %r<8>; .reg .b64 %rd<3>; .reg .pred %p<2>;
    ld.param.u64 %rd0, [m];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    add.u32 %r2, %r0, %r1;
    and.b32 %r3, %r2, 1;
    setp.eq.u32 %p0, %r3, 0;
    @%p0 bra EVEN;
    { .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call (r), large, (a); ld.param.b32 %r4, [r]; }
    bra DONE;
EVEN:
    { .param .b32 a; .param .b64 p; .param .b32 r; st.param.b32 [a], %r2; st.param.b64 [p], %rd0;
      call (r), small, (a, p); ld.param.b32 %r4, [r]; }
DONE:
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd2, %rd0, %rd1;
    ld.global.u32 %r5, [%rd2+4];
    add.u32 %r6, %r5, %r4;
    st.global.u32 [%rd2+4], %r6;
    { .param .b32 a; .param .b64 p; .param .b32 r; st.param.b32 [a], %r6; st.param.b64 [p], %rd0;
      call (r), small, (a, p); ld.param.b32 %r7, [r]; }
    ret;
}
";

/// Agent and alternatives taken of each step, with the number and the whole of the state that it led to.
type Path = Vec<(usize, Vec<u32>, u128, Vec<u8>)>;

/// A walk over `times` launches, one after the other.
fn walk(env: &Arc<ProgEnv>, config: &Config, grain: Grain, times: usize) -> Box<dyn Walk> {
    let mut context = Context::new(Arc::clone(env), config.clone()).unwrap();
    let params = context.alloc("memory", 64).unwrap().to_le_bytes().to_vec();
    let launch = Launch { entry: "k".into(), grid: [3, 1, 1], block: [2, 1, 1], shared_bytes: 0, params };
    context.walk(&vec![launch; times], grain).unwrap()
}

/// Some steps at random, from where the walk stands.
fn wander(walk: &mut dyn Walk, rng: &mut ChaCha8Rng, most: u32) -> Path {
    let mut path = Path::new();
    for _ in 0..most {
        let mut agents = Vec::new();
        walk.agents(&mut agents);
        let Some(at) = (rng.next_u32() as usize).checked_rem(agents.len()) else { break };
        let here = walk.mark();
        let mut odometer = Odometer::new();
        walk.advance(agents[at], &mut odometer, None).unwrap();
        let mut taken = odometer.taken();
        // One of the step's combinations of choices.
        while rng.next_u32().is_multiple_of(2) && odometer.advance() {
            walk.back(here);
            walk.advance(agents[at], &mut odometer, None).unwrap();
            taken = odometer.taken();
        }
        path.push((at, taken, walk.key(), walk.whole()));
    }
    path
}

fn is_what_led_to_it(env: &Arc<ProgEnv>, config: &Config, grain: Grain, times: usize) {
    let mut old = walk(env, config, grain, times);
    let start = old.mark();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut longest = 0;
    for round in 0..20 {
        let path = wander(&mut *old, &mut rng, 60 * times as u32);
        longest = longest.max(path.len());
        // The device follows the states only where somebody looks at it.
        let memory = old.state().memory_hash();
        let reached = old.state().reached();
        old.back(start);
        let mut fresh = walk(env, config, grain, times);
        for (k, (at, taken, key, whole)) in path.iter().enumerate() {
            let mut agents = Vec::new();
            fresh.agents(&mut agents);
            fresh.advance(agents[*at], &mut Odometer::of(taken), None).unwrap();
            let what = format!("{:?} {grain:?} round {round} step {k}", config.control);
            assert!(fresh.whole() == *whole, "{what}");
            assert_eq!(fresh.key(), *key, "{what}");
        }
        assert_eq!(fresh.state().memory_hash(), memory, "round {round}");
        assert_eq!(fresh.state().reached(), reached, "round {round}");
    }
    assert!(longest > 5, "{longest}");
}

#[test]
fn a_state_is_what_led_to_it() {
    let mut sources = SourceMap::default();
    let file = sources.add("calls.ptx", CALLS);
    let tiny = MemoryModel::preset("tiny").unwrap();
    for control in [ControlModel::Crs, ControlModel::Its, ControlModel::Thread] {
        let env = Arc::new(build(&[file], Some(control), &sources).unwrap());
        let rsp = MemoryModel::preset("rsp").unwrap();
        for memory in [MemoryModel::Flat, MemoryModel::Split, tiny.clone(), rsp] {
            for blocks in [1, 8] {
                let mut config =
                    Config { control: Some(control), memory: memory.clone(), warp_size: 2, ..Config::default() };
                config.device.capacity.blocks = blocks;
                for grain in [Grain::Visible, Grain::Instruction] {
                    is_what_led_to_it(&env, &config, grain, 1);
                    if blocks == 8 && memory == MemoryModel::Flat {
                        is_what_led_to_it(&env, &config, grain, 2);
                    }
                }
            }
        }
    }
}

#[test]
fn it_matters_where_blocks_are_only_if_multiprocessors_have_caches() {
    let mut sources = SourceMap::default();
    let file = sources.add("calls.ptx", CALLS);
    let control = Some(ControlModel::Its);
    let env = Arc::new(build(&[file], control, &sources).unwrap());
    let tiny = MemoryModel::preset("tiny").unwrap();
    let rsp = MemoryModel::preset("rsp").unwrap();
    for (memory, chosen) in [(MemoryModel::Flat, false), (MemoryModel::Split, false), (rsp, false), (tiny, true)] {
        let config = Config { control, memory, warp_size: 2, ..Config::default() };
        let mut agents = Vec::new();
        walk(&env, &config, Grain::Visible, 1).agents(&mut agents);
        assert_eq!(agents.contains(&Agent::Begin), chosen, "{:?}", config.memory);
    }
}
