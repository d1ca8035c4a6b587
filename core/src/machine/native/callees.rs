//! The functions that kernels call, as machine code for some of a warp's lanes: compiled when they have been run often enough.

use super::code::Code;
use super::emit::Setting;
use super::plan::Plan;
use super::regions::regions;
use crate::base::sort;
use crate::program::env::{FuncId, ProgEnv};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// How often lanes have to come to a function, to an instruction of which nothing is known, before it is worth to be compiled.
const OFTEN: u32 = 1 << 10;

/// A function that is compiled.
#[derive(Debug)]
pub(super) struct Callee {
    pub plan: Plan,
    pub code: Code,
}

/// One that may be.
#[derive(Debug)]
struct Known {
    id: FuncId,
    /// Its first instruction, and one past its last.
    start: u32,
    end: u32,
    /// How often lanes have come to it.
    came: AtomicU32,
    callee: OnceLock<Option<Box<Callee>>>,
}

/// The functions of a program that are no kernels, in order.
#[derive(Debug, Default)]
pub(super) struct Callees(Vec<Known>);

impl Callees {
    /// Those of a program; none where lanes meet where an instruction says so only.
    pub fn of(env: &ProgEnv) -> Self {
        let functions = (0..).map(FuncId).zip(env.functions.values());
        let called = functions.filter(|(_, f)| f.defined && !f.entry && !env.injected);
        let known = |(id, f): (FuncId, &crate::program::env::Function)| Known {
            id,
            start: f.start.0,
            end: f.end.0,
            came: AtomicU32::new(0),
            callee: OnceLock::new(),
        };
        let mut all: Vec<Known> = called.map(known).collect();
        sort::sort_by_key(&mut all, |known| known.start);
        Self(all)
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of the function that has an instruction.
    pub fn at(&self, pc: u32) -> Option<usize> {
        let number = self.0.partition_point(|known| known.start <= pc).checked_sub(1)?;
        (pc < self.0[number].end).then_some(number)
    }

    /// The number of a function.
    pub fn number(&self, id: FuncId) -> Option<usize> {
        self.0.iter().position(|known| known.id == id)
    }

    /// One of them that was compiled.
    #[inline(always)]
    pub fn made(&self, number: usize) -> Option<&Callee> {
        self.0.get(number)?.callee.get()?.as_deref()
    }

    /// One of them, compiled if lanes have come to it often enough, or `now`. `None`: it is not, or cannot be.
    pub fn get(&self, number: usize, env: &ProgEnv, setting: Setting, now: bool) -> Option<&Callee> {
        let known = self.0.get(number)?;
        match known.callee.get() {
            Some(callee) => callee.as_deref(),
            None => known.compile(env, setting, now),
        }
    }
}

impl Known {
    #[cold]
    fn compile(&self, env: &ProgEnv, setting: Setting, now: bool) -> Option<&Callee> {
        if self.came.fetch_add(1, Ordering::Relaxed) < OFTEN && !now {
            return None;
        }
        let compile = || {
            let mut plan = Plan::of_called(env, self.id)?;
            plan.regions = regions(&plan, env);
            let code = Code::of(&plan, env, setting, true);
            // A comparison with what was not compiled would be one of the interpreter with itself.
            assert!(code.is_ok() || !setting.trips, "a function is not compiled: {code:?}");
            Some(Box::new(Callee { plan, code: code.ok()? }))
        };
        self.callee.get_or_init(compile).as_deref()
    }
}
