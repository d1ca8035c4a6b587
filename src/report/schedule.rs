//! Refusals of schedules and checkpoints.

use super::Diagnostic;
use super::problem::why;
use crate::base::{FileId, Span};
use crate::explore::ScheduleError;
use crate::explore::checkpoint::CheckpointError;
use std::path::Path;

/// The message of a schedule that is refused.
#[must_use]
pub fn refused(error: &ScheduleError, file: FileId, span: Span) -> Diagnostic {
    let d = |code, message: String| Diagnostic::error(code, file, span, message);
    match error {
        ScheduleError::NoSchedule => d("no-schedule", "the file is no schedule".into())
            .label("a schedule begins with `warpstep schedule`")
            .hint("`warpstep hunt` and `warpstep replay --seed N TARGET --save-schedule FILE` write schedules"),
        ScheduleError::Format { found, known } => {
            d("schedule-format", format!("schedules of format {found} cannot be read")).label("here").hint(format!(
                "this warpstep knows format {known}: replay it with the one that wrote it, or find the defect again \
                     (`warpstep hunt`, or `warpstep replay --seed N TARGET --save-schedule FILE`)"
            ))
        }
        ScheduleError::Version { found, own } => {
            d("schedule-version", format!("the schedule is of warpstep {found}, this is {own}"))
                .label("here")
                .hint("a schedule holds within a minor version: replay it with the one that wrote it, or hunt again")
        }
        ScheduleError::CutOff => d("schedule-cut", "the schedule is cut off: its last line must be `end`".into())
            .label("the text ends here")
            .hint("copy the whole schedule, from `warpstep schedule` to `end`"),
        ScheduleError::AfterEnd => {
            d("schedule-end", "something follows the end of the schedule".into()).label("here").hint("remove it")
        }
        ScheduleError::Edited => d("schedule-edited", "the schedule was edited".into())
            .label("the first line that is not as it was written")
            .hint("a schedule must be as warpstep wrote it; to change a run, hunt with other options, or minimise"),
        ScheduleError::Line { expected } => {
            d("schedule-line", format!("a line with `{expected}` should stand here")).label("here")
        }
        ScheduleError::Word => d("schedule-word", "this is no decision".into()).label("here").hint(
            "e.g. `warp 3.1 for 12, 2 times`: warp 1 of block 3 for 12 warp instructions, twice; or `fair, 9 times`",
        ),
        ScheduleError::TooLong { most } => d("schedule-long", format!("the schedule has more than {most} decisions"))
            .label("with these")
            .hint("find the defect by a shorter run: fewer blocks or threads, or a smaller --max-steps"),
        ScheduleError::OtherProgram { recorded, found } => d(
            "schedule-program",
            format!("the schedule belongs to another program: the PTX has hash {found:016x}, not {recorded:016x}"),
        )
        .label("the program that it was recorded with")
        .hint("replay it with the very same PTX; any edit makes it another program"),
        ScheduleError::OtherSetup { recorded, found } => d(
            "schedule-setup",
            format!("the schedule belongs to another launch: what is run has hash {found:016x}, not {recorded:016x}"),
        )
        .label("grid, arguments, initial memory, control model, memory and device that it was recorded with")
        .hint("replay it with the launch file and data that it was recorded with"),
    }
}

/// The message of a checkpoint that is refused.
#[must_use]
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
    Diagnostic::error(code, FileId(u32::MAX), Span::default(), message).hint(again)
}
