//! The table of kinds: what each way to stop is called, and what it means apart from any run.
//!
//! Names stand in JSON, SARIF and suppression files; a name says what is wrong, not how it was found, and never changes, since
//! people write it into their files. Descriptions are for tools that list the rules of a program (SARIF), and for
//! `docs/reports.md`. They stand here, not in `report`, so that a kind is one row (D-defect-table).

use serde::Serialize;

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

macro_rules! kinds {
    ($($variant:ident $id:literal $short:literal $full:literal $help:literal;)*) => {
        /// The name of a way to stop, without its particulars.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[expect(missing_docs, reason = "each row says what it means")]
        pub enum Kind { $(#[serde(rename = $id)] $variant,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its fixed name, e.g. `out-of-bounds`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            /// What it means.
            #[must_use]
            pub const fn describe(self) -> Description {
                match self { $(Self::$variant => Description { short: $short, full: $full, help: $help },)* }
            }
        }
    };
}

kinds! {
    OutOfBounds "out-of-bounds" "Access out of bounds"
        "A thread read or wrote an address that belongs to no buffer, variable or allocation of the state space, or to another one than it was made from (--check bounds)."
        "Compare the index with the length, and the launch's number of threads with the number of elements.";
    UseAfterFree "use-after-free" "Access to freed memory"
        "A thread read or wrote memory that device code had freed."
        "Free memory after its last use, and let one thread do it after a barrier.";
    Null "null" "Access through a null pointer"
        "A thread read or wrote an address in the first page."
        "Look for a pointer argument that is null, and for device malloc whose result is not checked.";
    Misaligned "misaligned" "Misaligned access"
        "The address of an access is no multiple of its size. Hardware traps."
        "Vector accesses need an address that is a multiple of the whole vector's size.";
    WrongSpace "wrong-space" "Access in another state space"
        "An instruction that names a state space was given an address of another one."
        "Use a generic access, or convert the address with cvta.to.";
    ReadOnly "read-only" "Write to read-only memory"
        "Device code wrote to constant memory or to kernel parameters."
        "Only the host writes constant memory and kernel parameters.";
    Uninitialised "uninitialised" "Use of a value that was never written"
        "A register or byte that was never written became an address, a branch condition or a stored result."
        "Write it on every path before it is used; hardware gives any value.";
    DivisionByZero "division-by-zero" "Integer division by zero"
        "The divisor of an integer division or remainder was 0. Hardware gives all ones and goes on."
        "Test the divisor first.";
    NotAMember "not-a-member" "A lane outside its own member mask"
        "A lane executed a .sync instruction whose member mask does not name it."
        "Compute the mask before the branch, with __ballot_sync; __activemask() tells only who happens to be there.";
    MembersInactive "members-inactive" "Named lanes are inactive"
        "The member mask of a .sync instruction names lanes that are not active there. Below sm_70 all of them must be."
        "Name the lanes that take the branch, or move the instruction out of it.";
    MembersNeverCome "members-never-come" "Named lanes never come"
        "Lanes wait at a .sync instruction for lanes that have exited or wait elsewhere."
        "Do not name lanes that return early or take another branch.";
    PartialWarp "partial-warp" "A matrix instruction without its whole warp"
        "Some lanes of a warp did not execute mma, ldmatrix or the like with the others. All 32 lanes hold a part of the matrices."
        "Launch whole warps, and move the instruction out of the divergent branch.";
    Sparsity "sparsity" "Sparsity metadata that mean nothing"
        "The metadata of mma.sp, or its selector, are none of those that the shape has. What is multiplied then is undefined."
        "Give two different indices for each chunk, the smaller one first, in the lanes that the selector names.";
    Mbarrier "mbarrier" "Misuse of a barrier in memory"
        "An mbarrier instruction was given what is no barrier, or counts that its barrier cannot have. PTX does not define what happens."
        "Initialise the barrier once, order that before its use, and let as many threads arrive in each phase as it expects.";
    BadHandle "bad-handle" "Not the texture or surface that an instruction needs"
        "A texture or surface instruction was given what is no handle, or the handle of something else, of another shape or of no texture at all."
        "Pass the object that the host made, by the parameter that the kernel reads it from, and fetch it by the function for its shape.";
    Texture "texture" "Misuse of a texture or surface"
        "A texture or surface instruction does what its texels or its sampler do not allow: integers that are read as floats or blended, linear memory at a fractional coordinate, an offset beyond -8 to 7."
        "Let the format, the read mode and the filter fit what the kernel reads.";
    MembersExited "members-exited" "Named lanes have exited"
        "The member mask of a .sync instruction names lanes that have exited (--check barriers). Hardware goes on without them."
        "Do not name lanes that return early.";
    AbsentSource "absent-source" "A shuffle reads an absent lane"
        "A lane read by shfl from a lane that took no part: it had exited, is elsewhere or is not in the mask. The value is undefined (--check barriers)."
        "Name the source lane in the mask and let it execute the shuffle, or bound the source by the number of lanes.";
    BarrierDivergence "barrier-divergence" "Barrier divergence"
        "Some lanes of a warp executed an aligned barrier without the others."
        "Move __syncthreads() out of the divergent branch.";
    BarrierExited "barrier-exited" "Threads exited before a barrier"
        "Threads that a barrier awaits had exited, or had nothing left but to exit (--check barriers). Hardware goes on without them."
        "Let all threads reach the barrier, and put the rest of the work under the condition.";
    BarrierNumber "barrier-number" "No such barrier"
        "A barrier above 15 was named."
        "A block has barriers 0 to 15.";
    BarrierCount "barrier-count" "Wrong thread count at a barrier"
        "The thread count of a barrier was 0 or no multiple of the warp size."
        "Count whole warps.";
    BarrierMismatch "barrier-mismatch" "Arrivals contradict each other"
        "Two arrivals at one barrier gave different thread counts or reductions."
        "All arrivals at one barrier must give the same count and the same operation.";
    ClusterBarrier "cluster-barrier" "Arrivals and waits that do not take turns"
        "A thread arrived twice at the barrier of its cluster without waiting in between, or waited without having arrived. PTX does not define what happens."
        "Let each barrier.cluster.arrive be followed by one barrier.cluster.wait of the same thread, on every path.";
    StackOverflow "stack-overflow" "Stack overflow"
        "A thread's calls needed more local memory than its stack has."
        "Look for recursion without an end.";
    Assertion "assertion" "Assertion failed"
        "assert() failed in device code."
        "The message has the condition.";
    Trap "trap" "Trap"
        "The kernel executed a trap."
        "__trap(), a failed check, or code that the compiler took for unreachable.";
    Breakpoint "breakpoint" "Breakpoint"
        "The kernel executed a breakpoint, and no debugger is attached."
        "Remove __brkpt().";
    BadCallTarget "bad-call-target" "Call of what is no function"
        "An indirect call went to an address that is no function's."
        "A function pointer or virtual table was never written, or was copied from the host.";
    UndefinedFunction "undefined-function" "Call of an undefined function"
        "A function was called that is declared but has no body."
        "Link the module that defines it.";
    BranchIndex "bad-branch-index" "Branch index beyond its table"
        "The index of an indirect branch is not below the number of its targets."
        "Compare the index with the length of the table before the branch.";
    Race "race" "Data race"
        "Two accesses of one location, one of them a write, that nothing orders."
        "Put a barrier between them, use atomics whose scopes include both threads, or let one thread do both.";
    LaneDecides "lane-decides" "Lanes write different values to one location"
        "Lanes of one instruction strongly write different values to one location: which one stays is open."
        "Let one lane write, or combine the values with an atomic operation.";
    Safety "safety" "The branching algorithm led a thread astray"
        "A thread did what it would not have done alone. This is an error of warpstep, not of the program."
        "Please report it, with the PTX.";
    BadFree "bad-free" "Free of what was not allocated"
        "free was given an address that device malloc did not give."
        "Only addresses from device malloc can be freed, and memory from the host cannot.";
    DoubleFree "double-free" "Double free"
        "free was given an address a second time."
        "Let one thread free, once.";
    Leak "leak" "Device memory that is never freed"
        "Blocks of the device's malloc were not freed by the end of their context."
        "Free each block once; the heap keeps it until the context ends.";
    BadFormat "bad-format" "A format that cannot be printed"
        "printf in device code was given a conversion that it does not have, or a width or string without bounds."
        "Device printf has the conversions c d i o u x X p e E f F g G a A s and %%.";
    BarrierDeadlock "barrier-deadlock" "Barrier deadlock"
        "No warp can step, and some wait at a barrier that cannot complete."
        "Every thread that the barrier counts must reach it: look for a return, a loop bound or a branch that differs between warps.";
    SimtDeadlock "simt-deadlock" "SIMT deadlock"
        "The run never ends: lanes of a warp spin on what lanes would write that wait for them to leave the loop."
        "What the waiting lanes would do must not be what the running ones wait for; or use independent thread scheduling.";
    Starvation "starvation" "Starvation between blocks"
        "The run never ends: a block spins on what a block would write that is issued only when others have ended."
        "Launch no more blocks than are resident at once, or let blocks wait only for those with lower numbers.";
    Mixed "mixed" "Some warps spin while others wait at a barrier"
        "The run never ends: who spins waits for what others would do behind a barrier that cannot complete."
        "Do it before the barrier, and let nobody await there who spins.";
    Livelock "livelock" "Livelock"
        "The run never ends: a fair scheduler can stay in a loop for ever, and nobody who is held up would end it."
        "The loop's condition must come true whatever the schedule: look for locks taken in different orders.";
    Endless "endless" "The run never ends"
        "The state of the whole device repeats; what kind of loop it is, a search was too small to tell."
        "Try fewer threads, or another control model.";
    MemoryDeadlock "memory-deadlock" "Memory operations wait for each other"
        "No warp and no memory operation can go on."
        "Look in the memory programs for a line that is reserved and never updated, or banks that are never unlocked.";
    MemoryProgram "memory-program" "No rule applies to a memory program"
        "The next statement of a memory program is undefined in this state."
        "The memory program is at fault, not the kernel: `warpstep check` looks for such statements.";
    Limit "limit" "Limit reached"
        "A budget of steps, time or memory ended first. Nothing is proved."
        "Raise the limit.";
    Unsupported "unsupported" "Not supported"
        "The program needs what warpstep cannot do yet."
        "This is a gap of warpstep, not a defect of the program.";
    Diverged "diverged" "The schedule does not fit"
        "A schedule was replayed with another program, launch or options than it was recorded with."
        "Replay it with what it was recorded with.";
    Internal "internal" "Error of warpstep"
        "Something does not hold that warpstep relies on. Nothing is said about the program."
        "Report it, with the message, the command and the files.";
}

/// What a run that never ends is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Were the inactive lanes of the warps free to go on, every fair run would leave the cycle.
    SimtDeadlock,
    /// Were all blocks issued, every fair run would leave the cycle.
    Starvation,
    /// Some warps run in the cycle, others wait at a barrier.
    Mixed,
    /// None of these.
    Livelock,
}

