//! A run as the turns of its warps: who ran from where to where, for how many instructions; and the steps of memory that
//! acts on its own between them.

use super::count::counted;
use super::memory::Names;
use super::terminal::inline;
use crate::base::{LaneMask, Pc, SourceMap};
use crate::program::env::ProgEnv;
use crate::verdict::{Event, Who};
use std::collections::VecDeque;
use std::sync::Arc;

/// A stretch of instructions of the same lanes of a warp.
#[derive(Clone, Copy)]
struct Turn {
    who: Who,
    lanes: LaneMask,
    first: Pc,
    last: Pc,
    instructions: u64,
}

/// Listens to a run and tells its turns.
pub struct Turns {
    env: Arc<ProgEnv>,
    names: Names,
    now: Option<Turn>,
    told: VecDeque<String>,
    keep: usize,
    left_out: u64,
}

impl Turns {
    /// Keeps the last `keep` turns of a run of a program; `sources` are its files.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>, sources: SourceMap, keep: usize) -> Self {
        let names = Names::new(vec![Arc::clone(&env)], sources);
        Self { env, names, now: None, told: VecDeque::new(), keep, left_out: 0 }
    }

    /// Takes note of an event.
    pub fn event(&mut self, who: Who, event: &Event<'_>) {
        let number = self.names.event(who, event);
        if let (Event::MemoryStep(step), Some(number)) = (event, number) {
            self.end();
            let text = format!("memory step {number}: {}\n", self.names.step(&step.look()));
            return self.tell(text);
        }
        let Event::Step(step) = event else { return };
        if self.env.origin.get(step.pc.0 as usize).is_none_or(|o| o.hidden) {
            return;
        }
        if let Some(turn) = self.now.as_mut().filter(|t| t.who == who && t.lanes == step.active) {
            turn.last = step.pc;
            turn.instructions += 1;
            return;
        }
        self.end();
        self.now = Some(Turn { who, lanes: step.active, first: step.pc, last: step.pc, instructions: 1 });
    }

    fn end(&mut self) {
        let Some(turn) = self.now.take() else { return };
        let text = self.text(&turn);
        self.tell(text);
    }

    fn tell(&mut self, text: String) {
        self.told.push_back(text);
        if self.told.len() > self.keep {
            self.told.pop_front();
            self.left_out += 1;
        }
    }

    fn text(&self, turn: &Turn) -> String {
        let Turn { who: Who { launch, block, warp }, lanes, first, last, instructions } = *turn;
        let lanes = if lanes == !0 { "all lanes".to_owned() } else { super::words::lanes(lanes) };
        let count = counted(instructions, "instruction");
        let launch = if launch == 0 { String::new() } else { format!("launch {launch}, ") };
        let place = |pc| inline(&self.names.launches.instruction(turn.who, pc)).into_owned();
        let from = place(first);
        let to = if first == last { String::new() } else { format!(" to {}", place(last)) };
        format!("{launch}block {block}, warp {warp}, {lanes}: {count}, {from}{to}\n")
    }

    /// The turns as text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.end();
        let head = match self.left_out {
            0 => String::new(),
            n => format!("{} before these\n", counted(n, "turn")),
        };
        std::iter::once(head).chain(self.told).collect()
    }
}
