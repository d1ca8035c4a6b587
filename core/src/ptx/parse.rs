//! The parser: classifies each statement by its first tokens, hands it to the grammar, and goes on after an error.

use super::error::{Context, Expected, Found, MAX_BLOCKS, SyntaxError, SyntaxErrorKind};
use super::explain::{explain, first_on_line, lacks_semicolon, strange};
use super::grammar::{Builder, Complaint, Grammar};
use super::stream::{Errors, LONGEST, Stream};
use super::token::{Kind, Token};
use super::tree::{Debugging, Function, Item, Module, Stmt};
use crate::base::Span;
use chumsky::Boxed;
use chumsky::Parser as _;
use chumsky::error::EmptyErr;

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
            parser.errors.push(SyntaxErrorKind::StatementTooLong, piece[0].span());
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

/// What to do after one statement: go on at a token, or wait for more tokens.
type Step = Option<usize>;

impl<'s> Parser<'s> {
    /// Reads the statements of a piece; says how many tokens are done with.
    fn piece(&mut self, tokens: &[Token], last: bool) -> usize {
        let grammar = Grammar::<EmptyErr>::new();
        let mut at = 0;
        if !self.started && !self.start(tokens.first().copied()) {
            return tokens.len();
        }
        while at < tokens.len() && !self.errors.full() {
            // Three tokens tell what a statement is.
            if !last && at + 3 > tokens.len() {
                break;
            }
            let step = if self.function.is_some() {
                self.statement(&grammar, tokens, at, last)
            } else {
                self.item(&grammar, tokens, at, last)
            };
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
        let span = first.map_or(Span::default(), Token::span);
        self.errors.push(SyntaxErrorKind::NoVersion { anywhere }, span);
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
    fn item<'t>(&mut self, grammar: &Grammar<'t, 's, EmptyErr>, tokens: &'t [Token], at: usize, last: bool) -> Step
    where
        's: 't,
    {
        let token = tokens[at];
        let second = tokens.get(at + 1).map_or(Kind::Semi, |t| t.kind);
        match token.kind {
            Kind::Entry | Kind::Func => self.head(grammar, tokens, at, last),
            Kind::Visible | Kind::Extern | Kind::Weak | Kind::Common if matches!(second, Kind::Entry | Kind::Func) => {
                self.head(grammar, tokens, at, last)
            }
            Kind::Version | Kind::Target | Kind::AddressSize | Kind::Alias => {
                match self.fast(&grammar.item, statement(&tokens[at..])) {
                    Some((item, n)) => {
                        self.items.push(item);
                        Some(at + n)
                    }
                    None => self.fail(|g| g.item, tokens, at, last, Context::Directive),
                }
            }
            Kind::File | Kind::Loc | Kind::Pragma | Kind::Dwarf => {
                match self.fast(&grammar.debugging, statement(&tokens[at..])) {
                    Some((debugging, n)) => {
                        self.items.push(Item::Debug(debugging));
                        Some(at + n)
                    }
                    None => self.fail(|g| g.debugging, tokens, at, last, Context::Directive),
                }
            }
            Kind::Section => {
                let section = self.section(token);
                self.items.push(Item::Debug(section));
                Some(at + 1)
            }
            kind if kind.starts_variable()
                || matches!(kind, Kind::Visible | Kind::Extern | Kind::Weak | Kind::Common) =>
            {
                match self.fast(&grammar.variable, statement(&tokens[at..])) {
                    Some((variable, n)) => {
                        self.items.push(Item::Variable(variable));
                        Some(at + n)
                    }
                    None => self.fail(|g| g.variable, tokens, at, last, Context::Declaration),
                }
            }
            Kind::RBrace => {
                self.errors.push(SyntaxErrorKind::StrayBrace, token.span());
                Some(at + 1)
            }
            Kind::Poison => Some(self.resume(tokens, at, at + 1)),
            _ => {
                let kind = match token.kind {
                    Kind::Word | Kind::Dotted | Kind::At | Kind::LBrace => SyntaxErrorKind::OutsideFunction,
                    kind if kind.is_dot() => SyntaxErrorKind::UnknownDirective,
                    _ => strange(token, self.builder.text).unwrap_or(SyntaxErrorKind::Unexpected {
                        expected: vec![Expected::Item],
                        found: Found::Token,
                        within: Context::Module,
                    }),
                };
                self.errors.push(kind, token.span());
                let next = tokens[at + 1..].iter().position(|t| t.kind.starts_item() || t.kind == Kind::File);
                Some(next.map_or(tokens.len(), |n| at + 1 + n))
            }
        }
    }

    /// Reads a function's head and, when a body follows, its `{`.
    fn head<'t>(&mut self, grammar: &Grammar<'t, 's, EmptyErr>, tokens: &'t [Token], at: usize, last: bool) -> Step
    where
        's: 't,
    {
        let open = |function, brace| Open { function, brace, blocks: Vec::new() };
        if let Some(((function, body), n)) = self.fast(&grammar.function, function_head(&tokens[at..])) {
            // Without `;` or `{` the head ends where the piece does; the next piece may begin with either.
            if !body && !last && at + n == tokens.len() && tokens[at + n - 1].kind != Kind::Semi {
                return None;
            }
            if body {
                self.function = Some(open(Some(Box::new(function)), tokens[at + n - 1].span()));
            } else {
                self.items.push(Item::Function(Box::new(function)));
            }
            return Some(at + n);
        }
        let step = self.fail(|g| g.function, tokens, at, last, Context::FunctionHead)?;
        // The body of a function whose head is wrong is still read as a body.
        let stop = tokens[at + 1..].iter().position(|t| {
            matches!(t.kind, Kind::LBrace | Kind::Semi | Kind::RBrace | Kind::Version | Kind::Entry | Kind::Func)
                && !(t.kind != Kind::LBrace && t.start < tokens[at + 1].end)
        });
        match stop.map(|n| at + 1 + n) {
            Some(brace) if tokens[brace].kind == Kind::LBrace => {
                self.function = Some(open(None, tokens[brace].span()));
                Some(brace + 1)
            }
            _ => Some(step),
        }
    }

