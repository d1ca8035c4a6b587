//! What reads observe, where an observer asks: which accesses wrote the bytes that an operation found.

use super::cache::{Bytes, DeviceSpace};
use super::environment::View;
use super::operation::{Issued, Part, address_of, byte_of};
use super::program::Sigma;
use super::writers::Writers;
use crate::memory::Cx;
use crate::verdict::{AccessId, AllocKind, Event, Performed, ReadsFrom, Sink, Stop, Who};
use smallvec::SmallVec;

impl<S: Sink> View<'_, '_, S> {
    fn tell_read(
        &mut self,
        part: Part,
        sigma: &Sigma,
        (space, address): (AllocKind, u64),
        writers: &[AccessId],
    ) -> Result<(), Stop> {
        let (issuer, lane) = (self.operation.issuer, u32::from(part.lane));
        let access_id = self.operation.access_id.of_lane(lane as usize);
        let byte = |k: u16| byte_of(sigma, part.at + k).map(|byte| u64::from(byte) << (8 * k));
        let value = (0..part.len.min(8).into()).map(byte).try_fold(0, |all, byte| Some(all | byte?));
        let value = value.filter(|_| part.len <= 8);
        let from = ReadsFrom { pc: issuer.pc, lane, access_id, space, address, writers, value };
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
                    self.tell_read(*part, sigma, (AllocKind::Global, address), &writers)
                }
                None if filled => {
                    let found = self.found.iter().find(|(offset, _)| u64::from(*offset) == address);
                    let writers = found.map(|(_, writers)| writers.clone()).unwrap_or_default();
                    self.tell_read(*part, sigma, (AllocKind::Shared, address), &writers)
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

/// Tells which writes came to where everybody looks, in their order.
pub(super) fn tell_arrived<S: Sink>(writers: &mut Writers, who: Who, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    writers.take_arrived().into_iter().try_for_each(|a| cx.sink.event(who, Event::Performed(Performed::Write(a))))
}
