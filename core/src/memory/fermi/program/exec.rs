//! Execution of memory programs: B⟦·⟧ (4.4.2), O⟦·⟧ (4.4.3) and the transition system →Op (4.4.4).
//!
//! [`micro`] is a micro step: statements up to a yield, the end, or an operation that has to wait. An undefined step (⊥) is
//! [`Micro::Stuck`] with its line.
//!
//! Departures: the cache queries are defined for the states of atomic operations on global memory, too, and for operations
//! without a cache operator (D-atomic, D-strong). What is done to caches is in `caches`.

use super::code::{At, Code, Program};
use super::state::{AtomPlace, Atomic, Piece, Sigma};
use super::tree::{BExp, Level, OpExp};
use crate::alu::atom;
use crate::base::mutant::{Mutant, on};
use crate::base::phrases;
use crate::memory::fermi::cache::{ByteMask, Bytes, Cache, Flow, LineKey, OpIdx};
use crate::program::ops::AtomTy;
use crate::verdict::{Rule, Stop};
use serde::{Deserialize, Serialize};

/// How much a miss fetches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fill {
    /// The whole line.
    Line,
    /// The operation's bytes.
    Bytes,
}

/// The memory environment as a program sees it: of the multiprocessor, block and warp that issued its operation.
pub trait Eta {
    /// Whether [`Eta::fired`] wants to be called.
    const ON: bool;

    /// The multiprocessor's L1 cache, or the L2 cache. Both have one line size.
    fn cache(&mut self, level: Level) -> &mut Cache;

    /// The L1 caches of the other multiprocessors.
    fn others(&mut self) -> impl Iterator<Item = &mut Cache>;

    /// How much a miss fetches.
    fn fill(&self) -> Fill;

    /// Which of several lines, at least two, is evicted for another: an index.
    ///
    /// # Errors
    /// As the oracle.
    fn victim(&mut self, level: Level, among: &[LineKey]) -> Result<usize, Stop>;

    /// Reads device memory behind the caches: sets the bytes of `want` in `into`. Bytes outside of every block of memory
    /// read as zero, since a line may reach beyond one.
    fn read_device(&mut self, key: LineKey, want: ByteMask, into: &mut Bytes);

    /// Writes the known bytes of `from` to device memory behind the caches. False for memory that cannot be written.
    fn write_device(&mut self, key: LineKey, from: &Bytes) -> bool;

    /// Reads shared memory of the operation's block, locked or not; appends to `into`. False when it ends before.
    fn read_shared(&mut self, piece: Piece, into: &mut Vec<u8>) -> bool;

    /// Writes shared memory of the operation's block, locked or not; `place`: which of its pieces. False when it ends before.
    fn write_shared(&mut self, piece: Piece, place: usize, from: &[u8]) -> bool;

    /// Whether a bank of these bytes is locked (by whichever operation).
    fn locked(&self, piece: Piece) -> bool;

    /// Locks or unlocks the banks of these bytes.
    fn set_lock(&mut self, piece: Piece, locked: bool);

    /// Writes what the operation has read to its registers, by its decomposition. False when it has none.
    fn write_regs(&mut self, sigma: &Sigma) -> bool;

    /// Unblocks the operation's registers.
    fn release_regs(&mut self);

    /// An atomic operation has computed its new value from what it has read last.
    fn computed(&mut self) {}

    /// Bytes of a line come to the L2.
    fn arrived(&mut self, _: LineKey, _: &Bytes) {}

    /// A rule fired.
    ///
    /// # Errors
    /// A checker stops the run.
    fn fired(&mut self, rule: Rule) -> Result<(), Stop>;
}

/// How a micro step ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Micro {
    /// At a `yield`.
    Yield,
    /// At an operation that could not take place yet: an implicit yield (4.4).
    Wait,
    /// At the program's `end`.
    End,
    /// Nowhere, since no rule applies: where ([`Program::line`]), and why.
    Stuck(At, Undefined),
}

phrases! {
    /// Why a statement is undefined in a state (⊥).
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Undefined {
        /// The address has no line in the cache, or the line lacks bytes and nobody fetches them.
        NotCached(level: Level) => ("the address is not in {level}, or not all of its bytes are");
        /// `reserve` of an address that is cached.
        AlreadyCached(level: Level) => ("the address is in {level} already");
        /// The operation's memory has no caches.
        NoCaches => ("this memory has no caches");
        /// Not an atomic operation.
        NotAtomic => ("the operation is not atomic");
        /// Not a fence.
        NotFence => ("only a fence acts on all lines of the cache");
        /// Banks are locked for atomic operations on shared memory only.
        NotSharedAtomic => ("only atomic operations on shared memory lock banks");
        /// Registers only: there is no memory to access.
        NoMemory => ("the operation has no address");
        /// The value has not been read yet.
        NothingRead => ("no value has been read");
        /// The operation writes no registers.
        NoRegisters => ("the operation has no destination registers");
        /// The memory cannot be written, or ends before the operation's bytes.
        NotWritable => ("this memory cannot be written");
        /// The memory ends before the operation's bytes.
        NotReadable => ("this memory cannot be read");
        /// The program ends without `end`.
        NoEnd => ("the program ends without `end`");
    }
}

