//! Instructions: guard, opcode with modifiers, operands (PTX ISA 4.3.2, 8 and 9).

use super::operand::{operand, tuple};
use super::{Builder, Fault, Head, Rule, here, ident, is, take};
use crate::base::Span;
use crate::ptx::error::Expected;
use crate::ptx::token::{Kind, Token};
use crate::ptx::tree::{Guard, Ident, Instr, Operand, Stmt};
use chumsky::prelude::*;
use smallvec::SmallVec;

/// The operands of an instruction.
type Operands = SmallVec<[Operand; 3]>;

/// The opcode word and its modifiers, blanks allowed before the dots.
fn head<'t, 's: 't, E: Fault<'t>>(call: bool) -> impl Rule<'t, 's, (Head, Span), E> {
    let first =
        take(move |t, b| (matches!(t.kind, Kind::Word | Kind::Dotted) && b.is_call(t) == call).then(|| b.head(t)));
    let more = take(|t, b| (t.kind.is_dot() || t.kind == Kind::ConstBank).then(|| b.modifier(t)));
    first
        .foldl(more.repeated(), |mut head: Head, modifier| {
            head.mods.push(modifier);
            head
        })
        .map_with(|head, e| (head, here(e)))
        .labelled(Expected::Opcode)
}

/// An instruction with its semicolon; it goes to the builder's body.
pub(super) fn instruction<'t, 's: 't, E: Fault<'t>>() -> impl Rule<'t, 's, (), E> {
    let guard = is(Kind::At)
        .ignore_then(is(Kind::Bang).or_not())
        .then(ident())
        .map(|(not, pred): (Option<Token>, Ident)| Guard { pred, negated: not.is_some() });
    let plain = head(false).then(operand().separated_by(is(Kind::Comma)).collect::<Operands>());
    let call =
        head(true).then(choice((tuple(), operand())).separated_by(is(Kind::Comma)).collect::<Operands>()).boxed();
    guard.or_not().then(choice((plain, call))).then_ignore(is(Kind::Semi)).map_with(
        |(guard, ((head, at), operands)), e| {
            let span = here(e);
            let b: &mut Builder<'s> = e.state();
            b.body.push(Stmt::Instr(Instr { guard, opcode: head.opcode, head: at, mods: head.mods, operands, span }));
        },
    )
}
