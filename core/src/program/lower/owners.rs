//! Which variable an access belongs to because the code names it (D-roots): the beginnings of what `origins` follows.

use super::Owner;
use super::function::FnLower;
use super::symbol::{Base, Place};
use crate::program::env::Init;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::ptx::tree::Name;

impl FnLower<'_, '_> {
    /// The slot of an address in a variable that owns the accesses made with it.
    pub(super) fn address_of(&mut self, class: Class, init: Init, owner: Option<u32>) -> Option<Slot> {
        let slot = self.preload(class, init)?;
        if let Some(owner) = owner
            && !self.seeds.contains(&(class, slot, owner))
        {
            self.seeds.push((class, slot, owner));
        }
        Some(slot)
    }

    /// The number of a variable as the owner of accesses. `None`: it has no size of its own, or lies where gaps are.
    pub(super) fn owner(&mut self, place: Place, name: Name) -> Option<u32> {
        let sized = place.bytes > 0 || matches!(place.base, Base::Shared(_) | Base::DynamicShared);
        if !sized || matches!(place.base, Base::Variable(_)) {
            return None;
        }
        // Blocks of parameters of calls use the same places of the frame again.
        if let Some(known) = self.owners.get(&(place.base, name))
            && self.program.owners.get(*known as usize).is_some_and(|o| o.bytes == place.bytes)
        {
            return Some(*known);
        }
        let number = u32::try_from(self.program.owners.len()).ok()?;
        let entry = self.is_entry().then_some(self.id);
        self.owners.insert((place.base, name), number);
        let name = self.unit.names().text(name).to_owned();
        self.program.owners.push(Owner { base: place.base, bytes: place.bytes, name, entry });
        Some(number)
    }
}
