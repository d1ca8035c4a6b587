//! Calls (PTX ISA 9.7.12.5): parameters are copied between the frames of caller and callee.
//!
//! The callee's frame begins at the caller's top of stack: return parameters first, then parameters. So the caller
//! writes arguments just above its own frame, and reads results there afterwards (report, 5.1.3 step 3).

use super::error::{LowerErrorKind, Lowered, operand};
use super::function::{FnLower, Role};
use super::symbol::{Base, Place, Reg, Sym};
use crate::base::Span;
use crate::program::env::{FuncId, Param};
use crate::program::instr::{Instr, MemOp, Op, STACK_BASE, STACK_TOP, Slot};
use crate::program::layout::parameters;
use crate::program::ops::Class;
use crate::program::ops::IntOp;
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Ident, Operand, OperandKind};

/// Where a parameter lies in the callee's frame.
#[derive(Clone, Copy)]
struct At {
    offset: u32,
    bytes: u32,
    align: u32,
}

/// The parameters of a callee.
struct Signature {
    returns: Vec<At>,
    params: Vec<At>,
}

impl Signature {
    fn of(params: &[Param], returns: usize) -> Self {
        let at = |p: &Param| At { offset: p.offset, bytes: p.bytes, align: p.align };
        let returns = returns.min(params.len());
        let (first, rest) = params.split_at(returns);
        Self { returns: first.iter().map(at).collect(), params: rest.iter().map(at).collect() }
    }
}

fn list(op: Option<&Operand>) -> Option<&[Operand]> {
    match op.map(|op| &op.kind) {
        Some(OperandKind::Tuple(list)) => Some(list),
        _ => None,
    }
}

