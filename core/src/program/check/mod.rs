//! Step 1 of loading (report, 5.1.3): reject what ptxas rejects, accept what it accepts.
//!
//! The rules are those of the PTX ISA where it is clear and ptxas's own where it is not: modifiers come in any order,
//! untyped and integer registers mix, a constant may be larger than its operand. Targets and versions that ptxas has
//! dropped are accepted. Nothing here changes the tree; the complaints come in source order and all at once.

mod call;
mod copies;
mod error;
mod fragment;
mod function;
mod instruction;
mod matrix;
mod needs;
mod operand;
mod scope;
mod section;
mod similar;
#[cfg(test)]
mod tests;
mod texture;
mod variable;
mod version;
mod video;

pub use error::{CheckError, Expected, Found, Problem};
pub use scope::{ParamKind, Symbol, SymbolKind};
pub use version::HIGHEST;

use crate::base::Span;
use crate::program::forms::{Need, Types};
use crate::program::select::Selected;
use crate::ptx::tree::{Debugging, Item, Linkage, Module, Name, Names, REMOTE};
use crate::ptx::{Modifier, Opcode};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use scope::Scopes;

/// What checking found out about a module.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// `.version`.
    pub version: (u16, u16),
    /// The number after `sm_`.
    pub sm: u16,
    /// The letter behind it, `a` or `f`.
    pub suffix: Option<char>,
    /// 32 or 64; 64 where the module does not say.
    pub address_bits: u32,
    /// Functions and prototypes of functions by name.
    pub functions: IndexMap<Name, Signature, FxBuildHasher>,
    /// What instructions are, each once.
    pub typed: Vec<Typed>,
    /// By instruction, in source order: its index in `typed`; none where no form fits.
    pub instructions: Vec<u32>,
    /// By item of the module: how many instructions come before it.
    pub items: Vec<usize>,
}

impl Checked {
    /// What an instruction is, by its number in source order; `None` where no form fits.
    #[must_use]
    pub fn typed(&self, instruction: usize) -> Option<&Typed> {
        self.typed.get(*self.instructions.get(instruction)? as usize)
    }
}

/// What an instruction is: all that lowering needs to know of its opcode and modifiers beside the modifiers themselves.
#[derive(Clone, Debug)]
pub struct Typed {
    /// Its types, in order.
    pub types: Types,
    /// The operation that it stands for, where it computes registers from registers.
    pub selected: Option<Selected>,
}

/// A function's parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Whether it is a kernel.
    pub entry: bool,
    /// Whether it has a body.
    pub defined: bool,
    /// `.extern`.
    pub external: bool,
    /// Return parameters.
    pub returns: Vec<Parameter>,
    /// Parameters.
    pub params: Vec<Parameter>,
    /// The name in the head.
    pub span: Span,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its element type.
    pub ty: Modifier,
    /// Elements of a vector register, else 1.
    pub lanes: u8,
    /// Whether it is an array.
    pub array: bool,
    /// Its size in bytes; 0 for an array without a size.
    pub bytes: u64,
    /// Its alignment in bytes.
    pub align: u32,
    /// `.reg` rather than `.param`.
    pub register: bool,
}

/// Checks a module.
#[must_use]
pub fn check(module: &Module) -> (Checked, Vec<CheckError>) {
    let mut checker = Checker::new(module);
    checker.header();
    for item in &module.items {
        checker.checked.items.push(checker.checked.instructions.len());
        match item {
            Item::Variable(variable) => checker.module_variable(variable),
            Item::Function(function) => checker.function(function),
            Item::Alias { alias, aliasee, .. } => checker.alias(*alias, *aliasee),
            Item::Debug(Debugging::Section { body, span, .. }) => checker.section(body, *span),
            Item::Debug(Debugging::Pragma { texts, span }) => checker.pragma(texts, *span, false),
            Item::Version { .. } | Item::Target { .. } | Item::AddressSize { .. } | Item::Debug(_) => {}
        }
    }
    (checker.checked, checker.errors)
}

/// The state of a check.
struct Checker<'m> {
    module: &'m Module,
    names: &'m Names,
    scopes: Scopes,
    checked: Checked,
    errors: Vec<CheckError>,
    /// `.callprototype`s and `.calltargets` of the function at hand.
    prototypes: Vec<Signature>,
    call_targets: Vec<Vec<Name>>,
    cache: instruction::Cache,
    /// How many similar names may still be looked for: a search costs a pass over all names.
    searches: u32,
    /// Linkage of module variables, for redeclarations.
    linkage: rustc_hash::FxHashMap<Name, Option<Linkage>>,
    /// Bytes of `.const` variables of the module so far, and of `.local` variables of the function at hand.
    taken: variable::Taken,
}

impl<'m> Checker<'m> {
    fn new(module: &'m Module) -> Self {
        Self {
            module,
            names: &module.names,
            scopes: Scopes::new(&module.names),
            checked: Checked { address_bits: 64, ..Checked::default() },
            errors: Vec::new(),
            prototypes: Vec::new(),
            call_targets: Vec::new(),
            cache: instruction::Cache::default(),
            searches: 20,
            linkage: rustc_hash::FxHashMap::default(),
            taken: variable::Taken::default(),
        }
    }

