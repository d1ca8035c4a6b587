//! Deliberate errors in the hardware of remote-scope promotion: some small program then has other executions, or waits otherwise.

use std::collections::BTreeSet;
use warpstep::base::mutant::{Mutant, select};
use warpstep::explore::promotion::{Grain, Options, explore};
use warpstep::litmus::rsp::Home;
use warpstep::litmus::rsp_machine::sweep::{Op, Shape};
use warpstep::litmus::rsp_machine::{Kind, Row, Scheme, Width, compile};

const MUTANTS: &[Mutant] = &[
    Mutant::RspMarkersIgnored,
    Mutant::RspLoadsInvalid,
    Mutant::RspStoresUnqueued,
    Mutant::RspRmwLockIgnored,
    Mutant::RspDirtyPassed,
    Mutant::RspIncrementKeepsL1,
    Mutant::RspFlushesOwn,
    Mutant::RspInvalidatesOwn,
    Mutant::RspLockFileIgnored,
    Mutant::RspFetchOverDirty,
    Mutant::RspDequeuesDirty,
];

/// Programs of at most three operations that between them use every row, with the scheme that they are compiled by.
fn programs() -> Vec<(Shape, Scheme)> {
    use Kind::{Load, Store, Update};
    let (na, wg, dv, remote) = (None, Some((0, false)), Some((1, false)), Some((1, true)));
    let on = |kind, atomic, at| Op { kind, atomic, at };
    let home = |group| Home { device: 0, group };
    let shape = |one: &[Op], other: &[Op], conditional| {
        let threads = vec![(home(0), one.to_vec()), (home(1), other.to_vec())];
        Shape { threads, conditional }
    };
    let writes = |atomic| [on(Store, na, 0), on(Store, atomic, 1)];
    let reads = |kind, atomic| [on(kind, atomic, 1), on(Load, na, 0)];
    let shapes = [
        shape(&writes(dv), &reads(Load, dv), Some(1)),
        shape(&writes(wg), &reads(Load, remote), Some(1)),
        shape(&writes(remote), &reads(Load, wg), Some(1)),
        shape(&writes(dv), &reads(Update, dv), Some(1)),
        shape(&[on(Update, wg, 0)], &[on(Store, remote, 0)], None),
        shape(&[on(Update, wg, 0)], &[on(Update, remote, 0)], None),
        shape(&[on(Update, dv, 0), on(Load, na, 0)], &[on(Store, dv, 0)], None),
        shape(&[on(Load, na, 0), on(Update, dv, 0), on(Load, na, 0)], &[on(Store, na, 0)], None),
        shape(&[on(Store, wg, 0)], &[on(Load, remote, 0)], None),
    ];
    let both = |shape: Shape| [(shape.clone(), Scheme::original()), (shape, Scheme::proposed())];
    // The schemes flush before they increment; here only the rule itself waits until that is done.
    let row = Row { kind: Update, width: Width::Device };
    let own = shape(&[on(Store, na, 0), on(Update, dv, 0)], &[on(Load, na, 0)], None);
    shapes.into_iter().flat_map(both).chain([(own, Scheme::proposed().without(row, 0))]).collect()
}

/// What tells a mutant of the rest apart: a program, what it is compiled by, and how it is searched.
struct Killer {
    mutant: Mutant,
    shape: Shape,
    scheme: fn() -> Scheme,
    grain: Grain,
}

