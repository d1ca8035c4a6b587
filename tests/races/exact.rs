//! The definition of D-race, taken literally: every access of every thread is kept, what happened before what is a set
//! of earlier nodes for each node, and every two accesses of a byte are compared. It shares nothing with the checker
//! but the event stream and the table of which scopes include whom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use warpstep::base::{LaneMask, Pc, lanes_of};
use warpstep::program::env::ProgEnv;
use warpstep::program::instr::{MemOp, Op, Order, Scope, Space};
use warpstep::verdict::{Access, AccessKind, CLUSTER, Event, Reach, Sink, Step, Stop, Strength, Who};

/// A thread: block, warp, lane.
type Thread = (u64, u32, u32);
/// Two program addresses, the lower first.
pub type Pair = (u32, u32);

/// A set of numbers.
#[derive(Clone, Default)]
struct Set(Vec<u64>);

impl Set {
    fn add(&mut self, k: usize) {
        if self.0.len() <= k / 64 {
            self.0.resize(k / 64 + 1, 0);
        }
        self.0[k / 64] |= 1 << (k % 64);
    }

    fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a |= b;
        }
    }

    fn has(&self, k: usize) -> bool {
        self.0.get(k / 64).is_some_and(|w| w >> (k % 64) & 1 == 1)
    }
}

/// What an instruction does to memory.
#[derive(Clone, Copy, PartialEq)]
struct Kind {
    kind: AccessKind,
    width: u64,
    elements: u64,
    strength: Strength,
    acquires: bool,
    releases: bool,
}

/// An access of a byte.
struct Touch {
    node: usize,
    thread: Thread,
    pc: u32,
    kind: Kind,
    /// Accesses of the byte, by number, that happened before it.
    before: Set,
}

/// A release pattern whose write a read may observe: its first operation, with its scope and thread.
#[derive(Clone, Copy, PartialEq)]
struct Pattern {
    first: usize,
    reach: Reach,
    thread: Thread,
}

#[derive(Default)]
struct Byte {
    touches: Vec<Touch>,
    /// The latest write.
    write: Option<usize>,
    patterns: Vec<Pattern>,
}

#[derive(Default)]
struct Of {
    last: Option<usize>,
    /// Releasing fences.
    fences: Vec<(usize, Reach)>,
    /// Release operations, with address and width.
    heads: Vec<(usize, Reach, u64, u64)>,
    /// Patterns that strong reads observed, with address and width.
    observed: Vec<(Pattern, u64, u64)>,
}

#[derive(Default)]
struct Barrier {
    arrived: Vec<usize>,
    waiting: Vec<Thread>,
}

/// The exact checker.
pub struct Exact {
    env: Arc<ProgEnv>,
    lockstep: bool,
    warp_size: u32,
    threads: u32,
    /// For each node those that came before it by program order and synchronisation.
    before: Vec<Set>,
    of: BTreeMap<Thread, Of>,
    bytes: BTreeMap<(Option<u64>, u64), Byte>,
    /// Sequentially consistent fences.
    ordered: Vec<(usize, Thread, Reach)>,
    barriers: BTreeMap<(u64, u32), Barrier>,
    /// Of each block, what is handed on by the last phase of its cluster's barrier that is complete.
    phases: BTreeMap<u64, Vec<usize>>,
    exited: BTreeMap<(u64, u32), LaneMask>,
    meetings: BTreeMap<(u64, u32, LaneMask), LaneMask>,
    /// Every two instructions of which some accesses race.
    pub all: BTreeSet<Pair>,
    /// The same where no access that stands for the earlier one came between: what the checker must find.
    pub frontier: BTreeSet<Pair>,
    /// How many pairs of accesses were ordered though their threads differ.
    pub ordered_pairs: u64,
}

const fn reach(scope: Scope) -> Reach {
    match scope {
        Scope::Cta | Scope::Cluster => Reach::Block,
        _ => Reach::Device,
    }
}

