//! The report's worked examples: programs 5.5, 5.6 and 5.7 give figures 5.2, 5.3 and 5.4 row by row.
//!
//! An instruction's address is its line in the listing; what must be computed first stands behind the listing. A row has
//! the address of the instruction executed, and the masks and the stack after it. Bits stand in the order of the figures:
//! the first is thread 1.

use super::sample::{And, LANE, ONE, ZERO, alu};
use super::{Check, Observers};
use crate::base::{FileId, LaneMask, Pc, Span};
use crate::choice::{Fair, Menu, Oracle, Pick, Site};
use crate::machine::{Config, Context, ControlModel, Launch};
use crate::program::env::{FuncId, Origin, ProgEnv, Target};
use crate::program::instr::{Instr, Op};
use crate::program::ops::IntOp as I;
use crate::verdict::{Event, Sink, Stop, TokenKind, Who};
use std::sync::Arc;

/// Code with an instruction at each of the given addresses and `nop` elsewhere; the entry begins at `start`, the function
/// that `Op::Call` with immediate 1 calls, at `function`.
fn program(code: &[(u32, Instr)], start: u32, function: u32, tables: Vec<Vec<u32>>) -> Arc<ProgEnv> {
    let end = code.iter().map(|(at, _)| at + 1).max().unwrap_or(0);
    let mut env = ProgEnv { target: Target { sm: 20, ..Target::default() }, injected: true, ..ProgEnv::default() };
    env.code = vec![Instr::new(Op::Nop); end as usize];
    for (at, i) in code {
        env.code[*at as usize] = *i;
    }
    env.tables = tables;
    let span = Span::default();
    let origin = Origin { file: FileId(0), span, loc: u32::MAX, function: FuncId(0), hidden: false };
    env.origin = vec![origin; end as usize];
    for (name, entry, start) in [("main", true, start), ("f", false, function)] {
        env.functions.insert(name.into(), super::sample::declare(name, entry, start, end));
    }
    Arc::new(env)
}

/// Prefers the target of lane 1 (thread 2), then the lowest, as figure 5.3 does.
struct SecondFirst;

impl Oracle for SecondFirst {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let mut pick = Fair.choose(menu)?;
        if menu.site == Site::Target && menu.offers(1) {
            pick.index = 1;
        }
        Ok(pick)
    }
}

/// Takes the rows down from the first instruction at address 1 on.
struct Rows<'a> {
    safety: &'a mut Observers,
    threads: u32,
    labels: &'static [u32],
    pc: Option<u32>,
    rows: Vec<String>,
}

impl Rows<'_> {
    fn bits(&self, mask: LaneMask, yes: char) -> String {
        (0..self.threads).map(|l| if mask >> l & 1 == 1 { yes } else { '0' }).collect()
    }
}

impl Sink for Rows<'_> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self.safety.event(who, event)?;
        let Event::Step(step) = event else { return Ok(()) };
        // A line with a label only: the figures have no rows for it.
        if self.labels.contains(&step.pc.0) {
            return Ok(());
        }
        if let (Some(pc), Some(tokens)) = (self.pc, step.tokens) {
            let kind = |k| match k {
                TokenKind::Sync => "sync",
                TokenKind::Diverge => "diverge",
                TokenKind::Call => "call",
                TokenKind::Break => "break",
            };
            let stack = tokens.stack.iter().rev();
            let stack: Vec<_> =
                stack.map(|t| format!("({}, {}, {})", kind(t.kind), self.bits(t.mask, '1'), t.pc)).collect();
            let stack = if stack.is_empty() { "ε".to_owned() } else { stack.join(" :: ") };
            let disabled = self.bits(tokens.disabled[1], 'r');
            self.rows.push(format!("{pc} {} {disabled} {stack}", self.bits(step.active, '1')));
        }
        if self.pc.is_some() || step.pc == Pc(1) {
            self.pc = Some(step.pc.0);
        }
        Ok(())
    }
}

fn rows(env: &Arc<ProgEnv>, threads: u32, labels: &'static [u32]) -> Vec<String> {
    let config = Config { control: Some(ControlModel::Crs), warp_size: threads, ..Config::default() };
    let mut context = Context::new(Arc::clone(env), config).unwrap();
    let params = context.alloc("buffer", 256).unwrap().to_le_bytes().to_vec();
    let launch = Launch { entry: "main".into(), grid: [1, 1, 1], block: [threads, 1, 1], shared_bytes: 0, params };
    let mut safety = Observers::none().check(Check::Safety, env);
    let mut rows = Rows { safety: &mut safety, threads, labels, pc: None, rows: Vec::new() };
    context.launch_by(&launch, &mut rows, &mut SecondFirst, &mut |_| ()).unwrap();
    rows.rows
}

fn jump(to: u32) -> Instr {
    Instr::new(Op::Bra).with(to)
}

const A: u16 = 8;
const B: u16 = 9;
const C: u16 = 10;
const D: u16 = 11;

