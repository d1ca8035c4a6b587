//! `warpstep litmus --compare`

use super::bounds::{bounds, usual_memory};
use super::flags::size;
use super::form::Form;
use super::litmus::Litmus as Flags;
use super::litmus_models::{Loaded, load, unfit};
use super::litmus_test::{place_name, read, usual_bound};
use super::output;
use super::target::{Choice, one_of};
use crate::axiom::Limits;
use crate::base::{FileId, SourceMap};
use crate::explore::Ending;
use crate::explore::space::Options;
use crate::launch::ProblemKind;
use crate::litmus::tree::{Arch, Litmus};
use crate::litmus::{
    Agreement, NotShown, Observed, Options as Layout, Outcome, Permitted, Placement, Property, Row, Says, Shown, rows,
    shown,
};
use crate::machine::{Bounds, Config, ControlModel, DeviceShape, MemoryModel};
use crate::memory::fermi::model::DeviceModel;
use crate::report::document::Report;
use crate::report::hunt::headline;
use crate::report::litmus::{
    Agreements, EngineShows, ModelAllows, OutcomeRow, PlaceValue, TestAgreement, Under, agreement, diagnostic,
};
use crate::report::parts::Exit;
use crate::report::worst;
use crate::report::{Diagnostic, Models, Text, limit, problem};
use crate::verdict::Stop;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;
use std::path::Path;

/// What is compared with what the models allow.
#[derive(Args)]
#[command(next_help_heading = "Comparing with the machine")]
pub(super) struct CompareFlags {
    /// Compare what the machine shows, in all its states, with what models allow: ptx-v6.0 and ptx-v7.5, or those of
    /// --model, which tests of wavefronts need.
    #[arg(long, conflicts_with_all = ["property", "progress", "all", "why", "dot", "expected"])]
    pub compare: bool,

    /// With --compare: control models. thread by default.
    #[arg(long, value_name = "MODEL,…", requires = "compare", value_delimiter = ',', value_parser = one_of(&CONTROLS))]
    control: Vec<&'static [ControlModel]>,

    /// With --compare: memories. flat and fermi by default; split is flat memory that lanes access one by one, all but these two
    /// are devices with caches; `all` are all of them.
    #[arg(long, value_name = "MEMORY,…", requires = "compare", value_delimiter = ',', value_parser = memories())]
    memory: Vec<String>,

    /// With --compare: the threads of a cta are one warp, not one each; only then control models differ much.
    #[arg(long, requires = "compare")]
    same_warp: bool,

    /// With --compare: states at most of each test on each engine. 100000 by default.
    #[arg(long, value_name = "N", requires = "compare", value_parser = clap::value_parser!(u64).range(1..))]
    max_states: Option<u64>,

    /// With --compare: memory at most, e.g. 8G, which is the default, or three quarters of what is free.
    #[arg(long, value_name = "SIZE", requires = "compare", value_parser = size)]
    search_memory: Option<u64>,
}

/// States of a test on an engine unless something else is said.
const STATES: u64 = 100_000;

const CONTROLS: [Choice<&[ControlModel]>; 5] = [
    (&[ControlModel::Crs], "crs", "A token stack per warp: lanes meet again at post-dominators"),
    (&[ControlModel::Its], "its", "A program counter per lane: independent thread scheduling"),
    (&[ControlModel::ItsSplit], "its-split", "The same, and any lanes at one address may run without the others"),
    (&[ControlModel::Thread], "thread", "Every thread on its own"),
    (&[ControlModel::Crs, ControlModel::Its, ControlModel::ItsSplit, ControlModel::Thread], "all", "All of them"),
];

/// A test's file: the first that is read for it.
const TEST: FileId = FileId(0);

/// Memories without caches.
const FLAT: [&str; 2] = ["flat", "split"];

/// Memories of wavefronts, which are looked at only where they are named.
const LOCKSTEP: [&str; 2] = ["lsc", "slsc"];

/// All other memories by name.
fn every() -> impl Iterator<Item = &'static str> {
    FLAT.into_iter().chain(DeviceModel::PRESETS)
}

fn memories() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(every().chain(LOCKSTEP).chain(["all"]))
}

/// A machine that tests run on.
struct Engine {
    name: String,
    control: ControlModel,
    config: Config,
}

