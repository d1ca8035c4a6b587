//! Threads of a launch that run each as if no other were there, an instruction at a time (`axiom` needs their accesses, not
//! a schedule of them).
//!
//! Instructions are the machine's own: a warp of which one lane is live. Device and shared memory are scratch: whoever steps a thread puts there what an access is to
//! find, and finds there what it wrote. Nobody may rely on anything else in them.

use crate::base::{Frame, LANES, LaneTables, Pc, number};
use crate::choice::Fair;
use crate::machine::block::state::Block;
use crate::machine::control::{Control, Flow, Grouping, Its};
use crate::machine::grid::loaded::Loaded;
use crate::machine::observer::Observed;
use crate::machine::warp::run::run_flow;
use crate::machine::warp::state::{Halt, Shared, Why};
use crate::memory::flat::{Arena, places};
use crate::memory::{Cx, Near, SiteHints};
use crate::program::env::ProgEnv;
use crate::program::instr::{Space, WarpRequest};
use crate::verdict::{Shape, Stop, Who};
use std::sync::{Arc, Mutex, PoisonError};

/// A launch whose threads run each on its own.
pub struct Apart {
    env: Arc<ProgEnv>,
    loaded: Loaded,
    /// Memory when the launch begins.
    memory: Arena,
    /// What earlier threads ran on.
    spare: Mutex<Vec<Scratch>>,
}

/// What a thread runs on.
struct Scratch {
    block: Block<Its>,
    memory: Arena,
}

impl Apart {
    pub(super) const fn new(env: Arc<ProgEnv>, loaded: Loaded, memory: Arena) -> Self {
        Self { env, loaded, memory, spare: Mutex::new(Vec::new()) }
    }

    /// The program.
    #[must_use]
    pub fn env(&self) -> &ProgEnv {
        &self.env
    }

    /// Its dimensions.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.loaded.shape()
    }

    /// Memory when the launch begins.
    #[must_use]
    pub const fn memory(&self) -> &Arena {
        &self.memory
    }

    /// Bytes of shared memory of a block.
    #[must_use]
    pub const fn shared_bytes(&self) -> u32 {
        self.loaded.shared_bytes
    }

    /// Calls a function with a thread at its start: its block's linear index, and its own in the block.
    pub fn with<R>(&self, block: u64, thread: u32, call: impl FnOnce(&mut Alone<'_, '_>) -> R) -> R {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut on = spare.unwrap_or_else(|| Scratch { block: Block::new(), memory: self.memory.clone() });
        on.block.issue(&self.env, &self.loaded, block, 0);
        let (warp, lane) = (thread / self.loaded.warp_size, thread % self.loaded.warp_size);
        let (mut fair, mut out) = (Fair, |_: &[u8]| ());
        let sink = Observed::new(None);
        let cx =
            Cx { sink, oracle: &mut fair, hints: SiteHints::default(), tables: LaneTables::default(), out: &mut out };
        let entry = self.env.function(self.loaded.entry).map_or(0, |f| f.start.0);
        let flow = Flow { pc: entry, mask: 1 << lane, depth: 0 };
        let warp = warp as usize;
        if let Some(warp) = on.block.warps.get_mut(warp) {
            warp.control.reset(flow.mask, entry);
            warp.control.group(Grouping::All);
        }
        let result = call(&mut Alone { of: self, on: &mut on, warp, lane: lane as usize, flow: Some(flow), cx });
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(on);
        result
    }
}

/// A thread that runs on its own.
pub struct Alone<'a, 'c> {
    of: &'a Apart,
    on: &'a mut Scratch,
    warp: usize,
    lane: usize,
    /// Where it is; none at its end.
    flow: Option<Flow>,
    cx: Cx<'c, Observed<'c>>,
}

impl Alone<'_, '_> {
    /// The next instruction, and the depth of the call that it belongs to; none at the thread's end.
    #[must_use]
    pub fn at(&self) -> Option<(Pc, u32)> {
        self.flow.map(|flow| (Pc(flow.pc), flow.depth))
    }

    /// Its lane in its warp.
    #[must_use]
    pub const fn lane(&self) -> usize {
        self.lane
    }

    /// How many threads its warp has.
    #[must_use]
    pub fn companions(&self) -> u32 {
        self.of.loaded.populated(u32::try_from(self.warp).unwrap_or(u32::MAX)).count_ones()
    }

    /// The registers of the call that it is in.
    #[must_use]
    pub fn regs(&self) -> Option<&Frame> {
        self.on.block.warps.get(self.warp)?.frames.get(self.flow?.depth as usize)
    }

    /// The same, to be changed.
    pub fn regs_mut(&mut self) -> Option<&mut Frame> {
        self.on.block.warps.get_mut(self.warp)?.frames.get_mut(self.flow?.depth as usize)
    }

