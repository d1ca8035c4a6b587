//! The table of rules: what `warpstep rules` prints.
//!
//! `rule_table.tsv` is made and checked by `tests/rules.rs`.

use super::parts::Exit;
use crate::verdict::Rule;
use serde::Serialize;

/// A rule of the report as the table has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleRow {
    /// The rule.
    #[serde(rename = "id")]
    pub rule: Rule,
    /// The file that it stands in.
    pub home: &'static str,
    /// The number of examples in which it fires.
    #[serde(rename = "fires_in")]
    pub fires: u32,
    /// What it does.
    pub title: &'static str,
}

const TABLE: &str = include_str!("rule_table.tsv");

/// The table's rows, in the order of [`Rule::ALL`]. A rule that the table lacks has an empty row.
#[must_use]
pub fn rows() -> Vec<RuleRow> {
    let row = |rule: &Rule| {
        let line = TABLE.lines().find(|l| l.split('\t').next() == Some(rule.id()));
        let mut cells = line.unwrap_or("").split('\t').skip(1);
        let mut next = || cells.next().unwrap_or("");
        let (home, fires, title) = (next(), next(), next());
        RuleRow { rule: *rule, home, fires: fires.parse().unwrap_or(0), title }
    };
    Rule::ALL.iter().map(row).collect()
}

/// Rows as aligned text, with a line that sums up.
#[must_use]
pub fn text(rows: &[RuleRow]) -> String {
    let width = |cell: fn(&RuleRow) -> usize| rows.iter().map(cell).max().unwrap_or(0);
    let (ids, homes) = (width(|r| r.rule.id().len()).max(4), width(|r| r.home.len()).max(4));
    let mut out = format!("{:ids$}  fires in  {:homes$}  what it does\n", "rule", "home");
    for row in rows {
        out += format!("{:ids$}  {:>8}  {:homes$}  {}", row.rule.id(), row.fires, row.home, row.title).trim_end();
        out.push('\n');
    }
    let fire = rows.iter().filter(|r| r.fires > 0).count();
    out + &format!("{} rules; {fire} fire in the examples\n", rows.len())
}

/// The rules of the report.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rules<'a> {
    /// The exit code.
    pub exit: Exit,
    /// The rules, in the order of the report.
    pub rules: &'a [RuleRow],
}
