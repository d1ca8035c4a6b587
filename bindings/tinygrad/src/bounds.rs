//! What ends a launch before its end: a time that is set, and Ctrl-C.
//!
//! While a launch runs, nobody else of its thread does: what a host like Python has for Ctrl-C notes that it was pressed, and acts when
//! the call returns, which a kernel that never ends does not do. So the library looks for it, too, beside the host's own handler, which
//! is called as before. Where the host has none, Ctrl-C ends the process, as ever.

use crate::outcome::Failure;
use signal_hook::consts::SIGINT;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The name of the environment variable that says how many seconds a launch may take.
const TIMEOUT: &str = "WARPSTEP_TIMEOUT";

/// The time that a launch may take, if one is set.
///
/// # Errors
/// It is no number of seconds.
pub fn timeout() -> Result<Option<Duration>, Failure> {
    let Some(text) = std::env::var_os(TIMEOUT).filter(|text| !text.is_empty()) else { return Ok(None) };
    let seconds = text.to_str().and_then(|text| text.parse().ok()).filter(|seconds: &f64| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let wrong = || Failure::input(format!("{TIMEOUT} is a number of seconds above 0, not `{}`", text.display()));
    time.map(Some).ok_or_else(wrong)
}

/// Whether Ctrl-C was pressed since this was called; `None`: that ends the process.
pub fn interrupts() -> Option<impl Fn() -> bool + Send + Sync + 'static> {
    static PRESSED: OnceLock<Option<Arc<AtomicBool>>> = OnceLock::new();
    let pressed = PRESSED.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        (has_handler() && signal_hook::flag::register(SIGINT, Arc::clone(&flag)).is_ok()).then_some(flag)
    });
    let pressed = Arc::clone(pressed.as_ref()?);
    pressed.store(false, Ordering::Relaxed);
    Some(move || pressed.load(Ordering::Relaxed))
}

/// Whether the host has a handler of its own.
fn has_handler() -> bool {
    let mut now = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: it is told of a place for its answer and of nothing that it should change, and the answer is there where it gives 0.
    #[expect(unsafe_code, reason = "there is no other way to ask")]
    let handler = unsafe {
        let asked = libc::sigaction(SIGINT, std::ptr::null(), now.as_mut_ptr());
        (asked == 0).then(|| now.assume_init().sa_sigaction)
    };
    handler.is_some_and(|handler| handler != libc::SIG_DFL && handler != libc::SIG_IGN)
}
