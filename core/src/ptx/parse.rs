//! The parser: classifies each statement by its first tokens, hands it to the grammar, and goes on after an error.

use super::error::{Context, Expected, MAX_BLOCKS, SyntaxError, SyntaxErrorKind};
use super::explain::{explain, first_on_line, lacks_semicolon, strange};
use super::grammar::{Builder, Reader};
use super::stream::Errors;
use super::token::{Kind, Token};
use super::tree::{Debugging, Function, Item, Module, Stmt};
use crate::base::Span;
use crate::base::cursor::LONGEST;

/// Parses a PTX module. What was understood is returned with all complaints, in the order of the text; at most
/// [`MAX_ERRORS`](super::MAX_ERRORS) are kept. PTX ISA 4, 5.4, 6, 11.
#[must_use]
pub fn parse(text: &str) -> (Module, Vec<SyntaxError>) {
    // PTX taken out of a fat binary often keeps the terminating zero bytes.
    let text = text.trim_end_matches('\0');
    if u32::try_from(text.len()).is_err() {
        let error = SyntaxError { kind: SyntaxErrorKind::TooLarge, span: Span::default() };
        return (Module::default(), vec![error]);
    }
    let reader = Reader::new(text, Vec::new(), Builder::new(text));
    let mut parser = Parser { reader, items: Vec::new(), function: None };
    if parser.start() {
        while let Some(token) = parser.next() {
            if parser.function.is_some() { parser.statement(token) } else { parser.item(token) }
        }
    }
    parser.finish()
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
    /// Its tokens begin with those of the statement that is being read.
    reader: Reader<'s>,
    items: Vec<Item>,
    function: Option<Open>,
}

impl<'s> Parser<'s> {
    fn errors(&mut self) -> &mut Errors {
        &mut self.reader.state.stream.errors
    }

    /// Looks at the first token; false when the text is not PTX at all.
    fn start(&mut self) -> bool {
        let first = self.reader.token();
        if first.is_some_and(|t| t.kind == Kind::Version) {
            return true;
        }
        let anywhere = self.reader.text.contains(".version");
        let span = first.map_or(Span::default(), |t| t.span);
        self.errors().push(if anywhere { SyntaxErrorKind::NoVersion } else { SyntaxErrorKind::NotPtx }, span);
        anywhere
    }

    /// The first token of the next statement.
    fn next(&mut self) -> Option<Token> {
        self.reader.forget(0);
        if self.errors().full() { None } else { self.reader.token() }
    }

    fn finish(mut self) -> (Module, Vec<SyntaxError>) {
        if let Some(open) = &self.function {
            let brace = open.blocks.last().copied().unwrap_or(open.brace);
            self.errors().push(SyntaxErrorKind::OpenBrace, brace);
        }
        self.close();
        let Builder { names, stream, .. } = self.reader.state;
        (Module { names, items: self.items }, stream.errors.finish())
    }

    /// Ends the current function.
    fn close(&mut self) {
        if let Some(Open { function: Some(mut function), .. }) = self.function.take() {
            function.body = Some(self.reader.state.body.drain(..).collect());
            self.items.push(Item::Function(function));
        }
        self.reader.state.body.clear();
    }

    /// The kind of a token behind the next one.
    fn kind(&mut self, behind: usize) -> Kind {
        self.reader.peek(behind).map_or(Kind::Semi, |t| t.kind)
    }

    /// Whether a function's head begins with a token.
    fn is_head(&mut self, kind: Kind) -> bool {
        let function = |kind| matches!(kind, Kind::Entry | Kind::Func);
        function(kind) || kind.is_linkage() && function(self.kind(1))
    }

