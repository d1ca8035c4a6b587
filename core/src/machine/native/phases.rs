//! A block's warps run natively one after the other, each from where it is to the next barrier or to its end.
//!
//! Where warps take turns, nearly all turns of most kernels are such, and whose turn is next is no question: that of the next warp
//! that is ready ([`Fair::turn`](crate::choice::Fair::turn)). So native code is called once for all of them, and where all have come
//! to one barrier, for all of them again: what the machine has to note of a turn, it notes afterwards. What it cannot note so is
//! left to a turn as usual: barriers with a count, clusters, warps that have parted, what is left of a budget.

use super::calls::Calls;
use super::code::{Along, Ready};
use super::context::{Back, Context, Exit};
use super::go::{Fueled, came_back, entry_of, left_within, tell};
use super::plan::Plan;
use super::session::Session;
use super::tell::{arrived, exited, succeeded};
use super::visit::Visit;
use crate::base::{LaneMask, Pc};
use crate::machine::block::step::{self, Executing, Place, put};
use crate::machine::block::turns::{After, Part, Turns, Whose};
use crate::machine::books::{Books, Stats};
use crate::machine::control::{Control, Flow, Wait};
use crate::machine::grid::loaded::Where;
use crate::machine::grid::state::ALONE;
use crate::machine::warp::mistakes::no_warp;
use crate::machine::warp::run::Begun;
use crate::machine::warp::state::{Halt, Warp};
use crate::memory::{Cx, Fault, Memory};
use crate::program::ops::Class;
use crate::verdict::{Event, LimitKind, Sink, Stop, Who};

const ALL: LaneMask = !0;
const LANES: u32 = 32;

/// Warps that run in turn.
#[derive(Clone, Copy)]
struct Round {
    /// How many there are, and the one that runs first.
    count: usize,
    start: usize,
    /// What they have as fuel, and what the last one has: nobody else is ready then.
    lease: u32,
    last: u32,
    /// How many have run.
    ran: usize,
    /// Whether they have been at a barrier before, and have gone on together.
    again: bool,
}

/// Instructions that turns have taken, those of them that are not counted, and how many thread instructions are fewer since lanes
/// had parted.
#[derive(Clone, Copy, Default)]
struct Taken {
    used: u64,
    hidden: u64,
    fewer: u64,
}

impl Round {
    /// The one that runs as the `k`th.
    #[inline(always)]
    const fn nth(self, k: usize) -> usize {
        let index = self.start + k;
        if index < self.count { index } else { index - self.count }
    }

    /// What the one that runs as the `k`th has as fuel.
    #[inline(always)]
    const fn fuel(self, k: usize) -> u32 {
        if k + 1 == self.count { self.last } else { self.lease }
    }

    /// All go on behind the barrier that they came to, or begin the next block; the one whose turn was last is the first.
    #[inline(always)]
    fn go_on(&mut self, ready: &mut Ready<'_>, plan: &Plan, over: bool) {
        let start = plan.function.start.0;
        let (mut last, mut entry) = (u32::MAX, (0, start));
        for k in 0..self.count {
            let pc = ready[k].pc;
            if pc != last {
                last = pc;
                let behind = if over { start } else { pc + 1 };
                let number = plan.entries.get((behind - start) as usize).copied().flatten();
                entry = (number.unwrap_or(0), behind);
            }
            ready.again(k, entry, self.lease);
        }
        *self = Self { start: self.nth(self.count - 1), ran: 0, again: true, ..*self };
    }

    /// The one whose turn has begun and not ended: its warp, how it came back, and what it had as fuel.
    fn begun(self, contexts: &[Context], plan: &Plan) -> Option<(usize, Back, u32)> {
        let k = self.ran.checked_sub(1)?;
        let context = contexts.get(self.nth(k)).filter(|context| Ended::of(plan, context).is_none())?;
        Some((context.warp as usize, context.back()?, self.fuel(k)))
    }
}

