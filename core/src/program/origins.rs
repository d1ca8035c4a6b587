//! Which variable the address of an access was made from, as far as the code alone says (D-roots).
//!
//! A register holds an address of a variable when it was made from that variable's address and integers: by moves, sums,
//! masks, conversions between address widths and choices between addresses of the same variable. A value made of two variables
//! belongs to none, and one that comes from memory, a parameter or another thread is an integer: what is not known to be an
//! address of a variable is never taken for one.

use super::env::ProgEnv;
use super::flow::Graph;
use super::fncode::FnCode;
use super::instr::{Instr, Op, Slot};
use super::ops::{Class, IntOp};
use super::uses::{reads, writes};
use crate::verdict::AllocKind;
use rustc_hash::FxHashMap;

/// The number in place of an object's where none is known.
pub const NO_OBJECT: u32 = u32::MAX;
/// Values of registers that are copied between blocks before giving up.
const LIMIT: usize = 1 << 24;

/// A variable of shared, local or parameter memory: what an access whose address was made from it must stay in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Shared, local or parameter memory.
    pub kind: AllocKind,
    /// Its name.
    pub name: String,
    /// Its first byte, from the start of its memory, or of the stack frame.
    pub begin: u32,
    /// One past its last byte; the largest number there is where only the launch says.
    pub end: u32,
    /// Whether it lies in the stack frame.
    pub framed: bool,
}

impl Object {
    /// Where its first byte is and how many there are, in a memory of `size` bytes; `stack` is the start of the frame.
    #[must_use]
    #[inline(always)]
    pub fn within(&self, size: u64, stack: u32) -> (u64, u64) {
        let base = if self.framed { u64::from(stack) } else { 0 };
        let first = base + u64::from(self.begin);
        (first, (base + u64::from(self.end)).min(size).saturating_sub(first))
    }
}

/// The part of shared memory that an instruction's words may lie in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Where the first word begins.
    pub begin: u32,
    /// Bytes from there on; the largest number there is for all.
    pub bytes: u32,
}

impl Room {
    /// All of it.
    pub const ALL: Self = Self { begin: 0, bytes: u32::MAX };

    /// That of an object; of one that lies elsewhere, everything.
    #[must_use]
    pub fn of(object: &Object) -> Self {
        if object.kind != AllocKind::Shared {
            return Self::ALL;
        }
        // Words are aligned, so none of the object's begins before.
        let begin = object.begin.checked_next_multiple_of(4).unwrap_or(object.end);
        Self { begin, bytes: object.end.saturating_sub(begin) }
    }
}

/// What a register holds; an integer where nothing is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// An address in an object.
    Of(u32),
    /// Made of addresses in a way that leaves open of which.
    Mixed,
}

/// Registers that hold no plain integers.
type State = FxHashMap<(Class, Slot), Value>;

/// Adds the objects that the addresses of requests were made from to those that requests name. `seeds` are the slots that hold
/// addresses of objects from the start.
pub fn origins(function: &FnCode, env: &ProgEnv, seeds: &[(Class, Slot, u32)], found: &mut FxHashMap<u32, u32>) {
    if seeds.is_empty() {
        return;
    }
    let graph = Graph::of(&function.code, &function.tables);
    let states = states(function, &graph, env, seeds);
    for (block, state) in graph.blocks().iter().zip(states) {
        let Some(mut state) = state else { continue };
        for at in block.start as usize..block.end as usize {
            let instr = &function.code[at];
            if let Some(request) = env.requests.get(instr.imm as usize).filter(|_| instr.op == Op::Mem)
                && let Some(Value::Of(object)) = state.get(&(request.address_class(), request.addr))
            {
                found.entry(instr.imm).or_insert(*object);
            }
            step(instr, env, &mut state);
        }
    }
}

