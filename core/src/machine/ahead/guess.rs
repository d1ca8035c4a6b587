//! How many blocks run ahead at a time, and whose turn was last when they begin.

use crate::machine::device::message::{GridId, ProgramId};
use crate::memory::flat::{Manners, View};
use crate::program::env::FuncId;

/// Whose turn was last, and whether it was used up.
pub(super) type Last = Option<(u32, bool)>;

/// Warp instructions of a chunk, so that beginning and looking at one is little beside it.
const MANY: u64 = 1 << 18;
/// Bytes that a chunk writes, so that they stay near until they are looked at; and that all of a wave do.
const NEAR: u64 = 1 << 18;
const WIDE: u64 = 1 << 23;
/// Warp instructions of a chunk at most: one that waits for what others would write waits for ever, since nothing that they do is seen.
pub(super) const MOST: u64 = 1 << 25;
/// Chunks of a wave for each thread, at first and at most: what is over sooner leaves the thread to another one.
const FEW: u64 = 4;
const SHARE: u64 = 64;
/// Chunks of a wave at most, so that what they see takes little room together.
const CHUNKS: u64 = 1 << 8;
/// Blocks of a chunk at most, for each of one of the wave before: what was cheap so far may not be.
const GROWTH: u64 = 4;
/// Warp instructions that are worth to be divided.
const WORTH: u64 = 1 << 17;
/// How often nothing comes of a wave, one after the other, until nobody tries any more.
const PATIENCE: u32 = 3;

/// A chunk of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chunk {
    /// Its first block, and the one behind its last.
    pub first: u64,
    pub until: u64,
    /// What it begins with.
    pub last: Last,
}

/// What is known of a launch whose blocks run ahead.
#[derive(Clone, Debug)]
pub(super) struct Guess {
    /// Whose it is.
    pub grid: Option<GridId>,
    /// The block from which on they do. `None`: they do not.
    pub from: Option<u64>,
    /// What is known of buffers.
    pub manners: Manners,
    /// How far the warp whose turn was last is behind the one a block before: one warp, before anything is known.
    shift: Option<u32>,
    /// Whether a block alone has shown that: how blocks follow each other; and whether it was wrong, so that one is asked.
    sure: bool,
    doubt: bool,
    /// Warp instructions of a block, and bytes that one writes, where one was looked at.
    each: Option<(u64, u64)>,
    /// Blocks of a chunk of the last wave.
    blocks: u64,
    /// Chunks of a wave for each thread.
    share: u64,
    /// Waves of which nothing came, one after the other.
    vain: u32,
    /// Whether whose turn was last was guessed in vain, or blocks take turns with each other.
    pub irregular: bool,
    /// Whether blocks that ran in any order had nothing to do with each other.
    pub apart: bool,
}

impl Default for Guess {
    fn default() -> Self {
        let (from, manners) = (Some(0), Manners::new());
        Self {
            grid: None,
            from,
            manners,
            shift: None,
            sure: false,
            doubt: false,
            each: None,
            blocks: 1,
            share: FEW,
            vain: 0,
            irregular: false,
            apart: false,
        }
    }
}

/// The kernel of a launch, and its block.
pub(super) type Of = (ProgramId, FuncId, [u32; 3]);

/// Launches that something is remembered of at most.
const REMEMBERED: usize = 16;

/// What launches have shown of the next ones of their kernels: nothing that decides a result.
#[derive(Default, Debug)]
pub(in crate::machine) struct Remembered(Vec<(Of, Guess)>);

/// A copy begins anew.
impl Clone for Remembered {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Remembered {
    /// What a launch begins with.
    pub(super) fn recall(&self, of: Of, grid: GridId) -> Guess {
        let known = self.0.iter().find(|(o, _)| *o == of).map(|(_, guess)| guess.clone());
        Guess { grid: Some(grid), from: None, ..known.unwrap_or_default() }
    }

    /// Takes note of what a launch has shown.
    pub(super) fn keep(&mut self, of: Of, guess: &Guess) {
        self.0.retain(|(o, _)| *o != of);
        self.0.truncate(REMEMBERED - 1);
        let mut own = guess.clone();
        own.manners.iter_mut().for_each(|manner| manner.exact = false);
        self.0.insert(0, (of, Guess { sure: false, doubt: false, vain: 0, irregular: guess.apart, ..own }));
    }
}

/// What a wave is taken from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// The first block that is left, and how many there are of the launch.
    pub first: u64,
    pub total: u64,
    /// Blocks side by side: they often access the same rows.
    pub row: u64,
    /// What it begins with.
    pub last: Last,
}

