//! Trials of the injection on random graphs and random structured programs, by three small interpreters of their own: one
//! thread, a warp by the report's rules (5.4.1), and a warp with an immediate-post-dominator stack.
//!
//! A `nop` marks that a lane comes by; what a lane decides depends on the lane, the branch and how often it decided.

mod programs;
mod structured;

use super::graph::Graph;
use super::inject::{Injected, inject_code};
use super::post_dominators;
use crate::program::instr::{Instr, Op};
use chacha20::ChaCha8Rng;
use programs::{IF, Program, structured_program};
use rand::{RngExt, SeedableRng};

pub(super) use programs::random_program;

/// After so many marks a lane exits, as if every mark had a guarded `exit` beside it.
const CUT: usize = 60;

/// What a lane decides at an instruction: one of so many ways.
fn decide(seed: u64, lane: usize, at: u32, times: usize, ways: usize) -> usize {
    let mut x = seed ^ (lane as u64) << 48 ^ u64::from(at) << 24 ^ times as u64;
    for _ in 0..3 {
        x = (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    (x >> 33) as usize % ways
}

/// Where a lane goes at an instruction; none: it leaves.
fn step(instr: Instr, tables: &[Vec<u32>], pc: u32, mut choose: impl FnMut(usize) -> usize) -> Option<u32> {
    let guarded = usize::from(instr.guard.is_some());
    match instr.op {
        Op::Bra | Op::Break if guarded == 1 => Some(if choose(2) == 0 { pc + 1 } else { instr.imm }),
        Op::Bra | Op::Break => Some(instr.imm),
        Op::Brx => {
            let table = &tables[instr.imm as usize];
            Some(table.get(choose(table.len() + guarded)).copied().unwrap_or(pc + 1))
        }
        Op::Ret | Op::Exit | Op::Trap if guarded == 0 || choose(8) == 0 => None,
        _ => Some(pc + 1),
    }
}

/// One lane alone: its marks.
fn thread(program: &Program, seed: u64, lane: usize) -> Vec<u32> {
    let (mut pc, mut times, mut marks) = (0, 0, Vec::new());
    for _ in 0..CUT * 20 {
        let instr = program.code[pc as usize];
        if instr.op == Op::Nop {
            if marks.len() == CUT {
                return marks;
            }
            marks.push(instr.imm);
        }
        let next = step(instr, &program.tables, pc, |ways| {
            times += 1;
            decide(seed, lane, pc, times, ways)
        });
        let Some(next) = next else { return marks };
        pc = next;
    }
    marks
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Sync,
    Diverge,
    Break,
}

/// A warp after the report's rules.
struct Warp<'a> {
    injected: &'a Injected,
    seed: u64,
    active: u32,
    gone: u32,
    /// Lanes that wait for a break token.
    broken: u32,
    pc: u32,
    stack: Vec<(Kind, u32, u32)>,
    marks: Vec<Vec<u32>>,
    times: Vec<usize>,
    /// How many marks the warp executed, several lanes at once.
    steps: usize,
    moves: usize,
}

impl Warp<'_> {
    /// `crs.unwind`; whether a lane is active then.
    fn unwind(&mut self) -> bool {
        while let Some((kind, mask, pc)) = self.stack.pop() {
            if kind == Kind::Break {
                self.broken &= !mask;
            }
            let mask = mask & !self.gone & !self.broken;
            if mask != 0 {
                (self.active, self.pc) = (mask, pc);
                return true;
            }
        }
        false
    }

    /// Lanes leave the function; whether any goes on.
    fn leave(&mut self, lanes: u32) -> bool {
        self.gone |= lanes;
        self.active &= !lanes;
        self.active != 0 || self.unwind()
    }

    /// Conditions (3), (4′) and (5).
    fn check_sync(&self) -> Result<(), String> {
        let mut mask = self.active;
        for (kind, lanes, pc) in self.stack.iter().rev() {
            let lanes = lanes & !self.gone;
            match kind {
                Kind::Diverge if mask & lanes != 0 => return Err("(4') lanes twice".into()),
                Kind::Diverge => mask |= lanes,
                Kind::Break => return Err("(3) a break token".into()),
                Kind::Sync if *pc != self.pc + 1 => return Err("(5) another region's token".into()),
                Kind::Sync if mask & !lanes != 0 => return Err("(4') lanes from outside".into()),
                Kind::Sync => return Ok(()),
            }
        }
        Err("(3) no token".into())
    }

    /// Condition (1), and that the token is the region's own.
    fn check_break(&self, target: u32) -> Result<(), String> {
        match self.stack.iter().rev().find(|t| t.0 != Kind::Diverge) {
            Some((Kind::Break, lanes, pc)) if *pc == target && self.active & !lanes == 0 => Ok(()),
            other => Err(format!("(1) {other:?}")),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        let lanes = self.marks.len();
        loop {
            self.moves += 1;
            if self.moves > CUT * 40 * lanes {
                return Err("no end".into());
            }
            let deep = self.stack.iter().rev().take_while(|t| t.0 == Kind::Diverge).count();
            if deep >= lanes {
                return Err("too many diverge tokens".into());
            }
            let instr = *self.injected.code.get(self.pc as usize).ok_or("off the end")?;
            let (from, hidden) = self.injected.from[self.pc as usize];
            match instr.op {
                Op::Ssy => self.stack.push((Kind::Sync, self.active, instr.imm)),
                Op::PreBrk => self.stack.push((Kind::Break, self.active, instr.imm)),
                Op::Break => {
                    self.check_break(instr.imm)?;
                    let mut breaking = 0;
                    for lane in ones(self.active) {
                        let times = self.times[lane];
                        let way = step(instr, &[], self.pc, |ways| decide(self.seed, lane, from, times + 1, ways));
                        breaking |= u32::from(way == Some(instr.imm)) << lane;
                        self.times[lane] += usize::from(instr.guard.is_some());
                    }
                    self.broken |= breaking;
                    self.active &= !breaking;
                    if self.active == 0 {
                        if !self.unwind() {
                            return Err("nobody behind break".into());
                        }
                        continue;
                    }
                }
                Op::Sync => {
                    self.check_sync()?;
                    if !self.unwind() {
                        return Err("nobody behind sync".into());
                    }
                    continue;
                }
                Op::Nop => {
                    self.steps += 1;
                    let mut cut = 0;
                    for lane in ones(self.active) {
                        if self.marks[lane].len() == CUT {
                            cut |= 1 << lane;
                        } else {
                            self.marks[lane].push(instr.imm);
                        }
                    }
                    let alone = cut == self.active;
                    if !self.leave(cut) {
                        return Ok(());
                    }
                    if alone {
                        continue;
                    }
                }
                _ => {
                    let mut ways = Vec::new();
                    for lane in ones(self.active) {
                        let times = self.times[lane];
                        let way = step(instr, &self.injected.tables, self.pc, |ways| {
                            decide(self.seed, lane, from, times + 1, ways)
                        });
                        ways.push((lane, way));
                    }
                    let decides = instr.guard.is_some() || instr.op == Op::Brx;
                    // Taken first, as `crs.braguard` says.
                    let way = ways.iter().rev().map(|w| w.1).max_by_key(|w| *w != Some(self.pc + 1)).flatten();
                    let going = ways.iter().filter(|w| w.1 == way).fold(0, |m, w| m | 1 << w.0);
                    let rest = self.active & !going;
                    let Some(way) = way.filter(|_| !matches!(instr.op, Op::Ret | Op::Exit | Op::Trap)) else {
                        for lane in ones(self.active).filter(|_| decides) {
                            self.times[lane] += 1;
                        }
                        let leaving = ways.iter().filter(|w| w.1.is_none()).fold(0, |m, w| m | 1 << w.0);
                        let alone = leaving == self.active;
                        if !self.leave(leaving) {
                            return Ok(());
                        }
                        self.pc += u32::from(!alone);
                        continue;
                    };
                    if rest != 0 {
                        // The lanes of an indirect branch that go elsewhere execute it again (`crs.bratarget`).
                        let again = instr.op == Op::Brx;
                        self.stack.push((Kind::Diverge, rest, if again { self.pc } else { self.pc + 1 }));
                        for lane in ones(rest).filter(|_| !again) {
                            self.times[lane] += 1;
                        }
                    }
                    for lane in ones(going).filter(|_| decides && !hidden) {
                        self.times[lane] += 1;
                    }
                    self.active = going;
                    self.pc = way;
                    continue;
                }
            }
            self.pc += 1;
        }
    }
}

fn ones(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 != 0)
}

