//! Conversions to and from formats of few bits, by random numbers too (`cvt.rs`), `cvt.pack` and `fma.oob`, against models of
//! their own (`conversions/model.rs`). Nothing of the implementation is used here but to run the kernels.

#[path = "conversions/model.rs"]
mod model;

use chacha20::ChaCha8Rng;
use model::{Clamp, Format, Way, exponent};
use rand::{RngExt, SeedableRng};
use std::fmt::Write as _;
use warpstep::Kernel;

const THREADS: usize = 128;
/// Words of operands for each instruction and thread.
const WORDS: usize = 5;

const SMALL: [&str; 5] = ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"];

/// An instruction and what it gives of five words.
struct Case {
    /// `%w0` to `%w4` are the words, `%f0` to `%f3` the first ones as numbers; the result goes to `%d`.
    text: String,
    model: Box<dyn Fn([u32; WORDS]) -> u32>,
}

/// All combinations of `.relu` and, where it may be left out, `.satfinite`.
fn clamps(finite: Option<bool>) -> Vec<(String, Clamp)> {
    let all = [false, true].into_iter().flat_map(|relu| [false, true].map(|finite| Clamp { relu, finite }));
    let wanted = all.filter(|clamp| finite.is_none_or(|finite| clamp.finite == finite));
    let text = |clamp: &Clamp| {
        format!("{}{}", if clamp.relu { ".relu" } else { "" }, if clamp.finite { ".satfinite" } else { "" })
    };
    wanted.map(|clamp| (text(&clamp), clamp)).collect()
}

/// Two codes, the first one above.
fn joined(format: Format, high: u32, low: u32) -> u32 {
    high << format.distance() | low
}

fn single(word: u32) -> f64 {
    f64::from(f32::from_bits(word))
}

/// The instruction with a destination of 8, 16 or 32 bits, and what makes a word of it.
fn into(bits: u32, head: &str, sources: &str) -> String {
    match bits {
        8 => format!("{head} %b, {sources}; mov.b16 %h, {{%b, %z}}; cvt.u32.u16 %d, %h;"),
        16 => format!("{head} %h, {sources}; cvt.u32.u16 %d, %h;"),
        _ => format!("{head} %d, {sources};"),
    }
}

/// From f32 by nearest numbers and towards zero, one and two at a time.
fn from_single() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, way) in [("rn", Way::Near), ("rz", Way::Zero)] {
        for to in ["f16", "bf16"] {
            let format = Format::named(to);
            for (text, clamp) in clamps(None) {
                let code = move |word: u32| format.code(single(word), way, clamp);
                cases.push(Case {
                    text: into(32, &format!("cvt.{name}{text}.{to}x2.f32"), "%f0, %f1"),
                    model: Box::new(move |w| joined(format, code(w[0]), code(w[1]))),
                });
                cases.push(Case {
                    text: into(16, &format!("cvt.{name}{text}.{to}.f32"), "%f0"),
                    model: Box::new(move |w| code(w[0])),
                });
            }
        }
    }
    for to in SMALL {
        let format = Format::named(to);
        for (text, clamp) in clamps(Some(true)) {
            let code = move |word: u32| format.code(single(word), Way::Near, clamp);
            cases.push(Case {
                text: into(2 * format.distance(), &format!("cvt.rn{text}.{to}x2.f32"), "%f0, %f1"),
                model: Box::new(move |w| joined(format, code(w[0]), code(w[1]))),
            });
        }
    }
    cases
}

