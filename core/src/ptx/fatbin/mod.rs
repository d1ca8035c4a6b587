//! PTX out of what nvcc makes besides PTX: fat binaries, objects, executables.
//!
//! A fat binary is a container with an entry for each architecture: PTX, machine code, code for the linker. Objects and
//! executables have containers in sections of ELF, one for each source file. NVIDIA describes neither form; what is read here
//! is what nvcc 13.5 writes (`tests/fatbin/make.sh`), with LZ4 for older compressors. What is read may come from anybody:
//! every length is checked against what there is, and what is unpacked is bounded ([`MOST`]).

mod container;
mod error;
mod numbers;
mod sections;
mod unpack;

use crate::base::sort;
pub use error::FatbinError;

/// Bytes of PTX of a file at most, unpacked.
pub const MOST: usize = 1 << 28;

/// PTX for an architecture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// E.g. 80 for sm_80.
    pub arch: u32,
    /// The text.
    pub text: String,
}

/// A container: what came of one source file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Container {
    /// PTX, in the order of the file.
    pub ptx: Vec<Entry>,
    /// Architectures for which there is machine code.
    pub machine: Vec<u32>,
    /// Kinds of other entries.
    pub others: Vec<u16>,
}

/// What a file has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fatbin {
    /// The containers, in the order of the file.
    pub containers: Vec<Container>,
}

/// Whether a file begins as one that is read here.
#[must_use]
pub fn is_binary(bytes: &[u8]) -> bool {
    sections::is_elf(bytes) || container::is_container(bytes)
}

impl Fatbin {
    /// Reads a fat binary, a cubin, an object or an executable.
    ///
    /// # Errors
    /// It is damaged, or of a form that is not known.
    pub fn read(bytes: &[u8]) -> Result<Self, FatbinError> {
        let mut left = MOST;
        if !sections::is_elf(bytes) {
            return Ok(Self { containers: container::all(bytes, &mut left)? });
        }
        let mut containers = Vec::new();
        for section in sections::sections(bytes)? {
            containers.extend(container::all(section, &mut left)?);
        }
        // Machine code alone is an ELF file of its own, without containers.
        match sections::machine(bytes) {
            Some(arch) if containers.is_empty() => {
                containers.push(Container { machine: vec![arch], ..Container::default() })
            }
            _ => {}
        }
        Ok(Self { containers })
    }

    /// The PTX of each container that has some: for one architecture, or else the highest up to `most`.
    ///
    /// # Errors
    /// There is none.
    pub fn choose(&self, arch: Option<u32>, most: u32) -> Result<Vec<&Entry>, FatbinError> {
        let fits = |entry: &&Entry| arch.map_or(entry.arch <= most, |arch| entry.arch == arch);
        let best = |container: &&Container| !container.ptx.is_empty();
        let full: Vec<&Container> = self.containers.iter().filter(best).collect();
        let chosen: Vec<&Entry> =
            full.iter().filter_map(|c| c.ptx.iter().filter(fits).max_by_key(|entry| entry.arch)).collect();
        // A module that is left out would be missed later, under another name.
        if !chosen.is_empty() && chosen.len() == full.len() {
            return Ok(chosen);
        }
        let ptx = self.archs(|c| c.ptx.iter().map(|entry| entry.arch).collect());
        if !ptx.is_empty() {
            return Err(FatbinError::OtherArch { wanted: arch, most, ptx });
        }
        let machine = self.archs(|c| c.machine.clone());
        let linked = self.containers.iter().any(|c| c.others.contains(&container::LINKED));
        Err(match (machine.is_empty(), linked) {
            (false, _) => FatbinError::MachineOnly { archs: machine },
            (true, true) => FatbinError::LinkOnly,
            (true, false) => FatbinError::Nothing,
        })
    }

    fn archs(&self, of: impl Fn(&Container) -> Vec<u32>) -> Vec<u32> {
        let mut all: Vec<u32> = self.containers.iter().flat_map(of).collect();
        sort::sort(&mut all);
        all.dedup();
        all
    }

    /// Architectures for which there is PTX, and those for which there is machine code, each in ascending order.
    #[must_use]
    pub fn architectures(&self) -> (Vec<u32>, Vec<u32>) {
        (self.archs(|c| c.ptx.iter().map(|entry| entry.arch).collect()), self.archs(|c| c.machine.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(arch: u32) -> Entry {
        Entry { arch, text: String::new() }
    }

    fn of(all: &[&[u32]]) -> Fatbin {
        let container =
            |archs: &&[u32]| Container { ptx: archs.iter().map(|a| entry(*a)).collect(), ..Container::default() };
        Fatbin { containers: all.iter().map(container).collect() }
    }

    fn chosen(fatbin: &Fatbin, arch: Option<u32>) -> Result<Vec<u32>, FatbinError> {
        fatbin.choose(arch, 121).map(|all| all.iter().map(|entry| entry.arch).collect())
    }

    #[test]
    fn the_highest_that_is_known_is_taken_of_each_container() {
        let two = of(&[&[80, 130, 90], &[], &[75, 90]]);
        assert_eq!(chosen(&two, None), Ok(vec![90, 90]));
        assert_eq!(chosen(&of(&[&[80]]), Some(80)), Ok(vec![80]));
        // One of the modules would be missing.
        let other = FatbinError::OtherArch { wanted: Some(80), most: 121, ptx: vec![75, 80, 90, 130] };
        assert_eq!(chosen(&two, Some(80)), Err(other));
        assert!(matches!(chosen(&of(&[&[130]]), None), Err(FatbinError::OtherArch { wanted: None, .. })));
    }

    #[test]
    fn why_there_is_none_is_told() {
        let of = |machine: &[u32], others: &[u16]| Fatbin {
            containers: vec![Container { machine: machine.to_vec(), others: others.to_vec(), ..Container::default() }],
        };
        assert_eq!(chosen(&of(&[90, 80, 90], &[]), None), Err(FatbinError::MachineOnly { archs: vec![80, 90] }));
        assert_eq!(chosen(&of(&[], &[container::LINKED]), None), Err(FatbinError::LinkOnly));
        assert_eq!(chosen(&Fatbin::default(), None), Err(FatbinError::Nothing));
    }
}
