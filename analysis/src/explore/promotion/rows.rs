//! States of the machine that a search has met, as rows of bytes.

use super::pack::Format;
use crate::explore::breadth::Kept;
use crate::explore::space::Table;
use crate::memory::rsp::{Program, System};
use xxhash_rust::xxh3::xxh3_64;

/// The rows of all states, one behind the other, and where each begins.
pub(super) struct Rows<'a> {
    program: &'a Program,
    format: Format,
    table: Table,
    rows: Vec<u8>,
    starts: Vec<usize>,
}

impl<'a> Rows<'a> {
    pub fn new(program: &'a Program, format: Format) -> Self {
        Self { program, format, table: Table::default(), rows: Vec::new(), starts: Vec::new() }
    }
}

impl Kept for Rows<'_> {
    type State = System;

    fn number(&mut self, system: &System) -> (u32, bool) {
        let start = self.rows.len();
        self.format.pack(self.program, system, &mut self.rows);
        let (before, row) = self.rows.split_at(start);
        let fresh = self.starts.len() as u32;
        let hash = xxh3_64(row);
        let starts = &self.starts;
        let same = |s: u32| {
            let end = starts.get(s as usize + 1).copied().unwrap_or(start);
            &before[starts[s as usize]..end] == row
        };
        let found = self.table.find_or_insert((hash >> 32) as u32 ^ hash as u32, fresh, same);
        if found == fresh {
            self.starts.push(start);
        } else {
            self.rows.truncate(start);
        }
        (found, found == fresh)
    }

    fn state(&self, number: u32) -> System {
        let start = self.starts[number as usize];
        let end = self.starts.get(number as usize + 1).copied().unwrap_or(self.rows.len());
        self.format.unpack(self.program, &self.rows[start..end])
    }

    fn len(&self) -> usize {
        self.starts.len()
    }

    fn table(&self) -> &Table {
        &self.table
    }

    fn bytes(&self) -> usize {
        self.rows.len() + size_of_val(&self.starts[..])
    }

    fn clear(&mut self) {
        self.table.clear();
        self.rows.clear();
        self.starts.clear();
    }
}
