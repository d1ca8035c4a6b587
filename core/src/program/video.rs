//! Selectors of video instructions (PTX ISA, "Video Instructions"): which parts of the sources are read, and where the result goes.

use crate::ptx::tree::Names;
use crate::ptx::{Modifier, Opcode};

/// How many values a video instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// One, of words or parts of them.
    One,
    /// Two, of half words.
    Two,
    /// Four, of bytes.
    Four,
}

/// How many values an instruction computes; `None`: it is no video instruction.
#[must_use]
pub fn lanes(opcode: Opcode, names: &Names) -> Option<Lanes> {
    let text = opcode.text(names).strip_prefix('v').filter(|_| opcode != Opcode::VOTE)?;
    Some(match text.as_bytes().last() {
        Some(b'2') => Lanes::Two,
        Some(b'4') => Lanes::Four,
        _ => Lanes::One,
    })
}

/// The digits of `h10`, `b3210` and so on.
fn digits(text: &str, letter: char, below: u32) -> Option<impl Iterator<Item = u32>> {
    let all = text.strip_prefix(letter)?;
    let valid = !all.is_empty() && all.chars().all(|c| c.is_digit(below));
    valid.then(|| all.bytes().map(|digit| u32::from(digit - b'0')))
}

impl Lanes {
    /// The selectors that a destination may have, for a message.
    #[must_use]
    pub const fn destinations(self) -> &'static str {
        match self {
            Self::One => "`.b0` to `.b3`, `.h0` and `.h1`",
            Self::Two => "`.h0`, `.h1` and `.h10`",
            Self::Four => "`.b` with some of 3210, in this order",
        }
    }

    /// The selectors that a source may have, for a message.
    #[must_use]
    pub const fn sources(self) -> &'static str {
        match self {
            Self::One => "`.b0` to `.b3`, `.h0` and `.h1`",
            Self::Two => "`.h` with two digits from 0 to 3",
            Self::Four => "`.b` with four digits from 0 to 7",
        }
    }

    /// The destination without a selector: the whole word, or all values.
    #[must_use]
    pub const fn whole(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 0b11,
            Self::Four => 0b1111,
        }
    }

    /// What a destination's selector means: a part as in [`crate::alu::int::Video`], or a bit for each value that counts.
    #[must_use]
    pub fn destination(self, selector: Modifier, names: &Names) -> Option<u32> {
        let text = selector.text(names);
        let (letter, below) = match self {
            Self::One => return part(text),
            Self::Two => ('h', 2),
            Self::Four => ('b', 4),
        };
        let mut above = below;
        digits(text, letter, below)?.try_fold(0, |mask, digit| {
            let descends = digit < above;
            above = digit;
            descends.then_some(mask | 1 << digit)
        })
    }

    /// What the selector of a source means, the first or the second one: a part as in [`crate::alu::int::Video`], or the
    /// bytes of both sources that are its values, as `prmt` selects them.
    #[must_use]
    pub fn source(self, selector: Option<Modifier>, second: bool, names: &Names) -> Option<u32> {
        let Some(selector) = selector else {
            return Some(match self {
                Self::One => 1,
                _ if second => 0x7654,
                _ => 0x3210,
            });
        };
        let text = selector.text(names);
        let (letter, below, count) = match self {
            Self::One => return part(text),
            Self::Two => ('h', 4, 2),
            Self::Four => ('b', 8, 4),
        };
        let each = digits(text, letter, below).filter(|_| text.len() == 1 + count)?;
        Some(each.fold(0, |bytes, digit| match self {
            Self::Two => bytes << 8 | (2 * digit + 1) << 4 | (2 * digit),
            _ => bytes << 4 | digit,
        }))
    }
}

/// Half words are parts 2 and 3 of a word, bytes 4 to 7.
fn part(text: &str) -> Option<u32> {
    Some(match text {
        "h0" => 2,
        "h1" => 3,
        "b0" => 4,
        "b1" => 5,
        "b2" => 6,
        "b3" => 7,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_what_ptxas_takes() {
        let mut names = Names::default();
        let mut of = |text: &str| Modifier::of(text, &mut names);
        let [h1, h10, h01, b20, b02, b3210, b4, h32, b7654, h4, b] =
            ["h1", "h10", "h01", "b20", "b02", "b3210", "b4", "h32", "b7654", "h4", "b"].map(&mut of);
        let into = |lanes: Lanes, word| lanes.destination(word, &names);
        assert_eq!([h1, b4, h10, h4].map(|w| into(Lanes::One, w)), [Some(3), None, None, None]);
        assert_eq!([h1, h10, h01, b20].map(|w| into(Lanes::Two, w)), [Some(2), Some(3), None, None]);
        assert_eq!([b20, b02, b3210, b].map(|w| into(Lanes::Four, w)), [Some(5), None, Some(15), None]);
        let from = |lanes: Lanes, word| lanes.source(Some(word), true, &names);
        assert_eq!([h1, h10].map(|w| from(Lanes::One, w)), [Some(3), None]);
        assert_eq!([h32, h01, h1].map(|w| from(Lanes::Two, w)), [Some(0x7654), Some(0x1032), None]);
        assert_eq!([b7654, b3210, b20].map(|w| from(Lanes::Four, w)), [Some(0x7654), Some(0x3210), None]);
        assert_eq!(Lanes::Four.source(None, false, &names), Some(0x3210));
    }

    #[test]
    fn video_instructions_are_told_by_their_names() {
        let mut names = Names::default();
        let mut of = |text| lanes(Opcode::of(text, &mut Names::default()), &Names::default());
        assert_eq!(["vadd", "vavrg2", "vset4"].map(&mut of), [Some(Lanes::One), Some(Lanes::Two), Some(Lanes::Four)]);
        assert_eq!(["vote", "add"].map(&mut of), [None, None]);
        assert_eq!(lanes(Opcode::of("w", &mut names), &names), None);
    }
}
