//! Who wrote which byte, where an observer asks: the names of accesses for memory behind the caches, and telling what reads observe.
//!
//! Caches and operations carry them with their bytes ([`Bytes::writer`](super::cache::Bytes::writer)).

use super::cache::{ByteMask, Bytes, DeviceSpace, LineKey, bits};
use super::environment::View;
use super::program::{AtomPlace, Piece, Sigma};
use crate::verdict::{AccessId, AllocKind, Event, Performed, ReadsFrom, Sink, Stop};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Who wrote bytes of global memory, by address, and of shared memory, by launch, block and offset.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Writers {
    global: FxHashMap<u64, AccessId>,
    shared: FxHashMap<(u32, u64, u32), AccessId>,
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

    /// Bytes of a block's shared memory were written.
    pub fn write_shared(&mut self, (launch, block): (u32, u64), piece: Piece, access_id: AccessId) {
        if access_id != AccessId::NONE || !self.shared.is_empty() {
            (0..u32::from(piece.len))
                .for_each(|k| note(&mut self.shared, (launch, block, piece.offset + k), access_id));
        }
    }

    /// Who wrote bytes of a block's shared memory.
    fn of_shared(&self, (launch, block): (u32, u64), piece: Piece) -> SmallVec<[AccessId; 16]> {
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

impl<S: Sink> View<'_, '_, S> {
    fn tell_read(
        &mut self,
        lane: u32,
        space: AllocKind,
        address: u64,
        writers: impl Iterator<Item = AccessId>,
    ) -> Result<(), Stop> {
        let (issuer, access_id) = (self.operation.issuer, self.operation.access_id.of_lane(lane as usize));
        let writers: SmallVec<[AccessId; 16]> = writers.collect();
        let from = ReadsFrom { pc: issuer.pc, lane, access_id, space, address, writers: &writers };
        self.cx.sink.event(issuer.who, Event::Performed(Performed::Read(from)))
    }

    /// Tells what an operation reads. Of shared memory, when it reads (`filled`): others may write there before it uses that. Of global
    /// memory, which may be read several times, when it uses what it read last: whoever reads what an atomic operation writes
    /// comes after what that read.
    pub(super) fn tell_reads(&mut self, sigma: &Sigma, filled: bool) -> Result<(), Stop> {
        if self.operation.access_id == AccessId::NONE {
            return Ok(());
        }
        let (parts, used) = (self.operation.parts, self.touched.used);
        match sigma {
            Sigma::Device(d) if used && d.key.space == DeviceSpace::Global => parts.iter().try_for_each(|part| {
                let writers =
                    (usize::from(part.at)..usize::from(part.at + u16::from(part.len))).map(|k| d.value.writer(k));
                self.tell_read(part.lane.into(), AllocKind::Global, d.key.base + u64::from(part.at), writers)
            }),
            Sigma::Shared(s) if filled => {
                s.pieces.iter().zip(parts).try_for_each(|(piece, part)| self.tell_shared(*piece, part.lane))
            }
            Sigma::Atomic(a) => match (a.place, parts.first()) {
                (AtomPlace::Global { key, mask, .. }, Some(part)) if used => {
                    let (first, writers) = (u64::from(mask.trailing_zeros()), bits(mask).map(|k| a.out.writer(k)));
                    self.tell_read(part.lane.into(), AllocKind::Global, key.base + first, writers)
                }
                (AtomPlace::Shared(piece), Some(part)) if filled => self.tell_shared(piece, part.lane),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Tells what a lane has just read of shared memory.
    fn tell_shared(&mut self, piece: Piece, lane: u8) -> Result<(), Stop> {
        let who = self.operation.issuer.who;
        let writers = self.env.writers.of_shared((who.launch, who.block), piece);
        self.tell_read(lane.into(), AllocKind::Shared, piece.offset.into(), writers.into_iter())
    }

    /// What an observer calls a lane's access, given by its place among the parts of the operation.
    pub(super) fn id_of(&self, part: usize) -> AccessId {
        let part = self.operation.parts.get(part);
        part.map_or(AccessId::NONE, |part| self.operation.access_id.of_lane(part.lane.into()))
    }
}
