//! A thread from its start as far as what is known takes it.

use super::Kernel;
use super::shadow::{Shadow, Taint, unite};
use super::spin::Visits;
use super::tags;
use crate::axiom::{End, Event, Kind, Known, Place, Position, Sources, Stall, Trace};
use crate::machine::Alone;
use crate::program::instr::{Exchange, ExchangeKind, Guard, Instr, Op, STACK_BASE, STACK_TOP, Slot, Syscall, value};
use crate::program::ops::Class;
use crate::program::uses;
use crate::verdict::{self, Stop};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Instructions after which a thread is in a loop that no read ends.
const LONGEST: u32 = 1 << 20;

/// Why a thread goes no further.
pub(super) enum Halt {
    /// An end.
    At(End),
    /// The machine says why.
    Stop(Stop),
}

impl From<End> for Halt {
    fn from(end: End) -> Self {
        Self::At(end)
    }
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// The locations whose accesses are events. Of others nothing is known, and what depends on them says so ([`hidden`]).
#[derive(Clone, Copy, Debug)]
pub(super) enum Shown<'a> {
    /// All.
    All,
    /// These.
    Only(&'a BTreeSet<u32>),
}

impl Shown<'_> {
    /// Whether a location is left out.
    pub fn hides(self, location: u32) -> bool {
        matches!(self, Self::Only(kept) if !kept.contains(&location))
    }
}

/// Positions from here on stand for reads of locations that are left out.
const HIDDEN: Position = 1 << 31;

/// What depends on a read of a location that is left out depends on this.
pub(super) fn hidden(location: u32) -> Position {
    HIDDEN | location
}

/// The location left out that a position stands for, if it is no event's.
pub(super) fn left_out(position: Position) -> Option<u32> {
    (position & HIDDEN != 0).then_some(position & !HIDDEN)
}

/// A thread that runs.
pub(super) struct Thread<'k, 'r, 'm, 'a, 'c> {
    pub kernel: &'k Kernel,
    /// The linear index of its block.
    pub block: u64,
    /// Its own in the block.
    pub index: u32,
    pub on: &'m mut Alone<'a, 'c>,
    pub known: Known<'r>,
    pub shown: Shown<'r>,
    pub shadow: Shadow,
    /// Reads that its way depends on.
    pub ctrl: Sources,
    pub events: Vec<Event>,
    /// What it accesses of locations that are left out.
    pub left: Vec<Place>,
    /// What it has decided.
    decided: Vec<u64>,
    loops: Loops,
    pub visits: Visits,
    /// How often it has met each barrier.
    pub meetings: FxHashMap<i64, i64>,
}

/// A thread's run.
pub(super) struct Ran {
    pub trace: Trace,
    /// Why it stopped, where the machine says so.
    pub stop: Option<Stop>,
    /// The instruction at which it stopped.
    pub at: Option<u32>,
    /// What it accessed of locations that are left out.
    pub left: Vec<Place>,
}

/// Runs a thread.
pub(super) fn run(kernel: &Kernel, thread: usize, known: Known<'_>, shown: Shown<'_>) -> Ran {
    let (block, index) = kernel.spot(thread);
    kernel.apart.with(block, index, |on| {
        let mut shadow = Shadow::default();
        shadow.enter(&[]);
        let (ctrl, events, left, decided) = (Sources::new(), Vec::new(), Vec::new(), Vec::new());
        let (loops, visits, meetings) = (Loops::default(), Visits::default(), FxHashMap::default());
        let mut thread = Thread {
            kernel,
            block,
            index,
            on,
            known,
            shown,
            shadow,
            ctrl,
            events,
            left,
            decided,
            loops,
            visits,
            meetings,
        };
        let (end, stop) = match thread.go() {
            Ok(()) => (End::Done, None),
            Err(Halt::At(end)) => (end, None),
            Err(Halt::Stop(stop)) => (ended(&stop), Some(stop)),
        };
        let at = thread.on.at().map(|(pc, _)| pc.0);
        let trace = Trace { events: thread.events, end, registers: Vec::new() };
        Ran { trace, stop, at, left: thread.left }
    })
}

/// The end that a stop of the machine is.
fn ended(stop: &Stop) -> End {
    match stop {
        Stop::Bug(_) | Stop::Stuck(_) => End::Fault(stop.kind()),
        Stop::Unsupported(what, _) => End::Unsupported(what.clone()),
        Stop::Internal(error) => End::Unsupported(error.what.clone()),
        Stop::Limit(_) | Stop::Diverged { .. } => End::Unsupported("what exceeds a limit of the run".to_owned()),
    }
}

/// That something is not expressed as events.
pub(super) fn gap(what: &str) -> Halt {
    Halt::At(End::Unsupported(format!("{what}, which has no events here: `warpstep prove` runs it on the machine")))
}

