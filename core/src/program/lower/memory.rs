//! Memory actions: `ld`, `ldu`, `st`, `atom`, `red` (PTX ISA 9.7.9, 9.7.13).

use super::function::{FnLower, Role};
use super::moves::move_of;
use super::operand::{Located, nth, space_of};
use super::symbol::{Base, Place, Reg};
use super::types::{bits_type, class_of_type};
use crate::program::env::{Area, Init, Within};
use crate::program::instr::{CacheOp, Instr, MemOp, NO_SLOT, Op, Order, Scope, Slot, Space, WarpRequest};
use crate::program::ops::{AtomOp, AtomTy, Class};
use crate::program::select::{atom, int_cvt};
use crate::program::types::{bits_of, is_signed, lanes, state_space};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Names, Operand, OperandKind, StateSpace};
use smallvec::SmallVec;

/// The state space that modifiers name.
pub(super) fn space_word(names: &Names, mods: &[M]) -> Option<Space> {
    Some(match mods.iter().find_map(|m| state_space(*m, names))? {
        StateSpace::Global | StateSpace::Tex => Space::Global,
        StateSpace::Shared => Space::Shared,
        StateSpace::Local => Space::Local,
        StateSpace::Const => Space::Const,
        StateSpace::Param => Space::Param,
        StateSpace::Reg | StateSpace::Sreg | StateSpace::Generic => Space::Generic,
    })
}

/// The state space that a memory instruction names, and what else its qualifiers say, as a request.
fn qualifiers(names: &Names, mods: &[M]) -> (Space, WarpRequest) {
    let mut asked = WarpRequest { scope: scope_word(names, mods), ..WarpRequest::PLAIN };
    for word in mods {
        let text = word.text(names);
        match Order::named(text) {
            Some(Order::Relaxed) if asked.order == Order::Mmio => {}
            order => asked.order = order.unwrap_or(asked.order),
        }
        asked.cache = CacheOp::named(text).unwrap_or(asked.cache);
        asked.elems = asked.elems.max(lanes(Some(*word)));
    }
    (space_word(names, mods).unwrap_or(Space::Generic), asked)
}

impl Located {
    /// An access of elements of so many bytes that go through registers of a class.
    pub(super) fn access(&self, asked: &WarpRequest, op: MemOp, space: Space, width: u8, class: Class) -> WarpRequest {
        let wide = class == Class::Q;
        let ext = if wide { 64 } else { 32 };
        let Self { slot: addr, wide: addr_wide, offset, .. } = *self;
        WarpRequest { op, space, width, wide, ext, addr, addr_wide, offset, ..*asked }
    }
}

/// The scope that modifiers name.
pub(super) fn scope_word(names: &Names, mods: &[M]) -> Scope {
    let scope = |word: &M| if *word == M::GL { Some(Scope::Gpu) } else { Scope::named(word.text(names)) };
    mods.iter().find_map(scope).unwrap_or(Scope::Lane)
}

