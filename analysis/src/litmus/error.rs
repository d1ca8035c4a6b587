//! What can be wrong with a litmus file.

use super::names::{counterpart, instructions};
use super::rsp::{self, functions};
use super::tree::{Arch, Atom, Proxy, thread_name};
use crate::base::{END, FileId, Span, Wording, among, complaints, counted, either, phrases, plain, suggest};

/// The most complaints that are kept for one file.
pub const MAX_ERRORS: usize = 100;

/// The deepest nesting of parentheses and negations in a condition.
pub const MAX_NESTING: usize = 64;

/// A complaint about a litmus file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LitmusError {
    /// What is wrong.
    pub kind: LitmusErrorKind,
    /// The file.
    pub file: FileId,
    /// Where.
    pub span: Span,
}

complaints! {
    /// The kinds of complaints; `here` is the text of the place, fit for a message.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum LitmusErrorKind(here: &str) {
        /// The text has 4 GiB or more.
        TooLarge => "too-large" ("the file has 4 GiB or more") ("") ("split it into several tests");
        /// The text is empty.
        Empty =>
            "not-litmus" ("the file is empty") ("a litmus test is expected")
            ("a litmus test begins with `PTX`, `VULKAN` or `LSC` and its name");
        /// The text begins with no language's word; the word that it begins with.
        NotLitmus(word: String) =>
            "not-litmus" ("this is no litmus test for PTX, Vulkan, OpenCL or wavefronts: it begins with `{word}`") ("here")
            ("a litmus test begins with `PTX`, `VULKAN`, `OpenCL`, `RSP` or `LSC` and its name; other languages are not read");
        /// No name follows the language.
        NoName(arch: Arch) =>
            "no-name" ("the test has no name") ("nothing follows on this line") ("write `{} name`", arch.name());
        /// There is no `{`.
        NoInit =>
            "no-init" ("the test has no initial state") ("the text ends here")
            ("declare locations between braces, e.g. `{{ x=0; y=0; }}`; the braces may be empty");
        /// The `{` of the initial state has no `}`.
        OpenInit => "open-init" ("the initial state is not closed") ("begins here") ("add the closing `}}`");
        /// A row or declaration ends without `;`. The span is empty and lies where the semicolon belongs.
        MissingSemicolon => "missing-semicolon" ("a `;` is missing") ("expected `;` here") ("each row ends with `;`");
        /// Characters that start no token.
        Garbage => "bad-character" ("`{here}` begins no token of a litmus test") ("not expected");
        /// A `(*` without `*)`.
        OpenComment => "open-comment" ("a comment is not closed") ("begins here") ("add the closing `{}`", if *here == *"/*" { "*/" } else { "*)" });
        /// A number that cannot be read, or is beyond 64 bits.
        BadNumber =>
            "bad-number" ("`{here}` is no number of 64 bits") ("not a number")
            ("numbers are decimal or begin with `0x`");
        /// Something else was expected; what would have fitted, without repetition, and whether the text ends there.
        Unexpected { expected: Vec<Expected>, end: bool } => {
            let found = if *end { END.to_owned() } else { format!("`{here}`") };
            let wording = Wording::unexpected(&found, &either(expected));
            match here {
                _ if expected.contains(&Expected::Quantifier) => {
                    wording.hint("a test ends with `exists`, `~exists` or `forall` and a condition")
                }
                "{" if expected.contains(&Expected::Thread) => {
                    wording.hint("only tests for Vulkan have a second block, which says what the host orders")
                }
                "[" if expected.iter().any(|e| matches!(e, Expected::Location | Expected::Value)) => {
                    wording.hint("addresses of instructions are written without brackets")
                }
                "[" if expected.contains(&Expected::Statement) => wording.hint(BARS),
                _ => wording,
            }
        };
        /// Nested deeper than [`MAX_NESTING`].
        TooDeep => "too-deep" ("nested more than {MAX_NESTING} levels deep") ("the limit is reached here");
        /// There were more than [`MAX_ERRORS`] complaints.
        TooMany => "too-many" ("more than {MAX_ERRORS} errors: the rest is not shown") ("stopped here");
        /// A row has more or fewer cells than there are threads.
        Columns { cells: usize, threads: usize } =>
            "columns" ("the row has {}, there are {threads} threads", counted(*cells as u64, "cell")) ("this row")
            ("separate cells by `|`; a cell may be empty");
        /// A thread is placed as those of the other language are.
        Placing(arch: Arch) => {
            let (levels, form) = match arch {
                Arch::Ptx => ("cta and gpu", "cta 0,gpu 0"),
                Arch::Vulkan => ("subgroup, workgroup and queue family", "sg 0,wg 0,qf 0"),
                Arch::OpenCl => ("device and work-group", "device 0,work_group 0"),
                Arch::Lockstep => ("wavefront and lane", "W0.0"),
            };
            let thread = here.split('@').next().unwrap_or(here).trim();
            let message = format!("a thread of a test for {} is placed by {levels}", arch.text());
            Wording::new("placing", message, format!("placed as in tests for {}", arch.other().text()))
                .hint(format!("write `{thread}@{form}`; or begin the test with `{}`", arch.other().name()))
        };
        /// The language has no instruction of this name.
        UnknownInstruction(arch: Arch) => {
            let (own, other) = (arch.text(), arch.other().text());
            let unknown = |message, label: &str| Wording::new("unknown-instruction", message, label);
            let same = counterpart(*arch, here).map(|name| format!("{own} has `{name}`"));
            if same.is_some() || instructions(arch.other()).any(|name| name == here) {
                let message = format!("`{here}` is an instruction of {other}, and this test is for {own}");
                return unknown(message, "not one of this language").hint_if(same);
            }
            unknown(format!("there is no instruction `{here}`"), "not an instruction")
                .hint(among(here, &instructions(*arch).collect::<Vec<_>>(), "", plain))
        };
        /// A word of an instruction that cannot stand there, and those that can; none: nothing may follow. Perhaps it is one of
        /// another language.
        Modifier { allowed: Vec<&'static str>, foreign: Option<Arch> } => {
            let theirs = foreign.map(|arch| format!("`.{here}` is a word of {}", arch.text()));
            if allowed.is_empty() {
                let label = if here == "." { "nothing follows this" } else { "one word too many" };
                return Wording::new("modifier", "the instruction's name ends before this", label).hint_if(theirs);
            }
            let near = || suggest(here, allowed.iter().copied()).map(|near| format!("did you mean `.{near}`?"));
            Wording::new("modifier", format!("`.{here}` cannot stand here"), format!("expected {}", words(allowed)))
                .hint_if(theirs.or_else(near))
        };
        /// A scope of an access that is for nobody else.
        NoScope(arch: Arch) => {
            let (which, others) = match arch {
                Arch::Ptx => ("weak", "`relaxed`, `acquire` and `release` take one, e.g. `relaxed"),
                Arch::Vulkan | Arch::OpenCl | Arch::Lockstep => ("plain", "`av`, `vis` and `atom` take one, e.g. `atom"),
            };
            Wording::new("scope", format!("a {which} access takes no scope"), "a scope")
                .hint(format!("leave it out; {others}.{here}`"))
        };
        /// Semantics of an atomic operation or barrier that has no order; those that it could have.
        NoOrder { orders: Vec<&'static str> } =>
            "no-order" ("`.{here}` is about an order, and none is given") ("nothing is ordered")
            ("leave it out, or put {} before the scope", words(orders));
        /// An instruction lacks a word, one of these.
        NoModifier { allowed: Vec<&'static str> } =>
            "modifier" ("the instruction's name is not complete") ("expected {}", words(allowed));
        /// Too many or too few operands; how the instruction is written.
        Operands { form: Form, found: usize } =>
            "operands" ("the instruction has {}", counted(*found as u64, "operand")) ("too many or too few")
            ("it is written `{form}`");
        /// An operand of another kind than is needed; how the instruction is written.
        Operand { form: Form, wanted: Expected } =>
            "operand" ("`{here}` stands where {wanted} is needed") ("expected {wanted}")
            ("the instruction is written `{form}`");
        /// A location where a register or a number is needed.
        LocationAsValue(arch: Arch) =>
            "location-as-value" ("`{here}` is a location, not a register") ("a location")
            ("{}", match arch {
                Arch::Ptx => format!("load it first, e.g. `ld.weak r0, {here}`; `P0:r0=&{here}` begins with its address"),
                Arch::Vulkan => format!("load it first, e.g. `ld.sc0 r0, {here}`; `P0:r0=&{here}` begins with its address"),
                Arch::OpenCl => format!("load it, e.g. `*{here}`, or `load_na({here})` in lists"),
                Arch::Lockstep => format!("load it first, e.g. `ld r0, {here}`"),
            });
        /// A register that is written but has the name of a location.
        RegisterIsLocation =>
            "register-name" ("`{here}` is declared as a location and written as a register") ("written here")
            ("give the register another name");
        /// The thread of this number is there already, at this place.
        ThreadTwice(first: Span) =>
            "thread-twice" ("two threads have one number") ("again")
            ("number the threads from P0 on, one for each column");
        /// There is no thread of this number; those that there are.
        NoThread { number: u32, known: Vec<u32> } =>
            "no-thread" ("there is no thread {}", thread_name(*number)) ("no such thread")
            ("there is: {}", known.iter().map(|n| thread_name(*n)).collect::<Vec<_>>().join(", "));
        /// The name is declared already, at this place.
        Twice(first: Span) => "declared-twice" ("`{here}` is declared twice") ("again") ("remove one of them");
        /// There is no location of this name; those that there are.
        NoLocation { known: Vec<String> } =>
            "no-location" ("there is no location `{here}`") ("not declared so far")
            ("{}", among(here, known, &format!("declare it in the initial state: `{here}=0;`"), plain));
        /// The thread has no register of this name; those that it has.
        NoRegister { thread: u32, known: Vec<String> } => {
            let name = here.rsplit(':').next().unwrap_or(here);
            Wording::new("no-register", format!("thread {} has no register `{name}`", thread_name(*thread)), "no such register")
                .hint(among(name, known, "it has none", plain))
        };
        /// Beyond the one element that a location has.
        Element => "element" ("a location has one element") ("beyond it") ("its number is 0");
        /// The label is there already, at this place.
        LabelTwice(first: Span) =>
            "label-twice" ("the thread has two labels of one name") ("again") ("give one of them another name");
        /// The thread has no label of this name; those that it has.
        NoLabel { thread: u32, known: Vec<String> } =>
            "no-label" ("thread P{thread} has no label `{here}`") ("no such label")
            ("{}", among(here, known, "a label is a cell of its own: `LC00:`", plain));
        /// OpenCL: there is no function of this name.
        Function(form: rsp::Form) =>
            "no-function" ("there is no function `{here}`") ("not a function")
            ("{}", among_functions(here, *form));
        /// OpenCL: a call has too many or too few arguments; how it is written.
        Arguments { form: Form, found: usize } =>
            "arguments" ("`{here}` has {}", counted(*found as u64, "argument")) ("too many or too few")
            ("it is written `{form}`");
        /// OpenCL: an argument of another kind than is needed.
        Argument { wanted: Expected } =>
            "argument" ("`{here}` stands where {wanted} is needed") ("expected {wanted}");
        /// OpenCL: no order or scope that can stand here, and those that can.
        Constant { allowed: Vec<&'static str> } =>
            "constant" ("`{here}` cannot stand here") ("expected {}", either(allowed.iter().map(|word| format!("`{word}`"))));
        /// OpenCL: a function that gives nothing stands where a value is needed.
        NoResult => "no-result" ("`{here}` gives no value") ("a value is needed") ("let it be a statement of its own");
        /// OpenCL: a thread names a location that is none of its parameters; those that it has.
        NoParameter { known: Vec<String> } =>
            "no-parameter" ("`{here}` is no parameter of the thread") ("not a location here")
            ("{}", among(here, known, &format!("declare it: `global atomic_int* {here}`"), plain));
        /// OpenCL: an atomic function on what is no atomic location.
        NotAtomic =>
            "not-atomic" ("`{here}` is accessed atomically and declared as `int`") ("not an atomic location")
            ("declare it as `atomic_int* {here}`");
        /// OpenCL: a parameter that another thread, here, declares otherwise.
        Type(first: Span) =>
            "type" ("threads declare `{here}` in different ways") ("otherwise than before")
            ("a location has one type and one region");
        /// OpenCL: a thread that stands so many times in the tree of scopes.
        Placed { number: u32, times: usize } =>
            "placed" ("thread P{number} is in {} of the scopeTree", counted(*times as u64, "work-group"))
            ("placed by `scopeTree`") ("each thread stands there once: `scopeTree (device (work_group P0 P1))`");
        /// OpenCL: so many bars separate nothing.
        Bars =>
            "bars" ("this many bars separate nothing") ("expected `||`, `|||` or `||||`")
            ("{BARS}");
        /// OpenCL: a loop.
        Loop =>
            "loop" ("loops are not read") ("a loop")
            ("where it waits for a value, write `if` instead, as the paper does: other executions are of no interest");
        /// OpenCL: a register has the name of a word of the language.
        Reserved =>
            "reserved-word" ("`{here}` is a word of the language, not a name") ("a register is named here")
            ("give the register another name, e.g. `r0`");
        /// Wavefronts: two columns are of one lane; the first one.
        ColumnTwice(first: Span) =>
            "thread-twice" ("two columns are `{here}`") ("again") ("name each lane once: `W0.0`, `W0.1`, `W1.0`");
        /// Wavefronts: an access that goes beyond the bytes of its location.
        Offset { offset: u32, bytes: u32 } =>
            "offset" ("{} from byte {offset} on are not within a location", counted(u64::from(*bytes), "byte"))
            ("beyond the location") ("a location has 8 bytes");
        /// Wavefronts: a cell with another instruction than one before it, here.
        OtherInstruction(first: Span) =>
            "lockstep" ("the lanes of a wavefront do not execute the same instruction in this row") ("another instruction")
            ("operation and size are the same in all lanes, operands may differ; leave the cells of masked lanes empty");
        /// Wavefronts: an `end` of nothing.
        NoBlock => "no-block" ("nothing ends here") ("no `if` or `while` is open") ("remove it");
        /// Wavefronts: a block without `end`.
        OpenBlock => "open-block" ("the block is not closed") ("begins here") ("add a row with `end` in the same lanes");
        /// Wavefronts: an `end` whose lanes are not those of its block, which begins here.
        EndLanes(block: Span) =>
            "end-lanes" ("a block ends in other lanes than it begins in") ("these lanes")
            ("`end` stands in each lane that has the `if` or `while`");
        /// Wavefronts: an instruction of a lane that is not in the block around it, which begins here.
        Masked(block: Span) =>
            "masked" ("the lane is masked here, since the block has no cell in its column") ("the lane waits")
            ("leave the cell empty, or let the lane have the `if` or `while`, too");
        /// Our gap: what the engines cannot express.
        Unsupported(gap: Gap) => { gap.wording() };
    }
}

/// The function that was perhaps meant, of many.
fn among_functions(here: &str, form: rsp::Form) -> String {
    let all = functions(form);
    match (suggest(here, all.iter().map(String::as_str)), form) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, rsp::Form::OpenCl) => {
            "atomic functions are written in full: `atomic_load_explicit(x, memory_order_acquire, memory_scope_device)`"
                .to_owned()
        }
        (None, rsp::Form::Lists) => {
            "there are `load`, `store`, `fetch_inc` and `compare_exchange`, each with `_na` or a scope: `load_DV_R(x)`"
                .to_owned()
        }
    }
}

