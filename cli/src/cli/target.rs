//! What is run and how: the flags that all commands share which run kernels.

use super::bounds::{bounds, usual_memory};
use super::flags::{LaunchFlags, arch, size, size_or_none, time};
use crate::base::SourceMap;
use crate::check::{Benign, Check, Observers, RacesOptions};
use crate::explore::{Limits, Target};
use crate::launch::{At, Failure, Problem, ProblemKind, Script, Spec, device_model, is_ptx, load, memory_programs};
use crate::machine::{Bounds, Config, ControlModel, DeviceShape, Engine, HeapConfig, MemoryModel};
use crate::memory::rsp::SchemeName;
use crate::program::env::ProgEnv;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How a target is run.
#[derive(Args, Clone, Debug)]
pub(super) struct Common {
    #[command(flatten)]
    pub launch: LaunchFlags,

    /// The control model; by default crs below sm_70 and its from sm_70 on.
    #[arg(long, value_parser = one_of(&CONTROLS))]
    control: Option<ControlModel>,

    /// With control model its: any lanes that stand at one address may run without the others, not all of them together.
    /// Only that shows what a missing __syncwarp can do.
    #[arg(long)]
    its_split: bool,

    /// The memory: at once (flat), by the report's caches and memory programs (fermi), with remote-scope promotion (rsp: each
    /// block has an L1 cache, and `.pragma "warpstep remote";` marks the next access as remote), lockstep sequential consistency
    /// (lsc), strictly so, an instruction's accesses at one time (slsc), or by the mutex mechanism made for it (lsc-mutex).
    #[arg(long, value_name = "MODEL", value_parser = MemoryModel::NAMES, default_value = "flat")]
    memory: String,

    /// With --memory rsp, and with --machine rsp: how accesses are compiled for it, as was published first or as was proposed
    /// then, which is the default.
    #[arg(long, value_parser = one_of(&SCHEMES), value_name = "SCHEME")]
    scheme: Option<SchemeName>,

    /// Whether the lanes of an instruction access flat memory together, or one by one in any order, interleaved with
    /// other warps, vectors element by element.
    #[arg(long, value_parser = one_of(&LANES))]
    lanes: Option<bool>,

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
    #[arg(long, value_parser = one_of(&BENIGN), value_name = "KIND")]
    benign: Option<Benign>,

    /// With --check races, what volatile accesses are: strong, as PTX says (what they communicate without a fence or barrier
    /// is warned of), or weak, so that they race.
    #[arg(long, value_parser = one_of(&VOLATILE), value_name = "STRENGTH")]
    volatile: Option<bool>,

    /// Stop after so many warp instructions (exit code 3); those of a search are counted together.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,

    /// Stop a launch after this time, e.g. 10s (exit code 3); of a search it is the time for all.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub timeout: Option<Duration>,

    /// Memory, e.g. 512M or 4G (exit code 3 beyond it): of the device, and of what is needed to run it. 8G by default, or
    /// three quarters of what is free.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_memory: Option<u64>,

    /// The heap of the device's malloc, as cudaLimitMallocHeapSize sets it.
    #[arg(long, value_name = "SIZE", value_parser = size_or_none, default_value = "8M")]
    heap_size: u64,

    /// Stop a run whose malloc finds the heap full (exit code 3); it returns null otherwise.
    #[arg(long)]
    heap_stop: bool,

    /// For launch files, host scripts and PTX of others: they name files of their own folder only.
    #[arg(long)]
    confine: bool,

    /// Of a fat binary, object or executable the PTX for this architecture, e.g. sm_80; the highest that is known by default.
    #[arg(long, value_name = "sm_N", value_parser = arch)]
    arch: Option<u32>,

    /// Threads in a warp; the device's, or 32.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    warp_size: Option<u32>,

    /// How matrix instructions round: as the tensor cores of the program's target were measured to, or the exact sum once, to
    /// nearest even.
    #[arg(long, value_parser = one_of(&MMA), value_name = "ROUNDING")]
    mma: Option<bool>,

