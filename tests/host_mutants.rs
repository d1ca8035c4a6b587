//! Deliberate errors of the levels above the block, and the smallest scripts that tell them apart (`--features mutants`).

use std::path::Path;
use warpstep::base::SourceMap;
use warpstep::base::mutant::{Mutant, select};
use warpstep::launch::{Failure, Script, ScriptDevice, programs};
use warpstep::machine::{Capacity, Config, DeviceShape};
use warpstep::verdict::Stop;

/// What a script comes to: its verdict, and what is in the buffer `a.out` at the end.
fn run(script: &str, device: DeviceShape) -> (String, Option<Vec<u8>>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host").join(script);
    let mut sources = SourceMap::default();
    let script = Script::read(&path, &mut sources).unwrap().unwrap();
    let (all, control) = programs(&script, None, &mut sources).unwrap();
    let config = Config { device, max_steps: Some(200_000), ..Config::default() };
    let mut device = ScriptDevice::new(all, control, sources, config);
    let verdict = match device.run(&script, None, None, &mut |_| ()) {
        Ok(outcome) if outcome.unexpected.is_empty() => "as expected".to_owned(),
        Ok(outcome) => format!("{:?}", outcome.unexpected.mismatches),
        Err(Failure::Stop(Stop::Bug(bug))) => format!("bug {:?}", bug.kind),
        Err(Failure::Stop(Stop::Limit(limit))) => format!("limit {limit:?}"),
        Err(failure) => format!("{failure:?}"),
    };
    (verdict, device.contents("a.out").map(|(_, bytes)| bytes.to_vec()))
}

pub fn mutants_are_told_apart() {
    let wide = DeviceShape::default();
    let one_block = Capacity { blocks: 1, threads: 64, shared: 1024 };
    let room = DeviceShape { processors: 1, capacity: one_block, ..wide };
    let one_grid = DeviceShape { concurrent_grids: 1, ..wide };
    let killers = [
        (Mutant::BlockIssuedTwice, "blocks.toml", wide, "as expected"),
        (Mutant::BlockEndsEarly, "blocks.toml", wide, "as expected"),
        (Mutant::GridEndsEarly, "blocks.toml", wide, "as expected"),
        (Mutant::AbortKeepsRoom, "room.toml", room, "as expected"),
        (Mutant::AbortIdle, "abort.toml", wide, "as expected"),
        (Mutant::DestroyKeepsMemory, "destroy.toml", wide, "as expected"),
        (Mutant::ContextsShareAddresses, "shared_address.toml", wide, "bug OutOfBounds"),
        (Mutant::HintsOutliveContext, "hints.toml", wide, "bug OutOfBounds"),
        (Mutant::GridsUnlimited, "limit.toml", one_grid, "limit Steps"),
    ];
    for (mutant, script, device, wanted) in killers {
        select(None);
        let right = run(script, device);
        assert!(right.0.starts_with(wanted), "{script}: {right:?}");
        select(Some(mutant));
        let wrong = run(script, device);
        select(None);
        assert_ne!(right, wrong, "{} is not told apart by {script}", mutant.name());
    }
}
