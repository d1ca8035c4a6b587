//! Operations with a mode, of which native code has instructions: each on all pairs of some numbers.

use crate::native_programs::same;

/// From `A`, `B` and `C` to `D`; `%u`, `%q` and `%t` are free.
pub const MODES: [&str; 81] = [
    "add.ftz.f32 D, A, B;",
    "sub.ftz.f32 D, A, B;",
    "mul.ftz.f32 D, A, B;",
    "fma.rn.ftz.f32 D, A, B, C;",
    "div.full.ftz.f32 D, A, B;",
    "div.rn.ftz.f32 D, A, B;",
    "rcp.rn.ftz.f32 D, A;",
    "sqrt.rn.ftz.f32 D, A;",
    "rsqrt.approx.ftz.f32 D, A;",
    "neg.ftz.f32 D, A;",
    "abs.ftz.f32 D, A;",
    "min.ftz.f32 D, A, B;",
    "max.ftz.f32 D, A, B;",
    "min.NaN.f32 D, A, B;",
    "max.ftz.NaN.f32 D, A, B;",
    "add.sat.f32 D, A, B;",
    "sub.ftz.sat.f32 D, A, B;",
    "mul.sat.f32 D, A, B;",
    "fma.rn.sat.f32 D, A, B, C;",
    "fma.rn.ftz.sat.f32 D, A, B, C;",
    "add.rz.f32 D, A, B;",
    "add.rm.f32 D, A, B;",
    "add.rp.f32 D, A, B;",
    "sub.rz.f32 D, A, B;",
    "sub.rm.f32 D, A, B;",
    "sub.rp.f32 D, A, B;",
    "mul.rz.f32 D, A, B;",
    "mul.rm.f32 D, A, B;",
    "mul.rp.f32 D, A, B;",
    "fma.rz.f32 D, A, B, C;",
    "fma.rm.f32 D, A, B, C;",
    "fma.rp.f32 D, A, B, C;",
    "fma.rm.sat.f32 D, A, B, C;",
    "add.rm.ftz.f32 D, A, B;",
    "div.rp.f32 D, A, B;",
    "cvt.sat.f32.f32 D, A;",
    "cvt.sat.ftz.f32.f32 D, A;",
    "ex2.approx.f32 D, A;",
    "ex2.approx.ftz.f32 D, A;",
    "setp.lt.ftz.f32 G, A, B;",
    "setp.neu.ftz.f32 G, A, B;",
    "setp.equ.ftz.f32 G, A, B;",
    "setp.ge.ftz.f32 G, A, B;",
    "setp.num.ftz.f32 G, A, B;",
    "add.rn.f16x2 D, A, B;",
    "sub.rn.f16x2 D, A, B;",
    "mul.rn.f16x2 D, A, B;",
    "fma.rn.f16x2 D, A, B, C;",
    "neg.f16x2 D, A;",
    "abs.f16x2 D, A;",
    "min.f16x2 D, A, B;",
    "max.f16x2 D, A, B;",
    "add.ftz.f16x2 D, A, B;",
    "fma.rn.sat.f16x2 D, A, B, C;",
    "add.rn.bf16x2 D, A, B;",
    "sub.rn.bf16x2 D, A, B;",
    "mul.rn.bf16x2 D, A, B;",
    "fma.rn.bf16x2 D, A, B, C;",
    "neg.bf16x2 D, A;",
    "abs.bf16x2 D, A;",
    "min.bf16x2 D, A, B;",
    "max.bf16x2 D, A, B;",
    "mov.b32 {%h0, %h1}, A; mov.b32 {%h2, %h3}, B; add.rn.f16 %h0, %h1, %h2; cvt.u32.u16 D, %h0;",
    "mov.b32 {%h0, %h1}, A; mov.b32 {%h2, %h3}, B; mul.rn.f16 %h0, %h1, %h3; cvt.u32.u16 D, %h0;",
    "mov.b32 {%h0, %h1}, A; mov.b32 {%h2, %h3}, B; fma.rn.f16 %h0, %h1, %h2, %h3; cvt.u32.u16 D, %h0;",
    "mov.b32 {%h0, %h1}, A; mov.b32 {%h2, %h3}, B; fma.rn.bf16 %h0, %h1, %h2, %h3; cvt.u32.u16 D, %h0;",
    "mov.b32 {%h0, %h1}, A; neg.f16 %h0, %h1; cvt.u32.u16 D, %h0;",
    "mov.b32 {%h0, %h1}, A; cvt.f32.f16 D, %h0;",
    "mov.b32 {%h0, %h1}, A; cvt.f32.f16 D, %h1;",
    "mov.b32 {%h0, %h1}, A; cvt.f32.bf16 D, %h1;",
    "cvt.rn.f16.f32 %h0, A; cvt.u32.u16 D, %h0;",
    "cvt.rn.bf16.f32 %h0, A; cvt.u32.u16 D, %h0;",
    "mov.b64 %u, {B, A}; rcp.approx.ftz.f64 %q, %u; mov.b64 {D, %t}, %q; xor.b32 D, D, %t;",
    "mov.b64 %u, {B, A}; rsqrt.approx.ftz.f64 %q, %u; mov.b64 {D, %t}, %q; xor.b32 D, D, %t;",
    "@P add.ftz.f32 D, A, B;",
    "@!P fma.rm.f32 D, A, B, C;",
    "@P fma.rn.f16x2 D, A, B, C;",
    "@P ex2.approx.ftz.f32 D, A;",
    "add.f32 %t, A, B; add.ftz.f32 D, %t, C;",
    "mul.f32 %t, A, B; cvt.rn.f16.f32 %h0, %t; cvt.f32.f16 D, %h0;",
    "add.f32 %t, A, B; fma.rm.f32 %t, %t, C, A; add.rn.f16x2 D, %t, B;",
];

