//! A cell of the shadow memory: what was done last to a word, or to a byte.
//!
//! Most locations are written by one thread and read by one warp between two synchronisations: a cell of 32 bytes holds
//! that. Several warps that read go to a list, and everything else — strong accesses other than a run of equal atomics,
//! and races — to a [`History`]. The functions here only say that all is well and take note; when they cannot, nothing
//! has been changed and the history decides.

use super::clock::Thread;
use super::history::{Deed, History};
use super::readers::{Reader, Readers};
use super::sites::{AccessSite, Site, access_at};
use super::view::View;
use crate::base::{LaneMask, Pc, lanes_of};
use crate::verdict::AccessKind;

/// Marks an index of [`Spill::histories`].
const HISTORY: u32 = 1 << 31;
/// How long a program may be: its addresses share a word with a lane.
pub(super) const LONGEST: usize = 1 << LANE_SHIFT;
/// The bits of a program address in [`Cell::write_site`]; the lane lies above.
const LANE_SHIFT: u32 = 27;

/// Accesses of a word or byte. Warps are numbered from 1 over the whole run, so that a cell of zeros is empty and what
/// earlier launches did is told by its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    write_warp: u32,
    write_epoch: u32,
    /// Program address and lane.
    write_site: u32,
    /// Who read it last, when there is no list.
    read: Reader,
    /// Where the rest is: 0 for nothing, else a marked index, from 1.
    spilled: u32,
}

/// What does not fit the cells of a memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Spill {
    readers: Vec<Readers>,
    free: Vec<u32>,
    histories: Vec<History>,
}

impl Cell {
    /// Nothing is known.
    pub const EMPTY: Self = Self {
        write_warp: 0,
        write_epoch: 0,
        write_site: 0,
        read: Reader { warp: 0, epoch: 0, lanes: 0, pc: 0 },
        spilled: 0,
    };

    /// Lanes of a warp read: whether that is all right and noted.
    #[inline(always)]
    pub fn read(&mut self, view: &View, lanes: LaneMask, pc: Pc, spill: &mut Spill) -> bool {
        if self.spilled & HISTORY != 0 {
            return false;
        }
        let writer = 1 << (self.write_site >> LANE_SHIFT);
        if !view.follows(self.write_warp, self.write_epoch, writer, lanes) {
            return false;
        }
        if self.spilled == 0 {
            let same = self.read.warp == view.warp && self.read.epoch == view.epoch && self.read.pc == pc.0;
            if same {
                self.read.lanes |= lanes;
                return true;
            }
            // A later read by the same lanes, or one that happened after, stands for the earlier one.
            let mine = self.read.warp == view.warp && self.read.lanes & !lanes == 0;
            if mine || view.passed(self.read.warp, self.read.epoch) {
                self.read = Reader { warp: view.warp, epoch: view.epoch, lanes, pc: pc.0 };
                return true;
            }
        }
        self.read_by_many(view, lanes, pc, spill)
    }

    /// A read of a location that others have read, too.
    #[inline(never)]
    fn read_by_many(&mut self, view: &View, lanes: LaneMask, pc: Pc, spill: &mut Spill) -> bool {
        if self.spilled == 0 {
            self.spilled = spill.list(self.read);
        }
        // What is known beyond the own block and warp is not looked at: such a reader is kept, and the history of the
        // location decides when somebody writes.
        let Some(list) = spill.readers.get_mut(self.spilled as usize - 1) else { return false };
        list.read(view, lanes, pc);
        true
    }

    /// A lane writes, weakly: whether that is all right and noted.
    #[inline(always)]
    pub fn write(&mut self, view: &View, lane: u32, pc: Pc, spill: &mut Spill) -> bool {
        let bit = 1 << lane;
        if self.spilled & HISTORY != 0 || !self.quiet(view, bit) {
            return false;
        }
        if self.spilled != 0 && !self.readers_passed(view, bit, spill) {
            return false;
        }
        (self.write_warp, self.write_epoch, self.write_site) = (view.warp, view.epoch, pc.0 | lane << LANE_SHIFT);
        self.read.warp = 0;
        true
    }

    /// Whether the last write and the last reader happened before what `lane` does.
    #[inline(always)]
    const fn quiet(&self, view: &View, lane: LaneMask) -> bool {
        let writer = 1 << (self.write_site >> LANE_SHIFT);
        view.follows(self.write_warp, self.write_epoch, writer, lane)
            && (view.passed(self.read.warp, self.read.epoch) || self.read.warp == view.warp && self.read.lanes == lane)
    }

    /// Whether all readers of the list happened before; then the list is dropped.
    #[inline(never)]
    fn readers_passed(&mut self, view: &View, lane: LaneMask, spill: &mut Spill) -> bool {
        let at = self.spilled - 1;
        let Some(list) = spill.readers.get_mut(at as usize).filter(|list| list.passed(view, lane)) else {
            return false;
        };
        list.clear();
        spill.free.push(at);
        self.spilled = 0;
        true
    }

