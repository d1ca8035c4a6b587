//! warpstep: an executable semantics of CUDA/PTX.
//!
//! PTX text becomes a syntax tree ([`ptx`]), the tree a program environment ([`program`]), and the [`machine`] runs that on
//! a [`memory`] environment: step by step, exactly repeatably, with no GPU. Every rule of the formal model that it follows
//! is one function or match arm in the code, listed in [`verdict::Rule`]; everything that can go two ways is decided by an
//! oracle ([`choice`]).
//!
//! ```
//! use warpstep::Kernel;
//!
//! let ptx = "
//!     .version 8.0
//!     .target sm_80
//!     .address_size 64
//!     .entry twice(.param .u64 out) {
//!         .reg .b32 %r<3>; .reg .b64 %rd<3>;
//!         ld.param.u64 %rd0, [out];
//!         mov.u32 %r0, %tid.x;
//!         mul.wide.u32 %rd1, %r0, 4;
//!         add.s64 %rd2, %rd0, %rd1;
//!         shl.b32 %r1, %r0, 1;
//!         st.global.u32 [%rd2], %r1;
//!         ret;
//!     }";
//! let mut out = [0u32; 64];
//! let run = Kernel::from_ptx(ptx)?.block(64).arg(&mut out).run()?;
//! assert_eq!(run.stats.thread_instructions, 64 * 7);
//! assert_eq!(out[21], 42);
//! # Ok::<(), warpstep::Error>(())
//! ```
//!
//! [`Kernel`] and the other items here are the surface for users, taught in `docs/library.md`. The modules are what it and
//! the command are made of, and may change with any version:
//! [`launch`] reads launch files and names buffers, [`check`] watches runs, [`report`] makes text of what happened, [`cli`]
//! is the command.

pub mod api;

pub use warpstep_analysis::{axiom, check, explore, launch, litmus};
pub use warpstep_cli::{cli, report};
pub use warpstep_core::{alu, base, choice, machine, memory, program, ptx, verdict};

pub use alu::image::{Address, Filter, Geometry, Read};
pub use api::{
    Argument, Buffer, Check, Comparison, Dimensions, Element, Error, ErrorKind, Finding, Hunted, Kernel, Left, Module,
    Proof, Run, Seen, Surface, Texture,
};
pub use explore::Progress;
pub use machine::{ControlModel, MemoryModel};
pub use memory::flat::{HostMemory, HostRange, Lent};

/// The page that teaches the library: its examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct Library;
