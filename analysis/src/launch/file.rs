//! Reading a `launch.toml`. README.md describes its keys; every other key is an error.

use super::folder::Folder;
use super::image::ReadImages;
use super::problem::{At, Problem, ProblemKind};
use super::spec::{Arg, Buffer, Expect, ExpectStdout, Global, KernelLaunch, Spec};
use super::toml::{Item, Table, document};
use super::wishes::wishes;
use super::{Data, Images, SCALARS, Scalar, Texels};
use crate::alu::image::Channel;
use crate::base::{FileId, SourceMap, files, sort};
use crate::verdict::ImageKind;
use indexmap::IndexMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::DeValue;

const ROOT: &[&str] = &[
    "ptx",
    "buffers",
    "globals",
    "textures",
    "surfaces",
    "samplers",
    "launch",
    "expect",
    "expect_stdout",
    "schedule_dependent",
    "test",
];
const BUFFER: &[&str] = &["type", "init", "len", "uninit"];
const INIT: &[&str] = &["random", "values", "hex", "npy", "raw"];
const GLOBAL: &[&str] = &["type", "values", "hex", "npy", "raw"];
const LAUNCH: &[&str] = &["entry", "grid", "block", "shared", "args"];
const EXPECT: &[&str] = &["type", "values", "hex", "npy", "raw", "abs", "rel", "first", "unordered"];
const STDOUT: &[&str] = &["text", "sorted"];
const WRITTEN: &[&str] = &["values", "hex", "npy", "raw"];
const ARG: &[&str] = &[
    "buffer", "offset", "texture", "surface", "sampler", "bytes", "null", "u8", "u16", "u32", "u64", "s8", "s16",
    "s32", "s64", "f16", "bf16", "f32", "f64", "b8", "b16", "b32", "b64",
];

/// Reads one launch file, or a part of a host script.
pub(super) struct Reader<'f> {
    folder: Folder<'f>,
    /// The buffers and variables that were read so far, each with its element type; none of one with problems.
    known: Vec<(String, Option<Scalar>)>,
    /// The textures, surfaces and samplers.
    handles: Vec<(ImageKind, Vec<String>)>,
}

impl Spec {
    /// Reads a launch file: a `.toml`, or a folder with a `launch.toml`. File names in it are relative to its folder.
    ///
    /// # Errors
    /// Every problem of the file, with its place; its text is in `sources` then.
    pub fn read(path: &Path, sources: &mut SourceMap) -> Result<Self, Vec<Problem>> {
        let mut path = path.to_owned();
        if std::fs::metadata(&path).map_err(|e| unreadable(&path, &e))?.is_dir() {
            let file = path.join("launch.toml");
            if !file.exists() {
                return Err(ProblemKind::NoLaunchFile { others: launch_files(&path), folder: path }.into());
            }
            path = file;
        }
        let file = open(&path, sources)?;
        Self::parse(sources, file, folder_of(&path))
    }

    /// Reads a launch file that `sources` has; file names in it are relative to `folder`.
    ///
    /// # Errors
    /// Every problem of the text, with its place.
    pub fn parse(sources: &SourceMap, file: FileId, folder: &Path) -> Result<Self, Vec<Problem>> {
        let folder = Folder { path: folder, confined: sources.is_confined() };
        document(sources, file, "the launch file", |root| Reader::new(folder).spec(root))
    }
}

impl Images {
    /// Adds what a flag describes to those of a launch: `NAME=KEYS`, the keys of a launch file separated by commas, e.g.
    /// `image=geometry = "2d", size = [4, 4], format = "f32", init = "iota"`; `kind` is `texture`, `surface` or `sampler`.
    ///
    /// # Errors
    /// Everything that is wrong with it; places in the text are not told.
    pub fn describe(spec: &mut Spec, kind: ImageKind, text: &str) -> Result<(), Vec<Problem>> {
        let (name, keys) = text.split_once('=').unwrap_or((text, ""));
        let mut sources = SourceMap::default();
        let file = sources.add("a flag", format!("[{}s]\n\"{name}\" = {{ {keys} }}\n", kind.name()));
        let folder = Folder { path: Path::new(""), confined: false };
        let mut reader = Reader::new(folder).knowing(Some(&spec.buffers));
        for (_, name, image) in spec.images.images().filter(|(.., image)| matches!(image.texels, Texels::Own(_))) {
            reader.owns(name, image.format.channel);
        }
        let read = document(&sources, file, "the flag", |root| reader.images(root));
        let nowhere =
            |problems: Vec<Problem>| problems.into_iter().map(|p| Problem { at: None, ..p }).collect::<Vec<_>>();
        let mut new = read.map_err(nowhere)?;
        // The text of a flag is no file that a message could quote.
        new.textures.values_mut().chain(new.surfaces.values_mut()).for_each(|image| image.at = None);
        new.samplers.values_mut().for_each(|sampler| sampler.at = None);
        let taken = spec.images.names(kind).contains(&name.to_owned());
        spec.images.textures.extend(new.textures);
        spec.images.surfaces.extend(new.surfaces);
        spec.images.samplers.extend(new.samplers);
        if taken { Err(ProblemKind::Twice { name: name.to_owned() }.into()) } else { Ok(()) }
    }
}

