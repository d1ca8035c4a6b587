//! Instructions: guard, opcode with modifiers, operands (PTX ISA 4.3.2, 8 and 9).

use super::Reader;
use crate::ptx::error::Expected;
use crate::ptx::token::Kind;
use crate::ptx::tree::{Guard, Instr, Operand};
use smallvec::SmallVec;

impl Reader<'_> {
    /// An instruction with its semicolon.
    pub(crate) fn instruction(&mut self) -> Option<Instr> {
        let from = self.at;
        let guard = self.after(Kind::At, |r| {
            let negated = r.is(Kind::Bang).is_some();
            Some(Guard { pred: r.ident()?, negated })
        })?;
        let at = self.at;
        let opcode = self.take(Expected::Opcode, |_, t| matches!(t.kind, Kind::Word | Kind::Dotted))?;
        // Blanks may stand before the dots of modifiers. The lists in parentheses of a call are no expressions.
        let is_call =
            self.str(opcode).strip_prefix("call").is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let mut head = self.state.head(opcode.span.of(self.text));
        while let Some(token) = self.token().filter(|t| t.kind.is_dot() || t.kind == Kind::ConstBank) {
            self.at += 1;
            head.mods.push(self.modifier(token));
        }
        let span = self.since(at);
        let operands: SmallVec<[Operand; 3]> = self.until(Kind::Comma, Kind::Semi, |r| match r.kind() {
            Some(Kind::LParen) if is_call => r.tuple(),
            _ => r.operand(),
        })?;
        Some(Instr { guard, opcode: head.opcode, head: span, mods: head.mods, operands, span: self.since(from) })
    }
}
