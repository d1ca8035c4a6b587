//! `warpstep run`

use super::flags::{LaunchFlags, size, time};
use super::{Format, output};
use crate::base::SourceMap;
use crate::check::{Observers, Races};
use crate::launch::{
    Device, Failure, Outcome, Problem, ProblemKind, Script, Spec, device_model, load, memory_programs, run, write_npy,
};
use crate::machine::{Config, ControlModel, DeviceShape, MemoryModel};
use crate::program::env::ProgEnv;
use crate::report::{RacesReport, RuleTrace, run as text};
use crate::verdict::{Event, Silent, Sink, Stop, Who};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Run kernels and compare the results with what is expected.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep run ptx-examples/reduction                      a folder with a launch.toml
  warpstep run ptx-examples/reduction/launch.sm_70.toml    another launch file
  warpstep run saxpy.ptx --grid 4 --block 256 \\
      --buffer x:f32:1024=iota --buffer y:f32:1024=random:7 \\
      --arg u32:1024 --arg f32:2.5 --arg buffer:x --arg buffer:y --print y
  warpstep run DIR --save out=result.npy --hash
  warpstep run DIR --seed 3 --control its                  another schedule, another control model")]
pub(super) struct Run {
    /// A folder with a launch.toml, a launch file (.toml), or a PTX module (.ptx) launched by flags.
    path: PathBuf,

    #[command(flatten)]
    launch: LaunchFlags,

    /// Write a buffer or variable to a file: .npy, or the bytes alone.
    #[arg(long, value_name = "NAME=FILE")]
    pub(super) save: Vec<String>,

    /// Print a buffer or variable.
    #[arg(long, value_name = "NAME")]
    pub(super) print: Vec<String>,

    /// Print hashes of the final memory and of the trace.
    #[arg(long)]
    pub(super) hash: bool,

    /// Print every rule that fires, in order, each warp instruction a step of its own.
    #[arg(long)]
    pub(super) rules: bool,

    /// Take another schedule, at random; the same seed gives the same run on every host.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// The control model; by default crs below sm_70 and its from sm_70 on.
    #[arg(long, value_enum)]
    control: Option<Control>,

    /// The memory: at once, or by the report's caches and memory programs.
    #[arg(long, value_name = "MODEL", value_parser = ["flat", "fermi"], default_value = "flat")]
    memory: String,

    /// The device: fermi, report, fermi-like-sm80, tiny, or a description (.toml) over one of them. Its programs and caches
    /// matter with --memory fermi only.
    #[arg(long, value_name = "PRESET|FILE")]
    device: Option<String>,

    /// Memory programs (*.memp) of one's own in place of the device's, with --memory fermi; `use fermi;` in a file takes
    /// what it leaves out from a preset.
    #[arg(long, value_name = "DIR")]
    memory_programs: Option<PathBuf>,

    /// Also report these.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CHECK,…")]
    check: Vec<Checks>,

    /// With --check races, hide races in which all threads write the same value.
    #[arg(long, value_enum, value_name = "KIND")]
    benign: Option<Benign>,

    /// Stop after so many warp instructions (exit code 3).
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,

    /// Stop a launch after this time, e.g. 10s (exit code 3).
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,

