//! Reading a host script. Everything that its order tells is checked here: names that are not there yet or any more.

use super::{Do, Script, Start, Step};
use crate::base::{FileId, Source, SourceMap};
use crate::launch::file::{Reader, text_of};
use crate::launch::folder::Folder;
use crate::launch::problem::{At, Problem, ProblemKind};
use crate::launch::toml::{Table, Value, document};
use crate::launch::{Buffer, Scalar};
use indexmap::IndexMap;
use std::path::Path;
use toml::de::DeTable;

const ROOT: &[&str] = &["programs", "contexts", "host", "expect_stdout"];
const PROGRAM: &[&str] = &["ptx"];
const CONTEXT: &[&str] = &["buffers"];
const STEPS: &[&str] = &["create", "load", "start", "abort", "destroy", "wait", "run", "set", "expect"];
const CREATE: &[&str] = &["do", "context"];
const LOAD: &[&str] = &["do", "context", "program"];
const START: &[&str] = &["do", "context", "program", "launch", "entry", "grid", "block", "shared", "args"];
const LAUNCH: &[&str] = &["do", "launch"];
const RUN: &[&str] = &["do", "steps"];
const SET: &[&str] = &["do", "context", "buffer", "type", "values", "hex", "npy", "raw"];
const EXPECT: &[&str] =
    &["do", "context", "buffer", "type", "values", "hex", "npy", "raw", "abs", "rel", "first", "unordered"];

/// What became of a context or a launch that was there.
type Gone = Option<&'static str>;

/// What exists after the steps that were read so far.
#[derive(Default)]
struct Known {
    contexts: IndexMap<String, Gone>,
    loaded: Vec<(String, String)>,
    /// Launches with their contexts.
    launches: IndexMap<String, (String, Gone)>,
}

impl Script {
    /// Reads a host script: a `.toml` with `[[host]]`. `None` when the file is none; then nothing is added to `sources`.
    ///
    /// # Errors
    /// Every problem of the file, with its place; its text is in `sources` then.
    pub fn read(path: &Path, sources: &mut SourceMap) -> Result<Option<Self>, Vec<Problem>> {
        let toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        if !toml || !path.is_file() {
            return Ok(None);
        }
        let text = text_of(path).map_err(|p| vec![*p])?;
        if !DeTable::parse_recoverable(&text).0.get_ref().contains_key("host") {
            return Ok(None);
        }
        let file = sources.add(path.display().to_string(), text);
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let folder = Folder { path: &folder, confined: sources.is_confined() };
        Self::parse_in(sources.get(file).map_or("", |s: &Source| &s.text), file, folder).map(Some)
    }

    /// Reads the text of a host script whose file names are relative to `folder`.
    ///
    /// # Errors
    /// Every problem of the text, with its place.
    pub fn parse(text: &str, file: FileId, folder: &Path) -> Result<Self, Vec<Problem>> {
        Self::parse_in(text, file, Folder { path: folder, confined: false })
    }

    fn parse_in(text: &str, file: FileId, folder: Folder<'_>) -> Result<Self, Vec<Problem>> {
        let table = document(text, file)?;
        let mut out = Vec::new();
        let mut root = Table::root(&table, file);
        "the host script".clone_into(&mut root.name);
        let script = read(&root, folder, &mut out);
        if out.is_empty() { Ok(script) } else { Err(out) }
    }
}

fn read(root: &Table<'_, '_>, folder: Folder<'_>, out: &mut Vec<Problem>) -> Script {
    root.only(ROOT, out);
    let mut script = Script::default();
    if let Some(table) = root.need("programs", out).and_then(|v| root.sub("programs", v, out)) {
        for (name, _, value) in table.entries() {
            let Some(sub) = table.sub(&format!("programs.{name}"), value, out) else { continue };
            sub.only(PROGRAM, out);
            let modules = Reader::new(folder, out).modules(&sub).unwrap_or_default();
            script.programs.insert(name, modules);
        }
    }
    if let Some(table) = root.get("contexts").and_then(|v| root.sub("contexts", v, out)) {
        for (name, _, value) in table.entries() {
            let Some(sub) = table.sub(&format!("contexts.{name}"), value, out) else { continue };
            sub.only(CONTEXT, out);
            let buffers = Reader::new(folder, out).named(&sub, "buffers", |r, _, table, at| r.buffer(table, at));
            script.buffers.insert(name, buffers);
        }
    }
    let mut known = Known::default();
    let steps = root.get("host").and_then(|v| root.array("host", v, out)).unwrap_or(&[]);
    for item in steps {
        let Some(table) = root.sub("host", item, out) else { continue };
        let Some(what) = step(&table, folder, &script, &mut known, out) else { continue };
        script.steps.push(Step { what, at: table.at });
    }
    // A step that was not understood may have made it.
    let understood = out.is_empty();
    for name in script.buffers.keys().filter(|name| understood && !known.contexts.contains_key(*name)) {
        let at = root.get("contexts").and_then(|v| root.place(v));
        out.push(missing("context", name, known.contexts.keys()).at(at));
    }
    script.stdout = root.get("expect_stdout").and_then(|v| Reader::new(folder, out).stdout(root, v));
    script
}

