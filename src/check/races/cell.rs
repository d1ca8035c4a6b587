//! A cell of the shadow memory: what was done last to a word, or to a byte.
//!
//! Most locations are written by one thread and read by one warp between two synchronisations: a cell of 32 bytes holds
//! that. Several warps that read go to a list, and everything else — strong accesses other than a run of equal atomics,
//! and races — to a [`History`]. The functions here only say that all is well and take note; when they cannot, nothing
//! has been changed and the history decides.

use super::clock::Thread;
use super::history::History;
use super::readers::{Reader, Readers};
use super::sites::{AccessSite, Site};
use crate::base::{LaneMask, Pc, lanes_of};
use crate::verdict::AccessKind;

/// Marks an index of [`Spill::histories`].
const HISTORY: u32 = 1 << 31;
/// How long a program may be: its addresses share a word with a lane.
pub(super) const LONGEST: usize = 1 << LANE_SHIFT;
/// The bits of a program address in [`Cell::w_site`]; the lane lies above.
const LANE_SHIFT: u32 = 27;

/// Accesses of a word or byte. Warps are numbered from 1 over the whole run, so that a cell of zeros is empty and what
/// earlier launches did is told by its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    w_warp: u32,
    w_epoch: u32,
    /// Program address and lane.
    w_site: u32,
    r_warp: u32,
    r_epoch: u32,
    r_lanes: LaneMask,
    r_pc: u32,
    /// Where the rest is: 0 for nothing, else a marked index, from 1.
    more: u32,
}

/// What does not fit the cells of a memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Spill {
    readers: Vec<Readers>,
    free: Vec<u32>,
    histories: Vec<History>,
}

/// How an instruction of a warp sees the others: what all its lanes know.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// The warp.
    pub warp: u32,
    /// The block's first warp, and the next block's.
    pub block: (u32, u32),
    /// The launch's first warp: what is below has happened.
    pub launch: u32,
    /// The epoch of the block up to which accesses have happened before whatever any thread with access to the location
    /// can still do.
    pub expired: u32,
    /// Epochs up to which the block's, and the warp's, accesses have happened.
    pub known: (u32, u32),
    /// The present epoch.
    pub epoch: u32,
    /// Warps in a block.
    pub warps: u32,
}

impl View {
    /// Whether an access of another warp, or of any lanes of this one, is known to have happened.
    #[inline(always)]
    const fn passed(&self, warp: u32, epoch: u32) -> bool {
        warp < self.launch
            || self.block.0 <= warp && warp < self.block.1 && epoch <= self.known.0
            || warp == self.warp && epoch <= self.known.1
    }

    /// Whether nobody can race with an access any more.
    #[inline(always)]
    pub const fn expired(&self, warp: u32, epoch: u32) -> bool {
        warp < self.launch || self.block.0 <= warp && warp < self.block.1 && epoch <= self.expired
    }

    /// Whether an access of one lane is known to have happened, when `lanes` act: a single lane comes after itself.
    #[inline(always)]
    const fn follows(&self, warp: u32, epoch: u32, lane: LaneMask, lanes: LaneMask) -> bool {
        self.passed(warp, epoch) || warp == self.warp && lane == lanes && lane.is_power_of_two()
    }

    /// The thread in a lane of a warp of this launch.
    pub const fn thread(&self, warp: u32, lane: u32) -> Thread {
        let block = self.launch + warp.saturating_sub(self.launch) / self.warps * self.warps;
        Thread { warp, lane, block }
    }
}

impl Cell {
    /// Nothing is known.
    pub const EMPTY: Self =
        Self { w_warp: 0, w_epoch: 0, w_site: 0, r_warp: 0, r_epoch: 0, r_lanes: 0, r_pc: 0, more: 0 };

