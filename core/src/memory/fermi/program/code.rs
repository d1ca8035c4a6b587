//! A memory program, ready to run: its statements laid out as a list, so that a position is a number.

use super::OpKey;
use super::tree::{BExp, OpExp};
use crate::base::Span;
use serde::{Deserialize, Serialize};
use std::fmt;

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
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Program {
    pub(super) file: String,
    /// The operations that it serves, each with the place of its name.
    pub(super) serves: Vec<(OpKey, Span)>,
    /// The word `program` and the names after it.
    pub(super) head: Span,
    pub(super) code: Vec<Instr>,
    pub(super) conds: Vec<BExp>,
}

impl fmt::Debug for Program {
    /// What decides about runs: schedules say by a hash of it what they were made with, so that it stays as it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let serves: Vec<OpKey> = self.serves().collect();
        f.debug_struct("Program")
            .field("name", &self.name())
            .field("file", &self.file)
            .field("serves", &serves)
            .field("code", &self.code)
            .field("conds", &self.conds)
            .finish()
    }
}

impl Program {
    /// The first operation that it serves, by which messages name it.
    #[must_use]
    pub fn name(&self) -> String {
        self.serves().next().map(|key| key.name()).unwrap_or_default()
    }

    /// The file that it stands in.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The operations that it serves.
    pub fn serves(&self) -> impl Iterator<Item = OpKey> {
        self.serves.iter().map(|(key, _)| *key)
    }

    /// Appends an instruction, whose place in the text is not known yet; gives its number.
    pub(super) fn push(&mut self, code: Code) -> usize {
        self.code.push(Instr { code, span: Span::default(), line: 0, follows: false, implied: false });
        self.code.len() - 1
    }

    /// The position of the next instruction. A program that has more than a position can number is not run.
    pub(super) fn end(&self) -> u16 {
        u16::try_from(self.code.len()).unwrap_or(u16::MAX)
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

    /// Whether it makes bytes invalid in other multiprocessors' L1 caches.
    #[must_use]
    pub fn invalidates_others(&self) -> bool {
        self.code.iter().any(|i| i.code == Code::Op(OpExp::InvalidateOthersL1))
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
}
