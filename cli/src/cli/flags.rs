//! Launches described by flags: the same as a launch file says, in short forms.

use crate::launch::{
    Arg, Buffer, Data, Expect, ExpectStdout, Global, Images, KernelLaunch, Number, Problem, ProblemKind, Scalar, Spec,
};
use crate::verdict::ImageKind;
use clap::Args;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// An architecture by its name.
///
/// # Errors
/// It is none.
pub(super) fn arch(text: &str) -> Result<u32, String> {
    let number = ["sm_", "compute_"].iter().find_map(|head| text.strip_prefix(head)).unwrap_or(text);
    number.parse().map_err(|_| "not of the form sm_N, e.g. sm_80".to_owned())
}

/// What to launch, when PATH is a .ptx file.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Launch of a .ptx file or a binary")]
pub(super) struct LaunchFlags {
    /// The kernel; needed when the file has several.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,

    /// Blocks in x, y, z.
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub grid: Option<String>,

    /// Threads of a block in x, y, z.
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub block: Option<String>,

    /// Dynamic shared memory in bytes.
    #[arg(long, value_name = "BYTES")]
    pub shared: Option<u32>,

    /// A device buffer. INIT: zeros, uninit, iota, random:SEED, values:1,2,3, hex:00ff, npy:FILE, raw:FILE, and
    /// ";uninit=FROM,TO" behind it leaves out elements. Without INIT it is zeros, and --check uninit tells when the kernel
    /// relies on that.
    #[arg(long, value_name = "NAME:TYPE[:LEN][=INIT]")]
    pub buffer: Vec<String>,

    /// A value for a .global or .const variable: values:1,2, hex:00ff, npy:FILE, raw:FILE.
    #[arg(long, value_name = "NAME:TYPE=DATA")]
    pub global: Vec<String>,

    /// A texture, by the keys of a launch file, e.g. 'image=geometry="2d",size=[4,4],format="f32",init="iota"'.
    #[arg(long, value_name = "NAME=KEYS")]
    pub texture: Vec<String>,

    /// A surface, by the keys of a launch file.
    #[arg(long, value_name = "NAME=KEYS")]
    pub surface: Vec<String>,

    /// A sampler, by the keys of a launch file.
    #[arg(long, value_name = "NAME=KEYS")]
    pub sampler: Vec<String>,

    /// An argument, in order: buffer:NAME, buffer:NAME+BYTES, TYPE:NUMBER, bytes:HEX, null, texture:NAME, surface:NAME, sampler:NAME.
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub arg: Vec<String>,

    /// Expected contents, e.g. "out=npy:want.npy;rel=1e-5" (also abs=, first=, unordered).
    #[arg(long, value_name = "NAME=DATA[;OPTION…]")]
    pub expect: Vec<String>,

    /// Expected output of printf; \n stands for a line feed.
    #[arg(long, value_name = "TEXT")]
    pub expect_stdout: Option<String>,
}

const BUFFER: &str = "NAME:TYPE[:LEN][=INIT], e.g. in:f32:1024=random:7";
const PART: &str = "NAME:TYPE[:LEN]=INIT;uninit=FROM,TO, e.g. in:f32:1024=iota;uninit=1000,1024: elements 1000 to 1023";
const BUFFER_DATA: &str = "zeros, uninit, iota, random:SEED, values:1,2,3, hex:00ff, npy:FILE or raw:FILE";
const GLOBAL: &str = "NAME:TYPE=DATA, e.g. coef:f32=values:1,2";
const ARG: &str = "buffer:NAME, buffer:NAME+BYTES, TYPE:NUMBER, bytes:HEX or null, e.g. u32:1024";
const EXPECT: &str = "NAME=DATA[;OPTION…], e.g. out=values:1,2,3;abs=1e-6";
const TOLERANCE: &str = "abs=NUMBER or rel=NUMBER, finite and not below 0, e.g. abs=1e-6";
const DIMS: &str = "X[,Y[,Z]], e.g. 64,1,1";
const DATA: &str = "zeros, iota, random:SEED, values:1,2,3, hex:00ff, npy:FILE or raw:FILE";

