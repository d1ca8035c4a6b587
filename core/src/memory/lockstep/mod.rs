//! The mutex mechanism that makes a system on a chip lockstep sequentially consistent: Puthoor and Lipasti, "Systems-on-Chip with
//! Strong Ordering" (TACO 2021), sections 5 to 7. "The paper" here.
//!
//! Its parts are pure, and know nothing of who schedules them: the pool of mutexes ([`Pool`], 6.5), the manager of a wavefront's
//! mutexes ([`Gmm`], 6.4), that of a CPU thread's ([`Cmm`], 6.3), what lines an instruction touches ([`coalesce`], 4.3). What they
//! keep by mutex is behind traits, so that a search has a few bits where a kernel's run has a map.
//!
//! Where the paper is silent or its text does not do what it claims is in spec-notes/lockstep-mechanism.md.

mod cmm;
mod coalesce;
mod gmm;
mod pool;
mod statuses;

pub use cmm::{Cmm, Counts, FewCounts, ManyCounts, MrfEntry, MutexFifo, ShortFifo};
pub use coalesce::{LineMasks, coalesce};
pub use gmm::{Gmm, Wanted};
pub use pool::{Answer, Asker, FewSlots, ManySlots, Pool, Slots};
pub use statuses::{Entry, FewStatuses, Hash, ManyStatuses, Status, Statuses};
