//! The syntax tree.
//!
//! The tree is what was written: names are interned but not resolved, constant expressions are kept, nothing is
//! checked against an instruction's rules. Blocks are markers in a flat statement list, so that no depth of nesting
//! can exhaust the stack of whoever walks or drops the tree.

#![allow(missing_docs, reason = "fields of variants are named as the PTX ISA names them")]

use super::words::{Modifier, Opcode};
pub use super::words::{Name, Names};
use crate::base::{Placed, Span, words};
use smallvec::SmallVec;

/// A name where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The interned text.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// One PTX module: a `.ptx` file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Every name that occurs.
    pub names: Names,
    /// The items in source order.
    pub items: Vec<Item>,
}

/// A module-level item.
#[derive(Clone, Debug)]
pub enum Item {
    /// `.version 8.0`
    Version { major: u16, minor: u16, span: Span },
    /// `.target sm_80, texmode_independent`
    Target { names: Vec<Ident>, span: Span },
    /// `.address_size 64`
    AddressSize { bits: u32, span: Span },
    /// A variable at module scope.
    Variable(Variable),
    /// An `.entry` or `.func`, declared or defined.
    Function(Box<Function>),
    /// `.alias f, g;`
    Alias { alias: Ident, aliasee: Ident, span: Span },
    /// `.file`, `.section`, `.pragma`, `@@DWARF …`, `.noreturn`-like directives kept as text.
    Debug(Debugging),
}

/// Debugging and performance directives that do not change what a kernel computes.
#[derive(Clone, Debug)]
pub enum Debugging {
    /// `.file 1 "a.cu" [, timestamp, size]`
    File { index: u32, path: String, rest: Vec<u64> },
    /// `.loc 1 22 8 [, function_name L [+ n], inlined_at 1 27 30]`
    Loc(Loc),
    /// `.pragma "nounroll", …;`
    Pragma { texts: Vec<String>, span: Span },
    /// `.section .debug_x { … }`: its name with the dot, and the text between its braces. The span covers the whole.
    Section { name: String, body: String, span: Span },
    /// An `@@DWARF …` line of old compilers.
    Dwarf(String),
}

/// The pragma that marks the next instruction as a remote access (D-rsp-ptx-remote).
pub const REMOTE: &str = "warpstep remote";

/// A `.loc` directive: the CUDA source place of the instructions that follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loc {
    /// The index of a `.file` directive.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1 (0: unknown).
    pub column: u32,
    /// `function_name`: the label of the inlined function's name and an offset.
    pub function: Option<(Name, u32)>,
    /// `inlined_at file line column`.
    pub inlined_at: Option<(u32, u32, u32)>,
    /// The directive.
    pub span: Span,
}

words! {
    /// How a name is seen by other modules.
    pub enum Linkage {
        Visible = ".visible",
        Extern = ".extern",
        Weak = ".weak",
        Common = ".common",
    }
}

words! {
    /// State spaces (PTX ISA 5.1). `Generic` is the absence of one.
    pub enum StateSpace {
        Reg = ".reg",
        Sreg = ".sreg",
        Const = ".const",
        Global = ".global",
        Local = ".local",
        Param = ".param",
        Shared = ".shared",
        Tex = ".tex",
        Generic = ".generic",
    }
}

/// A declaration: `.reg`, `.global`, `.shared`, `.local`, `.const`, `.param`, `.tex` …
#[derive(Clone, Debug)]
pub struct Variable {
    /// `.visible` and the like.
    pub linkage: Option<Linkage>,
    /// The state space.
    pub space: StateSpace,
    /// `.const[2]`: the constant bank (PTX ISA 1.x to 2.1).
    pub bank: Option<u32>,
    /// `.align n`, in bytes.
    pub align: Option<u32>,
    /// `.v2`, `.v4`, `.v8`; absent means scalar.
    pub vector: Option<Modifier>,
    /// `.u32`, `.pred`, `.texref` …
    pub ty: Modifier,
    /// `.ptr .global .align 8` of a kernel parameter.
    pub ptr: Option<PtrAttribute>,
    /// `.attribute(.managed, .unified(…))`, as written.
    pub attributes: Vec<String>,
    /// The declared names.
    pub declarators: SmallVec<[Declarator; 1]>,
    /// From the first directive to the end of the declaration.
    pub span: Span,
}

