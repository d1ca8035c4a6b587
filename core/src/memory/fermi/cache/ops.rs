//! The cache operations of 4.2.2.
//!
//! Each is done or waits (the report's ε), or is undefined (⊥: `None`).

use super::{ByteMask, Bytes, Cache, EvClass, Line, LineKey, OpIdx};
use crate::base::mutant::{Mutant, on};
use crate::verdict::Rule;

/// Whether an operation took place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// It did; the program goes on.
    Done,
    /// It could not yet (the report's ε): the program yields and tries again.
    Wait,
}

/// What an operation did: which case of its definition applied, and whether the line's pins changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effect {
    /// Done or waits.
    pub flow: Flow,
    /// The case.
    pub rule: Rule,
    /// `cache.pin` or `cache.unpin` when the operation pinned or unpinned the line.
    pub pins: Option<Rule>,
}

impl Effect {
    const fn done(rule: Rule) -> Self {
        Self { flow: Flow::Done, rule, pins: None }
    }

    const fn wait(rule: Rule) -> Self {
        Self { flow: Flow::Wait, rule, pins: None }
    }

    const fn with(self, pins: Rule) -> Self {
        Self { pins: Some(pins), ..self }
    }
}

/// Whether a set has room for a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Room {
    /// The address has a line.
    Present,
    /// An unused line.
    Unused,
    /// One of these has to be evicted, and may be: at least one.
    Evict(Vec<LineKey>),
    /// Every line is dirty or pinned.
    Full,
}

/// What `reserve` is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reserve {
    /// The line.
    pub key: LineKey,
    /// The bytes that the operation needs.
    pub mask: ByteMask,
    /// The bytes that it will fetch: at least those of `mask`.
    pub fill: ByteMask,
    /// The operation, which pins the line.
    pub op: OpIdx,
    /// Whether it tried before and had to wait (D-reserve).
    pub again: bool,
}

impl Cache {
    /// Whether there is room for a line, and at whose cost (the report's `eligible`, `allUsed` and `canEvict`).
    #[must_use]
    pub fn room(&self, key: LineKey) -> Room {
        let Some(set) = self.sets.get(self.set_of(key)) else { return Room::Full };
        if set.iter().any(|l| l.key == key) {
            Room::Present
        } else if set.len() < self.shape.ways as usize + usize::from(on(Mutant::SetOverflows)) {
            Room::Unused
        } else {
            let victims = victims(set);
            if victims.is_empty() { Room::Full } else { Room::Evict(victims) }
        }
    }

    /// Reserves a line: takes it into use, or evicts `victim` for it, and pins it. `victim` is one of [`Room::Evict`]'s
    /// lines and is looked at in that case only. `None`: the address is cached already.
    ///
    /// Rule: cache.reserve-unused, cache.reserve-evict, cache.reserve-fill, cache.reserve-join, cache.reserve-wait
    pub fn reserve(&mut self, want: Reserve, victim: Option<LineKey>) -> Option<Effect> {
        let rule = match self.room(want.key) {
            Room::Present => {
                let cached = self.is_cached(want.key, want.mask);
                if cached && (!want.again || on(Mutant::ReserveNeverJoins)) {
                    return None;
                }
                if cached { Rule::CacheReserveJoin } else { Rule::CacheReserveFill }
            }
            Room::Unused => Rule::CacheReserveUnused,
            Room::Evict(list) => {
                self.evict_one_of(&list, victim);
                Rule::CacheReserveEvict
            }
            Room::Full => return Some(Effect::wait(Rule::CacheReserveWait)),
        };
        if let Some(line) = self.add_line(Line::new(want.key)) {
            line.fill |= want.fill & !line.valid();
            if !on(Mutant::UnpinnedFill) {
                line.pin(want.op);
            }
        }
        Some(Effect::done(rule).with(Rule::CachePin))
    }

    /// Reads bytes. While some are being fetched the operation pins the line and waits; once it has read it pins the line
    /// no more. `None`: no line holds the address, or not all of its bytes.
    ///
    /// Rule: cache.read-valid, cache.read-wait
    pub fn read(&mut self, key: LineKey, mask: ByteMask, op: OpIdx, into: &mut Bytes) -> Option<Effect> {
        let line = self.line_mut(key).filter(|l| l.covers(mask))?;
        if mask & !line.valid() != 0 && !on(Mutant::ReadNeverWaits) {
            line.pin(op);
            return Some(Effect::wait(Rule::CacheReadWait).with(Rule::CachePin));
        }
        into.copy(&line.bytes, mask);
        let unpinned = !on(Mutant::ReadKeepsPin) && line.unpin(op);
        let effect = Effect::done(Rule::CacheReadValid);
        Some(if unpinned { effect.with(Rule::CacheUnpin) } else { effect })
    }

