//! The grammar of memory programs (report, 4.4.2 to 4.4.4), with recovery at the end of a statement.
//!
//! What the report prints is the body of a program. A file says before each body which operations it serves:
//!
//! ```text
//! program ld.global.ca, ld.local.ca:
//!
//! if (!isCachedL1) { reserveL1; … }
//! end;
//! ```
//!
//! `use NAME;` at the head of a file takes what is not served from a preset. `!` binds more tightly than `and`, `and`
//! more tightly than `or`; conditions may have parentheses, which the report does without.

use super::OpKey;
use super::code::{Code, Program};
use super::error::{Expected, MAX_ERRORS, MAX_NESTING, MempError, MempErrorKind};
use super::token::Kind;
use super::tree::{BExp, Level, OpExp};
use crate::base::cursor::{Cursor, Token, Wrong, in_order, lex};
use crate::base::{FileId, Source, Span};

/// A file of memory programs.
#[derive(Debug, Default)]
pub(super) struct MempFile {
    /// `use NAME;`: the preset that serves what the files of this folder do not.
    pub(super) base: Option<(String, Span)>,
    /// The programs.
    pub(super) programs: Vec<Program>,
}

/// Parses a file of memory programs. What was understood is returned with all complaints, in the order of the text.
pub(super) fn parse(file: FileId, source: &Source) -> (MempFile, Vec<MempError>) {
    let text = source.text.as_str();
    let at = |(kind, span)| MempError { kind, file, span };
    if u32::try_from(text.len()).is_err() {
        return (MempFile::default(), vec![at((MempErrorKind::TooLarge, Span::default()))]);
    }
    let lexed = lex(text, 0, "/*");
    let mut found: Vec<_> = lexed.garbage.into_iter().map(|span| (MempErrorKind::Garbage, span)).collect();
    found.extend(lexed.open.map(|span| (MempErrorKind::OpenComment, span)));
    let mut parsed = MempFile::default();
    if let Some(span) = too_deep(&lexed.tokens, text) {
        found.push((MempErrorKind::TooDeep, span));
    } else {
        let mut reader = Reader::new(text, lexed.tokens, ());
        reader.tell(true);
        reader.file(&mut parsed);
        found.append(&mut reader.errors);
    }
    for program in &mut parsed.programs {
        program.file.clone_from(&source.name);
        program.code.iter_mut().for_each(|instr| instr.line = source.line_col(instr.span.start).0);
    }
    (parsed, in_order(found, MAX_ERRORS, MempErrorKind::TooMany).into_iter().map(at).collect())
}

/// The place where nesting, or a condition, goes beyond the limit: recursion elsewhere need not fear it then.
fn too_deep(tokens: &[Token<Kind>], text: &str) -> Option<Span> {
    let (mut braces, mut operators) = (0usize, 0usize);
    for token in tokens {
        match token.kind {
            Kind::LBrace => braces += 1,
            Kind::RBrace => braces = braces.saturating_sub(1),
            Kind::Bang | Kind::LParen => operators += 1,
            Kind::Word if matches!(token.span.of(text), "and" | "or") => operators += 1,
            _ => {}
        }
        if matches!(token.kind, Kind::LBrace | Kind::RBrace | Kind::Semi) {
            operators = 0;
        }
        if braces > MAX_NESTING || operators > MAX_NESTING {
            return Some(token.span);
        }
    }
    None
}

/// Words that begin something else than an operation.
const RESERVED: &[&str] = &["program", "use", "if", "else", "yield", "end", "and", "or", "true", "false"];

/// The grammar's rules are its methods.
type Reader<'s> = Cursor<'s, Kind, ()>;

impl<'s> Reader<'s> {
    /// A word that is not reserved.
    fn name(&mut self, what: Expected) -> Option<(&'s str, Span)> {
        let token = self.take(what, |r, t| t.kind == Kind::Word && !RESERVED.contains(&r.str(t)))?;
        Some((self.str(token), token.span))
    }

    /// The `;` of a statement. Without it the statement stands nevertheless.
    fn semi(&mut self) {
        if self.is(Kind::Semi).is_none() {
            let before = self.since(self.at - 1).end;
            self.errors.push((MempErrorKind::MissingSemicolon, Span::new(before, before)));
        }
    }

