//! Which instructions of the rows for ALL, which are ours (D-rsp-all), are necessary.

use super::{KINDS, golden, home, missed, op, stride};
use warpstep::explore::promotion::{Grain, Options, explore};
use warpstep::litmus::rsp_machine::necessity::{Corpus, Fault, Needed, necessity};
use warpstep::litmus::rsp_machine::sweep::{Op, Shape, TWO_DEVICES, placings};
use warpstep::litmus::rsp_machine::{Kind, Row, Scheme, Width, compile};

/// Operations that are narrow or reach all; `y` is accessed atomically only.
fn ops(at: u8) -> Vec<Op> {
    let mut all = Op::all(&KINDS, 3, at);
    all.retain(|op| op.atomic.map_or(at == 0, |atomic| [(0, false), (2, false), (2, true)].contains(&atomic)));
    all
}

/// Two threads on two devices with an operation each of a kind that is remote, for ALL, on one location.
fn both(kind: Kind) -> Shape {
    let one = || vec![op(kind, Some((2, true)), 0)];
    Shape { threads: vec![(home(0, 0), one()), (home(1, 0), one())], conditional: None }
}

/// What nobody missed is looked at once more: whether two operations of the row can wait for each other for ever.
fn waits(needed: &mut Needed) {
    let without = Scheme::proposed().without(needed.row, needed.position);
    let shape = both(needed.row.kind);
    let compiled = compile(&shape.test(), &without).unwrap();
    let options = &mut Options { stuck: true, ..Options::new(Grain::Needed) };
    let states = explore(&compiled.program, options).stuck.0;
    if states != 0 {
        needed.missed = Some((shape, Fault::Stuck(states)));
    }
}

#[test]
fn instructions_for_all_devices_are_necessary() {
    let of = |row: Row| matches!(row.width, Width::All | Width::AllRemote);
    let full = stride(2) == 1;
    let mut sizes = placings(2, TWO_DEVICES);
    if full {
        sizes.extend(placings(3, TWO_DEVICES));
    }
    let homes = [[home(0, 0), home(1, 0)]];
    let conditionals: &[_] = if full { &homes } else { &[] };
    let corpus = Corpus { placings: &sizes, conditionals, ops: &ops, waits: 0 };
    let mut table = necessity(&Scheme::proposed(), &of, &corpus);
    assert_eq!(table.len(), 32);
    table.iter_mut().filter(|needed| needed.missed.is_none()).for_each(waits);
    if full {
        let text = missed(&table);
        assert!(table.iter().all(|needed| needed.missed.is_some()), "{text}");
        golden("necessity-all.txt", &text);
    } else {
        let count = table.iter().filter(|needed| needed.missed.is_some()).count();
        assert!(count >= 8, "{count} of 32 are missed in programs of two operations:\n{}", missed(&table));
    }
}
