//! Layer 1: how a run can stop, and what a machine tells its observers while it runs.
//!
//! Everything here is typed data; text is made in `report` only.

mod access;
mod event;
mod extent;
mod hang;
mod heap;
mod identity;
mod image;
mod kind;
mod mbarrier;
mod memory;
mod object;
mod performed;
mod place;
mod race;
mod row;
mod rules;
mod standing;
mod stop;
mod strength;
mod tokens;
mod traffic;
mod undefined;

pub use access::{Access, AccessKind, Contents, DeviceMemory, Stride};
pub use event::{Arrive, CLUSTER, Enter, Event, Message, Needs, Shape, Silent, Sink, Step};
pub use extent::Extent;
pub use hang::{Blocked, Hang, Holds, Lock, SpinRead, Spinner, Stack, Taken, Unissued};
pub use heap::{FormatProblem, LeakSite, Lifetime};
pub use identity::Identity;
pub use image::{ImageKind, ImageProblem};
pub use kind::{Class, Description, Kind};
pub use mbarrier::BarrierProblem;
pub use memory::{
    CacheView, LaneBytes, LineView, LockView, Look, MarkView, MemoryStep, MemoryView, OperationView, Region, StepEnd,
    WhichCache,
};
pub use object::{AllocKind, Inside, Named, Space, Unwritten};
pub use performed::{AccessId, Arrived, Performed, ReadsFrom};
pub use place::{Place, Who};
pub use race::{Party, Race, Unordered};
pub use row::Row;
pub use rules::Rule;
pub use standing::Standing;
pub use stop::{
    Bug, BugKind, Doing, Elsewhere, Internal, LimitKind, Nearest, Operation, Relation, Stop, StuckKind, Taker,
    UninitUse, Waiting, WaitingFor,
};
pub use strength::{Reach, Strength};
pub use tokens::{NeverPopped, Property, Token, TokenKind, Tokens, Violation};
pub use traffic::Traffic;
pub use undefined::{Origin, Writers};
