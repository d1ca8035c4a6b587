//! `--check races` on this memory: marks of remote accesses count (D-race-remote). What the checker of runs finds is what the axioms of
//! figure 2 call a race.

use super::*;
use warpstep::check::{Races, RacesOptions};
use warpstep::litmus::rsp_machine::axioms::Inclusion;
use warpstep::litmus::rsp_machine::races;

/// Whether any of some runs has a race.
fn found(text: &str, memory: &MemoryModel) -> bool {
    let one = |seed| {
        let config =
            Config { memory: memory.clone(), seed: Some(seed), small_steps: seed % 2 == 0, ..Config::default() };
        let control = config.control;
        let mut sources = SourceMap::default();
        let file = sources.add("k.ptx", text.to_owned());
        let env = Arc::new(build(&[file], control, &sources).unwrap_or_else(|p| panic!("{p:?}\n{text}")));
        let mut context = Context::new(Arc::clone(&env), config).unwrap();
        let params = context.alloc("memory", BYTES).unwrap().to_le_bytes().to_vec();
        let launch = Launch { entry: "k".into(), grid: [2, 1, 1], block: [1; 3], shared_bytes: 0, params };
        let options = RacesOptions { remote: memory.has_remote(), ..RacesOptions::default() };
        let mut races = Races::new(env).with(options);
        let ended = context.launch_with(&launch, &mut races, &mut |_| ());
        assert!(ended.is_ok() || matches!(ended, Err(Stop::Stuck(_))), "{ended:?}\n{text}");
        races.findings().count() != 0
    };
    (0..12).any(one)
}

/// Whether figure 2 says that a program races.
fn defined(shape: &Shape) -> bool {
    let compiled = compile(&shape.test(), &Scheme::of(SchemeName::Proposed)).unwrap();
    races(&compiled, &compiled.atomic, Inclusion::Section3)
}

fn is_remote(op: &Op) -> bool {
    op.atomic.is_some_and(|(_, remote)| remote)
}

/// Compares; gives what was found.
fn agrees(shape: &Shape) -> bool {
    let all = || shape.threads.iter().flat_map(|(_, ops)| ops);
    let found = SCHEMES.map(|scheme| found(&kernel(shape), &MemoryModel::Rsp(scheme)));
    // A plain access and a remote one that nothing orders are a race here, as for `rsp-strict` (D-race-remote).
    let strict = all().any(is_remote) && all().any(|op| op.atomic.is_none()) && all().all(|op| op.at == 0);
    let conflicts = || all().any(|op| op.kind != Kind::Load);
    let expected = if strict { conflicts() } else { defined(shape) };
    assert_eq!(found, [expected; 2], "{shape:?}\n{}", kernel(shape));
    found[0]
}

#[test]
fn races_are_those_of_the_axioms() {
    let plain = [op(Kind::Load, None, 0), op(Kind::Store, None, 0)];
    let all: Vec<Op> = nine().into_iter().chain(plain).collect();
    let mut raced = [0, 0];
    for one in &all {
        for other in &all {
            raced[usize::from(agrees(&pair(&[*one], &[*other], None)))] += 1;
        }
    }
    // Message passing, by each pair of operations on the flag.
    let flags = |kinds: [Kind; 2]| nine().into_iter().filter(move |op| kinds.contains(&op.kind));
    for write in flags([Kind::Store, Kind::Update]) {
        for read in flags([Kind::Load, Kind::Update]) {
            let [write, read] = [write, read].map(|op| Op { at: 1, ..op });
            let shape = pair(&[op(Kind::Store, None, 0), write], &[read, op(Kind::Load, None, 0)], Some(1));
            let racy = agrees(&shape);
            let wide = |op: &Op| op.atomic.is_some_and(|(scope, _)| scope == 1);
            assert_eq!(!racy, is_remote(&write) || is_remote(&read) || wide(&write) && wide(&read), "{shape:?}");
            raced[usize::from(racy)] += 1;
            // Nobody else knows marks.
            assert!(racy || found(&kernel(&shape), &MemoryModel::Flat) != (wide(&write) && wide(&read)));
        }
    }
    assert!(raced.iter().all(|count| *count > 20), "{raced:?}");
}
