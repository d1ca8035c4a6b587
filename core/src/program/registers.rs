//! The names of a function's registers, packed: large modules have hundreds of thousands of them.

use super::instr::Slot;
use super::ops::Class;

/// Registers by name, in the order of their declarations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    /// All names, one after another.
    text: String,
    /// Where each name ends, and the slot it stands for.
    rows: Vec<(u32, Class, Slot)>,
}

impl Registers {
    /// Adds a register of `class` in `slot`; `part` is appended to its name (`.x` of a vector).
    pub fn push(&mut self, name: &str, part: &str, class: Class, slot: Slot) {
        self.text.push_str(name);
        self.text.push_str(part);
        self.rows.push((u32::try_from(self.text.len()).unwrap_or(u32::MAX), class, slot));
    }

    /// Gives back what was reserved for more.
    pub fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.rows.shrink_to_fit();
    }

    /// Name, class and slot of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Class, Slot)> {
        let mut from = 0;
        self.rows.iter().map(move |&(end, class, slot)| {
            let to = end as usize;
            let name = self.text.get(from..to).unwrap_or("");
            from = to;
            (name, class, slot)
        })
    }

    /// The name of the register in a slot.
    #[must_use]
    pub fn name_of(&self, class: Class, slot: Slot) -> Option<&str> {
        self.iter().find(|r| (r.1, r.2) == (class, slot)).map(|r| r.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_in_order() {
        let mut registers = Registers::default();
        registers.push("%r1", "", Class::W, Slot(2));
        registers.push("%v", ".x", Class::Q, Slot(0));
        registers.shrink();
        let all: Vec<_> = registers.iter().collect();
        assert_eq!(all, [("%r1", Class::W, Slot(2)), ("%v.x", Class::Q, Slot(0))]);
        assert_eq!(registers.name_of(Class::Q, Slot(0)), Some("%v.x"));
        assert_eq!(registers.name_of(Class::P, Slot(0)), None);
    }
}
