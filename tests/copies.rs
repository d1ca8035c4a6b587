//! Asynchronous copies (`cp.async`): what they copy, when it is there, what is found of waits and barriers that are missing, and what
//! a search makes of copies in flight (D-async, D-async-races).

#[path = "copies/arrivals.rs"]
mod arrivals;
#[path = "copies/bulk.rs"]
mod bulk;
#[path = "copies/caches.rs"]
mod caches;
#[path = "copies/pairs.rs"]
mod pairs;
#[path = "copies/pipeline.rs"]
mod pipeline;
#[path = "copies/raced.rs"]
mod raced;
#[path = "copies/searched.rs"]
mod searched;

use warpstep::check::Check;
use warpstep::machine::ControlModel;
use warpstep::memory::MemoryModel;
use warpstep::memory::rsp::SchemeName;
use warpstep::{Buffer, Kernel};

/// A kernel of a block over 1 KiB of shared memory that holds sevens, with the address of each thread's 16 bytes of the input in `%rd0`
/// and those of shared memory in `%r1`. What lies there at the end is the output.
fn kernel(threads: u32, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .shared .align 16 .b8 s[1024];\n.reg .b32 %r<20>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n\
         ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, s;\n\
         mul.wide.u32 %rd2, %r0, 16;\nadd.s64 %rd0, %rd0, %rd2;\nadd.s64 %rd1, %rd1, %rd2;\n\
         shl.b32 %r2, %r0, 4;\nadd.u32 %r1, %r1, %r2;\nmov.u32 %r2, 7;\nst.shared.v4.b32 [%r1], {{%r2, %r2, %r2, %r2}};\n\
         setp.lt.u32 %p0, %r0, {};\n\
         {body}\nld.shared.v4.b32 {{%r4, %r5, %r6, %r7}}, [%r1];\nst.global.v4.b32 [%rd1], {{%r4, %r5, %r6, %r7}};\nret;\n}}\n",
        threads / 2
    )
}

