//! What each integer operation means, written a second time for the tests: on unbounded numbers and bit by bit, after
//! PTX's own pseudo-code, with none of the tricks of the functions under test.

use super::spec_bits::{put, s, u};
use super::spec_video;
use crate::alu::int::{IntCvt, Video};
use crate::alu::ops::IntOp;

/// By sign.
fn n(a: u64, bits: u32, signed: bool) -> i128 {
    if signed { s(a, bits) } else { u(a, bits) }
}

fn bit(a: u64, i: u32) -> bool {
    i < 64 && (a >> i) & 1 == 1
}

/// The number whose bits a function gives.
fn from_bits(count: u32, f: impl Fn(u32) -> bool) -> u64 {
    (0..count).map(|i| u64::from(f(i)) << i).sum()
}

fn bytes(select: [u32; 4], a: u64, b: u64) -> u64 {
    let source = u(a, 32) | u(b, 32) << 32;
    (0..4).map(|i| put(source >> (8 * (select[i] % 8)), 8) << (8 * i)).sum()
}

fn saturate32(value: i128) -> i128 {
    value.clamp(-(1 << 31), (1 << 31) - 1)
}

/// Each half word by itself.
fn halves(a: u64, b: u64, f: impl Fn(u64, u64) -> i128) -> u64 {
    put(f(a & 0xffff, b & 0xffff), 16) | put(f(a >> 16 & 0xffff, b >> 16 & 0xffff), 16) << 16
}

fn find(a: u64, bits: u32, signed: bool, shift: bool) -> u64 {
    let negative = signed && bit(a, bits - 1);
    let found = (0..bits).rev().find(|i| bit(a, *i) != negative);
    found.map_or(0xffff_ffff, |i| u64::from(if shift { bits - 1 - i } else { i }))
}

/// Where a field is: bytes say so of 32 bits, whole registers of 64 (D-fields).
fn field(pos: u64, len: u64, bits: u32) -> (u64, u64) {
    if bits == 32 { (pos & 255, len & 255) } else { (u(pos, 32) as u64, u(len, 32) as u64) }
}

fn extract(a: u64, pos: u64, len: u64, bits: u32, signed: bool) -> u64 {
    let (pos, len) = field(pos, len, bits);
    let sign = signed && len > 0 && bit(a, (pos + len - 1).min(u64::from(bits) - 1) as u32);
    from_bits(bits, |i| {
        let at = pos + u64::from(i);
        if u64::from(i) < len && at < bits.into() { bit(a, at as u32) } else { sign }
    })
}

fn insert(a: u64, b: u64, pos: u64, len: u64, bits: u32) -> u64 {
    let (pos, len) = field(pos, len, bits);
    from_bits(bits, |i| {
        let at = u64::from(i);
        if at >= pos && at < pos + len { bit(a, (at - pos) as u32) } else { bit(b, i) }
    })
}

fn mask(a: u64, b: u64, wrap: bool) -> u64 {
    let (a, b) = if wrap { (a & 31, b & 31) } else { (a, b) };
    from_bits(32, |i| u64::from(i) >= a && u64::from(i) < a.saturating_add(b))
}

fn extend(a: u64, b: u64, wrap: bool, signed: bool) -> u64 {
    let width = if wrap { b & 31 } else { b.min(32) } as u32;
    if width == 0 { 0 } else { put(n(a, width, signed), 32) }
}

fn nth(mask: u64, base: u64, offset: u64) -> u64 {
    let (base, offset) = (base as i64, s(offset, 32) as i64);
    if offset == -(1 << 31) {
        return 0;
    }
    let all: Vec<i64> = if offset < 0 { (0..=base.min(31)).rev().collect() } else { (base..32).collect() };
    if base > 31 {
        return 0xffff_ffff;
    }
    if offset == 0 {
        return if bit(mask, base as u32) { base as u64 } else { 0xffff_ffff };
    }
    let mut set = all.into_iter().filter(|i| bit(mask, *i as u32));
    set.nth(offset.unsigned_abs() as usize - 1).map_or(0xffff_ffff, |i| i as u64)
}

