//! Data races (`--check races`; decision D-race; `spec-notes/races.md`).
//!
//! A happens-before checker on the event stream, for global and shared memory: two accesses of one location, one of
//! them a write, race unless one happened before the other or they are morally strong. What happened before what is
//! PTX's causality order ([`threads`] for barriers, [`sync`] for fences, releases and acquires, [`history`] for
//! observation), kept in clocks ([`clock`]) and in a shadow of memory ([`shadow`], [`cell`]). It follows FastTrack
//! (Flanagan, Freund, PLDI 2009) in what it keeps of a location, and Barracuda (Eizenberg et al., PLDI 2017) in that a
//! block's threads mostly know the same.
//!
//! On memory with caches accesses are compared when they are issued, and what reads observe is told later ([`flight`];
//! D-races-caches).

mod access;
mod cell;
mod clock;
mod finding;
mod flight;
mod history;
mod pattern;
mod quiet;
mod readers;
mod shadow;
mod sites;
mod sync;
mod threads;

pub use finding::{Benign, Finding, UnorderedData};
pub use shadow::Footing;

use super::plain;
use super::provenance::Launched;
use super::provenance::plan::Plan;
use crate::program::env::ProgEnv;
use crate::verdict::{Event, Named, Needs, Shape, Sink, Step, Stop, Who};
use clock::FenceOrder;
use finding::Findings;
use fixedbitset::FixedBitSet;
use flight::Flights;
use quiet::Quiet;
use rustc_hash::FxHashMap;
use shadow::Shadow;
use sites::{Site, sites};
use std::sync::Arc;
use sync::Fenced;
use threads::Block;

/// Accesses that are kept of a location which takes part in more than plain reading and writing, unless asked otherwise:
/// those of two of the largest blocks.
const KEPT: usize = 2048;

/// Looks for data races.
pub struct Races {
    sites: Vec<Site>,
    /// The instructions that order something.
    orders: Arc<FixedBitSet>,
    /// What addresses are made from.
    plan: Arc<Plan>,
    quiet: Quiet,
    watch: Watch,
}

/// What is known of a run so far.
struct Watch {
    env: Arc<ProgEnv>,
    /// Accesses that are kept of a location with a history.
    kept: usize,
    launch: Option<Launch>,
    /// The first warp's number of the next launch.
    next: u32,
    blocks: Vec<Option<Block>>,
    /// Where a block is, by its linear index.
    places: FxHashMap<u64, usize>,
    /// The block that was asked for last, and where it is.
    last: (u64, usize),
    global: Shadow,
    /// Shadows of shared memory to be used again.
    spare: Vec<Shadow>,
    order: FenceOrder,
    fenced: Fenced,
    /// The buffers and variables of the launch that began last.
    names: Vec<Named>,
    findings: Findings,
    flights: Flights,
}

/// What a launch fixes.
#[derive(Clone, Copy, Debug)]
struct Launch {
    shape: Shape,
    program: u32,
    /// The number of its first warp.
    first: u32,
    /// Warps in a block.
    warps: u32,
    /// Whether the lanes of a warp execute in lockstep, one instruction after another (D-race-lockstep).
    lockstep: bool,
    /// Whether there is one block only.
    one_block: bool,
    /// Whether accesses and fences take effect later than they are issued.
    later: bool,
}

