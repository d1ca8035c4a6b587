//! Small random kernels: a few threads that access a few locations in every way, and synchronise in every way,
//! sometimes.

use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write;

/// Threads in a warp of the kernels made here: few, so that a few threads make several warps.
const WARP: u32 = 4;

/// A kernel and how to launch it.
pub struct Kernel {
    pub text: String,
    pub blocks: u32,
    pub threads: u32,
    /// Below sm_70, under the control model with tokens.
    pub old: bool,
    /// Threads in a warp.
    pub warp: u32,
}

struct Writer {
    random: ChaCha8Rng,
    text: String,
    old: bool,
    threads: u32,
    labels: u32,
    /// How many of the ways to access memory this kernel uses: fewer leave more kernels without a race.
    wild: bool,
    /// Most accesses are by one thread, with a barrier after them: many such kernels have no race.
    tame: bool,
}

pub fn kernel(seed: u64) -> Kernel {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let old = random.random_ratio(1, 5);
    let tame = random.random_ratio(1, 2);
    let blocks = *pick(&mut random, if tame { &[1, 1, 1, 2] } else { &[1, 1, 2, 3] });
    let threads = *pick(&mut random, &[2, 4, 6, 8, 12]);
    let wild = random.random_ratio(1, 2);
    let mut w = Writer { random, text: String::new(), old, threads, labels: 0, wild, tame };
    let target = if old { "sm_60" } else { "sm_90" };
    let _ = write!(
        w.text,
        ".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n.shared .align 16 .b8 tile[64];\n\
         ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; mov.u64 %rd2, tile;\n\
         mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; and.b32 %r2, %r0, 3;\n\
         mul.wide.u32 %rd3, %r0, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
    );
    let length = w.random.random_range(3..14);
    for _ in 0..length {
        if w.tame && w.random.random_ratio(2, 3) {
            w.alone();
        } else {
            w.statement();
        }
        if w.tame && w.random.random_ratio(4, 5) {
            w.text.push_str("bar.sync 0;\n");
        }
    }
    w.text.push_str("ret;\n}\n");
    Kernel { text: w.text, blocks, threads, old, warp: WARP }
}

pub fn pick<'a, T>(random: &mut ChaCha8Rng, all: &'a [T]) -> &'a T {
    &all[random.random_range(0..all.len())]
}

