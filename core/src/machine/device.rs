//! The device: contexts, and the messages between them and the host (report, 5.8).
//!
//! `Device::run` is the only loop that steps anything. A step is one of: a message is handled, in any order (5.7.2, 5.8.2);
//! a grid that is complete leaves; a context is chosen and steps. Departures: handling a message is a step of its own,
//! not part of a context's; a context that is chosen may step several times before the next choice (the pick's lease),
//! which is one of the schedules of the report; each context has a memory environment of its own, since contexts share no
//! address and are never active together (D-vm).

use super::books::Books;
use super::config::Config;
use super::context_state::{ContextState, Stepped};
use super::control::Control;
use super::message::{
    ContextId, ContextInput, ContextOutput, DeviceInput, DeviceIo, DeviceOutput, GridId, MessageError, Program,
};
use super::processors::Processors;
use super::watch::{Found, Watch};
use super::watched::Watched;
use crate::base::mutant::{Mutant, on};
use crate::choice::{Menu, Names, Site};
use crate::memory::{Cx, Environment};
use crate::program::env::AddressMap;
use crate::verdict::{Event, Message, Place, Rule, Sink, Stop, StuckKind, Who};
use pulp::Simd;

/// A device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device<C, M: Environment> {
    /// Its message lists.
    pub io: DeviceIo,
    /// Its contexts, in the order in which they were made.
    pub contexts: Vec<ContextState<C, M>>,
    /// The index of the next context.
    next_context: u32,
    /// The index of the next grid.
    next_grid: u32,
    /// The context that stepped last, and whether its turn was used up: what a deterministic scheduler remembers.
    last: Option<(u32, bool)>,
    /// 32 or 64.
    address_bits: u32,
    model: M::Model,
}

/// Why `Device::run` returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ran {
    /// A message for the host.
    Output(DeviceOutput),
    /// The steps that it was given are used up.
    Spent,
    /// No message can be handled and no grid can step.
    Idle,
}

/// How messages are handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// At once and in the order of arrival: no choice.
    Prompt,
    /// In any order and at any time, as the report has it.
    Any,
    /// The same, one step of the device at a time: a message, or a step of a context.
    Single,
}

/// A step that handles a message, or removes a complete grid. Numbers are places in lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Move {
    Create(usize),
    Load(usize),
    Destroy(usize),
    ToContext(usize),
    Out(usize),
    Start(usize, usize),
    Abort(usize, usize),
    Complete(usize, usize),
    FromContext(usize, usize),
}

impl<C: Control, M: Environment> Device<C, M> {
    /// A device without contexts, for programs with addresses of 32 or 64 bits.
    #[must_use]
    pub fn new(model: M::Model, address_bits: u32) -> Self {
        let io = DeviceIo::default();
        Self { io, contexts: Vec::new(), next_context: 0, next_grid: 0, last: None, address_bits, model }
    }

    /// A context.
    #[must_use]
    pub fn context(&self, id: ContextId) -> Option<&ContextState<C, M>> {
        self.contexts.iter().find(|c| c.id == id)
    }

    /// A context, to be changed by the host.
    pub fn context_mut(&mut self, id: ContextId) -> Option<&mut ContextState<C, M>> {
        self.contexts.iter_mut().find(|c| c.id == id)
    }

    /// Takes a message from the host; it is handled in a later step.
    ///
    /// Rule: device.in
    ///
    /// # Errors
    /// It names something that does not exist now.
    pub fn send(&mut self, message: DeviceInput) -> Result<(), MessageError> {
        let context = match &message {
            DeviceInput::Create(_) => None,
            DeviceInput::Load(_, id, _) | DeviceInput::Destroy(id) | DeviceInput::Context(id, _) => {
                let leaving = self.io.inputs.iter().any(|m| *m == DeviceInput::Destroy(*id));
                Some(self.context(*id).filter(|_| !leaving).ok_or(MessageError::NoContext(*id))?)
            }
        };
        match (&message, context) {
            (DeviceInput::Load(Program(env), id, _), _) if env.target.address_bits != self.address_bits => {
                return Err(MessageError::AddressSize(*id));
            }
            (DeviceInput::Context(id, ContextInput::Start(program, launch, _)), Some(context)) => {
                let of = context.program(*program).ok_or(MessageError::NoProgram(*id, *program))?;
                if !of.program.0.functions.get(&launch.entry).is_some_and(|f| f.entry && f.defined) {
                    return Err(MessageError::NoEntry(*program, launch.entry.clone()));
                }
            }
            (DeviceInput::Context(id, ContextInput::Abort(grid)), Some(context)) => {
                let again =
                    context.io.inputs.contains(&ContextInput::Abort(*grid)) || self.io.inputs.contains(&message);
                if again || !context.grids.iter().any(|g| g.id == *grid) {
                    return Err(MessageError::NoGrid(*id, *grid));
                }
            }
            _ => {}
        }
        self.io.inputs.push(message);
        Ok(())
    }

