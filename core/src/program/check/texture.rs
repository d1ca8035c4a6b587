//! What texture and surface instructions name in brackets, and what follows them (PTX ISA 9.7.10, 9.7.11), as ptxas looks at it.

use super::error::{Expected, Problem};
use super::operand::{Arg, Context, Verdict};
use super::scope::SymbolKind;
use super::{CheckError, Checker};
use crate::alu::image::Geometry;
use crate::program::types::{Class, type_info};
use crate::ptx::tree::{Instr, Name, Operand, OperandKind};
use crate::ptx::{Modifier, Opcode};

impl Checker<'_> {
    /// The brackets of a texture or surface instruction: its handle, its sampler, its coordinates.
    pub(super) fn image(&mut self, operand: &Operand, instr: &Instr, types: &[Modifier], cx: &Context) -> Verdict {
        let textures = matches!(instr.opcode, Opcode::TEX | Opcode::TLD4);
        let queries = matches!(instr.opcode, Opcode::TXQ | Opcode::SUQ);
        let kinds: &[Modifier] = match instr.opcode {
            Opcode::TXQ => &[Modifier::TEXREF, Modifier::SAMPLERREF],
            _ if textures => &[Modifier::TEXREF],
            _ => &[Modifier::SURFREF],
        };
        let list: &[Operand] = match &operand.kind {
            OperandKind::Bracket(list) => list,
            OperandKind::Address(address) if queries => {
                return match address.base.filter(|_| address.offset.is_none()) {
                    Some(base) => self.handle(base.name, operand, kinds, cx),
                    None => self.wrong(operand, handle(kinds), cx),
                };
            }
            _ => return self.wrong(operand, Expected::Bracket, cx),
        };
        let (first, sampler, coordinates) = match list {
            [first, last] if !queries => (first, None, last),
            [first, sampler, last] if textures => (first, Some(sampler), last),
            _ => return self.wrong(operand, Expected::Bracket, cx),
        };
        self.handle_in(first, kinds, cx)?;
        if let Some(sampler) = sampler {
            self.handle_in(sampler, &[Modifier::SAMPLERREF], cx)?;
        }
        let ty = if textures { types.last().copied().unwrap_or(Modifier::S32) } else { Modifier::S32 };
        self.coordinates(coordinates, instr, ty, cx)
    }

    fn handle_in(&mut self, operand: &Operand, kinds: &[Modifier], cx: &Context) -> Verdict {
        match operand.kind {
            OperandKind::Name(name) => self.handle(name, operand, kinds, cx),
            _ => self.wrong(operand, handle(kinds), cx),
        }
    }

    /// A register of 64 bits, or an opaque variable or parameter.
    fn handle(&mut self, name: Name, operand: &Operand, kinds: &[Modifier], cx: &Context) -> Verdict {
        let fits = match self.kind_of(name) {
            Some(SymbolKind::Register { ty, lanes: 1, .. }) => {
                type_info(ty).is_some_and(|i| i.bits == 64 && matches!(i.class, Class::Bits | Class::Int))
            }
            Some(SymbolKind::Variable { ty, .. }) => kinds.contains(&ty),
            _ => false,
        };
        if fits { Ok(()) } else { self.wrong(operand, handle(kinds), cx) }
    }

    /// A list of one, two or four elements, or what stands for one: as many as the shape needs, or more. The number of a layer comes first.
    fn coordinates(&mut self, operand: &Operand, instr: &Instr, ty: Modifier, cx: &Context) -> Verdict {
        let Some((count, layered)) = self.needed(instr) else { return Ok(()) };
        let expected = || Expected::Coordinates(count);
        let elements = match &operand.kind {
            OperandKind::Vector(list) => list,
            _ => std::slice::from_ref(operand),
        };
        let mut found = 0;
        for (number, element) in elements.iter().enumerate() {
            let wanted = if layered && number == 0 { Modifier::S32 } else { ty };
            found += match self.classify(element, cx) {
                Arg::Register(reg, lanes) if word(reg, wanted) => usize::from(lanes),
                Arg::Int(_) if wanted != Modifier::F32 => 1,
                Arg::F32 | Arg::F64 => 1,
                _ => return self.wrong(element, Expected::Coordinate(self.word(wanted)), cx),
            };
        }
        if matches!(found, 1 | 2 | 4) && found >= count { Ok(()) } else { self.wrong(operand, expected(), cx) }
    }

    /// How many coordinates the shape of an instruction needs, and whether the number of a layer or sample is the first.
    fn needed(&self, instr: &Instr) -> Option<(usize, bool)> {
        for word in &instr.mods {
            match word.text(self.names) {
                "2dms" => return Some((3, true)),
                "a2dms" => return Some((4, true)),
                text => {
                    if let Some(geometry) = Geometry::named(text) {
                        let layered = geometry.is_layered();
                        return Some((geometry.coordinates() + usize::from(layered), layered));
                    }
                }
            }
        }
        None
    }

    /// What follows the brackets of `tex` and `tld4`: a level of detail, two gradients, an offset, a number to compare with.
    pub(super) fn after_brackets(&mut self, instr: &Instr, types: &[Modifier], cx: &Context) -> Verdict {
        if let Some(Operand { kind: OperandKind::Pair(pair), .. }) = instr.operands.first()
            && matches!(pair.1.kind, OperandKind::Sink)
        {
            return self.wrong(&pair.1, Expected::Predicate, cx);
        }
        let rest = instr.operands.get(2..).unwrap_or(&[]);
        let has = |text: &str| instr.mods.iter().any(|word| word.text(self.names) == text);
        let (levels, cube, deep) = (has("level"), has("cube") || has("acube"), has("3d"));
        let details = if has("grad") { 2 } else { usize::from(levels) };
        let count = |least, most| {
            let (opcode, given) = (self.opcode(instr.opcode), instr.operands.len());
            CheckError::boxed(
                Problem::OperandCount { opcode, given, least: 2 + least, most: Some(2 + most) },
                instr.span,
            )
        };
        let most = details + usize::from(!cube) + usize::from(!deep);
        if rest.len() < details || rest.len() > most {
            return Err(count(details, most));
        }
        let (needed, layered) = self.needed(instr).unwrap_or((1, false));
        let axes = needed - usize::from(layered);
        for gradient in &rest[..details] {
            // A level is of the coordinates' type, gradients are floating-point numbers.
            let ty = if levels { types.last().copied().unwrap_or(Modifier::F32) } else { Modifier::F32 };
            self.numbers(gradient, if levels { 1 } else { axes }, !levels, ty, cx)?;
        }
        match &rest[details..] {
            [] => Ok(()),
            [one] if self.is_compared(one, cx) => {
                if deep {
                    self.wrong(one, Expected::Coordinates(axes), cx)
                } else {
                    Ok(())
                }
            }
            [offset, compared @ ..] => {
                if cube {
                    return self.wrong(offset, Expected::Coordinate(".f32".to_owned()), cx);
                }
                self.numbers(offset, axes, axes > 1, Modifier::S32, cx)?;
                match compared {
                    [one] => self.numbers(one, 1, false, Modifier::F32, cx),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Whether an operand is a floating-point number by itself, which depths are compared with.
    fn is_compared(&mut self, operand: &Operand, cx: &Context) -> bool {
        match self.classify(operand, cx) {
            Arg::Register(reg, 1) => type_info(reg).is_some_and(|i| i.class == Class::Float && i.bits == 32),
            Arg::F32 | Arg::F64 => true,
            _ => false,
        }
    }

    /// At least so many numbers of a type; `listed`: in braces.
    fn numbers(&mut self, operand: &Operand, count: usize, listed: bool, ty: Modifier, cx: &Context) -> Verdict {
        let elements = match &operand.kind {
            OperandKind::Vector(list) => list,
            _ => std::slice::from_ref(operand),
        };
        let mut found = 0;
        for element in elements {
            found += match self.classify(element, cx) {
                Arg::Register(reg, lanes) if word(reg, ty) => usize::from(lanes),
                Arg::Int(_) if ty != Modifier::F32 => 1,
                Arg::F32 | Arg::F64 => 1,
                _ => return self.wrong(element, Expected::Coordinate(self.word(ty)), cx),
            };
        }
        let braces = !listed || found > 1 || matches!(operand.kind, OperandKind::Vector(_));
        let fits = matches!(found, 1 | 2 | 4) && found >= count && braces;
        if fits { Ok(()) } else { self.wrong(operand, Expected::Coordinates(count), cx) }
    }
}

/// Whether a register holds 32 bits that can be a coordinate: integers are taken for floating-point numbers, not the other way round.
fn word(register: Modifier, wanted: Modifier) -> bool {
    type_info(register).is_some_and(|info| {
        info.bits == 32
            && match info.class {
                Class::Bits | Class::Int => true,
                Class::Float => wanted == Modifier::F32 && register == Modifier::F32,
                Class::Pred => false,
            }
    })
}

/// What a handle must be.
fn handle(kinds: &[Modifier]) -> Expected {
    Expected::Handle(match kinds {
        [Modifier::SURFREF] => ".surfref",
        [Modifier::SAMPLERREF] => ".samplerref",
        _ => ".texref",
    })
}
