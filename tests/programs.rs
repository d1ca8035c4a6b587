//! Memory programs: every interleaving of a few operations on small caches.

use crate::programs_world::{Act, Outcomes, Scenario, act};
use std::collections::BTreeSet;
use warpstep::base::SourceMap;
use warpstep::memory::fermi::program::{Fill, OpKey, OpKind, ProgramSet, load, preset};
use warpstep::program::instr::Space;
use warpstep::verdict::Rule;

fn outcomes_of(programs: &str, acts: &[Act], finally: &[u64]) -> Outcomes {
    let mut scenario = Scenario::new(preset(programs).unwrap(), 1, 2, acts);
    scenario.explore(finally).unwrap_or_else(|e| panic!("{programs}: {e}")).0
}

fn exactly(list: &[&[u32]]) -> Outcomes {
    list.iter().map(|o| o.to_vec()).collect()
}

fn names(kind: OpKind, space: Space) -> Vec<&'static str> {
    let keys = OpKey::all().into_iter().filter(|k| k.kind() == kind && k.space() == space);
    keys.map(|k| &*k.name().leak()).collect()
}

/// A load that begins when a store has ended reads what it wrote, whatever their cache operators, while a neighbour's load
/// brings the line in at any time.
#[test]
fn what_has_been_written_is_read() {
    for (programs, space) in [
        ("fermi", Space::Global),
        ("fermi", Space::Local),
        ("write-through", Space::Global),
        ("invalidate", Space::Global),
    ] {
        let neighbour = if space == Space::Global { "ld.global.ca" } else { "ld.local.ca" };
        for store in names(OpKind::Store, space) {
            for load in names(OpKind::Load, space) {
                let acts = [act(store, 0, 0, 7), act(load, 0, 0, 0).after(0), act(neighbour, 0, 1, 0)];
                assert_eq!(outcomes_of(programs, &acts, &[]), exactly(&[&[7, 0]]), "{programs}: {store}, {load}");
            }
        }
    }
}

/// A scenario with all that may come out of it.
struct Case {
    programs: &'static str,
    fill: Fill,
    acts: Vec<Act>,
    finally: &'static [u64],
    outcomes: &'static [&'static [u32]],
}

impl Case {
    fn check(&self) -> Result<(), String> {
        let mut scenario = Scenario::new(preset(self.programs).unwrap(), 1, 2, &self.acts);
        scenario.fill = self.fill;
        let (found, _) = scenario.explore(self.finally)?;
        let wanted = exactly(self.outcomes);
        if found == wanted { Ok(()) } else { Err(format!("{found:?}, expected {wanted:?}")) }
    }
}

