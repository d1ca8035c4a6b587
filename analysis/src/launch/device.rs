//! A device with a program: buffers by name, launches, results.

use super::data::LEFT_ALONE;
use super::failure::{Failure, Placed};
use super::image::{Made, made};
use super::problem::{At, Problem, ProblemKind};
use super::{Arg, Buffer, Data, Global, Images, KernelLaunch, Mismatch, Scalar, Spec, Unexpected};
use super::{check_limits, compare, compare_output, pack};
use crate::base::SourceMap;
use crate::choice::{Decisions, Observed};
use crate::machine::{Capacity, Config, Context, Launch, Stats};
use crate::memory::flat::Lent;
use crate::program::env::{Function, ProgEnv};
use crate::verdict::{LimitKind, Sink, Stop, Taker, Unwritten};
use indexmap::IndexMap;
use std::sync::Arc;

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Input(vec![problem])
    }
}

/// A device context with one program, its buffers, and the sources that messages quote.
///
/// Memory lasts from launch to launch; launches run one after another. Everything is deterministic: the same calls give
/// the same memory, output and counts on every host.
pub struct Device {
    context: Context,
    sources: Arc<SourceMap>,
    buffers: IndexMap<String, Placed>,
    types: IndexMap<String, Scalar>,
    /// The handles of textures, samplers and surfaces.
    handles: Made,
}

impl Device {
    /// A device with a program loaded. `sources` are the files that the program came from.
    ///
    /// # Errors
    /// [`Stop::Limit`] when the program's variables exceed the memory cap.
    pub fn new(env: impl Into<Arc<ProgEnv>>, sources: impl Into<Arc<SourceMap>>, config: Config) -> Result<Self, Stop> {
        let (context, sources) = (Context::new(env, config)?, sources.into());
        Ok(Self { context, sources, buffers: IndexMap::new(), types: IndexMap::new(), handles: Made::new() })
    }

    /// Another device in the same state, cheaply: the program and the sources are shared, memory is copied.
    #[must_use]
    pub fn fork(&self) -> Self {
        let (context, sources) = (self.context.fork(), Arc::clone(&self.sources));
        let (buffers, types, handles) = (self.buffers.clone(), self.types.clone(), self.handles.clone());
        Self { context, sources, buffers, types, handles }
    }

