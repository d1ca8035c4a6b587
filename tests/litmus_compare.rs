//! `warpstep litmus --compare` on the command line: tables, lines and sums, as text and JSON, exit codes, limits, what is refused.

use crate::litmus_tool::Tool;
use std::process::Command;

const TOOL: Tool = Tool { folder: "litmus_compare", flags: &["--compare"] };

#[test]
fn a_test_has_a_table_of_outcomes() {
    TOOL.golden("inside.out", &TOOL.says(&["../litmus/SB-weak.litmus"], 0, &[]));
    let reads = ["../litmus/CoRR-relaxed.litmus", "--memory", "flat,fermi,report", "--control", "its,thread"];
    TOOL.golden("beyond.out", &TOOL.says(&reads, 1, &["its × report", "shows what ptx-v6.0 and ptx-v7.5 forbid"]));
    TOOL.golden("beyond.json", &format!("{:#}\n", TOOL.json(&["../litmus/CoRR-relaxed.litmus"], 1)));
    // Only what a model of one's own forbids.
    let weak = ["../litmus/MP-weak.litmus", "--model", "sc.cat", "--model", "ptx-v7.5", "--memory", "flat,fermi"];
    TOOL.says(
        &weak,
        1,
        &["thread × flat: sc.cat and ptx-v7.5 allow its 3 outcomes", "shows what sc.cat forbids: x=1; y=1; "],
    );
}

#[test]
fn a_folder_has_lines_and_sums() {
    let told =
        TOOL.says(&[".", "../litmus/vulkan/MP-released.litmus"], 2, &["wrong ", "some runs stop: barrier-deadlock"]);
    TOOL.golden("lines.out", &told);
    assert_eq!(TOOL.says(&[".", "../litmus/vulkan/MP-released.litmus", "--jobs", "5"], 2, &[]), told);
    let value = TOOL.json(&[".", "../litmus/vulkan/MP-released.litmus"], 2);
    let sums = value["engines"].as_array().unwrap();
    assert_eq!(sums.len(), 4);
    for sum in sums {
        let parts = ["inside", "beyond", "limit", "unsupported"];
        let tests: u64 = parts.iter().map(|part| sum[part].as_u64().unwrap()).sum();
        assert_eq!(sum["tests"].as_u64(), Some(tests), "{sum}");
    }
}

/// A loop is gone through to its end by machines, to the bound by models: nothing is called forbidden for that.
#[test]
fn bounds_hide_nothing() {
    let whole = TOOL.says(&["../litmus_command/count.litmus"], 0, &["allow its 1 outcome", "up to bound 1"]);
    assert!(!whole.contains("forbid"), "{whole}");
    TOOL.says(&["rounds.litmus"], 3, &["whether ptx-v6.0 and ptx-v7.5 allow 1 of its 1 outcome is open", "?"]);
    TOOL.says(&["rounds.litmus", "--bound", "12"], 0, &["allow its 1 outcome"]);
}

#[test]
fn limits_end_with_3_and_what_was_shown_counts() {
    let few = ["../litmus/IRIW-fences.litmus", "--max-states", "50", "--memory", "fermi"];
    let told = TOOL.says(&few, 3, &["limit reached: 50 states", "has not shown yet"]);
    assert!(!told.contains(" - "), "{told}");
    let beyond = ["../litmus/CoRR-relaxed.litmus", "--memory", "fermi", "--max-states", "1400"];
    TOOL.says(&beyond, 1, &["limit reached: 1400 states", "shows what ptx-v6.0 and ptx-v7.5 forbid"]);
    TOOL.says(&["../litmus/IRIW-fences.litmus", "--timeout", "1ms"], 3, &["limit reached: 1 millisecond"]);
    TOOL.says(&["../litmus/IRIW-fences.litmus", "--max-choices", "0"], 3, &["limit reached: 0 choices", "?"]);
    let memory = ["../litmus/IRIW-fences.litmus", "--memory", "fermi", "--search-memory", "1M"];
    TOOL.says(&memory, 3, &["limit reached: "]);
}

#[test]
fn what_cannot_be_run_or_does_not_fit_is_said() {
    TOOL.says(&["../litmus/vulkan/MP-released.litmus"], 4, &["unsupported: the engines run PTX"]);
    TOOL.says(&["../litmus/MP-weak.litmus", "--model", "vulkan"], 2, &["the model is for Vulkan and the test for PTX"]);
    // A machine that runs a test which no model is asked about agrees with nothing.
    let wavefronts = "../litmus/lockstep/figure-7.litmus";
    TOOL.says(&[wavefronts], 2, &["the model is not for wavefronts: sc, lsc and slsc are"]);
    TOOL.says(&[wavefronts, "--model", "sc", "--memory", "flat"], 0, &["thread × flat: sc allows its "]);
    TOOL.says(&["none.litmus"], 2, &["cannot read `none.litmus`"]);
    TOOL.says(&["../litmus/MP-weak.litmus", "--memory", "cache"], 2, &["possible values: flat, split, fermi"]);
    TOOL.says(&["../litmus/MP-weak.litmus", "--property", "drf"], 2, &["cannot be used with"]);
    let alone = Command::new(env!("CARGO_BIN_EXE_warpstep"))
        .args(["litmus", "../litmus/MP-weak.litmus", "--control", "its"])
        .current_dir(TOOL.data(""))
        .output()
        .unwrap();
    assert_eq!(alone.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&alone.stderr).contains("--compare"));
}