/// The folder of a file; nothing of one that is named by its name alone.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// The text of a file.
///
/// # Errors
/// It cannot be read, or is no UTF-8.
pub fn text_of(path: &Path) -> Result<String, ProblemKind> {
    let bytes = files::read(path).map_err(|e| unreadable(path, &e))?;
    String::from_utf8(bytes).map_err(|e| {
        let offset = e.utf8_error().valid_up_to() as u64;
        ProblemKind::NotText { path: path.to_owned(), offset }
    })
}

/// Adds the text of a file to `sources`.
///
/// # Errors
/// As of [`text_of`].
pub fn open(path: &Path, sources: &mut SourceMap) -> Result<FileId, ProblemKind> {
    Ok(sources.add(path.display().to_string(), text_of(path)?))
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> ProblemKind {
    ProblemKind::Unreadable { path: path.to_owned(), cause: error.kind() }
}

fn launch_files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.file_name());
    let mut names: Vec<String> = names.filter_map(|n| n.into_string().ok()).filter(|n| n.ends_with(".toml")).collect();
    sort::sort(&mut names);
    names
}

impl<'f> Reader<'f> {
    /// A reader of a file in `folder`.
    pub fn new(folder: Folder<'f>) -> Self {
        Self { folder, known: Vec::new(), handles: Vec::new() }
    }

    /// Knowing some buffers.
    pub fn knowing(self, buffers: Option<&IndexMap<String, Buffer>>) -> Self {
        Self { known: buffers.into_iter().flatten().map(|(name, b)| (name.clone(), Some(b.ty))).collect(), ..self }
    }

    /// That there is no such buffer.
    fn unknown(&self, name: String) -> ProblemKind {
        ProblemKind::UnknownBuffer { name, known: self.known.iter().map(|(name, _)| name.clone()).collect() }
    }

    fn spec(&mut self, root: &Table<'_, '_>) -> Spec {
        root.only(ROOT);
        let mut spec = Spec { ptx: self.modules(root).unwrap_or_default(), ..Spec::default() };
        spec.buffers = self.named(root, "buffers", |r, _, table, at| r.buffer(table, at));
        spec.globals = self.named(root, "globals", |r, _, table, at| {
            table.only(GLOBAL);
            r.value(table, at)
        });
        for (name, ty) in &mut self.known {
            *ty = spec.globals.get(name).map(|g| g.ty).or_else(|| spec.buffers.get(name).map(|b| b.ty));
        }
        spec.images = self.images(root);
        self.handles =
            [ImageKind::Texture, ImageKind::Surface, ImageKind::Sampler].map(|k| (k, spec.images.names(k))).into();
        spec.expect = self.named(root, "expect", |r, name, table, at| {
            table.only(EXPECT);
            r.expected(name, table, at)
        });
        let launch = |table: Table<'_, '_>| {
            table.only(LAUNCH);
            self.kernel(&table)
        };
        spec.launches = root.need("launch").iter().flat_map(Item::tables).filter_map(launch).collect();
        spec.stdout = root.get("expect_stdout").and_then(|item| stdout(&item));
        spec.schedule_dependent = root.flag("schedule_dependent");
        spec.test = wishes(root);
        spec
    }

    /// The file that a value names.
    fn file(&self, item: &Item<'_, '_>) -> Option<PathBuf> {
        self.folder.file(&item.text()?).map_err(|kind| item.problem(kind)).ok()
    }

