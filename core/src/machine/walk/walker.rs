//! The walk itself: one context, its launches one after the other, stepped by agents.

use super::Grain;
use super::agent::Begun;
use super::grown::Ways;
use super::journal::Journal;
use super::meetings::Meetings;
use super::memo::Memo;
use super::pack::Layout;
use super::store::{At, MEMORY};
use crate::base::{LaneTables, Pc};
use crate::choice::Oracle;
use crate::machine::alike::{Alike, Unlike};
use crate::machine::block::step::{Executing, Party, Step};
use crate::machine::config::{Config, ControlModel};
use crate::machine::context::resident::Resident;
use crate::machine::context::state::ContextState;
use crate::machine::context::visible::Visible;
use crate::machine::control::{Explored, Flow, Grouping, Idle};
use crate::machine::device::message::{GridId, ProgramId};
use crate::machine::grid::launch::Launch;
use crate::machine::grid::loaded::Loaded;
use crate::machine::grid::state::Grid;
use crate::machine::observer::{Observed, Tell};
use crate::machine::warp::mistakes::lost_lanes;
use crate::machine::warp::run::run_flow;
use crate::machine::warp::state::{Halt, Shared, Warp, Yield};
use crate::memory::{Cx, Environment, Issuer, Memory, Part, SiteHints};
use crate::program::env::ProgEnv;
use crate::program::instr::{Op, Syscall};
use crate::verdict::{LimitKind, Stop, Who};
use smallvec::SmallVec;
use std::sync::Arc;

/// Instructions that a warp is carried on for at most, so that one that only computes does not hold the search up.
const FAR: u32 = 1 << 14;

/// Lanes of a warp at most whose groups are searched part by part: a state has not more than 2¹⁶ agents.
const WIDEST: u32 = 12;

/// What a launch fixes.
pub(super) struct Fixed {
    pub(super) loaded: Loaded,
    pub(super) layout: Layout,
    pub(super) visible: Visible,
    /// The same of accesses of shared memory alone, where these take effect at once and others do not.
    shared: Option<Visible>,
    /// Who is like whom; none where everybody is told apart.
    pub(super) alike: Option<Arc<Alike>>,
    /// Why nobody is, where that was asked.
    pub(super) unlike: Option<Unlike>,
    /// Whom groups of a warp may still meet; where those that meet nobody go on at once.
    meetings: Option<Meetings>,
}

/// What a step has changed, as far as it is to be packed again.
#[derive(Default)]
pub(super) struct Touched {
    /// Slots and warps.
    pub(super) warps: Vec<(usize, usize)>,
    pub(super) blocks: Vec<usize>,
    pub(super) head: bool,
}

/// A walk over one context.
pub(in crate::machine) struct Walker<C, M: Environment> {
    pub(super) state: ContextState<C, M>,
    pub(super) env: Arc<ProgEnv>,
    pub(super) program: ProgramId,
    pub(super) config: Config,
    pub(super) grain: Grain,
    pub(super) launches: Arc<[Fixed]>,
    /// The current launch.
    pub(super) launch: usize,
    /// All launches are complete and caches are written back.
    pub(super) ended: bool,
    /// Sections of a block: its own and one for each warp.
    pub(super) stride: u32,
    /// Whether the program makes and frees blocks of memory.
    pub(super) grows: bool,
    pub(super) journal: Journal,
    /// Whether the last step left it at that: no block came or left, no launch ended.
    pub(super) local: bool,
    /// The slot of the block whose warp steps, or what it has in flight.
    pub(super) stepping: Option<usize>,
    /// Whether the last step left the warps of other blocks alone.
    pub(super) alone: bool,
    /// What each warp has been.
    pub(super) ways: Ways,
    /// Steps that are known.
    pub(super) memo: Memo,
    /// Room for lists.
    pub(super) stale: Vec<At>,
    pub(super) shared: Vec<At>,
    pub(super) touched: Touched,
    /// What happened before anybody had a choice.
    pub(super) begun: Begun,
    /// Whether the first step can go several ways.
    pub(super) begins: bool,
    pub(super) tables: LaneTables,
}

/// A step of lanes that a search has picked.
struct Lanes<'a> {
    flow: Flow,
    /// Instructions that it may take.
    fuel: u32,
    slot: usize,
    touched: &'a mut Vec<(usize, usize)>,
}