    /// What executes kernels: the interpreter alone, or machine code as well, once a kernel has run for a while (auto) or from
    /// its first instruction on (native). No result depends on it.
    #[arg(long, value_parser = one_of(&ENGINES), value_name = "ENGINE")]
    engine: Option<Engine>,

    /// Run with a deliberate error (for tests of the tests).
    #[cfg(feature = "mutants")]
    #[arg(long, hide = true, value_name = "NAME")]
    mutant: Option<crate::base::Mutant>,

    /// What the command may take.
    #[arg(skip)]
    pub bounds: Bounds,
}

/// What a flag may be: the value, its name, and what it means.
pub(super) type Choice<T> = (T, &'static str, &'static str);

pub(super) const CONTROLS: [Choice<ControlModel>; 3] = [
    (ControlModel::Crs, "crs", "A token stack per warp: lanes meet again at post-dominators"),
    (ControlModel::Its, "its", "A program counter per lane: independent thread scheduling"),
    (ControlModel::Thread, "thread", "Every thread on its own"),
];

pub(super) const ENGINES: [Choice<Engine>; 3] = [
    (Engine::Auto, "auto", "The interpreter, and machine code of kernels that run long (default)"),
    (Engine::Interpreter, "interpreter", "The interpreter"),
    (Engine::Native { trip: 0 }, "native", "Machine code wherever there can be"),
];

const SCHEMES: [Choice<SchemeName>; 2] = [
    (SchemeName::Original, "original", "As was published first: wrong, and can wait for ever"),
    (SchemeName::Proposed, "proposed", "As was proposed then, and proved right"),
];

/// Whether they access memory one by one.
const LANES: [Choice<bool>; 2] = [(true, "split", "One by one"), (false, "whole", "Together")];

const BENIGN: [Choice<Benign>; 3] = [
    (Benign::None, "none", "None"),
    (
        Benign::Instruction,
        "instruction",
        "Lanes of one instruction store the same value to the same bytes, as compilers make them",
    ),
    (Benign::SameValue, "same-value", "Both accesses are stores of the same value to the same bytes"),
];

/// Whether volatile accesses are weak.
const VOLATILE: [Choice<bool>; 2] = [(false, "strong", "As .relaxed.sys"), (true, "weak", "As ordinary accesses")];

/// Whether the exact sum of a matrix instruction is rounded once.
const MMA: [Choice<bool>; 2] =
    [(false, "hardware", "Block by block, as the target's tensor cores do"), (true, "exact", "The exact sum once")];

/// One of some values, by its name.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(all: &'static [Choice<T>]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|(_, name, help)| PossibleValue::new(name).help(*help)))
        .map(|name| all.iter().find(|choice| choice.1 == name).expect("only these names are taken").0)
}

/// What a value of a flag is called.
fn word<T: PartialEq + Copy>(all: &[Choice<T>], value: T) -> String {
    all.iter().find(|choice| choice.0 == value).map_or_else(String::new, |choice| choice.1.to_owned())
}

