//! `warpstep litmus`

use super::bounds::{bounds, usual_memory};
use super::flags::{LaunchFlags, time};
use super::form::{Form, PLAIN};
use super::litmus_compare::CompareFlags;
use super::litmus_extract::ExtractFlags;
use super::litmus_kernel::is_kernel;
use super::litmus_models::{Loaded, load};
use super::litmus_test::{Ask, Tried};
use super::output;
use super::report_flags::stopped;
use super::target::one_of;
use crate::axiom::Way;
use crate::base::SourceMap;
use crate::explore::Progress;
use crate::launch::ProblemKind;
use crate::litmus::{Property, is_litmus};
use crate::program::env::ProgEnv;
use crate::report::document::Report;
use crate::report::litmus::{Answer, Consistency, Counts, list};
use crate::report::parts::Exit;
use crate::report::worst;
use crate::verdict::Stop;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Decide what the axioms of PTX, Vulkan, OpenCL with remote-scope promotion or wavefronts in lockstep allow a litmus test to do, and
/// show an execution.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep litmus MP.litmus                 is the condition reachable?
  warpstep litmus MP.litmus --why           which axiom forbids it, and how
  warpstep litmus MP.litmus --property drf  does it have a data race?
  warpstep litmus lock.litmus --property liveness --progress obe
  warpstep litmus MP.litmus --model ptx-v6.0 --model mine.cat
  warpstep litmus MP.litmus --dot mp.dot && dot -Tsvg mp.dot > mp.svg
  warpstep litmus MP.litmus --all           every outcome, as herd does
  warpstep litmus tests/litmus              a line for each test, a summary
  warpstep litmus --expected verdicts.csv   a whole table: what differs
  warpstep litmus MP.litmus --compare       what the machine shows of it
  warpstep litmus --extract k.schedule      a race as a litmus test
  warpstep litmus DIR --compare --memory all --control all
  warpstep litmus tests/litmus/rsp          OpenCL with remote-scope promotion
  warpstep litmus tests/litmus/lockstep     wavefronts: SC, LSC and SLSC
  warpstep litmus launch.toml               a kernel: results, races, hangs
  warpstep litmus launch.toml --exists 'out[0] == 1 && out[1] == 0'
  warpstep litmus --ptx k.ptx --grid 2 --buffer out:u32:4 --arg buffer:out

The verdict is `pass` where what is asked holds: a condition after `exists` is reachable, one after `~exists` is not, one after `forall` holds in every execution; with --property drf no execution raises a flag of the model; with --property liveness every execution ends, where reads that spin see the last value of a location in the end, and threads go on as the progress model promises. A test that ends with a filter alone is asked for data races.

Of a kernel, given as a launch file or as PTX with the flags of a launch, `safety` passes where every execution leaves the results that are expected and no thread comes to a defect; `drf` and `liveness` as above; with --exists the condition is reachable. Without --property all three are asked. spec-notes/kernels.md says what of PTX is expressed.

Loops are gone through up to the bound, 1 unless --bound says more; 4 for liveness of Vulkan. \"up to bound N\" stands where more rounds might change the answer.

A table has the columns path, model, property and expected (pass or fail), perhaps progress, bound and others; or path, progress and terminates, which is liveness under both models of PTX. Paths are relative to the table.

A model is built in (ptx-v6.0, ptx-v7.5, vulkan, vulkan-nochains; rsp, rsp-figure2, rsp-strict for OpenCL with remote-scope promotion; lsc, slsc for wavefronts; sc for all) or a file in the cat language, which includes files beside it, or those that are built in. How it is decided: spec-notes/litmus.md.

Exit codes: 0 passes | 1 fails, or a row of the table differs | 2 bad input | 3 a limit was reached | 4 unsupported. Of several tests: 2 where one is wrong, otherwise 1 where one fails, 4, 3.")]
pub(super) struct Litmus {
    /// Litmus tests for PTX, Vulkan, OpenCL or wavefronts, or folders of them; kernels: a launch file (.toml), its folder, or PTX (.ptx) launched by flags.
    #[arg(required_unless_present_any = ["expected", "extract", "ptx"], conflicts_with = "expected")]
    pub(super) paths: Vec<PathBuf>,

    /// A kernel of this file, launched by flags: the same as naming the file.
    #[arg(long, value_name = "FILE.ptx", conflicts_with_all = ["paths", "expected"])]
    ptx: Option<PathBuf>,