impl Taken {
    /// Turns that had so much fuel together, and `left` of it, in [`Context::left`]'s terms, `fewer` in [`Context::fewer`]'s; each ended with an instruction more than
    /// native code has executed.
    #[inline(always)]
    const fn of(turns: u64, fuel: u64, (left, fewer): (i64, u64)) -> Self {
        Self { used: fuel + turns - (left >> 32) as u64, hidden: left as u32 as u64, fewer }
    }

    /// Thread instructions.
    const fn threads(self) -> u64 {
        LANES as u64 * (self.used - self.hidden) - self.fewer
    }

    /// Takes them off what there is.
    #[inline(always)]
    fn book(self, turns: u32, whose: &mut Whose<'_>, books: &mut Books<'_>, stats: &mut Stats) -> Option<LimitKind> {
        stats.warp_instructions += self.used;
        *whose.hold = whose.hold.saturating_sub(self.used);
        books.turns(turns, self.used)
    }
}

/// How a turn ended natively.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// At a barrier.
    Barrier(u8),
    /// All lanes have exited.
    Exit,
}

impl Ended {
    /// `None`: the turn goes on.
    #[inline(always)]
    fn of(plan: &Plan, context: &Context) -> Option<Self> {
        // Lanes that have parted in the code for all of them may have ended alone.
        if context.given > 0 {
            return None;
        }
        if context.exit == Exit::End as u32 {
            return Some(Self::Exit);
        }
        let waits = context.exit == Exit::Barrier as u32 && context.tokens == 0;
        let k = context.pc.wrapping_sub(plan.function.start.0) as usize;
        plan.passes.get(k).copied().flatten().filter(|_| waits).map(Self::Barrier)
    }
}

/// Runs the warps of a block natively as far as that goes.
#[inline(always)]
pub(in crate::machine) fn phases<C: Control, M: Memory, S: Sink>(
    at: &mut Executing<'_, C>,
    whose: Whose<'_>,
    mem: &mut M,
    cx: &mut Cx<'_, S>,
    books: &mut Books<'_>,
    stats: &mut Stats,
) -> Result<Turns, Box<Halt>> {
    let budget = most(at.warps.len(), whose.lease);
    if !at.sh.barriers.are_plain() || !books.lasts(budget, *whose.hold) || whose.others() {
        return Ok(Turns::default());
    }
    let Some(session) = at.sh.native.take() else { return Ok(Turns::default()) };
    let turns = rounds(at, session, whose, mem, cx, books, stats);
    at.sh.native = Some(session);
    turns
}

/// How many instructions warps may take, each in a turn.
#[inline(always)]
fn most(warps: usize, lease: u32) -> u64 {
    warps as u64 * u64::from(lease) + u64::from(ALONE)
}

