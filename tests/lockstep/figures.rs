//! The paper's figures, whose outcomes `semantics.md`, section 6, has: by axioms, by the machine over rows, and as PTX.

use super::{Order, Values, by_axioms, by_engine, by_rows, engine, file, on, test};
use std::collections::BTreeSet;
use warpstep::machine::ControlModel;
use warpstep::memory::MemoryModel;

/// What a figure comes to under SC, LSC and SLSC.
struct Figure {
    name: &'static str,
    sc: Values,
    lsc: Values,
    slsc: Values,
    /// Whether PTX has it: accesses are aligned there.
    aligned: bool,
}

fn set(all: &[&[i64]]) -> Values {
    all.iter().map(|values| values.to_vec()).collect()
}

/// All pairs of one of each.
fn product(one: &[[i64; 2]], other: &[[i64; 2]]) -> Values {
    one.iter().flat_map(|a| other.iter().map(move |b| [&a[..], &b[..]].concat())).collect()
}

/// Figure 6's location where bytes 2 to 5 are of these lanes, numbered from 1.
fn mix(bytes: [u8; 4]) -> Vec<i64> {
    let [a, b, c, d] = bytes;
    vec![i64::from_le_bytes([1, 1, a, b, c, d, 3, 3])]
}

fn figures() -> Vec<Figure> {
    let all = [[0, 0], [0, 1], [1, 0], [1, 1]];
    let one = |name, sc, lsc: Values| Figure { name, sc, slsc: lsc.clone(), lsc, aligned: true };
    let bytes: Values =
        (0..16u8).map(|n| mix([1 + (n & 1), 1 + (n >> 1 & 1), 2 + (n >> 2 & 1), 2 + (n >> 3 & 1)])).collect();
    let whole = [[1, 1, 2, 2], [1, 1, 3, 3], [2, 2, 2, 2], [2, 2, 3, 3]].map(mix).into_iter().collect();
    let buffered = set(&[&[0, 1], &[1, 0], &[1, 1]]);
    vec![
        one("figure-3a", set(&[&[1]]), set(&[&[1]])),
        one("figure-3b", set(&[&[1]]), Values::new()),
        one("figure-3c", set(&[&[1]]), set(&[&[1]])),
        Figure {
            name: "figure-4",
            sc: product(&[[0, 0], [1, 0], [0, 1]], &all),
            lsc: product(&[[0, 0]], &all),
            slsc: product(&[[0, 0]], &[[0, 0], [1, 1]]),
            aligned: true,
        },
        one("figure-5a", set(&[&[0], &[1]]), set(&[&[1]])),
        one("figure-5c", set(&[&[0], &[1]]), set(&[&[1]])),
        Figure { name: "figure-6", sc: whole, lsc: bytes.clone(), slsc: bytes, aligned: false },
        one("figure-7", buffered.clone(), buffered),
    ]
}

#[test]
fn figures_have_the_papers_outcomes() {
    for Figure { name, sc, lsc, slsc, aligned } in figures() {
        let litmus = file(name);
        for (order, expected) in [(Order::Sc, sc), (Order::Lsc, lsc), (Order::Slsc, slsc)] {
            assert_eq!(by_axioms(&litmus, order, 2), expected, "{name} under {order:?} by axioms");
            let (rows, hangs) = by_rows(&litmus, order);
            assert_eq!(rows, expected, "{name} under {order:?} by rows");
            // Only that of figure 3b waits for ever.
            assert_eq!(hangs, expected.is_empty(), "{name} under {order:?}");
            if aligned {
                assert_eq!(by_engine(&litmus, order), expected, "{name} under {order:?} as PTX");
            }
        }
    }
}

/// The ways to decide agree, and what is printed is read again as the same.
#[test]
fn figures_are_decided_in_each_way_and_printed() {
    use warpstep::axiom::cat::builtin;
    use warpstep::axiom::{Limits, Way};
    use warpstep::litmus::{outcomes, print};
    for Figure { name, .. } in figures() {
        let litmus = file(name);
        assert_eq!(print(&test(&print(&litmus))), print(&litmus));
        // Candidates of loops and of single bytes are too many.
        if name.starts_with("figure-3") || name == "figure-6" {
            continue;
        }
        for order in Order::ALL {
            let limits = Limits { bound: 1, choices: 1_000_000 };
            for way in [Way::Candidates, Way::Sat] {
                let (all, _) = outcomes(&litmus, builtin(order.name()).unwrap(), way, limits, &|| false);
                let all: Values = all.iter().map(|(outcome, ..)| outcome.0.clone()).collect();
                assert_eq!(all, by_axioms(&litmus, *order, 1), "{name} under {order:?}, {way:?}");
            }
        }
    }
}

