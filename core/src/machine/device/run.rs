//! The only loop that steps anything (report, 5.8).

use crate::base::mutant::{Mutant, on};
use crate::choice::{Menu, Names, Site};
use crate::machine::books::Books;
use crate::machine::config::Config;
use crate::machine::context::state::Stepped;
use crate::machine::control::Control;
use crate::machine::device::repeats::{Found, Watch};
use crate::machine::device::state::{Device, Move, Order, Ran};
use crate::memory::{Cx, Environment};
use crate::verdict::{Event, Place, Rule, Sink, Stop, StuckKind, Who};

impl<C: Control, M: Environment> Device<C, M> {
    /// Runs until there is a message for the host, `hold` warp instructions are executed, or nothing can be done.
    ///
    /// Rule: device.exec
    ///
    /// # Errors
    /// Why a grid stopped before its end; the memory cap.
    #[inline(always)]
    pub(in crate::machine) fn run<S: Sink>(
        &mut self,
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
            match context.exec(config, most, cx, books)? {
                Stepped::On(spent) => {
                    self.last = Some((at, spent));
                    if books.between {
                        return Ok(Ran::Spent);
                    }
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
