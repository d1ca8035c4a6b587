//! Independent threads (D-its): each lane has its own program counter, call stack and wait state.
//!
//! A step picks a group of lanes at one address; groups are maximal. The groups are offered with the deepest call first,
//! then the lowest address: lanes that are behind run first, which makes groups meet where the source's control flow
//! joins; every so often the group that has waited longest comes first, so that no ready lane starves. Running lanes stop where
//! others are ([`Control::watch`]). With [`Grouping::One`] a group is one lane; with [`Grouping::Any`] any part of a group may
//! run (`parts`).

use super::{Control, Flow, Group, Grouping, Idle, Nested, Next, Standing, TokenKind, Wait, Waiting};
use crate::base::{LANES, LaneMask, lanes_of, lanes_with, set_lanes, sort};
use crate::choice::{Fair, Menu, Oracle, Site};
use crate::verdict::Stop;
use smallvec::SmallVec;

/// The execution state of a warp of independent threads.
#[derive(Clone, Debug)]
pub struct Its {
    pub(super) pc: [u32; LANES],
    pub(super) depth: [u32; LANES],
    /// What each lane in neither `ready` nor `exited` waits for.
    pub(super) wait: [Option<Wait>; LANES],
    pub(super) ready: LaneMask,
    pub(super) exited: LaneMask,
    /// All live lanes run at one address, or wait for one thing: the common case, told apart so that it is cheap. What the
    /// arrays say of them is out of date then.
    pub(super) together: Option<(Flow, Option<Wait>)>,
    /// Lanes that have waited for each other and execute the instruction at which they did together, also when threads
    /// otherwise run on their own.
    pub(super) met: LaneMask,
    pub(super) grouping: Grouping,
    /// Return addresses, by depth of the caller.
    pub(super) returns: Vec<[u32; LANES]>,
    pub(super) watch: u32,
    /// Instructions that some lanes executed while others were ready, since the longest-waiting ones were preferred.
    starved: u32,
    /// The turn in which each lane ran last.
    since: [u32; LANES],
    turn: u32,
}

/// Instructions after which the lanes that have waited longest come first.
const PATIENCE: u32 = 1024;

/// Of the turns in which lanes ran last only the order matters, or no state of a run would ever repeat.
impl PartialEq for Its {
    fn eq(&self, other: &Self) -> bool {
        let Self { pc, depth, wait, ready, exited, together, met, grouping, returns, watch, starved, .. } = self;
        (ready, exited, together, met) == (&other.ready, &other.exited, &other.together, &other.met)
            && *grouping == other.grouping
            && (watch, starved) == (&other.watch, &other.starved)
            && (pc, depth, wait, returns) == (&other.pc, &other.depth, &other.wait, &other.returns)
            && self.order() == other.order()
    }
}

impl Eq for Its {}

impl Its {
    /// Whether every thread runs on its own.
    pub(super) fn alone(&self) -> bool {
        self.grouping == Grouping::One
    }

    /// For each live lane how many of them have waited longer.
    fn order(&self) -> [u32; LANES] {
        let mut order = [0; LANES];
        for l in lanes_of(!self.exited) {
            order[l] = lanes_of(!self.exited).map(|k| u32::from(self.since[k] < self.since[l])).sum();
        }
        order
    }

    /// The groups of ready lanes, the one to be preferred first.
    fn groups(&self) -> SmallVec<[Group; 8]> {
        let mut groups: SmallVec<[Group; 8]> = SmallVec::new();
        let mut rest = self.ready;
        while rest != 0 {
            let l = rest.trailing_zeros() as usize;
            // Threads on their own run together only with those that they have met.
            let with = match (self.alone(), self.met >> l & 1 == 1) {
                (false, _) => self.standing_with(l) & rest,
                (true, true) => self.standing_with(l) & rest & self.met,
                (true, false) => 1 << l,
            };
            groups.push((with, self.pc[l], self.depth[l]));
            rest &= !with;
        }
        if self.starved >= PATIENCE {
            sort::sort_by_key(&mut groups, |g| lanes_of(g.0).map(|l| self.since[l]).min());
        } else if !self.alone() {
            sort::sort_by_key(&mut groups, |g| (u32::MAX - g.2, g.1));
        }
        groups
    }

