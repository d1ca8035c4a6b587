//! The silent rules of the report, 4.6, and what caches do on behalf of the host and of the device runtime.
//!
//! Departures: `flush` waits for lines that are pinned, and keeps the condition that no global line is dirty (D-flush).
//! `wbL1` writes dirty bytes only, `wbL2` too (D-line).

use super::cache::{Bytes, Cache, DeviceSpace, Line, LineKey, Room};
use super::engine::Fermi;
use super::environment::unmap_local;
use super::reads::tell_arrived;
use super::shown::region;
use crate::base::mutant::{Mutant, on};
use crate::choice::{Site, one_of};
use crate::memory::{Cx, Issuer, LocalMemory, Stores};
use crate::verdict::{Event, Look, MemoryStep, Rule, Sink, Stop, Who};
use smallvec::SmallVec;

/// How many rules are listed that operations wait for: the others' turn comes.
const WANTED: usize = 16;

/// A silent rule with what it acts on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Silent {
    /// A line of a multiprocessor's L1, or of the L2, is evicted.
    Evict(Option<u32>, LineKey),
    /// A line of a multiprocessor's L1 is written back to the L2, or one of the L2 to memory.
    WriteBack(Option<u32>, LineKey),
    /// A multiprocessor's global L1 lines are dropped.
    Flush(u32),
}

impl Fermi {
    /// Whether a write-back to the L2 would succeed at once.
    fn has_room(&self, key: LineKey) -> bool {
        self.env.l2.room(key) != Room::Full
    }

    /// The rules that may fire, in a fixed order; `wanted`: those that an operation waits for.
    pub(super) fn silent_rules(&self, wanted: bool) -> Vec<Silent> {
        let mut rules = Vec::new();
        if !wanted {
            self.list_silent(&mut rules);
            return rules;
        }
        self.each_wanted(|rule| {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
            rules.len() >= WANTED
        });
        rules
    }

    fn list_silent(&self, out: &mut Vec<Silent>) {
        let sms = || (0..).zip(&self.env.sms);
        for (k, sm) in sms() {
            out.extend(sm.l1.dirty().filter(|key| self.has_room(*key)).map(|key| Silent::WriteBack(Some(k), key)));
        }
        out.extend(self.env.l2.dirty().map(|key| Silent::WriteBack(None, key)));
        if on(Mutant::NeverEvicts) {
            return;
        }
        for (k, sm) in sms() {
            out.extend(sm.l1.evictable().map(|key| Silent::Evict(Some(k), key)));
        }
        out.extend(self.env.l2.evictable().map(|key| Silent::Evict(None, key)));
        for (k, sm) in sms() {
            if sm.l1.can_flush() && sm.l1.lines().any(|l| l.key.space == DeviceSpace::Global) {
                out.push(Silent::Flush(k));
            }
        }
    }

    /// Write-backs that would let an operation go on: of its own line, or of one whose place it needs. `see` is given one
    /// after the other, some perhaps twice, until it has seen enough.
    pub(super) fn each_wanted(&self, mut see: impl FnMut(Silent) -> bool) {
        let dirty = |cache: &Cache, key: LineKey| -> SmallVec<[LineKey; 4]> {
            cache.of_set(key).filter(|l| l.dirty != 0).map(|l| l.key).collect()
        };
        for operation in self.operations.stalled.iter().filter_map(|w| self.operations.get(w.operation)) {
            let sm = operation.issued.issuer.sm;
            let Some(l1) = self.env.sm(sm).map(|sm| &sm.l1) else { continue };
            let all: SmallVec<[LineKey; 4]> = match operation.sigma.key() {
                None if operation.is_fence() => l1.dirty().collect(),
                None => continue,
                Some(key) => {
                    if dirty(&self.env.l2, key).into_iter().any(|d| see(Silent::WriteBack(None, d))) {
                        return;
                    }
                    dirty(l1, key)
                }
            };
            for key in all {
                // A write-back of the L1 may itself wait for room in the L2.
                let enough = if self.has_room(key) {
                    see(Silent::WriteBack(Some(sm), key))
                } else {
                    dirty(&self.env.l2, key).into_iter().any(|d| see(Silent::WriteBack(None, d)))
                };
                if enough {
                    return;
                }
            }
        }
    }

