//! What of a model has to be computed, and when: which nodes change with choices, and which bounds of them axioms look at.

use super::frame::{Base, base};
use super::model::{Group, Model, Node, Role};

/// What is known of a model before any execution.
#[derive(Debug)]
pub(super) struct Cone {
    /// Whether a node depends on a choice.
    pub(super) dynamic: Vec<bool>,
    /// Whether some axiom looks at the pairs that a node has for certain.
    pub(super) must: Vec<bool>,
    /// Whether some axiom looks at the pairs that a node may have.
    pub(super) may: Vec<bool>,
    /// The same with flags.
    pub(super) may_flags: Vec<bool>,
    /// The group that begins at a node.
    pub(super) groups: Vec<Option<usize>>,
}

/// The nodes that a node is made of, each with whether more of it makes more of the node.
fn operands(node: &Node) -> impl Iterator<Item = (usize, bool)> + use<> {
    let differs = matches!(node, Node::SetDifference(..) | Node::Difference(..));
    node.operands().enumerate().map(move |(k, of)| (of.index(), !(differs && k == 1)))
}

impl Cone {
    pub(super) fn of(model: &Model) -> Self {
        let count = model.nodes.len();
        let mut groups = vec![None; count];
        for (k, group) in model.groups.iter().enumerate() {
            groups[group.first.index()] = Some(k);
        }
        let dynamic = dynamic(model);
        let wanted = |roles: &[Role]| {
            let (mut must, mut may) = (vec![false; count], vec![false; count]);
            for axiom in model.axioms.iter().filter(|axiom| roles.contains(&axiom.role)) {
                // A claim is broken for certain by what is there for certain, its opposite by what cannot be there.
                let side = if axiom.negated { &mut may } else { &mut must };
                side[axiom.of.index()] = true;
            }
            spread(model, &mut must, &mut may);
            (must, may)
        };
        let (must, may) = wanted(&[Role::Axiom]);
        let (_, may_flags) = wanted(&[Role::Axiom, Role::Flag]);
        Self { dynamic, must, may, may_flags, groups }
    }
}

/// Whether each node depends on a choice.
fn dynamic(model: &Model) -> Vec<bool> {
    let mut found = vec![false; model.nodes.len()];
    // A name of a group depends on what its body does: as often as there are groups within reach of it.
    loop {
        let before = found.clone();
        for (k, node) in model.nodes.iter().enumerate() {
            found[k] |= match node {
                Node::BaseRelation(name) => base(&model.relations[*name as usize]) != Base::Static,
                _ => node.operands().any(|of| found[of.index()]),
            };
        }
        for Group { names, bodies, .. } in &model.groups {
            for (name, body) in names.iter().zip(bodies) {
                found[name.index()] |= found[body.index()];
            }
        }
        if found == before {
            return found;
        }
    }
}

/// From what is looked at to what that is made of.
fn spread(model: &Model, must: &mut [bool], may: &mut [bool]) {
    loop {
        let before = (must.to_vec(), may.to_vec());
        for (k, node) in model.nodes.iter().enumerate().rev() {
            for (of, grows) in operands(node) {
                must[of] |= if grows { must[k] } else { may[k] };
                may[of] |= if grows { may[k] } else { must[k] };
            }
        }
        for Group { names, bodies, .. } in &model.groups {
            for (name, body) in names.iter().zip(bodies) {
                must[body.index()] |= must[name.index()];
                may[body.index()] |= may[name.index()];
            }
        }
        if *must == before.0[..] && *may == before.1[..] {
            return;
        }
    }
}
