//! Compares what a GPU fetched with what is fetched here.

use super::{COUNT, Case, cases};
use serde_json::Value;
use std::path::Path;
use warpstep::{Address, Geometry};

/// What is known to be other than on the GPU, and why.
struct Exception {
    why: &'static str,
    /// Whether it holds for a case and what was brought back for it.
    of: fn(&Case, &Value) -> bool,
    /// The fetches; all of them if there are none.
    fetches: &'static [usize],
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        why: "the player of these gave all axes the mode: a row is blended with the border in y",
        of: |case, entry| entry["axes"].is_null() && case.geometry == Geometry::D1 && case.address == Address::Border,
        fetches: &[],
    },
    Exception {
        why: "the player of these could make no arrays of layers",
        of: |case, entry| entry["axes"].is_null() && case.geometry.is_layered() && entry["error"].is_string(),
        fetches: &[],
    },
    Exception {
        why: "of 6144 sums of two slices of halves, the only one that rounds another way: in the last bit, next to a tie",
        of: |case, _| case.name == "99 3d [3, 5, 2] f16x2 mirror linear normalised element ",
        fetches: &[8],
    },
    Exception {
        why: "of 14,000 sums of two slices of halves of all sizes, the only two that round another way: in the last bit, next to a tie",
        of: |case, _| case.name.starts_with("492 3d [2, 4, 9] f16x4 mirror linear normalised element "),
        fetches: &[20, 683],
    },
    Exception {
        why: "of 3,000 sums of two slices of singles, the only one that rounds another way: in the last bit, next to a tie",
        of: |case, _| case.name.starts_with("436 3d [6, 4, 9] f32x1 wrap linear normalised element "),
        fetches: &[95],
    },
];

/// Compares with what the player brought back: all is the same but for the exceptions.
pub fn same(folder: &Path) {
    let lines = std::fs::read_to_string(folder.join("textures.played.jsonl")).unwrap();
    let (mut all, mut excepted, mut other) = (0, 0, 0);
    for (case, line) in cases().iter().zip(lines.lines()) {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!(entry["name"].as_str(), Some(case.name.as_str()));
        let exceptions: Vec<&Exception> = EXCEPTIONS.iter().filter(|exception| (exception.of)(case, &entry)).collect();
        let is_known = |fetch| exceptions.iter().any(|e| e.fetches.is_empty() || e.fetches.contains(&fetch));
        exceptions.iter().for_each(|exception| println!("{}: {}", case.name, exception.why));
        let Some(theirs) = entry["out"].as_str() else {
            other += usize::from(!is_known(0));
            println!("{}: {}", case.name, entry["error"]);
            continue;
        };
        let theirs = warpstep::launch::hex(theirs).unwrap();
        let theirs: Vec<u32> = theirs.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
        let ours = case.run();
        let differ: Vec<usize> = (0..COUNT).filter(|i| ours[*i] != theirs[4 * i..][..4]).collect();
        let (known, unknown): (Vec<usize>, Vec<usize>) = differ.into_iter().partition(|fetch| is_known(*fetch));
        (all, excepted, other) =
            (all + COUNT - known.len() - unknown.len(), excepted + known.len(), other + unknown.len());
        if !unknown.is_empty() {
            println!("{}: {} of {COUNT} differ", case.name, unknown.len());
        }
        for i in unknown.iter().take(5) {
            println!("    {i} {:?}: ours {:x?}, theirs {:x?}", case.at(*i), ours[*i], &theirs[4 * i..][..4]);
        }
    }
    println!("{all} fetches are the same, {excepted} are known to be other ones");
    assert_eq!(other, 0, "fetches differ");
    assert!(all > 0, "nothing was compared");
}

/// Those that no GPU has fetched yet can at least be fetched here.
#[test]
fn textures_of_every_kind_are_fetched() {
    for case in cases().iter().skip(360).step_by(3) {
        assert_eq!(case.run().len(), COUNT, "{}", case.name);
    }
}
