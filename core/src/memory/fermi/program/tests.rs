//! Tests of the language, the presets and the static check; `tests/programs.rs` is about execution.

use super::code::{Code, Instr};
use super::parse::{MempFile, parse};
use super::tree::BExp;
use super::*;
use crate::base::{FileId, SourceMap};
use crate::memory::fermi::cache::{ByteMask, Bytes, Cache, DeviceSpace, Geometry, LineKey, OpIdx};
use crate::program::ops::{AtomOp, AtomTy};
use crate::verdict::AccessId;
use crate::verdict::{Rule, Stop};
use proptest::prelude::*;

fn read(text: &str) -> (MempFile, Vec<MempErrorKind>) {
    let mut sources = SourceMap::default();
    let id = sources.add("x.memp", text);
    let (file, errors) = parse(id, sources.get(id).unwrap());
    (file, errors.into_iter().map(|e| e.kind).collect())
}

#[test]
fn presets_are_complete_and_clean() {
    for name in presets() {
        let mut sources = SourceMap::default();
        let files: Vec<FileId> = preset_files(name).unwrap().iter().map(|(n, t)| sources.add(*n, *t)).collect();
        let (set, errors) = load(&files, &sources);
        assert_eq!(errors, [], "{name}");
        assert_eq!(set.missing(), [], "{name}");
        for key in OpKey::all() {
            let id = preset(name).unwrap().find(key).unwrap();
            assert!(set.get(id).unwrap().serves().any(|served| served == key), "{name}: {}", key.name());
        }
    }
    assert!(preset("Fermi").is_none());
}

/// A statement, generated.
#[derive(Clone, Debug)]
enum Stmt {
    Plain(Code),
    If(BExp, Vec<Stmt>, Option<Vec<Stmt>>),
}

/// A condition; in parentheses when it binds less tightly than `strength`: 0 `or`, 1 `and`, 2 `!`.
fn condition(cond: &BExp, strength: u32) -> String {
    let (own, text) = match cond {
        BExp::Const(value) => return value.to_string(),
        BExp::IsCached(level) => return format!("isCached{level}"),
        BExp::Not(inner) => (2, format!("!{}", condition(inner, 2))),
        // A chain groups to the left, so a chain on the right needs parentheses.
        BExp::And(left, right) => (1, format!("{} and {}", condition(left, 1), condition(right, 2))),
        BExp::Or(left, right) => (0, format!("{} or {}", condition(left, 0), condition(right, 1))),
    };
    if own < strength { format!("({text})") } else { text }
}

/// Statements as text, one a line.
fn text_of(list: &[Stmt]) -> String {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Plain(Code::Yield) => "yield;\n".to_owned(),
        Stmt::Plain(Code::End) => "end;\n".to_owned(),
        Stmt::Plain(Code::Op(op)) => format!("{};\n", op.name()),
        Stmt::Plain(_) => ";\n".to_owned(),
        Stmt::If(cond, then, otherwise) => {
            let otherwise = otherwise.as_ref().map(|list| format!("else {{\n{}}}\n", text_of(list)));
            format!("if ({}) {{\n{}}}\n{}", condition(cond, 0), text_of(then), otherwise.unwrap_or_default())
        }
    };
    list.iter().map(one).collect()
}

/// An instruction, whether a statement follows it, and whether it is the `else` that is not written.
type Laid = (Code, bool, bool);

/// Statements as a list of instructions, and their conditions.
fn lay_out(list: &[Stmt], follows: bool, code: &mut Vec<Laid>, conds: &mut Vec<BExp>) {
    for (k, stmt) in list.iter().enumerate() {
        let follows = follows || k + 1 < list.len();
        match stmt {
            Stmt::Plain(one) => code.push((*one, follows, false)),
            Stmt::If(cond, then, otherwise) => {
                let (head, number) = (code.len(), conds.len() as u16);
                conds.push(cond.clone());
                code.push((Code::Nop, follows, false));
                lay_out(then, follows, code, conds);
                let skip = code.len();
                code.push((Code::Nop, follows, false));
                match otherwise {
                    Some(list) => lay_out(list, follows, code, conds),
                    None => code.push((Code::Nop, follows, true)),
                }
                code[head].0 = Code::If(number, skip as u16 + 1);
                code[skip].0 = Code::Goto(code.len() as u16);
            }
        }
    }
}