    /// The messages that can be handled, and the grids that can leave: in a fixed order, the oldest first.
    pub(super) fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        for (k, message) in self.io.inputs.iter().enumerate() {
            match message {
                DeviceInput::Create(_) => moves.push(Move::Create(k)),
                DeviceInput::Load(_, id, _) if self.context(*id).is_some() => moves.push(Move::Load(k)),
                DeviceInput::Destroy(id) if self.context(*id).is_some() => moves.push(Move::Destroy(k)),
                DeviceInput::Context(id, _) if self.context(*id).is_some() => moves.push(Move::ToContext(k)),
                // Its context was destroyed before it could be handled: it stays in the list for ever.
                _ => {}
            }
        }
        for (c, context) in self.contexts.iter().enumerate() {
            for (k, message) in context.io.inputs.iter().enumerate().filter(|(k, _)| context.handles(*k)) {
                moves.push(match message {
                    ContextInput::Start(..) => Move::Start(c, k),
                    ContextInput::Abort(_) => Move::Abort(c, k),
                });
            }
            moves.extend((0..context.io.outputs.len()).map(|k| Move::FromContext(c, k)));
            let complete = context.grids.iter().enumerate().filter(|(_, g)| context.can_complete(g));
            moves.extend(complete.map(|(k, _)| Move::Complete(c, k)));
        }
        moves.extend((0..self.io.outputs.len()).map(Move::Out));
        moves
    }

    /// Whether [`Device::moves`] may have something: cheap.
    fn talks(&self) -> bool {
        let talks = |c: &ContextState<C, M>| {
            !c.io.inputs.is_empty() || !c.io.outputs.is_empty() || c.grids.iter().any(|g| g.completed)
        };
        !self.io.inputs.is_empty() || !self.io.outputs.is_empty() || self.contexts.iter().any(talks)
    }

    /// Handles a message or removes a complete grid. Gives what the host is told.
    fn handle<S: Sink>(
        &mut self,
        step: Move,
        config: &Config,
        cx: &mut Cx<'_, S>,
    ) -> Result<Option<DeviceOutput>, Stop> {
        let mut tell = Tell { who: Who::default(), message: None, rules: [None; 2] };
        let mut output = None;
        match step {
            Move::Create(k) => {
                let id = self.create(k, config)?;
                tell = Tell::of(Message::Create(id.0), [Rule::DeviceCreate, Rule::DioCreate]);
            }
            Move::Load(k) => {
                if let Some((context, program)) = self.load(k)? {
                    tell = Tell::of(Message::Load(program, context.0), [Rule::DeviceLoad, Rule::DioLoad]);
                }
            }
            Move::Destroy(k) => {
                if let Some(id) = self.destroy(k) {
                    cx.hints.clear();
                    tell = Tell::of(Message::Destroy(id.0), [Rule::DeviceDestroy, Rule::DioDestroy]);
                }
            }
            Move::ToContext(k) => {
                if let Some(id) = self.hand_on(k) {
                    tell = Tell::of(Message::ToContext(id.0), [Rule::DeviceCin, Rule::ContextIn]);
                }
            }
            Move::FromContext(c, k) => {
                if let Some(id) = self.take_over(c, k) {
                    tell = Tell::of(Message::FromContext(id.0), [Rule::DeviceCout, Rule::ContextOut]);
                }
            }
            Move::Out(k) => {
                let message = self.out(k);
                output = Some(message);
                let what = match message {
                    DeviceOutput::Created(id, _) => Message::Created(id.0),
                    DeviceOutput::Loaded(program, id, _) => Message::Loaded(program.0, id.0),
                    DeviceOutput::Context(id, ContextOutput::Started(grid, _)) => Message::Started(grid.0, id.0),
                    DeviceOutput::Context(id, ContextOutput::Completed(grid)) => Message::Completed(grid.0, id.0),
                };
                tell = Tell { message: Some(what), rules: [Some(Rule::DeviceOut), None], ..tell };
            }
            Move::Start(c, k) => {
                let id = GridId(self.next_grid);
                if let Some(context) = self.contexts.get_mut(c) {
                    let program = context.start(k, id, config)?.map_or(0, |tag| tag.0);
                    let loaded = context.grids.last().map(|g| &g.loaded);
                    self.next_grid += 1;
                    let who = Who { launch: id.0, ..Who::default() };
                    if S::ON
                        && let Some(loaded) = loaded
                    {
                        let (names, params) = (&context.memory.arena().names(), loaded.params.as_slice());
                        let (shape, dynamic_shared) = (loaded.shape(), loaded.dynamic_bytes);
                        let (tokens, later, variables) = (!C::JOINS, M::CACHES, &loaded.variables[..]);
                        let launch =
                            Event::Launch { tokens, program, shape, names, params, dynamic_shared, variables, later };
                        cx.sink.event(who, launch)?;
                    }
                    tell = Tell::of(Message::Start(id.0, context.id.0), [Rule::ContextStart, Rule::CioStart]);
                    tell.who = who;
                }
            }
            Move::Abort(c, k) => {
                if let Some(context) = self.contexts.get_mut(c)
                    && let Some(grid) = context.abort(k)
                {
                    tell = Tell::of(Message::Abort(grid.0, context.id.0), [Rule::ContextAbort, Rule::CioAbort]);
                    tell.who.launch = grid.0;
                }
            }
            Move::Complete(c, k) => {
                if let Some(context) = self.contexts.get_mut(c)
                    && let Some(grid) = context.complete(k)
                {
                    tell = Tell::of(Message::Complete(grid.0, context.id.0), [Rule::ContextCompl, Rule::CioCompl]);
                    tell.who.launch = grid.0;
                }
            }
        }
        if S::ON {
            if let Some(message) = tell.message {
                cx.sink.event(tell.who, Event::Message(message))?;
            }
            for rule in tell.rules.into_iter().flatten() {
                cx.sink.fire(tell.who, rule)?;
            }
        }
        Ok(output)
    }

    /// Makes a context: a memory of its own, no grids, no programs.
    ///
    /// Rule: device.create
    fn create(&mut self, k: usize, config: &Config) -> Result<ContextId, Stop> {
        let id = ContextId(self.next_context);
        let Some(base) = memory_of(id, self.address_bits) else {
            let what = format!("more than {} contexts of {} bit addresses", id.0, self.address_bits);
            return Err(Stop::Unsupported(what, None));
        };
        self.next_context += 1;
        let memory = M::create(&self.model, base, config.max_memory);
        let processors = Processors::new(config.device.processors, config.device.capacity);
        self.contexts.push(ContextState::new(id, memory, processors));
        self.io.create(k, id);
        Ok(id)
    }

    /// Removes a context with its grids and its memory: no address of it is valid any more. What its memory operations
    /// would still do nobody can see.
    ///
    /// Rule: device.destroy
    fn destroy(&mut self, k: usize) -> Option<ContextId> {
        let DeviceInput::Destroy(id) = self.io.inputs.get(k)? else { return None };
        let id = *id;
        if on(Mutant::DestroyKeepsMemory) {
            self.context_mut(id)?.abandon();
        } else {
            self.contexts.retain(|c| c.id != id);
        }
        self.last = None;
        self.io.destroy(k);
        Some(id)
    }

    /// Loads a program into a context.
    ///
    /// Rule: device.load
    fn load(&mut self, k: usize) -> Result<Option<(ContextId, u32)>, Stop> {
        let Some(DeviceInput::Load(program, id, tag)) = self.io.inputs.get(k) else { return Ok(None) };
        let (program, id, tag) = (program.clone(), *id, *tag);
        let Some(context) = self.context_mut(id) else { return Ok(None) };
        let loaded = context.load(&program, tag)?;
        self.io.load(k, loaded);
        Ok(Some((id, loaded.0)))
    }

    /// Hands a message on to its context.
    ///
    /// Rule: device.cin
    fn hand_on(&mut self, k: usize) -> Option<ContextId> {
        let DeviceInput::Context(id, message) = self.io.inputs.remove(k) else { return None };
        self.context_mut(id)?.receive(message);
        Some(id)
    }

    /// Takes a message over from a context.
    ///
    /// Rule: device.cout
    fn take_over(&mut self, c: usize, k: usize) -> Option<ContextId> {
        let context = self.contexts.get_mut(c)?;
        let message = context.send(k);
        self.io.outputs.push(DeviceOutput::Context(context.id, message));
        Some(context.id)
    }

    /// Sends a message to the host.
    ///
    /// Rule: device.out
    fn out(&mut self, k: usize) -> DeviceOutput {
        self.io.outputs.remove(k)
    }

    /// Runs until there is a message for the host, `hold` warp instructions are executed, or nothing can be done.
    ///
    /// Rule: device.exec
    ///
    /// # Errors
    /// Why a grid stopped before its end; the memory cap.
    #[inline(always)]
    pub(super) fn run<V: Simd, S: Watched>(
        &mut self,
        simd: V,
        config: &Config,
        order: Order,
        hold: u64,
        cx: &mut Cx<'_, S>,
        books: &mut Books<'_>,
    ) -> Result<Ran, Stop> {
        let end = books.clock.saturating_add(hold);
        let mut ready = Vec::new();
        // Contexts in which all wait for memory operations that cannot go on: until a message is handled.
        let mut idle: Vec<usize> = Vec::new();
        // Only a schedule without memory of its own repeats when the state does; a clock never does.
        let mut watch = (S::ON && config.liveness && config.seed.is_none() && !self.reads_clocks()).then(Watch::new);
        books.watched = watch.is_some();
        loop {
            if S::ON
                && let Some(watch) = &mut watch
            {
                self.look(watch, cx)?;
            }
            let left = end.saturating_sub(books.clock);
            if left == 0 {
                return Ok(Ran::Spent);
            }
            self.ready(config, &mut ready);
            for k in &idle {
                ready[k / 64] &= !(1 << (k % 64));
            }
            let can_exec = ready.iter().any(|w| *w != 0);
            let mut most = left;
            if self.talks() {
                let moves = self.moves();
                match pick(&moves, can_exec, order, cx)? {
                    Picked::Move(step) => {
                        if let Some(message) = self.handle(step, config, cx)? {
                            return Ok(Ran::Output(message));
                        }
                        if order == Order::Single {
                            return Ok(Ran::Spent);
                        }
                        idle.clear();
                        continue;
                    }
                    Picked::Exec(lease) => most = most.min(lease),
                }
            }
            let menu = Menu::of(Site::Context, &ready).after(self.last);
            let at = match menu.arity() {
                0 => return Ok(Ran::Idle),
                1 => menu.nth(0),
                _ => {
                    let names: Vec<u64> = self.contexts.iter().map(|c| c.id.0.into()).collect();
                    let pick = cx.oracle.choose(menu.named(Names::Each(&names)))?;
                    most = most.min(u64::from(pick.lease.get()));
                    pick.index
                }
            };
            if self.last.is_none_or(|(last, _)| last != at) && !on(Mutant::HintsOutliveContext) {
                // Hints are about the memory of the context that was active.
                cx.hints.clear();
            }
            let lost = || Stop::internal("a context was chosen that is not there", None);
            let context = self.contexts.get_mut(at as usize).ok_or_else(lost)?;
            if S::ON {
                cx.sink.fire(Who::default(), Rule::DeviceExec)?;
            }
            match context.exec(simd, config, most, cx, books)? {
                Stepped::On(spent) => {
                    self.last = Some((at, spent));
                    if order == Order::Single {
                        return Ok(Ran::Spent);
                    }
                }
                Stepped::Nothing => idle.push(at as usize),
            }
        }
    }

    /// Whether a program reads a clock.
    fn reads_clocks(&self) -> bool {
        let mut programs = self.contexts.iter().flat_map(|c| &c.programs);
        programs.any(|p| p.program.0.reads_clocks())
    }

    /// Tells the observer when the whole state is kept, and when it repeats; completes the places that it names then.
    fn look<S: Sink>(&self, watch: &mut Watch<C, M>, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        match watch.look(self) {
            Found::New => Ok(()),
            Found::Kept => cx.sink.event(Who::default(), Event::Remembered),
            Found::Same => {
                let Err(Stop::Stuck(mut stuck)) = cx.sink.event(Who::default(), Event::Repeated) else {
                    return Ok(());
                };
                let complete = |at: &mut Place, who: Who| {
                    if let Some(place) = self.contexts.iter().find_map(|c| c.place(who, at.lanes, at.pc)) {
                        *at = place;
                    }
                };
                if let StuckKind::Endless { tokens, place, who, .. } = &mut *stuck {
                    complete(place, *who);
                    tokens.iter_mut().for_each(|t| complete(&mut t.place, t.who));
                }
                Err(Stop::Stuck(stuck))
            }
        }
    }

    /// The contexts that can step, as a set of places.
    fn ready(&self, config: &Config, set: &mut Vec<u64>) {
        set.clear();
        set.resize(self.contexts.len().div_ceil(64), 0);
        for (k, _) in self.contexts.iter().enumerate().filter(|(_, c)| c.can_step(config)) {
            set[k / 64] |= 1 << (k % 64);
        }
    }

    /// Forgets whose turn it was, which only a schedule that takes turns depends on, and the order of messages.
    pub fn forget_turns(&mut self) {
        self.last = None;
        self.io.sort();
        self.contexts.iter_mut().for_each(ContextState::forget_turns);
    }

    /// Forgets all grids and messages: a run stopped before its end.
    pub fn abandon(&mut self) {
        self.io = DeviceIo::default();
        self.contexts.iter_mut().for_each(ContextState::abandon);
        self.last = None;
    }

    /// Why nothing can step, when grids are left.
    #[must_use]
    pub fn stuck(&self) -> Option<Stop> {
        self.contexts.iter().find_map(ContextState::stuck)
    }
}

