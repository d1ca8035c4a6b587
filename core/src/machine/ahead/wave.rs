//! A wave: chunks run on threads, and are looked at in order.

use super::guess::{Chunk, Guess, Last, MOST, Rest};
use crate::base::mutant::{Mutant, on};
use crate::choice::Fair;
use crate::machine::books::Stats;
use crate::machine::bounds::Stopwatch;
use crate::machine::config::Engine;
use crate::machine::control::Explored;
use crate::machine::device::state::Ran;
use crate::machine::grid::state::ALONE;
use crate::machine::runner::{Hosted, Run};
use crate::memory::flat::{Arena, Below, Deeds, Flat, Slabs, View};
use crate::verdict::Silent;
use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A chunk to be run: its place in the wave, and the memory that it sees.
struct Job {
    place: usize,
    chunk: Chunk,
    memory: Arena,
    view: View,
}

/// What became of it.
pub(super) struct Done {
    pub chunk: Chunk,
    /// Whether it came to its end, as in its turn as far as it can tell itself.
    pub whole: bool,
    /// Whether blocks of it were about to take turns with those behind it.
    pub pressed: bool,
    pub last: Last,
    pub stats: Stats,
    pub native: u64,
    pub deeds: Option<Deeds>,
}

/// The chunks that wait for a thread; none more come when it is closed.
#[derive(Default)]
struct Queue {
    jobs: Mutex<(VecDeque<Job>, bool)>,
    more: Condvar,
}

impl Queue {
    fn put(&self, jobs: Vec<Job>) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).0.extend(jobs);
        self.more.notify_all();
    }

    /// Closed when it goes out of scope, whatever happens: threads that wait are waited for.
    fn close(&self) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.more.notify_all();
    }

    /// One of those that wait.
    fn take(&self) -> Option<Job> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).0.pop_front()
    }

    /// The next one. `None`: there are no more.
    fn wait(&self) -> Option<Job> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = jobs.0.pop_front() {
                return Some(job);
            }
            if jobs.1 {
                return None;
            }
            jobs = self.more.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

struct Closes<'a>(&'a Queue);

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Accesses that are asked for one by one, for each of which so many instructions are executed at least.
const SLOW: u64 = 1;

/// Whether so many accesses had to be asked for one by one that threads are no faster than one.
pub(super) fn is_slow(all: &[Done]) -> bool {
    let asked = all.iter().filter_map(|done| done.deeds.as_ref()).map(Deeds::asked).sum::<u64>();
    asked.saturating_mul(SLOW) > all.iter().map(|done| done.stats.warp_instructions).sum::<u64>()
}

/// The chunks of a wave, as far as they are over.
struct Wave {
    all: Vec<Option<Done>>,
    /// What each begins with.
    begins: Vec<Last>,
    /// How many of the first ones were looked at.
    known: usize,
}

impl Wave {
    /// Whether one has not done what it would have done in its turn, so that nothing will come of those behind it.
    fn is_off(&mut self, view: View) -> bool {
        while let Some(Some(done)) = self.all.get(self.known) {
            self.known += 1;
            let next = self.begins.get(self.known).filter(|_| view == View::InOrder);
            let begins = next.is_none_or(|next| *next == done.last) || on(Mutant::AheadBegins);
            if !done.whole || !begins {
                return true;
            }
        }
        false
    }
}

/// Who looks at the chunks of a wave, all of which are over.
pub(super) trait Judge<C: Explored + 'static> {
    /// How chunks see memory.
    const VIEW: View;

    /// Makes so what is right. False: no more of them are to run.
    fn look(&mut self, of: &mut Hosted<C, Flat>, under: &mut Arc<Below>, all: Vec<Done>, spare: &mut Slabs) -> bool;

    /// What is known of the launch.
    fn guess(&self) -> &Guess;
}

/// Has blocks of the only grid run ahead for as long as that is of use.
pub(super) fn waves<C: Explored + 'static, J: Judge<C>>(
    of: &mut Hosted<C, Flat>,
    mut worker: Hosted<C, Flat>,
    under: &mut Arc<Below>,
    judge: &mut J,
    watch: Stopwatch,
) {
    let (queue, (back, done)) = (Queue::default(), channel::<(usize, Done)>());
    let threads = of.config.threads;
    let others: Vec<_> = (1..threads).map(|_| worker.clone()).collect();
    std::thread::scope(|scope| {
        let _closes = Closes(&queue);
        let (mut others, mut spare) = (Some(others), std::mem::take(&mut of.spare));
        let bounds = of.config.bounds.clone();
        while let Some((grid, _)) = of.grid()
            && grid.is_between()
        {
            let (first, total, row) = (grid.next, grid.total, grid.loaded.grid[0].into());
            let guess = judge.guess();
            if J::VIEW == View::InOrder && of.config.engine == Engine::Auto && guess.is_short(total - first) {
                break;
            }
            let rest = Rest { first, total, row, last: grid.last };
            let chunks = guess.wave(J::VIEW, rest, (threads, grid.loaded.warps()));
            let (count, begins) = (chunks.len(), chunks.iter().map(|chunk| chunk.last).collect());
            let Some(context) = of.device.contexts.first() else { break };
            let mut jobs = jobs(chunks, &context.memory, (J::VIEW, under), guess, &mut spare);
            if count > 1 {
                for worker in others.take().into_iter().flatten() {
                    let (queue, back) = (&queue, back.clone());
                    // Where there are no more threads, there are fewer.
                    drop(std::thread::Builder::new().spawn_scoped(scope, move || serve(worker, queue, &back, watch)));
                }
                queue.put(jobs.split_off(1));
            }
            let mut wave = Wave { all: (0..count).map(|_| None).collect(), begins, known: 0 };
            for job in jobs.into_iter().chain(std::iter::from_fn(|| queue.take())) {
                let place = job.place;
                wave.all[place] = Some(worker.run_chunk(job, watch));
                done.try_iter().for_each(|(place, done)| wave.all[place] = Some(done));
                if wave.is_off(J::VIEW) {
                    std::iter::from_fn(|| queue.take())
                        .for_each(|job| wave.all[job.place] = Some(Done::nothing(job.chunk)));
                }
            }
            while wave.all.iter().any(Option::is_none)
                && let Ok((place, done)) = done.recv()
            {
                wave.all[place] = Some(done);
            }
            let all = wave.all.into_iter().flatten().collect();
            let goes_on = judge.look(of, under, all, &mut spare);
            if !goes_on || watch.up().or_else(|| bounds.up()).is_some() {
                break;
            }
        }
        // Where memory is bounded, nobody is to find it taken.
        if bounds.spare().is_none() {
            spare.keep();
            of.spare = spare;
        }
    });
}

