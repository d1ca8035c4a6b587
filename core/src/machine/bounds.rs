//! What a command may take of this computer: time, memory, and its user's patience (D-bounds).
//!
//! One [`Bounds`] belongs to all that a command runs and searches; its copies are the same bounds. Who works for long asks
//! [`Bounds::up`] now and then, and [`Bounds::room`] before something large is made. What is taken is counted where memory is
//! allocated, so that the tables of a search, copies of devices and the shadows of observers all count without saying so.

use crate::verdict::{LimitKind, Taker};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The part of its time that a search leaves for showing what it found.
const SHOWING: u32 = 8;
/// The least time for that, also after an interruption.
const GRACE: Duration = Duration::from_millis(500);
/// Bytes that any command takes, which are not counted: small bounds are about what is bounded.
const SLACK: u64 = 16 << 20;
/// Bytes from which on the host is asked beforehand whether it has them.
const LARGE: u64 = 1 << 20;

/// Time that a run may take.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Option<(Instant, Duration)>);

impl Stopwatch {
    /// Starts now; `None` never ends.
    #[must_use]
    pub fn start(limit: Option<Duration>) -> Self {
        Self(limit.map(|limit| (now(), limit)))
    }

    /// The one whose time is up first.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let end = |watch: Self| watch.0.and_then(|(start, limit)| start.checked_add(limit));
        match (end(self), end(other)) {
            (Some(own), Some(others)) if others < own => other,
            (None, Some(_)) => other,
            _ => self,
        }
    }

    /// The time since it was started; none where it never ends.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.map_or(Duration::ZERO, |(start, _)| start.elapsed())
    }

    /// Whether the time is up.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.up().is_some()
    }

    /// The limit, when the time is up.
    #[must_use]
    pub fn up(&self) -> Option<LimitKind> {
        let (_, limit) = self.0.filter(|(start, limit)| start.elapsed() >= *limit)?;
        Some(LimitKind::Time(milliseconds(limit)))
    }
}

#[expect(clippy::disallowed_methods, reason = "a limit of time; no choice depends on it")]
fn now() -> Instant {
    Instant::now()
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What tells the bounds how far they are used.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Bytes that this process has allocated; without it no memory is bounded.
    pub taken: Option<fn() -> u64>,
    /// Whether the user wants the command to end.
    pub interrupted: Option<Interrupted>,
}

/// How it is known whether the user wants what is done to end.
#[derive(Clone)]
pub enum Interrupted {
    /// Set by somebody else, for all that this process does.
    Flag(&'static AtomicBool),
    /// Asked now and then, also by several threads at a time, of what these bounds are about.
    Asked(Arc<dyn Fn() -> bool + Send + Sync>),
}

impl Interrupted {
    /// Whether that is so now.
    #[must_use]
    pub fn is_so(&self) -> bool {
        match self {
            Self::Flag(flag) => flag.load(Ordering::Relaxed),
            Self::Asked(ask) => ask(),
        }
    }
}

impl fmt::Debug for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupted")
    }
}

/// Bounds of a command. The default has none.
#[derive(Clone, Debug, Default)]
pub struct Bounds(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    host: Host,
    start: Instant,
    /// The time that the user gave.
    time: Option<Duration>,
    /// Milliseconds after the start at which all ends, and at which searches do.
    ends: AtomicU64,
    searches_end: AtomicU64,
    /// Whether what was found is being shown.
    showing: AtomicBool,
    /// Whether an interruption has been heard.
    heard: AtomicBool,
    /// Bytes that may be taken, and whether they were given for a search.
    cap: Option<u64>,
    search: bool,
    /// Bytes that were taken when this began.
    base: AtomicU64,
    /// Whether that was said to be the program.
    counts: AtomicBool,
}

/// Bounds are no part of what they bound.
impl PartialEq for Bounds {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Bounds {}

impl Bounds {
    /// Bounds from now on: `time` for everything, `cap` bytes beyond what is allocated now. `search`: they were given for a
    /// search.
    #[must_use]
    pub fn new(host: Host, time: Option<Duration>, cap: Option<u64>, search: bool) -> Self {
        let ends = time.map_or(u64::MAX, milliseconds);
        let base = host.taken.map_or(0, |taken| taken());
        let inner = Inner {
            host,
            start: now(),
            time,
            ends: AtomicU64::new(ends),
            searches_end: AtomicU64::new(if time.is_some() { ends - ends / u64::from(SHOWING) } else { u64::MAX }),
            showing: AtomicBool::new(false),
            heard: AtomicBool::new(false),
            cap,
            search,
            base: AtomicU64::new(base),
            counts: AtomicBool::new(false),
        };
        Self(Some(Arc::new(inner)))
    }

    /// What is allocated now, the first program and its sources, is not counted.
    pub fn count_from_here(&self) {
        if let Some(inner) = &self.0
            && !inner.counts.swap(true, Ordering::Relaxed)
        {
            inner.base.store(inner.host.taken.map_or(0, |taken| taken()), Ordering::Relaxed);
        }
    }

