//! The branching algorithm of the report (5.4.1): an active mask, a disable mask and a stack of tokens.
//!
//! Follows the rules of →CRS one by one. Departures: a token also stores the depth of the call stack, since registers lie
//! in frames; an exit is a disable reason like the others, kept as a mask. Corrections that the report or
//! `semantics.md` make: uniform break, return and exit update the disable mask (D-uni), `unwind` leaves the masks alone
//! while a token activates nobody (D-unwind).

use super::{Control, Flow, Idle, Next, Standing, Wait};
use crate::base::mutant::{Mutant, on};
use crate::base::{LANES, LaneMask, lanes_of};
use crate::choice::{Menu, Oracle, Site};
use crate::verdict::{CLUSTER, Rule, Stop, Token, TokenKind, Tokens};

/// The execution state ς of a warp.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crs {
    pub(super) flow: Flow,
    /// The disable mask, one mask a reason.
    pub(super) broken: LaneMask,
    pub(super) returned: LaneMask,
    pub(super) exited: LaneMask,
    pub(super) stack: Vec<Token>,
    /// Barriers that the warp waits for.
    pub(super) barriers: u32,
    pub(super) corrupt: bool,
    trace: Option<Vec<Rule>>,
}

impl Crs {
    /// The lanes disabled by a break, a return, an exit.
    #[must_use]
    pub const fn disabled(&self) -> [LaneMask; 3] {
        [self.broken, self.returned, self.exited]
    }

    /// The lanes that run, or why there are none.
    #[inline(always)]
    pub(super) fn current(&self) -> Result<Flow, Idle> {
        if self.corrupt {
            Err(Idle::Corrupt(self.flow.pc))
        } else if self.exited == !0 || self.flow.mask == 0 {
            Err(Idle::Done)
        } else if self.barriers != 0 {
            Err(Idle::Barrier)
        } else {
            Ok(self.flow)
        }
    }

    #[inline(always)]
    fn fire(&mut self, rule: Rule) {
        if let Some(fired) = &mut self.trace {
            fired.push(rule);
        }
    }

    /// Pops tokens until one activates a lane.
    ///
    /// Rule: crs.unwind
    fn unwind(&mut self, flow: &mut Flow) -> Next {
        self.fire(Rule::CrsUnwind);
        while let Some(token) = self.stack.pop() {
            let active = self.upd_exec_state(token);
            if active != 0 || on(Mutant::UnwindOnce) {
                // The flagged instruction stands before the address that the token names.
                let flagged = on(Mutant::SyncFlag) && token.kind == TokenKind::Sync && flow.pc + 1 != token.pc;
                *flow = Flow { pc: token.pc - u32::from(flagged), mask: active, depth: token.depth };
                return Next::Go;
            }
        }
        flow.mask = 0;
        self.flow = *flow;
        // The last rule of `unwind`: a lane that still waits for a return or a break has been lost.
        self.corrupt = (self.returned | self.broken) & !self.exited != 0;
        Next::Pick
    }

    /// The lanes that a popped token activates; call and break tokens enable those who waited for them.
    ///
    /// Rule: crs.updExecState
    fn upd_exec_state(&mut self, token: Token) -> LaneMask {
        self.fire(Rule::CrsUpdExecState);
        match token.kind {
            TokenKind::Call => self.returned &= !token.mask,
            TokenKind::Break => {
                self.broken &= !token.mask;
                if on(Mutant::BreakWakesReturned) {
                    self.returned &= !token.mask;
                }
            }
            TokenKind::Sync if on(Mutant::SyncWakesDisabled) => return token.mask & !self.exited,
            TokenKind::Sync | TokenKind::Diverge => {}
        }
        token.mask & !(self.broken | self.returned | self.exited)
    }

    /// The common shape of break, return and exit once the lanes are disabled.
    fn leave(&mut self, flow: &mut Flow, lanes: LaneMask, divergent: Rule, uniform: Rule) -> Next {
        if lanes == flow.mask {
            self.fire(uniform);
            self.unwind(flow)
        } else {
            self.fire(divergent);
            flow.mask &= !lanes;
            flow.pc += 1;
            Next::Go
        }
    }
}

impl Control for Crs {
    const JOINS: bool = false;
    const WAITS: bool = false;

    fn new(lanes: LaneMask, entry: u32) -> Self {
        Self {
            flow: Flow { pc: entry, mask: lanes, depth: 0 },
            broken: 0,
            returned: 0,
            exited: !lanes,
            stack: Vec::new(),
            barriers: 0,
            corrupt: false,
            trace: None,
        }
    }