fn conditions() -> impl Strategy<Value = BExp> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(BExp::Const),
        prop_oneof![Just(Level::L1), Just(Level::L2)].prop_map(BExp::IsCached)
    ];
    leaf.prop_recursive(4, 12, 2, |inner| {
        let pair = (inner.clone(), inner.clone()).prop_map(|(l, r)| (Box::new(l), Box::new(r)));
        prop_oneof![
            inner.prop_map(|e| BExp::Not(Box::new(e))),
            pair.clone().prop_map(|(l, r)| BExp::And(l, r)),
            pair.prop_map(|(l, r)| BExp::Or(l, r)),
        ]
    })
}

fn statements() -> impl Strategy<Value = Vec<Stmt>> {
    let ops: Vec<OpExp> = OpExp::all().collect();
    let leaf = prop_oneof![
        Just(Code::Nop),
        Just(Code::Yield),
        Just(Code::End),
        proptest::sample::select(ops).prop_map(Code::Op)
    ];
    let one = leaf.prop_map(Stmt::Plain).prop_recursive(3, 20, 4, move |inner| {
        let list = proptest::collection::vec(inner, 0..4);
        let branch = (conditions(), list.clone(), proptest::option::of(list));
        branch.prop_map(|(cond, then, otherwise)| Stmt::If(cond, then, otherwise))
    });
    proptest::collection::vec(one, 0..6)
}

type Programs = Vec<(Vec<OpKey>, Vec<Stmt>)>;

/// Programs, with a preset to build on or without.
fn files() -> impl Strategy<Value = (bool, Programs)> {
    let known: Vec<OpKey> = OpKey::all().into_iter().chain(OpKey::refinements()).collect();
    let keys = proptest::collection::vec(proptest::sample::select(known), 1..4);
    (any::<bool>(), proptest::collection::vec((keys, statements()), 0..4))
}

fn file_text((base, programs): &(bool, Programs)) -> String {
    let one = |(keys, body): &(Vec<OpKey>, Vec<Stmt>)| {
        let names: Vec<String> = keys.iter().map(OpKey::name).collect();
        format!("program {}:\n{}", names.join(", "), text_of(body))
    };
    let programs: String = programs.iter().map(one).collect();
    format!("{}{programs}", if *base { "use fermi;\n" } else { "" })
}

/// Words and signs of the language, in any order.
fn soup() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "program",
        "use",
        "if",
        "else",
        "yield",
        "end",
        "and",
        "or",
        "true",
        "isCachedL1",
        "reserveL2",
        "readMem",
        "ld.global.ca",
        "mov",
        "fermi",
        "x",
        ";",
        ";",
        ":",
        ",",
        "{",
        "}",
        "(",
        ")",
        "!",
        "//",
        "/*",
        "*/",
        "\n",
        "é",
    ];
    proptest::collection::vec(proptest::sample::select(WORDS), 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    /// Programs are laid out as they are written, and each instruction knows its place in the text.
    #[test]
    fn what_is_written_is_laid_out(file in files()) {
        let text = file_text(&file);
        let (parsed, errors) = read(&text);
        prop_assert_eq!(errors, [], "{}", text);
        prop_assert_eq!(parsed.base.map(|(name, _)| name), file.0.then(|| "fermi".to_owned()));
        prop_assert_eq!(parsed.programs.len(), file.1.len());
        for (program, (keys, body)) in parsed.programs.iter().zip(&file.1) {
            let (mut code, mut conds) = (Vec::new(), Vec::new());
            lay_out(body, false, &mut code, &mut conds);
            let laid: Vec<Laid> = program.code.iter().map(|i| (i.code, i.follows, i.implied)).collect();
            prop_assert_eq!((laid, &program.conds), (code, &conds), "{}", text);
            prop_assert_eq!(&program.serves().collect::<Vec<_>>(), keys);
            for Instr { code, span, line, implied, .. } in &program.code {
                let begins = match code {
                    Code::Nop if !implied => ";",
                    Code::Yield => "yield",
                    Code::End => "end",
                    Code::Op(op) => op.name(),
                    Code::Nop | Code::If(..) | Code::Goto(_) => "if (",
                };
                prop_assert!(span.of(&text).starts_with(begins) && span.of(&text).ends_with([';', '}']), "{}", text);
                prop_assert_eq!(*line as usize, 1 + text[..span.start as usize].matches('\n').count());
            }
        }
    }

    /// The check of any program ends, and says the same each time.
    #[test]
    fn any_program_can_be_checked(file in files()) {
        let mut sources = SourceMap::default();
        let id = sources.add("x.memp", file_text(&file));
        let (_, errors) = load(&[id], &sources);
        prop_assert_eq!(load(&[id], &sources).1, errors);
    }

    #[test]
    fn no_text_is_too_strange(text in prop_oneof![".{0,200}", soup()]) {
        let mut sources = SourceMap::default();
        let id = sources.add("x.memp", text.as_str());
        let (_, errors) = load(&[id], &sources);
        for error in errors {
            prop_assert!(error.span.end as usize <= text.len() && error.span.start <= error.span.end);
        }
    }
}

