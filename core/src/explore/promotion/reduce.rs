//! What a search may leave out (D-rsp-reduced): nothing, or what no outcome and no execution graph of a complete execution needs.

use super::grain::Grain;
use super::pack::location;
use crate::memory::rsp::{Entry, Fifo, Hygiene, Instruction, Level, Move, Program, System};

/// What is left out of a search.
pub(super) struct Reduced<'a> {
    program: &'a Program,
    grain: Grain,
    /// There is one device and nobody asks for its L2 cache to be flushed: that cache is as good as memory.
    below: bool,
    /// For each thread and position, the locations that its L1 cache is read for from there on, and its L2 cache, as bits.
    ahead: Vec<Vec<[u8; 2]>>,
    moves: Vec<Move>,
}

impl<'a> Reduced<'a> {
    pub fn new(program: &'a Program, grain: Grain) -> Self {
        let ahead = program.threads().iter().map(|t| ahead(&t.code)).collect();
        let below = grain == Grain::Needed && program.device_count() == 1 && !program.goes_below_l2();
        let mut moves = Vec::new();
        System::moves(program, &mut moves);
        if grain == Grain::Needed {
            moves.retain(
                |m| matches!(m, Move::Flush(level, ..) | Move::Fetch(level, ..) if !below || *level == Level::L1),
            );
        }
        Self { program, grain, below, ahead, moves }
    }

    /// The transitions of the environment that are tried.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The first state.
    pub fn start(&self) -> System {
        let mut system = System::new(self.program);
        if self.below {
            for at in 0..self.program.initial().len() {
                let (value, source) = system.global[at];
                let entry = Entry { value, source, present: true, hygiene: Hygiene::Clean, valid: true };
                system.l2[0].entries[at] = entry;
            }
        }
        system.carry_on(self.program);
        system
    }

    /// Whether a transition may lead to something new.
    pub fn is_needed(&self, system: &System, step: Move) -> bool {
        if self.grain == Grain::Every {
            return true;
        }
        let Move::Fetch(level, which, at) = step else { return true };
        let (which, bit) = (usize::from(which), 1 << at.0);
        let mut threads = (0..self.program.threads().len()).filter(|t| {
            let group = self.program.group_of(*t);
            if level == Level::L1 { group == which } else { self.program.device_of(group) == which }
        });
        threads.any(|t| {
            let [first, second] = self.ahead[t].get(usize::from(system.next[t])).copied().unwrap_or_default();
            (if level == Level::L1 { first } else { first | second }) & bit != 0
        })
    }

    /// Does at once what never does harm. `told` hears of each transition, with the state after it.
    pub fn settle(&self, system: &mut System, told: &mut dyn FnMut(Move, &System)) {
        if self.grain == Grain::Every {
            return;
        }
        for group in 0..self.program.group_count() {
            self.dequeue(system, Level::L1, group, told);
        }
        if self.below {
            system.l2[0].fifo = Fifo::default();
            system.l2[0].entries.iter_mut().for_each(|e| e.hygiene = Hygiene::Clean);
        } else {
            for device in 0..self.program.device_count() {
                self.dequeue(system, Level::L2, device, told);
            }
        }
    }

    /// Removes from a fifo what can leave it.
    fn dequeue(&self, system: &mut System, level: Level, which: usize, told: &mut dyn FnMut(Move, &System)) {
        let which = u8::try_from(which).unwrap_or(u8::MAX);
        while let Some(step) = [Move::DequeueLocation(level, which), Move::DequeueMarker(level, which)]
            .into_iter()
            .find(|step| system.perform(self.program, *step).is_some())
        {
            told(step, system);
        }
    }

    /// Global memory at the end of a complete execution.
    pub fn memory(&self, system: &System) -> Vec<i32> {
        let cell = |at: usize| if self.below { system.l2[0].entries[at].value } else { system.global[at].0 };
        (0..self.program.initial().len()).map(cell).collect()
    }
}

/// The locations that caches are read for from each position on.
fn ahead(code: &[Instruction]) -> Vec<[u8; 2]> {
    let mut masks = vec![[0; 2]; code.len() + 1];
    for (position, instruction) in code.iter().enumerate().rev() {
        let mut mask = masks[position + 1];
        match instruction {
            Instruction::Load(_, at) | Instruction::Update(Level::L1, _, _, at) => mask[0] |= 1 << at.0,
            Instruction::Update(Level::L2, _, _, at) => mask[1] |= 1 << at.0,
            _ => {}
        }
        masks[position] = mask;
    }
    masks
}

/// All locations of a program that an L1 cache holds something to be flushed of.
pub(super) fn dirty(program: &Program, system: &System) -> bool {
    let caches = system.l1[..program.group_count()].iter().chain(&system.l2[..program.device_count()]);
    caches.into_iter().any(|c| (0..program.initial().len()).any(|at| !c.not_dirty(location(at))))
}
