//! A kernel under every control model and memory.

use super::error::Error;
use super::kernel::Kernel;
use super::prepared::USUAL_MEMORY;
use super::search::saved;
use crate::explore::space::{Fairness, Options};
use crate::explore::{Progress, Prove};
use crate::machine::walk::Grain;
use crate::machine::{ControlModel, MemoryModel, Stopwatch};
use crate::report::{Compared, Models, letter};
use crate::verdict::Stop;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fmt;

/// States of each search at most when nothing is said.
const STATES: u64 = 100_000;

/// Something that a kernel comes to under a model, with a schedule that comes to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Its letter in the table.
    pub letter: String,
    /// The control model, as the table calls it.
    pub control: String,
    /// The memory.
    pub memory: String,
    /// Whether the lanes of an instruction access it one by one.
    pub split: bool,
    /// The schedule as text, for [`Kernel::replay`] under these models.
    pub schedule: String,
}

/// What a kernel comes to under every model. Printed, it is the table of `warpstep compare`.
#[derive(Debug)]
pub struct Comparison {
    /// What was seen, model by model.
    pub seen: Vec<Seen>,
    /// Whether some model showed a defect (`Some(true)`), or none did and all were searched to their ends (`Some(false)`).
    pub defect: Option<bool>,
    text: String,
    json: Value,
}

impl Comparison {
    /// The table as data: that of `warpstep compare --format json`.
    #[must_use]
    pub const fn json(&self) -> &Value {
        &self.json
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim_end())
    }
}

/// Every control model with every memory that a kernel may meet.
fn models() -> Vec<(ControlModel, MemoryModel)> {
    let controls = [ControlModel::Crs, ControlModel::Its, ControlModel::ItsSplit, ControlModel::Thread];
    let memories = || {
        let whole = MemoryModel::COMPARED.into_iter().filter_map(MemoryModel::preset);
        whole.flat_map(|memory| [Some(memory.clone()), memory.with_lanes_split(true)]).flatten()
    };
    controls.into_iter().flat_map(|control| memories().map(move |memory| (control, memory))).collect()
}

impl Kernel<'_> {
    /// Goes through all states of the kernel under every control model and memory; where there are too many, `seeds` random
    /// schedules look for more. The kernel's memory stays as it is.
    ///
    /// # Errors
    /// What is wrong with the launch; an error of warpstep. What a model cannot run is told in the table.
    pub fn compare(mut self, seeds: u64) -> Result<Comparison, Error> {
        self.sensible(true)?;
        let looks = self.checks.iter().filter(|check| check.looks_at_runs()).map(|c| c.name().to_owned()).collect();
        let expects = !self.expected.is_empty() || self.verdict.is_some();
        let mut compared = Compared { cells: Vec::new(), fates: Vec::new(), expects, looks };
        let mut seen = Vec::new();
        let all = models();
        let watch = Stopwatch::start(self.config.timeout);
        let limit = self.config.timeout;
        for (k, (control, memory)) in all.iter().enumerate() {
            let parts = u32::try_from(all.len() - k).unwrap_or(1);
            self.config.timeout = limit.map(|limit| limit.saturating_sub(watch.elapsed()) / parts);
            self.config.control = Some(*control);
            self.config.memory = memory.clone();
            self.row(seeds, &mut compared, &mut seen)?;
        }
        let defect = match compared.code() {
            0 => Some(false),
            3 => None,
            _ => Some(true),
        };
        Ok(Comparison { seen, defect, text: compared.render(), json: json!(compared.data()) })
    }

    /// Finds out what the kernel comes to under the models that it has now.
    fn row(&mut self, seeds: u64, compared: &mut Compared, seen: &mut Vec<Seen>) -> Result<(), Error> {
        let target = self.target(true)?;
        let (env, bounds, models) = (target.program(), target.bounds().clone(), Models::of_target(&target));
        let half = Stopwatch::start(bounds.left().map(|left| left / 2));
        let mut poll = |_: &_| half.up().or_else(|| bounds.search_up());
        let mut options = Options::states(target.control() == ControlModel::Crs, &mut poll);
        options.max_states = Some(self.max_states.unwrap_or(STATES));
        options.max_bytes = Some(self.config.max_memory.unwrap_or(USUAL_MEMORY));
        options.max_steps = self.config.max_steps;
        let how = Prove { progress: Progress::Fair, fairness: Fairness::Weak, grain: Grain::Alike { blocks: true } };
        let mut more = || bounds.search_up().is_none();
        let fates = match bounds.up() {
            None => target.fates(how, &mut options, seeds, &mut more, &|| self.observers(&env)),
            Some(limit) => Err(Stop::Limit(limit)),
        };
        let words = (models.control().to_string(), models.memory.to_owned(), models.lanes == Some("split"));
        let shown = RefCell::new(seen);
        compared.add(models, fates, target.listing(), |number, recorded| {
            let (control, memory, split) = words.clone();
            let (letter, schedule) = (letter(number), saved(&target, recorded));
            shown.borrow_mut().push(Seen { letter, control, memory, split, schedule });
            None
        });
        Ok(())
    }
}