impl Thread<'_, '_, '_, '_, '_> {
    fn go(&mut self) -> Result<(), Halt> {
        for _ in 0..LONGEST {
            let Some((pc, _)) = self.on.at() else { return Ok(()) };
            if let Some(registers) = self.at_head(pc.0) {
                self.visits.note((pc.0, self.shadow.depth()), registers, self.events.len());
            }
            match self.kernel.env().code.get(pc.0 as usize) {
                Some(i) => self.execute(pc.0, &i.clone())?,
                None => self.on.step()?,
            }
        }
        Err(End::Bound.into())
    }

    /// The registers that matter at the head of a loop; none at another place.
    fn at_head(&self, pc: u32) -> Option<Vec<Option<u64>>> {
        let live = self.kernel.heads.at(pc)?;
        Some(live.iter().map(|(class, slot)| self.value(*class, *slot)).collect())
    }

    fn execute(&mut self, pc: u32, i: &Instr) -> Result<(), Halt> {
        match i.op {
            Op::Int(_) | Op::Float(_) | Op::StackSave => self.compute(i),
            Op::Mem | Op::LdGlobal32 | Op::LdShared32 | Op::StGlobal32 | Op::StShared32 => self.access(pc, i),
            Op::Bra | Op::Break => {
                let goes = self.branches(pc, i)?;
                self.turn(pc, goes.then_some(i.imm))
            }
            Op::Brx => {
                if !self.branches(pc, i)? {
                    return self.skip();
                }
                let to = self.indexed(pc, i)?;
                self.turn(pc, to)
            }
            Op::CallIndirect => {
                if self.branches(pc, i)? {
                    self.need(Class::Q, i.a)?;
                    let target = self.shadow.of(Class::Q, i.a);
                    unite(&mut self.ctrl, &target.from);
                }
                self.step()
            }
            Op::Call | Op::Ret | Op::Exit | Op::Trap | Op::Brkpt | Op::Unsupported => {
                self.branches(pc, i)?;
                self.step()
            }
            Op::Syscall(call) => {
                if !self.branches(pc, i)? {
                    return self.skip();
                }
                if call == Syscall::AssertFail { self.step() } else { Err(gap(&format!("`{}`", call.name()))) }
            }
            Op::Ssy | Op::PreBrk | Op::PreRet | Op::Sync | Op::Nop | Op::ProxyFence | Op::Nanosleep => self.step(),
            Op::Fence { scope, order } => {
                let guard = self.guard(i)?;
                if let Some(guard) = guard {
                    self.event(Kind::Fence, tags::fence(order, scope), &guard, pc);
                }
                self.step()
            }
            Op::Bar => self.barrier(pc, i),
            Op::ClusterArrive { .. } | Op::ClusterWait { .. } => Err(gap("the barrier of a cluster")),
            Op::WarpSync => self.warp_sync(pc, i),
            Op::Exchange => self.exchange(i),
            Op::Matrix => Err(gap("a matrix instruction, which the lanes of a warp execute together")),
            Op::Image => Err(gap("a texture or surface instruction")),
            Op::CopyFrom
            | Op::CopyTo
            | Op::CopyCommit
            | Op::CopyArrive
            | Op::CopyWait
            | Op::Bulk(_)
            | Op::BulkCommit
            | Op::BulkWait { .. } => Err(gap("an asynchronous copy")),
            Op::Barrier(_) => Err(gap("a barrier in memory (`mbarrier`)")),
            Op::ReadSpecial(_) => Err(gap("a clock or counter")),
            Op::Alloca | Op::StackRestore => {
                self.need(Class::Q, i.a)?;
                self.compute(i)
            }
        }
    }

    /// `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`. With nobody else in the warp the machine's exchange is the whole of it.
    fn exchange(&mut self, i: &Instr) -> Result<(), Halt> {
        let Some(&Exchange { kind, sync }) = self.kernel.env().exchange(i) else { return self.step() };
        if self.on.companions() == 1 {
            if sync {
                self.need(Class::W, i.e)?;
            }
            return self.compute(i);
        }
        let name = match kind {
            ExchangeKind::VoteAll | ExchangeKind::VoteAny | ExchangeKind::VoteUni | ExchangeKind::VoteBallot => "vote",
            ExchangeKind::Redux(_) => "redux",
            ExchangeKind::Elect => "elect",
            ExchangeKind::ActiveMask => "activemask",
            shuffle if shuffle.is_shuffle() => "shfl",
            _ => "match",
        };
        Err(gap(&format!("`{name}` between the lanes of a warp")))
    }

    /// Executes the instruction; the shadow follows into calls and out of them.
    pub fn step(&mut self) -> Result<(), Halt> {
        self.on.step()?;
        let Some((_, depth)) = self.on.at() else { return Ok(()) };
        let depth = depth as usize + 1;
        if depth > self.shadow.depth() {
            let top = self.shadow.of(Class::W, STACK_TOP);
            self.shadow.enter(&[(Class::W, STACK_BASE, top.clone()), (Class::W, STACK_TOP, top)]);
        } else if depth < self.shadow.depth() {
            self.shadow.leave();
            self.visits.leave(depth);
        }
        Ok(())
    }

    /// Leaves the instruction out.
    pub fn skip(&mut self) -> Result<(), Halt> {
        self.on.skip();
        Ok(())
    }

    /// A register's value; none where it is not known.
    pub fn value(&self, class: Class, slot: Slot) -> Option<u64> {
        if self.shadow.of(class, slot).unknown {
            return None;
        }
        self.on.regs().and_then(|regs| value(regs, class, slot, self.on.lane()))
    }

    /// What of a guard decides whether an instruction is executed: what it depends on, and whether it holds.
    fn condition(&self, guard: Guard) -> (Taint, Option<bool>) {
        let taint = self.shadow.of(Class::P, guard.pred);
        (taint, self.value(Class::P, guard.pred).map(|p| (p != 0) != guard.negated))
    }

    /// Computes registers. An instruction whose guard depends on reads moves data on a condition: what it writes depends on
    /// that, and on what was there before.
    fn compute(&mut self, i: &Instr) -> Result<(), Halt> {
        let env = self.kernel.env();
        let mut result = Taint::default();
        uses::reads(i, env, |class, slot| result.join(&self.shadow.of(class, slot)));
        let guard = i.guard.map(|guard| self.condition(guard));
        let mut written: SmallVec<[(Class, Slot); 2]> = SmallVec::new();
        uses::writes(i, env, |class, slot| written.push((class, slot)));
        for (class, slot) in written {
            let taint = self.moved(guard.as_ref(), (class, slot), &result);
            self.shadow.set(class, slot, taint);
        }
        self.step()
    }

    /// What a register depends on that an instruction with a guard writes, whose result depends on `result`.
    pub fn moved(&self, guard: Option<&(Taint, Option<bool>)>, to: (Class, Slot), result: &Taint) -> Taint {
        let Some((on, holds)) = guard else { return result.clone() };
        let before = self.shadow.of(to.0, to.1);
        if on.from.is_empty() {
            return if *holds == Some(false) { before } else { result.clone() };
        }
        let mut all = result.clone();
        all.join(&before);
        all.join(on);
        all.unknown = match holds {
            None => true,
            Some(true) => result.unknown,
            Some(false) => before.unknown,
        };
        all
    }

    /// A decision of the thread: which of `options` it is, where `value` is not known. `control`: whether everything after it depends on it.
    ///
    /// Rule: D-axiom-decisions
    pub fn decide(&mut self, on: &Sources, value: Option<u64>, options: &[u64], control: bool) -> Result<u64, Halt> {
        if let (true, Some(value)) = (on.is_empty(), value) {
            return Ok(value);
        }
        let decision = u32::try_from(self.decided.len()).unwrap_or(u32::MAX);
        let decided = match (value, self.known.assumption(decision)) {
            (Some(value), Some(assumed)) if value != assumed => return Err(End::Contradiction.into()),
            (Some(value), _) | (None, Some(value)) => value,
            (None, None) => {
                let options = SmallVec::from_slice(options);
                return Err(End::Stalled(Stall { on: on.clone(), control, at: u32::MAX, decision, options }).into());
            }
        };
        self.decided.push(decided);
        Ok(decided)
    }

    /// Whether a guard holds, which decides; and what that depends on. None: it does not hold.
    pub fn guard(&mut self, i: &Instr) -> Result<Option<Taint>, Halt> {
        self.guarded(i, false)
    }

    fn guarded(&mut self, i: &Instr, control: bool) -> Result<Option<Taint>, Halt> {
        let Some(guard) = i.guard else { return Ok(Some(Taint::default())) };
        let (taint, holds) = self.condition(guard);
        let holds = self.decide(&taint.from, holds.map(u64::from), &[1, 0], control)? == 1;
        if taint.unknown {
            // What is assumed of a predicate is all that it is.
            let lane = self.on.lane();
            if let Some(p) = self.on.regs_mut().and_then(|regs| regs.p.get_mut(guard.pred.index())) {
                *p = *p & !(1 << lane) | u32::from(holds != guard.negated) << lane;
            }
            let known = Taint { unknown: false, from: taint.from.clone() };
            self.shadow.set(Class::P, guard.pred, known);
        }
        Ok(holds.then_some(taint))
    }

    /// The same of an instruction that everything after it depends on.
    fn branches(&mut self, pc: u32, i: &Instr) -> Result<bool, Halt> {
        let Some(guard) = i.guard else { return Ok(true) };
        let from = self.shadow.of(Class::P, guard.pred).from;
        let holds = self.guarded(i, true)?.is_some();
        if !from.is_empty() {
            self.loops.decided(pc, self.shadow.depth());
            unite(&mut self.ctrl, &from);
        }
        Ok(holds)
    }

    /// Where an indexed branch goes. An index beyond the table is one more way: a defect.
    fn indexed(&mut self, pc: u32, i: &Instr) -> Result<Option<u32>, Halt> {
        let taint = self.shadow.of(Class::W, i.a);
        let table = self.kernel.env().tables.get(i.imm as usize).cloned().unwrap_or_default();
        let beyond = table.len() as u64;
        let ways: SmallVec<[u64; 8]> = (0..=beyond).collect();
        let index = self.value(Class::W, i.a).map(|index| index.min(beyond));
        let index = self.decide(&taint.from, index, &ways, true)?;
        if taint.unknown {
            let lane = self.on.lane();
            if let Some(slot) = self.on.regs_mut().and_then(|regs| regs.w.get_mut(i.a.index())) {
                slot.0[lane] = u32::try_from(index).unwrap_or(u32::MAX);
            }
            let known = Taint { unknown: index == beyond, from: taint.from.clone() };
            self.shadow.set(Class::W, i.a, known);
        }
        if !taint.from.is_empty() {
            self.loops.decided(pc, self.shadow.depth());
            unite(&mut self.ctrl, &taint.from);
        }
        Ok(usize::try_from(index).ok().and_then(|k| table.get(k).copied()))
    }

    /// Executes a branch that goes to an address, if it is taken.
    fn turn(&mut self, pc: u32, to: Option<u32>) -> Result<(), Halt> {
        if let Some(to) = to.filter(|to| *to <= pc) {
            let depth = self.shadow.depth();
            if self.at_head(to).is_some_and(|registers| self.visits.spins((to, depth), &registers, &self.events)) {
                return Err(End::Spin.into());
            }
            if self.loops.around(to, pc, depth) >= self.known.bound {
                return Err(End::Bound.into());
            }
        }
        self.step()
    }

    /// Goes on only where a register is known.
    pub fn need(&self, class: Class, slot: Slot) -> Result<(), Halt> {
        let taint = self.shadow.of(class, slot);
        if taint.unknown {
            return Err(End::Stalled(Stall {
                on: taint.from,
                control: false,
                at: u32::MAX,
                decision: u32::MAX,
                options: SmallVec::new(),
            })
            .into());
        }
        Ok(())
    }

    /// An event of an instruction that is executed under a guard.
    pub fn event(&mut self, kind: Kind, tags: u64, guard: &Taint, pc: u32) -> &mut Event {
        let mut ctrl = self.ctrl.clone();
        unite(&mut ctrl, &guard.from);
        let event = Event { tags, ctrl, origin: pc, ..Event::new(kind) };
        let at = self.events.len();
        self.events.push(event);
        &mut self.events[at]
    }

    /// The position of the next event.
    pub fn position(&self) -> Position {
        Position::try_from(self.events.len()).unwrap_or(Position::MAX)
    }
}

