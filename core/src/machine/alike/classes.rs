//! Kinds of threads, warps and blocks, and which of them it pays to exchange.

use super::follows::{Deeds, Follows, Steady, mix};
use super::level::{Exchanged, Level, Likeness, Unlike, Within};
use crate::base::mutant::{Mutant, on};
use crate::base::{LANES, lanes_of, sort};
use crate::machine::control::Grouping;
use crate::machine::grid::loaded::{Loaded, Where};
use crate::program::alive::Alive as Live;
use crate::program::env::{Init, ProgEnv, Special};
use crate::program::instr::Op;
use std::collections::BTreeMap;

/// Instructions times slots times warps of an analysis at most.
const LIMIT: u64 = 1 << 22;

/// Of warps, and of blocks, so many at either end are looked at first.
const FEW: u64 = 4;

/// Threads of a grid at most.
const THREADS: u64 = 1 << 15;

/// Who is like whom in a launch.
#[derive(Clone, Debug)]
pub struct Alike {
    pub level: Level,
    /// Warps of a block.
    warps: usize,
    /// The kind of each block.
    blocks: Vec<u32>,
    /// The kind of each warp, block by block; where threads are exchanged, of each lane.
    inner: Vec<u32>,
    /// What follows from the index, warp by warp; none where nothing does.
    steady: Vec<Steady>,
}

impl Alike {
    /// Who is like whom in a launch; otherwise why nobody is. `blocks`: whether blocks may be exchanged at all; all of them are
    /// resident from the beginning.
    pub fn of(env: &ProgEnv, loaded: &Loaded, blocks: bool) -> Result<Self, Unlike> {
        let counted = loaded.grid.iter().map(|n| u64::from(*n)).product::<u64>();
        let threads = counted.saturating_mul(loaded.threads().into());
        let alone = loaded.grouping == Grouping::One;
        if threads < 2 || !blocks && !alone && loaded.warps() < 2 {
            return Err(Unlike::Alone);
        }
        let told = |op: Op| matches!(op, Op::Syscall(_) | Op::ReadSpecial(_));
        if env.code.iter().any(|i| told(i.op)) {
            return Err(Unlike::Calls);
        }
        let Some(entry) = env.function(loaded.entry) else { return Err(Unlike::Calls) };
        let warps = counted.saturating_mul(loaded.warps().into());
        let length = u64::from(entry.end.0.saturating_sub(entry.start.0));
        let size = length.saturating_mul(entry.slots.count() as u64).saturating_mul(warps);
        if size > LIMIT || threads > THREADS {
            return Err(Unlike::Size);
        }
        let ways = levels(env, loaded, blocks && counted > 1);
        let tried = ways.into_iter().filter(|level| promises(env, loaded, *level));
        let all = tried.filter_map(|level| Self::at(env, loaded, level));
        let best = all.max_by(|a, b| a.gain().total_cmp(&b.gain()));
        best.filter(|best| best.gain() > 0.0).ok_or(Unlike::Indices)
    }

    /// Who is like whom if some are exchanged. `None`: the program's ways are not known.
    fn at(env: &ProgEnv, loaded: &Loaded, level: Level) -> Option<Self> {
        let count = loaded.grid.iter().map(|n| u64::from(*n)).product::<u64>();
        let calls = env.code.iter().any(|i| matches!(i.op, Op::Call | Op::CallIndirect));
        let live = Live::of(env, loaded.entry, false);
        let (mut deeds, mut steady) = (Vec::new(), Vec::new());
        for block in 0..count {
            for warp in 0..loaded.warps() {
                if calls {
                    // No index is read anywhere: all threads do the same, whatever that is.
                    deeds.push([Some(0); LANES]);
                    continue;
                }
                let follows = Follows::of(env, loaded, level, place(loaded, block, warp))?;
                deeds.push(follows.deeds(&live));
                steady.push(follows.steady(&live));
            }
        }
        Some(Self::sorted(loaded, level, &deeds, steady))
    }