    /// A lane's relaxed atomic operation, which hands nothing on: whether that is all right and noted. It is where the
    /// last write happened before or was such an operation, of the same scope and size.
    #[inline(always)]
    pub fn atomic(&mut self, view: &View, lane: u32, pc: Pc, site: &AccessSite, sites: &[Site]) -> bool {
        if self.spilled != 0 {
            return false;
        }
        let last = Pc(self.write_site & ((1 << LANE_SHIFT) - 1));
        let alike = || {
            access_at(sites, last).is_some_and(|other| {
                let near = view.block.0 <= self.write_warp && self.write_warp < view.block.1;
                other.kind == AccessKind::Atomic && other.strength == site.strength && site.morally_strong(other, near)
            })
        };
        // A strong access does not stand for weak ones: others may be morally strong with it and race with them.
        let free = view.expired(self.write_warp, self.write_epoch) || alike();
        if !free || !view.expired(self.read.warp, self.read.epoch) {
            return false;
        }
        (self.write_warp, self.write_epoch, self.write_site) = (view.warp, view.epoch, pc.0 | lane << LANE_SHIFT);
        self.read.warp = 0;
        true
    }

    /// The cell's history, made from what it holds when it has none yet; `value` says what an access read or wrote that
    /// is not older than the last write. At most `kept` accesses are kept.
    pub fn history<'a>(
        &mut self,
        view: &View,
        sites: &[Site],
        spill: &'a mut Spill,
        kept: usize,
        value: impl Fn(Thread, Pc, &AccessSite) -> Option<u64>,
    ) -> Option<&'a mut History> {
        if self.spilled & HISTORY == 0 {
            let mut history = History::default();
            let mut restore = |did: Reader| {
                let (epoch, pc) = (did.epoch, Pc(did.pc));
                let Some(&site) = access_at(sites, pc).filter(|_| did.warp >= view.launch) else { return };
                for lane in lanes_of(did.lanes) {
                    let thread = view.thread(did.warp, u32::try_from(lane).unwrap_or(0));
                    history.restore(Deed { thread, epoch, pc, site, value: value(thread, pc, &site) }, kept);
                }
            };
            let (pc, lanes) = (self.write_site & ((1 << LANE_SHIFT) - 1), 1 << (self.write_site >> LANE_SHIFT));
            restore(Reader { warp: self.write_warp, epoch: self.write_epoch, lanes, pc });
            if self.spilled == 0 {
                restore(self.read);
            } else if let Some(list) = spill.readers.get_mut(self.spilled as usize - 1) {
                list.all().for_each(restore);
                list.clear();
                spill.free.push(self.spilled - 1);
            }
            spill.histories.push(history);
            *self = Self { spilled: HISTORY | u32::try_from(spill.histories.len()).unwrap_or(0), ..Self::EMPTY };
        }
        self.has_history(spill)
    }

    /// The cell's history, where it has one.
    pub fn has_history<'a>(&self, spill: &'a mut Spill) -> Option<&'a mut History> {
        spill.histories.get_mut((self.spilled.checked_sub(HISTORY)? as usize).checked_sub(1)?)
    }

    /// The cell of a later word of a row whose first cell this is: the same, so many lanes further.
    pub fn further(&self, lanes: u32, spill: &mut Spill) -> Self {
        let mut cell = *self;
        if lanes == 0 {
            return cell;
        }
        if cell.write_warp != 0 {
            cell.write_site += lanes << LANE_SHIFT;
        }
        cell.read.lanes <<= lanes;
        if cell.spilled != 0
            && let Some(mut list) = spill.readers.get(cell.spilled as usize - 1).cloned()
        {
            list.further(lanes);
            cell.spilled = spill.keep(list);
        }
        cell
    }

    /// Whether nobody can race any more with what it holds.
    #[inline(always)]
    pub const fn is_past(&self, view: &View) -> bool {
        self.spilled == 0
            && view.expired(self.write_warp, self.write_epoch)
            && view.expired(self.read.warp, self.read.epoch)
    }

    /// The cell of each byte of a word whose cell this was.
    pub fn split(&mut self, spill: &mut Spill) -> [Self; 4] {
        let mut parts = [*self; 4];
        for part in &mut parts[1..] {
            part.spilled = if self.spilled & HISTORY != 0 {
                let Some(history) = spill.histories.get((self.spilled & !HISTORY) as usize - 1).cloned() else {
                    continue;
                };
                spill.histories.push(history);
                HISTORY | u32::try_from(spill.histories.len()).unwrap_or(0)
            } else if self.spilled != 0 {
                let Some(list) = spill.readers.get(self.spilled as usize - 1).cloned() else { continue };
                spill.keep(list)
            } else {
                0
            };
        }
        parts
    }

    /// Whether anything was ever noted.
    pub const fn is_used(&self) -> bool {
        self.write_warp != 0 || self.read.warp != 0 || self.spilled != 0
    }

    /// Forgets what a spill held that is gone.
    pub const fn forget_spilled(&mut self) {
        if self.spilled != 0 {
            *self = Self::EMPTY;
        }
    }
}

impl Spill {
    /// A list with its first reader; gives its index, from 1.
    fn list(&mut self, first: Reader) -> u32 {
        let Some(at) = self.free.pop() else { return self.keep(Readers::with(first)) };
        self.readers[at as usize].start(first);
        at + 1
    }

    /// Takes in a list; gives its index, from 1.
    fn keep(&mut self, list: Readers) -> u32 {
        self.readers.push(list);
        u32::try_from(self.readers.len()).unwrap_or(0)
    }

    /// Whether it holds nothing.
    pub const fn is_empty(&self) -> bool {
        self.readers.is_empty() && self.histories.is_empty()
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.readers.clear();
        self.free.clear();
        self.histories.clear();
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let readers: usize = self.readers.iter().map(|list| size_of::<Readers>() + list.bytes()).sum();
        let histories: usize = self.histories.iter().map(|h| size_of::<History>() + h.bytes()).sum();
        readers + histories + self.free.capacity() * size_of::<u32>()
    }
}