    /// Reads a module-level item.
    fn item(&mut self, token: Token) {
        match token.kind {
            kind if self.is_head(kind) => self.head(),
            Kind::Version | Kind::Target | Kind::AddressSize | Kind::Alias => {
                let item = self.read(Context::Directive, Reader::item);
                self.items.extend(item);
            }
            Kind::File | Kind::Loc | Kind::Pragma | Kind::Dwarf | Kind::Section => {
                let debugging = self.debugging(token);
                self.items.extend(debugging.map(Item::Debug));
            }
            kind if kind.starts_variable() || kind.is_linkage() => {
                let variable = self.read(Context::Declaration, Reader::variable);
                self.items.extend(variable.map(Item::Variable));
            }
            Kind::RBrace => {
                self.errors().push(SyntaxErrorKind::StrayBrace, token.span);
                self.reader.at += 1;
            }
            Kind::Poison => self.resume(1),
            kind => {
                match kind {
                    Kind::Word | Kind::Dotted | Kind::At | Kind::LBrace => {
                        self.errors().push(SyntaxErrorKind::OutsideFunction, token.span);
                    }
                    _ => self.unexpected(token, Expected::Item, Context::Module),
                }
                self.reader.skip_to(|_, t| t.kind.starts_item() || t.kind == Kind::File);
            }
        }
    }

    /// A directive that says something about the source.
    fn debugging(&mut self, token: Token) -> Option<Debugging> {
        if token.kind != Kind::Section {
            return self.read(Context::Directive, Reader::debugging);
        }
        // The stream has read all of it: `.section .name { … }`.
        self.reader.at += 1;
        let text = self.reader.str(token);
        let (head, rest) = text.split_once('{').unwrap_or((text, ""));
        let name = head.trim_start_matches(".section").trim().to_owned();
        Some(Debugging::Section { name, body: rest.trim_end_matches('}').to_owned(), span: token.span })
    }

    /// Complains about a token that begins nothing that may stand here.
    fn unexpected(&mut self, token: Token, expected: Expected, within: Context) {
        let unexpected = SyntaxErrorKind::Unexpected { expected: vec![expected], end: false, within };
        let kind = match token.kind {
            kind if kind.is_dot() => SyntaxErrorKind::UnknownDirective,
            _ => strange(token, self.reader.text).unwrap_or(unexpected),
        };
        self.errors().push(kind, token.span);
    }

    /// Reads a function's head and, when a body follows, its `{`.
    fn head(&mut self) {
        let open = |function, brace| Some(Open { function, brace, blocks: Vec::new() });
        if let Some((function, body)) = self.read(Context::FunctionHead, Reader::function) {
            let function = Box::new(function);
            if body {
                self.function = open(Some(function), self.reader.since(self.reader.at - 1));
            } else {
                self.items.push(Item::Function(function));
            }
            return;
        }
        // The body of a function whose head is wrong is still read as a body. What follows a linkage ends no head.
        let next = std::mem::replace(&mut self.reader.at, 1);
        while let Some(token) = self.reader.token() {
            self.reader.at += 1;
            match token.kind {
                Kind::LBrace => {
                    self.function = open(None, token.span);
                    return;
                }
                Kind::Semi | Kind::RBrace | Kind::Version | Kind::Entry | Kind::Func if self.reader.at > 2 => break,
                // That is an initialiser.
                Kind::Eq if self.reader.kind() == Some(Kind::LBrace) => break,
                _ => {}
            }
        }
        self.reader.at = next;
    }

    /// Reads a statement of a body.
    fn statement(&mut self, token: Token) {
        let stmt = match token.kind {
            Kind::Word if self.kind(1) == Kind::Colon => match self.kind(2) {
                Kind::CallPrototype | Kind::BranchTargets | Kind::CallTargets => {
                    self.read(Context::Directive, Reader::labelled_directive)
                }
                _ => {
                    self.reader.at += 2;
                    Some(Stmt::Label(self.reader.identifier(token)))
                }
            },
            Kind::Word | Kind::Dotted | Kind::At => {
                self.read(Context::Instruction, Reader::instruction).map(Stmt::Instr)
            }
            Kind::LBrace => return self.open_block(token),
            Kind::RBrace => {
                self.reader.at += 1;
                match self.function.as_mut().and_then(|f| f.blocks.pop()) {
                    Some(_) => Some(Stmt::Close),
                    None => return self.close(),
                }
            }
            kind if kind.starts_variable() || kind.is_linkage() && !self.is_head(kind) => {
                let variable = self.read(Context::Declaration, Reader::variable);
                variable.map(|variable| Stmt::Variable(Box::new(variable)))
            }
            Kind::Loc | Kind::Pragma | Kind::File | Kind::Dwarf | Kind::Section => {
                self.debugging(token).map(|debugging| Stmt::Debug(Box::new(debugging)))
            }
            kind if kind.starts_item() => {
                let open = self.function.as_ref().map_or(Span::default(), |f| f.brace);
                self.errors().push(SyntaxErrorKind::InsideFunction { open }, token.span);
                return self.close();
            }
            kind => {
                if kind != Kind::Poison {
                    self.unexpected(token, Expected::Statement, Context::Body);
                }
                return self.resume(1);
            }
        };
        self.reader.state.body.extend(stmt);
    }

