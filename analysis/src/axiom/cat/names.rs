//! Names that have a meaning before a model gives them one: keywords, and the sets and relations that executions give.

use indexmap::IndexMap;

/// Words that name nothing.
pub const KEYWORDS: &[&str] = &[
    "let",
    "rec",
    "and",
    "in",
    "as",
    "acyclic",
    "irreflexive",
    "empty",
    "flag",
    "undefined_unless",
    "include",
    "show",
    "unshow",
];

/// What an expression stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    /// A set of events.
    Set,
    /// A relation between events.
    Relation,
}

impl Sort {
    /// It with its article.
    #[must_use]
    pub const fn told(self) -> &'static str {
        match self {
            Self::Set => "a set",
            Self::Relation => "a relation",
        }
    }
}

/// A set or relation that executions give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Base {
    /// Its name.
    pub name: &'static str,
    /// Set or relation.
    pub sort: Sort,
    /// What it is of.
    pub about: &'static str,
}

const fn set(name: &'static str, about: &'static str) -> Base {
    Base { name, sort: Sort::Set, about }
}

const fn relation(name: &'static str, about: &'static str) -> Base {
    Base { name, sort: Sort::Relation, about }
}

/// All that executions of litmus tests for PTX and Vulkan give, and real kernels with them.
pub const BASES: &[Base] = &[
    set("W", "writes, initial ones among them"),
    set("R", "reads"),
    set("M", "accesses to memory: reads and writes"),
    set("F", "fences"),
    set("B", "arrivals at barriers"),
    set("IW", "initial writes"),
    set("RMW", "the read and the write of an atomic operation"),
    set("WEAK", "PTX: weak accesses"),
    set("RLX", "PTX: relaxed accesses; the half of an atomic operation that neither acquires nor releases"),
    set("ACQ", "what acquires"),
    set("REL", "what releases"),
    set("ACQ_REL", "PTX: fences that acquire and release, `fence.sc` among them"),
    set("SC", "PTX: `fence.sc`"),
    set("CTA", "PTX: operations of scope `.cta`"),
    set("GPU", "PTX: operations of scope `.gpu`"),
    set("SYS", "PTX: operations of scope `.sys`"),
    set("GEN", "PTX: operations by the generic proxy"),
    set("TEX", "PTX: operations by the texture proxy"),
    set("SUR", "PTX: operations by the surface proxy"),
    set("CON", "PTX: operations by the constant proxy"),
    set("ALIAS", "PTX: `fence.proxy.alias`"),
    set("ATOM", "Vulkan: atomic accesses"),
    set("NONPRIV", "Vulkan: accesses that are not private to their thread"),
    set("SG", "Vulkan: operations of subgroup scope"),
    set("WG", "Vulkan: operations of workgroup scope"),
    set("QF", "Vulkan: operations of queue family scope"),
    set("DV", "Vulkan: operations of device scope"),
    set("SC0", "Vulkan: accesses to storage class 0"),
    set("SC1", "Vulkan: accesses to storage class 1"),
    set("SC2", "Vulkan: accesses to storage class 2"),
    set("SC3", "Vulkan: accesses to storage class 3"),
    set("SEMSC0", "Vulkan: operations whose semantics name storage class 0"),
    set("SEMSC1", "Vulkan: operations whose semantics name storage class 1"),
    set("SEMSC2", "Vulkan: operations whose semantics name storage class 2"),
    set("SEMSC3", "Vulkan: operations whose semantics name storage class 3"),
    set("AV", "Vulkan: writes that make themselves available"),
    set("VIS", "Vulkan: reads that make visible what they read"),
    set("SEMAV", "Vulkan: operations whose semantics make available"),
    set("SEMVIS", "Vulkan: operations whose semantics make visible"),
    set("AVDEVICE", "Vulkan: `avdevice`, which makes available to the device"),
    set("VISDEVICE", "Vulkan: `visdevice`, which makes visible to the device"),
    set("CBAR", "Vulkan: control barriers"),
    relation("po", "program order"),
    relation("po-loc", "program order between accesses to one location"),
    relation("rf", "from a write to the reads of what it wrote"),
    relation("co", "coherence order of the writes to a location; in PTX not total"),
    relation("fr", "from a read to the writes that come after the one that it read"),
    relation("loc", "accesses to one location: they overlap"),
    relation("mixed", "accesses that overlap without being of the same bytes"),
    relation(
        "parts",
        "different parts of one access: where accesses overlap in part, each is an event for each part (D-axiom-mixed)",
    ),
    relation("vloc", "accesses to one location by one virtual address"),
    relation("id", "each event with itself"),
    relation("int", "events of one thread"),
    relation("ext", "events of different threads"),
    relation("rmw", "from the read to the write of an atomic operation"),
    relation("addr", "from a read to accesses whose address depends on it"),
    relation("data", "from a read to writes whose value depends on it"),
    relation("ctrl", "from a read to what is done or not depending on it"),
    relation("sr", "PTX: operations each of whose scopes includes the other's thread"),
    relation("scta", "PTX: events of one cta"),
    relation("ssg", "Vulkan: events of one subgroup"),
    relation("swg", "Vulkan: events of one workgroup"),
    relation("sqf", "Vulkan: events of one queue family"),
    relation("ssw", "Vulkan: events of threads one of which system-synchronizes-with the other"),
    relation("wpo", "wavefronts: program order of instructions, whichever lanes execute them"),
    relation("si", "wavefronts: events of one instruction"),
    relation("syncbar", "events that meet at a barrier"),
    relation(
        "sync_fence",
        "PTX: an order of the `fence.sc` of the execution, total where they are in each other's scope",
    ),
];

