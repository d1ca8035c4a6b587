//! Whether a condition tells threads apart (D-alike).

use super::tree::{Cond, Relation, Term, TermKind};
use crate::base::sort;

impl Cond {
    /// Whether it says the same when threads change places: `to` says which number takes a number's place.
    pub(super) fn blind_to(&self, to: &dyn Fn(u32) -> u32) -> bool {
        self.canonical(&|number| number) == self.canonical(to)
    }

    /// It as text in which the order of what it joins or compares does not matter, with threads changed for others.
    fn canonical(&self, to: &dyn Fn(u32) -> u32) -> String {
        let term = |term: &Term| match &term.kind {
            TermKind::Register { thread, name } => format!("{}:{name}", to(*thread)),
            TermKind::Location { name, element } => format!("[{name}+{element}]"),
            TermKind::Number(n) => n.to_string(),
        };
        let joined = |list: &[Self], mark: &str| {
            let mut parts: Vec<String> = list.iter().map(|cond| cond.canonical(to)).collect();
            sort::sort(&mut parts);
            format!("({})", parts.join(mark))
        };
        match self {
            Self::Compare(left, relation, right) => {
                let mut sides = [term(left), term(right)];
                if matches!(relation, Relation::Eq | Relation::Ne) {
                    sort::sort(&mut sides);
                }
                format!("{} {} {}", sides[0], relation.name(), sides[1])
            }
            Self::Not(inner) => format!("~({})", inner.canonical(to)),
            Self::And(list) => joined(list, " and "),
            Self::Or(list) => joined(list, " or "),
        }
    }
}
