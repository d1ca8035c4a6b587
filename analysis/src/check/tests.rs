//! Observers on small programs, with and without the defect each looks for.

use super::sample::{And, LANE, ONE, ONES, Sample, ZERO, action, alu, other, run};
use super::{Check, Coverage, Observers, TraceHash};
use crate::program::env::ProgEnv;
use crate::program::instr::{
    Barrier, BarrierKind, BarrierRed, Exchange, ExchangeKind, HotOp, Instr, MemOp, Op, Space, Syscall,
};
use crate::program::ops::FloatOp;
use crate::program::ops::IntOp as I;
use crate::program::ops::{AtomOp, AtomTy};
use crate::verdict::{BugKind, Kind, Place, Rule, Stop, UninitUse};
use std::sync::Arc;

fn uninit(env: &Arc<ProgEnv>, undefined: u64) -> Result<(), Box<(BugKind, Place)>> {
    let mut observers = Observers::none().with_uninit(env);
    match run(env, &mut observers, undefined) {
        Ok(()) => Ok(()),
        Err(Stop::Bug(bug)) => Err(Box::new((bug.kind, bug.place))),
        Err(stop) => panic!("{stop:?}"),
    }
}

/// The program has no such defect.
#[track_caller]
fn fine(sample: Sample) {
    assert_eq!(uninit(&sample.build(), 0), Ok(()));
}

/// The program uses a register of this name that was not written, in these lanes.
#[track_caller]
fn wrong(sample: Sample, uses: UninitUse, name: &str, bad: u32) {
    let (kind, place) = *uninit(&sample.build(), 0).expect_err("a report");
    let BugKind::Uninitialised { what, register, .. } = kind else { panic!("{kind:?}") };
    assert_eq!((what, register.as_deref(), place.lanes), (uses, Some(name), bad));
    assert_eq!(place.entry, "main");
}

fn load(space: Space, width: u8, addr: u16, offset: i64, d: u16) -> crate::program::instr::WarpRequest {
    action(MemOp::Load, space, width, addr, offset, &[d])
}

fn store(space: Space, width: u8, addr: u16, offset: i64, d: u16) -> crate::program::instr::WarpRequest {
    action(MemOp::Store, space, width, addr, offset, &[d])
}

/// 64-bit slot 6 is zero: an offset in shared or local memory.
fn at_zero() -> Sample {
    Sample::new().op(alu(I::Sub64, 6, &[2, 2]))
}

fn exchange(kind: ExchangeKind, sync: bool) -> impl FnOnce(&mut ProgEnv) {
    move |env| env.exchanges.push(Exchange { kind, sync })
}

const SHFL: u32 = 0xffff_0000;

#[test]
fn a_stored_register_must_be_written() {
    wrong(Sample::new().out(9), UninitUse::Stored, "%r9", !0);
    fine(Sample::new().op(alu(I::MovW, 9, &[ONE])).out(9));
    wrong(Sample::new().op(alu(I::MovW, 9, &[8])).out(9), UninitUse::Stored, "%r9", !0);
}

#[test]
fn a_hot_store_is_a_store() {
    wrong(Sample::new().op(other(Op::StGlobal32, 9, &[0])), UninitUse::Stored, "%r9", !0);
    fine(Sample::new().op(other(Op::LdGlobal32, 9, &[0])).op(other(Op::StGlobal32, 9, &[0])));
}

#[test]
fn addresses_and_guards_must_be_written() {
    wrong(Sample::new().mem(load(Space::Global, 4, 5, 0, 9)), UninitUse::Address, "%rd5", !0);
    wrong(Sample::new().op(alu(I::MovW, 9, &[ONE]).when(3, true)), UninitUse::Condition, "%p3", !0);
    fine(Sample::new().op(alu(I::EqW, 3, &[LANE, ZERO])).op(alu(I::MovW, 9, &[ONE]).when(3, true)));
}

#[test]
fn dead_arithmetic_is_no_defect() {
    let dead = Sample::new().op(alu(I::Add32, 9, &[8, 8])).op(alu(I::EqW, 0, &[9, ONE]));
    fine(dead.op(alu(FloatOp::AddF32, 10, &[9, ONE])).op(alu(I::MadWideS32, 4, &[9, 9, 4])));
}

