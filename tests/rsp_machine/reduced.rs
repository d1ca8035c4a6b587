//! What the grain `Needed` leaves out (D-rsp-reduced) is not missed: it has the ends, with their execution graphs, that `Every` has.

use super::generate::{Sort, generated};
use super::{GROUPS, KINDS, ops, stride};
use warpstep::explore::promotion::{End, Grain, Options, Space, explore};
use warpstep::litmus::rsp::Test;
use warpstep::litmus::rsp_machine::sweep::{ONE_DEVICE, Op, Shape, TWO_DEVICES, conditional, placings, programs};
use warpstep::litmus::rsp_machine::{Scheme, compile};

/// What was compared.
#[derive(Debug)]
struct Sum {
    /// States of a whole search at most: a program that has more is not compared.
    most: u64,
    seen: usize,
    compared: u64,
    given_up: u64,
    /// States of both grains.
    every: u64,
    needed: u64,
}

fn graphs(space: &Space) -> Vec<String> {
    let mut all: Vec<_> = space.ends.keys().map(|e: &End| format!("{e:?}")).collect();
    all.sort();
    all
}

impl Sum {
    fn new(most: u64) -> Self {
        Self { most, seen: 0, compared: 0, given_up: 0, every: 0, needed: 0 }
    }

    fn compare(&mut self, test: &Test) {
        for scheme in [Scheme::original(), Scheme::proposed()] {
            let Ok(compiled) = compile(test, &scheme) else { continue };
            for ghost in [true, false] {
                let search = |grain| {
                    let all = Options::new(grain);
                    explore(&compiled.program, &mut Options { ghost, max_states: Some(self.most), ..all })
                };
                let [every, needed] = [Grain::Every, Grain::Needed].map(search);
                if every.limit.is_some() {
                    self.given_up += 1;
                    continue;
                }
                let program = || warpstep::litmus::rsp::print(test);
                assert_eq!(graphs(&every), graphs(&needed), "ghost {ghost}, {}", program());
                self.compared += 1;
                self.every += every.states;
                self.needed += needed.states;
            }
        }
    }

    fn look(&mut self, shape: &Shape, stride: usize) {
        self.seen += 1;
        if self.seen.is_multiple_of(stride) {
            self.compare(&shape.test());
        }
    }

    fn tell(&self, what: &str) {
        println!("{what}: {self:?}");
        assert!(self.given_up <= self.compared * 5 && self.needed < self.every, "{what}: {self:?}");
    }
}

#[test]
fn all_programs_of_two_operations() {
    let mut sum = Sum::new(1_000_000);
    for placing in placings(2, ONE_DEVICE) {
        programs(&placing, &ops(2), &mut |shape| sum.look(shape, stride(41)));
    }
    sum.tell("2 operations");
    assert_eq!(sum.given_up, 0);
    if stride(2) == 1 {
        let mut sum = Sum::new(1_000_000);
        for placing in placings(2, TWO_DEVICES) {
            programs(&placing, &ops(3), &mut |shape| sum.look(shape, 11));
        }
        sum.tell("2 operations on two devices");
        assert!(sum.given_up * 20 <= sum.compared, "{sum:?}");
    }
}

/// Of these a usual run looks at those of seeds only: the others are large.
#[test]
fn some_programs_of_three_and_four_operations() {
    let full = stride(2) == 1;
    let mut sum = Sum::new(if full { 60_000 } else { 10_000 });
    for seed in 0..if full { 50 } else { 12 } {
        sum.compare(generated(seed, Sort::Small).rsp.as_deref().expect("it is one"));
    }
    sum.tell("programs of seeds");
    if !full {
        return;
    }
    let mut sum = Sum::new(150_000);
    for placing in placings(3, ONE_DEVICE) {
        programs(&placing, &ops(2), &mut |shape| sum.look(shape, 997));
    }
    sum.tell("3 operations");
    let mut sum = Sum::new(400_000);
    conditional(GROUPS[1], &|at| Op::all(&KINDS, 2, at), &mut |shape| sum.look(shape, 20_011));
    sum.tell("4 operations, with a condition");
}
