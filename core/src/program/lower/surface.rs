//! Surface instructions: `suld`, `sust`, `sured` (PTX ISA 9.7.11): a part that finds where an access goes, and the access, under a predicate
//! that says whether it goes anywhere.

use super::function::{FnLower, Role};
use super::operand::nth;
use super::types::class_of_type;
use crate::alu::image::Clamp;
use crate::program::image::{ImageOp, ImagePart, SurfaceAccess, Surfacing, TapSlots};
use crate::program::instr::{CacheOp, MemOp, NO_SLOT, Op, Order, Scope, Slot, Space, WarpRequest};
use crate::program::ops::{AtomTy, Class, IntOp};
use crate::program::select::atom;
use crate::program::types::{bits_of, lanes};
use crate::ptx::Modifier as M;
use crate::ptx::tree::{self, Operand, OperandKind};

impl<'t> FnLower<'_, 't> {
    /// The part that finds where an access goes, with temporaries for its address and its data.
    fn reach(&mut self, instr: &'t tree::Instr, op: &'t Operand, access: SurfaceAccess) -> Option<ImageOp> {
        let names = self.unit.names();
        let geometry = self.geometry(instr)?;
        let clamp = instr.mods.iter().find_map(|word| Clamp::named(word.text(names)))?;
        let named = self.bracket(op)?;
        // The faces of a cube are layers to surfaces (CUDA guide, "Surface Functions").
        let coordinates = self.coordinates(&named, geometry.is_layered(), geometry.axes(), M::S32)?;
        let kind = ImagePart::Reach(Surfacing { geometry, clamp, access });
        let part = ImageOp { coordinates, guard: self.guard, ..self.asks(kind, named.handle) };
        Some(part)
    }

    /// Temporaries of an access: as many predicates and words as it needs.
    fn tap(&mut self, predicates: usize, words: usize) -> Option<TapSlots> {
        let mut tap = TapSlots { address: self.temp(Class::Q)?, words: [NO_SLOT; 4], sizes: [NO_SLOT; 5] };
        for slot in tap.sizes.iter_mut().take(predicates) {
            *slot = self.temp(Class::P)?;
        }
        for slot in tap.words.iter_mut().take(words) {
            *slot = self.temp(Class::W)?;
        }
        Some(tap)
    }

    /// Bytes of an element, and how many an access has.
    fn vector(&self, instr: &tree::Instr) -> Option<(u8, u8)> {
        let width = u8::try_from(bits_of(*self.types.last()?)? / 8).ok()?;
        let elems = instr.mods.iter().map(|word| lanes(Some(*word))).max().unwrap_or(1).max(1);
        (width > 0 && u32::from(width) * u32::from(elems) <= 16).then_some((width, elems))
    }

    /// `suld.b.geom{.cop}{.vec}.type.clamp d, [a, b]`: what is loaded goes to temporaries, which hold zeros where nothing is.
    pub(super) fn surface_load(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let (width, elems) = self.vector(instr)?;
        let part = self.reach(instr, nth(instr, 1)?, SurfaceAccess::Load(width * elems))?;
        // Elements of 64 bits are two words.
        let (each, words) = if width == 8 { (4, elems * 2) } else { (width, elems) };
        let tap = self.tap(1, words.into())?;
        self.image(Role::Helper, ImageOp { taps: [tap].into(), ..part })?;
        let mut request = WarpRequest::word(MemOp::Load, Space::Global, (tap.address, 0), NO_SLOT, CacheOp::Default);
        (request.width, request.elems) = (each, words);
        request.regs[..4].copy_from_slice(&tap.words);
        self.access_under(Role::Part, tap.sizes[0], request);
        let dests = self.elements_of(nth(instr, 0)?);
        if dests.len() != usize::from(elems) {
            return None;
        }
        for (dest, from) in dests.into_iter().zip(tap.words.chunks(usize::from(words / elems))) {
            let Some((class, slot)) = dest? else { continue };
            match (class, from) {
                (Class::W, [low, ..]) => self.alu(Role::Main, IntOp::MovW, slot, &[*low]),
                (Class::Q, [low, high]) => self.alu(Role::Main, IntOp::Pack32x2, slot, &[*low, *high]),
                (Class::Q, [low, ..]) => self.alu(Role::Main, IntOp::ZextWQ, slot, &[*low]),
                _ => return None,
            }
        }
        if !self.named {
            self.plain(Op::Nop)?;
        }
        Some(())
    }

    /// The registers of a list of destinations: none for `_`; a missing one is not understood.
    fn elements_of(&mut self, op: &'t Operand) -> Vec<Option<Option<(Class, Slot)>>> {
        let register = |lower: &mut Self, op: &'t Operand| match op.kind {
            OperandKind::Sink => Some(None),
            _ => lower.as_register(op).filter(|reg| reg.lanes == 1).map(|reg| Some((reg.class, reg.slot))),
        };
        match &op.kind {
            OperandKind::Vector(list) => list.iter().map(|op| register(self, op)).collect(),
            _ => match self.as_register(op).filter(|reg| reg.lanes > 1) {
                Some(reg) => reg.components().map(|part| Some(Some((part.class, part.slot)))).collect(),
                None => vec![register(self, op)],
            },
        }
    }

    /// `sust.b.geom{.cop}{.vec}.type.clamp [a, b], c` and `sust.p.geom{.vec}.b32.clamp [a, b], c`
    pub(super) fn surface_store(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let ty = *self.types.last()?;
        let (width, elems) = self.vector(instr)?;
        let data = nth(instr, 1)?;
        if self.is_formatted(instr) {
            let part = self.reach(instr, nth(instr, 0)?, SurfaceAccess::StoreTexel)?;
            let taps: Box<[TapSlots]> = [self.tap(5, 4)?].into();
            let part = ImageOp { taps, ..part };
            self.image(Role::Helper, part.clone())?;
            // Channels that the instruction has no value for get zeros; PTX leaves open what (D-surface-format).
            let mut values = self.values(data, Class::W, M::B32, elems)?;
            values.resize(4, self.constant(Class::W, 0)?);
            let kind = ImagePart::Encode(self.geometry(instr)?);
            let none = Box::default();
            let encode = ImageOp { kind, coordinates: none, guard: None, data: values.into(), ..part };
            self.image(Role::Main, encode.clone())?;
            self.moves(&encode.taps[0], MemOp::Store);
            return Some(());
        }
        let class = self.widest(data, class_of_type(ty));
        let values = self.values(data, class, ty, elems)?;
        let part = self.reach(instr, nth(instr, 0)?, SurfaceAccess::Store(width * elems))?;
        let tap = self.tap(1, 0)?;
        self.image(Role::Helper, ImageOp { taps: [tap].into(), ..part })?;
        let mut request = WarpRequest::word(MemOp::Store, Space::Global, (tap.address, 0), NO_SLOT, CacheOp::Default);
        (request.width, request.elems, request.wide) = (width, elems, class == Class::Q);
        request.regs.iter_mut().zip(values).for_each(|(to, slot)| *to = slot);
        self.access_under(Role::Main, tap.sizes[0], request);
        Some(())
    }

    /// Whether it is `.p`, which knows the surface's format.
    fn is_formatted(&self, instr: &tree::Instr) -> bool {
        instr.mods.iter().any(|word| word.text(self.unit.names()) == "p")
    }

    /// The class of data registers: 64-bit ones serve narrow elements, too.
    fn widest(&mut self, op: &'t Operand, natural: Class) -> Class {
        let wide = registers_of(op).iter().any(|op| self.as_register(op).is_some_and(|reg| reg.class == Class::Q));
        if wide { Class::Q } else { natural }
    }

    /// The slots of so many values.
    fn values(&mut self, op: &'t Operand, class: Class, ty: M, count: u8) -> Option<Vec<Slot>> {
        let slots: Vec<Slot> = match self.as_register(op).filter(|reg| reg.lanes > 1) {
            Some(reg) => reg.components().map(|part| part.slot).collect(),
            None => registers_of(op).iter().map(|op| self.source(op, class, ty)).collect::<Option<_>>()?,
        };
        (slots.len() == usize::from(count)).then_some(slots)
    }

    /// `sured.b.op.geom.type.clamp [a, b], c` and `sured.p`, of which the surface says whether its integers have a sign.
    pub(super) fn surface_reduce(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let ty = *self.types.last()?;
        let (width, _) = self.vector(instr)?;
        let class = class_of_type(ty);
        let value = self.values(nth(instr, 1)?, class, ty, 1)?[0];
        let formatted = self.is_formatted(instr);
        let access = if formatted { SurfaceAccess::ReduceTexel(width) } else { SurfaceAccess::Reduce(width) };
        let part = self.reach(instr, nth(instr, 0)?, access)?;
        let tap = self.tap(if formatted { 2 } else { 1 }, 0)?;
        self.image(Role::Helper, ImageOp { taps: [tap].into(), ..part })?;
        let bitwise = instr.mods.iter().any(|word| matches!(word.text(self.unit.names()), "and" | "or"));
        let types = match (formatted, ty) {
            (false, _) => vec![ty],
            (true, _) if bitwise => vec![ty; 2],
            (true, M::B64) => vec![M::U64, M::S64],
            (true, _) => vec![M::U32, M::S32],
        };
        for (pred, ty) in tap.sizes.into_iter().zip(types) {
            let (function, kind): (_, AtomTy) = atom(&instr.mods, ty)?;
            let op = MemOp::Red(function, kind);
            let mut request = WarpRequest::word(op, Space::Global, (tap.address, 0), NO_SLOT, CacheOp::Default);
            (request.width, request.wide) = (width, class == Class::Q);
            request.regs[1] = value;
            (request.order, request.scope) = (Order::Relaxed, Scope::Gpu);
            self.access_under(Role::Main, pred, request);
        }
        Some(())
    }
}

/// The elements of `{…}`, or one operand.
fn registers_of(op: &Operand) -> &[Operand] {
    match &op.kind {
        OperandKind::Vector(list) => list,
        _ => std::slice::from_ref(op),
    }
}
