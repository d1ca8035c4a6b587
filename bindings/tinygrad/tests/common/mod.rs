//! What tests call the library by: kernels, arguments, and a process of its own for what depends on the environment.
#![allow(dead_code, reason = "each file of tests uses some of it")]

use std::ffi::{CStr, CString, c_int, c_void};
use std::process::{Command, Output};

/// A kernel of some parameters and some code.
pub fn kernel(parameters: &str, code: &str) -> CString {
    let registers =
        ".reg .b16 %h<8>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %rd<8>; .reg .f64 %d<4>; .reg .pred %p<4>;";
    let text = format!(
        ".version 7.5\n.target sm_50\n.address_size 64\n.visible .entry k({parameters}) {{\n{registers}\n{code}\nret;\n}}\n"
    );
    CString::new(text).unwrap()
}

/// A pointer as an argument.
pub fn pointer<T>(slice: &mut [T]) -> u64 {
    slice.as_mut_ptr().expose_provenance() as u64
}

/// Runs a kernel of one block of so many threads.
pub fn run(text: &CStr, threads: c_int, args: &[u64]) {
    run_grid(text, [threads, 1, 1], [1, 1, 1], args);
}

/// Runs a kernel.
pub fn run_grid(text: &CStr, block: [c_int; 3], grid: [c_int; 3], args: &[u64]) {
    let entries: Vec<*const c_void> = args.iter().map(|arg| std::ptr::without_provenance(*arg as usize)).collect();
    let ([x, y, z], [gx, gy, gz]) = (block, grid);
    let count = c_int::try_from(entries.len()).unwrap();
    warpstep_ptx::ptx_run(text.as_ptr(), count, entries.as_ptr(), x, y, z, gx, gy, gz, 0);
}

/// The report of this thread's last launch, if that failed.
pub fn error() -> Option<String> {
    let text = warpstep_ptx::ptx_last_error();
    // SAFETY: it is not null, and then a string that is there until the next launch.
    #[expect(unsafe_code, reason = "as a user in C has it")]
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned())
}

/// Runs `body` in a process of its own, which is this test again, with `WARPSTEP_ON_DEFECT` set; `None`: that is the process which
/// it was run in.
pub fn apart(test: &str, on_defect: &str, body: impl FnOnce()) -> Option<Output> {
    if std::env::var_os("APART").is_some() {
        body();
        return None;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env("APART", "1").env("WARPSTEP_ON_DEFECT", on_defect);
    Some(command.output().unwrap())
}

/// The same of a test whose launches fail and which goes on.
pub fn going_on(test: &str, body: impl FnOnce()) {
    if let Some(output) = apart(test, "continue", body) {
        assert!(output.status.success(), "{output:?}");
    }
}
