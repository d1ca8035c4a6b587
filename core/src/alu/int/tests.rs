//! Every operation against its second definition in [`super::spec`].

use super::spec::spec;
use crate::alu::apply;
use crate::alu::int::{IntCvt, Second, Video};
use crate::alu::ops::Class;
use crate::alu::ops::IntOp;
use proptest::prelude::*;

/// Values at which something changes, for any width.
const CORNERS: [u64; 34] = [
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x0001_8000,
    0x007f_ffff,
    0x0080_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x0001_0000_0000,
    0x1234_5678_9abc_def0,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
];

/// Modes that mean something to the operation.
fn modes(op: IntOp) -> Vec<u32> {
    match op {
        IntOp::Lop3 => vec![0x00, 0x1a, 0x40, 0x80, 0x96, 0xca, 0xe8, 0xfe, 0xff, 0x155],
        IntOp::ByteOfW | IntOp::HalfOfQ => vec![0, 1, 2, 3],
        IntOp::CvtPack16 | IntOp::CvtPack => {
            let widths: &[u32] = if op == IntOp::CvtPack16 { &[16] } else { &[2, 4, 8] };
            let cvt = |to_bits, to_signed| IntCvt {
                from_bits: 32,
                from_signed: true,
                to_bits,
                to_signed,
                sat: true,
                register_bits: 32,
            };
            widths.iter().flat_map(|w| [cvt(*w, false).mode(), cvt(*w, true).mode()]).collect()
        }
        IntOp::CvtWW | IntOp::CvtWQ | IntOp::CvtQW | IntOp::CvtQQ => conversions(op),
        op if format!("{op:?}").starts_with('V') => videos(op),
        _ => vec![0],
    }
}

/// Some mode words of a video instruction, of all kinds.
fn videos(op: IntOp) -> Vec<u32> {
    let seconds = [Second::None, Second::Add, Second::Min, Second::Max];
    let word = |seed: u32| {
        // Whatever the seed, the low bits of its products are well mixed.
        let bits = seed.wrapping_mul(0x9e37_79b9).rotate_left(16).wrapping_mul(0x85eb_ca6b).rotate_left(16);
        let flag = |i: u32| bits >> i & 1 == 1;
        let simd = format!("{op:?}").ends_with(['2', '4']);
        let sat = flag(3) && !op_compares(op);
        let second = seconds[(bits >> 8 & 3) as usize];
        let merges = !simd && second != Second::None;
        Video {
            a: if simd { 0 } else { 1 + seed % 7 },
            b: if simd { 0 } else { 1 + seed / 7 % 7 },
            d: if merges { 1 } else { (bits >> 12 & 15).max(1) & if simd { 15 } else { 7 } },
            a_signed: flag(0),
            b_signed: flag(1),
            d_signed: flag(2),
            sat,
            second,
            relation: 1 + bits / 64 % 6,
            wrap: flag(4),
            minus_product: op == IntOp::Vmad && flag(5),
            minus_addend: op == IntOp::Vmad && flag(6),
            plus_one: op == IntOp::Vmad && flag(7),
            scale: [0, 7, 15, 0][(bits >> 10 & 3) as usize],
        }
    };
    (0..98).map(|seed| word(seed).mode()).collect()
}

fn op_compares(op: IntOp) -> bool {
    matches!(op, IntOp::Vset | IntOp::Vset2 | IntOp::Vset4)
}

/// The mode words of one of the general conversions.
fn conversions(op: IntOp) -> Vec<u32> {
    let widths = |most: u32| [8, 16, 32, 64].into_iter().filter(move |w| *w <= most);
    let (from, registers) = match op {
        IntOp::CvtWW => (32, 16..=32),
        IntOp::CvtWQ => (32, 64..=64),
        IntOp::CvtQW => (64, 16..=32),
        _ => (64, 64..=64),
    };
    let mut all = vec![];
    for from_bits in widths(from) {
        for register_bits in widths(64).filter(|w| registers.contains(w)) {
            for to_bits in widths(register_bits) {
                for flags in 0..8 {
                    let (from_signed, to_signed, sat) = (flags & 1 == 1, flags & 2 == 2, flags & 4 == 4);
                    all.push(IntCvt { from_bits, from_signed, to_bits, to_signed, sat, register_bits }.mode());
                }
            }
        }
    }
    all
}

/// What a slot of the class can hold.
fn slot(class: Option<Class>, value: u64) -> u64 {
    match class {
        Some(Class::W) => value & 0xffff_ffff,
        Some(Class::Q) => value,
        Some(Class::P) => value & 1,
        None => 0,
    }
}

