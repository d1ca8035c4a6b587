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

const TEXTURED: &str = r#"
ptx = "a.ptx"
[buffers.pixels]
type = "u8"
init = "zeros"
len = 4096
[textures.image]
geometry = "a2d"
size = [8, 4]
layers = 3
levels = 4
format = "u8"
channels = 4
init = { random = 1 }
address = ["wrap", "mirror"]
filter = "linear"
normalised = true
read = "normalised"
border = [0, 0.5, 1, 1]
[textures.row]
geometry = "linear"
size = 64
format = "u8"
buffer = "pixels"
offset = 16
[surfaces.view]
geometry = "2d"
size = [10, 4]
format = "u8"
pitch = 64
buffer = "pixels"
[samplers.how]
address = "border"
variable = "how"
[[launch]]
entry = "k"
grid = 1
block = 1
args = [{ texture = "image" }, { surface = "view" }, { sampler = "how" }]
[expect.image]
values = [1]
first = 1
"#;

#[test]
fn textures_are_read_whole() {
    let spec = parse(TEXTURED).unwrap();
    let image = &spec.images.textures["image"];
    assert_eq!((image.size, image.layers, image.levels, image.format.bytes()), ([8, 4, 1], 3, 4, 4));
    let address = image.sampler.address.unwrap().map(crate::alu::image::Address::name);
    assert_eq!((address, image.sampler.normalised), (["wrap", "mirror", "mirror"], Some(true)));
    assert_eq!(image.texels, Texels::Own(Data::Random(1)));
    assert!(spec.images.textures["row"].linear && !image.linear);
    assert_eq!(spec.images.surfaces["view"].pitch, Some(64));
    assert_eq!(spec.expect["image"].ty.name(), "u8");
    let sampler = Arg::Handle { kind: crate::verdict::ImageKind::Sampler, name: "how".into() };
    assert_eq!(spec.launches[0].args[2].0, sampler);
}

#[test]
fn every_mistake_about_textures_is_named() {
    use ProblemKind as P;
    let broken = |from: &str, to: &str| {
        assert!(TEXTURED.contains(from), "{from}");
        let mut problems = parse(&TEXTURED.replacen(from, to, 1)).unwrap_err();
        problems.remove(0)
    };
    assert!(matches!(broken("\"a2d\"", "\"2D\""), P::UnknownWord { key: "geometry", .. }));
    assert!(matches!(broken("size = [8, 4]", ""), P::MissingKey { key: "size", .. }));
    assert!(matches!(broken("size = [8, 4]", "size = [8, 0]"), P::OutOfRange { .. }));
    assert!(matches!(broken("size = [8, 4]", "size = 8"), P::OutOfRange { .. }));
    assert!(matches!(broken("layers = 3", "layers = 0"), P::OutOfRange { .. }));
    assert!(matches!(broken("levels = 4", "levels = 5"), P::OutOfRange { .. }));
    assert!(matches!(broken("format = \"u8\"", "format = \"u64\""), P::OutOfRange { .. }));
    assert!(matches!(broken("channels = 4", "channels = 3"), P::OutOfRange { .. }));
    assert!(matches!(broken("init = { random = 1 }", ""), P::OneOf { found: 0, .. }));
    assert!(matches!(
        broken("init = { random = 1 }", "init = \"zeros\"\nbuffer = \"pixels\""),
        P::OneOf { found: 2, .. }
    ));
    assert!(matches!(broken("\"mirror\"]", "\"mirrored\"]"), P::UnknownWord { key: "address", .. }));
    assert!(matches!(broken("border = [0, 0.5, 1, 1]", "border = [0, nan, 1, 1]"), P::OutOfRange { .. }));
    assert!(matches!(broken("border = [0, 0.5, 1, 1]", "border = [0, 1]"), P::OutOfRange { .. }));
    assert!(matches!(broken("read = \"normalised\"", "mode = \"normalised\""), P::UnknownKey { .. }));
    assert!(matches!(broken("buffer = \"pixels\"\noffset", "buffer = \"pixel\"\noffset"), P::UnknownBuffer { .. }));
    assert!(matches!(broken("offset = 16", "offset = 8"), P::OutOfRange { .. }));
    assert!(matches!(broken("pitch = 64", "pitch = 9"), P::OutOfRange { .. }));
    assert!(matches!(broken("pitch = 64", "filter = \"linear\""), P::UnknownKey { .. }));
    assert!(matches!(
        broken("{ surface = \"view\" }", "{ surface = \"image\" }"),
        P::UnknownImage { kind: "surface", .. }
    ));
}
