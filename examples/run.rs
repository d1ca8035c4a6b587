//! Runs a kernel on vectors, and shows what a wrong launch is told: `cargo run --release --example run`.

use warpstep::{Check, Error, ErrorKind, Kernel};

pub(crate) fn main() -> Result<(), Error> {
    let x: Vec<f32> = (0..3000u16).map(f32::from).collect();
    let mut y = vec![1.0f32; 3000];
    let expected: Vec<f32> = x.iter().map(|x| 2.5 * x + 1.0).collect();

    // y = a x + y, one thread an element; both vectors are device memory while it runs.
    let run = Kernel::from_file("ptx-examples/saxpy/saxpy.ptx")?
        .grid(24)
        .block(128)
        .arg(3000u32)
        .arg(2.5f32)
        .buffer("x", &x)
        .buffer("y", &mut y)
        .expect_within(&expected, 1e-6)
        .check(Check::Races)
        .run()?;
    println!("{} thread instructions; y[7] = {}", run.stats.thread_instructions, y[7]);

    // Told that there are 3001 elements, a thread reads behind the last one.
    let kernel = Kernel::from_file("ptx-examples/saxpy/saxpy.ptx")?.grid(24).block(128);
    let wrong = kernel.arg(3001u32).arg(2.5f32).buffer("x", &x).buffer("y", &mut y).run();
    match wrong {
        Err(error) if error.kind() == ErrorKind::Defect => println!("{error}"),
        other => panic!("that was not noticed: {other:?}"),
    }
    Ok(())
}
