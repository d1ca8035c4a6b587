//! What is told of tests for wavefronts on the mutex mechanism: how much was searched, who waits for ever and how it came to that, and
//! what was asked of the pool of mutexes.

use super::diagnostic::Diagnostic;
use super::limit::limit;
use super::words::counted;
use crate::base::{FileId, Span, Wording};
use crate::explore::lockstep::{Found, Grain, Ran, Space};
use crate::litmus::lockstep_machine::{Agent, Compiled, Refused};
use crate::memory::lockstep::{
    Asked, CPUS, Code, Entry, LANES, LENGTH, LOCATIONS, REGISTERS, REQUESTS, Step, TooBig, VALUES, WAVES,
};
use serde::Serialize;
use std::fmt::Write;

/// What the agents asked of the pool of mutexes in one fair run, always the same one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MutexRun {
    /// Steps of all agents.
    pub steps: u64,
    /// Whether the run came to its end.
    pub complete: bool,
    /// The agents: wavefronts first, then CPU threads.
    pub agents: Vec<MutexUse>,
}

/// What an agent asked of the pool of mutexes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MutexUse {
    /// `W0` or `C0`.
    pub agent: String,
    /// Requests that it sent, those that were sent again after a refusal, too.
    pub requests: u64,
    /// Accesses that needed a mutex which it had, or had asked for.
    pub hits: u64,
    /// Requests that were refused: a wavefront's.
    pub refusals: u64,
    /// Requests that had to wait in the pool: a CPU thread's.
    pub waits: u64,
    /// Hits in a thousand accesses of a CPU thread that needed a mutex; null where none did, and of wavefronts.
    pub hits_per_thousand: Option<u64>,
}

fn agent(agent: Agent) -> String {
    match agent {
        Agent::Wavefront(number) => format!("W{number}"),
        Agent::Cpu(number) => format!("C{number}"),
    }
}

impl MutexRun {
    /// What a run asked for.
    #[must_use]
    pub fn new(compiled: &Compiled, ran: &Ran) -> Self {
        let used = |(who, asked): (&Agent, &Asked)| {
            let needed = Some(asked.requests + asked.hits).filter(|n| *n != 0 && matches!(who, Agent::Cpu(_)));
            MutexUse {
                agent: agent(*who),
                requests: asked.requests,
                hits: asked.hits,
                refusals: asked.refusals,
                waits: asked.waits,
                hits_per_thousand: needed.map(|n| (1000 * asked.hits + n / 2) / n),
            }
        };
        let agents = compiled.agents.iter().zip(&ran.asked).map(used).collect();
        Self { steps: ran.steps, complete: ran.end.is_some(), agents }
    }

    /// It as text, a line for each agent.
    #[must_use]
    pub fn text(&self) -> String {
        let ends = if self.complete { "" } else { ", which does not end" };
        let mut text = format!("mutexes in one fair run of {}{ends}:\n", counted(self.steps, "step"));
        for used in &self.agents {
            let _ = write!(text, "  {}: {}", used.agent, counted(used.requests, "request"));
            let _ = write!(text, ", {}", counted(used.hits, "hit"));
            if let Some(rate) = used.hits_per_thousand {
                let _ = write!(text, " ({}.{}%)", rate / 10, rate % 10);
            }
            if used.refusals != 0 {
                let _ = write!(text, ", {}", counted(used.refusals, "refusal"));
            }
            if used.waits != 0 {
                let _ = write!(text, ", {}", counted(used.waits, "wait"));
            }
            text.push('\n');
        }
        text
    }
}

/// What a search looked at, and who waits for ever.
#[must_use]
pub fn searched(compiled: &Compiled, space: &Space, grain: Grain) -> String {
    let (states, steps) = (counted(space.states, "state"), counted(space.steps, "step"));
    let ends = counted(space.ends.len() as u64, "end");
    let mut text = format!("machine lsc-mutex: {states}, {steps}, {ends} of complete executions\n");
    if let Some(reached) = space.limit {
        let _ = writeln!(text, "{}; nothing is proved", limit(reached));
        return text;
    }
    let found = |(count, found): &(u64, Option<Found>), noun: &str, what: &str| {
        let path = found.as_ref().map_or_else(String::new, |found| way(compiled, &found.path));
        format!("{} {what}, such as after these steps:\n{path}", counted(*count, noun))
    };
    if space.stuck.0 != 0 {
        text += &found(&space.stuck, "state", "in which nobody can go on");
    }
    if space.endless.0 != 0 {
        text += &found(&space.endless, "circle", "in which a fair run stays for ever");
    }
    if space.stuck.0 == 0 && space.endless.0 == 0 {
        text += match grain {
            Grain::Every => "nobody is left waiting for ever, and every fair run ends\n",
            Grain::Needed => {
                "nobody is left waiting for ever; not asked: whether every fair run ends (--reduction none does)\n"
            }
        };
    }
    text
}

