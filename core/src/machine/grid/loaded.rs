//! A launch, loaded: preloads with their values, parameters, sizes.

use crate::base::{Frame, LANES, LaneMask, Lanes32, Lanes64, lanes_of, number};
use crate::machine::bounds::Bounds;
use crate::machine::config::HeapConfig;
use crate::machine::control::Grouping;
use crate::machine::images::Images;
use crate::memory::{LocalMemory, Uses};
use crate::program::env::{FuncId, Function, Init, Preload, ProgEnv, Special};
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::verdict::Shape;
use std::sync::Arc;

/// What a launch fixes for all its blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// The number that the host gave to the program.
    pub program: u32,
    /// The entry.
    pub entry: FuncId,
    /// Blocks in the grid.
    pub grid: [u32; 3],
    /// Threads in a block.
    pub block: [u32; 3],
    /// Threads in a warp.
    pub warp_size: u32,
    /// Which lanes of a warp run together.
    pub grouping: Grouping,
    /// The parameter area.
    pub params: Vec<u8>,
    /// Bytes of shared memory of a block: static, then dynamic.
    pub shared_bytes: u32,
    /// Where the dynamic shared memory begins.
    pub dynamic_at: u32,
    /// Bytes of dynamic shared memory.
    pub dynamic_bytes: u32,
    /// Streaming multiprocessors, for `%smid`.
    pub sms: u32,
    /// Number of the launch in its context.
    pub number: u32,
    /// Addresses of [`ProgEnv::variables`].
    pub variables: Vec<u64>,
    /// What its blocks and calls may take.
    pub bounds: Bounds,
    /// Limit of a thread's stack in bytes.
    pub stack_limit: u32,
    /// Whether matrix instructions round the exact sum once.
    pub mma_exact: bool,
    /// What the handles of textures and surfaces stand for.
    pub images: Arc<Images>,
    /// The heap of the device's `malloc`.
    pub heap: HeapConfig,
    /// Whether anything in the program moves the top of the stack of a function that runs.
    pub moves_stack: bool,
    /// Address of the zeroed workspace of a cooperative launch, in which blocks meet at grid barriers.
    pub workspace: u64,
    /// Bytes above the top of the stack where the arguments of a call to come are put.
    pub arguments: u32,
    /// The entry's preloads that differ between blocks.
    pub per_block: Vec<Preload>,
    /// The registers that each instruction names; empty where memory is immediate and nobody waits for any.
    pub uses: Vec<Uses>,
}

/// The thread-independent part of a value, or what it depends on.
#[derive(Clone, Copy)]
enum Value {
    /// The same for all threads of the launch.
    Uniform(u64),
    /// To be computed per lane.
    PerLane(Special),
}

/// Where arguments may lie above the top of the stack: as far as those of any function of the program or of the device
/// runtime reach.
#[must_use]
pub fn arguments(env: &ProgEnv) -> u32 {
    let called = env.functions.values().filter(|f| !f.entry);
    let ends = called.flat_map(|f| &f.params).map(|p| p.offset.saturating_add(p.bytes));
    ends.max().unwrap_or(0).max(64).saturating_add(15)
}

/// Bytes of this computer that the registers of a function take, for a warp.
#[must_use]
pub fn frame_bytes(function: &Function) -> u64 {
    let (w, q, p) = (function.slots.w, function.slots.q, function.slots.p);
    let rows = [(w, size_of::<Lanes32>()), (q, size_of::<Lanes64>()), (p, size_of::<LaneMask>())];
    rows.iter().map(|(count, bytes)| u64::from(*count) * *bytes as u64).sum()
}

/// The preloads whose values differ between the blocks of a launch.
#[must_use]
pub fn per_block(preloads: &[Preload]) -> Vec<Preload> {
    let differs =
        |p: &&Preload| matches!(p.init, Init::Special(Special::Ctaid(_) | Special::ClusterId(_) | Special::SmId));
    preloads.iter().filter(differs).copied().collect()
}

