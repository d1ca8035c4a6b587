//! Readers of a location: which lanes of which warps read it, by which instruction, in which epoch.
//!
//! None is left out, however many there are. Blocks of a launch run the same code, so that their warps mostly read a
//! location by the same lanes in the same epoch: those at equal distances are one run, and a word that a thousand warps
//! read takes a few of them.

use super::view::View;
use crate::base::{LaneMask, Pc};
use smallvec::SmallVec;

/// Lanes of a warp that read by one instruction in one epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reader {
    pub warp: u32,
    pub epoch: u32,
    pub lanes: LaneMask,
    pub pc: u32,
}

/// The same lanes of warps at equal distances, by one instruction, all in epochs of one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    first: u32,
    last: u32,
    /// The distance; 1 where there is one warp.
    step: u32,
    epoch: u32,
    lanes: LaneMask,
    pc: u32,
}

/// All readers of a location that a later write could race with.
#[derive(Clone, Debug, Default)]
pub(super) struct Readers {
    runs: Vec<Run>,
    /// No warp above it is in any run but the last two.
    before: u32,
}

impl Run {
    const fn of(reader: Reader) -> Self {
        let Reader { warp, epoch, lanes, pc } = reader;
        Self { first: warp, last: warp, step: 1, epoch, lanes, pc }
    }

    fn warps(&self) -> impl Iterator<Item = u32> + use<> {
        (self.first..=self.last).step_by(self.step as usize)
    }

    #[inline(always)]
    const fn has(&self, warp: u32) -> bool {
        let inside = self.first <= warp && warp <= self.last;
        inside && (self.step == 1 || (warp - self.first).is_multiple_of(self.step))
    }

    /// The part of its warps from `from` to before `to`.
    fn part(&self, from: u32, to: u32) -> Option<Self> {
        let first = self.first + from.saturating_sub(self.first).div_ceil(self.step) * self.step;
        let end = to.saturating_sub(1).min(self.last);
        if first > end {
            return None;
        }
        let last = first + (end - first) / self.step * self.step;
        Some(Self { first, last, step: if first == last { 1 } else { self.step }, ..*self })
    }

    /// Whether some of its warps are of the block, and read in an epoch that is known there.
    fn has_passed(&self, view: &View) -> bool {
        let (from, to) = view.block;
        self.epoch <= view.known.0 && self.first < to && from <= self.last && self.part(from, to).is_some()
    }

    /// Whether a warp carries it on, or can be the second of it; the distance.
    const fn distance(&self, warp: u32) -> Option<u32> {
        let single = self.first == self.last;
        if warp > self.last && (single || warp - self.last == self.step) {
            Some(warp - self.last)
        } else if warp < self.first && (single || self.first - warp == self.step) {
            Some(self.first - warp)
        } else {
            None
        }
    }
}

impl Readers {
    /// A list with its first reader.
    pub fn with(first: Reader) -> Self {
        Self { runs: vec![Run::of(first)], before: 0 }
    }

    /// Puts the first reader into an empty list.
    pub fn start(&mut self, first: Reader) {
        self.before = 0;
        self.runs.push(Run::of(first));
    }

    /// Lanes of a warp read: they stand for what they read before, and for reads that are known to have happened.
    pub fn read(&mut self, view: &View, lanes: LaneMask, pc: Pc) {
        if self.carries_on(view, lanes, pc) {
            return;
        }
        let (mut all, mut outdated) = (lanes, false);
        for run in &self.runs {
            let mine = run.has(view.warp);
            if mine && (run.epoch, run.pc) == (view.epoch, pc.0) {
                if run.lanes & lanes == lanes {
                    return;
                }
                all |= run.lanes;
                outdated = true;
            } else {
                let again = mine && (run.lanes & lanes != 0 || run.epoch <= view.known.1);
                outdated |= again || run.has_passed(view);
            }
        }
        if outdated {
            self.retire(view, all);
        }
        self.add(Reader { warp: view.warp, epoch: view.epoch, lanes: all, pc: pc.0 });
        self.before = self.all_but_two();
    }