/// All that executions of OpenCL's litmus tests give, by herd's names. An atomic read-modify-write is one event (D-cat-fused).
pub const OPENCL: &[Base] = &[
    set("W", "writes, atomic operations that read and write and initial writes among them"),
    set("R", "reads, atomic operations that read and write among them"),
    set("M", "accesses to memory: reads and writes"),
    set("F", "fences"),
    set("I", "initial writes"),
    set("A", "atomic accesses"),
    set("rmw", "atomic operations that read and write"),
    set("G", "accesses to global memory"),
    set("L", "accesses to local memory"),
    set("nonatomicloc", "accesses to locations that are not atomic"),
    set("remote", "remote operations"),
    set("memory_order_relaxed", "relaxed operations"),
    set("memory_order_acquire", "operations that acquire"),
    set("memory_order_release", "operations that release"),
    set("memory_order_acq_rel", "operations that acquire and release"),
    set("memory_order_seq_cst", "operations that are sequentially consistent"),
    set("memory_scope_work_item", "operations of scope work-item: none"),
    set("memory_scope_work_group", "operations of scope work-group"),
    set("memory_scope_device", "operations of scope device"),
    set("memory_scope_all_svm_devices", "operations of the scope of all devices"),
    set("entry_fence", "barriers as they are entered: none"),
    set("exit_fence", "barriers as they are left: none"),
    relation("po", "program order; initial writes have no part in it"),
    relation("rf", "from a write to the reads of what it wrote"),
    relation("co", "coherence order of the writes to a location, initial ones first; total"),
    relation("fr", "from a read to the writes that come after the one that it read"),
    relation("loc", "different accesses to one location"),
    relation("id", "each event with itself"),
    relation("unv", "all events with each other"),
    relation("wi", "events of one thread; initial writes have no part in it"),
    relation("wg", "events of one work-group; initial writes have no part in it"),
    relation("dev", "events of one device; initial writes have no part in it"),
    relation("same_B", "events of one barrier: none"),
    relation("S", "the order of what is sequentially consistent, where a model asks for one: none"),
];

/// The names that a model may use without defining them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names {
    sorts: IndexMap<String, Sort>,
    fused: bool,
}

impl Default for Names {
    fn default() -> Self {
        Self::of(BASES, false)
    }
}

impl Names {
    fn of(bases: &[Base], fused: bool) -> Self {
        Self { sorts: bases.iter().map(|base| (base.name.to_owned(), base.sort)).collect(), fused }
    }

    /// Those of [`OPENCL`].
    #[must_use]
    pub fn opencl() -> Self {
        Self::of(OPENCL, true)
    }

    /// Whether atomic read-modify-writes are one event each (D-cat-fused).
    #[must_use]
    pub const fn fused(&self) -> bool {
        self.fused
    }

    /// The same with another one, or with one of another sort.
    #[must_use]
    pub fn with(mut self, name: &str, sort: Sort) -> Self {
        self.sorts.insert(name.to_owned(), sort);
        self
    }

    /// What a name stands for.
    #[must_use]
    pub fn sort(&self, name: &str) -> Option<Sort> {
        self.sorts.get(name).copied()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.sorts.keys().map(String::as_str)
    }
}
