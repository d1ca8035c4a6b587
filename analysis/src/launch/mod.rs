//! Layer 7: launching kernels as a host program does: buffers, arguments, launch files, expected results.
//!
//! Knows nothing of how messages look (`report` shows its typed [`Problem`]s), nor of the command line.

mod args;
mod below;
pub mod bench;
mod data;
mod description;
mod device;
mod expect;
mod failure;
mod file;
mod folder;
mod image;
mod limits;
mod memp;
mod modules;
mod npy;
mod problem;
mod program;
mod scalar;
mod script;
mod spec;
mod suppress;
#[cfg(test)]
mod tests;
mod toml;
mod wishes;

pub use args::pack;
pub use below::{Below, below, is_launch};
pub use data::{Data, DataProblem, random};
pub use description::device_model;
pub use device::{Device, Outcome, run};
pub use expect::{Difference, Mismatch, OutputMismatch, Unexpected, compare, compare_output};
pub use failure::Failure;
pub use file::{open, text_of};
pub use image::{ImageSpec, Images, MOST_LAYERS, NamedSampler, SamplerSpec, Texels};
pub use limits::{TargetLimits, check as check_limits};
pub use memp::{check_memory_programs, is_memp, memory_programs};
pub use modules::{is_ptx, modules};
pub use npy::{NpyProblem, read as read_npy, write as write_npy};
pub use problem::{At, Given, LaunchLimit, Problem, ProblemKind};
pub use program::{build, load, understand};
pub use scalar::{Meaning, Number, SCALARS, Scalar, Value};
pub use script::{By, Do, Script, ScriptDevice, ScriptState, Start, Step, programs};
pub use spec::{Arg, Buffer, Expect, ExpectStdout, Global, KernelLaunch, Spec};
pub use suppress::{Suppression, Suppressions};
pub use toml::hex;
pub use wishes::{OUTPUT_MISMATCH, RESULT_MISMATCH, Wishes};
