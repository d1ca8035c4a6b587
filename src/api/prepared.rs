//! A kernel whose memory has been made: one run of it, and a schedule that is replayed.

use super::argument::{Given, Memory};
use super::described::Described;
use super::error::Error;
use super::kernel::Kernel;
use super::left::Left;
use crate::base::SourceMap;
use crate::check::Check;
use crate::choice::{Fair, Oracle, Recorder, Replay, Seeded};
use crate::explore::{Ending, Judge, Limits, Played, Refusal, ScheduleFile, Target};
use crate::launch::{Arg, Data, Device, Failure, Global, ImageSpec, KernelLaunch, Scalar, Spec, Texels};
use crate::machine::{Bounds, Config, DeviceShape, Host, Stats};
use crate::report::Diagnostic;
use crate::verdict::{ImageKind, Stop};
use std::sync::Arc;

/// What a run gave that ended as it should; the kernel's memory has been written back.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Instructions and blocks that were executed.
    pub stats: Stats,
    /// What the kernel printed.
    pub output: Vec<u8>,
    /// A hash of all device memory, the same on every computer.
    pub memory_hash: u64,
}

impl Run {
    /// What the kernel printed, as text.
    #[must_use]
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }
}

impl Kernel<'_> {
    /// Runs the kernel to its end.
    ///
    /// # Errors
    /// What is wrong with the launch; a defect of the kernel, or results other than expected: its memory is as it was before
    /// then; a limit.
    pub fn run(mut self) -> Result<Run, Error> {
        self.sensible(true)?;
        let target = self.target(false)?;
        let mut observers = self.observers(&target.program());
        let mut oracle: Box<dyn Oracle> = match self.config.seed {
            None => Box::new(Fair),
            Some(seed) => Box::new(Seeded::new(seed)),
        };
        let steps = self.config.max_steps.unwrap_or(u64::MAX);
        let limits = Limits { steps, fair_steps: 0 };
        let played = target.watch_once(&mut *oracle, limits, &mut observers);
        self.finish(&played)
    }

    /// Runs a schedule again that [`Finding::schedule`](super::Finding::schedule) gave, or that a command saved: the defect
    /// is the error.
    ///
    /// # Errors
    /// The schedule belongs to another kernel, launch or version, or is not as it was written; as of [`Kernel::run`].
    pub fn replay(mut self, schedule: &str) -> Result<Run, Error> {
        self.sensible(true)?;
        let target = self.target(true)?;
        let mut sources = SourceMap::clone(self.module.sources());
        let id = sources.add("schedule", schedule);
        let refuse =
            |(error, at): Refusal| Error::diagnostics(&[Diagnostic::from(error.wording()).at(id, at)], &sources);
        let file = ScheduleFile::parse(schedule, id).map_err(refuse)?;
        target.takes(&file).map_err(refuse)?;
        let limits = Limits::of_schedule(&file.schedule, self.config.max_steps);
        let mut recorder = Recorder::new(Replay::new(file.schedule));
        let observers = self.observers(&target.program());
        let (mut played, trace, _) = target.observe(&mut recorder, limits, observers, &mut |_, _| ());
        target.explain(&mut played);
        if matches!(played.ending, Ending::Expected)
            && played.fair_from.is_none()
            && let Err(stop) = recorder.into_parts().0.finish()
        {
            played.ending = Ending::Stopped(stop);
        }
        let unfinished = matches!(played.ending, Ending::Stopped(Stop::Diverged { .. } | Stop::Limit(_)));
        if !unfinished && trace != file.trace {
            let what = "a schedule gives another run than the one that was recorded";
            played.ending = Ending::Stopped(Stop::internal(what, None));
        }
        self.finish(&played)
    }

    /// Gives the memory back, if all is as it should be.
    fn finish(&mut self, played: &Played) -> Result<Run, Error> {
        if played.ending != Ending::Expected {
            let device = &played.device;
            return Err(Error::ended(&played.ending, device.context().env(), device.sources()));
        }
        if let Err(address) = played.device.context().give_back() {
            return Err(self.unfit("memory", &format!("{address:#x}"), "the process cannot write there any more"));
        }
        for (k, (name, argument)) in self.args.iter().enumerate() {
            if let Given::Memory(_, Memory::Kept(bytes)) = argument.0
                && self.left(&played.device, k).is_some_and(|left| *left != *bytes)
            {
                return Err(self.unfit("memory", name, "it may only be read, and the kernel wrote to it"));
            }
        }
        let tables: Vec<_> = (0..self.args.len())
            .map(|k| self.pointers.iter().any(|p| p.from.0 == k).then(|| self.left(&played.device, k)).flatten())
            .collect();
        for (name, bytes) in &mut self.variables {
            if let Some((_, left)) = played.device.contents(name) {
                bytes.copy_from_slice(left.get(..bytes.len()).unwrap_or_default());
            }
        }
        let placed = self.placed.iter_mut().map(|(name, argument, _)| (&*name, argument));
        let others = self.args.iter_mut().chain(&mut self.bound).map(|(name, argument)| (&*name, argument));
        for (k, (name, argument)) in others.chain(placed).enumerate() {
            let (Given::Memory(_, memory) | Given::Image(_, memory)) = &mut argument.0 else { continue };
            let Some((_, left)) = played.device.contents(name) else { continue };
            let left = tables.get(k).and_then(Option::as_deref).unwrap_or(left);
            match memory {
                Memory::Write(bytes, written) => {
                    bytes.copy_from_slice(left);
                    written.iter_mut().for_each(|written| **written = true);
                }
                Memory::Lent(Some(loan)) => loan.bytes_mut().copy_from_slice(left),
                Memory::Read(_) | Memory::Kept(_) | Memory::Lent(None) => {}
            }
        }
        let stats = played.stats.first().copied().unwrap_or_default();
        Ok(Run { stats, output: played.output.clone(), memory_hash: played.device.memory_hash() })
    }

    /// The kernel with its memory made. `search`: it is run many times, from the state that all runs share.
    pub(super) fn target(&mut self, search: bool) -> Result<Target, Error> {
        let env = self.module.program(self.config.control)?;
        let host = Host { taken: None, interrupted: self.interrupted.clone() };
        let mut config = Config {
            eager: search || self.config.seed.is_some(),
            leaks: self.checks.contains(&Check::Leaks),
            liveness: search || self.checks.contains(&Check::Liveness),
            bounds: Bounds::new(host, self.config.timeout, None, search),
            // Runs are told who decides and for how long.
            seed: None,
            max_steps: None,
            ..self.config.clone()
        };
        config.max_memory = Some(config.max_memory.unwrap_or(USUAL_MEMORY));
        if let Some(shape) = config.memory.device().map(DeviceShape::of) {
            config.device = shape;
        }
        let (module, sources) = (self.module.clone(), Arc::clone(self.module.sources()));
        let made = || -> Result<Target, Failure> {
            let mut device = Device::new(env, Arc::clone(&sources), config)?;
            let lends = !search && device.context().takes_loans();
            if let Some(host) = &self.host {
                if !lends {
                    let what =
                        "a search, a memory that is not flat, or asynchronous copies on memory of the host's process";
                    return Err(Stop::Unsupported(what.to_owned(), None).into());
                }
                device.context_mut().mirror(Arc::clone(host));
            }
            for (name, argument) in self.args.iter_mut().chain(&mut self.bound) {
                let (ty, memory) = match &mut argument.0 {
                    Given::Memory(ty, memory) => (*ty, memory),
                    Given::Image(described, memory) => (described.ty, memory),
                    _ => continue,
                };
                if let Memory::Lent(loan) = memory
                    && let Some(loan) = if lends { loan.take() } else { None }
                {
                    device.add_loan(name, ty, loan)?;
                    continue;
                }
                device.add_contents(name, (ty, memory.bytes()), memory.is_written(), None)?;
            }
            self.placed.sort_by_key(|(_, _, address)| *address);
            for (name, argument, address) in &self.placed {
                if let Given::Memory(ty, memory) = &argument.0 {
                    device.add_contents(name, (*ty, memory.bytes()), memory.is_written(), Some(*address))?;
                }
            }
            for (name, bytes) in &self.variables {
                device.set_global(name, &Global { ty: Scalar::BYTE, data: Data::Values(bytes.to_vec()), at: None })?;
            }
            self.point(&mut device);
            let spec = self.spec();
            device.prepare(&spec)?;
            Ok(Target::on(device, spec)?.judged(self.judge()))
        };
        made().map_err(|failure| Error::failure(failure, module.env(), &sources))
    }

    /// The caller's own code that judges results, as a target calls it.
    fn judge(&self) -> Option<Judge> {
        let verdict = Arc::clone(self.verdict.as_ref()?);
        Some(Arc::new(move |device: &Device| verdict(&Left(device)).err()))
    }

    /// The launch as a launch file would say it, but for the buffers.
    fn spec(&self) -> Spec {
        let mut spec = Spec { ptx: vec![(self.module.path(), None)], ..Spec::default() };
        let mut launch = KernelLaunch { args: Vec::new(), ..self.launch.clone() };
        for (_, (name, argument)) in self.args.iter().enumerate().filter(|(k, _)| !self.beside.contains(k)) {
            let arg = match &argument.0 {
                Given::Number(ty, bytes) => Arg::Scalar(*ty, bytes.clone()),
                Given::Struct(bytes) => Arg::Bytes(bytes.clone()),
                Given::Null => Arg::Null,
                Given::Memory(..) => Arg::Buffer { name: name.clone(), offset: 0 },
                Given::Within(argument, offset) => {
                    let name = self.args.get(*argument).map_or(name, |(name, _)| name).clone();
                    Arg::Buffer { name, offset: *offset }
                }
                Given::Image(described, _) => {
                    image(&mut spec, name, described, None);
                    Arg::Handle { kind: described.kind, name: name.clone() }
                }
            };
            launch.args.push((arg, None));
        }
        for (variable, argument) in &self.bound {
            if let Given::Image(described, _) = &argument.0 {
                image(&mut spec, variable, described, Some(variable.clone()));
            }
        }
        spec.expect.extend(self.expected.iter().cloned());
        spec.launches.push(launch);
        spec
    }
}

/// Adds a texture or surface, whose texels a buffer of its name has.
fn image(spec: &mut Spec, name: &str, described: &Described, variable: Option<String>) {
    let texels = Texels::Buffer { name: name.to_owned(), offset: 0 };
    let new = ImageSpec { texels, variable, ..described.spec.clone() };
    let all = match described.kind {
        ImageKind::Surface => &mut spec.images.surfaces,
        _ => &mut spec.images.textures,
    };
    all.insert(name.to_owned(), new);
}

/// Device memory at most when nothing is said, in bytes.
pub(super) const USUAL_MEMORY: u64 = 8 << 30;
