//! The steps of the machine.

use super::statuses::Entry;

/// A step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// A wavefront services its next instruction.
    Service(u8),
    /// The pool answers a wavefront's request for a mutex.
    Answer(u8, Entry),
    /// A wavefront asks again for a mutex that it was refused.
    AskAgain(u8, Entry),
    /// A load of a wavefront returns: the request by number.
    Load(u8, u8),
    /// A store of a wavefront reaches memory: the request, and the choice among stores to the same location.
    Retire(u8, u8, u8),
    /// The head of a CPU thread's ROB asks for its mutex.
    CpuAsk(u8),
    /// The pool answers a CPU thread's request.
    CpuAnswer(u8, Entry),
    /// The head of a CPU thread's ROB commits.
    CpuCommit(u8),
    /// The oldest store of a store buffer reaches memory.
    CpuRetire(u8),
}
