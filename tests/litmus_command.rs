//! `warpstep litmus` on the command line: verdicts, witnesses as text, JSON and pictures, tables, and what is refused.

use crate::litmus_tool::{Tool, root, text};
use serde_json::Value;

const TOOL: Tool = Tool { folder: "litmus_command", flags: &[] };

/// Tests whose answers are kept in full: the file's name, what is asked, and the exit code.
const SHOWN: &[(&str, &[&str], i32)] = &[
    ("reachable", &["../litmus/MP-weak.litmus"], 0),
    ("racy", &["../litmus/MP-weak.litmus", "--property", "drf"], 1),
    ("forbidden", &["../litmus/MP-released.litmus", "--why"], 1),
    ("fences", &["../litmus/SB-fences.litmus", "--why", "--model", "ptx-v6.0"], 1),
    ("vulkan", &["../litmus/vulkan/MP-released.litmus", "--why"], 0),
    ("rsp", &["../litmus/rsp/example3.litmus", "--property", "drf"], 1),
    ("rsp-why", &["../litmus/rsp/figure4.litmus", "--why"], 1),
    ("late-comer", &["late-comer.litmus", "--property", "drf"], 1),
];

#[test]
fn answers_are_shown_as_text_json_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let dot = folder.path().join("it.dot").display().to_string();
    for (name, arguments, code) in SHOWN {
        let output = TOOL.run(&[*arguments, &["--dot", &dot]].concat());
        assert_eq!(output.status.code(), Some(*code), "{name}: {}", text(&output));
        TOOL.golden(&format!("{name}.out"), &text(&output));
        TOOL.golden(&format!("{name}.dot"), &std::fs::read_to_string(&dot).unwrap());
        TOOL.golden(&format!("{name}.json"), &format!("{:#}\n", TOOL.json(arguments, *code)));
    }
}

/// An execution that never ends: what comes first, and what repeats.
#[test]
fn endless_executions_are_told_by_steps() {
    let liveness = ["spin.litmus", "--property", "liveness"];
    let told = TOOL.says(&liveness, 1, &["liveness fair: fail", "an execution never ends", "again and again"]);
    TOOL.golden("endless.out", &told);
    let value = TOOL.json(&liveness, 1);
    let endless = &value["tests"][0]["verdicts"][0]["endless"];
    let threads: Vec<_> = endless["round"].as_array().unwrap().iter().map(|step| step["thread"].as_u64()).collect();
    assert!(threads.contains(&Some(0)) && threads.contains(&Some(1)), "{endless}");
    assert_eq!(endless["round"][0]["line"], 5);
    // A barrier that nobody else comes to is passed by nobody.
    TOOL.says(&["never.litmus", "--property", "liveness"], 1, &["nobody can go on"]);
    // Nobody is promised to go on.
    TOOL.says(&["../litmus/MP-fences.litmus", "--property", "liveness"], 0, &["every execution ends"]);
    TOOL.says(&["handoff.litmus", "--property", "liveness"], 0, &["every execution ends"]);
    TOOL.says(&["handoff.litmus", "--property", "liveness", "--progress", "obe"], 1, &["liveness obe: fail"]);
}

#[test]
fn several_models_each_have_a_verdict() {
    let value = TOOL.json(&["../litmus/MP-fences.litmus", "--model", "coherence-only.cat", "--model", "ptx-v6.0"], 1);
    let answers: Vec<_> =
        value["tests"][0]["verdicts"].as_array().unwrap().iter().map(|v| v["answer"].clone()).collect();
    assert_eq!(answers, ["pass", "fail"]);
    // Only those that are for the test's language.
    let value = TOOL.json(&["../litmus/MP-fences.litmus", "--model", "vulkan", "--model", "ptx-v6.0"], 1);
    assert_eq!(value["tests"][0]["verdicts"].as_array().unwrap().len(), 1);
    TOOL.says(
        &["../litmus/MP-fences.litmus", "--model", "vulkan"],
        2,
        &["the model is for Vulkan and the test for PTX"],
    );
    TOOL.says(
        &["../litmus/rsp/example1.litmus", "--model", "vulkan"],
        2,
        &["the model is for Vulkan and the test for OpenCL"],
    );
    TOOL.says(&["../litmus/MP-fences.litmus", "--model", "rsp"], 2, &["the model is for OpenCL and the test for PTX"]);
    TOOL.says(&["late-comer.litmus", "--model", "ptx-v7.5"], 2, &["the model is for PTX and the test for Vulkan"]);
}