impl Races {
    /// An observer of a program's launches, which run one after another: what a launch does happens before the next.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>) -> Self {
        let sites = sites(&env, false);
        let orders = |s: &Site| matches!(s, Site::Fence(_) | Site::WarpSync(_) | Site::Exit);
        let orders = sites.iter().enumerate().filter(|(_, s)| orders(s)).map(|(k, _)| k).collect();
        let watch = Watch {
            env,
            kept: KEPT,
            launch: None,
            next: 1,
            blocks: Vec::new(),
            places: FxHashMap::default(),
            last: (u64::MAX, 0),
            global: Shadow::default(),
            spare: Vec::new(),
            order: FenceOrder::default(),
            fenced: Fenced::default(),
            names: Vec::new(),
            findings: Findings::default(),
            flights: Flights::default(),
        };
        let plan = Plan::of(&watch.env);
        Self { sites, orders: Arc::new(orders), plan, quiet: Quiet::default(), watch }
    }

    /// Keeps at most so many accesses of a location that takes part in more than plain reading and writing. Where one that
    /// was forgotten might decide, the run ends ([`LimitKind::Accesses`](crate::verdict::LimitKind::Accesses)).
    #[must_use]
    pub const fn keeping(mut self, accesses: usize) -> Self {
        self.watch.kept = accesses;
        self
    }

    /// Stops the run at the first race instead of collecting all.
    #[must_use]
    pub const fn stopping(mut self) -> Self {
        self.watch.findings.stop = true;
        self
    }

    /// Hides races of other kinds than those in which lanes of one instruction store the same value.
    #[must_use]
    pub const fn benign(mut self, benign: Benign) -> Self {
        self.watch.findings.benign = benign;
        self
    }

    /// Takes volatile accesses as weak ones, as C++ does: whoever communicates by them races.
    #[must_use]
    pub fn with_weak_volatile(mut self) -> Self {
        self.sites = sites(&self.watch.env, true);
        self
    }

    /// Volatile data that threads communicate without any order.
    pub fn unordered(&self) -> impl Iterator<Item = UnorderedData> {
        self.watch.findings.all_unordered()
    }

    /// The program whose launches it watches.
    #[must_use]
    pub fn program(&self) -> &ProgEnv {
        &self.watch.env
    }

    /// The races, each pair of instructions once, in the order in which they were found.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.watch.findings.shown()
    }

    /// The races that are hidden, in the same way.
    pub fn hidden(&self) -> impl Iterator<Item = &Finding> {
        self.watch.findings.hidden()
    }

    /// The memory that it takes. Of shared memory, blocks that have ended leave the room but no bytes touched.
    #[must_use]
    pub fn footing(&self) -> Footing {
        let Watch { blocks, spare, global, .. } = &self.watch;
        let shared = blocks.iter().flatten().map(|b| &b.shared).chain(spare);
        shared.chain([global]).map(Shadow::footing).fold(Footing::default(), |sum, one| Footing {
            shadow: sum.shadow + one.shadow,
            touched: sum.touched + one.touched,
        })
    }

    #[inline(always)]
    fn step(&mut self, who: Who, step: &Step<'_>) {
        // Nearly all instructions order nothing.
        match self.sites.get(step.pc.0 as usize) {
            None | Some(Site::Other | Site::Access(_)) => {}
            Some(&site) => self.watch.synchronise(who, step, site),
        }
    }

    fn begin(&mut self, shape: Shape, program: u32, (tokens, later): (bool, bool)) -> Result<(), Stop> {
        if self.sites.len() > cell::LONGEST {
            return Err(Stop::Unsupported("a race check of more than 2^27 instructions".to_owned(), None));
        }
        self.watch.begin(shape, program, (tokens, later))
    }
}

impl Watch {
    fn begin(&mut self, shape: Shape, program: u32, (tokens, later): (bool, bool)) -> Result<(), Stop> {
        let warps = shape.threads().div_ceil(shape.warp_size.max(1));
        let blocks = shape.grid.iter().map(|n| u64::from(*n)).product::<u64>();
        let end = u64::from(self.next).saturating_add(blocks.saturating_mul(warps.into()));
        let Ok(end) = u32::try_from(end) else {
            return Err(Stop::Unsupported("a race check of launches of more than 2^32 warps".to_owned(), None));
        };
        let lockstep = tokens && self.env.target.sm < 70;
        let one_block = shape.grid == [1; 3];
        self.launch = Some(Launch { shape, program, first: self.next, warps, lockstep, one_block, later });
        self.next = end;
        self.blocks.clear();
        self.places.clear();
        self.last = (u64::MAX, 0);
        self.global.begin();
        self.order = FenceOrder::default();
        self.fenced = Fenced::default();
        self.flights.clear();
        Ok(())
    }

    fn block_mut(&mut self, who: Who) -> Option<&mut Block> {
        let at = self.block(who)?;
        self.blocks[at].as_mut()
    }

    /// Where a block is; it is made when it is first heard of.
    #[inline(always)]
    fn block(&mut self, who: Who) -> Option<usize> {
        if self.last.0 == who.block { Some(self.last.1) } else { self.find_block(who) }
    }

