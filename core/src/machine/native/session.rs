//! Which kernels are compiled, and what one that runs goes along with.

use super::code::Code;
use super::context::Site;
use super::emit::Setting;
use super::plan::Plan;
use crate::base::{LaneMask, Lanes32};
use crate::machine::config::Engine;
use crate::machine::grid::loaded::Loaded;
use crate::program::env::{FuncId, ProgEnv};
use std::sync::{Arc, Mutex, PoisonError};

/// Warp instructions that a kernel executes before it is worth to be compiled, for each of its own.
const WORTH: u64 = 1 << 12;

/// A kernel that is compiled.
#[derive(Debug)]
pub(super) struct Kernel {
    pub plan: Plan,
    pub code: Code,
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
    /// Kept, so that its address stays its own.
    env: Arc<ProgEnv>,
    id: FuncId,
    block: [u32; 3],
    shared_bytes: u32,
    known: Known,
}

/// The kernels of a device that were compiled or may be; forks of the device share them.
#[derive(Clone, Debug, Default)]
pub(in crate::machine) struct Compiled(Arc<Mutex<Vec<Entry>>>);

impl Compiled {
    /// A launch's kernel, of which `more` warp instructions were executed since the last time: what it is run with if it is
    /// compiled by now, else how many more there have to be.
    pub fn session(&self, env: &Arc<ProgEnv>, loaded: &Loaded, engine: Engine, more: u64) -> Result<Session, u64> {
        if engine == Engine::Interpreter || loaded.warp_size != 32 || !env.injected {
            return Err(u64::MAX);
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (id, block, shared_bytes) = (loaded.entry, loaded.block, loaded.shared_bytes);
        let at = all
            .iter()
            .position(|e| Arc::ptr_eq(&e.env, env) && (e.id, e.block, e.shared_bytes) == (id, block, shared_bytes));
        let at = at.unwrap_or_else(|| {
            all.push(Entry { env: Arc::clone(env), id, block, shared_bytes, known: Known::Runs(0) });
            all.len() - 1
        });
        let known = &mut all[at].known;
        if let Known::Runs(before) = known {
            let executed = before.saturating_add(more);
            let function = env.function(id);
            let size = function.map_or(0, |f| u64::from(f.end.0.saturating_sub(f.start.0)));
            let enough = if engine == Engine::Auto { size.saturating_mul(WORTH) } else { 0 };
            if executed < enough {
                *known = Known::Runs(executed);
                return Err(enough - executed);
            }
            let setting = Setting { shared_bytes, trips: matches!(engine, Engine::Native { trip } if trip > 0) };
            *known = match compile(env, id, block, setting) {
                Some(kernel) => Known::Compiled(Arc::new(kernel)),
                None => Known::Refused,
            };
        }
        match known {
            Known::Compiled(kernel) => Ok(Session::new(Arc::clone(kernel), engine)),
            _ => Err(u64::MAX),
        }
    }
}

fn compile(env: &ProgEnv, id: FuncId, block: [u32; 3], setting: Setting) -> Option<Kernel> {
    let plan = Plan::of(env, id, block)?;
    let code = Code::of(&plan, env, setting).ok()?;
    Some(Kernel { plan, code })
}

/// A compiled kernel that runs.
#[derive(Debug)]
pub(in crate::machine) struct Session {
    pub(super) kernel: Arc<Kernel>,
    pub(super) sites: Vec<Site>,
    /// The mask of the lanes that ran last, expanded.
    pub(super) lanes: (LaneMask, Lanes32),
    /// How often hints had been forgotten when sites were last.
    pub(super) forgotten: u32,
    /// Segments until one is left without need.
    pub(super) trip: u32,
}

impl Session {
    fn new(kernel: Arc<Kernel>, engine: Engine) -> Self {
        let sites = vec![Site::NONE; kernel.code.sites];
        let trip = if let Engine::Native { trip } = engine { trip } else { 0 };
        Self { kernel, sites, lanes: (!0, Lanes32([!0; 32])), forgotten: 0, trip }
    }
}
