//! The parser over real files: no complaint, and print ∘ parse ∘ print is the identity.
//!
//! The examples are in the repository. `../shared` holds more PTX on some machines; the tests that read it are counted
//! as ignored where it is absent.

use crate::shared;
use libtest_mimic::Trial;
use std::path::Path;
use warpstep::ptx::{parse, print};

/// Checks one text; the complaint names it.
fn round_trip(name: &str, text: &str) {
    let (module, errors) = parse(text);
    let shown: Vec<_> = errors.iter().take(3).map(|e| (e, e.span.of(text))).collect();
    assert!(errors.is_empty(), "{name}: {} complaints: {shown:?}", errors.len());
    let once = print(&module);
    let (again, errors) = parse(&once);
    let shown: Vec<_> = errors.iter().take(3).map(|e| (e, e.span.of(&once))).collect();
    assert!(errors.is_empty(), "{name} printed: {shown:?}");
    let twice = print(&again);
    if let Some((a, b)) = once.lines().zip(twice.lines()).find(|(a, b)| a != b) {
        panic!("{name}: printed {a:?}, then {b:?}");
    }
    assert_eq!(once.len(), twice.len(), "{name}");
    assert_eq!(module.items.len(), again.items.len(), "{name}");
}

fn every_example_parses_and_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples");
    let mut count = 0;
    for folder in std::fs::read_dir(root).expect("ptx-examples").flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            if file.path().extension().is_some_and(|e| e == "ptx") {
                let text = std::fs::read_to_string(file.path()).expect("an example is text");
                round_trip(&file.path().display().to_string(), &text);
                count += 1;
            }
        }
    }
    assert!(count > 10, "only {count} examples were found");
}

fn the_benchmark_kernels_parse_and_print() {
    round_trip("kernels.compute_35.ptx", &shared::text("bench/kernels.compute_35.ptx"));
}

fn the_conformance_kernels_parse_and_print() {
    for line in shared::text("conformance/ptx-ops.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("one JSON object a line");
        let name = case["name"].as_str().unwrap_or("?");
        round_trip(name, case["ptx"].as_str().expect("the field `ptx`"));
    }
}

