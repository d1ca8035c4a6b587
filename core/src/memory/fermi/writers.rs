//! Who wrote which byte, where an observer asks: the names of accesses for memory behind the caches.
//!
//! Caches and operations carry them with their bytes ([`Bytes::writer`](super::cache::Bytes::writer)).

use super::cache::{ByteMask, Bytes, DeviceSpace, LineKey, bits};
use super::program::Piece;
use crate::base::mutant::{Mutant, on};
use crate::verdict::{AccessId, AllocKind, Arrived};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Who wrote bytes of global memory, by address, and of shared memory, by launch, block and offset.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Writers {
    global: FxHashMap<u64, AccessId>,
    shared: FxHashMap<(u32, u64, u32), AccessId>,
    /// Writes that came to the L2, to memory or to shared memory in the step that is made; empty between steps.
    arrived: Vec<Arrived>,
}

/// Takes note in a map that holds no nameless entries.
fn note<K: std::hash::Hash + Eq>(map: &mut FxHashMap<K, AccessId>, key: K, access_id: AccessId) {
    if access_id != AccessId::NONE {
        map.insert(key, access_id);
    } else if !map.is_empty() {
        map.remove(&key);
    }
}

impl Writers {
    /// Bytes of global memory were read.
    pub fn read(&self, key: LineKey, want: ByteMask, into: &mut Bytes) {
        if key.space == DeviceSpace::Global && !self.global.is_empty() {
            for at in bits(want) {
                let access_id = self.global.get(&(key.base + at as u64)).copied().unwrap_or_default();
                into.written_by(at, 1, access_id);
            }
        }
    }

    /// Bytes of global memory were written.
    pub fn write(&mut self, key: LineKey, from: &Bytes) {
        if key.space == DeviceSpace::Global && (from.has_writers() || !self.global.is_empty()) {
            let all = from.mask() | from.fresh();
            bits(all).for_each(|at| note(&mut self.global, key.base + at as u64, from.writer(at)));
        }
    }

    /// Bytes of global memory come to the L2, or to memory, from nearer to a thread.
    pub fn arrive(&mut self, key: LineKey, from: &Bytes) {
        if key.space != DeviceSpace::Global || !from.has_writers() || on(Mutant::ArrivalUntold) {
            return;
        }
        for at in bits(from.mask()).filter(|at| from.writer(*at) != AccessId::NONE) {
            let (access_id, address) = (from.writer(at), key.base + at as u64);
            match self.arrived.last_mut() {
                Some(last) if last.access_id == access_id && last.address + u64::from(last.bytes) == address => {
                    last.bytes += 1;
                }
                _ => self.arrived.push(Arrived { access_id, space: AllocKind::Global, address, bytes: 1 }),
            }
        }
    }

    /// Bytes came to the L2 with the value that memory has: the line may be dropped, and memory's bytes are theirs.
    pub fn same(&mut self, key: LineKey, from: &Bytes, clean: ByteMask) {
        if key.space == DeviceSpace::Global && from.has_writers() {
            bits(from.mask() & clean).for_each(|at| note(&mut self.global, key.base + at as u64, from.writer(at)));
        }
    }

    /// What came since this was asked last.
    pub fn take_arrived(&mut self) -> Vec<Arrived> {
        std::mem::take(&mut self.arrived)
    }

    /// Bytes of a block's shared memory were written.
    pub fn write_shared(&mut self, (launch, block): (u32, u64), piece: Piece, access_id: AccessId) {
        if access_id != AccessId::NONE {
            let (space, address, bytes) = (AllocKind::Shared, piece.offset.into(), piece.len.into());
            self.arrived.push(Arrived { access_id, space, address, bytes });
        }
        if access_id != AccessId::NONE || !self.shared.is_empty() {
            (0..u32::from(piece.len))
                .for_each(|k| note(&mut self.shared, (launch, block, piece.offset + k), access_id));
        }
    }

    /// Who wrote bytes of a block's shared memory.
    pub fn of_shared(&self, (launch, block): (u32, u64), piece: Piece) -> SmallVec<[AccessId; 16]> {
        let one = |k| self.shared.get(&(launch, block, piece.offset + k)).copied().unwrap_or_default();
        (0..u32::from(piece.len)).map(one).collect()
    }

    /// A block is gone, and its shared memory.
    pub fn forget(&mut self, launch: u32, block: u64) {
        if !self.shared.is_empty() {
            self.shared.retain(|(l, b, _), _| (*l, *b) != (launch, block));
        }
    }
}
