//! The single-warp semantics of the report's 6.3: threads that each know their next address, beside the machine.
//!
//! Follows →Θpc, branchΘ, `reset` and →Ωs; the machine's steps tell which lanes are active and whose guard holds, so the
//! reference needs registers only where a target is computed. Departures: each thread has a call stack of its own, which
//! the report leaves out because it could always be made from the warp's tokens (so here the two are compared); the
//! memory half of `step` and `idle` is the machine's; without tokens (control models `its` and `thread`) `break` goes to
//! the address that its instruction names, and a thread that waits for others executes its instruction again.

use crate::base::sorted::SortedSet;
use crate::base::{LANES, LaneMask, lanes_of};
use crate::program::env::{FuncId, ProgEnv};
use crate::program::instr::{Instr, Op};
use crate::verdict::{Rule, Step, Token, TokenKind};

/// A thread ϑ: its next address and the addresses behind the calls that it is in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thread {
    /// The next address; none once it has ended.
    pub pc: Option<u32>,
    /// Return addresses, the innermost last.
    pub calls: Vec<u32>,
    /// It may have waited for others, and is at its last instruction still.
    pub waits: bool,
}

/// A warp of such threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    threads: Vec<Thread>,
    /// The indirect branch or call with several targets that was executed last, until it is known whom it deferred.
    scattered: Option<Scattered>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Scattered {
    pc: u32,
    /// The lanes that were active, and those of them that were to call a function.
    active: LaneMask,
    called: LaneMask,
}

/// What a thread's instruction does to its control flow: the thread's flow action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    Next,
    Waits,
    Break(u32),
    Return,
    Exit,
    Bra(u32),
    Call(u32),
}

impl Reference {
    /// Threads that begin at an address.
    #[must_use]
    pub fn new(entry: u32) -> Self {
        let thread = Thread { pc: Some(entry), ..Thread::default() };
        Self { threads: vec![thread; LANES], scattered: None }
    }

    /// The threads, by lane.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// Takes note of the lanes that go on after the last step: those that an indirect branch or call deferred execute it
    /// again.
    ///
    /// Rule: ref.reset
    pub fn reset(&mut self, active: LaneMask, fired: &mut SortedSet<Rule>) {
        let Some(Scattered { pc, active: before, called }) = self.scattered.take() else { return };
        // Lanes whose guard keeps them out come back as well, and find that it still does.
        for lane in lanes_of(before & !active) {
            fired.insert(Rule::RefReset);
            let thread = &mut self.threads[lane];
            thread.pc = Some(pc);
            if called >> lane & 1 == 1 {
                thread.calls.pop();
            }
        }
    }

    /// One step of the warp.
    ///
    /// Rule: ref.step
    ///
    /// Rule: ref.exec-tt
    ///
    /// Rule: ref.exec-ff1
    ///
    /// Rule: ref.exec-ff2
    pub fn step(&mut self, env: &ProgEnv, step: &Step<'_>, fired: &mut SortedSet<Rule>) {
        let Some(i) = env.code.get(step.pc.0 as usize) else { return };
        let sit_out = step.active & !step.lanes;
        for (rule, fires) in [
            (Rule::RefStep, true),
            (Rule::RefExecTt, step.lanes != 0),
            (Rule::RefBranch, step.lanes != 0),
            (Rule::RefExecFf1, sit_out != 0),
            (Rule::RefExecFf2, step.active != !0),
        ] {
            if fires {
                fired.insert(rule);
            }
        }
        for lane in lanes_of(sit_out) {
            self.threads[lane].pc = Some(step.pc.0 + 1);
            self.threads[lane].waits = false;
        }
        let mut targets: Option<u32> = None;
        let mut several = false;
        for lane in lanes_of(step.lanes) {
            let action = action(env, i, step, lane);
            if let Action::Bra(to) | Action::Call(to) = action {
                several |= targets.is_some_and(|t| t != to);
                targets = Some(to);
            }
            self.threads[lane].branch(step.pc.0, step.tokens.map(|t| t.stack), action);
        }
        let call = i.op == Op::CallIndirect;
        // Threads with addresses of their own branch at once.
        if several && (call || step.tokens.is_some()) {
            let active = if step.tokens.is_some() { step.active } else { step.lanes };
            let called = if call { step.lanes } else { 0 };
            self.scattered = Some(Scattered { pc: step.pc.0, active, called });
        }
    }

    /// The warp cannot step: its threads stay as they are, whatever the memory does.
    ///
    /// Rule: ref.idle
    pub fn idle(&self, fired: &mut SortedSet<Rule>) {
        fired.insert(Rule::RefIdle);
    }
}

impl Thread {
    /// branchΘ: where a thread goes on.
    ///
    /// Rule: ref.branch
    fn branch(&mut self, pc: u32, stack: Option<&[Token]>, action: Action) {
        self.waits = action == Action::Waits;
        self.pc = match action {
            Action::Next | Action::Waits => Some(pc + 1),
            Action::Break(to) => Some(stack.map_or(to, |s| topmost(s, TokenKind::Break).map_or(u32::MAX, |t| t.pc))),
            Action::Return => {
                let back = self.calls.pop();
                let token = stack.map(|s| topmost(s, TokenKind::Call).map(|t| t.pc));
                // An address that nothing has makes the next check fail.
                back.filter(|pc| token.is_none_or(|t| t == Some(*pc))).or(Some(u32::MAX))
            }
            Action::Exit => None,
            Action::Bra(to) => Some(to),
            Action::Call(to) => {
                self.calls.push(pc + 1);
                Some(to)
            }
        };
    }
}

/// The topmost token of a kind; the top of a stack is its last.
#[must_use]
pub fn topmost(stack: &[Token], kind: TokenKind) -> Option<&Token> {
    stack.iter().rev().find(|t| t.kind == kind)
}

/// What a lane's instruction does to its control flow.
fn action(env: &ProgEnv, i: &Instr, step: &Step<'_>, lane: usize) -> Action {
    match i.op {
        Op::Bra => Action::Bra(i.imm),
        Op::Brx => {
            let index = step.regs.w.get(i.a.index()).map_or(0, |w| w.0[lane]);
            let table = env.tables.get(i.imm as usize);
            Action::Bra(table.and_then(|t| t.get(index as usize)).copied().unwrap_or(u32::MAX))
        }
        Op::Call => Action::Call(env.function(FuncId(i.imm)).map_or(u32::MAX, |f| f.start.0)),
        Op::CallIndirect => {
            let address = step.regs.q.get(i.a.index()).map_or(0, |q| q.0[lane]);
            let map = env.addresses();
            let found = env.functions.values().find(|f| f.defined && map.code_of(f.start) == address);
            Action::Call(found.map_or(u32::MAX, |f| f.start.0))
        }
        Op::Ret => Action::Return,
        Op::Exit => Action::Exit,
        Op::Break => Action::Break(i.imm),
        // With a program counter per lane, these are executed again until everybody is there.
        op if step.tokens.is_none() && (op.is_barrier() || matches!(op, Op::WarpSync | Op::Exchange | Op::Matrix)) => {
            Action::Waits
        }
        _ => Action::Next,
    }
}
