//! Random kernels of one thread: against the machine, with parts of the reads known, and with assumptions.

use super::{Written, alone, begins, commit, context, differences, launch, module, shape, traced};
use crate::axiom::{End, Kind, Stall};
use crate::litmus::kernel::Kernel;
use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write;

/// A function that kernels call, whose argument and result go through local memory.
const FUNCTION: &str = ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %r<4>; .reg .pred %p<2>; .reg .b64 %rd<2>;\n\
    ld.param.b32 %r1, [a]; setp.lt.u32 %p1, %r1, 1000; mov.u64 %rd1, x;\n\
    @%p1 ld.global.b32 %r1, [%rd1+4]; add.u32 %r1, %r1, 3; st.global.b32 [%rd1+8], %r1; st.param.b32 [r], %r1; ret;\n}\n";

struct Maker {
    random: ChaCha8Rng,
    labels: u32,
    text: String,
}

impl Maker {
    fn below(&mut self, n: u32) -> u32 {
        self.random.random_range(0..n)
    }

    fn pick<'s>(&mut self, of: &[&'s str]) -> &'s str {
        of[self.below(of.len() as u32) as usize]
    }

    fn add(&mut self, line: &str) {
        writeln!(self.text, "{line}").unwrap();
    }

    fn reg(&mut self) -> String {
        format!("%r{}", self.below(6))
    }

    fn guard(&mut self) -> String {
        match self.below(3) {
            0 => format!("@{}%p{} ", if self.below(2) == 0 { "!" } else { "" }, self.below(3)),
            _ => String::new(),
        }
    }

    /// Puts an address of 16 bytes into a register; gives it and the state space.
    fn address(&mut self) -> &'static str {
        let space = self.pick(&["global", "global", "shared", "generic", "local"]);
        let base = match space {
            "shared" => "mov.u64 %rd1, tile;",
            "local" => "mov.u64 %rd1, frame;",
            _ => "mov.u64 %rd1, x;",
        };
        self.add(base);
        let (r, k) = (self.reg(), self.below(4) * 16);
        match self.below(3) {
            0 => self.add(&format!("and.b32 %r14, {r}, 48; cvt.u64.u32 %rd2, %r14; add.u64 %rd1, %rd1, %rd2;")),
            _ => self.add(&format!("add.u64 %rd1, %rd1, {k};")),
        }
        match space {
            "global" => ".global",
            "shared" => ".shared",
            "local" => ".local",
            _ => "",
        }
    }

    fn access(&mut self) {
        let space = self.address();
        let (g, a, b, c, at) = (self.guard(), self.reg(), self.reg(), self.reg(), self.below(4) * 4);
        let strong = space != ".local";
        let order = |m: &mut Self, all: &[&'static str]| {
            let n = if strong { all.len() as u32 } else { 1 };
            all[m.below(n) as usize]
        };
        let line = match self.below(if strong { 9 } else { 5 }) {
            0 => {
                let o = order(self, &["", ".volatile", ".relaxed.gpu", ".acquire.sys", ".relaxed.cta"]);
                format!("ld{o}{space}.u32 {a}, [%rd1+{at}];")
            }
            1 => {
                let o = order(self, &["", ".volatile", ".relaxed.gpu", ".release.cta"]);
                format!("st{o}{space}.u32 [%rd1+{at}], {a};")
            }
            2 => {
                let ty = self.pick(&["u8", "s8", "u16", "s16"]);
                format!("ld{space}.{ty} {a}, [%rd1+{at}];")
            }
            3 => {
                let ty = self.pick(&["u8", "u16"]);
                format!("st{space}.{ty} [%rd1+{at}], {a};")
            }
            4 if a != b => format!("ld{space}.v2.u32 {{{a}, {b}}}, [%rd1+8];"),
            4 => format!("st{space}.v2.u32 [%rd1+8], {{{a}, {c}}};"),
            5 => {
                let op = self.pick(&["add.u32", "exch.b32", "max.s32", "inc.u32", "xor.b32"]);
                let o = self.pick(&["", ".acq_rel.gpu", ".relaxed.cta"]);
                format!("atom{o}{space}.{op} {a}, [%rd1+{at}], {b};")
            }
            6 => format!("atom{space}.cas.b32 {a}, [%rd1+{at}], {b}, {c};"),
            7 => format!("red{space}.add.u32 [%rd1+{at}], {b};"),
            _ => self.pick(&["fence.sc.gpu;", "membar.cta;", "fence.acq_rel.sys;"]).to_owned(),
        };
        self.add(&format!("{g}{line}"));
    }

    fn statement(&mut self, depth: u32) {
        let (g, a, b, c, p) = (self.guard(), self.reg(), self.reg(), self.reg(), self.below(3));
        match self.below(if depth == 0 { 8 } else { 11 }) {
            0 | 1 => {
                let op = self.pick(&["add.u32", "sub.u32", "xor.b32", "mul.lo.u32", "min.s32"]);
                self.add(&format!("{g}{op} {a}, {b}, {c};"));
            }
            2 => {
                let op = self.pick(&["lt.u32", "eq.s32", "ge.s32"]);
                self.add(&format!("{g}setp.{op} %p{p}, {a}, {b};"));
            }
            3 => self.add(&format!("selp.b32 {a}, {b}, {c}, %p{p};")),
            4..=7 => self.access(),
            8 => {
                let label = self.labels;
                self.labels += 1;
                self.add(&format!("@%p{p} bra L{label};"));
                (0..=self.below(3)).for_each(|_| self.statement(depth - 1));
                self.add(&format!("L{label}:"));
            }
            9 => {
                // A loop of at most four rounds, by what was read or not.
                let (label, counter) = (self.labels, 8 + depth);
                self.labels += 1;
                let count = if self.below(2) == 0 { a } else { "7".to_owned() };
                self.add(&format!("and.b32 %r{counter}, {count}, 3;\nL{label}:"));
                (0..=self.below(2)).for_each(|_| self.statement(depth - 1));
                self.add(&format!(
                    "sub.u32 %r{counter}, %r{counter}, 1; setp.ge.s32 %p{0}, %r{counter}, 0;\n@%p{0} bra L{label};",
                    3 + depth
                ));
            }
            _ => self.add(&format!(
                "{{ .param .b32 u; .param .b32 v; st.param.b32 [u], {a}; call (v), f, (u); ld.param.b32 {b}, [v]; }}"
            )),
        }
    }
}