#[test]
fn only_the_lanes_that_skipped_a_write_are_wrong() {
    let some = Sample::new().op(alu(I::NeW, 0, &[LANE, ONE])).op(alu(I::MovW, 9, &[ONE]).when(0, true));
    wrong(some.out(9), UninitUse::Stored, "%r9", 2);
    let guarded = Sample::new().op(alu(I::NeW, 0, &[LANE, ONE])).op(alu(I::MovW, 9, &[ONE]).when(0, true));
    let out = store(Space::Global, 4, 0, 0, 9);
    fine(guarded.tables(|env| env.requests.push(out)).op(Instr::new(Op::Mem).when(0, true)));
}

#[test]
fn bitwise_results_may_not_depend_on_it() {
    fine(Sample::new().op(alu(I::And32, 9, &[8, ZERO])).out(9));
    fine(Sample::new().op(alu(I::Or32, 9, &[ONES, 8])).out(9));
    fine(Sample::new().op(alu(I::Xor32, 9, &[8, 8])).out(9));
    fine(Sample::new().op(alu(I::Sub32, 9, &[8, 8])).out(9));
    fine(Sample::new().op(alu(I::Lop3, 9, &[8, ZERO, ONE]).with(0x80)).out(9));
    wrong(Sample::new().op(alu(I::Lop3, 9, &[8, ZERO, ONE]).with(0xe8)).out(9), UninitUse::Stored, "%r9", !0);
    wrong(Sample::new().op(alu(I::And32, 9, &[8, ONE])).out(9), UninitUse::Stored, "%r9", !0);
    wrong(Sample::new().op(alu(I::Xor32, 9, &[8, 10])).out(9), UninitUse::Stored, "%r9", !0);
    let decided = Sample::new().op(alu(I::EqW, 1, &[ONE, ZERO])).op(alu(I::AndP, 2, &[0, 1]));
    fine(decided.op(alu(I::MovW, 9, &[ONE]).when(2, true)));
    let open = Sample::new().op(alu(I::EqW, 1, &[ONE, ONE])).op(alu(I::AndP, 2, &[0, 1]));
    wrong(open.op(alu(I::MovW, 9, &[ONE]).when(2, true)), UninitUse::Condition, "%p2", !0);
}

#[test]
fn bytes_keep_apart_through_packs_fields_and_shifts() {
    let packed = || Sample::new().op(alu(I::Pack16x2, 9, &[8, ONE]));
    fine(packed().op(alu(I::Hi16, 10, &[9])).out(10));
    wrong(packed().op(alu(I::Lo16, 10, &[9])).out(10), UninitUse::Stored, "%r10", !0);
    let sixteen = |s: Sample| s.op(alu(I::Shl32, 11, &[ONE, ZERO])).op(alu(I::MulLo32, 11, &[11, 12]));
    // 16 = 1 << 4, by way of defined registers.
    let shift = |s: Sample| {
        s.op(alu(I::Add32, 12, &[ONE, ONE])).op(alu(I::Add32, 12, &[12, 12])).op(alu(I::Shl32, 11, &[ONE, 12]))
    };
    fine(shift(packed()).op(alu(I::ShrU32, 10, &[9, 11])).out(10));
    fine(shift(packed()).op(alu(I::BfeU32, 10, &[9, 11, 11])).out(10));
    fine(shift(packed()).op(alu(I::Bfi32, 10, &[ONE, 9, ZERO, 11])).out(10));
    wrong(shift(packed()).op(alu(I::Bfi32, 10, &[ONE, 9, 11, 11])).out(10), UninitUse::Stored, "%r10", !0);
    wrong(
        shift(packed())
            .op(alu(I::Shl32, 10, &[9, 11]))
            .op(alu(I::Brev32, 10, &[10]))
            .op(alu(I::Brev32, 10, &[10]))
            .out(10),
        UninitUse::Stored,
        "%r10",
        !0,
    );
    wrong(sixteen(packed()).op(alu(I::ShrU32, 10, &[9, 11])).out(10), UninitUse::Stored, "%r10", !0);
    let wide = || Sample::new().op(alu(I::Pack32x2, 4, &[ONE, 8]));
    fine(wide().op(alu(I::TruncQW, 10, &[4])).out(10));
    wrong(wide().op(alu(I::Hi32, 10, &[4])).out(10), UninitUse::Stored, "%r10", !0);
    fine(packed().op(alu(I::Add16x2, 10, &[9, 9])).op(alu(I::Hi16, 10, &[10])).out(10));
    wrong(packed().op(alu(I::Add32, 10, &[9, 9])).op(alu(I::Hi16, 10, &[10])).out(10), UninitUse::Stored, "%r10", !0);
}

