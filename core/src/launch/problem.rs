//! What can be wrong with what the user asked for. Exit code 2; `report::problem` makes the text.

use super::{DataProblem, Scalar};
use crate::base::{FileId, Span};
use crate::memory::fermi::program::MempError;
use crate::program::LowerError;
use crate::program::check::CheckError;
use crate::ptx::SyntaxError;
use std::path::PathBuf;

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

/// The ways in which input can be wrong.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "fields are named for what they are")]
pub enum ProblemKind {
    /// A file or folder cannot be read.
    Unreadable { path: PathBuf, cause: std::io::ErrorKind },
    /// A file cannot be written.
    Unwritable { path: PathBuf, cause: std::io::ErrorKind },
    /// A file that is named in one of a folder lies elsewhere, and must not.
    Outside { path: PathBuf, folder: PathBuf },
    /// A schedule would overwrite a file that is none.
    Taken { path: PathBuf },
    /// A folder has no `launch.toml`; other launch files that it has.
    NoLaunchFile { folder: PathBuf, others: Vec<String> },
    /// Neither a folder nor a `.toml` nor a `.ptx`.
    UnknownKind { path: PathBuf },
    /// A schedule that is to be minimised shows no defect.
    NoDefect { path: PathBuf },
    /// A host script where a program with its launches is needed.
    ScriptTarget { path: PathBuf },
    /// Not UTF-8 text; the offset of the first wrong byte.
    NotText { path: PathBuf, offset: u64 },
    /// The file is no TOML, in the parser's words.
    Toml(String),
    /// A key that nothing reads.
    UnknownKey { key: String, table: String, known: &'static [&'static str] },
    /// A key that must be there.
    MissingKey { key: &'static str, table: String },
    /// Exactly one of these must be there.
    OneOf { keys: &'static [&'static str], table: String, found: usize },
    /// A value of another type.
    WrongType { key: String, wanted: &'static str, found: &'static str },
    /// A number out of range.
    OutOfRange { key: String, wanted: &'static str },
    /// No element type.
    UnknownType { text: String },
    /// A number that the element type cannot hold.
    NoFit { text: String, ty: Scalar },
    /// Text that is no number.
    NoNumber { text: String },
    /// An odd number of digits, or something that is no hexadecimal digit.
    BadHex,
    /// A command-line word that does not follow its form.
    BadFlag { flag: &'static str, text: String, form: &'static str },
    /// A flag of the command line that does not go with the others; `text` is its value, or what it does not go with.
    UnfitFlag { flag: &'static str, text: String, why: &'static str },
    /// A word that is none of those that may stand there.
    UnknownWord { key: &'static str, text: String, known: &'static [&'static str] },
    /// No kind of defect, and those that there are.
    NoKind { text: String, known: Vec<&'static str> },
    /// A suppression that no defect has matched.
    UnusedSuppression { kind: &'static str, reason: String },
    /// No such preset of a device.
    NoDevice { name: String, known: &'static [&'static str] },
    /// A constant of a device that no device can have.
    Impossible { key: &'static str, wanted: String },
    /// A context, program or launch of a host script that is not there, and those that are.
    NoSuch { what: &'static str, name: String, known: Vec<String> },
    /// A context or launch that is not there any more.
    Gone { what: &'static str, name: String, why: &'static str },
    /// A kernel is started of a program that was not loaded into the context.
    NotLoaded { program: String, context: String },
    /// Programs whose addresses have different sizes, in bits, on one device.
    AddressSizes { program: String, bits: u32, other: String, other_bits: u32 },
    /// A name given twice.
    Twice { name: String },
    /// No such buffer, and those that are.
    UnknownBuffer { name: String, known: Vec<String> },
    /// No such buffer or variable, and those that are.
    UnknownVariable { name: String, known: Vec<String> },
    /// A buffer's data.
    Data { name: String, problem: DataProblem },
    /// A variable holds another number of bytes than its value.
    VariableSize { name: String, bytes: u64, given: u64 },
    /// No kernel of that name, and those that are.
    NoEntry { name: String, entries: Vec<String>, function: bool },
    /// No kernel was named and the program has none or several.
    WhichEntry { entries: Vec<String> },
    /// Nothing is launched.
    NoLaunch,
    /// Too many or too few arguments.
    ArgCount { entry: String, wanted: usize, given: usize, parameters: Vec<String> },
    /// An argument of another type or size than its parameter.
    ArgType { entry: String, index: usize, parameter: Parameter, given: Given },
    /// An offset beyond the end of a buffer.
    ArgOffset { index: usize, buffer: String, offset: u64, bytes: u64 },
    /// A launch that the target or the kernel's bounds do not allow.
    Limit { entry: String, limit: LaunchLimit },
    /// An expected result has more elements than the buffer, or (`first` not given) fewer.
    ExpectLength { name: String, expected: u64, buffer: u64, first: Option<u64> },
    /// The text is no PTX.
    Syntax(Box<SyntaxError>),
    /// A complaint about memory programs.
    Memp(Box<MempError>),
    /// A folder has no file of memory programs.
    NoMemoryPrograms { folder: PathBuf },
    /// The program breaks a rule of PTX.
    Check(Box<CheckError>),
    /// The program cannot be built or linked.
    Lower(Box<LowerError>),
}

/// A kernel's parameter, for messages.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "fields are named for what they are")]
pub struct Parameter {
    pub name: String,
    pub ty: String,
    pub bytes: u32,
    pub array: bool,
}

/// An argument, for messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Given {
    /// A buffer's address of so many bytes.
    Buffer(String, u32),
    /// The null pointer of so many bytes.
    Null(u32),
    /// A number.
    Scalar(Scalar),
    /// So many bytes.
    Bytes(usize),
}

/// Limits of launches (CUDA C++ Programming Guide, compute capabilities; PTX ISA 11.4 for launch bounds).
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "fields are named for what they are")]
pub enum LaunchLimit {
    /// A grid or block dimension of zero.
    Zero { what: &'static str, dims: [u32; 3] },
    /// A dimension beyond the target's.
    Dimension { what: &'static str, axis: char, given: u32, limit: u32, sm: u32 },
    /// Too many threads in a block.
    Threads { given: u64, limit: u32, sm: u32 },
    /// Too much shared memory, in bytes: declared in the program, dynamic.
    Shared { declared: u32, dynamic: u32, limit: u32, sm: u32 },
    /// A block that no multiprocessor of the described device can hold.
    Processor { what: &'static str, given: u64, limit: u32 },
    /// More threads than `.maxntid` allows.
    MaxThreads { given: [u32; 3], bound: [u32; 3] },
    /// Another block than `.reqntid` wants.
    RequiredThreads { given: [u32; 3], bound: [u32; 3] },
}

impl ProblemKind {
    /// The problem at a place.
    #[must_use]
    pub fn at(self, at: At) -> Problem {
        Problem { kind: self, at }
    }
}
