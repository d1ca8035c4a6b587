//! Tests of lowering on small texts. Expected code is written as `dump` prints it.

use super::*;
use crate::program::check::check;
use crate::program::dump;
use crate::program::env::Init;
use crate::program::instr::{MemOp, Op, Order, Scope, Space};
use crate::program::ops::{AtomTy, Class};
use crate::ptx::parse;
use crate::verdict::AccessKind;

const HEAD: &str = ".version 8.1\n.target sm_90\n.address_size 64\n";
const PLAIN: Options = Options { inject: false, promote: false };

fn build_all(texts: &[&str], options: &Options) -> (ProgEnv, Vec<LowerError>) {
    let modules: Vec<(Module, Checked)> = texts
        .iter()
        .map(|text| {
            let (module, errors) = parse(&format!("{HEAD}{text}"));
            assert_eq!(errors, [], "{text}");
            let checked = check(&module).0;
            (module, checked)
        })
        .collect();
    let modules: Vec<_> = (0u32..).zip(&modules).map(|(file, (m, checked))| (FileId(file), m, checked)).collect();
    build(&modules, options)
}

fn fine(text: &str) -> ProgEnv {
    let (env, errors) = build_all(&[text], &PLAIN);
    assert_eq!(errors, [], "{text}");
    env
}

/// The instructions of all functions as the dump shows them, without addresses.
fn code(env: &ProgEnv) -> Vec<String> {
    let text = dump(env, None);
    let lines = text.lines().filter_map(|line| line.get(..6)?.trim().strip_suffix(':').map(|_| &line[6..]));
    lines.map(|line| line.trim_start_matches('·').trim().to_owned()).collect()
}

/// The code of statements in an entry with some registers.
fn body(statements: &str) -> Vec<String> {
    let registers =
        ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .b128 %x<3>;";
    let mut code =
        code(&fine(&format!(".entry k(.param .u64 a, .param .align 8 .b8 s[12]) {{ {registers} {statements} }}")));
    assert_eq!(code.pop().as_deref(), Some("Exit"));
    code
}

#[track_caller]
fn same(statements: &str, expected: &[&str]) {
    assert_eq!(body(statements), expected, "{statements}");
}

#[test]
fn blocks_have_registers_of_their_own() {
    // After listing 5.4 of the report.
    same(
        "mov.b32 %r1, 1; { .reg .b32 %r1; mov.b32 %r1, 2; { .reg .b32 %r<2>; mov.b32 %r1, 3; } mov.b32 %r1, 4; } mov.b32 %r1, 5;",
        &["MovW %r1 <- 1", "MovW %r1 <- 2", "MovW %r1 <- 3", "MovW %r1 <- 4", "MovW %r1 <- 5"],
    );
    let env =
        fine(".entry k() { .reg .b32 %r<4>; mov.b32 %r1, 1; { .reg .b32 %r1; mov.b32 %r1, 2; } mov.b32 %r1, 5; }");
    let slots: Vec<u16> = env.code.iter().take(3).map(|i| i.d.0).collect();
    assert!(slots[0] == slots[2] && slots[0] != slots[1], "{slots:?}");
}

#[test]
fn constants_parameters_and_special_registers_are_preloaded() {
    same(
        "ld.param.u64 %d1, [a]; ld.param.s8 %r1, [s+3]; mov.u32 %r2, %tid.y; add.f32 %f1, %f1, 0f3F800000; mov.u16 %h1, %tid.x;",
        &[
            "MovQ %d1 <- param[0..8]u64",
            "MovW %r1 <- param[11..12]s32",
            "MovW %r2 <- Tid(1)",
            "AddF32 %f1 <- %f1, 0x3f800000",
            "Zx16 %h1 <- Tid(0)",
        ],
    );
    let env = fine(".entry k() { .reg .b32 %r<4>; mov.b32 %r1, 7; mov.b32 %r2, 7; mov.u32 %r3, %laneid; }");
    assert_eq!(env.functions["k"].preloads.len(), 2);
    assert_eq!(body("ld.param.u32 %r1, [s+12];"), ["Load Param 1x4 %r1 <- 0 [0+20]"]);
}

