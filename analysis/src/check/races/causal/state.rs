//! What happened before what, as far as it can still decide whether something races.

use super::known::{Set, Spot, Table, Thread};
use crate::base::LaneMask;
use crate::base::sorted::SortedMap;
use crate::check::races::copies::Copies;
use crate::verdict::Reach;

/// A release pattern that reads may observe: the block of its thread, and how far its first operation reaches.
pub(super) type Pattern = (u64, Reach);

/// Where an element of an access lies: its first byte, and its width.
pub(super) type Element = (Option<u64>, u64, u32);

/// What is known of a spot.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// The accesses that no later one stands for.
    pub kept: Set,
    /// The last write.
    pub latest: Option<usize>,
    /// What happened before that write here, itself among it.
    pub behind: Set,
    /// The release patterns whose write it is, with what their first operations knew.
    pub patterns: SortedMap<Pattern, Set>,
}

/// What is known of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Of {
    /// The accesses that happened before whatever it does next at their spots.
    pub known: Set,
    /// What its last releasing fences knew, by reach.
    pub fences: SortedMap<Reach, Set>,
    /// What its last release operations knew, by element and reach.
    pub heads: SortedMap<(Element, Reach), Set>,
    /// What it would know by acquiring the patterns that it observed: by element, and whether they are of its block.
    pub observed: SortedMap<(Element, bool), Set>,
}

/// Arrivals at a barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Barrier {
    pub arrived: Set,
    pub waiting: Vec<Thread>,
}

/// What of the way to a state decides about races behind it.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// What one launch does happens before the next one.
    pub(super) launch: u32,
    pub(super) cells: SortedMap<Spot, Cell>,
    pub(super) threads: SortedMap<Thread, Of>,
    /// What the sequentially consistent fences of a block know, and those that reach all blocks.
    pub(super) near: SortedMap<u64, Set>,
    pub(super) far: Set,
    pub(super) barriers: SortedMap<(u64, u32), Barrier>,
    /// What those knew who arrived in the last phase of a block's barrier of the cluster that is complete.
    pub(super) phases: SortedMap<u64, Set>,
    /// Copies that nobody has waited for.
    pub(super) copies: Copies,
    pub(super) exited: SortedMap<(u64, u32), LaneMask>,
    /// Lanes that wait for others of a mask.
    pub(super) meetings: SortedMap<(u64, u32, LaneMask), LaneMask>,
}

impl History {
    /// All sets of accesses.
    fn sets(&mut self) -> impl Iterator<Item = &mut Set> {
        let Self { cells, threads, near, far, barriers, phases, .. } = self;
        let cells = cells.values_mut().flat_map(|cell| {
            let Cell { kept, behind, patterns, .. } = cell;
            [kept, behind].into_iter().chain(patterns.values_mut())
        });
        let threads = threads.values_mut().flat_map(|of| {
            let Of { known, fences, heads, observed } = of;
            std::iter::once(known).chain(fences.values_mut()).chain(heads.values_mut()).chain(observed.values_mut())
        });
        let barriers = barriers.values_mut().map(|barrier| &mut barrier.arrived);
        cells
            .chain(threads)
            .chain(near.values_mut())
            .chain(barriers)
            .chain(phases.values_mut())
            .chain(std::iter::once(far))
    }

    /// Forgets an access: a later one stands for it, or takes its number.
    pub(super) fn forget(&mut self, number: usize) {
        self.sets().for_each(|set| set.remove(number));
    }

    /// A block is complete: nothing of it can do anything any more.
    pub(super) fn end_block(&mut self, block: u64) {
        let mine = |warp: &(u64, u32)| warp.0 == block;
        self.threads.retain(|thread, _| thread.0 != block);
        self.exited.retain(|warp, _| !mine(warp));
        self.barriers.retain(|barrier, _| !mine(barrier));
        self.meetings.retain(|meeting, _| meeting.0 != block);
        self.near.remove(&block);
        self.phases.remove(&block);
        self.copies.end_block(usize::try_from(block).unwrap_or(usize::MAX));
        self.cells.retain(|spot, _| spot.0 != Some(block));
    }

    /// It as bytes: equal histories have equal ones, in whatever order accesses were met.
    pub(super) fn bytes(&self, table: &Table) -> Vec<u8> {
        let mut out = Out { bytes: Vec::with_capacity(512), table };
        out.number(self.launch.into());
        for (spot, cell) in &self.cells {
            out.name(b'c', &[spot.0.map_or(0, |b| b + 1), spot.1]);
            let latest = cell.latest.map(|number| {
                let mut one = Set::default();
                one.add(number);
                one
            });
            out.sets([&cell.kept, &cell.behind].into_iter().chain(&latest));
            for ((block, reach), known) in &cell.patterns {
                out.name(b'r', &[*block, *reach as u64]);
                out.sets([known]);
            }
        }
        for (thread, of) in &self.threads {
            out.thread(b't', thread);
            out.sets([&of.known]);
            for (reach, known) in &of.fences {
                out.name(b'f', &[*reach as u64]);
                out.sets([known]);
            }
            let element = |(space, at, width): &Element| [space.map_or(0, |b| b + 1), *at, u64::from(*width)];
            for ((at, reach), known) in &of.heads {
                out.name(b'h', &element(at));
                out.number(*reach as u64);
                out.sets([known]);
            }
            for ((at, near), known) in &of.observed {
                out.name(b'o', &element(at));
                out.number((*near).into());
                out.sets([known]);
            }
        }
        for (block, known) in self.near.iter().filter(|(_, known)| !known.is_empty()) {
            out.name(b'n', &[*block]);
            out.sets([known]);
        }
        out.sets([&self.far]);
        for ((block, id), Barrier { arrived, waiting }) in &self.barriers {
            out.name(b'b', &[*block, u64::from(*id)]);
            out.sets([arrived]);
            waiting.iter().for_each(|thread| out.thread(b'w', thread));
        }
        for (block, arrived) in &self.phases {
            out.name(b'p', &[*block]);
            out.sets([arrived]);
        }
        for ((block, warp), lanes) in &self.exited {
            out.name(b'x', &[*block, u64::from(*warp), u64::from(*lanes)]);
        }
        for ((block, warp, mask), lanes) in &self.meetings {
            out.name(b'm', &[*block, u64::from(*warp), u64::from(*mask), u64::from(*lanes)]);
        }
        self.copies.bytes(&mut out.bytes);
        out.bytes
    }
}

/// Bytes under way.
struct Out<'a> {
    bytes: Vec<u8>,
    table: &'a Table,
}

impl Out<'_> {
    fn number(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn name(&mut self, tag: u8, numbers: &[u64]) {
        self.bytes.push(tag);
        numbers.iter().for_each(|n| self.number(*n));
    }

    fn thread(&mut self, tag: u8, &(block, warp, lane): &Thread) {
        self.name(tag, &[block, warp.into(), lane.into()]);
    }

    fn sets<'s>(&mut self, sets: impl IntoIterator<Item = &'s Set>) {
        for set in sets {
            self.bytes.extend(self.table.hash(set).to_le_bytes());
        }
    }
}
