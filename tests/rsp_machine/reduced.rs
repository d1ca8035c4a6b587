//! What the grain `Needed` leaves out (D-rsp-reduced) is not missed: it has the ends, with their execution graphs, that `Every` has.

use super::generate::{Sort, generated};
use super::{GROUPS, KINDS, home, ops, stride};
use warpstep::explore::promotion::{End, Grain, Options, Space, explore};
use warpstep::litmus::rsp::Test;
use warpstep::litmus::rsp_machine::sweep::{ONE_DEVICE, Op, Shape, TWO_DEVICES, conditional, placings, programs};
use warpstep::litmus::rsp_machine::{Scheme, compile};

/// States of a whole search at most: a program that has more is not compared.
const MOST: u64 = 150_000;

/// What was compared.
#[derive(Default, Debug)]
struct Sum {
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
    fn compare(&mut self, test: &Test) {
        for scheme in [Scheme::original(), Scheme::proposed()] {
            let Ok(compiled) = compile(test, &scheme) else { continue };
            for ghost in [true, false] {
                let search = |grain| {
                    let (max_states, poll) = (Some(MOST), &mut |_| None);
                    explore(&compiled.program, &mut Options { grain, ghost, stuck: false, max_states, poll })
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
        assert!(self.given_up * 4 <= self.compared && self.needed < self.every, "{what}: {self:?}");
    }
}

#[test]
fn all_programs_of_two_operations() {
    let mut sum = Sum::default();
    for placing in placings(2, ONE_DEVICE) {
        programs(&placing, &ops(2), &mut |shape| sum.look(shape, stride(41)));
    }
    sum.tell("2 operations");
    if stride(2) == 1 {
        let mut sum = Sum::default();
        for placing in placings(2, TWO_DEVICES) {
            programs(&placing, &ops(3), &mut |shape| sum.look(shape, 11));
        }
        sum.tell("2 operations on two devices");
    }
}

#[test]
fn some_programs_of_three_and_four_operations() {
    if stride(2) != 1 {
        return;
    }
    let mut sum = Sum::default();
    for placing in placings(3, ONE_DEVICE) {
        programs(&placing, &ops(2), &mut |shape| sum.look(shape, 997));
    }
    sum.tell("3 operations");
    let mut sum = Sum::default();
    conditional(GROUPS[1], &|at| Op::all(&KINDS, 2, at), &mut |shape| sum.look(shape, 4003));
    sum.tell("4 operations, with a condition");
    let mut sum = Sum::default();
    conditional([home(0, 0), home(1, 0)], &|at| Op::all(&KINDS, 3, at), &mut |shape| sum.look(shape, 50_021));
    sum.tell("4 operations on two devices, with a condition");
}

#[test]
fn small_programs_of_seeds() {
    let mut sum = Sum::default();
    for seed in 0..if stride(2) == 1 { 300 } else { 10 } {
        sum.compare(generated(seed, Sort::Small).rsp.as_deref().expect("it is one"));
    }
    sum.tell("programs of seeds");
}
