//! `warpstep bench`

use super::form::{Form, PLAIN};
use super::output;
use super::report_flags::failed;
use super::run::counted;
use super::target::{ENGINES, one_of};
use crate::check::{Bounds, Check, Costs, Observers, Races};
use crate::launch::Failure;
use crate::launch::bench::{Case, KERNELS, MORE, Suite};
use crate::machine::{Config, Engine, MemoryModel};
use crate::program::env::ProgEnv;
use crate::report::costs::{self, CostsReport};
use crate::report::document::{self, Checked, Report, Speed};
use crate::report::parts::Exit;
use crate::verdict::Silent;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::sync::Arc;
use std::time::Duration;

/// Measure speed: nine kernels of known size, results checked.
///
/// Ten more, of other kinds, run when they are named or with --more. Prints thread instructions (PTX instructions executed, times threads) per second of CPU time, or, with --threads, of the clock on the wall.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep bench                      all nine kernels
  warpstep bench matmul hist --reps 5
  warpstep bench --more               the ten kernels of other kinds
  warpstep bench --shift 4            a sixteenth of the work
  warpstep bench --engine interpreter no machine code
  warpstep bench --threads 2          on two cores, by the clock on the wall
  warpstep bench --memory lsc-mutex --costs --reps 1    messages of a mechanism")]
pub(super) struct Bench {
    /// Only these kernels.
    #[arg(value_parser = one_of_all())]
    kernels: Vec<String>,

    /// The ten kernels of other kinds, in place of the nine: softmax, layer normalisation, Fourier transforms, prefix sum, hash
    /// table, sparse matrix, option prices in double precision, stencil of halves, recursion, radix sort.
    #[arg(long)]
    more: bool,

    /// Divide the work by about 2^N.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=16))]
    shift: u32,

    /// Repeat each kernel and take the fastest.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,

    /// The memory: at once (flat), by the report's caches and memory programs (fermi), or by the mutex mechanism of lockstep
    /// sequential consistency (lsc-mutex).
    #[arg(long, value_name = "MODEL", value_parser = MemoryModel::NAMES, default_value = "flat")]
    memory: String,

    /// What executes kernels: the interpreter alone, or machine code as well, once a kernel has run for a while (auto) or from
    /// its first instruction on (native).
    #[arg(long, value_parser = one_of(&ENGINES), value_name = "ENGINE", default_value = "auto")]
    engine: Engine,

    /// Threads that blocks run on. Where it is given, time is that of the clock on the wall.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    threads: Option<u32>,

    /// Run under a check, too: prints how many times longer that takes and the memory of the check.
    #[arg(long, value_name = "CHECK", value_parser = ["races", "bounds"])]
    check: Option<String>,

    /// With --memory lsc-mutex, count the messages of each kernel, too: requests for mutexes and refusals, evictions,
    /// rehashes, invalidations.
    #[arg(long)]
    costs: bool,

    /// The form of the results.
    #[arg(long, value_parser = one_of(&PLAIN), default_value = "text")]
    format: Form,
}

impl Bench {
    /// Runs the command; gives the exit code.
    pub(super) fn execute(&self) -> Result<u8, u8> {
        let memory = MemoryModel::preset(&self.memory).unwrap_or_default();
        let mut rows = Vec::new();
        for suite in Suite::ALL {
            let names: Vec<&'static str> =
                suite.kernels().iter().copied().filter(|name| self.wants(suite, name)).collect();
            if names.is_empty() {
                continue;
            }
            let (env, sources) =
                suite.program().map_err(|(problems, sources)| output::problems(&problems, &sources, self.format))?;
            counted(self.costs, &memory).map_err(|problems| output::problems(&problems, &sources, self.format))?;
            for name in names {
                let speed = self.measure(name, &env);
                let speed = speed.map_err(|failure| failed(&failure, (&env, &sources), self.format))?;
                if self.format == Form::Text {
                    output::say(line(&speed));
                }
                rows.push(speed);
            }
        }
        Ok(self.total(rows))
    }

    /// Whether a kernel is to be run.
    fn wants(&self, suite: Suite, name: &str) -> bool {
        let named = self.kernels.iter().any(|kernel| kernel == name);
        let whole = if suite == Suite::More { self.more } else { !self.more && self.kernels.is_empty() };
        named || whole
    }

    fn measure(&self, kernel: &'static str, env: &Arc<ProgEnv>) -> Result<Speed, Failure> {
        let memory = MemoryModel::preset(&self.memory).unwrap_or_default();
        let config = Config { memory, engine: self.engine, threads: self.threads.unwrap_or(1), ..Config::default() };
        let mut best = Speed { kernel, cpu_seconds: f64::INFINITY, ..Speed::default() };
        for repetition in 0..self.reps {
            let Some(mut case) = Case::new(kernel, self.shift, env, config.clone())? else { break };
            let start = Clock::now(self.threads.is_some());
            let stats = case.run(&mut Silent)?;
            best.cpu_seconds = best.cpu_seconds.min(start.elapsed());
            if repetition == 0 {
                // The first repetition's results are checked; all have the same inputs.
                best.correct = case.correct();
            }
            // Right after the run without the check: a ratio is to be trusted on a busy machine, too.
            let now = if self.check.is_some() { self.checked(kernel, env, config.clone())? } else { None };
            let seconds = |c: &Checked| c.cpu_seconds;
            if self.costs && repetition == 0 {
                best.costs = self.costs_of(kernel, env, config.clone())?;
            }
            best.checked = best.checked.into_iter().chain(now).min_by(|a, b| seconds(a).total_cmp(&seconds(b)));
            (best.size, best.thread_instructions) = (case.size, stats.thread_instructions);
        }
        best.millions_per_second = best.thread_instructions as f64 / best.cpu_seconds.max(1e-9) / 1e6;
        Ok(best)
    }

