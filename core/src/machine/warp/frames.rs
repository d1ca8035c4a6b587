//! Function activation: frames of registers and of local memory (report, 5.1.3 step 3).

use crate::base::{Frame, LaneMask, Lanes32, Lanes64, lanes_of, set_lanes};
use crate::machine::grid::loaded::{Where, frame_bytes};
use crate::machine::warp::mistakes::no_frame;
use crate::machine::warp::state::{Halt, Shared, stopped};
use crate::memory::{Cx, Fault, LocalMemory};
use crate::program::env::FuncId;
use crate::program::instr::{STACK_BASE, STACK_TOP};
use crate::program::ops::Class;
use crate::verdict::{BugKind, Enter, Event, Sink, Taker, Who};

/// Bytes that a call takes of the stack besides its frame: a return address, as on the hardware.
const LINK: u32 = 16;

/// The stack of a warp.
pub(in crate::machine) struct Stack<'a> {
    /// Registers by depth.
    pub frames: &'a mut Vec<Frame>,
    /// What fills them.
    pub filled: &'a mut Vec<Option<FuncId>>,
    /// Local memory.
    pub local: &'a mut LocalMemory,
}

/// The frames of lanes that have called functions natively: where that of the caller begins is the same in all of them.
#[derive(Clone, Copy)]
#[cfg_attr(not(all(feature = "native", target_arch = "x86_64")), allow(dead_code, reason = "native code makes it"))]
pub(in crate::machine) struct Deeper {
    /// Depth of the callers.
    pub caller: u32,
    /// Where the frame that is entered begins.
    pub base: u32,
    /// The lanes in whose frame all is there that the function is entered with.
    pub ready: LaneMask,
}

impl Stack<'_> {
    /// [`Stack::enter`], where there has been a frame of that depth before. False: there was not, or the stack would overflow; nothing
    /// was done.
    #[inline(always)]
    #[cfg_attr(not(all(feature = "native", target_arch = "x86_64")), allow(dead_code, reason = "native code calls it"))]
    pub fn enter_again(&mut self, sh: &Shared<'_>, at: Deeper, function: FuncId, lanes: LaneMask, warp: u32) -> bool {
        let (depth, Some(f)) = (at.caller as usize + 1, sh.env.function(function)) else { return false };
        let top = at.base.saturating_add(f.frame_bytes);
        let used = u64::from(top) + u64::from(LINK) * (u64::from(at.caller) + 1);
        let Some(frame) = self.frames.get_mut(depth).filter(|_| used <= u64::from(sh.loaded.stack_limit)) else {
            return false;
        };
        frame.grow(f.slots.w.max(2).into(), f.slots.q.into(), f.slots.p.into());
        set_lanes(&mut frame.w[STACK_BASE.index()].0, lanes, at.base);
        set_lanes(&mut frame.w[STACK_TOP.index()].0, lanes, top);
        self.local.reach(top.saturating_add(sh.loaded.arguments));
        if lanes & !at.ready != 0 && self.filled[depth] != Some(function) {
            let at = Where { block: sh.block, warp, sm: sh.sm };
            sh.loaded.fill(sh.env, &f.preloads, frame, lanes, at);
        }
        if self.filled[depth] != Some(function) {
            self.filled[depth] = (lanes == !0).then_some(function);
        }
        zero(&f.undefined, frame, lanes);
        true
    }

    /// Prepares the frame of a function that `lanes` enter from depth `caller`.
    ///
    /// # Errors
    /// The stack overflows; there is no memory for it.
    pub fn enter(
        &mut self,
        sh: &Shared<'_>,
        caller: u32,
        function: FuncId,
        lanes: LaneMask,
        warp: u32,
    ) -> Result<(), Fault> {
        let Some(f) = sh.env.function(function) else { return Ok(()) };
        let depth = caller as usize + 1;
        if self.frames.len() <= depth {
            // Local memory grows with them, by the frame of the function at most and what is above it.
            let local = u64::from(f.frame_bytes) + u64::from(sh.loaded.arguments);
            let bytes = frame_bytes(f) + LocalMemory::bytes_of(local);
            if let Some(limit) = sh.loaded.bounds.room(bytes, Taker::Stacks) {
                return Err(Fault::Limit(limit));
            }
            self.frames.resize_with(depth + 1, Frame::default);
            self.filled.resize(depth + 1, None);
        }
        let (below, above) = self.frames.split_at_mut(depth);
        let (Some(from), Some(frame)) = (below.last(), above.first_mut()) else { return Ok(()) };
        frame.grow(f.slots.w.max(2).into(), f.slots.q.into(), f.slots.p.into());
        let mut most = 0;
        for l in lanes_of(lanes) {
            let base = from.w[STACK_TOP.index()].0[l].saturating_add(15) & !15;
            let top = base.saturating_add(f.frame_bytes);
            frame.w[STACK_BASE.index()].0[l] = base;
            frame.w[STACK_TOP.index()].0[l] = top;
            most = most.max(top);
        }
        let used = u64::from(most) + u64::from(LINK) * (u64::from(caller) + 1);
        if used > u64::from(sh.loaded.stack_limit) {
            let limit = sh.loaded.stack_limit.into();
            return Err(Fault::Bug(BugKind::StackOverflow { bytes: used, limit }, lanes));
        }
        self.local.reach(most.saturating_add(sh.loaded.arguments));
        if self.filled[depth] != Some(function) {
            let at = Where { block: sh.block, warp, sm: sh.sm };
            sh.loaded.fill(sh.env, &f.preloads, frame, lanes, at);
            // Lanes that are elsewhere at this depth may be in another function, whose constants must survive.
            self.filled[depth] = (lanes == !0).then_some(function);
        }
        zero(&f.undefined, frame, lanes);
        Ok(())
    }
}

/// Tells the observer that lanes of a warp entered a function; `regs` is their frame.
#[inline(always)]
pub(super) fn tell_entered<S: Sink>(
    who: Who,
    regs: Option<&Frame>,
    (lanes, depth, function): (LaneMask, u32, FuncId),
    cx: &mut Cx<'_, S>,
) -> Result<(), Box<Halt>> {
    if S::ON {
        let Some(regs) = regs else { return Err(no_frame(0, lanes)) };
        let enter = Enter { lanes, depth, function: function.0, regs };
        cx.sink.event(who, Event::Enter(enter)).map_err(|s| stopped(Fault::Stop(s), lanes))?;
    }
    Ok(())
}

/// Zeroes slots that may be read before they are written (D-undefined).
pub(in crate::machine) fn zero(slots: &[(Class, crate::program::instr::Slot)], frame: &mut Frame, lanes: LaneMask) {
    for (class, slot) in slots {
        let s = slot.index();
        match class {
            Class::W if lanes == !0 => frame.w[s] = Lanes32::ZERO,
            Class::Q if lanes == !0 => frame.q[s] = Lanes64::ZERO,
            Class::W => lanes_of(lanes).for_each(|l| frame.w[s].0[l] = 0),
            Class::Q => lanes_of(lanes).for_each(|l| frame.q[s].0[l] = 0),
            Class::P => frame.p[s] &= !lanes,
        }
    }
}
