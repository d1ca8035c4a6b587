//! `warpstep test`

mod case;
mod select;
mod work;

use super::form::Form;
use super::hunt::StrategyFlags;
use super::output;
use super::progress::line as bar;
use super::target::Common;
use crate::base::{SourceMap, files};
use crate::check::Check;
use crate::launch::{Problem, ProblemKind, Suppressions};
use crate::report::document::Report;
use crate::report::parts::Extra;
use crate::report::suite::{Case, Ended, Suite, annotations, junit, left_alone, line, summary};
use crate::report::{Roots, problem};
use case::Settings;
use clap::{Args, ValueEnum};
use select::Selected;
use serde_json::json;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;
use work::{Done, Work};

/// Test launch files: run all below some folders, each by many schedules, and tell which do not what they should.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep test ptx-examples                  every launch file in the folder
  warpstep test tests --seeds 50 --check races,bounds,uninit
  warpstep test tests --timeout 60s --max-memory 1G --fail-fast
  warpstep test tests --filter reduction --skip '*/slow/*'
  warpstep test tests --junit junit.xml --sarif warpstep.sarif
  warpstep test tests --format github         annotations beside the source

A folder is gone through with its folders, but for names that begin with a dot. Of its .toml files those are tested that are called launch.toml or launch.….toml, or have `ptx`, [[launch]] or [[host]]; others are left alone, and told. A launch file passes when its runs come to their ends and give what it expects. It can ask for more itself:

  [test]
  seeds = 100
  check = [\"races\"]
  defect = \"race\"      passes only if this is found

Each file is run by the default schedule, as `warpstep run` does, and then by the seeds 0 to N - 1, as `warpstep hunt` does, to the first defect. --timeout (5m where it is not given) and --max-memory are for one file. Files that are tested at a time share the memory; one that lacks some beside others is tested again alone. No verdict depends on --jobs.

Exit codes: 0 all passed | 1 one failed | 2 one is broken, or bad usage | 3 one reached a limit, or it was interrupted | 4 one needs what is unsupported. Of several the gravest: 2, 1, 4, 3. docs/ci.md shows it in GitHub Actions and GitLab.")]
pub(super) struct Test {
    /// Folders with launch files and host scripts, or single ones.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    common: Common,

    /// Schedules by seed of each file, after the default one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seeds: u64,

    #[command(flatten)]
    strategy: StrategyFlags,

    /// Test only files whose path has this in it; * stands for anything.
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<String>,

    /// Leave out files whose path has this in it.
    #[arg(long, value_name = "PATTERN")]
    skip: Vec<String>,

    /// Files that are tested at a time; as many as this computer has cores by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// End at the first file, in order, that does not pass.
    #[arg(long)]
    fail_fast: bool,

    /// Write JUnit XML, which most systems of continuous integration show.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write SARIF 2.1.0, which code scanning shows beside the source.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// The root of the project: names in reports are relative to it, and CUDA lines are told of files that it has.
    #[arg(long, value_name = "DIR", default_value = ".")]
    source_root: PathBuf,

    /// The form of what is printed.
    #[arg(long, value_enum, default_value_t = TestForm::Text)]
    format: TestForm,

    /// Defects that are known and may stay (docs/reports.md): they are told, and make no file fail.
    #[arg(long, value_name = "FILE.toml")]
    suppressions: Option<PathBuf>,
}

/// The time of a file where --timeout says nothing.
const TIMEOUT: Duration = Duration::from_secs(300);

/// In which form a suite is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum TestForm {
    /// For people.
    Text,
    /// For people, with annotations for GitHub Actions.
    Github,
    /// For programs: one JSON object (docs/schema/report.schema.json).
    Json,
    /// For code scanning: SARIF 2.1.0 on standard output.
    Sarif,
}

impl TestForm {
    /// The form in which wrong flags are told.
    const fn plain(self) -> Form {
        match self {
            Self::Text | Self::Github => Form::Text,
            Self::Json => Form::Json,
            Self::Sarif => Form::Sarif,
        }
    }

    /// Whether a file is told as soon as those before it are.
    const fn tells_each(self) -> bool {
        matches!(self, Self::Text | Self::Github)
    }
}

impl Test {
    /// Runs the command; gives the exit code.
    pub fn execute(mut self) -> Result<u8, u8> {
        // A file that never ends would take all the time of who waits for the others.
        self.common.timeout.get_or_insert(TIMEOUT);
        self.common.begin(None, None);
        self.common.select_mutant();
        let form = self.format.plain();
        self.fit().map_err(|kind| output::refuse(kind, form))?;
        let Selected { files, others } =
            select::select(&self.paths, &self.filter, &self.skip).map_err(|kind| output::refuse(kind, form))?;
        let unreadable =
            |e: std::io::Error| ProblemKind::Unreadable { path: self.source_root.clone(), cause: e.kind() };
        let roots = Roots::new(&self.source_root).map_err(|e| output::refuse(unreadable(e), form))?;
        for path in self.junit.iter().chain(&self.sarif) {
            let unwritable = |e: std::io::Error| ProblemKind::Unwritable { path: path.clone(), cause: e.kind() };
            files::writable(path).map_err(|e| output::refuse(unwritable(e), form))?;
        }
        let mut about = SourceMap::default();
        let known = self.suppressions.as_ref().map(|path| Suppressions::read(path, &mut about)).transpose();
        let mut known = known.map_err(|problems| output::problems(&problems, &about, form))?;
        let others = others.iter().map(|path| roots.relative(&path.display().to_string())).collect();
        let Done { cases, ended, used } = self.work(&files, &roots, known.as_ref().map(|known| (known, &about)));
        if let Some(known) = &mut known {
            used.iter().for_each(|used| known.used_by(used));
        }
        let told = Told { roots: &roots, others, known: known.map(|known| (known, about)) };
        Ok(self.finish(&cases, ended, told))
    }