    /// The context, to be run step by step.
    pub const fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    /// The context: memory, symbols, the program.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// The sources of the program and of the launch file.
    #[must_use]
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Bytes of its memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.context.bytes_in_all()
    }

    /// Makes all buffers of a launch file and sets its variables.
    ///
    /// # Errors
    /// Every buffer or variable that cannot be made; the memory cap.
    pub fn prepare(&mut self, spec: &Spec) -> Result<(), Failure> {
        let mut problems = Vec::new();
        let mut keep = |result: Result<(), Failure>| match result {
            Err(Failure::Input(more)) => {
                problems.extend(more);
                Ok(())
            }
            other => other,
        };
        for (name, buffer) in &spec.buffers {
            keep(self.add_buffer(name, buffer))?;
        }
        for (name, global) in &spec.globals {
            keep(self.set_global(name, global))?;
        }
        keep(self.add_images(&spec.images))?;
        if problems.is_empty() { Ok(()) } else { Err(Failure::Input(problems)) }
    }

    /// Makes a buffer and fills it. Its address is a multiple of 256 bytes.
    ///
    /// # Errors
    /// The data cannot be had or has another length; the name is taken; the memory cap.
    pub fn add_buffer(&mut self, name: &str, buffer: &Buffer) -> Result<(), Failure> {
        add_buffer(&mut self.context, &mut self.buffers, name, buffer)
    }

    /// Makes a buffer of what somebody else has, which is copied once. `written`: whether the host has written it; `at`: an address
    /// that was chosen for it.
    ///
    /// # Errors
    /// The name is taken; nothing can be at the address; the memory cap.
    pub fn add_contents(
        &mut self,
        name: &str,
        (ty, contents): (Scalar, &[u8]),
        written: bool,
        at: Option<u64>,
    ) -> Result<(), Failure> {
        if self.buffers.contains_key(name) {
            return Err(ProblemKind::Twice { name: name.to_owned() }.at(None).into());
        }
        let bytes = contents.len() as u64;
        let config = self.context.config();
        if let Some(cap) = config.max_memory.filter(|cap| bytes > *cap) {
            return Err(Stop::Limit(LimitKind::Memory { cap, wanted: bytes }).into());
        }
        if let Some(limit) = config.bounds.room(bytes, Taker::Buffers) {
            return Err(Stop::Limit(limit).into());
        }
        let init = if written { Data::Zeros } else { Data::Uninit };
        let address = match at {
            None => self.context.alloc(name, bytes)?,
            Some(at) => self.context.alloc_at(name, bytes, at)?.ok_or_else(|| {
                let why =
                    "no memory can be there: addresses are multiples of 256, ascending, and behind those of variables";
                ProblemKind::UnfitFlag { flag: "address", text: format!("{at:#x}"), why }.at(None)
            })?,
        };
        self.context.leave_unwritten(address, init.unwritten(ty, bytes));
        if let Some(to) = self.context.bytes_mut(address, bytes) {
            if written {
                to.copy_from_slice(contents);
            } else {
                to.fill(LEFT_ALONE);
            }
        }
        self.buffers.insert(name.to_owned(), Placed { address, bytes, ty });
        Ok(())
    }

    /// Makes a buffer of bytes that the host lends for as long as the device is there, without a copy of them. Only where the
    /// context takes loans ([`Context::takes_loans`]).
    ///
    /// # Errors
    /// The name is taken; the memory cap.
    pub fn add_loan(&mut self, name: &str, ty: Scalar, loan: Box<dyn Lent>) -> Result<(), Failure> {
        if self.buffers.contains_key(name) {
            return Err(ProblemKind::Twice { name: name.to_owned() }.at(None).into());
        }
        let bytes = loan.bytes().len() as u64;
        let address = self.context.lend(name, loan)?;
        self.buffers.insert(name.to_owned(), Placed { address, bytes, ty });
        Ok(())
    }

    /// Makes textures, samplers and surfaces, and binds them to variables; buffers of their own are made, too.
    ///
    /// # Errors
    /// A buffer is missing or too small, its data cannot be had, a variable is missing, a filter cannot be; the memory cap.
    pub fn add_images(&mut self, images: &Images) -> Result<(), Failure> {
        if images.is_empty() {
            return Ok(());
        }
        let buffers = &mut self.buffers;
        let made = made(&mut self.context, images, |context, name, own| {
            if let Some(own) = own {
                add_buffer(context, buffers, name, own)?;
            }
            Ok(buffers.get(name).copied())
        })?;
        self.handles.extend(made);
        Ok(())
    }

    /// Writes a `.global` or `.const` variable, from its start; it may be longer than the value.
    ///
    /// # Errors
    /// There is no such variable, the value is longer than it, or the data cannot be had.
    pub fn set_global(&mut self, name: &str, global: &Global) -> Result<(), Failure> {
        let Some((address, bytes)) = self.context.symbol(name) else {
            let known = self.context.env().variables.keys().cloned().collect();
            return Err(ProblemKind::UnknownVariable { name: name.to_owned(), known }.at(global.at).into());
        };
        let contents = given(name, global, bytes)?;
        if let Some(to) = self.context.bytes_mut(address, contents.len() as u64) {
            to.copy_from_slice(&contents);
        }
        self.types.insert(name.to_owned(), global.ty);
        Ok(())
    }

    /// Checks a launch as [`Device::launch`] does, without running it: the entry, the arguments, the limits.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn check(&self, launch: &KernelLaunch) -> Result<Launch, Failure> {
        let address = |arg: &Arg| match arg {
            Arg::Buffer { name, .. } => self.buffers.get(name).map(|b| (b.address, b.bytes)),
            Arg::Handle { kind, name } => self.handles.get(&(*kind, name.clone())).map(|handle| (*handle, 8)),
            Arg::Scalar(..) | Arg::Bytes(_) | Arg::Null => None,
        };
        let capacity = &self.context.config().device.capacity;
        let mut checked = launch_of(self.context.env(), launch, capacity, &address);
        if let Err(Failure::Input(problems)) = &mut checked {
            for problem in problems {
                if let ProblemKind::UnknownBuffer { known, .. } = &mut problem.kind {
                    known.extend(self.buffers.keys().cloned());
                }
            }
        }
        checked
    }

    /// Runs a kernel to its end under an observer. `out` receives what it prints.
    ///
    /// # Errors
    /// The launch is wrong, or the run stopped.
    pub fn launch<S: Sink>(
        &mut self,
        launch: &KernelLaunch,
        sink: S,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<Stats, Failure> {
        let launch = self.check(launch)?;
        Ok(self.context.launch_with(&launch, sink, out)?)
    }

    /// The element type and the bytes of a buffer, or of a `.global` or `.const` variable (as bytes unless it was set
    /// with a type).
    #[must_use]
    pub fn contents(&self, name: &str) -> Option<(Scalar, &[u8])> {
        if let Some(b) = self.buffers.get(name) {
            return Some((b.ty, self.context.bytes(b.address, b.bytes)?));
        }
        let (address, bytes) = self.context.symbol(name)?;
        let ty = self.types.get(name).copied().unwrap_or(Scalar::BYTE);
        Some((ty, self.context.bytes(address, bytes)?))
    }

    /// The address of a buffer.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<u64> {
        self.buffers.get(name).map(|b| b.address)
    }

    /// The names of all buffers, then of all variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.buffers.keys().chain(self.context.env().variables.keys()).map(String::as_str)
    }

    /// Compares the results with what a launch file expects of them, in its order.
    ///
    /// # Errors
    /// An expectation cannot be compared: its data cannot be had or has another length.
    pub fn compare(&self, spec: &Spec) -> Result<Vec<Mismatch>, Failure> {
        let mut mismatches = Vec::new();
        let mut problems = Vec::new();
        for (name, expect) in &spec.expect {
            let Some((_, found)) = self.contents(name) else {
                let known = self.names().map(str::to_owned).collect();
                problems.push(ProblemKind::UnknownVariable { name: name.clone(), known }.at(expect.at));
                continue;
            };
            match compare(name, expect, found) {
                Ok(mismatch) => mismatches.extend(mismatch),
                Err(kind) => problems.push(kind.at(expect.at)),
            }
        }
        if problems.is_empty() { Ok(mismatches) } else { Err(Failure::Input(problems)) }
    }

    /// A hash of all device memory: buffers, variables, device `malloc`. The same on every host.
    #[must_use]
    pub fn memory_hash(&self) -> u64 {
        self.context.memory_hash()
    }
}

