//! Running a host script: its messages go to the device, the device's messages bring the indices that its names stand for.

use super::{Do, Script, Start};
use crate::base::SourceMap;
use crate::choice::{Decisions, Fair, Observed, Oracle, Seeded};
use crate::launch::device::{Filled, filled, launch_of};
use crate::launch::problem::{At, Problem, ProblemKind};
use crate::launch::{Buffer, ExpectProblem, Failure, Outcome, Scalar, compare, compare_output, load};
use crate::machine::message::{
    ContextId, ContextInput, ContextOutput, DeviceInput, DeviceOutput, GridId, Program, ProgramId, Tag,
};
use crate::machine::{Config, ControlModel, Launch, Machine, Order, Ran, Run, Stopwatch, Tell, machine, nothing_steps};
use crate::program::env::ProgEnv;
use crate::verdict::{Standing, Stop};
use indexmap::IndexMap;
use std::sync::Arc;

/// Programs by name.
type Programs = IndexMap<String, Arc<ProgEnv>>;

/// Reads the programs of a script and gives the control model that all of them run under: the one asked for, or what the
/// hardware of the oldest target has.
///
/// # Errors
/// Every problem of every file; programs whose addresses have different sizes.
pub fn programs(
    script: &Script,
    control: Option<ControlModel>,
    sources: &mut SourceMap,
) -> Result<(Programs, ControlModel), Vec<Problem>> {
    let mut all = IndexMap::new();
    let mut problems = Vec::new();
    for (name, modules) in &script.programs {
        match load(modules, control, sources) {
            Ok(env) => drop(all.insert(name.clone(), Arc::new(env))),
            Err(more) => problems.extend(more),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let oldest = all.values().map(|env: &Arc<ProgEnv>| env.target.sm).min().unwrap_or_default();
    let chosen = control.unwrap_or(ControlModel::of_target(oldest));
    for (name, modules) in &script.programs {
        // A newer target's program was built for its own control model.
        if chosen == ControlModel::Crs && all.get(name).is_some_and(|env| !env.injected) {
            all.insert(name.clone(), Arc::new(load(modules, Some(chosen), sources)?));
        }
    }
    let mut bits = all.iter().map(|(name, env)| (name, env.target.address_bits));
    if let Some((other, other_bits)) = bits.next()
        && let Some((program, bits)) = bits.find(|(_, bits)| *bits != other_bits)
    {
        let kind = ProblemKind::AddressSizes { program: program.clone(), bits, other: other.clone(), other_bits };
        return Err(vec![kind.at(None)]);
    }
    Ok((all, chosen))
}

/// A buffer of a context.
#[derive(Clone, Copy)]
struct Placed {
    address: u64,
    bytes: u64,
    ty: Scalar,
}

/// A context by name.
struct Known {
    tag: Tag,
    id: Option<ContextId>,
    buffers: IndexMap<String, Placed>,
    destroyed: bool,
}

/// A launch by name.
struct Launched {
    context: String,
    tag: Tag,
    grid: Option<GridId>,
    /// Nobody waits for it any more.
    over: bool,
}

/// A device that a host script is run on.
pub struct ScriptDevice {
    machine: Box<dyn Machine>,
    programs: IndexMap<String, Arc<ProgEnv>>,
    config: Config,
    sources: SourceMap,
    contexts: IndexMap<String, Known>,
    loaded: IndexMap<(String, String), Option<ProgramId>>,
    launches: IndexMap<String, Launched>,
    /// Messages that no step has asked for yet.
    answers: Vec<DeviceOutput>,
    watch: Stopwatch,
}

/// What the device runs with.
struct With<'a, 't> {
    tell: Option<Tell<'t>>,
    oracle: &'a mut dyn Oracle,
    out: &'a mut dyn FnMut(&[u8]),
}

impl ScriptDevice {
    /// A device for the programs of a script ([`programs`]). `sources` are the files that they came from.
    #[must_use]
    pub fn new(
        programs: IndexMap<String, Arc<ProgEnv>>,
        control: ControlModel,
        sources: SourceMap,
        config: Config,
    ) -> Self {
        let sm = programs.values().map(|env| env.target.sm).min().unwrap_or_default();
        let bits = programs.values().map(|env| env.target.address_bits).next().unwrap_or(64);
        Self {
            machine: machine(control, sm, bits, &config),
            programs,
            watch: Stopwatch::start(config.timeout),
            config,
            sources,
            contexts: IndexMap::new(),
            loaded: IndexMap::new(),
            launches: IndexMap::new(),
            answers: Vec::new(),
        }
    }

    /// The sources of the programs and of the script.
    #[must_use]
    pub const fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The programs, in the order of the script: that of [`Event::Launch`](crate::verdict::Event::Launch)'s numbers.
    #[must_use]
    pub const fn programs(&self) -> &IndexMap<String, Arc<ProgEnv>> {
        &self.programs
    }

    /// The names of the buffers of all contexts that are left, as `context.buffer`.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        let left = self.contexts.iter().filter(|(_, c)| !c.destroyed);
        left.flat_map(|(name, c)| c.buffers.keys().map(move |b| format!("{name}.{b}")))
    }

    /// The element type and the bytes of a buffer, named `context.buffer`. `None` when it is not there.
    #[must_use]
    pub fn contents(&self, name: &str) -> Option<(Scalar, &[u8])> {
        let (context, buffer) = name.split_once('.')?;
        self.look(context, buffer)
    }

    fn look(&self, context: &str, buffer: &str) -> Option<(Scalar, &[u8])> {
        let known = self.contexts.get(context)?;
        let arena = self.machine.arena(known.id?)?;
        if let Some(b) = known.buffers.get(buffer) {
            return Some((b.ty, arena.bytes_at(b.address, b.bytes)?));
        }
        let mut programs = self.loaded.iter().filter(|((c, _), _)| c == context).filter_map(|(_, id)| *id);
        let (address, bytes) = programs.find_map(|p| self.machine.symbol(known.id?, p, buffer))?;
        Some((Scalar::BYTE, arena.bytes_at(address, bytes)?))
    }

    /// Where the warps of all contexts are.
    #[must_use]
    pub fn standing(&self) -> Vec<Standing> {
        self.contexts.values().filter_map(|c| c.id).flat_map(|id| self.machine.standing(id)).collect()
    }

    /// A hash of the memory of all contexts that are left. The same on every host.
    #[must_use]
    pub fn memory_hash(&self) -> u64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for id in self.contexts.values().filter_map(|c| c.id) {
            if let Some(arena) = self.machine.arena(id) {
                arena.digest(&mut hasher);
            }
        }
        hasher.digest()
    }

    /// Checks what does not need a device: kernels, arguments, limits, buffers.
    fn check(&self, script: &Script) -> Result<(), Failure> {
        let mut problems = Vec::new();
        for step in &script.steps {
            let Do::Start(start) = &step.what else { continue };
            let Some(env) = self.programs.get(&start.program) else { continue };
            let buffers = script.buffers.get(&start.context);
            let bytes = |name: &str| {
                let buffer = buffers?.get(name)?;
                let elements = buffer.init.elements(buffer.ty).ok().flatten().or(buffer.len)?;
                Some((0, elements.saturating_mul(buffer.ty.bytes.into())))
            };
            if let Err(Failure::Input(more)) = launch_of(env, &start.kernel, &self.config.device.capacity, &bytes) {
                problems.extend(more);
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Failure::Input(problems)) }
    }

    /// Runs a script. `tell` observes, `seen` is told what is decided, `out` receives what is printed.
    ///
    /// # Errors
    /// The input is wrong, or the run stopped.
    pub fn run(
        &mut self,
        script: &Script,
        tell: Option<Tell<'_>>,
        seen: Option<&Decisions>,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<Outcome, Failure> {
        self.check(script)?;
        let mut outcome = Outcome::default();
        let mut printed = Vec::new();
        let mut both = |bytes: &[u8]| {
            printed.extend_from_slice(bytes);
            out(bytes);
        };
        let (mut fair, mut seeded);
        let oracle: &mut dyn Oracle = match self.config.seed {
            Some(seed) => {
                seeded = Seeded::new(seed);
                &mut seeded
            }
            None => {
                fair = Fair;
                &mut fair
            }
        };
        let mut observed;
        let oracle: &mut dyn Oracle = match seen {
            Some(seen) => {
                observed = Observed::new(oracle, seen);
                &mut observed
            }
            None => oracle,
        };
        let mut with = With { tell, oracle, out: &mut both };
        for (k, step) in script.steps.iter().enumerate() {
            let tag = Tag(u32::try_from(k).unwrap_or(u32::MAX));
            self.step(script, &step.what, tag, step.at, &mut outcome, &mut with)?;
        }
        let left: Vec<String> = self.launches.iter().filter(|(_, l)| !l.over).map(|(n, _)| n.clone()).collect();
        for name in left {
            self.wait(script, &name, &mut with)?;
        }
        // What was sent last, such as a destruction, is done before the end.
        while self.pump(u64::MAX, &mut with)? != Ran::Idle {}
        outcome.stats = self.launches.values().filter_map(|l| l.grid).map(|g| self.machine.stats(g)).collect();
        outcome.output = printed;
        outcome.output_mismatch = script.stdout.as_ref().and_then(|e| compare_output(e, &outcome.output));
        let left = self.contexts.values().filter(|c| !c.destroyed).filter_map(|c| c.id);
        match left.into_iter().find_map(|id| self.leaks(id)) {
            Some(stop) if outcome.as_expected() => Err(stop.into()),
            _ => Ok(outcome),
        }
    }

    fn step(
        &mut self,
        script: &Script,
        what: &Do,
        tag: Tag,
        at: At,
        outcome: &mut Outcome,
        with: &mut With<'_, '_>,
    ) -> Result<(), Failure> {
        match what {
            Do::Create(name) => {
                self.send(DeviceInput::Create(tag))?;
                let known = Known { tag, id: None, buffers: IndexMap::new(), destroyed: false };
                self.contexts.insert(name.clone(), known);
            }
            Do::Load { context, program } => {
                let id = self.context(script, context, with)?;
                let (k, _, env) = self.programs.get_full(program).ok_or_else(unchecked)?;
                let tag = Tag(u32::try_from(k).unwrap_or(u32::MAX));
                self.send(DeviceInput::Load(Program(Arc::clone(env)), id, tag))?;
                self.loaded.insert((context.clone(), program.clone()), None);
            }
            Do::Start(start) => self.start(script, start, tag, with)?,
            Do::Abort(name) => {
                let grid = self.grid(name, with)?;
                let launched = self.launches.get_mut(name).ok_or_else(unchecked)?;
                launched.over = true;
                let context = launched.context.clone();
                let context = self.context(script, &context, with)?;
                // It may have completed meanwhile: then there is nothing to abort.
                drop(self.machine.send(DeviceInput::Context(context, ContextInput::Abort(grid))));
            }
            Do::Destroy(name) => {
                let id = self.context(script, name, with)?;
                if let Some(stop) = self.leaks(id) {
                    return Err(stop.into());
                }
                self.send(DeviceInput::Destroy(id))?;
                if let Some(known) = self.contexts.get_mut(name) {
                    known.destroyed = true;
                }
                self.launches.values_mut().filter(|l| l.context == *name).for_each(|l| l.over = true);
            }
            Do::Wait(names) => {
                for name in names {
                    self.wait(script, name, with)?;
                }
            }
            Do::Run(steps) => {
                let mut left = *steps;
                while left > 0 {
                    let before = self.machine.clock();
                    match self.pump(left, with)? {
                        Ran::Output(_) => left -= (self.machine.clock() - before).min(left),
                        Ran::Spent | Ran::Idle => break,
                    }
                }
            }
            Do::Expect { context, buffer, expect } => {
                let id = self.context(script, context, with)?;
                self.machine.settle(id);
                let name = format!("{context}.{buffer}");
                let Some((_, found)) = self.look(context, buffer) else {
                    let known = self.names().collect();
                    return Err(ProblemKind::UnknownVariable { name, known }.at(at).into());
                };
                match compare(&name, expect, found) {
                    Ok(mismatch) => outcome.mismatches.extend(mismatch),
                    Err(ExpectProblem::Data(problem)) => return Err(ProblemKind::Data { name, problem }.at(at).into()),
                    Err(ExpectProblem::Length { expected, found }) => {
                        let first = expect.first;
                        return Err(ProblemKind::ExpectLength { name, expected, buffer: found, first }.at(at).into());
                    }
                }
            }
        }
        Ok(())
    }

    /// What is wrong with a context at its end ([`Config::leaks`]).
    fn leaks(&self, id: ContextId) -> Option<Stop> {
        let bug = self.machine.arena(id).filter(|_| self.config.leaks)?.leaks()?;
        Some(Stop::Bug(Box::new(bug)))
    }

    fn start(&mut self, script: &Script, start: &Start, tag: Tag, with: &mut With<'_, '_>) -> Result<(), Failure> {
        let context = self.context(script, &start.context, with)?;
        let program = self.program(&start.context, &start.program, context, with)?;
        let env = self.programs.get(&start.program).ok_or_else(unchecked)?;
        let buffers = self.contexts.get(&start.context).map(|c| &c.buffers);
        let launch: Launch = launch_of(env, &start.kernel, &self.config.device.capacity, &|name| {
            buffers?.get(name).map(|b| (b.address, b.bytes))
        })?;
        self.send(DeviceInput::Context(context, ContextInput::Start(program, Box::new(launch), tag)))?;
        let launched = Launched { context: start.context.clone(), tag, grid: None, over: false };
        self.launches.insert(start.launch.clone(), launched);
        Ok(())
    }

    /// Sends a message that the script's order allows.
    fn send(&mut self, message: DeviceInput) -> Result<(), Failure> {
        self.machine
            .send(message)
            .map_err(|error| Stop::internal(format!("the device refuses a message: {error:?}"), None).into())
    }

    /// Lets the device run, and keeps what it says.
    fn pump(&mut self, hold: u64, with: &mut With<'_, '_>) -> Result<Ran, Failure> {
        let tell: Option<Tell<'_>> = match &mut with.tell {
            Some(tell) => Some(&mut **tell),
            None => None,
        };
        let (order, watch) = (Order::Any, self.watch);
        let (oracle, out) = (&mut *with.oracle, &mut *with.out);
        let ran = self.machine.run(Run { tell, oracle, out, order, hold, whole_turns: false, watch, look: true })?;
        if let Ran::Output(message) = ran {
            self.answers.push(message);
        }
        Ok(ran)
    }

    /// Waits for a message.
    fn answer<T>(
        &mut self,
        with: &mut With<'_, '_>,
        wanted: impl Fn(&DeviceOutput) -> Option<T>,
    ) -> Result<T, Failure> {
        loop {
            if let Some((k, found)) = self.answers.iter().enumerate().find_map(|(k, m)| Some((k, wanted(m)?))) {
                self.answers.remove(k);
                return Ok(found);
            }
            if self.pump(u64::MAX, with)? == Ran::Idle {
                return Err(self.machine.stuck().unwrap_or_else(nothing_steps).into());
            }
        }
    }

    /// The index of a context. When it becomes known the context's buffers are made.
    fn context(&mut self, script: &Script, name: &str, with: &mut With<'_, '_>) -> Result<ContextId, Failure> {
        let known = self.contexts.get(name).ok_or_else(unchecked)?;
        if let Some(id) = known.id {
            return Ok(id);
        }
        let tag = known.tag;
        let id = self.answer(with, |m| match m {
            DeviceOutput::Created(id, t) if *t == tag => Some(*id),
            _ => None,
        })?;
        let mut buffers = IndexMap::new();
        for (buffer, described) in script.buffers.get(name).into_iter().flatten() {
            buffers.insert(buffer.clone(), self.buffer(id, buffer, described)?);
        }
        if let Some(known) = self.contexts.get_mut(name) {
            (known.id, known.buffers) = (Some(id), buffers);
        }
        Ok(id)
    }

    fn buffer(&mut self, context: ContextId, name: &str, buffer: &Buffer) -> Result<Placed, Failure> {
        let Filled { bytes, contents, unwritten } = filled(name, buffer, &self.config)?;
        let address = self.machine.alloc(context, name, bytes)?.ok_or_else(unchecked)?;
        let arena = self.machine.arena_mut(context).ok_or_else(unchecked)?;
        if let Some(to) = arena.bytes_at_mut(address, contents.len() as u64) {
            to.copy_from_slice(&contents);
        }
        arena.leave_unwritten(address, unwritten);
        Ok(Placed { address, bytes, ty: buffer.ty })
    }

    /// The index of a program in a context.
    fn program(
        &mut self,
        context: &str,
        program: &str,
        id: ContextId,
        with: &mut With<'_, '_>,
    ) -> Result<ProgramId, Failure> {
        let key = (context.to_owned(), program.to_owned());
        if let Some(Some(known)) = self.loaded.get(&key) {
            return Ok(*known);
        }
        let tag = Tag(self.programs.get_index_of(program).and_then(|k| u32::try_from(k).ok()).unwrap_or(u32::MAX));
        let found = self.answer(with, |m| match m {
            DeviceOutput::Loaded(program, c, t) if (*c, *t) == (id, tag) => Some(*program),
            _ => None,
        })?;
        self.loaded.insert(key, Some(found));
        Ok(found)
    }

    /// The index of a launch's grid.
    fn grid(&mut self, name: &str, with: &mut With<'_, '_>) -> Result<GridId, Failure> {
        let launched = self.launches.get(name).ok_or_else(unchecked)?;
        if let Some(grid) = launched.grid {
            return Ok(grid);
        }
        let tag = launched.tag;
        let grid = self.answer(with, |m| match m {
            DeviceOutput::Context(_, ContextOutput::Started(grid, t)) if *t == tag => Some(*grid),
            _ => None,
        })?;
        if let Some(launched) = self.launches.get_mut(name) {
            launched.grid = Some(grid);
        }
        Ok(grid)
    }

    /// Waits for a launch's end.
    fn wait(&mut self, script: &Script, name: &str, with: &mut With<'_, '_>) -> Result<(), Failure> {
        let grid = self.grid(name, with)?;
        self.answer(with, |m| match m {
            DeviceOutput::Context(_, ContextOutput::Completed(g)) if *g == grid => Some(()),
            _ => None,
        })?;
        let launched = self.launches.get_mut(name).ok_or_else(unchecked)?;
        launched.over = true;
        let context = launched.context.clone();
        let id = self.context(script, &context, with)?;
        self.machine.settle(id);
        Ok(())
    }
}

/// A step that names what is not there: scripts are checked before anything runs.
fn unchecked() -> Stop {
    Stop::internal("a step of a host script names what is not there, and the check before the run let it through", None)
}