fn case(programs: &'static str, acts: &[Act], finally: &'static [u64], outcomes: &'static [&'static [u32]]) -> Case {
    Case { programs, fill: Fill::Line, acts: acts.to_vec(), finally, outcomes }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    // The window of listing 4.1: between `discardL1` and `writeL2` a neighbour's load brings the old line in (D-stale).
    let acts = [act("st.global.wb", 0, 0, 7), act("ld.global.ca", 0, 0, 0).after(0), act("ld.global.ca", 0, 1, 0)];
    cases.push(case("report", &acts, &[], &[&[0, 0], &[7, 0]]));
    cases.push(case("fermi", &acts, &[], &[&[7, 0]]));
    // Where a miss fetches no more than is asked for, only a load of the very byte can.
    cases.push(Case { fill: Fill::Bytes, ..case("report", &acts, &[], &[&[7, 0]]) });
    // Another multiprocessor's L1 keeps what it has (2.3.2); a load that bypasses it does not see that.
    let acts = |load| [act("ld.global.ca", 1, 0, 0), act("st.global", 0, 0, 7).after(0), act(load, 1, 0, 0).after(1)];
    cases.push(case("fermi", &acts("ld.global.ca"), &[], &[&[0, 0], &[0, 7]]));
    cases.push(case("fermi", &acts("ld.global.cg"), &[], &[&[0, 7]]));
    cases.push(case("fermi", &acts("ld.relaxed.global"), &[], &[&[0, 7]]));
    cases.push(case("write-through", &acts("ld.global.ca"), &[], &[&[0, 0], &[0, 7]]));
    cases.push(case("write-through", &acts("ld.relaxed.cta.global"), &[], &[&[0, 0], &[0, 7]]));
    cases.push(case("write-through", &acts("ld.relaxed.gpu.global"), &[], &[&[0, 7]]));
    for load in ["ld.global.ca", "ld.relaxed.cta.global", "ld.relaxed.global"] {
        cases.push(case("invalidate", &acts(load), &[], &[&[0, 7]]));
    }
    // A fence that reaches beyond the block drops what L1 has; one of the block keeps it.
    let fenced = |fence| {
        let fence = act(fence, 1, 0, 0).after(1);
        [act("ld.global", 1, 0, 0), act("st.global", 0, 0, 7).after(0), fence, act("ld.global", 1, 0, 0).after(2)]
    };
    cases.push(case("write-through", &fenced("fence.sc.gpu"), &[], &[&[0, 7]]));
    cases.push(case("write-through", &fenced("fence.acquire"), &[], &[&[0, 7]]));
    for fence in ["fence.sc.cta", "fence.release"] {
        cases.push(case("write-through", &fenced(fence), &[], &[&[0, 0], &[0, 7]]));
    }
    // Message passing without fences: the stores are in order, the reader has the line of x from before and loads it again
    // when it has seen y. It may see an old x where stores do not reach other multiprocessors' L1, and never where they do.
    let passing = [
        act("ld.global", 1, 0, 0),
        act("st.volatile.global", 0, 0, 7).after(0),
        act("st.volatile.global", 0, 2, 9).after(1),
        act("ld.global.cg", 1, 2, 0),
        act("ld.global", 1, 0, 0).after(3),
    ];
    cases.push(case("write-through", &passing, &[], &[&[0, 0, 0], &[0, 0, 7], &[0, 9, 0], &[0, 9, 7]]));
    cases.push(case("invalidate", &passing, &[], &[&[0, 0, 0], &[0, 0, 7], &[0, 9, 7]]));
    // Two multiprocessors write the byte that both have in their L1: they agree on what is left.
    let both = [
        act("st.global", 0, 0, 1),
        act("st.global", 1, 0, 2),
        act("ld.global", 0, 0, 0).after(0),
        act("ld.global", 1, 0, 0).after(1),
    ];
    cases.push(case("invalidate", &both, &[0], &[&[1, 1, 1], &[1, 2, 2], &[2, 2, 2], &[1, 2, 1]]));
    // Atomic operations are atomic with respect to each other.
    for programs in ["report", "fermi", "sm80", "write-through", "invalidate"] {
        for name in ["atom.global", "atom.shared"] {
            cases.push(case(programs, &[act(name, 0, 0, 1), act(name, 0, 0, 2)], &[0], &[&[0, 1, 3], &[2, 0, 3]]));
        }
        for name in ["red.global", "red.shared"] {
            cases.push(case(programs, &[act(name, 0, 0, 1), act(name, 0, 0, 2), act(name, 0, 0, 4)], &[0], &[&[7]]));
        }
    }
    let acts = [act("atom.global", 0, 0, 1), act("atom.global", 1, 0, 2), act("st.global", 0, 1, 9)];
    cases.push(case("fermi", &acts, &[0, 1], &[&[0, 1, 3, 9], &[2, 0, 3, 9]]));
    // Those on shared memory are not atomic with respect to stores (4.5): the store is lost. Hardware's own are.
    let acts = [act("red.shared", 0, 0, 1), act("st.shared", 0, 0, 8)];
    cases.push(case("fermi", &acts, &[0], &[&[1], &[8], &[9]]));
    cases.push(case("sm80", &acts, &[0], &[&[8], &[9]]));
    cases
}

#[test]
fn outcomes_are_exactly_these() {
    for case in cases() {
        case.check().unwrap_or_else(|e| panic!("{} {:?}: {e}", case.programs, case.acts));
    }
    joins_the_fetch().unwrap();
    reserved_lines_are_completed().unwrap();
}

#[cfg(feature = "mutants")]
pub mod mutants {
    use super::*;
    use warpstep::base::mutant::{Mutant, select};

