//! What a launch file or a host script asks of tests (`[test]`): `warpstep test` does as it says, other commands do not look.

use super::problem::{At, ProblemKind};
use super::toml::{Item, Table};
use crate::verdict::Kind;

const TEST: &[&str] = &["seeds", "check", "defect"];

/// What buffers or variables that hold something else than expected are called among the kinds of defects.
pub const RESULT_MISMATCH: &str = "result-mismatch";
/// What printed output that is other than expected is called.
pub const OUTPUT_MISMATCH: &str = "output-mismatch";

/// What a file asks of tests.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wishes {
    /// How many schedules by seed are to be run after the default one, at least.
    pub seeds: Option<u64>,
    /// Checks by their names, which are known above this layer, with their places.
    pub checks: Vec<(String, At)>,
    /// The defect that must be found, with its place: a test of what is wrong on purpose.
    pub defect: Option<(&'static str, At)>,
}

/// Reads `[test]`, if there is one.
pub(super) fn wishes(root: &Table<'_, '_>) -> Wishes {
    let Some(table) = root.get("test").and_then(|item| item.table()) else { return Wishes::default() };
    table.only(TEST);
    let seeds = table.get("seeds").and_then(|item| item.count(u64::MAX));
    let checks = table.get("check").map(Item::several).unwrap_or_default();
    let checks = checks.iter().filter_map(|item| Some((item.text()?, item.at()))).collect();
    let defect = table.get("defect").and_then(|item| Some((defect(&item)?, item.at())));
    Wishes { seeds, checks, defect }
}

fn defect(item: &Item<'_, '_>) -> Option<&'static str> {
    let text = item.text()?;
    let kinds = Kind::ALL.iter().filter(|kind| kind.is_defect()).map(|kind| kind.id());
    let known: Vec<&'static str> = kinds.chain([RESULT_MISMATCH, OUTPUT_MISMATCH]).collect();
    let found = known.iter().copied().find(|id| *id == text);
    if found.is_none() {
        item.problem(ProblemKind::NoKind { text, known });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceMap;
    use crate::launch::Spec;
    use std::path::Path;

    /// What a launch file with these lines asks for, or what is wrong with them.
    fn read(lines: &str) -> Result<Wishes, Vec<ProblemKind>> {
        let mut sources = SourceMap::default();
        let launch = "ptx = \"k.ptx\"\n[[launch]]\nentry = \"k\"\ngrid = 1\nblock = 1\n";
        let file = sources.add("launch.toml", format!("{launch}[test]\n{lines}"));
        let spec = Spec::parse(&sources, file, Path::new(""));
        spec.map(|spec| spec.test).map_err(|problems| problems.into_iter().map(|p| p.kind).collect())
    }

    #[test]
    fn a_file_says_how_it_is_tested() {
        let all = read("seeds = 20\ncheck = [\"races\", \"bounds\"]\ndefect = \"race\"").unwrap();
        let names: Vec<&str> = all.checks.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((all.seeds, names, all.defect.map(|d| d.0)), (Some(20), vec!["races", "bounds"], Some("race")));
        assert_eq!(read("defect = \"result-mismatch\"").unwrap().defect.map(|d| d.0), Some(RESULT_MISMATCH));
        assert_eq!(read("check = \"races\"").unwrap().checks.len(), 1);
        assert_eq!(read("").unwrap(), Wishes::default());
    }

    #[test]
    fn what_is_no_defect_is_told_with_those_that_are() {
        let wrong = read("defect = \"rase\"").unwrap_err();
        assert!(matches!(&wrong[..], [ProblemKind::NoKind { known, .. }] if known.contains(&"race")), "{wrong:?}");
        // A limit says nothing about the program, so that nothing can expect it.
        assert!(read("defect = \"limit\"").is_err());
        assert!(matches!(&read("seed = 3").unwrap_err()[..], [ProblemKind::UnknownKey { .. }]));
    }
}
