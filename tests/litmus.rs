//! The public litmus tests for PTX: all are read, and printed and read again as the same; those without other proxies
//! become programs whose instructions point back into the file.

use std::path::{Path, PathBuf};
use warpstep::base::{FileId, SourceMap};
use warpstep::litmus::tree::{Litmus, Proxy};
use warpstep::litmus::{
    Failure, Final, Gap, LitmusErrorKind, Options, Outcome, Outcomes, Placement, lower, parse, print,
};

/// The tests, with their texts; none where the suite is absent.
fn suite() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance/litmus/ptx");
    let (mut found, mut folders) = (Vec::new(), vec![root]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "litmus") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    if found.is_empty() {
        eprintln!("notice: ../shared/conformance is absent; the public litmus tests are skipped");
    }
    found
}

/// A tree without the places where things stand.
fn placeless(litmus: &Litmus) -> String {
    let text = format!("{litmus:?}");
    let mut parts = text.split("Span {");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |all, part| all + part.split_once('}').map_or("", |(_, rest)| rest))
}

#[test]
fn every_public_test_is_read_and_printed_as_the_same() {
    let suite = suite();
    for (path, text) in &suite {
        let (litmus, errors) = parse(FileId(0), text);
        assert_eq!(errors, [], "{}", path.display());
        let printed = print(&litmus);
        let (again, errors) = parse(FileId(0), &printed);
        assert_eq!(errors, [], "{}:\n{printed}", path.display());
        assert_eq!(placeless(&litmus), placeless(&again), "{}:\n{printed}", path.display());
        assert_eq!(printed, print(&again), "{}", path.display());
    }
    assert!(suite.is_empty() || suite.len() == 567, "{}", suite.len());
}

#[test]
fn the_public_tests_become_programs() {
    let suite = suite();
    let mut gaps = std::collections::BTreeMap::new();
    for (path, text) in &suite {
        for placement in [Placement::Warps, Placement::SameWarp, Placement::Blocks] {
            let mut sources = SourceMap::default();
            let file = sources.add(path.display().to_string(), text.clone());
            let (litmus, _) = parse(file, text);
            match lower(&litmus, file, Options { placement, control: None }, &mut sources) {
                Ok(lowered) => {
                    assert_eq!(lowered.threads.len(), litmus.threads.len());
                    let statements = litmus.threads.iter().flat_map(|t| t.instructions());
                    // Every memory instruction of the file is where some instruction of the program is.
                    for (_, span) in statements.filter(|(i, _)| i.address().is_some()) {
                        let found = lowered.env.origin.iter().any(|o| (o.file, o.span) == (file, span));
                        assert!(found, "{}: {}", path.display(), span.of(text));
                    }
                }
                Err(Failure::Gaps(all)) => {
                    let LitmusErrorKind::Unsupported(gap) = &all[0].kind else { panic!("{all:?}") };
                    let name = match gap {
                        Gap::Proxy(_) => "proxy".to_owned(),
                        other => format!("{other:?}"),
                    };
                    *gaps.entry((format!("{placement:?}"), name)).or_insert(0) += 1;
                }
                Err(Failure::Refused(problems)) => panic!("{}: {problems:?}", path.display()),
            }
        }
    }
    if suite.is_empty() {
        return;
    }
    let gaps: Vec<String> = gaps.iter().map(|((p, gap), n)| format!("{p} {gap} {n}")).collect();
    insta_eq(&gaps.join("\n"), "");
}

fn insta_eq(found: &str, wanted: &str) {
    assert_eq!(found, wanted);
}
