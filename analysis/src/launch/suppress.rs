//! Suppression files: defects that are known, and why they may stay.
//!
//! A suppressed defect is still told, but it does not make a command fail. It cannot make a run go on: where the program
//! broke a rule there is nothing to go on with.

use super::file::open;
use super::problem::{At, Problem, ProblemKind};
use super::toml::{Item, Table, document};
use crate::base::{FileId, Pc, SourceMap};
use crate::program::env::ProgEnv;
use crate::verdict::{Kind, Place, Stop};
use std::path::Path;

const ROOT: &[&str] = &["suppress"];
const ENTRY: &[&str] = &["kind", "file", "line", "entry", "reason"];

/// An entry of a suppression file: it accepts a kind of defect, everywhere or at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suppression {
    /// What is accepted.
    pub kind: Kind,
    /// In this file only: PTX, or CUDA source that `.loc` names. The end of a path.
    pub file: Option<String>,
    /// On this line of the file only, from 1.
    pub line: Option<u32>,
    /// In this kernel only.
    pub entry: Option<String>,
    /// Why.
    pub reason: String,
    /// Where the entry stands.
    pub at: At,
}

/// The entries of a file, and which of them have matched.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suppressions {
    entries: Vec<(Suppression, bool)>,
}

impl Suppressions {
    /// Reads a suppression file: TOML with `[[suppress]]` entries.
    ///
    /// # Errors
    /// Every problem of the file, with its place; its text is in `sources` then.
    pub fn read(path: &Path, sources: &mut SourceMap) -> Result<Self, Vec<Problem>> {
        let file = open(path, sources)?;
        Self::parse(sources, file)
    }

    fn parse(sources: &SourceMap, file: FileId) -> Result<Self, Vec<Problem>> {
        document(sources, file, "the suppression file", |root| {
            root.only(ROOT);
            let tables: Vec<_> = root.get("suppress").iter().flat_map(Item::tables).collect();
            Self { entries: tables.iter().filter_map(|table| Some((entry(table)?, false))).collect() }
        })
    }

    /// The entry that accepts a defect of a run of `env`, which counts as used then.
    pub fn accept(&mut self, stop: &Stop, env: &ProgEnv, sources: &SourceMap) -> Option<&Suppression> {
        let fits = |s: &Suppression| s.fits(stop, env, sources);
        let (entry, used) = self.entries.iter_mut().find(|(s, _)| fits(s))?;
        *used = true;
        Some(entry)
    }

    /// What others that were read from the same file have accepted counts here, too.
    pub fn used_by(&mut self, other: &Self) {
        self.entries.iter_mut().zip(&other.entries).for_each(|((_, used), (_, too))| *used |= too);
    }

    /// The entries that have accepted nothing so far.
    pub fn unused(&self) -> impl Iterator<Item = &Suppression> {
        self.entries.iter().filter(|(_, used)| !used).map(|(s, _)| s)
    }
}

impl Suppression {
    /// Whether it accepts a stop: of its kind, and with a party at its place.
    fn fits(&self, stop: &Stop, env: &ProgEnv, sources: &SourceMap) -> bool {
        let anywhere = self.file.is_none() && self.entry.is_none();
        let here = |p: &&Place| {
            self.entry.as_ref().is_none_or(|e| *e == p.entry)
                && self.file.as_ref().is_none_or(|f| self.on_line(f, p.pc, env, sources))
        };
        self.kind == stop.kind() && (anywhere || stop.places().iter().any(here))
    }

    /// Whether an instruction is in the file, on the line if there is one: as PTX, or by its `.loc`.
    fn on_line(&self, file: &str, pc: Pc, env: &ProgEnv, sources: &SourceMap) -> bool {
        let matches = |name: &str, line: u32| Path::new(name).ends_with(file) && self.line.is_none_or(|l| l == line);
        let source = env.place(pc).and_then(|(file, span)| Some((sources.get(file)?, span)));
        source.is_some_and(|(s, span)| matches(&s.name, s.line_col(span.start).0))
            || env.cuda(pc).is_some_and(|(name, loc)| matches(name, loc.line))
    }
}

