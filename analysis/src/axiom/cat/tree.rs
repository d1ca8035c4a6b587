//! Cat files as syntax.

use crate::axiom::model::{Claim, Role};
use crate::base::{Placed, Span};

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// A cat file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct File {
    /// What it calls its model, in its first line.
    pub title: Option<Ident>,
    /// Its statements, in order.
    pub statements: Vec<Statement>,
}

/// A statement.
pub type Statement = Placed<StatementKind>;

/// The statements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StatementKind {
    /// `let x = e and f(y) = e`.
    Let(Let),
    /// `acyclic e as n` and its like.
    Check(Check),
    /// `include "f"`: the name of the file.
    Include(Ident),
    /// `show e as n, e`.
    Show(Vec<(Expr, Option<Ident>)>),
    /// `unshow n, n`.
    Unshow(Vec<Ident>),
}

/// Definitions that are made together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Let {
    /// `rec`: they are least fixed points of each other.
    pub recursive: bool,
    /// Each.
    pub definitions: Vec<Definition>,
}

/// A definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// What it defines.
    pub name: Ident,
    /// A function's parameters; none for a set or relation.
    pub parameters: Option<Vec<Ident>>,
    /// What it is equal to.
    pub body: Expr,
}

/// An axiom or a flag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Axiom or flag.
    pub role: Role,
    /// As in [`Axiom`](crate::axiom::Axiom): of a flag, that it is raised where the claim does not hold.
    pub negated: bool,
    /// What is claimed.
    pub claim: Claim,
    /// Of what.
    pub of: Expr,
    /// What stands after `as`.
    pub name: Option<Ident>,
}

/// An expression; one in parentheses has them in its place.
pub type Expr = Placed<ExprKind>;

/// The expressions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExprKind {
    /// A name.
    Name(String),
    /// `_`.
    Universe,
    /// `f(e, e)`.
    Call(Ident, Vec<Expr>),
    /// `[e]`.
    Identity(Box<Expr>),
    /// `~e`.
    Not(Box<Expr>),
    /// `e+` and its like.
    Postfix(Box<Expr>, Postfix),
    /// `e * e`.
    Product(Box<Expr>, Box<Expr>),
    /// `e | e | e` and its like: two or more.
    Chain(Infix, Vec<Expr>),
    /// `let x = e in e`.
    Let(Let, Box<Expr>),
}

impl ExprKind {
    /// Gives every name in it to `each`, bound or not.
    pub(super) fn names<'t>(&'t self, each: &mut impl FnMut(&'t str)) {
        match self {
            Self::Universe => {}
            Self::Name(name) => each(name),
            Self::Call(name, arguments) => {
                each(&name.name);
                arguments.iter().for_each(|argument| argument.kind.names(each));
            }
            Self::Identity(inner) | Self::Not(inner) | Self::Postfix(inner, _) => inner.kind.names(each),
            Self::Product(left, right) => [left, right].into_iter().for_each(|side| side.kind.names(each)),
            Self::Chain(_, list) => list.iter().for_each(|part| part.kind.names(each)),
            Self::Let(made, inner) => {
                made.definitions.iter().for_each(|d| d.body.kind.names(each));
                inner.kind.names(each);
            }
        }
    }
}

/// Operators that stand behind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Postfix {
    /// `*`, `^*`.
    Star,
    /// `+`, `^+`.
    Plus,
    /// `-1`, `^-1`.
    Inverse,
    /// `?`.
    Optional,
    /// `^2` of a set: its product with itself.
    Square,
}

impl Postfix {
    /// How it is written.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Star => "*",
            Self::Plus => "+",
            Self::Inverse => "^-1",
            Self::Optional => "?",
            Self::Square => "^2",
        }
    }
}

/// Operators that stand between.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Infix {
    /// `|`.
    Union,
    /// `;`.
    Sequence,
    /// `\`, from left to right.
    Difference,
    /// `&`.
    Intersection,
}

impl Infix {
    /// How it is written.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Union => "|",
            Self::Sequence => ";",
            Self::Difference => "\\",
            Self::Intersection => "&",
        }
    }
}