/// Steps in words, a line for each.
fn way(compiled: &Compiled, path: &[Step]) -> String {
    path.iter().map(|step| format!("  {}\n", said(compiled, *step))).collect()
}

/// A step in words.
fn said(compiled: &Compiled, step: Step) -> String {
    let waves = compiled.program.waves();
    let who = |k: usize| compiled.agents.get(k).map_or_else(String::new, |a| agent(*a));
    let (wave, cpu) = (|w: u8| who(w.into()), |c: u8| who(waves.len() + usize::from(c)));
    let name = |entry: Entry| compiled.locations.get(entry.0 as usize).map_or("?", String::as_str);
    let request = |code: Option<&Code>, r: u8| code.and_then(|code| code.requests.get(usize::from(r))).copied();
    let of = |w: u8, r: u8| request(waves.get(usize::from(w)), r).map_or("?", |r| name(r.entry));
    match step {
        Step::Service(w) => format!("{} services its next instruction", wave(w)),
        Step::Answer(w, entry) => format!("the pool answers {} about the mutex of {}", wave(w), name(entry)),
        Step::AskAgain(w, entry) => format!("{} asks again for the mutex of {}", wave(w), name(entry)),
        Step::Load(w, r) => format!("{} loads {}", wave(w), of(w, r)),
        Step::Retire(w, r, _) => format!("a store of {} to {} retires", wave(w), of(w, r)),
        Step::CpuAsk(c) => format!("{} asks for the mutex of what is next", cpu(c)),
        Step::CpuAnswer(c, entry) => format!("the pool answers {} about the mutex of {}", cpu(c), name(entry)),
        Step::CpuCommit(c) => format!("{} commits what is next", cpu(c)),
        Step::CpuRetire(c) => format!("the oldest store of {} retires", cpu(c)),
    }
}

/// Why a test is not run.
pub fn refused(refused: &Refused, file: FileId) -> Diagnostic {
    let straight = "take the loads and stores of one execution, or ask the axioms (`warpstep litmus`)";
    let (span, message, hint): (Span, String, Option<&str>) = match *refused {
        Refused::Block(span) => {
            (span, "the mutex mechanism runs straight programs, without blocks".into(), Some(straight))
        }
        Refused::Part(span) => (
            span,
            "the mutex mechanism accesses whole locations, not parts of them".into(),
            Some("leave out the offset, and the size or write .b64"),
        ),
        Refused::Stored(span) => {
            (span, "the mutex mechanism stores numbers, not registers".into(), Some("store a number"))
        }
        Refused::Computes(span) => {
            (span, "the mutex mechanism has no arithmetic".into(), Some("load, store and atom.exch are run"))
        }
        Refused::Atomic(span) => {
            (span, "of atomic operations the mutex mechanism has exchanges".into(), Some("atom.exch is run"))
        }
        Refused::Declared(span) => {
            (span, "the mutex mechanism has locations that begin with numbers, without aliases".into(), None)
        }
        Refused::TooBig(big, span) => (span, format!("the mutex mechanism has no room for this: {}", room(big)), None),
    };
    let wording = Wording { code: "unsupported", message, label: "this one".to_owned(), hint: hint.map(str::to_owned) };
    Diagnostic::from(wording).at(file, span)
}

/// How much there is room for.
fn room(big: TooBig) -> String {
    match big {
        TooBig::Locations => format!("{LOCATIONS} locations at most"),
        TooBig::Registers => format!("{REGISTERS} loads and exchanges at most, of all lanes and threads together"),
        TooBig::Values => format!("{} different values that are stored at most", VALUES - 1),
        TooBig::Mutexes => format!("{LOCATIONS} mutexes at most"),
        TooBig::Agents => format!("{WAVES} wavefronts and {CPUS} CPU threads at most"),
        TooBig::Lanes => format!("{LANES} active lanes of an instruction at most"),
        TooBig::Instructions => {
            format!("{LENGTH} instructions at most, and {REQUESTS} locations that they access together")
        }
    }
}
