//! Random launches whose blocks meet in memory in every way, and a comparison of several threads with one on them.

use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::launch::build;
use warpstep::machine::{Config, Context, ControlModel, Engine, Launch};
use warpstep::program::env::ProgEnv;

/// What a thread may do. `%i` is its number in the grid, `%t` in its block, `%b` its block's, `%own` the address of its word of the first
/// buffer; `%m` the address of the first buffer, `%s` of the second; `X`, `Y` numbers; `%v` is what it has.
const DEEDS: [&str; 31] = [
    // Its own word, and words of others.
    "st.global.u32 [%own], %v;",
    "ld.global.u32 %r, [%own]; add.u32 %v, %v, %r;",
    "ld.global.u32 %r, [%own+X]; xor.b32 %v, %v, %r;",
    "ld.global.u32 %r, [%own+-X]; xor.b32 %v, %v, %r;",
    "st.global.u32 [%own+X], %v;",
    "st.global.v2.u32 [%own2], {%v, %i};",
    // One word for all, and for some.
    "st.global.u32 [%s+X], %i;",
    "ld.global.u32 %r, [%s+X]; add.u32 %v, %v, %r;",
    "and.b32 %r, %b, 7; mul.wide.u32 %u, %r, 4; add.u64 %u, %u, %s; st.global.u32 [%u], %v;",
    "and.b32 %r, %b, 7; mul.wide.u32 %u, %r, 4; add.u64 %u, %u, %s; ld.global.u32 %r, [%u]; add.u32 %v, %v, %r;",
    // A word of each block, and that of the one before: blocks share lines and pages.
    "mul.wide.u32 %u, %b, 4; add.u64 %u, %u, %s; st.global.u32 [%u+256], %v;",
    "mul.wide.u32 %u, %b, 4; add.u64 %u, %u, %s; ld.global.u32 %r, [%u+252]; add.u32 %v, %v, %r;",
    // Bytes and halves that lie together in words.
    "cvt.u64.u32 %u, %b; add.u64 %u, %u, %s; st.global.u8 [%u+2048], %v;",
    "cvt.u64.u32 %u, %b; add.u64 %u, %u, %s; ld.global.u8 %r, [%u+2047]; add.u32 %v, %v, %r;",
    "mul.wide.u32 %u, %b, 2; add.u64 %u, %u, %s; st.global.u16 [%u+1024], %v;",
    "cvt.u64.u32 %u, %b; add.u64 %u, %u, %s; st.global.u8 [%u+1024], %i;",
    // Atomic operations on words that blocks share, and on their own.
    "atom.global.add.u32 %r, [%s+X], %t; add.u32 %v, %v, %r;",
    "red.global.add.u32 [%s+X], %v;",
    "atom.global.exch.b32 %v, [%s+X], %i;",
    "atom.global.cas.b32 %r, [%s+X], 0, %i; xor.b32 %v, %v, %r;",
    "red.global.add.f32 [%s+X], %f;",
    "atom.global.max.u32 %r, [%own], %v;",
    // Anywhere.
    "and.b32 %r, %v, 1023; mul.wide.u32 %u, %r, 4; add.u64 %u, %u, %m; ld.global.u32 %r, [%u]; add.u32 %v, %v, %r;",
    "and.b32 %r, %v, 1023; mul.wide.u32 %u, %r, 4; add.u64 %u, %u, %m; st.global.u32 [%u], %i;",
    // Through shared memory.
    "st.shared.u32 [%own3], %v; bar.sync 0; ld.shared.u32 %r, [%own3+4]; add.u32 %v, %v, %r; bar.sync 0;",
    // Lanes and warps that differ.
    "setp.lt.u32 %p, %t, X; @%p add.u32 %v, %v, Y; @!%p xor.b32 %v, %v, Y;",
    "and.b32 %r, %v, 31; L: add.u32 %v, %v, Y; sub.u32 %r, %r, 1; setp.gt.s32 %p, %r, 0; @%p bra L;",
    "setp.eq.u32 %p, %b, X; @%p st.global.u32 [%s], %i;",
    // Blocks that end with another warp than those before.
    "setp.lt.u32 %p, %b, X; @%p bar.sync 0;",
    "mov.u32 %r, %smid; add.u32 %v, %v, %r;",
    "mul.lo.u32 %v, %v, Y; add.u32 %v, %v, %i;",
];

