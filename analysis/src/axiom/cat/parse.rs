//! Cat text → syntax tree, with recovery at the next statement.
//!
//! Operators bind, from tight to loose: `A * B`; those that stand behind; `~`; `&`; `\`; `;`; `|` (D-cat-precedence). Chains of one
//! operator are one node, so that only what is nested in the text is nested in the tree.

use super::error::{CatError, CatErrorKind, Expected, MAX_ERRORS, MAX_NESTING, MAX_POSTFIX};
use super::names::KEYWORDS;
use super::token::{Kind, Token, tokens};
use super::tree::{Check, Definition, Expr, ExprKind, File, Ident, Infix, Let, Postfix, StatementKind};
use crate::axiom::model::{Claim, Role};
use crate::base::cursor::{Cursor, Source, Wrong, in_order};
use crate::base::{FileId, Placed, Span};

/// Words that a statement may begin with.
const STARTS: &[&str] =
    &["let", "acyclic", "irreflexive", "empty", "flag", "undefined_unless", "include", "show", "unshow"];

const CLAIMS: &[(&str, Claim)] =
    &[("acyclic", Claim::Acyclic), ("irreflexive", Claim::Irreflexive), ("empty", Claim::Empty)];

/// How deep the parser is in an expression, and where it was too deep.
#[derive(Default)]
struct Nesting {
    depth: usize,
    deep: Option<Span>,
}

impl Source<Kind> for Nesting {
    fn next(&mut self) -> Option<Token> {
        None
    }
}

/// The grammar's rules are its methods.
type Reader<'s> = Cursor<'s, Kind, Nesting>;

/// Parses a cat file. What was understood is returned with all complaints, in the order of the text. Names are not looked at.
#[must_use]
pub fn parse(file: FileId, text: &str) -> (File, Vec<CatError>) {
    let at = |(kind, span)| CatError { kind, file, span, call: None };
    if u32::try_from(text.len()).is_err() {
        return (File::default(), vec![at((CatErrorKind::TooLarge, Span::default()))]);
    }
    let lexed = tokens(text);
    let garbage = |span: Span| {
        let kind = if span.of(text).starts_with('"') { CatErrorKind::OpenText } else { CatErrorKind::Garbage };
        (kind, span)
    };
    let mut found: Vec<Wrong<Kind>> = lexed.garbage.into_iter().map(garbage).collect();
    let mut read = File::default();
    if let Some(span) = lexed.open {
        // What the comment hides would only seem to be missing.
        found.push((CatErrorKind::OpenComment, span));
    } else if found.is_empty() && lexed.tokens.is_empty() {
        found.push((CatErrorKind::Empty, Span::default()));
    } else {
        let mut reader = Reader::new(text, lexed.tokens, Nesting::default());
        reader.tell(true);
        read = reader.file();
        // What stands behind characters that are no token would only seem not to fit.
        let garbage: Vec<u32> = found.iter().map(|(_, span)| span.end).collect();
        let after =
            |start: u32| garbage.iter().any(|end| *end <= start && Span::new(*end, start).of(text).trim().is_empty());
        found.extend(reader.errors.drain(..).filter(|(_, span)| !after(span.start)));
    }
    let found = in_order(found, MAX_ERRORS, CatErrorKind::TooMany);
    (read, found.into_iter().map(at).collect())
}

