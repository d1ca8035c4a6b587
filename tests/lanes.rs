//! Split and whole lanes: what flat memory can show under each, found by searches that agree, and by seeds.

use crate::ends::{Ends, ends};
use std::collections::BTreeSet;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::launch::build;
use warpstep::machine::walk::{Grain, State};
use warpstep::machine::{Config, Context, ControlModel, Launch, MemoryModel};
use warpstep::program::env::ProgEnv;

/// Words of the memory whose address is the kernel's parameter.
const WORDS: u64 = 8;

struct Case {
    env: Arc<ProgEnv>,
    threads: u32,
    config: Config,
}

impl Case {
    fn new(body: &str, threads: u32, config: Config) -> Self {
        let text = format!(
            ".version 8.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 p) {{\n.reg .b32 %t, %b, %a, %c;\n\
             .reg .b64 %m, %o, %v, %w;\n.reg .pred %q;\nld.param.u64 %m, [p];\nmov.u32 %t, %tid.x;\n{body}\nexit;\n}}\n"
        );
        let mut sources = SourceMap::default();
        let file = sources.add("k.ptx", text.clone());
        let env = build(&[file], config.control, &sources).unwrap_or_else(|p| panic!("{p:?}\n{text}"));
        Self { env: Arc::new(env), threads, config }
    }

    /// A context with memory, whose address is given, and the launch.
    fn context(&self, config: Config) -> (Context, u64, Launch) {
        let mut context = Context::new(Arc::clone(&self.env), config).unwrap();
        let address = context.alloc("memory", 4 * WORDS).unwrap();
        let params = address.to_le_bytes().to_vec();
        let launch = Launch { entry: "k".into(), grid: [1; 3], block: [self.threads, 1, 1], shared_bytes: 0, params };
        (context, address, launch)
    }