/// What ends a run or makes blocks take turns, so that they cannot run ahead, or only up to there.
const ENDS: [&str; 8] = [
    "setp.eq.u32 %p, %b, X; @%p ld.global.u32 %v, [%own+1073741824];",
    "setp.eq.u32 %p, %i, X; @%p st.global.u32 [%own+1], %v;",
    "setp.eq.u32 %p, %b, X; @%p trap;",
    "setp.eq.u32 %p, %b, X; @%p exit;",
    "mov.u32 %r, %clock; and.b32 %r, %r, Y; add.u32 %v, %v, %r;",
    "setp.eq.u32 %p, %b, X; @%p bra L1; bra L; L1: mov.u32 %r, 9000; L2: sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra L2; L:",
    "{ .param .b64 q0; .param .b64 q1; .param .b32 q2; cvta.global.u64 %u, text; st.param.b64 [q0], %u; st.param.b64 [q1], 0;
      call (q2), vprintf, (q0, q1); }",
    "setp.eq.u32 %p, %t, X; @%p exit;",
];

/// So many instructions of one block in four that it takes turns with those behind it, some of which end before it does.
const LONG: &str = "and.b32 %r, %b, 3; setp.ne.u32 %p, %r, 1; @%p bra L; mov.u32 %r, 12000;
    L2: sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra L2; L:";

/// Words of the first buffer, beyond those of the threads: before and behind.
const MARGIN: u64 = 512;

/// A launch.
pub struct Made {
    pub text: String,
    pub blocks: u32,
    pub threads: u32,
    control: ControlModel,
    max_steps: Option<u64>,
    counts_native: bool,
}

/// The launch of a number.
pub fn made(seed: u64) -> Made {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let control = if rng.random_bool(0.7) { ControlModel::Crs } else { ControlModel::Its };
    let (blocks, threads) = (rng.random_range(2..120), *[32, 64, 96, 33, 128].get(rng.random_range(0..5)).unwrap());
    let mut body = String::new();
    let offsets = [0u32, 4, 8, 64, 128, 512, 1024];
    for k in 0..rng.random_range(1..7) {
        let end = rng.random_bool(0.06);
        let deed = if end { ENDS[rng.random_range(0..ENDS.len())] } else { DEEDS[rng.random_range(0..DEEDS.len())] };
        // Of those for which nobody counts what is native.
        let deed = if k == 0 && seed % 6 == 3 { LONG } else { deed };
        // A number of a block or thread where it is compared, else an offset.
        let compares = deed.contains("setp");
        let x = if compares { rng.random_range(0..blocks) } else { offsets[rng.random_range(0..offsets.len())] };
        let deed = deed.replace("X", &x.to_string()).replace("Y", &rng.random_range(1..100u32).to_string());
        let deed = (1..3)
            .fold(deed.replace("L:", &format!("E{k}:")), |d, n| d.replace(&format!("L{n}"), &format!("E{k}_{n}")));
        let deed = deed.replace("bra L;", &format!("bra E{k};"));
        writeln!(body, "    {deed}").unwrap();
    }
    let target = if control == ControlModel::Crs { "sm_50" } else { "sm_70" };
    let shares = body.contains("%own3");
    let (tile, own3) = if shares {
        (".shared .align 8 .b32 tile[130];", "mov.u64 %own3, tile; mad.wide.u32 %own3, %t, 4, %own3;")
    } else {
        ("", "")
    };
    let text = format!(
        ".version 7.0\n.target {target}\n.address_size 64\n\
         .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n\
         .global .align 1 .b8 text[4] = {{104, 105, 10, 0}};\n\
         .visible .entry k(.param .u64 first, .param .u64 second)\n{{\n    .reg .b32 %t, %b, %n, %i, %v, %r; .reg .f32 %f;\n    \
         .reg .b64 %m, %s, %own, %own2, %own3, %u; .reg .pred %p; {tile}\n    \
         ld.param.u64 %m, [first]; ld.param.u64 %s, [second]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;\n    \
         mad.lo.u32 %i, %b, %n, %t; mad.wide.u32 %own, %i, 4, %m; add.u64 %own, %own, {margin};\n    \
         mad.wide.u32 %own2, %i, 8, %m; {own3}\n    \
         mov.u32 %v, %i; cvt.rn.f32.u32 %f, %t;\n{body}    st.global.u32 [%own{last}], %v;\n    ret;\n}}\n",
        margin = MARGIN * 4,
        // Or nothing at the end: results are where it has left them before.
        last = if rng.random_bool(0.8) { "" } else { "+4" },
    );
    let max_steps = rng.random_bool(0.1).then(|| rng.random_range(1..u64::from(blocks) * 40));
    Made { text, blocks, threads, control, max_steps, counts_native: seed.is_multiple_of(2) }
}

