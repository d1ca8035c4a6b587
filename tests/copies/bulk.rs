//! Bulk copies, and stores and reductions that are asynchronous: what they write, whom they tell, what is found of waits that are missing
//! (D-bulk).

use super::{every_memory, with_caches};
use warpstep::Kernel;
use warpstep::check::Check;
use warpstep::machine::ControlModel;

/// Threads of the block; each has four words.
const THREADS: u32 = 32;
const WORDS: usize = THREADS as usize * 4;

/// A kernel over 512 bytes of shared memory at `%s` with the threads' numbers plus 7 in all words, a barrier at `%b` for one arrival, the input
/// at `%in` and the output at `%out`. The body's lines with `0:` in front are the first thread's.
fn kernel(body: &str, end: &str) -> String {
    let mut lines = String::new();
    for line in body.lines().chain(end.lines()) {
        lines += &match line.trim().strip_prefix("0:") {
            Some(line) => format!("@%zero {line}\n"),
            None => format!("{line}\n"),
        };
    }
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .shared .align 16 .b8 tile[512];\n.shared .align 8 .b64 bar;\n\
         .reg .b32 %r<20>, %s, %mine, %b, %t;\n.reg .b64 %in, %out, %own, %d<8>;\n.reg .pred %zero, %p<4>;\n.reg .b64 %x<4>;\n.reg .f32 %f<4>;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\nmov.u32 %s, tile;\nmov.u32 %b, bar;\n\
         setp.eq.u32 %zero, %t, 0;\nshl.b32 %r0, %t, 4;\nadd.u32 %mine, %s, %r0;\nadd.u32 %r0, %t, 7;\n\
         mul.wide.u32 %d0, %t, 16;\nadd.u64 %own, %out, %d0;\n\
         st.shared.v4.u32 [%mine], {{%r0, %r0, %r0, %r0}};\n\
         @%zero mbarrier.init.shared.b64 [%b], 1;\nfence.proxy.async;\nbar.sync 0;\n\
         {lines}ret;\n}}\n"
    )
}

/// All wait for the first phase of the barrier.
const WAIT: &str = "again: mbarrier.try_wait.parity.shared.b64 %p0, [%b], 0;\n@!%p0 bra again;\n";
/// Each thread gives its words of shared memory.
const GIVE: &str = "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%mine];\nst.global.v4.u32 [%own], {%r4, %r5, %r6, %r7};\n";

fn input() -> Vec<u32> {
    (0..WORDS as u32).map(|k| 1000 + k).collect()
}

