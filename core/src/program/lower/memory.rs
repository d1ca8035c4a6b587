//! Memory actions: `ld`, `ldu`, `st`, `atom`, `red` (PTX ISA 9.7.9, 9.7.13).

use super::Value as Preloaded;
use super::compute::register_bits;
use super::error::{Lowered, operand};
use super::function::{FnLower, Role};
use super::operand::{Located, nth, space_of};
use super::symbol::{Base, Place, Reg, Sym};
use super::types::class_of_type;
use crate::program::env::{Area, Init, Within};
use crate::program::instr::{CacheOp, Instr, MemOp, NO_SLOT, Op, Order, Scope, Slot, Space, WarpRequest};
use crate::program::ops::IntOp;
use crate::program::ops::{AtomOp, AtomTy, Class};
use crate::program::select::{Selected, atom, int_cvt};
use crate::program::types::{bits_of, is_signed};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Names, Operand, OperandKind, StateSpace};

/// The state space that modifiers name.
pub(super) fn space_word(names: &Names, mods: &[M]) -> Option<StateSpace> {
    mods.iter().find_map(|m| {
        Some(match *m {
            M::GLOBAL => StateSpace::Global,
            M::SHARED | M::SHARED_CTA | M::SHARED_CLUSTER => StateSpace::Shared,
            M::LOCAL => StateSpace::Local,
            M::CONST => StateSpace::Const,
            M::PARAM | M::PARAM_ENTRY | M::PARAM_FUNC => StateSpace::Param,
            M::GENERIC => StateSpace::Generic,
            // A constant bank of PTX 1.x: `const[2]`.
            other if !other.is_known() && other.text(names).starts_with("const[") => StateSpace::Const,
            _ => return None,
        })
    })
}

/// What the qualifiers of a memory instruction say.
struct Words {
    space: StateSpace,
    order: Order,
    scope: Scope,
    cache: CacheOp,
    vector: u8,
}

impl Words {
    fn of(names: &Names, mods: &[M]) -> Self {
        let mut words = Self {
            space: space_word(names, mods).unwrap_or(StateSpace::Generic),
            order: Order::Weak,
            scope: scope_word(mods),
            cache: CacheOp::Default,
            vector: 1,
        };
        for word in mods {
            match *word {
                M::VOLATILE => words.order = Order::Volatile,
                M::RELAXED if words.order != Order::Mmio => words.order = Order::Relaxed,
                M::ACQUIRE => words.order = Order::Acquire,
                M::RELEASE => words.order = Order::Release,
                M::ACQ_REL => words.order = Order::AcqRel,
                M::MMIO => words.order = Order::Mmio,
                M::CA => words.cache = CacheOp::Ca,
                M::CG => words.cache = CacheOp::Cg,
                M::CS => words.cache = CacheOp::Cs,
                M::LU => words.cache = CacheOp::Lu,
                M::CV => words.cache = CacheOp::Cv,
                M::WB => words.cache = CacheOp::Wb,
                M::WT => words.cache = CacheOp::Wt,
                M::NC => words.cache = CacheOp::Nc,
                M::V2 => words.vector = 2,
                M::V4 => words.vector = 4,
                M::V8 => words.vector = 8,
                _ => {}
            }
        }
        words
    }
}

/// The scope that modifiers name.
pub(super) fn scope_word(mods: &[M]) -> Scope {
    mods.iter()
        .find_map(|m| match *m {
            M::CTA => Some(Scope::Cta),
            M::CLUSTER => Some(Scope::Cluster),
            M::GPU | M::GL => Some(Scope::Gpu),
            M::SYS => Some(Scope::Sys),
            _ => None,
        })
        .unwrap_or(Scope::Lane)
}

