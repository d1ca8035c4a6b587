//! All orders of host scripts: grids at the same time, aborts in flight, contexts that are destroyed.

use std::collections::BTreeSet;
use std::path::Path;
use warpstep::base::SourceMap;
use warpstep::explore::{Ending, ScriptSearch, ScriptSpace};
use warpstep::launch::{Failure, Script, ScriptDevice, device_model, programs};
use warpstep::machine::{Config, DeviceShape, MemoryModel};

/// On memory that acts at once.
fn flat() -> Config {
    Config { eager: true, max_steps: Some(100_000), ..Config::default() }
}

/// On the smallest device with caches.
fn tiny() -> Config {
    let model = device_model("tiny", &mut SourceMap::default()).unwrap();
    let device = DeviceShape::of(&model);
    let warp_size = model.warp_size;
    Config { device, warp_size, memory: MemoryModel::of(model).unwrap(), ..flat() }
}

/// A script of this folder, and a device for it.
fn script(name: &str, config: &Config) -> (Script, ScriptDevice) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(name).with_extension("toml");
    let mut sources = SourceMap::default();
    let script = Script::read(&path, &mut sources).unwrap().unwrap();
    let (programs, control) = programs(&script, config.control, &mut sources).unwrap();
    (script, ScriptDevice::new(programs, control, sources, config.clone()))
}

fn search(name: &str, config: &Config, reduced: bool) -> Result<ScriptSpace, Failure> {
    let (script, mut device) = script(name, config);
    ScriptSearch { script: &script, max_states: 1 << 22, poll: &|_| None, reduced, first: false }.run(&mut device)
}

/// What memory holds at the ends of a search.
fn results(space: &ScriptSpace) -> BTreeSet<u64> {
    space.ends.iter().filter_map(|end| Some(end.result.as_ref()?.0)).collect()
}

/// What a script comes to.
struct Wanted {
    name: &'static str,
    /// Different ends on memory that acts at once, and on the smallest device with caches.
    ends: [Option<usize>; 2],
    endless: bool,
}

const fn wanted(name: &'static str, flat: usize, tiny: usize) -> Wanted {
    Wanted { name, ends: [Some(flat), Some(tiny)], endless: false }
}

const SCRIPTS: [Wanted; 9] = [
    // Both counts, in either order, or one is lost. With caches it has too many states for a test.
    Wanted { ends: [Some(3), None], ..wanted("count", 0, 0) },
    wanted("add", 2, 2),
    // Before its store, or after it.
    wanted("abort", 2, 2),
    wanted("destroy", 1, 1),
    Wanted { endless: true, ..wanted("endless", 0, 0) },
    wanted("handshake", 1, 1),
    wanted("abort_shared", 1, 1),
    wanted("dependent", 1, 1),
    // Before the count, in its midst, after it.
    wanted("set", 3, 3),
];

#[test]
fn every_order_is_gone_through() {
    for Wanted { name, ends, endless } in SCRIPTS {
        for (config, ends) in [flat(), tiny()].iter().zip(ends) {
            let Some(ends) = ends else { continue };
            let space = search(name, config, true).unwrap();
            eprintln!("{name}: {} states, {} steps", space.states, space.steps);
            assert_eq!(
                (space.ends.len(), space.endless.is_some(), space.cut),
                (ends, endless, None),
                "{name}: {space:?}"
            );
            assert!(space.ends.iter().all(|end| end.ending == Ending::Expected), "{name}: {space:?}");
        }
    }
}

/// What is taken at once, because nothing else notices it, leaves nothing out.
#[test]
fn the_reduction_loses_nothing() {
    for (name, configs) in [
        ("abort", &[flat(), tiny()][..]),
        ("endless", &[flat(), tiny()]),
        ("set", &[flat(), tiny()]),
        ("abort_shared", &[flat()]),
        ("handshake", &[flat()]),
        ("add", &[flat()]),
    ] {
        for config in configs {
            let [less, all] = [true, false].map(|reduced| search(name, config, reduced).unwrap());
            assert_eq!((results(&less), less.endless.is_some()), (results(&all), all.endless.is_some()), "{name}");
            assert!(less.states < all.states, "{name}: {} and {} states", less.states, all.states);
        }
    }
}

/// Runs by seeds go another way through the machine: they come to the ends that the search found, and to all of them.
#[test]
fn seeds_come_to_the_same_ends() {
    // In runs by seeds the host writes as soon as it comes to it.
    for Wanted { name, .. } in SCRIPTS.iter().filter(|wanted| !wanted.endless && wanted.name != "set") {
        let found = results(&search(name, &flat(), true).unwrap());
        let by_seed = |seed| {
            let (script, mut device) = script(name, &Config { seed: Some(seed), ..flat() });
            device.run(&script, None, None, &mut |_| ()).unwrap();
            device.memory_hash()
        };
        assert_eq!((0..400).map(by_seed).collect::<BTreeSet<u64>>(), found, "{name}");
    }
}

/// A way that was found is gone again.
#[test]
fn an_end_is_shown() {
    use warpstep::verdict::{Event, Who};
    let (script, mut device) = script("count", &flat());
    let search = ScriptSearch { script: &script, max_states: 1 << 20, poll: &|_| None, reduced: true, first: false };
    let space = search.run(&mut device).unwrap();
    for end in &space.ends {
        let shown = search.show(&mut device, &end.way, &mut |_: Who, _: Event<'_>| Ok(()), &mut |_| ()).unwrap();
        assert_eq!(shown.as_ref(), Some(&end.ending));
        assert_eq!(end.result.as_ref().map(|(memory, _)| *memory), Some(device.memory_hash()));
    }
}

/// Two repairs taken out again: each is found by a search, and not without (F16, F23).
#[cfg(feature = "mutants")]
pub mod mutants {
    use super::{Ending, Failure, search, tiny};
    use warpstep::base::mutant::{Mutant, select};
    use warpstep::verdict::Stop;

    pub fn are_found() {
        select(Some(Mutant::AbortForgets));
        let forgets = search("abort_shared", &tiny(), true);
        assert!(matches!(forgets, Err(Failure::Stop(Stop::Internal(..)))), "{:?}", forgets.err());
        select(Some(Mutant::FlushWhenAlone));
        let stale = search("dependent", &tiny(), true).unwrap();
        let unexpected = stale.ends.iter().filter(|end| matches!(end.ending, Ending::Unexpected(..)));
        assert_eq!((unexpected.count(), stale.ends.len()), (1, 2));
        select(None);
        for name in ["abort_shared", "dependent"] {
            let right = search(name, &tiny(), true).unwrap();
            assert!(right.ends.iter().all(|end| end.ending == Ending::Expected), "{name}: {right:?}");
        }
    }
}
