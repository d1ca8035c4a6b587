//! The thread rules (report, 5.3.2) and the forms of expressions (5.2) that a step stands for.
//!
//! The machine executes an instruction for all its lanes at once and evaluates expressions when it fills registers, so
//! these rules have no step of their own: which of them fired follows from the instruction.

use super::plain;
use crate::program::env::{Init, Preload, ProgEnv};
use crate::program::instr::{BarrierKind, ExchangeKind, Instr, MemOp, Op};
use crate::program::ops::{AluOp, Class, IntOp};
use crate::program::uses::reads;
use crate::verdict::{Rule, Step};

/// The thread rules of a step that at least one lane executes.
pub(super) fn threads(env: &ProgEnv, i: &Instr, mut fired: impl FnMut(Rule)) {
    fired(match i.op {
        Op::Bra | Op::Brx => Rule::ThreadBra,
        Op::Call | Op::CallIndirect => Rule::ThreadCall,
        Op::Ssy => Rule::ThreadSsy,
        Op::PreBrk => Rule::ThreadPreBrk,
        Op::PreRet => Rule::ThreadPreRet,
        Op::Sync => Rule::ThreadSync,
        Op::Break => Rule::ThreadBreak,
        Op::Exit => Rule::ThreadExit,
        Op::Ret => Rule::ThreadReturn,
        Op::Fence { .. } => Rule::ThreadMembar,
        Op::Bar => match env.barriers.get(i.imm as usize).map(|b| b.kind) {
            Some(BarrierKind::Arrive) => Rule::ThreadBarArrive,
            Some(BarrierKind::Red(_)) => Rule::ThreadBarRed,
            Some(BarrierKind::Sync) | None => Rule::ThreadBarSync,
        },
        Op::Exchange => {
            use ExchangeKind::{VoteAll, VoteAny, VoteBallot, VoteUni};
            let kind = env.exchange(i).map(|e| e.kind);
            if !matches!(kind, Some(VoteAll | VoteAny | VoteUni | VoteBallot)) {
                return;
            }
            Rule::ThreadVote
        }
        _ => match (plain::data_op(i.op), plain::request(env, i).map(|r| r.op)) {
            (Some(AluOp::Int(IntOp::MovW | IntOp::MovQ)), _) => Rule::ThreadMov,
            (Some(op), _) if op.shape().dest == Class::P => Rule::ThreadSetp,
            (Some(_), _) => Rule::ThreadDop,
            (_, Some(MemOp::Load)) => Rule::ThreadLd,
            (_, Some(MemOp::Store)) => Rule::ThreadSt,
            (_, Some(MemOp::Atom(..) | MemOp::Red(..))) => Rule::ThreadAtom,
            (None, None) => return,
        },
    });
}

/// The forms of the expressions that an instruction evaluates.
pub(super) fn expressions(env: &ProgEnv, step: &Step<'_>, mut fired: impl FnMut(Rule)) {
    let Some(i) = env.code.get(step.pc.0 as usize) else { return };
    if i.guard.is_some_and(|g| g.negated) {
        fired(Rule::ExprNot);
    }
    if matches!(i.op, Op::Bra | Op::Ssy | Op::PreBrk | Op::PreRet) {
        fired(Rule::ExprLabel);
    }
    if i.op == Op::Call {
        fired(Rule::ExprFunc);
    }
    if plain::request(env, i).is_some_and(|r| r.offset != 0) {
        fired(Rule::ExprAdd);
    }
    let function = env.function_at(step.pc);
    let preloads: &[Preload] = function.map_or(&[], |f| &f.preloads);
    reads(i, env, |class, slot| {
        let preload = preloads.iter().find(|p| (p.class, p.slot) == (class, slot));
        fired(match preload.map(|p| p.init) {
            None => Rule::ExprReg,
            Some(Init::Const(_)) => Rule::ExprConst,
            Some(Init::Special(_)) => Rule::ExprSreg,
            Some(Init::Param { .. } | Init::Variable { .. } | Init::Within { .. } | Init::DynamicShared(_)) => {
                Rule::ExprVar
            }
            Some(Init::Function(_)) => Rule::ExprFunc,
            Some(Init::Code(_)) => Rule::ExprLabel,
        });
    });
}
