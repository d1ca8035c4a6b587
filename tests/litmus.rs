//! The public litmus tests, and ours for Vulkan: all are read, and printed and read again as the same; those for PTX without
//! other proxies become programs whose instructions point back into the file.

use crate::shared;
use crate::tests::{suite, within};
use libtest_mimic::Trial;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpstep::base::{FileId, SourceMap};
use warpstep::litmus::tree::{Access, Instruction, Litmus, Thread, VulkanScope};
use warpstep::litmus::{Failure, Final, Gap, LitmusErrorKind, Lowered, Options, Outcome, Outcomes, Placement, Truth};
use warpstep::litmus::{lower, parse, print};
use warpstep::machine::{Config, Context};
use warpstep::program::instr::{Op, Order};
use warpstep::program::ops::Class;
use warpstep::verdict::{Event, Sink, Stop, Who};

/// A tree without the places where things stand.
fn placeless(litmus: &Litmus) -> String {
    let text = format!("{litmus:?}");
    let mut parts = text.split("Span {");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |all, part| all + part.split_once('}').map_or("", |(_, rest)| rest))
}

/// Reads the tests of a folder, prints them and reads them again; gives how many there are, and what they are written with.
fn read_and_printed(folder: &Path) -> (usize, BTreeSet<String>) {
    let tests = within(folder);
    let mut heads = BTreeSet::new();
    for (path, text) in &tests {
        let (litmus, errors) = parse(FileId(0), text);
        assert_eq!(errors, [], "{}", path.display());
        let printed = print(&litmus);
        let (again, errors) = parse(FileId(0), &printed);
        assert_eq!(errors, [], "{}:\n{printed}", path.display());
        assert_eq!(placeless(&litmus), placeless(&again), "{}:\n{printed}", path.display());
        assert_eq!(printed, print(&again), "{}", path.display());
        for (instruction, span) in litmus.threads.iter().flat_map(Thread::instructions) {
            let words = |text: &str| text.split_whitespace().next().unwrap_or("").to_owned();
            let (read, printed) = (words(span.of(text)), words(&instruction.to_string()));
            assert_eq!(read, printed, "{}: the public tests are in the order that is printed", path.display());
            heads.insert(printed);
        }
    }
    (tests.len(), heads)
}

fn public(folder: &str) -> PathBuf {
    shared::found().expect("asked for where it is").join("conformance/litmus").join(folder)
}

fn every_public_test_is_read_and_printed_as_the_same() {
    assert_eq!(read_and_printed(&public("ptx")).0, 567);
}

fn every_public_test_for_vulkan_is_read_and_printed_as_the_same() {
    let (tests, heads) = read_and_printed(&public("vulkan"));
    assert_eq!((tests, heads.len()), (518, 106), "{heads:?}");
}

fn our_tests_for_vulkan_are_read_and_printed_as_the_same() {
    let (tests, heads) = read_and_printed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus/vulkan"));
    assert_eq!((tests, heads.len()), (12, 31), "{heads:?}");
}

/// Some words, or none of them.
fn perhaps(words: &[&str]) -> Vec<String> {
    std::iter::once(String::new()).chain(words.iter().map(|word| format!(".{word}"))).collect()
}

/// All that can stand after an order: nothing without one, otherwise storage classes and what is made available or visible.
fn semantics(order: &str, makes: &[&str]) -> Vec<String> {
    if order.is_empty() {
        return vec![String::new()];
    }
    let words = ["semsc0", "semsc1", "semsc2", "semsc3"].into_iter().chain(makes.iter().copied());
    let words: Vec<&str> = words.collect();
    let subset = |bits: usize| {
        let chosen = words.iter().enumerate().filter(|(k, _)| bits >> k & 1 == 1);
        chosen.map(|(_, word)| format!(".{word}")).collect::<String>()
    };
    (0..1 << words.len()).filter(|bits| bits & 15 != 0).map(subset).collect()
}

