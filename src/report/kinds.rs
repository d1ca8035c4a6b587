//! What each kind of defect means and what to do about it, apart from any run: for tools that list the rules of a program
//! (SARIF), and for `docs/reports.md`.

use crate::verdict::Kind;

/// A kind in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// A line without a full stop.
    pub short: &'static str,
    /// What happened when it is reported.
    pub full: &'static str,
    /// What to look for.
    pub help: &'static str,
}

/// The description of a kind.
#[must_use]
#[expect(clippy::too_many_lines, reason = "a table: one row a kind")]
pub const fn describe(kind: Kind) -> Description {
    let (short, full, help) = match kind {
        Kind::OutOfBounds => (
            "Access out of bounds",
            "A thread read or wrote an address that belongs to no buffer, variable or allocation of the state space, or to another one than it was made from (--check bounds).",
            "Compare the index with the length, and the launch's number of threads with the number of elements.",
        ),
        Kind::UseAfterFree => (
            "Access to freed memory",
            "A thread read or wrote memory that device code had freed.",
            "Free memory after its last use, and let one thread do it after a barrier.",
        ),
        Kind::Null => (
            "Access through a null pointer",
            "A thread read or wrote an address in the first page.",
            "Look for a pointer argument that is null, and for device malloc whose result is not checked.",
        ),
        Kind::Misaligned => (
            "Misaligned access",
            "The address of an access is no multiple of its size. Hardware traps.",
            "Vector accesses need an address that is a multiple of the whole vector's size.",
        ),
        Kind::WrongSpace => (
            "Access in another state space",
            "An instruction that names a state space was given an address of another one.",
            "Use a generic access, or convert the address with cvta.to.",
        ),
        Kind::ReadOnly => (
            "Write to read-only memory",
            "Device code wrote to constant memory or to kernel parameters.",
            "Only the host writes constant memory and kernel parameters.",
        ),
        Kind::Uninitialised => (
            "Use of a value that was never written",
            "A register or byte that was never written became an address, a branch condition or a stored result.",
            "Write it on every path before it is used; hardware gives any value.",
        ),
        Kind::DivisionByZero => (
            "Integer division by zero",
            "The divisor of an integer division or remainder was 0. Hardware gives all ones and goes on.",
            "Test the divisor first.",
        ),
        Kind::NotAMember => (
            "A lane outside its own member mask",
            "A lane executed a .sync instruction whose member mask does not name it.",
            "Compute the mask before the branch, with __ballot_sync; __activemask() tells only who happens to be there.",
        ),
        Kind::MembersInactive => (
            "Named lanes are inactive",
            "The member mask of a .sync instruction names lanes that are not active there. Below sm_70 all of them must be.",
            "Name the lanes that take the branch, or move the instruction out of it.",
        ),
        Kind::MasksDiffer => (
            "Different member masks",
            "Lanes gave different member masks to one .sync instruction.",
            "Every named lane must give the same mask.",
        ),
        Kind::MembersNeverCome => (
            "Named lanes never come",
            "Lanes wait at a .sync instruction for lanes that have exited or wait elsewhere.",
            "Do not name lanes that return early or take another branch.",
        ),
        Kind::BarrierDivergence => (
            "Barrier divergence",
            "Some lanes of a warp executed an aligned barrier without the others.",
            "Move __syncthreads() out of the divergent branch.",
        ),
        Kind::BarrierExited => (
            "Threads exited before a barrier",
            "Threads that a barrier awaits had exited, or had nothing left but to exit (--check barriers). Hardware goes on without them.",
            "Let all threads reach the barrier, and put the rest of the work under the condition.",
        ),
        Kind::MembersExited => (
            "Named lanes have exited",
            "The member mask of a .sync instruction names lanes that have exited (--check barriers). Hardware goes on without them.",
            "Do not name lanes that return early.",
        ),
        Kind::AbsentSource => (
            "A shuffle reads an absent lane",
            "A lane read by shfl from a lane that took no part: it had exited, is elsewhere or is not in the mask. The value is undefined (--check barriers).",
            "Name the source lane in the mask and let it execute the shuffle, or bound the source by the number of lanes.",
        ),
        Kind::BarrierNumber => ("No such barrier", "A barrier above 15 was named.", "A block has barriers 0 to 15."),
        Kind::BarrierCount => (
            "Wrong thread count at a barrier",
            "The thread count of a barrier was 0 or no multiple of the warp size.",
            "Count whole warps.",
        ),
        Kind::BarrierMismatch => (
            "Arrivals contradict each other",
            "Two arrivals at one barrier gave different thread counts or reductions.",
            "All arrivals at one barrier must give the same count and the same operation.",
        ),
        Kind::StackOverflow => (
            "Stack overflow",
            "A thread's calls needed more local memory than its stack has.",
            "Look for recursion without an end.",
        ),
        Kind::Assertion => ("Assertion failed", "assert() failed in device code.", "The message has the condition."),
        Kind::Trap => (
            "Trap",
            "The kernel executed a trap.",
            "__trap(), a failed check, or code that the compiler took for unreachable.",
        ),
        Kind::Breakpoint => {
            ("Breakpoint", "The kernel executed a breakpoint, and no debugger is attached.", "Remove __brkpt().")
        }
        Kind::BadCallTarget => (
            "Call of what is no function",
            "An indirect call went to an address that is no function's.",
            "A function pointer or virtual table was never written, or was copied from the host.",
        ),
        Kind::UndefinedFunction => (
            "Call of an undefined function",
            "A function was called that is declared but has no body.",
            "Link the module that defines it.",
        ),
        Kind::BranchIndex => (
            "Branch index beyond its table",
            "The index of an indirect branch is not below the number of its targets.",
            "Compare the index with the length of the table before the branch.",
        ),
        Kind::Race => (
            "Data race",
            "Two accesses of one location, one of them a write, that nothing orders.",
            "Put a barrier between them, use atomics whose scopes include both threads, or let one thread do both.",
        ),
        Kind::LaneDecides => (
            "Lanes write different values to one location",
            "Lanes of one instruction strongly write different values to one location: which one stays is open.",
            "Let one lane write, or combine the values with an atomic operation.",
        ),
        Kind::Safety => (
            "The branching algorithm led a thread astray",
            "A thread did what it would not have done alone. This is an error of warpstep, not of the program.",
            "Please report it, with the PTX.",
        ),
        Kind::BadFree => (
            "Free of what was not allocated",
            "free was given an address that device malloc did not give.",
            "Only addresses from device malloc can be freed, and memory from the host cannot.",
        ),
        Kind::DoubleFree => ("Double free", "free was given an address a second time.", "Let one thread free, once."),
        Kind::Leak => (
            "Device memory that is never freed",
            "Blocks of the device's malloc were not freed by the end of their context.",
            "Free each block once; the heap keeps it until the context ends.",
        ),
        Kind::BadFormat => (
            "A format that cannot be printed",
            "printf in device code was given a conversion that it does not have, or a width or string without bounds.",
            "Device printf has the conversions c d i o u x X p e E f F g G a A s and %%.",
        ),
        Kind::BarrierDeadlock => (
            "Barrier deadlock",
            "No warp can step, and some wait at a barrier that cannot complete.",
            "Every thread that the barrier counts must reach it: look for a return, a loop bound or a branch that differs between warps.",
        ),
        Kind::SimtDeadlock => (
            "SIMT deadlock",
            "The run never ends: lanes of a warp spin on what lanes would write that wait for them to leave the loop.",
            "What the waiting lanes would do must not be what the running ones wait for; or use independent thread scheduling.",
        ),
        Kind::Starvation => (
            "Starvation between blocks",
            "The run never ends: a block spins on what a block would write that is issued only when others have ended.",
            "Launch no more blocks than are resident at once, or let blocks wait only for those with lower numbers.",
        ),
        Kind::Mixed => (
            "Some warps spin while others wait at a barrier",
            "The run never ends: who spins waits for what others would do behind a barrier that cannot complete.",
            "Do it before the barrier, and let nobody await there who spins.",
        ),
        Kind::Livelock => (
            "Livelock",
            "The run never ends: a fair scheduler can stay in a loop for ever, and nobody who is held up would end it.",
            "The loop's condition must come true whatever the schedule: look for locks taken in different orders.",
        ),
        Kind::Endless => (
            "The run never ends",
            "The state of the whole device repeats; what kind of loop it is, a search was too small to tell.",
            "Try fewer threads, or another control model.",
        ),
        Kind::MemoryDeadlock => (
            "Memory operations wait for each other",
            "No warp and no memory operation can go on.",
            "Look in the memory programs for a line that is reserved and never updated, or banks that are never unlocked.",
        ),
        Kind::MemoryProgram => (
            "No rule applies to a memory program",
            "The next statement of a memory program is undefined in this state.",
            "The memory program is at fault, not the kernel: `warpstep check` looks for such statements.",
        ),
        Kind::Limit => {
            ("Limit reached", "A budget of steps, time or memory ended first. Nothing is proved.", "Raise the limit.")
        }
        Kind::Unsupported => (
            "Not supported",
            "The program needs what warpstep cannot do yet.",
            "This is a gap of warpstep, not a defect of the program.",
        ),
        Kind::Diverged => (
            "The schedule does not fit",
            "A schedule was replayed with another program, launch or options than it was recorded with.",
            "Replay it with what it was recorded with.",
        ),
        Kind::Internal => (
            "Error of warpstep",
            "Something does not hold that warpstep relies on. Nothing is said about the program.",
            "Report it, with the message, the command and the files.",
        ),
    };
    Description { short, full, help }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_is_a_sentence_of_its_own() {
        let mut seen = std::collections::BTreeSet::new();
        for kind in Kind::ALL {
            let d = describe(*kind);
            assert!(seen.insert(d.short), "{}", d.short);
            assert!(!d.short.ends_with('.') && d.full.ends_with('.') && d.help.ends_with('.'), "{}", kind.id());
        }
    }
}
