//! Accesses outside of the object that their address was made from (`--check bounds`; decision D-provenance;
//! `spec-notes/bounds.md`).
//!
//! An address knows the object that it was derived from, as in Miri: a buffer, a variable, a parameter, a block of a stack
//! or of the heap. So an access is wrong that leaves its object, even where it hits another one. What an operation's result
//! is derived from is in [`provenance`](super::provenance), with what is known before the program runs; the rest is followed
//! through registers and memory ([`shadow`], [`access`]).

mod access;
mod ground;
mod quiet;
mod shadow;

use super::plain::{self, at, stack_top};
use super::provenance::objects::{Id, LOST, NONE, Object};
use super::provenance::plan::{Plan, Site, State};
use super::provenance::rules::Rule;
use super::provenance::{Launched, Resolved};
use crate::base::sorted::SortedMap;
use crate::base::{LANES, LaneMask, Pc, lanes_of};
use crate::machine::{Sources, shuffle_sources};
use crate::program::env::ProgEnv;
use crate::program::instr::Instr;
use crate::program::ops::Class;
use crate::program::uses::writes;
use crate::verdict::{Access, AccessKind, AllocKind, Enter, Event, Extent, Needs, Row, Sink, Step, Stop, Who};
use access::{Memories, Registers};
use ground::Ground;
use rustc_hash::FxHashMap;
use shadow::{Rows, Words};
use std::sync::Arc;

/// The shadow of a warp.
#[derive(Clone, Debug, Default)]
struct Warp {
    /// By depth of the call stack.
    frames: Vec<Rows>,
    local: Words,
    /// Depth of the call stack at which each lane accessed memory last; told only where functions are called.
    depths: [u32; LANES],
    /// Where each lane's `malloc` puts its result.
    results: [u64; LANES],
}

impl Warp {
    /// The shadow of a frame with so many rows.
    fn rows(&mut self, depth: u32, rows: usize) -> &mut Rows {
        let frame = at(&mut self.frames, depth);
        frame.reach(rows);
        frame
    }
}

/// The shadow of a resident block.
#[derive(Clone, Debug, Default)]
struct Block {
    warps: Vec<Warp>,
    shared: Words,
}

impl Block {
    fn warp(&mut self, warp: u32) -> &mut Warp {
        at(&mut self.warps, warp)
    }
}

/// Stops a run at an access outside of the object that its address is derived from.
pub struct Bounds {
    plan: Arc<Plan>,
    ground: Ground,
    blocks: FxHashMap<u64, Block>,
    warp_size: u32,
    /// Accesses of threads whose origin was not known, by instruction.
    lost: SortedMap<u32, u64>,
    /// Where accesses are all right, by instruction.
    quiet: Arc<[Extent]>,
}

