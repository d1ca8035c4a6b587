//! What a search asks of a walk.

use super::agent::Begun;
use super::memo::{Key, OPERATION};
use super::pack::whose;
use super::store::{At, Content, NOWHERE};
use super::stores::Moved;
use super::walker::{Walker, index};
use super::{Agent, Foreseen, Free, Grain, Growth, Likeness, Mark, Reached, Roles, State, Walk};

use crate::choice::{Menu, Oracle, Pick};
use crate::machine::Tell;
use crate::machine::context::fault::at_fault;
use crate::machine::context::processors::Processors;
use crate::machine::context::state::ContextState;
use crate::machine::control::{Explored, Flow, Grouping, Its, Lane, Wait};
use crate::machine::grid::loaded::Loaded;
use crate::machine::grid::state::Grid;
use crate::machine::observer::Observed;
use crate::memory::{Cx, Environment, Movable, OperationName};
use crate::program::env::ProgEnv;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::verdict::{Stop, Who};
use smallvec::SmallVec;
use std::sync::Arc;

impl<C: Explored + 'static, M: Environment + 'static> Walk for Walker<C, M> {
    fn agents(&mut self, out: &mut Vec<Agent>) {
        // The host looks at memory next: what lines may still be evicted is nobody's step.
        let head = self.journal.head();
        if head.ended {
            return;
        }
        if self.begins() {
            out.push(Agent::Begin);
            return;
        }
        if let Some(roles) = self.journal.roles() {
            self.flows_by_role(&roles, head.launch, out);
            return;
        }
        let mut movable = Vec::new();
        self.flows(head.launch, out, &mut movable);
        movable.sort_unstable();
        out.extend(movable.into_iter().map(Agent::Micro));
        if self.state.memory.waits_for_others() {
            out.extend((0..self.silent_rules()).map(Agent::Silent));
        }
    }

    fn advance(&mut self, agent: Agent, oracle: &mut dyn Oracle, tell: Option<Tell<'_>>) -> Result<u32, Stop> {
        if tell.is_none() && agent != Agent::Begin && self.remembers() {
            self.known_step(agent, oracle)
        } else {
            self.catch_up();
            self.step_of(agent, oracle, tell)
        }
    }

    /// Not where agents are exchanged, since the number of the state is not the sum of its parts there.
    fn foresee(&mut self, agents: &[Agent], asked: &[usize], out: &mut Vec<(usize, Foreseen)>) {
        if !self.remembers() || !self.journal.parts.is_idle() {
            return;
        }
        for at in asked {
            if let Some((key, _)) = self.key_of(agents[*at])
                && let Some(effect) = self.memo.foresee(&key)
                && let Some(foreseen) = self.journal.foresee(effect)
            {
                out.push((*at, foreseen));
            }
        }
    }

    fn begun(&self) -> &Begun {
        &self.begun
    }

    fn key(&self) -> u128 {
        self.journal.key()
    }

    fn exact(&self) -> u128 {
        self.journal.exact()
    }

    fn roles(&self) -> Option<Roles> {
        self.journal.roles()
    }

    fn likeness(&self) -> Option<Likeness> {
        let alike = self.launches.iter().find_map(|f| Some(f.alike.as_ref()?.likeness(&f.loaded)));
        let nobody = || self.launches.iter().find_map(|f| f.unlike.map(Likeness::Nobody));
        alike.or_else(nobody)
    }

    fn growth(&self) -> Growth {
        self.growth_of()
    }

    fn whole(&self) -> Vec<u8> {
        self.journal.whole()
    }

    fn mark(&mut self) -> Mark {
        self.journal.mark()
    }

    fn back(&mut self, to: Mark) {
        self.journal.back(to);
    }

    fn held(&self) -> usize {
        self.journal.held() + self.memo.held()
    }

    fn grows(&self, steps: u64) -> usize {
        let steps = usize::try_from(steps).unwrap_or(usize::MAX);
        self.memo.grows(steps) + self.journal.grows(steps)
    }

    fn program(&self) -> Arc<ProgEnv> {
        Arc::clone(&self.env)
    }

    fn state(&mut self) -> &dyn State {
        self.catch_up();
        self
    }
}

