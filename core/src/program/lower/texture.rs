//! Texture instructions: `tex`, `tld4`, and the queries `txq`, `suq`, `istypep` (PTX ISA 9.7.10, 9.7.11).
//!
//! A fetch is a part that finds its texels, a load of each under a predicate for each size that it can have, and a part that makes the result
//! (D-texture-loads).

use super::function::{FnLower, Role};
use super::operand::nth;
use super::symbol::{Base, Sym};
use crate::alu::image::{Geometry, Meaning};
use crate::program::env::Init;
use crate::program::image::{Gives, ImageOp, ImagePart, Query, SIZES, Sampling, TapSlots};
use crate::program::instr::{CacheOp, Guard, Instr, MemOp, NO_SLOT, Op, Slot, Space, WarpRequest};
use crate::program::ops::Class;
use crate::ptx::tree::{self, Operand, OperandKind};
use crate::ptx::{Modifier as M, Opcode};
use crate::verdict::ImageKind;

/// What stands in the brackets of a texture or surface instruction: handle, sampler, coordinates.
pub(super) struct Named<'t> {
    pub(super) handle: Slot,
    pub(super) sampler: Slot,
    pub(super) coordinates: &'t [Operand],
    /// A vector register that holds all coordinates.
    pub(super) register: Option<&'t Operand>,
}

