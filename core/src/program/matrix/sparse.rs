//! Sparse `A` of `mma.sp` (PTX ISA 9.7.14.6): half of its elements are stored, and metadata say which.
//!
//! A row is cut into chunks. Each has four bits of metadata: two indices of two bits, the first one lowest. The elements that are
//! stored have the fragment of a dense matrix of half as many columns.

use super::{Multiply, Part, Words};
use crate::alu::matrix::Size;
use smallvec::SmallVec;

/// How the metadata of a product are given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sparse {
    /// The sparsity selector: which lanes of each group of four have the metadata.
    pub selector: u32,
    /// `.sp::ordered_metadata`: indices ascend.
    pub ordered: bool,
}

/// Columns of the elements that are stored; element (row, x) of them is at `x · m + row`.
pub type Columns = SmallVec<[u8; 512]>;

/// Four bits that mean nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaningless {
    /// Who gave them.
    pub lane: usize,
    /// Where they are in its metadata.
    pub shift: u32,
    /// The bits.
    pub indices: u32,
}

impl Multiply {
    /// Columns of a chunk, and how many of its elements are stored.
    const fn chunk(&self) -> (usize, usize) {
        match self.element_bits(Part::A) {
            32 => (2, 1),
            4 => (8, 4),
            _ => (4, 2),
        }
    }

    /// How many sparsity selectors there are.
    #[must_use]
    pub const fn selectors(&self) -> u32 {
        let (chunks, bits) = (self.size.k / self.chunk().0, self.element_bits(Part::A));
        // Metadata are 64 or 128 bits in each group of two rows; four lanes have 128.
        match (bits < 16, chunks) {
            (false, 4) => 4,
            (false, _) | (true, 8) => 2,
            _ => 1,
        }
    }

    /// Which lane has the metadata of a chunk, and at which bit. Of elements of 16 or 32 bits a lane has four chunks of a row in
    /// its lower half, and of the row eight further down in the upper one; of smaller ones it has eight of one row (figures 118,
    /// 122, 125, 127, 129, 136, 137, 139, 146, 147).
    const fn metadata(&self, selector: usize, row: usize, chunk: usize) -> (usize, u32) {
        let (wide, bits) = (self.chunk().0, self.element_bits(Part::A));
        let (group, lower) = (row % 8, row / 8);
        let chunks = self.size.k / wide;
        if bits < 16 {
            (4 * group + 2 * selector + 2 * (chunk / 8) + lower, 4 * (chunk % 8) as u32)
        } else {
            (4 * group + selector * (chunks / 4) + chunk / 4, 16 * lower as u32 + 4 * (chunk % 4) as u32)
        }
    }

    /// Whether a lane's metadata are looked at.
    #[must_use]
    pub fn has_metadata(&self, lane: usize) -> bool {
        let count = 4 / self.selectors() as usize;
        self.sparse.is_some_and(|sparse| lane % 4 / count == sparse.selector as usize)
    }

    /// Which columns the elements have that are stored. What PTX leaves undefined is an error: indices that are equal, that
    /// descend where order is demanded, and of `tf32` all but `0b0100`, the first element of two, and `0b1110`, the second.
    ///
    /// Rule: D-mma-sparse
    ///
    /// # Errors
    /// The first bits that mean nothing.
    pub fn columns(&self, sparse: Sparse, metadata: &Words) -> Result<Columns, Meaningless> {
        let Size { m, k, .. } = self.size;
        let (wide, kept) = self.chunk();
        let mut columns = Columns::from_elem(0, m * k * kept / wide);
        for row in 0..m {
            for chunk in 0..k / wide {
                let (lane, shift) = self.metadata(sparse.selector as usize, row, chunk);
                let indices = metadata.get(lane).map_or(0, |word| word >> shift & 15);
                let (low, high) = (indices & 3, indices >> 2);
                if low == high || sparse.ordered && low > high || kept == 1 && !matches!(indices, 0b0100 | 0b1110) {
                    return Err(Meaningless { lane, shift, indices });
                }
                for stored in 0..kept {
                    let index = if 2 * stored < kept { low } else { high } as usize;
                    // Of `tf32` an index is of halves of elements, of four bits of pairs.
                    let inside = match kept {
                        1 => index / 2,
                        2 => index,
                        _ => 2 * index + stored % 2,
                    };
                    if let Some(column) = columns.get_mut((chunk * kept + stored) * m + row) {
                        *column = (chunk * wide + inside) as u8;
                    }
                }
            }
        }
        Ok(columns)
    }
}
