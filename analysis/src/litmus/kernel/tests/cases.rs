//! What single instructions are as events.

use super::{kernel, module, traced};
use crate::axiom::{End, Event, Kind, Program};
use crate::litmus::kernel::{Kernel, tags};
use crate::verdict;

/// Addresses of two words of `x` and of the tile.
const AT: &str = "mov.u64 %rd0, x; mov.u64 %rd1, tile;";

fn one(body: &str) -> Kernel {
    kernel(&format!("{AT}{body}"), (1, 1))
}

/// The sets of an event by name.
fn sets(event: &Event) -> String {
    let names = tags::NAMES.iter().enumerate().filter(|(k, _)| event.tags >> k & 1 == 1).map(|(_, n)| *n);
    names.collect::<Vec<_>>().join(" ")
}

/// The sets of all events of a body.
fn all(body: &str) -> Vec<String> {
    let trace = traced(&one(body), &[], &[]);
    assert_eq!(trace.end, End::Done, "{body}");
    trace.events.iter().map(sets).collect()
}

#[test]
fn orders_and_scopes_are_sets() {
    assert_eq!(all("ld.global.u32 %r1, [%rd0];"), ["R M WEAK GEN"]);
    assert_eq!(all("ld.volatile.global.u32 %r1, [%rd0];"), ["R M RLX SYS GEN"]);
    assert_eq!(all("ld.acquire.gpu.global.u32 %r1, [%rd0];"), ["R M ACQ GPU GEN"]);
    assert_eq!(all("st.release.cta.global.u32 [%rd0], 1;"), ["W M REL CTA GEN"]);
    assert_eq!(all("st.relaxed.sys.global.u32 [%rd0], 1;"), ["W M RLX SYS GEN"]);
    assert_eq!(all("atom.global.add.u32 %r1, [%rd0], 1;"), ["R M RLX GPU GEN RMW", "W M RLX GPU GEN RMW"]);
    assert_eq!(all("red.release.cta.global.add.u32 [%rd0], 1;"), ["R M RLX CTA GEN RMW", "W M REL CTA GEN RMW"]);
    assert_eq!(all("atom.acq_rel.sys.global.exch.b32 %r1, [%rd0], 1;"), ["R M ACQ SYS GEN RMW", "W M REL SYS GEN RMW"]);
    assert_eq!(
        all("fence.acq_rel.gpu; fence.sc.cta; membar.gl; fence.proxy.alias;"),
        ["F ACQ_REL GPU GEN", "F ACQ_REL SC CTA GEN", "F ACQ_REL SC GPU GEN", "F ALIAS"]
    );
}

#[test]
fn vectors_and_narrow_words_are_bytes_at_places() {
    let kernel = one("ld.global.v4.u16 {%h0, %h1, _, %h2}, [%rd0+8]; st.shared.u8 [%rd1+3], 7; st.u64 [%rd0+16], 1;");
    let trace = traced(&kernel, &[], &[]);
    let places: Vec<(String, u64, u32)> = trace
        .events
        .iter()
        .filter_map(|e| {
            let inside = kernel.inside(e.place?)?;
            Some((inside.name, inside.offset, e.place?.bytes))
        })
        .collect();
    let at = |name: &str, offset, bytes| (name.to_owned(), offset, bytes);
    assert_eq!(places, [at("x", 8, 2), at("x", 10, 2), at("x", 14, 2), at("tile", 3, 1), at("x", 16, 8)]);
}

/// The dependencies of an event: address, data, control.
fn deps(event: &Event) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    (event.addr.to_vec(), event.data.to_vec(), event.ctrl.to_vec())
}

