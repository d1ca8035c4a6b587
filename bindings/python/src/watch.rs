//! What Python says while a kernel runs: Ctrl-C, and exceptions of code that a search calls.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// How often signals are looked for: soon enough for a person, and seldom enough for kernels.
const EVERY: Duration = Duration::from_millis(50);

/// One call's ear for Python.
pub struct Watch {
    /// The thread that made the call: Python hears of signals in its main thread only.
    caller: ThreadId,
    /// When signals were looked for last.
    last: Mutex<Instant>,
    /// Whether the call shall end.
    over: AtomicBool,
    /// The exception that it ends with.
    error: Mutex<Option<PyErr>>,
}

impl Watch {
    /// Of the call that begins now.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            caller: std::thread::current().id(),
            last: Mutex::new(now()),
            over: AtomicBool::new(false),
            error: Mutex::new(None),
        })
    }

    /// Whether the call shall end.
    pub fn asked(&self) -> bool {
        self.over.load(Ordering::Relaxed) || std::thread::current().id() == self.caller && self.look()
    }

    /// Looks for signals, if it is time to.
    fn look(&self) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < EVERY {
            return false;
        }
        *last = now();
        let heard = Python::attach(|py| py.check_signals());
        heard.map_err(|error| self.end(error)).is_err()
    }

    /// The call ends with an exception; the first one counts.
    pub fn end(&self, error: PyErr) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.over.store(true, Ordering::Relaxed);
    }

    /// The exception that the call ends with, if any.
    pub fn error(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[expect(clippy::disallowed_methods, reason = "when to look for signals; no run depends on it")]
fn now() -> Instant {
    Instant::now()
}
