//! A kernel launch.

/// A kernel launch: the report's program configuration ξ. Sizes are in blocks and threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The entry's name.
    pub entry: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// The parameter area, laid out as the entry's [`Function::params`](crate::program::env::Function::params) say.
    pub params: Vec<u8>,
}
