//! A wave: chunks run on threads, and are looked at in order.

use super::guess::{Chunk, Guess, Last};
use crate::base::Best;
use crate::base::mutant::{Mutant, on};
use crate::choice::Fair;
use crate::machine::books::Stats;
use crate::machine::bounds::Stopwatch;
use crate::machine::config::Engine;
use crate::machine::control::Explored;
use crate::machine::device::state::Ran;
use crate::machine::runner::{Hosted, Run};
use crate::memory::flat::{Arena, Deeds, Flat, Slabs};
use crate::verdict::Silent;
use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A chunk to be run: its place in the wave, and the memory that it sees.
struct Job {
    place: usize,
    chunk: Chunk,
    memory: Arena,
}

/// What became of it.
struct Done {
    chunk: Chunk,
    /// Whether it came to its end, as in its turn as far as it can tell itself.
    whole: bool,
    last: Last,
    stats: Stats,
    native: u64,
    deeds: Option<Deeds>,
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

/// Has blocks of the only grid run ahead for as long as that is of use: at most so many warp instructions. `guess.from` says from where on it is worth trying again.
pub(super) fn waves<C: Explored + 'static>(
    of: &mut Hosted<C, Flat>,
    mut worker: Hosted<C, Flat>,
    (under, guess): (&mut Arc<Arena>, &mut Guess),
    mut most: u64,
    watch: Stopwatch,
) {
    let (queue, (back, done)) = (Queue::default(), channel::<(usize, Done)>());
    let threads = of.config.threads;
    let others: Vec<_> = (1..threads).map(|_| worker.clone()).collect();
    std::thread::scope(|scope| {
        let _closes = Closes(&queue);
        let (mut others, mut spare) = (Some(others), Slabs::default());
        let bounds = of.config.bounds.clone();
        while let Some((grid, _)) = of.grid()
            && grid.is_between()
        {
            let (at, warps) = ((grid.next, grid.total), grid.loaded.warps());
            if of.config.engine == Engine::Auto && guess.is_short(at.1 - at.0) {
                break;
            }
            let chunks = guess.wave(at, grid.last, (threads, warps));
            let count = chunks.len();
            let Some(mut jobs) = jobs(chunks, under, guess, &mut spare) else { break };
            if count > 1 {
                for worker in others.take().into_iter().flatten() {
                    let (queue, back) = (&queue, back.clone());
                    // Where there are no more threads, there are fewer.
                    drop(std::thread::Builder::new().spawn_scoped(scope, move || serve(worker, queue, &back, watch)));
                }
                queue.put(jobs.split_off(1));
            }
            let mut all: Vec<Option<Done>> = (0..count).map(|_| None).collect();
            for job in jobs.into_iter().chain(std::iter::from_fn(|| queue.take())) {
                let place = job.place;
                all[place] = Some(worker.run_chunk(job, watch));
            }
            while all.iter().any(Option::is_none)
                && let Ok((place, done)) = done.recv()
            {
                all[place] = Some(done);
            }
            let all = all.into_iter().flatten().collect();
            let failed = of.look((under, guess), all, (&mut most, warps), &mut spare);
            if failed || watch.up().or_else(|| bounds.up()).is_some() {
                break;
            }
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
        let place = job.place;
        if back.send((place, worker.run_chunk(job, watch))).is_err() {
            return;
        }
    }
}

/// Views of memory for chunks.
fn jobs(chunks: Vec<Chunk>, under: &Arc<Arena>, guess: &Guess, spare: &mut Slabs) -> Option<Vec<Job>> {
    let mut rooms = spare.share(chunks.len());
    let views = chunks.into_iter().enumerate().map(|(place, chunk)| {
        let mut room = rooms.pop().unwrap_or_default();
        Some(Job { place, chunk, memory: Arena::view(under, &guess.manners, &mut room)? })
    });
    views.collect()
}

impl<C: Explored + 'static> Hosted<C, Flat> {
    /// Runs a chunk as if all blocks before it were over.
    fn run_chunk(&mut self, job: Job, watch: Stopwatch) -> Done {
        let Job { chunk, memory, .. } = job;
        let mut done = Done { chunk, whole: false, last: None, stats: Stats::default(), native: 0, deeds: None };
        let Some(context) = self.device.contexts.first_mut() else { return done };
        let processors = context.processors.clone();
        context.memory = memory;
        let Some(grid) = context.grids.first_mut() else { return done };
        grid.run_ahead((chunk.first, chunk.until), chunk.last);
        let id = grid.id;
        (self.clock, self.native) = (0, 0);
        self.stats.clear();
        let mut printed = false;
        let mut out = |_: &[u8]| printed = true;
        let ran = self.go::<_, Best>(Silent, Run { watch, ..Run::new(&mut Fair, &mut out) });
        (done.native, done.stats) = (self.native, self.stats.iter().find(|(g, _)| *g == id).map_or(done.stats, |s| s.1));
        let Some(context) = self.device.contexts.first_mut() else { return done };
        context.processors = processors;
        done.deeds = context.memory.take().deeds();
        if let Some(grid) = context.grids.first() {
            let ended = grid.next == chunk.until && grid.resident == 0;
            done.whole = ran == Ok(Ran::Idle) && ended && !printed && done.deeds.as_ref().is_some_and(Deeds::is_whole);
            done.last = grid.last;
        }
        done
    }

    /// Looks at the chunks of a wave in order, and makes so what those have done that are right. Gives whether others are of no use from here on.
    fn look(
        &mut self,
        (under, guess): (&mut Arc<Arena>, &mut Guess),
        all: Vec<Done>,
        (most, warps): (&mut u64, u32),
        spare: &mut Slabs,
    ) -> bool {
        let (count, first) = (all.len(), all.first().map(|done| done.chunk));
        let Some(mut last) = first.map(|chunk| chunk.last) else { return true };
        let (mut right, mut learned) = (0, false);
        for done in &all {
            let Some(deeds) = done.deeds.as_ref() else { break };
            learned |= deeds.teach(&mut guess.manners);
            if done.chunk.last != last && !on(Mutant::AheadBegins) {
                guess.was_wrong();
                break;
            }
            if !done.whole || done.stats.warp_instructions >= *most {
                break;
            }
            let met = all[..right].iter().filter_map(|earlier| deeds.meets(earlier.deeds.as_ref()?)).next();
            if let Some(buffer) = met {
                learned |= guess.met(buffer);
                break;
            }
            *most -= done.stats.warp_instructions;
            (last, right) = (done.last, right + 1);
        }
        let mut written = Vec::new();
        for (k, Done { chunk, last, stats, native, deeds, .. }) in all.into_iter().enumerate() {
            let changes = deeds.map(Deeds::written);
            if k >= right {
                changes.into_iter().for_each(|changes| changes.leave(spare));
                continue;
            }
            guess.was_right(chunk, last, stats.warp_instructions, warps);
            self.count(chunk.until, last, (stats, native));
            written.extend(changes);
        }
        // All views are gone.
        let Some(memory) = Arc::get_mut(under) else { return true };
        for changes in written {
            changes.commit(memory);
            changes.leave(spare);
        }
        // A wave that has taught something is none that was in vain: there are few things to be learned.
        let useful = count == 1 || right < count && learned || guess.over(right > 1);
        if right == 0 && !learned {
            // What the first chunk could not do is left to the ordinary way.
            guess.from = first.map(|chunk| chunk.until).filter(|_| useful && guess.over(false));
            return true;
        }
        !useful
    }

    /// Adds what a chunk has done.
    fn count(&mut self, until: u64, last: Last, (stats, native): (Stats, u64)) {
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
