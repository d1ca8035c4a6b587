//! Messages about wrong input: launch files, arguments, limits, data files.

use super::count::{counted, plural};
use super::diagnostic::{Diagnostic, NOWHERE, Severity, said};
use crate::base::{SourceMap, suggest};
use crate::launch::{DataProblem, Given, LaunchLimit, NpyProblem, Parameter, Problem, ProblemKind as K, SCALARS};
use std::io::ErrorKind;
use std::path::Path;

/// The message of a problem with the input; `sources` are the files that it is about.
pub fn problem(problem: &Problem, sources: &SourceMap) -> Diagnostic {
    let (file, span) = problem.at.unwrap_or(NOWHERE);
    match &problem.kind {
        K::Check(error) => return super::check::diagnostic(error, file),
        K::Lower(error) => return super::lower::diagnostic(error),
        K::Memp(error) => return super::memp::diagnostic(error, sources),
        K::Syntax(error) => {
            let text = sources.get(file).map_or("", |s| s.text.as_str());
            return super::syntax::diagnostic(error, file, text);
        }
        _ => {}
    }
    let mut diagnostic = words(&problem.kind).at(file, span);
    if problem.is_warning() {
        diagnostic.severity = Severity::Warning;
    }
    diagnostic
}

fn words(kind: &K) -> Diagnostic {
    let known = of_file(kind).or_else(|| of_value(kind)).or_else(|| of_name(kind)).or_else(|| of_launch(kind));
    known.unwrap_or_else(|| said("program", "the program is wrong", ""))
}

/// Files and folders that are named.
fn of_file(kind: &K) -> Option<Diagnostic> {
    Some(match kind {
        K::Unreadable { path, cause } => unreadable(path, *cause),
        K::Unwritable { path, cause } => {
            said("unwritable", format!("cannot write `{}`: {}", path.display(), why(*cause)), "")
        }
        K::Outside { path, folder } => {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            said("outside", format!("`{}` is not in `{}`", path.display(), folder.display()), "for this")
                .hint("with --confine a launch file names files of its own folder only")
        }
        K::Taken { path } => {
            said("taken", format!("`{}` is there, and is no schedule: it is not overwritten", path.display()), "")
                .hint("name another file, or remove this one")
        }
        K::NoMemoryPrograms { folder } => {
            said("no-memory-programs", format!("`{}` has no memory programs", folder.display()), "")
                .hint("they stand in files named *.memp; `use fermi;` in one of them takes a preset's")
        }
        K::NoLaunchFile { folder, others } => {
            let t = said("no-launch-file", format!("`{}` has no launch.toml", folder.display()), "");
            match others.first() {
                Some(other) => t.hint(format!(
                    "it has {}: name one of them, e.g. `warpstep run {}`",
                    list(others),
                    folder.join(other).display()
                )),
                None => {
                    t.hint("write one, or name a .ptx file and describe the launch by flags (`warpstep run --help`)")
                }
            }
        }
        K::UnknownKind { path } if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("litmus")) => {
            said("litmus-target", format!("`{}` is a litmus test, which has no launch", path.display()), "")
                .hint(format!("`warpstep prove {}` goes through all its outcomes", path.display()))
        }
        K::UnknownKind { path } => {
            said("unknown-file", format!("`{}` is neither a folder nor a .toml nor a .ptx file", path.display()), "")
                .hint("name a folder with a launch.toml, a launch file ending in .toml, or PTX ending in .ptx")
        }
        K::NoDefect { path } => {
            said("no-defect", format!("`{}` shows no defect: there is nothing to keep", path.display()), "")
                .hint("`warpstep replay` tells what it does")
        }
        K::ScriptTarget { path } => {
            said("script", format!("`{}` is a host script, and this command is about launches", path.display()), "")
                .hint("`warpstep run`, `hunt` and `prove` take scripts; else name a launch file, or PTX with flags")
        }
        K::NotText { path, offset } => {
            said("not-text", format!("`{}` is no text: byte {offset} begins no UTF-8 character", path.display()), "")
                .hint("a PTX module or launch file is needed here; a .cubin or .fatbin holds machine code")
        }
        _ => return None,
    })
}

