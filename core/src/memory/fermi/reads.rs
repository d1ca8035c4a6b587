//! What reads observe, where an observer asks: which accesses wrote the bytes that an operation found.

use super::cache::{Bytes, DeviceSpace};
use super::environment::View;
use super::operation::{Issued, address_of};
use super::program::{Piece, Sigma};
use crate::verdict::{AccessId, AllocKind, Event, Performed, ReadsFrom, Sink, Stop};
use smallvec::SmallVec;

impl<S: Sink> View<'_, '_, S> {
    fn tell_read(&mut self, lane: u32, space: AllocKind, address: u64, writers: &[AccessId]) -> Result<(), Stop> {
        let (issuer, access_id) = (self.operation.issuer, self.operation.access_id.of_lane(lane as usize));
        let from = ReadsFrom { pc: issuer.pc, lane, access_id, space, address, writers };
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
        let value = match sigma {
            Sigma::Device(d) => &d.value,
            Sigma::Atomic(a) => &a.out,
            Sigma::Shared(_) | Sigma::Reg | Sigma::Fence { .. } => &Bytes::NONE,
        };
        parts.iter().try_for_each(|part| {
            let (address, bytes) = (address_of(sigma, part.at), part.at..part.at + u16::from(part.len));
            match sigma.key() {
                Some(key) if used && key.space == DeviceSpace::Global => {
                    let writers: SmallVec<[AccessId; 16]> = bytes.map(|at| value.writer(at.into())).collect();
                    self.tell_read(part.lane.into(), AllocKind::Global, address, &writers)
                }
                None if filled => {
                    let who = self.operation.issuer.who;
                    let piece = Piece { offset: u32::try_from(address).unwrap_or(u32::MAX), len: part.len };
                    let writers = self.env.writers.of_shared((who.launch, who.block), piece);
                    self.tell_read(part.lane.into(), AllocKind::Shared, address, &writers)
                }
                _ => Ok(()),
            }
        })
    }

    /// What an observer calls a lane's access, given by its place among the parts of the operation.
    pub(super) fn id_of(&self, part: usize) -> AccessId {
        let part = self.operation.parts.get(part);
        part.map_or(AccessId::NONE, |part| self.operation.access_id.of_lane(part.lane.into()))
    }
}
