//! What a step touched, and which steps commute.

use crate::base::lanes_of;
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
                let inside = |window: u64, address: u64| address.wrapping_sub(window) < map.window;
                for lane in lanes_of(access.lanes) {
                    let address = access.addresses[lane];
                    // Local memory is the thread's own.
                    if inside(map.local, address) {
                        continue;
                    }
                    let block = SharedBy::Block { launch: who.launch, block: who.block };
                    let space = if inside(map.shared, address) { block } else { SharedBy::Device };
                    self.footprints.push(Footprint { space, address, bytes: access.bytes, kind: access.kind });
                }
            }
            Event::Step(step) => {
                let op = env.code.get(step.pc.0 as usize).map(|i| i.op);
                let apart = matches!(op, Some(Op::Bar | Op::Exit | Op::Syscall(_) | Op::ReadSpecial(_)));
                self.more |= apart && step.lanes != 0;
            }
            Event::Block { .. } | Event::BlockDone | Event::Released(_) | Event::Alloc { .. } => self.more = true,
            _ => {}
        }
    }

    /// What both touched.
    pub fn and(mut self, other: Self) -> Self {
        self.footprints.extend(other.footprints);
        self.more |= other.more;
        self
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