/// Keys, values and flags.
fn of_value(kind: &K) -> Option<Diagnostic> {
    Some(match kind {
        K::Toml(message) => said("toml", format!("the file is no TOML: {message}"), "here"),
        K::UnknownKey { key, table, known } => {
            said("unknown-key", format!("{table} has no key `{key}`"), "nothing reads this").among(key, known, "", list)
        }
        K::MissingKey { key, table } => {
            said("missing-key", format!("{table} lacks `{key}`"), "here").hint(example(key))
        }
        K::OneOf { keys, table, found } => {
            let how = if *found == 0 { "none" } else { "several" };
            said("one-of", format!("{table} needs exactly one of {}, and has {how}", list(keys)), "here")
        }
        K::WrongType { key, wanted, found } => said(
            "wrong-type",
            format!("`{key}` must be {wanted}, not {} {found}", article(found)),
            format!("{} {found}", article(found)),
        ),
        K::OutOfRange { key, wanted } => said("out-of-range", format!("`{key}` must be {wanted}"), "here"),
        K::UnknownType { text: name } => {
            said("unknown-type", format!("there is no element type `{name}`"), "here").hint(meant_type(name))
        }
        K::NoFit { text: number, ty } => said("no-fit", format!("{number} is no {}", ty.name()), "here").hint(format!(
            "{} holds {}",
            ty.name(),
            range(ty.name())
        )),
        K::NoNumber { text: word } => said("no-number", format!("`{word}` is no number"), ""),
        K::BadHex => said("bad-hex", "bytes are pairs of hexadecimal digits", "here")
            .hint("e.g. \"00 ff 3c\"; blanks and _ are skipped"),
        K::UnfitFlag { flag, text: word, why } => {
            let with = if word.is_empty() { String::new() } else { format!(" {word}") };
            said("bad-flag", format!("{flag}{with}: {why}"), "")
        }
        K::BadFlag { flag, text: word, form } => said("bad-flag", format!("{flag} {word}: not of the form {form}"), "")
            .hint("`warpstep run --help` has examples"),
        _ => return None,
    })
}

/// Names that are not known.
fn of_name(kind: &K) -> Option<Diagnostic> {
    Some(match kind {
        K::UnknownWord { key, text: word, known } => {
            said("unknown-word", format!("`{key}` cannot be `{word}`"), "here").among(word, known, "", list)
        }
        K::NoKind { text: word, known } => {
            said("no-kind", format!("there is no kind of defect `{word}`"), "here").among(word, known, "", list)
        }
        K::UnusedSuppression { kind, reason } => said(
            "unused-suppression",
            format!("no `{kind}` was found that this entry suppresses ({reason})"),
            "nothing matches this",
        )
        .hint("remove it when the defect is repaired; a line number may have moved"),
        K::NoDevice { name, known } => {
            said("no-device", format!("there is no device `{name}`"), "here").among(name, known, "", list)
        }
        K::Impossible { key, wanted } => {
            said("impossible-device", format!("no device is like this: `{key}` must be {wanted}"), "here")
        }
        K::NoSuch { what, name, known } => {
            said("no-such", format!("there is no {what} `{name}` here"), "at this step, it is not there").among(
                name,
                known,
                if *what == "program" { "describe it under [programs]" } else { "it must be made by an earlier step" },
                list,
            )
        }
        K::Gone { what, name, why } => said("gone", format!("there is no {what} `{name}` any more: {why}"), "here")
            .hint(format!("a step can name a {what} only while it is there")),
        K::NotLoaded { program, context } => {
            said("not-loaded", format!("program `{program}` is not loaded into context `{context}`"), "here")
                .hint(format!("before it: [[host]] do = \"load\", context = \"{context}\", program = \"{program}\""))
        }
        K::AddressSizes { program, bits, other, other_bits } => said(
            "address-sizes",
            format!("program `{program}` has addresses of {bits} bits, `{other}` of {other_bits}"),
            "",
        )
        .hint("the programs of one device must have the same .address_size"),
        K::Twice { name } => said("twice", format!("`{name}` is given twice"), ""),
        K::UnknownBuffer { name, known } => said("unknown-buffer", format!("there is no buffer `{name}`"), "here")
            .among(name, known, "describe it under [buffers]", list),
        K::UnknownVariable { name, known } => {
            said("unknown-variable", format!("there is no buffer or .global or .const variable `{name}`"), "here")
                .among(name, known, "the program has no variables", list)
        }
        _ => return None,
    })
}