fn step(
    table: &Table<'_, '_>,
    folder: Folder<'_>,
    script: &Script,
    known: &mut Known,
    out: &mut Vec<Problem>,
) -> Option<Do> {
    let what = table.need("do", out)?;
    let word = table.text("do", what, out)?;
    match word.as_str() {
        "create" => {
            table.only(CREATE, out);
            let (context, at) = name(table, "context", out)?;
            if known.contexts.contains_key(&context) {
                out.push(ProblemKind::Twice { name: context }.at(at));
                return None;
            }
            known.contexts.insert(context.clone(), None);
            Some(Do::Create(context))
        }
        "load" => {
            table.only(LOAD, out);
            let (context, program) = (in_context(table, known, out), in_program(table, script, out));
            let (context, program) = (context?, program?);
            let loaded = (context.clone(), program.clone());
            if known.loaded.contains(&loaded) {
                out.push(ProblemKind::Twice { name: program }.at(table.at));
                return None;
            }
            known.loaded.push(loaded);
            Some(Do::Load { context, program })
        }
        "start" => start(table, folder, script, known, out).map(|s| Do::Start(Box::new(s))),
        "abort" => {
            table.only(LAUNCH, out);
            let launch = launch(table, table.need("launch", out)?, known, out)?;
            if let Some((_, gone)) = known.launches.get_mut(&launch) {
                *gone = Some("it was aborted before");
            }
            Some(Do::Abort(launch))
        }
        "destroy" => {
            table.only(CREATE, out);
            let context = in_context(table, known, out)?;
            known.contexts.insert(context.clone(), Some("it was destroyed before"));
            for (_, gone) in known.launches.values_mut().filter(|(c, gone)| *c == context && gone.is_none()) {
                *gone = Some("its context was destroyed before");
            }
            Some(Do::Destroy(context))
        }
        "wait" => {
            table.only(LAUNCH, out);
            let Some(value) = table.get("launch") else {
                let left: Vec<String> =
                    known.launches.iter().filter(|(_, (_, gone))| gone.is_none()).map(|(n, _)| n.clone()).collect();
                left.iter().for_each(|name| ended(known, name));
                return Some(Do::Wait(left));
            };
            let all = if value.get_ref().is_array() {
                table.array("launch", value, out)?
            } else {
                std::slice::from_ref(value)
            };
            let mut names = Vec::new();
            for value in all {
                let name = launch(table, value, known, out)?;
                ended(known, &name);
                names.push(name);
            }
            Some(Do::Wait(names))
        }
        "run" => {
            table.only(RUN, out);
            let value = table.need("steps", out)?;
            Some(Do::Run(table.count("steps", value, u64::MAX, out)?))
        }
        "set" => set(table, folder, known, out),
        "expect" => expect(table, folder, script, known, out),
        _ => {
            out.push(ProblemKind::UnknownWord { key: "do", text: word, known: STEPS }.at(table.place(what)));
            None
        }
    }
}

/// A launch has been waited for.
fn ended(known: &mut Known, name: &str) {
    if let Some((_, gone)) = known.launches.get_mut(name) {
        *gone = Some("its end was waited for before");
    }
}