    /// Lanes of a warp read: whether that is all right and noted.
    #[inline(always)]
    pub fn read(&mut self, view: &View, lanes: LaneMask, pc: Pc, spill: &mut Spill) -> bool {
        if self.more & HISTORY != 0 {
            return false;
        }
        let writer = 1 << (self.w_site >> LANE_SHIFT);
        if !view.follows(self.w_warp, self.w_epoch, writer, lanes) {
            return false;
        }
        if self.more == 0 {
            let same = self.r_warp == view.warp && self.r_epoch == view.epoch && self.r_pc == pc.0;
            if same {
                self.r_lanes |= lanes;
                return true;
            }
            // A later read by the same lanes, or one that happened after, stands for the earlier one.
            let mine = self.r_warp == view.warp && self.r_lanes & !lanes == 0;
            if mine || view.passed(self.r_warp, self.r_epoch) {
                (self.r_warp, self.r_epoch, self.r_lanes, self.r_pc) = (view.warp, view.epoch, lanes, pc.0);
                return true;
            }
        }
        self.read_by_many(view, lanes, pc, spill)
    }

    /// A read of a location that others have read, too.
    #[inline(never)]
    fn read_by_many(&mut self, view: &View, lanes: LaneMask, pc: Pc, spill: &mut Spill) -> bool {
        if self.more == 0 {
            self.more = spill.list(self.reader());
        }
        // What is known beyond the own block and warp is not looked at: such a reader is kept, and the history of the
        // location decides when somebody writes.
        let Some(list) = spill.readers.get_mut(self.more as usize - 1) else { return false };
        list.read(view, lanes, pc);
        true
    }

    /// Who read it last, when there is no list.
    const fn reader(&self) -> Reader {
        Reader { warp: self.r_warp, epoch: self.r_epoch, lanes: self.r_lanes, pc: self.r_pc }
    }

    /// A lane writes, weakly: whether that is all right and noted.
    #[inline(always)]
    pub fn write(&mut self, view: &View, lane: u32, pc: Pc, spill: &mut Spill) -> bool {
        let bit = 1 << lane;
        if self.more & HISTORY != 0 || !self.quiet(view, bit) {
            return false;
        }
        if self.more != 0 && !self.readers_passed(view, bit, spill) {
            return false;
        }
        (self.w_warp, self.w_epoch, self.w_site) = (view.warp, view.epoch, pc.0 | lane << LANE_SHIFT);
        self.r_warp = 0;
        true
    }

    /// Whether the last write and the last reader happened before what `lane` does.
    #[inline(always)]
    const fn quiet(&self, view: &View, lane: LaneMask) -> bool {
        let writer = 1 << (self.w_site >> LANE_SHIFT);
        view.follows(self.w_warp, self.w_epoch, writer, lane)
            && (view.passed(self.r_warp, self.r_epoch) || self.r_warp == view.warp && self.r_lanes == lane)
    }

    /// Whether all readers of the list happened before; then the list is dropped.
    #[inline(never)]
    fn readers_passed(&mut self, view: &View, lane: LaneMask, spill: &mut Spill) -> bool {
        let at = self.more - 1;
        let Some(list) = spill.readers.get_mut(at as usize).filter(|list| list.passed(view, lane)) else {
            return false;
        };
        list.clear();
        spill.free.push(at);
        self.more = 0;
        true
    }