    /// The lanes that are where one is, as far as the arrays say.
    fn standing_with(&self, lane: usize) -> LaneMask {
        lanes_with(&self.pc, self.pc[lane]) & lanes_with(&self.depth, self.depth[lane])
    }

    /// Takes note of who ran, one after the other.
    fn note(&mut self, runs: &[LaneMask]) {
        for lanes in runs {
            self.met &= !lanes;
            self.turn = self.turn.wrapping_add(1);
            set_lanes(&mut self.since, *lanes, self.turn);
        }
    }

    /// Brings the arrays up to date.
    fn part(&mut self) {
        if let Some((flow, wait)) = self.together.take() {
            self.place(flow.mask, flow.pc, flow.depth);
            for l in lanes_of(flow.mask) {
                self.wait[l] = wait;
            }
        }
    }

    /// Makes it plain who is ready: all lanes together, or those of `ready`. Or why nobody is.
    #[inline(always)]
    pub(super) fn gather(&mut self) -> Result<(), Idle> {
        match self.together {
            Some((flow, None)) if flow.mask != 0 && self.grouping == Grouping::All => return Ok(()),
            Some((_, Some(Wait::Barrier(_)))) => return Err(Idle::Barrier),
            Some(_) => self.part(),
            None => {}
        }
        if self.ready != !self.exited {
            self.wake();
        }
        if self.ready != 0 {
            return Ok(());
        }
        let at_barrier = lanes_of(!self.exited).any(|l| matches!(self.wait[l], Some(Wait::Barrier(_))));
        Err(match (self.exited == !0, at_barrier) {
            (true, _) => Idle::Done,
            (_, true) => Idle::Barrier,
            _ => Idle::Members,
        })
    }

    /// Where a lane is: its address and depth.
    pub(super) fn at(&self, lane: usize) -> (u32, u32, Option<Wait>) {
        match self.together {
            Some((flow, wait)) if flow.mask >> lane & 1 == 1 => (flow.pc, flow.depth, wait),
            _ => (self.pc[lane], self.depth[lane], self.wait[lane]),
        }
    }

    fn place(&mut self, lanes: LaneMask, pc: u32, depth: u32) {
        set_lanes(&mut self.pc, lanes, pc);
        set_lanes(&mut self.depth, lanes, depth);
    }
}

impl Control for Its {
    const JOINS: bool = true;
    const PATIENCE: u32 = PATIENCE - 1;
    const WAITS: bool = true;

    fn new(lanes: LaneMask, entry: u32) -> Self {
        Self {
            pc: [entry; LANES],
            depth: [0; LANES],
            wait: [None; LANES],
            ready: lanes,
            exited: !lanes,
            together: Some((Flow { pc: entry, mask: lanes, depth: 0 }, None)),
            met: 0,
            grouping: Grouping::All,
            returns: Vec::new(),
            watch: u32::MAX,
            starved: 0,
            since: [0; LANES],
            turn: 0,
        }
    }

    fn reset(&mut self, lanes: LaneMask, entry: u32) {
        // The arrays are out of date while the lanes are together; the rest must not remember an earlier block.
        (self.ready, self.exited) = (lanes, !lanes);
        self.together = Some((Flow { pc: entry, mask: lanes, depth: 0 }, None));
        self.returns.clear();
        self.met = 0;
        (self.starved, self.turn) = (0, 0);
        self.since = [0; LANES];
    }

