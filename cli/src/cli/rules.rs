//! `warpstep rules`

use super::form::{Form, PLAIN};
use super::output;
use super::target::one_of;
use crate::launch::ProblemKind;
use crate::report::document::Report;
use crate::report::parts::Exit;
use crate::report::rule_table;
use clap::Args;

/// List the rules of the report: where each stands in the code, and in how many examples it fires.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep rules
  warpstep rules crs cache.read

spec-notes/ says what each rule does, and what was decided where the report leaves something open.")]
pub(super) struct Rules {
    /// Only rules whose ids begin like this, e.g. crs or cache.read.
    prefixes: Vec<String>,

    /// The form of the table.
    #[arg(long, value_parser = one_of(&PLAIN), default_value = "text")]
    format: Form,
}

impl Rules {
    /// Runs the command; gives the exit code.
    pub fn execute(&self) -> u8 {
        let mut rows = rule_table::rows();
        let begins = |id: &str, prefix: &String| id.starts_with(prefix.as_str());
        let strange = self.prefixes.iter().find(|p| !rows.iter().any(|r| begins(r.rule.id(), p)));
        if let Some(prefix) = strange {
            let form = "the beginning of a rule's id, e.g. crs or cache.read";
            return output::refuse(ProblemKind::BadFlag { flag: "PREFIX", text: prefix.clone(), form }, self.format);
        }
        rows.retain(|r| self.prefixes.is_empty() || self.prefixes.iter().any(|p| begins(r.rule.id(), p)));
        if self.format == Form::Text {
            output::say(rule_table::text(&rows));
        } else {
            output::print_json(&Report::Rules(rule_table::Rules { exit: Exit(0), rules: &rows }));
        }
        0
    }
}
