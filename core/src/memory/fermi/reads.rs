//! What reads observe, where an observer asks: which accesses wrote the bytes that an operation found.

use super::cache::{DeviceSpace, bits};
use super::environment::View;
use super::operation::Issued;
use super::program::{AtomPlace, Piece, Sigma};
use crate::verdict::{AccessId, AllocKind, Event, Performed, ReadsFrom, Sink, Stop};
use smallvec::SmallVec;

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
        let (Issued { parts, .. }, used) = (self.operation, self.touched.used);
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
