//! Errors of warpstep: whoever meets one is told so, and what to report.

use crate::schema::Schema;
use serde_json::json;
use warpstep::base::{FileId, SourceMap};
use warpstep::machine::{Config, Context, ControlModel, Launch};
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

/// An argument that is not given is no zero.
#[test]
fn a_launch_has_all_its_arguments() {
    let text =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) { ret; }";
    let (module, errors) = warpstep::ptx::parse(text);
    assert!(errors.is_empty());
    let (checked, _) = warpstep::program::check::check(&module);
    let (env, errors) =
        warpstep::program::build(&[(FileId(0), &module, &checked)], &warpstep::program::Options::default());
    assert!(errors.is_empty());
    let config = Config { control: Some(ControlModel::Its), ..Config::default() };
    let mut context = Context::new(std::sync::Arc::new(env), config).unwrap();
    let launch =
        |bytes| Launch { entry: "k".into(), grid: [1; 3], block: [1; 3], shared_bytes: 0, params: vec![0; bytes] };
    let stop = context.launch(&launch(8), &mut |_| ()).unwrap_err();
    assert!(matches!(&stop, Stop::Unsupported(what, None) if what.contains("8 of its 16 bytes")), "{stop:?}");
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
    let mut log = sarif::Log::default();
    log.stop(&report);
    let log = log.finish(INTERNAL);
    assert_eq!(log["runs"][0]["results"], json!([]), "no defect of the program");
    let told = &log["runs"][0]["invocations"][0];
    assert_eq!(told["executionSuccessful"], false);
    let notes = told["toolExecutionNotifications"].to_string();
    assert!(notes.contains("a thing is not as it must be"), "{notes}");
}
