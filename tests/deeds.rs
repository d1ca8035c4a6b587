//! What is told of accesses, on litmus tests made by chance (`tests/ways/generate.rs`): a read returns the value of the write that is told to be its
//! source, writes are in the order that leaves the last values, and a cycle is found where, and only where, no order of the accesses explains them. On
//! flat memory there is none.
//!
//! `AGREE_FULL` takes ten times as many.

use crate::compare::parsed;
use crate::generate::{self, Family};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::check::deeds::{Deed, Deeds, Done, Source, Touch, What};
use warpstep::choice::Seeded;
use warpstep::litmus::{Lowered, Options as Layout, Placement, lower, unexplained};
use warpstep::machine::{Config, Context, ControlModel, DeviceShape, MemoryModel};
use warpstep::memory::fermi::model::DeviceModel;
use warpstep::memory::rsp::SchemeName;

/// What a run did, the contents of memory before it and after it, by address.
struct Ran {
    done: Done,
    before: BTreeMap<u64, u64>,
    after: BTreeMap<u64, u64>,
}

fn config(memory: &str) -> Config {
    let device = DeviceModel::preset(memory);
    let shape = device.as_ref().map_or_else(DeviceShape::default, DeviceShape::of);
    let memory = match memory {
        "flat" => MemoryModel::Flat,
        "split" => MemoryModel::Split,
        "rsp" => MemoryModel::Rsp(SchemeName::Proposed),
        "rsp-original" => MemoryModel::Rsp(SchemeName::Original),
        "lsc-mutex" => MemoryModel::preset("lsc-mutex").unwrap(),
        _ => device.and_then(MemoryModel::of).unwrap(),
    };
    let config = Config { control: Some(ControlModel::Thread), memory, device: shape, ..Config::default() };
    Config { max_steps: Some(10_000), ..config }
}

fn lowered(number: u64) -> Option<Lowered> {
    let text = generate::test(Family::Ptx, number);
    let litmus = parsed(&text);
    let mut sources = SourceMap::default();
    let file = sources.add("test", text);
    let layout = Layout { placement: Placement::default(), control: Some(ControlModel::Thread) };
    lower(&litmus, file, layout, &mut sources).ok()
}

/// A run of a test by a seed; none where it does not end.
fn run(lowered: &Lowered, memory: &str, seed: u64) -> Option<Ran> {
    let mut context = Context::new(Arc::clone(&lowered.env), lowered.config(config(memory))).unwrap();
    let names: Vec<String> = lowered.env.variables.keys().cloned().collect();
    let contents = |context: &Context| -> BTreeMap<u64, u64> {
        let all = names.iter().filter_map(|name| context.symbol(name));
        all.map(|(at, _)| (at, u64::from_le_bytes(*context.bytes(at, 8).unwrap().first_chunk().unwrap()))).collect()
    };
    let before = contents(&context);
    let mut deeds = Deeds::new(Arc::clone(&lowered.env));
    context.launch_by(&lowered.launch, &mut deeds, &mut Seeded::new(seed), &mut |_| ()).ok()?;
    let done = deeds.finish().unwrap().pop().unwrap();
    Some(Ran { done, before, after: contents(&context) })
}

fn touches(done: &Done) -> impl Iterator<Item = (usize, &Touch)> {
    done.deeds.iter().enumerate().filter_map(|(k, deed)| Some((k, deed.touch()?)))
}

/// What is wrong with what was told of a run.
fn wrong(ran: &Ran) -> Option<String> {
    let Ran { done, before, after } = ran;
    for (k, touch) in touches(done) {
        if !touch.reads() {
            continue;
        }
        let found = match &touch.from {
            Source::Initial => before.get(&touch.spot.address).copied(),
            Source::Deed(write) => {
                let write = done.deeds[*write as usize].touch()?;
                write.wrote.filter(|_| write.spot == touch.spot)
            }
            Source::None | Source::Several(_) => None,
        };
        // Shared memory, where late-comers to barriers are counted, is not among what is there before.
        if touch.spot.block.is_none() && (found.is_none() || found != touch.read) {
            return Some(format!("deed {k} reads {:?}, its source has {found:?}: {touch:?}", touch.read));
        }
    }
    for (at, last) in after {
        let here = touches(done).filter(|(_, t)| t.writes() && t.spot.address == *at && t.spot.block.is_none());
        let end = here.max_by_key(|(_, touch)| touch.arrived).map(|(_, touch)| touch.wrote);
        if end.is_some_and(|end| end != Some(*last)) {
            return Some(format!("{at:#x} ends as {last}, the last write is {end:?}"));
        }
    }
    None
}

