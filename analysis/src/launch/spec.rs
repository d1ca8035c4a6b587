//! What to run: the contents of a `launch.toml`, however it was written down.

use super::problem::At;
use super::wishes::Wishes;
use super::{Data, DataProblem, Images, Scalar};
use crate::verdict::ImageKind;
use indexmap::IndexMap;
use std::path::PathBuf;

/// Everything that one `warpstep run` does, in order, in one context. [`Spec::read`] reads it from a launch file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Spec {
    /// The modules, linked together.
    pub ptx: Vec<(PathBuf, At)>,
    /// Device buffers by name, shared by all launches.
    pub buffers: IndexMap<String, Buffer>,
    /// Values for `.global` and `.const` variables, written before the first launch.
    pub globals: IndexMap<String, Global>,
    /// Textures, samplers and surfaces by name.
    pub images: Images,
    /// The launches, in order.
    pub launches: Vec<KernelLaunch>,
    /// Expected contents of buffers and variables after the last launch.
    pub expect: IndexMap<String, Expect>,
    /// Expected output of `printf`.
    pub stdout: Option<ExpectStdout>,
    /// The final memory depends on the schedule: tools that compare schedules leave it alone.
    pub schedule_dependent: bool,
    /// What it asks of tests.
    pub test: Wishes,
}

/// A device buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// The element type.
    pub ty: Scalar,
    /// What it holds before the first launch.
    pub init: Data,
    /// Its length in elements; absent when the data says it.
    pub len: Option<u64>,
    /// Where it is described.
    pub at: At,
}

/// A value for a variable of the program.
#[derive(Clone, PartialEq, Debug)]
pub struct Global {
    /// The element type.
    pub ty: Scalar,
    /// The elements; they may be fewer than the variable holds.
    pub data: Data,
    /// Where it is described.
    pub at: At,
}

/// One kernel launch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KernelLaunch {
    /// The kernel; absent on the command line when the program has only one.
    pub entry: Option<String>,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// The arguments, in the order of the parameters.
    pub args: Vec<(Arg, At)>,
    /// Where it is described.
    pub at: At,
}

/// A kernel argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// The address of a buffer, plus an offset in bytes.
    Buffer {
        /// The buffer.
        name: String,
        /// The offset in bytes.
        offset: u64,
    },
    /// A number: its type and bytes.
    Scalar(Scalar, Vec<u8>),
    /// A struct or array by value.
    Bytes(Vec<u8>),
    /// The null pointer.
    Null,
    /// The handle of a texture, sampler or surface.
    Handle {
        /// Which of them.
        kind: ImageKind,
        /// Its name.
        name: String,
    },
}

/// The expected contents of a buffer or variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Expect {
    /// The element type.
    pub ty: Scalar,
    /// The data. [`Data::Hex`] and [`Data::Raw`] are compared bit for bit, the others by value: zeros are equal
    /// whatever their sign, NaNs are equal whatever their payload.
    pub data: Data,
    /// Allowed absolute error.
    pub abs: Option<f64>,
    /// Allowed error relative to the expected value; added to `abs`.
    pub rel: Option<f64>,
    /// Compare only so many elements from the start.
    pub first: Option<u64>,
    /// The elements may come in any order.
    pub unordered: bool,
    /// Where it is described.
    pub at: At,
}

impl Expect {
    /// The same with the contents of files in place of their names, for comparing many times.
    ///
    /// # Errors
    /// A file cannot be read, or is no array of the type.
    pub fn read(&self) -> Result<Self, DataProblem> {
        let data = match &self.data {
            Data::Npy(_) => Data::Values(self.data.bytes(self.ty, None)?),
            Data::Raw(_) => Data::Hex(self.data.bytes(self.ty, None)?),
            other => other.clone(),
        };
        Ok(Self { data, ..self.clone() })
    }
}

/// Expected output of `printf`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpectStdout {
    /// The text.
    pub text: String,
    /// Lines are sorted before they are compared, since their order depends on the schedule.
    pub sorted: bool,
    /// Where it is described.
    pub at: At,
}
