//! Tests of the language, the presets and the static check; `tests/programs.rs` is about execution.

use super::tree::{BExp, MemProgram, MempFile, Stmt, StmtKind};
use super::*;
use crate::base::{FileId, SourceMap, Span};
use crate::memory::fermi::cache::{ByteMask, Bytes, Cache, DeviceSpace, Geometry, LineKey, OpIdx};
use crate::program::ops::{AtomOp, AtomTy};
use crate::verdict::AccessId;
use crate::verdict::{Rule, Stop};
use proptest::prelude::*;

fn read(text: &str) -> (MempFile, Vec<MempErrorKind>) {
    let (file, errors) = parse(FileId(0), text);
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
            assert!(set.get(id).unwrap().serves().contains(&key), "{name}: {}", key.name());
        }
    }
    assert!(preset("Fermi").is_none());
}

#[test]
fn printing_and_parsing_are_inverse_on_the_presets() {
    for (name, text) in presets().filter_map(preset_files).flatten() {
        let (file, errors) = read(text);
        assert_eq!(errors, [], "{name}");
        round_trip(&file).unwrap();
    }
}

fn round_trip(file: &MempFile) -> Result<(), TestCaseError> {
    let printed = print(file);
    let (again, errors) = read(&printed);
    prop_assert_eq!(errors, [], "{}", printed);
    prop_assert_eq!(print(&again), printed);
    prop_assert_eq!(plain(&again), plain(file));
    Ok(())
}

/// A file without its places.
fn plain(file: &MempFile) -> MempFile {
    let zero = Span::default();
    let programs = file.programs.iter().map(|p| MemProgram {
        serves: p.serves.iter().map(|(key, _)| (*key, zero)).collect(),
        body: plain_statements(&p.body),
        head: zero,
    });
    MempFile { base: file.base.clone().map(|(name, _)| (name, zero)), programs: programs.collect() }
}

fn plain_statements(list: &[Stmt]) -> Vec<Stmt> {
    let kind = |stmt: &Stmt| match &stmt.kind {
        StmtKind::If { cond, then, otherwise, .. } => StmtKind::If {
            cond: cond.clone(),
            cond_span: Span::default(),
            then: plain_statements(then),
            otherwise: otherwise.as_deref().map(plain_statements),
        },
        other => other.clone(),
    };
    list.iter().map(|stmt| Stmt { kind: kind(stmt), span: Span::default() }).collect()
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
        Just(StmtKind::Nop),
        Just(StmtKind::Yield),
        Just(StmtKind::End),
        proptest::sample::select(ops).prop_map(StmtKind::Op)
    ];
    let stmt = |kind| Stmt { kind, span: Span::default() };
    let one = leaf.prop_map(stmt).prop_recursive(3, 20, 4, move |inner| {
        let list = proptest::collection::vec(inner, 0..4);
        let branch = (conditions(), list.clone(), proptest::option::of(list));
        branch.prop_map(move |(cond, then, otherwise)| {
            stmt(StmtKind::If { cond, cond_span: Span::default(), then, otherwise })
        })
    });
    proptest::collection::vec(one, 0..6)
}

fn files() -> impl Strategy<Value = MempFile> {
    let known: Vec<OpKey> = OpKey::all().into_iter().chain(OpKey::refinements()).collect();
    let keys = proptest::collection::vec(proptest::sample::select(known), 1..4);
    let program = (keys, statements()).prop_map(|(keys, body)| MemProgram {
        serves: keys.into_iter().map(|key| (key, Span::default())).collect(),
        body,
        head: Span::default(),
    });
    let base = proptest::option::of(Just(("fermi".to_owned(), Span::default())));
    (base, proptest::collection::vec(program, 0..4)).prop_map(|(base, programs)| MempFile { base, programs })
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
    #[test]
    fn printing_and_parsing_are_inverse(file in files()) {
        round_trip(&file)?;
    }

    /// The check of any program ends, and says the same each time.
    #[test]
    fn any_program_can_be_checked(file in files()) {
        let mut sources = SourceMap::default();
        let id = sources.add("x.memp", print(&file));
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
            // What is understood of a wrong file can be printed and read again.
        }
        let (file, _) = read(&text);
        if file.base.as_ref().is_none_or(|(name, _)| !name.contains('.')) {
            let (_, again) = read(&print(&MempFile {
                programs: file.programs.into_iter().filter(|p| !p.serves.is_empty()).collect(),
                ..file
            }));
            prop_assert_eq!(again, []);
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
    let mut sources = SourceMap::default();
    let id = sources.add("x.memp", text);
    let program = Program::new(&file.programs[0], sources.get(id).unwrap()).unwrap();
    let cache = Cache::new(Geometry { sets: 1, ways: 1, line: 4 });
    let mut eta = Bare { l1: cache.clone(), l2: cache, works };
    let (mut at, mut sigma) = (At::default(), sigma);
    for _ in 0..20 {
        match micro(&program, &mut at, OpIdx(0), &mut sigma, &mut eta).unwrap() {
            Micro::Yield | Micro::Wait => {}
            Micro::End => return None,
            Micro::Stuck(stuck) => return Some((program.line(stuck.at), stuck.cause)),
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
    let stored = Sigma::Device(Device::store(key(DeviceSpace::Global), Bytes::NONE));
    assert_eq!(stuck("writeMem;", stored, false), Some((2, U::NotWritable)));
    assert_eq!(stuck("readMem;", shared(), false), Some((2, U::NotReadable)));
    assert_eq!(stuck("writeToRegs;", Sigma::Reg, false), Some((2, U::NoRegisters)));
}
