//! Layer 11: the command line, one file per subcommand.
//!
//! Reads arguments, calls the layers below, prints what `report` says, and chooses the exit code: 0 finished or as
//! expected, 1 the program has a defect or results differ, 2 bad input or usage, 3 a limit was reached, 4 unsupported.
//! 101 is an error of ours, noticed ([`Stop::Internal`](crate::verdict::Stop::Internal)) or a panic: both say what to report. What
//! could not be written is told after the verdict, and makes of 0 a 2 (D-unwritable).

mod bench;
mod bounds;
mod check;
mod compare;
mod completions;
mod first;
mod flags;
mod follow;
mod form;
mod hunt;
mod litmus;
mod litmus_compare;
mod litmus_extract;
mod litmus_kernel;
mod litmus_models;
mod litmus_table;
mod litmus_test;
mod machine_flags;
mod minimise;
mod output;
mod progress;
mod prove;
mod prove_litmus;
mod prove_machine;
mod replay;
mod report_flags;
mod rules;
mod run;
mod saved;
mod script;
mod script_search;
mod shard;
mod target;
mod test;

use crate::report::panicked;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

/// Run PTX kernels with no GPU, exactly repeatably, and explain what goes wrong.
#[derive(Parser)]
#[command(version, about, after_help = EXIT_CODES)]
struct Cli {
    /// Errors of the input that are told at most; the rest is counted.
    #[arg(long, global = true, value_name = "N", default_value_t = 100)]
    max_errors: usize,

    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 finished, as expected | 1 the program has a defect, or results differ | 2 bad input or usage | 3 a limit was reached: nothing is proved | 4 unsupported | 101 an error of warpstep itself

What cannot be written (a file, standard output) is told after the verdict, whose code stays; 2 where that was 0.";

#[derive(Subcommand)]
enum Command {
    Run(Box<run::Run>),
    Hunt(Box<hunt::Hunt>),
    Replay(Box<replay::Replay>),
    Minimise(minimise::Minimise),
    Prove(Box<prove::Prove>),
    Compare(Box<compare::Compare>),
    Test(Box<test::Test>),
    Litmus(Box<litmus::Litmus>),
    Check(check::Check),
    Bench(bench::Bench),
    Rules(rules::Rules),
    Completions(completions::Completions),
}

/// The command with its subcommands, as it is called: flags that a subcommand refuses are not among those it shows.
#[must_use]
pub fn command() -> clap::Command {
    let hide = |command: clap::Command, flags: &[&'static str]| {
        flags.iter().fold(command, |command, flag| command.mut_arg(flag, |arg| arg.hide(true)))
    };
    let all = Cli::command().mut_subcommand("compare", |compare| hide(compare, &target::Common::MODELS));
    // Without those the heading above them would stand above all others.
    let plain = |command: clap::Command| command.mut_args(|arg| arg.help_heading(None));
    all.mut_subcommand("test", |test| plain(hide(test, &flags::LaunchFlags::NAMES)))
}

/// Runs the command of this process's arguments; gives its exit code. `taken` tells how many bytes the process has
/// allocated: limits of memory are about that.
#[must_use]
pub fn main(taken: fn() -> u64) -> ExitCode {
    std::panic::set_hook(Box::new(|info| output::complain(panicked(info))));
    bounds::count_by(taken);
    let Cli { max_errors, command } =
        Cli::from_arg_matches(&command().get_matches()).unwrap_or_else(|refused| refused.exit());
    output::MOST_ERRORS.store(max_errors, Ordering::Relaxed);
    let code = match command {
        Command::Run(mut run) => run.execute(),
        Command::Hunt(mut hunt) => hunt.execute(),
        Command::Replay(mut replay) => replay.execute(),
        Command::Minimise(minimise) => minimise.execute(),
        Command::Prove(mut prove) => prove.execute(),
        Command::Compare(mut compare) => compare.execute(),
        Command::Test(test) => test.execute(),
        Command::Litmus(litmus) => litmus.execute(),
        Command::Check(check) => Ok(check.execute()),
        Command::Bench(bench) => bench.execute(),
        Command::Rules(rules) => Ok(rules.execute()),
        Command::Completions(completions) => Ok(completions.execute()),
    };
    ended(code)
}

/// What `warpstep bench` prints: for `cargo bench`, whose own arguments it leaves alone.
#[must_use]
pub fn bench_all() -> ExitCode {
    match Cli::parse_from(["warpstep", "bench"]).command {
        Command::Bench(bench) => ended(bench.execute()),
        _ => ExitCode::FAILURE,
    }
}

/// The end of a command with its exit code, also where that was known early: what there is to say of it has been told.
fn ended(code: Result<u8, u8>) -> ExitCode {
    ExitCode::from(output::end(code.unwrap_or_else(|code| code)))
}
