//! Small programs: what checks runs to an end of some kind within its limits. `examples/fuzz.rs` has the same body for
//! compilers that are not nightly.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpstep::base::SourceMap;
use warpstep::launch::build;
use warpstep::machine::{Config, Context, Launch};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut sources = SourceMap::default();
    let file = sources.add("fuzz.ptx", text);
    let Ok(env) = build(&[file], None, &sources) else { return };
    let entries: Vec<(String, u32)> = env
        .functions
        .values()
        .filter(|f| f.entry && f.defined && f.shared_bytes < 48 << 10)
        .map(|f| (f.name.clone(), f.param_bytes))
        .collect();
    let config = Config { max_steps: Some(20_000), max_memory: Some(64 << 20), ..Config::default() };
    let Ok(mut context) = Context::new(env, config) else { return };
    let Ok(buffer) = context.alloc("buffer", 1 << 16) else { return };
    for (entry, bytes) in entries {
        let params = buffer.to_le_bytes().into_iter().cycle().take(bytes as usize).collect();
        let launch = Launch { entry, grid: [2, 1, 1], block: [64, 1, 1], shared_bytes: 1024, params };
        // Any verdict will do; a panic will not.
        let _ = context.launch(&launch, &mut |_| ());
    }
});
