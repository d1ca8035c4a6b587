//! What a context needs of an engine besides the steps of its warps: to be made.

use super::Memory;
use super::fermi::Fermi;
use super::fermi::model::DeviceModel;
use super::fermi::program::ProgramSet;
use super::flat::Flat;
use super::split::Split;
use std::sync::Arc;

/// A memory environment that can be a context's.
pub trait Environment: Memory + Clone + PartialEq + Eq + std::fmt::Debug + Send + Sync {
    /// What the device's description says about memory.
    type Model: Clone + PartialEq + Eq + std::fmt::Debug + Send + Sync;

    /// Empty memory whose first address is `base`; `cap` limits its size in bytes.
    fn create(model: &Self::Model, base: u64, cap: Option<u64>) -> Self;
}

/// What [`Fermi`] is made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FermiModel {
    /// The device.
    pub device: Arc<DeviceModel>,
    /// The memory programs; they serve every operation.
    pub programs: Arc<ProgramSet>,
    /// The target of the programs that will run: 70 for `sm_70`.
    pub sm: u32,
}

impl Environment for Fermi {
    type Model = FermiModel;

    fn create(model: &FermiModel, base: u64, cap: Option<u64>) -> Self {
        Self::new(model, base, cap)
    }
}

impl Environment for Flat {
    type Model = ();

    fn create((): &(), base: u64, cap: Option<u64>) -> Self {
        Self::new(base, cap)
    }
}

impl Environment for Split {
    type Model = ();

    fn create((): &(), base: u64, cap: Option<u64>) -> Self {
        Self::new(base, cap)
    }
}
