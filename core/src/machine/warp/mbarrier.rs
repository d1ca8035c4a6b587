//! What PTX demands of `mbarrier` (PTX ISA 9.7.13.15): its accesses are ordinary ones, and here their results are looked at.

use crate::alu::mbarrier::{MOST, Object, perform};
use crate::base::{LaneMask, lanes_of};
use crate::machine::control::Control;
use crate::machine::warp::slow_path::{Rare, Trouble, bug};
use crate::memory::Memory;
use crate::memory::copies::explained;
use crate::program::env::AddressMap;
use crate::program::instr::BarrierCheck;
use crate::verdict::{BarrierProblem, BugKind, Sink};

impl<C: Control, M: Memory, S: Sink> Rare<'_, '_, '_, C, M, S> {
    /// A defect where a lane's operands are not what they must be; lanes with the same one are reported together.
    ///
    /// Rule: D-mbarrier
    pub fn mbarrier(&self, check: BarrierCheck) -> Result<(), Trouble> {
        let map = self.sh.env.addresses();
        let [a, b] = [self.i.a, self.i.b].map(|slot| &self.regs.q[slot.index()].0);
        let of = |lane: usize| problem(check, &map, a[lane], b[lane]);
        let Some(problem) = lanes_of(self.m).find_map(of) else { return Ok(()) };
        let lanes = lanes_of(self.m).filter(|lane| of(*lane) == Some(problem));
        Err(bug(BugKind::Barrier(problem), lanes.fold(0, |mask: LaneMask, lane| mask | 1 << lane)))
    }
}

/// What is wrong with the operands of one lane.
fn problem(check: BarrierCheck, map: &AddressMap, a: u64, b: u64) -> Option<BarrierProblem> {
    let object = Object::of(a);
    match check {
        BarrierCheck::Shared => {
            (a >= map.window).then(|| BarrierProblem::NotShared { address: a.wrapping_add(map.shared) })
        }
        // Data that were there before may look like a barrier with transactions, and are none.
        BarrierCheck::New => match object.filter(|object| object.is_idle()) {
            Some(Object { expected, pending, .. }) => Some(BarrierProblem::Again { expected, pending }),
            None => (!(1..=u64::from(MOST)).contains(&b)).then_some(BarrierProblem::Count { count: b }),
        },
        BarrierCheck::Counted => object.is_none().then_some(BarrierProblem::NoState { found: a }),
        BarrierCheck::Performed => perform(a, b).err().map(|refused| explained(refused, a, b)),
        _ if object.is_none() => Some(BarrierProblem::NoBarrier { found: a }),
        BarrierCheck::Valid => None,
        BarrierCheck::State => Object::of(b).is_none().then_some(BarrierProblem::NoState { found: b }),
        BarrierCheck::Parity => (b > 1).then_some(BarrierProblem::Parity { parity: b }),
    }
}