#[test]
fn comparisons_are_combined_before_anything_is_written() {
    same("setp.lt.s32 %p1, %r1, %r2;", &["LtS32 %p1 <- %r1, %r2"]);
    same(
        "setp.ge.and.f32 %p1|%p2, %f1, %f2, !%p1;",
        &[
            "NotP p2 <- %p1",
            "GeF32 p3 <- %f1, %f2",
            "NotP p4 <- p3",
            "AndP p5 <- p4, p2",
            "AndP p6 <- p3, p2",
            "MovP %p1 <- p6",
            "MovP %p2 <- p5",
        ],
    );
    same("set.gt.u32.s32 %r1, %r2, 4;", &["GtS32 p0 <- %r2, 4", "SelW %r1 <- 0xffffffff, 0, p0"]);
    same("slct.b64.s32 %d1, %d2, %d3, %r1;", &["GeS32 p0 <- %r1, 0", "SelQ %d1 <- %d2, %d3, p0"]);
}

#[test]
fn vectors_are_packed_and_unpacked() {
    same("mov.b64 %d1, {%r1, 5};", &["Pack32x2 %d1 <- %r1, 5"]);
    same("mov.b64 {%r1, _}, %d1;", &["TruncQW %r1 <- %d1"]);
    same("mov.b128 %x1, {%d1, %d2};", &["MovQ %x1 <- %d1", "MovQ q1 <- %d2"]);
    let swap = code(&fine(".entry k() { .reg .v2 .b32 %v; mov.v2.b32 %v, {%v.y, %v.x}; }"));
    assert_eq!(swap, ["MovW w4 <- %v.y", "MovW w5 <- %v.x", "MovW %v.x <- w4", "MovW %v.y <- w5", "Exit"]);
}

#[test]
fn wide_arithmetic_threads_its_carry() {
    same(
        "add.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r4, %r5, %r6; madc.hi.cc.u32 %r1, %r2, %r3, %r4;",
        &[
            "AddCc32 %r1, p0 <- %r2, %r3",
            "AddcCc32 %r4, p0 <- %r5, %r6, p0",
            "MadcHiCcU32 %r1, p0 <- %r2, %r3, %r4, p0",
        ],
    );
}

#[test]
fn lop3_may_have_a_predicate() {
    same("lop3.b32 %r1, %r2, %r3, 9, 0x96;", &["Lop3 %r1 <- %r2, %r3, 9 mode 0x96"]);
    same(
        "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2;",
        &["Lop3 %r1 <- %r2, %r3, %r4 mode 0x80", "NonzeroOr %p1 <- %r1, %p2"],
    );
}

#[test]
fn conversions_fill_their_register() {
    same("cvt.u16.u32 %h1, %r1;", &["Zx16 %h1 <- %r1"]);
    same("cvt.s64.s32 %d1, %r1;", &["SextWQ %d1 <- %r1"]);
    // The source register may be wider than the type, and so may the destination.
    same("cvt.rn.f32.s32 %f1, %d1;", &["TruncQW w3 <- %d1", "F32OfS32 %f1 <- w3"]);
    let code = body("cvt.rzi.s8.f32 %r1, %f1;");
    assert_eq!(code.len(), 2);
    assert!(code[1].starts_with("Sx8W %r1"), "{code:?}");
}

