//! Weak behaviours that the report predicts, as files with the exact set of outcomes.
//!
//! `tests/weak/NAME.ptx` begins with comments that say how it is run:
//!
//! ```text
//! // device tiny programs=report same_thread_order=false
//! // memory 256                    bytes of the one buffer, whose address is the kernel's parameter
//! // word x@0=5                    a word of it: its name, offset and initial value; `show` also puts it in the outcome
//! // launch kernel 2 1             entry, blocks, threads of a block; several lines are launches in order
//! // outcome T0.a=1 T1.a=0 x=5     registers %oN_… of thread N, %o_… of each, at their exits, and words shown
//! ```
//!
//! The outcomes are found by a depth-first search over all choices that runs the program again for each schedule and
//! gives up where a state was seen before. Reduction: a warp goes on as soon as and as long as it can, the first one
//! first. That loses nothing: what a warp does is to issue operations, which nobody sees before their micro steps, and
//! an operation that was issued early may be made as late as one likes. `every choice` below checks it without.

use libtest_mimic::{Failed, Trial};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::choice::{MICRO_END, Menu, Oracle, Pick, Site};
use warpstep::launch::build;
use warpstep::machine::{Config, Context, Launch, MemoryModel};
use warpstep::memory::fermi::model::DeviceModel;
use warpstep::memory::fermi::program::preset;
use warpstep::program::env::ProgEnv;
use warpstep::program::instr::Op;
use warpstep::program::ops::Class;
use warpstep::verdict::{Event, LimitKind, Sink, Stop, Who};

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/weak");
    let mut files: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "ptx"));
    files.sort();
    let mut trials = Vec::new();
    for file in files {
        let name = file.file_stem().and_then(|n| n.to_str()).unwrap_or("").to_owned();
        let whole = name.starts_with("small");
        let copy = file.clone();
        trials.push(Trial::test(name.clone(), move || check(&copy, true)));
        if whole {
            trials.push(Trial::test(format!("{name} every choice"), move || check(&file, false)));
        }
    }
    trials
}

/// Each deliberate error changes the outcomes of a file.
#[cfg(feature = "mutants")]
pub fn mutants() -> Result<(), Failed> {
    use warpstep::base::mutant::{Mutant, select};
    let all = [
        (Mutant::HighestPrioMaximum, "small_unordered"),
        (Mutant::FenceAtOnce, "fences"),
        (Mutant::AcquireKeepsLines, "stale_fence"),
        (Mutant::NothingBlocks, "own_write_kept"),
        (Mutant::VolatileUnordered, "small_volatile"),
        (Mutant::SameBytesUnordered, "own_write_kept"),
        (Mutant::LastLaneWins, "two_lanes"),
        (Mutant::NoFlush, "dependent"),
        (Mutant::WriteBackLost, "neighbour"),
        (Mutant::WriteBackL1Lost, "local_neighbour"),
        (Mutant::NeverEvicts, "evicted"),
        (Mutant::BarrierDoesNotWait, "barrier"),
        (Mutant::LineWideDiscard, "local_neighbour"),
        (Mutant::LockIgnored, "shared_atomics"),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/weak");
    let mut alive = Vec::new();
    for (mutant, name) in all {
        let file = folder.join(name).with_extension("ptx");
        select(None);
        check(&file, true)?;
        select(Some(mutant));
        // What it breaks may break the machine itself: that is noticed, too.
        let noticed = std::panic::catch_unwind(|| check(&file, true).is_err()).unwrap_or(true);
        select(None);
        if !noticed {
            alive.push(format!("{} in {name}", mutant.name()));
        }
    }
    if alive.is_empty() { Ok(()) } else { Err(format!("nothing tells apart: {alive:?}").into()) }
}

/// What a file says.
#[derive(Default)]
struct Spec {
    model: DeviceModel,
    bytes: u64,
    /// Name, offset, value, whether it is shown.
    words: Vec<(String, u64, u32, bool)>,
    launches: Vec<(String, u32, u32)>,
    outcomes: BTreeSet<String>,
}

fn spec(text: &str) -> Result<Spec, String> {
    let mut spec = Spec { model: DeviceModel::preset("tiny").ok_or("no preset")?, bytes: 256, ..Spec::default() };
    for line in text.lines().map_while(|l| l.strip_prefix("// ")) {
        let mut words = line.split_whitespace();
        let number = |w: Option<&str>| w.and_then(|w| w.parse().ok()).ok_or(format!("a number is missing: {line}"));
        match words.next() {
            Some("device") => {
                let name = words.next().unwrap_or("");
                spec.model = DeviceModel::preset(name).ok_or(format!("no preset {name}"))?;
                for setting in words {
                    let (key, value) = setting.split_once('=').ok_or(format!("no value: {setting}"))?;
                    match key {
                        "programs" => value.clone_into(&mut spec.model.programs),
                        "same_thread_order" => spec.model.same_thread_order = value == "true",
                        "volatile_shared_order" => spec.model.volatile_shared_order = value == "true",
                        "eager_local" => spec.model.eager_local = value == "true",
                        _ => return Err(format!("no setting {key}")),
                    }
                }
            }
            Some("memory") => spec.bytes = number(words.next())?,
            Some(kind @ ("word" | "show")) => {
                let text = words.next().unwrap_or("");
                let parsed = text.split_once('@').and_then(|(name, rest)| {
                    let (offset, value) = rest.split_once('=')?;
                    Some((name.to_owned(), offset.parse().ok()?, value.parse().ok()?, kind == "show"))
                });
                spec.words.push(parsed.ok_or(format!("not NAME@OFFSET=VALUE: {text}"))?);
            }
            Some("launch") => {
                let entry = words.next().unwrap_or("").to_owned();
                let (blocks, threads) = (number(words.next())?, number(words.next())?);
                spec.launches.push((entry, u32::try_from(blocks).unwrap_or(1), u32::try_from(threads).unwrap_or(1)));
            }
            Some("outcome") => {
                spec.outcomes.insert(words.collect::<Vec<_>>().join(" "));
            }
            _ => {}
        }
    }
    Ok(spec)
}

/// The choices of the run under way, and what earlier ones have seen.
#[derive(Default)]
struct Search {
    /// Which alternative of how many, at each choice.
    path: Vec<(u32, u32)>,
    at: usize,
    /// States, with what threads that are gone have told: a state does not remember them.
    seen: BTreeSet<(u128, BTreeMap<String, u32>)>,
    reduced: bool,
}

/// Ends a run in a state that was seen before.
const SEEN: Stop = Stop::Limit(LimitKind::Time(u64::MAX));

struct Chooser<'a>(&'a RefCell<Search>);

