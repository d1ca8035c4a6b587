//! What becomes of the texels of a fetch: its result.

use super::{Channel, Footprint, Meaning, Sampler, Tap, Texture};
use crate::alu::float::{NAN32, narrow16};

/// The four values of a fetch: integers, or floats by their bits.
pub type Values = [u32; 4];

/// The value of a channel that the format does not have: 0, and 1 for the last one (D-texture-channels).
fn absent(channel: usize, meaning: Meaning) -> u32 {
    match meaning {
        _ if channel < 3 => 0,
        Meaning::Float => 1f32.to_bits(),
        Meaning::Unsigned | Meaning::Signed => 1,
    }
}

/// A channel of the border colour, as a value that a fetch gives.
fn border(sampler: &Sampler, channel: usize, meaning: Meaning) -> u32 {
    let colour = f32::from_bits(sampler.border[channel % 4]);
    match meaning {
        Meaning::Float => colour.to_bits(),
        // Conversions of Rust stay at the ends.
        Meaning::Unsigned => colour as u32,
        Meaning::Signed => (colour as i32).cast_unsigned(),
    }
}

/// The number that a channel's value is. Two integers stand for -1 where they become fractions (CUDA guide: read mode).
fn number(channel: Channel, value: u32) -> f64 {
    match channel.meaning() {
        Meaning::Unsigned => f64::from(value),
        Meaning::Signed => f64::from(value.cast_signed()).max(-f64::from(channel.most())),
        Meaning::Float => f64::from(f32::from_bits(value)),
    }
}

/// What stands for 1: integers become fractions of it.
fn unit(texture: &Texture) -> f64 {
    if texture.normalises() { f64::from(texture.image.format.channel.most()) } else { 1.0 }
}

/// A value in single precision; no number has PTX's bits.
fn single(value: f64) -> u32 {
    let value = value as f32;
    if value.is_nan() { NAN32 } else { value.to_bits() }
}

/// The value of a channel of one texel.
fn value(texture: &Texture, sampler: &Sampler, tap: Tap, words: [u32; 4], channel: usize) -> u32 {
    let (format, meaning) = (texture.image.format, texture.gives());
    if channel >= usize::from(format.channels) {
        return absent(channel, meaning);
    }
    if tap.texel.is_none() {
        return border(sampler, channel, meaning);
    }
    let value = format.channel.widened(format.channels_of(words)[channel]);
    if texture.normalises() { single(number(format.channel, value) / unit(texture)) } else { value }
}

/// The result of a fetch: `words` are the bytes of its texels, in the order of its footprint.
///
/// One texel is taken as it is. A blend adds up the products of weights and numbers, which are exact, in double precision in the
/// order of the footprint, divides the sum by what all weights and a fraction's unit are, and rounds it to single precision
/// (D-texture-sum). Texels without a weight have no part in it.
#[must_use]
pub fn filtered(texture: &Texture, sampler: &Sampler, footprint: &Footprint, words: &[[u32; 4]]) -> Values {
    let meaning = texture.gives();
    [0, 1, 2, 3].map(|channel| {
        let taps = || footprint.taps().iter().zip(words).filter(|(tap, _)| tap.weight > 0);
        match (taps().next(), taps().nth(1)) {
            (None, _) => 0,
            (Some((tap, words)), None) => value(texture, sampler, *tap, *words, channel),
            _ if meaning != Meaning::Float || channel >= usize::from(texture.image.format.channels) => {
                absent(channel, meaning)
            }
            _ => single(blended(texture, sampler, footprint, words, channel)),
        }
    })
}

/// A channel of a blend.
fn blended(texture: &Texture, sampler: &Sampler, footprint: &Footprint, words: &[[u32; 4]], channel: usize) -> f64 {
    let format = texture.image.format;
    let part = |(tap, words): (&Tap, &[u32; 4])| {
        let value = format.channel.widened(format.channels_of(*words)[channel % 4]);
        let number = if tap.texel.is_none() {
            f64::from(f32::from_bits(sampler.border[channel % 4])) * unit(texture)
        } else {
            number(format.channel, value)
        };
        f64::from(tap.weight) * number
    };
    let taps = footprint.taps().iter().zip(words).filter(|(tap, _)| tap.weight > 0);
    taps.map(part).fold(-0.0, |sum, part| sum + part) / (f64::from(footprint.whole) * unit(texture))
}

/// The result of a fetch between two levels of detail, each with its texels: so many 256ths of the second one, and the rest of the first one, in double
/// precision, rounded once.
#[must_use]
pub fn between(texture: &Texture, sampler: &Sampler, levels: [(&Footprint, &[[u32; 4]]); 2], second: u32) -> Values {
    [0, 1, 2, 3].map(|channel| {
        if channel >= usize::from(texture.image.format.channels) {
            return absent(channel, texture.gives());
        }
        let [near, far] = levels.map(|(footprint, words)| blended(texture, sampler, footprint, words, channel));
        single((f64::from(256 - second.min(256)) * near + f64::from(second) * far) / 256.0)
    })
}

/// The result of a gathering fetch (`tld4`): one channel of four texels, counter-clockwise from the lower left (PTX ISA 9.7.10.4).
#[must_use]
pub fn gathered(
    texture: &Texture,
    sampler: &Sampler,
    footprint: &Footprint,
    words: &[[u32; 4]],
    channel: usize,
) -> Values {
    [2, 3, 1, 0].map(|corner| match (footprint.taps().get(corner), words.get(corner)) {
        (Some(tap), Some(words)) => value(texture, sampler, *tap, *words, channel),
        _ => 0,
    })
}

/// A floating-point value as a half.
#[must_use]
pub fn as_half(value: u32) -> u32 {
    narrow16(value)
}
