//! Runs that never end: what they are called, who runs on, on what, and who does not come to end it.

use super::count::{counted, ranges, word};
use super::diagnostic::Diagnostic;
use super::safety::token;
use super::stop::StopReport;
use super::words::{lanes, place_in, who};
use crate::base::{LaneMask, Pc};
use crate::verdict::{
    AllocKind, Blocked, Class, Hang, Holds, Inside, Lock, NeverPopped, Place, SpinRead, Spinner, Stack,
};
use std::fmt::Write;

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
    format!("{} of warp {} in block ({x}, {y}, {z})", lanes(p.lanes), p.warp)
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
    let mut text: Vec<String> = merged.iter().take(LISTED).map(party).collect();
    if merged.len() > LISTED {
        text.push(format!("{} more", merged.len() - LISTED));
    }
    text.join(", ")
}

/// One form for one lane, another for several.
const fn plural(lanes: LaneMask, one: &'static str, many: &'static str) -> &'static str {
    if lanes.count_ones() == 1 { one } else { many }
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
    let one = matches!(&waiters[..], [p] if p.lanes.count_ones() == 1);
    format!(
        "{} {} on {}, which {} {}",
        parties(&waiters),
        if one { "spins" } else { "spin" },
        place_of(lock.inside.as_ref(), lock.address),
        party(&lock.holder),
        if lock.exited { "took and kept when it exited" } else { "holds" }
    )
}

fn values(read: &SpinRead) -> String {
    let mut text: Vec<String> = read.values.iter().take(LISTED).map(u64::to_string).collect();
    if read.values.len() > LISTED {
        text.push("…".to_owned());
    }
    if text.is_empty() { String::new() } else { format!(": {}", text.join(" or ")) }
}

