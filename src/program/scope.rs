//! Scoping (step 7 of the report's 5.1.3, listing 5.4): what a name means at a place of a function.
//!
//! A declaration in a block hides outer ones until the block ends. Registers of a range such as `%r<100>` get their
//! slots when they are first used, so that a frame holds no register that its function does not name. Renaming is thus
//! the choice of a slot: two registers of one name in different blocks have different slots.

use super::env::FuncId;
use super::instr::Slot;
use super::ops::Class;
use super::special::SpecialReg;
use crate::ptx::tree::{Name, Names};
use rustc_hash::FxHashMap;

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reg {
    /// Its slot; the first one of a vector or of a 128-bit register.
    pub(super) slot: Slot,
    /// The class of its slots.
    pub(super) class: Class,
    /// 1, 8, 16, 32, 64 or 128 bits of a component.
    pub(super) bits: u8,
    /// Components; 1 for a scalar.
    pub(super) lanes: u8,
}

impl Reg {
    /// A component of a vector register.
    pub(super) fn component(self, index: u8) -> Option<Self> {
        let step = if self.bits == 128 { 2 } else { 1 };
        let slot = Slot(self.slot.0.checked_add(u16::from(index) * step)?);
        (index < self.lanes).then_some(Self { slot, lanes: 1, ..self })
    }
}

/// Where a variable lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Base {
    /// `.global` or `.const`: an index in `ProgEnv::variables`.
    Variable(u32),
    /// `.shared`: an index in the list of shared variables.
    Shared(u32),
    /// `.extern .shared x[]`.
    DynamicShared,
    /// An offset in the function's stack frame.
    Frame(u32),
    /// An offset in local memory: `.local` at module scope.
    Local(u32),
    /// An offset in the parameter area of the entry.
    Param(u32),
}

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Where it lies.
    pub(super) base: Base,
    /// Size in bytes.
    pub(super) bytes: u32,
    /// Size of an element in bytes.
    pub(super) element: u32,
    /// Alignment in bytes.
    pub(super) align: u32,
    /// `.const`.
    pub(super) constant: bool,
}

/// What a name means.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Sym {
    /// Nothing yet.
    None,
    /// A register.
    Reg(Reg),
    /// A special register.
    Special(SpecialReg),
    /// A variable.
    Place(Place),
    /// A function.
    Function(FuncId),
    /// A `.callprototype`: an index in the function's list.
    Prototype(u32),
    /// A `.branchtargets` or `.calltargets` list: an index in the function's list.
    Targets(u32),
}

/// A range of registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// How many.
    pub(super) count: u32,
    /// Bits of a component.
    pub(super) bits: u8,
    /// Components.
    pub(super) lanes: u8,
}

/// The names of one module while its functions are lowered one after another.
pub(super) struct Scope<'t> {
    names: &'t Names,
    /// By name: the innermost meaning within the function.
    local: Vec<Sym>,
    /// What `local` held before each declaration; a block's begin where [`Self::blocks`] says.
    undo: Vec<(Name, Sym)>,
    /// First use of range registers: undone with the function, whatever block it was in.
    outermost: Vec<Name>,
    /// For each open block: its number and its first entry in `undo`.
    blocks: Vec<(u32, usize)>,
    /// For each block of the function: the block around it.
    parents: Vec<u32>,
    ranges: FxHashMap<Name, Range>,
    labels: FxHashMap<(u32, Name), u32>,
}

impl<'t> Scope<'t> {
    pub(super) fn new(names: &'t Names) -> Self {
        Self {
            names,
            local: vec![Sym::None; names.len()],
            undo: Vec::new(),
            outermost: Vec::new(),
            blocks: Vec::new(),
            parents: Vec::new(),
            ranges: FxHashMap::default(),
            labels: FxHashMap::default(),
        }
    }

    /// Starts a function.
    pub(super) fn begin(&mut self) {
        while !self.blocks.is_empty() {
            self.close_any();
        }
        for name in self.outermost.drain(..) {
            if let Some(sym) = self.local.get_mut(name.0 as usize) {
                *sym = Sym::None;
            }
        }
        self.ranges.clear();
        self.labels.clear();
        self.parents.clear();
        self.open();
    }

    /// `{`
    pub(super) fn open(&mut self) {
        let number = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        self.parents.push(self.blocks.last().map_or(0, |b| b.0));
        self.blocks.push((number, self.undo.len()));
    }

    /// `}`; false when only the function's own block is open.
    pub(super) fn close(&mut self) -> bool {
        let inner = self.blocks.len() > 1;
        if inner {
            self.close_any();
        }
        inner
    }

    fn close_any(&mut self) {
        let Some((_, from)) = self.blocks.pop() else { return };
        while self.undo.len() > from {
            if let Some((name, before)) = self.undo.pop()
                && let Some(sym) = self.local.get_mut(name.0 as usize)
            {
                *sym = before;
            }
        }
    }

    /// The number of the innermost open block.
    pub(super) fn block(&self) -> u32 {
        self.blocks.last().map_or(0, |b| b.0)
    }

