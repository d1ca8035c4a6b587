//! Instructions of PTX.

use super::words::{Operands, Words, Wrong};
use crate::litmus::error::{Form, LitmusErrorKind};
use crate::litmus::names::{ACCESSES, Kind, SCOPES};
use crate::litmus::tree::{Access, Arch, Atom, Instruction, Proxy, PtxAccess};
use crate::program::instr::{Order, Scope};

const LOADS: &[Order] = &[Order::Weak, Order::Relaxed, Order::Acquire];
const STORES: &[Order] = &[Order::Weak, Order::Relaxed, Order::Release];
const ATOMICS: &[Order] = &[Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
const ATOMIC: Form = "atom.ORDER.SCOPE.OPERATION register, location, value";
const COMPARING: Form = "atom.ORDER.SCOPE.cas[.success] register, location, expected, new";
/// So many of the operations are those of `atom`, by one word each.
const OPERATIONS: usize = 9;
/// So many of those are those of `red`, too.
const REDUCTIONS: usize = 7;
/// What may follow `fence`.
const FENCES: &[&str] = &["acq_rel", "sc", "proxy"];
/// What may follow `fence.proxy`.
const FENCED: &[&str] = &["generic", "constant", "texture", "surface", "alias"];

/// The instruction of a name; none where PTX has no such.
///
/// # Errors
/// The word or operand that is wrong, or what lacks.
pub(super) fn instruction(
    name: &str,
    words: &mut Words<'_>,
    operands: &mut Operands,
) -> Result<Option<Instruction>, Wrong> {
    Ok(Some(match name {
        "ld" if words.is_over() => {
            let of = operands.of("ld register, value", words)?;
            Instruction::Move { to: of.register()?, value: of.value()? }
        }
        "fence" => fence(words, operands)?,
        "bar" => barrier(words, operands)?,
        _ => match ACCESSES.iter().find(|a| a.0 == name) {
            Some((_, proxy, kind)) => memory(*proxy, *kind, words, operands)?,
            None => return Ok(None),
        },
    }))
}

fn fence(words: &mut Words<'_>, operands: &mut Operands) -> Result<Instruction, Wrong> {
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

fn barrier(words: &mut Words<'_>, operands: &mut Operands) -> Result<Instruction, Wrong> {
    words.one_of(&["cta"], |word| word)?;
    let waits = words.one_of(&["sync", "arrive"], |word| word)? == "sync";
    let (instance, barrier, quorum) = operands.of("bar.cta.sync instance[, barrier[, quorum]]", words)?.meeting()?;
    Ok(Instruction::Barrier { waits, instance, barrier, quorum, fence: None })
}

/// How strong an access is, and for whom: a weak one is for nobody.
fn access(proxy: Proxy, orders: &[Order], words: &mut Words<'_>) -> Result<Access, Wrong> {
    let order = words.one_of(orders, Order::name)?;
    if order != Order::Weak {
        let scope = Some(words.one_of(SCOPES, Scope::name)?);
        return Ok(Access::Ptx(PtxAccess { proxy, order, scope }));
    }
    match words.peek().filter(|(word, _)| SCOPES.iter().any(|scope| scope.name() == *word)) {
        Some((_, span)) => Err((LitmusErrorKind::NoScope(Arch::Ptx), span)),
        None => Ok(Access::Ptx(PtxAccess { proxy, order, scope: None })),
    }
}

fn memory(proxy: Proxy, kind: Kind, words: &mut Words<'_>, operands: &mut Operands) -> Result<Instruction, Wrong> {
    let orders = match kind {
        Kind::Load => LOADS,
        Kind::Store => STORES,
        Kind::Atomic | Kind::Reduce => ATOMICS,
    };
    let access = access(proxy, orders, words)?;
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
            let op = match words.one_of(&Atom::ALL[..OPERATIONS], Atom::name)? {
                Atom::Cas if words.perhaps(&["success"], |word| word).is_some() => Atom::CasSuccess,
                op => op,
            };
            let of = operands.of(if op.compares() { COMPARING } else { ATOMIC }, words)?;
            let (to, at, value) = (Some(of.register()?), of.location()?, of.value()?);
            Instruction::Atomic { access, op, to, at, value, new: if op.compares() { Some(of.value()?) } else { None } }
        }
        Kind::Reduce => {
            let op = words.one_of(&Atom::ALL[..REDUCTIONS], Atom::name)?;
            let of = operands.of("red.ORDER.SCOPE.OPERATION location, value", words)?;
            Instruction::Atomic { access, op, to: None, at: of.location()?, value: of.value()?, new: None }
        }
    })
}
