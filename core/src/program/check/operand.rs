//! Operands against the form's description of them.

use super::Checker;
use super::error::{CheckError, Expected, Found, Problem};
use super::instruction::{Shape, one_address};
use super::scope::{ParamKind, SymbolKind};
use crate::base::Span;
use crate::program::consts::{self, Value};
use crate::program::forms::{Form, OperandForm, OperandType, Role};
use crate::program::special::special;
use crate::program::types::{Class, opaque, register_fits, type_info};
use crate::program::video;
use crate::ptx::tree::{Expr, Instr, Name, Operand, OperandKind, StateSpace};
use crate::ptx::{Modifier, Opcode};

/// The most bytes that `st.bulk` fills; it fills a multiple of eight.
const BULK: i64 = 16_777_216;

/// Whether something fits; the complaint is boxed, since it is rare and large.
pub(super) type Verdict = Result<(), Box<CheckError>>;

/// What an operand is, once its names are looked up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arg {
    Register(Modifier, u8),
    /// A special register; the flag says that `mov` may read only its low bits.
    Special(Modifier, bool),
    /// All of `%tid` and the like.
    SpecialVector,
    Variable(StateSpace),
    Label,
    Function,
    BranchTargets,
    Table,
    Int(i64),
    F32,
    F64,
    /// A symbol plus an offset.
    Sum,
    Other,
}