    /// Writes the known bytes of `from`, into a line that is taken into use if need be; see [`Cache::reserve`] for
    /// `victim`. A byte that has the value already keeps its dirty flag.
    ///
    /// Rule: cache.write-hit, cache.write-reserve, cache.write-wait
    pub fn write(&mut self, key: LineKey, from: &Bytes, victim: Option<LineKey>) -> Effect {
        let rule = match self.room(key) {
            Room::Present => Rule::CacheWriteHit,
            Room::Unused => Rule::CacheWriteReserve,
            Room::Evict(list) => {
                self.evict_one_of(&list, victim);
                Rule::CacheWriteReserve
            }
            Room::Full => return Effect::wait(Rule::CacheWriteWait),
        };
        let mask = from.mask();
        if let Some(line) = self.add_line(Line::new(key)) {
            let same = line.bytes.equal(from, mask);
            line.bytes.copy(from, mask);
            if from.has_writers() {
                line.bytes.set_fresh(mask, true);
                line.bytes.rewritten(from);
            }
            if !on(Mutant::WriteStaysClean) {
                line.dirty |= mask & !same;
            }
            line.fill &= !mask;
        }
        self.tidy(key);
        Effect::done(rule)
    }

    /// Brings fetched bytes in: those that are invalid still. What was written meanwhile is newer and stays. `None`: the
    /// address has no line.
    ///
    /// Rule: cache.update-fill, cache.update-keep
    pub fn update(&mut self, key: LineKey, from: &Bytes) -> Option<Effect> {
        let line = self.line_mut(key)?;
        let missing = if on(Mutant::UpdateOverwrites) { from.mask() } else { from.mask() & !line.valid() };
        line.bytes.copy(from, missing);
        line.fill &= !missing;
        Some(Effect::done(if missing == 0 { Rule::CacheUpdateKeep } else { Rule::CacheUpdateFill }))
    }

    /// Brings bytes in that are invalid still, without an operation that pins the line meanwhile: a copy does all in one step
    /// (D-copy-caches). Nothing happens where there is no room; see [`Cache::reserve`] for `victim`.
    pub fn bring(&mut self, key: LineKey, from: &Bytes, victim: Option<LineKey>) {
        match self.room(key) {
            Room::Full => return,
            Room::Evict(list) => self.evict_one_of(&list, victim),
            Room::Present | Room::Unused => {}
        }
        if let Some(line) = self.add_line(Line::new(key)) {
            let missing = from.mask() & !line.valid();
            line.bytes.copy(from, missing);
            line.fill &= !missing;
        }
    }

    /// Evicts the line of an address, whatever its class; waits while it is dirty or pinned.
    ///
    /// Rule: cache.evict-clean, cache.evict-absent, cache.evict-wait
    pub fn evict(&mut self, key: LineKey) -> Effect {
        match self.line(key) {
            None => Effect::done(Rule::CacheEvictAbsent),
            Some(line) if line.evictable() => {
                self.drop_line(key);
                Effect::done(Rule::CacheEvictClean)
            }
            Some(_) => Effect::wait(Rule::CacheEvictWait),
        }
    }

    /// Makes bytes invalid, dirty or not; waits while the line is pinned.
    ///
    /// Rule: cache.discard-clear, cache.discard-absent, cache.discard-wait
    pub fn discard(&mut self, key: LineKey, mask: ByteMask) -> Effect {
        let Some(line) = self.line_mut(key) else { return Effect::done(Rule::CacheDiscardAbsent) };
        if !line.pins.is_empty() {
            return Effect::wait(Rule::CacheDiscardWait);
        }
        let mask = if on(Mutant::LineWideDiscard) { !0 } else { mask };
        line.bytes.clear(mask);
        line.dirty &= !mask;
        line.fill &= !mask;
        self.tidy(key);
        Effect::done(Rule::CacheDiscardClear)
    }

    /// Sets a line's eviction class. `None`: the address has no line.
    ///
    /// Rule: cache.classify
    pub fn classify(&mut self, key: LineKey, class: EvClass) -> Option<Effect> {
        let line = self.line_mut(key)?;
        line.class = class;
        Some(Effect::done(Rule::CacheClassify))
    }

    /// Makes room. A choice that was not offered counts as the first that was.
    fn evict_one_of(&mut self, offered: &[LineKey], choice: Option<LineKey>) {
        let victim = choice.filter(|c| offered.contains(c)).or_else(|| offered.first().copied());
        if let Some(victim) = victim {
            self.drop_line(victim);
        }
    }
}

/// The lines of a set that may be evicted now: of class `first` if there are any, else of class `normal` (D-cache).
pub(super) fn victims(set: &[Line]) -> Vec<LineKey> {
    let of = |class| set.iter().filter(move |l| l.evictable() && l.class == class).map(|l| l.key);
    let first: Vec<LineKey> = of(EvClass::First).collect();
    if on(Mutant::ClassIgnored) {
        return set.iter().filter(|l| l.evictable()).map(|l| l.key).collect();
    }
    if first.is_empty() { of(EvClass::Normal).collect() } else { first }
}