#[test]
fn addresses_name_their_space() {
    let env = fine(
        ".shared .align 4 .b8 t[64]; .extern .shared .f32 u[]; .const .u32 c = 5;
         .entry k(.param .u64 a) { .reg .b32 %r<9>; .reg .b64 %d<9>; .local .align 8 .b8 m[24];
         st.shared.u32 [t+8], %r1; ld.shared.v2.u32 {%r1, _}, [u]; ld.const.u32 %r2, [c]; ld.volatile.global.u32 %r3, [%d1+-4];
         st.local.u64 [m+8], %d1; mov.u64 %d2, m; cvta.local.u64 %d3, %d2; ld.u32 %r4, [5]; }",
    );
    assert_eq!(
        code(&env),
        [
            "Store Shared 1x4 <- 0, %r1 [0+8]",
            "Load Shared 2x4 %r1 <- dynamic shared [dynamic shared]",
            "Load Const 1x4 %r2 <- &c [&c]",
            "Load Global 1x4 Volatile.Lane %r3 <- %d1 [%d1-4]",
            "Store Local 1x8 <- %stackBase, %d1 [%stackBase+8]",
            "MovQ %d2 <- 0",
            "Add64 %d3 <- %d2, 0x200000000",
            "Load Generic 1x4 %r4 <- 0 [0+5]",
            "Exit"
        ]
    );
    let k = &env.functions["k"];
    assert_eq!((k.frame_bytes, k.shared_bytes), (32, 64));
    assert_eq!(env.variables["c"].init, [5, 0, 0, 0]);
}

#[test]
fn narrow_loads_go_to_any_wider_register() {
    let env = fine(
        ".entry k() { .reg .b16 %h; .reg .b32 %r; .reg .b64 %d<3>; ld.global.v2.s8 {%h, %r}, [%d1]; ld.s32 %d2, [%d1]; }",
    );
    assert_eq!(code(&env)[1..3], ["Sx8H %h <- w4", "Sx8W %r <- w5"]);
    let last = env.requests[1];
    assert_eq!((last.wide, last.signed, last.ext, last.width), (true, true, 64, 4));
}

#[test]
fn atomics_know_their_function() {
    let env = fine(
        ".entry k() { .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %d<9>;
         atom.global.add.f32 %f1, [%d1], %f2; atom.shared.cas.b32 %r1, [%d1], 1, 2; red.release.gpu.global.or.b32 [%d1], 4;
         atom.global.v2.f32.add {%f1, %f2}, [%d1+8], {%f3, %f4}; }",
    );
    assert!(matches!(env.requests[0].op, MemOp::Atom(_, AtomTy::F32Ftz)));
    assert_eq!(env.requests[1].space, Space::Shared);
    assert!(matches!(env.requests[2].op, MemOp::Red(_, AtomTy::B32)));
    assert_eq!(env.requests.iter().skip(3).map(|r| r.offset).collect::<Vec<_>>(), [8, 12]);
    // NaN is another's in global memory.
    let env = fine(
        ".entry k() { .reg .f64 %f<3>; .reg .b64 %d; atom.global.add.f64 %f1, [%d], %f2; atom.shared.add.f64 %f1, [%d], %f2; }",
    );
    assert!(matches!(env.requests[0].op, MemOp::Atom(_, AtomTy::F64Raw)));
    assert!(matches!(env.requests[1].op, MemOp::Atom(_, AtomTy::F64)));
}

#[test]
fn calls_copy_parameters_between_frames() {
    let env = fine(
        ".func (.param .b32 q) f(.param .align 8 .b8 s[12], .param .b32 n) { .reg .b32 %r<3>;
           ld.param.b32 %r1, [s+8]; st.param.b32 [q], %r1; ret; }
         .entry k() { .reg .b32 %r<3>; .reg .pred %p1;
           { .param .align 8 .b8 x[12]; .param .b32 y; st.param.b32 [x], %r1; @%p1 call (y), f, (x, 7); ld.param.b32 %r2, [y]; } }",
    );
    assert_eq!(
        code(&env),
        [
            "Load Local 1x4 %r1 <- %stackBase [%stackBase+16]",
            "Store Local 1x4 <- %stackBase, %r1 [%stackBase]",
            "Ret",
            "Store Local 1x4 <- %stackBase, %r1 [%stackBase]",
            "@%p1 Load Local 1x8 q0 <- %stackBase [%stackBase]",
            "@%p1 Store Local 1x8 <- %stackTop, q0 [%stackTop+8]",
            "@%p1 Load Local 1x4 w3 <- %stackBase [%stackBase+8]",
            "@%p1 Store Local 1x4 <- %stackTop, w3 [%stackTop+16]",
            "@%p1 Store Local 1x4 <- %stackTop, 7 [%stackTop+20]",
            "@%p1 Call f <- %stackTop",
            "@%p1 Load Local 1x4 w3 <- %stackTop [%stackTop]",
            "@%p1 Store Local 1x4 <- %stackBase, w3 [%stackBase+12]",
            "Load Local 1x4 %r2 <- %stackBase [%stackBase+12]",
            "Exit"
        ]
    );
    assert_eq!((env.functions["f"].frame_bytes, env.functions["k"].frame_bytes), (32, 16));
}

