//! Lowering on real PTX: every example becomes a program environment, and no damaged one makes it panic.
//!
//! The examples are in the repository. `../shared` holds more PTX on some machines; the test that reads it is counted as
//! ignored where it is absent.

use crate::shared;
use chacha20::ChaCha8Rng;
use libtest_mimic::Trial;
use rand::{RngExt, SeedableRng};
use std::path::{Path, PathBuf};
use warpstep::base::FileId;
use warpstep::program::check::check;
use warpstep::program::{Options, affine, build, dump};
use warpstep::ptx::parse;

const BOTH: [Options; 2] = [Options { inject: false, promote: true }, Options { inject: true, promote: false }];

/// Instruction families that are not executed: nothing else may come out as unsupported.
const NOT_EXECUTED: [&str; 12] =
    ["wmma", "mma", "wgmma", "ldmatrix", "stmatrix", "tex", "tld4", "suld", "sust", "suq", "txq", "cp"];

fn lowers(name: &str, text: &str) {
    let (module, errors) = parse(text);
    assert!(errors.is_empty(), "{name}: {errors:?}");
    for options in BOTH {
        let (env, errors) = build(&[(FileId(0), &module, &check(&module).0)], &options);
        let shown: Vec<_> = errors.iter().take(5).map(|e| (&e.kind, e.span.of(text))).collect();
        assert!(shown.is_empty(), "{name}: {shown:?}");
        assert_eq!(env.code.len(), env.origin.len(), "{name}");
        for opcode in &env.unsupported {
            assert!(NOT_EXECUTED.iter().any(|family| opcode.starts_with(family)), "{name}: {opcode}");
        }
        assert!(dump(&env, Some(text)).lines().count() >= env.code.len(), "{name}");
    }
}

fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-examples");
    let folders = std::fs::read_dir(root).expect("ptx-examples").flatten();
    let files = folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok()).flatten().flatten();
    let mut paths: Vec<_> = files.map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == "ptx")).collect();
    paths.sort();
    paths
}

fn every_example_lowers() {
    let paths = examples();
    assert!(paths.len() >= 30, "only {} examples", paths.len());
    for path in paths {
        lowers(&path.display().to_string(), &std::fs::read_to_string(&path).expect("an example is readable"));
    }
}

fn other_kernels_lower() {
    lowers("bench", &shared::text("bench/kernels.compute_35.ptx"));
    for line in shared::text("conformance/ptx-ops.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        lowers(case["name"].as_str().unwrap_or("?"), case["ptx"].as_str().unwrap_or_default());
    }
}

/// Splits a text into pieces to shuffle: words with their dots, and single characters.
fn pieces(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && !"_$%.".contains(c)).unwrap_or(rest.len());
        let len = word.max(rest.chars().next().map_or(0, char::len_utf8));
        let (piece, after) = rest.split_at(len);
        out.push(piece);
        rest = after;
    }
    out
}

fn damaged_text_never_panics() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let texts: Vec<String> = examples()
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .filter(|text| text.len() < 20_000)
        .collect();
    let all: Vec<Vec<&str>> = texts.iter().map(|text| pieces(text)).collect();
    let mut complaints = 0;
    for _ in 0..1_000 {
        let mut list = all[rng.random_range(0..all.len())].clone();
        for _ in 0..rng.random_range(1..30) {
            let (i, other) = (rng.random_range(0..list.len() - 1), &all[rng.random_range(0..all.len())]);
            let piece = other[rng.random_range(0..other.len())];
            match rng.random_range(0..4) {
                0 => {
                    list.remove(i);
                }
                1 => list[i] = piece,
                2 => list.insert(i, piece),
                _ => list.swap(i, i + 1),
            }
        }
        let text = list.concat();
        let (module, _) = parse(&text);
        let checked = check(&module).0;
        for options in BOTH {
            let (env, errors) = build(&[(FileId(0), &module, &checked), (FileId(1), &module, &checked)], &options);
            complaints += errors.len();
            assert!(!dump(&env, Some(&text)).is_empty() && !affine::dump(&env, None, &text).is_empty());
        }
    }
    assert!(complaints > 1_000, "{complaints}");
}

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    shared::trials(&[
        ("every_example_lowers", None, every_example_lowers),
        ("other_kernels_lower", Some("conformance/ptx-ops.jsonl"), other_kernels_lower),
        ("damaged_text_never_panics", None, damaged_text_never_panics),
    ])
}