impl<'t> FnLower<'_, 't> {
    /// The space of an access. A parameter of a function lies in its frame; a variable named where no space is means
    /// its own.
    fn space(&self, named: StateSpace, at: &Located) -> Space {
        let space = match (named, at.place) {
            (StateSpace::Param | StateSpace::Generic, Some(place)) => space_of(place),
            (StateSpace::Param, None) if !self.is_entry() => StateSpace::Local,
            (space, _) => space,
        };
        match space {
            StateSpace::Global | StateSpace::Tex => Space::Global,
            StateSpace::Shared => Space::Shared,
            StateSpace::Local => Space::Local,
            StateSpace::Const => Space::Const,
            StateSpace::Param => Space::Param,
            StateSpace::Reg | StateSpace::Sreg | StateSpace::Generic => Space::Generic,
        }
    }

    /// Emits a memory action; `owner` is the variable that it names.
    pub(super) fn request(&mut self, role: Role, request: WarpRequest, owner: Option<u32>) {
        let imm = u32::try_from(self.program.env.requests.len()).unwrap_or(u32::MAX);
        self.direct.extend(owner.map(|owner| (imm, owner)));
        self.program.env.requests.push(request);
        let instr = Instr { imm, a: request.addr, d: request.regs[0], ..Instr::new(Op::Mem) };
        self.emit(role, instr);
    }

    /// Notes which variable the next request's address names, where its slot does not say so.
    fn name_next(&mut self, at: &Located) {
        let Some(Place { base, bytes, .. }) = at.place else { return };
        let (area, first) = match base {
            Base::Frame(first) if !self.is_entry() => (Area::Frame, first),
            Base::Frame(first) | Base::Local(first) => (Area::Local, first),
            Base::Param(first) => (Area::Param, first),
            Base::Variable(_) | Base::Shared(_) | Base::DynamicShared => return,
        };
        let next = u32::try_from(self.program.env.requests.len()).unwrap_or(u32::MAX);
        self.program.env.named.insert(next, Within { area, first, bytes });
    }

    /// A plain access of one element in local memory, for parameters.
    pub(super) fn local_access(&mut self, role: Role, op: MemOp, base: Slot, offset: i64, width: u8, data: Slot) {
        let mut regs = [NO_SLOT; 8];
        regs[0] = data;
        let wide = width >= 8;
        self.request(
            role,
            WarpRequest {
                op,
                space: Space::Local,
                width,
                elems: 1,
                wide,
                signed: false,
                ext: if wide { 64 } else { 32 },
                addr: base,
                addr_wide: false,
                offset,
                regs,
                cache: CacheOp::Default,
                order: Order::Weak,
                scope: Scope::Lane,
            },
            None,
        );
    }

    /// The data operands of a load or store: registers of a vector, the elements of `{…}`, or one operand.
    fn elements(&mut self, op: &'t Operand) -> Lowered<Elements<'t>> {
        if let OperandKind::Vector(list) = &op.kind {
            return Ok(Elements::List(list));
        }
        if let OperandKind::Name(name) = op.kind
            && let Sym::Reg(reg) = self.lookup(name)?
            && reg.lanes > 1
        {
            return Ok(Elements::Register(reg));
        }
        Ok(Elements::List(std::slice::from_ref(op)))
    }

    /// `ld{…}.type d, [a]` and `ldu`.
    pub(super) fn load(&mut self, instr: &'t tree::Instr) -> Lowered<bool> {
        let words = Words::of(self.unit.names(), &instr.mods);
        let [.., ty] = *self.types else { return Ok(false) };
        let Some(bits) = bits_of(ty).filter(|b| *b >= 8) else { return Ok(false) };
        let width = u8::try_from(bits / 8).unwrap_or(16);
        let at = self.address(nth(instr, 1)?)?;
        let space = self.space(words.space, &at);
        let natural = class_of_type(ty);
        // Destinations; `_` is none.
        let dest = nth(instr, 0)?;
        let mut dests: Vec<Option<Reg>> = Vec::with_capacity(1);
        match self.elements(dest)? {
            Elements::Register(reg) => dests.extend((0..reg.lanes).map(|i| reg.component(i))),
            Elements::List(list) => {
                for op in list {
                    dests.push(match op.kind {
                        OperandKind::Sink => None,
                        _ => Some(self.destination(op, natural)?),
                    });
                }
            }
        }
        if dests.len() != usize::from(words.vector) || !matches!(dests.len(), 1 | 2 | 4 | 8) {
            return operand("as many registers as the vector has elements", dest.span);
        }
        if dests.iter().flatten().any(|reg| reg.class == Class::P || (natural == Class::Q && reg.class == Class::W)) {
            return operand("registers at least as wide as the elements", dest.span);
        }
        if space == Space::Param && self.preloaded(&at, ty, width, &dests)? {
            return Ok(true);
        }
        let signed = is_signed(ty);
        let first = dests.iter().flatten().next().copied();
        let class = first.map_or(natural, |reg| reg.class);
        let ext = first.map_or(32, register_bits);
        let alike = dests.iter().flatten().all(|reg| reg.class == class && (!signed || register_bits(*reg) == ext));
        let mut regs = [NO_SLOT; 8];
        let mut request = WarpRequest {
            op: MemOp::Load,
            space,
            width,
            elems: words.vector,
            wide: class == Class::Q,
            signed,
            ext: u8::try_from(ext).unwrap_or(64),
            addr: at.slot,
            addr_wide: at.wide,
            offset: at.offset,
            regs,
            cache: words.cache,
            order: words.order,
            scope: words.scope,
        };
        if alike {
            for (slot, reg) in regs.iter_mut().zip(&dests) {
                *slot = reg.map_or(NO_SLOT, |reg| reg.slot);
            }
            request.regs = regs;
            self.name_next(&at);
            self.request(Role::Main, request, at.owner);
            return Ok(true);
        }
        // Registers of several widths: the elements go through temporaries.
        for (slot, reg) in regs.iter_mut().zip(&dests) {
            if reg.is_some() {
                *slot = self.temp(natural)?;
            }
        }
        request.regs = regs;
        request.wide = natural == Class::Q;
        request.signed = false;
        request.ext = if request.wide { 64 } else { 32 };
        self.name_next(&at);
        self.request(Role::Main, request, at.owner);
        for (slot, reg) in regs.iter().zip(&dests) {
            let Some(reg) = reg else { continue };
            let whole = match (is_signed(ty), bits) {
                (true, 8) => M::S8,
                (true, 16) => M::S16,
                (true, 32) => M::S32,
                (_, 8) => M::U8,
                (_, 16) => M::U16,
                (_, 32) => M::U32,
                _ => M::U64,
            };
            if let Some(Selected { op, mode }) = int_cvt::convert(whole, whole, false, register_bits(*reg), natural) {
                self.alu(Role::Part, op, reg.slot, &[*slot], mode);
            }
        }
        Ok(true)
    }

    /// `ld.param` of an entry at a constant address: a move from a slot that is filled at launch.
    fn preloaded(&mut self, at: &Located, ty: M, width: u8, dests: &[Option<Reg>]) -> Lowered<bool> {
        let Some(place) = at.place.filter(|place| matches!(place.base, Base::Param(_))) else { return Ok(false) };
        let Base::Param(start) = place.base else { return Ok(false) };
        let bytes = i64::from(width) * i64::try_from(dests.len()).unwrap_or(1);
        // What lies outside of the parameter is left to the memory, which says so when it is read.
        let inside = at.offset >= i64::from(start) && at.offset + bytes <= i64::from(start) + i64::from(place.bytes);
        let aligned = at.offset % bytes == 0;
        let Ok(offset) = u32::try_from(at.offset) else { return Ok(false) };
        if !inside || !aligned {
            return Ok(false);
        }
        let signed = is_signed(ty);
        let mut role = Role::Main;
        for (i, dest) in (0u32..).zip(dests) {
            let Some(reg) = dest else { continue };
            let offset = offset + i * u32::from(width);
            let parts: &[u32] = if width == 16 { &[0, 8] } else { &[0] };
            for (part, at) in (0u16..).zip(parts) {
                let ext = if width == 16 { 64 } else { u8::try_from(register_bits(*reg)).unwrap_or(64) };
                let init = Init::Param { offset: offset + at, bytes: width.min(8), signed, ext };
                let from = self.preload(reg.class, Preloaded::Init(init))?;
                let mov = if reg.class == Class::Q { IntOp::MovQ } else { IntOp::MovW };
                self.alu(role, mov, Slot(reg.slot.0.saturating_add(part)), &[from], 0);
                role = Role::Part;
            }
        }
        if role == Role::Main {
            self.emit(Role::Main, Instr::new(Op::Nop));
        }
        Ok(true)
    }

    /// `st{…}.type [a], b`.
    pub(super) fn store(&mut self, instr: &'t tree::Instr) -> Lowered<bool> {
        let words = Words::of(self.unit.names(), &instr.mods);
        let [.., ty] = *self.types else { return Ok(false) };
        let Some(bits) = bits_of(ty).filter(|b| *b >= 8) else { return Ok(false) };
        let at = self.address(nth(instr, 0)?)?;
        let space = self.space(words.space, &at);
        let natural = class_of_type(ty);
        let data = nth(instr, 1)?;
        let elements = self.elements(data)?;
        // All data registers of a request are of one class: 64-bit ones serve narrow elements, too.
        let class = match &elements {
            Elements::Register(reg) => reg.class,
            Elements::List(list) => {
                let mut wide = natural == Class::Q;
                for op in *list {
                    wide |= self.as_register(op)?.is_some_and(|reg| reg.class == Class::Q);
                }
                if wide { Class::Q } else { Class::W }
            }
        };
        let mut regs = [NO_SLOT; 8];
        let count = match elements {
            Elements::Register(reg) => {
                for (slot, i) in regs.iter_mut().zip(0..reg.lanes) {
                    *slot = reg.component(i).map_or(NO_SLOT, |reg| reg.slot);
                }
                usize::from(reg.lanes)
            }
            Elements::List(list) => {
                for (slot, op) in regs.iter_mut().zip(list) {
                    *slot = if bits == 128 { self.wide_source(op)? } else { self.source(op, class, ty)? };
                }
                list.len()
            }
        };
        if count != usize::from(words.vector) || !matches!(count, 1 | 2 | 4 | 8) || class == Class::P {
            return operand("as many values as the vector has elements", data.span);
        }
        self.name_next(&at);
        self.request(
            Role::Main,
            WarpRequest {
                op: MemOp::Store,
                space,
                width: u8::try_from(bits / 8).unwrap_or(16),
                elems: words.vector,
                wide: class == Class::Q,
                signed: false,
                ext: if class == Class::Q { 64 } else { 32 },
                addr: at.slot,
                addr_wide: at.wide,
                offset: at.offset,
                regs,
                cache: words.cache,
                order: words.order,
                scope: words.scope,
            },
            at.owner,
        );
        Ok(true)
    }

    /// The first slot of a 128-bit register.
    pub(super) fn wide_source(&mut self, op: &Operand) -> Lowered<Slot> {
        match self.as_register(op)? {
            Some(reg) if reg.bits == 128 => Ok(reg.slot),
            _ => operand("a 128-bit register", op.span),
        }
    }

    /// `atom{…}.op.type d, [a], b{, c}` and `red`. A vector is several accesses, each atomic by itself.
    pub(super) fn atomic(&mut self, instr: &'t tree::Instr, red: bool) -> Lowered<bool> {
        let words = Words::of(self.unit.names(), &instr.mods);
        let [.., ty] = *self.types else { return Ok(false) };
        let Some((function, mut kind)) = atom(&instr.mods, ty) else { return Ok(false) };
        let address = usize::from(!red);
        let mut at = self.address(nth(instr, address)?)?;
        let space = self.space(words.space, &at);
        // Addition flushes subnormal numbers in global memory, not in shared memory (PTX ISA, atom: notes).
        if kind == AtomTy::F32 && space == Space::Global && function == AtomOp::Add {
            kind = AtomTy::F32Ftz;
        }
        let class = class_of_type(ty);
        let wide128 = kind == AtomTy::B128;
        let width = u8::try_from(kind.bytes()).unwrap_or(16);
        let count = usize::from(words.vector);
        let mut olds = vec![NO_SLOT; count];
        if !red {
            let dest = nth(instr, 0)?;
            match self.elements(dest)? {
                Elements::Register(reg) if usize::from(reg.lanes) == count => {
                    for (i, slot) in (0..reg.lanes).zip(&mut olds) {
                        *slot = reg.component(i).map_or(NO_SLOT, |reg| reg.slot);
                    }
                }
                Elements::List(list) if list.len() == count => {
                    for (op, slot) in list.iter().zip(&mut olds) {
                        if !matches!(op.kind, OperandKind::Sink) {
                            *slot = if wide128 { self.wide_source(op)? } else { self.destination_of(op, class)? };
                        }
                    }
                }
                _ => return operand("as many registers as the vector has elements", dest.span),
            }
            // The address must outlive the first of several results.
            if count > 1 && olds.contains(&at.slot) && at.wide == (class == Class::Q) {
                let copy = self.temp(class)?;
                self.alu(Role::Helper, if at.wide { IntOp::MovQ } else { IntOp::MovW }, copy, &[at.slot], 0);
                at.slot = copy;
            }
        }
        let mut values = vec![[NO_SLOT; 2]; count];
        for (i, part) in (0..if function == AtomOp::Cas { 2 } else { 1 }).zip([0usize, 1]) {
            let op = nth(instr, address + 1 + i)?;
            match self.elements(op)? {
                Elements::Register(reg) if usize::from(reg.lanes) == count => {
                    for (lane, value) in (0..reg.lanes).zip(&mut values) {
                        value[part] = reg.component(lane).map_or(NO_SLOT, |reg| reg.slot);
                    }
                }
                Elements::List(list) if list.len() == count => {
                    for (op, value) in list.iter().zip(&mut values) {
                        value[part] = if wide128 { self.wide_source(op)? } else { self.source(op, class, ty)? };
                    }
                }
                _ => return operand("as many values as the vector has elements", op.span),
            }
        }
        let op = if red { MemOp::Red(function, kind) } else { MemOp::Atom(function, kind) };
        let mut offset = at.offset;
        for (i, (old, value)) in olds.iter().zip(&values).enumerate() {
            let mut regs = [NO_SLOT; 8];
            (regs[0], regs[1], regs[2]) = (*old, value[0], value[1]);
            let role = if i == 0 { Role::Main } else { Role::Part };
            self.name_next(&at);
            self.request(
                role,
                WarpRequest {
                    op,
                    space,
                    width,
                    elems: 1,
                    wide: class == Class::Q,
                    signed: false,
                    ext: if class == Class::Q { 64 } else { 32 },
                    addr: at.slot,
                    addr_wide: at.wide,
                    offset,
                    regs,
                    cache: words.cache,
                    // Without qualifiers an atomic operation is relaxed and of device scope.
                    order: if words.order == Order::Weak { Order::Relaxed } else { words.order },
                    scope: if words.scope == Scope::Lane { Scope::Gpu } else { words.scope },
                },
                at.owner,
            );
            offset = offset.wrapping_add(i64::from(width));
        }
        Ok(true)
    }
}

/// The data operands of a memory instruction.
enum Elements<'t> {
    Register(Reg),
    List(&'t [Operand]),
}