/// The same by instruction; [`NO_OBJECT`] where none is known.
pub fn by_instruction(function: &FnCode, found: &FxHashMap<u32, u32>) -> Vec<u32> {
    let of = |i: &Instr| found.get(&i.imm).copied().filter(|_| i.op == Op::Mem);
    function.code.iter().map(|i| of(i).unwrap_or(NO_OBJECT)).collect()
}

/// What registers hold where each block begins; `None` for one that is never reached. Empty: that would take too long.
fn states(function: &FnCode, graph: &Graph, env: &ProgEnv, seeds: &[(Class, Slot, u32)]) -> Vec<Option<State>> {
    let mut states: Vec<Option<State>> = vec![None; graph.blocks().len()];
    let Some(first) = states.first_mut() else { return states };
    *first = Some(seeds.iter().map(|(class, slot, object)| ((*class, *slot), Value::Of(*object))).collect());
    let (mut work, mut cost) = (vec![0usize], 0);
    while let Some(b) = work.pop() {
        let Some(mut state) = states[b].clone() else { continue };
        let block = graph.blocks()[b];
        for instr in &function.code[block.start as usize..block.end as usize] {
            step(instr, env, &mut state);
        }
        for next in graph.successors(b).map(|n| n as usize) {
            cost += state.len() + 1;
            if cost > LIMIT {
                return Vec::new();
            }
            let changed = match &mut states[next] {
                Some(known) => join(known, &state),
                unreached => {
                    *unreached = Some(state.clone());
                    true
                }
            };
            if changed && !work.contains(&next) {
                work.push(next);
            }
        }
    }
    states
}

/// Both ways come together: what they do not agree on is mixed. Whether that says less than before.
fn join(known: &mut State, other: &State) -> bool {
    let mut changed = false;
    for (slot, value) in &mut *known {
        if *value != Value::Mixed && other.get(slot) != Some(value) {
            *value = Value::Mixed;
            changed = true;
        }
    }
    for slot in other.keys() {
        known.entry(*slot).or_insert_with(|| {
            changed = true;
            Value::Mixed
        });
    }
    changed
}

/// An instruction changes what registers hold.
fn step(instr: &Instr, env: &ProgEnv, state: &mut State) {
    let value = match instr.op {
        Op::Int(op) => computed(op, instr, env, state),
        // What memory holds is an integer, whoever put it there.
        Op::Mem => None,
        _ => any(instr, env, state),
    };
    let guarded = instr.guard.is_some();
    writes(instr, env, |class, slot| {
        let slot = (class, slot);
        // Lanes that sit it out keep what they have.
        let value = if guarded && state.get(&slot).copied() != value { Some(Value::Mixed) } else { value };
        match value {
            Some(value) => state.insert(slot, value),
            None => state.remove(&slot),
        };
    });
}

/// A result that is made of what the instruction reads in a way that is not followed.
fn any(instr: &Instr, env: &ProgEnv, state: &State) -> Option<Value> {
    let mut mixed = None;
    reads(instr, env, |class, slot| {
        if state.contains_key(&(class, slot)) {
            mixed = Some(Value::Mixed);
        }
    });
    mixed
}

