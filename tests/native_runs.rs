//! What runs natively at all: everything of a kernel whose memory was lent, and nearly all of functions that call each other.

use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::launch::build;
use warpstep::machine::{Config, Context, ControlModel, Engine, Launch};

/// Whether there is native code here.
const NATIVE: bool = cfg!(all(feature = "native", target_arch = "x86_64"));

/// Accesses of memory that a caller lends are native like those of any other, also between those of blocks that are not lent.
#[test]
fn memory_that_is_lent_is_accessed_natively() {
    let text = "
.version 7.0\n.target sm_60\n.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<4>; .reg .b64 %from, %to, %at;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    ld.param.u64 %from, [from];
    ld.param.u64 %to, [to];
    mad.wide.u32 %from, %r0, 4, %from;
    mad.wide.u32 %to, %r0, 4, %to;
    ld.global.u32 %r3, [%from];
    add.u32 %r3, %r3, %r0;
    st.global.u32 [%to], %r3;
    ret;
}
";
    let mut sources = SourceMap::default();
    let id = sources.add("lent.ptx", text);
    let env = Arc::new(build(&[id], Some(ControlModel::Crs), &sources).unwrap());
    let (blocks, threads) = (64, 128);
    let bytes: Vec<u8> = (0..blocks * threads).flat_map(|i: u32| (3 * i).to_le_bytes()).collect();
    let wanted: Vec<u8> = (0..blocks * threads).flat_map(|i: u32| (4 * i).to_le_bytes()).collect();
    let config = Config { engine: Engine::Native { trip: 0 }, ..Config::default() };
    for from_lent in [true, false] {
        let mut context = Context::new(Arc::clone(&env), config.clone()).unwrap();
        let own = context.alloc("own", bytes.len() as u64).unwrap();
        let lent = if from_lent { bytes.clone() } else { vec![0; bytes.len()] };
        let lent = context.lend("lent", Box::new(lent)).unwrap();
        let (from, to) = if from_lent { (lent, own) } else { (own, lent) };
        if !from_lent {
            context.bytes_mut(own, bytes.len() as u64).unwrap().copy_from_slice(&bytes);
        }
        let params = [from.to_le_bytes(), to.to_le_bytes()].concat();
        let launch =
            Launch { entry: "k".into(), grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0, params };
        let stats = context.launch(&launch, &mut |_| {}).unwrap();
        assert_eq!(context.bytes(to, wanted.len() as u64), Some(&wanted[..]));
        assert_eq!(context.native(), if NATIVE { stats.thread_instructions } else { 0 });
    }
}

/// A recursive function, whose lanes go to different depths, leaves little to the interpreter under independent threads.
#[test]
fn functions_run_natively() {
    let text = "
.version 7.0\n.target sm_70\n.address_size 64
.visible .func (.param .b32 out) fibonacci(.param .b32 n)
{
    .reg .b32 %r<6>; .reg .pred %p;
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %r0;
    setp.lt.u32 %p, %r0, 2;
    @%p bra DONE;
    sub.u32 %r2, %r0, 1;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), fibonacci, (a); ld.param.b32 %r3, [b]; }
    sub.u32 %r4, %r0, 2;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call.uni (b), fibonacci, (a); ld.param.b32 %r5, [b]; }
    add.u32 %r1, %r3, %r5;
DONE:
    st.param.b32 [out], %r1;
    ret;
}
.visible .entry k(.param .u64 to)
{
    .reg .b32 %r<4>; .reg .b64 %to;
    mov.u32 %r0, %tid.x;
    and.b32 %r1, %r0, 15;
    ld.param.u64 %to, [to];
    mad.wide.u32 %to, %r0, 4, %to;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), fibonacci, (a); ld.param.b32 %r2, [b]; }
    st.global.u32 [%to], %r2;
    ret;
}
";
    let mut sources = SourceMap::default();
    let id = sources.add("fibonacci.ptx", text);
    let env = Arc::new(build(&[id], Some(ControlModel::Its), &sources).unwrap());
    let mut numbers = [0u32, 1].to_vec();
    (2..16).for_each(|n| numbers.push(numbers[n - 1] + numbers[n - 2]));
    let wanted: Vec<u8> = (0..128).flat_map(|t: usize| numbers[t % 16].to_le_bytes()).collect();
    let config = Config { engine: Engine::Native { trip: 0 }, control: Some(ControlModel::Its), ..Config::default() };
    let mut context = Context::new(env, config).unwrap();
    let to = context.alloc("to", wanted.len() as u64).unwrap();
    let (entry, params) = ("k".into(), to.to_le_bytes().to_vec());
    let launch = Launch { entry, grid: [1; 3], block: [128, 1, 1], shared_bytes: 0, params };
    let stats = context.launch(&launch, &mut |_| {}).unwrap();
    assert_eq!(context.bytes(to, wanted.len() as u64), Some(&wanted[..]));
    let (native, all) = (context.native(), stats.thread_instructions);
    assert!(if NATIVE { 10 * native > 9 * all } else { native == 0 }, "{native} of {all}");
}