#[test]
fn dependencies_go_through_registers_local_memory_and_calls() {
    let load = "ld.global.u32 %r1, [%rd0]; ld.global.u32 %r2, [%rd0+4];";
    let last = |body: &str, known: usize| {
        let trace = traced(&one(&format!("{load}{body}")), &vec![Some(1); known], &[]);
        assert_eq!(trace.end, End::Done, "{body}");
        trace.events.last().unwrap().clone()
    };
    let sum = last("add.u32 %r3, %r1, %r2; st.global.u32 [%rd0+8], %r3;", 0);
    assert_eq!((deps(&sum), sum.value), ((vec![], vec![0, 1], vec![]), None));
    let known = last("add.u32 %r3, %r1, %r2; st.global.u32 [%rd0+8], %r3;", 2);
    assert_eq!((deps(&known), known.value), ((vec![], vec![0, 1], vec![]), Some(2)));
    let plain = last("add.u32 %r3, %r1, %r2; mov.u32 %r3, 5; st.global.u32 [%rd0+8], %r3;", 0);
    assert_eq!((deps(&plain), plain.value), ((vec![], vec![], vec![]), Some(5)));
    let addr = last("mul.wide.u32 %rd2, %r2, 8; add.u64 %rd2, %rd2, %rd0; st.global.u32 [%rd2+8], %r1;", 2);
    assert_eq!(deps(&addr), (vec![1], vec![0], vec![]));
    let selp = last("setp.eq.u32 %p1, %r1, 0; selp.b32 %r3, 4, 5, %p1; st.global.u32 [%rd0+8], %r3;", 0);
    assert_eq!(deps(&selp), (vec![], vec![0], vec![]));
    let moved = last("mov.u32 %r3, %r2; setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r3, 4; st.global.u32 [%rd0+8], %r3;", 0);
    assert_eq!(deps(&moved), (vec![], vec![0, 1], vec![]));
    let guard = last("setp.eq.u32 %p1, %r1, 1; @%p1 st.global.u32 [%rd0+8], %r2;", 1);
    assert_eq!(deps(&guard), (vec![], vec![1], vec![0]));
    let branch = last("setp.eq.u32 %p1, %r1, 1; @%p1 bra L; L: st.global.u32 [%rd0+8], 1;", 1);
    assert_eq!(deps(&branch), (vec![], vec![], vec![0]));
    let local = last(
        "mov.u64 %rd3, frame; st.local.u32 [%rd3], %r1; st.local.u8 [%rd3+4], %r2; ld.local.u32 %r3, [%rd3]; st.global.u32 [%rd0+8], %r3;",
        0,
    );
    assert_eq!(deps(&local), (vec![], vec![0], vec![]));
    let part = last(
        "mov.u64 %rd3, frame; st.local.u8 [%rd3+1], %r2; ld.local.u32 %r3, [%rd3]; st.global.u32 [%rd0+8], %r3;",
        0,
    );
    assert_eq!(deps(&part), (vec![], vec![1], vec![]));
}

#[test]
fn a_cas_writes_where_it_succeeds() {
    let kernel = one("atom.global.cas.b32 %r1, [%rd0], 3, 9; st.global.u32 [%rd0+4], %r1;");
    let open = traced(&kernel, &[], &[]);
    let End::Stalled(stall) = &open.end else { panic!("{open:?}") };
    assert_eq!((&stall.on[..], &stall.options[..], open.events.len()), (&[0][..], &[1, 0][..], 1));
    // One that succeeds has read what it compares with.
    let succeeds = traced(&kernel, &[], &[1]);
    assert_eq!(
        succeeds.events.iter().map(|e| (e.kind, e.value)).collect::<Vec<_>>(),
        [(Kind::Read, None), (Kind::Write, Some(9)), (Kind::Write, Some(3)),]
    );
    assert_eq!((succeeds.events[1].rmw, deps(&succeeds.events[1])), (Some(0), (vec![], vec![], vec![0])));
    let fails = traced(&kernel, &[], &[0]);
    assert_eq!(
        fails.events.iter().map(|e| (e.kind, e.value)).collect::<Vec<_>>(),
        [(Kind::Read, None), (Kind::Write, None),]
    );
    assert_eq!(traced(&kernel, &[Some(3)], &[]).events.len(), 3);
    assert_eq!(traced(&kernel, &[Some(4)], &[]).events.len(), 2);
    assert_eq!(traced(&kernel, &[Some(4)], &[1]).end, End::Contradiction);
}

/// How a thread ends that goes around loops so often at most, and how many events it has.
fn bounded(body: &str, reads: &[u64], bound: u32) -> (usize, End) {
    let reads: Vec<Option<u64>> = reads.iter().copied().map(Some).collect();
    let trace = one(body).run(0, crate::axiom::Known { reads: &reads, assumed: &[], bound });
    (trace.events.len(), trace.end)
}

