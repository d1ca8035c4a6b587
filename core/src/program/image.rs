//! Texture and surface instructions (PTX ISA 9.7.10, 9.7.11): what their parts do, and with which registers.
//!
//! The texels that a fetch needs are known when its handle and coordinates are. So it is several instructions here: one that finds
//! them, loads of each, and one that makes the result of what was loaded. The loads are ordinary memory actions, each under a predicate that
//! says whether a lane needs it (D-texture-loads). What is found is temporary, and made anew by whoever needs it once more.

use super::instr::{Guard, NO_SLOT, Slot};
use super::ops::Class;
use crate::alu::image::{Clamp, Geometry, Meaning};
use crate::base::words;
use crate::verdict::ImageKind;

/// The sizes in bytes that a texel can have; a load or store of each is there.
pub const SIZES: [u8; 5] = [1, 2, 4, 8, 16];

/// A part of a texture or surface instruction; `Op::Image` names it by its number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageOp {
    /// What it does.
    pub kind: ImagePart,
    /// The 64-bit slot with the texture's or surface's handle.
    pub handle: Slot,
    /// The 64-bit slot with the sampler's handle; none where the texture has its own.
    pub sampler: Slot,
    /// The 32-bit slots of the coordinates; the number of the layer comes first where there are layers.
    pub coordinates: Box<[Slot]>,
    /// The 32-bit slots of what is added to them.
    pub offsets: Box<[Slot]>,
    /// The 32-bit slot of the level of detail, of the coordinates' type; none where none is named.
    pub level: Slot,
    /// The lanes that execute the instruction, where the part is no instruction with a guard.
    pub guard: Option<Guard>,
    /// What is loaded or stored.
    pub taps: Box<[TapSlots]>,
    /// Data registers of 32 bits: what a fetch writes, what a formatted store reads; of a query its level.
    pub data: Box<[Slot]>,
    /// The predicate that says whether texels are there, or which is the result.
    pub predicate: Slot,
}

/// The temporaries of a texel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TapSlots {
    /// The 64-bit slot with its address.
    pub address: Slot,
    /// The 32-bit slots of its bytes.
    pub words: [Slot; 4],
    /// For each of [`SIZES`] the predicate of the access of that size. Of a surface: the first one of its only access, or of that of
    /// integers without a sign, the second one of that of integers with one.
    pub sizes: [Slot; 5],
}

/// What a part of an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImagePart {
    /// Finds the texels of a fetch: writes their addresses and predicates, and zeros where their bytes will be.
    Locate(Sampling),
    /// Makes the result of a fetch of the bytes of its texels.
    Filter(Sampling),
    /// Finds where an access of a surface goes.
    Reach(Surfacing),
    /// Makes the bytes that a formatted store writes.
    Encode(Geometry),
    /// Answers a query.
    Query(ImageKind, Query),
    /// Whether an address is that of such a variable (`istypep`).
    Is(ImageKind),
}

/// What a fetch does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampling {
    /// The shape that the texture must have.
    pub geometry: Geometry,
    /// Whether coordinates are floating-point numbers.
    pub floats: bool,
    /// The channel of four texels that is wanted, of `tld4`.
    pub gathers: Option<u8>,
    /// Whether gradients say the level of detail (`.grad`).
    pub graded: bool,
    /// What results are.
    pub gives: Gives,
}

/// The type of the results of a fetch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gives {
    /// `.u32`, `.s32`
    Integers(Meaning),
    /// `.f32`
    Floats,
    /// `.f16`
    Halves,
    /// `.f16x2`
    Pairs,
}

/// An access of a surface.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Surfacing {
    /// The shape that the surface must have.
    pub geometry: Geometry,
    /// What becomes of it outside.
    pub clamp: Clamp,
    /// What it does.
    pub access: SurfaceAccess,
}

/// What an access of a surface does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SurfaceAccess {
    /// `suld.b` of so many bytes.
    Load(u8),
    /// `sust.b` of so many bytes.
    Store(u8),
    /// `sust.p`: a whole texel, whose size the surface says.
    StoreTexel,
    /// `sured.b` of so many bytes.
    Reduce(u8),
    /// `sured.p` of so many bytes: a texel, whose type the surface says.
    ReduceTexel(u8),
}

impl SurfaceAccess {
    /// Whether it writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Load(_))
    }

    /// Whether x counts texels, not bytes.
    #[must_use]
    pub const fn counts_texels(self) -> bool {
        matches!(self, Self::StoreTexel | Self::ReduceTexel(_))
    }
}

words! {
    /// What is asked of a texture, sampler or surface (`txq`, `suq`).
    #[expect(missing_docs, reason = "named as in the PTX ISA, 5.3 and 9.7.10.5")]
    pub enum Query {
        Width = "width",
        Height = "height",
        Depth = "depth",
        DataType = "channel_data_type",
        Order = "channel_order",
        Normalised = "normalized_coords",
        Layers = "array_size",
        Levels = "num_mipmap_levels",
        Samples = "num_samples",
        Unnormalised = "force_unnormalized_coords",
        Filter = "filter_mode",
        Address0 = "addr_mode_0",
        Address1 = "addr_mode_1",
        Address2 = "addr_mode_2",
        Layout = "memory_layout",
    }
}

impl Query {
    /// Whether a sampler answers it.
    #[must_use]
    pub const fn of_sampler(self) -> bool {
        matches!(self, Self::Unnormalised | Self::Filter | Self::Address0 | Self::Address1 | Self::Address2)
    }
}

impl ImageOp {
    /// Calls `see` for each slot that it uses, and says whether that is written.
    pub fn slots(&self, see: &mut dyn FnMut(bool, Class, Slot)) {
        let mut see = |written, class, slot| {
            if slot != NO_SLOT {
                see(written, class, slot);
            }
        };
        if let Some(guard) = self.guard {
            see(false, Class::P, guard.pred);
        }
        see(false, Class::Q, self.handle);
        see(false, Class::Q, self.sampler);
        see(false, Class::W, self.level);
        self.coordinates.iter().chain(&self.offsets).for_each(|slot| see(false, Class::W, *slot));
        let (finds, makes) = match self.kind {
            ImagePart::Locate(_) | ImagePart::Reach(_) => (true, false),
            ImagePart::Encode(_) => (false, true),
            ImagePart::Filter(_) | ImagePart::Query(..) | ImagePart::Is(_) => (false, false),
        };
        for tap in &self.taps {
            if finds {
                see(true, Class::Q, tap.address);
                tap.sizes.iter().for_each(|slot| see(true, Class::P, *slot));
            }
            tap.words.iter().for_each(|slot| see(finds || makes, Class::W, *slot));
        }
        match self.kind {
            ImagePart::Encode(_) => self.data.iter().for_each(|slot| see(false, Class::W, *slot)),
            ImagePart::Query(..) => {
                let mut data = self.data.iter();
                data.next().into_iter().for_each(|slot| see(true, Class::W, *slot));
                data.for_each(|slot| see(false, Class::W, *slot));
            }
            _ => self.data.iter().for_each(|slot| see(true, Class::W, *slot)),
        }
        see(true, Class::P, self.predicate);
    }
}