    /// Kinds from what threads do, warp by warp.
    fn sorted(loaded: &Loaded, level: Level, deeds: &[[Deeds; LANES]], steady: Vec<Steady>) -> Self {
        let warps = loaded.warps() as usize;
        let mut kinds = Kinds::default();
        let (mut blocks, mut inner) = (Vec::new(), Vec::new());
        for of_block in deeds.chunks(warps.max(1)) {
            let mut whole = Some(0);
            for (w, deeds) in of_block.iter().enumerate() {
                let populated = loaded.populated(u32::try_from(w).unwrap_or(0));
                let warp = all_of(populated.into(), lanes_of(populated).map(|l| deeds[l]));
                whole = whole.zip(warp).map(|(sum, warp)| mix_all(sum, warp));
                match level.within {
                    Within::Nobody => {}
                    Within::Warps => inner.push(kinds.number(warp)),
                    Within::Threads => inner
                        .extend((0..LANES).map(|l| {
                            if populated >> l & 1 == 1 { kinds.number(deeds[l]) } else { kinds.number(None) }
                        })),
                }
            }
            blocks.push(if level.blocks { kinds.number(whole) } else { kinds.number(None) });
        }
        Self { level, warps, blocks, inner, steady }
    }

    /// How many states may come to one, as a logarithm: of so many exchanges.
    fn gain(&self) -> f64 {
        let exchanges = |count: &u32| (2..=*count).map(|n| f64::from(n).log2()).sum::<f64>();
        let told = self.exchanged(None);
        let blocks = told.blocks.iter().map(exchanges).sum::<f64>();
        let per = self.inner.len() / self.blocks.len().max(1);
        let inner = self.inner.chunks(per.max(1)).flat_map(counts).map(|n| exchanges(&n)).sum::<f64>();
        blocks + inner
    }

    /// What is told of it. `lanes`: those of each warp that hold threads.
    fn exchanged(&self, loaded: Option<&Loaded>) -> Exchanged {
        let mut told = Exchanged::default();
        if self.level.blocks {
            told.blocks = counts(&self.blocks);
        }
        let per = self.inner.len() / self.blocks.len().max(1);
        // Of blocks that differ the one in which the most are alike.
        let exchanged = |kinds: &&[u32]| counts(kinds).iter().sum::<u32>();
        let first = self.inner.chunks(per.max(1)).rev().max_by_key(exchanged).unwrap_or_default();
        match self.level.within {
            Within::Nobody => {}
            Within::Warps => told.warps = counts(first),
            Within::Threads => {
                let lives = |k: &usize| {
                    let (w, l) = (k / LANES, k % LANES);
                    loaded.is_none_or(|of| of.populated(u32::try_from(w).unwrap_or(0)) >> l & 1 == 1)
                };
                let kinds: Vec<u32> = (0..first.len()).filter(lives).map(|k| first[k]).collect();
                told.threads = counts(&kinds);
            }
        }
        told
    }

    /// The same, for people.
    pub fn likeness(&self, loaded: &Loaded) -> Likeness {
        Likeness::Exchanged(self.exchanged(Some(loaded)))
    }

    /// The kind of a block.
    pub fn block(&self, linear: u64) -> u32 {
        usize::try_from(linear).ok().and_then(|k| self.blocks.get(k).copied()).unwrap_or(u32::MAX)
    }

    /// The kinds within a warp: its own, or its lanes'.
    pub fn within(&self, linear: u64, warp: usize) -> &[u32] {
        let each = if self.level.within == Within::Threads { LANES } else { 1 };
        let first = usize::try_from(linear).unwrap_or(0).saturating_mul(self.warps).saturating_add(warp);
        self.inner.get(first.saturating_mul(each)..).and_then(|rest| rest.get(..each)).unwrap_or_default()
    }

    /// What follows from the index in a warp.
    pub fn steady(&self, linear: u64, warp: u32) -> Option<&Steady> {
        let first = usize::try_from(linear).ok()?.checked_mul(self.warps)?;
        self.steady.get(first.checked_add(warp as usize)?)
    }
}

fn place(loaded: &Loaded, block: u64, warp: u32) -> Where {
    let [x, y, _] = loaded.grid.map(u64::from);
    let narrow = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
    Where { block: [narrow(block % x), narrow(block / x % y), narrow(block / (x * y))], warp, sm: 0 }
}

