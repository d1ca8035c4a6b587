//! A hunt in parts on several computers, and what all parts come to.
//!
//! A part has seeds in a row, so that which defect is first is a matter of seeds alone: those before a part belong to the
//! parts before it. A report of a part says what it is a part of; parts are put together only when all of one hunt are there.

use super::HuntState;
use crate::base::{complaints, sort};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One of some parts of a hunt, which have equally many seeds, or one more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// From 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Shard {
    /// The part that a text such as `2/4` names.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        let (number, of) = text.split_once('/')?;
        let (number, of) = (number.parse().ok()?, of.parse().ok()?);
        (1..=of).contains(&number).then_some(Self { number, of })
    }

    /// Its seeds.
    #[must_use]
    pub fn seeds(self, all: &Range<u64>) -> Range<u64> {
        let total = u128::from(all.end.saturating_sub(all.start));
        let until = |k: u32| all.start + u64::try_from(total * u128::from(k) / u128::from(self.of)).unwrap_or(u64::MAX);
        until(self.number - 1)..until(self.number)
    }
}

/// What a report of a part says that it is a part of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Whole {
    /// Which part it is, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
    /// The first seed of the hunt.
    pub first_seed: u64,
    /// The seeds of the hunt.
    pub seeds: u64,
    /// A hash of the program.
    pub program: String,
    /// A hash of what is launched on what.
    pub setup: String,
    /// Strategy, limits and checks as words.
    pub options: String,
}

/// What of a report counts.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Part {
    /// What it is a part of; nothing in the report of a whole hunt.
    pub shard: Option<Whole>,
    /// Why it ended.
    pub ended: String,
    /// How many seeds were run.
    pub seeds: u64,
    /// How many of them reached a limit.
    pub limited: u64,
    /// What was found.
    pub findings: Vec<Found>,
}

/// A defect that a part has found.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Found {
    /// The smallest seed; none: the default schedule, which each part has run.
    pub seed: Option<u64>,
    /// How many seeds showed it.
    pub times: u64,
}

complaints! {
    /// Why parts are not put together.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum ShardError(path: &str) {
        /// It is no report of a part.
        NoShard =>
            "no-shard" ("`{path}` is no report of a part of a hunt") ("")
            ("`warpstep hunt … --shard K/N --format json > FILE` writes one");
        /// It is of another hunt.
        Other { what: &'static str } =>
            "other-hunt" ("`{path}` is a part of another hunt: {what} differs") ("")
            ("give the target and flags of the parts, and reports of one hunt only");
        /// Another division of the same hunt.
        OtherDivision { of: u32, first: u32 } =>
            "other-hunt" ("`{path}` is one of {of} parts, the first report of {first}") ("")
            ("give the reports of one division of the seeds");
        /// The same part again.
        Double { number: u32 } =>
            "double-shard" ("`{path}` is part {number}, which is there already") ("") ("name each part once");
        /// Not all parts are there; the path is the first report's.
        Missing { numbers: Vec<u32>, of: u32 } =>
            "missing-shard"
            ("of {of} parts these are missing: {}", numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
            ("") ("run them: `warpstep hunt … --shard {}/{of} --format json`", numbers.first().unwrap_or(&1));
        /// A part did not come to its end.
        Ended { number: u32, why: String, seeds: u64, of: u64 } =>
            "unfinished-shard" ("part {number}, `{path}`, ended early ({why}): {seeds} of its {of} seeds were run") ("")
            ("run it again, with more time or memory");
        /// Its numbers cannot be those of a part.
        Unsound =>
            "damaged-shard" ("the numbers in `{path}` cannot be those of a part") ("") ("run the part again");
        /// A seed shows nothing that is said to.
        NotShown { seed: u64 } =>
            "damaged-shard" ("one of the reports says that seed {seed} shows a defect, and it does not") ("")
            ("were the parts run by the same version of warpstep?");
    }
}

/// What all parts of a hunt come to, as a checkpoint of the whole has it; `whole` is the hunt, whose part does not matter.
///
/// # Errors
/// Why they are not all the parts of it, and which of them says so.
pub fn join(parts: &[Part], whole: &Whole, keep_going: bool) -> Result<HuntState, (usize, ShardError)> {
    let mut sorted: Vec<(usize, &Part, &Whole)> = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        let own = part.shard.as_ref().ok_or((k, ShardError::NoShard))?;
        fits(own, whole).map_err(|error| (k, error))?;
        let of = sorted.first().map_or(own.of, |(_, _, first)| first.of);
        if own.of != of {
            return Err((k, ShardError::OtherDivision { of: own.of, first: of }));
        }
        if sorted.iter().any(|(_, _, other)| other.number == own.number) {
            return Err((k, ShardError::Double { number: own.number }));
        }
        sorted.push((k, part, own));
    }
    sort::sort_by_key(&mut sorted, |(_, _, own)| own.number);
    let of = sorted.first().map_or(1, |(_, _, own)| own.of);
    let missing = |number: &u32| !sorted.iter().any(|(_, _, own)| own.number == *number);
    let numbers: Vec<u32> = (1..=of).filter(missing).collect();
    if !numbers.is_empty() {
        return Err((0, ShardError::Missing { numbers, of }));
    }
    let all = whole.first_seed..whole.first_seed.saturating_add(whole.seeds);
    let mut state =
        HuntState { options: whole.options.clone(), from: all.start, next: all.end, limited: 0, found: Vec::new() };
    for (k, part, own) in sorted {
        let seeds = Shard { number: own.number, of }.seeds(&all);
        let found = found(part, own.number, &seeds, keep_going).map_err(|error| (k, error))?;
        state.limited += part.limited;
        state.found.extend(&found);
        if let (false, Some((seed, _))) = (keep_going, found.first()) {
            // A hunt ends at its first defect: parts behind it would not have been run.
            state.next = seed + 1;
            break;
        }
    }
    Ok(state)
}

