//! Any bytes as a fat binary, object or executable: see `examples/fuzz/bodies.rs`, which is run without a nightly compiler, too.
#![no_main]

#[expect(dead_code, reason = "a target is one kind of input")]
#[path = "../../examples/fuzz/bodies.rs"]
mod bodies;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    bodies::fatbin(input);
});
