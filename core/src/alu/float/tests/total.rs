//! Every operation has a result for every input and every mode word, also those that no instruction makes.

use super::Samples;
use crate::alu::apply;
use crate::alu::mode::FMode;
use crate::alu::ops::Class;
use crate::alu::ops::FloatOp;

#[test]
fn no_input_is_without_a_result() {
    let mut samples = Samples(50);
    for op in FloatOp::ALL {
        for i in 0..400 {
            let mut source = || match i % 3 {
                0 => samples.single().into(),
                1 => samples.double(),
                _ => samples.next(),
            };
            let sources = [source(), source(), source(), source()];
            let mode = if i % 2 == 0 { samples.next() as u32 } else { samples.next() as u32 & 0x03ff_07ff };
            let (result, carry) = apply::float(*op, sources, mode);
            assert!(!carry);
            match op.shape().dest {
                Class::W => assert!(result <= u32::MAX.into(), "{op:?} {sources:x?} {mode:#x}"),
                Class::Q => {}
                Class::P => assert!(result <= 1, "{op:?} {sources:x?} {mode:#x}"),
            }
        }
    }
}

#[test]
fn results_of_sixteen_bits_are_zero_extended() {
    let mut samples = Samples(51);
    let halves = [
        FloatOp::AddHalf,
        FloatOp::SubHalf,
        FloatOp::MulHalf,
        FloatOp::FmaHalf,
        FloatOp::NegHalf,
        FloatOp::AbsHalf,
        FloatOp::MinHalf,
        FloatOp::MaxHalf,
        FloatOp::Ex2Half,
        FloatOp::TanhHalf,
    ];
    for op in halves {
        for _ in 0..200 {
            // The registers' unused upper halves may hold anything.
            let sources = [samples.next(), samples.next(), samples.next(), 0];
            let mode = samples.next() as u32 & !FMode::PACKED.0;
            let (result, _) = apply::float(op, sources, mode);
            assert!(result <= 0xffff, "{op:?}");
            assert_eq!(result, apply::float(op, sources.map(|s| s & 0xffff), mode).0, "{op:?}");
        }
    }
}
