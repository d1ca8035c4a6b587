//! Generated programs of two wavefronts of two lanes: what the axioms allow is what the machines do, under each model.
//! `LSC_FULL=1` takes more, `LSC_FULL=3` a third of that.

use super::{Order, Values, by_axioms, by_engine, by_rows, on, test, values};
use warpstep::litmus::tree::Litmus;
use warpstep::machine::ControlModel;
use warpstep::memory::MemoryModel;

/// Numbers that look random: a linear congruence's upper bits.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[usize::try_from(self.below(all.len() as u64)).unwrap_or(0)]
    }
}

/// What programs may have.
#[derive(Clone, Copy)]
struct Shape {
    heads: &'static [&'static [&'static str]],
    /// Whether lanes of an instruction may store to the same bytes, or operate atomically there.
    overlap: bool,
    /// Whether some have three rows, not two.
    long: bool,
}

const WAVES: &[&[&str]] = &[&["W0.0", "W0.1"], &["W1.0", "W1.1"]];
const LANES: &[&[&str]] = &[&["W0.0"], &["W1.0"], &["C0"]];

/// A program by its number.
fn program(seed: u64, shape: Shape) -> Litmus {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66);
    let mut asked = vec!["x".to_owned(), "y".to_owned()];
    let count = 2 + u64::from(numbers.below(4) == 0) * u64::from(shape.long);
    let mut rows = vec![shape.heads.concat().join(" | ")];
    for row in 0..count {
        let mut cells = Vec::new();
        for wave in shape.heads {
            let kind = numbers.one_of(&["ld", "ld", "st", "st", "atom.add", "atom.exch"]);
            let size = numbers.one_of(&["", ".b32"]);
            // Values differ in two bytes.
            let mut taken: Vec<(&str, &str)> = Vec::new();
            for head in *wave {
                let location = numbers.one_of(&["x", "y"]);
                let offset = if size.is_empty() { "" } else { numbers.one_of(&["", "+4"]) };
                let clash = kind != "ld" && taken.contains(&(location, offset));
                // A lane is masked now and then, or where it would be in the way.
                if numbers.below(4) == 0 || clash && !shape.overlap {
                    cells.push(String::new());
                    continue;
                }
                taken.push((location, offset));
                let value = 0x0101 * (1 + numbers.below(3));
                cells.push(match kind {
                    "ld" => format!("ld{size} r{row}, {location}{offset}"),
                    "st" => format!("st{size} {location}{offset}, {value}"),
                    _ => format!("{kind}{size} r{row}, {location}{offset}, {value}"),
                });
                if kind != "st" {
                    asked.push(format!("{head}:r{row}"));
                }
            }
        }
        rows.push(cells.join(" | "));
    }
    let (rows, asked) = (rows.join(" ;\n"), asked.join("; "));
    test(&format!("LSC generated-{seed}\n{{ x=0; y=0; }}\n{rows} ;\nlocations [{asked}]\nexists (x = 0)\n"))
}

fn so_many(usual: u64, full: u64) -> u64 {
    let share = std::env::var("LSC_FULL").ok().map(|n| n.parse().unwrap_or(1));
    share.map_or(usual, |n: u64| usual.max(full / n.max(1)))
}

/// The same by axioms, by rows and as PTX; which is returned.
fn agreed(litmus: &Litmus, order: Order) -> Values {
    let axioms = by_axioms(litmus, order, 1);
    for (how, other) in [("by rows", by_rows(litmus, order).0), ("as PTX", by_engine(litmus, order))] {
        // The sets have hundreds of outcomes: only what differs helps.
        let differ: Vec<_> = axioms.symmetric_difference(&other).take(3).collect();
        assert!(differ.is_empty(), "{order:?} {how}: {differ:?}\n{}", warpstep::litmus::print(litmus));
    }
    axioms
}

#[test]
fn axioms_and_machines_agree() {
    let mut apart = [0; 2];
    for seed in 0..so_many(12, 80) {
        let litmus = program(seed, Shape { heads: WAVES, overlap: true, long: false });
        let [sc, lsc, slsc] = [Order::Sc, Order::Lsc, Order::Slsc].map(|order| agreed(&litmus, order));
        apart[0] += u32::from(sc != lsc);
        apart[1] += u32::from(lsc != slsc);
        assert!(slsc.is_subset(&lsc), "SLSC is stricter than LSC");
    }
    assert!(apart.iter().all(|count| *count > 0), "no program tells models apart: {apart:?}");
}

/// Wavefronts of one lane are threads: the models are one.
#[test]
fn one_lane_is_a_thread() {
    for seed in 0..so_many(12, 1_000) {
        let litmus = program(seed, Shape { heads: LANES, overlap: false, long: true });
        let [sc, lsc, slsc] = [Order::Sc, Order::Lsc, Order::Slsc].map(|order| agreed(&litmus, order));
        assert!(sc == lsc && lsc == slsc, "{}", warpstep::litmus::print(&litmus));
    }
}

/// Where lanes of no instruction write to the same bytes, flat memory with lanes split is LSC and with lanes whole SLSC; otherwise it may be
/// less.
#[test]
fn flat_memory_is_close() {
    let flat = |litmus: &Litmus, memory| values(on(litmus, ControlModel::Crs, memory).outcomes.into_keys());
    let mut less = [0; 2];
    for seed in 0..so_many(12, 1_000) {
        for overlap in [false, true] {
            let litmus = program(seed, Shape { heads: WAVES, overlap, long: true });
            let pairs = [(MemoryModel::Split, Order::Lsc), (MemoryModel::Flat, Order::Slsc)];
            for (k, (memory, order)) in pairs.into_iter().enumerate() {
                let (flat, own) = (flat(&litmus, memory), by_engine(&litmus, order));
                assert!(
                    flat.is_subset(&own),
                    "{order:?} {:?}\n{}",
                    flat.difference(&own).next(),
                    warpstep::litmus::print(&litmus)
                );
                assert!(overlap || flat == own, "{order:?}\n{}", warpstep::litmus::print(&litmus));
                less[k] += u32::from(flat != own);
            }
        }
    }
    assert!(less.iter().all(|count| *count > 0), "no program tells them apart: {less:?}");
}
