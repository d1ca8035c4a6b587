//! The memory for kernels beside the abstract machine of the same mechanism: what it shows of small programs is what that one shows, or
//! less, since its coalescer decides which of several lanes' stores stays.

use super::{Case, Ends, mutexes};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::fmt::Write;
use warpstep::explore::lockstep::{Grain as Steps, Options, Search};
use warpstep::memory::lockstep::{Access, Instruction, Op, Outcome, Program, Readings, Source};

/// Programs of a sweep; `LSC_FULL=1` takes twenty times as many.
const PROGRAMS: usize = 40;

/// Two locations in lines of their own, and eight results: wavefront, lane, instruction.
const SHOW: &[usize] = &[0, 16, 64, 65, 66, 67, 80, 81, 82, 83];

/// A lane's part of an instruction: the location and the value that it stores.
type Lane = Option<(u8, u8)>;

/// Two wavefronts of two instructions for two lanes, by chance.
struct Small([[(Op, [Lane; 2]); 2]; 2]);

/// The register of a lane's instruction.
fn register(wave: usize, lane: usize, k: usize) -> u8 {
    u8::try_from(4 * wave + 2 * lane + k).unwrap()
}

impl Small {
    /// Some of them, always the same ones.
    fn some(count: usize) -> impl Iterator<Item = Self> {
        let mut stream = ChaCha8Rng::seed_from_u64(6);
        (0..count).map(move |_| Self::by_chance(&mut stream))
    }

    fn by_chance(stream: &mut ChaCha8Rng) -> Self {
        let mut next = |below: u32| stream.next_u32() % below;
        let mut value = 0;
        Self([(); 2].map(|()| {
            [(); 2].map(|()| {
                let op = [Op::Load, Op::Store, Op::Store, Op::Exchange][next(4) as usize];
                let mask = 1 + next(3);
                let lanes = [0, 1].map(|lane: u32| {
                    value += 1;
                    (mask >> lane & 1 != 0).then(|| (u8::try_from(next(2)).unwrap(), value))
                });
                (op, lanes)
            })
        }))
    }

    /// Whether lanes of an instruction store to one location: the coalescer decides then.
    fn decides(&self) -> bool {
        let same =
            |(op, lanes): &(Op, [Lane; 2])| *op != Op::Load && matches!(lanes, [Some((a, _)), Some((b, _))] if a == b);
        self.0.iter().flatten().any(same)
    }

    /// The program of the abstract machine.
    fn source(&self) -> Source {
        let wave = |(w, code): (usize, &[(Op, [Lane; 2]); 2])| {
            let one = |(k, (op, lanes)): (usize, &(Op, [Lane; 2]))| {
                let access = |(lane, part): (usize, &Lane)| {
                    let (at, value) = (*part)?;
                    let (to, value) = (register(w, lane, k), if *op == Op::Load { 0 } else { value });
                    Some(Access { at, to: if *op == Op::Store { 0 } else { to }, value })
                };
                Instruction { op: *op, lanes: lanes.iter().enumerate().filter_map(access).collect() }
            };
            code.iter().enumerate().map(one).collect()
        };
        Source { lines: vec![0, 1], pool: 2, waves: self.0.iter().enumerate().map(wave).collect(), cpus: Vec::new() }
    }

    /// The kernel.
    fn case(&self) -> Case {
        let mut body =
            ".reg .pred %l;\n.reg .b32 %r<2>;\nand.b32 %b, %t, 1;\nsetp.eq.u32 %l, %b, 1;\nshr.u32 %c, %t, 1;\n\
                        mad.wide.u32 %o, %c, 64, %m;\nmad.wide.u32 %o, %b, 8, %o;\nmov.u32 %r0, 0;\nmov.u32 %r1, 0;\n\
                        setp.gt.u32 %q, %t, 1;\n@%q bra SECOND;\n"
                .to_owned();
        for (w, code) in self.0.iter().enumerate() {
            body += if w == 1 { "SECOND: " } else { "" };
            for (k, (op, lanes)) in code.iter().enumerate() {
                let part = |lane: usize| lanes[lane].unwrap_or_default();
                let guard = match lanes {
                    [Some(_), None] => "@!%l ",
                    [None, Some(_)] => "@%l ",
                    _ => "",
                };
                let ((a, x), (b, y)) = (part(0), part(1));
                write!(body, "add.u64 %v, %m, {};\nadd.u64 %w, %m, {};\nselp.b64 %v, %w, %v, %l;\n", 64 * a, 64 * b)
                    .unwrap();
                write!(body, "mov.u32 %d, {x};\n@%l mov.u32 %d, {y};\n").unwrap();
                match op {
                    Op::Load => writeln!(body, "{guard}ld.global.u32 %r{k}, [%v];"),
                    Op::Store => writeln!(body, "{guard}st.global.u32 [%v], %d;"),
                    Op::Exchange => writeln!(body, "{guard}atom.global.exch.b32 %r{k}, [%v], %d;"),
                }
                .unwrap();
            }
            body += "st.global.v2.u32 [%o+256], {%r0, %r1};\nexit;\n";
        }
        Case::new(&body, 4, 2, SHOW)
    }

    /// What the kernel shows.
    fn shown(&self) -> Ends {
        self.case().searched(&mutexes())
    }

    /// What the abstract machine shows, in the words of the kernel.
    fn allowed(&self) -> Ends {
        let options = &mut Options::new(Readings::REPAIRED, Steps::Needed);
        let space = Search::default().explore(&Program::new(&self.source()).unwrap(), options);
        let words = |outcome: &Outcome| {
            let locations = (0..2).map(|at| outcome.location(at));
            locations.chain((0..8).map(|r| outcome.register(r))).map(u32::from).collect()
        };
        space.ends.keys().map(words).collect()
    }
}

#[test]
fn kernels_show_what_the_abstract_machine_does() {
    let (mut equal, mut plain) = (0, 0);
    let programs = if std::env::var_os("LSC_FULL").is_some() { 20 * PROGRAMS } else { PROGRAMS };
    for (k, small) in Small::some(programs).enumerate() {
        let (ours, allowed) = (small.shown(), small.allowed());
        assert!(ours.is_subset(&allowed), "program {k}: {ours:?}\n{allowed:?}\n{:?}", small.source());
        plain += usize::from(!small.decides());
        equal += usize::from(ours == allowed);
        assert!(small.decides() || ours == allowed, "program {k}: {ours:?}\n{allowed:?}\n{:?}", small.source());
    }
    println!("{equal} of {programs} programs show the same; lanes of {plain} never store to one location together");
    assert!(plain > 0 && equal >= plain);
}
