//! `warpstep compare`

use super::bounds::sooner;
use super::flags::{size, time};
use super::form::{Form, PLAIN};
use super::output;
use super::progress::{searched, searching};
use super::saved::{name, target, words, write};
use super::target::{Common, one_of};
use crate::explore::space::{Fairness, Options};
use crate::explore::{Progress, Prove};
use crate::launch::ProblemKind;
use crate::machine::walk::Grain;
use crate::machine::{ControlModel, Stopwatch};
use crate::report::document::Report;
use crate::report::{Compared, Models, letter};
use crate::verdict::Stop;
use clap::Args;
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Run one kernel under every control model and memory, and show which outcomes and hangs appear where.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep compare ptx-examples/spinlock
  warpstep compare k.ptx --block 32 --arg data=u32:zeros:1
  warpstep compare DIR --max-states 1000000 --for 5m    search longer

Each of crs, its, its --its-split, thread is run with flat memory, with flat memory that lanes access one by one, and with fermi's caches. Under each model all states are searched; where there are too many, random schedules look for more. `x`: some schedule comes to it, and one is written; `.`: none does; `?`: none was seen, and not all states were searched.

Each model is told on standard error when it is done; Ctrl-C ends all of them with what was found.

Exit codes: 0 no defect under any model | 1 a defect under some model | 2 bad input | 3 some model was not searched to its end")]
pub(super) struct Compare {
    /// A folder with a launch.toml, a launch file (.toml), or a PTX module (.ptx) launched by flags.
    path: PathBuf,

    #[command(flatten)]
    common: Common,

    /// States at most, under each model.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_states: u64,

    /// Compare for this time at most, e.g. 5m. What is left of it is shared by the models that are left; half of each part
    /// is for the search, the rest for random schedules where it met a limit.
    #[arg(long = "for", value_name = "TIME", value_parser = time, default_value = "1m")]
    time: Duration,

    /// Memory of each search at most, e.g. 8G, which is the default, or three quarters of what is free.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    search_memory: Option<u64>,

    /// Random schedules under each model that has too many states.
    #[arg(long, value_name = "N", default_value_t = 200)]
    seeds: u64,

    /// Where schedules are written: a folder, made if it is not there; NAME.schedules by default.
    #[arg(long, value_name = "DIR")]
    schedules: Option<PathBuf>,

    /// The form of messages and results.
    #[arg(long, value_parser = one_of(&PLAIN), default_value = "text")]
    format: Form,
}

impl Compare {
    /// Runs the command; gives the exit code.
    pub fn execute(&mut self) -> Result<u8, u8> {
        self.common.begin(sooner(Some(self.time), self.common.timeout), self.search_memory);
        if let Some(flag) = self.common.chooses_models() {
            let why = "all models are compared: leave it out, or use `prove` for one of them";
            let text = self.path.display().to_string();
            return Err(output::refuse(ProblemKind::UnfitFlag { flag, text, why }, self.format));
        }
        let folder = self.schedules.clone().unwrap_or_else(|| PathBuf::from(format!("{}.schedules", name(&self.path))));
        let unwritable = |e: std::io::Error| {
            output::refuse(ProblemKind::Unwritable { path: folder.clone(), cause: e.kind() }, self.format)
        };
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        let looks = self.common.looks_at_runs();
        let mut compared = Compared { cells: Vec::new(), fates: Vec::new(), expects: false, looks };
        let models = self.common.all_models();
        let bar = searching(self.format == Form::Text);
        for (k, mut common) in models.iter().cloned().enumerate() {
            let left = u32::try_from(models.len() - k).unwrap_or(1);
            common.share(left, self.search_memory);
            self.row(&common, &folder, &bar, &mut compared)?;
            if let Some(cell) = compared.cells.last().filter(|_| self.format == Form::Text) {
                bar.suspend(|| output::complain(Compared::row(cell)));
            }
        }
        bar.finish_and_clear();
        if self.format == Form::Text {
            output::say(compared.render());
        } else {
            output::print_json(&Report::Compared(compared.data()));
        }
        Ok(compared.code())
    }

    /// Finds out what the program comes to under one model.
    fn row(&self, common: &Common, folder: &Path, bar: &ProgressBar, compared: &mut Compared) -> Result<(), u8> {
        let target = target(common, &self.path, self.format)?;
        compared.expects = !target.spec().expect.is_empty() || target.spec().stdout.is_some();
        let (env, bounds, models) = (target.program(), target.bounds(), Models::of_target(&target));
        let half = Stopwatch::start(bounds.left().map(|left| left / 2));
        let name = format!("{} {}: ", models.control(), models.memory_and_lanes());
        bar.set_message(format!("{name}begins"));
        let mut poll = |done: &_| {
            searched(bar, &name, done);
            half.up().or_else(|| bounds.search_up())
        };
        let mut options = Options::states(target.control() == ControlModel::Crs, &mut poll);
        options.max_states = Some(self.max_states);
        options.max_bytes = self.search_memory;
        options.max_steps = common.max_steps;
        let how = Prove { progress: Progress::Fair, fairness: Fairness::Weak, grain: Grain::Alike { blocks: true } };
        let observers = || common.stopping(&env);
        let interrupted = output::interrupted();
        let mut more = || !interrupted.load(Ordering::Relaxed) && bounds.search_up().is_none();
        let fates = match bounds.up() {
            None => target.fates(how, &mut options, self.seeds, &mut more, &observers),
            Some(limit) => Err(Stop::Limit(limit)),
        };
        let models_name = models.file_name();
        compared.add(models, fates, target.listing(), |number, recorded| {
            let file = folder.join(format!("{models_name}-{}.schedule", letter(number)));
            write(&file, recorded, &target, words(common, &self.path))
        });
        Ok(())
    }
}
