//! Running a host script: the device goes on until the host may have what it waits for.

use super::device::{Access, Host, Need, ScriptDevice, ScriptState, fresh};
use super::{Do, Script};
use crate::base::sort;
use crate::choice::{Decisions, Fair, Observed, Oracle, Seeded};
use crate::launch::device::launch_of;
use crate::launch::{Arg, Failure, Mismatch, Outcome, Unexpected, compare_output};
use crate::machine::device::message::ContextId;
use crate::machine::nothing_steps;
use crate::machine::{Order, Ran, Run, Tell, Unnoticed};
use crate::verdict::Stop;

/// Who makes a step of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum By {
    /// The device, whatever an oracle says.
    #[default]
    Any,
    /// The device makes a step that nothing else notices.
    Unnoticed(Unnoticed),
    /// The host looks at memory, or writes it.
    Host,
}

/// What the device runs with.
struct With<'a, 't> {
    tell: Option<Tell<'t>>,
    oracle: &'a mut dyn Oracle,
    out: &'a mut dyn FnMut(&[u8]),
}

impl ScriptDevice {
    /// Checks what does not need a device: kernels, arguments, limits, buffers.
    fn check(&self, script: &Script) -> Result<(), Failure> {
        let mut problems = Vec::new();
        for step in &script.steps {
            let Do::Start(start) = &step.what else { continue };
            let Some(env) = self.programs.get(&start.program) else { continue };
            let buffers = script.buffers.get(&start.context);
            let bytes = |arg: &Arg| {
                let Arg::Buffer { name, .. } = arg else { return None };
                let buffer = buffers?.get(name)?;
                let elements = buffer.init.elements(buffer.ty).ok().flatten().or(buffer.len)?;
                Some((0, elements.saturating_mul(buffer.ty.bytes.into())))
            };
            if let Err(Failure::Input(more)) = launch_of(env, &start.kernel, &self.config.device.capacity, &bytes) {
                problems.extend(more);
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Failure::Input(problems)) }
    }

