//! What a search may leave out (D-rsp-reduced): nothing, or what no outcome and no execution graph of a complete execution needs.

use super::ahead::Ahead;
use super::grain::Grain;
use super::pack::location;
use super::step::Step;
use crate::base::mutant::{Mutant, on};
use crate::memory::rsp::{Entry, GROUPS, Instruction, LOCATIONS, Level, Move, Program, System};

/// What is left out of a search.
pub(super) struct Reduced<'a> {
    pub program: &'a Program,
    pub grain: Grain,
    /// There is one device: its L2 cache is as good as memory.
    pub below: bool,
    /// Whether values of different writes are told apart.
    pub ghost: bool,
    pub ahead: Ahead,
    moves: Vec<Move>,
}

/// Fetches into L1 caches that are made before a step, as bits: of which work-group, and of which location.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Fetches(pub u64);

const _: () = assert!(GROUPS * LOCATIONS <= 64);

impl Fetches {
    /// One fetch.
    pub const fn one(group: usize, at: usize) -> Self {
        Self(1 << (group * LOCATIONS + at))
    }

    /// Both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The transitions, in their order.
    pub fn moves(self) -> impl Iterator<Item = Move> {
        let set = (0..GROUPS * LOCATIONS).filter(move |bit| self.0 >> bit & 1 == 1);
        set.map(|bit| Move::Fetch(Level::L1, (bit / LOCATIONS) as u8, location(bit % LOCATIONS)))
    }

    /// The parts of it, but for the empty one.
    pub fn parts(self) -> impl Iterator<Item = Self> {
        let mut next = self.0;
        std::iter::from_fn(move || {
            let part = next;
            next = next.wrapping_sub(1) & self.0;
            (part != 0).then_some(Self(part))
        })
    }
}

/// Whether the L2 cache of a program is taken for memory.
#[must_use]
pub fn l2_is_memory(program: &Program, grain: Grain) -> bool {
    grain == Grain::Needed && program.device_count() == 1
}

impl<'a> Reduced<'a> {
    pub fn new(program: &'a Program, grain: Grain, ghost: bool) -> Self {
        let below = l2_is_memory(program, grain);
        let mut moves = Vec::new();
        System::moves(program, &mut moves);
        if grain == Grain::Needed {
            moves.retain(|m| match m {
                Move::Flush(level, ..) => !below || *level == Level::L1,
                // Those into L1 caches are made with the steps that need them.
                Move::Fetch(level, ..) => !below && *level == Level::L2,
                _ => false,
            });
        }
        Self { program, grain, below, ghost, ahead: Ahead::new(program), moves }
    }

    /// The transitions of the environment that are tried.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The first state.
    pub fn start(&self) -> System {
        let mut system = System::new(self.program);
        if self.below {
            system.fill_l2(self.program.initial().len());
        }
        system.carry_on(self.program);
        system
    }

    /// Whether a transition may lead to something new.
    pub fn is_needed(&self, system: &System, step: Move) -> bool {
        let (Grain::Needed, Move::Fetch(Level::L2, device, at)) = (self.grain, step) else { return true };
        let (device, k) = (usize::from(device), usize::from(at.0));
        let same = |e: Entry| self.alike(e, Entry { value: system.global[k].0, source: system.global[k].1, ..e });
        if system.l2[device].valid(at).is_some_and(same) {
            return false;
        }
        let left = self.ahead.left(self.program, system);
        let groups = (0..self.program.group_count()).filter(|g| self.program.device_of(*g) == device);
        groups.fold(0, |bits, g| bits | left.first[g] | left.second[g]) >> k & 1 == 1
    }

    /// Whether two entries hold the same.
    pub fn alike(&self, one: Entry, other: Entry) -> bool {
        one.value == other.value && (!self.ghost || one.source == other.source)
    }

    /// The fetch that lets a thread's next instruction read something else than the entry of its L1 cache.
    pub fn before(&self, system: &System, thread: usize) -> Option<Fetches> {
        let code = &self.program.threads()[thread].code;
        let at = match code.get(usize::from(system.next[thread]))? {
            Instruction::Load(_, at) | Instruction::Update(Level::L1, _, _, at) => *at,
            _ => return None,
        };
        let group = self.program.group_of(thread);
        let fetch = system.fetchable(self.program, group, at)?;
        let differs = system.l1[group].valid(at).is_none_or(|own| !self.alike(own, fetch));
        differs.then(|| Fetches::one(group, at.0.into()))
    }

    /// The fetches that were possible before a step and are so no more, or give something else, as far as somebody may read what they gave.
    pub fn lost(&self, before: &System, step: Step, after: &System) -> Fetches {
        let mut lost = Fetches::default();
        let changes = match step {
            Step::Environment(_) => true,
            Step::Thread(t) => self.instruction(before, usize::from(t)).is_some_and(|i| {
                matches!(i, Instruction::Update(Level::L2 | Level::Global, ..) | Instruction::Lock(_))
                    || matches!(i, Instruction::Invalidate(Level::L2, _))
            }),
        };
        if !changes || on(Mutant::RspFetchesForgotten) {
            return lost;
        }
        let left = self.ahead.left(self.program, after);
        for group in 0..self.program.group_count() {
            for at in (0..self.program.initial().len()).filter(|at| left.first[group] >> at & 1 == 1) {
                if self.is_lost(before, after, group, at) && !self.drops(before, step, group, at) {
                    lost = lost.and(Fetches::one(group, at));
                }
            }
        }
        lost
    }

    fn is_lost(&self, before: &System, after: &System, group: usize, at: usize) -> bool {
        let at = location(at);
        let Some(had) = before.fetchable(self.program, group, at) else { return false };
        if before.l1[group].valid(at).is_some_and(|own| self.alike(own, had)) {
            return false;
        }
        // What was written to the own L1 cache meanwhile, or flushed from it, is not asked: it was dirty, so that nothing was fetched.
        !after.fetchable(self.program, group, at).is_some_and(|has| self.alike(had, has))
    }

    fn instruction(&self, system: &System, thread: usize) -> Option<Instruction> {
        self.program.threads()[thread].code.get(usize::from(system.next[thread])).copied()
    }

    /// Whether a step makes the entry of an L1 cache invalid that it changes the location of.
    fn drops(&self, before: &System, step: Step, group: usize, at: usize) -> bool {
        let Step::Thread(thread) = step else { return false };
        let thread = usize::from(thread);
        let updates = |i: Instruction| matches!(i, Instruction::Update(_, _, _, on) if usize::from(on.0) == at);
        self.program.group_of(thread) == group && self.instruction(before, thread).is_some_and(updates)
    }

    /// Global memory at the end of a complete execution.
    pub fn memory(&self, system: &System) -> Vec<i32> {
        system.global[..self.program.initial().len()].iter().map(|cell| cell.0).collect()
    }
}

/// Whether a cache holds something to be flushed.
pub(super) fn dirty(program: &Program, system: &System) -> bool {
    let caches = system.l1[..program.group_count()].iter().chain(&system.l2[..program.device_count()]);
    caches.into_iter().any(|c| (0..program.initial().len()).any(|at| !c.not_dirty(location(at))))
}