fn entry(table: &Table<'_, '_>) -> Option<Suppression> {
    table.only(ENTRY);
    let kind = table.need("kind").and_then(|item| {
        let text = item.text()?;
        let kind = Kind::named(&text).filter(|k| k.is_defect());
        if kind.is_none() {
            let known = Kind::ALL.iter().filter(|k| k.is_defect()).map(|k| k.id()).collect();
            item.problem(ProblemKind::NoKind { text, known });
        }
        kind
    });
    let (file, entry, line) = (table.text("file"), table.text("entry"), table.number("line"));
    if table.get("line").is_some() {
        table.need("file");
    }
    let reason = table.need("reason").and_then(|item| {
        let text = item.text()?;
        item.checked((!text.trim().is_empty()).then_some(()), "a reason in words");
        Some(text)
    });
    Some(Suppression { kind: kind?, file, line, entry, reason: reason?, at: table.at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Span;
    use crate::program::env::{FuncId, Origin};
    use crate::verdict::{Bug, BugKind, LimitKind};

    fn parse(text: &str) -> Result<Suppressions, Vec<ProblemKind>> {
        let of = |problems: Vec<Problem>| problems.into_iter().map(|p| p.kind).collect();
        let mut sources = SourceMap::default();
        let file = sources.add("known.toml", text);
        Suppressions::parse(&sources, file).map_err(of)
    }

    /// A trap on line 2 of `dir/k.ptx` in kernel `k`.
    fn trap() -> (Stop, ProgEnv, SourceMap) {
        let mut sources = SourceMap::default();
        let file = sources.add("dir/k.ptx", "// one\ntrap;\n");
        let span = Span::new(7, 12);
        let origin = vec![Origin { file, span, loc: u32::MAX, function: FuncId(0), hidden: false }];
        let place = Place { entry: "k".into(), ..Place::default() };
        let stop = Stop::Bug(Box::new(Bug { kind: BugKind::Plain(Kind::Trap), place, other: None }));
        (stop, ProgEnv { origin, ..ProgEnv::default() }, sources)
    }

    #[test]
    fn an_entry_accepts_its_kind_at_its_place() {
        let (stop, env, sources) = trap();
        let accepts = |more: &str| {
            let text = format!("[[suppress]]\nkind = \"trap\"\nreason = \"known\"\n{more}");
            parse(&text).map(|mut s| (s.accept(&stop, &env, &sources).is_some(), s.unused().count()))
        };
        for yes in ["", "entry = \"k\"", "file = \"k.ptx\"", "file = \"dir/k.ptx\"\nline = 2\nentry = \"k\""] {
            assert_eq!(accepts(yes), Ok((true, 0)), "{yes}");
        }
        for no in ["entry = \"kk\"", "file = \"kk.ptx\"", "file = \"k.ptx\"\nline = 1", "file = \"other/k.ptx\""] {
            assert_eq!(accepts(no), Ok((false, 1)), "{no}");
        }
        let other = parse("[[suppress]]\nkind = \"null\"\nreason = \"known\"")
            .map(|mut s| s.accept(&stop, &env, &sources).is_some());
        assert_eq!(other, Ok(false));
    }

    #[test]
    fn a_limit_is_never_accepted() {
        let (_, env, sources) = trap();
        let all = Kind::ALL.iter().filter(|k| k.is_defect());
        let text: String = all.map(|k| format!("[[suppress]]\nkind = \"{}\"\nreason = \"any\"\n", k.id())).collect();
        let accepted = parse(&text).map(|mut s| s.accept(&Stop::Limit(LimitKind::Steps(1)), &env, &sources).is_some());
        assert_eq!(accepted, Ok(false));
        assert!(
            matches!(parse("[[suppress]]\nkind = \"limit\"\nreason = \"x\""), Err(p) if matches!(p[..], [ProblemKind::NoKind { .. }]))
        );
    }

    #[test]
    fn what_is_wrong_is_told() {
        let wrong = |text: &str| parse(text).map_err(|p| p.len());
        assert_eq!(wrong("[[suppress]]\nkind = \"trap\""), Err(1));
        assert_eq!(wrong("[[suppress]]\nreason = \" \""), Err(2));
        assert_eq!(wrong("[[suppress]]\nkind = \"trap\"\nreason = \"x\"\nline = 3"), Err(1));
        assert_eq!(wrong("[[suppress]]\nkind = \"trap\"\nreason = \"x\"\nwhy = \"\"\n[other]"), Err(2));
        assert_eq!(wrong("[[suppress"), Err(1));
    }
}