    #[inline]
    fn reset(&mut self, lanes: LaneMask, entry: u32) {
        let Self { flow, broken, returned, exited, stack, barriers, corrupt, trace: _ } = self;
        *flow = Flow { pc: entry, mask: lanes, depth: 0 };
        (*broken, *returned, *exited) = (0, 0, !lanes);
        stack.clear();
        (*barriers, *corrupt) = (0, false);
    }

    #[inline(always)]
    fn pick(&mut self, _: &mut dyn Oracle, can: impl Fn(Flow) -> bool) -> Result<Result<(Flow, u32), Idle>, Stop> {
        Ok(match self.current() {
            Ok(flow) if can(flow) => Ok((flow, u32::MAX)),
            Ok(_) => Err(Idle::Blocked),
            Err(idle) => Err(idle),
        })
    }

    #[inline(always)]
    fn whole(&self) -> Option<Flow> {
        self.current().ok().filter(|flow| flow.mask == !self.exited)
    }

    fn runnable(&mut self) -> bool {
        !self.corrupt && self.exited != !0 && self.flow.mask != 0 && self.barriers == 0
    }

    fn any(&mut self, can: impl Fn(Flow) -> bool) -> bool {
        self.corrupt || self.exited == !0 || self.flow.mask == 0 || self.barriers != 0 || can(self.flow)
    }

    #[inline(always)]
    fn park(&mut self, flow: Flow) {
        self.flow = flow;
    }

    /// Rule: crs.braguard
    fn diverge(&mut self, flow: &mut Flow, taken: LaneMask, target: u32) -> Next {
        self.fire(Rule::CrsBraGuard);
        let not_taken = flow.mask & !taken;
        let next = flow.pc + u32::from(!on(Mutant::DivergeToSelf));
        self.stack.push(Token { kind: TokenKind::Diverge, mask: not_taken, pc: next, depth: flow.depth });
        flow.mask = taken;
        flow.pc = target;
        Next::Go
    }

    /// Rule: crs.bratarget
    ///
    /// Rule: crs.calltarget
    fn scatter(
        &mut self,
        flow: &mut Flow,
        taken: LaneMask,
        targets: &[u32; LANES],
        call: bool,
        oracle: &mut dyn Oracle,
    ) -> Result<(LaneMask, Next), Stop> {
        self.fire(if call { Rule::CrsCallTarget } else { Rule::CrsBraTarget });
        // The alternatives are the lowest lanes of each target.
        let first = lanes_of(taken)
            .filter(|&l| lanes_of(taken).take_while(|k| *k < l).all(|k| targets[k] != targets[l]))
            .fold(0u64, |m, l| m | 1 << l);
        let pick = oracle.choose(Menu::of(Site::Target, &[first]))?;
        let chosen = targets[pick.index as usize % LANES];
        let now = lanes_of(taken).filter(|&l| targets[l] == chosen).fold(0, |m, l| m | 1 << l);
        let rest = flow.mask & !now;
        let again = flow.pc + u32::from(on(Mutant::DeferredPassBy));
        let depth = flow.depth + u32::from(call && on(Mutant::DoubleFrame));
        self.stack.push(Token { kind: TokenKind::Diverge, mask: rest, pc: again, depth });
        *flow = Flow { pc: chosen, mask: now, depth: flow.depth + u32::from(call) };
        Ok((now, Next::Go))
    }

    /// Rule: crs.calluni
    ///
    /// Rule: crs.callguard
    fn call_some(&mut self, flow: &mut Flow, taken: LaneMask, _: LaneMask, target: u32) -> Next {
        self.fire(if taken == flow.mask { Rule::CrsCallUni } else { Rule::CrsCallGuard });
        *flow = Flow { pc: target, mask: taken, depth: flow.depth + 1 };
        Next::Go
    }

    /// Rule: crs.retdiv
    ///
    /// Rule: crs.retuni
    fn ret(&mut self, flow: &mut Flow, lanes: LaneMask) -> Next {
        if lanes != flow.mask || !on(Mutant::UniformStaysEnabled) {
            self.returned |= lanes;
        }
        self.leave(flow, lanes, Rule::CrsRetDiv, Rule::CrsRetUni)
    }

