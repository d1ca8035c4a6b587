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
mod beside;
mod causal;
mod cell;
mod clock;
mod conflict;
mod context;
mod copies;
mod fence;
mod finding;
mod flight;
mod history;
mod launch;
mod pattern;
mod performed;
mod proxies;
mod quiet;
mod readers;
mod rows;
mod shadow;
mod sites;
mod sync;
mod threads;
mod view;
mod watch;

pub use causal::{Causal, History};
pub use finding::{Benign, Finding, UnorderedData};
pub use shadow::Footing;

use super::provenance::Launched;
use super::provenance::plan::Plan;
use crate::program::env::ProgEnv;
use crate::verdict::{Event, Needs, Row, Sink, Step, Stop, Who};
use fixedbitset::FixedBitSet;
use quiet::Quiet;
use shadow::Shadow;
use sites::{Site, access_at, sites};
use std::sync::Arc;
use watch::Watch;

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

/// How races are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RacesOptions {
    /// The races that are no defects.
    pub benign: Benign,
    /// Whether volatile accesses are weak ones, as in C++: whoever communicates by them races.
    pub weak_volatile: bool,
    /// Whether marks of remote accesses count: memory has remote-scope promotion (D-race-remote).
    pub remote: bool,
    /// Whether the run ends at the first.
    pub stopping: bool,
}

impl Races {
    /// The same as options say.
    #[must_use]
    pub fn with(mut self, options: RacesOptions) -> Self {
        if options.weak_volatile || options.remote {
            self.sites = sites(&self.watch.env, options.weak_volatile, options.remote);
        }
        (self.watch.findings.benign, self.watch.findings.stop) = (options.benign, options.stopping);
        self
    }

    /// An observer of a program's launches, which run one after another: what a launch does happens before the next.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>) -> Self {
        let sites = sites(&env, false, false);
        let orders = |s: &Site| !matches!(s, Site::Other | Site::Access(_));
        let orders = sites.iter().enumerate().filter(|(_, s)| orders(s)).map(|(k, _)| k).collect();
        let watch = Watch { env, kept: KEPT, next: 1, last: (u64::MAX, 0), ..Watch::default() };
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
    fn step(&mut self, who: Who, step: &Step<'_>) -> Result<(), Stop> {
        // Nearly all instructions order nothing.
        match self.sites.get(step.pc.0 as usize) {
            None | Some(Site::Other | Site::Access(_)) => {}
            Some(&Site::CopyWait(awaited)) => self.watch.waited(who, step, awaited, &self.sites)?,
            Some(&site) => self.watch.synchronise(who, step, site),
        }
        Ok(())
    }
}

impl Sink for Races {
    const ON: bool = true;
    const FRUGAL: bool = true;

    fn needs(&self) -> Needs {
        Needs {
            steps: Some(Arc::clone(&self.orders)),
            rules: false,
            quiet: self.quiet.extents(),
            rows: true,
            barriers: true,
        }
    }

    fn rows(&mut self, who: Who, rows: &[Row]) -> usize {
        self.watch.rows(who, rows, &self.sites, &self.quiet)
    }

    #[inline]
    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Step(step) => return self.step(who, &step),
            Event::Access(access) => {
                let Some(at) = self.watch.block(who) else { return Ok(()) };
                if let Some(site) = access_at(&self.sites, access.pc) {
                    self.quiet.look(access, site)?;
                }
                return access::run(&mut self.watch, at, who, access, &self.sites);
            }
            Event::Launch { tokens, program, shape, names, params, dynamic_shared, variables, later } => {
                if self.sites.len() > cell::LONGEST {
                    return Err(Stop::Unsupported("a race check of more than 2^27 instructions".to_owned(), None));
                }
                self.watch.names = names.to_vec();
                let env = Arc::clone(&self.watch.env);
                let (params, variables) = (params.to_vec(), variables.to_vec());
                let copies = env.copies();
                let launched = Launched { env, entry: shape.entry, params, dynamic_shared, variables };
                // Where memory acts later, or copies do, all accesses are told.
                let quiet = (!later && !copies).then(|| Quiet::new(&self.plan, &launched, names, &self.sites));
                self.quiet = quiet.unwrap_or_default();
                return self.watch.begin(shape, program, (tokens, later));
            }
            Event::Performed(performed) => self.watch.performed(who, performed, &self.sites),
            Event::Landed { pc, lanes } => {
                if let Some(at) = self.watch.block(who) {
                    self.watch.copies.landed(at, who.warp, pc, lanes);
                }
            }
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
            Event::Passed { lanes } => {
                if let Some(block) = self.watch.block_mut(who) {
                    block.passed(who.warp as usize, lanes);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
