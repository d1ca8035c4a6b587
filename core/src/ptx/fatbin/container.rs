//! Containers: a header of 16 bytes, then entries, each with a header that says its kind and length.
//!
//! | of an entry's header | what |
//! |---|---|
//! | 0, 2 bytes | the kind: 1 PTX, 2 machine code, 8 code for the linker, 256 several entries packed together |
//! | 4, 4 bytes | bytes of the header |
//! | 8, 8 bytes | bytes of what follows it, padded |
//! | 16, 4 bytes | bytes of that when it is packed, without padding |
//! | 28, 4 bytes | the architecture |
//! | 40, 8 bytes | flags: 0x2000 packed by LZ4, 0x8000 by Zstandard |
//! | 56, 8 bytes | bytes when it is unpacked |
//!
//! Entries that are packed together have their headers behind that of the pack, from byte 72 on, 80 bytes each; byte 4 of these
//! is where the entry begins in what is unpacked. All numbers are little-endian.

use super::numbers::{size_at, u16_at, u32_at};
use super::unpack::unpack;
use super::{Container, Entry, FatbinError};

/// How a container begins.
const MAGIC: u32 = 0xba55_ed50;
/// Bytes of a container's header.
const HEADER: usize = 16;
/// Bytes of an entry's header at least.
const LEAST: usize = 64;
/// Where headers in that of a pack begin, and how long each is.
const PACKED: (usize, usize) = (72, 80);

/// PTX.
const PTX: u16 = 1;
/// Machine code.
const MACHINE: u16 = 2;
/// Code for the linker.
pub(super) const LINKED: u16 = 8;
/// Several entries packed together.
const PACK: u16 = 256;

/// Whether a container begins here.
pub(super) fn is_container(bytes: &[u8]) -> bool {
    u32_at(bytes, 0) == Some(MAGIC)
}

/// The containers that stand one after the other, with zeros between them; `left` is how much may still be unpacked.
pub(super) fn all(bytes: &[u8], left: &mut usize) -> Result<Vec<Container>, FatbinError> {
    let (mut found, mut at) = (Vec::new(), 0);
    loop {
        at += bytes.get(at..).unwrap_or(&[]).iter().take_while(|byte| **byte == 0).count();
        let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else { return Ok(found) };
        if !is_container(rest) {
            return Err(FatbinError::NoContainer { offset: at });
        }
        let cut = FatbinError::Cut { offset: at };
        let version = u16_at(rest, 4).ok_or(cut.clone())?;
        if version != 1 {
            return Err(FatbinError::Version { version });
        }
        let header = usize::from(u16_at(rest, 6).ok_or(cut.clone())?).max(HEADER);
        let length = size_at(rest, 8).and_then(|n| n.checked_add(header)).ok_or(cut.clone())?;
        let inside = rest.get(header..length).ok_or(cut)?;
        found.push(container(inside, at + header, left)?);
        at += length;
    }
}

/// The entries of a container that begin at a byte of the file.
fn container(bytes: &[u8], begins: usize, left: &mut usize) -> Result<Container, FatbinError> {
    let (mut found, mut at) = (Container::default(), 0);
    while at < bytes.len() {
        let (rest, offset) = (&bytes[at..], begins + at);
        let cut = || FatbinError::Cut { offset };
        let header = u32_at(rest, 4).and_then(|n| usize::try_from(n).ok()).ok_or_else(cut)?;
        let padded = size_at(rest, 8).ok_or_else(cut)?;
        let end = header.checked_add(padded).ok_or_else(cut)?;
        if header < LEAST {
            return Err(FatbinError::NoContainer { offset });
        }
        let (head, body) = rest.get(..end).ok_or_else(cut)?.split_at(header);
        entry(head, body, offset, left, &mut found)?;
        at += end;
    }
    Ok(found)
}

