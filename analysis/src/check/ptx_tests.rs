//! Uses of values that were never written, in PTX as people and compilers write it.

use super::{Observers, sample};
use crate::base::FileId;
use crate::program::check::check;
use crate::program::env::ProgEnv;
use crate::program::{Options, build};
use crate::ptx::parse;
use crate::verdict::{BugKind, Rule, Stop, UninitUse};
use std::sync::Arc;

/// A kernel of this body, for independent threads or with the tokens of the report injected.
fn kernel(before: &str, body: &str, inject: bool) -> Arc<ProgEnv> {
    let target = if inject { "sm_50" } else { "sm_70" };
    let text = format!(
        ".version 7.0\n.target {target}\n.address_size 64\n{before}\n\
         .visible .entry main(.param .u64 out)\n{{\n\
         .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p<4>;\n\
         .shared .align 8 .b8 tile[128]; .local .align 8 .b8 frame[64];\n\
         ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r15, %tid.x;\n\
         {body}\nret;\n}}\n"
    );
    let (module, errors) = parse(&text);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let (env, errors) = build(&[(FileId(0), &module, &check(&module).0)], &Options { inject, promote: true });
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    Arc::new(env)
}

/// The use that a run of the kernel reports, with the register.
fn report(before: &str, body: &str, inject: bool) -> Option<(UninitUse, Option<String>)> {
    let env = kernel(before, body, inject);
    match sample::run(&env, &mut Observers::none().with_uninit(&env), 0) {
        Ok(()) => None,
        Err(Stop::Bug(bug)) => match bug.kind {
            BugKind::Uninitialised { what, register, .. } => Some((what, register)),
            other => panic!("{other:?}\n{body}"),
        },
        Err(stop) => panic!("{stop:?}\n{body}"),
    }
}

#[track_caller]
fn fine(before: &str, body: &str) {
    for inject in [false, true] {
        assert_eq!(report(before, body, inject), None, "{body}");
    }
}

#[track_caller]
fn wrong(before: &str, body: &str, what: UninitUse, register: &str) {
    for inject in [false, true] {
        assert_eq!(report(before, body, inject), Some((what, Some(register.to_owned()))), "{body}");
    }
}

#[test]
fn results() {
    wrong("", "st.global.u32 [%rd1], %r2;", UninitUse::Stored, "%r2");
    wrong(
        "",
        "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; st.global.v4.u32 [%rd1], {%r1, %r2, %r4, %r3};",
        UninitUse::Stored,
        "%r4",
    );
    wrong("", "fma.rn.f32 %f1, %f2, %f3, 0f3F800000; st.global.f32 [%rd1], %f1;", UninitUse::Stored, "%f1");
    fine("", "mov.f32 %f2, 0f3F800000; fma.rn.f32 %f1, %f2, %f2, %f2; st.global.f32 [%rd1], %f1;");
}

#[test]
fn a_loop_without_a_beginning() {
    let body = |first| {
        format!("{first} L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 10; @%p1 bra L; st.global.u32 [%rd1], %r2;")
    };
    fine("", &body("mov.u32 %r2, 0;"));
    wrong("", &body(""), UninitUse::Condition, "%p1");
}

#[test]
fn one_arm_of_a_branch_forgets_to_assign() {
    let body = |other| {
        format!(
            "setp.lt.u32 %p1, %r15, 40; @%p1 bra A; {other} bra B; A: mov.u32 %r1, 7; B: st.global.u32 [%rd1], %r1;"
        )
    };
    fine("", &body("mov.u32 %r1, 3;"));
    wrong("", &body(""), UninitUse::Stored, "%r1");
}

#[test]
fn addresses_and_targets() {
    wrong("", "ld.global.u32 %r1, [%rd2];", UninitUse::Address, "%rd2");
    wrong(
        "",
        "mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r15;",
        UninitUse::Address,
        "%rd3",
    );
    wrong(
        "",
        "ts: .branchtargets A, B; brx.idx %r1, ts; A: mov.u32 %r2, 1; B: mov.u32 %r3, 1;",
        UninitUse::Condition,
        "%r1",
    );
    fine("", "and.b32 %r1, %r15, 3; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r15;");
}

#[test]
fn spills_and_arrays() {
    fine(
        "",
        "st.local.u32 [frame], %r3; st.local.u32 [frame+4], %r15; ld.local.v2.u32 {%r4, %r5}, [frame]; st.global.u32 [%rd1], %r5;",
    );
    wrong(
        "",
        "st.local.u32 [frame+4], %r15; ld.local.v2.u32 {%r4, %r5}, [frame]; st.global.u32 [%rd1], %r4;",
        UninitUse::Stored,
        "%r4",
    );
    let bytes = |n: u32| {
        let stores: String = (0..n).map(|k| format!("st.local.u8 [frame+{k}], %r15; ")).collect();
        format!("{stores} ld.local.u64 %rd2, [frame]; st.global.u64 [%rd1], %rd2;")
    };
    fine("", &bytes(8));
    wrong("", &bytes(7), UninitUse::Stored, "%rd2");
    // Through a generic address.
    fine(
        "",
        "mov.u64 %rd2, frame; cvta.local.u64 %rd3, %rd2; st.u32 [%rd3], %r15; ld.u32 %r1, [%rd3]; st.global.u32 [%rd1], %r1;",
    );
    wrong(
        "",
        "mov.u64 %rd2, frame; cvta.local.u64 %rd3, %rd2; ld.u32 %r1, [%rd3]; st.global.u32 [%rd1], %r1;",
        UninitUse::Stored,
        "%r1",
    );
}

