//! What is known of origins before a program runs, so that little is left to be done while it does.
//!
//! Most registers hold numbers, or addresses of one object whatever happens: `p`, `p + 4 * i`, `p += stride`. A register is
//! [`State::Known`] when all that is written to it has the same root, which is an argument, a variable or none; only the
//! others are followed, lane by lane, and only instructions that write one of these are looked at when they are executed.
//! The order of instructions does not matter to this; it goes through a function's code until nothing changes.

use super::objects::{Id, LOST, NONE};
use super::rules::{Rule, rule};
use crate::base::Pc;
use crate::check::plain;
use crate::program::env::{Area, Function, Init, ProgEnv, Within};
use crate::program::instr::{Instr, MemOp, NO_SLOT, Op, STACK_BASE, STACK_TOP, Slot, Syscall, WarpRequest};
use crate::program::ops::Class;
use crate::program::uses::{reads, writes};
use fixedbitset::FixedBitSet;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// Where an address comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::check) enum Root {
    /// Nowhere: it is a number.
    None,
    /// Objects that cannot be told apart any more.
    Lost,
    /// The kernel's argument at this offset in the parameter area.
    Argument(u32),
    /// A variable of [`ProgEnv::variables`].
    Variable(u32),
    /// A variable of a window, and the function that names it.
    Within(Within, u32),
    /// Dynamic shared memory.
    DynamicShared,
}

/// What is known of a register's origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum State {
    /// This root, by its number in [`Plan::roots`], in all lanes whenever it has been written.
    Known(u32),
    /// To be followed: the row of the frame's shadow that it has.
    Varies(u32),
}

/// What is to be done with an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum Site {
    /// Nothing.
    Nothing,
    /// A data operation whose result is followed.
    Data(Rule),
    /// A memory action, by its number in [`Plan::accesses`].
    Access(u32),
    /// Its results are followed and are numbers.
    Number,
    /// `alloca`, whose result is followed.
    Alloca,
    /// A `shfl` whose result is followed.
    Shuffle,
    /// A call of the device's `malloc`.
    Malloc,
}

/// A memory action.
#[derive(Clone, Debug)]
pub(in crate::check) struct AccessSite {
    /// The action.
    pub request: WarpRequest,
    /// The function it belongs to.
    pub function: u32,
    /// What its address is derived from. `None`: the machine itself made it.
    pub base: Option<State>,
    /// The offset of the argument that its address comes from, where it is one.
    pub argument: Option<u32>,
    /// Whether something that it loads is followed.
    pub loads: bool,
    /// Whether something that it stores may be an address.
    pub stores: bool,
}

/// All that is known of a program.
#[derive(Clone, Debug)]
pub(in crate::check) struct Plan {
    /// By program address.
    pub sites: Vec<Site>,
    /// By number.
    pub accesses: Vec<AccessSite>,
    /// By number; [`NONE`] and [`LOST`] are the first two.
    pub roots: Vec<Root>,
    /// By function: states of its 32-bit and its 64-bit slots.
    states: Vec<[Vec<State>; 2]>,
    /// By function: how many of its slots are followed.
    rows: Vec<usize>,
    /// The instructions whose steps are needed.
    pub steps: Arc<FixedBitSet>,
}

thread_local! {
    /// The plan that was made last, and the program it is of, whose place is nobody else's as long as this points there: a hunt
    /// makes checks of one program for each of its runs.
    static LAST: RefCell<Option<(Weak<ProgEnv>, Arc<Plan>)>> = const { RefCell::new(None) };
}

impl Plan {
    /// The plan of a program, perhaps made before.
    pub fn of(env: &Arc<ProgEnv>) -> Arc<Self> {
        LAST.with_borrow_mut(|last| match last {
            Some((of, plan)) if std::ptr::eq(of.as_ptr(), Arc::as_ptr(env)) => Arc::clone(plan),
            _ => {
                let plan = Arc::new(Self::new(env));
                *last = Some((Arc::downgrade(env), Arc::clone(&plan)));
                plan
            }
        })
    }

