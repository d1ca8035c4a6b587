//! What a memory program is for: the kind of an operation, its state space, ordering, scope and cache operator.
//!
//! The names are PTX's: `ld.global.ca`, `st.volatile.shared`, `atom.acq_rel.gpu.global`. `mov` is the update of registers by
//! an instruction that touches no memory (listing 4.6); `fence.sc.gpu` is a fence, also the one that a strong operation
//! implies. A set of programs has to have the names without a scope, fences excepted ([`OpKey::all`]); the others are
//! refinements of them (D-scope, D-fence).

use crate::base::words;
use crate::program::instr::{CacheOp, MemOp, Order, Scope, Space, WarpRequest};

words! {
    /// Kinds of memory operations.
    pub enum OpKind {
        /// `ld`, `ldu`
        Load = "ld",
        /// `st`
        Store = "st",
        /// `atom`
        Atom = "atom",
        /// `red`
        Red = "red",
        /// An update of registers.
        Reg = "mov",
        /// `fence`, `membar`, and the fences that an acquire or a release implies.
        Fence = "fence",
    }
}

impl OpKind {
    /// That of a request.
    pub(in crate::memory) const fn of(op: MemOp) -> Self {
        match op {
            MemOp::Load => Self::Load,
            MemOp::Store => Self::Store,
            MemOp::Atom(..) => Self::Atom,
            MemOp::Red(..) => Self::Red,
        }
    }
}

/// What a memory program is looked up by. Only possible combinations can be made ([`OpKey::new`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OpKey {
    kind: OpKind,
    space: Space,
    order: Order,
    /// [`Scope::Lane`]: every scope that has no program of its own.
    scope: Scope,
    cache: CacheOp,
}

/// The orderings of fences.
const FENCES: &[Order] = &[Order::Acquire, Order::Release, Order::AcqRel, Order::Sc];

impl OpKey {
    /// The update of registers.
    pub const REG: Self = Self {
        kind: OpKind::Reg,
        space: Space::Local,
        order: Order::Weak,
        scope: Scope::Lane,
        cache: CacheOp::Default,
    };

    /// The key of an operation that PTX has, for every scope; qualifiers that make no difference are normalised: a strong
    /// operation has no cache operator (PTX ISA 9.7.9.8), nor has an operation on a space without caches, an atomic operation
    /// without ordering is relaxed, and memory that no other thread writes has no orderings. `None` for a write to constant
    /// memory or kernel parameters, for an atomic operation on other than global and shared memory, for generic addresses, which
    /// are to be resolved before, and for fences, which have no space ([`OpKey::fence`]).
    #[must_use]
    pub fn new(kind: OpKind, space: Space, order: Order, cache: CacheOp) -> Option<Self> {
        use {CacheOp as C, OpKind as K, Space as S};
        let order = match (kind, order) {
            (K::Reg, _) => return Some(Self::REG),
            (K::Fence, _) => return None,
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
            (K::Store, S::Const | S::Param) | (K::Atom | K::Red, S::Local | S::Const | S::Param) | (_, S::Generic) => {
                return None;
            }
            _ => {}
        }
        let cached = order == Order::Weak && matches!(space, S::Global | S::Local);
        let cache = match (kind, cache) {
            (K::Load, C::Ca | C::Cg | C::Cs | C::Lu | C::Cv) if cached => cache,
            (K::Load, C::Nc) if cached && space == S::Global => cache,
            (K::Store, C::Wb | C::Cg | C::Cs | C::Wt) if cached => cache,
            _ => C::Default,
        };
        Some(Self { kind, space, order, scope: Scope::Lane, cache })
    }

    /// The key of a fence for every scope. `None`: fences have no such ordering.
    #[must_use]
    pub fn fence(order: Order) -> Option<Self> {
        let key = Self { kind: OpKind::Fence, order, ..Self::REG };
        FENCES.contains(&order).then_some(key)
    }

    /// The same for one scope alone; for an operation whose scope makes no difference, or [`Scope::Lane`], the same.
    #[must_use]
    pub const fn within(self, scope: Scope) -> Self {
        match self.order {
            Order::Weak | Order::Volatile | Order::Mmio => self,
            _ => Self { scope, ..self },
        }
    }

    /// The same for every scope.
    #[must_use]
    pub const fn any_scope(self) -> Self {
        Self { scope: Scope::Lane, ..self }
    }

    /// The key of a request whose address lies in `space`.
    #[must_use]
    pub fn of(request: &WarpRequest, space: Space) -> Option<Self> {
        Self::new(OpKind::of(request.op), space, request.order, request.cache).map(|key| key.within(request.scope))
    }

