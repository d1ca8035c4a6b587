//! The shadow of a memory: a cell a row of 16 words that half warps accessed at once, else a cell a word, or a cell a byte
//! in the pages where bytes or halves were accessed.

use super::cell::{Cell, Spill};
use super::pattern::HALF as ROW;
use super::view::View;
use rustc_hash::FxHashMap;

/// Bytes of memory that a page shadows.
const PAGE: u64 = 1024;
/// Words in it.
const WORDS: usize = (PAGE / 4) as usize;
/// Pages whose places are remembered.
const REMEMBERED: usize = 64;

/// Rows of a page.
const ROWS: usize = WORDS / ROW;

/// All of them alike.
const ALIKE: u32 = (1 << ROWS) - 1;

/// A page.
#[derive(Clone, Debug)]
struct Page {
    /// The first word's cell of each row whose words were accessed alike: word k's is the same, k lanes further.
    rows: [Cell; ROWS],
    /// The rows that are so; a set.
    alike: u32,
    /// The cells of all other rows, one a word, made when they are needed; or one a byte.
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
            page.divide(&mut self.spill);
        }
        let at = (address % PAGE) as usize;
        let (first, count) = if page.bytes { (at, width as usize) } else { (at / 4, width as usize / 4) };
        if page.alike != 0 {
            // Two rows only where an address is wrong, which its instruction says after us.
            page.spread(first / ROW, &mut self.spill);
            page.spread((first + count.max(1) - 1) / ROW, &mut self.spill);
        }
        (page.cells.get_mut(first..first + count).unwrap_or_default(), &mut self.spill)
    }

    /// Half a warp accesses the row at an address, a multiple of its size: `note` is given the cell of the first word and
    /// the lanes that access it, and stands for all. Whether that was all right and is noted; if not, the words have cells
    /// of their own now.
    #[inline(always)]
    pub fn row(&mut self, address: u64, view: &View, note: impl FnOnce(&mut Cell, &mut Spill) -> bool) -> bool {
        let place = self.place(address / PAGE);
        let page = &mut self.pages[place];
        if page.bytes {
            return false;
        }
        let row = (address % PAGE) as usize / (4 * ROW);
        if page.alike >> row & 1 == 0 {
            if !page.cells[row * ROW..][..ROW].iter().all(|c| c.is_past(view)) {
                return false;
            }
            page.rows[row] = Cell::EMPTY;
            page.alike |= 1 << row;
        }
        if !note(&mut page.rows[row], &mut self.spill) {
            page.spread(row, &mut self.spill);
            return false;
        }
        true
    }

    /// The cells of the words of the row at an address, and what does not fit them. `None`: here they are bytes'.
    #[inline(always)]
    pub fn words(&mut self, address: u64) -> Option<(&mut [Cell; ROW], &mut Spill)> {
        let place = self.place(address / PAGE);
        let page = &mut self.pages[place];
        if page.bytes {
            return None;
        }
        let row = (address % PAGE) as usize / (4 * ROW);
        page.spread(row, &mut self.spill);
        Some((page.cells[row * ROW..].first_chunk_mut()?, &mut self.spill))
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
            pages.push(Page::new());
            u32::try_from(pages.len() - 1).unwrap_or(u32::MAX)
        });
        self.last[number as usize % REMEMBERED] = (number, place);
        place as usize
    }

    /// A launch begins: cells tell earlier launches by themselves, but not what was spilled.
    pub fn begin(&mut self) {
        if !self.spill.is_empty() {
            self.pages.iter_mut().flat_map(|p| p.rows.iter_mut().chain(&mut p.cells)).for_each(Cell::forget_spilled);
            self.spill.clear();
        }
    }

    /// Makes every cell empty and keeps the room.
    pub fn clear(&mut self) {
        for page in &mut self.pages {
            page.rows.fill(Cell::EMPTY);
            if page.bytes {
                page.cells.fill(Cell::EMPTY);
            } else {
                page.alike = ALIKE;
            }
        }
        self.spill.clear();
    }

    /// What it takes, and of how much memory.
    pub fn footing(&self) -> Footing {
        let page = |p: &Page| (p.cells.capacity() * size_of::<Cell>() + size_of::<Page>()) as u64;
        let places = self.places.capacity() * size_of::<(u64, u32)>();
        Footing {
            shadow: self.pages.iter().map(page).sum::<u64>() + (places + self.spill.bytes()) as u64,
            touched: self.pages.iter().map(Page::touched).sum(),
        }
    }
}

impl Page {
    const fn new() -> Self {
        Self { rows: [Cell::EMPTY; ROWS], alike: ALIKE, cells: Vec::new(), bytes: false }
    }

    /// Gives the words of a row cells of their own.
    #[inline(always)]
    fn spread(&mut self, row: usize, spill: &mut Spill) {
        if self.alike >> row & 1 == 1 {
            self.spread_alike(row, spill);
        }
    }

    #[inline(never)]
    fn spread_alike(&mut self, row: usize, spill: &mut Spill) {
        if self.cells.is_empty() {
            self.cells = vec![Cell::EMPTY; WORDS];
        }
        self.alike &= !(1 << row);
        let first = self.rows[row];
        for (k, cell) in (0..).zip(&mut self.cells[row * ROW..][..ROW]) {
            *cell = first.further(k, spill);
        }
    }

    /// Gives every byte a cell.
    fn divide(&mut self, spill: &mut Spill) {
        for row in 0..ROWS {
            self.spread(row, spill);
        }
        self.cells = self.cells.iter_mut().flat_map(|cell| cell.split(spill)).collect();
        self.bytes = true;
    }

    /// Bytes of memory that it says something of.
    fn touched(&self) -> u64 {
        let alike = |row: usize| self.alike >> row & 1 == 1;
        let rows = (0..ROWS).filter(|row| alike(*row) && self.rows[*row].is_used()).count();
        let own = |(k, cell): &(usize, &Cell)| cell.is_used() && (self.bytes || !alike(k / ROW));
        let cells = self.cells.iter().enumerate().filter(own).count();
        if self.bytes { cells as u64 } else { 4 * (ROW * rows + cells) as u64 }
    }
}
