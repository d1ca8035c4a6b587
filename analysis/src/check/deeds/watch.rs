//! The observer that writes deeds down.

use super::{Deed, Done, Source, Spot, Touch, What};
use crate::alu::atom;
use crate::base::{Pc, lanes_of};
use crate::check::plain::{elements, value};
use crate::program::env::ProgEnv;
use crate::program::instr::{MemOp, NO_SLOT, Op, Slot, Space, WarpRequest};
use crate::verdict::{
    Access, AccessId, AllocKind, Arrive, Arrived, CLUSTER, Event, Performed, ReadsFrom, Sink, Step, Stop, Who,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Names that are given here have this bit, so that they are none of another observer.
const OURS: u64 = 1 << 63;

/// Deeds that are written down unless more are asked for: a hundred megabytes.
const MOST: usize = 1 << 20;

/// Writes down what threads do.
pub struct Deeds {
    env: Arc<ProgEnv>,
    most: usize,
    full: bool,
    done: Vec<Done>,
    /// Who wrote which byte last, where accesses take effect at once.
    last: FxHashMap<Spot, u32>,
    /// The deeds of each lane of each access that was named, by the number of the name: names themselves hash alike.
    named: FxHashMap<u64, (u32, u32)>,
    /// Names given so far, and writes that have come to where everybody looks.
    given: u64,
    arrived: u64,
    /// The meeting at each barrier of each block.
    barriers: FxHashMap<(u64, u32), u32>,
    /// The meeting of a mask's lanes in each warp, and who has come.
    warps: FxHashMap<(Who, u32), (u32, u32)>,
    meetings: u32,
}

impl Deeds {
    /// An observer of a program's launches.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>) -> Self {
        Self {
            env,
            most: MOST,
            full: false,
            done: Vec::new(),
            last: FxHashMap::default(),
            named: FxHashMap::default(),
            given: 0,
            arrived: 0,
            barriers: FxHashMap::default(),
            warps: FxHashMap::default(),
            meetings: 0,
        }
    }

    /// What was done, launch by launch; none where it was more than is kept.
    ///
    /// # Errors
    /// How many deeds are kept.
    pub fn finish(self) -> Result<Vec<Done>, usize> {
        if self.full { Err(self.most) } else { Ok(self.done) }
    }

    /// Takes note of an event. Where memory acts later, it must be told before others are who name accesses.
    pub fn note(&mut self, who: Who, event: &Event<'_>) {
        match event {
            Event::Launch { shape, names, .. } => self.begin(*shape, names),
            _ if self.full => {}
            Event::Access(access) => self.access(who, access),
            Event::Step(step) => self.step(who, step),
            Event::Arrive(arrive) => self.arrive(who, arrive),
            Event::Released(id) => _ = self.barriers.remove(&(who.block, *id)),
            Event::Performed(Performed::Read(read)) => self.found(read),
            Event::Performed(Performed::Write(arrived)) => self.came(arrived),
            _ => {}
        }
    }

    fn begin(&mut self, shape: crate::verdict::Shape, names: &[crate::verdict::Named]) {
        self.done.push(Done { shape, names: names.to_vec(), deeds: Vec::new() });
        self.last.clear();
        self.named.clear();
        self.barriers.clear();
        self.warps.clear();
    }

    fn deeds(&mut self) -> &mut [Deed] {
        self.done.last_mut().map_or(&mut [], |done| &mut done.deeds)
    }

    /// Writes a deed down; gives its number.
    fn add(&mut self, who: Who, lane: usize, pc: Pc, what: What) -> u32 {
        let kept: usize = self.done.iter().map(|done| done.deeds.len()).sum();
        self.full |= kept >= self.most;
        let Some(Done { shape, deeds, .. }) = self.done.last_mut() else { return 0 };
        let in_block = u64::from(who.warp) * u64::from(shape.warp_size) + lane as u64;
        let thread = who.block.wrapping_mul(shape.threads().into()).wrapping_add(in_block);
        deeds.push(Deed { thread, block: who.block, pc, what });
        u32::try_from(deeds.len() - 1).unwrap_or(u32::MAX)
    }

    fn access(&mut self, who: Who, access: &Access<'_>) {
        let env = Arc::clone(&self.env);
        let Some(rq) = env.code.get(access.pc.0 as usize).and_then(|i| env.request(i)) else { return };
        if let Some(cell) = access.access_id {
            self.given += 32;
            cell.set(AccessId(OURS | self.given));
        }
        if matches!(rq.space, Space::Local | Space::Const | Space::Param) {
            return;
        }
        let op = env.code.get(access.pc.0 as usize).map(|i| i.op);
        let in_flight = op.is_some_and(Op::copies);
        let all = elements(&rq, access, env.addresses());
        // What lanes of the same instruction have written before.
        let mut before: FxHashMap<u64, Option<u64>> = FxHashMap::default();
        for lane in lanes_of(access.lanes) {
            let block = match (rq.space, env.addresses().inside(access.addresses[lane])) {
                (Space::Shared, _) | (Space::Generic, Some((Space::Shared, _))) => Some(who.block),
                (Space::Generic, Some(_)) => continue,
                _ => None,
            };
            let first = self.deeds().len();
            for &(element, offset) in &all {
                let spot = Spot { block, address: access.addresses[lane].wrapping_add(offset) };
                let touch = touch(&rq, access, element, lane, spot);
                let number = self.add(who, lane, access.pc, What::Access(touch));
                if access.access_id.is_none() {
                    self.now(number, access, &mut before);
                }
                if in_flight {
                    self.unknown(number);
                }
            }
            if let Some(cell) = access.access_id {
                let (first, count) = (u32::try_from(first).unwrap_or(u32::MAX), u32::try_from(all.len()).unwrap_or(0));
                self.named.insert(cell.get().of_lane(lane).0, (first, count));
            }
        }
    }

    /// What an asynchronous copy reads and writes is not known when it begins.
    fn unknown(&mut self, number: u32) {
        let found = self.done.last_mut().and_then(|done| done.deeds.get_mut(number as usize));
        if let Some(Deed { what: What::Access(touch), .. }) = found {
            (touch.read, touch.wrote) = (None, None);
        }
    }

    /// An access takes effect as it is told.
    fn now(&mut self, number: u32, access: &Access<'_>, before: &mut FxHashMap<u64, Option<u64>>) {
        let Self { done, last, arrived, .. } = self;
        let found = done.last_mut().and_then(|done| done.deeds.get_mut(number as usize));
        let Some(Deed { what: What::Access(touch), .. }) = found else { return };
        if touch.reads() {
            let address = touch.spot.address;
            let found = before.get(&address).copied();
            touch.read = found.unwrap_or_else(|| access.memory.number(address, touch.bytes));
            touch.from = Source::of(touch.spots().map(|spot| last.get(&spot).copied()));
            computed(touch);
        }
        if touch.writes() {
            touch.spots().for_each(|spot| _ = last.insert(spot, number));
            before.insert(touch.spot.address, touch.wrote);
            touch.arrived = Some(*arrived);
            *arrived += 1;
        }
    }

    /// The deed of a named access that has a byte.
    fn named(&self, access_id: AccessId, byte: u64) -> Option<u32> {
        let &(first, count) = self.named.get(&access_id.0)?;
        let deeds = &self.done.last()?.deeds;
        (first..first + count).find(|k| {
            let touch = deeds.get(*k as usize).and_then(Deed::touch);
            touch.is_some_and(|t| byte.wrapping_sub(t.spot.address) < u64::from(t.bytes))
        })
    }

    /// The address in the generic address space.
    fn generic(&self, space: AllocKind, address: u64) -> u64 {
        address.wrapping_add(if space == AllocKind::Shared { self.env.addresses().shared } else { 0 })
    }

    /// A read has found its value.
    fn found(&mut self, read: &ReadsFrom<'_>) {
        let address = self.generic(read.space, read.address);
        let Some(number) = self.named(read.access_id, address) else { return };
        let bytes = (address..).zip(read.writers);
        let from = Source::of(bytes.map(|(byte, writer)| self.named(*writer, byte)));
        let found = self.deeds().get_mut(number as usize);
        // An atomic operation is told again when its result goes to a register.
        if let Some(Deed { what: What::Access(touch), .. }) = found
            && (touch.from == Source::None || touch.op == MemOp::Load)
        {
            (touch.read, touch.from) = (read.value, from);
            computed(touch);
        }
    }

    /// A write came to where everybody looks.
    fn came(&mut self, write: &Arrived) {
        let address = self.generic(write.space, write.address);
        let mut byte = address;
        while byte < address.saturating_add(write.bytes.into()) {
            let number = self.named(write.access_id, byte);
            let next = self.arrived;
            let found = number.and_then(|number| self.deeds().get_mut(number as usize));
            let Some(Deed { what: What::Access(touch), .. }) = found else { return };
            byte = touch.spot.address.saturating_add(touch.bytes.into());
            if touch.arrived.is_none() {
                touch.arrived = Some(next);
                self.arrived += 1;
            }
        }
    }

    fn step(&mut self, who: Who, step: &Step<'_>) {
        let Some(i) = self.env.code.get(step.pc.0 as usize) else { return };
        match i.op {
            Op::Fence { scope, order } => {
                lanes_of(step.lanes).for_each(|lane| _ = self.add(who, lane, step.pc, What::Fence(order, scope)));
            }
            Op::WarpSync => {
                let Some(masks) = step.regs.w.get(i.a.index()).map(|masks| masks.0) else { return };
                for lane in lanes_of(step.lanes) {
                    let mask = masks[lane];
                    let populated = self.done.last().map_or(!0, |done| done.shape.populated(who.warp));
                    let open = self.warps.get(&(who, mask)).copied();
                    let open = open.filter(|(_, came)| came & mask & populated != mask & populated);
                    let (meeting, came) = open.filter(|(_, came)| came >> lane & 1 == 0).unwrap_or_else(|| {
                        self.meetings += 1;
                        (self.meetings, 0)
                    });
                    self.warps.insert((who, mask), (meeting, came | 1 << lane));
                    self.add(who, lane, step.pc, What::Meet { meeting, waits: true });
                }
            }
            Op::ClusterArrive { .. } | Op::ClusterWait { .. } => {
                lanes_of(step.lanes).for_each(|lane| _ = self.add(who, lane, step.pc, What::Cluster));
            }
            _ => {}
        }
    }

    fn arrive(&mut self, who: Who, arrive: &Arrive) {
        if arrive.id == CLUSTER {
            return;
        }
        let next = &mut self.meetings;
        let meeting = *self.barriers.entry((who.block, arrive.id)).or_insert_with(|| {
            *next += 1;
            *next
        });
        for lane in lanes_of(arrive.lanes) {
            self.add(who, lane, arrive.pc, What::Meet { meeting, waits: arrive.waits });
        }
    }
}

