//! Table 7 of "Towards Unified Analysis of GPU Consistency" (ASPLOS 2024) and the other real kernels, by command: what is right is proved,
//! each row within ten seconds on an idle machine; and limits are kept where there is no end.

use crate::litmus_tool::{Tool, root};
use std::path::Path;

const TOOL: Tool = Tool { folder: "litmus", flags: &[] };

/// Rows of a table without its heading, as fields.
fn rows(file: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Large ones take too long in a slow build.
fn quick(row: &str) -> bool {
    !cfg!(debug_assertions) || row.contains("dv2wg.4.1") || row.contains("acq2rx") && row.contains("2.2")
}

#[test]
fn litmus_rows_are_right_or_wrong_as_published() {
    let folder = root().join("tests/litmus/table7");
    let all = rows(&folder.join("table7.csv"));
    assert_eq!(all.len(), 20);
    for row in all.iter().filter(|row| quick(&row[5])) {
        let right = row[3] == "yes";
        for (file, models) in [(&row[5], &["vulkan"][..]), (&row[6], &["ptx-v6.0", "ptx-v7.5"][..])] {
            let file = folder.join(file).display().to_string();
            for model in models {
                let ask = |property: &str, code: i32| {
                    let flags = [&*file, "--model", model, "--bound", "1", "--property", property, "--timeout", "60s"];
                    TOOL.says(&flags, code, &[]);
                };
                let code = |kind: &str| i32::from(row[4].split(' ').any(|word| word == kind));
                ask("safety", code("safety"));
                ask("drf", code("race"));
                // Whether a wrong one ends as well is not asked: some do, after a long search.
                if right || row[4].contains("liveness") {
                    ask("liveness", code("liveness"));
                }
            }
        }
    }
}

#[test]
fn right_kernels_are_proved() {
    let folder = root().join("tests/consistency");
    let all = rows(&folder.join("verdicts.csv"));
    let right: Vec<&String> = all.iter().filter(|row| row[5] == "holds").map(|row| &row[4]).collect();
    assert_eq!(right.len(), 16);
    for launch in right.into_iter().filter(|launch| quick(launch)) {
        let launch = folder.join(launch).display().to_string();
        let told = TOOL.says(&[&launch, "--model", "ptx-v7.5", "--timeout", "60s"], 0, &["safety: pass", "drf: pass"]);
        assert!(told.contains("liveness fair: pass"), "{told}");
    }
}

#[test]
fn liveness_keeps_its_limits() {
    // A lock whose scope is too narrow: no short way is exact there.
    let lock = "table7/ptx/caslock-dv2wg.4.2.litmus";
    TOOL.says(&[lock, "--property", "liveness", "--timeout", "1s"], 3, &["limit reached: 1 second"]);
    TOOL.says(&[lock, "--property", "liveness", "--max-choices", "1000"], 3, &["limit reached: 1000 choices"]);
    let kernel = root().join("tests/consistency/ticketlock/ticketlock_acq2rx.4.2.toml").display().to_string();
    TOOL.says(&[&kernel, "--property", "liveness", "--timeout", "1s"], 3, &["limit reached: 1 second"]);
    TOOL.says(&[&kernel, "--property", "liveness", "--max-choices", "500"], 3, &["limit reached: 500 choices"]);
}
