//! Definitions: what stands in one `let`, and recursive ones as groups.

use super::error::CatErrorKind;
use super::lower::Lowering;
use super::scope::{Scope, Value};
use super::tree::{Definition, Let};
use crate::base::sort;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::FxHashMap;

impl<'t> Lowering<'t> {
    /// Makes the definitions of a `let`.
    pub(super) fn define(&mut self, made: &'t Let, scope: &mut Scope<'t>) {
        self.once(made.definitions.iter().map(|d| &d.name), scope);
        if !made.recursive {
            let values: Vec<Value> = made.definitions.iter().map(|d| self.definition(d, scope)).collect();
            for (definition, value) in made.definitions.iter().zip(values) {
                self.definitions.bind(scope, &definition.name.name, value);
            }
            return;
        }
        for (group, circular) in circles(&made.definitions) {
            let functions = group.iter().filter(|d| d.parameters.is_some());
            match &group[..] {
                [one] if !circular => {
                    let value = self.definition(one, scope);
                    self.definitions.bind(scope, &one.name.name, value);
                }
                _ if functions.clone().next().is_some() => {
                    for function in functions {
                        let kind = CatErrorKind::CallsItself { name: function.name.name.clone() };
                        self.wrong(scope, function.name.span, kind);
                    }
                    for definition in group {
                        self.definitions.bind(scope, &definition.name.name, Value::Wrong);
                    }
                }
                _ => self.group(&group, scope),
            }
        }
    }

    fn definition(&mut self, definition: &'t Definition, scope: &mut Scope<'t>) -> Value {
        if definition.parameters.is_some() {
            return self.function(definition, scope);
        }
        // What is defined inside of it is not seen by others.
        self.value(&definition.body, scope)
    }

    /// Relations that are defined by each other.
    fn group(&mut self, group: &[&'t Definition], scope: &mut Scope<'t>) {
        let names = self.builder.begin(group.len());
        let mut bound = Vec::new();
        for (definition, node) in group.iter().zip(&names) {
            bound.push(self.definitions.bind(scope, &definition.name.name, Value::Relation(*node)));
        }
        let mut bodies = Vec::new();
        for definition in group {
            match self.value(&definition.body, scope) {
                Value::Relation(body) => bodies.push(body),
                Value::Set(_) => {
                    let kind = CatErrorKind::RecursiveSet { name: definition.name.name.clone() };
                    self.wrong(scope, definition.body.span, kind);
                }
                _ => {}
            }
        }
        let values = if bodies.len() < group.len() {
            self.builder.abandon();
            vec![Value::Wrong; group.len()]
        } else {
            match self.builder.end(bodies) {
                Ok(nodes) => nodes.into_iter().map(Value::Relation).collect(),
                Err(refusal) => {
                    let value = self.refused(refusal, group[0].name.span, scope, "");
                    vec![value; group.len()]
                }
            }
        };
        for (bound, value) in bound.into_iter().zip(values) {
            self.definitions.change(scope, bound, value);
        }
    }
}

/// Definitions of a `let rec`, those first that others mention: each by itself or with all that it mentions and that mention it,
/// and whether it does so at all.
fn circles(definitions: &[Definition]) -> Vec<(Vec<&Definition>, bool)> {
    let numbers: FxHashMap<&str, usize> =
        definitions.iter().enumerate().map(|(k, d)| (d.name.name.as_str(), k)).collect();
    let mut graph: DiGraphMap<usize, ()> = DiGraphMap::new();
    for (k, definition) in definitions.iter().enumerate() {
        graph.add_node(k);
        let parameter = |name: &str| definition.parameters.iter().flatten().any(|p| p.name == name);
        definition.body.kind.names(&mut |name| {
            if let Some(other) = numbers.get(name).filter(|_| !parameter(name)) {
                graph.add_edge(k, *other, ());
            }
        });
    }
    let circle = |mut group: Vec<usize>| {
        sort::sort(&mut group);
        let circular = group.len() > 1 || graph.contains_edge(group[0], group[0]);
        (group.into_iter().map(|k| &definitions[k]).collect(), circular)
    };
    tarjan_scc(&graph).into_iter().map(circle).collect()
}