    /// What it is like: where it is, its registers in all calls, and its local memory.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u64> {
        let (Some(flow), Some(warp)) = (self.flow, self.on.block.warps.get(self.warp)) else { return Vec::new() };
        let lane = self.lane;
        let mut all = vec![flow.pc.into(), flow.depth.into()];
        for frame in warp.frames.iter().take(flow.depth as usize + 1) {
            all.extend(frame.w.iter().map(|slot| u64::from(slot.0[lane])));
            all.extend(frame.q.iter().map(|slot| slot.0[lane]));
            all.extend(frame.p.iter().map(|slot| u64::from(slot >> lane & 1)));
        }
        all.extend(warp.local.rows().iter().map(|row| u64::from(row.0[lane])));
        all
    }

    /// Executes its next instruction.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn step(&mut self) -> Result<(), Stop> {
        let Some(flow) = self.flow else { return Ok(()) };
        let (env, loaded) = (&*self.of.env, &self.of.loaded);
        let Block { warps, barriers, shared, index, linear, sm, .. } = &mut self.on.block;
        let Some(warp) = warps.get_mut(self.warp) else { return Ok(()) };
        let mut sh = Shared {
            env,
            loaded,
            barriers,
            shared: &mut shared[..],
            map: env.addresses(),
            who: Who { launch: loaded.number, block: *linear, warp: warp.index },
            block: *index,
            sm: *sm,
            clock: 0,
            threads: 0,
            turn: 0,
            runs: None,
            begun: 0,
            more: 0,
            exited: 0,
            native: None,
        };
        let ran = run_flow(warp, (flow, None), 1, &mut sh, &mut self.on.memory, &mut self.cx);
        if let Err(halt) = ran {
            let warp = warp.index;
            return Err(self.on.block.stop(env, loaded, warp, *halt));
        }
        self.flow = warp.control.pick(&mut *self.cx.oracle, |_| true)?.ok().map(|(flow, _)| flow);
        Ok(())
    }

    /// Goes on behind the next instruction without executing it.
    pub fn skip(&mut self) {
        if let Some(flow) = &mut self.flow {
            flow.pc += 1;
        }
    }

    /// Where a request of the next instruction leads: a state space that is not the generic one, and an address of device memory or an
    /// offset in another.
    ///
    /// # Errors
    /// It leads nowhere.
    pub fn place(&mut self, request: &WarpRequest) -> Result<(Space, u64), Stop> {
        let Some(flow) = self.flow else { return Err(Stop::internal("a thread that has ended accesses memory", None)) };
        let (env, loaded) = (&*self.of.env, &self.of.loaded);
        let Block { warps, shared, .. } = &mut self.on.block;
        let found = warps.get_mut(self.warp).and_then(|warp| {
            let map = env.addresses();
            let regs = warp.frames.get(flow.depth as usize)?;
            let (local, root) = (&mut warp.local, env.root(Pc(flow.pc)));
            let near = Near { shared: &mut shared[..], local, param: &loaded.params, map: &map, root, uses: None };
            Some(places(&self.on.memory, flow.mask, request, regs, &near, self.cx.hints.at(Pc(flow.pc))))
        });
        match found {
            Some(Ok(all)) => Ok(all[self.lane % LANES]),
            Some(Err(fault)) => {
                let halt = Halt { why: Why::Fault(*fault), pc: Pc(flow.pc), lanes: flow.mask };
                Err(self.on.block.stop(env, loaded, u32::try_from(self.warp).unwrap_or(u32::MAX), halt))
            }
            None => Err(Stop::internal("a thread has no registers", None)),
        }
    }

    /// The number that lies in scratch memory, at most 8 bytes.
    #[must_use]
    pub fn get(&self, (space, at): (Space, u64), bytes: u32) -> u64 {
        let (from, len) = (usize::try_from(at).unwrap_or(usize::MAX), bytes as usize);
        match space {
            Space::Shared => self.on.block.shared.get(from..from.saturating_add(len)).map_or(0, number),
            _ => self.on.memory.bytes_at(at, bytes.into()).map_or(0, number),
        }
    }

    /// Puts a number there.
    pub fn put(&mut self, (space, at): (Space, u64), bytes: u32, value: u64) {
        let (from, len) = (usize::try_from(at).unwrap_or(usize::MAX), bytes as usize);
        let to = match space {
            Space::Shared => self.on.block.shared.get_mut(from..from.saturating_add(len)),
            _ => self.on.memory.bytes_at_mut(at, bytes.into()),
        };
        if let Some(to) = to {
            to.copy_from_slice(&value.to_le_bytes()[..len.min(8)]);
        }
    }
}