    /// Fires a silent rule.
    ///
    /// Rule: m.evictL1
    ///
    /// Rule: m.evictL2
    ///
    /// Rule: m.wbL1
    ///
    /// Rule: m.wbL2
    ///
    /// Rule: m.flush
    pub(super) fn fire_silent<S: Sink>(
        &mut self,
        rule: Silent,
        stores: &mut dyn Stores,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Stop> {
        let (name, processor, line) = match rule {
            Silent::Evict(sm, key) => (sm.map_or(Rule::MEvictL2, |_| Rule::MEvictL1), sm, Some(key)),
            Silent::WriteBack(sm, key) => (sm.map_or(Rule::MWbL2, |_| Rule::MWbL1), sm, Some(key)),
            Silent::Flush(sm) => (Rule::MFlush, Some(sm), None),
        };
        let written = match rule {
            Silent::WriteBack(sm, key) if S::ON => self.env.cache(sm).and_then(|c| c.line(key)).map_or(0, |l| l.dirty),
            _ => 0,
        };
        let mut came = None;
        match rule {
            Silent::WriteBack(Some(sm), key) => {
                let victim = match self.env.l2.room(key) {
                    Room::Evict(among) => among.get(one_of(cx.oracle, Site::Victim, among.len())?).copied(),
                    _ => None,
                };
                if let Some(sm) = self.env.sms.get_mut(sm as usize) {
                    if !on(Mutant::WriteBackL1Lost) {
                        let bytes = sm.l1.dirty_bytes(key);
                        self.env.l2.write(key, &bytes, victim);
                        came = S::ON.then_some((key, bytes));
                    }
                    sm.l1.clean(key, !0);
                }
            }
            Silent::WriteBack(None, key) => {
                let bytes = self.env.l2.dirty_bytes(key);
                if !on(Mutant::WriteBackLost) {
                    self.env.write(key, &bytes, stores);
                }
                self.env.l2.clean(key, !0);
            }
            Silent::Evict(sm, key) => _ = self.env.cache_mut(sm).map(|cache| cache.evict(key)),
            Silent::Flush(sm) => self.env.cache_mut(Some(sm)).into_iter().for_each(Cache::flush),
        }
        self.changed_all();
        if let Some((key, bytes)) = came {
            self.env.arrived(key, &bytes);
        }
        if S::ON {
            cx.sink.fire(Who::default(), name)?;
            tell_arrived(&mut self.env.writers, Who::default(), cx)?;
            let line = line.map(|key| (region(key), key.base));
            let look = || MemoryStep::Silent { rule: name, cache: processor.into(), line, written };
            cx.sink.event(Who::default(), Event::MemoryStep(Look::new(&look)))?;
        }
        Ok(())
    }

    /// Writes the dirty lines back that are asked for: the L2's first, since the L1's are newer.
    pub(super) fn write_lines_back(&mut self, stores: &mut dyn Stores, which: impl Fn(LineKey) -> bool) {
        let l1s = (0..).zip(&self.env.sms).map(|(sm, _)| Some(sm));
        for processor in std::iter::once(None).chain(l1s).collect::<Vec<_>>() {
            let Some(cache) = self.env.cache_mut(processor) else { continue };
            let keys = cache.dirty().filter(|key| which(*key));
            let dirty: Vec<(LineKey, Bytes)> = keys.map(|key| (key, cache.dirty_bytes(key))).collect();
            dirty.iter().for_each(|(key, _)| cache.clean(*key, !0));
            for (key, bytes) in dirty {
                self.env.l2.overwrite(key, &bytes);
                self.env.write(key, &bytes, stores);
            }
        }
        self.changed_all();
    }

    /// Writes the dirty lines of a warp's local memory back, and all global ones: the device runtime is about to look.
    pub(super) fn write_warp_back(&mut self, at: Issuer, local: &mut LocalMemory) {
        let mut one = One { who: at.who, local };
        self.write_lines_back(&mut one, |key| key.space != DeviceSpace::Local || key.owner == at.who);
    }

    /// The device runtime has written a warp's local memory: valid bytes of it in caches are brought up to date.
    pub(super) fn take_over_local(&mut self, at: Issuer, local: &mut LocalMemory) {
        for cache in self.env.caches_mut() {
            let mine = |l: &&Line| l.key.space == DeviceSpace::Local && l.key.owner == at.who;
            let lines: Vec<(LineKey, u128)> = cache.lines().filter(mine).map(|l| (l.key, l.valid())).collect();
            for (key, valid) in lines {
                let mut now = Bytes::NONE;
                for k in super::cache::bits(valid) {
                    let (lane, offset) = unmap_local(key.base + k as u64);
                    now.set(k, u8::try_from(local.read(lane, offset, 1) & 0xff).unwrap_or(0));
                }
                cache.overwrite(key, &now);
            }
        }
    }

    /// Drops the lines of local memory whose owner is gone.
    pub(super) fn forget(&mut self, gone: impl Fn(Who) -> bool) {
        let mut any = false;
        for cache in self.env.caches_mut() {
            any |= cache.forget(|key| key.space == DeviceSpace::Local && gone(key.owner));
        }
        if any {
            self.changed_all();
        }
    }
}

/// The local memory of one warp.
struct One<'a> {
    who: Who,
    local: &'a mut LocalMemory,
}

impl Stores for One<'_> {
    fn frame(&mut self, _: Who, _: u32) -> Option<&mut crate::base::Frame> {
        None
    }

    fn shared(&mut self, _: u32, _: u64) -> Option<&mut [u8]> {
        None
    }

    fn local(&mut self, who: Who) -> Option<&mut LocalMemory> {
        (who == self.who).then_some(&mut *self.local)
    }

    fn param(&mut self, _: u32) -> Option<&[u8]> {
        None
    }
}