impl Checker<'_> {
    /// The register a name stands for: its type and lanes.
    pub fn register(&mut self, name: Name) -> Option<(Modifier, u8)> {
        if let SymbolKind::Register { ty, lanes, .. } = self.kind_of(name)? { Some((ty, lanes)) } else { None }
    }

    /// What a name is, for a message.
    pub fn found(&mut self, name: Name) -> Option<Found> {
        Some(match self.kind_of(name) {
            Some(SymbolKind::Register { ty, lanes, .. }) => Found::Register(self.word(ty), lanes),
            Some(SymbolKind::Variable { space, .. }) => Found::Variable(format!("{space:?}").to_lowercase()),
            Some(SymbolKind::Label) => Found::Label,
            Some(SymbolKind::Function(_)) => Found::Function,
            Some(_) => Found::Table,
            None => Found::Special(self.word(special(self.names.text(name))?.ty)),
        })
    }

    /// Complains about every undeclared name in the operands.
    pub fn names_of(&mut self, operands: &[Operand]) {
        for operand in operands {
            match &operand.kind {
                OperandKind::Name(name)
                | OperandKind::Not(name)
                | OperandKind::Minus(name)
                | OperandKind::Member(name, _)
                | OperandKind::Select { name, .. }
                | OperandKind::Index(name, _) => self.known(*name, operand.span),
                OperandKind::Address(address) => {
                    if let Some(base) = address.base {
                        self.known(base.name, base.span);
                    }
                }
                OperandKind::Vector(list) | OperandKind::Tuple(list) | OperandKind::Bracket(list) => {
                    self.names_of(list)
                }
                OperandKind::Pair(pair) => {
                    self.names_of(std::slice::from_ref(&pair.0));
                    self.names_of(std::slice::from_ref(&pair.1));
                }
                constant => match consts::operand(constant) {
                    Some(Ok(Value::Address(address))) => self.known(address.name, address.span),
                    Some(Err((error, span))) => self.error(Problem::Constant(error), span),
                    _ => {}
                },
            }
        }
    }

    fn known(&mut self, name: Name, span: Span) {
        if self.scopes.lookup(self.names, name).is_some() {
            return;
        }
        match special(self.names.text(name)) {
            None if self.names.text(name) == "WARP_SZ" => {}
            None => self.undeclared(name, span),
            Some(special) => {
                if !self.has(special.need) {
                    let problem = self.lacks(self.text(name), special.need);
                    self.error(problem, span);
                }
            }
        }
    }

    /// The operands of an instruction against one form.
    pub fn operands(&mut self, instr: &Instr, form: &Form, types: &[Modifier], shape: &Shape) -> Verdict {
        let given = instr.operands.len();
        if instr.opcode == Opcode::RET && given == 1 && self.legacy() {
            return Ok(());
        }
        let open = form.operands.last().is_some_and(|o| o.role == Role::Rest);
        let hint = instr.mods.contains(&Modifier::L2_CACHE_HINT);
        let absent = |o: &&OperandForm| o.role == Role::Policy && !hint;
        let least = form.operands.iter().filter(|o| !o.optional && !absent(o)).count();
        let most = form.operands.iter().filter(|o| !absent(o)).count();
        if given < least || given > most && !open {
            let opcode = self.opcode(instr.opcode);
            let most = (!open).then_some(most);
            return Err(CheckError::boxed(Problem::OperandCount { opcode, given, least, most }, instr.span));
        }
        let lone = one_address(form) && !shape.spaces;
        for (number, operand) in instr.operands.iter().enumerate() {
            let Some(want) = form.operands.get(number) else { break };
            let count = instr.mods.first().is_none_or(|m| m.text(self.names) != "warp");
            let called = instr.mods.contains(&Modifier::PARAM_FUNC);
            let guarded = instr.guard.is_some();
            let cx = Context { number: number + 1, opcode: instr.opcode, shape, lone, count, called, guarded };
            self.operand(operand, want, types, &cx)?;
            if want.role == Role::Bracket && is_image(instr.opcode) {
                self.image(operand, instr, types, &cx)?;
            }
            if want.role == Role::Group
                && let Some(fragment) = self.fragment(instr.opcode, &instr.mods, types, number)
            {
                self.registers(operand, fragment, &cx)?;
            }
        }
        if matches!(instr.opcode, Opcode::TEX | Opcode::TLD4) {
            let (number, opcode) = (3, instr.opcode);
            let cx = Context { number, opcode, shape, lone, count: false, called: false, guarded: false };
            self.after_brackets(instr, types, &cx)?;
        }
        self.state_of_mbarrier(instr)?;
        self.sizes_of_copy(instr)?;
        video::lanes(instr.opcode, self.names).map_or(Ok(()), |lanes| self.video(instr, lanes))
    }

    fn operand(&mut self, operand: &Operand, want: &OperandForm, types: &[Modifier], cx: &Context) -> Verdict {
        let ty = match want.ty {
            OperandType::Of(n) => types.get(usize::from(n)).copied().unwrap_or(Modifier::B32),
            OperandType::Wide => widened(types.first().copied().unwrap_or(Modifier::B32)),
            OperandType::Fixed(ty) => ty,
        };
        let ty = if want.role == Role::Policy { Modifier::B64 } else { ty };
        match (&operand.kind, want.pair) {
            (OperandKind::Pair(pair), Some(_)) => {
                self.single(&pair.0, want, ty, cx)?;
                let second = OperandForm { role: Role::PredDst, sink: true, pair: None, ..*want };
                self.single(&pair.1, &second, Modifier::PRED, cx)
            }
            (OperandKind::Pair(_), None) => self.wrong(operand, Expected::NoPair, cx),
            (_, Some(false)) => self.wrong(operand, Expected::Pair, cx),
            _ => self.single(operand, want, ty, cx),
        }
    }

    fn single(&mut self, operand: &Operand, want: &OperandForm, ty: Modifier, cx: &Context) -> Verdict {
        if matches!(operand.kind, OperandKind::Sink) {
            let ok = want.sink || matches!(want.role, Role::Rest | Role::Group);
            return if ok { Ok(()) } else { self.wrong(operand, self.expected(want, ty, cx), cx) };
        }
        match want.role {
            Role::Mem => self.address(operand, cx),
            Role::Bracket => match operand.kind {
                OperandKind::Bracket(_) | OperandKind::Address(_) => Ok(()),
                _ => self.wrong(operand, Expected::Bracket, cx),
            },
            Role::Rest => Ok(()),
            Role::Group => match &operand.kind {
                OperandKind::Vector(list) => self.all_registers(list, cx),
                _ => self.all_registers(std::slice::from_ref(operand), cx),
            },
            Role::Pack => self.pack(operand, ty, cx),
            Role::VecDst | Role::VecSrc => self.vector(operand, want, ty, cx),
            Role::Four => match &operand.kind {
                OperandKind::Vector(list) if list.len() == 4 => {
                    let element = OperandForm { role: Role::Src, ..*want };
                    list.iter().try_for_each(|operand| self.single(operand, &element, ty, cx))
                }
                _ => self.wrong(operand, Expected::Vector(4, self.word(ty)), cx),
            },
            _ => {
                let arg = self.classify(operand, cx);
                let special = matches!(arg, Arg::Special(..) | Arg::SpecialVector);
                let refuse = |problem| Err(CheckError::boxed(problem, operand.span));
                match operand.kind {
                    OperandKind::Name(name) | OperandKind::Member(name, _)
                        if special && matches!(want.role, Role::Dst | Role::PredDst) =>
                    {
                        return refuse(Problem::ReadOnly { name: self.text(name) });
                    }
                    _ if !Self::accepts(arg, operand, want, ty, cx) => {
                        return self.wrong(operand, self.expected(want, ty, cx), cx);
                    }
                    _ => {}
                }
                let Arg::Int(value) = arg else { return Ok(()) };
                let (number, of) = (cx.number, 32);
                let threads = matches!(cx.opcode, Opcode::BAR | Opcode::BARRIER) && want.role == Role::Src && cx.count;
                match want.range {
                    None if threads && value % of != 0 => refuse(Problem::Multiple { number, of, value }),
                    None if cx.opcode == Opcode::ALLOCA && want.role == Role::Imm && value.count_ones() != 1 => {
                        self.wrong(operand, Expected::PowerOfTwo, cx)
                    }
                    Some((_, BULK)) if value % 8 != 0 => refuse(Problem::Multiple { number, of: 8, value }),
                    Some((low, high)) if value < low || value > high => {
                        refuse(Problem::Range { number, low, high, value })
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    fn accepts(arg: Arg, operand: &Operand, want: &OperandForm, ty: Modifier, cx: &Context) -> bool {
        let info = type_info(ty);
        let class = info.map(|i| i.class);
        // ptxas takes a packed register for 32 bits, but not where the operand's type is fixed.
        let packed = |reg| reg == Modifier::F16X2 && want.ty == OperandType::Fixed(Modifier::U32);
        let register = |wider| matches!(arg, Arg::Register(reg, 1) if register_fits(ty, reg, wider) && !packed(reg));
        let whole = matches!(class, Some(Class::Bits | Class::Int));
        let predicate = matches!(arg, Arg::Register(Modifier::PRED, 1) | Arg::Int(_));
        let constant = match arg {
            Arg::Int(_) | Arg::Sum => whole,
            Arg::F32 => matches!(ty, Modifier::F32 | Modifier::F64) || ty == Modifier::B32,
            Arg::F64 => matches!(ty, Modifier::F32 | Modifier::F64) || ty == Modifier::B64,
            Arg::Function => want.ty != OperandType::Fixed(Modifier::U32),
            _ => false,
        };
        let negated = matches!(operand.kind, OperandKind::Not(_));
        let minus = matches!(operand.kind, OperandKind::Minus(_) | OperandKind::Select { negated: true, .. })
            && cx.opcode != Opcode::VMAD;
        if minus || negated && !(want.role == Role::PredSrc || want.role == Role::Src && ty == Modifier::PRED) {
            return false;
        }
        match want.role {
            Role::Dst => register(want.wider) && !matches!(operand.kind, OperandKind::Const(_)),
            // Random numbers are bits, and nothing else.
            Role::Reg if cx.opcode == Opcode::CVT && want.ty == OperandType::Fixed(Modifier::B32) => {
                matches!(arg, Arg::Register(Modifier::B32, 1))
            }
            Role::Reg => register(false),
            Role::Src if ty == Modifier::PRED => predicate || matches!(arg, Arg::Special(Modifier::PRED, _)),
            Role::Src | Role::Policy => {
                let sum = matches!(arg, Arg::Variable(_)) && matches!(operand.kind, OperandKind::Const(_));
                register(want.wider) || constant || sum && whole
            }
            Role::Imm => matches!(arg, Arg::Int(_)),
            Role::PredDst => matches!(arg, Arg::Register(Modifier::PRED, 1)),
            Role::PredSrc => predicate,
            Role::Label => matches!(arg, Arg::Label),
            Role::Table => matches!(arg, Arg::BranchTargets),
            Role::AddrSrc => match arg {
                Arg::Register(reg, 1) => [Modifier::U32, Modifier::U64]
                    .iter()
                    .any(|t| type_info(reg).is_some_and(|i| i.class != Class::Float) && register_fits(*t, reg, false)),
                Arg::Int(_) | Arg::Sum => true,
                _ => false,
            },
            Role::MovSrc if cx.opcode != Opcode::MOV => match arg {
                Arg::Variable(space) => cx.shape.space == Some(space),
                Arg::Special(..) | Arg::Function => false,
                _ => register(false) || constant,
            },
            Role::MovSrc => match arg {
                Arg::Special(special, loose) => {
                    let sizes = info.zip(type_info(special)).map(|(t, s)| (t.bits, s.bits));
                    whole && sizes.is_some_and(|(t, s)| t == s || loose && t < s && t > 8)
                }
                Arg::Variable(_) => whole,
                _ => register(false) || constant,
            },
            Role::CvtSrc => match arg {
                Arg::Special(special, _) => {
                    whole && info.zip(type_info(special)).is_some_and(|(t, s)| t.bits <= s.bits)
                }
                _ => register(want.wider) || constant,
            },
            _ => true,
        }
    }

    pub(super) fn classify(&mut self, operand: &Operand, cx: &Context) -> Arg {
        let video = video::lanes(cx.opcode, self.names).is_some();
        match &operand.kind {
            OperandKind::Name(name) | OperandKind::Not(name) | OperandKind::Minus(name) => self.classify_name(*name),
            OperandKind::Select { name, .. } if video => self.classify_name(*name),
            // ptxas reads neither components nor sums there.
            OperandKind::Member(..) if video => Arg::Other,
            OperandKind::Member(name, index) => match self.classify_name(*name) {
                Arg::Register(ty, lanes) if lanes > *index && lanes > 1 => Arg::Register(ty, 1),
                Arg::SpecialVector => {
                    let text = self.names.text(*name);
                    Arg::Special(Modifier::U32, matches!(text, "%tid" | "%ntid" | "%ctaid" | "%nctaid"))
                }
                _ => Arg::Other,
            },
            OperandKind::Index(name, _) => match self.classify_name(*name) {
                Arg::Variable(space) => Arg::Variable(space),
                _ => Arg::Other,
            },
            constant => match consts::operand(constant) {
                Some(Ok(Value::Int { bits, .. })) => Arg::Int(bits.cast_signed()),
                Some(Ok(Value::F32(_))) => Arg::F32,
                Some(Ok(Value::F64(_))) => Arg::F64,
                Some(Ok(Value::Address(address))) => match self.classify_name(address.name) {
                    Arg::Variable(space)
                        if matches!(cx.opcode, Opcode::MOV | Opcode::CVTA | Opcode::MAPA | Opcode::GETCTARANK) =>
                    {
                        Arg::Variable(space)
                    }
                    Arg::Variable(_) | Arg::Function => Arg::Sum,
                    // `%r + 4`: ptxas adds a constant to an integer register wherever it reads one.
                    Arg::Register(ty, 1) if is_whole(ty) && !video => Arg::Register(ty, 1),
                    _ => Arg::Other,
                },
                Some(Err(_)) | None => Arg::Other,
            },
        }
    }

    fn classify_name(&mut self, name: Name) -> Arg {
        match self.kind_of(name) {
            Some(SymbolKind::Register { ty, lanes, .. }) => Arg::Register(ty, lanes),
            Some(SymbolKind::Variable { space, .. }) => Arg::Variable(space),
            Some(SymbolKind::Label) => Arg::Label,
            Some(SymbolKind::Function(_)) => Arg::Function,
            Some(SymbolKind::BranchTargets) => Arg::BranchTargets,
            Some(_) => Arg::Table,
            None if self.names.text(name) == "WARP_SZ" => Arg::Int(32),
            None => match special(self.names.text(name)) {
                Some(special) if special.is_vector() => Arg::SpecialVector,
                Some(special) => Arg::Special(special.ty, self.names.text(name) == "%gridid"),
                None => Arg::Other,
            },
        }
    }

    /// `{a, b}` or a vector register beside a scalar of `mov`: the elements are equal in size and fill the type.
    fn pack(&mut self, operand: &Operand, ty: Modifier, cx: &Context) -> Verdict {
        let bits = type_info(ty).map_or(32, |i| usize::from(i.bits));
        let OperandKind::Vector(list) = &operand.kind else {
            let whole = match self.classify(operand, cx) {
                Arg::Register(reg, lanes @ 2..) => type_info(reg).map(|i| usize::from(i.bits) * usize::from(lanes)),
                _ => None,
            };
            return if whole == Some(bits) { Ok(()) } else { self.wrong(operand, Expected::Pack(self.word(ty)), cx) };
        };
        let fits = matches!(list.len(), 1 | 2 | 4) && bits.is_multiple_of(list.len());
        for element in list.iter() {
            let ok = match self.classify(element, cx) {
                _ if matches!(element.kind, OperandKind::Not(_) | OperandKind::Minus(_)) => false,
                Arg::Register(reg, 1) => {
                    type_info(reg).is_some_and(|i| i.class != Class::Pred && usize::from(i.bits) == bits / list.len())
                }
                Arg::Int(_) | Arg::F32 | Arg::F64 => cx.number > 1,
                _ => matches!(element.kind, OperandKind::Sink) && cx.number == 1,
            };
            if !ok || !fits {
                return self.wrong(operand, Expected::Pack(self.word(ty)), cx);
            }
        }
        Ok(())
    }

    /// An operand that has as many elements as the vector modifier says.
    fn vector(&mut self, operand: &Operand, want: &OperandForm, ty: Modifier, cx: &Context) -> Verdict {
        let lanes = usize::from(cx.shape.lanes);
        let dst = want.role == Role::VecDst;
        let role = if dst { Role::Dst } else { Role::Src };
        let element = OperandForm { role, sink: dst, pair: None, ..*want };
        match &operand.kind {
            OperandKind::Vector(list) if list.len() == lanes => {
                let mut size = None;
                for operand in list.iter() {
                    self.single(operand, &element, ty, cx)?;
                    if let Arg::Register(reg, _) = self.classify(operand, cx) {
                        let bits = type_info(reg).map(|i| i.bits);
                        if size.is_some_and(|old| Some(old) != bits) {
                            return self.wrong(operand, Expected::Vector(lanes, self.word(ty)), cx);
                        }
                        size = bits;
                    }
                }
                Ok(())
            }
            OperandKind::Vector(_) => self.wrong(operand, Expected::Vector(lanes, self.word(ty)), cx),
            _ if lanes == 1 => self.single(operand, &OperandForm { sink: false, ..element }, ty, cx),
            _ => match self.classify(operand, cx) {
                Arg::Register(reg, n) if usize::from(n) == lanes && same_size(ty, reg) => Ok(()),
                Arg::SpecialVector if lanes == 4 && cx.opcode == Opcode::MOV && !dst => Ok(()),
                _ => self.wrong(operand, Expected::Vector(lanes, self.word(ty)), cx),
            },
        }
    }

    fn address(&mut self, operand: &Operand, cx: &Context) -> Verdict {
        match &operand.kind {
            OperandKind::Address(address) => {
                if let Some(offset) = &address.offset {
                    self.offset(offset, cx)?;
                }
                match address.base {
                    Some(base) => self.base(base.name, operand.span, cx),
                    None if cx.shape.space == Some(StateSpace::Local) || self.checked.version < (4, 0) => Ok(()),
                    None => self.wrong(operand, Expected::Address, cx),
                }
            }
            OperandKind::Index(name, _) if matches!(cx.opcode, Opcode::LD | Opcode::ST | Opcode::LDU) => {
                self.base(*name, operand.span, cx)
            }
            OperandKind::Bracket(_) if cx.opcode == Opcode::CP => Ok(()),
            _ => self.wrong(operand, Expected::Address, cx),
        }
    }

    fn offset(&mut self, offset: &Expr, cx: &Context) -> Verdict {
        match consts::evaluate(offset) {
            Ok(Value::Int { .. }) => Ok(()),
            Err((error, span)) => Err(CheckError::boxed(Problem::Constant(error), span)),
            Ok(_) => Err(CheckError::boxed(self.mistaken(Expected::Constant, Found::Other, cx), offset.span)),
        }
    }

    fn base(&mut self, name: Name, span: Span, cx: &Context) -> Verdict {
        let problem = match self.classify_name(name) {
            Arg::Register(reg, 1) => match type_info(reg) {
                Some(i) if matches!(i.class, Class::Bits | Class::Int) && i.bits <= 64 && !cx.called => return Ok(()),
                _ => self.mistaken(Expected::AddressRegister, Found::Register(self.word(reg), 1), cx),
            },
            Arg::Variable(space) => {
                let named = cx.shape.space;
                let ok = match named {
                    Some(named) => named == space,
                    None => matches!(space, StateSpace::Global | StateSpace::Shared | StateSpace::Local),
                };
                let opaque = matches!(self.kind_of(name), Some(SymbolKind::Variable { ty, .. }) if opaque(ty));
                if (ok || !cx.lone) && !(opaque && cx.lone && space == StateSpace::Global) {
                    return self.direction(name, span, cx);
                }
                Problem::Space {
                    opcode: self.opcode(cx.opcode),
                    expected: named.map_or_else(|| "a generic address".to_owned(), |space| space.name().to_owned()),
                    found: space.name().to_owned(),
                }
            }
            _ => {
                let found = self.found(name).unwrap_or(Found::Other);
                self.mistaken(Expected::AddressRegister, found, cx)
            }
        };
        Err(Box::new(CheckError { kind: problem, span, other: self.declared_at(name) }))
    }

    /// A parameter is read, a return parameter is written; what a call takes and gives is not accessed under a guard.
    fn direction(&mut self, name: Name, span: Span, cx: &Context) -> Verdict {
        let Some(SymbolKind::Variable { param, space, .. }) = self.kind_of(name) else { return Ok(()) };
        match (param, cx.opcode) {
            (ParamKind::No, Opcode::ST | Opcode::LD) if space == StateSpace::Param && cx.guarded && !self.legacy() => {
                let kind = Problem::GuardedArgument { name: self.text(name), opcode: self.opcode(cx.opcode) };
                Err(Box::new(CheckError { kind, span, other: self.declared_at(name) }))
            }
            (ParamKind::Input, Opcode::ST) | (ParamKind::Return, Opcode::LD) => {
                let kind = Problem::ParamDirection { name: self.text(name), written: param == ParamKind::Input };
                Err(Box::new(CheckError { kind, span, other: self.declared_at(name) }))
            }
            _ => Ok(()),
        }
    }

    fn expected(&self, want: &OperandForm, ty: Modifier, cx: &Context) -> Expected {
        match want.role {
            Role::Dst if ty == Modifier::PRED => Expected::Predicate,
            Role::Src if ty == Modifier::PRED => Expected::PredicateSource,
            Role::Dst => Expected::Destination(self.word(ty), want.wider),
            Role::Reg => Expected::Register(self.word(ty)),
            Role::Imm => Expected::Constant,
            Role::PredDst => Expected::Predicate,
            Role::PredSrc => Expected::PredicateSource,
            Role::Label => Expected::Label,
            Role::Table => Expected::BranchTargets,
            Role::AddrSrc => Expected::AddressRegister,
            Role::Mem => Expected::Address,
            Role::VecDst | Role::VecSrc => Expected::Vector(usize::from(cx.shape.lanes), self.word(ty)),
            _ => Expected::Source(self.word(ty), want.wider || want.role == Role::CvtSrc),
        }
    }

    pub(super) fn wrong(&mut self, operand: &Operand, expected: Expected, cx: &Context) -> Verdict {
        let (found, other) = match &operand.kind {
            OperandKind::Name(name) | OperandKind::Select { name, negated: false, .. } => {
                (self.found(*name).unwrap_or(Found::Other), self.declared_at(*name))
            }
            OperandKind::Member(name, _) => match self.found(*name) {
                Some(Found::Register(ty, lanes)) if lanes > 1 => (Found::Register(ty, 1), None),
                found => (found.unwrap_or(Found::Other), None),
            },
            OperandKind::Address(_) | OperandKind::Bracket(_) => (Found::Address, None),
            OperandKind::Vector(list) => (Found::Vector(list.len()), None),
            OperandKind::Pair(_) => (Found::Pair, None),
            OperandKind::Sink => (Found::Sink, None),
            OperandKind::Not(_) | OperandKind::Minus(_) | OperandKind::Select { .. } => (Found::Negation, None),
            constant => match consts::operand(constant) {
                Some(Ok(Value::Int { .. })) => (Found::Integer, None),
                Some(Ok(Value::F32(_) | Value::F64(_))) => (Found::FloatConstant, None),
                _ => (Found::Other, None),
            },
        };
        Err(Box::new(CheckError { kind: self.mistaken(expected, found, cx), span: operand.span, other }))
    }

    /// The complaint that an operand is something else than it has to be.
    fn mistaken(&self, expected: Expected, found: Found, cx: &Context) -> Problem {
        Problem::Operand { opcode: self.opcode(cx.opcode), number: cx.number, expected, found }
    }
}

/// Whether an instruction is one of textures or surfaces.
fn is_image(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::TEX | Opcode::TLD4 | Opcode::TXQ | Opcode::SULD | Opcode::SUST | Opcode::SURED | Opcode::SUQ
    )
}

/// Where an operand stands.
pub(super) struct Context<'a> {
    pub(super) number: usize,
    opcode: Opcode,
    shape: &'a Shape,
    /// The instruction has one address and names at most one space.
    lone: bool,
    /// A constant source is a number of threads.
    count: bool,
    /// The parameters are those of a call, which have no addresses in registers.
    called: bool,
    /// The instruction is under a guard.
    guarded: bool,
}

/// Whether a register holds a whole number, or bits of whatever kind.
fn is_whole(register: Modifier) -> bool {
    type_info(register).is_some_and(|i| matches!(i.class, Class::Bits | Class::Int))
}

/// ptxas looks only at the size of a vector register's elements.
fn same_size(ty: Modifier, reg: Modifier) -> bool {
    type_info(ty).zip(type_info(reg)).is_some_and(|(a, b)| a.bits == b.bits && b.class != Class::Pred)
}

fn widened(ty: Modifier) -> Modifier {
    match ty {
        Modifier::U16 => Modifier::U32,
        Modifier::S16 => Modifier::S32,
        Modifier::U32 => Modifier::U64,
        Modifier::S32 => Modifier::S64,
        other => other,
    }
}