    pub fn are_noticed() {
        for mutant in [
            Mutant::ReadNeverWaits,
            Mutant::ReserveNeverJoins,
            Mutant::WaitGoesOn,
            Mutant::YieldGoesOn,
            Mutant::EndGoesOn,
            Mutant::AlwaysElse,
            Mutant::LockIgnored,
            Mutant::AtomOpIdle,
            Mutant::UpdateLeavesRest,
            Mutant::OthersKeepLines,
        ] {
            select(Some(mutant));
            let noticed = joins_the_fetch().is_err()
                || reserved_lines_are_completed().is_err()
                || cases().iter().any(|case| case.check().is_err());
            select(None);
            assert!(noticed, "{}", mutant.name());
        }
    }
}

/// Two loads wait for room; when one has got the line the other one finds it cached (D-reserve).
fn joins_the_fetch() -> Result<(), String> {
    let acts = [act("ld.global.ca", 0, 0, 0), act("ld.global.ca", 0, 2, 0), act("ld.global.ca", 0, 2, 0)];
    let mut scenario = Scenario::new(preset("report").unwrap(), 1, 1, &acts);
    let (found, _) = scenario.explore(&[])?;
    let joined = scenario.fired.contains(&Rule::CacheReserveJoin);
    if found == exactly(&[&[0, 0, 0]]) && joined { Ok(()) } else { Err(format!("{found:?}, joined: {joined}")) }
}

/// Programs whose `update` has less than the line that they reserved: the bytes that are written, or those that were read
/// before. The rest of the line comes with them (D-line), and whoever waits for it goes on.
fn reserved_lines_are_completed() -> Result<(), String> {
    let load = "program ld.global: if (isCachedL2) { readL2; } else { readMem; } if (!isCachedL1) { reserveL1; updateL1; } readL1; writeToRegs; releaseRegs; end;";
    let through = "program st.global: writeL2; discardL1; reserveL1; updateL1; readL1; releaseRegs; end;";
    let late = "program st.global: writeL2; discardL1; reserveL1; yield; updateL1; readL1; releaseRegs; end;";
    let to_l2 = "program st.global: writeMem; discardL2; reserveL2; updateL2; readL2; discardL1; releaseRegs; end;";
    let atomic =
        "program atom.global: readMem; if (!isCachedL2) { reserveL2; updateL2; } readL2; atomOp; writeL2; discardL1;
        writeToRegs; releaseRegs; end;";
    let store = act("st.global", 0, 0, 7);
    let atom = act("atom.global", 0, 0, 7);
    // The neighbour has a value already, which nobody may lose.
    let neighbour = act("st.global.cg", 0, 1, 5);
    for fill in [Fill::Line, Fill::Bytes] {
        for (text, first) in [(through, store), (late, store), (to_l2, store), (atomic, atom), (load, store)] {
            for after in ["ld.global.ca", "ld.global.cg"] {
                let acts =
                    [neighbour, first.after(0), act(after, 0, 0, 0).bytes(2).after(1), act("ld.global", 0, 1, 0)];
                let mut scenario = Scenario::new(own(text), 1, 2, &acts);
                scenario.fill = fill;
                let (found, _) = scenario.explore(&[]).map_err(|e| format!("{text} {fill:?}: {e}"))?;
                let at = usize::from(first.name == atom.name);
                if let Some(other) = found.iter().find(|o| o[at] != 0x0507) {
                    return Err(format!("{text} {fill:?} {after}: {other:x?}"));
                }
            }
        }
    }
    Ok(())
}

/// A store of part of what a load reads, and a load of more than is in the cache: the line is filled around it.
#[test]
fn partial_lines_are_filled_around_what_was_written() {
    for fill in [Fill::Line, Fill::Bytes] {
        for (store, load) in [("st.local", "ld.local"), ("st.local.cg", "ld.local.lu"), ("st.global", "ld.global")] {
            let acts = [
                act(store, 0, 1, 7),
                act(load, 0, 0, 0).bytes(2).after(0),
                act(store, 0, 0, 5).after(1),
                act(load, 0, 0, 0).bytes(2).after(2),
            ];
            let mut scenario = Scenario::new(preset("fermi").unwrap(), 1, 1, &acts);
            scenario.fill = fill;
            let last = if load == "ld.local.lu" { vec![0x0700, 0x0005] } else { vec![0x0700, 0x0705] };
            let (found, _) = scenario.explore(&[]).unwrap();
            assert!(found.contains(&last), "{store} {load} {fill:?}: {found:x?}");
            assert!(load == "ld.local.lu" || found.len() == 1, "{store} {load} {fill:?}: {found:x?}");
        }
    }
}

