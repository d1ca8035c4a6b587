//! Any text as the lines of a schedule, sealed as if it had been written so: see `examples/fuzz/bodies.rs`.
#![no_main]

#[expect(dead_code, reason = "a target is one kind of input")]
#[path = "../../examples/fuzz/bodies.rs"]
mod bodies;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    thread_local!(static SMALL: bodies::Small = bodies::Small::new());
    SMALL.with(|small| small.replay(input));
});
