//! What each defect is called in words: message, what is at the place, advice.

use super::diagnostic::Diagnostic;
use super::words::{counted, lanes, place_in, plural, word, words};
use crate::base::LaneMask;
use crate::verdict::{
    AllocKind, BugKind as K, FormatProblem, Kind, LeakSite, Nearest, Origin, Relation, UninitUse, Writers,
};

pub(super) fn access(space: &str, write: bool, bytes: u32, address: u64) -> String {
    let what = if write { "write" } else { "read" };
    let space = if space.is_empty() { String::new() } else { format!("{space} ") };
    format!("{space}{what} of {} at {address:#x}", counted(bytes.into(), "byte"))
}

/// A block of memory, e.g. "buffer `in` (1024 bytes)".
fn block(name: &str, kind: AllocKind, bytes: u64) -> String {
    let what = match kind {
        AllocKind::Shared if !name.is_empty() => "shared variable",
        AllocKind::Local if !name.is_empty() => "local variable",
        AllocKind::Param if !name.is_empty() => "parameter",
        AllocKind::Buffer => "buffer",
        AllocKind::Global => ".global variable",
        AllocKind::Const => ".const variable",
        AllocKind::Heap => "device allocation",
        AllocKind::Shared => "shared memory",
        AllocKind::Local => "local memory",
        AllocKind::Param => "kernel parameters",
    };
    let name = if name.is_empty() { String::new() } else { format!(" `{name}`") };
    format!("{what}{name} of {}", counted(bytes, "byte"))
}

/// Where an address lies, e.g. "64 bytes after the end of buffer `in` of 1024 bytes".
fn nearest(n: &Nearest) -> String {
    let what = block(&n.name, n.kind, n.bytes);
    let freed = if n.freed { "freed " } else { "" };
    match n.relation {
        Relation::Before(d) => format!("{} before the start of {freed}{what}", counted(d, "byte")),
        Relation::After(0) => format!("just after the end of {freed}{what}"),
        Relation::After(d) => format!("{} after the end of {freed}{what}", counted(d, "byte")),
        Relation::Inside(d) => format!("it begins at offset {d} of {freed}{what} and ends beyond it"),
    }
}

pub(super) fn bug(kind: &K) -> Diagnostic {
    match kind {
        K::OutOfBounds { .. }
        | K::OutsideObject { .. }
        | K::UseAfterFree { .. }
        | K::Null { .. }
        | K::Misaligned { .. }
        | K::WrongSpace { .. }
        | K::WriteToReadOnly { .. } => accessed(kind),
        K::Uninitialised { what, register, address, origin } => {
            uninitialised(*what, register.as_deref(), *address, origin.as_deref())
        }
        K::NotAMember { .. } | K::MembersInactive { .. } | K::MembersNeverCome { .. } => members(kind),
        K::Image(problem) => super::image::words_of(problem),
        K::Barrier(problem) => super::mbarrier::words_of(*problem),
        K::PartialWarp { missing, gone } => partial_warp(*missing, *gone),
        K::BulkBlocks { blocks } => {
            words(format!("a bulk copy to the blocks {blocks:#06x} of a cluster of one block"), "this set of blocks")
                .hint("the set is 1 where the cluster has one block, as all clusters have here")
        }
        K::BulkSize { bytes } => {
            words(format!("a bulk copy of {bytes} bytes: the size must be a multiple of 16"), "this size")
                .hint("copy the bytes that are left over with ordinary loads and stores")
        }
        K::SparsityMetadata { .. } | K::SparsitySelector { .. } => sparsity(kind),
        K::BarrierDivergence { .. } | K::BarrierExited { .. } | K::MembersExited { .. } | K::AbsentSource { .. } => {
            super::elsewhere::words_of(kind)
        }
        K::BarrierNumber { id } => words(format!("barrier {id} does not exist"), "barriers are numbered 0 to 15"),
        K::BarrierCount { count } => words(
            format!(
                "{} at a barrier: the count must be a multiple of the warp size above 0",
                counted((*count).into(), "thread")
            ),
            "this count",
        ),
        K::BarrierMismatch { id, first, second } => {
            words(format!("arrivals at barrier {id} contradict each other: {first} and {second}"), second.clone())
                .hint("all arrivals at one barrier must give the same thread count, and reductions the same operation")
        }
        K::ClusterBarrier { arrives } => super::words::cluster(*arrives),
        K::StackOverflow { bytes, limit } => words(
            format!(
                "stack overflow: {} of local memory, {limit} {} allowed",
                counted(*bytes, "byte"),
                plural(*limit, "is")
            ),
            "this call needs more",
        )
        .hint("recursion without an end, or deeper than a thread's stack"),
        K::Assertion { message, file, line, function } => {
            words(format!("assertion `{message}` failed at {file}:{line} in {function}"), "called here")
        }
        K::Plain(kind) => plain(*kind),
        K::BadCallTarget { address } => {
            words(format!("call of {address:#x}, which is no function"), "this register holds no function's address")
                .hint("a function pointer or virtual table was never written, or was copied from the host")
        }
        K::Undefined { function } => words(format!("`{function}` is declared but has no body"), "called here")
            .hint("name the module that defines it too: ptx = [\"a.ptx\", \"b.ptx\"]"),
        K::BadBranchIndex { index, targets } => {
            words(format!("branch index {index} of a table of {targets}"), "the index is beyond the table")
        }
        K::Unsafe(violation) => {
            let (message, label) = super::safety::words(violation);
            words(message, label)
                .hint("this is an error of warpstep (injection or machine), not of the program: please report it")
        }
        K::Race(race) => super::race_words::words(race),
        K::LaneDecides { address, bytes, inside, first, second } => {
            super::race_words::lane_decides((*address, *bytes), inside.as_ref(), *first, *second)
        }
        K::BadFree { address, twice: true, .. } => {
            words(format!("{address:#x} is freed a second time"), "it was freed before")
        }
        K::BadFree { address, twice: false, .. } => words(
            format!("free of {address:#x}, which malloc did not give"),
            "only addresses from device malloc can be freed",
        ),
        K::Leak { blocks, bytes, sites } => leak(*blocks, *bytes, sites),
        K::BadFormat { problem } => bad_format(problem),
    }
}

