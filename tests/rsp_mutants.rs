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

/// How a program can end, and in how many states it waits for ever.
fn looks(shape: &Shape, scheme: &Scheme) -> (BTreeSet<String>, u64) {
    let compiled = compile(&shape.test(), scheme).unwrap();
    let options =
        &mut Options { grain: Grain::Every, ghost: false, stuck: true, max_states: Some(300_000), poll: &mut |_| None };
    let space = explore(&compiled.program, options);
    (space.ends.keys().map(|end| format!("{end:?}")).collect(), space.stuck.0)
}

pub fn are_noticed() {
    let all = programs();
    select(None);
    let right: Vec<_> = all.iter().map(|(shape, scheme)| looks(shape, scheme)).collect();
    let mut missed = Vec::new();
    for mutant in MUTANTS {
        select(Some(*mutant));
        let noticed = all.iter().zip(&right).any(|((shape, scheme), right)| looks(shape, scheme) != *right);
        select(None);
        missed.extend((!noticed).then(|| mutant.name()));
    }
    assert!(missed.is_empty(), "{missed:?}");
}
