//! Video instructions (PTX ISA, "Video Instructions"): arithmetic on words, half words and bytes of words.
//!
//! Inputs are extended to 33 bits, a scalar result has 34, and one that is not clamped goes on with 33: the least and the
//! greatest that `.min` and `.max` take are those of these numbers (D-video).

use super::{extend, range};

/// What a scalar video instruction does beside its operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Second {
    /// Nothing.
    #[default]
    None,
    /// `.add`: adds the third source; the results of a SIMD instruction all together.
    Add,
    /// `.min`: takes the lesser of the result and the third source.
    Min,
    /// `.max`: takes the greater one.
    Max,
}

/// The mode word of a video instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Video {
    /// The part of the first source: 1 is the word, 2 and 3 are its halves, 4 to 7 its bytes. 0, as where the parts are
    /// already chosen, counts as the word.
    pub a: u32,
    /// The part of the second source.
    pub b: u32,
    /// The part of the destination that the result is put into; of a SIMD instruction a bit for each result that counts.
    pub d: u32,
    /// Whether the first source is signed.
    pub a_signed: bool,
    /// Whether the second source is signed.
    pub b_signed: bool,
    /// Whether the destination and the third source are signed.
    pub d_signed: bool,
    /// `.sat`: clamp to the destination's type.
    pub sat: bool,
    /// The secondary operation.
    pub second: Second,
    /// How the sources must be related for a comparison to hold: less (1), equal (2), greater (4).
    pub relation: u32,
    /// `.wrap`: an amount of a shift counts modulo 32; else one above 32 is 32.
    pub wrap: bool,
    /// `vmad`: the product is negated.
    pub minus_product: bool,
    /// `vmad`: the third source is negated.
    pub minus_addend: bool,
    /// `.po`: one is added.
    pub plus_one: bool,
    /// `.shr7`, `.shr15`: by how many bits the result is shifted.
    pub scale: u32,
}

impl Video {
    /// The mode word.
    #[must_use]
    pub const fn mode(self) -> u32 {
        self.a
            | self.b << 3
            | self.d << 6
            | (self.second as u32) << 10
            | self.relation << 12
            | self.scale << 15
            | (self.a_signed as u32) << 19
            | (self.b_signed as u32) << 20
            | (self.d_signed as u32) << 21
            | (self.sat as u32) << 22
            | (self.wrap as u32) << 23
            | (self.minus_product as u32) << 24
            | (self.minus_addend as u32) << 25
            | (self.plus_one as u32) << 26
    }

    /// What a mode word stands for.
    #[must_use]
    pub const fn of(mode: u32) -> Self {
        const SECONDS: [Second; 4] = [Second::None, Second::Add, Second::Min, Second::Max];
        Self {
            a: mode & 7,
            b: mode >> 3 & 7,
            d: mode >> 6 & 15,
            second: SECONDS[(mode >> 10 & 3) as usize],
            relation: mode >> 12 & 7,
            scale: mode >> 15 & 15,
            a_signed: mode >> 19 & 1 == 1,
            b_signed: mode >> 20 & 1 == 1,
            d_signed: mode >> 21 & 1 == 1,
            sat: mode >> 22 & 1 == 1,
            wrap: mode >> 23 & 1 == 1,
            minus_product: mode >> 24 & 1 == 1,
            minus_addend: mode >> 25 & 1 == 1,
            plus_one: mode >> 26 & 1 == 1,
        }
    }
}

/// The bits of a part, and where it begins.
fn place(part: u32) -> (u32, u32) {
    let part = part.max(1);
    let bits = 32 >> part.ilog2();
    (bits, (part - (1 << part.ilog2())) * bits)
}

/// The number in the low bits, or in some further up.
fn field(word: u32, (bits, from): (u32, u32), signed: bool) -> i64 {
    extend((word >> from).into(), bits, signed) as i64
}

/// The low bits of a number as a signed one.
const fn low(value: i64, bits: u32) -> i64 {
    value << (64 - bits) >> (64 - bits)
}

fn clamp(value: i128, bits: u32, signed: bool) -> i128 {
    let (least, greatest) = range(bits, signed);
    value.clamp(least, greatest)
}

/// A word with some of its bits replaced by the low ones of a number.
fn put(value: i64, (bits, into): (u32, u32), word: u32) -> u32 {
    let mask = (u32::MAX >> (32 - bits)) << into;
    (value as u32) << into & mask | word & !mask
}

/// An operation on parts of two words, and what is done with the third source.
#[inline(never)]
pub(super) fn scalar(a: u32, b: u32, c: u32, mode: u32, f: impl Fn(i64, i64, Video) -> i64) -> u32 {
    let video = Video::of(mode);
    let into = place(video.d);
    let result = low(f(field(a, place(video.a), video.a_signed), field(b, place(video.b), video.b_signed), video), 34);
    let result = if video.sat { clamp(result.into(), into.0, video.d_signed) as i64 } else { low(result, 33) };
    let third = field(c, (32, 0), video.d_signed);
    let result = match video.second {
        Second::None => result,
        Second::Add => result + third,
        Second::Min => result.min(third),
        Second::Max => result.max(third),
    };
    put(result, into, c)
}

/// The same operation on two half words or four bytes of words.
#[inline(never)]
pub(super) fn each<const N: u32>(a: u32, b: u32, c: u32, mode: u32, f: impl Fn(i64, i64, Video) -> i64) -> u32 {
    let video = Video::of(mode);
    let bits = 32 / N;
    let (mut merged, mut sum) = (c, c);
    for at in (0..N).filter(|i| video.d >> i & 1 == 1).map(|i| (bits, i * bits)) {
        let result = f(field(a, at, video.a_signed), field(b, at, video.b_signed), video);
        let result = if video.sat { clamp(result.into(), bits, video.d_signed) as i64 } else { result };
        merged = put(result, at, merged);
        sum = sum.wrapping_add(result as u32);
    }
    if video.second == Second::Add { sum } else { merged }
}

/// The mean, rounded away from zero: of two numbers whose sum is negative as the ISA has it.
pub(super) const fn average(a: i64, b: i64) -> i64 {
    let sum = a + b;
    (sum + (sum >= 0) as i64) >> 1
}

/// An amount of a shift.
pub(super) fn amount(video: Video, by: i64) -> i64 {
    if video.wrap { by & 31 } else { by.clamp(0, 32) }
}

/// Whether two numbers are related as a comparison asks: 1 or 0.
pub(super) fn related(video: Video, a: i64, b: i64) -> i64 {
    let relation = u32::from(a < b) | u32::from(a == b) << 1 | u32::from(a > b) << 2;
    i64::from(relation & video.relation != 0)
}

/// `vmad`: product and addend are signed where anything is signed or negated.
#[inline(never)]
pub(super) fn multiply_add(a: u32, b: u32, c: u32, mode: u32) -> u32 {
    let video = Video::of(mode);
    let signed = video.a_signed || video.b_signed || video.minus_product || video.minus_addend;
    let a = i128::from(field(a, place(video.a), video.a_signed));
    let b = i128::from(field(b, place(video.b), video.b_signed));
    let product = if video.minus_product { -(a * b) } else { a * b };
    // The addend is negated as a word before it is extended: the least one stays what it is but for the bit that is added.
    let addend = if video.minus_addend { extend((!c).into(), 32, signed) + 1 } else { extend(c.into(), 32, signed) };
    let result = (product + addend + i128::from(video.plus_one)) >> video.scale;
    (if video.sat { clamp(result, 32, signed) } else { result }) as u32
}
