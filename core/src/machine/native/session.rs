//! Which kernels are compiled, and what one that runs goes along with.

use super::apart::Apart;
use super::callees::Callees;
use super::code::{Code, Contexts, Sites};
use super::context::Back;
use super::emit::Setting;
use super::parted::Partings;
use super::plan::Plan;
use super::regions::regions;
use super::stacked::Stacked;
use super::watch::Watch;
use crate::base::{LaneMask, Lanes32, expand, number, sort};
use crate::machine::config::Engine;
use crate::machine::control::Grouping;
use crate::machine::grid::loaded::Loaded;
use crate::memory::Cx;
use crate::program::affine::MULTIPLE;
use crate::program::env::{FuncId, Init, ProgEnv};
use crate::program::instr::{Instr, Op, Slot};
use crate::program::ops::{Class, IntOp};
use crate::verdict::{Needs, Row};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Warp instructions that a kernel executes before it is worth to be compiled, for each of its own: they take the interpreter
/// about as long as one takes to be compiled. A jump, which D-affine has to follow, counts as several.
const WORTH: u64 = 1 << 15;
const JUMP: u64 = 8;
/// Warp instructions that a visit to native code has to execute to be worth it, and visits after which that is known.
const SHORT: u64 = 6;
const VISITS: u64 = 1 << 13;

/// A kernel that is compiled: for whole warps, and for some of the lanes of one once that is needed.
#[derive(Debug)]
pub(super) struct Kernel {
    pub plan: Plan,
    env: Weak<ProgEnv>,
    pub setting: Setting,
    codes: [OnceLock<Option<Code>>; 2],
    pub callees: Callees,
}

impl Kernel {
    /// The code for whole warps, or for `some` lanes. `None`: there is none for this computer.
    #[inline(always)]
    pub fn code(&self, some: bool) -> Option<&Code> {
        let cell = &self.codes[usize::from(some)];
        match cell.get() {
            Some(code) => code.as_ref(),
            None => self.compile(some),
        }
    }

    /// The code for some lanes, if it has been needed before.
    #[inline(always)]
    pub fn made(&self) -> Option<&Code> {
        self.codes[1].get()?.as_ref()
    }

    #[cold]
    #[inline(never)]
    fn compile(&self, some: bool) -> Option<&Code> {
        let compile = || {
            let code = Code::of(&self.plan, &*self.env.upgrade()?, self.setting, some);
            // A comparison with what was not compiled would be one of the interpreter with itself.
            assert!(code.is_ok() || !self.setting.trips, "a kernel is not compiled: {code:?}");
            code.ok()
        };
        self.codes[usize::from(some)].get_or_init(compile).as_ref()
    }
}

/// What is known of a kernel in blocks of a shape.
#[derive(Debug)]
enum Known {
    /// So many warp instructions were executed of it.
    Runs(u64),
    Compiled(Arc<Kernel>),
    /// It cannot be compiled.
    Refused,
}

#[derive(Debug)]
struct Entry {
    /// The program; not kept alive by what is known of it.
    env: Weak<ProgEnv>,
    id: FuncId,
    block: [u32; 3],
    setting: Setting,
    /// Offsets of parameters that are multiples of the warp's size, of those for which that makes a difference.
    multiples: Vec<u32>,
    /// What is told to somebody who observes.
    watch: Watch,
    known: Known,
}

/// What is known of the kernels of all programs: runs of one program share it, whoever makes them.
static KNOWN: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// A launch's kernel, of which `more` warp instructions were executed since the last time: what it is run with if it is compiled
/// by now, else how many more there have to be.
pub(in crate::machine) fn session(
    env: &Arc<ProgEnv>,
    loaded: &Loaded,
    engine: Engine,
    more: u64,
    needs: Option<&Needs>,
) -> Result<Session, u64> {
    // Where any of the lanes at an address may go on, those that were together part without a jump: nothing is claimed of them.
    if engine == Engine::Interpreter || loaded.warp_size != 32 || loaded.grouping != Grouping::All {
        return Err(u64::MAX);
    }
    let setting =
        Setting { shared_bytes: loaded.shared_bytes, trips: matches!(engine, Engine::Native { trip } if trip > 0) };
    let wanted = Entry {
        env: Arc::downgrade(env),
        id: loaded.entry,
        block: loaded.block,
        setting,
        multiples: multiples(env, loaded),
        watch: needs.map_or_else(Watch::default, |needs| Watch::of(needs, env, loaded)),
        known: Known::Runs(0),
    };
    let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let at = all.iter().position(|e| e.is(&wanted)).unwrap_or_else(|| {
        all.retain(|e| e.env.strong_count() > 0);
        all.push(wanted);
        all.len() - 1
    });
    let Entry { id, block, multiples, watch, known, .. } = &mut all[at];
    if let Known::Runs(before) = known {
        let executed = before.saturating_add(more);
        let enough = if engine == Engine::Auto { cost(env, *id).saturating_mul(WORTH) } else { 0 };
        if executed < enough {
            *known = Known::Runs(executed);
            return Err(enough - executed);
        }
        *known = match compile(env, (*id, *block, multiples), setting, watch) {
            Some(kernel) => Known::Compiled(Arc::new(kernel)),
            None => Known::Refused,
        };
    }
    match known {
        Known::Compiled(kernel) => Ok(Session::new(Arc::clone(kernel), engine)),
        _ => Err(u64::MAX),
    }
}