impl LaunchFlags {
    /// Their names, as clap has them.
    pub const NAMES: [&'static str; 12] = [
        "entry",
        "grid",
        "block",
        "shared",
        "buffer",
        "global",
        "texture",
        "surface",
        "sampler",
        "arg",
        "expect",
        "expect_stdout",
    ];

    /// The flags that are given, each with its value.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        let one = |flag, value: &Option<String>| (flag, value.iter().cloned().collect());
        let flags: [(&'static str, Vec<String>); 12] = [
            one("--entry", &self.entry),
            one("--grid", &self.grid),
            one("--block", &self.block),
            one("--shared", &self.shared.map(|n| n.to_string())),
            ("--buffer", self.buffer.clone()),
            ("--global", self.global.clone()),
            ("--texture", self.texture.clone()),
            ("--surface", self.surface.clone()),
            ("--sampler", self.sampler.clone()),
            ("--arg", self.arg.clone()),
            ("--expect", self.expect.clone()),
            one("--expect-stdout", &self.expect_stdout),
        ];
        flags.into_iter().flat_map(|(flag, values)| values.into_iter().map(move |value| (flag, Some(value))))
    }

    /// What the flags say, for one PTX file.
    ///
    /// # Errors
    /// Every flag that is wrong.
    pub fn spec(&self, ptx: &Path) -> Result<Spec, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut spec = Spec { ptx: vec![(ptx.to_owned(), None)], ..Spec::default() };
        for text in &self.buffer {
            if let Some((name, buffer)) = kept(buffer(text), &mut problems)
                && spec.buffers.insert(name.clone(), buffer).is_some()
            {
                problems.push(ProblemKind::Twice { name }.at(None));
            }
        }
        spec.globals.extend(self.global.iter().filter_map(|text| kept(global(text), &mut problems)));
        let textures = self.texture.iter().map(|text| (ImageKind::Texture, text));
        let surfaces = self.surface.iter().map(|text| (ImageKind::Surface, text));
        let samplers = self.sampler.iter().map(|text| (ImageKind::Sampler, text));
        // Those that have buffers of their own come before those that name these.
        let images = textures.chain(surfaces).chain(samplers);
        let (others, own): (Vec<_>, Vec<_>) = images.partition(|(_, text)| text.contains("buffer"));
        for (kind, text) in own.into_iter().chain(others) {
            problems.extend(Images::describe(&mut spec, kind, text).err().into_iter().flatten());
        }
        let expected = self.expect.iter().filter_map(|text| kept(expect(text, &spec), &mut problems));
        spec.expect = expected.collect();
        let stdout = |text: &String| ExpectStdout { text: text.replace("\\n", "\n"), sorted: false, at: None };
        spec.stdout = self.expect_stdout.as_ref().map(stdout);
        let mut sizes = |flag, text: &Option<String>| {
            let given = text.as_ref().and_then(|text| kept(dims(flag, text), &mut problems));
            given.unwrap_or([1; 3])
        };
        let (grid, block) = (sizes("--grid", &self.grid), sizes("--block", &self.block));
        let args = self.arg.iter().filter_map(|text| kept(arg(text, &spec), &mut problems)).map(|arg| (arg, None));
        let (entry, shared, args) = (self.entry.clone(), self.shared.unwrap_or(0), args.collect());
        spec.launches.push(KernelLaunch { entry, grid, block, shared, args, at: None });
        if problems.is_empty() { Ok(spec) } else { Err(problems) }
    }
}

/// What was read, or a problem where nothing was.
fn kept<T>(read: Read<T>, problems: &mut Vec<Problem>) -> Option<T> {
    read.map_err(|kind| problems.push(kind.at(None))).ok()
}

/// What a flag says, or what is wrong with it.
type Read<T> = Result<T, ProblemKind>;

fn bad(flag: &'static str, text: &str, form: &'static str) -> ProblemKind {
    ProblemKind::BadFlag { flag, text: text.to_owned(), form }
}

