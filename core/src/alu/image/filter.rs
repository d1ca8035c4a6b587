//! What becomes of the texels of a fetch: its result.

use super::blend::{Part, floats, fraction};
use super::{Channel, Footprint, Format, Meaning, Sampler, Tap, Texture};
use crate::alu::float::{NAN32, narrow16};

/// The four values of a fetch: integers, or floats by their bits.
pub type Values = [u32; 4];

/// The bits of a channel of the border colour, as a texel has them.
///
/// Integers that stay what they are get the bits of the colour's number, not its value; where they become fractions, the colour is
/// rounded to what a texel can hold, ties towards 0. That of halves is cut off (D-texture-border).
fn border(texture: &Texture, sampler: &Sampler, channel: usize) -> u32 {
    let (form, bits) = (texture.image.format.channel, sampler.border[channel % 4]);
    if form == Channel::F16 {
        return cut(f32::from_bits(bits)).to_bits();
    }
    if !texture.normalises() {
        return bits;
    }
    let least = if form.meaning() == Meaning::Signed { -1.0 } else { 0.0 };
    // The product is one of single precision: 0.1 of 255 is 25.5.
    let colour = f32::from_bits(bits).clamp(least, 1.0);
    // Conversions of Rust make 0 of what is no number.
    let magnitude = (colour.abs() * form.most() as f32 - 0.5).ceil();
    (magnitude.copysign(colour) as i32).cast_unsigned()
}

/// A number cut off towards 0 to what a half can hold.
fn cut(number: f32) -> f32 {
    // The smallest half that is not a subnormal number, and the largest one.
    const ENDS: [f32; 2] = [6.103_515_6e-5, 65_504.0];
    let magnitude = number.abs().clamp(0.0, ENDS[1]);
    let kept = if magnitude < ENDS[0] {
        let least = ENDS[0] / 1024.0;
        (magnitude / least).trunc() * least
    } else {
        f32::from_bits(magnitude.to_bits() & !0x1fff)
    };
    kept.copysign(number)
}

/// The bits of a channel of a texel, as a register has them: integers extended, halves as floats.
fn raw(texture: &Texture, sampler: &Sampler, tap: Tap, words: [u32; 4], channel: usize) -> u32 {
    let format = texture.image.format;
    match (tap.texel, format.channel.meaning()) {
        (Some(_), _) => format.channel.widened(format.channels_of(words)[channel % 4]),
        (None, Meaning::Float) => border(texture, sampler, channel),
        (None, _) => format.channel.widened(border(texture, sampler, channel)),
    }
}

/// A value in single precision; no number has PTX's bits.
fn single(value: f64) -> u32 {
    let value = value as f32;
    if value.is_nan() { NAN32 } else { value.to_bits() }
}

/// The bits of what is no number where the filter makes it: all ones that a channel has.
const fn no_number(form: Channel) -> u32 {
    if matches!(form, Channel::F16) { NAN32 & !0x1fff } else { NAN32 }
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
        .map(|(tap, words)| (tap, if tap.reads { raw(texture, sampler, *tap, *words, channel) } else { 0 }))
        .map(|(tap, number)| Part { weight: tap.weight, number });
    if form.meaning() == Meaning::Float {
        let numbers = parts.map(|Part { weight, number }| Part { weight, number: f32::from_bits(number) });
        let blend = floats(form, numbers);
        return if blend.is_nan() { no_number(form) } else { single(blend) };
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
            match form {
                Channel::F16 if f32::from_bits(bits).is_nan() => no_number(form),
                _ if texture.normalises() => single(fraction(form, 256 * bits.cast_signed())),
                _ => bits,
            }
        }
        _ => 0,
    })
}

/// A floating-point value as a half.
#[must_use]
pub fn as_half(value: u32) -> u32 {
    narrow16(value)
}

#[cfg(test)]
mod tests {
    use super::{Channel, NAN32, cut, no_number};

    #[test]
    fn halves_that_are_no_numbers_have_fewer_bits() {
        assert_eq!([Channel::F16, Channel::F32].map(no_number), [0x7fff_e000, NAN32]);
    }

    /// As an H200 gave it of borders.
    #[test]
    fn halves_of_borders_are_cut_off() {
        assert_eq!([0.1, -0.3, 8_388_735.0, -131_071.0].map(cut), [0.099_975_586, -0.299_804_7, 65_504.0, -65_504.0]);
        assert_eq!([1e-7, -9e-8, 1e-40].map(cut), [5.960_464_5e-8, -5.960_464_5e-8, 0.0]);
        assert!(cut(f32::NAN).is_nan());
    }
}