impl<C: Explored + 'static, M: Environment + 'static> Walker<C, M> {
    /// The lanes that can step in all warps, in the order of their places, and what operations of theirs can go on.
    fn flows(&mut self, launch: u32, out: &mut Vec<Agent>, movable: &mut Vec<Movable>) {
        for (slot, first) in (1..self.journal.places()).step_by(self.stride as usize).enumerate() {
            let block = self.journal.bytes(first);
            if block.is_empty() {
                continue;
            }
            let linear = whose(block).0;
            for w in 0..self.stride - 1 {
                let warp = self.journal.content(first + 1 + w);
                if warp != Content::default() {
                    self.flows_of(warp, launch, (index(slot), linear, w), out);
                    if !M::IMMEDIATE {
                        self.movable_of(warp, Who { launch, block: linear, warp: w }, movable);
                    }
                }
            }
        }
    }

    /// The lanes that can step, in the order of their roles: on memory that acts at once, as it is where agents are alike.
    fn flows_by_role(&mut self, roles: &Roles, launch: u32, out: &mut Vec<Agent>) {
        let first = out.len();
        self.flows(launch, out, &mut Vec::new());
        roles.arrange(&mut out[first..]);
    }

    /// The agents of a warp in a launch: `place` is the place of its block, the block, and the warp in it.
    fn flows_of(&mut self, content: Content, launch: u32, place: (u32, u64, u32), out: &mut Vec<Agent>) {
        let (slot, block, warp) = place;
        let agent = |flow| Agent::Flow { slot, block, warp, flow };
        match self.journal.store.flows(content, launch) {
            Some(&[flow]) => return out.push(agent(flow)),
            Some(flows) => return out.extend(flows.iter().copied().map(agent)),
            None => {}
        }
        self.catch_up();
        let flows = self.able(slot as usize, warp as usize);
        out.extend(flows.iter().copied().map(agent));
        self.journal.store.set_flows(content, launch, flows);
    }

    /// The operations of a warp that can go on.
    fn movable_of(&mut self, content: Content, who: Who, out: &mut Vec<Movable>) {
        // Elsewhere nobody waits for anybody else.
        let memory = if self.state.memory.waits_for_others() { self.journal.memory() } else { 0 };
        let name = |place| OperationName { block: who.block, warp: who.warp, place };
        if let Some(known) = self.memo.movable((content, memory)) {
            out.extend(known.iter().map(|&(place, lanes)| Movable { name: name(place), lanes }));
            return;
        }
        self.catch_up();
        let first = out.len();
        self.state.memory.movable(who, out);
        let found = out[first..].iter().map(|m| (m.name.place, m.lanes)).collect();
        self.memo.learn_movable((content, memory), found);
    }

    /// How many silent rules may fire.
    fn silent_rules(&mut self) -> u32 {
        let memory = self.journal.memory();
        if let Some(known) = self.memo.silent(memory) {
            return known;
        }
        self.catch_up();
        let count = index(self.state.memory.silent(false));
        self.memo.learn_silent(memory, count);
        count
    }

    /// Those of a warp's groups that can step, in each way in which they can.
    fn able(&mut self, slot: usize, w: usize) -> SmallVec<[Flow; 4]> {
        let mut able = SmallVec::new();
        let Some(Ok(flows)) = self.warp_mut(slot, w).map(|w| w.control.flows()) else { return able };
        for flow in flows {
            let Some(control) = self.warp(slot, w).map(|w| &w.control) else { continue };
            let mask = control.able(flow, |flow| !self.blocked(slot, w, flow));
            if mask == 0 {
                continue;
            }
            let flow = Flow { mask, ..flow };
            // Lanes that run ahead through what nobody notices could as well do so later, or together.
            if self.hides(flow) {
                able.push(flow);
            } else {
                able.extend(control.choices(flow));
            }
        }
        able
    }

    /// Whether steps are looked up: where the heap grows they depend on what no section of a warp, a block or memory tells.
    const fn remembers(&self) -> bool {
        !self.grows
    }

