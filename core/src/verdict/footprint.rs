//! What a memory access touches, and when two accesses get in each other's way.
//!
//! Partial-order reduction and the race checker read the same two relations: [`Footprint::conflicts`] says that the order
//! of two accesses can matter at all, [`Strength::with`] and [`Footprint::same_bytes`] that two accesses are morally strong
//! (PTX ISA, chapter 8, "Morally Strong Operations"; D-race).

use super::AccessKind;

/// A memory that several threads can see.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum SharedBy {
    /// The device: global memory, constant memory among it.
    Device,
    /// The threads of a block: its shared memory.
    Block {
        /// Number of the launch in its context.
        launch: u32,
        /// Linear index of the block in its grid.
        block: u64,
    },
}

/// The bytes that one thread's access touches, and how. An element of a vector access has a footprint of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Footprint {
    /// The memory.
    pub space: SharedBy,
    /// First address: of the generic address space, or an offset in shared memory, the same for all that are compared.
    pub address: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// What is done to them.
    pub kind: AccessKind,
}

impl Footprint {
    /// Whether they have a byte in common.
    #[must_use]
    pub const fn overlaps(&self, other: &Self) -> bool {
        // Differences instead of ends: an access may end at the last address.
        self.same_space(other)
            && (other.address.wrapping_sub(self.address) < self.bytes as u64 && other.bytes > 0
                || self.address.wrapping_sub(other.address) < other.bytes as u64 && self.bytes > 0)
    }

    /// Whether their order can matter: they overlap and one of them writes. Accesses that do not conflict are independent:
    /// in either order they lead to the same state.
    #[must_use]
    pub const fn conflicts(&self, other: &Self) -> bool {
        (self.kind.writes() || other.kind.writes()) && self.overlaps(other)
    }

    /// Whether they touch exactly the same bytes ("complete overlap").
    #[must_use]
    pub const fn same_bytes(&self, other: &Self) -> bool {
        self.same_space(other) && self.address == other.address && self.bytes == other.bytes
    }

    const fn same_space(&self, other: &Self) -> bool {
        match (self.space, other.space) {
            (SharedBy::Device, SharedBy::Device) => true,
            (SharedBy::Block { launch, block }, SharedBy::Block { launch: l, block: b }) => launch == l && block == b,
            _ => false,
        }
    }
}

impl AccessKind {
    /// Whether it may change memory; an atomic operation does, also a compare-and-swap that fails.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Atomic)
    }

    /// Whether it takes a value from memory.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Atomic)
    }
}

/// How far the scope of a strong operation reaches. A cluster is one block here, and the system one device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Reach {
    /// `.cta`, `.cluster`: the threads of the block.
    Block,
    /// `.gpu`, `.sys`: all threads.
    Device,
}

impl Reach {
    /// Whether the scope includes a thread, which is in the operation's block or not.
    #[must_use]
    pub const fn includes(self, same_block: bool) -> bool {
        same_block || matches!(self, Self::Device)
    }
}

/// Whether an access is strong, and how far then (PTX ISA, chapter 8; `volatile` counts as `relaxed.sys`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Strength {
    /// Neither `.relaxed` nor stronger nor atomic.
    Weak,
    /// Strong, with this scope.
    Strong(Reach),
}

impl Strength {
    /// Whether two operations of different threads are morally strong as far as scopes decide it: both are strong, and
    /// the scope of each includes the other's thread. Accesses of different bytes are not, in spite of this
    /// ([`Footprint::same_bytes`]).
    #[must_use]
    pub const fn with(self, other: Self, same_block: bool) -> bool {
        match (self, other) {
            (Self::Strong(a), Self::Strong(b)) => a.includes(same_block) && b.includes(same_block),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foot(address: u64, bytes: u32, kind: AccessKind) -> Footprint {
        Footprint { space: SharedBy::Device, address, bytes, kind }
    }

    #[test]
    fn bytes_in_common_with_a_write_conflict() {
        use AccessKind::{Atomic, Read, Write};
        let read = foot(8, 8, Read);
        for (address, bytes, overlaps) in [(0, 8, false), (4, 8, true), (8, 8, true), (12, 1, true), (16, 4, false)] {
            for kind in [Read, Write, Atomic] {
                let other = foot(address, bytes, kind);
                assert_eq!(read.overlaps(&other), overlaps, "{other:?}");
                assert_eq!(other.overlaps(&read), overlaps, "{other:?}");
                assert_eq!(read.conflicts(&other), overlaps && kind != Read, "{other:?}");
            }
        }
        let last = foot(u64::MAX - 3, 4, Write);
        assert!(last.overlaps(&foot(u64::MAX, 1, Read)) && !last.overlaps(&foot(0, 8, Read)));
        assert!(!foot(8, 0, Write).overlaps(&read));
    }

    #[test]
    fn blocks_have_their_own_shared_memory() {
        let of = |block| Footprint {
            space: SharedBy::Block { launch: 0, block },
            address: 0,
            bytes: 4,
            kind: AccessKind::Write,
        };
        assert!(of(1).conflicts(&of(1)) && !of(1).conflicts(&of(2)));
        assert!(!of(1).conflicts(&foot(0, 4, AccessKind::Write)));
    }

    #[test]
    fn strong_operations_are_morally_strong_where_their_scopes_meet() {
        let (near, far) = (Strength::Strong(Reach::Block), Strength::Strong(Reach::Device));
        assert!(near.with(far, true) && !near.with(far, false) && far.with(far, false));
        assert!(!Strength::Weak.with(far, true));
        assert!(foot(8, 4, AccessKind::Read).same_bytes(&foot(8, 4, AccessKind::Write)));
        assert!(!foot(8, 4, AccessKind::Read).same_bytes(&foot(8, 8, AccessKind::Write)));
    }
}
