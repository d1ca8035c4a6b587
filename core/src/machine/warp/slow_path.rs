//! What instructions outside the innermost loop work on, and what they come to.

use crate::base::{Frame, LaneMask, Pc, lanes_of, put_mask};
use crate::machine::block::barrier::Arrival;
use crate::machine::block::cluster::Arrivals;
use crate::machine::control::{Control, Flow, Next, TokenKind};
use crate::machine::warp::arrive::stranded;
use crate::machine::warp::state::{Halt, Shared, Why, stopped};
use crate::memory::{Cx, Fault, Held, LocalMemory, Memory};
use crate::program::env::FuncId;
use crate::program::instr::{BarrierRed, Instr, Op};
use crate::verdict::{BugKind, Sink, Stop, Who};

/// What an instruction did to the flow.
pub(in crate::machine) enum Did {
    /// The next instruction follows.
    Next,
    /// A control instruction.
    Control(Next),
    /// Lanes entered a function.
    Enter(FuncId, LaneMask, Next),
}

/// Why it could not.
pub(in crate::machine) enum Trouble {
    /// The program's fault.
    Fault(Fault),
    /// Ours.
    Unsupported(String),
}

impl Trouble {
    /// What it stops: the flow of lanes `mask`, of which `m` execute the instruction.
    #[cold]
    pub fn halt(self, mask: LaneMask, m: LaneMask) -> Box<Halt> {
        match self {
            Self::Fault(fault) => stopped(fault, mask),
            Self::Unsupported(what) => Box::new(Halt { why: Why::Unsupported(what), pc: Pc(0), lanes: m }),
        }
    }
}

impl From<Box<Fault>> for Trouble {
    fn from(fault: Box<Fault>) -> Self {
        Self::Fault(*fault)
    }
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Self {
        Self::Fault(Fault::Stop(stop))
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// An instruction outside the innermost loop, and what it works on.
pub(in crate::machine) struct Rare<'a, 'b, 'c, C, M, S> {
    /// The instruction.
    pub i: &'a Instr,
    /// The lanes of the flow that execute it.
    pub m: LaneMask,
    /// The fuel behind it.
    pub left: u32,
    pub control: &'a mut C,
    pub flow: &'a mut Flow,
    pub regs: &'a mut Frame,
    pub local: &'a mut LocalMemory,
    pub arrivals: &'a mut Arrivals,
    pub sh: &'a mut Shared<'b>,
    pub mem: &'a mut M,
    pub warp: u32,
    pub cx: &'a mut Cx<'c, S>,
}

impl<C: Control, M: Memory, S: Sink> Rare<'_, '_, '_, C, M, S> {
    /// Executes it as one of the flow of lanes `mask`.
    #[inline(never)]
    pub fn issue(&mut self, mask: LaneMask) -> Result<Did, Box<Halt>> {
        match self.execute() {
            Ok(Did::Next) => tell_fired(self.control, self.sh.who, self.cx).map(|()| Did::Next),
            Ok(did) => Ok(did),
            Err(trouble) => Err(trouble.halt(mask, self.m)),
        }
    }

    fn execute(&mut self) -> Result<Did, Trouble> {
        let (i, m) = (self.i, self.m);
        Ok(Did::Control(match i.op {
            Op::Sync => {
                self.uncount();
                self.control.sync(self.flow)
            }
            // Rule: thread.preBrk
            // Rule: thread.preRet
            Op::Ssy | Op::PreBrk | Op::PreRet => {
                self.uncount();
                let kind = match i.op {
                    Op::Ssy => TokenKind::Sync,
                    Op::PreBrk => TokenKind::Break,
                    _ => TokenKind::Call,
                };
                self.control.push(self.flow, kind, m, i.imm);
                return Ok(Did::Next);
            }
            // Rule: thread.break
            Op::Break => {
                // An injected break ends a region as `sync` does; the others were the program's branches.
                if self.sh.env.origin.get(self.flow.pc as usize).is_some_and(|o| o.hidden) {
                    self.uncount();
                }
                self.control.brk(self.flow, m, i.imm)
            }
            // No lane executes it.
            _ if m == 0 => return Ok(Did::Next),
            // Rule: warp.comm
            Op::Bar => return self.barrier(),
            Op::ClusterArrive { releases, aligned } => return self.cluster_arrive(releases, aligned),
            Op::ClusterWait { aligned } => return self.cluster_wait(aligned),
            // Rule: thread.return
            Op::Ret => self.control.ret(self.flow, m),
            // Rule: thread.exit
            Op::Exit => {
                self.sh.exited += m.count_ones();
                self.sh.barriers.leave_cluster(self.arrivals.exit(m));
                if C::WAITS
                    && m != self.control.live()
                    && let Some(fault) = stranded(self.sh.env, self.control, self.warp, *self.flow, m)
                {
                    return Err(Trouble::Fault(fault));
                }
                self.control.exit(self.flow, m)
            }
            // Rule: thread.membar
            Op::Fence { scope, order } => {
                self.mem.fence(self.sh.issuer(self.flow.pc, self.flow.depth), m, scope, order, self.cx)?;
                return Ok(Did::Next);
            }
            Op::Nop | Op::Nanosleep | Op::ProxyFence => return Ok(Did::Next),
            _ => return self.timed(),
        }))
    }

    /// An instruction is none of the program's: it was injected.
    fn uncount(&mut self) {
        self.sh.threads = self.sh.threads.wrapping_sub(u64::from(self.flow.mask.count_ones()));
    }

    /// One that may read the clock, which is where the flow is while it is executed.
    fn timed(&mut self) -> Result<Did, Trouble> {
        let op = self.i.op;
        let uses = if self.mem.takes_registers() && op.is_taken_over() {
            self.sh.loaded.uses.get(self.flow.pc as usize)
        } else {
            None
        };
        let old = uses.map(|uses| Held::capture(&uses.writes, self.regs)).filter(|old| !old.is_empty());
        let clock = self.sh.clock;
        self.sh.clock += u64::from(self.sh.turn.saturating_sub(self.left));
        let did = match op {
            Op::Call | Op::CallIndirect | Op::Brx => self.transfer(),
            _ => self.other(),
        };
        self.sh.clock = clock;
        if let (Some(old), Ok(Did::Next)) = (old, &did) {
            self.mem.wrote(self.sh.issuer(self.flow.pc, self.flow.depth), self.m, &old, self.regs, self.cx)?;
        }
        did
    }
}

/// Tells the rules of the token stack that fired: right behind the step that they belong to.
#[inline(always)]
pub(in crate::machine) fn tell_fired<C: Control, S: Sink>(
    control: &mut C,
    who: Who,
    cx: &mut Cx<'_, S>,
) -> Result<(), Box<Halt>> {
    if cx.sink.wants_rules() {
        for rule in control.fired() {
            cx.sink.fire(who, rule).map_err(|s| stopped(Fault::Stop(s), !0))?;
        }
    }
    Ok(())
}

pub(in crate::machine) fn bug(kind: BugKind, lanes: LaneMask) -> Trouble {
    Trouble::Fault(Fault::Bug(kind, lanes))
}

/// Writes a barrier's reduction to the lanes that waited for it.
pub(in crate::machine) fn reduced(frames: &mut [Frame], arrival: &Arrival, red: BarrierRed, value: u32) {
    let frame = &mut frames[arrival.depth as usize];
    if red == BarrierRed::Popc {
        for l in lanes_of(arrival.lanes) {
            frame.w[arrival.dest.index()].0[l] = value;
        }
    } else {
        put_mask(&mut frame.p[arrival.dest.index()], value.wrapping_neg(), arrival.lanes);
    }
}