impl Kind {
    fn of(env: &ProgEnv, pc: Pc) -> Option<Self> {
        let i = env.code.get(pc.0 as usize)?;
        let plain =
            |kind| Self { kind, width: 4, elements: 1, strength: Strength::Weak, acquires: false, releases: false };
        let request = match i.op {
            Op::LdGlobal32 | Op::LdShared32 => return Some(plain(AccessKind::Read)),
            Op::StGlobal32 | Op::StShared32 => return Some(plain(AccessKind::Write)),
            Op::Mem => env.requests.get(i.imm as usize)?,
            _ => return None,
        };
        if matches!(request.space, Space::Local | Space::Const | Space::Param) {
            return None;
        }
        let kind = match request.op {
            MemOp::Load => AccessKind::Read,
            MemOp::Store => AccessKind::Write,
            MemOp::Atom(..) | MemOp::Red(..) => AccessKind::Atomic,
        };
        let weak = request.order == Order::Weak;
        let both = request.order == Order::AcqRel;
        Some(Self {
            kind,
            width: request.width.into(),
            elements: request.elems.into(),
            strength: if weak { Strength::Weak } else { Strength::Strong(reach(request.scope)) },
            acquires: both || request.order == Order::Acquire,
            releases: both || request.order == Order::Release,
        })
    }

    fn morally_strong(&self, other: &Self, same_block: bool) -> bool {
        self.width == other.width && self.strength.with(other.strength, same_block)
    }

    /// Whether whatever races with an earlier access races with this one, too, when it happened after it; scopes of `near`
    /// threads, of one block, include the same ones.
    fn stands_for(&self, earlier: &Self, near: bool) -> bool {
        let as_strong = (self.strength, self.width) == (earlier.strength, earlier.width);
        let far = self.strength == Strength::Strong(Reach::Device);
        (self.kind.writes() || !earlier.kind.writes())
            && (self.strength == Strength::Weak || as_strong && (near || far))
    }
}

impl Exact {
    pub fn new(env: Arc<ProgEnv>, warp_size: u32, threads: u32, lockstep: bool) -> Self {
        Self {
            env,
            lockstep,
            warp_size,
            threads,
            before: Vec::new(),
            of: BTreeMap::new(),
            bytes: BTreeMap::new(),
            ordered: Vec::new(),
            barriers: BTreeMap::new(),
            phases: BTreeMap::new(),
            exited: BTreeMap::new(),
            meetings: BTreeMap::new(),
            all: BTreeSet::new(),
            frontier: BTreeSet::new(),
            ordered_pairs: 0,
        }
    }

    /// A node of a thread, after everything that came before its last one; in lockstep, any of its warp's last ones.
    fn node(&mut self, thread: Thread, earlier: &[usize]) -> usize {
        let mut before = Set::default();
        let last = self.of.get(&thread).and_then(|t| t.last);
        for from in earlier.iter().copied().chain(last) {
            before.join(&self.before[from]);
            before.add(from);
        }
        self.before.push(before);
        self.of.entry(thread).or_default().last = Some(self.before.len() - 1);
        self.before.len() - 1
    }

    /// The last nodes of a warp, when its lanes execute in lockstep.
    fn warp_nodes(&self, who: Who) -> Vec<usize> {
        if !self.lockstep {
            return Vec::new();
        }
        let (from, to) = ((who.block, who.warp, 0), (who.block, who.warp, 31));
        self.of.range(from..=to).filter_map(|(_, t)| t.last).collect()
    }

    fn edge(&mut self, from: usize, to: usize) {
        let set = self.before[from].clone();
        self.before[to].join(&set);
        self.before[to].add(from);
    }

    fn access(&mut self, who: Who, access: &Access<'_>) {
        let Some(kind) = Kind::of(&self.env, access.pc) else { return };
        let earlier = self.warp_nodes(who);
        let map = self.env.addresses();
        for lane in lanes_of(access.lanes) {
            let thread = (who.block, who.warp, lane as u32);
            let node = self.node(thread, &earlier);
            let address = access.addresses[lane];
            let space = (address.wrapping_sub(map.shared) < map.window).then_some(who.block);
            for element in 0..kind.elements {
                let first = address + element * kind.width;
                if kind.releases
                    && let Strength::Strong(reach) = kind.strength
                {
                    self.of.entry(thread).or_default().heads.push((node, reach, first, kind.width));
                }
                let patterns = self.patterns(thread, &kind, first);
                let mut observed: Vec<Pattern> = Vec::new();
                for byte in first..first + kind.width {
                    for pattern in self.touch((space, byte), node, thread, access.pc.0, kind, &patterns) {
                        if !observed.contains(&pattern) {
                            observed.push(pattern);
                        }
                    }
                }
                self.observe(thread, node, &kind, first, observed);
            }
        }
    }

