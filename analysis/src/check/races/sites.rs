//! What each instruction means to the race checker: decided once per program, looked up by program address.

use crate::base::Pc;
use crate::check::plain;
use crate::program::env::ProgEnv;
use crate::program::instr::{BulkPart, Instr, MemOp, Op, Order, Scope, Slot, Space, WarpRequest};
use crate::program::ops::AtomTy;
use crate::program::uses;
use crate::verdict::{AccessKind, Party, Reach, Strength};

/// What the checker does with an instruction's step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Site {
    /// Nothing: it neither accesses shared memory nor orders anything.
    Other,
    /// An access.
    Access(AccessSite),
    /// A fence.
    Fence(FenceSite),
    /// `bar.warp.sync`, with the member mask in this slot.
    WarpSync(Slot),
    /// The threads end.
    Exit,
    /// What threads have begun to copy becomes a group.
    CopyCommit {
        /// In bulk.
        bulk: bool,
    },
    /// Accesses of bulk copies are ordered with others.
    ProxyFence,
    /// Threads have waited for their copies.
    CopyWait(Awaited),
}

/// What threads have waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Awaited {
    /// All groups but so many of the newest; `None`: all copies.
    pub newest: Option<u32>,
    /// Groups of bulk copies.
    pub bulk: bool,
    /// They have read, and may not have written.
    pub read: bool,
}

/// What an access has to do with an asynchronous copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Flight {
    /// Its part.
    pub side: Side,
    /// Whether it is a bulk copy.
    pub bulk: bool,
}

/// A part of an asynchronous copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// It reads there.
    Source,
    /// It writes there.
    Destination,
    /// A barrier is told.
    Arrival,
}

impl Flight {
    /// That of an instruction.
    const fn of(op: Op) -> Option<Self> {
        let (side, bulk) = match op {
            Op::CopyFrom => (Side::Source, false),
            Op::CopyTo => (Side::Destination, false),
            Op::CopyArrive => (Side::Arrival, false),
            Op::Bulk(BulkPart::From) => (Side::Source, true),
            Op::Bulk(BulkPart::To) => (Side::Destination, true),
            Op::Bulk(BulkPart::Begin) => (Side::Arrival, true),
            _ => return None,
        };
        Some(Self { side, bulk })
    }
}

/// A memory access that several threads may see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AccessSite {
    /// What it does.
    pub kind: AccessKind,
    /// Bytes of an element: each element of a vector, and each half of a packed type, is an access of its own (PTX ISA,
    /// "Vector Data-types" and "Packed Data-types" of chapter 8).
    pub width: u32,
    /// Elements.
    pub elements: u32,
    /// Weak, or strong with a scope.
    pub strength: Strength,
    /// Whether it is an acquire operation.
    pub acquires: bool,
    /// Whether it is a release operation.
    pub releases: bool,
    /// Whether it is volatile data: a store, or a load that does not wait in a loop for what it reads (D-unordered).
    pub payload: bool,
    /// The state space; only those that other threads see.
    pub space: Space,
    /// Where it finds its data, for reports.
    pub data: Data,
    /// What it has to do with an asynchronous copy, if it is one's.
    pub copies: Option<Flight>,
}

/// The registers that a store takes its elements from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Data {
    /// Whether they are 64-bit slots.
    pub wide: bool,
    /// One a element.
    pub slots: [Slot; 8],
}

/// A fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FenceSite {
    /// How far it reaches.
    pub reach: Reach,
    /// Whether it orders what comes after it.
    pub acquires: bool,
    /// Whether it orders what came before it.
    pub releases: bool,
    /// Whether such fences have an order among each other (Fence-SC).
    pub total: bool,
}

/// How far a scope reaches; an operation without one is of system scope (`volatile`, `mmio`).
const fn reach(scope: Scope) -> Reach {
    match scope {
        Scope::Cta | Scope::Cluster => Reach::Block,
        Scope::Gpu | Scope::Sys | Scope::Lane => Reach::Device,
    }
}

/// The access that an instruction is, if it is one.
#[inline(always)]
pub(super) fn access_at(sites: &[Site], pc: Pc) -> Option<&AccessSite> {
    match sites.get(pc.0 as usize) {
        Some(Site::Access(site)) => Some(site),
        _ => None,
    }
}

