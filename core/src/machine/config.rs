//! How a device runs: control model, schedule, limits, and what hardware it stands for.

use crate::machine::bounds::Bounds;
use crate::machine::control::Grouping;
use crate::memory::MemoryModel;
use crate::memory::fermi::model::DeviceModel;
use serde::Serialize;
use std::time::Duration;

/// Control models by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ControlModel {
    /// The report's token stack.
    Crs,
    /// A program counter per lane, lanes at one address run together.
    Its,
    /// The same, but any lanes of those at one address may run without the others (D-its-split).
    ItsSplit,
    /// Every thread on its own.
    Thread,
}

impl ControlModel {
    /// Which lanes of a warp run together, as far as tokens do not say it.
    #[must_use]
    pub const fn grouping(self) -> Grouping {
        match self {
            Self::Crs | Self::Its => Grouping::All,
            Self::ItsSplit => Grouping::Any,
            Self::Thread => Grouping::One,
        }
    }

    /// What a target's hardware does: independent threads from sm_70 on (`semantics.md`, section 5).
    #[must_use]
    pub const fn of_target(sm: u32) -> Self {
        if sm < 70 { Self::Crs } else { Self::Its }
    }
}

/// The part of a device's description that the hierarchy above the warp needs (report, figure 3.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DeviceShape {
    /// Streaming multiprocessors (NumProcessors).
    pub processors: u32,
    /// Grids of a context that execute at the same time (NumConKernels).
    pub concurrent_grids: u32,
    /// What a multiprocessor holds at once (MaxResidentBlocks, MaxResidentThreads, SharedMemSize).
    pub capacity: Capacity,
}

impl DeviceShape {
    /// The shape of a described device.
    #[must_use]
    pub const fn of(model: &DeviceModel) -> Self {
        Self {
            processors: model.processors,
            concurrent_grids: model.concurrent_grids,
            capacity: Capacity {
                blocks: model.resident_blocks,
                threads: model.resident_threads,
                shared: model.shared_bytes,
            },
        }
    }
}

impl Default for DeviceShape {
    /// A large device of today: 132 multiprocessors of 2048 threads, 32 blocks and 228 KiB of shared memory, 128 grids.
    fn default() -> Self {
        let capacity = Capacity { blocks: 32, threads: 2048, shared: 228 << 10 };
        Self { processors: 132, concurrent_grids: 128, capacity }
    }
}

/// The heap of a context's device `malloc` (D-heap).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HeapConfig {
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether a run ends where it is full; `malloc` returns null otherwise.
    pub stop: bool,
}

impl Default for HeapConfig {
    /// What CUDA has until `cudaDeviceSetLimit(cudaLimitMallocHeapSize, …)`: 8 MB, and null when it is full.
    fn default() -> Self {
        Self { bytes: 8 << 20, stop: false }
    }
}

/// What executes kernels. No result depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Engine {
    /// The interpreter, and machine code of kernels that run long.
    #[default]
    Auto,
    /// The interpreter.
    Interpreter,
    /// Machine code from the first instruction on, as far as there can be. `trip`: native code is left without need after so many
    /// of its segments, counted anew at each entry; 0: it is not.
    Native {
        /// See there.
        trip: u32,
    },
}

/// How a device runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The control model; by the program's target when absent.
    pub control: Option<ControlModel>,
    /// Threads in a warp, 1 to 32.
    pub warp_size: u32,
    /// Whether matrix instructions round the exact sum once, not as tensor cores do (D-mma-rounding).
    pub mma_exact: bool,
    /// A random schedule; the fair, deterministic one when absent.
    pub seed: Option<u64>,
    /// Limit of warp instructions of all launches together.
    pub max_steps: Option<u64>,
    /// Limit of time of one launch.
    pub timeout: Option<Duration>,
    /// Limit of a context's device memory in bytes.
    pub max_memory: Option<u64>,
    /// What the command may take that this belongs to.
    pub bounds: Bounds,
    /// Limit of a thread's stack in bytes.
    pub stack_limit: u32,
    /// The heap of the device's `malloc`.
    pub heap: HeapConfig,
    /// Whether memory of the heap that is not freed at the end of a context is a defect.
    pub leaks: bool,
    /// The hardware.
    pub device: DeviceShape,
    /// The memory engine.
    pub memory: MemoryModel,
    /// Whether observed runs look for a state that repeats, so that they never end. Under a random schedule, and in
    /// programs that read a clock, they do not: no repetition would prove anything. An oracle of the caller's must answer
    /// by its menus alone, as the deterministic one does.
    pub liveness: bool,
    /// Whether blocks are issued as soon as there is room (report, 5.7.1 `issueBlocks`): for searches. Otherwise, which is
    /// faster, when no warp is ready or turns keep running out.
    pub eager: bool,
    /// Whether a search keeps blocks that are complete, so that their registers are part of the state and can be read.
    pub keep_finished: bool,
    /// Whether every choice, also a forced one, holds for one warp instruction only: the report's small step.
    pub small_steps: bool,
    /// What executes kernels.
    pub engine: Engine,
    /// Threads of this computer that a launch may run on. No result depends on it (D-ahead).
    pub threads: u32,
    /// Whether somebody asks how much was machine code ([`Context::native`](crate::machine::Context::native)): that is the same on several threads then, too,
    /// and on fewer kernels several of them run.
    pub counts_native: bool,
    /// Whether kernels access memory of the host's process by its addresses: those of the context's own memory lie above them.
    pub host_addresses: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            control: None,
            warp_size: 32,
            mma_exact: false,
            seed: None,
            max_steps: None,
            timeout: None,
            max_memory: None,
            bounds: Bounds::default(),
            stack_limit: 64 << 10,
            heap: HeapConfig::default(),
            leaks: false,
            device: DeviceShape::default(),
            memory: MemoryModel::Flat,
            liveness: false,
            eager: false,
            keep_finished: false,
            small_steps: false,
            engine: Engine::Auto,
            threads: 1,
            counts_native: false,
            host_addresses: false,
        }
    }
}

/// What a multiprocessor can hold at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Capacity {
    /// Blocks.
    pub blocks: u32,
    /// Threads.
    pub threads: u32,
    /// Shared memory in bytes.
    pub shared: u32,
}
