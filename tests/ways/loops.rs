//! Litmus tests by chance whose threads wait for each other in loops.

use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write;

/// The test of a number, for PTX or Vulkan.
pub fn test(vulkan: bool, number: u64) -> String {
    let rng = ChaCha8Rng::seed_from_u64(number);
    let mut made = Maker { rng, vulkan, labels: 0 };
    made.test(number)
}

/// Two threads of which each waits for the other where it did not see that one's write: no interleaving has both wait, weak memory does, unless
/// `between` keeps it from that.
pub fn both_wait(between: &str) -> String {
    format!(
        "PTX both-wait\n{{ x=0; y=0; a=0; b=0; }}\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n\
         st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\n{between} | {between} ;\n\
         ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;\nbne r0, 0, E0 | bne r0, 0, E1 ;\n\
         L0: | L1: ;\nld.relaxed.gpu r1, b | ld.relaxed.gpu r1, a ;\nbeq r1, 0, L0 | beq r1, 0, L1 ;\n\
         E0: | E1: ;\nst.relaxed.gpu a, 1 | st.relaxed.gpu b, 1 ;\nexists (x == 0)\n"
    )
}

struct Maker {
    rng: ChaCha8Rng,
    vulkan: bool,
    labels: usize,
}

impl Maker {
    fn one_in(&mut self, count: u32) -> bool {
        self.rng.random_range(0..count) == 0
    }

    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.rng.random_range(0..list.len())]
    }

    fn test(&mut self, number: u64) -> String {
        let threads = [2, 2, 2, 3][self.rng.random_range(0..4)];
        let code: Vec<Vec<String>> = (0..threads).map(|_| self.thread()).collect();
        // Every third test has two threads that do the same.
        let code: Vec<&Vec<String>> =
            (0..threads).map(|k| &code[if number.is_multiple_of(3) && k == 1 { 0 } else { k }]).collect();
        let longest = code.iter().map(|rows| rows.len()).max().unwrap_or(0);
        let heads: Vec<String> = (0..threads)
            .map(|k| {
                let group = self.rng.random_range(0..2);
                if self.vulkan { format!("P{k}@sg {k},wg {group},qf 0") } else { format!("P{k}@cta {group},gpu 0") }
            })
            .collect();
        let language = if self.vulkan { "VULKAN" } else { "PTX" };
        let mut text = format!("{language} loops-{number}\n{{ x=0; y=0; d=0; }}\n{} ;\n", heads.join(" | "));
        for row in 0..longest {
            let cells: Vec<&str> = code.iter().map(|rows| rows.get(row).map_or("", String::as_str)).collect();
            let _ = writeln!(text, "{} ;", cells.join(" | "));
        }
        text + "exists (x == 0)\n"
    }

    fn thread(&mut self) -> Vec<String> {
        let mut rows = Vec::new();
        for _ in 0..self.rng.random_range(1..4) {
            match self.rng.random_range(0..6) {
                0 | 1 => rows.push(self.store()),
                2 => rows.push(self.load("r0")),
                3 => self.plain(&mut rows),
                _ => self.around(&mut rows),
            }
        }
        rows
    }

    fn scope(&mut self) -> &'static str {
        let narrow = self.one_in(5);
        match (self.vulkan, narrow) {
            (true, true) => "wg",
            (true, false) => "dv",
            (false, true) => "cta",
            (false, false) => "gpu",
        }
    }

    fn place(&mut self) -> &'static str {
        self.pick(&["x", "y"])
    }

    fn store(&mut self) -> String {
        let (scope, at, value) = (self.scope(), self.place(), self.rng.random_range(0..3));
        let release = self.one_in(2);
        match (self.vulkan, release) {
            (true, true) => format!("st.atom.rel.{scope}.sc0.semsc0 {at}, {value}"),
            (true, false) => format!("st.atom.{scope}.sc0 {at}, {value}"),
            (false, true) => format!("st.release.{scope} {at}, {value}"),
            (false, false) if self.one_in(6) => format!("st.weak {at}, {value}"),
            (false, false) => format!("st.relaxed.{scope} {at}, {value}"),
        }
    }

    fn load(&mut self, register: &str) -> String {
        let (scope, at) = (self.scope(), self.place());
        let acquire = self.one_in(2);
        match (self.vulkan, acquire) {
            (true, true) => format!("ld.atom.acq.{scope}.sc0.semsc0 {register}, {at}"),
            (true, false) => format!("ld.atom.{scope}.sc0 {register}, {at}"),
            (false, true) => format!("ld.acquire.{scope} {register}, {at}"),
            (false, false) if self.one_in(6) => format!("ld.weak {register}, {at}"),
            (false, false) => format!("ld.relaxed.{scope} {register}, {at}"),
        }
    }

    /// Data that no way depends on; now and then one does.
    fn plain(&mut self, rows: &mut Vec<String>) {
        let (load, store) = if self.vulkan { ("ld.nonpriv.sc0", "st.nonpriv.sc0") } else { ("ld.weak", "st.weak") };
        rows.push(format!("{load} r5, d"));
        rows.push("add r5, r5, 1".to_owned());
        let at = if self.one_in(6) { self.place() } else { "d" };
        rows.push(format!("{store} {at}, r5"));
    }

    fn around(&mut self, rows: &mut Vec<String>) {
        self.labels += 1;
        let label = format!("L{}", self.labels);
        let relation = self.pick(&["bne", "bne", "beq"]);
        let value = self.rng.random_range(0..3);
        rows.push(format!("{label}:"));
        let (scope, at, kind) = (self.scope(), self.place(), self.rng.random_range(0..8));
        match kind {
            0..=4 => rows.push(self.load("r1")),
            5 | 6 if self.vulkan => rows.push(format!("rmw.atom.{scope}.sc0.cas r1, {at}, {value}, 1")),
            5 | 6 => rows.push(format!("atom.relaxed.{scope}.cas.success r1, {at}, {value}, 1")),
            _ if self.vulkan => rows.push(format!("rmw.atom.{scope}.sc0 r1, {at}, 1")),
            _ => rows.push(format!("atom.relaxed.{scope}.exch r1, {at}, 1")),
        }
        if self.one_in(8) {
            rows.push(self.store());
        }
        if self.one_in(8) {
            rows.push("add r2, r2, 1".to_owned());
        }
        rows.push(format!("{relation} r1, {value}, {label}"));
    }
}
