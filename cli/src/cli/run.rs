//! `warpstep run`

use super::follow::{FollowFlags, Followers};
use super::form::Form;
use super::output;
use super::progress::running;
use super::report_flags::{ReportFlags, Reporter};
use super::saved::{as_typed, script};
use super::target::Common;
use crate::base::SourceMap;
use crate::check::{Bounds, Check, Costs, Observers, Races, TraceHash, Uninit};
use crate::choice::Decisions;
use crate::explore::explained;
use crate::launch::{Device, Failure, Outcome, Problem, ProblemKind, Scalar, Spec, load, run, write_npy};
use crate::machine::{Config, MemoryModel};
use crate::program::env::ProgEnv;
use crate::report::costs::CostsReport;
use crate::report::run::{self as text, Finished};
use crate::report::{EndedEarly, LostReport, RacesReport, ReliedReport};
use crate::verdict::{Event, Silent, Sink, Stop, Who};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Run kernels and compare the results with what is expected.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep run ptx-examples/reduction         a folder with a launch.toml
  warpstep run ptx-examples/reduction/launch.sm_70.toml
  warpstep run saxpy.ptx --grid 4 --block 256 \\
      --buffer x:f32:1024=iota --buffer y:f32:1024=random:7 \\
      --arg u32:1024 --arg f32:2.5 --arg buffer:x --arg buffer:y --print y
  warpstep run DIR --save out=result.npy --hash
  warpstep run DIR --threads 2                the same, sooner
  warpstep run DIR --trace run.json           a timeline for ui.perfetto.dev
  warpstep run DIR --seed 3 --control its     another schedule, another model")]
pub(super) struct Run {
    /// A folder with a launch.toml, a launch file (.toml), or a PTX module (.ptx) launched by flags.
    path: PathBuf,

    #[command(flatten)]
    pub(super) common: Common,

    /// Write a buffer or variable to a file: .npy, or the bytes alone.
    #[arg(long, value_name = "NAME=FILE")]
    pub(super) save: Vec<String>,

    /// Print a buffer or variable.
    #[arg(long, value_name = "NAME")]
    pub(super) print: Vec<String>,

    /// Print hashes of the final memory and of the trace.
    #[arg(long)]
    pub(super) hash: bool,

    /// With --memory lsc-mutex, print how many messages lockstep sequential consistency took, when the run has come to its end:
    /// requests for mutexes and refusals (of a mutex that another warp has; --seed has more than the default schedule),
    /// evictions, rehashes, invalidations.
    #[arg(long)]
    costs: bool,

    /// Tell how many thread instructions were executed as machine code, when the run has come to its end.
    #[arg(long)]
    stats: bool,

    /// Print every rule that fires, in order, each warp instruction a step of its own.
    #[arg(long)]
    pub(super) rules: bool,
    #[command(flatten)]
    pub(super) follow: FollowFlags,

    /// Take another schedule, at random; the same seed gives the same run on every host.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Threads that the blocks of a launch run on. Nothing that a run comes to depends on it. Of kernels as machine code on flat
    /// memory, by the default schedule, that nobody observes; whatever else runs on one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    threads: u32,

    #[command(flatten)]
    pub(super) report: ReportFlags,
}

/// Bytes of elements of a type.
type Typed<'a> = (Scalar, &'a [u8]);

/// Those who follow see each event before the observers may object to it.
struct Both<'a, 'b>(&'b mut Followers<'a>, &'b mut Observers);

impl Sink for Both<'_, '_> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self.0.event(who, event)?;
        self.1.event(who, event)
    }
}

impl Run {
    /// Runs the command; gives the exit code.
    pub fn execute(&mut self) -> Result<u8, u8> {
        self.common.begin(None, None);
        self.common.select_mutant();
        let mut reporter = self.report.open()?;
        match script(&self.common, &self.path, self.report.format)? {
            Some(_) if self.costs || self.stats => {
                let (flag, why) = if self.costs {
                    ("--costs", "messages are counted of launch files and of PTX that flags launch")
                } else {
                    ("--stats", "instructions are counted of launch files and of PTX that flags launch")
                };
                let text = self.path.display().to_string();
                let refused = ProblemKind::UnfitFlag { flag, text, why };
                Err(output::refuse(refused, self.report.format))
            }
            Some(read) => self.script(read, &mut reporter),
            None => self.launches(&mut reporter),
        }
    }