impl<C: Explored, M: Memory> Step<C, M, Observed<'_>> for Lanes<'_> {
    fn execute(
        &mut self,
        warp: &mut Warp<C>,
        sh: &mut Shared<'_>,
        mem: &mut M,
        cx: &mut Cx<'_, Observed<'_>>,
    ) -> Result<(Yield, u32), Box<Halt>> {
        let fuel = self.fuel.min(warp.control.resume(self.flow));
        let used = run_flow(warp, (self.flow, None), fuel, sh, mem, cx)?;
        match warp.control.flows() {
            Err(Idle::Corrupt(pc)) => Err(lost_lanes(pc, self.flow.mask)),
            Err(_) if sh.exited > 0 && warp.control.live() == 0 => Ok((Yield::Done, used)),
            _ => Ok((Yield::Fuel, used)),
        }
    }

    fn mark(&mut self, warp: &mut Warp<C>, _: bool, of: &Party<'_>, _: &M) {
        if warp.index != of.who.warp {
            self.touched.push((self.slot, warp.index as usize));
        }
    }
}

/// Whether all blocks of a launch are resident from its beginning, so that none has to wait for another one's place.
fn all_resident(loaded: &Loaded, config: &Config) -> bool {
    let capacity = config.device.capacity;
    let blocks: u64 = loaded.grid.iter().map(|n| u64::from(*n)).product();
    let by = |capacity: u32, of: u32| u64::from(capacity.checked_div(of).unwrap_or(u32::MAX));
    let fit = by(capacity.threads, loaded.threads()).min(by(capacity.shared, loaded.shared_bytes));
    blocks <= fit.min(capacity.blocks.into()).saturating_mul(config.device.processors.into())
}

