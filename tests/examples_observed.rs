//! Every example under the observers: no value is used that was never written, no integer is divided by zero,
//! every barrier and shuffle has all whom it names, the trace hash is the same again, every step keeps the safety property,
//! and between them the examples fire every rule.

use crate::examples::launches;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::check::{Check, Observers, TraceHash};
use warpstep::launch::{Device, Spec, load, run};
use warpstep::machine::{Config, ControlModel};
use warpstep::verdict::Rule;

/// Runs one example; the trace's hash and the rules that fired, or what went wrong.
fn observed(path: &Path, control: Option<ControlModel>) -> Result<(u64, BTreeSet<Rule>), String> {
    let mut sources = SourceMap::default();
    let text = |problems| format!("{problems:?}");
    let spec = Spec::read(path, &mut sources).map_err(text)?;
    let env = load(&spec.ptx, control, &mut sources).map_err(text)?;
    let config = Config { control, ..Config::default() };
    let mut device = Device::new(env, sources, config).map_err(|stop| format!("{stop:?}"))?;
    let env: Arc<_> = device.context().program();
    let mut observers =
        Observers::none().with_hash(&env).with_uninit(&env).check(Check::Div0, &env).check(Check::Safety, &env);
    observers = observers.check(Check::Barriers, &env).with_coverage(&env);
    let outcome =
        run(&spec, &mut device, &mut observers, None, &mut |_| ()).map_err(|failure| format!("{failure:?}"))?;
    if !outcome.unexpected.is_empty() {
        return Err("other results than expected".to_owned());
    }
    let hash = observers.get().map_or(0, TraceHash::value);
    Ok((hash, observers.fired().into_iter().collect()))
}

/// Whether a rule is one of threads, warps, barriers, blocks and grids: flat memory has none of memory, and messages of
/// the host have tests of their own (tests/host.rs).
fn ours(rule: &Rule) -> bool {
    const LEVELS: [&str; 7] = ["thread", "crs", "warp", "bar", "block", "grid", "ref"];
    rule.id().split('.').next().is_some_and(|level| LEVELS.contains(&level))
}

#[test]
fn examples_have_no_defect_and_fire_the_rules() {
    let mut wrong = Vec::new();
    let mut fired = BTreeSet::new();
    for path in launches() {
        match observed(&path, None) {
            Ok((_, rules)) => fired.extend(rules),
            Err(why) => wrong.push(format!("{}: {}", path.display(), why.chars().take(700).collect::<String>())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing: Vec<_> = Rule::ALL.iter().filter(|r| ours(r) && !fired.contains(r)).map(|r| r.id()).collect();
    assert_eq!(missing, <[&str; 0]>::default(), "rules not fired");
}

#[test]
fn a_trace_repeats() {
    for path in launches().iter().step_by(9) {
        let first = observed(path, None).map(|o| o.0);
        assert_eq!(first, observed(path, None).map(|o| o.0), "{}", path.display());
        assert!(first.is_ok_and(|h| h != 0));
    }
}