/// `.ptr`: what a pointer parameter points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PtrAttribute {
    /// The space, when named.
    pub space: Option<StateSpace>,
    /// `.align n`, in bytes, when given.
    pub align: Option<u32>,
}

/// One declared name.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// The name, or the prefix of a range.
    pub ident: Ident,
    /// `%r<10>`: ten names `%r0` … `%r9`.
    pub range: Option<u32>,
    /// Array dimensions, outermost first; `None` for `[]`.
    pub dims: SmallVec<[Option<Expr>; 1]>,
    /// The initialiser.
    pub init: Option<Initialiser>,
}

/// An initialiser of a variable.
#[derive(Clone, Debug)]
pub enum Initialiser {
    /// One value.
    Value(Expr),
    /// A flat list of integer literals `{1, 2, 3}`: the common, large case, kept small.
    Ints(Vec<i64>, Span),
    /// Any other list; lists nest.
    List(Vec<Self>, Span),
    /// `{ addr_mode_0 = wrap, filter_mode = nearest }` of a `.texref`, `.samplerref` or `.surfref`.
    Fields(Vec<(Ident, Expr)>),
}

/// A constant expression (PTX ISA 4.5).
pub type Expr = Placed<ExprKind>;

/// The forms of a constant expression.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// An integer literal: its 64 bits, and whether it is unsigned (suffix `U` or above `i64::MAX`).
    Int { bits: u64, unsigned: bool },
    /// `0f3f800000`: the bits.
    F32(u32),
    /// `0d…` or a decimal literal: the bits.
    F64(u64),
    /// `WARP_SZ`.
    WarpSize,
    /// A variable, label or function.
    Name(Name),
    /// `generic(sym)`.
    Generic(Box<Expr>),
    /// `mask(expr)`: `0xFF(sym)`, a byte of an address.
    Mask(u64, Box<Expr>),
    /// `(.s64)e`, `(.u64)e`.
    Cast { unsigned: bool, of: Box<Expr> },
    /// `-e`, `+e`, `!e`, `~e`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b` …
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
}

words! {
    /// Unary operators of constant expressions.
    pub enum UnaryOp {
        Plus = "+",
        Neg = "-",
        Not = "!",
        BitNot = "~",
    }
}

/// Binary operators of constant expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

/// `.entry` or `.func`.
#[derive(Clone, Debug)]
pub struct Function {
    /// `.visible` and the like.
    pub linkage: Option<Linkage>,
    /// `.entry` rather than `.func`.
    pub entry: bool,
    /// The name.
    pub ident: Ident,
    /// Return parameters (`.func` only).
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.maxntid`, `.reqntid`, `.minnctapersm`, `.maxnreg`, `.noreturn`, `.pragma` …
    pub directives: Vec<FunctionDirective>,
    /// The statements between the outermost braces; absent for a declaration.
    pub body: Option<Vec<Stmt>>,
    /// From the first directive to the `)` or name.
    pub span: Span,
}

/// A directive between a function's head and body.
#[derive(Clone, Debug)]
pub struct FunctionDirective {
    /// Its name without the dot, e.g. `maxntid`.
    pub name: String,
    /// Its numbers.
    pub values: Vec<u32>,
    /// Its strings (`.pragma`).
    pub texts: Vec<String>,
    /// Where it stands.
    pub span: Span,
}

/// A statement of a body. Blocks are the markers [`Stmt::Open`] and [`Stmt::Close`].
#[derive(Clone, Debug)]
pub enum Stmt {
    /// An instruction.
    Instr(Instr),
    /// `L:`
    Label(Ident),
    /// A declaration.
    Variable(Box<Variable>),
    /// `{`
    Open,
    /// `}`
    Close,
    /// `P: .callprototype (.param .b32 _) _ (.param .b64 _);`
    Prototype(Box<Prototype>),
    /// `T: .branchtargets A, B;` or `T: .calltargets f, g;`
    Targets { ident: Ident, call: bool, targets: Vec<Ident> },
    /// `.loc`, `.pragma` and the like.
    Debug(Box<Debugging>),
}

/// `.callprototype`.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// The label.
    pub ident: Ident,
    /// Return parameters.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.noreturn`, `.abi_preserve n` …
    pub directives: Vec<FunctionDirective>,
    /// The whole.
    pub span: Span,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The predicate register.
    pub pred: Ident,
    /// `!`
    pub negated: bool,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instr {
    /// The guard.
    pub guard: Option<Guard>,
    /// The opcode word.
    pub opcode: Opcode,
    /// Where the opcode word and its modifiers stand.
    pub head: Span,
    /// The modifiers in order. A constant bank of PTX ISA 1.x (`ld.const[2].b32`) is the modifier `const[2]`.
    pub mods: SmallVec<[Modifier; 8]>,
    /// The operands in order.
    pub operands: SmallVec<[Operand; 3]>,
    /// From the guard to the semicolon.
    pub span: Span,
}

