//! Lowering of one function: its statements, slots and frame.

use super::error::{Fault, LowerErrorKind, Lowered};
use super::labels::Fix;
use super::symbol::{Base, Place, Range, Reg, Sym};
use super::types::class_of;
use super::{Options, Program, SharedAddress, Unit, Value, initialise};
use crate::base::Span;
use crate::program::env::{FuncId, Init, Origin, Preload, SharedName, Slots};
use crate::program::fncode::FnCode;
use crate::program::instr::{Guard, Instr, Op, STACK_BASE, Slot};
use crate::program::ops::{AluOp, Class};
use crate::program::registers::Registers;
use crate::program::scope::{Scopes, SymbolId, labels};
use crate::program::select::Selected;
use crate::program::special::special;
use crate::program::types::{bits_of, lanes};
use crate::program::{flow, layout, link, origins};
use crate::ptx::Modifier;
use crate::ptx::tree::{self, Debugging, Function, Ident, Name, Prototype, Stmt, Variable};
use rustc_hash::FxHashMap;

/// The most slots of one class that a frame may have; above lie numbers that mean something else.
const MAX_SLOTS: u16 = 65_000;

/// How an instruction stands to the PTX instruction it comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Carries its name and its guard.
    Main,
    /// Does a part of its work, under its guard.
    Part,
    /// Writes temporaries only: no guard.
    Helper,
}

/// The state of lowering one function.
pub(super) struct FnLower<'a, 't> {
    pub(super) program: &'a mut Program,
    pub(super) unit: &'a Unit<'t>,
    pub(super) scope: &'a mut Scopes<Sym>,
    pub(super) tree: &'t Function,
    pub(super) id: FuncId,
    pub(super) inject: bool,
    pub(super) code: FnCode,
    /// Of the instruction being lowered.
    pub(super) guard: Option<Guard>,
    span: Span,
    /// Its types.
    pub(super) types: &'t [Modifier],
    /// The operation that it names.
    pub(super) selected: Option<Selected>,
    /// The number of the next instruction in its module.
    instruction: usize,
    loc: u32,
    /// Whether an instruction of the current PTX instruction carries its name already.
    named: bool,
    next: [u16; 3],
    temps: [Vec<Slot>; 3],
    /// How many temporaries of each class the instruction uses so far.
    pub(super) temps_used: [usize; 3],
    preloads: FxHashMap<(Class, Value), Slot>,
    /// The numbers of owners that the function names.
    pub(super) owners: FxHashMap<(Base, Name), u32>,
    /// Slots that hold addresses in them.
    pub(super) seeds: Vec<(Class, Slot, u32)>,
    /// Owners of requests that name them.
    pub(super) direct: FxHashMap<u32, u32>,
    pub(super) fixes: Vec<(u32, Fix)>,
    /// Where labels are, by their numbers.
    pub(super) labels: Vec<u32>,
    /// Labels by blocks, and how many blocks were opened.
    blocks: (Vec<Vec<Ident>>, usize),
    registers: Vec<(Name, Reg)>,
    /// Registers of ranges that were used.
    elements: FxHashMap<(SymbolId, Name), Reg>,
    /// The carry flag of the extended-precision instructions.
    carry: Option<Slot>,
    /// `.callprototype`s.
    pub(super) prototypes: Vec<&'t Prototype>,
    /// `.branchtargets` and `.calltargets`: their names, and the numbers of those that are labels.
    pub(super) targets: Vec<(&'t [Ident], Vec<u32>)>,
    /// End of the frame's used part, and its largest value so far.
    frame: u32,
    frame_max: u32,
    /// For each open block: the frame's end at its `{`.
    frames: Vec<u32>,
    /// Register parameters: what to load at the start, what to store at each return.
    register_params: Vec<(Reg, u32, u8)>,
    pub(super) register_returns: Vec<(Reg, u32, u8)>,
    /// The variables of its stack frame that it declares.
    pub(super) locals: Vec<SharedName>,
}

/// The name of a slot class as an index.
pub(super) const fn file(class: Class) -> usize {
    match class {
        Class::W => 0,
        Class::Q => 1,
        Class::P => 2,
    }
}

/// Lowers a function's body and appends it to the program.
pub(super) fn lower<'t>(
    program: &mut Program,
    unit: &Unit<'t>,
    scope: &mut Scopes<Sym>,
    (tree, id, instruction): (&'t Function, FuncId, usize),
    options: &Options,
) {
    let Some(body) = &tree.body else { return };
    scope.clear();
    scope.open();
    let frame = match program.env.function(id) {
        Some(f) if !f.entry => f.frame_bytes,
        _ => program.local_bytes,
    };
    let mut cx = FnLower {
        program,
        unit,
        scope,
        tree,
        id,
        inject: options.inject,
        code: FnCode::default(),
        guard: None,
        span: tree.span,
        types: &[],
        selected: None,
        instruction,
        loc: u32::MAX,
        named: true,
        next: [2, 0, 0],
        temps: Default::default(),
        temps_used: [0; 3],
        preloads: FxHashMap::default(),
        owners: FxHashMap::default(),
        seeds: Vec::new(),
        direct: FxHashMap::default(),
        fixes: Vec::new(),
        labels: Vec::new(),
        blocks: (labels(body), 0),
        registers: Vec::new(),
        elements: FxHashMap::default(),
        carry: None,
        prototypes: Vec::new(),
        targets: Vec::new(),
        frame,
        frame_max: frame,
        frames: Vec::new(),
        register_params: Vec::new(),
        register_returns: Vec::new(),
        locals: Vec::new(),
    };
    cx.code.code.reserve(body.len());
    cx.code.origin.reserve(body.len());
    if let Err(fault) = cx.parameters() {
        cx.complain(fault);
    }
    cx.declare_labels();
    for stmt in body {
        if let Err(fault) = cx.statement(stmt) {
            cx.complain(fault);
        }
    }
    cx.finish();
}

impl<'t> FnLower<'_, 't> {
    pub(super) fn complain(&mut self, (kind, span): Fault) {
        self.program.complain(self.unit.file, kind, span);
    }

