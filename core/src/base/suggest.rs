//! The likely meaning of a misspelt word.

/// The candidate that a word is a slip of, if any: one edit away for words under four bytes, two for longer ones. An
/// edit inserts, deletes or replaces a byte or swaps two neighbours; the first of several nearest candidates wins.
#[must_use]
pub fn suggest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = if word.len() < 4 { 1 } else { 2 };
    let near = candidates.into_iter().filter(|c| *c != word).map(|c| (distance(word, c, limit), c));
    near.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

/// The number of edits between two words; any number above `limit` when there are more.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().abs_diff(b.len()) > limit || a.len() > 64 {
        return limit + 1;
    }
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