    /// Why everything has to end now, if it has.
    #[must_use]
    pub fn up(&self) -> Option<LimitKind> {
        let inner = self.0.as_ref()?;
        inner.ended(inner.ends.load(Ordering::Relaxed))
    }

    /// Why a search has to end now: it leaves some of the time for showing what it found.
    #[must_use]
    pub fn search_up(&self) -> Option<LimitKind> {
        let inner = self.0.as_ref()?;
        inner.ended(inner.searches_end.load(Ordering::Relaxed))
    }

    /// Why a step of a search has to end in its midst. A way that is gone again, to show what was found, is gone to its end.
    #[must_use]
    pub fn step_up(&self) -> Option<LimitKind> {
        let showing = self.0.as_ref()?.showing.load(Ordering::Relaxed);
        if showing { None } else { self.up() }
    }

    /// Why `bytes` more may not be taken, if they may not, for the state of `by`.
    #[must_use]
    pub fn room(&self, bytes: u64, by: Taker) -> Option<LimitKind> {
        if let Some(inner) = &self.0
            && let Some(limit) = inner.over(bytes, by)
        {
            return Some(limit);
        }
        (bytes >= LARGE && !host_has(bytes)).then_some(LimitKind::Host { wanted: bytes })
    }

    /// A search is over, and what it found is shown from now on: the interruption that ended it does not end that, and some
    /// time is left for it. Only the first time counts: a command that searches again has no more time for that.
    pub fn show(&self) {
        let Some(inner) = &self.0 else { return };
        let interrupted = inner.interrupted();
        if inner.showing.swap(true, Ordering::Relaxed) {
            return;
        }
        inner.heard.store(interrupted, Ordering::Relaxed);
        let grace = milliseconds(inner.start.elapsed() + GRACE);
        if interrupted {
            inner.ends.store(grace, Ordering::Relaxed);
        } else {
            inner.ends.fetch_max(grace, Ordering::Relaxed);
        }
        inner.searches_end.store(inner.ends.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// What was found is shown; what is tried now, beyond what was asked, ends after so much time.
    pub fn extend(&self, time: Duration) {
        let Some(inner) = &self.0 else { return };
        inner.showing.store(true, Ordering::Relaxed);
        let ends = milliseconds(inner.start.elapsed() + time);
        inner.ends.store(ends, Ordering::Relaxed);
        inner.searches_end.store(ends, Ordering::Relaxed);
    }

    /// Bounds of a part of the work that nobody waits for: at most so much time and memory, and half of the time that is left.
    /// Without bounds of the whole there are none, so that what a library finds out depends on no clock.
    #[must_use]
    pub fn part(&self, time: Duration, bytes: u64) -> Self {
        let Some(inner) = &self.0 else { return Self::default() };
        let time = self.left().map_or(time, |left| time.min(left / 2));
        Self::new(Host { taken: inner.host.taken, interrupted: None }, Some(time), Some(bytes), false)
    }

    /// Bounds of a part of the work that goes on beside other parts: a time of its own, and the memory that all of them have
    /// together, counted from where these bounds began. Bounds that bound nothing have no such parts.
    #[must_use]
    pub fn beside(&self, time: Option<Duration>) -> Self {
        let Some(inner) = &self.0 else { return Self::default() };
        let part = Self::new(inner.host.clone(), time, inner.cap, inner.search);
        if let Some(own) = &part.0 {
            own.base.store(inner.base.load(Ordering::Relaxed), Ordering::Relaxed);
            // What others hold must not become the part's beginning.
            own.counts.store(true, Ordering::Relaxed);
        }
        part
    }

    /// How many bytes may still be taken. `None`: they are not bounded.
    #[must_use]
    pub fn spare(&self) -> Option<u64> {
        let inner = self.0.as_ref()?;
        Some(inner.cap?.saturating_sub(inner.taken()?))
    }

    /// What is left of the time of a search. `None`: it is not bounded.
    #[must_use]
    pub fn search_left(&self) -> Option<Duration> {
        let inner = self.0.as_ref()?;
        let ends = Duration::from_millis(inner.searches_end.load(Ordering::Relaxed));
        inner.time.map(|_| ends.saturating_sub(inner.start.elapsed()))
    }

    /// What is left until all ends, also after an interruption. `None`: nothing ends it.
    #[must_use]
    pub fn until_the_end(&self) -> Option<Duration> {
        let inner = self.0.as_ref()?;
        let ends = inner.ends.load(Ordering::Relaxed);
        (ends != u64::MAX).then(|| Duration::from_millis(ends).saturating_sub(inner.start.elapsed()))
    }

    /// What is left of the time. `None`: it is not bounded.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let inner = self.0.as_ref()?;
        Some(inner.time?.saturating_sub(inner.start.elapsed()))
    }
}

impl Inner {
    fn interrupted(&self) -> bool {
        self.host.interrupted.as_ref().is_some_and(Interrupted::is_so)
    }