/// Every name that an instruction of Vulkan's can have, with its operands.
fn instructions_of_vulkan() -> Vec<String> {
    const SCOPES: [&str; 4] = ["sg", "wg", "qf", "dv"];
    let mut all = vec!["avdevice".to_owned(), "visdevice".to_owned()];
    for (name, coherent, order, makes, operands) in
        [("ld", "vis", "acq", "semvis", "r0, x"), ("st", "av", "rel", "semav", "x, 1")]
    {
        for class in 0..4 {
            all.extend(perhaps(&["nonpriv"]).iter().map(|private| format!("{name}{private}.sc{class} {operands}")));
            for scope in SCOPES {
                all.push(format!("{name}.{coherent}.{scope}.sc{class} {operands}"));
                for order in perhaps(&[order]) {
                    let each = semantics(&order, &[makes]).into_iter();
                    all.extend(each.map(|s| format!("{name}.atom{order}.{scope}.sc{class}{s} {operands}")));
                }
            }
        }
    }
    let operations = perhaps(&["add", "sub", "mul", "div", "and", "or", "xor", "cas"]);
    for (order, scope) in perhaps(&["acq", "rel", "acq_rel"]).iter().flat_map(|o| SCOPES.map(|s| (o, s))) {
        for semantics in semantics(order, &["semav", "semvis"]) {
            if !order.is_empty() {
                all.push(format!("membar{order}.{scope}{semantics}"));
            }
            all.push(format!("cbar{order}.{scope}{semantics} 3, r0, 2"));
            for op in &operations {
                let new = if op == ".cas" { ", 2" } else { "" };
                let class = all.len() % 4;
                all.push(format!("rmw.atom{order}.{scope}.sc{class}{semantics}{op} r0, x, 1{new}"));
            }
        }
    }
    all
}

/// What the tree says of an instruction is what its words say, each looked at on its own; and it is printed as it was.
fn every_instruction_of_vulkan_is_read() {
    let all = instructions_of_vulkan();
    let rows: String = all.iter().map(|text| format!(" {text} ;\n")).collect();
    let text = format!("VULKAN all\n{{ x=0; P0:r0=0; }}\n P0@sg 0,wg 0,qf 0 ;\n{rows}exists (x=1)\n");
    let (litmus, errors) = parse(FileId(0), &text);
    assert_eq!(errors, []);
    let read: Vec<&Instruction> = litmus.threads[0].instructions().map(|(i, _)| i).collect();
    assert_eq!(read.len(), all.len());
    for (instruction, text) in read.into_iter().zip(&all) {
        assert_eq!(&instruction.to_string(), text);
        let head = text.split(' ').next().unwrap();
        let has = |word: &str| head.split('.').any(|w| w == word);
        let scope = VulkanScope::ALL.iter().copied().find(|s| has(s.name()));
        let semantics = match instruction {
            Instruction::Membar { scope: of, semantics }
            | Instruction::Barrier { fence: Some((of, semantics)), .. } => {
                assert_eq!(Some(*of), scope, "{text}");
                *semantics
            }
            Instruction::AvDevice | Instruction::VisDevice => continue,
            other => {
                let Some((_, Access::Vulkan(access))) = other.address() else { panic!("{text}") };
                assert_eq!(access.scope(), scope, "{text}");
                assert!(has(&format!("sc{}", access.class)), "{text}");
                assert_eq!(access.atomic(), has("atom"), "{text}");
                assert_eq!(access.non_private(), ["nonpriv", "av", "vis", "atom"].iter().any(|w| has(w)), "{text}");
                access.semantics
            }
        };
        let order = match (has("acq"), has("rel"), has("acq_rel")) {
            (true, ..) => Order::Acquire,
            (_, true, _) => Order::Release,
            (.., true) => Order::AcqRel,
            _ => Order::Relaxed,
        };
        assert_eq!(semantics.order, order, "{text}");
        assert_eq!((semantics.available, semantics.visible), (has("semav"), has("semvis")), "{text}");
        assert!((0..8).all(|class| semantics.is_about(class) == has(&format!("semsc{class}"))), "{text}");
    }
    assert_eq!(all.len(), 9002);
}

