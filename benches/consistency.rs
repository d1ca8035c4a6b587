//! What is asked of memory models, timed: `cargo bench --bench consistency -- table5|table7|scale [--svg FILE]`.
//!
//! `table5` and `table7` are those of "Towards Unified Analysis of GPU Consistency" (ASPLOS 2024), from our own runs: table 5 needs the public
//! tests in `../shared`, table 7 is about `tests/litmus/table7`. `scale` is its figure 15: four patterns with 2 to 64 threads.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use warpstep::axiom::{Limits, Model, Way, cat};
use warpstep::base::FileId;
use warpstep::explore::Progress;
use warpstep::litmus::{Decided, Property, decide, liveness, parse};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn model(name: &str) -> &'static Model {
    cat::builtin(name).unwrap()
}

/// Decides a test; answers the milliseconds that it took as well, reading included.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
fn asked(text: &str, model: &Model, property: Property, progress: Progress, bound: u32) -> (Decided, f64) {
    let begun = Instant::now();
    let (litmus, errors) = parse(FileId(0), text);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let limits = Limits { bound, choices: 10_000_000 };
    let decided = match property {
        Property::Liveness => liveness(&litmus, model, progress, limits),
        _ => decide(&litmus, model, property, Way::Graphs, limits),
    };
    assert!(!decided.searched.limited);
    (decided, begun.elapsed().as_secs_f64() * 1e3)
}

/// The rows of a table without its heading, as fields.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn table5() {
    let folder = root().join("../shared/conformance/litmus");
    if !folder.exists() {
        println!("the public tests are not here: ../shared/conformance/litmus");
        return;
    }
    println!("| model | property | tests | as published | mean ms | median ms |\n|---|---|---|---|---|---|");
    let rows = rows(&folder.join("expected.csv"));
    for name in cat::BUILTIN {
        for property in Property::ALL {
            let mut times = Vec::new();
            let mut agree = 0;
            for row in rows.iter().filter(|row| row[1] == *name && row[2] == property.name()) {
                let text = std::fs::read_to_string(folder.join(&row[0])).unwrap();
                let bound = if *property == Property::Liveness && *name == "vulkan" { 4 } else { 1 };
                let progress = Progress::named(&row[4]).unwrap_or(Progress::Fair);
                let (decided, time) = asked(&text, model(name), *property, progress, bound);
                agree += usize::from(decided.pass == (row[3] == "pass"));
                times.push(time);
            }
            if !times.is_empty() {
                times.sort_by(f64::total_cmp);
                let mean = times.iter().sum::<f64>() / times.len() as f64;
                let (n, property) = (times.len(), property.name());
                println!("| {name} | {property} | {n} | {agree} | {mean:.3} | {:.3} |", times[n / 2]);
            }
        }
    }
}

/// What is wrong with a kernel of table 7 under PTX 7.5, and the milliseconds that the command takes for all that is asked.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
fn kernel(row: &[String], kinds: &mut Vec<String>) -> f64 {
    let folder = root().join("tests/consistency");
    let (entry, grid) = (row[0].replace('-', "_"), &row[1]);
    let all = rows(&folder.join("verdicts.csv"));
    let of_row = |of: &&Vec<String>| of[1] == entry && format!("{}.{}", of[3], of[2]) == *grid;
    let of = all.iter().find(of_row).unwrap_or_else(|| panic!("no kernel of {entry} {grid}"));
    let mut time = 0.0;
    // Of a wrong row it is enough that it is: whether it ends as well is asked where it does not.
    let asked = ["safety", "drf", "liveness"].into_iter();
    for property in asked.filter(|p| *p != "liveness" || of[5] == "holds" || of[5].contains("hang")) {
        let begun = Instant::now();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpstep"));
        command.arg("litmus").arg(folder.join(&of[4])).args(["--model", "ptx-v7.5", "--property", property]);
        let status = command.output().expect("the command runs").status;
        time += begun.elapsed().as_secs_f64() * 1e3;
        match status.code() {
            Some(0) => {}
            Some(1) => kinds.push(property.to_owned()),
            code => panic!("{entry} {property}: {code:?}"),
        }
    }
    time
}

