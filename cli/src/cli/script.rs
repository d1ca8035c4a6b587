//! `warpstep run SCRIPT.toml`: host scripts.

use super::follow::Followers;
use super::form::Form;
use super::output;
use super::report_flags::{Listing, Reporter};
use super::run::Run;
use crate::base::SourceMap;
use crate::check::{Observers, PerLaunch, Races, TraceHash};
use crate::choice::Decisions;
use crate::launch::{Failure, Problem, Script, ScriptDevice, programs};
use crate::machine::{Bounds, Config, ControlModel};
use crate::program::env::ProgEnv;
use crate::report::run::Finished;
use crate::report::{EndedEarly, Models, RacesReport};
use crate::verdict::{Event, Sink, Stop, Who};
use std::sync::Arc;

/// A script with what its runs need.
pub(super) struct Scripted {
    pub script: Script,
    pub device: ScriptDevice,
    pub envs: Vec<Arc<ProgEnv>>,
    /// For what belongs to no program.
    none: Arc<ProgEnv>,
    pub sources: SourceMap,
    pub models: Models,
}

impl Scripted {
    /// Reads the programs of a script, for a device that is as `config` says.
    ///
    /// # Errors
    /// The exit code, when they are wrong; that has been told.
    pub fn new(
        read: (Script, SourceMap),
        config: impl FnOnce(&mut SourceMap) -> Result<Config, Vec<Problem>>,
        bounds: &Bounds,
        format: Form,
    ) -> Result<Self, u8> {
        Self::ready(read, config, bounds).map_err(|(problems, sources)| output::problems(&problems, &sources, format))
    }

    /// The same without a word.
    ///
    /// # Errors
    /// What is wrong, with the files that it is about.
    pub fn ready(
        (script, mut sources): (Script, SourceMap),
        config: impl FnOnce(&mut SourceMap) -> Result<Config, Vec<Problem>>,
        bounds: &Bounds,
    ) -> Result<Self, (Vec<Problem>, SourceMap)> {
        let read = config(&mut sources).and_then(|config| {
            let (all, control) = programs(&script, config.control, &mut sources)?;
            Ok((config, all, control))
        });
        let (config, all, control) = match read {
            Ok(read) => read,
            Err(problems) => return Err((problems, sources)),
        };
        let envs: Vec<_> = all.values().cloned().collect();
        let split = config.control == Some(ControlModel::ItsSplit);
        let models = Models::of(if split { ControlModel::ItsSplit } else { control }, &config.memory);
        bounds.count_from_here();
        let device = ScriptDevice::new(all, control, sources.clone(), config);
        Ok(Self { script, device, envs, none: Arc::default(), sources, models })
    }

    /// The program that stopped, or the first, with the files of all.
    pub fn listing_of(&self, stop: Option<&Stop>) -> Listing<'_> {
        (self.envs.get(stop.map_or(0, Stop::program) as usize).unwrap_or(&self.none), &self.sources)
    }
}

impl Run {
    /// Runs a host script; gives the exit code.
    pub(super) fn script(&self, read: (Script, SourceMap), reporter: &mut Reporter) -> Result<u8, u8> {
        let config = |sources: &mut SourceMap| self.config(sources);
        let mut all = Scripted::new(read, config, &self.common.bounds, reporter.form)?;
        let (device, script, sources, envs) = (&mut all.device, &all.script, &all.sources, &all.envs);
        let mut printed = Vec::new();
        let mut out = |bytes: &[u8]| match self.report.format {
            Form::Text => output::print(bytes),
            Form::Json | Form::Sarif => printed.extend_from_slice(bytes),
        };
        let make = |env: &_| self.observers_of(env);
        let mut watching = PerLaunch::new(envs.clone(), &make);
        let seen = Decisions::default();
        let mut followers = Followers::open(&self.follow, self.rules, self.telling(), (envs, sources), &seen)?;
        let watched = self.watched();
        let observe = watched || followers.any();
        let mut tell = |who: Who, event: Event<'_>| {
            followers.event(who, event)?;
            if watched { watching.event(who, event) } else { Ok(()) }
        };
        let seen = self.follow.trace.is_some().then_some(&seen);
        let result = device.run(script, if observe { Some(&mut tell) } else { None }, seen, &mut out);
        reporter.memory = followers.shown();
        followers.finish(result.as_ref().err().and_then(Failure::stop));
        let result = result.map_err(|failure| failure.map_stop(|stop| watching.settle(stop)));
        let found: Vec<&Races> = watching.launches().values().filter_map(Observers::get).collect();
        let races = (!found.is_empty()).then(|| RacesReport::new(found, sources));
        match result {
            Ok(outcome) => {
                let traces = watching.launches().values().filter_map(Observers::get::<TraceHash>);
                let trace = self.hash.then(|| traces.fold(0u64, |sum, h| sum.rotate_left(1) ^ h.value()));
                let find = |name: &str| device.contents(name);
                let buffers = self.contents(reporter.form, find, || device.names().collect());
                let hex = |hash: u64| format!("{hash:016x}");
                let compared = script.expects() + usize::from(script.stdout.is_some());
                let finished = Finished {
                    buffers: buffers.map_err(|problems| reporter.problems(&problems, device.sources()))?,
                    memory_hash: self.hash.then(|| hex(device.memory_hash())),
                    trace_hash: trace.map(hex),
                    ..Finished::new(&outcome, compared, self.common.checked())
                };
                Ok(reporter.finished(finished, races, device.sources()))
            }
            Err(Failure::Input(problems)) => Err(reporter.problems(&problems, sources)),
            Err(Failure::Stop(stop)) => {
                reporter.ended = EndedEarly { standing: device.standing(), target: None };
                Ok(reporter.stop(&stop, races, all.listing_of(Some(&stop)), &printed))
            }
        }
    }
}
