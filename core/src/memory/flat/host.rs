//! How an arena comes by memory of the host's process: before each instruction that reaches some.

use super::Arena;
use super::mirror::{HostMemory, Mirror};
use super::place::addresses;
use crate::base::{Frame, LaneMask, lanes_of};
use crate::memory::{Fault, Hint, Near, Taken};
use crate::program::instr::{MemOp, Space, WarpRequest};
use crate::verdict::{LimitKind, Who};
use std::ops::Range;
use std::sync::Arc;

/// Room for pieces that is set aside, in bytes: native code is told once where the vector lies, so that it may not move.
const ROOM: usize = 8 << 30;

impl Arena {
    /// Lets kernels access memory of the host's process by its addresses. The arena's own have to lie elsewhere. Room that cannot be
    /// had is taken for a smaller limit. `unit`: bytes that kernels store together at least ([`ProgEnv::store_unit`]).
    ///
    /// [`ProgEnv::store_unit`]: crate::program::env::ProgEnv::store_unit
    pub fn mirror(&mut self, host: Arc<dyn HostMemory>, unit: u64) {
        let sizes = std::iter::successors(Some(ROOM), |room| Some(room / 2)).take_while(|room| *room > 1 << 20);
        for room in sizes {
            if self.bytes.try_reserve_exact(room).is_ok() {
                break;
            }
        }
        self.mirror = Some(Box::new(Mirror::new(host, unit)));
        self.has_guests = true;
    }

