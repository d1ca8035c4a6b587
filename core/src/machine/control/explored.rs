//! What a search asks of a control model: who could run, the state as bytes, and where every lane stands.

use super::{Control, Crs, Flow, Grouping, Idle, Its, Wait};
use crate::base::mutant::{Mutant, on};
use crate::base::{LANES, LaneMask, lanes_of, sort};
use crate::machine::packed::{Unpack, put};
use crate::verdict::{Token, TokenKind, Tokens};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// A live lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// Its number in the warp.
    pub lane: u32,
    /// Its next instruction; where it was when it began to wait, the instruction behind that.
    pub pc: u32,
    /// Depth of its call stack.
    pub depth: u32,
    /// What it waits for.
    pub wait: Option<Wait>,
    /// Its return addresses, outermost first.
    pub returns: Vec<u32>,
    /// The token that it waits for to be popped: its place on the stack from the bottom.
    pub token: Option<usize>,
}

/// A control model that a search can step.
pub trait Explored: Control {
    /// The groups of lanes of which [`Control::pick`] would pick one, in ascending order of their lowest lanes; or why
    /// there are none.
    ///
    /// # Errors
    /// Why nobody can run.
    fn flows(&mut self) -> Result<SmallVec<[Flow; 4]>, Idle>;

    /// The lanes that may run together of a group of [`Explored::flows`], all of which may run now: the group, or also each
    /// of its parts.
    fn choices(&self, flow: Flow) -> SmallVec<[Flow; 4]> {
        smallvec::smallvec![flow]
    }

    /// The lanes of a group that can run, when some of it `can`.
    fn able(&self, flow: Flow, can: impl Fn(Flow) -> bool) -> LaneMask {
        if can(flow) { flow.mask } else { 0 }
    }

    /// A group that [`Explored::flows`] gave, or a part of it, runs next. Gives how many instructions it may execute at most.
    fn resume(&mut self, flow: Flow) -> u32;

    /// The deepest call that any lane is in.
    fn deepest(&self) -> u32;

    /// Where each live lane stands or will go on, in ascending order.
    fn lanes(&self) -> Vec<Lane>;

    /// Where live lanes go on in their frame at a depth: at the address where they stand or will go on, or to which they
    /// return. `None`: they have no frame there. Of lanes that are left out it is not known.
    fn stands(&self, depth: u32, see: &mut dyn FnMut(Option<u32>, LaneMask));

    /// Appends the state: equal states give equal bytes.
    fn pack(&self, out: &mut Vec<u8>);

    /// Becomes the state that was packed.
    fn unpack(&mut self, from: &mut Unpack<'_>);
}

impl Explored for Crs {
    fn flows(&mut self) -> Result<SmallVec<[Flow; 4]>, Idle> {
        self.current().map(|flow| smallvec::smallvec![flow])
    }

    fn resume(&mut self, _: Flow) -> u32 {
        u32::MAX
    }

    fn deepest(&self) -> u32 {
        self.stack.iter().map(|t| t.depth).max().unwrap_or(0).max(self.flow.depth)
    }

    fn lanes(&self) -> Vec<Lane> {
        let view = Tokens { stack: &self.stack, disabled: self.disabled() };
        let wait = (self.barriers != 0).then(|| Wait::Barrier(self.barriers.trailing_zeros()));
        let returns = |lane: u32, below: &[Token]| {
            let calls = below.iter().filter(|t| t.kind == TokenKind::Call && t.mask >> lane & 1 == 1);
            calls.map(|t| t.pc).collect()
        };
        let mut all = Vec::new();
        for lane in each(self.flow.mask & !self.exited) {
            let Flow { pc, depth, .. } = self.flow;
            all.push(Lane { lane, pc, depth, wait, returns: returns(lane, &self.stack), token: None });
        }
        view.activations(self.flow.mask, |at, token, waiting| {
            for lane in each(waiting) {
                let returns = returns(lane, &self.stack[..at]);
                all.push(Lane { lane, pc: token.pc, depth: token.depth, wait: None, returns, token: Some(at) });
            }
        });
        sort::sort_by_key(&mut all, |l| l.lane);
        all
    }