    /// The modules of a program.
    pub fn modules(&self, root: &Table<'_, '_>) -> Option<Vec<(PathBuf, At)>> {
        let item = root.need("ptx")?;
        let at = item.at();
        let one = |item: &Item<'_, '_>| Some((self.file(item)?, item.at()));
        let modules = item.several().iter().map(one).collect::<Option<Vec<_>>>()?;
        if modules.is_empty() {
            root.problem(ProblemKind::OutOfRange { key: "ptx".into(), wanted: "at least one file" }, at);
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
        for (name, at, item) in root.named(key) {
            if key != "expect" {
                self.known.push((name.clone(), None));
            }
            if let Some(one) = item.table().and_then(|table| read(self, &name, &table, at)) {
                all.insert(name, one);
            }
        }
        all
    }

    /// A buffer.
    pub fn buffer(&self, table: &Table<'_, '_>, at: At) -> Option<Buffer> {
        table.only(BUFFER);
        let ty = table.need("type").and_then(|item| item.scalar());
        let len = table.get("len").and_then(|item| item.count(u64::MAX));
        let init = table.need("init");
        let (ty, init) = (ty?, init?);
        let data = self.init(&init, ty)?;
        if len.is_none() && data.needs_length() && table.get("len").is_none() {
            table.problem(ProblemKind::MissingKey { key: "len", table: table.name.clone() }, at);
            return None;
        }
        let init = match table.get("uninit") {
            Some(item) => Data::Partly { rest: Box::new(data), uninit: part(&item)? },
            None => data,
        };
        Some(Buffer { ty, init, len, at })
    }

    /// What a buffer holds at first.
    fn init(&self, init: &Item<'_, '_>, ty: Scalar) -> Option<Data> {
        Some(match init.value() {
            DeValue::String(s) if s == "zeros" => Data::Zeros,
            DeValue::String(s) if s == "iota" => Data::Iota,
            DeValue::String(s) if s == "uninit" => Data::Uninit,
            DeValue::Table(_) => {
                let sub = init.table()?;
                sub.only(INIT);
                self.data(&sub, INIT, ty)?
            }
            _ => init.convert("\"zeros\", \"iota\", \"uninit\" or a table such as { random = 7 }", |_| None)?,
        })
    }

    /// What a variable is to hold, in a table whose keys have been looked at.
    pub fn value(&self, table: &Table<'_, '_>, at: At) -> Option<Global> {
        let ty = table.need("type")?.scalar()?;
        Some(Global { ty, data: self.data(table, WRITTEN, ty)?, at })
    }

    /// What a buffer should hold, in a table whose keys have been looked at.
    pub fn expected(&self, name: &str, table: &Table<'_, '_>, at: At) -> Option<Expect> {
        let ty = table.get("type").and_then(|item| item.scalar());
        let (abs, rel) = (table.tolerance("abs"), table.tolerance("rel"));
        let first = table.get("first").and_then(|item| item.count(u64::MAX));
        let unordered = table.flag("unordered");
        let known = self.known.iter().find(|(known, _)| known == name);
        let Some(element) = ty.or_else(|| known?.1) else {
            // A buffer with a problem of its own is no unknown buffer.
            if table.get("type").is_none() && known.is_none() {
                table.problem(self.unknown(name.to_owned()), at);
            }
            return None;
        };
        Some(Expect { ty: element, data: self.data(table, WRITTEN, element)?, abs, rel, first, unordered, at })
    }

    /// The one of `values`, `hex`, `npy`, `raw` and `random` that a table has.
    fn data(&self, table: &Table<'_, '_>, keys: &'static [&'static str], ty: Scalar) -> Option<Data> {
        let mut found = keys.iter().filter_map(|k| table.get(k).map(|item| (*k, item)));
        let (Some((key, item)), None) = (found.next(), found.next()) else {
            let found = keys.iter().filter(|k| table.get(k).is_some()).count();
            table.problem(ProblemKind::OneOf { keys, table: table.name.clone(), found }, table.at);
            return None;
        };
        Some(match key {
            "random" => Data::Random(item.count(u64::MAX)?),
            "values" => {
                let bytes = item.array()?.iter().map(|e| e.element(ty)).collect::<Option<Vec<_>>>()?;
                Data::Values(bytes.concat())
            }
            "hex" => Data::Hex(item.hex()?),
            "npy" => Data::Npy(self.file(&item)?),
            _ => Data::Raw(self.file(&item)?),
        })
    }

    /// A kernel launch, in a table whose keys have been looked at.
    pub fn kernel(&self, table: &Table<'_, '_>) -> Option<KernelLaunch> {
        let entry = table.need("entry").and_then(|item| item.text());
        let grid = table.need("grid").and_then(|item| dims(&item));
        let block = table.need("block").and_then(|item| dims(&item));
        let shared = table.number("shared").unwrap_or(0);
        let arg = |item: Item<'_, '_>| Some((self.arg(&item.table()?)?, item.at()));
        let args = match table.get("args") {
            Some(item) => item.array()?.into_iter().map(arg).collect(),
            None => Some(Vec::new()),
        };
        Some(KernelLaunch { entry, grid: grid?, block: block?, shared, args: args?, at: table.at })
    }