fn dot(a: (u64, u32, bool), b: (u64, bool), c: u64) -> u64 {
    let piece = |word: u64, width: u32, i: u32, signed| n(word >> (i * width), width, signed);
    let products = (0..32 / a.1).map(|i| piece(a.0, a.1, i, a.2) * piece(b.0, 8, i, b.1));
    put(u(c, 32) + products.sum::<i128>(), 32)
}

fn divide(a: i128, b: i128, bits: u32) -> u64 {
    put(if b == 0 { -1 } else { a / b }, bits)
}

fn remainder(a: i128, b: i128, bits: u32) -> u64 {
    put(if b == 0 { -1 } else { a % b }, bits)
}

/// The nearest number of a type.
fn clamp(value: i128, bits: u32, signed: bool) -> i128 {
    let span = 1i128 << bits;
    let low = if signed { -span / 2 } else { 0 };
    value.max(low).min(low + span - 1)
}

/// An integer conversion.
pub fn convert(a: u64, c: IntCvt) -> u64 {
    let mut value = n(a, c.from_bits, c.from_signed);
    if c.sat {
        value = clamp(value, c.to_bits, c.to_signed);
    }
    put(n(put(value, c.to_bits), c.to_bits, c.to_signed), c.register_bits)
}

/// The destination and the carry of an operation.
pub fn spec(op: IntOp, [a, b, c, d]: [u64; 4], mode: u32) -> (u64, bool) {
    use IntOp::*;
    let sum = |value: i128, bits: u32| (put(value, bits), value < 0 || value >= 1 << bits);
    // D-carry: set when nothing was borrowed.
    let difference = |value: i128, bits: u32| (put(value, bits), value >= 0);
    let t = |bits: u32, signed: bool| n(a, bits, signed) * n(b, bits, signed);
    // The high half may be negative; as an addend to what carries it is the pattern.
    let hi = |bits: u32, signed: bool| i128::from(put(t(bits, signed) >> bits, bits));
    // Products of unsigned 64-bit numbers do not fit an i128.
    let hi_u64 = || ((u128::from(a) * u128::from(b)) >> 64) as i128;
    let lo64 = || u(a.wrapping_mul(b), 64);
    let lo32 = || i128::from(put(t(32, false), 32));
    let cc = |p: u64| i128::from(p & 1);
    let flag = |p: bool| (u64::from(p), false);
    let value = match op {
        Add16 => put(u(a, 16) + u(b, 16), 16),
        Add32 => put(u(a, 32) + u(b, 32), 32),
        Add64 => put(u(a, 64) + u(b, 64), 64),
        AddSatS32 => put(saturate32(s(a, 32) + s(b, 32)), 32),
        Sub16 => put(u(a, 16) - u(b, 16), 16),
        Sub32 => put(u(a, 32) - u(b, 32), 32),
        Sub64 => put(u(a, 64) - u(b, 64), 64),
        SubSatS32 => put(saturate32(s(a, 32) - s(b, 32)), 32),
        MulLo16 => put(t(16, false), 16),
        MulLo32 => put(t(32, false), 32),
        MulLo64 => put(t(64, true), 64),
        MulHiU16 => put(t(16, false) >> 16, 16),
        MulHiS16 => put(t(16, true) >> 16, 16),
        MulHiU32 => put(t(32, false) >> 32, 32),
        MulHiS32 => put(t(32, true) >> 32, 32),
        MulHiU64 => put(hi_u64(), 64),
        MulHiS64 => put(t(64, true) >> 64, 64),
        MulWideU16 => put(t(16, false), 32),
        MulWideS16 => put(t(16, true), 32),
        MulWideU32 => put(t(32, false), 64),
        MulWideS32 => put(t(32, true), 64),
        MadLo16 => put(t(16, false) + u(c, 16), 16),
        MadLo32 => put(t(32, false) + u(c, 32), 32),
        MadLo64 => put(lo64() + u(c, 64), 64),
        MadHiU16 => put((t(16, false) >> 16) + u(c, 16), 16),
        MadHiS16 => put((t(16, true) >> 16) + s(c, 16), 16),
        MadHiU32 => put((t(32, false) >> 32) + u(c, 32), 32),
        MadHiS32 => put((t(32, true) >> 32) + s(c, 32), 32),
        MadHiU64 => put(hi_u64() + u(c, 64), 64),
        MadHiS64 => put((t(64, true) >> 64) + s(c, 64), 64),
        MadHiSatS32 => put(saturate32((t(32, true) >> 32) + s(c, 32)), 32),
        MadWideU16 => put(t(16, false) + u(c, 32), 32),
        MadWideS16 => put(t(16, true) + s(c, 32), 32),
        MadWideU32 => put(t(32, false) + u(c, 64), 64),
        MadWideS32 => put(t(32, true) + s(c, 64), 64),
        Mul24LoU32 => put(t(24, false), 32),
        Mul24LoS32 => put(t(24, true), 32),
        Mul24HiU32 => put(t(24, false) >> 16, 32),
        Mul24HiS32 => put(t(24, true) >> 16, 32),
        Mad24LoU32 => put(t(24, false) + u(c, 32), 32),
        Mad24LoS32 => put(t(24, true) + u(c, 32), 32),
        Mad24HiU32 => put((t(24, false) >> 16) + u(c, 32), 32),
        Mad24HiS32 => put((t(24, true) >> 16) + u(c, 32), 32),
        Mad24HiSatS32 => put(saturate32((t(24, true) >> 16) + s(c, 32)), 32),
        SadU16 => put((u(a, 16) - u(b, 16)).abs() + u(c, 16), 16),
        SadS16 => put((s(a, 16) - s(b, 16)).abs() + u(c, 16), 16),
        SadU32 => put((u(a, 32) - u(b, 32)).abs() + u(c, 32), 32),
        SadS32 => put((s(a, 32) - s(b, 32)).abs() + u(c, 32), 32),
        SadU64 => put((u(a, 64) - u(b, 64)).abs() + u(c, 64), 64),
        SadS64 => put((s(a, 64) - s(b, 64)).abs() + u(c, 64), 64),
        DivU16 => divide(u(a, 16), u(b, 16), 16),
        DivS16 => divide(s(a, 16), s(b, 16), 16),
        DivU32 => divide(u(a, 32), u(b, 32), 32),
        DivS32 => divide(s(a, 32), s(b, 32), 32),
        DivU64 => divide(u(a, 64), u(b, 64), 64),
        DivS64 => divide(s(a, 64), s(b, 64), 64),
        RemU16 => remainder(u(a, 16), u(b, 16), 16),
        RemS16 => remainder(s(a, 16), s(b, 16), 16),
        RemU32 => remainder(u(a, 32), u(b, 32), 32),
        RemS32 => remainder(s(a, 32), s(b, 32), 32),
        RemU64 => remainder(u(a, 64), u(b, 64), 64),
        RemS64 => remainder(s(a, 64), s(b, 64), 64),
        AbsS16 => put(s(a, 16).abs(), 16),
        AbsS32 => put(s(a, 32).abs(), 32),
        AbsS64 => put(s(a, 64).abs(), 64),
        Neg16 => put(-s(a, 16), 16),
        Neg32 => put(-s(a, 32), 32),
        Neg64 => put(-s(a, 64), 64),
        MinU16 => put(u(a, 16).min(u(b, 16)), 16),
        MinS16 => put(s(a, 16).min(s(b, 16)), 16),
        MinU32 => put(u(a, 32).min(u(b, 32)), 32),
        MinS32 => put(s(a, 32).min(s(b, 32)), 32),
        MinU64 => put(u(a, 64).min(u(b, 64)), 64),
        MinS64 => put(s(a, 64).min(s(b, 64)), 64),
        MaxU16 => put(u(a, 16).max(u(b, 16)), 16),
        MaxS16 => put(s(a, 16).max(s(b, 16)), 16),
        MaxU32 => put(u(a, 32).max(u(b, 32)), 32),
        MaxS32 => put(s(a, 32).max(s(b, 32)), 32),
        MaxU64 => put(u(a, 64).max(u(b, 64)), 64),
        MaxS64 => put(s(a, 64).max(s(b, 64)), 64),
        MinReluS32 => put(s(a, 32).min(s(b, 32)).max(0), 32),
        MaxReluS32 => put(s(a, 32).max(s(b, 32)).max(0), 32),

        AddCc32 => return sum(u(a, 32) + u(b, 32), 32),
        AddCc64 => return sum(u(a, 64) + u(b, 64), 64),
        Addc32 => sum(u(a, 32) + u(b, 32) + cc(c), 32).0,
        Addc64 => sum(u(a, 64) + u(b, 64) + cc(c), 64).0,
        AddcCc32 => return sum(u(a, 32) + u(b, 32) + cc(c), 32),
        AddcCc64 => return sum(u(a, 64) + u(b, 64) + cc(c), 64),
        SubCc32 => return difference(u(a, 32) - u(b, 32), 32),
        SubCc64 => return difference(u(a, 64) - u(b, 64), 64),
        Subc32 => difference(u(a, 32) - u(b, 32) - (1 - cc(c)), 32).0,
        Subc64 => difference(u(a, 64) - u(b, 64) - (1 - cc(c)), 64).0,
        SubcCc32 => return difference(u(a, 32) - u(b, 32) - (1 - cc(c)), 32),
        SubcCc64 => return difference(u(a, 64) - u(b, 64) - (1 - cc(c)), 64),
        MadLoCc32 => return sum(lo32() + u(c, 32), 32),
        MadLoCc64 => return sum(lo64() + u(c, 64), 64),
        MadHiCcU32 => return sum(hi(32, false) + u(c, 32), 32),
        MadHiCcS32 => return sum(hi(32, true) + u(c, 32), 32),
        MadHiCcU64 => return sum(hi_u64() + u(c, 64), 64),
        MadHiCcS64 => return sum(hi(64, true) + u(c, 64), 64),
        MadcLo32 => sum(lo32() + u(c, 32) + cc(d), 32).0,
        MadcLo64 => sum(lo64() + u(c, 64) + cc(d), 64).0,
        MadcHiU32 => sum(hi(32, false) + u(c, 32) + cc(d), 32).0,
        MadcHiS32 => sum(hi(32, true) + u(c, 32) + cc(d), 32).0,
        MadcHiU64 => sum(hi_u64() + u(c, 64) + cc(d), 64).0,
        MadcHiS64 => sum(hi(64, true) + u(c, 64) + cc(d), 64).0,
        MadcLoCc32 => return sum(lo32() + u(c, 32) + cc(d), 32),
        MadcLoCc64 => return sum(lo64() + u(c, 64) + cc(d), 64),
        MadcHiCcU32 => return sum(hi(32, false) + u(c, 32) + cc(d), 32),
        MadcHiCcS32 => return sum(hi(32, true) + u(c, 32) + cc(d), 32),
        MadcHiCcU64 => return sum(hi_u64() + u(c, 64) + cc(d), 64),
        MadcHiCcS64 => return sum(hi(64, true) + u(c, 64) + cc(d), 64),

        EqW => return flag(u(a, 32) == u(b, 32)),
        NeW => return flag(u(a, 32) != u(b, 32)),
        EqQ => return flag(a == b),
        NeQ => return flag(a != b),
        LtU32 => return flag(u(a, 32) < u(b, 32)),
        LeU32 => return flag(u(a, 32) <= u(b, 32)),
        GtU32 => return flag(u(a, 32) > u(b, 32)),
        GeU32 => return flag(u(a, 32) >= u(b, 32)),
        LtS32 => return flag(s(a, 32) < s(b, 32)),
        LeS32 => return flag(s(a, 32) <= s(b, 32)),
        GtS32 => return flag(s(a, 32) > s(b, 32)),
        GeS32 => return flag(s(a, 32) >= s(b, 32)),
        LtS16 => return flag(s(a, 16) < s(b, 16)),
        LeS16 => return flag(s(a, 16) <= s(b, 16)),
        GtS16 => return flag(s(a, 16) > s(b, 16)),
        GeS16 => return flag(s(a, 16) >= s(b, 16)),
        LtU64 => return flag(u(a, 64) < u(b, 64)),
        LeU64 => return flag(u(a, 64) <= u(b, 64)),
        GtU64 => return flag(u(a, 64) > u(b, 64)),
        GeU64 => return flag(u(a, 64) >= u(b, 64)),
        LtS64 => return flag(s(a, 64) < s(b, 64)),
        LeS64 => return flag(s(a, 64) <= s(b, 64)),
        GtS64 => return flag(s(a, 64) > s(b, 64)),
        GeS64 => return flag(s(a, 64) >= s(b, 64)),
        AndP => return flag(bit(a, 0) && bit(b, 0)),
        OrP => return flag(bit(a, 0) || bit(b, 0)),
        XorP => return flag(bit(a, 0) != bit(b, 0)),
        NotP => return flag(!bit(a, 0)),
        NonzeroAnd => return flag(u(a, 32) != 0 && bit(b, 0)),
        NonzeroOr => return flag(u(a, 32) != 0 || bit(b, 0)),
        SelW => put(if bit(c, 0) { u(a, 32) } else { u(b, 32) }, 32),
        SelQ => put(if bit(c, 0) { u(a, 64) } else { u(b, 64) }, 64),
        SelP => return flag(if bit(c, 0) { bit(a, 0) } else { bit(b, 0) }),

        Shl16 => put(u(a, 16) << u(b, 32).min(16), 16),
        Shl32 => put(u(a, 32) << u(b, 32).min(32), 32),
        Shl64 => from_bits(64, |i| i128::from(i) >= u(b, 32) && bit(a, i - u(b, 32) as u32)),
        ShrU16 => put(u(a, 16) >> u(b, 32).min(16), 16),
        ShrU32 => put(u(a, 32) >> u(b, 32).min(32), 32),
        ShrU64 => put(u(a, 64) >> u(b, 32).min(64), 64),
        ShrS16 => put(s(a, 16) >> u(b, 32).min(16), 16),
        ShrS32 => put(s(a, 32) >> u(b, 32).min(32), 32),
        ShrS64 => put(s(a, 64) >> u(b, 32).min(64), 64),
        ShfLClamp => put((u(b, 32) << 32 | u(a, 32)) << u(c, 32).min(32) >> 32, 32),
        ShfLWrap => put((u(b, 32) << 32 | u(a, 32)) << (u(c, 32) % 32) >> 32, 32),
        ShfRClamp => put((u(b, 32) << 32 | u(a, 32)) >> u(c, 32).min(32), 32),
        ShfRWrap => put((u(b, 32) << 32 | u(a, 32)) >> (u(c, 32) % 32), 32),

        And32 => from_bits(32, |i| bit(a, i) && bit(b, i)),
        And64 => from_bits(64, |i| bit(a, i) && bit(b, i)),
        Or32 => from_bits(32, |i| bit(a, i) || bit(b, i)),
        Or64 => from_bits(64, |i| bit(a, i) || bit(b, i)),
        Xor32 => from_bits(32, |i| bit(a, i) != bit(b, i)),
        Xor64 => from_bits(64, |i| bit(a, i) != bit(b, i)),
        Not16 => from_bits(16, |i| !bit(a, i)),
        Not32 => from_bits(32, |i| !bit(a, i)),
        Not64 => from_bits(64, |i| !bit(a, i)),
        Cnot16 => u64::from(u(a, 16) == 0),
        Cnot32 => u64::from(u(a, 32) == 0),
        Cnot64 => u64::from(a == 0),
        Popc32 => (0..32).map(|i| u64::from(bit(a, i))).sum(),
        Popc64 => (0..64).map(|i| u64::from(bit(a, i))).sum(),
        Clz32 => (0..32).rev().take_while(|i| !bit(a, *i)).count() as u64,
        Clz64 => (0..64).rev().take_while(|i| !bit(a, *i)).count() as u64,
        Brev32 => from_bits(32, |i| bit(a, 31 - i)),
        Brev64 => from_bits(64, |i| bit(a, 63 - i)),
        BfindU32 => find(a, 32, false, false),
        BfindS32 => find(a, 32, true, false),
        BfindU64 => find(a, 64, false, false),
        BfindS64 => find(a, 64, true, false),
        BfindShiftamtU32 => find(a, 32, false, true),
        BfindShiftamtS32 => find(a, 32, true, true),
        BfindShiftamtU64 => find(a, 64, false, true),
        BfindShiftamtS64 => find(a, 64, true, true),
        Fns => nth(a, b, c),
        BfeU32 => extract(a, b, c, 32, false),
        BfeU64 => extract(a, b, c, 64, false),
        BfeS32 => extract(a, b, c, 32, true),
        BfeS64 => extract(a, b, c, 64, true),
        Bfi32 => insert(a, b, c, d, 32),
        Bfi64 => insert(a, b, c, d, 64),
        BmskClamp => mask(a, b, false),
        BmskWrap => mask(a, b, true),
        SzextClampU32 => extend(a, b, false, false),
        SzextClampS32 => extend(a, b, false, true),
        SzextWrapU32 => extend(a, b, true, false),
        SzextWrapS32 => extend(a, b, true, true),
        Prmt => {
            let plain = bytes([0, 1, 2, 3].map(|i| (c >> (4 * i)) as u32 & 7), a, b);
            (0..4)
                .map(|i| {
                    if bit(c, 4 * i + 3) {
                        put(s(plain >> (8 * i), 8) >> 7, 8) << (8 * i)
                    } else {
                        plain & 0xff << (8 * i)
                    }
                })
                .sum()
        }
        PrmtF4e => bytes([[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]][c as usize & 3], a, b),
        PrmtB4e => bytes([[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]][c as usize & 3], a, b),
        PrmtRc8 => bytes([[0; 4], [1; 4], [2; 4], [3; 4]][c as usize & 3], a, b),
        PrmtEcl => bytes([[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]][c as usize & 3], a, b),
        PrmtEcr => bytes([[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]][c as usize & 3], a, b),
        PrmtRc16 => bytes([[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]][c as usize & 3], a, b),
        Lop3 => from_bits(32, |i| {
            bit(mode.into(), u32::from(bit(a, i)) * 4 + u32::from(bit(b, i)) * 2 + u32::from(bit(c, i)))
        }),

        Dp4aUu => dot((a, 8, false), (b, false), c),
        Dp4aUs => dot((a, 8, false), (b, true), c),
        Dp4aSu => dot((a, 8, true), (b, false), c),
        Dp4aSs => dot((a, 8, true), (b, true), c),
        Dp2aLoUu => dot((a, 16, false), (b, false), c),
        Dp2aLoUs => dot((a, 16, false), (b, true), c),
        Dp2aLoSu => dot((a, 16, true), (b, false), c),
        Dp2aLoSs => dot((a, 16, true), (b, true), c),
        Dp2aHiUu => dot((a, 16, false), (b >> 16, false), c),
        Dp2aHiUs => dot((a, 16, false), (b >> 16, true), c),
        Dp2aHiSu => dot((a, 16, true), (b >> 16, false), c),
        Dp2aHiSs => dot((a, 16, true), (b >> 16, true), c),

        Add16x2 => halves(a, b, |x, y| u(x, 16) + u(y, 16)),
        MinU16x2 => halves(a, b, |x, y| u(x, 16).min(u(y, 16))),
        MaxU16x2 => halves(a, b, |x, y| u(x, 16).max(u(y, 16))),
        MinS16x2 => halves(a, b, |x, y| s(x, 16).min(s(y, 16))),
        MaxS16x2 => halves(a, b, |x, y| s(x, 16).max(s(y, 16))),
        MinReluS16x2 => halves(a, b, |x, y| s(x, 16).min(s(y, 16)).max(0)),
        MaxReluS16x2 => halves(a, b, |x, y| s(x, 16).max(s(y, 16)).max(0)),

        Vadd | Vsub | Vabsdiff | Vmin | Vmax | Vshl | Vshr | Vset => {
            spec_video::scalar(op, [a, b, c, d], Video::of(mode))
        }
        Vmad => spec_video::product(Video::of(mode), [a, b, c, d]),
        Vadd2 | Vsub2 | Vavrg2 | Vabsdiff2 | Vmin2 | Vmax2 | Vset2 => {
            spec_video::simd(op, 16, [a, b, c, d], Video::of(mode))
        }
        Vadd4 | Vsub4 | Vavrg4 | Vabsdiff4 | Vmin4 | Vmax4 | Vset4 => {
            spec_video::simd(op, 8, [a, b, c, d], Video::of(mode))
        }

        MovW => put(u(a, 32), 32),
        MovQ => a,
        MovP => return flag(bit(a, 0)),
        Pack8x2 => put(u(a, 8) + (u(b, 8) << 8), 64),
        Pack16x2 => put(u(a, 16) + (u(b, 16) << 16), 64),
        Pack8x4 => put(u(a, 8) + (u(b, 8) << 8) + (u(c, 8) << 16) + (u(d, 8) << 24), 64),
        Pack32x2 => put(u(a, 32) + (u(b, 32) << 32), 64),
        Pack16x4 => put(u(a, 16) + (u(b, 16) << 16) + (u(c, 16) << 32) + (u(d, 16) << 48), 64),
        Lo16 | Zx16 | Zx16Q | Lo16OfQ => put(u(a, 16), 64),
        Hi16 => put(u(a >> 16, 16), 64),
        TruncQW | ZextWQ => put(u(a, 32), 64),
        Hi32 => put(u(a >> 32, 32), 64),
        ByteOfW => put(u(a >> (8 * (mode % 4)), 8), 64),
        HalfOfQ => put(u(a >> (16 * (mode % 4)), 16), 64),
        Zx8 | Zx8Q | Lo8OfQ => put(u(a, 8), 64),
        Sx8H => put(s(a, 8), 16),
        Sx8W => put(s(a, 8), 32),
        Sx8Q => put(s(a, 8), 64),
        Sx16W => put(s(a, 16), 32),
        Sx16Q => put(s(a, 16), 64),
        SextWQ => put(s(a, 32), 64),
        CvtPack16 | CvtPack => {
            let to = IntCvt::of(mode);
            let piece = |x| i128::from(put(clamp(s(x, 32), to.to_bits, to.to_signed), to.to_bits));
            put((u(c, 32) << (2 * to.to_bits)) + (piece(a) << to.to_bits) + piece(b), 32)
        }
        CvtWW | CvtWQ | CvtQW | CvtQQ => convert(a, IntCvt::of(mode)),
    };
    (value, false)
}