    /// The release patterns whose write this is.
    fn patterns(&self, thread: Thread, kind: &Kind, address: u64) -> Vec<Pattern> {
        if kind.strength == Strength::Weak || !kind.kind.writes() {
            return Vec::new();
        }
        let Some(of) = self.of.get(&thread) else { return Vec::new() };
        let fences = of.fences.iter().map(|(first, reach)| Pattern { first: *first, reach: *reach, thread });
        let here = of.heads.iter().filter(|h| (h.2, h.3) == (address, kind.width));
        fences.chain(here.map(|h| Pattern { first: h.0, reach: h.1, thread })).collect()
    }

    /// A byte is accessed: compares, takes note, and gives the patterns that a read of it observes.
    fn touch(
        &mut self,
        at: (Option<u64>, u64),
        node: usize,
        thread: Thread,
        pc: u32,
        kind: Kind,
        patterns: &[Pattern],
    ) -> Vec<Pattern> {
        let byte = self.bytes.entry(at).or_default();
        let same_block = |other: Thread| other.0 == thread.0;
        let observed = byte.write.filter(|w| {
            let w = &byte.touches[*w];
            let strong = w.kind.morally_strong(&kind, same_block(w.thread));
            kind.kind.reads() && w.kind.width == kind.width && (w.thread == thread || strong)
        });
        let mut before = Set::default();
        for (k, x) in byte.touches.iter().enumerate() {
            if self.before[node].has(x.node) || observed == Some(k) {
                before.add(k);
                before.join(&x.before);
            }
        }
        for (k, x) in byte.touches.iter().enumerate() {
            let conflict = (x.kind.kind.writes() || kind.kind.writes()) && x.thread != thread;
            if !conflict || kind.morally_strong(&x.kind, same_block(x.thread)) {
                continue;
            }
            if before.has(k) {
                self.ordered_pairs += 1;
                continue;
            }
            let pair = (x.pc.min(pc), x.pc.max(pc));
            self.all.insert(pair);
            let later = &byte.touches[k + 1..];
            if !later.iter().any(|z| z.before.has(k) && z.kind.stands_for(&x.kind, z.thread.0 == x.thread.0)) {
                self.frontier.insert(pair);
            }
        }
        let seen = if observed.is_some() { byte.patterns.clone() } else { Vec::new() };
        byte.touches.push(Touch { node, thread, pc, kind, before });
        if kind.kind.writes() {
            byte.write = Some(byte.touches.len() - 1);
            if observed.is_none() {
                byte.patterns.clear();
            }
            byte.patterns.extend_from_slice(patterns);
        }
        seen
    }

    /// A strong read observes release patterns.
    fn observe(&mut self, thread: Thread, node: usize, kind: &Kind, address: u64, patterns: Vec<Pattern>) {
        let Strength::Strong(reach) = kind.strength else { return };
        for pattern in patterns {
            self.of.entry(thread).or_default().observed.push((pattern, address, kind.width));
        }
        if kind.acquires {
            self.acquire(thread, node, reach, Some((address, kind.width)));
        }
    }

    /// The last operation of acquire patterns: of those at one location, or of all.
    fn acquire(&mut self, thread: Thread, node: usize, reach: Reach, at: Option<(u64, u64)>) {
        let Some(of) = self.of.get(&thread) else { return };
        let here = of.observed.iter().filter(|o| at.is_none_or(|at| (o.1, o.2) == at));
        let strong = |p: &Pattern| {
            let same = p.thread.0 == thread.0;
            p.reach.includes(same) && reach.includes(same)
        };
        let firsts: Vec<usize> = here.map(|o| o.0).filter(strong).map(|p| p.first).collect();
        for first in firsts {
            if first != node {
                self.edge(first, node);
            }
        }
    }

