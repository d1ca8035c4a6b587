//! The sections of ELF files that have fat binaries in them.

use super::FatbinError;
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, elf};

/// Where compilers put fat binaries: those of whole programs, and those that are linked further (`-rdc=true`).
const NAMES: [&[u8]; 2] = [b".nv_fatbin", b"__nv_relfatbin"];

/// The machine of NVIDIA's code.
const EM_CUDA: elf::Machine = elf::Machine(190);

/// Whether an ELF file begins here.
pub(super) fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(&elf::ELFMAG)
}

/// The contents of the sections that have fat binaries.
pub(super) fn sections(bytes: &[u8]) -> Result<Vec<&[u8]>, FatbinError> {
    if bytes.get(4) == Some(&elf::ELFCLASS32.0) {
        of::<elf::FileHeader32<Endianness>>(bytes)
    } else {
        of::<elf::FileHeader64<Endianness>>(bytes)
    }
    .ok_or(FatbinError::BadElf)
}

fn of<H: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let header = H::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let table = header.sections(endian, bytes).ok()?;
    let mut found = Vec::new();
    for section in table.iter() {
        let name = table.section_name(endian, section).ok()?;
        if NAMES.contains(&name) {
            found.push(section.data(endian, bytes).ok()?);
        }
    }
    Some(found)
}

/// The architecture of a file that is machine code for a GPU.
pub(super) fn machine(bytes: &[u8]) -> Option<u32> {
    let header = elf::FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    if header.e_machine(endian) != EM_CUDA {
        return None;
    }
    // Its flags have the architecture: in the second byte since CUDA 13, in the first one before.
    let flags = header.e_flags(endian).0;
    let of = |shift: u32| Some(flags >> shift & 0xff).filter(|arch| (20..=200).contains(arch));
    of(8).or(of(0))
}