/// A kernel whose registers end in `y`.
fn random(seed: u64) -> String {
    let mut maker = Maker { random: ChaCha8Rng::seed_from_u64(seed), labels: 0, text: String::new() };
    maker.add("mov.u32 %r0, 1; mov.u32 %r1, 2; mov.u32 %r2, 0; mov.u32 %r3, 7; mov.u32 %r4, 1; mov.u32 %r5, 300;");
    maker.add("setp.eq.u32 %p0, %r0, %r4; setp.eq.u32 %p1, %r1, %r2; setp.lt.u32 %p2, %r3, %r5;");
    for _ in 0..10 {
        maker.statement(2);
    }
    maker.add("mov.u64 %rd3, y;");
    (0..6).for_each(|k| maker.add(&format!("st.global.u32 [%rd3+{}], %r{k};", 4 * k)));
    module(FUNCTION, &maker.text)
}

/// The assumption of a stall that the full run does not contradict.
fn right(kernel: &Kernel, stall: &Stall, assumed: &[u64], full: &[Option<u64>]) -> u64 {
    let with = |option: &u64| [assumed, &[*option]].concat();
    let mut fits = stall.options.iter().filter(|option| traced(kernel, full, &with(option)).end != End::Contradiction);
    let first = *fits.next().expect("one of the options is right");
    assert_eq!(fits.next(), None, "{stall:?}");
    first
}

#[test]
fn kernels_of_one_thread_agree_with_the_machine_and_know_less_with_less() {
    let (mut reads_seen, mut stalls, mut assumptions) = (0, 0, 0);
    for seed in 0..if cfg!(debug_assertions) { 400 } else { 2000 } {
        let text = random(seed);
        let mut machine = context(&text);
        let kernel = Kernel::new(&machine, &launch(1, 1)).unwrap();
        let (full, reads) = alone(&kernel, 0, &Written::default()).unwrap();
        assert_eq!(full.end, End::Done, "seed {seed}\n{text}");
        let mut written = Written::default();
        commit(&full, &mut written);
        machine.launch(&launch(1, 1), &mut |_| ()).unwrap();
        assert_eq!(differences(&kernel, &written, &machine), [], "seed {seed}\n{text}");
        let positions: Vec<usize> = (0..reads.len()).filter(|k| full.events[*k].kind == Kind::Read).collect();
        reads_seen += positions.len();
        // Prefixes of the reads, and any of them.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for round in 0..8 {
            let mut known = reads.clone();
            let end = rng.random_range(0..=reads.len());
            for k in &positions {
                let keep = if round < 4 { *k < end } else { rng.random() };
                known[*k] = known[*k].filter(|_| keep);
            }
            let less = traced(&kernel, &known, &[]);
            begins(&less, &full);
            // With the right assumptions it goes on to an address that is not known, or to the end.
            let (mut at, mut assumed) = (less, Vec::new());
            while let End::Stalled(stall) = &at.end {
                stalls += 1;
                assert!(stall.on.iter().any(|k| known[*k as usize].is_none()), "{stall:?}");
                if stall.options.is_empty() {
                    break;
                }
                assumed.push(right(&kernel, stall, &assumed, &reads));
                assumptions += 1;
                at = traced(&kernel, &known, &assumed);
                begins(&at, &full);
            }
            // They are checked, and nothing is different once all is known.
            let checked = traced(&kernel, &reads, &assumed);
            assert_eq!(checked, full, "seed {seed}");
            if let Some(last) = assumed.last_mut() {
                *last = 1 - (*last).min(1);
                assert_eq!(traced(&kernel, &reads, &assumed).end, End::Contradiction, "seed {seed}");
            }
        }
        // What depends on nothing is what no read changes.
        let other: Vec<Option<u64>> = reads.iter().map(|r| r.map(|v| v ^ 0xff)).collect();
        let changed = traced(&kernel, &other, &[]);
        for (a, b) in full.events.iter().zip(&changed.events) {
            if [a, b].iter().any(|e| !e.ctrl.is_empty() || !e.addr.is_empty() || e.rmw.is_some()) {
                break;
            }
            assert_eq!(shape(a), shape(b), "seed {seed}");
            assert!(a.kind == Kind::Read || !a.data.is_empty() || a.value == b.value, "seed {seed}: {a:?} {b:?}");
        }
    }
    println!("{reads_seen} reads, {stalls} stalls, {assumptions} assumptions");
    assert!(reads_seen > 1000 && stalls > 500 && assumptions > 300, "{reads_seen} {stalls} {assumptions}");
}
