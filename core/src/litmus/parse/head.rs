//! Instructions by their names: the word before the operands, and which operands it takes. A wrong word is told before a
//! wrong operand.

use crate::base::Span;
use crate::litmus::error::{Expected, Form, LitmusErrorKind};
use crate::litmus::names::{ACCESSES, Kind};
use crate::litmus::tree::{Access, Arith, Atom, Ident, Instruction, Proxy, Relation, Value};
use crate::program::instr::{Order, Scope};

const LOADS: &[Order] = &[Order::Weak, Order::Relaxed, Order::Acquire];
const STORES: &[Order] = &[Order::Weak, Order::Relaxed, Order::Release];
const ATOMICS: &[Order] = &[Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
const ATOMIC: Form = "atom.ORDER.SCOPE.OPERATION register, location, value";
const COMPARING: Form = "atom.ORDER.SCOPE.cas register, location, expected, new";
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

/// The operands of an instruction, one after another.
struct Operands {
    rest: std::vec::IntoIter<Value>,
    /// How many there are.
    found: usize,
    /// The place of the instruction.
    span: Span,
    /// How the instruction is written.
    form: Form,
}

impl Operands {
    /// The operands of an instruction that is written so and whose name ends here.
    fn of(&mut self, form: Form, mut words: Words<'_>) -> Result<&mut Self, Wrong> {
        words.end()?;
        self.form = form;
        Ok(self)
    }

    /// The complaint about their number.
    const fn number(&self) -> Wrong {
        (LitmusErrorKind::Operands { form: self.form, found: self.found }, self.span)
    }

    fn value(&mut self) -> Result<Value, Wrong> {
        self.rest.next().ok_or_else(|| self.number())
    }

    fn name(&mut self, wanted: Expected) -> Result<Ident, Wrong> {
        match self.value()? {
            Value::Register(ident) => Ok(ident),
            Value::Number(_, at) => Err((LitmusErrorKind::Operand { form: self.form, wanted }, at)),
        }
    }

    fn register(&mut self) -> Result<Ident, Wrong> {
        self.name(Expected::Register)
    }

    fn location(&mut self) -> Result<Ident, Wrong> {
        self.name(Expected::Location)
    }
}

/// The instruction of a name, which stands at a place, with its operands.
///
/// # Errors
/// The word that is wrong, or what lacks.
pub(super) fn instruction(text: &str, span: Span, operands: Vec<Value>) -> Result<Instruction, Wrong> {
    let mut words = Words { rest: Some(text), at: span.start };
    let (name, at) = words.next().unwrap_or(("", span));
    let all = operands.iter().fold(span, |all, value| all.to(value.span()));
    let mut operands = Operands { found: operands.len(), rest: operands.into_iter(), span: all, form: "" };
    let instruction = match name {
        "ld" if words.rest.is_none() => {
            let of = operands.of("ld register, value", words)?;
            Instruction::Move { to: of.register()?, value: of.value()? }
        }
        "goto" => Instruction::Goto(operands.of("goto label", words)?.name(Expected::Label)?),
        "fence" => fence(words, &mut operands)?,
        "bar" => barrier(words, &mut operands)?,
        _ => match (ACCESSES.iter().find(|a| a.0 == name), Arith::named(name), Relation::named(name)) {
            (Some((_, proxy, kind)), ..) => memory(*proxy, *kind, words, &mut operands)?,
            (_, Some(op), _) => {
                let of = operands.of("add register, value, value", words)?;
                Instruction::Compute { op, to: of.register()?, left: of.value()?, right: of.value()? }
            }
            (.., Some(relation)) => {
                let of = operands.of("beq value, value, label", words)?;
                let (left, right) = (of.value()?, of.value()?);
                Instruction::Branch { relation, left, right, to: of.name(Expected::Label)? }
            }
            _ => return Err((LitmusErrorKind::UnknownInstruction, at)),
        },
    };
    if operands.rest.next().is_some() { Err(operands.number()) } else { Ok(instruction) }
}

fn fence(mut words: Words<'_>, operands: &mut Operands) -> Result<Instruction, Wrong> {
    let order = match words.one_of(FENCES, |word| word)? {
        "proxy" => {
            let proxy = Proxy::named(words.one_of(FENCED, |word| word)?);
            return operands.of("fence.proxy.PROXY", words).map(|_| Instruction::ProxyFence(proxy));
        }
        "sc" => Order::Sc,
        _ => Order::AcqRel,
    };
    let scope = words.one_of(SCOPES, Scope::name)?;
    operands.of("fence.ORDER.SCOPE", words).map(|_| Instruction::Fence { order, scope })
}

fn barrier(mut words: Words<'_>, operands: &mut Operands) -> Result<Instruction, Wrong> {
    words.one_of(&["cta"], |word| word)?;
    let waits = words.one_of(&["sync", "arrive"], |word| word)? == "sync";
    let of = operands.of("bar.cta.sync instance[, barrier[, quorum]]", words)?;
    let instance = match of.value()? {
        Value::Number(n, _) => n,
        Value::Register(ident) => {
            let wanted = Expected::Number;
            return Err((LitmusErrorKind::Operand { form: of.form, wanted }, ident.span));
        }
    };
    Ok(Instruction::Barrier { waits, instance, barrier: of.rest.next(), quorum: of.rest.next() })
}

fn memory(proxy: Proxy, kind: Kind, mut words: Words<'_>, operands: &mut Operands) -> Result<Instruction, Wrong> {
    let orders = match kind {
        Kind::Load => LOADS,
        Kind::Store => STORES,
        Kind::Atomic | Kind::Reduce => ATOMICS,
    };
    let order = words.one_of(orders, Order::name)?;
    let scope = if order == Order::Weak { None } else { Some(words.one_of(SCOPES, Scope::name)?) };
    let access = Access { proxy, order, scope };
    Ok(match kind {
        Kind::Load => {
            let of = operands.of("ld.ORDER.SCOPE register, location", words)?;
            Instruction::Load { access, to: of.register()?, from: of.location()? }
        }
        Kind::Store => {
            let of = operands.of("st.ORDER.SCOPE location, value", words)?;
            Instruction::Store { access, to: of.location()?, value: of.value()? }
        }
        Kind::Atomic => {
            let op = words.one_of(Atom::ALL, Atom::name)?;
            let cas = op == Atom::Cas;
            let of = operands.of(if cas { COMPARING } else { ATOMIC }, words)?;
            let (to, at, value) = (Some(of.register()?), of.location()?, of.value()?);
            Instruction::Atomic { access, op, to, at, value, new: if cas { Some(of.value()?) } else { None } }
        }
        Kind::Reduce => {
            let op = words.one_of(&Atom::ALL[..REDUCTIONS], Atom::name)?;
            let of = operands.of("red.ORDER.SCOPE.OPERATION location, value", words)?;
            Instruction::Atomic { access, op, to: None, at: of.location()?, value: of.value()?, new: None }
        }
    })
}
