//! Mutations of PTX text.

use chacha20::ChaCha8Rng;
use rand::RngExt;

/// The kinds of mutation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A token is left out.
    DroppedToken,
    /// A token stands twice.
    DoubledToken,
    /// Two modifiers of an instruction change places.
    SwappedModifiers,
    /// A modifier is left out.
    DroppedModifier,
    /// A type becomes another.
    ChangedType,
    /// A name becomes one that is not declared.
    UndeclaredName,
    /// Two operands change places.
    SwappedOperands,
    /// A modifier becomes another that occurs in the file.
    ChangedModifier,
    /// A name or number of an instruction becomes another that occurs in the file.
    ChangedOperand,
    /// A line is left out.
    DroppedLine,
}

/// Every kind.
pub const KINDS: [Kind; 10] = [
    Kind::DroppedToken,
    Kind::DoubledToken,
    Kind::SwappedModifiers,
    Kind::DroppedModifier,
    Kind::ChangedType,
    Kind::UndeclaredName,
    Kind::SwappedOperands,
    Kind::ChangedModifier,
    Kind::ChangedOperand,
    Kind::DroppedLine,
];

const TYPES: [&str; 18] = [
    ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".b8", ".b16", ".b32", ".b64", ".f16", ".f32",
    ".f64", ".pred", ".f16x2", ".bf16",
];
/// Types of elements of matrices.
const ELEMENTS: [&str; 7] = [".tf32", ".s4", ".u4", ".b1", ".e4m3", ".e5m2", ".b128"];

/// Byte ranges of the tokens; comments, strings and white space are none.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'%');
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b if b.is_ascii_whitespace() => at += 1,
            b'/' if bytes[at..].starts_with(b"//") => at += text[at..].find('\n').unwrap_or(bytes.len() - at),
            b'/' if bytes[at..].starts_with(b"/*") => at += text[at..].find("*/").map_or(bytes.len() - at, |n| n + 2),
            b'"' => at += text[at + 1..].find('"').map_or(bytes.len() - at, |n| n + 2),
            b => {
                at += 1;
                // `.u32`, `.shared::cta`, `%tid`, `0x1f`, `1.5`; `%tid.x` is two tokens.
                let digits = b.is_ascii_digit();
                if word(b) || b == b'.' {
                    while at < bytes.len() {
                        let colons = bytes[at..].starts_with(b"::") && b == b'.';
                        if colons {
                            at += 2;
                        } else if word(bytes[at]) || digits && bytes[at] == b'.' {
                            at += 1;
                        } else {
                            break;
                        }
                    }
                }
                tokens.push((start, at));
            }
        }
    }
    tokens
}

/// The token ranges of statements that are instructions: from the opcode to before the semicolon.
fn instructions(text: &str, tokens: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let is = |i: usize, s: &str| tokens.get(i).is_some_and(|(a, b)| &text[*a..*b] == s);
    let mut found = Vec::new();
    let mut start = 0;
    let mut depth = 0;
    for i in 0..tokens.len() {
        if is(i, "{") && i == start {
            start = i + 1;
            depth += 1;
        } else if is(i, "}") && i == start || is(i, ":") {
            start = i + 1;
        } else if is(i, "{") && !is(i - 1, "=") && text[tokens[start].0..].starts_with('.') {
            start = i + 1;
            depth += 1;
        } else if is(i, ";") {
            let mut from = start;
            if is(from, "@") {
                from += if is(from + 1, "!") { 3 } else { 2 };
            }
            if from < i && depth > 0 && text.as_bytes()[tokens[from].0].is_ascii_lowercase() {
                found.push((from, i));
            }
            start = i + 1;
        }
    }
    found
}

fn replace(text: &str, range: (usize, usize), with: &str) -> String {
    format!("{}{with}{}", &text[..range.0], &text[range.1..])
}

/// The line around a byte, for the report.
fn line(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    text[start..].lines().next().unwrap_or("").trim()
}

