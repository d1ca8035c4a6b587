//! Logs about a project: several runs in one, with places in the project's own sources.

use super::{Log, related};
use crate::base::Pc;
use crate::report::location::{name_of, uri};
use crate::report::roots::{Roots, Spot};
use crate::report::stop::StopReport;
use serde_json::{Value, json};

impl Log {
    /// A log without results about a project: its results lie on lines of CUDA source, where the project has them, and names
    /// of files are relative to its root.
    #[must_use]
    pub fn of_project(roots: Roots) -> Self {
        Self { roots: Some(roots), ..Self::default() }
    }

    /// Adds a rule that is no kind of defect; one that is there stays.
    pub fn rule(&mut self, id: &'static str, short: &str, full: &str) {
        let value = json!({ "id": id, "shortDescription": { "text": short }, "fullDescription": { "text": full },
                            "defaultConfiguration": { "level": "error" } });
        self.rules.entry(id).or_insert(value);
    }

    /// How many results it has.
    #[must_use]
    pub fn results(&self) -> usize {
        self.results.len()
    }

    /// Adds a property to a result.
    pub fn describe(&mut self, result: usize, name: &str, value: Value) {
        if let Some(result) = self.results.get_mut(result) {
            result["properties"][name] = value;
        }
    }

    /// A result is what its test wants (3.35: accepted, in the source).
    pub fn accept(&mut self, result: usize, why: &str) {
        if let Some(result) = self.results.get_mut(result) {
            result["suppressions"] = json!([{ "kind": "inSource", "status": "accepted", "justification": why }]);
        }
    }

    /// Adds the results and notifications of another log.
    pub fn append(&mut self, other: Self) {
        for (id, rule) in other.rules {
            self.rules.entry(id).or_insert(rule);
        }
        for mut result in other.results {
            // Each log has the rules of its own complaints in the order in which they came.
            let index = result["ruleId"].as_str().and_then(|id| self.rules.get_index_of(id));
            if let Some(index) = index {
                result["ruleIndex"] = index.into();
            }
            self.results.push(result);
        }
        self.execution.extend(other.execution);
        self.configuration.extend(other.configuration);
    }

    /// Makes all names of files relative to the root of the project, if the log is about one.
    pub(super) fn place_in_project(&mut self) {
        let Some(roots) = self.roots.take() else { return };
        let lists = [&mut self.results, &mut self.execution, &mut self.configuration];
        lists.into_iter().flatten().for_each(|value| relative(value, &roots));
    }
}

fn relative(value: &mut Value, roots: &Roots) {
    match value {
        Value::Object(all) => {
            if let Some(Value::String(text)) =
                all.get_mut("artifactLocation").and_then(|artifact| artifact.get_mut("uri"))
            {
                *text = uri(&roots.relative(&name_of(text)));
            }
            all.values_mut().for_each(|value| relative(value, roots));
        }
        Value::Array(all) => all.iter_mut().for_each(|value| relative(value, roots)),
        _ => {}
    }
}

/// Puts a result on the line of the project's source of an instruction, if there is one; the PTX is a related location then.
pub(super) fn prefer_source(result: &mut Value, report: &StopReport<'_>, pc: Pc, roots: &Roots) {
    let Some(Spot { file, line, column }) = roots.cuda(report, pc) else { return };
    let mut region = json!({ "startLine": line });
    if column > 0 {
        region["startColumn"] = column.into();
    }
    let place = json!({ "artifactLocation": { "uri": uri(&roots.absolute(&file)) }, "region": region });
    let ptx = std::mem::replace(&mut result["locations"], json!([]));
    let mut main = ptx.get(0).cloned().unwrap_or_else(|| json!({}));
    main["physicalLocation"] = place;
    result["locations"] = json!([main]);
    related(result, ptx.as_array().into_iter().flatten().cloned());
}
