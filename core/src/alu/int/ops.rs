//! The table of integer operations.

use super::IntCvt;
use super::arith::{low24, signed24};
use super::bits::{
    both, field_s64, insert64, low_ones32, low_ones64, multiplex, nth_set, permute, pick, sign_extend32,
};
use super::carry::{carrying_add32, carrying_add64};
use super::convert::{convert, pack};
use super::dot::{s8_at, s16_at, sum2, sum4, u8_at, u16_at};
use super::packed::{each_s16, each_u16};
use super::video::{amount, average, each, multiply_add, related, scalar};
use crate::alu::table::{define_functions, define_ops};

/// Operation function(sources; mode word) -> result, or result + carry = formula;
macro_rules! int_ops {
    ($then:ident) => {
        $then! { IntOp, int;
            // addition to minimum and maximum
            Add16 add16(a: u16, b: u16) -> u16 = a.wrapping_add(b);
            Add32 add32(a: u32, b: u32) -> u32 = a.wrapping_add(b);
            Add64 add64(a: u64, b: u64) -> u64 = a.wrapping_add(b);
            AddSatS32 add_sat_s32(a: i32, b: i32) -> i32 = a.saturating_add(b);
            Sub16 sub16(a: u16, b: u16) -> u16 = a.wrapping_sub(b);
            Sub32 sub32(a: u32, b: u32) -> u32 = a.wrapping_sub(b);
            Sub64 sub64(a: u64, b: u64) -> u64 = a.wrapping_sub(b);
            SubSatS32 sub_sat_s32(a: i32, b: i32) -> i32 = a.saturating_sub(b);
            MulLo16 mul_lo16(a: u16, b: u16) -> u16 = a.wrapping_mul(b);
            MulLo32 mul_lo32(a: u32, b: u32) -> u32 = a.wrapping_mul(b);
            MulLo64 mul_lo64(a: u64, b: u64) -> u64 = a.wrapping_mul(b);
            MulHiU16 mul_hi_u16(a: u16, b: u16) -> u16 = ((u32::from(a) * u32::from(b)) >> 16) as u16;
            MulHiS16 mul_hi_s16(a: i16, b: i16) -> i16 = ((i32::from(a) * i32::from(b)) >> 16) as i16;
            MulHiU32 mul_hi_u32(a: u32, b: u32) -> u32 = ((u64::from(a) * u64::from(b)) >> 32) as u32;
            MulHiS32 mul_hi_s32(a: i32, b: i32) -> i32 = ((i64::from(a) * i64::from(b)) >> 32) as i32;
            MulHiU64 mul_hi_u64(a: u64, b: u64) -> u64 = ((u128::from(a) * u128::from(b)) >> 64) as u64;
            MulHiS64 mul_hi_s64(a: i64, b: i64) -> i64 = ((i128::from(a) * i128::from(b)) >> 64) as i64;
            MulWideU16 mul_wide_u16(a: u16, b: u16) -> u32 = u32::from(a) * u32::from(b);
            MulWideS16 mul_wide_s16(a: i16, b: i16) -> i32 = i32::from(a) * i32::from(b);
            MulWideU32 mul_wide_u32(a: u32, b: u32) -> u64 = u64::from(a) * u64::from(b);
            MulWideS32 mul_wide_s32(a: i32, b: i32) -> i64 = i64::from(a) * i64::from(b);
            MadLo16 mad_lo16(a: u16, b: u16, c: u16) -> u16 = a.wrapping_mul(b).wrapping_add(c);
            MadLo32 mad_lo32(a: u32, b: u32, c: u32) -> u32 = a.wrapping_mul(b).wrapping_add(c);
            MadLo64 mad_lo64(a: u64, b: u64, c: u64) -> u64 = a.wrapping_mul(b).wrapping_add(c);
            MadHiU16 mad_hi_u16(a: u16, b: u16, c: u16) -> u16 =
                (((u32::from(a) * u32::from(b)) >> 16) as u16).wrapping_add(c);
            MadHiS16 mad_hi_s16(a: i16, b: i16, c: i16) -> i16 =
                (((i32::from(a) * i32::from(b)) >> 16) as i16).wrapping_add(c);
            MadHiU32 mad_hi_u32(a: u32, b: u32, c: u32) -> u32 = mul_hi_u32(a, b).wrapping_add(c);
            MadHiS32 mad_hi_s32(a: u32, b: u32, c: u32) -> u32 = mul_hi_s32(a, b).wrapping_add(c);
            MadHiU64 mad_hi_u64(a: u64, b: u64, c: u64) -> u64 = mul_hi_u64(a, b).wrapping_add(c);
            MadHiS64 mad_hi_s64(a: u64, b: u64, c: u64) -> u64 = mul_hi_s64(a, b).wrapping_add(c);
            MadHiSatS32 mad_hi_sat_s32(a: u32, b: u32, c: i32) -> i32 = (mul_hi_s32(a, b) as i32).saturating_add(c);
            MadWideU16 mad_wide_u16(a: u32, b: u32, c: u32) -> u32 = mul_wide_u16(a, b).wrapping_add(c);
            MadWideS16 mad_wide_s16(a: u32, b: u32, c: u32) -> u32 = mul_wide_s16(a, b).wrapping_add(c);
            MadWideU32 mad_wide_u32(a: u32, b: u32, c: u64) -> u64 = mul_wide_u32(a, b).wrapping_add(c);
            MadWideS32 mad_wide_s32(a: u32, b: u32, c: u64) -> u64 = mul_wide_s32(a, b).wrapping_add(c);
            Mul24LoU32 mul24_lo_u32(a: u32, b: u32) -> u32 = low24(a).wrapping_mul(low24(b));
            Mul24LoS32 mul24_lo_s32(a: u32, b: u32) -> i32 = signed24(a).wrapping_mul(signed24(b));
            Mul24HiU32 mul24_hi_u32(a: u32, b: u32) -> u32 =
                ((u64::from(low24(a)) * u64::from(low24(b))) >> 16) as u32;
            Mul24HiS32 mul24_hi_s32(a: u32, b: u32) -> i32 =
                ((i64::from(signed24(a)) * i64::from(signed24(b))) >> 16) as i32;
            Mad24LoU32 mad24_lo_u32(a: u32, b: u32, c: u32) -> u32 = mul24_lo_u32(a, b).wrapping_add(c);
            Mad24LoS32 mad24_lo_s32(a: u32, b: u32, c: u32) -> u32 = mul24_lo_s32(a, b).wrapping_add(c);
            Mad24HiU32 mad24_hi_u32(a: u32, b: u32, c: u32) -> u32 = mul24_hi_u32(a, b).wrapping_add(c);
            Mad24HiS32 mad24_hi_s32(a: u32, b: u32, c: u32) -> u32 = mul24_hi_s32(a, b).wrapping_add(c);
            Mad24HiSatS32 mad24_hi_sat_s32(a: u32, b: u32, c: i32) -> i32 =
                (mul24_hi_s32(a, b) as i32).saturating_add(c);
            SadU16 sad_u16(a: u16, b: u16, c: u16) -> u16 = a.abs_diff(b).wrapping_add(c);
            SadS16 sad_s16(a: i16, b: i16, c: u16) -> u16 = a.abs_diff(b).wrapping_add(c);
            SadU32 sad_u32(a: u32, b: u32, c: u32) -> u32 = a.abs_diff(b).wrapping_add(c);
            SadS32 sad_s32(a: i32, b: i32, c: u32) -> u32 = a.abs_diff(b).wrapping_add(c);
            SadU64 sad_u64(a: u64, b: u64, c: u64) -> u64 = a.abs_diff(b).wrapping_add(c);
            SadS64 sad_s64(a: i64, b: i64, c: u64) -> u64 = a.abs_diff(b).wrapping_add(c);
            DivU16 div_u16(a: u16, b: u16) -> u16 = a.checked_div(b).unwrap_or(u16::MAX);
            DivS16 div_s16(a: i16, b: i16) -> i16 = if b == 0 { -1 } else { a.wrapping_div(b) };
            DivU32 div_u32(a: u32, b: u32) -> u32 = a.checked_div(b).unwrap_or(u32::MAX);
            DivS32 div_s32(a: i32, b: i32) -> i32 = if b == 0 { -1 } else { a.wrapping_div(b) };
            DivU64 div_u64(a: u64, b: u64) -> u64 = a.checked_div(b).unwrap_or(u64::MAX);
            DivS64 div_s64(a: i64, b: i64) -> i64 = if b == 0 { -1 } else { a.wrapping_div(b) };
            RemU16 rem_u16(a: u16, b: u16) -> u16 = a.checked_rem(b).unwrap_or(u16::MAX);
            RemS16 rem_s16(a: i16, b: i16) -> i16 = if b == 0 { -1 } else { a.wrapping_rem(b) };
            RemU32 rem_u32(a: u32, b: u32) -> u32 = a.checked_rem(b).unwrap_or(u32::MAX);
            RemS32 rem_s32(a: i32, b: i32) -> i32 = if b == 0 { -1 } else { a.wrapping_rem(b) };
            RemU64 rem_u64(a: u64, b: u64) -> u64 = a.checked_rem(b).unwrap_or(u64::MAX);
            RemS64 rem_s64(a: i64, b: i64) -> i64 = if b == 0 { -1 } else { a.wrapping_rem(b) };
            AbsS16 abs_s16(a: i16) -> i16 = a.wrapping_abs();
            AbsS32 abs_s32(a: i32) -> i32 = a.wrapping_abs();
            AbsS64 abs_s64(a: i64) -> i64 = a.wrapping_abs();
            Neg16 neg16(a: u16) -> u16 = a.wrapping_neg();
            Neg32 neg32(a: u32) -> u32 = a.wrapping_neg();
            Neg64 neg64(a: u64) -> u64 = a.wrapping_neg();
            MinU16 min_u16(a: u16, b: u16) -> u16 = a.min(b);
            MinS16 min_s16(a: i16, b: i16) -> i16 = a.min(b);
            MinU32 min_u32(a: u32, b: u32) -> u32 = a.min(b);
            MinS32 min_s32(a: i32, b: i32) -> i32 = a.min(b);
            MinU64 min_u64(a: u64, b: u64) -> u64 = a.min(b);
            MinS64 min_s64(a: i64, b: i64) -> i64 = a.min(b);
            MaxU16 max_u16(a: u16, b: u16) -> u16 = a.max(b);
            MaxS16 max_s16(a: i16, b: i16) -> i16 = a.max(b);
            MaxU32 max_u32(a: u32, b: u32) -> u32 = a.max(b);
            MaxS32 max_s32(a: i32, b: i32) -> i32 = a.max(b);
            MaxU64 max_u64(a: u64, b: u64) -> u64 = a.max(b);
            MaxS64 max_s64(a: i64, b: i64) -> i64 = a.max(b);
            MinReluS32 min_relu_s32(a: i32, b: i32) -> i32 = a.min(b).max(0);
            MaxReluS32 max_relu_s32(a: i32, b: i32) -> i32 = a.max(b).max(0);
            // extended precision
            AddCc32 add_cc32(a: u32, b: u32) -> u32 + bool = a.overflowing_add(b);
            AddCc64 add_cc64(a: u64, b: u64) -> u64 + bool = a.overflowing_add(b);
            Addc32 addc32(a: u32, b: u32, cc: bool) -> u32 = a.wrapping_add(b).wrapping_add(u32::from(cc));
            Addc64 addc64(a: u64, b: u64, cc: bool) -> u64 = a.wrapping_add(b).wrapping_add(u64::from(cc));
            AddcCc32 addc_cc32(a: u32, b: u32, cc: bool) -> u32 + bool = carrying_add32(a, b, cc);
            AddcCc64 addc_cc64(a: u64, b: u64, cc: bool) -> u64 + bool = carrying_add64(a, b, cc);
            SubCc32 sub_cc32(a: u32, b: u32) -> u32 + bool = carrying_add32(a, !b, true);
            SubCc64 sub_cc64(a: u64, b: u64) -> u64 + bool = carrying_add64(a, !b, true);
            Subc32 subc32(a: u32, b: u32, cc: bool) -> u32 = addc32(a, !b, cc);
            Subc64 subc64(a: u64, b: u64, cc: bool) -> u64 = addc64(a, !b, cc);
            SubcCc32 subc_cc32(a: u32, b: u32, cc: bool) -> u32 + bool = carrying_add32(a, !b, cc);
            SubcCc64 subc_cc64(a: u64, b: u64, cc: bool) -> u64 + bool = carrying_add64(a, !b, cc);
            MadLoCc32 mad_lo_cc32(a: u32, b: u32, c: u32) -> u32 + bool = a.wrapping_mul(b).overflowing_add(c);
            MadLoCc64 mad_lo_cc64(a: u64, b: u64, c: u64) -> u64 + bool = a.wrapping_mul(b).overflowing_add(c);
            MadHiCcU32 mad_hi_cc_u32(a: u32, b: u32, c: u32) -> u32 + bool = mul_hi_u32(a, b).overflowing_add(c);
            MadHiCcS32 mad_hi_cc_s32(a: u32, b: u32, c: u32) -> u32 + bool = mul_hi_s32(a, b).overflowing_add(c);
            MadHiCcU64 mad_hi_cc_u64(a: u64, b: u64, c: u64) -> u64 + bool = mul_hi_u64(a, b).overflowing_add(c);
            MadHiCcS64 mad_hi_cc_s64(a: u64, b: u64, c: u64) -> u64 + bool = mul_hi_s64(a, b).overflowing_add(c);
            MadcLo32 madc_lo32(a: u32, b: u32, c: u32, cc: bool) -> u32 = addc32(a.wrapping_mul(b), c, cc);
            MadcLo64 madc_lo64(a: u64, b: u64, c: u64, cc: bool) -> u64 = addc64(a.wrapping_mul(b), c, cc);
            MadcHiU32 madc_hi_u32(a: u32, b: u32, c: u32, cc: bool) -> u32 = addc32(mul_hi_u32(a, b), c, cc);
            MadcHiS32 madc_hi_s32(a: u32, b: u32, c: u32, cc: bool) -> u32 = addc32(mul_hi_s32(a, b), c, cc);
            MadcHiU64 madc_hi_u64(a: u64, b: u64, c: u64, cc: bool) -> u64 = addc64(mul_hi_u64(a, b), c, cc);
            MadcHiS64 madc_hi_s64(a: u64, b: u64, c: u64, cc: bool) -> u64 = addc64(mul_hi_s64(a, b), c, cc);
            MadcLoCc32 madc_lo_cc32(a: u32, b: u32, c: u32, cc: bool) -> u32 + bool =
                carrying_add32(a.wrapping_mul(b), c, cc);
            MadcLoCc64 madc_lo_cc64(a: u64, b: u64, c: u64, cc: bool) -> u64 + bool =
                carrying_add64(a.wrapping_mul(b), c, cc);
            MadcHiCcU32 madc_hi_cc_u32(a: u32, b: u32, c: u32, cc: bool) -> u32 + bool =
                carrying_add32(mul_hi_u32(a, b), c, cc);
            MadcHiCcS32 madc_hi_cc_s32(a: u32, b: u32, c: u32, cc: bool) -> u32 + bool =
                carrying_add32(mul_hi_s32(a, b), c, cc);
            MadcHiCcU64 madc_hi_cc_u64(a: u64, b: u64, c: u64, cc: bool) -> u64 + bool =
                carrying_add64(mul_hi_u64(a, b), c, cc);
            MadcHiCcS64 madc_hi_cc_s64(a: u64, b: u64, c: u64, cc: bool) -> u64 + bool =
                carrying_add64(mul_hi_s64(a, b), c, cc);
            // comparison, predicates, selection
            EqW eq32(a: u32, b: u32) -> bool = a == b;
            NeW ne32(a: u32, b: u32) -> bool = a != b;
            EqQ eq64(a: u64, b: u64) -> bool = a == b;
            NeQ ne64(a: u64, b: u64) -> bool = a != b;
            LtU32 lt_u32(a: u32, b: u32) -> bool = a < b;
            LeU32 le_u32(a: u32, b: u32) -> bool = a <= b;
            GtU32 gt_u32(a: u32, b: u32) -> bool = a > b;
            GeU32 ge_u32(a: u32, b: u32) -> bool = a >= b;
            LtS32 lt_s32(a: i32, b: i32) -> bool = a < b;
            LeS32 le_s32(a: i32, b: i32) -> bool = a <= b;
            GtS32 gt_s32(a: i32, b: i32) -> bool = a > b;
            GeS32 ge_s32(a: i32, b: i32) -> bool = a >= b;
            LtS16 lt_s16(a: i16, b: i16) -> bool = a < b;
            LeS16 le_s16(a: i16, b: i16) -> bool = a <= b;
            GtS16 gt_s16(a: i16, b: i16) -> bool = a > b;
            GeS16 ge_s16(a: i16, b: i16) -> bool = a >= b;
            LtU64 lt_u64(a: u64, b: u64) -> bool = a < b;
            LeU64 le_u64(a: u64, b: u64) -> bool = a <= b;
            GtU64 gt_u64(a: u64, b: u64) -> bool = a > b;
            GeU64 ge_u64(a: u64, b: u64) -> bool = a >= b;
            LtS64 lt_s64(a: i64, b: i64) -> bool = a < b;
            LeS64 le_s64(a: i64, b: i64) -> bool = a <= b;
            GtS64 gt_s64(a: i64, b: i64) -> bool = a > b;
            GeS64 ge_s64(a: i64, b: i64) -> bool = a >= b;
            AndP and_p(a: bool, b: bool) -> bool = a & b;
            OrP or_p(a: bool, b: bool) -> bool = a | b;
            XorP xor_p(a: bool, b: bool) -> bool = a ^ b;
            NotP not_p(a: bool) -> bool = !a;
            NonzeroAnd nonzero_and(d: u32, q: bool) -> bool = (d != 0) & q;
            NonzeroOr nonzero_or(d: u32, q: bool) -> bool = (d != 0) | q;
            SelW sel_w(a: u32, b: u32, c: bool) -> u32 = if c { a } else { b };
            SelQ sel_q(a: u64, b: u64, c: bool) -> u64 = if c { a } else { b };
            SelP sel_p(a: bool, b: bool, c: bool) -> bool = (a & c) | (b & !c);
            // shifts
            Shl16 shl16(a: u16, b: u32) -> u16 = if b > 15 { 0 } else { a << (b & 15) };
            Shl32 shl32(a: u32, b: u32) -> u32 = if b > 31 { 0 } else { a << (b & 31) };
            Shl64 shl64(a: u64, b: u32) -> u64 = if b > 63 { 0 } else { a << (b & 63) };
            ShrU16 shr_u16(a: u16, b: u32) -> u16 = if b > 15 { 0 } else { a >> (b & 15) };
            ShrU32 shr_u32(a: u32, b: u32) -> u32 = if b > 31 { 0 } else { a >> (b & 31) };
            ShrU64 shr_u64(a: u64, b: u32) -> u64 = if b > 63 { 0 } else { a >> (b & 63) };
            ShrS16 shr_s16(a: i16, b: u32) -> i16 = a >> b.min(15);
            ShrS32 shr_s32(a: i32, b: u32) -> i32 = a >> b.min(31);
            ShrS64 shr_s64(a: i64, b: u32) -> i64 = a >> b.min(63);
            ShfLClamp shf_l_clamp(a: u32, b: u32, c: u32) -> u32 = ((both(a, b) << c.min(32)) >> 32) as u32;
            ShfLWrap shf_l_wrap(a: u32, b: u32, c: u32) -> u32 = ((both(a, b) << (c & 31)) >> 32) as u32;
            ShfRClamp shf_r_clamp(a: u32, b: u32, c: u32) -> u32 = (both(a, b) >> c.min(32)) as u32;
            ShfRWrap shf_r_wrap(a: u32, b: u32, c: u32) -> u32 = (both(a, b) >> (c & 31)) as u32;
            // logic, counting, fields, permutations
            And32 and32(a: u32, b: u32) -> u32 = a & b;
            And64 and64(a: u64, b: u64) -> u64 = a & b;
            Or32 or32(a: u32, b: u32) -> u32 = a | b;
            Or64 or64(a: u64, b: u64) -> u64 = a | b;
            Xor32 xor32(a: u32, b: u32) -> u32 = a ^ b;
            Xor64 xor64(a: u64, b: u64) -> u64 = a ^ b;
            Not16 not16(a: u16) -> u16 = !a;
            Not32 not32(a: u32) -> u32 = !a;
            Not64 not64(a: u64) -> u64 = !a;
            Cnot16 cnot16(a: u16) -> u16 = u16::from(a == 0);
            Cnot32 cnot32(a: u32) -> u32 = u32::from(a == 0);
            Cnot64 cnot64(a: u64) -> u64 = u64::from(a == 0);
            Popc32 popc32(a: u32) -> u32 = a.count_ones();
            Popc64 popc64(a: u64) -> u32 = a.count_ones();
            Clz32 clz32(a: u32) -> u32 = a.leading_zeros();
            Clz64 clz64(a: u64) -> u32 = a.leading_zeros();
            Brev32 brev32(a: u32) -> u32 = a.reverse_bits();
            Brev64 brev64(a: u64) -> u64 = a.reverse_bits();
            BfindU32 bfind_u32(a: u32) -> u32 = 31u32.wrapping_sub(a.leading_zeros());
            BfindS32 bfind_s32(a: i32) -> u32 = 31u32.wrapping_sub((a ^ (a >> 31)).leading_zeros());
            BfindU64 bfind_u64(a: u64) -> u32 = 63u32.wrapping_sub(a.leading_zeros());
            BfindS64 bfind_s64(a: i64) -> u32 = 63u32.wrapping_sub((a ^ (a >> 63)).leading_zeros());
            BfindShiftamtU32 bfind_shiftamt_u32(a: u32) -> u32 = if a == 0 { u32::MAX } else { a.leading_zeros() };
            BfindShiftamtS32 bfind_shiftamt_s32(a: i32) -> u32 = bfind_shiftamt_u32((a ^ (a >> 31)) as u32);
            BfindShiftamtU64 bfind_shiftamt_u64(a: u64) -> u32 = if a == 0 { u32::MAX } else { a.leading_zeros() };
            BfindShiftamtS64 bfind_shiftamt_s64(a: i64) -> u32 = bfind_shiftamt_u64((a ^ (a >> 63)) as u64);
            Fns fns(mask: u32, base: u32, offset: i32) -> u32 = nth_set(mask, base, offset);
            // Hardware has the fields of 32 bits, which take a byte for each number; those of 64 are made of shifts.
            BfeU32 bfe_u32(a: u32, b: u32, c: u32) -> u32 =
                (u64::from(a) >> (b & 0xff).min(63)) as u32 & low_ones32(c & 0xff);
            BfeU64 bfe_u64(a: u64, b: u32, c: u32) -> u64 =
                if b > 63 { 0 } else { (a >> (b & 63)) & low_ones64(c) };
            BfeS32 bfe_s32(a: i32, b: u32, c: u32) -> i32 = field_s64(i64::from(a), b & 0xff, c & 0xff) as i32;
            BfeS64 bfe_s64(a: i64, b: u32, c: u32) -> i64 = field_s64(a, b, c);
            Bfi32 bfi32(a: u32, b: u32, c: u32, d: u32) -> u32 =
                insert64(u64::from(a), u64::from(b), c & 0xff, d & 0xff) as u32;
            Bfi64 bfi64(a: u64, b: u64, c: u32, d: u32) -> u64 = insert64(a, b, c, d);
            BmskClamp bmsk_clamp(a: u32, b: u32) -> u32 = if a > 31 { 0 } else { low_ones32(b) << (a & 31) };
            BmskWrap bmsk_wrap(a: u32, b: u32) -> u32 = low_ones32(b & 31) << (a & 31);
            SzextClampU32 szext_clamp_u32(a: u32, b: u32) -> u32 = a & low_ones32(b);
            SzextClampS32 szext_clamp_s32(a: i32, b: u32) -> i32 =
                if b == 0 { 0 } else { sign_extend32(a, b.min(32)) };
            SzextWrapU32 szext_wrap_u32(a: u32, b: u32) -> u32 = a & low_ones32(b & 31);
            SzextWrapS32 szext_wrap_s32(a: i32, b: u32) -> i32 =
                if b & 31 == 0 { 0 } else { sign_extend32(a, b & 31) };
            Prmt prmt(a: u32, b: u32, c: u32) -> u32 = permute(a, b, [c, c >> 4, c >> 8, c >> 12]);
            PrmtF4e prmt_f4e(a: u32, b: u32, c: u32) -> u32 =
                pick(a, b, [c & 3, (c & 3) + 1, (c & 3) + 2, (c & 3) + 3]);
            PrmtB4e prmt_b4e(a: u32, b: u32, c: u32) -> u32 =
                pick(a, b, [c & 3, (c & 3) + 7, (c & 3) + 6, (c & 3) + 5]);
            PrmtRc8 prmt_rc8(a: u32, b: u32, c: u32) -> u32 = pick(a, b, [c & 3; 4]);
            PrmtEcl prmt_ecl(a: u32, b: u32, c: u32) -> u32 = pick(a, b, [c & 3, (c & 3).max(1), (c & 3).max(2), 3]);
            PrmtEcr prmt_ecr(a: u32, b: u32, c: u32) -> u32 = pick(a, b, [0, (c & 3).min(1), (c & 3).min(2), c & 3]);
            PrmtRc16 prmt_rc16(a: u32, b: u32, c: u32) -> u32 =
                pick(a, b, [(c & 1) * 2, (c & 1) * 2 + 1, (c & 1) * 2, (c & 1) * 2 + 1]);
            Lop3 lop3(a: u32, b: u32, c: u32; lut) -> u32 = multiplex(a, b, c, lut);
            // dot products
            Dp4aUu dp4a_uu(a: u32, b: u32, c: u32) -> u32 = sum4(c, |i| u8_at(a, i).wrapping_mul(u8_at(b, i)));
            Dp4aUs dp4a_us(a: u32, b: u32, c: u32) -> u32 = sum4(c, |i| u8_at(a, i).wrapping_mul(s8_at(b, i)));
            Dp4aSu dp4a_su(a: u32, b: u32, c: u32) -> u32 = sum4(c, |i| s8_at(a, i).wrapping_mul(u8_at(b, i)));
            Dp4aSs dp4a_ss(a: u32, b: u32, c: u32) -> u32 = sum4(c, |i| s8_at(a, i).wrapping_mul(s8_at(b, i)));
            Dp2aLoUu dp2a_lo_uu(a: u32, b: u32, c: u32) -> u32 = sum2(c, |i| u16_at(a, i).wrapping_mul(u8_at(b, i)));
            Dp2aLoUs dp2a_lo_us(a: u32, b: u32, c: u32) -> u32 = sum2(c, |i| u16_at(a, i).wrapping_mul(s8_at(b, i)));
            Dp2aLoSu dp2a_lo_su(a: u32, b: u32, c: u32) -> u32 = sum2(c, |i| s16_at(a, i).wrapping_mul(u8_at(b, i)));
            Dp2aLoSs dp2a_lo_ss(a: u32, b: u32, c: u32) -> u32 = sum2(c, |i| s16_at(a, i).wrapping_mul(s8_at(b, i)));
            Dp2aHiUu dp2a_hi_uu(a: u32, b: u32, c: u32) -> u32 = dp2a_lo_uu(a, b >> 16, c);
            Dp2aHiUs dp2a_hi_us(a: u32, b: u32, c: u32) -> u32 = dp2a_lo_us(a, b >> 16, c);
            Dp2aHiSu dp2a_hi_su(a: u32, b: u32, c: u32) -> u32 = dp2a_lo_su(a, b >> 16, c);
            Dp2aHiSs dp2a_hi_ss(a: u32, b: u32, c: u32) -> u32 = dp2a_lo_ss(a, b >> 16, c);
            // packed half words
            Add16x2 add16x2(a: u32, b: u32) -> u32 = each_u16(a, b, u16::wrapping_add);
            MinU16x2 min_u16x2(a: u32, b: u32) -> u32 = each_u16(a, b, u16::min);
            MaxU16x2 max_u16x2(a: u32, b: u32) -> u32 = each_u16(a, b, u16::max);
            MinS16x2 min_s16x2(a: u32, b: u32) -> u32 = each_s16(a, b, i16::min);
            MaxS16x2 max_s16x2(a: u32, b: u32) -> u32 = each_s16(a, b, i16::max);
            MinReluS16x2 min_relu_s16x2(a: u32, b: u32) -> u32 = each_s16(a, b, |x, y| x.min(y).max(0));
            MaxReluS16x2 max_relu_s16x2(a: u32, b: u32) -> u32 = each_s16(a, b, |x, y| x.max(y).max(0));
            // video; the mode is a `Video`
            Vadd vadd(a: u32, b: u32, c: u32; mode) -> u32 = scalar(a, b, c, mode, |x, y, _| x + y);
            Vsub vsub(a: u32, b: u32, c: u32; mode) -> u32 = scalar(a, b, c, mode, |x, y, _| x - y);
            Vabsdiff vabsdiff(a: u32, b: u32, c: u32; mode) -> u32 = scalar(a, b, c, mode, |x, y, _| (x - y).abs());
            Vmin vmin(a: u32, b: u32, c: u32; mode) -> u32 = scalar(a, b, c, mode, |x, y, _| x.min(y));
            Vmax vmax(a: u32, b: u32, c: u32; mode) -> u32 = scalar(a, b, c, mode, |x, y, _| x.max(y));
            Vshl vshl(a: u32, b: u32, c: u32; mode) -> u32 = scalar(a, b, c, mode, |x, y, v| x << amount(v, y));
            Vshr vshr(a: u32, b: u32, c: u32; mode) -> u32 = scalar(a, b, c, mode, |x, y, v| x >> amount(v, y));
            Vset vset(a: u32, b: u32, c: u32; mode) -> u32 = scalar(a, b, c, mode, |x, y, v| related(v, x, y));
            Vmad vmad(a: u32, b: u32, c: u32; mode) -> u32 = multiply_add(a, b, c, mode);
            Vadd2 vadd2(a: u32, b: u32, c: u32; mode) -> u32 = each::<2>(a, b, c, mode, |x, y, _| x + y);
            Vsub2 vsub2(a: u32, b: u32, c: u32; mode) -> u32 = each::<2>(a, b, c, mode, |x, y, _| x - y);
            Vavrg2 vavrg2(a: u32, b: u32, c: u32; mode) -> u32 = each::<2>(a, b, c, mode, |x, y, _| average(x, y));
            Vabsdiff2 vabsdiff2(a: u32, b: u32, c: u32; mode) -> u32 =
                each::<2>(a, b, c, mode, |x, y, _| (x - y).abs());
            Vmin2 vmin2(a: u32, b: u32, c: u32; mode) -> u32 = each::<2>(a, b, c, mode, |x, y, _| x.min(y));
            Vmax2 vmax2(a: u32, b: u32, c: u32; mode) -> u32 = each::<2>(a, b, c, mode, |x, y, _| x.max(y));
            Vset2 vset2(a: u32, b: u32, c: u32; mode) -> u32 = each::<2>(a, b, c, mode, |x, y, v| related(v, x, y));
            Vadd4 vadd4(a: u32, b: u32, c: u32; mode) -> u32 = each::<4>(a, b, c, mode, |x, y, _| x + y);
            Vsub4 vsub4(a: u32, b: u32, c: u32; mode) -> u32 = each::<4>(a, b, c, mode, |x, y, _| x - y);
            Vavrg4 vavrg4(a: u32, b: u32, c: u32; mode) -> u32 = each::<4>(a, b, c, mode, |x, y, _| average(x, y));
            Vabsdiff4 vabsdiff4(a: u32, b: u32, c: u32; mode) -> u32 =
                each::<4>(a, b, c, mode, |x, y, _| (x - y).abs());
            Vmin4 vmin4(a: u32, b: u32, c: u32; mode) -> u32 = each::<4>(a, b, c, mode, |x, y, _| x.min(y));
            Vmax4 vmax4(a: u32, b: u32, c: u32; mode) -> u32 = each::<4>(a, b, c, mode, |x, y, _| x.max(y));
            Vset4 vset4(a: u32, b: u32, c: u32; mode) -> u32 = each::<4>(a, b, c, mode, |x, y, v| related(v, x, y));
            // moves, packing, unpacking
            MovW mov_w(a: u32) -> u32 = a;
            MovQ mov_q(a: u64) -> u64 = a;
            MovP mov_p(a: bool) -> bool = a;
            Pack8x2 pack8x2(a: u8, b: u8) -> u16 = u16::from_le_bytes([a, b]);
            Pack16x2 pack16x2(a: u16, b: u16) -> u32 = u32::from(a) | u32::from(b) << 16;
            Pack8x4 pack8x4(a: u8, b: u8, c: u8, d: u8) -> u32 = u32::from_le_bytes([a, b, c, d]);
            Pack32x2 pack32x2(a: u32, b: u32) -> u64 = u64::from(a) | u64::from(b) << 32;
            Pack16x4 pack16x4(a: u16, b: u16, c: u16, d: u16) -> u64 =
                u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48;
            Lo16 lo16(a: u32) -> u16 = a as u16;
            Hi16 hi16(a: u32) -> u16 = (a >> 16) as u16;
            TruncQW lo32(a: u64) -> u32 = a as u32;
            Hi32 hi32(a: u64) -> u32 = (a >> 32) as u32;
            ByteOfW byte_of_w(a: u32; index) -> u32 = (a >> ((index & 3) * 8)) & 0xff;
            HalfOfQ half_of_q(a: u64; index) -> u16 = (a >> ((index & 3) * 16)) as u16;
            // conversions; the mode is an `IntCvt`
            Zx8 zx8(a: u8) -> u8 = a;
            Zx16 zx16(a: u16) -> u16 = a;
            Sx8H sx8_h(a: i8) -> i16 = i16::from(a);
            Sx8W sx8_w(a: i8) -> i32 = i32::from(a);
            Sx8Q sx8_q(a: i8) -> i64 = i64::from(a);
            Sx16W sx16_w(a: i16) -> i32 = i32::from(a);
            Sx16Q sx16_q(a: i16) -> i64 = i64::from(a);
            SextWQ sx32_q(a: i32) -> i64 = i64::from(a);
            Zx8Q zx8_q(a: u8) -> u64 = u64::from(a);
            Zx16Q zx16_q(a: u16) -> u64 = u64::from(a);
            ZextWQ zx32_q(a: u32) -> u64 = u64::from(a);
            Lo8OfQ lo8_of_q(a: u64) -> u8 = a as u8;
            Lo16OfQ lo16_of_q(a: u64) -> u16 = a as u16;
            CvtWW cvt_ww(a: u32; mode) -> u32 = convert(u64::from(a), IntCvt::of(mode)) as u32;
            CvtWQ cvt_wq(a: u32; mode) -> u64 = convert(u64::from(a), IntCvt::of(mode));
            CvtQW cvt_qw(a: u64; mode) -> u32 = convert(a, IntCvt::of(mode)) as u32;
            CvtQQ cvt_qq(a: u64; mode) -> u64 = convert(a, IntCvt::of(mode));
            CvtPack16 cvt_pack16(a: u32, b: u32; mode) -> u32 = pack(a, b, 0, IntCvt::of(mode));
            CvtPack cvt_pack(a: u32, b: u32, c: u32; mode) -> u32 = pack(a, b, c, IntCvt::of(mode));
        }
    };
}
pub(crate) use int_ops;

int_ops!(define_ops);
int_ops!(define_functions);