fn the_public_tests_become_programs() {
    let suite = suite();
    let mut gaps = BTreeMap::new();
    for (path, text) in &suite {
        for placement in [Placement::Warps, Placement::SameWarp, Placement::Blocks] {
            let mut sources = SourceMap::default();
            let file = sources.add(path.display().to_string(), text.clone());
            let (litmus, _) = parse(file, text);
            match lower(&litmus, file, Options { placement, control: None }, &mut sources) {
                Ok(lowered) => {
                    assert_eq!(lowered.threads.len(), litmus.threads.len());
                    let statements = litmus.threads.iter().flat_map(|t| t.instructions());
                    // Every memory instruction of the file is where some instruction of the program is.
                    for (_, span) in statements.filter(|(i, _)| i.address().is_some()) {
                        let found = lowered.env.origin.iter().any(|o| (o.file, o.span) == (file, span));
                        assert!(found, "{}: {}", path.display(), span.of(text));
                    }
                }
                Err(Failure::Gaps(all)) => {
                    let LitmusErrorKind::Unsupported(gap) = &all[0].kind else { panic!("{all:?}") };
                    let name = match gap {
                        Gap::Proxy(_) => "proxy".to_owned(),
                        other => format!("{other:?}"),
                    };
                    *gaps.entry((format!("{placement:?}"), name)).or_insert(0) += 1;
                }
                Err(Failure::Refused(problems)) => panic!("{}: {problems:?}", path.display()),
            }
        }
    }
    let gaps: Vec<String> = gaps.iter().map(|((p, gap), n)| format!("{p} {gap} {n}")).collect();
    let wanted = [
        "Blocks BarrierNumber 2",
        "Blocks BarrierOfBlocks 19",
        "Blocks proxy 94",
        "SameWarp BarrierNumber 2",
        "SameWarp PartOfWarp { count: 1, warp: 2 } 2",
        "SameWarp PartOfWarp { count: 2, warp: 3 } 2",
        "SameWarp PartOfWarp { count: 2, warp: 4 } 3",
        "SameWarp PartOfWarp { count: 4, warp: 3 } 1",
        "SameWarp proxy 94",
        "Warps BarrierNumber 2",
        "Warps proxy 94",
    ];
    assert_eq!(gaps, wanted);
}

/// The registers of all threads, taken at their exits, and memory.
struct Ended<'a> {
    lowered: &'a Lowered,
    context: Context,
    registers: BTreeMap<(u64, u32, String), u64>,
}

impl Final for Ended<'_> {
    fn register(&self, thread: usize, name: &str) -> Option<u64> {
        let spot = self.lowered.threads.get(thread)?;
        self.registers.get(&(spot.block, spot.thread, self.lowered.register(name))).copied()
    }

    fn location(&self, name: &str) -> Option<u64> {
        let (address, _) = self.context.symbol(self.lowered.variable(name)?)?;
        self.context.bytes(address, 8).and_then(<[u8]>::first_chunk).map(|b| u64::from_le_bytes(*b))
    }
}

/// Notes what threads hold when they exit.
struct Exits<'a> {
    lowered: &'a Lowered,
    registers: &'a mut BTreeMap<(u64, u32, String), u64>,
}

impl Sink for Exits<'_> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        let Event::Step(step) = event else { return Ok(()) };
        let env = &self.lowered.env;
        if env.code[step.pc.0 as usize].op != Op::Exit {
            return Ok(());
        }
        for (name, class, slot) in env.functions[0].registers.iter().filter(|r| r.1 == Class::Q) {
            assert_eq!(class, Class::Q);
            for lane in (0..32usize).filter(|l| step.lanes >> l & 1 == 1) {
                let thread = who.warp * self.lowered.warp_size + u32::try_from(lane).unwrap();
                let value = step.regs.q[slot.index()].0[lane];
                self.registers.insert((who.block, thread, name.to_owned()), value);
            }
        }
        Ok(())
    }
}

