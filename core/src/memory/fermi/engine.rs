//! The engine: memory operations in flight on the memory environment (report, 4.6; 5.8.1).
//!
//! A request becomes operations; each micro step of one is a step of its own; silent rules may fire between them.
//!
//! Departures. An operation whose next statement would only wait is not offered: the step would change nothing. With
//! `eager_local` a micro step that only writes or releases registers of its own warp is made at once, without a choice:
//! nobody else can see it, it can be undone by nobody, and what it allows the warp to do the warp may do later as well;
//! so every behaviour of the device is also one in which such steps are made as early as possible.

use super::cache::LineKey;
use super::environment::{Environment, Touched, fence_may_end, waits};
use super::issue::Draft;
use super::model::{AcquireDiscards, DeviceModel};
use super::operation::{Blocked, Body, Issued, MemOps, Operation, Queue, Stalled};
use super::program::{At, Micro, OpKey, ProgramSet, Sigma};
use super::shown::Shown;
use crate::base::LaneMask;
use crate::base::mutant::{Mutant, on};
use crate::memory::{Acted, Cx, Fault, Issuer, ProgramFault, Taken, Trouble};
use crate::program::instr::{NO_SLOT, Order, Scope, Slot, WarpRequest};
use crate::program::ops::Class;
use crate::verdict::{Event, Performed, Rule, Sink, Stop, Who};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Memory with caches and memory programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fermi {
    pub(super) model: Arc<DeviceModel>,
    pub(super) programs: Arc<ProgramSet>,
    /// Whether an acquire discards L1 lines: from the model and the program's target.
    pub(super) discards: bool,
    pub(super) env: Environment,
    pub(super) operations: MemOps,
    pub(super) queues: FxHashMap<Who, Queue>,
    pub(super) woken: Vec<Who>,
}

/// The slots of a request's data registers.
pub(super) fn data_slots(rq: &WarpRequest) -> impl Iterator<Item = (Class, Slot)> + '_ {
    let (class, double) = (rq.class(), rq.width == 16);
    rq.regs.iter().filter(|s| **s != NO_SLOT).flat_map(move |s| {
        let second = double.then(|| (class, Slot(s.0.saturating_add(1))));
        [Some((class, *s)), second].into_iter().flatten()
    })
}

/// What [`Fermi`] is made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FermiModel {
    /// The device.
    pub device: Arc<DeviceModel>,
    /// The memory programs; they serve every operation ([`ProgramSet::missing`]).
    pub programs: Arc<ProgramSet>,
    /// The target of the programs that will run: 70 for `sm_70`.
    pub sm: u32,
}

impl crate::memory::Environment for Fermi {
    type Model = FermiModel;

    fn create(of: &FermiModel, base: u64, cap: Option<u64>) -> Self {
        let discards = match of.device.acquire_discards {
            AcquireDiscards::Never => false,
            AcquireDiscards::Sm70 => of.sm >= 70,
            AcquireDiscards::Always => true,
        };
        Self {
            env: Environment::new(&of.device, base, cap),
            model: Arc::clone(&of.device),
            programs: Arc::clone(&of.programs),
            discards,
            operations: MemOps::default(),
            queues: FxHashMap::default(),
            woken: Vec::new(),
        }
    }
}

impl Fermi {
    /// Makes an operation of a draft for a request, which blocks registers.
    pub(super) fn push_draft(&mut self, rq: &WarpRequest, draft: Draft, blocked: &[(Class, Slot)]) -> Taken {
        let Draft { key, sigma, issued } = draft;
        let id = key.and_then(|key| self.programs.find(key));
        let Some(id) = id else {
            let program = key.map_or_else(|| format!("{:?}", rq.op), |key| key.name());
            let cause = if key.is_some() { "no-program" } else { "no-operation" };
            return Err(Box::new(Fault::Program(ProgramFault { program, file: String::new(), line: 0, cause })));
        };
        self.push(Operation::new(issued, Body::Program { id, at: At::default() }, sigma), blocked);
        Ok(())
    }

