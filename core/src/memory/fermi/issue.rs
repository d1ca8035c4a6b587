//! From a warp's memory action to memory operations (report, 5.8.1, `memOp`; D-memop).
//!
//! Accesses of global, local and constant memory become one operation a cache line; those of shared memory one operation
//! for each group of lanes without a bank conflict; each lane's atomic operation is one of its own. The decomposition is
//! data. Several lanes that write one location: one write survives, which one is a choice, and the observer is told.

use super::cache::{ByteMask, Bytes, DeviceSpace, LineKey, span_mask};
use super::environment::map_local;
use super::model::DeviceModel;
use super::operation::{Issued, Part, Rank, Registers, Target};
use super::program::{AtomPlace, Atomic, Device, OpKey, Piece, Shared, Sigma};
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LANES, LaneMask, lanes_of};
use crate::choice::{Oracle, Site, one_of};
use crate::memory::Issuer;
use crate::program::instr::{MemOp, Order, Slot, Space, WarpRequest, value};
use crate::program::ops::{AtomOp, AtomTy};
use crate::verdict::{AccessId, Stop, Who};
use smallvec::SmallVec;

/// An operation to be: what names its program, and the state that this begins with.
pub(super) struct Draft {
    pub key: Option<OpKey>,
    pub sigma: Sigma,
    pub issued: Issued,
}

/// What one lane accesses.
#[derive(Clone, Copy)]
struct Access {
    lane: usize,
    space: Space,
    /// Address, or offset in the space.
    address: u64,
}

/// Turns a request into operations.
pub(super) struct Maker<'a> {
    pub model: &'a DeviceModel,
    pub issuer: Issuer,
    pub rq: &'a WarpRequest,
    pub regs: &'a Frame,
    /// What an observer calls the first lane's access.
    pub access_id: AccessId,
    pub oracle: &'a mut dyn Oracle,
    /// Lanes that write one location, and the one that wrote last.
    pub told: Vec<(LaneMask, usize)>,
}