/// A run; `None` when it does not end.
fn run(lowered: &Lowered, seed: u64) -> Result<Option<Ended<'_>>, Stop> {
    let config = Config { seed: Some(seed), max_steps: Some(3000), ..Config::default() };
    let mut context = Context::new(Arc::clone(&lowered.env), lowered.config(config))?;
    let mut registers = BTreeMap::new();
    let sink = Exits { lowered, registers: &mut registers };
    match context.launch_with(&lowered.launch, sink, &mut |_| ()) {
        Ok(_) => Ok(Some(Ended { lowered, context, registers })),
        Err(Stop::Limit(_) | Stop::Stuck(_)) => Ok(None),
        Err(stop) => Err(stop),
    }
}

/// What the axiomatic models forbid never happens: flat memory is sequentially consistent.
fn runs_stay_within_the_published_verdicts() {
    let root = shared::found().map_or_else(PathBuf::new, |shared| shared.join("conformance/litmus"));
    let table = shared::text("conformance/litmus/expected.csv");
    let pass = |path: &Path| {
        let name = path.strip_prefix(root.as_path()).ok()?.to_str()?.to_owned();
        let row = table.lines().find(|l| l.starts_with(&format!("{name},ptx-v6.0,safety,")))?;
        Some(row.split(',').nth(3)? == "pass")
    };
    let (mut tests, mut runs, mut seen) = (0, 0, 0);
    for (path, text) in suite() {
        let Some(pass) = pass(&path) else { continue };
        for placement in [Placement::Warps, Placement::SameWarp] {
            let mut sources = SourceMap::default();
            let file = sources.add(path.display().to_string(), text.clone());
            let (litmus, _) = parse(file, &text);
            let Ok(lowered) = lower(&litmus, file, Options { placement, control: None }, &mut sources) else {
                continue;
            };
            let mut outcomes = Outcomes::new(&litmus);
            for seed in 0..30 {
                let end = run(&lowered, seed).unwrap_or_else(|stop| panic!("{}: {stop:?}", path.display()));
                if let Some(end) = end {
                    outcomes.count(outcomes.observed().outcome(&end), 1);
                    runs += 1;
                }
            }
            let condition = litmus.condition.as_ref().unwrap();
            let verdict = outcomes.verdict();
            // Of runs, `exists` can only be refuted where it is said to fail, the others where they are said to pass.
            let wrong =
                if Truth::of(condition) == Truth::Some { verdict.holds && !pass } else { !verdict.holds && pass };
            let text = warpstep::report::litmus::outcomes(&outcomes, false);
            assert!(!wrong, "{} ({placement:?}):\n{text}", path.display());
            seen += u32::from(verdict.satisfied > 0);
            tests += 1;
        }
    }
    eprintln!("{tests} tests, {runs} runs, {seen} conditions satisfied");
    assert!(tests > 150 && runs > 4000 && seen > 40, "{tests} {runs} {seen}");
}

const MP: &str = "PTX MP\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n st.weak x, 1 | ld.weak r0, y ;\n \
                  st.weak y, 1 | ld.weak r1, x ;\nlocations [x; y]\nfilter (x=1)\n~exists (1:r0=1 /\\ 1:r1=0)\n";

