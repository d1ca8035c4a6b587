//! The contents of buffers: how a launch file describes them, and the bytes they become.

use super::npy::{self, NpyProblem};
use super::{Meaning, Scalar};
use crate::base::{complaints, counted, files};
use crate::verdict::Unwritten;
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What lies in memory that the host has left alone (D-uninit): no zero, which would look like an initial value.
pub(super) const LEFT_ALONE: u8 = 0xcd;

/// Where an array's elements come from.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// All bytes zero.
    Zeros,
    /// The same, because nothing was said: a flag without INIT.
    Assumed,
    /// Nothing: the host does not write it.
    Uninit,
    /// Other data, of which the host leaves out a range of elements.
    Partly {
        /// The data.
        rest: Box<Self>,
        /// The elements that are not written.
        uninit: Range<u64>,
    },
    /// 0, 1, 2 …; integer types wrap around, floats round.
    Iota,
    /// Pseudo-random numbers of a seed; see [`random`].
    Random(u64),
    /// Elements that were written out, as bytes.
    Values(Vec<u8>),
    /// Bytes that were written out.
    Hex(Vec<u8>),
    /// NumPy's array file.
    Npy(PathBuf),
    /// A file of nothing but the elements, little-endian.
    Raw(PathBuf),
}

complaints! {
    /// Why data cannot be had; `name` is that of the buffer.
    #[derive(Clone, PartialEq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what they are")]
    pub enum DataProblem(name: &str) {
        /// A file cannot be read, and why.
        Unreadable(path: PathBuf, cause: ErrorKind) =>
            "unreadable" ("`{name}`: cannot read `{}`: {}", path.display(), files::why(*cause)) ("for this")
            ("file names are relative to the launch file's folder");
        /// A file is no array of the type.
        Npy(path: PathBuf, problem: NpyProblem) =>
            "npy" ("`{name}`: cannot use `{}`: {problem}", path.display()) ("for this")
            if problem.advice().map(str::to_owned);
        /// The data is no whole number of elements: its size and the element type.
        Ragged(bytes: u64, ty: Scalar) =>
            "ragged" ("`{name}`: {bytes} bytes are no whole number of {} elements", ty.name()) ("here");
        /// There are so many elements where `len` says another number.
        Length { found: u64, wanted: u64 } =>
            "length" ("`{name}`: the data has {}, `len` says {wanted}", counted(*found, "element")) ("here");
        /// Zeros, a sequence or random numbers without a length.
        NoLength => "no-length" ("`{name}`: how many elements?") ("here") ("add `len`");
        /// Elements up to `to` are to be left out where there are `elements`.
        Beyond { to: u64, elements: u64 } =>
            "length" ("`uninit` of `{name}` ends at element {to}, and there are {elements}") ("here");
        /// More bytes than this computer can address.
        TooLarge => "too-large" ("`{name}` is larger than any address space") ("here");
    }
}

impl Data {
    /// The number of elements; `None` where only `len` says it. Reads files, to know their size.
    ///
    /// # Errors
    /// A file cannot be read or is no such array.
    pub fn elements(&self, ty: Scalar) -> Result<Option<u64>, DataProblem> {
        match self {
            _ if self.needs_length() => Ok(None),
            Self::Partly { rest, .. } => rest.elements(ty),
            _ => Ok(Some(self.bytes(ty, None)?.len() as u64 / u64::from(ty.bytes))),
        }
    }

    /// Whether the data has as many elements as `len` says, and none by itself.
    #[must_use]
    pub fn needs_length(&self) -> bool {
        match self {
            Self::Zeros | Self::Assumed | Self::Uninit | Self::Iota | Self::Random(_) => true,
            Self::Partly { rest, .. } => rest.needs_length(),
            Self::Values(_) | Self::Hex(_) | Self::Npy(_) | Self::Raw(_) => false,
        }
    }

    /// The bytes of a buffer of `bytes` that the host does not write, if any.
    #[must_use]
    pub fn unwritten(&self, ty: Scalar, bytes: u64) -> Option<Unwritten> {
        match self {
            Self::Assumed => Some(Unwritten { bytes: 0..bytes, assumed: true }),
            Self::Uninit => Some(Unwritten { bytes: 0..bytes, assumed: false }),
            Self::Partly { uninit, .. } => {
                let at = |n: u64| n.saturating_mul(ty.bytes.into()).min(bytes);
                Some(Unwritten { bytes: at(uninit.start)..at(uninit.end), assumed: false })
            }
            _ => None,
        }
    }

    /// The bytes of `len` elements of type `ty`, or of all that the data has.
    ///
    /// # Errors
    /// A file cannot be read, or there are more or fewer elements than `len`.
    pub fn bytes(&self, ty: Scalar, len: Option<u64>) -> Result<Vec<u8>, DataProblem> {
        let count = || usize::try_from(len.ok_or(DataProblem::NoLength)?).map_err(|_| DataProblem::TooLarge);
        let bytes = match self {
            Self::Zeros | Self::Assumed | Self::Uninit => {
                let byte = if *self == Self::Uninit { LEFT_ALONE } else { 0 };
                vec![byte; count()?.checked_mul(ty.size()).ok_or(DataProblem::TooLarge)?]
            }
            Self::Partly { rest, uninit } => {
                let mut bytes = rest.bytes(ty, len)?;
                let elements = (bytes.len() / ty.size()) as u64;
                let at = |n: u64| usize::try_from(n).ok()?.checked_mul(ty.size());
                let range = at(uninit.start).zip(at(uninit.end)).and_then(|(from, to)| bytes.get_mut(from..to));
                range.ok_or(DataProblem::Beyond { to: uninit.end, elements })?.fill(LEFT_ALONE);
                return Ok(bytes);
            }
            Self::Iota => return Ok(iota(ty, count()?)),
            Self::Random(seed) => return Ok(random(ty, *seed, count()?)),
            Self::Values(bytes) | Self::Hex(bytes) => bytes.clone(),
            Self::Npy(path) => {
                let file = file(path)?;
                npy::read(&file, ty).map_err(|p| DataProblem::Npy(path.clone(), p))?.to_vec()
            }
            Self::Raw(path) => file(path)?,
        };
        let (elements, rest) = (bytes.len() / ty.size(), bytes.len() % ty.size());
        if rest != 0 {
            return Err(DataProblem::Ragged(bytes.len() as u64, ty));
        }
        match len {
            Some(wanted) if wanted != elements as u64 => Err(DataProblem::Length { found: elements as u64, wanted }),
            _ => Ok(bytes),
        }
    }
}

