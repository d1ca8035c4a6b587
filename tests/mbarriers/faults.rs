//! What is no use of a barrier: each mistake with its words, and what comes next to it and is none.

use super::{kernel, ptx};

const INIT: &str = "mbarrier.init.shared.b64 [bar], 2;\n";

/// The code and the text of what is wrong.
fn wrong(body: &str) -> (String, String) {
    let text = ptx(&format!("mov.u64 %s0, 0;\n{body}"));
    let mut out = [0u32; 4];
    match kernel(&text).arg(&mut out[..]).run() {
        Ok(_) => (String::new(), String::new()),
        Err(error) => (error.code().to_owned(), error.to_string()),
    }
}

fn is_fine(body: &str) {
    assert_eq!(wrong(body), Default::default(), "{body}");
}

fn says(body: &str, words: &str) {
    let (code, text) = wrong(body);
    assert!(code == "mbarrier" && text.contains(words), "{body}\n{code}: {text}");
}

#[test]
fn what_is_no_barrier() {
    let uses = [
        "mbarrier.arrive.shared.b64 _, [bar];",
        "mbarrier.arrive_drop.shared.b64 _, [bar], 2;",
        "mbarrier.arrive.noComplete.shared.b64 %s1, [bar], 1;",
        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;",
        "mbarrier.expect_tx.shared.b64 [bar], 16;",
        "mbarrier.complete_tx.shared.b64 [bar], 16;",
        "mbarrier.test_wait.shared.b64 %p0, [bar], %s0;",
        "mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;",
        "mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0, 7;",
        "mbarrier.inval.shared.b64 [bar];",
    ];
    for text in uses {
        says(&format!("st.shared.u64 [bar], 0;\n{text}"), "there is no barrier at this address: 0x0");
        says(&format!("st.shared.u64 [bar], 77;\n{text}"), "there is no barrier at this address: 0x4d");
        says(&format!("{INIT}mbarrier.inval.shared.b64 [bar];\n{text}"), "there is no barrier");
    }
    for text in &uses[..6] {
        is_fine(&format!("{INIT}{text}"));
    }
}

#[test]
fn a_barrier_that_is_one_already() {
    says(&format!("{INIT}mbarrier.arrive.shared.b64 _, [bar];\n{INIT}"), "it awaits 1 of 2 arrivals");
    is_fine(&format!("{INIT}mbarrier.inval.shared.b64 [bar];\n{INIT}"));
    is_fine(&format!("st.shared.u64 [bar], -1;\n{INIT}"));
}

#[test]
fn counts_that_no_barrier_has() {
    for count in ["0", "1048576", "-1"] {
        let words = "the count must be 1 to 1048575";
        says(&format!("mov.u32 %r1, {count};\nmbarrier.init.shared.b64 [bar], %r1;"), words);
        says(&format!("{INIT}mov.u32 %r1, {count};\nmbarrier.arrive.shared.b64 _, [bar], %r1;"), words);
    }
    is_fine("mbarrier.init.shared.b64 [bar], 1048575;\nmbarrier.arrive.shared.b64 _, [bar], 1048575;");
    let large = "mbarrier.expect_tx.shared.b64 [bar], 1048575;\n";
    is_fine(&format!("{INIT}{large}"));
    says(
        &format!("{INIT}{large}mbarrier.expect_tx.shared.b64 [bar], 1;"),
        "1 are expected, and its tx-count is 1048575",
    );
    says(&format!("{INIT}mbarrier.complete_tx.shared.b64 [bar], 1048576;"), "1048576 are completed");
    says(&format!("{INIT}mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1048576;"), "the tx-count must be");
}

#[test]
fn arrivals_that_nobody_awaits() {
    says(
        &format!("{INIT}mbarrier.arrive.shared.b64 _, [bar], 3;"),
        "too many arrivals at a barrier: 3, where its phase awaits 2",
    );
    let open = format!("{INIT}mbarrier.expect_tx.shared.b64 [bar], 8;\nmbarrier.arrive.shared.b64 _, [bar], 2;\n");
    is_fine(&open);
    says(&format!("{open}mbarrier.arrive.shared.b64 _, [bar];"), "nobody is awaited any more");
    let left = format!("{INIT}mbarrier.arrive_drop.shared.b64 _, [bar], 2;\n");
    is_fine(&format!("{left}mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;\nmbarrier.inval.shared.b64 [bar];"));
    says(&format!("{left}mbarrier.arrive.shared.b64 _, [bar];"), "too many arrivals");
}

#[test]
fn promises_and_operands() {
    says(&format!("{INIT}mbarrier.arrive.noComplete.shared.b64 %s1, [bar], 2;"), "2 arrivals with .noComplete");
    says(&format!("{INIT}mbarrier.test_wait.shared.b64 %p0, [bar], %s0;"), "0x0 is the state of no barrier");
    says("mbarrier.pending_count.b64 %r1, %s0;", "0x0 is the state of no barrier");
    says(
        &format!("{INIT}mov.u32 %r1, 2;\nmbarrier.test_wait.parity.shared.b64 %p0, [bar], %r1;"),
        "2 is no parity of a phase",
    );
}

#[test]
fn places_where_no_barrier_can_be() {
    says("mbarrier.init.b64 [%rd0], 1;", "is no address of shared memory");
    says("mbarrier.test_wait.parity.b64 %p0, [%rd0], 0;", "is no address of shared memory");
    assert_eq!(wrong("mbarrier.init.shared.b64 [bar+4], 1;").0, "misaligned");
    assert_eq!(
        wrong("mov.u64 %rd1, bar;\ncvta.shared.u64 %rd1, %rd1;\nmbarrier.init.b64 [%rd1+4], 1;").0,
        "misaligned"
    );
    assert_eq!(wrong("mbarrier.init.shared.b64 [bar+4096], 1;").0, "out-of-bounds");
}

/// Lanes with the same mistake are told of together, and a guard leaves lanes out.
#[test]
fn lanes_and_guards() {
    let text = ptx("setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [bar], 2;\nbar.warp.sync 0xf;\n\
                    setp.lt.u32 %p1, %r0, 2;\n@%p1 mbarrier.arrive.shared.b64 _, [bar];\n");
    let mut out = [0u32; 4];
    kernel(&text).block(4).arg(&mut out[..]).run().unwrap_or_else(|e| panic!("{e}"));
    let text = text.replace("setp.lt.u32 %p1, %r0, 2", "setp.lt.u32 %p1, %r0, 3").replace("[bar], 2", "[bar], 5");
    kernel(&text).block(4).arg(&mut out[..]).run().unwrap_or_else(|e| panic!("{e}"));
    let text = ptx("setp.gt.u32 %p1, %r0, 1;\n@%p1 mbarrier.arrive.shared.b64 _, [bar];\n");
    let error = kernel(&text).block(4).arg(&mut out[..]).run().unwrap_err().to_string();
    assert!(error.contains("lanes 2-3"), "{error}");
}
