//! Memory of the host's in which blocks of device memory lie while kernels run, so that nothing is copied.
//!
//! An arena's own bytes are one vector, and a place in it is an index. Lent bytes have indices, too, far above those of any
//! vector: whoever takes such an index for one of the vector finds nothing there.

use std::fmt;
use std::ops::Range;

/// Bytes that somebody lends: always as many.
pub trait Lent: Send + Sync {
    /// To be read.
    fn bytes(&self) -> &[u8];

    /// To be read and written.
    fn bytes_mut(&mut self) -> &mut [u8];
}

impl Lent for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }
}

/// The least index of lent bytes.
pub(super) const FIRST: usize = usize::MAX / 2 + 1;
/// Bits of an index that count bytes of one loan; those above, its number.
pub(super) const BITS: u32 = usize::BITS / 4 * 3;

/// Whether an index is one of lent bytes.
#[inline(always)]
pub(super) const fn is_lent(at: usize) -> bool {
    at >= FIRST
}

/// All that is lent to an arena. A copy has the bytes themselves.
#[derive(Default)]
pub(super) struct Loans(Vec<Box<dyn Lent>>);

impl Loans {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes one more; gives the index of its first byte, or the loan where there are too many, or it is too large.
    pub(super) fn add(&mut self, loan: Box<dyn Lent>) -> Result<usize, Box<dyn Lent>> {
        let most = (usize::MAX - FIRST) >> BITS;
        if self.0.len() >= most || loan.bytes().len() >> (BITS - 1) != 0 {
            return Err(loan);
        }
        self.0.push(loan);
        Ok(FIRST + ((self.0.len() - 1) << BITS))
    }

    pub(super) fn find(place: &Range<usize>) -> Option<(usize, Range<usize>)> {
        let at = place.start.checked_sub(FIRST)?;
        let (number, from) = (at >> BITS, at & ((1 << BITS) - 1));
        Some((number, from..from.checked_add(place.len())?))
    }

    /// The bytes at indices.
    #[cold]
    pub(super) fn get(&self, place: &Range<usize>) -> Option<&[u8]> {
        let (number, within) = Self::find(place)?;
        self.0.get(number)?.bytes().get(within)
    }

    /// The same, to be written.
    #[cold]
    pub(super) fn get_mut(&mut self, place: &Range<usize>) -> Option<&mut [u8]> {
        let (number, within) = Self::find(place)?;
        self.0.get_mut(number)?.bytes_mut().get_mut(within)
    }
}

impl Clone for Loans {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|loan| Box::new(loan.bytes().to_vec()) as Box<dyn Lent>).collect())
    }
}

impl PartialEq for Loans {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|loan| loan.bytes()).eq(other.0.iter().map(|loan| loan.bytes()))
    }
}

impl Eq for Loans {}

impl fmt::Debug for Loans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|loan| loan.bytes().len())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_its_index() {
        let mut loans = Loans::default();
        let first = loans.add(Box::new(vec![1u8, 2, 3])).ok().unwrap();
        let second = loans.add(Box::new(vec![4u8, 5])).ok().unwrap();
        assert!(is_lent(first) && is_lent(second) && !is_lent(1 << 40));
        assert_eq!(
            (loans.get(&(first + 1..first + 3)), loans.get(&(second..second + 1))),
            (Some(&[2, 3][..]), Some(&[4][..]))
        );
        assert_eq!(
            (loans.get(&(first + 1..first + 4)), loans.get(&(second + (1 << BITS)..second)), loans.get(&(0..1))),
            (None, None, None)
        );
        let copy = loans.clone();
        loans.get_mut(&(second..second + 2)).unwrap().fill(9);
        assert!(copy != loans && copy.get(&(second..second + 2)) == Some(&[4, 5]));
        assert_eq!(format!("{loans:?}"), "[3, 2]");
    }
}