impl Engine {
    fn new(control: ControlModel, memory: &str, bounds: &Bounds) -> Self {
        let device = DeviceModel::preset(memory);
        let shape = device.as_ref().map_or_else(DeviceShape::default, DeviceShape::of);
        let model = match memory {
            "split" => Some(MemoryModel::Split),
            "lsc" => Some(MemoryModel::Lsc),
            "slsc" => Some(MemoryModel::Slsc),
            _ => device.and_then(MemoryModel::of),
        };
        let model = model.unwrap_or_default();
        let name = format!("{} × {memory}", Models::of(control, &model).control());
        let config = Config {
            control: Some(control),
            memory: model,
            device: shape,
            max_memory: Some(usual_memory()),
            bounds: bounds.clone(),
            ..Config::default()
        };
        Self { name, control, config }
    }
}

/// What came of a test.
struct Compared {
    data: TestAgreement,
    complaints: Text,
    code: u8,
    internal: Option<Stop>,
}

/// What tests are compared by.
struct With<'a> {
    flags: &'a Flags,
    models: &'a [Loaded],
    engines: &'a [Engine],
    bounds: &'a Bounds,
    /// Bytes of each search.
    bytes: u64,
}

impl CompareFlags {
    /// The engines that are asked for, each once.
    fn engines(&self, bounds: &Bounds) -> Vec<Engine> {
        let usual: &[&[ControlModel]] = &[&[ControlModel::Thread]];
        let given = if self.control.is_empty() { usual } else { &self.control };
        let mut controls: Vec<ControlModel> = Vec::new();
        for control in given.iter().copied().flatten() {
            if !controls.contains(control) {
                controls.push(*control);
            }
        }
        let all = self.memory.iter().any(|name| name == "all");
        let asked = |name: &&str| match self.memory.is_empty() {
            true => ["flat", "fermi"].contains(name),
            false => all || self.memory.iter().any(|given| given == name),
        };
        let named = |name: &&str| self.memory.iter().any(|given| given == name);
        let memories: Vec<&str> = every().filter(asked).chain(LOCKSTEP.into_iter().filter(named)).collect();
        let of = |control: ControlModel| memories.iter().map(move |memory| Engine::new(control, memory, bounds));
        controls.into_iter().flat_map(of).collect()
    }
}

impl Flags {
    /// Compares what machines show with what models allow; gives the exit code.
    pub(super) fn compared(&self) -> Result<u8, u8> {
        let flags = &self.compare;
        let memory = flags.search_memory.unwrap_or_else(usual_memory);
        let bounds = bounds(self.timeout, memory, true);
        let paths = self.tests()?;
        let single = paths.len() == 1 && self.paths.iter().all(|path| !path.is_dir());
        let mut sources = SourceMap::default();
        let usual = ["ptx-v6.0", "ptx-v7.5"].map(str::to_owned);
        let named = if self.model.is_empty() { &usual[..] } else { &self.model };
        let models = load(named, &mut sources).map_err(|failed| failed.tell(&sources, self.format))?;
        let engines = flags.engines(&bounds);
        bounds.count_from_here();
        let bytes = memory / u64::try_from(self.workers(paths.len())).unwrap_or(1);
        let with = With { flags: self, models: &models, engines: &engines, bounds: &bounds, bytes };
        let mut compared = self.parallel(&paths, |path| with.test(path));
        if let Some(stop) = compared.iter_mut().find_map(|one| one.internal.take()) {
            return Err(self.stopped(&stop));
        }
        let code = worst(compared.iter().map(|one| one.code));
        if self.format == Form::Text {
            compared.iter_mut().for_each(|one| output::complain(std::mem::take(&mut one.complaints)));
        }
        let tests: Vec<_> = compared.into_iter().map(|one| one.data).collect();
        match (self.format, &tests[..]) {
            (Form::Text, [one]) if single => {
                output::say(if one.problems.is_empty() { one.text() } else { String::new() })
            }
            (Form::Text, _) => output::say(Agreements::new(Exit(code), tests).text()),
            _ => output::print_json(&Report::Agreements(Agreements::new(Exit(code), tests))),
        }
        Ok(code)
    }
}