fn warp(injected: &Injected, seed: u64, lanes: usize) -> (Result<(), String>, Vec<Vec<u32>>, usize) {
    let mut warp = Warp {
        injected,
        seed,
        active: (1 << lanes) - 1,
        gone: 0,
        broken: 0,
        pc: 0,
        stack: Vec::new(),
        marks: vec![Vec::new(); lanes],
        times: vec![0; lanes],
        steps: 0,
        moves: 0,
    };
    let result = warp.run();
    (result, warp.marks, warp.steps)
}

/// A warp with an immediate-post-dominator stack: how many marks it executes.
fn post_dominator_steps(program: &Program, seed: u64, lanes: usize) -> usize {
    let graph = Graph::of(&program.code, &program.tables);
    let meets = post_dominators(&graph);
    let (mut steps, mut marks, mut times) = (0, vec![0; lanes], vec![0; lanes]);
    let mut gone = 0u32;
    // (address, where to pop, lanes)
    let mut stack = vec![(0, u32::MAX, (1u32 << lanes) - 1)];
    while let Some((pc, until, mask)) = stack.last_mut() {
        *mask &= !gone;
        if *mask == 0 || pc == until {
            stack.pop();
            continue;
        }
        let instr = program.code[*pc as usize];
        if instr.op == Op::Nop {
            steps += 1;
            for lane in ones(*mask) {
                marks[lane] += 1;
                if marks[lane] > CUT {
                    gone |= 1 << lane;
                }
            }
        }
        let (mut taken, mut other) = ((0, 0), 0);
        for lane in ones(*mask & !gone) {
            let choose = |ways| {
                times[lane] += 1;
                decide(seed, lane, *pc, times[lane], ways)
            };
            match step(instr, &program.tables, *pc, choose) {
                None => gone |= 1 << lane,
                Some(to) if to == *pc + 1 => other |= 1 << lane,
                Some(to) => taken = (to, taken.1 | 1 << lane),
            }
        }
        let here = *pc;
        if taken.1 == 0 || other == 0 {
            *pc = if taken.1 != 0 { taken.0 } else { here + 1 };
            continue;
        }
        let block = graph.blocks().partition_point(|b| b.end <= here);
        let meet = meets[block].map_or(u32::MAX, |b| graph.blocks()[b as usize].start);
        *pc = meet;
        if meet == u32::MAX {
            *mask = 0;
        }
        stack.push((here + 1, meet, other));
        stack.push((taken.0, meet, taken.1));
    }
    steps
}

