//! The environment as data for people: the report's tables of η (4.3) and of the operations in flight (4.6).

use super::engine::Fermi;
use super::environment::waits;
use super::operation::Body;
use super::program::Micro;
use super::shown::{Shown, cache_view};
use crate::base::sort;
use crate::memory::Cx;
use crate::verdict::{Event, Look, MemoryStep, MemoryView, OperationView, Sink, StepEnd, Stop};
use rustc_hash::FxHashMap;

impl Fermi {
    /// The environment as it is.
    pub(super) fn environment(&self) -> MemoryView {
        let mut warps: Vec<_> = self.queues.iter().collect();
        sort::sort_by_key(&mut warps, |(who, _)| (who.launch, who.block, who.warp));
        let numbers: Vec<(u32, u32)> =
            warps.iter().flat_map(|(_, queue)| (0..).zip(queue.operations.iter().copied())).collect();
        let operations = numbers.iter().filter_map(|(place, number)| {
            let operation = self.operations.get(*number)?;
            let waits = waits(&self.env, &self.model, &self.programs, *number, operation);
            let program = match operation.body {
                Body::Program { id, at } => self.programs.get(id).map(|p| (p, at)),
                Body::Fence { .. } => None,
            };
            let shown = Shown { issued: &operation.issued, program, sigma: &operation.sigma };
            Some(OperationView { place: *place, above: operation.above, waits, ..shown.view() })
        });
        let names: FxHashMap<u32, usize> = numbers.iter().zip(0..).map(|((_, number), name)| (*number, name)).collect();
        let l1s = (0..).zip(&self.env.sms).map(|(k, sm)| (Some(k), &sm.l1));
        let caches = l1s.chain([(None, &self.env.l2)]).filter(|(_, cache)| cache.lines().next().is_some());
        let locked = (0..).zip(&self.env.sms).map(|(k, sm)| (k, sm.locked)).filter(|(_, banks)| *banks != 0);
        MemoryView {
            operations: operations.collect(),
            caches: caches.map(|(processor, cache)| cache_view(processor, cache, &names)).collect(),
            locked: locked.collect(),
            ..MemoryView::default()
        }
    }

    /// Tells of a micro step of operation `k`, which began at line `from` of its program.
    pub(super) fn tell_step<S: Sink>(
        &self,
        k: u32,
        shown: &Shown<'_>,
        from: u32,
        went: Micro,
        cx: &mut Cx<'_, S>,
    ) -> Result<(), Stop> {
        let end = match went {
            Micro::Yield => StepEnd::Yields,
            Micro::Wait => StepEnd::Waits,
            Micro::End => StepEnd::Ends,
            Micro::Stuck(..) => StepEnd::Stuck,
        };
        let who = shown.issued.issuer.who;
        let look = || {
            let queue = self.queues.get(&who).map_or(&[][..], |q| &q.operations);
            let place = queue.iter().position(|o| *o == k).unwrap_or(0);
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            MemoryStep::Operation { operation: OperationView { place, ..shown.view() }, from, end }
        };
        cx.sink.event(who, Event::MemoryStep(Look::new(&look)))
    }
}
