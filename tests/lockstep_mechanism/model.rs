//! Lockstep sequential consistency by definition, for programs of the mechanism: all orders in which a wavefront's instructions take
//! effect one after the other, the accesses of each in any order, every access at memory at once. It shares nothing with the
//! mechanism but the program as it is written.

use rustc_hash::FxHashSet;
use warpstep::memory::lockstep::{Access, Instruction, Op, Outcome, Source};

/// How far an agent is: its instruction, and which accesses of it have taken effect.
type At = (u8, u8);

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    registers: u64,
    memory: u32,
    agents: [At; 6],
}

fn access(state: &mut State, op: Op, access: Access) {
    let shift = access.at * 4;
    if op != Op::Store {
        let found = u64::from(state.memory >> shift & 0xf);
        state.registers = state.registers & !(0xf << (access.to * 4)) | found << (access.to * 4);
    }
    if op != Op::Load {
        state.memory = state.memory & !(0xf << shift) | u32::from(access.value) << shift;
    }
}

/// The outcomes of a program, sorted, and how many states were gone through.
pub fn outcomes(source: &Source) -> (Vec<Outcome>, usize) {
    let agents: Vec<&Vec<Instruction>> = source.waves.iter().chain(&source.cpus).collect();
    let start = State { registers: 0, memory: 0, agents: [(0, 0); 6] };
    let mut seen = FxHashSet::default();
    let mut left = vec![start.clone()];
    seen.insert(start);
    let mut found = Vec::new();
    while let Some(state) = left.pop() {
        let mut end = true;
        for (k, code) in agents.iter().enumerate() {
            let (at, done) = state.agents[k];
            let Some(instruction) = code.get(usize::from(at)) else { continue };
            end = false;
            let lanes = &instruction.lanes;
            for (lane, what) in lanes.iter().enumerate().filter(|(lane, _)| done >> lane & 1 == 0) {
                let mut next = state.clone();
                access(&mut next, instruction.op, *what);
                let done = done | 1 << lane;
                let through = done.count_ones() as usize == lanes.len();
                next.agents[k] = if through { (at + 1, 0) } else { (at, done) };
                if seen.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
        if end {
            found.push(Outcome { registers: state.registers, memory: state.memory });
        }
    }
    found.sort_unstable();
    found.dedup();
    (found, seen.len())
}

/// Sequential consistency where each agent is a thread: every interleaving, one by one.
pub fn interleavings(source: &Source) -> Vec<Outcome> {
    fn go_on(code: &[&[Instruction]], state: &State, found: &mut Vec<Outcome>) {
        let mut end = true;
        for (k, rest) in code.iter().enumerate() {
            let Some((first, after)) = rest.split_first() else { continue };
            end = false;
            let mut next = state.clone();
            first.lanes.iter().for_each(|a| access(&mut next, first.op, *a));
            let mut code = code.to_vec();
            code[k] = after;
            go_on(&code, &next, found);
        }
        if end {
            found.push(Outcome { registers: state.registers, memory: state.memory });
        }
    }
    let code: Vec<&[Instruction]> = source.waves.iter().chain(&source.cpus).map(Vec::as_slice).collect();
    let mut found = Vec::new();
    go_on(&code, &State { registers: 0, memory: 0, agents: [(0, 0); 6] }, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}
