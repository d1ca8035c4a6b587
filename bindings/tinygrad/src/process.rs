//! This process's own memory by address: what kernels may access of it, and how it is read and written.
//!
//! An address that a kernel computes may be any number, and what lies there may go while the kernel runs. Rust's references promise
//! that memory stays and that nobody else writes to it, which nobody can promise here. So none are made, and no pointer is followed:
//! bytes are copied out and in by the operating system, which answers with an error where nothing is mapped. What is read comes from
//! `/proc/self/mem`. It may be torn where another thread writes at that time; bytes have no invalid values, and no length or address is
//! taken from them without being checked.
//!
//! What is written is what a kernel has written: where allocations are registered, that is inside of one of them; where they are
//! not, a kernel with a wrong address may write to anything that the process itself may write to, as it may on an emulator that
//! follows pointers. Mappings that may only be read are looked up in `/proc/self/maps`, and the call that writes refuses them once more,
//! since what was looked up is kept from launch to launch.
//!
//! There are two calls with `unsafe`, both of which have no memory but this process's to work on: [`written`] gives the operating system
//! slices to copy from, and addresses that it checks; [`reserve`] takes the addresses by which the machine means shared, local and
//! parameter memory, so that nothing else of the process can ever lie there.

use crate::outcome::Failure;
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, OnceLock, PoisonError};
use warpstep::program::env::AddressMap;
use warpstep::{HostMemory, HostRange};

/// How far from a mapped range an address may be for a message to name that range.
const CLOSE: u64 = 1 << 20;
/// The same of an allocation.
const CLOSE_ALLOCATION: u64 = 1 << 40;
/// Parts that are written by one call at most; the operating system takes up to 1,024.
const TOGETHER: usize = 64;

/// Allocations that were registered. `None`: nobody has registered any.
static ALLOCATIONS: Mutex<Option<BTreeMap<u64, u64>>> = Mutex::new(None);

/// The allocations that kernels may access.
pub struct Allocations;