impl Guess {
    /// The chunks of the next wave: the first one begins with what is known to be so.
    pub fn wave(&self, view: View, rest: Rest, (threads, warps): (u32, u32)) -> Vec<Chunk> {
        let Rest { first, total, last, .. } = rest;
        let blocks = self.blocks_of_chunk(view, rest, threads.into());
        let (_, bytes) = self.each.unwrap_or((0, 0));
        let share = if view == View::InOrder { self.share } else { SHARE };
        let count = (u64::from(threads) * share).min(CHUNKS).min(WIDE / (blocks * bytes).max(1)).max(threads.into());
        let shift = self.shift.unwrap_or(warps.saturating_sub(1));
        // What blocks at a multiple begin with lies at the beginning of a page, or of a row, more often than not.
        let alone = u64::from(self.doubt);
        let end = |k: u64| {
            if k < alone { first + 1 } else { ((first + (k + 1 - alone) * blocks) / blocks * blocks).min(total) }
        };
        let ends = (0..count).map(end).scan(first, |before, until| Some((std::mem::replace(before, until), until)));
        let chunk = |(begin, until)| Chunk {
            first: begin,
            until,
            // What the first one begins with is known.
            last: if begin == first { last } else { moved(last, (begin - first, shift), warps) },
        };
        ends.filter(|(begin, until)| begin < until).map(chunk).collect()
    }

    /// Blocks of a chunk: a power of two, or as many rows.
    fn blocks_of_chunk(&self, view: View, Rest { first, total, row, .. }: Rest, threads: u64) -> u64 {
        let Some((each, bytes)) = self.each else { return 1 };
        // Those of which the order makes no difference may be small: rows do not matter, either.
        let (row, share) = if view == View::InOrder { (row, 2 * FEW) } else { (1, SHARE / 2) };
        let most = (total - first).div_ceil(threads * share).max(1);
        let fit = (MANY / each.max(1)).min(NEAR / bytes.max(1)).max(1);
        let blocks = fit.min(self.blocks.saturating_mul(GROWTH)).min(most);
        if row > 1 && row <= most && blocks < row && row <= 8 * blocks {
            return row;
        }
        let unit = if blocks >= row { row } else { 1 };
        unit << (blocks / unit).ilog2()
    }

    /// A chunk has done what it would have done in its turn: so many instructions, and bytes.
    pub fn was_right(&mut self, chunk: Chunk, last: Last, (instructions, bytes): (u64, u64), warps: u32) {
        let blocks = chunk.until - chunk.first;
        let (each, _) = self.each.unwrap_or((0, 0));
        // What blocks had to do a while ago is forgotten slowly.
        let now = (instructions / blocks.max(1)).max(each - each / 8);
        self.each = Some((now, bytes / blocks.max(1)));
        self.blocks = blocks;
        if !self.sure && blocks == 1 {
            let (warps, turn) = (warps.max(1), |last: Last| last.map_or(0, |(warp, _)| warp));
            self.shift = Some((turn(last) % warps + warps - turn(chunk.last) % warps) % warps);
            (self.sure, self.doubt) = (true, false);
        }
    }

    /// Chunks have met in a buffer: they are told apart by pages now, or by bytes, unless these are the same for `sure`. Gives whether
    /// that is new.
    pub fn met(&mut self, (buffer, sure): (usize, bool)) -> bool {
        if sure {
            return false;
        }
        // Single blocks often write one page.
        if self.each.is_none() {
            return true;
        }
        let Some(manner) = self.manners.get_mut(buffer) else { return false };
        let new = !manner.exact;
        (manner.exact, manner.written) = (manner.written, true);
        new
    }

    /// A chunk began with something else than what was so. Gives whether that was only supposed.
    pub const fn was_wrong(&mut self) -> bool {
        let supposed = !self.sure;
        (self.sure, self.doubt, self.irregular) = (false, true, self.irregular | !supposed);
        supposed
    }

    /// A wave of several chunks is over, of which more than the first one was right, or not. False: nobody tries any more.
    pub fn over(&mut self, useful: bool) -> bool {
        (self.vain, self.share) =
            if useful { (0, (4 * self.share).min(SHARE)) } else { (self.vain + 1, (self.share / 4).max(FEW)) };
        self.vain < PATIENCE
    }

    /// Whether so few instructions are left that others need not be asked.
    pub fn is_short(&self, blocks: u64) -> bool {
        self.each.is_some_and(|(each, _)| blocks.saturating_mul(each) < WORTH)
    }
}

