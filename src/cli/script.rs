//! `warpstep run SCRIPT.toml`: host scripts.

use super::run::Run;
use super::{Format, output};
use crate::base::SourceMap;
use crate::check::PerLaunch;
use crate::launch::{Failure, Outcome, ProblemKind, Script, ScriptDevice, programs, write_npy};
use crate::program::env::ProgEnv;
use crate::report::{RuleTrace, run as text};
use crate::verdict::{Event, Sink, Stop, Who};
use serde_json::{Value, json};
use std::path::Path;

impl Run {
    /// Runs a host script; gives the exit code.
    pub(super) fn script(&self, script: &Script, mut sources: SourceMap) -> u8 {
        let read = self.config(&mut sources).and_then(|config| {
            let (all, control) = programs(script, config.control, &mut sources)?;
            Ok((config, all, control))
        });
        let (config, all, control) = match read {
            Ok(read) => read,
            Err(problems) => return output::problems(&problems, &sources, self.format),
        };
        let envs: Vec<_> = all.values().cloned().collect();
        let mut device = ScriptDevice::new(all, control, sources.clone(), config);
        let mut printed = Vec::new();
        let mut out = |bytes: &[u8]| match self.format {
            Format::Text => output::print(bytes),
            Format::Json => printed.extend_from_slice(bytes),
        };
        let make = |env: &_| self.observers_of(env);
        let mut watching = PerLaunch::new(envs.clone(), &make);
        let mut line = |line: &str| output::print(format!("{line}\n"));
        let mut rules = self.rules.then(|| RuleTrace::new(envs.clone(), sources.clone(), &mut line));
        let watched = self.watched();
        let mut tell = |who: Who, event: Event<'_>| {
            if let Some(rules) = &mut rules {
                rules.event(who, event)?;
            }
            if watched { watching.event(who, event) } else { Ok(()) }
        };
        let observe = watched || self.rules;
        let result = device.run(script, if observe { Some(&mut tell) } else { None }, &mut out);
        match result {
            Ok(outcome) => {
                let traces = watching.launches().values().filter_map(|o| o.hash.as_ref());
                let trace = self.hash.then(|| traces.fold(0u64, |sum, h| sum.rotate_left(1) ^ h.value()));
                self.finish_script(script, &device, &outcome, trace)
            }
            Err(Failure::Input(problems)) => output::problems(&problems, &sources, self.format),
            Err(Failure::Stop(stop)) => self.stopped(&stop, &envs, &sources, &printed),
        }
    }

    fn stopped(&self, stop: &Stop, envs: &[std::sync::Arc<ProgEnv>], sources: &SourceMap, printed: &[u8]) -> u8 {
        let none = ProgEnv::default();
        let env = envs.get(stop.program() as usize).map_or(&none, |env| &**env);
        output::stop(stop, env, sources, printed, self.format)
    }

    /// Saves and prints what was asked for, and tells the verdict.
    fn finish_script(&self, script: &Script, device: &ScriptDevice, outcome: &Outcome, trace: Option<u64>) -> u8 {
        let unknown =
            |name: &str| ProblemKind::UnknownVariable { name: name.to_owned(), known: device.names().collect() };
        let mut problems = Vec::new();
        for (name, path) in self.save.iter().filter_map(|text| text.split_once('=')) {
            let Some((ty, bytes)) = device.contents(name) else {
                problems.push(unknown(name).at(None));
                continue;
            };
            let path = Path::new(path);
            let npy = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
            let written = if npy { std::fs::write(path, write_npy(bytes, ty)) } else { std::fs::write(path, bytes) };
            if let Err(e) = written {
                problems.push(ProblemKind::Unwritable { path: path.to_owned(), cause: e.kind() }.at(None));
            }
        }
        let mut buffers = serde_json::Map::new();
        for name in &self.print {
            match device.contents(name) {
                Some((ty, bytes)) if self.format == Format::Json => {
                    buffers.insert(name.clone(), text::values_json(ty, bytes));
                }
                Some((ty, bytes)) => output::print(text::values(name, ty, bytes)),
                None => problems.push(unknown(name).at(None)),
            }
        }
        if !problems.is_empty() {
            return output::problems(&problems, device.sources(), self.format);
        }
        let code = u8::from(!outcome.as_expected());
        let memory = self.hash.then(|| device.memory_hash());
        if self.format == Format::Json {
            let mut value = text::json(outcome);
            if let Value::Object(all) = &mut value {
                all.insert("exit".to_owned(), code.into());
                all.insert("buffers".to_owned(), Value::Object(buffers));
                all.insert("memory_hash".to_owned(), json!(memory.map(|h| format!("{h:016x}"))));
                all.insert("trace_hash".to_owned(), json!(trace.map(|h| format!("{h:016x}"))));
            }
            output::print_json(&value);
            return code;
        }
        for (name, hash) in [("memory", memory), ("trace", trace)] {
            if let Some(hash) = hash {
                output::print(format!("{name} {hash:016x}\n"));
            }
        }
        for mismatch in &outcome.mismatches {
            output::complain(&text::mismatch(mismatch));
        }
        if let Some(mismatch) = &outcome.output_mismatch {
            output::complain(&text::output_mismatch(mismatch));
        }
        let checked = script.expects() + usize::from(script.stdout.is_some());
        output::complain(&text::summary(outcome, checked));
        code
    }
}
