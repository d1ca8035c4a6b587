//! Levels of detail: which of them a fetch reads (PTX ISA 9.7.10.3: `.level`; CUDA guide and reference: mipmapped arrays).

use super::Filter;

/// The level that a fetch reads, and the one behind it that it blends with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blend {
    /// The finer level.
    pub level: u32,
    /// How much of the next one is taken, in 256ths.
    pub second: u32,
}

/// The levels of a detail, of a texture that has so many. No number counts as 0.
///
/// Without a filter it is the nearest level, with one the two around it, whose weights have eight bits behind the point; both are rounded to nearest, ties
/// up (D-texture-levels).
#[must_use]
pub fn blend(levels: u32, filter: Filter, detail: f32) -> Blend {
    let last = levels.saturating_sub(1);
    let detail = if detail.is_nan() { 0.0 } else { f64::from(detail).clamp(0.0, f64::from(last)) };
    if filter == Filter::Point {
        return Blend { level: ((detail + 0.5).floor() as u32).min(last), second: 0 };
    }
    let level = detail.floor();
    let second = ((detail - level) * 256.0 + 0.5).floor() as u32;
    if second == 256 { Blend { level: level as u32 + 1, second: 0 } } else { Blend { level: level as u32, second } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_levels_and_what_lies_between() {
        let point = |detail| blend(4, Filter::Point, detail).level;
        assert_eq!([-1.0, 0.49, 0.5, 1.49, 2.5, 99.0, f32::NAN].map(point), [0, 0, 1, 1, 3, 3, 0]);
        let linear = |detail| {
            let Blend { level, second } = blend(4, Filter::Linear, detail);
            (level, second)
        };
        assert_eq!([0.0, 0.25, 1.5, 2.999, 3.0, 7.0].map(linear), [(0, 0), (0, 64), (1, 128), (3, 0), (3, 0), (3, 0)]);
    }
}
