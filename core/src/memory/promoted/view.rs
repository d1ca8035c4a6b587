//! The environment as data for people: what is in flight, and what caches hold.

use super::Promoted;
use super::caches::{At, Entry, Group, Thread, UNIT, Unit};
use super::pending::{Does, Instruction, Lane, mask};
use crate::base::LaneMask;
use crate::memory::Cx;
use crate::memory::fermi::program::OpKind;
use crate::memory::rsp::Mark;
use crate::verdict::{
    CacheView, Event, LaneBytes, LineView, LockView, Look, MarkView, MemoryStep, MemoryView, OperationView, Performed,
    Region, Rule, Sink, StepEnd, Stop, WhichCache, Who,
};

/// What lanes of an instruction do.
fn shown(instruction: &Instruction, left: &[Lane]) -> OperationView {
    let lanes: LaneMask = mask(left);
    let (name, region) = match &instruction.does {
        Does::Access(rq, _) => (OpKind::of(rq.op), Some(Region::Global)),
        Does::Fence(..) => (OpKind::Fence, None),
    };
    let access =
        |l: &Lane| LaneBytes { lane: l.lane.into(), address: l.address, bytes: l.at.mask.count_ones(), value: None };
    let accesses = left.iter().filter(|l| l.at.mask != 0).map(access).collect();
    OperationView {
        who: instruction.at.who,
        pc: instruction.at.pc,
        lanes,
        processor: instruction.at.sm,
        name: name.name().to_owned(),
        region,
        accesses,
        ..OperationView::default()
    }
}

impl Promoted {
    fn line(&self, unit: Unit, way: usize, entry: &Entry) -> LineView {
        LineView {
            set: 0,
            way: u32::try_from(way).unwrap_or(u32::MAX),
            region: Region::Global,
            base: self.address(unit),
            bytes: (0..UNIT).map(|k| (entry.valid >> k & 1 == 1).then(|| entry.bytes[k])).collect(),
            dirty: entry.dirty.into(),
            filling: 0,
            pins: Vec::new(),
            first: false,
        }
    }

    /// The address of a unit's first byte.
    fn address(&self, unit: Unit) -> u64 {
        self.arena.address_of(unit as usize * UNIT)
    }

    /// The environment as it is.
    pub(super) fn environment(&self) -> MemoryView {
        let shown = |instruction: &Instruction| {
            let waits = instruction.left.iter().all(|l| self.waits(instruction, *l).is_some());
            OperationView { waits, ..shown(instruction, &instruction.left) }
        };
        let operations = self.pending.all().into_iter().map(|(_, i)| shown(i)).collect();
        let held = |e: &Entry| e.valid | e.dirty != 0;
        let caches = self.caches.l1.iter().filter(|(_, l1)| l1.entries.values().any(held));
        let cache = |(group, l1): (&Group, &super::caches::Level1)| {
            let entries = l1.entries.iter().filter(|(_, e)| held(e)).enumerate();
            let lines: Vec<LineView> = entries.map(|(way, (unit, e))| self.line(*unit, way, e)).collect();
            let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            CacheView { cache: WhichCache::Block(group.block), shape: [1, count(lines.len()), count(UNIT)], lines }
        };
        MemoryView {
            operations,
            caches: caches.map(cache).collect(),
            fifos: self.fifos(),
            locks: self.locks(),
            ..MemoryView::default()
        }
    }

    fn fifos(&self) -> Vec<(u64, Vec<MarkView>)> {
        let mark = |mark: &Mark<At, Thread>| match mark {
            Mark::Location(at) => MarkView::Written(self.address(at.unit), at.mask.into()),
            Mark::Flush(thread) => MarkView::Flush(thread.who, thread.lane.into()),
        };
        let waiting = self.caches.l1.iter().filter(|(_, l1)| !l1.fifo.is_empty());
        waiting.map(|(group, l1)| (group.block, l1.fifo.iter().map(mark).collect())).collect()
    }

    fn locks(&self) -> Vec<(LockView, Who, u32)> {
        let updates = self.caches.l1.iter().filter_map(|(group, l1)| Some((LockView::Updates(group.block), l1.rmw?)));
        let units = self.caches.locks.iter().map(|(unit, thread)| (LockView::Unit(self.address(*unit)), *thread));
        updates.chain(units).map(|(lock, thread)| (lock, thread.who, thread.lane.into())).collect()
    }

    /// Tells which writes came to device memory, in their order.
    pub(super) fn tell_arrived<S: Sink>(&mut self, who: Who, cx: &mut Cx<'_, S>) -> Result<(), Stop> {
        let arrived = std::mem::take(&mut self.caches.arrived);
        arrived.into_iter().try_for_each(|a| cx.sink.event(who, Event::Performed(Performed::Write(a))))
    }

    /// Tells of a step of a lane.
    pub(super) fn tell_step<S: Sink>(
        &self,
        instruction: &Instruction,
        lane: Lane,
        last: bool,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Stop> {
        let end = if last { StepEnd::Ends } else { StepEnd::Yields };
        let look = || MemoryStep::Operation { operation: shown(instruction, &[lane]), from: 0, end };
        cx.sink.event(instruction.at.who, Event::MemoryStep(Look::new(&look)))
    }

    /// Tells of a transition of the environment.
    pub(super) fn tell_transition<S: Sink>(
        &self,
        group: Group,
        at: At,
        rule: Rule,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Stop> {
        let line = Some((Region::Global, self.address(at.unit)));
        let written: u128 = at.mask.into();
        let cache = WhichCache::Block(group.block);
        let look = || MemoryStep::Silent { rule, cache, line, written };
        cx.sink.event(Who::default(), Event::MemoryStep(Look::new(&look)))
    }
}
