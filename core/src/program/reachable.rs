//! Whether threads can still come to an instruction, and whether they do nothing more but end (D-barrier-lanes).
//!
//! Both are asked when some lanes of a warp are at a barrier and others are not. They are told from the code alone: every
//! branch may be taken or not, and a call comes back. So "can come" may be said of lanes that never will; "cannot" is
//! certain. What was found for an instruction is kept, since a program asks about its few barriers over and over.

use super::env::ProgEnv;
use super::instr::{Instr, Op};
use crate::base::sort;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was asked and found.
#[derive(Debug, Default)]
pub struct Reachable(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// For an instruction, from where it can be reached.
    leading: FxHashMap<u32, Arc<FixedBitSet>>,
    /// For a barrier and an exit, whether those who exit there did more than that.
    went_on: FxHashMap<(u32, u32), bool>,
}

impl Reachable {
    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing is half done when somebody panics: entries are made whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Reachable {
    /// What was found is found again.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Instructions that may be between lanes and their end, at most: those that injection and compilers put there.
const STEPS: u32 = 64;

impl ProgEnv {
    /// Whether a thread at the address `from`, with these return addresses, can come to the instruction `to`. It can when it
    /// is there.
    #[must_use]
    pub fn can_reach(&self, from: u32, returns: &[u32], to: u32) -> bool {
        let set = self.leading_to(to);
        std::iter::once(&from).chain(returns).any(|pc| set.contains(*pc as usize))
    }

    /// Whether a thread at the address `from` does nothing more but end: no branch is left to be decided, and nobody could
    /// notice what it still does. `returns` are its return addresses, innermost first.
    #[must_use]
    pub fn only_leaves(&self, from: u32, returns: &[u32]) -> bool {
        let (mut pc, mut returns) = (from, returns.iter());
        for _ in 0..STEPS {
            let Some(i) = self.code.get(pc as usize) else { return false };
            pc = match i.op {
                Op::Nop | Op::ProxyFence | Op::Ssy | Op::PreBrk | Op::PreRet | Op::Sync => pc + 1,
                _ if i.guard.is_some() => return false,
                Op::Bra | Op::Break => i.imm,
                Op::Exit => return true,
                Op::Ret => match returns.next() {
                    Some(back) => *back,
                    None => return false,
                },
                _ => return false,
            };
        }
        false
    }

    /// Whether a thread that exits at `exit`, while others wait for it at `barrier`, did anything after it could no longer
    /// come there: so it is when every way on which that happened leads to more than the exit.
    #[must_use]
    pub fn went_on(&self, barrier: u32, exit: u32) -> bool {
        if let Some(known) = self.reachable.known().went_on.get(&(barrier, exit)) {
            return *known;
        }
        let (comes, exits) = (self.leading_to(barrier), self.leading_to(exit));
        let mut away = comes.ones().filter_map(|pc| {
            let pc = u32::try_from(pc).ok()?;
            Some(self.successors(pc, self.code.get(pc as usize)?))
        });
        let mut found = false;
        let harmless = away.any(|next| {
            let mut left = next.into_iter().filter(|n| !comes.contains(*n as usize) && exits.contains(*n as usize));
            left.any(|n| {
                found = true;
                self.only_leaves(n, &[])
            })
        });
        let went_on = found && !harmless;
        self.reachable.known().went_on.insert((barrier, exit), went_on);
        went_on
    }

    /// The instructions from which one can be reached, itself among them.
    fn leading_to(&self, to: u32) -> Arc<FixedBitSet> {
        if let Some(known) = self.reachable.known().leading.get(&to) {
            return Arc::clone(known);
        }
        let found = Arc::new(self.find_leading_to(to));
        self.reachable.known().leading.insert(to, Arc::clone(&found));
        found
    }

    fn find_leading_to(&self, to: u32) -> FixedBitSet {
        let mut edges: Vec<(u32, u32)> = Vec::with_capacity(self.code.len());
        for (pc, i) in (0..).zip(&self.code) {
            edges.extend(self.successors(pc, i).into_iter().map(|next| (next, pc)));
        }
        sort::sort(&mut edges);
        let mut found = FixedBitSet::with_capacity(self.code.len());
        let mut todo = vec![to];
        while let Some(pc) = todo.pop() {
            if (pc as usize) < found.len() && !found.put(pc as usize) {
                let first = edges.partition_point(|e| e.0 < pc);
                todo.extend(edges[first..].iter().take_while(|e| e.0 == pc).map(|e| e.1));
            }
        }
        found
    }

    /// Where a thread may be after an instruction. A call leads into the function and behind itself.
    #[must_use]
    pub fn successors(&self, pc: u32, i: &Instr) -> SmallVec<[u32; 2]> {
        let mut next = SmallVec::new();
        let start = |f: u32| self.functions.get_index(f as usize).map(|(_, f)| f.start.0);
        let table = |t: u32| self.tables.get(t as usize).into_iter().flatten().copied();
        match i.op {
            Op::Bra | Op::Break => next.push(i.imm),
            Op::Brx => next.extend(table(i.imm)),
            Op::Call => next.extend(start(i.imm)),
            Op::CallIndirect if i.imm == u32::MAX => next.extend(self.functions.values().map(|f| f.start.0)),
            Op::CallIndirect => next.extend(table(i.imm).filter_map(start)),
            _ => {}
        }
        let ends = matches!(i.op, Op::Bra | Op::Break | Op::Brx | Op::Ret | Op::Exit | Op::Trap);
        if !ends || i.guard.is_some() {
            next.push(pc + 1);
        }
        next
    }
}