/// A mutation of a kind: the new text, and what was done where. `None` when the chosen place does not allow it. Where
/// opcodes are named, only instructions with these are touched.
pub fn mutate(text: &str, kind: Kind, opcodes: &[&str], rng: &mut ChaCha8Rng) -> Option<(String, String)> {
    let tokens = tokens(text);
    let mut instructions = instructions(text, &tokens);
    let named = |(from, _): &(usize, usize)| opcodes.contains(&&text[tokens[*from].0..tokens[*from].1]);
    instructions.retain(|range| opcodes.is_empty() || named(range));
    if instructions.is_empty() {
        return None;
    }
    // Of an instruction that may be touched, its semicolon included; else of the whole text.
    let any = |rng: &mut ChaCha8Rng| match opcodes {
        [] => rng.random_range(0..tokens.len()),
        _ => {
            let (from, to) = instructions[rng.random_range(0..instructions.len())];
            rng.random_range(from..=to)
        }
    };
    let of = |i: usize| &text[tokens[i].0..tokens[i].1];
    let modifiers = |from: usize, to: usize| -> Vec<usize> {
        (from + 1..to).take_while(|i| tokens[*i].0 == tokens[*i - 1].1 && of(*i).starts_with('.')).collect()
    };
    let (new, at) = match kind {
        Kind::DroppedToken => {
            let i = any(rng);
            (replace(text, tokens[i], " "), tokens[i].0)
        }
        Kind::DoubledToken => {
            let i = any(rng);
            let glue = if of(i).starts_with('.') { "" } else { " " };
            (replace(text, tokens[i], &format!("{}{glue}{}", of(i), of(i))), tokens[i].0)
        }
        Kind::SwappedModifiers => {
            let (from, to) = instructions[rng.random_range(0..instructions.len())];
            let mods = modifiers(from, to);
            if mods.len() < 2 {
                return None;
            }
            let i = mods[rng.random_range(0..mods.len() - 1)];
            if of(i) == of(i + 1) {
                return None;
            }
            let both = format!("{}{}", of(i + 1), of(i));
            (replace(text, (tokens[i].0, tokens[i + 1].1), &both), tokens[i].0)
        }
        Kind::DroppedModifier => {
            let (from, to) = instructions[rng.random_range(0..instructions.len())];
            let mods = modifiers(from, to);
            if mods.is_empty() {
                return None;
            }
            let i = mods[rng.random_range(0..mods.len())];
            (replace(text, tokens[i], ""), tokens[i].0)
        }
        Kind::ChangedType => {
            let i = any(rng);
            let elements = if opcodes.is_empty() { &[] } else { &ELEMENTS[..] };
            let types: Vec<&str> = TYPES.iter().chain(elements).copied().collect();
            if !types.contains(&of(i)) {
                return None;
            }
            let new = types[rng.random_range(0..types.len())];
            if new == of(i) {
                return None;
            }
            (replace(text, tokens[i], new), tokens[i].0)
        }
        Kind::UndeclaredName => {
            let (from, to) = instructions[rng.random_range(0..instructions.len())];
            let names: Vec<usize> = (from + 1..to)
                .filter(|i| {
                    let first = of(*i).as_bytes()[0];
                    (first.is_ascii_alphabetic() || matches!(first, b'%' | b'$' | b'_')) && of(*i) != "_"
                })
                .collect();
            if names.is_empty() {
                return None;
            }
            let i = names[rng.random_range(0..names.len())];
            let new = match rng.random_range(0..3) {
                0 => format!("{}q", of(i)),
                1 => format!("{}9999", of(i)),
                _ => "zz".to_owned(),
            };
            (replace(text, tokens[i], &new), tokens[i].0)
        }
        Kind::SwappedOperands => {
            let (from, to) = instructions[rng.random_range(0..instructions.len())];
            let first = modifiers(from, to).last().map_or(from + 1, |i| i + 1);
            let mut operands = vec![(first, first)];
            let mut depth = 0;
            for i in first..to {
                match of(i) {
                    "[" | "{" | "(" => depth += 1,
                    "]" | "}" | ")" => depth -= 1,
                    "," if depth == 0 => {
                        operands.push((i + 1, i + 1));
                        continue;
                    }
                    _ => {}
                }
                if let Some(last) = operands.last_mut() {
                    last.1 = i + 1;
                }
            }
            if operands.len() < 2 {
                return None;
            }
            let k = rng.random_range(0..operands.len() - 1);
            let range = |(a, b): (usize, usize)| (a < b).then(|| (tokens[a].0, tokens[b - 1].1));
            let (a, b) = (range(operands[k])?, range(operands[k + 1])?);
            if text[a.0..a.1] == text[b.0..b.1] {
                return None;
            }
            let swapped = format!("{}{}{}", &text[b.0..b.1], &text[a.1..b.0], &text[a.0..a.1]);
            (replace(text, (a.0, b.1), &swapped), a.0)
        }
        Kind::ChangedModifier => {
            let (from, to) = instructions[rng.random_range(0..instructions.len())];
            let mods = modifiers(from, to);
            let (other, end) = instructions[rng.random_range(0..instructions.len())];
            let others = modifiers(other, end);
            if mods.is_empty() || others.is_empty() {
                return None;
            }
            let i = mods[rng.random_range(0..mods.len())];
            let new = of(others[rng.random_range(0..others.len())]);
            if new == of(i) {
                return None;
            }
            (replace(text, tokens[i], new), tokens[i].0)
        }
        Kind::ChangedOperand => {
            let mut pick = || {
                let (from, to) = instructions[rng.random_range(0..instructions.len())];
                let first = modifiers(from, to).last().map_or(from + 1, |i| i + 1);
                let words: Vec<usize> = (first..to)
                    .filter(|i| !of(*i).starts_with(['.', ',', '[', ']', '{', '}', '(', ')', '+', '-']))
                    .collect();
                (!words.is_empty()).then(|| words[rng.random_range(0..words.len())])
            };
            let (i, other) = (pick()?, pick()?);
            if of(i) == of(other) {
                return None;
            }
            (replace(text, tokens[i], of(other)), tokens[i].0)
        }
        Kind::DroppedLine => {
            let (at, end) = tokens[any(rng)];
            let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
            let stop = text[end..].find('\n').map_or(text.len(), |n| end + n);
            (replace(text, (start, stop), ""), start)
        }
    };
    let what = format!("`{}` => `{}`", line(text, at), line(&new, at));
    Some((new, what))
}
