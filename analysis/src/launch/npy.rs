//! NumPy's array files, version 1.0 to 3.0 (NEP 1): one array of plain numbers in C order, little-endian.

use super::{Meaning, Scalar};
use crate::base::phrases;

phrases! {
    /// Why a file cannot be used as an array.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what they are")]
    pub enum NpyProblem {
        /// It does not begin with NumPy's magic string.
        NotNpy => ("it does not begin as NumPy's files do");
        /// Its header cannot be read.
        Header => ("its header cannot be read");
        /// Big-endian numbers.
        BigEndian(descr: String) => ("its numbers are big-endian (`{descr}`)");
        /// Several dimensions in Fortran order.
        FortranOrder => ("its elements are in Fortran order");
        /// Elements of another type than wanted: NumPy's name of it.
        Type(descr: String, ty: Scalar) => ("its elements are `{descr}`, not {}", ty.name());
        /// The header promises so many bytes of data, and there are so many.
        Length { promised: u64, found: u64 } => ("it should have {promised} bytes of data and has {found}");
    }
}

impl NpyProblem {
    pub(super) const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Type(..) | Self::BigEndian(_) => {
                Some("save it with the right type: np.save(file, array.astype(...))")
            }
            Self::FortranOrder => Some("save np.ascontiguousarray(array)"),
            Self::NotNpy | Self::Header | Self::Length { .. } => None,
        }
    }
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// The data of an array file, in bytes, when its elements are of type `ty`. `bf16` has no NumPy type: `<u2` and `|V2`
/// are taken. Bits are taken from any type of the same size, `u8` also from `|b1`.
///
/// # Errors
/// The file is no array of such elements.
pub fn read(file: &[u8], ty: Scalar) -> Result<&[u8], NpyProblem> {
    let rest = file.strip_prefix(MAGIC).ok_or(NpyProblem::NotNpy)?;
    let (header, data) = split(rest).ok_or(NpyProblem::Header)?;
    let descr = field(header, "descr").and_then(quoted).ok_or(NpyProblem::Header)?;
    let fortran = field(header, "fortran_order").ok_or(NpyProblem::Header)?.starts_with("True");
    let shape = field(header, "shape").and_then(dimensions).ok_or(NpyProblem::Header)?;
    let (order, kind) = match descr.chars().next() {
        Some(c @ ('<' | '>' | '|' | '=')) => (c, &descr[1..]),
        _ => ('=', descr),
    };
    if order == '>' && !kind.ends_with('1') {
        return Err(NpyProblem::BigEndian(descr.to_owned()));
    }
    if fortran && shape.len() > 1 {
        return Err(NpyProblem::FortranOrder);
    }
    if !suits(kind, ty) {
        return Err(NpyProblem::Type(descr.to_owned(), ty));
    }
    let elements = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d)).ok_or(NpyProblem::Header)?;
    let promised = elements.checked_mul(ty.bytes.into()).ok_or(NpyProblem::Header)?;
    if promised == data.len() as u64 {
        Ok(data)
    } else {
        Err(NpyProblem::Length { promised, found: data.len() as u64 })
    }
}

/// An array file of one dimension with these elements.
#[must_use]
pub fn write(data: &[u8], ty: Scalar) -> Vec<u8> {
    let kind = match ty.meaning {
        Meaning::Unsigned | Meaning::Bits | Meaning::Brain => 'u',
        Meaning::Signed => 'i',
        Meaning::Float => 'f',
    };
    let order = if ty.bytes == 1 { '|' } else { '<' };
    let length = data.len() / ty.size();
    let mut header =
        format!("{{'descr': '{order}{kind}{}', 'fortran_order': False, 'shape': ({length},), }}", ty.bytes);
    // NEP 1: the data begins at a multiple of 64 bytes and the header ends in a line feed.
    let used = MAGIC.len() + 4 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', used.next_multiple_of(64) - used));
    header.push('\n');
    let size = u16::try_from(header.len()).unwrap_or(u16::MAX);
    [MAGIC, &[1, 0], &size.to_le_bytes(), header.as_bytes(), data].concat()
}

fn split(rest: &[u8]) -> Option<(&str, &[u8])> {
    let (version, rest) = rest.split_at_checked(2)?;
    let (size, rest) = match version[0] {
        1 => rest.split_first_chunk::<2>().map(|(n, r)| (usize::from(u16::from_le_bytes(*n)), r))?,
        2 | 3 => rest.split_first_chunk::<4>().map(|(n, r)| (u32::from_le_bytes(*n) as usize, r))?,
        _ => return None,
    };
    let (header, data) = rest.split_at_checked(size)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// The text after `'name':` in the header, a Python dictionary of three fields.
fn field<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let at = [format!("'{name}'"), format!("\"{name}\"")]
        .iter()
        .find_map(|k| header.find(k.as_str()).map(|p| p + k.len()))?;
    Some(header[at..].trim_start().strip_prefix(':')?.trim_start())
}

fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split(quote).next()
}

fn dimensions(text: &str) -> Option<Vec<u64>> {
    let inner = text.strip_prefix('(')?.split(')').next()?;
    inner.split(',').map(str::trim).filter(|d| !d.is_empty()).map(|d| d.trim_end_matches('L').parse().ok()).collect()
}

fn suits(kind: &str, ty: Scalar) -> bool {
    let Some(letter) = kind.chars().next() else { return false };
    let Ok(bytes) = kind[letter.len_utf8()..].parse::<u8>() else { return false };
    bytes == ty.bytes
        && match ty.meaning {
            Meaning::Unsigned => letter == 'u' || (letter == 'b' && bytes == 1),
            Meaning::Signed => letter == 'i',
            Meaning::Float => letter == 'f',
            Meaning::Brain => matches!(letter, 'u' | 'V'),
            Meaning::Bits => matches!(letter, 'u' | 'i' | 'f' | 'V' | 'b' | 'S'),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (name, ty) in super::super::SCALARS {
            let data: Vec<u8> = (0..ty.bytes * 3).collect();
            let file = write(&data, ty);
            assert_eq!((file.len() - data.len()) % 64, 0, "{name}");
            assert_eq!(read(&file, ty), Ok(&data[..]), "{name}");
        }
    }

    #[test]
    fn wrong_files_are_told_apart() {
        let (f32, s32) = (Scalar::named("f32").unwrap(), Scalar::named("s32").unwrap());
        let file = write(&[0; 8], f32);
        assert_eq!(read(b"\x7fELF", f32), Err(NpyProblem::NotNpy));
        assert_eq!(read(&file, s32), Err(NpyProblem::Type("<f4".into(), s32)));
        assert_eq!(read(&file[..file.len() - 1], f32), Err(NpyProblem::Length { promised: 8, found: 7 }));
        for cut in 6..64 {
            assert_eq!(read(&file[..cut], f32), Err(NpyProblem::Header), "{cut}");
        }
        let text = String::from_utf8_lossy(&file[10..64]).replace("<f4", ">f4");
        let big = [&file[..10], text.as_bytes(), &file[64..]].concat();
        assert_eq!(read(&big, f32), Err(NpyProblem::BigEndian(">f4".into())));
    }
}
