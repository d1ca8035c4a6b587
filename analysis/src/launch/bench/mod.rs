//! Kernels of known size, to measure the speed of the machine: their inputs, launches and checks.
//!
//! The sizes of the nine are those at which other emulators of PTX were measured (`benches/README.md`). Ten more are of other
//! kinds. Inputs come from one 32-bit xorshift generator with the seed 12345.

mod data;
mod integers;
mod nine;
mod numbers;

use super::{Arg, Buffer, Data, Device, Failure, KernelLaunch, Problem, Scalar, build};
use crate::base::SourceMap;
use crate::machine::{Config, Stats};
use crate::program::env::ProgEnv;
use crate::verdict::Sink;
use std::sync::Arc;

/// The names of the nine kernels, in order.
pub const KERNELS: [&str; 9] =
    ["vecadd", "saxpy", "matmul", "matmul_tiled", "reduce", "mandel", "hist", "nbody", "bitonic"];

/// The names of the ten kernels of other kinds, in order.
pub const MORE: [&str; 10] =
    ["softmax", "layernorm", "fft", "scan", "hash", "spmv", "blackscholes", "stencil", "nqueens", "radixsort"];

/// Kernels that are one program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suite {
    /// The nine of [`KERNELS`], for sm_35.
    Nine,
    /// The ten of [`MORE`], for sm_80.
    More,
}

impl Suite {
    /// All of them, in order.
    pub const ALL: [Self; 2] = [Self::Nine, Self::More];

    /// The names of its kernels, in order.
    #[must_use]
    pub const fn kernels(self) -> &'static [&'static str] {
        match self {
            Self::Nine => &KERNELS,
            Self::More => &MORE,
        }
    }

    /// The PTX of all its kernels.
    #[must_use]
    pub const fn ptx(self) -> &'static str {
        match self {
            Self::Nine => include_str!("../../../../benches/kernels.ptx"),
            Self::More => include_str!("../../../../benches/more.ptx"),
        }
    }

    /// The program of its kernels.
    ///
    /// # Errors
    /// None, unless the front end is broken.
    pub fn program(self) -> Result<(Arc<ProgEnv>, SourceMap), (Vec<Problem>, SourceMap)> {
        let mut sources = SourceMap::default();
        let name = match self {
            Self::Nine => "benches/kernels.ptx",
            Self::More => "benches/more.ptx",
        };
        let file = sources.add(name, self.ptx());
        match build(&[file], None, &sources) {
            Ok(env) => Ok((Arc::new(env), sources)),
            Err(problems) => Err((problems, sources)),
        }
    }
}

/// A kernel ready to be launched.
pub struct Case {
    /// Its size in words, e.g. `n=16777216`.
    pub size: String,
    device: Device,
    launches: Vec<KernelLaunch>,
    check: Box<dyn Fn(&Device) -> bool>,
}

impl Case {
    /// Makes the inputs of a kernel, whose suite's program `env` is; `shift` divides the work by about `2^shift`. `None` for an
    /// unknown name.
    ///
    /// # Errors
    /// The memory cap.
    pub fn new(name: &str, shift: u32, env: &Arc<ProgEnv>, config: Config) -> Result<Option<Self>, Failure> {
        let shift = shift.min(16);
        let setup = nine::setup(name, shift).or_else(|| numbers::setup(name, shift));
        let Some(setup) = setup.or_else(|| integers::setup(name, shift)) else { return Ok(None) };
        let mut device = Device::new(env.clone(), SourceMap::default(), config)?;
        for (name, bytes) in setup.buffers {
            let buffer = Buffer { ty: Scalar::BYTE, init: Data::Hex(bytes), len: None, at: None };
            device.add_buffer(name, &buffer)?;
        }
        let launch = |(entry, shape, args): (&str, Shape, Vec<Arg>)| KernelLaunch {
            entry: Some(entry.to_owned()),
            grid: shape.0,
            block: shape.1,
            shared: 0,
            args: args.into_iter().map(|a| (a, None)).collect(),
            at: None,
        };
        let launches = setup.launches.into_iter().map(launch).collect();
        Ok(Some(Self { size: setup.size, device, launches, check: setup.check }))
    }

    /// Launches the kernel, under an observer of all launches: this is what is measured. Gives the counts of all launches
    /// together.
    ///
    /// # Errors
    /// The run stopped.
    pub fn run<S: Sink>(&mut self, sink: &mut S) -> Result<Stats, Failure> {
        let mut sum = Stats::default();
        for launch in &self.launches {
            let stats = self.device.launch(launch, &mut *sink, &mut |_| ())?;
            sum.blocks += stats.blocks;
            sum.warp_instructions += stats.warp_instructions;
            sum.thread_instructions += stats.thread_instructions;
        }
        Ok(sum)
    }

    /// Whether the results are right; they are computed again on the host.
    #[must_use]
    pub fn correct(&self) -> bool {
        (self.check)(&self.device)
    }
}

/// Blocks of a grid, and threads of a block.
type Shape = ([u32; 3], [u32; 3]);

/// What a kernel is launched with, and how its results are checked.
struct Setup {
    size: String,
    buffers: Vec<(&'static str, Vec<u8>)>,
    /// Entries with their shapes and arguments, in order.
    launches: Vec<(&'static str, Shape, Vec<Arg>)>,
    check: Box<dyn Fn(&Device) -> bool>,
}
