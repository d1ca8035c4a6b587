//! Kernels of a public emulator's own tests, with the results that were recorded there: 441 of 8 inputs each.

use crate::case::engine;
use serde_json::Value as Json;
use warpstep::base::SourceMap;
use warpstep::launch::{Arg, Buffer, Data, Device, Failure, KernelLaunch, Scalar, build};
use warpstep::machine::Config;
use warpstep::verdict::Silent;

/// Where PTX's own definition wins over the recorded result, with the reason. At most 20. One more difference has no name
/// here because it touches every operation with a NaN among its inputs: which NaN comes out (see [`nan`]).
const PTX_WINS: &[(&str, &str)] = &[
    ("TestCvt-f32-u32", RZ),
    ("TestCvt-f32-s32", RZ),
    ("TestCvt-f32-u64", RZ),
    ("TestCvt-f32-s64", RZ),
    ("TestCvt-f64-u64", RZ),
    ("TestCvt-f64-s64", RZ),
    ("TestShf-b32-left-clamp", SHF),
    ("TestShf-b32-right-clamp", SHF),
    ("TestRcp-f64-approx-ftz", "rcp.approx.ftz.f64 gives the upper 32 bits of the result, the lower are zero"),
];
const RZ: &str = "the instruction says .rz; the record was rounded to nearest";
const SHF: &str =
    "the shift is clamped to 32, which gives the other word; the record comes from C++, where that shift is undefined";

/// What cannot be run yet.
const GAPS: &[(&str, &str)] = &[("TestCudaNestedParallelism", "launches a kernel through CUDA's device runtime")];

/// Whether an output is the NaN that PTX asks for where the record has another: an f32 result is canonical; an f64 result is
/// a quiet NaN (decision D-nan64). The record has what the x86 of its day gave.
fn nan(ty: &str, found: &[u8], wanted: &[u8]) -> bool {
    let le = |x: &[u8]| x.iter().rev().fold(0u64, |v, byte| v << 8 | u64::from(*byte));
    let (found, wanted) = (le(found), le(wanted));
    match ty {
        "f32" => found == 0x7fff_ffff && f32::from_bits(wanted as u32).is_nan(),
        "f64" => f64::from_bits(found).is_nan() && found >> 51 & 1 == 1 && f64::from_bits(wanted).is_nan(),
        _ => false,
    }
}

/// The table, below the folder of extra material.
pub const FILE: &str = "conformance/ptx-ops.jsonl";

struct Case {
    name: String,
    kernel: String,
    ptx: String,
    grid: u32,
    block: u32,
    epsilon: u64,
    types: Vec<String>,
    cases: Vec<(Vec<u8>, Vec<u8>)>,
}

fn bytes(hex: &str) -> Vec<u8> {
    warpstep::launch::hex(hex).unwrap()
}

fn number(json: &Json, key: &str) -> u64 {
    json[key].as_u64().unwrap_or(0)
}

fn read(line: &str) -> Case {
    let json: Json = serde_json::from_str(line).unwrap();
    let text = |key: &str| json[key].as_str().unwrap().to_owned();
    let list = |key: &str| json[key].as_array().unwrap().clone();
    let cases = list("cases").iter().map(|c| (bytes(c[0].as_str().unwrap()), bytes(c[1].as_str().unwrap()))).collect();
    Case {
        name: text("name"),
        kernel: text("kernel"),
        ptx: text("ptx"),
        grid: u32::try_from(number(&json, "ctas")).unwrap(),
        block: u32::try_from(number(&json, "threads")).unwrap(),
        epsilon: number(&json, "epsilon"),
        types: list("out_types").iter().map(|t| t.as_str().unwrap().to_owned()).collect(),
        cases,
    }
}

/// Distance in units in the last place of two floats' bits; NaN is far from everything.
fn ulps(ty: &str, a: &[u8], b: &[u8]) -> u64 {
    let le = |x: &[u8]| x.iter().rev().fold(0u64, |v, byte| v << 8 | u64::from(*byte));
    type Test<T> = fn(u64) -> T;
    let (nan, ordered): (Test<bool>, Test<i128>) = if ty == "f64" {
        (|x| f64::from_bits(x).is_nan(), |x| if x >> 63 == 1 { -i128::from(x & (u64::MAX >> 1)) } else { x.into() })
    } else {
        (
            |x| f32::from_bits(x as u32).is_nan(),
            |x| if x >> 31 & 1 == 1 { -i128::from(x & 0x7fff_ffff) } else { x.into() },
        )
    };
    let (a, b) = (le(a), le(b));
    match (nan(a), nan(b)) {
        (false, false) => u64::try_from((ordered(a) - ordered(b)).abs()).unwrap_or(u64::MAX),
        _ => u64::MAX,
    }
}