fn file(path: &Path) -> Result<Vec<u8>, DataProblem> {
    files::read(path).map_err(|e| DataProblem::Unreadable(path.to_owned(), e.kind()))
}

#[expect(clippy::cast_precision_loss, reason = "a float sequence rounds")]
fn iota(ty: Scalar, count: usize) -> Vec<u8> {
    fill(ty, count, |i| if ty.is_float() { ty.nearest(i as f64) } else { i })
}

/// Pseudo-random elements, the same on every computer and in every version of this format.
///
/// The generator is ChaCha with 8 rounds; its key is the seed as eight little-endian bytes and 24 zeros. An element of up
/// to four bytes takes one 32-bit word of the stream, one of eight bytes takes two, low word first. Integers and bits are
/// the low bytes of that, so the full range is equally likely. Floats are uniform in [0, 1): the high 11 (`f16`), 8
/// (`bf16`), 24 (`f32`) or 53 (`f64`) bits as a fraction.
#[must_use]
pub fn random(ty: Scalar, seed: u64, count: usize) -> Vec<u8> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut stream = ChaCha8Rng::from_seed(key);
    let fraction = |word: u32, bits: u32| f64::from(word >> (32 - bits)) / f64::from(1u32 << bits);
    fill(ty, count, |_| match (ty.meaning, ty.bytes) {
        (Meaning::Brain, _) => ty.nearest(fraction(stream.next_u32(), 8)),
        (Meaning::Float, 2) => ty.nearest(fraction(stream.next_u32(), 11)),
        (Meaning::Float, 4) => ty.nearest(fraction(stream.next_u32(), 24)),
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        (Meaning::Float, _) => ty.nearest((stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64),
        (_, 8) => stream.next_u64(),
        _ => stream.next_u32().into(),
    })
}

fn fill(ty: Scalar, count: usize, mut element: impl FnMut(u64) -> u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(count.saturating_mul(ty.size()));
    for i in 0..count as u64 {
        bytes.extend_from_slice(&element(i).to_le_bytes()[..ty.size()]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(name: &str) -> Scalar {
        Scalar::named(name).unwrap()
    }

    #[test]
    fn sequences_wrap_and_round() {
        assert_eq!(Data::Iota.bytes(ty("u8"), Some(258)).unwrap()[255..], [255, 0, 1]);
        assert_eq!(Data::Iota.bytes(ty("f32"), Some(3)).unwrap()[8..], 2f32.to_le_bytes());
        assert_eq!(Data::Iota.bytes(ty("f32"), None), Err(DataProblem::NoLength));
    }

    #[test]
    fn what_is_left_out_is_no_zero() {
        let part = |from, to| Data::Partly { rest: Box::new(Data::Iota), uninit: from..to };
        assert_eq!(part(1, 3).bytes(ty("u8"), Some(4)), Ok(vec![0, LEFT_ALONE, LEFT_ALONE, 3]));
        assert_eq!(part(1, 5).bytes(ty("u8"), Some(4)), Err(DataProblem::Beyond { to: 5, elements: 4 }));
        assert_eq!(part(1, 3).unwritten(ty("u32"), 16).map(|u| u.bytes), Some(4..12));
        assert_eq!(Data::Uninit.bytes(ty("u16"), Some(1)), Ok(vec![LEFT_ALONE; 2]));
        assert!(part(0, 1).needs_length() && !Data::Hex(Vec::new()).needs_length());
    }

    #[test]
    fn lengths_must_agree() {
        let data = Data::Hex(vec![0; 6]);
        assert_eq!(data.elements(ty("u16")), Ok(Some(3)));
        assert_eq!(data.bytes(ty("u16"), Some(4)), Err(DataProblem::Length { found: 3, wanted: 4 }));
        assert_eq!(data.bytes(ty("u32"), None), Err(DataProblem::Ragged(6, ty("u32"))));
    }

    #[test]
    fn the_random_stream_is_fixed() {
        // A change of these numbers changes every launch file's inputs.
        let words: Vec<u32> =
            random(ty("u32"), 7, 3).chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        assert_eq!(words, [742_701_683, 3_281_823_346, 3_936_197_989]);
        for name in ["f16", "bf16", "f32", "f64"] {
            let bytes = random(ty(name), 1, 1000);
            let values: Vec<f64> = bytes.chunks(ty(name).size()).map(|c| ty(name).decode(c).real()).collect();
            assert!(values.iter().all(|v| (0.0..1.0).contains(v)), "{name}");
            let mean = values.iter().sum::<f64>() / 1000.0;
            assert!((mean - 0.5).abs() < 0.03, "{name}: {mean}");
        }
    }
}