/// Every operation of every preset runs to its end by itself and beside another, and releases its registers.
#[test]
fn every_operation_ends() {
    for programs in ["report", "fermi", "sm80", "write-through", "invalidate"] {
        let set = preset(programs).unwrap();
        let refined = OpKey::refinements().into_iter().filter(|key| set.find(*key) != set.find(key.any_scope()));
        let fences = OpKey::refinements().into_iter().filter(|key| key.kind() == OpKind::Fence);
        let fences = fences.filter(|key| set.find(*key).is_some());
        for key in OpKey::all().into_iter().chain(refined).chain(fences) {
            let acts = [act(key.name().leak(), 0, 0, 3), act("ld.global.ca", 0, 2, 0)];
            let mut scenario = Scenario::new(preset(programs).unwrap(), 1, 1, &acts);
            scenario.explore(&[]).unwrap_or_else(|e| panic!("{programs} {}: {e}", key.name()));
        }
    }
}

/// What the presets do not use fires in programs written for that.
#[test]
fn every_rule_of_programs_and_caches_fires() {
    let mut fired: BTreeSet<Rule> = BTreeSet::new();
    for (programs, acts) in [
        ("fermi", vec![act("ld.global.cs", 0, 0, 0), act("ld.global.cv", 0, 2, 0), act("st.global.cs", 0, 2, 4)]),
        (
            "fermi",
            vec![act("ld.global.nc", 0, 0, 0), act("ld.global.nc", 0, 0, 0).after(0), act("st.local.cg", 0, 2, 1)],
        ),
        ("fermi", vec![act("ld.local.lu", 0, 0, 0), act("st.local.cg", 0, 2, 1)]),
        ("write-through", vec![act("st.global", 0, 0, 1)]),
        ("fermi", vec![act("atom.shared", 0, 0, 1), act("atom.shared", 0, 0, 1), act("st.global.wt", 0, 0, 1)]),
        ("report", vec![act("atom.global", 0, 0, 1), act("st.global", 0, 1, 1), act("ld.global.ca", 0, 0, 1)]),
        ("report", vec![act("ld.global", 0, 0, 0), act("ld.global", 0, 2, 0), act("ld.global", 0, 2, 0)]),
    ] {
        let mut scenario = Scenario::new(preset(programs).unwrap(), 1, 1, &acts);
        scenario.explore(&[]).unwrap_or_else(|e| panic!("{acts:?}: {e}"));
        fired.append(&mut scenario.fired);
    }
    for acts in [
        vec![act("ld.global", 0, 0, 0), act("st.global", 0, 0, 0)],
        vec![act("st.local", 0, 0, 1), act("fence.sc.cta", 0, 0, 0), act("st.relaxed.global", 1, 0, 2)],
    ] {
        let mut own = Scenario::new(own_programs(), 1, 1, &acts);
        own.explore(&[]).unwrap();
        fired.append(&mut own.fired);
    }
    let of_programs = |r: &&Rule| ["op.", "bexp.", "opexp.", "cache."].iter().any(|p| r.id().starts_with(p));
    let silent: Vec<&str> =
        Rule::ALL.iter().filter(of_programs).filter(|r| !fired.contains(r)).map(|r| r.id()).collect();
    assert!(silent.is_empty(), "{silent:?}");
}

fn own_programs() -> ProgramSet {
    own("program ld.global:
        if (!isCachedL2 and true or false) { reserveL2; readMem; updateL2; } else { ; }
        readL2; writeToRegs; releaseRegs; end;
        program st.global:
        writeL1; classifyNormalL1; discardL1; discardL2; writeMem; releaseRegs; end;
        program st.relaxed.global:
        writeL2; writeMem; cleanL2; invalidateOthersL1; writeL1; writeBackL1; writeL2; writeBackL2; releaseRegs; end;
        program fence.sc.cta:
        writeBackL1; flushL1; end;")
}

/// Programs in place of those of `fermi`.
fn own(text: &str) -> ProgramSet {
    let mut sources = SourceMap::default();
    let file = sources.add("own.memp", format!("use fermi;\n{text}"));
    let (set, errors) = load(&[file], &sources);
    assert_eq!(errors, []);
    set
}
