//! Registers that nobody will read tell no states apart (D-live), and nothing is lost by it: each program here reads a register
//! in a way that a careless analysis overlooks, after a step that another thread can notice. With every register told apart
//! (`Grain::Instruction`) and without, searches find the same.

use crate::reference::Found;
use crate::small::{Small, small};
use std::collections::BTreeSet;
use warpstep::explore::space::{Options, explore};
use warpstep::machine::walk::{Grain, State};
use warpstep::machine::{Config, ControlModel, MemoryModel};
use warpstep::program::instr::Slot;
use warpstep::program::ops::Class;

/// A program: what it reads late, functions before the kernel, the kernel's body, threads and how it runs. `%t` is the thread,
/// `%m` the memory; `%r`, `%rd`, `%p` are free.
pub struct Case {
    pub name: &'static str,
    before: &'static str,
    body: &'static str,
    threads: u32,
    warp_size: u32,
    controls: &'static [ControlModel],
    memory: MemoryModel,
}

const ALL: &[ControlModel] = &[ControlModel::Crs, ControlModel::Its, ControlModel::ItsSplit, ControlModel::Thread];

/// A program of two warps of one thread under every control model.
const fn apart(name: &'static str, before: &'static str, body: &'static str) -> Case {
    Case { name, before, body, threads: 2, warp_size: 1, controls: ALL, memory: MemoryModel::Flat }
}

const NOTICED: &str =
    ".func noticed(.param .b64 at) { .reg .b64 %rd; ld.param.u64 %rd, [at]; st.global.u32 [%rd], 1; ret; }";

/// Calls another function and uses afterwards what it had before, a parameter and a local variable.
const NESTED: &str = ".func inner(.param .b64 at) { .reg .b64 %rd; ld.param.u64 %rd, [at]; st.global.u32 [%rd], 1; ret; }
.func outer(.param .b64 at, .param .b32 value) {
    .local .align 4 .b8 room[4]; .reg .b64 %rd<3>; .reg .b32 %r<4>;
    ld.param.u64 %rd0, [at]; ld.param.u32 %r0, [value]; mov.u64 %rd1, room; st.local.u32 [%rd1], %r0; add.u32 %r1, %r0, 1;
    { .param .b64 a; st.param.b64 [a], %rd0; call inner, (a); }
    ld.local.u32 %r2, [%rd1]; mad.lo.u32 %r2, %r2, 16, %r1; st.global.u32 [%rd0+16], %r2; ret; }";

