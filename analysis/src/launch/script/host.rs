//! What the host of a script does: its messages go to the device, the device's messages bring the indices that its names stand
//! for.

use super::device::{Access, Known, Launched, Need, ScriptDevice, unchecked};
use super::{Do, Script, Start};
use crate::launch::device::{Filled, filled, given, launch_of};
use crate::launch::failure::Placed;
use crate::launch::problem::{At, ProblemKind};
use crate::launch::{Arg, Buffer, Expect, Failure, Global, compare};
use crate::machine::Launch;
use crate::machine::device::message::{
    ContextId, ContextInput, ContextOutput, DeviceInput, DeviceOutput, GridId, Program, ProgramId, Tag,
};
use crate::verdict::Stop;
use indexmap::IndexMap;
use std::sync::Arc;

impl ScriptDevice {
    /// The host does what it can; gives what it waits for. `None`: the script has ended, and the device has nothing to do.
    pub(super) fn host(&mut self, script: &Script) -> Result<Option<Need>, Failure> {
        while let Some(step) = script.steps.get(self.host.at) {
            let tag = Tag(u32::try_from(self.host.at).unwrap_or(u32::MAX));
            if let Some(need) = self.step(script, &step.what, tag, step.at)? {
                return Ok(Some(need));
            }
            (self.host.at, self.host.within) = (self.host.at + 1, 0);
        }
        while let Some((name, _)) = self.host.launches.iter().find(|(_, l)| !l.over) {
            let name = name.clone();
            if self.wait(script, &name)?.is_none() {
                return Ok(Some(Need::Answer));
            }
        }
        // What was sent last, such as a destruction, is done before the end.
        Ok((!self.host.drained).then_some(Need::Rest))
    }

    /// Does a step; gives what it waits for first.
    fn step(&mut self, script: &Script, what: &Do, tag: Tag, at: At) -> Result<Option<Need>, Failure> {
        /// What a step needs to know, when the device has said it.
        macro_rules! known {
            ($answer:expr) => {
                match $answer? {
                    Some(known) => known,
                    None => return Ok(Some(Need::Answer)),
                }
            };
        }
        if matches!(what, Do::Set { .. } | Do::Expect { .. }) && !self.may_access() {
            return Ok(Some(Need::Access));
        }
        match what {
            Do::Create(name) => {
                self.send(DeviceInput::Create(tag))?;
                let known = Known { tag, id: None, buffers: IndexMap::new(), destroyed: false };
                self.host.contexts.insert(name.clone(), known);
            }
            Do::Load { context, program } => {
                let id = known!(self.context(script, context));
                let (k, _, env) = self.programs.get_full(program).ok_or_else(unchecked)?;
                let tag = Tag(u32::try_from(k).unwrap_or(u32::MAX));
                self.send(DeviceInput::Load(Program(Arc::clone(env)), id, tag))?;
                self.host.loaded.insert((context.clone(), program.clone()), None);
            }
            Do::Start(start) => {
                let context = known!(self.context(script, &start.context));
                let program = known!(self.program(&start.context, &start.program, context));
                self.start(start, context, program, tag)?;
            }
            Do::Abort(name) => {
                let grid = known!(self.grid(name));
                let launched = self.host.launches.get_mut(name).ok_or_else(unchecked)?;
                launched.over = true;
                let context = launched.context.clone();
                let context = known!(self.context(script, &context));
                // It may have completed meanwhile: then there is nothing to abort.
                drop(self.machine.send(DeviceInput::Context(context, ContextInput::Abort(grid))));
            }
            Do::Destroy(name) => {
                let id = known!(self.context(script, name));
                if let Some(stop) = self.leaks(id) {
                    return Err(stop.into());
                }
                self.send(DeviceInput::Destroy(id))?;
                if let Some(known) = self.host.contexts.get_mut(name) {
                    known.destroyed = true;
                }
                self.host.launches.values_mut().filter(|l| l.context == *name).for_each(|l| l.over = true);
            }
            Do::Wait(names) => {
                while let Some(name) = names.get(usize::try_from(self.host.within).unwrap_or(usize::MAX)) {
                    known!(self.wait(script, name));
                    self.host.within += 1;
                }
            }
            Do::Run(steps) if self.host.within < *steps => {
                return Ok(Some(Need::Instructions(steps - self.host.within)));
            }
            Do::Run(_) => {}
            Do::Set { context, name, value } => {
                known!(self.context(script, context));
                for program in script.loaded_before(self.host.at, context) {
                    let id = known!(self.context(script, context));
                    known!(self.program(context, program, id));
                }
                self.set(context, name, value)?;
            }
            Do::Expect { context, buffer, expect } => {
                let id = known!(self.context(script, context));
                self.expect(id, context, buffer, expect, at)?;
            }
        }
        Ok(None)
    }

    /// Whether it may access memory now.
    fn may_access(&mut self) -> bool {
        if self.host.accesses == Access::Now {
            self.host.accesses = Access::Asked;
            return true;
        }
        self.host.accesses == Access::AtOnce
    }

    /// Writes a buffer or a variable, from its start.
    fn set(&mut self, context: &str, name: &str, value: &Global) -> Result<(), Failure> {
        let shown = format!("{context}.{name}");
        let Some((id, placed)) = self.placed(context, name) else {
            let known = self.names().collect();
            return Err(ProblemKind::UnknownVariable { name: shown, known }.at(value.at).into());
        };
        let contents = given(&shown, value, placed.bytes)?;
        self.machine.settle(id);
        let arena = self.machine.arena_mut(id).ok_or_else(unchecked)?;
        let given = contents.len() as u64;
        if let Some(to) = arena.bytes_at_mut(placed.address, given) {
            to.copy_from_slice(&contents);
        }
        if given == placed.bytes {
            arena.leave_unwritten(placed.address, None);
        }
        Ok(())
    }

