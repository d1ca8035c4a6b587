//! Small programs for searches.

use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::explore::space::{Options, Space, explore};
use warpstep::launch::build;
use warpstep::machine::walk::{Grain, State, Walk};
use warpstep::machine::{Config, Context, ControlModel, Launch};
use warpstep::program::env::ProgEnv;

/// A small program: one kernel `k` with the address of `bytes` bytes of zeroed memory as its parameter.
pub struct Small {
    pub env: Arc<ProgEnv>,
    pub blocks: u32,
    pub threads: u32,
    pub bytes: u64,
    pub config: Config,
}

pub fn small(text: &str, blocks: u32, threads: u32, config: Config) -> Small {
    let mut sources = SourceMap::default();
    let id = sources.add("small.ptx", text);
    let env = build(&[id], None, &sources).unwrap_or_else(|p| panic!("{p:?}\n{text}"));
    Small { env: Arc::new(env), blocks, threads, bytes: 64, config }
}

impl Small {
    /// Makes its memory; gives the address, and the launch.
    pub fn launch(&self, context: &mut Context) -> (u64, Launch) {
        let address = context.alloc("memory", self.bytes).unwrap();
        let params = address.to_le_bytes().to_vec();
        let (grid, block) = ([self.blocks, 1, 1], [self.threads, 1, 1]);
        (address, Launch { entry: "k".into(), grid, block, shared_bytes: 0, params })
    }

    /// Whether a warp is scheduled as a whole.
    pub fn warps(&self) -> bool {
        self.config.control == Some(ControlModel::Crs)
    }

    /// Calls a search with the walk, and what says which memory a run leaves.
    pub fn search<T>(
        &self,
        grain: Grain,
        search: impl FnOnce(&mut dyn Walk, &mut dyn FnMut(&dyn State) -> Vec<u8>) -> T,
    ) -> T {
        let mut context = Context::new(Arc::clone(&self.env), self.config.clone()).unwrap();
        let (address, launch) = self.launch(&mut context);
        let mut walk = context.walk(&[launch], grain).unwrap();
        search(&mut *walk, &mut |state| state.bytes(address, self.bytes).unwrap_or(&[]).to_vec())
    }

    pub fn space(&self, grain: Grain, preemptions: Option<u32>, warps: bool) -> Space<Vec<u8>> {
        let mut poll = |_: &_| None;
        let bound = Some(100_000);
        let mut options = Options { audit: true, max_states: bound, preemptions, ..Options::states(warps, &mut poll) };
        self.search(grain, |walk, outcome| explore(walk, &mut options, outcome))
    }
}
