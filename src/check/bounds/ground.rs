//! What a launch stands on: its objects, and what roots are in it.

use super::objects::{Id, LOST, NONE, Object, Objects};
use super::plan::{AccessSite, Plan, Root, State};
use super::shadow::{Rows, Words};
use crate::base::{Frame, LANES, LaneMask, lanes_of, number};
use crate::check::bug;
use crate::program::env::{Area, Function, ProgEnv, Within};
use crate::program::instr::{STACK_BASE, Space};
use crate::verdict::{Access, AccessKind, AllocKind, BugKind, Inside, Named, Nearest, Relation, Stop, Stride};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes of a word in a [`Stride::Row`], and of half a warp's.
const WORD: u64 = 4;
const ROW: u64 = 16 * WORD;

/// What launches that share a device share.
#[derive(Clone, Debug, Default)]
pub(super) struct Device {
    pub objects: Rc<RefCell<Objects>>,
    /// Addresses in device memory.
    pub words: Rc<RefCell<Words>>,
}

/// What a root is in the launch that runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Resolved {
    /// An object: its number, its first address, its size; or [`NONE`] or [`LOST`].
    Object(Id, u64, u64),
    /// A variable of the frame of a function.
    Framed(Within, u32),
}

/// The launch that runs.
pub(super) struct Ground {
    pub env: Arc<ProgEnv>,
    pub device: Device,
    /// By number of the root.
    roots: Vec<Resolved>,
    /// Variables of frames, by the frame's place.
    framed: RefCell<FxHashMap<(u64, Within, u32), Id>>,
    /// Its kernel.
    entry: u32,
    /// Its arguments.
    pub params: Vec<u8>,
}

impl Ground {
    pub fn new(env: Arc<ProgEnv>) -> Self {
        let (device, framed) = (Device::default(), RefCell::default());
        Self { env, device, roots: Vec::new(), framed, entry: 0, params: Vec::new() }
    }

    /// Bytes of an address.
    pub fn pointer(&self) -> u32 {
        if self.env.target.address_bits == 32 { 4 } else { 8 }
    }

    fn function(&self, number: u32) -> Option<&Function> {
        self.env.functions.get_index(number as usize).map(|(_, f)| f)
    }

    /// A launch begins.
    pub fn launch(&mut self, plan: &Plan, entry: u32, names: &[Named], params: &[u8], dynamic_shared: u32) {
        self.entry = entry;
        self.params = params.to_vec();
        self.device.objects.borrow_mut().launch(names);
        self.roots = plan.roots.iter().map(|root| self.resolve(*root, dynamic_shared)).collect();
    }

    fn resolve(&self, root: Root, dynamic_shared: u32) -> Resolved {
        let objects = &mut *self.device.objects.borrow_mut();
        let id = match root {
            Root::None => NONE,
            Root::Lost => LOST,
            Root::Argument(offset) => {
                let from = offset as usize;
                let bytes = self.params.get(from..from + self.pointer() as usize);
                bytes.map_or(NONE, |bytes| objects.of_value(number(bytes)))
            }
            Root::Variable(index) => {
                let variable = self.env.variables.get_index(index as usize);
                variable.map_or(NONE, |(name, _)| objects.variable(name))
            }
            Root::DynamicShared => {
                let at = self.function(self.entry).map_or(0, Function::dynamic_shared_at);
                let of = Within { area: Area::Shared, first: at, bytes: dynamic_shared };
                objects.number(self.variable(of, 0, self.entry))
            }
            Root::Within(of, function) if of.area == Area::Frame => return Resolved::Framed(of, function),
            Root::Within(of, function) => objects.number(self.variable(of, 0, function)),
        };
        let (start, bytes) = objects.get(id).map_or((0, 0), |o| (o.start, o.bytes));
        Resolved::Object(id, start, bytes)
    }

