//! PTX kernels on the hardware of remote-scope promotion (`--memory rsp`): small programs end as they do on the abstract machine, the
//! published bugs are found, and fences and other instructions do what spec-notes/rsp-ptx.md says. `RSP_FULL=1` leaves no program out.

mod races;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::explore::promotion;
use warpstep::explore::space::{Fairness, Options, cycles_until, explore};
use warpstep::launch::build;
use warpstep::litmus::Final;
use warpstep::litmus::rsp::Home;
use warpstep::litmus::rsp_machine::sweep::{Op, Shape};
use warpstep::litmus::rsp_machine::{Ended, Kind, Scheme, compile};
use warpstep::machine::walk::{Grain, State};
use warpstep::machine::{Config, Context, ControlModel, Launch, MemoryModel};
use warpstep::memory::rsp::SchemeName;
use warpstep::verdict::Stop;

const KINDS: [Kind; 3] = [Kind::Load, Kind::Store, Kind::Update];
const NARROW: Option<(u8, bool)> = Some((0, false));
const DEVICE: Option<(u8, bool)> = Some((1, false));
const REMOTE: Option<(u8, bool)> = Some((1, true));
const SCHEMES: [SchemeName; 2] = [SchemeName::Original, SchemeName::Proposed];

/// Bytes of the memory whose address is the kernel's parameter: locations and what threads have read, each in a unit of its own.
const BYTES: u64 = 1024;
/// From one location to the next.
const APART: u64 = 64;
/// Where what a thread has read is, by its number and that of its operation.
const fn read_at(thread: usize, place: usize) -> u64 {
    256 + APART * (4 * thread as u64 + place as u64)
}

/// Two threads: of two blocks, two warps, one warp.
const BLOCKS: [u32; 3] = [2, 1, 1];
const WARPS: [u32; 3] = [1, 2, 1];
const LANES: [u32; 3] = [1, 2, 2];

/// How a program can end, and whether it can be left waiting.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Ends {
    /// What is read, and what locations hold then.
    values: BTreeSet<Vec<u32>>,
    waits: bool,
    /// Whether a fair run never ends.
    endless: bool,
}

fn op(kind: Kind, atomic: Option<(u8, bool)>, at: u8) -> Op {
    Op { kind, atomic, at }
}

/// Two threads in two work-groups.
fn pair(one: &[Op], other: &[Op], conditional: Option<usize>) -> Shape {
    let home = |group| Home { device: 0, group };
    Shape { threads: vec![(home(0), one.to_vec()), (home(1), other.to_vec())], conditional }
}

/// The operations of a program whose values are looked at: those that read.
fn reads(shape: &Shape) -> Vec<(usize, usize)> {
    let threads = shape.threads.iter().enumerate();
    let reads = threads.flat_map(|(t, (_, ops))| ops.iter().enumerate().map(move |(p, op)| (t, p, op.kind)));
    reads.filter(|(.., kind)| *kind != Kind::Store).map(|(t, p, _)| (t, p)).collect()
}

fn locations(shape: &Shape) -> u8 {
    shape.threads.iter().flat_map(|(_, ops)| ops).map(|op| op.at + 1).max().unwrap_or(0)
}

/// What the abstract machine does.
fn abstractly(shape: &Shape, scheme: SchemeName) -> Ends {
    let test = shape.test();
    let compiled = compile(&test, &Scheme::of(scheme)).unwrap();
    let search = |grain, stuck| {
        let options = &mut promotion::Options { stuck, ..promotion::Options::new(grain) };
        promotion::explore(&compiled.program, options)
    };
    let mut ends = Ends { waits: search(promotion::Grain::Every, true).stuck.0 != 0, ..Ends::default() };
    for end in search(promotion::Grain::Needed, false).ends.keys() {
        let ended = Ended { compiled: &compiled, test: &test, end };
        let read = |(t, p): (usize, usize)| ended.register(t, &format!("r{p}")).unwrap_or(0) as u32;
        let held = end.memory.iter().map(|v| v.cast_unsigned());
        ends.values.insert(reads(shape).into_iter().map(read).chain(held).collect());
    }
    ends
}

