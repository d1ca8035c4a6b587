//! A context: its memory, its programs and the grids that execute them (report, 5.7).
//!
//! Each context has a memory of its own whose addresses no other context has (D-vm), which stands for the report's virtual
//! memory space. The program map is a field of the grid. Departures: `start`, `abort` and `compl` are context steps of
//! their own that schedule no grid, where the report lets them go along with one; the number of grids that execute at the
//! same time is bounded by the device (NumConKernels) when blocks are issued, not when a grid is made, so that the host
//! gets its index at once.

use crate::base::mutant::{Mutant, on};
use crate::base::{LaneMask, Pc};
use crate::choice::{Menu, Names, Oracle, Site};
use crate::machine::block::state::Block;
use crate::machine::config::Config;
use crate::machine::context::macro_step::Kept;
use crate::machine::context::processors::Processors;
use crate::machine::context::resident::Resident;
use crate::machine::context::visible::Visible;
use crate::machine::control::Control;
use crate::machine::device::message::{
    ContextId, ContextInput, ContextIo, ContextOutput, GridId, Program, ProgramId, Tag,
};
use crate::machine::grid::state::Grid;
use crate::machine::images::Images;
use crate::memory::flat::Arena;
use crate::memory::{Environment, Fault};
use crate::program::env::ProgEnv;
use crate::verdict::{AllocKind, Place, Stop, StuckKind, Who};
use smallvec::SmallVec;
use std::sync::Arc;

/// A program loaded into a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadedProgram {
    /// The program environment.
    pub program: Program,
    /// The number that the host gave it.
    pub tag: Tag,
    /// Addresses of its variables, in the order of [`ProgEnv::variables`].
    pub variables: Vec<u64>,
    /// Which of its instructions others can notice.
    pub(in crate::machine) visible: Arc<Visible>,
}

/// A context of the device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContextState<C, M> {
    /// Its index.
    pub id: ContextId,
    /// Its memory.
    pub memory: M,
    /// Its programs; a program's index is its place.
    pub programs: Vec<LoadedProgram>,
    /// What handles of textures and surfaces stand for.
    pub images: Arc<Images>,
    /// Its message lists.
    pub io: ContextIo,
    /// Its grids, in the order in which they were started.
    pub grids: Vec<Grid<C>>,
    /// Grids that were aborted while operations of theirs were in flight: their registers and memories are there until these
    /// have ended, and nothing of them steps.
    pub(in crate::machine) leaving: Vec<Grid<C>>,
    /// Whether a grid has ended since caches were flushed: the next one may depend on it (D-flush).
    pub(super) ended: bool,
    /// How full the multiprocessors are while it is active.
    pub processors: Processors,
    /// What steps of memory that acts later remember.
    pub(in crate::machine) kept: Kept,
    /// The grid that stepped last, and whether its turn was used up: what a deterministic scheduler remembers.
    pub(in crate::machine) last: Option<(u32, bool)>,
}

/// What a context's step did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::machine) enum Stepped {
    /// A step; whether the pick is used up.
    On(bool),
    /// Nothing: all wait.
    Nothing,
}

/// A place in a list, as schedulers remember it.
pub(in crate::machine) fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

pub(in crate::machine) fn stop(fault: Fault) -> Stop {
    match fault {
        Fault::Stop(stop) => stop,
        Fault::Limit(limit) => Stop::Limit(limit),
        Fault::Program(f) => {
            let place = Place::default();
            let operation = crate::verdict::Operation { place, program: f.program, file: f.file, line: f.line };
            Stop::Stuck(Box::new(StuckKind::MemoryProgram { operation, cause: f.cause }))
        }
        Fault::Bug(kind, lanes) => {
            let place = Place { lanes, ..Default::default() };
            Stop::Bug(Box::new(crate::verdict::Bug { kind, place, other: None }))
        }
    }
}

impl<C: Control, M: Environment> ContextState<C, M> {
    /// An empty context: the report's `newCtx`, with the memory that `newVM` made.
    pub fn new(id: ContextId, memory: M, processors: Processors) -> Self {
        Self {
            id,
            memory,
            programs: Vec::new(),
            images: Arc::default(),
            io: ContextIo::default(),
            grids: Vec::new(),
            leaving: Vec::new(),
            ended: false,
            processors,
            kept: Kept::default(),
            last: None,
        }
    }

    /// Makes a zeroed buffer of `bytes`; gives its device address, a multiple of 256.
    ///
    /// # Errors
    /// The memory cap.
    pub fn alloc(&mut self, name: &str, bytes: u64) -> Result<u64, Stop> {
        self.memory.arena_mut().alloc(name, AllocKind::Buffer, bytes, 256).map_err(|f| stop(*f))
    }

