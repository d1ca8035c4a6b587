//! Progress models: whom a scheduler of blocks promises that it goes on (D-progress).
//!
//! After T. Sorensen et al., "Specifying and Testing GPU Workgroup Progress Models" (OOPSLA 2021): a program terminates
//! under a model if it has no run without end that is fair to the blocks that the model promises progress. The scheduler
//! never idles while a block can step.

use super::space::{Cycle, Fairness, Graph, Promised, cycles_until};
use crate::base::words;
use crate::verdict::LimitKind;
use serde::Serialize;

words! {
    /// Who is promised progress.
    #[derive(Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Progress {
        /// All blocks.
        Fair = "fair" | "weak_fair",
        /// The block with the lowest index of those that can step.
        Hsa = "hsa",
        /// Occupancy-bound execution: blocks that have stepped.
        Obe = "obe",
        /// Both of these.
        HsaObe = "hsa_obe",
        /// Linear occupancy-bound execution: blocks with an index of at most that of one that has stepped.
        Lobe = "lobe",
        /// Nobody.
        Unfair = "unfair",
    }
}

impl Progress {
    /// Whether a graph must tell who has stepped ([`Options::stepped`](super::space::Options::stepped)).
    #[must_use]
    pub const fn needs_stepped(self) -> bool {
        matches!(self, Self::Obe | Self::HsaObe | Self::Lobe)
    }

    /// The parts of a graph in which a run never ends though the scheduler keeps its promise.
    #[must_use]
    pub fn endless(self, graph: &Graph, fairness: Fairness) -> Vec<Cycle> {
        self.endless_until(graph, fairness, &|| None).0
    }

    /// The same until `up` says why not to go on: those that were found by then, and that reason, if they may not be all.
    #[must_use]
    pub fn endless_until(
        self,
        graph: &Graph,
        fairness: Fairness,
        up: &dyn Fn() -> Option<LimitKind>,
    ) -> (Vec<Cycle>, Option<LimitKind>) {
        // Where nobody is promised anything, every run is fair, and none rests: the scheduler never idles.
        let fairness = if self == Self::Unfair { Fairness::Weak } else { fairness };
        let mut keep = |state: u32, promised: &mut Promised<'_>| {
            let stepped = graph.stepped(state);
            let has = |block: u64| block < 64 && stepped >> block & 1 == 1;
            let lowest = promised.lowest().map(|(block, _)| block);
            promised.warps(|block, _| match self {
                Self::Fair => true,
                Self::Hsa => Some(block) == lowest,
                Self::Obe => has(block),
                Self::HsaObe => has(block) || Some(block) == lowest,
                Self::Lobe => block < 64 && stepped >> block != 0,
                Self::Unfair => false,
            });
        };
        cycles_until(graph, fairness, &mut keep, up)
    }
}
