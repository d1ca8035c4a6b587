//! Looks for a schedule that shows a lost update, and runs it again: `cargo run --release --example hunt`.

use warpstep::{Error, Kernel};

/// Two warps add one to a counter, each by a load and a store.
fn count(counter: &mut [u32; 1]) -> Result<Kernel<'_>, Error> {
    let kernel = Kernel::from_file("tests/schedules/atomicity.ptx")?;
    Ok(kernel.block(64).buffer("counter", counter).expect(&[2u32]))
}

pub(crate) fn main() -> Result<(), Error> {
    // The default schedule, which is the same at each run, does not show it.
    let mut counter = [0];
    count(&mut counter)?.run()?;
    println!("by the default schedule the counter is {}", counter[0]);

    let hunted = count(&mut [0])?.hunt(0..1000)?;
    println!("{hunted}");
    for finding in &hunted.findings {
        println!("seed {:?}:\n{finding}", finding.seed);
        let again = count(&mut [0])?.replay(&finding.schedule).expect_err("a schedule repeats what it showed");
        println!("the same schedule once more:\n{again}");
    }
    Ok(())
}
