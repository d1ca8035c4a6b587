//! What a step touched, and which steps commute.

use crate::machine::walk::Agent;
use crate::program::env::ProgEnv;
use crate::program::instr::Op;
use crate::verdict::{Event, Footprint, SharedBy, Who};
use std::rc::Rc;

/// What a step did to what others can see.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Touch {
    footprints: Vec<Footprint>,
    /// It did more than to access memory: it commutes with nothing.
    more: bool,
}

impl Touch {
    /// A step of which nothing is known.
    pub const fn unknown() -> Self {
        Self { footprints: Vec::new(), more: true }
    }

    /// Takes note of an event.
    pub fn event(&mut self, env: &ProgEnv, who: Who, event: &Event<'_>) {
        match event {
            Event::Access(access) => {
                let map = env.addresses();
                access.footprints(|address, bytes, kind| {
                    let space = if map.is_shared(address) {
                        SharedBy::Block { launch: who.launch, block: who.block }
                    } else {
                        SharedBy::Device
                    };
                    self.footprints.push(Footprint { space, address, bytes, kind });
                });
            }
            Event::Step(step) => {
                let op = env.code.get(step.pc.0 as usize).map(|i| i.op);
                let apart = matches!(op, Some(Op::Bar | Op::Exit | Op::Syscall(_) | Op::ReadSpecial(_)));
                self.more |= apart && step.lanes != 0;
            }
            Event::Block | Event::BlockDone | Event::Released(_) | Event::Alloc(..) => self.more = true,
            _ => {}
        }
    }

    /// Whether two steps of different warps lead to the same state in either order.
    fn commutes(&self, other: &Self) -> bool {
        let conflict = |a: &Footprint| other.footprints.iter().any(|b| a.conflicts(b));
        !self.more && !other.more && !self.footprints.iter().any(conflict)
    }
}

/// A step that need not be taken, because all that follows it was gone through from an earlier state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sleeper {
    pub agent: Agent,
    pub touch: Rc<Touch>,
}

impl Sleeper {
    /// Whether it sleeps on after a step of another agent.
    pub fn sleeps_on(&self, agent: &Agent, touch: &Touch) -> bool {
        let apart = match (self.agent, agent) {
            (Agent::Flow { block: a, warp: v, .. }, Agent::Flow { block: b, warp: w, .. }) => (a, v) != (*b, *w),
            _ => false,
        };
        apart && self.touch.commutes(touch)
    }
}
