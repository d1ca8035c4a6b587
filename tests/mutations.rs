//! The parser never panics and never hangs, whatever the text. Deterministic: the same mutations in every run.

#![allow(clippy::disallowed_methods, reason = "these tests bound the time that parsing takes")]

use std::path::Path;
use std::time::{Duration, Instant};
use warpstep::ptx::{MAX_ERRORS, SyntaxErrorKind, parse, print};

/// A small generator whose stream is fixed here (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap_or(0) % n.max(1)
    }
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Parses, and checks what holds for every text.
fn check(text: &str) {
    let (module, errors) = parse(text);
    assert!(errors.len() <= MAX_ERRORS + 1);
    assert!(errors.windows(2).all(|w| w[0].span.start <= w[1].span.start), "errors come in order");
    assert!(errors.iter().all(|e| e.span.start <= e.span.end && e.span.end as usize <= text.len()));
    if errors.is_empty() {
        let once = print(&module);
        let (again, errors) = parse(&once);
        assert_eq!(errors, [], "what is printed parses");
        assert_eq!(print(&again), once);
    }
}

#[test]
fn truncated_at_every_byte() {
    let text = example("reduction/reduction.ptx");
    for end in 0..=text.len() {
        if text.is_char_boundary(end) {
            check(&text[..end]);
        }
    }
}

#[test]
fn random_bytes_changed() {
    let pool = b"{}()[];:,.@!|<>=+-*/%_\"#$0x9afd \n";
    let mut random = Random(1);
    for name in ["reduction/reduction.ptx", "function_pointers/function_pointers.ptx", "printf/printf.ptx"] {
        let original = example(name);
        for _ in 0..300 {
            let mut bytes = original.clone().into_bytes();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes[at] = pool[random.below(pool.len())],
                    1 => bytes.insert(at, pool[random.below(pool.len())]),
                    _ => drop(bytes.remove(at)),
                }
            }
            if let Ok(text) = std::str::from_utf8(&bytes) {
                check(text);
            }
        }
    }
}

#[test]
fn tokens_deleted_doubled_and_swapped() {
    let original = example("recursion/recursion.ptx");
    let mut pieces: Vec<&str> = original.split_inclusive([' ', '\t', '\n', ',', ';', '.', '(', '{']).collect();
    let mut random = Random(2);
    for _ in 0..600 {
        let (a, b) = (random.below(pieces.len()), random.below(pieces.len()));
        let text = match random.below(3) {
            0 => [&pieces[..a], &pieces[a + 1..]].concat().concat(),
            1 => [&pieces[..a], &pieces[a..=a], &pieces[a..]].concat().concat(),
            _ => {
                pieces.swap(a, b);
                let text = pieces.concat();
                pieces.swap(a, b);
                text
            }
        };
        check(&text);
    }
}

#[test]
fn garbage_of_every_kind() {
    let mut random = Random(3);
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..random.below(400)).map(|_| random.below(256) as u8).collect();
        check(&String::from_utf8_lossy(&bytes));
        let printable: String = bytes.iter().map(|b| char::from(b % 95 + 32)).collect();
        check(&format!(".version 8.0\n.target sm_80\n.entry k() {{\n{printable}"));
        check(&format!(".version 8.0\n.global .b8 x[] = {{{printable}"));
    }
}

#[test]
fn deep_nesting_gives_a_clear_error_quickly() {
    let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let many = 4_000_000;
    let cases = [
        ("mov.u32 %r1, ", "("),
        ("mov.u32 %r1, ", "-"),
        ("mov.u32 %r1, ", "1?"),
        ("mov.u32 %r1, 1", "+1"),
        ("mov.u32 %r1, ", "{"),
        ("mov.u32 %r1, ", "["),
        ("mov.u32 %r1, ", "(.s64)"),
        ("ld.u32 %r1, [a", "[a"),
        ("", "{"),
        ("", "}"),
        ("", "L:"),
        ("", "@"),
        ("", "a "),
        ("", "a.b "),
        ("", ";"),
        ("", ".reg "),
        ("call (", "a,"),
        ("", "/*"),
        ("", "\""),
    ];
    for (start, unit) in cases {
        let text = format!("{head}.entry k() {{\n{start}{}", unit.repeat(many / unit.len()));
        let before = Instant::now();
        let (_, errors) = parse(&text);
        assert!(!errors.is_empty(), "{unit}");
        assert!(before.elapsed() < Duration::from_secs(20), "{unit}: {:?}", before.elapsed());
    }
    for (start, unit) in [("", "{"), (".global .b8 x[] = ", "{"), (".global .b8 x[] = {", "(1+"), (".entry k(", "(")] {
        let (_, errors) = parse(&format!("{head}{start}{}", unit.repeat(many / unit.len())));
        assert!(!errors.is_empty(), "{start}{unit}");
    }
    let (_, errors) = parse(&format!("{head}.entry k() {{\nmov.u32 %r1, {};\n}}", "(".repeat(many)));
    assert!(matches!(errors[..], [ref e] if matches!(e.kind, SyntaxErrorKind::TooDeep { .. })), "{errors:?}");
    let (_, errors) = parse(&format!("{head}.entry k() {{\n{}", "{".repeat(many)));
    assert!(errors.iter().any(|e| matches!(e.kind, SyntaxErrorKind::TooDeep { .. })), "{errors:?}");
}