    fn stands(&self, depth: u32, see: &mut dyn FnMut(Option<u32>, LaneMask)) {
        if self.deepest() > 0 {
            return by_lane(self, depth, see);
        }
        let view = Tokens { stack: &self.stack, disabled: self.disabled() };
        see(Some(self.flow.pc), self.flow.mask & !self.exited);
        let waits = |token: &Token| (!on(Mutant::DeadDeferred)).then_some(token.pc);
        view.activations(self.flow.mask, |_, token, waiting| see(waits(token), waiting));
    }

    fn pack(&self, out: &mut Vec<u8>) {
        let Flow { pc, mask, depth } = self.flow;
        let stack = u32::try_from(self.stack.len()).unwrap_or(u32::MAX);
        let flags = self.barriers | u32::from(self.corrupt) << 31;
        for value in [pc, mask, depth, self.broken, self.returned, self.exited, flags, stack] {
            put(out, value);
        }
        for token in &self.stack {
            for value in [token.kind as u32, token.mask, token.pc, token.depth] {
                put(out, value);
            }
        }
    }

    fn unpack(&mut self, from: &mut Unpack<'_>) {
        self.flow = Flow { pc: from.u32(), mask: from.u32(), depth: from.u32() };
        (self.broken, self.returned, self.exited) = (from.u32(), from.u32(), from.u32());
        let flags = from.u32();
        self.barriers = flags & !(1 << 31);
        self.corrupt = flags >> 31 != 0;
        self.stack.clear();
        for _ in 0..from.u32() {
            let kind = match from.u32() {
                0 => TokenKind::Sync,
                1 => TokenKind::Diverge,
                2 => TokenKind::Call,
                _ => TokenKind::Break,
            };
            self.stack.push(Token { kind, mask: from.u32(), pc: from.u32(), depth: from.u32() });
        }
    }
}

/// [`Explored::stands`], lane by lane.
fn by_lane(control: &Crs, depth: u32, see: &mut dyn FnMut(Option<u32>, LaneMask)) {
    for lane in control.lanes() {
        let place = match lane.depth.cmp(&depth) {
            Ordering::Less => None,
            Ordering::Equal => Some(lane.pc),
            Ordering::Greater if lane.returns.len() == lane.depth as usize => lane.returns.get(depth as usize).copied(),
            Ordering::Greater => continue,
        };
        see(place, 1 << lane.lane);
    }
}

impl Wait {
    /// What a lane waits for in two numbers: of which kind it is, and which of them; zeros for nothing.
    pub const fn packed(wait: Option<Self>) -> (u32, u32) {
        match wait {
            None => (0, 0),
            Some(Self::Members(mask)) => (1, mask),
            Some(Self::Warp) => (2, 0),
            Some(Self::WarpSync(mask)) => (3, mask),
            Some(Self::Barrier(id)) => (4, id),
        }
    }
}

/// The lanes of a mask by their numbers.
fn each(mask: LaneMask) -> impl Iterator<Item = u32> {
    lanes_of(mask).zip(std::iter::repeat(())).map(|(lane, ())| u32::try_from(lane).unwrap_or(0))
}

impl Its {
    /// Threads on their own where others stood: `lanes` go on at their addresses, all others have exited.
    #[must_use]
    pub fn of_lanes(lanes: &[Lane]) -> Self {
        let live = lanes.iter().fold(0, |m, l| m | 1 << l.lane);
        let mut new = Self::new(live, 0);
        new.grouping = Grouping::One;
        new.together = None;
        for l in lanes {
            let k = l.lane as usize % LANES;
            (new.pc[k], new.depth[k], new.wait[k]) = (l.pc, l.depth, l.wait);
            if l.wait.is_some() {
                new.ready &= !(1 << k);
            }
            for (depth, back) in (0..).zip(&l.returns) {
                new.remember(1 << k, depth, *back);
            }
        }
        new
    }
}

impl Explored for Its {
    fn flows(&mut self) -> Result<SmallVec<[Flow; 4]>, Idle> {
        self.gather()?;
        if let Some((flow, _)) = self.together {
            return Ok(smallvec::smallvec![flow]);
        }
        let mut flows: SmallVec<[Flow; 4]> = SmallVec::new();
        for l in lanes_of(self.ready) {
            let (pc, depth) = (self.pc[l], self.depth[l]);
            let with = |f: &&mut Flow| !self.alone() || f.mask & self.met != 0 && self.met >> l & 1 == 1;
            match flows.iter_mut().filter(with).find(|f| (f.pc, f.depth) == (pc, depth)) {
                Some(flow) => flow.mask |= 1 << l,
                None => flows.push(Flow { pc, mask: 1 << l, depth }),
            }
        }
        Ok(flows)
    }

