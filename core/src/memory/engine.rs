//! What every memory engine answers.

use super::copies::Copy;
use super::flat::Arena;
use super::{
    Acted, Active, Cx, Held, Issuer, LocalMemory, Movable, OperationName, Plain32, Snapshot, Stores, Taken, Uses,
};
use crate::base::{Frame, LaneMask, number};
use crate::program::instr::{Order, Scope, WarpRequest};
use crate::verdict::{MemoryView, Sink, Who};
use pulp::Simd;

/// The memory environment.
///
/// An engine that is not immediate completes what it took in by its actions: micro steps of memory programs and silent
/// rules (report, 4.6). Those are numbered; the numbers that may be used now are the set bits of [`Memory::ready`], and
/// they are stable while their operation lives.
///
/// Bodies are those of memory that completes every request in [`Memory::issue`] and has no caches, where nothing waits. What
/// an engine holds besides, it says by [`Snapshot`], which has no bodies: one that forgot some would make a search take
/// different states for one.
pub trait Memory: Snapshot {
    /// Whether every request completes in `issue`: then nothing is in flight, and asking compiles out.
    const IMMEDIATE: bool;

    /// Whether machine code may access its bytes as they are: every access takes effect at once, lanes in ascending order, and
    /// nothing else happens.
    const NATIVE: bool = false;

    /// Whether multiprocessors have memory of their own: then it matters which of them takes a block.
    fn has_caches(&self) -> bool {
        false
    }

    /// Whether what an instruction writes to registers is an operation as well (report, listing 4.6): then
    /// [`Memory::wrote`] takes it over.
    fn takes_registers(&self) -> bool {
        false
    }

    /// The blocks of global and constant memory and their bytes, as the host sees them after [`Memory::write_back`].
    fn arena(&self) -> &Arena;

    /// The same, to be changed by the host.
    fn arena_mut(&mut self) -> &mut Arena;

