//! What an access does to memory, and how strong it is (PTX ISA, chapter 8, "Morally Strong Operations"; D-race).

use super::AccessKind;

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
    /// All threads, and the others' scopes need not include the operation's own: a remote access (D-race-remote).
    Remote,
}

impl Reach {
    /// Whether the scope includes a thread, which is in the operation's block or not.
    #[must_use]
    pub const fn includes(self, same_block: bool) -> bool {
        same_block || !matches!(self, Self::Block)
    }

    /// Whether two scopes include each other's threads, as far as they must.
    #[must_use]
    pub const fn with(self, other: Self, same_block: bool) -> bool {
        let remote = matches!(self, Self::Remote) || matches!(other, Self::Remote);
        remote || self.includes(same_block) && other.includes(same_block)
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
    /// the scope of each includes the other's thread. Accesses of different bytes are not, in spite of this.
    #[must_use]
    pub const fn with(self, other: Self, same_block: bool) -> bool {
        match (self, other) {
            (Self::Strong(a), Self::Strong(b)) => a.with(b, same_block),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strong_operations_are_morally_strong_where_their_scopes_meet() {
        let (near, far) = (Strength::Strong(Reach::Block), Strength::Strong(Reach::Device));
        assert!(near.with(far, true) && !near.with(far, false) && far.with(far, false));
        assert!(!Strength::Weak.with(far, true));
        let remote = Strength::Strong(Reach::Remote);
        assert!(remote.with(near, false) && near.with(remote, false) && remote.with(far, false));
        assert!(!remote.with(Strength::Weak, false));
    }
}