/// A test without a condition is asked for races; one that is asked for its condition has none.
#[test]
fn a_filter_alone_is_about_races() {
    TOOL.says(&["filter.litmus"], 0, &["filter under vulkan, drf: pass", "no flag is raised"]);
    TOOL.says(&["filter.litmus", "--property", "safety"], 2, &["--property drf asks it for races"]);
}

#[test]
fn outcomes_are_printed_as_herd_does() {
    let told = TOOL.says(&["../litmus/SB-weak.litmus", "--all"], 0, &["Test SB-weak Allowed\nStates 4\n", "\nOk\n"]);
    assert!(told.contains("Positive: 1 Negative: 3") && told.contains("Observation SB-weak Sometimes 1 3"), "{told}");
    TOOL.says(&["../litmus/SB-fences.litmus", "--all"], 1, &["States 3\n", "\nNo\n", "Never 0 3"]);
    let value = TOOL.json(&["../litmus/SB-fences.litmus", "--all"], 1);
    let outcomes = value["tests"][0]["verdicts"][0]["outcomes"].as_array().unwrap();
    assert!(outcomes.len() == 3 && outcomes.iter().all(|outcome| outcome["satisfies"] == false), "{value}");
}

/// Each of several models is named before what it allows.
#[test]
fn tables_of_outcomes_name_their_model() {
    let told = TOOL.says(&["../litmus/lockstep/figure-7.litmus", "--all"], 0, &[]);
    TOOL.golden("outcomes.out", &told);
    // A test that is asked for races has no table.
    TOOL.says(&["filter.litmus", "--all"], 2, &["--all: the test has no condition"]);
}

/// Of a question that models cannot answer it is said what can be asked, and not that axioms forbid something.
#[test]
fn what_is_not_asked_of_wavefronts_is_told() {
    let test = "../litmus/lockstep/figure-7.litmus";
    for (property, instead) in [("drf", "--property safety asks"), ("liveness", "`warpstep prove` goes through")] {
        for more in [&[][..], &["--why"]] {
            let asked = [&[test, "--property", property], more].concat();
            let told = TOOL.says(&asked, 4, &[instead]);
            assert!(told.matches("unsupported: ").count() == 3 && !told.contains("axiom forbids"), "{told}");
            let value = TOOL.json(&asked, 4);
            assert_eq!(value["counts"]["unsupported"], 3, "{value}");
            assert!(value["tests"][0]["verdicts"][0]["why"].is_null(), "{value}");
        }
    }
}

/// Tests of other languages than a model's are wrong, in folders and tables, too.
#[test]
fn models_of_wavefronts_are_for_wavefronts() {
    TOOL.says(&["../litmus/lockstep/figure-7.litmus", "--model", "rsp"], 2, &["sc, lsc and slsc are"]);
    TOOL.says(&["../litmus/rsp/example3.litmus", "--model", "lsc"], 2, &["whose tests begin with `LSC`"]);
    let folder = tempfile::tempdir().unwrap();
    let test = |name: &str| root().join("tests/litmus").join(name).display().to_string();
    let rows = [
        ("lockstep/figure-7.litmus", "lsc,safety,pass"),
        ("rsp/example3.litmus", "rsp,drf,fail"),
        ("rsp/example3.litmus", "lsc,safety,pass"),
        ("lockstep/figure-7.litmus", "slsc,drf,pass"),
    ];
    let table = folder.path().join("table.csv");
    let rows = rows.map(|(name, asked)| format!("{},{asked}\n", test(name))).concat();
    std::fs::write(&table, format!("path,model,property,expected\n{rows}")).unwrap();
    let told = TOOL.says(&["--expected", &table.display().to_string()], 2, &["4 rows: 2 differ"]);
    assert!(told.contains("line 4: ") && told.contains("the test is for OpenCL, the model for wavefronts"), "{told}");
    assert!(told.contains("line 5: ") && told.contains("answered unsupported"), "{told}");
    for name in ["lockstep/figure-7.litmus", "rsp/example3.litmus", "MP-fences.litmus"] {
        std::fs::copy(test(name), folder.path().join(name.replace('/', "-"))).unwrap();
    }
    // Each test has the models of its own language.
    let value = TOOL.json(&[&folder.path().display().to_string()], 1);
    let models = |test: &Value| -> Vec<String> {
        let all = test["verdicts"].as_array().unwrap().iter();
        all.map(|verdict| verdict["model"].as_str().unwrap().to_owned()).collect()
    };
    let models: Vec<_> = value["tests"].as_array().unwrap().iter().map(models).collect();
    assert_eq!(models, [vec!["ptx-v7.5"], vec!["sc", "lsc", "slsc"], vec!["rsp"]]);
}

