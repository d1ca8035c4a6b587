//! Instructions of Vulkan.

use super::words::{Operands, Words, Wrong};
use crate::litmus::error::{Form, LitmusErrorKind};
use crate::litmus::names::{CLASSES, MAKES, ORDERS, SEMANTICS};
use crate::litmus::tree::{Access, Arch, Atom, Instruction, Reach, Semantics, VulkanAccess, VulkanScope};
use crate::program::instr::Order;

const LOAD: Form = "ld[.nonpriv | .vis.SCOPE | .atom[.acq].SCOPE].scN register, location";
const STORE: Form = "st[.nonpriv | .av.SCOPE | .atom[.rel].SCOPE].scN location, value";
const ATOMIC: Form = "rmw.atom[.ORDER].SCOPE.scN[.OPERATION] register, location, value";
const COMPARING: Form = "rmw.atom[.ORDER].SCOPE.scN.cas register, location, expected, new";
const BARRIER: Form = "cbar[.ORDER].SCOPE instance[, barrier[, quorum]]";
/// The operations of `rmw`; without one it exchanges.
const OPERATIONS: &[(&str, Atom)] = &[
    ("add", Atom::Add),
    ("sub", Atom::Sub),
    ("mul", Atom::Mul),
    ("div", Atom::Div),
    ("and", Atom::And),
    ("or", Atom::Or),
    ("xor", Atom::Xor),
    ("cas", Atom::CasSuccess),
    ("exch", Atom::Exch),
];

/// What an instruction can order.
struct Orders {
    orders: &'static [(&'static str, Order)],
    /// What it can make available or visible by that.
    makes: &'static [&'static str],
}

const ACQUIRES: Orders = Orders { orders: ORDERS.split_at(1).0, makes: MAKES.split_at(1).1 };
const RELEASES: Orders = Orders { orders: ORDERS.split_at(2).0.split_at(1).1, makes: MAKES.split_at(1).0 };
const BOTH: Orders = Orders { orders: ORDERS, makes: &MAKES };

/// The instruction of a name; none where Vulkan has no such.
///
/// # Errors
/// The word or operand that is wrong, or what lacks.
pub(super) fn instruction(
    name: &str,
    words: &mut Words<'_>,
    operands: &mut Operands,
) -> Result<Option<Instruction>, Wrong> {
    Ok(Some(match name {
        "ld" => {
            let access = access("vis", &ACQUIRES, words)?;
            let of = operands.of(LOAD, words)?;
            Instruction::Load { access, to: of.register()?, from: of.location()? }
        }
        "st" => {
            let access = access("av", &RELEASES, words)?;
            let of = operands.of(STORE, words)?;
            Instruction::Store { access, to: of.location()?, value: of.value()? }
        }
        "rmw" => {
            words.one_of(&["atom"], |word| word)?;
            let access = Access::Vulkan(atomic(&BOTH, words)?);
            let (_, op) = words.perhaps(OPERATIONS, |(name, _)| name).unwrap_or(("", Atom::Exch));
            let of = operands.of(if op.compares() { COMPARING } else { ATOMIC }, words)?;
            let (to, at, value) = (Some(of.register()?), of.location()?, of.value()?);
            Instruction::Atomic { access, op, to, at, value, new: if op.compares() { Some(of.value()?) } else { None } }
        }
        "membar" => {
            let (_, order) = words.one_of(ORDERS, |(name, _)| name)?;
            let scope = words.one_of(VulkanScope::ALL, VulkanScope::name)?;
            let semantics = BOTH.semantics(order, words)?;
            operands.of("membar.ORDER.SCOPE.semscN", words)?;
            Instruction::Membar { scope, semantics }
        }
        "cbar" => {
            let order = BOTH.order(words);
            let scope = words.one_of(VulkanScope::ALL, VulkanScope::name)?;
            let fence = Some((scope, BOTH.semantics(order, words)?));
            let (instance, barrier, quorum) = operands.of(BARRIER, words)?.meeting()?;
            Instruction::Barrier { waits: true, instance, barrier, quorum, fence }
        }
        "avdevice" => operands.of("avdevice", words).map(|_| Instruction::AvDevice)?,
        "visdevice" => operands.of("visdevice", words).map(|_| Instruction::VisDevice)?,
        _ => return Ok(None),
    }))
}

fn class(words: &mut Words<'_>) -> Result<u8, Wrong> {
    words.one_of(&[0, 1, 2, 3], |k| CLASSES[usize::from(k)])
}

/// The qualifiers of a load or a store; `coherent` is what makes it do more than not being private.
fn access(coherent: &'static str, orders: &Orders, words: &mut Words<'_>) -> Result<Access, Wrong> {
    let reach = match words.perhaps(&["nonpriv", coherent, "atom"], |word| word) {
        Some("atom") => return atomic(orders, words).map(Access::Vulkan),
        Some("nonpriv") => Reach::NonPrivate,
        Some(_) => Reach::Coherent(words.one_of(VulkanScope::ALL, VulkanScope::name)?),
        None => Reach::Private,
    };
    match words.peek() {
        Some((word, span)) if !matches!(reach, Reach::Coherent(_)) && VulkanScope::named(word).is_some() => {
            Err((LitmusErrorKind::NoScope(Arch::Vulkan), span))
        }
        _ => Ok(Access::Vulkan(VulkanAccess { reach, class: class(words)?, semantics: Semantics::NONE })),
    }
}

/// The qualifiers of an atomic operation after `atom`.
fn atomic(orders: &Orders, words: &mut Words<'_>) -> Result<VulkanAccess, Wrong> {
    let order = orders.order(words);
    let reach = Reach::Atomic(words.one_of(VulkanScope::ALL, VulkanScope::name)?);
    Ok(VulkanAccess { reach, class: class(words)?, semantics: orders.semantics(order, words)? })
}

impl Orders {
    /// The order, relaxed where none is given.
    fn order(&self, words: &mut Words<'_>) -> Order {
        words.perhaps(self.orders, |(name, _)| name).map_or(Order::Relaxed, |(_, order)| order)
    }

    /// What an order is about: at least one storage class, and what it makes available or visible. Nothing without an order.
    fn semantics(&self, order: Order, words: &mut Words<'_>) -> Result<Semantics, Wrong> {
        let mut all = Semantics { order, ..Semantics::NONE };
        if order == Order::Relaxed {
            return match words.peek() {
                Some((word, span)) if SEMANTICS.contains(&word) || MAKES.contains(&word) => {
                    let orders = self.orders.iter().map(|(name, _)| *name).collect();
                    Err((LitmusErrorKind::NoOrder { orders }, span))
                }
                _ => Ok(all),
            };
        }
        let mut left = SEMANTICS.to_vec();
        let mut next = Some(words.one_of(&left, |word| word)?);
        left.extend(self.makes);
        while let Some(word) = next {
            match SEMANTICS.iter().position(|other| *other == word) {
                Some(class) => all.classes |= 1 << class,
                None if word == MAKES[0] => all.available = true,
                None => all.visible = true,
            }
            left.retain(|other| *other != word);
            next = words.perhaps(&left, |word| word);
        }
        Ok(all)
    }
}