/// All that a run comes to.
#[derive(PartialEq, Debug)]
struct Came {
    stats: String,
    memory: Vec<u8>,
    printed: Vec<u8>,
    clock: u64,
    native: u64,
}

impl Made {
    fn env(&self) -> Arc<ProgEnv> {
        let mut sources = SourceMap::default();
        let id = sources.add("ahead.ptx", &self.text);
        Arc::new(build(&[id], Some(self.control), &sources).unwrap_or_else(|p| panic!("{p:?}\n{}", self.text)))
    }

    /// Runs it twice, so that the second launch finds what the first one has left.
    fn run(&self, env: &Arc<ProgEnv>, threads: u32, engine: Engine) -> (Came, [u64; 2]) {
        let Self { control, max_steps, counts_native, .. } = *self;
        let config = Config { control: Some(control), threads, engine, max_steps, counts_native, ..Config::default() };
        let mut context = Context::new(Arc::clone(env), config).unwrap();
        let first = context.alloc("first", 4 * (2 * u64::from(self.blocks * self.threads) + 2 * MARGIN)).unwrap();
        let second = context.alloc("second", 4096).unwrap();
        let params = [first.to_le_bytes(), second.to_le_bytes()].concat();
        let launch = Launch {
            entry: "k".into(),
            grid: [self.blocks, 1, 1],
            block: [self.threads, 1, 1],
            shared_bytes: 0,
            params,
        };
        let mut printed = Vec::new();
        let mut stats = String::new();
        for _ in 0..2 {
            let ran = context.launch(&launch, &mut |bytes| printed.extend_from_slice(bytes));
            write!(stats, "{ran:?} {:?};", context.standing()).unwrap();
        }
        let memory = [(first, 4 * (2 * u64::from(self.blocks * self.threads) + 2 * MARGIN)), (second, 4096)];
        let memory = memory.iter().flat_map(|(at, len)| context.bytes(*at, *len).unwrap().to_vec()).collect();
        // How much was machine code may depend on threads where nobody asks.
        let native = if counts_native { context.native() } else { 0 };
        (Came { stats, memory, printed, clock: context.clock(), native }, context.ahead())
    }
}

impl Made {
    fn compared(&self, name: &str) -> [u64; 2] {
        let env = self.env();
        let engine = Engine::Native { trip: 0 };
        let (one, none) = self.run(&env, 1, engine);
        assert_eq!(none, [0; 2]);
        let mut sum = [0; 2];
        for threads in [2, 3] {
            let (other, ahead) = self.run(&env, threads, engine);
            assert!(one == other, "{name}, {threads} threads:\n{}\n{}\n{}", self.text, said(&one), said(&other));
            sum = [sum[0] + ahead[0], sum[1] + ahead[1]];
        }
        sum
    }
}

/// Compares threads with one on the launch of a number; gives how many blocks ran ahead, and for nothing.
///
/// # Panics
/// They differ.
pub fn compared(seed: u64) -> [u64; 2] {
    made(seed).compared(&format!("launch {seed}"))
}

/// The same of a launch whose warps have turns that are used up, and all of whose threads of a block write one word.
///
/// # Panics
/// They differ.
pub fn warps_that_meet() -> [u64; 2] {
    let text = ".version 7.0\n.target sm_50\n.address_size 64\n\
        .visible .entry k(.param .u64 first, .param .u64 second)\n{\n    .reg .b32 %t, %b, %r; .reg .b64 %s, %u; .reg .pred %p;\n    \
        ld.param.u64 %s, [second]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n    \
        and.b32 %r, %b, 3; setp.ne.u32 %p, %r, 1; @%p bra go; mov.u32 %r, 12000;\n    \
        again: sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra again;\n    \
        go: mul.wide.u32 %u, %b, 4; add.u64 %u, %u, %s; st.global.u32 [%u], %t;\n    ret;\n}\n";
    let (blocks, threads, control) = (109, 128, ControlModel::Crs);
    let made = Made { text: text.into(), blocks, threads, control, max_steps: None, counts_native: false };
    made.compared("warps that meet")
}

fn said(came: &Came) -> String {
    let Came { stats, memory, printed, clock, native } = came;
    let hash = xxhash_rust::xxh3::xxh3_64(memory);
    format!("{stats} memory {hash:x}, printed {} bytes, clock {clock}, native {native}", printed.len())
}
