//! The analysis as text (`--dump affine`).

use super::{Affine, Line, Pattern, Threads};
use crate::base::Pc;
use crate::program::dump::Names;
use crate::program::env::{FuncId, Function, ProgEnv};
use crate::program::instr::Op;
use crate::program::ops::{Class, IntOp};
use std::collections::BTreeSet;

/// Columns of an instruction, beyond which what is said of it begins on a line of its own.
const WIDTH: usize = 64;

/// Lanes of a warp.
const LANES: u32 = crate::base::LANES as u32;

/// What is known of the registers of each function: a line for each PTX instruction, with what it writes. `block`: the shape of
/// blocks; `.reqntid` is one, too. `source`: the text of the only module.
#[must_use]
pub fn dump(env: &ProgEnv, block: Option<[u32; 3]>, source: &str) -> String {
    let meet = if env.injected {
        "lanes that part meet where their region ends (crs)"
    } else {
        "lanes that part may meet wherever they stand at one address (its)"
    };
    let mut out = format!("warps of {LANES}; {meet}; n: any number, its own at each place\n");
    for (id, function) in (0u32..).map(FuncId).zip(env.functions.values()) {
        let owner = env.origin.get(function.start.0 as usize).map(|origin| origin.function);
        if function.defined && owner == Some(id) {
            let threads = block.or(function.bounds.required_threads).map_or(Threads::Rows, Threads::Block);
            one(&mut out, env, (function, threads), &Affine::of(env, id, threads, LANES), source);
        }
    }
    out
}

/// How many results are uniform, lie on a line, are vectors; at how many of the jumps lanes may part; and what is assumed.
#[derive(Default)]
struct Sums {
    uniform: u32,
    affine: u32,
    vectors: u32,
    jumps: u32,
    parting: u32,
}

fn one(out: &mut String, env: &ProgEnv, (function, threads): (&Function, Threads), affine: &Affine, source: &str) {
    let kind = if function.entry { "entry" } else { "func" };
    let shape = match threads {
        Threads::Block([x, y, z]) => format!("blocks of {x} × {y} × {z}"),
        Threads::Rows => format!("blocks whose x is a multiple of {LANES}"),
    };
    if affine.gave_up() {
        *out += &format!("{kind} {}: too large, nothing is claimed of it\n", function.name);
        return;
    }
    let mut divided = 0;
    let (names, mut sums, mut lines) = (Names::of(env, function), Sums::default(), String::new());
    let assumed: BTreeSet<Pc> = affine.assumptions().collect();
    affine.each(env, |pc, before, after| {
        let (Some(instr), Some(origin)) = (env.code.get(pc.0 as usize), env.origin.get(pc.0 as usize)) else { return };
        let mut said = Vec::new();
        for (n, pattern) in after {
            let (class, slot) = function.slots.name(*n);
            sums.count(*pattern);
            if !origin.hidden {
                said.push(format!("{} {}", names.show(class, slot), text(*pattern, class, affine.lanes)));
            }
        }
        if let Some(request) = env.request(instr) {
            let n = function.slots.number(request.address_class(), request.addr);
            let pattern = n.map_or(Pattern::Vector, |n| before[n]);
            said.push(format!("at {}", text(pattern, request.address_class(), affine.lanes)));
        }
        if matches!(instr.op, Op::Bra | Op::Brx | Op::Break) && (instr.guard.is_some() || instr.op == Op::Brx) {
            let parts = affine.parts(env, pc, before);
            sums.jumps += 1;
            sums.parting += u32::from(parts);
            said.push(if parts { "lanes may part".to_owned() } else { "all lanes go one way".to_owned() });
        }
        if assumed.contains(&pc) {
            let divides = instr.op == Op::Int(IntOp::ShrS32);
            divided += usize::from(divides);
            let condition =
                if divides { "if no number is negative" } else { "if no number wraps around within the warp" };
            said.push(condition.to_owned());
        }
        if !origin.hidden {
            let words: Vec<&str> = origin.span.of(source).split_whitespace().collect();
            let (code, said) = (words.join(" "), said.join("; "));
            let gap = if code.chars().count() > WIDTH { format!("\n{:1$}", "", WIDTH + 7) } else { String::new() };
            lines += format!("{:5}  {code:WIDTH$}{gap}{said}", pc.0).trim_end();
            lines.push('\n');
        }
    });
    let Sums { uniform, affine: on_lines, vectors, jumps, parting } = sums;
    *out += &format!(
        "{kind} {}, {shape}: {uniform} results uniform, {on_lines} affine, {vectors} vectors; lanes may part at {parting} of {jumps} jumps",
        function.name
    );
    if assumed.len() > divided {
        *out += &format!("; {} widened on the assumption that no number wraps around", assumed.len() - divided);
    }
    if divided > 0 {
        *out += &format!("; {divided} divided on the assumption that no number is negative");
    }
    out.push('\n');
    out.push_str(&lines);
}

impl Sums {
    fn count(&mut self, pattern: Pattern) {
        match pattern {
            Pattern::Affine(line) if line.is_uniform() => self.uniform += 1,
            Pattern::Affine(_) => self.affine += 1,
            Pattern::Never | Pattern::Vector => self.vectors += 1,
        }
    }
}

/// What a pattern says, as a person would write it.
fn text(pattern: Pattern, class: Class, lanes: u32) -> String {
    let line = match pattern {
        Pattern::Never => return "never reached".to_owned(),
        Pattern::Vector => return "vector".to_owned(),
        Pattern::Affine(line) => line,
    };
    if let Some(value) = line.value(class) {
        return format!("= {}", number(value, class));
    }
    let Line { stride, halves, base } = line;
    let exact = base.known >= class.bits();
    let first = match (base.known, base.low) {
        (_, low) if exact => number(low, class),
        (0, _) => "n".to_owned(),
        (known, 0) => format!("{}n", 1u128 << known),
        (known, low) => format!("{}n + {low}", 1u128 << known),
    };
    let (lane, each) = match halves {
        true if exact => (format!("(lane mod {})", lanes / 2), ""),
        true => (format!("(lane mod {})", lanes / 2), ", n for each half"),
        false => ("lane".to_owned(), ""),
    };
    let step = super::pattern::signed(stride, class.bits());
    match (step, base.known) {
        (0, 0) if halves => "one value for each half".to_owned(),
        (0, 0) => "uniform".to_owned(),
        (0, _) if halves => format!("one value for each half: {first}"),
        (0, _) => format!("uniform: {first}"),
        _ => {
            let sign = if step < 0 { "-" } else { "+" };
            let factor = if step.unsigned_abs() == 1 { String::new() } else { format!("{} ", step.unsigned_abs()) };
            match (exact && base.low == 0, sign) {
                (true, "+") => format!("{factor}{lane}"),
                _ => format!("{first} {sign} {factor}{lane}{each}"),
            }
        }
    }
}

/// A number as it is written: small ones in decimal, also negative ones.
fn number(value: u64, class: Class) -> String {
    match super::pattern::signed(value, class.bits()) {
        small @ -4096..=65536 if class != Class::P => small.to_string(),
        _ if class == Class::P => if value == 0 { "false" } else { "true" }.to_owned(),
        _ => format!("{value:#x}"),
    }
}
