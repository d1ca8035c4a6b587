//! The properties of chapter 6 that speak of a warp's state alone: stack consistency (6.2) and the invariant (6.4).
//!
//! Masks make them cheap: one walk down the stack finds every lane's activation token and what lies below it. Departures:
//! condition (4) is (4′) of D-inject; conditions (1), (2) and (6) speak of instructions that some lane executes, since a
//! `preRet` and a `call` that nobody executes push nothing and need nothing.

use crate::base::LaneMask;
use crate::program::instr::Op;
use crate::verdict::{Property, Step, Token, TokenKind, Tokens};

/// A property that does not hold, and the lanes for which it does not.
pub(super) type Broken = (Property, LaneMask);

/// The invariant of 6.4.
pub(super) fn invariant(active: LaneMask, tokens: &Tokens<'_>) -> Result<(), Broken> {
    let [broken, returned, exited] = tokens.disabled;
    let lost = tokens.activations(active, |_, _, _| {});
    if lost != 0 {
        return Err((Property::Invariant(1), lost));
    }
    if active == 0 && exited != !0 {
        return Err((Property::Invariant(2), !exited));
    }
    let mut rest = !active & !exited;
    // Lanes that every sync, call and break token from here on must hold: active ones (3), and those whose activation
    // token lies above (4).
    let mut held = active;
    for token in tokens.stack.iter().rev() {
        let missing = held & !token.mask;
        if token.kind != TokenKind::Diverge && missing != 0 {
            let part = if missing & active != 0 { 3 } else { 4 };
            return Err((Property::Invariant(part), missing));
        }
        let here = rest & token.eligible(tokens.disabled);
        rest &= !here;
        held |= here;
        if token.mask == 0 {
            return Err((Property::Invariant(6), 0));
        }
    }
    let disabled = active & (broken | returned | exited);
    if disabled != 0 {
        return Err((Property::Invariant(5), disabled));
    }
    Ok(())
}

/// Stack consistency of 6.2 before an instruction.
pub(super) fn stack(op: Op, step: &Step<'_>, tokens: &Tokens<'_>) -> Result<(), Broken> {
    let has = |kind| tokens.stack.iter().any(|t| t.kind == kind);
    let fails = |part| Err((Property::Stack(part), step.lanes));
    match op {
        Op::Break if step.lanes != 0 && !has(TokenKind::Break) => fails(1),
        Op::Ret if step.lanes != 0 && !has(TokenKind::Call) => fails(2),
        Op::Call | Op::CallIndirect if step.lanes != 0 => {
            let back = |t: &Token| t.kind == TokenKind::Call && t.pc == step.pc.0 + 1;
            if tokens.stack.iter().any(back) { Ok(()) } else { fails(6) }
        }
        Op::Sync => sync(step, tokens),
        _ => Ok(()),
    }
}

/// Conditions (3), (4′) and (5).
fn sync(step: &Step<'_>, tokens: &Tokens<'_>) -> Result<(), Broken> {
    let enabled = !tokens.disabled.iter().fold(0, |all, mask| all | mask);
    let mut seen = step.active;
    for (above, token) in tokens.stack.iter().rev().enumerate() {
        let lanes = token.mask & enabled;
        let part = if above == 0 { 5 } else { 4 };
        match token.kind {
            TokenKind::Diverge if seen & lanes != 0 => return Err((Property::Stack(4), seen & lanes)),
            TokenKind::Diverge => seen |= lanes,
            TokenKind::Sync if token.pc != step.pc.0 + 1 => return Err((Property::Stack(part), step.active)),
            TokenKind::Sync if seen & !lanes != 0 => return Err((Property::Stack(4), seen & !lanes)),
            TokenKind::Sync => return Ok(()),
            TokenKind::Call | TokenKind::Break => {
                return Err((Property::Stack(if above == 0 { 3 } else { 4 }), step.active));
            }
        }
    }
    Err((Property::Stack(if tokens.stack.is_empty() { 3 } else { 4 }), step.active))
}
