//! Reads that see what memory holds in the end: those of a thread that goes around a loop for ever; and threads of which it does not matter
//! which one does.

use crate::axiom::{Axiom, Claim, Model, Node, NodeId, Role};
use crate::base::Span;

/// The set of reads that see the coherence-last write.
pub(super) const LASTING: &str = "LASTING";

/// A model with the axiom that reads of [`LASTING`] see the coherence-last write.
pub(super) fn lasting(model: &Model) -> Model {
    fn index(names: &mut Vec<String>, name: &str) -> u32 {
        let at = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }
    let mut model = model.clone();
    let (set, fr) = (index(&mut model.sets, LASTING), index(&mut model.relations, "fr"));
    let mut node = |node: Node| {
        let at = model.nodes.iter().position(|known| *known == node).unwrap_or_else(|| {
            model.is_relation.push(node.is_relation());
            model.nodes.push(node);
            model.nodes.len() - 1
        });
        NodeId(u32::try_from(at).unwrap_or(u32::MAX))
    };
    let set = node(Node::BaseSet(set));
    let (from, fr) = (node(Node::Identity(set)), node(Node::BaseRelation(fr)));
    let of = node(Node::Sequence(from, fr));
    let (name, role, claim) = ("lasting".to_owned(), Role::Axiom, Claim::Empty);
    model.axioms.push(Axiom { name, role, negated: false, claim, of, span: Span::default() });
    model
}

/// The threads whose places one may take.
pub(super) fn orbit(thread: usize, symmetries: &[Vec<usize>]) -> Vec<usize> {
    let mut all = vec![thread];
    let mut next = 0;
    while let Some(thread) = all.get(next).copied() {
        next += 1;
        for to in symmetries.iter().map(|to| to[thread]) {
            if !all.contains(&to) {
                all.push(to);
            }
        }
    }
    all
}

/// Ways in which the threads of two groups of one size may change places: so many that the first one of the first group takes the place of each
/// of the other. Each is pairs of threads.
pub(super) fn exchanges(one: &[usize], other: &[usize]) -> Vec<Vec<(usize, usize)>> {
    let turned = |by: usize| one.iter().copied().zip(other.iter().copied().cycle().skip(by)).collect();
    (0..other.len()).map(turned).collect()
}