    #[inline(never)]
    fn find_block(&mut self, who: Who) -> Option<usize> {
        let launch = self.launch?;
        let at = if let Some(at) = self.places.get(&who.block) {
            *at
        } else {
            let first = launch.first + u32::try_from(who.block).ok()? * launch.warps;
            let shared = self.spare.pop().unwrap_or_default();
            let block = Block::new(first, launch.shape.threads(), launch.shape.warp_size, shared);
            let at = self.blocks.iter().position(Option::is_none).unwrap_or(self.blocks.len());
            if at == self.blocks.len() {
                self.blocks.push(None);
            }
            self.blocks[at] = Some(block);
            self.places.insert(who.block, at);
            at
        };
        self.last = (who.block, at);
        Some(at)
    }

    fn end_block(&mut self, who: Who) {
        let Some(at) = self.places.remove(&who.block) else { return };
        self.last = (u64::MAX, 0);
        if let Some(mut block) = self.blocks.get_mut(at).and_then(Option::take) {
            block.shared.clear();
            self.spare.push(block.shared);
        }
    }

    #[inline(never)]
    fn synchronise(&mut self, who: Who, step: &Step<'_>, site: Site) {
        if step.lanes == 0 {
            return;
        }
        let Some(at) = self.block(who) else { return };
        let warp = who.warp as usize;
        match site {
            // Where memory acts later, a fence is told of when what came before it has been performed.
            Site::Fence(_) if self.launch.is_some_and(|l| l.later) => {}
            Site::Fence(fence) => self.fence(at, warp, step.lanes, fence),
            Site::WarpSync(slot) => {
                let Some(block) = &mut self.blocks[at] else { return };
                let Some(masks) = step.regs.w.get(slot.index()) else { return };
                let mut rest = step.lanes;
                while rest != 0 {
                    let mask = masks.0[rest.trailing_zeros() as usize & 31];
                    let alike = crate::base::lanes_of(rest).filter(|l| masks.0[*l] == mask).fold(0, |m, l| m | 1 << l);
                    block.warp_sync(warp, alike, mask);
                    rest &= !alike;
                }
            }
            Site::Exit => {
                if let Some(block) = &mut self.blocks[at] {
                    block.exit(warp, step.lanes);
                }
            }
            Site::Other | Site::Access(_) => {}
        }
    }
}

impl Sink for Races {
    const ON: bool = true;

    fn needs(&self) -> Needs {
        Needs { steps: Some(Arc::clone(&self.orders)), rules: false, quiet: self.quiet.extents() }
    }

    #[inline]
    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Step(step) => self.step(who, &step),
            Event::Access(access) => {
                let Some(at) = self.watch.block(who) else { return Ok(()) };
                if let Some(Site::Access(site)) = self.sites.get(access.pc.0 as usize) {
                    self.quiet.look(access, site)?;
                }
                return access::run(&mut self.watch, at, who, access, &self.sites);
            }
            Event::Launch { tokens, program, shape, names, params, dynamic_shared, variables, later } => {
                self.watch.names = names.to_vec();
                let launched = Launched { env: &self.watch.env, entry: shape.entry, params, dynamic_shared, variables };
                // Where memory acts later, all accesses are told.
                let quiet = (!later).then(|| Quiet::new(&self.plan, &launched, names, &self.sites));
                self.quiet = quiet.unwrap_or_default();
                return self.begin(shape, program, (tokens, later));
            }
            Event::Performed(performed) => self.watch.performed(who, performed, &self.sites),
            Event::BlockDone => self.watch.end_block(who),
            Event::Arrive(arrive) => {
                if let Some(block) = self.watch.block_mut(who) {
                    block.arrive(who.warp as usize, &arrive);
                }
            }
            Event::Released(id) => {
                if let Some(block) = self.watch.block_mut(who) {
                    block.release(id);
                }
            }
            Event::Block { .. }
            | Event::Fired(_)
            | Event::Memory
            | Event::MemoryStep(_)
            | Event::Environment(_)
            | Event::State(_)
            | Event::Survivor { .. }
            | Event::Alloc { .. }
            | Event::Enter(_)
            | Event::Exchange(_)
            | Event::Remembered
            | Event::Repeated
            | Event::Message(_) => {}
        }
        Ok(())
    }
}
