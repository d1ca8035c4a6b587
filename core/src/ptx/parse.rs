//! The parser: classifies each statement by its first tokens, hands it to the grammar, and goes on after an error.

use super::error::{Context, Expected, Found, MAX_BLOCKS, SyntaxError, SyntaxErrorKind};
use super::explain::{explain, first_on_line, lacks_semicolon, strange};
use super::grammar::{Builder, Reader};
use super::stream::{Errors, LONGEST, Stream};
use super::token::{Kind, Token};
use super::tree::{Debugging, Function, Item, Module, Stmt};
use crate::base::Span;

/// Parses a PTX module. What was understood is returned with all complaints, in the order of the text; at most
/// [`MAX_ERRORS`](super::MAX_ERRORS) are kept. PTX ISA 4, 5.4, 6, 11.
#[must_use]
pub fn parse(text: &str) -> (Module, Vec<SyntaxError>) {
    // PTX taken out of a fat binary often keeps the terminating zero bytes.
    let text = text.trim_end_matches('\0');
    let mut errors = Errors::default();
    if u32::try_from(text.len()).is_err() {
        errors.push(SyntaxErrorKind::TooLarge, Span::default());
        return (Module::default(), errors.finish());
    }
    let builder = Builder::new(text);
    let mut parser = Parser { builder, items: Vec::new(), function: None, errors, started: false };
    let mut stream = Stream::new(text);
    let mut piece = Vec::new();
    loop {
        let more = stream.fill(&mut piece, &mut parser.builder, &mut parser.errors);
        let used = parser.piece(&piece, !more);
        if parser.errors.full() || !more {
            break;
        }
        if used == 0 && piece.len() >= LONGEST {
            parser.errors.push(SyntaxErrorKind::StatementTooLong, piece[0].span);
            stream.skip_statement();
            piece.clear();
        } else {
            piece.drain(..used);
        }
    }
    parser.finish()
}

/// The text of a file, or where it stops being UTF-8.
///
/// # Errors
/// [`SyntaxErrorKind::NotUtf8`] with the offending bytes.
pub fn decode(bytes: &[u8]) -> Result<&str, SyntaxError> {
    std::str::from_utf8(bytes).map_err(|e| {
        let start = u32::try_from(e.valid_up_to()).unwrap_or(u32::MAX);
        let len = e.error_len().unwrap_or(1) as u32;
        SyntaxError { kind: SyntaxErrorKind::NotUtf8, span: Span::new(start, start.saturating_add(len)) }
    })
}

/// A function whose body is being read.
struct Open {
    /// Absent when the head did not parse: the body is read for its errors.
    function: Option<Box<Function>>,
    brace: Span,
    /// The `{` of open blocks.
    blocks: Vec<Span>,
}

struct Parser<'s> {
    builder: Builder<'s>,
    items: Vec<Item>,
    function: Option<Open>,
    errors: Errors,
    /// Whether the first token has been seen.
    started: bool,
}

/// A statement: where it begins among the tokens of a piece, and whether no piece follows.
#[derive(Clone, Copy)]
struct Here<'t> {
    tokens: &'t [Token],
    at: usize,
    last: bool,
}

/// What to do after one statement: go on at a token, or wait for more tokens.
type Step = Option<usize>;

