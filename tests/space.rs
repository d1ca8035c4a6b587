//! Searches agree: every state, every schedule, every instruction.

use std::collections::BTreeMap;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::explore::space::{Fairness, Options, Search, Space, cycles, explore};
use warpstep::launch::build;
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, Context, ControlModel, Launch};
use warpstep::program::env::ProgEnv;

/// A small program: one kernel `k` with the address of `bytes` bytes of zeroed memory as its parameter.
struct Small {
    env: Arc<ProgEnv>,
    blocks: u32,
    threads: u32,
    bytes: u64,
    config: Config,
}

fn small(text: &str, blocks: u32, threads: u32, config: Config) -> Small {
    let mut sources = SourceMap::default();
    let id = sources.add("small.ptx", text);
    let env = build(&[id], None, &sources).unwrap_or_else(|p| panic!("{p:?}\n{text}"));
    Small { env: Arc::new(env), blocks, threads, bytes: 64, config }
}

impl Small {
    fn space(&self, search: Search, grain: Grain) -> Space<Vec<u8>> {
        let mut context = Context::new(Arc::clone(&self.env), self.config.clone()).unwrap();
        let address = context.alloc("memory", self.bytes).unwrap();
        let launch = Launch {
            entry: "k".into(),
            grid: [self.blocks, 1, 1],
            block: [self.threads, 1, 1],
            shared_bytes: 0,
            params: address.to_le_bytes().to_vec(),
        };
        let mut walk = context.walk(&[launch], grain).unwrap();
        let warps = self.config.control == Some(ControlModel::Crs);
        let mut poll = |_: &_| None;
        let mut options = match search {
            Search::States => Options::states(warps, &mut poll),
            Search::Schedules => Options::schedules(warps, &mut poll),
        };
        (options.audit, options.max_states) = (true, Some(100_000));
        let bytes = self.bytes;
        explore(&mut *walk, &self.env, &mut options, &mut |walk| walk.bytes(address, bytes).unwrap_or(&[]).to_vec())
    }
}

type Summary = (Vec<Vec<u8>>, Vec<String>, bool);

fn summary(space: &Space<Vec<u8>>) -> Summary {
    let mut outcomes: Vec<_> = space.outcomes.keys().cloned().collect();
    outcomes.sort();
    let mut found: Vec<_> = space.found.iter().map(|f| format!("{:?}", f.stop.identity())).collect();
    found.sort();
    assert_eq!(space.limit, None);
    assert_eq!(space.progress.collisions, 0);
    (outcomes, found, !cycles(&space.graph, Fairness::Weak, &mut |_, _| ()).is_empty())
}

const LOCK: &str = "
.version 8.0
.target sm_60
.address_size 64
.entry k(.param .u64 m) {
    .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
    ld.param.u64 %rd0, [m];
L:  atom.global.cas.b32 %r0, [%rd0], 0, 1;
    setp.ne.u32 %p, %r0, 0;
    @%p bra L;
    ld.global.u32 %r1, [%rd0+4];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd0+4], %r1;
    st.global.u32 [%rd0], 0;
    ret;
}";

#[test]
fn a_spin_lock() {
    let mut all = BTreeMap::new();
    for control in [ControlModel::Crs, ControlModel::Its, ControlModel::Thread] {
        for (threads, warp_size) in [(2, 1), (2, 2)] {
            let config = Config { control: Some(control), warp_size, ..Config::default() };
            let program = small(LOCK, 1, threads, config);
            for (search, grain) in [
                (Search::States, Grain::Instruction),
                (Search::States, Grain::Visible),
                (Search::Schedules, Grain::Visible),
            ] {
                let space = program.space(search, grain);
                println!(
                    "{control:?} {threads}/{warp_size} {search:?} {grain:?} {:?} {:?}",
                    space.progress,
                    summary(&space).0.len()
                );
                all.insert((format!("{control:?}"), warp_size, format!("{search:?}{grain:?}")), summary(&space));
            }
        }
    }
    for ((control, warp_size, _), (outcomes, found, endless)) in &all {
        assert!(found.is_empty());
        let deadlock = control == "Crs" && *warp_size == 2;
        assert_eq!(outcomes.len(), usize::from(!deadlock));
        assert_eq!(*endless, deadlock, "{control} {warp_size}");
    }
}