fn check(op: IntOp, values: [u64; 4], mode: u32) {
    let sources = op.shape().sources;
    let values = [0, 1, 2, 3].map(|i| slot(sources.get(i).copied(), values[i]));
    let (got, want) = (apply::int(op, values, mode), spec(op, values, mode));
    assert!(got == want, "{op:?} {values:x?} mode {mode:#x}: {got:x?}, expected {want:x?}");
}

#[test]
fn every_operation_agrees_with_its_definition_at_the_corners() {
    for op in IntOp::ALL {
        let sources = op.shape().sources;
        // As many corners as the number of sources leaves time for.
        let step = if sources.len() == 4 { 3 } else { 1 };
        let choices = |i: usize| match sources.get(i) {
            None => &CORNERS[..1],
            Some(Class::P) => &CORNERS[..2],
            Some(_) => &CORNERS[..],
        };
        let modes = modes(*op);
        // Those of video instructions are many.
        let every = if sources.len() > 2 { modes.len().div_ceil(10) } else { 1 };
        for &mode in modes.iter().step_by(every) {
            for a in choices(0) {
                for b in choices(1) {
                    for c in choices(2).iter().step_by(step) {
                        for d in choices(3).iter().step_by(if sources.get(3) == Some(&Class::P) { 1 } else { step }) {
                            check(*op, [*a, *b, *c, *d], mode);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn operations_on_one_half_word_agree_everywhere() {
    use IntOp::{AbsS16, Cnot16, Lo8OfQ, Lo16, Lo16OfQ, Neg16, Not16, Sx8H, Sx8Q, Sx8W, Sx16Q, Sx16W, Zx8, Zx16};
    for op in [AbsS16, Cnot16, Lo8OfQ, Lo16, Lo16OfQ, Neg16, Not16, Sx8H, Sx8Q, Sx8W, Sx16Q, Sx16W, Zx8, Zx16] {
        for a in 0..=0xffff {
            check(op, [a, 0, 0, 0], 0);
        }
    }
}

#[test]
fn operations_on_two_half_words_agree_on_all_bytes() {
    let narrow = IntOp::ALL.iter().filter(|op| {
        let shape = op.shape();
        shape.sources.len() == 2 && format!("{op:?}").contains("16")
    });
    for op in narrow {
        for a in 0..256 {
            for b in 0..256 {
                check(*op, [a, b, 0, 0], 0);
                check(*op, [a << 8 | 0xff, b << 8 | 0x80, 0, 0], 0);
            }
        }
    }
}

/// What an H200 gives where PTX leaves it open.
#[test]
fn what_is_left_open_is_as_on_hardware() {
    use super::*;
    assert_eq!((rem_u16(7, 0), rem_s16(7, 0), rem_u32(7, 0), rem_s32(7, 0)), (0xffff, 0xffff, u32::MAX, u32::MAX));
    assert_eq!((rem_u64(7, 0), rem_s64(7, 0)), (u64::MAX, u64::MAX));
    // Fields of 32 bits have byte numbers; 0x104 is 4.
    assert_eq!((bfe_u32(0xff0, 0x104, 0x104), bfi32(0xff, 0, 0x104, 0x104)), (0xf, 0xf0));
    assert_eq!((bfe_u64(u64::MAX, 0x104, 4), bfe_u64(u64::MAX, 4, 0x100)), (0, u64::MAX >> 4));
    assert_eq!((bfe_s64(1 << 63, u32::MAX, 1), bfe_s64(0x80, 4, u32::MAX), bfe_s64(u64::MAX, 0, 0)), (u64::MAX, 8, 0));
    assert_eq!((bfi64(u64::MAX, 0, 0x104, 4), bfi64(u64::MAX, 0, 4, 0x100)), (0, u64::MAX << 4));
    assert_eq!((fns(u32::MAX, 3, 1 << 31), fns(0, 99, 1 << 31), fns(1, 31, 0x8000_0001)), (0, 0, u32::MAX));
}

#[test]
fn every_truth_table_of_lop3_is_right() {
    for table in 0..=255 {
        check(IntOp::Lop3, [0xf0, 0xcc, 0xaa, 0], table);
        assert_eq!(super::lop3(0xf0, 0xcc, 0xaa, table) & 0xff, table);
    }
}

#[test]
fn permutations_agree_for_every_selector() {
    for selector in 0..=0xffff {
        check(IntOp::Prmt, [0x83_02_f1_00, 0x07_96_05_c4, selector, 0], 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn every_operation_agrees_with_its_definition(
        index in 0..IntOp::ALL.len(), values in any::<[u64; 4]>(), narrow in 0u32..64, mode in any::<u32>()
    ) {
        let op = IntOp::ALL[index];
        let modes = modes(op);
        // Small third and fourth sources are the amounts, positions and lengths.
        let values = [values[0], values[1], values[2] >> narrow, values[3] >> narrow];
        check(op, values, modes[mode as usize % modes.len()]);
    }
}