    /// The plan of a program.
    fn new(env: &ProgEnv) -> Self {
        let mut small = env.target.address_bits == 32;
        loop {
            let plan = Self::with(env, small);
            let leaks = |a: &AccessSite| a.stores && a.request.width == 4;
            // An address of 32 bits is stored somewhere, so what 32-bit loads find may be one.
            if small || !plan.accesses.iter().any(leaks) {
                return plan;
            }
            small = true;
        }
    }

    fn with(env: &ProgEnv, small: bool) -> Self {
        let mut roots = Roots([Root::None, Root::Lost].into_iter().collect());
        let mut plan = Self {
            sites: vec![Site::Nothing; env.code.len()],
            accesses: Vec::new(),
            roots: Vec::new(),
            states: Vec::new(),
            rows: Vec::new(),
            steps: Arc::default(),
        };
        for (number, function) in (0u32..).zip(env.functions.values()) {
            let mut solved = <[Vec<_>; 2]>::default();
            if function.defined {
                solved = Work::new(env, (number, function), small, &mut roots).solve(&mut roots);
            }
            let mut row = 0;
            let mut state = |slot: &Slotted| match slot.value {
                Value::Root(root) => State::Known(root),
                Value::Varies if slot.needed => {
                    row += 1;
                    State::Varies(row - 1)
                }
                // Of what varies and is not needed, nobody asks.
                Value::Unknown | Value::Varies => State::Known(NONE),
            };
            let states = solved.map(|class| class.iter().map(&mut state).collect());
            plan.states.push(states);
            plan.rows.push(row as usize);
            if function.defined {
                for pc in function.start.0..function.end.0 {
                    plan.site(env, Pc(pc), number, &mut roots);
                }
            }
        }
        plan.roots = roots.0.into_iter().collect();
        plan.count_steps(env);
        plan
    }

    /// How many slots of a function are followed.
    pub fn rows(&self, function: u32) -> usize {
        self.rows.get(function as usize).copied().unwrap_or(0)
    }

    /// What is known of a slot.
    pub fn state(&self, function: u32, class: Class, slot: Slot) -> State {
        let states = self.states.get(function as usize).and_then(|s| s.get(class as usize));
        states.and_then(|s| s.get(slot.index())).copied().unwrap_or(State::Known(NONE))
    }

    fn site(&mut self, env: &ProgEnv, pc: Pc, function: u32, roots: &mut Roots) {
        let Some(i) = env.code.get(pc.0 as usize) else { return };
        let mut followed = false;
        writes(i, env, |class, slot| followed |= matches!(self.state(function, class, slot), State::Varies(_)));
        let site = if let Some(request) = plain::request(env, i) {
            let mut stores = false;
            let class = request.class();
            if request.op != MemOp::Load && request.width >= 4 {
                operands(i, env, |slot| stores |= self.state(function, class, slot) != State::Known(NONE));
            }
            // Texels lie where their texture does: nobody computed their addresses.
            let base = if env.is_texel(pc) { None } else { self.base(env, i, &request, function, roots) };
            let root = base.and_then(|base| if let State::Known(root) = base { Some(root) } else { None });
            let argument = root.and_then(|root| match roots.0.get_index(root as usize)? {
                Root::Argument(offset) => Some(*offset),
                _ => None,
            });
            self.accesses.push(AccessSite { request, function, base, argument, loads: followed, stores });
            Site::Access(u32::try_from(self.accesses.len() - 1).unwrap_or(u32::MAX))
        } else {
            match i.op {
                Op::Syscall(Syscall::Malloc) => Site::Malloc,
                _ if !followed => Site::Nothing,
                Op::Alloca => Site::Alloca,
                Op::Exchange if env.exchange(i).is_some_and(|e| e.kind.is_shuffle()) => Site::Shuffle,
                op => plain::data_op(op).map_or(Site::Number, |op| Site::Data(rule(op))),
            }
        };
        if let Some(at) = self.sites.get_mut(pc.0 as usize) {
            *at = site;
        }
    }

