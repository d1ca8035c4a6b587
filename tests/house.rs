//! The house rules that a compiler does not enforce: layers, file sizes, forbidden words, rule ids.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The layers from the ground up, numbered as in ARCHITECTURE.md. A folder names only folders above it in this list, or itself.
const LAYERS: &[(&str, u32)] = &[
    ("base", 0),
    ("verdict", 1),
    ("choice", 1),
    ("ptx", 2),
    ("alu", 3),
    ("program", 4),
    ("memory", 5),
    ("machine", 6),
    ("axiom", 7),
    ("check", 7),
    ("launch", 7),
    ("explore", 8),
    ("litmus", 9),
    ("report", 10),
    ("cli", 11),
    ("api", 12),
];

/// The sources of the crates, the lowest first.
pub const SOURCES: [&str; 4] = ["core/src", "analysis/src", "cli/src", "src"];

const LONGEST: usize = 600;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a folder with one of the extensions.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.contains(&e)) {
                found.push(entry);
            }
        }
    }
    found.sort();
    found
}

/// The folder of a layer, which is in one of the crates.
fn layer_folder(layer: &str) -> PathBuf {
    let folders = SOURCES.iter().map(|sources| root().join(sources).join(layer));
    folders.into_iter().find(|folder| folder.exists()).unwrap_or_else(|| panic!("{layer} is in no crate"))
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The layers that a source names: every `crate::layer` and, inside braces, `use crate::{a, b::c}`.
fn named(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in source.lines().filter(|l| !l.trim_start().starts_with("//")) {
        for part in line.split("crate::").skip(1) {
            let names = part.strip_prefix('{').map_or(part, |list| list.split('}').next().unwrap_or(list));
            let list = if part.starts_with('{') { names.split(',').collect() } else { vec![names] };
            for name in list {
                let word: String = name.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                found.insert(word);
            }
        }
    }
    found
}

#[test]
fn a_layer_names_only_layers_below_it() {
    // `choice` stands beside `verdict` and after it: its oracles may stop a run.
    let level: BTreeMap<&str, usize> = LAYERS.iter().enumerate().map(|(k, (name, _))| (*name, k)).collect();
    let mut wrong = Vec::new();
    for (layer, _) in LAYERS {
        for file in files(&layer_folder(layer), &["rs"]) {
            for name in named(&text(&file)) {
                let Some(other) = level.get(name.as_str()) else { continue };
                if *other > level[layer] {
                    wrong.push(format!("{} names {name}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_is_a_layer() {
    let folders = SOURCES.map(|sources| std::fs::read_dir(root().join(sources)).unwrap().flatten());
    for entry in folders.into_iter().flatten().filter(|e| e.path().is_dir()) {
        let name = entry.file_name().into_string().unwrap();
        assert!(
            LAYERS.iter().any(|(layer, _)| *layer == name),
            "{} has no place in the layers",
            entry.path().display()
        );
    }
}

#[test]
fn files_are_short_and_tidy() {
    // Split, so that this file does not accuse itself.
    let forbidden =
        [["to", "do!("].concat(), ["#[igno", "re"].concat(), ["uns", "afe {"].concat(), ["db", "g!("].concat()];
    let mut wrong = Vec::new();
    let folders = SOURCES.iter().chain(&["tests", "benches", "fuzz/fuzz_targets", "examples"]);
    for file in folders.flat_map(|f| files(&root().join(f), &["rs"])) {
        let source = text(&file);
        let lines = source.lines().count();
        if lines > LONGEST {
            wrong.push(format!("{} has {lines} lines, {LONGEST} are allowed", file.display()));
        }
        let allowed = |f: &str| f == forbidden[2] && file.ends_with(UNSAFE);
        let found = forbidden.iter().filter(|f| source.contains(*f) && !allowed(f));
        wrong.extend(found.map(|f| format!("{} has {f}", file.display())));
        let tests = file.components().any(|c| c.as_os_str() == "tests");
        if !tests && !source.starts_with("//!") {
            wrong.push(format!("{} does not begin with what it is for", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where native code is called, and the argument why that is sound.
const UNSAFE: &str = "core/src/machine/native/code.rs";

#[test]
fn one_module_is_unsafe() {
    let word = ["un", "safe"].concat();
    let mut wrong = Vec::new();
    let folders = SOURCES.iter().chain(&["tests", "benches", "fuzz/fuzz_targets", "examples"]);
    for file in folders.flat_map(|f| files(&root().join(f), &["rs"])).filter(|f| !f.ends_with(UNSAFE)) {
        let source = text(&file);
        // The type of a function that native code calls is no call.
        let lines = source.lines().filter(|l| !l.trim_start().starts_with("//") && !l.contains("pub(super) type"));
        let words = lines.flat_map(|l| l.split(|c: char| !c.is_alphanumeric() && c != '_'));
        if words.into_iter().any(|w| w == word) {
            wrong.push(file.display().to_string());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(text(&root().join(UNSAFE)).contains("Why it is sound."));
}

/// Functions outside tests, with their lines of code, comments left out: one ends where the brace of its first line comes
/// back.
fn functions(source: &str) -> Vec<(&str, usize)> {
    let code = |l: &&str| !l.trim_start().starts_with("//") && !l.trim().is_empty();
    let lines: Vec<&str> = source.lines().filter(code).collect();
    // Tests that stand in the file itself come last; those of other files are declared among its modules.
    let tests = lines.windows(2).position(|l| l[0] == "#[cfg(test)]" && l[1].ends_with('{'));
    let lines = &lines[..tests.unwrap_or(lines.len())];
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let item = line.trim_start();
        let Some((_, name)) = item.split_once("fn ").filter(|(before, _)| !before.contains(['=', '"'])) else {
            continue;
        };
        let indent = &line[..line.len() - item.len()];
        let ends = ["}", "fn", ")"].map(|word| format!("{indent}{word}"));
        // One that is declared only ends with a semicolon.
        let declared = |l: &str| l.ends_with(';') && ends[1..].iter().any(|end| l.starts_with(end));
        if let Some(long) = lines[at..].iter().position(|l| *l == ends[0] || declared(l)) {
            found.push((name.split(['(', '<']).next().unwrap_or(name), long + 1));
        }
    }
    found
}

/// Whether a file is compiled for tests only: it, or a folder that it is in, is declared so beside.
fn is_of_tests(file: &Path) -> bool {
    file.ancestors().filter_map(|at| Some((at.parent()?, at.file_stem()?.to_str()?))).any(|(folder, name)| {
        let declared = ["mod", "pub(crate) mod"].map(|word| format!("#[cfg(test)]\n{word} {name};"));
        let beside = ["mod.rs", "lib.rs"].map(|f| folder.join(f));
        beside.iter().filter(|f| f.is_file()).any(|f| declared.iter().any(|d| text(f).contains(d)))
    })
}

#[test]
fn functions_are_short() {
    let mut long = Vec::new();
    for file in SOURCES.iter().flat_map(|f| files(&root().join(f), &["rs"])) {
        if is_of_tests(&file) {
            continue;
        }
        for (name, lines) in functions(&text(&file)) {
            assert!(lines <= 150, "{}: {name} has {lines} lines, 150 are allowed", file.display());
            if lines > 80 {
                long.push(format!("{}: {name}, {lines}", file.display()));
            }
        }
    }
    assert!(long.len() <= 10, "ten functions may have more than 80 lines:\n{}", long.join("\n"));
    let planted = format!("fn long() {{\n{}}}\n", "    x();\n".repeat(80));
    assert_eq!(functions(&planted), [("long", 82)]);
    assert!(long.iter().any(|f| f.contains(": frame_on,")), "the longest function is not seen: {long:?}");
}

/// The ids of `core/src/verdict/rules.rs`.
fn rule_ids() -> BTreeSet<String> {
    let source = text(&root().join("core/src/verdict/rules.rs"));
    let ids = source.lines().filter_map(|l| l.trim().split_once(" = \"")?.1.strip_suffix("\","));
    ids.map(str::to_owned).collect()
}

/// The ids that stand after `marker` in a line, and where.
fn marked(marker: &str) -> BTreeMap<String, Vec<String>> {
    let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in SOURCES.iter().flat_map(|sources| files(&root().join(sources), &["rs"])) {
        for (number, line) in text(&file).lines().enumerate() {
            let Some((before, rest)) = line.split_once(marker) else { continue };
            if !before.contains("//") {
                continue;
            }
            for id in rest.split(|c: char| c == ',' || c.is_whitespace()) {
                let id = id.trim_matches(|c: char| !c.is_alphanumeric());
                if id.contains('.') {
                    let home = format!("{}:{}", file.display(), number + 1);
                    homes.entry(id.to_owned()).or_default().push(home);
                }
            }
        }
    }
    homes
}

#[test]
fn every_rule_has_one_home_in_the_code() {
    let ids = rule_ids();
    assert!(ids.len() > 20, "{}", ids.len());
    let homes = marked(" Rule: ");
    let mut wrong: Vec<String> =
        ids.iter().filter(|id| !homes.contains_key(*id)).map(|id| format!("{id} has no home")).collect();
    for (id, places) in &homes {
        if places.len() > 1 {
            wrong.push(format!("{id} has several homes: {}", places.join(", ")));
        }
        if !ids.contains(id) {
            wrong.push(format!("{id} at {} is not in core/src/verdict/rules.rs", places.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_is_in_the_notes() {
    let ids = rule_ids();
    let notes: String = files(&root().join("spec-notes"), &["md"]).iter().map(|f| text(f)).collect();
    // Notes name rules as list items: - `crs.ssy` …
    let noted: BTreeSet<&str> = notes
        .lines()
        .filter_map(|l| l.trim_start().strip_prefix("- `")?.split('`').next())
        .filter(|id| id.contains('.') && !id.contains('/'))
        .collect();
    let missing: Vec<&String> = ids.iter().filter(|id| !noted.contains(id.as_str())).collect();
    let unknown: Vec<&&str> = noted.iter().filter(|id| !ids.contains(**id)).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "not in spec-notes/: {missing:?}; not in the code: {unknown:?}");
}

/// The sources that a text names.
fn sources_in(text: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_ascii_alphanumeric() || "_/.".contains(c);
    let words = text.split(move |c| !inside(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| SOURCES.iter().any(|sources| word.starts_with(&format!("{sources}/"))) && word.ends_with(".rs"))
}

#[test]
fn documents_name_sources_that_exist() {
    assert_eq!(sources_in("(core/src/a/b.rs, `src/c.rs`). src/d").collect::<Vec<_>>(), ["core/src/a/b.rs", "src/c.rs"]);
    let documents = ["spec-notes", "docs", "benches"].map(|folder| files(&root().join(folder), &["md"])).concat();
    let of_the_root = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"].map(|name| root().join(name));
    let mut gone = Vec::new();
    for document in documents.iter().chain(&of_the_root) {
        let text = text(document);
        let missing = sources_in(&text).filter(|source| !root().join(source).exists());
        gone.extend(missing.map(|source| format!("{}: {source}", document.display())));
    }
    assert!(gone.is_empty(), "{}", gone.join("\n"));
}

/// A rule's home in the notes is the file that has its marker.
#[test]
fn notes_name_the_homes_of_rules() {
    let table = text(&root().join("cli/src/report/rule_table.tsv"));
    let homes: BTreeMap<&str, &str> = table
        .lines()
        .filter_map(|l| l.split_once('\t').map(|(id, rest)| (id, rest.split('\t').next().unwrap_or(rest))))
        .collect();
    let mut named = 0;
    for note in files(&root().join("spec-notes"), &["md"]) {
        for line in text(&note).lines() {
            let Some((id, rest)) = line.strip_prefix("- `").and_then(|l| l.split_once("` (")) else { continue };
            let (Some(home), Some(source)) = (homes.get(id), sources_in(rest).next()) else { continue };
            named += 1;
            assert!(
                rest.split(')').next().is_some_and(|all| all.contains(home)),
                "{}: {id} is in {home}, not in {source}",
                note.display()
            );
        }
    }
    assert!(named > 30, "{named}");
}

/// The keys that launch files, host scripts, devices and suppressions know, by the lists that their readers compare with.
fn keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for name in ["file.rs", "image/read.rs", "description.rs", "suppress.rs", "script/read.rs", "wishes.rs"] {
        let source = text(&root().join("analysis/src/launch").join(name));
        let lists = source.split("\nconst ").skip(1).filter_map(|rest| rest.split_once(": &[&str] ="));
        for (list, rest) in lists {
            let end = rest.find("];").unwrap_or_else(|| panic!("{name}: {list} does not end"));
            keys.extend(rest[..end].split('"').skip(1).step_by(2).map(str::to_owned));
        }
    }
    keys
}

#[test]
fn every_key_is_in_the_notes_and_no_other() {
    let notes = text(&root().join("spec-notes/launching.md"));
    let rows = notes.lines().filter_map(|l| l.strip_prefix("| `")?.split(" | ").next());
    let told: BTreeSet<String> = rows.flat_map(|cell| cell.split('`').step_by(2)).map(str::to_owned).collect();
    let known = keys();
    assert!(known.len() > 60, "{known:?}");
    let missing: Vec<_> = known.difference(&told).collect();
    let more: Vec<_> = told.difference(&known).collect();
    assert!(missing.is_empty() && more.is_empty(), "spec-notes/launching.md lacks {missing:?}, and has {more:?}");
}

#[test]
fn every_test_file_is_in_a_program() {
    let tests = root().join("tests");
    let roots = ["ui", "commands", "machine", "mutants"].map(|name| text(&tests.join(name).with_extension("rs")));
    let mut missing = Vec::new();
    for entry in std::fs::read_dir(&tests).unwrap().map(|e| e.unwrap().path()) {
        let name = entry.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = entry.is_dir() && entry.join("mod.rs").is_file();
        let file = entry.extension().is_some_and(|e| e == "rs");
        let is_root = file && ["ui", "commands", "machine", "mutants"].contains(&name.as_str());
        if (module || file) && !is_root && !roots.iter().any(|root| root.contains(&format!("mod {name};"))) {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "no test program declares {missing:?}: their tests are not run");
}
