//! Random sequences of operations by one thread, against counts in a plain structure.

use super::{kernel, ptx};
use chacha20::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use std::fmt::Write as _;

const SEQUENCES: u64 = 150;
const LENGTH: usize = 40;
const MOST: i64 = (1 << 20) - 1;

/// A barrier as the PTX ISA's text has it (9.7.13.15.2).
#[derive(Clone, Copy, Default)]
struct Barrier {
    /// Its number.
    phase: u64,
    pending: i64,
    expected: i64,
    transactions: i64,
}

impl Barrier {
    fn completes(mut self) -> Self {
        if self.pending == 0 && self.transactions == 0 {
            self.phase += 1;
            self.pending = self.expected;
        }
        self
    }

    fn arrive(mut self, count: i64, drops: bool) -> Self {
        self.pending -= count;
        self.expected -= if drops { count } else { 0 };
        self.completes()
    }

    fn transact(mut self, count: i64) -> Self {
        self.transactions += count;
        self
    }
}

/// What arrivals returned: the register, and the barrier before.
type State = (usize, Barrier);

struct Writing {
    rng: ChaCha8Rng,
    text: String,
    barrier: Barrier,
    states: Vec<State>,
    registers: usize,
    /// Phases of earlier barriers.
    phases: u64,
    /// What the kernel must store.
    results: Vec<u32>,
}