    /// Device memory, e.g. 512M or 4G (exit code 3 beyond it).
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "8G")]
    max_memory: u64,

    /// Threads in a warp; the device's, or 32.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    warp_size: Option<u32>,

    /// Run with a deliberate error (for tests of the tests).
    #[cfg(feature = "mutants")]
    #[arg(long, hide = true, value_name = "NAME", value_parser = mutant)]
    mutant: Option<crate::base::Mutant>,

    /// The form of messages and results.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Control {
    /// A token stack per warp: lanes meet again at post-dominators.
    Crs,
    /// A program counter per lane: independent thread scheduling.
    Its,
    /// Every thread on its own.
    Thread,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Checks {
    /// A value that was never written becomes an address, a branch condition or a stored result.
    Uninit,
    /// Integer division by zero.
    Div0,
    /// Threads do only what each would do alone (report, chapter 6); asserted at each step.
    Safety,
    /// Two accesses of one location, one a write, that nothing orders; also lanes of one instruction that write different
    /// values to one location. The run goes on, and all pairs of instructions are listed at its end.
    Races,
    /// A state of the whole device repeats: the run never ends, and these tokens are never popped (control model crs).
    Liveness,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Benign {
    /// Both accesses are stores of the same value to the same bytes.
    SameValue,
}

#[cfg(feature = "mutants")]
fn mutant(name: &str) -> Result<crate::base::Mutant, String> {
    use crate::base::Mutant;
    let names = || Mutant::ALL.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ");
    Mutant::named(name).ok_or_else(|| format!("one of {}", names()))
}

/// Two observers: the first sees each event before the second may object to it.
struct Both<'a, 'b>(RuleTrace<'a>, &'b mut Observers);

impl Sink for Both<'_, '_> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self.0.event(who, event)?;
        self.1.event(who, event)
    }
}

/// All launches came to their ends.
struct Finished {
    spec: Spec,
    device: Device,
    outcome: Outcome,
    /// The hash of the trace, when asked for.
    trace: Option<u64>,
    /// The races, when asked for.
    races: Option<Races>,
}

/// Why there is no outcome; enough to tell.
enum Trouble {
    Problems(Vec<Problem>, SourceMap),
    Stopped(Stop, Box<Device>, Vec<u8>, Option<Box<Races>>),
    /// A stop before there was a device.
    Early(Stop, SourceMap),
}

impl Run {
    /// Runs the command; gives the exit code.
    pub fn execute(&self) -> u8 {
        #[cfg(feature = "mutants")]
        crate::base::mutant::select(self.mutant);
        let mut sources = SourceMap::default();
        match Script::read(&self.path, &mut sources) {
            Ok(Some(script)) => return self.script(&script, sources),
            Ok(None) => {}
            Err(problems) => return output::problems(&problems, &sources, self.format),
        }
        match self.outcome() {
            Ok(finished) => self.finish(&finished),
            Err(Trouble::Problems(problems, sources)) => output::problems(&problems, &sources, self.format),
            Err(Trouble::Early(stop, sources)) => output::stop(&stop, &ProgEnv::default(), &sources, &[], self.format),
            Err(Trouble::Stopped(stop, device, printed, races)) => {
                if let Some(races) = races.filter(|_| self.format == Format::Text) {
                    let report = RacesReport::new(&races, device.context().env(), device.sources());
                    output::complain(&report.render(output::colour()));
                }
                output::stop(&stop, device.context().env(), device.sources(), &printed, self.format)
            }
        }
    }

    /// How the flags want the device to be.
    ///
    /// # Errors
    /// What is wrong with the device's description.
    pub(super) fn config(&self, sources: &mut SourceMap) -> Result<Config, Vec<Problem>> {
        let mut config = self.flags();
        if self.check.contains(&Checks::Races) && config.memory != MemoryModel::Flat {
            let form = "races are looked for on flat memory only: without --memory";
            return Err(vec![ProblemKind::BadFlag { flag: "--check", text: "races".to_owned(), form }.at(None)]);
        }
        if self.benign.is_some() && !self.check.contains(&Checks::Races) {
            let form = "it is about races: give --check races, too";
            return Err(vec![ProblemKind::BadFlag { flag: "--benign", text: "same-value".to_owned(), form }.at(None)]);
        }
        if let Some(name) = &self.device {
            let model = device_model(name, sources)?;
            config.device = DeviceShape::of(&model);
            config.warp_size = self.warp_size.unwrap_or(model.warp_size);
            if config.memory != MemoryModel::Flat {
                config.memory = MemoryModel::of(model).unwrap_or_default();
            }
        }
        if let Some(folder) = &self.memory_programs {
            let MemoryModel::Fermi(_, programs) = &mut config.memory else {
                let form = "memory programs are run with --memory fermi";
                let text = folder.display().to_string();
                return Err(vec![ProblemKind::BadFlag { flag: "--memory-programs", text, form }.at(None)]);
            };
            let (set, problems) = memory_programs(folder, sources);
            if problems.iter().any(|p| !p.is_warning()) {
                return Err(problems);
            }
            *programs = Arc::new(set);
        }
        Ok(config)
    }

