//! A kernel with all that a launch needs, described by one call after the other.

use super::argument::{Argument, Element, Given, Pointer};
use super::dimensions::Dimensions;
use super::error::Error;
use super::left::{Left, Verdict};
use super::module::Module;
use crate::check::{Benign, Check, Observers, RacesOptions};
use crate::explore::Progress;
use crate::launch::{Data, Expect, KernelLaunch, ProblemKind, Scalar};
use crate::machine::{Config, ControlModel, Interrupted, MemoryModel};
use crate::memory::flat::HostMemory;
use crate::program::env::{AddressMap, ProgEnv};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A kernel of a PTX module with its launch: grid, arguments, what must come out, what is checked, and under which models.
///
/// Unless said otherwise it is launched with one block of one thread, under the control model of its target's hardware, on
/// memory that acts at once, by the fair deterministic schedule.
#[must_use]
pub struct Kernel<'a> {
    pub(super) module: Module,
    pub(super) launch: KernelLaunch,
    pub(super) args: Vec<(String, Argument<'a>)>,
    /// Those of them that are memory only: no parameter of the kernel is given for them.
    pub(super) beside: Vec<usize>,
    /// Addresses that memory of arguments holds.
    pub(super) pointers: Vec<Pointer>,
    /// Memory beside the arguments, at addresses of the caller's choice.
    pub(super) placed: Vec<(String, Argument<'a>, u64)>,
    /// What variables of the program hold.
    pub(super) variables: Vec<(String, &'a mut [u8])>,
    /// Textures and surfaces by the variables that they are bound to.
    pub(super) bound: Vec<(String, Argument<'a>)>,
    pub(super) expected: Vec<(String, Expect)>,
    /// The caller's own code that judges results.
    pub(super) verdict: Option<Verdict>,
    pub(super) checks: Vec<Check>,
    /// The races that are no defects.
    pub(super) benign: Benign,
    /// Whether the caller wants what is done to end.
    pub(super) interrupted: Option<Interrupted>,
    /// Threads of this computer that a hunt takes.
    pub(super) jobs: Option<usize>,
    /// Memory of this process that the kernel accesses by its addresses.
    pub(super) host: Option<Arc<dyn HostMemory>>,
    pub(super) config: Config,
    pub(super) progress: Progress,
    pub(super) max_states: Option<u64>,
    /// What was called in an order that makes no sense.
    pub(super) misuse: Option<&'static str>,
}

impl<'a> Kernel<'a> {
    /// The kernel of a PTX module; where it has several, [`Kernel::entry`] says which. Who launches it often keeps the [`Module`].
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn from_ptx(text: &str) -> Result<Self, Error> {
        Module::from_ptx(text).map(Self::of)
    }

    /// The same of a file, which messages name.
    ///
    /// # Errors
    /// The file cannot be read; everything that is wrong with its text.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        Module::from_file(path).map(Self::of)
    }

    pub(super) fn of(module: Module) -> Self {
        Self {
            module,
            launch: KernelLaunch { grid: [1; 3], block: [1; 3], ..KernelLaunch::default() },
            args: Vec::new(),
            beside: Vec::new(),
            pointers: Vec::new(),
            placed: Vec::new(),
            variables: Vec::new(),
            bound: Vec::new(),
            expected: Vec::new(),
            verdict: None,
            checks: Vec::new(),
            benign: Benign::default(),
            interrupted: None,
            jobs: None,
            host: None,
            config: Config::default(),
            progress: Progress::Fair,
            max_states: None,
            misuse: None,
        }
    }

    /// The kernel's name, where the module has several.
    pub fn entry(mut self, name: &str) -> Self {
        self.launch.entry = Some(name.to_owned());
        self
    }

    /// The number of blocks.
    pub fn grid(mut self, blocks: impl Into<Dimensions>) -> Self {
        self.launch.grid = blocks.into().0;
        self
    }

    /// The number of threads of a block.
    pub fn block(mut self, threads: impl Into<Dimensions>) -> Self {
        self.launch.block = threads.into().0;
        self
    }

    /// Dynamic shared memory of a block, in bytes.
    pub const fn shared(mut self, bytes: u32) -> Self {
        self.launch.shared = bytes;
        self
    }

    /// The next argument. Memory is called `arg0`, `arg1` … in messages, by its place among the arguments.
    pub fn arg(self, argument: impl Into<Argument<'a>>) -> Self {
        let name = format!("arg{}", self.args.len());
        self.buffer(&name, argument)
    }

    /// The next argument, with the name that messages call its memory by.
    pub fn buffer(mut self, name: &str, argument: impl Into<Argument<'a>>) -> Self {
        self.args.push((name.to_owned(), argument.into()));
        self
    }

    /// Memory beside the arguments, which is the value of no parameter: kernels reach it by addresses that other memory holds
    /// ([`Kernel::points`]). It has a number as arguments have, and a name.
    pub fn beside(mut self, name: &str, memory: impl Into<Argument<'a>>) -> Self {
        self.beside.push(self.args.len());
        self.buffer(name, memory)
    }

    /// Says that eight bytes of an argument's memory are an address: from byte `at` on of the argument of a number, of the byte
    /// `offset` of another one's memory. The kernel finds the address on the device there. The host's memory keeps what it holds,
    /// unless the kernel left something else. Code that judges results sees the device's addresses.
    pub fn points(mut self, (argument, at): (usize, usize), (target, offset): (usize, u64)) -> Self {
        self.pointers.push(Pointer { from: (argument, at), to: (target, offset) });
        self
    }

    /// Memory that is no argument, at an address of the caller's choice: pointers to it are numbers ([`Argument::bytes`]), or lie in
    /// other memory. Addresses are multiples of 256 and no less than [`Kernel::FIRST_ADDRESS`].
    pub fn memory_at(mut self, name: &str, address: u64, memory: impl Into<Argument<'a>>) -> Self {
        if address < Self::FIRST_ADDRESS {
            self.misuse =
                Some("`memory_at`: addresses below `Kernel::FIRST_ADDRESS` belong to variables and arguments");
        }
        self.placed.push((name.to_owned(), memory.into(), address));
        self
    }

    /// The least address that [`Kernel::memory_at`] takes.
    pub const FIRST_ADDRESS: u64 = AddressMap::of(64).global + AddressMap::memory(64) / 4;

    /// The addresses behind all that [`Kernel::memory_at`] takes.
    pub const LAST_ADDRESS: u64 = AddressMap::of(64).global + AddressMap::memory(64);

    /// What a `.global` or `.const` variable of the program holds at first, from its first byte on, and, where the kernel comes to
    /// its end, at last: variables of a program that is launched from again and again are the caller's to keep.
    pub fn variable(mut self, name: &str, bytes: &'a mut [u8]) -> Self {
        self.variables.push((name.to_owned(), bytes));
        self
    }

    /// Binds a texture or a surface to a `.texref` or `.surfref` variable of the program.
    pub fn bind(mut self, variable: &str, image: impl Into<Argument<'a>>) -> Self {
        self.bound.push((variable.to_owned(), image.into()));
        self
    }

    /// What the memory that was given last must hold at the end: these elements, floats by value. Anything else is a defect
    /// `mismatch`.
    pub fn expect<T: Element>(self, elements: &[T]) -> Self {
        self.expected(elements, None)
    }

    /// The same of floats that may differ by so much of the expected value.
    pub fn expect_within<T: Element>(self, elements: &[T], relative: f64) -> Self {
        self.expected(elements, Some(relative))
    }

    /// The same of elements whose type is known only when the program runs: their bytes, and by how much of the expected value
    /// floats may differ.
    pub fn expect_bytes(self, ty: Scalar, elements: &[u8], relative: Option<f64>) -> Self {
        self.expected_as(ty, elements.to_vec(), relative)
    }

    fn expected<T: Element>(self, elements: &[T], rel: Option<f64>) -> Self {
        self.expected_as(T::TYPE, bytemuck::cast_slice(elements).to_vec(), rel)
    }

    fn expected_as(mut self, ty: Scalar, elements: Vec<u8>, rel: Option<f64>) -> Self {
        let Some((name, Argument(Given::Memory(..) | Given::Image(..)))) = self.args.last() else {
            self.misuse = Some("`expect` is about the memory that was given last: call it after `.arg(&mut buffer)`");
            return self;
        };
        let data = Data::Values(elements);
        self.expected
            .push((name.clone(), Expect { ty, data, abs: None, rel, first: None, unordered: false, at: None }));
        self
    }

    /// Code that says whether the results of a run that came to its end are right, or else why they are not, which is a defect
    /// `mismatch`. A hunt calls it on all its threads.
    pub fn expect_that(mut self, verdict: impl Fn(&Left<'_>) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.verdict = Some(Arc::new(verdict));
        self
    }

    /// What is looked for besides.
    pub fn check(mut self, check: Check) -> Self {
        if !self.checks.contains(&check) {
            self.checks.push(check);
        }
        self
    }

    /// Which races are no defects; those of lanes of one instruction that store the same value if nothing is said.
    pub const fn benign(mut self, races: Benign) -> Self {
        self.benign = races;
        self
    }

    /// Lets the kernel access memory of this process by its own addresses, which are then passed as numbers ([`Argument::bytes`]).
    /// It works on a copy of what it reaches, and what it has changed is written back after a run that ended as it should. Only for
    /// [`Kernel::run`] on memory that is flat, of kernels without asynchronous copies.
    pub fn host_memory(mut self, memory: Arc<dyn HostMemory>) -> Self {
        self.config.host_addresses = true;
        self.host = Some(memory);
        self
    }

    /// The control model; by default that of the target's hardware.
    pub const fn control(mut self, control: ControlModel) -> Self {
        self.config.control = Some(control);
        self
    }

    /// The memory, and with it the device that it belongs to.
    pub fn memory(mut self, memory: MemoryModel) -> Self {
        self.config.memory = memory;
        self
    }

    /// Threads of a warp, 1 to 32.
    pub const fn warp_size(mut self, lanes: u32) -> Self {
        self.config.warp_size = lanes;
        self
    }

    /// Whether matrix instructions round the exact sum once, to nearest even, and not as the target's tensor cores do.
    pub const fn mma_exact(mut self, exact: bool) -> Self {
        self.config.mma_exact = exact;
        self
    }

    /// A schedule at random; the same seed gives the same run on every computer.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.config.seed = Some(seed);
        self
    }

    /// Threads of this computer that the blocks of a run are executed on, where nobody observes them; 1 otherwise. No result
    /// depends on it.
    pub const fn threads(mut self, threads: u32) -> Self {
        self.config.threads = threads;
        self
    }

    /// Warp instructions of a run at most.
    pub const fn max_steps(mut self, steps: u64) -> Self {
        self.config.max_steps = Some(steps);
        self
    }

    /// States of a proof at most.
    pub const fn max_states(mut self, states: u64) -> Self {
        self.max_states = Some(states);
        self
    }

    /// The time that a run, a hunt or a proof may take.
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.config.timeout = Some(time);
        self
    }

    /// Code that says whether what is done shall end now, before its time: a limit `interrupted`. It is asked very often, by
    /// all threads.
    pub fn interrupt(mut self, asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.interrupted = Some(Interrupted::Asked(Arc::new(asked)));
        self
    }

    /// Threads of this computer that a hunt takes at most; all if nothing is said.
    pub const fn jobs(mut self, threads: usize) -> Self {
        self.jobs = Some(threads);
        self
    }

    /// Device memory at most, in bytes, and the memory of a search.
    pub const fn max_memory(mut self, bytes: u64) -> Self {
        self.config.max_memory = Some(bytes);
        self
    }

    /// With [`Kernel::prove`]: whom the scheduler promises progress; all blocks if nothing is said.
    pub const fn progress(mut self, promised: Progress) -> Self {
        self.progress = promised;
        self
    }

    /// Refuses what makes no sense together, in the words of who wrote it.
    pub(super) fn sensible(&self, one_run: bool) -> Result<(), Error> {
        let refuse = |flag, text: &str, why| Err(self.unfit(flag, text, why));
        if let Some(why) = self.misuse {
            return refuse("expect", "", why);
        }
        for (name, Argument(given)) in self.args.iter().chain(&self.bound) {
            if let Given::Image(described, _) = given
                && let Some(why) = described.wrong()
            {
                return refuse("texture", name, why);
            }
        }
        if let Some((name, _)) = self.bound.iter().find(|(_, Argument(given))| !matches!(given, Given::Image(..))) {
            return refuse("bind", name, "only a texture or a surface can be bound to a variable");
        }
        self.pointers_fit()?;
        if one_run && self.checks.contains(&Check::Deterministic) {
            return refuse("check", "Deterministic", "one run is not compared with others: use `hunt`");
        }
        if one_run && self.checks.contains(&Check::Liveness) && self.config.seed.is_some() {
            let why = "a random schedule never repeats: leave the seed out, or use `hunt`, whose runs go on by the default schedule";
            return refuse("check", "Liveness", why);
        }
        if !(1..=32).contains(&self.config.warp_size) {
            return refuse("warp_size", &self.config.warp_size.to_string(), "a warp has 1 to 32 threads");
        }
        Ok(())
    }

    /// That something which was called does not go with the rest.
    pub(super) fn unfit(&self, flag: &'static str, text: &str, why: &'static str) -> Error {
        let problem = ProblemKind::UnfitFlag { flag, text: text.to_owned(), why }.at(None);
        Error::input(&[problem], self.module.sources())
    }

    /// How a run looks for races: it ends at the first.
    pub(super) fn races(&self) -> RacesOptions {
        let (benign, remote) = (self.benign, self.config.memory.has_remote());
        RacesOptions { benign, remote, stopping: true, ..RacesOptions::default() }
    }

    /// The observers of a run that ends at the first defect.
    pub(super) fn observers(&self, env: &Arc<ProgEnv>) -> Observers {
        Observers::of(&self.checks, env, self.races())
    }
}

impl Module {
    /// A launch of the kernel of a name. That there is none is told when it is run.
    pub fn kernel<'a>(&self, name: &str) -> Kernel<'a> {
        self.only().entry(name)
    }

    /// A launch of its only kernel.
    pub fn only<'a>(&self) -> Kernel<'a> {
        Kernel::of(self.clone())
    }
}

impl fmt::Debug for Kernel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("ptx", &self.module.name()).field("launch", &self.launch).finish_non_exhaustive()
    }
}