    fn pick(&mut self, oracle: &mut dyn Oracle, can: impl Fn(Flow) -> bool) -> Result<Result<(Flow, u32), Idle>, Stop> {
        if let Err(idle) = self.gather() {
            return Ok(Err(idle));
        }
        if let Some((flow, _)) = self.together {
            if !can(flow) {
                return Ok(Err(Idle::Blocked));
            }
            self.watch = u32::MAX;
            return Ok(Ok((flow, u32::MAX)));
        }
        let mut groups = self.groups();
        if self.grouping == Grouping::Any {
            groups.iter_mut().for_each(|g| g.0 = self.able(Flow { pc: g.1, mask: g.0, depth: g.2 }, &can));
            groups.retain(|g| g.0 != 0);
            let Some((flow, lease)) = self.pick_part(&groups, oracle)? else { return Ok(Err(Idle::Blocked)) };
            if groups.len() == 1 || self.starved >= PATIENCE {
                self.starved = 0;
            }
            self.met &= !flow.mask;
            self.set_watch(flow);
            return Ok(Ok((flow, lease)));
        }
        groups.retain(|&mut (mask, pc, depth)| can(Flow { pc, mask, depth }));
        if groups.is_empty() {
            return Ok(Err(Idle::Blocked));
        }
        let (index, lease) = if groups.len() == 1 {
            self.starved = 0;
            (0, u32::MAX)
        } else {
            let lowest = |g: &Group| g.0.trailing_zeros();
            let all = groups.iter().fold(0u64, |m, g| m | 1 << lowest(g));
            let preferred = groups.first().map(|g| (lowest(g), false));
            let pick = oracle.choose(Menu::of(Site::Group, &[all]).after(preferred))?;
            if self.starved >= PATIENCE {
                self.starved = 0;
            }
            let strange = || Stop::internal("a group of lanes was chosen that is not there", None);
            (groups.iter().position(|g| lowest(g) == pick.index).ok_or_else(strange)?, pick.lease.get())
        };
        let (mask, pc, depth) = groups[index];
        let lease = if self.alone() && mask & self.met != 0 { 1 } else { lease };
        self.met &= !mask;
        let flow = Flow { pc, mask, depth };
        self.set_watch(flow);
        Ok(Ok((flow, lease)))
    }

    #[inline(always)]
    fn first(&mut self) -> Option<(Flow, u32)> {
        if self.together.is_some() || self.grouping != Grouping::All || self.starved >= PATIENCE {
            return None;
        }
        self.gather().ok()?;
        let ready = self.ready;
        let (mut depth, mut pc) = (0, u32::MAX);
        for (l, own) in self.depth.iter().enumerate() {
            depth = depth.max(own & (ready >> l & 1).wrapping_neg());
        }
        let deepest = lanes_with(&self.depth, depth) & ready;
        for (l, own) in self.pc.iter().enumerate() {
            pc = pc.min(own | !(deepest >> l & 1).wrapping_neg());
        }
        let mask = lanes_with(&self.pc, pc) & deepest;
        let lease = if mask == ready {
            self.starved = 0;
            u32::MAX
        } else {
            Fair::GROUP.get()
        };
        self.met &= !mask;
        let flow = Flow { pc, mask, depth };
        self.set_watch(flow);
        Some((flow, lease))
    }

    #[inline(always)]
    fn whole(&self) -> Option<Flow> {
        let all = self.together.filter(|(flow, wait)| wait.is_none() && flow.mask != 0);
        all.filter(|_| self.grouping == Grouping::All).map(|(flow, _)| flow)
    }

    #[inline(always)]
    fn picked(&mut self) {
        self.watch = u32::MAX;
    }

    fn runnable(&mut self) -> bool {
        match self.together {
            Some((flow, wait)) if flow.mask == 0 || matches!(wait, Some(Wait::Barrier(_))) => false,
            Some((_, None)) => true,
            Some(_) => {
                self.part();
                self.wake();
                self.ready != 0
            }
            None => {
                if self.ready != !self.exited {
                    self.wake();
                }
                self.ready != 0
            }
        }
    }

    fn any(&mut self, can: impl Fn(Flow) -> bool) -> bool {
        if let Some((flow, None)) = self.together
            && flow.mask != 0
            && self.grouping == Grouping::All
        {
            return can(flow);
        }
        if self.together.is_some_and(|(_, wait)| matches!(wait, Some(Wait::Barrier(_)))) {
            return true;
        }
        self.part();
        if self.ready != !self.exited {
            self.wake();
        }
        let can_run = |flow: Flow| if self.grouping == Grouping::Any { self.able(flow, &can) != 0 } else { can(flow) };
        self.ready == 0 || self.groups().into_iter().any(|(mask, pc, depth)| can_run(Flow { pc, mask, depth }))
    }