    /// All ends, those of some seeds among them.
    fn ends(&self) -> Ends {
        let (context, address, launch) = self.context(self.config.clone());
        let walk = |grain: Grain| context.walk(std::slice::from_ref(&launch), grain).unwrap();
        let warps = self.config.control == Some(ControlModel::Crs);
        let mut end = |state: &dyn State| words(state.bytes(address, 4 * WORDS).unwrap());
        let all = ends(&walk, warps, &mut end);
        for seed in 0..100 {
            let (mut context, address, launch) = self.context(Config { seed: Some(seed), ..self.config.clone() });
            context.launch(&launch, &mut |_| ()).unwrap();
            let end = words(context.bytes(address, 4 * WORDS).unwrap());
            assert!(all.contains(&end), "seed {seed}: {end:?}");
        }
        all
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
}

/// The ends of a kernel with lanes split and whole, as far as the words of `show` go.
fn both(body: &str, threads: u32, warp_size: u32, control: ControlModel, show: &[usize]) -> [BTreeSet<Vec<u32>>; 2] {
    [MemoryModel::Split, MemoryModel::Flat].map(|memory| {
        let config = Config { memory, warp_size, control: Some(control), ..Config::default() };
        let ends = Case::new(body, threads, config).ends();
        ends.iter().map(|end| show.iter().map(|k| end[*k]).collect()).collect()
    })
}

fn set<const N: usize, const M: usize>(all: [[u32; N]; M]) -> BTreeSet<Vec<u32>> {
    all.iter().map(|end| end.to_vec()).collect()
}

/// One warp stores two words in one instruction, another reads both in one.
#[test]
fn another_warp_sees_a_store_half_done() {
    let body = "and.b32 %b, %t, 1;\nmad.wide.u32 %o, %b, 4, %m;\nsetp.gt.u32 %q, %t, 1;\n@%q bra READ;\n\
                st.global.u32 [%o], 1;\nexit;\nREAD: ld.global.u32 %a, [%o];\nst.global.u32 [%o+8], %a;";
    for control in [ControlModel::Crs, ControlModel::Its] {
        let [split, whole] = both(body, 4, 2, control, &[2, 3]);
        assert_eq!(split, set([[0, 0], [0, 1], [1, 0], [1, 1]]));
        assert_eq!(whole, set([[0, 0], [1, 1]]));
    }
}

/// Lanes of two warps store their numbers to one word.
#[test]
fn any_lane_may_write_last() {
    let [split, whole] = both("st.global.u32 [%m], %t;", 4, 2, ControlModel::Its, &[0]);
    assert_eq!(split, set([[0], [1], [2], [3]]));
    assert_eq!(whole, set([[1], [3]]));
}

/// A vector is stored by one thread and loaded by another, over the register that holds its address.
#[test]
fn vectors_are_split_into_elements() {
    let body = "setp.eq.u32 %q, %t, 1;\nmov.u64 %w, %m;\n@%q bra READ;\nmov.u64 %v, 1;\nst.global.v2.u64 [%m], {%v, %v};\n\
                exit;\nREAD: ld.global.v2.u64 {%m, %v}, [%m];\ncvt.u32.u64 %a, %m;\nst.global.u32 [%w+16], %a;\n\
                cvt.u32.u64 %a, %v;\nst.global.u32 [%w+20], %a;";
    let [split, whole] = both(body, 2, 1, ControlModel::Its, &[4, 5]);
    assert_eq!(split, set([[0, 0], [0, 1], [1, 0], [1, 1]]));
    assert_eq!(whole, set([[0, 0], [1, 1]]));
}

/// Atomic operations of a warp's lanes, on shared memory and by a generic address: each lane's is one operation.
#[test]
fn atomic_operations_come_in_any_order_of_lanes() {
    let body = ".shared .align 4 .u32 s;\nmad.wide.u32 %o, %t, 4, %m;\nadd.u32 %c, %t, 1;\n\
                atom.shared.add.u32 %a, [s], %c;\natom.exch.b32 %b, [%m], %c;\nst.global.u32 [%o+8], %a;\n\
                st.global.u32 [%o+16], %b;";
    let [split, whole] = both(body, 2, 2, ControlModel::Crs, &[0, 2, 3, 4, 5]);
    let (first, second) = ([[1, 0, 1, 2, 0], [2, 0, 1, 0, 1]], [[1, 2, 0, 2, 0], [2, 2, 0, 0, 1]]);
    assert_eq!(split, set([first[0], first[1], second[0], second[1]]));
    assert_eq!(whole, set([[2, 0, 1, 0, 1]]));
}

/// Threads on their own, and accesses of local memory, have nothing to split.
#[test]
fn threads_on_their_own_have_whole_lanes() {
    let body = ".local .align 4 .b8 l[8];\nmad.wide.u32 %o, %t, 4, %m;\nxor.b32 %b, %t, 1;\nmad.wide.u32 %v, %b, 4, %m;\n\
                st.local.u32 [l], %t;\nst.global.u32 [%o], 1;\nld.global.u32 %a, [%v];\nst.global.u32 [%o+8], %a;";
    for control in [ControlModel::Thread, ControlModel::Its] {
        let warp = if control == ControlModel::Thread { 2 } else { 1 };
        let [split, whole] = both(body, 2, warp, control, &[2, 3]);
        assert_eq!(split, set([[0, 1], [1, 0], [1, 1]]));
        assert_eq!(whole, split);
    }
    // In lockstep both have stored before either loads.
    let [split, whole] = both(body, 2, 2, ControlModel::Its, &[2, 3]);
    assert_eq!((split, whole), (set([[1, 1]]), set([[1, 1]])));
}

/// Bytes of shared memory that two lanes store to keep either value, also where the address wraps in 32 bits.
#[test]
fn an_address_that_wraps_is_where_it_leads() {
    let config =
        Config { memory: MemoryModel::Lsc, warp_size: 2, control: Some(ControlModel::Crs), ..Config::default() };
    let ends = [("0", ""), ("8", "+8")].map(|(less, more)| {
        let body = format!(
            ".shared .align 8 .b8 s[8];\nmov.u32 %a, s;\nsub.u32 %a, %a, {less};\nmad.lo.u32 %c, %t, 257, 257;\n\
             st.shared.b16 [%a{more}], %c;\nsetp.ne.u32 %q, %t, 0;\n@%q exit;\nld.shared.u16 %b, [s];\nst.global.u32 [%m], %b;"
        );
        Case::new(&body, 2, config.clone()).ends().iter().map(|end| end[0]).collect::<Vec<u32>>()
    });
    assert_eq!(ends, [[0x0101, 0x0102, 0x0201, 0x0202]; 2]);
}