impl Allocations {
    /// Looks at them. That a thread panicked while it did the same changes nothing about them.
    fn with<T>(f: impl FnOnce(&mut Option<BTreeMap<u64, u64>>) -> T) -> T {
        f(&mut ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// One more: `bytes` at an address, in place of those that it overlaps. False: none can be there.
    pub fn register(address: u64, bytes: u64) -> bool {
        let Some(end) = address.checked_add(bytes).filter(|_| address != 0) else { return false };
        Self::with(|all| {
            let all = all.get_or_insert_default();
            all.retain(|start, bytes| *start + *bytes <= address || *start >= end);
            all.insert(address, bytes);
        });
        true
    }

    /// One less. False: it is none.
    pub fn unregister(address: u64) -> bool {
        Self::with(|all| all.as_mut().is_some_and(|all| all.remove(&address).is_some()))
    }

    /// The one that an address lies in, or else is closest to. `None`: none is registered, and mappings decide.
    fn closest(address: u64) -> Option<Option<HostRange>> {
        Self::with(|all| {
            let all = all.as_ref()?;
            // Empty ones say nothing.
            let full = |found: &(&u64, &u64)| *found.1 != 0;
            let sides = [all.range(..=address).rfind(full), all.range(address..).find(full)].into_iter().flatten();
            let ranges = sides.map(|(start, bytes)| *start..*start + *bytes);
            let near = ranges.filter(|r| distance(r, address) < CLOSE_ALLOCATION).min_by_key(|r| distance(r, address));
            Some(near.map(|addresses| HostRange { name: format!("{:#x}", addresses.start), addresses, writable: true }))
        })
    }
}

/// How far an address is from a range: 0 inside.
const fn distance(range: &Range<u64>, address: u64) -> u64 {
    if address < range.start { range.start - address } else { (address + 1).saturating_sub(range.end) }
}

/// The mapped ranges by ascending address, as they were when somebody looked last.
static MAPPED: Mutex<Vec<HostRange>> = Mutex::new(Vec::new());

/// The memory of this process, for one launch.
pub struct Process {
    /// Opened anew for each launch: after a fork, the file of before is the memory of another process.
    memory: File,
}

impl Process {
    /// Opens it.
    ///
    /// # Errors
    /// This is no Linux, or it does not let the process look at itself; something lies where the machine has its own addresses.
    pub fn open() -> Result<Self, Failure> {
        static RESERVED: OnceLock<bool> = OnceLock::new();
        if !RESERVED.get_or_init(reserve) {
            return Err(Failure::input(
                "the process has memory at addresses that are the machine's own, from 0x100000000 on",
            ));
        }
        let memory = File::options().read(true).write(true).open("/proc/self/mem");
        let memory = memory.map_err(|e| Failure::input(format!("/proc/self/mem cannot be opened: {e}")))?;
        Ok(Self { memory })
    }
}

/// The mapped range that an address lies in, or else is closest to: as it was when somebody looked last if that is `right`, or else as
/// it is now.
fn mapped(address: u64, right: impl Fn(&HostRange) -> bool) -> Option<HostRange> {
    let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    let find = |mapped: &[HostRange]| {
        let k = mapped.partition_point(|r| r.addresses.start <= address);
        let sides = [k.checked_sub(1).and_then(|k| mapped.get(k)), mapped.get(k)].into_iter().flatten();
        sides.min_by_key(|r| distance(&r.addresses, address)).cloned()
    };
    if let Some(range) = find(&mapped).filter(&right) {
        return Some(range);
    }
    *mapped = mappings();
    find(&mapped)
}

impl HostMemory for Process {
    fn range(&self, address: u64) -> Option<HostRange> {
        let found = Allocations::closest(address).unwrap_or_else(|| {
            // What may only be read now may have been made writable since.
            mapped(address, |r| r.addresses.contains(&address) && r.writable)
        });
        found.filter(|r| r.addresses.contains(&address))
    }

    fn closest(&self, address: u64) -> Option<HostRange> {
        Allocations::closest(address)
            .unwrap_or_else(|| mapped(address, |_| false).filter(|r| distance(&r.addresses, address) < CLOSE))
    }

    fn read(&self, address: u64, to: &mut [u8]) -> bool {
        let right = self.memory.read_exact_at(to, address).is_ok();
        if !right {
            // It was not what was there.
            MAPPED.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        right
    }

    fn write(&self, address: u64, from: &[u8]) -> bool {
        match written(&[(address, from)]) {
            Ok(count) => count == from.len(),
            // The call is not allowed in some containers. The file can do what it can, and more: it does not mind who may write.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => {
                let writable = mapped(address, |_| false).is_some_and(|r| r.addresses.contains(&address) && r.writable);
                writable && self.memory.write_all_at(from, address).is_ok()
            }
            Err(_) => false,
        }
    }

    fn write_all(&self, parts: &[(u64, &[u8])]) -> usize {
        let mut done = 0;
        for some in parts.chunks(TOGETHER) {
            // What cannot be written at once is tried alone: the call is not allowed, or one of them cannot be written.
            let all = written(some).is_ok_and(|count| count == some.iter().map(|(_, from)| from.len()).sum::<usize>());
            let count =
                if all { some.len() } else { some.iter().take_while(|(at, from)| self.write(*at, from)).count() };
            done += count;
            if count < some.len() {
                break;
            }
        }
        done
    }
}

/// Has the operating system copy bytes to addresses of this process, [`TOGETHER`] of them at most; gives how many bytes it copied.
fn written(parts: &[(u64, &[u8])]) -> std::io::Result<usize> {
    let part = |at: *mut libc::c_void, from: &[u8]| libc::iovec { iov_base: at, iov_len: from.len() };
    let local: Vec<_> = parts.iter().map(|(_, from)| part(from.as_ptr().cast_mut().cast(), from)).collect();
    let remote: Vec<_> =
        parts.iter().map(|(at, from)| part(std::ptr::without_provenance_mut(*at as usize), from)).collect();
    let (pid, count) = (libc::pid_t::try_from(std::process::id()).unwrap_or(0), parts.len() as libc::c_ulong);
    // SAFETY: `local` is slices, which are only read. Whether `remote` is memory that may be written is checked by the call.
    #[expect(unsafe_code, reason = "the standard library has no such call")]
    let copied = unsafe { libc::process_vm_writev(pid, local.as_ptr(), count, remote.as_ptr(), count, 0) };
    usize::try_from(copied).map_err(|_| std::io::Error::last_os_error())
}

/// The ranges of `/proc/self/maps` that may be read and that a pointer can lead to.
fn mappings() -> Vec<HostRange> {
    let text = std::fs::read("/proc/self/maps").unwrap_or_default();
    // Names of files need not be UTF-8.
    String::from_utf8_lossy(&text).lines().filter_map(mapping).collect()
}

/// A line of it: `start-end rwxp offset device inode name`.
fn mapping(line: &str) -> Option<HostRange> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let addresses = u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?;
    let access = fields.next()?.as_bytes();
    let name = fields.nth(3).unwrap_or("").trim().to_owned();
    // What lies above is the kernel's.
    let usable = access.first() == Some(&b'r') && addresses.end >> 47 == 0;
    usable.then(|| HostRange { name, addresses, writable: access.get(1) == Some(&b'w') })
}

/// Takes the addresses by which the machine means memory that is not global, so that nothing of this process can lie there.
/// False: something does.
fn reserve() -> bool {
    let map = AddressMap::of(64);
    [map.shared, map.local, map.param, map.code].into_iter().all(|window| {
        let (at, bytes) = (std::ptr::without_provenance_mut(window as usize), map.window as usize);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: it replaces no mapping, and nobody has access to what it maps.
        #[expect(unsafe_code, reason = "the standard library maps nothing")]
        let got = unsafe { libc::mmap(at, bytes, libc::PROT_NONE, flags, -1, 0) };
        if got != at && got != libc::MAP_FAILED {
            // SAFETY: a kernel that does not know the flag has mapped other addresses, which nobody has seen.
            #[expect(unsafe_code, reason = "the standard library unmaps nothing")]
            unsafe {
                libc::munmap(got, bytes)
            };
        }
        got == at
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps_are_understood() {
        let line = "7f1193b16000-7f1193b17000 rw-p 00001000 fe:00 1234                       /usr/lib/a b.so";
        let name = "/usr/lib/a b.so".to_owned();
        let addresses = 0x7f11_93b1_6000..0x7f11_93b1_7000;
        assert_eq!(mapping(line), Some(HostRange { name, addresses, writable: true }));
        assert!(mapping("1000-2000 r--p 0 0:0 0").is_some_and(|r| !r.writable && r.name.is_empty()));
        for line in ["1000-2000 ---p 0 0:0 0", "ffffffffff600000-ffffffffff601000 r-xp 0 0:0 0 [vsyscall]", "", "x-y r"]
        {
            assert_eq!(mapping(line), None);
        }
    }

    #[test]
    fn memory_is_read_and_written_where_it_is() {
        let process = Process::open().ok().unwrap();
        let mut bytes = vec![3u8; 10];
        let at = bytes.as_mut_ptr().expose_provenance() as u64;
        let range = mapped(at, |_| false).unwrap();
        assert!(range.addresses.contains(&at) && range.writable);
        let mut copy = [0; 10];
        assert!(process.read(at, &mut copy) && copy == [3; 10] && process.write(at + 1, &[4]));
        assert_eq!(std::hint::black_box(&bytes)[..3], [3, 4, 3]);
        assert!(!process.read(8, &mut copy) && !process.write(8, &[1]) && !process.read(1 << 46, &mut copy));
        // As many as one call does not take, and then one that cannot be written among others that can.
        let mut bytes = vec![0u8; 1000];
        let at = bytes.as_mut_ptr().expose_provenance() as u64;
        let mut parts: Vec<(u64, &[u8])> = (0..500).map(|k| (at + 2 * k, &[1u8][..])).collect();
        assert_eq!(process.write_all(&parts), 500);
        assert!(std::hint::black_box(&bytes).chunks(2).all(|pair| *pair == [1, 0]));
        parts[300].0 = 8;
        parts.iter_mut().for_each(|(_, from)| *from = &[2]);
        assert_eq!((process.write_all(&parts), process.write_all(&[])), (300, 0));
        assert!(std::hint::black_box(&bytes).iter().step_by(2).enumerate().all(|(k, byte)| (*byte == 2) == (k < 300)));
        // The machine's own addresses are taken, and nothing of them is the process's.
        let own = AddressMap::of(64).shared;
        assert!(process.range(own).is_none() && !process.write(own, &[1]));
    }
}