/// Syntax that the other files do not have; each line was accepted by ptxas in its place.
fn rare_syntax_parses_and_prints() {
    let module = r#"
        .version 9.0 .target sm_90, texmode_independent .address_size 64
        // é
        /* a /* b ** */
        # 3 "foo.cu"
        .file 1 "a\b.cu" .file 2 "b.cu", 12, 34
        .const[2] .b32 bank[];
        .extern .shared .align 16 .b8 dyn[];
        .global .align 4 .b8 tail[32] = {1, 0};
        .global .u32 x1 = 1, x2 = 2, x3;
        .global .s64 big[3] = {0xFFFFFFFFFFFFFFFF, -9223372036854775807, 18446744073709551615U};
        .global .b8 grid[2][2] = {{1, 2}, {3, 4}};
        .global .b8 none[4] = {};
        .global .u8 bytes[3] = {0xFF(x1), 0xFF00(x1), 0xFF0000(x1)};
        .global .u64 addresses[4] = {x1, x1+8, generic(x1), generic(x1)+8*2};
        .global .u64 mixed[4] = {0, -1, x1, 5};
        .global .f64 gd = 0d01A56E1FC2F8F359; .global .f64 dec[3] = {1.5, -2.0, 1e5};
        .global .f32 f = 0f3F800000;
        .global .attribute(.managed) .u32 m1; .attribute(.managed) .global .u32 m2;
        .global .align 4 .attribute(.unified(0xAB, 0xCD), .managed) .u32 m3;
        .global .samplerref s = {addr_mode_0 = clamp_to_border, filter_mode = nearest, force_unnormalized_coords = 1};
        .global .v4 .f32 v = {0f3F800000, 0f00000000, 0f00000000, 0f00000000};
        .tex .u32 old_texture;
        .weak .global .u32 w; .common .global .u32 c;
        .visible .global .u32 long_expression = (1 + 2) * 3 - -4 << 2 > 7 ? ~5 & 6 ^ 7 | 8 : !0 && 1 || (.s64) 3 % 2;
        .section .debug_str { $L__x: .b8 95, 0 .b32 .debug_abbrev }
        .pragma "nounroll";
        @@DWARF .byte 0x01, 0x02
        .func f; .func g(); .extern .func h (.param .b32 a, .param .b32 b)
        .func (.reg .u32 r) old (.reg .u32 a, .reg .f32 b) { ret; }
        .func .attribute(.unified(0xAB, 0xCD)) u() .noreturn;
        .func p() .abi_preserve 8 .abi_preserve_control 4 { ret; }
        .alias g, p;
        .entry nothing .maxntid 32 { ret; }
        .entry e (.param .u64 .ptr .global .align 8 a, .param .u64 .ptr b, .param .align 8 .b8 s[24], .param .u64 .align 8 c)
            .maxntid 32, 1, 1 .minnctapersm 2 .reqnctapercluster 2 .explicitcluster .pragma "nounroll"; .maxnreg 32
        {
            .reg .b32 a1, b1, c1<4>; .reg .pred %p<5>; .reg .v4 .u32 %rv<2>; .reg .b32 ;
            .local .align 8 .b8 buf[16]; .shared .f32 sh[4], sj[2][3]; .const .u32 cc = 4; .param .b32 q;
            .loc 1 22 8, function_name $L__x, inlined_at 1 27 30
            .loc 1 22 8, function_name $L__x + 4, inlined_at 1 27 30 mov.u32 a1, b1; .loc 1 2 3
            ld .param .u64 %rd1, [a]; ld.const[2].b32 %r1, [bank+4]; ld.const[2] .b32 %r1, [bank];
            mov.u32 %r1, %tid.x; mov.u32 %r1, %tid .y; mov.u32 %r1, %rv0.a; mov.u32 %r1, v.r;
            mov.u32 %r1, WARP_SZ; mov.u32 %r1, WARP_SZ*2; mov.u32 %r1, 0b101; mov.u32 %r1, 017; mov.u32 %r1, 5U;
            mov.u64 %rd1, x1+4; mov.u64 %rd1, generic(x1)+4; mov.u64 %rd1, tail[1]; mov.u32 %r1, (3); mov.u32 %r1, - - 3;
            mov.u32 %r1, 1?2:3; mov.u32 %r1, (.u64)(3) + 1; mov.f64 %fd1, .5; mov.f64 %fd1, -1.5; mov.f64 %fd1, 1.5*2.0;
            mov.u64 %rd1, 0xffffffffffffffff; mov.u64 %rd2, -9223372036854775808;
            ld.global.u32 %r1, [%rd1+-4]; ld.global.u32 %r1, [%rd1+ 4-8]; ld.local.u32 %r1, [5]; ld.global.u32 %r1, [x1 + (3*4)];
            ld.global.u32 %r1, tail[%r1+4]; ld.global.u32 %r1, [%rd1].unified; ld.global.b32 { %r1 }, [ %rd1 + 0 ];
            mov.b64 {%r1, _}, %rd1; mov.b64 %rd1, {%r1, 5}; mov.b64 %rd1, {%rv0.x, -1};
            setp.eq.and.s32 %p1|%p2, %r1, %r2, !%p3; setp.eq.s32 _|%p2, %r1, %r2; elect.sync _|%p1, -1;
            vadd.s32.u32.u32 %r1, %r2.b0, -%r3.h1; vmad.s32.s32.s32 %r1, %r2.b0, %r3.h1, -%r4;
            vadd4.s32.u32.u32 %r1.b310, %r2.b3210, %r3.b7654, %r4;
            tex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd1, {%f1}]; tex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd1, %f1];
            cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2}], [%r3];
            mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f0,%f1,%f2,%f3};
            red.global.add.u32 [%rd1], 1; st.global.v2.f32 [%rd1+8], {%f1, 0f3F800000};
            call (%r1), old, (%r2, %f1); call p; call.uni old, (3, 0f00000000); call (), p, ();
            { .reg .b32 %r<3>; { } }
            proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]) .noreturn;
            P2: .callprototype ()_ (.param .b32 _); P3: .callprototype _ ; P4: .callprototype _ () .noreturn;
            T: .branchtargets L, M; C: .calltargets p, g;
            call (%r1), %rd1, (%r2), proto;
            @ !%p1 bra L; @%p1 bra.uni M; brx.idx %r1, T;
            L: M: foo.bar.m16n8k16 %r1; exit; ret
            ;
        }
    "#;
    round_trip("rare syntax", module);
}