/// Between formats of 16 bits and those of fewer.
fn packed() -> Vec<Case> {
    let mut cases = Vec::new();
    for (wide, small) in ["f16", "bf16"].into_iter().flat_map(|wide| SMALL.map(|small| (wide, small))) {
        let [of, to] = [wide, small].map(Format::named);
        for (text, clamp) in clamps(Some(true)) {
            cases.push(Case {
                text: into(2 * to.distance(), &format!("cvt.rn{text}.{small}x2.{wide}x2"), "%w0"),
                model: Box::new(move |w| {
                    let code = |bits: u32| to.code(of.value(bits & 0xffff), Way::Near, clamp);
                    joined(to, code(w[0] >> 16), code(w[0]))
                }),
            });
        }
        for (text, clamp) in clamps((wide == "f16").then_some(false)) {
            let head = format!("cvt.rn{text}.{wide}x2.{small}x2");
            let source = if small == "e2m1" { "mov.b16 {%b, %z}, %l;" } else { "" };
            let operand = if small == "e2m1" { "%b" } else { "%l" };
            cases.push(Case {
                text: format!("{source} {}", into(32, &head, operand)),
                model: Box::new(move |w| {
                    let mask = (1 << to.distance()) - 1;
                    let code = |bits: u32| of.code(to.value(bits & mask), Way::Near, clamp);
                    joined(of, code(w[0] >> to.distance()), code(w[0]))
                }),
            });
        }
    }
    for (name, up) in [("rz", false), ("rp", true)] {
        for (text, finite) in [("", false), (".satfinite", true)] {
            let head = format!("cvt.{name}{text}.ue8m0x2");
            let code = move |value: f64| exponent(value, up, finite);
            cases.push(Case {
                text: into(16, &format!("{head}.f32"), "%f0, %f1"),
                model: Box::new(move |w| code(single(w[0])) << 8 | code(single(w[1]))),
            });
            cases.push(Case {
                text: into(16, &format!("{head}.bf16x2"), "%w0"),
                model: Box::new(move |w| {
                    code(Format::Bf16.value(w[0] >> 16)) << 8 | code(Format::Bf16.value(w[0] & 0xffff))
                }),
            });
        }
    }
    cases.push(Case {
        text: into(32, "cvt.rn.bf16x2.ue8m0x2", "%l"),
        model: Box::new(|w| {
            let code = |bits: u32| match bits & 0xff {
                0xff => 0x7fff,
                power => Format::Bf16.code(2f64.powi(power as i32 - 127), Way::Near, Clamp::default()),
            };
            code(w[0] >> 8) << 16 | code(w[0])
        }),
    });
    cases
}

/// `.s2f6`: integers of 64ths, at most 127 of them.
fn fixed(value: f64, relu: bool) -> u32 {
    let code = if value.is_nan() { 127.0 } else { (value * 64.0).round_ties_even().clamp(-127.0, 127.0) };
    (if relu { code.max(0.0) } else { code }) as i32 as u32 & 0xff
}

/// A scale factor, and whether it is one: it has the bits of an exponent.
fn factor(code: u32) -> f64 {
    match code & 0xff {
        0xff => f64::NAN,
        code => 2f64.powi(code as i32 - 127),
    }
}

/// Fixed points, and conversions with a scale factor for each value: the last word's low half.
fn scaled() -> Vec<Case> {
    let mut cases = Vec::new();
    let scale = "cvt.u16.u32 %m, %w4;";
    for (relu, text) in [(false, ""), (true, ".relu")] {
        for (with, last) in [("", ""), (".scaled::n2::ue8m0", ", %m")] {
            let ones = with.is_empty();
            let by = move |w: &[u32; WORDS], shift: u32| if ones { 1.0 } else { factor(w[4] >> shift) };
            cases.push(Case {
                text: format!(
                    "{scale} {}",
                    into(16, &format!("cvt.rn.satfinite{text}{with}.s2f6x2.f32"), &format!("%f0, %f1{last}"))
                ),
                model: Box::new(move |w| {
                    fixed(single(w[0]) / by(&w, 8), relu) << 8 | fixed(single(w[1]) / by(&w, 0), relu)
                }),
            });
            cases.push(Case {
                text: format!(
                    "{scale} {}",
                    into(16, &format!("cvt.rn.satfinite{text}{with}.s2f6x2.bf16x2"), &format!("%w0{last}"))
                ),
                model: Box::new(move |w| {
                    let [high, low] = [w[0] >> 16, w[0] & 0xffff].map(|code| Format::Bf16.value(code));
                    fixed(high / by(&w, 8), relu) << 8 | fixed(low / by(&w, 0), relu)
                }),
            });
            for (finite, clamped) in [(false, ""), (true, ".satfinite")] {
                let head = format!("cvt.rn{clamped}{text}{with}.bf16x2");
                let code = move |value: f64| Format::Bf16.code(value, Way::Near, Clamp { relu, finite });
                cases.push(Case {
                    text: format!("{scale} {}", into(32, &format!("{head}.s2f6x2"), &format!("%l{last}"))),
                    model: Box::new(move |w| {
                        let [high, low] = [w[0] >> 8, w[0]].map(|code| f64::from(code as u8 as i8) / 64.0);
                        code(high * by(&w, 8)) << 16 | code(low * by(&w, 0))
                    }),
                });
                for small in SMALL {
                    let format = Format::named(small);
                    let source = if small == "e2m1" { "mov.b16 {%b, %z}, %l;" } else { "" };
                    let operand = if small == "e2m1" { "%b" } else { "%l" };
                    cases.push(Case {
                        text: format!(
                            "{scale} {source} {}",
                            into(32, &format!("{head}.{small}x2"), &format!("{operand}{last}"))
                        ),
                        model: Box::new(move |w| {
                            let mask = (1 << format.distance()) - 1;
                            let [high, low] = [w[0] >> format.distance(), w[0]].map(|code| format.value(code & mask));
                            code(high * by(&w, 8)) << 16 | code(low * by(&w, 0))
                        }),
                    });
                }
            }
        }
    }
    cases
}