    /// Compares what a buffer holds now.
    fn expect(&mut self, id: ContextId, context: &str, buffer: &str, expect: &Expect, at: At) -> Result<(), Failure> {
        self.machine.settle(id);
        let name = format!("{context}.{buffer}");
        let Some((_, found)) = self.look(context, buffer) else {
            let known = self.names().collect();
            return Err(ProblemKind::UnknownVariable { name, known }.at(at).into());
        };
        let mismatch = compare(&name, expect, found).map_err(|kind| kind.at(at))?;
        self.host.mismatches.extend(mismatch);
        Ok(())
    }

    fn start(&mut self, start: &Start, context: ContextId, program: ProgramId, tag: Tag) -> Result<(), Failure> {
        let env = self.programs.get(&start.program).ok_or_else(unchecked)?;
        let buffers = self.host.contexts.get(&start.context).map(|c| &c.buffers);
        let launch: Launch = launch_of(env, &start.kernel, &self.config.device.capacity, &|arg| match arg {
            Arg::Buffer { name, .. } => buffers?.get(name).map(|b| (b.address, b.bytes)),
            _ => None,
        })?;
        self.send(DeviceInput::Context(context, ContextInput::Start(program, Box::new(launch), tag)))?;
        let launched = Launched { context: start.context.clone(), tag, grid: None, over: false };
        self.host.launches.insert(start.launch.clone(), launched);
        Ok(())
    }

    /// Sends a message that the script's order allows.
    fn send(&mut self, message: DeviceInput) -> Result<(), Failure> {
        self.machine
            .send(message)
            .map_err(|error| Stop::internal(format!("the device refuses a message: {error:?}"), None).into())
    }

    /// Takes a message that the device has sent.
    fn answer<T>(&mut self, wanted: impl Fn(&DeviceOutput) -> Option<T>) -> Option<T> {
        let (k, found) = self.host.answers.iter().enumerate().find_map(|(k, m)| Some((k, wanted(m)?)))?;
        self.host.answers.remove(k);
        Some(found)
    }

    /// The index of a context, as soon as it is known. Its buffers are made then.
    fn context(&mut self, script: &Script, name: &str) -> Result<Option<ContextId>, Failure> {
        let known = self.host.contexts.get(name).ok_or_else(unchecked)?;
        if let Some(id) = known.id {
            return Ok(Some(id));
        }
        let tag = known.tag;
        let created = self.answer(|m| match m {
            DeviceOutput::Created(id, t) if *t == tag => Some(*id),
            _ => None,
        });
        let Some(id) = created else { return Ok(None) };
        let mut buffers = IndexMap::new();
        for (buffer, described) in script.buffers.get(name).into_iter().flatten() {
            buffers.insert(buffer.clone(), self.buffer(id, buffer, described)?);
        }
        if let Some(known) = self.host.contexts.get_mut(name) {
            (known.id, known.buffers) = (Some(id), buffers);
        }
        Ok(Some(id))
    }

    fn buffer(&mut self, context: ContextId, name: &str, buffer: &Buffer) -> Result<Placed, Failure> {
        let Filled { bytes, contents, unwritten } = filled(name, buffer, &self.config)?;
        let address = self.machine.alloc(context, name, bytes)?.ok_or_else(unchecked)?;
        let arena = self.machine.arena_mut(context).ok_or_else(unchecked)?;
        if let Some(to) = arena.bytes_at_mut(address, contents.len() as u64) {
            to.copy_from_slice(&contents);
        }
        arena.leave_unwritten(address, unwritten);
        Ok(Placed { address, bytes, ty: buffer.ty })
    }

    /// The index of a program in a context, as soon as it is known.
    fn program(&mut self, context: &str, program: &str, id: ContextId) -> Result<Option<ProgramId>, Failure> {
        let key = (context.to_owned(), program.to_owned());
        if let Some(Some(known)) = self.host.loaded.get(&key) {
            return Ok(Some(*known));
        }
        let tag = Tag(self.programs.get_index_of(program).and_then(|k| u32::try_from(k).ok()).unwrap_or(u32::MAX));
        let found = self.answer(|m| match m {
            DeviceOutput::Loaded(program, c, t) if (*c, *t) == (id, tag) => Some(*program),
            _ => None,
        });
        self.host.loaded.insert(key, found);
        Ok(found)
    }

    /// The index of a launch's grid, as soon as it is known.
    fn grid(&mut self, name: &str) -> Result<Option<GridId>, Failure> {
        let Launched { grid, tag, .. } = *self.host.launches.get(name).ok_or_else(unchecked)?;
        let started = grid.or_else(|| {
            self.answer(|m| match m {
                DeviceOutput::Context(_, ContextOutput::Started(grid, t)) if *t == tag => Some(*grid),
                _ => None,
            })
        });
        if let Some(launched) = self.host.launches.get_mut(name) {
            launched.grid = started;
        }
        Ok(started)
    }

    /// Whether a launch has ended; its end is noted once.
    fn wait(&mut self, script: &Script, name: &str) -> Result<Option<()>, Failure> {
        let Some(grid) = self.grid(name)? else { return Ok(None) };
        let ended = self.answer(|m| match m {
            DeviceOutput::Context(_, ContextOutput::Completed(g)) if *g == grid => Some(()),
            _ => None,
        });
        if ended.is_some() {
            let launched = self.host.launches.get_mut(name).ok_or_else(unchecked)?;
            launched.over = true;
            let context = launched.context.clone();
            if let Some(id) = self.context(script, &context)? {
                self.machine.settle(id);
            }
        }
        Ok(ended)
    }
}
