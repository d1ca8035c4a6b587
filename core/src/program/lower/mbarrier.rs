//! `mbarrier` (PTX ISA 9.7.13.15): loads, stores and atomic operations on the 64 bits that a barrier is, so that memory, searches
//! and checks have nothing else to know; and a check of what they found (D-mbarrier).

use super::function::{FnLower, Role};
use super::memory::{scope_word, space_word};
use super::operand::{Located, constant_value, nth};
use super::types::constant_bits;
use crate::alu::mbarrier::{MOST, NEW, PENDING, PHASE, deed};
use crate::program::instr::{BarrierCheck, Instr, MemOp, Op, Order, Scope, Slot, Space, WarpRequest};
use crate::program::ops::{AtomOp, AtomTy, Class, IntOp};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Operand};

impl<'t> FnLower<'_, 't> {
    /// `mbarrier.…`
    pub(super) fn mbarrier(&mut self, instr: &'t tree::Instr) -> Option<()> {
        match instr.mods.first()?.text(self.unit.names()) {
            "init" => self.barrier_init(instr),
            "inval" => self.barrier_inval(instr),
            "arrive" => self.barrier_arrives(instr, deed::ARRIVES),
            "arrive_drop" => self.barrier_arrives(instr, deed::ARRIVES | deed::DROPS),
            "expect_tx" => self.barrier_counts(instr, deed::EXPECTS),
            "complete_tx" => self.barrier_counts(instr, deed::COMPLETES),
            "test_wait" | "try_wait" => self.barrier_waits(instr),
            "pending_count" => self.barrier_pending(instr),
            _ => None,
        }
    }

    /// Where the barrier is. An address that no space is named for is a generic one, and must be of shared memory.
    pub(super) fn barrier_at(&mut self, instr: &'t tree::Instr, op: &'t Operand) -> Option<Located> {
        let at = self.address(op)?;
        let named = at.place.is_some() || space_word(self.unit.names(), &instr.mods).is_some();
        let Some(window) = self.window(Space::Shared).filter(|_| !named) else { return Some(at) };
        let base = if at.wide { at.slot } else { self.helper(IntOp::ZextWQ, Class::Q, &[at.slot])? };
        let start = self.constant(Class::Q, window.wrapping_sub(at.offset.cast_unsigned()))?;
        let inside = self.helper(IntOp::Sub64, Class::Q, &[base, start])?;
        self.demand(BarrierCheck::Shared, inside, inside)?;
        Some(Located::new(inside, true, 0))
    }

    /// A check of two slots.
    fn demand(&mut self, check: BarrierCheck, a: Slot, b: Slot) -> Option<()> {
        self.emit(Role::Part, Instr { a, b, ..Instr::new(Op::Barrier(check)) });
        Some(())
    }

    /// An access of the barrier.
    fn barrier_access(&mut self, role: Role, op: MemOp, at: &Located, (order, scope): (Order, Scope), regs: &[Slot]) {
        let asked = WarpRequest { order, scope, ..WarpRequest::PLAIN };
        let mut request = at.access(&asked, op, Space::Shared, 8, Class::Q);
        request.regs.iter_mut().zip(regs).for_each(|(to, slot)| *to = *slot);
        self.request(role, request, at);
    }

    /// Ordering and scope: those of a block, unless said otherwise.
    fn barrier_order(&self, instr: &tree::Instr, usual: Order) -> (Order, Scope) {
        let order = if instr.mods.contains(&M::RELAXED) { Order::Relaxed } else { usual };
        let scope = match scope_word(self.unit.names(), &instr.mods) {
            Scope::Lane => Scope::Cta,
            scope => scope,
        };
        (order, scope)
    }

    /// A 32-bit operand in a 64-bit slot, below some flags.
    fn amount(&mut self, op: &'t Operand, flags: u64) -> Option<Slot> {
        if let Some(bits) = constant_value(op).and_then(|value| constant_bits(value, M::U32)) {
            return self.constant(Class::Q, flags | bits);
        }
        let narrow = self.source(op, Class::W, M::U32)?;
        let amount = self.helper(IntOp::ZextWQ, Class::Q, &[narrow])?;
        if flags == 0 {
            return Some(amount);
        }
        let flags = self.constant(Class::Q, flags)?;
        self.helper(IntOp::Or64, Class::Q, &[amount, flags])
    }

    /// `mbarrier.init [a], count`: what was there is looked at, since a barrier must not be initialised twice.
    fn barrier_init(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let at = self.barrier_at(instr, nth(instr, 0)?)?;
        let count = self.amount(nth(instr, 1)?, 0)?;
        let (unit, mark) = (self.constant(Class::Q, NEW.0)?, self.constant(Class::Q, NEW.1)?);
        let product = self.helper(IntOp::MulLo64, Class::Q, &[count, unit])?;
        let word = self.helper(IntOp::Add64, Class::Q, &[product, mark])?;
        let old = self.temp(Class::Q)?;
        let weak = (Order::Weak, Scope::Lane);
        self.barrier_access(Role::Main, MemOp::Load, &at, weak, &[old]);
        self.demand(BarrierCheck::New, old, count)?;
        self.barrier_access(Role::Part, MemOp::Store, &at, weak, &[word]);
        Some(())
    }

    /// `mbarrier.inval [a]`
    fn barrier_inval(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let at = self.barrier_at(instr, nth(instr, 0)?)?;
        let (old, zero) = (self.temp(Class::Q)?, self.constant(Class::Q, 0)?);
        let weak = (Order::Weak, Scope::Lane);
        self.barrier_access(Role::Main, MemOp::Load, &at, weak, &[old]);
        self.demand(BarrierCheck::Valid, old, old)?;
        self.barrier_access(Role::Part, MemOp::Store, &at, weak, &[zero]);
        Some(())
    }

    /// `mbarrier.arrive{…} d, [a]{, count}` and `mbarrier.arrive_drop`; `_` is no `d`.
    fn barrier_arrives(&mut self, instr: &'t tree::Instr, mut flags: u64) -> Option<()> {
        let at = self.barrier_at(instr, nth(instr, 1)?)?;
        if instr.mods.contains(&M::NOCOMPLETE) {
            flags |= deed::INCOMPLETE;
        }
        if instr.mods.iter().any(|word| word.text(self.unit.names()) == "expect_tx") {
            flags |= deed::EXPECTS;
        }
        let request = match instr.operands.get(2) {
            Some(count) => self.amount(count, flags)?,
            None => self.constant(Class::Q, flags | 1)?,
        };
        let state = self.destination_of(nth(instr, 0)?, Class::Q)?;
        self.barrier_changes(&at, state, request, self.barrier_order(instr, Order::Release))
    }

    /// `mbarrier.expect_tx{…} [a], count` and `mbarrier.complete_tx`, which order nothing.
    fn barrier_counts(&mut self, instr: &'t tree::Instr, flags: u64) -> Option<()> {
        let at = self.barrier_at(instr, nth(instr, 0)?)?;
        let request = self.amount(nth(instr, 1)?, flags)?;
        let state = self.temp(Class::Q)?;
        self.barrier_changes(&at, state, request, self.barrier_order(instr, Order::Relaxed))
    }

    /// `cp.async.mbarrier.arrive{.noinc} [a]` (PTX ISA 9.7.13.15.18): without `.noinc` the phase awaits the arrival that it makes.
    pub(super) fn arrives_later(&mut self, instr: &'t tree::Instr, counted: bool) -> Option<()> {
        let at = self.barrier_at(instr, nth(instr, 0)?)?;
        if !counted {
            let (old, request) = (self.temp(Class::Q)?, self.constant(Class::Q, deed::AWAITS | 1)?);
            self.barrier_changes(&at, old, request, (Order::Relaxed, Scope::Cta))?;
        }
        let asked = WarpRequest { order: Order::Release, scope: Scope::Cta, ..WarpRequest::PLAIN };
        let request = at.access(&asked, MemOp::Red(AtomOp::Barrier, AtomTy::B64), Space::Shared, 8, Class::Q);
        let imm = self.requested(request, &at);
        let role = if counted { Role::Main } else { Role::Part };
        self.emit(role, Instr { imm, a: request.addr, ..Instr::new(Op::CopyArrive) });
        Some(())
    }

    /// One atomic operation, which leaves the barrier as it is where it may not be done.
    fn barrier_changes(&mut self, at: &Located, old: Slot, request: Slot, order: (Order, Scope)) -> Option<()> {
        let change = MemOp::Atom(AtomOp::Barrier, AtomTy::B64);
        self.barrier_access(Role::Main, change, at, order, &[old, request]);
        self.demand(BarrierCheck::Performed, old, request)
    }

    /// `mbarrier.test_wait{.parity}{…} p, [a], state` and `mbarrier.try_wait`, which need not wait and does not.
    fn barrier_waits(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let at = self.barrier_at(instr, nth(instr, 1)?)?;
        let parity = instr.mods.contains(&M::PARITY);
        let operand = nth(instr, 2)?;
        let (check, asked) = if parity {
            (BarrierCheck::Parity, self.amount(operand, 0)?)
        } else {
            (BarrierCheck::State, self.source(operand, Class::Q, M::B64)?)
        };
        let (word, order) = (self.temp(Class::Q)?, self.barrier_order(instr, Order::Acquire));
        self.barrier_access(Role::Main, MemOp::Load, &at, order, &[word]);
        self.demand(check, word, asked)?;
        // The phase that is asked for is complete where the barrier is in another one.
        let (phase, zero) = (self.constant(Class::Q, PHASE)?, self.constant(Class::Q, 0)?);
        let differs = self.helper(IntOp::Xor64, Class::Q, &[word, asked])?;
        let differs = self.helper(IntOp::And64, Class::Q, &[differs, phase])?;
        let p = self.destination_of(nth(instr, 0)?, Class::P)?;
        self.alu(Role::Part, IntOp::NeQ, p, &[differs, zero]);
        Some(())
    }

    /// `mbarrier.pending_count d, state`
    fn barrier_pending(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let state = self.source(nth(instr, 1)?, Class::Q, M::B64)?;
        self.demand(BarrierCheck::Counted, state, state)?;
        let (first, mask) = (self.constant(Class::W, PENDING.into())?, self.constant(Class::Q, MOST.into())?);
        let count = self.helper(IntOp::ShrU64, Class::Q, &[state, first])?;
        let count = self.helper(IntOp::And64, Class::Q, &[count, mask])?;
        let d = self.destination_of(nth(instr, 0)?, Class::W)?;
        self.operation(IntOp::TruncQW, d, &[count])
    }
}
