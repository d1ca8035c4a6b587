//! What can be wrong with a cat file.

use super::names::{KEYWORDS, Sort};
use crate::base::{END, FileId, Span, Wording, complaints, counted, either, meant, phrases};

/// The most complaints that are kept for one model.
pub const MAX_ERRORS: usize = 100;

/// The deepest nesting of parentheses, brackets, negations and `let … in` in an expression.
pub const MAX_NESTING: usize = 64;

/// The most operators behind one operand, products among them.
pub const MAX_POSTFIX: usize = 16;

/// How deep expressions and the calls in them may nest once functions are put in their place.
pub const MAX_DEPTH: usize = 400;

/// The most nodes of a model, and of expressions that are looked at to make them, in tens.
pub const MAX_NODES: usize = 100_000;

/// The most files that a model may include, each time counted.
pub const MAX_FILES: usize = 64;

/// A complaint about a cat file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CatError {
    /// What is wrong.
    pub kind: CatErrorKind,
    /// The file.
    pub file: FileId,
    /// Where.
    pub span: Span,
    /// Of what stands in a function: the call, outside of functions, with which it is wrong; none where it is wrong anyway.
    pub call: Option<(FileId, Span)>,
}

complaints! {
    /// The kinds of complaints; `here` is the text of the place, fit for a message.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum CatErrorKind(here: &str) {
        /// The text has 4 GiB or more.
        TooLarge => "too-large" ("the file has 4 GiB or more") ("");
        /// There is no axiom or flag, and nothing else.
        Empty =>
            "empty-model" ("the file is empty") ("a memory model is expected")
            ("a model has definitions and axioms, e.g. `acyclic po | rf`");
        /// Characters that start no token.
        Garbage => {
            let wording = Wording::new("bad-character", format!("`{here}` begins no token of cat"), "not expected");
            let meant = match here.chars().next() {
                Some('∪') => Some("`|`"), Some('∩') => Some("`&`"), Some('⁻') => Some("`^-1`"), Some('¬') => Some("`~`"), Some('×') => Some("`*`"), Some('∘') => Some("`;`"),
                _ => None,
            };
            wording.hint_if(meant.map(|word| format!("write {word}")))
        };
        /// A comment that does not end.
        OpenComment =>
            "open-comment" ("a comment is not closed") ("begins here")
            ("add the closing `{}`", if here.starts_with('/') { "*/" } else { "*)" });
        /// A text that does not end on its line.
        OpenText => "open-text" ("a text is not closed") ("begins here") ("add the closing `\"` on the same line");
        /// Something else was expected; what would have fitted, without repetition, and whether the text ends there.
        Unexpected { expected: Vec<Expected>, end: bool } => {
            let found = if *end { END.to_owned() } else { format!("`{here}`") };
            let wording = Wording::unexpected(&found, &either(expected));
            let name = expected.contains(&Expected::Name) && KEYWORDS.contains(&here);
            wording.hint_if(name.then(|| format!("`{here}` is a keyword and no name")))
        };
        /// Nested deeper than [`MAX_NESTING`], with more operators than [`MAX_POSTFIX`], or calls deeper than [`MAX_DEPTH`].
        TooDeep => "too-deep" ("nested too deep") ("the limit is reached here") ("give parts of it names by `let`");
        /// There were more than [`MAX_ERRORS`] complaints.
        TooMany => "too-many" ("more than {MAX_ERRORS} errors: the rest is not shown") ("stopped here");
        /// Functions called within functions make more than [`MAX_NODES`] expressions.
        TooManyNodes =>
            "too-large" ("the model has more than {MAX_NODES} expressions") ("the limit is reached here")
            ("a function is put in the place of each call: let functions call each other less often");
        /// Nothing has this name; a name like it.
        Unknown { near: Option<String> } =>
            "unknown-name" ("there is no set, relation or function `{here}`") ("not defined so far")
            if meant(here, near.as_deref());
        /// A function in whose body it itself is called, perhaps through others.
        CallsItself { name: String } =>
            "endless-function" ("the function `{name}` is defined by itself") ("a call would never end")
            ("a relation can be defined by itself: `let rec r = s | r; s`");
        /// A call with too many or too few arguments.
        Arguments { name: String, wanted: usize, found: usize } =>
            "arguments" ("`{name}` takes {}, not {found}", counted(*wanted as u64, "argument")) ("too many or too few");
        /// A function without arguments where a set or relation is needed.
        FunctionAsValue { parameters: Vec<String> } =>
            "function-as-value" ("`{here}` is a function, not a set or relation") ("it is not called")
            ("call it: `{here}({})`", parameters.join(", "));
        /// A set or relation that is called.
        NotFunction { name: String, sort: Sort } =>
            "not-a-function" ("`{name}` is {}, not a function", sort.told()) ("called here");
        /// A set where an operator needs a relation.
        WantsRelation { by: &'static str } =>
            "type" ("`{here}` is a set, `{by}` needs a relation") ("a set")
            ("`[S]` is the relation of each event of `S` with itself, `S * S` that of each with each");
        /// A relation where an operator needs a set.
        WantsSet { by: &'static str } =>
            "type" ("`{here}` is a relation, `{by}` needs a set") ("a relation")
            ("`domain(r)` is the set of the events that `r` begins with, `range(r)` that of those it ends with");
        /// A set and a relation that an operator cannot join; what stands before.
        Mixed { by: &'static str, before: Sort } => {
            let (set, other) = match before {
                Sort::Set => ("a relation", "a set"),
                Sort::Relation => ("a set", "a relation"),
            };
            Wording::new("type", format!("`{by}` joins {other} and {set}"), format!("{set}; what stands before is {other}"))
                .hint("`[S]` is the relation of each event of `S` with itself, `S * S` that of each with each")
        };
        /// A definition by itself in which more of it may mean less.
        NotMonotone { by: &'static str } =>
            "not-monotone" ("a recursive definition takes away what it defines") ("this is removed by `{by}`")
            ("there may be no least relation that is equal to its definition");
        /// A recursive name that would be a set.
        RecursiveSet { name: String } =>
            "recursive-set" ("the recursive definition of `{name}` is a set") ("a set")
            ("only relations are defined by themselves: define `[{name}]`, and take its `range`");
        /// A `let rec` inside another that depends on that.
        NestedRecursion =>
            "nested-recursion" ("a recursive definition depends on another one that it is inside of") ("both are used here")
            ("define them together: `let rec a = … and b = …`");
        /// One `let` defines a name twice, or a function has two parameters of a name; the first place.
        Twice(first: Span) => "defined-twice" ("`{here}` is defined twice at once") ("again") ("give one of them another name");
        /// A file that cannot be included, with the reason.
        Include { reason: String } => "include" ("{here} cannot be included: {reason}") ("included here");
        /// A file that includes itself.
        IncludesItself => "include-circle" ("{here} includes itself, perhaps through others") ("again") ("remove the `include`");
        /// More than [`MAX_FILES`] files.
        TooManyFiles => "too-many-files" ("more than {MAX_FILES} files are included") ("the limit is reached here");
    }
}

phrases! {
    /// What would have fitted.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
    pub enum Expected {
        /// A fixed token or word.
        Token(text: &'static str) => ("`{text}`");
        /// A statement.
        Statement => ("a statement such as `let x = e` or `acyclic e`");
        /// What is claimed.
        Claim => ("`acyclic`, `irreflexive` or `empty`");
        /// An expression.
        Expression => ("a set or a relation");
        /// An operator.
        Operator => ("an operator");
        /// A name.
        Name => ("a name");
        /// A text.
        Text => ("a text such as `\"file.cat\"`");
    }
}