impl Maker<'_> {
    /// The operations of the lanes of `mask`, whose addresses lead to `places`.
    pub(super) fn operations(&mut self, mask: LaneMask, places: &[(Space, u64); LANES]) -> Result<Vec<Draft>, Stop> {
        let mut accesses: SmallVec<[Access; LANES]> = lanes_of(mask)
            .map(|lane| {
                let (space, address) = places[lane];
                Access { lane, space, address }
            })
            .collect();
        let mut drafts = Vec::new();
        match self.rq.op {
            MemOp::Atom(op, ty) | MemOp::Red(op, ty) => {
                for access in &accesses {
                    self.atomics(*access, op, ty, &mut drafts);
                }
                return Ok(drafts);
            }
            MemOp::Store => {
                let losers = self.survivors(&accesses)?;
                accesses.retain(|a| losers >> a.lane & 1 == 0);
                self.plain(&accesses, &mut drafts);
                // The registers of lanes whose writes are lost are released with the others.
                if let Some(first) = drafts.first_mut() {
                    first.issued.lanes |= mask & losers;
                }
            }
            MemOp::Load => self.plain(&accesses, &mut drafts),
        }
        Ok(drafts)
    }

    /// Bytes of one element.
    fn width(&self) -> u16 {
        self.rq.width.into()
    }

    fn bytes(&self) -> u16 {
        self.width() * u16::from(self.rq.elems)
    }

    fn target(&self) -> Target {
        match self.rq.op {
            MemOp::Load | MemOp::Atom(..) => Target::Registers(Registers {
                slots: self.rq.regs,
                width: self.rq.width,
                wide: self.rq.wide,
                signed: self.rq.signed,
                ext: self.rq.ext,
            }),
            MemOp::Store | MemOp::Red(..) => Target::None,
        }
    }

    /// The bytes of a store's element.
    fn element(&self, k: usize, lane: usize) -> [u8; 16] {
        let Some(&slot) = self.rq.regs.get(k) else { return [0; 16] };
        self.operand(slot, lane).to_le_bytes()
    }

    fn operand(&self, slot: Slot, lane: usize) -> u128 {
        let half = |slot| u128::from(value(self.regs, self.rq.class(), slot, lane).unwrap_or(0));
        // 16 bytes are in two registers; where there is no operand, there is no such slot.
        half(slot) | if self.rq.width == 16 { half(Slot(slot.0.saturating_add(1))) << 64 } else { 0 }
    }

    /// Decides between lanes that write one location; gives those whose writes are lost.
    ///
    /// Writes of equal values are no choice. Lanes of one instruction write as many bytes each, aligned, so locations are
    /// equal or disjoint.
    fn survivors(&mut self, accesses: &[Access]) -> Result<LaneMask, Stop> {
        let ascending = accesses.is_sorted_by(|a, b| (a.space, a.address) < (b.space, b.address));
        // Local addresses are the thread's own.
        if ascending || accesses.iter().all(|a| a.space == Space::Local) {
            return Ok(0);
        }
        let mut losers = 0;
        let mut seen: LaneMask = 0;
        for a in accesses.iter().filter(|a| a.space != Space::Local) {
            if seen >> a.lane & 1 == 1 {
                continue;
            }
            let same: SmallVec<[usize; LANES]> =
                accesses.iter().filter(|b| (b.space, b.address) == (a.space, a.address)).map(|b| b.lane).collect();
            seen |= same.iter().fold(0, |m, l| m | 1 << l);
            if same.len() < 2 {
                continue;
            }
            let stored = |lane: usize| -> SmallVec<[[u8; 16]; 8]> {
                (0..usize::from(self.rq.elems)).map(|k| self.element(k, lane)).collect()
            };
            let first = stored(a.lane);
            let equal = same.iter().all(|l| stored(*l) == first);
            let pick = if equal || on(Mutant::LastLaneWins) {
                same.len() - 1
            } else {
                one_of(self.oracle, Site::Winner, same.len())?
            };
            let winner = same.get(pick).copied().unwrap_or(a.lane);
            let lanes = same.iter().fold(0, |m, l| m | 1 << l);
            losers |= lanes & !(1 << winner);
            self.told.push((lanes, winner));
        }
        Ok(losers)
    }

    /// Loads and stores.
    fn plain(&self, accesses: &[Access], drafts: &mut Vec<Draft>) {
        let mut lines: SmallVec<[Lines; 4]> = SmallVec::new();
        let mut banks: SmallVec<[Banks; 2]> = SmallVec::new();
        for access in accesses {
            match access.space {
                Space::Shared => self.add_shared(*access, &mut banks),
                Space::Local => {
                    for word in 0..self.bytes().div_ceil(4) {
                        let offset = access.address + u64::from(word) * 4;
                        let place = map_local(access.lane, offset);
                        let len = (self.bytes() - word * 4).min(4);
                        self.add_line(*access, (place, word * 4, len), &mut lines);
                    }
                }
                Space::Global | Space::Const | Space::Param | Space::Generic => {
                    self.add_line(*access, (access.address, 0, self.bytes()), &mut lines);
                }
            }
        }
        for Lines { space, device, parts } in lines {
            let device = Device { want: device.mask, ..device };
            drafts.push(self.draft(space, Sigma::Device(device), parts));
        }
        for Banks { shared, parts, .. } in banks {
            drafts.push(self.draft(Space::Shared, Sigma::Shared(shared), parts));
        }
    }

    fn draft(&self, space: Space, sigma: Sigma, parts: SmallVec<[Part; 8]>) -> Draft {
        let lanes = parts.iter().fold(0, |m, p| m | 1 << p.lane);
        let key = OpKey::of(self.rq, space);
        let volatile = matches!(self.rq.order, Order::Volatile | Order::Mmio);
        let rank = Rank {
            volatile: volatile && (space != Space::Shared || self.model.volatile_shared_order),
            strong: self.rq.order != Order::Weak || !matches!(self.rq.op, MemOp::Load | MemOp::Store),
            read: self.rq.op == MemOp::Load,
        };
        let (issuer, target, access_id) = (self.issuer, self.target(), self.access_id);
        Draft { key, sigma, issued: Issued { issuer, lanes, parts, target, rank, access_id } }
    }

    /// The base of the line that an address lies in, and its offset there.
    fn split(&self, address: u64) -> (u64, u16) {
        let (base, at) = self.model.geometry(self.model.l1).split(address);
        (base, u16::try_from(at).unwrap_or(0))
    }

    /// Adds `len` bytes at `address`, which are a lane's from byte `from` on, to the operation of their line.
    fn add_line(&self, access: Access, (address, from, len): (u64, u16, u16), lines: &mut SmallVec<[Lines; 4]>) {
        let (space, owner) = match access.space {
            Space::Local => (DeviceSpace::Local, self.issuer.who),
            Space::Param => (DeviceSpace::Param, Who { launch: self.issuer.who.launch, ..Who::default() }),
            Space::Const => (DeviceSpace::Const, Who::default()),
            Space::Global | Space::Shared | Space::Generic => (DeviceSpace::Global, Who::default()),
        };
        let (base, at) = self.split(address);
        let key = LineKey { space, owner, base };
        let line = match lines.iter().rposition(|l| l.device.key == key) {
            Some(k) => lines.get_mut(k),
            None => {
                lines.push(Lines { space: access.space, device: Device::load(key, 0), parts: SmallVec::new() });
                lines.last_mut()
            }
        };
        let Some(line) = line else { return };
        line.device.mask |= span_mask(at.into(), len.into());
        let width = self.width();
        // Element by element: a register may hold less than the lane accesses, and local memory less than a register.
        let mut done = 0;
        while done < len {
            let byte = from + done;
            let element = byte / width;
            let within = byte % width;
            let here = (width - within).min(len - done);
            let small = |v: u16| u8::try_from(v).unwrap_or(0);
            if self.rq.op == MemOp::Store {
                let bytes = self.element(element.into(), access.lane);
                let some = bytes.get(usize::from(within)..usize::from(within + here)).unwrap_or(&[]);
                line.device.value.put(usize::from(at + done), some);
                line.device.value.written_by(usize::from(at + done), some.len(), self.access_id.of_lane(access.lane));
            }
            line.parts.push(Part {
                lane: u8::try_from(access.lane).unwrap_or(0),
                register: small(element),
                from: small(within),
                len: small(here),
                at: at + done,
            });
            done += here;
        }
    }

    /// Adds a lane's access of shared memory to the first group that it has no bank conflict with: lanes that access the
    /// same word do not conflict (D-banks).
    fn add_shared(&self, access: Access, groups: &mut SmallVec<[Banks; 2]>) {
        let offset = u32::try_from(access.address).unwrap_or(u32::MAX);
        let words = offset / 4..=(offset + u32::from(self.bytes()) - 1) / 4;
        let count = self.model.banks.clamp(1, 64);
        let fits = |g: &Banks| words.clone().all(|w| g.word[(w % count) as usize].is_none_or(|own| own == w));
        let k = groups.iter().position(fits).unwrap_or_else(|| {
            groups.push(Banks { word: [None; 64], shared: Shared::default(), len: 0, parts: SmallVec::new() });
            groups.len() - 1
        });
        let Some(group) = groups.get_mut(k) else { return };
        for w in words {
            group.word[(w % count) as usize] = Some(w);
        }
        let width = self.width();
        let small = |v: u16| u8::try_from(v).unwrap_or(0);
        for element in 0..u16::from(self.rq.elems) {
            let piece = Piece { offset: offset + u32::from(element * width), len: small(width) };
            let at = group.len;
            if self.rq.op == MemOp::Store {
                let bytes = self.element(element.into(), access.lane);
                group.shared.value.extend_from_slice(bytes.get(..usize::from(width)).unwrap_or(&[]));
            }
            group.shared.pieces.push(piece);
            group.len += width;
            let lane = u8::try_from(access.lane).unwrap_or(0);
            group.parts.push(Part { lane, register: small(element), from: 0, len: small(width), at });
        }
    }

    /// A lane's atomic operations: one, or one an element.
    fn atomics(&self, access: Access, op: AtomOp, ty: AtomTy, drafts: &mut Vec<Draft>) {
        let lane = access.lane;
        let width = u16::try_from(ty.bytes()).unwrap_or(16);
        for k in 0..usize::from(self.rq.elems.max(1)) {
            let [_, b, c] = self.rq.atomic_slots(k);
            let address = access.address + u64::from(width) * k as u64;
            let len = u8::try_from(width).unwrap_or(16);
            let (place, at) = match access.space {
                Space::Shared => {
                    let offset = u32::try_from(address).unwrap_or(u32::MAX);
                    (AtomPlace::Shared(Piece { offset, len }), 0)
                }
                _ => {
                    let (base, at) = self.split(address);
                    let key = LineKey { space: DeviceSpace::Global, owner: Who::default(), base };
                    let mask: ByteMask = span_mask(at.into(), width.into());
                    (AtomPlace::Global { key, mask, want: mask }, at)
                }
            };
            let sigma = Sigma::Atomic(Atomic {
                place,
                op,
                ty,
                out: Bytes::NONE,
                first: self.operand(b, lane),
                second: self.operand(c, lane),
                access_id: self.access_id.of_lane(lane),
            });
            let register = u8::try_from(k).unwrap_or(0);
            let lane = u8::try_from(lane).unwrap_or(0);
            let parts = SmallVec::from_slice(&[Part { lane, register, from: 0, len, at }]);
            drafts.push(self.draft(access.space, sigma, parts));
        }
    }
}

/// The operation of a line, being put together.
struct Lines {
    space: Space,
    device: Device,
    parts: SmallVec<[Part; 8]>,
}

/// A group of lanes without a bank conflict.
struct Banks {
    /// The word that each used bank serves.
    word: [Option<u32>; 64],
    shared: Shared,
    len: u16,
    parts: SmallVec<[Part; 8]>,
}
