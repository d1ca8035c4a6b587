//! Programs with known verdicts under the axioms of PTX and Vulkan: litmus tests (`tests/litmus/table7`, `tests/litmus/paper`) and
//! kernels (`tests/consistency`). Here: the tables fit the files, the files fit their scripts, and the machine agrees as far
//! as it can: results are right on `flat` memory, and races are found where a table has them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn warpstep(arguments: &[&str]) -> (Option<i32>, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("consistency");
    std::fs::create_dir_all(&folder).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_warpstep")).args(arguments).current_dir(folder).output().unwrap();
    (out.status.code(), [out.stdout, out.stderr].map(|b| String::from_utf8(b).unwrap()).concat())
}

/// The rows below the heading; no field but the last has commas.
fn rows<const N: usize>(path: &Path, heading: &str) -> Vec<[String; N]> {
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().next(), Some(heading), "{}", path.display());
    let row = |line: &str| {
        let fields: Vec<_> = line.splitn(N, ',').map(|field| field.trim_matches('"').to_owned()).collect();
        fields.try_into().unwrap_or_else(|_| panic!("{}: {line}", path.display()))
    };
    text.lines().skip(1).map(row).collect()
}

fn litmus_files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            found.extend(litmus_files(&entry));
        } else if entry.extension().is_some_and(|e| e == "litmus") {
            found.insert(entry);
        }
    }
    found
}

#[test]
fn tables_of_litmus_tests_name_every_file_and_no_question_twice() {
    for (folder, tables) in [("paper", &["verdicts.csv", "figure8.csv"][..]), ("table7", &["verdicts.csv"])] {
        let folder = root().join("tests/litmus").join(folder);
        let (mut named, mut asked) = (BTreeSet::new(), BTreeSet::new());
        for table in tables {
            for [path, model, property, expected, bound, _] in
                rows(&folder.join(table), "path,model,property,expected,bound,about")
            {
                let row = format!("{path},{model},{property}");
                let models: &[_] =
                    if path.starts_with("ptx/") { &["ptx-v6.0", "ptx-v7.5"] } else { &["vulkan", "vulkan-figure8"] };
                assert!(models.contains(&model.as_str()), "{row}");
                assert!(["safety", "liveness", "drf"].contains(&property.as_str()), "{row}");
                assert!(["pass", "fail"].contains(&expected.as_str()) && bound.parse() == Ok(1u32), "{row}");
                assert!(asked.insert(row.clone()), "{row} twice");
                named.insert(folder.join(path));
            }
        }
        assert_eq!(named, litmus_files(&folder));
    }
}

#[test]
fn table_7_has_its_twenty_rows_and_right_ones_fail_in_nothing() {
    let folder = root().join("tests/litmus/table7");
    let table: Vec<[String; 8]> = rows(&folder.join("table7.csv"), "row,grid,threads,correct,kind,vulkan,ptx,about");
    assert_eq!(table.len(), 20);
    let verdicts: Vec<[String; 6]> = rows(&folder.join("verdicts.csv"), "path,model,property,expected,bound,about");
    for [row, grid, _, correct, kind, vulkan, ptx, _] in &table {
        assert_eq!(correct == "yes", kind.is_empty(), "{row} {grid}");
        for path in [vulkan, ptx] {
            let fails = verdicts.iter().any(|v| v[0] == *path && v[3] == "fail");
            assert_eq!(fails, correct == "no", "{path}");
        }
    }
}

#[test]
fn files_are_as_their_scripts_make_them() {
    for script in ["tests/litmus/table7/make.py", "tests/consistency/make.py"] {
        let Ok(out) = Command::new("python3").arg(root().join(script)).arg("--check").output() else {
            eprintln!("skipped: python3 is absent");
            return;
        };
        assert!(out.status.success(), "{script}:\n{}", String::from_utf8_lossy(&out.stdout));
    }
}

/// The kernels: their rows of the table.
fn kernels() -> (PathBuf, Vec<[String; 8]>) {
    let folder = root().join("tests/consistency");
    let rows = rows(&folder.join("verdicts.csv"), "ptx,entry,grid,block,launch,expected,line,about");
    (folder, rows)
}

#[test]
fn the_line_of_an_error_is_one_of_its_kernel() {
    let (folder, rows) = kernels();
    for [ptx, entry, .., expected, line, _] in rows {
        assert_eq!(expected == "holds", line.is_empty(), "{entry}");
        let Ok(line) = line.parse::<usize>() else { continue };
        let text = std::fs::read_to_string(folder.join(ptx)).unwrap();
        let above = text.lines().take(line).collect::<Vec<_>>().join("\n");
        let within = above.rsplit(".entry ").next().unwrap();
        assert!(within.starts_with(&format!("{entry}(")) && !within.contains("\n}"), "{entry}: line {line}");
        let last = within.lines().last().unwrap_or_default().trim_start();
        assert!(["ld.", "st.", "atom.", "fence."].iter().any(|name| last.starts_with(name)), "{entry}: {last}");
    }
}

#[test]
fn kernels_run_and_the_races_of_the_table_are_found_and_no_others() {
    let (folder, rows) = kernels();
    for [_, entry, _, _, launch, expected, ..] in rows {
        let launch = folder.join(launch).display().to_string();
        let (code, said) = warpstep(&["run", &launch]);
        assert_eq!(code, Some(0), "{entry}: {said}");
        let (code, said) = warpstep(&["hunt", &launch, "--check", "races", "--seeds", "200"]);
        let races = expected.split(' ').any(|kind| kind == "race");
        assert_eq!(code, Some(i32::from(races)), "{entry}: {said}");
        assert_eq!(said.contains("data race"), races, "{entry}: {said}");
    }
}
