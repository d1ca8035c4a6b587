//! What a texel is: one, two or four channels (CUDA guide: channel format descriptor).

use crate::alu::float::{narrow16, widen16};
use crate::base::words;

words! {
    /// The type of a channel.
    pub enum Channel {
        /// 8 bits without a sign.
        U8 = "u8",
        /// 8 bits with a sign.
        S8 = "s8",
        /// 16 bits without a sign.
        U16 = "u16",
        /// 16 bits with a sign.
        S16 = "s16",
        /// 32 bits without a sign.
        U32 = "u32",
        /// 32 bits with a sign.
        S32 = "s32",
        /// A half.
        F16 = "f16",
        /// A float.
        F32 = "f32",
    }
}

/// What bits mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Meaning {
    /// An integer without a sign.
    Unsigned,
    /// An integer with a sign.
    Signed,
    /// A floating-point number.
    Float,
}

impl Channel {
    /// Its size in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 | Self::F16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
        }
    }

    /// What its bits mean.
    #[must_use]
    pub const fn meaning(self) -> Meaning {
        match self {
            Self::U8 | Self::U16 | Self::U32 => Meaning::Unsigned,
            Self::S8 | Self::S16 | Self::S32 => Meaning::Signed,
            Self::F16 | Self::F32 => Meaning::Float,
        }
    }

    /// The 32 bits that a register gets for bits of memory: integers extended, halves as floats.
    #[must_use]
    pub fn widened(self, bits: u32) -> u32 {
        match self {
            Self::U8 => bits & 0xff,
            Self::S8 => i32::from((bits as u8).cast_signed()).cast_unsigned(),
            Self::U16 => bits & 0xffff,
            Self::S16 => i32::from((bits as u16).cast_signed()).cast_unsigned(),
            Self::U32 | Self::S32 | Self::F32 => bits,
            // What is no number stays which one it is.
            Self::F16 if bits & 0x7fff > 0x7c00 => (bits & 0x8000) << 16 | 0x7f80_0000 | (bits & 0x3ff) << 13,
            Self::F16 => widen16(bits & 0xffff),
        }
    }

    /// The largest number of an integer channel, which stands for 1 where integers become fractions.
    #[must_use]
    pub const fn most(self) -> u32 {
        match self {
            Self::U8 => 0xff,
            Self::S8 => 0x7f,
            Self::U16 => 0xffff,
            Self::S16 => 0x7fff,
            Self::U32 => u32::MAX,
            Self::S32 => 0x7fff_ffff,
            Self::F16 | Self::F32 => 1,
        }
    }
}

/// The channels of a texel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    /// The type of each.
    pub channel: Channel,
    /// How many there are: 1, 2 or 4.
    pub channels: u8,
}

impl Format {
    /// Bytes of a texel: 1, 2, 4, 8 or 16.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.channel.bytes() * self.channels as u32
    }

    /// The bits of each channel of a texel whose bytes lie in words, least significant first. Channels that are not there are 0.
    #[must_use]
    pub fn channels_of(self, words: [u32; 4]) -> [u32; 4] {
        let bits = self.channel.bytes() * 8;
        let mask = u32::MAX >> (32 - bits);
        let mut all = [0; 4];
        for (at, channel) in (0u32..).zip(&mut all).take(usize::from(self.channels)) {
            let first = at * bits;
            *channel = words[first as usize / 32 % 4] >> (first % 32) & mask;
        }
        all
    }
}

/// The words of a texel that a formatted store writes (`sust.p`): of values of 32 bits, which are floats where channels are,
/// else integers. Integers that a channel cannot hold become the nearest one that it can (D-surface-format).
#[must_use]
pub fn encoded(format: Format, values: [u32; 4]) -> [u32; 4] {
    let bits = format.channel.bytes() * 8;
    let mut words = [0; 4];
    for (at, value) in (0u32..).zip(values).take(usize::from(format.channels)) {
        let value = match format.channel {
            Channel::U8 => value.min(0xff),
            Channel::U16 => value.min(0xffff),
            Channel::S8 => value.cast_signed().clamp(-0x80, 0x7f).cast_unsigned() & 0xff,
            Channel::S16 => value.cast_signed().clamp(-0x8000, 0x7fff).cast_unsigned() & 0xffff,
            Channel::U32 | Channel::S32 | Channel::F32 => value,
            Channel::F16 => narrow16(value),
        };
        let first = at * bits;
        words[first as usize / 32 % 4] |= value << (first % 32);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_come_apart_and_together() {
        for (channel, channels, words, values) in [
            (Channel::U8, 4, [0x8001_7f03, 0, 0, 0], [3, 0x7f, 1, 0x80]),
            (Channel::S8, 2, [0xff80, 0, 0, 0], [0x80u32.wrapping_sub(0x100), u32::MAX, 0, 0]),
            (Channel::S16, 4, [0x8000_0001, 0xffff_7fff, 0, 0], [1, 0xffff_8000, 0x7fff, u32::MAX]),
            (Channel::F16, 1, [0x3c00, 0, 0, 0], [1f32.to_bits(), 0, 0, 0]),
            (Channel::F16, 1, [0xfc00, 0, 0, 0], [f32::NEG_INFINITY.to_bits(), 0, 0, 0]),
            (Channel::U32, 2, [7, u32::MAX, 0, 0], [7, u32::MAX, 0, 0]),
        ] {
            let format = Format { channel, channels };
            let mut got = format.channels_of(words).map(|bits| channel.widened(bits));
            got.iter_mut().skip(usize::from(channels)).for_each(|value| *value = 0);
            assert_eq!(got, values, "{channel:?}");
            assert_eq!(encoded(format, values), words, "{channel:?}");
        }
    }

    /// As on an H200, where no filter makes the one with all bits of them.
    #[test]
    fn halves_that_are_no_numbers_keep_their_bits() {
        assert_eq!([0x7d9e, 0xffff].map(|bits| Channel::F16.widened(bits)), [0x7fb3_c000, 0xffff_e000]);
    }

    #[test]
    fn integers_that_do_not_fit_stay_at_the_end() {
        let one = |channel, value| encoded(Format { channel, channels: 1 }, [value, 0, 0, 0])[0];
        assert_eq!(one(Channel::U8, 256), 255);
        assert_eq!(one(Channel::S8, 200), 0x7f);
        assert_eq!(one(Channel::S16, (-40_000i32).cast_unsigned()), 0x8000);
    }
}
