//! Where undefined values come from, and who writes where.
//!
//! MemorySanitizer keeps an origin beside each shadow byte (Stepanov and Serebryany, CGO 2015); here one is kept for each
//! lane of a slot and each byte of memory that was written with something undefined, and what was never written is its own
//! origin, so that nothing is kept where everything is defined.

use super::cause::Cause;
use super::memory::Global;
use crate::base::{Pc, lanes_of};
use crate::check::plain;
use crate::check::provenance::objects::Objects;
use crate::program::env::{AddressMap, FuncId, Function, ProgEnv};
use crate::program::instr::{MemOp, Space};
use crate::verdict::{Access, AccessKind, AllocKind, Inside, Named, Origin, Writers};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// How many writers are named.
const NAMED: usize = 4;

/// A buffer whose zeros a program relied on, though nobody had said what it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relied {
    /// The first byte that was read where nobody had written it.
    pub inside: Inside,
    /// The instruction that read it.
    pub read: Pc,
}

/// Device memory: what launches that share a device share.
#[derive(Clone, Debug, Default)]
pub(super) struct Device {
    /// What is defined.
    pub global: Global,
    /// What is zero only because nobody said anything, as far as it was not written.
    assumed: Global,
    /// Buffers and variables of all contexts, and blocks of the device's `malloc`.
    objects: Objects,
    /// What was relied on, each buffer once.
    pub relied: Vec<Relied>,
}

impl Device {
    /// Takes note of the buffers and variables that a launch finds. What the host did not write is undefined once.
    pub fn launch(&mut self, names: &[Named]) {
        for new in names {
            if self.objects.at(new.address).is_none()
                && let Some(part) = &new.unwritten
            {
                let (address, len) = (new.address + part.bytes.start, part.bytes.end - part.bytes.start);
                let to = if part.assumed { &mut self.assumed } else { &mut self.global };
                to.forget(address, len);
            }
        }
        self.objects.launch(names);
    }

    /// Takes note of a block that the device's `malloc` made.
    pub fn alloc(&mut self, address: u64, bytes: u64) {
        self.global.forget(address, bytes);
        self.objects.heap(address, bytes);
    }

    /// `len` bytes at an address are defined from now on.
    pub fn define(&mut self, address: u64, len: u32) {
        self.global.define(address, len);
        self.assumed.define(address, len);
    }

    /// An access is about to read.
    pub fn read(&mut self, access: &Access<'_>) {
        if self.assumed.complete() || access.kind == AccessKind::Write {
            return;
        }
        for lane in lanes_of(access.lanes) {
            let address = access.addresses[lane];
            let mut bytes = (0..u64::from(access.bytes)).map(|k| address.wrapping_add(k));
            let Some(first) = bytes.find(|a| self.assumed.get(*a, 1) == 0) else { continue };
            if let Some(inside) = self.objects.hit(first) {
                self.relied.push(Relied { inside, read: access.pc });
            }
            self.assumed.settle(first);
        }
    }

    /// The first and the last address of the variable or block that an address of device memory lies in.
    fn extent(&self, address: u64) -> Option<(u64, u64)> {
        let object = self.objects.get(self.objects.of_value(address))?;
        (address - object.start < object.bytes).then(|| (object.start, object.start + (object.bytes - 1)))
    }
}

/// Which instructions wrote to which variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    /// Instructions by the variable's first address.
    by: FxHashMap<u64, BTreeSet<u32>>,
    /// First and last address of the variable that an instruction wrote to last.
    last: FxHashMap<Pc, (u64, u64)>,
}

/// What a launch is made of, as far as addresses need it.
pub(super) struct Ground<'a> {
    pub env: &'a ProgEnv,
    pub entry: Option<&'a Function>,
    pub map: AddressMap,
}

impl Ground<'_> {
    fn extent(&self, address: u64, device: &Device) -> Option<(u64, u64)> {
        let Some((Space::Shared, at)) = self.map.inside(address) else { return device.extent(address) };
        let holds = |at: u64, first: u32, bytes: u32| at.wrapping_sub(first.into()) < bytes.into();
        let variable = self.entry?.shared.iter().find(|v| holds(at, v.offset, v.bytes))?;
        let first = self.map.shared + u64::from(variable.offset);
        Some((first, first + u64::from(variable.bytes.max(1) - 1)))
    }

    /// The instructions of the kernel and of functions that may write to a state space.
    fn stores(&self, space: Space) -> Vec<Pc> {
        let ours = |pc: Pc| {
            let function = self.env.origin.get(pc.0 as usize).map(|o| o.function);
            let function = function.and_then(|id: FuncId| self.env.function(id));
            function.is_some_and(|f| !f.entry || self.entry.is_some_and(|e| e.name == f.name))
        };
        let pcs = (0..).map(Pc).zip(&self.env.code).filter(|(pc, i)| {
            let writes = plain::request(self.env, i).filter(|r| r.op != MemOp::Load);
            writes.is_some_and(|r| r.space == space || r.space == Space::Generic) && ours(*pc)
        });
        pcs.map(|(pc, _)| pc).take(NAMED).collect()
    }

    /// Where a value comes from.
    pub fn origin(&self, cause: Cause, device: &Device, writes: &Writes) -> Origin {
        match cause {
            Cause::Register { by, class, slot } => {
                let function = self.env.function_at(by);
                Origin::Register(function.and_then(|f| f.registers.name_of(class, slot)).map(str::to_owned))
            }
            Cause::Absent { shuffle } => Origin::Absent(shuffle),
            Cause::Memory { address, read } => {
                let nameless = |kind, offset| Inside { name: String::new(), kind, offset };
                let (inside, space) = match self.map.inside(address) {
                    Some((Space::Shared, at)) => {
                        let named = self.entry.map(|e| e.inside_shared(at));
                        (named.unwrap_or_else(|| nameless(AllocKind::Shared, at)), Space::Shared)
                    }
                    Some((Space::Local, at)) => (nameless(AllocKind::Local, at), Space::Local),
                    _ => {
                        let named = device.objects.hit(address);
                        (named.unwrap_or_else(|| nameless(AllocKind::Global, address)), Space::Global)
                    }
                };
                let beside = self.extent(address, device).and_then(|(first, _)| writes.by.get(&first));
                let writers = match beside {
                    Some(by) => Writers::Beside(by.iter().map(|pc| Pc(*pc)).take(NAMED).collect()),
                    None => {
                        Some(self.stores(space)).filter(|s| !s.is_empty()).map_or(Writers::Nobody([]), Writers::Later)
                    }
                };
                Origin::Memory { address, inside, read, writers }
            }
        }
    }
}

impl Writes {
    /// Takes note of an access that writes.
    pub fn add(&mut self, access: &Access<'_>, ground: &Ground<'_>, device: &Device) {
        if access.kind == AccessKind::Read {
            return;
        }
        let last = self.last.entry(access.pc).or_insert((1, 0));
        for address in lanes_of(access.lanes).map(|lane| access.addresses[lane]) {
            if (last.0..=last.1).contains(&address) {
                continue;
            }
            if let Some(extent) = ground.extent(address, device) {
                self.by.entry(extent.0).or_default().insert(access.pc.0);
                *last = extent;
            }
        }
    }
}