#[test]
fn loops_are_bounded_where_reads_decide() {
    let last = "mov.u32 %r2, 0; L: ld.relaxed.gpu.global.u32 %r1, [%rd0]; add.u32 %r2, %r2, %r1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;
        st.global.u32 [%rd0+4], %r2;";
    let count =
        "mov.u32 %r2, 5; L: ld.global.u32 %r1, [%rd0]; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;";
    assert_eq!(bounded(last, &[1; 9], 2), (2, End::Bound));
    assert_eq!(bounded(last, &[1, 1, 0], 3), (4, End::Done));
    assert_eq!(bounded(last, &[1, 0], 2), (3, End::Done));
    assert_eq!(bounded(count, &[0; 5], 1), (5, End::Done));
}

#[test]
fn rounds_that_only_read_and_change_nothing_are_spins() {
    let spin = |inside: &str| {
        format!(
            "mov.u32 %r2, 0; mov.u64 %rd3, frame; L: ld.relaxed.gpu.global.u32 %r1, [%rd0]; {inside} setp.eq.u32 %p1, %r1, 0;
             @%p1 bra L; st.global.u32 [%rd0+4], %r2;"
        )
    };
    let end = |inside: &str, reads: &[u64]| bounded(&spin(inside), reads, 9);
    assert_eq!(end("", &[0; 99]), (1, End::Spin));
    assert_eq!(end("", &[1]), (2, End::Done));
    assert_eq!(end("fence.acq_rel.gpu;", &[0; 99]), (2, End::Spin));
    // What fails to swap only reads.
    assert_eq!(end("atom.cas.b32 %r3, [%rd0], 7, 8;", &[0; 99]), (2, End::Spin));
    // A register that nobody reads any more does not count, one that is read later does; so does what is written, also by nobody else seen.
    assert_eq!(end("add.u32 %r4, %r1, 1;", &[0; 99]), (1, End::Spin));
    for inside in ["add.u32 %r2, %r2, 1;", "st.global.u32 [%rd0+8], 1;", "st.local.u32 [%rd3], 1;", "bar.sync 0;"] {
        assert_eq!(end(inside, &[0; 99]).1, End::Bound, "{inside}");
    }
    // Under a guard it may keep what it was, so that matters.
    let kept =
        "mov.u32 %r2, 0; L: ld.relaxed.gpu.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @!%p1 mov.u32 %r2, 3;
        setp.ne.u32 %p2, %r1, 2; @%p2 bra L; st.global.u32 [%rd0+4], %r2;";
    assert_eq!(bounded(kept, &[0; 99], 9), (1, End::Spin));
    assert_eq!(bounded(kept, &[1; 99], 9), (2, End::Spin));
    // A second call is no second round.
    let called = module(
        ".func wait() { .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>; mov.u64 %rd0, x;
         L: ld.relaxed.gpu.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; ret; }",
        "call wait; call wait;",
    );
    let kernel = Kernel::new(&super::context(&called), &super::launch(1, 1)).unwrap();
    assert_eq!(traced(&kernel, &[Some(1), Some(1)], &[]).end, End::Done);
    assert_eq!(traced(&kernel, &[Some(1), Some(0)], &[]).end, End::Spin);
}

#[test]
fn barriers_are_met_in_turn() {
    let body = "bar.sync 0; barrier.arrive 2, 64; bar.sync 0; bar.warp.sync 0x3; bar.warp.sync -1; bar.sync 2, 64;";
    let kernel = kernel(body, (2, 64));
    let of = |thread: usize| {
        let trace = kernel.run(thread, crate::axiom::Known { reads: &[], assumed: &[], bound: 1 });
        assert!(thread % 32 > 1 || trace.end == End::Done, "{trace:?}");
        trace
            .events
            .iter()
            .map(|e| e.arrival.unwrap())
            .map(|a| (a.barrier.unwrap(), a.quorum, a.waits))
            .collect::<Vec<_>>()
    };
    let first = of(0);
    let numbers: Vec<i64> = first.iter().map(|a| a.0.1).collect();
    assert_eq!(numbers, [0, 0, 1, 0, 0, 1]);
    assert_eq!(first[1].1, Some(64));
    assert_eq!((first[0].2, first[1].2), (true, false));
    assert_eq!(first, of(1));
    // Threads of another warp meet at the block's barriers, those of another block at none.
    let far = of(32);
    assert!(first[0] == far[0] && first[5] == far[5] && first[3] != far[3] && first[4] != far[4]);
    assert!(of(64).iter().all(|a| !first.contains(a)));
}

