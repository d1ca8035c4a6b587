//! How large a grid is, or a block.

/// Numbers of blocks, or of threads of a block, in x, y and z: `n`, `(x, y)`, `(x, y, z)` or `[x, y, z]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dimensions(pub(super) [u32; 3]);

impl From<u32> for Dimensions {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dimensions {
    fn from((x, y): (u32, u32)) -> Self {
        Self([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dimensions {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self([x, y, z])
    }
}

impl From<[u32; 3]> for Dimensions {
    fn from(all: [u32; 3]) -> Self {
        Self(all)
    }
}
