//! Random kernels as PTX text: any control-flow graph, or structured code with the jumps that compilers make of it.
//!
//! A thread's state is a number that every block changes and a budget; both lie in the thread's own cell of a variable, so
//! that bodies race with nobody and ask nobody who is active. What a thread decides follows from its number. When its
//! budget is used up a thread exits, which cuts off endless loops.

use super::structured::{Emit, Structured};
use chacha20::ChaCha8Rng;
use rand::RngExt;
use std::fmt::Write;

/// After so many blocks a thread exits.
pub const BUDGET: u32 = 48;

/// The variable with the threads' cells.
pub const STATE: &str = "state";

const HEAD: &str = ".version 6.0\n.target sm_50\n.address_size 64\n.global .align 8 .b32 state[64];\n";
const REGISTERS: &str = "\t.reg .b32 %s, %n, %d;\n\t.reg .b64 %c, %f;\n\t.reg .pred %p, %q;\n";
const CELL: &str = "\tmov.u32 %d, %tid.x;\n\tmov.u64 %c, state;\n\tmad.wide.u32 %c, %d, 8, %c;\n";
const RELOAD: &str = "\tld.global.v2.u32 {%s, %n}, [%c];\n";

struct Text(String);

impl Text {
    fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.0, "\t{}", line.as_ref());
    }

    fn label(&mut self, name: impl AsRef<str>) {
        let _ = writeln!(self.0, "{}:", name.as_ref());
    }

    /// A block's body: the thread's number changes, the budget shrinks.
    fn block(&mut self, k: usize) {
        let constant = 1_013_904_223u32.wrapping_add(u32::try_from(k).unwrap_or(0).wrapping_mul(0x9e37_79b1) | 1);
        self.line(format!("mad.lo.u32 %s, %s, 1664525, {constant};"));
        self.line("sub.u32 %n, %n, 1;");
        self.line("st.global.v2.u32 [%c], {%s, %n};");
        self.line("setp.eq.u32 %q, %n, 0;");
        self.line("@%q exit;");
    }

    /// Sets `%p` with a chance of `of` in 16; `which` picks bits that no other decision of the block uses.
    fn decide(&mut self, which: u32, of: u32) {
        self.line(format!("shr.u32 %d, %s, {};", 28 - 4 * which));
        self.line("and.b32 %d, %d, 15;");
        self.line(format!("setp.lt.u32 %p, %d, {of};"));
    }

    fn entry(&mut self, seed: u32) {
        let _ = write!(self.0, ".visible .entry k()\n{{\n{REGISTERS}{CELL}");
        self.line(format!("mad.lo.u32 %s, %d, -1640531535, {seed};"));
        self.line(format!("mov.u32 %n, {BUDGET};"));
        self.line("st.global.v2.u32 [%c], {%s, %n};");
    }
}

/// A kernel with functions, all of random graphs.
pub fn graph(rng: &mut ChaCha8Rng) -> String {
    let functions = if rng.random_bool(0.5) { rng.random_range(1..4) } else { 0 };
    let mut text = Text(HEAD.to_owned());
    for f in 1..=functions {
        let _ = writeln!(text.0, ".func f{f}();");
    }
    for f in (0..=functions).rev() {
        if f == 0 {
            text.entry(rng.random());
        } else {
            let _ = write!(text.0, ".func f{f}()\n{{\n{REGISTERS}{CELL}{RELOAD}");
        }
        let blocks = rng.random_range(2..if f == 0 { 14 } else { 7 });
        body(&mut text, rng, blocks, f, functions);
        text.0.push_str("}\n");
    }
    text.0
}

