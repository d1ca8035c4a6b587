//! Lowering of one function: its statements, slots and frame.

use super::error::LowerErrorKind;
use super::symbol::{Base, Fix, Place, Range, Reg, Sym};
use super::types::class_of;
use super::{Options, Program, Unit, initialise};
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
use crate::ptx::tree::{self, Debugging, Declarator, Function, Ident, Name, Prototype, REMOTE, Stmt, Variable};
use rustc_hash::FxHashMap;

/// The most slots of one class that a frame may have; above lie numbers that mean something else.
const MAX_SLOTS: u16 = 65_000;

/// How an instruction stands to the PTX instruction it comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Carries its name, the first one of several, and has its guard.
    Main,
    /// Does a part of its work before or after that, under its guard.
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
    /// Whether the next instruction is marked as remote (D-rsp-ptx-remote).
    pub(super) remote: bool,
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
    pub(super) named: bool,
    next: [u16; 3],
    temps: [Vec<Slot>; 3],
    /// How many temporaries of each class the instruction uses so far.
    pub(super) temps_used: [usize; 3],
    preloads: FxHashMap<(Class, Init), Slot>,
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
    /// Return parameters that are registers: what to store at each return.
    pub(super) register_returns: Vec<(Reg, u32, u8)>,
    /// The variables of its stack frame that it declares.
    pub(super) locals: Vec<SharedName>,
}

/// Bits and lanes of a register that is declared.
fn shape(variable: &Variable) -> (u8, u8) {
    let bits = bits_of(variable.ty).and_then(|bits| u8::try_from(bits).ok());
    (bits.unwrap_or(128), lanes(variable.vector))
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
        remote: false,
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
        register_returns: Vec::new(),
        locals: Vec::new(),
    };
    cx.code.code.reserve(body.len());
    cx.code.origin.reserve(body.len());
    cx.parameters();
    cx.declare_labels();
    for stmt in body {
        cx.statement(stmt);
    }
    cx.finish();
}