/// Makes a buffer and fills it; see [`Device::add_buffer`].
fn add_buffer(
    context: &mut Context,
    buffers: &mut IndexMap<String, Placed>,
    name: &str,
    buffer: &Buffer,
) -> Result<(), Failure> {
    if buffers.contains_key(name) {
        return Err(ProblemKind::Twice { name: name.to_owned() }.at(buffer.at).into());
    }
    let Filled { bytes, contents, unwritten } = filled(name, buffer, context.config())?;
    let address = context.alloc(name, bytes)?;
    context.leave_unwritten(address, unwritten);
    if let Some(to) = context.bytes_mut(address, contents.len() as u64) {
        to.copy_from_slice(&contents);
    }
    buffers.insert(name.to_owned(), Placed { address, bytes, ty: buffer.ty });
    Ok(())
}

/// What is written to a variable or buffer of so many bytes, from its start; it may be longer than the value.
///
/// # Errors
/// The value is longer, or the data cannot be had.
pub(super) fn given(name: &str, value: &Global, bytes: u64) -> Result<Vec<u8>, Failure> {
    let data = |problem| ProblemKind::Data { name: name.to_owned(), problem }.at(value.at);
    let contents = value.data.bytes(value.ty, None).map_err(data)?;
    let given = contents.len() as u64;
    if given > bytes {
        return Err(ProblemKind::VariableSize { name: name.to_owned(), bytes, given }.at(value.at).into());
    }
    Ok(contents)
}

/// A buffer as it is to be made.
pub(super) struct Filled {
    /// Its size.
    pub bytes: u64,
    /// What it holds; none when that is zeros.
    pub contents: Vec<u8>,
    /// The part that the host has not written.
    pub unwritten: Option<Unwritten>,
}

/// What a buffer is made of.
///
/// # Errors
/// The data cannot be had or has another length; the memory cap.
pub(super) fn filled(name: &str, buffer: &Buffer, config: &Config) -> Result<Filled, Failure> {
    let Buffer { ty, init, len, at } = buffer;
    let data = |problem| ProblemKind::Data { name: name.to_owned(), problem }.at(*at);
    let elements = init.elements(*ty).map_err(data)?.or(*len).ok_or_else(|| data(super::DataProblem::NoLength))?;
    let bytes = elements
        .checked_mul(ty.bytes.into())
        .filter(|n| *n < 1 << 62)
        .ok_or_else(|| data(super::DataProblem::TooLarge))?;
    // The cap comes before the contents: they might not fit this computer either.
    if let Some(cap) = config.max_memory.filter(|cap| bytes > *cap) {
        return Err(Stop::Limit(LimitKind::Memory { cap, wanted: bytes }).into());
    }
    let zeros = matches!(init, Data::Zeros | Data::Assumed);
    // Once for the contents, and once on the device.
    let wanted = if zeros { bytes } else { bytes.saturating_mul(2) };
    if let Some(limit) = config.bounds.room(wanted, Taker::Buffers) {
        return Err(Stop::Limit(limit).into());
    }
    let contents = if zeros { Vec::new() } else { init.bytes(*ty, *len).map_err(data)? };
    Ok(Filled { bytes, contents, unwritten: init.unwritten(*ty, bytes) })
}

