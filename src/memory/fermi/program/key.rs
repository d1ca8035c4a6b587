//! What a memory program is for: the kind of an operation, its state space, ordering and cache operator.
//!
//! The names are PTX's: `ld.global.ca`, `st.volatile.shared`, `atom.acq_rel.global`. `mov` is the update of registers by an
//! instruction that touches no memory (listing 4.6).

use crate::program::instr::{CacheOp, MemOp, Order, WarpRequest};

/// Kinds of memory operations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum OpKind {
    /// `ld`, `ldu`
    Load,
    /// `st`
    Store,
    /// `atom`
    Atom,
    /// `red`
    Red,
    /// An update of registers.
    Reg,
}

/// State spaces after generic addresses are resolved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the state spaces of PTX")]
pub enum OpSpace {
    Global,
    Local,
    Shared,
    Const,
    Param,
}

/// What a memory program is looked up by. Only possible combinations can be made ([`OpKey::new`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OpKey {
    kind: OpKind,
    space: OpSpace,
    order: Order,
    cache: CacheOp,
}

const SPACES: &[(&str, OpSpace)] = &[
    ("global", OpSpace::Global),
    ("local", OpSpace::Local),
    ("shared", OpSpace::Shared),
    ("const", OpSpace::Const),
    ("param", OpSpace::Param),
];

const ORDERS: &[(&str, Order)] = &[
    ("weak", Order::Weak),
    ("volatile", Order::Volatile),
    ("relaxed", Order::Relaxed),
    ("acquire", Order::Acquire),
    ("release", Order::Release),
    ("acq_rel", Order::AcqRel),
    ("mmio", Order::Mmio),
];

const CACHES: &[(&str, CacheOp)] = &[
    ("ca", CacheOp::Ca),
    ("cg", CacheOp::Cg),
    ("cs", CacheOp::Cs),
    ("lu", CacheOp::Lu),
    ("cv", CacheOp::Cv),
    ("wb", CacheOp::Wb),
    ("wt", CacheOp::Wt),
    ("nc", CacheOp::Nc),
];

const KINDS: &[(&str, OpKind)] =
    &[("ld", OpKind::Load), ("st", OpKind::Store), ("atom", OpKind::Atom), ("red", OpKind::Red)];

impl OpKey {
    /// The update of registers.
    pub const REG: Self =
        Self { kind: OpKind::Reg, space: OpSpace::Local, order: Order::Weak, cache: CacheOp::Default };

    /// The key of an operation that PTX has; qualifiers that make no difference are normalised: a strong operation has no
    /// cache operator (PTX ISA 9.7.9.8), nor has an operation on a space without caches, an atomic operation without
    /// ordering is relaxed, and memory that no other thread writes has no orderings. `None` for a write to constant memory or kernel parameters, or an atomic operation on other
    /// than global and shared memory.
    #[must_use]
    pub fn new(kind: OpKind, space: OpSpace, order: Order, cache: CacheOp) -> Option<Self> {
        use {CacheOp as C, OpKind as K, OpSpace as S};
        let order = match (kind, order) {
            (K::Reg, _) => return Some(Self::REG),
            (K::Atom | K::Red, Order::Weak | Order::Volatile | Order::Mmio) => Order::Relaxed,
            (K::Atom | K::Red, Order::Sc) => Order::AcqRel,
            // PTX has `fence.sc` but neither loads nor stores with that ordering.
            (K::Load, Order::Sc | Order::AcqRel) => Order::Acquire,
            (K::Store, Order::Sc | Order::AcqRel) => Order::Release,
            // A load cannot release, a store cannot acquire.
            (K::Load, Order::Release) | (K::Store, Order::Acquire) => Order::Relaxed,
            (_, order) => order,
        };
        // A thread's own memory, constant memory and parameters have no order with other threads.
        let order = if matches!(space, S::Local | S::Const | S::Param) { Order::Weak } else { order };
        match (kind, space) {
            (K::Store, S::Const | S::Param) | (K::Atom | K::Red, S::Local | S::Const | S::Param) => return None,
            _ => {}
        }
        let cached = order == Order::Weak && matches!(space, S::Global | S::Local);
        let cache = match (kind, cache) {
            (K::Load, C::Ca | C::Cg | C::Cs | C::Lu | C::Cv) if cached => cache,
            (K::Load, C::Nc) if cached && space == S::Global => cache,
            (K::Store, C::Wb | C::Cg | C::Cs | C::Wt) if cached => cache,
            _ => C::Default,
        };
        Some(Self { kind, space, order, cache })
    }

