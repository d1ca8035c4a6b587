//! Reading a `launch.toml`. README.md describes its keys; every other key is an error.

use super::folder::Folder;
use super::problem::{At, Problem, ProblemKind};
use super::spec::{Arg, Buffer, Expect, ExpectStdout, Global, KernelLaunch, Spec};
use super::toml::{Table, Value, document};
use super::{Data, SCALARS, Scalar};
use crate::base::{FileId, Source, SourceMap, files};
use indexmap::IndexMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::DeValue;

const ROOT: &[&str] = &["ptx", "buffers", "globals", "launch", "expect", "expect_stdout", "schedule_dependent"];
const BUFFER: &[&str] = &["type", "init", "len", "uninit"];
const INIT: &[&str] = &["random", "values", "hex", "npy", "raw"];
const GLOBAL: &[&str] = &["type", "values", "hex", "npy", "raw"];
const LAUNCH: &[&str] = &["entry", "grid", "block", "shared", "args"];
const EXPECT: &[&str] = &["type", "values", "hex", "npy", "raw", "abs", "rel", "first", "unordered"];
const STDOUT: &[&str] = &["text", "sorted"];
const WRITTEN: &[&str] = &["values", "hex", "npy", "raw"];
const ARG: &[&str] = &[
    "buffer", "offset", "bytes", "null", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "bf16", "f32",
    "f64", "b8", "b16", "b32", "b64",
];

/// Reads one launch file, or a part of a host script.
pub(super) struct Reader<'o> {
    folder: Folder<'o>,
    /// Element types of the buffers and variables that were read so far.
    types: IndexMap<String, Scalar>,
    /// Names of the buffers and variables, also of those with problems.
    names: Vec<String>,
    out: &'o mut Vec<Problem>,
}

impl Spec {
    /// Reads a launch file: a `.toml`, or a folder with a `launch.toml`. File names in it are relative to its folder.
    ///
    /// # Errors
    /// Every problem of the file, with its place; its text is in `sources` then.
    pub fn read(path: &Path, sources: &mut SourceMap) -> Result<Self, Vec<Problem>> {
        let unreadable = |p: &Path, e: &std::io::Error| {
            vec![ProblemKind::Unreadable { path: p.to_owned(), cause: e.kind() }.at(None)]
        };
        let mut path = path.to_owned();
        if std::fs::metadata(&path).map_err(|e| unreadable(&path, &e))?.is_dir() {
            let file = path.join("launch.toml");
            if !file.exists() {
                return Err(vec![ProblemKind::NoLaunchFile { others: launch_files(&path), folder: path }.at(None)]);
            }
            path = file;
        }
        let text = text_of(&path).map_err(|p| vec![*p])?;
        let file = sources.add(path.display().to_string(), text);
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let folder = Folder { path: &folder, confined: sources.is_confined() };
        Self::parse_in(sources.get(file).map_or("", |s: &Source| &s.text), file, folder)
    }

    /// Reads the text of a launch file whose file names are relative to `folder`.
    ///
    /// # Errors
    /// Every problem of the text, with its place.
    pub fn parse(text: &str, file: FileId, folder: &Path) -> Result<Self, Vec<Problem>> {
        Self::parse_in(text, file, Folder { path: folder, confined: false })
    }

    fn parse_in(text: &str, file: FileId, folder: Folder<'_>) -> Result<Self, Vec<Problem>> {
        let table = document(text, file)?;
        let mut out = Vec::new();
        let spec = Reader::new(folder, &mut out).spec(&Table::root(&table, file));
        if out.is_empty() { Ok(spec) } else { Err(out) }
    }
}

/// The text of a file.
///
/// # Errors
/// It cannot be read, or is no UTF-8.
pub fn text_of(path: &Path) -> Result<String, Box<Problem>> {
    let problem = |kind: ProblemKind| Box::new(kind.at(None));
    let bytes =
        files::read(path).map_err(|e| problem(ProblemKind::Unreadable { path: path.to_owned(), cause: e.kind() }))?;
    String::from_utf8(bytes).map_err(|e| {
        let offset = e.utf8_error().valid_up_to() as u64;
        problem(ProblemKind::NotText { path: path.to_owned(), offset })
    })
}

fn launch_files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.file_name());
    let mut names: Vec<String> = names.filter_map(|n| n.into_string().ok()).filter(|n| n.ends_with(".toml")).collect();
    names.sort();
    names
}

