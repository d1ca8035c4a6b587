//! The mutex mechanism that makes a system on a chip lockstep sequentially consistent: Puthoor and Lipasti, "Systems-on-Chip with
//! Strong Ordering" (TACO 2021), sections 5 to 7. "The paper" here.
//!
//! Its parts are pure, and know nothing of who schedules them: the pool of mutexes ([`Pool`], 6.5), the manager of a wavefront's
//! mutexes ([`Gmm`], 6.4), that of a CPU thread's ([`Cmm`], 6.3), what lines an instruction touches ([`coalesce`], 4.3). What they
//! keep by mutex is behind traits, so that a search has a few bits where a kernel's run has a map. A [`System`] is a machine made of
//! them for searches: wavefronts and CPU threads whose [`Program`] is accesses and nothing else.
//!
//! Where the paper is silent or its text does not do what it claims is in spec-notes/lockstep-mechanism.md.

mod asked;
mod cmm;
mod coalesce;
mod cpu;
mod fired;
mod gmm;
mod pool;
mod program;
mod statuses;
mod step;
mod system;
mod wavefront;

pub use asked::Asked;
pub use cmm::{Cmm, Counts, FewCounts, ManyCounts, MrfEntry, MutexFifo, ShortFifo};
pub use coalesce::{LineMasks, coalesce};
pub use fired::Fired;
pub use gmm::{Gmm, Wanted};
pub use pool::{Answer, Asker, FewSlots, ManySlots, Pool, Slots};
pub use program::{Access, Ahead, Code, Instruction, Op, Program, Request, Source, TooBig};
pub use statuses::{Entry, FewStatuses, Hash, ManyStatuses, Status, Statuses};
pub use step::Step;
pub use system::{Outcome, Readings, System};

/// Wavefronts at most.
pub const WAVES: usize = 3;
/// CPU threads at most.
pub const CPUS: usize = 3;
/// Lanes of an instruction at most.
pub const LANES: usize = 4;
/// Instructions of a wavefront or a CPU thread at most.
pub const LENGTH: usize = 8;
/// Requests of a wavefront or a CPU thread at most.
pub const REQUESTS: usize = 16;
/// Locations at most.
pub const LOCATIONS: usize = 8;
/// Registers at most, of all agents together.
pub const REGISTERS: usize = 16;
/// Values are below it.
pub const VALUES: u8 = 16;
