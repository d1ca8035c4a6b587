//! What the checker complains about.

use crate::base::{Span, Wording, complaints, either, phrases};
use crate::program::consts::ConstError;
use crate::program::forms::{Need, Specific};
use crate::ptx::tree::REMOTE;

/// A complaint: what, where, and where the other party stands when there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    /// What is wrong.
    pub kind: Problem,
    /// Where.
    pub span: Span,
    /// The declaration or the other party.
    pub other: Option<Span>,
}

phrases! {
    /// What a name turned out to be.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Found {
        /// A register of this type, with so many lanes.
        Register(ty: String, lanes: u8) => {
            if *lanes == 1 { format!("a register of type `{ty}`") } else { format!("a vector register of {lanes} `{ty}`") }
        };
        /// A special register of this type.
        Special(ty: String) => ("a special register of type `{ty}`");
        /// A variable in this state space.
        Variable(space: String) => ("a variable in `.{space}`");
        /// A label.
        Label => ("a label");
        /// A function.
        Function => ("a function");
        /// The label of a `.branchtargets`, `.calltargets` or `.callprototype`.
        Table => ("a list of targets or a prototype");
        /// An integer constant.
        Integer => ("an integer constant");
        /// A floating-point constant.
        FloatConstant => ("a floating-point constant");
        /// `[…]`
        Address => ("an address");
        /// `{…}` of so many elements.
        Vector(elements: usize) => {
            if *elements == 1 { "a list of one element".to_owned() } else { format!("a list of {elements} elements") }
        };
        /// `a|b`
        Pair => ("a pair");
        /// `_`
        Sink => ("the sink `_`");
        /// `!p` or `-r`
        Negation => ("a negation");
        /// Something else.
        Other => ("something else");
    }
}

phrases! {
    /// What an operand should have been.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Expected {
        /// A destination register of a type; whether a wider one would do.
        Destination(ty: String, wider: bool) => ("a register of type `{ty}`{}", or_wider(*wider));
        /// A register or constant of a type; whether a wider one would do.
        Source(ty: String, wider: bool) => ("a register or constant of type `{ty}`{}", or_wider(*wider));
        /// A register of a type.
        Register(ty: String) => ("a register of type `{ty}`");
        /// An integer constant.
        Constant => ("an integer constant");
        /// An alignment.
        PowerOfTwo => ("a power of two");
        /// A predicate register.
        Predicate => ("a predicate register");
        /// A predicate, its negation, or a constant.
        PredicateSource => ("a predicate register, its negation or a constant");
        /// `[address]`
        Address => ("an address in brackets");
        /// An integer register of 32 or 64 bits that holds an address.
        AddressRegister => ("an integer register, or a variable, that holds an address");
        /// A label of this function.
        Label => ("a label of this function");
        /// The label of a `.branchtargets`.
        BranchTargets => ("the label of a `.branchtargets` before it");
        /// A list of so many elements of a type.
        Vector(lanes: usize, ty: String) => {
            match lanes {
                1 => format!("one element of type `{ty}`"),
                _ => format!("a list of {lanes} elements of type `{ty}`"),
            }
        };
        /// A list whose elements together have as many bits as the type.
        Pack(ty: String) => ("a list of 2 or 4 equal registers that together are as wide as `{ty}`");
        /// `d|p`
        Pair => ("a pair `register|predicate`");
        /// One register, not a pair.
        NoPair => ("one register, not a pair");
        /// `[name, {…}]`
        Bracket => ("a bracketed list");
        /// What a texture, sampler or surface is named by: the type of a variable.
        Handle(ty: &'static str) => ("a `{ty}` variable or a register of 64 bits");
        /// A list of so many coordinates or more.
        Coordinates(count: usize) => ("a list of 1, 2 or 4 elements, {count} at least");
        /// A coordinate of a type.
        Coordinate(ty: String) => ("a register of 32 bits, or a constant, of type `{ty}`");
        /// `{a, b, …}`
        Group => ("a register or a list of registers");
    }
}

const fn or_wider(wider: bool) -> &'static str {
    if wider { " or wider" } else { "" }
}