    fn flags(&self) -> Config {
        let control = self.control.map(|c| match c {
            Control::Crs => ControlModel::Crs,
            Control::Its => ControlModel::Its,
            Control::Thread => ControlModel::Thread,
        });
        Config {
            control,
            warp_size: self.warp_size.unwrap_or(32),
            seed: self.seed,
            max_steps: self.max_steps,
            timeout: self.timeout,
            max_memory: Some(self.max_memory),
            small_steps: self.rules,
            liveness: self.check.contains(&Checks::Liveness),
            memory: MemoryModel::preset(&self.memory).unwrap_or_default(),
            ..Config::default()
        }
    }

    /// Whether the flags ask for observers.
    pub(super) const fn watched(&self) -> bool {
        self.hash || !self.check.is_empty()
    }

    /// The observers that the flags ask for.
    pub(super) fn observers_of(&self, program: &Arc<ProgEnv>) -> Observers {
        let mut observers = Observers::none();
        if self.hash {
            observers = observers.with_hash(program);
        }
        for check in &self.check {
            observers = match check {
                Checks::Uninit => observers.with_uninit(program),
                Checks::Div0 => observers.with_div0(program),
                Checks::Races => {
                    let races = Races::new(Arc::clone(program));
                    let hide = self.benign == Some(Benign::SameValue);
                    observers.with_races(if hide { races.without_same_value() } else { races })
                }
                Checks::Safety => observers.with_safety(program),
                Checks::Liveness => observers.with_liveness(),
            };
        }
        observers
    }

    fn outcome(&self) -> Result<Finished, Trouble> {
        let mut sources = SourceMap::default();
        let loaded = self.spec(&mut sources).and_then(|spec| {
            let config = self.config(&mut sources)?;
            let env = load(&spec.ptx, config.control, &mut sources)?;
            Ok((spec, env, config))
        });
        let (spec, env, config) = match loaded {
            Ok(loaded) => loaded,
            Err(problems) => return Err(Trouble::Problems(problems, sources)),
        };
        let copy = sources.clone();
        let mut device = Device::new(env, sources, config).map_err(|stop| Trouble::Early(stop, copy))?;
        let program = device.context().program();
        let mut observers = self.observers_of(&program);
        let mut printed = Vec::new();
        let mut out = |bytes: &[u8]| match self.format {
            Format::Text => output::print(bytes),
            Format::Json => printed.extend_from_slice(bytes),
        };
        let result = if self.rules {
            let mut line = |line: &str| output::print(format!("{line}\n"));
            let trace = RuleTrace::new(vec![program], device.sources().clone(), &mut line);
            run(&spec, &mut device, &mut Both(trace, &mut observers), &mut out)
        } else if observers.any() {
            run(&spec, &mut device, &mut observers, &mut out)
        } else {
            run(&spec, &mut device, &mut Silent, &mut out)
        };
        let (trace, races) = (observers.hash.map(|h| h.value()), observers.races);
        match result {
            Ok(outcome) => Ok(Finished { spec, device, outcome, trace, races }),
            Err(Failure::Input(problems)) => Err(Trouble::Problems(problems, device.sources().clone())),
            Err(Failure::Stop(stop)) => Err(Trouble::Stopped(stop, Box::new(device), printed, races.map(Box::new))),
        }
    }

