//! Whether a condition tells two threads apart (D-alike).

use super::tree::{Cond, Relation, Term, TermKind};

impl Cond {
    /// Whether it says the same when two threads change places.
    pub(super) fn blind_to(&self, one: u32, other: u32) -> bool {
        self.canonical(None) == self.canonical(Some((one, other)))
    }

    /// It as text in which the order of what it joins or compares does not matter, perhaps with two threads changed for each other.
    fn canonical(&self, swapped: Option<(u32, u32)>) -> String {
        let term = |term: &Term| match (&term.kind, swapped) {
            (TermKind::Register { thread, name }, Some((one, other))) => {
                let thread = if *thread == one {
                    other
                } else if *thread == other {
                    one
                } else {
                    *thread
                };
                format!("{thread}:{name}")
            }
            (TermKind::Register { thread, name }, None) => format!("{thread}:{name}"),
            (TermKind::Location { name, element }, _) => format!("[{name}+{element}]"),
            (TermKind::Number(n), _) => n.to_string(),
        };
        let joined = |list: &[Self], mark: &str| {
            let mut parts: Vec<String> = list.iter().map(|cond| cond.canonical(swapped)).collect();
            parts.sort_unstable();
            format!("({})", parts.join(mark))
        };
        match self {
            Self::Compare(left, relation, right) => {
                let mut sides = [term(left), term(right)];
                if matches!(relation, Relation::Eq | Relation::Ne) {
                    sides.sort_unstable();
                }
                format!("{} {} {}", sides[0], relation.name(), sides[1])
            }
            Self::Not(inner) => format!("~({})", inner.canonical(swapped)),
            Self::And(list) => joined(list, " and "),
            Self::Or(list) => joined(list, " or "),
        }
    }
}
