//! Function heads, labelled directives, module directives and debugging directives (PTX ISA 11).

use super::Reader;
use crate::ptx::error::{Expected, NumberProblem, SyntaxErrorKind};
use crate::ptx::number;
use crate::ptx::token::Kind;
use crate::ptx::tree::{Debugging, Function, FunctionDirective, Item, Loc, Prototype, Stmt};

/// The directives between a function's head and body, and how many numbers each takes (PTX ISA 11.4, 11.7, 11.8).
const FUNCTION_DIRECTIVES: &[(&str, usize, usize)] = &[
    ("maxnreg", 1, 1),
    ("maxntid", 1, 3),
    ("reqntid", 1, 3),
    ("minnctapersm", 1, 1),
    ("maxnctapersm", 1, 1),
    ("noreturn", 0, 0),
    ("explicitcluster", 0, 0),
    ("reqnctapercluster", 1, 3),
    ("maxclusterrank", 1, 1),
    ("blocksareclusters", 0, 0),
    ("abi_preserve", 1, 1),
    ("abi_preserve_control", 1, 1),
];

impl Reader<'_> {
    /// The text of a string without its quotes.
    fn string(&mut self) -> Option<String> {
        self.is(Kind::Text).map(|token| self.str(token).trim_matches('"').to_owned())
    }

    /// What follows the word `.pragma`.
    fn pragma(&mut self) -> Option<Vec<String>> {
        let texts = self.list(Kind::Comma, Self::string)?;
        self.is(Kind::Semi)?;
        Some(texts)
    }

    /// The directives between head and body.
    fn function_directives(&mut self) -> Option<Vec<FunctionDirective>> {
        let mut all = Vec::new();
        loop {
            let from = self.at;
            let (name, values, texts) = if self.is(Kind::Pragma).is_some() {
                ("pragma", Vec::new(), self.pragma()?)
            } else if let Some(word) = self.take(Expected::FunctionDirective, |_, t| t.kind == Kind::Dot) {
                let (name, values) = self.tuning(self.str(word).trim_start_matches('.'))?;
                (name, values, Vec::new())
            } else {
                return Some(all);
            };
            all.push(FunctionDirective { name: name.to_owned(), values, texts, span: self.since(from) });
        }
    }

    /// The directive of a name that was just read, with its numbers.
    fn tuning(&mut self, word: &str) -> Option<(&'static str, Vec<u32>)> {
        let from = self.at - 1;
        let Some((name, least, most)) = FUNCTION_DIRECTIVES.iter().copied().find(|row| row.0 == word) else {
            return self.wrong(SyntaxErrorKind::UnknownDirective, from);
        };
        let values = match self.kind() {
            Some(Kind::Int) => self.list(Kind::Comma, Self::small)?,
            _ => Vec::new(),
        };
        if values.len() < least || values.len() > most {
            return self.wrong(SyntaxErrorKind::BadNumber(NumberProblem::Count { least, most }), from);
        }
        Some((name, values))
    }

    /// The head of a function up to its `{`, its `;`, or the next item; and whether a body follows.
    pub(crate) fn function(&mut self) -> Option<(Function, bool)> {
        let from = self.at;
        let linkage = self.linkage();
        let entry = self.is(Kind::Entry).is_some();
        if !entry {
            self.is(Kind::Func)?;
        }
        let mut directives = Vec::new();
        while self.is(Kind::Attribute).is_some() {
            let at = self.at - 1;
            let texts = vec![self.attribute()?];
            let span = self.since(at);
            directives.push(FunctionDirective { name: "attribute".to_owned(), values: Vec::new(), texts, span });
        }
        let returns = if entry { Vec::new() } else { self.parameters()? };
        let ident = self.ident()?;
        let params = self.parameters()?;
        let span = self.since(from);
        directives.extend(self.function_directives()?);
        let body = self.is(Kind::LBrace).is_some();
        if !body && self.is(Kind::Semi).is_none() {
            let ends = |kind: Kind| {
                let debugging = matches!(kind, Kind::File | Kind::Loc | Kind::Pragma | Kind::Dwarf);
                debugging || kind.starts_item() || kind.starts_variable()
            };
            if self.kind().is_some_and(|kind| !ends(kind)) {
                return None;
            }
        }
        Some((Function { linkage, entry, ident, returns, params, directives, body: None, span }, body))
    }

    /// `.callprototype`, `.branchtargets` and `.calltargets` with the label before them.
    pub(crate) fn labelled_directive(&mut self) -> Option<Stmt> {
        let from = self.at;
        let ident = self.ident()?;
        self.is(Kind::Colon)?;
        if self.is(Kind::CallPrototype).is_some() {
            let returns = self.parameters()?;
            self.declared()?;
            let params = self.parameters()?;
            let directives = self.function_directives()?;
            self.is(Kind::Semi)?;
            let span = self.since(from);
            return Some(Stmt::Prototype(Box::new(Prototype { ident, returns, params, directives, span })));
        }
        let call = self.is(Kind::CallTargets).is_some();
        if !call {
            self.is(Kind::BranchTargets)?;
        }
        let targets = self.list(Kind::Comma, Self::ident)?;
        self.is(Kind::Semi)?;
        Some(Stmt::Targets { ident, call, targets })
    }

    /// `.version`, `.target`, `.address_size`, `.alias`.
    pub(crate) fn item(&mut self) -> Option<Item> {
        let from = self.at;
        if self.is(Kind::Version).is_some() {
            let token = self.take(Expected::Version, |_, t| t.kind == Kind::Decimal)?;
            let (major, minor) = self.made(token, number::version)?;
            return Some(Item::Version { major, minor, span: self.since(from) });
        }
        if self.is(Kind::Target).is_some() {
            let names = self.list(Kind::Comma, Self::ident)?;
            return Some(Item::Target { names, span: self.since(from) });
        }
        if self.is(Kind::AddressSize).is_some() {
            let bits = self.small()?;
            return Some(Item::AddressSize { bits, span: self.since(from) });
        }
        self.is(Kind::Alias)?;
        let alias = self.ident()?;
        self.is(Kind::Comma)?;
        let aliasee = self.ident()?;
        self.is(Kind::Semi)?;
        Some(Item::Alias { alias, aliasee, span: self.since(from) })
    }

    /// `.file`, `.loc`, `.pragma`, `@@DWARF`.
    pub(crate) fn debugging(&mut self) -> Option<Debugging> {
        let from = self.at;
        if self.kind() == Some(Kind::Loc) {
            return self.loc().map(Debugging::Loc);
        }
        if self.is(Kind::Pragma).is_some() {
            let texts = self.pragma()?;
            return Some(Debugging::Pragma { texts, span: self.since(from) });
        }
        if self.is(Kind::File).is_some() {
            let (index, path) = (self.small()?, self.string()?);
            let mut rest = Vec::new();
            while self.is(Kind::Comma).is_some() {
                rest.push(self.integer()?.0);
            }
            return Some(Debugging::File { index, path, rest });
        }
        let token = self.is(Kind::Dwarf)?;
        Some(Debugging::Dwarf(self.str(token).trim_end().to_owned()))
    }

    /// `.loc 1 22 8, function_name L + 4, inlined_at 1 27 30`
    fn loc(&mut self) -> Option<Loc> {
        let from = self.at;
        self.is(Kind::Loc)?;
        let (file, line, column) = self.source()?;
        let (mut function, mut inlined_at) = (None, None);
        let mut more = self.is(Kind::Comma).is_some();
        if more && self.word("function_name").is_some() {
            let label = self.ident()?.name;
            function = Some((label, if self.is(Kind::Plus).is_some() { self.small()? } else { 0 }));
            more = self.is(Kind::Comma).is_some();
        }
        if more {
            self.word("inlined_at")?;
            inlined_at = Some(self.source()?);
        }
        Some(Loc { file, line, column, function, inlined_at, span: self.since(from) })
    }

    /// A file, a line and a column.
    fn source(&mut self) -> Option<(u32, u32, u32)> {
        Some((self.small()?, self.small()?, self.small()?))
    }
}
