//! Declared names and their scopes (step 7 of the report's 5.1.3, listing 5.4): a name is visible from its declaration to
//! the end of its block, an inner one hides an outer one, and a label is visible in the whole of its block.
//!
//! Checking keeps types by it, lowering places: what a name means is their parameter. Registers of a range such as
//! `%r<100>` are one symbol.

use crate::base::Span;
use crate::ptx::tree::{Ident, Name, Names, Stmt};

/// A symbol's number in a [`Scopes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SymbolId(pub u32);

/// What a name can stand for.
pub trait Meaning: Copy {
    /// How many registers, where it is a range of them.
    fn range(self) -> Option<u32>;
}

/// A declared name.
#[derive(Clone, Debug)]
pub struct Symbol<K> {
    /// What it is.
    pub kind: K,
    /// Where it was declared.
    pub span: Span,
    depth: u32,
}

const NONE: u32 = u32::MAX;

/// All names that are visible now.
#[derive(Debug)]
pub struct Scopes<K> {
    symbols: Vec<Symbol<K>>,
    /// By name: the innermost symbol of exactly that name, and the innermost range with that prefix.
    exact: Vec<u32>,
    ranges: Vec<u32>,
    /// By name: the prefix and number it has as a member of a range, once worked out.
    split: Vec<Option<(u32, u32)>>,
    /// What to restore at the end of a block.
    undo: Vec<(bool, u32, u32)>,
    marks: Vec<usize>,
}