    /// A fence of an ordering and a scope, or what an acquire or a release implies: its program, where one serves it (D-fence).
    /// Whether it is in flight now.
    pub(super) fn push_fence(&mut self, at: Issuer, mask: LaneMask, order: Order, scope: Scope, implied: bool) -> bool {
        let beyond = scope > Scope::Cta;
        let acquires = !matches!(order, Order::Release | Order::Relaxed);
        // An acquire makes nothing of its thread's own seen, and what follows a release need not wait for it.
        let wide = beyond && !(implied && order == Order::Acquire);
        let holds = !(implied && order == Order::Release);
        let own = Body::Fence { wide, discards: beyond && acquires && self.discards };
        let key = OpKey::fence(order).map(|key| key.within(scope));
        let program = key.and_then(|key| self.programs.find(key)).map(|id| Body::Program { id, at: At::default() });
        let idle = program.is_none() && own == Body::Fence { wide: false, discards: false };
        let earlier = self.queues.get(&at.who);
        let operations = earlier.map_or(&[][..], |q| &q.operations);
        let waits = operations.iter().filter_map(|k| self.operations.get(*k)).any(|o| o.issued.lanes & mask != 0);
        if on(Mutant::FenceAtOnce) || !waits && idle {
            // Nothing to wait for and nothing to do: the condition of D-membar holds already.
            return false;
        }
        self.push(Operation::new(Issued::by(at, mask), program.unwrap_or(own), Sigma::Fence { holds }), &[]);
        true
    }

    /// Takes an operation in, behind those of its threads that are above it (D-prio), and blocks registers.
    pub(super) fn push(&mut self, operation: Operation, blocked: &[(Class, Slot)]) {
        let Issued { issuer: Issuer { who, depth, .. }, lanes, .. } = operation.issued;
        let k = self.enter(operation, None);
        let queue = self.queues.entry(who).or_default();
        queue.board.extend(blocked.iter().map(|&(class, slot)| Blocked { operation: k, depth, class, slot, lanes }));
    }

    /// The same, under a number that has been another operation's before, if that is given.
    pub(super) fn enter(&mut self, mut operation: Operation, number: Option<u32>) -> u32 {
        let queue = self.queues.entry(operation.issued.issuer.who).or_default();
        let order = self.model.same_thread_order;
        let above = queue.operations.iter().filter_map(|k| self.operations.get(*k));
        let above = above.filter(|earlier| earlier.is_above(&operation, order)).count();
        operation.above = u32::try_from(above).unwrap_or(u32::MAX);
        if operation.holds() {
            queue.held |= operation.issued.lanes;
        }
        let k = match number {
            Some(k) => {
                self.operations.put(k, Box::new(operation));
                k
            }
            None => self.operations.add(operation),
        };
        queue.operations.push(k);
        k
    }

    /// Takes an operation out that has ended.
    pub(super) fn finish(&mut self, k: u32, ended: &Operation) {
        self.operations.free(k);
        let Issuer { who, sm, .. } = ended.issued.issuer;
        self.woken.push(who);
        let Some(queue) = self.queues.get_mut(&who) else { return };
        queue.board.retain(|b| b.operation != k);
        let order = self.model.same_thread_order;
        let place = queue.operations.iter().position(|o| *o == k).unwrap_or(0);
        queue.operations.remove(place);
        for later in queue.operations.iter().skip(place) {
            let Some(operation) = self.operations.get_mut(*later) else { continue };
            // What it pins is named otherwise from now on.
            if let Some(key) = operation.sigma.key() {
                let l1 = self.env.sms.get_mut(sm as usize).map(|sm| &mut sm.l1);
                std::iter::once(&mut self.env.l2).chain(l1).for_each(|cache| cache.renamed(key));
            }
            if ended.is_above(operation, order) {
                operation.above = operation.above.saturating_sub(1);
                let goes = operation.above == 0 && !operation.stalled;
                self.operations.set_ready(*later, goes);
            }
        }
        if ended.holds() {
            let fences = queue.operations.iter().filter_map(|k| self.operations.get(*k));
            let held = fences.filter(|o| o.holds());
            queue.held = held.fold(0, |m, o| m | o.issued.lanes);
        }
        if queue.operations.is_empty() {
            self.queues.remove(&who);
        }
    }

