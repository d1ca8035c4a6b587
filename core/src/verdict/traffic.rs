//! What the mutex mechanism of lockstep sequential consistency sends while a kernel runs, as its counters need it (Puthoor and
//! Lipasti, "Systems-on-Chip with Strong Ordering", 2021, sections 6 and 9.2).

/// Something that a wavefront's mutex manager or its coalescer does. A line is an address divided by the size of a line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Traffic {
    /// A mutex is asked for at the pool.
    Request {
        /// The entry of the pool.
        entry: u32,
        /// Whether it was free; otherwise the pool refuses, and the wavefront asks again.
        granted: bool,
    },
    /// A mutex is wanted that the wavefront's vector has: nothing is sent.
    Hit {
        /// The entry of the pool.
        entry: u32,
    },
    /// A mutex is given back to the pool.
    Release {
        /// The entry of the pool.
        entry: u32,
    },
    /// A coalesced load looks into the first cache.
    Load {
        /// The line.
        line: u64,
    },
    /// A coalesced store is written through.
    Store {
        /// The line.
        line: u64,
    },
    /// A coalesced atomic operation is performed behind the first cache.
    Atomic {
        /// The line.
        line: u64,
    },
}
