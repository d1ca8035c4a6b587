//! The text of the checker's complaints.

use super::diagnostic::{Diagnostic, said};
use crate::base::FileId;
use crate::program::check::{CheckError, Expected, Found, Problem as K};
use crate::program::consts::ConstError;
use crate::program::forms::Need;

/// The message of a complaint about the file.
pub fn diagnostic(error: &CheckError, file: FileId) -> Diagnostic {
    let diagnostic = text(&error.kind).at(file, error.span);
    match error.other {
        Some(other) => diagnostic.also(file, other, "declared here"),
        None => diagnostic,
    }
}

fn text(problem: &K) -> Diagnostic {
    let known = header(problem).or_else(|| instruction(problem)).or_else(|| call(problem));
    known.unwrap_or_else(|| declaration(problem))
}

fn header(problem: &K) -> Option<Diagnostic> {
    Some(match problem {
        K::NoTarget => said("no-target", "`.version` is not followed by a `.target` with an architecture", "")
            .hint("write `.target sm_80` or the like as the second directive"),
        K::UnknownVersion { version } => {
            said("unknown-version", format!("there is no PTX version {version}"), "not a version")
        }
        K::UnknownTarget { target } => said("unknown-target", format!("there is no target `{target}`"), "not a target"),
        K::AddressSize { bits } => {
            said("address-size", format!("the address size is {bits}, and must be 32 or 64"), "neither 32 nor 64")
        }
        K::Misplaced { directive } => {
            said("misplaced-directive", format!("`{directive}` stands in the wrong place or comes twice"), "")
                .hint("the order is `.version`, `.target`, `.address_size`, each once")
        }
        K::Needs { feature, need, version, sm } => {
            let message = format!("`{feature}` needs {}", needs(*need));
            let label = format!("the module is PTX {}.{} for sm_{sm}", version.0, version.1);
            said("needs-newer", message, label).hint(raise(*need, *version, *sm))
        }
        K::Withdrawn { feature, instead } => {
            said("withdrawn", format!("`{feature}` is not supported on sm_70 and later"), "")
                .hint(format!("use the form with {instead}"))
        }
        _ => return None,
    })
}

fn needs(need: Need) -> String {
    match (need.ptx > (1, 0), need.sm) {
        (true, 0) => format!("PTX {}.{}", need.ptx.0, need.ptx.1),
        (true, sm) => format!("PTX {}.{} and sm_{sm}", need.ptx.0, need.ptx.1),
        (false, sm) => format!("sm_{sm}"),
    }
}

fn raise(need: Need, version: (u16, u16), sm: u16) -> String {
    let mut parts = Vec::new();
    if version < need.ptx {
        parts.push(format!("`.version {}.{}`", need.ptx.0, need.ptx.1));
    }
    if sm < need.sm {
        parts.push(format!("`.target sm_{}`", need.sm));
    }
    format!("raise the module's header to {}", parts.join(" and "))
}

fn instruction(problem: &K) -> Option<Diagnostic> {
    Some(match problem {
        K::UnknownOpcode { name, similar } => {
            said("unknown-instruction", format!("there is no instruction `{name}`"), "not an instruction")
                .hint_if(meant(similar, ""))
        }
        K::Modifier { opcode, modifier, similar } => said(
            "bad-modifier",
            format!("`{opcode}` does not have the modifier `{modifier}` here"),
            "does not belong here",
        )
        .hint_if(meant(similar, ".")),
        K::ModifierTwice { opcode, modifier, first } => {
            let message = if modifier == first {
                format!("`{modifier}` stands twice in `{opcode}`")
            } else {
                format!("`{opcode}` cannot have both `{first}` and `{modifier}`")
            };
            said("bad-modifier", message, "excluded by an earlier modifier")
        }
        K::ModifierMissing { opcode, one_of } => {
            said("missing-modifier", format!("`{opcode}` lacks a modifier"), "incomplete")
                .hint(format!("add {}", alternatives(one_of)))
        }
        K::Types { opcode, given, allowed } => {
            let given = if given.is_empty() { "no type".to_owned() } else { format!("`{}`", given.concat()) };
            let hint = (!allowed.is_empty()).then(|| format!("its types are among {}", alternatives(allowed)));
            said("bad-type", format!("`{opcode}` is not defined for {given}"), "wrong types").hint_if(hint)
        }
        K::OperandCount { opcode, given, least, most } => {
            let count = match most {
                Some(most) if most == least => format!("{least}"),
                Some(most) => format!("{least} to {most}"),
                None => format!("at least {least}"),
            };
            let message = format!("`{opcode}` takes {count} operands in this form, not {given}");
            said("operand-count", message, format!("{given} operands"))
        }
        K::Operand { opcode, number, expected, found } => said(
            "bad-operand",
            format!("operand {number} of `{opcode}` must be {}", expected_text(expected)),
            format!("this is {}", found_text(found)),
        )
        .hint_if(advice(expected, found)),
        K::Range { number, low, high, value } => said(
            "out-of-range",
            format!("operand {number} must lie between {low} and {high}"),
            format!("this is {value}"),
        ),
        K::Multiple { number, of, value } => {
            said("out-of-range", format!("operand {number} must be a multiple of {of}"), format!("this is {value}"))
        }
        K::Space { opcode, expected, found } => said(
            "wrong-space",
            format!("`{opcode}` reaches `{expected}`, but the variable lies in `{found}`"),
            format!("lies in `{found}`"),
        )
        .hint(format!("write `{opcode}{found}`")),
        K::Guard { found } => {
            said("bad-guard", "a guard must be a predicate register", format!("this is {}", found_text(found)))
        }
        K::ReadOnly { name } => {
            said("read-only", format!("`{name}` is a special register and cannot be written"), "a destination")
        }
        K::ParamDirection { name, written } => {
            let (message, hint) = if *written {
                (format!("`{name}` is a parameter and cannot be written"), "copy it into a register or local variable")
            } else {
                (format!("`{name}` is a return parameter and cannot be read"), "keep the value in a register")
            };
            said("parameter-direction", message, "").hint(hint.to_owned())
        }
        _ => return None,
    })
}

