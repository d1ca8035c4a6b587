//! Memory programs as text, in the form of the report's listings.

use super::tree::{BExp, Level, MemProgram, MempFile, Stmt, StmtKind};

/// A file's text: what [`parse`](super::parse) reads as the same programs.
#[must_use]
pub fn print(file: &MempFile) -> String {
    let mut out = String::new();
    if let Some((name, _)) = &file.base {
        out = format!("use {name};\n\n");
    }
    for (k, program) in file.programs.iter().enumerate() {
        if k > 0 {
            out.push('\n');
        }
        print_program(program, &mut out);
    }
    out
}

fn print_program(program: &MemProgram, out: &mut String) {
    let names: Vec<String> = program.serves.iter().map(|(key, _)| key.name()).collect();
    out.push_str(&format!("program {}:\n\n", names.join(", ")));
    statements(&program.body, 0, out);
}

fn statements(list: &[Stmt], depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for (k, stmt) in list.iter().enumerate() {
        match &stmt.kind {
            StmtKind::Nop => out.push_str(&format!("{indent};\n")),
            StmtKind::Yield => {
                out.push_str(&format!("{indent}yield;\n"));
                if k + 1 < list.len() {
                    out.push('\n');
                }
            }
            StmtKind::End => out.push_str(&format!("{indent}end;\n")),
            StmtKind::Op(op) => out.push_str(&format!("{indent}{};\n", op.name())),
            StmtKind::If { cond, then, otherwise, .. } => {
                out.push_str(&format!("{indent}if ({})\n{indent}{{\n", condition(cond, 0)));
                statements(then, depth + 1, out);
                out.push_str(&format!("{indent}}}\n"));
                if let Some(otherwise) = otherwise {
                    out.push_str(&format!("{indent}else\n{indent}{{\n"));
                    statements(otherwise, depth + 1, out);
                    out.push_str(&format!("{indent}}}\n"));
                }
                if k + 1 < list.len() {
                    out.push('\n');
                }
            }
        }
    }
}

/// A condition; in parentheses when it binds less tightly than `strength`: 0 `or`, 1 `and`, 2 `!`.
fn condition(cond: &BExp, strength: u32) -> String {
    let (own, text) = match cond {
        BExp::Const(value) => return value.to_string(),
        BExp::IsCached(Level::L1) => return "isCachedL1".to_owned(),
        BExp::IsCached(Level::L2) => return "isCachedL2".to_owned(),
        BExp::Not(inner) => (2, format!("!{}", condition(inner, 2))),
        // A chain groups to the left, so a chain on the right needs parentheses.
        BExp::And(left, right) => (1, format!("{} and {}", condition(left, 1), condition(right, 2))),
        BExp::Or(left, right) => (0, format!("{} or {}", condition(left, 0), condition(right, 1))),
    };
    if own < strength { format!("({text})") } else { text }
}
