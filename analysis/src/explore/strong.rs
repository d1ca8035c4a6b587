//! Strongly connected parts of a graph of states (R. Tarjan, 1972), without recursion and within limits.

use crate::verdict::LimitKind;
use fixedbitset::FixedBitSet;

/// Steps that are gone through.
pub(super) trait Steps {
    /// How many states there are.
    fn states(&self) -> usize;

    /// Where the steps of a state begin, for [`Steps::next`].
    fn cursor(&self, state: u32) -> u32;

    /// The state that the next step of a state leads to.
    fn next(&self, state: u32, cursor: &mut u32) -> Option<u32>;
}

/// States between two questions whether there is time left.
const PATIENCE: u32 = 1 << 14;

/// The parts of some states that are strongly connected and have a step in them, each in ascending order; and why they may not be all: what
/// `up` says ends it.
pub(super) fn parts(
    steps: &impl Steps,
    states: &[u32],
    up: &mut dyn FnMut() -> Option<LimitKind>,
) -> (Vec<Vec<u32>>, Option<LimitKind>) {
    let mut tarjan = Tarjan::new(steps.states(), states);
    let mut found = Vec::new();
    for &root in states {
        if tarjan.order[root as usize] != UNSEEN {
            continue;
        }
        tarjan.enter(root, steps);
        while let Some((state, cursor)) = tarjan.work.last_mut() {
            let state = *state;
            if let Some(to) = steps.next(state, cursor) {
                let before = tarjan.next;
                tarjan.step(state, to, steps);
                if tarjan.next != before
                    && tarjan.next.is_multiple_of(PATIENCE)
                    && let Some(limit) = up()
                {
                    return (found, Some(limit));
                }
                continue;
            }
            let part = tarjan.leave(state);
            match part[..] {
                [] => {}
                [one] if !around(steps, one) => {}
                _ => found.push(part),
            }
        }
    }
    (found, None)
}

/// Whether a step leads from a state to itself.
fn around(steps: &impl Steps, state: u32) -> bool {
    let mut cursor = steps.cursor(state);
    std::iter::from_fn(|| steps.next(state, &mut cursor)).any(|to| to == state)
}

/// No place in the order yet.
const UNSEEN: u32 = u32::MAX;

/// Where the search for strongly connected parts is.
struct Tarjan {
    member: FixedBitSet,
    /// The place of each state in the order in which they are come to, and the first that is known to be reached from it.
    order: Vec<u32>,
    low: Vec<u32>,
    open: FixedBitSet,
    stack: Vec<u32>,
    next: u32,
    /// The states on the way, and which steps of each were not looked at.
    work: Vec<(u32, u32)>,
}

impl Tarjan {
    fn new(count: usize, states: &[u32]) -> Self {
        let mut member = FixedBitSet::with_capacity(count);
        member.extend(states.iter().map(|s| *s as usize));
        let open = FixedBitSet::with_capacity(count);
        let (order, low) = (vec![UNSEEN; count], vec![0; count]);
        Self { member, order, low, open, stack: Vec::new(), next: 0, work: Vec::new() }
    }

    fn enter(&mut self, state: u32, steps: &impl Steps) {
        (self.order[state as usize], self.low[state as usize]) = (self.next, self.next);
        self.next += 1;
        self.stack.push(state);
        self.open.insert(state as usize);
        self.work.push((state, steps.cursor(state)));
    }

    /// A step leads to a state.
    fn step(&mut self, from: u32, to: u32, steps: &impl Steps) {
        if !self.member.contains(to as usize) {
            return;
        }
        if self.order[to as usize] == UNSEEN {
            self.enter(to, steps);
        } else if self.open.contains(to as usize) {
            self.low[from as usize] = self.low[from as usize].min(self.order[to as usize]);
        }
    }

    /// All steps of the last state were looked at. Gives the part that it is the first of, or nothing.
    fn leave(&mut self, state: u32) -> Vec<u32> {
        self.work.pop();
        let low = self.low[state as usize];
        if let Some((parent, _)) = self.work.last() {
            self.low[*parent as usize] = self.low[*parent as usize].min(low);
        }
        let mut part = Vec::new();
        if low != self.order[state as usize] {
            return part;
        }
        while let Some(s) = self.stack.pop() {
            self.open.remove(s as usize);
            part.push(s);
            if s == state {
                break;
            }
        }
        part.sort_unstable();
        part
    }
}