impl With<'_> {
    fn test(&self, path: &Path) -> Compared {
        let mut sources = SourceMap::default();
        let data = TestAgreement {
            path: path.display().to_string(),
            test: String::new(),
            models: Vec::new(),
            engines: Vec::new(),
            outcomes: Vec::new(),
            problems: Vec::new(),
        };
        let mut compared = Compared { data, complaints: Text::default(), code: 0, internal: None };
        let (litmus, _) = match read(path, &mut sources) {
            Ok(read) => read,
            Err(errors) => {
                compared.wrong(&errors, &sources);
                return compared;
            }
        };
        compared.data.test.clone_from(&litmus.name);
        let models: Vec<&Loaded> =
            self.models.iter().filter(|loaded| loaded.arch.is_none_or(|arch| arch == litmus.arch)).collect();
        if models.is_empty() && matches!(litmus.arch, Arch::Ptx | Arch::Lockstep) {
            let text = self.models.iter().map(|loaded| &*loaded.name).collect::<Vec<_>>().join(", ");
            let why = unfit(self.models.first().and_then(|loaded| loaded.arch), litmus.arch);
            let kind = ProblemKind::UnfitFlag { flag: "--model", text, why };
            compared.wrong(&[problem(&kind.at(None), &SourceMap::default())], &sources);
            return compared;
        }
        if let Err(stop) = self.compare(&mut compared, &litmus, &models, &sources) {
            compared.internal = Some(stop);
        }
        compared
    }

    fn compare(
        &self,
        compared: &mut Compared,
        litmus: &Litmus,
        models: &[&Loaded],
        sources: &SourceMap,
    ) -> Result<(), Stop> {
        let up = || self.bounds.search_up().is_some();
        let bound = self.flags.bound.unwrap_or_else(|| usual_bound(litmus.arch, Property::Safety));
        let limits = Limits { bound, choices: self.flags.max_choices };
        let permitted: Vec<Permitted<'_>> =
            models.iter().map(|loaded| Permitted::of(litmus, &loaded.model, self.flags.way, limits, &up)).collect();
        let mut shows = Vec::new();
        for engine in self.engines {
            shows.push(self.on(engine, litmus, sources)?);
        }
        let seen: Vec<Option<&Shown<'_>>> = shows.iter().map(|(_, shown)| shown.as_ref()).collect();
        let rows = rows(&permitted, &seen, &up);
        let observed = Observed::of(litmus);
        let data = &mut compared.data;
        for (loaded, permitted) in models.iter().zip(&permitted) {
            let limit = (!permitted.is_whole()).then(|| self.why(permitted, limits));
            let outcomes = permitted.outcomes.iter().count();
            data.models.push(ModelAllows { model: loaded.name.clone(), outcomes, limit });
        }
        let mut codes = Vec::new();
        for (e, (engine, (unsupported, shown))) in self.engines.iter().zip(&shows).enumerate() {
            let under = models.iter().zip(&permitted).enumerate().map(|(m, (loaded, permitted))| {
                let agreed = Agreement::of(&rows, (m, permitted), (e, shown.as_ref()));
                codes.push(code(agreed));
                let count = |holds: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| holds(row)).count();
                Under {
                    model: loaded.name.clone(),
                    agreement: agreement(agreed),
                    beyond: count(&|row| row.seen[e] && row.says[m] == Says::Forbidden),
                    open: count(&|row| row.seen[e] && row.says[m] == Says::Open),
                    unseen: count(&|row| shown.is_some() && !row.seen[e] && row.says[m] == Says::Allowed),
                }
            });
            let under: Vec<Under> = under.collect();
            codes.extend(unsupported.is_some().then_some(4));
            data.engines.push(engine.shows(shown.as_ref(), unsupported.clone(), under, sources));
        }
        compared.code = worst(codes);
        let values = |outcome: &Outcome| {
            let value = |(place, value): (&_, &i64)| PlaceValue { place: place_name(place), value: *value };
            observed.places().zip(&outcome.0).map(value).collect()
        };
        let holds = |outcome: &Outcome| litmus.condition.as_ref().is_some_and(|c| c.cond.holds(&observed, outcome));
        data.outcomes = rows
            .iter()
            .map(|row| OutcomeRow {
                values: values(&row.outcome),
                satisfies: holds(&row.outcome),
                allowed: row.says.iter().map(|says| known(*says)).collect(),
                shown: row.seen.iter().zip(&seen).map(|(seen, shown)| showing(*seen, *shown)).collect(),
            })
            .collect();
        Ok(())
    }

    /// What an engine shows, or why it does not.
    fn on<'a>(
        &self,
        engine: &Engine,
        litmus: &'a Litmus,
        sources: &SourceMap,
    ) -> Result<(Option<String>, Option<Shown<'a>>), Stop> {
        let placement = if self.flags.compare.same_warp { Placement::SameWarp } else { Placement::Warps };
        let layout = Layout { placement, control: Some(engine.control) };
        let mut poll = |_: &_| self.bounds.search_up();
        let mut options = Options::states(engine.control == ControlModel::Crs, &mut poll);
        options.max_states = Some(self.flags.compare.max_states.unwrap_or(STATES));
        options.max_bytes = Some(self.bytes);
        let mut sources = sources.clone();
        match shown(litmus, TEST, layout, engine.config.clone(), &mut sources, &mut options) {
            Ok(shown) => Ok((None, Some(shown))),
            Err(NotShown::Gaps(gaps)) => {
                let mut words: Vec<String> = gaps.iter().map(|gap| diagnostic(gap, &sources).message).collect();
                words.dedup();
                Ok((Some(words.join("; ")), None))
            }
            Err(NotShown::Refused(problems)) => {
                let first = problems.first().map(|first| problem(first, &sources).message);
                Ok((first.or_else(|| Some(String::new())), None))
            }
            Err(NotShown::Stopped(Stop::Unsupported(what, _))) => Ok((Some(what), None)),
            Err(NotShown::Stopped(stop)) => Err(stop),
        }
    }

    /// Why a model may allow more than was found.
    fn why(&self, permitted: &Permitted<'_>, limits: Limits) -> String {
        match (&permitted.searched.unsupported, permitted.searched.limited) {
            (Some(what), _) => format!("unsupported: {what}"),
            (None, true) => {
                let choices = || format!("limit reached: {} choices", limits.choices);
                self.bounds.search_up().map_or_else(choices, limit)
            }
            (None, false) => format!("loops are gone through up to bound {}", limits.bound),
        }
    }
}

