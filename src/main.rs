//! The command: hands over to `warpstep::cli`, and counts what it allocates for it.

use cap::Cap;
use std::alloc::System;
use std::process::ExitCode;

/// Limits of memory are about what is counted here; it refuses nothing itself.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

fn main() -> ExitCode {
    warpstep::cli::main(|| u64::try_from(ALLOCATOR.allocated()).unwrap_or(u64::MAX))
}