    /// A condition: `B⟦·⟧`'s domain (4.4.2).
    fn condition(&mut self) -> Option<BExp> {
        let mut left = self.conjunction()?;
        while self.word("or").is_some() {
            left = BExp::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Some(left)
    }

    fn conjunction(&mut self) -> Option<BExp> {
        let mut left = self.negated()?;
        while self.word("and").is_some() {
            left = BExp::And(Box::new(left), Box::new(self.negated()?));
        }
        Some(left)
    }

    fn negated(&mut self) -> Option<BExp> {
        if self.is(Kind::Bang).is_some() {
            return self.negated().map(|inner| BExp::Not(Box::new(inner)));
        }
        self.labelled(Expected::Condition, |r| {
            if r.is(Kind::LParen).is_some() {
                let inner = r.condition()?;
                return r.is(Kind::RParen).map(|_| inner);
            }
            for (word, value) in [("true", true), ("false", false)] {
                if r.word(word).is_some() {
                    return Some(BExp::Const(value));
                }
            }
            let (word, span) = r.name(Expected::Condition)?;
            Some(match word {
                "isCachedL1" => BExp::IsCached(Level::L1),
                "isCachedL2" => BExp::IsCached(Level::L2),
                _ => {
                    r.errors.push((MempErrorKind::UnknownCondition, span));
                    BExp::Const(false)
                }
            })
        })
    }

    /// `{ … }`
    fn block(&mut self, into: &mut Program) -> Option<()> {
        let open = self.is(Kind::LBrace)?;
        self.statements(into);
        if self.is(Kind::RBrace).is_none() {
            self.errors.push((MempErrorKind::OpenBrace, open.span));
        }
        Some(())
    }

    /// What stands in a statement.
    fn statement(&mut self, into: &mut Program) -> Option<()> {
        if self.is(Kind::Semi).is_some() {
            into.push(Code::Nop);
            return Some(());
        }
        if self.word("if").is_some() {
            let cond = self.between(Kind::LParen, Kind::RParen, Self::condition)?;
            let number = u16::try_from(into.conds.len()).unwrap_or(u16::MAX);
            into.conds.push(cond);
            let head = into.push(Code::Nop);
            self.block(into)?;
            let skip = into.push(Code::Nop);
            into.code[head].code = Code::If(number, into.end());
            if self.word("else").is_some() {
                self.block(into)?;
            } else {
                // The report's convention: no `else` is `else { ; }`.
                let nop = into.push(Code::Nop);
                into.code[nop].implied = true;
            }
            into.code[skip].code = Code::Goto(into.end());
            return Some(());
        }
        let code = if self.word("yield").is_some() {
            Code::Yield
        } else if self.word("end").is_some() {
            Code::End
        } else {
            let (word, span) = self.name(Expected::Statement)?;
            let op = OpExp::named(word);
            if op.is_none() {
                self.errors.push((MempErrorKind::UnknownStatement, span));
            }
            op.map_or(Code::Nop, Code::Op)
        };
        self.semi();
        into.push(code);
        Some(())
    }

    /// Goes to the end of a wrong statement: behind its `;`, or its braces and all between them, or to a new program.
    fn skip(&mut self) {
        let mut open = 0u32;
        while let Some(token) = self.token().filter(|t| !self.starts_item(*t)) {
            match token.kind {
                Kind::RBrace if open == 0 => return,
                Kind::LBrace => open += 1,
                Kind::RBrace => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 && matches!(token.kind, Kind::Semi | Kind::RBrace) {
                return;
            }
        }
    }

    /// A list of statements (4.4.4), up to a brace that closes none of them or to a new program.
    fn statements(&mut self, into: &mut Program) {
        let begin = into.code.len();
        let mut last = begin;
        while self.token().is_some_and(|t| t.kind != Kind::RBrace && !self.starts_item(t)) {
            let from = self.at;
            last = into.code.len();
            let rule = |r: &mut Self| r.labelled(Expected::Statement, |r| r.statement(into));
            if self.recover(rule, Self::complaint, Self::skip).is_none() {
                into.code.truncate(last);
                into.push(Code::Nop);
            }
            // What stands within it has its place already.
            let own = into.code[last..].iter_mut().filter(|instr| instr.span == Span::default());
            own.for_each(|instr| instr.span = self.since(from));
        }
        into.code[begin..last].iter_mut().for_each(|instr| instr.follows = true);
        self.miss::<()>(Expected::Statement);
    }

    fn starts_item(&self, token: Token<Kind>) -> bool {
        matches!(self.str(token), "program" | "use")
    }

    /// An operation that a program serves; nothing where there is none of the name.
    fn operation(&mut self) -> Option<Option<(OpKey, Span)>> {
        let (word, span) = self.name(Expected::Operation)?;
        let key = OpKey::named(word);
        if key.is_none() {
            self.errors.push((MempErrorKind::UnknownOperation, span));
        }
        Some(key.map(|key| (key, span)))
    }

    /// A preset to build on, or a program.
    fn item(&mut self, parsed: &mut MempFile) -> Option<()> {
        let from = self.at;
        if self.word("use").is_some() {
            let (name, span) = self.name(Expected::Preset)?;
            self.semi();
            match &parsed.base {
                Some((_, first)) => self.errors.push((MempErrorKind::SecondUse(*first), span)),
                None => parsed.base = Some((name.to_owned(), span)),
            }
            return Some(());
        }
        self.word("program")?;
        let serves = self.list(Kind::Comma, Self::operation)?.into_iter().flatten().collect();
        self.is(Kind::Colon)?;
        let mut program = Program { serves, head: self.since(from), ..Program::default() };
        self.statements(&mut program);
        parsed.programs.push(program);
        Some(())
    }

    /// A whole file.
    fn file(&mut self, parsed: &mut MempFile) {
        while self.token().is_some() {
            let rule = |r: &mut Self| r.labelled(Expected::Item, |r| r.item(parsed));
            self.recover(rule, Self::complaint, |r| r.skip_to(Self::starts_item));
        }
    }

    /// What is told of the furthest token that did not fit.
    fn complaint(&mut self) -> Wrong<Kind> {
        let (at, expected) = self.stuck();
        let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let token = self.tokens.get(at);
        let span = token.map_or(Span::new(end, end), |t| t.span);
        (MempErrorKind::Unexpected { expected, end: token.is_none() }, span)
    }
}