    fn group(&mut self, grouping: Grouping) {
        self.grouping = grouping;
    }

    fn park(&mut self, flow: Flow) {
        if flow.mask == !self.exited && !self.alone() {
            self.together = Some((flow, None));
            return;
        }
        self.part();
        self.place(flow.mask, flow.pc, flow.depth);
    }

    fn ran(&mut self, lanes: LaneMask, used: u32) {
        if self.together.is_some() {
            return;
        }
        self.turn = self.turn.wrapping_add(1);
        set_lanes(&mut self.since, lanes, self.turn);
        self.starved = self.starved.saturating_add(used);
    }

    fn forget_turns(&mut self) {
        (self.starved, self.turn, self.since) = (0, 0, [0; LANES]);
    }

    fn aside(&self, flow: Flow) -> Option<(Waiting, u32)> {
        let most = Self::PATIENCE.saturating_sub(self.starved);
        let mut others = SmallVec::new();
        if self.together.is_some() {
            return Some((others, most));
        }
        let mut rest = self.ready & !flow.mask;
        let near = lanes_of(rest).all(|l| self.depth[l] == flow.depth);
        if self.grouping != Grouping::All || !near {
            return None;
        }
        while rest != 0 {
            let l = rest.trailing_zeros() as usize;
            let with = self.standing_with(l) & rest;
            // Those who are behind run: nobody is where these are, or before.
            if self.pc[l] <= flow.pc {
                return None;
            }
            others.push((with, self.pc[l]));
            rest &= !with;
        }
        Some((others, most))
    }

    fn regrouped(&mut self, flow: Flow, others: &[(LaneMask, u32)], runs: &[LaneMask], used: u32) {
        self.part();
        for (lanes, pc) in others {
            self.place(*lanes, *pc, flow.depth);
        }
        self.met &= !flow.mask;
        self.note(runs);
        // Where all of them have met, nobody has waited.
        self.starved = if others.is_empty() { 0 } else { self.starved.saturating_add(used) };
        self.set_watch(flow);
    }

    fn nested(&self, flow: Flow) -> Option<Nested> {
        self.beside(flow)
    }

    fn at_depth(&self, lanes: LaneMask, depth: u32) -> Waiting {
        self.those_at(lanes, depth)
    }

    #[inline(always)]
    fn called(&mut self, lanes: LaneMask, depth: u32, back: u32) {
        self.remember(lanes, depth, back);
    }

    #[inline(always)]
    fn returns_to(&self, lanes: LaneMask, depth: u32) -> Option<u32> {
        self.back_of(lanes, depth)
    }

    fn has_run(&mut self, flow: Flow, others: &[Group], runs: &[LaneMask], used: u32) {
        self.stand(flow, others, runs, used);
    }

    #[inline(always)]
    fn patience(&self) -> u32 {
        if self.grouping == Grouping::All { Self::PATIENCE.saturating_sub(self.starved) } else { 0 }
    }

    fn parted(&mut self, runs: &[LaneMask]) {
        self.note(runs);
        self.starved = 0;
    }

    #[inline(always)]
    fn watch(&self) -> u32 {
        self.watch
    }

    fn diverge(&mut self, flow: &mut Flow, taken: LaneMask, target: u32) -> Next {
        self.part();
        self.place(flow.mask, flow.pc + 1, flow.depth);
        self.place(taken, target, flow.depth);
        Next::Pick
    }

    fn scatter(
        &mut self,
        flow: &mut Flow,
        taken: LaneMask,
        targets: &[u32; LANES],
        _: bool,
        _: &mut dyn Oracle,
    ) -> Result<(LaneMask, Next), Stop> {
        self.part();
        self.place(flow.mask, flow.pc + 1, flow.depth);
        for l in lanes_of(taken) {
            self.place(1 << l, targets[l], flow.depth);
        }
        Ok((taken, Next::Pick))
    }

    fn call_some(&mut self, flow: &mut Flow, now: LaneMask, taken: LaneMask, target: u32) -> Next {
        self.remember(now, flow.depth, flow.pc + 1);
        self.part();
        self.place(flow.mask & !taken, flow.pc + 1, flow.depth);
        self.place(taken & !now, flow.pc, flow.depth);
        self.place(now, target, flow.depth + 1);
        Next::Pick
    }