impl Engine {
    fn shows(
        &self,
        shown: Option<&Shown<'_>>,
        unsupported: Option<String>,
        under: Vec<Under>,
        sources: &SourceMap,
    ) -> EngineShows {
        let stops = shown.map_or(&[][..], |shown| &shown.stops);
        let headline = |stop: &Stop, shown: &Shown<'_>| headline(&Ending::Stopped(stop.clone()), &shown.env, sources);
        EngineShows {
            engine: self.name.clone(),
            outcomes: shown.map_or(0, |shown| shown.outcomes.iter().count()),
            states: shown.map_or(0, |shown| shown.states),
            limit: shown.and_then(|shown| shown.limit).map(limit),
            unsupported,
            stops: shown.map_or_else(Vec::new, |shown| stops.iter().map(|stop| headline(stop, shown)).collect()),
            under,
        }
    }
}

/// The exit code of an agreement.
const fn code(agreement: Agreement) -> u8 {
    match agreement {
        Agreement::Inside => 0,
        Agreement::Beyond => 1,
        Agreement::Limit => 3,
        Agreement::Unsupported => 4,
    }
}

const fn known(says: Says) -> Option<bool> {
    match says {
        Says::Allowed => Some(true),
        Says::Forbidden => Some(false),
        Says::Open => None,
    }
}

/// Whether an engine shows an outcome; none where it has not, and may yet.
fn showing(seen: bool, shown: Option<&Shown<'_>>) -> Option<bool> {
    if seen { Some(true) } else { shown.filter(|shown| shown.limit.is_none()).map(|_| false) }
}

impl Compared {
    fn wrong(&mut self, errors: &[Diagnostic], sources: &SourceMap) {
        self.code = 2;
        self.data.problems = errors.iter().map(|e| json!(e.message(sources))).collect();
        errors.iter().for_each(|e| self.complaints.push(e.render(sources, output::colour())));
    }
}