    /// Reads what an instruction is about to access of the host's memory. What is not there is left to the access to find out.
    ///
    /// # Errors
    /// There is no more room.
    #[inline(never)]
    pub(super) fn fetch(
        &mut self,
        (who, mask): (Who, LaneMask),
        rq: &WarpRequest,
        regs: &Frame,
        near: &Near<'_>,
        hint: &mut Hint,
    ) -> Taken {
        if !matches!(rq.space, Space::Global | Space::Generic) {
            return Ok(());
        }
        if self.over.is_some() {
            return self.bring((who, mask), rq, regs, (near, hint));
        }
        if self.mirror.is_none() {
            return Ok(());
        }
        let (addresses, len) = (addresses(rq, regs), u64::from(rq.bytes()));
        let need = if rq.op == MemOp::Load { Hint::READ } else { Hint::WRITE };
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            let own = rq.space == Space::Generic && near.map.inside(address).is_some();
            if own || self.index(hint, address, len, need).is_some() {
                continue;
            }
            self.fetch_at(address)?;
        }
        Ok(())
    }

    /// Reads the piece of the host's memory that an address lies in, if there is one and it has not been read.
    fn fetch_at(&mut self, address: u64) -> Taken {
        let Some(mirror) = &mut self.mirror else { return Ok(()) };
        let Some((k, Range { start, end }, writable)) = mirror.missing(address) else { return Ok(()) };
        // As far from a multiple of 64 as the address is: accesses that are aligned there are aligned here.
        let at = self.bytes.len().next_multiple_of(64) + (start % 64) as usize;
        let size = at.saturating_add((end - start) as usize);
        if size > self.bytes.capacity() {
            let cap = self.bytes.capacity() as u64;
            return Err(Box::new(Fault::Limit(LimitKind::Memory { cap, wanted: size as u64 })));
        }
        self.bytes.resize(size, 0);
        if let Some(bytes) = self.bytes.get_mut(at..) {
            mirror.take(k, (start, writable), (at, bytes));
        }
        Ok(())
    }

    /// Gives the host the bytes that have changed.
    ///
    /// # Errors
    /// An address that cannot be written any more: what was written before is as it was.
    pub fn give_back(&self) -> Result<(), u64> {
        self.mirror.as_ref().map_or(Ok(()), |mirror| mirror.give_back(&self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::mirror::HostRange;
    use super::*;
    use crate::program::env::AddressMap;
    use crate::verdict::AllocKind;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A host that has so many bytes at an address, the rest of which may only be read; what is written is counted.
    struct Row(u64, Mutex<Vec<u8>>, u64, AtomicUsize);

    impl Row {
        fn new(first: u64, bytes: Vec<u8>, end: u64) -> Arc<Self> {
            Arc::new(Self(first, Mutex::new(bytes), end, AtomicUsize::new(0)))
        }
    }

    impl HostMemory for Row {
        fn range(&self, address: u64) -> Option<HostRange> {
            let (first, end) = (self.0, self.0 + self.1.lock().unwrap().len() as u64);
            let addresses = if address < self.2 { first..self.2 } else { self.2..end };
            let range = HostRange { name: "x".into(), writable: address < self.2, addresses };
            (first..end).contains(&address).then_some(range)
        }

        fn closest(&self, address: u64) -> Option<HostRange> {
            self.range(address.clamp(self.0, self.2 - 1))
        }

        fn read(&self, address: u64, to: &mut [u8]) -> bool {
            let at = (address - self.0) as usize;
            to.copy_from_slice(&self.1.lock().unwrap()[at..at + to.len()]);
            true
        }

        fn write(&self, address: u64, from: &[u8]) -> bool {
            let at = (address - self.0) as usize;
            self.1.lock().unwrap()[at..at + from.len()].copy_from_slice(from);
            self.3.fetch_add(1, Ordering::Relaxed);
            address < self.2
        }
    }

    #[test]
    fn pieces_are_read_once_and_only_changes_are_given_back() {
        let first = 0x7000_0000_0010u64;
        let host = Row::new(first, vec![7; 1 << 20], first + (1 << 19));
        let mut arena = Arena::new(AddressMap::of(64).global + (1 << 54), None);
        let own = arena.alloc("own", AllocKind::Global, 8, 8).unwrap();
        arena.mirror(host.clone(), 1);
        let mut hint = Hint::default();
        assert_eq!(arena.index(&mut hint, first, 4, Hint::READ), None);
        for at in [first, first + (1 << 18), first + (1 << 17), first + (1 << 19), first + 200_000] {
            arena.fetch_at(at).unwrap();
            let place = arena.index(&mut hint, at, 4, Hint::READ).unwrap();
            assert_eq!((place % 16, arena.bytes_at(at, 4)), ((at % 16) as usize, Some(&[7; 4][..])));
        }
        assert_eq!(arena.index(&mut hint, first + (1 << 19), 4, Hint::WRITE), None);
        arena.bytes_at_mut(first + 100, 2).unwrap().fill(1);
        arena.bytes_at_mut(first + (1 << 18), 1).unwrap().fill(2);
        // What others write meanwhile stays, where the kernel has written nothing.
        host.1.lock().unwrap()[99] = 9;
        let more = arena.alloc("more", AllocKind::Heap, 8, 8).unwrap();
        arena.bytes_at_mut(more, 8).unwrap().fill(5);
        assert!(more > own && arena.bytes_at(first + 100, 2) == Some(&[1, 1]));
        assert_eq!(arena.give_back(), Ok(()));
        let now = host.1.lock().unwrap().clone();
        assert_eq!((&now[98..103], now[1 << 18]), (&[7, 9, 1, 1, 7][..], 2));
        assert_eq!(now.iter().filter(|b| **b == 7).count(), (1 << 20) - 4);
    }

    #[test]
    fn words_that_a_kernel_stores_as_a_whole_are_given_back_in_one_piece() {
        // Of the bytes of 1.0 two are 0, as they were.
        let ones: Vec<u8> = std::iter::repeat_n(1f32.to_le_bytes(), 1000).flatten().collect();
        for (unit, writes) in [(4, 1), (1, 1000)] {
            let first = 0x7000_0000_0004u64;
            let host = Row::new(first, vec![0; 5000], first + 5000);
            let mut arena = Arena::new(AddressMap::of(64).global + (1 << 54), None);
            arena.mirror(host.clone(), unit);
            arena.fetch_at(first).unwrap();
            arena.bytes_at_mut(first + 400, 4000).unwrap().copy_from_slice(&ones);
            // What others write beside it stays.
            host.1.lock().unwrap()[399] = 9;
            host.1.lock().unwrap()[4400] = 9;
            assert_eq!(arena.give_back(), Ok(()));
            let now = host.1.lock().unwrap().clone();
            assert!(now[400..4400] == ones && now[399] == 9 && now[4400] == 9);
            assert_eq!(host.3.load(Ordering::Relaxed), writes, "stores of {unit} bytes");
        }
    }
}