/// By random numbers: which bits of the last word are whose (D-random).
fn by_random_numbers() -> Vec<Case> {
    let mut cases = Vec::new();
    for (to, bits) in [("f16", 13), ("bf16", 16)] {
        let format = Format::named(to);
        for (text, clamp) in clamps(None) {
            cases.push(Case {
                text: into(32, &format!("cvt.rs{text}.{to}x2.f32"), "%f0, %f1, %w4"),
                model: Box::new(move |w| {
                    let code = |word: u32, random: u32| {
                        format.code(single(word), Way::Random(random & ((1 << bits) - 1), bits), clamp)
                    };
                    joined(format, code(w[0], w[4] >> 16), code(w[1], w[4]))
                }),
            });
        }
    }
    for to in SMALL {
        let format = Format::named(to);
        for (text, clamp) in clamps(Some(true)) {
            cases.push(Case {
                text: into(4 * format.distance(), &format!("cvt.rs{text}.{to}x4.f32"), "{%f0, %f1, %f2, %f3}, %w4"),
                model: Box::new(move |w| {
                    let [low, high] = [w[4] & 0xffff, w[4] >> 16];
                    let reversed = |half: u32| (0..16).map(|i| (half >> i & 1) << (15 - i)).sum();
                    let (bits, random): (u32, [u32; 4]) = match format {
                        Format::E2m1 => (8, [high >> 8, low >> 8, high & 0xff, low & 0xff]),
                        _ => (16, [reversed(high), high, reversed(low), low]),
                    };
                    (0..4).fold(0, |all, i| {
                        let code = format.code(single(w[i]), Way::Random(random[i], bits), clamp);
                        all << format.distance() | code
                    })
                }),
            });
        }
    }
    cases
}