#[test]
fn permutations_choose_bytes() {
    // Selector 0x3232 = bytes 2 and 3 of the first source, twice.
    let chosen = |selector: u64| {
        let mut sample = Sample::new().op(alu(I::Pack16x2, 9, &[8, ONE])).op(alu(I::MovW, 10, &[ZERO]));
        for bit in (0..16).rev() {
            sample = sample.op(alu(I::Add32, 10, &[10, 10]));
            if selector >> bit & 1 == 1 {
                sample = sample.op(alu(I::Add32, 10, &[10, ONE]));
            }
        }
        sample.op(alu(I::Prmt, 11, &[9, ONE, 10])).out(11)
    };
    fine(chosen(0x3232));
    fine(chosen(0x7654));
    wrong(chosen(0x3231), UninitUse::Stored, "%r11", !0);
}

#[test]
fn a_selection_is_as_good_as_what_it_selects() {
    let select = |a, b| {
        let sample = Sample::new().op(alu(I::EqW, 0, &[ONE, ONE]));
        sample.op(alu(I::SelW, 9, &[a, b, 0])).out(9)
    };
    fine(select(ONE, 8));
    wrong(select(8, ONE), UninitUse::Stored, "%r9", !0);
    wrong(Sample::new().op(alu(I::SelW, 9, &[ONE, ZERO, 1])).out(9), UninitUse::Stored, "%r9", !0);
}

#[test]
fn local_memory_keeps_bytes() {
    let bytes = |count: i64| {
        let sample = (0..count).fold(at_zero(), |s, k| s.mem(store(Space::Local, 1, 6, 8 + k, ONE)));
        sample.mem(load(Space::Local, 4, 6, 8, 9)).out(9)
    };
    fine(bytes(4));
    wrong(bytes(3), UninitUse::Stored, "%r9", !0);
    // Undefined values may be spilled and filled.
    fine(at_zero().mem(store(Space::Local, 4, 6, 16, 8)).mem(load(Space::Local, 4, 6, 16, 9)));
    wrong(
        at_zero()
            .mem(store(Space::Local, 4, 6, 16, ONE))
            .mem(store(Space::Local, 4, 6, 16, 8))
            .mem(load(Space::Local, 4, 6, 16, 9))
            .out(9),
        UninitUse::Stored,
        "%r9",
        !0,
    );
}

#[test]
fn narrow_loads_extend() {
    let spilled = || at_zero().mem(store(Space::Local, 1, 6, 8, ONE));
    fine(spilled().mem(load(Space::Local, 1, 6, 8, 9)).out(9));
    let mut signed = load(Space::Local, 2, 6, 8, 9);
    signed.signed = true;
    wrong(spilled().mem(signed).op(alu(I::Hi16, 10, &[9])).out(10), UninitUse::Stored, "%r10", !0);
    fine(spilled().mem(load(Space::Local, 2, 6, 8, 9)).op(alu(I::Hi16, 10, &[9])).out(10));
}

#[test]
fn shared_memory_is_undefined_until_written() {
    wrong(at_zero().mem(load(Space::Shared, 4, 6, 0, 9)).out(9), UninitUse::Stored, "%r9", !0);
    fine(at_zero().mem(store(Space::Shared, 4, 6, 0, ONE)).mem(load(Space::Shared, 4, 6, 0, 9)).out(9));
    fine(at_zero().op(other(Op::StShared32, ONE, &[6])).op(other(Op::LdShared32, 9, &[6])).out(9));
    // It may hold undefined values, and pass them on.
    wrong(
        at_zero().mem(store(Space::Shared, 4, 6, 0, 8)).op(other(Op::LdShared32, 9, &[6])).out(9),
        UninitUse::Stored,
        "%r9",
        !0,
    );
}

#[test]
fn the_host_may_leave_a_buffer_undefined() {
    let copy = |offset| Sample::new().mem(load(Space::Global, 4, 0, offset, 9)).out(9).build();
    assert_eq!(uninit(&copy(0), 0), Ok(()));
    let (kind, _) = *uninit(&copy(4), 8).expect_err("a report");
    assert!(matches!(kind, BugKind::Uninitialised { what: UninitUse::Stored, .. }));
    assert_eq!(uninit(&copy(8), 8), Ok(()));
    let written = Sample::new().mem(store(Space::Global, 4, 0, 4, ONE)).mem(load(Space::Global, 4, 0, 4, 9)).out(9);
    assert_eq!(uninit(&written.build(), 8), Ok(()));
}

