//! The macro step: what memory does between two steps of warps (report, 4.6 and 5.8.3).
//!
//! A macro step is a sequence of micro steps of memory operations and of silent rules. The alternatives at each point are
//! one menu ([`Site::Micro`]): ending the macro step, a silent rule, or a micro step of one of the operations that may go.
//! Which silent rule is a menu of its own ([`Site::Silent`]), made when one is wanted: a device has thousands of lines
//! that could be evicted. Departure: the macro step cannot end while no warp can be scheduled, since the next macro step
//! would only continue it. An operation that waits and was not let go on is not offered: its micro step changes nothing.

use crate::base::Aside;
use crate::choice::{MICRO_END, MICRO_SILENT, MICRO_STEPS, MICRO_WANTED, Menu, Site, one_of};
use crate::memory::{Cx, Memory, Stores, Trouble};
use crate::verdict::{Event, Look, Sink, Stop, Who};

/// What is kept between macro steps: who went last, which a deterministic schedule remembers, and space for menus.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    last: Option<u32>,
    /// Whether the last turn was used up while copies were in flight, for which warps need not wait: nobody else's operations would go on
    /// while warps spin.
    pub(super) spent: bool,
    menu: Aside<Vec<u64>>,
}

/// What is kept between steps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    pub(super) schedule: Schedule,
    pub(super) woken: Aside<Vec<Who>>,
}

/// What the device's loop tells of itself.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Whether some warp can be scheduled: then the macro step may end.
    pub can_end: bool,
    /// Whether warps keep using up their turns: somebody may be waiting for memory.
    pub spent: bool,
}

/// How a macro step went on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Went {
    /// A micro step or a silent rule.
    On,
    /// It has ended: warps step next.
    Ended,
    /// Nothing can happen.
    Stuck,
}

/// Why it did not.
#[derive(Debug)]
pub enum Halted {
    /// An operation is at fault, or an observer objected.
    Trouble(Box<Trouble>),
    /// The oracle.
    Stop(Stop),
}

impl From<Box<Trouble>> for Halted {
    fn from(trouble: Box<Trouble>) -> Self {
        Self::Trouble(trouble)
    }
}

/// Goes on with a macro step by one choice.
///
/// # Errors
/// A memory program is stuck, an observer objects, a replayed schedule does not fit.
pub fn go_on<M: Memory, S: Sink>(
    mem: &mut M,
    stores: &mut dyn Stores,
    schedule: &mut Schedule,
    now: Now,
    cx: &mut Cx<'_, S>,
) -> Result<Went, Halted> {
    let Schedule { last, menu: Aside(menu), .. } = schedule;
    let pending = mem.pending();
    let any_silent = mem.has_silent(false);
    if pending == 0 && (!now.can_end || !any_silent) {
        return Ok(if now.can_end { Went::Ended } else { Went::Stuck });
    }
    let mut head = u64::from(now.can_end) << MICRO_END;
    if any_silent {
        // A shortcut, for when nothing else can happen: looking for it at each point would cost more than it saves.
        let wanted = mem.ready().iter().all(|w| *w == 0) && mem.has_silent(true);
        head |= 1 << MICRO_SILENT | u64::from(wanted) << MICRO_WANTED;
    }
    menu.clear();
    menu.push(head);
    menu.extend_from_slice(mem.ready());
    let pressed = now.spent || pending >= CROWD;
    let count: u32 = menu.iter().map(|w| w.count_ones()).sum();
    let pick = match count {
        0 => return Ok(Went::Stuck),
        1 => Menu::of(Site::Micro, menu).nth(0),
        _ => {
            let last = Some((last.unwrap_or(MICRO_STEPS), pressed));
            cx.oracle.choose(Menu::of(Site::Micro, menu).after(last)).map_err(Halted::Stop)?.index
        }
    };
    if S::ON && pick != MICRO_END {
        cx.sink.event(Who::default(), Event::Memory).map_err(Halted::Stop)?;
    }
    match pick {
        MICRO_END => return Ok(Went::Ended),
        MICRO_SILENT | MICRO_WANTED => silent(mem, pick == MICRO_WANTED, stores, cx)?,
        step => {
            *last = Some(step);
            mem.step(step - MICRO_STEPS, stores, cx)?;
        }
    }
    if S::ON {
        let look = || mem.view();
        cx.sink.event(Who::default(), Event::Environment(Look::new(&look))).map_err(Halted::Stop)?;
    }
    Ok(Went::On)
}

/// Operations in flight beyond which the deterministic schedule finishes some although warps could go on.
const CROWD: usize = 512;

/// Fires one of the silent rules.
#[cold]
fn silent<M: Memory, S: Sink>(
    mem: &mut M,
    wanted: bool,
    stores: &mut dyn Stores,
    cx: &mut Cx<'_, S>,
) -> Result<(), Halted> {
    let pick = one_of(cx.oracle, Site::Silent, mem.silent(wanted)).map_err(Halted::Stop)?;
    mem.fire(wanted, pick, stores, cx)?;
    Ok(())
}