    fn fence(&mut self, who: Who, step: &Step<'_>, scope: Scope, order: Order) {
        let reach = reach(scope);
        let earlier = self.warp_nodes(who);
        let others = self.ordered.clone();
        for lane in lanes_of(step.lanes) {
            let thread = (who.block, who.warp, lane as u32);
            let node = self.node(thread, &earlier);
            if order != Order::Release {
                self.acquire(thread, node, reach, None);
            }
            if order == Order::Sc {
                for (other, by, far) in &others {
                    let same = by.0 == thread.0;
                    if far.includes(same) && reach.includes(same) {
                        self.edge(*other, node);
                    }
                }
                self.ordered.push((node, thread, reach));
            }
            if order != Order::Acquire {
                self.of.entry(thread).or_default().fences.push((node, reach));
            }
        }
    }

    fn released(&mut self, who: Who, id: u32) {
        let ended = self.barriers.remove(&(who.block, id));
        if id == CLUSTER {
            self.phases.insert(who.block, ended.map(|barrier| barrier.arrived).unwrap_or_default());
            return;
        }
        let Some(barrier) = ended else { return };
        for thread in barrier.waiting {
            self.node(thread, &barrier.arrived);
        }
    }

    /// Whether a warp's lanes at `bar.warp.sync` go on.
    fn meet(&mut self, block: u64, warp: u32) {
        let threads = self.threads.saturating_sub(warp * self.warp_size).min(self.warp_size);
        let live = ((1u64 << threads) - 1) as LaneMask & !self.exited.get(&(block, warp)).copied().unwrap_or(0);
        let range = (block, warp, 0)..=(block, warp, LaneMask::MAX);
        let done: Vec<(LaneMask, LaneMask)> = self
            .meetings
            .range(range)
            .map(|(k, here)| (k.2, *here))
            .filter(|(m, here)| m & live & !here == 0)
            .collect();
        for (mask, here) in done {
            self.meetings.remove(&(block, warp, mask));
            let all: Vec<usize> = lanes_of(here).map(|l| self.node((block, warp, l as u32), &[])).collect();
            for lane in lanes_of(here) {
                self.node((block, warp, lane as u32), &all);
            }
        }
    }

    fn step(&mut self, who: Who, step: &Step<'_>) {
        let Some(i) = self.env.code.get(step.pc.0 as usize).copied() else { return };
        match i.op {
            Op::Fence { scope, order } => self.fence(who, step, scope, order),
            Op::WarpSync => {
                for lane in lanes_of(step.lanes) {
                    let mask = step.regs.w[i.a.index()].0[lane];
                    *self.meetings.entry((who.block, who.warp, mask)).or_default() |= 1 << lane;
                }
                self.meet(who.block, who.warp);
            }
            Op::Exit => {
                *self.exited.entry((who.block, who.warp)).or_default() |= step.lanes;
                self.meet(who.block, who.warp);
            }
            _ => {}
        }
    }
}

impl Sink for Exact {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Step(step) => self.step(who, &step),
            Event::Access(access) => self.access(who, access),
            Event::Arrive(arrive) => {
                for lane in lanes_of(arrive.lanes) {
                    let thread = (who.block, who.warp, lane as u32);
                    let node = self.node(thread, &[]);
                    // A relaxed arrival hands on what its thread's fences have released.
                    let fences = self.of.get(&thread).map(|of| of.fences.iter().map(|fence| fence.0).collect());
                    let handed = if arrive.releases { vec![node] } else { fences.unwrap_or_default() };
                    let barrier = self.barriers.entry((who.block, arrive.id)).or_default();
                    barrier.arrived.extend(handed);
                    if arrive.waits {
                        barrier.waiting.push(thread);
                    }
                }
            }
            Event::Released(id) => self.released(who, id),
            Event::Passed { lanes } => {
                let arrived = self.phases.get(&who.block).cloned().unwrap_or_default();
                for lane in lanes_of(lanes) {
                    self.node((who.block, who.warp, lane as u32), &arrived);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
