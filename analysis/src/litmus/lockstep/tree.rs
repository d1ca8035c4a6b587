//! What a test for wavefronts says: its columns, and rows of which each is one instruction of every wavefront that has a cell in it.

use super::column::Column;
use crate::base::{Placed, Span, words};
use crate::litmus::tree::{Arith, Atom, Ident, Relation, Value};

/// Locations have so many bytes; accesses are to all of them or to some.
pub const LOCATION: u32 = 8;

words! {
    /// How many bytes an access is to, by what stands behind the dot.
    #[expect(missing_docs, reason = "the sizes of PTX")]
    pub enum Size {
        B8 = "b8",
        B16 = "b16",
        B32 = "b32",
        B64 = "b64",
    }
}

impl Size {
    /// In bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::B8 => 1,
            Self::B16 => 2,
            Self::B32 => 4,
            Self::B64 => 8,
        }
    }
}

/// Bytes of a location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The location.
    pub location: Ident,
    /// The first byte that is accessed.
    pub offset: u32,
    /// How many are.
    pub size: Size,
}

/// A comparison by which lanes go into a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// How.
    pub relation: Relation,
    /// What.
    pub left: Value,
    /// With what.
    pub right: Value,
}

/// What a lane does in a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// `ld.b32 r0, x+4`
    Load {
        /// The register, whose upper bytes become zero.
        to: Ident,
        /// From where.
        from: Spot,
    },
    /// `st.b32 x+4, 1`
    Store {
        /// Where to.
        to: Spot,
        /// What; the upper bytes are left out.
        value: Value,
    },
    /// `atom.add.b32 r0, x, 1`; a `cas` has what it stores behind what it compares with.
    Atomic {
        /// What becomes of the location.
        op: Atom,
        /// The register that has what was there.
        to: Ident,
        /// Where.
        at: Spot,
        /// The operand.
        value: Value,
        /// Of a `cas`: what it stores.
        new: Option<Value>,
    },
    /// `mov r0, 1`
    Move {
        /// The register.
        to: Ident,
        /// Its value.
        value: Value,
    },
    /// `add r0, r1, 1`
    Compute {
        /// How.
        op: Arith,
        /// The register.
        to: Ident,
        /// What.
        left: Value,
        /// With what.
        right: Value,
    },
    /// `if r0 == 1`: the lanes of which this holds go through the rows up to `end`, the others wait there.
    If(Test),
    /// `while r0 == 0`: the same as long as it holds of some.
    While(Test),
    /// `end`
    End,
}

impl Op {
    /// Whether both can be one instruction of a wavefront: operands may differ from lane to lane.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Load { from: one, .. }, Self::Load { from: other, .. })
            | (Self::Store { to: one, .. }, Self::Store { to: other, .. }) => one.size == other.size,
            (Self::Atomic { op, at, .. }, Self::Atomic { op: other, at: there, .. }) => {
                op == other && at.size == there.size
            }
            (Self::Compute { op, .. }, Self::Compute { op: other, .. }) => op == other,
            (Self::If(one), Self::If(other)) | (Self::While(one), Self::While(other)) => one.relation == other.relation,
            (Self::Move { .. }, Self::Move { .. }) | (Self::End, Self::End) => true,
            _ => false,
        }
    }

    /// The registers and numbers that it reads.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let list: [Option<&Value>; 2] = match self {
            Self::Store { value, .. } | Self::Move { value, .. } => [Some(value), None],
            Self::Atomic { value, new, .. } => [Some(value), new.as_ref()],
            Self::Compute { left, right, .. }
            | Self::If(Test { left, right, .. })
            | Self::While(Test { left, right, .. }) => [Some(left), Some(right)],
            Self::Load { .. } | Self::End => [None, None],
        };
        list.into_iter().flatten()
    }

    /// The register that it writes.
    #[must_use]
    pub const fn target(&self) -> Option<&Ident> {
        match self {
            Self::Load { to, .. } | Self::Atomic { to, .. } | Self::Move { to, .. } | Self::Compute { to, .. } => {
                Some(to)
            }
            _ => None,
        }
    }

    /// What it accesses.
    #[must_use]
    pub const fn spot(&self) -> Option<&Spot> {
        match self {
            Self::Load { from: spot, .. } | Self::Store { to: spot, .. } | Self::Atomic { at: spot, .. } => Some(spot),
            _ => None,
        }
    }
}

/// A cell that is not empty.
pub type Cell = Placed<Op>;

/// The program of a test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The columns, each with the place of its head.
    pub columns: Vec<(Column, Span)>,
    /// The rows; a row has a cell for each column, none where the lane is masked.
    pub rows: Vec<Vec<Option<Cell>>>,
}

impl Program {
    /// The columns that are in lockstep, by their positions: the wavefronts, and the threads of CPUs each by itself.
    #[must_use]
    pub fn waves(&self) -> Vec<Vec<usize>> {
        let mut all: Vec<((bool, u32), Vec<usize>)> = Vec::new();
        for (k, (column, _)) in self.columns.iter().enumerate() {
            match all.iter_mut().find(|(wave, _)| *wave == column.wave()) {
                Some((_, list)) => list.push(k),
                None => all.push((column.wave(), vec![k])),
            }
        }
        all.into_iter().map(|(_, list)| list).collect()
    }

    /// The cells of a column.
    pub fn cells(&self, column: usize) -> impl Iterator<Item = &Cell> {
        self.rows.iter().filter_map(move |row| row.get(column)?.as_ref())
    }

    /// Rows in which some of these columns have a cell: the row's number, and the cells by position among these columns.
    pub fn rows_of<'a>(&'a self, columns: &'a [usize]) -> impl Iterator<Item = (usize, Vec<(usize, &'a Cell)>)> + 'a {
        let cells = move |row: &'a Vec<Option<Cell>>| -> Vec<(usize, &'a Cell)> {
            columns.iter().enumerate().filter_map(|(k, column)| Some((k, row.get(*column)?.as_ref()?))).collect()
        };
        self.rows.iter().map(cells).enumerate().filter(|(_, cells)| !cells.is_empty())
    }
}