/// Launches and their data.
fn of_launch(kind: &K) -> Option<Diagnostic> {
    Some(match kind {
        K::Data { name, problem } => data(name, problem),
        K::VariableSize { name, bytes, given } => {
            said("variable-size", format!("`{name}` holds {bytes} bytes, the value has {given}"), "here")
        }
        K::NoEntry { name, entries, function } => no_entry(name, entries, *function),
        K::WhichEntry { entries } if entries.is_empty() => said("no-entry", "the program has no kernel", "")
            .hint("a kernel is an `.entry`; __device__ functions cannot be launched"),
        K::WhichEntry { entries } => said("which-entry", "the program has several kernels", "")
            .hint(format!("name one with --entry: {}", list(entries))),
        K::NoLaunch => said("no-launch", "nothing is launched", "").hint("add a [[launch]]"),
        K::ArgCount { entry, wanted, given, parameters } => said(
            "argument-count",
            format!(
                "kernel `{entry}` has {wanted} {}, {given} {} given",
                plural(*wanted as u64, "parameter"),
                if *given == 1 { "argument is" } else { "arguments are" }
            ),
            "in this launch",
        )
        .hint(if parameters.is_empty() {
            "leave `args` out".to_owned()
        } else {
            format!("its parameters: {}", parameters.join(", "))
        }),
        K::ArgType { entry, index, parameter, given } => argument(entry, *index, parameter, given),
        K::ArgOffset { index, buffer, offset, bytes } => said(
            "argument-offset",
            format!("argument {}: offset {offset} lies beyond buffer `{buffer}` of {bytes} bytes", index + 1),
            "here",
        ),
        K::Limit { entry, limit } => launch_limit(entry, limit),
        K::ExpectLength { name, expected, buffer, first: None } => {
            let t = said(
                "expected-length",
                format!(
                    "`{name}` has {}, {expected} {} expected",
                    counted(*buffer, "element"),
                    plural(*expected, "is")
                ),
                "here",
            );
            if expected < buffer {
                t.hint(format!("`first = {expected}` compares only the first ones"))
            } else {
                t.hint("make the buffer as long as the expected result")
            }
        }
        K::ExpectLength { name, expected, buffer, first: Some(first) } => said(
            "expected-length",
            format!("cannot compare the first {first} elements of `{name}`: it has {buffer}, {expected} are expected"),
            "here",
        ),
        _ => return None,
    })
}

fn unreadable(path: &Path, cause: ErrorKind) -> Diagnostic {
    said("unreadable", format!("cannot read `{}`: {}", path.display(), why(cause)), "")
}

/// How many problems were not told, of how many.
#[must_use]
pub fn more(left_out: usize, all: usize) -> String {
    format!("and {left_out} more: --max-errors {all} tells all\n")
}

/// Why a file cannot be used.
pub(super) fn why(cause: ErrorKind) -> String {
    match cause {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::InvalidInput => "it is no regular file".to_owned(),
        ErrorKind::StorageFull => "no space is left on the device".to_owned(),
        other => other.to_string(),
    }
}

fn data(name: &str, problem: &DataProblem) -> Diagnostic {
    match problem {
        DataProblem::Unreadable(path, cause) => {
            let t = unreadable(path, *cause);
            Diagnostic { message: format!("`{name}`: {}", t.message), ..t }
                .label("for this")
                .hint("file names are relative to the launch file's folder")
        }
        DataProblem::Npy(path, ty, npy) => {
            let why = match npy {
                NpyProblem::NotNpy => "it does not begin as NumPy's files do".to_owned(),
                NpyProblem::Header => "its header cannot be read".to_owned(),
                NpyProblem::BigEndian(descr) => format!("its numbers are big-endian (`{descr}`)"),
                NpyProblem::FortranOrder => "its elements are in Fortran order".to_owned(),
                NpyProblem::Type(descr) => format!("its elements are `{descr}`, not {}", ty.name()),
                NpyProblem::Length { promised, found } => {
                    format!("it should have {promised} bytes of data and has {found}")
                }
            };
            let t = said("npy", format!("`{name}`: cannot use `{}`: {why}", path.display()), "for this");
            match npy {
                NpyProblem::Type(_) | NpyProblem::BigEndian(_) => {
                    t.hint("save it with the right type: np.save(file, array.astype(...))")
                }
                NpyProblem::FortranOrder => t.hint("save np.ascontiguousarray(array)"),
                _ => t,
            }
        }
        DataProblem::Ragged(bytes, ty) => {
            said("ragged", format!("`{name}`: {bytes} bytes are no whole number of {} elements", ty.name()), "here")
        }
        DataProblem::Length { found, wanted } => said(
            "length",
            format!("`{name}`: the data has {}, `len` says {wanted}", counted(*found, "element")),
            "here",
        ),
        DataProblem::Beyond { to, elements } => {
            said("length", format!("`uninit` of `{name}` ends at element {to}, and there are {elements}"), "here")
        }
        DataProblem::NoLength => said("no-length", format!("`{name}`: how many elements?"), "here").hint("add `len`"),
        DataProblem::TooLarge => said("too-large", format!("`{name}` is larger than any address space"), "here"),
    }
}