#[inline(never)]
fn rounds<C: Control, M: Memory, S: Sink>(
    at: &mut Executing<'_, C>,
    session: &mut Session,
    mut whose: Whose<'_>,
    mem: &mut M,
    cx: &mut Cx<'_, S>,
    books: &mut Books<'_>,
    stats: &mut Stats,
) -> Result<Turns, Box<Halt>> {
    session.look(ALL, cx);
    let Session { kernel, sites, lanes, trip, contexts, visits, instructions, executed, partings, apart, rows, .. } =
        &mut *session;
    let (plan, [sites, parts]) = (&kernel.plan, sites);
    let Some(code) = kernel.code(false) else { return Ok(Turns::default()) };
    let size = at.warps.len();
    let whole = *at.running as usize == size && *at.live == size as u32 * LANES && !at.sh.barriers.any();
    let mut ready = Ready::new(code, std::mem::take(contexts));
    gather(&mut ready, plan, at.warps, &whose);
    let count = ready.len();
    if count == 0 {
        *contexts = ready.done();
        return Ok(Turns::default());
    }
    let last = if count == whose.own().count_ones() as usize { ALONE } else { whose.lease };
    let mut round = Round { count, start: 0, lease: whose.lease, last, ran: 0, again: false };
    let (mut turns, mut stays) = (Turns::default(), false);
    let some = kernel.made().filter(|_| C::JOINS && cx.oracle.takes_turns());
    let lists = [&code.sites[..], some.map_or(&code.sites[..], |some| &some.sites[..])];
    let mut host = Calls { sh: &mut at.sh, mem: &mut *mem, cx: &mut *cx, sites: lists, depth: 0, fault: None };
    apart.gather();
    loop {
        ready.fuel(round.nth(count - 1), round.last);
        let (sites, beyond) = (&mut *sites, some.map(|some| (some, &mut *parts)));
        let (mask, lanes, patience, watch, trip) = (ALL, &mut lanes.1, C::PATIENCE, u32::MAX, *trip);
        let along = Along { sites, beyond, patience, mask, lanes, partings, apart, watch, trip, rows };
        round.ran = ready.run(round.start, code, along, &mut host).unwrap_or(0);
        *visits += 1;
        let Some((taken, ended)) = together(&ready, plan, round).filter(|_| whole && count == size) else { break };
        let over = ended == Ended::Exit;
        let who = host.sh.who;
        if over && !succeed(&mut at.place, &mut whose.after, plan, (&mut ready, &mut stays), &mut host) {
            break;
        }
        told(&ready, round, ended, who, &mut host.cx.sink).map_err(step::halted)?;
        if over {
            succeeded(&mut host.cx.sink, (who, host.sh.who), host.sh.sm).map_err(step::halted)?;
        }
        stats.blocks += u64::from(over);
        host.sh.threads = host.sh.threads.wrapping_add(taken.threads());
        (*executed, *instructions) = (*executed + taken.threads(), *instructions + taken.used);
        turns.limit = taken.book(count as u32, &mut whose, books, stats);
        turns.last = ready.get(round.nth(count - 1)).map(|context| context.warp as usize);
        round.go_on(&mut ready, plan, over);
        if C::JOINS && over {
            // Nobody of the next block has waited or run.
            apart.gather();
            ready.patience(C::PATIENCE);
        }
        if turns.limit.is_some() || !books.lasts(most(size, round.lease), *whose.hold) {
            break;
        }
    }
    let (fault, contexts) = (host.fault, ready.done());
    let begun = round.begun(&contexts, plan);
    if C::JOINS && apart.has_run() {
        let parted = begun.filter(|(_, back, _)| back.given > 0).map(|(warp, ..)| warp as u32);
        for (warp, lanes) in apart.take_runs(parted) {
            at.warps[warp as usize].control.parted(&[lanes]);
        }
    }
    let (taken, ended) = note(at, plan, &contexts, round, &mut whose, &mut cx.sink).map_err(step::halted)?;
    at.sh.threads = at.sh.threads.wrapping_add(taken.threads());
    (*executed, *instructions) = (*executed + taken.threads(), *instructions + taken.used);
    if let Some((count, last)) = ended {
        turns.limit = taken.book(count, &mut whose, books, stats);
        turns.last = Some(last);
    }
    session.contexts = contexts;
    if let Some((warp, back, fuel)) = begun {
        turns.begun = Some(goes_on(at, session, warp, (back, fault, fuel), &mut cx.sink)?);
    }
    // One that a turn completes which has begun ends with that turn: the warp does not go on before.
    if turns.begun.is_none() && at.sh.barriers.any() {
        let party = at.party();
        let Whose { ready, base, .. } = whose;
        let turn = step::Turn { fuel: 0, ready, base, begun: None };
        at.end_barriers(mem, cx, turn, &party).map_err(step::halted)?;
    }
    Ok(turns)
}

/// The warps that run in turn: those that are ready, from the one whose turn it is, up to the first that is not whole or not where
/// native code is entered.
#[inline(always)]
fn gather<'a, C: Control>(ready: &mut Ready<'a>, plan: &Plan, warps: &'a mut [Warp<C>], whose: &Whose<'_>) {
    let own = whose.own();
    let (before, behind) = warps.split_at_mut(whose.warp.min(warps.len()));
    for warp in behind.iter_mut().chain(before).filter(|warp| own >> warp.index & 1 == 1) {
        let Some(flow) = warp.control.whole().filter(|flow| flow.mask == ALL && flow.depth == 0) else { break };
        let on = Fueled { fuel: whose.lease, untold: 0, patience: warp.control.patience() };
        let Some(entry) = entry_of(plan, warp, flow, on) else { break };
        if !ready.push(entry) {
            break;
        }
    }
}

