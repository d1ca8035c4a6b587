//! Layer 0: files, source text and spans, newtyped ids, lane masks, the instruction sets of the machine that we run on.
//!
//! Knows nothing of PTX, of programs or of machines.

mod aside;
mod beside;
mod bytes;
mod complaint;
mod count;
pub(crate) mod cursor;
pub mod files;
mod ids;
mod lanes;
mod mask;
pub mod mutant;
pub mod sort;
pub mod sorted;
mod source;
mod suggest;
mod tier;
mod words;

pub use aside::Aside;
pub use beside::drop_beside;
pub use bytes::number;
pub use complaint::{END, Wording};
pub use complaint::{complaints, phrases};
pub use count::{among, either, list, meant, plain};
pub use count::{counted, plural};
pub use ids::{FileId, Pc};
pub use lanes::{Frame, LANES, LaneTables, Lanes32, Lanes64, blend32, blend64, expand, put_mask};
pub use mask::{LaneMask, lanes_of, lanes_with, set_lanes};
pub use mutant::Mutant;
pub use source::{Placed, Source, SourceMap, Span};
pub use suggest::suggest;
pub use tier::{Baseline, Best, Middle, Tier, Vectors};
pub use words::words;
