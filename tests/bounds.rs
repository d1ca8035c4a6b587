//! Accesses that leave the object they were made for, with other objects around it: programs with a defect and the same ones
//! repaired.
//!
//! `tests/bounds/NAME.ptx` accesses one byte of an object of `// size: BYTES` at offset `AT`, a word that is replaced by a
//! number: by offsets inside, which is the repaired program, and by offsets at every distance of [`DISTANCES`] before the first
//! byte and after the last, which are the defects. A defect is told as `[out-of-bounds]` and with the words of `// says: …`,
//! the distance among them where the line holds `DISTANCE`. `// flags: …` are needed for that; none: it is found by default.
//! `// only: after` leaves out what lies before; `// reach: BYTES` the distances beyond.
//!
//! `NAME.defect.ptx` and `NAME.fixed.ptx` are pairs of programs as they are.

use crate::case::Case;
use libtest_mimic::{Failed, Trial};
use std::path::Path;

/// From one byte to a megabyte.
const DISTANCES: [i64; 17] = [1, 2, 3, 4, 7, 8, 16, 31, 64, 100, 128, 256, 1000, 4096, 32_768, 262_144, 1 << 20];
/// Folders with programs, and what their names begin with: those of `provenance` need `--check bounds`.
const FOLDERS: [(&str, &str); 2] = [("tests/bounds", ""), ("tests/bounds/provenance", "provenance-")];
/// What replaces the offset.
const AT: &str = "AT";

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let all =
        FOLDERS.into_iter().flat_map(|(folder, prefix)| Case::below(folder).into_iter().map(move |c| (c, prefix)));
    let trials = all.map(|(case, prefix)| {
        let name = prefix.to_owned() + case.path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
        Trial::test(name.clone(), move || {
            if name.ends_with(".defect") || name.ends_with(".fixed") { pair(&case) } else { neighbours(&case, &name) }
        })
    });
    trials.collect()
}

/// What a program comes to: nothing, or what it says of a defect.
fn run(case: &Case, more: &[&str]) -> Result<Option<String>, Failed> {
    let arguments = [&case.arguments()[..], more].concat();
    let output = case.run(&arguments)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => Ok(None),
        Some(1) => Ok(Some(text)),
        code => Err(format!("{arguments:?} ends with {code:?}\n{text}").into()),
    }
}

fn flags(case: &Case) -> Vec<&str> {
    case.header("flags").into_iter().flat_map(str::split_whitespace).collect()
}

fn pair(case: &Case) -> Result<(), Failed> {
    let defect = case.path.to_string_lossy().ends_with(".defect.ptx");
    let other = case.path.to_string_lossy().replace(".defect.", ".").replace(".fixed.", ".");
    let other = other.replace(".ptx", if defect { ".fixed.ptx" } else { ".defect.ptx" });
    if !Path::new(&other).exists() {
        return Err(format!("there is no {other}").into());
    }
    match run(case, &flags(case))? {
        None if defect => Err("nothing is found".into()),
        Some(text) if !defect => Err(format!("a false alarm\n{text}").into()),
        text => says(case, &text.unwrap_or_default(), 0),
    }
}

/// Whether all that a case wants to be said is said.
fn says(case: &Case, text: &str, distance: i64) -> Result<(), Failed> {
    for words in case.header("says") {
        let words = match distance {
            // The report has other words for what begins where the object ends.
            1 if words.contains("DISTANCE") => continue,
            _ => words.replace("DISTANCE", &distance.to_string()),
        };
        if !text.contains(&words) {
            return Err(format!("not said: {words}\n{text}").into());
        }
    }
    Ok(())
}

fn neighbours(case: &Case, name: &str) -> Result<(), Failed> {
    let number = |key: &str| case.header(key).first().and_then(|n| n.parse::<i64>().ok());
    let size = number("size").ok_or("no size")?;
    let reach = number("reach").unwrap_or(i64::MAX);
    let source = std::fs::read_to_string(&case.path)?;
    if source.matches(AT).count() != 1 {
        return Err("the offset stands in one place".into());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bounds");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}.ptx"));
    let try_at = |at: i64| {
        let source = source.replace(AT, &at.to_string());
        std::fs::write(&path, &source)?;
        run(&Case { path: path.clone(), source }, &flags(case))
    };
    for at in [0, size / 2, size - 1] {
        if let Some(text) = try_at(at)? {
            return Err(format!("a false alarm at {at}\n{text}").into());
        }
    }
    let both = case.header("only").is_empty();
    let after = DISTANCES.into_iter().map(|d| (d, size - 1 + d));
    let before = DISTANCES.into_iter().filter(|_| both).map(|d| (d, -d));
    for (distance, at) in after.chain(before).filter(|(d, _)| *d <= reach) {
        let Some(text) = try_at(at)? else { return Err(format!("nothing is found at {at}").into()) };
        if !text.contains("[out-of-bounds]") {
            return Err(format!("another defect at {at}\n{text}").into());
        }
        // What is told is how far the first byte of the access is.
        let told = if at < 0 { distance } else { distance - 1 };
        says(case, &text, if told == 0 { 1 } else { told })?;
    }
    Ok(())
}