/// The sites of a program, by program address; `weak`: volatile accesses are weak (`--volatile weak`); `remote`: marks of remote
/// accesses count (D-race-remote).
pub(super) fn sites(env: &ProgEnv, weak: bool, remote: bool) -> Vec<Site> {
    let site = |(pc, i): (usize, &Instr)| match plain::request(env, i) {
        Some(request) => access(&request).map_or(Site::Other, |site| {
            let site = AccessSite { copies: Flight::of(i.op), ..site };
            let site = if remote { site.with_mark_of(&request) } else { site };
            let volatile = request.order == Order::Volatile;
            let waits = || request.op == MemOp::Load && waits(env, pc, &request);
            Site::Access(match weak && volatile {
                true => AccessSite { strength: Strength::Weak, ..site },
                false => AccessSite { payload: volatile && !waits(), ..site },
            })
        }),
        None => match i.op {
            Op::Fence { scope, order } => Site::Fence(fence(scope, order)),
            Op::WarpSync => Site::WarpSync(i.a),
            Op::Exit => Site::Exit,
            Op::CopyCommit => Site::CopyCommit { bulk: false },
            Op::ProxyFence => Site::ProxyFence,
            Op::BulkCommit => Site::CopyCommit { bulk: true },
            Op::CopyWait => {
                let newest = (i.imm != u32::MAX).then_some(i.imm);
                Site::CopyWait(Awaited { newest, bulk: false, read: false })
            }
            Op::BulkWait { read } => Site::CopyWait(Awaited { newest: Some(i.imm), bulk: true, read }),
            _ => Site::Other,
        },
    };
    env.code.iter().enumerate().map(site).collect()
}

/// Whether a load reads one location again and again until it holds something else: it stands in a loop that writes no
/// memory, calls nobody, meets nobody, and leaves the load's address as it is.
fn waits(env: &ProgEnv, pc: usize, load: &WarpRequest) -> bool {
    let back = |(at, i): &(usize, &Instr)| i.op == Op::Bra && *at >= pc && i.imm as usize <= pc;
    let mut loops = env.code.iter().enumerate().filter(back);
    loops.any(|(end, branch)| {
        env.code[branch.imm as usize..=end].iter().all(|i| {
            let mut moves = false;
            uses::writes(i, env, |c, slot| moves |= (c, slot) == (load.address_class(), load.addr));
            let loads = plain::request(env, i).is_none_or(|request| request.op == MemOp::Load);
            let meets = i.op.is_barrier() || i.op == Op::WarpSync;
            let alone = !meets && !matches!(i.op, Op::Call | Op::CallIndirect | Op::Exit);
            loads && alone && !moves
        })
    })
}

const fn fence(scope: Scope, order: Order) -> FenceSite {
    let both = matches!(order, Order::AcqRel | Order::Sc);
    FenceSite {
        reach: reach(scope),
        acquires: both || matches!(order, Order::Acquire),
        releases: both || matches!(order, Order::Release),
        total: matches!(order, Order::Sc),
    }
}

/// What an access is to others; `None` where no other thread can see it or nobody can change what it reads.
fn access(request: &WarpRequest) -> Option<AccessSite> {
    if let Space::Local | Space::Const | Space::Param = request.space {
        return None;
    }
    let kind = request.op.kind();
    let packed = matches!(
        request.op,
        MemOp::Atom(_, AtomTy::F16x2 | AtomTy::Bf16x2) | MemOp::Red(_, AtomTy::F16x2 | AtomTy::Bf16x2)
    );
    let (width, elements) = (u32::from(request.width), u32::from(request.elems.max(1)));
    let (width, elements) = if packed { (width / 2, elements * 2) } else { (width, elements) };
    let strength = match request.order {
        Order::Weak => Strength::Weak,
        _ => Strength::Strong(reach(request.scope)),
    };
    let both = matches!(request.order, Order::AcqRel | Order::Sc);
    Some(AccessSite {
        kind,
        width,
        elements,
        strength,
        acquires: kind.reads() && (both || request.order == Order::Acquire),
        releases: kind.writes() && (both || request.order == Order::Release),
        payload: false,
        space: request.space,
        data: Data { wide: request.wide, slots: request.regs },
        copies: None,
    })
}

