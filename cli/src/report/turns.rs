//! A run as the turns of its warps: who ran from where to where, for how many instructions; and the steps of memory that
//! acts on its own between them.

use super::launches::Launches;
use super::terminal::inline;
use super::words::counted;
use crate::base::{LaneMask, Pc};
use crate::launch::Do;
use crate::verdict::{Event, Message, Who};
use std::collections::{BTreeMap, VecDeque};

/// A stretch of instructions of the same lanes of a warp.
#[derive(Clone, Copy)]
struct Turn {
    who: Who,
    lanes: LaneMask,
    first: Pc,
    last: Pc,
    instructions: u64,
}

/// What the grids and contexts of a host script are called, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct ScriptNames {
    /// The launches.
    pub grids: BTreeMap<u32, String>,
    /// The contexts.
    pub contexts: BTreeMap<u32, String>,
}

impl ScriptNames {
    fn grid(&self, number: u32) -> String {
        let name = self.grids.get(&number);
        name.map_or_else(|| format!("launch {number}"), |name| format!("launch `{}`", inline(name)))
    }

    fn context(&self, number: u32) -> String {
        let name = self.contexts.get(&number);
        name.map_or_else(|| format!("context {number}"), |name| format!("context `{}`", inline(name)))
    }

    /// What the device does for a message; none of those that only bring it nearer.
    fn message(&self, message: Message) -> Option<String> {
        Some(match message {
            Message::Create(context) => format!("{} is made\n", self.context(context)),
            Message::Destroy(context) => format!("{} is destroyed\n", self.context(context)),
            Message::Load(_, context) => format!("a program is loaded into {}\n", self.context(context)),
            Message::Start(grid, context) => format!("{} is started in {}\n", self.grid(grid), self.context(context)),
            Message::Abort(grid, _) => format!("{} is aborted\n", self.grid(grid)),
            Message::Complete(grid, _) => format!("{} is complete\n", self.grid(grid)),
            Message::Completed(grid, _) => format!("the host hears that {} is complete\n", self.grid(grid)),
            _ => return None,
        })
    }
}

/// Listens to a run and tells its turns.
pub struct Turns {
    launches: Launches,
    /// What the grids and contexts of a host script are called; messages are told, too, then.
    script: Option<ScriptNames>,
    now: Option<Turn>,
    told: VecDeque<String>,
    keep: usize,
    left_out: u64,
}

impl Turns {
    /// Keeps the last `keep` turns of the launches of a run, from its beginning.
    #[must_use]
    pub const fn new(launches: Launches, keep: usize) -> Self {
        Self { launches, script: None, now: None, told: VecDeque::new(), keep, left_out: 0 }
    }

    /// The same of a host script, with its messages.
    #[must_use]
    pub fn of_script(self, names: ScriptNames) -> Self {
        Self { script: Some(names), ..self }
    }

    /// Takes note of an event.
    pub fn event(&mut self, who: Who, event: &Event<'_>) {
        self.launches.event(who, event);
        if let Event::MemoryStep(step) = event {
            self.end();
            let text = format!("memory step {}: {}\n", self.launches.steps, self.launches.step(&step.look()));
            return self.tell(text);
        }
        if let (Event::Message(message), Some(names)) = (event, &self.script)
            && let Some(text) = names.message(*message)
        {
            self.end();
            return self.tell(text);
        }
        let Event::Step(step) = event else { return };
        if self.launches.get(who).and_then(|l| l.place(step.pc)).is_none() {
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

    /// The host of a script accesses memory.
    pub fn host(&mut self, what: &Do) {
        self.end();
        let name = |context: &str, name: &str| inline(&format!("{context}.{name}")).into_owned();
        match what {
            Do::Set { context, name: n, .. } => self.tell(format!("the host writes `{}`\n", name(context, n))),
            Do::Expect { context, buffer, .. } => self.tell(format!("the host reads `{}`\n", name(context, buffer))),
            _ => {}
        }
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
        let launch = match &self.script {
            Some(names) => format!("{}, ", names.grid(launch)),
            None if launch == 0 => String::new(),
            None => format!("launch {launch}, "),
        };
        let place = |pc| inline(&self.launches.instruction(turn.who, pc)).into_owned();
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