/// The mutants that have a program of their own. Where only locks and fifos are changed, it waits for ever in other states.
fn killers() -> Vec<Killer> {
    use Kind::{Load, Store, Update};
    let (na, wg, dv, remote) = (None, Some((0, false)), Some((1, false)), Some((1, true)));
    let (all, all_remote) = (Some((2, false)), Some((2, true)));
    let on = |kind, atomic, at| Op { kind, atomic, at };
    let shape = |threads: &[(u32, u32, &[Op])], conditional| {
        let thread = |(device, group, ops): &(u32, u32, &[Op])| (Home { device: *device, group: *group }, ops.to_vec());
        Shape { threads: threads.iter().map(thread).collect(), conditional }
    };
    let one = |op: Op| shape(&[(0, 0, &[op])], None);
    let groups = |a: &[Op], b: &[Op], conditional| shape(&[(0, 0, a), (0, 1, b)], conditional);
    let devices = |a: &[Op], b: &[Op], conditional| shape(&[(0, 0, a), (1, 0, b)], conditional);
    let killer = |mutant, shape, scheme: fn() -> Scheme, grain| Killer { mutant, shape, scheme, grain };
    let (original, proposed): (fn() -> Scheme, fn() -> Scheme) = (Scheme::original, Scheme::proposed);
    let message = || {
        let (writes, reads) = ([on(Store, na, 0), on(Store, all, 1)], [on(Load, all, 1), on(Load, na, 0)]);
        devices(&writes, &reads, Some(1))
    };
    // Global memory is updated before the flag is set, which somebody reads who invalidates his L1 cache only.
    let counted = || {
        let (writes, reads) = ([on(Update, all, 0), on(Store, all, 1)], [on(Load, dv, 1), on(Load, na, 0)]);
        devices(&writes, &reads, None)
    };
    // The second thread holds the lock that stops the flush which it waits for; the first one would need the lock, too.
    let taken = || groups(&[on(Store, wg, 0), on(Load, remote, 0)], &[on(Load, remote, 0)], None);
    let stores = || groups(&[on(Store, remote, 0)], &[on(Store, remote, 0)], None);
    let old_message = || groups(&[on(Store, na, 0), on(Store, dv, 1)], &[on(Load, dv, 1), on(Load, na, 0)], Some(1));
    vec![
        killer(Mutant::RspGlobalKeepsCaches, counted(), proposed, Grain::Needed),
        killer(Mutant::RspFlushesNoL2, message(), proposed, Grain::Needed),
        killer(Mutant::RspKeepsL2, message(), proposed, Grain::Needed),
        killer(Mutant::RspDequeuesDirtyL2, message(), proposed, Grain::Needed),
        killer(Mutant::RspLockTaken, taken(), original, Grain::Every),
        killer(Mutant::RspUnlockIdle, stores(), original, Grain::Every),
        killer(
            Mutant::RspLocksOwnRmw,
            groups(&[on(Update, wg, 0)], &[on(Store, remote, 0)], None),
            proposed,
            Grain::Every,
        ),
        killer(Mutant::RspUnlocksOwnRmw, stores(), proposed, Grain::Every),
        killer(Mutant::RspEvictsDirty, one(on(Store, na, 0)), proposed, Grain::Every),
        killer(Mutant::RspEvictsDirtyL2, one(on(Store, na, 0)), proposed, Grain::Every),
        killer(Mutant::RspFlushLost, one(on(Store, na, 0)), proposed, Grain::Every),
        killer(Mutant::RspFlushL2Lost, one(on(Store, na, 0)), proposed, Grain::Every),
        killer(Mutant::RspFetchL2OverDirty, one(on(Store, na, 0)), proposed, Grain::Every),
        killer(Mutant::RspMarkerStays, one(on(Store, dv, 0)), proposed, Grain::Every),
        killer(Mutant::RspMarkerStaysL2, one(on(Store, all_remote, 0)), proposed, Grain::Every),
        killer(Mutant::RspFetchesForgotten, old_message(), original, Grain::Needed),
        killer(Mutant::RspInvalidatesEarly, early(), proposed, Grain::Needed),
        killer(Mutant::RspFlushesEarly, late(), proposed, Grain::Needed),
    ]
}

/// The second thread of a work-group updates `y` for the device and then invalidates; between the two the first one sees the new value, and
/// after it one of `x` that is stale.
fn early() -> Shape {
    let on = |kind, atomic, at| Op { kind, atomic, at };
    let home = |group| Home { device: 0, group };
    let (wg, dv) = (Some((0, false)), Some((1, false)));
    let reads = vec![on(Kind::Load, wg, 1), on(Kind::Load, wg, 0)];
    let writes = vec![on(Kind::Store, wg, 0), on(Kind::Store, dv, 1)];
    let threads = vec![(home(0), reads), (home(0), vec![on(Kind::Update, dv, 1)]), (home(1), writes)];
    Shape { threads, conditional: None }
}

/// Of two stores for the work-group the second is flushed first: who reads it, and invalidates, may read what was there before the first.
fn late() -> Shape {
    let on = |kind, atomic, at| Op { kind, atomic, at };
    let home = |group| Home { device: 0, group };
    let (wg, dv) = (Some((0, false)), Some((1, false)));
    let reads = vec![on(Kind::Load, dv, 1), on(Kind::Load, wg, 0)];
    let writes = vec![on(Kind::Store, wg, 0), on(Kind::Store, wg, 1)];
    Shape { threads: vec![(home(0), reads), (home(1), writes)], conditional: None }
}

/// How a program can end, and in how many states it waits for ever.
fn looks(shape: &Shape, scheme: &Scheme, grain: Grain) -> (BTreeSet<String>, u64) {
    let compiled = compile(&shape.test(), scheme).unwrap();
    let options = &mut Options { stuck: true, max_states: Some(300_000), ..Options::new(grain) };
    let space = explore(&compiled.program, options);
    (space.ends.keys().map(|end| format!("{end:?}")).collect(), space.stuck.0)
}

pub fn are_noticed() {
    let all = programs();
    select(None);
    let right: Vec<_> = all.iter().map(|(shape, scheme)| looks(shape, scheme, Grain::Every)).collect();
    let mut missed = Vec::new();
    for mutant in MUTANTS {
        select(Some(*mutant));
        let noticed =
            all.iter().zip(&right).any(|((shape, scheme), right)| looks(shape, scheme, Grain::Every) != *right);
        select(None);
        missed.extend((!noticed).then(|| mutant.name()));
    }
    for Killer { mutant, shape, scheme, grain } in killers() {
        let right = looks(&shape, &scheme(), grain);
        select(Some(mutant));
        let noticed = looks(&shape, &scheme(), grain) != right;
        select(None);
        missed.extend((!noticed).then(|| mutant.name()));
    }
    assert!(missed.is_empty(), "{missed:?}");
    let known = MUTANTS.iter().copied().chain(killers().into_iter().map(|k| k.mutant));
    let known: BTreeSet<&str> = known.map(Mutant::name).collect();
    // Those of the memory of kernels are told apart elsewhere.
    let rsp = Mutant::ALL.iter().filter(|m| m.name().starts_with("rsp-") && !m.name().starts_with("rsp-ptx-"));
    assert!(rsp.into_iter().all(|m| known.contains(m.name())), "a mutant has no program");
}
