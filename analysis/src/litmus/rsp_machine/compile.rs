//! From the language to the assembly (section 5.4): each operation by its row of table 3, control flow as it is.

use crate::base::Span;
use crate::litmus::rsp::{Access, Expected, MemoryOrder, MemoryScope, Operation, Statement, Stmt, Test};
use crate::litmus::tree::{Arith, Atom, Ident, Relation, Value};
use crate::memory::rsp::{Function, Instruction, Location, Operand, Program, Register, Thread, TooBig, Update};
use crate::memory::rsp::{Kind, Row, Scheme, Step, Width};

/// What an event of the program is at the language's level, which the assembly does not know (section 6.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Made {
    /// By which operation.
    pub kind: Kind,
    /// The scope and whether it is remote; nothing for a plain access.
    pub atomic: Option<(MemoryScope, bool)>,
    /// Whether it acquires.
    pub acquires: bool,
    /// Whether it releases.
    pub releases: bool,
    /// Whether it acquires where it is an exchange that fails.
    pub failure_acquires: bool,
}

impl Made {
    fn of(kind: Kind, access: Access) -> Self {
        let (atomic, order) = match access {
            Access::Plain => (None, MemoryOrder::Relaxed),
            Access::Atomic { order, scope, remote } => (Some((scope, remote)), order),
        };
        let both = matches!(order, MemoryOrder::AcqRel | MemoryOrder::SeqCst);
        let acquires = kind != Kind::Store && (both || order == MemoryOrder::Acquire);
        let releases = kind != Kind::Load && (both || order == MemoryOrder::Release);
        Self { kind, atomic, acquires, releases, failure_acquires: acquires }
    }
}

/// A program for the machine and what its parts were.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// What each event is.
    pub events: Vec<Made>,
    /// The registers with names: the position of the thread in the test, and the name.
    pub registers: Vec<(usize, String, Register)>,
    /// Whether each location is atomic.
    pub atomic: Vec<bool>,
    /// The position in the test of each thread of the program.
    pub threads: Vec<usize>,
}

/// Why a program cannot be compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The machine has no room for it.
    TooBig(TooBig),
    /// The scheme has nothing for the scope.
    NoScope(MemoryScope, Span),
    /// A value that an `atomic_int` does not hold.
    Wide(i64, Span),
    /// An update that compares.
    Compares(Span),
}

impl From<TooBig> for Refused {
    fn from(big: TooBig) -> Self {
        Self::TooBig(big)
    }
}

const fn function(relation: Relation) -> Function {
    match relation {
        Relation::Eq => Function::Eq,
        Relation::Ne => Function::Ne,
        Relation::Lt => Function::Lt,
        Relation::Gt => Function::Gt,
        Relation::Le => Function::Le,
        Relation::Ge => Function::Ge,
    }
}

const fn arithmetic(op: Arith) -> Function {
    match op {
        Arith::Add => Function::Add,
        Arith::Sub => Function::Sub,
        Arith::Mul => Function::Mul,
        Arith::Div => Function::Div,
    }
}

const fn atomic(op: Atom) -> Option<Function> {
    Some(match op {
        Atom::Add => Function::Add,
        Atom::Sub => Function::Sub,
        Atom::Mul => Function::Mul,
        Atom::Div => Function::Div,
        Atom::And => Function::And,
        Atom::Or => Function::Or,
        Atom::Xor => Function::Xor,
        Atom::Exch => Function::Right,
        Atom::Cas | Atom::CasSuccess => return None,
    })
}

struct Compiler<'a> {
    scheme: &'a Scheme,
    test: &'a Test,
    events: Vec<Made>,
    registers: Vec<(usize, String, Register)>,
    used: usize,
    thread: usize,
    code: Vec<Instruction>,
}

/// Compiles a program by a scheme.
///
/// # Errors
/// Why it cannot be compiled.
pub fn compile(test: &Test, scheme: &Scheme) -> Result<Compiled, Refused> {
    let mut compiler =
        Compiler { scheme, test, events: Vec::new(), registers: Vec::new(), used: 0, thread: 0, code: Vec::new() };
    let mut initial = Vec::new();
    for location in &test.locations {
        let value = i32::try_from(location.initial);
        initial.push(value.map_err(|_| Refused::Wide(location.initial, location.name.span))?);
    }
    let (mut devices, mut threads, mut order) = (Vec::new(), Vec::new(), Vec::new());
    for (device, groups) in (0_u8..).zip(test.lists()) {
        for members in groups {
            let group = u8::try_from(devices.len()).unwrap_or(u8::MAX);
            devices.push(device);
            for member in members {
                compiler.thread = member;
                compiler.statements(&test.threads[member].code)?;
                threads.push(Thread { group, code: std::mem::take(&mut compiler.code) });
                order.push(member);
            }
        }
    }
    let atomic = test.locations.iter().map(|l| l.atomic).collect();
    let Compiler { events, registers, used, .. } = compiler;
    let program = Program::new(devices, threads, initial, used)?;
    Ok(Compiled { program, events, registers, atomic, threads: order })
}

