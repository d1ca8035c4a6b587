//! Programs at random, and a comparison of what is claimed of registers with what lanes hold in each step.

use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;
use std::sync::Arc;
use warpstep::base::{LANES, SourceMap};
use warpstep::launch::build;
use warpstep::machine::{Config, Context, ControlModel, Launch};
use warpstep::program::affine::{Affine, Line, Pattern, Residue, Threads};
use warpstep::program::env::{FuncId, ProgEnv};
use warpstep::program::instr::{Op, value};
use warpstep::program::ops::{Class, IntOp};
use warpstep::program::uses::reads;
use warpstep::verdict::{Event, Needs, Shape, Sink, Step, Stop, Who};

/// Times that all registers are looked at before an instruction.
const OFTEN: u32 = 20;

/// The patterns before each instruction of a function.
type Claims = FxHashMap<u32, Vec<Pattern>>;

/// Compares what the lanes of each step hold with what is claimed.
pub struct Watch {
    env: Arc<ProgEnv>,
    shape: Option<Shape>,
    known: FxHashMap<(FuncId, [u32; 3], u32), (Affine, Claims)>,
    /// Warps in which a widened number wrapped around, or one that is divided was negative, which nothing is claimed of from there on.
    excused: FxHashSet<Who>,
    visits: FxHashMap<u32, u32>,
    pub checked: u64,
    pub claimed: u64,
    pub excuses: u64,
    pub wrong: Vec<String>,
}

impl Watch {
    pub fn new(env: &Arc<ProgEnv>) -> Self {
        let (known, excused) = (FxHashMap::default(), FxHashSet::default());
        let env = Arc::clone(env);
        let visits = FxHashMap::default();
        Self { env, shape: None, known, excused, visits, checked: 0, claimed: 0, excuses: 0, wrong: Vec::new() }
    }

    fn step(&mut self, who: Who, step: &Step<'_>) {
        let Some(shape) = self.shape else { return };
        let function = self.env.origin[step.pc.0 as usize].function;
        let (env, key) = (&self.env, (function, shape.block, shape.warp_size));
        let (affine, claims) = self.known.entry(key).or_insert_with(|| {
            let affine = Affine::of(env, function, Threads::Block(shape.block), shape.warp_size);
            let mut claims = Claims::default();
            affine.each(env, |pc, before, _| drop(claims.insert(pc.0, before.to_vec())));
            (affine, claims)
        });
        if affine.gave_up() || self.excused.contains(&who) {
            return;
        }
        let Some(of) = env.function(function) else { return };
        let Some(before) = claims.get(&step.pc.0) else {
            self.wrong.push(format!("{:?} is never reached, the analysis says", step.pc));
            return;
        };
        // All registers where an instruction is met the first times, those that it reads always.
        let visits = self.visits.entry(step.pc.0).or_default();
        *visits += 1;
        let mut all: Vec<usize> = Vec::new();
        if *visits <= OFTEN {
            all.extend(0..before.len());
        } else {
            reads(&env.code[step.pc.0 as usize], env, |class, slot| all.extend(of.slots.number(class, slot)));
        }
        for n in all {
            let pattern = &before[n];
            self.checked += 1;
            self.claimed += u64::from(*pattern != Pattern::Vector);
            let (class, slot) = of.slots.name(n);
            let lane = |lane| value(step.regs, class, slot, lane).unwrap_or(0);
            if !affine.admits(class, *pattern, step.active, lane) {
                let values: Vec<u64> = (0..LANES).filter(|l| step.active >> l & 1 == 1).map(lane).collect();
                let name = of.registers.name_of(class, slot).unwrap_or("?");
                self.wrong.push(format!(
                    "{who:?} {:?} {name} {class:?}{}: {pattern:?} but {values:x?} in {:#x}",
                    step.pc, slot.0, step.active
                ));
                return;
            }
        }
        if affine.assumptions().any(|pc| pc == step.pc) && !holds(env, affine, before, step) {
            self.excuses += 1;
            self.excused.insert(who);
        }
    }
}

