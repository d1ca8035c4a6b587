//! What memory programs do to caches: `L1_op` and `L2_op` with the cache functions of 4.4.3, and what protocols beyond the
//! report's need (D-clean, D-others, D-fence).
//!
//! Departures: the functions are defined for the states of atomic operations on global memory, too, and for operations
//! without a cache operator (D-atomic, D-strong). `reserve` widens what the operation fetches to the line where lines are
//! filled whole, and `update` brings in the whole of it (D-line).

use super::code::{At, Code, Program};
use super::exec::{Defined, Eta, Fill, Run, Undefined};
use super::state::Sigma;
use super::tree::{CacheFn, Level, OpExp};
use crate::base::mutant::{Mutant, on};
use crate::memory::fermi::cache::{
    ByteMask, Bytes, Cache, DeviceSpace, Effect, EvClass, Flow, LineKey, OpIdx, Reserve, Room,
};
use crate::verdict::{Rule, Stop};

impl<E: Eta> Run<'_, E> {
    /// Does a cache function. `again`: the operation was tried before and had to wait.
    ///
    /// Rule: opexp.readL1, opexp.readL2, opexp.writeL1, opexp.writeL2, opexp.reserveL1, opexp.reserveL2, opexp.updateL1
    /// Rule: opexp.updateL2, opexp.evictL1, opexp.evictL2, opexp.discardL1, opexp.discardL2, opexp.classifyFirstL1
    /// Rule: opexp.classifyFirstL2, opexp.classifyNormalL1, opexp.classifyNormalL2, opexp.cleanL1, opexp.cleanL2
    /// Rule: opexp.writeBackL1, opexp.writeBackL2
    pub(super) fn cache(&mut self, function: CacheFn, level: Level, again: bool) -> Result<Defined<Flow>, Stop> {
        if function == CacheFn::WriteBack {
            return self.write_back(level);
        }
        let Some((key, mask, want)) = self.sigma.line() else { return Ok(Err(Undefined::NoCaches)) };
        let op = self.op;
        let effect = match function {
            CacheFn::Reserve => {
                let fill = match self.eta.fill() {
                    Fill::Line => self.eta.cache(level).shape().whole(),
                    Fill::Bytes => want,
                };
                let victim = self.victim(level, key)?;
                let asked = Reserve { key, mask: want, fill: fill | want, op, again };
                let effect = self.eta.cache(level).reserve(asked, victim);
                if matches!(effect, Some(Effect { flow: Flow::Done, .. })) {
                    self.sigma.widen(fill);
                }
                effect
            }
            CacheFn::Read => {
                let cache = self.eta.cache(level);
                self.sigma.read().and_then(|into| cache.read(key, want, op, into))
            }
            CacheFn::Write => {
                let bytes = self.sigma.written();
                if bytes.mask() != mask {
                    return Ok(Err(Undefined::NothingRead));
                }
                let victim = self.victim(level, key)?;
                let effect = self.eta.cache(level).write(key, &bytes, victim);
                if E::ON && level == Level::L2 && effect.flow == Flow::Done {
                    self.eta.arrived(key, &bytes);
                }
                Some(effect)
            }
            CacheFn::Update if self.eta.cache(level).line(key).is_none() => None,
            CacheFn::Update => match self.brought_in(level, key, mask, want) {
                Some(bytes) => self.eta.cache(level).update(key, &bytes),
                None => return Ok(Err(Undefined::NothingRead)),
            },
            CacheFn::Evict => Some(self.eta.cache(level).evict(key)),
            CacheFn::Discard => Some(self.eta.cache(level).discard(key, mask)),
            CacheFn::ClassifyFirst => self.eta.cache(level).classify(key, EvClass::First),
            CacheFn::ClassifyNormal => self.eta.cache(level).classify(key, EvClass::Normal),
            CacheFn::Clean => {
                let cache = self.eta.cache(level);
                if cache.line(key).is_none() {
                    return Ok(Err(Undefined::NotCached(level)));
                }
                cache.clean(key, mask);
                return Ok(Ok(Flow::Done));
            }
            CacheFn::WriteBack => return Ok(Ok(Flow::Done)),
        };
        let Some(effect) = effect else {
            let reserves = function == CacheFn::Reserve;
            return Ok(Err(if reserves { Undefined::AlreadyCached(level) } else { Undefined::NotCached(level) }));
        };
        self.fire(effect.rule)?;
        if let Some(pins) = effect.pins {
            self.fire(pins)?;
        }
        Ok(Ok(effect.flow))
    }

    /// What `update` brings in: what the operation has, and the rest of what it has undertaken to fill. A store, and whoever
    /// read before the line was reserved, has its own bytes only; the others come from the levels behind in the same micro
    /// step, else the line would be waited for for ever (D-line). `None`: the operation has not read its own bytes.
    fn brought_in(&mut self, level: Level, key: LineKey, mask: ByteMask, want: ByteMask) -> Option<Bytes> {
        let mut bytes = self.sigma.read()?.only(want);
        let rest = want & !bytes.mask();
        if rest & mask != 0 {
            return None;
        }
        if rest != 0 && !on(Mutant::UpdateLeavesRest) {
            let mut behind = Bytes::NONE;
            self.eta.read_device(key, rest, &mut behind);
            if level == Level::L1
                && let Some(line) = self.eta.cache(Level::L2).line(key)
            {
                behind.copy(&line.bytes, rest);
            }
            bytes.copy(&behind, rest);
        }
        Some(bytes)
    }

    /// `writeBackL1` and `writeBackL2`: the dirty bytes of the operation's line, of all global lines for a fence, go to the
    /// level behind, and are clean. A line for which there is no room there stays dirty, and the operation waits.
    fn write_back(&mut self, level: Level) -> Result<Defined<Flow>, Stop> {
        let lines = match &*self.sigma {
            Sigma::Fence { .. } => global_dirty(self.eta.cache(level)).collect(),
            sigma => match sigma.line() {
                Some((key, ..)) => vec![key],
                None => return Ok(Err(Undefined::NoCaches)),
            },
        };
        let mut flow = Flow::Done;
        for key in lines {
            let bytes = self.eta.cache(level).dirty_bytes(key);
            if bytes.mask() == 0 {
                continue;
            }
            if level == Level::L1 {
                let victim = self.victim(Level::L2, key)?;
                let effect = self.eta.cache(Level::L2).write(key, &bytes, victim);
                self.fire(effect.rule)?;
                if effect.flow == Flow::Wait {
                    flow = Flow::Wait;
                    continue;
                }
                if E::ON {
                    self.eta.arrived(key, &bytes);
                }
            } else if !self.eta.write_device(key, &bytes) {
                return Ok(Err(Undefined::NotWritable));
            }
            self.eta.cache(level).clean(key, !0);
        }
        Ok(Ok(flow))
    }

    /// `invalidateOthersL1`: the operation's bytes become invalid in the L1 caches of the other multiprocessors, in all of
    /// them together; waits while one of them has the line pinned (D-others).
    ///
    /// Rule: opexp.invalidateOthersL1
    pub(super) fn invalidate_others(&mut self) -> Result<Defined<Flow>, Stop> {
        let Some((key, mask, _)) = self.sigma.line() else { return Ok(Err(Undefined::NoCaches)) };
        if on(Mutant::OthersKeepLines) {
            return Ok(Ok(Flow::Done));
        }
        if self.eta.others().any(|cache| cache.pinned(key)) {
            self.fire(Rule::CacheDiscardWait)?;
            return Ok(Ok(Flow::Wait));
        }
        let had = self.eta.others().filter(|cache| cache.line(key).is_some());
        let rules: Vec<Rule> = had.map(|cache| cache.discard(key, mask).rule).collect();
        for rule in rules {
            self.fire(rule)?;
        }
        Ok(Ok(Flow::Done))
    }

    /// `flushL1`: the global lines of the multiprocessor's L1 are dropped, as by the silent rule `flush`; waits while one of
    /// them is dirty or pinned (D-fence).
    ///
    /// Rule: opexp.flushL1
    pub(super) fn flush(&mut self) -> Defined<Flow> {
        if !matches!(&*self.sigma, Sigma::Fence { .. }) {
            return Err(Undefined::NotFence);
        }
        let l1 = self.eta.cache(Level::L1);
        if !l1.can_flush() {
            return Ok(Flow::Wait);
        }
        l1.flush();
        Ok(Flow::Done)
    }

    /// Which line makes room, where there are several.
    fn victim(&mut self, level: Level, key: LineKey) -> Result<Option<LineKey>, Stop> {
        match self.eta.cache(level).room(key) {
            Room::Evict(list) if list.len() > 1 => {
                let at = self.eta.victim(level, &list)?;
                Ok(list.get(at).copied())
            }
            _ => Ok(None),
        }
    }
}

