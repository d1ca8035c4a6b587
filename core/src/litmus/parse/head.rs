//! Instructions by their names: the word before the operands, and which operands it takes.

use crate::base::Span;
use crate::litmus::error::{Expected, Form, LitmusErrorKind};
use crate::litmus::tree::{Access, Arith, Atom, Ident, Instruction, Order, Proxy, Relation, Value};
use crate::program::instr::Scope;

/// What an instruction's name says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Head {
    Load(Access),
    Store(Access),
    Move,
    Compute(Arith),
    Atomic(Access, Atom),
    /// An atomic operation that returns nothing.
    Reduce(Access, Atom),
    Fence(Order, Scope),
    ProxyFence(Option<Proxy>),
    Barrier(bool),
    Goto,
    Branch(Relation),
}

/// An operand as it stands there.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Name(Ident),
    Number(i64, Span),
}

impl Operand {
    const fn span(&self) -> Span {
        match self {
            Self::Name(ident) => ident.span,
            Self::Number(_, span) => *span,
        }
    }
}

/// Names of instructions that take words after dots.
const ACCESSES: &[(&str, Proxy, Kind)] = &[
    ("ld", Proxy::Generic, Kind::Load),
    ("tld", Proxy::Texture, Kind::Load),
    ("suld", Proxy::Surface, Kind::Load),
    ("cold", Proxy::Constant, Kind::Load),
    ("st", Proxy::Generic, Kind::Store),
    ("sust", Proxy::Surface, Kind::Store),
    ("atom", Proxy::Generic, Kind::Atomic),
    ("suatom", Proxy::Surface, Kind::Atomic),
    ("red", Proxy::Generic, Kind::Reduce),
    ("sured", Proxy::Surface, Kind::Reduce),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Atomic,
    Reduce,
}

const ARITHMETIC: &[(&str, Arith)] =
    &[("add", Arith::Add), ("sub", Arith::Sub), ("mul", Arith::Mul), ("div", Arith::Div)];
const BRANCHES: &[(&str, Relation)] = &[
    ("beq", Relation::Eq),
    ("bne", Relation::Ne),
    ("blt", Relation::Lt),
    ("bgt", Relation::Gt),
    ("ble", Relation::Le),
    ("bge", Relation::Ge),
];
const LOADS: &[(&str, Order)] = &[("weak", Order::Weak), ("relaxed", Order::Relaxed), ("acquire", Order::Acquire)];
const STORES: &[(&str, Order)] = &[("weak", Order::Weak), ("relaxed", Order::Relaxed), ("release", Order::Release)];
const ATOMICS: &[(&str, Order)] = &[
    ("relaxed", Order::Relaxed),
    ("acquire", Order::Acquire),
    ("release", Order::Release),
    ("acq_rel", Order::AcqRel),
];
const SCOPES: &[(&str, Scope)] = &[("cta", Scope::Cta), ("gpu", Scope::Gpu), ("sys", Scope::Sys)];
/// Operations of `atom`; those of `red` are the first ones.
const OPERATIONS: &[(&str, Atom)] = &[
    ("add", Atom::Add),
    ("sub", Atom::Sub),
    ("mul", Atom::Mul),
    ("div", Atom::Div),
    ("and", Atom::And),
    ("or", Atom::Or),
    ("xor", Atom::Xor),
    ("cas", Atom::Cas),
    ("exch", Atom::Exch),
];
const REDUCTIONS: usize = 7;
/// What may follow `fence`.
#[derive(Clone, Copy)]
enum FenceWord {
    Order(Order),
    Proxy,
}
const FENCES: &[(&str, FenceWord)] =
    &[("acq_rel", FenceWord::Order(Order::AcqRel)), ("sc", FenceWord::Order(Order::Sc)), ("proxy", FenceWord::Proxy)];
/// Proxies by name.
pub(in crate::litmus) const PROXIES: &[(&str, Proxy)] = &[
    ("generic", Proxy::Generic),
    ("constant", Proxy::Constant),
    ("texture", Proxy::Texture),
    ("surface", Proxy::Surface),
];
const FENCED: &[(&str, Option<Proxy>)] = &[
    ("generic", Some(Proxy::Generic)),
    ("constant", Some(Proxy::Constant)),
    ("texture", Some(Proxy::Texture)),
    ("surface", Some(Proxy::Surface)),
    ("alias", None),
];