    fn choices(&self, flow: Flow) -> SmallVec<[Flow; 4]> {
        if self.grouping == Grouping::Any { self.parts(flow) } else { smallvec::smallvec![flow] }
    }

    fn able(&self, flow: Flow, can: impl Fn(Flow) -> bool) -> LaneMask {
        match (self.grouping == Grouping::Any, can(flow)) {
            (_, true) => flow.mask,
            (false, false) => 0,
            (true, false) => Self::able(self, flow, can),
        }
    }

    fn resume(&mut self, flow: Flow) -> u32 {
        let met = self.alone() && flow.mask & self.met != 0;
        self.met &= !flow.mask;
        if self.together.is_some() {
            self.watch = u32::MAX;
        } else {
            self.set_watch(flow);
        }
        if met { 1 } else { u32::MAX }
    }

    fn deepest(&self) -> u32 {
        lanes_of(!self.exited).map(|l| self.at(l).1).max().unwrap_or(0)
    }

    fn lanes(&self) -> Vec<Lane> {
        let lane = |lane: u32| {
            let k = lane as usize;
            let (pc, depth, wait) = self.at(k);
            let wait = wait.filter(|_| self.ready >> lane & 1 == 0);
            let returns = self.returns.iter().take(depth as usize).map(|r| r[k]).collect();
            Lane { lane, pc, depth, wait, returns, token: None }
        };
        each(!self.exited).map(lane).collect()
    }

    fn stands(&self, depth: u32, see: &mut dyn FnMut(Option<u32>, LaneMask)) {
        let mut group = (None, 0);
        for l in lanes_of(!self.exited) {
            let (pc, deep, _) = self.at(l);
            let place = match deep.cmp(&depth) {
                Ordering::Less => None,
                Ordering::Equal => Some(pc),
                Ordering::Greater => match self.returns.get(depth as usize) {
                    Some(returns) => Some(returns[l]),
                    None => continue,
                },
            };
            if group.0 != place && group.1 != 0 {
                see(group.0, std::mem::take(&mut group.1));
            }
            group = (place, group.1 | 1 << l);
        }
        if group.1 != 0 {
            see(group.0, group.1);
        }
    }

    fn pack(&self, out: &mut Vec<u8>) {
        for value in [self.exited, self.ready & !self.exited, self.met & !self.exited] {
            put(out, value);
        }
        for l in lanes_of(!self.exited) {
            let (pc, depth, wait) = self.at(l);
            put(out, pc);
            put(out, depth);
            if self.ready >> l & 1 == 0 {
                let (kind, of) = Wait::packed(wait);
                put(out, kind);
                put(out, of);
            }
            self.returns.iter().take(depth as usize).for_each(|r| put(out, r[l]));
        }
    }

    fn unpack(&mut self, from: &mut Unpack<'_>) {
        (self.exited, self.ready, self.met) = (from.u32(), from.u32(), from.u32());
        self.together = None;
        for l in lanes_of(!self.exited) {
            (self.pc[l], self.depth[l], self.wait[l]) = (from.u32(), from.u32(), None);
            if self.ready >> l & 1 == 0 {
                let (kind, of) = (from.u32(), from.u32());
                self.wait[l] = match kind {
                    1 => Some(Wait::Members(of)),
                    2 => Some(Wait::Warp),
                    3 => Some(Wait::WarpSync(of)),
                    4 => Some(Wait::Barrier(of)),
                    _ => None,
                };
            }
            for depth in 0..self.depth[l] {
                let back = from.u32();
                self.remember(1 << l, depth, back);
            }
        }
    }
}
