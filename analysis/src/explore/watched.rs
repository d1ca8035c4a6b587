//! A walk that is watched for data races: its states tell what happened before what, and a step that races stops the run
//! (D-race-search).

use crate::base::mutant::{Mutant, on};
use crate::check::{Causal, History, RacesOptions};
use crate::choice::Oracle;
use crate::machine::walk::{Agent, Begun, Grain, Growth, Mark, State, Walk};
use crate::machine::{Context, ControlModel, Launch, MemoryModel, Tell, again};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, Shape, Stop, Who};
use std::sync::Arc;

/// A walk with what happened before what.
pub struct Watched {
    walk: Box<dyn Walk>,
    causal: Causal,
    history: Arc<History>,
    /// A number for the history.
    key: u128,
    /// Where it can go back to.
    marks: Vec<(Mark, Arc<History>, u128)>,
}

/// Whether races of all schedules can be looked for in a search: on memory that acts at once, but for asynchronous copies. On
/// others the runs that show what a search found are looked at.
#[must_use]
pub fn watches(context: &Context) -> bool {
    matches!(context.config().memory, MemoryModel::Flat)
}

/// The walk of a search through launches, watched where `races` are looked for and can be.
///
/// # Errors
/// As of [`Context::walk`].
pub fn walk(
    context: &Context,
    launches: &[Launch],
    grain: Grain,
    races: Option<RacesOptions>,
) -> Result<Box<dyn Walk>, Stop> {
    let walk = context.walk(launches, self::grain(context, grain, races))?;
    Ok(match races.filter(|_| watches(context)) {
        Some(races) => Box::new(Watched::new(walk, context, launches, races)),
        None => walk,
    })
}

/// The grain of that walk, where `grain` is that of a search without races.
pub(super) fn grain(context: &Context, grain: Grain, races: Option<RacesOptions>) -> Grain {
    let visible = matches!(grain, Grain::Visible | Grain::Alike { .. });
    if visible && races.is_some() && watches(context) { Grain::Ordered } else { grain }
}

impl Watched {
    fn new(walk: Box<dyn Walk>, context: &Context, launches: &[Launch], options: RacesOptions) -> Self {
        let (env, config) = (context.program(), context.config());
        let shape = |launch: &Launch| {
            let entry = env.functions.get_index_of(&launch.entry).and_then(|k| u32::try_from(k).ok());
            Shape {
                entry: entry.unwrap_or(u32::MAX),
                grid: launch.grid,
                block: launch.block,
                warp_size: config.warp_size,
            }
        };
        let shapes = launches.iter().map(shape).collect();
        let tokens = config.control.unwrap_or(ControlModel::of_target(env.target.sm)) == ControlModel::Crs;
        let causal = Causal::new(Arc::clone(&env), shapes, tokens, context.names(), options);
        let history = Arc::<History>::default();
        let key = causal.key(&history);
        Self { walk, causal, history, key, marks: Vec::new() }
    }
}

impl Walk for Watched {
    fn agents(&mut self, out: &mut Vec<Agent>) {
        self.walk.agents(out);
    }

    fn advance(&mut self, agent: Agent, oracle: &mut dyn Oracle, mut tell: Option<Tell<'_>>) -> Result<u32, Stop> {
        let Self { walk, causal, history, .. } = self;
        let mut next = History::clone(history);
        let mut watch = |who: Who, event: Event<'_>| {
            if let Some(tell) = again(&mut tell) {
                tell.hear(who, event)?;
            }
            causal.event(&mut next, who, &event)
        };
        let used = walk.advance(agent, oracle, Some(&mut watch))?;
        self.key = self.causal.key(&next);
        self.history = Arc::new(next);
        Ok(used)
    }

    fn begun(&self) -> &Begun {
        self.walk.begun()
    }

    fn key(&self) -> u128 {
        let history = if on(Mutant::HistoriesMerged) { 0 } else { self.key };
        self.walk.key().wrapping_add(history)
    }

    fn growth(&self) -> Growth {
        self.walk.growth()
    }

    fn whole(&self) -> Vec<u8> {
        let mut whole = self.walk.whole();
        whole.extend(self.causal.bytes(&self.history));
        whole
    }

    fn mark(&mut self) -> Mark {
        let inner = self.walk.mark();
        let same =
            |(mark, history, _): &(Mark, Arc<History>, u128)| *mark == inner && Arc::ptr_eq(history, &self.history);
        if !self.marks.last().is_some_and(same) {
            self.marks.push((inner, Arc::clone(&self.history), self.key));
        }
        Mark::numbered(self.marks.len() - 1)
    }

    fn back(&mut self, to: Mark) {
        self.marks.truncate(to.number() + 1);
        let Some((inner, history, key)) = self.marks.last() else { return };
        self.walk.back(*inner);
        (self.history, self.key) = (Arc::clone(history), *key);
    }

    fn held(&self) -> usize {
        let histories = self.marks.len() * size_of::<(Mark, Arc<History>, u128)>();
        self.walk.held() + self.causal.held() + histories
    }

    fn grows(&self, steps: u64) -> usize {
        self.walk.grows(steps)
    }

    fn program(&self) -> Arc<ProgEnv> {
        self.walk.program()
    }

    fn state(&mut self) -> &dyn State {
        self.walk.state()
    }
}
