//! `warpstep prove`

use super::bounds::{sooner, usual_memory};
use super::flags::{size, time};
use super::form::Form;
use super::machine_flags::Machine;
use super::report_flags::{ReportFlags, stopped};
use super::saved::{Names, check, script, target, words, write};
use super::target::Common;
use super::{output, progress};
use crate::check::Check;
use crate::check::Observers;
use crate::explore::checkpoint::{self, CheckpointError, Kept, Owner};
use crate::explore::space::{Fairness, Graph, Options, Progress as Counts};
use crate::explore::watched::watches;
use crate::explore::{Ending, Ends, Progress, Proof, Prove as How, Proved, Target};
use crate::explore::{may_be_less, threads_share};
use crate::launch::ProblemKind;
use crate::litmus::is_litmus;
use crate::machine::walk::Grain;
use crate::machine::{ControlModel, Stopwatch};
use crate::report::document::Report;
use crate::report::parts::Exit;
use crate::report::{Models, StopReport, dot, prove as text};
use crate::verdict::LimitKind;
use clap::{Args, ValueEnum};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Go through all schedules, and say whether every one of them ends as it should.
#[derive(Args)]
#[command(after_help = "\
Examples:
  warpstep prove ptx-examples/spinlock      all states under fair schedules
  warpstep prove k.ptx --block 64 --arg … --control its
  warpstep prove DIR --progress obe         promises to blocks that have stepped
  warpstep prove DIR --max-states 1000000 --for 5m      or: `limit reached`
  warpstep prove DIR --lanes split          an instruction's lanes one by one
  warpstep prove DIR --threads 2            the same answer, sooner
  warpstep prove DIR --its-split --warp-size 4      what no __syncwarp can do
  warpstep prove DIR --memory fermi --device tiny      memory with caches
  warpstep prove DIR --memory rsp --control thread      remote-scope promotion
  warpstep prove DIR --for 5m --checkpoint FILE      goes on where it stopped
  warpstep prove T.litmus --blocks --progress obe --strong
  warpstep prove MP.litmus --all            every outcome, and the condition
  warpstep prove RSP.litmus --machine rsp --scheme original --all
  warpstep prove LSC.litmus --machine lsc-mutex --all     behind mutexes
  warpstep prove SCRIPT.toml                every order of a host script

The answer is `holds`, `refuted`, or which limit was reached; it is about the control model, memory and progress model that it names, and about the launch as it is: other arguments, other blocks need another proof.

Threads, warps and blocks that the program cannot tell apart are not told apart in states; the answer says which (D-symmetry). Where a limit ends the search before anything was found, it says what grows, and asks a smaller question in a tenth of the time: the same program with fewer threads.

--check races, uninit, bounds, div0, barriers and safety look at the runs that show what the search found, one for each end, not at every schedule: `hunt` with the same flags looks at as many as there is time for. On flat memory, races are looked for in every schedule: states that differ in what happened before what are states of their own, and a step that races ends its run.

Progress models: fair promises progress to all blocks, hsa to the lowest that can step, obe to those that have stepped, hsa_obe to both, lobe to those up to the highest that has stepped, unfair to none.

Exit codes: 0 holds | 1 refuted | 2 bad input | 3 a limit was reached and nothing was found | 4 unsupported")]
pub(super) struct Prove {
    /// A folder with a launch.toml, a launch file (.toml), a host script (.toml), a PTX module (.ptx) launched by flags, or a litmus test.
    pub(super) path: PathBuf,

    #[command(flatten)]
    pub(super) common: Common,

    /// Whom the scheduler promises progress.
    #[arg(long, value_name = "MODEL", default_value = "fair")]
    pub(super) progress: Progress,

    /// How the scheduler keeps its promise. weak: who can step from some point on does; strong: each step that can be taken
    /// again and again is, as published for progress models; strong-threads: who can step again and again does.
    #[arg(long, value_name = "HOW", default_value = "weak")]
    fairness: Fairness,

    /// The same as --fairness strong.
    #[arg(long, conflicts_with = "fairness")]
    strong: bool,

    /// Switches away from a warp that could go on, at most; proves nothing, finds much.
    #[arg(long, value_name = "N")]
    preemptions: Option<u32>,

    /// States at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_states: Option<u64>,

    /// Memory of the search at most, e.g. 8G, which is the default, or three quarters of what is free.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    search_memory: Option<u64>,

    /// Search for this time at most, e.g. 10m.
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    time: Option<Duration>,

    /// Reduction: steps that nobody else notices are taken at once and registers that nobody will read tell no states apart, or
    /// nothing is left out.
    #[arg(long, value_enum, default_value_t = Reduction::Visible)]
    reduction: Reduction,

