//! The table of floating-point operations.
#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "an unordered comparison is the negation of an ordered one")]

use super::approx::{approximate_quotient, gross, power_of_two, through_double};
use super::convert::{
    clamp_s32_f32, clamp_signed, clamp_u32_f32, clamp_unsigned, narrow_brain, narrow16, narrow64, narrow64_ftz,
    widen_brain, widen16, widen32, widen32_ftz,
};
use super::convert_any::{ONES, any, packed, packed_random, pair};
use super::double::{INFINITY64, SIGN64, double, extreme64, quiet_or, rounded64, settle};
use super::fused::{fused32, fused32_ftz, fused64};
use super::half::{
    SIGN16, approximate_half, arithmetic, choose_half, flush16, fused_half, related, sign_half, widen_source,
};
use super::sides::{fused_to_side, to_side};
use super::single::{
    INFINITY32, SIGN32, both, choose32, clamps32, extreme32, flush_if, flush32, has_property, product, quotient,
    rounded32, saturate32, sided32, single_ftz, sum,
};
use crate::alu::mode::FMode;
use crate::alu::table::{Bits, define_functions, define_ops};

/// Operation function(sources; mode word) -> result = formula;
macro_rules! float_ops {
    ($then:ident) => {
        $then! { FloatOp, float;
            // f32, the common forms: rounding to nearest, no clamping
            AddF32 add_f32(a: f32, b: f32) -> f32 = a + b;
            AddFtzF32 add_ftz_f32(a: u32, b: u32) -> u32 = flush32(add_f32(flush32(a), flush32(b)));
            SubF32 sub_f32(a: f32, b: f32) -> f32 = a - b;
            SubFtzF32 sub_ftz_f32(a: u32, b: u32) -> u32 = flush32(sub_f32(flush32(a), flush32(b)));
            MulF32 mul_f32(a: f32, b: f32) -> f32 = a * b;
            MulFtzF32 mul_ftz_f32(a: u32, b: u32) -> u32 =
                product(single_ftz(a), single_ftz(b), true);
            FmaF32 fma_f32(a: f32, b: f32, c: f32) -> f32 = fused32(a, b, c);
            FmaFtzF32 fma_ftz_f32(a: u32, b: u32, c: u32) -> u32 =
                fused32_ftz(single_ftz(a), single_ftz(b), single_ftz(c), true);
            DivF32 div_f32(a: f32, b: f32) -> f32 = a / b;
            DivFtzF32 div_ftz_f32(a: u32, b: u32) -> u32 =
                quotient(single_ftz(a), single_ftz(b), true);
            RcpF32 rcp_f32(a: f32) -> f32 = 1.0 / a;
            RcpFtzF32 rcp_ftz_f32(a: u32) -> u32 = flush32(rcp_f32(flush32(a)));
            SqrtF32 sqrt_f32(a: f32) -> f32 = a.sqrt();
            SqrtFtzF32 sqrt_ftz_f32(a: u32) -> u32 = sqrt_f32(flush32(a));
            RsqrtF32 rsqrt_f32(a: f32) -> f32 = 1.0 / a.sqrt();
            RsqrtFtzF32 rsqrt_ftz_f32(a: u32) -> u32 = rsqrt_f32(flush32(a));
            NegF32 neg_f32(a: f32) -> f32 = -a;
            NegFtzF32 neg_ftz_f32(a: u32) -> u32 = neg_f32(flush32(a));
            AbsF32 abs_f32(a: f32) -> f32 = a.abs();
            AbsFtzF32 abs_ftz_f32(a: u32) -> u32 = abs_f32(flush32(a));
            MinF32 min_f32(a: u32, b: u32) -> u32 = extreme32(a, b, |x, y| x < y, a | b);
            MinFtzF32 min_ftz_f32(a: u32, b: u32) -> u32 = min_f32(flush32(a), flush32(b));
            MaxF32 max_f32(a: u32, b: u32) -> u32 = extreme32(a, b, |x, y| x > y, a & b);
            MaxFtzF32 max_ftz_f32(a: u32, b: u32) -> u32 = max_f32(flush32(a), flush32(b));
            CopysignF32 copysign_f32(a: u32, b: u32) -> u32 = a & SIGN32 | b & !SIGN32;
            // f32, any rounding, .ftz, .sat and the modifiers of min and max
            AddModeF32 add_mode_f32(a: u32, b: u32; mode) -> u32 =
                sided32([a, b], mode, |[a, b], ftz| sum(a, b, ftz), |[a, b], to| fused_to_side(a, 1.0, b, to),
                    |[a, b], to| a.plus(b, to));
            SubModeF32 sub_mode_f32(a: u32, b: u32; mode) -> u32 = add_mode_f32(a, b ^ SIGN32, mode);
            MulModeF32 mul_mode_f32(a: u32, b: u32; mode) -> u32 =
                sided32([a, b], mode, |[a, b], ftz| product(a, b, ftz),
                    |[a, b], to| to_side(f64::from(a) * f64::from(b), to), |[a, b], _| a.times(b));
            FmaModeF32 fma_mode_f32(a: u32, b: u32, c: u32; mode) -> u32 =
                sided32([a, b, c], mode, |[a, b, c], ftz| fused32_ftz(a, b, c, ftz),
                    |[a, b, c], to| fused_to_side(a, b, c, to), |[a, b, c], to| a.times(b).plus(c, to));
            DivModeF32 div_mode_f32(a: u32, b: u32; mode) -> u32 =
                rounded32([a, b], mode, |[a, b], ftz| quotient(a, b, ftz), |[a, b], _| a.over(b));
            RcpModeF32 rcp_mode_f32(a: u32; mode) -> u32 = div_mode_f32(1.0f32.to_bits(), a, mode);
            SqrtModeF32 sqrt_mode_f32(a: u32; mode) -> u32 =
                rounded32([a], mode, |[a], _| a.sqrt().put(), |[a], _| a.sqrt());
            MinModeF32 min_mode_f32(a: u32, b: u32; mode) -> u32 = choose32(a, b, FMode(mode), min_f32);
            MaxModeF32 max_mode_f32(a: u32, b: u32; mode) -> u32 = choose32(a, b, FMode(mode), max_f32);
            Min3F32 min3_f32(a: u32, b: u32, c: u32; mode) -> u32 = min_mode_f32(min_mode_f32(a, b, mode), c, mode);
            Max3F32 max3_f32(a: u32, b: u32, c: u32; mode) -> u32 = max_mode_f32(max_mode_f32(a, b, mode), c, mode);
            DivApproxF32 div_approx_f32(a: u32, b: u32; mode) -> u32 = approximate_quotient(a, b, FMode(mode));
            TestpF32 testp_f32(a: u32; mode) -> bool =
                has_property((a & !SIGN32).into(), INFINITY32.into(), 1 << 23, mode);
            // f32x2
            AddF32x2 add_f32x2(a: u64, b: u64; mode) -> u64 = both([a, b], |[a, b]| add_mode_f32(a, b, mode));
            SubF32x2 sub_f32x2(a: u64, b: u64; mode) -> u64 = both([a, b], |[a, b]| sub_mode_f32(a, b, mode));
            MulF32x2 mul_f32x2(a: u64, b: u64; mode) -> u64 = both([a, b], |[a, b]| mul_mode_f32(a, b, mode));
            FmaF32x2 fma_f32x2(a: u64, b: u64, c: u64; mode) -> u64 =
                both([a, b, c], |[a, b, c]| fma_mode_f32(a, b, c, mode));
            // f64
            AddF64 add_f64(a: u64, b: u64) -> u64 = settle([a, b], (double(a) + double(b)).to_bits());
            AddModeF64 add_mode_f64(a: u64, b: u64; mode) -> u64 = rounded64([a, b], mode, |[a, b], to| a.plus(b, to));
            SubF64 sub_f64(a: u64, b: u64) -> u64 = settle([a, b], (double(a) - double(b)).to_bits());
            SubModeF64 sub_mode_f64(a: u64, b: u64; mode) -> u64 =
                rounded64([a, b], mode, |[a, b], to| a.plus(b.negated(), to));
            MulF64 mul_f64(a: u64, b: u64) -> u64 = settle([a, b], (double(a) * double(b)).to_bits());
            MulModeF64 mul_mode_f64(a: u64, b: u64; mode) -> u64 = rounded64([a, b], mode, |[a, b], _| a.times(b));
            FmaF64 fma_f64(a: u64, b: u64, c: u64) -> u64 =
                settle([a, b, c], fused64(double(a), double(b), double(c)).to_bits());
            FmaModeF64 fma_mode_f64(a: u64, b: u64, c: u64; mode) -> u64 =
                rounded64([a, b, c], mode, |[a, b, c], to| a.times(b).plus(c, to));
            // The dividend's NaN comes before the divisor's, so that they change places.
            DivF64 div_f64(a: u64, b: u64) -> u64 = settle([b, a], (double(a) / double(b)).to_bits());
            DivModeF64 div_mode_f64(a: u64, b: u64; mode) -> u64 = rounded64([b, a], mode, |[b, a], _| a.over(b));
            RcpF64 rcp_f64(a: u64) -> u64 = settle([a], (1.0 / double(a)).to_bits());
            RcpModeF64 rcp_mode_f64(a: u64; mode) -> u64 = div_mode_f64(1.0f64.to_bits(), a, mode);
            SqrtF64 sqrt_f64(a: u64) -> u64 = settle([a], double(a).sqrt().to_bits());
            SqrtModeF64 sqrt_mode_f64(a: u64; mode) -> u64 = rounded64([a], mode, |[a], _| a.sqrt());
            NegF64 neg_f64(a: u64) -> u64 = quiet_or(a, a ^ SIGN64);
            AbsF64 abs_f64(a: u64) -> u64 = quiet_or(a, a & !SIGN64);
            MinF64 min_f64(a: u64, b: u64) -> u64 = extreme64(a, b, |x, y| x < y, a | b);
            MaxF64 max_f64(a: u64, b: u64) -> u64 = extreme64(a, b, |x, y| x > y, a & b);
            CopysignF64 copysign_f64(a: u64, b: u64) -> u64 = a & SIGN64 | b & !SIGN64;
            TestpF64 testp_f64(a: u64; mode) -> bool = has_property(a & !SIGN64, INFINITY64, 1 << 52, mode);
            // approximations
            SinF32 sin_f32(a: u32; mode) -> u32 = through_double(a, FMode(mode), libm::sin);
            CosF32 cos_f32(a: u32; mode) -> u32 = through_double(a, FMode(mode), libm::cos);
            Lg2F32 lg2_f32(a: u32; mode) -> u32 = through_double(a, FMode(mode), libm::log2);
            Ex2F32 ex2_f32(a: u32; mode) -> u32 = through_double(a, FMode(mode), power_of_two);
            TanhF32 tanh_f32(a: u32; mode) -> u32 = through_double(a, FMode(mode), libm::tanh);
            RsqrtF64 rsqrt_f64(a: u64) -> u64 = div_f64(1.0f64.to_bits(), sqrt_f64(a));
            RcpGrossF64 rcp_gross_f64(a: u64) -> u64 = gross(a, |x| 1.0 / x);
            RsqrtGrossF64 rsqrt_gross_f64(a: u64) -> u64 =
                gross(a, |x| if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() });
            // f16, bf16 and their packed forms; f32 mixed with them
            AddHalf add_half(a: u32, b: u32; mode) -> u32 = arithmetic([a, b], FMode(mode), |[a, b]| a + b);
            SubHalf sub_half(a: u32, b: u32; mode) -> u32 = arithmetic([a, b], FMode(mode), |[a, b]| a - b);
            MulHalf mul_half(a: u32, b: u32; mode) -> u32 = arithmetic([a, b], FMode(mode), |[a, b]| a * b);
            FmaHalf fma_half(a: u32, b: u32, c: u32; mode) -> u32 = fused_half([a, b, c], FMode(mode));
            NegHalf neg_half(a: u32; mode) -> u32 = sign_half(a, FMode(mode), |a| a ^ SIGN16);
            AbsHalf abs_half(a: u32; mode) -> u32 = sign_half(a, FMode(mode), |a| a & !SIGN16);
            MinHalf min_half(a: u32, b: u32; mode) -> u32 = choose_half(a, b, FMode(mode), min_mode_f32);
            MaxHalf max_half(a: u32, b: u32; mode) -> u32 = choose_half(a, b, FMode(mode), max_mode_f32);
            Ex2Half ex2_half(a: u32; mode) -> u32 = approximate_half(a, FMode(mode), libm::exp2);
            TanhHalf tanh_half(a: u32; mode) -> u32 = approximate_half(a, FMode(mode), libm::tanh);
            AddMixed add_mixed(a: u32, b: u32; mode) -> u32 = add_mode_f32(widen_source(a, mode), b, mode);
            SubMixed sub_mixed(a: u32, b: u32; mode) -> u32 = sub_mode_f32(widen_source(a, mode), b, mode);
            FmaMixed fma_mixed(a: u32, b: u32, c: u32; mode) -> u32 =
                fma_mode_f32(widen_source(a, mode), widen_source(b, mode), c, mode);
            // comparisons: an ordered one with NaN is false, an unordered one true (PTX ISA, "Floating Point Comparisons")
            EqF32 eq_f32(a: f32, b: f32) -> bool = a == b;
            NeF32 ne_f32(a: f32, b: f32) -> bool = (a < b) | (a > b);
            LtF32 lt_f32(a: f32, b: f32) -> bool = a < b;
            LeF32 le_f32(a: f32, b: f32) -> bool = a <= b;
            GtF32 gt_f32(a: f32, b: f32) -> bool = a > b;
            GeF32 ge_f32(a: f32, b: f32) -> bool = a >= b;
            EquF32 equ_f32(a: f32, b: f32) -> bool = !((a < b) | (a > b));
            NeuF32 neu_f32(a: f32, b: f32) -> bool = a != b;
            LtuF32 ltu_f32(a: f32, b: f32) -> bool = !(a >= b);
            LeuF32 leu_f32(a: f32, b: f32) -> bool = !(a > b);
            GtuF32 gtu_f32(a: f32, b: f32) -> bool = !(a <= b);
            GeuF32 geu_f32(a: f32, b: f32) -> bool = !(a < b);
            NumF32 num_f32(a: f32, b: f32) -> bool = !a.is_nan() & !b.is_nan();
            NanF32 nan_f32(a: f32, b: f32) -> bool = a.is_nan() | b.is_nan();
            EqFtzF32 eq_ftz_f32(a: u32, b: u32) -> bool = eq_f32(flush32(a), flush32(b));
            NeFtzF32 ne_ftz_f32(a: u32, b: u32) -> bool = ne_f32(flush32(a), flush32(b));
            LtFtzF32 lt_ftz_f32(a: u32, b: u32) -> bool = lt_f32(flush32(a), flush32(b));
            LeFtzF32 le_ftz_f32(a: u32, b: u32) -> bool = le_f32(flush32(a), flush32(b));
            GtFtzF32 gt_ftz_f32(a: u32, b: u32) -> bool = gt_f32(flush32(a), flush32(b));
            GeFtzF32 ge_ftz_f32(a: u32, b: u32) -> bool = ge_f32(flush32(a), flush32(b));
            EquFtzF32 equ_ftz_f32(a: u32, b: u32) -> bool = equ_f32(flush32(a), flush32(b));
            NeuFtzF32 neu_ftz_f32(a: u32, b: u32) -> bool = neu_f32(flush32(a), flush32(b));
            LtuFtzF32 ltu_ftz_f32(a: u32, b: u32) -> bool = ltu_f32(flush32(a), flush32(b));
            LeuFtzF32 leu_ftz_f32(a: u32, b: u32) -> bool = leu_f32(flush32(a), flush32(b));
            GtuFtzF32 gtu_ftz_f32(a: u32, b: u32) -> bool = gtu_f32(flush32(a), flush32(b));
            GeuFtzF32 geu_ftz_f32(a: u32, b: u32) -> bool = geu_f32(flush32(a), flush32(b));
            NumFtzF32 num_ftz_f32(a: u32, b: u32) -> bool = num_f32(flush32(a), flush32(b));
            NanFtzF32 nan_ftz_f32(a: u32, b: u32) -> bool = nan_f32(flush32(a), flush32(b));
            EqF64 eq_f64(a: f64, b: f64) -> bool = a == b;
            NeF64 ne_f64(a: f64, b: f64) -> bool = (a < b) | (a > b);
            LtF64 lt_f64(a: f64, b: f64) -> bool = a < b;
            LeF64 le_f64(a: f64, b: f64) -> bool = a <= b;
            GtF64 gt_f64(a: f64, b: f64) -> bool = a > b;
            GeF64 ge_f64(a: f64, b: f64) -> bool = a >= b;
            EquF64 equ_f64(a: f64, b: f64) -> bool = !((a < b) | (a > b));
            NeuF64 neu_f64(a: f64, b: f64) -> bool = a != b;
            LtuF64 ltu_f64(a: f64, b: f64) -> bool = !(a >= b);
            LeuF64 leu_f64(a: f64, b: f64) -> bool = !(a > b);
            GtuF64 gtu_f64(a: f64, b: f64) -> bool = !(a <= b);
            GeuF64 geu_f64(a: f64, b: f64) -> bool = !(a < b);
            NumF64 num_f64(a: f64, b: f64) -> bool = !a.is_nan() & !b.is_nan();
            NanF64 nan_f64(a: f64, b: f64) -> bool = a.is_nan() | b.is_nan();
            CmpF16 cmp_f16(a: u32, b: u32; mode) -> bool = related(f32_of_f16(a), f32_of_f16(b), mode);
            CmpFtzF16 cmp_ftz_f16(a: u32, b: u32; mode) -> bool = cmp_f16(flush16(a), flush16(b), mode);
            CmpBf16 cmp_bf16(a: u32, b: u32; mode) -> bool = related(f32_of_bf16(a), f32_of_bf16(b), mode);
            // conversions, the common ones
            F32OfF16 f32_of_f16(a: u32) -> u32 = widen16(a);
            F32OfBf16 f32_of_bf16(a: u32) -> u32 = widen_brain(a);
            F16OfF32 f16_of_f32(a: u32) -> u32 = narrow16(a);
            Bf16OfF32 bf16_of_f32(a: u32) -> u32 = narrow_brain(a);
            F64OfF32 f64_of_f32(a: u32) -> u64 = widen32(a);
            F64OfF32Ftz f64_of_f32_ftz(a: u32) -> u64 = widen32_ftz(a);
            F32OfF64 f32_of_f64(a: u64) -> u32 = narrow64(a);
            F32OfF64Ftz f32_of_f64_ftz(a: u64) -> u32 = narrow64_ftz(a);
            F32OfS32 f32_of_s32(a: i32) -> u32 = (a as f32).to_bits();
            F32OfU32 f32_of_u32(a: u32) -> u32 = (a as f32).to_bits();
            F32OfS64 f32_of_s64(a: i64) -> u32 = (a as f32).to_bits();
            F32OfU64 f32_of_u64(a: u64) -> u32 = (a as f32).to_bits();
            F64OfS32 f64_of_s32(a: i32) -> u64 = f64::from(a).to_bits();
            F64OfU32 f64_of_u32(a: u32) -> u64 = f64::from(a).to_bits();
            F64OfS64 f64_of_s64(a: i64) -> u64 = (a as f64).to_bits();
            F64OfU64 f64_of_u64(a: u64) -> u64 = (a as f64).to_bits();
            S32OfF32 s32_of_f32(a: u32) -> u32 = clamp_s32_f32(a);
            U32OfF32 u32_of_f32(a: u32) -> u32 = clamp_u32_f32(a);
            S64OfF32 s64_of_f32(a: u32) -> u64 = clamp_signed::<64>(f64_of_f32(a));
            U64OfF32 u64_of_f32(a: u32) -> u64 = clamp_unsigned::<64>(f64_of_f32(a));
            S32OfF64 s32_of_f64(a: u64) -> u32 = clamp_signed::<32>(a) as u32;
            U32OfF64 u32_of_f64(a: u64) -> u32 = clamp_unsigned::<32>(a) as u32;
            S64OfF64 s64_of_f64(a: u64) -> u64 = clamp_signed::<64>(a);
            U64OfF64 u64_of_f64(a: u64) -> u64 = clamp_unsigned::<64>(a);
            // conversions, any types and modifiers
            CvtWW cvt_ww(a: u32; mode) -> u32 =
                if clamps32(mode) { saturate32(flush_if(a, FMode(mode))) } else { any(u64::from(a), FMode(mode)) as u32 };
            CvtWQ cvt_wq(a: u32; mode) -> u64 = any(u64::from(a), FMode(mode));
            CvtQW cvt_qw(a: u64; mode) -> u32 = any(a, FMode(mode)) as u32;
            CvtQQ cvt_qq(a: u64; mode) -> u64 = any(a, FMode(mode));
            CvtPack cvt_pack(a: u32, b: u32; mode) -> u32 = packed(a, b, ONES, FMode(mode));
            CvtPackScaled cvt_pack_scaled(a: u32, b: u32, c: u32; mode) -> u32 = packed(a, b, c, FMode(mode));
            CvtPackRandom cvt_pack_random(a: u32, b: u32, c: u32; mode) -> u32 = packed_random(a, b, c, FMode(mode));
            CvtPair cvt_pair(a: u32; mode) -> u32 = pair(a, ONES, FMode(mode));
            CvtPairScaled cvt_pair_scaled(a: u32, b: u32; mode) -> u32 = pair(a, b, FMode(mode));
        }
    };
}
pub(crate) use float_ops;

float_ops!(define_ops);
float_ops!(define_functions);
