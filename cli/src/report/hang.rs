//! Runs that never end: what they are called, who runs on, on what, and who does not come to end it.

use super::diagnostic::Diagnostic;
use super::mbarrier;
use super::safety::token;
use super::stop::StopReport;
use super::words::{barrier, counted, lanes, listed, place_in, plural, ranges, who, word};
use crate::base::Pc;
use crate::program::instr::{BarrierCheck, Op};
use crate::verdict::{
    AllocKind, Blocked, Class, Hang, Holds, Inside, Lock, NeverPopped, Place, SpinRead, Spinner, Stack,
};

/// How many of a kind a text lists.
const LISTED: usize = 8;

/// What to do about it.
fn advice(hang: &Hang, tokens: bool) -> &'static str {
    match hang.class {
        Some(Class::SimtDeadlock) => {
            "lanes of one warp wait for each other: what the waiting lanes would do must not be what the running ones wait \
             for; do it inside the loop, or let each lane have a program counter (--control its)"
        }
        Some(Class::Starvation) => {
            "launch no more blocks than the device holds at once, or let a block wait only for what blocks with lower \
             numbers do"
        }
        Some(Class::Mixed) => {
            "who waits at a barrier does nothing for those who spin: what they wait for must be done before the barrier, \
             and who spins must not be awaited there"
        }
        Some(Class::Livelock) if in_a_ring(hang) => {
            "each keeps what another one waits for: take locks in the same order everywhere, or give back what is held when the \
             next one is not to be had"
        }
        Some(Class::Livelock) if left_behind(hang) => {
            "a thread has exited with the lock that others wait for: give it back on every way out"
        }
        Some(Class::Livelock) => {
            "no lane, warp or block that is held up would end the loop: its condition must come true whatever the schedule"
        }
        None if tokens => {
            "lanes of one warp seem to wait for each other; what they would do if they were free was not found out"
        }
        None => "what would end the loop was not found out; --control shows whether another control model does",
    }
}

/// Whether who holds a lock waits for one that is held by somebody who waits, and so on round to the first.
fn in_a_ring(hang: &Hang) -> bool {
    let same = |a: &Place, b: &Place| (a.block, a.warp) == (b.block, b.warp) && a.lanes & b.lanes != 0;
    let next = |lock: &Lock| hang.locks.iter().position(|l| l.waiters.iter().any(|w| same(w, &lock.holder)));
    let round = |first: usize| {
        let mut at = first;
        (0..hang.locks.len()).any(|_| {
            let on = hang.locks.get(at).and_then(next);
            on.is_some_and(|to| {
                at = to;
                to == first
            })
        })
    };
    (0..hang.locks.len()).any(round)
}

/// Whether who holds a lock is gone.
fn left_behind(hang: &Hang) -> bool {
    hang.locks.iter().any(|l| l.exited)
}

/// Lanes with their warp, e.g. `lane 1 of warp 0 in block (0, 0, 0)`.
fn party(p: &Place) -> String {
    let [x, y, z] = p.block;
    format!("{} in block ({x}, {y}, {z})", of_warp(p))
}

/// The same without the block, e.g. `lane 1 of warp 0`.
fn of_warp(p: &Place) -> String {
    format!("{} of warp {}", lanes(p.lanes), p.warp)
}

/// Whether it waits for others, and not for its turn.
fn waits(blocked: &&Blocked) -> bool {
    matches!(blocked.by, Holds::Barrier { .. } | Holds::Members { .. })
}

/// Some parties, e.g. `lane 1 of warp 0 in block (0, 0, 0), lane 3 of … and 2 more`.
fn parties(all: &[&Place]) -> String {
    let mut merged: Vec<Place> = Vec::new();
    for p in all {
        match merged.iter_mut().find(|m| (m.block, m.warp) == (p.block, p.warp)) {
            Some(known) => known.lanes |= p.lanes,
            None => merged.push((*p).clone()),
        }
    }
    listed(&merged, LISTED, party, |n| format!("{n} more")).join(", ")
}

/// The form of a verb for one lane, or that for several.
fn verb(who: &[&Place], one: &'static str, many: &'static str) -> &'static str {
    if who.iter().map(|p| p.lanes.count_ones()).sum::<u32>() == 1 { one } else { many }
}

/// The place in memory of what is read, e.g. "`lock`" or "4 bytes behind the start of `x`".
fn location(read: &SpinRead) -> String {
    place_of(read.inside.as_ref(), read.address)
}

fn place_of(inside: Option<&Inside>, address: u64) -> String {
    let named = inside.and_then(place_in);
    named.unwrap_or_else(|| match inside {
        Some(Inside { kind: AllocKind::Shared, offset, .. }) => format!("shared memory at {offset}"),
        _ => format!("{address:#x}"),
    })
}