    /// Rule: crs.exitdiv
    ///
    /// Rule: crs.exituni
    #[inline]
    fn exit(&mut self, flow: &mut Flow, lanes: LaneMask) -> Next {
        let spared = if lanes == flow.mask { Mutant::UniformStaysEnabled } else { Mutant::ExitStaysEnabled };
        if !on(spared) {
            self.exited |= lanes;
        }
        self.leave(flow, lanes, Rule::CrsExitDiv, Rule::CrsExitUni)
    }

    /// Rule: crs.ssy
    ///
    /// Rule: crs.preBrk
    ///
    /// Rule: crs.preRet
    #[inline(always)]
    fn push(&mut self, flow: &mut Flow, kind: TokenKind, lanes: LaneMask, target: u32) {
        self.fire(match kind {
            TokenKind::Call => Rule::CrsPreRet,
            TokenKind::Break => Rule::CrsPreBrk,
            TokenKind::Sync | TokenKind::Diverge => Rule::CrsSsy,
        });
        // The token restores the whole active mask, also of lanes whose guard keeps them out of the call (5.4.1).
        if lanes != 0 {
            let held = if kind == TokenKind::Call && on(Mutant::CallTokenOfCallers) { lanes } else { flow.mask };
            self.stack.push(Token { kind, mask: held, pc: target, depth: flow.depth });
        }
        flow.pc += 1;
    }

    /// Rule: crs.sync
    #[inline]
    fn sync(&mut self, flow: &mut Flow) -> Next {
        self.fire(Rule::CrsSync);
        self.unwind(flow)
    }

    #[inline(always)]
    fn rejoin(&mut self, kind: TokenKind, mask: LaneMask, depth: u32) -> Option<u32> {
        // A break token enables those who broke earlier, so that all of its lanes must be here.
        let broken = if kind == TokenKind::Break { 0 } else { self.broken };
        let disabled = broken | self.returned | self.exited;
        let top = self.stack.last().filter(|t| t.kind == kind && t.depth == depth)?;
        let to = (top.mask & !disabled == mask).then_some(top.pc)?;
        self.stack.pop();
        Some(to)
    }

    /// Rule: crs.brkdiv
    ///
    /// Rule: crs.brkuni
    fn brk(&mut self, flow: &mut Flow, lanes: LaneMask, _: u32) -> Next {
        if lanes != flow.mask || !on(Mutant::UniformStaysEnabled) {
            self.broken |= lanes;
        }
        self.leave(flow, lanes, Rule::CrsBrkDiv, Rule::CrsBrkUni)
    }

    #[inline]
    fn wait(&mut self, flow: &mut Flow, _: LaneMask, on: Wait) -> Next {
        // A copy in registers: read back from where a part was just written, a flow would stall.
        let Flow { mut pc, mask, depth } = *flow;
        if let Wait::Barrier(id) = on {
            self.barriers |= 1 << (id & 31);
            pc += 1;
            flow.pc = pc;
        }
        self.flow = Flow { pc, mask, depth };
        Next::Pick
    }

    fn release(&mut self, barrier: u32, _: LaneMask) {
        self.barriers &= !(1 << (barrier & 31));
    }

    fn live(&self) -> LaneMask {
        !self.exited
    }

    fn standing(&self, flow: &Flow, lanes: LaneMask) -> Vec<Standing> {
        let mut all = Vec::new();
        let mut add = |lanes, pc, depth| {
            if lanes != 0 {
                Standing::add(&mut all, Standing { lanes, pc, depth, wait: None });
            }
        };
        add(flow.mask & lanes, flow.pc + 1, flow.depth);
        let view = Tokens { stack: &self.stack, disabled: self.disabled() };
        view.activations(flow.mask, |_, token, waiting| add(waiting & lanes, token.pc, token.depth));
        all
    }

    fn waiting(&self) -> Vec<(LaneMask, u32, Wait)> {
        let awaited = (0..=CLUSTER).filter(|id| self.barriers >> id & 1 == 1);
        awaited.map(|id| (self.flow.mask, self.flow.pc.wrapping_sub(1), Wait::Barrier(id))).collect()
    }

    fn calls(&self, lane: usize) -> Vec<u32> {
        let on_stack = |t: &&Token| t.kind == TokenKind::Call && t.mask >> lane & 1 == 1;
        self.stack.iter().rev().filter(on_stack).map(|t| t.pc).collect()
    }

    fn tokens(&self) -> Option<Tokens<'_>> {
        Some(Tokens { stack: &self.stack, disabled: self.disabled() })
    }

    fn fired(&mut self) -> Vec<Rule> {
        self.trace.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn trace(&mut self, on: bool) {
        self.trace = on.then(Vec::new);
    }
}