/// The global lines that have dirty bytes.
fn global_dirty(cache: &Cache) -> impl Iterator<Item = LineKey> {
    cache.dirty().filter(|key| key.space == DeviceSpace::Global)
}

/// What an operation may have to wait for.
pub struct Around<'a> {
    /// The L1 cache of its multiprocessor.
    pub l1: &'a Cache,
    /// The L2 cache.
    pub l2: &'a Cache,
    /// Whether its banks are locked.
    pub locked: bool,
    /// Whether another multiprocessor's L1 has a line pinned.
    pub pinned_elsewhere: &'a dyn Fn(LineKey) -> bool,
}

/// Whether a micro step of an operation would do nothing but wait, leaving everything as it is: then it is no step at all
/// for a search.
#[must_use]
pub fn stalled(program: &Program, at: At, op: OpIdx, sigma: &Sigma, around: &Around<'_>) -> bool {
    // A first attempt always changes the state: it marks the position.
    let Some(Code::Op(exp)) = program.code.get(usize::from(at.pc)).map(|i| i.code).filter(|_| at.again) else {
        return false;
    };
    let Around { l1, l2, locked, pinned_elsewhere } = around;
    let line = sigma.line();
    let (function, level) = match exp {
        OpExp::Cache(function, level) => (function, level),
        OpExp::Lock => return *locked,
        OpExp::InvalidateOthersL1 => return line.is_some_and(|(key, ..)| pinned_elsewhere(key)),
        OpExp::FlushL1 => return !l1.can_flush(),
        _ => return false,
    };
    if function == CacheFn::WriteBack {
        let room = |key: LineKey| l2.room(key) != Room::Full;
        let dirty = |key: LineKey| l1.line(key).is_some_and(|l| l.dirty != 0);
        return level == Level::L1
            && match line {
                Some((key, ..)) => dirty(key) && !room(key),
                None => global_dirty(l1).next().is_some() && !global_dirty(l1).any(room),
            };
    }
    let Some((key, _, want)) = line else { return false };
    let cache = if level == Level::L1 { l1 } else { l2 };
    let line = cache.line(key);
    match function {
        CacheFn::Reserve | CacheFn::Write => cache.room(key) == Room::Full,
        CacheFn::Read => {
            line.is_some_and(|l| want & !l.valid() != 0 && l.covers(want) && l.pins.binary_search(&op).is_ok())
        }
        CacheFn::Evict => line.is_some_and(|l| !l.evictable()),
        CacheFn::Discard => cache.pinned(key),
        CacheFn::Update | CacheFn::ClassifyFirst | CacheFn::ClassifyNormal | CacheFn::Clean | CacheFn::WriteBack => {
            false
        }
    }
}
