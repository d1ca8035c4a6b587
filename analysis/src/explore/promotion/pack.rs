//! States as rows of bytes: what a program does not use takes no room.

use super::grain::Grain;
use crate::memory::rsp::{Cache, Entry, Fifo, Hygiene, Location, Lock, Mark, Place, Program, Source, System};

const PRESENT: u8 = 1;
const DIRTY: u8 = 2;
const VALID: u8 = 4;

/// How states are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// Whether the ghost is part of a state.
    pub ghost: bool,
    /// What of an entry is told apart: one that is clean and not valid is as good as none (D-rsp-reduced).
    pub grain: Grain,
    /// Whether the L2 cache has what memory has, and is left out.
    pub below: bool,
}

/// A number in few bytes where it is small: seven bits a byte, the sign in the lowest bit.
fn number(value: i32, out: &mut Vec<u8>) {
    let mut rest = (value << 1 ^ value >> 31).cast_unsigned();
    while rest > 0x7f {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// What is left of a row.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn number(&mut self) -> i32 {
        let (mut value, mut shift) = (0_u32, 0);
        loop {
            let byte = self.byte();
            value |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return (value >> 1).cast_signed() ^ -(value & 1).cast_signed();
            }
            shift += 7;
        }
    }

    fn bytes(&mut self, count: usize) -> &[u8] {
        let (first, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        first
    }
}

impl Format {
    /// Appends a state.
    pub fn pack(self, program: &Program, system: &System, out: &mut Vec<u8>) {
        let threads = program.threads().len();
        out.extend_from_slice(&system.next[..threads]);
        system.registers[..program.registers()].iter().for_each(|r| number(*r, out));
        for group in 0..program.group_count() {
            self.cache(program, &system.l1[group], out);
            out.push(system.rmw[group].byte());
        }
        let locations = program.initial().len();
        for device in 0..program.device_count() {
            if !self.below {
                self.cache(program, &system.l2[device], out);
            }
            out.extend(system.lockfile[device][..locations].iter().map(|l| l.byte()));
        }
        for (value, source) in &system.global[..locations] {
            number(*value, out);
            out.extend(self.ghost.then_some(source.0));
        }
        if self.ghost {
            let events = program.events().len();
            out.extend_from_slice(&system.ghost.reads[..events]);
            out.extend(system.ghost.place[..events].iter().map(|p| p.0));
            out.extend_from_slice(&system.ghost.rank[..events]);
        }
    }

    fn cache(self, program: &Program, cache: &Cache, out: &mut Vec<u8>) {
        for entry in &cache.entries[..program.initial().len()] {
            let dirty = entry.hygiene == Hygiene::Dirty;
            if !entry.present || self.grain == Grain::Needed && !dirty && !entry.valid {
                out.push(0);
                continue;
            }
            let flag = |holds: bool, flag: u8| if holds { flag } else { 0 };
            out.push(PRESENT | flag(dirty, DIRTY) | flag(entry.valid, VALID));
            number(entry.value, out);
            out.extend(self.ghost.then_some(entry.source.0));
        }
        let fifo = cache.fifo.bytes();
        out.push(fifo.len() as u8);
        out.extend_from_slice(fifo);
    }

    /// The state of a row.
    pub fn unpack(self, program: &Program, row: &[u8]) -> System {
        let mut rest = Rest(row);
        let mut system = System::default();
        let threads = program.threads().len();
        system.next[..threads].copy_from_slice(rest.bytes(threads));
        for register in 0..program.registers() {
            system.registers[register] = rest.number();
        }
        let locations = program.initial().len();
        for group in 0..program.group_count() {
            self.uncache(locations, &mut system.l1[group], &mut rest);
            system.rmw[group] = Lock::of(rest.byte());
        }
        for device in 0..program.device_count() {
            if !self.below {
                self.uncache(locations, &mut system.l2[device], &mut rest);
            }
            for at in 0..locations {
                system.lockfile[device][at] = Lock::of(rest.byte());
            }
        }
        for cell in &mut system.global[..locations] {
            let value = rest.number();
            *cell = (value, Source(if self.ghost { rest.byte() } else { 0 }));
        }
        if self.below {
            system.fill_l2(locations);
        }
        if self.ghost {
            let events = program.events().len();
            system.ghost.reads[..events].copy_from_slice(rest.bytes(events));
            system.ghost.place[..events].iter_mut().for_each(|p| *p = Place(rest.byte()));
            system.ghost.rank[..events].copy_from_slice(rest.bytes(events));
        }
        let caches = system.l1[..program.group_count()].iter().chain(&system.l2[..program.device_count()]);
        for mark in caches.flat_map(|c| c.fifo.iter()) {
            if let Mark::Flush(thread) = mark {
                system.markers[usize::from(thread)] += 1;
            }
        }
        system
    }

    fn uncache(self, locations: usize, cache: &mut Cache, rest: &mut Rest<'_>) {
        for entry in &mut cache.entries[..locations] {
            let flags = rest.byte();
            if flags != 0 {
                let hygiene = if flags & DIRTY == 0 { Hygiene::Clean } else { Hygiene::Dirty };
                let value = rest.number();
                let source = Source(if self.ghost { rest.byte() } else { 0 });
                *entry = Entry { value, source, present: true, hygiene, valid: flags & VALID != 0 };
            }
        }
        let length = usize::from(rest.byte());
        cache.fifo = Fifo::of(rest.bytes(length));
    }
}

/// The location of a number.
pub(super) fn location(at: usize) -> Location {
    Location(u8::try_from(at).unwrap_or(u8::MAX))
}
