//! Labels, which may be named before they are there: what waits for their places.

use super::error::{LowerErrorKind, Lowered};
use super::function::FnLower;
use crate::base::Pc;
use crate::program::env::{Init, Preload};
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::ptx::tree::Ident;

/// What a name that stands for an instruction's place is needed for.
#[derive(Clone, Copy)]
pub(super) enum Fix {
    /// The `imm` of an instruction.
    Target(usize),
    /// A preload.
    Preload(usize),
    /// An entry of a table of `brx`.
    Table(usize, usize),
}

impl FnLower<'_, '_> {
    /// The address of a label, as a preloaded 64-bit value.
    pub(super) fn label_address(&mut self, label: Ident) -> Lowered<Slot> {
        let slot = self.slots(Class::Q, 1)?;
        self.fixes.push((self.scope.block(), label, Fix::Preload(self.code.preloads.len())));
        self.code.preloads.push(Preload { class: Class::Q, slot, init: Init::Code(Pc(0)) });
        Ok(slot)
    }

    /// Makes the next instruction's `imm` the place of a label.
    pub(super) fn target(&mut self, label: Ident) {
        self.fixes.push((self.scope.block(), label, Fix::Target(self.code.code.len())));
    }

    /// A table of labels that are named in a block.
    pub(super) fn table(&mut self, block: u32, labels: &[Ident]) -> u32 {
        let table = self.code.tables.len();
        self.code.tables.push(vec![0; labels.len()]);
        self.fixes.extend(labels.iter().enumerate().map(|(i, label)| (block, *label, Fix::Table(table, i))));
        u32::try_from(table).unwrap_or(u32::MAX)
    }

    /// Puts labels' places where they are needed.
    pub(super) fn resolve(&mut self) {
        for (block, label, fix) in std::mem::take(&mut self.fixes) {
            let at = self.scope.find_label(block, label.name);
            if at.is_none() {
                let name = self.unit.names().text(label.name).to_owned();
                self.complain((LowerErrorKind::NoLabel(name), label.span));
            }
            let at = at.unwrap_or(0);
            match fix {
                Fix::Target(i) => {
                    if let Some(instr) = self.code.code.get_mut(i) {
                        instr.imm = at;
                    }
                }
                Fix::Preload(i) => {
                    if let Some(preload) = self.code.preloads.get_mut(i) {
                        preload.init = Init::Code(Pc(at));
                    }
                }
                Fix::Table(table, i) => {
                    if let Some(target) = self.code.tables.get_mut(table).and_then(|t| t.get_mut(i)) {
                        *target = at;
                    }
                }
            }
        }
    }
}
