//! Reading a host script. Everything that its order tells is checked here: names that are not there yet or any more.

use super::{Do, Script, Start, Step};
use crate::base::{FileId, SourceMap};
use crate::launch::file::{Reader, folder_of, stdout, text_of};
use crate::launch::folder::Folder;
use crate::launch::problem::{At, Problem, ProblemKind};
use crate::launch::toml::{Item, Table, document};
use crate::launch::wishes::wishes;
use indexmap::IndexMap;
use std::path::Path;
use toml::de::DeTable;

const ROOT: &[&str] = &["programs", "contexts", "host", "expect_stdout", "test"];
const PROGRAM: &[&str] = &["ptx"];
const CONTEXT: &[&str] = &["buffers"];
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

/// A script as far as it was read, and what exists after its steps.
struct Steps<'f> {
    folder: Folder<'f>,
    script: Script,
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
        let text = text_of(path)?;
        if !DeTable::parse_recoverable(&text).0.get_ref().contains_key("host") {
            return Ok(None);
        }
        let file = sources.add(path.display().to_string(), text);
        Self::parse(sources, file, folder_of(path)).map(Some)
    }

    /// Reads a host script that `sources` has; file names in it are relative to `folder`.
    ///
    /// # Errors
    /// Every problem of the text, with its place.
    pub fn parse(sources: &SourceMap, file: FileId, folder: &Path) -> Result<Self, Vec<Problem>> {
        let folder = Folder { path: folder, confined: sources.is_confined() };
        document(sources, file, "the host script", |root| {
            let (contexts, launches) = (IndexMap::new(), IndexMap::new());
            let mut steps = Steps { folder, script: Script::default(), contexts, loaded: Vec::new(), launches };
            steps.read(root);
            steps.script
        })
    }
}

