//! `--trace FILE`: a run as a timeline, in `run` and in `replay`.

use super::flags::size;
use super::output;
use crate::base::SourceMap;
use crate::base::files::Draft;
use crate::choice::Decisions;
use crate::launch::{Problem, ProblemKind};
use crate::program::env::ProgEnv;
use crate::report::{Timeline, run as text};
use crate::verdict::{Event, Sink, Stop, Who};
use clap::Args;
use std::io::{BufWriter, Error};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether and where a timeline is written.
#[derive(Args, Clone, Debug)]
pub(super) struct TraceFlags {
    /// Write a timeline that ui.perfetto.dev loads: multiprocessors, warps, barriers, choices.
    #[arg(long = "trace", value_name = "FILE.json")]
    pub file: Option<PathBuf>,

    /// Bytes of the timeline at most, about; what comes after is left out, and the file says so.
    #[arg(long = "trace-limit", value_name = "SIZE", value_parser = size, default_value = "256M")]
    limit: u64,
}

impl TraceFlags {
    /// Begins the timeline, where there is to be one. `seen` is told by the oracle of the run; `rules`: with the rules that fire.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open<'a>(
        &'a self,
        programs: &[Arc<ProgEnv>],
        sources: &SourceMap,
        seen: &'a Decisions,
        rules: bool,
    ) -> Result<Option<Trace<'a>>, Box<Problem>> {
        let Some(path) = self.file.as_deref() else { return Ok(None) };
        let draft = Draft::create(path)
            .map_err(|e| Box::new(ProblemKind::Unwritable { path: path.to_owned(), cause: e.kind() }.at(None)))?;
        let out = (BufWriter::new(draft), self.limit);
        let timeline = Timeline::new(programs.to_vec(), sources.clone(), seen, rules, out);
        Ok(Some(Trace { timeline, path, limit: self.limit }))
    }
}

/// A timeline on its way into a file.
pub(super) struct Trace<'a> {
    timeline: Timeline<'a, BufWriter<Draft>>,
    path: &'a Path,
    limit: u64,
}

impl Trace<'_> {
    /// Takes note of an event. What goes wrong with the file is told at the end: it is no matter of the run.
    pub fn event(&mut self, who: Who, event: Event<'_>) {
        let _ = self.timeline.event(who, event);
    }

    /// Ends the timeline and puts the file in its place; `stop` says why the run ended early.
    pub fn finish(self, stop: Option<&Stop>) {
        let kept = self.timeline.finish(stop).and_then(|(out, cut)| {
            out.into_inner().map_err(|e| Error::from(e.error().kind()))?.keep()?;
            Ok(cut)
        });
        match kept {
            Ok(true) => output::complain(text::trace_cut(self.path, self.limit)),
            Ok(false) => {}
            Err(error) => output::lost(self.path, &error),
        }
    }
}
