//! Instructions by their names: the word before the operands, and which operands it takes.

use crate::base::Span;
use crate::litmus::error::{Expected, Form, LitmusErrorKind};
use crate::litmus::names::{ACCESSES, Kind};
use crate::litmus::tree::{Access, Arith, Atom, Ident, Instruction, Proxy, Relation, Value};
use crate::program::instr::{Order, Scope};

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

const LOADS: &[Order] = &[Order::Weak, Order::Relaxed, Order::Acquire];
const STORES: &[Order] = &[Order::Weak, Order::Relaxed, Order::Release];
const ATOMICS: &[Order] = &[Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
const SCOPES: &[Scope] = &[Scope::Cta, Scope::Gpu, Scope::Sys];
/// So many of the operations of `atom` are those of `red`, too.
const REDUCTIONS: usize = 7;
/// What may follow `fence`.
const FENCES: &[&str] = &["acq_rel", "sc", "proxy"];
/// What may follow `fence.proxy`.
const FENCED: &[&str] = &["generic", "constant", "texture", "surface", "alias"];

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

    /// The next word, which must be that of one of these.
    fn one_of<T: Copy>(&mut self, these: &[T], name: impl Fn(T) -> &'static str) -> Result<T, Wrong> {
        let allowed = || these.iter().map(|one| name(*one)).collect();
        // Past the end `at` is one beyond the last character.
        let end = Span::new(self.at - 1, self.at - 1);
        let Some((word, span)) = self.next().filter(|(word, _)| !word.is_empty()) else {
            return Err((LitmusErrorKind::NoModifier { allowed: allowed() }, end));
        };
        let found = these.iter().copied().find(|one| name(*one) == word);
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
        "fence" => match words.one_of(FENCES, |word| word)? {
            "proxy" => Head::ProxyFence(Proxy::named(words.one_of(FENCED, |word| word)?)),
            "sc" => Head::Fence(Order::Sc, words.one_of(SCOPES, Scope::name)?),
            _ => Head::Fence(Order::AcqRel, words.one_of(SCOPES, Scope::name)?),
        },
        "bar" => {
            words.one_of(&["cta"], |word| word)?;
            Head::Barrier(words.one_of(&["sync", "arrive"], |word| word)? == "sync")
        }
        _ => match ACCESSES.iter().find(|a| a.0 == name) {
            Some((_, proxy, kind)) => memory(*proxy, *kind, &mut words)?,
            None => {
                let arithmetic = Arith::named(name).map(Head::Compute);
                let branch = || Relation::named(name).map(Head::Branch);
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
    let order = words.one_of(orders, Order::name)?;
    let scope = if order == Order::Weak { None } else { Some(words.one_of(SCOPES, Scope::name)?) };
    let access = Access { proxy, order, scope };
    Ok(match kind {
        Kind::Load => Head::Load(access),
        Kind::Store => Head::Store(access),
        Kind::Atomic => Head::Atomic(access, words.one_of(Atom::ALL, Atom::name)?),
        Kind::Reduce => Head::Reduce(access, words.one_of(&Atom::ALL[..REDUCTIONS], Atom::name)?),
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