impl<'o> Reader<'o> {
    /// A reader of a file in `folder`.
    pub fn new(folder: Folder<'o>, out: &'o mut Vec<Problem>) -> Self {
        Self { folder, types: IndexMap::new(), names: Vec::new(), out }
    }

    /// Knowing the names of buffers.
    pub fn with_names(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// Knowing the element types of buffers.
    pub fn with_types(self, types: IndexMap<String, Scalar>) -> Self {
        Self { types, ..self }
    }

    fn spec(&mut self, root: &Table<'_, '_>) -> Spec {
        root.only(ROOT, self.out);
        let mut spec = Spec { ptx: self.modules(root).unwrap_or_default(), ..Spec::default() };
        spec.buffers = self.named(root, "buffers", |r, _, table, at| r.buffer(table, at));
        spec.globals = self.named(root, "globals", |r, _, table, at| r.global(table, at));
        self.types = spec.buffers.iter().map(|(n, b)| (n.clone(), b.ty)).collect();
        self.types.extend(spec.globals.iter().map(|(n, g)| (n.clone(), g.ty)));
        spec.expect = self.named(root, "expect", Self::expect);
        spec.launches = self.launches(root).unwrap_or_default();
        spec.stdout = root.get("expect_stdout").and_then(|v| self.stdout(root, v));
        spec.schedule_dependent = root.flag("schedule_dependent", self.out);
        spec
    }

    /// The file that a value names.
    fn file<'t, 'a>(&mut self, table: &Table<'t, 'a>, key: &str, value: &'t Value<'a>) -> Option<PathBuf> {
        let name = table.text(key, value, self.out)?;
        self.folder.file(&name).map_err(|kind| self.out.push(kind.at(table.place(value)))).ok()
    }

    /// The modules of a program.
    pub fn modules(&mut self, root: &Table<'_, '_>) -> Option<Vec<(PathBuf, At)>> {
        let value = root.need("ptx", self.out)?;
        let one = std::slice::from_ref(value);
        let all = if let DeValue::Array(array) = value.get_ref() { &**array } else { one };
        let mut modules = Vec::new();
        for v in all {
            modules.push((self.file(root, "ptx", v)?, root.place(v)));
        }
        if modules.is_empty() {
            self.out
                .push(ProblemKind::OutOfRange { key: "ptx".into(), wanted: "at least one file" }.at(root.place(value)));
        }
        Some(modules)
    }

    /// The sub-tables of a table of names.
    pub fn named<T>(
        &mut self,
        root: &Table<'_, '_>,
        key: &str,
        mut read: impl FnMut(&mut Self, &str, &Table<'_, '_>, At) -> Option<T>,
    ) -> IndexMap<String, T> {
        let mut all = IndexMap::new();
        let Some(table) = root.get(key).and_then(|v| root.sub(key, v, self.out)) else { return all };
        for (name, at, value) in table.entries() {
            if key != "expect" {
                self.names.push(name.clone());
            }
            let Some(sub) = table.sub(&format!("{key}.{name}"), value, self.out) else { continue };
            if let Some(item) = read(self, &name, &sub, at) {
                all.insert(name, item);
            }
        }
        all
    }

    /// A buffer.
    pub fn buffer(&mut self, table: &Table<'_, '_>, at: At) -> Option<Buffer> {
        table.only(BUFFER, self.out);
        let ty = table.need("type", self.out).and_then(|v| table.scalar("type", v, self.out));
        let len = table.get("len").and_then(|v| table.count("len", v, u64::MAX, self.out));
        let init = table.need("init", self.out);
        let (ty, init) = (ty?, init?);
        let data = match init.get_ref() {
            DeValue::String(s) if s == "zeros" => Data::Zeros,
            DeValue::String(s) if s == "iota" => Data::Iota,
            DeValue::String(s) if s == "uninit" => Data::Uninit,
            DeValue::Table(_) => {
                let sub = table.sub("init", init, self.out)?;
                sub.only(INIT, self.out);
                self.data(&sub, INIT, ty)?
            }
            other => {
                let wanted = "\"zeros\", \"iota\", \"uninit\" or a table such as { random = 7 }";
                let kind = ProblemKind::WrongType { key: "init".into(), wanted, found: other.type_str() };
                self.out.push(kind.at(table.place(init)));
                return None;
            }
        };
        if len.is_none() && data.needs_length() && table.get("len").is_none() {
            self.out.push(ProblemKind::MissingKey { key: "len", table: table.name.clone() }.at(at));
            return None;
        }
        let init = match table.get("uninit") {
            Some(value) => Data::Partly { rest: Box::new(data), uninit: self.part(table, value)? },
            None => data,
        };
        Some(Buffer { ty, init, len, at })
    }

    /// A range of elements: its first, and the one after its last.
    fn part(&mut self, table: &Table<'_, '_>, value: &Value<'_>) -> Option<Range<u64>> {
        const WANTED: &str = "two numbers of elements, the first below the second";
        let both = table.array("uninit", value, self.out)?;
        let both: Option<Vec<u64>> = both.iter().map(|v| table.count("uninit", v, u64::MAX, self.out)).collect();
        match both?[..] {
            [from, to] if from < to => Some(from..to),
            _ => {
                self.out.push(ProblemKind::OutOfRange { key: "uninit".into(), wanted: WANTED }.at(table.place(value)));
                None
            }
        }
    }

    fn global(&mut self, table: &Table<'_, '_>, at: At) -> Option<Global> {
        table.only(GLOBAL, self.out);
        self.value(table, at)
    }

    /// What a variable is to hold, in a table whose keys have been looked at.
    pub fn value(&mut self, table: &Table<'_, '_>, at: At) -> Option<Global> {
        let value = table.need("type", self.out)?;
        let ty = table.scalar("type", value, self.out)?;
        Some(Global { ty, data: self.data(table, WRITTEN, ty)?, at })
    }

    fn expect(&mut self, name: &str, table: &Table<'_, '_>, at: At) -> Option<Expect> {
        table.only(EXPECT, self.out);
        self.expected(name, table, at)
    }

    /// What a buffer should hold, in a table whose keys have been looked at.
    pub fn expected(&mut self, name: &str, table: &Table<'_, '_>, at: At) -> Option<Expect> {
        let ty = table.get("type").and_then(|v| table.scalar("type", v, self.out));
        let (abs, rel) = (table.tolerance("abs", self.out), table.tolerance("rel", self.out));
        let first = table.get("first").and_then(|v| table.count("first", v, u64::MAX, self.out));
        let unordered = table.flag("unordered", self.out);
        let Some(element) = ty.or_else(|| self.types.get(name).copied()) else {
            // A buffer with a problem of its own is no unknown buffer.
            if table.get("type").is_none() && !self.names.iter().any(|n| n == name) {
                self.out.push(ProblemKind::UnknownBuffer { name: name.into(), known: self.names.clone() }.at(at));
            }
            return None;
        };
        Some(Expect { ty: element, data: self.data(table, WRITTEN, element)?, abs, rel, first, unordered, at })
    }

    /// What should be printed.
    pub fn stdout(&mut self, root: &Table<'_, '_>, value: &Value<'_>) -> Option<ExpectStdout> {
        let table = root.sub("expect_stdout", value, self.out)?;
        table.only(STDOUT, self.out);
        let sorted = table.flag("sorted", self.out);
        let text = table.need("text", self.out)?;
        Some(ExpectStdout { text: table.text("text", text, self.out)?, sorted, at: table.at })
    }

    /// The one of `values`, `hex`, `npy`, `raw` and `random` that a table has.
    fn data(&mut self, table: &Table<'_, '_>, keys: &'static [&'static str], ty: Scalar) -> Option<Data> {
        let mut found = keys.iter().filter_map(|k| table.get(k).map(|v| (*k, v)));
        let (Some((key, value)), None) = (found.next(), found.next()) else {
            let found = keys.iter().filter(|k| table.get(k).is_some()).count();
            self.out.push(ProblemKind::OneOf { keys, table: table.name.clone(), found }.at(table.at));
            return None;
        };
        Some(match key {
            "random" => Data::Random(table.count(key, value, u64::MAX, self.out)?),
            "values" => {
                let mut bytes = Vec::new();
                for element in table.array(key, value, self.out)? {
                    bytes.extend(table.element(key, element, ty, self.out)?);
                }
                Data::Values(bytes)
            }
            "hex" => Data::Hex(table.hex(key, value, self.out)?),
            "npy" => Data::Npy(self.file(table, key, value)?),
            _ => Data::Raw(self.file(table, key, value)?),
        })
    }