/// Whose turn was last so many blocks on.
fn moved(last: Last, (blocks, shift): (u64, u32), warps: u32) -> Last {
    let warps = u64::from(warps.max(1));
    let (warp, spent) = last.unwrap_or_default();
    let warp = u32::try_from((u64::from(warp) + blocks % warps * u64::from(shift)) % warps).unwrap_or(warp);
    Some((warp, spent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(first: u64, total: u64, row: u64, last: Last) -> Rest {
        Rest { first, total, row, last }
    }

    #[test]
    fn the_first_chunk_is_never_a_guess() {
        let mut guess = Guess::default();
        let last = Some((3, false));
        // Before anything is known, each block is taken to end a warp before the last one did.
        let wave = guess.wave(View::InOrder, rest(5, 100, 100, last), (2, 8));
        assert_eq!(wave.len(), 8);
        assert_eq!(
            wave[..2],
            [Chunk { first: 5, until: 6, last }, Chunk { first: 6, until: 7, last: Some((2, false)) }]
        );
        guess.was_right(wave[0], Some((2, false)), (1 << 13, 64), 8);
        let wave = guess.wave(View::InOrder, rest(6, 100, 100, Some((2, false))), (2, 8));
        assert_eq!(wave.len(), 8);
        assert_eq!(wave[0], Chunk { first: 6, until: 8, last: Some((2, false)) });
        // Two blocks on, each of which ends with the warp before.
        assert_eq!(wave[1], Chunk { first: 8, until: 12, last: Some((0, false)) });
        // At the end all are in one wave, and none behind it.
        let wave = guess.wave(View::InOrder, rest(97, 100, 100, last), (2, 8));
        assert_eq!(wave.iter().map(|c| c.until - c.first).collect::<Vec<_>>(), [1, 1, 1]);
    }

    #[test]
    fn what_was_wrong_is_asked_of_a_block_alone() {
        let mut guess = Guess::default();
        let chunk = Chunk { first: 0, until: 4, last: None };
        guess.was_right(chunk, Some((0, false)), (1 << 13, 64), 8);
        // It was supposed only, so that something was learned; then a block says it.
        assert!(guess.was_wrong() && !guess.irregular);
        let last = Some((0, false));
        let wave = guess.wave(View::InOrder, rest(4, 1 << 20, 1, last), (2, 8));
        assert_eq!(wave[0], Chunk { first: 4, until: 5, last });
        guess.was_right(wave[0], Some((3, false)), (1 << 11, 16), 8);
        let wave = guess.wave(View::InOrder, rest(5, 1 << 20, 1, Some((3, false))), (2, 8));
        assert_eq!(wave[1].last, Some(((3 + 3 * (wave[1].first as u32 - 5)) % 8, false)));
        // What a block has said and is wrong is not guessed again.
        assert!(!guess.was_wrong() && guess.irregular);
    }

    #[test]
    fn rows_of_blocks_stay_together() {
        let mut guess = Guess::default();
        let chunk = Chunk { first: 0, until: 16, last: None };
        guess.was_right(chunk, Some((0, false)), (1 << 18, 64), 8);
        let wave = guess.wave(View::InOrder, rest(17, 1 << 10, 32, None), (2, 8));
        assert_eq!(wave[..2].iter().map(|c| (c.first, c.until)).collect::<Vec<_>>(), [(17, 32), (32, 64)]);
        // Where the order makes no difference, chunks are small.
        let wave = guess.wave(View::Apart, rest(17, 1 << 10, 32, None), (2, 8));
        assert_eq!(wave[1].until - wave[1].first, 16);
    }

    #[test]
    fn the_next_launch_begins_with_what_the_last_one_showed() {
        let (mut all, of) = (Remembered::default(), |k| (ProgramId(0), FuncId(k), [32, 1, 1]));
        let mut guess = all.recall(of(1), GridId(0));
        guess.was_right(Chunk { first: 0, until: 4, last: None }, None, (64, 64), 8);
        guess.manners.resize(1, Default::default());
        assert!(guess.met((0, false)) && guess.met((0, false)) && guess.manners[0].exact);
        all.keep(of(1), &guess);
        let next = all.recall(of(1), GridId(1));
        // Whether blocks meet in a page depends on the launch.
        assert!(next.each.is_some() && next.manners[0].written && !next.manners[0].exact);
        assert!(all.recall(of(2), GridId(1)).each.is_none());
        (3..40).for_each(|k| all.keep(of(k), &guess));
        assert!(all.recall(of(1), GridId(1)).each.is_none() && all.0.len() == REMEMBERED);
    }

    #[test]
    fn waves_have_an_end_on_many_threads() {
        let wave = |guess: &Guess| guess.wave(View::InOrder, rest(0, 1 << 20, 1, None), (64, 8)).len();
        let mut guess = Guess::default();
        (0..4).for_each(|_| assert!(guess.over(true)));
        assert_eq!(wave(&guess), 256);
        // Where each chunk writes much, there is one for each thread.
        guess.was_right(Chunk { first: 0, until: 1, last: None }, None, (1 << 18, 1 << 20), 8);
        assert_eq!(wave(&guess), 64);
    }

    #[test]
    fn nobody_tries_for_ever() {
        let mut guess = Guess::default();
        assert!(guess.over(false) && guess.over(false) && guess.over(true));
        assert!(guess.over(false) && guess.over(false) && !guess.over(false));
        // A buffer is told apart by pages first, then by bytes; there is nothing behind that.
        guess.manners.resize(2, Default::default());
        // Single blocks that meet in a page say nothing of chunks.
        assert!(guess.met((1, false)) && !guess.manners[1].written);
        guess.was_right(Chunk { first: 0, until: 1, last: None }, None, (64, 64), 8);
        assert!(!guess.met((1, true)) && guess.met((1, false)) && guess.met((1, false)));
        assert!(!guess.met((1, false)) && !guess.met((2, false)));
    }
}
