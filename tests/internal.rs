//! Errors of warpstep: whoever meets one is told so, and what to report.

#[path = "reports/schema.rs"]
mod schema;

use schema::Schema;
use serde_json::json;
use warpstep::base::SourceMap;
use warpstep::program::env::ProgEnv;
use warpstep::report::{INTERNAL, StopReport, exit_code, sarif};
use warpstep::verdict::{Kind, Place, Stop};

fn stop(place: Option<Place>) -> Stop {
    Stop::internal("a thing is not as it must be", place)
}

fn sources() -> SourceMap {
    let mut sources = SourceMap::default();
    sources.add("kernel.ptx", "ret;");
    sources
}

#[test]
fn it_is_nobodys_defect_and_ends_with_a_code_of_its_own() {
    assert_eq!(exit_code(&stop(None)), INTERNAL);
    assert_eq!(INTERNAL, 101);
    assert_eq!(stop(None).kind(), Kind::Internal);
    assert!(!Kind::Internal.is_defect());
}

#[test]
fn the_text_says_what_to_report() {
    let (env, sources) = (ProgEnv::default(), sources());
    for place in [None, Some(Place::default())] {
        let text = StopReport::new(&stop(place), &env, &sources).render(false);
        let version = concat!("version: warpstep ", env!("CARGO_PKG_VERSION"));
        let words = [
            "[internal]",
            "a thing is not as it must be",
            "tests/internal.rs:",
            "please report it",
            "command: warpstep",
        ];
        for word in words.into_iter().chain([version, "files: kernel.ptx"]) {
            assert!(text.contains(word), "does not say {word:?}: {text}");
        }
    }
}

#[test]
fn programs_are_told_the_same() {
    let (env, sources) = (ProgEnv::default(), sources());
    let stop = stop(None);
    let report = StopReport::new(&stop, &env, &sources);
    let value = report.json();
    assert_eq!(value["stop"], "internal");
    assert_eq!(value["details"]["what"], "a thing is not as it must be");
    assert_eq!(value["details"]["files"], json!(["kernel.ptx"]));
    let whole = json!({ "exit": exit_code(&stop), "stopped": value, "output": "" });
    assert_eq!(Schema::read("docs/schema/report.schema.json").complaint(&whole), None);
    let mut log = sarif::Log::new();
    log.stop(&report, None);
    let log = log.finish(INTERNAL);
    assert_eq!(log["runs"][0]["results"], json!([]), "no defect of the program");
    let told = &log["runs"][0]["invocations"][0];
    assert_eq!(told["executionSuccessful"], false);
    let notes = told["toolExecutionNotifications"].to_string();
    assert!(notes.contains("a thing is not as it must be"), "{notes}");
}