    fn launches(&mut self, root: &Table<'_, '_>) -> Option<Vec<KernelLaunch>> {
        let value = root.need("launch", self.out)?;
        let mut all = Vec::new();
        for item in root.array("launch", value, self.out)? {
            let Some(table) = root.sub("launch", item, self.out) else { continue };
            table.only(LAUNCH, self.out);
            all.extend(self.kernel(&table));
        }
        Some(all)
    }

    /// A kernel launch, in a table whose keys have been looked at.
    pub fn kernel(&mut self, table: &Table<'_, '_>) -> Option<KernelLaunch> {
        let entry = table.need("entry", self.out).and_then(|v| table.text("entry", v, self.out));
        let grid = table.need("grid", self.out).and_then(|v| self.dims(table, "grid", v));
        let block = table.need("block", self.out).and_then(|v| self.dims(table, "block", v));
        let shared = table.get("shared").and_then(|v| table.count("shared", v, u32::MAX.into(), self.out));
        let args = self.args(table);
        let (grid, block, args) = (grid?, block?, args?);
        let shared = u32::try_from(shared.unwrap_or(0)).unwrap_or(u32::MAX);
        Some(KernelLaunch { entry, grid, block, shared, args, at: table.at })
    }

    /// One to three numbers, the missing ones 1; or one number.
    fn dims(&mut self, table: &Table<'_, '_>, key: &'static str, value: &Value<'_>) -> Option<[u32; 3]> {
        let mut dims = [1; 3];
        let given = if value.get_ref().is_integer() {
            std::slice::from_ref(value)
        } else {
            table.array(key, value, self.out)?
        };
        if given.is_empty() || given.len() > 3 {
            self.out.push(
                ProblemKind::OutOfRange { key: key.into(), wanted: "one to three numbers" }.at(table.place(value)),
            );
            return None;
        }
        for (to, from) in dims.iter_mut().zip(given) {
            *to = u32::try_from(table.count(key, from, u32::MAX.into(), self.out)?).ok()?;
        }
        Some(dims)
    }