fn words(dotless: &[&str]) -> String {
    either(dotless.iter().map(|word| format!("`.{word}`")))
}

complaints! {
    /// What a machine that runs PTX cannot express.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum Gap() {
        /// The test is for Vulkan.
        Vulkan => "unsupported" ("the engines run PTX, and this test is for Vulkan") ("a thread of Vulkan");
        /// The test is for OpenCL.
        OpenCl =>
            "unsupported" ("the engines run PTX, and this test is for OpenCL") ("a thread of OpenCL")
            ("`warpstep prove --machine rsp` goes through what the hardware does, `warpstep litmus` decides what the axioms allow");
        /// An access of wavefronts that is not aligned to its size.
        Alignment { offset: u32, bytes: u32 } =>
            "unsupported" ("{} at byte {offset} are not aligned, as accesses of PTX are", counted(u64::from(*bytes), "byte"))
            ("this access") ("`warpstep litmus` decides what the axioms allow it to do");
        /// Memory is accessed, or fenced, by a path that the engines do not have.
        Proxy(proxy: Proxy) =>
            "unsupported" ("the engines have no {} proxy", proxy.name())
            ("memory is accessed by the {} proxy", proxy.name());
        /// PTX has no such atomic operation.
        Atomic(op: Atom) => "unsupported" ("PTX has no atomic `{}`", op.name()) ("this operation");
        /// Which threads meet at a barrier depends on a register, and several may.
        BarrierNumber =>
            "unsupported" ("it cannot be told in advance which threads meet at this barrier")
            ("a register says which barrier");
        /// How many threads meet at a barrier depends on a register.
        Quorum =>
            "unsupported" ("it cannot be told in advance how many threads meet at this barrier")
            ("a register says how many");
        /// More threads than the quorum come to the barrier, some perhaps twice: in PTX it begins anew after the first ones.
        Latecomers { quorum: u64, threads: u32 } =>
            "unsupported" ("{threads} threads come to a barrier whose quorum is {quorum}")
            ("in PTX it begins anew after the first ones; late ones can be let pass only where nobody comes twice");
        /// More barriers than a block has.
        Barriers => "unsupported" ("the test has more than the 16 barriers of a block") ("one too many");
        /// Threads of a cta meet at a barrier, and each is to be a block of its own.
        BarrierOfBlocks =>
            "unsupported" ("threads of a cta meet at a barrier, and each is a block of its own")
            ("blocks have no barrier in common");
        /// Not all threads of a warp meet at a barrier; PTX counts whole warps.
        PartOfWarp { count: u32, warp: u32 } =>
            "unsupported" ("{count} of the {warp} threads of a warp meet at a barrier") ("PTX counts whole warps")
            ("give each thread a warp of its own: leave out --same-warp");
        /// Threads that do not fit into one block or one warp: how many there are, and how many may be.
        Threads { threads: usize, limit: usize } =>
            "unsupported" ("a cta has {threads} threads, {limit} are possible") ("one too many");
    }
}

