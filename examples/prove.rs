//! Proves that a lock is one, and that two taken crosswise are not: `cargo run --release --example prove`.

use warpstep::{Error, Kernel, Progress};

pub(crate) fn main() -> Result<(), Error> {
    // Four warps of one block take a spin lock, and count and log under it.
    let (mut lock, mut counter, mut log) = ([0i32], [0i32], [0i32; 4]);
    let proof = Kernel::from_file("ptx-examples/spinlock/spinlock.ptx")?
        .block(64)
        .buffer("lock", &mut lock)
        .expect(&[0i32])
        .buffer("counter", &mut counter)
        .expect(&[2i32])
        .buffer("log", &mut log)
        .progress(Progress::Fair)
        .prove()?;
    println!("{proof}\n");
    assert_eq!(proof.holds, Some(true));

    // Two warps take two locks in opposite orders.
    let mut locks = [0u32; 2];
    let proof = Kernel::from_file("tests/schedules/locks.ptx")?.block(64).buffer("locks", &mut locks).prove()?;
    println!("{proof}");
    for finding in &proof.findings {
        println!("{finding}");
    }
    Ok(())
}