/// The shape of a block as `--block` gives it.
pub(super) fn block(text: &str) -> Read<[u32; 3]> {
    dims("--block", text).and_then(|all| if all.contains(&0) { Err(bad("--block", text, DIMS)) } else { Ok(all) })
}

fn dims(flag: &'static str, text: &str) -> Read<[u32; 3]> {
    let mut dims = [1; 3];
    let numbers: Result<Vec<u32>, _> = text.split([',', 'x']).map(|n| n.trim().parse()).collect();
    let numbers = numbers.ok().filter(|numbers| numbers.len() <= 3).ok_or_else(|| bad(flag, text, DIMS))?;
    dims[..numbers.len()].copy_from_slice(&numbers);
    Ok(dims)
}

fn scalar(name: &str) -> Read<Scalar> {
    Scalar::named(name).ok_or_else(|| ProblemKind::UnknownType { text: name.to_owned() })
}

fn element(text: &str, ty: Scalar) -> Read<Vec<u8>> {
    let number = Number::read(text).ok_or_else(|| ProblemKind::NoNumber { text: text.to_owned() })?;
    ty.encode(&number).ok_or_else(|| ProblemKind::NoFit { text: text.to_owned(), ty })
}

fn hex(text: &str) -> Read<Vec<u8>> {
    crate::launch::hex(text).ok_or(ProblemKind::BadHex)
}

fn data(flag: &'static str, text: &str, ty: Scalar) -> Read<Data> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    Ok(match kind {
        "zeros" => Data::Zeros,
        "iota" => Data::Iota,
        "random" => Data::Random(rest.parse().map_err(|_| bad(flag, text, DATA))?),
        "values" => Data::Values(rest.split(',').map(|n| element(n, ty)).collect::<Read<Vec<_>>>()?.concat()),
        "hex" => Data::Hex(hex(rest)?),
        "npy" => Data::Npy(PathBuf::from(rest)),
        "raw" => Data::Raw(PathBuf::from(rest)),
        _ => return Err(bad(flag, text, DATA)),
    })
}

fn buffer(text: &str) -> Read<(String, Buffer)> {
    let bad = || bad("--buffer", text, BUFFER);
    let (head, init) = text.split_once('=').map_or((text, None), |(head, init)| (head, Some(init)));
    let parts: Vec<&str> = head.split(':').collect();
    let (name, ty, len) = match parts[..] {
        [name, ty] => (name, ty, None),
        [name, ty, len] => (name, ty, Some(len.parse().map_err(|_| bad())?)),
        _ => return Err(bad()),
    };
    let ty = scalar(ty)?;
    let init = init.map_or(Ok(Data::Assumed), |init| initial(init, text, ty))?;
    Ok((name.to_owned(), Buffer { ty, init, len, at: None }))
}

/// INIT of a buffer; `flag` is all that was given.
fn initial(text: &str, flag: &str, ty: Scalar) -> Read<Data> {
    let Some((init, part)) = text.split_once(';') else { return buffer_data(text, ty) };
    let rest = Box::new(buffer_data(init, ty)?);
    let range = part.strip_prefix("uninit=").and_then(|part| part.split_once(','));
    let range = range.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    let uninit = range.filter(|r: &Range<u64>| r.start < r.end).ok_or_else(|| bad("--buffer", flag, PART))?;
    Ok(Data::Partly { rest, uninit })
}

/// Data of a buffer: also none.
fn buffer_data(text: &str, ty: Scalar) -> Read<Data> {
    match text.split_once(':').map_or(text, |(kind, _)| kind) {
        "uninit" => Ok(Data::Uninit),
        "zeros" | "iota" | "random" | "values" | "hex" | "npy" | "raw" => data("--buffer", text, ty),
        _ => Err(bad("--buffer", text, BUFFER_DATA)),
    }
}

fn global(text: &str) -> Read<(String, Global)> {
    let parts = text.split_once('=').and_then(|(head, data)| Some((head.split_once(':')?, data)));
    let ((name, ty), given) = parts.ok_or_else(|| bad("--global", text, GLOBAL))?;
    let ty = scalar(ty)?;
    Ok((name.to_owned(), Global { ty, data: data("--global", given, ty)?, at: None }))
}

