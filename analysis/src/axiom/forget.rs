//! Whether a model cares that accesses to some locations are left out of an execution: whether the rest of one that it allows is
//! allowed as well.
//!
//! Leaving events out leaves pairs out of relations, and axioms say that something is *not* there. Only what is taken away (`r \ s`) could
//! come back. So each relation is exact (the rest of it is what it is of the rest), or has no more than that, or may have more. Locations
//! are left out as wholes: what goes from an access to another of the same location loses no step between.

use super::frame::{Base, base};
use super::model::{Axiom, Model, Node, Role};

/// What becomes of a set or relation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Left {
    /// The rest of it is what it is of the rest.
    Exact,
    /// It may be less than that.
    Less,
    /// It may be more.
    More,
}

/// A node: what becomes of it, and whether it relates only what accesses one location, or is the same.
type Known = (Left, bool);

/// Whether what is left of an execution that the model allows is allowed, when all accesses of some locations are left out.
pub(crate) fn forgets(model: &Model) -> bool {
    // A fixed point grows from nothing: its parts are not looked at one by one.
    if !model.groups.is_empty() {
        return false;
    }
    let mut known: Vec<Known> = Vec::with_capacity(model.nodes.len());
    for node in &model.nodes {
        known.push(becomes(model, node, &known));
    }
    let fine = |axiom: &Axiom| !axiom.negated && known[axiom.of.index()].0 != Left::More;
    model.axioms.iter().filter(|axiom| axiom.role == Role::Axiom).all(fine)
}

fn becomes(model: &Model, node: &Node, known: &[Known]) -> Known {
    let of = |id: &super::model::NodeId| known[id.index()];
    let both = |a: Known, b: Known| a.0.max(b.0);
    // What is taken away must not shrink.
    let without = |a: Known, b: Known| if b.0 == Left::Exact { a.0 } else { Left::More };
    // A step between may be left out, unless it is at a location that one of the ends is at.
    let shrunk = |left: Left, local: bool| if local { left } else { left.max(Left::Less) };
    match node {
        Node::BaseSet(_) | Node::Universe => (Left::Exact, false),
        Node::BaseRelation(number) => {
            let name = &model.relations[*number as usize];
            let local = matches!(base(name), Base::Fr)
                || ["rf", "co", "loc", "vloc", "po-loc", "rmw", "id", "parts", "mixed"].contains(&&**name);
            (Left::Exact, local)
        }
        Node::SetUnion(a, b) | Node::SetIntersection(a, b) => (both(of(a), of(b)), false),
        Node::SetDifference(a, b) => (without(of(a), of(b)), false),
        Node::Domain(a) | Node::Range(a) => (shrunk(of(a).0, of(a).1), false),
        Node::Product(a, b) => (both(of(a), of(b)), false),
        Node::Identity(a) => (of(a).0, true),
        Node::Union(a, b) => (both(of(a), of(b)), of(a).1 && of(b).1),
        Node::Intersection(a, b) => (both(of(a), of(b)), of(a).1 || of(b).1),
        Node::Difference(a, b) => (without(of(a), of(b)), of(a).1),
        Node::Sequence(a, b) => (shrunk(both(of(a), of(b)), of(a).1 || of(b).1), of(a).1 && of(b).1),
        Node::Inverse(a) | Node::Optional(a) => of(a),
        Node::Plus(a) => (shrunk(of(a).0, of(a).1), of(a).1),
        Node::Recursive(_) => (Left::More, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axiom::cat;
    use crate::base::FileId;

    fn of(text: &str) -> bool {
        forgets(&cat::compile("it", FileId(0), text, &mut |_| Err("no files here".to_owned())).unwrap())
    }

    #[test]
    fn the_models_of_ours_do() {
        // Whether tests in OpenCL, or of wavefronts, end is not asked.
        let asked = cat::BUILTIN.iter().filter(|name| !name.starts_with("rsp") && !name.ends_with("lsc"));
        assert_eq!(asked.clone().count(), 5);
        assert!(asked.into_iter().all(|name| forgets(cat::builtin(name).unwrap())));
    }

    #[test]
    fn what_is_taken_away_and_may_shrink_is_noticed() {
        assert!(of("acyclic po | rf | co | fr"));
        assert!(of("empty rmw & (fr; co)"));
        // A way through another location may be gone.
        assert!(!of("empty po \\ (po; po)"));
        assert!(!of("empty po \\ ([W]; rf; po)+"));
        assert!(!of("~empty rf"));
        assert!(!of("let rec a = po | a; a acyclic a"));
        // A way through the same location is not.
        assert!(of("empty co \\ (co; co)"));
        assert!(of("empty (rf^-1; co) \\ fr"));
        assert!(of("empty [R]; po \\ po-loc"));
        assert!(!of("empty [domain(po)] \\ [domain(po)]"));
        assert!(of("empty [M] \\ [range(rf) | W]"));
    }
}