impl Kind {
    /// The kind of a name.
    #[must_use]
    pub fn named(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|k| k.id() == id)
    }

    /// The kind of a run that never ends: its class, where that is known.
    #[must_use]
    pub const fn of_class(class: Option<Class>) -> Self {
        match class {
            Some(Class::SimtDeadlock) => Self::SimtDeadlock,
            Some(Class::Starvation) => Self::Starvation,
            Some(Class::Mixed) => Self::Mixed,
            Some(Class::Livelock) => Self::Livelock,
            None => Self::Endless,
        }
    }

    /// Whether it is a defect of the program, which a reader may know and accept. A limit, a gap of ours, a
    /// schedule that does not fit and an error of ours are none: they say that nothing is known.
    #[must_use]
    pub const fn is_defect(self) -> bool {
        !matches!(self, Self::Limit | Self::Unsupported | Self::Diverged | Self::Internal | Self::Safety)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_found() {
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.id()), Some(*kind));
            assert!(kind.id().chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", kind.id());
        }
        assert_eq!(Kind::named("Null"), None);
    }

    #[test]
    fn every_description_is_a_sentence_of_its_own() {
        let mut seen = std::collections::BTreeSet::new();
        for kind in Kind::ALL {
            let d = kind.describe();
            assert!(seen.insert(d.short), "{}", d.short);
            assert!(!d.short.ends_with('.') && d.full.ends_with('.') && d.help.ends_with('.'), "{}", kind.id());
        }
    }
}
