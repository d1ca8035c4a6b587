//! The command: hands over to `warpstep::cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpstep::cli::main()
}