impl Writer {
    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.random.random_range(0..all.len())]
    }

    /// A predicate in %p1 that holds for some threads.
    fn condition(&mut self) {
        let choice = self.random.random_range(0..4);
        let n = self.random.random_range(0..4);
        let _ = match choice {
            0 => writeln!(self.text, "setp.eq.u32 %p1, %r0, {n};"),
            1 => writeln!(self.text, "setp.lt.u32 %p1, %r2, {n};"),
            2 => writeln!(self.text, "setp.eq.u32 %p1, %r1, {};", n & 1),
            _ => writeln!(self.text, "setp.ge.u32 %p1, %r0, {n};"),
        };
    }

    fn statement(&mut self) {
        match self.random.random_range(0..21) {
            0..=8 => self.access(""),
            9..=11 => {
                self.condition();
                self.access("@%p1 ");
            }
            12 | 13 => self.text.push_str("bar.sync 0;\n"),
            14 => self.pattern(),
            15 => self.fence(""),
            16 => self.warp_sync(),
            17 => self.branch(),
            18 => self.part_of_block(),
            19 => self.cluster(),
            _ => self.looped(),
        }
    }

    /// One thread accesses something, perhaps another of its warp after it.
    fn alone(&mut self) {
        let (a, block) = (self.random.random_range(0..self.threads), self.random.random_range(0..2));
        let _ = writeln!(self.text, "setp.eq.u32 %p1, %r0, {a};\nsetp.eq.and.u32 %p1, %r1, {block}, %p1;");
        self.access("@%p1 ");
        if !self.old && self.random.random_ratio(1, 3) {
            let b = (a ^ 1).min(self.threads - 1);
            let _ = writeln!(
                self.text,
                "bar.warp.sync 15;\nsetp.eq.u32 %p1, %r0, {b};\nsetp.eq.and.u32 %p1, %r1, {block}, %p1;"
            );
            self.access("@%p1 ");
        }
    }

    fn fence(&mut self, guard: &str) {
        let scope = self.of(&["cta", "gpu"]);
        let fence = match self.random.random_range(0..3) {
            _ if self.old => format!("membar.{};", if scope == "gpu" { "gl" } else { "cta" }),
            0 => format!("fence.sc.{scope};"),
            _ => format!("fence.acq_rel.{scope};"),
        };
        let _ = writeln!(self.text, "{guard}{fence}");
    }

    /// The barrier of the cluster, perhaps with accesses between arriving and waiting.
    fn cluster(&mut self) {
        if self.old {
            return self.text.push_str("bar.sync 0;\n");
        }
        let arrival = self.of(&["", ".aligned", ".release", ".relaxed", ".relaxed.aligned"]);
        let _ = writeln!(self.text, "barrier.cluster.arrive{arrival};");
        for _ in 0..self.random.random_range(0..3) {
            self.condition();
            self.access("@%p1 ");
        }
        let wait = self.of(&["", ".acquire", ".aligned"]);
        let _ = writeln!(self.text, "barrier.cluster.wait{wait};");
    }

    fn warp_sync(&mut self) {
        if self.old {
            return self.text.push_str("bar.sync 0;\n");
        }
        if self.random.random_ratio(1, 2) {
            return self.text.push_str("bar.warp.sync 15;\n");
        }
        // Half of each warp meets.
        self.text.push_str("setp.lt.u32 %p2, %r2, 2;\n@%p2 bar.warp.sync 3;\n");
    }

    fn branch(&mut self) {
        self.condition();
        let label = self.labels;
        self.labels += 1;
        let _ = writeln!(self.text, "@%p1 bra A{label};");
        self.access("");
        if self.random.random_ratio(1, 3) {
            self.fence("");
        }
        let _ = writeln!(self.text, "bra B{label};\nA{label}:");
        self.access("");
        let _ = writeln!(self.text, "B{label}:");
    }

    fn looped(&mut self) {
        let label = self.labels;
        self.labels += 1;
        let _ = writeln!(self.text, "mov.u32 %r9, 0;\nL{label}:");
        self.access("");
        if self.random.random_ratio(1, 2) {
            self.text.push_str("bar.sync 0;\n");
        }
        let _ = writeln!(self.text, "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p3, %r9, 2;\n@%p3 bra L{label};");
    }

    /// Barriers of some warps only.
    fn part_of_block(&mut self) {
        let warps = self.threads.div_ceil(WARP);
        if warps < 2 {
            return self.text.push_str("bar.sync 0;\n");
        }
        if self.random.random_ratio(1, 2) {
            // The first warp arrives, the second waits; others have no part in it.
            let _ = writeln!(
                self.text,
                "mov.u32 %r8, {0};\nsetp.lt.u32 %p2, %r0, {WARP};\n@%p2 bar.arrive 1, %r8;\nsetp.ge.u32 %p2, %r0, {WARP};\n\
                 setp.lt.and.u32 %p2, %r0, {0}, %p2;\n@%p2 bar.sync 1, %r8;",
                2 * WARP
            );
        } else {
            let _ =
                writeln!(self.text, "mov.u32 %r8, {0};\nsetp.lt.u32 %p2, %r0, {0};\n@%p2 bar.sync 2, %r8;", 2 * WARP);
        }
    }

    /// Message passing: a thread writes, releases a flag; another looks at the flag, acquires, accesses the same.
    fn pattern(&mut self) {
        let (at, flag) = (4 * self.random.random_range(0..2), 8 + 4 * self.random.random_range(0..2));
        let scope = self.of(&["cta", "gpu", "gpu"]);
        let (a, b) = (self.random.random_range(0..self.threads), self.random.random_range(0..self.threads));
        let block = self.random.random_range(0..2);
        let _ = writeln!(self.text, "setp.eq.u32 %p1, %r0, {a};\nsetp.eq.and.u32 %p1, %r1, 0, %p1;");
        let _ = writeln!(self.text, "@%p1 st.global.u32 [%rd1+{at}], %r0;");
        let release = self.random.random_range(0..4);
        let _ = match release {
            _ if self.old => {
                writeln!(self.text, "@%p1 membar.gl;\n@%p1 atom.global.exch.b32 %r5, [%rd1+{flag}], 1;")
            }
            0 => writeln!(self.text, "@%p1 st.release.{scope}.global.u32 [%rd1+{flag}], 1;"),
            1 => writeln!(self.text, "@%p1 fence.acq_rel.{scope};\n@%p1 st.relaxed.gpu.global.u32 [%rd1+{flag}], 1;"),
            2 => writeln!(self.text, "@%p1 atom.release.{scope}.global.add.u32 %r5, [%rd1+{flag}], 1;"),
            _ => writeln!(
                self.text,
                "@%p1 st.release.{scope}.global.u32 [%rd1+{flag}], 1;\n@%p1 st.relaxed.gpu.global.u32 [%rd1+{flag}], 2;"
            ),
        };
        let _ = writeln!(self.text, "setp.eq.u32 %p2, %r0, {b};\nsetp.eq.and.u32 %p2, %r1, {block}, %p2;");
        let acquire = self.random.random_range(0..4);
        let _ = match acquire {
            _ if self.old => {
                writeln!(self.text, "@%p2 ld.volatile.global.u32 %r6, [%rd1+{flag}];\n@%p2 membar.gl;")
            }
            0 => writeln!(self.text, "@%p2 ld.acquire.{scope}.global.u32 %r6, [%rd1+{flag}];"),
            1 => writeln!(self.text, "@%p2 ld.relaxed.gpu.global.u32 %r6, [%rd1+{flag}];\n@%p2 fence.acq_rel.{scope};"),
            2 => writeln!(self.text, "@%p2 atom.acquire.{scope}.global.add.u32 %r6, [%rd1+{flag}], 1;"),
            _ => writeln!(
                self.text,
                "@%p2 ld.relaxed.gpu.global.u32 %r6, [%rd1+{flag}];\n@%p2 ld.acquire.{scope}.global.u32 %r6, [%rd1+{flag}];"
            ),
        };
        let guarded = self.random.random_ratio(1, 2);
        if guarded {
            // Only who has seen the flag goes on.
            self.text.push_str("setp.ne.and.u32 %p2, %r6, 0, %p2;\n");
        }
        let what = self.of(&["ld.global.u32 %r7, [%rd1+AT];", "st.global.u32 [%rd1+AT], %r0;"]);
        let _ = writeln!(self.text, "@%p2 {}", what.replace("AT", &at.to_string()));
    }

    fn access(&mut self, guard: &str) {
        let shared = self.random.random_ratio(2, 5);
        let space = if shared { "shared" } else { "global" };
        // A location of its own for each thread of the block, or one for all.
        let own = self.random.random_ratio(if self.wild { 1 } else { 2 }, 4);
        let base = match (shared, own) {
            (false, false) => "%rd1",
            (false, true) => "%rd4",
            (true, false) => "%rd2",
            (true, true) => "%rd5",
        };
        let word = 4 * self.random.random_range(0..if own { 1 } else { 3 });
        let address = format!("[{base}+{word}]");
        let sizes = self.wild && !own;
        let scope = self.of(&["cta", "gpu"]);
        let atomic_scope = if self.old { String::new() } else { format!(".{scope}") };
        let text = match self.random.random_range(0..12) {
            0..=2 => format!("ld.{space}.u32 %r4, {address};"),
            3 | 4 => format!("st.{space}.u32 {address}, %r0;"),
            5 if sizes => {
                let byte = self.random.random_range(0..4);
                let to = format!("[{base}+{}]", word + byte);
                self.of(&["ld.SPACE.u8 %r4, TO;", "st.SPACE.u8 TO, %r0;"]).replace("SPACE", space).replace("TO", &to)
            }
            6 if sizes => {
                let to = format!("[{base}+{}]", word & 8);
                self.of(&[
                    "ld.SPACE.u64 %rd6, TO;",
                    "st.SPACE.v2.u32 TO, {%r0, %r1};",
                    "atom.SPACE.add.u64 %rd6, TO, 1;",
                    "ld.SPACE.v2.u32 {%r4, %r5}, TO;",
                ])
                .replace("SPACE", space)
                .replace("TO", &to)
            }
            5..=7 => {
                let op = if self.old { "" } else { self.of(&[".relaxed", ".acquire", ".release", ".acq_rel"]) };
                self.of(&[
                    "atomORDER.SPACE.add.u32 %r4, TO, 1;",
                    "redRELAXED.SPACE.add.u32 TO, 1;",
                    "atomORDER.SPACE.cas.b32 %r4, TO, 0, 1;",
                ])
                .replace("ORDER", &format!("{op}{atomic_scope}"))
                .replace("RELAXED", &if self.old { String::new() } else { format!(".relaxed{atomic_scope}") })
                .replace("SPACE", space)
                .replace("TO", &address)
            }
            8 => self
                .of(&["ld.volatile.SPACE.u32 %r4, TO;", "st.volatile.SPACE.u32 TO, %r0;"])
                .replace("SPACE", space)
                .replace("TO", &address),
            9 | 10 if !self.old => self
                .of(&[
                    "ld.relaxed.SCOPE.SPACE.u32 %r4, TO;",
                    "ld.acquire.SCOPE.SPACE.u32 %r4, TO;",
                    "st.relaxed.SCOPE.SPACE.u32 TO, %r0;",
                    "st.release.SCOPE.SPACE.u32 TO, %r0;",
                ])
                .replace("SCOPE", scope)
                .replace("SPACE", space)
                .replace("TO", &address),
            _ => format!("st.{space}.u32 [{base}], %r0;"),
        };
        let _ = writeln!(self.text, "{guard}{text}");
    }
}
