//! The device: contexts, and the messages between them and the host (report, 5.8).
//!
//! `Device::run` is the only loop that steps anything. A step is one of: a message is handled, in any order (5.7.2, 5.8.2);
//! a grid that is complete leaves; a context is chosen and steps. Departures: handling a message is a step of its own,
//! not part of a context's; a context that is chosen may step several times before the next choice (the pick's lease),
//! which is one of the schedules of the report; each context has a memory environment of its own, since contexts share no
//! address and are never active together (D-vm).

use crate::base::mutant::{Mutant, on};
use crate::machine::config::Config;
use crate::machine::context::processors::Processors;
use crate::machine::context::state::ContextState;
use crate::machine::control::Control;
use crate::machine::device::message::{
    ContextId, ContextInput, DeviceInput, DeviceIo, DeviceOutput, MessageError, Program,
};
use crate::memory::Environment;
use crate::program::env::AddressMap;
use crate::verdict::Stop;

/// A device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device<C, M: Environment> {
    /// Its message lists.
    pub io: DeviceIo,
    /// Its contexts, in the order in which they were made.
    pub contexts: Vec<ContextState<C, M>>,
    /// The index of the next context.
    pub(super) next_context: u32,
    /// The index of the next grid.
    pub(super) next_grid: u32,
    /// The context that stepped last, and whether its turn was used up: what a deterministic scheduler remembers.
    pub(super) last: Option<(u32, bool)>,
    /// 32 or 64.
    pub(super) address_bits: u32,
    pub(super) model: M::Model,
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
pub(in crate::machine) enum Move {
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
    pub(in crate::machine) fn moves(&self) -> Vec<Move> {
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
    pub(super) fn talks(&self) -> bool {
        let talks = |c: &ContextState<C, M>| {
            !c.io.inputs.is_empty() || !c.io.outputs.is_empty() || c.grids.iter().any(|g| g.completed)
        };
        !self.io.inputs.is_empty() || !self.io.outputs.is_empty() || self.contexts.iter().any(talks)
    }

    /// Makes a context: a memory of its own, no grids, no programs.
    ///
    /// Rule: device.create
    pub(super) fn create(&mut self, k: usize, config: &Config) -> Result<ContextId, Stop> {
        let id = ContextId(self.next_context);
        // All of the second context's addresses lie above those that a process can have.
        let place = if config.host_addresses { ContextId(id.0.saturating_add(1)) } else { id };
        let Some(base) = memory_of(place, self.address_bits) else {
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
    pub(super) fn destroy(&mut self, k: usize) -> Option<ContextId> {
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
    pub(super) fn load(&mut self, k: usize) -> Result<Option<(ContextId, u32)>, Stop> {
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
    pub(super) fn hand_on(&mut self, k: usize) -> Option<ContextId> {
        let DeviceInput::Context(id, message) = self.io.inputs.remove(k) else { return None };
        self.context_mut(id)?.receive(message);
        Some(id)
    }

    /// Takes a message over from a context.
    ///
    /// Rule: device.cout
    pub(super) fn take_over(&mut self, c: usize, k: usize) -> Option<ContextId> {
        let context = self.contexts.get_mut(c)?;
        let message = context.send(k);
        self.io.outputs.push(DeviceOutput::Context(context.id, message));
        Some(context.id)
    }

    /// Sends a message to the host.
    ///
    /// Rule: device.out
    pub(super) fn out(&mut self, k: usize) -> DeviceOutput {
        self.io.outputs.remove(k)
    }

    /// The contexts that can step, as a set of places.
    pub(super) fn ready(&self, config: &Config, set: &mut Vec<u64>) {
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

/// The first address of a context's memory: contexts share none (D-vm). `None` when there are no more.
fn memory_of(id: ContextId, address_bits: u32) -> Option<u64> {
    let map = AddressMap::of(address_bits);
    let size = AddressMap::memory(address_bits);
    let nth = if on(Mutant::ContextsShareAddresses) { 0 } else { u64::from(id.0) };
    let base = map.global.checked_add(nth.checked_mul(size)?)?;
    let end = if address_bits == 32 { map.shared } else { u64::MAX };
    (base.checked_add(size)? <= end).then_some(base)
}
