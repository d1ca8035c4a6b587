//! How a pair of a relation comes about: a chain of the relations that people know.

use super::{Evaluation, Node, NodeId, Value};

/// A pair of a relation that has a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The event that it leads from.
    pub from: usize,
    /// The event that it leads to.
    pub to: usize,
    /// The relation: one that executions give, or one that the model shows.
    pub name: String,
}

/// What says of two events where they are, not what happened: no reason by itself.
const PLACES: &[&str] =
    &["loc", "vloc", "int", "ext", "id", "sr", "scta", "ssg", "swg", "sqf", "mixed", "si", "*", "…"];

/// Definitions are followed so deep. One that is recursive may have itself as its first reason.
const DEEP: usize = 200;

impl Evaluation<'_> {
    /// Why a pair is in the relation of a node: a chain of links from one event to the other. Sets that events must be in are left out.
    #[must_use]
    pub fn chain(&self, node: NodeId, from: usize, to: usize) -> Vec<Link> {
        self.links(node, from, to, 0)
    }

    /// The name that a pair of a node is told by: what the model shows is not taken apart.
    fn shown(&self, node: NodeId) -> Option<String> {
        let shown = self.model.shows.iter().find(|(_, of)| *of == node).map(|(name, _)| name.clone());
        shown.or_else(|| match self.model.nodes[node.index()] {
            Node::BaseRelation(k) => Some(self.model.relations[k as usize].clone()),
            _ => None,
        })
    }

    fn has(&self, node: NodeId, from: usize, to: usize) -> bool {
        match self.value(node) {
            Value::Relation(relation) => relation.contains(from, to),
            Value::Set(set) => from == to && set.contains(from),
        }
    }

    /// A link of its own, where nothing more is to be said.
    fn plain(&self, node: NodeId, from: usize, to: usize) -> Vec<Link> {
        let defined = || self.model.names.iter().find(|(_, of)| *of == node).map(|(name, _)| name.clone());
        vec![Link { from, to, name: self.shown(node).or_else(defined).unwrap_or_else(|| "…".to_owned()) }]
    }

    fn links(&self, node: NodeId, from: usize, to: usize, depth: usize) -> Vec<Link> {
        if depth > DEEP || self.shown(node).is_some() {
            return self.plain(node, from, to);
        }
        let deeper = |node: NodeId, from: usize, to: usize| self.links(node, from, to, depth + 1);
        match self.model.nodes[node.index()] {
            Node::Identity(_) => Vec::new(),
            Node::Product(..) => vec![Link { from, to, name: "*".to_owned() }],
            Node::Union(a, b) => deeper(if self.has(a, from, to) { a } else { b }, from, to),
            Node::Difference(a, _) => deeper(a, from, to),
            Node::Intersection(a, b) => {
                let (one, two) = (deeper(a, from, to), deeper(b, from, to));
                let places = |links: &[Link]| links.iter().filter(|link| PLACES.contains(&&*link.name)).count();
                let reasons = |links: &[Link]| links.len() - places(links);
                let better =
                    (reasons(&one) == 0 && reasons(&two) > 0) || (reasons(&two) > 0 && places(&two) < places(&one));
                if better { two } else { one }
            }
            Node::Sequence(a, b) => {
                let (first, second) = (self.relation(a), self.relation(b));
                let Some(middle) = first.from(from).find(|middle| second.contains(*middle, to)) else {
                    return self.plain(node, from, to);
                };
                let mut links = deeper(a, from, middle);
                links.extend(deeper(b, middle, to));
                // That an event is in some set is no step.
                links.retain(|link| link.from != link.to || !PLACES.contains(&&*link.name));
                links
            }
            Node::Inverse(a) => {
                let mut links = deeper(a, to, from);
                links.reverse();
                let turned = |link: Link| Link { from: link.to, to: link.from, name: format!("{}^-1", link.name) };
                links.into_iter().map(turned).collect()
            }
            Node::Optional(a) if self.has(a, from, to) => deeper(a, from, to),
            Node::Optional(_) => Vec::new(),
            Node::Plus(a) => {
                let Some(way) = self.relation(a).path(from, to) else { return self.plain(node, from, to) };
                let ends = way.iter().copied().skip(1).chain([to]);
                way.iter().zip(ends).flat_map(|(one, two)| deeper(a, *one, two)).collect()
            }
            Node::Recursive(_) => {
                let groups = self.model.groups.iter();
                let body = groups.flat_map(|g| g.names.iter().zip(&g.bodies)).find(|(name, _)| **name == node);
                body.map_or_else(|| self.plain(node, from, to), |(_, body)| deeper(*body, from, to))
            }
            _ => self.plain(node, from, to),
        }
    }
}