#[test]
fn registers_can_be_parameters() {
    let env = fine(
        ".func (.reg .u32 %q) f(.reg .u32 %a, .reg .f64 %b) { add.u32 %q, %a, 1; ret; }
         .entry k() { .reg .u32 %r<3>; call.uni (%r1), f, (%r2, 0d3FF0000000000000); }",
    );
    assert_eq!(
        code(&env),
        [
            "Load Local 1x4 %a <- %stackBase [%stackBase+4]",
            "Load Local 1x8 %b <- %stackBase [%stackBase+8]",
            "Add32 %q <- %a, 1",
            "Store Local 1x4 <- %stackBase, %q [%stackBase]",
            "Ret",
            "Store Local 1x4 <- %stackTop, %r2 [%stackTop+4]",
            "Store Local 1x8 <- %stackTop, 0x3ff0000000000000 [%stackTop+8]",
            "Call f <- %stackTop",
            "Load Local 1x4 %r1 <- %stackTop [%stackTop]",
            "Exit"
        ]
    );
}

#[test]
fn injection_brings_return_addresses() {
    let text = ".func f() { ret; } .entry k() { .reg .pred %p<2>; @%p1 call f; bra L; L: exit; }";
    let (env, errors) = build_all(&[text], &Options { inject: true, promote: false });
    assert_eq!(errors, []);
    assert_eq!(code(&env), ["Ret", "@%p1 PreRet @3", "@%p1 Call f <- %stackTop", "Bra @4", "Exit"]);
    assert!(env.origin[1].hidden && !env.origin[2].hidden && env.injected);
}

#[test]
fn tables_and_label_addresses_become_program_addresses() {
    let env = fine(
        ".func f() { ret; } .entry k() { .reg .b32 %r<3>; .reg .b64 %d<3>; T: .branchtargets A, B;
         mov.u64 %d1, B; brx.idx %r1, T; A: exit; { B: trap; bra B; } B: mov.u64 %d2, f; }",
    );
    assert_eq!(env.tables, [vec![3, 6]]);
    assert_eq!(
        code(&env)[1..],
        ["MovQ %d1 <- @6", "Brx Some([3, 6]) <- %r1", "Exit", "Trap", "Bra @4", "MovQ %d2 <- &f", "Exit"]
    );
}

#[test]
fn shared_variables_of_different_entries_overlap() {
    let env = fine(
        ".shared .b32 both[4]; .shared .b32 of_f[2];
         .func f() { .reg .b32 %r; st.shared.b32 [of_f], %r; ret; }
         .entry a() { .reg .b32 %r; .shared .b32 x[100]; st.shared.b32 [x], %r; st.shared.b32 [both], %r; }
         .entry b() { .reg .b32 %r; .shared .b32 y[50]; st.shared.b32 [y], %r; call f; st.shared.b32 [both], %r; }
         .entry c() { .reg .b32 %r; .shared .b32 z[50]; st.shared.b32 [z], %r; }",
    );
    let bytes = |name: &str| env.functions[name].shared_bytes;
    assert_eq!((bytes("a"), bytes("b"), bytes("c")), (16 + 400, 16 + 200 + 8, 200));
    let at = |entry: &str, at: u64| {
        let inside = env.functions[entry].inside_shared(at);
        (inside.name, inside.offset)
    };
    assert_eq!(at("a", 15), ("both".to_owned(), 15));
    assert_eq!(at("a", 415), ("x".to_owned(), 399));
    assert_eq!(at("b", 16 + 203), ("of_f".to_owned(), 3));
    assert_eq!(at("b", 16 + 208), (String::new(), 16 + 208));
    assert_eq!(at("c", 0), ("z".to_owned(), 0));
}