fn start(
    table: &Table<'_, '_>,
    folder: Folder<'_>,
    script: &Script,
    known: &mut Known,
    out: &mut Vec<Problem>,
) -> Option<Start> {
    table.only(START, out);
    let context = in_context(table, known, out);
    let program = in_program(table, script, out);
    let given = match table.get("launch") {
        Some(v) => Some((table.text("launch", v, out)?, table.place(v))),
        None => None,
    };
    let named = given.is_some();
    let (launch, launch_at) = given.unwrap_or_else(|| (format!("launch {}", known.launches.len() + 1), table.at));
    // Also of a context that is not there any more: one complaint is enough.
    let buffers = table.get("context").and_then(|v| script.buffers.get(v.get_ref().as_str()?));
    let names = buffers.map(|b| b.keys().cloned().collect()).unwrap_or_default();
    let kernel = Reader::new(folder, out).with_names(names).kernel(table);
    let (context, program, kernel) = (context?, program?, kernel?);
    if !known.loaded.contains(&(context.clone(), program.clone())) {
        let at = table.get("program").and_then(|v| table.place(v));
        out.push(ProblemKind::NotLoaded { program, context }.at(at));
        return None;
    }
    if known.launches.contains_key(&launch) {
        // A name that was made up here cannot be taken.
        if named {
            out.push(ProblemKind::Twice { name: launch }.at(launch_at));
        }
        return None;
    }
    known.launches.insert(launch.clone(), (context.clone(), None));
    Some(Start { context, program, launch, kernel })
}

fn set(table: &Table<'_, '_>, folder: Folder<'_>, known: &Known, out: &mut Vec<Problem>) -> Option<Do> {
    table.only(SET, out);
    let context = in_context(table, known, out);
    let (name, at) = name(table, "buffer", out)?;
    let value = Reader::new(folder, out).value(table, at)?;
    Some(Do::Set { context: context?, name, value: Box::new(value) })
}

fn expect(
    table: &Table<'_, '_>,
    folder: Folder<'_>,
    script: &Script,
    known: &Known,
    out: &mut Vec<Problem>,
) -> Option<Do> {
    table.only(EXPECT, out);
    let context = in_context(table, known, out);
    let (buffer, at) = name(table, "buffer", out)?;
    let context = context?;
    let none = IndexMap::new();
    let buffers: &IndexMap<String, Buffer> = script.buffers.get(&context).unwrap_or(&none);
    let types: IndexMap<String, Scalar> = buffers.iter().map(|(n, b)| (n.clone(), b.ty)).collect();
    let names = buffers.keys().cloned().collect();
    let expect = Reader::new(folder, out).with_names(names).with_types(types).expected(&buffer, table, at)?;
    Some(Do::Expect { context, buffer, expect: Box::new(expect) })
}

fn name(table: &Table<'_, '_>, key: &'static str, out: &mut Vec<Problem>) -> Option<(String, At)> {
    let value = table.need(key, out)?;
    Some((table.text(key, value, out)?, table.place(value)))
}

fn missing<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a String>) -> ProblemKind {
    ProblemKind::NoSuch { what, name: name.to_owned(), known: known.cloned().collect() }
}

/// A context that exists.
fn in_context(table: &Table<'_, '_>, known: &Known, out: &mut Vec<Problem>) -> Option<String> {
    let (context, at) = name(table, "context", out)?;
    match known.contexts.get(&context) {
        Some(None) => return Some(context),
        Some(Some(why)) => out.push(ProblemKind::Gone { what: "context", name: context, why }.at(at)),
        None => out.push(missing("context", &context, known.contexts.keys()).at(at)),
    }
    None
}

/// A program that is described.
fn in_program(table: &Table<'_, '_>, script: &Script, out: &mut Vec<Problem>) -> Option<String> {
    let (program, at) = name(table, "program", out)?;
    if script.programs.contains_key(&program) {
        return Some(program);
    }
    out.push(missing("program", &program, script.programs.keys()).at(at));
    None
}

/// A launch that has been started and is not known to be over.
fn launch(table: &Table<'_, '_>, value: &Value<'_>, known: &Known, out: &mut Vec<Problem>) -> Option<String> {
    let at = table.place(value);
    let Some(name) = value.get_ref().as_str().map(str::to_owned) else {
        let found = value.get_ref().type_str();
        out.push(ProblemKind::WrongType { key: "launch".into(), wanted: "a string", found }.at(at));
        return None;
    };
    match known.launches.get(&name) {
        Some((_, None)) => return Some(name),
        Some((_, Some(why))) => out.push(ProblemKind::Gone { what: "launch", name, why }.at(at)),
        None => out.push(missing("launch", &name, known.launches.keys()).at(at)),
    }
    None
}
