//! What a model allows of a test by one way, each execution looked at by itself.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use warpstep::axiom::{Evaluation, Execution, Kind, Limits, Model, Question, Way, search_by};
use warpstep::base::SourceMap;
use warpstep::litmus::tree::{Litmus, StmtKind};
use warpstep::litmus::{Threads, parse, print};

/// Values of what a test looks at, in its order.
pub type Outcomes = BTreeSet<Vec<i64>>;

pub const LIMITS: Limits = Limits { bound: 1, choices: 20_000 };

/// A test without errors.
pub fn parsed(text: &str) -> Litmus {
    let file = SourceMap::default().add("generated", text);
    let (litmus, errors) = parse(file, text);
    assert_eq!(errors, [], "{text}");
    litmus
}

/// The outcomes that a model allows, or those of executions that raise a flag; none where a limit ends it.
pub fn outcomes(litmus: &Litmus, model: &Model, way: Way, flagged: bool, limits: Limits) -> Option<Outcomes> {
    let threads = Threads::of(litmus);
    let found: RefCell<Outcomes> = RefCell::default();
    let known = |registers: &[&[Option<u64>]], finals: &[Option<u64>]| {
        threads.observe(registers, finals).collect::<Option<Vec<i64>>>()
    };
    let wanted = |registers: &[&[Option<u64>]], finals: &[Option<u64>]| {
        known(registers, finals).map(|outcome| !found.borrow().contains(&outcome))
    };
    let question = Question { finals: &threads.finals, wanted: &wanted, symmetries: &[], flagged };
    let searched = search_by(way, &threads, model, &question, limits, &mut |execution| {
        checked(execution, model, flagged, litmus);
        let registers: Vec<Vec<Option<u64>>> =
            execution.registers.iter().map(|list| list.iter().copied().map(Some).collect()).collect();
        let registers: Vec<&[Option<u64>]> = registers.iter().map(|list| &list[..]).collect();
        let finals: Vec<Option<u64>> = execution.finals.iter().map(|(_, value)| Some(*value)).collect();
        found.borrow_mut().extend(known(&registers, &finals));
        ControlFlow::Continue(())
    });
    (!searched.limited).then(|| found.into_inner())
}

/// That an execution is one, and that a model allows it, by the plainest reading of both.
fn checked(execution: &Execution, model: &Model, flagged: bool, litmus: &Litmus) {
    let evaluation = Evaluation::of(model, &execution.bases(model));
    assert_eq!(evaluation.failed(), None, "{}", print(litmus));
    let flags: Vec<&String> = evaluation.flags().into_iter().map(|flag| &flag.axiom.name).collect();
    assert!(!flagged || !flags.is_empty() && flags == execution.flags.iter().collect::<Vec<_>>(), "{}", print(litmus));
    let event = |n: usize| &execution.events[n].1;
    let count = execution.events.len();
    for read in (0..count).filter(|n| event(*n).kind == Kind::Read) {
        let sources: Vec<usize> = execution.rf.inverse().from(read).collect();
        let [source] = sources[..] else { panic!("{} sources of a read\n{}", sources.len(), print(litmus)) };
        let (from, to) = (event(source), event(read));
        assert!(from.kind == Kind::Write && from.value == to.value && to.value.is_some(), "{}", print(litmus));
        assert_eq!(from.place.map(|p| p.location), to.place.map(|p| p.location), "{}", print(litmus));
    }
    assert!(execution.co.plus().reflexive().next().is_none(), "{}", print(litmus));
    for (place, value) in &execution.finals {
        let here =
            |n: &usize| event(*n).kind == Kind::Write && event(*n).place.map(|p| p.location) == Some(place.location);
        let mut last = (0..count).filter(here).filter(|n| execution.co.from(*n).next().is_none());
        assert!(last.any(|n| event(n).value == Some(*value)), "{}", print(litmus));
    }
}

/// The test with as few instructions as show what it shows.
pub fn smallest(litmus: &Litmus, shows: &dyn Fn(&Litmus) -> bool) -> Litmus {
    let mut least = litmus.clone();
    loop {
        let places = least.threads.iter().enumerate().flat_map(|(t, thread)| {
            let instructions = thread.code.iter().enumerate();
            let instructions = instructions.filter(|(_, stmt)| matches!(stmt.kind, StmtKind::Instruction(_)));
            instructions.map(move |(k, _)| (t, k))
        });
        let smaller = places.into_iter().find_map(|(t, k)| {
            let mut smaller = least.clone();
            smaller.threads[t].code.remove(k);
            shows(&smaller).then_some(smaller)
        });
        match smaller {
            Some(smaller) => least = smaller,
            None => return least,
        }
    }
}