#[test]
fn heap_memory_is_undefined() {
    let block = || {
        let sized = at_zero().op(alu(I::Add64, 5, &[2, 2])).op(alu(I::Shl64, 5, &[5, 3]));
        // The argument lies behind the result at the top of the stack, byte 64 of local memory here.
        let mut size = store(Space::Local, 8, 6, 72, 5);
        size.wide = true;
        let mut result = load(Space::Local, 8, 6, 64, 7);
        result.wide = true;
        let room = other(Op::Alloca, 4, &[5]).with(1);
        let back = other(Op::StackRestore, 0, &[4]);
        sized
            .op(other(Op::StackSave, 4, &[]))
            .op(other(Op::Alloca, 7, &[4]).with(1))
            .op(back)
            .op(room)
            .op(back)
            .mem(size)
            .op(Instr::new(Op::Syscall(Syscall::Malloc)))
            .mem(result)
    };
    wrong(block().mem(load(Space::Generic, 4, 7, 0, 9)).out(9), UninitUse::Stored, "%r9", !0);
    fine(block().mem(store(Space::Generic, 4, 7, 0, ONE)).mem(load(Space::Generic, 4, 7, 0, 9)).out(9));
}

#[test]
fn atomic_operands_must_be_written() {
    let add = |b| action(MemOp::Atom(AtomOp::Add, AtomTy::U32), Space::Global, 4, 0, 0, &[9, b]);
    wrong(Sample::new().mem(add(8)), UninitUse::Stored, "%r8", !0);
    fine(Sample::new().mem(add(ONE)).out(9));
    let shared = |op| action(MemOp::Atom(op, AtomTy::U32), Space::Shared, 4, 6, 0, &[9, ONE]);
    // A counter that nobody cleared: the old value is undefined, after an exchange it is not.
    wrong(at_zero().mem(shared(AtomOp::Add)).out(9), UninitUse::Stored, "%r9", !0);
    wrong(at_zero().mem(shared(AtomOp::Exch)).out(9), UninitUse::Stored, "%r9", 1);
    fine(at_zero().mem(shared(AtomOp::Exch)).mem(shared(AtomOp::Add)).out(9));
}

#[test]
fn shuffles_carry_the_source_lanes_definedness() {
    // Lane 1 alone has the value; the others read it, or lane 0's.
    let from = |source| {
        let one = Sample::new().op(alu(I::EqW, 0, &[LANE, ONE])).op(alu(I::MovW, 9, &[ONE]).when(0, true));
        let clamp =
            one.op(alu(I::ShrU32, 11, &[ONES, ZERO])).op(alu(I::Popc32, 11, &[11])).op(alu(I::Sub32, 11, &[11, ONE]));
        clamp
            .op(other(Op::Exchange, 10, &[9, source, 11, ONES]).with(SHFL))
            .tables(exchange(ExchangeKind::ShflIdx, true))
            .out(10)
    };
    fine(from(ONE));
    wrong(from(ZERO), UninitUse::Stored, "%r10", !0);
    wrong(from(LANE), UninitUse::Stored, "%r10", !2);
}

#[test]
fn votes_take_all_lanes() {
    let vote = |kind| {
        let some = Sample::new().op(alu(I::NeW, 0, &[LANE, ONE])).op(alu(I::EqW, 1, &[LANE, ZERO]).when(0, true));
        let voted = some.op(other(Op::Exchange, 2, &[1, 0, 0, ONES]).with(SHFL)).tables(exchange(kind, true));
        voted.op(alu(I::MovW, 10, &[ONE]).when(2, true))
    };
    // Lane 0 says yes and lane 2 no, whatever lane 1 would say.
    fine(vote(ExchangeKind::VoteAny));
    fine(vote(ExchangeKind::VoteAll));
    let ballot = |byte| {
        let some = Sample::new().op(alu(I::NeW, 0, &[LANE, ONE])).op(alu(I::EqW, 1, &[LANE, ZERO]).when(0, true));
        let voted = some.op(other(Op::Exchange, 10, &[1, 0, 0, ONES]).with(SHFL));
        voted.tables(exchange(ExchangeKind::VoteBallot, true)).op(alu(I::ByteOfW, 11, &[10]).with(byte)).out(11)
    };
    fine(ballot(1));
    wrong(ballot(0), UninitUse::Stored, "%r11", !0);
    let members = Sample::new().op(other(Op::Exchange, 10, &[0, 0, 0, 9]).with(SHFL));
    wrong(members.tables(exchange(ExchangeKind::VoteBallot, true)), UninitUse::Condition, "%r9", !0);
}

