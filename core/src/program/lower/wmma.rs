//! `wmma` (PTX ISA 9.7.14.4): fragments lie as those of `mma` do (D-wmma-layout), so that a load is a few ordinary loads by each
//! lane, a store a few stores, and the product an `mma` of larger matrices.

use super::function::{FnLower, Role};
use super::memory::space_word;
use super::operand::{Located, nth};
use crate::alu::matrix::Size;
use crate::program::env::{Init, Special};
use crate::program::instr::{MemOp, NO_SLOT, Slot, Space, WarpRequest};
use crate::program::matrix::layout::place;
use crate::program::matrix::{Matrix, MatrixKind, Multiply, Part, Registers, Types, wmma};
use crate::program::ops::{Class, IntOp};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Operand};

/// A matrix in memory, as a lane sees it.
struct Lying {
    of: Multiply,
    part: Part,
    /// By rows.
    rows: bool,
    /// Bits of an element.
    bits: u32,
    at: Located,
    space: Space,
    /// The distance of rows, or of columns, in elements, in a 32-bit slot.
    stride: Slot,
    /// The lane's place in a tile: along what the stride is for, and along the other way.
    major: Slot,
    minor: Slot,
}

impl<'t> FnLower<'_, 't> {
    /// `wmma.load`, `wmma.store`, `wmma.mma`.
    pub(super) fn wmma(&mut self, instr: &'t tree::Instr) -> Option<()> {
        match *instr.mods.first()? {
            M::LOAD => self.wmma_load(instr),
            M::STORE => self.wmma_store(instr),
            _ => self.wmma_mma(instr),
        }
    }

    /// `wmma.mma… d, a, b, c`.
    fn wmma_mma(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let types = match *self.types {
            [d, c] => [d, M::F16, M::F16, c],
            [d, a, b, c] => [d, a, b, c],
            _ => return None,
        };
        if instr.mods.iter().any(|word| matches!(*word, M::RZ | M::RM | M::RP)) {
            return None;
        }
        let of = wmma::product(&instr.mods, types, self.unit.names(), self.program.env.target.sm)?;
        let d = self.wmma_fragment(nth(instr, 0)?, &of, Part::D)?;
        let sources = [(1, Part::A), (2, Part::B), (3, Part::C)];
        let [a, b, c] = sources.map(|(number, part)| self.wmma_fragment(nth(instr, number)?, &of, part));
        self.together(
            Role::Main,
            Matrix { kind: MatrixKind::Multiply(of), d, sources: [a?, b?, c?, Registers::default()] },
        )
    }

    /// The registers of a fragment that matter. Of `f16` `A` and `B` have eight, of which the first ones hold all elements here
    /// and the others the same again.
    fn wmma_fragment(&mut self, op: &'t Operand, of: &Multiply, part: Part) -> Option<Registers> {
        let mut registers = self.fragment(op, of.class(part), part == Part::D)?;
        let first = registers.slots.iter().copied().take(of.registers(part)).collect();
        let all = std::mem::replace(&mut registers.slots, first);
        (all.len() == wmma::registers(of, part)).then_some(registers)
    }

    /// The matrix of a load or store of elements of a type: layout, address, stride.
    fn lying(&mut self, instr: &'t tree::Instr, part: Part, address: usize) -> Option<Lying> {
        let element = *self.types.last()?;
        let (names, sm) = (self.unit.names(), self.program.env.target.sm);
        let of = wmma::moved(&instr.mods, element, part, names, sm)?;
        let rows = instr.mods.contains(&M::ROW);
        let bits =
            if let (Types::Bits { .. }, Part::A | Part::B) = (of.types, part) { 1 } else { of.element_bits(part) };
        let Size { m, n, k } = of.size;
        let k = if bits == 1 { 32 * k } else { k };
        let (height, width) = match part {
            Part::A => (m, k),
            Part::B => (k, n),
            Part::C | Part::D => (m, n),
        };
        if !wmma::may_lie(&of, part, rows) {
            return None;
        }
        let at = self.address(nth(instr, address)?)?;
        let named = space_word(names, &instr.mods).unwrap_or(Space::Generic);
        let space = self.space(named, &at);
        let stride = match instr.operands.get(address + 1 + usize::from(part == Part::D)) {
            Some(op) => self.source(op, Class::W, M::U32)?,
            None => self.constant(Class::W, u64::try_from(if rows { width } else { height }).ok()?)?,
        };
        let lane = self.preload(Class::W, Init::Special(Special::LaneId))?;
        let two = self.constant(Class::W, 2)?;
        let three = self.constant(Class::W, 3)?;
        let group = self.helper(IntOp::ShrU32, Class::W, &[lane, two])?;
        let mut along = self.helper(IntOp::And32, Class::W, &[lane, three])?;
        // How many neighbours a lane has, in elements of memory.
        let each = if matches!(part, Part::C | Part::D) { 2 } else { u64::from(32 / bits.min(32)) };
        if each > 1 {
            let each = self.constant(Class::W, each.trailing_zeros().into())?;
            along = self.helper(IntOp::Shl32, Class::W, &[along, each])?;
        }
        let by_group = rows == (part != Part::B);
        let (major, minor) = if by_group { (group, along) } else { (along, group) };
        Some(Lying { of, part, rows, bits, at, space, stride, major, minor })
    }

    /// The address of the lane's element of a tile: where `major` rows (or columns) further on its tile begins.
    fn tile(&mut self, lying: &Lying, major: usize) -> Option<Located> {
        let Lying { at, stride, bits, .. } = *lying;
        let mut line = lying.major;
        if major > 0 {
            let more = self.constant(Class::W, u64::try_from(major).ok()?)?;
            line = self.helper(IntOp::Add32, Class::W, &[line, more])?;
        }
        let elements = self.helper(IntOp::MulWideU32, Class::Q, &[line, stride])?;
        let minor = self.helper(IntOp::ZextWQ, Class::Q, &[lying.minor])?;
        let elements = self.helper(IntOp::Add64, Class::Q, &[elements, minor])?;
        let size = self.constant(Class::W, bits.trailing_zeros().into())?;
        let three = self.constant(Class::W, 3)?;
        let all = self.helper(IntOp::Shl64, Class::Q, &[elements, size])?;
        let bytes = self.helper(IntOp::ShrU64, Class::Q, &[all, three])?;
        let slot = if at.wide {
            self.helper(IntOp::Add64, Class::Q, &[at.slot, bytes])?
        } else {
            let bytes = self.helper(IntOp::TruncQW, Class::W, &[bytes])?;
            self.helper(IntOp::Add32, Class::W, &[at.slot, bytes])?
        };
        Some(Located { slot, ..at })
    }

    /// The accesses for a register: where they are, how many bytes each has, and where its bits are in the register.
    fn pieces(&mut self, lying: &Lying, register: usize) -> Option<Vec<(Located, u8, u32)>> {
        let Lying { of, part, rows, bits, .. } = *lying;
        let per = of.per_register(part);
        let at = |index: usize| {
            let (row, column) = place(&of, part, 0, index);
            // Columns of single bits are counted in words.
            let along = if bits == 1 { 32 } else { 1 };
            let (row, column) = match part {
                Part::A => (row, column * along),
                Part::B => (row * along, column),
                Part::C | Part::D => (row, column),
            };
            if rows { (row, column) } else { (column, row) }
        };
        let first = register * per;
        let joined = per == 1 || at(first).0 == at(first + 1).0;
        let width = if joined { (of.element_bits(part) * u32::try_from(per).ok()?) / 8 } else { bits / 8 };
        let mut pieces = Vec::new();
        for index in (first..first + per).step_by(if joined { per } else { 1 }) {
            let (major, minor) = at(index);
            let mut tile = self.tile(lying, major)?;
            tile.offset = tile.offset.wrapping_add(i64::try_from(minor * bits as usize / 8).ok()?);
            let shift = u32::try_from(index - first).ok()? * bits;
            pieces.push((tile, u8::try_from(width).ok()?, if joined { 0 } else { shift }));
        }
        Some(pieces)
    }

    /// An access of a lane to a part of a fragment.
    fn piece(&mut self, lying: &Lying, op: MemOp, (at, width): (&Located, u8), data: Slot) {
        let class = if width == 8 { Class::Q } else { Class::W };
        let mut request = at.access(&WarpRequest::PLAIN, op, lying.space, width, class);
        request.regs[0] = data;
        self.request(Role::Main, request, at);
    }

    /// `wmma.load.{a,b,c}.sync.aligned.layout.shape{.ss}.type r, [p]{, stride}`.
    fn wmma_load(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let part = instr.mods.iter().find_map(|word| match *word {
            M::A => Some(Part::A),
            M::B => Some(Part::B),
            M::C => Some(Part::C),
            _ => None,
        })?;
        let lying = self.lying(instr, part, 1)?;
        let all = self.fragment(nth(instr, 0)?, lying.of.class(part), true)?;
        if all.slots.len() != wmma::registers(&lying.of, part) {
            return None;
        }
        let mut pieces = Vec::new();
        for register in 0..lying.of.registers(part) {
            pieces.push(self.pieces(&lying, register)?);
        }
        // What is read is put together in temporaries first: a destination may be the address.
        let mut values = Vec::new();
        for parts in &pieces {
            let mut value = None;
            for (at, width, shift) in parts {
                let class = if *width == 8 { Class::Q } else { Class::W };
                let mut part = self.temp(class)?;
                self.piece(&lying, MemOp::Load, (at, *width), part);
                if *shift > 0 {
                    let by = self.constant(Class::W, (*shift).into())?;
                    part = self.helper(IntOp::Shl32, Class::W, &[part, by])?;
                }
                value = Some(match value {
                    None => part,
                    Some(before) => self.helper(IntOp::Or32, Class::W, &[before, part])?,
                });
            }
            values.push(value?);
        }
        let moved = if all.class == Class::Q { IntOp::MovQ } else { IntOp::MovW };
        for (slot, value) in all.slots.iter().zip(values.iter().cycle()) {
            if *slot != NO_SLOT {
                self.alu(Role::Part, moved, *slot, &[*value]);
            }
        }
        Some(())
    }

    /// `wmma.store.d.sync.aligned.layout.shape{.ss}.type [p], r{, stride}`.
    fn wmma_store(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let lying = self.lying(instr, Part::D, 0)?;
        let from = self.fragment(nth(instr, 1)?, lying.of.class(Part::D), false)?;
        if from.slots.len() != lying.of.registers(Part::D) {
            return None;
        }
        for (register, slot) in from.slots.iter().enumerate() {
            for (at, width, shift) in self.pieces(&lying, register)? {
                let mut value = *slot;
                if shift > 0 {
                    let by = self.constant(Class::W, shift.into())?;
                    value = self.helper(IntOp::ShrU32, Class::W, &[value, by])?;
                }
                self.piece(&lying, MemOp::Store, (&at, width), value);
            }
        }
        Some(())
    }
}