impl<'t> FnLower<'_, 't> {
    /// `call{.uni} {(results),} f{, (arguments)}{, prototype};`
    pub(super) fn call(&mut self, instr: &'t tree::Instr) -> Lowered<bool> {
        let mut operands = &instr.operands[..];
        let next_list = |operands: &mut &'t [Operand]| -> &'t [Operand] {
            match list(operands.first()) {
                Some(found) => {
                    *operands = operands.get(1..).unwrap_or_default();
                    found
                }
                None => &[],
            }
        };
        let results = next_list(&mut operands);
        let Some((target, rest)) = operands.split_first() else {
            return Err((LowerErrorKind::MissingOperand, instr.head));
        };
        operands = rest;
        let arguments = next_list(&mut operands);
        let OperandKind::Name(name) = target.kind else { return operand("a function", target.span) };
        match self.lookup(name)? {
            Sym::Function(id) => {
                let Some(signature) = self.signature_of(id) else { return Ok(false) };
                if let Some(uses) = self.program.uses.get_mut(self.id.0 as usize) {
                    uses.calls.push(id);
                }
                let syscall = self.program.syscalls.get(id.0 as usize).copied().flatten();
                let called = match syscall {
                    Some(syscall) => Instr::new(Op::Syscall(syscall)),
                    None => Instr { imm: id.0, ..Instr::new(Op::Call) },
                };
                self.call_with(&signature, results, arguments, instr, called)?;
                Ok(true)
            }
            Sym::Reg(reg) => {
                let a = self.widened(reg, Class::Q, target.span)?;
                let Some(of) = operands.first() else {
                    return operand("a .callprototype or .calltargets label after the arguments", instr.head);
                };
                let (signature, imm) = self.indirect(of)?;
                if let Some(uses) = self.program.uses.get_mut(self.id.0 as usize) {
                    uses.indirect = true;
                }
                let called = Instr { a, imm, ..Instr::new(Op::CallIndirect) };
                self.call_with(&signature, results, arguments, instr, called)?;
                Ok(true)
            }
            Sym::None => Err(self.undeclared(name, target.span)),
            _ => operand("a function", target.span),
        }
    }

    fn signature_of(&self, id: FuncId) -> Option<Signature> {
        let function = self.program.env.function(id)?;
        Some(Signature::of(&function.params, function.returns as usize))
    }

    /// The parameters and the allowed targets of an indirect call.
    fn indirect(&mut self, of: &'t Operand) -> Lowered<(Signature, u32)> {
        let OperandKind::Name(name) = of.kind else { return operand("a .callprototype label", of.span) };
        match self.lookup(name)? {
            Sym::Prototype(index) => {
                let mut params = Vec::new();
                let mut returns = 0;
                if let Some(prototype) = self.prototypes.get(index as usize) {
                    let names = self.unit.names();
                    let end = parameters(&prototype.returns, names, 0, &mut params)?;
                    returns = params.len();
                    parameters(&prototype.params, names, end, &mut params)?;
                }
                Ok((Signature::of(&params, returns), u32::MAX))
            }
            Sym::Targets(index) => {
                let labels: &'t [Ident] = self.targets.get(index as usize).map_or(&[], |t| t.0);
                let mut functions = Vec::with_capacity(labels.len());
                for label in labels {
                    match self.lookup(label.name)? {
                        Sym::Function(id) => functions.push(id),
                        _ => return Err(self.undeclared(label.name, label.span)),
                    }
                }
                let Some(signature) = functions.first().and_then(|id| self.signature_of(*id)) else {
                    return operand("a list of at least one function", of.span);
                };
                self.program.taken.extend(&functions);
                self.code.calls.push(functions.iter().map(|id| id.0).collect());
                Ok((signature, u32::try_from(self.code.calls.len() - 1).unwrap_or(u32::MAX)))
            }
            _ => operand("a .callprototype or .calltargets label", of.span),
        }
    }

    fn call_with(
        &mut self,
        signature: &Signature,
        results: &'t [Operand],
        arguments: &'t [Operand],
        instr: &'t tree::Instr,
        called: Instr,
    ) -> Lowered<()> {
        let mismatch = |expected: &[At], found: &[Operand]| {
            (expected.len() != found.len())
                .then_some((LowerErrorKind::Arguments { expected: expected.len(), found: found.len() }, instr.span))
        };
        if let Some(fault) = mismatch(&signature.params, arguments) {
            return Err(fault);
        }
        // Results may be left out altogether.
        if !results.is_empty()
            && let Some(fault) = mismatch(&signature.returns, results)
        {
            return Err(fault);
        }
        for (at, op) in signature.params.iter().zip(arguments) {
            self.argument(*at, op)?;
        }
        let returns_here = !matches!(called.op, Op::Syscall(_));
        if self.inject && returns_here {
            // The return address is the instruction after the call, which follows.
            let imm = self.here().saturating_add(2);
            self.emit(Role::Part, Instr { imm, ..Instr::new(Op::PreRet) });
        }
        self.emit(Role::Main, called);
        for (at, op) in signature.returns.iter().zip(results) {
            self.result(*at, op)?;
        }
        Ok(())
    }

    /// Copies an argument to the callee's frame.
    fn argument(&mut self, at: At, op: &'t Operand) -> Lowered<()> {
        if let Some(place) = self.param_variable(op)? {
            return self.copy(place, at, op.span, false);
        }
        if let Some(reg) = self.as_register(op)? {
            return self.register_to_frame(reg, at.offset, small(at.bytes), STACK_TOP);
        }
        let (class, ty) = match at.bytes {
            8 => (Class::Q, M::B64),
            4 => (Class::W, M::B32),
            2 => (Class::W, M::B16),
            _ => (Class::W, M::B8),
        };
        let slot = self.source(op, class, ty)?;
        self.local_access(Role::Part, MemOp::Store, STACK_TOP, i64::from(at.offset), small(at.bytes), slot);
        Ok(())
    }

    /// Copies a result from the callee's frame.
    fn result(&mut self, at: At, op: &'t Operand) -> Lowered<()> {
        if matches!(op.kind, OperandKind::Sink) {
            return Ok(());
        }
        if let Some(place) = self.param_variable(op)? {
            return self.copy(place, at, op.span, true);
        }
        match self.as_register(op)? {
            Some(reg) => self.frame_to_register(reg, at.offset, small(at.bytes), STACK_TOP, Role::Part),
            None => operand("a register or a .param variable for the result", op.span),
        }
    }

    /// A `.param` variable of this function as an argument or result.
    fn param_variable(&mut self, op: &'t Operand) -> Lowered<Option<(u32, Place)>> {
        let OperandKind::Name(name) = op.kind else { return Ok(None) };
        Ok(match self.lookup(name)? {
            Sym::Place(place) => match place.base {
                Base::Frame(offset) => Some((offset, place)),
                _ => None,
            },
            Sym::None => return Err(self.undeclared(name, op.span)),
            _ => None,
        })
    }

    /// Copies between a variable of this frame and a parameter above it, in pieces that are aligned on both sides.
    fn copy(&mut self, (from, place): (u32, Place), at: At, span: Span, result: bool) -> Lowered<()> {
        let mut done = 0;
        let bytes = at.bytes.min(place.bytes);
        if at.bytes != place.bytes && at.bytes != 0 && place.bytes < at.bytes {
            return operand("a .param variable of the parameter's size", span);
        }
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
        Ok(())
    }

    /// Stores a register at an offset from a frame's base.
    pub(super) fn register_to_frame(&mut self, reg: Reg, offset: u32, bytes: u8, base: Slot) -> Lowered<()> {
        let offset = i64::from(offset);
        match (reg.class, reg.bits) {
            (Class::P, _) => {
                let (yes, no) = (self.constant(Class::W, 1)?, self.constant(Class::W, 0)?);
                let t = self.temp(Class::W)?;
                self.alu(Role::Helper, IntOp::SelW, t, &[yes, no, reg.slot], 0);
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
                let slot = if wide && width < 8 { self.widened(reg, Class::W, Span::default())? } else { reg.slot };
                self.local_access(Role::Part, MemOp::Store, base, offset, width, slot);
            }
        }
        Ok(())
    }

    /// Loads a register from an offset from a frame's base.
    pub(super) fn frame_to_register(
        &mut self,
        reg: Reg,
        offset: u32,
        bytes: u8,
        base: Slot,
        role: Role,
    ) -> Lowered<()> {
        let offset = i64::from(offset);
        match (reg.class, reg.bits) {
            (Class::P, _) => {
                let (t, zero) = (self.temp(Class::W)?, self.constant(Class::W, 0)?);
                self.local_access(role, MemOp::Load, base, offset, 1, t);
                self.alu(role, IntOp::NeW, reg.slot, &[t, zero], 0);
            }
            (_, 128) => {
                self.local_access(role, MemOp::Load, base, offset, 8, reg.slot);
                let high = Slot(reg.slot.0.saturating_add(1));
                self.local_access(role, MemOp::Load, base, offset + 8, 8, high);
            }
            (Class::Q, _) if bytes < 8 => {
                let t = self.temp(Class::W)?;
                self.local_access(role, MemOp::Load, base, offset, power(bytes), t);
                self.alu(role, IntOp::ZextWQ, reg.slot, &[t], 0);
            }
            (class, _) => {
                let width = power(bytes.min(if class == Class::Q { 8 } else { 4 }));
                self.local_access(role, MemOp::Load, base, offset, width, reg.slot);
            }
        }
        Ok(())
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
