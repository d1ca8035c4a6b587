//! What is wrong with an `mbarrier` instruction (D-mbarrier).

use serde::Serialize;

/// What is wrong with an `mbarrier` instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "problem", rename_all = "kebab-case")]
pub enum BarrierProblem {
    /// The generic address is not one of shared memory.
    NotShared {
        /// The address.
        address: u64,
    },
    /// A barrier that is in use is initialised once more.
    Again {
        /// Arrivals that it expects in each phase.
        expected: u32,
        /// Those that its phase still awaits.
        pending: u32,
    },
    /// There is no barrier.
    NoBarrier {
        /// The 8 bytes that are there.
        found: u64,
    },
    /// A count of arrivals that no barrier can have.
    Count {
        /// The count.
        count: u64,
    },
    /// More arrivals than the phase awaits.
    Arrivals {
        /// How many arrive.
        count: u32,
        /// How many it awaits.
        pending: u32,
    },
    /// More transactions than a barrier can count.
    Transactions {
        /// How many are expected, or completed.
        count: u32,
        /// Whether they are expected.
        expects: bool,
        /// The tx-count before.
        before: i32,
    },
    /// The phase would be complete, and `.noComplete` promises that it is not.
    Completes {
        /// How many arrive.
        count: u32,
    },
    /// An operand that is the state of no barrier.
    NoState {
        /// Its value.
        found: u64,
    },
    /// A parity that is neither 0 nor 1.
    Parity {
        /// Its value.
        parity: u64,
    },
}
