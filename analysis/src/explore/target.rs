//! What is run many times: a program with its memory prepared, its launches, and what must come out.

use super::checkpoint::Owner;
use super::{Limits, Refusal, ScheduleError, ScheduleFile};
use crate::base::{FileId, Pc, SourceMap};
use crate::check::Observers;
use crate::choice::{Fair, Oracle};
use crate::launch::{
    Data, Device, Expect, ExpectStdout, Failure, Outcome, ProblemKind, Spec, Unexpected, compare, compare_output,
};
use crate::machine::{Bounds, Config, Context, ControlModel, Course, HeapConfig, Launch, Stats, Tell, again};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, LimitKind, Place, Stop, Who};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// A program, ready to be run again and again from the same state.
pub struct Target {
    start: Device,
    plan: Plan,
}

/// What is done with a device, and what it must come to.
struct Plan {
    spec: Spec,
    launches: Vec<Launch>,
    baseline: Option<Baseline>,
    judge: Option<Judge>,
}

/// Says why the results of a run that came to its end are wrong, if they are: code of who runs it. Called by any thread.
pub type Judge = Arc<dyn Fn(&Device) -> Option<String> + Send + Sync>;

/// The results of a run, which those of others are compared with.
struct Baseline {
    /// Buffers and variables with their contents.
    contents: Vec<(String, Expect)>,
    output: ExpectStdout,
}

/// How a target is run once.
pub struct Way<'a> {
    /// Who decides.
    pub oracle: &'a mut dyn Oracle,
    /// The observer, if any.
    pub tell: Option<Tell<'a>>,
    /// For how long.
    pub limits: Limits,
}

/// How a run of all launches ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// All launches came to their ends, and everything is as expected.
    Expected,
    /// All launches came to their ends; buffers, or the output, are other than expected.
    Unexpected(Unexpected),
    /// All launches came to their ends, as expected; but buffers, or the output, are other than after the default schedule
    /// ([`Target::compare_schedules`]).
    Differs(Unexpected),
    /// A launch stopped before its end.
    Stopped(Stop),
}

impl Ending {
    /// How a run to its end came out.
    #[must_use]
    pub fn of(outcome: Outcome) -> Self {
        if outcome.unexpected.is_empty() { Self::Expected } else { Self::Unexpected(outcome.unexpected) }
    }

    /// What stopped it, if something did.
    #[must_use]
    pub const fn stop(&self) -> Option<&Stop> {
        if let Self::Stopped(stop) = self { Some(stop) } else { None }
    }

    /// Whether it shows a defect of the program.
    #[must_use]
    pub const fn is_defect(&self) -> bool {
        matches!(self, Self::Unexpected(..) | Self::Differs(..) | Self::Stopped(Stop::Bug(_) | Stop::Stuck(_)))
    }
}

/// What a run left.
pub struct Played {
    /// How it ended.
    pub ending: Ending,
    /// Counts of the launches that came to their ends.
    pub stats: Vec<Stats>,
    /// Warp instructions executed in all.
    pub clock: u64,
    /// The count of warp instructions at which the fair schedule took over, if it did.
    pub fair_from: Option<u64>,
    /// The instructions of the circle in which it runs for ever, if it does.
    pub circle: Vec<Pc>,
    /// What the device printed.
    pub output: Vec<u8>,
    /// The device after it.
    pub device: Device,
}

impl Played {
    /// Tells what observers held back when the run stopped.
    pub(super) fn settle(&mut self, observers: &mut Observers) {
        if let Ending::Stopped(stop) = &mut self.ending {
            *stop = observers.settle(stop.clone());
        }
    }
}

impl Target {
    /// Prepares a target: buffers are made and filled, launches and expectations are checked. Neither the configuration's
    /// seed nor its limit of steps matters: each run says who decides and for how long.
    ///
    /// # Errors
    /// Everything that is wrong with the launches; the memory cap.
    pub fn new(
        spec: Spec,
        env: impl Into<Arc<ProgEnv>>,
        sources: impl Into<Arc<SourceMap>>,
        config: Config,
    ) -> Result<Self, Failure> {
        if spec.launches.is_empty() {
            return Err(ProblemKind::NoLaunch.at(None).into());
        }
        let mut start = Device::new(env, sources, Config { seed: None, max_steps: None, ..config })?;
        start.prepare(&spec)?;
        Self::on(start, spec)
    }

    /// The same on a device that has its buffers.
    ///
    /// # Errors
    /// Everything that is wrong with the launches or what is expected.
    pub fn on(start: Device, mut spec: Spec) -> Result<Self, Failure> {
        let launches = spec.launches.iter().map(|launch| start.check(launch)).collect::<Result<_, _>>()?;
        start.compare(&spec)?;
        for (name, expect) in &mut spec.expect {
            let problem = |problem| ProblemKind::Data { name: name.clone(), problem }.at(expect.at);
            *expect = expect.read().map_err(|p| Failure::Input(vec![problem(p)]))?;
        }
        Ok(Self { start, plan: Plan { spec, launches, baseline: None, judge: None } })
    }