    /// Of a kernel: whether some execution leaves such results, e.g. 'out[0] == 1 && out[1] == 0'. Names are those of buffers
    /// and variables.
    #[arg(long, value_name = "CONDITION", conflicts_with_all = ["expected", "property", "all", "why"])]
    pub(super) exists: Option<String>,

    /// A memory model: built in, or a .cat file; several are asked one after the other. By default ptx-v7.5 for PTX, vulkan
    /// for Vulkan, rsp for OpenCL, and sc, lsc and slsc for wavefronts. A test is asked about under those that are for its language.
    #[arg(long, value_name = "M")]
    pub(super) model: Vec<String>,

    /// What is asked: safety (the test's condition), liveness (every execution ends), drf (no data race). safety by default.
    #[arg(long, value_name = "PROPERTY")]
    pub(super) property: Option<Property>,

    /// With --property liveness: which threads are promised to go on: fair (all), hsa (the lowest that can), obe (those that have
    /// taken a step), hsa_obe (both), lobe (those below one that has), unfair (none).
    #[arg(long, value_name = "MODEL", default_value = "fair")]
    pub(super) progress: Progress,

    /// How often the body of a loop is gone through at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) bound: Option<u32>,

    /// How it is decided: graphs (executions that the model allows are built, each once), candidates (all candidates are judged; small
    /// tests only), sat (a solver satisfies a formula). They agree; the first is the fastest on most tests.
    #[arg(long, value_name = "WAY", default_value = "graphs")]
    pub(super) way: Way,

    /// Show every outcome, as herd does.
    #[arg(long)]
    pub(super) all: bool,

    /// Where there is no such execution: tell which axioms forbid it, each with an execution that only it forbids.
    #[arg(long)]
    pub(super) why: bool,

    /// Draw the execution as DOT text: threads side by side, rf green, co blue, fr red, what decides bold.
    #[arg(long, value_name = "FILE")]
    pub(super) dot: Option<PathBuf>,

    /// Check a table of verdicts, and print what differs.
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["all", "why", "dot", "model", "property", "progress"])]
    expected: Option<PathBuf>,

    /// Tests at the same time; by default as many as there are processors.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Choices that are tried for a test at most (exit code 3).
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub(super) max_choices: u64,

    /// Stop after this time, e.g. 10s (exit code 3).
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) timeout: Option<Duration>,

    /// The form of the answer.
    #[arg(long, value_parser = one_of(&PLAIN), default_value = "text")]
    pub(super) format: Form,

    #[command(flatten)]
    pub(super) compare: CompareFlags,

    #[command(flatten)]
    pub(super) launch: LaunchFlags,

    #[command(flatten)]
    pub(super) extract: ExtractFlags,
}

impl Litmus {
    /// Runs the command; gives the exit code.
    pub fn execute(&self) -> Result<u8, u8> {
        if let Some(schedule) = &self.extract.extract {
            return self.extracted(schedule);
        }
        if self.compare.compare {
            return self.compared();
        }
        let bounds = bounds(self.timeout, usual_memory(), true);
        if let Some(table) = &self.expected {
            return self.table(table, &bounds);
        }
        let unfit =
            |flag, text: String, why| Err(output::refuse(ProblemKind::UnfitFlag { flag, text, why }, self.format));
        if self.progress != Progress::Fair && self.property != Some(Property::Liveness) {
            let why = "progress models are about --property liveness";
            return unfit("--progress", self.progress.name().to_owned(), why);
        }
        if self.all && self.property.is_some_and(|property| property != Property::Safety) {
            return unfit("--all", String::new(), "outcomes are about --property safety");
        }
        let paths = self.tests()?;
        let single = paths.len() == 1 && self.paths.iter().all(|path| !path.is_dir() || is_kernel(path));
        self.fit(&paths)?;
        if let Some(file) = self.dot.as_ref().filter(|_| !single) {
            return unfit("--dot", file.display().to_string(), "one execution is drawn: name one test");
        }
        let mut sources = SourceMap::default();
        let models = load(&self.model, &mut sources).map_err(|failed| failed.tell(&sources, self.format))?;
        let asks = Ask { flags: self, models: &models, bounds: &bounds };
        let mut tried = self.parallel(&paths, |path| asks.of(path, single));
        if let Some(error) = tried.iter_mut().find_map(|tried| tried.internal.take()) {
            return Err(self.internal(error));
        }
        if single && let Some(one) = tried.pop() {
            return Ok(self.tell(one));
        }
        let codes: Vec<u8> = tried.iter().map(|tried| tried.code).collect();
        if self.format == Form::Text {
            tried.iter_mut().for_each(|tried| output::complain(std::mem::take(&mut tried.complaints)));
        }
        let code = worst(codes);
        let tests: Vec<_> = tried.into_iter().map(|tried| tried.data).collect();
        let counts = Counts::of(&tests);
        if self.format == Form::Text {
            output::say(list(&tests, &counts));
        } else {
            output::print_json(&Report::Consistency(Consistency { exit: Exit(code), tests, counts }));
        }
        Ok(code)
    }

