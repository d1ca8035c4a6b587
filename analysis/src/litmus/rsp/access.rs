//! How memory is accessed, and where threads are.

use crate::base::words;
use crate::program::instr::Order;

/// Which device and work-group a thread is in; work-groups are numbered anew in each device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Home {
    /// The device.
    pub device: u32,
    /// The work-group within it.
    pub group: u32,
}

words! {
    /// Memory scopes, from the narrowest (section 2.1), by the paper's names.
    pub enum MemoryScope {
        /// The own work-group.
        WorkGroup = "WG",
        /// The own device.
        Device = "DV",
        /// All devices.
        All = "ALL",
    }
}

impl MemoryScope {
    /// The word of OpenCL C.
    #[must_use]
    pub const fn constant(self) -> &'static str {
        match self {
            Self::WorkGroup => "memory_scope_work_group",
            Self::Device => "memory_scope_device",
            Self::All => "memory_scope_all_svm_devices",
        }
    }

    /// Whether one thread is in the scope of the other: `incl1` of figure 2.
    #[must_use]
    pub fn holds(self, one: Home, other: Home) -> bool {
        match self {
            Self::WorkGroup => one == other,
            Self::Device => one.device == other.device,
            Self::All => true,
        }
    }
}

words! {
    /// What an atomic operation orders. Figure 2 has loads that acquire, stores that release and updates that do both; the rest is OpenCL's.
    pub enum MemoryOrder {
        /// Nothing.
        Relaxed = "memory_order_relaxed",
        /// What follows.
        Acquire = "memory_order_acquire",
        /// What comes before.
        Release = "memory_order_release",
        /// Both.
        AcqRel = "memory_order_acq_rel",
        /// Both, and all such operations are in one order.
        SeqCst = "memory_order_seq_cst",
    }
}

impl MemoryOrder {
    /// It among the orders of all languages.
    #[must_use]
    pub const fn general(self) -> Order {
        match self {
            Self::Relaxed => Order::Relaxed,
            Self::Acquire => Order::Acquire,
            Self::Release => Order::Release,
            Self::AcqRel => Order::AcqRel,
            Self::SeqCst => Order::Sc,
        }
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// `load_na`, `*x`: not atomic.
    Plain,
    /// Atomic.
    Atomic {
        /// What it orders.
        order: MemoryOrder,
        /// For whom.
        scope: MemoryScope,
        /// Whether it is remote: it then reaches threads whose own scope is too narrow to reach it (section 3).
        remote: bool,
    },
}

words! {
    /// Regions of memory, of which OpenCL orders each by itself (section 2.3 leaves them out).
    #[derive(Default)]
    pub enum Region {
        /// One for all.
        #[default]
        Global = "global",
        /// One for each work-group.
        Local = "local",
    }
}