#[test]
fn shared_memory() {
    let body = |store, wait| {
        format!(
            "mov.u32 %r1, tile; shl.b32 %r2, %r15, 1; add.u32 %r3, %r1, %r2; cvt.u16.u32 %h1, %r15; {store} {wait} \
             xor.b32 %r4, %r2, 126; add.u32 %r5, %r1, %r4; ld.shared.u16 %h2, [%r5]; st.global.u16 [%rd1], %h2;"
        )
    };
    let store = "st.shared.u16 [%r3], %h1;";
    fine("", &body(store, "bar.sync 0;"));
    wrong("", &body("", "bar.sync 0;"), UninitUse::Stored, "%h2");
    // Without the barrier the first warp reads what the second has not written yet.
    wrong("", &body(store, ""), UninitUse::Stored, "%h2");
}

#[test]
fn halves_of_registers() {
    fine("", "cvt.u16.u32 %h1, %r15; mov.b32 %r1, {%h1, %h2}; cvt.u16.u32 %h3, %r1; st.global.u16 [%rd1], %h3;");
    wrong("", "cvt.u16.u32 %h1, %r15; mov.b32 %r1, {%h1, %h2}; st.global.u32 [%rd1], %r1;", UninitUse::Stored, "%r1");
    fine("", "cvt.u16.u32 %h1, %r15; mov.b32 %r1, {%h2, %h1}; shr.u32 %r2, %r1, 16; st.global.u32 [%rd1], %r2;");
    fine("", "cvt.u16.u32 %h1, %r15; mov.b32 %r1, {%h2, %h1}; bfe.u32 %r2, %r1, 20, 4; st.global.u32 [%rd1], %r2;");
    fine("", "mov.b64 %rd2, {%r15, %r1}; cvt.u32.u64 %r2, %rd2; st.global.u32 [%rd1], %r2;");
    fine("", "and.b32 %r1, %r2, 0; or.b32 %r1, %r1, %r15; st.global.u8 [%rd1], %r1;");
    fine("", "xor.b32 %r1, %r1, %r1; st.global.u32 [%rd1], %r1;");
}

#[test]
fn functions() {
    let f = |body| {
        format!(
            ".func (.param .b32 result) f (.param .b32 a)\n{{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; {body} ret; }}"
        )
    };
    let call = "{ .param .b32 in; .param .b32 back; st.param.b32 [in], %r15; call (back), f, (in); ld.param.b32 %r1, [back]; } st.global.u32 [%rd1], %r1;";
    fine(&f("add.u32 %r2, %r1, 1; st.param.b32 [result], %r2;"), call);
    wrong(&f(""), call, UninitUse::Stored, "%r1");
    let ignored = "{ .param .b32 in; .param .b32 back; call (back), f, (in); ld.param.b32 %r1, [back]; } st.global.u32 [%rd1], %r15;";
    fine(&f("st.param.b32 [result], %r1;"), ignored);
}

#[test]
fn the_heap() {
    let before = ".extern .func (.param .b64 r) malloc (.param .b64 n);";
    let block =
        "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call (r), malloc, (n); ld.param.b64 %rd2, [r]; }";
    wrong(before, &format!("{block} ld.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1;"), UninitUse::Stored, "%r1");
    fine(before, &format!("{block} st.u32 [%rd2], %r15; ld.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1;"));
}

#[test]
fn atomics_and_predicates() {
    wrong("", "red.global.add.u32 [%rd1], %r2;", UninitUse::Stored, "%r2");
    wrong("", "atom.global.cas.b32 %r1, [%rd1], 0, %r2;", UninitUse::Stored, "%r2");
    fine("", "atom.global.add.u32 %r1, [%rd1], 1; st.global.u32 [%rd1], %r1;");
    wrong("", "@%p1 st.global.u32 [%rd1], %r15;", UninitUse::Condition, "%p1");
    wrong(
        "",
        "setp.eq.u32 %p1, %r15, 0; setp.eq.and.u32 %p2, %r1, 1, %p1; @%p2 st.global.u32 [%rd1], %r15;",
        UninitUse::Condition,
        "%p2",
    );
    fine("", "setp.eq.u32 %p1, %r15, 0; selp.u32 %r1, %r15, %r15, %p1; st.global.u32 [%rd1], %r1;");
    wrong("", "bar.red.popc.u32 %r1, 0, %p1; st.global.u32 [%rd1], %r1;", UninitUse::Stored, "%r1");
}

#[test]
fn guarded_calls_and_returns_fire_their_rules() {
    let f = ".func f () { .reg .pred %p; .reg .b32 %t; mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 3; @%p ret; ret; }";
    let env = kernel(f, "setp.lt.u32 %p1, %r15, 9; @%p1 call f;", true);
    let mut observers = Observers::none().with_coverage(&env);
    assert_eq!(sample::run(&env, &mut observers, 0), Ok(()));
    let fired = observers.fired();
    for rule in [Rule::CrsCallGuard, Rule::CrsRetDiv, Rule::CrsRetUni, Rule::CrsPreRet, Rule::ThreadExecFf] {
        assert!(fired.contains(&rule), "{}", rule.id());
    }
}