pub(super) fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl<C: Explored + 'static, M: Environment + 'static> Walker<C, M> {
    /// A walk from the start of the first of `launches`, in a context that is idle.
    ///
    /// # Errors
    /// A launch that cannot be; what an agent that nobody can notice runs into.
    pub fn new(
        mut state: ContextState<C, M>,
        program: ProgramId,
        launches: &[Launch],
        config: &Config,
        grain: Grain,
    ) -> Result<Self, Stop> {
        let missing = || Stop::internal("a search of a program that is not loaded", None);
        let env = Arc::clone(&state.program(program).ok_or_else(missing)?.program.0);
        let threads = |l: &Launch| l.block.iter().fold(1, |n: u32, of| n.saturating_mul(*of)).min(config.warp_size);
        let widest = launches.iter().map(threads).max().unwrap_or(0);
        if config.control == Some(ControlModel::ItsSplit) && widest > WIDEST {
            return Err(Stop::Limit(LimitKind::Parts { lanes: widest, most: WIDEST }));
        }
        let mut all = Vec::with_capacity(launches.len());
        for (k, launch) in launches.iter().enumerate() {
            let loaded = state.loaded(program, launch, GridId(index(k)), config)?;
            all.push(loaded);
        }
        let mut new = Self::of(state, env, program, all, config, grain);
        new.try_to_begin()?;
        Ok(new)
    }

    /// A walk on from where a grid is, to its end. `None`: there is no such grid.
    pub fn going(mut state: ContextState<C, M>, config: &Config) -> Option<Self> {
        state.grids.retain(|g| !g.completed);
        let grid = state.grids.first()?;
        let (program, loaded) = (grid.program, grid.loaded.as_ref().clone());
        let env = Arc::clone(&state.program(program)?.program.0);
        let mut new = Self::of(state, env, program, vec![loaded], config, Grain::Instruction);
        new.touch_all();
        new.step_with(&mut crate::choice::Fair, None, |_, _| Ok(0)).ok()?;
        new.journal.settle();
        Some(new)
    }

    /// A walk that stands nowhere yet.
    pub(super) fn of(
        state: ContextState<C, M>,
        env: Arc<ProgEnv>,
        program: ProgramId,
        loaded: Vec<Loaded>,
        config: &Config,
        grain: Grain,
    ) -> Self {
        let leaves_out = !state.memory.reads_registers_late() && grain.carries_on();
        let fixed = |loaded: Loaded| {
            let blocks: u64 = loaded.grid.iter().map(|n| u64::from(*n)).product();
            let room = u64::from(config.device.capacity.blocks);
            let ends = env.code.iter().any(|i| i.op.is_barrier()) || blocks > room;
            let (layout, visible) = (
                Layout::of(&env, &loaded, config.keep_finished, leaves_out),
                Visible::of(&env, !C::JOINS, ends, grain == Grain::Ordered),
            );
            let shared = state.memory.shared_at_once().then(|| Visible::of_shared(&env));
            let alike = match grain {
                Grain::Alike { .. } if !M::IMMEDIATE || config.keep_finished => Err(Some(Unlike::Memory)),
                Grain::Alike { blocks } => {
                    Alike::of(&env, &loaded, blocks && all_resident(&loaded, config)).map(Arc::new).map_err(Some)
                }
                _ => Err(None),
            };
            let (alike, unlike) = alike.map_or_else(|unlike| (None, unlike), |alike| (Some(alike), None));
            let joins = M::IMMEDIATE && C::JOINS && grain.carries_on() && loaded.grouping == Grouping::All;
            let meetings = joins.then(|| Meetings::of(&env, loaded.entry, &visible)).flatten();
            Fixed { loaded, layout, visible, shared, alike, unlike, meetings }
        };
        let launches: Arc<[Fixed]> = loaded.into_iter().map(fixed).collect();
        let grows = env.code.iter().any(|i| matches!(i.op, Op::Syscall(Syscall::Malloc | Syscall::Free)));
        let ended = launches.is_empty();
        let stride = launches.iter().map(|f| f.loaded.warps()).max().unwrap_or(0) + 1;
        let mut journal = Journal::new(stride);
        if launches.iter().any(|f| f.alike.is_some()) {
            journal.parts.alike = launches.iter().map(|f| f.alike.clone()).collect();
        }
        for section in 0..state.memory.sections() {
            journal.update(MEMORY + section, |out| state.memory.save(Part::Shared(section), out));
        }
        journal.note_memory();
        journal.settle();
        Self {
            stride,
            grows,
            journal,
            local: false,
            stepping: None,
            alone: false,
            ways: Ways::default(),
            memo: Memo::default(),
            stale: Vec::new(),
            shared: Vec::new(),
            state,
            env,
            program,
            config: config.clone(),
            grain,
            launches,
            launch: 0,
            ended,
            touched: Touched::default(),
            begun: Begun::default(),
            begins: false,
            tables: LaneTables::default(),
        }
    }

    /// Makes the grid of the current launch.
    pub(super) fn begin(&mut self) {
        self.state.grids.clear();
        if let Some(fixed) = self.launches.get(self.launch) {
            let grid = Grid::new(GridId(index(self.launch)), self.program, Box::new(fixed.loaded.clone()));
            self.state.grids.push(grid);
        }
        self.touched.head = true;
    }

    /// Runs lanes for at most `fuel` instructions.
    pub(super) fn turn(
        &mut self,
        slot: usize,
        w: usize,
        flow: Flow,
        fuel: u32,
        cx: &mut Cx<'_, Observed<'_>>,
    ) -> Result<u32, Stop> {
        let ContextState { grids, memory, .. } = &mut self.state;
        let Some(grid) = grids.first_mut() else { return Ok(0) };
        let Grid { blocks, loaded, id, .. } = &mut *grid;
        let Some(Some(block)) = blocks.get_mut(slot) else { return Ok(0) };
        self.touched.warps.push((slot, w));
        self.touched.blocks.push(slot);
        let lanes = Lanes { flow, fuel, slot, touched: &mut self.touched.warps };
        let done = Executing::of(block, &self.env, loaded, id.0).step(w, memory, cx, lanes);
        match done {
            Ok((_, used)) => Ok(used),
            Err(halt) => Err(block.stop(&self.env, loaded, index(w), *halt)),
        }
    }

    /// Memory has done something: nobody's registers are packed yet.
    pub(super) fn memory_moved(&mut self) {
        let mut woken = Vec::new();
        self.state.memory.woken(&mut woken);
        let Some(grid) = self.state.grids.first() else { return };
        for who in woken {
            let Some(slot) = grid.slot(who.block).filter(|_| grid.id.0 == who.launch) else { continue };
            self.touched.warps.push((slot, who.warp as usize));
            self.touched.blocks.push(slot);
        }
    }

    /// Which warp of its launch a warp of a slot is.
    fn who(&self, slot: usize, w: usize) -> Option<Who> {
        let grid = self.state.grids.first()?;
        let block = grid.blocks.get(slot)?.as_ref()?;
        Some(Who { launch: grid.id.0, block: block.linear, warp: index(w) })
    }

    pub(super) fn blocked(&self, slot: usize, w: usize, flow: Flow) -> bool {
        if M::IMMEDIATE {
            return false;
        }
        let Some(grid) = self.state.grids.first() else { return true };
        let Some((who, Some(block))) = self.who(slot, w).zip(grid.blocks.get(slot)) else { return true };
        let at = Issuer { who, pc: Pc(flow.pc), depth: flow.depth, sm: block.sm };
        let uses = grid.loaded.uses.get(flow.pc as usize);
        uses.is_some_and(|uses| self.state.memory.blocked(at, uses, flow.mask) != 0)
    }

    /// Carries a warp on through what nobody notices.
    fn carry_on(&mut self, slot: usize, w: usize, cx: &mut Cx<'_, Observed<'_>>) -> Result<u32, Stop> {
        let mut used = 0;
        while used < FAR {
            let Some(warp) = self.warp_mut(slot, w) else { break };
            let Ok(flows) = warp.control.flows() else { break };
            let Some(fixed) = self.launches.get(self.launch) else { break };
            let shows = M::IMMEDIATE || self.who(slot, w).is_none_or(|who| self.state.memory.issue_shows(who));
            // Where lanes of a warp stop decides whom they meet.
            let sole = flows.len() == 1 || fixed.loaded.grouping == Grouping::One;
            let go = flows.iter().find_map(|flow| {
                let table = if shows { Some(&fixed.visible) } else { fixed.shared.as_ref() };
                let hidden = table.map_or(FAR, |table| table.hidden(flow.pc));
                let hidden = if hidden == 0 && self.sits_out(slot, w, *flow) { 1 } else { hidden };
                let hidden = if sole || hidden == 0 { hidden } else { self.apart(slot, w, *flow, hidden) };
                (hidden > 0 && !self.blocked(slot, w, *flow)).then_some((*flow, hidden))
            });
            let Some((flow, hidden)) = go else { break };
            let spent = self.turn(slot, w, flow, hidden.min(FAR - used), cx)?;
            if spent == 0 {
                break;
            }
            used += spent;
        }
        Ok(used)
    }

    /// Whether no lane needs the access of a texel that a group comes to: of those that a fetch has for all sizes most are not needed
    /// (D-texture-loads), and nobody notices them.
    fn sits_out(&self, slot: usize, w: usize, flow: Flow) -> bool {
        let Some(guard) = self.env.code.get(flow.pc as usize).and_then(|instr| instr.guard) else { return false };
        let frame = self.warp(slot, w).and_then(|warp| warp.frames.get(flow.depth as usize));
        let holds = frame.and_then(|frame| frame.p.get(guard.pred.index())).copied().unwrap_or(!0);
        flow.mask & if guard.negated { !holds } else { holds } == 0 && self.env.is_texel(Pc(flow.pc))
    }

    /// How many of so many hidden instructions a group may execute without coming to where others of its warp can
    /// (D-search-apart).
    fn apart(&self, slot: usize, w: usize, flow: Flow, hidden: u32) -> u32 {
        let meetings = self.launches.get(self.launch).and_then(|fixed| fixed.meetings.as_ref());
        meetings.zip(self.warp(slot, w)).map_or(0, |(meetings, warp)| meetings.far(&self.env, flow, hidden, warp))
    }

    pub(super) fn warp_mut(&mut self, slot: usize, w: usize) -> Option<&mut Warp<C>> {
        self.state.grids.first_mut()?.blocks.get_mut(slot)?.as_mut()?.warps.get_mut(w)
    }

    pub(super) fn warp(&self, slot: usize, w: usize) -> Option<&Warp<C>> {
        self.state.grids.first()?.blocks.get(slot)?.as_ref()?.warps.get(w)
    }

    /// How many instructions from here on nobody else can notice.
    pub(super) fn hidden(&self, flow: Flow) -> u32 {
        self.launches.get(self.launch).map_or(0, |f| f.visible.hidden(flow.pc))
    }

    /// Whether lanes go on through what nobody else can notice.
    pub(super) fn hides(&self, flow: Flow) -> bool {
        self.grain.carries_on() && self.hidden(flow) > 0
    }

    /// A step and what follows from it without a choice of the search's: blocks that are complete make room, blocks and
    /// launches begin, warps go on as far as nobody notices.
    pub(super) fn step_with(
        &mut self,
        oracle: &mut dyn Oracle,
        tell: Option<Tell<'_>>,
        step: impl FnOnce(&mut Self, &mut Cx<'_, Observed<'_>>) -> Result<u32, Stop>,
    ) -> Result<u32, Stop> {
        let mut out = |_: &[u8]| ();
        let (hints, tables) = (SiteHints::default(), self.tables.clone());
        let mut cx = Cx { sink: Observed::new(tell), oracle, hints, tables, out: &mut out };
        let done = step(self, &mut cx).and_then(|used| Ok(used + self.follow(&mut cx)?));
        match done {
            Ok(used) => {
                self.take_over();
                Ok(used)
            }
            Err(stop) => {
                self.undo();
                Err(stop)
            }
        }
    }

    fn follow(&mut self, cx: &mut Cx<'_, Observed<'_>>) -> Result<u32, Stop> {
        let mut used = 0;
        let mut carried = 0;
        let mut patience = 0;
        // Warps that only compute: each of their turns touches them again.
        let mut tired = SmallVec::<[(usize, usize); 4]>::new();
        loop {
            if self.grain.carries_on() {
                while let Some(&(slot, w)) = self.touched.warps.get(carried) {
                    carried += 1;
                    if tired.contains(&(slot, w)) {
                        continue;
                    }
                    let far = self.carry_on(slot, w, cx)?;
                    used += far;
                    patience += far + 1;
                    if patience >= FAR {
                        patience = 0;
                        self.check_bounds()?;
                    }
                    if far >= FAR {
                        tired.push((slot, w));
                    }
                }
                self.memory_moved();
                if carried < self.touched.warps.len() {
                    continue;
                }
            }
            if !self.drop_complete(cx)? && !self.issue(cx)? && !self.next_launch() {
                return Ok(used);
            }
            self.check_bounds()?;
        }
    }

    /// A step may be long: it goes through whole launches where nobody has a choice.
    fn check_bounds(&self) -> Result<(), Stop> {
        self.config.bounds.step_up().map_or(Ok(()), |limit| Err(Stop::Limit(limit)))
    }

    /// Drops the blocks that are complete.
    fn drop_complete(&mut self, cx: &mut Cx<'_, Observed<'_>>) -> Result<bool, Stop> {
        let keep = self.config.keep_finished;
        let ContextState { grids, memory, processors, .. } = &mut self.state;
        let Some(grid) = grids.first_mut() else { return Ok(false) };
        let mut any = false;
        for slot in 0..grid.blocks.len() {
            let over = grid.blocks.get(slot).and_then(Option::as_ref).is_some_and(|b| b.running == 0 && !b.kept);
            if !over || !grid.end_block(slot, keep, (&mut *memory, &mut *processors), cx)? {
                continue;
            }
            self.touched.blocks.push(slot);
            let warps = 0..self.stride as usize - 1;
            self.touched.warps.extend(warps.map(|w| (slot, w)));
            self.touched.head = true;
            any = true;
        }
        Ok(any)
    }

    /// Issues a block, if there is room.
    fn issue(&mut self, cx: &mut Cx<'_, Observed<'_>>) -> Result<bool, Stop> {
        let ContextState { grids, processors, memory, .. } = &mut self.state;
        let Some(grid) = grids.first_mut() else { return Ok(false) };
        if !grid.can_issue(processors, true) {
            return Ok(false);
        }
        let sm = grid.processor(memory.has_caches(), processors, cx.oracle)?;
        grid.forget_spare();
        let slot = grid.issue(&self.env, processors, sm, cx)?;
        self.touched.blocks.push(slot);
        self.touched.warps.extend((0..grid.loaded.warps() as usize).map(|w| (slot, w)));
        self.touched.head = true;
        Ok(true)
    }

    /// Goes on to the next launch, when the current one is complete and memory is at rest.
    fn next_launch(&mut self) -> bool {
        let done = self.state.grids.first().is_some_and(Grid::done) && self.state.memory.pending() == 0;
        if !done || self.ended {
            return false;
        }
        if self.launch + 1 == self.launches.len() {
            self.ended = true;
            self.state.settle();
        } else {
            self.launch += 1;
            let ContextState { memory, grids, leaving, .. } = &mut self.state;
            memory.flush(&mut Resident(grids, leaving));
            self.begin();
        }
        self.touched.head = true;
        !self.ended
    }
}