    /// A loaded program.
    #[must_use]
    pub fn program(&self, id: ProgramId) -> Option<&LoadedProgram> {
        self.programs.get(id.0 as usize)
    }

    /// Address and size in bytes of a `.global` or `.const` variable of a program.
    #[must_use]
    pub fn symbol(&self, program: ProgramId, name: &str) -> Option<(u64, u64)> {
        let loaded = self.program(program)?;
        let (k, _, v) = loaded.program.0.variables.get_full(name)?;
        Some((*loaded.variables.get(k)?, v.bytes))
    }

    /// Takes a message from the host; it is handled in a later step.
    ///
    /// Rule: context.in
    pub fn receive(&mut self, message: ContextInput) {
        self.io.inputs.push(message);
    }

    /// Hands the `k`-th message over to the device.
    ///
    /// Rule: context.out
    pub fn send(&mut self, k: usize) -> ContextOutput {
        self.io.outputs.remove(k)
    }

    /// Whether the `k`-th message to the context can be handled: an abort of a grid that is gone waits for ever.
    #[must_use]
    pub fn handles(&self, k: usize) -> bool {
        match self.io.inputs.get(k) {
            Some(ContextInput::Start(program, ..)) => self.program(*program).is_some() && !self.drains(),
            Some(ContextInput::Abort(grid)) => self.grids.iter().any(|g| g.id == *grid),
            None => false,
        }
    }

    /// Whether a grid that is to be started may depend on one that has ended.
    pub(super) fn depends(&self) -> bool {
        self.ended && !on(Mutant::FlushWhenAlone) || self.grids.is_empty()
    }

    /// Whether a grid waits to be started that may depend on another one, until no operation is in flight: meanwhile no warp
    /// issues any (D-flush).
    #[must_use]
    pub(in crate::machine) fn drains(&self) -> bool {
        let starts = || self.io.inputs.iter().any(|m| matches!(m, ContextInput::Start(..)));
        !M::IMMEDIATE && self.depends() && self.memory.pending() > 0 && starts()
    }

    /// Makes the grid that the `k`-th message asks for. None of its blocks is issued. Gives its program's tag.
    ///
    /// Rule: context.start
    ///
    /// # Errors
    /// The program cannot run under the control model; the memory cap.
    pub fn start(&mut self, k: usize, id: GridId, config: &Config) -> Result<Option<Tag>, Stop> {
        let Some(ContextInput::Start(program, launch, _)) = self.io.inputs.get(k) else { return Ok(None) };
        let (program, launch) = (*program, launch.clone());
        if self.depends() {
            self.memory.flush(&mut Resident(&mut self.grids, &mut self.leaving));
            self.ended = false;
        }
        let loaded = self.loaded(program, &launch, id, config)?;
        self.grids.push(Grid::new(id, program, Box::new(loaded)));
        self.io.start(k, id);
        Ok(self.program(program).map(|p| p.tag))
    }

    /// Removes the grid that the `k`-th message names, with all its blocks. Memory operations that it has issued go on to
    /// their ends.
    ///
    /// Rule: context.abort
    pub fn abort(&mut self, k: usize) -> Option<GridId> {
        let ContextInput::Abort(id) = self.io.inputs.get(k)? else { return None };
        let id = *id;
        let at = self.grids.iter().position(|g| g.id == id)?;
        if !on(Mutant::AbortIdle) {
            let grid = self.grids.remove(at);
            if !on(Mutant::AbortKeepsRoom) {
                grid.leave(&mut self.processors);
            }
            if !on(Mutant::AbortForgets) {
                self.leaving.push(grid);
            }
            self.ended = true;
            self.forget_left();
        }
        self.last = None;
        self.io.abort(k);
        Some(id)
    }

    /// Forgets the aborted grids whose operations have ended.
    pub(in crate::machine) fn forget_left(&mut self) {
        let memory = &mut self.memory;
        self.leaving.retain(|grid| {
            let stays = !M::IMMEDIATE && memory.in_flight(grid.id.0, None) > 0;
            if !stays {
                grid.blocks().for_each(|block| memory.retire(grid.id.0, block.linear));
            }
            stays
        });
    }

    /// The grids whose operations may be in flight.
    pub(super) fn all_grids(&self) -> impl Iterator<Item = &Grid<C>> {
        self.grids.iter().chain(&self.leaving)
    }

