//! Volatile data that threads communicate (D-unordered): warned of without a barrier or fence, in pairs with the repaired
//! kernel; and as races under `--volatile weak`.

use serde_json::Value;
use std::process::Command;

/// Kernels with FENCE in their text; what stands there when they are right; threads of a block; whether the repaired one is
/// right with weak volatile accesses, too.
const PAIRS: [(&str, &str, &str, u32, bool); 5] = [
    (
        "shared memory of one warp",
        "st.volatile.shared.u32 [%rd4], %r0;\nFENCE\nxor.b32 %r3, %r0, 1;\nmul.wide.u32 %rd5, %r3, 4;\n\
         add.u64 %rd5, %rd2, %rd5;\nld.volatile.shared.u32 %r4, [%rd5];",
        "bar.warp.sync 0xffffffff;",
        32,
        true,
    ),
    (
        "shared memory of a block",
        "st.volatile.shared.u32 [%rd4], %r0;\nFENCE\nxor.b32 %r3, %r0, 32;\nmul.wide.u32 %rd5, %r3, 4;\n\
         add.u64 %rd5, %rd2, %rd5;\nld.volatile.shared.u32 %r4, [%rd5];",
        "bar.sync 0;",
        64,
        true,
    ),
    (
        "a flag that is waited for",
        "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\nst.volatile.global.u32 [%rd1], 42;\nFENCE\n\
         st.volatile.global.u32 [%rd1+128], 1;\nbra END;\nWAIT:\nld.volatile.global.u32 %r4, [%rd1+128];\n\
         setp.eq.u32 %p2, %r4, 0;\n@%p2 bra WAIT;\nmembar.gl;\nld.volatile.global.u32 %r5, [%rd1];\nEND:",
        "membar.gl;",
        1,
        false,
    ),
    (
        "the last block reads what all stored, as threadFenceReduction",
        "mul.wide.u32 %rd5, %r1, 4;\nadd.u64 %rd5, %rd1, %rd5;\nst.volatile.global.u32 [%rd5], %r1;\nFENCE\n\
         atom.global.inc.u32 %r4, [%rd1+128], 1;\nsetp.ne.u32 %p1, %r4, 1;\n@%p1 bra END;\n\
         ld.volatile.global.u32 %r5, [%rd1];\nld.volatile.global.u32 %r6, [%rd1+4];\nEND:",
        "membar.gl;",
        1,
        true,
    ),
    (
        "the same with a fence of the reader",
        "mul.wide.u32 %rd5, %r1, 4;\nadd.u64 %rd5, %rd1, %rd5;\nst.volatile.global.u32 [%rd5], %r1;\nFENCE\n\
         atom.global.inc.u32 %r4, [%rd1+128], 1;\nsetp.ne.u32 %p1, %r4, 1;\n@%p1 bra END;\nmembar.gl;\n\
         ld.volatile.global.u32 %r5, [%rd1];\nld.volatile.global.u32 %r6, [%rd1+4];\nEND:",
        "membar.gl;",
        1,
        true,
    ),
];

/// Runs a kernel of two blocks: exit code, races, and warnings.
fn run(body: &str, threads: u32, more: &[&str]) -> (Option<i32>, usize, usize) {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n.shared .align 16 .b8 tile[1024];\n\
         ld.param.u64 %rd1, [out]; mov.u64 %rd2, tile; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n\
         mul.wide.u32 %rd3, %r0, 4; add.u64 %rd4, %rd2, %rd3;\n{body}\nret;\n}}\n"
    );
    let file = tempfile::Builder::new().suffix(".ptx").tempfile().unwrap();
    std::fs::write(file.path(), &text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_warpstep"))
        .arg("run")
        .arg(file.path())
        .args(["--grid", "2", "--block", &threads.to_string(), "--buffer", "out:u32:64", "--arg", "buffer:out"])
        .args(["--check", "races", "--format", "json", "--max-steps", "1000000"])
        .args(more)
        .output()
        .unwrap();
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{text}", String::from_utf8_lossy(&output.stderr)));
    let count = |key: &str| value[key].as_array().unwrap_or_else(|| panic!("{value:#}\n{text}")).len();
    (output.status.code(), count("races"), count("unordered"))
}

#[test]
fn volatile_data_without_a_fence_is_warned_of() {
    for (name, body, fence, threads, _) in PAIRS {
        for more in [&[][..], &["--seed", "1"], &["--seed", "2"]] {
            let (code, races, warnings) = run(&body.replace("FENCE", ""), threads, more);
            assert!((code, races) == (Some(0), 0) && warnings > 0, "{name} {more:?}: {code:?} {races} {warnings}");
            assert_eq!(run(&body.replace("FENCE", fence), threads, more), (Some(0), 0, 0), "{name} {more:?}");
        }
    }
}

#[test]
fn weak_volatile_accesses_race_where_a_fence_is_removed() {
    for (name, body, fence, threads, right) in PAIRS {
        let weak = ["--volatile", "weak"];
        let (code, races, _) = run(&body.replace("FENCE", ""), threads, &weak);
        assert!(code == Some(1) && races > 0, "{name}");
        let (code, races, warnings) = run(&body.replace("FENCE", fence), threads, &weak);
        assert_eq!((code == Some(0), races == 0, warnings), (right, right, 0), "{name}");
    }
}

/// A word that holds value and flag, as in decoupled look-back, and a flag alone, are waited for: there is nothing else that
/// could be seen too early.
#[test]
fn what_is_waited_for_is_not_warned_of() {
    let body = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\nst.volatile.global.u64 [%rd1], 77;\nbra END;\nWAIT:\n\
                ld.volatile.global.u64 %rd5, [%rd1];\nsetp.eq.u64 %p2, %rd5, 0;\n@%p2 bra WAIT;\nEND:";
    assert_eq!(run(body, 1, &[]), (Some(0), 0, 0));
    // A loop over data is no waiting.
    let body = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra READ;\nst.volatile.global.u32 [%rd1], 77;\nbra END;\nREAD:\n\
                mov.u32 %r5, 0;\nmov.u64 %rd5, %rd1;\nMORE:\nld.volatile.global.u32 %r4, [%rd5];\nadd.u64 %rd5, %rd5, 4;\n\
                add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 4;\n@%p2 bra MORE;\nEND:";
    assert_eq!(run(body, 1, &[]), (Some(0), 0, 1));
}
