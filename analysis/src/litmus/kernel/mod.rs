//! Real kernels as axioms see them: each CUDA thread of a launch is a thread of an [`axiom::Program`](crate::axiom::Program).
//!
//! A thread runs alone by the machine's own instructions ([`Apart`]), under a shadow that says which of its values are not known and
//! on which reads they depend (`shadow`). What accesses memory that others see becomes events (`access`); local memory, parameters
//! and constants are the thread's own business. Device memory of the machine is scratch here: a read that is known is put there for the
//! instruction to find.
//!
//! The decisions about what is an event, `D-axiom-…`, are in spec-notes/kernels.md.

mod access;
mod asks;
mod barrier;
mod decide;
mod goal;
mod hang;
mod mixed;
mod onward;
mod plans;
mod run;
mod runs;
mod shadow;
mod spin;
mod tags;
#[cfg(test)]
mod tests;
mod watched;

pub use asks::{Asks, Judged};
pub use decide::{accept_kernel, decide_kernel, decide_kernel_until};
pub use goal::{Goal, NoGoal};
pub use hang::decide_hang;
pub use mixed::MIXED_SIZE_RACE;

use crate::axiom::{Event, Known, Place, Program, Trace};
use crate::base::{number, sort};
use crate::explore::Target;
use crate::launch::Mismatch;
use crate::machine::{Apart, Context, Launch};
use crate::program::env::ProgEnv;
use crate::program::instr::Space;
use crate::verdict::{Inside, Named, Shape, Stop};

/// A launch of a kernel as a program of events.
pub struct Kernel {
    apart: Apart,
    /// Buffers and variables by address: locations are their numbers, and behind them the shared memory of each block.
    names: Vec<Named>,
    heads: spin::Heads,
}

/// What a thread does that has no events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The thread.
    pub thread: usize,
    /// Its instruction.
    pub at: Option<u32>,
    /// What that does.
    pub what: String,
}

impl Kernel {
    /// The first launch of a target.
    ///
    /// # Errors
    /// A launch that cannot be; more threads or memory than there are numbers for.
    pub fn of(target: &Target) -> Result<Self, Stop> {
        let launch = target.launches().first().ok_or_else(|| Stop::internal("a target without a launch", None))?;
        Self::new(target.start().context(), launch)
    }

    /// The threads of a launch, from the state of a context's memory now.
    ///
    /// # Errors
    /// A launch that cannot be; more threads or memory than there are numbers for.
    pub fn new(context: &Context, launch: &Launch) -> Result<Self, Stop> {
        let apart = context.apart(launch)?;
        let mut names = apart.memory().names();
        sort::sort_by_key(&mut names, |name| name.address);
        let heads = spin::Heads::of(apart.env());
        Ok(Self { apart, names, heads })
    }

    /// The program that the origins of events are instructions of.
    #[must_use]
    pub fn env(&self) -> &ProgEnv {
        self.apart.env()
    }

