//! A step of a context: one of its grids goes on (report, 5.7.1).

use crate::machine::books::Books;
use crate::machine::config::Config;
use crate::machine::context::overlap;
use crate::machine::context::state::{ContextState, Stepped, place};
use crate::machine::control::Control;
use crate::machine::grid::turns::exec;
use crate::machine::grid::turns::{Held, Turns};
use crate::memory::{Cx, Environment};
use crate::verdict::{Rule, Sink, Stop, Who};

impl<C: Control, M: Environment> ContextState<C, M> {
    /// One of the context's grids steps. Gives whether the pick was used up.
    ///
    /// Rule: context.exec
    #[inline(always)]
    pub(in crate::machine) fn exec<S: Sink>(
        &mut self,
        config: &Config,
        hold: u64,
        cx: &mut Cx<'_, S>,
        books: &mut Books<'_>,
    ) -> Result<Stepped, Stop> {
        if !M::IMMEDIATE {
            return overlap::exec(self, config, hold, cx, books);
        }
        let room = self.room(config);
        let Some((at, lease)) = self.which(|g| g.can_step(&self.processors, room), self.last, cx.oracle)? else {
            return Ok(Stepped::Nothing);
        };
        let hold = lease.map_or(hold, |lease| hold.min(lease.into()));
        let Some(grid) = self.grids.get_mut(at) else { return Ok(Stepped::Nothing) };
        let Some(program) = self.programs.get(grid.program.0 as usize).map(|p| &p.program) else {
            return Ok(Stepped::Nothing);
        };
        if S::ON {
            let who = Who { launch: grid.id.0, ..Who::default() };
            cx.sink.fire(who, Rule::ContextExec)?;
        }
        let (processors, mem) = (&mut self.processors, &mut self.memory);
        let held = exec(grid, Turns { program, processors, mem, cx, books, hold })?;
        self.last = Some((place(at), held == Held::Spent));
        if held == Held::Complete {
            grid.complete(cx)?;
        }
        Ok(Stepped::On(held == Held::Spent))
    }
}