/// Whether what is assumed at an instruction is so: the 32-bit numbers that lie on lines and that it reads do so as wider ones, too,
/// or none whose sign it takes is negative.
fn holds(env: &ProgEnv, affine: &Affine, before: &[Pattern], step: &Step<'_>) -> bool {
    let Some(of) = env.function(env.origin[step.pc.0 as usize].function) else { return false };
    let (mut fits, instr) = (true, &env.code[step.pc.0 as usize]);
    if instr.op == Op::Int(IntOp::ShrS32) {
        let word = |lane| value(step.regs, Class::W, instr.a, lane).unwrap_or(0) as u32;
        return (0..LANES).filter(|l| step.active >> l & 1 == 1).all(|lane| word(lane).cast_signed() >= 0);
    }
    let sign = matches!(instr.op, Op::Int(IntOp::SextWQ | IntOp::MulWideS32 | IntOp::MadWideS32));
    reads(instr, env, |class, slot| {
        let pattern = of.slots.number(class, slot).map(|n| before[n]);
        if let (Class::W, Some(Pattern::Affine(mut line))) = (class, pattern) {
            let wide = |word: u32| if sign { i64::from(word.cast_signed()).cast_unsigned() } else { word.into() };
            line = Line {
                stride: i64::from((line.stride as u32).cast_signed()).cast_unsigned(),
                base: Residue::NONE,
                ..line
            };
            let word = |lane| value(step.regs, class, slot, lane).unwrap_or(0) as u32;
            fits &= affine.admits(Class::Q, Pattern::Affine(line), step.active, |lane| wide(word(lane)));
        }
    });
    fits
}

impl Sink for Watch {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Launch { shape, .. } => {
                self.shape = Some(shape);
                self.excused.clear();
            }
            Event::Step(step) if self.wrong.len() < 3 => self.step(who, &step),
            _ => {}
        }
        Ok(())
    }

    fn needs(&self) -> Needs {
        Needs::all()
    }
}

/// A function in which lanes part.
const FUNCTION: &str = "
.func (.reg .b32 %o) f (.reg .b32 %a)
{
    .reg .b32 %x<3>; .reg .pred %p;
    and.b32 %x0, %a, 3;
    mov.u32 %x1, 5;
AGAIN:
    setp.eq.u32 %p, %x0, 0;
    @%p bra DONE;
    add.u32 %x1, %x1, 1;
    sub.u32 %x0, %x0, 1;
    bra AGAIN;
DONE:
    add.u32 %o, %x1, %a;
    ret;
}
";

