//! Layout: sizes and offsets of variables and parameters (steps 3 and 4 of the report's 5.1.3), and of the functions'
//! code in the environment.

use super::consts::integer;
use super::env::{FuncId, Init, Param, ProgEnv};
use super::fncode::FnCode;
use super::instr::Op;
use super::types::{bits_of, lanes};
use crate::base::{Pc, Span};
use crate::ptx::tree::{Declarator, Initialiser, Names, StateSpace, Variable};

/// Rounds up to a multiple of a power of two.
pub(super) fn align_up(offset: u32, align: u32) -> Option<u32> {
    let mask = align.max(1).checked_sub(1)?;
    Some(offset.checked_add(mask)? & !mask)
}

/// The size of a declared thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Extent {
    /// Bytes in all.
    pub(super) bytes: u64,
    /// Bytes of an element (of a vector: the whole vector).
    pub(super) element: u32,
    /// Alignment in bytes.
    pub(super) align: u32,
}

/// Bytes of an element of a variable; predicates as parameters take one.
pub(super) fn element_bytes(variable: &Variable) -> u32 {
    bits_of(variable.ty).unwrap_or(32).div_ceil(8) * u32::from(lanes(variable.vector))
}

/// How many elements the outermost dimension of an initialiser has, where it is a list.
pub(super) fn elements(init: Option<&Initialiser>) -> u64 {
    match init {
        Some(Initialiser::Ints(values, _)) => values.len() as u64,
        Some(Initialiser::List(values, _)) => values.len() as u64,
        _ => 0,
    }
}

/// The sizes of one name of a declaration; none where it is too large. A first dimension `[]` is as long as its
/// initialiser, else zero.
pub(super) fn extent(variable: &Variable, declarator: &Declarator) -> Option<Extent> {
    let element = element_bytes(variable);
    let sizes = declarator.dims.iter().flatten();
    let mut count = sizes.map(integer).try_fold(1u64, |count, size| count.checked_mul(size?))?;
    if declarator.dims.iter().any(Option::is_none) {
        let outer = match &declarator.init {
            // A flat list may spell the elements of all dimensions.
            Some(Initialiser::Ints(values, _)) if declarator.dims.len() > 1 => {
                (values.len() as u64).div_ceil(count.max(1))
            }
            init => elements(init.as_ref()),
        };
        count = count.checked_mul(outer)?;
    }
    let bytes = count.checked_mul(u64::from(element)).filter(|b| *b < 1 << 40)?;
    let natural = element.max(1).next_power_of_two();
    let align = variable.align.filter(|a| a.is_power_of_two()).unwrap_or(natural);
    Some(Extent { bytes, element, align })
}

/// Lays parameters out one after another; gives them and the end.
///
/// # Errors
/// Where one stands that takes them beyond 4 GiB.
pub(super) fn parameters(list: &[Variable], names: &Names, from: u32, out: &mut Vec<Param>) -> Result<u32, Span> {
    let mut end = from;
    for variable in list {
        for declarator in &variable.declarators {
            let place = || {
                let size = extent(variable, declarator)?;
                let bytes = u32::try_from(size.bytes).ok()?;
                let offset = align_up(end, size.align)?;
                Some((offset, bytes, size.align, offset.checked_add(bytes)?))
            };
            let (offset, bytes, align, next) = place().ok_or(declarator.ident.span)?;
            end = next;
            out.push(Param {
                name: names.text(declarator.ident.name).to_owned(),
                ty: variable.ty.text(names).to_owned(),
                offset,
                bytes,
                align,
                array: !declarator.dims.is_empty(),
                pointer: variable.ptr.is_some(),
            });
        }
    }
    Ok(end)
}

/// Whether a parameter is a register (`.func (.reg .u32 r) f (.reg .u32 a)`, PTX ISA 1.x).
pub(super) fn is_register(variable: &Variable) -> bool {
    variable.space == StateSpace::Reg
}

/// Appends a function's code to the environment, its local indices turned into program addresses; gives back where it
/// begins and its preloads' final values.
pub(super) fn append(env: &mut ProgEnv, mut code: FnCode, function: FuncId) -> Pc {
    let index = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let start = index(env.code.len());
    let tables = index(env.tables.len());
    let calls = tables.saturating_add(index(code.tables.len()));
    for mut table in code.tables.drain(..) {
        for target in &mut table {
            *target = target.saturating_add(start);
        }
        env.tables.push(table);
    }
    env.tables.append(&mut code.calls);
    for instr in &mut code.code {
        match instr.op {
            Op::Bra | Op::Ssy | Op::PreBrk | Op::PreRet | Op::Break => instr.imm = instr.imm.saturating_add(start),
            Op::Brx => instr.imm = instr.imm.saturating_add(tables),
            Op::CallIndirect if instr.imm != u32::MAX => instr.imm = instr.imm.saturating_add(calls),
            _ => {}
        }
    }
    for preload in &mut code.preloads {
        if let Init::Code(pc) = &mut preload.init {
            pc.0 = pc.0.saturating_add(start);
        }
    }
    env.code.append(&mut code.code);
    env.origin.append(&mut code.origin);
    if let Some((_, f)) = env.functions.get_index_mut(function.0 as usize) {
        f.start = Pc(start);
        f.end = Pc(index(env.code.len()));
        f.slots = code.slots;
        f.preloads = code.preloads;
    }
    Pc(start)
}