#[test]
fn lanes_do_what_they_would_do_alone() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut injected_syncs, mut breaks) = (0, 0);
    for case in 0..20_000u64 {
        let blocks = rng.random_range(2..14);
        let program = random_program(&mut rng, blocks);
        let injected = inject_code(&program.code, &program.tables);
        injected_syncs += injected.code.iter().filter(|i| matches!(i.op, Op::Sync | Op::Break)).count();
        breaks += injected.code.iter().filter(|i| i.op == Op::Break).count();
        let lanes = rng.random_range(2..7);
        let expected: Vec<_> = (0..lanes).map(|lane| thread(&program, case, lane)).collect();
        let (result, marks, _) = warp(&injected, case, lanes);
        let shown = || format!("case {case}\n{}\n{}", listing(&program.code), listing(&injected.code));
        assert_eq!(result, Ok(()), "{}", shown());
        assert!(marks == expected, "{}", shown());
    }
    assert!(injected_syncs > 20_000 && breaks > 5_000, "{injected_syncs} {breaks}");
}

/// Steps of the injected code and of the post-dominator stack, over many programs, and how many of them differ.
fn compare_steps(seed: u64, loose: bool) -> (usize, usize, usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut ours, mut theirs, mut differ, mut parted) = (0, 0, 0, 0);
    for case in 0..4_000u64 {
        let program = structured_program(&mut rng, loose);
        let injected = inject_code(&program.code, &program.tables);
        let lanes = rng.random_range(2..7);
        let expected: Vec<_> = (0..lanes).map(|lane| thread(&program, case, lane)).collect();
        if expected.iter().any(|marks| marks.len() >= CUT) {
            continue;
        }
        let (result, marks, steps) = warp(&injected, case, lanes);
        let shown = || format!("case {case}\n{}\n{}", listing(&program.code), listing(&injected.code));
        assert_eq!(result, Ok(()), "{}", shown());
        assert!(marks == expected, "{}", shown());
        let other = post_dominator_steps(&program, case, lanes);
        (ours, theirs) = (ours + steps, theirs + other);
        assert!(steps >= other && (loose || steps == other), "{steps} {other} {}", shown());
        differ += usize::from(steps != other);
        parted += usize::from(steps > expected[0].len());
    }
    assert!(parted > 1_000, "{parted}");
    (ours, theirs, differ)
}

