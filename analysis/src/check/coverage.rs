//! Which rules of the report fired.

use super::plain;
use super::thread_rules::{expressions, threads};
use crate::base::Pc;
use crate::base::sorted::SortedSet;
use crate::program::env::ProgEnv;
use crate::program::instr::Op;
use crate::verdict::{Event, Rule, Sink, Step, Stop, Who};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Collects rules: those that the machine names, and those that follow from a step.
pub struct Coverage {
    env: Arc<ProgEnv>,
    tokens: bool,
    fired: SortedSet<Rule>,
    /// Instructions whose expressions were looked at.
    seen: FxHashSet<Pc>,
}

impl Coverage {
    /// Nothing has fired yet.
    #[must_use]
    pub fn new(env: Arc<ProgEnv>) -> Self {
        Self { env, tokens: false, fired: SortedSet::new(), seen: FxHashSet::default() }
    }

    /// The rules that fired so far.
    #[must_use]
    pub const fn fired(&self) -> &SortedSet<Rule> {
        &self.fired
    }

    fn step(&mut self, step: &Step<'_>) {
        rules_of(&self.env, self.tokens, step, |rule| _ = self.fired.insert(rule));
        if step.lanes != 0 && self.seen.insert(step.pc) {
            expressions(&self.env, step, |rule| _ = self.fired.insert(rule));
        }
    }
}

/// The rules that follow from a step, besides those that the machine names. `tokens`: under the report's token stack.
pub fn rules_of(env: &ProgEnv, tokens: bool, step: &Step<'_>, mut fired: impl FnMut(Rule)) {
    let Some(i) = env.code.get(step.pc.0 as usize) else { return };
    let op = i.op;
    if step.lanes != 0 {
        fired(Rule::ThreadExecTt);
        threads(env, i, &mut fired);
    }
    if step.active & !step.lanes != 0 {
        fired(Rule::ThreadExecFf);
    }
    let transfer = matches!(op, Op::Bra | Op::Brx | Op::Call | Op::CallIndirect | Op::Ret | Op::Exit);
    let token = matches!(op, Op::Ssy | Op::PreBrk | Op::PreRet | Op::Sync | Op::Break);
    if transfer || token {
        fired(Rule::WarpBra);
        let uniform = op == Op::Bra && step.lanes == step.active;
        let falls = !token && step.lanes == 0;
        if tokens && (uniform || falls) {
            fired(if uniform { Rule::CrsBraUni } else { Rule::CrsNext });
        }
        return;
    }
    if tokens {
        fired(Rule::CrsNext);
    }
    if step.lanes == 0 {
        return;
    }
    if plain::request(env, i).is_some() {
        fired(Rule::WarpMem);
    } else if op.is_barrier() || matches!(op, Op::WarpSync | Op::Exchange | Op::Matrix) {
        fired(Rule::WarpComm);
    }
}

impl Sink for Coverage {
    const ON: bool = true;

    fn event(&mut self, _: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Launch { tokens, .. } => self.tokens = tokens,
            Event::Step(step) => self.step(&step),
            Event::Fired(rule) => {
                self.fired.insert(rule);
            }
            _ => {}
        }
        Ok(())
    }
}
