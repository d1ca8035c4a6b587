//! Lanes of a warp arrive at the barrier of their cluster, and wait at it (PTX ISA 9.7.13.4; D-cluster).

use crate::base::mutant::{Mutant, on};
use crate::base::{LaneMask, Pc};
use crate::machine::control::{Control, Wait};
use crate::machine::warp::slow_path::{Did, Rare, Trouble, bug};
use crate::memory::Memory;
use crate::verdict::{Arrive, BugKind, CLUSTER, Event, Sink};

impl<C: Control, M: Memory, S: Sink> Rare<'_, '_, '_, C, M, S> {
    /// `barrier.cluster.arrive`: the lanes arrive and go on. A thread that has arrived must wait before it arrives again.
    pub(super) fn cluster_arrive(&mut self, releases: bool, aligned: bool) -> Result<Did, Trouble> {
        if let Some(did) = self.come_together(aligned)? {
            return Ok(did);
        }
        // With one program counter for the warp, nobody else of it can come while these wait.
        let lanes = if C::WAITS { self.m } else { self.control.live() };
        let again = lanes & (self.arrivals.open | self.arrivals.past);
        if again != 0 {
            return Err(bug(BugKind::ClusterBarrier { arrives: true }, again));
        }
        self.arrivals.open |= lanes;
        self.sh.barriers.arrive_at_cluster(lanes.count_ones());
        if S::ON {
            let arrive = Arrive { pc: Pc(self.flow.pc), id: CLUSTER, lanes, waits: false, releases };
            self.cx.sink.event(self.sh.who, Event::Arrive(arrive))?;
        }
        Ok(Did::Next)
    }

    /// `barrier.cluster.wait`: lanes whose phase is complete go on, the others wait for its end.
    pub(super) fn cluster_wait(&mut self, aligned: bool) -> Result<Did, Trouble> {
        if let Some(did) = self.come_together(aligned)? {
            return Ok(did);
        }
        let (past, open) = (self.m & self.arrivals.past, self.m & self.arrivals.open);
        let never = self.m & !(past | open);
        if never != 0 {
            return Err(bug(BugKind::ClusterBarrier { arrives: false }, never));
        }
        self.arrivals.past &= !past;
        if past != 0 && S::ON {
            self.cx.sink.event(self.sh.who, Event::Passed { lanes: past })?;
        }
        if open == 0 || on(Mutant::ClusterNeverWaits) {
            return Ok(Did::Next);
        }
        let next = self.control.wait(self.flow, self.m, Wait::Barrier(CLUSTER));
        if C::WAITS && past != 0 {
            self.control.release(CLUSTER, past);
        }
        Ok(Did::Control(next))
    }

    /// Of an aligned barrier: the lanes wait for the other `live` ones of their warp, or it is a defect that these are elsewhere
    /// (D-barrier-lanes). `None`: they are together, or need not be.
    pub(super) fn come_together(&mut self, aligned: bool) -> Result<Option<Did>, Trouble> {
        // With one program counter for the warp every barrier is as an aligned one (PTX ISA, below sm_70).
        let (m, live): (LaneMask, LaneMask) = (self.m, self.control.live());
        if !aligned && C::WAITS || m == live {
            return Ok(None);
        }
        self.converge(live)?;
        // Executed by the whole warp: wait for the lanes that are behind.
        Ok(C::WAITS.then(|| Did::Control(self.control.wait(self.flow, m, Wait::Warp))))
    }
}