/// Whether a part is one of a hunt.
fn fits(own: &Whole, whole: &Whole) -> Result<(), ShardError> {
    let differs = [
        (own.program != whole.program, "the program"),
        (own.setup != whole.setup, "what is launched, or on what"),
        (own.options != whole.options, "its options (strategy, limits, checks, --keep-going)"),
        (own.first_seed != whole.first_seed || own.seeds != whole.seeds, "its seeds"),
    ];
    match differs.into_iter().find(|(differs, _)| *differs) {
        Some((_, what)) => Err(ShardError::Other { what }),
        None if !(1..=own.of).contains(&own.number) => Err(ShardError::Unsound),
        None => Ok(()),
    }
}

/// What a part has found by its seeds.
fn found(part: &Part, number: u32, seeds: &Range<u64>, keep_going: bool) -> Result<Vec<(u64, u64)>, ShardError> {
    let of = seeds.end - seeds.start;
    let found: Vec<(u64, u64)> = part.findings.iter().filter_map(|f| Some((f.seed?, f.times))).collect();
    if part.ended != "done" {
        return Err(ShardError::Ended { number, why: part.ended.clone(), seeds: part.seeds, of });
    }
    // Where the default schedule showed a defect, a part that was to end there ran no seeds.
    let by_default = part.findings.iter().any(|f| f.seed.is_none());
    let run = match found.first() {
        _ if by_default && !keep_going => 0,
        Some((seed, _)) if !keep_going => seed.saturating_sub(seeds.start).saturating_add(1),
        _ => of,
    };
    let times = found.iter().try_fold(0u64, |sum, (_, times)| sum.checked_add(*times));
    let inside = found.iter().all(|(seed, times)| seeds.contains(seed) && *times > 0);
    let sound = part.seeds == run
        && part.limited <= run
        && times.is_some_and(|times| times <= run)
        && inside
        && (keep_going || found.len() <= 1);
    if sound { Ok(found) } else { Err(ShardError::Unsound) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(number: u32, of: u32) -> Whole {
        let text = |text: &str| text.to_owned();
        Whole { number, of, first_seed: 10, seeds: 10, program: text("p"), setup: text("s"), options: text("o") }
    }

    fn part(number: u32, of: u32, seeds: u64, findings: &[(u64, u64)]) -> Part {
        let findings = findings.iter().map(|(seed, times)| Found { seed: Some(*seed), times: *times }).collect();
        Part { shard: Some(whole(number, of)), ended: "done".into(), seeds, limited: 1, findings }
    }

    /// The seeds, how many reached a limit, and what was found.
    type Joined = (Range<u64>, u64, Vec<(u64, u64)>);

    fn joined(parts: &[Part], keep_going: bool) -> Result<Joined, (usize, ShardError)> {
        join(parts, &whole(1, 1), keep_going).map(|state| (state.from..state.next, state.limited, state.found))
    }

    #[test]
    fn parts_are_all_the_seeds() {
        for of in [1, 2, 3, 7, 20] {
            let parts = (1..=of).map(|number| Shard { number, of }.seeds(&(5..16)));
            let all: Vec<u64> = parts.flatten().collect();
            assert_eq!(all, (5..16).collect::<Vec<_>>(), "{of}");
        }
        assert_eq!(Shard { number: 2, of: 2 }.seeds(&(0..u64::MAX)), u64::MAX / 2..u64::MAX);
        assert_eq!(Shard::named("2/3"), Some(Shard { number: 2, of: 3 }));
        assert!(["", "2", "0/3", "4/3", "1/0", "-1/2", "1/2/3"].iter().all(|text| Shard::named(text).is_none()));
    }

    #[test]
    fn the_first_defect_is_that_of_the_smallest_seed() {
        // Given in any order; the third part has a defect, too, which a hunt would not have come to.
        let parts = [part(3, 3, 1, &[(16, 1)]), part(1, 3, 3, &[]), part(2, 3, 2, &[(14, 1)])];
        assert_eq!(joined(&parts, false), Ok((10..15, 2, vec![(14, 1)])));
        let parts = [part(1, 2, 5, &[(11, 3)]), part(2, 2, 5, &[(15, 2), (17, 1)])];
        assert_eq!(joined(&parts, true), Ok((10..20, 2, vec![(11, 3), (15, 2), (17, 1)])));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let (one, two) = (part(1, 2, 5, &[]), part(2, 2, 5, &[]));
        assert_eq!(joined(&[one.clone(), one.clone()], false), Err((1, ShardError::Double { number: 1 })));
        let missing = ShardError::Missing { numbers: vec![1], of: 2 };
        assert_eq!(joined(std::slice::from_ref(&two), false), Err((0, missing)));
        let division = ShardError::OtherDivision { of: 3, first: 2 };
        assert_eq!(joined(&[one.clone(), part(2, 3, 3, &[])], false), Err((1, division)));
        assert_eq!(joined(&[Part { shard: None, ..one.clone() }], false), Err((0, ShardError::NoShard)));
        let early = Part { ended: "time".into(), seeds: 2, ..two.clone() };
        let ended = ShardError::Ended { number: 2, why: "time".into(), seeds: 2, of: 5 };
        assert_eq!(joined(&[one.clone(), early], false), Err((1, ended)));
        let changes: [fn(&mut Whole); 4] =
            [|w| w.program.push('x'), |w| w.setup.push('x'), |w| w.options.push('x'), |w| w.seeds = 9];
        for change in changes {
            let mut other = two.clone();
            change(other.shard.as_mut().unwrap());
            assert!(matches!(joined(&[one.clone(), other], false), Err((1, ShardError::Other { .. }))));
        }
        // Fewer seeds than the part has, a seed of another part, more times than seeds, more limits than seeds.
        for wrong in [part(2, 2, 4, &[]), part(2, 2, 5, &[(11, 1)]), part(2, 2, 5, &[(15, 9)])] {
            assert_eq!(joined(&[one.clone(), wrong], true), Err((1, ShardError::Unsound)));
        }
        let limited = Part { limited: 6, ..two };
        assert_eq!(joined(&[one, limited], false), Err((1, ShardError::Unsound)));
    }

    #[test]
    fn a_defect_of_the_default_schedule_leaves_no_seeds() {
        let default =
            |number| Part { limited: 0, findings: vec![Found { seed: None, times: 1 }], ..part(number, 2, 0, &[]) };
        assert_eq!(joined(&[default(1), default(2)], false), Ok((10..20, 0, Vec::new())));
    }
}