/// A launch as the machine takes it: the entry is there, the arguments fit, the target allows it. `address` gives the
/// address and the size in bytes of a buffer.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn launch_of(
    env: &ProgEnv,
    launch: &KernelLaunch,
    capacity: &Capacity,
    address: &dyn Fn(&Arg) -> Option<(u64, u64)>,
) -> Result<Launch, Failure> {
    let entry = entry(env, launch.entry.as_deref(), launch.at)?;
    let mut problems = Vec::new();
    if let Err(limit) = check_limits(entry, launch, env.target.sm, capacity) {
        problems.push(ProblemKind::Limit { entry: entry.name.clone(), limit }.at(launch.at));
    }
    let pointer = env.target.address_bits / 8;
    let params = pack(entry, &launch.args, pointer, launch.at, address);
    let params = params.unwrap_or_else(|more| {
        problems.extend(more);
        Vec::new()
    });
    if !problems.is_empty() {
        return Err(Failure::Input(problems));
    }
    let (entry, shared_bytes) = (entry.name.clone(), launch.shared);
    Ok(Launch { entry, grid: launch.grid, block: launch.block, shared_bytes, params })
}

fn entry<'a>(env: &'a ProgEnv, name: Option<&str>, at: At) -> Result<&'a Function, Failure> {
    let functions = &env.functions;
    let entries = || functions.values().filter(|f| f.entry && f.defined);
    let names = || entries().map(|f| f.name.clone()).collect::<Vec<_>>();
    let Some(name) = name else {
        let (only, more) = (entries().next(), entries().nth(1));
        return only
            .filter(|_| more.is_none())
            .ok_or_else(|| ProblemKind::WhichEntry { entries: names() }.at(at).into());
    };
    let found = functions.get(name);
    found.filter(|f| f.entry && f.defined).ok_or_else(|| {
        let kind = ProblemKind::NoEntry { name: name.to_owned(), entries: names(), function: found.is_some() };
        kind.at(at).into()
    })
}

/// What a run of a launch file came to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// Counts of each launch, in order.
    pub stats: Vec<Stats>,
    /// What `printf` wrote, all launches together.
    pub output: Vec<u8>,
    /// Results and output other than expected.
    pub unexpected: Unexpected,
}

/// Runs everything that a launch file says: checks all launches, runs them in order, compares the results. Each launch is
/// observed by `sink`, and `seen` is told what is decided; `out` receives the output as it comes.
///
/// # Errors
/// The input is wrong, or a launch stopped.
pub fn run<S: Sink>(
    spec: &Spec,
    device: &mut Device,
    sink: &mut S,
    seen: Option<&Decisions>,
    out: &mut dyn FnMut(&[u8]),
) -> Result<Outcome, Failure> {
    if spec.launches.is_empty() {
        return Err(ProblemKind::NoLaunch.into());
    }
    device.prepare(spec)?;
    // What is wrong with the last launch or the expectations should not wait for the first launch's end.
    let launches = spec.launches.iter().map(|launch| device.check(launch)).collect::<Result<Vec<_>, _>>()?;
    device.compare(spec)?;
    let mut outcome = Outcome::default();
    for launch in &launches {
        let mut both = |bytes: &[u8]| {
            outcome.output.extend_from_slice(bytes);
            out(bytes);
        };
        outcome.stats.push(match seen {
            None => device.context.launch_with(launch, &mut *sink, &mut both)?,
            Some(seen) => {
                let mut oracle = device.context.oracle();
                let oracle = &mut Observed::new(&mut *oracle, |menu, pick| seen.add(menu, pick));
                device.context.launch_by(launch, &mut *sink, oracle, &mut both)?
            }
        });
    }
    outcome.unexpected.mismatches = device.compare(spec)?;
    outcome.unexpected.output_mismatch = spec.stdout.as_ref().and_then(|e| compare_output(e, &outcome.output));
    // Wrong results say more.
    match device.context.leaks() {
        Some(stop) if outcome.unexpected.is_empty() => Err(stop.into()),
        _ => Ok(outcome),
    }
}