#[test]
fn structured_code_meets_where_post_dominators_say() {
    assert_eq!(compare_steps(4, false).2, 0);
}

/// Where `while (a || b)` begins its body, lanes that come from `a` enter a loop around `a` alone, which the
/// post-dominator stack leaves at `b`; but that loop has two entries, so no region.
#[test]
fn a_loop_with_two_entries_costs_little() {
    let (ours, theirs, differ) = compare_steps(5, true);
    assert!(differ > 0 && ours * 100 < theirs * 102, "{ours} {theirs} {differ}");
}

/// Shapes that make slow algorithms quadratic; each has 60,000 instructions or more.
#[test]
fn large_functions_take_a_moment() {
    let n = 20_000u32;
    let plain = |op, guard, imm| Instr { guard, imm, ..Instr::new(op) };
    let nested = (0..n).map(|i| plain(Op::Bra, IF, 3 * n - i)).chain((0..2 * n).map(|_| Instr::new(Op::Nop)));
    let ladder = (0..3 * n).map(|_| plain(Op::Bra, IF, 3 * n));
    let loops = (0..3 * n).map(|i| plain(Op::Bra, IF, 3 * n - i - 1));
    let one_head = (0..3 * n).map(|_| plain(Op::Bra, IF, 0));
    let end = [Instr::new(Op::Nop), Instr::new(Op::Ret)];
    let shapes: [Vec<Instr>; 4] = [nested.collect(), ladder.collect(), loops.collect(), one_head.collect()]
        .map(|code| [code, end.to_vec()].concat());
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let random = random_program(&mut rng, 60_000);
    let programs = shapes.into_iter().map(|code| Program { code, tables: Vec::new() }).chain([random]);
    for program in programs {
        let injected = inject_code(&program.code, &program.tables);
        assert!(injected.code.len() > program.code.len());
    }
}

/// The code as text, for messages.
pub(super) fn listing(code: &[Instr]) -> String {
    let line = |(i, instr): (usize, &Instr)| {
        let guard = if instr.guard.is_some() { "@" } else { "" };
        format!("{i}: {guard}{:?} {}", instr.op, instr.imm)
    };
    code.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}
