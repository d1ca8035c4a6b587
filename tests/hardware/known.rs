//! Where results may differ from a GPU's, and by how much. Bounds are the largest differences on the operands that an H200 was
//! given (4,096 for each instruction of floating-point numbers).

use super::word;

/// How far an approximate result may be from ours, which is the better one (D-approx).
#[derive(Clone, Copy)]
enum Bound {
    /// Units in the last place.
    Ulps(u64),
    /// `sin` and `cos`: the argument is made a fraction of a turn in fixed point first, so that the error is absolute and grows
    /// with the argument until it is anything.
    Turn,
    /// `lg2`: the error is absolute around one.
    Logarithm,
}

use Bound::{Logarithm, Turn, Ulps};

/// Opcode, modifiers that must be there, type (of one value), bound.
const APPROXIMATE: [(&str, &str, &str, Bound); 17] = [
    ("div", ".approx", "f32", Ulps(2)),
    ("div", ".full", "f32", Ulps(2)),
    ("rcp", ".approx", "f32", Ulps(1)),
    ("sqrt", ".approx", "f32", Ulps(1)),
    ("rsqrt", ".approx", "f32", Ulps(2)),
    ("ex2", ".approx", "f32", Ulps(2)),
    ("ex2", ".approx", "f16", Ulps(1)),
    ("ex2", ".approx", "bf16", Ulps(1)),
    ("tanh", ".approx", "f32", Ulps(123)),
    ("tanh", ".approx", "f16", Ulps(1)),
    ("tanh", ".approx", "bf16", Ulps(1)),
    ("lg2", ".approx", "f32", Logarithm),
    ("sin", ".approx", "f32", Turn),
    ("cos", ".approx", "f32", Turn),
    // One unit of the upper half, which is all there is.
    ("rcp", ".approx.ftz", "f64", Ulps(1 << 32)),
    ("rsqrt", ".approx.ftz", "f64", Ulps(1 << 32)),
    ("rsqrt", ".approx", "f64", Ulps(1)),
];

/// Scalar video instructions, which ptxas makes of others since Volta, and what makes a difference then (D-video).
const VIDEO: [&str; 9] = ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad"];
const VIDEO_CORNERS: [&str; 4] = [".min", ".max", ".sat", ".shr"];

/// A format of floating-point numbers: bits, and infinity's code.
fn format(ty: &str) -> Option<(u32, u64)> {
    Some(match ty {
        "f16" => (16, 0x7c00),
        "bf16" => (16, 0x7f80),
        "f32" => (32, 0x7f80_0000),
        "f64" => (64, 0x7ff0_0000_0000_0000),
        _ => return None,
    })
}

fn single(bits: u64) -> f64 {
    f64::from(f32::from_bits(bits as u32))
}

/// Whether a value may come out instead of ours.
fn near(bound: Bound, (bits, infinity): (u32, u64), operand: u64, ours: u64, theirs: u64) -> bool {
    let sign = 1u64 << (bits - 1);
    let magnitude = |code: u64| code & (sign - 1);
    if ours == theirs {
        return true;
    }
    // NaN and infinities are not approximate.
    if magnitude(ours) >= infinity || magnitude(theirs) >= infinity {
        return false;
    }
    // Signs are exact, of zeros, too.
    let ulps = |most: u64| (ours ^ theirs) & sign == 0 && ours.abs_diff(theirs) <= most;
    let argument = single(operand).abs();
    let apart = (single(ours) - single(theirs)).abs();
    match bound {
        Ulps(most) => ulps(most),
        Logarithm if argument > 0.5 && argument < 2.0 => apart <= 2f64.powi(-22),
        Logarithm => ulps(2),
        Turn => single(theirs).abs() <= 1.0 && apart <= 2f64.powi(-21) + argument * 2f64.powi(-22),
    }
}

/// Whether an instruction that is called so by `alu::instructions` may give another result than ours: eight bytes, and then those
/// of the predicate or the carry.
pub fn allowed(name: &str, operands: [u64; 4], ours: &[u8], theirs: &[u8]) -> bool {
    if ours == theirs {
        return true;
    }
    let name = name.split(' ').next().unwrap_or(name);
    let opcode = name.split('.').next().unwrap_or(name);
    if VIDEO.contains(&opcode) {
        return VIDEO_CORNERS.iter().any(|corner| name.contains(corner));
    }
    let ty = name.rsplit('.').next().unwrap_or(name);
    let one = ty.strip_suffix("x2").unwrap_or(ty);
    let bound = APPROXIMATE.iter().find(|(op, words, of, _)| *op == opcode && name.contains(words) && *of == one);
    let (Some((.., bound)), Some((bits, infinity))) = (bound, format(one)) else { return false };
    let values = if ty == one { 1 } else { 2 };
    let value = |word: u64, at: u32| word >> (bits * at) & (u64::MAX >> (64 - bits));
    let (mine, other) = (word(&ours[..8]), word(&theirs[..8]));
    ours[8..] == theirs[8..]
        && (0..values)
            .all(|at| near(*bound, (bits, infinity), value(operands[0], at), value(mine, at), value(other, at)))
}

#[test]
fn only_what_is_meant_may_differ() {
    let with = |name: &str, operand: u64, ours: u64, theirs: u64| {
        let bytes = |word: u64| [word.to_le_bytes(), [0; 8]].concat();
        allowed(name, [operand, 0, 0, 0], &bytes(ours), &bytes(theirs))
    };
    assert!(with("add.f32", 0, 5, 5) && !with("add.f32", 0, 5, 6));
    assert!(with("rcp.approx.f32 edge", 0, 5, 6) && !with("rcp.approx.f32", 0, 5, 7) && !with("rcp.rn.f32", 0, 5, 6));
    // Each half by itself; the largest number is not infinity.
    assert!(with("tanh.approx.f16x2", 0, 0x3c00_3c00, 0x3bff_3c01) && !with("tanh.approx.f16x2", 0, 0x2_0000, 0));
    assert!(!with("ex2.approx.f16", 0, 0x7c00, 0x7bff) && !with("ex2.approx.f16", 0, 0x7fff, 0x7ffe));
    assert!(with("ex2.approx.f16", 0, 1, 0) && !with("ex2.approx.f16", 0, 1, 0x8001));
    let of = |value: f32| u64::from(value.to_bits());
    assert!(
        with("sin.approx.f32", of(1e-30), of(1e-30), of(0.0)) && !with("sin.approx.f32", of(1.0), of(0.5), of(0.0))
    );
    assert!(
        with("cos.approx.ftz.f32", of(1e30), of(-1.0), of(1.0)) && !with("cos.approx.f32", of(1e30), of(0.0), of(2.0))
    );
    assert!(
        with("lg2.approx.f32", of(0.999), of(-1e-7), of(-1e-8)) && !with("lg2.approx.f32", of(9.0), of(3.17), of(3.2))
    );
    assert!(
        with("rcp.approx.ftz.f64", 0, 1 << 60, (1 << 60) + (1 << 32))
            && !with("rsqrt.approx.f64", 0, 1 << 60, (1 << 60) + 2)
    );
    assert!(
        with("vadd.sat.s32.u32.s32", 0, 5, 9)
            && !with("vadd.s32.u32.s32", 0, 5, 9)
            && !with("vadd2.s32.s32.s32.sat", 0, 5, 9)
    );
}