    /// Its dimensions.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.apart.shape()
    }

    /// The linear index of a thread's block, and its own in the block.
    #[must_use]
    pub fn spot(&self, thread: usize) -> (u64, u32) {
        let each = u64::from(self.apart.shape().threads().max(1));
        let thread = thread as u64;
        (thread / each, u32::try_from(thread % each).unwrap_or(0))
    }

    /// The variable or buffer that an access is to, and where in it.
    #[must_use]
    pub fn inside(&self, place: Place) -> Option<Inside> {
        let offset = u64::from(place.offset);
        if let Some(name) = self.names.get(place.location as usize) {
            return Some(Inside { name: name.name.clone(), kind: name.kind, offset });
        }
        let entry = self.env().functions.get_index(self.apart.shape().entry as usize)?.1;
        Some(entry.inside_shared(offset))
    }

    /// The block whose shared memory a location is.
    #[must_use]
    pub fn block_of(&self, location: u32) -> Option<u64> {
        (location as usize).checked_sub(self.names.len()).map(|block| block as u64)
    }

    /// The place of so many bytes at an offset in a buffer or variable of device memory.
    #[must_use]
    pub fn place(&self, name: &str, offset: u32, bytes: u32) -> Option<Place> {
        let at = self.names.iter().position(|n| n.name == name)?;
        let location = u32::try_from(at).ok()?;
        Some(Place { location, address: location, offset, bytes })
    }

    /// The places of elements that are other than expected. Of a buffer that is compared in ascending order no element is at fault: it counts only
    /// where there is no other, and as a whole.
    #[must_use]
    pub fn differing(&self, all: &[Mismatch]) -> Vec<Place> {
        let bytes = |mismatch: &Mismatch| u32::from(mismatch.ty.bytes);
        let element = |mismatch: &Mismatch, index: u64| {
            let at = u32::try_from(index).ok()?.checked_mul(bytes(mismatch))?;
            self.place(&mismatch.name, at, bytes(mismatch))
        };
        let in_order = all.iter().filter(|mismatch| !mismatch.unordered);
        let places: Vec<Place> = in_order.flat_map(|m| m.first.iter().filter_map(|d| element(m, d.index))).collect();
        if !places.is_empty() {
            return places;
        }
        let whole = |mismatch: &Mismatch| {
            let count = u32::try_from(mismatch.compared).unwrap_or(u32::MAX);
            self.place(&mismatch.name, 0, count.saturating_mul(bytes(mismatch)))
        };
        all.iter().filter_map(whole).collect()
    }

    /// The place that an access leads to; none where there are no numbers for it.
    fn place_at(&self, block: u64, (space, at): (Space, u64), bytes: u32) -> Option<Place> {
        let (location, offset) = if space == Space::Shared {
            (self.names.len() as u64 + block, at)
        } else {
            let k = self.names.partition_point(|name| name.address <= at).checked_sub(1)?;
            (k as u64, at - self.names[k].address)
        };
        let (location, offset) = (u32::try_from(location).ok()?, u32::try_from(offset).ok()?);
        Some(Place { location, address: location, offset, bytes })
    }

    /// Why a thread stops before its end by a defect or for want of ours, in full; [`Program::run`] gives the kind.
    #[must_use]
    pub fn stop(&self, thread: usize, known: Known<'_>) -> Option<Stop> {
        run::run(self, thread, known, run::Shown::All).stop
    }
}

impl Program for Kernel {
    fn threads(&self) -> usize {
        let shape = self.apart.shape();
        let blocks = shape.grid.iter().map(|n| *n as usize).product::<usize>();
        blocks * shape.threads() as usize
    }

    fn run(&self, thread: usize, known: Known<'_>) -> Trace {
        run::run(self, thread, known, run::Shown::All).trace
    }

    fn tags(&self) -> &[&'static str] {
        tags::NAMES
    }

    /// Memory may be large: [`Program::initial_value`] gives what is asked for.
    fn initial(&self) -> Vec<(Place, u64)> {
        Vec::new()
    }

    fn initial_value(&self, place: Place) -> Option<u64> {
        let bytes = u64::from(place.bytes);
        match self.names.get(place.location as usize) {
            Some(name) => self.apart.memory().bytes_at(name.address + u64::from(place.offset), bytes).map(number),
            // Shared memory is zeroed (D-undefined).
            None => (u64::from(place.offset) + bytes <= self.apart.shared_bytes().into()).then_some(0),
        }
    }

    fn initial_tags(&self, _: Place) -> u64 {
        tags::GEN
    }

    fn related(&self, relation: &str, one: (Option<usize>, &Event), two: (Option<usize>, &Event)) -> bool {
        let (Some(a), Some(b)) = (one.0, two.0) else { return false };
        let near = self.spot(a).0 == self.spot(b).0;
        let scopes = tags::CTA | tags::GPU | tags::SYS;
        let reaches = |event: &Event| event.tags & scopes != 0 && (near || event.tags & tags::CTA == 0);
        match relation {
            "scta" | "meets" => near,
            "sr" => reaches(one.1) && reaches(two.1),
            _ => false,
        }
    }
}