#[test]
fn dynamic_shared_memory_has_the_name_that_it_is_declared_with() {
    let env = fine(
        ".extern .shared .align 16 .b8 room[];
         .entry k() { .reg .b32 %r; .shared .b32 x[5]; st.shared.b32 [x], %r; st.shared.b32 [room], %r; }",
    );
    let at = |at: u64| {
        let inside = env.functions["k"].inside_shared(at);
        (inside.name, inside.offset)
    };
    // It begins at the next multiple of 16 behind what has a size; what is between is nobody's.
    assert_eq!((at(19), at(20)), (("x".to_owned(), 19), (String::new(), 20)));
    assert_eq!((at(32), at(1032)), (("room".to_owned(), 0), ("room".to_owned(), 1000)));
    // More than there can be: a launch says so.
    let env = fine(
        ".extern .shared .b8 room[]; .shared .b8 x[4294967290];
         .entry k() { .reg .b32 %r; st.shared.b32 [x], %r; st.shared.b32 [room], %r; }",
    );
    assert_eq!(env.functions["k"].inside_shared(7).name, "x");
}

#[test]
fn initialisers_give_bytes_and_addresses() {
    let env = fine(
        ".global .u16 a[4] = {1, -1}; .global .f64 b = 2.5; .global .b8 c[2][3] = {{1, 2}, {3}};
         .global .u64 d[3] = {0, generic(a)+4, f}; .global .b8 e[2] = {0xFF(a), 0xFF00(a)}; .global .f32 g[] = {1.0, 0f40000000};
         .func f() { ret; } .entry k() { ret; }",
    );
    let init = |name: &str| env.variables[name].init.clone();
    assert_eq!(init("a"), [1, 0, 255, 255]);
    assert_eq!(init("b"), 2.5f64.to_le_bytes());
    assert_eq!(init("c"), [1, 2, 0, 3]);
    assert_eq!(env.variables["g"].bytes, 8);
    assert_eq!(init("g"), [0, 0, 128, 63, 0, 0, 0, 64]);
    let d = &env.variables["d"].relocations;
    assert_eq!((d[0].at, d[0].of), (8, Init::Variable { index: 0, offset: 4 }));
    assert!(matches!(d[1].of, Init::Function(_)));
    assert_eq!(env.variables["e"].relocations.iter().map(|r| (r.bytes, r.shift)).collect::<Vec<_>>(), [(1, 0), (1, 8)]);
}

#[test]
fn modules_are_linked_by_public_names() {
    let (env, errors) = build_all(
        &[
            ".extern .func (.param .b32 r) f(.param .b32 x); .extern .global .u32 v[]; .func own() { ret; }
             .visible .entry k() { .reg .b64 %d<3>; mov.u64 %d1, v; { .param .b32 p; call (p), f, (p); } call own; }",
            ".visible .func (.param .b32 r) f(.param .b32 x) { ret; } .visible .global .u32 v[3] = {1, 2, 3};
             .func own() { trap; } .weak .func weak() { trap; }",
            ".visible .func weak() { call weak; ret; }",
        ],
        &PLAIN,
    );
    assert_eq!(errors, []);
    assert_eq!(env.functions.keys().collect::<Vec<_>>(), ["f", "own", "k", "own#1", "weak"]);
    assert!(env.functions.values().all(|f| f.defined));
    assert_eq!((env.variables.len(), env.variables["v"].bytes, env.variables["v"].external), (1, 12, false));
    assert_eq!(env.functions["weak"].file, FileId(2));
    let (_, errors) = build_all(&[".visible .func f() { ret; }", ".visible .func f() { ret; }"], &PLAIN);
    assert!(matches!(&errors[..], [LowerError { kind: LowerErrorKind::Duplicate { name, .. }, .. }] if name == "f"));
}