impl Writing {
    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.rng.random_range(0..all.len())]
    }

    /// The space that is named, and an operand that says where the barrier is.
    fn place(&mut self) -> (&'static str, &'static str) {
        self.pick(&[
            (".shared", "[bar+8]"),
            (".shared::cta", "[%r1]"),
            (".shared", "[%rd1+-8]"),
            ("", "[%rd2]"),
            ("", "[%rd2+0]"),
            ("", "[%rd3+-16]"),
        ])
    }

    /// A count, as a constant or in a register.
    fn operand(&mut self, count: i64) -> String {
        if self.rng.random_bool(0.5) {
            return count.to_string();
        }
        writeln!(self.text, "mov.u32 %r5, {count};").unwrap();
        "%r5".to_owned()
    }

    fn store(&mut self, register: &str, value: u32) {
        writeln!(self.text, "st.global.u32 [%rd0+{}], {register};", 4 * self.results.len()).unwrap();
        self.results.push(value);
    }

    fn init(&mut self) {
        let most = self.pick(&[1, 2, 3, 5, 1000, MOST]);
        let count = self.rng.random_range(1..=most);
        let ((space, at), operand) = (self.place(), self.operand(count));
        writeln!(self.text, "mbarrier.init{space}.b64 {at}, {operand};").unwrap();
        // What states of an earlier barrier say of this one is not defined.
        self.states.clear();
        self.phases += self.barrier.phase;
        self.barrier = Barrier { phase: 0, pending: count, expected: count, transactions: 0 };
    }

    fn arrive(&mut self) {
        let before = self.barrier;
        let most = self.pick(&[1, before.pending]);
        let count = if self.rng.random_bool(0.4) { before.pending } else { self.rng.random_range(1..=most) };
        // A barrier that everybody has left is of no more use here.
        let drops = self.rng.random_bool(0.3) && count < before.expected;
        let name = if drops { "arrive_drop" } else { "arrive" };
        let order = self.pick(&["", "", ".release.cta", ".relaxed.cta", ".release.cluster", ".relaxed.cluster"]);
        let (space, at) = self.place();
        let register = self.registers;
        if self.rng.random_bool(0.3) {
            let expected = self.rng.random_range(0..100);
            if before.transactions + expected > MOST {
                return;
            }
            let operand = self.operand(expected);
            writeln!(self.text, "mbarrier.{name}.expect_tx{order}{space}.b64 %s{register}, {at}, {operand};").unwrap();
            self.barrier = before.transact(expected).arrive(1, drops);
        } else {
            let completes = count == before.pending && before.transactions == 0;
            let (what, operand) = match self.rng.random_range(0..3) {
                0 if count == 1 => (format!("{name}{order}"), String::new()),
                1 if !completes => {
                    let order = self.pick(&["", ".release.cta"]);
                    (format!("{name}.noComplete{order}"), format!(", {}", self.operand(count)))
                }
                _ => (format!("{name}{order}"), format!(", {}", self.operand(count))),
            };
            writeln!(self.text, "mbarrier.{what}{space}.b64 %s{register}, {at}{operand};").unwrap();
            self.barrier = before.arrive(count, drops);
        }
        self.states.push((register, before));
        self.registers += 1;
    }

    fn transact(&mut self) {
        let open = self.barrier.transactions;
        let expects = if open == 0 { self.rng.random_bool(0.5) } else { open < 0 };
        // Often what is missing comes.
        let missing = open != 0 && self.rng.random_bool(0.7);
        let count = if missing { open.abs() } else { self.rng.random_range(0..200) };
        let change = if expects { count } else { -count };
        if (open + change).abs() > MOST {
            return;
        }
        let ((space, at), operand) = (self.place(), self.operand(count));
        let name = if expects { "expect_tx" } else { "complete_tx" };
        let order = self.pick(&["", ".relaxed.cta", ".relaxed.cluster"]);
        writeln!(self.text, "mbarrier.{name}{order}{space}.b64 {at}, {operand};").unwrap();
        self.barrier = self.barrier.transact(change).completes();
    }

    fn wait(&mut self) {
        let (space, at) = self.place();
        let (name, hint) =
            self.pick(&[("test_wait", ""), ("try_wait", ""), ("try_wait", ", 100"), ("try_wait", ", %r6")]);
        let order = self.pick(&["", ".acquire.cta", ".relaxed.cta", ".acquire.cluster"]);
        let phase = self.barrier.phase;
        let recent = self.states.iter().filter(|(_, before)| before.phase + 1 >= phase).copied().collect::<Vec<_>>();
        let done = if recent.is_empty() || self.rng.random_bool(0.5) {
            let parity = self.rng.random_range(0..2u64);
            let operand = self.operand(parity.cast_signed());
            writeln!(self.text, "mbarrier.{name}.parity{order}{space}.b64 %p0, {at}, {operand}{hint};").unwrap();
            parity != phase % 2
        } else {
            let (register, before) = self.pick(&recent);
            writeln!(self.text, "mbarrier.{name}{order}{space}.b64 %p0, {at}, %s{register}{hint};").unwrap();
            before.phase < phase
        };
        self.text.push_str("selp.u32 %r7, 1, 0, %p0;\n");
        self.store("%r7", done.into());
    }

    fn count(&mut self) {
        if self.states.is_empty() {
            return;
        }
        let states = self.states.clone();
        let (register, before) = self.pick(&states);
        writeln!(self.text, "mbarrier.pending_count.b64 %r7, %s{register};").unwrap();
        self.store("%r7", u32::try_from(before.pending).unwrap());
    }

    fn step(&mut self) {
        match self.rng.next_u32() % 16 {
            0 => {
                let (space, at) = self.place();
                writeln!(self.text, "mbarrier.inval{space}.b64 {at};").unwrap();
                self.init();
            }
            1..=5 if self.barrier.pending > 0 => self.arrive(),
            6..=7 => self.transact(),
            8 if self.barrier.transactions != 0 => self.transact(),
            9..=10 => self.count(),
            _ => self.wait(),
        }
    }
}

#[test]
fn a_thread_s_operations_come_out_as_counts_say() {
    let mut phases = 0;
    for seed in 0..SEQUENCES {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        let text = "mov.u32 %r1, bar;\nadd.u32 %r1, %r1, 8;\nmov.u32 %r6, 5;\nmov.u64 %rd1, bar;\nadd.u64 %rd1, %rd1, 16;\n\
                    mov.u64 %rd2, bar;\ncvta.shared.u64 %rd2, %rd2;\nadd.u64 %rd2, %rd2, 8;\nadd.u64 %rd3, %rd2, 16;\n";
        let (barrier, states, results) = (Barrier::default(), Vec::new(), Vec::new());
        let mut writing = Writing { rng, text: text.to_owned(), barrier, states, registers: 0, phases: 0, results };
        writing.init();
        for _ in 0..LENGTH {
            writing.step();
        }
        phases += writing.phases + writing.barrier.phase;
        let text = ptx(&writing.text);
        let mut found = vec![7u32; writing.results.len() + 1];
        kernel(&text).arg(&mut found[..]).run().unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        found.pop();
        assert_eq!(found, writing.results, "seed {seed}\n{text}");
    }
    assert!(phases > SEQUENCES, "only {phases} phases in {SEQUENCES} sequences");
}