impl Bounds {
    /// An observer of a program's runs. It serves all launches of one context, in order.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>) -> Self {
        let (plan, ground) = (Plan::of(&env), Ground::new(env));
        Self {
            plan,
            ground,
            blocks: FxHashMap::default(),
            warp_size: 32,
            lost: SortedMap::new(),
            quiet: Arc::default(),
        }
    }

    /// Shares the memory of the device with another observer, whose launches are on the same.
    pub(super) fn share(&mut self, other: &Self) {
        self.ground.device = other.ground.device.clone();
    }

    /// The instructions with accesses whose origin was not known, and how many accesses of threads these were.
    pub fn lost(&self) -> impl Iterator<Item = (Pc, u64)> + '_ {
        self.lost.iter().map(|(pc, n)| (Pc(*pc), *n))
    }

    /// The function of an instruction.
    fn function(&self, pc: Pc) -> u32 {
        self.ground.launch.env.origin.get(pc.0 as usize).map_or(0, |o| o.function.0)
    }

    fn step(&mut self, who: Who, step: &Step<'_>) {
        let site = self.plan.sites.get(step.pc.0 as usize).copied().unwrap_or(Site::Nothing);
        if matches!(site, Site::Nothing | Site::Shuffle) {
            return;
        }
        let env = Arc::clone(&self.ground.launch.env);
        let Some(i) = env.code.get(step.pc.0 as usize) else { return };
        match site {
            Site::Nothing | Site::Shuffle => {}
            Site::Access(_) => {
                let warp = self.blocks.entry(who.block).or_default().warp(who.warp);
                lanes_of(step.active).for_each(|lane| warp.depths[lane] = step.depth);
            }
            Site::Data(rule) => self.data(who, rule, i, step),
            Site::Number => self.set(who, i, step, |_| NONE),
            Site::Alloca => {
                let align = u64::from(i.imm.max(1)).next_power_of_two();
                let objects = std::rc::Rc::clone(&self.ground.device.objects);
                self.set(who, i, step, |lane| {
                    let start = env.addresses().local + stack_top(step.regs, lane).next_multiple_of(align);
                    let bytes = step.regs.q.get(i.a.index()).map_or(0, |q| q.0[lane]);
                    let name = String::new();
                    objects.borrow_mut().number(Object { kind: AllocKind::Local, start, bytes, name })
                });
            }
            Site::Malloc => {
                let (local, pointer) = (env.addresses().local, self.ground.launch.pointer());
                let warp = self.blocks.entry(who.block).or_default().warp(who.warp);
                for lane in lanes_of(step.lanes) {
                    let at = local + stack_top(step.regs, lane).next_multiple_of(16);
                    warp.results[lane] = access::in_lane(lane, at);
                    warp.local.put(warp.results[lane], pointer, NONE);
                }
            }
        }
    }

    /// Sets what an instruction's followed results are derived from.
    fn set(&mut self, who: Who, i: &Instr, step: &Step<'_>, of: impl Fn(usize) -> Id) {
        let function = self.function(step.pc);
        let mut found = Vec::new();
        writes(i, &self.ground.launch.env, |class, slot| {
            if let State::Varies(row) = self.plan.state(function, class, slot) {
                found.push(row);
            }
        });
        let rows = self.plan.rows(function);
        let to = self.blocks.entry(who.block).or_default().warp(who.warp).rows(step.depth, rows);
        for lane in lanes_of(step.lanes) {
            found.iter().for_each(|row| to.put(*row, lane, of(lane)));
        }
    }

    fn data(&mut self, who: Who, rule: Rule, i: &Instr, step: &Step<'_>) {
        let Some(op) = plain::data_op(i.op) else { return };
        let (shape, function) = (op.shape(), self.function(step.pc));
        let State::Varies(to) = self.plan.state(function, shape.dest, i.d) else { return };
        let slots = [i.a, i.b, i.c, i.e];
        let mut classes = [Class::W; 4];
        let mut states = [State::Known(NONE); 4];
        for (k, &class) in shape.sources.iter().enumerate() {
            classes[k] = class;
            if rule.uses(k) {
                states[k] = self.plan.state(function, class, slots[k]);
            }
        }
        let Self { plan, ground, blocks, .. } = self;
        let rows = blocks.entry(who.block).or_default().warp(who.warp).rows(step.depth, plan.rows(function));
        for lane in lanes_of(step.lanes) {
            let of = states.map(|state| ground.id(state, rows, step.regs, lane));
            let value = |k: usize| plain::value(step.regs, classes[k], slots[k], lane);
            let result = || plain::apply(op, [value(0), value(1), value(2), value(3)], i.imm).0;
            rows.put(to, lane, rule.apply(of, value, result));
        }
    }

    fn exchange(&mut self, who: Who, step: &Step<'_>) {
        if self.plan.sites.get(step.pc.0 as usize) != Some(&Site::Shuffle) {
            return;
        }
        let function = self.function(step.pc);
        let Self { plan, ground, blocks, warp_size, .. } = self;
        let Some(i) = ground.launch.env.code.get(step.pc.0 as usize) else { return };
        let Some(exchange) = ground.launch.env.exchange(i) else { return };
        let State::Varies(to) = plan.state(function, Class::W, i.d) else { return };
        let from = plan.state(function, Class::W, i.a);
        let Sources { from: source, absent, .. } = shuffle_sources(exchange.kind, i, step.lanes, *warp_size, step.regs);
        let rows = blocks.entry(who.block).or_default().warp(who.warp).rows(step.depth, plan.rows(function));
        let old: [Id; LANES] = std::array::from_fn(|lane| ground.id(from, rows, step.regs, lane));
        for lane in lanes_of(step.lanes) {
            let known = absent >> lane & 1 == 0;
            rows.put(to, lane, if known { old[source[lane] % LANES] } else { NONE });
        }
    }

    fn access(&mut self, who: Who, access: &Access<'_>) -> Result<(), Stop> {
        let Some(Site::Access(number)) = self.plan.sites.get(access.pc.0 as usize).copied() else { return Ok(()) };
        let Self { plan, ground, blocks, lost, .. } = self;
        let Some(site) = plan.accesses.get(number as usize) else { return Ok(()) };
        let mut check = |id: Id, extent: Option<Extent>, lanes: LaneMask| {
            let Some(extent) = extent else {
                *lost.entry(access.pc.0).or_default() += u64::from(lanes.count_ones());
                return Ok(());
            };
            match extent.outside(access.footprint(), lanes) {
                0 => Ok(()),
                outside => ground.error(id, site, access, outside).map_or(Ok(()), Err),
            }
        };
        match (site.base, site.base.and_then(|base| ground.root(base))) {
            (None, _) => {}
            (_, Some(Resolved::Object(id, extent))) => {
                check(id, Some(extent).filter(|_| !matches!(id, NONE | LOST)), access.lanes)?;
            }
            (Some(base), _) => {
                // The lanes may have several origins.
                let warp = blocks.entry(who.block).or_default().warp(who.warp);
                let rows = warp.rows(depth(warp, access), plan.rows(site.function));
                let mut ids = [NONE; LANES];
                lanes_of(access.lanes).for_each(|lane| ids[lane] = ground.id(base, rows, access.regs, lane));
                let mut left = access.lanes;
                while let Some(lane) = lanes_of(left).next() {
                    let lanes = lanes_of(left).filter(|l| ids[*l] == ids[lane]).fold(0, |m, l| m | 1 << l);
                    left &= !lanes;
                    let extent = ground.device.objects.borrow().get(ids[lane]).map(Object::extent);
                    check(ids[lane], extent, lanes)?;
                }
            }
        }
        // A store of numbers matters where addresses were.
        let matters = site.loads || site.stores || access.kind != AccessKind::Read && self.holds(who);
        if matters {
            self.carry(who, number, access);
        }
        Ok(())
    }

    /// Whether a row is all right, and nothing is carried through memory by it.
    fn is_right(&self, who: Who, row: &Row) -> bool {
        if self.quiet.get(row.at as usize).is_some_and(|quiet| quiet.holds(row)) {
            return true;
        }
        let Some(Site::Access(number)) = self.plan.sites.get(row.at as usize).copied() else { return true };
        let Some(site) = self.plan.accesses.get(number as usize) else { return true };
        if site.loads || site.stores || row.kind() != AccessKind::Read && self.holds(who) {
            return false;
        }
        let Some(base) = site.base else { return true };
        match self.ground.root(base) {
            Some(Resolved::Object(id, extent)) => !matches!(id, NONE | LOST) && extent.holds(row),
            _ => false,
        }
    }

    /// Whether an address lies in some memory that a warp sees.
    fn holds(&self, who: Who) -> bool {
        let near = self.blocks.get(&who.block).is_some_and(|b| {
            !b.shared.is_empty() || b.warps.get(who.warp as usize).is_some_and(|w| !w.local.is_empty())
        });
        near || !self.ground.device.words.borrow().is_empty()
    }

    /// Carries origins through an access.
    fn carry(&mut self, who: Who, number: u32, access: &Access<'_>) {
        let Self { plan, ground, blocks, .. } = self;
        let Some(site) = plan.accesses.get(number as usize) else { return };
        let block = blocks.entry(who.block).or_default();
        block.warp(who.warp);
        let Block { warps, shared } = block;
        let warp = &mut warps[who.warp as usize];
        let depth = depth(warp, access);
        warp.rows(depth, plan.rows(site.function));
        let Warp { frames, local, .. } = warp;
        let rows = &mut frames[depth as usize];
        let mut registers = Registers { plan, ground, rows, regs: access.regs, function: site.function };
        let mut memories = Memories {
            objects: &ground.device.objects,
            global: &mut ground.device.words.borrow_mut(),
            shared,
            local,
            params: &ground.launch.params,
            map: ground.launch.env.addresses(),
            pointer: ground.launch.pointer(),
        };
        access::run(site, access, &mut registers, &mut memories);
    }

    fn enter(&mut self, who: Who, enter: &Enter<'_>) {
        let rows = self.plan.rows(enter.function);
        let warp = self.blocks.entry(who.block).or_default().warp(who.warp);
        warp.rows(enter.depth, rows).enter(rows, enter.lanes);
    }
}

