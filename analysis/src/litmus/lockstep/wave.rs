//! Columns in lockstep, and where what they do is.

use super::bytes::Cuts;
use super::tree::{Cell, Op, Program, Spot};
use crate::axiom::{Place, Sources};
use crate::litmus::tree::{DeclKind, Ident, Initial, Litmus, Value};
use indexmap::IndexSet;

/// A value, and the reads that it depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Data {
    pub(super) value: Option<u64>,
    pub(super) from: Sources,
}

impl Data {
    pub(super) fn constant(value: u64) -> Self {
        Self { value: Some(value), from: Sources::new() }
    }
}

/// An atomic operation, as a bit of the sets of events.
pub(super) const RMW: u64 = 1;

/// Where everything is that wavefronts access and stand at.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// How many columns there are.
    pub(super) columns: usize,
    pub(super) locations: IndexSet<String>,
    pub(super) cuts: Cuts,
}

impl Layout {
    /// Where an instruction of a column stands, as one number.
    pub(super) fn origin(&self, row: usize, column: usize) -> u32 {
        u32::try_from(row * self.columns + column).unwrap_or(u32::MAX)
    }

    /// The row and the column of such a number.
    pub(super) fn stands(&self, origin: u32) -> (usize, usize) {
        (origin as usize / self.columns.max(1), origin as usize % self.columns.max(1))
    }

    /// The bytes that an access is to.
    pub(super) fn place(&self, spot: &Spot) -> Place {
        let location = self.locations.get_index_of(spot.location.name.as_str()).unwrap_or(0);
        let location = u32::try_from(location).unwrap_or(u32::MAX);
        Place { location, address: location, offset: spot.offset, bytes: spot.size.bytes() }
    }

    /// The parts of a place: where each begins in its location, and how many bytes it has.
    pub(super) fn parts(&self, place: Place) -> Vec<(u32, u32)> {
        self.cuts.parts(place.location, place.offset, place.bytes)
    }
}

/// A row of a group in which some of its columns have a cell.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Its number in the file.
    pub(super) number: usize,
    /// The cells, by the places of their columns in the group.
    pub(super) cells: Vec<(usize, Cell)>,
    /// Of `if` and `while`: the place of their `end` among the group's rows.
    pub(super) end: usize,
}

/// Columns in lockstep.
#[derive(Clone, Debug)]
pub(super) struct Wave {
    /// The columns, by their positions in the file.
    pub(super) columns: Vec<usize>,
    pub(super) rows: Vec<Row>,
    /// The names of registers; each lane has one of each.
    pub(super) names: IndexSet<String>,
    /// The registers of each lane at the start.
    pub(super) initial: Vec<Vec<Data>>,
    /// The registers that are asked about, by lane and number.
    pub(super) asked: Vec<(usize, usize)>,
}

impl Wave {
    /// The number of a register that the group has.
    pub(super) fn register(&self, ident: &Ident) -> usize {
        self.names.get_index_of(ident.name.as_str()).unwrap_or(0)
    }

    /// A group of columns.
    pub(super) fn of(program: &Program, columns: Vec<usize>) -> Self {
        let rows = program.rows_of(&columns);
        let owned = |(number, cells): (usize, Vec<(usize, &Cell)>)| Row {
            number,
            cells: cells.into_iter().map(|(lane, cell)| (lane, cell.clone())).collect(),
            end: 0,
        };
        let mut rows: Vec<Row> = rows.map(owned).collect();
        let mut open = Vec::new();
        for at in 0..rows.len() {
            match rows[at].cells[0].1.kind {
                Op::If(_) | Op::While(_) => open.push(at),
                Op::End => {
                    if let Some(head) = open.pop() {
                        let head: usize = head;
                        rows[head].end = at;
                    }
                }
                _ => {}
            }
        }
        let mut names = IndexSet::new();
        for cell in rows.iter().flat_map(|row| &row.cells).map(|(_, cell)| cell) {
            names.extend(registers(&cell.kind).map(|ident| ident.name.clone()));
        }
        Self { columns, rows, names, initial: Vec::new(), asked: Vec::new() }
    }

    /// What begins in its registers: zero where nothing else is said.
    pub(super) fn begin(&mut self, litmus: &Litmus, program: &Program) {
        for decl in &litmus.init {
            if let DeclKind::Register { name, .. } = &decl.kind {
                self.names.insert(name.name.clone());
            }
        }
        self.initial = vec![vec![Data::constant(0); self.names.len()]; self.columns.len()];
        for decl in &litmus.init {
            let DeclKind::Register { thread, name, value: Initial::Number(n), .. } = &decl.kind else { continue };
            let lane = self.columns.iter().position(|column| program.columns[*column].0.number() == *thread);
            if let Some(lane) = lane {
                let register = self.register(name);
                self.initial[lane][register] = Data::constant(n.cast_unsigned());
            }
        }
    }
}

/// The registers that an instruction names.
fn registers(op: &Op) -> impl Iterator<Item = &Ident> {
    let read = op.values().filter_map(|value| match value {
        Value::Register(ident) => Some(ident),
        Value::Number(..) => None,
    });
    op.target().into_iter().chain(read)
}