/// A block and warp whose registers are being filled.
#[derive(Clone, Copy, Debug)]
pub struct Where {
    /// The block's index.
    pub block: [u32; 3],
    /// The warp's number in the block.
    pub warp: u32,
    /// The streaming multiprocessor.
    pub sm: u32,
}

impl Loaded {
    /// The entry and the dimensions, for observers.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        Shape { entry: self.entry.0, grid: self.grid, block: self.block, warp_size: self.warp_size }
    }

    /// Threads in a block.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        self.shape().threads()
    }

    /// Warps in a block.
    #[must_use]
    pub const fn warps(&self) -> u32 {
        self.threads().div_ceil(self.warp_size)
    }

    /// Bytes of this computer that a block takes at its start: registers, local and shared memory.
    #[must_use]
    pub fn block_bytes(&self, env: &ProgEnv) -> u64 {
        let Some(entry) = env.function(self.entry) else { return 0 };
        let local = u64::from(entry.frame_bytes) + u64::from(self.arguments);
        let warp = frame_bytes(entry) + LocalMemory::bytes_of(local);
        u64::from(self.warps()).saturating_mul(warp).saturating_add(self.shared_bytes.into())
    }

    /// The index of a block in the grid.
    #[must_use]
    pub fn index_of(&self, linear: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        let narrow = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
        if linear < x {
            // Two divisions less, for most grids.
            return [narrow(linear), 0, 0];
        }
        [narrow(linear % x), narrow(linear / x % y), narrow(linear / (x * y))]
    }

    /// The lanes of a warp that hold threads.
    #[inline]
    #[must_use]
    pub fn populated(&self, warp: u32) -> LaneMask {
        let threads = self.threads().saturating_sub(warp * self.warp_size).min(self.warp_size);
        if threads >= 32 { !0 } else { (1 << threads) - 1 }
    }

    /// The index of a thread in its block.
    #[must_use]
    pub const fn thread(&self, warp: u32, lane: u32) -> [u32; 3] {
        self.shape().thread_index(warp, lane)
    }

    /// Fills preloaded slots of a frame for `lanes`.
    pub fn fill(&self, env: &ProgEnv, preloads: &[Preload], frame: &mut Frame, lanes: LaneMask, at: Where) {
        for preload in preloads {
            let slot = preload.slot.index();
            let each = lanes_of(lanes);
            let values = match self.value(env, preload.init, at) {
                Value::Uniform(v) if lanes == !0 => {
                    match preload.class {
                        Class::W => frame.w[slot].0.fill(v as u32),
                        Class::Q => frame.q[slot].0.fill(v),
                        Class::P => frame.p[slot] = u32::from(v & 1 == 1).wrapping_neg(),
                    }
                    continue;
                }
                Value::Uniform(v) if preload.class == Class::W => {
                    each.for_each(|l| frame.w[slot].0[l] = v as u32);
                    continue;
                }
                Value::Uniform(v) => [v; LANES],
                Value::PerLane(s) => {
                    let mut values = [0; LANES];
                    for (v, lane) in values.iter_mut().zip(0..) {
                        *v = self.of_lane(s, at, lane);
                    }
                    values
                }
            };
            match preload.class {
                Class::W if lanes == !0 => frame.w[slot].0 = values.map(|v| v as u32),
                Class::W => each.for_each(|l| frame.w[slot].0[l] = values[l] as u32),
                Class::Q => each.for_each(|l| frame.q[slot].0[l] = values[l]),
                Class::P => each.for_each(|l| {
                    let bit = u32::from(values[l] & 1 == 1) << l;
                    frame.p[slot] = frame.p[slot] & !(1 << l) | bit;
                }),
            }
        }
    }

    /// Fills the slots whose values differ between blocks, for a warp that has run in another block of the launch.
    pub fn fill_again(&self, frame: &mut Frame, at: Where) {
        for (class, slot, v) in self.renewed(at) {
            let slot = slot.index();
            match class {
                // Block numbers in y and z seldom change.
                Class::W if frame.w[slot].0[0] == v as u32 => {}
                Class::W => frame.w[slot].0.fill(v as u32),
                Class::Q => frame.q[slot].0.fill(v),
                Class::P => frame.p[slot] = u32::from(v & 1 == 1).wrapping_neg(),
            }
        }
    }

    /// The registers whose values differ between blocks, with what all threads of one have in them.
    pub fn renewed(&self, at: Where) -> impl Iterator<Item = (Class, Slot, u64)> {
        self.per_block.iter().filter_map(move |preload| {
            let Init::Special(special) = preload.init else { return None };
            let Value::Uniform(v) = self.special(special, at) else { return None };
            Some((preload.class, preload.slot, v))
        })
    }

    fn value(&self, env: &ProgEnv, init: Init, at: Where) -> Value {
        let map = env.addresses();
        Value::Uniform(match init {
            // Rule: expr.const
            Init::Const(v) => v,
            // Rule: expr.sreg
            Init::Special(s) => return self.special(s, at),
            Init::Param { offset, bytes, signed, ext } => {
                let area = &self.params[offset as usize..(offset + u32::from(bytes)) as usize];
                let raw = number(area);
                let unused = 64 - 8 * u32::from(bytes.clamp(1, 8));
                let wide = if signed { ((raw << unused).cast_signed() >> unused).cast_unsigned() } else { raw };
                if ext >= 64 { wide } else { wide & ((1 << ext) - 1) }
            }
            // Rule: expr.var
            Init::Variable { index, offset } => self.variables[index as usize].wrapping_add_signed(offset),
            // Rule: expr.func
            Init::Function(id) => map.code_of(env.functions[id.0 as usize].start),
            // Rule: expr.label
            Init::Code(pc) => map.code_of(pc),
            Init::Within { of, offset } => u64::from(of.first).wrapping_add_signed(offset),
            Init::DynamicShared(offset) => u64::from(self.dynamic_at).wrapping_add_signed(offset),
        })
    }

    /// A special register: its value where all lanes of a warp have the same.
    fn special(&self, s: Special, at: Where) -> Value {
        let dim = |v: [u32; 3], d: u8| u64::from(v[usize::from(d)]);
        Value::Uniform(match s {
            Special::Tid(_)
            | Special::LaneId
            | Special::LanemaskEq
            | Special::LanemaskLe
            | Special::LanemaskLt
            | Special::LanemaskGe
            | Special::LanemaskGt => return Value::PerLane(s),
            Special::Ntid(d) => dim(self.block, d),
            Special::Ctaid(d) | Special::ClusterId(d) => dim(at.block, d),
            Special::Nctaid(d) | Special::NclusterId(d) => dim(self.grid, d),
            Special::WarpId => at.warp.into(),
            Special::NwarpId => self.warps().into(),
            Special::WarpSize => self.warp_size.into(),
            Special::SmId => at.sm.into(),
            Special::NsmId => self.sms.into(),
            Special::GridId => self.number.into(),
            Special::DynamicSmemSize => self.dynamic_bytes.into(),
            Special::TotalSmemSize | Special::AggrSmemSize => self.shared_bytes.into(),
            // %envreg1 and 2 are the high and low half of the address of a cooperative launch's workspace.
            Special::EnvReg(1) => self.workspace >> 32,
            Special::EnvReg(2) => self.workspace & 0xffff_ffff,
            Special::ClusterNctaid(d) => u64::from(d < 3),
            Special::ClusterNctaRank => 1,
            Special::EnvReg(_)
            | Special::ClusterCtaid(_)
            | Special::ClusterCtaRank
            | Special::IsExplicitCluster
            | Special::Zero => 0,
        })
    }

    /// A special register that differs between lanes.
    fn of_lane(&self, s: Special, at: Where, lane: u32) -> u64 {
        let (bit, all) = (1u64 << lane, (1u64 << self.warp_size) - 1);
        match s {
            Special::Tid(d) => self.thread(at.warp, lane)[usize::from(d)].into(),
            Special::LaneId => lane.into(),
            Special::LanemaskEq => bit,
            Special::LanemaskLe => bit | (bit - 1),
            Special::LanemaskLt => bit - 1,
            Special::LanemaskGe => !(bit - 1) & all,
            Special::LanemaskGt => !(bit - 1) & !bit & all,
            _ => 0,
        }
    }
}