    /// Whether the function's own block is the innermost one.
    pub(super) fn is_outermost(&self) -> bool {
        self.blocks.len() <= 1
    }

    /// Declares a name in the innermost block.
    pub(super) fn declare(&mut self, name: Name, sym: Sym) {
        if let Some(place) = self.local.get_mut(name.0 as usize) {
            self.undo.push((name, *place));
            *place = sym;
        }
    }

    /// Declares a range in the function's own block.
    pub(super) fn declare_range(&mut self, prefix: Name, range: Range) {
        self.ranges.insert(prefix, range);
    }

    /// The names of a range's registers that occur in the module: an inner block declares these one by one.
    pub(super) fn members(&self, prefix: Name, count: u32) -> Vec<Name> {
        let text = self.names.text(prefix);
        if (count as usize) <= self.names.len() {
            return (0..count).filter_map(|i| self.names.find(&format!("{text}{i}"))).collect();
        }
        let all = (0..u32::try_from(self.names.len()).unwrap_or(u32::MAX)).map(Name);
        all.filter(|name| elements(self.names.text(*name)).any(|(p, i)| p == text && i < count)).collect()
    }

    /// What a name means within the function; `Sym::None` when only an outer scope can tell.
    pub(super) fn get(&self, name: Name) -> Sym {
        self.local.get(name.0 as usize).copied().unwrap_or(Sym::None)
    }

    /// The range that a name is an element of.
    pub(super) fn range_of(&self, name: Name) -> Option<Range> {
        elements(self.names.text(name)).find_map(|(prefix, index)| {
            let range = self.ranges.get(&self.names.find(prefix)?)?;
            (index < range.count).then_some(*range)
        })
    }

    /// Gives a meaning to an element of a range of the function's own block.
    pub(super) fn bind_element(&mut self, name: Name, sym: Sym) {
        if let Some(place) = self.local.get_mut(name.0 as usize) {
            *place = sym;
            self.outermost.push(name);
        }
    }

    /// Defines a label in the innermost block; gives back whether it is new there.
    pub(super) fn label(&mut self, name: Name, at: u32) -> bool {
        self.labels.insert((self.block(), name), at).is_none()
    }

    /// Where a label that was named in a block lies. Blocks may be closed by now.
    pub(super) fn find_label(&self, block: u32, name: Name) -> Option<u32> {
        let mut block = block;
        loop {
            if let Some(at) = self.labels.get(&(block, name)) {
                return Some(*at);
            }
            if block == 0 {
                return None;
            }
            block = *self.parents.get(block as usize)?;
        }
    }
}

/// The ways to read `%r12` as a range's prefix and a number: `%r` and 12, `%r1` and 2. Numbers have no leading zeros.
fn elements(text: &str) -> impl Iterator<Item = (&str, u32)> {
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
    (text.len() - digits..text.len()).filter_map(|at| {
        let (prefix, number) = (text.get(..at)?, text.get(at..)?);
        (number.len() == 1 || !number.starts_with('0')).then_some(())?;
        number.parse().ok().map(|i| (prefix, i))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reg(slot: u16) -> Sym {
        Sym::Reg(Reg { slot: Slot(slot), class: Class::W, bits: 32, lanes: 1 })
    }

    #[test]
    fn blocks_hide_and_give_back() {
        let mut names = Names::default();
        let (a, r3) = (names.intern("a"), names.intern("%r3"));
        let r = names.intern("%r");
        let mut scope = Scope::new(&names);
        scope.begin();
        scope.declare(a, reg(2));
        scope.declare_range(r, Range { count: 4, bits: 32, lanes: 1 });
        scope.open();
        scope.declare(a, reg(3));
        assert!(scope.range_of(r3).is_some());
        scope.bind_element(r3, reg(4));
        assert_eq!(scope.get(a), reg(3));
        assert!(scope.close());
        assert_eq!(scope.get(a), reg(2));
        // An element keeps its slot although an inner block named it first.
        assert_eq!(scope.get(r3), reg(4));
        assert!(!scope.close());
        scope.begin();
        assert_eq!((scope.get(a), scope.get(r3)), (Sym::None, Sym::None));
        assert!(scope.range_of(r3).is_none());
    }

    #[test]
    fn labels_are_found_outwards() {
        let mut names = Names::default();
        let l = names.intern("L");
        let mut scope = Scope::new(&names);
        scope.begin();
        scope.open();
        let first = scope.block();
        scope.label(l, 7);
        scope.close();
        scope.open();
        let second = scope.block();
        scope.close();
        assert_eq!(scope.find_label(first, l), Some(7));
        assert_eq!(scope.find_label(second, l), None);
        scope.label(l, 9);
        assert_eq!(scope.find_label(second, l), Some(9));
    }

    #[test]
    fn elements_have_canonical_numbers() {
        assert_eq!(elements("%r12").collect::<Vec<_>>(), [("%r", 12), ("%r1", 2)]);
        assert_eq!(elements("%r0").next(), Some(("%r", 0)));
        assert_eq!(elements("%r01").collect::<Vec<_>>(), [("%r0", 1)]);
        assert_eq!(elements("%r").next(), None);
    }
}