/// The words for a member mask that is wrong.
fn members(kind: &K) -> Diagnostic {
    match kind {
        K::NotAMember { mask } => words(
            format!("a lane executes a .sync instruction whose member mask {mask:#010x} does not name it"),
            "the mask does not name every lane that comes here",
        )
        .hint("compute the mask before the branch (__ballot_sync) or use __activemask() only where all lanes meet"),
        K::MembersInactive { mask, active } => words(
            format!("the member mask {mask:#010x} names lanes that are not active here ({})", lanes(mask & !active)),
            format!("active: {}", lanes(*active)),
        )
        .hint("below sm_70 all named lanes must execute the same instruction together"),
        K::MembersNeverCome { mask, waiting } => words(
            format!("{} wait for {}, which can no longer come", lanes(*waiting), lanes(mask & !waiting)),
            format!("the member mask is {mask:#010x}"),
        )
        .hint("lanes that have exited or wait elsewhere must not be named"),
        _ => words("", ""),
    }
}

/// The words for a sparse matrix whose elements have no places.
fn sparsity(kind: &K) -> Diagnostic {
    match kind {
        K::SparsityMetadata { metadata, bit, indices, ordered } => words(
            format!("sparsity metadata {metadata:#010x} mean nothing: bits {bit} to {} are {indices:#06b}", bit + 3),
            "the metadata are used here",
        )
        .hint(if *ordered {
            "each chunk of a row has two indices of two bits, the smaller one lowest; of tf32 0b0100 or 0b1110"
        } else {
            "each chunk of a row has two different indices of two bits; of tf32 0b0100 or 0b1110"
        }),
        K::SparsitySelector { selector, selectors: 1 } => {
            words(format!("there is no sparsity selector {selector}"), "for this shape it is 0")
        }
        K::SparsitySelector { selector, selectors } => words(
            format!("there is no sparsity selector {selector}"),
            format!("for this shape it is 0 to {}", selectors - 1),
        ),
        _ => words("", ""),
    }
}

/// The words for a matrix instruction that some lanes do not execute.
fn partial_warp(missing: LaneMask, gone: LaneMask) -> Diagnostic {
    let label = match (gone, missing & !gone) {
        (0, elsewhere) => format!("{} are elsewhere", lanes(elsewhere)),
        (gone, 0) => format!("{} have exited, or the block has no such threads", lanes(gone)),
        (gone, elsewhere) => format!("{} are elsewhere, {} have exited", lanes(elsewhere), lanes(gone)),
    };
    words(format!("a matrix instruction is executed without the whole warp: {} are missing", lanes(missing)), label)
        .hint("all 32 lanes hold a part of the matrices: launch whole warps, and keep the instruction out of divergent branches")
}

