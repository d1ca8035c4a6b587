//! Kernels with a defect, each beside the one without: a pipeline that copies tiles of its input and sums them up.

use super::with_caches;
use warpstep::Kernel;
use warpstep::check::Check;

/// Threads of the block, and tiles.
const THREADS: usize = 64;
const TILES: usize = 5;
/// What is in the output at first.
static ZEROS: [u32; THREADS] = [0; THREADS];

/// What is wrong with a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Defect {
    None,
    /// Nobody waits.
    NoWait,
    /// One group too many may be in flight.
    WaitForOlder,
    /// The first warp waits, the other one does not.
    OneWarpWaits,
    /// Copies are in no group.
    NoCommit,
    /// A tile's group is committed before its copy.
    CommitsFirst,
    /// No barrier between the wait and the reads.
    NoBarrierBehind,
    /// The next copy to a place comes before the barrier that all who read there come to.
    CopiesBeforeBarrier,
    /// The barrier comes before the wait.
    BarrierBeforeWait,
    /// The next tile goes to where the present one is.
    SamePlace,
    /// Each thread clears a word that its own copy writes, after it was begun.
    ClearsLate,
}

const DEFECTS: [Defect; 10] = [
    Defect::NoWait,
    Defect::WaitForOlder,
    Defect::OneWarpWaits,
    Defect::NoCommit,
    Defect::CommitsFirst,
    Defect::NoBarrierBehind,
    Defect::CopiesBeforeBarrier,
    Defect::BarrierBeforeWait,
    Defect::SamePlace,
    Defect::ClearsLate,
];

/// A pipeline of so many stages whose threads copy so many bytes each of each tile.
#[derive(Clone, Copy)]
struct Pipeline {
    stages: usize,
    bytes: usize,
    defect: Defect,
}

impl Pipeline {
    fn has(self, defect: Defect) -> bool {
        self.defect == defect
    }

    /// Begins to copy a tile; none behind the last, but a group all the same.
    fn copies(self, tile: usize) -> String {
        let Self { stages, bytes, .. } = self;
        let stage = if self.has(Defect::SamePlace) { 0 } else { tile % stages };
        let (at, from) = (stage * THREADS * bytes, tile * THREADS * bytes);
        let kind = if bytes == 16 { "cg" } else { "ca" };
        let copy = match tile < TILES {
            true => format!("cp.async.{kind}.shared.global [%r1+{at}], [%rd0+{from}], {bytes};\n"),
            false => String::new(),
        };
        let cleared = match self.has(Defect::ClearsLate) && tile < TILES {
            true => format!("st.shared.u32 [%r1+{at}], 0;\n"),
            false => String::new(),
        };
        let commit = if self.has(Defect::NoCommit) { "" } else { "cp.async.commit_group;\n" };
        if self.has(Defect::CommitsFirst) { commit.to_owned() + &copy } else { copy + &cleared + commit }
    }

    /// Waits until a tile is there for all.
    fn waits(self) -> String {
        let newest = self.stages - 2 + usize::from(self.has(Defect::WaitForOlder));
        // One more group is in flight then.
        let newest = newest + usize::from(self.has(Defect::CopiesBeforeBarrier));
        let wait = match self.defect {
            Defect::NoWait => String::new(),
            Defect::OneWarpWaits => {
                format!("@%p0 bra W{{}};\ncp.async.wait_group {newest};\nW{{}}:\n")
            }
            _ => format!("cp.async.wait_group {newest};\n"),
        };
        match self.defect {
            Defect::NoBarrierBehind => wait,
            Defect::BarrierBeforeWait => "bar.sync 0;\n".to_owned() + &wait,
            _ => wait + "bar.sync 0;\n",
        }
    }

