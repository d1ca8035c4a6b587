//! The rows of tests for wavefronts as text.

use super::tree::{Op, Program, Size, Spot, Test};
use std::fmt::{Display, Formatter, Result};

/// Heads and rows, in columns.
#[must_use]
pub fn print(program: &Program) -> String {
    let heads: Vec<String> = program.columns.iter().map(|(column, _)| column.to_string()).collect();
    let cell = |cell: &Option<super::Cell>| cell.as_ref().map_or_else(String::new, |cell| cell.kind.to_string());
    let rows = program.rows.iter().map(|row| row.iter().map(cell).collect());
    let all: Vec<Vec<String>> = [heads].into_iter().chain(rows).collect();
    let width = |k: usize| all.iter().filter_map(|row| row.get(k)).map(String::len).max().unwrap_or(0);
    let mut out = String::new();
    for row in &all {
        let cells = row.iter().enumerate().map(|(k, cell)| format!(" {cell:w$} ", w = width(k)));
        out.push_str(&cells.collect::<Vec<_>>().join("|"));
        out.push_str(";\n");
    }
    out
}

/// The size behind a dot; all of a location needs none.
fn size(size: Size) -> String {
    if size == Size::B64 { String::new() } else { format!(".{}", size.name()) }
}

impl Display for Spot {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.location.name)?;
        if self.offset > 0 { write!(f, "+{}", self.offset) } else { Ok(()) }
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {} {}", self.left, self.relation, self.right)
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Load { to, from } => write!(f, "ld{} {}, {from}", size(from.size), to.name),
            Self::Store { to, value } => write!(f, "st{} {to}, {value}", size(to.size)),
            Self::Atomic { op, to, at, value, new } => {
                write!(f, "atom.{}{} {}, {at}, {value}", op.name(), size(at.size), to.name)?;
                new.as_ref().map_or(Ok(()), |new| write!(f, ", {new}"))
            }
            Self::Move { to, value } => write!(f, "mov {}, {value}", to.name),
            Self::Compute { op, to, left, right } => write!(f, "{} {}, {left}, {right}", op.name(), to.name),
            Self::If(test) => write!(f, "if {test}"),
            Self::While(test) => write!(f, "while {test}"),
            Self::End => f.write_str("end"),
        }
    }
}