fn size(ty: &str) -> usize {
    ty.trim_start_matches(char::is_alphabetic).parse::<usize>().map_or(1, |bits| bits / 8)
}

/// Whether the output is the recorded one: bit for bit, or floats within the case's units in the last place.
fn agree(case: &Case, found: &[u8], wanted: &[u8]) -> bool {
    if found == wanted {
        return true;
    }
    let mut at = 0;
    let mut index = 0;
    while at < wanted.len() {
        let ty = &case.types[index % case.types.len()];
        let end = at + size(ty);
        let (Some(f), Some(w)) = (found.get(at..end), wanted.get(at..end)) else { return false };
        let near = ty.starts_with('f') && case.epsilon > 0 && ulps(ty, f, w) <= case.epsilon;
        if f != w && !near && !nan(ty, f, w) {
            return false;
        }
        at = end;
        index += 1;
    }
    true
}

fn run(case: &Case) -> Result<Vec<usize>, String> {
    let mut sources = SourceMap::default();
    let file = sources.add(case.name.clone(), case.ptx.clone());
    let env = build(&[file], None, &sources).map_err(|p| format!("{:?}", p.first()))?;
    let env = std::sync::Arc::new(env);
    let mut wrong = Vec::new();
    for (index, (input, output)) in case.cases.iter().enumerate() {
        let config = Config { engine: engine(), ..Config::default() };
        let mut device = Device::new(env.clone(), sources.clone(), config).map_err(|stop| format!("{stop:?}"))?;
        let told = |f: Failure| format!("{f:?}");
        let buffer = |data, len| Buffer { ty: Scalar::BYTE, init: data, len, at: None };
        device.add_buffer("in", &buffer(Data::Hex(input.clone()), None)).map_err(told)?;
        device.add_buffer("out", &buffer(Data::Zeros, Some(output.len() as u64))).map_err(told)?;
        let arg = |name: &str| (Arg::Buffer { name: name.into(), offset: 0 }, None);
        let entry = Some(case.kernel.clone());
        let (grid, block) = ([case.grid, 1, 1], [case.block, 1, 1]);
        let parameters = env.functions.get(&case.kernel).map_or(2, |f| f.params.len());
        let args = [arg("out"), arg("in")].into_iter().take(parameters).collect();
        let launch = KernelLaunch { entry, grid, block, shared: 0, args, at: None };
        device.launch(&launch, Silent, &mut |_| ()).map_err(told)?;
        let found = device.contents("out").map(|(_, b)| b.to_vec()).unwrap_or_default();
        if !agree(case, &found, output) {
            wrong.push(index);
            if std::env::var_os("SHOW").is_some() {
                println!("{} {index}: in {input:02x?} wanted {output:02x?} found {found:02x?}", case.name);
            }
        }
    }
    Ok(wrong)
}

/// Every kernel of the table gives what was recorded.
pub fn operations_give_the_recorded_results() {
    let text = crate::shared::text(FILE);
    assert!(PTX_WINS.len() <= 20);
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in text.lines().map(read) {
        count += case.cases.len();
        let excused = PTX_WINS.iter().any(|(name, _)| *name == case.name);
        match run(&case) {
            Ok(bad) if bad.is_empty() && excused => wrong.push(format!("{} agrees: take it off the list", case.name)),
            Ok(bad) if !bad.is_empty() && !excused => wrong.push(format!("{}: inputs {bad:?}", case.name)),
            Ok(_) => {}
            Err(_) if GAPS.iter().any(|(name, _)| *name == case.name) => {}
            Err(why) => wrong.push(format!("{}: {why}", case.name)),
        }
    }
    assert_eq!(count, 3528);
    assert!(wrong.is_empty(), "{} operations:\n{}", wrong.len(), wrong.join("\n"));
}
