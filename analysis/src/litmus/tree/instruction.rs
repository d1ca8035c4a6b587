//! Instructions of both languages and their operands.

use super::access::{Access, Proxy, Semantics, VulkanScope};
use crate::base::{Span, words};
use crate::program::instr::{Order, Scope};

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// A number or a register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number.
    Number(i64, Span),
    /// A register of the thread.
    Register(Ident),
}

impl Value {
    /// Its place.
    #[must_use]
    pub const fn span(&self) -> Span {
        match self {
            Self::Number(_, span) => *span,
            Self::Register(ident) => ident.span,
        }
    }
}

/// Instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the operands, named for what they are")]
pub enum Instruction {
    /// `ld.weak r, x`; also `tld`, `suld`, `cold`; `ld.vis.dv.sc0 r, x`. The address is a location or a register that holds one.
    Load { access: Access, to: Ident, from: Ident },
    /// `st.weak x, 1`; also `sust`; `st.av.dv.sc0 x, 1`.
    Store { access: Access, to: Ident, value: Value },
    /// `ld r, 1` of PTX: a move.
    Move { to: Ident, value: Value },
    /// `add r, 1, r`.
    Compute { op: Arith, to: Ident, left: Value, right: Value },
    /// `r = a == b` of OpenCL: 1 where it holds, otherwise 0.
    Compare { relation: Relation, to: Ident, left: Value, right: Value },
    /// `atom.relaxed.gpu.add r, x, 1`, `red.relaxed.gpu.add x, 1`; also `suatom`, `sured`. A `cas` has a third operand:
    /// what is compared comes first, then what is stored.
    Atomic { access: Access, op: Atom, to: Option<Ident>, at: Ident, value: Value, new: Option<Value> },
    /// `fence.sc.gpu`.
    Fence { order: Order, scope: Scope },
    /// `fence.proxy.surface`; none for `fence.proxy.alias`.
    ProxyFence(Option<Proxy>),
    /// `membar.rel.dv.semsc0.semav` of Vulkan.
    Membar { scope: VulkanScope, semantics: Semantics },
    /// `avdevice` of Vulkan, which makes all that is available to some agent available to the device.
    AvDevice,
    /// `visdevice` of Vulkan, which makes what is available to the device visible to all.
    VisDevice,
    /// `bar.cta.sync 1, 1, 2`, `cbar.acq_rel.wg.semsc0 1, 1, 2`. The instance tells barriers of the source apart, the
    /// barrier is the number in hardware. The threads of a cta or workgroup meet. `fence`: for whom Vulkan's barrier is a
    /// fence, and of what; it is none without an order.
    Barrier {
        waits: bool,
        instance: i64,
        barrier: Option<Value>,
        quorum: Option<Value>,
        fence: Option<(VulkanScope, Semantics)>,
    },
    /// `goto LC00`.
    Goto(Ident),
    /// `beq r0, 0, LC00`.
    Branch { relation: Relation, left: Value, right: Value, to: Ident },
}

impl Instruction {
    /// The registers and numbers that it reads, addresses left out.
    fn values(&self) -> impl Iterator<Item = &Value> {
        let list: [Option<&Value>; 2] = match self {
            Self::Store { value, .. } | Self::Move { value, .. } => [Some(value), None],
            Self::Compute { left, right, .. }
            | Self::Compare { left, right, .. }
            | Self::Branch { left, right, .. } => [Some(left), Some(right)],
            Self::Atomic { value, new, .. } => [Some(value), new.as_ref()],
            Self::Barrier { barrier, quorum, .. } => [barrier.as_ref(), quorum.as_ref()],
            Self::Load { .. }
            | Self::Fence { .. }
            | Self::ProxyFence(_)
            | Self::Membar { .. }
            | Self::AvDevice
            | Self::VisDevice
            | Self::Goto(_) => [None, None],
        };
        list.into_iter().flatten()
    }

    /// The numbers that it has among its values.
    pub fn numbers(&self) -> impl Iterator<Item = i64> {
        self.values().filter_map(|value| match value {
            Value::Number(n, _) => Some(*n),
            Value::Register(_) => None,
        })
    }

    /// The registers that it reads, addresses left out.
    pub fn reads(&self) -> impl Iterator<Item = &Ident> {
        self.values().filter_map(|value| match value {
            Value::Register(ident) => Some(ident),
            Value::Number(..) => None,
        })
    }

    /// The register that it writes.
    #[must_use]
    pub const fn target(&self) -> Option<&Ident> {
        match self {
            Self::Load { to, .. } | Self::Move { to, .. } | Self::Compute { to, .. } | Self::Compare { to, .. } => {
                Some(to)
            }
            Self::Atomic { to, .. } => to.as_ref(),
            _ => None,
        }
    }

    /// The address that it accesses and how.
    #[must_use]
    pub const fn address(&self) -> Option<(&Ident, Access)> {
        match self {
            Self::Load { access, from: at, .. }
            | Self::Store { access, to: at, .. }
            | Self::Atomic { access, at, .. } => Some((at, *access)),
            _ => None,
        }
    }

    /// The label that it goes to.
    #[must_use]
    pub const fn label(&self) -> Option<&Ident> {
        match self {
            Self::Goto(to) | Self::Branch { to, .. } => Some(to),
            _ => None,
        }
    }
}

words! {
    /// Arithmetic on 64-bit integers.
    #[expect(missing_docs, reason = "the operations of the litmus format")]
    pub enum Arith {
        Add = "add",
        Sub = "sub",
        Mul = "mul",
        Div = "div",
    }
}

words! {
    /// Atomic operations.
    pub enum Atom {
        /// Addition.
        Add = "add",
        /// Subtraction.
        Sub = "sub",
        /// Multiplication.
        Mul = "mul",
        /// Division.
        Div = "div",
        /// Bitwise conjunction.
        And = "and",
        /// Bitwise disjunction.
        Or = "or",
        /// Bitwise exclusive disjunction.
        Xor = "xor",
        /// Compare and swap, which always stores: where it fails, what it read (PTX ISA, `atom`).
        Cas = "cas",
        /// Exchange.
        Exch = "exch",
        /// Compare and swap which stores only where it succeeds; the only one of Vulkan, written `cas` there (D-litmus-cas).
        CasSuccess = "cas.success",
    }
}

words! {
    /// Comparisons, of signed numbers, by the names of their branches.
    #[expect(missing_docs, reason = "the usual six")]
    pub enum Relation {
        Eq = "beq",
        Ne = "bne",
        Lt = "blt",
        Gt = "bgt",
        Le = "ble",
        Ge = "bge",
    }
}

impl Atom {
    /// Whether it compares before it stores, so that it has two operands.
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(self, Self::Cas | Self::CasSuccess)
    }
}

impl Relation {
    /// Whether two numbers stand in this relation.
    #[must_use]
    pub const fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Lt => left < right,
            Self::Le => left <= right,
            Self::Gt => left > right,
            Self::Ge => left >= right,
        }
    }
}