fn table7() {
    let folder = root().join("tests/litmus/table7");
    println!(
        "| row | grid | threads | correct | kind of error | Vulkan ms | PTX 6.0 ms | PTX 7.5 ms | nvcc's PTX ms |\n|---|---|---|---|---|---|---|---|---|"
    );
    let verdicts = rows(&folder.join("verdicts.csv"));
    for row in rows(&folder.join("table7.csv")) {
        let mut kinds: Vec<Vec<String>> = Vec::new();
        let mut times = Vec::new();
        for (path, name) in [(&row[5], "vulkan"), (&row[6], "ptx-v6.0"), (&row[6], "ptx-v7.5")] {
            let text = std::fs::read_to_string(folder.join(path)).unwrap();
            let (mut time, mut wrong) = (0.0, Vec::new());
            let of_row = verdicts.iter().filter(|v| v[0] == *path && v[1] == name);
            for asked_for in of_row.filter(|v| v[2] != "liveness" || row[3] == "yes" || v[3] == "fail") {
                let property = Property::named(&asked_for[2]).unwrap();
                let (decided, took) = asked(&text, model(name), property, Progress::Fair, 1);
                time += took;
                if !decided.pass {
                    wrong.push(property.name().to_owned());
                }
            }
            times.push(time);
            kinds.push(wrong);
        }
        let mut wrong = Vec::new();
        times.push(kernel(&row, &mut wrong));
        kinds.push(wrong);
        assert!(kinds.iter().all(|kind| *kind == kinds[0]), "{}: {kinds:?}", row[0]);
        let correct = if kinds[0].is_empty() { "yes" } else { "no" };
        let times: Vec<String> = times.iter().map(|ms| format!("{ms:.1}")).collect();
        println!(
            "| {} | {} | {} | {correct} | {} | {} |",
            row[0],
            row[1],
            row[2],
            kinds[0].join(", "),
            times.join(" | ")
        );
    }
}

/// A pattern with so many threads, each in a cta of its own.
fn pattern(name: &str, n: usize) -> String {
    let store = |x: usize, v: usize| format!("st.relaxed.gpu x{x}, {v}");
    let load = |r: usize, x: usize| format!("ld.relaxed.gpu r{r}, x{x}");
    let code: Vec<Vec<String>> = (0..n)
        .map(|k| match name {
            "SB" => vec![store(k, 1), load(0, (k + 1) % n)],
            "LB" => vec![load(0, k), store((k + 1) % n, 1)],
            "IRIW" if k < n / 2 => vec![store(k, 1)],
            "IRIW" => vec![load(0, k - n / 2), load(1, (k + 1 - n / 2) % (n / 2))],
            // Message passing along a chain.
            _ if k == 0 => vec!["st.weak d, 1".to_owned(), "st.release.gpu x1, 1".to_owned()],
            _ if k + 1 < n => vec![format!("ld.acquire.gpu r0, x{k}"), format!("st.release.gpu x{}, 1", k + 1)],
            _ => vec![format!("ld.acquire.gpu r0, x{k}"), "ld.weak r1, d".to_owned()],
        })
        .collect();
    let heads: Vec<String> = (0..n).map(|k| format!("P{k}@cta {k},gpu 0")).collect();
    let line = |k: usize| code.iter().map(|c| c.get(k).map_or("", String::as_str)).collect::<Vec<_>>().join(" | ");
    let all =
        |term: &dyn Fn(usize) -> String, of: std::ops::Range<usize>| of.map(term).collect::<Vec<_>>().join(" /\\ ");
    let cond = match name {
        "SB" => all(&|k| format!("P{k}:r0 == 0"), 0..n),
        "LB" => all(&|k| format!("P{k}:r0 == 1"), 0..n),
        "IRIW" => all(&|k| format!("P{k}:r0 == 1 /\\ P{k}:r1 == 0"), n / 2..n),
        _ => format!("{} /\\ P{}:r1 == 0", all(&|k| format!("P{k}:r0 == 1"), 1..n), n - 1),
    };
    format!("PTX {name}{n}\n{{ }}\n{} ;\n{} ;\n{} ;\nexists ({cond})\n", heads.join(" | "), line(0), line(1))
}

