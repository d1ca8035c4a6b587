//! Native code cannot be told from the interpreter: random programs and examples under both, left at every segment in turn.

use crate::examples::launches;
use crate::native_functions::called_in_turn;
use crate::native_groups::grouped;
use crate::native_modes::{MODES, pairs};
use crate::native_programs::{compared, compared_in_turn, same, written};
use std::path::Path;
use warpstep::base::SourceMap;
use warpstep::launch::{Device, Spec, load, run};
use warpstep::machine::{Config, ControlModel, Engine};
use warpstep::verdict::Silent;

/// What a warp holds natively while it waits at a barrier, the interpreter needs behind it.
#[test]
fn what_is_kept_at_a_barrier_comes_back() {
    let text = "
.version 7.0\n.target sm_60\n.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{
    .reg .pred %p<3>; .reg .b32 %t, %r<4>; .reg .b64 %out, %at;
    mov.u32 %t, %tid.x;
    ld.param.u64 %out, [memory];
    mul.wide.u32 %at, %t, 4;
    add.u64 %out, %out, %at;
    setp.ge.u32 %p0, %t, 32;
    bar.sync 0;
    @%p0 ret;
    st.global.u32 [%out], 1;
    bar.sync 0;
    mov.u32 %r0, %clock;
    st.global.u32 [%out], 2;
    ret;
}
";
    assert!(same(text, ([2, 1, 1], [64, 1, 1]), &[None, Some(1)], 3) > 0);
}

/// What the interpreter leaves in a register is there still where a number is not computed, though the register's values lie on a line.
#[test]
fn what_is_not_computed_stays() {
    let text = "
.version 7.0\n.target sm_60\n.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{
    .reg .pred %p<3>; .reg .b32 %t, %r<4>; .reg .b64 %out, %at;
    ld.param.u64 %out, [memory];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %at, %t, 4, %out;
    setp.lt.u32 %p0, %t, 4000;
    setp.gt.u32 %p1, 3, 4;
    mov.u32 %r1, 9;
    vote.ballot.b32 %r0, %p0;
    @%p1 shr.u32 %r0, %r1, 1;
    st.global.u32 [%at], %r0;
    ret;
}
";
    assert!(same(text, ([2, 1, 1], [64, 1, 1]), &[None], 3) > 0);
}

/// Whose turn is when can be seen of tickets that warps take: in blocks whose warps wait for each other, end early or part, and from
/// one block to the next, in which shared memory is zero and registers are its own.
#[test]
fn turns_come_in_the_same_order() {
    let text = |part: &str| {
        format!(
            "
.version 7.0\n.target sm_60\n.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{{
    .shared .align 4 .b8 words[64];
    .reg .pred %p<3>; .reg .b32 %t, %c, %r<8>; .reg .b64 %m, %at, %s;
    ld.param.u64 %m, [memory];
    mov.u32 %t, %tid.y;
    mov.u32 %r0, %ntid.x;
    mov.u32 %r1, %tid.x;
    mad.lo.u32 %t, %t, %r0, %r1;
    mov.u32 %c, %ctaid.y;
    mov.u32 %r0, %nctaid.x;
    mov.u32 %r1, %ctaid.x;
    mad.lo.u32 %c, %c, %r0, %r1;
    mad.lo.u32 %r0, %c, 128, %t;
    mad.wide.u32 %at, %r0, 16, %m;
    mov.u64 %s, words;
    ld.shared.u32 %r2, [%s];
    atom.global.add.u32 %r3, [%m], 1;
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%at+64], %r2;
    st.global.u32 [%at+68], %r3;
    bar.sync 0;
    st.shared.u32 [%s], 7;
    and.b32 %r4, %c, 3;
    setp.eq.u32 %p0, %r4, 1;
    setp.ge.u32 %p1, %t, 96;
    and.pred %p0, %p0, %p1;
    @%p0 ret;
    {part}
    atom.global.add.u32 %r3, [%m], 1;
    st.global.u32 [%at+72], %r3;
    bar.sync 0;
    mov.u32 %r5, 0;
again:
    atom.global.add.u32 %r3, [%m], 1;
    bar.sync 1;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p2, %r5, 3;
    @%p2 bra again;
    st.global.u32 [%at+76], %r3;
    ret;
}}
"
        )
    };
    // With a token on the stack that is pushed natively.
    let loops = "mov.u32 %r6, 0;\nonce: add.u32 %r6, %r6, 1; setp.gt.u32 %p2, %r6, 2; @%p2 bra on; bar.sync 2;\n\
                 atom.global.add.u32 %r3, [%m], 1; st.global.u32 [%at+64], %r3; bra once;\non:";
    // One warp of some blocks parts and meets again.
    let parts =
        "setp.ne.u32 %p2, %r4, 2; @%p2 bra on; setp.gt.u32 %p2, %t, 40; @%p2 bra on; st.global.u32 [%at+72], 9;\non:";
    for part in ["", loops, parts] {
        for block in [[128, 1, 1], [16, 8, 1], [64, 1, 1], [32, 1, 1], [96, 1, 1], [100, 1, 1]] {
            assert!(same(&text(part), ([3, 5, 1], block), &[None, Some(1)], 4) > 0);
        }
    }
}