    /// The block's slot and the warp whose lanes step, or what it has in flight.
    fn whose_step(&self, agent: Agent) -> Option<(usize, usize)> {
        match agent {
            Agent::Flow { slot, warp, .. } => Some((slot as usize, warp as usize)),
            Agent::Micro(Movable { name, .. }) => {
                let mut blocks = (1..self.journal.places()).step_by(self.stride as usize);
                let held = |first: u32| Some(self.journal.bytes(first)).filter(|b| !b.is_empty());
                let slot = blocks.position(|first| held(first).is_some_and(|b| whose(b).0 == name.block))?;
                Some((slot, name.warp as usize))
            }
            Agent::Begin | Agent::Silent(_) => None,
        }
    }

    /// What a step of an agent can depend on, with the places of its warp and of its block. `None`: it is not remembered.
    #[inline]
    fn key_of(&self, agent: Agent) -> Option<(Key, (At, At))> {
        let (own, who, which) = match agent {
            // Of nearly all steps.
            Agent::Flow { slot, warp, flow, .. } => {
                let block = self.place_of_block(slot as usize);
                ((block + 1 + warp, block), 0, flow.mask)
            }
            Agent::Micro(operation) => {
                let places = |(slot, w)| (self.place_of_warp(slot, w), self.place_of_block(slot));
                let own = self.whose_step(agent).map_or((NOWHERE, NOWHERE), places);
                (own, OPERATION, operation.name.place)
            }
            Agent::Silent(rule) => ((NOWHERE, NOWHERE), 0, rule),
            Agent::Begin => return None,
        };
        Some((self.journal.key_of(own, who, which), own))
    }

    /// A step: looked up, or made and remembered.
    fn known_step(&mut self, agent: Agent, oracle: &mut dyn Oracle) -> Result<u32, Stop> {
        let Some((key, (warp, block))) = self.key_of(agent) else { return Ok(0) };
        if let Some(effect) = self.memo.get(&key) {
            self.journal.apply(effect);
            return Ok(effect.used);
        }
        self.catch_up();
        let since = self.journal.mark();
        let issued = self.state.grids.first().is_some_and(Grid::all_issued);
        let mut asked = Asked { oracle, times: 0 };
        let used = self.step_of(agent, &mut asked, None)?;
        // Where a block goes that takes the place of a complete one depends on all others; and what a line that is written back
        // leaves in a warp's local memory on what was there.
        let own = matches!(agent, Agent::Flow { .. }) || self.alone;
        if asked.times == 0 && own && (self.local || issued) {
            let complete = (!self.local).then(|| block + 1..block + self.stride);
            let effect = self.journal.effect(since, (warp, block), complete, used);
            effect.into_iter().for_each(|effect| self.memo.learn(key, effect));
        }
        Ok(used)
    }

    /// A step of an agent, from where the device is.
    fn step_of(&mut self, agent: Agent, oracle: &mut dyn Oracle, tell: Option<Tell<'_>>) -> Result<u32, Stop> {
        let own = self.whose_step(agent);
        self.stepping = own.map(|(slot, _)| slot);
        match agent {
            Agent::Flow { slot, warp, flow, .. } => {
                self.step_with(oracle, tell, |walk, cx| walk.flow_step(slot as usize, warp as usize, flow, cx))
            }
            Agent::Begin => self.begin_by(oracle, tell),
            Agent::Micro(operation) => self.step_with(oracle, tell, |walk, cx| {
                let ContextState { memory, grids, .. } = &mut walk.state;
                let launch = grids.first().map_or(0, |g| g.id.0);
                let Some((number, (slot, w))) = memory.operation(launch, operation.name).zip(own) else { return Ok(0) };
                walk.touched.blocks.push(slot);
                walk.touched.warps.push((slot, w));
                let done = memory.step(number, &mut Moved::new(grids, &mut walk.touched), cx);
                done.map_err(|trouble| at_fault(&walk.state, *trouble))?;
                walk.memory_moved();
                Ok(0)
            }),
            Agent::Silent(k) => self.step_with(oracle, tell, |walk, cx| {
                let ContextState { memory, grids, .. } = &mut walk.state;
                let done = memory.fire(false, k as usize, &mut Moved::new(grids, &mut walk.touched), cx);
                done.map_err(|trouble| at_fault(&walk.state, *trouble))?;
                walk.memory_moved();
                Ok(0)
            }),
        }
    }

