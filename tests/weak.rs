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
//! The outcomes are found by the reference search (`tests/shared/reference.rs`). Reduction: a warp goes on as long as it can
//! ([`Grain::Visible`]). That loses nothing: what a warp does is to issue operations, which nobody sees before their micro
//! steps, and an operation that was issued early may be made as late as one likes. `every choice` below checks it without.

use crate::reference::Reference;
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::launch::build;
use warpstep::machine::walk::{Grain, State};
use warpstep::machine::{Config, Context, Launch, MemoryModel};
use warpstep::memory::fermi::model::DeviceModel;
use warpstep::memory::fermi::program::preset;
use warpstep::program::env::Function;
use warpstep::program::ops::Class;

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
        trials.push(Trial::test(name.clone(), move || check(&copy, Grain::Visible)));
        if whole {
            trials.push(Trial::test(format!("{name} every choice"), move || check(&file, Grain::Instruction)));
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
        check(&file, Grain::Visible)?;
        select(Some(mutant));
        // What it breaks may break the machine itself: that is noticed, too.
        let noticed = std::panic::catch_unwind(|| check(&file, Grain::Visible).is_err()).unwrap_or(true);
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

/// What threads of a launch hold in registers `%o…` at their exits.
fn held(state: &dyn State, kernel: &Function, launch: &Launch) -> Vec<String> {
    let mut all = BTreeSet::new();
    for (name, class, slot) in kernel.registers.iter().filter(|(_, class, _)| *class == Class::W) {
        let Some((of, name)) = name.strip_prefix("%o").and_then(|n| n.split_once('_')) else { continue };
        for thread in 0..launch.grid[0] * launch.block[0] {
            if of.is_empty() || of.parse() == Ok(thread) {
                let (block, in_block) = (thread / launch.block[0], thread % launch.block[0]);
                let value = state.register(block.into(), in_block, class, slot).unwrap();
                all.insert(format!("T{thread}.{name}={value}"));
            }
        }
    }
    all.into_iter().collect()
}

fn check(file: &Path, grain: Grain) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let spec = spec(&text)?;
    let mut sources = SourceMap::default();
    let id = sources.add(file.display().to_string(), text);
    let env = Arc::new(build(&[id], None, &sources).map_err(|p| format!("{p:?}"))?);
    let programs = preset(&spec.model.programs).ok_or("no such programs")?;
    let memory = MemoryModel::Fermi(Arc::new(spec.model.clone()), Arc::new(programs));
    let config = Config { memory, warp_size: spec.model.warp_size, keep_finished: true, ..Config::default() };
    let mut context = Context::new(Arc::clone(&env), config).map_err(|s| format!("{s:?}"))?;
    let address = context.alloc("memory", spec.bytes).map_err(|s| format!("{s:?}"))?;
    for (_, offset, value, _) in &spec.words {
        let bytes = context.bytes_mut(address + offset, 4).ok_or("a word outside of memory")?;
        bytes.copy_from_slice(&value.to_le_bytes());
    }
    let launch = |(entry, blocks, threads): &(String, u32, u32)| Launch {
        entry: entry.clone(),
        grid: [*blocks, 1, 1],
        block: [*threads, 1, 1],
        shared_bytes: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let launches: Vec<Launch> = spec.launches.iter().map(launch).collect();
    let mut walk = context.walk(&launches, grain).map_err(|s| format!("{s:?}"))?;
    // Several launches: the last one's.
    let last = launches.last().ok_or("no launch")?;
    let kernel = env.functions.get(&last.entry).ok_or("no such kernel")?;
    let mut outcome = |state: &dyn State| {
        let mut all = held(state, kernel, last);
        for (name, offset, _, _) in spec.words.iter().filter(|w| w.3) {
            let bytes = state.bytes(address + offset, 4).and_then(<[u8]>::first_chunk).copied().unwrap();
            all.push(format!("{name}={}", u32::from_le_bytes(bytes)));
        }
        all.join(" ")
    };
    let how = Reference::states(false, 3_000_000);
    let (found, states) = how.search(&mut *walk, &mut outcome).ok_or("too many steps")?;
    if !found.defects.is_empty() || found.endless != Some(false) {
        return Err(format!("{:?}, endless {:?}", found.defects, found.endless).into());
    }
    let found = found.outcomes;
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{}: {states} states", file.display());
        found.iter().for_each(|o| eprintln!("// outcome {o}"));
    }
    if found == spec.outcomes {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() && grain == Grain::Visible {
        return bless(file, &found);
    }
    let list = |set: &mut dyn Iterator<Item = &String>| set.map(|o| format!("\n  {o}")).collect::<String>();
    let missing = list(&mut spec.outcomes.difference(&found));
    let new = list(&mut found.difference(&spec.outcomes));
    Err(format!("never seen:{missing}\nnot in the list:{new}\n({states} states)").into())
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