fn call(problem: &K) -> Option<Diagnostic> {
    Some(match problem {
        K::NotCallable { name } => said(
            "not-callable",
            if name.is_empty() {
                "this is not a function".to_owned()
            } else {
                format!("`{name}` is not a device function")
            },
            "cannot be called",
        ),
        K::CallCount { name, given, declared, results } => {
            let what = if *results { "results" } else { "arguments" };
            said("call-count", format!("`{name}` has {declared} {what}, and the call gives {given}"), "wrong count")
        }
        K::CallArgument { name, number, results } => {
            let what = if *results { "result" } else { "argument" };
            let message = format!("{what} {number} does not match the type and size that `{name}` declares");
            said("call-argument", message, "does not match")
        }
        K::NoPrototype => said("no-prototype", "an indirect call needs a prototype or a list of targets", "")
            .hint("name the label of a `.callprototype` or `.calltargets` that stands before the call"),
        _ => return None,
    })
}

fn declaration(problem: &K) -> Diagnostic {
    match problem {
        K::Undeclared { name, similar, range } => {
            let hint = match range {
                Some(0) => Some("its register range is empty".to_owned()),
                Some(count) => Some(format!("the declared range ends at number {}", count - 1)),
                None => meant(similar, ""),
            };
            said("undeclared", format!("`{name}` is not declared here"), "not declared").hint_if(hint)
        }
        K::Duplicate { name } => {
            said("duplicate", format!("`{name}` is declared twice in one block"), "declared again")
        }
        K::Inconsistent { name, what } => {
            said("inconsistent", format!("`{name}` is declared again with another {what}"), "differs")
        }
        K::DeclaredType { ty, space } => {
            said("declared-type", format!("a variable in `{space}` cannot have the type `{ty}`"), "")
        }
        K::VectorType { ty, lanes } => {
            let hint = "vectors have 2 or 4 elements and at most 128 bits".to_owned();
            said("declared-type", format!("there is no vector of {lanes} `{ty}` here"), "").hint(hint)
        }
        K::DeclaredSpace { space, scope } => {
            said("declared-space", format!("a variable in `{space}` cannot be declared among {scope} declarations"), "")
        }
        K::Incomplete { name } => {
            let hint = "give the array a size, an initialiser, or `.extern`".to_owned();
            said("incomplete", format!("the size of `{name}` is not known"), "no size").hint(hint)
        }
        K::NoRoom { space, bytes, most } => {
            let hint = Some("put large tables into `.global` memory".to_owned());
            let message = format!("with this variable `{space}` has {bytes} bytes, and there is room for {most}");
            said("no-room", message, "does not fit any more").hint_if(hint)
        }
        K::RegisterArray { name } => {
            let hint = Some(format!("write `{name}<n>` for n registers"));
            said("register-array", format!("`{name}` is a register and cannot be an array"), "").hint_if(hint)
        }
        K::Alignment { align } => said("alignment", format!("the alignment {align} is not a power of two"), ""),
        K::NoInitialiser { name, space } => {
            said("no-initialiser", format!("`{name}` in `{space}` cannot have an initial value"), "")
        }
        K::TooManyElements { name, elements } => {
            said("too-many-elements", format!("`{name}` has room for {elements} elements"), "more than that")
        }
        K::InitialiserType { ty } if ty.is_empty() => {
            said("initialiser-type", "the braces do not match the array's dimensions", "")
        }
        K::InitialiserType { ty } => {
            said("initialiser-type", format!("this does not initialise a `{ty}`"), "wrong kind of value")
        }
        K::Constant(error) => {
            let message = match error {
                ConstError::DivisionByZero => "a constant is divided by zero",
                ConstError::BadOperands => "this constant expression has no value",
                ConstError::TooDeep => "this constant expression nests too deeply",
            };
            said("constant", message.to_owned(), "")
        }
        K::ParameterSpace { name, bytes, most } => said(
            "parameter-space",
            format!("the parameters of `{name}` take {bytes} bytes, and there is room for {most}"),
            "too many bytes",
        )
        .hint("pass a pointer to a buffer that holds the data"),
        K::SeveralResults => said("several-results", "a function has at most one result in `.param`", "one more")
            .hint("return a structure as an array of bytes, or declare the results in `.reg`"),
        K::SectionData { found } => {
            let hint = "a section holds labels and `.b8`, `.b16`, `.b32`, `.b64` with numbers or labels".to_owned();
            said("section", format!("`{found}` does not belong into a debug section"), "").hint(hint)
        }
        K::Directive { name, why } => said("directive", format!("`{name}` is not right here: {why}"), ""),
        _ => said("check", format!("{problem:?}"), ""),
    }
}