    /// A step of a warp, in the walk's grain.
    fn flow_step(&mut self, slot: usize, w: usize, flow: Flow, cx: &mut Cx<'_, Observed<'_>>) -> Result<u32, Stop> {
        let fuel = if self.grain.carries_on() { self.hidden(flow).max(1) } else { 1 };
        self.turn(slot, w, flow, fuel, cx)
    }
}

/// Counts how often an oracle is asked.
struct Asked<'a> {
    oracle: &'a mut dyn Oracle,
    times: u32,
}

impl Oracle for Asked<'_> {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        self.times += 1;
        self.oracle.choose(menu)
    }
}

impl<C: Explored + 'static, M: Environment + 'static> State for Walker<C, M> {
    fn operation(&self, name: OperationName) -> Option<u32> {
        self.state.memory.operation(self.state.grids.first()?.id.0, name)
    }

    fn reached(&self) -> Reached {
        if self.ended {
            return Reached::End;
        }
        let lost = || Stop::internal("nothing can step though all that is left of the launch waits for nothing", None);
        Reached::Stuck(self.state.stuck().unwrap_or_else(lost))
    }

    fn bytes(&self, address: u64, len: u64) -> Option<&[u8]> {
        self.state.memory.arena().bytes_at(address, len)
    }

    fn memory_hash(&self) -> u64 {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        self.state.memory.arena().digest(&mut hasher);
        hasher.digest()
    }

    fn register(&self, block: u64, thread: u32, class: Class, slot: Slot) -> Option<u64> {
        let grid = self.state.grids.first()?;
        let block = grid.blocks.get(grid.slot(block)?)?.as_ref()?;
        let size = grid.loaded.warp_size;
        let (warp, lane) = (block.warps.get((thread / size) as usize)?, (thread % size) as usize);
        let frame = warp.frames.first()?;
        match class {
            Class::W => frame.w.get(slot.index()).map(|row| row.0[lane].into()),
            Class::Q => frame.q.get(slot.index()).map(|row| row.0[lane]),
            Class::P => frame.p.get(slot.index()).map(|mask| (mask >> lane & 1).into()),
        }
    }

    fn lanes(&self) -> Vec<(u64, u32, Lane)> {
        let blocks = self.state.grids.iter().flat_map(Grid::blocks);
        let warps = blocks.flat_map(|b| b.warps.iter().map(move |w| (b.linear, w)));
        warps.flat_map(|(block, w)| w.control.lanes().into_iter().map(move |l| (block, w.index, l))).collect()
    }

    fn freed(&self, free: Free, tell: Option<Tell<'_>>) -> Result<Box<dyn Walk>, Stop> {
        let mut config = self.config.clone();
        if free.blocks {
            config.device.capacity.blocks = u32::MAX;
            config.device.capacity.threads = u32::MAX;
            config.device.capacity.shared = u32::MAX;
        }
        let lane = |lane: Lane| Lane {
            wait: lane.wait.filter(|w| !free.waits || !matches!(w, Wait::Barrier(_) | Wait::WarpSync(_))),
            ..lane
        };
        let mut state = self.state.with_control(|control| {
            let lanes: Vec<Lane> = control.lanes().into_iter().map(lane).collect();
            Its::of_lanes(&lanes)
        });
        let alone = |loaded: &Loaded| Loaded { grouping: Grouping::One, ..loaded.clone() };
        state.grids.iter_mut().chain(&mut state.leaving).for_each(|grid| *grid.loaded = alone(&grid.loaded));
        let loaded = self.launches.iter().map(|f| alone(&f.loaded)).collect();
        let (env, grain) = (Arc::clone(&self.env), Grain::Visible);
        let mut walk = Walker::<Its, M>::of(state, env, self.program, loaded, &config, grain);
        (walk.launch, walk.ended) = (self.launch, self.ended);
        if free.blocks {
            walk.state.processors = Processors::new(config.device.processors, config.device.capacity);
            walk.recount();
        }
        walk.touch_all();
        walk.step_with(&mut crate::choice::Fair, tell, |_, _| Ok(0))?;
        walk.journal.settle();
        Ok(Box::new(walk))
    }
}