/// The operands of a `call`.
#[derive(Clone, Copy, Debug)]
pub struct Call<'t> {
    /// Where the results go.
    pub results: &'t [Operand],
    /// What is called.
    pub target: &'t Operand,
    /// The arguments.
    pub arguments: &'t [Operand],
    /// What follows: the prototype or the targets of an indirect call.
    pub rest: &'t [Operand],
}

impl Instr {
    /// The operands as those of `call (results), target, (arguments), table`; none without a target.
    #[must_use]
    pub fn call(&self) -> Option<Call<'_>> {
        let (results, rest) = tuple(&self.operands);
        let (target, rest) = rest.split_first()?;
        let (arguments, rest) = tuple(rest);
        Some(Call { results, target, arguments, rest })
    }
}

/// The list in parentheses that operands begin with, if they do, and the others.
fn tuple(operands: &[Operand]) -> (&[Operand], &[Operand]) {
    match operands {
        [Operand { kind: OperandKind::Tuple(list), .. }, rest @ ..] => (list, rest),
        _ => (&[], operands),
    }
}

/// An operand where it stands.
pub type Operand = Placed<OperandKind>;

/// A list of operands inside an operand. One word wide: operands are most of a tree, and lists are rare.
#[allow(clippy::box_collection, reason = "a boxed slice would be two words and every operand eight bytes longer")]
pub type Operands = Box<Vec<Operand>>;

/// The forms of an operand (PTX ISA 6).
#[derive(Clone, PartialEq, Debug)]
pub enum OperandKind {
    /// A register, variable, label or function.
    Name(Name),
    /// `!p`
    Not(Name),
    /// `-r`: accepted by a few instructions.
    Minus(Name),
    /// `%tid.x`, `%rv0.y`: a component, 0 to 3 (`x y z w` or `r g b a`).
    Member(Name, u8),
    /// A constant expression.
    Const(Box<Expr>),
    /// A plain integer literal: the common constant, kept small.
    Int(i64),
    /// `0f…` literal.
    F32(u32),
    /// `0d…` or decimal literal.
    F64(u64),
    /// `_`
    Sink,
    /// `[base + offset]`
    Address(Box<Address>),
    /// `%r1.b0`, `-%r2.h1`, `%r3.b3210`: the selector or mask of a video instruction.
    Select { name: Name, negated: bool, selector: Modifier },
    /// `{a, b}`
    Vector(Operands),
    /// `(a, b)`: lists of a call.
    Tuple(Operands),
    /// `d|p`
    Pair(Box<(Operand, Operand)>),
    /// `[tex, {x, y}]` and other bracketed lists.
    Bracket(Operands),
    /// `name[3]`: an element of an array or a variable with an index (`brx.idx` tables, old-style addresses).
    Index(Name, Box<Expr>),
}

/// A memory address.
#[derive(Clone, PartialEq, Debug)]
pub struct Address {
    /// The base; absent for an absolute address.
    pub base: Option<Ident>,
    /// The byte offset; absent for zero.
    pub offset: Option<Expr>,
    /// `[a].unified`: the address may be in unified memory.
    pub unified: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modules have millions of these; parsing may take no more than six times the text.
    #[test]
    fn statements_stay_small() {
        assert!(size_of::<Operand>() <= 24 && size_of::<Instr>() <= 144 && size_of::<Stmt>() <= 144);
    }
}
