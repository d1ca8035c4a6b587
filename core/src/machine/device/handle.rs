//! A message is handled, or a complete grid leaves (report, 5.7.2 and 5.8.2).

use crate::machine::config::Config;
use crate::machine::context::state::ContextState;
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
        let mut output = None;
        let message = match step {
            Move::Create(k) => Some(Message::Create(self.create(k, config)?.0)),
            Move::Load(k) => self.load(k)?.map(|(context, program)| Message::Load(program, context.0)),
            Move::Destroy(k) => self.destroy(k).map(|id| {
                cx.hints.clear();
                Message::Destroy(id.0)
            }),
            Move::ToContext(k) => self.hand_on(k).map(|id| Message::ToContext(id.0)),
            Move::FromContext(c, k) => self.take_over(c, k).map(|id| Message::FromContext(id.0)),
            Move::Out(k) => Some(match *output.insert(self.out(k)) {
                DeviceOutput::Created(id, _) => Message::Created(id.0),
                DeviceOutput::Loaded(program, id, _) => Message::Loaded(program.0, id.0),
                DeviceOutput::Context(id, ContextOutput::Started(grid, _)) => Message::Started(grid.0, id.0),
                DeviceOutput::Context(id, ContextOutput::Completed(grid)) => Message::Completed(grid.0, id.0),
            }),
            Move::Start(c, k) => match self.contexts.get_mut(c) {
                Some(context) => {
                    let id = GridId(self.next_grid);
                    let program = context.start(k, id, config)?.map_or(0, |tag| tag.0);
                    let loaded = context.grids.last().map(|g| &g.loaded);
                    self.next_grid += 1;
                    if S::ON
                        && let Some(loaded) = loaded
                    {
                        let (names, params) = (&context.memory.arena().names(), loaded.params.as_slice());
                        let (shape, dynamic_shared) = (loaded.shape(), loaded.dynamic_bytes);
                        let (tokens, later, variables) =
                            (!C::JOINS, context.memory.waits_for_others(), &loaded.variables[..]);
                        let launch =
                            Event::Launch { tokens, program, shape, names, params, dynamic_shared, variables, later };
                        cx.sink.event(Who { launch: id.0, ..Who::default() }, launch)?;
                    }
                    Some(Message::Start(id.0, context.id.0))
                }
                None => None,
            },
            Move::Abort(c, k) => {
                let of = |context: &mut ContextState<C, M>| Some(Message::Abort(context.abort(k)?.0, context.id.0));
                self.contexts.get_mut(c).and_then(of)
            }
            Move::Complete(c, k) => {
                let of =
                    |context: &mut ContextState<C, M>| Some(Message::Complete(context.complete(k)?.0, context.id.0));
                self.contexts.get_mut(c).and_then(of)
            }
        };
        if S::ON
            && let Some(message) = message
        {
            let launch = match message {
                Message::Start(grid, _) | Message::Abort(grid, _) | Message::Complete(grid, _) => grid,
                _ => 0,
            };
            let who = Who { launch, ..Who::default() };
            cx.sink.event(who, Event::Message(message))?;
            for rule in rules(message) {
                cx.sink.fire(who, *rule)?;
            }
        }
        Ok(output)
    }
}

/// The rules that handle a message.
const fn rules(message: Message) -> &'static [Rule] {
    match message {
        Message::Create(_) => &[Rule::DeviceCreate, Rule::DioCreate],
        Message::Load(..) => &[Rule::DeviceLoad, Rule::DioLoad],
        Message::Destroy(_) => &[Rule::DeviceDestroy, Rule::DioDestroy],
        Message::ToContext(_) => &[Rule::DeviceCin, Rule::ContextIn],
        Message::FromContext(_) => &[Rule::DeviceCout, Rule::ContextOut],
        Message::Start(..) => &[Rule::ContextStart, Rule::CioStart],
        Message::Abort(..) => &[Rule::ContextAbort, Rule::CioAbort],
        Message::Complete(..) => &[Rule::ContextCompl, Rule::CioCompl],
        Message::Created(_) | Message::Loaded(..) | Message::Started(..) | Message::Completed(..) => &[Rule::DeviceOut],
    }
}