    /// Tell threads, warps and blocks apart also where the program cannot. Of a kernel.
    #[arg(long)]
    no_symmetry: bool,

    /// Threads of the search; each keeps steps that it knows, so that memory grows with them. Of a kernel, without --checkpoint
    /// and --audit. Verdicts, counts and witnesses of a search that comes to its end are those of one thread; where a limit ends
    /// it, or --first, counts depend on threads.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    #[arg(conflicts_with_all = ["checkpoint", "audit"])]
    threads: u32,

    /// Keep whole states and count those with equal numbers that differ.
    #[arg(long)]
    audit: bool,

    /// Stop at the first defect.
    #[arg(long)]
    pub(super) first: bool,

    /// Keep here what was done, and go on from there when it is called again; --max-states counts from there.
    #[arg(long, value_name = "FILE", conflicts_with = "audit")]
    pub(super) checkpoint: Option<PathBuf>,

    /// With --checkpoint: keep what was done at least so often, and a minute later for each GB.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1m")]
    checkpoint_every: Duration,

    /// Write the states and steps as a graph (DOT), where they are few.
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,

    /// Of a litmus test: print every outcome.
    #[arg(long)]
    pub(super) all: bool,

    /// Of a litmus test: the threads of a cta are one warp, not one each.
    #[arg(long)]
    pub(super) same_warp: bool,

    /// Of a litmus test: each thread is a block of its own, for progress models, which promise it to blocks.
    #[arg(long, conflicts_with = "same_warp")]
    pub(super) blocks: bool,

    /// Of a program that is not PTX: the hardware that runs it.
    #[arg(long, value_enum, value_name = "MACHINE")]
    pub(super) machine: Option<Machine>,

    /// Write the schedule of the first defect here, not to NAME.prove.schedule.
    #[arg(long, value_name = "FILE")]
    save_schedule: Option<PathBuf>,

    #[command(flatten)]
    pub(super) report: ReportFlags,
}

/// How long a search goes on until it is kept again, when `bytes` were kept: what takes long is done less often.
fn pause(every: Duration, bytes: usize) -> Duration {
    let gigabytes = u32::try_from(bytes >> 30).unwrap_or(u32::MAX);
    every.saturating_add(Duration::from_secs(60).saturating_mul(gigabytes))
}

/// The lanes of the fullest warp.
fn lanes(target: &Target) -> u32 {
    let size = target.start().context().config().warp_size;
    let threads = target.launches().iter().map(|l| l.block.iter().product::<u32>());
    threads.max().map_or(0, |n| n.min(size))
}

/// Time for a smaller question at least.
const LEAST: Duration = Duration::from_millis(20);

/// States and time of a search that tells whether a program ends under another control model.
const OTHERS: (u64, Duration) = (1 << 18, Duration::from_secs(5));

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Reduction {
    Visible,
    None,
}

impl Prove {
    /// Runs the command; gives the exit code.
    pub fn execute(&mut self) -> Result<u8, u8> {
        let memory = self.search_memory.unwrap_or_else(usual_memory);
        self.common.begin(sooner(self.time, self.common.timeout), Some(memory));
        if is_litmus(&self.path) {
            return self.litmus();
        }
        if let Some(machine) = self.machine {
            let why = "it runs litmus tests; kernels have such memory by --memory";
            let text = machine.name().to_owned();
            return Err(output::refuse(ProblemKind::UnfitFlag { flag: "--machine", text, why }, self.report.format));
        }
        script(&self.common, &self.path, self.report.format)?.map_or_else(|| self.target(), |read| self.script(read))
    }

    /// Whether steps that nothing else notices are taken at once.
    pub(super) fn reduces(&self) -> bool {
        self.reduction == Reduction::Visible
    }