/// What is beyond a bound is said where it might matter, and nowhere else.
#[test]
fn bounds_are_said_where_they_may_hide_something() {
    TOOL.says(&["count.litmus"], 1, &["never reachable, up to bound 1"]);
    TOOL.says(&["count.litmus", "--bound", "2"], 1, &["never reachable, up to bound 2"]);
    let found = TOOL.says(&["count.litmus", "--bound", "3"], 0, &["reachable"]);
    assert!(!found.contains("bound"), "{found}");
    let closed = TOOL.says(&["../litmus/SB-fences.litmus"], 1, &["never reachable"]);
    assert!(!closed.contains("bound"), "{closed}");
}

#[test]
fn limits_end_with_3_and_wrong_input_with_2() {
    let all = ["../litmus/table7/ptx/ttaslock.2.2.litmus", "--max-choices", "2"];
    TOOL.says(&all, 3, &["safety: limit", "limit reached: 2 choices"]);
    let value = TOOL.json(&all, 3);
    assert_eq!(value["counts"]["limit"], 1);
    let late = ["../litmus/table7/ptx/xf-barrier.3.3.litmus", "--bound", "50", "--timeout", "1ms"];
    TOOL.says(&late, 3, &["limit reached: 1 millisecond"]);
    TOOL.says(&["broken.litmus"], 2, &["a weak access takes no scope", "broken.litmus:4:9"]);
    TOOL.says(&["none.litmus"], 2, &["cannot read `none.litmus`"]);
    TOOL.says(&["../litmus/MP-weak.litmus", "--model", "ptx-v7"], 2, &["did you mean `ptx-v7.5`?"]);
    TOOL.says(&["../litmus/MP-weak.litmus", "--model", "wrong.cat"], 2, &["wrong.cat:1:15", "did you mean `rf`?"]);
    TOOL.says(&["../litmus/MP-weak.litmus", "--model", "none.cat"], 2, &["cannot read `none.cat`"]);
    TOOL.says(&["../litmus/MP-weak.litmus", "--progress", "obe"], 2, &["--property liveness"]);
    TOOL.says(&["../litmus/MP-weak.litmus", "--property", "drf", "--all"], 2, &["--property safety"]);
    TOOL.says(&[".", "--dot", "x.dot"], 2, &["name one test"]);
    TOOL.says(&["../memp"], 2, &["there is no file *.litmus"]);
    TOOL.says(&["wild.litmus"], 4, &["unsupported: "]);
}

/// A line for each test, in the order of their paths however many are tried at the same time.
#[test]
fn a_folder_has_a_line_for_each_test_and_a_summary() {
    let one = TOOL.says(&["../litmus/paper", "--jobs", "1"], 1, &["pass         ptx-v7.5  safety"]);
    let lines: Vec<&str> = one.lines().collect();
    assert!(lines.len() > 40 && lines.windows(2).take(lines.len() - 2).all(|w| path(w[0]) < path(w[1])), "{one}");
    assert!(lines[lines.len() - 1].starts_with(&format!("{} tests: ", lines.len() - 1)), "{one}");
    assert_eq!(TOOL.says(&["../litmus/paper", "--jobs", "5"], 1, &[]), one);
    // Wrong files are told before all, and decide the exit code.
    TOOL.says(&["."], 2, &["a weak access takes no scope", "wrong        ./broken.litmus", " 1 wrong\n"]);
    let value = TOOL.json(&["."], 2);
    let wrong = value["tests"].as_array().unwrap().iter().find(|test| test["path"] == "./broken.litmus").unwrap();
    assert_eq!((&wrong["problems"][0]["code"], &wrong["language"]), (&"scope".into(), &Value::Null));
    assert_eq!(value["counts"]["wrong"], 1);
}

/// The path in a line of a list.
fn path(line: &str) -> &str {
    line.split_whitespace().find(|word| word.starts_with("..")).unwrap_or_default()
}

#[test]
fn a_picture_that_cannot_be_written_is_told_after_the_verdict() {
    let told =
        TOOL.says(&["../litmus/MP-weak.litmus", "--dot", "no/such/folder.dot"], 2, &["reachable", "cannot write"]);
    assert!(told.find("reachable").unwrap() < told.find("cannot write").unwrap(), "{told}");
    TOOL.says(&["../litmus/SB-weak.litmus", "--property", "drf", "--dot", "no/such/folder.dot"], 1, &["cannot write"]);
    TOOL.says(&["../litmus/SB-fences.litmus", "--dot", "x.dot"], 1, &["x.dot is not written: there is no execution"]);
}

