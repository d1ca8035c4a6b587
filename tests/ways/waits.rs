//! Whether every execution ends, with what makes large tests small and without; and verdicts of tests whose threads may change places.

use super::compare::{LIMITS, outcomes, parsed};
use super::loops;
use super::{full, model};
use std::fmt::Write;
use warpstep::axiom::{Limits, Way};
use warpstep::explore::Progress;
use warpstep::litmus::{Property, decide, liveness, liveness_plainly, liveness_until, print};

/// How many tests were compared, and how many do not end.
#[derive(Default)]
struct Count {
    compared: u64,
    endless: u64,
    open: u64,
}

pub fn liveness_agrees() {
    for (between, ends) in [("", false), ("fence.acq_rel.gpu", false), ("fence.sc.gpu", true)] {
        let litmus = parsed(&loops::both_wait(between));
        for way in Way::ALL {
            let limits = Limits { bound: 1, choices: 20_000 };
            let quick = liveness_until(&litmus, model("ptx-v7.5"), Progress::Fair, (*way, limits), &|| false);
            assert!(quick.pass == ends && !quick.searched.limited, "{between} {}: {quick:?}", way.name());
        }
        let plain = liveness_plainly(&litmus, model("ptx-v7.5"), Progress::Fair, Limits { bound: 1, choices: 20_000 });
        assert_eq!(plain.pass, ends, "{between}");
    }
    let tests = if full() { 3_000 } else { 150 };
    for (name, vulkan) in [("ptx-v6.0", false), ("ptx-v7.5", false), ("vulkan", true)] {
        let mut count = Count::default();
        for number in 0..tests {
            let text = loops::test(vulkan, number);
            let litmus = parsed(&text);
            // Most are for threads that are all promised to go on: there spins are looked for.
            let progress = match number % 8 {
                5 => Progress::Obe,
                6 => Progress::Hsa,
                7 => Progress::Lobe,
                _ => Progress::Fair,
            };
            let limits = Limits { bound: 2, choices: 20_000 };
            let quick = liveness(&litmus, model(name), progress, limits);
            let plain = liveness_plainly(&litmus, model(name), progress, limits);
            let cut =
                |d: &warpstep::litmus::Decided| d.pass && (d.searched.limited || d.searched.unsupported.is_some());
            if cut(&quick) || cut(&plain) {
                count.open += 1;
                continue;
            }
            assert_eq!(quick.pass, plain.pass, "{name} {}: quick first\n{}", progress.name(), print(&litmus));
            count.compared += 1;
            count.endless += u64::from(!quick.pass);
        }
        let Count { compared, endless, open } = count;
        eprintln!("{name}: {compared} compared, of which {endless} do not end; {open} left open");
        assert!(compared * 10 >= tests * 8 && endless * 20 >= compared && endless * 2 <= compared * 2 - 20, "{name}");
    }
}

/// A test of threads that do the same in one group or another, without what it asks.
fn alike(number: u64) -> String {
    let code = [
        "atom.relaxed.gpu.add r0, x, 1",
        "ld.acquire.gpu r1, y",
        "st.release.cta y, 1",
        "st.weak x, 2",
        "ld.relaxed.cta r2, x",
        "atom.acq_rel.cta.exch r3, y, 2",
        "fence.sc.gpu",
        "ld.weak r4, y",
    ];
    let row = |k: u64| code[(number / 8u64.pow(k.try_into().unwrap()) % 8 + number * (k + 3)) as usize % code.len()];
    let groups = [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]][number as usize % 4];
    let threads = 3 + number as usize % 2;
    let heads: Vec<String> = (0..threads).map(|k| format!("P{k}@cta {},gpu 0", groups[k])).collect();
    let mut text = format!("PTX alike-{number}\n{{ x=0; y=0; }}\n{} ;\n", heads.join(" | "));
    for k in 0..2 {
        let _ = writeln!(text, "{} ;", vec![row(k); threads].join(" | "));
    }
    text
}

/// Tests of threads that do the same in one group or another: what is decided by symmetry is what all outcomes say.
pub fn symmetries_lose_nothing() {
    let tests = if full() { 600 } else { 30 };
    let mut asked = 0;
    for number in 0..tests {
        let text = alike(number);
        let all = text.clone() + "locations [x; y;]\nexists (x == 0)\n";
        let found = outcomes(&parsed(&all), model("ptx-v6.0"), Way::Graphs, false, LIMITS);
        let Some(found) = found else { continue };
        for x in 0..6 {
            for y in 0..3 {
                let litmus = parsed(&(text.clone() + &format!("exists (x == {x} /\\ y == {y})\n")));
                let decided = decide(&litmus, model("ptx-v6.0"), Property::Safety, Way::Graphs, LIMITS);
                let there = found.iter().any(|outcome| outcome[..2] == [x, y]);
                assert_eq!(decided.pass, there, "{}", print(&litmus));
                asked += 1;
            }
        }
    }
    eprintln!("{asked} questions");
    assert!(asked > tests * 9);
}
