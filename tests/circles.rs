//! Imports run one way: files that need each other in a circle are few, and never in two folders.

use crate::house::SOURCES;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Circles that are left: each is one thought in two files.
const MOST: usize = 5;

/// A module by the names on the way to it.
type Module = Vec<String>;

/// An import: whether it is exported again, what it names, and the name that it has here.
struct Import {
    exported: bool,
    path: Vec<String>,
    name: String,
}

/// The sources with what they import.
struct Crate {
    modules: BTreeMap<Module, (PathBuf, Vec<Import>)>,
}

fn words(path: &str) -> Vec<String> {
    path.split("::").map(str::trim).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

/// The parts of a list in braces.
fn parts(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts.into_iter().map(str::trim).filter(|p| !p.is_empty()).collect()
}

/// What a use tree names.
fn named(prefix: &[String], tree: &str, exported: bool, out: &mut Vec<Import>) {
    let with = |more: Vec<String>| [prefix.to_vec(), more].concat();
    if let Some((head, list)) = tree.split_once('{') {
        let head = with(words(head));
        let list = list.rsplit_once('}').map_or(list, |(list, _)| list);
        parts(list).into_iter().for_each(|part| named(&head, part, exported, out));
        return;
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias.trim())));
    let mut path = with(words(path));
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = alias.map(str::to_owned).or_else(|| path.last().cloned()).unwrap_or_default();
    out.push(Import { exported, path, name });
}

/// What a source names of others: by `use`, or by a path from `crate` or `super`.
fn imports(source: &str) -> Vec<Import> {
    let mut code = String::new();
    for line in source.lines().take_while(|l| *l != "#[cfg(test)]") {
        code.push_str(line.split_once("//").map_or(line, |(code, _)| code));
        code.push('\n');
    }
    let mut found = Vec::new();
    for statement in code.split(';') {
        let tree = statement.rsplit_once("\nuse ").or_else(|| statement.rsplit_once("\npub use "));
        let tree = tree.or_else(|| statement.split_once(") use "));
        let tree = tree.or_else(|| statement.strip_prefix("use ").map(|tree| ("", tree)));
        if let Some((before, tree)) = tree {
            let head = &statement[..statement.len() - tree.len()];
            let exported =
                head.trim_end().ends_with("pub use") || before.trim_end().ends_with(')') || head.ends_with(") use ");
            named(&[], tree, exported, &mut found);
            continue;
        }
        for start in ["crate::", "super::"] {
            // Who may see an item is no import.
            let named = |at: &(usize, &str)| !statement[..at.0].ends_with("pub(in ");
            for (at, _) in statement.match_indices(start).filter(named) {
                let path: String =
                    statement[at..].chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
                found.push(Import { exported: false, path: words(&path), name: String::new() });
            }
        }
    }
    found
}

impl Crate {
    /// The modules below some folders, as if they were of one crate.
    fn read(roots: &[PathBuf]) -> Self {
        let mut modules = BTreeMap::new();
        let mut folders: Vec<(&Path, PathBuf)> = roots.iter().map(|root| (&**root, root.clone())).collect();
        while let Some((root, folder)) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
                if path.is_dir() {
                    folders.push((root, path));
                } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("main.rs") {
                    let below = path.strip_prefix(root).unwrap().with_extension("");
                    let mut module: Module = below.iter().map(|w| w.to_str().unwrap().to_owned()).collect();
                    if ["mod", "lib"].contains(&module.last().unwrap().as_str()) {
                        module.pop();
                    }
                    let imports = imports(&std::fs::read_to_string(&path).unwrap());
                    modules.insert(module, (path, imports));
                }
            }
        }
        Self { modules }
    }

    /// A path that is named in a module, from the root.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let first = path.first()?.as_str();
        let ups = path.iter().take_while(|w| *w == "super").count();
        match first {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([&module[..], &path[1..]].concat()),
            "super" => Some([&module[..module.len().checked_sub(ups)?], &path[ups..]].concat()),
            _ => {
                let child = [&module[..], &path[..1]].concat();
                self.modules.contains_key(&child).then(|| [&module[..], path].concat())
            }
        }
    }

    /// The module in which an item is that a path from the root names; what is exported again is followed.
    fn home(&self, path: &[String], depth: u32) -> Module {
        let known = (0..=path.len()).rev().find(|n| self.modules.contains_key(&path[..*n]));
        let (module, rest) = path.split_at(known.unwrap_or(0));
        let module = module.to_vec();
        let Some(item) = rest.first().filter(|_| depth < 8) else { return module };
        let again = self.modules[&module].1.iter().find(|i| i.exported && i.name == *item);
        let further = again.and_then(|i| self.absolute(&module, &i.path));
        further.map_or(module, |path| self.home(&[&path[..], &rest[1..]].concat(), depth + 1))
    }

    /// The circles, each in the order of names.
    fn circles(&self) -> Vec<Vec<&Path>> {
        let mut graph: DiGraphMap<&Path, ()> = DiGraphMap::new();
        for (module, (path, imports)) in &self.modules {
            let index = path.ends_with("mod.rs") || path.ends_with("lib.rs");
            for import in imports.iter().filter(|i| !(index && i.exported)) {
                let Some(named) = self.absolute(module, &import.path) else { continue };
                let home = self.home(&named, 0);
                if home != *module && !home.is_empty() {
                    graph.add_edge(path, &self.modules[&home].0, ());
                }
            }
        }
        let mut circles: Vec<Vec<&Path>> = tarjan_scc(&graph).into_iter().filter(|c| c.len() > 1).collect();
        circles.iter_mut().for_each(|c| c.sort_unstable());
        circles.sort_unstable();
        circles
    }
}

#[test]
fn circles_are_few_and_in_one_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = Crate::read(&SOURCES.map(|sources| root.join(sources)));
    assert!(all.modules.len() > 100 && all.modules.values().map(|(_, i)| i.len()).sum::<usize>() > 1000);
    let circles = all.circles();
    let shown = |circle: &Vec<&Path>| {
        let names: Vec<String> = circle.iter().map(|p| p.strip_prefix(root).unwrap().display().to_string()).collect();
        names.join(", ")
    };
    let list: Vec<String> = circles.iter().map(shown).collect();
    let folder = |path: &Path| path.parent().unwrap().to_owned();
    let across = |circle: &&Vec<&Path>| circle.iter().any(|p| folder(p) != folder(circle[0]));
    let wide: Vec<String> = circles.iter().filter(across).map(shown).collect();
    assert!(circles.len() <= MOST, "{} circles of imports, {MOST} are allowed:\n{}", circles.len(), list.join("\n"));
    assert!(wide.is_empty(), "circles of imports across folders:\n{}", wide.join("\n"));
}

#[test]
fn a_planted_circle_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("m")).unwrap();
    write("lib.rs", "pub mod m;\n");
    write("m/mod.rs", "mod a;\nmod b;\nmod c;\n\npub use a::A;\npub(crate) use b::{B, C as D};\n");
    write("m/a.rs", "use super::{D, c::E};\npub struct A(D, E);\n");
    write("m/b.rs", "pub struct B;\npub fn f() -> super::A { }\n");
    write("m/c.rs", "use crate::base::X; // use super::A;\npub struct E;\n");
    let circles = Crate::read(&[folder.path().to_owned()]).circles().len();
    assert_eq!(circles, 1);
    write("m/b.rs", "pub struct B;\n");
    assert_eq!(Crate::read(&[folder.path().to_owned()]).circles().len(), 0);
}
