//! The objects that addresses are derived from.

use crate::verdict::{AllocKind, Extent, Inside, Named};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;

/// What a value was made from: a number that says "nothing", "that is no longer known", or an object.
pub(in crate::check) type Id = u32;
/// From no address.
pub(in crate::check) const NONE: Id = 0;
/// From addresses of several objects.
pub(in crate::check) const LOST: Id = 1;
/// The first object's number.
const FIRST: Id = 2;

/// An object: a buffer, a variable, a parameter, a block of a stack or of the heap.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::check) struct Object {
    /// What it is.
    pub kind: AllocKind,
    /// Its first byte, in the generic address space.
    pub start: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its name, or "".
    pub name: String,
}

impl Object {
    /// Its addresses.
    pub const fn extent(&self) -> Extent {
        Extent { first: self.start, bytes: self.bytes }
    }
}

/// All objects that were met.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct Objects {
    /// By number, less [`FIRST`].
    all: IndexSet<Object, FxBuildHasher>,
    /// Those of device memory, by address; what was freed as long as nothing else lies there.
    device: BTreeMap<u64, Id>,
}

impl Objects {
    /// The object of a number; none for [`NONE`] and [`LOST`].
    pub fn get(&self, id: Id) -> Option<&Object> {
        self.all.get_index(id.checked_sub(FIRST)? as usize)
    }

    /// The number of an object.
    pub fn number(&mut self, object: Object) -> Id {
        let (at, _) = self.all.insert_full(object);
        u32::try_from(at).map_or(LOST, |at| at + FIRST)
    }

    /// Takes note of the buffers and variables that a launch finds.
    pub fn launch(&mut self, names: &[Named]) {
        for Named { name, kind, address, bytes, .. } in names {
            let id = self.number(Object { kind: *kind, start: *address, bytes: *bytes, name: name.clone() });
            self.device.insert(*address, id);
        }
    }

    /// Takes note of a block that the device's `malloc` made.
    pub fn heap(&mut self, start: u64, bytes: u64) -> Id {
        let id = self.number(Object { kind: AllocKind::Heap, start, bytes, name: String::new() });
        self.device.insert(start, id);
        id
    }

    /// The object of device memory that begins at an address.
    pub fn at(&self, address: u64) -> Option<&Object> {
        self.device.get(&address).and_then(|id| self.get(*id))
    }

    /// The object of device memory that an address points into, or just behind: that of a pointer which nobody saw being
    /// made.
    pub fn of_value(&self, address: u64) -> Id {
        let Some((start, id)) = self.device.range(..=address).next_back() else { return NONE };
        let bytes = self.get(*id).map_or(0, |o| o.bytes);
        if address - start <= bytes { *id } else { NONE }
    }

    /// The object of device memory that an address lies in.
    pub fn hit(&self, address: u64) -> Option<Inside> {
        let object = self.get(self.of_value(address))?;
        let offset = address.wrapping_sub(object.start);
        (offset < object.bytes).then(|| Inside { name: object.name.clone(), kind: object.kind, offset })
    }
}

/// What something is derived from that is made of two values.
pub(in crate::check) const fn both(a: Id, b: Id) -> Id {
    match (a, b) {
        (NONE, other) | (other, NONE) => other,
        (a, b) if a == b => a,
        _ => LOST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, address: u64, bytes: u64) -> Named {
        Named { name: name.into(), kind: AllocKind::Buffer, address, bytes, unwritten: None }
    }

    #[test]
    fn a_value_belongs_to_what_it_points_into_or_just_behind() {
        let mut objects = Objects::default();
        objects.launch(&[named("a", 1000, 24), named("b", 1024, 8)]);
        let (a, b) = (objects.of_value(1000), objects.of_value(1024));
        assert_eq!((objects.of_value(1023), objects.of_value(1032)), (a, b));
        assert_eq!((objects.of_value(999), objects.of_value(1033)), (NONE, NONE));
        objects.launch(&[named("a", 1000, 24), named("b", 1024, 8)]);
        assert_eq!(objects.of_value(1000), a, "the same buffer in the next launch");
        assert_eq!(objects.hit(1024).map(|i| (i.name, i.offset)), Some(("b".into(), 0)));
        assert_eq!(objects.hit(1032), None);
    }

    #[test]
    fn two_origins_are_none() {
        assert_eq!([both(NONE, 5), both(5, NONE), both(5, 5), both(5, 6), both(NONE, LOST)], [5, 5, 5, LOST, LOST]);
    }
}
