//! Tests of the launch file reader.

use super::*;
use crate::base::SourceMap;
use std::path::Path;

const GOOD: &str = r#"
ptx = ["a.ptx", "b.ptx"]
schedule_dependent = true
[buffers.in]
type = "f32"
init = { random = 7 }
len = 16
[buffers.out]
type = "u64"
init = { values = [0xff, 18446744073709551615] }
[globals]
coef = { type = "f32", values = [1.0, 0.5] }
[[launch]]
entry = "k"
grid = [64, 2]
block = 32
args = [{ buffer = "in", offset = 64 }, { u32 = 5 }, { bytes = "01 02_ff" }, { null = true }, { f16 = 1 }]
[expect.out]
values = [1, 2]
abs = 0.5
first = 1
[expect.coef]
hex = "0000803f0000003f"
[expect_stdout]
text = "hello\n"
sorted = true
"#;

fn parse(text: &str) -> Result<Spec, Vec<ProblemKind>> {
    let mut sources = SourceMap::default();
    let file = sources.add("launch.toml", text);
    Spec::parse(&sources, file, Path::new("dir")).map_err(|p| p.into_iter().map(|p| p.kind).collect())
}

#[test]
fn a_launch_file_is_read_whole() {
    let spec = parse(GOOD).unwrap();
    assert_eq!(spec.ptx.iter().map(|p| p.0.to_str().unwrap()).collect::<Vec<_>>(), ["dir/a.ptx", "dir/b.ptx"]);
    assert!(spec.schedule_dependent);
    assert_eq!(spec.buffers["in"].init, Data::Random(7));
    assert_eq!(spec.buffers["out"].init.elements(spec.buffers["out"].ty), Ok(Some(2)));
    let launch = &spec.launches[0];
    assert_eq!((launch.grid, launch.block, launch.shared), ([64, 2, 1], [32, 1, 1], 0));
    assert_eq!(launch.args[0].0, Arg::Buffer { name: "in".into(), offset: 64 });
    assert_eq!(launch.args[2].0, Arg::Bytes(vec![1, 2, 255]));
    assert_eq!(spec.expect["out"].first, Some(1));
    assert_eq!(spec.expect["coef"].ty.name(), "f32");
    assert!(spec.stdout.unwrap().sorted);
}

/// Replaces a part of the good file and gives the only problem.
fn broken(from: &str, to: &str) -> ProblemKind {
    assert!(GOOD.contains(from), "{from}");
    let mut problems = parse(&GOOD.replacen(from, to, 1)).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.remove(0)
}

#[test]
fn every_mistake_is_named() {
    use ProblemKind as P;
    assert!(matches!(broken("schedule_dep", "shedule_dep"), P::UnknownKey { .. }));
    assert!(matches!(broken("entry = \"k\"", "entry = \"k\"\nthreads = 3"), P::UnknownKey { .. }));
    assert!(matches!(broken("entry = \"k\"", ""), P::MissingKey { key: "entry", .. }));
    assert!(matches!(broken("len = 16", ""), P::MissingKey { key: "len", .. }));
    assert!(matches!(broken("len = 16", "len = \"16\""), P::WrongType { .. }));
    assert!(matches!(broken("len = 16", "len = -1"), P::OutOfRange { .. }));
    assert!(matches!(broken("\"f32\"", "\"float\""), P::UnknownType { .. }));
    assert!(matches!(broken("{ random = 7 }", "\"ones\""), P::WrongType { .. }));
    assert!(matches!(broken("{ random = 7 }", "{ random = 7, hex = \"\" }"), P::OneOf { found: 2, .. }));
    assert!(matches!(broken("{ random = 7 }", "{ }"), P::OneOf { found: 0, .. }));
    assert!(matches!(broken("0xff", "-1"), P::NoFit { .. }));
    assert!(matches!(broken("{ u32 = 5 }", "{ u32 = 1.5 }"), P::NoFit { .. }));
    assert!(matches!(broken("{ u32 = 5 }", "{ int = 1 }"), P::UnknownKey { .. }));
    assert!(matches!(broken("{ u32 = 5 }", "{ u32 = 1, s32 = 1 }"), P::OneOf { .. }));
    assert!(matches!(broken("{ u32 = 5 }", "{ u32 = 1, offset = 1 }"), P::MissingKey { .. }));
    assert!(matches!(broken("{ buffer = \"in\"", "{ buffer = \"inn\""), P::UnknownBuffer { .. }));
    assert!(matches!(broken("[expect.out]", "[expect.outt]"), P::UnknownBuffer { .. }));
    assert!(matches!(broken("01 02_ff", "01 02_f"), P::BadHex));
    assert!(matches!(broken("grid = [64, 2]", "grid = [64, 2, 1, 1]"), P::OutOfRange { .. }));
    assert!(matches!(broken("grid = [64, 2]", "grid = [64, 4294967296]"), P::OutOfRange { .. }));
    assert!(matches!(broken("abs = 0.5", "abs = -0.5"), P::OutOfRange { .. }));
    assert!(matches!(broken("text = \"hello\\n\"", ""), P::MissingKey { key: "text", .. }));
    assert!(matches!(broken("block = 32", "block = 32 32"), P::Toml(_)));
    assert!(matches!(broken("ptx = [\"a.ptx\", \"b.ptx\"]", "ptx = []"), P::OutOfRange { .. }));
}

#[test]
fn every_prefix_is_read_without_a_panic() {
    for end in (0..GOOD.len()).filter(|i| GOOD.is_char_boundary(*i)) {
        let _ = parse(&GOOD[..end]);
    }
}

#[test]
fn the_launch_files_of_all_examples_are_read() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx-examples");
    let mut count = 0;
    for folder in std::fs::read_dir(examples).unwrap().flatten().filter(|f| f.path().is_dir()) {
        for file in std::fs::read_dir(folder.path()).unwrap().flatten().map(|f| f.path()) {
            if file.extension().is_some_and(|e| e == "toml") {
                let spec = Spec::read(&file, &mut SourceMap::default());
                assert!(spec.is_ok(), "{}: {spec:?}", file.display());
                count += 1;
            }
        }
    }
    assert!(count >= 12, "{count}");
}