/// All programs.
pub fn cases() -> Vec<Case> {
    vec![
        apart(
            "a caller's register",
            NOTICED,
            "setp.eq.u32 %p0, %t, 0; @%p0 bra R; st.global.u32 [%m], 5; bra E;
             R: ld.global.u32 %r0, [%m]; add.u64 %rd0, %m, 8;
             { .param .b64 a; st.param.b64 [a], %rd0; call noticed, (a); } st.global.u32 [%m+16], %r0; E:",
        ),
        apart(
            "registers of several frames",
            NESTED,
            "setp.eq.u32 %p0, %t, 0; @%p0 bra R; st.global.u32 [%m], 5; bra E;
             R: ld.global.u32 %r0, [%m]; add.u64 %rd0, %m, 8;
             { .param .b64 a; .param .b32 v; st.param.b64 [a], %rd0; st.param.b32 [v], %r0; call outer, (a, v); } E:",
        ),
        apart(
            "behind a write that a guard holds back",
            "",
            "setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %t, 7; @%p0 bra R; st.global.u32 [%m], 5; bra E;
             R: ld.global.u32 %r0, [%m]; st.global.u32 [%m+8], 1; @%p1 mov.u32 %r0, 9; st.global.u32 [%m+16], %r0; E:",
        ),
        apart(
            "a guard",
            "",
            "setp.eq.u32 %p0, %t, 0; @%p0 bra R; st.global.u32 [%m], 5; bra E;
             R: ld.global.u32 %r0, [%m]; setp.eq.u32 %p1, %r0, 5; st.global.u32 [%m+8], 1;
             @%p1 st.global.u32 [%m+16], 3; E:",
        ),
        apart(
            "the last target of an indirect branch",
            "",
            "setp.eq.u32 %p0, %t, 0; @%p0 bra R; st.global.u32 [%m], 5; bra E;
             R: ld.global.u32 %r0, [%m]; mov.u32 %r1, 1; st.global.u32 [%m+8], 1;
             T: .branchtargets A, B; brx.idx %r1, T;
             A: st.global.u32 [%m+16], 7; bra E; B: st.global.u32 [%m+16], %r0; E:",
        ),
        apart(
            "through an indirect call",
            NOTICED,
            "setp.eq.u32 %p0, %t, 0; @%p0 bra R; st.global.u32 [%m], 5; bra E;
             R: ld.global.u32 %r0, [%m]; add.u64 %rd0, %m, 8; mov.u64 %rd1, noticed;
             { .param .b64 a; st.param.b64 [a], %rd0; proto: .callprototype _ (.param .b64 _); call %rd1, (a), proto; }
             st.global.u32 [%m+16], %r0; E:",
        ),
        apart(
            "a wide register, and a predicate behind a loop",
            "",
            "setp.eq.u32 %p0, %t, 0; @%p0 bra R; st.global.u64 [%m], 5; bra E;
             R: ld.global.u64 %rd0, [%m]; setp.eq.u64 %p1, %rd0, 5; mov.u32 %r1, 0;
             L: st.global.u32 [%m+8], %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 2; @%p2 bra L;
             @%p1 st.global.u64 [%m+16], %rd0; E:",
        ),
        Case {
            warp_size: 2,
            ..apart(
                "lanes that wait for others of their warp",
                "",
                "add.u32 %r0, %t, 5; mul.wide.u32 %rd0, %t, 4; add.u64 %rd0, %m, %rd0; setp.eq.u32 %p0, %t, 1; @%p0 bra A;
                 st.global.u32 [%rd0+8], 1; st.global.u32 [%rd0+16], %r0; bra E; A: st.global.u32 [%rd0+16], %r0;
                 E: st.global.u32 [%rd0+24], %r0;",
            )
        },
        apart(
            "what a barrier's votes find",
            "",
            "ld.global.u32 %r0, [%m]; st.global.u32 [%m], 5; setp.eq.u32 %p0, %r0, 5; bar.red.or.pred %p1, 0, %p0;
             mul.wide.u32 %rd0, %t, 4; add.u64 %rd0, %m, %rd0; @%p1 st.global.u32 [%rd0+16], %r0;",
        ),
        apart(
            "the stack that it moves",
            NOTICED,
            "mov.u64 %rd0, 16; alloca.u64 %rd1, %rd0, 8; cvta.local.u64 %rd2, %rd1; st.u32 [%rd2], 5;
             st.global.u32 [%m], 1; add.u64 %rd0, %m, 8;
             { .param .b64 a; st.param.b64 [a], %rd0; call noticed, (a); } ld.u32 %r0, [%rd2]; st.global.u32 [%m+16], %r0;",
        ),
        // Its second call finds what its first one was filled with.
        Case {
            threads: 32,
            warp_size: 32,
            controls: &[ControlModel::Crs, ControlModel::Its],
            ..apart(
                "what fills a function",
                ".func twice(.param .b64 at) { .reg .b64 %rd; ld.param.u64 %rd, [at];
                 st.global.u32 [%rd], 77; st.global.u32 [%rd+4], 88; ret; }",
                "{ .param .b64 a; st.param.b64 [a], %m; call twice, (a); } add.u64 %rd0, %m, 16;
                 { .param .b64 a; st.param.b64 [a], %rd0; call twice, (a); }",
            )
        },
        Case {
            memory: MemoryModel::Split,
            ..apart(
                "what memory has in flight",
                "",
                "mul.wide.u32 %rd0, %t, 4; add.u64 %rd0, %m, %rd0; add.u32 %r0, %t, 7;
                 st.global.u32 [%rd0], %r0; st.global.u32 [%m+16], %r0;",
            )
        },
    ]
}

impl Case {
    fn programs(&self) -> impl Iterator<Item = (ControlModel, Small)> {
        let text = format!(
            ".version 8.0\n.target sm_60\n.address_size 64\n{}\n.entry k(.param .u64 p) {{\n.reg .b64 %m, %rd<4>; \
             .reg .b32 %t, %r<4>; .reg .pred %p<3>;\nld.param.u64 %m, [p]; mov.u32 %t, %tid.x;\n{}\nret;\n}}\n",
            self.before, self.body
        );
        self.controls.iter().map(move |control| {
            let memory = self.memory.clone();
            let config = Config { control: Some(*control), warp_size: self.warp_size, memory, ..Config::default() };
            (*control, small(&text, 1, self.threads, config))
        })
    }