/// What the turns have taken, and how they ended, when all warps have run and have ended them in one way.
#[inline(always)]
fn together(contexts: &[Context], plan: &Plan, round: Round) -> Option<(Taken, Ended)> {
    let first = contexts.first().filter(|_| round.ran == round.count)?;
    let ended = Ended::of(plan, first)?;
    let (mut left, mut fewer) = (0, 0);
    for context in contexts {
        let same = (context.exit, context.pc, context.tokens) == (first.exit, first.pc, first.tokens);
        if !same && Ended::of(plan, context) != Some(ended) {
            return None;
        }
        left += context.left;
        fewer += context.fewer;
    }
    let fuel = u64::from(round.lease) * (round.count as u64 - 1) + u64::from(round.last);
    Some((Taken::of(round.count as u64, fuel, (left, fewer)), ended))
}

/// Tells how a warp's turn has ended, if it has.
#[inline(always)]
fn tell_end<S: Sink>(context: &Context, ended: Option<Ended>, of: Who, sink: &mut S) -> Result<(), Stop> {
    let who = Who { warp: context.warp, ..of };
    match ended {
        Some(Ended::Barrier(id)) => arrived(sink, who, context.pc, id.into(), ALL),
        Some(Ended::Exit) => exited(sink, who, context.pc, ALL),
        None => Ok(()),
    }
}

/// Tells how the turns of all warps of a block have ended, in their order; behind a barrier they go on.
#[inline(always)]
fn told<S: Sink>(contexts: &[Context], round: Round, ended: Ended, of: Who, sink: &mut S) -> Result<(), Stop> {
    if !S::ON || matches!(ended, Ended::Barrier(_)) && !sink.wants_barriers() {
        return Ok(());
    }
    for k in 0..round.count {
        tell_end(&contexts[round.nth(k)], Some(ended), of, sink)?;
    }
    match ended {
        Ended::Barrier(id) => sink.event(of, Event::Released(id.into())),
        Ended::Exit => Ok(()),
    }
}