/// Executes a micro step of operation `op`: from `at`, which advances, to a yield or an end.
///
/// # Errors
/// A checker stopped the run, or a schedule does not fit. A stuck program is no error but an answer.
pub fn micro<E: Eta>(program: &Program, at: &mut At, op: OpIdx, sigma: &mut Sigma, eta: &mut E) -> Result<Micro, Stop> {
    let mut run = Run { op, sigma, eta };
    loop {
        let Some(instr) = program.code.get(usize::from(at.pc)) else { return Ok(Micro::Stuck(*at, Undefined::NoEnd)) };
        let next = At { pc: at.pc + 1, again: false };
        match instr.code {
            // Rule: op.nop
            Code::Nop => {
                run.fire(Rule::OpNop)?;
                run.follows(instr.follows, Rule::OpSeq3)?;
                *at = next;
            }
            Code::Goto(target) => *at = At { pc: target, again: false },
            // Rule: op.yield
            Code::Yield => {
                run.fire(Rule::OpYield)?;
                run.follows(instr.follows, Rule::OpSeq1)?;
                *at = next;
                if !on(Mutant::YieldGoesOn) {
                    return Ok(Micro::Yield);
                }
            }
            // Rule: op.end, op.seq2
            Code::End => {
                run.fire(Rule::OpEnd)?;
                run.follows(instr.follows, Rule::OpSeq2)?;
                *at = next;
                if !on(Mutant::EndGoesOn) {
                    return Ok(Micro::End);
                }
            }
            // Rule: op.iftt, op.ifff
            Code::If(cond, otherwise) => {
                let Some(cond) = program.conds.get(usize::from(cond)) else {
                    return Ok(Micro::Stuck(*at, Undefined::NoEnd));
                };
                match run.holds(cond)? {
                    Ok(holds) => {
                        let holds = holds && !on(Mutant::AlwaysElse);
                        run.fire(if holds { Rule::OpIfTt } else { Rule::OpIfFf })?;
                        *at = if holds { next } else { At { pc: otherwise, again: false } };
                    }
                    Err(cause) => return Ok(Micro::Stuck(*at, cause)),
                }
            }
            // Rule: op.op1, op.op2
            Code::Op(exp) => match run.operate(exp, at.again)? {
                Ok(Flow::Done) => {
                    run.fire(Rule::OpOp1)?;
                    run.follows(instr.follows, Rule::OpSeq3)?;
                    *at = next;
                }
                Ok(Flow::Wait) => {
                    run.fire(Rule::OpOp2)?;
                    run.follows(instr.follows, Rule::OpSeq1)?;
                    if on(Mutant::WaitGoesOn) {
                        *at = next;
                        continue;
                    }
                    at.again = true;
                    return Ok(Micro::Wait);
                }
                Err(cause) => return Ok(Micro::Stuck(*at, cause)),
            },
        }
    }
}

/// A micro step being executed.
pub(super) struct Run<'a, E> {
    pub(super) op: OpIdx,
    pub(super) sigma: &'a mut Sigma,
    pub(super) eta: &'a mut E,
}

/// An answer, or why there is none (⊥).
pub(super) type Defined<T> = Result<T, Undefined>;

