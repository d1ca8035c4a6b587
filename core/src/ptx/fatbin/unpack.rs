//! What is packed in an entry: LZ4 blocks of older compressors and of `-compress-mode speed`, Zstandard of newer ones.
//!
//! The length that an entry claims is not believed: LZ4 makes at most 255 bytes of one, and what Zstandard makes is taken as it
//! comes, up to the bound.

use super::numbers::{size_at, u32_at};
use super::{FatbinError, MOST};
use ruzstd::decoding::StreamingDecoder;
use std::borrow::Cow;
use std::io::Read;

const LZ4: usize = 0x2000;
const ZSTD: usize = 0x8000;

/// The body of an entry, unpacked; `left` is how much may still be, in all.
pub(super) fn unpack<'b>(
    head: &[u8],
    body: &'b [u8],
    offset: usize,
    left: &mut usize,
) -> Result<Cow<'b, [u8]>, FatbinError> {
    let cut = FatbinError::Cut { offset };
    let flags = size_at(head, 40).ok_or(cut.clone())?;
    let large = FatbinError::TooLarge { most: MOST };
    if flags & (LZ4 | ZSTD) == 0 {
        *left = left.checked_sub(body.len()).ok_or(large)?;
        return Ok(body.into());
    }
    let length = u32_at(head, 16).and_then(|n| usize::try_from(n).ok()).ok_or(cut.clone())?;
    let packed = body.get(..length).ok_or(cut.clone())?;
    let wanted = size_at(head, 56).ok_or(cut)?;
    if wanted > *left {
        return Err(large);
    }
    let (how, made) = if flags & LZ4 != 0 { ("LZ4", lz4(packed, wanted)) } else { ("Zstandard", zstd(packed, wanted)) };
    let made = made.filter(|made| made.len() == wanted).ok_or(FatbinError::Packed { offset, how })?;
    *left -= made.len();
    Ok(made.into())
}

fn lz4(packed: &[u8], wanted: usize) -> Option<Vec<u8>> {
    if wanted / 256 > packed.len() {
        return None;
    }
    lz4_flex::block::decompress(packed, wanted).ok()
}

fn zstd(packed: &[u8], wanted: usize) -> Option<Vec<u8>> {
    let decoder = StreamingDecoder::new(packed).ok()?;
    let mut made = Vec::new();
    decoder.take(wanted as u64 + 1).read_to_end(&mut made).ok()?;
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header that says how a body is packed, and what comes of it.
    fn head(flags: usize, packed: usize, wanted: u64) -> Vec<u8> {
        let mut head = vec![0; 64];
        head[16..20].copy_from_slice(&u32::try_from(packed).unwrap().to_le_bytes());
        head[40..48].copy_from_slice(&(flags as u64).to_le_bytes());
        head[56..64].copy_from_slice(&wanted.to_le_bytes());
        head
    }

    /// "abcd" sixteen times as one block of LZ4: four literals, a match of 55 bytes at distance 4, the last five as they are.
    const BLOCK: [u8; 14] = [0x4f, b'a', b'b', b'c', b'd', 4, 0, 36, 0x50, b'd', b'a', b'b', b'c', b'd'];

    #[test]
    fn what_is_claimed_is_not_believed() {
        let unpacked = |flags, packed: &[u8], length, wanted, mut left: usize| {
            unpack(&head(flags, length, wanted), packed, 7, &mut left).map(|made| (made.into_owned(), left))
        };
        assert_eq!(unpacked(0, b"plain", 0, 0, 9), Ok((b"plain".to_vec(), 4)));
        assert_eq!(unpacked(0, b"plain", 0, 0, 4), Err(FatbinError::TooLarge { most: MOST }));
        let (text, left) = unpacked(LZ4, &BLOCK, BLOCK.len(), 64, 100).unwrap();
        assert_eq!((text, left), (b"abcd".repeat(16), 36));
        for wanted in [0, 63, 65, 1 << 20] {
            assert_eq!(
                unpacked(LZ4, &BLOCK, BLOCK.len(), wanted, MOST),
                Err(FatbinError::Packed { offset: 7, how: "LZ4" })
            );
        }
        assert_eq!(unpacked(LZ4, &BLOCK, BLOCK.len(), u64::MAX, MOST), Err(FatbinError::TooLarge { most: MOST }));
        assert_eq!(unpacked(LZ4, &BLOCK, 99, 64, MOST), Err(FatbinError::Cut { offset: 7 }));
        let broken = FatbinError::Packed { offset: 7, how: "Zstandard" };
        assert_eq!(unpacked(ZSTD, b"no zstd", 7, 60, MOST), Err(broken));
    }
}