/// Both halves of a warp may have one row: what the first one stores, the second one must not have loaded before.
#[test]
fn halves_of_one_row_keep_their_order() {
    let program = |space: &str, start: &str| {
        format!(
            "
.version 7.0\n.target sm_60\n.address_size 64
.shared .align 4 .b8 words[256];
.visible .entry k(.param .u64 memory, .param .u32 n)
{{
    .reg .b32 %t, %x; .reg .b64 %at, %m;
    ld.param.u64 %m, [memory];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %at, %t, 4;
    {start}
    ld.{space}.u32 %x, [%at];
    add.u32 %t, %t, 5;
    st.{space}.u32 [%at], %t;
    mov.u32 %t, %tid.y;
    mad.lo.u32 %t, %t, 16, %t;
    mad.wide.u32 %m, %t, 4, %m;
    st.global.u32 [%m+512], %x;
    ret;
}}
"
        )
    };
    for (space, start) in [
        ("global", "add.u64 %at, %at, %m;"),
        ("shared", "mov.u64 %m, words; add.u64 %at, %at, %m;\n    ld.param.u64 %m, [memory];"),
    ] {
        for block in [[16, 4, 1], [16, 2, 1], [64, 1, 1]] {
            assert!(same(&program(space, start), ([2, 1, 1], block), &[None, Some(1)], 3) > 0);
        }
    }
}

#[test]
fn what_is_chosen_late_and_what_is_assumed_are_right() {
    assert!(written(4) > 0);
}

/// Where no block of memory is known yet, no address is taken for one of its.
#[test]
fn no_address_is_right_before_memory_is_known() {
    let program = |load: &str| {
        format!(
            "
.version 7.0\n.target sm_60\n.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{{
    .reg .pred %p; .reg .b32 %t, %n; .reg .b16 %h; .reg .b64 %at, %all;
    mov.u32 %t, %tid.x;
    mov.u32 %n, 0;
AGAIN:
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, 200;
    @%p bra AGAIN;
    mov.u64 %at, 1;
    cvt.u64.u32 %all, %t;
    and.b64 %all, %all, 1;
    or.b64 %all, %all, 1;
    {load}
    ret;
}}
"
        )
    };
    for load in ["ld.global.u32 %t, [%at];", "ld.global.u32 %t, [%all];", "ld.global.u16 %h, [%all];"] {
        assert!(same(&program(load), ([2, 1, 1], [64, 1, 1]), &[None, Some(1)], 3) > 0);
    }
}