#[test]
fn depth_has_a_limit_and_no_text_overflows_the_stack() {
    for (open, close) in [("(", ")"), ("!", ""), ("true and ", ""), ("true or ", "")] {
        let many = 100_000;
        let text = format!("program mov: if ({}true{}) {{ }} end;", open.repeat(many), close.repeat(many));
        assert_eq!(read(&text).1, [MempErrorKind::TooDeep], "{open}");
    }
    let text = format!("program mov: {} end;", "if (true) {".repeat(100_000));
    assert_eq!(read(&text).1, [MempErrorKind::TooDeep]);
    let text = format!("program mov: {}", "foo; ".repeat(MAX_ERRORS + 50));
    assert_eq!(read(&text).1.len(), MAX_ERRORS + 1);
}

/// A memory environment in which every access fails, or none.
struct Bare {
    l1: Cache,
    l2: Cache,
    works: bool,
}

impl Eta for Bare {
    const ON: bool = false;

    fn cache(&mut self, level: Level) -> &mut Cache {
        if level == Level::L1 { &mut self.l1 } else { &mut self.l2 }
    }
    fn others(&mut self) -> impl Iterator<Item = &mut Cache> {
        std::iter::empty()
    }
    fn fill(&self) -> Fill {
        Fill::Line
    }
    fn victim(&mut self, _: Level, _: &[LineKey]) -> Result<usize, Stop> {
        Ok(0)
    }
    fn read_device(&mut self, _: LineKey, want: ByteMask, into: &mut Bytes) {
        (0..128).filter(|k| want >> k & 1 == 1).for_each(|k| into.set(k, 0));
    }
    fn write_device(&mut self, _: LineKey, _: &Bytes) -> bool {
        self.works
    }
    fn read_shared(&mut self, piece: Piece, into: &mut Vec<u8>) -> bool {
        into.resize(into.len() + usize::from(piece.len), 0);
        self.works
    }
    fn write_shared(&mut self, _: Piece, _: usize, _: &[u8]) -> bool {
        self.works
    }
    fn locked(&self, _: Piece) -> bool {
        false
    }
    fn set_lock(&mut self, _: Piece, _: bool) {}
    fn write_regs(&mut self, _: &Sigma) -> bool {
        self.works
    }
    fn release_regs(&mut self) {}
    fn fired(&mut self, _: Rule) -> Result<(), Stop> {
        Ok(())
    }
}

/// Where a program is stuck in a state, and why.
fn stuck(body: &str, sigma: Sigma, works: bool) -> Option<(u32, Undefined)> {
    let text = format!("program mov:\n{body}");
    let (file, errors) = read(&text);
    assert_eq!(errors, [], "{body}");
    let program = &file.programs[0];
    let cache = Cache::new(Geometry { sets: 1, ways: 1, line: 4 });
    let mut eta = Bare { l1: cache.clone(), l2: cache, works };
    let (mut at, mut sigma) = (At::default(), sigma);
    for _ in 0..20 {
        match micro(program, &mut at, OpIdx(0), &mut sigma, &mut eta).unwrap() {
            Micro::Yield | Micro::Wait => {}
            Micro::End => return None,
            Micro::Stuck(at, cause) => return Some((program.line(at), cause)),
        }
    }
    panic!("{body} neither ends nor is stuck");
}