complaints! {
    /// Everything that can be wrong.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum Problem() {
        /// `.target` does not follow `.version`.
        NoTarget =>
            "no-target" ("`.version` is not followed by a `.target` with an architecture") ("")
            ("write `.target sm_80` or the like as the second directive");
        /// A PTX version that does not exist.
        UnknownVersion { version: String } =>
            "unknown-version" ("there is no PTX version {version}") ("not a version");
        /// A target that does not exist.
        UnknownTarget { target: String } => "unknown-target" ("there is no target `{target}`") ("not a target");
        /// `.address_size` other than 32 and 64.
        AddressSize { bits: u32 } =>
            "address-size" ("the address size is {bits}, and must be 32 or 64") ("neither 32 nor 64");
        /// A header directive out of its place, or twice.
        Misplaced { directive: &'static str } =>
            "misplaced-directive" ("`{directive}` stands in the wrong place or comes twice") ("")
            ("the order is `.version`, `.target`, `.address_size`, each once");
        /// A feature that the module's version or target does not have.
        Needs { feature: String, need: Need, version: (u16, u16), sm: u16 } =>
            "needs-newer" ("`{feature}` needs {}", needs(*need))
            ("the module is PTX {}.{} for sm_{sm}", version.0, version.1) ("{}", raise(*need, *version, *sm));
        /// A feature that the target or version no longer has.
        Withdrawn { feature: String, instead: &'static str } =>
            "withdrawn" ("`{feature}` is not supported on sm_70 and later") ("") ("use the form with {instead}");
        /// No such instruction.
        UnknownOpcode { name: String, similar: Option<String> } =>
            "unknown-instruction" ("there is no instruction `{name}`") ("not an instruction") if did_you_mean(similar, "");
        /// No such modifier for the instruction.
        Modifier { opcode: String, modifier: String, similar: Option<String> } =>
            "bad-modifier" ("`{opcode}` does not have the modifier `{modifier}` here") ("does not belong here")
            if did_you_mean(similar, ".");
        /// A modifier twice, or beside one that excludes it.
        ModifierTwice { opcode: String, modifier: String, first: String } => {
            let message = if modifier == first {
                format!("`{modifier}` stands twice in `{opcode}`")
            } else {
                format!("`{opcode}` cannot have both `{first}` and `{modifier}`")
            };
            Wording::new("bad-modifier", message, "excluded by an earlier modifier")
        };
        /// A required modifier is missing.
        ModifierMissing { opcode: String, one_of: Vec<String> } =>
            "missing-modifier" ("`{opcode}` lacks a modifier") ("incomplete") ("add {}", alternatives(one_of));
        /// The instruction does not have the types.
        Types { opcode: String, given: Vec<String>, allowed: Vec<String> } => {
            let given = if given.is_empty() { "no type".to_owned() } else { format!("`{}`", given.concat()) };
            let hint = (!allowed.is_empty()).then(|| format!("its types are among {}", alternatives(allowed)));
            Wording::new("bad-type", format!("`{opcode}` is not defined for {given}"), "wrong types").hint_if(hint)
        };
        /// A matrix instruction of a shape and types that there is none of.
        Matrix { head: String } =>
            "bad-shape" ("there is no `{head}`") ("no such combination of shape, layout and types")
            ("the PTX ISA has a table of shapes and types for each matrix instruction");
        /// Too many or too few operands.
        OperandCount { opcode: String, given: usize, least: usize, most: Option<usize> } => {
            let count = match most {
                Some(most) if most == least => format!("{least}"),
                Some(most) => format!("{least} to {most}"),
                None => format!("at least {least}"),
            };
            let message = format!("`{opcode}` takes {count} operands in this form, not {given}");
            Wording::new("operand-count", message, format!("{given} operands"))
        };
        /// An operand of the wrong kind or type.
        Operand { opcode: String, number: usize, expected: Expected, found: Found } =>
            "bad-operand" ("operand {number} of `{opcode}` must be {expected}") ("this is {found}")
            if advice(expected, found);
        /// A selector that an operand of a video instruction does not have; what it may have instead, if anything.
        Selector { opcode: String, number: usize, selector: String, allowed: &'static str } =>
            "bad-selector" ("operand {number} of `{opcode}` cannot have the selector `{selector}`") ("does not belong here")
            if if allowed.is_empty() {
                Some("write the operand without a selector".to_owned())
            } else {
                Some(format!("it may have {allowed}"))
            };
        /// Operands of `vmad` that are negated where they cannot be.
        Negations { one: bool } =>
            "bad-operand" ("`vmad` cannot negate these operands") ("not together")
            if Some(if *one { "with `.po` nothing is negated" } else { "it negates the product or the third source" }.to_owned());
        /// A constant out of its range.
        Range { number: usize, low: i64, high: i64, value: i64 } =>
            "out-of-range" ("operand {number} must lie between {low} and {high}") ("this is {value}");
        /// A constant that is not a multiple of a number.
        Multiple { number: usize, of: i64, value: i64 } =>
            "out-of-range" ("operand {number} must be a multiple of {of}") ("this is {value}");
        /// A constant that is none of a few.
        Among { number: usize, among: &'static [i64], value: i64 } =>
            "out-of-range" ("operand {number} must be {}", either(among.iter().map(|n| n.to_string())))
            ("this is {value}");
        /// The state of a barrier that may be another block's.
        RemoteState { opcode: String } =>
            "bad-operand" ("`{opcode}` on `.shared::cluster` gives no state") ("must be `_`")
            ("write `_`, or `.shared::cta` where the barrier is the block's own");
        /// The address's space is not the instruction's.
        Space { opcode: String, expected: String, found: String } =>
            "wrong-space" ("`{opcode}` reaches `{expected}`, but the variable lies in `{found}`") ("lies in `{found}`")
            ("write `{opcode}{found}`");
        /// A name that is not declared here.
        Undeclared { name: String, similar: Option<String>, range: Option<u32> } =>
            "undeclared" ("`{name}` is not declared here") ("not declared")
            if match range {
                Some(0) => Some("its register range is empty".to_owned()),
                Some(count) => Some(format!("the declared range ends at number {}", count - 1)),
                None => did_you_mean(similar, ""),
            };
        /// A name declared twice in one block.
        Duplicate { name: String } => "duplicate" ("`{name}` is declared twice in one block") ("declared again");
        /// A redeclaration that differs.
        Inconsistent { name: String, what: &'static str } =>
            "inconsistent" ("`{name}` is declared again with another {what}") ("differs");
        /// A guard that is not a predicate.
        Guard { found: Found } => "bad-guard" ("a guard must be a predicate register") ("this is {found}");
        /// A special register as a destination.
        ReadOnly { name: String } =>
            "read-only" ("`{name}` is a special register and cannot be written") ("a destination");
        /// A write to a parameter, or a read of a return parameter.
        ParamDirection { name: String, written: bool } => {
            let (message, hint) = if *written {
                (format!("`{name}` is a parameter and cannot be written"), "copy it into a register or local variable")
            } else {
                (format!("`{name}` is a return parameter and cannot be read"), "keep the value in a register")
            };
            Wording::new("parameter-direction", message, "").hint(hint)
        };
        /// An argument or result of a call that is stored or loaded under a guard (PTX ISA 7.1).
        GuardedArgument { name: String, opcode: String } => {
            let message = format!("`{opcode}` of `{name}`, which a call takes or gives, cannot be under a guard");
            Wording::new("guarded-argument", message, "here")
                .hint("store and load it always; choose the value with `selp`, or branch around the call and both")
        };
        /// A type that cannot be declared in the space.
        DeclaredType { ty: String, space: String } =>
            "declared-type" ("a variable in `{space}` cannot have the type `{ty}`") ("");
        /// A vector of more than 128 bits, or of predicates.
        VectorType { ty: String, lanes: u8 } =>
            "declared-type" ("there is no vector of {lanes} `{ty}` here") ("")
            ("vectors have 2 or 4 elements and at most 128 bits");
        /// A variable in a space that its scope does not allow.
        DeclaredSpace { space: String, scope: &'static str } =>
            "declared-space" ("a variable in `{space}` cannot be declared among {scope} declarations") ("");
        /// An array of registers, an array without a size.
        Incomplete { name: String } =>
            "incomplete" ("the size of `{name}` is not known") ("no size")
            ("give the array a size, an initialiser, or `.extern`");
        /// A register declared as an array.
        RegisterArray { name: String } =>
            "register-array" ("`{name}` is a register and cannot be an array") ("")
            ("write `{name}<n>` for n registers");
        /// An alignment that is not a power of two.
        Alignment { align: u32 } => "alignment" ("the alignment {align} is not a power of two") ("");
        /// An initialiser where none is allowed.
        NoInitialiser { name: String, space: String } =>
            "no-initialiser" ("`{name}` in `{space}` cannot have an initial value") ("");
        /// An initialiser with more elements than the array.
        TooManyElements { name: String, elements: u64 } =>
            "too-many-elements" ("`{name}` has room for {elements} elements") ("more than that");
        /// An initialiser of the wrong type or shape.
        InitialiserType { ty: String } => {
            if ty.is_empty() {
                let label = "each element of an array of arrays has braces of its own";
                return Wording::new("initialiser-type", "the braces do not match the array's dimensions", label);
            }
            Wording::new("initialiser-type", format!("this does not initialise a `{ty}`"), "wrong kind of value")
        };
        /// A constant expression without a value.
        Constant(error: ConstError) => "constant" ("{error}") ("");
        /// Variables that are more than there is room for in their space.
        NoRoom { space: String, bytes: u64, most: u64 } =>
            "no-room" ("with this variable `{space}` has {bytes} bytes, and there is room for {most}")
            ("does not fit any more") ("put large tables into `.global` memory");
        /// A kernel with more bytes of parameters than there is room for.
        ParameterSpace { name: String, bytes: u64, most: u64 } =>
            "parameter-space" ("the parameters of `{name}` take {bytes} bytes, and there is room for {most}")
            ("too many bytes") ("pass a pointer to a buffer that holds the data");
        /// Several results in parameter space.
        SeveralResults =>
            "several-results" ("a function has at most one result in `.param`") ("one more")
            ("return a structure as an array of bytes, or declare the results in `.reg`");
        /// A call of something that is not a device function.
        NotCallable { name: String } => {
            let message = match name.as_str() {
                "" => "this is not a function".to_owned(),
                name => format!("`{name}` is not a device function"),
            };
            Wording::new("not-callable", message, "cannot be called")
        };
        /// A call with the wrong number of arguments or results.
        CallCount { name: String, given: usize, declared: usize, results: bool } =>
            "call-count"
            ("`{name}` has {declared} {}, and the call gives {given}", if *results { "results" } else { "arguments" })
            ("wrong count");
        /// An argument that does not match its parameter.
        CallArgument { name: String, number: usize, results: bool } =>
            "call-argument"
            ("{} {number} does not match the type and size that `{name}` declares", if *results { "result" } else { "argument" })
            ("does not match");
        /// An indirect call without a prototype.
        NoPrototype =>
            "no-prototype" ("an indirect call needs a prototype or a list of targets") ("")
            ("name the label of a `.callprototype` or `.calltargets` that stands before the call");
        /// Something other than labels and numbers in a debug section.
        SectionData { found: String } =>
            "section" ("`{found}` does not belong into a debug section") ("")
            ("a section holds labels and `.b8`, `.b16`, `.b32`, `.b64` with numbers or labels");
        /// A pragma that names us and that we do not have.
        UnknownPragma { text: String } =>
            "unknown-pragma" ("there is no pragma `{text}`") ("not known")
            ("the one of ours is `.pragma \"{REMOTE}\";`, which marks the next instruction as a remote access");
        /// `.maxntid` and `.reqntid` together, zero threads.
        Directive { name: String, why: &'static str } => "directive" ("`{name}` is not right here: {why}") ("");
    }
}

impl CheckError {
    /// A complaint with one party.
    #[must_use]
    pub const fn new(kind: Problem, span: Span) -> Self {
        Self { kind, span, other: None }
    }

    /// The same, boxed.
    #[must_use]
    pub fn boxed(kind: Problem, span: Span) -> Box<Self> {
        Box::new(Self::new(kind, span))
    }

    /// A complaint with two.
    #[must_use]
    pub const fn with(kind: Problem, span: Span, other: Span) -> Self {
        Self { kind, span, other: Some(other) }
    }
}

fn needs(need: Need) -> String {
    match (need.ptx > (1, 0), need.sm) {
        (true, 0) => format!("PTX {}.{}", need.ptx.0, need.ptx.1),
        (true, sm) => format!("PTX {}.{} and sm_{sm}{}", need.ptx.0, need.ptx.1, letter(need)),
        (false, sm) => format!("sm_{sm}{}", letter(need)),
    }
}

/// What stands behind a target's number.
const fn letter(need: Need) -> &'static str {
    match need.specific {
        Specific::No => "",
        Specific::Family | Specific::Among(_) if need.sm >= 100 => "f",
        _ => "a",
    }
}

fn raise(need: Need, version: (u16, u16), sm: u16) -> String {
    let mut parts = Vec::new();
    if version < need.ptx {
        parts.push(format!("`.version {}.{}`", need.ptx.0, need.ptx.1));
    }
    if sm < need.sm || need.specific != Specific::No {
        parts.push(format!("`.target sm_{}{}`", need.sm, letter(need)));
    }
    format!("raise the module's header to {}", parts.join(" and "))
}

fn did_you_mean(similar: &Option<String>, prefix: &str) -> Option<String> {
    similar.as_ref().map(|name| format!("did you mean `{prefix}{name}`?"))
}

/// `a`, `b` or `c`; cut after twelve.
fn alternatives(words: &[String]) -> String {
    let shown: Vec<String> = words.iter().take(12).map(|w| format!("`{w}`")).collect();
    if words.len() > shown.len() { format!("{} …", shown.join(", ")) } else { either(shown) }
}

fn advice(expected: &Expected, found: &Found) -> Option<String> {
    let text = match (expected, found) {
        (Expected::Source(..), Found::Special(_)) => "copy the special register into a register with `mov` first",
        (Expected::Source(ty, _), Found::Integer) if ty.starts_with(".f") => {
            "write the constant as `0f…`, `0d…` or with a decimal point"
        }
        (Expected::Source(..), Found::Variable(_)) => {
            "take the variable's address with `mov`, or load its value with `ld`"
        }
        (Expected::Address, Found::Register(..) | Found::Variable(_)) => "put it in brackets",
        _ => return None,
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_target_is_named_alone() {
        let need = Need::new((7, 8), 90);
        assert_eq!(raise(need, (8, 0), 80), "raise the module's header to `.target sm_90`");
    }
}
