//! Labels, which may be named before they are there: what waits for their places.

use super::function::FnLower;
use super::symbol::{Fix, Sym};
use crate::base::Pc;
use crate::program::env::{Init, Preload};
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::ptx::tree::Name;

impl FnLower<'_, '_> {
    /// The number of a label that is visible here.
    pub(super) fn label(&mut self, name: Name) -> Option<u32> {
        if let Sym::Label(number) = self.lookup(name)? { Some(number) } else { None }
    }

    /// A label without a name.
    pub(super) fn new_label(&mut self) -> u32 {
        self.labels.push(0);
        u32::try_from(self.labels.len() - 1).unwrap_or(u32::MAX)
    }

    /// Puts a label here.
    pub(super) fn place(&mut self, label: u32) {
        self.labels[label as usize] = self.here();
    }

    /// The address of a label, as a preloaded 64-bit value.
    pub(super) fn label_address(&mut self, label: u32) -> Option<Slot> {
        let slot = self.slots(Class::Q, 1)?;
        self.fixes.push((label, Fix::Preload(self.code.preloads.len())));
        self.code.preloads.push(Preload { class: Class::Q, slot, init: Init::Code(Pc(0)) });
        Some(slot)
    }

    /// Makes the next instruction's `imm` the place of a label.
    pub(super) fn target(&mut self, label: u32) {
        self.fixes.push((label, Fix::Target(self.code.code.len())));
    }

    /// A table of labels.
    pub(super) fn table(&mut self, labels: &[u32]) -> u32 {
        let table = self.code.tables.len();
        self.code.tables.push(vec![0; labels.len()]);
        self.fixes.extend(labels.iter().enumerate().map(|(i, label)| (*label, Fix::Table(table, i))));
        u32::try_from(table).unwrap_or(u32::MAX)
    }

    /// Puts labels' places where they are needed.
    pub(super) fn resolve(&mut self) {
        for (label, fix) in std::mem::take(&mut self.fixes) {
            let at = self.labels[label as usize];
            match fix {
                Fix::Target(i) => self.code.code[i].imm = at,
                Fix::Preload(i) => self.code.preloads[i].init = Init::Code(Pc(at)),
                Fix::Table(table, i) => self.code.tables[table][i] = at,
            }
        }
    }
}