/// What the report calls ⊥: each cause, with its line.
#[test]
fn undefined_steps_are_stuck_at_their_line() {
    use Undefined as U;
    let key = |space| LineKey { space, owner: crate::verdict::Who::default(), base: 0 };
    let load = || Sigma::Device(Device::load(key(DeviceSpace::Global), 1));
    let constant = || Sigma::Device(Device::load(key(DeviceSpace::Const), 1));
    let shared = || Sigma::Shared(Shared { pieces: vec![Piece { offset: 0, len: 4 }], value: Vec::new() });
    let atom = |place| {
        Sigma::Atomic(Atomic {
            place,
            op: AtomOp::Add,
            ty: AtomTy::U32,
            out: Bytes::NONE,
            first: 1,
            second: 0,
            access_id: AccessId::NONE,
        })
    };
    let fence = || Sigma::Fence { holds: true };
    let global = || atom(AtomPlace::Global { key: key(DeviceSpace::Global), mask: 15, want: 15 });
    for (body, sigma, cause) in [
        ("readL1;", load(), Some((2, U::NotCached(Level::L1)))),
        (";\nupdateL2;", load(), Some((3, U::NotCached(Level::L2)))),
        ("classifyFirstL1; end;", load(), Some((2, U::NotCached(Level::L1)))),
        ("reserveL2;\nreserveL2;", load(), Some((3, U::AlreadyCached(Level::L2)))),
        ("if (isCachedL1) { } end;", constant(), Some((2, U::NoCaches))),
        // Both sides count, whatever the first one says.
        ("yield; if (true or isCachedL2) { } end;", Sigma::Reg, Some((2, U::NoCaches))),
        ("writeL1;", shared(), Some((2, U::NoCaches))),
        ("atomOp;", load(), Some((2, U::NotAtomic))),
        ("atomOp;", global(), Some((2, U::NothingRead))),
        ("lock;", global(), Some((2, U::NotSharedAtomic))),
        ("reserveL1; updateL1;", load(), Some((2, U::NothingRead))),
        ("cleanL1;", load(), Some((2, U::NotCached(Level::L1)))),
        ("flushL1;", load(), Some((2, U::NotFence))),
        ("invalidateOthersL1;", fence(), Some((2, U::NoCaches))),
        ("discardL1;", fence(), Some((2, U::NoCaches))),
        ("readMem;", fence(), Some((2, U::NoMemory))),
        ("writeBackL1;", constant(), Some((2, U::NoCaches))),
        ("writeBackL1; writeBackL2; flushL1; end;", fence(), None),
        ("unlock;", Sigma::Reg, Some((2, U::NotSharedAtomic))),
        ("readMem;", Sigma::Reg, Some((2, U::NoMemory))),
        ("writeMem;", Sigma::Reg, Some((2, U::NoMemory))),
        ("writeToRegs;", load(), Some((2, U::NothingRead))),
        ("writeL2;", load(), Some((2, U::NothingRead))),
        ("readMem;\nyield;", load(), Some((3, U::NoEnd))),
        ("readMem; writeToRegs; releaseRegs; end;", load(), None),
        ("lock; readMem; atomOp; writeMem; unlock; end;", atom(AtomPlace::Shared(Piece { offset: 0, len: 4 })), None),
    ] {
        assert_eq!(stuck(body, sigma, true), cause, "{body}");
    }
    let stored = Sigma::Device(Device::load(key(DeviceSpace::Global), 0));
    assert_eq!(stuck("writeMem;", stored, false), Some((2, U::NotWritable)));
    assert_eq!(stuck("readMem;", shared(), false), Some((2, U::NotReadable)));
    assert_eq!(stuck("writeToRegs;", Sigma::Reg, false), Some((2, U::NoRegisters)));
}