    /// Reads a statement of a body.
    fn statement<'t>(&mut self, grammar: &Grammar<'t, 's, EmptyErr>, tokens: &'t [Token], at: usize, last: bool) -> Step
    where
        's: 't,
    {
        let token = tokens[at];
        let second = tokens.get(at + 1).map_or(Kind::Semi, |t| t.kind);
        let linkage = matches!(token.kind, Kind::Visible | Kind::Extern | Kind::Weak | Kind::Common);
        match token.kind {
            Kind::Word if second == Kind::Colon => {
                let third = tokens.get(at + 2).map_or(Kind::Semi, |t| t.kind);
                if matches!(third, Kind::CallPrototype | Kind::BranchTargets | Kind::CallTargets) {
                    return match self.fast(&grammar.labelled, statement(&tokens[at..])) {
                        Some((stmt, n)) => self.push(stmt, at + n),
                        None => self.fail(|g| g.labelled, tokens, at, last, Context::Directive),
                    };
                }
                let label = self.builder.ident(token);
                self.push(Stmt::Label(label), at + 2)
            }
            Kind::Word | Kind::Dotted | Kind::At => match self.fast(&grammar.instruction, statement(&tokens[at..])) {
                Some(((), n)) => Some(at + n),
                None => self.fail(|g| g.instruction, tokens, at, last, Context::Instruction),
            },
            Kind::LBrace => self.open_block(token, at, tokens.len()),
            Kind::RBrace => {
                match self.function.as_mut().and_then(|f| f.blocks.pop()) {
                    Some(_) => return self.push(Stmt::Close(token.span()), at + 1),
                    None => self.close(),
                }
                Some(at + 1)
            }
            kind if kind.starts_variable() || (linkage && !matches!(second, Kind::Entry | Kind::Func)) => {
                match self.fast(&grammar.variable, statement(&tokens[at..])) {
                    Some((variable, n)) => self.push(Stmt::Variable(Box::new(variable)), at + n),
                    None => self.fail(|g| g.variable, tokens, at, last, Context::Declaration),
                }
            }
            Kind::Loc | Kind::Pragma | Kind::File | Kind::Dwarf => {
                match self.fast(&grammar.debugging, statement(&tokens[at..])) {
                    Some((debugging, n)) => self.push(Stmt::Debug(Box::new(debugging)), at + n),
                    None => self.fail(|g| g.debugging, tokens, at, last, Context::Directive),
                }
            }
            Kind::Section => {
                let section = self.section(token);
                self.push(Stmt::Debug(Box::new(section)), at + 1)
            }
            kind if kind.starts_item() => {
                let open = self.function.as_ref().map_or(Span::default(), |f| f.brace);
                self.errors.push(SyntaxErrorKind::InsideFunction { open }, token.span());
                self.close();
                Some(at)
            }
            Kind::Poison => Some(self.resume(tokens, at, at + 1)),
            kind => {
                let error = match kind {
                    kind if kind.is_dot() => SyntaxErrorKind::UnknownDirective,
                    _ => strange(token, self.builder.text).unwrap_or(SyntaxErrorKind::Unexpected {
                        expected: vec![Expected::Statement],
                        found: Found::Token,
                        within: Context::Body,
                    }),
                };
                self.errors.push(error, token.span());
                Some(self.resume(tokens, at, at + 1))
            }
        }
    }

    fn push(&mut self, stmt: Stmt, next: usize) -> Step {
        self.builder.body.push(stmt);
        Some(next)
    }

    /// Opens a block; too many of them end the parse of this piece.
    fn open_block(&mut self, token: Token, at: usize, len: usize) -> Step {
        let Some(open) = &mut self.function else { return Some(at + 1) };
        if open.blocks.len() as u32 >= MAX_BLOCKS {
            self.errors.push(SyntaxErrorKind::TooDeep { limit: MAX_BLOCKS }, token.span());
            self.errors.stop();
            return Some(len);
        }
        open.blocks.push(token.span());
        self.push(Stmt::Open(token.span()), at + 1)
    }

    /// The tree of a section's token: `.section .name { … }`.
    fn section(&self, token: Token) -> Debugging {
        let text = self.builder.str(token);
        let (head, rest) = text.split_once('{').unwrap_or((text, ""));
        let name = head.trim_start_matches(".section").trim().to_owned();
        Debugging::Section { name, body: rest.trim_end_matches('}').to_owned(), span: token.span() }
    }

    fn fast<'t, O>(&mut self, rule: &Rule<'t, 's, O, EmptyErr>, tokens: &'t [Token]) -> Option<(O, usize)>
    where
        's: 't,
    {
        rule.parse_with_state(tokens, &mut self.builder).into_output()
    }

    /// Parses the statement at `at` again to learn what is wrong with it, and says where to go on. None when it merely
    /// continues in the next piece.
    fn fail<'t, O>(
        &mut self,
        pick: impl FnOnce(Grammar<'t, 's, Complaint>) -> Rule<'t, 's, O, Complaint>,
        tokens: &'t [Token],
        at: usize,
        last: bool,
        within: Context,
    ) -> Step
    where
        's: 't,
    {
        let rest = &tokens[at..];
        let result = pick(Grammar::new()).parse_with_state(rest, &mut self.builder);
        let complaint = result.into_errors().into_iter().next().unwrap_or_else(Complaint::anything);
        let offset = complaint.at.start;
        let found = rest.get(offset).copied();
        if found.is_none() && !last {
            return None;
        }
        let text = self.builder.text;
        if found.is_some_and(|t| t.kind == Kind::Poison) {
            return Some(self.resume(tokens, at, at + offset + 1));
        }
        if lacks_semicolon(&complaint, rest, offset, text) {
            let end = rest[offset - 1].end;
            self.errors.push(SyntaxErrorKind::MissingSemicolon, Span::new(end, end));
            return Some(at + offset);
        }
        let (kind, span) = explain(complaint, rest, found, within, text);
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

/// A parser of the grammar.
type Rule<'t, 's, O, E> = Boxed<'t, 't, &'t [Token], (O, usize), super::grammar::Ex<'s, E>>;

/// The tokens up to the first `;`. The grammar's parsers run over what they leave of their input, so it is kept short.
fn statement(tokens: &[Token]) -> &[Token] {
    let end = tokens.iter().position(|t| t.kind == Kind::Semi).map_or(tokens.len(), |i| i + 1);
    &tokens[..end]
}

/// The tokens up to the `{` or `;` of a function's head, where a `.pragma` has its own `;`, and one more.
fn function_head(tokens: &[Token]) -> &[Token] {
    let mut pragma = false;
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Pragma => pragma = true,
            Kind::Semi if pragma => pragma = false,
            Kind::Semi | Kind::LBrace => return &tokens[..=i],
            kind if i > 1 && kind.starts_item() => return &tokens[..=i],
            _ => {}
        }
    }
    tokens
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