impl Oracle for Chooser<'_> {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let mut search = self.0.borrow_mut();
        let lease = if search.reduced { NonZeroU32::MAX } else { NonZeroU32::MIN };
        let forced = match menu.site {
            Site::Warp | Site::Grid => Some(menu.nth(0)),
            Site::Micro if menu.offers(MICRO_END) => Some(MICRO_END),
            _ => None,
        };
        if let Some(index) = forced.filter(|_| search.reduced) {
            return Ok(Pick { index, lease });
        }
        let at = search.at;
        search.at += 1;
        if at == search.path.len() {
            search.path.push((0, menu.arity()));
        }
        let index = search.path.get(at).map_or(0, |(k, _)| menu.nth(*k));
        Ok(Pick { index, lease })
    }
}

/// Notes what threads hold when they exit, and gives up where the search has been.
struct Watch<'a> {
    search: &'a RefCell<Search>,
    env: &'a ProgEnv,
    threads: u32,
    warp_size: u32,
    outcome: &'a RefCell<BTreeMap<String, u32>>,
}

impl Sink for Watch<'_> {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::State(number) => {
                let mut search = self.search.borrow_mut();
                let told = self.outcome.borrow().clone();
                if search.at == search.path.len() && !search.seen.insert((number, told)) {
                    return Err(SEEN);
                }
            }
            Event::Step(step) if self.env.code.get(step.pc.0 as usize).is_some_and(|i| i.op == Op::Exit) => {
                let Some(origin) = self.env.origin.get(step.pc.0 as usize) else { return Ok(()) };
                let Some(function) = self.env.function(origin.function) else { return Ok(()) };
                for (name, class, slot) in function.registers.iter() {
                    let Some((of, name)) = name.strip_prefix("%o").and_then(|n| n.split_once('_')) else { continue };
                    if class != Class::W {
                        continue;
                    }
                    for lane in (0..32).filter(|l| step.lanes >> l & 1 == 1) {
                        let in_block = u64::from(who.warp * self.warp_size) + lane;
                        let thread = who.block * u64::from(self.threads) + in_block;
                        if !of.is_empty() && of.parse() != Ok(thread) {
                            continue;
                        }
                        let value = step.regs.w[slot.index()].0[usize::try_from(lane).unwrap_or(0)];
                        // Several launches: the last one's.
                        self.outcome.borrow_mut().insert(format!("T{thread}.{name}"), value);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// One run along the path of the search; its outcome, unless it led where the search has been.
fn run(spec: &Spec, env: &Arc<ProgEnv>, search: &RefCell<Search>) -> Result<Option<String>, String> {
    let programs = preset(&spec.model.programs).ok_or("no such programs")?;
    let memory = MemoryModel::Fermi(Arc::new(spec.model.clone()), Arc::new(programs));
    let config = Config { memory, warp_size: spec.model.warp_size, states: true, ..Config::default() };
    let mut context = Context::new(Arc::clone(env), config).map_err(|s| format!("{s:?}"))?;
    let address = context.alloc("memory", spec.bytes).map_err(|s| format!("{s:?}"))?;
    for (_, offset, value, _) in &spec.words {
        let bytes = context.bytes_mut(address + offset, 4).ok_or("a word outside of memory")?;
        bytes.copy_from_slice(&value.to_le_bytes());
    }
    let outcome = RefCell::default();
    for (entry, blocks, threads) in &spec.launches {
        let launch = Launch {
            entry: entry.clone(),
            grid: [*blocks, 1, 1],
            block: [*threads, 1, 1],
            shared_bytes: 0,
            params: address.to_le_bytes().to_vec(),
        };
        let (threads, warp_size) = (*threads, spec.model.warp_size);
        let sink = Watch { search, env, threads, warp_size, outcome: &outcome };
        match context.launch_by(&launch, sink, &mut Chooser(search), &mut |_| ()) {
            Ok(_) => {}
            Err(stop) if stop == SEEN => return Ok(None),
            Err(Stop::Stuck(kind)) => return Ok(Some(format!("stuck {kind:?}"))),
            Err(stop) => return Err(format!("{stop:?}")),
        }
    }
    let mut all: Vec<String> =
        outcome.into_inner().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    for (name, offset, _, _) in spec.words.iter().filter(|w| w.3) {
        let bytes = context.bytes(address + offset, 4).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        all.push(format!("{name}={}", u32::from_le_bytes(bytes)));
    }
    Ok(Some(all.join(" ")))
}

fn check(file: &Path, reduced: bool) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let spec = spec(&text)?;
    let mut sources = SourceMap::default();
    let id = sources.add(file.display().to_string(), text);
    let env = build(&[id], None, &sources).map_err(|p| format!("{p:?}"))?;
    let env = Arc::new(env);
    let search = RefCell::new(Search { reduced, ..Search::default() });
    let mut found = BTreeSet::new();
    let mut runs = 0u64;
    loop {
        search.borrow_mut().at = 0;
        found.extend(run(&spec, &env, &search)?);
        runs += 1;
        let mut search = search.borrow_mut();
        // The next path: the last choice that has an alternative left.
        while search.path.last().is_some_and(|(k, arity)| k + 1 >= *arity) {
            search.path.pop();
        }
        match search.path.last_mut() {
            Some((k, _)) => *k += 1,
            None => break,
        }
        if runs > 3_000_000 {
            return Err("too many runs".into());
        }
    }
    let states = search.borrow().seen.len();
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{}: {runs} runs, {states} states", file.display());
        found.iter().for_each(|o| eprintln!("// outcome {o}"));
    }
    if found == spec.outcomes {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() && reduced {
        return bless(file, &found);
    }
    let list = |set: &mut dyn Iterator<Item = &String>| set.map(|o| format!("\n  {o}")).collect::<String>();
    let missing = list(&mut spec.outcomes.difference(&found));
    let new = list(&mut found.difference(&spec.outcomes));
    Err(format!("never seen:{missing}\nnot in the list:{new}\n({runs} runs, {states} states)").into())
}

/// Rewrites the outcomes of a file; to be reviewed.
fn bless(file: &Path, found: &BTreeSet<String>) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let is_outcome = |l: &&str| l.starts_with("// outcome ");
    let head = text.lines().filter(|l| !is_outcome(l)).take_while(|l| l.starts_with("//"));
    let rest = text.lines().skip_while(|l| l.starts_with("//"));
    let outcomes = found.iter().map(|o| format!("// outcome {o}"));
    let lines: Vec<String> = head.map(str::to_owned).chain(outcomes).chain(rest.map(str::to_owned)).collect();
    Ok(std::fs::write(file, lines.join("\n") + "\n")?)
}
