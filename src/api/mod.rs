//! Layer 12: the library for people who have a kernel and arguments: [`Kernel`], and what its runs give.
//!
//! A kernel is described by calls, one after the other, and then run, hunted, proved or replayed. What is given by
//! reference is the kernel's memory: it is written back when the run has ended as it should. Everything else of the crate is
//! for tools that need more (launch files, host scripts, observers, searches of their own) and may change with any version.
//!
//! ```
//! use warpstep::{Check, Kernel};
//!
//! let ptx = std::fs::read_to_string("docs/tour/scale.ptx")?;
//! let mut x: Vec<f32> = (0..1000u16).map(f32::from).collect();
//! let error = Kernel::from_ptx(&ptx)?.grid(4).block(256).buffer("x", &mut x).arg(1000u32).run().unwrap_err();
//! assert_eq!(error.code(), "out-of-bounds");
//! println!("{error}"); // the excerpt of the PTX, and by which thread
//!
//! // With as many threads as numbers it is right, under every schedule.
//! let kernel = Kernel::from_ptx(&ptx)?.grid(1).block(8).buffer("x", &mut x[..8]).arg(8u32).check(Check::Races);
//! assert_eq!(kernel.hunt(0..20)?.findings.len(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod addresses;
mod argument;
mod comparison;
mod described;
mod dimensions;
mod error;
mod image;
mod kernel;
mod left;
mod module;
mod prepared;
mod search;

pub use crate::check::Check;
pub use argument::{Argument, Buffer, Element};
pub use comparison::{Comparison, Seen};
pub use dimensions::Dimensions;
pub use error::{Error, ErrorKind};
pub use image::{Surface, Texture};
pub use kernel::Kernel;
pub use left::Left;
pub use module::Module;
pub use prepared::Run;
pub use search::{Finding, Hunted, Proof};