    /// The same where the results of runs also have to please `judge`.
    #[must_use]
    pub fn judged(self, judge: Option<Judge>) -> Self {
        Self { plan: Plan { judge, ..self.plan }, ..self }
    }

    /// The same with other launches, whose results are compared with nothing.
    #[must_use]
    pub(super) fn shrunk(&self, launches: Vec<Launch>) -> Self {
        let spec = Spec { schedule_dependent: true, ..self.plan.spec.clone() };
        Self { start: self.start.fork(), plan: Plan { spec, launches, baseline: None, judge: None } }
    }

    /// What is launched and expected.
    #[must_use]
    pub const fn spec(&self) -> &Spec {
        &self.plan.spec
    }

    /// The program, and the files that it and its launches came from: what messages quote.
    #[must_use]
    pub fn listing(&self) -> (&ProgEnv, &SourceMap) {
        (self.start.context().env(), self.start.sources())
    }

    /// The device before the first launch.
    #[must_use]
    pub const fn start(&self) -> &Device {
        &self.start
    }

    /// What all that is done with it may take.
    #[must_use]
    pub fn bounds(&self) -> &Bounds {
        &self.start.context().config().bounds
    }

    /// The launches, in order.
    #[must_use]
    pub fn launches(&self) -> &[Launch] {
        &self.plan.launches
    }

    /// The program, to be shared with observers.
    #[must_use]
    pub fn program(&self) -> Arc<ProgEnv> {
        self.start.context().program()
    }

    /// Sees to it that a schedule was recorded with this program and launch.
    ///
    /// # Errors
    /// It was not, and where the schedule says so.
    pub fn takes(&self, file: &ScheduleFile) -> Result<(), Refusal> {
        let (found, places) = ((self.ptx_hash(), self.setup_hash()), file.places);
        if found.0 != file.ptx {
            return Err((ScheduleError::OtherProgram { recorded: file.ptx, found: found.0 }, places.ptx));
        }
        if found.1 != file.setup {
            return Err((ScheduleError::OtherSetup { recorded: file.setup, found: found.1 }, places.setup));
        }
        Ok(())
    }

    /// A hash of the text of all modules: whether a schedule belongs to this program.
    #[must_use]
    pub fn ptx_hash(&self) -> u64 {
        let mut hasher = Xxh3::new();
        let sources = (0..).map_while(|k| self.start.sources().get(FileId(k)));
        let paths: Vec<String> = self.spec().ptx.iter().map(|(path, _)| path.display().to_string()).collect();
        // Of a binary with several modules, each has a number behind the file's name.
        let own = |name: &str| {
            let rest = |path: &String| name.strip_prefix(path.as_str());
            paths.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('#'))
        };
        for source in sources.filter(|s| own(&s.name)) {
            hasher.update(&(source.text.len() as u64).to_le_bytes());
            hasher.update(source.text.as_bytes());
        }
        hasher.digest()
    }

    /// A hash of what else decides about a run: [`setup_hash`].
    #[must_use]
    pub fn setup_hash(&self) -> u64 {
        setup_hash(self.launches(), self.start.context())
    }

    /// What a checkpoint of a search of it belongs to.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { program: self.ptx_hash(), setup: self.setup_hash() }
    }

    /// Runs all launches once, from the beginning.
    pub fn run(&self, way: Way<'_>) -> Played {
        self.plan.run(self.start.fork(), way)
    }

    /// Runs all launches once and no more: nothing is copied to begin with.
    #[must_use]
    pub fn run_once(self, way: Way<'_>) -> Played {
        self.plan.run(self.start, way)
    }

    /// From now on a run whose results differ from those of `played` has a defect: they depend on the schedule. Compared
    /// are all buffers and variables, bit by bit, and the output. Nothing is compared when `played` did not end as expected,
    /// or when the launch file says that its results depend on the schedule.
    pub fn compare_schedules(&mut self, played: &Played) {
        if played.ending != Ending::Expected || self.plan.spec.schedule_dependent {
            return;
        }
        let content = |name: &str| {
            let (ty, bytes) = played.device.contents(name)?;
            let data = Data::Hex(bytes.to_vec());
            let at = self.plan.spec.expect.get(name).and_then(|e| e.at);
            let expect = Expect { ty, data, abs: None, rel: None, first: None, unordered: false, at };
            Some((name.to_owned(), expect))
        };
        let contents = played.device.names().filter_map(content).collect();
        let text = String::from_utf8_lossy(&played.output).into_owned();
        let at = self.plan.spec.stdout.as_ref().and_then(|e| e.at);
        self.plan.baseline = Some(Baseline { contents, output: ExpectStdout { text, sorted: false, at } });
    }
}

