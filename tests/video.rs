//! Video instructions in all forms against a model of their own (`video/model.rs`), on random and extreme numbers. Nothing of
//! the implementation is used here but to run the kernels.

#[path = "video/model.rs"]
mod model;

use chacha20::ChaCha8Rng;
use model::Instruction;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use std::fmt::Write as _;
use warpstep::{Check, Kernel};

/// Threads of a run: as many operands for each instruction.
const THREADS: usize = 64;
/// Instructions of a kernel.
const BODY: usize = 200;

const TYPES: [&str; 2] = ["u32", "s32"];
const RELATIONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];
const PARTS: [&str; 7] = ["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"];

/// `.u32.s32.u32` and so on.
fn types(count: u32) -> impl Iterator<Item = String> {
    (0..1usize << count).map(move |code| (0..count).map(|i| format!(".{}", TYPES[code >> i & 1])).collect())
}

/// All heads of scalar instructions but `vmad`, without a secondary operation: `vadd.u32.u32.u32.sat`.
fn scalar_heads() -> Vec<String> {
    let mut heads = Vec::new();
    for sat in ["", ".sat"] {
        for types in types(3) {
            heads.extend(["vadd", "vsub", "vabsdiff", "vmin", "vmax"].map(|name| format!("{name}{types}{sat}")));
        }
        for types in types(2) {
            for name in ["vshl", "vshr"] {
                heads.extend(["clamp", "wrap"].map(|mode| format!("{name}{types}.u32{sat}.{mode}")));
            }
        }
    }
    heads.extend(types(2).flat_map(|types| RELATIONS.map(|cmp| format!("vset{types}.{cmp}"))));
    heads
}

/// Instructions with the selectors of their sources open: `%` stands for `%a` and `%b` with them.
fn scalar_forms() -> Vec<String> {
    let mut forms = Vec::new();
    for head in scalar_heads() {
        forms.push(format!("{head} %d, A, B"));
        forms.push(format!("{head} %d, A, B, %c"));
        forms.extend(["add", "min", "max"].map(|second| format!("{head}.{second} %d, A, B, %c")));
        forms.extend(PARTS[1..].iter().map(|part| format!("{head} %d{part}, A, B, %c")));
    }
    for types in types(3) {
        for (sat, scale) in ["", ".sat"].iter().flat_map(|sat| ["", ".shr7", ".shr15"].map(|scale| (sat, scale))) {
            forms.push(format!("vmad{types}.po{sat}{scale} %d, A, B, %c"));
            let signs = ["A, B, %c", "-A, B, %c", "A, -B, %c", "-A, -B, %c", "A, B, -%c", "-A, -B, -%c"];
            forms.extend(signs.map(|operands| format!("vmad{types}{sat}{scale} %d, {operands}")));
        }
    }
    forms
}

/// All SIMD instructions with all masks.
fn simd_forms(lanes: usize) -> Vec<String> {
    let letter = if lanes == 2 { 'h' } else { 'b' };
    let masks = (1..1 << lanes).map(|mask: usize| {
        let digits = (0..lanes).rev().filter(|i| mask >> i & 1 == 1).map(|i| i.to_string());
        format!(".{letter}{}", digits.collect::<String>())
    });
    let masks: Vec<String> = std::iter::once(String::new()).chain(masks).collect();
    let mut heads = Vec::new();
    for name in ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"] {
        for types in types(3) {
            heads.extend(["", ".sat", ".add"].map(|more| format!("{name}{lanes}{types}{more}")));
        }
    }
    for types in types(2) {
        for cmp in RELATIONS {
            heads.extend(["", ".add"].map(|more| format!("vset{lanes}{types}.{cmp}{more}")));
        }
    }
    heads.iter().flat_map(|head| masks.iter().map(move |mask| format!("{head} %d{mask}, A, B, %c"))).collect()
}

/// A selector of a source of a SIMD instruction.
fn vector(lanes: usize, random: &mut ChaCha8Rng) -> String {
    if random.random_bool(0.25) {
        return String::new();
    }
    let digits = (0..lanes).map(|_| char::from(b'0' + random.random_range(0..2 * lanes as u8)));
    format!(".{}{}", if lanes == 2 { 'h' } else { 'b' }, digits.collect::<String>())
}

