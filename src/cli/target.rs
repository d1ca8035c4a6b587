//! What is run and how: the flags that all commands share which run kernels.

use super::bounds::{bounds, usual_memory};
use super::flags::{LaunchFlags, size, size_or_none, time};
use crate::base::SourceMap;
use crate::check::{Benign, Check, Observers, RacesOptions};
use crate::explore::{Limits, Target};
use crate::launch::{Failure, Problem, ProblemKind, Script, Spec, device_model, load, memory_programs};
use crate::machine::{Bounds, Config, ControlModel, DeviceShape, HeapConfig, MemoryModel};
use crate::program::env::ProgEnv;
use crate::report::Models;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How a target is run.
#[derive(Args, Clone, Debug)]
pub(super) struct Common {
    #[command(flatten)]
    pub launch: LaunchFlags,

    /// The control model; by default crs below sm_70 and its from sm_70 on.
    #[arg(long, value_enum)]
    control: Option<Control>,

    /// With control model its: any lanes that stand at one address may run without the others, not all of them together.
    /// Only that shows what a missing __syncwarp can do.
    #[arg(long)]
    its_split: bool,

    /// The memory: at once, or by the report's caches and memory programs.
    #[arg(long, value_name = "MODEL", value_parser = ["flat", "fermi"], default_value = "flat")]
    memory: String,

    /// Whether the lanes of an instruction access flat memory together, or one by one in any order, interleaved with
    /// other warps, vectors element by element.
    #[arg(long, value_enum)]
    lanes: Option<Lanes>,

    /// The device: fermi, report, fermi-like-sm80, tiny, write-through, invalidate, or a description (.toml) over one of
    /// them. Its programs and caches matter with --memory fermi only.
    #[arg(long, value_name = "PRESET|FILE")]
    device: Option<String>,

    /// Memory programs (*.memp) of one's own in place of the device's, with --memory fermi; `use fermi;` in a file takes
    /// what it leaves out from a preset.
    #[arg(long, value_name = "DIR")]
    memory_programs: Option<PathBuf>,

    /// Also report these.
    #[arg(long, value_parser = checks(), value_delimiter = ',', value_name = "CHECK,…")]
    check: Vec<Check>,

    /// With --check races, the races that are no defects: stores of the same value, by lanes of one instruction if nothing
    /// else is said. How many were hidden is told at the end.
    #[arg(long, value_enum, value_name = "KIND")]
    benign: Option<BenignRaces>,

    /// With --check races, what volatile accesses are: strong, as PTX says (what they communicate without a fence or barrier
    /// is warned of), or weak, so that they race.
    #[arg(long, value_enum, value_name = "STRENGTH")]
    volatile: Option<Volatile>,

    /// Stop after so many warp instructions (exit code 3); those of a search are counted together.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,

    /// Stop a launch after this time, e.g. 10s (exit code 3); of a search it is the time for all.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub timeout: Option<Duration>,

    /// Memory, e.g. 512M or 4G (exit code 3 beyond it): of the device, and of what is needed to run it. 8G by default, or
    /// three quarters of what is free.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,

    /// The heap of the device's malloc, as cudaLimitMallocHeapSize sets it.
    #[arg(long, value_name = "SIZE", value_parser = size_or_none, default_value = "8M")]
    heap_size: u64,

    /// Stop a run whose malloc finds the heap full (exit code 3); it returns null otherwise.
    #[arg(long)]
    heap_stop: bool,

    /// For launch files, host scripts and PTX of others: they name files of their own folder only.
    #[arg(long)]
    confine: bool,

    /// Threads in a warp; the device's, or 32.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    warp_size: Option<u32>,

    /// Run with a deliberate error (for tests of the tests).
    #[cfg(feature = "mutants")]
    #[arg(long, hide = true, value_name = "NAME", value_parser = mutant)]
    mutant: Option<crate::base::Mutant>,