    /// Whether the flags go together.
    fn fit(&self) -> Result<(), ProblemKind> {
        if let Some((flag, _)) = self.common.launch.given().next() {
            let why = "the flags describe launches of a .ptx file; a launch file says this itself";
            return Err(ProblemKind::UnfitFlag { flag, text: String::new(), why });
        }
        if self.common.checks(Check::Deterministic) && self.seeds == 0 {
            let text = Check::Deterministic.name().to_owned();
            return Err(ProblemKind::UnfitFlag {
                flag: "--check",
                text,
                why: "schedules are compared: give --seeds N, too",
            });
        }
        if self.junit.is_some() && self.junit == self.sarif {
            let text = self.junit.iter().map(|path| path.display().to_string()).collect();
            return Err(ProblemKind::UnfitFlag { flag: "--sarif", text, why: "--junit writes the same file" });
        }
        Ok(())
    }

    /// Tests the files.
    fn work(&self, files: &[PathBuf], roots: &Roots, known: Option<(&Suppressions, &SourceMap)>) -> Done {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let jobs = self.jobs.map_or_else(cores, usize::from);
        let settings = Settings {
            seeds: self.seeds,
            strategy: self.strategy,
            roots,
            colour: self.format.tells_each()
                && std::io::stdout().is_terminal()
                && std::env::var_os("NO_COLOR").is_none(),
            most: output::most_errors(),
            jobs: (jobs / files.len().max(1)).max(1),
            timeout: self.common.timeout,
            known,
        };
        let bar = bar(
            Some(files.len() as u64),
            "{bar:30} {pos} of {len} launch files in {elapsed}",
            self.format.tells_each(),
        );
        let tell = |case: &Case| {
            bar.inc(1);
            bar.suspend(|| self.tell(case));
        };
        let keep = |cases: &[Case], ended| {
            let suite = Suite::new(cases, ended, Vec::new(), Extra::default());
            self.write(&suite, roots);
        };
        let work = Work {
            files,
            common: &self.common,
            settings: &settings,
            jobs: jobs.min(files.len()),
            fail_fast: self.fail_fast,
            tell: &tell,
            keep: &keep,
        };
        let done = work.run();
        bar.finish_and_clear();
        done
    }

    /// Tells what came of a file, where each is told for itself.
    fn tell(&self, case: &Case) {
        if self.format.tells_each() {
            output::say(line(case));
        }
        if self.format == TestForm::Github {
            output::say(annotations(case));
        }
    }

    /// Writes the files that were asked for.
    fn write(&self, suite: &Suite<'_>, roots: &Roots) {
        if let Some(path) = &self.junit {
            output::write(path, junit(suite).as_bytes());
        }
        if let Some(path) = &self.sarif {
            let log = suite.log(roots).finish(suite.exit.0);
            output::write(path, format!("{log:#}\n").as_bytes());
        }
    }

    /// Tells the end, and writes the files; gives the exit code.
    fn finish(&self, cases: &[Case], ended: Ended, told: Told<'_>) -> u8 {
        let Told { roots, others, known } = told;
        let unused: Vec<Problem> = known.iter().flat_map(|(known, _)| known.unused()).map(select::unused).collect();
        let about = known.as_ref().map_or_else(SourceMap::default, |(_, about)| about.clone());
        let messages = unused.iter().map(|p| json!(problem(p, &about).message(&about))).collect();
        let extra = Extra { memory: None, unused_suppressions: known.is_some().then_some(messages) };
        let suite = Suite::new(cases, ended, others, extra);
        let code = suite.exit.0;
        match self.format {
            TestForm::Text | TestForm::Github => {
                if !unused.is_empty() {
                    output::problems(&unused, &about, Form::Text);
                }
                output::say(left_alone(&suite.left_alone));
                output::say(summary(&suite));
            }
            TestForm::Json => {}
            TestForm::Sarif => output::print_sarif(suite.log(roots), code),
        }
        self.write(&suite, roots);
        if self.format == TestForm::Json {
            output::print_json(&Report::Suite(Box::new(suite)));
        }
        code
    }
}

/// What is told at the end besides the files.
struct Told<'a> {
    roots: &'a Roots,
    others: Vec<String>,
    known: Option<(Suppressions, SourceMap)>,
}