/// A number at which something may change, or any.
fn operand(random: &mut ChaCha8Rng) -> u32 {
    const BYTES: [u8; 8] = [0, 1, 2, 0x7e, 0x7f, 0x80, 0x81, 0xff];
    match random.random_range(0..5) {
        0 => random.random(),
        1 => random.random::<u32>() >> random.random_range(0..32),
        2 => 1u32.rotate_left(random.random_range(0..32)).wrapping_sub(random.random_range(0..3)),
        3 => [0, 1, 31, 32, 33, 0x7fff_ffff, 0x8000_0000, u32::MAX][random.random_range(0..8)],
        _ => u32::from_le_bytes(std::array::from_fn(|_| *BYTES.choose(random).expect("some"))),
    }
}

/// A kernel whose threads execute each instruction on their own operands.
fn ptx(instructions: &[String], version: &str, target: &str) -> String {
    let mut text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b32 %t, %a, %b, %c, %d; .reg .b64 %i, %o;\n\
         ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n\
         mad.wide.u32 %i, %t, {}, %i; mad.wide.u32 %o, %t, {}, %o;\n",
        12 * instructions.len(),
        4 * instructions.len()
    );
    for (k, instruction) in instructions.iter().enumerate() {
        let at = 12 * k;
        writeln!(
            text,
            "ld.global.u32 %a, [%i+{at}]; ld.global.u32 %b, [%i+{}]; ld.global.u32 %c, [%i+{}];\nmov.u32 %d, 0x5a5a5a5a;\n\
             {instruction};\nst.global.u32 [%o+{}], %d;",
            at + 4,
            at + 8,
            4 * k
        )
        .unwrap();
    }
    text + "ret;\n}\n"
}