impl<'t> FnLower<'_, 't> {
    /// The space of an access. A parameter of a function lies in its frame; a variable named where no space is means
    /// its own.
    pub(super) fn space(&self, named: Space, at: &Located) -> Space {
        match (named, at.place) {
            (Space::Param | Space::Generic, Some(place)) => space_of(place),
            (Space::Param, None) if !self.is_entry() => Space::Local,
            (space, _) => space,
        }
    }

    /// Emits a memory action at an address, and notes which variable that names.
    pub(super) fn request(&mut self, role: Role, request: WarpRequest, at: &Located) {
        let imm = self.requested(request, at);
        let instr = Instr { imm, a: request.addr, d: request.regs[0], ..Instr::new(Op::Mem) };
        self.emit(role, instr);
    }

    /// The number of a memory action at an address, with a note of which variable that names.
    pub(super) fn requested(&mut self, request: WarpRequest, at: &Located) -> u32 {
        let imm = u32::try_from(self.program.env.requests.len()).unwrap_or(u32::MAX);
        self.direct.extend(at.owner.map(|owner| (imm, owner)));
        if let Some(within) = at.place.and_then(|place| self.within(place)) {
            self.program.env.named.insert(imm, within);
        }
        self.program.env.requests.push(WarpRequest { remote: self.remote, ..request });
        imm
    }

    /// A variable as a part of its window; none where the address's slot says which it is.
    pub(super) fn within(&self, Place { base, bytes, .. }: Place) -> Option<Within> {
        let (area, first) = match base {
            Base::Frame(first) if !self.is_entry() => (Area::Frame, first),
            // An entry's frame begins where local memory does.
            Base::Frame(first) | Base::Local(first) => (Area::Local, first),
            Base::Param(first) => (Area::Param, first),
            Base::Variable(_) | Base::Shared(_) | Base::DynamicShared => return None,
        };
        Some(Within { area, first, bytes })
    }

    /// A plain access of one element in local memory, for parameters.
    pub(super) fn local_access(&mut self, role: Role, op: MemOp, base: Slot, offset: i64, width: u8, data: Slot) {
        let at = Located::new(base, false, offset);
        let class = if width >= 8 { Class::Q } else { Class::W };
        let mut request = at.access(&WarpRequest::PLAIN, op, Space::Local, width, class);
        request.regs[0] = data;
        self.request(role, request, &at);
    }

    /// The data operands of a load or store: registers of a vector, the elements of `{…}`, or one operand.
    pub(super) fn elements(&mut self, op: &'t Operand) -> Elements<'t> {
        match op.kind {
            OperandKind::Vector(ref list) => Elements::List(list),
            OperandKind::Name(name) => match self.register(name) {
                Some(reg) if reg.lanes > 1 => Elements::Register(reg),
                _ => Elements::List(std::slice::from_ref(op)),
            },
            _ => Elements::List(std::slice::from_ref(op)),
        }
    }

    /// The slots of as many elements as a vector has: those of a vector register, or what `each` makes of the operands.
    pub(super) fn slots_of(
        &mut self,
        elements: &Elements<'t>,
        vector: u8,
        mut each: impl FnMut(&mut Self, &'t Operand) -> Option<Slot>,
    ) -> Option<[Slot; 8]> {
        let mut regs = [NO_SLOT; 8];
        let count = match elements {
            Elements::Register(reg) => {
                regs.iter_mut().zip(reg.components()).for_each(|(slot, reg)| *slot = reg.slot);
                usize::from(reg.lanes)
            }
            Elements::List(list) => {
                for (slot, op) in regs.iter_mut().zip(*list) {
                    *slot = each(self, op)?;
                }
                list.len()
            }
        };
        (count == usize::from(vector)).then_some(regs)
    }

    /// `ld{…}.type d, [a]` and `ldu`.
    pub(super) fn load(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let (named, asked) = qualifiers(self.unit.names(), &instr.mods);
        let ty = *self.types.last()?;
        let bits = bits_of(ty).filter(|b| *b >= 8)?;
        let width = u8::try_from(bits / 8).unwrap_or(16);
        let at = self.address(nth(instr, 1)?)?;
        let space = self.space(named, &at);
        let natural = class_of_type(ty);
        // Destinations; `_` is none.
        let mut dests: SmallVec<[Option<Reg>; 1]> = SmallVec::new();
        match self.elements(nth(instr, 0)?) {
            Elements::Register(reg) => dests.extend(reg.components().map(Some)),
            Elements::List(list) => {
                for op in list {
                    dests.push(match op.kind {
                        OperandKind::Sink => None,
                        _ => Some(self.destination(op, natural)?),
                    });
                }
            }
        }
        let narrow = |reg: &Reg| reg.class == Class::P || natural == Class::Q && reg.class == Class::W;
        if dests.len() != usize::from(asked.elems) || dests.iter().flatten().any(narrow) {
            return None;
        }
        if space == Space::Param && self.preloaded(&at, ty, width, &dests)? {
            return Some(());
        }
        let signed = is_signed(ty);
        let first = dests.iter().flatten().next().copied();
        let class = first.map_or(natural, |reg| reg.class);
        let ext = first.map_or(32, Reg::width);
        let alike = |reg: &Reg| reg.class == class && (!signed || reg.width() == ext);
        if dests.iter().flatten().all(alike) {
            let mut request = at.access(&asked, MemOp::Load, space, width, class);
            (request.signed, request.ext) = (signed, u8::try_from(ext).unwrap_or(64));
            for (slot, reg) in request.regs.iter_mut().zip(&dests) {
                *slot = reg.map_or(NO_SLOT, |reg| reg.slot);
            }
            self.request(Role::Main, request, &at);
            return Some(());
        }
        // Registers of several widths: the elements go through temporaries.
        let mut request = at.access(&asked, MemOp::Load, space, width, natural);
        for (slot, _) in request.regs.iter_mut().zip(&dests).filter(|(_, reg)| reg.is_some()) {
            *slot = self.temp(natural)?;
        }
        self.request(Role::Main, request, &at);
        let whole = if signed { ty } else { bits_type(bits) };
        for (slot, reg) in request.regs.iter().zip(&dests) {
            let Some(reg) = reg else { continue };
            if let Some(convert) = int_cvt::convert(whole, whole, false, reg.width(), natural) {
                self.alu(Role::Part, convert, reg.slot, &[*slot]);
            }
        }
        Some(())
    }

    /// `ld.param` of an entry at a constant address: a move from a slot that is filled at launch. Whether it is one.
    fn preloaded(&mut self, at: &Located, ty: M, width: u8, dests: &[Option<Reg>]) -> Option<bool> {
        let Some(Place { base: Base::Param(start), bytes: size, .. }) = at.place else { return Some(false) };
        let bytes = i64::from(width) * i64::try_from(dests.len()).unwrap_or(1);
        // What lies outside of the parameter is left to the memory, which says so when it is read.
        let inside = at.offset >= i64::from(start) && at.offset + bytes <= i64::from(start) + i64::from(size);
        let Ok(offset) = u32::try_from(at.offset) else { return Some(false) };
        if !inside || at.offset % bytes != 0 {
            return Some(false);
        }
        for (i, dest) in (0u32..).zip(dests) {
            let Some(reg) = dest else { continue };
            let offset = offset + i * u32::from(width);
            let parts: &[u32] = if width == 16 { &[0, 8] } else { &[0] };
            for (part, at) in (0u16..).zip(parts) {
                let ext = if width == 16 { 64 } else { u8::try_from(reg.width()).unwrap_or(64) };
                let init = Init::Param { offset: offset + at, bytes: width.min(8), signed: is_signed(ty), ext };
                let from = self.preload(reg.class, init)?;
                self.alu(Role::Main, move_of(reg.class), Slot(reg.slot.0.saturating_add(part)), &[from]);
            }
        }
        if !self.named {
            self.plain(Op::Nop)?;
        }
        Some(true)
    }

    /// `st{…}.type [a], b`.
    pub(super) fn store(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let (named, asked) = qualifiers(self.unit.names(), &instr.mods);
        let ty = *self.types.last()?;
        let bits = bits_of(ty).filter(|b| *b >= 8)?;
        let at = self.address(nth(instr, 0)?)?;
        let space = self.space(named, &at);
        let elements = self.elements(nth(instr, 1)?);
        // All data registers of a request are of one class: 64-bit ones serve narrow elements, too.
        let class = match elements {
            Elements::Register(reg) => reg.class,
            Elements::List(list) => {
                let mut wide = class_of_type(ty) == Class::Q;
                for op in list {
                    wide |= self.as_register(op).is_some_and(|reg| reg.class == Class::Q);
                }
                if wide { Class::Q } else { Class::W }
            }
        };
        if class == Class::P {
            return None;
        }
        let regs = self.slots_of(&elements, asked.elems, |lower, op| {
            if bits == 128 { lower.wide_source(op) } else { lower.source(op, class, ty) }
        })?;
        let request = at.access(&asked, MemOp::Store, space, u8::try_from(bits / 8).unwrap_or(16), class);
        self.request(Role::Main, WarpRequest { regs, ..request }, &at);
        Some(())
    }

    /// The first slot of a 128-bit register.
    pub(super) fn wide_source(&mut self, op: &Operand) -> Option<Slot> {
        self.as_register(op).filter(|reg| reg.bits == 128).map(|reg| reg.slot)
    }

    /// `atom{…}.op.type d, [a], b{, c}` and `red`. A vector is several accesses, each atomic by itself.
    pub(super) fn atomic(&mut self, instr: &'t tree::Instr, red: bool) -> Option<()> {
        let (named, mut asked) = qualifiers(self.unit.names(), &instr.mods);
        let ty = *self.types.last()?;
        let (function, mut kind) = atom(&instr.mods, ty)?;
        let address = usize::from(!red);
        let mut at = self.address(nth(instr, address)?)?;
        let space = self.space(named, &at);
        // Addition flushes subnormal numbers in global memory, not in shared memory (PTX ISA, atom: notes).
        // NaN of 64 bits is left as it is there (D-nan64).
        if space == Space::Global && function == AtomOp::Add {
            kind = match kind {
                AtomTy::F32 => AtomTy::F32Ftz,
                AtomTy::F64 => AtomTy::F64Raw,
                other => other,
            };
        }
        let class = class_of_type(ty);
        let wide128 = kind == AtomTy::B128;
        let count = asked.elems;
        let mut olds = [NO_SLOT; 8];
        if !red {
            let dest = self.elements(nth(instr, 0)?);
            olds = self.slots_of(&dest, count, |lower, op| match op.kind {
                OperandKind::Sink => Some(NO_SLOT),
                _ if wide128 => lower.wide_source(op),
                _ => lower.destination_of(op, class),
            })?;
            // The address must outlive the first of several results.
            if count > 1 && olds.contains(&at.slot) && at.wide == (class == Class::Q) {
                at.slot = self.helper(move_of(if at.wide { Class::Q } else { Class::W }), class, &[at.slot])?;
            }
        }
        let mut values = [[NO_SLOT; 8]; 2];
        for (i, value) in values.iter_mut().take(if function == AtomOp::Cas { 2 } else { 1 }).enumerate() {
            let elements = self.elements(nth(instr, address + 1 + i)?);
            *value = self.slots_of(&elements, count, |lower, op| {
                if wide128 { lower.wide_source(op) } else { lower.source(op, class, ty) }
            })?;
        }
        // Without qualifiers an atomic operation is relaxed and of device scope.
        asked.order = if asked.order == Order::Weak { Order::Relaxed } else { asked.order };
        asked.scope = if asked.scope == Scope::Lane { Scope::Gpu } else { asked.scope };
        asked.elems = 1;
        let op = if red { MemOp::Red(function, kind) } else { MemOp::Atom(function, kind) };
        let width = u8::try_from(kind.bytes()).unwrap_or(16);
        for i in 0..usize::from(count) {
            let mut request = at.access(&asked, op, space, width, class);
            request.regs[..3].copy_from_slice(&[olds[i], values[0][i], values[1][i]]);
            self.request(Role::Main, request, &at);
            at.offset = at.offset.wrapping_add(i64::from(width));
        }
        Some(())
    }
}

/// The data operands of a memory instruction.
pub(super) enum Elements<'t> {
    Register(Reg),
    List(&'t [Operand]),
}