/// A check by its name.
fn checks() -> impl TypedValueParser<Value = Check> {
    let of = |check: &Check| PossibleValue::new(check.name()).help(check.help().trim_end_matches('.'));
    PossibleValuesParser::new(Check::ALL.iter().map(of))
        .map(|name| *Check::ALL.iter().find(|check| check.name() == name).expect("only names of checks are taken"))
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
        let unfit = |flag, text: String, why| Err(ProblemKind::UnfitFlag { flag, text, why }.into());
        let control = self.control.filter(|control| self.its_split && *control != ControlModel::Its);
        if let Some(control) = control {
            let why =
                "it is about groups of lanes that control model its makes: without --control, or with --control its";
            return unfit("--its-split", word(&CONTROLS, control), why);
        }
        let mut config = Config {
            control: if self.its_split { Some(ControlModel::ItsSplit) } else { self.control },
            warp_size: self.warp_size.unwrap_or(32),
            mma_exact: self.mma.unwrap_or(false),
            engine: self.engine.unwrap_or_default(),
            max_steps: self.max_steps,
            timeout: self.timeout,
            max_memory: Some(self.max_memory.unwrap_or_else(usual_memory)),
            bounds: self.bounds.clone(),
            liveness: self.checks(Check::Liveness),
            leaks: self.checks(Check::Leaks),
            heap: HeapConfig { bytes: self.heap_size, stop: self.heap_stop },
            memory: MemoryModel::preset(&self.memory).unwrap_or_default(),
            ..Config::default()
        };
        if let Some(scheme) = self.scheme {
            let MemoryModel::Rsp(own) = &mut config.memory else {
                let why =
                    "accesses are compiled by a scheme with --memory rsp; programs of their own with --machine rsp";
                return unfit("--scheme", scheme.name().to_owned(), why);
            };
            *own = scheme;
        }
        if let Some(split) = self.lanes {
            let Some(memory) = config.memory.clone().with_lanes_split(split) else {
                let why = "lanes are split or whole with --memory flat; other memories say themselves what is atomic";
                return unfit("--lanes", self.memory.clone(), why);
            };
            config.memory = memory;
        }
        let benign = self.benign.map(|benign| ("--benign", word(&BENIGN, benign)));
        let volatile = self.volatile.map(|weak| ("--volatile", word(&VOLATILE, weak)));
        if let Some((flag, text)) = benign.or(volatile).filter(|_| !self.checks(Check::Races)) {
            return unfit(flag, text, "it is about races: give --check races, too");
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
                return unfit("--memory-programs", folder.display().to_string(), why);
            };
            let (set, problems) = memory_programs(folder, sources);
            if problems.iter().any(|p| !p.is_warning()) {
                return Err(problems);
            }
            *programs = Arc::new(set);
        }
        Ok(config)
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
        Observers::of(&self.check, program, self.races(stopping))
    }

    /// How races are looked for.
    pub fn races(&self, stopping: bool) -> RacesOptions {
        let (benign, weak_volatile) = (self.benign.unwrap_or_default(), self.volatile.unwrap_or_default());
        let remote = MemoryModel::preset(&self.memory).is_some_and(|memory| memory.has_remote());
        RacesOptions { benign, weak_volatile, remote, stopping }
    }

    /// How a search looks for races in all schedules, where the flags ask for them.
    pub fn searched_races(&self) -> Option<RacesOptions> {
        self.checks(Check::Races).then(|| self.races(true))
    }

    /// Whether the flags ask for observers.
    pub fn observes(&self) -> bool {
        self.check.iter().any(|check| check.observes())
    }

    /// Whether the flags ask for a check.
    pub fn checks(&self, check: Check) -> bool {
        self.check.contains(&check)
    }

    /// The same flags with more checks, by their names.
    ///
    /// # Errors
    /// Names of no checks.
    pub fn with_checks(&self, names: &[(String, At)]) -> Result<Self, Vec<Problem>> {
        let mut all = self.clone();
        let mut problems = Vec::new();
        for (name, at) in names {
            match Check::ALL.iter().find(|check| check.name() == name) {
                Some(check) if all.checks(*check) => {}
                Some(check) => all.check.push(*check),
                None => {
                    let known = Check::ALL.iter().map(|check| check.name()).collect();
                    problems.push(ProblemKind::UnknownWord { key: "check", text: name.clone(), known }.at(*at));
                }
            }
        }
        if problems.is_empty() { Ok(all) } else { Err(problems) }
    }

    /// The same flags without a check.
    pub fn without(&self, check: Check) -> Self {
        Self { check: self.check.iter().copied().filter(|own| *own != check).collect(), ..self.clone() }
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
        SourceMap::default().confined(self.confine).for_arch(self.arch)
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
        if is_ptx(path) {
            return self.launch.spec(path);
        }
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        if path.is_file() && !extension.eq_ignore_ascii_case("toml") {
            return Err(ProblemKind::UnknownKind { path: path.to_owned() }.into());
        }
        if let Some((flag, _)) = self.launch.given().next() {
            let why = "the flags describe launches of a .ptx file; a launch file says this itself";
            return Err(ProblemKind::UnfitFlag { flag, text: path.display().to_string(), why }.into());
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
            return Err(ProblemKind::ScriptTarget { path: path.to_owned() }.into());
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
        let control = if its_split { ControlModel::Its } else { control };
        Self { control: Some(control), its_split, ..self.clone() }
    }

    /// The names of the flags that [`Common::chooses_models`] tells.
    pub const MODELS: [&'static str; 5] = ["control", "its_split", "memory", "scheme", "lanes"];

    /// A flag that chooses among the models, if one is given.
    pub fn chooses_models(&self) -> Option<&'static str> {
        let chooses = |flag: &&str| Self::MODELS.contains(&&*flag.trim_start_matches('-').replace('-', "_"));
        self.given().map(|(flag, _)| flag).find(chooses)
    }

    /// The same flags with each control model and memory.
    pub fn all_models(&self) -> Vec<Self> {
        let controls = [ControlModel::Crs, ControlModel::Its, ControlModel::ItsSplit, ControlModel::Thread];
        let splits = |name| MemoryModel::preset(name).and_then(|memory| memory.with_lanes_split(true)).is_some();
        let ways = |name| [None, Some(true)].into_iter().filter(move |lanes| lanes.is_none() || splits(name));
        let memories: Vec<_> =
            MemoryModel::COMPARED.into_iter().flat_map(|name| ways(name).map(move |l| (name, l))).collect();
        let models = controls.into_iter().flat_map(|control| memories.iter().map(move |memory| (control, *memory)));
        let with = |(control, (memory, lanes)): (ControlModel, (&str, Option<bool>))| Self {
            memory: memory.to_owned(),
            scheme: None,
            lanes,
            memory_programs: self.memory_programs.clone().filter(|_| memory == "fermi"),
            ..self.under(control)
        };
        models.map(with).collect()
    }

    /// How accesses are compiled for the hardware of remote-scope promotion.
    pub fn scheme(&self) -> SchemeName {
        self.scheme.unwrap_or(SchemeName::Proposed)
    }

    /// Whether memory makes steps of its own.
    pub fn memory_steps(&self) -> bool {
        self.memory != "flat" || self.lanes == Some(true)
    }

    /// The flags of what is run that are given and not as they are by default, each with its value, if it has one.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        let checks = self.checked();
        let heap_size = Some(self.heap_size).filter(|bytes| *bytes != HeapConfig::default().bytes);
        let own: [(&'static str, Option<String>); 12] = [
            ("--memory", Some(self.memory.clone()).filter(|memory| memory != "flat")),
            ("--scheme", self.scheme.map(|scheme| scheme.name().to_owned())),
            ("--lanes", self.lanes.map(|split| word(&LANES, split))),
            ("--device", self.device.clone()),
            ("--memory-programs", self.memory_programs.as_ref().map(|path| path.display().to_string())),
            ("--arch", self.arch.map(|arch| format!("sm_{arch}"))),
            ("--warp-size", self.warp_size.map(|n| n.to_string())),
            ("--mma", self.mma.filter(|exact| *exact).map(|exact| word(&MMA, exact))),
            ("--check", (!checks.is_empty()).then(|| checks.join(","))),
            ("--benign", self.benign.map(|benign| word(&BENIGN, benign))),
            ("--volatile", self.volatile.map(|weak| word(&VOLATILE, weak))),
            ("--heap-size", heap_size.map(|bytes| bytes.to_string())),
        ];
        let own = own.into_iter().filter_map(|(flag, value)| Some((flag, Some(value?))));
        let control = self.control.map(|control| ("--control", Some(word(&CONTROLS, control))));
        let switch = |flag, given: bool| given.then_some((flag, None));
        let models = control.into_iter().chain(switch("--its-split", self.its_split));
        self.launch.given().chain(models).chain(own).chain(switch("--heap-stop", self.heap_stop))
    }

    /// The words of a command line that say the same as these flags: a schedule keeps them.
    pub fn words(&self) -> Vec<String> {
        self.given().flat_map(|(flag, value)| std::iter::once(flag.to_owned()).chain(value)).collect()
    }
}