impl StopReport<'_> {
    /// Lines of instructions, e.g. `lines 17-20`.
    fn lines(&self, code: &[Pc]) -> String {
        let mut all: Vec<usize> = code.iter().filter_map(|pc| Some(self.line(*pc)? as usize)).collect();
        all.sort_unstable();
        all.dedup();
        format!("{} {}", if all.len() == 1 { "line" } else { "lines" }, ranges(all))
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
        let here = (lanes(first.lanes), first.warp);
        d = d.label(match read.filter(|_| reader.is_some()) {
            Some(read) => format!(
                "{} of warp {} {} {} here, again and again{}",
                here.0,
                here.1,
                plural(first.lanes, "reads", "read"),
                location(read),
                values(read)
            ),
            None => format!(
                "{} of warp {} {} on here, in a state that repeats",
                here.0,
                here.1,
                plural(first.lanes, "runs", "run")
            ),
        });
        for writer in read.iter().flat_map(|r| &r.writers).take(LISTED) {
            let label = format!("{} of warp {} would write it here", lanes(writer.lanes), writer.warp);
            d = self.beside(d, writer.pc, label);
        }
        for lock in hang.locks.iter().take(LISTED) {
            let name = place_of(lock.inside.as_ref(), lock.address);
            let label = format!("{} of warp {} took {name} here", lanes(lock.holder.lanes), lock.holder.warp);
            d = self.beside(d, lock.holder.pc, label);
        }
        for t in tokens.iter().take(LISTED) {
            let label = format!("pushed the {} token that holds {}", word(t.token.kind), lanes(t.waiting));
            d = self.beside(d, t.pushed, label);
        }
        for blocked in
            hang.blocked.iter().filter(|b| matches!(b.by, Holds::Barrier { .. } | Holds::Members { .. })).take(LISTED)
        {
            let label = format!(
                "{} of warp {} {} here for {}",
                lanes(blocked.place.lanes),
                blocked.place.warp,
                plural(blocked.place.lanes, "waits", "wait"),
                holds(&blocked.by)
            );
            d = self.beside(d, blocked.place.pc, label);
        }
        d.note(self.notes(tokens, place, hang)).hint(advice(hang, !tokens.is_empty()))
    }

    fn headline(&self, tokens: &[NeverPopped], hang: &Hang, read: Option<&SpinRead>) -> String {
        let spinners: Vec<&Place> = hang.spinners.iter().map(|s| &s.place).collect();
        let who = parties(&spinners);
        let one = matches!(&spinners[..], [p] if p.lanes.count_ones() == 1);
        let spin = if one { "spins" } else { "spin" };
        let on = read.filter(|r| !r.writers.is_empty()).map_or_else(String::new, |r| {
            format!(" on {}, which {} would write", location(r), parties(&r.writers.iter().collect::<Vec<_>>()))
        });
        match hang.class {
            Some(Class::SimtDeadlock) => {
                let held = match tokens.first() {
                    Some(t) => format!(
                        ", but a {} token holds {} until the others leave the loop",
                        word(t.token.kind),
                        lanes(t.waiting)
                    ),
                    None => String::new(),
                };
                format!("SIMT deadlock: {who} {spin}{on}{held}")
            }
            Some(Class::Starvation) => {
                let blocks = hang.unissued.map_or_else(String::new, |u| {
                    format!(", but block {} is not issued before another one ends", u.first)
                });
                format!("starvation between blocks: {who} {spin}{on}{blocks}")
            }
            Some(Class::Mixed) => {
                let waiting = |b: &&Blocked| matches!(b.by, Holds::Barrier { .. } | Holds::Members { .. });
                let waits: Vec<&Place> = hang.blocked.iter().filter(waiting).map(|b| &b.place).collect();
                let by = hang.blocked.iter().find(waiting).map_or_else(String::new, |b| holds(&b.by));
                let wait = if matches!(&waits[..], [p] if p.lanes.count_ones() == 1) { "waits" } else { "wait" };
                format!("mixed: {who} {spin}{on}, while {} {wait} for {by}", parties(&waits))
            }
            Some(Class::Livelock) if !hang.locks.is_empty() => {
                let mut all: Vec<String> = hang.locks.iter().take(LISTED).map(waits_for).collect();
                if hang.locks.len() > LISTED {
                    all.push(format!("{} locks more", hang.locks.len() - LISTED));
                }
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
                    plural(t.waiting, "waits", "wait"),
                ),
                None => "the run never ends: the state of the whole device repeats".to_owned(),
            },
        }
    }

    fn notes(&self, tokens: &[NeverPopped], place: &Place, hang: &Hang) -> String {
        let mut note = Vec::new();
        for Spinner { place, code, .. } in hang.spinners.iter().take(LISTED) {
            let runs = plural(place.lanes, "goes", "go");
            note.push(format!("{} {runs} through {}", party(place), self.lines(code)));
        }
        if hang.spinners.len() > LISTED {
            note.push(format!("and {} more", hang.spinners.len() - LISTED));
        }
        for read in hang.reads.iter().take(LISTED) {
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
            note.push(format!("{bytes} of {} ({:#x}) are read{}; {by}", location(read), read.address, values(read)));
        }
        if hang.reads.len() > LISTED {
            note.push(format!("and {} locations more", hang.reads.len() - LISTED));
        }
        for Blocked { place, by, .. } in hang.blocked.iter().take(LISTED) {
            let (at, p) = (self.at_line(place.pc), party(place));
            note.push(match by {
                Holds::Token { token: t, pushed } => format!(
                    "{p} would go on{at}: held by {}{}",
                    token(t),
                    pushed.map_or_else(String::new, |pc| format!(", pushed{}", self.at_line(pc)))
                ),
                Holds::Nothing => format!("{p} could go on{at} now and then, which no fair scheduler must let it"),
                Holds::Barrier { .. } | Holds::Members { .. } => {
                    format!("{p} {}{at} for {}", plural(place.lanes, "waits", "wait"), holds(by))
                }
            });
        }
        if hang.blocked.len() > LISTED {
            note.push(format!("and {} more", hang.blocked.len() - LISTED));
        }
        if let Some(u) = hang.unissued {
            note.push(format!(
                "block {} of {} is not issued: {} {} resident, and there is no room for another on the device",
                u.first,
                u.total,
                u.resident,
                if u.resident == 1 { "is" } else { "are" }
            ));
        }
        for Stack { who, tokens } in hang.stacks.iter().take(LISTED) {
            let top: Vec<String> =
                tokens.iter().rev().map(|(t, pc)| format!("{} pushed{}", token(t), self.at_line(*pc))).collect();
            note.push(format!("tokens of warp {} in block {}, top first: {}", who.warp, who.block, top.join(" :: ")));
        }
        if hang.spinners.is_empty() {
            note.push(format!("by {}", who(place)));
            for t in tokens.iter().take(LISTED) {
                let mut text = String::new();
                let _ = write!(
                    text,
                    "never popped in warp {}: {}, awaited by {}",
                    t.place.warp,
                    token(&t.token),
                    lanes(t.waiting)
                );
                note.push(text);
            }
        }
        note.join("\n")
    }
}

/// What lanes wait for, e.g. `barrier 0, to which 2 of 4 threads have come`.
fn holds(by: &Holds) -> String {
    match by {
        Holds::Barrier { id, arrived, expected } => {
            format!("barrier {id}, to which {arrived} of {expected} threads have come")
        }
        Holds::Members { mask } if *mask == !0 => "the other live lanes of the warp".to_owned(),
        Holds::Members { mask } => format!("the other members of mask {mask:#010x}"),
        Holds::Token { token: t, .. } => token(t),
        Holds::Nothing => "nobody".to_owned(),
    }
}
