//! How wide accesses of programs are, as table 3 tells them apart.

use crate::litmus::rsp::{Access, MemoryScope};
use crate::memory::rsp::{Reach, Width};

impl From<Access> for Width {
    fn from(access: Access) -> Self {
        let Access::Atomic { scope, remote, .. } = access else { return Self::Narrow };
        let reach = match scope {
            MemoryScope::WorkGroup => Reach::Group,
            MemoryScope::Device => Reach::Device,
            MemoryScope::All => Reach::System,
        };
        Self::of(reach, remote)
    }
}