    /// What the address of a request is derived from.
    fn base(&self, env: &ProgEnv, i: &Instr, rq: &WarpRequest, function: u32, roots: &mut Roots) -> Option<State> {
        if i.op == Op::Mem
            && let Some(of) = env.named.get(&i.imm)
        {
            return Some(State::Known(roots.number(Root::Within(*of, function))));
        }
        // Arguments of calls, laid out by the front end.
        if !rq.addr_wide && (rq.addr == STACK_BASE || rq.addr == STACK_TOP) {
            return None;
        }
        Some(self.state(function, rq.address_class(), rq.addr))
    }

    /// Which steps are needed. Where functions are called, accesses are among them, since they do not say which call's
    /// registers they name.
    fn count_steps(&mut self, env: &ProgEnv) {
        let calls = env.code.iter().any(|i| matches!(i.op, Op::Call | Op::CallIndirect));
        let wanted = |site: &Site| match site {
            Site::Nothing | Site::Shuffle => false,
            Site::Access(_) => calls,
            Site::Data(_) | Site::Number | Site::Alloca | Site::Malloc => true,
        };
        let steps = self.sites.iter().enumerate().filter(|(_, site)| wanted(site)).map(|(pc, _)| pc);
        let mut set: FixedBitSet = steps.collect();
        set.grow(self.sites.len());
        self.steps = Arc::new(set);
    }
}

/// The data operands of a store or an atomic operation: what it reads behind its guard and its address.
fn operands(i: &Instr, env: &ProgEnv, mut see: impl FnMut(Slot)) {
    let mut address = true;
    reads(i, env, |class, slot| {
        if class != Class::P && !std::mem::take(&mut address) {
            see(slot);
        }
    });
}

/// Roots by number.
struct Roots(IndexSet<Root, FxBuildHasher>);

impl Roots {
    fn number(&mut self, root: Root) -> u32 {
        u32::try_from(self.0.insert_full(root).0).unwrap_or(LOST)
    }
}

/// What is known so far of a slot's origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// Nothing was written to it yet.
    Unknown,
    Root(Id),
    Varies,
}

impl Value {
    fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, x) | (x, Self::Unknown) => x,
            (a, b) if a == b => a,
            _ => Self::Varies,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Slotted {
    value: Value,
    /// Whether it may become an address, or be stored.
    needed: bool,
}

/// A function that is being looked at.
struct Work<'a> {
    env: &'a ProgEnv,
    function: &'a Function,
    /// Whether 32-bit loads may find addresses.
    small: bool,
    slots: [Vec<Slotted>; 2],
    constants: FxHashMap<(Class, Slot), u64>,
    changed: bool,
}

