//! Warps of 1 to 32 lanes: what does not depend on the warp size gives the same result at every size, and what does follows
//! it.

use crate::examples::launches;
use std::time::Duration;
use warpstep::base::SourceMap;
use warpstep::launch::{Arg, Buffer, Data, Device, KernelLaunch, Scalar, Spec, build, load, run};
use warpstep::machine::{Config, ControlModel};
use warpstep::verdict::Silent;

/// Words of PTX by which a program may notice how large its warps are.
const NOTICES: &[&str] = &[
    "shfl",
    "vote",
    "match.",
    "activemask",
    "WARP_SZ",
    "%laneid",
    "%lanemask",
    "bar.warp",
    "redux",
    "elect",
    "%warpid",
    "%nwarpid",
    "%clock",
    "%globaltimer",
];

/// Runs the examples that do not notice at a size; gives how many there are.
fn examples(warp_size: u32) -> usize {
    let mut count = 0;
    for path in launches() {
        let mut sources = SourceMap::default();
        let spec = Spec::read(&path, &mut sources).unwrap();
        let text: String = spec.ptx.iter().map(|(p, _)| std::fs::read_to_string(p).unwrap()).collect();
        // What cannot be executed at any size, and what is for lanes that run together.
        if NOTICES.iter().any(|w| text.contains(w)) || spec.schedule_dependent {
            continue;
        }
        // Threads that a barrier counts must be whole warps.
        if 128 % warp_size != 0 && path.parent().is_some_and(|p| p.ends_with("named_barriers")) {
            continue;
        }
        let env = load(&spec.ptx, None, &mut sources).unwrap();
        let config = Config { warp_size, timeout: Some(Duration::from_secs(300)), ..Config::default() };
        let mut device = Device::new(env, sources, config).unwrap();
        let outcome = run(&spec, &mut device, &mut Silent, None, &mut |_| ());
        let fine = outcome.as_ref().is_ok_and(|o| o.unexpected.is_empty());
        assert!(fine, "{} at warp size {warp_size}: {outcome:?}", path.display());
        count += 1;
    }
    count
}

#[test]
fn examples_of_one_lane() {
    assert!(examples(1) > 40);
}

#[test]
fn examples_of_two_and_four_lanes() {
    assert!(examples(2) > 40);
    assert!(examples(4) > 40);
}

#[test]
fn examples_of_odd_sizes() {
    assert!(examples(3) > 40);
}

#[test]
fn examples_of_eight_and_more_lanes() {
    assert!(examples(8) > 40);
    assert!(examples(16) > 40);
    assert!(examples(32) > 40);
}

/// Each thread writes what it sees of its warp: eight words a thread.
const SEES: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry sees(.param .u64 out)
{
    .reg .b32 %r<20>;
    .reg .b64 %rd<4>;
    .reg .pred %p<4>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 32;
    add.u64 %rd0, %rd0, %rd1;
    mov.u32 %r1, WARP_SZ;
    mov.u32 %r2, %laneid;
    mov.u32 %r3, %warpid;
    mov.u32 %r4, %lanemask_ge;
    activemask.b32 %r5;
    and.b32 %r6, %r0, 1;
    setp.eq.u32 %p0, %r6, 0;
    vote.sync.ballot.b32 %r6, %p0, 0xffffffff;
    shfl.sync.down.b32 %r7|%p1, %r0, 1, 31, 0xffffffff;
    selp.u32 %r8, 1, 0, %p1;
    shfl.sync.idx.b32 %r9|%p2, %r0, 5, 31, 0xffffffff;
    selp.u32 %r10, 2, 0, %p2;
    or.b32 %r8, %r8, %r10;
    st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};
    st.global.v4.u32 [%rd0+16], {%r5, %r6, %r7, %r8};
    ret;
}
";

#[test]
fn a_warp_sees_its_size() {
    let threads = 37;
    for control in [ControlModel::Crs, ControlModel::Its, ControlModel::Thread] {
        for size in 1..=32 {
            let mut sources = SourceMap::default();
            let file = sources.add("sees.ptx", SEES);
            let env = build(&[file], Some(control), &sources).unwrap();
            let config = Config { warp_size: size, control: Some(control), ..Config::default() };
            let mut device = Device::new(env, sources, config).unwrap();
            let ty = Scalar::named("u32").unwrap();
            let buffer = Buffer { ty, init: Data::Zeros, len: Some(8 * u64::from(threads)), at: None };
            device.add_buffer("out", &buffer).unwrap();
            let args = vec![(Arg::Buffer { name: "out".into(), offset: 0 }, None)];
            let launch = KernelLaunch { grid: [1; 3], block: [threads, 1, 1], args, ..KernelLaunch::default() };
            device.launch(&launch, Silent, &mut |_| ()).unwrap();
            let bytes = device.contents("out").unwrap().1;
            let words: Vec<u32> = bytes.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
            for t in 0..threads {
                let (lane, warp) = (t % size, t / size);
                let first = warp * size;
                let here = size.min(threads - first);
                let all = u32::try_from((1u64 << size) - 1).unwrap();
                let live = u32::try_from((1u64 << here) - 1).unwrap();
                let even = (0..here).filter(|l| (first + l) % 2 == 0).fold(0, |m, l| m | 1 << l);
                let down = if lane + 1 < here { t + 1 } else { t };
                // A lane that the warp has but the block does not is inside the segment.
                let valid = u32::from(lane + 1 < size) | (2 * u32::from(size > 5));
                let wanted = [size, lane, warp, all & !((1 << lane) - 1), live, even, down, valid];
                let found = &words[8 * t as usize..8 * t as usize + 8];
                let together = control != ControlModel::Thread;
                for (k, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                    // Threads on their own are alone where nothing gathers them.
                    if k != 4 || together {
                        assert_eq!(*found, wanted, "{control:?}, size {size}, thread {t}, word {k}");
                    }
                }
            }
        }
    }
}