#[test]
fn scopes_reach_blocks_and_all() {
    let kernel = kernel(
        "mov.u64 %rd0, x; st.relaxed.cta.global.u32 [%rd0], 1; st.relaxed.gpu.global.u32 [%rd0], 1; st.global.u32 [%rd0], 1;",
        (2, 2),
    );
    let events = traced(&kernel, &[], &[]).events;
    let related = |name: &str, a: (usize, usize), b: (usize, usize)| {
        kernel.related(name, (Some(a.0), &events[a.1]), (Some(b.0), &events[b.1]))
    };
    assert!(related("sr", (0, 0), (1, 0)) && !related("sr", (0, 0), (2, 0)) && !related("sr", (0, 0), (2, 1)));
    assert!(related("sr", (0, 1), (2, 1)) && !related("sr", (0, 1), (2, 2)));
    assert!(related("scta", (0, 2), (1, 2)) && !related("scta", (0, 2), (3, 2)));
    assert!(!kernel.related("scta", (None, &events[0]), (Some(0), &events[0])));
}

#[test]
fn defects_and_gaps_are_ends() {
    let end = |body: &str| traced(&kernel(&format!("{AT}{body}"), (1, 2)), &[], &[]).end;
    assert_eq!(end("st.global.u32 [%rd0+64], 1;"), End::Fault(verdict::Kind::OutOfBounds));
    assert_eq!(end("st.global.u32 [%rd0+2], 1;"), End::Fault(verdict::Kind::Misaligned));
    assert_eq!(end("trap;"), End::Fault(verdict::Kind::Trap));
    assert_eq!(end("bar.warp.sync 2;"), End::Fault(verdict::Kind::NotAMember));
    for (body, name) in [
        ("shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", "shfl"),
        ("vote.sync.any.pred %p1, %p2, -1;", "vote"),
        ("mov.u32 %r1, %clock;", "clock"),
        ("bar.red.popc.u32 %r1, 0, %p1;", "bar.red"),
    ] {
        let End::Unsupported(what) = end(body) else { panic!("{body}") };
        assert!(what.contains(name), "{what}");
    }
}

#[test]
fn an_address_that_is_not_known_is_waited_for() {
    let kernel = one("ld.global.u64 %rd2, [%rd0]; st.global.u32 [%rd2], 1;");
    let trace = traced(&kernel, &[], &[]);
    let End::Stalled(stall) = &trace.end else { panic!("{trace:?}") };
    assert_eq!((&stall.on[..], stall.options.len(), trace.events.len()), (&[0][..], 0, 1));
    assert_eq!(traced(&kernel, &[Some(16)], &[]).end, End::Fault(verdict::Kind::Null));
}

#[test]
fn an_index_beyond_its_table_is_a_way_too() {
    let kernel = one(
        "ld.global.u32 %r1, [%rd0]; t: .branchtargets A, B; brx.idx %r1, t; A: st.global.u32 [%rd0+4], 1; ret; B: st.global.u32 [%rd0+4], 2;",
    );
    let open = traced(&kernel, &[], &[]);
    let End::Stalled(stall) = &open.end else { panic!("{open:?}") };
    assert_eq!(&stall.options[..], [0, 1, 2]);
    let ends: Vec<_> =
        (0..3).map(|k| traced(&kernel, &[], &[k])).map(|t| (t.events.get(1).and_then(|e| e.value), t.end)).collect();
    assert_eq!(ends, [(Some(1), End::Done), (Some(2), End::Done), (None, End::Fault(verdict::Kind::BranchIndex)),]);
    assert_eq!(traced(&kernel, &[Some(7)], &[2]).end, End::Fault(verdict::Kind::BranchIndex));
    assert_eq!(traced(&kernel, &[Some(7)], &[1]).end, End::Contradiction);
}