fn arg(text: &str, spec: &Spec) -> Read<Arg> {
    if text == "null" {
        return Ok(Arg::Null);
    }
    let (kind, rest) = text.split_once(':').ok_or_else(|| bad("--arg", text, ARG))?;
    match kind {
        "buffer" => {
            let (name, offset) = rest.split_once('+').unwrap_or((rest, "0"));
            let (name, offset) = (name.to_owned(), offset.parse().map_err(|_| bad("--arg", text, ARG))?);
            if spec.buffers.contains_key(&name) {
                return Ok(Arg::Buffer { name, offset });
            }
            Err(ProblemKind::UnknownBuffer { name, known: spec.buffers.keys().cloned().collect() })
        }
        "bytes" => Ok(Arg::Bytes(hex(rest)?)),
        "texture" | "surface" | "sampler" => {
            let kinds = [ImageKind::Texture, ImageKind::Surface, ImageKind::Sampler];
            let kind = kinds.into_iter().find(|k| k.name() == kind).ok_or_else(|| bad("--arg", text, ARG))?;
            let (name, known) = (rest.to_owned(), spec.images.names(kind));
            if known.contains(&name) {
                return Ok(Arg::Handle { kind, name });
            }
            Err(ProblemKind::UnknownImage { kind: kind.name(), name, known })
        }
        _ => {
            let ty = scalar(kind)?;
            Ok(Arg::Scalar(ty, element(rest, ty)?))
        }
    }
}

fn expect(text: &str, spec: &Spec) -> Read<(String, Expect)> {
    let (name, rest) = text.split_once('=').ok_or_else(|| bad("--expect", text, EXPECT))?;
    let name = name.to_owned();
    let texels = || spec.images.images().find(|(_, own, _)| **own == name).and_then(|(_, _, image)| image.element());
    let ty = spec.buffers.get(&name).map(|b| b.ty).or_else(|| spec.globals.get(&name).map(|g| g.ty)).or_else(texels);
    let Some(ty) = ty else {
        let known = spec.buffers.keys().chain(spec.globals.keys()).cloned().collect();
        return Err(ProblemKind::UnknownVariable { name, known });
    };
    let mut options = rest.split(';');
    let data = data("--expect", options.next().unwrap_or(""), ty)?;
    let mut expect = Expect { ty, data, abs: None, rel: None, first: None, unordered: false, at: None };
    for option in options {
        let tolerance = |n: &str| {
            let number = n.parse::<f64>().ok().filter(|t| *t >= 0.0 && t.is_finite());
            number.ok_or_else(|| bad("--expect", option, TOLERANCE)).map(Some)
        };
        let other = || bad("--expect", text, EXPECT);
        match option.split_once('=') {
            Some(("abs", n)) => expect.abs = tolerance(n)?,
            Some(("rel", n)) => expect.rel = tolerance(n)?,
            Some(("first", n)) => expect.first = Some(n.parse().map_err(|_| other())?),
            None if option == "unordered" => expect.unordered = true,
            _ => return Err(other()),
        }
    }
    Ok((name, expect))
}

/// Bytes with a unit: `4G`, `512M`, `64K`, `1024`; of a limit, which is not nothing.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let some = size_or_none(text)?;
    if some > 0 { Ok(some) } else { Err("a number of bytes above 0, e.g. 512M or 4G".to_owned()) }
}

/// The same of what there may be nothing of.
pub(super) fn size_or_none(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err("a number of bytes, e.g. 512M or 4G".to_owned()),
    };
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    number.ok_or_else(|| "a number of bytes, e.g. 512M or 4G".to_owned())
}