    fn ret(&mut self, flow: &mut Flow, lanes: LaneMask) -> Next {
        self.part();
        self.place(flow.mask, flow.pc + 1, flow.depth);
        let caller = flow.depth.saturating_sub(1);
        for l in lanes_of(lanes) {
            let back = self.returns[caller as usize][l];
            self.place(1 << l, back, caller);
        }
        Next::Pick
    }

    fn exit(&mut self, flow: &mut Flow, lanes: LaneMask) -> Next {
        self.part();
        self.place(flow.mask, flow.pc + 1, flow.depth);
        self.exited |= lanes;
        self.ready &= !lanes;
        Next::Pick
    }

    fn push(&mut self, flow: &mut Flow, _: TokenKind, _: LaneMask, _: u32) {
        flow.pc += 1;
    }

    fn sync(&mut self, flow: &mut Flow) -> Next {
        flow.pc += 1;
        Next::Go
    }

    fn brk(&mut self, flow: &mut Flow, lanes: LaneMask, target: u32) -> Next {
        if lanes == flow.mask {
            flow.pc = target;
            return Next::Go;
        }
        self.diverge(flow, lanes, target)
    }

    fn wait(&mut self, flow: &mut Flow, lanes: LaneMask, on: Wait) -> Next {
        let done = matches!(on, Wait::WarpSync(_) | Wait::Barrier(_));
        if lanes == !self.exited && matches!(on, Wait::Barrier(_)) {
            self.together = Some((Flow { pc: flow.pc + 1, ..*flow }, Some(on)));
            self.ready = 0;
            return Next::Pick;
        }
        self.part();
        self.place(flow.mask, flow.pc, flow.depth);
        self.place(lanes, flow.pc + u32::from(done), flow.depth);
        self.ready &= !lanes;
        for l in lanes_of(lanes) {
            self.wait[l] = Some(on);
        }
        Next::Pick
    }

    fn release(&mut self, barrier: u32, lanes: LaneMask) {
        if let Some((flow, wait)) = &mut self.together
            && flow.mask == lanes & !self.exited
            && *wait == Some(Wait::Barrier(barrier))
        {
            *wait = None;
            self.ready = flow.mask;
            return;
        }
        self.part();
        for l in lanes_of(lanes & !self.exited) {
            if self.wait[l] == Some(Wait::Barrier(barrier)) {
                self.wait[l] = None;
                self.ready |= 1 << l;
            }
        }
    }

    fn live(&self) -> LaneMask {
        !self.exited
    }

    fn standing(&self, flow: &Flow, lanes: LaneMask) -> Vec<Standing> {
        let mut all = Vec::new();
        for l in lanes_of(lanes & !self.exited) {
            let (pc, depth, wait) = if flow.mask >> l & 1 == 1 {
                (flow.pc + 1, flow.depth, None)
            } else {
                let (pc, depth, wait) = self.at(l);
                (pc, depth, wait.filter(|_| self.ready >> l & 1 == 0))
            };
            Standing::add(&mut all, Standing { lanes: 1 << l, pc, depth, wait });
        }
        all
    }

    fn waiting(&self) -> Vec<(LaneMask, u32, Wait)> {
        let mut out: Vec<(LaneMask, u32, Wait)> = Vec::new();
        for l in lanes_of(!self.exited & !self.ready) {
            let (pc, _, Some(wait)) = self.at(l) else { continue };
            let past = matches!(wait, Wait::Barrier(_) | Wait::WarpSync(_));
            let pc = pc.wrapping_sub(u32::from(past));
            match out.iter_mut().find(|o| (o.1, o.2) == (pc, wait)) {
                Some(o) => o.0 |= 1 << l,
                None => out.push((1 << l, pc, wait)),
            }
        }
        out
    }

    fn calls(&self, lane: usize) -> Vec<u32> {
        let depth = self.at(lane).1 as usize;
        self.returns.iter().take(depth).rev().map(|r| r[lane]).collect()
    }
}

mod called;
mod meet;
#[cfg(test)]
mod tests;