/// A call of a later function, or now and then of any: recursion ends with the budget.
fn call(text: &mut Text, rng: &mut ChaCha8Rng, block: usize, f: usize, functions: usize) {
    if functions == 0 {
        return;
    }
    let callee = |rng: &mut ChaCha8Rng| {
        let first = if rng.random_bool(0.1) { 1 } else { f + 1 };
        if first > functions { None } else { Some(rng.random_range(first..=functions)) }
    };
    let (Some(one), Some(other)) = (callee(rng), callee(rng)) else { return };
    let guard = if rng.random_bool(0.4) {
        text.decide(3, 8);
        "@%p "
    } else {
        ""
    };
    if rng.random_bool(0.4) {
        text.line("shr.u32 %d, %s, 11;\n\tand.b32 %d, %d, 1;\n\tsetp.eq.u32 %q, %d, 0;");
        text.line(format!("mov.u64 %f, f{one};"));
        text.line(format!("@%q mov.u64 %f, f{other};"));
        text.line(format!("proto{block}: .callprototype _ ();"));
        text.line(format!("{guard}call %f, proto{block};"));
    } else {
        text.line(format!("{guard}call f{one};"));
    }
    text.0.push_str(RELOAD);
}

fn body(text: &mut Text, rng: &mut ChaCha8Rng, blocks: usize, f: usize, functions: usize) {
    let mut order: Vec<usize> = (1..blocks).collect();
    for i in (1..order.len()).rev() {
        if rng.random_bool(0.3) {
            order.swap(i, rng.random_range(0..=i));
        }
    }
    order.insert(0, 0);
    for (at, &b) in order.iter().enumerate() {
        text.label(format!("B{b}"));
        text.block(f * 64 + b);
        if rng.random_bool(0.25) {
            call(text, rng, b, f, functions);
        }
        if rng.random_bool(0.08) {
            text.decide(2, 2);
            text.line(if rng.random_bool(0.5) { "@%p ret;" } else { "@%p exit;" });
        }
        let target = |rng: &mut ChaCha8Rng| {
            let near = rng.random_range(b + 1..=b + 4).min(blocks - 1);
            if rng.random_bool(0.5) { near } else { rng.random_range(0..blocks) }
        };
        let falls = order.get(at + 1).is_some();
        match rng.random_range(0..20) {
            _ if b + 1 == blocks => text.line("ret;"),
            0 => text.line(if rng.random_bool(0.7) { "ret;" } else { "exit;" }),
            1..=4 => {
                let to = target(rng);
                text.line(format!("bra B{to};"));
            }
            5..=8 if falls => {}
            9..=12 => {
                let ways = rng.random_range(1..4);
                let table: Vec<String> = (0..ways).map(|_| format!("B{}", target(rng))).collect();
                let guard = if rng.random_bool(0.3) && falls {
                    text.decide(1, 8);
                    "@%p "
                } else {
                    ""
                };
                text.line(format!("T{b}: .branchtargets {};", table.join(", ")));
                text.line(format!("shr.u32 %d, %s, 20;\n\trem.u32 %d, %d, {ways};"));
                text.line(format!("{guard}brx.idx %d, T{b};"));
            }
            _ => {
                let to = target(rng);
                let chance = rng.random_range(3..13);
                text.decide(0, chance);
                text.line(format!("@%p bra B{to};"));
                if !falls || rng.random_bool(0.2) {
                    let to = target(rng);
                    text.line(format!("bra B{to};"));
                }
            }
        }
    }
}

/// Structured code: `if`, `||` and `&&`, `while`, `do`, `break`, `continue`, nested.
pub fn structured(rng: &mut ChaCha8Rng) -> String {
    let mut text = Text(HEAD.to_owned());
    text.entry(rng.random());
    Structured::make(rng, &mut text, false);
    text.line("ret;");
    text.0.push_str("}\n");
    text.0
}

impl Emit for Text {
    fn mark(&mut self, number: u32) {
        self.block(number as usize);
    }

    fn here(&mut self, label: usize) {
        self.label(format!("L{label}"));
    }

    fn branch_if(&mut self, rng: &mut ChaCha8Rng, so: bool, label: usize) {
        self.decide(0, rng.random_range(4..13));
        self.line(format!("{} bra L{label};", if so { "@%p" } else { "@!%p" }));
    }

    fn branch(&mut self, label: usize) {
        self.line(format!("bra L{label};"));
    }
}