fn meant(similar: &Option<String>, prefix: &str) -> Option<String> {
    similar.as_ref().map(|name| format!("did you mean `{prefix}{name}`?"))
}

/// `a`, `b` or `c`; cut after twelve.
fn alternatives(words: &[String]) -> String {
    let shown: Vec<String> = words.iter().take(12).map(|w| format!("`{w}`")).collect();
    let more = if words.len() > shown.len() { " …" } else { "" };
    match shown.as_slice() {
        [one] => one.clone(),
        [rest @ .., last] if more.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => format!("{}{more}", shown.join(", ")),
    }
}

fn expected_text(expected: &Expected) -> String {
    match expected {
        Expected::Destination(ty, wider) => format!("a register of type `{ty}`{}", or_wider(*wider)),
        Expected::Source(ty, wider) => format!("a register or constant of type `{ty}`{}", or_wider(*wider)),
        Expected::Register(ty) => format!("a register of type `{ty}`"),
        Expected::Constant => "an integer constant".to_owned(),
        Expected::Predicate => "a predicate register".to_owned(),
        Expected::PredicateSource => "a predicate register, its negation or a constant".to_owned(),
        Expected::Address => "an address in brackets".to_owned(),
        Expected::AddressRegister => "an integer register, or a variable, that holds an address".to_owned(),
        Expected::Label => "a label of this function".to_owned(),
        Expected::BranchTargets => "the label of a `.branchtargets` before it".to_owned(),
        Expected::Vector(1, ty) => format!("one element of type `{ty}`"),
        Expected::Vector(lanes, ty) => format!("a list of {lanes} elements of type `{ty}`"),
        Expected::Pack(ty) => format!("a list of 2 or 4 equal registers that together are as wide as `{ty}`"),
        Expected::Pair => "a pair `register|predicate`".to_owned(),
        Expected::NoPair => "one register, not a pair".to_owned(),
        Expected::Bracket => "a bracketed list".to_owned(),
        Expected::Group => "a register or a list of registers".to_owned(),
    }
}

fn or_wider(wider: bool) -> &'static str {
    if wider { " or wider" } else { "" }
}

fn found_text(found: &Found) -> String {
    match found {
        Found::Register(ty, 1) => format!("a register of type `{ty}`"),
        Found::Register(ty, lanes) => format!("a vector register of {lanes} `{ty}`"),
        Found::Special(ty) => format!("a special register of type `{ty}`"),
        Found::Variable(space) => format!("a variable in `.{space}`"),
        Found::Label => "a label".to_owned(),
        Found::Function => "a function".to_owned(),
        Found::Table => "a list of targets or a prototype".to_owned(),
        Found::Integer => "an integer constant".to_owned(),
        Found::FloatConstant => "a floating-point constant".to_owned(),
        Found::Address => "an address".to_owned(),
        Found::Vector(1) => "a list of one element".to_owned(),
        Found::Vector(n) => format!("a list of {n} elements"),
        Found::Pair => "a pair".to_owned(),
        Found::Sink => "the sink `_`".to_owned(),
        Found::Negation => "a negation".to_owned(),
        Found::Other => "something else".to_owned(),
    }
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
    use crate::base::Span;

    #[test]
    fn messages_name_cause_and_remedy() {
        let kind = K::Operand {
            opcode: "add".to_owned(),
            number: 2,
            expected: Expected::Source(".f32".to_owned(), false),
            found: Found::Integer,
        };
        let error = CheckError::with(kind, Span::new(4, 5), Span::new(0, 1));
        let diagnostic = diagnostic(&error, FileId::default());
        assert_eq!(diagnostic.message, "operand 2 of `add` must be a register or constant of type `.f32`");
        assert_eq!(diagnostic.label, "this is an integer constant");
        assert!(diagnostic.hint.is_some());
        assert_eq!(diagnostic.secondary.len(), 1);
    }

    #[test]
    fn a_missing_target_is_named_alone() {
        let need = Need { ptx: (7, 8), sm: 90 };
        assert_eq!(raise(need, (8, 0), 80), "raise the module's header to `.target sm_90`");
    }
}
