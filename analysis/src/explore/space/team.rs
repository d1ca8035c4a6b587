//! What threads share that go through one space: the table of states, parts of the search that wait for somebody, and counts.
//!
//! Each thread has a walk of its own and goes depth first; a state is gone on from by who saw it first. A thread that has
//! nothing left takes over agents of a state on another's way, the one next to the start that has some left, and goes there
//! by its way.

use super::book::Done;
use super::frozen::Before;
use super::job::Job;
use super::slots::Slots;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError};
use std::thread::yield_now;
use std::time::Duration;

/// States that the table has room for at first, as a power of two.
const FIRST: u32 = 16;

/// How long a thread that waits for work sleeps until it looks whether the search is to end.
const NAP: Duration = Duration::from_millis(5);

/// Parts that wait for somebody.
#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// Threads without work.
    idle: usize,
}

/// Whoever waits is told when a thread ends by a panic.
pub(super) struct Watch<'t>(pub &'t Team);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

/// What threads of a search share.
pub(super) struct Team {
    /// Bits of numbers that say whose a state or a step is.
    pub bits: u32,
    /// The number of the first state.
    pub first: u128,
    count: usize,
    table: RwLock<Slots>,
    /// States that the table has room for.
    room: AtomicU64,
    growing: AtomicBool,
    waiting: Mutex<Waiting>,
    more: Condvar,
    /// Threads without work beyond the parts that wait.
    wanted: AtomicUsize,
    over: AtomicBool,
    /// Whether states are counted one by one, since there may only be so many.
    counted: bool,
    one_by_one: AtomicU64,
    states: AtomicU64,
    transitions: AtomicU64,
    executed: AtomicU64,
    bytes: Box<[AtomicU64]>,
}

impl Team {
    /// Of so many threads; the first state has `number`, which nobody has gone on from. `counted`: states are counted one by one.
    pub fn new(count: usize, number: u128, counted: bool) -> Self {
        let bits = count.next_power_of_two().trailing_zeros();
        let table = Slots::with(FIRST);
        table.find_or_insert(number, 0);
        let room = AtomicU64::new(table.room() as u64);
        let waiting = (Vec::new(), Vec::new());
        let job = Job { state: 0, path: Vec::new(), before: Before::default(), agents: 0..u32::MAX, waiting };
        Self {
            bits,
            first: number,
            count,
            table: RwLock::new(table),
            room,
            growing: AtomicBool::new(false),
            waiting: Mutex::new(Waiting { jobs: VecDeque::from([job]), idle: 0 }),
            more: Condvar::new(),
            wanted: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            counted,
            one_by_one: AtomicU64::new(1),
            states: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            executed: AtomicU64::new(0),
            bytes: (0..count).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// How many threads there are.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The table, which does not grow as long as it is held.
    pub fn table(&self) -> RwLockReadGuard<'_, Slots> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more state; gives how many there are, or, where nobody counts them one by one, those of the thread.
    pub fn one_more(&self, own: u64) -> u64 {
        if self.counted { self.one_by_one.fetch_add(1, Relaxed) + 1 } else { own }
    }

    /// How many states there are, about.
    pub fn seen(&self) -> usize {
        usize::try_from(self.states.load(Relaxed)).unwrap_or(usize::MAX)
    }

    /// What a thread has done, and had before. Tells whether the table is about to grow: it is to be let go of then.
    pub fn note(&self, worker: u32, (before, now): (Done, Done)) -> bool {
        self.transitions.fetch_add(now.transitions - before.transitions, Relaxed);
        self.executed.fetch_add(now.executed - before.executed, Relaxed);
        let more = now.states - before.states;
        let states = self.states.fetch_add(more, Relaxed) + more;
        self.bytes[worker as usize].store(now.bytes, Relaxed);
        if states > self.room.load(Relaxed) {
            self.growing.store(true, Relaxed);
        }
        self.growing.load(Relaxed)
    }

    /// Makes the table grow, when all have let go of it, unless somebody else does: who came too late must not wait for it, since
    /// the others hold it again until it grows next.
    pub fn let_grow(&self) {
        while self.growing.load(SeqCst) {
            let mut table = match self.table.try_write() {
                Ok(table) => table,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    yield_now();
                    continue;
                }
            };
            while self.seen() > table.room() {
                table.grow();
            }
            self.room.store(table.room() as u64, SeqCst);
            self.growing.store(false, SeqCst);
        }
    }

    /// What all have done.
    pub fn done(&self) -> Done {
        let (states, transitions) = (self.states.load(Relaxed), self.transitions.load(Relaxed));
        let lists: u64 = self.bytes.iter().map(|b| b.load(Relaxed)).sum();
        // An entry has 16 bytes, and eight take five states.
        let bytes = lists + self.room.load(Relaxed) / 5 * 8 * 16;
        Done { states, transitions, executed: self.executed.load(Relaxed), bytes }
    }

    /// Whether the search is to end.
    pub fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }

    /// The search ends.
    pub fn end(&self) {
        self.over.store(true, SeqCst);
        self.more.notify_all();
    }

    /// Whether somebody waits for work.
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Relaxed) > 0
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_wanted(&self, waiting: &Waiting) {
        self.wanted.store(waiting.idle.saturating_sub(waiting.jobs.len()), Relaxed);
    }

    /// A part for who waits.
    pub fn give(&self, job: Job) {
        let mut waiting = self.waiting();
        waiting.jobs.push_back(job);
        self.count_wanted(&waiting);
        self.more.notify_one();
    }

    /// A part to go on with; none: everything is done, or the search is over. `ends` is asked now and then whether it is to be.
    pub fn take(&self, ends: &mut dyn FnMut() -> bool) -> Option<Job> {
        let mut waiting = self.waiting();
        waiting.idle += 1;
        loop {
            if self.is_over() {
                return None;
            }
            if let Some(job) = waiting.jobs.pop_front() {
                waiting.idle -= 1;
                self.count_wanted(&waiting);
                return Some(job);
            }
            self.count_wanted(&waiting);
            if waiting.idle == self.count {
                drop(waiting);
                self.end();
                return None;
            }
            let (woken, _) = self.more.wait_timeout(waiting, NAP).unwrap_or_else(PoisonError::into_inner);
            waiting = woken;
            if ends() {
                drop(waiting);
                self.end();
                return None;
            }
        }
    }

    /// Parts that nobody has come to.
    pub fn left(&self) -> Vec<Job> {
        self.waiting().jobs.drain(..).collect()
    }
}