    /// Tells what came of a single test; gives the exit code.
    fn tell(&self, one: Tried) -> u8 {
        let code = one.code;
        if self.format == Form::Text {
            output::complain(one.complaints);
            output::say(one.text);
        } else {
            let tests = vec![one.data];
            let counts = Counts::of(&tests);
            output::print_json(&Report::Consistency(Consistency { exit: Exit(code), tests, counts }));
        }
        match (&self.dot, one.dot) {
            (Some(file), Some(dot)) => _ = output::write(file, dot.as_bytes()),
            (Some(file), None) if code < 2 => {
                let file = file.display();
                output::complain(format!(
                    "{file} is not written: there is no execution to draw; --why may find one that is forbidden\n"
                ));
            }
            _ => {}
        }
        code
    }

    /// An error of ours, told; gives the exit code.
    #[track_caller]
    pub(super) fn internal(&self, what: String) -> u8 {
        self.stopped(&Stop::internal(what, None))
    }

    /// Tells a stop that has nothing to do with a test; gives the exit code.
    pub(super) fn stopped(&self, stop: &Stop) -> u8 {
        stopped(stop, (&ProgEnv::default(), &SourceMap::default()), self.format)
    }

    /// The tests that are named, and those in folders that are, by their paths.
    pub(super) fn tests(&self) -> Result<Vec<PathBuf>, u8> {
        let unreadable = |path: &Path, error: &std::io::Error| {
            output::refuse(ProblemKind::Unreadable { path: path.to_owned(), cause: error.kind() }, self.format)
        };
        let mut found = Vec::new();
        for path in self.paths.iter().chain(&self.ptx) {
            if !path.is_dir() || is_kernel(path) {
                found.push(path.clone());
                continue;
            }
            let (mut inside, mut folders) = (Vec::new(), vec![path.clone()]);
            while let Some(folder) = folders.pop() {
                for entry in std::fs::read_dir(&folder).map_err(|error| unreadable(&folder, &error))? {
                    let path = entry.map_err(|error| unreadable(&folder, &error))?.path();
                    match path.symlink_metadata() {
                        Ok(data) if data.is_dir() => folders.push(path),
                        _ if is_litmus(&path) => inside.push(path),
                        _ => {}
                    }
                }
            }
            inside.sort();
            found.extend(inside);
        }
        if found.is_empty() {
            let text = self.paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" ");
            let kind = ProblemKind::UnfitFlag { flag: "litmus", text, why: "there is no file *.litmus in it" };
            return Err(output::refuse(kind, self.format));
        }
        Ok(found)
    }

    /// How many of so many tests are tried at the same time.
    pub(super) fn workers(&self, tests: usize) -> usize {
        let jobs = self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
        jobs.clamp(1, tests.max(1))
    }

    /// What `work` makes of each, in their order.
    pub(super) fn parallel<T: Sync, R: Send>(&self, all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(all.len())));
        let worker = || {
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed);
                let Some(one) = all.get(k) else { break };
                let result = work(one);
                done.lock().unwrap_or_else(PoisonError::into_inner).push((k, result));
            }
        };
        match self.workers(all.len()) {
            1 => worker(),
            jobs => std::thread::scope(|scope| (0..jobs).for_each(|_| _ = scope.spawn(worker))),
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(k, _)| *k);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// The exit code of an answer.
pub(super) const fn code(answer: Answer) -> u8 {
    match answer {
        Answer::Pass => 0,
        Answer::Fail => 1,
        Answer::Wrong => 2,
        Answer::Limit => 3,
        Answer::Unsupported => 4,
    }
}

/// The models that are asked.
pub(super) type Models = [Loaded];