/// `cvt.pack`: clamped integers, above what the third source has.
fn integers() -> Vec<Case> {
    let mut cases = Vec::new();
    for (bits, sign) in [2, 4, 8, 16].into_iter().flat_map(|bits| ['u', 's'].map(|sign| (bits, sign))) {
        let (tail, third) = if bits == 16 { ("s32", "") } else { ("s32.b32", ", %w2") };
        let clamp = move |word: u32| {
            let (low, high) =
                if sign == 'u' { (0, (1i64 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) };
            i64::from(word.cast_signed()).max(low).min(high) as u64 & ((1 << bits) - 1)
        };
        cases.push(Case {
            text: into(32, &format!("cvt.pack.sat.{sign}{bits}.{tail}"), &format!("%w0, %w1{third}")),
            model: Box::new(move |w| {
                let above = if bits == 16 { 0 } else { u64::from(w[2]) << (2 * bits) };
                (above | clamp(w[0]) << bits | clamp(w[1])) as u32
            }),
        });
    }
    cases
}

/// A sum that stands on the right side of all numbers of few bits: what rounding took away moves it by as little as there is.
fn sum(product: f64, z: f64) -> f64 {
    let all = product + z;
    let part = all - product;
    let rest = (product - (all - part)) + (z - part);
    if rest > 0.0 {
        all.next_up()
    } else if rest < 0.0 {
        all.next_down()
    } else {
        all
    }
}

/// `fma.oob`: +0 where a factor is the NaN of what is out of bounds.
fn out_of_bounds() -> Vec<Case> {
    let mut cases = Vec::new();
    for (of, packed) in [("f16", false), ("bf16", false), ("f16", true), ("bf16", true)] {
        let format = Format::named(of);
        let sat = if of == "f16" { &["", ".relu", ".sat"][..] } else { &["", ".relu"][..] };
        for modifier in sat.iter().copied() {
            let one = move |a: u32, b: u32, c: u32| {
                let [a, b, c] = [a, b, c].map(|code| code & 0xffff);
                if [a, b].iter().any(|code| code & 0x7fff == 0x7ff7) {
                    return 0;
                }
                let [x, y, z] = [a, b, c].map(|code| format.value(code));
                let exact = sum(x * y, z);
                let value = match modifier {
                    ".sat" if exact > 0.0 => exact.min(1.0),
                    ".sat" => 0.0,
                    _ => exact,
                };
                format.code(value, Way::Near, Clamp { relu: modifier == ".relu", finite: false })
            };
            let head = format!("fma.rn.oob{modifier}.{of}{}", if packed { "x2" } else { "" });
            cases.push(if packed {
                Case {
                    text: into(32, &head, "%w0, %w1, %w2"),
                    model: Box::new(move |w| one(w[0] >> 16, w[1] >> 16, w[2] >> 16) << 16 | one(w[0], w[1], w[2])),
                }
            } else {
                Case { text: into(16, &head, "%l, %m, %n"), model: Box::new(move |w| one(w[0], w[1], w[2])) }
            });
        }
    }
    cases
}

fn ptx(cases: &[Case]) -> String {
    let mut text = format!(
        ".version 9.2\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b32 %t, %d, %w<5>; .reg .f32 %f<4>; .reg .b64 %i, %o; .reg .b16 %h, %l, %m, %n; .reg .b8 %b, %z;\n\
         ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n\
         mad.wide.u32 %i, %t, {}, %i; mad.wide.u32 %o, %t, {}, %o;\nmov.b16 %h, 0; mov.b16 {{%b, %z}}, %h;\n",
        4 * WORDS * cases.len(),
        4 * cases.len()
    );
    for (k, case) in cases.iter().enumerate() {
        for word in 0..WORDS {
            write!(text, "ld.global.u32 %w{word}, [%i+{}]; ", 4 * (WORDS * k + word)).unwrap();
        }
        writeln!(
            text,
            "mov.b32 %f0, %w0; mov.b32 %f1, %w1; mov.b32 %f2, %w2; mov.b32 %f3, %w3;\n\
             cvt.u16.u32 %l, %w0; cvt.u16.u32 %m, %w1; cvt.u16.u32 %n, %w2; mov.b16 {{_, %z}}, 0;\n\
             {}\nst.global.u32 [%o+{}], %d;",
            case.text,
            4 * k
        )
        .unwrap();
    }
    text + "ret;\n}\n"
}

/// Numbers at which something may change, of all formats, and any.
fn word(random: &mut ChaCha8Rng) -> u32 {
    let half = |random: &mut ChaCha8Rng| match random.random_range(0..4) {
        0 => [0x7ff7, 0xfff7, 0x7fff, 0x7c00, 0xfc00, 0x7f80, 0x8000, 0x3c00][random.random_range(0..8)],
        _ => random.random::<u16>(),
    };
    match random.random_range(0..9) {
        0 => random.random(),
        1 => u32::from(half(random)) << 16 | u32::from(half(random)),
        // A number of a small format as f32, or one close by.
        2..=4 => {
            let exponent = random.random_range(-28..20);
            let value = f64::from(random.random_range(0..64)) / 16.0 * 2f64.powi(exponent);
            let near = (value as f32).to_bits().wrapping_add_signed(random.random_range(-2..3));
            near ^ u32::from(random.random::<bool>()) << 31
        }
        5 => [0, 1, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x477f_e000, 0x7f7f_ffff]
            [random.random_range(0..8)],
        6 => random.random_range(-70_000i32..70_000).cast_unsigned(),
        // Numbers of medium size.
        _ => {
            (random.random::<f32>() * 2f32.powi(random.random_range(-12..18))).to_bits() ^ random.random::<u32>() << 31
        }
    }
}

/// Every result is the model's.
fn agree(cases: &[Case], seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let text = ptx(cases);
    for _ in 0..12 {
        let inputs: Vec<u32> = (0..WORDS * THREADS * cases.len()).map(|_| word(&mut random)).collect();
        let mut results = vec![0u32; THREADS * cases.len()];
        let kernel = Kernel::from_ptx(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(THREADS as u32);
        kernel.arg(&inputs).arg(&mut results[..]).run().unwrap_or_else(|e| panic!("{e}\n{text}"));
        for (at, result) in results.iter().enumerate() {
            let words = std::array::from_fn(|i| inputs[WORDS * at + i]);
            let case = &cases[at % cases.len()];
            let wanted = (case.model)(words);
            assert_eq!(*result, wanted, "{} of {words:x?} is {result:#x}, wanted {wanted:#x}", case.text);
        }
    }
}

#[test]
fn from_single_precision() {
    agree(&from_single(), 1);
}

#[test]
fn between_packed_formats() {
    agree(&packed(), 2);
}

#[test]
fn fixed_points_and_scale_factors() {
    agree(&scaled(), 6);
}

#[test]
fn with_random_numbers() {
    agree(&by_random_numbers(), 3);
}

#[test]
fn packed_integers() {
    agree(&integers(), 4);
}

#[test]
fn products_out_of_bounds() {
    agree(&out_of_bounds(), 5);
}