    /// Opens a block; too many of them end the parse.
    fn open_block(&mut self, token: Token) {
        self.reader.at += 1;
        let Some(open) = &mut self.function else { return };
        if open.blocks.len() as u32 >= MAX_BLOCKS {
            self.errors().push(SyntaxErrorKind::TooDeep { limit: MAX_BLOCKS }, token.span);
            return self.errors().stop();
        }
        open.blocks.push(token.span);
        self.reader.state.body.push(Stmt::Open);
    }

    /// Reads a statement by a rule of the grammar, or complains and goes on behind it. One that does not fit is read
    /// again to learn why.
    fn read<O>(&mut self, within: Context, rule: fn(&mut Reader<'s>) -> Option<O>) -> Option<O> {
        let read = rule(&mut self.reader);
        if read.is_none() {
            match self.reader.errors.pop() {
                Some(wrong) => self.fail(self.reader.at, within, Ok(wrong)),
                None => {
                    self.reader.at = 0;
                    self.reader.tell(true);
                    rule(&mut self.reader);
                    self.reader.tell(false);
                    let (at, expected) = self.reader.stuck();
                    self.fail(at, within, Err(expected));
                }
            }
        }
        read
    }

    /// Complains about a statement in which a token is wrong, or other ones were expected, and goes on.
    fn fail(&mut self, at: usize, within: Context, wrong: Result<(SyntaxErrorKind, Span), Vec<Expected>>) {
        let text = self.reader.text;
        let tokens = &self.reader.tokens;
        let found = tokens.get(at).copied();
        if tokens.len() >= LONGEST {
            let span = tokens[0].span;
            self.errors().push(SyntaxErrorKind::StatementTooLong, span);
            self.reader.state.stream.skip_statement();
            self.reader.at = LONGEST;
            return;
        }
        if found.is_some_and(|t| t.kind == Kind::Poison) {
            return self.resume(at + 1);
        }
        let (kind, span) = match wrong {
            Ok(wrong) => wrong,
            Err(expected) if lacks_semicolon(&expected, tokens, at, text) => {
                let end = tokens[at - 1].span.end;
                self.errors().push(SyntaxErrorKind::MissingSemicolon, Span::new(end, end));
                self.reader.at = at;
                return;
            }
            Err(expected) => explain(expected, found, within, text),
        };
        self.errors().push(kind, span);
        self.resume(at);
    }

    /// Goes on after a wrong statement that is wrong at a token of it: after its `;`, before a `}` that closes a block, or
    /// before a line that begins with a directive.
    fn resume(&mut self, wrong: usize) {
        let reader = &mut self.reader;
        let mut braces = 0u32;
        reader.at = 0;
        while let Some(token) = reader.token() {
            let i = reader.at;
            match token.kind {
                Kind::Semi if i >= wrong => {
                    reader.at += 1;
                    return;
                }
                Kind::LBrace if i > 0 => braces += 1,
                Kind::RBrace if braces == 0 && i > 0 => return,
                Kind::RBrace => braces = braces.saturating_sub(1),
                Kind::Loc | Kind::File | Kind::Section if i > 0 => return,
                kind if i > 0
                    && (kind.starts_item() || kind.starts_variable())
                    && first_on_line(reader.tokens[i - 1], token, reader.text)
                    && (kind != Kind::Param || i > wrong) =>
                {
                    return;
                }
                _ => {}
            }
            reader.at += 1;
        }
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
