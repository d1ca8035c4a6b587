//! How memory is accessed and fenced, and where threads are: all in which tests for PTX and for Vulkan differ.

use crate::base::words;
use crate::litmus::lockstep::Column;
use crate::litmus::rsp::{self, Home};
use crate::program::instr::{Order, Scope};

words! {
    /// What a test is written for; the word that it begins with.
    #[derive(Default)]
    pub enum Arch {
        /// NVIDIA's virtual instruction set.
        #[default]
        Ptx = "PTX",
        /// Khronos' interface, whose shaders are in SPIR-V.
        Vulkan = "VULKAN" | "Vulkan" | "vulkan",
        /// OpenCL with remote-scope promotion, in either form ([`crate::litmus::rsp`]).
        OpenCl = "OpenCL" | "RSP",
        /// Wavefronts in lockstep and threads of CPUs ([`crate::litmus::lockstep`]).
        Lockstep = "LSC",
    }
}

impl Arch {
    /// Its usual spelling.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Ptx => "PTX",
            Self::Vulkan => "Vulkan",
            Self::OpenCl => "OpenCL",
            Self::Lockstep => "wavefronts",
        }
    }

    /// The other one of those whose tests have rows; OpenCL's have none, and those of wavefronts have no places.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Ptx => Self::Vulkan,
            Self::Vulkan | Self::OpenCl | Self::Lockstep => Self::Ptx,
        }
    }
}

/// Where a thread is in the hierarchy of threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the levels of PTX and of Vulkan")]
pub enum Placing {
    /// `P0@cta 0,gpu 0`
    Ptx { cta: u32, gpu: u32 },
    /// `P0@sg 0,wg 0,qf 0`
    Vulkan { subgroup: u32, workgroup: u32, queue_family: u32 },
    /// `scopeTree (device (work_group P0))`
    OpenCl(Home),
    /// `W0.1`
    Lockstep(Column),
}

impl Placing {
    /// The groups that it is in, from the outermost inwards: GPU and cta, or queue family, workgroup and subgroup. Two threads are
    /// in one group of a level where their paths agree up to it, since groups are numbered anew within each outer one.
    #[must_use]
    pub const fn path(self) -> [u32; 3] {
        match self {
            Self::Ptx { cta, gpu } => [gpu, cta, 0],
            Self::Vulkan { subgroup, workgroup, queue_family } => [queue_family, workgroup, subgroup],
            Self::OpenCl(Home { device, group }) => [device, group, 0],
            Self::Lockstep(column) => [column.wave().0 as u32, column.wave().1, 0],
        }
    }

    /// The threads that meet at barriers: GPU and cta, or queue family and workgroup.
    #[must_use]
    pub const fn group(self) -> [u32; 2] {
        let [outer, group, _] = self.path();
        [outer, group]
    }

    /// Whose threads are placed so.
    #[must_use]
    pub const fn arch(self) -> Arch {
        match self {
            Self::Ptx { .. } => Arch::Ptx,
            Self::Vulkan { .. } => Arch::Vulkan,
            Self::OpenCl(_) => Arch::OpenCl,
            Self::Lockstep(_) => Arch::Lockstep,
        }
    }
}

words! {
    /// Proxies (PTX ISA 8.6): the paths on which memory is accessed.
    #[expect(missing_docs, reason = "the proxies of the litmus format")]
    pub enum Proxy {
        Generic = "generic",
        Constant = "constant",
        Texture = "texture",
        Surface = "surface",
    }
}

/// The qualifiers of a memory operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "by whose instructions they are")]
pub enum Access {
    Ptx(PtxAccess),
    Vulkan(VulkanAccess),
    OpenCl(OpenClAccess),
}

impl Access {
    /// How it orders others: of Vulkan's accesses, those that are not atomic are weak.
    #[must_use]
    pub const fn order(self) -> Order {
        match self {
            Self::Ptx(access) => access.order,
            Self::Vulkan(VulkanAccess { reach: Reach::Atomic(_), semantics, .. }) => semantics.order,
            Self::Vulkan(_) | Self::OpenCl(OpenClAccess { access: rsp::Access::Plain, .. }) => Order::Weak,
            Self::OpenCl(OpenClAccess { access: rsp::Access::Atomic { order, .. }, .. }) => order.general(),
        }
    }
}

