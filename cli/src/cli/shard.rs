//! `warpstep hunt --shard` and `--merge`: a hunt in parts on several computers.

use super::hunt::{Hunt, Job};
use super::output;
use crate::base::{SourceMap, files};
use crate::explore::shard::{Part, Shard, ShardError, Whole, join};
use crate::explore::{Ended, Hunt as Search, HuntState, Hunted};
use crate::launch::ProblemKind;
use crate::report::Diagnostic;
use std::path::Path;

impl Hunt {
    /// Whether the flags leave a division of the seeds into parts.
    ///
    /// # Errors
    /// The exit code, when they do not; that has been told.
    pub(super) fn divides(&self) -> Result<(), u8> {
        let flag = if self.shard.is_some() { "--shard" } else { "--merge" };
        let (parts, text) = (self.shard.is_some() || !self.merge.is_empty(), String::new());
        let why = match self.total() {
            None if parts => "parts are parts of a number of seeds: give --seeds, too",
            Some(_) if !self.merge.is_empty() && self.time.is_some() => {
                "it runs no seeds that would take time: without --for"
            }
            _ => return Ok(()),
        };
        Err(output::refuse(ProblemKind::UnfitFlag { flag, text, why }, self.report.format))
    }

    /// What this hunt is a part of.
    pub(super) fn whole(&self, job: &Job<'_>) -> Whole {
        let owner = job.target.owner();
        let Shard { number, of } = self.shard.unwrap_or(Shard { number: 1, of: 1 });
        Whole {
            number,
            of,
            first_seed: self.first_seed,
            seeds: self.total().unwrap_or(0),
            program: format!("{:016x}", owner.program),
            setup: format!("{:016x}", owner.setup),
            options: self.options(job),
        }
    }

    /// What all parts come to.
    ///
    /// # Errors
    /// The exit code, when they are not all the parts of this hunt; that has been told.
    pub(super) fn joined(&self, job: &Job<'_>) -> Result<HuntState, u8> {
        let parts = self.merge.iter().map(|path| self.part(path)).collect::<Result<Vec<_>, _>>()?;
        let joined = join(&parts, &self.whole(job), self.keep_going);
        joined.map_err(|(k, error)| self.unfit(&error, self.merge.get(k).map_or(Path::new(""), |path| path)))
    }

    /// The same as the whole hunt has it: the seeds that show something are run again.
    ///
    /// # Errors
    /// The exit code, when they do not fit; that has been told.
    pub(super) fn merged(&self, job: &Job<'_>, search: &Search<'_>) -> Result<Hunted, u8> {
        let HuntState { from, next, limited, found, .. } = self.joined(job)?;
        let mut hunted = Hunted { ended: Ended::Done, done: from..next, limited, findings: Vec::new() };
        for one in found {
            if !search.recall(&[one], &mut hunted) {
                return Err(self.unfit(&ShardError::NotShown { seed: one.0 }, Path::new("")));
            }
        }
        Ok(hunted)
    }

    fn part(&self, path: &Path) -> Result<Part, u8> {
        let unreadable = |e: std::io::Error| {
            output::refuse(ProblemKind::Unreadable { path: path.to_owned(), cause: e.kind() }, self.report.format)
        };
        let bytes = files::read(path).map_err(unreadable)?;
        serde_json::from_slice(&bytes).map_err(|_| self.unfit(&ShardError::NoShard, path))
    }

    fn unfit(&self, error: &ShardError, path: &Path) -> u8 {
        let diagnostic = Diagnostic::from(error.wording(&path.display().to_string()));
        output::diagnostic(&diagnostic, &SourceMap::default(), self.report.format)
    }
}