/// What the engines cannot run is told, and is no mistake of the test.
fn gaps_are_told() {
    let gap = |init: &str, code: &str, placement: Placement| {
        let head = " P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;";
        let text = format!("PTX gap\n{{ {init} }}\n{head}\n{code}\nexists (x=0)\n");
        let mut sources = SourceMap::default();
        let file = sources.add("gap.litmus", text.clone());
        let (litmus, errors) = parse(file, &text);
        assert_eq!(errors, [], "{text}");
        match lower(&litmus, file, Options { placement, control: None }, &mut sources) {
            Err(Failure::Gaps(gaps)) => {
                gaps.iter().map(|g| warpstep::report::litmus::diagnostic(g, &sources).message).collect::<Vec<_>>()
            }
            Err(Failure::Refused(problems)) => panic!("{problems:?}"),
            Ok(_) => Vec::new(),
        }
    };
    let warps = Placement::Warps;
    let said = gap("x=0; t @ texture aliases x;", "tld.weak r0, t | ld.weak r0, t | fence.proxy.constant ;", warps);
    let wanted = ["texture", "texture", "constant"].map(|p| format!("the engines have no {p} proxy"));
    assert_eq!(said, wanted);
    assert_eq!(gap("x=0;", "atom.relaxed.gpu.mul r0, x, 2 | | ;", warps), ["PTX has no atomic `mul`"]);
    let number = ["it cannot be told in advance which threads meet at this barrier"];
    assert_eq!(gap("x=0;", "ld.weak r0, x | bar.cta.sync 1, 1 | ;\n bar.cta.sync 1, r0 | | ;", warps).len(), 2);
    assert_eq!(gap("x=0;", "ld.weak r0, x | | ;\n bar.cta.sync 1, r0 | bar.cta.sync 2, 1 | ;", warps), [""; 0]);
    assert_eq!(gap("x=0;", "ld.weak r0, x | | ;\n bar.cta.sync 1, r0 | bar.cta.sync 1 | ;", warps)[0], number[0]);
    let late = "bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;";
    assert_eq!(gap("x=0;", late, warps), [""; 0]);
    let twice = format!("{late}\n | | bar.cta.sync 1, 1, 2 ;");
    assert_eq!(gap("x=0;", &twice, warps)[0], "3 threads come to a barrier whose quorum is 2");
    let two = "bar.cta.sync 1 | bar.cta.arrive 1 | ;";
    assert_eq!(gap("x=0;", two, warps), [""; 0]);
    assert_eq!(gap("x=0;", two, Placement::SameWarp)[0], "2 of the 3 threads of a warp meet at a barrier");
    assert!(gap("x=0;", two, Placement::Blocks)[0].starts_with("threads of a cta meet at a barrier"));
    let vulkan = "VULKAN gap\n{ x=0; }\n P0@sg 0,wg 0,qf 0 ;\n st.sc0 x, 1 ;\nexists (x=1)\n";
    let mut sources = SourceMap::default();
    let file = sources.add("gap.litmus", vulkan);
    let (litmus, errors) = parse(file, vulkan);
    assert_eq!(errors, []);
    let Err(Failure::Gaps(gaps)) = lower(&litmus, file, Options::default(), &mut sources) else { panic!("it is none") };
    assert_eq!(gaps.iter().map(|g| &g.kind).collect::<Vec<_>>(), [&LitmusErrorKind::Unsupported(Gap::Vulkan)]);
    let many: Vec<String> = (0..17).map(|k| format!("bar.cta.sync {k} | | ;")).collect();
    assert_eq!(gap("x=0;", &many.join("\n"), warps), ["the test has more than the 16 barriers of a block"]);
}

fn outcomes_are_printed_as_herd_does() {
    let (litmus, errors) = parse(FileId(0), MP);
    assert_eq!(errors, []);
    let mut outcomes = Outcomes::new(&litmus);
    outcomes.count(Outcome(vec![1, 1, 0, 0]), 10);
    outcomes.count(Outcome(vec![1, 1, 1, 1]), 2);
    outcomes.count(Outcome(vec![0, 1, 1, 0]), 7);
    let text = warpstep::report::litmus::outcomes(&outcomes, true);
    let wanted = "Test MP Forbidden\nStates 2\n10 :>x=1; y=1; 1:r0=0; 1:r1=0;\n2  :>x=1; y=1; 1:r0=1; 1:r1=1;\nOk\n\
                  Witnesses\nPositive: 12 Negative: 0\nCondition ~exists (1:r0 = 1 /\\ 1:r1 = 0) is validated\n\
                  Observation MP Never 0 12\n";
    assert_eq!(text, wanted);
    assert!(warpstep::report::litmus::outcomes(&outcomes, false).contains("is not decided"));
    outcomes.count(Outcome(vec![1, 1, 1, 0]), 3);
    let text = warpstep::report::litmus::outcomes(&outcomes, false);
    assert!(text.contains("3  *>x=1; y=1; 1:r0=1; 1:r1=0;\nNo") || text.contains("\n3  *>"), "{text}");
    assert!(text.ends_with("is NOT validated\nObservation MP Sometimes 3 12\n"), "{text}");
    assert!(text.contains("Positive: 12 Negative: 3"), "{text}");
}