#[test]
fn a_barrier_reduces_all_predicates() {
    let reduce = |defined: bool| {
        let red = Barrier { kind: BarrierKind::Red(BarrierRed::Popc), aligned: true, counted: false, id: None };
        let sample = Sample::new().tables(|env| env.barriers.push(red));
        let sample = if defined { sample.op(alu(I::EqW, 0, &[LANE, ZERO])) } else { sample };
        sample.op(other(Op::Bar, 9, &[ZERO, 0, 0])).out(9)
    };
    fine(reduce(true));
    wrong(reduce(false), UninitUse::Stored, "%r9", !0);
    let number = Sample::new().tables(|env| {
        env.barriers.push(Barrier { kind: BarrierKind::Sync, aligned: true, counted: false, id: None });
    });
    wrong(number.op(other(Op::Bar, 0, &[9])), UninitUse::Condition, "%r9", !0);
}

#[test]
fn every_call_has_fresh_registers() {
    let call = || Instr::new(Op::Call).with(1);
    // The first call writes %r9, as the caller's word of local memory is zero, and sets that; every call stores %r9.
    let caller = || at_zero().mem(store(Space::Local, 4, 6, 8, ZERO));
    let body = |sample: Sample| {
        let looked = sample.op(alu(I::Sub64, 6, &[2, 2])).mem(load(Space::Local, 4, 6, 8, 8));
        let first = looked.op(alu(I::EqW, 0, &[8, ZERO])).op(alu(I::MovW, 9, &[ONE]).when(0, true));
        first.mem(store(Space::Local, 4, 6, 8, ONE)).out(9)
    };
    fine(body(caller().op(call()).function()));
    wrong(body(caller().op(call()).op(call()).function()), UninitUse::Stored, "%r9", !0);
    // Its local memory is fresh as well: a frame is 64 bytes, the callee's begins there.
    let local = |sample: Sample| {
        let to = sample.op(alu(I::ZextWQ, 6, &[0])).mem(load(Space::Local, 4, 6, 0, 10));
        to.mem(store(Space::Local, 4, 6, 0, ONE)).out(10)
    };
    wrong(local(Sample::new().op(call()).function()), UninitUse::Stored, "%r10", !0);
}

#[test]
fn integer_division_by_zero_is_reported_on_request() {
    let stop = |sample: Sample| {
        let env = sample.build();
        let mut observers = Observers::none().check(Check::Div0, &env);
        match run(&env, &mut observers, 0) {
            Err(Stop::Bug(bug)) => Some((bug.kind, bug.place.lanes, bug.place.thread)),
            other => {
                assert_eq!(other, Ok(()));
                None
            }
        }
    };
    let bad = Some((BugKind::Plain(Kind::DivisionByZero), 1, [0, 0, 0]));
    assert_eq!(stop(Sample::new().op(alu(I::DivU32, 9, &[ONE, LANE]))), bad);
    assert_eq!(stop(Sample::new().op(alu(I::ZextWQ, 5, &[LANE])).op(alu(I::RemS64, 6, &[5, 5]))), bad);
    assert_eq!(stop(Sample::new().op(alu(I::DivU32, 9, &[LANE, ONE]))), None);
    let guarded = Sample::new().op(alu(I::NeW, 0, &[LANE, ZERO]));
    assert_eq!(stop(guarded.op(alu(I::DivS32, 9, &[ONE, LANE]).when(0, true))), None);
}

