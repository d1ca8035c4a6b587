//! `warpstep bench`

use super::{Format, output};
use crate::base::SourceMap;
use crate::check::{Bounds, Check, Footing, Observers, Races};
use crate::launch::Failure;
use crate::launch::bench::{Case, KERNELS, program};
use crate::machine::{Config, MemoryModel};
use crate::program::env::ProgEnv;
use crate::report::document::{self, Report, Speed};
use crate::report::parts::Exit;
use clap::Args;
use std::sync::Arc;
use std::time::Instant;

/// Measure speed: nine kernels of known size, one thread, results checked.
///
/// Prints thread instructions (PTX instructions executed, times threads) per second of CPU time.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep bench                      all nine kernels
  warpstep bench matmul hist --reps 5
  warpstep bench --shift 4            a sixteenth of the work")]
pub(super) struct Bench {
    /// Only these kernels.
    #[arg(value_parser = KERNELS)]
    kernels: Vec<String>,

    /// Divide the work by about 2^N.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=16))]
    shift: u32,

    /// Repeat each kernel and take the fastest.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,

    /// The memory: at once, or by the report's caches and memory programs.
    #[arg(long, value_name = "MODEL", value_parser = ["flat", "fermi"], default_value = "flat")]
    memory: String,

    /// Run under a check, too: prints how many times longer that takes and the memory of the check.
    #[arg(long, value_name = "CHECK", value_parser = ["races", "bounds"])]
    check: Option<String>,

    /// The form of the results.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// One kernel's result.
struct Measured {
    size: String,
    instructions: u64,
    seconds: f64,
    correct: bool,
    checked: Option<Checked>,
}

/// The same kernel under a check.
struct Checked {
    seconds: f64,
    /// Of the check for races: what it takes, and races.
    races: Option<(Footing, usize)>,
    /// Of the check for bounds: accesses whose origin was lost.
    lost: Option<u64>,
}

impl Bench {
    /// Runs the command; gives the exit code.
    pub(super) fn execute(&self) -> u8 {
        let (env, sources) = match program() {
            Ok(program) => program,
            Err((problems, sources)) => return output::problems(&problems, &sources, self.format),
        };
        let all: Vec<&'static str> =
            KERNELS.into_iter().filter(|k| self.kernels.is_empty() || self.kernels.iter().any(|n| n == k)).collect();
        let mut rows = Vec::new();
        for name in &all {
            match self.measure(name, &env) {
                Ok(measured) => {
                    if self.format == Format::Text {
                        output::say(line(name, &measured));
                    }
                    rows.push((*name, measured));
                }
                Err(Failure::Stop(stop)) => return output::stop(&stop, &env, &sources, &[], self.format),
                Err(Failure::Input(problems)) => {
                    return output::problems(&problems, &SourceMap::default(), self.format);
                }
            }
        }
        self.total(&rows)
    }

    fn measure(&self, name: &str, env: &Arc<ProgEnv>) -> Result<Measured, Failure> {
        let memory = MemoryModel::preset(&self.memory).unwrap_or_default();
        let config = Config { memory, ..Config::default() };
        let mut best: Option<Measured> = None;
        for _ in 0..self.reps {
            let Some(case) = Case::new(name, self.shift, env, config.clone()) else { break };
            let mut case = case?;
            let start = Clock::now();
            let stats = case.run()?;
            let seconds = start.elapsed();
            // The first repetition's results are checked; all have the same inputs.
            let correct = best.as_ref().map_or_else(|| case.correct(), |b| b.correct);
            let known = best.as_mut().and_then(|b| b.checked.take());
            // Right after the run without the check: a ratio is to be trusted on a busy machine, too.
            let now = if self.check.is_some() { self.checked(name, env, config.clone())? } else { None };
            let checked = match (known, now) {
                (Some(a), Some(b)) => Some(if a.seconds <= b.seconds { a } else { b }),
                (a, b) => a.or(b),
            };
            let (size, instructions) = (case.size, stats.thread_instructions);
            let seconds = best.as_ref().map_or(seconds, |b| b.seconds.min(seconds));
            best = Some(Measured { size, instructions, seconds, correct, checked });
        }
        let none = Measured { size: String::new(), instructions: 0, seconds: 0.0, correct: false, checked: None };
        Ok(best.unwrap_or(none))
    }