/// A program as a kernel for blocks of one thread.
fn kernel(shape: &Shape) -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 p) {\n.reg .b32 %b, %r<4>;\n.reg .b64 %m;\n\
         .reg .pred %q;\nmov.u32 %r0, 0;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nld.param.u64 %m, [p];\n\
         mov.u32 %b, %ctaid.x;\n",
    );
    for thread in 0..shape.threads.len() {
        let _ = writeln!(text, "setp.eq.u32 %q, %b, {thread};\n@%q bra T{thread};");
    }
    let mut value = 0;
    for (thread, (_, ops)) in shape.threads.iter().enumerate() {
        let _ = writeln!(text, "exit;\nT{thread}:");
        for (place, op) in ops.iter().enumerate() {
            value += 1;
            let at = APART * u64::from(op.at);
            let scope = match op.atomic {
                Some((0, _)) => "cta",
                _ => "gpu",
            };
            let mark = if op.atomic.is_some_and(|(_, remote)| remote) { ".pragma \"warpstep remote\";\n" } else { "" };
            let _ = match (op.kind, op.atomic) {
                (Kind::Load, None) => writeln!(text, "ld.global.u32 %r{place}, [%m+{at}];"),
                (Kind::Store, None) => writeln!(text, "st.global.u32 [%m+{at}], {value};"),
                (Kind::Load, _) => writeln!(text, "{mark}ld.acquire.{scope}.global.u32 %r{place}, [%m+{at}];"),
                (Kind::Store, _) => writeln!(text, "{mark}st.release.{scope}.global.u32 [%m+{at}], {value};"),
                (Kind::Update, _) => {
                    writeln!(text, "{mark}atom.acq_rel.{scope}.global.add.u32 %r{place}, [%m+{at}], 1;")
                }
            };
            if shape.conditional == Some(thread) && place == 0 {
                let _ = writeln!(text, "setp.eq.u32 %q, %r0, 0;\n@%q bra E{thread};");
            }
        }
        let _ = writeln!(text, "E{thread}:");
        for (_, place) in reads(shape).into_iter().filter(|(t, _)| *t == thread) {
            let _ = writeln!(text, "st.global.u32 [%m+{}], %r{place};", read_at(thread, place));
        }
    }
    text + "exit;\n}\n"
}

fn word(state: &dyn State, address: u64) -> u32 {
    state.bytes(address, 4).map_or(u32::MAX, |b| u32::from_le_bytes(b.try_into().unwrap()))
}

/// Goes through all runs of a kernel: so many blocks, threads in each, lanes of a warp. `show`: the words that are looked at.
fn all_runs(text: &str, [blocks, threads, lanes]: [u32; 3], memory: MemoryModel, show: &[u64]) -> Ends {
    let control = Some(ControlModel::Thread);
    let config = Config { control, memory, warp_size: lanes, ..Config::default() };
    let mut sources = SourceMap::default();
    let file = sources.add("k.ptx", text.to_owned());
    let env = build(&[file], control, &sources).unwrap_or_else(|p| panic!("{p:?}\n{text}"));
    let mut context = Context::new(Arc::new(env), config).unwrap();
    let address = context.alloc("memory", BYTES).unwrap();
    let params = address.to_le_bytes().to_vec();
    let launch = Launch { entry: "k".into(), grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0, params };
    let mut walk = context.walk(&[launch], Grain::Visible).unwrap();
    let mut poll = |_: &_| None;
    let mut options = Options { max_states: Some(3_000_000), ..Options::states(false, &mut poll) };
    let end = &mut |state: &dyn State| show.iter().map(|at| word(state, address + at)).collect::<Vec<u32>>();
    let space = explore(&mut *walk, &mut options, end);
    assert_eq!(space.limit, None, "{text}");
    let waits = space.found.iter().any(|found| matches!(found.stop, Stop::Stuck(_)));
    assert!(waits || space.found.is_empty(), "{text}\n{:?}", space.found.first().map(|f| &f.stop));
    let endless = !cycles_until(&space.graph, Fairness::Weak, &mut |_, _| (), &|| None).0.is_empty();
    Ends { values: space.outcomes.into_keys().collect(), waits, endless }
}

