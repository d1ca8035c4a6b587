//! What a context needs of an engine besides the steps of its warps: to be made, and to be filled and read by the host.

use super::Memory;
use super::fermi::Fermi;
use super::fermi::model::DeviceModel;
use super::fermi::program::ProgramSet;
use super::flat::{Arena, Flat};
use super::split::Split;
use std::sync::Arc;

/// A memory environment that can be a context's.
pub trait Environment: Memory + Clone + PartialEq + Eq + std::fmt::Debug + Send + Sync {
    /// What the device's description says about memory.
    type Model: Clone + PartialEq + Eq + std::fmt::Debug + Send + Sync;

    /// Empty memory whose first address is `base`; `cap` limits its size in bytes.
    fn create(model: &Self::Model, base: u64, cap: Option<u64>) -> Self;

    /// The blocks of global and constant memory and their bytes.
    fn arena(&self) -> &Arena;

    /// The same, to be changed by the host.
    fn arena_mut(&mut self) -> &mut Arena;

    /// All that can change, as bytes, if that is so simple while no blocks are made or freed.
    fn image(&self) -> Option<&[u8]>;

    /// The same, to put an earlier image back.
    fn image_mut(&mut self) -> Option<&mut [u8]>;
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
        Self::new(Arc::clone(&model.device), Arc::clone(&model.programs), model.sm, base, cap)
    }

    fn arena(&self) -> &Arena {
        Self::arena(self)
    }

    fn arena_mut(&mut self) -> &mut Arena {
        Self::arena_mut(self)
    }

    /// Caches and operations change as well.
    fn image(&self) -> Option<&[u8]> {
        None
    }

    fn image_mut(&mut self) -> Option<&mut [u8]> {
        None
    }
}

impl Environment for Flat {
    type Model = ();

    fn create((): &(), base: u64, cap: Option<u64>) -> Self {
        Self::new(base, cap)
    }

    fn arena(&self) -> &Arena {
        Self::arena(self)
    }

    fn arena_mut(&mut self) -> &mut Arena {
        Self::arena_mut(self)
    }

    fn image(&self) -> Option<&[u8]> {
        Some(Self::arena(self).image())
    }

    fn image_mut(&mut self) -> Option<&mut [u8]> {
        Some(Self::arena_mut(self).image_mut())
    }
}

impl Environment for Split {
    type Model = ();

    fn create((): &(), base: u64, cap: Option<u64>) -> Self {
        Self::new(base, cap)
    }

    fn arena(&self) -> &Arena {
        Self::arena(self)
    }

    fn arena_mut(&mut self) -> &mut Arena {
        Self::arena_mut(self)
    }

    /// Operations change as well.
    fn image(&self) -> Option<&[u8]> {
        None
    }

    fn image_mut(&mut self) -> Option<&mut [u8]> {
        None
    }
}