/// All steps that an order has to keep to, pair by pair.
fn steps(done: &Done) -> BTreeSet<(usize, usize)> {
    let mut steps = BTreeSet::new();
    let numbered = || done.deeds.iter().enumerate();
    for (a, one) in numbered() {
        for (b, two) in numbered().filter(|(b, _)| *b != a) {
            let after = a < b && one.thread == two.thread;
            let met =
                |deed: &Deed| if let What::Meet { meeting, waits } = deed.what { Some((meeting, waits)) } else { None };
            // Who goes on from a barrier does so after who came there.
            let behind = numbered().any(|(c, other)| {
                let waited = met(other).zip(met(one)).is_some_and(|((m, waits), (n, _))| m == n && waits);
                waited && c < b && other.thread == two.thread
            });
            let (from, to) = (one.touch(), two.touch());
            let here = from.zip(to).is_some_and(|(from, to)| from.spot == to.spot);
            let source = |touch: Option<&Touch>| touch.and_then(|t| t.from.of_byte(0));
            let order = |write: Option<u32>| write.map(|w| done.deeds[w as usize].touch().and_then(|t| t.arrived));
            let reads = here && source(to) == Some(Some(a as u32));
            // Where an exchange fails, some memories store nothing: it is a read then.
            let own =
                |touch: Option<&Touch>| touch.filter(|t| t.writes() && t.arrived.is_some()).map(|t| Some(t.arrived));
            let over = here && own(from).zip(own(to)).is_some_and(|(from, to)| from < to);
            let fresh = here && source(from).zip(own(to)).is_some_and(|(from, to)| order(from) < to);
            if after || behind || reads || over || fresh {
                steps.insert((a, b));
            }
        }
    }
    steps
}

/// Whether steps among some deeds lead around in a circle.
fn circular(steps: &BTreeSet<(usize, usize)>, mut among: BTreeSet<usize>) -> bool {
    while let Some(first) =
        among.iter().copied().find(|b| !steps.iter().any(|(a, other)| other == b && among.contains(a)))
    {
        among.remove(&first);
    }
    !among.is_empty()
}

/// Looks at runs of tests on a memory: how many there were, and how many have a cycle.
fn look(memory: &str, tests: u64, seeds: u64) -> Result<(u64, u64), String> {
    let (mut runs, mut cycles) = (0, 0);
    for number in 0..tests {
        let Some(lowered) = lowered(number) else { continue };
        for seed in 0..seeds {
            let Some(ran) = run(&lowered, memory, seed) else { continue };
            runs += 1;
            let told = |what: String| format!("test {number} on {memory} by seed {seed}: {what}");
            if let Some(what) = wrong(&ran) {
                return Err(told(what));
            }
            let (steps, found) = (steps(&ran.done), unexplained(&ran.done));
            if circular(&steps, (0..ran.done.deeds.len()).collect()) != found.is_some() {
                return Err(told(format!("{found:?} is found")));
            }
            if let Some(found) = found {
                cycles += 1;
                if memory == "flat" || !circular(&steps, found.iter().map(|k| *k as usize).collect()) {
                    return Err(told(format!("{found:?} is found")));
                }
            }
        }
    }
    Ok((runs, cycles))
}

fn tests() -> u64 {
    if std::env::var_os("AGREE_FULL").is_some() { 2_000 } else { 200 }
}

fn flat() {
    let (runs, cycles) = look("flat", tests(), 3).unwrap();
    assert!(runs > 2 * tests() && cycles == 0, "{runs} runs, {cycles} cycles");
    look("split", tests() / 4, 3).unwrap();
    let (_, cycles) = look("lsc-mutex", tests() / 4, 3).unwrap();
    assert_eq!(cycles, 0, "what the mechanism shows is in one order");
}

fn caches() {
    let memories = [
        ("fermi", true),
        ("report", true),
        ("tiny", false),
        ("write-through", false),
        ("rsp", false),
        ("rsp-original", false),
    ];
    for (memory, some) in memories {
        let (runs, cycles) = look(memory, tests() / 2, 6).unwrap();
        eprintln!("{memory}: {cycles} of {runs} runs have a cycle");
        assert!((cycles > 0 || !some) && cycles < runs, "{memory}: {cycles} of {runs}");
    }
}

/// The tests of this file.
pub fn trials() -> Vec<libtest_mimic::Trial> {
    crate::shared::trials(&[("flat", None, flat as fn()), ("caches", None, caches)])
}

#[cfg(feature = "mutants")]
pub mod mutants {
    use warpstep::base::mutant::{Mutant, select};

    pub fn are_noticed() {
        // The device whose runs have the most cycles.
        let look = || super::look("report", 60, 4);
        assert!(look().is_ok());
        for mutant in [Mutant::WriterForgotten, Mutant::ArrivalUntold, Mutant::SourceUnlooked] {
            select(Some(mutant));
            let noticed = look();
            select(None);
            assert!(noticed.is_err(), "{}", mutant.name());
        }
    }
}