/// What a program does as a kernel.
fn as_kernel(shape: &Shape, scheme: SchemeName) -> Ends {
    let held = (0..locations(shape)).map(|at| APART * u64::from(at));
    let show: Vec<u64> = reads(shape).into_iter().map(|(t, p)| read_at(t, p)).chain(held).collect();
    all_runs(&kernel(shape), BLOCKS, MemoryModel::Rsp(scheme), &show)
}

/// The nine operations of table 3 on a location.
fn nine() -> Vec<Op> {
    KINDS.iter().flat_map(|kind| [NARROW, DEVICE, REMOTE].map(|atomic| op(*kind, atomic, 0))).collect()
}

/// Every how many-th program is looked at.
fn stride(usual: usize) -> usize {
    if std::env::var_os("RSP_FULL").is_some() { 1 } else { usual }
}

/// Message passing: the second thread reads `x` if it has read the flag `y`, by a load or by an increment.
fn message_passing(flag: Kind) -> Shape {
    let (writes, reads) =
        ([op(Kind::Store, None, 0), op(Kind::Store, DEVICE, 1)], [op(flag, DEVICE, 1), op(Kind::Load, None, 0)]);
    pair(&writes, &reads, Some(1))
}

/// Compares; tells whether the program can be left waiting, on the abstract machine and as a kernel.
fn agree(shape: &Shape, scheme: SchemeName) -> (bool, bool) {
    let (abstractly, kernel_ends) = (abstractly(shape, scheme), as_kernel(shape, scheme));
    assert_eq!(abstractly.values, kernel_ends.values, "{scheme:?} {shape:?}\n{}", kernel(shape));
    assert!(abstractly.waits || !kernel_ends.waits, "{scheme:?} waits: {shape:?}\n{}", kernel(shape));
    (abstractly.waits, kernel_ends.waits)
}

#[test]
fn the_published_bugs_are_there_under_the_original_scheme() {
    let figure5 = pair(&[op(Kind::Update, NARROW, 0)], &[op(Kind::Store, REMOTE, 0)], None);
    let cases = [
        // The flag is read, and not what it was set after.
        (message_passing(Kind::Load), vec![2, 0, 1, 2]),
        (message_passing(Kind::Update), vec![2, 0, 1, 3]),
        // The store is lost between the increment's read and its write.
        (figure5, vec![0, 1]),
    ];
    for (shape, wrong) in cases {
        for scheme in SCHEMES {
            agree(&shape, scheme);
            let found = as_kernel(&shape, scheme).values.contains(&wrong);
            assert_eq!(found, scheme == SchemeName::Original, "{scheme:?} {shape:?}");
        }
    }
}

#[test]
fn kernels_end_as_programs_of_the_abstract_machine_do() {
    let nine = nine();
    let (mut count, mut waiting) = (0, [[0, 0]; 2]);
    let mut look = |shape: &Shape| {
        for (scheme, waiting) in SCHEMES.into_iter().zip(&mut waiting) {
            let (abstractly, kernel) = agree(shape, scheme);
            waiting[0] += usize::from(abstractly);
            waiting[1] += usize::from(kernel);
        }
        count += 1;
    };
    for first in &nine {
        for second in &nine {
            look(&pair(&[*first], &[*second], None));
        }
    }
    let all = nine.iter().flat_map(|a| nine.iter().map(move |b| [*a, *b]));
    let all: Vec<([Op; 2], Op)> = all.flat_map(|two| nine.iter().map(move |one| (two, *one))).collect();
    for (two, one) in all.iter().step_by(stride(41)) {
        look(&pair(two, &[*one], None));
    }
    println!("{count} programs; waiting: {waiting:?}");
    assert!(waiting[0][1] > 0 && waiting[1] == [0, 0], "{waiting:?}");
}

