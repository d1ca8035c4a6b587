//! Numbers with their nouns.

/// A number and what it counts, e.g. `1 byte`, `2 bytes`.
pub(super) fn counted(n: u64, noun: &str) -> String {
    format!("{n} {}", plural(n, noun))
}

/// A noun for so many.
pub(super) fn plural(n: u64, noun: &str) -> String {
    match noun {
        _ if n == 1 => noun.to_owned(),
        "is" => "are".to_owned(),
        "has" => "have".to_owned(),
        // As in "branch", "switch", "launch", "access".
        _ if noun.ends_with("ch") || noun.ends_with("ss") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// How often something happened.
pub(super) fn often(n: u64) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{n} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        assert_eq!([counted(1, "byte"), counted(0, "byte"), counted(2, "launch")], ["1 byte", "0 bytes", "2 launches"]);
        assert_eq!([often(1), often(2), often(3)], ["once", "twice", "3 times"]);
    }
}