/// Runs it with a buffer of `words` as input, and gives the output.
fn output(
    words: &[u32],
    threads: u32,
    body: &str,
    how: impl FnOnce(Kernel<'_>) -> Kernel<'_>,
) -> Result<Vec<u32>, String> {
    let mut output = vec![0u32; threads as usize * 4];
    let text = kernel(threads, body);
    let kernel = Kernel::from_ptx(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(threads);
    let kernel = kernel.check(Check::Uninit).check(Check::Races).check(Check::Bounds);
    how(kernel.arg(words).arg(&mut output[..])).run().map_err(|e| e.to_string())?;
    Ok(output)
}

fn input(threads: u32) -> Vec<u32> {
    (0..threads * 4).map(|k| 1000 + k).collect()
}

const WAIT: &str = "cp.async.commit_group;\ncp.async.wait_group 0;";

/// PTX ISA 9.7.9.25.3.1: as many bytes as the size, zeros where the source has fewer or is ignored.
#[test]
fn bytes_are_copied_and_the_rest_are_zeros() {
    type Expected = fn(u32, u32) -> u32;
    let cases: [(&str, Expected); 9] = [
        ("cp.async.ca.shared.global [%r1], [%rd0], 4;", |v, k| if k == 0 { v } else { 7 }),
        ("cp.async.ca.shared.global [%r1+8], [%rd0], 8;", |v, k| if k < 2 { 7 } else { v - 2 }),
        ("cp.async.cg.shared.global [%r1], [%rd0], 16;", |v, _| v),
        ("cp.async.ca.shared::cta.global.L2::128B [%r1], [%rd0], 16;", |v, _| v),
        ("cp.async.ca.shared.global [%r1], [%rd0], 16, 8;", |v, k| if k < 2 { v } else { 0 }),
        ("mov.u32 %r3, 6; cp.async.ca.shared.global [%r1], [%rd0], 16, %r3;", |v, k| match k {
            0 => v,
            1 => v & 0xffff,
            _ => 0,
        }),
        ("mov.u32 %r3, 0; cp.async.ca.shared.global [%r1], [%rd0], 8, %r3;", |_, k| if k < 2 { 0 } else { 7 }),
        ("setp.eq.u32 %p1, %r0, %r0; cp.async.cg.shared.global [%r1], [%rd0], 16, %p1;", |_, _| 0),
        ("setp.ne.u32 %p1, %r0, %r0; cp.async.cg.shared.global [%r1], [%rd0], 16, %p1;", |v, _| v),
    ];
    for (body, expected) in cases {
        let words = input(64);
        for wait in [WAIT, "cp.async.wait_all;"] {
            let found = output(&words, 64, &format!("{body}\n{wait}"), |k| k).unwrap_or_else(|e| panic!("{body}\n{e}"));
            let expected: Vec<u32> = words.iter().zip(0..).map(|(v, k)| expected(*v, k % 4)).collect();
            assert_eq!(found, expected, "{body}");
        }
    }
}

/// One memory of each kind that has caches, or what keeps stores back.
fn with_caches() -> [MemoryModel; 3] {
    ["fermi", "rsp", "lsc-mutex"].map(|name| MemoryModel::preset(name).unwrap())
}

/// Every memory: flat ones, those whose lanes access it one by one, and those with caches.
fn every_memory() -> Vec<MemoryModel> {
    let named = ["fermi", "write-through", "invalidate", "fermi-like-sm80", "rsp", "lsc-mutex"];
    let named = named.map(|name| MemoryModel::preset(name).unwrap());
    let original = MemoryModel::Rsp(SchemeName::Original);
    let flat = [MemoryModel::Flat, MemoryModel::Split, MemoryModel::Lsc, MemoryModel::Slsc];
    flat.into_iter().chain(named).chain([original]).collect()
}

/// The same on each memory, under each control model, with seeds.
#[test]
fn every_memory_has_copies() {
    let words = input(8);
    for kind in ["ca", "cg"] {
        let body = format!("cp.async.{kind}.shared.global [%r1], [%rd0], 16;\n{WAIT}");
        for memory in every_memory().into_iter().chain(MemoryModel::preset("tiny")) {
            for control in [ControlModel::Its, ControlModel::Thread, ControlModel::Crs] {
                for seed in 0..4 {
                    let found = output(&words, 8, &body, |k| k.memory(memory.clone()).control(control).seed(seed));
                    assert_eq!(found.as_ref(), Ok(&words), "{memory:?} {control:?} {seed}");
                }
            }
        }
    }
}

/// A wait for groups is for those that the thread itself has committed, but for so many of the newest.
#[test]
fn groups_are_of_threads() {
    // The second half of the warp commits once more: its first copy is two groups old.
    let body = "cp.async.ca.shared.global [%r1], [%rd0], 4;\ncp.async.commit_group;\n\
                @!%p0 cp.async.commit_group;\ncp.async.wait_group 1;";
    let error = output(&input(32), 32, body, |k| k).unwrap_err();
    assert!(error.contains("asynchronous copy that its thread has not waited for"), "{error}");
    assert!(error.contains("thread (0, 0, 0)"), "{error}");
    let both = body.replace("@!%p0 cp", "cp");
    output(&input(32), 32, &both, |k| k).unwrap_or_else(|e| panic!("{e}"));
}

/// What is wrong is told with its place when the copy is begun, not when it lands.
#[test]
fn wrong_addresses_are_told() {
    let cases = [
        ("cp.async.ca.shared.global [%r1], [%rd0+4096], 4;", "[out-of-bounds]"),
        ("cp.async.ca.shared.global [%r1+2048], [%rd0], 4;", "[out-of-bounds]"),
        ("cp.async.ca.shared.global [%r1], [%rd0+2], 4;", "[misaligned"),
        ("cp.async.cg.shared.global [%r1+8], [%rd0], 16;", "[misaligned"),
        ("mov.u32 %r3, 8; cp.async.cg.shared.global [%r1], [%rd0+1016], 16, %r3;", "[misaligned"),
        ("mov.u32 %r3, 4; cp.async.cg.shared.global [%r1], [%rd0+1024], 16, %r3;", "[out-of-bounds]"),
    ];
    for (body, says) in cases {
        let error = output(&input(64), 64, &format!("{body}\n{WAIT}"), |k| k).expect_err(body);
        assert!(error.contains(says) && error.contains("cp.async"), "{body}\n{error}");
    }
    // What is not read may lie anywhere.
    let body = "mov.u32 %r3, 0; cp.async.cg.shared.global [%r1], [%rd0+4096], 16, %r3;";
    assert_eq!(output(&input(64), 64, &format!("{body}\n{WAIT}"), |k| k), Ok(vec![0; 256]));
}

/// A copy takes what its source holds when it lands, so that the source must stay as it is until then.
#[test]
fn a_source_that_is_overwritten_in_flight_is_found() {
    let mut data = Buffer::<u32>::zeros(128);
    let body = "cp.async.ca.shared.global [%r1], [%rd0], 4;\ncp.async.commit_group;\nst.global.u32 [%rd0], %r0;\n\
                cp.async.wait_group 0;";
    let text = kernel(32, body);
    let kernel = Kernel::from_ptx(&text).unwrap().block(32).check(Check::Races);
    let mut out = vec![0u32; 128];
    let error = kernel.arg(&mut data).arg(&mut out[..]).run().unwrap_err().to_string();
    assert!(error.contains("a read and a write") && error.contains("has not waited for"), "{error}");
}
