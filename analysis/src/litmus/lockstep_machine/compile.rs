//! From rows to the machine's program.
//!
//! The machine stores one of fifteen values other than 0, with which all locations begin. They are numbers for the values that the test
//! stores, and 0 is what a location begins with.

use crate::base::Span;
use crate::litmus::lockstep::{self, Cell, Column, LOCATION, Spot};
use crate::litmus::tree::{Atom, DeclKind, Ident, Initial, Litmus, Value};
use crate::memory::lockstep::{Access, Instruction, Op, Program, Source, TooBig};

/// Who executes instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Agent {
    /// A wavefront by its number.
    Wavefront(u32),
    /// A thread of a CPU by its number.
    Cpu(u32),
}

/// A register that the program writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Written {
    /// The column, by its position in the test.
    pub column: usize,
    /// Its name there.
    pub name: String,
    /// The machine's location that it is loaded from.
    pub from: u8,
}

/// A program for the machine, with what its parts were.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Its agents: wavefronts first, as the machine has them.
    pub agents: Vec<Agent>,
    /// The machine's locations: those that are accessed. Their mutexes have the same numbers.
    pub locations: Vec<String>,
    /// The machine's registers, one for each access that reads, in program order of each column.
    pub(super) written: Vec<Written>,
    /// The values that the machine's are the numbers of, from 1.
    pub(super) values: Vec<i64>,
    /// What the locations that are declared begin with.
    pub(super) initial: Vec<(String, i64)>,
    /// The same of registers, each with the position of its column.
    pub(super) given: Vec<(usize, String, i64)>,
}

/// Why a test cannot be compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// A block: the machine's programs are straight.
    Block(Span),
    /// An access to a part of a location.
    Part(Span),
    /// What a register has is stored.
    Stored(Span),
    /// Arithmetic, or a move.
    Computes(Span),
    /// An atomic operation that is no exchange.
    Atomic(Span),
    /// A declaration that names another location.
    Declared(Span),
    /// The machine has no room for this instruction.
    TooBig(TooBig, Span),
}

struct Compiler {
    source: Source,
    locations: Vec<String>,
    written: Vec<Written>,
    values: Vec<i64>,
}

/// A number of the machine's; one that is too large is above all its limits.
fn number(n: usize) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

impl Compiler {
    /// A location, as the machine has it.
    fn location(&mut self, spot: &Spot, span: Span) -> Result<u8, Refused> {
        if spot.offset != 0 || spot.size.bytes() != LOCATION {
            return Err(Refused::Part(span));
        }
        let known = self.locations.iter().position(|name| *name == spot.location.name);
        let at = known.unwrap_or_else(|| {
            self.source.lines.push(self.locations.len() as u64);
            self.locations.push(spot.location.name.clone());
            self.source.pool = number(self.locations.len()).into();
            self.locations.len() - 1
        });
        Ok(number(at))
    }

    /// A value that is stored, as the machine has it.
    fn value(&mut self, value: &Value, span: Span) -> Result<u8, Refused> {
        let Value::Number(n, _) = value else { return Err(Refused::Stored(span)) };
        let at = self.values.iter().position(|known| known == n).unwrap_or_else(|| {
            self.values.push(*n);
            self.values.len() - 1
        });
        Ok(number(at + 1))
    }

    /// A register of the machine for what an access reads. Each has its own, since exchanges read late.
    fn register(&mut self, column: usize, to: &Ident, from: u8) -> u8 {
        self.written.push(Written { column, name: to.name.clone(), from });
        number(self.written.len() - 1)
    }

    fn access(&mut self, column: usize, cell: &Cell) -> Result<(Op, Access), Refused> {
        let span = cell.span;
        match &cell.kind {
            lockstep::Op::Load { to, from } => {
                let at = self.location(from, span)?;
                Ok((Op::Load, Access { at, to: self.register(column, to, at), value: 0 }))
            }
            lockstep::Op::Store { to, value } => {
                let at = self.location(to, span)?;
                Ok((Op::Store, Access { at, to: 0, value: self.value(value, span)? }))
            }
            lockstep::Op::Atomic { op: Atom::Exch, to, at, value, .. } => {
                let at = self.location(at, span)?;
                let value = self.value(value, span)?;
                Ok((Op::Exchange, Access { at, to: self.register(column, to, at), value }))
            }
            lockstep::Op::Atomic { .. } => Err(Refused::Atomic(span)),
            lockstep::Op::Move { .. } | lockstep::Op::Compute { .. } => Err(Refused::Computes(span)),
            lockstep::Op::If(_) | lockstep::Op::While(_) | lockstep::Op::End => Err(Refused::Block(span)),
        }
    }

    /// The instruction of a row, of columns in lockstep.
    fn instruction(&mut self, columns: &[usize], cells: &[(usize, &Cell)]) -> Result<Instruction, Refused> {
        let (mut op, mut lanes) = (Op::Load, Vec::new());
        for (lane, cell) in cells {
            let (does, access) = self.access(columns[*lane], cell)?;
            op = does;
            lanes.push(access);
        }
        Ok(Instruction { op, lanes })
    }
}

/// The numbers that locations and registers begin with.
type Begins = (Vec<(String, i64)>, Vec<(usize, String, i64)>);

fn begins(litmus: &Litmus) -> Result<Begins, Refused> {
    let (mut locations, mut registers) = (Vec::new(), Vec::new());
    for decl in &litmus.init {
        match &decl.kind {
            DeclKind::Location { name, value: Initial::Number(n) } => locations.push((name.name.clone(), *n)),
            DeclKind::Register { thread, name, value: Initial::Number(n), .. } => {
                registers.extend(litmus.thread(*thread).map(|column| (column, name.name.clone(), *n)));
            }
            _ => return Err(Refused::Declared(decl.span)),
        }
    }
    Ok((locations, registers))
}

/// Compiles a test without errors.
pub fn compile(litmus: &Litmus, test: &lockstep::Program) -> Result<Compiled, Refused> {
    let (initial, given) = begins(litmus)?;
    let source = Source { pool: 1, ..Source::default() };
    let mut compiler = Compiler { source, locations: Vec::new(), written: Vec::new(), values: Vec::new() };
    let (mut waves, mut cpus) = (Vec::new(), Vec::new());
    let mut program = Program::new(&compiler.source).map_err(|big| Refused::TooBig(big, Span::default()))?;
    for columns in test.waves() {
        let Some((column, _)) = columns.first().and_then(|first| test.columns.get(*first)) else { continue };
        let mut begun = false;
        for (_, cells) in test.rows_of(&columns) {
            let instruction = compiler.instruction(&columns, &cells)?;
            let source = &mut compiler.source;
            let (codes, agents, agent) = match *column {
                Column::Lane { wave, .. } => (&mut source.waves, &mut waves, Agent::Wavefront(wave)),
                Column::Cpu(cpu) => (&mut source.cpus, &mut cpus, Agent::Cpu(cpu)),
            };
            if !std::mem::replace(&mut begun, true) {
                codes.push(Vec::new());
                agents.push(agent);
            }
            if let Some(code) = codes.last_mut() {
                code.push(instruction);
            }
            // One instruction after the other, to know which of them is too many.
            let span = cells.first().map_or(Span::default(), |(_, cell)| cell.span);
            program = Program::new(&compiler.source).map_err(|big| Refused::TooBig(big, span))?;
        }
    }
    waves.append(&mut cpus);
    let Compiler { locations, written, values, .. } = compiler;
    Ok(Compiled { program, agents: waves, locations, written, values, initial, given })
}
