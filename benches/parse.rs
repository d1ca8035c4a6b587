//! Parsing speed and memory: `cargo bench --bench parse [FILE.ptx …]`.
//!
//! Without files it makes its own: a module of many kernels and a module of large byte tables, 10 MB each. Prints
//! megabytes per second of CPU time of the best of five runs, and the peak memory of the process per byte of text.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "shared/clock.rs"]
mod clock;

use clock::cpu;
use std::fmt::Write as _;
use std::time::Instant;

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A module of about `bytes` bytes of compiler-like code.
fn code(bytes: usize) -> String {
    let mut text = String::from(HEAD);
    let mut n = 0;
    while text.len() < bytes {
        let _ = write!(
            text,
            "\n.visible .entry kernel_{n}(\n\t.param .u64 kernel_{n}_param_0,\n\t.param .u32 kernel_{n}_param_1\n)\n{{\n\
             \t.reg .pred \t%p<3>;\n\t.reg .b32 \t%r<40>;\n\t.reg .f32 \t%f<8>;\n\t.reg .b64 \t%rd<9>;\n\n\
             \tld.param.u64 \t%rd1, [kernel_{n}_param_0];\n\tld.param.u32 \t%r1, [kernel_{n}_param_1];\n\
             \tmov.u32 \t%r2, %ctaid.x;\n\tmov.u32 \t%r3, %ntid.x;\n\tmov.u32 \t%r4, %tid.x;\n\
             \tmad.lo.s32 \t%r5, %r2, %r3, %r4;\n\tsetp.ge.s32 \t%p1, %r5, %r1;\n\t@%p1 bra \t$L__BB{n}_2;\n\n"
        );
        for i in 6..30 {
            let _ = write!(text, "\tshl.b32 \t%r{i}, %r5, {};\n\tadd.s32 \t%r{}, %r{i}, -{i};\n", i % 7, i + 1);
            let _ = write!(text, "\tmul.wide.s32 \t%rd3, %r{i}, 4;\n\tadd.s64 \t%rd4, %rd1, %rd3;\n");
            let _ =
                write!(text, "\tld.global.f32 \t%f1, [%rd4+{}];\n\tfma.rn.f32 \t%f2, %f1, 0f3F800000, %f3;\n", i * 4);
            text.push_str("\tst.global.f32 \t[%rd4], %f2;\n");
        }
        let _ = write!(text, "\n$L__BB{n}_2:\n\tret;\n\n}}\n");
        n += 1;
    }
    text
}

/// A module of about `bytes` bytes of `.b8` tables.
fn tables(bytes: usize) -> String {
    let mut text = String::from(HEAD);
    let mut n = 0usize;
    while text.len() < bytes {
        let _ = write!(text, ".global .align 1 .b8 table_{n}[100000] = {{");
        for i in 0..100_000usize {
            let _ = write!(text, "{}{}", if i == 0 { "" } else { ", " }, (i * 7 + n) % 256);
        }
        text.push_str("};\n");
        n += 1;
    }
    text
}

/// The peak resident memory of this process in bytes, where the system tells.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kb| kb * 1024)
}

fn measure(name: &str, text: &str) {
    let before = peak();
    let mut best = f64::INFINITY;
    let start = Instant::now();
    for _ in 0..5 {
        let before = cpu(start);
        let (module, errors) = warpstep::ptx::parse(text);
        best = best.min(cpu(start) - before);
        if let Some(first) = errors.first() {
            println!("{name}: {} errors, the first: {first:?}", errors.len());
            return;
        }
        std::hint::black_box(module);
    }
    let memory = match (before, peak()) {
        // The text itself is counted; the peak of an earlier, larger file hides a smaller one.
        (Some(before), Some(after)) => format!("{:.2}", 1.0 + (after - before) as f64 / text.len() as f64),
        _ => "?".to_owned(),
    };
    println!(
        "{name}: {:.1} MB, {:.1} MB/s, peak memory {memory} x text",
        text.len() as f64 / 1e6,
        text.len() as f64 / 1e6 / best
    );
}

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    for file in &files {
        match std::fs::read_to_string(file) {
            Ok(text) => measure(file, &text),
            Err(error) => println!("{file}: {error}"),
        }
    }
    if files.is_empty() {
        measure("tables", &tables(10_000_000));
        measure("code", &code(10_000_000));
    }
}
