//! A message is handled, or a complete grid leaves (report, 5.7.2 and 5.8.2).

use crate::machine::config::Config;
use crate::machine::control::Control;
use crate::machine::device::message::{ContextOutput, DeviceOutput, GridId};
use crate::machine::device::state::{Device, Move};
use crate::memory::{Cx, Environment};
use crate::verdict::{Event, Message, Rule, Sink, Stop, Who};

impl<C: Control, M: Environment> Device<C, M> {
    /// Handles a message or removes a complete grid. Gives what the host is told.
    pub(super) fn handle<S: Sink>(
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