    /// Looks again at the stalled operations that `which` of: something changed that they may wait for.
    fn look_again(&mut self, which: impl Fn(&Stalled) -> bool) {
        let Self { operations, env, model, programs, .. } = self;
        let mut k = 0;
        while let Some(stalled) = operations.stalled.get(k) {
            let number = stalled.operation;
            let still =
                !which(stalled) || operations.get(number).is_some_and(|o| waits(env, model, programs, number, o));
            if still {
                k += 1;
                continue;
            }
            operations.stalled.swap_remove(k);
            if let Some(operation) = operations.get_mut(number) {
                operation.stalled = false;
                let goes = operation.above == 0;
                operations.set_ready(number, goes);
            }
        }
    }

    /// After a micro step on `key` by a warp of multiprocessor `sm`: lines that came or went are of its sets.
    pub(super) fn changed(&mut self, touched: Touched, sm: u32, key: Option<LineKey>) {
        let caches = touched.l1 || touched.l2 || touched.others;
        if caches && key.is_none() {
            // A fence's program acts on lines of any set.
            return self.changed_all();
        }
        if !self.operations.stalled.is_empty() {
            let sets = key.map(|key| self.sets(sm, key));
            self.look_again(|s| {
                let near = s.sm == sm || s.far || touched.others;
                let l1 = near && (touched.l1 || touched.others);
                match (sets, s.sets) {
                    (Some((set, l2)), Some((their_set, their_l2))) => {
                        l1 && set == their_set || touched.l2 && l2 == their_l2
                    }
                    // A fence waits for any line of the L1.
                    (Some(_), None) => l1 || s.sm == sm && touched.locks || s.far && touched.l2,
                    (None, _) => s.sm == sm && touched.locks,
                }
            });
        }
    }

    /// After anything else.
    pub(super) fn changed_all(&mut self) {
        self.look_again(|_| true);
    }

    /// The sets of an address in a multiprocessor's L1 and in the L2.
    fn sets(&self, sm: u32, key: LineKey) -> (usize, usize) {
        (self.env.sm(sm).map_or(0, |sm| sm.l1.set_of(key)), self.env.l2.set_of(key))
    }

    /// Sets an operation aside that has to wait.
    pub(super) fn stall(&mut self, k: u32, mut operation: Box<Operation>) {
        operation.stalled = true;
        let sm = operation.issued.issuer.sm;
        let far = match operation.body {
            Body::Program { .. } if operation.is_fence() => true,
            Body::Program { id, at } => self.programs.get(id).is_some_and(|program| program.looks_far(at)),
            Body::Fence { .. } => false,
        };
        let sets = operation.sigma.key().map(|key| self.sets(sm, key));
        self.operations.put(k, operation);
        self.operations.stalled.push(Stalled { operation: k, sm, sets, far });
        // What it did itself may be what it needed, or nothing may keep it any more: decided as for all others.
        self.look_again(|s| s.operation == k);
    }

    /// A fence's only step: its condition holds, or it waits.
    ///
    /// Rule: mm.updMemBar
    pub(super) fn end_fence<S: Sink>(&mut self, k: u32, operation: Box<Operation>, cx: &mut Cx<'_, S>) -> Acted {
        let Body::Fence { wide, discards } = operation.body else { return Ok(()) };
        let Issued { issuer, lanes, .. } = operation.issued;
        if !fence_may_end(self.env.sm(issuer.sm), wide, discards) {
            self.stall(k, operation);
            return Ok(());
        }
        if discards
            && !on(Mutant::AcquireKeepsLines)
            && let Some(sm) = self.env.sms.get_mut(issuer.sm as usize)
        {
            sm.l1.flush();
        }
        let trouble = |stop| Box::new(Trouble { at: issuer, lanes, fault: Fault::Stop(stop) });
        if S::ON {
            let shown = Shown { issued: &operation.issued, program: None, sigma: &operation.sigma };
            self.tell_step(k, &shown, 0, Micro::End, cx).map_err(trouble)?;
            tell_fence(issuer, lanes, cx).map_err(trouble)?;
        }
        self.finish(k, &operation);
        if S::ON {
            cx.sink.fire(issuer.who, Rule::MmUpdMemBar).map_err(trouble)?;
        }
        if discards {
            self.changed_all();
        }
        Ok(())
    }
}

/// Tells that a fence's condition holds.
pub(super) fn tell_fence<S: Sink>(at: Issuer, lanes: LaneMask, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
    cx.sink.event(at.who, Event::Performed(Performed::Fence { pc: at.pc, lanes }))
}