/// A memory operation of OpenCL, and what matters of its location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OpenClAccess {
    /// How.
    pub access: rsp::Access,
    /// Of a compare-exchange: what it orders where it fails.
    pub failure: Option<rsp::MemoryOrder>,
    /// Whether the location is an atomic one.
    pub atomic: bool,
    /// The location's region.
    pub region: rsp::Region,
}

/// The qualifiers of a memory operation of PTX.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PtxAccess {
    /// The path to memory.
    pub proxy: Proxy,
    /// How strong.
    pub order: Order,
    /// For whom; none when weak.
    pub scope: Option<Scope>,
}

/// The qualifiers of a memory operation of Vulkan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VulkanAccess {
    /// Who is meant to see it.
    pub reach: Reach,
    /// The storage class, 0 to 3.
    pub class: u8,
    /// What it orders; nothing where it has no order.
    pub semantics: Semantics,
}

impl VulkanAccess {
    /// Whether it is atomic.
    #[must_use]
    pub const fn atomic(self) -> bool {
        matches!(self.reach, Reach::Atomic(_))
    }

    /// Whether it takes part in synchronisation with other threads; otherwise it is private.
    #[must_use]
    pub const fn non_private(self) -> bool {
        !matches!(self.reach, Reach::Private)
    }

    /// For whom a store makes available and a load makes visible what it accesses; an atomic operation does, too.
    #[must_use]
    pub const fn scope(self) -> Option<VulkanScope> {
        match self.reach {
            Reach::Coherent(scope) | Reach::Atomic(scope) => Some(scope),
            Reach::Private | Reach::NonPrivate => None,
        }
    }
}

/// Who is meant to see what an access of Vulkan does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reach {
    /// Its own thread only.
    Private,
    /// `nonpriv`: others, once a fence makes it available or visible.
    NonPrivate,
    /// `av.SCOPE` of a store, `vis.SCOPE` of a load: it makes its own location available or visible, and is not private.
    Coherent(VulkanScope),
    /// `atom.SCOPE`: the same, and atomic.
    Atomic(VulkanScope),
}

words! {
    /// Vulkan's scopes, from the narrowest.
    #[expect(missing_docs, reason = "the scopes of the litmus format")]
    pub enum VulkanScope {
        Subgroup = "sg",
        Workgroup = "wg",
        QueueFamily = "qf",
        Device = "dv",
    }
}

impl VulkanScope {
    /// Whether one thread is in the scope of the other.
    #[must_use]
    pub fn holds(self, one: Placing, other: Placing) -> bool {
        let levels = match self {
            Self::Subgroup => 3,
            Self::Workgroup => 2,
            Self::QueueFamily => 1,
            Self::Device => 0,
        };
        one.path()[..levels] == other.path()[..levels]
    }
}

/// What an atomic operation or a fence of Vulkan orders.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Semantics {
    /// Acquire, release or both; relaxed where none is given, and then all else is empty.
    pub order: Order,
    /// `semsc0` to `semsc3`: the storage classes that it is about, as bits.
    pub classes: u8,
    /// `semav`: what was written before is made available.
    pub available: bool,
    /// `semvis`: what was made available is made visible to what follows.
    pub visible: bool,
}

impl Semantics {
    /// Nothing is ordered.
    pub const NONE: Self = Self { order: Order::Relaxed, classes: 0, available: false, visible: false };

    /// Whether it is about a storage class.
    #[must_use]
    pub const fn is_about(self, class: u8) -> bool {
        self.classes >> class & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_nest_and_groups_are_numbered_within_outer_ones() {
        let at = |[queue_family, workgroup, subgroup]: [u32; 3]| Placing::Vulkan { subgroup, workgroup, queue_family };
        let places: Vec<[u32; 3]> = (0..8).map(|n| [n >> 2 & 1, n >> 1 & 1, n & 1]).collect();
        for one in &places {
            for other in &places {
                let agree = one.iter().zip(other).take_while(|(a, b)| a == b).count();
                let shared = VulkanScope::ALL.iter().filter(|s| s.holds(at(*one), at(*other))).count();
                assert_eq!(shared, agree + 1, "{one:?} {other:?}");
                assert_eq!(VulkanScope::Workgroup.holds(at(*one), at(*other)), at(*one).group() == at(*other).group());
            }
        }
    }
}
