//! Results against expectations.

use super::{At, Data, Expect, ExpectStdout, ProblemKind, Scalar, Value};
use crate::base::sort;
use serde::{Serialize, Serializer};

/// How many differences a [`Mismatch`] keeps.
pub const SHOWN: usize = 10;

/// What a run left that is not as expected.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unexpected {
    /// Buffers that hold something else than expected.
    pub mismatches: Vec<Mismatch>,
    /// The first line of output that differs.
    pub output_mismatch: Option<OutputMismatch>,
    /// Why the caller's own code takes the results for wrong. Reports of commands have none.
    #[serde(skip)]
    pub refused: Option<String>,
}

impl Unexpected {
    /// Whether everything is as expected.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.mismatches.is_empty() && self.output_mismatch.is_none() && self.refused.is_none()
    }
}

/// A buffer or variable that holds something else than expected.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mismatch {
    /// The buffer or variable.
    pub name: String,
    /// Its element type.
    #[serde(rename = "type", serialize_with = "Scalar::as_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub ty: Scalar,
    /// How many elements differ.
    pub differing: u64,
    /// How many were compared.
    pub compared: u64,
    /// The largest absolute difference, over all elements where it is a number.
    #[serde(serialize_with = "largest")]
    #[cfg_attr(feature = "schema", schemars(with = "Value"))]
    pub largest: f64,
    /// The first differences, `SHOWN` at most.
    pub first: Vec<Difference>,
    /// The elements were compared in ascending order, so the indices are not the buffer's.
    #[serde(skip)]
    pub unordered: bool,
    /// Where it is expected.
    #[serde(skip)]
    pub at: At,
}

fn largest<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Value::F64(*number).serialize(serializer)
}

/// One element that differs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The element's index.
    pub index: u64,
    /// What was expected.
    pub expected: Value,
    /// What is there.
    pub got: Value,
}

/// `printf` wrote something else than expected: the first line that differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputMismatch {
    /// The line's number from 1 (after sorting, if `sorted`).
    pub line: u64,
    /// The expected line; absent when the output has more lines.
    pub expected: Option<String>,
    /// The line that was written; absent when it has fewer.
    pub got: Option<String>,
    /// Whether lines were sorted.
    #[serde(skip)]
    pub sorted: bool,
    /// Where it is expected.
    #[serde(skip)]
    pub at: At,
}

/// Compares the bytes of a buffer with what is expected of it; `None` when they agree.
///
/// # Errors
/// The expected data cannot be had, or it has another number of elements and `first` does not say how many count.
pub fn compare(name: &str, expect: &Expect, found: &[u8]) -> Result<Option<Mismatch>, ProblemKind> {
    let ty = expect.ty;
    let len = found.len() as u64 / u64::from(ty.bytes);
    let sized = matches!(expect.data, Data::Zeros | Data::Iota | Data::Random(_)).then_some(len);
    let data = |problem| ProblemKind::Data { name: name.to_owned(), problem };
    let mut wanted = expect.data.bytes(ty, sized).map_err(data)?;
    let expected = wanted.len() as u64 / u64::from(ty.bytes);
    let enough = expect.first.map_or(expected == len, |n| n <= expected && n <= len);
    if !enough {
        let (expected, first) = (expect.first.unwrap_or(0).max(expected), expect.first);
        return Err(ProblemKind::ExpectLength { name: name.to_owned(), expected, buffer: len, first });
    }
    let compared = usize::try_from(expect.first.unwrap_or(len)).unwrap_or(usize::MAX).saturating_mul(ty.size());
    let mut found = found.get(..compared).unwrap_or(found).to_vec();
    wanted.truncate(compared);
    if expect.unordered {
        (wanted, found) = (sort(ty, &wanted), sort(ty, &found));
    }
    let exact = matches!(expect.data, Data::Hex(_) | Data::Raw(_)) && expect.abs.is_none() && expect.rel.is_none();
    let mut mismatch = Mismatch {
        name: name.to_owned(),
        ty,
        differing: 0,
        compared: (compared / ty.size()) as u64,
        first: Vec::new(),
        largest: 0.0,
        unordered: expect.unordered,
        at: expect.at,
    };
    for (index, (e, g)) in (0..).zip(wanted.chunks_exact(ty.size()).zip(found.chunks_exact(ty.size()))) {
        if e == g {
            continue;
        }
        let (expected, got) = (ty.decode(e), ty.decode(g));
        if !exact && agree(expected, got, expect.abs.unwrap_or(0.0), expect.rel.unwrap_or(0.0)) {
            continue;
        }
        mismatch.differing += 1;
        mismatch.largest = mismatch.largest.max((got.real() - expected.real()).abs());
        if mismatch.first.len() < SHOWN {
            mismatch.first.push(Difference { index, expected, got });
        }
    }
    Ok((mismatch.differing > 0).then_some(mismatch))
}