#[test]
fn a_trace_hash_is_of_what_happens() {
    let hash = |env: &Arc<ProgEnv>| {
        let mut observers = Observers::none().with_hash(env);
        run(env, &mut observers, 0).unwrap();
        observers.get().map_or(0, TraceHash::value)
    };
    let plain = Sample::new().op(alu(I::Add32, 9, &[ONE, LANE])).mem(store(Space::Global, 4, 0, 8, 9)).build();
    let mut promoted = ProgEnv::clone(&plain);
    promoted.code[0].hot = HotOp::Add32;
    promoted.code[1] = other(Op::StGlobal32, 9, &[0]).with(8);
    let first = hash(&plain);
    assert_eq!(first, hash(&plain));
    assert_eq!(first, hash(&Arc::new(promoted)));
    let elsewhere = Sample::new().op(alu(I::Add32, 9, &[ONE, LANE])).mem(store(Space::Global, 4, 0, 12, 9)).build();
    assert_ne!(first, hash(&elsewhere));
    let fewer = Sample::new().op(alu(I::Add32, 9, &[ONE, LANE]).when(0, false)).mem(store(Space::Global, 4, 0, 8, 9));
    assert_eq!(first, hash(&fewer.build()), "a guard that holds changes nothing");
    // The value itself: the same in every build and on every host.
    assert_eq!(first, GOLDEN);
}

/// The hash of a small program's trace.
const GOLDEN: u64 = 0x5471_3bc0_2895_50f5;

#[test]
fn helpers_leave_no_trace() {
    let hash = |env: &Arc<ProgEnv>| {
        let mut observers = Observers::none().with_hash(env);
        run(env, &mut observers, 0).unwrap();
        observers.get().map_or(0, TraceHash::value)
    };
    let with = Sample::new().out(ONE).op(alu(I::MovW, 9, &[ONE])).build();
    let mut hidden = ProgEnv::clone(&with);
    hidden.origin[1].hidden = true;
    let mut without = ProgEnv::clone(&hidden);
    without.code.remove(1);
    without.origin.remove(1);
    assert_eq!(hash(&Arc::new(hidden)), hash(&Arc::new(without)));
    assert_ne!(hash(&with), 0);
}

#[test]
fn rules_that_fire_are_collected() {
    let red = Barrier { kind: BarrierKind::Red(BarrierRed::Popc), aligned: true, counted: false, id: None };
    let sample = Sample::new().tables(|env| env.barriers.push(red)).op(alu(I::EqW, 0, &[LANE, ZERO]));
    let env = sample.op(alu(I::MovW, 9, &[ONE]).when(0, true)).op(other(Op::Bar, 9, &[ZERO, 0, 0])).out(9).build();
    let mut observers = Observers::none().with_coverage(&env);
    run(&env, &mut observers, 0).unwrap();
    let coverage: &Coverage = observers.get().unwrap();
    let level = |r: &Rule| r.id().split('.').next().unwrap_or_default();
    let crs = |r: &Rule| level(r) == "crs";
    let here = |r: &Rule| ["warp", "bar", "block", "grid"].contains(&level(r));
    let missing: Vec<_> = Rule::ALL.iter().copied().filter(|r| !coverage.fired().contains(r) && here(r)).collect();
    assert_eq!(missing, []);
    // Of threads exactly those of the instructions that ran.
    let threads: Vec<_> = coverage.fired().iter().filter(|r| level(r) == "thread").map(|r| r.id()).collect();
    let executed = ["barred", "exit", "mov", "setp", "st", "exec-tt", "exec-ff"];
    assert_eq!(threads.len(), executed.len(), "{threads:?}");
    assert!(executed.iter().all(|r| threads.contains(&format!("thread.{r}").as_str())), "{threads:?}");
    assert!(!coverage.fired().iter().any(crs), "the program runs with independent threads");
}

#[test]
fn break_tokens_fire_their_rules() {
    let sample = Sample::new().tables(|env| (env.target.sm, env.injected) = (50, true));
    let broken = sample.op(alu(I::EqW, 0, &[LANE, ZERO])).op(Instr::new(Op::PreBrk).with(4));
    let env = broken.op(Instr::new(Op::Break).when(0, true)).op(Instr::new(Op::Break)).out(ONE).build();
    let mut observers = Observers::none().with_coverage(&env);
    run(&env, &mut observers, 0).unwrap();
    let fired = observers.fired();
    for rule in
        [Rule::CrsPreBrk, Rule::CrsBrkDiv, Rule::CrsBrkUni, Rule::CrsUnwind, Rule::CrsUpdExecState, Rule::CrsNext]
    {
        assert!(fired.contains(&rule), "{}", rule.id());
    }
}