    /// Each thread adds up the first words that its mirror image has copied.
    fn ptx(self) -> String {
        let Self { stages, bytes, .. } = self;
        let mut body: String = (0..stages - 1).map(|tile| self.copies(tile)).collect();
        for tile in 0..TILES {
            // The next tile goes to where the last one was, which all have read once they meet.
            let (next, waits) = (self.copies(tile + stages - 1), self.waits().replace("{}", &tile.to_string()));
            body += &if self.has(Defect::CopiesBeforeBarrier) { next + &waits } else { waits + &next };
            let stage = if self.has(Defect::SamePlace) { 0 } else { tile % stages };
            body += &format!("ld.shared.u32 %r5, [%r3+{}];\nadd.u32 %r4, %r4, %r5;\n", stage * THREADS * bytes);
        }
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
             .shared .align 16 .b8 s[{}];\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\n\
             ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, s;\n\
             xor.b32 %r2, %r0, {};\nmad.lo.u32 %r3, %r2, {bytes}, %r1;\nmad.lo.u32 %r1, %r0, {bytes}, %r1;\n\
             mul.wide.u32 %rd2, %r0, {bytes};\nadd.s64 %rd0, %rd0, %rd2;\nmul.wide.u32 %rd2, %r0, 4;\n\
             add.s64 %rd1, %rd1, %rd2;\nmov.u32 %r4, 0;\nsetp.ge.u32 %p0, %r0, 32;\n\
             {body}st.global.u32 [%rd1], %r4;\nret;\n}}\n",
            stages * THREADS * bytes,
            THREADS - 1
        )
    }

    /// The input, and what comes out.
    fn data(self) -> (Vec<u32>, Vec<u32>) {
        let per = self.bytes / 4;
        let input: Vec<u32> = (0..TILES * THREADS * per).map(|k| (k * k + 17) as u32).collect();
        let first = |tile: usize, thread: usize| input[(tile * THREADS + thread) * per];
        let sum =
            |thread: usize| (0..TILES).fold(0u32, |sum, tile| sum.wrapping_add(first(tile, THREADS - 1 - thread)));
        let output = (0..THREADS).map(sum).collect();
        (input, output)
    }

    /// `data` is as [`Pipeline::data`] gives it.
    fn kernel<'a>(text: &str, (input, output): &'a (Vec<u32>, Vec<u32>)) -> Kernel<'a> {
        let kernel = Kernel::from_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(THREADS as u32);
        kernel.arg(&input[..]).arg(&ZEROS).expect(output)
    }
}

/// Those that are without a defect are silent and right, under all schedules that are tried. Each defect is found in a single run whose
/// result may well be right, and a schedule shows it: the result is wrong there.
#[test]
fn each_defect_is_found_in_one_run_and_shown_by_a_schedule() {
    let shapes = [(2, 4), (3, 16), (4, 8)];
    for (stages, bytes) in shapes {
        let right = Pipeline { stages, bytes, defect: Defect::None };
        let (text, data) = (right.ptx(), right.data());
        for seed in 0..10 {
            let kernel = Pipeline::kernel(&text, &data).check(Check::Races).check(Check::Barriers).check(Check::Uninit);
            let kernel = kernel.check(Check::Bounds).seed(seed);
            kernel.run().unwrap_or_else(|e| panic!("{stages} {bytes} {seed}: {e}\n{text}"));
        }
        let hunted = Pipeline::kernel(&text, &data).hunt(0..40).unwrap();
        assert!(hunted.findings.is_empty(), "{stages} {bytes}: {hunted}");
        for defect in DEFECTS {
            let wrong = Pipeline { stages, bytes, defect };
            let text = wrong.ptx();
            let error = Pipeline::kernel(&text, &data).check(Check::Races).run().expect_err(&text);
            assert_eq!(error.code(), "race", "{defect:?} {stages} {bytes}: {error}\n{text}");
            let hunted = Pipeline::kernel(&text, &data).hunt(0..400).unwrap();
            assert!(!hunted.findings.is_empty(), "{defect:?} {stages} {bytes}: {hunted}\n{text}");
        }
    }
}

/// The same on memory with caches, where operations of threads are in flight beside copies.
#[test]
fn each_defect_is_found_on_memory_with_caches() {
    let (stages, bytes) = (3, 16);
    let right = Pipeline { stages, bytes, defect: Defect::None };
    let (text, data) = (right.ptx(), right.data());
    for memory in with_caches() {
        let kernel = |text: &str| Pipeline::kernel(text, &data).memory(memory.clone());
        for seed in 0..3 {
            let all = [Check::Races, Check::Barriers, Check::Uninit, Check::Bounds];
            let checked = all.into_iter().fold(kernel(&text), Kernel::check).seed(seed);
            checked.run().unwrap_or_else(|e| panic!("{memory:?} {seed}: {e}\n{text}"));
        }
        for defect in DEFECTS {
            let text = Pipeline { stages, bytes, defect }.ptx();
            let error = kernel(&text).check(Check::Races).run().expect_err(&text);
            assert_eq!(error.code(), "race", "{defect:?} {memory:?}: {error}\n{text}");
            let shown = (0..400).any(|seed| kernel(&text).seed(seed).run().is_err());
            assert!(shown, "{defect:?} {memory:?}\n{text}");
        }
    }
}
