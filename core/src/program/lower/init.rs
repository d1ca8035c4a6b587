//! Initial values of variables (PTX ISA 5.4.4).

use super::error::LowerErrorKind;
use super::symbol::{Base, Place, Sym};
use super::types::constant_bits;
use super::{Program, Unit};
use crate::base::Span;
use crate::program::consts::{Value, evaluate, integer};
use crate::program::env::{Init, Relocation};
use crate::program::types::{bits_of, lanes};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{Declarator, Expr, Initialiser, Variable};

/// No initialiser is longer than the text it is written in, but a list of lists can stand far apart.
const MAX_BYTES: u64 = 1 << 28;

/// Writes a variable's initialiser into the environment's variable `index`.
pub(in crate::program) fn initialise(
    program: &mut Program,
    unit: &Unit<'_>,
    tree: &Variable,
    declarator: &Declarator,
    index: u32,
) {
    let Some(init) = &declarator.init else { return };
    let scalar = u64::from(bits_of(tree.ty).unwrap_or(32).div_ceil(8));
    // Bytes of an element of each dimension, outermost first; a vector is one more dimension.
    let mut strides = vec![scalar];
    let mut stride = scalar;
    let vector = u64::from(lanes(tree.vector));
    if vector > 1 {
        stride = stride.saturating_mul(vector);
        strides.insert(0, stride);
    }
    for dim in declarator.dims.iter().skip(1).rev() {
        let Some(size) = dim.as_ref().and_then(integer) else { break };
        stride = stride.saturating_mul(size);
        strides.insert(0, stride);
    }
    let mut writer = Writer { unit, program, ty: tree.ty, scalar, strides, out: Vec::new(), relocations: Vec::new() };
    // What cannot be written has been complained about.
    let _ = writer.walk(init, 0, 0);
    let Writer { out, relocations, .. } = writer;
    if let Some((_, variable)) = program.env.variables.get_index_mut(index as usize) {
        variable.init = out;
        variable.init.truncate(usize::try_from(variable.bytes).unwrap_or(usize::MAX));
        variable.relocations.extend(relocations);
    }
}

struct Writer<'a, 't> {
    unit: &'a Unit<'t>,
    program: &'a mut Program,
    ty: M,
    scalar: u64,
    strides: Vec<u64>,
    out: Vec<u8>,
    relocations: Vec<Relocation>,
}

impl Writer<'_, '_> {
    fn walk(&mut self, init: &Initialiser, depth: usize, at: u64) -> Option<()> {
        match init {
            Initialiser::Value(expr) => self.value(expr, at),
            Initialiser::Ints(values, span) => {
                let count = values.len() as u64;
                let end = at.saturating_add(count.saturating_mul(self.scalar));
                self.reserve(end, *span)?;
                for (i, value) in (0u64..).zip(values) {
                    let value = Value::Int { bits: value.cast_unsigned(), unsigned: false };
                    self.put(at + i * self.scalar, constant_bits(value, self.ty).unwrap_or(0));
                }
                Some(())
            }
            Initialiser::List(values, _) => {
                let stride = self.strides.get(depth).copied().unwrap_or(self.scalar);
                // Values directly in an outer list spell the innermost elements one after another.
                let mut next = at;
                for item in values {
                    self.walk(item, depth + 1, next)?;
                    let step = if matches!(item, Initialiser::Value(_)) { self.scalar } else { stride };
                    next = next.saturating_add(step);
                }
                Some(())
            }
            Initialiser::Fields(..) => Some(()),
        }
    }

    fn reserve(&mut self, end: u64, span: Span) -> Option<()> {
        if end > MAX_BYTES {
            self.program.complain(self.unit.file, LowerErrorKind::TooLarge, span);
            return None;
        }
        let end = usize::try_from(end).ok()?;
        if self.out.len() < end {
            self.out.resize(end, 0);
        }
        Some(())
    }

    /// Writes the low bytes of a scalar; there is room for it.
    fn put(&mut self, at: u64, bits: u64) {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let bytes = bits.to_le_bytes();
        let len = usize::try_from(self.scalar.min(8)).unwrap_or(8);
        if let Some(out) = self.out.get_mut(at..at.saturating_add(len)) {
            out.copy_from_slice(&bytes[..len]);
        }
    }

    fn value(&mut self, expr: &Expr, at: u64) -> Option<()> {
        let value = evaluate(expr).ok()?;
        self.reserve(at.saturating_add(self.scalar), expr.span)?;
        let Value::Address(address) = value else {
            self.put(at, constant_bits(value, self.ty)?);
            return Some(());
        };
        let of = match self.unit.globals.get(address.name.0 as usize) {
            Some(Sym::Function(id)) => {
                self.program.taken.push(*id);
                Init::Function(*id)
            }
            Some(Sym::Place(Place { base: Base::Variable(index), .. })) => {
                Init::Variable { index: *index, offset: address.offset }
            }
            // Checking refuses what each block or thread has for itself.
            Some(Sym::Place(_)) => return None,
            _ => {
                let name = self.unit.names().text(address.name).to_owned();
                self.program.complain(self.unit.file, LowerErrorKind::Undeclared(name), address.span);
                return None;
            }
        };
        let shift = u8::try_from(address.mask.map_or(0, |m| m.trailing_zeros().min(56))).unwrap_or(0);
        let bytes = if address.mask.is_some() { 1 } else { u8::try_from(self.scalar.min(8)).unwrap_or(8) };
        self.relocations.push(Relocation { at, bytes, shift, of });
        Some(())
    }
}