    /// Declares the parameters. Those that are registers are loaded from the frame first.
    fn parameters(&mut self) -> Lowered<()> {
        let params = self.program.env.function(self.id).map(|f| f.params.clone()).unwrap_or_default();
        let mut params = params.iter();
        let tree = self.tree;
        for (list, returns) in [(&tree.returns, true), (&tree.params, false)] {
            for variable in list {
                for declarator in &variable.declarators {
                    let Some(param) = params.next() else { continue };
                    if layout::is_register(variable) {
                        let reg = self.new_register(variable, declarator.ident)?;
                        let bytes = u8::try_from(param.bytes.min(16)).unwrap_or(16);
                        self.name(declarator.ident, Sym::Reg(reg));
                        let registers = if returns { &mut self.register_returns } else { &mut self.register_params };
                        registers.push((reg, param.offset, bytes));
                        continue;
                    }
                    let base = if tree.entry { Base::Param(param.offset) } else { Base::Frame(param.offset) };
                    let element = layout::element_bytes(variable);
                    let place = Place { base, bytes: param.bytes, element, align: param.align, constant: false };
                    self.name(declarator.ident, Sym::Place(place));
                }
            }
        }
        self.named = true;
        for (reg, offset, bytes) in std::mem::take(&mut self.register_params) {
            self.frame_to_register(reg, offset, bytes, STACK_BASE, Role::Helper)?;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &'t Stmt) -> Lowered<()> {
        match stmt {
            Stmt::Instr(instr) => {
                self.instruction(instr);
                Ok(())
            }
            Stmt::Label(ident) => {
                let (at, label) = (self.here(), self.label(*ident)?);
                self.labels[label as usize] = at;
                Ok(())
            }
            Stmt::Variable(variable) => self.declare(variable),
            Stmt::Open(_) => {
                self.scope.open();
                self.declare_labels();
                self.frames.push(self.frame);
                Ok(())
            }
            Stmt::Close(span) => {
                self.frame = self.frames.pop().ok_or((LowerErrorKind::Unbalanced, *span))?;
                self.scope.close();
                Ok(())
            }
            Stmt::Prototype(prototype) => {
                let index = u32::try_from(self.prototypes.len()).unwrap_or(u32::MAX);
                self.name(prototype.ident, Sym::Prototype(index));
                self.prototypes.push(prototype);
                Ok(())
            }
            Stmt::Targets { ident, targets, .. } => {
                let index = u32::try_from(self.targets.len()).unwrap_or(u32::MAX);
                let labels = targets.iter().filter_map(|target| self.label(*target).ok()).collect();
                self.name(*ident, Sym::Targets(index));
                self.targets.push((targets, labels));
                Ok(())
            }
            Stmt::Debug(debug) => {
                match &**debug {
                    Debugging::Loc(loc) => {
                        self.loc = u32::try_from(self.program.env.locs.len()).unwrap_or(u32::MAX);
                        self.program.env.locs.push(*loc);
                    }
                    Debugging::File { index, path, .. } => {
                        self.program.env.files.insert((self.unit.file.0, *index), path.clone());
                    }
                    _ => {}
                }
                Ok(())
            }
        }
    }

    /// An instruction. Where it cannot be understood, an unsupported one takes its place.
    fn instruction(&mut self, instr: &'t tree::Instr) {
        self.span = instr.span;
        self.temps_used = [0; 3];
        self.guard = None;
        self.named = false;
        let typed = self.unit.checked.typed(self.instruction);
        self.instruction = self.instruction.saturating_add(1);
        self.types = typed.map_or(&[], |typed| &typed.types);
        self.selected = typed.and_then(|typed| typed.selected);
        let lowered = match &instr.guard {
            Some(guard) => match self.register(guard.pred) {
                Ok(reg) if reg.class == Class::P => {
                    self.guard = Some(Guard { pred: reg.slot, negated: guard.negated });
                    self.dispatch(instr)
                }
                Ok(_) => super::error::operand("a predicate register as its guard", guard.pred.span),
                Err(fault) => Err(fault),
            },
            None => self.dispatch(instr),
        };
        if let Err(fault) = lowered {
            self.complain(fault);
            self.named = false;
            self.unsupported(instr);
        }
    }

    /// An instruction that parses but cannot be executed.
    pub(super) fn unsupported(&mut self, instr: &tree::Instr) {
        let names = self.unit.names();
        let mut text = instr.opcode.text(names).to_owned();
        for word in &instr.mods {
            text.push('.');
            text.push_str(word.text(names));
        }
        let next = u32::try_from(self.program.env.unsupported.len()).unwrap_or(u32::MAX);
        let imm = *self.program.unsupported.entry(text).or_insert_with_key(|text| {
            self.program.env.unsupported.push(text.clone());
            next
        });
        self.emit(Role::Main, Instr { imm, ..Instr::new(Op::Unsupported) });
    }

    /// Index of the next instruction.
    pub(super) fn here(&self) -> u32 {
        u32::try_from(self.code.code.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn emit(&mut self, role: Role, instr: Instr) {
        let guard = if role == Role::Helper { None } else { self.guard };
        let hidden = role != Role::Main || self.named;
        self.named |= role == Role::Main;
        self.code.code.push(Instr { guard, ..instr });
        let origin = Origin { file: self.unit.file, span: self.span, loc: self.loc, function: self.id, hidden };
        self.code.origin.push(origin);
    }

    /// A data operation with its sources in order. A mode is ignored where the operation has none.
    pub(super) fn alu(&mut self, role: Role, op: impl Into<AluOp>, d: Slot, sources: &[Slot], mode: u32) {
        let op = match op.into() {
            AluOp::Int(op) => Op::Int(op),
            AluOp::Float(op) => Op::Float(op),
        };
        let source = |i: usize| sources.get(i).copied().unwrap_or_default();
        let instr = Instr { a: source(0), b: source(1), c: source(2), e: source(3), d, imm: mode, ..Instr::new(op) };
        self.emit(role, instr);
    }

    /// A new slot, or the first of several consecutive ones.
    pub(super) fn slots(&mut self, class: Class, count: u16) -> Lowered<Slot> {
        let next = &mut self.next[file(class)];
        let slot = *next;
        match next.checked_add(count).filter(|n| *n <= MAX_SLOTS) {
            Some(after) => *next = after,
            None => return Err((LowerErrorKind::TooManyRegisters, self.span)),
        }
        Ok(Slot(slot))
    }

    /// A temporary of the current instruction.
    pub(super) fn temp(&mut self, class: Class) -> Lowered<Slot> {
        let i = file(class);
        let used = self.temps_used[i];
        self.temps_used[i] += 1;
        if let Some(slot) = self.temps[i].get(used) {
            return Ok(*slot);
        }
        let slot = self.slots(class, 1)?;
        self.temps[i].push(slot);
        Ok(slot)
    }

    /// The carry flag: one predicate per function.
    pub(super) fn carry(&mut self) -> Lowered<Slot> {
        if let Some(slot) = self.carry {
            return Ok(slot);
        }
        let slot = self.slots(Class::P, 1)?;
        self.carry = Some(slot);
        Ok(slot)
    }

    /// The slot that holds a value from the function's entry on.
    pub(super) fn preload(&mut self, class: Class, value: Value) -> Lowered<Slot> {
        if let Some(slot) = self.preloads.get(&(class, value)) {
            return Ok(*slot);
        }
        let slot = self.slots(class, 1)?;
        let init = match value {
            Value::Init(init) => init,
            Value::Shared(variable, offset) => {
                let at = SharedAddress { function: self.id, preload: self.code.preloads.len(), variable, offset };
                self.program.shared_addresses.push(at);
                Init::Const(0)
            }
        };
        self.code.preloads.push(Preload { class, slot, init });
        self.preloads.insert((class, value), slot);
        Ok(slot)
    }

    /// A constant's slot.
    pub(super) fn constant(&mut self, class: Class, bits: u64) -> Lowered<Slot> {
        self.preload(class, Value::Init(Init::Const(bits)))
    }

    /// Slots for a declared register.
    fn new_register(&mut self, variable: &Variable, ident: Ident) -> Lowered<Reg> {
        let bits = bits_of(variable.ty)
            .ok_or(())
            .or_else(|()| super::error::operand("a type that registers can have", variable.span))?;
        self.allocate(ident.name, u8::try_from(bits).unwrap_or(128), lanes(variable.vector))
    }

    fn allocate(&mut self, name: Name, bits: u8, lanes: u8) -> Lowered<Reg> {
        let class = class_of(u32::from(bits));
        let each = if bits == 128 { 2 } else { 1 };
        let slot = self.slots(class, each * u16::from(lanes))?;
        let reg = Reg { slot, class, bits, lanes };
        self.registers.push((name, reg));
        Ok(reg)
    }

    fn declare(&mut self, variable: &'t Variable) -> Lowered<()> {
        match variable.space {
            tree::StateSpace::Reg => self.declare_registers(variable),
            tree::StateSpace::Local | tree::StateSpace::Param => {
                for declarator in &variable.declarators {
                    let size = layout::extent(variable, declarator)?;
                    let too_large = (LowerErrorKind::TooLarge, declarator.ident.span);
                    let bytes = u32::try_from(size.bytes).map_err(|_| too_large.clone())?;
                    let offset = layout::align_up(self.frame, size.align).ok_or_else(|| too_large.clone())?;
                    self.frame = offset.checked_add(bytes).ok_or(too_large)?;
                    self.frame_max = self.frame_max.max(self.frame);
                    if variable.space == tree::StateSpace::Local {
                        // An address of it may be used after its block, so its bytes are not given away.
                        for end in &mut self.frames {
                            *end = (*end).max(self.frame);
                        }
                    }
                    let base = Base::Frame(offset);
                    let name = self.unit.names().text(declarator.ident.name).to_owned();
                    self.locals.push(SharedName { name, offset, bytes });
                    let place = Place { base, bytes, element: size.element, align: size.align, constant: false };
                    self.name(declarator.ident, Sym::Place(place));
                }
                Ok(())
            }
            _ => {
                for declarator in &variable.declarators {
                    let size = layout::extent(variable, declarator)?;
                    let name = self.unit.names().text(declarator.ident.name);
                    let place = link::place(self.program, self.unit.file, variable, declarator, name, size)?;
                    self.name(declarator.ident, Sym::Place(place));
                    if let Base::Variable(index) = place.base {
                        initialise(self.program, self.unit, variable, declarator, index);
                    }
                }
                Ok(())
            }
        }
    }

    fn declare_registers(&mut self, variable: &Variable) -> Lowered<()> {
        let lanes = lanes(variable.vector);
        let bits = bits_of(variable.ty)
            .ok_or(())
            .or_else(|()| super::error::operand("a type that registers can have", variable.span))?;
        let bits = u8::try_from(bits).unwrap_or(128);
        for declarator in &variable.declarators {
            let sym = match declarator.range {
                None => Sym::Reg(self.allocate(declarator.ident.name, bits, lanes)?),
                Some(count) => Sym::Range(Range { count, bits, lanes }),
            };
            self.name(declarator.ident, sym);
        }
        Ok(())
    }

    /// Gives a name its meaning in the innermost block. What is declared twice there was complained about.
    fn name(&mut self, ident: Ident, sym: Sym) {
        let _ = self.scope.declare(self.unit.names(), ident.name, ident.span, sym);
    }

    /// What a name means here.
    pub(super) fn lookup(&mut self, name: Name) -> Lowered<Sym> {
        let names = self.unit.names();
        let Some(id) = self.scope.lookup_id(names, name) else {
            return Ok(match special(names.text(name)) {
                Some(special) => Sym::Special(special.reg),
                None => self.unit.globals.get(name.0 as usize).copied().unwrap_or(Sym::None),
            });
        };
        let Sym::Range(Range { bits, lanes, .. }) = self.scope.symbol(id).kind else {
            return Ok(self.scope.symbol(id).kind);
        };
        if let Some(reg) = self.elements.get(&(id, name)) {
            return Ok(Sym::Reg(*reg));
        }
        let reg = self.allocate(name, bits, lanes)?;
        self.elements.insert((id, name), reg);
        Ok(Sym::Reg(reg))
    }

    /// A register by name.
    pub(super) fn register(&mut self, ident: Ident) -> Lowered<Reg> {
        match self.lookup(ident.name)? {
            Sym::Reg(reg) => Ok(reg),
            Sym::None => Err(self.undeclared(ident.name, ident.span)),
            _ => super::error::operand("a register", ident.span),
        }
    }

    pub(super) fn undeclared(&self, name: Name, span: Span) -> Fault {
        (LowerErrorKind::Undeclared(self.unit.names().text(name).to_owned()), span)
    }

    /// Whether the function is an entry.
    pub(super) fn is_entry(&self) -> bool {
        self.tree.entry
    }

    /// Declares the labels of the block that begins.
    fn declare_labels(&mut self) {
        let labels = self.blocks.0.get_mut(self.blocks.1).map(std::mem::take).unwrap_or_default();
        self.blocks.1 += 1;
        for label in labels {
            let number = u32::try_from(self.labels.len()).unwrap_or(u32::MAX);
            self.labels.push(0);
            self.name(label, Sym::Label(number));
        }
    }

    /// Steps 5 to 7: the final return, injection, the slots' fixed places; then layout.
    fn finish(mut self) {
        while self.scope.depth() > 0 {
            self.scope.close();
        }
        self.resolve();
        let ends = match self.code.code.last() {
            Some(last) => last.guard.is_none() && matches!(last.op, Op::Ret | Op::Exit | Op::Bra | Op::Trap),
            None => false,
        };
        // A label at the end needs an instruction, too.
        let end = self.here();
        let named = self.code.code.iter().any(|i| matches!(i.op, Op::Bra | Op::PreRet) && i.imm == end)
            || self.code.tables.iter().flatten().any(|target| *target == end);
        if !ends || named {
            self.guard = None;
            self.span = self.tree.span;
            self.named = true;
            self.temps_used = [0; 3];
            if let Err(fault) = self.return_registers() {
                self.complain(fault);
            }
            let op = if self.is_entry() { Op::Exit } else { Op::Ret };
            self.emit(Role::Main, Instr::new(op));
        }
        let [w, q, p] = self.next;
        self.code.slots = Slots { w, q, p };
        origins::origins(&self.code, &self.program.env, &self.seeds, &mut self.direct);
        if self.inject {
            flow::inject(&mut self.code);
        }
        let undefined = flow::undefined_at_entry(&self.code, &self.program.env);
        let names = self.unit.names();
        let mut registers = Registers::default();
        for (name, reg) in &self.registers {
            let step = if reg.bits == 128 { 2 } else { 1 };
            for lane in 0..reg.lanes {
                let part = [".x", ".y", ".z", ".w", ".4", ".5", ".6", ".7"][usize::from(lane & 7)];
                let part = if reg.lanes == 1 { "" } else { part };
                registers.push(names.text(*name), part, reg.class, Slot(reg.slot.0 + u16::from(lane) * step));
            }
        }
        registers.shrink();
        self.code.preloads.shrink_to_fit();
        let frame = layout::align_up(self.frame_max, 16).unwrap_or(u32::MAX);
        let mut owners = origins::by_instruction(&self.code, &self.direct);
        let env = &mut self.program.env;
        env.owners.resize(env.code.len(), origins::NO_OBJECT);
        env.owners.append(&mut owners);
        layout::append(env, self.code, self.id);
        if let Some((_, f)) = self.program.env.functions.get_index_mut(self.id.0 as usize) {
            f.registers = registers;
            f.undefined = undefined;
            f.locals = self.locals;
            f.frame_bytes = frame;
        }
    }
}