/// Code of two kinds of threads: of the first, and of the others; `%m` is the memory, `%r0` and what follows are zero.
fn two(first: &str, others: &str) -> String {
    format!(
        ".version 8.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 p) {{\n.reg .b32 %b, %t, %r<8>;\n\
         .reg .b64 %m, %a, %d<4>;\n.reg .pred %q;\n.shared .align 8 .u32 s[2];\nmov.u32 %r0, 0;\nmov.u32 %r1, 0;\n\
         ld.param.u64 %m, [p];\nmov.u32 %b, %ctaid.x;\nmov.u32 %t, %tid.x;\nadd.u32 %b, %b, %t;\n\
         setp.ne.u32 %q, %b, 0;\n@%q bra OTHERS;\n{first}\nexit;\nOTHERS:\n{others}\nexit;\n}}\n"
    )
}

fn proposed(text: &str, shape: [u32; 3], show: &[u64]) -> BTreeSet<Vec<u32>> {
    let ends = all_runs(text, shape, MemoryModel::Rsp(SchemeName::Proposed), show);
    assert!(!ends.waits && !ends.endless, "{text}");
    ends.values
}

fn set<const N: usize, const M: usize>(all: [[u32; N]; M]) -> BTreeSet<Vec<u32>> {
    all.iter().map(|end| end.to_vec()).collect()
}

/// Message passing by accesses that order nothing, with something between them in each thread. The flag's and the data's value.
fn passing(writer: &str, reader: &str) -> String {
    two(
        &format!("st.global.u32 [%m], 1;\n{writer}\nst.relaxed.cta.global.u32 [%m+64], 1;"),
        &format!(
            "ld.relaxed.cta.global.u32 %r0, [%m+64];\n{reader}\nld.global.u32 %r1, [%m];\n\
             st.global.u32 [%m+256], %r0;\nst.global.u32 [%m+320], %r1;"
        ),
    )
}

const ALL: [[u32; 2]; 4] = [[0, 0], [0, 1], [1, 0], [1, 1]];
const ORDERED: [[u32; 2]; 3] = [[0, 0], [0, 1], [1, 1]];

/// D-rsp-ptx-fence
#[test]
fn fences_order_what_is_before_and_after_them() {
    let (release, acquire) = ("fence.release.gpu;", "fence.acquire.gpu;");
    let versioned = |text: String| text.replace(".version 8.0", ".version 8.6").replace("sm_70", "sm_90");
    let ends = |writer, reader| proposed(&versioned(passing(writer, reader)), BLOCKS, &[256, 320]);
    for fence in ["fence.acq_rel.gpu;", "fence.sc.sys;", "membar.gl;", "fence.acq_rel.cluster;"] {
        assert_eq!(ends(fence, fence), set(ORDERED), "{fence}");
    }
    assert_eq!(ends(release, acquire), set(ORDERED));
    for (writer, reader) in [("", ""), ("fence.sc.gpu;", ""), ("", "fence.sc.gpu;"), (acquire, release)] {
        assert_eq!(ends(writer, reader), set(ALL), "{writer} {reader}");
    }
    assert_eq!(ends("fence.sc.cta;", "fence.sc.cta;"), set(ALL));
    // Threads of a block have one cache, in which nothing is out of order.
    assert_eq!(proposed(&passing("", ""), LANES, &[256, 320]), set(ORDERED));
}

#[test]
fn barriers_need_nothing_more() {
    let text = two(
        "st.global.u32 [%m], 1;\nst.shared.u32 [s], 2;\nbar.sync 0;",
        "ld.global.u32 %r2, [%m];\nbar.sync 0;\nld.global.u32 %r0, [%m];\nld.shared.u32 %r1, [s];\n\
         st.global.u32 [%m+256], %r0;\nst.global.u32 [%m+320], %r1;",
    );
    assert_eq!(proposed(&text, WARPS, &[256, 320]), set([[1, 2]]));
}

