//! All orders of a host script (report, 5.7.2 and 5.8.2): when each message is handled, which grid, block and warp steps.
//!
//! A step of the search is one step of the device, taken once for each way to answer its choices, or an access of the host's;
//! then the host sends at once what it can, which loses nothing, since its messages are handled at any time later. Instructions that only their
//! warp notices are taken at once. States are kept whole and compared, in the order in which they are met, so that ways are
//! short. A run that never ends is one
//! that comes to a state from which no way leads to an end (D-script-search).

use super::{Ending, Odometer, Signature};
use crate::launch::{By, Do, Failure, Script, ScriptDevice, ScriptState};
use crate::machine::Tell;
use crate::verdict::{LimitKind, Stop};
use rustc_hash::FxHashMap;

/// What is searched for.
pub struct ScriptSearch<'a> {
    /// The script.
    pub script: &'a Script,
    /// States at most.
    pub max_states: u64,
    /// Asked after each state, with the number of those met: the limit that ends the search now.
    pub poll: &'a dyn Fn(u64) -> Option<LimitKind>,
    /// Whether steps that nothing else notices are taken at once.
    pub reduced: bool,
    /// Whether it ends at the first defect.
    pub first: bool,
}

/// A step of a search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Taken {
    by: By,
    /// The answers to what is to be decided.
    picks: Vec<u32>,
}

/// How runs of a script end.
#[derive(Clone, PartialEq, Debug)]
pub struct ScriptEnd {
    /// The end: that of the shortest way.
    pub ending: Ending,
    /// What tells a defect from others; `None` if everything is as expected.
    pub signature: Option<Signature>,
    /// The memory of the contexts that are left, as a hash, and what was printed, where the script ran to its end.
    pub result: Option<(u64, Vec<u8>)>,
    /// The steps that lead there.
    pub way: Vec<Taken>,
}

/// What a search of a script came to.
#[derive(Clone, PartialEq, Debug)]
pub struct ScriptSpace {
    /// Different states.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// Different ends, those that were met first come first: by what tells a defect from others, and else by what is left in
    /// memory and what was printed.
    pub ends: Vec<ScriptEnd>,
    /// The way to a state from which no end can be reached.
    pub endless: Option<Vec<Taken>>,
    /// The limit that cut it short, if any: there may be other ends then.
    pub cut: Option<LimitKind>,
}

impl ScriptSpace {
    /// Whether there is a defect, where one is enough.
    fn is_enough(&self, first: bool) -> bool {
        first && self.ends.iter().any(|end| end.ending.is_defect())
    }
}

/// The states that were met.
#[derive(Default)]
struct Met {
    states: Vec<ScriptState>,
    /// By their fingerprints.
    numbers: FxHashMap<u64, Vec<usize>>,
    /// The state before each, and the step from there.
    from: Vec<(usize, Taken)>,
    /// The states before each, for all steps.
    before: Vec<Vec<usize>>,
}

impl Met {
    /// The number of a state; met first after `from`.
    fn number(&mut self, state: ScriptState, from: usize, taken: Taken) -> usize {
        let same = self.numbers.entry(state.fingerprint()).or_default();
        if let Some(known) = same.iter().find(|k| self.states[**k] == state) {
            return *known;
        }
        let new = self.states.len();
        same.push(new);
        self.states.push(state);
        self.from.push((from, taken));
        self.before.push(Vec::new());
        new
    }

    /// The steps that lead to a state.
    fn way(&self, mut at: usize) -> Vec<Taken> {
        let mut way = Vec::new();
        while at != 0 {
            let (from, taken) = &self.from[at];
            way.push(taken.clone());
            at = *from;
        }
        way.reverse();
        way
    }

    /// The last state from which none of `ends` can be reached: what goes on for ever has begun there.
    fn endless(&self, ends: &[usize]) -> Option<usize> {
        let mut ended = vec![false; self.states.len()];
        let mut todo = ends.to_vec();
        while let Some(at) = todo.pop() {
            if !std::mem::replace(&mut ended[at], true) {
                todo.extend(&self.before[at]);
            }
        }
        ended.iter().rposition(|ended| !ended)
    }
}

/// A search that is under way.
struct Search<'a, 'b> {
    how: &'a ScriptSearch<'a>,
    device: &'b mut ScriptDevice,
    met: Met,
    /// States that have a step to an end.
    last: Vec<usize>,
    space: ScriptSpace,
}