impl Plan {
    /// Runs all launches on a device.
    fn run(&self, device: Device, way: Way<'_>) -> Played {
        let mut played = Played {
            ending: Ending::Expected,
            stats: Vec::with_capacity(self.launches.len()),
            clock: 0,
            fair_from: None,
            circle: Vec::new(),
            output: Vec::new(),
            device,
        };
        let ended = self.launch_all(way, &mut played);
        played.clock = played.device.context().clock();
        played.ending = match ended {
            Err(stop) => Ending::Stopped(stop),
            Ok(()) => match (self.compare(&played), played.device.context().leaks()) {
                (Ending::Expected, Some(stop)) => Ending::Stopped(stop),
                (ending, _) => ending,
            },
        };
        played
    }

    fn launch_all(&self, mut way: Way<'_>, played: &mut Played) -> Result<(), Stop> {
        let Played { stats, fair_from, circle, output, device, .. } = played;
        let context = device.context_mut();
        let mut out = |bytes: &[u8]| output.extend_from_slice(bytes);
        for launch in &self.launches {
            context.start(launch, way.oracle)?;
            if fair_from.is_none() {
                let tell = again(&mut way.tell);
                let course =
                    Course { tell, oracle: &mut *way.oracle, out: &mut out, until: way.limits.steps, look: false };
                if let Some(done) = context.go(course)? {
                    stats.push(done);
                    continue;
                }
                *fair_from = Some(context.clock());
            }
            let until = way.limits.steps.saturating_add(way.limits.fair_steps);
            let mut watch = Repeats { tell: again(&mut way.tell), at: Default::default(), circle: &mut *circle };
            let mut tell = |who: Who, event: Event<'_>| watch.event(who, event);
            let course = Course { tell: Some(&mut tell), oracle: &mut Fair, out: &mut out, until, look: true };
            stats.push(context.go(course)?.ok_or(Stop::Limit(LimitKind::Steps(until)))?);
        }
        Ok(())
    }

    /// The results against what is expected of them.
    fn compare(&self, played: &Played) -> Ending {
        // What the launch file expects holds under the schedule that it was written for.
        if self.spec.schedule_dependent {
            return Ending::Expected;
        }
        // That all can be compared was seen before the first run.
        let mismatches = played.device.compare(&self.spec).unwrap_or_default();
        let output_mismatch = self.spec.stdout.as_ref().and_then(|e| compare_output(e, &played.output));
        let refused = self.judge.as_ref().and_then(|judge| judge(&played.device));
        let unexpected = Unexpected { mismatches, output_mismatch, refused };
        if !unexpected.is_empty() {
            return Ending::Unexpected(unexpected);
        }
        let Some(baseline) = &self.baseline else { return Ending::Expected };
        let differs = |(name, expect): &(String, Expect)| {
            let (_, found) = played.device.contents(name)?;
            let same = matches!(&expect.data, Data::Hex(bytes) if bytes == found);
            if same { None } else { compare(name, expect, found).ok().flatten() }
        };
        let mismatches = baseline.contents.iter().filter_map(differs).collect();
        let output_mismatch = compare_output(&baseline.output, &played.output);
        let differs = Unexpected { mismatches, output_mismatch, refused: None };
        if differs.is_empty() { Ending::Expected } else { Ending::Differs(differs) }
    }
}

/// A hash of what decides about a run beside the program and the schedule: launches with their arguments, memory before them,
/// the control model, memory and device.
#[must_use]
pub fn setup_hash(launches: &[Launch], context: &Context) -> u64 {
    let mut hasher = Xxh3::new();
    let mut add = |text: String| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    launches.iter().for_each(|launch| add(format!("{launch:?}")));
    let config = context.config();
    let control = config.control.unwrap_or(ControlModel::of_target(context.env().target.sm));
    add(format!("{control:?} {} {} {:?}", config.warp_size, config.stack_limit, config.device));
    // Schedules that were saved before the heap had a size say nothing of it.
    if config.heap != HeapConfig::default() {
        add(format!("{:?}", config.heap));
    }
    if config.mma_exact {
        add("mma exact".to_owned());
    }
    if let Some(images) = context.images().filter(|images| !images.is_empty()) {
        add(format!("{images:?}"));
    }
    add(config.memory.described());
    hasher.update(&context.memory_hash().to_le_bytes());
    hasher.digest()
}

/// Stops a run whose state repeats, for observers that do not, and keeps the instructions since the state was remembered.
struct Repeats<'a> {
    tell: Option<Tell<'a>>,
    at: (Who, Place),
    circle: &'a mut Vec<Pc>,
}

impl Repeats<'_> {
    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        if let Event::Step(step) = &event {
            self.at.0 = who;
            (self.at.1.pc, self.at.1.lanes) = (step.pc, step.active);
            if let Err(at) = self.circle.binary_search(&step.pc) {
                self.circle.insert(at, step.pc);
            }
        }
        if matches!(event, Event::Remembered) {
            self.circle.clear();
        }
        if let Some(tell) = &mut self.tell {
            tell.hear(who, event)?;
        }
        if matches!(event, Event::Repeated) {
            let (who, place) = self.at.clone();
            return Err(Stop::endless(who, place));
        }
        Ok(())
    }
}