    /// Runs a kernel under the check that was asked for.
    fn checked(&self, name: &str, env: &Arc<ProgEnv>, config: Config) -> Result<Option<Checked>, Failure> {
        let Some(mut case) = Case::new(name, self.shift, env, config)? else { return Ok(None) };
        let check = if self.check.as_deref() == Some("bounds") { Check::Bounds } else { Check::Races };
        let mut observers = Observers::none().check(check, env);
        let start = Clock::now(self.threads.is_some());
        case.run(&mut observers)?;
        let cpu_seconds = start.elapsed();
        let (races, bounds) = (observers.get::<Races>(), observers.get::<Bounds>());
        Ok(Some(Checked {
            cpu_seconds,
            shadow_bytes: races.map(|r| r.footing().shadow),
            touched_bytes: races.map(|r| r.footing().touched),
            races: races.map(|r| r.findings().count()),
            lost_origins: bounds.map(|b| b.lost().map(|(_, n)| n).sum()),
        }))
    }

    /// Runs a kernel and counts its messages.
    fn costs_of(&self, name: &str, env: &Arc<ProgEnv>, config: Config) -> Result<Option<CostsReport>, Failure> {
        let Some(mut case) = Case::new(name, self.shift, env, config)? else { return Ok(None) };
        let mut observers = Observers::none().with(Costs::default());
        case.run(&mut observers)?;
        Ok(observers.get().map(CostsReport::new))
    }

    fn total(&self, kernels: Vec<Speed>) -> u8 {
        let logs: f64 = kernels.iter().map(|speed| libm::log(speed.millions_per_second)).sum();
        let geometric_mean = libm::exp(logs / kernels.len().max(1) as f64);
        let code = u8::from(!kernels.iter().all(|speed| speed.correct));
        if self.format == Form::Text {
            output::say(format!("{:<13} {:>30} {geometric_mean:>12.0} M/s\n", "", "geometric mean"));
            if self.costs {
                output::say(costs::table(kernels.iter().filter_map(|s| Some((s.kernel, s.costs?)))));
            }
        } else {
            output::print_json(&Report::Bench(document::Bench { exit: Exit(code), kernels, geometric_mean }));
        }
        code
    }
}

/// The names of all kernels.
fn one_of_all() -> PossibleValuesParser {
    KERNELS.into_iter().chain(MORE).into()
}

fn line(speed: &Speed) -> String {
    let Speed { kernel, size, cpu_seconds, millions_per_second, correct, checked, .. } = speed;
    let verdict = if *correct { "ok" } else { "WRONG RESULTS" };
    let checked = checked.map_or_else(String::new, |c| {
        let races = c.races.map_or_else(String::new, |races| {
            let per_byte = c.shadow_bytes.unwrap_or(0) as f64 / (c.touched_bytes.unwrap_or(0) as f64).max(1.0);
            format!(", {per_byte:.1} bytes a byte, {races} races")
        });
        let lost = c.lost_origins.map_or_else(String::new, |lost| format!(", {lost} lost origins"));
        format!("  checked: {:.1} times as long{races}{lost}", c.cpu_seconds / cpu_seconds.max(1e-9))
    });
    format!("{kernel:<13} {size:>30} {millions_per_second:>12.0} M/s  {cpu_seconds:.3} s  {verdict}{checked}\n")
}

/// CPU time of this thread where Linux tells it, else time on the wall.
enum Clock {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "told by Linux"))]
    Processor(Duration),
    Wall(Duration),
}

impl Clock {
    #[cfg(target_os = "linux")]
    fn processor() -> Option<Duration> {
        rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).try_into().ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn processor() -> Option<Duration> {
        None
    }

    #[expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]
    fn on_the_wall() -> Duration {
        static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
        START.elapsed()
    }

    /// Now; `wall`: by the clock on the wall.
    fn now(wall: bool) -> Self {
        let processor = Self::processor().filter(|_| !wall);
        processor.map_or_else(|| Self::Wall(Self::on_the_wall()), Self::Processor)
    }

    /// Seconds since then.
    fn elapsed(&self) -> f64 {
        let took = match self {
            Self::Processor(then) => Self::processor().unwrap_or(*then).saturating_sub(*then),
            Self::Wall(then) => Self::on_the_wall().saturating_sub(*then),
        };
        took.as_secs_f64()
    }
}
