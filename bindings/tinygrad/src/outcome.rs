//! What becomes of a launch that failed: a report on standard error, and then the end of the process or an error to ask for.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::io::{Write, stderr};
use warpstep::{Error, ErrorKind};

/// Why a launch failed.
#[derive(Debug)]
pub struct Failure {
    /// Exit code of the process: that of the command `warpstep` for an error of its kind.
    code: c_int,
    /// The report.
    text: String,
}

/// The name of the environment variable that says what to do.
const ON_DEFECT: &str = "WARPSTEP_ON_DEFECT";
/// The exit code for what is wrong with the launch itself.
const INPUT: c_int = 2;
/// The exit code for an error of warpstep.
const INTERNAL: c_int = 101;

thread_local! {
    /// The report of the launch that the thread called last.
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
}

impl Failure {
    /// Something is wrong with the call.
    pub fn input(text: impl Into<String>) -> Self {
        Self { code: INPUT, text: format!("error: {}", text.into()) }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error.kind() {
            ErrorKind::Defect => 1,
            ErrorKind::Input => INPUT,
            ErrorKind::Limit => 3,
            ErrorKind::Unsupported => 4,
            ErrorKind::Internal => INTERNAL,
        };
        Self { code, text: error.to_string() }
    }
}

/// What a panic said, which is an error of warpstep.
pub fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let what = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let text = format!("error: warpstep has an error of its own: {}", what.unwrap_or("it says no more"));
    Failure { code: INTERNAL, text }
}

/// Keeps what [`last`] gives; of a failure also prints the report, and ends the process unless it is told to go on.
pub fn settle(ran: Result<(), Failure>) {
    let Err(Failure { code, text }) = ran else {
        LAST.set(None);
        return;
    };
    // Nobody can be told that standard error is closed.
    let _ = writeln!(stderr().lock(), "{text}\n");
    // A report has no zero bytes but in text that the program itself quotes.
    LAST.set(Some(CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()));
    match std::env::var_os(ON_DEFECT) {
        Some(how) if how == "continue" => {}
        how => {
            if let Some(how) = how.filter(|how| how != "abort") {
                let _ =
                    writeln!(stderr().lock(), "notice: {ON_DEFECT} is `abort` or `continue`, not {}", how.display());
            }
            exit(code);
        }
    }
}

/// The report of the launch that this thread called last, if that failed.
pub fn last() -> *const c_char {
    LAST.with_borrow(|last| last.as_ref().map_or(std::ptr::null(), |text| text.as_ptr()))
}

/// Ends the process at once. Functions that were registered for its end are not called: they belong to a program that waits for this
/// call, and may wait for something that its other threads hold.
fn exit(code: c_int) -> ! {
    // SAFETY: there is nothing that has to hold; it does not return.
    #[expect(unsafe_code, reason = "`std::process::exit` calls functions of others")]
    unsafe {
        libc::_exit(code)
    }
}