    /// Blocks that are issued one after another read in the order of their warps, or of all but the first: such a read carries on
    /// one of the last two runs or begins one, where no other run has the warp and nothing is known to have happened.
    fn carries_on(&mut self, view: &View, lanes: LaneMask, pc: Pc) -> bool {
        let warp = view.warp;
        if warp <= self.before || view.known.0 != 0 {
            return false;
        }
        let alike = |run: &Run| (run.epoch, run.lanes, run.pc) == (view.epoch, lanes, pc.0);
        let window = self.runs.len().saturating_sub(2);
        if let Some(run) = self.runs[window..].iter().find(|run| run.has(warp)) {
            return alike(run);
        }
        // A block that began with its last warp goes on with its first: that is no distance.
        let near = |run: &Run| warp > run.first || run.first - warp == 1 || run.first >= view.block.1;
        let next = |run: &Run| run.distance(warp).filter(|_| alike(run) && near(run));
        for k in (window..self.runs.len()).rev() {
            let Some(step) = next(&self.runs[k]) else { continue };
            let run = &mut self.runs[k];
            (run.first, run.last, run.step) = (run.first.min(warp), run.last.max(warp), step);
            self.join_last();
            return true;
        }
        if self.runs.len() > 1 {
            self.before = self.before.max(self.runs[window].last);
        }
        self.runs.push(Run::of(Reader { warp, epoch: view.epoch, lanes, pc: pc.0 }));
        true
    }

    /// Makes the last two runs one, where the last leads up to a single warp.
    fn join_last(&mut self) {
        let [.., single, run] = &mut self.runs[..] else { return };
        let alike = (single.epoch, single.lanes, single.pc) == (run.epoch, run.lanes, run.pc);
        if alike && single.first == single.last && run.last + run.step == single.first {
            *single = Run { last: single.last, ..*run };
            self.runs.pop();
        }
    }

    /// The highest warp of all runs but the last two.
    fn all_but_two(&self) -> u32 {
        self.runs.iter().rev().skip(2).map(|run| run.last).max().unwrap_or(0)
    }

    /// Drops what a read by these lanes stands for.
    fn retire(&mut self, view: &View, lanes: LaneMask) {
        let (from, to) = view.block;
        let mut again: SmallVec<[Reader; 8]> = SmallVec::new();
        let mut others: SmallVec<[Run; 4]> = SmallVec::new();
        self.runs.retain(|run| {
            let mine = run.has(view.warp) && (run.lanes & lanes != 0 || run.epoch <= view.known.1);
            if !mine && !run.has_passed(view) {
                return true;
            }
            others.extend(run.part(0, from).into_iter().chain(run.part(to, u32::MAX)));
            let near = run.part(from, to).filter(|r| r.epoch > view.known.0);
            for warp in near.iter().flat_map(Run::warps) {
                let left = match warp == view.warp {
                    true if run.epoch <= view.known.1 => 0,
                    true => run.lanes & !lanes,
                    false => run.lanes,
                };
                if left != 0 {
                    again.push(Reader { warp, epoch: run.epoch, lanes: left, pc: run.pc });
                }
            }
            false
        });
        self.runs.extend(others);
        again.into_iter().for_each(|reader| self.add(reader));
    }

    /// Takes in a reader: into the run that it carries on, or else with a single one next to it.
    fn add(&mut self, reader: Reader) {
        let Reader { warp, epoch, lanes, pc } = reader;
        let alike = |run: &&mut Run| (run.epoch, run.lanes, run.pc) == (epoch, lanes, pc);
        let mut best: Option<((bool, u32), &mut Run)> = None;
        for run in self.runs.iter_mut().filter(alike) {
            let Some(step) = run.distance(warp) else { continue };
            let order = (run.first == run.last, step);
            if best.as_ref().is_none_or(|b| order < b.0) {
                best = Some((order, run));
            }
        }
        match best {
            Some(((_, step), run)) => {
                (run.first, run.last, run.step) = (run.first.min(warp), run.last.max(warp), step);
            }
            None => self.runs.push(Run::of(reader)),
        }
    }

    /// Whether all of them are known to have happened before what the only lane of `lane` does.
    pub fn passed(&self, view: &View, lane: LaneMask) -> bool {
        let (from, to) = view.block;
        self.runs.iter().all(|run| {
            let own = run.first == view.warp && run.first == run.last;
            run.last < view.launch
                || run.epoch <= view.known.0 && from <= run.first && run.last < to
                || own && (run.epoch <= view.known.1 || run.lanes == lane)
        })
    }

    /// All of them, those of different runs in turn: who takes a part of them takes some of each.
    pub fn all(&self) -> impl Iterator<Item = Reader> {
        let readers = |run: &Run| {
            let Run { epoch, lanes, pc, .. } = *run;
            run.warps().map(move |warp| Reader { warp, epoch, lanes, pc })
        };
        let mut runs: Vec<_> = self.runs.iter().map(readers).collect();
        std::iter::from_fn(move || {
            let turn: SmallVec<[Reader; 8]> = runs.iter_mut().filter_map(Iterator::next).collect();
            (!turn.is_empty()).then_some(turn)
        })
        .flatten()
    }