    /// Removes a completed grid and tells the host.
    ///
    /// Rule: context.compl
    pub fn complete(&mut self, at: usize) -> Option<GridId> {
        let id = self.grids.get(at)?.id;
        self.grids.remove(at);
        self.ended = true;
        self.last = None;
        self.io.complete(id);
        Some(id)
    }

    /// Whether a grid is complete and nothing of it is under way, so that it can leave (D-flush).
    #[must_use]
    pub fn can_complete(&self, grid: &Grid<C>) -> bool {
        grid.completed && (M::IMMEDIATE || self.memory.in_flight(grid.id.0, None) == 0)
    }

    /// Whether the device allows one more grid to execute.
    pub(in crate::machine) fn room(&self, config: &Config) -> bool {
        let executing = self.grids.iter().filter(|g| !g.completed && g.executing()).count();
        executing < config.device.concurrent_grids as usize || on(Mutant::GridsUnlimited)
    }

    /// Whether a grid can step.
    #[must_use]
    pub fn can_step(&self, config: &Config) -> bool {
        let room = self.room(config);
        self.grids.iter().any(|g| g.can_step(&self.processors, room)) || !M::IMMEDIATE && self.memory.pending() > 0
    }

    /// Which of its grids that `can` go on does, by its place, and for how many warp instructions: forced moves hold for
    /// any number and do not reach the oracle. `None`: none can.
    pub(in crate::machine) fn which(
        &self,
        can: impl Fn(&Grid<C>) -> bool,
        last: Option<(u32, bool)>,
        oracle: &mut dyn Oracle,
    ) -> Result<Option<(usize, Option<u32>)>, Stop> {
        let mut ready = SmallVec::<[u64; 1]>::from_elem(0, self.grids.len().div_ceil(64));
        for (k, _) in self.grids.iter().enumerate().filter(|(_, g)| can(g)) {
            ready[k / 64] |= 1 << (k % 64);
        }
        let menu = Menu::of(Site::Grid, &ready).after(last);
        match menu.arity() {
            0 => Ok(None),
            1 => Ok(Some((menu.nth(0) as usize, None))),
            _ => {
                let names: Vec<u64> = self.grids.iter().map(|g| g.id.0.into()).collect();
                let pick = oracle.choose(menu.named(Names::Each(&names)))?;
                Ok(Some((pick.index as usize, Some(pick.lease.get()))))
            }
        }
    }

    /// Forgets whose turn it was.
    pub(in crate::machine) fn forget_turns(&mut self) {
        self.last = None;
        self.io.sort();
        self.kept = Kept::default();
        self.grids.iter_mut().chain(&mut self.leaving).for_each(Grid::forget_turns);
    }

    /// Memory, to be changed by the host: the next grid sees what it writes (D-flush).
    pub fn host_memory(&mut self) -> &mut Arena {
        self.ended = true;
        self.memory.arena_mut()
    }

    /// Writes back what caches hold: the host is about to look.
    pub fn settle(&mut self) {
        self.memory.write_back(&mut Resident(&mut self.grids, &mut self.leaving));
    }

    /// Aborts all grids and forgets all messages.
    pub fn abandon(&mut self) {
        self.io = ContextIo::default();
        for grid in std::mem::take(&mut self.grids) {
            grid.leave(&mut self.processors);
            self.leaving.push(grid);
        }
        self.forget_left();
        self.last = None;
    }

    /// The same state under another control model, without messages.
    pub(in crate::machine) fn with_control<D: Control>(&self, control: impl Fn(&C) -> D) -> ContextState<D, M> {
        let mut new = ContextState::new(self.id, self.memory.clone(), self.processors.clone());
        new.programs.clone_from(&self.programs);
        new.images = Arc::clone(&self.images);
        new.grids = self.grids.iter().map(|g| g.with_control(&control)).collect();
        new.leaving = self.leaving.iter().map(|g| g.with_control(&control)).collect();
        new.ended = self.ended;
        new
    }

    /// The program, the grid and the block of a warp that is resident, or whose operations are in flight.
    #[must_use]
    pub(in crate::machine) fn owner(&self, who: Who) -> Option<(&ProgEnv, &Grid<C>, &Block<C>)> {
        let grid = self.all_grids().find(|g| g.id == GridId(who.launch))?;
        let block = grid.blocks.get(grid.slot(who.block)?)?.as_ref()?;
        Some((&self.program(grid.program)?.program.0, grid, block))
    }

    /// Where lanes of such a warp are, for a report.
    #[must_use]
    pub fn place(&self, who: Who, lanes: LaneMask, pc: Pc) -> Option<Place> {
        let (env, grid, block) = self.owner(who)?;
        Some(block.place(env, &grid.loaded, who.warp, lanes, pc))
    }
}