    /// The flag by which somebody follows each step.
    fn follows(&self) -> Option<&'static str> {
        let flags = [
            (self.rules, "--rules"),
            (self.follow.trace.is_some(), "--trace"),
            (self.hash, "--hash"),
            (self.costs, "--costs"),
        ];
        flags.into_iter().find(|(asked, _)| *asked).map(|(_, flag)| flag)
    }

    /// How the flags want the device to be.
    ///
    /// # Errors
    /// What is wrong with the device's description.
    pub(super) fn config(&self, sources: &mut SourceMap) -> Result<Config, Vec<Problem>> {
        if self.common.checks(Check::Deterministic) {
            let why = "one run is not compared with others: `warpstep hunt --check deterministic`";
            return Err(ProblemKind::UnfitFlag { flag: "--check", text: "deterministic".into(), why }.into());
        }
        if self.common.checks(Check::Liveness) && self.seed.is_some() {
            let why = "a random schedule never repeats; leave --seed out, or use `warpstep hunt`, whose runs go on by the default schedule";
            return Err(ProblemKind::UnfitFlag { flag: "--check", text: "liveness".into(), why }.into());
        }
        let config = self.common.config(sources)?;
        counted(self.costs, &config.memory)?;
        // A schedule by seed interleaves all blocks that fit, as those of `hunt` do.
        let (threads, counts_native) = (self.threads, self.stats);
        Ok(Config {
            seed: self.seed,
            eager: self.seed.is_some(),
            small_steps: self.rules,
            threads,
            counts_native,
            ..config
        })
    }

    /// The form of the report, and whether memory makes steps of its own.
    pub(super) fn telling(&self) -> (Form, bool) {
        (self.report.format, self.common.memory_steps())
    }

    /// Whether the flags ask for observers.
    pub(super) fn watched(&self) -> bool {
        self.hash || self.common.observes()
    }

    /// The observers that the flags ask for.
    pub(super) fn observers_of(&self, program: &Arc<ProgEnv>) -> Observers {
        let observers = self.common.observers(program);
        let observers = if self.costs { observers.with(Costs::default()) } else { observers };
        if self.hash { observers.with_hash(program) } else { observers }
    }

    /// Runs the launches of a launch file or of flags; gives the exit code.
    fn launches(&self, reporter: &mut Reporter) -> Result<u8, u8> {
        let mut sources = self.common.sources();
        let loaded = self.common.spec(&self.path, &mut sources).and_then(|spec| {
            let config = self.config(&mut sources)?;
            let env = load(&spec.ptx, config.control, &mut sources)?;
            Ok((spec, env, config))
        });
        let (spec, env, config) = loaded.map_err(|problems| reporter.problems(&problems, &sources))?;
        let copy = sources.clone();
        self.common.bounds.count_from_here();
        let mut device = Device::new(env, sources, config)
            .map_err(|stop| reporter.stop(&stop, None, (&ProgEnv::default(), &copy), &[]))?;
        let program = device.context().program();
        let mut observers = self.observers_of(&program);
        let mut printed = Vec::new();
        let result = self.observed(&spec, &mut device, &mut observers, (reporter, &mut printed))?;
        let result = result.map_err(|failure| failure.map_stop(|stop| observers.settle(stop)));
        let (env, sources) = (device.context().env(), device.sources());
        let races: Option<&Races> = observers.get();
        let races = races.map(|races| RacesReport::new([races], sources));
        match result {
            Ok(outcome) => {
                let relied = observers.uninit().map(Uninit::relied).unwrap_or_default();
                let names = || device.names().map(str::to_owned).collect();
                let buffers = self.contents(reporter.form, |name| device.contents(name), names);
                let hex = |hash: u64| format!("{hash:016x}");
                let compared = spec.expect.len() + usize::from(spec.stdout.is_some());
                let finished = Finished {
                    assumed_zeros: ReliedReport::new(&relied, env, sources),
                    lost_origins: LostReport::new(observers.get().into_iter().flat_map(Bounds::lost), env, sources),
                    buffers: buffers.map_err(|problems| reporter.problems(&problems, sources))?,
                    costs: observers.get().map(CostsReport::new),
                    memory_hash: self.hash.then(|| hex(device.memory_hash())),
                    native_instructions: self.stats.then(|| device.context().native()),
                    follows: self.follows(),
                    trace_hash: observers.get().map(TraceHash::value).map(hex),
                    ..Finished::new(&outcome, compared, self.common.checked())
                };
                Ok(reporter.finished(finished, races, sources))
            }
            Err(Failure::Input(problems)) => Err(reporter.problems(&problems, sources)),
            Err(Failure::Stop(mut stop)) => {
                explained(&mut stop, &device);
                let target = Some(as_typed(&self.common, &self.path));
                reporter.ended = EndedEarly { standing: device.context().standing().to_vec(), target };
                Ok(reporter.stop(&stop, races, (env, sources), &printed))
            }
        }
    }

    /// Runs what is launched, with those who follow and observe it; what the device prints in a report is put into `printed`.
    fn observed(
        &self,
        spec: &Spec,
        device: &mut Device,
        observers: &mut Observers,
        (reporter, printed): (&mut Reporter, &mut Vec<u8>),
    ) -> Result<Result<Outcome, Failure>, u8> {
        let bar = running("running", self.report.format == Form::Text && !self.rules);
        let mut out = |bytes: &[u8]| match self.report.format {
            Form::Text => bar.suspend(|| output::print(bytes)),
            Form::Json | Form::Sarif => printed.extend_from_slice(bytes),
        };
        let seen = Decisions::default();
        let programs = [device.context().program()];
        let mut followers =
            Followers::open(&self.follow, self.rules, self.telling(), (&programs, device.sources()), &seen)?;
        let seen = self.follow.trace.is_some().then_some(&seen);
        let result = if followers.any() {
            run(spec, device, &mut Both(&mut followers, observers), seen, &mut out)
        } else if observers.any() {
            run(spec, device, observers, None, &mut out)
        } else {
            run(spec, device, &mut Silent, None, &mut out)
        };
        reporter.memory = followers.shown();
        bar.finish_and_clear();
        followers.finish(result.as_ref().err().and_then(Failure::stop));
        Ok(result)
    }

    /// Saves and prints what `find` has of the buffers and variables that were asked for; gives what is printed in a report.
    ///
    /// # Errors
    /// Every flag that is wrong; `names` are those that there are.
    pub(super) fn contents<'a>(
        &self,
        form: Form,
        find: impl Fn(&str) -> Option<Typed<'a>>,
        names: impl Fn() -> Vec<String>,
    ) -> Result<Map<String, Value>, Vec<Problem>> {
        let found = |name: &str| {
            let unknown = || ProblemKind::UnknownVariable { name: name.to_owned(), known: names() };
            find(name).ok_or_else(unknown)
        };
        let save = |text: &String| {
            let form = "NAME=FILE, e.g. out=result.npy";
            let bad = || ProblemKind::BadFlag { flag: "--save", text: text.clone(), form };
            let (name, path) = text.split_once('=').ok_or_else(bad)?;
            found(name).map(|(ty, bytes)| save(Path::new(path), ty, bytes))
        };
        let mut printed = Map::new();
        let mut print = |name: &String| {
            match found(name)? {
                (ty, bytes) if form == Form::Text => output::say(text::values(name, ty, bytes)),
                (ty, bytes) => _ = printed.insert(name.clone(), json!(text::Contents::new(ty, bytes))),
            }
            Ok(())
        };
        let done = self.save.iter().map(save).chain(self.print.iter().map(&mut print));
        let problems: Vec<Problem> = done.filter_map(Result::err).map(|kind| kind.at(None)).collect();
        if problems.is_empty() { Ok(printed) } else { Err(problems) }
    }
}

/// Whether messages can be counted, where that is asked for.
pub(super) fn counted(asked: bool, memory: &MemoryModel) -> Result<(), Vec<Problem>> {
    if !asked || matches!(memory, MemoryModel::Mutexed(_)) {
        return Ok(());
    }
    let why = "messages are those of the mutex mechanism: give --memory lsc-mutex, too";
    Err(ProblemKind::UnfitFlag { flag: "--costs", text: memory.words().0.to_owned(), why }.into())
}

/// Writes the contents of a buffer.
fn save(path: &Path, ty: Scalar, bytes: &[u8]) {
    let npy = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
    if npy {
        output::write(path, &write_npy(bytes, ty))
    } else {
        output::write(path, bytes)
    };
}
