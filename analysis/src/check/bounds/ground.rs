//! What a launch stands on: its objects, and what roots are in it.

use super::shadow::{Rows, Words};
use crate::base::{Frame, LaneMask, lanes_of};
use crate::check::bug;
use crate::check::provenance::objects::{Id, Objects};
use crate::check::provenance::plan::{AccessSite, Plan, State};
use crate::check::provenance::roots::resolved;
use crate::check::provenance::{Launched, Resolved};
use crate::program::env::{ProgEnv, Within};
use crate::program::instr::{STACK_BASE, Space};
use crate::verdict::{Access, AccessKind, BugKind, Inside, Named, Nearest, Relation, Stop};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// What launches that share a device share.
#[derive(Clone, Debug, Default)]
pub(super) struct Device {
    pub objects: Rc<RefCell<Objects>>,
    /// Addresses in device memory.
    pub words: Rc<RefCell<Words>>,
}

/// The launch that runs.
pub(super) struct Ground {
    pub launch: Launched,
    pub device: Device,
    /// By number of the root.
    roots: Vec<Resolved>,
    /// Variables of frames, by the frame's place.
    framed: RefCell<FxHashMap<(u64, Within, u32), Id>>,
}

impl Ground {
    pub fn new(env: Arc<ProgEnv>) -> Self {
        let launch = Launched { env, entry: 0, params: Vec::new(), dynamic_shared: 0, variables: Vec::new() };
        Self { launch, device: Device::default(), roots: Vec::new(), framed: RefCell::default() }
    }

    /// A launch begins.
    pub fn begin(&mut self, plan: &Plan, launch: Launched, names: &[Named]) {
        let objects = &mut *self.device.objects.borrow_mut();
        objects.launch(names);
        self.roots = launch.roots(plan, objects);
        self.launch = launch;
    }

    /// A variable of the frame that a lane is in.
    fn framed(&self, of: Within, function: u32, regs: &Frame, lane: usize) -> Id {
        let base = regs.w.get(STACK_BASE.index()).map_or(0, |w| u64::from(w.0[lane]));
        let make = || self.device.objects.borrow_mut().number(self.launch.variable(of, base, function));
        *self.framed.borrow_mut().entry((base, of, function)).or_insert_with(make)
    }

    /// What an origin is that is the same in all lanes.
    pub fn root(&self, state: State) -> Option<Resolved> {
        resolved(&self.roots, state)
    }

    /// What a register is derived from in a lane, by what is known of it.
    pub fn id(&self, state: State, rows: &Rows, regs: &Frame, lane: usize) -> Id {
        match state {
            State::Varies(row) => rows.get(row, lane),
            State::Known(root) => match self.roots[root as usize] {
                Resolved::Object(id, _) => id,
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
        let map = self.launch.env.addresses();
        let windows = [Space::Shared, Space::Local, Space::Param];
        let own = windows.into_iter().find(|space| space.kind() == object.kind);
        let (window, named) = (own.map_or(0, |space| map.window_of(space)), map.window_of(site.request.space));
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

    /// What lies at an address.
    fn hit(&self, address: u64, objects: &Objects) -> Option<Inside> {
        if let Some((Space::Shared, at)) = self.launch.env.addresses().inside(address) {
            let inside = self.launch.function(self.launch.entry)?.inside_shared(at);
            return Some(inside).filter(|i| !i.name.is_empty());
        }
        objects.hit(address)
    }

    /// The argument that an address comes from, where that is known.
    fn argument(&self, site: &AccessSite) -> Option<String> {
        let offset = site.argument?;
        let params = &self.launch.function(self.launch.entry)?.params;
        params.iter().find(|p| offset.wrapping_sub(p.offset) < p.bytes).map(|p| p.name.clone())
    }
}

const fn space(space: Space) -> &'static str {
    match space {
        Space::Global | Space::Shared | Space::Local => space.name(),
        Space::Const => "constant",
        Space::Param => "parameter",
        Space::Generic => "",
    }
}
