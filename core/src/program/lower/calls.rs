//! Calls (PTX ISA 9.7.12.5): parameters are copied between the frames of caller and callee.
//!
//! The callee's frame begins at the caller's top of stack: return parameters first, then parameters. So the caller
//! writes arguments just above its own frame, and reads results there afterwards (report, 5.1.3 step 3).

use super::function::{FnLower, Role};
use super::symbol::{Base, Place, Reg, Sym};
use crate::program::env::{FuncId, Param};
use crate::program::instr::{Instr, MemOp, Op, STACK_BASE, STACK_TOP, Slot};
use crate::program::layout::parameters;
use crate::program::ops::{Class, IntOp};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Call, Ident, Operand, OperandKind};

/// The parameters of a callee: results, then arguments.
type Signature = (Vec<Param>, Vec<Param>);

fn signature(mut params: Vec<Param>, returns: usize) -> Signature {
    let rest = params.split_off(returns.min(params.len()));
    (params, rest)
}

impl<'t> FnLower<'_, 't> {
    /// `call{.uni} {(results),} f{, (arguments)}{, prototype};`
    pub(super) fn call(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let Call { results, target, arguments, rest } = instr.call()?;
        let OperandKind::Name(name) = target.kind else { return None };
        match self.lookup(name)? {
            Sym::Function(id) => {
                let signature = self.signature_of(id)?;
                if let Some(uses) = self.program.uses.get_mut(self.id.0 as usize) {
                    uses.calls.push(id);
                }
                let syscall = self.program.syscalls.get(id.0 as usize).copied().flatten();
                let called = match syscall {
                    Some(syscall) => Instr::new(Op::Syscall(syscall)),
                    None => Instr { imm: id.0, ..Instr::new(Op::Call) },
                };
                self.call_with(&signature, results, arguments, called)
            }
            Sym::Reg(reg) => {
                let a = self.widened(reg, Class::Q)?;
                let (signature, imm) = self.indirect(rest.first()?)?;
                if let Some(uses) = self.program.uses.get_mut(self.id.0 as usize) {
                    uses.indirect = true;
                }
                let called = Instr { a, imm, ..Instr::new(Op::CallIndirect) };
                self.call_with(&signature, results, arguments, called)
            }
            _ => None,
        }
    }

    fn signature_of(&self, id: FuncId) -> Option<Signature> {
        let function = self.program.env.function(id)?;
        Some(signature(function.params.clone(), function.returns as usize))
    }

    /// The parameters and the allowed targets of an indirect call.
    fn indirect(&mut self, of: &'t Operand) -> Option<(Signature, u32)> {
        let OperandKind::Name(name) = of.kind else { return None };
        match self.lookup(name)? {
            Sym::Prototype(index) => {
                let prototype = self.prototypes.get(index as usize)?;
                let (names, mut params) = (self.unit.names(), Vec::new());
                let end = parameters(&prototype.returns, names, 0, &mut params).ok()?;
                let returns = params.len();
                parameters(&prototype.params, names, end, &mut params).ok()?;
                Some((signature(params, returns), u32::MAX))
            }
            Sym::Targets(index) => {
                let labels: &'t [Ident] = self.targets.get(index as usize)?.0;
                let function = |label: &Ident| match self.lookup(label.name)? {
                    Sym::Function(id) => Some(id),
                    _ => None,
                };
                let functions: Vec<FuncId> = labels.iter().map(function).collect::<Option<_>>()?;
                let signature = self.signature_of(*functions.first()?)?;
                self.program.taken.extend(&functions);
                self.code.calls.push(functions.iter().map(|id| id.0).collect());
                Some((signature, u32::try_from(self.code.calls.len() - 1).unwrap_or(u32::MAX)))
            }
            _ => None,
        }
    }

    fn call_with(
        &mut self,
        (returns, params): &Signature,
        results: &'t [Operand],
        arguments: &'t [Operand],
        called: Instr,
    ) -> Option<()> {
        // Results may be left out altogether. A function that another module defines may give none where this one declares some:
        // they are what they were.
        let both = !results.is_empty() && !returns.is_empty();
        if params.len() != arguments.len() || both && returns.len() != results.len() {
            return None;
        }
        for (at, op) in params.iter().zip(arguments) {
            self.argument(at, op)?;
        }
        let returns_here = !matches!(called.op, Op::Syscall(_));
        if self.inject && returns_here {
            // The return address is the instruction after the call, which follows.
            let imm = self.here().saturating_add(2);
            self.emit(Role::Part, Instr { imm, ..Instr::new(Op::PreRet) });
        }
        self.emit(Role::Main, called);
        returns.iter().zip(results).try_for_each(|(at, op)| self.result(at, op))
    }

    /// Copies an argument to the callee's frame.
    fn argument(&mut self, at: &Param, op: &'t Operand) -> Option<()> {
        if let Some(place) = self.param_variable(op) {
            return self.copy(place, at, false);
        }
        if let Some(reg) = self.as_register(op) {
            return self.register_to_frame(reg, at.offset, small(at.bytes), STACK_TOP);
        }
        let (class, ty) = match at.bytes {
            8 => (Class::Q, M::B64),
            4 => (Class::W, M::B32),
            2 => (Class::W, M::B16),
            1 => (Class::W, M::B8),
            // What a constant of 16 bytes holds above its first eight is not written down.
            _ => return None,
        };
        let slot = self.source(op, class, ty)?;
        self.local_access(Role::Part, MemOp::Store, STACK_TOP, i64::from(at.offset), small(at.bytes), slot);
        Some(())
    }

    /// Copies a result from the callee's frame.
    fn result(&mut self, at: &Param, op: &'t Operand) -> Option<()> {
        if matches!(op.kind, OperandKind::Sink) {
            return Some(());
        }
        if let Some(place) = self.param_variable(op) {
            return self.copy(place, at, true);
        }
        let reg = self.as_register(op)?;
        self.frame_to_register(reg, at.offset, small(at.bytes), STACK_TOP, Role::Part)
    }

    /// A `.param` variable of this function as an argument or result.
    fn param_variable(&mut self, op: &'t Operand) -> Option<(u32, Place)> {
        let OperandKind::Name(name) = op.kind else { return None };
        match self.lookup(name)? {
            Sym::Place(place @ Place { base: Base::Frame(offset), .. }) => Some((offset, place)),
            _ => None,
        }
    }

    /// Copies between a variable of this frame and a parameter above it, in pieces that are aligned on both sides.
    fn copy(&mut self, (from, place): (u32, Place), at: &Param, result: bool) -> Option<()> {
        if place.bytes < at.bytes {
            return None;
        }
        let (mut done, bytes) = (0, at.bytes);
        let align = at.align.min(place.align).clamp(1, 8);
        while done < bytes {
            let mut piece = align;
            while done + piece > bytes || done % piece != 0 {
                piece /= 2;
            }
            let class = if piece == 8 { Class::Q } else { Class::W };
            let used = self.temps_used;
            let slot = self.temp(class)?;
            // The next piece may use the same temporary.
            self.temps_used = used;
            let mine = (STACK_BASE, i64::from(from) + i64::from(done));
            let theirs = (STACK_TOP, i64::from(at.offset) + i64::from(done));
            let (source, target) = if result { (theirs, mine) } else { (mine, theirs) };
            self.local_access(Role::Part, MemOp::Load, source.0, source.1, small(piece), slot);
            self.local_access(Role::Part, MemOp::Store, target.0, target.1, small(piece), slot);
            done += piece;
        }
        Some(())
    }

    /// Stores a register at an offset from a frame's base.
    pub(super) fn register_to_frame(&mut self, reg: Reg, offset: u32, bytes: u8, base: Slot) -> Option<()> {
        let offset = i64::from(offset);
        match (reg.class, reg.bits) {
            (Class::P, _) => {
                let (yes, no) = (self.constant(Class::W, 1)?, self.constant(Class::W, 0)?);
                let t = self.temp(Class::W)?;
                self.alu(Role::Helper, IntOp::SelW, t, &[yes, no, reg.slot]);
                self.local_access(Role::Part, MemOp::Store, base, offset, 1, t);
            }
            (_, 128) => {
                self.local_access(Role::Part, MemOp::Store, base, offset, 8, reg.slot);
                let high = Slot(reg.slot.0.saturating_add(1));
                self.local_access(Role::Part, MemOp::Store, base, offset + 8, 8, high);
            }
            (class, _) => {
                let wide = class == Class::Q;
                let width = power(bytes.min(if wide { 8 } else { 4 }));
                let slot = if wide && width < 8 { self.widened(reg, Class::W)? } else { reg.slot };
                self.local_access(Role::Part, MemOp::Store, base, offset, width, slot);
            }
        }
        Some(())
    }

    /// Loads a register from an offset from a frame's base.
    pub(super) fn frame_to_register(&mut self, reg: Reg, offset: u32, bytes: u8, base: Slot, role: Role) -> Option<()> {
        let offset = i64::from(offset);
        match (reg.class, reg.bits) {
            (Class::P, _) => {
                let (t, zero) = (self.temp(Class::W)?, self.constant(Class::W, 0)?);
                self.local_access(role, MemOp::Load, base, offset, 1, t);
                self.alu(role, IntOp::NeW, reg.slot, &[t, zero]);
            }
            (_, 128) => {
                self.local_access(role, MemOp::Load, base, offset, 8, reg.slot);
                let high = Slot(reg.slot.0.saturating_add(1));
                self.local_access(role, MemOp::Load, base, offset + 8, 8, high);
            }
            (Class::Q, _) if bytes < 8 => {
                let t = self.temp(Class::W)?;
                self.local_access(role, MemOp::Load, base, offset, power(bytes), t);
                self.alu(role, IntOp::ZextWQ, reg.slot, &[t]);
            }
            (class, _) => {
                let width = power(bytes.min(if class == Class::Q { 8 } else { 4 }));
                self.local_access(role, MemOp::Load, base, offset, width, reg.slot);
            }
        }
        Some(())
    }
}

/// A size that is known to be small.
fn small(bytes: u32) -> u8 {
    u8::try_from(bytes).unwrap_or(u8::MAX)
}

/// The largest power of two that is not above a size; 1 for none.
fn power(bytes: u8) -> u8 {
    match bytes {
        8.. => 8,
        4..8 => 4,
        2..4 => 2,
        _ => 1,
    }
}