/// What it takes to compile a kernel, in instructions.
fn cost(env: &ProgEnv, id: FuncId) -> u64 {
    let code = env.function(id).and_then(|f| env.code.get(f.start.0 as usize..f.end.0 as usize)).unwrap_or_default();
    let jumps = code.iter().filter(|i| matches!(i.op, Op::Bra | Op::Brx | Op::Break)).count();
    code.len() as u64 + JUMP * jumps as u64
}

impl Entry {
    /// Whether it is of the same kernel.
    fn is(&self, other: &Self) -> bool {
        let same = (self.id, self.block, self.setting) == (other.id, other.block, other.setting);
        same && self.env.ptr_eq(&other.env) && self.multiples == other.multiples && self.watch == other.watch
    }
}

/// Whether the result depends on more than where lines begin and how steep they are: on low bits that do not carry over.
const fn combines(op: IntOp) -> bool {
    use IntOp as I;
    let bits = matches!(op, I::And32 | I::Or32 | I::Xor32 | I::Add32 | I::Sub32);
    bits || matches!(op, I::LtS32 | I::LtU32 | I::LeS32 | I::LeU32 | I::GtS32 | I::GtU32 | I::GeS32 | I::GeU32)
}

/// Parameters whose bits are combined or compared with others', and that are multiples of the warp's size: what is affine in a
/// thread's index then stays so, and what is compared with it may be the same in all lanes.
fn multiples(env: &ProgEnv, loaded: &Loaded) -> Vec<u32> {
    let Some(function) = env.function(loaded.entry) else { return Vec::new() };
    let code = env.code.get(function.start.0 as usize..function.end.0 as usize).unwrap_or_default();
    let combined = |slot: Slot| {
        let combines = |i: &Instr| matches!(i.op, Op::Int(op) if combines(op));
        let copies = |i: &&Instr| i.op == Op::Int(IntOp::MovW) && i.a == slot;
        let mut own = code.iter().filter(copies).map(|i| i.d).chain([slot]);
        own.any(|slot| code.iter().any(|i| combines(i) && (i.a == slot || i.b == slot)))
    };
    let is_multiple = |offset: u32| {
        let bytes = loaded.params.get(offset as usize..offset as usize + 4);
        bytes.is_some_and(|b| number(b).is_multiple_of(MULTIPLE.into()))
    };
    let mut all = Vec::new();
    for preload in function.preloads.iter().filter(|p| p.class == Class::W) {
        if let Init::Param { offset, bytes: 4, .. } = preload.init
            && combined(preload.slot)
            && is_multiple(offset)
        {
            all.push(offset);
        }
    }
    sort::sort(&mut all);
    all.dedup();
    all
}

fn compile(
    env: &Arc<ProgEnv>,
    (id, block, multiples): (FuncId, [u32; 3], &[u32]),
    setting: Setting,
    watch: &Watch,
) -> Option<Kernel> {
    let mut plan = Plan::of(env, id, block, multiples, watch)?;
    plan.regions = regions(&plan, env);
    let codes = [OnceLock::new(), OnceLock::new()];
    let kernel = Kernel { plan, env: Arc::downgrade(env), setting, codes, callees: Callees::of(env) };
    kernel.code(false).is_some().then_some(kernel)
}

