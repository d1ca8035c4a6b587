//! Layer 1: how a run can stop, and what a machine tells its observers while it runs.
//!
//! Everything here is typed data; text is made in `report` only.

mod event;
mod extent;
mod footprint;
mod hang;
mod heap;
mod identity;
mod kind;
mod memory;
mod performed;
mod race;
mod rules;
mod standing;
mod stop;
mod tokens;
mod undefined;

pub use event::{
    Access, AccessKind, Arrive, Contents, DeviceMemory, Enter, Event, Message, Needs, Shape, Silent, Sink, Step,
    Stride, Who,
};
pub use extent::Extent;
pub use footprint::{Footprint, Reach, SharedBy, Strength};
pub use hang::{Blocked, Class, Hang, Holds, Lock, SpinRead, Spinner, Stack, Taken, Unissued};
pub use heap::{FormatProblem, LeakSite, Lifetime};
pub use identity::Identity;
pub use kind::{Description, Kind};
pub use memory::{CacheView, LaneBytes, LineView, Look, MemoryStep, MemoryView, OperationView, Region, StepEnd};
pub use performed::{AccessId, Performed, ReadsFrom};
pub use race::{Party, Race, Unordered};
pub use rules::Rule;
pub use standing::Standing;
pub use stop::{
    AllocKind, Bug, BugKind, Doing, Elsewhere, Inside, Internal, LimitKind, Named, Nearest, Operation, Place, Relation,
    Space, Stop, StuckKind, Taker, UninitUse, Waiting, WaitingFor,
};
pub use tokens::{NeverPopped, Property, Token, TokenKind, Tokens, Violation};
pub use undefined::{Origin, Unwritten, Writers};