    /// Runs a script. `tell` observes, `seen` is told what is decided, `out` receives what is printed.
    ///
    /// # Errors
    /// The input is wrong, or the run stopped.
    pub fn run(
        &mut self,
        script: &Script,
        tell: Option<Tell<'_>>,
        seen: Option<&Decisions>,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<Outcome, Failure> {
        let mut oracle: Box<dyn Oracle> = match self.config.seed {
            Some(seed) => Box::new(Seeded::new(seed)),
            None => Box::new(Fair),
        };
        match seen {
            Some(seen) => {
                self.run_by(script, &mut Observed::new(&mut *oracle, |menu, pick| seen.add(menu, pick)), tell, out)
            }
            None => self.run_by(script, &mut *oracle, tell, out),
        }
    }

    /// The same by an oracle of the caller's.
    ///
    /// # Errors
    /// As [`ScriptDevice::run`].
    pub fn run_by(
        &mut self,
        script: &Script,
        oracle: &mut dyn Oracle,
        tell: Option<Tell<'_>>,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<Outcome, Failure> {
        self.check(script)?;
        let mut with = With { tell, oracle, out };
        while let Some(need) = self.host(script)? {
            self.pump(need, Order::Any, u64::MAX, &mut with)?;
        }
        self.outcome(script)
    }

    /// The steps that [`ScriptDevice::step_by`] may take: one that nothing else notices, and others, which may all come later.
    ///
    /// # Errors
    /// As [`ScriptDevice::run`].
    pub fn steps(&mut self, script: &Script) -> Result<(Option<By>, &'static [By]), Failure> {
        let need = self.host(script)?;
        let counts = matches!(need, None | Some(Need::Instructions(_)));
        // When the host hears something decides what it counts, and when it looks for what is left behind.
        let hears = !self.config.leaks && !script.steps[self.host.at..].iter().any(|s| matches!(s.what, Do::Run(_)));
        let unnoticed = if counts { None } else { self.machine.unnoticed(hears) };
        let others: &[By] = if need == Some(Need::Access) { &[By::Host, By::Any] } else { &[By::Any] };
        Ok((unnoticed.map(By::Unnoticed), others))
    }

    /// Makes one step of the device or of the host, and then what messages the host has to send: for searches, on a script that
    /// was checked by [`ScriptDevice::begin`]. Gives what the script came to, if it has ended.
    ///
    /// # Errors
    /// As [`ScriptDevice::run`].
    pub fn step_by(
        &mut self,
        script: &Script,
        by: By,
        oracle: &mut dyn Oracle,
        tell: Option<Tell<'_>>,
    ) -> Result<Option<Outcome>, Failure> {
        if by == By::Host {
            self.host.accesses = Access::Now;
        }
        if let Some(need) = self.host(script)?.filter(|_| by != By::Host) {
            let (order, out) = (Order::Single, &mut |_: &[u8]| ());
            match by {
                By::Unnoticed(by) => {
                    self.pump(need, order, by.length(), &mut With { tell, oracle: &mut by.by(oracle), out })?;
                }
                By::Any | By::Host => self.pump(need, order, 1, &mut With { tell, oracle, out })?,
            }
        }
        self.machine.forget_turns();
        sort::sort(&mut self.host.answers);
        if self.host(script)?.is_none() { self.outcome(script).map(Some) } else { Ok(None) }
    }

    /// What the host does next, by the steps of a script.
    #[must_use]
    pub fn next<'s>(&self, script: &'s Script) -> Option<&'s Do> {
        script.steps.get(self.host.at).map(|step| &step.what)
    }

    /// Checks a script, and lets the host do what it can without the device: one on which nothing has been done. `asked`: the
    /// host accesses memory only where a [step](ScriptDevice::step_by) is its own.
    ///
    /// # Errors
    /// The input is wrong.
    pub fn begin(&mut self, script: &Script, asked: bool) -> Result<(), Failure> {
        self.check(script)?;
        let accesses = if asked { Access::Asked } else { Access::AtOnce };
        self.machine = fresh(&self.programs, self.control, &self.config);
        self.host = Host { accesses, ..Host::default() };
        self.host(script).map(|_| ())
    }

    /// The state, to go back to.
    #[must_use]
    pub fn save(&self) -> ScriptState {
        ScriptState { machine: self.machine.fork(), host: self.host.clone() }
    }

    /// Goes back to a state.
    pub fn restore(&mut self, state: &ScriptState) {
        self.machine = state.machine.fork();
        self.host.clone_from(&state.host);
    }

    /// What a script has come to.
    fn outcome(&self, script: &Script) -> Result<Outcome, Failure> {
        let Host { launches, contexts, printed, mismatches, .. } = &self.host;
        let first_at = |m: &Mismatch| Mismatch { at: script.expected_at(&m.name), ..m.clone() };
        let outcome = Outcome {
            stats: launches.values().filter_map(|l| l.grid).map(|g| self.machine.stats(g)).collect(),
            output: printed.clone(),
            unexpected: Unexpected {
                mismatches: mismatches.iter().map(first_at).collect(),
                output_mismatch: script.stdout.as_ref().and_then(|e| compare_output(e, printed)),
                refused: None,
            },
        };
        let left = contexts.values().filter(|c| !c.destroyed).filter_map(|c| c.id);
        match left.into_iter().find_map(|id| self.leaks(id)) {
            Some(stop) if outcome.unexpected.is_empty() => Err(stop.into()),
            _ => Ok(outcome),
        }
    }

    /// What is wrong with a context at its end ([`Config::leaks`]).
    pub(super) fn leaks(&self, id: ContextId) -> Option<Stop> {
        let bug = self.machine.arena(id).filter(|_| self.config.leaks)?.leaks()?;
        Some(Stop::Bug(Box::new(bug)))
    }

    /// Lets the device run until the host may have what it needs, for so many warp instructions at `most`, and keeps what it
    /// says.
    fn pump(&mut self, need: Need, order: Order, most: u64, with: &mut With<'_, '_>) -> Result<(), Failure> {
        let tell: Option<Tell<'_>> = match &mut with.tell {
            Some(tell) => Some(&mut **tell),
            None => None,
        };
        let hold = if let Need::Instructions(left) = need { left.min(most) } else { most };
        let (before, watch, printed) = (self.machine.clock(), self.watch, &mut self.host.printed);
        let mut out = |bytes: &[u8]| {
            printed.extend_from_slice(bytes);
            (with.out)(bytes);
        };
        let (oracle, out) = (&mut *with.oracle, &mut out);
        let ran = self.machine.run(Run { tell, oracle, out, order, hold, whole_turns: false, watch, look: true })?;
        if let Ran::Output(message) = ran {
            self.host.answers.push(message);
        }
        match (need, ran) {
            (Need::Instructions(left), Ran::Idle) => self.host.within += left,
            (Need::Instructions(_), _) => self.host.within += self.machine.clock() - before,
            (Need::Answer, Ran::Idle) => return Err(self.machine.stuck().unwrap_or_else(nothing_steps).into()),
            (Need::Rest, Ran::Idle) => self.host.drained = true,
            _ => {}
        }
        Ok(())
    }
}
