//! The forms that other programs read: JUnit XML, SARIF, annotations for GitHub.

use super::Project;
use crate::schema::Schema;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::Value;
use std::collections::BTreeSet;

/// An element with its attributes, what is in it, and its text.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    inside: Vec<Element>,
    text: String,
}

impl Element {
    fn get(&self, key: &str) -> &str {
        self.attributes.iter().find(|(k, _)| k == key).map_or_else(|| panic!("{self:?} lacks {key}"), |(_, v)| v)
    }
}

/// Reads a document; one that is not well formed is a failure.
fn parse(text: &str) -> Element {
    let mut reader = Reader::from_str(text);
    let element = |start: &BytesStart<'_>| {
        let name = String::from_utf8(start.name().as_ref().to_vec()).unwrap();
        let of = |a: quick_xml::events::attributes::Attribute<'_>| {
            (String::from_utf8(a.key.as_ref().to_vec()).unwrap(), a.unescape_value().unwrap().into_owned())
        };
        Element { name, attributes: start.attributes().map(|a| of(a.unwrap())).collect(), ..Element::default() }
    };
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().unwrap_or_else(|e| panic!("{e} at {}: {text}", reader.error_position())) {
            Event::Start(start) => open.push(element(&start)),
            Event::Empty(start) => open.last_mut().unwrap().inside.push(element(&start)),
            Event::End(_) => {
                let done = open.pop().unwrap();
                open.last_mut().unwrap().inside.push(done);
            }
            Event::Text(more) => open.last_mut().unwrap().text.push_str(&more.decode().unwrap()),
            Event::GeneralRef(name) => {
                let entity = name.decode().unwrap().into_owned();
                open.last_mut()
                    .unwrap()
                    .text
                    .push_str(quick_xml::escape::resolve_predefined_entity(&entity).unwrap_or("?"));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(open.len(), 1);
    open.pop().unwrap().inside.pop().unwrap()
}

#[test]
fn junit_is_xml_with_a_case_for_each_file() {
    let project = Project::full();
    project.test(&["--junit", "j.xml"]);
    let root = parse(&project.read("j.xml"));
    let [suite] = &root.inside[..] else { panic!("{root:?}") };
    assert_eq!((root.name.as_str(), suite.name.as_str()), ("testsuites", "testsuite"));
    for element in [&root, suite] {
        let counts = ["tests", "failures", "errors", "skipped"].map(|key| element.get(key).parse::<u32>().unwrap());
        assert_eq!(counts, [6, 2, 3, 0]);
        assert!(element.get("time").parse::<f64>().unwrap() >= 0.4);
    }
    let inside = |name: &str| {
        let case = suite.inside.iter().find(|case| case.get("name") == name).unwrap();
        assert_eq!((case.get("classname"), case.get("file")), ("t", format!("t/{name}").as_str()));
        case.inside.iter().map(|e| (e.name.as_str(), e.get("type"), e)).collect::<Vec<_>>()
    };
    assert!(inside("a-good.toml").is_empty());
    let [("failure", "out-of-bounds", far)] = inside("c-far.toml")[..] else { panic!("{suite:?}") };
    assert!(
        far.get("message").contains("invalid global write") && far.text.contains("st.global.u32 [%rd1+4096], %r1;")
    );
    assert!(far.text.contains("see it again: warpstep run t/c-far.toml"), "{}", far.text);
    for (name, element, kind) in [
        ("b-wrong.toml", "failure", "result-mismatch"),
        ("d-broken.toml", "error", "unknown-key"),
        ("e-endless.toml", "error", "limit"),
        ("f-gap.toml", "error", "unsupported"),
    ] {
        assert!(matches!(inside(name)[..], [(e, k, _)] if (e, k) == (element, kind)), "{name}: {suite:?}");
    }
}

/// What inputs have in them does not end an element, nor what cannot stand in XML at all.
#[test]
fn names_and_messages_are_escaped() {
    let project = Project::new();
    let name = "x\"<&>' 50%, a:b\u{1}.toml";
    project.launch(name, "far.ptx", "");
    let said = project.test(&["--junit", "j.xml", "--sarif", "s.sarif", "--format", "github"]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    let root = parse(&project.read("j.xml"));
    assert_eq!(root.inside[0].inside[1].get("name"), name.replace('\u{1}', "\u{fffd}"));
    let sarif: Value = serde_json::from_str(&project.read("s.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 1);
    let annotation = said.out.lines().find(|line| line.starts_with("::error ")).unwrap();
    let (properties, message) = annotation.strip_prefix("::error ").unwrap().split_once("::").unwrap();
    let names: Vec<&str> = properties.split(',').map(|p| p.split_once('=').unwrap().0).collect();
    assert_eq!(names, ["file", "line", "col", "title"]);
    assert!(properties.ends_with("title=warpstep%3A out-of-bounds") && !message.contains('\u{1}'), "{annotation}");
    assert!(message.contains("%0A") && message.contains("50%25, a:b"), "{annotation}");
    assert!(!said.out.contains('\u{1}'));
}

#[test]
fn annotations_lie_on_the_source() {
    let project = Project::full();
    let said = project.test(&["--format", "github"]);
    let all: Vec<&str> = said.out.lines().filter(|line| line.starts_with("::")).collect();
    let begins = |text: &str| assert!(all.iter().any(|line| line.starts_with(text)), "{text}: {all:#?}");
    assert_eq!(all.len(), 5);
    begins("::error file=src/k.cu,line=13,col=9,title=warpstep%3A out-of-bounds::invalid global write");
    begins(
        "::error file=t/b-wrong.toml,line=11,col=9,title=warpstep%3A result-mismatch::`o`: 2 of 2 u32 elements differ",
    );
    begins("::error file=t/d-broken.toml,line=1,col=1,title=warpstep%3A unknown-key::");
    begins("::error file=t/e-endless.toml,title=warpstep%3A limit::");
    begins("::error file=ptx/gap.ptx,line=14,col=2,title=warpstep%3A unsupported::");
}

#[test]
fn sarif_keeps_to_the_standard_and_lies_on_the_source() {
    let project = Project::full();
    let said = project.test(&["--sarif", "s.sarif", "--format", "sarif"]);
    let (printed, value): (Value, Value) =
        (serde_json::from_str(&said.out).unwrap(), serde_json::from_str(&project.read("s.sarif")).unwrap());
    assert_eq!(printed, value);
    assert_eq!(Schema::read("tests/reports/sarif.schema.json").complaint(&value), None);
    let run = &value["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len());
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3, "{results:#?}");
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
        assert!(!uri.contains(':') && project.path(uri).is_file(), "{uri}");
    }
    let far = results.iter().find(|result| result["ruleId"] == "out-of-bounds").unwrap();
    let rule = &rules[usize::try_from(far["ruleIndex"].as_u64().unwrap()).unwrap()];
    assert!(rule["help"]["text"].as_str().is_some_and(|text| !text.is_empty()));
    let place = &far["locations"][0]["physicalLocation"];
    assert_eq!(
        (place["artifactLocation"]["uri"].as_str(), place["region"]["startLine"].as_u64()),
        (Some("src/k.cu"), Some(13))
    );
    // The instruction is a related place, and how to see it again is told.
    let related = far["relatedLocations"].as_array().unwrap();
    let ptx = |l: &Value| l["physicalLocation"]["artifactLocation"]["uri"] == "ptx/far.ptx";
    assert!(related.iter().any(ptx), "{related:#?}");
    let numbers: Vec<Option<u64>> = related.iter().map(|l| l["id"].as_u64()).collect();
    assert_eq!(numbers, (0..related.len() as u64).map(Some).collect::<Vec<_>>());
    assert_eq!(far["properties"]["replay"], "warpstep run t/c-far.toml");
    // A limit and a gap say nothing about the program.
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(), 2);
}

#[test]
fn names_are_relative_to_the_root_that_is_named() {
    let project = Project::full();
    let uri = |words: &[&str]| {
        let words = [words, &["--filter", "c-far", "--sarif", "s.sarif"]].concat();
        assert_eq!(project.test(&words).code, Some(1));
        let value: Value = serde_json::from_str(&project.read("s.sarif")).unwrap();
        value["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // Another root does not have the source, and then not even the PTX.
    assert_eq!((uri(&[]), uri(&["--source-root", "src"])), ("src/k.cu".into(), "k.cu".into()));
    assert_eq!(uri(&["--source-root", "ptx"]), "far.ptx");
    assert!(uri(&["--source-root", "t"]).ends_with("ptx/far.ptx"));
}