    /// Flags that are given and do not go with host scripts, each with whether it is.
    pub(super) fn of_launches(&self) -> [(&'static str, bool); 12] {
        [
            ("--threads", self.threads > 1),
            ("--progress", self.progress != Progress::Fair),
            ("--fairness", self.how().fairness != Fairness::Weak),
            ("--preemptions", self.preemptions.is_some()),
            ("--no-symmetry", self.no_symmetry),
            ("--audit", self.audit),
            ("--checkpoint", self.checkpoint.is_some()),
            ("--dot", self.dot.is_some()),
            ("--all", self.all),
            ("--same-warp", self.same_warp),
            ("--blocks", self.blocks),
            ("--save-schedule", self.save_schedule.is_some()),
        ]
    }

    /// A flag of kernels alone that is given.
    pub(super) fn of_kernels(&self) -> Option<(&'static str, String)> {
        (self.threads > 1).then(|| ("--threads", self.threads.to_string()))
    }

    pub(super) fn how(&self) -> How {
        How {
            progress: self.progress,
            fairness: if self.strong { Fairness::Strong } else { self.fairness },
            grain: match self.reduction {
                Reduction::None => Grain::Instruction,
                Reduction::Visible if self.no_symmetry => Grain::Visible,
                Reduction::Visible => Grain::Alike { blocks: true },
            },
        }
    }

    /// Calls `search` with the bounds that the flags give.
    pub(super) fn bounded<T>(&self, control: ControlModel, search: impl FnOnce(&mut Options<'_>) -> T) -> T {
        let bar = progress::searching(self.report.format == Form::Text);
        let mut poll = |done: &_| {
            progress::searched(&bar, "", done);
            self.common.bounds.search_up()
        };
        let mut options = Options::states(control == ControlModel::Crs, &mut poll);
        options.audit = self.audit;
        options.first = self.first;
        options.threads = self.threads;
        options.preemptions = self.preemptions;
        options.max_states = self.max_states;
        options.max_bytes = self.search_memory;
        options.max_steps = self.common.max_steps;
        options.stepped = self.progress.needs_stepped();
        options.races = self.common.searched_races();
        let found = search(&mut options);
        bar.finish_and_clear();
        found
    }

    fn target(&self) -> Result<u8, u8> {
        let target = target(&self.common, &self.path, self.report.format)?;
        let mut reporter = self.report.open()?;
        check(self.save_schedule.as_deref(), self.report.format)?;
        let (env, sources) = (target.program(), target.start().sources().clone());
        let observers = || self.common.stopping(&env);
        let watch = Stopwatch::start(Some(Duration::MAX));
        let proof = self.bounded(target.control(), |options| match &self.checkpoint {
            None => Ok(target.prove(self.how(), options, &observers)),
            Some(path) => {
                let (how, owner) = (self.how(), target.owner());
                self.kept(path, owner, |kept| target.prove_on(how, options, &observers, kept))
            }
        })?;
        let proof = proof.map(|proof| self.ask_less(&target, proof, watch.elapsed(), &observers));
        let proof = proof.map_err(|stop| stopped(&stop, (&env, &sources), self.report.format))?;
        let models = Models::of_target(&target);
        let scope = text::Scope { models: &models, progress: self.progress, fairness: self.how().fairness };
        let controls = if proof.endless.is_empty() { Vec::new() } else { self.controls(target.control()) };
        let ended = proof.defects.iter().chain(&proof.outcomes).filter(|s| s.recorded.played.ending.is_defect());
        let ended = ended.map(|s| (s, s.recorded.played.ending.clone(), None));
        let never = proof.endless.iter().map(|e| (&e.shown, Ending::Stopped(e.stop.clone()), Some(e)));
        let all: Vec<_> = ended.chain(never).collect();
        let mut told = Vec::new();
        for (shown, ending, endless) in &all {
            let file = self.names().file(told.len() + 1);
            let file = write(&file, &shown.recorded, &target, words(&self.common, &self.path));
            let accepted = reporter.accept(ending, target.listing());
            reporter.complain(|| match (endless, &accepted) {
                (Some(endless), None) => text::endless(endless, &env, &sources, output::colour()),
                _ => reporter.ending(ending, accepted.as_ref(), target.listing()),
            });
            reporter.complain(|| text::written(&shown.recorded, file.as_deref()).into());
            told.push(text::Told { file, accepted });
        }
        self.draw(&proof);
        let mut code = text::code(proof.proved);
        // What is suppressed does not make the command fail; a limit leaves open what else there is.
        if code == 1 && told.iter().all(|t| t.accepted.is_some()) {
            code = if proof.limit.is_some() { 3 } else { 0 };
        }
        let everywhere = self.common.searched_races().is_some() && watches(target.start().context());
        let mut looks = self.common.looks_at_runs();
        looks.retain(|check| !everywhere || check != Check::Races.name());
        let report = |extra| {
            let mut proved = text::Proved::new(&proof, &scope, &told, &controls, (&env, &sources));
            proved.exit = Exit(code);
            proved.looked_at_runs = text::Looked::new(&proof, &looks);
            proved.extra = extra;
            Report::Proof(Box::new(proved))
        };
        let ends: Vec<_> = all.iter().zip(&told).map(|((_, ending, _), t)| (ending, t.accepted.as_ref())).collect();
        reporter.searched(&ends, report, code, |_| target.listing());
        if self.report.format != Form::Text {
            return Ok(code);
        }
        output::complain(text::unshown(&proof.unshown, &env, &sources, output::colour()));
        output::complain(text::controls(&controls));
        output::complain(text::summary(&proof, &scope));
        output::complain(text::threads(&proof, self.threads, threads_share(target.start().context())));
        output::complain(text::symmetry(&proof.symmetry));
        output::complain(text::looked(&proof, &looks, everywhere));
        output::complain(text::smaller(&proof));
        output::complain(text::grew(&proof.growth, &env, &sources));
        output::complain(text::fewer(&proof, lanes(&target)));
        if let (Proved::Limit(_), Some(limit)) = (proof.proved, proof.limit) {
            output::complain(StopReport::search_stood(&proof.standing, limit, &env, &sources));
        }
        self.tell_kept(proof.limit);
        Ok(code)
    }

    /// Where a limit ended the search before anything was found, a smaller question is asked in a tenth of the time.
    fn ask_less(&self, target: &Target, proof: Proof, took: Duration, observers: &dyn Fn() -> Observers) -> Proof {
        let Proved::Limit(limit) = proof.proved else { return proof };
        if !may_be_less(limit) || self.preemptions.is_some() || self.dot.is_some() || self.audit {
            return proof;
        }
        let proof = Proof { graph: Graph::default(), ..proof };
        self.common.bounds.extend((took / 10).max(LEAST));
        let smaller = self.bounded(target.control(), |options| {
            let mut poll = |_: &Counts| self.common.bounds.up();
            let mut options = Options {
                max_bytes: self.search_memory.map(|most| most / 8),
                races: options.races,
                poll: &mut poll,
                ..Options::states(options.warps, &mut |_| None)
            };
            target.ask_less(self.how(), &mut options, observers)
        });
        Proof { smaller, ..proof }
    }

    /// Tells where what was done is kept, where a limit ended the search.
    pub(super) fn tell_kept(&self, limit: Option<LimitKind>) {
        if let (Some(path), Some(limit)) = (&self.checkpoint, limit)
            && !output::is_lost(path)
        {
            output::complain(text::kept(path, limit));
        }
    }

    /// Goes on with the search that a file keeps, and keeps there what it does.
    pub(super) fn kept<T>(
        &self,
        path: &Path,
        owner: Owner,
        search: impl FnOnce(&mut Kept<'_>) -> Result<T, CheckpointError>,
    ) -> Result<T, u8> {
        let refuse = |e: CheckpointError| output::unusable(path, &e, self.report.format);
        checkpoint::writable(path).map_err(refuse)?;
        let before = checkpoint::load(path, "prove", owner).map_err(refuse)?;
        let watch = Cell::new(Stopwatch::start(Some(self.checkpoint_every)));
        let mut due = || watch.get().is_up();
        let mut save = |data: &[u8]| {
            output::keep(path, "prove", owner, data);
            watch.set(Stopwatch::start(Some(pause(self.checkpoint_every, data.len()))));
        };
        search(&mut Kept { before, due: &mut due, save: &mut save }).map_err(refuse)
    }

    /// Under which control models all runs end, when under `known` some do not.
    fn controls(&self, known: ControlModel) -> Vec<(ControlModel, Ends)> {
        let ends = |control: ControlModel| {
            if control == known {
                return Ends::NotAlways;
            }
            let target = self.common.under(control).target(&self.path, &mut self.common.sources());
            let watch = Stopwatch::start(Some(OTHERS.1));
            let mut poll = |_: &_| watch.up().or_else(|| self.common.bounds.search_up());
            let mut options = Options { max_states: Some(OTHERS.0), ..Options::states(false, &mut poll) };
            target.map_or(Ends::Unknown, |target| target.ends(self.how(), &mut options))
        };
        let all = [ControlModel::Crs, ControlModel::Its, ControlModel::Thread];
        all.map(|control| (control, ends(control))).to_vec()
    }

    /// Draws the graph, if that was asked for and it is small.
    fn draw(&self, proof: &Proof) {
        let Some(file) = &self.dot else { return };
        let states = proof.graph.states();
        if states > dot::DRAWN {
            output::complain(dot::too_large(states, file));
            return;
        }
        let name = self.path.display().to_string();
        output::write(file, dot::drawn(&name, proof).as_bytes());
    }

    /// Where the schedules of defects go.
    fn names(&self) -> Names<'_> {
        Names { path: &self.path, file: self.save_schedule.as_deref(), infix: ".prove" }
    }
}