impl Sink for Deeds {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self.note(who, &event);
        Ok(())
    }
}

/// A lane's access of an element, before it has taken effect.
fn touch(rq: &WarpRequest, access: &Access<'_>, element: usize, lane: usize, spot: Spot) -> Touch {
    let operand = |slot: Slot| if slot == NO_SLOT { 0 } else { value(access.regs, rq.class(), slot, lane) };
    let (mut operands, mut wrote) = ([0; 2], None);
    let bytes = match rq.op {
        MemOp::Atom(_, ty) | MemOp::Red(_, ty) => {
            let [_, b, c] = rq.atomic_slots(element);
            operands = [operand(b), operand(c)].map(|v| low(v, ty.bytes()));
            ty.bytes()
        }
        MemOp::Load | MemOp::Store => rq.width.into(),
    };
    if rq.op == MemOp::Store && bytes <= 8 {
        wrote = rq.regs.get(element).map(|slot| low(operand(*slot), bytes));
    }
    let (op, order, scope) = (rq.op, rq.order, rq.scope);
    Touch { spot, bytes, op, order, scope, read: None, wrote, operands, from: Source::None, arrived: None }
}

/// What an atomic operation writes, once it is known what it read.
fn computed(touch: &mut Touch) {
    if let (MemOp::Atom(op, ty) | MemOp::Red(op, ty), Some(read), true) = (touch.op, touch.read, touch.bytes <= 8) {
        let [first, second] = touch.operands;
        touch.wrote = Some(low(atom::apply(op, ty, read, first, second), touch.bytes));
    }
}

/// The low bytes of a number.
fn low(value: u64, bytes: u32) -> u64 {
    if bytes >= 8 { value } else { value & ((1 << (8 * bytes)) - 1) }
}
