//! What is wrong with a texture or surface instruction (D-texture-defects).

use super::Kind;
use serde::Serialize;

/// What an operand must name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ImageKind {
    /// A texture: a handle, or a `.texref`.
    Texture,
    /// A sampler: a handle, or a `.samplerref`.
    Sampler,
    /// A surface: a handle, or a `.surfref`.
    Surface,
}

impl ImageKind {
    /// What people call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Texture => "texture",
            Self::Sampler => "sampler",
            Self::Surface => "surface",
        }
    }

    /// The type of variables that name one.
    #[must_use]
    pub const fn type_name(self) -> &'static str {
        match self {
            Self::Texture => ".texref",
            Self::Sampler => ".samplerref",
            Self::Surface => ".surfref",
        }
    }
}

/// What is wrong with a texture or surface instruction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "problem", rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "`name` is the texture's, sampler's or surface's; geometries and formats are PTX's words"
)]
pub enum ImageProblem {
    /// The operand is no handle that the host made.
    NoHandle {
        /// Its value.
        value: u64,
        /// What was wanted.
        wanted: ImageKind,
        /// The block of memory that it is an address in, if it is one.
        inside: Option<String>,
    },
    /// The operand names something else.
    OtherKind { name: String, found: ImageKind, wanted: ImageKind },
    /// Nothing is bound to the variable that the operand names.
    Unbound { name: String, wanted: ImageKind },
    /// It has another shape than the instruction says.
    Geometry { name: String, kind: ImageKind, found: &'static str, wanted: &'static str },
    /// It gives integers where the instruction has floating-point numbers, or the other way round.
    Gives { name: String, format: &'static str, normalised: bool, wanted: &'static str },
    /// A linear filter would blend integers.
    Blends { name: String, sampler: String, format: &'static str },
    /// Linear memory is fetched at a floating-point coordinate.
    Linear { name: String },
    /// Texels are to be added to the coordinates that are not -8 to 7.
    Offset { offset: i32 },
    /// A level is asked for that the texture does not have.
    Level { name: String, level: u32, levels: u32 },
    /// A surface's texels are no integers of the size that a reduction works on.
    Reduces { name: String, format: &'static str, channels: u8, bits: u32 },
    /// An access outside of a surface that traps.
    Outside {
        name: String,
        /// `x`, `y`, `z` or `layer`.
        axis: &'static str,
        /// Whether x counts bytes.
        in_bytes: bool,
        coordinate: i64,
        /// The first coordinate that is too large.
        end: u64,
        /// Bytes of the access.
        bytes: u32,
        write: bool,
    },
    /// A byte in x that is no multiple of the access's size.
    Misaligned { name: String, x: i64, bytes: u32, write: bool },
}

impl ImageProblem {
    /// Which kind of defect it is: an access that goes wrong is called as in any memory.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::NoHandle { .. } | Self::OtherKind { .. } | Self::Unbound { .. } | Self::Geometry { .. } => {
                Kind::BadHandle
            }
            Self::Outside { .. } => Kind::OutOfBounds,
            Self::Misaligned { .. } => Kind::Misaligned,
            Self::Gives { .. }
            | Self::Blends { .. }
            | Self::Linear { .. }
            | Self::Offset { .. }
            | Self::Level { .. }
            | Self::Reduces { .. } => Kind::Texture,
        }
    }
}
