//! The likely meaning of a misspelt word.

/// Longer words than this are no slips: comparing them takes their lengths' product.
const LONGEST: usize = 64;

/// The candidate that a word is a slip of, if any: one edit away for words under four bytes, two for longer ones. An
/// edit inserts, deletes or replaces a character or swaps two neighbours; the first of several nearest candidates wins.
#[must_use]
pub fn suggest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = if word.len() < 4 { 1 } else { 2 };
    let possible = |c: &&str| *c != word && word.len() <= LONGEST && word.len().abs_diff(c.len()) <= limit;
    let near = candidates.into_iter().filter(possible).map(|c| (strsim::osa_distance(word, c), c));
    near.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let words = [".visible", ".version", ".reg", ".entry"];
        assert_eq!(suggest(".visibel", words), Some(".visible"));
        assert_eq!(suggest(".vresion", words), Some(".version"));
        assert_eq!(suggest(".regs", words), Some(".reg"));
        assert_eq!(suggest(".banana", words), None);
        assert_eq!(suggest("", words), None);
        assert_eq!(suggest("reg", ["reg"]), None);
    }
}
