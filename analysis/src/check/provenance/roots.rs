//! What roots are in a launch.

use super::objects::{Id, LOST, NONE, Object, Objects};
use super::plan::{Plan, Root, State};
use crate::base::number;
use crate::program::env::{Area, FuncId, Function, ProgEnv, Within};
use crate::verdict::{AllocKind, Extent};
use std::sync::Arc;

/// What a root is in a launch.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) enum Resolved {
    /// An object: its number and where it lies; or [`NONE`] or [`LOST`].
    Object(Id, Extent),
    /// A variable of the frame of a function.
    Framed(Within, u32),
}

impl Resolved {
    /// The object that it is, the same in all lanes.
    pub fn object(self) -> Option<(Id, Extent)> {
        match self {
            Self::Object(NONE | LOST, _) | Self::Framed(..) => None,
            Self::Object(id, extent) => Some((id, extent)),
        }
    }
}

/// A launch.
#[derive(Clone, Debug)]
pub(in crate::check) struct Launched {
    pub env: Arc<ProgEnv>,
    /// Its kernel.
    pub entry: u32,
    /// Its arguments.
    pub params: Vec<u8>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Where the program's variables lie.
    pub variables: Vec<u64>,
}

impl Launched {
    /// Bytes of an address.
    pub fn pointer(&self) -> u32 {
        if self.env.target.address_bits == 32 { 4 } else { 8 }
    }

    /// A function by its number.
    pub fn function(&self, number: u32) -> Option<&Function> {
        self.env.function(FuncId(number))
    }

    /// What the roots of a plan are, by number.
    pub fn roots(&self, plan: &Plan, objects: &mut Objects) -> Vec<Resolved> {
        plan.roots.iter().map(|root| self.resolve(*root, objects)).collect()
    }

    fn resolve(&self, root: Root, objects: &mut Objects) -> Resolved {
        let id = match root {
            Root::None => NONE,
            Root::Lost => LOST,
            Root::Argument(offset) => {
                // Another kernel may have more arguments than this one.
                let from = offset as usize;
                let bytes = self.params.get(from..from + self.pointer() as usize);
                bytes.map_or(NONE, |bytes| objects.of_value(number(bytes)))
            }
            Root::Variable(index) => objects.of_value(self.variables[index as usize]),
            Root::DynamicShared => {
                let at = self.function(self.entry).map_or(0, Function::dynamic_shared_at);
                let of = Within { area: Area::Shared, first: at, bytes: self.dynamic_shared };
                objects.number(self.variable(of, 0, self.entry))
            }
            Root::Within(of, function) if of.area == Area::Frame => return Resolved::Framed(of, function),
            Root::Within(of, function) => objects.number(self.variable(of, 0, function)),
        };
        Resolved::Object(id, objects.get(id).map_or_else(Extent::default, Object::extent))
    }

    /// A variable of a window as an object; `base`: where the frame begins that it is in.
    pub fn variable(&self, of: Within, base: u64, function: u32) -> Object {
        let map = self.env.addresses();
        let owner = self.function(function);
        let it = |offset: u32, bytes: u32| (offset, bytes) == (of.first, of.bytes);
        let parameter = || owner?.params.iter().find(|p| it(p.offset, p.bytes)).map(|p| p.name.clone());
        let local = || owner?.locals.iter().find(|v| it(v.offset, v.bytes)).map(|v| v.name.clone());
        let (kind, window, name) = match of.area {
            Area::Shared => {
                let inside = self.function(self.entry).map(|f| f.inside_shared(of.first.into()));
                (AllocKind::Shared, map.shared, inside.map(|i| i.name))
            }
            Area::Local => (AllocKind::Local, map.local, local()),
            Area::Frame => (AllocKind::Local, map.local + base, local().or_else(parameter)),
            Area::Param => (AllocKind::Param, map.param, parameter()),
        };
        let start = window + u64::from(of.first);
        Object { kind, start, bytes: of.bytes.into(), name: name.unwrap_or_default() }
    }
}

/// What an origin is that is the same in all lanes.
pub(in crate::check) fn resolved(roots: &[Resolved], state: State) -> Option<Resolved> {
    match state {
        State::Known(root) => Some(roots[root as usize]),
        State::Varies(_) => None,
    }
}
