//! How a walk begins: blocks are issued and warps go on to where others can notice them, which leaves nothing to choose but
//! where an indirect branch goes first and which multiprocessor takes a block.

use super::Begun;
use super::journal::Head;
use super::walker::Walker;
use crate::choice::{Alternative, Fair, Menu, Oracle, Pick, Site};
use crate::machine::Tell;
use crate::machine::control::Explored;
use crate::memory::Environment;
use crate::verdict::{Event, Stop, Who};

/// Multiprocessors on which nothing has run are alike: of those the first is offered, and all on which something has.
struct Alike<'a> {
    inner: &'a mut dyn Oracle,
    used: Vec<u64>,
}

impl Oracle for Alike<'_> {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        if menu.site != Site::Processor {
            return self.inner.choose(menu);
        }
        self.used.resize(menu.ready.len().max(self.used.len()), 0);
        let mut ready: Vec<u64> = menu.ready.iter().zip(&self.used).map(|(offered, used)| offered & used).collect();
        let fresh = menu.ready.iter().zip(&self.used).position(|(offered, used)| offered & !used != 0);
        if let Some(k) = fresh {
            let free = menu.ready[k] & !self.used[k];
            ready[k] |= free & free.wrapping_neg();
        }
        let pick = self.inner.choose(Menu { ready: &ready, ..menu })?;
        self.used[pick.index as usize / 64] |= 1 << (pick.index % 64);
        Ok(pick)
    }
}

/// Decides by the default schedule and takes it down.
#[derive(Default)]
struct Asked {
    picks: Vec<Alternative>,
    several: bool,
}

impl Oracle for Asked {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let pick = Fair.choose(menu)?;
        self.picks.push(menu.name(pick.index));
        self.several |= menu.arity() > 1;
        Ok(pick)
    }
}

impl<C: Explored + 'static, M: Environment + 'static> Walker<C, M> {
    /// Begins, when that can be done in one way; otherwise it is a step of its own ([`Agent::Begin`](super::Agent::Begin)).
    pub(super) fn try_to_begin(&mut self) -> Result<(), Stop> {
        self.begin();
        // Where it goes back to is packed, too.
        self.take_over();
        let start = self.journal.mark();
        let (mut begun, mut asked) = (Begun::default(), Asked::default());
        let mut tell = |who: Who, event: Event<'_>| {
            if let Event::Step(step) = event {
                begun.steps.push((who, step.pc, step.active));
            }
            Ok(())
        };
        let done = self.begin_by(&mut asked, Some(&mut tell));
        if asked.several {
            self.journal.back(start);
            self.begins = true;
        } else {
            done?;
            self.begun = Begun { picks: asked.picks, ..begun };
        }
        self.journal.settle();
        Ok(())
    }

    /// The first step.
    pub(super) fn begin_by(&mut self, oracle: &mut dyn Oracle, tell: Option<Tell<'_>>) -> Result<u32, Stop> {
        self.step_with(&mut Alike { inner: oracle, used: Vec::new() }, tell, |_, _| Ok(0))
    }

    /// Whether the first step is still to come.
    pub(super) fn begins(&self) -> bool {
        self.begins && self.journal.head() == Head { launch: 0, ended: false, issued: 0, resident: 0 }
    }
}