/// The next block takes the place of one whose warps have all ended, when nothing is to be made anew but registers that are the same
/// in all of its threads, and shared memory. False: it is issued as usual. `stays`: whether its multiprocessor is known.
#[inline(always)]
fn succeed<M: Memory, S: Sink>(
    place: &mut Place<'_>,
    after: &mut After<'_>,
    plan: &Plan,
    (ready, stays): (&mut Ready<'_>, &mut bool),
    host: &mut Calls<'_, '_, '_, M, S>,
) -> bool {
    let Calls { sh, mem, .. } = host;
    let (loaded, entry) = (sh.loaded, &plan.function);
    let same = entry.frame_bytes == 0 && entry.undefined.is_empty() && !loaded.moves_stack && plan.held[0].is_empty();
    let rows = loaded.per_block.iter().all(|preload| preload.class != Class::P);
    if after.eager || *after.next == after.total || !*place.fresh || !same || !rows {
        return false;
    }
    // Nobody else comes or goes meanwhile: where a block has taken the place of the one before, the next one does, too.
    if !*stays {
        let before = *place.sm;
        after.processors.give(before, loaded);
        *place.sm = after.processors.first(loaded).unwrap_or(before);
        after.processors.take(*place.sm, loaded);
        *stays = *place.sm == before;
    }
    let sm = *place.sm;
    mem.retire(sh.who.launch, *place.linear);
    let linear = *after.next;
    (*after.next, *after.pressure) = (linear + 1, 0);
    after.issued.fill(linear);
    // A copy in registers: read back from where its parts were just written, an index would stall.
    let block = loaded.index_of(linear);
    (*place.index, *place.linear) = (block, linear);
    (sh.block, sh.who.block, sh.sm) = (block, linear, sm);
    if !sh.shared.is_empty() {
        sh.shared.fill(0);
    }
    // The warp makes no difference to these.
    let at = Where { block, warp: 0, sm };
    loaded.renewed(at).all(|(class, slot, value)| ready.fill(class, slot, value))
}

/// Notes what warps have done since they last went on together: those whose turn has ended wait or are done. Gives what these have
/// taken, how many they are, and the last of them.
#[inline(always)]
fn note<C: Control, S: Sink>(
    at: &mut Executing<'_, C>,
    plan: &Plan,
    contexts: &[Context],
    round: Round,
    whose: &mut Whose<'_>,
    sink: &mut S,
) -> Result<(Taken, Option<(u32, usize)>), Stop> {
    let start = plan.function.start.0;
    let (mut turns, mut last, mut fuel, mut left, mut fewer) = (0, 0, 0, 0, 0);
    *at.place.fresh = false;
    for k in 0..round.count {
        let context = &contexts[round.nth(k)];
        let Some(warp) = at.warps.get_mut(context.warp as usize) else { continue };
        if k >= round.ran {
            warp.lines.0.at = Some((context.from - start, ALL));
            if round.again {
                warp.control.picked();
                warp.control.park(Flow { pc: context.from, mask: ALL, depth: 0 });
            }
            continue;
        }
        warp.control.picked();
        let mut flow = Flow { pc: context.pc, mask: ALL, depth: 0 };
        tell_end(context, Ended::of(plan, context), at.sh.who, sink)?;
        match Ended::of(plan, context) {
            Some(Ended::Barrier(id)) => {
                at.sh.barriers.join(id, warp.index, LANES, LANES);
                warp.control.wait(&mut flow, ALL, Wait::Barrier(id.into()));
                warp.lines.0.at = Some((context.pc + 1 - start, ALL));
            }
            Some(Ended::Exit) => {
                warp.arrivals.exit(ALL);
                warp.control.exit(&mut flow, ALL);
                *at.live -= LANES;
                *at.running -= 1;
            }
            None => continue,
        }
        (fuel, left) = (fuel + u64::from(round.fuel(k)), left + context.left);
        fewer += context.fewer;
        put(whose.ready, whose.base, warp.index, false);
        (turns, last) = (k as u32 + 1, context.warp as usize);
    }
    Ok((Taken::of(turns.into(), fuel, (left, fewer)), (turns > 0).then_some((turns, last))))
}

/// The turn of a warp goes on that native code has left otherwise than at a barrier or its end.
fn goes_on<C: Control, S: Sink>(
    at: &mut Executing<'_, C>,
    session: &mut Session,
    w: usize,
    (back, fault, fuel): (Back, Option<Box<Fault>>, u32),
    sink: &mut S,
) -> Result<Part, Box<Halt>> {
    let Some(warp) = at.warps.get_mut(w) else { return Err(no_warp()) };
    at.sh.who.warp = warp.index;
    let executed = fuel - back.left;
    let threads = u64::from(LANES) * u64::from(executed - back.hidden) - session.fewer(back);
    at.sh.threads = at.sh.threads.wrapping_add(threads);
    session.executed += threads;
    session.instructions += u64::from(executed);
    session.checks += u64::from(back.exit == Exit::Check);
    let mut flow = Flow { pc: back.pc, mask: ALL, depth: 0 };
    let sh = &mut at.sh;
    (sh.begun, sh.turn, sh.more, sh.runs) = (0, fuel, 0, None);
    let (mut left, whole) = (back.left, (back, fault));
    let visit = if back.given > 0 {
        left = back.told;
        left_within(whole, warp, &mut flow, sh, &mut left, session, sink)
    } else {
        if back.told < fuel {
            sh.runs = Some((ALL, fuel - back.told));
        }
        tell(&session.partings, &session.kernel.plan, warp, &mut flow);
        came_back(whole, warp, &mut flow, sh, &mut left, session, sink)
    };
    match visit {
        Ok(visit) => {
            let went = if let Visit::Went(went) = visit { Some(went) } else { None };
            let (lease, more) = if sh.more > 0 { (left, sh.more) } else { (u32::MAX, 0) };
            let lanes = Begun { flow, went, used: fuel - left - more, lease, runs: sh.runs };
            Ok(Part { warp: w, left: left + more, lanes })
        }
        Err(mut halt) => {
            halt.pc = Pc(flow.pc);
            warp.control.park(flow);
            Err(halt)
        }
    }
}
