//! Any bytes: the parser answers, and what it accepts prints and parses to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpstep::ptx::{decode, parse, print};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = decode(bytes) else { return };
    let (module, errors) = parse(text);
    if errors.is_empty() {
        let once = print(&module);
        let (again, errors) = parse(&once);
        assert!(errors.is_empty());
        assert_eq!(print(&again), once);
    }
});