impl Search<'_, '_> {
    /// Takes all steps from a state. Where a warp can make a step that nothing else notices, it is the only one, unless it
    /// leads to what was met already: something that spins unnoticed would keep all others waiting.
    fn expand(&mut self, at: usize) -> Result<(), Failure> {
        self.device.restore(&self.met.states[at]);
        let (unnoticed, others) = self.device.steps(self.how.script)?;
        if let Some(by) = unnoticed.filter(|_| self.how.reduced) {
            let states = self.met.states.len();
            self.steps(at, by)?;
            if self.met.states.len() > states {
                return Ok(());
            }
        }
        others.iter().try_for_each(|by| self.steps(at, *by))
    }

    /// Takes a step in each way in which its choices can be answered.
    fn steps(&mut self, at: usize, by: By) -> Result<(), Failure> {
        let mut odometer = Odometer::new();
        while self.space.cut.is_none() {
            self.device.restore(&self.met.states[at]);
            let stepped = self.device.step_by(self.how.script, by, &mut odometer, None);
            self.space.steps += 1;
            let taken = Taken { by, picks: odometer.taken() };
            match stepped {
                Ok(None) => {
                    let next = self.met.number(self.device.save(), at, taken);
                    self.met.before[next].push(at);
                }
                Ok(Some(outcome)) => {
                    let result = Some((self.device.memory_hash(), outcome.output.clone()));
                    self.ended(at, taken, Ending::of(outcome), result);
                }
                Err(Failure::Stop(Stop::Limit(limit))) => self.space.cut = Some(limit),
                Err(Failure::Stop(stop)) if stop.kind().is_defect() => {
                    self.ended(at, taken, Ending::Stopped(stop), None);
                }
                Err(failure) => return Err(failure),
            }
            if !odometer.advance() {
                break;
            }
        }
        Ok(())
    }

    /// A step leads to an end.
    fn ended(&mut self, at: usize, taken: Taken, ending: Ending, result: Option<(u64, Vec<u8>)>) {
        self.last.push(at);
        let signature = Signature::of_end(&ending, &[]);
        let known = |end: &ScriptEnd| match &signature {
            Some(_) => end.signature == signature,
            None => end.signature.is_none() && end.result == result,
        };
        if !self.space.ends.iter().any(known) {
            let mut way = self.met.way(at);
            way.push(taken);
            self.space.ends.push(ScriptEnd { ending, signature, result, way });
        }
    }
}

impl ScriptSearch<'_> {
    /// Goes through all states.
    ///
    /// # Errors
    /// The script is wrong, or cannot be run: no limit, and no defect.
    pub fn run(&self, device: &mut ScriptDevice) -> Result<ScriptSpace, Failure> {
        device.begin(self.script, true)?;
        let space = ScriptSpace { states: 0, steps: 0, ends: Vec::new(), endless: None, cut: None };
        let mut search = Search { how: self, device, met: Met::default(), last: Vec::new(), space };
        search.met.number(search.device.save(), 0, Taken::default());
        let mut at = 0;
        while at < search.met.states.len() && search.space.cut.is_none() && !search.space.is_enough(self.first) {
            search.expand(at)?;
            at += 1;
            let many = search.met.states.len() as u64 > self.max_states;
            let limit = many.then_some(LimitKind::States(self.max_states));
            let limit = limit.or_else(|| (self.poll)(search.met.states.len() as u64));
            search.space.cut = search.space.cut.or(limit);
        }
        let Search { met, last, mut space, device, .. } = search;
        space.states = met.states.len() as u64;
        if device.reads_clocks() {
            space.cut = space.cut.or(Some(LimitKind::Clock));
        }
        if space.cut.is_none() && at == met.states.len() {
            space.endless = met.endless(&last).map(|at| met.way(at));
        }
        Ok(space)
    }

    /// Runs the script along a way, observed; `host` is told when the host accesses memory. Gives how it ends there.
    ///
    /// # Errors
    /// The script is wrong.
    pub fn show(
        &self,
        device: &mut ScriptDevice,
        way: &[Taken],
        tell: Tell<'_>,
        host: &mut dyn FnMut(&Do),
    ) -> Result<Option<Ending>, Failure> {
        device.begin(self.script, true)?;
        for Taken { by, picks } in way {
            if *by == By::Host {
                device.next(self.script).into_iter().for_each(&mut *host);
            }
            match device.step_by(self.script, *by, &mut Odometer::of(picks), Some(&mut *tell)) {
                Ok(None) => {}
                Ok(Some(outcome)) => return Ok(Some(Ending::of(outcome))),
                Err(Failure::Stop(stop)) => return Ok(Some(Ending::Stopped(stop))),
                Err(wrong) => return Err(wrong),
            }
        }
        Ok(None)
    }
}