    /// Every key that a complete set of programs has, in a fixed order: those for every scope, without fences.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::REG];
        for &kind in OpKind::ALL.iter().filter(|kind| **kind != OpKind::Reg) {
            for space in [Space::Global, Space::Local, Space::Shared, Space::Const, Space::Param] {
                for &order in Order::ALL {
                    let keys = CacheOp::ALL.iter().filter_map(|cache| {
                        let key = Self::new(kind, space, order, *cache)?;
                        ((key.kind, key.space, key.order, key.cache) == (kind, space, order, *cache)).then_some(key)
                    });
                    all.extend(keys);
                }
            }
        }
        all
    }

    /// The keys that a set of programs need not have, in a fixed order: fences, and strong operations of one scope.
    #[must_use]
    pub fn refinements() -> Vec<Self> {
        let fences: Vec<Self> = FENCES.iter().filter_map(|order| Self::fence(*order)).collect();
        let all = Self::all();
        let scoped = all.iter().chain(&fences).flat_map(|key| Scope::ALL.iter().map(|scope| key.within(*scope)));
        let scoped: Vec<Self> = scoped.filter(|key| key.scope != Scope::Lane).collect();
        fences.into_iter().chain(scoped).collect()
    }

    /// The key of a name, its qualifiers in any order; `None` when it is not the name of an operation, or has qualifiers
    /// that make no difference to it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut words = name.split('.');
        let kind = OpKind::named(words.next()?)?;
        if kind == OpKind::Reg {
            return words.next().is_none().then_some(Self::REG);
        }
        let (mut space, mut order, mut scope, mut cache) = (None, None, None, None);
        for word in words {
            let again = if word.is_empty() {
                true
            } else if let Some(found) = Space::named(word) {
                space.replace(found).is_some()
            } else if let Some(found) = Order::named(word) {
                order.replace(found).is_some()
            } else if let Some(found) = Scope::named(word) {
                scope.replace(found).is_some()
            } else {
                cache.replace(CacheOp::named(word)?).is_some()
            };
            if again {
                return None;
            }
        }
        let scope = scope.unwrap_or(Scope::Lane);
        if kind == OpKind::Fence {
            let plain = space.is_none() && cache.is_none();
            return order.filter(|_| plain).and_then(Self::fence).map(|key| key.within(scope));
        }
        let asked = if matches!(kind, OpKind::Atom | OpKind::Red) { Order::Relaxed } else { Order::Weak };
        let (order, cache) = (order.unwrap_or(asked), cache.unwrap_or(CacheOp::Default));
        let key = Self::new(kind, space?, order, cache)?.within(scope);
        ((key.order, key.scope, key.cache) == (order, scope, cache)).then_some(key)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        let silent = if self.atomic() { Order::Relaxed } else { Order::Weak };
        let order = if self.order == silent { "" } else { self.order.name() };
        let placed = !matches!(self.kind, OpKind::Reg | OpKind::Fence);
        let (space, cache) = if placed { (self.space.name(), self.cache.name()) } else { ("", "") };
        let words = [self.kind.name(), order, self.scope.name(), space, cache];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(".")
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> OpKind {
        self.kind
    }

    /// The state space; of no meaning for [`OpKey::REG`] and fences.
    #[must_use]
    pub const fn space(&self) -> Space {
        self.space
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
        !matches!(self.kind, OpKind::Reg | OpKind::Fence) && matches!(self.space, Space::Global | Space::Local)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_keys_are_one_to_one() {
        let all: Vec<OpKey> = OpKey::all().into_iter().chain(OpKey::refinements()).collect();
        let mut names: Vec<String> = all.iter().map(OpKey::name).collect();
        for (key, name) in all.iter().zip(&names) {
            assert_eq!(OpKey::named(name), Some(*key), "{name}");
        }
        for name in ["mov", "ld.global.ca", "st.volatile.shared", "red.release.global", "ld.param", "atom.shared"]
            .into_iter()
            .chain(["ld.relaxed.cta.global", "atom.gpu.global", "fence.sc.sys", "fence.acquire"])
        {
            assert!(names.iter().any(|n| n == name), "{name}");
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all.len());
        assert_eq!(OpKey::named("st.shared.volatile"), OpKey::named("st.volatile.shared"));
        assert_eq!(OpKey::named("fence.gpu.sc"), OpKey::named("fence.sc.gpu"));
        for wrong in ["", "ld", "ld.shared.ca", "st.const", "ld.global.global", "st.global.ca", "mov.b32", "atom.local"]
            .into_iter()
            .chain([
                "ld.cta.global",
                "st.volatile.sys.global",
                "ld.sc.global",
                "fence",
                "fence.relaxed",
                "fence.sc.global",
            ])
        {
            assert_eq!(OpKey::named(wrong), None, "{wrong}");
        }
    }
}