fn computed(op: IntOp, instr: &Instr, env: &ProgEnv, state: &State) -> Option<Value> {
    use IntOp as I;
    let shape = op.shape();
    let source = |k: usize| {
        let slot = [instr.a, instr.b, instr.c, instr.e][k];
        shape.sources.get(k).and_then(|class| state.get(&(*class, slot)).copied())
    };
    let sum = |a: Option<Value>, b: Option<Value>| match (a, b) {
        (one, None) | (None, one) => one,
        (Some(_), Some(_)) => Some(Value::Mixed),
    };
    match op {
        I::MovW | I::MovQ | I::ZextWQ | I::SextWQ | I::TruncQW => source(0),
        // Masks align addresses, and set bits that alignment leaves clear.
        I::Add32 | I::Add64 | I::And32 | I::And64 | I::Or32 | I::Or64 | I::Xor32 | I::Xor64 => {
            sum(source(0), source(1))
        }
        I::Sub32 | I::Sub64 => match (source(0), source(1)) {
            (one, None) => one,
            // A distance within one object.
            (Some(Value::Of(a)), Some(Value::Of(b))) if a == b => None,
            _ => Some(Value::Mixed),
        },
        I::MadLo32 | I::MadLo64 | I::MadWideU32 | I::MadWideS32 if source(0).or(source(1)).is_none() => source(2),
        I::SelW | I::SelQ if source(0) == source(1) => source(0),
        _ => any(instr, env, state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::instr::Guard;

    const A: (Class, Slot) = (Class::W, Slot(2));
    const B: (Class, Slot) = (Class::W, Slot(3));

    fn op(op: IntOp, d: u16, a: u16, b: u16) -> Instr {
        Instr { d: Slot(d), a: Slot(a), b: Slot(b), ..Instr::new(Op::Int(op)) }
    }

    /// What 32-bit slots 4 to 7 hold at the last instruction; 2 and 3 are addresses of two objects.
    fn at_end(mut code: Vec<Instr>) -> Vec<Option<Value>> {
        code.push(Instr::new(Op::Exit));
        let function = FnCode { code, ..FnCode::default() };
        let env = ProgEnv::default();
        let graph = Graph::of(&function.code, &[]);
        let states = states(&function, &graph, &env, &[(A.0, A.1, 0), (B.0, B.1, 1)]);
        let last = graph.blocks().len() - 1;
        let mut state = states[last].clone().unwrap();
        let block = graph.blocks()[last];
        function.code[block.start as usize..block.end as usize].iter().for_each(|i| step(i, &env, &mut state));
        (4..8).map(|slot| state.get(&(Class::W, Slot(slot))).copied()).collect()
    }

    #[test]
    fn sums_keep_their_object_and_two_objects_are_none() {
        let (a, mixed) = (Some(Value::Of(0)), Some(Value::Mixed));
        let add = |d, a, b| op(IntOp::Add32, d, a, b);
        let sub = |d, a, b| op(IntOp::Sub32, d, a, b);
        let shl = |d, a, b| op(IntOp::Shl32, d, a, b);
        assert_eq!(at_end(vec![add(4, 9, 2), sub(5, 4, 9), sub(6, 3, 2), add(7, 2, 6)]), [a, a, mixed, mixed]);
        assert_eq!(at_end(vec![add(4, 2, 9), sub(5, 4, 2), shl(6, 2, 9), shl(7, 9, 9)]), [a, None, mixed, None]);
    }

    #[test]
    fn ways_that_meet_agree_or_leave_it_open() {
        let guard = Some(Guard { pred: Slot(0), negated: false });
        let jump = |to| Instr { imm: to, guard, ..Instr::new(Op::Bra) };
        // 4 is of the first object on both ways, 5 on one; 6 of one or the other; 7 goes on through a loop.
        let code = vec![
            op(IntOp::MovW, 4, 2, 0),
            op(IntOp::MovW, 5, 2, 0),
            op(IntOp::MovW, 6, 2, 0),
            op(IntOp::MovW, 7, 2, 0),
            jump(8),
            op(IntOp::Add32, 4, 4, 9),
            op(IntOp::MovW, 5, 9, 0),
            op(IntOp::MovW, 6, 3, 0),
            op(IntOp::Add32, 7, 7, 9),
            jump(8),
        ];
        assert_eq!(at_end(code), [Some(Value::Of(0)), Some(Value::Mixed), Some(Value::Mixed), Some(Value::Of(0))]);
        let sits_out = Instr { guard, ..op(IntOp::MovW, 4, 2, 0) };
        assert_eq!(at_end(vec![sits_out])[0], Some(Value::Mixed));
        assert_eq!(at_end(vec![op(IntOp::MovW, 4, 2, 0), sits_out])[0], Some(Value::Of(0)));
    }
}
