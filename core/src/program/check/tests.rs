//! Verdicts of ptxas 13.5, one statement or module each.

use super::{CheckError, Problem, check};

fn errors(text: &str) -> Vec<CheckError> {
    let (module, syntax) = crate::ptx::parse(text);
    assert!(syntax.is_empty(), "{syntax:?} in {text}");
    check(&module).1
}

const HEADER: &str = ".version 9.0\n.target sm_90\n.address_size 64\n";

fn body(statements: &str) -> String {
    format!(
        "{HEADER}.global .u32 g32; .global .align 16 .b8 garr[64]; .const .align 16 .b8 carr[64];
         .shared .align 16 .b8 sarr[64];
         .func (.param .b32 r) fn(.param .b32 a, .param .b64 b) {{ ret; }}
         .visible .entry k(.param .u64 pa, .param .u32 pb) {{
         .reg .pred p<8>; .reg .b16 h<8>; .reg .b32 b<8>; .reg .b64 d<8>; .reg .f32 f<8>; .reg .f64 fd<8>;
         .reg .v4 .u32 v<4>; .local .align 16 .b8 larr[64]; .param .b32 ar; .param .b32 a0; .param .b64 a1;
         {statements}
         L0: ret; }}"
    )
}

#[test]
fn what_ptxas_accepts() {
    for good in [
        "add.s32.sat b0,b1,b2;",
        "add.f32.rn.ftz f0,f1,f2;",
        "add.u16 h0,0x1ffffffff,h2;",
        "and.b32 b0,f1,0f3f800000;",
        "setp.s32.and.eq p0,b1,b2,!p1;",
        "setp.eq.s32 p0|_,b1,b2;",
        "mad.wide.s32 d0,b1,b2,5;",
        "cvt.u32.rzi.f32 d0,f0;",
        "cvt.u64.u32 d0,%tid.x;",
        "mov.u16 h0,%tid.x;",
        "mov.v4.u32 v1,%tid;",
        "mov.b64 {b0,_},d0;",
        "mov.b32 b0,{h0,h1};",
        "mov.u64 d0,garr[2];",
        "mov.u64 d0,fn;",
        "ld.global.b16 f0,[d0];",
        "ld.global.v4.u32 {b0,b1,b2,_},[d0+-4];",
        "ld.u32 b0,[sarr];",
        "st.global.v2.u32 [d0],{b0,5};",
        "atom.global.add.u32 _,[d0],WARP_SZ;",
        "shfl.down.sync.b32 b0|p0,b1,1,31,-1;",
        "bar.sync.sync 0;",
        "call (ar), fn, (a0,a1);",
        "call (b0), fn, (1,d2);",
        "P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); call (ar), d0, (a0,a1), P;",
        "{ .reg .f32 b0; mov.f32 b0,f1; } mov.u32 b0,1;",
        "{ bra L0; }",
    ] {
        assert_eq!(errors(&body(good)), [], "{good}");
    }
}

#[test]
fn what_ptxas_rejects() {
    for bad in [
        "add.s32.s32 b0,b1,b2;",
        "add.rn.rz.f32 f0,f1,f2;",
        "add.s32 b0,b1,f2;",
        "add.f32 f0,f1,1;",
        "add.s32 b0,%laneid,1;",
        "add.s32 b0,b1;",
        "mul.s32.wide d0,b1,b2;",
        "mul.s32 b0,b1,b2;",
        "fma.f32 f0,f1,f2,f3;",
        "neg.u32 b0,b1;",
        "cvt.u32.f32 b0,f0;",
        "cvt.sat.u16.u16 h0,h1;",
        "cvta.global.to.u64 d0,d1;",
        "cvta.shared.u64 d0,g32;",
        "mov.u32 %tid.x,b0;",
        "mov.u32 b0,%tid;",
        "mov.u32 b0,-b1;",
        "mov.u64 d0,L0;",
        "mov.u32 b0,b8;",
        "ld.global.u32 b0,[5];",
        "ld.global.u32 b0,[sarr];",
        "ld.global.u32 b0,[f1];",
        "ld.global.u64 b0,[d0];",
        "ld.global.v4.u32 {b0,b1,b2},[d0];",
        "ld.global.v4.u64 {d0,d1,d2,d3},[d0];",
        "ld.nc.u32 b0,[d0];",
        "ld.volatile.param.u32 b0,[pb];",
        "st.param.u32 [pb],b0;",
        "st.global.u32 b0,[d0];",
        "atom.global.add.b32 b0,[d0],b1;",
        "vote.all.pred p0,p1;",
        "bar.sync 16;",
        "bar.sync 0,5;",
        "call (ar), fn, (a0);",
        "call (ar), fn, (a1,a0);",
        "call (ar), d0, (a0,a1);",
        "bra M;",
        "{ M: } bra M;",
        "@b0 bra L0;",
        ".reg .b32 b3;",
        ".reg .b32 q<0>; .reg .b32 z3; .reg .b32 z<4>;",
        "frob.u32 b0,b1;",
        "lop3.b32 b0,b1,b2,b3,1/0;",
    ] {
        assert!(!errors(&body(bad)).is_empty(), "{bad}");
    }
}

