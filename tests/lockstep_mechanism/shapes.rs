//! Programs: by hand, all small ones up to symmetry, and random ones.

use warpstep::memory::lockstep::{Access, Instruction, Op, Source};

/// An instruction without its registers and values: what each lane does is the same, each at a location.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Shape(pub Op, pub Vec<u8>);

pub fn load(at: &[u8]) -> Shape {
    Shape(Op::Load, at.to_vec())
}

pub fn store(at: &[u8]) -> Shape {
    Shape(Op::Store, at.to_vec())
}

pub fn exchange(at: &[u8]) -> Shape {
    Shape(Op::Exchange, at.to_vec())
}

/// A program: registers are numbered in the order in which its accesses are written, and each store has a value of its own.
pub fn program(waves: &[&[Shape]], cpus: &[&[Shape]], lines: &[u64], pool: u32) -> Source {
    let (mut register, mut value) = (0, 0);
    let mut instruction = |Shape(op, at): &Shape| {
        let lanes = at.iter().map(|at| {
            let access = Access { at: *at, to: register, value: value + 1 };
            register += u8::from(*op != Op::Store);
            value += u8::from(*op != Op::Load);
            match op {
                Op::Load => Access { value: 0, ..access },
                Op::Store => Access { to: 0, ..access },
                Op::Exchange => access,
            }
        });
        Instruction { op: *op, lanes: lanes.collect() }
    };
    let mut code = |agents: &[&[Shape]]| agents.iter().map(|a| a.iter().map(&mut instruction).collect()).collect();
    let (waves, cpus) = (code(waves), code(cpus));
    Source { lines: lines.to_vec(), pool, waves, cpus }
}

/// The instructions of a wavefront of two lanes on two locations, up to the order of its lanes, which neither the model nor the mechanism
/// looks at; with how many of the sixteen or twenty-four, partial masks among them, each stands for.
pub fn wave_instructions(ops: &[Op]) -> Vec<(Shape, u64)> {
    let places: [(&[u8], u64); 5] = [(&[0], 2), (&[1], 2), (&[0, 0], 1), (&[0, 1], 2), (&[1, 1], 1)];
    ops.iter().flat_map(|op| places.map(|(at, count)| (Shape(*op, at.to_vec()), count))).collect()
}

/// What the wavefronts do, and what the CPU threads do.
pub type Agents = (Vec<Vec<Shape>>, Vec<Vec<Shape>>);

/// The same with the locations exchanged.
fn mirrored((waves, cpus): &Agents) -> Agents {
    let shape = |Shape(op, at): &Shape| {
        let mut at: Vec<u8> = at.iter().map(|at| 1 - at).collect();
        at.sort_unstable();
        Shape(*op, at)
    };
    let [waves, cpus] = [waves, cpus].map(|agents| {
        let mut agents: Vec<Vec<Shape>> = agents.iter().map(|code| code.iter().map(shape).collect()).collect();
        agents.sort();
        agents
    });
    (waves, cpus)
}

const fn twice(distinct: bool) -> u64 {
    if distinct { 2 } else { 1 }
}

/// One or two agents of two instructions each, in one order only; with how many they stand for.
fn agents(one: &[(Shape, u64)], count: usize) -> Vec<(Vec<Vec<Shape>>, u64)> {
    let mut codes = Vec::new();
    for (first, a) in one {
        codes.extend(one.iter().map(|(second, b)| (vec![first.clone(), second.clone()], a * b)));
    }
    codes.sort();
    if count == 1 {
        return codes.into_iter().map(|(code, a)| (vec![code], a)).collect();
    }
    let pair = |k: usize, (first, a): &(Vec<Shape>, u64)| {
        let with =
            |(second, b): &(Vec<Shape>, u64)| (vec![first.clone(), second.clone()], a * b * twice(first != second));
        codes[k..].iter().map(with).collect::<Vec<_>>()
    };
    codes.iter().enumerate().flat_map(|(k, first)| pair(k, first)).collect()
}

/// All programs with two instructions in each of so many wavefronts and CPU threads, one of each that differ by the names of lanes, agents
/// and locations; with how many it stands for.
pub fn all(ops: &[Op], [waves, cpus]: [usize; 2], look: &mut dyn FnMut(&Agents, u64)) {
    let one: Vec<_> = ops.iter().flat_map(|op| [0, 1].map(|at| (Shape(*op, vec![at]), 1))).collect();
    let cpus = agents(&one, cpus);
    for (waves, a) in agents(&wave_instructions(ops), waves) {
        for (cpus, b) in &cpus {
            let both = (waves.clone(), cpus.clone());
            let other = mirrored(&both);
            if both <= other {
                look(&both, a * b * twice(both != other));
            }
        }
    }
}

/// Three instructions in each of two wavefronts and in a CPU thread, of lanes that are active or not.
pub fn random(next: &mut dyn FnMut(u32) -> u32) -> Agents {
    let ops = [Op::Load, Op::Load, Op::Store, Op::Store, Op::Exchange];
    let mut wave = || {
        let mut code = Vec::new();
        for _ in 0..3 {
            let op = ops[next(5) as usize];
            let mask = 1 + next(3);
            let lanes = (0..2).filter(|lane| mask >> lane & 1 != 0).map(|_| next(2) as u8).collect();
            code.push(Shape(op, lanes));
        }
        code
    };
    let waves = vec![wave(), wave()];
    let cpu = (0..3).map(|_| Shape(ops[next(5) as usize], vec![next(2) as u8])).collect();
    (waves, vec![cpu])
}