/// A thread runs chunks.
fn serve<C: Explored + 'static>(
    mut worker: Hosted<C, Flat>,
    queue: &Queue,
    back: &Sender<(usize, Done)>,
    watch: Stopwatch,
) {
    while let Some(job) = queue.wait() {
        let mut owes = Owes { back, place: job.place, done: Some(Done::nothing(job.chunk)) };
        owes.done = Some(worker.run_chunk(job, watch));
    }
}

/// What is sent back of a chunk, whatever becomes of it: somebody waits for it.
struct Owes<'a> {
    back: &'a Sender<(usize, Done)>,
    place: usize,
    done: Option<Done>,
}

impl Drop for Owes<'_> {
    fn drop(&mut self) {
        // Who waits is there as long as threads are.
        if let Some(done) = self.done.take() {
            let _ = self.back.send((self.place, done));
        }
    }
}

impl Done {
    /// Warp instructions that were executed, and bytes that were written.
    pub(super) fn work(&self) -> (u64, u64) {
        (self.stats.warp_instructions, self.deeds.as_ref().map_or(0, Deeds::bytes))
    }

    /// Nothing has come of a chunk.
    fn nothing(chunk: Chunk) -> Self {
        Self { chunk, whole: false, pressed: false, last: None, stats: Stats::default(), native: 0, deeds: None }
    }
}

/// Views of memory for chunks.
fn jobs(
    chunks: Vec<Chunk>,
    memory: &Arena,
    (view, under): (View, &Arc<Below>),
    guess: &Guess,
    spare: &mut Slabs,
) -> Vec<Job> {
    let views = chunks.len();
    let mut rooms = spare.share(views);
    let job = |(place, chunk)| {
        let mut room = rooms.pop().unwrap_or_default();
        Job { place, chunk, memory: memory.show(under, (view, views), &guess.manners, &mut room), view }
    };
    chunks.into_iter().enumerate().map(job).collect()
}

impl<C: Explored + 'static> Hosted<C, Flat> {
    /// Runs a chunk as if all blocks before it were over.
    fn run_chunk(&mut self, job: Job, watch: Stopwatch) -> Done {
        let Job { chunk, memory, view, .. } = job;
        let mut done = Done::nothing(chunk);
        let Some(context) = self.device.contexts.first_mut() else { return done };
        let processors = context.processors.clone();
        context.memory = memory;
        let Some(grid) = context.grids.first_mut() else { return done };
        grid.run_ahead((chunk.first, chunk.until), chunk.last, view == View::Apart);
        let id = grid.id;
        (self.clock, self.native) = (0, 0);
        self.stats.clear();
        let mut printed = false;
        let mut out = |_: &[u8]| printed = true;
        let ran = self.go(Silent, Run { watch, ..Run::new(&mut Fair, &mut out) });
        (done.native, done.stats) =
            (self.native, self.stats.iter().find(|(g, _)| *g == id).map_or(done.stats, |s| s.1));
        let Some(context) = self.device.contexts.first_mut() else { return done };
        context.processors = processors;
        done.deeds = context.memory.deeds();
        if let Some(grid) = context.grids.first() {
            let ended = grid.next == chunk.until && grid.resident == 0;
            // Near the limit turns are shorter.
            let ended = ended && done.stats.warp_instructions < MOST - 2 * u64::from(ALONE);
            let shown = |deeds: &Deeds| deeds.is_whole() && (view == View::InOrder || !deeds.overlap());
            done.whole = ran == Ok(Ran::Idle) && ended && !printed && done.deeds.as_ref().is_some_and(shown);
            done.pressed = grid.is_pressed();
            done.last = grid.last;
        }
        done
    }

    /// Adds what a chunk has done.
    pub(super) fn count(&mut self, until: u64, last: Last, (stats, native): (Stats, u64)) {
        self.clock += stats.warp_instructions;
        self.native += native;
        let Some(grid) = self.device.contexts.first_mut().and_then(|context| context.grids.first_mut()) else { return };
        grid.has_run(until, last);
        let id = grid.id;
        match self.stats.iter_mut().find(|(grid, _)| *grid == id) {
            Some((_, sum)) => sum.add(stats),
            None => self.stats.push((id, stats)),
        }
    }
}
