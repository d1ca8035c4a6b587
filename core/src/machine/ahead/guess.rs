//! How many blocks run ahead at a time, and whose turn was last when they begin.

use crate::memory::flat::{Manners, View};

/// Whose turn was last, and whether it was used up.
pub(super) type Last = Option<(u32, bool)>;

/// Warp instructions of a chunk: at first, and at most, so that what it writes stays near.
const FEW: u64 = 1 << 15;
const MANY: u64 = 1 << 17;
/// Warp instructions of a chunk at most: one that waits for what others would write waits for ever, since nothing that they do is seen.
pub(super) const MOST: u64 = 1 << 25;
/// Chunks of a wave, for each thread: what is over sooner leaves the thread to another one.
const SHARE: u64 = 4;
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
#[derive(Debug)]
pub(super) struct Guess {
    /// The block from which on they do. `None`: they do not.
    pub from: Option<u64>,
    /// What is known of buffers.
    pub manners: Manners,
    /// How far the warp whose turn was last is behind the one a block before; not known before a block was looked at.
    shift: Option<u32>,
    /// Warp instructions of a block, where one was looked at, and of a chunk.
    each: Option<u64>,
    size: u64,
    /// Waves of which nothing came, one after the other.
    vain: u32,
    /// Whether whose turn was last was guessed in vain, or blocks take turns with each other.
    pub irregular: bool,
}

impl Default for Guess {
    fn default() -> Self {
        Self { from: Some(0), manners: Manners::new(), shift: None, each: None, size: FEW, vain: 0, irregular: false }
    }
}

impl Guess {
    /// The chunks of the next wave: the first one begins with what is known to be so.
    pub fn wave(&self, view: View, (first, total): (u64, u64), last: Last, (threads, warps): (u32, u32)) -> Vec<Chunk> {
        if self.shift.is_none() && view == View::InOrder {
            // One block says how blocks follow each other.
            return vec![Chunk { first, until: first + 1, last }];
        }
        let (left, count, shift) = (total - first, u64::from(threads) * SHARE, self.shift.unwrap_or(0));
        let blocks = self.each.map_or(1, |each| self.size / each.max(1)).clamp(1, left.div_ceil(count));
        // What blocks at a multiple of a power of two begin with lies at the beginning of a page more often than not.
        let unit = 1 << blocks.ilog2();
        let end = |k: u64| ((first + (k + 1) * blocks) / unit * unit).min(total);
        let ends = (0..count).map(end).scan(first, |before, until| Some((std::mem::replace(before, until), until)));
        let chunk = |(begin, until)| Chunk {
            first: begin,
            until,
            // What the first one begins with is known.
            last: if begin == first {
                last
            } else {
                last.map(|(warp, spent)| (moved(warp, (begin - first, shift), warps), spent))
            },
        };
        ends.filter(|(begin, until)| begin < until).map(chunk).collect()
    }

    /// A chunk has done what it would have done in its turn.
    pub fn was_right(&mut self, chunk: Chunk, last: Last, instructions: u64, warps: u32) {
        let blocks = chunk.until - chunk.first;
        self.each = Some(instructions / blocks.max(1));
        if self.shift.is_none() && blocks == 1 {
            let (warps, turn) = (warps.max(1), |last: Last| last.map_or(0, |(warp, _)| warp));
            self.shift = Some((turn(last) % warps + warps - turn(chunk.last) % warps) % warps);
        }
    }

    /// Chunks have met in a buffer: they are told apart by pages now, or by bytes, unless these are the same for `sure`. Gives whether
    /// that is new.
    pub fn met(&mut self, (buffer, sure): (usize, bool)) -> bool {
        if sure {
            return false;
        }
        let Some(manner) = self.manners.get_mut(buffer) else { return false };
        let new = !manner.exact;
        (manner.exact, manner.written) = (manner.written, true);
        new
    }

    /// A chunk began with something else than what was so.
    pub const fn was_wrong(&mut self) {
        (self.shift, self.irregular) = (None, true);
    }

    /// A wave of several chunks is over, of which more than the first one was right, or not. False: nobody tries any more.
    pub fn over(&mut self, useful: bool) -> bool {
        (self.vain, self.size) =
            if useful { (0, (2 * self.size).min(MANY)) } else { (self.vain + 1, (self.size / 2).max(FEW)) };
        self.vain < PATIENCE
    }

    /// Whether so few instructions are left that others need not be asked.
    pub fn is_short(&self, blocks: u64) -> bool {
        self.each.is_some_and(|each| blocks.saturating_mul(each) < 4 * FEW)
    }
}

/// The warp so many blocks on.
fn moved(warp: u32, (blocks, shift): (u64, u32), warps: u32) -> u32 {
    let warps = u64::from(warps.max(1));
    u32::try_from((u64::from(warp) + blocks % warps * u64::from(shift)) % warps).unwrap_or(warp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_chunk_is_never_a_guess() {
        let mut guess = Guess::default();
        let last = Some((3, false));
        assert_eq!(guess.wave(View::InOrder, (5, 100), last, (2, 8)), [Chunk { first: 5, until: 6, last }]);
        guess.was_right(Chunk { first: 5, until: 6, last }, Some((2, false)), 1 << 13, 8);
        let wave = guess.wave(View::InOrder, (6, 100), Some((2, false)), (2, 8));
        assert_eq!(wave.len(), 8);
        assert_eq!(wave[0], Chunk { first: 6, until: 8, last: Some((2, false)) });
        // Two blocks on, each of which ends with the warp before.
        assert_eq!(wave[1], Chunk { first: 8, until: 12, last: Some((0, false)) });
        // At the end all are in one wave, and none behind it.
        let wave = guess.wave(View::InOrder, (97, 100), last, (2, 8));
        assert_eq!(wave.iter().map(|c| c.until - c.first).collect::<Vec<_>>(), [1, 1, 1]);
    }

    #[test]
    fn nobody_tries_for_ever() {
        let mut guess = Guess::default();
        assert!(guess.over(false) && guess.over(false) && guess.over(true));
        assert!(guess.over(false) && guess.over(false) && !guess.over(false));
        // A buffer is told apart by pages first, then by bytes; there is nothing behind that.
        guess.manners.resize(2, Default::default());
        assert!(!guess.met((1, true)) && guess.met((1, false)) && guess.met((1, false)));
        assert!(!guess.met((1, false)) && !guess.met((2, false)));
    }
}