fn scale(svg: Option<&str>) {
    let sizes = [2, 4, 8, 16, 24, 32, 48, 64];
    println!("Milliseconds, the best of five; the exponent is that of the threads from 16 to 64.\n");
    println!(
        "| pattern | {} | exponent |\n|---|{}---|",
        sizes.map(|n| n.to_string()).join(" | "),
        "---|".repeat(sizes.len())
    );
    let mut curves = Vec::new();
    for name in ["MP", "SB", "LB", "IRIW"] {
        let mut curve = Vec::new();
        for n in sizes.into_iter().filter(|n| name != "IRIW" || *n >= 4) {
            let (text, mut best) = (pattern(name, n), f64::INFINITY);
            for _ in 0..5 {
                let (decided, time) = asked(&text, model("ptx-v7.5"), Property::Safety, Progress::Fair, 1);
                // Only message passing is forbidden.
                assert_eq!(decided.pass, name != "MP", "{name}{n}");
                best = best.min(time);
            }
            curve.push((n, best));
        }
        let at = |threads: usize| curve.iter().find(|(n, _)| *n == threads).map_or(f64::NAN, |(_, time)| *time);
        let exponent = (at(64) / at(16)).log2() / 2.0;
        let cells: Vec<String> = curve.iter().map(|(_, time)| format!("{time:.2}")).collect();
        println!("| {name} | {}{} | {exponent:.2} |", if name == "IRIW" { " | " } else { "" }, cells.join(" | "));
        curves.push((name, curve));
    }
    if let Some(path) = svg {
        std::fs::write(path, plot(&curves)).unwrap_or_else(|e| panic!("{path}: {e}"));
    }
}

/// Threads across, milliseconds upwards, both on logarithmic scales; a dashed line has the slope of a square.
fn plot(curves: &[(&str, Vec<(usize, f64)>)]) -> String {
    let (width, height, left, right, edge) = (640.0, 420.0, 80.0, 70.0, 50.0);
    let (low, high) = (-2, 3);
    let x = |n: f64| left + (n.log2() - 1.0) * (width - left - right) / 5.0;
    let y = |ms: f64| height - edge - (ms.log10() - f64::from(low)) * (height - 2.0 * edge) / f64::from(high - low);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let text = |out: &mut String, (x, y): (f64, f64), rest: &str, words: &str| {
        let _ = writeln!(out, "<text x=\"{x:.0}\" y=\"{y:.0}\" {rest}>{words}</text>");
    };
    let middle = "text-anchor=\"middle\"";
    for n in [2.0, 4.0, 8.0, 16.0, 32.0, 64.0] {
        text(&mut out, (x(n), height - edge + 20.0), middle, &n.to_string());
    }
    text(&mut out, (width / 2.0, height - 12.0), middle, "threads");
    for power in low..=high {
        let (ms, at) = (10f64.powi(power), y(10f64.powi(power)));
        let end = width - right;
        let _ = writeln!(out, "<line x1=\"{left}\" x2=\"{end}\" y1=\"{at:.0}\" y2=\"{at:.0}\" stroke=\"#ddd\"/>");
        text(&mut out, (left - 8.0, at + 4.0), "text-anchor=\"end\"", &format!("{ms} ms"));
    }
    let line = |points: &[(f64, f64)]| {
        points.iter().map(|(n, ms)| format!("{:.1},{:.1}", x(*n), y(*ms))).collect::<Vec<_>>().join(" ")
    };
    let square = line(&[(8.0, 0.2), (64.0, 0.2 * 64.0)]);
    let _ = writeln!(out, "<polyline points=\"{square}\" fill=\"none\" stroke=\"#999\" stroke-dasharray=\"4 4\"/>");
    text(&mut out, (x(64.0) + 8.0, y(0.2 * 64.0) + 4.0), "fill=\"#777\"", "square");
    let mut ends: Vec<f64> = vec![y(0.2 * 64.0)];
    for ((name, curve), colour) in curves.iter().zip(["#1b6ca8", "#c0392b", "#27864a", "#8e44ad"]) {
        let points: Vec<(f64, f64)> = curve.iter().map(|(n, ms)| (*n as f64, *ms)).collect();
        let points_text = line(&points);
        let _ =
            writeln!(out, "<polyline points=\"{points_text}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        // Names that would lie on another one go below all.
        let mut at = points.last().map_or(height / 2.0, |(_, ms)| y(*ms));
        if ends.iter().any(|other| (other - at).abs() < 14.0) {
            at = ends.iter().copied().fold(at, f64::max) + 14.0;
        }
        ends.push(at);
        text(&mut out, (x(64.0) + 8.0, at + 4.0), &format!("fill=\"{colour}\""), name);
    }
    out + "</svg>\n"
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let svg = words.iter().position(|word| word == "--svg").and_then(|k| words.get(k + 1));
    match words.first().map(String::as_str) {
        Some("table5") => table5(),
        Some("table7") => table7(),
        Some("scale") => scale(svg.map(String::as_str)),
        _ => println!("usage: cargo bench --bench consistency -- table5|table7|scale [--svg FILE]"),
    }
}