/// D-rsp-ptx-unit: what one instruction writes is never seen in part, and what others write beside it is kept.
#[test]
fn bytes_have_masks() {
    let text = two(
        "mov.u64 %d0, 0x100000001;\nst.global.v4.u64 [%m], {%d0, %d0, %d0, %d0};",
        "ld.global.v4.u64 {%d0, %d1, %d2, %d3}, [%m];\nadd.u64 %d0, %d0, %d3;\nadd.u64 %d1, %d1, %d2;\nadd.u64 %d0, %d0, %d1;\n\
         cvt.u32.u64 %r0, %d0;\nst.global.u32 [%m+256], %r0;",
    );
    let text = text.replace(".version 8.0", ".version 8.8").replace("sm_70", "sm_100");
    assert_eq!(proposed(&text, BLOCKS, &[256, 28]), set([[0, 1], [4, 1]]));
    let text = two(
        "st.global.u8 [%m], 1;\nst.global.u16 [%m+2], 3;\nadd.u64 %a, %m, 4;\nst.u32 [%a], 9;",
        "st.global.u8 [%m+1], 2;\nld.global.u8 %r0, [%m+1];\nld.u8 %r1, [%m];\nand.b32 %r1, %r1, 2;\n\
         st.global.u32 [%m+256], %r0;\nst.global.u32 [%m+320], %r1;",
    );
    assert_eq!(proposed(&text, BLOCKS, &[0, 4, 256, 320]), set([[0x0003_0201, 9, 2, 0]]));
}

#[test]
fn updates_are_atomic_and_an_exchange_that_fails_stores_nothing() {
    let exchange = |scope: &str| {
        format!(
            "add.u32 %r1, %b, 1;\natom.acq_rel.{scope}.global.cas.b32 %r0, [%m], 0, %r1;\nmad.wide.u32 %a, %b, 64, %m;\n\
             st.global.u32 [%a+256], %r0;"
        )
    };
    for (scope, shape) in [("gpu", BLOCKS), ("sys", BLOCKS), ("cta", LANES)] {
        let code = exchange(scope);
        assert_eq!(proposed(&two(&code, &code), shape, &[0, 256, 320]), set([[1, 0, 1], [2, 2, 0]]), "{scope}");
    }
    // In caches of their own both find what was there.
    let code = exchange("cta");
    let ends = proposed(&two(&code, &code), BLOCKS, &[0, 256, 320]);
    assert!(ends.contains(&vec![1, 0, 0]) && ends.contains(&vec![2, 0, 0]), "{ends:?}");
    let code = "red.relaxed.gpu.global.add.u64 [%m], 5;\nred.global.max.s32 [%m+64], -1;";
    assert_eq!(proposed(&two(code, code), BLOCKS, &[0, 64]), set([[10, 0]]));
}

/// D-rsp-ptx-mapping: what is volatile is as wide as the device; constants, parameters and shared memory have no part in it.
#[test]
fn volatile_accesses_pass_messages() {
    let volatile = |reader: &str| {
        two(
            "st.global.u32 [%m], 1;\nst.volatile.global.u32 [%m+64], 1;",
            &format!(
                "ld.volatile.global.u32 %r0, [%m+64];\n{reader}\nst.global.u32 [%m+256], %r0;\nst.global.u32 [%m+320], %r1;"
            ),
        )
    };
    assert_eq!(proposed(&volatile("ld.global.u32 %r1, [%m];"), BLOCKS, &[256, 320]), set(ORDERED));
    assert_eq!(proposed(&volatile("ld.global.nc.u32 %r1, [%m];"), BLOCKS, &[256, 320]), set(ORDERED));
}

/// One thread stores, another spins on what its cache holds, and reads something else in between: then nobody is about to read the
/// old value, and a fetch that were promised to readers alone need never come.
fn spinning() -> String {
    two(
        "st.global.u32 [%m], 7;",
        "L: ld.global.u32 %r0, [%m];\nld.global.u32 %r1, [%m+64];\nsetp.eq.u32 %q, %r0, 0;\n@%q bra L;\n\
         st.global.u32 [%m+256], %r0;",
    )
}