    /// The readers of a word so many lanes further in a row.
    pub fn further(&mut self, lanes: u32) {
        self.runs.iter_mut().for_each(|run| run.lanes <<= lanes);
    }

    /// Drops all of them and keeps the room.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.before = 0;
    }

    /// Bytes that it takes beside its own.
    pub fn bytes(&self) -> usize {
        self.runs.capacity() * size_of::<Run>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const WARPS: u32 = 4;

    /// What a warp of the first launch, whose blocks have four, sees.
    fn view(warp: u32, epoch: u32, known: (u32, u32)) -> View {
        let first = 1 + (warp - 1) / WARPS * WARPS;
        let block = (first, first + WARPS);
        View { warp, block, launch: 1, expired: 0, known, epoch, warps: WARPS }
    }

    /// The last read of each lane that no later one stands for: epoch and instruction.
    type Plain = BTreeMap<(u32, u32), (u32, u32)>;

    fn plainly(all: &mut Plain, view: &View, lanes: LaneMask, pc: u32) {
        let passed = |warp: u32, epoch: u32| {
            view.block.0 <= warp && warp < view.block.1 && epoch <= view.known.0
                || warp == view.warp && epoch <= view.known.1
        };
        all.retain(|(warp, _), (epoch, _)| !passed(*warp, *epoch));
        for lane in (0..32).filter(|l| lanes >> l & 1 == 1) {
            all.insert((view.warp, lane), (view.epoch, pc));
        }
    }

    fn lanes_of_each(list: &Readers) -> Plain {
        let lanes =
            |r: Reader| (0..32).filter(move |l| r.lanes >> l & 1 == 1).map(move |l| ((r.warp, l), (r.epoch, r.pc)));
        let all: Vec<_> = list.all().flat_map(lanes).collect();
        assert_eq!(all.len(), all.iter().map(|r| r.0).collect::<std::collections::BTreeSet<_>>().len(), "{list:?}");
        all.into_iter().collect()
    }

    proptest! {
        #[test]
        fn nobody_is_lost(reads in proptest::collection::vec((1_u32..25, 1_u32..16, 0_u32..2, 0_u32..4, 0_u32..12), 1..80)) {
            // As in a run: the epochs of a block ascend, and what is known of it never gets less.
            let mut blocks = BTreeMap::<u32, (u32, u32, BTreeMap<u32, u32>)>::new();
            let (mut list, mut plain) = (Readers::default(), Plain::new());
            for (warp, lanes, pc, lanes_further, event) in reads {
                let (epoch, known, warps) = blocks.entry((warp - 1) / WARPS).or_insert((1, 0, BTreeMap::new()));
                match event {
                    0 => { *known = *epoch; *epoch += 1; }
                    1 => { warps.insert(warp, *epoch); *epoch += 1; }
                    2 => *epoch += 1,
                    _ => {}
                }
                let view = view(warp, *epoch, (*known, warps.get(&warp).copied().unwrap_or(0).max(*known)));
                let lanes = lanes << (4 * lanes_further);
                list.read(&view, lanes, Pc(pc));
                // A repeated read may leave the others as they are.
                let repeated = plain.iter().filter(|((w, _), read)| *w == warp && **read == (view.epoch, pc));
                let same = repeated.fold(0, |m, ((_, lane), _)| m | 1 << lane);
                if same & lanes != lanes {
                    plainly(&mut plain, &view, lanes, pc);
                }
                prop_assert_eq!(lanes_of_each(&list), plain.clone());
            }
        }
    }

    #[test]
    fn blocks_that_begin_with_their_last_warp_take_a_run_each() {
        let mut list = Readers::default();
        for first in (1..200).step_by(3 * WARPS as usize) {
            for warp in [WARPS - 1, 0, 1, 2] {
                list.read(&view(first + warp, 1, (0, 0)), !0, Pc(7));
            }
        }
        assert_eq!((list.runs.len(), list.all().count()), (17, 68), "{list:?}");
    }

    #[test]
    fn many_blocks_take_few_runs() {
        for step in [1, WARPS, 3 * WARPS] {
            let mut list = Readers::default();
            for k in 0..1000 {
                list.read(&view(1 + step * k, 1, (0, 0)), !0, Pc(7));
            }
            assert_eq!((list.runs.len(), list.all().count()), (1, 1000), "{step}");
            assert!(!list.passed(&view(1, 2, (1, 1)), 1));
        }
    }
}