impl<'t> FnLower<'_, 't> {
    fn complain(&mut self, kind: LowerErrorKind, span: Span) {
        self.program.complain(self.unit.file, kind, span);
    }

    /// Declares the parameters. Those that are registers are loaded from the frame first.
    fn parameters(&mut self) -> Option<()> {
        let params = self.program.env.function(self.id).map(|f| f.params.clone()).unwrap_or_default();
        let mut params = params.iter();
        let tree = self.tree;
        let mut loads = Vec::new();
        for (list, returns) in [(&tree.returns, true), (&tree.params, false)] {
            for variable in list {
                for declarator in &variable.declarators {
                    let Some(param) = params.next() else { continue };
                    if layout::is_register(variable) {
                        let (bits, lanes) = shape(variable);
                        let reg = self.allocate(declarator.ident.name, bits, lanes)?;
                        let bytes = u8::try_from(param.bytes.min(16)).unwrap_or(16);
                        self.name(declarator.ident, Sym::Reg(reg));
                        let registers = if returns { &mut self.register_returns } else { &mut loads };
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
        loads
            .into_iter()
            .try_for_each(|(reg, offset, bytes)| self.frame_to_register(reg, offset, bytes, STACK_BASE, Role::Helper))
    }

    fn statement(&mut self, stmt: &'t Stmt) {
        match stmt {
            Stmt::Instr(instr) => {
                self.instruction(instr);
                self.remote = false;
            }
            Stmt::Label(ident) => {
                let at = self.here();
                if let Some(label) = self.label(ident.name) {
                    self.labels[label as usize] = at;
                }
            }
            Stmt::Variable(variable) => self.declare(variable),
            Stmt::Open => {
                self.scope.open();
                self.declare_labels();
                self.frames.push(self.frame);
            }
            Stmt::Close => {
                if let Some(frame) = self.frames.pop() {
                    self.frame = frame;
                    self.scope.close();
                }
            }
            Stmt::Prototype(prototype) => {
                let index = u32::try_from(self.prototypes.len()).unwrap_or(u32::MAX);
                self.name(prototype.ident, Sym::Prototype(index));
                self.prototypes.push(prototype);
            }
            Stmt::Targets { ident, targets, .. } => {
                let index = u32::try_from(self.targets.len()).unwrap_or(u32::MAX);
                let labels = targets.iter().filter_map(|target| self.label(target.name)).collect();
                self.name(*ident, Sym::Targets(index));
                self.targets.push((targets, labels));
            }
            Stmt::Debug(debug) => match &**debug {
                Debugging::Loc(loc) => {
                    self.loc = u32::try_from(self.program.env.locs.len()).unwrap_or(u32::MAX);
                    self.program.env.locs.push(*loc);
                }
                Debugging::Pragma { texts, .. } => self.remote |= texts.iter().any(|text| text == REMOTE),
                Debugging::File { index, path, .. } => {
                    self.program.env.files.insert((self.unit.file.0, *index), path.clone());
                }
                _ => {}
            },
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
        if self.guarded(instr).is_none() {
            self.named = false;
            self.unsupported(instr);
        }
    }

    fn guarded(&mut self, instr: &'t tree::Instr) -> Option<()> {
        if let Some(guard) = &instr.guard {
            let reg = self.register(guard.pred.name).filter(|reg| reg.class == Class::P)?;
            self.guard = Some(Guard { pred: reg.slot, negated: guard.negated });
        }
        self.dispatch(instr)
    }

    /// An instruction that parses but cannot be executed.
    fn unsupported(&mut self, instr: &tree::Instr) {
        let names = self.unit.names();
        let mut text = instr.opcode.text(names).to_owned();
        for word in &instr.mods {
            text.push('.');
            text.push_str(word.text(names));
        }
        let (at, _) = self.program.env.unsupported.insert_full(text);
        let imm = u32::try_from(at).unwrap_or(u32::MAX);
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
    pub(super) fn alu(&mut self, role: Role, op: impl Into<Selected>, d: Slot, sources: &[Slot]) {
        let Selected { op, mode } = op.into();
        let op = match op {
            AluOp::Int(op) => Op::Int(op),
            AluOp::Float(op) => Op::Float(op),
        };
        let source = |i: usize| sources.get(i).copied().unwrap_or_default();
        let instr = Instr { a: source(0), b: source(1), c: source(2), e: source(3), d, imm: mode, ..Instr::new(op) };
        self.emit(role, instr);
    }

    /// A new slot, or the first of several consecutive ones.
    pub(super) fn slots(&mut self, class: Class, count: u16) -> Option<Slot> {
        let next = &mut self.next[class as usize];
        let slot = *next;
        let Some(after) = next.checked_add(count).filter(|n| *n <= MAX_SLOTS) else {
            self.complain(LowerErrorKind::TooManyRegisters, self.span);
            return None;
        };
        *next = after;
        Some(Slot(slot))
    }

    /// A temporary of the current instruction.
    pub(super) fn temp(&mut self, class: Class) -> Option<Slot> {
        let i = class as usize;
        let used = self.temps_used[i];
        self.temps_used[i] += 1;
        if let Some(slot) = self.temps[i].get(used) {
            return Some(*slot);
        }
        let slot = self.slots(class, 1)?;
        self.temps[i].push(slot);
        Some(slot)
    }

    /// The carry flag: one predicate per function.
    pub(super) fn carry(&mut self) -> Option<Slot> {
        if self.carry.is_none() {
            self.carry = self.slots(Class::P, 1);
        }
        self.carry
    }

    /// The slot that holds a value from the function's entry on.
    pub(super) fn preload(&mut self, class: Class, init: Init) -> Option<Slot> {
        if let Some(slot) = self.preloads.get(&(class, init)) {
            return Some(*slot);
        }
        let slot = self.slots(class, 1)?;
        self.code.preloads.push(Preload { class, slot, init });
        self.preloads.insert((class, init), slot);
        Some(slot)
    }

    /// A constant's slot.
    pub(super) fn constant(&mut self, class: Class, bits: u64) -> Option<Slot> {
        self.preload(class, Init::Const(bits))
    }

    /// Slots for a register.
    fn allocate(&mut self, name: Name, bits: u8, lanes: u8) -> Option<Reg> {
        let class = class_of(u32::from(bits));
        let each = if bits == 128 { 2 } else { 1 };
        let slot = self.slots(class, each * u16::from(lanes))?;
        let reg = Reg { slot, class, bits, lanes };
        self.registers.push((name, reg));
        Some(reg)
    }

    fn declare(&mut self, variable: &'t Variable) {
        for declarator in &variable.declarators {
            let sym = match variable.space {
                tree::StateSpace::Reg => {
                    let (bits, lanes) = shape(variable);
                    match declarator.range {
                        None => self.allocate(declarator.ident.name, bits, lanes).map(Sym::Reg),
                        Some(count) => Some(Sym::Range(Range { count, bits, lanes })),
                    }
                }
                tree::StateSpace::Local | tree::StateSpace::Param => match self.framed(variable, declarator) {
                    Some(place) => Some(Sym::Place(place)),
                    None => return self.complain(LowerErrorKind::TooLarge, declarator.ident.span),
                },
                _ => link::place(self.program, self.unit, variable, declarator).map(Sym::Place),
            };
            let Some(sym) = sym else { return };
            self.name(declarator.ident, sym);
            if let Sym::Place(Place { base: Base::Variable(index), .. }) = sym {
                initialise(self.program, self.unit, variable, declarator, index);
            }
        }
    }

    /// Gives a `.local` or `.param` variable its place in the stack frame.
    fn framed(&mut self, variable: &Variable, declarator: &Declarator) -> Option<Place> {
        let size = layout::extent(variable, declarator)?;
        let bytes = u32::try_from(size.bytes).ok()?;
        let offset = layout::align_up(self.frame, size.align)?;
        self.frame = offset.checked_add(bytes)?;
        self.frame_max = self.frame_max.max(self.frame);
        if variable.space == tree::StateSpace::Local {
            // An address of it may be used after its block, so its bytes are not given away.
            for end in &mut self.frames {
                *end = (*end).max(self.frame);
            }
        }
        let name = self.unit.names().text(declarator.ident.name).to_owned();
        self.locals.push(SharedName { name, offset, bytes });
        Some(Place { base: Base::Frame(offset), bytes, element: size.element, align: size.align, constant: false })
    }

    /// Gives a name its meaning in the innermost block. What is declared twice there was complained about.
    fn name(&mut self, ident: Ident, sym: Sym) {
        let _ = self.scope.declare(self.unit.names(), ident.name, ident.span, sym);
    }

    /// What a name means here.
    pub(super) fn lookup(&mut self, name: Name) -> Option<Sym> {
        let names = self.unit.names();
        let Some(id) = self.scope.lookup_id(names, name) else {
            return match special(names.text(name)) {
                Some(special) => Some(Sym::Special(special.reg)),
                None => self.unit.globals.get(name.0 as usize).copied(),
            };
        };
        let Sym::Range(Range { bits, lanes, .. }) = self.scope.symbol(id).kind else {
            return Some(self.scope.symbol(id).kind);
        };
        if let Some(reg) = self.elements.get(&(id, name)) {
            return Some(Sym::Reg(*reg));
        }
        let reg = self.allocate(name, bits, lanes)?;
        self.elements.insert((id, name), reg);
        Some(Sym::Reg(reg))
    }

    /// A register by name.
    pub(super) fn register(&mut self, name: Name) -> Option<Reg> {
        if let Sym::Reg(reg) = self.lookup(name)? { Some(reg) } else { None }
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
            // Without a slot for what it stores there is a complaint; the function ends all the same.
            if self.ret().is_none() {
                self.emit(Role::Main, Instr::new(Op::Ret));
            }
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