    fn spec(&self, sources: &mut SourceMap) -> Result<Spec, Vec<Problem>> {
        let extension = self.path.extension().and_then(|e| e.to_str()).unwrap_or("");
        let is_file = self.path.is_file();
        if extension.eq_ignore_ascii_case("ptx") {
            return self.launch.spec(&self.path);
        }
        if is_file && !extension.eq_ignore_ascii_case("toml") {
            return Err(vec![ProblemKind::UnknownKind { path: self.path.clone() }.at(None)]);
        }
        if let Some(flag) = self.launch.given() {
            let form = "the flags describe launches of a .ptx file; a launch file says this itself";
            return Err(vec![ProblemKind::BadFlag { flag, text: self.path.display().to_string(), form }.at(None)]);
        }
        Spec::read(&self.path, sources)
    }

    /// Saves and prints what was asked for, and tells the verdict.
    fn finish(&self, finished: &Finished) -> u8 {
        let Finished { spec, device, outcome, trace, races } = finished;
        let races = races.as_ref().map(|r| RacesReport::new(r, device.context().env(), device.sources()));
        let mut problems = Vec::new();
        for save in &self.save {
            if let Err(kind) = Self::save(save, device) {
                problems.push(kind.at(None));
            }
        }
        let mut printed = serde_json::Map::new();
        for name in &self.print {
            match device.contents(name) {
                Some((ty, bytes)) if self.format == Format::Json => {
                    printed.insert(name.clone(), text::values_json(ty, bytes));
                }
                Some((ty, bytes)) => output::print(text::values(name, ty, bytes)),
                None => problems.push(unknown(name, device).at(None)),
            }
        }
        if !problems.is_empty() {
            return output::problems(&problems, device.sources(), self.format);
        }
        let racy = races.as_ref().is_some_and(RacesReport::any);
        let code = u8::from(!outcome.as_expected() || racy);
        let memory = self.hash.then(|| device.memory_hash());
        match self.format {
            Format::Text => {
                if let Some(hash) = memory {
                    output::print(format!("memory {hash:016x}\n"));
                }
                if let Some(hash) = trace {
                    output::print(format!("trace {hash:016x}\n"));
                }
                if let Some(races) = &races {
                    output::complain(&races.render(output::colour()));
                }
                for mismatch in &outcome.mismatches {
                    output::complain(&text::mismatch(mismatch));
                }
                if let Some(mismatch) = &outcome.output_mismatch {
                    output::complain(&text::output_mismatch(mismatch));
                }
                let checked = spec.expect.len() + usize::from(spec.stdout.is_some());
                output::complain(&text::summary(outcome, checked));
            }
            Format::Json => {
                let mut value = text::json(outcome);
                if let Value::Object(all) = &mut value {
                    all.insert("exit".to_owned(), code.into());
                    if let Some(races) = &races {
                        all.insert("races".to_owned(), races.json().into());
                        all.insert("races_unknown".to_owned(), races.unknown_json().into());
                    }
                    all.insert("buffers".to_owned(), Value::Object(printed));
                    all.insert("memory_hash".to_owned(), json!(memory.map(|h| format!("{h:016x}"))));
                    all.insert("trace_hash".to_owned(), json!(trace.map(|h| format!("{h:016x}"))));
                }
                output::print_json(&value);
            }
        }
        code
    }

    fn save(text: &str, device: &Device) -> Result<(), ProblemKind> {
        let form = "NAME=FILE, e.g. out=result.npy";
        let bad = || ProblemKind::BadFlag { flag: "--save", text: text.to_owned(), form };
        let (name, path) = text.split_once('=').ok_or_else(bad)?;
        let (ty, bytes) = device.contents(name).ok_or_else(|| unknown(name, device))?;
        let path = Path::new(path);
        let npy = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
        let written = if npy { std::fs::write(path, write_npy(bytes, ty)) } else { std::fs::write(path, bytes) };
        written.map_err(|e| ProblemKind::Unwritable { path: path.to_owned(), cause: e.kind() })
    }
}

fn unknown(name: &str, device: &Device) -> ProblemKind {
    ProblemKind::UnknownVariable { name: name.to_owned(), known: device.names().map(str::to_owned).collect() }
}
