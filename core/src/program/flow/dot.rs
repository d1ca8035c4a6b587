//! The control-flow graph of a function as DOT text.

use super::graph::{EdgeKind, Ending, Graph};
use crate::base::{Pc, SourceMap};
use crate::program::env::{FuncId, ProgEnv};
use crate::program::instr::Op;
use std::fmt::Write;

/// Characters of a PTX instruction that are shown.
const WIDTH: usize = 72;

/// A function of an environment as a DOT digraph: a box per basic block with its program addresses and its PTX
/// instructions, edges labelled `T` and `F` after conditional branches and with the index after `brx`. Injected
/// instructions are shown in angle brackets. Empty if there is no such function with a body.
#[must_use]
pub fn dot(env: &ProgEnv, id: FuncId, sources: &SourceMap) -> String {
    let Some(function) = env.function(id).filter(|f| f.defined) else { return String::new() };
    let start = function.start.0;
    let graph = Graph::of_function(env, function);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "digraph {} {{", quote(&function.name));
    out.push_str("  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n");
    for (b, block) in graph.blocks().iter().enumerate() {
        let mut label = format!("{}–{}\\l", start + block.start, start + block.end - 1);
        for pc in start + block.start..start + block.end {
            if let Some(line) = line(env, Pc(pc), sources) {
                let _ = write!(label, "{pc}: {}\\l", escape(&line));
            }
        }
        let _ = writeln!(out, "  b{b} [label=\"{label}\"];");
    }
    for edge in graph.edges() {
        let parts = graph.blocks()[edge.from as usize].ending == Ending::Branches;
        let label = match edge.kind {
            EdgeKind::Entry(i) => i.to_string(),
            EdgeKind::Taken if parts => "T".into(),
            EdgeKind::Fall if parts => "F".into(),
            EdgeKind::Taken | EdgeKind::Fall => String::new(),
        };
        let attribute = if label.is_empty() { label } else { format!(" [label=\"{label}\"]") };
        let _ = writeln!(out, "  b{} -> b{}{attribute};", edge.from, edge.to);
    }
    out.push_str("}\n");
    out
}

/// The text of an instruction; none for a helper of its neighbour.
fn line(env: &ProgEnv, pc: Pc, sources: &SourceMap) -> Option<String> {
    let instr = env.code.get(pc.0 as usize)?;
    let origin = env.origin.get(pc.0 as usize)?;
    if origin.hidden {
        return match instr.op {
            Op::Ssy => Some(format!("<ssy {}>", instr.imm)),
            Op::PreBrk => Some(format!("<preBrk {}>", instr.imm)),
            Op::PreRet => Some(format!("<preRet {}>", instr.imm)),
            Op::Bra => Some(format!("<bra {}>", instr.imm)),
            Op::Sync => Some("<sync>".into()),
            Op::Break => Some(format!("<break {}>", instr.imm)),
            Op::Trap => Some("<trap>".into()),
            _ => None,
        };
    }
    let text = sources.get(origin.file).map_or("", |source| origin.span.of(&source.text));
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = if words.is_empty() { format!("{:?}", instr.op) } else { words.join(" ") };
    match text.char_indices().nth(WIDTH) {
        Some((cut, _)) => Some(format!("{}…", &text[..cut])),
        None => Some(text),
    }
}

/// Text within a quoted DOT string.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// A quoted DOT string.
#[must_use]
pub fn quote(name: &str) -> String {
    format!("\"{}\"", escape(name))
}

#[cfg(test)]
mod tests {
    use super::super::graph::local;
    use super::super::inject;
    use super::*;
    use crate::base::Span;
    use crate::program::env::{Function, Origin};
    use crate::program::fncode::FnCode;
    use crate::program::instr::Instr;
    use crate::program::instr::{Guard, Slot};

    /// `@%p bra L; add…; L: ret;` at an address other than zero.
    fn environment() -> (ProgEnv, SourceMap) {
        let text = "@%p bra L;\nst.f \"x\\\";\nL: ret;";
        let mut sources = SourceMap::default();
        let file = sources.add("x.ptx", text);
        let guard = Some(Guard { pred: Slot(0), negated: false });
        let code = vec![Instr { guard, imm: 2, ..Instr::new(Op::Bra) }, Instr::new(Op::Nop), Instr::new(Op::Exit)];
        let place =
            |start, end| Origin { file, span: Span::new(start, end), loc: 0, function: FuncId(0), hidden: false };
        let origin = vec![place(0, 10), place(11, 21), place(25, 29)];
        let mut function = FnCode { code, origin, ..FnCode::default() };
        inject(&mut function);
        let mut env = ProgEnv { code: vec![Instr::new(Op::Nop)], origin: vec![place(0, 0)], ..ProgEnv::default() };
        for instr in &mut function.code {
            instr.imm += u32::from(matches!(instr.op, Op::Bra | Op::Ssy | Op::PreBrk | Op::Break));
        }
        env.code.extend(function.code);
        env.origin.extend(function.origin);
        (env, sources)
    }

    fn with_function(env: &mut ProgEnv) {
        let (start, end) = (Pc(1), Pc(6));
        let function = Function { name: "f".into(), entry: true, start, end, defined: true, ..Function::default() };
        env.functions.insert("f".into(), function);
    }

    #[test]
    fn a_break_leads_to_the_same_block_wherever_its_function_lies() {
        let guard = Some(Guard { pred: Slot(0), negated: false });
        let edges = |start: u32| {
            let code =
                [Instr { guard, imm: start + 2, ..Instr::new(Op::Break) }, Instr::new(Op::Nop), Instr::new(Op::Exit)];
            let (code, tables) = local(&code, start, &[]);
            Graph::of(&code, &tables).edges().iter().map(|e| (e.from, e.to)).collect::<Vec<_>>()
        };
        assert_eq!(edges(7), edges(0));
        assert!(edges(0).contains(&(0, 2)));
    }

    #[test]
    fn blocks_and_edges_of_an_if() {
        let (mut env, sources) = environment();
        assert_eq!(dot(&env, FuncId(0), &sources), "");
        with_function(&mut env);
        let expected = r#"digraph "f" {
  node [shape=box, fontname=monospace];
  edge [fontname=monospace];
  b0 [label="1–2\l1: <ssy 5>\l2: @%p bra L;\l"];
  b1 [label="3–3\l3: st.f \"x\\\";\l"];
  b2 [label="4–5\l4: <sync>\l5: ret;\l"];
  b0 -> b1 [label="F"];
  b0 -> b2 [label="T"];
  b1 -> b2;
}
"#;
        assert_eq!(dot(&env, FuncId(0), &sources), expected);
    }
}
