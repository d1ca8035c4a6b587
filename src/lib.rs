//! warpstep: an executable semantics of CUDA/PTX.
//!
//! PTX text becomes a syntax tree ([`ptx`]), the tree a program environment ([`program`]), and the [`machine`] runs that on
//! a [`memory`] environment: step by step, exactly repeatably, with no GPU. Every rule of the formal model that it follows
//! is one function or match arm in the code, listed in [`verdict::Rule`]; everything that can go two ways is decided by an
//! oracle ([`choice`]).
//!
//! ```
//! use warpstep::base::SourceMap;
//! use warpstep::launch::build;
//! use warpstep::machine::{Config, Context, Launch};
//!
//! let mut sources = SourceMap::default();
//! let file = sources.add(
//!     "twice.ptx",
//!     ".version 8.0
//!      .target sm_80
//!      .address_size 64
//!      .entry twice(.param .u64 out) {
//!          .reg .b32 %r<3>; .reg .b64 %rd<3>;
//!          ld.param.u64 %rd0, [out];
//!          mov.u32 %r0, %tid.x;
//!          mul.wide.u32 %rd1, %r0, 4;
//!          add.s64 %rd2, %rd0, %rd1;
//!          shl.b32 %r1, %r0, 1;
//!          st.global.u32 [%rd2], %r1;
//!          ret;
//!      }",
//! );
//! let env = build(&[file], None, &sources).expect("the module is well formed");
//!
//! // Buffers are sized in bytes, grids in blocks, blocks in threads; parameters are the bytes of the parameter area.
//! let mut context = Context::new(env, Config::default()).expect("memory is not capped");
//! let out = context.alloc("out", 64 * 4).expect("memory is not capped");
//! let launch = Launch {
//!     entry: "twice".into(),
//!     grid: [1, 1, 1],
//!     block: [64, 1, 1],
//!     shared_bytes: 0,
//!     params: out.to_le_bytes().to_vec(),
//! };
//! let stats = context.launch(&launch, &mut |_| ()).expect("the kernel has no defect");
//! assert_eq!(stats.thread_instructions, 64 * 7);
//! assert_eq!(context.bytes(out + 4 * 21, 4), Some(&42u32.to_le_bytes()[..]));
//! ```
//!
//! [`launch`] reads launch files and names buffers, [`check`] watches runs, [`report`] makes text of what happened, [`cli`]
//! is the command.

pub mod alu;
pub mod api;
pub mod base;
pub mod check;
pub mod choice;
pub mod cli;
pub mod explore;
pub mod launch;
pub mod litmus;
pub mod machine;
pub mod memory;
pub mod program;
pub mod ptx;
pub mod report;
pub mod verdict;

pub use api::{Argument, Buffer, Check, Dimensions, Element, Error, ErrorKind, Finding, Hunted, Kernel, Proof, Run};
pub use explore::Progress;
pub use machine::{ControlModel, MemoryModel};
