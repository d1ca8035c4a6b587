//! Lanes that have parted natively: what has to be known of them where native code is left before they meet.

use super::context::{Back, Parting};

/// How often lanes part from each other at most, without meeting.
pub(super) const LEVELS: usize = 4;

/// Who has parted, the first ones first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Partings {
    all: [Parting; LEVELS],
    /// How many there are, where native code was left.
    count: u32,
    /// For each the numbers of lines that its lanes had before they parted.
    kept: Vec<u64>,
    scalars: usize,
}

impl Partings {
    /// None yet, of a kernel with so many numbers of lines.
    pub fn new(scalars: usize) -> Self {
        Self { all: [Parting::default(); LEVELS], count: 0, kept: vec![0; LEVELS * scalars], scalars }
    }

    /// Where native code finds them and the numbers, for a kernel with so many of these. `None`: there is no room for them.
    pub fn clear(&mut self, scalars: usize) -> Option<(*mut Parting, *mut u32, *mut u64)> {
        self.count = 0;
        let fits = self.kept.len() >= LEVELS * scalars;
        fits.then_some((self.all.as_mut_ptr(), &raw mut self.count, self.kept.as_mut_ptr()))
    }

    /// The partings of the warp that came back last.
    #[inline(always)]
    pub fn open(&self) -> &[Parting] {
        self.all.get(..self.count as usize).unwrap_or_default()
    }

    /// How many thread instructions were fewer than if all lanes had executed each instruction.
    #[inline(always)]
    pub fn fewer(&self, back: Back) -> u64 {
        let open = self.open().iter().map(|parting| {
            let (left, hidden) = ((parting.left >> 32) as u32, parting.left as u32);
            let counted = left.wrapping_sub(back.left).wrapping_sub(back.hidden.wrapping_sub(hidden));
            u64::from(counted) * u64::from((parting.mask & !parting.runs()).count_ones())
        });
        back.fewer + open.sum::<u64>()
    }

    /// The numbers of lines that the lanes of a level had before they parted.
    pub fn numbers(&self, level: usize) -> &[u64] {
        self.kept.get(level * self.scalars..).and_then(|kept| kept.get(..self.scalars)).unwrap_or_default()
    }
}