/// Numbers that are special ones, in single precision or as two halves.
const NUMBERS: [u32; 64] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc1_2345,
    0x7f80_0001,
    0x7fff_ffff,
    0x0080_0000,
    0x8080_0000,
    0x007f_ffff,
    0x807f_ffff,
    1,
    0x8000_0001,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x3f00_0000,
    0xbf00_0000,
    0x3f7f_ffff,
    0x3f80_0001,
    0xbf80_0001,
    0x4b40_0001,
    0x437c_0000,
    0x3fb8_aa3b,
    0x42c8_999a,
    0xc2af_0000,
    0x42ff_0000,
    0x4300_0000,
    0xc2fc_0000,
    0xc315_4ccd,
    0x1e3c_e508,
    0xe0ad_78ec,
    0x2000_0000,
    0x5f80_0000,
    0x3400_0000,
    0x3380_0000,
    0x7e80_0000,
    0x7f00_0001,
    0x3c00_bc00,
    0x7bff_0001,
    0x7c00_fc00,
    0x7e01_fe00,
    0x03ff_0400,
    0x8000_8001,
    0x3555_3c01,
    0x7bff_7bff,
    0x0001_83ff,
    0x1400_9400,
    0x2c00_6000,
    0x7c01_3bff,
    0x3f80_3f81,
    0x7f7f_0080,
    0x7f80_ff81,
    0x0040_807f,
    0x3f7f_bf00,
    0x477f_e000,
    0x477f_f000,
    0x3300_0000,
    0x3880_0000,
    0x387f_f000,
    0xdead_beef,
    0x9e37_79b9,
];

/// A program that stores what an operation makes of all pairs of the numbers.
fn program(operation: &str) -> String {
    let named = |text: &str| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "%_.".contains(c);
        let mut out = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let end = rest.find(|c| !is_name(c)).filter(|end| *end > 0).unwrap_or(c.len_utf8());
            let (word, behind) = rest.split_at(end);
            out += match word {
                "A" => "%a",
                "B" => "%b",
                "C" => "%c",
                "D" => "%d",
                "P" | "G" => "%p",
                word => word,
            };
            rest = behind;
        }
        out
    };
    let numbers: Vec<String> = NUMBERS.iter().map(u32::to_string).collect();
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.const .align 4 .b32 numbers[64] = {{{}}};
.visible .entry k(.param .u64 memory, .param .u32 n)
{{
    .reg .pred %p; .reg .b16 %h<4>; .reg .b32 %a, %b, %c, %d, %t, %x, %y; .reg .b64 %m, %u, %q, %at;
    ld.param.u64 %m, [memory];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %ctaid.x;
    mov.u64 %u, numbers;
    mad.wide.u32 %at, %x, 4, %u;
    ld.const.u32 %a, [%at];
    mad.wide.u32 %at, %y, 4, %u;
    ld.const.u32 %b, [%at];
    mad.lo.u32 %c, %x, 5, %y;
    and.b32 %c, %c, 63;
    mad.wide.u32 %at, %c, 4, %u;
    ld.const.u32 %c, [%at];
    mov.u32 %d, 77;
    setp.lt.s32 %p, %a, %b;
    {}
    selp.u32 %t, 1000, 0, %p;
    add.u32 %d, %d, %t;
    mad.lo.u32 %t, %y, 64, %x;
    mad.wide.u32 %at, %t, 4, %m;
    st.global.u32 [%at], %d;
    ret;
}}
",
        numbers.join(", "),
        named(operation)
    )
}

/// Compares native runs of operations with the interpreter's; gives how many there were.
pub fn pairs<'a>(operations: impl IntoIterator<Item = &'a &'a str>) -> u32 {
    operations.into_iter().map(|operation| same(&program(operation), ([64, 1, 1], [64, 1, 1]), &[None], 0)).sum()
}
