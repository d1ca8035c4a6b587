//! What is run many times: a program with its memory prepared, its launches, and what must come out.

use crate::base::SourceMap;
use crate::choice::{Fair, Oracle};
use crate::launch::{Device, Failure, Mismatch, OutputMismatch, ProblemKind, Spec, compare_output};
use crate::machine::{Config, Course, Launch, Stats, Tell, again};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, LimitKind, Place, Stop, StuckKind, Who};
use std::sync::Arc;

/// A program, ready to be run again and again from the same state.
pub struct Target {
    spec: Spec,
    start: Device,
    launches: Vec<Launch>,
}

/// How a target is run once.
pub struct Way<'a> {
    /// Who decides.
    pub oracle: &'a mut dyn Oracle,
    /// The observer, if any.
    pub tell: Option<Tell<'a>>,
    /// Warp instructions of all launches that the oracle decides about.
    pub steps: u64,
    /// Warp instructions that follow by the fair, deterministic schedule, looking for a state that repeats: only such a
    /// schedule proves that a run never ends.
    pub fair_steps: u64,
}

/// How a run of all launches ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// All launches came to their ends, and everything is as expected.
    Expected,
    /// All launches came to their ends; buffers, or the output, are other than expected.
    Unexpected(Vec<Mismatch>, Option<OutputMismatch>),
    /// A launch stopped before its end.
    Stopped(Stop),
}

impl Ending {
    /// Whether it shows a defect of the program.
    #[must_use]
    pub const fn is_defect(&self) -> bool {
        matches!(self, Self::Unexpected(..) | Self::Stopped(Stop::Bug(_) | Stop::Stuck(_)))
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
    /// What the device printed.
    pub output: Vec<u8>,
    /// The device after it.
    pub device: Device,
}

impl Target {
    /// Prepares a target: buffers are made and filled, launches and expectations are checked. Neither the configuration's
    /// seed nor its limit of steps matters: each run says who decides and for how long.
    ///
    /// # Errors
    /// Everything that is wrong with the launches; the memory cap.
    pub fn new(
        mut spec: Spec,
        env: impl Into<Arc<ProgEnv>>,
        sources: SourceMap,
        config: Config,
    ) -> Result<Self, Failure> {
        if spec.launches.is_empty() {
            return Err(ProblemKind::NoLaunch.at(None).into());
        }
        let mut start = Device::new(env, sources, Config { seed: None, max_steps: None, ..config })?;
        start.prepare(&spec)?;
        let launches = spec.launches.iter().map(|launch| start.check(launch)).collect::<Result<_, _>>()?;
        start.compare(&spec)?;
        for (name, expect) in &mut spec.expect {
            let problem = |problem| ProblemKind::Data { name: name.clone(), problem }.at(expect.at);
            *expect = expect.read().map_err(|p| Failure::Input(vec![problem(p)]))?;
        }
        Ok(Self { spec, start, launches })
    }

    /// What is launched and expected.
    #[must_use]
    pub const fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The device before the first launch.
    #[must_use]
    pub const fn start(&self) -> &Device {
        &self.start
    }

    /// The launches, in order.
    #[must_use]
    pub fn launches(&self) -> &[Launch] {
        &self.launches
    }

    /// The program, to be shared with observers.
    #[must_use]
    pub fn program(&self) -> Arc<ProgEnv> {
        self.start.context().program()
    }

    /// Runs all launches once, from the beginning.
    pub fn run(&self, way: Way<'_>) -> Played {
        let mut played = Played {
            ending: Ending::Expected,
            stats: Vec::with_capacity(self.launches.len()),
            clock: 0,
            fair_from: None,
            output: Vec::new(),
            device: self.start.fork(),
        };
        let ended = self.launch_all(way, &mut played);
        played.clock = played.device.context().clock();
        played.ending = match ended {
            Err(stop) => Ending::Stopped(stop),
            Ok(()) => self.compare(&played),
        };
        played
    }

    fn launch_all(&self, mut way: Way<'_>, played: &mut Played) -> Result<(), Stop> {
        let Played { stats, fair_from, output, device, .. } = played;
        let context = device.context_mut();
        let mut out = |bytes: &[u8]| output.extend_from_slice(bytes);
        for launch in &self.launches {
            context.start(launch, way.oracle)?;
            if fair_from.is_none() {
                let tell = again(&mut way.tell);
                let course = Course { tell, oracle: &mut *way.oracle, out: &mut out, until: way.steps, look: false };
                if let Some(done) = context.go(course)? {
                    stats.push(done);
                    continue;
                }
                *fair_from = Some(context.clock());
            }
            let until = way.steps.saturating_add(way.fair_steps);
            let mut watch = Repeats { tell: again(&mut way.tell), at: (Who::default(), Place::default()) };
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
        let output = self.spec.stdout.as_ref().and_then(|e| compare_output(e, &played.output));
        if mismatches.is_empty() && output.is_none() {
            Ending::Expected
        } else {
            Ending::Unexpected(mismatches, output)
        }
    }
}

/// Stops a run whose state repeats, for observers that do not.
struct Repeats<'a> {
    tell: Option<Tell<'a>>,
    at: (Who, Place),
}

impl Repeats<'_> {
    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        if let Event::Step(step) = &event {
            self.at.0 = who;
            (self.at.1.pc, self.at.1.lanes) = (step.pc, step.active);
        }
        if let Some(tell) = &mut self.tell {
            tell(who, event)?;
        }
        if matches!(event, Event::Repeated) {
            let (who, place) = self.at.clone();
            return Err(Stop::Stuck(Box::new(StuckKind::Endless { tokens: Vec::new(), who, place })));
        }
        Ok(())
    }
}
