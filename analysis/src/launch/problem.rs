//! What can be wrong with what the user asked for. Exit code 2.

use super::{DataProblem, Meaning, SCALARS, Scalar};
use crate::base::files::why;
use crate::base::{FileId, Span, Wording, among, complaints, counted, list, phrases, plural};
use crate::memory::fermi::program::MempError;
use crate::program::LowerError;
use crate::program::check::CheckError;
use crate::program::env::Param;
use crate::ptx::SyntaxError;
use crate::ptx::fatbin::FatbinError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// One thing that is wrong with the input.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// What.
    pub kind: ProblemKind,
    /// Where in a file that was read, when it is from one.
    pub at: Option<(FileId, Span)>,
}

impl Problem {
    /// Whether one can go on nevertheless.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        match &self.kind {
            ProblemKind::Memp(error) => error.is_warning(),
            ProblemKind::UnusedSuppression { .. } => true,
            _ => false,
        }
    }
}

/// Where something was asked for: a place in a launch file, or nothing when it came from the command line or a program.
pub type At = Option<(FileId, Span)>;

complaints! {
    /// The ways in which input can be wrong; `source` is the text of the file.
    #[derive(Clone, PartialEq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what they are")]
    pub enum ProblemKind(source: &str) {
        /// A file or folder cannot be read.
        Unreadable { path: PathBuf, cause: ErrorKind } =>
            "unreadable" ("cannot read `{}`: {}", path.display(), why(*cause)) ("");
        /// A file cannot be written.
        Unwritable { path: PathBuf, cause: ErrorKind } =>
            "unwritable" ("cannot write `{}`: {}", path.display(), why(*cause)) ("");
        /// A file that is named in one of a folder lies elsewhere, and must not.
        Outside { path: PathBuf, folder: PathBuf } =>
            "outside"
            ("`{}` is not in `{}`", path.display(),
                if folder.as_os_str().is_empty() { Path::new(".") } else { folder }.display())
            ("for this") ("with --confine a launch file names files of its own folder only");
        /// A schedule would overwrite a file that is none.
        Taken { path: PathBuf } =>
            "taken" ("`{}` is there, and is no schedule: it is not overwritten", path.display()) ("")
            ("name another file, or remove this one");
        /// A folder has no `launch.toml`; other launch files that it has.
        NoLaunchFile { folder: PathBuf, others: Vec<String> } =>
            "no-launch-file" ("`{}` has no launch.toml", folder.display()) ("")
            ("{}", match others.first() {
                Some(other) => format!("it has {}: name one of them, e.g. `warpstep run {}`",
                    list(others), folder.join(other).display()),
                None => "write one, or name a .ptx file and describe the launch by flags (`warpstep run --help`)".to_owned(),
            });
        /// There is nothing to be tested in a folder.
        NoTests { path: PathBuf, others: usize } =>
            "no-tests" ("there is no launch file in `{}`", path.display()) ("")
            ("a launch file has `ptx` and [[launch]], a host script has [[host]]{}", match others {
                0 => String::new(),
                n => format!("; {n} TOML {} there {} neither", plural(*n as u64, "file"), plural(*n as u64, "has")),
            });
        /// Neither a folder nor a `.toml`, where tests are looked for.
        NoTest { path: PathBuf } =>
            "no-tests" ("`{}` is neither a folder nor a launch file or host script (.toml)", path.display()) ("")
            ("write a launch file that says how it is launched and what must come out; `warpstep test` runs these");
        /// All files are left out by flags.
        NoneLeft { found: usize } =>
            "no-tests" ("--filter and --skip leave none of {}", counted(*found as u64, "launch file")) ("")
            ("a pattern is part of a path; * stands for anything");
        /// Neither a folder nor a `.toml` nor a `.ptx`.
        UnknownKind { path: PathBuf } => {
            let litmus = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("litmus"));
            let path = path.display();
            if litmus {
                return Wording::new("litmus-target", format!("`{path}` is a litmus test, which has no launch"), "")
                    .hint(format!("`warpstep prove {path}` goes through all its outcomes"));
            }
            Wording::new("unknown-file", format!("`{path}` is neither a folder nor a .toml nor a .ptx file, nor a binary of nvcc's"), "")
                .hint("name a folder with a launch.toml, a launch file ending in .toml, PTX ending in .ptx, or a fat binary, object or executable")
        };
        /// A schedule that is to be minimised shows no defect.
        NoDefect { path: PathBuf } =>
            "no-defect" ("`{}` shows no defect: there is nothing to keep", path.display()) ("")
            ("`warpstep replay` tells what it does");
        /// A host script where a program with its launches is needed.
        ScriptTarget { path: PathBuf } =>
            "script" ("`{}` is a host script, and this command is about launches", path.display()) ("")
            ("`warpstep run`, `hunt` and `prove` take scripts; else name a launch file, or PTX with flags");
        /// Not UTF-8 text; the offset of the first wrong byte.
        NotText { path: PathBuf, offset: u64 } =>
            "not-text" ("`{}` is no text: byte {offset} begins no UTF-8 character", path.display()) ("")
            ("a PTX module or launch file is needed here, or a binary of nvcc's with PTX in it: .fatbin, .o, an executable");
        /// A fat binary, object or executable from which no PTX is had.
        Fatbin { path: PathBuf, error: FatbinError } => { error.wording(&path.display().to_string()) };
        /// The file is no TOML, in the parser's words.
        Toml(message: String) => "toml" ("the file is no TOML: {message}") ("here");
        /// A key that nothing reads.
        UnknownKey { key: String, table: String, known: &'static [&'static str] } =>
            "unknown-key" ("{table} has no key `{key}`") ("nothing reads this") ("{}", among(key, known, "", list));
        /// A key that must be there.
        MissingKey { key: &'static str, table: String } =>
            "missing-key" ("{table} lacks `{key}`") ("here") ("{}", example(key));
        /// Exactly one of these must be there.
        OneOf { keys: &'static [&'static str], table: String, found: usize } =>
            "one-of"
            ("{table} needs exactly one of {}, and has {}", list(keys), if *found == 0 { "none" } else { "several" })
            ("here");
        /// A value of another type.
        WrongType { key: String, wanted: &'static str, found: &'static str } =>
            "wrong-type" ("`{key}` must be {wanted}, not {} {found}", article(found)) ("{} {found}", article(found));
        /// A number out of range.
        OutOfRange { key: String, wanted: &'static str } => "out-of-range" ("`{key}` must be {wanted}") ("here");
        /// No element type.
        UnknownType { text: String } =>
            "unknown-type" ("there is no element type `{text}`") ("here") ("{}", meant_type(text));
        /// A number that the element type cannot hold.
        NoFit { text: String, ty: Scalar } =>
            "no-fit" ("{text} is no {}", ty.name()) ("here") ("{} holds {}", ty.name(), range(*ty));
        /// Text that is no number.
        NoNumber { text: String } => "no-number" ("`{text}` is no number") ("");
        /// An odd number of digits, or something that is no hexadecimal digit.
        BadHex =>
            "bad-hex" ("bytes are pairs of hexadecimal digits") ("here")
            ("e.g. \"00 ff 3c\"; blanks and _ are skipped");
        /// A command-line word that does not follow its form.
        BadFlag { flag: &'static str, text: String, form: &'static str } =>
            "bad-flag" ("{flag} {text}: not of the form {form}") ("") ("`warpstep run --help` has examples");
        /// A flag of the command line that does not go with the others; `text` is its value, or what it does not go with.
        UnfitFlag { flag: &'static str, text: String, why: &'static str } =>
            "bad-flag" ("{flag}{}{text}: {why}", if text.is_empty() { "" } else { " " }) ("");
        /// A word that is none of those that may stand there.
        UnknownWord { key: &'static str, text: String, known: Vec<&'static str> } =>
            "unknown-word" ("`{key}` cannot be `{text}`") ("here") ("{}", among(text, known, "", list));
        /// No kind of defect, and those that there are.
        NoKind { text: String, known: Vec<&'static str> } =>
            "no-kind" ("there is no kind of defect `{text}`") ("here") ("{}", among(text, known, "", list));
        /// A suppression that no defect has matched.
        UnusedSuppression { kind: &'static str, reason: String } =>
            "unused-suppression" ("no `{kind}` was found that this entry suppresses ({reason})") ("nothing matches this")
            ("remove it when the defect is repaired; a line number may have moved");
        /// No such preset of a device.
        NoDevice { name: String, known: &'static [&'static str] } =>
            "no-device" ("there is no device `{name}`") ("here") ("{}", among(name, known, "", list));
        /// A constant of a device that no device can have.
        Impossible { key: &'static str, wanted: String } =>
            "impossible-device" ("no device is like this: `{key}` must be {wanted}") ("here");
        /// A context, program or launch of a host script that is not there, and those that are.
        NoSuch { what: &'static str, name: String, known: Vec<String> } => {
            let make = match *what {
                "program" => "describe it under [programs]",
                _ => "it must be made by an earlier step",
            };
            Wording::new("no-such", format!("there is no {what} `{name}` here"), "at this step, it is not there")
                .hint(among(name, known, make, list))
        };
        /// A context or launch that is not there any more.
        Gone { what: &'static str, name: String, why: &'static str } =>
            "gone" ("there is no {what} `{name}` any more: {why}") ("here")
            ("a step can name a {what} only while it is there");
        /// A kernel is started of a program that was not loaded into the context.
        NotLoaded { program: String, context: String } =>
            "not-loaded" ("program `{program}` is not loaded into context `{context}`") ("here")
            ("before it: [[host]] do = \"load\", context = \"{context}\", program = \"{program}\"");
        /// Programs whose addresses have different sizes, in bits, on one device.
        AddressSizes { program: String, bits: u32, other: String, other_bits: u32 } =>
            "address-sizes"
            ("program `{program}` has addresses of {bits} bits, `{other}` of {other_bits}") ("")
            ("the programs of one device must have the same .address_size");
        /// A name given twice.
        Twice { name: String } => "twice" ("`{name}` is given twice") ("");
        /// No such buffer, and those that are.
        UnknownBuffer { name: String, known: Vec<String> } =>
            "unknown-buffer" ("there is no buffer `{name}`") ("here")
            ("{}", among(name, known, "describe it under [buffers]", list));
        /// No such buffer or variable, and those that are.
        UnknownVariable { name: String, known: Vec<String> } =>
            "unknown-variable" ("there is no buffer or .global or .const variable `{name}`") ("here")
            ("{}", among(name, known, "the program has no variables", list));
        /// No such element of a buffer or variable, and how many there are.
        BeyondBuffer { name: String, element: u64, elements: u64 } =>
            "beyond-buffer" ("there is no `{name}[{element}]`") ("here")
            ("`{name}` has {}", counted(*elements, "element"));
        /// No such texture, sampler or surface, and those that are.
        UnknownImage { kind: &'static str, name: String, known: Vec<String> } =>
            "unknown-image" ("there is no {kind} `{name}`") ("here")
            ("{}", among(name, known, &format!("describe it under [{kind}s], or with --{kind}"), list));
        /// Nothing can be bound to a variable: there is none of the type.
        NoReference { name: String, ty: &'static str, known: Vec<String> } =>
            "no-reference" ("there is no {ty} variable `{name}`") ("here")
            ("{}", among(name, known, "kernels of today take handles: pass it as an argument", list));
        /// A texture's or surface's texels do not fit their buffer.
        TexelsBeyond { name: String, buffer: String, offset: u64, wanted: u64, bytes: u64 } =>
            "texels"
            ("`{name}` needs {wanted} bytes of buffer `{buffer}` from byte {offset} on, which has {bytes} in all")
            ("here") ("a texel has its channels' bytes; there are as many as the size says, in each layer and level");
        /// Levels of detail without normalised coordinates.
        LevelsUnnormalised { name: String } =>
            "levels" ("`{name}` has levels of detail, and coordinates that count texels, whose number differs from level to level")
            ("here") ("normalised = true");
        /// A linear filter of what gives integers.
        BlendsIntegers { name: String, format: &'static str } =>
            "filter" ("`{name}` has a linear filter, and `{format}` texels are integers, which cannot be blended") ("here")
            ("filter = \"point\"; or read = \"normalised\", which makes fractions of 8 and 16 bits");
        /// A buffer's data.
        Data { name: String, problem: DataProblem } => { problem.wording(name) };
        /// A variable holds another number of bytes than its value.
        VariableSize { name: String, bytes: u64, given: u64 } =>
            "variable-size" ("`{name}` holds {bytes} bytes, the value has {given}") ("here");
        /// No kernel of that name, and those that are.
        NoEntry { name: String, entries: Vec<String>, function: bool } => { no_entry(name, entries, *function) };
        /// No kernel was named and the program has none or several.
        WhichEntry { entries: Vec<String> } => {
            if entries.is_empty() {
                return Wording::new("no-entry", "the program has no kernel", "")
                    .hint("a kernel is an `.entry`; __device__ functions cannot be launched");
            }
            Wording::new("which-entry", "the program has several kernels", "")
                .hint(format!("name one with --entry: {}", list(entries)))
        };
        /// Nothing is launched.
        NoLaunch => "no-launch" ("nothing is launched") ("") ("add a [[launch]]");
        /// Too many or too few arguments.
        ArgCount { entry: String, wanted: usize, given: usize, parameters: Vec<String> } =>
            "argument-count"
            ("kernel `{entry}` has {}, {given} {} given", counted(*wanted as u64, "parameter"),
                if *given == 1 { "argument is" } else { "arguments are" })
            ("in this launch")
            ("{}", match parameters.join(", ") {
                none if none.is_empty() => "leave `args` out".to_owned(),
                all => format!("its parameters: {all}"),
            });
        /// An argument of another type or size than its parameter.
        ArgType { entry: String, index: usize, parameter: Box<Param>, given: Given } => { argument(entry, *index, parameter, given) };
        /// An offset beyond the end of a buffer.
        ArgOffset { index: usize, buffer: String, offset: u64, bytes: u64 } =>
            "argument-offset"
            ("argument {}: offset {offset} lies beyond buffer `{buffer}` of {bytes} bytes", index + 1) ("here");
        /// A launch that the target or the kernel's bounds do not allow.
        Limit { entry: String, limit: LaunchLimit } =>
            "launch-limit" ("kernel `{entry}` cannot be launched: {limit}") ("in this launch") if limit.advice();
        /// An expected result has more elements than the buffer, or (`first` not given) fewer.
        ExpectLength { name: String, expected: u64, buffer: u64, first: Option<u64> } => {
            let Some(first) = first else {
                let (has, are) = (counted(*buffer, "element"), plural(*expected, "is"));
                let message = format!("`{name}` has {has}, {expected} {are} expected");
                return Wording::new("expected-length", message, "here").hint(if expected < buffer {
                    format!("`first = {expected}` compares only the first ones")
                } else {
                    "make the buffer as long as the expected result".to_owned()
                });
            };
            let there = format!("it has {buffer}, {expected} are expected");
            let message = format!("cannot compare the first {first} elements of `{name}`: {there}");
            Wording::new("expected-length", message, "here")
        };
        /// The text is no PTX.
        Syntax(error: Box<SyntaxError>) => { error.kind.wording(error.span, source) };
        /// A complaint about memory programs.
        Memp(error: Box<MempError>) => { error.kind.wording(error.span.of(source)) };
        /// A folder has no file of memory programs.
        NoMemoryPrograms { folder: PathBuf } =>
            "no-memory-programs" ("`{}` has no memory programs", folder.display()) ("")
            ("they stand in files named *.memp; `use fermi;` in one of them takes a preset's");
        /// The program breaks a rule of PTX.
        Check(error: Box<CheckError>) => { error.kind.wording() };
        /// The program cannot be built or linked.
        Lower(error: Box<LowerError>) => { error.kind.wording() };
    }
}

phrases! {
    /// An argument, for messages.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub enum Given {
        /// A buffer's address of so many bytes.
        Buffer(buffer: String, n: u32) => ("the address of buffer `{buffer}` ({n} bytes)");
        /// The null pointer of so many bytes.
        Null(n: u32) => ("a null pointer ({n} bytes)");
        /// The handle of a texture, sampler or surface.
        Handle(kind: &'static str, name: String) => ("the handle of {kind} `{name}` (8 bytes)");
        /// A number.
        Scalar(ty: Scalar) => ("{} ({})", ty.name(), counted(ty.bytes.into(), "byte"));
        /// So many bytes.
        Bytes(n: usize) => { counted(*n as u64, "byte") };
    }
}

phrases! {
    /// Limits of launches (CUDA C++ Programming Guide, compute capabilities; PTX ISA 11.4 for launch bounds).
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what they are")]
    pub enum LaunchLimit {
        /// A grid or block dimension of zero.
        Zero { what: &'static str, dims: [u32; 3] } => ("the {what} is {}: no dimension may be 0", tuple(dims));
        /// A dimension beyond the target's.
        Dimension { what: &'static str, axis: char, given: u32, limit: u32, sm: u32 } =>
            ("the {what} has {given} in {axis}; sm_{sm} allows {limit}");
        /// Too many threads in a block.
        Threads { given: u64, limit: u32, sm: u32 } => ("a block has {given} threads; sm_{sm} allows {limit}");
        /// Too much shared memory, in bytes: declared in the program, dynamic.
        Shared { declared: u32, dynamic: u32, limit: u32, sm: u32 } =>
            ("a block needs {declared} + {dynamic} bytes of shared memory (declared + dynamic); sm_{sm} allows {limit}");
        /// A block that no multiprocessor of the described device can hold.
        Processor { what: &'static str, given: u64, limit: u32 } =>
            ("a block of {given} {what} does not fit a multiprocessor of the device, which holds {limit}");
        /// More threads than `.maxntid` allows.
        MaxThreads { given: [u32; 3], bound: [u32; 3] } =>
            ("a block of {} exceeds the kernel's .maxntid {}", tuple(given), tuple(bound));
        /// Another block than `.reqntid` wants.
        RequiredThreads { given: [u32; 3], bound: [u32; 3] } =>
            ("a block of {} is not the kernel's .reqntid {}", tuple(given), tuple(bound));
    }
}

impl LaunchLimit {
    fn advice(&self) -> Option<String> {
        Some(match self {
            Self::Threads { .. } => "use smaller blocks and more of them".to_owned(),
            Self::Processor { .. } => "the device is the one of --device".to_owned(),
            Self::MaxThreads { .. } => "__launch_bounds__ in the source says so".to_owned(),
            Self::RequiredThreads { bound: [x, y, z], .. } => format!("block = [{x}, {y}, {z}]"),
            Self::Zero { .. } | Self::Dimension { .. } | Self::Shared { .. } => return None,
        })
    }
}

fn tuple([x, y, z]: &[u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

impl ProblemKind {
    /// The problem at a place.
    #[must_use]
    pub fn at(self, at: At) -> Problem {
        Problem { kind: self, at }
    }
}

impl From<LowerError> for Problem {
    fn from(error: LowerError) -> Self {
        Self { at: Some((error.file, error.span)), kind: ProblemKind::Lower(Box::new(error)) }
    }
}

impl From<MempError> for Problem {
    fn from(error: MempError) -> Self {
        Self { at: Some((error.file, error.span)), kind: ProblemKind::Memp(Box::new(error)) }
    }
}

impl From<ProblemKind> for Vec<Problem> {
    /// The one problem, of no place in a file.
    fn from(kind: ProblemKind) -> Self {
        vec![kind.at(None)]
    }
}

fn no_entry(name: &str, entries: &[String], function: bool) -> Wording {
    if function {
        let t = Wording::new(
            "no-entry",
            format!("`{name}` is no kernel with a body: only an `.entry` can be launched"),
            "here",
        );
        return t.hint(if entries.is_empty() {
            "the program has no kernel".to_owned()
        } else {
            format!("kernels: {}", list(entries))
        });
    }
    // C++ names are long: a part that fits is more likely meant than a word a letter away.
    let mangled: Vec<&str> =
        entries.iter().map(String::as_str).filter(|e| e.contains(&format!("{}{name}", name.len()))).collect();
    let t = Wording::new("no-entry", format!("the program has no kernel `{name}`"), "here");
    match mangled[..] {
        [one] => t.hint(format!("C++ names it `{one}`; `extern \"C\"` keeps a name as it is")),
        _ => t.hint(among(name, entries, "it has none at all", list)),
    }
}

fn argument(entry: &str, index: usize, parameter: &Param, given: &Given) -> Wording {
    let Param { name, ty, bytes, array, .. } = parameter;
    let wanted = if *array {
        format!("an array of {bytes} bytes")
    } else {
        format!(".{ty} ({})", counted(u64::from(*bytes), "byte"))
    };
    let hint = match (given, array) {
        (Given::Scalar(_) | Given::Buffer(..) | Given::Null(_), true) => {
            format!("give {{ bytes = \"…\" }} with {bytes} bytes in hexadecimal")
        }
        (Given::Scalar(_), _) if *bytes == 8 && ty.ends_with("64") && !ty.starts_with('f') => {
            format!("a pointer takes {{ buffer = \"…\" }}, a number {{ {ty} = … }}")
        }
        (Given::Bytes(_), _) => format!("give exactly {bytes} bytes"),
        _ => format!("give {{ {ty} = … }}"),
    };
    Wording::new(
        "argument-type",
        format!("argument {} of kernel `{entry}`: parameter `{name}` is {wanted}, given is {given}", index + 1),
        "this does not fit",
    )
    .hint(hint)
}

fn example(key: &str) -> String {
    match key {
        "ptx" => "e.g. ptx = \"kernel.ptx\"".to_owned(),
        "launch" => "a launch begins with [[launch]] and has entry, grid, block and args".to_owned(),
        "grid" | "block" => format!("e.g. {key} = [64, 1, 1]"),
        "entry" => "the kernel's name as the PTX has it".to_owned(),
        "type" => "e.g. type = \"f32\"".to_owned(),
        "init" => "\"zeros\", \"iota\", { random = 7 }, { values = [1, 2] }, { hex = \"…\" }, { npy = \"in.npy\" } or { raw = \"in.bin\" }".to_owned(),
        "len" => "the number of elements".to_owned(),
        other => format!("add `{other}`"),
    }
}

fn meant_type(name: &str) -> String {
    let meant = match name {
        "float" | "float32" => Some("f32"),
        "double" | "float64" => Some("f64"),
        "half" | "float16" => Some("f16"),
        "bfloat16" => Some("bf16"),
        "char" | "int8" | "i8" => Some("s8"),
        "i16" => Some("s16"),
        "int" | "int32" | "i32" => Some("s32"),
        "long" | "int64" | "i64" => Some("s64"),
        "bool" | "byte" | "uint8" => Some("u8"),
        "uint" | "uint32" => Some("u32"),
        "uint64" => Some("u64"),
        _ => None,
    };
    let known: Vec<&str> = SCALARS.iter().map(|(n, _)| *n).collect();
    meant.map_or_else(|| among(name, &known, "", list), |meant| format!("did you mean `{meant}`?"))
}

fn range(ty: Scalar) -> String {
    match ty.integers() {
        None => "floating-point numbers".to_owned(),
        Some(_) if ty.meaning == Meaning::Bits => "integers, signed or not".to_owned(),
        Some(all) => format!("{} to {}", all.start(), all.end()),
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