/// Whether two of a few are alike: where none are, hardly any are among all, and to look at all takes time.
fn promises(env: &ProgEnv, loaded: &Loaded, level: Level) -> bool {
    if env.code.iter().any(|i| matches!(i.op, Op::Call | Op::CallIndirect)) {
        return true;
    }
    let live = Live::of(env, loaded.entry, false);
    let deeds = |block, warp| Some(Follows::of(env, loaded, level, place(loaded, block, warp))?.deeds(&live));
    let few = |count: u64| (0..count).filter(move |k| *k < FEW || *k + FEW >= count);
    let several = |mut deeds: Vec<u128>| {
        let count = deeds.len();
        sort::sort(&mut deeds);
        deeds.dedup();
        deeds.len() < count
    };
    let within = || {
        let warps = few(loaded.warps().into()).filter_map(|w| {
            let warp = u32::try_from(w).ok()?;
            Some((lanes_of(loaded.populated(warp)), deeds(0, warp)?))
        });
        match level.within {
            Within::Nobody => false,
            Within::Warps => several(warps.filter_map(|(lanes, deeds)| all_of(0, lanes.map(|l| deeds[l]))).collect()),
            Within::Threads => several(warps.flat_map(|(lanes, deeds)| lanes.filter_map(move |l| deeds[l])).collect()),
        }
    };
    let count = loaded.grid.iter().map(|n| u64::from(*n)).product();
    let first = || {
        few(count).filter_map(|block| {
            let deeds = deeds(block, 0)?;
            all_of(0, lanes_of(loaded.populated(0)).map(|l| deeds[l]))
        })
    };
    within() || level.blocks && several(first().collect())
}

/// What some threads do, one after the other; `None`: of one of them it is not known.
fn all_of(first: u128, mut deeds: impl Iterator<Item = Deeds>) -> Deeds {
    deeds.try_fold(first, |sum, d| Some(mix_all(sum, d?)))
}

/// The levels that may be tried, the widest first.
fn levels(env: &ProgEnv, loaded: &Loaded, blocks: bool) -> Vec<Level> {
    // Where lanes of a warp meet, it counts who is in which; the stack that a lane moves is its warp's.
    let meets = |op: Op| {
        op.is_barrier()
            || matches!(op, Op::Exchange | Op::Matrix | Op::WarpSync | Op::Alloca | Op::StackSave | Op::StackRestore)
    };
    let calls = env.code.iter().any(|i| matches!(i.op, Op::Call | Op::CallIndirect));
    if calls && reads_index(env) {
        return Vec::new();
    }
    let threads = loaded.threads() > 1 && !calls && (!env.code.iter().any(|i| meets(i.op)) || on(Mutant::AlikeMeeting));
    // Places among those who are exchanged are numbered in 16 bits (`walk::Roles`); a launch has not more warps than that.
    let warps = loaded.grid.iter().fold(loaded.warps(), |n, of| n.saturating_mul(*of)) as usize;
    let fits = warps.saturating_mul(LANES) <= usize::from(u16::MAX);
    let within = match loaded.grouping {
        Grouping::One if threads && fits => Within::Threads,
        _ if loaded.warps() > 1 => Within::Warps,
        _ => Within::Nobody,
    };
    let all = [(true, within), (false, within), (true, Within::Nobody)];
    let tried = all.into_iter().filter(|(b, w)| (!*b || blocks) && (*b || *w != Within::Nobody));
    tried.map(|(blocks, within)| Level { blocks, within }).collect()
}

/// Whether a function reads which thread or block it is.
fn reads_index(env: &ProgEnv) -> bool {
    let mut preloads = env.functions.values().flat_map(|f| &f.preloads);
    preloads.any(|p| {
        let Init::Special(special) = p.init else { return false };
        !matches!(
            special,
            Special::Ntid(_)
                | Special::Nctaid(_)
                | Special::NwarpId
                | Special::WarpSize
                | Special::NsmId
                | Special::Zero
        )
    })
}

/// How many there are of each kind of which there are several.
fn counts(kinds: &[u32]) -> Vec<u32> {
    let mut counted: BTreeMap<u32, u32> = BTreeMap::new();
    kinds.iter().for_each(|kind| *counted.entry(*kind).or_default() += 1);
    let mut several: Vec<u32> = counted.into_values().filter(|n| *n > 1).collect();
    sort::sort_by(&mut several, |a, b| b.cmp(a));
    several
}

/// Numbers of kinds, in the order in which they are met.
#[derive(Default)]
struct Kinds {
    known: BTreeMap<u128, u32>,
    next: u32,
}

impl Kinds {
    /// The number of those that do the same; who does what is not known is of a kind of its own.
    fn number(&mut self, deeds: Deeds) -> u32 {
        let fresh = self.next;
        let number = deeds.map_or(fresh, |deeds| *self.known.entry(deeds).or_insert(fresh));
        self.next += u32::from(number == fresh);
        number
    }
}

fn mix_all(sum: u128, next: u128) -> u128 {
    mix(mix(sum, next as u64), (next >> 64) as u64)
}
