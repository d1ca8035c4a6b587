//! The properties of the report's chapter 6 in words.

use super::words::{lanes, word};
use crate::base::LaneMask;
use crate::verdict::{Property, Token, Violation};

/// What a property demands.
const fn demand(property: Property) -> &'static str {
    match property {
        Property::Stack(1) => "a break finds a break token on the stack",
        Property::Stack(2) => "a return finds a call token on the stack",
        Property::Stack(3) => "a sync finds a sync or diverge token on top of the stack",
        Property::Stack(4) => "below the diverge tokens on top lies the region's sync token, and holds their lanes",
        Property::Stack(5) => "a sync token on top of the stack is that of this sync",
        Property::Stack(_) => "a call finds a call token with its return address on the stack",
        Property::Active => "an active lane executes the instruction that its thread is at",
        Property::Inactive => "an inactive lane's activation token leads to where its thread goes on",
        Property::Invariant(1) => "an inactive lane that has not exited has an activation token",
        Property::Invariant(2) => "a lane is active, or all have exited",
        Property::Invariant(3) => "every sync, call and break token holds the active lanes",
        Property::Invariant(4) => "every sync, call and break token below its activation token holds a lane",
        Property::Invariant(5) => "an active lane is not disabled",
        Property::Invariant(_) => "every token holds a lane",
    }
}

/// A token, e.g. `(sync, lanes 0-3, @12)`.
pub(super) fn token(t: &Token) -> String {
    format!("({}, {}, @{})", word(t.kind), lanes(t.mask), t.pc)
}

/// The message and the label of a violation.
pub(super) fn words(v: &Violation) -> (String, String) {
    let (name, demand) = (v.property.name(), demand(v.property));
    let message = format!("safety: {name} does not hold for {}: {demand}", lanes(v.lanes));
    let stack: Vec<String> = v.stack.iter().rev().map(token).collect();
    let stack = if stack.is_empty() { "empty".to_owned() } else { stack.join(" :: ") };
    let off = |what, mask: LaneMask| if mask == 0 { String::new() } else { format!("; {what}: {}", lanes(mask)) };
    let [broken, returned, exited] = v.disabled;
    let rule = v.rule.map_or_else(String::new, |r| format!("after {}; ", r.id()));
    let next = v.next.map_or_else(String::new, |pc| format!("alone it would be at @{pc}; "));
    let label = format!(
        "{rule}{next}active: {}{}{}{}; tokens, top first: {stack}",
        lanes(v.active),
        off("waiting for a break token", broken),
        off("waiting for a call token", returned),
        off("exited", exited)
    );
    (message, label)
}

#[cfg(test)]
mod tests {
    use crate::report::exit_code;
    use crate::verdict::{Bug, BugKind, Place, Property, Stop, Violation};

    /// Whoever reads `1` looks for the defect in the program, where there is none.
    #[test]
    fn a_violation_is_an_error_of_ours() {
        let violation = Violation {
            property: Property::Active,
            rule: None,
            lanes: 1,
            next: None,
            active: 1,
            disabled: [0; 3],
            stack: Vec::new(),
        };
        let kind = BugKind::Unsafe(Box::new(violation));
        let stop = Stop::Bug(Box::new(Bug { kind, place: Place::default(), other: None }));
        assert_eq!(exit_code(&stop), 101);
        // Searches do not take it for one of the program's, and nobody can accept it.
        assert!(stop.is_ours() && !stop.kind().is_defect());
    }
}