/// Adds an entry to those of a container.
fn entry(head: &[u8], body: &[u8], offset: usize, left: &mut usize, found: &mut Container) -> Result<(), FatbinError> {
    let cut = || FatbinError::Cut { offset };
    let kind = u16_at(head, 0).ok_or_else(cut)?;
    let arch = u32_at(head, 28).ok_or_else(cut)?;
    match kind {
        PTX => {
            let text = unpack(head, body, offset, left)?;
            found.ptx.push(Entry { arch, text: text_of(&text, offset)? });
        }
        MACHINE => found.machine.push(arch),
        PACK => {
            let bytes = unpack(head, body, offset, left)?;
            for own in head.get(PACKED.0..).unwrap_or(&[]).chunks_exact(PACKED.1) {
                let start = u32_at(own, 4).and_then(|n| usize::try_from(n).ok()).ok_or_else(cut)?;
                let length = u32_at(own, 8).and_then(|n| usize::try_from(n).ok()).ok_or_else(cut)?;
                let end = start.checked_add(length).ok_or_else(cut)?;
                let inside = bytes.get(start..end).ok_or_else(cut)?;
                match (u16_at(own, 0), u32_at(own, 28)) {
                    (Some(PTX), Some(arch)) => {
                        *left = left.checked_sub(inside.len()).ok_or(FatbinError::TooLarge { most: super::MOST })?;
                        found.ptx.push(Entry { arch, text: text_of(inside, offset)? });
                    }
                    (Some(MACHINE), Some(arch)) => found.machine.push(arch),
                    (kind, _) => found.others.push(kind.unwrap_or(0)),
                }
            }
        }
        other => found.others.push(other),
    }
    Ok(())
}

/// PTX is padded with zeros.
fn text_of(bytes: &[u8], offset: usize) -> Result<String, FatbinError> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8(bytes[..end].to_vec()).map_err(|_| FatbinError::NoText { offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A container with one entry of a kind.
    fn made(kind: u16, body: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut head = vec![0; LEAST];
        head[0..2].copy_from_slice(&kind.to_le_bytes());
        head[4..8].copy_from_slice(&64u32.to_le_bytes());
        head[8..16].copy_from_slice(&(body.len() as u64).to_le_bytes());
        head[28..32].copy_from_slice(&80u32.to_le_bytes());
        head.extend(body);
        let mut all = MAGIC.to_le_bytes().to_vec();
        all.extend([1, 0, 16, 0]);
        all.extend((head.len() as u64).to_le_bytes());
        all.extend(head);
        change(&mut all);
        all
    }

    fn read(bytes: &[u8]) -> Result<Vec<Container>, FatbinError> {
        all(bytes, &mut super::super::MOST.clone())
    }

    #[test]
    fn entries_are_told_by_their_kinds() {
        let text = Entry { arch: 80, text: ".version".into() };
        let ptx = made(PTX, b".version\0\0", |_| ());
        assert_eq!(read(&ptx).unwrap()[0].ptx, [text]);
        assert_eq!(read(&made(MACHINE, b"\x7fELF", |_| ())).unwrap()[0].machine, [80]);
        assert_eq!(read(&made(LINKED, b"x", |_| ())).unwrap()[0].others, [LINKED]);
        // Several stand one after the other, aligned.
        let two = [&ptx[..], &[0; 6], &ptx].concat();
        assert_eq!(read(&two).unwrap().len(), 2);
        assert_eq!(read(&[0; 32]), Ok(Vec::new()));
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        let lies = |at: usize, with: &[u8]| {
            let with = with.to_vec();
            read(&made(PTX, b".version", move |all| all[at..at + with.len()].copy_from_slice(&with)))
        };
        assert_eq!(lies(8, &[0xff; 8]), Err(FatbinError::Cut { offset: 0 }));
        assert_eq!(lies(24, &[0xff; 8]), Err(FatbinError::Cut { offset: 16 }));
        assert_eq!(lies(20, &[0xff; 4]), Err(FatbinError::Cut { offset: 16 }));
        // A header of no length would be read for ever.
        assert_eq!(lies(20, &[0; 4]), Err(FatbinError::NoContainer { offset: 16 }));
        assert_eq!(lies(4, &[2]), Err(FatbinError::Version { version: 2 }));
        assert_eq!(lies(0, &[0x51]), Err(FatbinError::NoContainer { offset: 0 }));
        assert_eq!(lies(80, &[0xff]), Err(FatbinError::NoText { offset: 16 }));
    }
}
