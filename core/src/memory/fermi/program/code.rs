//! A memory program made ready to run: the tree laid out as a list, so that a position is a number.

use super::OpKey;
use super::tree::{BExp, MemProgram, OpExp, Stmt, StmtKind};
use crate::base::{Source, Span};
use serde::{Deserialize, Serialize};

/// A position in a program: plain data, part of an operation's state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct At {
    /// The next instruction.
    pub pc: u16,
    /// Whether the operation there was tried before and had to wait (rule `op.op2`).
    pub again: bool,
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Code {
    Nop,
    Yield,
    End,
    Op(OpExp),
    /// `if`: condition number, and where the `else` part begins.
    If(u16, u16),
    /// Past the `else` part; not a statement of the program.
    Goto(u16),
}

/// An instruction and where it comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Instr {
    pub(super) code: Code,
    pub(super) span: Span,
    /// Line in the file, from 1.
    pub(super) line: u32,
    /// Whether a statement follows it, at whatever level: it is the first part of a sequential composition.
    pub(super) follows: bool,
    /// Whether it is the `else` that is not written.
    pub(super) implied: bool,
}

/// A program, ready to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) serves: Vec<OpKey>,
    pub(super) code: Vec<Instr>,
    pub(super) conds: Vec<BExp>,
}

impl Program {
    /// Lays a program out. `file` and `text` are the file's name and text, for messages. `None` when it has more
    /// instructions than a position can number.
    #[must_use]
    pub fn new(tree: &MemProgram, source: &Source) -> Option<Self> {
        let serves: Vec<OpKey> = tree.serves.iter().map(|(key, _)| *key).collect();
        let mut program = Self {
            name: serves.first().map(OpKey::name).unwrap_or_default(),
            file: source.name.clone(),
            serves,
            code: Vec::new(),
            conds: Vec::new(),
        };
        program.block(&tree.body, false, source)?;
        (program.code.len() < usize::from(u16::MAX)).then_some(program)
    }

    /// The first operation that it serves, by which messages name it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file that it stands in.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The operations that it serves.
    #[must_use]
    pub fn serves(&self) -> &[OpKey] {
        &self.serves
    }

    /// The line of a position, from 1; of the last instruction when it is past the end.
    #[must_use]
    pub fn line(&self, at: At) -> u32 {
        self.code.get(usize::from(at.pc)).or(self.code.last()).map_or(1, |i| i.line)
    }

    /// Whether what it may have to wait for at a position lies beyond its own multiprocessor.
    #[must_use]
    pub fn looks_far(&self, at: At) -> bool {
        self.code.get(usize::from(at.pc)).is_some_and(|i| i.code == Code::Op(OpExp::InvalidateOthersL1))
    }

    /// Whether the micro step at a position only writes or releases registers: nobody but the operation's warp can tell
    /// that it was made.
    #[must_use]
    pub fn is_local(&self, at: At) -> bool {
        let mut pc = usize::from(at.pc);
        loop {
            match self.code.get(pc).map(|i| i.code) {
                Some(Code::Yield | Code::End) => return true,
                Some(Code::Nop | Code::Op(OpExp::WriteToRegs | OpExp::ReleaseRegs)) => pc += 1,
                // Forward only: a program has no loops.
                Some(Code::Goto(target)) => pc = usize::from(target),
                Some(Code::If(..) | Code::Op(_)) | None => return false,
            }
        }
    }

    fn block(&mut self, body: &[Stmt], follows: bool, source: &Source) -> Option<()> {
        for (k, stmt) in body.iter().enumerate() {
            let follows = follows || k + 1 < body.len();
            let (line, _) = source.line_col(stmt.span.start);
            let instr = |code| Instr { code, span: stmt.span, line, follows, implied: false };
            let one = match &stmt.kind {
                StmtKind::Nop => Code::Nop,
                StmtKind::Yield => Code::Yield,
                StmtKind::End => Code::End,
                StmtKind::Op(op) => Code::Op(*op),
                StmtKind::If { cond, then, otherwise, .. } => {
                    let number = u16::try_from(self.conds.len()).ok()?;
                    self.conds.push(cond.clone());
                    let head = self.code.len();
                    self.code.push(instr(Code::If(number, 0)));
                    self.block(then, follows, source)?;
                    let skip = self.code.len();
                    self.code.push(instr(Code::Goto(0)));
                    match otherwise {
                        Some(otherwise) => self.block(otherwise, follows, source)?,
                        // The report's convention: no `else` is `else { ; }`.
                        None => self.code.push(Instr { implied: true, ..instr(Code::Nop) }),
                    }
                    let end = u16::try_from(self.code.len()).ok()?;
                    self.code.get_mut(skip)?.code = Code::Goto(end);
                    self.code.get_mut(head)?.code = Code::If(number, u16::try_from(skip + 1).ok()?);
                    continue;
                }
            };
            self.code.push(instr(one));
        }
        Some(())
    }
}
