//! Deliberate errors of asynchronous copies, and the smallest kernels that tell them apart (`--features mutants`).

#[path = "copies/caches.rs"]
mod caches;

use warpstep::Kernel;
use warpstep::base::mutant::{Mutant, select};
use warpstep::memory::MemoryModel;

/// What a kernel of two threads leaves in its four words; none where it does not end. In shared memory are sevens, in global memory 1 to 4, and at `b` a
/// barrier for one arrival.
fn run(body: &str, memory: &str, seed: Option<u64>) -> Option<Vec<u32>> {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 m)\n{{\n\
         .shared .align 16 .b8 s[16];\n.shared .align 8 .b64 b;\n.reg .b32 %r<8>, %t;\n.reg .b64 %m, %d<4>;\n.reg .pred %p<4>, %zero;\n\
         ld.param.u64 %m, [m];\nmov.u32 %t, %tid.x;\nsetp.eq.u32 %zero, %t, 0;\nmov.u32 %r7, 7;\n\
         @%zero st.shared.v4.u32 [s], {{%r7, %r7, %r7, %r7}};\n@%zero mbarrier.init.shared.b64 [b], 1;\nfence.proxy.async;\nbar.sync 0;\n\
         @!%zero bra end;\n{body}\nend: ret;\n}}\n"
    );
    let mut words = [1u32, 2, 3, 4];
    let kernel = Kernel::from_ptx(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(2).max_steps(200_000);
    let kernel = kernel.memory(MemoryModel::preset(memory)?);
    let kernel = seed.into_iter().fold(kernel, Kernel::seed);
    kernel.arg(&mut words[..]).run().ok()?;
    Some(words.to_vec())
}

/// A copy that is in flight lands as late as it can where the schedule is the default one.
const KILLERS: [(Mutant, &str, [u32; 4]); 7] = [
    (
        Mutant::CopyWaitIgnored,
        "cp.async.ca.shared.global [s], [%m+4], 4;\ncp.async.wait_all;\nld.shared.u32 %r1, [s];\nst.global.u32 [%m], %r1;",
        [2, 2, 3, 4],
    ),
    (
        Mutant::CopyWaitYounger,
        "cp.async.ca.shared.global [s], [%m+4], 4;\ncp.async.commit_group;\ncp.async.wait_group 0;\n\
         ld.shared.u32 %r1, [s];\nst.global.u32 [%m], %r1;",
        [2, 2, 3, 4],
    ),
    (
        Mutant::CopyArrivesEarly,
        "cp.async.ca.shared.global [s], [%m+4], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [b];\n\
         cp.async.ca.shared.global [s+4], [%m+8], 4;\n\
         again: mbarrier.test_wait.parity.shared.b64 %p1, [b], 0;\n@!%p1 bra again;\n\
         ld.shared.u32 %r1, [s];\nst.global.u32 [%m], %r1;",
        [2, 2, 3, 4],
    ),
    (
        Mutant::CopyKeepsRest,
        "cp.async.ca.shared.global [s], [%m+8], 8, 4;\ncp.async.wait_all;\nld.shared.u32 %r1, [s+4];\nst.global.u32 [%m], %r1;",
        [0, 2, 3, 4],
    ),
    (
        Mutant::BulkGroupsMixed,
        "cp.async.ca.shared.global [s], [%m+4], 4;\ncp.async.bulk.commit_group;\ncp.async.wait_group 0;\n\
         ld.shared.u32 %r1, [s];\nst.global.u32 [%m], %r1;",
        [7, 2, 3, 4],
    ),
    (
        Mutant::BulkReadIgnored,
        "cp.async.bulk.global.shared::cta.bulk_group [%m], [s], 16;\ncp.async.bulk.commit_group;\n\
         cp.async.bulk.wait_group.read 0;\nst.shared.u32 [s], %t;\ncp.async.bulk.wait_group 0;",
        [7, 7, 7, 7],
    ),
    (
        Mutant::BulkTellsNobody,
        "mbarrier.arrive.expect_tx.shared.b64 _, [b], 16;\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%m], 16, [b];\n\
         again: mbarrier.test_wait.parity.shared.b64 %p1, [b], 0;\n@!%p1 bra again;\n\
         ld.shared.u32 %r1, [s+12];\nst.global.u32 [%m], %r1;",
        [4, 2, 3, 4],
    ),
];

/// A copy that tells a barrier at which its thread arrives meanwhile, by an atomic operation of several steps.
const LOCKED: &str = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%m], 16, [b];\n\
                      mbarrier.arrive.expect_tx.shared.b64 _, [b], 16;\n\
                      again: mbarrier.test_wait.parity.shared.b64 %p1, [b], 0;\n@!%p1 bra again;\n\
                      ld.shared.u32 %r1, [s+12];\nst.global.u32 [%m], %r1;";

/// What searches of small programs tell apart: they fail.
const SEARCHED: [(Mutant, fn()); 6] = [
    (Mutant::CopyOvertakes, caches::order_is_kept),
    (Mutant::CopyPassesL1, caches::l1_is_read),
    (Mutant::CopyNeverPassesL1, caches::l1_is_read),
    (Mutant::CopyKeepsL1, caches::l1_is_left),
    (Mutant::CopyPassesDirty, caches::order_is_kept),
    (Mutant::CopyNeedsNoMutex, caches::mutexes_are_waited_for),
];

pub fn are_told_apart() {
    for (mutant, body, expected) in KILLERS {
        // Copies land in the order of their instructions by the default schedule: who overtakes is seen at random.
        let random = mutant == Mutant::CopyArrivesEarly;
        is_told_apart(mutant, body, "flat", random, expected);
    }
    is_told_apart(Mutant::CopyLocksIgnored, LOCKED, "fermi", true, [4, 2, 3, 4]);
    for (mutant, search) in SEARCHED {
        select(Some(mutant));
        let wrong = std::panic::catch_unwind(search);
        select(None);
        assert!(wrong.is_err(), "{} is not told apart", mutant.name());
    }
}

/// A deliberate error changes what a kernel leaves: by the default schedule, or at random by one of a few.
fn is_told_apart(mutant: Mutant, body: &str, memory: &str, random: bool, expected: [u32; 4]) {
    let seeds: Vec<Option<u64>> = if random { (0..24).map(Some).collect() } else { vec![None] };
    let right = || seeds.iter().all(|seed| run(body, memory, *seed).as_deref() == Some(&expected[..]));
    select(None);
    assert!(right(), "{body}");
    select(Some(mutant));
    let noticed = !right();
    select(None);
    assert!(noticed, "{} is not told apart by\n{body}", mutant.name());
}
