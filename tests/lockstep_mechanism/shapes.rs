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

/// Two wavefronts and a CPU thread.
pub type Trio = ([Vec<Shape>; 2], Vec<Shape>);

/// The same with the locations exchanged.
fn mirrored((waves, cpu): &Trio) -> Trio {
    let shape = |Shape(op, at): &Shape| {
        let mut at: Vec<u8> = at.iter().map(|at| 1 - at).collect();
        at.sort_unstable();
        Shape(*op, at)
    };
    let code = |code: &Vec<Shape>| code.iter().map(shape).collect();
    let mut waves = [code(&waves[0]), code(&waves[1])];
    waves.sort();
    (waves, code(cpu))
}

/// All programs with two instructions in each of two wavefronts and in a CPU thread, one of each that differ by the names of lanes,
/// wavefronts and locations; with how many it stands for.
pub fn all(ops: &[Op], look: &mut dyn FnMut(&Trio, u64)) {
    let one = wave_instructions(ops);
    let mut codes = Vec::new();
    for (first, a) in &one {
        codes.extend(one.iter().map(|(second, b)| (vec![first.clone(), second.clone()], a * b)));
    }
    codes.sort();
    let cpu: Vec<Shape> = ops.iter().flat_map(|op| [0, 1].map(|at| Shape(*op, vec![at]))).collect();
    for (k, (first, a)) in codes.iter().enumerate() {
        for (second, b) in &codes[k..] {
            for x in &cpu {
                for y in &cpu {
                    let trio = ([first.clone(), second.clone()], vec![x.clone(), y.clone()]);
                    let other = mirrored(&trio);
                    let twice = |distinct: bool| if distinct { 2 } else { 1 };
                    if trio <= other {
                        look(&trio, a * b * twice(first != second) * twice(trio != other));
                    }
                }
            }
        }
    }
}

/// Three instructions in each of two wavefronts and in a CPU thread, of lanes that are active or not.
pub fn random(next: &mut dyn FnMut(u32) -> u32) -> Trio {
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
    let waves = [wave(), wave()];
    let cpu = (0..3).map(|_| Shape(ops[next(5) as usize], vec![next(2) as u8])).collect();
    (waves, cpu)
}
