//! Progress models: the public forward-progress tests with their verified verdicts, each thread a block of its own.

use std::collections::BTreeMap;
use std::path::Path;
use warpstep::base::SourceMap;
use warpstep::explore::Progress;
use warpstep::explore::space::{Fairness, Graph, Options};
use warpstep::litmus::{Board, Options as Layout, Placement, lower, parse};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel};

/// The graph of a test whose threads are blocks.
fn graph(name: &str, text: &str) -> Graph {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    let (litmus, errors) = parse(file, text);
    assert_eq!(errors, [], "{name}");
    let layout = Layout { placement: Placement::Blocks, control: Some(ControlModel::Its) };
    let lowered = lower(&litmus, file, layout, &mut sources).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let config = Config { control: Some(ControlModel::Its), ..Config::default() };
    let mut board = Board::new(&lowered, config, Grain::Visible).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let mut poll = |_: &_| None;
    let mut options = Options { stepped: true, ..Options::states(true, &mut poll) };
    let space = board.explore(&litmus, &mut options);
    assert!(space.found.is_empty() && space.limit.is_none(), "{name}: {:?}", space.found);
    space.graph
}

#[test]
fn the_public_verdicts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance/litmus");
    let Ok(table) = std::fs::read_to_string(root.join("progress.csv")) else {
        eprintln!("notice: ../shared/conformance is absent; the public progress tests are skipped");
        return;
    };
    let mut graphs: BTreeMap<&str, Graph> = BTreeMap::new();
    let (mut rows, mut wrong) = (0, Vec::new());
    for line in table.lines().skip(1) {
        let [path, model, expected] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let graph = graphs.entry(path).or_insert_with(|| {
            let text = std::fs::read_to_string(root.join(path)).unwrap();
            graph(path, &text)
        });
        let model = Progress::named(model).unwrap_or_else(|| panic!("{line}"));
        let ends = model.endless(graph, Fairness::Weak).is_empty();
        rows += 1;
        if ends != (expected == "pass") {
            wrong.push(format!("{line}: found {}", if ends { "pass" } else { "fail" }));
        }
    }
    assert!(wrong.is_empty(), "{} of {rows} differ:\n{}", wrong.len(), wrong[..wrong.len().min(9)].join("\n"));
    assert_eq!(rows, 1806);
}

/// The published verdicts under strong fairness, `tests/progress/strong.txt`: those of the tests that the public set has.
#[test]
fn the_public_verdicts_under_strong_fairness() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = root.join("../shared/conformance/litmus/ptx/CADP");
    if !tests.exists() {
        eprintln!("notice: ../shared/conformance is absent; the public progress tests are skipped");
        return;
    }
    let table = std::fs::read_to_string(root.join("tests/progress/strong.txt")).unwrap();
    let mut graphs: BTreeMap<String, Graph> = BTreeMap::new();
    let (mut rows, mut wrong, mut threads) = (0, Vec::new(), 0);
    for line in table.lines().filter(|l| !l.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [folder, model, verdict, ref named @ ..] = words[..] else { panic!("{line}") };
        let model = Progress::named(model).unwrap_or_else(|| panic!("{line}"));
        for entry in std::fs::read_dir(tests.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().trim_end_matches("_simple").to_owned();
            // One test was not transcribed as it is published.
            if (folder, name.as_str()) == ("2_threads_4_instructions", "84") {
                continue;
            }
            let graph = graphs
                .entry(format!("{folder}/{name}"))
                .or_insert_with_key(|test| graph(test, &std::fs::read_to_string(&path).unwrap()));
            let passes = named.contains(&name.as_str()) == (verdict == "pass");
            rows += 1;
            threads += usize::from(model.endless(graph, Fairness::StrongThreads).is_empty() != passes);
            if model.endless(graph, Fairness::Strong).is_empty() != passes {
                wrong.push(format!("{folder}/{name} {}: published as passes: {passes}", model.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {rows} differ:\n{}", wrong.len(), wrong[..wrong.len().min(9)].join("\n"));
    assert_eq!(rows, 848);
    assert!(threads > 100, "fairness to threads is another one: it differs in {threads} of {rows}");
}

/// A block waits for another's write.
const FLAG: &str = "PTX flag
{ x=0; P1:r1=0; }
P0@cta 0,gpu 0                  | P1@cta 1,gpu 0                  ;
                                | LC10:                           ;
                                | ld.relaxed.gpu r1, x            ;
st.relaxed.gpu x, 1             | beq r1, 0, LC10                 ;
exists 0==0";

#[test]
fn a_wait_is_endless_where_the_writer_is_promised_nothing() {
    let endless = |text: &str| {
        let graph = graph("flag", text);
        let endless = Progress::ALL.iter().filter(|m| !m.endless(&graph, Fairness::Weak).is_empty());
        endless.map(|m| m.name()).collect::<Vec<_>>()
    };
    // Who waits may have stepped before who writes; the writer has the lower index.
    assert_eq!(endless(FLAG), ["obe", "unfair"]);
}