#[test]
fn an_alias_is_another_name() {
    let env = fine(".func g() { ret; } .func f(); .alias f, g; .entry k() { call f; }");
    assert_eq!(code(&env), ["Ret", "Call g <- %stackTop", "Exit"]);
    assert!(env.functions["f"].defined && env.functions["f"].start == env.functions["g"].start);
}

#[test]
fn the_runtime_is_called_like_any_function() {
    let env = fine(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
         .entry k() { .param .b64 f; .param .b64 a; .param .b32 r; call (r), vprintf, (f, a); }",
    );
    assert_eq!(env.code.iter().filter(|i| matches!(i.op, Op::Syscall(_))).count(), 1);
    assert_eq!(code(&env)[1], "Store Local 1x8 <- %stackTop, q0 [%stackTop+8]");
}

#[test]
fn what_checking_refuses_is_unsupported_without_another_complaint() {
    let (env, errors) = build_all(
        &[
            ".entry k() { .reg .b32 %r<3>; add.s32 %r1, %r9, 1; bra NO; mov.b32 %r1, nothing; @%q mov.b32 %r1, 1; add.s32 %r1; tex.1d.v4.f32.s32 {%r1,%r1,%r1,%r1}, [t, {%r1}]; }",
        ],
        &PLAIN,
    );
    assert_eq!(errors, []);
    assert_eq!(env.code.iter().filter(|i| i.op == Op::Unsupported).count(), 6);
}

#[test]
fn asynchronous_copies_are_not_plain_accesses() {
    let env = fine(
        ".entry k() { .reg .b32 %r<3>; .reg .b64 %d; red.async.relaxed.cluster.global.mbarrier::complete_tx::bytes.shared::cluster.inc.u32 [%r1], %r2, [%d]; }",
    );
    assert_eq!(env.code[0].op, Op::Unsupported);
}

#[test]
fn barriers_in_memory_are_accesses_of_shared_memory() {
    let env = fine(
        ".entry k() { .shared .align 8 .b64 bar; .reg .b64 %d<3>; .reg .pred %p; mbarrier.init.shared.b64 [bar], 3; mbarrier.arrive.shared.b64 %d1, [bar]; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [bar], 2; mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 2; mbarrier.test_wait.shared.b64 %p, [bar], %d1; mbarrier.try_wait.parity.relaxed.cluster.shared.b64 %p, [bar], 0; mbarrier.inval.shared.b64 [bar]; }",
    );
    let found: Vec<_> = env.requests.iter().map(|r| (r.op.kind(), r.order, r.scope)).collect();
    let weak = (Order::Weak, Scope::Lane);
    let expected = [
        (AccessKind::Read, weak),
        (AccessKind::Write, weak),
        (AccessKind::Atomic, (Order::Release, Scope::Cta)),
        (AccessKind::Atomic, (Order::Release, Scope::Cluster)),
        (AccessKind::Atomic, (Order::Relaxed, Scope::Cta)),
        (AccessKind::Read, (Order::Acquire, Scope::Cta)),
        (AccessKind::Read, (Order::Relaxed, Scope::Cluster)),
        (AccessKind::Read, weak),
        (AccessKind::Write, weak),
    ];
    assert_eq!(found, expected.map(|(kind, (order, scope))| (kind, order, scope)));
    assert!(env.requests.iter().all(|r| (r.space, r.bytes()) == (Space::Shared, 8)));
    assert!(env.unsupported.is_empty());
}

#[test]
fn undefined_registers_are_listed() {
    let env = fine(".entry k() { .reg .b32 %r<5>; mov.b32 %r1, 1; add.s32 %r2, %r1, %r3; }");
    let f = &env.functions["k"];
    let r3 = f.registers.iter().find(|(name, ..)| *name == "%r3").map(|(_, class, slot)| (class, slot));
    assert_eq!(f.undefined, r3.into_iter().collect::<Vec<(Class, _)>>());
}