/// Equal by value, or within `abs + rel * |expected|`. Integers that differ are compared exactly unless a tolerance is given.
fn agree(expected: Value, got: Value, abs: f64, rel: f64) -> bool {
    let (e, g) = (expected.real(), got.real());
    if e.is_nan() || g.is_nan() {
        return e.is_nan() && g.is_nan();
    }
    let float = matches!(expected, Value::F32(_) | Value::F64(_));
    // Equal 64-bit integers have equal bytes and never come here, though they may be equal as reals.
    (float && e == g) || ((abs > 0.0 || rel > 0.0) && (g - e).abs() <= abs + rel * e.abs())
}

fn sort(ty: Scalar, bytes: &[u8]) -> Vec<u8> {
    let mut elements: Vec<&[u8]> = bytes.chunks_exact(ty.size()).collect();
    sort::sort_by(&mut elements, |a, b| match (ty.decode(a), ty.decode(b)) {
        (Value::Signed(x), Value::Signed(y)) => x.cmp(&y),
        (Value::Unsigned(x) | Value::Bits(x, _), Value::Unsigned(y) | Value::Bits(y, _)) => x.cmp(&y),
        (x, y) => x.real().total_cmp(&y.real()),
    });
    elements.concat()
}

/// Compares what `printf` wrote with what is expected; `None` when they agree.
#[must_use]
pub fn compare_output(expect: &ExpectStdout, found: &[u8]) -> Option<OutputMismatch> {
    let found = String::from_utf8_lossy(found);
    let lines = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        if expect.sorted {
            sort::sort(&mut lines);
        }
        lines
    };
    let (wanted, found) = (lines(&expect.text), lines(&found));
    let line = (0..wanted.len().max(found.len())).find(|i| wanted.get(*i) != found.get(*i))?;
    let (expected, got) = (wanted.get(line).cloned(), found.get(line).cloned());
    Some(OutputMismatch { line: line as u64 + 1, expected, got, sorted: expect.sorted, at: expect.at })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    fn expect(values: &[f32]) -> Expect {
        let ty = Scalar::named("f32").unwrap();
        Expect { ty, data: Data::Values(f32s(values)), abs: None, rel: None, first: None, unordered: false, at: None }
    }

    #[test]
    fn values_and_bits_differ() {
        let (wanted, found) = ([0.0, f32::NAN, 1.0], f32s(&[-0.0, -f32::NAN, 1.0]));
        assert_eq!(compare("x", &expect(&wanted), &found), Ok(None));
        let bits = Expect { data: Data::Hex(f32s(&wanted)), ..expect(&[]) };
        assert_eq!(compare("x", &bits, &found).unwrap().unwrap().differing, 2);
    }

    #[test]
    fn tolerances_add() {
        let with = |abs, rel| Expect { abs, rel, ..expect(&[100.0, 0.0]) };
        let found = f32s(&[101.0, 0.5]);
        assert_eq!(compare("x", &with(Some(0.5), Some(0.005)), &found), Ok(None));
        let m = compare("x", &with(None, Some(0.02)), &found).unwrap().unwrap();
        assert_eq!((m.differing, m.first[0].index), (1, 1));
    }

    #[test]
    fn order_and_length() {
        let mut e = expect(&[3.0, 1.0, 2.0]);
        let found = f32s(&[1.0, 2.0, 3.0, 9.0]);
        assert!(matches!(compare("x", &e, &found), Err(ProblemKind::ExpectLength { expected: 3, buffer: 4, .. })));
        e.first = Some(3);
        assert_eq!(compare("x", &e, &found).unwrap().unwrap().differing, 3);
        e.unordered = true;
        assert_eq!(compare("x", &e, &found), Ok(None));
        e.first = Some(5);
        assert!(compare("x", &e, &found).is_err());
    }

    #[test]
    fn large_integers_are_exact() {
        let ty = Scalar::named("u64").unwrap();
        let e = Expect { ty, data: Data::Values((u64::MAX - 1).to_le_bytes().into()), ..expect(&[]) };
        assert!(compare("x", &e, &u64::MAX.to_le_bytes()).unwrap().is_some());
    }

    #[test]
    fn output_by_lines() {
        let e = |sorted| ExpectStdout { text: "b\na\n".into(), sorted, at: None };
        assert_eq!(compare_output(&e(true), b"a\nb\n"), None);
        assert_eq!(compare_output(&e(false), b"a\nb\n").map(|m| m.line), Some(1));
        let m = compare_output(&e(false), b"b\n").unwrap();
        assert_eq!((m.line, m.expected.as_deref(), m.got), (2, Some("a\n"), None));
    }
}