/// Who waits for a lock that who holds, e.g. `lane 0 of warp 1 in block (0, 0, 0) spins on `first`, which lane 0 of warp 0 in
/// block (0, 0, 0) holds`.
fn waits_for(lock: &Lock) -> String {
    let waiters: Vec<&Place> = lock.waiters.iter().collect();
    format!(
        "{} {} on {}, which {} {}",
        parties(&waiters),
        verb(&waiters, "spins", "spin"),
        place_of(lock.inside.as_ref(), lock.address),
        party(&lock.holder),
        if lock.exited { "took and kept when it exited" } else { "holds" }
    )
}

impl StopReport<'_> {
    /// Lines of instructions, e.g. `lines 17-20`.
    fn lines(&self, code: &[Pc]) -> String {
        let mut all: Vec<usize> = code.iter().filter_map(|pc| Some(self.line(*pc)? as usize)).collect();
        all.sort_unstable();
        all.dedup();
        format!("{} {}", plural(all.len() as u64, "line"), ranges(all))
    }

    /// What is read, e.g. `: 0 or 1`; a barrier in memory as what it awaits.
    fn values(&self, read: &SpinRead) -> String {
        let next = |pc: Pc| self.env.code.get(pc.0 as usize + 1).map(|i| i.op);
        let waits =
            |reader: &Place| matches!(next(reader.pc), Some(Op::Barrier(BarrierCheck::State | BarrierCheck::Parity)));
        let barrier = |value: &u64| Some(*value).filter(|_| read.readers.iter().all(waits)).and_then(mbarrier::object);
        let value = |value: &u64| barrier(value).unwrap_or_else(|| value.to_string());
        let text = listed(&read.values, LISTED, value, |_| "…".to_owned());
        if text.is_empty() { String::new() } else { format!(": {}", text.join(" or ")) }
    }

    /// ` at line 12`, where the instruction has one.
    fn at_line(&self, pc: Pc) -> String {
        self.line(pc).map_or_else(String::new, |line| format!(" at line {line}"))
    }

    /// A run that never ends.
    pub(super) fn endless(&self, tokens: &[NeverPopped], place: &Place, hang: &Hang) -> Diagnostic {
        let read = hang.reads.iter().find(|r| !r.writers.is_empty()).or_else(|| hang.reads.first());
        let reader = read.and_then(|r| r.readers.first());
        let first = reader.unwrap_or(place);
        let mut d = self.about(first.pc, self.headline(tokens, hang, read));
        let does = match read.filter(|_| reader.is_some()) {
            Some(read) => {
                let reads = verb(&[first], "reads", "read");
                format!("{reads} {} here, again and again{}", location(read), self.values(read))
            }
            None => format!("{} on here, in a state that repeats", verb(&[first], "runs", "run")),
        };
        d = d.label(format!("{} {does}", of_warp(first)));
        for writer in read.iter().flat_map(|r| &r.writers).take(LISTED) {
            d = self.beside(d, writer.pc, format!("{} would write it here", of_warp(writer)));
        }
        for lock in hang.locks.iter().take(LISTED) {
            let name = place_of(lock.inside.as_ref(), lock.address);
            d = self.beside(d, lock.holder.pc, format!("{} took {name} here", of_warp(&lock.holder)));
        }
        for t in tokens.iter().take(LISTED) {
            let label = format!("pushed the {} token that holds {}", word(t.token.kind), lanes(t.waiting));
            d = self.beside(d, t.pushed, label);
        }
        for Blocked { place, by, .. } in hang.blocked.iter().filter(waits).take(LISTED) {
            let label = format!("{} {} here for {}", of_warp(place), verb(&[place], "waits", "wait"), holds(by));
            d = self.beside(d, place.pc, label);
        }
        d.note(self.notes(tokens, place, hang)).hint(advice(hang, !tokens.is_empty()))
    }

    fn headline(&self, tokens: &[NeverPopped], hang: &Hang, read: Option<&SpinRead>) -> String {
        let spinners: Vec<&Place> = hang.spinners.iter().map(|s| &s.place).collect();
        let who = parties(&spinners);
        let spin = verb(&spinners, "spins", "spin");
        let on = read.filter(|r| !r.writers.is_empty()).map_or_else(String::new, |r| {
            format!(" on {}, which {} would write", location(r), parties(&r.writers.iter().collect::<Vec<_>>()))
        });
        match hang.class {
            Some(Class::SimtDeadlock) => {
                let held = tokens.first().map_or_else(String::new, |t| {
                    let (kind, waiting) = (word(t.token.kind), lanes(t.waiting));
                    format!(", but a {kind} token holds {waiting} until the others leave the loop")
                });
                format!("SIMT deadlock: {who} {spin}{on}{held}")
            }
            Some(Class::Starvation) => {
                let blocks = hang.unissued.map_or_else(String::new, |u| {
                    format!(", but block {} is not issued before another one ends", u.first)
                });
                format!("starvation between blocks: {who} {spin}{on}{blocks}")
            }
            Some(Class::Mixed) => {
                let waiting: Vec<&Place> = hang.blocked.iter().filter(waits).map(|b| &b.place).collect();
                let by = hang.blocked.iter().find(waits).map_or_else(String::new, |b| holds(&b.by));
                let wait = verb(&waiting, "waits", "wait");
                format!("mixed: {who} {spin}{on}, while {} {wait} for {by}", parties(&waiting))
            }
            Some(Class::Livelock) if !hang.locks.is_empty() => {
                let all = listed(&hang.locks, LISTED, waits_for, |n| format!("{n} locks more"));
                let name = if in_a_ring(hang) { "locks in a ring" } else { "a lock that is never given back" };
                format!("livelock, {name}: {}", all.join("; "))
            }
            Some(Class::Livelock) => {
                let nobody = if on.is_empty() { ", and nobody who is held up would end it" } else { "" };
                format!("livelock: {who} {spin} for ever{on}{nobody}")
            }
            None => match tokens.first() {
                Some(t) => format!(
                    "the run never ends: a {} token is never popped, and {} {} for it",
                    word(t.token.kind),
                    lanes(t.waiting),
                    if t.waiting.count_ones() == 1 { "waits" } else { "wait" },
                ),
                None => "the run never ends: the state of the whole device repeats".to_owned(),
            },
        }
    }

    fn notes(&self, tokens: &[NeverPopped], place: &Place, hang: &Hang) -> String {
        let more = |n| format!("and {n} more");
        let spins = |Spinner { place, code, .. }: &Spinner| {
            format!("{} {} through {}", party(place), verb(&[place], "goes", "go"), self.lines(code))
        };
        let reads = |read: &SpinRead| {
            let bytes = counted(read.bytes.into(), "byte");
            let by: Vec<String> =
                read.writers.iter().take(LISTED).map(|w| format!("{}{}", party(w), self.at_line(w.pc))).collect();
            let lock = hang.locks.iter().find(|l| (l.block, l.address) == (read.block, read.address));
            let by = if let Some(lock) = lock.filter(|_| by.is_empty()) {
                format!("{} took it{}, and nobody has given it back", party(&lock.holder), self.at_line(lock.holder.pc))
            } else if by.is_empty() {
                "nobody would write it".to_owned()
            } else {
                format!("would be written by {}", by.join(", "))
            };
            format!("{bytes} of {} ({:#x}) are read{}; {by}", location(read), read.address, self.values(read))
        };
        let blocked = |Blocked { place, by, .. }: &Blocked| {
            let (at, p) = (self.at_line(place.pc), party(place));
            match by {
                Holds::Token { token: t, pushed } => format!(
                    "{p} would go on{at}: held by {}{}",
                    token(t),
                    pushed.map_or_else(String::new, |pc| format!(", pushed{}", self.at_line(pc)))
                ),
                Holds::Nothing => format!("{p} could go on{at} now and then, which no fair scheduler must let it"),
                Holds::Barrier { .. } | Holds::Members { .. } => {
                    format!("{p} {}{at} for {}", verb(&[place], "waits", "wait"), holds(by))
                }
            }
        };
        let mut note = listed(&hang.spinners, LISTED, spins, more);
        note.extend(listed(&hang.reads, LISTED, reads, |n| format!("and {n} locations more")));
        note.extend(listed(&hang.blocked, LISTED, blocked, more));
        if let Some(u) = hang.unissued {
            note.push(format!(
                "block {} of {} is not issued: {} {} resident, and there is no room for another on the device",
                u.first,
                u.total,
                u.resident,
                plural(u.resident, "is")
            ));
        }
        for Stack { who, tokens } in hang.stacks.iter().take(LISTED) {
            let top: Vec<String> =
                tokens.iter().rev().map(|(t, pc)| format!("{} pushed{}", token(t), self.at_line(*pc))).collect();
            note.push(format!("tokens of warp {} in block {}, top first: {}", who.warp, who.block, top.join(" :: ")));
        }
        if hang.spinners.is_empty() {
            note.push(format!("by {}", who(place)));
            note.extend(tokens.iter().take(LISTED).map(|t| {
                let (warp, popped) = (t.place.warp, token(&t.token));
                format!("never popped in warp {warp}: {popped}, awaited by {}", lanes(t.waiting))
            }));
        }
        note.join("\n")
    }
}

/// What lanes wait for, e.g. `barrier 0, to which 2 of 4 threads have come`.
fn holds(by: &Holds) -> String {
    match by {
        Holds::Barrier { id, arrived, expected } => {
            format!("{}, to which {arrived} of {expected} threads have come", barrier(*id))
        }
        Holds::Members { mask } if *mask == !0 => "the other live lanes of the warp".to_owned(),
        Holds::Members { mask } => format!("the other members of mask {mask:#010x}"),
        Holds::Token { token: t, .. } => token(t),
        Holds::Nothing => "nobody".to_owned(),
    }
}
