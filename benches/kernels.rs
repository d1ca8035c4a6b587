//! `cargo bench --bench kernels`: the speed of the nine kernels; `warpstep bench` prints the same.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpstep::cli::bench_all()
}