impl<K: Meaning> Scopes<K> {
    /// No names yet; `names` is the module's table.
    #[must_use]
    pub fn new(names: &Names) -> Self {
        let n = names.len();
        Self {
            symbols: Vec::new(),
            exact: vec![NONE; n],
            ranges: vec![NONE; n],
            split: vec![None; n],
            undo: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Enters a block.
    pub fn open(&mut self) {
        self.marks.push(self.undo.len());
    }

    /// Leaves a block and forgets its names.
    pub fn close(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        while self.undo.len() > mark {
            if let Some((range, name, old)) = self.undo.pop() {
                let table = if range { &mut self.ranges } else { &mut self.exact };
                if let Some(entry) = table.get_mut(name as usize) {
                    *entry = old;
                }
            }
        }
    }

    /// How many blocks are open.
    #[must_use]
    pub fn depth(&self) -> u32 {
        u32::try_from(self.marks.len()).unwrap_or(u32::MAX)
    }

    /// The symbol of a number.
    #[must_use]
    pub fn symbol(&self, id: SymbolId) -> &Symbol<K> {
        &self.symbols[id.0 as usize]
    }

    /// Forgets the symbols of a function, all of whose blocks are closed, where there are none outside of it.
    pub fn clear(&mut self) {
        self.symbols.clear();
    }

    /// Declares a name in the innermost block.
    ///
    /// # Errors
    /// The symbol of the same block that has the name already; the new one is not declared then.
    pub fn declare(&mut self, names: &Names, name: Name, span: Span, kind: K) -> Result<SymbolId, SymbolId> {
        let depth = self.depth();
        let range = kind.range().is_some();
        let old = match kind.range() {
            Some(count) => self.get(&self.ranges, name).or_else(|| self.member_here(names, name, count)),
            None => self.lookup_id(names, name),
        };
        if let Some(old) = old
            && self.symbol(old).depth == depth
        {
            return Err(old);
        }
        let id = u32::try_from(self.symbols.len()).unwrap_or(NONE);
        self.symbols.push(Symbol { kind, span, depth });
        let table = if range { &mut self.ranges } else { &mut self.exact };
        if let Some(entry) = table.get_mut(name.0 as usize) {
            self.undo.push((range, name.0, *entry));
            *entry = id;
        }
        Ok(SymbolId(id))
    }

    fn get(&self, table: &[u32], name: Name) -> Option<SymbolId> {
        table.get(name.0 as usize).filter(|id| **id != NONE).map(|id| SymbolId(*id))
    }

    /// The number of the symbol that a name stands for here.
    pub fn lookup_id(&mut self, names: &Names, name: Name) -> Option<SymbolId> {
        let exact = self.get(&self.exact, name);
        let (prefix, number) = match self.split.get(name.0 as usize).copied().flatten() {
            Some(split) => split,
            None => {
                let split = split(names, name);
                if let Some(entry) = self.split.get_mut(name.0 as usize) {
                    *entry = Some(split);
                }
                split
            }
        };
        if prefix == NONE {
            return exact;
        }
        let mut range = self.range_with(Name(prefix), number);
        if exact.is_none() && range.is_none() {
            // A prefix may itself end in digits: `%r1<10>` has `%r10` to `%r19`.
            let text = names.text(name);
            let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
            for cut in text.len() - digits + 1..text.len() {
                let (Some(prefix), Ok(number)) = (names.find(&text[..cut]), text[cut..].parse()) else { continue };
                range = range.or_else(|| self.range_with(prefix, number));
            }
        }
        match (exact, range) {
            (Some(e), Some(r)) if self.symbol(e).depth < self.symbol(r).depth => Some(r),
            (Some(e), _) => Some(e),
            (None, r) => r,
        }
    }

    /// A name of the innermost block that a range would contain.
    fn member_here(&self, names: &Names, prefix: Name, count: u32) -> Option<SymbolId> {
        let here = self.undo.get(self.marks.last().copied().unwrap_or(0)..)?;
        let single = here.iter().filter(|(range, ..)| !range).map(|(_, name, _)| Name(*name));
        let member = single.into_iter().find(|n| {
            let digits =
                names.text(*n).strip_prefix(names.text(prefix)).filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
            digits.and_then(|d| d.parse::<u32>().ok()).is_some_and(|number| number < count)
        })?;
        self.get(&self.exact, member)
    }

    fn range_with(&self, prefix: Name, number: u32) -> Option<SymbolId> {
        self.get(&self.ranges, prefix).filter(|id| self.symbol(*id).kind.range().is_some_and(|count| number < count))
    }

    /// The symbol that a name stands for here.
    pub fn lookup(&mut self, names: &Names, name: Name) -> Option<&Symbol<K>> {
        self.lookup_id(names, name).map(|id| self.symbol(id))
    }

    /// The register range that a name would belong to if it were long enough: (its declaration, its count).
    #[must_use]
    pub fn short_range(&self, name: Name) -> Option<(&Symbol<K>, u32)> {
        let (prefix, _) = self.split.get(name.0 as usize).copied().flatten().filter(|s| s.0 != NONE)?;
        let symbol = self.symbol(self.get(&self.ranges, Name(prefix))?);
        symbol.kind.range().map(|count| (symbol, count))
    }
}

/// `%r12` → the name `%r` and 12; `(NONE, 0)` where no name is the prefix.
fn split(names: &Names, name: Name) -> (u32, u32) {
    let text = names.text(name);
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (prefix, number) = text.split_at(text.len() - digits);
    match (names.find(prefix), number.parse()) {
        (Some(prefix), Ok(number)) if digits > 0 => (prefix.0, number),
        _ => (NONE, 0),
    }
}

/// The labels of each block, in the order in which the blocks open; the body itself is block 0.
pub fn labels(body: &[Stmt]) -> Vec<Vec<Ident>> {
    let mut blocks = vec![Vec::new()];
    let mut stack = vec![0];
    for stmt in body {
        match stmt {
            Stmt::Open => {
                stack.push(blocks.len());
                blocks.push(Vec::new());
            }
            Stmt::Close if stack.len() > 1 => {
                stack.pop();
            }
            Stmt::Label(ident) => {
                if let Some(block) = stack.last() {
                    blocks[*block].push(*ident);
                }
            }
            _ => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Kind {
        Register(Option<u32>),
        Label,
    }

    impl Meaning for Kind {
        fn range(self) -> Option<u32> {
            if let Self::Register(count) = self { count } else { None }
        }
    }

    fn register(count: Option<u32>) -> Kind {
        Kind::Register(count)
    }

    #[test]
    fn inner_names_hide_outer_ones_until_the_block_ends() {
        let mut names = Names::default();
        let (r, r3, r9) = (names.intern("%r"), names.intern("%r3"), names.intern("%r9"));
        let mut scopes = Scopes::new(&names);
        scopes.open();
        assert!(scopes.declare(&names, r, Span::new(0, 1), register(Some(4))).is_ok());
        assert!(scopes.lookup(&names, r3).is_some());
        assert!(scopes.lookup(&names, r9).is_none());
        assert_eq!(scopes.short_range(r9).map(|(_, n)| n), Some(4));
        assert!(scopes.declare(&names, r3, Span::new(1, 2), register(None)).is_err());
        scopes.open();
        assert!(scopes.declare(&names, r3, Span::new(1, 2), Kind::Label).is_ok());
        assert_eq!(scopes.lookup(&names, r3).map(|s| s.kind), Some(Kind::Label));
        scopes.close();
        assert_eq!(scopes.lookup(&names, r3).map(|s| s.kind), Some(register(Some(4))));
    }
}