/// Operations that are drawn: `D` and `Q` are destinations, `A`, `B`, `W` and `P` operands of 32 and 64 bits and predicates, `C` is
/// a number, `S` one of bits.
pub const OPERATIONS: [&str; 51] = [
    "shr.s32 %s#, A, 31; shr.u32 %t, %s#, 27; add.u32 %t, A, %t; shr.s32 D, %t, 5;",
    "mov.u32 %t, %tid.x; add.u32 %t, %t, -32; shr.s32 %s#, %t, 31; shr.u32 %w, %s#, 27; add.u32 %w, %t, %w; shr.s32 D, %w, 5;",
    "mov.u32 %t, %tid.x; shr.s32 %s#, %t, 31; shr.u32 %w, %s#, 28; add.u32 %w, %t, %w; and.b32 %w, %w, -16; sub.u32 D, %t, %w;",
    "add.u32 %t, A, 2147483636; cvt.s64.s32 Q, %t;",
    "sub.u32 %t, 9, A; mul.wide.u32 Q, %t, C;",
    "mov.u32 %t, %tid.y; mad.lo.u32 D, %t, C, A;",
    "mov.u32 %t, %laneid; mad.lo.u32 D, A, C, %t;",
    "atom.global.add.u32 %t, [%m+16], 1; ld.global.u32 %w, [%m+16];",
    "add.u32 D, A, %w;",
    "setp.eq.u32 G, A, C;",
    "setp.lt.u32 G, A, C;",
    "mov.u32 D, A;",
    "mov.u32 D, C;",
    "add.u32 D, A, B;",
    "add.u32 D, A, C;",
    "sub.u32 D, A, B;",
    "mul.lo.u32 D, A, B;",
    "mul.lo.u32 D, A, C;",
    "mad.lo.u32 D, A, C, B;",
    "shl.b32 D, A, S;",
    "shr.u32 D, A, S;",
    "shr.s32 D, A, S;",
    "and.b32 D, A, B;",
    "and.b32 D, A, C;",
    "and.b32 D, A, -32;",
    "or.b32 D, A, B;",
    "xor.b32 D, A, C;",
    "not.b32 D, A;",
    "neg.s32 D, A;",
    "min.u32 D, A, B;",
    "selp.u32 D, A, B, P;",
    "setp.eq.u32 G, A, B;",
    "setp.lt.u32 G, A, B;",
    "setp.lt.s32 G, A, C;",
    "setp.ne.u64 G, W, V;",
    "not.pred G, P;",
    "and.pred G, P, H;",
    "mul.wide.u32 Q, A, C;",
    "mul.wide.s32 Q, A, B;",
    "mad.wide.s32 Q, A, C, W;",
    "cvt.u64.u32 Q, A;",
    "cvt.s64.s32 Q, A;",
    "cvt.u32.u64 D, W;",
    "add.u64 Q, W, V;",
    "shl.b64 Q, W, S;",
    "mov.b64 Q, {A, B};",
    "ld.global.u32 D, [%m+16];",
    "st.global.u32 [%m+16], A;",
    "atom.global.add.u32 D, [%m+20], A;",
    "and.b32 %t, A, 60; cvt.u64.u32 %u, %t; add.u64 %u, %u, %m; ld.global.u32 D, [%u];",
    "vote.ballot.b32 D, P;",
];

/// A program of blocks that jump to each other, each lane as long as it has fuel.
pub fn program(seed: u64) -> String {
    program_of(seed, &OPERATIONS, "", "st.global.u32 [%m+24], %r0;\n")
}

/// The same of other operations, in which `#` is a number that no other has; `declared` stands at the kernel's beginning, `last` at its end.
pub fn program_of(seed: u64, operations: &[&str], declared: &str, last: &str) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let calls = rng.random_bool(0.3);
    let mut text = ".version 6.0\n.target sm_60\n.address_size 64\n".to_owned();
    text.push_str(if calls { FUNCTION } else { "" });
    text.push_str(
        ".visible .entry k(.param .u64 memory, .param .u32 n)\n{\n.reg .b32 %r<14>, %s<400>, %t, %w, %fuel; .reg .b64 %q<7>, %m, %u;\n\
         .reg .pred %p<4>, %empty;\n",
    );
    text.push_str(declared);
    text.push_str("ld.param.u64 %m, [memory];\n");
    let starts = ["%tid.x", "%tid.x", "%tid.y", "%ctaid.x", "%laneid", "%ntid.x", "0x7ffffff4", "-9"];
    for k in 0..7 {
        let _ = writeln!(text, "mov.u32 %r{k}, {};", starts[rng.random_range(0..starts.len())]);
    }
    text.push_str("ld.param.u32 %r7, [n];\n");
    for k in 0..4 {
        let _ = writeln!(text, "setp.lt.u32 %p{k}, %r{}, %r{};", rng.random_range(0..8), rng.random_range(0..8));
    }
    let fuel = ["mov.u32 %fuel, 20;", "and.b32 %fuel, %r0, 15;", "and.b32 %fuel, %r1, 31;"][rng.random_range(0..3)];
    text.push_str(fuel);
    let blocks = rng.random_range(3..9);
    for block in 0..blocks {
        let _ = write!(text, "\nL{block}:\nsub.s32 %fuel, %fuel, 1; setp.lt.s32 %empty, %fuel, 0; @%empty bra END;\n");
        for _ in 0..rng.random_range(1..6) {
            let guard = if rng.random_bool(0.15) { format!("@%p{} ", rng.random_range(0..4)) } else { String::new() };
            let operation = operations[rng.random_range(0..operations.len())];
            let several = operation.matches(';').count() > 1;
            let guard = if several { "" } else { &guard };
            let _ = writeln!(text, "{guard}{}", drawn(operation, &mut rng));
        }
        if calls && rng.random_bool(0.3) {
            let (d, a) = (rng.random_range(0..14), rng.random_range(0..14));
            let _ = writeln!(text, "call (%r{d}), f, (%r{a});");
        }
        let to = rng.random_range(0..blocks);
        let (not, p) = (if rng.random_bool(0.5) { "!" } else { "" }, rng.random_range(0..4));
        match rng.random_range(0..4) {
            0 => {}
            1 => drop(writeln!(text, "bra L{to};")),
            _ => drop(writeln!(text, "@{not}%p{p} bra L{to};")),
        }
    }
    let _ = write!(text, "\nEND:\n{last}ret;\n}}\n");
    let numbered = |(number, line): (usize, &str)| line.replace('#', &number.to_string()) + "\n";
    text.lines().enumerate().map(numbered).collect()
}