    /// Carries out, or takes in, a request of a warp.
    ///
    /// # Errors
    /// The program accessed memory it must not access.
    fn issue<S: Sink>(&mut self, on: Active<'_, '_>, request: &WarpRequest, cx: &mut Cx<'_, S>) -> Taken;

    /// A plain 32-bit load or store of global or shared memory: address in 64-bit slot `a`, plus `offset`, to or from 32-bit
    /// slot `d`. Runs on vector units where it pays.
    ///
    /// # Errors
    /// As [`Memory::issue`].
    fn plain32<V: Simd, S: Sink>(&mut self, _: V, on: Active<'_, '_>, site: Plain32, cx: &mut Cx<'_, S>) -> Taken {
        self.issue(on, &site.request(), cx)
    }

    /// The number that lies at an address of global memory where all multiprocessors see it, least significant byte first; at
    /// most 8 bytes.
    fn number(&self, address: u64, bytes: u32) -> Option<u64> {
        self.arena().bytes_at(address, bytes.into()).filter(|_| bytes <= 8).map(number)
    }

    /// Whether copies can be in flight here.
    fn has_copies(&self) -> bool {
        false
    }

    /// Whether what is in flight may yet read registers that it was issued with (D-live).
    fn reads_registers_late(&self) -> bool {
        !Self::IMMEDIATE
    }

    /// Whether accesses of shared memory have names by which an observer is told later whose writes they find.
    fn names_shared(&self) -> bool {
        false
    }

    /// Asynchronous copies begin (D-async).
    fn begin(&mut self, _: Copy) {}

    /// What lanes of a warp have begun to copy, in bulk or not, becomes a group of each.
    fn commit(&mut self, _: Who, _: LaneMask, _: bool) {}

    /// The lanes of `lanes` that may not execute an instruction yet, because a register it names is blocked, a fence is
    /// pending or the instruction waits for earlier operations (D-ready).
    fn blocked(&self, _: Issuer, _: &Uses, _: LaneMask) -> LaneMask {
        0
    }

    /// An instruction wrote registers (report, listing 4.6; [`Memory::takes_registers`]): takes the new values over, puts the
    /// old ones back and blocks the registers until a memory program releases them.
    ///
    /// # Errors
    /// As [`Memory::issue`].
    fn wrote<S: Sink>(&mut self, _: Issuer, _: LaneMask, _: &Held, _: &mut Frame, _: &mut Cx<'_, S>) -> Taken {
        Ok(())
    }

    /// `membar` and `fence`: pending for the lanes until the condition of D-membar holds.
    ///
    /// # Errors
    /// As [`Memory::issue`].
    fn fence<S: Sink>(&mut self, _: Issuer, _: LaneMask, _: Scope, _: Order, _: &mut Cx<'_, S>) -> Taken {
        Ok(())
    }

    /// The operations that may make a micro step now, as a bitset over their numbers.
    fn ready(&self) -> &[u64] {
        &[]
    }

    /// How many operations have not ended.
    fn pending(&self) -> usize {
        0
    }

    /// Whether operations wait for what other warps do, and accesses find what others have done since they were told
    /// ([`Event::Launch`](crate::verdict::Event::Launch)).
    fn waits_for_others(&self) -> bool {
        self.has_caches()
    }

    /// Whether accesses of shared memory take effect when they are issued, though others do not: others of the block notice when.
    fn shared_at_once(&self) -> bool {
        false
    }

    /// Whether it makes a difference to others when a warp executes its next memory instruction, apart from the steps that follow.
    fn issue_shows(&self, _: Who) -> bool {
        false
    }

    /// The operations of a warp that may make a micro step which is more than to wait, by their names in ascending order: for
    /// a search, to which states are equal that differ in numbers, or in who has tried in vain.
    fn movable(&self, _: Who, _: &mut Vec<Movable>) {}

    /// The number of an operation of a launch.
    fn operation(&self, _: u32, _: OperationName) -> Option<u32> {
        None
    }

    /// Makes a micro step of an operation, by its number (report, 4.6, rules (step) and (end)).
    ///
    /// # Errors
    /// The operation's memory program is stuck, or an observer stopped the run.
    fn step<S: Sink>(&mut self, _: u32, _: &mut dyn Stores, _: &mut Cx<'_, S>) -> Acted {
        Ok(())
    }

    /// The warps for which a register was written or released, or whose operation ended, since the last call.
    fn woken(&mut self, _: &mut Vec<Who>) {}

    /// How many warps of a launch, or of one of its blocks, have operations that have not ended.
    fn in_flight(&self, _: u32, _: Option<u64>) -> usize {
        0
    }

    /// The environment as it is, for people.
    fn view(&self) -> MemoryView {
        MemoryView::default()
    }

    /// Whether some silent rule may fire; `wanted`: one that an operation waits for.
    fn has_silent(&self, wanted: bool) -> bool {
        self.silent(wanted) > 0
    }

    /// How many silent rules may fire; `_wanted`: of those that an operation waits for.
    fn silent(&self, _wanted: bool) -> usize {
        0
    }

    /// Fires one of them, by its place in a fixed order.
    ///
    /// # Errors
    /// An observer stopped the run.
    fn fire<S: Sink>(&mut self, _wanted: bool, _: usize, _: &mut dyn Stores, _: &mut Cx<'_, S>) -> Acted {
        Ok(())
    }

    /// A block has completed and its operations have ended: its local memory is gone.
    fn retire(&mut self, _launch: u32, _block: u64) {}

    /// Writes back what caches hold dirty, as the silent rules may at any time: the host, or the device runtime, is about
    /// to look at memory.
    fn write_back(&mut self, _: &mut dyn Stores) {}

    /// The device runtime is about to look at memory for an instruction: memory and the warp's local memory hold what caches
    /// do.
    fn runtime_begins(&mut self, _: Issuer, _: &mut LocalMemory) {}

    /// The device runtime may have written the warp's local memory.
    fn runtime_ends(&mut self, _: Issuer, _: &mut LocalMemory) {}

    /// No operation is in flight, and a launch that depends on the earlier ones begins or the host goes on (D-flush): caches
    /// are written back and emptied.
    fn flush(&mut self, _: &mut dyn Stores) {}
}