impl<'a> Work<'a> {
    fn new(env: &'a ProgEnv, (number, function): (u32, &'a Function), small: bool, roots: &mut Roots) -> Self {
        let none = Slotted { value: Value::Unknown, needed: false };
        let slots = [vec![none; usize::from(function.slots.w)], vec![none; usize::from(function.slots.q)]];
        let mut work = Self { env, function, small, slots, constants: FxHashMap::default(), changed: false };
        let pointer = if env.target.address_bits == 32 { 4 } else { 8 };
        for preload in &function.preloads {
            let root = match preload.init {
                Init::Param { offset, bytes, .. } if bytes == pointer => Root::Argument(offset),
                Init::Variable { index, .. } => Root::Variable(index),
                Init::Within { of, .. } => Root::Within(of, number),
                Init::DynamicShared(_) => Root::DynamicShared,
                Init::Const(value) => {
                    work.constants.insert((preload.class, preload.slot), value);
                    Root::None
                }
                Init::Special(_) | Init::Function(_) | Init::Code(_) | Init::Param { .. } => Root::None,
            };
            let root = roots.number(root);
            work.set(preload.class, preload.slot, Value::Root(root));
        }
        for slot in [STACK_BASE, STACK_TOP] {
            work.set(Class::W, slot, Value::Root(NONE));
        }
        work
    }

    fn at(&mut self, class: Class, slot: Slot) -> Option<&mut Slotted> {
        self.slots.get_mut(class as usize)?.get_mut(slot.index())
    }

    fn get(&mut self, class: Class, slot: Slot) -> Value {
        self.at(class, slot).map_or(Value::Root(NONE), |s| s.value)
    }

    fn set(&mut self, class: Class, slot: Slot, value: Value) {
        let Some(s) = self.at(class, slot) else { return };
        let new = s.value.merge(value);
        if new != s.value {
            s.value = new;
            self.changed = true;
        }
    }

    fn need(&mut self, class: Class, slot: Slot) {
        if let Some(s) = self.at(class, slot)
            && !s.needed
        {
            s.needed = true;
            self.changed = true;
        }
    }

    fn solve(mut self, roots: &mut Roots) -> [Vec<Slotted>; 2] {
        let code = self.env.code.get(self.function.start.0 as usize..self.function.end.0 as usize).unwrap_or(&[]);
        loop {
            self.changed = false;
            code.iter().for_each(|i| self.forward(i, roots));
            if self.changed {
                continue;
            }
            // What is written only from itself, or never, is a number.
            let unknown = self.slots.iter_mut().flatten().filter(|s| s.value == Value::Unknown);
            self.changed = unknown.map(|s| s.value = Value::Root(NONE)).count() > 0;
            if !self.changed {
                break;
            }
        }
        loop {
            self.changed = false;
            code.iter().rev().for_each(|i| self.backward(i));
            if !self.changed {
                return self.slots;
            }
        }
    }

    fn forward(&mut self, i: &Instr, roots: &mut Roots) {
        if let Some(op) = plain::data_op(i.op) {
            let value = self.result(rule(op), i, op.shape().sources);
            self.set(op.shape().dest, i.d, value);
            return;
        }
        let env = self.env;
        let value = match (plain::request(env, i), i.op) {
            (Some(rq), _) if rq.width >= 8 || rq.width == 4 && self.small => Value::Varies,
            (None, Op::Alloca) => Value::Varies,
            (None, Op::Exchange) if env.exchange(i).is_some_and(|e| e.kind.is_shuffle()) => {
                // A lane's frame is its own.
                match self.get(Class::W, i.a) {
                    Value::Root(root) if framed(roots, root) => Value::Varies,
                    value => value,
                }
            }
            _ => Value::Root(NONE),
        };
        let mut found = Vec::new();
        writes(i, env, |class, slot| found.push((class, slot)));
        found.into_iter().for_each(|(class, slot)| self.set(class, slot, value));
    }

    /// What a data operation's result is derived from.
    fn result(&mut self, rule: Rule, i: &Instr, classes: &[Class]) -> Value {
        let slots = [i.a, i.b, i.c, i.e];
        let mut of = [NONE; 4];
        for (k, class) in classes.iter().enumerate().filter(|(k, _)| rule.uses(*k)) {
            match self.get(*class, slots[k]) {
                Value::Unknown => return Value::Unknown,
                Value::Root(root) => of[k] = root,
                Value::Varies => return Value::Varies,
            }
        }
        let constant = |k: usize| self.constants.get(&(*classes.get(k)?, slots[k])).copied();
        match rule.known(of, constant) {
            // Two roots may be one object.
            Some(LOST) | None => Value::Varies,
            Some(root) => Value::Root(root),
        }
    }

    /// Marks what has to be known of other slots.
    fn backward(&mut self, i: &Instr) {
        let env = self.env;
        if let Some(op) = plain::data_op(i.op) {
            let shape = op.shape();
            if self.at(shape.dest, i.d).is_some_and(|s| s.needed) {
                let rule = rule(op);
                for (k, &class) in shape.sources.iter().enumerate().filter(|(k, _)| rule.uses(*k)) {
                    self.need(class, [i.a, i.b, i.c, i.e][k]);
                }
            }
        } else if let Some(rq) = plain::request(env, i) {
            self.need(rq.address_class(), rq.addr);
            let class = rq.class();
            let mut stored = Vec::new();
            operands(i, env, |slot| stored.push(slot));
            stored.into_iter().filter(|slot| *slot != NO_SLOT).for_each(|slot| self.need(class, slot));
        } else if i.op == Op::Exchange && self.at(Class::W, i.d).is_some_and(|s| s.needed) {
            self.need(Class::W, i.a);
        }
    }
}

/// Whether a root is another object in each lane.
fn framed(roots: &Roots, root: u32) -> bool {
    matches!(roots.0.get_index(root as usize), Some(Root::Within(Within { area: Area::Frame, .. }, _)))
}
