//! Memory that nobody writes during a launch: reads of it race with nothing, and need not be told.
//!
//! Which object each store is for is known before a launch runs, where its address can be derived from one only
//! ([`provenance`](crate::check::provenance)). A store that leaves its object all the same and hits what is read unwatched
//! ends the run: it is an error of its own, and nothing is missed in silence (D-race-quiet).

use super::sites::{AccessSite, Site};
use crate::base::lanes_of;
use crate::check::provenance::objects::Objects;
use crate::check::provenance::plan::{self, Plan};
use crate::check::provenance::roots::resolved;
use crate::check::provenance::{Launched, Resolved};
use crate::program::instr::{Op, Space};
use crate::verdict::{Access, AllocKind, Extent, LimitKind, Named, Row, Stop, Strength};
use std::cell::Cell;
use std::sync::Arc;

/// What is not watched in a launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Quiet {
    /// By instruction: where its accesses need not be told.
    extents: Arc<[Extent]>,
    /// By instruction: the object that it is to write.
    written: Vec<Extent>,
    /// All memory that is not watched.
    unwatched: Vec<Extent>,
    /// Whether whoever tells the accesses knows of it: else all are told.
    relied_on: Cell<bool>,
}

/// An instruction that accesses memory that other threads see, and the object that it is for.
struct Use<'a> {
    at: usize,
    site: &'a AccessSite,
    /// The object's kind and where it lies. `None`: it is not known.
    object: Option<(AllocKind, Extent)>,
}

impl Quiet {
    /// What need not be watched in a launch.
    pub fn new(plan: &Plan, launched: &Launched, names: &[Named], sites: &[Site]) -> Self {
        let Some(uses) = uses(plan, launched, names, sites) else { return Self::default() };
        let mut extents = vec![Extent::default(); sites.len()];
        // Others write nothing that could be unwatched.
        let mut written = vec![Extent { first: 0, bytes: u64::MAX }; sites.len()];
        let mut objects = Vec::new();
        for writer in uses.iter().filter(|u| u.site.kind.writes()) {
            let Some((_, object)) = writer.object else { return Self::default() };
            written[writer.at] = object;
            objects.push(object);
        }
        let mut unwatched = Vec::new();
        for reader in uses.iter().filter(|u| !u.site.kind.writes() && u.site.strength == Strength::Weak) {
            let device = |kind| matches!(kind, AllocKind::Buffer | AllocKind::Global);
            if let Some((kind, object)) = reader.object
                && device(kind)
                && !objects.iter().any(|w| w.meets(object))
            {
                extents[reader.at] = object;
                unwatched.push(object);
            }
        }
        Self { extents: extents.into(), written, unwatched, relied_on: Cell::default() }
    }

    /// Where accesses need not be told, for somebody who tells them.
    pub fn extents(&self) -> Arc<[Extent]> {
        self.relied_on.set(true);
        Arc::clone(&self.extents)
    }

    /// Looks whether an access writes what is not watched.
    ///
    /// # Errors
    /// It does.
    #[inline(always)]
    pub fn look(&self, access: &Access<'_>, site: &AccessSite) -> Result<(), Stop> {
        let idle = self.unwatched.is_empty() || !site.kind.writes();
        if idle || self.written[access.pc.0 as usize].outside(access.footprint(), access.lanes) == 0 {
            return Ok(());
        }
        self.stray(access)
    }

    /// The same of a row: whether some lanes leave the object that it is for, where that matters.
    #[inline(always)]
    pub fn strays(&self, row: &Row, site: &AccessSite) -> bool {
        let idle = self.unwatched.is_empty() || !site.kind.writes();
        !idle && !self.written[row.at as usize].holds(row)
    }

    /// Some lanes of an access leave the object that it is for.
    #[cold]
    #[inline(never)]
    fn stray(&self, access: &Access<'_>) -> Result<(), Stop> {
        let hit = |address: u64| {
            let bytes = Extent { first: address, bytes: access.bytes.into() };
            self.unwatched.iter().any(|extent| extent.meets(bytes))
        };
        if self.relied_on.get() && lanes_of(access.lanes).any(|lane| hit(access.addresses[lane])) {
            return Err(Stop::Limit(LimitKind::Stray(access.pc)));
        }
        Ok(())
    }
}

/// The accesses of a launch's kernel. `None`: others may be made, of functions that it calls.
fn uses<'a>(plan: &Plan, launched: &Launched, names: &[Named], sites: &'a [Site]) -> Option<Vec<Use<'a>>> {
    let env = &launched.env;
    let (_, kernel) = env.functions.get_index(launched.entry as usize)?;
    let range = kernel.start.0 as usize..kernel.end.0 as usize;
    let code = env.code.get(range.clone())?;
    if code.iter().any(|i| matches!(i.op, Op::Call | Op::CallIndirect)) {
        return None;
    }
    let mut objects = Objects::default();
    objects.launch(names);
    let roots = launched.roots(plan, &mut objects);
    let mut uses = Vec::new();
    for at in range {
        let Site::Access(site) = &sites[at] else { continue };
        // One of which nothing is known may write anything.
        let plan::Site::Access(number) = plan.sites[at] else { return None };
        let access = &plan.accesses[number as usize];
        // Stores in shared memory reach nothing else.
        if access.request.space == Space::Shared {
            continue;
        }
        let object = access.base.and_then(|base| resolved(&roots, base)).and_then(Resolved::object);
        let object = object.and_then(|(id, extent)| Some((objects.get(id)?.kind, extent)));
        uses.push(Use { at, site, object });
    }
    Some(uses)
}
