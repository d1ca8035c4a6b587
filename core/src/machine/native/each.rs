//! Accesses of memory that native code makes itself: plain ones of a word, and those that it makes lane by lane, in ascending order:
//! from addresses that lie anywhere or on a line that is no row of words, of several words, and atomic ones.

use crate::base::Pc;
use crate::program::env::ProgEnv;
use crate::program::instr::{Instr, MemOp, NO_SLOT, Op, STACK_BASE, STACK_TOP, Slot, Space};
use crate::program::ops::{AtomOp, AtomTy, Class};

/// A load or a store of one word or double word of global or shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Access {
    pub load: bool,
    pub shared: bool,
    /// The address's register, and what is added to it.
    pub class: Class,
    pub slot: Slot,
    pub offset: i64,
    /// 4 or 8.
    pub bytes: u32,
    /// The register that is loaded or stored.
    pub data: Slot,
}

impl Access {
    /// That of an instruction, if it is one.
    pub fn of(i: &Instr, env: &ProgEnv) -> Option<Self> {
        let rq =
            env.request(i).filter(|_| !matches!(i.op, Op::CopyFrom | Op::CopyTo | Op::CopyArrive | Op::Bulk(_)))?;
        let word = rq.width == 4 && !rq.wide && rq.ext == 32;
        let double = rq.width == 8 && rq.wide;
        let near = i64::from(i16::MIN)..i64::from(i16::MAX);
        let plain = rq.elems == 1 && (word || double) && rq.regs[0] != NO_SLOT && near.contains(&rq.offset);
        let load = match rq.op {
            MemOp::Load => true,
            MemOp::Store => false,
            _ => return None,
        };
        let shared = match rq.space {
            Space::Shared => true,
            Space::Global => false,
            _ => return None,
        };
        let (class, slot, offset, bytes, data) = (rq.address_class(), rq.addr, rq.offset, rq.width.into(), rq.regs[0]);
        plain.then_some(Self { load, shared, class, slot, offset, bytes, data })
    }
}

/// A load or a store of a word or double word of the stack frame, at a place that is known: a row of words of local memory, or two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OfFrame {
    pub load: bool,
    /// The first row, counted from where the frame begins.
    pub row: u32,
    /// 4 or 8.
    pub bytes: u32,
    /// The register that is loaded or stored.
    pub data: Slot,
}

/// Bytes of a frame at most whose accesses native code makes itself.
const FRAME: i64 = 1 << 14;

impl OfFrame {
    /// That of an instruction at an address in a function with so many bytes in its frame, if it is one.
    pub fn of(i: &Instr, pc: u32, frame: u32, env: &ProgEnv) -> Option<Self> {
        let rq = env.request(i).filter(|_| i.op == Op::Mem && i.guard.is_none())?;
        let load = match rq.op {
            MemOp::Load => true,
            MemOp::Store => false,
            _ => return None,
        };
        let word = rq.width == 4 && !rq.wide && rq.ext == 32;
        let double = rq.width == 8 && rq.wide;
        let from = match (rq.addr_wide, rq.addr) {
            (false, STACK_BASE) => 0,
            (false, STACK_TOP) => i64::from(frame),
            _ => return None,
        };
        let (first, bytes) = (from + rq.offset, u32::from(rq.width));
        let plain = rq.space == Space::Local && rq.elems == 1 && (word || double) && rq.regs[0] != NO_SLOT;
        let whole = u64::try_from(first).is_ok_and(|at| at.is_multiple_of(bytes.into())) && first < FRAME;
        let object = env.root(Pc(pc));
        let inside = object.object().filter(|own| own.kind == Space::Local.kind()).is_none_or(|own| {
            own.framed && (i64::from(own.begin)..=i64::from(own.end) - i64::from(bytes)).contains(&first)
        });
        (plain && whole && inside).then(|| Self { load, row: (first / 4) as u32, bytes, data: rq.regs[0] })
    }
}

/// What an access does to the words of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Load,
    Store,
    /// On one word of 32 bits.
    Atomic(AtomOp, AtomTy),
}

/// An access of global or shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Each {
    pub what: What,
    pub shared: bool,
    /// The address's register, and what is added to it.
    pub class: Class,
    pub slot: Slot,
    pub offset: i64,
    /// Bytes of a word: 2, 4 or 8.
    pub bytes: u32,
    /// Words of a lane, whose bytes are 16 at most.
    pub words: u32,
    /// What is loaded or stored; of an atomic operation the result, if it has one, and the operands.
    pub data: [Slot; 4],
}

impl Each {
    /// That of an instruction, if it is one.
    pub fn of(i: &Instr, env: &ProgEnv) -> Option<Self> {
        let rq = env.request(i).filter(|_| matches!(i.op, Op::Mem) || Access::of(i, env).is_some())?;
        let shared = match rq.space {
            Space::Shared => true,
            Space::Global => false,
            _ => return None,
        };
        let near = i64::from(i16::MIN)..i64::from(i16::MAX);
        let words = u32::from(rq.elems).max(1);
        let mut data = [NO_SLOT; 4];
        data.copy_from_slice(rq.regs.get(..4)?);
        let whole = data.iter().take(words as usize).all(|slot| *slot != NO_SLOT);
        let plain = match (rq.width, rq.wide) {
            (2, false) => words == 1 && !rq.signed,
            (4, false) => rq.ext == 32,
            (8, true) => true,
            _ => false,
        };
        let what = match rq.op {
            MemOp::Load if plain && whole => What::Load,
            MemOp::Store if plain && whole => What::Store,
            MemOp::Atom(op, ty) | MemOp::Red(op, ty) => {
                if matches!(rq.op, MemOp::Red(..)) {
                    data[0] = NO_SLOT;
                }
                let operands = data[1] != NO_SLOT && (op != AtomOp::Cas || data[2] != NO_SLOT);
                if words != 1 || rq.wide || rq.width != 4 || !operands || !has(op, ty) {
                    return None;
                }
                What::Atomic(op, ty)
            }
            _ => return None,
        };
        let (class, slot, offset, bytes) = (rq.address_class(), rq.addr, rq.offset, u32::from(rq.width));
        let fits =
            near.contains(&offset) && words.is_power_of_two() && bytes * words <= 16 && (shared || class == Class::Q);
        fits.then_some(Self { what, shared, class, slot, offset, bytes, words, data })
    }

    /// Bytes of a lane: its address is a multiple of them.
    pub const fn unit(&self) -> u32 {
        self.bytes * self.words
    }

    /// The class of what is loaded or stored.
    pub const fn data_class(&self) -> Class {
        if self.bytes == 8 { Class::Q } else { Class::W }
    }

    /// Whether memory is the same behind it.
    pub fn loads(&self) -> bool {
        self.what == What::Load
    }
}

/// Whether there are instructions for an atomic operation on a word.
const fn has(op: AtomOp, ty: AtomTy) -> bool {
    use AtomOp as O;
    match ty {
        AtomTy::B32 | AtomTy::U32 | AtomTy::S32 => !matches!(op, O::Barrier),
        AtomTy::F32 | AtomTy::F32Ftz => matches!(op, O::Add),
        _ => false,
    }
}