/// The words for an access that is wrong.
fn accessed(kind: &K) -> Diagnostic {
    match kind {
        K::OutOfBounds { address, bytes, write, space, nearest: near } => {
            let message = format!("invalid {}", access(space, *write, *bytes, *address));
            let label = near.as_ref().map_or_else(|| "no memory is there".to_owned(), nearest);
            let w = words(message, label);
            match near {
                Some(n) if matches!(n.relation, Relation::After(_) | Relation::Inside(_)) => w.hint(
                    "compare the index with the length, and the launch's number of threads with the number of elements",
                ),
                _ => w.hint("check how the address is computed, and whether a 64-bit pointer was cut to 32 bits"),
            }
        }
        K::OutsideObject { address, bytes, write, space, object, hit, argument } => {
            let what = access(space, *write, *bytes, *address);
            let message = format!("{what}, outside of the object that the address was made from");
            let from = argument.as_ref().map_or_else(String::new, |a| format!(", which argument `{a}` points to"));
            let there = hit.as_ref().and_then(place_in).map_or_else(String::new, |p| format!("; {p} lies there"));
            words(message, format!("{}{from}{there}", nearest(object))).hint(
                "compare the index with the length, and the launch's number of threads with the number of elements",
            )
        }
        K::UseAfterFree { address, bytes, write, nearest: n } => {
            // The access lies inside: how else would it be known that it is about this block?
            let what = block(&n.name, n.kind, n.bytes);
            let label = match n.relation {
                Relation::Inside(0) => format!("the start of {what}, which was freed"),
                Relation::Inside(d) => format!("offset {d} of {what}, which was freed"),
                Relation::Before(_) | Relation::After(_) => nearest(n),
            };
            words(format!("{} after free", access("", *write, *bytes, *address)), label)
                .hint("free the memory after its last use")
        }
        K::Null { address, bytes, write, space } => words(
            format!("{} through a null pointer", access(space, *write, *bytes, *address)),
            "this address is in the first page",
        )
        .hint("a pointer argument is null or was never written, or device malloc failed and was not checked"),
        K::Misaligned { address, bytes, write, space } => words(
            format!("misaligned {}", access(space, *write, *bytes, *address)),
            format!("the address is no multiple of {bytes}: {} too high", address % u64::from((*bytes).max(1))),
        )
        .hint("the address must be a multiple of the size of the access, for a vector that of all its elements"),
        K::WrongSpace { address, bytes, write, space, actual } => words(
            format!("{} in another state space", access(space, *write, *bytes, *address)),
            format!("this address belongs to {} memory", word(actual.space())),
        )
        .hint(format!(
            "use ld/st without a space, or .{} after cvta.to.{0}",
            if *actual == AllocKind::Const { "const".to_owned() } else { word(actual.space()) }
        )),
        K::WriteToReadOnly { address, bytes, actual, .. } => words(
            format!("write of {} to {} memory at {address:#x}", counted((*bytes).into(), "byte"), word(actual.space())),
            "device code may not write here",
        )
        .hint("constant memory and kernel parameters are written by the host only"),
        _ => words("", ""),
    }
}

/// The words for a defect without particulars: what its kind means, unless there is more to say.
fn plain(kind: Kind) -> Diagnostic {
    let described = kind.describe();
    match kind {
        Kind::DivisionByZero => words("integer division by zero", "the divisor is 0")
            .hint("the hardware gives all ones and goes on; --check div0 reports it"),
        Kind::Trap => words("the kernel executed a trap", "here").hint("__trap(), a failed check or unreachable code"),
        Kind::Breakpoint => words("the kernel executed a breakpoint and no debugger is attached", "here"),
        _ => words(described.short, "here").hint(described.help),
    }
}

/// Blocks and bytes, e.g. "2 blocks of 128 bytes in all".
pub(super) fn leaked(blocks: u64, bytes: u64) -> String {
    format!("{}, {}", counted(blocks, "block"), counted(bytes, "byte"))
}

fn leak(blocks: u64, bytes: u64, sites: &[LeakSite]) -> Diagnostic {
    let message = format!("{} of the device's malloc never freed: {}", plural(blocks, "block"), leaked(blocks, bytes));
    let first = sites.first().map_or_else(String::new, |s| format!("{} allocated here", leaked(s.blocks, s.bytes)));
    words(message, first).hint("free each block once: the heap keeps it until the context ends")
}

fn bad_format(problem: &FormatProblem) -> Diagnostic {
    let shown = problem.conversion().unwrap_or_default().escape_debug();
    match problem {
        FormatProblem::Conversion(_) => {
            words(format!("printf has no conversion `{shown}` in device code"), "called here")
                .hint("there are %c %d %i %o %u %x %X %p %e %E %f %F %g %G %a %A %s and %%")
        }
        FormatProblem::Cut(_) => words(format!("the format of printf ends within `{shown}`"), "called here")
            .hint("a percent sign is written %%"),
        FormatProblem::Wide(_) => words(
            format!("the width or precision of `{shown}` is more than printf need be able to print"),
            "called here",
        )
        .hint("C guarantees 4095 characters for a conversion"),
        FormatProblem::Endless { address, bytes } => words(
            format!("no end of the string at {address:#x} within {}", counted(*bytes, "byte")),
            "printf reads it here",
        )
        .hint("a string ends with a zero byte"),
    }
}

fn uninitialised(what: UninitUse, register: Option<&str>, address: Option<u64>, origin: Option<&Origin>) -> Diagnostic {
    let source = match (register, address) {
        (Some(r), _) => format!("register {r}"),
        (None, Some(a)) => format!("what lies at {a:#x}"),
        (None, None) => "a value".to_owned(),
    };
    let usage = match what {
        UninitUse::Address => "becomes an address",
        UninitUse::Condition => "decides a branch",
        UninitUse::Stored => "is stored to memory",
    };
    words(format!("{source} is undefined and {usage}"), format!("{usage} here")).hint(if others_write(origin) {
        "write it before it is read: on hardware it may hold anything; if another thread writes it, the two may lack a \
             barrier: --check races"
    } else {
        "write it before it is read: on hardware it may hold anything"
    })
}

/// Whether other threads may write what was read.
fn others_write(origin: Option<&Origin>) -> bool {
    match origin {
        Some(Origin::Memory { inside, writers, .. }) => {
            inside.kind != AllocKind::Local && *writers != Writers::Nobody([])
        }
        _ => false,
    }
}