impl<'f> Steps<'f> {
    fn reader(&self) -> Reader<'f> {
        Reader::new(self.folder)
    }

    fn read(&mut self, root: &Table<'_, '_>) {
        root.only(ROOT);
        root.need("programs");
        for (name, _, item) in root.named("programs") {
            let Some(sub) = item.table() else { continue };
            sub.only(PROGRAM);
            self.script.programs.insert(name, self.reader().modules(&sub).unwrap_or_default());
        }
        for (name, _, item) in root.named("contexts") {
            let Some(sub) = item.table() else { continue };
            sub.only(CONTEXT);
            let buffers = self.reader().named(&sub, "buffers", |r, _, table, at| r.buffer(table, at));
            self.script.buffers.insert(name, buffers);
        }
        for table in root.get("host").iter().flat_map(Item::tables) {
            if let Some(what) = self.step(&table) {
                self.script.steps.push(Step { what, at: table.at });
            }
        }
        // A step that was not understood may have made it.
        let understood = root.all_is_well();
        for name in self.script.buffers.keys().filter(|name| understood && !self.contexts.contains_key(*name)) {
            let at = root.get("contexts").and_then(|item| item.at());
            root.problem(missing("context", name, self.contexts.keys()), at);
        }
        self.script.stdout = root.get("expect_stdout").and_then(|item| stdout(&item));
        self.script.test = wishes(root);
    }

    fn step(&mut self, table: &Table<'_, '_>) -> Option<Do> {
        /// The keys of a step, and what reads it.
        type Form<'f> = (&'static [&'static str], fn(&mut Steps<'f>, &Table<'_, '_>) -> Option<Do>);
        let forms: [(&str, Form<'f>); 9] = [
            ("create", (CREATE, Self::create)),
            ("load", (LOAD, Self::load)),
            ("start", (START, Self::start)),
            ("abort", (LAUNCH, Self::abort)),
            ("destroy", (CREATE, Self::destroy)),
            ("wait", (LAUNCH, Self::wait)),
            ("run", (RUN, |_, table| Some(Do::Run(table.need("steps")?.count(u64::MAX)?)))),
            ("set", (SET, Self::set)),
            ("expect", (EXPECT, Self::expect)),
        ];
        table.need("do")?;
        let (keys, read) = table.choice("do", &forms)?;
        table.only(keys);
        read(self, table)
    }

    fn create(&mut self, table: &Table<'_, '_>) -> Option<Do> {
        let (context, at) = name(table, "context")?;
        if self.contexts.contains_key(&context) {
            table.problem(ProblemKind::Twice { name: context }, at);
            return None;
        }
        self.contexts.insert(context.clone(), None);
        Some(Do::Create(context))
    }

    fn load(&mut self, table: &Table<'_, '_>) -> Option<Do> {
        let (context, program) = (self.context(table), self.program(table));
        let (context, program) = (context?, program?);
        let loaded = (context.clone(), program.clone());
        if self.loaded.contains(&loaded) {
            table.problem(ProblemKind::Twice { name: program }, table.at);
            return None;
        }
        self.loaded.push(loaded);
        Some(Do::Load { context, program })
    }

    fn start(&mut self, table: &Table<'_, '_>) -> Option<Do> {
        let context = self.context(table);
        let program = self.program(table);
        let given = match table.get("launch") {
            Some(item) => Some((item.text()?, item.at())),
            None => None,
        };
        let named = given.is_some();
        let (launch, launch_at) = given.unwrap_or_else(|| (format!("launch {}", self.launches.len() + 1), table.at));
        // Also of a context that is not there any more: one complaint is enough.
        let buffers = table.get("context").and_then(|item| self.script.buffers.get(item.value().as_str()?));
        let kernel = self.reader().knowing(buffers).kernel(table);
        let (context, program, kernel) = (context?, program?, kernel?);
        if !self.loaded.contains(&(context.clone(), program.clone())) {
            let at = table.get("program").and_then(|item| item.at());
            table.problem(ProblemKind::NotLoaded { program, context }, at);
            return None;
        }
        if self.launches.contains_key(&launch) {
            // A name that was made up here cannot be taken.
            if named {
                table.problem(ProblemKind::Twice { name: launch }, launch_at);
            }
            return None;
        }
        self.launches.insert(launch.clone(), (context.clone(), None));
        Some(Do::Start(Box::new(Start { context, program, launch, kernel })))
    }

    fn abort(&mut self, table: &Table<'_, '_>) -> Option<Do> {
        let launch = self.launch(&table.need("launch")?)?;
        self.over(&launch, "it was aborted before");
        Some(Do::Abort(launch))
    }

    fn destroy(&mut self, table: &Table<'_, '_>) -> Option<Do> {
        let context = self.context(table)?;
        self.contexts.insert(context.clone(), Some("it was destroyed before"));
        for (_, gone) in self.launches.values_mut().filter(|(c, gone)| *c == context && gone.is_none()) {
            *gone = Some("its context was destroyed before");
        }
        Some(Do::Destroy(context))
    }

    fn wait(&mut self, table: &Table<'_, '_>) -> Option<Do> {
        const ENDED: &str = "its end was waited for before";
        let Some(item) = table.get("launch") else {
            let left = self.launches.iter().filter(|(_, (_, gone))| gone.is_none());
            let left: Vec<String> = left.map(|(name, _)| name.clone()).collect();
            left.iter().for_each(|name| self.over(name, ENDED));
            return Some(Do::Wait(left));
        };
        let mut names = Vec::new();
        for item in item.several() {
            let name = self.launch(&item)?;
            self.over(&name, ENDED);
            names.push(name);
        }
        Some(Do::Wait(names))
    }

    /// A launch can be named no more.
    fn over(&mut self, launch: &str, why: &'static str) {
        if let Some((_, gone)) = self.launches.get_mut(launch) {
            *gone = Some(why);
        }
    }

    fn set(&mut self, table: &Table<'_, '_>) -> Option<Do> {
        let context = self.context(table);
        let (name, at) = name(table, "buffer")?;
        let value = self.reader().value(table, at)?;
        Some(Do::Set { context: context?, name, value: Box::new(value) })
    }

    fn expect(&mut self, table: &Table<'_, '_>) -> Option<Do> {
        let context = self.context(table);
        let (buffer, at) = name(table, "buffer")?;
        let context = context?;
        let reader = self.reader().knowing(self.script.buffers.get(&context));
        let expect = reader.expected(&buffer, table, at)?;
        Some(Do::Expect { context, buffer, expect: Box::new(expect) })
    }

    /// A context that exists.
    fn context(&self, table: &Table<'_, '_>) -> Option<String> {
        let item = table.need("context")?;
        here("context", &item, &self.contexts, |gone| *gone)
    }

    /// A program that is described.
    fn program(&self, table: &Table<'_, '_>) -> Option<String> {
        let item = table.need("program")?;
        here("program", &item, &self.script.programs, |_| None)
    }

    /// A launch that has been started and is not known to be over.
    fn launch(&self, item: &Item<'_, '_>) -> Option<String> {
        here("launch", item, &self.launches, |(_, gone)| *gone)
    }
}

fn name(table: &Table<'_, '_>, key: &'static str) -> Option<(String, At)> {
    let item = table.need(key)?;
    Some((item.text()?, item.at()))
}

fn missing<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a String>) -> ProblemKind {
    ProblemKind::NoSuch { what, name: name.to_owned(), known: known.cloned().collect() }
}

/// The name of something that is there, and of which `gone` does not say that it is not any more.
fn here<T>(
    what: &'static str,
    item: &Item<'_, '_>,
    known: &IndexMap<String, T>,
    gone: impl Fn(&T) -> Gone,
) -> Option<String> {
    let name = item.text()?;
    match known.get(&name).map(gone) {
        Some(None) => return Some(name),
        Some(Some(why)) => item.problem(ProblemKind::Gone { what, name, why }),
        None => item.problem(missing(what, &name, known.keys())),
    }
    None
}