impl Reader<'_> {
    /// What is told of the furthest token that did not fit.
    fn complaint(&mut self) -> Wrong<Kind> {
        if let Some(span) = self.state.deep.take() {
            return (CatErrorKind::TooDeep, span);
        }
        let (at, expected) = self.stuck();
        let token = self.tokens.get(at);
        let end = u32::try_from(self.text.trim_end().len()).unwrap_or(u32::MAX);
        let kind = CatErrorKind::Unexpected { expected, end: token.is_none() };
        (kind, token.map_or(Span::new(end, end), |t| t.span))
    }

    fn is_keyword(&self, token: Token) -> bool {
        token.kind == Kind::Word && KEYWORDS.contains(&self.str(token))
    }

    fn name(&mut self) -> Option<Ident> {
        let token = self.take(Expected::Name, |r, t| t.kind == Kind::Word && !r.is_keyword(t))?;
        Some(Ident { name: self.str(token).to_owned(), span: token.span })
    }

    /// A text, without its quotation marks.
    fn quoted(&mut self) -> Option<Ident> {
        let token = self.is(Kind::Text)?;
        Some(Ident { name: self.str(token).trim_matches('"').to_owned(), span: token.span })
    }

    /// A name, perhaps in quotation marks.
    fn label(&mut self) -> Option<Ident> {
        if self.kind() == Some(Kind::Text) { self.quoted() } else { self.name() }
    }

    /// What stands after `as`.
    fn renamed(&mut self) -> Option<Option<Ident>> {
        if self.word("as").is_some() { self.label().map(Some) } else { Some(None) }
    }

    fn file(&mut self) -> File {
        let titled = self.token().is_some_and(|t| matches!(t.kind, Kind::Word | Kind::Text) && !self.is_keyword(t));
        let mut file = File { title: titled.then(|| self.label()).flatten(), statements: Vec::new() };
        while self.token().is_some() {
            let read = self.recover(
                |r| r.labelled(Expected::Statement, |r| r.placed(Self::statement)),
                Self::complaint,
                |r| {
                    // A keyword in the place of a name begins no statement.
                    let name = |kind: &CatErrorKind| matches!(kind, CatErrorKind::Unexpected { expected, .. } if expected.contains(&Expected::Name));
                    let from = r.errors.last().map_or(0, |(kind, span)| if name(kind) { span.end } else { span.start });
                    r.skip_to(|r, t| t.span.start >= from && t.kind == Kind::Word && STARTS.contains(&r.str(t)));
                },
            );
            file.statements.extend(read);
        }
        file
    }

    fn statement(&mut self) -> Option<StatementKind> {
        if self.word("let").is_some() {
            return self.definitions().map(StatementKind::Let);
        }
        if self.word("include").is_some() {
            return self.quoted().map(StatementKind::Include);
        }
        if self.word("show").is_some() {
            return self.list(Kind::Comma, |r| Some((r.expr()?, r.renamed()?))).map(StatementKind::Show);
        }
        if self.word("unshow").is_some() {
            return self.list(Kind::Comma, Self::name).map(StatementKind::Unshow);
        }
        self.check().map(StatementKind::Check)
    }

    fn check(&mut self) -> Option<Check> {
        let flag = self.word("flag").is_some();
        let unless = !flag && self.word("undefined_unless").is_some();
        let tilde = self.is(Kind::Tilde).is_some();
        let claim = |r: &Self, t: Token| CLAIMS.iter().find(|(word, _)| *word == r.str(t)).map(|(_, claim)| *claim);
        let token = self.take(Expected::Claim, |r, t| claim(r, t).is_some())?;
        let claim = claim(self, token)?;
        let (of, name) = (self.expr()?, self.renamed()?);
        let role = if flag || unless { Role::Flag } else { Role::Axiom };
        // `undefined_unless` says what should be so, `flag` what should not.
        Some(Check { role, negated: tilde != unless, claim, of, name })
    }

    /// What follows `let`.
    fn definitions(&mut self) -> Option<Let> {
        let recursive = self.word("rec").is_some();
        let mut definitions = vec![self.definition()?];
        while self.word("and").is_some() {
            definitions.push(self.definition()?);
        }
        Some(Let { recursive, definitions })
    }

    fn definition(&mut self) -> Option<Definition> {
        let name = self.name()?;
        let parameters = self.after(Kind::LParen, |r| r.until(Kind::Comma, Kind::RParen, Self::name))?;
        self.is(Kind::Eq)?;
        Some(Definition { name, parameters, body: self.expr()? })
    }

    /// What a rule reads one level deeper.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.state.depth >= MAX_NESTING {
            return self.too_deep();
        }
        self.state.depth += 1;
        let read = rule(self);
        self.state.depth -= 1;
        read
    }

    fn too_deep<T>(&mut self) -> Option<T> {
        let span = self.token().map_or(Span::default(), |t| t.span);
        self.state.deep.get_or_insert(span);
        None
    }

    fn expr(&mut self) -> Option<Expr> {
        self.nested(|r| {
            r.chain(Infix::Union, |r| {
                r.chain(Infix::Sequence, |r| {
                    r.chain(Infix::Difference, |r| r.chain(Infix::Intersection, Self::negated))
                })
            })
        })
    }

    /// Some that bind more tightly, with an operator between.
    fn chain(&mut self, operator: Infix, part: fn(&mut Self) -> Option<Expr>) -> Option<Expr> {
        let mark = match operator {
            Infix::Union => Kind::Bar,
            Infix::Sequence => Kind::Semi,
            Infix::Difference => Kind::Backslash,
            Infix::Intersection => Kind::Amp,
        };
        let from = self.at;
        let first = part(self)?;
        if self.kind() != Some(mark) {
            return Some(first);
        }
        let mut list = vec![first];
        while self.kind() == Some(mark) {
            self.at += 1;
            list.push(part(self)?);
        }
        Some(Placed { kind: ExprKind::Chain(operator, list), span: self.since(from) })
    }

    fn negated(&mut self) -> Option<Expr> {
        if !matches!(self.kind(), Some(Kind::Tilde | Kind::Bang)) {
            return self.postfix();
        }
        let from = self.at;
        self.at += 1;
        let inner = self.nested(Self::negated)?;
        Some(Placed { kind: ExprKind::Not(Box::new(inner)), span: self.since(from) })
    }

    /// An operand with products and what stands behind it, from left to right: `A * B+` is `(A * B)+`.
    fn postfix(&mut self) -> Option<Expr> {
        let from = self.at;
        let mut read = self.primary()?;
        for behind in 0.. {
            let operator = match self.kind() {
                Some(Kind::Star) if self.begins_operand() => None,
                Some(Kind::Star | Kind::CaretStar) => Some(Postfix::Star),
                Some(Kind::Plus | Kind::CaretPlus) => Some(Postfix::Plus),
                Some(Kind::Inverse | Kind::CaretInverse) => Some(Postfix::Inverse),
                Some(Kind::Query) => Some(Postfix::Optional),
                Some(Kind::Square) => Some(Postfix::Square),
                _ => break,
            };
            if behind >= MAX_POSTFIX {
                return self.too_deep();
            }
            self.at += 1;
            let kind = match operator {
                Some(operator) => ExprKind::Postfix(Box::new(read), operator),
                None => {
                    let complement = matches!(self.kind(), Some(Kind::Tilde | Kind::Bang));
                    let right = if complement { self.negated() } else { self.primary() };
                    ExprKind::Product(Box::new(read), Box::new(right?))
                }
            };
            read = Placed { kind, span: self.since(from) };
        }
        self.miss::<()>(Expected::Operator);
        Some(read)
    }

    /// Whether an operand follows the next token, which is a `*`: then it is a product. A claim's `~` is no operand's.
    fn begins_operand(&mut self) -> bool {
        let operand = |r: &Self, t: Token| match t.kind {
            Kind::LParen | Kind::LBracket | Kind::Universe => true,
            Kind::Word => !r.is_keyword(t),
            _ => false,
        };
        let mut behind = 1;
        while self.peek(behind).is_some_and(|t| matches!(t.kind, Kind::Tilde | Kind::Bang)) {
            behind += 1;
        }
        self.peek(behind).is_some_and(|t| operand(self, t))
    }

    fn primary(&mut self) -> Option<Expr> {
        self.labelled(Expected::Expression, |r| r.placed(Self::operand))
    }

    fn operand(&mut self) -> Option<ExprKind> {
        match self.kind() {
            Some(Kind::Universe) => {
                self.at += 1;
                Some(ExprKind::Universe)
            }
            Some(Kind::LParen) => self.between(Kind::LParen, Kind::RParen, Self::expr).map(|inner| inner.kind),
            Some(Kind::LBracket) => {
                let inner = self.between(Kind::LBracket, Kind::RBracket, Self::expr)?;
                Some(ExprKind::Identity(Box::new(inner)))
            }
            _ if self.word("let").is_some() => {
                let definitions = self.definitions()?;
                self.word("in")?;
                Some(ExprKind::Let(definitions, Box::new(self.expr()?)))
            }
            _ => {
                let name = self.name()?;
                if self.kind() != Some(Kind::LParen) {
                    return Some(ExprKind::Name(name.name));
                }
                self.at += 1;
                let arguments = self.until(Kind::Comma, Kind::RParen, Self::expr)?;
                Some(ExprKind::Call(name, arguments))
            }
        }
    }
}