/// The output of a kernel whose output buffer holds threes at first.
fn output(text: &str, how: impl FnOnce(Kernel<'_>) -> Kernel<'_>) -> Result<Vec<u32>, String> {
    let (input, mut output) = (input(), vec![3u32; WORDS]);
    let kernel = Kernel::from_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(THREADS);
    let kernel = [Check::Uninit, Check::Races, Check::Bounds].into_iter().fold(kernel, Kernel::check);
    how(kernel.arg(&input[..]).arg(&mut output[..])).max_steps(50_000).run().map_err(|e| e.to_string())?;
    Ok(output)
}

const TOLD: &str = "mbarrier::complete_tx::bytes";

/// What stands in shared memory once a barrier has told of it.
#[test]
fn what_a_barrier_tells_of_is_there() {
    let expect = |bytes: u32| format!("0: mbarrier.arrive.expect_tx.shared.b64 _, [%b], {bytes};\n");
    type Expected = fn(u32, u32) -> u32;
    let whole: Expected = |word, _| 1000 + word;
    let cases: [(String, Expected); 9] = [
        (format!("{}0: cp.async.bulk.shared::cluster.global.{TOLD} [%s], [%in], 512, [%b];", expect(512)), whole),
        (format!("0: cp.async.bulk.shared::cta.global.{TOLD} [%s], [%in], 512, [%b];\n{}", expect(512)), whole),
        (
            format!("{}0: cp.async.bulk.shared::cluster.global.{TOLD} [%s+16], [%in+32], 32, [%b];", expect(32)),
            |word, old| {
                if (4..12).contains(&word) { 1004 + word } else { old }
            },
        ),
        (
            format!("{}0: cp.async.bulk.shared::cluster.shared::cta.{TOLD} [%s], [%s+256], 256, [%b];", expect(256)),
            |word, old| if word < 64 { old + 16 } else { old },
        ),
        // Every thread copies its own.
        (
            format!(
                "{}mul.wide.u32 %d1, %t, 16;\nadd.u64 %d1, %in, %d1;\nsetp.lt.u32 %p1, %t, 4;\n\
                 @%p1 cp.async.bulk.shared::cluster.global.{TOLD} [%mine], [%d1], 16, [%b];",
                expect(64)
            ),
            |word, old| if word < 16 { 1000 + word } else { old },
        ),
        (
            format!(
                "{}0: cp.reduce.async.bulk.shared::cluster.shared::cta.{TOLD}.add.u32 [%s], [%s+256], 256, [%b];",
                expect(256)
            ),
            |word, old| if word < 64 { 2 * old + 16 } else { old },
        ),
        (
            format!("{}0: st.async.shared::cluster.{TOLD}.v4.u32 [%s+16], {{%t, %r0, %t, %r0}}, [%b];", expect(16)),
            |word, old| match word {
                4..8 => word % 2 * 7,
                _ => old,
            },
        ),
        (
            format!(
                "{}setp.lt.u32 %p1, %t, 4;\n@%p1 red.async.relaxed.cluster.{TOLD}.shared::cluster.add.u32 [%s], %t, [%b];",
                expect(16)
            ),
            |word, old| {
                if word == 0 { old + 6 } else { old }
            },
        ),
        (
            format!(
                "{}cvta.shared.u64 %d1, %d1;\n0: cp.async.bulk.shared::cluster.global.{TOLD} [%s], [%in], 0, [%b];",
                expect(0)
            ),
            |_, old| old,
        ),
    ];
    for (body, expected) in cases {
        let text = kernel(&body, &format!("{WAIT}{GIVE}"));
        let wanted: Vec<u32> = (0..WORDS as u32).map(|word| expected(word, word / 4 + 7)).collect();
        for control in [ControlModel::Its, ControlModel::Thread] {
            for memory in every_memory() {
                let found = output(&text, |kernel| kernel.control(control).memory(memory.clone()));
                assert_eq!(found.unwrap_or_else(|e| panic!("{memory:?}\n{body}\n{e}")), wanted, "{memory:?}\n{body}");
            }
        }
    }
}

/// What stands in global memory once groups have been waited for, with a type for each operation.
#[test]
fn groups_are_written_when_they_have_been_waited_for() {
    let copy = "0: cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 512;";
    let combine = |how: &str| format!("0: cp.reduce.async.bulk.global.shared::cta.bulk_group.{how} [%out], [%s], 512;");
    let float = |add: f32, word: u32| (f32::from_bits(3) + add * f32::from_bits(word / 4 + 7)).to_bits();
    type Expected<'a> = &'a dyn Fn(u32) -> u32;
    let cases: [(String, Expected<'_>); 8] = [
        (copy.to_owned(), &|word| word / 4 + 7),
        (combine("add.u32"), &|word| word / 4 + 10),
        (combine("max.s32"), &|word| word / 4 + 7),
        (combine("and.b32"), &|word| (word / 4 + 7) & 3),
        (combine("xor.b64"), &|word| (word / 4 + 7) ^ 3),
        (combine("inc.u32"), &|_| 4),
        (combine("min.u64"), &|_| 3),
        (combine("add.f32"), &|word| float(1.0, word)),
    ];
    let wait = "0: cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
    for (body, expected) in cases {
        let wanted: Vec<u32> = (0..WORDS as u32).map(expected).collect();
        for memory in every_memory() {
            let found = output(&kernel(&body, wait), |kernel| kernel.memory(memory.clone()));
            assert_eq!(found.unwrap_or_else(|e| panic!("{memory:?}\n{body}\n{e}")), wanted, "{memory:?}\n{body}");
        }
    }
}

/// After `.read` the source is free, and the destination is not written yet where copies land late.
#[test]
fn a_wait_for_reading_frees_the_source() {
    let store = "0: cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 512;\n0: cp.async.bulk.commit_group;\n";
    let clear = "bar.sync 0;\nst.shared.u32 [%mine], 0;\n";
    let text = kernel(&format!("{store}cp.async.bulk.wait_group.read 0;\n{clear}"), "");
    let wanted: Vec<u32> = (0..WORDS as u32).map(|word| word / 4 + 7).collect();
    assert_eq!(output(&text, |kernel| kernel).unwrap(), wanted);
    let raced = |text: &str| {
        output(text, |kernel| kernel).is_err_and(|e| e.contains("[race]") && e.contains("has not waited for"))
    };
    // Without the wait the source is overwritten in flight; behind `.read` the destination is still in flight.
    assert!(raced(&kernel(&format!("{store}{clear}"), "")));
    let reads = "0: ld.global.u32 %r9, [%out];\n0: st.global.u32 [%in], %r9;\n";
    assert!(raced(&kernel(&format!("{store}cp.async.bulk.wait_group.read 0;\n{reads}"), "")));
    output(&kernel(&format!("{store}cp.async.bulk.wait_group 0;\n{reads}"), ""), |kernel| kernel).unwrap();
}

/// What was stored by ordinary instructions is handed to bulk copies by a fence between proxies.
#[test]
fn a_fence_between_proxies_that_is_missing_is_found() {
    let store = "0: cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 512;\n0: cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
    let text = kernel(store, "");
    output(&text, |kernel| kernel).unwrap();
    let error = output(&text.replace("fence.proxy.async;\n", ""), |kernel| kernel).unwrap_err();
    assert!(error.contains("[race]") && error.contains("no fence.proxy.async between"), "{error}");
    let load = format!(
        "0: mbarrier.arrive.expect_tx.shared.b64 _, [%b], 16;\n0: cp.async.bulk.shared::cluster.global.{TOLD} [%s], [%in], 16, [%b];\n"
    );
    // What is read by ordinary instructions only needs none.
    output(&kernel(&load, &format!("{WAIT}{GIVE}")).replace("fence.proxy.async;\n", ""), |kernel| kernel).unwrap();
}

/// Each defect is found in one run, and shown by a schedule; the kernel that it was made of is silent.
#[test]
fn what_is_missing_is_found_and_shown() {
    let load = format!(
        "0: mbarrier.arrive.expect_tx.shared.b64 _, [%b], 512;\n0: cp.async.bulk.shared::cluster.global.{TOLD} [%s], [%in], 512, [%b];\n"
    );
    let store = "0: cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 512;\n0: cp.async.bulk.commit_group;\n";
    let twice = "0: cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 256;\n0: cp.async.bulk.commit_group;\n\
                 0: cp.async.bulk.global.shared::cta.bulk_group [%out+256], [%s+256], 256;\n0: cp.async.bulk.commit_group;\n";
    let clear = "bar.sync 0;\nst.shared.u32 [%mine], 0;\n";
    let half =
        |from: u32| format!("0: cp.async.bulk.shared::cluster.global.{TOLD} [%s+{from}], [%in+{from}], 256, [%b];\n");
    let halves = format!("0: mbarrier.arrive.expect_tx.shared.b64 _, [%b], 512;\n{}{}", half(0), half(256));
    let right = [
        kernel(&halves, &format!("{WAIT}{GIVE}")),
        kernel(&load, &format!("{WAIT}{GIVE}")),
        kernel(&format!("{store}cp.async.bulk.wait_group 0;\n{clear}"), ""),
        kernel(&format!("{twice}cp.async.bulk.wait_group.read 0;\n{clear}"), ""),
    ];
    let wrong = [
        kernel(&load, GIVE),
        kernel(&halves.replace("_, [%b], 512", "_, [%b], 256"), &format!("{WAIT}{GIVE}")),
        kernel(&format!("{store}{clear}"), ""),
        kernel(&format!("{twice}cp.async.bulk.wait_group.read 1;\n{clear}"), ""),
        kernel(
            &format!("{}cp.async.bulk.wait_group 0;\n{clear}", store.replace("0: cp.async.bulk.commit_group;\n", "")),
            "",
        ),
        kernel(&format!("{load}{}", "st.shared.u32 [%mine], 9;\n"), &format!("{WAIT}{GIVE}")),
    ];
    for text in &right {
        output(text, |kernel| kernel).unwrap_or_else(|e| panic!("{text}\n{e}"));
        for memory in with_caches() {
            for seed in 0..3 {
                let found = output(text, |kernel| kernel.memory(memory.clone()).seed(seed));
                found.unwrap_or_else(|e| panic!("{memory:?} {seed}\n{text}\n{e}"));
            }
        }
    }
    for text in &wrong {
        let found = output(text, |kernel| kernel).expect_err(text);
        assert!(found.contains("[race]"), "{text}\n{found}");
        let expected = output(&right[0], |kernel| kernel).unwrap();
        let (input, mut out) = (input(), vec![3u32; WORDS]);
        let kernel = Kernel::from_ptx(text).unwrap().block(THREADS).max_steps(50_000).arg(&input[..]);
        let wanted: Vec<u32> = (0..WORDS as u32).map(|word| word / 4 + 7).collect();
        let wanted = if text.contains("ld.shared.v4") { expected } else { wanted };
        let hunted = kernel.arg(&mut out[..]).expect(&wanted[..]).hunt(0..200).unwrap();
        assert!(!hunted.findings.is_empty(), "no schedule shows it:\n{text}");
        for memory in with_caches() {
            // Copies take turns with other operations there, so that which have landed by then is as the schedule has it.
            let raced = |seed| {
                let found = output(text, |kernel| kernel.memory(memory.clone()).seed(seed));
                found.is_err_and(|e| e.contains("[race]"))
            };
            assert!((0..20).any(raced), "no race on {memory:?}:\n{text}");
            // Who has asked a barrier there has made many steps before it reads: copies that are not awaited land meanwhile.
            if memory.device().is_some() && text.contains("try_wait") {
                continue;
            }
            let mut out = vec![3u32; WORDS];
            let kernel = Kernel::from_ptx(text).unwrap().block(THREADS).max_steps(50_000).memory(memory.clone());
            let hunted = kernel.arg(&input[..]).arg(&mut out[..]).expect(&wanted[..]).hunt(0..100).unwrap();
            assert!(!hunted.findings.is_empty(), "no schedule shows it on {memory:?}:\n{text}");
        }
    }
}

/// A cluster is one block: its own addresses are those of rank 0, and there is no other.
#[test]
fn addresses_are_mapped_to_the_only_block() {
    let store = |rank: u32| {
        format!(
            "mov.u32 %r9, {rank};\nmapa.shared::cluster.u32 %r8, %mine, %r9;\ngetctarank.shared::cluster.u32 %r10, %r8;\n\
                 cvta.shared.u64 %d1, %d1;\nst.shared::cluster.u32 [%r8], %r10;\n"
        )
    };
    let found = output(&kernel(&store(0), GIVE), |kernel| kernel).unwrap();
    let wanted: Vec<u32> = (0..WORDS as u32).map(|word| if word % 4 == 0 { 0 } else { word / 4 + 7 }).collect();
    assert_eq!(found, wanted);
    let error = output(&kernel(&store(1).replace("st.shared", "0: st.shared"), GIVE), |kernel| kernel).unwrap_err();
    assert!(error.contains("[out-of-bounds]"), "{error}");
}

#[test]
fn what_no_bulk_copy_may_be_is_a_defect() {
    let begins = |from: &str, to: &str, size: &str| {
        format!("mov.u32 %r9, {size};\n0: cp.async.bulk.shared::cluster.global.{TOLD} [{to}], [{from}], %r9, [%b];\n")
    };
    for (body, words) in [
        (begins("%in+4", "%s", "16"), "misaligned"),
        (begins("%in", "%s+8", "16"), "misaligned"),
        (begins("%in", "%s", "24"), "a bulk copy of 24 bytes"),
        (begins("%in", "%s", "528"), "out-of-bounds"),
        (begins("%in+256", "%s", "272"), "out-of-bounds"),
        (begins("%in", "%s", "16").replace("[%b]", "[%s+64]"), "mbarrier"),
    ] {
        let error = output(&kernel(&body, ""), |kernel| kernel).expect_err(&body);
        assert!(error.contains(words), "{body}\n{error}");
    }
}

/// A cluster is one block: a copy to the set of blocks that has that one is as any other, and another set is a defect.
#[test]
fn a_copy_to_several_blocks_goes_to_the_one_there_is() {
    let copy = |mask: u32| {
        format!(
            "mov.b32 %r9, {mask};\ncvt.u16.u32 %h0, %r9;\n0: mbarrier.arrive.expect_tx.shared.b64 _, [%b], 32;\n\
             0: cp.async.bulk.shared::cluster.global.{TOLD}.multicast::cluster [%s+16], [%in+64], 32, [%b], %h0;\n{WAIT}"
        )
    };
    let text = |mask| kernel(&copy(mask), GIVE).replace(".reg .pred %zero", ".reg .b16 %h<2>;\n.reg .pred %zero");
    let found = output(&text(1), |k| k).unwrap();
    let expected: Vec<u32> =
        (0..WORDS as u32).map(|k| if (4..12).contains(&k) { 1000 + 16 + k - 4 } else { k / 4 + 7 }).collect();
    assert_eq!(found, expected);
    for mask in [0, 2, 3, 0x8001] {
        let error = output(&text(mask), |k| k).unwrap_err();
        let words = format!("a bulk copy to the blocks {mask:#06x} of a cluster of one block");
        assert!(error.contains("[out-of-bounds]") && error.contains(&words), "{error}");
    }
}