/// The names of all instructions, for hints.
pub fn instructions() -> impl Iterator<Item = &'static str> {
    let accesses = ACCESSES.iter().map(|a| a.0);
    let others = ARITHMETIC.iter().map(|a| a.0).chain(BRANCHES.iter().map(|b| b.0));
    accesses.chain(others).chain(["fence", "bar", "goto"])
}

/// The words of a name, one after another, with their places.
struct Words<'s> {
    rest: Option<&'s str>,
    /// Where `rest` begins.
    at: u32,
}

type Wrong = (LitmusErrorKind, Span);

impl<'s> Words<'s> {
    fn next(&mut self) -> Option<(&'s str, Span)> {
        let rest = self.rest?;
        let (word, after) = rest.split_once('.').map_or((rest, None), |(w, r)| (w, Some(r)));
        let len = u32::try_from(word.len()).unwrap_or(0);
        let span = Span::new(self.at, self.at + len);
        self.rest = after;
        self.at += len + 1;
        Some((word, span))
    }

    /// The next word, which must be one of a table.
    fn one_of<T: Copy>(&mut self, table: &[(&'static str, T)]) -> Result<T, Wrong> {
        let allowed = || table.iter().map(|(name, _)| *name).collect();
        // Past the end `at` is one beyond the last character.
        let end = Span::new(self.at - 1, self.at - 1);
        let Some((word, span)) = self.next().filter(|(word, _)| !word.is_empty()) else {
            return Err((LitmusErrorKind::NoModifier { allowed: allowed() }, end));
        };
        let found = table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
        found.ok_or_else(|| (LitmusErrorKind::Modifier { allowed: allowed() }, span))
    }

    /// That nothing follows.
    fn end(&mut self) -> Result<(), Wrong> {
        match self.next() {
            None => Ok(()),
            Some((word, span)) => {
                let span = if word.is_empty() { Span::new(span.start - 1, span.start) } else { span };
                Err((LitmusErrorKind::Modifier { allowed: Vec::new() }, span))
            }
        }
    }
}

/// What an instruction's name says.
///
/// # Errors
/// The word that is wrong, or what lacks.
pub(super) fn head(text: &str, span: Span) -> Result<Head, Wrong> {
    let mut words = Words { rest: Some(text), at: span.start };
    let (name, at) = words.next().unwrap_or(("", span));
    let unknown = || (LitmusErrorKind::UnknownInstruction, at);
    let head = match name {
        "ld" if words.rest.is_none() => Head::Move,
        "goto" => Head::Goto,
        "fence" => match words.one_of(FENCES)? {
            FenceWord::Order(order) => Head::Fence(order, words.one_of(SCOPES)?),
            FenceWord::Proxy => Head::ProxyFence(words.one_of(FENCED)?),
        },
        "bar" => {
            words.one_of(&[("cta", ())])?;
            Head::Barrier(words.one_of(&[("sync", true), ("arrive", false)])?)
        }
        _ => match ACCESSES.iter().find(|a| a.0 == name) {
            Some((_, proxy, kind)) => memory(*proxy, *kind, &mut words)?,
            None => {
                let arithmetic = ARITHMETIC.iter().find(|a| a.0 == name).map(|a| Head::Compute(a.1));
                let branch = || BRANCHES.iter().find(|b| b.0 == name).map(|b| Head::Branch(b.1));
                arithmetic.or_else(branch).ok_or_else(unknown)?
            }
        },
    };
    words.end()?;
    Ok(head)
}

fn memory(proxy: Proxy, kind: Kind, words: &mut Words<'_>) -> Result<Head, Wrong> {
    let orders = match kind {
        Kind::Load => LOADS,
        Kind::Store => STORES,
        Kind::Atomic | Kind::Reduce => ATOMICS,
    };
    let order = words.one_of(orders)?;
    let scope = if order == Order::Weak { None } else { Some(words.one_of(SCOPES)?) };
    let access = Access { proxy, order, scope };
    Ok(match kind {
        Kind::Load => Head::Load(access),
        Kind::Store => Head::Store(access),
        Kind::Atomic => Head::Atomic(access, words.one_of(OPERATIONS)?),
        Kind::Reduce => Head::Reduce(access, words.one_of(&OPERATIONS[..REDUCTIONS])?),
    })
}

impl Head {
    /// How the instruction is written.
    const fn form(self) -> Form {
        match self {
            Self::Load(_) => "ld.ORDER.SCOPE register, location",
            Self::Store(_) => "st.ORDER.SCOPE location, value",
            Self::Move => "ld register, value",
            Self::Compute(_) => "add register, value, value",
            Self::Atomic(_, Atom::Cas) => "atom.ORDER.SCOPE.cas register, location, expected, new",
            Self::Atomic(..) => "atom.ORDER.SCOPE.OPERATION register, location, value",
            Self::Reduce(..) => "red.ORDER.SCOPE.OPERATION location, value",
            Self::Fence(..) => "fence.ORDER.SCOPE",
            Self::ProxyFence(_) => "fence.proxy.PROXY",
            Self::Barrier(_) => "bar.cta.sync instance[, barrier[, quorum]]",
            Self::Goto => "goto label",
            Self::Branch(_) => "beq value, value, label",
        }
    }

    /// The instruction with its operands; `span` is that of the name.
    ///
    /// # Errors
    /// Too many or too few operands, or one of another kind.
    pub(super) fn with(self, operands: Vec<Operand>, span: Span) -> Result<Instruction, Wrong> {
        let (form, found) = (self.form(), operands.len());
        let all = operands.iter().fold(span, |s, o| s.to(o.span()));
        let mut list = operands.into_iter();
        let lacks = || (LitmusErrorKind::Operands { form, found }, all);
        let mut next = || list.next().ok_or_else(lacks);
        let name = |operand, wanted| match operand {
            Operand::Name(ident) => Ok(ident),
            Operand::Number(_, at) => Err((LitmusErrorKind::Operand { form, wanted }, at)),
        };
        let register = |operand| name(operand, Expected::Register);
        let location = |operand| name(operand, Expected::Location);
        let label = |operand| name(operand, Expected::Label);
        let instruction = match self {
            Self::Load(access) => Instruction::Load { access, to: register(next()?)?, from: location(next()?)? },
            Self::Store(access) => Instruction::Store { access, to: location(next()?)?, value: value(next()?) },
            Self::Move => Instruction::Move { to: register(next()?)?, value: value(next()?) },
            Self::Compute(op) => {
                Instruction::Compute { op, to: register(next()?)?, left: value(next()?), right: value(next()?) }
            }
            Self::Atomic(access, op) => {
                let (to, at) = (Some(register(next()?)?), location(next()?)?);
                let value_of = value(next()?);
                let new = if op == Atom::Cas { Some(value(next()?)) } else { None };
                Instruction::Atomic { access, op, to, at, value: value_of, new }
            }
            Self::Reduce(access, op) => {
                let (at, value) = (location(next()?)?, value(next()?));
                Instruction::Atomic { access, op, to: None, at, value, new: None }
            }
            Self::Fence(order, scope) => Instruction::Fence { order, scope },
            Self::ProxyFence(proxy) => Instruction::ProxyFence(proxy),
            Self::Barrier(waits) => {
                let instance = match next()? {
                    Operand::Number(n, _) => n,
                    Operand::Name(ident) => {
                        let wanted = Expected::Number;
                        return Err((LitmusErrorKind::Operand { form, wanted }, ident.span));
                    }
                };
                let (barrier, quorum) = (next().ok().map(value), next().ok().map(value));
                Instruction::Barrier { waits, instance, barrier, quorum }
            }
            Self::Goto => Instruction::Goto(label(next()?)?),
            Self::Branch(relation) => {
                Instruction::Branch { relation, left: value(next()?), right: value(next()?), to: label(next()?)? }
            }
        };
        if list.next().is_some() {
            return Err((LitmusErrorKind::Operands { form, found }, all));
        }
        Ok(instruction)
    }
}

fn value(operand: Operand) -> Value {
    match operand {
        Operand::Name(ident) => Value::Register(ident),
        Operand::Number(n, span) => Value::Number(n, span),
    }
}
