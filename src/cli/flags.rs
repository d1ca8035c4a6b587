//! Launches described by flags: the same as a launch file says, in short forms.

use crate::launch::{
    Arg, Buffer, Data, Expect, ExpectStdout, Global, KernelLaunch, Number, Problem, ProblemKind, Scalar, Spec,
};
use clap::Args;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What to launch, when PATH is a .ptx file.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Launch of a .ptx file")]
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

    /// An argument, in order: buffer:NAME, buffer:NAME+BYTES, TYPE:NUMBER, bytes:HEX, null.
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
    /// The flags that are given, each with its value.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        let one = |flag, value: &Option<String>| (flag, value.iter().cloned().collect());
        let flags: [(&'static str, Vec<String>); 9] = [
            one("--entry", &self.entry),
            one("--grid", &self.grid),
            one("--block", &self.block),
            one("--shared", &self.shared.map(|n| n.to_string())),
            ("--buffer", self.buffer.clone()),
            ("--global", self.global.clone()),
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
        let mut reader = Reader { problems: Vec::new() };
        let mut spec = Spec { ptx: vec![(ptx.to_owned(), None)], ..Spec::default() };
        for text in &self.buffer {
            if let Some((name, buffer)) = reader.buffer(text)
                && spec.buffers.insert(name.clone(), buffer).is_some()
            {
                reader.problem(ProblemKind::Twice { name });
            }
        }
        for text in &self.global {
            if let Some((name, global)) = reader.global(text) {
                spec.globals.insert(name, global);
            }
        }
        for text in &self.expect {
            if let Some((name, expect)) = reader.expect(text, &spec) {
                spec.expect.insert(name, expect);
            }
        }
        let stdout = |text: &String| ExpectStdout { text: text.replace("\\n", "\n"), sorted: false, at: None };
        spec.stdout = self.expect_stdout.as_ref().map(stdout);
        let grid = reader.dims("--grid", self.grid.as_deref());
        let block = reader.dims("--block", self.block.as_deref());
        let args = self.arg.iter().filter_map(|text| Some((reader.arg(text, &spec)?, None))).collect();
        let (entry, shared) = (self.entry.clone(), self.shared.unwrap_or(0));
        spec.launches.push(KernelLaunch { entry, grid, block, shared, args, at: None });
        if reader.problems.is_empty() { Ok(spec) } else { Err(reader.problems) }
    }
}

struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn problem(&mut self, kind: ProblemKind) {
        self.problems.push(kind.at(None));
    }

    fn bad<T>(&mut self, flag: &'static str, text: &str, form: &'static str) -> Option<T> {
        self.problem(ProblemKind::BadFlag { flag, text: text.to_owned(), form });
        None
    }

    fn dims(&mut self, flag: &'static str, text: Option<&str>) -> [u32; 3] {
        let mut dims = [1; 3];
        let Some(text) = text else { return dims };
        let numbers: Option<Vec<u32>> = text.split([',', 'x']).map(|n| n.trim().parse().ok()).collect();
        match numbers {
            Some(numbers) if numbers.len() <= 3 => dims[..numbers.len()].copy_from_slice(&numbers),
            _ => {
                self.bad::<()>(flag, text, DIMS);
            }
        }
        dims
    }

    /// What was read, or a problem where nothing was.
    fn read<T>(&mut self, value: Option<T>, problem: impl FnOnce() -> ProblemKind) -> Option<T> {
        if value.is_none() {
            self.problem(problem());
        }
        value
    }

    fn scalar(&mut self, name: &str) -> Option<Scalar> {
        self.read(Scalar::named(name), || ProblemKind::UnknownType { text: name.to_owned() })
    }

    fn element(&mut self, text: &str, ty: Scalar) -> Option<Vec<u8>> {
        let number = self.read(Number::read(text), || ProblemKind::NoNumber { text: text.to_owned() })?;
        self.read(ty.encode(&number), || ProblemKind::NoFit { text: text.to_owned(), ty })
    }

    fn hex(&mut self, text: &str) -> Option<Vec<u8>> {
        self.read(crate::launch::hex(text), || ProblemKind::BadHex)
    }

    fn data(&mut self, flag: &'static str, text: &str, ty: Scalar) -> Option<Data> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        match kind {
            "zeros" => Some(Data::Zeros),
            "iota" => Some(Data::Iota),
            "random" => match rest.parse() {
                Ok(seed) => Some(Data::Random(seed)),
                Err(_) => self.bad(flag, text, DATA),
            },
            "values" => {
                let all: Option<Vec<Vec<u8>>> = rest.split(',').map(|n| self.element(n, ty)).collect();
                Some(Data::Values(all?.concat()))
            }
            "hex" => Some(Data::Hex(self.hex(rest)?)),
            "npy" => Some(Data::Npy(PathBuf::from(rest))),
            "raw" => Some(Data::Raw(PathBuf::from(rest))),
            _ => self.bad(flag, text, DATA),
        }
    }

    fn buffer(&mut self, text: &str) -> Option<(String, Buffer)> {
        let (head, init) = text.split_once('=').map_or((text, None), |(head, init)| (head, Some(init)));
        let parts: Vec<&str> = head.split(':').collect();
        let (name, ty, len) = match parts[..] {
            [name, ty] => (name, ty, None),
            [name, ty, len] => match len.parse() {
                Ok(len) => (name, ty, Some(len)),
                Err(_) => return self.bad("--buffer", text, BUFFER),
            },
            _ => return self.bad("--buffer", text, BUFFER),
        };
        let ty = self.scalar(ty)?;
        let init = match init {
            None => Data::Assumed,
            Some(init) => self.init(init, text, ty)?,
        };
        Some((name.to_owned(), Buffer { ty, init, len, at: None }))
    }

    /// INIT of a buffer; `flag` is all that was given.
    fn init(&mut self, text: &str, flag: &str, ty: Scalar) -> Option<Data> {
        let Some((init, part)) = text.split_once(';') else { return self.buffer_data(text, ty) };
        let rest = Box::new(self.buffer_data(init, ty)?);
        let range = part.strip_prefix("uninit=").and_then(|part| part.split_once(','));
        let range = range.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
        match range.filter(|r: &Range<u64>| r.start < r.end) {
            Some(uninit) => Some(Data::Partly { rest, uninit }),
            None => self.bad("--buffer", flag, PART),
        }
    }

    /// Data of a buffer: also none.
    fn buffer_data(&mut self, text: &str, ty: Scalar) -> Option<Data> {
        match text.split_once(':').map_or(text, |(kind, _)| kind) {
            "uninit" => Some(Data::Uninit),
            "zeros" | "iota" | "random" | "values" | "hex" | "npy" | "raw" => self.data("--buffer", text, ty),
            _ => self.bad("--buffer", text, BUFFER_DATA),
        }
    }

    fn global(&mut self, text: &str) -> Option<(String, Global)> {
        let parts = text.split_once('=').and_then(|(head, data)| Some((head.split_once(':')?, data)));
        let Some(((name, ty), data)) = parts else { return self.bad("--global", text, GLOBAL) };
        let ty = self.scalar(ty)?;
        Some((name.to_owned(), Global { ty, data: self.data("--global", data, ty)?, at: None }))
    }

    fn arg(&mut self, text: &str, spec: &Spec) -> Option<Arg> {
        if text == "null" {
            return Some(Arg::Null);
        }
        let Some((kind, rest)) = text.split_once(':') else { return self.bad("--arg", text, ARG) };
        match kind {
            "buffer" => {
                let (name, offset) = rest.split_once('+').unwrap_or((rest, "0"));
                let Ok(offset) = offset.parse() else { return self.bad("--arg", text, ARG) };
                if !spec.buffers.contains_key(name) {
                    let known = spec.buffers.keys().cloned().collect();
                    self.problem(ProblemKind::UnknownBuffer { name: name.to_owned(), known });
                    return None;
                }
                Some(Arg::Buffer { name: name.to_owned(), offset })
            }
            "bytes" => Some(Arg::Bytes(self.hex(rest)?)),
            _ => {
                let ty = self.scalar(kind)?;
                Some(Arg::Scalar(ty, self.element(rest, ty)?))
            }
        }
    }

    fn expect(&mut self, text: &str, spec: &Spec) -> Option<(String, Expect)> {
        let Some((name, rest)) = text.split_once('=') else { return self.bad("--expect", text, EXPECT) };
        let ty = spec.buffers.get(name).map(|b| b.ty).or_else(|| spec.globals.get(name).map(|g| g.ty));
        let Some(ty) = ty else {
            let known = spec.buffers.keys().chain(spec.globals.keys()).cloned().collect();
            self.problem(ProblemKind::UnknownVariable { name: name.to_owned(), known });
            return None;
        };
        let mut options = rest.split(';');
        let data = self.data("--expect", options.next().unwrap_or(""), ty)?;
        let mut expect = Expect { ty, data, abs: None, rel: None, first: None, unordered: false, at: None };
        for option in options {
            let tolerance = |n: &str| n.parse::<f64>().ok().filter(|t| *t >= 0.0 && t.is_finite());
            let known = match option.split_once('=') {
                Some(("abs", n)) => tolerance(n).map(|t| expect.abs = Some(t)),
                Some(("rel", n)) => tolerance(n).map(|t| expect.rel = Some(t)),
                Some(("first", n)) => n.parse().ok().map(|n| expect.first = Some(n)),
                None if option == "unordered" => {
                    expect.unordered = true;
                    Some(())
                }
                _ => None,
            };
            if known.is_none() {
                let tolerance = option.starts_with("abs=") || option.starts_with("rel=");
                return self.bad(
                    "--expect",
                    if tolerance { option } else { text },
                    if tolerance { TOLERANCE } else { EXPECT },
                );
            }
        }
        Some((name.to_owned(), expect))
    }
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
