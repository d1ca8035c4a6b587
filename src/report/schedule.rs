//! Refusals of schedules and checkpoints.

use super::diagnostic::{Diagnostic, said};
use super::problem::why;
use crate::base::{FileId, Span};
use crate::explore::ScheduleError as K;
use crate::explore::checkpoint::CheckpointError;
use std::path::Path;

/// The message of a schedule that is refused.
pub fn refused(error: &K, file: FileId, span: Span) -> Diagnostic {
    let said = match error {
        K::NoSchedule => said("no-schedule", "the file is no schedule", "a schedule begins with `warpstep schedule`")
            .hint("`warpstep hunt` and `warpstep replay --seed N TARGET --save-schedule FILE` write schedules"),
        K::Format { found, known } => {
            said("schedule-format", format!("schedules of format {found} cannot be read"), "here").hint(format!(
                "this warpstep knows format {known}: replay it with the one that wrote it, or find the defect again \
                     (`warpstep hunt`, or `warpstep replay --seed N TARGET --save-schedule FILE`)"
            ))
        }
        K::Version { found, own } => {
            said("schedule-version", format!("the schedule is of warpstep {found}, this is {own}"), "here")
                .hint("a schedule holds within a minor version: replay it with the one that wrote it, or hunt again")
        }
        K::CutOff => said("schedule-cut", "the schedule is cut off: its last line must be `end`", "the text ends here")
            .hint("copy the whole schedule, from `warpstep schedule` to `end`"),
        K::AfterEnd => said("schedule-end", "something follows the end of the schedule", "here").hint("remove it"),
        K::Edited => said("schedule-edited", "the schedule was edited", "the first line that is not as it was written")
            .hint("a schedule must be as warpstep wrote it; to change a run, hunt with other options, or minimise"),
        K::Line { expected } => said("schedule-line", format!("a line with `{expected}` should stand here"), "here"),
        K::Word => said("schedule-word", "this is no decision", "here").hint(
            "e.g. `warp 3.1 for 12, 2 times`: warp 1 of block 3 for 12 warp instructions, twice; or `fair, 9 times`",
        ),
        K::TooLong { most } => {
            said("schedule-long", format!("the schedule has more than {most} decisions"), "with these")
                .hint("find the defect by a shorter run: fewer blocks or threads, or a smaller --max-steps")
        }
        K::OtherProgram { recorded, found } => said(
            "schedule-program",
            format!("the schedule belongs to another program: the PTX has hash {found:016x}, not {recorded:016x}"),
            "the program that it was recorded with",
        )
        .hint("replay it with the very same PTX; any edit makes it another program"),
        K::OtherSetup { recorded, found } => said(
            "schedule-setup",
            format!("the schedule belongs to another launch: what is run has hash {found:016x}, not {recorded:016x}"),
            "grid, arguments, initial memory, control model, memory and device that it was recorded with",
        )
        .hint("replay it with the launch file and data that it was recorded with"),
    };
    said.at(file, span)
}

/// The message of a checkpoint that is refused.
pub fn checkpoint_refused(error: &CheckpointError, path: &Path) -> Diagnostic {
    let path = path.display();
    let again = "name another file, or delete this one to begin anew";
    let (code, message) = match error {
        CheckpointError::File(cause) => ("checkpoint-file", format!("cannot use checkpoint `{path}`: {}", why(*cause))),
        CheckpointError::NoCheckpoint => ("no-checkpoint", format!("`{path}` is no checkpoint")),
        CheckpointError::Kind { found, wanted } => {
            ("checkpoint-kind", format!("`{path}` is a checkpoint of `{found}`, not of `{wanted}`"))
        }
        CheckpointError::Version { found, own } => {
            ("checkpoint-version", format!("checkpoint `{path}` is of warpstep {found}, this is {own}"))
        }
        CheckpointError::OtherProgram => {
            ("checkpoint-program", format!("checkpoint `{path}` belongs to another program"))
        }
        CheckpointError::OtherSetup => (
            "checkpoint-setup",
            format!("checkpoint `{path}` belongs to another launch: other arguments, control model, memory or device"),
        ),
        CheckpointError::Damaged => ("checkpoint-damaged", format!("checkpoint `{path}` was cut off or edited")),
        CheckpointError::OtherOptions => {
            ("checkpoint-options", format!("checkpoint `{path}` is of a search with other options"))
        }
    };
    said(code, message, "").hint(again)
}
