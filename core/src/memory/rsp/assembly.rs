//! The assembly language (section 5.2) and programs in it.

use super::{DEVICES, EVENTS, FIFO, GROUPS, LOCATIONS, REGISTERS, THREADS};

/// A location, by its number in the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Location(pub u8);

/// A register, by its number among those of all threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Register(pub u8);

/// An access to memory, by its number among those of all threads: no instruction is executed twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Event(pub u8);

/// A number, or what a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A number.
    Number(i32),
    /// A register.
    Register(Register),
}

/// Where an atomic operation takes place, or which caches are meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Level {
    /// The L1 cache of a work-group.
    L1,
    /// The L2 cache of a device.
    L2,
    /// Global memory: an addition of ours (D-rsp-all).
    Global,
}

/// Whose caches or locks an instruction is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Reach {
    /// The own work-group's.
    Group,
    /// The own device's.
    Device,
    /// All.
    System,
}

/// What is computed of two numbers of 32 bits, which wrap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(
    missing_docs,
    reason = "the usual ones; comparisons give 1 or 0; a quotient by zero is 0; `Right` is the right operand"
)]
pub enum Function {
    Add,
    Sub,
    Mul,
    Div,
    And,
    Or,
    Xor,
    Right,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Function {
    /// Its result.
    #[must_use]
    pub const fn of(self, left: i32, right: i32) -> i32 {
        match self {
            Self::Add => left.wrapping_add(right),
            Self::Sub => left.wrapping_sub(right),
            Self::Mul => left.wrapping_mul(right),
            Self::Div => match right {
                0 => 0,
                _ => left.wrapping_div(right),
            },
            Self::And => left & right,
            Self::Or => left | right,
            Self::Xor => left ^ right,
            Self::Right => right,
            Self::Eq => (left == right) as i32,
            Self::Ne => (left != right) as i32,
            Self::Lt => (left < right) as i32,
            Self::Le => (left <= right) as i32,
            Self::Gt => (left > right) as i32,
            Self::Ge => (left >= right) as i32,
        }
    }
}

/// What a read-modify-write makes of the value that it finds. The paper has the increment alone (D-rsp-update).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Update {
    /// `INC`: one more.
    Increment,
    /// A function of it and of an operand.
    Apply(Function, Operand),
    /// The second operand, where it finds the first; otherwise nothing is stored.
    Exchange(Operand, Operand),
}

/// The instructions of table 1, and control flow, which it leaves out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Instruction {
    /// `LD r x`
    Load(Register, Location),
    /// `ST r x`
    Store(Operand, Location),
    /// `INC_L1 r x`, `INC_L2 r x`. The register of an exchange gets what was found, as that of an increment does.
    Update(Level, Update, Register, Location),
    /// `FLU_L1 WG`, …: a marker into each fifo.
    Flush(Level, Reach),
    /// `INV_L1 WG`, …
    Invalidate(Level, Reach),
    /// `LK_L2 x`
    Lock(Location),
    /// `UL_L2 x`
    Unlock(Location),
    /// `LK_rmw DV`, `LK_rmw SY`
    LockRmw(Reach),
    /// `UL_rmw DV`, `UL_rmw SY`
    UnlockRmw(Reach),
    /// Control flow: computes a register.
    Compute(Function, Register, Operand, Operand),
    /// Control flow: to the position where the operand is 0.
    SkipUnless(Operand, u8),
    /// Control flow: to the position.
    Skip(u8),
}

impl Instruction {
    /// The location that it reads or writes.
    #[must_use]
    pub const fn accesses(self) -> Option<Location> {
        match self {
            Self::Load(_, at) | Self::Store(_, at) | Self::Update(_, _, _, at) => Some(at),
            _ => None,
        }
    }

    /// Whether it is about registers and positions only, so that nobody else notices it.
    #[must_use]
    pub const fn is_control(self) -> bool {
        matches!(self, Self::Compute(..) | Self::SkipUnless(..) | Self::Skip(_))
    }
}

/// A thread: where it is and what it executes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    /// Its work-group, among all.
    pub group: u8,
    /// Its instructions. Positions of skips are beyond the skip: nothing is executed twice.
    pub code: Vec<Instruction>,
}

/// A program: what the paper has as lists of lists of lists, flattened.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Program {
    /// The device of each work-group, ascending from 0.
    devices: Vec<u8>,
    threads: Vec<Thread>,
    /// What each location begins with.
    initial: Vec<i32>,
    registers: u8,
    /// The event of each instruction of each thread, where it accesses memory.
    events: Vec<Vec<Option<Event>>>,
    /// The thread and position of each event.
    places: Vec<(u8, u8)>,
    /// The location of each event.
    locations: Vec<Location>,
}

