//! Theorem 1 on programs of four to six operations with conditions, as seeds have it.

use super::generate::{Sort, generated};
use std::collections::BTreeMap;
use warpstep::litmus::print;
use warpstep::litmus::rsp_machine::axioms::Axiom;
use warpstep::litmus::rsp_machine::{Scheme, Verdict, compile, verify};

/// What came of programs.
#[derive(Default, Debug)]
struct Sum {
    racy: u64,
    sound: u64,
    states: u64,
    graphs: u64,
    unsound: BTreeMap<Axiom, u64>,
}

fn sweep(seeds: std::ops::Range<u64>, sort: Sort, scheme: &Scheme) -> Sum {
    let mut sum = Sum::default();
    for seed in seeds {
        let litmus = generated(seed, sort);
        let test = litmus.rsp.as_deref().expect("it is one");
        let compiled = compile(test, scheme).expect("it is small, and the scheme has its scopes");
        match verify(&compiled, &compiled.atomic, None) {
            Verdict::Racy => sum.racy += 1,
            Verdict::Sound(graphs, states) => {
                sum.sound += 1;
                sum.graphs += graphs as u64;
                sum.states += states;
            }
            Verdict::Unsound(violation) => {
                *sum.unsound.entry(violation.axiom).or_default() += 1;
                if std::env::var_os("RSP_SHOW").is_some() {
                    println!("{:?}\n{}", violation.axiom, print(&litmus));
                }
            }
            Verdict::Limit(limit) => panic!("{limit:?}"),
        }
    }
    sum
}

/// How many programs of 2,000.
fn some(usual: u64) -> u64 {
    if super::stride(2) == 1 { 2_000 } else { usual }
}

#[test]
fn programs_of_seeds_are_sound_under_the_proposed_scheme() {
    for (sort, usual) in [(Sort::Device, 60), (Sort::Devices, 12)] {
        let count = some(usual);
        let sum = sweep(0..count, sort, &Scheme::proposed());
        println!("of {count}: {sum:?}");
        assert_eq!(sum.unsound, BTreeMap::new());
        // Of what is racy nothing is shown.
        assert!(sum.sound * 4 > count, "{sum:?}");
    }
}

/// A sweep that cannot fail proves nothing.
#[test]
fn programs_of_seeds_show_the_bugs_of_the_original_scheme() {
    let count = some(60);
    let sum = sweep(0..count, Sort::Device, &Scheme::original());
    println!("original, of {count}: {sum:?}");
    assert!(sum.unsound.values().sum::<u64>() * 100 > count, "{sum:?}");
    if count == 2_000 {
        assert!([Axiom::Narf, Axiom::Rmw].iter().all(|axiom| sum.unsound.contains_key(axiom)), "{sum:?}");
    }
}