    fn arg(&self, table: &Table<'_, '_>) -> Option<Arg> {
        if !table.only(ARG) {
            return None;
        }
        let offset = match table.get("offset") {
            Some(item) => item.count(u64::MAX)?,
            None => 0,
        };
        let mut kinds = table.entries().filter(|(key, ..)| key != "offset");
        let (Some((key, at, item)), None) = (kinds.next(), kinds.next()) else {
            let found = table.entries().filter(|(key, ..)| key != "offset").count();
            let keys = &["buffer", "u32 (or another type)", "bytes", "null", "texture", "surface", "sampler"];
            table.problem(ProblemKind::OneOf { keys, table: "an argument".into(), found }, table.at);
            return None;
        };
        if key != "buffer" && table.get("offset").is_some() {
            let kind = ProblemKind::MissingKey { key: "buffer", table: "an argument with an offset".into() };
            table.problem(kind, at);
        }
        match key.as_str() {
            "buffer" => {
                let name = item.text()?;
                if !self.known.iter().any(|(known, _)| *known == name) {
                    item.problem(self.unknown(name));
                    return None;
                }
                Some(Arg::Buffer { name, offset })
            }
            "texture" | "surface" | "sampler" => {
                let (name, word) = (item.text()?, key.as_str());
                let all = self.handles.iter().find(|(kind, _)| kind.name() == word);
                match all {
                    Some((kind, known)) if known.contains(&name) => Some(Arg::Handle { kind: *kind, name }),
                    _ => {
                        let known = all.map_or_else(Vec::new, |(_, known)| known.clone());
                        let kind = [ImageKind::Texture, ImageKind::Surface, ImageKind::Sampler];
                        let kind = kind.iter().find(|kind| kind.name() == word).map_or("texture", |kind| kind.name());
                        item.problem(ProblemKind::UnknownImage { kind, name, known });
                        None
                    }
                }
            }
            "bytes" => Some(Arg::Bytes(item.hex()?)),
            "null" => {
                item.checked(table.flag("null").then_some(()), "true");
                Some(Arg::Null)
            }
            _ => {
                let ty = SCALARS.iter().find(|(n, _)| *n == key)?.1;
                Some(Arg::Scalar(ty, item.element(ty)?))
            }
        }
    }
}

impl ReadImages for Reader<'_> {
    fn buffer_named(&self, item: &Item<'_, '_>) -> Option<String> {
        let name = item.text()?;
        if self.known.iter().any(|(known, _)| *known == name) {
            return Some(name);
        }
        item.problem(self.unknown(name));
        None
    }

    fn contents(&self, item: &Item<'_, '_>, channel: Channel) -> Option<Data> {
        self.init(item, Scalar::named(channel.name())?)
    }

    fn owns(&mut self, name: &str, channel: Channel) {
        self.known.push((name.to_owned(), Scalar::named(channel.name())));
    }
}

/// A range of elements: its first, and the one after its last.
fn part(item: &Item<'_, '_>) -> Option<Range<u64>> {
    let both = item.array()?.iter().map(|n| n.count(u64::MAX)).collect::<Option<Vec<u64>>>()?;
    let range = if let [from, to] = both[..] { Some(from..to).filter(|r| r.start < r.end) } else { None };
    item.checked(range, "two numbers of elements, the first below the second")
}

/// What should be printed.
pub(super) fn stdout(item: &Item<'_, '_>) -> Option<ExpectStdout> {
    let table = item.table()?;
    table.only(STDOUT);
    let sorted = table.flag("sorted");
    Some(ExpectStdout { text: table.need("text")?.text()?, sorted, at: table.at })
}

/// One to three numbers, the missing ones 1; or one number.
fn dims(item: &Item<'_, '_>) -> Option<[u32; 3]> {
    let mut dims = [1; 3];
    if item.value().is_integer() {
        dims[0] = item.number()?;
        return Some(dims);
    }
    let given = item.array()?;
    item.checked((1..=3).contains(&given.len()).then_some(()), "one to three numbers")?;
    for (to, from) in dims.iter_mut().zip(given) {
        *to = from.number()?;
    }
    Some(dims)
}