/// What takes threads of lists apart.
const BARS: &str = "`||` stands between threads, `|||` between work-groups, `||||` between devices";

/// How an instruction is written, e.g. `st.ORDER.SCOPE location, value`.
pub type Form = &'static str;

phrases! {
    /// What would have fitted.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
    pub enum Expected {
        /// A fixed token or word.
        Token(text: &'static str) => ("`{text}`");
        /// A declaration of the initial state.
        Declaration => ("a declaration such as `x=0`");
        /// A proxy.
        Proxy => ("`generic`, `constant`, `texture` or `surface`");
        /// A thread.
        Thread => ("a thread such as `P0`");
        /// A lane or a CPU's thread.
        Column => ("a lane such as `W0.1` or a thread such as `C0`");
        /// An instruction or a label.
        Instruction => ("an instruction or a label");
        /// A register.
        Register => ("a register");
        /// A location, or a register that holds an address.
        Location => ("a location");
        /// A register or a number.
        Value => ("a value");
        /// A number.
        Number => ("a number");
        /// A statement of OpenCL.
        Statement => ("a statement");
        /// A label.
        Label => ("a label");
        /// A name.
        Name => ("a name");
        /// What a condition begins with.
        Quantifier => ("`exists`, `~exists`, `forall` or `final`");
        /// A condition.
        Condition => ("a condition");
        /// What can be compared.
        Term => ("a register, a location or a number");
        /// A comparison.
        Comparison => ("a comparison");
        /// The end of the text.
        End => ("the end of the text");
    }
}