/// One thread: everything that instructions compute, pointers, negative numbers, aliases of generic addresses.
fn instructions_compute_what_they_say() {
    let text = "PTX all\n{ x=5; y=x; z=-3; v @ generic aliases x; P0:p=&y; P0:n=0x7; }\n P0@cta 3,gpu 1 ;\n\
                add r0, n, -9 ;\n sub r1, r0, 1 ;\n mul r2, r1, r0 ;\n div r3, r2, -4 ;\n ld.weak r4, p ;\n\
                st.release.sys p, 9 ;\n atom.acq_rel.gpu.sub r5, v, 2 ;\n atom.relaxed.cta.sub r6, x, n ;\n\
                red.acquire.gpu.xor z, 1 ;\n red.relaxed.gpu.and z, 0xf ;\n atom.relaxed.gpu.or r7, z, 16 ;\n\
                atom.relaxed.sys.cas r8, y, 9, 8 ;\n atom.relaxed.sys.cas r9, y, 9, 7 ;\n\
                atom.relaxed.sys.cas.success r12, x, -4, 1 ;\n atom.relaxed.sys.cas.success r13, x, 0, 3 ;\n\
                atom.relaxed.sys.cas.success r14, x, 1, -4 ;\n\
                atom.acquire.gpu.exch r10, y, n ;\n blt r0, 0, OVER ;\n ld r11, 1 ;\n OVER: ;\n bge r0, 0, OVER ;\n\
                ble 3, 3, END ;\n ld r11, 2 ;\n END: ;\n bgt 2, n, END ;\n fence.proxy.alias ;\n fence.sc.sys ;\n\
                bar.cta.sync n ;\n\
                forall (0:r0=-2 /\\ 0:r1=-3 /\\ 0:r2=6 /\\ 0:r3=-1 /\\ 0:r4=5 /\\ 0:r5=5 /\\ 0:r6=3 /\\ v=-4 /\\ x=-4 /\\ \
                0:r7=12 /\\ z=28 /\\ 0:r8=9 /\\ 0:r9=8 /\\ 0:r10=8 /\\ y=7 /\\ 0:r11=0 /\\ \
                0:r12=-4 /\\ 0:r13=1 /\\ 0:r14=1 /\\ ~(z!=28 \\/ not [z] = 0x1c))\n";
    let text = text.replace("bar.cta.sync n", "bar.cta.sync 5, n");
    let mut sources = SourceMap::default();
    let file = sources.add("all.litmus", text.clone());
    let (litmus, errors) = parse(file, &text);
    assert_eq!(errors, []);
    let lowered = lower(&litmus, file, Options::default(), &mut sources).unwrap();
    let mut outcomes = Outcomes::new(&litmus);
    let end = run(&lowered, 1).unwrap().unwrap();
    outcomes.count(outcomes.observed().outcome(&end), 1);
    let said = warpstep::report::litmus::outcomes(&outcomes, true);
    assert!(outcomes.verdict().holds, "{said}\n{}", sources.get(lowered.ptx).unwrap().text);
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    shared::trials(&[
        (
            "every_public_test_is_read_and_printed_as_the_same",
            Some("conformance/litmus/ptx"),
            every_public_test_is_read_and_printed_as_the_same,
        ),
        ("the_public_tests_become_programs", Some("conformance/litmus/ptx"), the_public_tests_become_programs),
        (
            "runs_stay_within_the_published_verdicts",
            Some("conformance/litmus/expected.csv"),
            runs_stay_within_the_published_verdicts,
        ),
        (
            "every_public_test_for_vulkan_is_read_and_printed_as_the_same",
            Some("conformance/litmus/vulkan"),
            every_public_test_for_vulkan_is_read_and_printed_as_the_same,
        ),
        (
            "our_tests_for_vulkan_are_read_and_printed_as_the_same",
            None,
            our_tests_for_vulkan_are_read_and_printed_as_the_same,
        ),
        ("every_instruction_of_vulkan_is_read", None, every_instruction_of_vulkan_is_read),
        ("gaps_are_told", None, gaps_are_told),
        ("outcomes_are_printed_as_herd_does", None, outcomes_are_printed_as_herd_does),
        ("instructions_compute_what_they_say", None, instructions_compute_what_they_say),
    ])
}