#[test]
fn program_5_5_gives_figure_5_2() {
    let code = [
        (1, alu(I::EqW, 0, &[LANE, ZERO])),
        (2, Instr::new(Op::Ssy).with(10)),
        (3, jump(7).when(0, true)),
        (4, alu(I::Sub32, C, &[A, B])),
        (5, jump(9)),
        (7, alu(I::MulLo32, C, &[A, B])),
        (9, Instr::new(Op::Sync)),
        (10, alu(I::DivU32, D, &[C, ONE])),
        (11, Instr::new(Op::Exit)),
    ];
    let env = program(&code, 1, 0, Vec::new());
    let expected = [
        "1 11 00 ε",
        "2 11 00 (sync, 11, 10)",
        "3 10 00 (diverge, 01, 4) :: (sync, 11, 10)",
        "7 10 00 (diverge, 01, 4) :: (sync, 11, 10)",
        "9 01 00 (sync, 11, 10)",
        "4 01 00 (sync, 11, 10)",
        "5 01 00 (sync, 11, 10)",
        "9 11 00 ε",
        "10 11 00 ε",
    ];
    assert_eq!(rows(&env, 2, &[6, 8]), expected);
}

#[test]
fn program_5_6_gives_figure_5_3() {
    let code = [
        (1, Instr::new(Op::Ssy).with(13)),
        (2, Instr { a: crate::program::instr::Slot(A), ..Instr::new(Op::Brx) }),
        (4, alu(I::MulLo32, C, &[A, B])),
        (5, jump(12)),
        (7, alu(I::Add32, C, &[A, B])),
        (8, jump(12)),
        (10, alu(I::Sub32, C, &[A, B])),
        (12, Instr::new(Op::Sync)),
        (13, alu(I::DivU32, D, &[C, ONE])),
        (14, Instr::new(Op::Exit)),
        // Threads 1 to 4 go to PATH-3, PATH-2, PATH-1, PATH-2: entry |2 - lane| of the table.
        (20, alu(I::Add32, B, &[ONE, ONE])),
        (21, alu(I::Sub32, A, &[B, LANE])),
        (22, alu(I::AbsS32, A, &[A])),
        (23, jump(1)),
    ];
    let env = program(&code, 20, 0, vec![vec![4, 7, 10]]);
    let expected = [
        "1 1111 0000 (sync, 1111, 13)",
        "2 0101 0000 (diverge, 1010, 2) :: (sync, 1111, 13)",
        "7 0101 0000 (diverge, 1010, 2) :: (sync, 1111, 13)",
        "8 0101 0000 (diverge, 1010, 2) :: (sync, 1111, 13)",
        "12 1010 0000 (sync, 1111, 13)",
        "2 1000 0000 (diverge, 0010, 2) :: (sync, 1111, 13)",
        "10 1000 0000 (diverge, 0010, 2) :: (sync, 1111, 13)",
        "12 0010 0000 (sync, 1111, 13)",
        "2 0010 0000 (sync, 1111, 13)",
        "4 0010 0000 (sync, 1111, 13)",
        "5 0010 0000 (sync, 1111, 13)",
        "12 1111 0000 ε",
        "13 1111 0000 ε",
    ];
    assert_eq!(rows(&env, 4, &[3, 6, 9, 11]), expected);
}

#[test]
fn program_5_7_gives_figure_5_4() {
    let code = [
        (1, alu(I::NeW, 0, &[LANE, ZERO])),
        (2, Instr::new(Op::Ssy).with(10)),
        (3, jump(7).when(0, true)),
        (4, alu(I::Sub32, C, &[A, B])),
        (5, jump(9)),
        (7, Instr::new(Op::Ret).when(1, true)),
        (9, Instr::new(Op::Sync)),
        (10, alu(I::DivU32, D, &[C, ONE])),
        (11, Instr::new(Op::Ret)),
        (20, Instr::new(Op::PreRet).with(22)),
        (21, Instr::new(Op::Call).with(1)),
        // x of the figure.
        (22, alu(I::Add32, D, &[ONE, ONE])),
        (23, Instr::new(Op::Exit)),
        // Thread 2 returns early.
        (30, alu(I::EqW, 1, &[LANE, ONE])),
        (31, jump(1)),
    ];
    let env = program(&code, 20, 30, Vec::new());
    let expected = [
        "1 111 000 (call, 111, 22)",
        "2 111 000 (sync, 111, 10) :: (call, 111, 22)",
        "3 011 000 (diverge, 100, 4) :: (sync, 111, 10) :: (call, 111, 22)",
        "7 001 0r0 (diverge, 100, 4) :: (sync, 111, 10) :: (call, 111, 22)",
        "9 100 0r0 (sync, 111, 10) :: (call, 111, 22)",
        "4 100 0r0 (sync, 111, 10) :: (call, 111, 22)",
        "5 100 0r0 (sync, 111, 10) :: (call, 111, 22)",
        "9 101 0r0 (call, 111, 22)",
        "10 101 0r0 (call, 111, 22)",
        "11 111 000 ε",
        "22 111 000 ε",
    ];
    assert_eq!(rows(&env, 3, &[6, 8]), expected);
}