fn printing_keeps_what_was_written() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
        \t.reg .pred %p<2>;\n\t@!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1+-8];\n\tadd.f32 %f1, %f1, 0f3F800000;\n\
        $L__BB0_1:\n\tret;\n}\n";
    let (module, errors) = parse(text);
    assert_eq!(errors, []);
    assert_eq!(print(&module), text);
}

/// Statements and items that ptxas rejects as syntax.
fn what_ptxas_cannot_parse_is_an_error() {
    let head = ".version 9.0\n.target sm_90\n.address_size 64\n";
    let items = [
        ".global .b8 x[4] = {1,2,3,};",
        ".global .u32 .align 4 x;",
        ".global .extern .u32 x;",
        ".visible .weak .global .u32 x;",
        ".global .b8 x[3+1];",
        ".global .u64 g = 4+h;",
        ".global .u64 g = h-4;",
        ".global .b8 x[] = \"abc\";",
        ".func f(.param .b32 a,) {ret;}",
        ".func .noreturn f() {ret;}",
        ".entry f (.param .u32 c = 4) {ret;}",
        ".entry f() .maxntid 4 4 {ret;}",
        ".entry f() .maxntid {ret;}",
        ".entry f() .foo 3 {ret;}",
        ".foo 3;",
        ".global .pragma \"nounroll\";",
        ".alias f, g",
        "#define X 3",
        ";",
        ".file 1 \"a\"b.cu\"",
    ];
    for item in items {
        assert!(!parse(&format!("{head}{item}\n.func z();\n")).1.is_empty(), "{item}");
    }
    let statements = [
        "add. s32 %r1, %r2, 3;",
        "mov.u32 %r1, 5u;",
        "mov.u32 %r1, 0xffffffffffffffffff;",
        "mov.u32 %r1, 7 %3;",
        "ld.global.u32 %r1, [g-4];",
        "ld.global.u32 %r1, [4+g];",
        "ld.global.u32 %r1, [g[1]];",
        "mov.u64 %rd1, g-4;",
        "mov.u64 %rd1, 4+g;",
        ";",
        "mov.u32 %r1, 1;;",
        ".loc 1 2 3 ;",
        ".loc 1 2\n mov.u32 %r1, 1;",
        "mov.u32 %r1, %tid . x;",
        "mov.u32 %r1, %tid.x.y;",
        "mov.b64 {%r1, %r2+1}, %rd1;",
        "@%p1 {}",
        "@%p1 L: ret;",
        "@%p1 .reg .u32 z;",
        "mov.u32 %r1 %r2;",
        "mov.u32 ,%r1, %r2;",
        "mov.u32 %r1, %r2,;",
        "bar.sync 0",
        ".pragma \"nounroll\"",
        ".reg .b32 a b;",
        ".reg .u32 a.b;",
        ".reg .u32 .v4 v;",
        ".reg .b32 %q<2+1>;",
        "mov.u32 %r1, @;",
        "mov.u32 %r1, 0x;",
        "mov.u32 %r1, 08;",
        "mov.u32 %r1, 12ab;",
        "mov.f32 %f1, 0f3f8;",
        "ld.global.shared :: cta.u32 %r1, [%rd1];",
        "ld.shared ::cta.u32 %r1, [%rd1];",
        ".foo 3;",
    ];
    for statement in statements {
        let text = format!("{head}.entry k()\n{{\n{statement}\nret;\n}}\n");
        let (_, errors) = parse(&text);
        assert_eq!(errors.len(), 1, "{statement}: {errors:?}");
    }
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    shared::trials(&[
        ("every_example_parses_and_prints", None, every_example_parses_and_prints),
        (
            "the_benchmark_kernels_parse_and_print",
            Some("bench/kernels.compute_35.ptx"),
            the_benchmark_kernels_parse_and_print,
        ),
        (
            "the_conformance_kernels_parse_and_print",
            Some("conformance/ptx-ops.jsonl"),
            the_conformance_kernels_parse_and_print,
        ),
        ("rare_syntax_parses_and_prints", None, rare_syntax_parses_and_prints),
        ("printing_keeps_what_was_written", None, printing_keeps_what_was_written),
        ("what_ptxas_cannot_parse_is_an_error", None, what_ptxas_cannot_parse_is_an_error),
    ])
}
