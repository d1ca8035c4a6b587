//! Copies in flight are part of a state: a search that leaves out what nobody notices finds what one finds that leaves out nothing.

use crate::small::small;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;
use warpstep::explore::space::{Options, explore};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel};
use warpstep::memory::MemoryModel;

/// A random program of a few threads that copy, wait, meet, and look at each other's words.
fn program(rng: &mut ChaCha8Rng) -> String {
    let mut body = String::new();
    for _ in 0..3 + rng.next_u32() % 4 {
        let (word, other) = (rng.next_u32() % 2 * 4, rng.next_u32() % 3 * 4);
        body += &match rng.next_u32() % 8 {
            0 | 1 => format!("cp.async.ca.shared.global [%r1+{word}], [%m+{other}], 4;\n"),
            2 => format!("cp.async.ca.shared.global [s], [%m+{other}], 4;\n"),
            3 => "cp.async.commit_group;\n".to_owned(),
            4 => format!("cp.async.wait_group {};\n", rng.next_u32() % 2),
            5 => "cp.async.wait_all;\n".to_owned(),
            6 => format!("st.global.u32 [%m+{other}], %r0;\n"),
            _ => "bar.sync 0;\n".to_owned(),
        };
    }
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 m)\n{{\n\
         .shared .align 4 .b8 s[32];\n.reg .b32 %r<8>;\n.reg .b64 %m, %rd<4>;\nld.param.u64 %m, [m];\nmov.u32 %r0, %tid.x;\n\
         mov.u32 %r1, s;\nshl.b32 %r2, %r0, 3;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r0, %r0, 50;\n\
         mul.wide.u32 %rd0, %r2, 1;\nadd.u64 %rd0, %m, %rd0;\nst.global.u32 [%rd0], %r0;\n\
         {body}ld.shared.u32 %r3, [%r1];\nld.shared.u32 %r4, [s];\nmul.wide.u32 %rd0, %r2, 1;\nadd.u64 %rd0, %m, %rd0;\n\
         st.global.v2.u32 [%rd0+16], {{%r3, %r4}};\nret;\n}}\n"
    )
}

/// The contents of memory that runs may leave, and how many states there are; none where the search is too large.
fn outcomes(text: &str, config: &Config, grain: Grain) -> Option<(BTreeSet<Vec<u8>>, usize)> {
    let mut poll = |_: &_| None;
    let mut options = Options { max_states: Some(3_000), ..Options::states(false, &mut poll) };
    let space = small(text, 1, 2, config.clone()).search(grain, |walk, outcome| explore(walk, &mut options, outcome));
    space.limit.is_none().then(|| (space.outcomes.keys().cloned().collect(), space.graph.states()))
}

#[test]
fn what_is_left_out_loses_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(18);
    let (mut compared, mut several, mut smaller) = (0, 0, 0);
    while compared < 24 {
        let text = program(&mut rng);
        for (memory, control) in [
            (MemoryModel::Flat, ControlModel::Its),
            (MemoryModel::Flat, ControlModel::Thread),
            (MemoryModel::Lsc, ControlModel::Its),
        ] {
            let config = Config { control: Some(control), memory: memory.clone(), warp_size: 1, ..Config::default() };
            let [all, some] = [Grain::Instruction, Grain::Visible].map(|grain| outcomes(&text, &config, grain));
            let (Some(all), Some(some)) = (all, some) else { continue };
            assert_eq!(all.0, some.0, "{memory:?} {control:?}\n{text}");
            compared += 1;
            several += usize::from(all.0.len() > 1);
            smaller += usize::from(some.1 < all.1);
        }
    }
    assert!(several > 10 && smaller > 10, "{several} {smaller}");
}
