//! What threads will still do: for each position of each thread, the locations and the fifos that it can touch from there on.

use crate::memory::rsp::{DEVICES, GROUPS, Instruction, LOCATIONS, Level, Program, Reach, System};

/// Locations, groups or devices as bits.
type Bits = u8;

const _: () = assert!(GROUPS <= 8 && DEVICES <= 8 && LOCATIONS <= 8);

/// What is done from a position on, whichever way a condition goes.
#[derive(Clone, Copy, Default)]
struct Rest {
    /// Locations that the L1 cache is read for.
    first: Bits,
    /// Locations that the L2 cache is read for.
    second: Bits,
    /// Locations that are written, perhaps.
    writes: Bits,
    /// Locations that an instruction names.
    names: Bits,
    /// The work-groups into whose fifos a marker goes.
    marks_l1: Bits,
    /// The devices into whose fifos a marker goes.
    marks_l2: Bits,
}

impl Rest {
    const fn or(self, other: Self) -> Self {
        Self {
            first: self.first | other.first,
            second: self.second | other.second,
            writes: self.writes | other.writes,
            names: self.names | other.names,
            marks_l1: self.marks_l1 | other.marks_l1,
            marks_l2: self.marks_l2 | other.marks_l2,
        }
    }

    fn of(program: &Program, group: usize, instruction: Instruction) -> Self {
        let device = program.device_of(group);
        let none = Self::default();
        match instruction {
            Instruction::Load(_, at) => Self { first: 1 << at.0, names: 1 << at.0, ..none },
            Instruction::Store(_, at) => Self { writes: 1 << at.0, names: 1 << at.0, ..none },
            Instruction::Update(level, _, _, at) => {
                let bit = 1 << at.0;
                let reads = |of: Level| if level == of { bit } else { 0 };
                Self { first: reads(Level::L1), second: reads(Level::L2), writes: bit, names: bit, ..none }
            }
            Instruction::Lock(at) | Instruction::Unlock(at) => Self { names: 1 << at.0, ..none },
            Instruction::Flush(Level::L1, reach) => {
                let reached = |g: &usize| match reach {
                    Reach::Group => *g == group,
                    Reach::Device => program.device_of(*g) == device,
                    Reach::System => true,
                };
                Self { marks_l1: (0..program.group_count()).filter(reached).fold(0, |bits, g| bits | 1 << g), ..none }
            }
            Instruction::Flush(_, Reach::System) => Self { marks_l2: Bits::MAX, ..none },
            Instruction::Flush(..) => Self { marks_l2: 1 << device, ..none },
            _ => none,
        }
    }
}

/// What is still done, of all positions of all threads.
pub(super) struct Ahead(Vec<Vec<Rest>>);

/// What is still done in a state.
#[derive(Clone, Copy, Default)]
pub(super) struct Left {
    /// By work-group: the locations that its threads read its L1 cache for.
    pub first: [Bits; GROUPS],
    /// By work-group: the locations that its threads read the L2 cache for.
    pub second: [Bits; GROUPS],
    /// By work-group: the locations that its threads name.
    pub names: [Bits; GROUPS],
    /// The locations that are written by anybody.
    pub writes: Bits,
    /// The work-groups whose fifos get markers.
    pub marks_l1: Bits,
    /// The devices whose fifos get markers.
    pub marks_l2: Bits,
}

impl Ahead {
    pub fn new(program: &Program) -> Self {
        let of = |thread: usize| {
            let code = &program.threads()[thread].code;
            let mut rests = vec![Rest::default(); code.len() + 1];
            for (position, instruction) in code.iter().enumerate().rev() {
                rests[position] = Rest::of(program, program.group_of(thread), *instruction).or(rests[position + 1]);
            }
            rests
        };
        Self((0..program.threads().len()).map(of).collect())
    }

    pub fn left(&self, program: &Program, system: &System) -> Left {
        let mut left = Left::default();
        for (thread, rests) in self.0.iter().enumerate() {
            let Some(rest) = rests.get(usize::from(system.next[thread])) else { continue };
            let group = program.group_of(thread);
            left.first[group] |= rest.first;
            left.second[group] |= rest.second;
            left.names[group] |= rest.names;
            left.writes |= rest.writes;
            left.marks_l1 |= rest.marks_l1;
            left.marks_l2 |= rest.marks_l2;
        }
        left
    }
}