    /// Bytes that were taken since the bounds began.
    fn taken(&self) -> Option<u64> {
        Some((self.host.taken?)().saturating_sub(self.base.load(Ordering::Relaxed) + SLACK))
    }

    fn ended(&self, at: u64) -> Option<LimitKind> {
        if !self.heard.load(Ordering::Relaxed) && self.interrupted() {
            return Some(LimitKind::Interrupted);
        }
        if at != u64::MAX && milliseconds(self.start.elapsed()) >= at {
            return Some(self.time.map_or(LimitKind::Interrupted, |time| LimitKind::Time(milliseconds(time))));
        }
        self.over(0, Taker::Run)
    }

    /// Why `more` bytes may not be taken. What shows what was found may take an eighth more than what found it.
    fn over(&self, more: u64, by: Taker) -> Option<LimitKind> {
        let (cap, taken) = (self.cap?, self.taken()?.saturating_add(more));
        let most = if self.showing.load(Ordering::Relaxed) { cap.saturating_add(cap / 8) } else { cap };
        if taken <= most {
            return None;
        }
        Some(match by {
            Taker::Run if self.search => LimitKind::Search { cap, taken },
            by => LimitKind::Taken { cap, taken, by },
        })
    }
}

/// Whether the host gives so many bytes at once: asked beforehand, since a vector that grows may not fail.
fn host_has(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    static STOP: AtomicBool = AtomicBool::new(false);

    #[test]
    fn no_bounds_bound_nothing_but_what_nobody_has() {
        let none = Bounds::default();
        assert_eq!((none.up(), none.room(1 << 30, Taker::Blocks)), (None, None));
        assert_eq!(none.room(1 << 62, Taker::Blocks), Some(LimitKind::Host { wanted: 1 << 62 }));
    }

    #[test]
    fn time_ends_searches_first() {
        let bounds = Bounds::new(Host::default(), Some(Duration::ZERO), None, true);
        assert_eq!(bounds.up(), Some(LimitKind::Time(0)));
        bounds.show();
        assert_eq!(bounds.up(), None);
        // What is tried besides has its own time, and none for showing.
        bounds.extend(Duration::ZERO);
        bounds.show();
        assert_eq!(bounds.up(), Some(LimitKind::Time(0)));
        let long = Bounds::new(Host::default(), Some(Duration::from_secs(3600)), None, true);
        assert_eq!((long.up(), long.search_up()), (None, None));
        assert!(long.left().is_some_and(|left| left > Duration::from_secs(3000)));
    }

    #[test]
    fn memory_is_what_was_taken_since() {
        let host = Host { taken: Some(|| SLACK), interrupted: None };
        let bounds = Bounds::new(host, None, Some(10), false);
        // What is there already is not counted, nor what any command takes.
        if let Some(inner) = &bounds.0 {
            inner.base.store(0, Ordering::Relaxed);
        }
        assert_eq!((bounds.up(), bounds.room(10, Taker::Blocks)), (None, None));
        let limit = LimitKind::Taken { cap: 10, taken: 11, by: Taker::Stacks };
        assert_eq!(bounds.room(11, Taker::Stacks), Some(limit));
    }

    #[test]
    fn parts_beside_each_other_share_the_memory() {
        static TAKEN: AtomicU64 = AtomicU64::new(0);
        let host = Host { taken: Some(|| TAKEN.load(Ordering::Relaxed)), interrupted: None };
        let whole = Bounds::new(host, None, Some(100), false);
        TAKEN.store(SLACK + 90, Ordering::Relaxed);
        // What another part holds is counted from where the whole began, also when a part says that its work begins.
        let part = whole.beside(Some(Duration::from_secs(3600)));
        part.count_from_here();
        assert_eq!((part.spare(), part.room(10, Taker::Run)), (Some(10), None));
        assert!(matches!(part.room(11, Taker::Run), Some(LimitKind::Taken { cap: 100, taken: 101, .. })));
        TAKEN.store(SLACK + 50, Ordering::Relaxed);
        assert_eq!(part.spare(), Some(50));
        assert!(whole.left().is_none() && part.left().is_some());
    }

    #[test]
    fn an_interruption_is_heard_once() {
        let flag = Interrupted::Flag(&STOP);
        let asked = Interrupted::Asked(Arc::new(|| STOP.load(Ordering::Relaxed)));
        for interrupted in [flag, asked] {
            STOP.store(false, Ordering::Relaxed);
            heard_once(Host { taken: None, interrupted: Some(interrupted) });
        }
    }

    fn heard_once(host: Host) {
        let bounds = Bounds::new(host, None, None, false);
        assert_eq!(bounds.up(), None);
        STOP.store(true, Ordering::Relaxed);
        assert_eq!(bounds.up(), Some(LimitKind::Interrupted));
        bounds.show();
        assert_eq!(bounds.up(), None);
    }
}