impl<E: Eta> Run<'_, E> {
    #[inline]
    pub(super) fn fire(&mut self, rule: Rule) -> Result<(), Stop> {
        if E::ON { self.eta.fired(rule) } else { Ok(()) }
    }

    /// Fires a rule of sequences, where statements follow.
    ///
    /// Rule: op.seq1, op.seq3
    #[inline]
    fn follows(&mut self, follows: bool, rule: Rule) -> Result<(), Stop> {
        if follows { self.fire(rule) } else { Ok(()) }
    }

    /// B⟦·⟧ (4.4.2). Both sides of `and` and `or` are evaluated: an undefined one leaves the whole undefined.
    fn holds(&mut self, cond: &BExp) -> Result<Defined<bool>, Stop> {
        Ok(match cond {
            // Rule: bexp.true, bexp.false
            BExp::Const(value) => {
                self.fire(if *value { Rule::BexpTrue } else { Rule::BexpFalse })?;
                Ok(*value)
            }
            // Rule: bexp.isCachedL1, bexp.isCachedL2
            BExp::IsCached(level) => {
                let Some((key, _, want)) = self.sigma.line() else { return Ok(Err(Undefined::NoCaches)) };
                self.fire(if *level == Level::L1 { Rule::BexpIsCachedL1 } else { Rule::BexpIsCachedL2 })?;
                Ok(self.eta.cache(*level).is_cached(key, want))
            }
            // Rule: bexp.not
            BExp::Not(inner) => {
                self.fire(Rule::BexpNot)?;
                self.holds(inner)?.map(|value| !value)
            }
            // Rule: bexp.and, bexp.or
            BExp::And(left, right) | BExp::Or(left, right) => {
                let and = matches!(cond, BExp::And(..));
                self.fire(if and { Rule::BexpAnd } else { Rule::BexpOr })?;
                let (left, right) = (self.holds(left)?, self.holds(right)?);
                left.and_then(|l| right.map(|r| if and { l && r } else { l || r }))
            }
        })
    }

    /// O⟦·⟧: an operation; whether it is done or has to wait.
    fn operate(&mut self, exp: OpExp, again: bool) -> Result<Defined<Flow>, Stop> {
        if E::ON
            && let Some(rule) = exp.rule()
        {
            self.eta.fired(rule)?;
        }
        let done = match exp {
            // Rule: opexp.readMem
            OpExp::ReadMem => self.read_mem(),
            // Rule: opexp.writeMem
            OpExp::WriteMem => self.write_mem(),
            // Rule: opexp.atomOp
            OpExp::AtomOp => self.atom_op(),
            // Rule: opexp.releaseRegs
            OpExp::ReleaseRegs => {
                self.eta.release_regs();
                Ok(())
            }
            // Rule: opexp.writeToRegs
            OpExp::WriteToRegs if !self.sigma.complete() => Err(Undefined::NothingRead),
            OpExp::WriteToRegs => self.eta.write_regs(self.sigma).then_some(()).ok_or(Undefined::NoRegisters),
            // Rule: opexp.lock, opexp.unlock
            OpExp::Lock | OpExp::Unlock => return Ok(self.lock(exp == OpExp::Lock)),
            OpExp::Cache(function, level) => return self.cache(function, level, again),
            OpExp::InvalidateOthersL1 => return self.invalidate_others(),
            OpExp::FlushL1 => return Ok(self.flush()),
        };
        Ok(done.map(|()| Flow::Done))
    }

    /// Locks or unlocks the banks of an atomic operation on shared memory.
    fn lock(&mut self, locks: bool) -> Defined<Flow> {
        let Sigma::Atomic(Atomic { place: AtomPlace::Shared(piece), .. }) = &*self.sigma else {
            return Err(Undefined::NotSharedAtomic);
        };
        if locks && self.eta.locked(*piece) && !on(Mutant::LockIgnored) {
            return Ok(Flow::Wait);
        }
        self.eta.set_lock(*piece, locks);
        Ok(Flow::Done)
    }

    /// `readMem_op`.
    fn read_mem(&mut self) -> Defined<()> {
        match &mut *self.sigma {
            Sigma::Device(d) => self.eta.read_device(d.key, d.want, &mut d.value),
            Sigma::Atomic(Atomic { place: AtomPlace::Global { key, want, .. }, out, .. }) => {
                self.eta.read_device(*key, *want, out);
            }
            Sigma::Atomic(Atomic { place: AtomPlace::Shared(piece), out, .. }) => {
                let mut bytes = Vec::with_capacity(16);
                if !self.eta.read_shared(*piece, &mut bytes) {
                    return Err(Undefined::NotReadable);
                }
                out.put(0, &bytes);
            }
            Sigma::Shared(s) => {
                s.value.clear();
                for piece in &s.pieces {
                    if !self.eta.read_shared(*piece, &mut s.value) {
                        return Err(Undefined::NotReadable);
                    }
                }
            }
            Sigma::Reg | Sigma::Fence { .. } => return Err(Undefined::NoMemory),
        }
        Ok(())
    }

    /// `writeMem_op`.
    fn write_mem(&mut self) -> Defined<()> {
        let bytes = self.sigma.written();
        let written = match &*self.sigma {
            Sigma::Device(d) => self.eta.write_device(d.key, &bytes),
            Sigma::Atomic(Atomic { place: AtomPlace::Global { key, .. }, .. }) => self.eta.write_device(*key, &bytes),
            Sigma::Atomic(Atomic { place: AtomPlace::Shared(piece), .. }) => {
                let len = usize::from(piece.len).min(16);
                self.eta.write_shared(*piece, 0, bytes.data().get(..len).unwrap_or(&[]))
            }
            Sigma::Shared(s) => {
                let mut rest = s.value.as_slice();
                s.pieces.iter().enumerate().all(|(place, piece)| {
                    let Some((now, later)) = rest.split_at_checked(usize::from(piece.len)) else { return false };
                    rest = later;
                    self.eta.write_shared(*piece, place, now)
                })
            }
            Sigma::Reg | Sigma::Fence { .. } => return Err(Undefined::NoMemory),
        };
        written.then_some(()).ok_or(Undefined::NotWritable)
    }

    /// `atom_op`: the new value takes the place of the first operand.
    fn atom_op(&mut self) -> Defined<()> {
        let Sigma::Atomic(a) = &mut *self.sigma else { return Err(Undefined::NotAtomic) };
        let old = a.old().ok_or(Undefined::NothingRead)?;
        self.eta.computed();
        if on(Mutant::AtomOpIdle) {
            return Ok(());
        }
        let low = |value: u128| u64::try_from(value & u128::from(u64::MAX)).unwrap_or(0);
        a.first = if a.ty == AtomTy::B128 {
            atom::apply128(a.op, old, a.first, a.second)
        } else {
            atom::apply(a.op, a.ty, low(old), low(a.first), low(a.second)).into()
        };
        Ok(())
    }
}