    fn error(&mut self, kind: Problem, span: Span) {
        self.errors.push(CheckError::new(kind, span));
    }

    fn text(&self, name: Name) -> String {
        self.names.text(name).to_owned()
    }

    /// What a name stands for here.
    fn kind_of(&mut self, name: Name) -> Option<SymbolKind> {
        self.scopes.lookup(self.names, name).map(|symbol| symbol.kind)
    }

    /// Where a name was declared.
    fn declared_at(&mut self, name: Name) -> Option<Span> {
        self.scopes.lookup(self.names, name).map(|symbol| symbol.span)
    }

    fn opcode(&self, opcode: Opcode) -> String {
        opcode.text(self.names).to_owned()
    }

    fn word(&self, modifier: Modifier) -> String {
        format!(".{}", modifier.text(self.names))
    }

    /// A pragma that names us is one of ours, and stands where it has an effect (`marks`: an instruction can follow); others are
    /// other tools'.
    fn pragma(&mut self, texts: &[String], span: Span, marks: bool) {
        for text in texts.iter().filter(|text| text.trim_start().to_ascii_lowercase().starts_with("warpstep")) {
            if text != REMOTE {
                self.error(Problem::UnknownPragma { text: text.clone() }, span);
            } else if !marks {
                let why = "it marks the next instruction of a function's body, and stands outside";
                self.error(Problem::Directive { name: format!(".pragma \"{REMOTE}\""), why }, span);
            }
        }
    }

    /// `.version`, `.target` and `.address_size` come first, in this order, each once.
    fn header(&mut self) {
        let start = Span::new(0, 0);
        let items = &self.module.items;
        match items.first() {
            Some(Item::Version { major, minor, span }) => {
                self.checked.version = (*major, *minor);
                if !version::version_exists((*major, *minor)) {
                    self.error(Problem::UnknownVersion { version: format!("{major}.{minor}") }, *span);
                }
            }
            // The parser has complained.
            _ => self.checked.version = version::LATEST,
        }
        match items.get(1) {
            Some(Item::Target { names, span }) => self.target(names, *span),
            _ => {
                self.error(Problem::NoTarget, start);
                self.checked.sm = 90;
            }
        }
        for (index, item) in items.iter().enumerate().skip(1) {
            match item {
                Item::Version { span, .. } => self.error(Problem::Misplaced { directive: ".version" }, *span),
                Item::AddressSize { bits, span } => {
                    let first = items[..index].iter().all(|i| matches!(i, Item::Version { .. } | Item::Target { .. }));
                    if !first {
                        self.error(Problem::Misplaced { directive: ".address_size" }, *span);
                    }
                    match bits {
                        32 | 64 => self.checked.address_bits = *bits,
                        _ => self.error(Problem::AddressSize { bits: *bits }, *span),
                    }
                }
                _ => {}
            }
        }
    }

    fn target(&mut self, names: &[crate::ptx::tree::Ident], span: Span) {
        let mut known = false;
        for ident in names {
            let name = self.names.text(ident.name);
            match version::target(name) {
                Some((sm, ptx)) => {
                    self.checked.sm = sm;
                    self.checked.suffix = name.chars().last().filter(char::is_ascii_lowercase);
                    if self.checked.version < ptx {
                        let problem = self.lacks(format!("target {name}"), Need::new(ptx, sm));
                        self.error(problem, ident.span);
                    }
                }
                None if version::PLATFORM.contains(&name) => continue,
                None => {
                    self.error(Problem::UnknownTarget { target: name.to_owned() }, ident.span);
                    self.checked.sm = 90;
                }
            }
            known = true;
        }
        if !known {
            self.error(Problem::NoTarget, span);
            self.checked.sm = 90;
        }
    }

    fn alias(&mut self, alias: crate::ptx::tree::Ident, aliasee: crate::ptx::tree::Ident) {
        for ident in [alias, aliasee] {
            if !self.checked.functions.contains_key(&ident.name) {
                self.undeclared(ident.name, ident.span);
            }
        }
    }

    /// Declares a name, or complains that the block has it already.
    fn declare(&mut self, name: Name, span: Span, kind: SymbolKind) {
        if let Err(old) = self.scopes.declare(self.names, name, span, kind) {
            let other = self.scopes.symbol(old).span;
            self.errors.push(CheckError::with(Problem::Duplicate { name: self.text(name) }, span, other));
        }
    }

    /// Complains about a name that is not declared here.
    fn undeclared(&mut self, name: Name, span: Span) {
        let range = self.scopes.short_range(name).map(|(symbol, count)| (symbol.span, count));
        let similar = if range.is_none() && self.searches > 0 {
            self.searches -= 1;
            similar::name(&mut self.scopes, self.names, name)
        } else {
            None
        };
        let kind = Problem::Undeclared { name: self.text(name), similar, range: range.map(|r| r.1) };
        self.errors.push(CheckError { kind, span, other: range.map(|r| r.0) });
    }
}