#[test]
fn promotion_changes_only_forms() {
    let text = ".entry k() { .reg .f32 %f<3>; .reg .b64 %d<3>; .reg .pred %p<3>;
        @%p1 ld.global.f32 %f1, [%d1+-4]; add.f32 %f2, %f1, %f1; st.shared.f32 [%d2], %f2; st.global.v2.f32 [%d1], {%f1, %f2}; }";
    let (env, _) = build_all(&[text], &Options::default());
    let ops: Vec<Op> = env.code.iter().map(|i| i.op).collect();
    assert!(matches!(ops[..], [Op::LdGlobal32, Op::Float(_), Op::StShared32, Op::Mem, Op::Exit]), "{ops:?}");
    assert_eq!(env.code[1].hot, crate::program::instr::HotOp::AddF32);
    assert!(env.code[0].guard.is_some());
    assert_eq!(env.requests.len(), 3);
}

/// Program 5.1 of the report becomes what program 5.2 is. Departures: a frame of its own in place of spilled registers, so
/// `%stackBase` moves with the call (`machine::stack`), and addresses are an operand's, not computed beside it.
#[test]
fn program_5_1_becomes_program_5_2() {
    let text = ".global .u32 var = 10 / 2 + 3;
        .func function(.param .f64 p) { .reg .f64 a; ld.param.f64 a, [p]; }
        .entry transformationKernel() { .reg .f64 var; .reg .pred p; @p call function, (var); }";
    let (env, errors) = build_all(&[text], &Options { inject: true, promote: false });
    assert_eq!(errors, []);
    // Step 2: the constant expression.
    assert_eq!(env.variables["var"].init, 8u32.to_le_bytes());
    let expected = [
        // Step 3: the parameter is a local variable of the function, at offset 0.
        "Load Local 1x8 a <- %stackBase [%stackBase]",
        // Step 5.
        "Ret",
        // Steps 3 and 7: the argument is the register, which hides the variable; under the call's guard.
        "@p Store Local 1x8 <- %stackTop, var [%stackTop]",
        // Step 6.
        "@p PreRet @5",
        "@p Call function <- %stackTop",
        "Exit",
    ];
    assert_eq!(code(&env), expected);
}

/// Program 5.3 and figure 5.1: x, r and a of the caller lie at 0, 16 and 24; r and p of the function at 0 and 8 of its own
/// frame, which begins where the caller's ends (`%stackTop`). Departure: the caller's r and a are copied there and back,
/// since they may be used after the call; in the report they are the function's.
#[test]
fn program_5_3_lays_out_the_stack_of_figure_5_1() {
    let env = fine(
        ".func (.param .u64 r) function(.param .u32 p)
         { .reg .u64 v; .reg .u32 w; ld.param.u32 w, [p]; cvt.u64.u32 v, w; st.param.u64 [r], v; }
         .entry kernelEntryPoint()
         { .reg .pred p; .reg .u64 rr; .local .align 16 .b8 x[16]; .param .u64 r; .param .u32 a;
           st.param.u32 [a], 9; @p call (r), function, (a); ld.param.u64 rr, [r]; }",
    );
    let places: Vec<_> = env.functions["function"].params.iter().map(|p| (p.name.as_str(), p.offset)).collect();
    assert_eq!(places, [("r", 0), ("p", 8)]);
    let expected = [
        "Load Local 1x4 w <- %stackBase [%stackBase+8]",
        "ZextWQ v <- w",
        "Store Local 1x8 <- %stackBase, v [%stackBase]",
        "Ret",
        "Store Local 1x4 <- %stackBase, 9 [%stackBase+24]",
        "@p Load Local 1x4 w3 <- %stackBase [%stackBase+24]",
        "@p Store Local 1x4 <- %stackTop, w3 [%stackTop+8]",
        "@p Call function <- %stackTop",
        "@p Load Local 1x8 q1 <- %stackTop [%stackTop]",
        "@p Store Local 1x8 <- %stackBase, q1 [%stackBase+16]",
        "Load Local 1x8 rr <- %stackBase [%stackBase+16]",
        "Exit",
    ];
    assert_eq!(code(&env), expected);
}