#[test]
fn modules() {
    let entry = ".visible .entry k() { ret; }\n";
    for good in [
        ".global .b32 r[2][2] = {{1,2},{3,4}};",
        ".global .u32 a; .global .u64 r = generic(a)+4;",
        ".global .b8 r[32] = {1, 300};",
        ".extern .shared .align 16 .b8 r[];",
        ".extern .func g(); .func h() { call g; ret; }",
    ] {
        assert_eq!(errors(&format!("{HEADER}{good}\n{entry}")), [], "{good}");
    }
    for bad in [
        ".global .b32 r[2] = {1,2,3};",
        ".global .b32 r[2][2] = {1,2,3,4};",
        ".global .f32 r = 1;",
        ".global .u64 r = a;",
        ".shared .b32 r = 3;",
        ".global .align 3 .u32 r;",
        ".global .u32 g; .global .u32 g;",
        ".global .b32 r[];",
        ".reg .b32 r;",
        ".func g(); .func g(.param .b32 x) { ret; }",
        ".entry j() .maxntid 128 .reqntid 64 { ret; }",
        ".section .debug_str { .b8 300 }",
    ] {
        assert!(!errors(&format!("{HEADER}{bad}\n{entry}")).is_empty(), "{bad}");
    }
    for (header, fine) in [
        (".version 8.0\n.target sm_80\n", true),
        (".version 7.0\n.target sm_90\n", false),
        (".version 8.9\n.target sm_80\n", false),
        (".version 8.0\n", false),
        (".version 8.0\n.target sm_81\n", false),
        (".version 8.0\n.target sm_80\n.address_size 16\n", false),
    ] {
        assert_eq!(errors(&format!("{header}{entry}")).is_empty(), fine, "{header}");
    }
}

#[test]
fn old_ptx_is_taken_as_its_emulators_took_it() {
    let old = ".version 3.0\n.target sm_30\n.local .u32 l;\n.entry k() { .reg .f32 f; .reg .f64 d; .reg .u32 r;
        cvt.rzi.f32.f64 f, d; shf.r.wrap.b32 r, r, r, r; ret 0; }";
    assert_eq!(errors(old), []);
}

#[test]
fn hints_name_what_was_meant() {
    let found =
        errors(&body(".reg .b32 counter; mov.u32 countre,1; addd.u32 b0,b1,b2; add.u23 b0,b1,b2; mov.u32 b8,1;"));
    let kinds: Vec<&Problem> = found.iter().map(|e| &e.kind).collect();
    assert!(matches!(kinds[0], Problem::Undeclared { similar: Some(s), .. } if s == "counter"), "{kinds:?}");
    assert!(matches!(kinds[1], Problem::UnknownOpcode { similar: Some(s), .. } if s == "add"), "{kinds:?}");
    assert!(matches!(kinds[2], Problem::Modifier { similar: Some(_), .. }), "{kinds:?}");
    assert!(matches!(kinds[3], Problem::Undeclared { range: Some(8), .. }), "{kinds:?}");
}

#[test]
fn a_pragma_that_names_us_is_known_and_marks_an_instruction() {
    let unknown = |text: &str| Problem::UnknownPragma { text: text.to_owned() };
    let at = |text: &str| {
        let all = errors(text);
        all.into_iter()
            .map(|e| (e.kind, text[e.span.start as usize..e.span.end as usize].to_owned()))
            .collect::<Vec<_>>()
    };
    for good in ["\"warpstep remote\"", "\"nounroll\"", "\"nounroll\", \"warpstep remote\"", "\"used_bytes_mask 0xff\""]
    {
        assert_eq!(errors(&body(&format!(".pragma {good}; ld.global.u32 b0,[d0];"))), [], "{good}");
    }
    for bad in
        ["warpstep remotes", "warpstep", "warpstep-remote", "Warpstep remote", " warpstep remote", "warpstep remote "]
    {
        let pragma = format!(".pragma \"nounroll\", \"{bad}\";");
        let found = at(&body(&format!("{pragma} ld.global.u32 b0,[d0];")));
        assert_eq!(found, [(unknown(bad), pragma)]);
    }
    // Where no instruction follows.
    for (mark, kinds) in [("warpstep remote", 2), ("warpstep remotes", 2), ("nounroll", 0)] {
        let text = format!("{HEADER}.pragma \"{mark}\";\n.entry k() .pragma \"{mark}\"; {{ ret; }}");
        let found = at(&text);
        assert_eq!(found.len(), kinds, "{found:?}");
        assert!(found.iter().all(|(_, at)| at.starts_with(".pragma")), "{found:?}");
        assert!(found.iter().all(|(kind, _)| (*kind == unknown(mark)) == (mark == "warpstep remotes")), "{found:?}");
    }
}