/// The call that the lanes of an access are in.
fn depth(warp: &Warp, access: &Access<'_>) -> u32 {
    lanes_of(access.lanes).next().map_or(0, |lane| warp.depths[lane])
}

impl Sink for Bounds {
    const ON: bool = true;
    const FRUGAL: bool = true;

    fn needs(&self) -> Needs {
        // Where addresses are exchanged, exchanges matter.
        let rows = !self.plan.sites.contains(&Site::Shuffle);
        let (steps, quiet) = (Some(Arc::clone(&self.plan.steps)), Arc::clone(&self.quiet));
        Needs { steps, rules: false, quiet, rows, barriers: false }
    }

    fn rows(&mut self, who: Who, rows: &[Row]) -> usize {
        rows.iter().position(|row| !self.is_right(who, row)).unwrap_or(rows.len())
    }

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Launch { shape, names, params, dynamic_shared, variables, .. } => {
                self.blocks.clear();
                self.warp_size = shape.warp_size;
                let env = Arc::clone(&self.ground.launch.env);
                let (params, variables) = (params.to_vec(), variables.to_vec());
                let launch = Launched { env, entry: shape.entry, params, dynamic_shared, variables };
                self.ground.begin(&self.plan, launch, names);
                self.quiet = quiet::extents(&self.plan, &self.ground);
            }
            Event::Block { .. } | Event::BlockDone => {
                self.blocks.remove(&who.block);
            }
            Event::Step(step) => self.step(who, &step),
            Event::Access(access) => return self.access(who, access),
            Event::Exchange(step) => self.exchange(who, &step),
            Event::Enter(enter) => self.enter(who, &enter),
            Event::Alloc { lane, address, bytes } => {
                let (pointer, id) =
                    (self.ground.launch.pointer(), self.ground.device.objects.borrow_mut().heap(address, bytes));
                let warp = self.blocks.entry(who.block).or_default().warp(who.warp);
                warp.local.put(warp.results[lane as usize % LANES], pointer, id);
            }
            _ => {}
        }
        Ok(())
    }
}
