//! Lanes of independent threads that have parted (D-its): of a warp's groups the one that is behind the others runs, up to where
//! the next one is, and goes on together with it. While nobody else decides who runs, native code does so by itself; what the control
//! model has to know of that, it is told when native code is left.

use super::apart::Apart;
use super::context::RUNS;
use super::plan::Plan;
use crate::base::LaneMask;
use crate::choice::Fair;
use crate::machine::control::{Control, Flow, Waiting};
use crate::machine::warp::state::Warp;

impl Apart {
    /// Gets ready for the lanes of a flow, which may execute `most` instructions and have executed some that their model was not told
    /// of; `asked`: whether somebody else decides who runs. Gives how many they may natively; `None`: others are left to the machine.
    pub fn begin<C: Control>(
        &mut self,
        plan: &Plan,
        warp: &mut Warp<C>,
        flow: Flow,
        (most, untold): (u32, u32),
        asked: bool,
    ) -> Option<u32> {
        (self.all.mask, self.all.places, self.all.count) = (flow.mask, 0, 0);
        let patience = if asked || plan.waits.is_empty() { None } else { self.take_in(plan, warp, flow) };
        let given = patience.and_then(|patience| patience.checked_sub(untold)).filter(|left| *left > 0);
        let given = given.map(|left| left.min(most));
        self.alone = self.all.places == 0;
        if given.is_none() {
            self.put_back(plan, warp);
            // Where no run can be noted, native code leaves when lanes part.
            self.all.count = RUNS as u32;
        }
        given
    }

    /// Takes over those who wait; gives how many instructions there may be until others come first than those who are behind. `None`:
    /// it is not so simple.
    fn take_in<C: Control>(&mut self, plan: &Plan, warp: &mut Warp<C>, flow: Flow) -> Option<u32> {
        let (others, most) = warp.control.aside(flow)?;
        let start = plan.function.start.0;
        let place = |pc: u32| plan.waits.get(pc.wrapping_sub(start) as usize).copied().flatten();
        if others.iter().any(|(_, pc)| place(*pc).is_none()) {
            return None;
        }
        let Warp { frames, lines, .. } = warp;
        let frame = frames.first_mut()?;
        for (mask, pc) in others {
            let n = usize::from(place(pc)?);
            let numbers = self.kept.get_mut(n * self.scalars..)?.get_mut(..self.scalars)?;
            if !lines.0.aside(plan, pc - start, mask, frame, numbers) {
                return None;
            }
            self.all.places |= 1 << n;
            self.all.waiting[n] = mask;
        }
        Some(most)
    }

    /// Those who wait go on by way of the machine; gives them with their addresses.
    fn put_back<C>(&mut self, plan: &Plan, warp: &mut Warp<C>) -> Waiting {
        let mut all = Waiting::new();
        let mut rest = std::mem::take(&mut self.all.places);
        while rest != 0 {
            let n = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let mask = std::mem::take(&mut self.all.waiting[n]);
            let (Some(k), Some(numbers)) = (plan.meets.get(n), self.kept.get(n * self.scalars..)) else { continue };
            warp.lines.0.wait(*k, mask, numbers.get(..self.scalars).unwrap_or_default());
            all.push((mask, plan.function.start.0 + k));
        }
        all
    }

    /// Native code was left, which went on with `given` fuel as [`Apart::begin`] said, after so many instructions of a turn, of which
    /// some were told: the control model is told of the others who waits where and who ran. The flow is that of those who run, which
    /// are given with how many instructions are told by now, and with how many more they may execute before it is looked who runs.
    /// `None`: nobody waits or has waited.
    pub fn end<C: Control>(
        &mut self,
        plan: &Plan,
        warp: &mut Warp<C>,
        flow: &mut Flow,
        (given, left): (u32, u32),
        (before, told): (u32, u32),
    ) -> Option<(u32, u32)> {
        let others = self.put_back(plan, warp);
        let count = (self.all.count as usize).min(RUNS);
        if self.alone && count == 0 {
            return None;
        }
        flow.mask = self.all.mask;
        let Booked { runs, now, lease } = self.book(flow.mask, (given, left), (before, told));
        if runs > 0 {
            warp.control.regrouped(*flow, &others, &self.all.runs[..runs], now - told);
        }
        // Nobody waits any more: who runs is not looked at again.
        let lease = if others.is_empty() { u32::MAX } else { lease };
        Some((now, lease))
    }

    /// Of lanes that run when native code is left, as of [`Apart::end`]: what the control model is told of them.
    pub fn book(&mut self, mask: LaneMask, (given, left): (u32, u32), (before, told): (u32, u32)) -> Booked {
        let count = (self.all.count as usize).min(RUNS);
        let began = if count == 0 { told } else { before + given - (self.all.since >> 32) as u32 };
        // Who runs while others wait is looked at again and again, though the same go on.
        let (own, lease) = (before + given - left - began, Fair::GROUP.get());
        let whole = own.saturating_sub(1) / lease * lease;
        if whole > 0 {
            self.all.runs[count] = mask;
        }
        Booked { runs: count + usize::from(whole > 0), now: began + whole, lease: lease - (own - whole) }
    }
}

/// What the control model is told of those who have run.
#[derive(Clone, Copy)]
pub(super) struct Booked {
    /// How many runs there were.
    pub runs: usize,
    /// Instructions of the turn that it is told of by now.
    pub now: u32,
    /// How many more there may be before it is looked who runs.
    pub lease: u32,
}