    /// Runs a kernel under the check that was asked for.
    fn checked(&self, name: &str, env: &Arc<ProgEnv>, config: Config) -> Result<Option<Checked>, Failure> {
        let Some(case) = Case::new(name, self.shift, env, config) else { return Ok(None) };
        let mut case = case?;
        let check = if self.check.as_deref() == Some("bounds") { Check::Bounds } else { Check::Races };
        let mut observers = Observers::none().check(check, env);
        let start = Clock::now();
        case.run_with(&mut observers)?;
        let seconds = start.elapsed();
        let races = observers.get().map(|r: &Races| (r.footing(), r.findings().count()));
        let lost = observers.get().map(|b: &Bounds| b.lost().map(|(_, n)| n).sum());
        Ok(Some(Checked { seconds, races, lost }))
    }

    fn total(&self, rows: &[(&'static str, Measured)]) -> u8 {
        let logs: Vec<f64> = rows.iter().map(|(_, m)| libm::log(rate(m))).collect();
        let mean = libm::exp(logs.iter().sum::<f64>() / rows.len().max(1) as f64);
        let correct = rows.iter().all(|(_, m)| m.correct);
        match self.format {
            Format::Text => output::say(format!("{:<13} {:>30} {mean:>12.0} M/s\n", "", "geometric mean")),
            Format::Json => {
                let checked = |c: &Checked| {
                    let (footing, races) = c.races.unzip();
                    document::Checked {
                        cpu_seconds: c.seconds,
                        shadow_bytes: footing.map(|f| f.shadow),
                        touched_bytes: footing.map(|f| f.touched),
                        races,
                        lost_origins: c.lost,
                    }
                };
                let speed = |(kernel, m): &(&'static str, Measured)| Speed {
                    kernel,
                    size: m.size.clone(),
                    thread_instructions: m.instructions,
                    cpu_seconds: m.seconds,
                    millions_per_second: rate(m),
                    correct: m.correct,
                    checked: m.checked.as_ref().map(checked),
                };
                let kernels = rows.iter().map(speed).collect();
                let exit = Exit(u8::from(!correct));
                output::print_json(&Report::Bench(document::Bench { exit, kernels, geometric_mean: mean }));
            }
        }
        u8::from(!correct)
    }
}

/// Millions of thread instructions per second.
fn rate(m: &Measured) -> f64 {
    m.instructions as f64 / m.seconds.max(1e-9) / 1e6
}

fn line(name: &str, m: &Measured) -> String {
    let verdict = if m.correct { "ok" } else { "WRONG RESULTS" };
    let checked = m.checked.as_ref().map_or_else(String::new, |c| {
        let races = c.races.map_or_else(String::new, |(footing, races)| {
            let per_byte = footing.shadow as f64 / (footing.touched as f64).max(1.0);
            format!(", {per_byte:.1} bytes a byte, {races} races")
        });
        let lost = c.lost.map_or_else(String::new, |lost| format!(", {lost} lost origins"));
        let times = c.seconds / m.seconds.max(1e-9);
        format!("  checked: {times:.1} times as long{races}{lost}")
    });
    format!("{name:<13} {:>30} {:>12.0} M/s  {:.3} s  {verdict}{checked}\n", m.size, rate(m), m.seconds)
}

/// CPU time of this thread where Linux tells it, else wall time.
struct Clock {
    wall: Instant,
    cpu: Option<u64>,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]
    fn now() -> Self {
        Self { wall: Instant::now(), cpu: cpu_nanoseconds() }
    }

    /// Seconds since then.
    fn elapsed(&self) -> f64 {
        let cpu = self.cpu.zip(cpu_nanoseconds()).map(|(a, b)| b.saturating_sub(a) as f64 / 1e9);
        // The scheduler accounts in ticks: over a few of them the clock on the wall is nearer.
        let wall = self.wall.elapsed().as_secs_f64();
        cpu.filter(|c| *c > 0.02).unwrap_or(wall)
    }
}

fn cpu_nanoseconds() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