/// What a step tells the observer.
struct Tell {
    who: Who,
    message: Option<Message>,
    rules: [Option<Rule>; 2],
}

impl Tell {
    fn of(message: Message, rules: [Rule; 2]) -> Self {
        Self { who: Who::default(), message: Some(message), rules: rules.map(Some) }
    }
}

/// What is done next.
enum Picked {
    Move(Move),
    /// A context steps, for so many warp instructions at most.
    Exec(u64),
}

/// Whether a message is handled now, and which.
fn pick<S: Sink>(moves: &[Move], can_exec: bool, order: Order, cx: &mut Cx<'_, S>) -> Result<Picked, Stop> {
    let alternatives = moves.len() + usize::from(can_exec);
    match (order, moves.first()) {
        (_, None) => return Ok(Picked::Exec(u64::MAX)),
        (Order::Prompt, Some(first)) => return Ok(Picked::Move(*first)),
        (_, Some(first)) if alternatives == 1 => return Ok(Picked::Move(*first)),
        _ => {}
    }
    let mut ready = vec![0; alternatives.div_ceil(64)];
    for k in 0..alternatives {
        ready[k / 64] |= 1 << (k % 64);
    }
    let pick = cx.oracle.choose(Menu::of(Site::Message, &ready))?;
    let step = moves.get(pick.index as usize);
    Ok(step.map_or(Picked::Exec(u64::from(pick.lease.get())), |step| Picked::Move(*step)))
}

/// The first address of a context's memory: contexts share none (D-vm). `None` when there are no more.
fn memory_of(id: ContextId, address_bits: u32) -> Option<u64> {
    let map = AddressMap::of(address_bits);
    let size = AddressMap::memory(address_bits);
    let nth = if on(Mutant::ContextsShareAddresses) { 0 } else { u64::from(id.0) };
    let base = map.global.checked_add(nth.checked_mul(size)?)?;
    let end = if address_bits == 32 { map.shared } else { u64::MAX };
    (base.checked_add(size)? <= end).then_some(base)
}