fn no_entry(name: &str, entries: &[String], function: bool) -> Diagnostic {
    if function {
        let t =
            said("no-entry", format!("`{name}` is no kernel with a body: only an `.entry` can be launched"), "here");
        return t.hint(if entries.is_empty() {
            "the program has no kernel".to_owned()
        } else {
            format!("kernels: {}", list(entries))
        });
    }
    // C++ names are long: a part that fits is more likely meant than a word a letter away.
    let mangled: Vec<&str> =
        entries.iter().map(String::as_str).filter(|e| e.contains(&format!("{}{name}", name.len()))).collect();
    let t = said("no-entry", format!("the program has no kernel `{name}`"), "here");
    match mangled[..] {
        [one] => t.hint(format!("C++ names it `{one}`; `extern \"C\"` keeps a name as it is")),
        _ => t.among(name, entries, "it has none at all", list),
    }
}

fn argument(entry: &str, index: usize, parameter: &Parameter, given: &Given) -> Diagnostic {
    let Parameter { name, ty, bytes, array } = parameter;
    let wanted = if *array {
        format!("an array of {bytes} bytes")
    } else {
        format!(".{ty} ({bytes} {})", plural(u64::from(*bytes), "byte"))
    };
    let what = match given {
        Given::Buffer(buffer, n) => format!("the address of buffer `{buffer}` ({n} bytes)"),
        Given::Null(n) => format!("a null pointer ({n} bytes)"),
        Given::Scalar(ty) => format!("{} ({} {})", ty.name(), ty.bytes, plural(ty.bytes.into(), "byte")),
        Given::Bytes(n) => format!("{n} {}", plural(*n as u64, "byte")),
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
    said(
        "argument-type",
        format!("argument {} of kernel `{entry}`: parameter `{name}` is {wanted}, given is {what}", index + 1),
        "this does not fit",
    )
    .hint(hint)
}

fn launch_limit(entry: &str, limit: &LaunchLimit) -> Diagnostic {
    let dims = |d: &[u32; 3]| format!("({}, {}, {})", d[0], d[1], d[2]);
    let (message, hint) = match limit {
        LaunchLimit::Zero { what, dims: d } => (format!("the {what} is {}: no dimension may be 0", dims(d)), None),
        LaunchLimit::Dimension { what, axis, given, limit, sm } => {
            (format!("the {what} has {given} in {axis}; sm_{sm} allows {limit}"), None)
        }
        LaunchLimit::Threads { given, limit, sm } => (
            format!("a block has {given} threads; sm_{sm} allows {limit}"),
            Some("use smaller blocks and more of them".to_owned()),
        ),
        LaunchLimit::Shared { declared, dynamic, limit, sm } => (
            format!(
                "a block needs {declared} + {dynamic} bytes of shared memory (declared + dynamic); sm_{sm} allows {limit}"
            ),
            None,
        ),
        LaunchLimit::Processor { what, given, limit } => (
            format!("a block of {given} {what} does not fit a multiprocessor of the device, which holds {limit}"),
            Some("the device is the one of --device".to_owned()),
        ),
        LaunchLimit::MaxThreads { given, bound } => (
            format!("a block of {} exceeds the kernel's .maxntid {}", dims(given), dims(bound)),
            Some("__launch_bounds__ in the source says so".to_owned()),
        ),
        LaunchLimit::RequiredThreads { given, bound } => (
            format!("a block of {} is not the kernel's .reqntid {}", dims(given), dims(bound)),
            Some(format!("block = [{}, {}, {}]", bound[0], bound[1], bound[2])),
        ),
    };
    let t = said("launch-limit", format!("kernel `{entry}` cannot be launched: {message}"), "in this launch");
    t.hint_if(hint)
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
    match meant.or_else(|| suggest(name, known.iter().copied())) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there is: {}", list(&known)),
    }
}

fn range(ty: &str) -> &'static str {
    match ty {
        "u8" => "0 to 255",
        "u16" => "0 to 65535",
        "u32" => "0 to 4294967295",
        "u64" => "0 to 18446744073709551615",
        "s8" => "-128 to 127",
        "s16" => "-32768 to 32767",
        "s32" => "-2147483648 to 2147483647",
        "s64" => "-9223372036854775808 to 9223372036854775807",
        "b8" | "b16" | "b32" | "b64" => "integers, signed or not",
        _ => "floating-point numbers",
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// Words in backquotes, at most a dozen.
fn list(words: &[impl AsRef<str>]) -> String {
    const MOST: usize = 12;
    let more = words.len().checked_sub(MOST).filter(|n| *n > 0).map(|n| format!(" and {n} more"));
    let shown: Vec<String> = words.iter().take(MOST).map(|w| format!("`{}`", w.as_ref())).collect();
    shown.join(", ") + &more.unwrap_or_default()
}