/// Why a program does not fit: what of it there is too much of, how much, and how much fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooBig {
    /// What: `threads`, `locations`, …
    pub what: &'static str,
    /// How many there are.
    pub count: usize,
    /// How many there may be.
    pub most: usize,
}

impl Program {
    /// A program. `devices` has the device of each work-group.
    ///
    /// # Errors
    /// What there is too much of.
    pub fn new(devices: Vec<u8>, threads: Vec<Thread>, initial: Vec<i32>, registers: usize) -> Result<Self, TooBig> {
        let (mut events, mut places, mut locations) = (Vec::new(), Vec::new(), Vec::new());
        for (thread, index) in threads.iter().zip(0_u8..) {
            let event = |(instruction, position): (&Instruction, u8)| {
                instruction.accesses().map(|at| {
                    places.push((index, position));
                    locations.push(at);
                    Event(u8::try_from(places.len() - 1).unwrap_or(u8::MAX))
                })
            };
            events.push(thread.code.iter().zip(0..).map(event).collect());
        }
        let longest = threads.iter().map(|t| t.code.len()).max().unwrap_or(0);
        let groups = devices.len();
        let program = Self { devices, threads, initial, registers: 0, events, places, locations };
        for (what, count, most) in [
            ("devices", program.device_count(), DEVICES),
            ("work-groups", groups, GROUPS),
            ("threads", program.threads.len(), THREADS),
            ("locations", program.initial.len(), LOCATIONS),
            ("registers", registers, REGISTERS),
            ("accesses to memory", program.places.len(), EVENTS),
            ("instructions of a thread", longest, 250),
            ("stores and flushes that a fifo may have to hold", program.longest_fifo(), FIFO),
        ] {
            if count > most {
                return Err(TooBig { what, count, most });
            }
        }
        Ok(Self { registers: u8::try_from(registers).unwrap_or(u8::MAX), ..program })
    }

    /// How long a fifo can become, at most: every store and every marker is in it once.
    fn longest_fifo(&self) -> usize {
        let enqueues =
            |i: &&Instruction| matches!(i, Instruction::Store(..) | Instruction::Update(..) | Instruction::Flush(..));
        let fills = self.threads.iter().map(|t| t.code.iter().filter(enqueues).count());
        // What is flushed from an L1 cache enters the fifo of the L2 cache.
        fills.sum()
    }

    /// How many devices there are.
    #[must_use]
    pub fn device_count(&self) -> usize {
        self.devices.last().map_or(0, |d| usize::from(*d) + 1)
    }

    /// How many work-groups there are.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.devices.len()
    }

    /// The device of a work-group.
    #[must_use]
    pub fn device_of(&self, group: usize) -> usize {
        usize::from(self.devices[group])
    }

    /// The threads.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The work-group of a thread.
    #[must_use]
    pub fn group_of(&self, thread: usize) -> usize {
        usize::from(self.threads[thread].group)
    }

    /// What the locations begin with.
    #[must_use]
    pub fn initial(&self) -> &[i32] {
        &self.initial
    }

    /// How many registers the threads have together.
    #[must_use]
    pub fn registers(&self) -> usize {
        usize::from(self.registers)
    }

    /// Thread and position of each event.
    #[must_use]
    pub fn events(&self) -> &[(u8, u8)] {
        &self.places
    }

    /// The instruction of an event.
    #[must_use]
    pub fn at(&self, event: Event) -> Instruction {
        let (thread, position) = self.places[usize::from(event.0)];
        self.threads[usize::from(thread)].code[usize::from(position)]
    }

    /// The location of an event.
    #[must_use]
    pub fn location_of(&self, event: Event) -> Location {
        self.locations[usize::from(event.0)]
    }

    /// The event of an instruction, by thread and position.
    #[must_use]
    pub fn event(&self, thread: usize, position: usize) -> Option<Event> {
        self.events[thread].get(position).copied().flatten()
    }

    /// Whether an instruction is about L2 caches as such or about global memory: none is, in the paper's schemes.
    #[must_use]
    pub fn goes_below_l2(&self) -> bool {
        let goes = |i: &Instruction| {
            matches!(
                i,
                Instruction::Flush(Level::L2, _)
                    | Instruction::Invalidate(Level::L2, _)
                    | Instruction::Update(Level::Global, ..)
            )
        };
        self.threads.iter().flat_map(|t| &t.code).any(goes)
    }
}