impl Compiler<'_> {
    fn fresh(&mut self) -> Register {
        self.used += 1;
        Register(u8::try_from(self.used - 1).unwrap_or(u8::MAX))
    }

    fn register(&mut self, name: &Ident) -> Register {
        let known = self.registers.iter().find(|(thread, n, _)| *thread == self.thread && *n == name.name);
        if let Some((_, _, register)) = known {
            return *register;
        }
        let register = self.fresh();
        self.registers.push((self.thread, name.name.clone(), register));
        register
    }

    fn operand(&mut self, value: &Value) -> Result<Operand, Refused> {
        Ok(match value {
            Value::Number(n, span) => Operand::Number(i32::try_from(*n).map_err(|_| Refused::Wide(*n, *span))?),
            Value::Register(name) => Operand::Register(self.register(name)),
        })
    }

    fn location(&self, name: &Ident) -> Location {
        let at = self.test.locations.iter().position(|l| l.name.name == name.name);
        Location(at.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX))
    }

    fn statements(&mut self, code: &[Stmt]) -> Result<(), Refused> {
        code.iter().try_for_each(|statement| self.statement(&statement.kind, statement.span))
    }

    fn statement(&mut self, statement: &Statement, span: Span) -> Result<(), Refused> {
        match statement {
            Statement::Load { access, to, from } => {
                let instruction = Instruction::Load(self.register(to), self.location(from));
                self.operation(Made::of(Kind::Load, *access), *access, instruction, span)
            }
            Statement::Store { access, at, value } => {
                let instruction = Instruction::Store(self.operand(value)?, self.location(at));
                self.operation(Made::of(Kind::Store, *access), *access, instruction, span)
            }
            Statement::Update { access, op, to, at, value } => {
                let update = match (op, self.operand(value)?) {
                    (Atom::Add, Operand::Number(1)) => Update::Increment,
                    (op, operand) => Update::Apply(atomic(*op).ok_or(Refused::Compares(span))?, operand),
                };
                let to = if let Some(to) = to { self.register(to) } else { self.fresh() };
                let level = Width::from(*access).level();
                let instruction = Instruction::Update(level, update, to, self.location(at));
                self.operation(Made::of(Kind::Update, *access), *access, instruction, span)
            }
            Statement::CompareExchange { .. } => self.exchange(statement, span),
            Statement::Assign { to, value } => {
                let value = self.operand(value)?;
                let to = self.register(to);
                self.code.push(Instruction::Compute(Function::Right, to, value, value));
                Ok(())
            }
            Statement::Compute { op, to, left, right } => {
                let function = match op {
                    Operation::Arith(op) => arithmetic(*op),
                    Operation::Is(relation) => function(*relation),
                };
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                let to = self.register(to);
                self.code.push(Instruction::Compute(function, to, left, right));
                Ok(())
            }
            Statement::If { relation, left, right, then, otherwise } => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                let holds = self.fresh();
                self.code.push(Instruction::Compute(function(*relation), holds, left, right));
                let skip = self.reserve();
                self.statements(then)?;
                let end = (!otherwise.is_empty()).then(|| self.reserve());
                self.code[skip] = Instruction::SkipUnless(Operand::Register(holds), self.here());
                self.statements(otherwise)?;
                if let Some(end) = end {
                    self.code[end] = Instruction::Skip(self.here());
                }
                Ok(())
            }
        }
    }

    /// A place for a skip whose target is not known yet.
    fn reserve(&mut self) -> usize {
        self.code.push(Instruction::Skip(0));
        self.code.len() - 1
    }

    fn here(&self) -> u8 {
        u8::try_from(self.code.len()).unwrap_or(u8::MAX)
    }

    /// A compare-exchange: as an update of its width (D-rsp-update). What it expects is loaded before; the result is 1 or 0.
    fn exchange(&mut self, statement: &Statement, span: Span) -> Result<(), Refused> {
        let Statement::CompareExchange { access, failure, to, at, expected, new } = statement else { return Ok(()) };
        let expected = match expected {
            Expected::Value(value) => self.operand(value)?,
            Expected::At(name) => {
                let (to, from) = (self.fresh(), self.location(name));
                self.operation(Made::of(Kind::Load, Access::Plain), Access::Plain, Instruction::Load(to, from), span)?;
                Operand::Register(to)
            }
        };
        let (new, found) = (self.operand(new)?, self.fresh());
        let update = Update::Exchange(expected, new);
        let instruction = Instruction::Update(Width::from(*access).level(), update, found, self.location(at));
        let acquires = matches!(failure, MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst);
        let made = Made { failure_acquires: acquires, ..Made::of(Kind::Update, *access) };
        self.operation(made, *access, instruction, span)?;
        if let Some(to) = to {
            let to = self.register(to);
            self.code.push(Instruction::Compute(Function::Eq, to, Operand::Register(found), expected));
        }
        Ok(())
    }

    /// An operation by its row.
    fn operation(&mut self, made: Made, access: Access, own: Instruction, span: Span) -> Result<(), Refused> {
        let row = Row { kind: made.kind, width: Width::from(access) };
        let Some(steps) = self.scheme.row(row) else {
            let scope = made.atomic.map_or(MemoryScope::All, |(scope, _)| scope);
            return Err(Refused::NoScope(scope, span));
        };
        let at = own.accesses().unwrap_or(Location(0));
        for step in steps {
            self.code.push(match *step {
                Step::Access => own,
                Step::Flush(level, reach) => Instruction::Flush(level, reach),
                Step::Invalidate(level, reach) => Instruction::Invalidate(level, reach),
                Step::Lock => Instruction::Lock(at),
                Step::Unlock => Instruction::Unlock(at),
                Step::LockRmw(reach) => Instruction::LockRmw(reach),
                Step::UnlockRmw(reach) => Instruction::UnlockRmw(reach),
            });
        }
        self.events.push(made);
        Ok(())
    }
}
