//! Barriers of a litmus test as barriers of PTX (D-litmus-barrier).
//!
//! In the format a barrier without a quorum is met by the threads of its cta whose code has a barrier of the same instance
//! and number, arrivals among them; PTX's barrier without a count is met by the whole block. So the threads are counted,
//! and the count is given. Each pair of instance and number gets a barrier of its own. A number in a register is known
//! when the thread never writes the register; otherwise it cannot be told who meets, unless nobody else can.
//!
//! A quorum is the count. When more threads come than the quorum, the format lets the late ones pass, PTX begins anew.
//! So each takes a number from a counter of the block as it comes, and who comes after the quorum passes by. Where a thread
//! may come twice that is a gap.

use super::layout::{Layout, Placement};
use crate::litmus::error::Gap;
use crate::litmus::tree::{DeclKind, Initial, Instruction, Litmus, Thread, Value};
use indexmap::IndexSet;

/// Barriers of a block (PTX ISA, `bar`).
const BARRIERS: usize = 16;

/// A barrier as PTX has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Met {
    /// Its number.
    pub(super) id: usize,
    /// The threads that meet; none when these are all of the block.
    pub(super) count: Option<u32>,
    /// More threads than these come: the late ones pass.
    pub(super) late: bool,
}

/// What tells a barrier from others of its block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    instance: i64,
    /// `None`: not given.
    number: Option<i64>,
}

/// The number of a barrier whose number depends on a register. Barriers have small numbers.
const ANY: i64 = i64::MIN;

/// The number that a thread's operand is; `None` when it depends on a register that the thread writes.
fn known(value: &Value, thread: &Thread, litmus: &Litmus) -> Option<i64> {
    let name = match value {
        Value::Number(n, _) => return Some(*n),
        Value::Register(ident) => ident.name.as_str(),
    };
    if thread.instructions().any(|(i, _)| i.target().is_some_and(|to| to.name == name)) {
        return None;
    }
    let initial = litmus.init.iter().find_map(|d| match &d.kind {
        DeclKind::Register { thread: t, name: n, value, .. } if *t == thread.number && n.name == name => Some(value),
        _ => None,
    });
    match initial {
        None => Some(0),
        Some(Initial::Number(n)) => Some(*n),
        Some(Initial::Of(_)) => None,
    }
}

/// The barriers of a test, found while its code is written.
pub(super) struct Barriers<'a> {
    litmus: &'a Litmus,
    ids: IndexSet<Key>,
}

impl<'a> Barriers<'a> {
    pub(super) fn of(litmus: &'a Litmus) -> Self {
        Self { litmus, ids: IndexSet::new() }
    }

    /// The barrier that an instruction of a thread is.
    ///
    /// # Errors
    /// What PTX cannot express.
    pub(super) fn meet(
        &mut self,
        k: usize,
        layout: &Layout<'_>,
        instance: i64,
        barrier: Option<&Value>,
        quorum: Option<&Value>,
    ) -> Result<Met, Gap> {
        let thread = &self.litmus.threads[k];
        let number = match barrier.map(|value| known(value, thread, self.litmus)) {
            None => None,
            Some(Some(n)) => Some(n),
            Some(None) => Some(ANY),
        };
        // One whose number is not known may be any of its instance.
        let clashes = |k: Key| k.instance == instance && (number == Some(ANY) || k.number == Some(ANY));
        if self.keys(thread, |t| t.number != thread.number).any(clashes) {
            return Err(Gap::BarrierNumber);
        }
        let key = Key { instance, number };
        let comes = |t: &&Thread| self.keys(t, |other| other.number == t.number).any(|other| other == key);
        let threads = u32::try_from(self.cta(thread).filter(comes).count()).unwrap_or(u32::MAX);
        let count = match quorum {
            None => threads,
            Some(value) => {
                let quorum = known(value, thread, self.litmus).ok_or(Gap::Quorum)?;
                let quorum = u64::try_from(quorum).unwrap_or(0);
                if quorum < threads.into() && !self.once(thread, key) {
                    return Err(Gap::Latecomers { quorum, threads });
                }
                u32::try_from(quorum).unwrap_or(u32::MAX)
            }
        };
        if layout.placement == Placement::Blocks && count > 1 {
            return Err(Gap::BarrierOfBlocks);
        }
        let (id, _) = self.ids.insert_full(key);
        if id >= BARRIERS {
            return Err(Gap::Barriers);
        }
        // PTX counts whole warps; a barrier that the whole block meets need not be counted.
        if count.is_multiple_of(layout.warp_size) {
            Ok(Met { id, count: Some(count), late: count < threads })
        } else if quorum.is_none() && threads as usize == self.cta(thread).count() {
            Ok(Met { id, count: None, late: false })
        } else {
            Err(Gap::PartOfWarp { count, warp: layout.warp_size })
        }
    }

    /// Whether each thread of a thread's cta comes to a barrier once at most.
    fn once(&self, thread: &Thread, key: Key) -> bool {
        let jumps = |i: &Instruction| matches!(i, Instruction::Goto(_) | Instruction::Branch { .. });
        self.cta(thread).all(|t| {
            let times = self.keys(t, |other| other.number == t.number).filter(|k| *k == key).count();
            times == 0 || times == 1 && !t.instructions().any(|(i, _)| jumps(i))
        })
    }

    /// What the barriers of some threads of a thread's cta are.
    fn keys(&self, thread: &Thread, which: impl Fn(&Thread) -> bool) -> impl Iterator<Item = Key> {
        let cta = self.cta(thread).filter(move |t| which(t));
        cta.flat_map(|t| t.instructions().map(move |(i, _)| (t, i))).filter_map(|(t, i)| match i {
            Instruction::Barrier { instance, barrier, .. } => {
                let number = barrier.as_ref().map(|b| known(b, t, self.litmus).unwrap_or(ANY));
                Some(Key { instance: *instance, number })
            }
            _ => None,
        })
    }

    /// The threads of a thread's cta.
    fn cta(&self, thread: &Thread) -> impl Iterator<Item = &'a Thread> {
        let of = thread.place.group();
        self.litmus.threads.iter().filter(move |t| t.place.group() == of)
    }
}