/// What becomes of figure 6 in PTX, whose accesses are aligned, so that those of one instruction overlap completely or not at all.
#[test]
fn bytes_are_any_lanes() {
    let litmus =
        test("LSC bytes\n{ x=0; }\n W0.0 | W0.1 ;\n st.b32 x, 0x01010101 | st.b32 x, 0x02020202 ;\nexists (x = 0)\n");
    let counts = |memory| on(&litmus, ControlModel::Crs, memory).outcomes.len();
    assert_eq!(counts(MemoryModel::Lsc), 16);
    assert_eq!(counts(MemoryModel::Slsc), 16);
    assert_eq!(counts(MemoryModel::Split), 2);
    assert_eq!(counts(MemoryModel::Flat), 1);
    assert_eq!(by_axioms(&litmus, Order::Lsc, 1), by_engine(&litmus, Order::Lsc));
    assert_eq!(by_axioms(&litmus, Order::Slsc, 1).len(), 16);
    assert_eq!(by_axioms(&litmus, Order::Sc, 1).len(), 2);
}

/// Between two stores of an instruction to the same bytes somebody else may write: then the later one of them is behind that.
#[test]
fn a_byte_is_not_left_to_what_was_overwritten() {
    let litmus = test(
        "LSC between\n{ x=0; }\n W0.0 | W0.1 | C0 ;\n st.b16 x, 0x0101 | st.b16 x, 0x0202 | st.b16 x, 0x0303 ;\nexists (x = 0)\n",
    );
    let expected: BTreeSet<Vec<i64>> = [0x0101, 0x0202, 0x0102, 0x0201, 0x0303].into_iter().map(|v| vec![v]).collect();
    assert_eq!(by_axioms(&litmus, Order::Lsc, 1), expected);
    assert_eq!(by_rows(&litmus, Order::Lsc).0, expected);
    assert_eq!(by_engine(&litmus, Order::Lsc), expected);
    assert_eq!(by_engine(&litmus, Order::Slsc), expected);
}

/// Atomic operations of an instruction come one after another, in any order, under each model.
#[test]
fn atomic_operations_come_in_any_order() {
    let litmus = test(
        "LSC exchange\n{ x=0; }\n W0.0 | W0.1 ;\n atom.exch r0, x, 1 | atom.exch r0, x, 2 ;\n\
         locations [W0.0:r0; W0.1:r0]\nexists (x = 0)\n",
    );
    let expected = set(&[&[0, 1, 2], &[2, 0, 1]]);
    for order in Order::ALL {
        assert_eq!(by_axioms(&litmus, *order, 1), expected, "{order:?}");
        assert_eq!(by_rows(&litmus, *order).0, expected, "{order:?}");
        assert_eq!(by_engine(&litmus, *order), expected, "{order:?}");
    }
    // Lanes in ascending order, as flat memory has them.
    assert_eq!(on(&litmus, ControlModel::Crs, MemoryModel::Flat).outcomes.len(), 1);
}

/// A wavefront that waits for itself waits for ever, and does not where its stores come first.
#[test]
fn figure_3b_hangs_and_3c_ends() {
    use warpstep::explore::Progress;
    use warpstep::explore::space::Fairness;
    for (name, hangs) in [("figure-3b", true), ("figure-3c", false)] {
        for order in [Order::Lsc, Order::Slsc] {
            let (control, memory) = engine(order);
            let space = on(&file(name), control, memory);
            let (endless, limit) = Progress::Fair.endless_until(&space.graph, Fairness::Weak, &|| None);
            assert!(limit.is_none());
            assert_eq!(!endless.is_empty(), hangs, "{name} under {order:?}");
        }
    }
}

/// `warpstep` on a kernel of a warp of two lanes under `crs`: its exit code and what it tells.
fn command(name: &str, file: &str, memory: &str) -> (Option<i32>, String) {
    // Schedules are written beside nothing of ours.
    let folder = tempfile::tempdir().unwrap();
    let path = format!("{}/tests/lockstep/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpstep"));
    command.args([name, &path, "--block", "2", "--warp-size", "2", "--control", "crs", "--memory", memory]);
    let output = command.current_dir(folder.path()).env("NO_COLOR", "1").output().unwrap();
    let both = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&both).into_owned())
}

/// What waits in figure 3b is called by its name.
#[test]
fn figure_3b_is_a_simt_deadlock() {
    for memory in ["flat", "lsc", "slsc"] {
        let (code, text) = command("prove", "figure-3b.ptx", memory);
        assert!(code == Some(1) && text.contains("SIMT deadlock"), "{memory}: {code:?}\n{text}");
        let (code, text) = command("prove", "figure-3c.ptx", memory);
        assert!(code == Some(0), "{memory}: {code:?}\n{text}");
        let (code, _) = command("run", "figure-3c.ptx", memory);
        assert_eq!(code, Some(0));
    }
}

/// The kernels that speed is measured by leave what they leave on flat memory.
#[test]
fn kernels_have_the_results_of_flat_memory() {
    for memory in ["lsc", "slsc"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpstep"));
        let output = command.args(["bench", "--shift", "14", "--reps", "1", "--memory", memory]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert_eq!(text.lines().filter(|line| line.ends_with(" ok")).count(), 9, "{text}");
    }
}