/// An operation with registers and numbers in the places of its letters.
fn drawn(operation: &str, rng: &mut ChaCha8Rng) -> String {
    let mut text = String::new();
    let mut before = ' ';
    for letter in operation.chars() {
        // Letters of names stand behind others.
        let alone = !before.is_alphanumeric() && before != '.' && before != '%';
        let _ = match letter {
            'D' | 'A' | 'B' if alone => write!(text, "%r{}", rng.random_range(0..14)),
            'Q' | 'W' | 'V' if alone => write!(text, "%q{}", rng.random_range(0..7)),
            'P' | 'G' | 'H' if alone => write!(text, "%p{}", rng.random_range(0..4)),
            'C' if alone => write!(text, "{}", [1, 2, 3, 4, 12, 31, 255, -1, -4, 0x7fff_ffe0][rng.random_range(0..10)]),
            'S' if alone => write!(text, "{}", rng.random_range(0..9)),
            _ => write!(text, "{letter}"),
        };
        before = letter;
    }
    text
}

/// Runs the program of a seed under a control model, by the fair schedule and by some of its own.
pub fn watched(seed: u64, control: ControlModel) -> Watch {
    let text = program(seed);
    let mut sources = SourceMap::default();
    let id = sources.add("random.ptx", &text);
    let env = Arc::new(build(&[id], Some(control), &sources).unwrap_or_else(|p| panic!("{p:?}\n{text}")));
    let blocks = [[64, 1, 1], [16, 4, 1], [16, 8, 1], [48, 1, 1], [8, 8, 1], [32, 2, 1], [7, 5, 1]];
    let block = blocks[(seed % blocks.len() as u64) as usize];
    let mut watch = Watch::new(&env);
    for run in [None, Some(seed), Some(seed + 1)] {
        let warp_size = if seed.is_multiple_of(5) { 16 } else { 32 };
        let config =
            Config { control: Some(control), seed: run, warp_size, max_steps: Some(100_000), ..Config::default() };
        let mut context = Context::new(Arc::clone(&env), config).unwrap();
        let memory = context.alloc("memory", 64).unwrap();
        let params = [&memory.to_le_bytes()[..], &5_u32.to_le_bytes(), &[0; 4]].concat()[..12].to_vec();
        let launch = Launch { entry: "k".into(), grid: [2, 1, 1], block, shared_bytes: 0, params };
        let ended = context.launch_with(&launch, &mut watch, &mut |_| ());
        assert!(ended.is_ok() || !watch.wrong.is_empty(), "{ended:?}\n{text}");
        if !watch.wrong.is_empty() {
            watch.wrong.push(text);
            return watch;
        }
    }
    watch
}
