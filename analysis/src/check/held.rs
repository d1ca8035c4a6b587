//! An undefined value that a race may explain (D-origin).
//!
//! A thread that reads what another is about to write races with it, and what it reads is undefined. Who asks for both
//! wants to be told of the race, which has two places. But it shows only when the other thread writes. So the undefined
//! value is held back until the block that it was found in has ended, where that alone can write, or else the launch: then
//! the races are known, and either one has the read as a party or the undefined value is told.

use super::Races;
use crate::base::Pc;
use crate::verdict::{AllocKind, BugKind, Event, Origin, Place, Shape, Stop, Who};

/// What is held back of a launch.
#[derive(Default)]
pub(super) struct Held {
    /// The program and the dimensions of the launch.
    launch: Option<(u32, Shape)>,
    /// Blocks that have ended.
    ended: u64,
    found: Option<Found>,
}

/// An undefined value.
struct Found {
    stop: Stop,
    /// The instruction that read what nobody had written.
    read: Pc,
    /// The block whose end decides; otherwise that of the launch does.
    block: Option<u64>,
}

impl Held {
    /// Takes note of launches and ends of blocks; gives back what nothing explains.
    ///
    /// # Errors
    /// The undefined value, when its time has come and no race explains it.
    pub fn event(&mut self, who: Who, event: &Event<'_>, races: &Races) -> Result<(), Stop> {
        match event {
            Event::Launch { program, shape, .. } => {
                self.launch = Some((*program, *shape));
                self.ended = 0;
            }
            Event::BlockDone => {
                self.ended += 1;
                let blocks = self.launch.as_ref().map_or(0, |(_, s)| s.grid.iter().map(|n| u64::from(*n)).product());
                let over = |f: &mut Found| self.ended == blocks || f.block == Some(who.block);
                if let Some(found) = self.found.take_if(over)
                    && !found.explained(races)
                {
                    return Err(found.stop);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether something is held back.
    pub const fn any(&self) -> bool {
        self.found.is_some()
    }

    /// Holds an undefined value back when others may write what was read.
    ///
    /// # Errors
    /// It is none of these.
    pub fn hold(&mut self, who: Who, stop: Stop, races: &Races) -> Result<(), Stop> {
        let Stop::Bug(bug) = &stop else { return Err(stop) };
        let BugKind::Uninitialised { origin: Some(origin), .. } = &bug.kind else { return Err(stop) };
        let Origin::Memory { inside, read, .. } = &**origin else { return Err(stop) };
        let (read, shared) = (*read, inside.kind == AllocKind::Shared);
        if inside.kind == AllocKind::Local {
            return Err(stop);
        }
        let block = shared.then_some(who.block);
        self.found = Some(Found { stop: self.placed(who, stop, races), read, block });
        Ok(())
    }

    /// With the whole place: whoever it is told to later is somewhere else.
    fn placed(&self, who: Who, mut stop: Stop, races: &Races) -> Stop {
        if let (Stop::Bug(bug), Some((program, shape))) = (&mut stop, self.launch) {
            let Place { pc, lane, lanes, .. } = bug.place;
            let (kernel, at) = ((program, races.program().name_of(shape.entry)), (who.block, who.warp, lane));
            bug.place = Place { lanes, ..shape.place(kernel, pc, at) };
        }
        stop
    }

    /// Why a run stopped that came to `stop`: what was held back came first.
    pub fn settle(&mut self, stop: Stop, races: Option<&Races>) -> Stop {
        let raced = matches!(&stop, Stop::Bug(bug) if matches!(bug.kind, BugKind::Race(_)));
        match self.found.take() {
            Some(found) if !raced && !races.is_some_and(|r| found.explained(r)) => found.stop,
            _ => stop,
        }
    }
}

impl Found {
    /// Whether what was read races.
    fn explained(&self, races: &Races) -> bool {
        races.findings().any(|f| f.bug.place.pc == self.read || f.bug.other.as_ref().is_some_and(|o| o.pc == self.read))
    }
}