/// A compiled kernel that runs.
#[derive(Debug)]
pub(in crate::machine) struct Session {
    pub(super) kernel: Arc<Kernel>,
    /// Of whole warps, and of some lanes.
    pub(super) sites: [Sites; 2],
    /// The mask of the lanes that ran last, expanded, and how many there are.
    pub(super) lanes: (LaneMask, Lanes32, u32),
    /// How often hints had been forgotten when sites were last.
    pub(super) forgotten: u32,
    /// Segments until one is left without need.
    pub(super) trip: u32,
    /// Thread instructions that were executed natively.
    pub(super) executed: u64,
    /// Visits to native code, and the warp instructions that were executed in them.
    pub(super) visits: u64,
    pub(super) instructions: u64,
    /// How often a check failed, so that the interpreter went on.
    pub(super) checks: u64,
    /// Whether it may be given up.
    pub(super) auto: bool,
    /// Room for the contexts of warps.
    pub(super) contexts: Contexts,
    /// Lanes that have parted natively.
    pub(super) partings: Partings,
    /// Groups of lanes that native code lets run.
    pub(super) apart: Apart,
    /// Lanes in functions, as far as they have called natively.
    pub(super) stacked: Stacked,
    /// Sites, by function.
    pub(super) callees: Vec<Sites>,
    /// Room for accesses that are told.
    pub(super) rows: Vec<Row>,
}

impl Session {
    /// Gets ready for lanes: nothing is known any more of blocks of memory that were freed.
    #[inline(always)]
    pub(super) fn look<S>(&mut self, mask: LaneMask, cx: &Cx<'_, S>) {
        let forgotten = cx.hints.forgotten();
        if self.forgotten != forgotten {
            self.sites.iter_mut().chain(&mut self.callees).for_each(Sites::forget);
            self.forgotten = forgotten;
        }
        if self.lanes.0 != mask {
            self.lanes = (mask, expand(mask, &cx.tables), mask.count_ones());
        }
    }

    /// Lanes were run, which took so many instructions; `all`: those of threads so far.
    #[inline(always)]
    pub(super) fn visited(&mut self, all: &mut u64, threads: u64, executed: u32) {
        *all = all.wrapping_add(threads);
        self.executed += threads;
        self.visits += 1;
        self.instructions += u64::from(executed);
    }

    /// Thread instructions that were fewer than if all lanes had executed each: those of lanes that parted natively.
    #[inline(always)]
    pub(super) fn fewer(&self, back: Back) -> u64 {
        if back.given > 0 { self.apart.fewer(back.of_given()) } else { self.partings.fewer(back) }
    }

    /// Whether visits are so short that the interpreter is faster.
    #[inline(always)]
    pub(in crate::machine) const fn is_poor(&self) -> bool {
        self.auto && self.visits > VISITS && self.instructions < SHORT * self.visits
    }

    /// Whether they are long, or so few that they say nothing: far from so short that it is given up.
    pub(in crate::machine) const fn visits_are_long(&self) -> bool {
        !self.auto || self.visits < VISITS / 4 || self.instructions >= 4 * SHORT * self.visits
    }

    /// Whether no check failed: what was native would have been so wherever memory lies.
    pub(in crate::machine) const fn is_plain(&self) -> bool {
        self.checks == 0
    }

    /// The kernel is interpreted from now on.
    #[cold]
    pub(in crate::machine) fn give_up(&self) {
        let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in all.iter_mut() {
            if matches!(&entry.known, Known::Compiled(kernel) if Arc::ptr_eq(kernel, &self.kernel)) {
                entry.known = Known::Refused;
            }
        }
    }

    /// Thread instructions that were executed natively.
    pub(in crate::machine) const fn executed(&self) -> u64 {
        self.executed
    }

    fn new(kernel: Arc<Kernel>, engine: Engine) -> Self {
        let trip = if let Engine::Native { trip } = engine { trip } else { 0 };
        Self {
            partings: Partings::new(kernel.plan.scalars),
            apart: Apart::new(kernel.plan.meets.len(), kernel.plan.scalars),
            stacked: Stacked::new(),
            callees: (0..kernel.callees.len()).map(|_| Sites::default()).collect(),
            kernel,
            sites: Default::default(),
            lanes: (!0, Lanes32([!0; 32]), 32),
            forgotten: 0,
            trip,
            executed: 0,
            visits: 0,
            instructions: 0,
            checks: 0,
            auto: engine == Engine::Auto,
            contexts: Contexts::default(),
            rows: Vec::new(),
        }
    }
}