/// D-rsp-ptx-environment: what is stored is flushed, and what is old is fetched again, though nobody waits for that.
#[test]
fn who_spins_on_an_old_value_sees_the_new_one() {
    for scheme in SCHEMES {
        let ends = all_runs(&spinning(), BLOCKS, MemoryModel::Rsp(scheme), &[256]);
        assert_eq!(ends, Ends { values: set([[7]]), ..Ends::default() });
    }
}

/// D-rsp-ptx-remote: the mark is about the next instruction, whatever that is.
#[test]
fn a_remote_access_looks_into_other_caches() {
    let passing = |before: &str, mark: &str| {
        two(
            "st.global.u32 [%m], 1;\nst.release.cta.global.u32 [%m+64], 1;",
            &format!(
                "{mark}{before}ld.acquire.gpu.global.u32 %r0, [%m+64];\nld.global.u32 %r1, [%m];\n\
                 st.global.u32 [%m+256], %r0;\nst.global.u32 [%m+320], %r1;"
            ),
        )
    };
    let mark = ".pragma \"warpstep remote\";\n";
    assert_eq!(proposed(&passing("", mark), BLOCKS, &[256, 320]), set(ORDERED));
    for (before, mark) in [("", ""), ("mov.u32 %r3, 0;\n", mark), ("", ".pragma \"nounroll\";\n")] {
        assert_eq!(proposed(&passing(before, mark), BLOCKS, &[256, 320]), set(ALL), "{before}{mark}");
    }
}

/// Deliberate errors that are this memory's alone; those of the rules are the abstract machine's.
#[cfg(feature = "mutants")]
pub mod mutants {
    use super::*;
    use warpstep::base::mutant::{Mutant, select};

    fn looks() -> Vec<Option<Ends>> {
        let fences = ["fence.sc.gpu;"; 2];
        let na = |kind| op(kind, None, 0);
        let writes = [op(Kind::Store, None, 0), op(Kind::Store, NARROW, 1)];
        let reads = [op(Kind::Load, REMOTE, 1), op(Kind::Load, None, 0)];
        let shapes = [
            pair(&writes, &reads, Some(1)),
            pair(&[na(Kind::Load), na(Kind::Load)], &[na(Kind::Store)], None),
            pair(&[na(Kind::Load)], &[na(Kind::Store)], None),
            message_passing(Kind::Load),
        ];
        let runs = |text: &str, show: &[u64]| {
            let all = || all_runs(text, BLOCKS, MemoryModel::Rsp(SchemeName::Proposed), show);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(all)).ok()
        };
        let programs = shapes.iter().map(|s| runs(&kernel(s), &[0, 64, 256, 320, 512, 576]));
        // What is read is fetched before the writer's fence has brought it down; nothing else is old then.
        let own = [passing(fences[0], fences[1]), passing(fences[0], ""), spinning()];
        programs.chain(own.iter().map(|text| runs(text, &[256, 320]))).collect()
    }

    pub fn are_noticed() {
        select(None);
        let right = looks();
        assert!(right.iter().all(Option::is_some));
        let mut missed = Vec::new();
        for mutant in [
            Mutant::RspPtxNeverFetchesEarly,
            Mutant::RspPtxKeepsOldValues,
            Mutant::RspPtxEndsDirty,
            Mutant::RspPtxRemoteIgnored,
            Mutant::RspPtxFenceIgnored,
            // Of the rules, which this memory has in common with the abstract machine.
            Mutant::RspMarkersIgnored,
            Mutant::RspDequeuesDirty,
            Mutant::RspFlushesOwn,
        ] {
            select(Some(mutant));
            let wrong = looks();
            select(None);
            missed.extend((wrong == right).then(|| mutant.name()));
        }
        assert!(missed.is_empty(), "{missed:?}");
    }
}