impl<'s> Parser<'s> {
    /// Reads the statements of a piece; says how many tokens are done with.
    fn piece(&mut self, tokens: &[Token], last: bool) -> usize {
        let mut at = 0;
        if !self.started && !self.start(tokens.first().copied()) {
            return tokens.len();
        }
        while at < tokens.len() && !self.errors.full() {
            // Three tokens tell what a statement is.
            if !last && at + 3 > tokens.len() {
                break;
            }
            let here = Here { tokens, at, last };
            let inside = self.function.is_some();
            let step = if inside { self.statement(here) } else { self.item(here) };
            match step {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    /// Looks at the first token; false when the text is not PTX at all.
    fn start(&mut self, first: Option<Token>) -> bool {
        self.started = true;
        if first.is_some_and(|t| t.kind == Kind::Version) {
            return true;
        }
        let anywhere = self.builder.text.contains(".version");
        let span = first.map_or(Span::default(), |t| t.span);
        self.errors.push(if anywhere { SyntaxErrorKind::NoVersion } else { SyntaxErrorKind::NotPtx }, span);
        anywhere
    }

    fn finish(mut self) -> (Module, Vec<SyntaxError>) {
        if !self.started {
            self.start(None);
        }
        if let Some(open) = &self.function
            && !self.errors.full()
        {
            let brace = open.blocks.last().copied().unwrap_or(open.brace);
            self.errors.push(SyntaxErrorKind::OpenBrace, brace);
        }
        self.close();
        (Module { names: self.builder.names, items: self.items }, self.errors.finish())
    }

    /// Ends the current function.
    fn close(&mut self) {
        if let Some(Open { function: Some(mut function), .. }) = self.function.take() {
            function.body = Some(self.builder.body.drain(..).collect());
            self.items.push(Item::Function(function));
        }
        self.builder.body.clear();
    }

    /// Reads a module-level item.
    fn item(&mut self, here: Here<'_>) -> Step {
        let Here { tokens, at, .. } = here;
        let token = tokens[at];
        let second = tokens.get(at + 1).map_or(Kind::Semi, |t| t.kind);
        match token.kind {
            Kind::Entry | Kind::Func => self.head(here),
            kind if kind.is_linkage() && matches!(second, Kind::Entry | Kind::Func) => self.head(here),
            Kind::Version | Kind::Target | Kind::AddressSize | Kind::Alias => {
                let item = self.read(here, Context::Directive, |r| r.item())?;
                self.items.extend(item.0);
                Some(item.1)
            }
            Kind::File | Kind::Loc | Kind::Pragma | Kind::Dwarf => {
                let (debugging, next) = self.read(here, Context::Directive, |r| r.debugging())?;
                self.items.extend(debugging.map(Item::Debug));
                Some(next)
            }
            Kind::Section => {
                let section = self.section(token);
                self.items.push(Item::Debug(section));
                Some(at + 1)
            }
            kind if kind.starts_variable() || kind.is_linkage() => {
                let (variable, next) = self.read(here, Context::Declaration, |r| r.variable())?;
                self.items.extend(variable.map(Item::Variable));
                Some(next)
            }
            Kind::RBrace => {
                self.errors.push(SyntaxErrorKind::StrayBrace, token.span);
                Some(at + 1)
            }
            Kind::Poison => Some(self.resume(tokens, at, at + 1)),
            kind => {
                match kind {
                    Kind::Word | Kind::Dotted | Kind::At | Kind::LBrace => {
                        self.errors.push(SyntaxErrorKind::OutsideFunction, token.span);
                    }
                    _ => self.unexpected(token, Expected::Item, Context::Module),
                }
                let next = tokens[at + 1..].iter().position(|t| t.kind.starts_item() || t.kind == Kind::File);
                Some(next.map_or(tokens.len(), |n| at + 1 + n))
            }
        }
    }

    /// Complains about a token that begins nothing that may stand here.
    fn unexpected(&mut self, token: Token, expected: Expected, within: Context) {
        let unexpected = SyntaxErrorKind::Unexpected { expected: vec![expected], found: Found::Token, within };
        let kind = match token.kind {
            kind if kind.is_dot() => SyntaxErrorKind::UnknownDirective,
            _ => strange(token, self.builder.text).unwrap_or(unexpected),
        };
        self.errors.push(kind, token.span);
    }

    /// Reads a function's head and, when a body follows, its `{`.
    fn head(&mut self, here: Here<'_>) -> Step {
        let Here { tokens, at, last } = here;
        let open = |function, brace| Open { function, brace, blocks: Vec::new() };
        let (read, next) = self.read(here, Context::FunctionHead, |r| r.function())?;
        if let Some((function, body)) = read {
            // Without `;` or `{` the head ends where the piece does; the next piece may begin with either.
            if !body && !last && next == tokens.len() && tokens[next - 1].kind != Kind::Semi {
                return None;
            }
            if body {
                self.function = Some(open(Some(Box::new(function)), tokens[next - 1].span));
            } else {
                self.items.push(Item::Function(Box::new(function)));
            }
            return Some(next);
        }
        // The body of a function whose head is wrong is still read as a body.
        let stop = tokens[at + 1..].iter().position(|t| {
            matches!(t.kind, Kind::LBrace | Kind::Semi | Kind::RBrace | Kind::Version | Kind::Entry | Kind::Func)
                && !(t.kind != Kind::LBrace && t.span.start < tokens[at + 1].span.end)
        });
        match stop.map(|n| at + 1 + n) {
            Some(brace) if tokens[brace].kind == Kind::LBrace => {
                self.function = Some(open(None, tokens[brace].span));
                Some(brace + 1)
            }
            _ => Some(next),
        }
    }

    /// Reads a statement of a body.
    fn statement(&mut self, here: Here<'_>) -> Step {
        let Here { tokens, at, .. } = here;
        let token = tokens[at];
        let kind_of = |i: usize| tokens.get(i).map_or(Kind::Semi, |t| t.kind);
        let second = kind_of(at + 1);
        let (stmt, next) = match token.kind {
            Kind::Word if second == Kind::Colon => match kind_of(at + 2) {
                Kind::CallPrototype | Kind::BranchTargets | Kind::CallTargets => {
                    self.read(here, Context::Directive, |r| r.labelled_directive())?
                }
                _ => (Some(Stmt::Label(self.builder.ident(token))), at + 2),
            },
            Kind::Word | Kind::Dotted | Kind::At => {
                let (instr, next) = self.read(here, Context::Instruction, |r| r.instruction())?;
                (instr.map(Stmt::Instr), next)
            }
            Kind::LBrace => return self.open_block(token, at, tokens.len()),
            Kind::RBrace => match self.function.as_mut().and_then(|f| f.blocks.pop()) {
                Some(_) => (Some(Stmt::Close(token.span)), at + 1),
                None => {
                    self.close();
                    (None, at + 1)
                }
            },
            kind if kind.starts_variable() || kind.is_linkage() && !matches!(second, Kind::Entry | Kind::Func) => {
                let (variable, next) = self.read(here, Context::Declaration, |r| r.variable())?;
                (variable.map(|variable| Stmt::Variable(Box::new(variable))), next)
            }
            Kind::Loc | Kind::Pragma | Kind::File | Kind::Dwarf => {
                let (debugging, next) = self.read(here, Context::Directive, |r| r.debugging())?;
                (debugging.map(|debugging| Stmt::Debug(Box::new(debugging))), next)
            }
            Kind::Section => (Some(Stmt::Debug(Box::new(self.section(token)))), at + 1),
            kind if kind.starts_item() => {
                let open = self.function.as_ref().map_or(Span::default(), |f| f.brace);
                self.errors.push(SyntaxErrorKind::InsideFunction { open }, token.span);
                self.close();
                (None, at)
            }
            kind => {
                if kind != Kind::Poison {
                    self.unexpected(token, Expected::Statement, Context::Body);
                }
                (None, self.resume(tokens, at, at + 1))
            }
        };
        self.builder.body.extend(stmt);
        Some(next)
    }

    /// Opens a block; too many of them end the parse of this piece.
    fn open_block(&mut self, token: Token, at: usize, len: usize) -> Step {
        let Some(open) = &mut self.function else { return Some(at + 1) };
        if open.blocks.len() as u32 >= MAX_BLOCKS {
            self.errors.push(SyntaxErrorKind::TooDeep { limit: MAX_BLOCKS }, token.span);
            self.errors.stop();
            return Some(len);
        }
        open.blocks.push(token.span);
        self.builder.body.push(Stmt::Open(token.span));
        Some(at + 1)
    }

    /// The tree of a section's token: `.section .name { … }`.
    fn section(&self, token: Token) -> Debugging {
        let text = token.span.of(self.builder.text);
        let (head, rest) = text.split_once('{').unwrap_or((text, ""));
        let name = head.trim_start_matches(".section").trim().to_owned();
        Debugging::Section { name, body: rest.trim_end_matches('}').to_owned(), span: token.span }
    }

    /// Reads a statement by a rule of the grammar, or complains; says where to go on. None when it merely continues in the
    /// next piece.
    fn read<O>(
        &mut self,
        here: Here<'_>,
        within: Context,
        rule: impl Fn(&mut Reader<'_, 's>) -> Option<O>,
    ) -> Option<(Option<O>, usize)> {
        let rest = &here.tokens[here.at..];
        let mut reader = Reader::new(self.builder.text, rest, &mut self.builder);
        if let Some(read) = rule(&mut reader) {
            return Some((Some(read), here.at + reader.at));
        }
        let (offset, wrong) = match reader.errors.pop() {
            Some(wrong) => (reader.at, Ok(wrong)),
            None => {
                let mut reader = reader.telling();
                rule(&mut reader);
                let (offset, expected) = reader.stuck();
                (offset, Err(expected))
            }
        };
        self.fail(here, within, offset, wrong).map(|next| (None, next))
    }

    /// Complains about a statement in which a token is wrong, or other ones were expected; says where to go on.
    fn fail(
        &mut self,
        Here { tokens, at, last }: Here<'_>,
        within: Context,
        offset: usize,
        wrong: Result<(SyntaxErrorKind, Span), Vec<Expected>>,
    ) -> Step {
        let (rest, text) = (&tokens[at..], self.builder.text);
        let found = rest.get(offset).copied();
        if found.is_none() && !last {
            return None;
        }
        if found.is_some_and(|t| t.kind == Kind::Poison) {
            return Some(self.resume(tokens, at, at + offset + 1));
        }
        let (kind, span) = match wrong {
            Ok(wrong) => wrong,
            Err(expected) if lacks_semicolon(&expected, rest, offset, text) => {
                let end = rest[offset - 1].span.end;
                self.errors.push(SyntaxErrorKind::MissingSemicolon, Span::new(end, end));
                return Some(at + offset);
            }
            Err(expected) => explain(expected, found, within, text),
        };
        self.errors.push(kind, span);
        Some(self.resume(tokens, at, at + offset))
    }

    /// Where to go on after a wrong statement that begins at `at` and is wrong at `wrong`: after its `;`, before a `}`
    /// that closes a block, or before a line that begins with a directive.
    fn resume(&self, tokens: &[Token], at: usize, wrong: usize) -> usize {
        let mut braces = 0u32;
        for (i, token) in tokens.iter().enumerate().skip(at) {
            match token.kind {
                Kind::Semi if i >= wrong => return i + 1,
                Kind::LBrace if i > at => braces += 1,
                Kind::RBrace if braces == 0 && i > at => return i,
                Kind::RBrace => braces = braces.saturating_sub(1),
                Kind::Loc | Kind::File | Kind::Section if i > at => return i,
                kind if i > at
                    && (kind.starts_item() || kind.starts_variable())
                    && first_on_line(tokens[i - 1], *token, self.builder.text)
                    && (kind != Kind::Param || i > wrong) =>
                {
                    return i;
                }
                _ => {}
            }
        }
        tokens.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_module_parses() {
        let (module, errors) = parse(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n");
        assert_eq!(errors, []);
        assert_eq!(module.items.len(), 4);
    }
}