    /// The key of a request whose address lies in `space`.
    #[must_use]
    pub fn of(request: &WarpRequest, space: OpSpace) -> Option<Self> {
        let kind = match request.op {
            MemOp::Load => OpKind::Load,
            MemOp::Store => OpKind::Store,
            MemOp::Atom(..) => OpKind::Atom,
            MemOp::Red(..) => OpKind::Red,
        };
        Self::new(kind, space, request.order, request.cache)
    }

    /// Every key, in a fixed order: what a complete set of programs has.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::REG];
        for (_, kind) in KINDS {
            for (_, space) in SPACES {
                for (_, order) in ORDERS {
                    let caches = CACHES.iter().map(|(_, cache)| *cache);
                    for cache in std::iter::once(CacheOp::Default).chain(caches) {
                        if let Some(key) = Self::new(*kind, *space, *order, cache)
                            && (key.kind, key.space, key.order, key.cache) == (*kind, *space, *order, cache)
                        {
                            all.push(key);
                        }
                    }
                }
            }
        }
        all
    }

    /// The key of a name, its qualifiers in any order; `None` when it is not the name of an operation, or has qualifiers
    /// that make no difference to it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name == "mov" {
            return Some(Self::REG);
        }
        let mut words = name.split('.');
        let kind = find(KINDS, words.next()?)?;
        let (mut space, mut order, mut cache) = (None, None, None);
        for word in words {
            if let Some(found) = find(SPACES, word) {
                space.replace(found).is_none().then_some(())?;
            } else if let Some(found) = find(ORDERS, word) {
                order.replace(found).is_none().then_some(())?;
            } else {
                cache.replace(find(CACHES, word)?).is_none().then_some(())?;
            }
        }
        let asked = if matches!(kind, OpKind::Atom | OpKind::Red) { Order::Relaxed } else { Order::Weak };
        let (order, cache) = (order.unwrap_or(asked), cache.unwrap_or(CacheOp::Default));
        Self::new(kind, space?, order, cache).filter(|key| key.order == order && key.cache == cache)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        if self.kind == OpKind::Reg {
            return "mov".to_owned();
        }
        let mut name = word(KINDS, self.kind).to_owned();
        let silent = if self.atomic() { Order::Relaxed } else { Order::Weak };
        if self.order != silent {
            name = format!("{name}.{}", word(ORDERS, self.order));
        }
        name = format!("{name}.{}", word(SPACES, self.space));
        if self.cache != CacheOp::Default {
            name = format!("{name}.{}", word(CACHES, self.cache));
        }
        name
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> OpKind {
        self.kind
    }

    /// The state space; of no meaning for [`OpKey::REG`].
    #[must_use]
    pub const fn space(&self) -> OpSpace {
        self.space
    }

    /// The ordering.
    #[must_use]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// The cache operator.
    #[must_use]
    pub const fn cache(&self) -> CacheOp {
        self.cache
    }

    /// Whether its state is one of `Σ_atomic`.
    #[must_use]
    pub const fn atomic(&self) -> bool {
        matches!(self.kind, OpKind::Atom | OpKind::Red)
    }

    /// Whether its programs may use caches: operations on global and local memory, with a cache operator or without one,
    /// strong or not, atomic or not (the report asks for a cache operator: D-atomic, D-strong).
    #[must_use]
    pub const fn cached(&self) -> bool {
        !matches!(self.kind, OpKind::Reg) && matches!(self.space, OpSpace::Global | OpSpace::Local)
    }
}

fn find<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

fn word<T: PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, v)| *v == value).map_or("", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_keys_are_one_to_one() {
        let all = OpKey::all();
        let mut names: Vec<String> = all.iter().map(OpKey::name).collect();
        for (key, name) in all.iter().zip(&names) {
            assert_eq!(OpKey::named(name), Some(*key), "{name}");
        }
        for name in ["mov", "ld.global.ca", "st.volatile.shared", "red.release.global", "ld.param", "atom.shared"] {
            assert!(names.iter().any(|n| n == name), "{name}");
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all.len());
        assert_eq!(OpKey::named("st.shared.volatile"), OpKey::named("st.volatile.shared"));
        for wrong in ["", "ld", "ld.shared.ca", "st.const", "ld.global.global", "st.global.ca", "mov.b32", "atom.local"]
        {
            assert_eq!(OpKey::named(wrong), None, "{wrong}");
        }
    }
}