    /// What the command may take.
    #[arg(skip)]
    pub bounds: Bounds,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Control {
    /// A token stack per warp: lanes meet again at post-dominators.
    Crs,
    /// A program counter per lane: independent thread scheduling.
    Its,
    /// Every thread on its own.
    Thread,
}

impl From<Control> for ControlModel {
    fn from(control: Control) -> Self {
        match control {
            Control::Crs => Self::Crs,
            Control::Its => Self::Its,
            Control::Thread => Self::Thread,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Lanes {
    /// One by one.
    Split,
    /// Together.
    Whole,
}

/// A check by its name.
fn checks() -> impl TypedValueParser<Value = Check> {
    let of = |check: &Check| PossibleValue::new(check.name()).help(check.help().trim_end_matches('.'));
    PossibleValuesParser::new(Check::ALL.iter().map(of))
        .map(|name| *Check::ALL.iter().find(|check| check.name() == name).expect("only names of checks are taken"))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum BenignRaces {
    /// None.
    None,
    /// Lanes of one instruction store the same value to the same bytes, as compilers make them.
    Instruction,
    /// Both accesses are stores of the same value to the same bytes.
    SameValue,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Volatile {
    /// As .relaxed.sys.
    Strong,
    /// As ordinary accesses.
    Weak,
}

impl From<BenignRaces> for Benign {
    fn from(benign: BenignRaces) -> Self {
        match benign {
            BenignRaces::None => Self::None,
            BenignRaces::Instruction => Self::Instruction,
            BenignRaces::SameValue => Self::SameValue,
        }
    }
}

#[cfg(feature = "mutants")]
fn mutant(name: &str) -> Result<crate::base::Mutant, String> {
    use crate::base::Mutant;
    let names = || Mutant::ALL.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ");
    Mutant::named(name).ok_or_else(|| format!("one of {}", names()))
}

impl Common {
    /// Makes the deliberate error, if any.
    pub fn select_mutant(&self) {
        #[cfg(feature = "mutants")]
        crate::base::mutant::select(self.mutant);
    }

    /// The command begins: from now on it may take so much time, and the memory that the flags allow; `search`: of a search.
    pub fn begin(&mut self, time: Option<Duration>, search: Option<u64>) {
        let cap = search.into_iter().chain(self.max_memory).min().unwrap_or_else(usual_memory);
        self.bounds = bounds(time, cap, search.is_some());
    }

    /// A part of the work begins, the first of so many: it may take its share of the time that is left.
    pub fn share(&mut self, parts: u32, search: Option<u64>) {
        let left = self.bounds.left().map(|left| left / parts.max(1));
        self.begin(left, search);
    }

    /// How the flags want the device to be.
    ///
    /// # Errors
    /// What is wrong with the device's description.
    pub fn config(&self, sources: &mut SourceMap) -> Result<Config, Vec<Problem>> {
        if self.its_split && matches!(self.control, Some(Control::Crs | Control::Thread)) {
            let why =
                "it is about groups of lanes that control model its makes: without --control, or with --control its";
            let text = self.control.map_or_else(String::new, word);
            return Err(vec![ProblemKind::UnfitFlag { flag: "--its-split", text, why }.at(None)]);
        }
        let mut config = self.flags();
        if let Some(lanes) = self.lanes {
            let Some(memory) = config.memory.clone().with_lanes_split(lanes == Lanes::Split) else {
                let why = "lanes are split or whole with --memory flat; memory with caches has operations of its own";
                let text = self.memory.clone();
                return Err(vec![ProblemKind::UnfitFlag { flag: "--lanes", text, why }.at(None)]);
            };
            config.memory = memory;
        }
        if let Some(benign) = self.benign.filter(|_| !self.checks(Check::Races)) {
            let why = "it is about races: give --check races, too";
            return Err(vec![ProblemKind::UnfitFlag { flag: "--benign", text: word(benign), why }.at(None)]);
        }
        if let Some(volatile) = self.volatile.filter(|_| !self.checks(Check::Races)) {
            let why = "it is about races: give --check races, too";
            return Err(vec![ProblemKind::UnfitFlag { flag: "--volatile", text: word(volatile), why }.at(None)]);
        }
        if let Some(name) = &self.device {
            let model = device_model(name, sources)?;
            config.device = DeviceShape::of(&model);
            config.warp_size = self.warp_size.unwrap_or(model.warp_size);
            if matches!(config.memory, MemoryModel::Fermi(..)) {
                config.memory = MemoryModel::of(model).unwrap_or_default();
            }
        }
        if let Some(folder) = &self.memory_programs {
            let MemoryModel::Fermi(_, programs) = &mut config.memory else {
                let why = "memory programs are run with --memory fermi";
                let text = folder.display().to_string();
                return Err(vec![ProblemKind::UnfitFlag { flag: "--memory-programs", text, why }.at(None)]);
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
        let control = self.control.map(ControlModel::from);
        let control = if self.its_split { Some(ControlModel::ItsSplit) } else { control };
        Config {
            control,
            warp_size: self.warp_size.unwrap_or(32),
            max_steps: self.max_steps,
            timeout: self.timeout,
            max_memory: Some(self.max_memory.unwrap_or_else(usual_memory)),
            bounds: self.bounds.clone(),
            liveness: self.check.contains(&Check::Liveness),
            leaks: self.check.contains(&Check::Leaks),
            heap: self.heap(),
            memory: MemoryModel::preset(&self.memory).unwrap_or_default(),
            ..Config::default()
        }
    }

    /// The heap of the device's malloc.
    fn heap(&self) -> HeapConfig {
        HeapConfig { bytes: self.heap_size, stop: self.heap_stop }
    }

    /// The observers that the flags ask for.
    pub fn observers(&self, program: &Arc<ProgEnv>) -> Observers {
        self.observers_that(false, program)
    }

    /// The same for one run of many: it ends at the first race, which a schedule then leads to.
    pub fn stopping(&self, program: &Arc<ProgEnv>) -> Observers {
        self.observers_that(true, program)
    }

    fn observers_that(&self, stopping: bool, program: &Arc<ProgEnv>) -> Observers {
        let benign = self.benign.map(Benign::from).unwrap_or_default();
        let weak_volatile = self.volatile == Some(Volatile::Weak);
        Observers::of(&self.check, program, RacesOptions { benign, weak_volatile, stopping })
    }

    /// Whether the flags ask for observers.
    pub fn observes(&self) -> bool {
        self.check.iter().any(|check| check.observes())
    }

    /// Whether the flags ask for a check.
    pub fn checks(&self, check: Check) -> bool {
        self.check.contains(&check)
    }

    /// The checks that the flags ask for, by name.
    pub fn checked(&self) -> Vec<String> {
        self.check.iter().map(|check| check.name().to_owned()).collect()
    }

    /// Those of them that look at a run, not at a state: they have no say in a search, but in the runs that show what it found.
    pub fn looks_at_runs(&self) -> Vec<String> {
        self.check.iter().filter(|check| check.looks_at_runs()).map(|check| check.name().to_owned()).collect()
    }

    /// For what is read of a target.
    pub fn sources(&self) -> SourceMap {
        SourceMap::default().confined(self.confine)
    }

    /// The same flags; whether the files of a target name others of their folder only is said by those of a command, not by
    /// a schedule.
    pub fn confined_as(self, other: &Self) -> Self {
        Self { confine: other.confine, ..self }
    }

    /// What to launch: a folder with a launch.toml, a launch file, or PTX launched by flags.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn spec(&self, path: &Path, sources: &mut SourceMap) -> Result<Spec, Vec<Problem>> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        if extension.eq_ignore_ascii_case("ptx") {
            return self.launch.spec(path);
        }
        if path.is_file() && !extension.eq_ignore_ascii_case("toml") {
            return Err(vec![ProblemKind::UnknownKind { path: path.to_owned() }.at(None)]);
        }
        if let Some(flag) = self.launch.given() {
            let why = "the flags describe launches of a .ptx file; a launch file says this itself";
            return Err(vec![ProblemKind::UnfitFlag { flag, text: path.display().to_string(), why }.at(None)]);
        }
        Spec::read(path, sources)
    }

    /// A target, to be run many times: all blocks that fit take part from the beginning, and the observed part of a run
    /// looks for a state that repeats when it is asked to.
    ///
    /// # Errors
    /// Everything that is wrong with it; the memory cap.
    pub fn target(&self, path: &Path, sources: &mut SourceMap) -> Result<Target, Failure> {
        if Script::read(path, sources)?.is_some() {
            return Err(Box::new(ProblemKind::ScriptTarget { path: path.to_owned() }.at(None)).into());
        }
        let spec = self.spec(path, sources)?;
        let config = Config { eager: true, liveness: true, ..self.config(sources)? };
        let env = load(&spec.ptx, config.control, sources)?;
        self.bounds.count_from_here();
        let mut target = Target::new(spec, env, sources.clone(), config)?;
        if self.checks(Check::Deterministic) {
            let played = target.play_fair(self.limits(None));
            target.compare_schedules(&played);
        }
        Ok(target)
    }

    /// Limits of one run of many, when the default schedule took `clock` warp instructions.
    pub fn limits(&self, clock: Option<u64>) -> Limits {
        Limits::of_run(clock, self.max_steps)
    }

    /// The same under another control model.
    pub fn under(&self, control: ControlModel) -> Self {
        let its_split = control == ControlModel::ItsSplit;
        let control = match control {
            ControlModel::Crs => Control::Crs,
            ControlModel::Its | ControlModel::ItsSplit => Control::Its,
            ControlModel::Thread => Control::Thread,
        };
        Self { control: Some(control), its_split, ..self.clone() }
    }

    /// The names of the flags that [`Common::chooses_models`] tells.
    pub const MODELS: [&'static str; 4] = ["control", "its_split", "memory", "lanes"];

    /// A flag that chooses among the models, if one is given.
    pub fn chooses_models(&self) -> Option<&'static str> {
        let given = [
            ("--control", self.control.is_some()),
            ("--its-split", self.its_split),
            ("--memory", self.memory != "flat"),
            ("--lanes", self.lanes.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// The same flags with each control model and memory.
    pub fn all_models(&self) -> Vec<Self> {
        let controls = [(Control::Crs, false), (Control::Its, false), (Control::Its, true), (Control::Thread, false)];
        let memories = [("flat", None), ("flat", Some(Lanes::Split)), ("fermi", None)];
        let models = controls.into_iter().flat_map(|control| memories.map(|memory| (control, memory)));
        let with = |((control, its_split), (memory, lanes)): ((Control, bool), (&str, Option<Lanes>))| Self {
            control: Some(control),
            its_split,
            memory: memory.to_owned(),
            lanes,
            memory_programs: self.memory_programs.clone().filter(|_| memory == "fermi"),
            ..self.clone()
        };
        models.map(with).collect()
    }

    /// A phrase that names the control model and the memory, for verdicts.
    pub fn models(&self, target: &Target) -> Models {
        self.models_of(target.control(), &target.start().context().config().memory)
    }

    /// Whether memory makes steps of its own.
    pub fn memory_steps(&self) -> bool {
        self.memory != "flat" || self.lanes == Some(Lanes::Split)
    }

    /// The same of what was made from these flags.
    pub fn models_of(&self, control: ControlModel, memory: &MemoryModel) -> Models {
        let split = match memory {
            MemoryModel::Flat => Some(false),
            MemoryModel::Split => Some(true),
            MemoryModel::Fermi(..) => None,
        };
        Models { control, memory: self.memory.clone(), split }
    }

    /// The words of a command line that say the same as these flags: a schedule keeps them.
    pub fn words(&self) -> Vec<String> {
        let mut words = self.launch.words();
        let mut push = |flag: &str, value: Option<String>| {
            if let Some(value) = value {
                words.extend([flag.to_owned(), value]);
            }
        };
        let shown = |path: &PathBuf| path.display().to_string();
        push("--control", self.control.map(word));
        if self.its_split {
            words.push("--its-split".to_owned());
        }
        let mut push = |flag: &str, value: Option<String>| {
            if let Some(value) = value {
                words.extend([flag.to_owned(), value]);
            }
        };
        push("--memory", (self.memory != "flat").then(|| self.memory.clone()));
        push("--lanes", self.lanes.map(word));
        push("--device", self.device.clone());
        push("--memory-programs", self.memory_programs.as_ref().map(shown));
        push("--warp-size", self.warp_size.map(|n| n.to_string()));
        let checks = self.checked();
        push("--check", (!checks.is_empty()).then(|| checks.join(",")));
        push("--benign", self.benign.map(word));
        push("--volatile", self.volatile.map(word));
        push("--heap-size", (self.heap_size != HeapConfig::default().bytes).then(|| self.heap_size.to_string()));
        if self.heap_stop {
            words.push("--heap-stop".to_owned());
        }
        words
    }
}

/// What a value of a flag is called.
fn word(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
}