/// Time with a unit: `10s`, `500ms`, `2m`.
pub(super) fn time(text: &str) -> Result<std::time::Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("a time, e.g. 10s, 500ms or 2m".to_owned()),
    };
    let seconds = digits.parse::<f64>().ok().map(|n| n * unit);
    seconds
        .and_then(|s| std::time::Duration::try_from_secs_f64(s).ok())
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "a time above 0, e.g. 10s, 500ms or 2m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(f: impl FnOnce(&mut LaunchFlags)) -> Result<Spec, usize> {
        let mut flags = LaunchFlags::default();
        f(&mut flags);
        flags.spec(Path::new("k.ptx")).map_err(|p| p.len())
    }

    #[test]
    fn flags_say_what_a_launch_file_says() {
        let spec = flags(|f| {
            f.buffer = vec!["in:f32:16=random:7".into(), "out:u32:4".into(), "c:s8=values:-1,2".into()];
            f.arg = vec!["buffer:in+4".into(), "s32:-5".into(), "bytes:00ff".into(), "null".into()];
            f.grid = Some("64,2".into());
            f.expect = vec!["out=values:1,2,3,4;abs=0.5;unordered".into()];
        })
        .unwrap();
        assert_eq!(spec.buffers["in"].init, Data::Random(7));
        assert_eq!(spec.buffers["c"].init, Data::Values(vec![255, 2]));
        assert_eq!(spec.launches[0].grid, [64, 2, 1]);
        assert_eq!(spec.launches[0].args[0].0, Arg::Buffer { name: "in".into(), offset: 4 });
        assert!(spec.expect["out"].unordered);
    }

    #[test]
    fn textures_have_the_keys_of_a_launch_file_and_no_place() {
        let view = r#"view=geometry="2d",size=[4,2],format="f32",init="zeros""#;
        let image = r#"image=geometry="2d",size=[4,2],format="f32",buffer="view",filter="linear""#;
        let spec = flags(|f| {
            f.texture = vec![image.into()];
            f.surface = vec![view.into()];
            f.sampler = vec![r#"how=address="wrap""#.into()];
            f.arg = vec!["texture:image".into(), "surface:view".into(), "sampler:how".into()];
            f.expect = vec!["view=values:1;first=1".into()];
        })
        .unwrap();
        let places =
            [spec.images.textures["image"].at, spec.images.surfaces["view"].at, spec.images.samplers["how"].at];
        assert_eq!(places, [None; 3]);
        assert_eq!(spec.launches[0].args.len(), 3);
        assert_eq!(spec.expect["view"].ty.name(), "f32");
        for bad in ["image", "image=geometry=2", "image=size=4", &format!("{view},layers=2")] {
            assert!(flags(|f| f.texture = vec![bad.into()]).is_err(), "{bad}");
        }
        assert_eq!(flags(|f| f.arg = vec!["texture:image".into()]), Err(1));
    }

    #[test]
    fn wrong_flags_are_told() {
        for bad in [
            "in",
            "in:f32:x",
            "in:float:4",
            "in:f32:4=ones",
            "in:u8=values:256",
            "in:u8=hex:0",
            "a:b:c:d",
            "in:u8:4=iota;uninit=2",
            "in:u8:4=iota;uninit=2,2",
        ] {
            assert_eq!(flags(|f| f.buffer = vec![bad.into()]), Err(1), "{bad}");
        }
        for bad in ["7", "u32:x", "buffer:nothing", "i32:7", "bytes:1"] {
            assert_eq!(flags(|f| f.arg = vec![bad.into()]), Err(1), "{bad}");
        }
        assert_eq!(flags(|f| f.grid = Some("1,2,3,4".into())), Err(1));
        assert_eq!(flags(|f| f.block = Some("1,,3".into())), Err(1));
    }

    #[test]
    fn sizes_and_times() {
        assert_eq!(size("4G"), Ok(4 << 30));
        assert_eq!(size("64KiB"), Ok(65536));
        assert!(size("0").is_err() && size("0G").is_err() && time("0s").is_err() && time("0.0ms").is_err());
        assert!(size("G").is_err() && size("99999999999T").is_err());
        assert_eq!(time("500ms"), Ok(std::time::Duration::from_millis(500)));
        assert!(time("soon").is_err() && time("-1s").is_err());
    }
}