    /// Compares what searches find; gives how many states there are with all registers told apart, and without.
    pub fn compare(&self) -> Result<[usize; 2], String> {
        let mut states = [0; 2];
        for (control, program) in self.programs() {
            let spaces = [Grain::Instruction, Grain::Visible].map(|grain| program.space(grain, None, program.warps()));
            let [whole, alive] = spaces.each_ref().map(Found::of);
            if whole.is_none() || whole != alive {
                return Err(format!("{} under {control:?}: {whole:?} and {alive:?}", self.name));
            }
            states.iter_mut().zip(&spaces).for_each(|(sum, space)| *sum += space.graph.states());
        }
        Ok(states)
    }
}

#[test]
fn what_is_read_late_is_kept() {
    for case in cases() {
        let [whole, alive] = case.compare().unwrap_or_else(|different| panic!("{different}"));
        assert!(alive < whole, "{}: {alive} {whole}", case.name);
    }
}

/// A lock that is taken by compare-and-swap: what a thread read while it had the lock is dead once it has given it back.
const LOCK: &str = "L: atom.global.cas.b32 %r0, [%m], 0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L;
    ld.volatile.global.u32 %r1, [%m+4]; add.u32 %r1, %r1, 1; st.volatile.global.u32 [%m+4], %r1; atom.global.exch.b32 %r0, [%m], 0;";

#[test]
fn states_of_a_lock_are_who_has_gone_through_and_where_its_holder_is() {
    for threads in [2, 4, 8] {
        let lock = Case { threads, controls: &[ControlModel::Thread], ..apart("a lock", "", LOCK) };
        for (_, program) in lock.programs() {
            let space = program.space(Grain::Visible, None, false);
            let found = Found::of(&space).expect("it comes to its end");
            assert!(found.defects.is_empty() && found.endless == Some(false) && found.outcomes.len() == 1, "{found:?}");
            // Some have gone through; nobody has the lock, or one of the others, who stands at one of three places.
            assert_eq!(
                space.graph.states(),
                (1 << threads) + 3 * threads as usize * (1 << (threads - 1)),
                "{threads} threads"
            );
        }
    }
}

/// What 64-bit registers of the first thread hold when all have ended, which conditions of litmus tests read.
pub fn ended(grain: Grain) -> BTreeSet<Vec<Option<u64>>> {
    let text = ".version 8.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 p) {\n.reg .b64 %m, %rd; .reg .b32 %t; \
        .reg .pred %p;\nld.param.u64 %m, [p]; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0; @%p bra R;\n\
        st.global.u64 [%m], 5; bra E; R: ld.global.u64 %rd, [%m]; E: ret; }";
    let config = Config { control: Some(ControlModel::Thread), warp_size: 1, keep_finished: true, ..Config::default() };
    let program = small(text, 1, 2, config);
    let slots = program.env.functions.values().map(|f| f.slots.q).max().unwrap_or(0);
    let registers = |state: &dyn State| (0..slots).map(|q| state.register(0, 0, Class::Q, Slot(q))).collect();
    let mut poll = |_: &_| None;
    let mut options = Options::states(false, &mut poll);
    let space = program.search(grain, |walk, _| explore(walk, &mut options, &mut |state| registers(state)));
    space.outcomes.into_keys().collect()
}

#[test]
fn registers_of_threads_that_have_ended_are_kept_where_somebody_reads_them() {
    let found = ended(Grain::Visible);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found, ended(Grain::Instruction));
}

/// Each careless analysis loses something of one of the programs.
#[cfg(feature = "mutants")]
pub fn mutants_are_noticed() {
    use warpstep::base::mutant::{Mutant, select};
    let careless = [
        Mutant::DeadCallers,
        Mutant::DeadGuarded,
        Mutant::DeadTargets,
        Mutant::DeadDeferred,
        Mutant::DeadEnded,
        Mutant::DeadBase,
        Mutant::DeadFilled,
    ];
    for mutant in careless {
        select(Some(mutant));
        let noticed = cases().iter().any(|case| case.compare().is_err()) || ended(Grain::Visible).len() != 2;
        select(None);
        assert!(noticed, "{mutant:?}");
    }
}