/// Runs instructions on random operands; every result is the model's.
fn agree(instructions: &[String], random: &mut ChaCha8Rng, version: &str, target: &str) {
    for body in instructions.chunks(BODY) {
        let text = ptx(body, version, target);
        let inputs: Vec<u32> = (0..3 * THREADS * body.len()).map(|_| operand(random)).collect();
        let mut results = vec![0u32; THREADS * body.len()];
        let kernel = Kernel::from_ptx(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(THREADS as u32);
        kernel.arg(&inputs).arg(&mut results[..]).run().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let models: Vec<Instruction> = body.iter().map(|text| Instruction::read(text)).collect();
        for (at, result) in results.iter().enumerate() {
            let [a, b, c] = [0, 1, 2].map(|i| inputs[3 * at + i]);
            let wanted = models[at % body.len()].result(a, b, c);
            let instruction = &body[at % body.len()];
            assert_eq!(*result, wanted, "{instruction} of {a:#x}, {b:#x}, {c:#x} is {result:#x}, wanted {wanted:#x}");
        }
    }
}

/// Each form with a few selectors of its sources.
fn with_selectors(forms: &[String], turns: usize, selector: impl Fn(&mut ChaCha8Rng) -> String) -> Vec<String> {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut one = |form: &String| {
        let (head, operands) = form.split_once(' ').expect("operands");
        let operands = operands.replace('A', &format!("%a{}", selector(&mut random)));
        format!("{head} {}", operands.replace('B', &format!("%b{}", selector(&mut random))))
    };
    (0..turns).flat_map(|_| forms.iter().map(&mut one).collect::<Vec<_>>()).collect()
}

#[test]
fn scalar_instructions_of_all_forms() {
    let forms = scalar_forms();
    assert_eq!(forms.len(), 136 * 11 + 8 * 6 * 7);
    let instructions = with_selectors(&forms, 4, |random| (*PARTS.choose(random).expect("some")).to_owned());
    agree(&instructions, &mut ChaCha8Rng::seed_from_u64(1), "7.0", "sm_70");
}

#[test]
fn all_selectors_of_sources() {
    let heads = ["vadd.s32.u32.s32 %d, A, B", "vmax.u32.s32.u32.sat %d.h1, A, B, %c", "vmad.s32.u32.s32 %d, -A, B, %c"];
    let mut instructions = Vec::new();
    for (a, b) in PARTS.iter().flat_map(|a| PARTS.map(|b| (a, b))) {
        let with = |head: &str| head.replace('A', &format!("%a{a}")).replace('B', &format!("%b{b}"));
        instructions.extend(heads.map(with));
    }
    agree(&instructions, &mut ChaCha8Rng::seed_from_u64(2), "2.0", "sm_20");
}

#[test]
fn pairs_of_half_words() {
    let instructions = with_selectors(&simd_forms(2), 3, |random| vector(2, random));
    agree(&instructions, &mut ChaCha8Rng::seed_from_u64(3), "3.0", "sm_30");
}

#[test]
fn quads_of_bytes() {
    let instructions = with_selectors(&simd_forms(4), 2, |random| vector(4, random));
    agree(&instructions, &mut ChaCha8Rng::seed_from_u64(4), "9.0", "sm_120");
}

/// Constants as sources, one register for all operands, a guard that does not hold.
#[test]
fn operands_of_all_kinds() {
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
        .reg .b32 %r<20>; .reg .s32 %s; .reg .b64 %o; .reg .pred %p;\nld.param.u64 %o, [out];\n\
        vadd.s32.u32.s32 %r0, 7, -3; st.global.u32 [%o], %r0;\n\
        vsub.u32.u32.u32.sat %r1, 7, WARP_SZ; st.global.u32 [%o+4], %r1;\n\
        mov.u32 %r2, 0x80ff7f01; vmax.s32.s32.s32.sat %r2.b1, %r2.b2, %r2.b3, %r2; st.global.u32 [%o+8], %r2;\n\
        mov.u32 %r3, 0x01020304; vadd4.u32.u32.u32.add %r3, %r3.b0101, %r3.b7654, %r3; st.global.u32 [%o+12], %r3;\n\
        setp.eq.u32 %p, %r3, 0; mov.u32 %r4, 5; @%p vadd.u32.u32.u32 %r4, %r4, 1; st.global.u32 [%o+16], %r4;\n\
        mov.s32 %s, 0x7fffffff; vmad.s32.s32.s32.sat %s, %s, -3, %s; st.global.u32 [%o+20], %s;\n\
        vset.s32.u32.lt %r5, -1, 1; st.global.u32 [%o+24], %r5;\n\
        vshl.u32.u32.u32.wrap.max %r6, 3, 33, 5; st.global.u32 [%o+28], %r6;\nret;\n}\n";
    let mut out = [0u32; 8];
    let kernel = Kernel::from_ptx(text).unwrap_or_else(|e| panic!("{e}"));
    kernel.arg(&mut out[..]).run().unwrap_or_else(|e| panic!("{e}"));
    let sum = 0x0102_0304 + (4 + 3 + 4 + 3) + (1 + 2 + 3 + 4);
    assert_eq!(out, [4, 0, 0x80ff_ff01, sum, 5, 0x8000_0000, 1, 6]);
}

/// An undefined third source is no defect where nothing is merged or added.
#[test]
fn what_is_not_read_may_be_undefined() {
    let run = |instruction: &str| {
        let text = format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
             .reg .b32 %r<20>; .reg .b64 %o;\nld.param.u64 %o, [out]; mov.u32 %r1, 1;\n{instruction}\n\
             st.global.u32 [%o], %r0;\nret;\n}}\n"
        );
        let mut out = [0u32; 1];
        let kernel = Kernel::from_ptx(&text).unwrap_or_else(|e| panic!("{e}")).check(Check::Uninit);
        kernel.arg(&mut out[..]).run().is_ok()
    };
    for defined in [
        "vadd2.u32.u32.u32 %r0, %r1, %r1, %r9;",
        "vadd4.u32.u32.u32 %r0.b3210, %r1, %r1, %r9;",
        "vadd4.u32.u32.u32 %r0, %r1.b0011, %r9.b3333, %r9;",
        "vadd.u32.u32.u32 %r0, %r1, %r1, %r9;",
    ] {
        assert!(run(defined), "{defined}");
    }
    for undefined in [
        "vadd2.u32.u32.u32.add %r0, %r1, %r1, %r9;",
        "vadd2.u32.u32.u32 %r0.h1, %r1, %r1, %r9;",
        "vadd4.u32.u32.u32 %r0, %r1.b4011, %r9.b3333, %r9;",
        "vadd.u32.u32.u32 %r0.h0, %r1, %r1, %r9;",
        "vmad.u32.u32.u32 %r0, %r1, %r1, %r9;",
    ] {
        assert!(!run(undefined), "{undefined}");
    }
}