/// Names from files do nothing to a terminal.
#[test]
fn names_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evil\u{1b}[31m.litmus");
    let test = std::fs::read_to_string(root().join("tests/litmus/MP-weak.litmus")).unwrap();
    std::fs::write(&file, test.replace("MP-weak", "MP\u{1b}]0;\u{202e}")).unwrap();
    let file = file.display().to_string();
    for arguments in [vec![&*file, "--all"], vec![&*file, &*file], vec![&*file, "--format", "json"]] {
        let told = TOOL.says(&arguments, 0, &[]);
        assert!(!told.contains('\u{1b}') && !told.contains('\u{202e}'), "{told:?}");
    }
}

#[test]
fn tables_are_checked_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("it.csv");
    let test = |name: &str| root().join("tests").join(name).display().to_string();
    let (weak, fences, count) =
        (test("litmus/MP-weak.litmus"), test("litmus/MP-fences.litmus"), test("litmus_command/count.litmus"));
    let head = "path,model,property,expected,progress,bound";
    let put = |rows: &[String]| std::fs::write(&table, format!("{head}\n{}\n", rows.join("\n"))).unwrap();
    let right = [
        format!("{weak},ptx-v6.0,safety,pass,,"),
        format!("{weak},ptx-v6.0,drf,fail,,"),
        format!("{fences},ptx-v7.5,safety,fail,,"),
        format!("{count},ptx-v7.5,safety,fail,,2"),
        format!("{count},ptx-v7.5,safety,pass,,3"),
        format!("{},ptx-v7.5,liveness,fail,obe,", test("litmus_command/handoff.litmus")),
        format!("{fences},{},safety,pass,,", test("litmus_command/coherence-only.cat")),
    ];
    put(&right);
    let name = table.display().to_string();
    TOOL.says(&["--expected", &name], 0, &["ptx-v6.0", "7 rows: all agree"]);
    assert_eq!(TOOL.json(&["--expected", &name], 0)["groups"].as_array().unwrap().len(), 6);
    put(&[right[0].replace("pass", "fail"), right[1].clone()]);
    let differs = "MP-weak.litmus under ptx-v6.0, safety, bound 1: expected fail, answered pass: reachable";
    TOOL.says(&["--expected", &name], 1, &["line 2: ", differs, "2 rows: 1 differ"]);
    assert_eq!(TOOL.json(&["--expected", &name], 1)["different"][0]["line"], 2);
    put(&[format!("{weak},vulkan,safety,pass,,")]);
    TOOL.says(&["--expected", &name], 2, &["the test is for PTX, the model for Vulkan"]);
    put(&[format!("{weak}.none,ptx-v7.5,safety,pass,,")]);
    TOOL.says(&["--expected", &name], 2, &["answered wrong: cannot read"]);
    put(&[format!("{weak},ptx-v7.5,safety,maybe,,")]);
    TOOL.says(&["--expected", &name], 2, &["`maybe` is no verdict", "one of pass, fail"]);
    put(&[format!("{weak},ptx-v8,safety,pass,,")]);
    TOOL.says(&["--expected", &name], 2, &["cannot be `ptx-v8`"]);
    std::fs::write(&table, format!("path,progress,terminates\n{fences},weak_fair,pass\n")).unwrap();
    TOOL.says(
        &["--expected", &name],
        0,
        &["ptx-v6.0  liveness  pass", "ptx-v7.5  liveness  pass", "2 rows: all agree"],
    );
}

/// The paper's figures, by our own tests.
#[test]
fn the_papers_verdicts_are_ours() {
    TOOL.says(&["--expected", "../litmus/paper/verdicts.csv"], 0, &["184 rows: all agree"]);
}

/// Every public verdict, with the counts of each kind; each witness is judged by the plainest reading of the model.
#[test]
fn public_verdicts_are_ours() {
    let Some(folder) = ["../shared", "../../shared"].iter().map(|p| root().join(p)).find(|p| p.is_dir()) else {
        eprintln!("skipped: ../shared is absent");
        return;
    };
    let table = |name: &str| folder.join("conformance/litmus").join(name).display().to_string();
    TOOL.golden("expected.out", &TOOL.says(&["--expected", &table("expected.csv")], 0, &["2106 rows: all agree"]));
    TOOL.golden("progress.out", &TOOL.says(&["--expected", &table("progress.csv")], 0, &["3612 rows: all agree"]));
}