/// Who runs first, of lanes that have parted.
#[test]
fn lanes_that_part_run_in_the_same_order() {
    assert!(grouped(40) > 1000);
}

/// What operations make of special numbers.
#[test]
fn modes_are_those_of_the_interpreter() {
    assert!(pairs(&MODES) > 0);
}

/// As many as `NATIVE_FULL` says from `NATIVE_FROM` on, each under one control model; else some under all of them.
#[test]
fn random_programs_cannot_tell() {
    let number = |name| std::env::var(name).ok().and_then(|n: String| n.parse::<u64>().ok());
    let first = number("NATIVE_FROM").unwrap_or(0);
    let (programs, of): (_, fn(u64, u32) -> u32) =
        number("NATIVE_FULL").map_or((150, compared), |programs| (programs, compared_in_turn));
    let runs: u64 = (first..first + programs).map(|seed| u64::from(of(seed, 6))).sum();
    assert!(runs >= 14 * programs);
}

/// The same of functions that call each other.
#[test]
fn functions_that_call_cannot_tell() {
    let number = |name| std::env::var(name).ok().and_then(|n: String| n.parse::<u64>().ok());
    let first = number("NATIVE_FROM").unwrap_or(0);
    let programs = number("NATIVE_CALLS").unwrap_or(60);
    let runs: u64 = (first..first + programs).map(|seed| u64::from(called_in_turn(seed, 6))).sum();
    assert!(runs >= 14 * programs);
}

/// All that can be told of an example, and how many thread instructions were native, of how many.
fn example(
    path: &Path,
    control: ControlModel,
    seed: Option<u64>,
    engine: Engine,
) -> Result<(String, (u64, u64)), String> {
    let mut sources = SourceMap::default();
    let text = |problems| format!("{problems:?}");
    let spec = Spec::read(path, &mut sources).map_err(text)?;
    let env = load(&spec.ptx, Some(control), &mut sources).map_err(text)?;
    let config = Config { control: Some(control), seed, engine, max_steps: Some(300_000), ..Config::default() };
    let mut device = Device::new(env, sources, config).map_err(|stop| format!("{stop:?}"))?;
    let mut printed = Vec::new();
    let outcome = run(&spec, &mut device, &mut Silent, None, &mut |bytes| printed.extend_from_slice(bytes));
    let (hash, clock) = (device.context().memory_hash(), device.context().clock());
    let threads = outcome.as_ref().map_or(0, |o| o.stats.iter().map(|s| s.thread_instructions).sum());
    let counts = (device.context().native(), threads);
    Ok((format!("{outcome:?} {hash:x} {clock} {printed:?}"), counts))
}

/// By the fair schedule and as many seeds as `NATIVE_SEEDS` says.
#[test]
fn examples_cannot_tell() {
    let seeds: u64 = std::env::var("NATIVE_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
    let (mut wrong, mut sums) = (Vec::new(), (0, 0));
    for path in launches() {
        for control in [ControlModel::Crs, ControlModel::Its] {
            for seed in std::iter::once(None).chain((1..=seeds).map(Some)) {
                let wanted = example(&path, control, seed, Engine::Interpreter).map(|(told, _)| told);
                for trip in [0, 1, 2] {
                    let seen = example(&path, control, seed, Engine::Native { trip });
                    if let Ok((_, (native, all))) = &seen
                        && trip == 0
                    {
                        sums = (sums.0 + native, sums.1 + all);
                        if std::env::var_os("NATIVE_TOLD").is_some() && seed.is_none() {
                            println!("{} {control:?}: {native} of {all}", path.display());
                        }
                    }
                    let seen = seen.map(|(told, _)| told);
                    if seen != wanted {
                        wrong.push(format!("{} {control:?} {seed:?} {trip}\n{wanted:?}\n{seen:?}", path.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} of {} thread instructions are native", sums.0, sums.1);
    assert!(sums.0 > sums.1 / 2, "{sums:?}");
}
