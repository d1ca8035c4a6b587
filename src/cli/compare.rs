//! `warpstep compare`

use super::flags::time;
use super::saved::{name, target, write_for};
use super::target::Common;
use super::{Format, output};
use crate::explore::space::{Fairness, Options};
use crate::explore::{Progress, Prove};
use crate::launch::ProblemKind;
use crate::machine::walk::Grain;
use crate::machine::{ControlModel, Stopwatch};
use crate::report::{Cell, Compared, letter};
use crate::verdict::LimitKind;
use clap::Args;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Run one kernel under every control model and memory, and show which outcomes and hangs appear where.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep compare ptx-examples/spinlock
  warpstep compare k.ptx --block 32 --arg data=u32:zeros:1
  warpstep compare DIR --max-states 1000000 --for 5m    search each model longer

Each of crs, its, its --its-split, thread is run with flat memory, with flat memory that lanes access one by one, and with
fermi's caches. Under each model all states are searched; where there are too many, random schedules look for more. `x`: some
schedule comes to it, and one is written; `.`: none does; `?`: none was seen, and not all states were searched.

Exit codes: 0 no defect under any model | 1 a defect under some model | 2 bad input | 3 some model was not searched to its end")]
pub(super) struct Compare {
    /// A folder with a launch.toml, a launch file (.toml), or a PTX module (.ptx) launched by flags.
    path: PathBuf,

    #[command(flatten)]
    common: Common,

    /// States at most, under each model.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    max_states: u64,

    /// Search each model for this time at most, e.g. 1m, and as long again by random schedules.
    #[arg(long = "for", value_name = "TIME", value_parser = time, default_value = "5s")]
    time: Duration,

    /// Random schedules under each model that has too many states.
    #[arg(long, value_name = "N", default_value_t = 200)]
    seeds: u64,

    /// Where schedules are written: a folder, made if it is not there; NAME.schedules by default.
    #[arg(long, value_name = "DIR")]
    schedules: Option<PathBuf>,

    /// The form of messages and results.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Compare {
    /// Runs the command; gives the exit code.
    pub fn execute(&self) -> u8 {
        self.compare().unwrap_or_else(|code| code)
    }

    fn compare(&self) -> Result<u8, u8> {
        if let Some(flag) = self.common.chooses_models() {
            let form = "all models are compared: leave it out, or use `prove` for one of them";
            let problem = ProblemKind::BadFlag { flag, text: self.path.display().to_string(), form }.at(None);
            return Err(output::problems(&[problem], &Default::default(), self.format));
        }
        let folder = self.schedules.clone().unwrap_or_else(|| PathBuf::from(format!("{}.schedules", name(&self.path))));
        let unwritable = |e: std::io::Error| {
            let problem = ProblemKind::Unwritable { path: folder.clone(), cause: e.kind() }.at(None);
            output::problems(&[problem], &Default::default(), self.format)
        };
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        let mut compared = Compared { cells: Vec::new(), fates: Vec::new() };
        for common in self.common.all_models() {
            let target = target(&common, &self.path, self.format.into())?;
            let env = target.program();
            let (watch, interrupted) = (Stopwatch::start(Some(self.time)), output::interrupted());
            let mut poll = |_: &_| {
                let stopped = interrupted.load(Ordering::Relaxed).then_some(LimitKind::Interrupted);
                stopped.or_else(|| watch.up())
            };
            let mut options = Options::states(target.control() == ControlModel::Crs, &mut poll);
            options.max_states = Some(self.max_states);
            let how = Prove { progress: Progress::Fair, fairness: Fairness::Weak, grain: Grain::Visible };
            let observers = || common.observers(&env);
            let mut since = None;
            let mut more = || {
                let watch = since.get_or_insert_with(|| Stopwatch::start(Some(self.time)));
                !interrupted.load(Ordering::Relaxed) && watch.up().is_none()
            };
            let fates = target.fates(how, &mut options, self.seeds, &mut more, &observers);
            let models = common.models(&target);
            let at = compared.cells.len();
            let models_name = models.file_name();
            compared.add(Cell { models, fates, schedules: Vec::new() }, &env, target.start().sources());
            let Some(cell) = compared.cells.get(at) else { continue };
            let mut files = Vec::new();
            for seen in cell.fates.iter().flat_map(|f| &f.seen) {
                let letter = compared.number(&seen.fate).map_or_else(String::new, letter);
                let file = folder.join(format!("{models_name}-{letter}.schedule"));
                files.push(write_for(&file, &seen.recorded, &target, (&common, &self.path)));
            }
            if let Some(cell) = compared.cells.get_mut(at) {
                cell.schedules = files;
            }
        }
        match self.format {
            Format::Json => output::print_json(&compared.json()),
            Format::Text => output::say(compared.render()),
        }
        Ok(compared.code())
    }
}
