//! What becomes of the texels of a fetch: its result.

use super::blend::{Part, floats, fraction};
use super::{Footprint, Format, Meaning, Sampler, Tap, Texture};
use crate::alu::float::{NAN32, narrow16};

/// The four values of a fetch: integers, or floats by their bits.
pub type Values = [u32; 4];

/// The bits of a channel of the border colour, as a texel has them.
///
/// Integers that stay what they are get the bits of the colour's number, not its value; where they become fractions, the colour is
/// rounded to what a texel can hold (D-texture-border).
fn border(texture: &Texture, sampler: &Sampler, channel: usize) -> u32 {
    let (form, bits) = (texture.image.format.channel, sampler.border[channel % 4]);
    if !texture.normalises() {
        return bits;
    }
    let least = if form.meaning() == Meaning::Signed { -1.0 } else { 0.0 };
    let colour = f64::from(f32::from_bits(bits)).clamp(least, 1.0);
    // Conversions of Rust make 0 of what is no number.
    ((colour * f64::from(form.most()) + 0.5).floor() as i32).cast_unsigned()
}

/// The bits of a channel of a texel, as a register has them: integers extended, halves as floats.
fn raw(texture: &Texture, sampler: &Sampler, tap: Tap, words: [u32; 4], channel: usize) -> u32 {
    let format = texture.image.format;
    match (tap.texel, format.channel.meaning()) {
        (Some(_), _) => format.channel.widened(format.channels_of(words)[channel % 4]),
        (None, Meaning::Float) => sampler.border[channel % 4],
        (None, _) => format.channel.widened(border(texture, sampler, channel)),
    }
}

/// A value in single precision; no number has PTX's bits.
fn single(value: f64) -> u32 {
    let value = value as f32;
    if value.is_nan() { NAN32 } else { value.to_bits() }
}

/// A value of one texel that is taken as it is, without a filter.
fn value(texture: &Texture, sampler: &Sampler, tap: Tap, words: [u32; 4], channel: usize) -> u32 {
    let form = texture.image.format.channel;
    let bits = raw(texture, sampler, tap, words, channel);
    if !texture.normalises() {
        return bits;
    }
    let most = form.most().cast_signed();
    // Two integers stand for -1 (CUDA guide: read mode).
    single(f64::from(bits.cast_signed().max(-most)) / f64::from(most))
}

/// The result of a fetch: `words` are the bytes of its texels, in the order of its footprint. Channels that the format does not have
/// are 0 (D-texture-channels).
///
/// Without a filter the only texel is taken as it is. Texels without a weight have no part in a blend.
#[must_use]
pub fn filtered(texture: &Texture, sampler: &Sampler, footprint: &Footprint, words: &[[u32; 4]]) -> Values {
    let mut values = [0; 4];
    for (channel, to) in values.iter_mut().enumerate().take(texture.image.format.channels.into()) {
        *to = match (footprint.taps(), words) {
            ([tap, ..], [words, ..]) if !footprint.blends => value(texture, sampler, *tap, *words, channel),
            _ => blended(texture, sampler, footprint, words, channel),
        };
    }
    values
}

/// A channel of a blend.
fn blended(texture: &Texture, sampler: &Sampler, footprint: &Footprint, words: &[[u32; 4]], channel: usize) -> u32 {
    let form = texture.image.format.channel;
    let parts = footprint
        .taps()
        .iter()
        .zip(words)
        .map(|(tap, words)| Part { weight: tap.weight, number: raw(texture, sampler, *tap, *words, channel) });
    if form.meaning() == Meaning::Float {
        return single(floats(
            form,
            parts.map(|Part { weight, number }| Part { weight, number: f32::from_bits(number) }),
        ));
    }
    single(fraction(form, parts.map(|part| part.weight.cast_signed() * part.number.cast_signed()).sum()))
}

/// The result of a fetch between two levels of detail, each with its texels: so many 256ths of the second one, and the rest of the
/// first one, in double precision, rounded once.
#[must_use]
pub fn between(texture: &Texture, sampler: &Sampler, levels: [(&Footprint, &[[u32; 4]]); 2], second: u32) -> Values {
    let [near, far] = levels.map(|(footprint, words)| filtered(texture, sampler, footprint, words));
    let number = |bits: u32| f64::from(f32::from_bits(bits));
    let blend = |channel: usize| {
        f64::from(256 - second.min(256)) * number(near[channel]) + f64::from(second) * number(far[channel])
    };
    [0, 1, 2, 3].map(|channel| single(blend(channel) / 256.0))
}

/// The result of a gathering fetch (`tld4`): one channel of four texels, counter-clockwise from the lower left (PTX ISA 9.7.10.4).
/// Fractions go through the filter's 16 bits, so that those of 8 bits with a sign are not quite what a fetch of a texel gives.
#[must_use]
pub fn gathered(
    texture: &Texture,
    sampler: &Sampler,
    footprint: &Footprint,
    words: &[[u32; 4]],
    channel: usize,
) -> Values {
    let Format { channel: form, channels } = texture.image.format;
    [2, 3, 1, 0].map(|corner| match (footprint.taps().get(corner), words.get(corner)) {
        (Some(tap), Some(words)) if channel < channels.into() => {
            let bits = raw(texture, sampler, *tap, *words, channel);
            if texture.normalises() { single(fraction(form, 256 * bits.cast_signed())) } else { bits }
        }
        _ => 0,
    })
}

/// A floating-point value as a half.
#[must_use]
pub fn as_half(value: u32) -> u32 {
    narrow16(value)
}