impl AccessSite {
    /// It where marks of remote accesses count: at the scope of a block they are none (D-rsp-ptx-remote).
    const fn with_mark_of(self, request: &WarpRequest) -> Self {
        match self.strength {
            Strength::Strong(Reach::Device) if request.remote => {
                Self { strength: Strength::Strong(Reach::Remote), ..self }
            }
            _ => self,
        }
    }

    /// An access here as a party of a race.
    pub fn party(&self, address: u64, value: Option<u64>) -> Party {
        let strong = self.strength != Strength::Weak;
        Party { kind: self.kind, strong, address, bytes: self.width, value }
    }

    /// Whether it is atomic with nothing more: relaxed.
    pub const fn is_plain_atomic(&self) -> bool {
        matches!(self.kind, AccessKind::Atomic) && !self.acquires && !self.releases
    }

    /// The same on a word.
    pub const fn is_word_atomic(&self) -> bool {
        self.is_plain_atomic() && self.width == 4 && self.elements == 1
    }

    /// Whether it reads or writes a word, weakly.
    pub const fn is_word(&self) -> bool {
        let weak = matches!((self.kind, self.strength), (AccessKind::Read | AccessKind::Write, Strength::Weak));
        weak && self.width == 4 && self.elements == 1
    }

    /// Whether it reads volatile data that a store wrote (D-unordered).
    pub fn takes_data_of(&self, store: &Self) -> bool {
        self.payload && self.kind == AccessKind::Read && store.payload
    }

    /// Whether two accesses of different threads to one byte are morally strong. Elements lie at multiples of their
    /// size, so that two of one size that overlap do so completely.
    pub const fn morally_strong(&self, other: &Self, same_block: bool) -> bool {
        self.width == other.width && self.strength.with(other.strength, same_block)
    }

    /// The first byte of its element that has this byte.
    pub const fn start(&self, byte: u64) -> u64 {
        byte & !(self.width as u64 - 1)
    }

    /// Whether `self`, which comes later and after the other, stands for it: whatever races with the other races with
    /// it, too. `near`: their threads are of one block, so that scopes include the same threads.
    pub fn stands_for(&self, other: &Self, near: bool) -> bool {
        let conflicts_as_much = self.kind.writes() || !other.kind.writes();
        let as_strong = (self.strength, self.width) == (other.strength, other.width);
        let no_stronger =
            self.strength == Strength::Weak || as_strong && (near || self.strength != Strength::Strong(Reach::Block));
        conflicts_as_much && no_stronger
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ops::AtomOp;

    fn request(op: MemOp, order: Order, scope: Scope) -> WarpRequest {
        WarpRequest { op, order, scope, ..WarpRequest::PLAIN }
    }

    #[test]
    fn volatile_is_strong_of_system_scope() {
        let site = access(&request(MemOp::Load, Order::Volatile, Scope::Lane)).unwrap();
        assert_eq!((site.strength, site.acquires), (Strength::Strong(Reach::Device), false));
        let site = access(&request(MemOp::Store, Order::Release, Scope::Cta)).unwrap();
        assert_eq!((site.strength, site.releases, site.acquires), (Strength::Strong(Reach::Block), true, false));
        assert!(
            access(&WarpRequest { space: Space::Local, ..request(MemOp::Load, Order::Weak, Scope::Lane) }).is_none()
        );
    }

    #[test]
    fn packed_atomics_are_two_accesses() {
        let site = access(&request(MemOp::Red(AtomOp::Add, AtomTy::F16x2), Order::Relaxed, Scope::Gpu)).unwrap();
        assert_eq!((site.width, site.elements, site.is_plain_atomic()), (2, 2, true));
    }

    #[test]
    fn a_later_access_stands_for_one_that_races_with_no_more() {
        let of = |op, order| access(&request(op, order, Scope::Gpu)).unwrap();
        let (read, write) = (of(MemOp::Load, Order::Weak), of(MemOp::Store, Order::Weak));
        let strong = of(MemOp::Store, Order::Relaxed);
        assert!(write.stands_for(&read, false) && !read.stands_for(&write, true));
        assert!(
            write.stands_for(&strong, false) && !strong.stands_for(&write, true) && strong.stands_for(&strong, false)
        );
        let near = access(&request(MemOp::Store, Order::Relaxed, Scope::Cta)).unwrap();
        assert!(near.stands_for(&near, true) && !near.stands_for(&near, false));
    }
}
