//! PTX versions, targets, and which version introduced which target (PTX ISA, chapter 11 and release notes).

/// The last PTX version that the tables know.
pub const LATEST: (u16, u16) = (9, 5);

/// Whether a PTX version was ever released.
#[must_use]
pub const fn version_exists(version: (u16, u16)) -> bool {
    match version.0 {
        1 => version.1 <= 5,
        2 | 4 => version.1 <= 3,
        3 => version.1 <= 2,
        5 => version.1 == 0,
        6 => version.1 <= 5,
        7 | 8 => version.1 <= 8,
        9 => version.1 <= LATEST.1,
        _ => false,
    }
}

/// The number of an `sm_…` or `compute_…` target and the first PTX version that has it; `None` for no such target.
#[must_use]
pub fn target(name: &str) -> Option<(u16, (u16, u16))> {
    let number = name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_"))?;
    let (digits, suffix) = match number.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => number.split_at(at),
        None => (number, ""),
    };
    let sm: u16 = digits.parse().ok()?;
    let first = match (sm, suffix) {
        (10 | 11, "") => (1, 0),
        (12, "") => (1, 2),
        (13, "") => (1, 4),
        (20, "") => (2, 0),
        (30, "") => (3, 0),
        (32, "") => (4, 0),
        (35, "") => (3, 1),
        (37, "") => (4, 1),
        (50, "") => (4, 0),
        (52, "") => (4, 1),
        (53, "") => (4, 2),
        (60..=62, "") => (5, 0),
        (70, "") => (6, 0),
        (72, "") => (6, 1),
        (75, "") => (6, 3),
        (80, "") => (7, 0),
        (86, "") => (7, 1),
        (87, "") => (7, 4),
        (88, "") => (9, 0),
        (89 | 90, "") => (7, 8),
        (90, "a") => (8, 0),
        (100 | 101, "" | "a") => (8, 6),
        (103, "" | "a" | "f") | (121, "" | "a" | "f") | (100 | 101, "f") | (120, "f") => (8, 8),
        (120, "" | "a") => (8, 7),
        (110, "" | "a" | "f") => (9, 0),
        _ => return None,
    };
    Some((sm, first))
}

/// The highest architecture that PTX can be for.
pub const HIGHEST: u32 = 121;

/// Words of `.target` that are not architectures.
pub const PLATFORM: &[&str] = &["texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_versions() {
        assert_eq!(target("sm_90"), Some((90, (7, 8))));
        assert_eq!(target("sm_90a"), Some((90, (8, 0))));
        assert_eq!(target("sm_81"), None);
        let known = |sm: u32| target(&format!("sm_{sm}")).is_some();
        assert!(known(HIGHEST) && !(HIGHEST + 1..1000).any(known));
        assert!(version_exists((8, 8)) && !version_exists((8, 9)) && !version_exists((2, 4)));
    }
}