/// Loops that are gone around.
///
/// Rule: D-axiom-bound
#[derive(Default)]
struct Loops {
    /// Branches that reads decided: where, and the depth of calls.
    decided: Vec<(u32, usize)>,
    /// By the branch back and its depth: how often it was taken after reads had decided, and how many decisions there were
    /// when it was taken last.
    rounds: FxHashMap<(u32, usize), (u32, usize)>,
}

impl Loops {
    fn decided(&mut self, pc: u32, depth: usize) {
        self.decided.push((pc, depth));
    }

    /// A branch goes back from `end` to `start`; how often it has done so by what reads decided.
    fn around(&mut self, start: u32, end: u32, depth: usize) -> u32 {
        // The loops inside begin anew.
        self.rounds.retain(|(pc, at), _| *at < depth || *at == depth && !(start..end).contains(pc));
        let (count, since) = self.rounds.entry((end, depth)).or_default();
        let within = |(pc, at): &(u32, usize)| *at > depth || *at == depth && (start..=end).contains(pc);
        *count += u32::from(self.decided[*since..].iter().any(within));
        *since = self.decided.len();
        *count
    }
}

/// The kind of a defect, as an end.
pub(super) const fn fault(kind: verdict::Kind) -> Halt {
    Halt::At(End::Fault(kind))
}