impl<'t> FnLower<'_, 't> {
    /// The shape that an instruction names; none of several samples.
    pub(super) fn geometry(&self, instr: &tree::Instr) -> Option<Geometry> {
        instr.mods.iter().find_map(|word| Geometry::named(word.text(self.unit.names())))
    }

    /// A handle: a register, the address of an opaque variable, or an opaque parameter.
    fn handle(&mut self, op: &'t Operand) -> Option<Slot> {
        let OperandKind::Name(name) = op.kind else {
            return match &op.kind {
                OperandKind::Address(address) if address.offset.is_none() => self.handle_of(address.base?.name),
                _ => None,
            };
        };
        self.handle_of(name)
    }

    fn handle_of(&mut self, name: tree::Name) -> Option<Slot> {
        match self.lookup(name)? {
            Sym::Reg(reg) => (reg.class == Class::Q && reg.lanes == 1).then_some(reg.slot),
            Sym::Place(place) => match place.base {
                Base::Variable(index) => self.preload(Class::Q, Init::Variable { index, offset: 0 }),
                Base::Param(offset) => self.preload(Class::Q, Init::Param { offset, bytes: 8, signed: false, ext: 64 }),
                _ => None,
            },
            _ => None,
        }
    }

    /// `[a, c]`, `[a, b, c]` or `[a]`.
    pub(super) fn bracket(&mut self, op: &'t Operand) -> Option<Named<'t>> {
        let OperandKind::Bracket(list) = &op.kind else {
            return Some(Named { handle: self.handle(op)?, sampler: NO_SLOT, coordinates: &[], register: None });
        };
        let (handle, sampler, last) = match &list[..] {
            [handle] => (handle, None, None),
            [handle, last] => (handle, None, Some(last)),
            [handle, sampler, last] => (handle, Some(sampler), Some(last)),
            _ => return None,
        };
        let sampler = match sampler {
            Some(sampler) => self.handle(sampler)?,
            None => NO_SLOT,
        };
        let (coordinates, register): (&[Operand], _) = match last {
            None => (&[], None),
            Some(Operand { kind: OperandKind::Vector(list), .. }) => (list, None),
            Some(one) => (std::slice::from_ref(one), self.as_register(one).is_some_and(|r| r.lanes > 1).then_some(one)),
        };
        Some(Named { handle: self.handle(handle)?, sampler, coordinates, register })
    }

    /// The slots of the first coordinates: the number of a layer first where there is one. What follows them is padding.
    pub(super) fn coordinates(&mut self, named: &Named<'t>, layered: bool, count: usize, ty: M) -> Option<Box<[Slot]>> {
        let count = count + usize::from(layered);
        if let Some(op) = named.register {
            let parts: Vec<Slot> = self.as_register(op)?.components().map(|reg| reg.slot).collect();
            return Some(parts.get(..count)?.into());
        }
        let operands = named.coordinates.get(..count)?;
        let each = operands.iter().enumerate().map(|(at, op)| {
            let ty = if layered && at == 0 { M::U32 } else { ty };
            self.source(op, Class::W, ty)
        });
        each.collect()
    }

    /// Temporaries for texels.
    fn taps(&mut self, count: usize) -> Option<Box<[TapSlots]>> {
        (0..count)
            .map(|_| {
                let mut tap = TapSlots { address: self.temp(Class::Q)?, words: [NO_SLOT; 4], sizes: [NO_SLOT; 5] };
                for slot in &mut tap.words {
                    *slot = self.temp(Class::W)?;
                }
                for slot in &mut tap.sizes {
                    *slot = self.temp(Class::P)?;
                }
                Some(tap)
            })
            .collect()
    }

    /// `tex…` and `tld4…`
    pub(super) fn texture(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let geometry = self.geometry(instr)?;
        let [gives, coordinate] = self.types[..] else { return None };
        let floats = coordinate == M::F32;
        let named = self.bracket(nth(instr, 1)?)?;
        let coordinates = self.coordinates(&named, geometry.is_layered(), geometry.coordinates(), coordinate)?;
        let (level, offsets) = self.details(instr, geometry)?;
        let sampling = Sampling {
            geometry,
            floats,
            graded: instr.mods.iter().any(|word| word.text(self.unit.names()) == "grad"),
            gathers: (instr.opcode == Opcode::TLD4).then(|| self.channel(instr)).flatten(),
            gives: match gives {
                M::F32 => Gives::Floats,
                M::F16 => Gives::Halves,
                M::F16X2 => Gives::Pairs,
                M::U32 => Gives::Integers(Meaning::Unsigned),
                M::S32 => Gives::Integers(Meaning::Signed),
                _ => return None,
            },
        };
        // A fractional level is between two.
        let count = if floats { 1 << (geometry.axes() + usize::from(level != NO_SLOT)) } else { 1 };
        let taps = self.taps(count)?;
        let (d, p) = Self::pair(nth(instr, 0)?);
        let data = self.fragment(d, Class::W, true)?.slots;
        let predicate = match p {
            Some(p) => self.destination_of(p, Class::P)?,
            None => NO_SLOT,
        };
        let Named { handle, sampler, .. } = named;
        let kind = ImagePart::Locate(sampling);
        let guard = self.guard;
        let (none, nothing) = (Box::default(), NO_SLOT);
        let locate =
            ImageOp { kind, handle, sampler, coordinates, offsets, level, guard, taps, data: none, predicate: nothing };
        self.image(Role::Helper, locate.clone())?;
        for tap in &locate.taps {
            self.moves(tap, MemOp::Load);
        }
        let kind = ImagePart::Filter(sampling);
        self.image(Role::Main, ImageOp { kind, guard: None, data, predicate, ..locate })
    }

    /// The slot of the level of detail of a fetch, and those of what is added to its coordinates. A number alone behind them is one to
    /// compare depths with, which is not supported.
    fn details(&mut self, instr: &'t tree::Instr, geometry: Geometry) -> Option<(Slot, Box<[Slot]>)> {
        let names = self.unit.names();
        let word = |text: &str| instr.mods.iter().any(|m| m.text(names) == text);
        let (leveled, graded) = (word("level"), word("grad"));
        let level = match nth(instr, 2).filter(|_| leveled) {
            Some(Operand { kind: OperandKind::Vector(list), .. }) => {
                self.source(list.first()?, Class::W, *self.types.last()?)?
            }
            Some(op) => self.source(op, Class::W, *self.types.last()?)?,
            None => NO_SLOT,
        };
        let before = 2 + if graded { 2 } else { usize::from(leveled) };
        let offsets = match instr.operands.get(before..)? {
            [] => return Some((level, Box::default())),
            [Operand { kind: OperandKind::Vector(list), .. }] => list,
            _ => return None,
        };
        let each = offsets.get(..geometry.axes())?.iter().map(|op| self.source(op, Class::W, M::S32));
        Some((level, each.collect::<Option<_>>()?))
    }

    /// The channel that `tld4` names.
    fn channel(&self, instr: &tree::Instr) -> Option<u8> {
        let names = self.unit.names();
        let at = |word: &M| ["r", "g", "b", "a"].iter().position(|c| *c == word.text(names));
        u8::try_from(instr.mods.iter().find_map(at)?).ok()
    }

    /// The accesses of a texel, one for each size, each under its predicate.
    pub(super) fn moves(&mut self, tap: &TapSlots, op: MemOp) {
        for (size, pred) in SIZES.into_iter().zip(tap.sizes) {
            let (width, elems) = if size > 4 { (4, size / 4) } else { (size, 1) };
            let mut request = WarpRequest::word(op, Space::Global, (tap.address, 0), NO_SLOT, CacheOp::Default);
            (request.width, request.elems) = (width, elems);
            request.regs[..4].copy_from_slice(&tap.words);
            request.regs[usize::from(elems)..].fill(NO_SLOT);
            self.access_under(Role::Part, pred, request);
        }
    }

    /// An access in the lanes of a predicate.
    pub(super) fn access_under(&mut self, role: Role, pred: Slot, request: WarpRequest) {
        let guard = self.guard.replace(Guard { pred, negated: false });
        let at = super::operand::Located::new(request.addr, true, 0);
        self.request(role, request, &at);
        self.guard = guard;
    }

    /// A part of a texture or surface instruction.
    pub(super) fn image(&mut self, role: Role, part: ImageOp) -> Option<()> {
        let imm = u32::try_from(self.program.env.images.len()).ok()?;
        self.program.env.images.push(part);
        self.emit(role, Instr { imm, ..Instr::new(Op::Image) });
        Some(())
    }

    /// `txq.query d, [a]`, `txq.level.query d, [a], lod` and `suq.query d, [a]`
    pub(super) fn image_query(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let names = self.unit.names();
        let query = instr.mods.iter().find_map(|word| Query::named(word.text(names)))?;
        let kind = if instr.opcode == Opcode::SUQ { ImageKind::Surface } else { ImageKind::Texture };
        let named = self.bracket(nth(instr, 1)?)?;
        let mut data = vec![self.destination_of(nth(instr, 0)?, Class::W)?];
        if let Some(level) = nth(instr, 2) {
            data.push(self.source(level, Class::W, M::U32)?);
        }
        let part = self.asks(ImagePart::Query(kind, query), named.handle);
        self.image(Role::Main, ImageOp { data: data.into(), ..part })
    }

    /// `istypep.type p, a`
    pub(super) fn istypep(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let kinds =
            [(M::TEXREF, ImageKind::Texture), (M::SAMPLERREF, ImageKind::Sampler), (M::SURFREF, ImageKind::Surface)];
        let (_, kind) = kinds.into_iter().find(|(word, _)| instr.mods.contains(word))?;
        let handle = self.source(nth(instr, 1)?, Class::Q, M::U64)?;
        let predicate = self.destination_of(nth(instr, 0)?, Class::P)?;
        let part = self.asks(ImagePart::Is(kind), handle);
        self.image(Role::Main, ImageOp { predicate, ..part })
    }

    /// A part that looks at a handle and nothing else.
    pub(super) fn asks(&self, kind: ImagePart, handle: Slot) -> ImageOp {
        ImageOp {
            kind,
            handle,
            sampler: NO_SLOT,
            coordinates: Box::default(),
            offsets: Box::default(),
            level: NO_SLOT,
            guard: None,
            taps: Box::default(),
            data: Box::default(),
            predicate: NO_SLOT,
        }
    }
}
