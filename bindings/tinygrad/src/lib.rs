//! The library `libwarpstep_ptx.so`: the function that tinygrad's mock of CUDA loads in place of an emulator of PTX, and three more.
//!
//! ```c
//! void ptx_run(const char *source, int n_args, void **args, int block_x, int block_y, int block_z,
//!              int grid_x, int grid_y, int grid_z, int shared);
//! const char *ptx_last_error(void);
//! int ptx_register(void *address, size_t bytes);
//! int ptx_unregister(void *address);
//! ```
//!
//! [`ptx_run`] runs the first kernel of a module to its end. Entries of `args` are the values themselves, as wide as the
//! parameters are; pointers among them are addresses of this process ([`process`] says how these are accessed). Where a kernel does not
//! come to its end, memory is as it was before ([`outcome`] says what happens then). The page `docs/tinygrad.md` teaches it.

mod bounds;
mod modules;
mod outcome;
mod process;
mod request;

use process::{Allocations, Process};
use request::Request;
use std::ffi::{c_char, c_int, c_void};
use std::panic::catch_unwind;

/// Runs the first kernel of a module of PTX, and returns when it has ended.
///
/// `source` is the text, which ends with a zero byte, and `args` has `n_args` values. Neither pointer is followed but by way of the
/// operating system, so that a wrong one is a report.
#[expect(unsafe_code, reason = "a symbol of this name is what the mock looks for; nobody else defines one")]
#[unsafe(no_mangle)]
pub extern "C" fn ptx_run(
    source: *const c_char,
    n_args: c_int,
    args: *const *const c_void,
    block_x: c_int,
    block_y: c_int,
    block_z: c_int,
    grid_x: c_int,
    grid_y: c_int,
    grid_z: c_int,
    shared: c_int,
) {
    let request = Request {
        source: source.addr() as u64,
        count: n_args,
        args: args.addr() as u64,
        block: [block_x, block_y, block_z],
        grid: [grid_x, grid_y, grid_z],
        shared,
    };
    let ran = catch_unwind(|| Process::open().and_then(|process| request.run(process)));
    outcome::settle(ran.unwrap_or_else(|panic| Err(outcome::panicked(&*panic))));
}

/// Why the launch that this thread called last failed, as the report that was printed; null if it did not. The text is there until
/// the thread calls [`ptx_run`] again, or ends.
#[expect(unsafe_code, reason = "as of `ptx_run`")]
#[unsafe(no_mangle)]
pub extern "C" fn ptx_last_error() -> *const c_char {
    catch_unwind(outcome::last).unwrap_or(std::ptr::null())
}

/// Says that `bytes` at an address are an allocation. From the first call on, kernels may access what is registered and nothing else.
/// An allocation that overlaps earlier ones takes their place. Gives 0, or -1 where no allocation can be.
#[expect(unsafe_code, reason = "as of `ptx_run`")]
#[unsafe(no_mangle)]
pub extern "C" fn ptx_register(address: *const c_void, bytes: usize) -> c_int {
    let done = catch_unwind(|| Allocations::register(address.addr() as u64, bytes as u64));
    if done.unwrap_or(false) { 0 } else { -1 }
}

/// Says that the allocation at an address is gone. Gives 0, or -1 where none is registered there.
#[expect(unsafe_code, reason = "as of `ptx_run`")]
#[unsafe(no_mangle)]
pub extern "C" fn ptx_unregister(address: *const c_void) -> c_int {
    let done = catch_unwind(|| Allocations::unregister(address.addr() as u64));
    if done.unwrap_or(false) { 0 } else { -1 }
}