    /// A variable of a window as an object; `base`: where the frame begins that it is in.
    fn variable(&self, of: Within, base: u64, function: u32) -> Object {
        let map = self.env.addresses();
        let owner = self.function(function);
        let parameter = || {
            let params = owner.map_or(&[][..], |f| &f.params);
            params.iter().find(|p| (p.offset, p.bytes) == (of.first, of.bytes)).map(|p| p.name.clone())
        };
        let local = || {
            let locals = owner.map_or(&[][..], |f| &f.locals);
            locals.iter().find(|v| (v.offset, v.bytes) == (of.first, of.bytes)).map(|v| v.name.clone())
        };
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

    /// A variable of the frame that a lane is in.
    fn framed(&self, of: Within, function: u32, regs: &Frame, lane: usize) -> Id {
        let base = regs.w.get(STACK_BASE.index()).map_or(0, |w| u64::from(w.0[lane]));
        let make = || self.device.objects.borrow_mut().number(self.variable(of, base, function));
        *self.framed.borrow_mut().entry((base, of, function)).or_insert_with(make)
    }

    /// What a root is.
    pub fn root(&self, root: u32) -> Resolved {
        self.roots.get(root as usize).copied().unwrap_or(Resolved::Object(NONE, 0, 0))
    }

    /// What a register is derived from in a lane, by what is known of it.
    pub fn id(&self, state: State, rows: &Rows, regs: &Frame, lane: usize) -> Id {
        match state {
            State::Varies(row) => rows.get(row, lane),
            State::Known(root) => match self.root(root) {
                Resolved::Object(id, ..) => id,
                Resolved::Framed(of, function) => self.framed(of, function, regs, lane),
            },
        }
    }

    /// The error of lanes that leave an object; `None` where the address is of another state space, which the machine tells.
    pub fn error(&self, id: Id, site: &AccessSite, access: &Access<'_>, lanes: LaneMask) -> Option<Stop> {
        let objects = self.device.objects.borrow();
        let object = objects.get(id)?;
        let width = u64::from(access.bytes);
        let holds = |address: u64| {
            let at = address.wrapping_sub(object.start);
            object.bytes.checked_sub(width).is_some_and(|last| at <= last)
        };
        let window = self.window(object.kind);
        let named = crate::check::plain::window(self.env.addresses(), site.request.space);
        let elsewhere = |lane: usize| {
            let raw = access.addresses[lane].wrapping_sub(named);
            holds(raw) || holds(raw.wrapping_add(window))
        };
        let lanes = lanes_of(lanes).filter(|lane| !elsewhere(*lane)).fold(0, |m, lane| m | 1 << lane);
        let lane = lanes_of(lanes).next()?;
        let address = access.addresses[lane];
        let distance = address.wrapping_sub(object.start).cast_signed();
        // What is below zero in a register of 32 bits is so in the window, too.
        let narrow = window != 0 && !site.request.addr_wide;
        let distance = if narrow { i64::from(distance as i32) } else { distance };
        let relation = match distance.cast_unsigned() {
            _ if distance < 0 => Relation::Before(distance.unsigned_abs()),
            at if at >= object.bytes => Relation::After(at - object.bytes),
            at => Relation::Inside(at),
        };
        let near = Nearest {
            name: object.name.clone(),
            kind: object.kind,
            bytes: object.bytes,
            relation,
            freed: false,
            life: None,
        };
        let kind = BugKind::OutsideObject {
            address,
            bytes: access.bytes,
            write: access.kind != AccessKind::Read,
            space: space(site.request.space),
            object: Box::new(near),
            hit: self.hit(address, &objects),
            argument: self.argument(site),
        };
        Some(bug(kind, access.pc, lanes))
    }

    /// The start of the window of a kind of memory.
    fn window(&self, kind: AllocKind) -> u64 {
        let map = self.env.addresses();
        match kind {
            AllocKind::Shared => map.shared,
            AllocKind::Local => map.local,
            AllocKind::Param => map.param,
            AllocKind::Buffer | AllocKind::Global | AllocKind::Const | AllocKind::Heap => 0,
        }
    }

    /// What lies at an address.
    fn hit(&self, address: u64, objects: &Objects) -> Option<Inside> {
        let map = self.env.addresses();
        let at = address.wrapping_sub(map.shared);
        if at < map.window {
            let inside = self.function(self.entry)?.inside_shared(at);
            return Some(inside).filter(|i| !i.name.is_empty());
        }
        objects.hit(address)
    }

    /// The argument that an address comes from, where that is known.
    fn argument(&self, site: &AccessSite) -> Option<String> {
        let offset = site.argument?;
        let params = &self.function(self.entry)?.params;
        params.iter().find(|p| offset.wrapping_sub(p.offset) < p.bytes).map(|p| p.name.clone())
    }
}

const fn space(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "constant",
        Space::Param => "parameter",
        Space::Generic => "",
    }
}

/// Those of the lanes of an access that leave `bytes` bytes from an address on.
pub(super) fn outside(access: &Access<'_>, lanes: LaneMask, start: u64, bytes: u64) -> LaneMask {
    leaving((access.addresses, access.strides, access.bytes), lanes, start, bytes)
}

fn leaving(
    (addresses, strides, width): (&[u64; LANES], [Stride; 2], u32),
    lanes: LaneMask,
    start: u64,
    bytes: u64,
) -> LaneMask {
    let Some(last) = bytes.checked_sub(width.into()) else { return lanes };
    let inside = |address: u64, last: u64| address.wrapping_sub(start) <= last;
    let both = strides.iter().zip([0, 16]).all(|(stride, shift)| match stride {
        _ if lanes >> shift & 0xffff == 0 => true,
        Stride::Row(row) => bytes.checked_sub(ROW).is_some_and(|last| inside(*row, last)),
        Stride::Same(one) => inside(*one, last),
        Stride::Mixed => false,
    });
    if both {
        return 0;
    }
    let mut bad = 0;
    for (lane, address) in addresses.iter().enumerate() {
        bad |= u32::from(!inside(*address, last)) << lane;
    }
    bad & lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_outside_by_a_byte() {
        let start = 0x1000;
        let check = |addresses: [u64; LANES], strides, bytes| leaving((&addresses, strides, 4), !0, start, bytes);
        let row: [u64; LANES] = std::array::from_fn(|l| start + 4 * l as u64);
        let strides = [Stride::Row(start), Stride::Row(start + 64)];
        for strides in [strides, [Stride::Mixed; 2]] {
            assert_eq!(check(row, strides, 128), 0);
            assert_eq!(check(row, strides, 127), 1 << 31);
            assert_eq!(check(row.map(|a| a - 1), strides.map(|s| s.moved(1u64.wrapping_neg())), 128), 1);
            assert_eq!(check(row, strides, 3), !0);
        }
    }
}