    fn args(&mut self, table: &Table<'_, '_>) -> Option<Vec<(Arg, At)>> {
        let Some(value) = table.get("args") else { return Some(Vec::new()) };
        let mut args = Vec::new();
        for item in table.array("args", value, self.out)? {
            let at = table.place(item);
            let sub = table.sub("args", item, self.out)?;
            args.push((self.arg(&sub)?, at));
        }
        Some(args)
    }

    fn arg(&mut self, table: &Table<'_, '_>) -> Option<Arg> {
        let before = self.out.len();
        table.only(ARG, self.out);
        if self.out.len() > before {
            return None;
        }
        let offset = match table.get("offset") {
            Some(v) => table.count("offset", v, u64::MAX, self.out)?,
            None => 0,
        };
        let mut kinds = table.entries().filter(|(key, ..)| key != "offset");
        let (Some((key, at, value)), None) = (kinds.next(), kinds.next()) else {
            let found = table.entries().filter(|(key, ..)| key != "offset").count();
            let keys = &["buffer", "u32 (or another type)", "bytes", "null"];
            self.out.push(ProblemKind::OneOf { keys, table: "an argument".into(), found }.at(table.at));
            return None;
        };
        if key != "buffer" && table.get("offset").is_some() {
            self.out.push(ProblemKind::MissingKey { key: "buffer", table: "an argument with an offset".into() }.at(at));
        }
        match key.as_str() {
            "buffer" => {
                let name = table.text(&key, value, self.out)?;
                if !self.names.contains(&name) {
                    let known = self.names.clone();
                    self.out.push(ProblemKind::UnknownBuffer { name, known }.at(table.place(value)));
                    return None;
                }
                Some(Arg::Buffer { name, offset })
            }
            "bytes" => Some(Arg::Bytes(table.hex(&key, value, self.out)?)),
            "null" => {
                if !table.flag("null", self.out) {
                    let kind = ProblemKind::OutOfRange { key, wanted: "true" };
                    self.out.push(kind.at(table.place(value)));
                }
                Some(Arg::Null)
            }
            _ => {
                let ty = SCALARS.iter().find(|(n, _)| *n == key)?.1;
                Some(Arg::Scalar(ty, table.element(&key, value, ty, self.out)?))
            }
        }
    }
}
