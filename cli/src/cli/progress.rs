//! Lines on a terminal that tell how far a command is.

use crate::explore::space::Progress;
use crate::report::prove as text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::time::Duration;

/// Milliseconds between two updates of a line: a state takes a microsecond, or as much as ten milliseconds.
const OFTEN: u128 = 200;

/// A line on standard error, where that is a terminal, made by a template of `indicatif`'s. Not `shown`: none, since
/// something else reads what is written.
pub(super) fn line(total: Option<u64>, template: &str, shown: bool) -> ProgressBar {
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(total, target);
    let rate = |state: &ProgressState, out: &mut dyn Write| _ = out.write_str(&text::rate(state.per_sec()));
    let style = ProgressStyle::with_template(template).map(|style| style.with_key("rate", rate));
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

/// The line of a run, which says nothing until it ends: how long it has been going on.
pub(super) fn running(what: &'static str, shown: bool) -> ProgressBar {
    ticking("{spinner} {msg} for {elapsed}; Ctrl-C ends it", what, Duration::from_secs(1), shown)
}

/// The line of a search.
pub(super) fn searching(shown: bool) -> ProgressBar {
    ticking("{spinner} {msg} in {elapsed}; Ctrl-C ends it", "begins", Duration::from_millis(200), shown)
}

fn ticking(template: &str, what: &'static str, every: Duration, shown: bool) -> ProgressBar {
    let bar = line(None, template, shown).with_message(what);
    if !bar.is_hidden() {
        bar.enable_steady_tick(every);
    }
    bar
}

/// Tells how far a search is, and of `what`.
pub(super) fn searched(bar: &ProgressBar, what: &str, done: &Progress) {
    if bar.is_hidden() {
        return;
    }
    let now = u64::try_from(bar.elapsed().as_millis() / OFTEN).unwrap_or(u64::MAX).saturating_add(1);
    if now != bar.position() {
        bar.set_position(now);
        bar.set_message(format!("{what}{}", text::progress(done)));
    }
}
