//! `warpstep litmus --expected`

use super::form::Form;
use super::litmus::{Litmus, code};
use super::litmus_models::{Loaded, one};
use super::litmus_test::{Question, read, usual_bound};
use super::output;
use crate::axiom::Limits;
use crate::base::SourceMap;
use crate::launch::open;
use crate::litmus::Property;
use crate::litmus::table::{Row, table};
use crate::machine::Bounds;
use crate::report::document::Report;
use crate::report::litmus::{Answer, ExpectedRow, ExpectedVerdicts, said, table_diagnostic, up_to};
use crate::report::parts::Exit;
use crate::report::worst;
use indexmap::IndexMap;
use std::path::Path;

impl Litmus {
    /// Checks a table of verdicts; gives the exit code.
    pub(super) fn table(&self, path: &Path, bounds: &Bounds) -> Result<u8, u8> {
        let mut sources = SourceMap::default();
        let file = open(path, &mut sources).map_err(|kind| output::refuse(kind, self.format))?;
        let text = sources.get(file).map_or_else(String::new, |source| source.text.clone());
        let (rows, errors) = table(file, &text);
        if !errors.is_empty() {
            let all = errors.iter().map(|e| table_diagnostic(e, &sources));
            return Err(output::diagnostics(all, &sources, self.format));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut models: IndexMap<String, Loaded> = IndexMap::new();
        for row in &rows {
            if !models.contains_key(&row.model) {
                let beside = folder.join(&row.model);
                let name = if beside.extension().is_some_and(|e| e == "cat") {
                    beside.display().to_string()
                } else {
                    row.model.clone()
                };
                let loaded = one(&name, &mut sources).map_err(|failed| failed.tell(&sources, self.format))?;
                models.insert(row.model.clone(), loaded);
            }
        }
        let line = |row: &Row| sources.get(file).map_or(0, |source| source.line_col(row.span.start).0);
        let answers = self.parallel(&rows, |row| self.row(row, line(row), folder, &models[&row.model], bounds));
        let answers: Vec<ExpectedRow> =
            answers.into_iter().collect::<Result<_, _>>().map_err(|error| self.internal(error))?;
        let differs = |row: &ExpectedRow| match row.answer {
            Answer::Pass | Answer::Fail => u8::from(!row.agrees()),
            other => code(other),
        };
        let code = worst(answers.iter().map(differs));
        let verdicts = ExpectedVerdicts::new(Exit(code), path.display().to_string(), answers);
        if self.format == Form::Text {
            output::say(verdicts.text());
        } else {
            output::print_json(&Report::Expected(verdicts));
        }
        Ok(code)
    }

    /// Answers a row; an error of ours otherwise.
    fn row(
        &self,
        row: &Row,
        line: u32,
        folder: &Path,
        loaded: &Loaded,
        bounds: &Bounds,
    ) -> Result<ExpectedRow, String> {
        let mut answer = ExpectedRow {
            path: row.path.clone(),
            line,
            model: row.model.clone(),
            property: row.property.name(),
            progress: (row.property == Property::Liveness).then(|| row.progress.name()),
            bound: None,
            expected: if row.pass { Answer::Pass } else { Answer::Fail },
            answer: Answer::Wrong,
            said: String::new(),
        };
        let mut sources = SourceMap::default();
        let (litmus, _) = match read(&folder.join(&row.path), &mut sources) {
            Ok(read) => read,
            Err(errors) => {
                answer.said = errors.first().map_or_else(String::new, |error| error.message.clone());
                return Ok(answer);
            }
        };
        if let Some(arch) = loaded.arch.filter(|arch| *arch != litmus.arch) {
            answer.said = format!("the test is for {}, the model for {}", litmus.arch.text(), arch.text());
            return Ok(answer);
        }
        if row.property == Property::Safety && litmus.condition.is_none() {
            "the test has no condition".clone_into(&mut answer.said);
            return Ok(answer);
        }
        let bound = self.bound.or(row.bound).unwrap_or_else(|| usual_bound(litmus.arch, row.property));
        let limits = Limits { bound, choices: self.max_choices };
        let question = Question { property: row.property, progress: row.progress, limits };
        let settled = question.settle(&litmus, &loaded.model, self, bounds)?;
        let found = settled.decided.witness.is_some() || settled.decided.lasso.is_some();
        let words = said(&litmus, row.property, found);
        let bounded = settled.decided.searched.bounded && !found;
        (answer.bound, answer.answer) = (Some(bound), settled.answer);
        answer.said = settled.reason.unwrap_or_else(|| if bounded { up_to(words, bound) } else { words.to_owned() });
        Ok(answer)
    }
}