    /// A lane's relaxed atomic operation, which hands nothing on: whether that is all right and noted. It is where the
    /// last write happened before or was such an operation, of the same scope and size.
    #[inline(always)]
    pub fn atomic(&mut self, view: &View, lane: u32, pc: Pc, site: &AccessSite, sites: &[Site]) -> bool {
        if self.more != 0 {
            return false;
        }
        let last = Pc(self.w_site & ((1 << LANE_SHIFT) - 1));
        let alike = || match sites.get(last.0 as usize) {
            Some(Site::Access(other)) => {
                let near = view.block.0 <= self.w_warp && self.w_warp < view.block.1;
                other.kind == AccessKind::Atomic && other.strength == site.strength && site.morally_strong(other, near)
            }
            _ => false,
        };
        // A strong access does not stand for weak ones: others may be morally strong with it and race with them.
        let free = view.expired(self.w_warp, self.w_epoch) || alike();
        if !free || !view.expired(self.r_warp, self.r_epoch) {
            return false;
        }
        (self.w_warp, self.w_epoch, self.w_site) = (view.warp, view.epoch, pc.0 | lane << LANE_SHIFT);
        self.r_warp = 0;
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
        if self.more & HISTORY == 0 {
            let mut history = History::default();
            let site = |pc: u32| match sites.get(pc as usize) {
                Some(Site::Access(site)) => Some(*site),
                _ => None,
            };
            let pc = self.w_site & ((1 << LANE_SHIFT) - 1);
            if self.w_warp >= view.launch
                && let Some(site) = site(pc)
            {
                let thread = view.thread(self.w_warp, self.w_site >> LANE_SHIFT);
                history.restore(thread, self.w_epoch, Pc(pc), site, value(thread, Pc(pc), &site), kept);
            }
            let mut restore = |r: Reader| {
                let Some(site) = site(r.pc).filter(|_| r.warp >= view.launch) else { return };
                for lane in lanes_of(r.lanes) {
                    let thread = view.thread(r.warp, u32::try_from(lane).unwrap_or(0));
                    history.restore(thread, r.epoch, Pc(r.pc), site, value(thread, Pc(r.pc), &site), kept);
                }
            };
            if self.more == 0 {
                restore(self.reader());
            } else if let Some(list) = spill.readers.get_mut(self.more as usize - 1) {
                list.all().for_each(restore);
                list.clear();
                spill.free.push(self.more - 1);
            }
            spill.histories.push(history);
            *self = Self { more: HISTORY | u32::try_from(spill.histories.len()).unwrap_or(0), ..Self::EMPTY };
        }
        spill.histories.get_mut(((self.more & !HISTORY) as usize).checked_sub(1)?)
    }

    /// The cell's history, where it has one.
    pub fn has_history<'a>(&self, spill: &'a mut Spill) -> Option<&'a mut History> {
        if self.more & HISTORY == 0 {
            return None;
        }
        spill.histories.get_mut(((self.more & !HISTORY) as usize).checked_sub(1)?)
    }

    /// The cell of a later word of a row whose first cell this is: the same, so many lanes further.
    pub fn further(&self, lanes: u32, spill: &mut Spill) -> Self {
        let mut cell = *self;
        if lanes == 0 {
            return cell;
        }
        if cell.w_warp != 0 {
            cell.w_site += lanes << LANE_SHIFT;
        }
        cell.r_lanes <<= lanes;
        if cell.more != 0
            && let Some(mut list) = spill.readers.get(cell.more as usize - 1).cloned()
        {
            list.further(lanes);
            cell.more = spill.keep(list);
        }
        cell
    }

    /// Whether nobody can race any more with what it holds.
    #[inline(always)]
    pub const fn is_past(&self, view: &View) -> bool {
        self.more == 0 && view.expired(self.w_warp, self.w_epoch) && view.expired(self.r_warp, self.r_epoch)
    }

    /// The cell of each byte of a word whose cell this was.
    pub fn split(&mut self, spill: &mut Spill) -> [Self; 4] {
        let mut parts = [*self; 4];
        for part in &mut parts[1..] {
            part.more = if self.more & HISTORY != 0 {
                let Some(history) = spill.histories.get((self.more & !HISTORY) as usize - 1).cloned() else { continue };
                spill.histories.push(history);
                HISTORY | u32::try_from(spill.histories.len()).unwrap_or(0)
            } else if self.more != 0 {
                let Some(list) = spill.readers.get(self.more as usize - 1).cloned() else { continue };
                spill.keep(list)
            } else {
                0
            };
        }
        parts
    }

    /// Whether anything was ever noted.
    pub const fn is_used(&self) -> bool {
        self.w_warp != 0 || self.r_warp != 0 || self.more != 0
    }

    /// Forgets what a spill held that is gone.
    pub const fn forget_more(&mut self) {
        if self.more != 0 {
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
