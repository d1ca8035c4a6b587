//! The shadow of a memory: a cell a word, or a cell a byte in the pages where bytes or halves were accessed.

use super::cell::{Cell, Spill};
use rustc_hash::FxHashMap;

/// Bytes of memory that a page shadows.
const PAGE: u64 = 1024;
/// Words in it.
const WORDS: usize = (PAGE / 4) as usize;
/// Pages whose places are remembered.
const REMEMBERED: usize = 16;

/// A page of cells.
#[derive(Clone, Debug)]
struct Page {
    /// One a word, or one a byte.
    cells: Vec<Cell>,
    bytes: bool,
}

/// The shadow of device memory, or of a block's shared memory.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    pages: Vec<Page>,
    /// Where the page of an address is.
    places: FxHashMap<u64, u32>,
    /// Pages that were asked for last, by the low bits of their numbers: number and place.
    last: [(u64, u32); REMEMBERED],
    spill: Spill,
}

impl Default for Shadow {
    fn default() -> Self {
        Self {
            pages: Vec::new(),
            places: FxHashMap::default(),
            last: [(u64::MAX, 0); REMEMBERED],
            spill: Spill::default(),
        }
    }
}

/// Bytes that a shadow takes, and bytes of memory that it says something of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Footing {
    /// Bytes of shadow memory.
    pub shadow: u64,
    /// Bytes of memory that were accessed.
    pub touched: u64,
}

impl Shadow {
    /// The cells of `width` bytes at an address that is a multiple of it, and what does not fit them. An access of less
    /// than a word gives its page a cell for each byte.
    #[inline(always)]
    pub fn cells(&mut self, address: u64, width: u32) -> (&mut [Cell], &mut Spill) {
        let place = self.place(address / PAGE);
        let page = &mut self.pages[place];
        if width < 4 && !page.bytes {
            divide(page, &mut self.spill);
        }
        let at = (address % PAGE) as usize;
        let (first, count) = if page.bytes { (at, width as usize) } else { (at / 4, width as usize / 4) };
        (page.cells.get_mut(first..first + count).unwrap_or_default(), &mut self.spill)
    }

    #[inline(always)]
    fn place(&mut self, number: u64) -> usize {
        let (known, place) = self.last[number as usize % REMEMBERED];
        if known == number {
            return place as usize;
        }
        self.find(number)
    }

    #[inline(never)]
    fn find(&mut self, number: u64) -> usize {
        let pages = &mut self.pages;
        let place = *self.places.entry(number).or_insert_with(|| {
            pages.push(Page { cells: vec![Cell::default(); WORDS], bytes: false });
            u32::try_from(pages.len() - 1).unwrap_or(u32::MAX)
        });
        self.last[number as usize % REMEMBERED] = (number, place);
        place as usize
    }

    /// A launch begins: cells tell earlier launches by themselves, but not what was spilled.
    pub fn begin(&mut self) {
        if !self.spill.is_empty() {
            self.pages.iter_mut().flat_map(|p| &mut p.cells).for_each(Cell::forget_more);
            self.spill.clear();
        }
    }

    /// Makes every cell empty and keeps the room.
    pub fn clear(&mut self) {
        self.pages.iter_mut().for_each(|p| p.cells.fill(Cell::default()));
        self.spill.clear();
    }

    /// What it takes, and of how much memory.
    pub fn footing(&self) -> Footing {
        let page = |p: &Page| (p.cells.capacity() * size_of::<Cell>() + size_of::<Page>()) as u64;
        let used = |p: &Page| {
            let cells = p.cells.iter().filter(|c| c.is_used()).count() as u64;
            if p.bytes { cells } else { 4 * cells }
        };
        let places = self.places.capacity() * size_of::<(u64, u32)>();
        Footing {
            shadow: self.pages.iter().map(page).sum::<u64>() + (places + self.spill.bytes()) as u64,
            touched: self.pages.iter().map(used).sum(),
        }
    }
}

fn divide(page: &mut Page, spill: &mut Spill) {
    page.cells = page.cells.iter_mut().flat_map(|cell| cell.split(spill)).collect();
    page.bytes = true;
}
