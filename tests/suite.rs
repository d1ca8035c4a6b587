//! `warpstep test`: what comes of suites with files of every kind, in every form that it is told in.

#[path = "suite/action.rs"]
mod action;
#[path = "suite/forms.rs"]
mod forms;
#[path = "suite/limits.rs"]
mod limits;

use crate::schema::Schema;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Stores its thread's number, and where `FAR` is not 0, that far beyond. The lines of the source are 12 and 13 of src/k.cu.
const KERNEL: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    .loc 1 12 5
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    .loc 1 13 9
    st.global.u32 [%rd1+FAR], %r1;
    ret;
}
.file 1 \"/build/of/another/computer/src/k.cu\"
";

const LOOP: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
L:  bra L;
}
";

const LAUNCH: &str = "\
ptx = \"PTX\"
[buffers.o]
type = \"u32\"
init = \"zeros\"
len = 2
[[launch]]
entry = \"k\"
grid = 1
block = 2
args = [{ buffer = \"o\" }]
[expect.o]
values = [1, 0]
";

/// A project with a launch file of every kind.
pub struct Project(tempfile::TempDir);

/// What a command said.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Project {
    /// With one file that passes.
    pub fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.write("src/k.cu", "// the source\n");
        project.write("ptx/good.ptx", KERNEL.replace("+FAR", ""));
        project.write("ptx/far.ptx", KERNEL.replace("FAR", "4096"));
        project.write("ptx/loop.ptx", LOOP);
        let matrix = std::fs::read_to_string(root().join("tests/ui/unsupported/block_scale.ptx")).unwrap();
        project.write("ptx/gap.ptx", matrix);
        project.launch("a-good.toml", "good.ptx", "");
        project
    }

    /// With files of every kind.
    pub fn full() -> Self {
        let project = Self::new();
        project.write("t/b-wrong.toml", LAUNCH.replace("PTX", "../ptx/good.ptx").replace("[1, 0]", "[0, 9]"));
        project.launch("c-far.toml", "far.ptx", "");
        project.launch("d-broken.toml", "good.ptx", "nonsense = 1\n");
        project.launch("e-endless.toml", "loop.ptx", "");
        let none = LAUNCH.replace("PTX", "../ptx/gap.ptx").replace("args = [{ buffer = \"o\" }]\n", "");
        project.write("t/f-gap.toml", none.replace("block = 2", "block = 32"));
        project.write("t/Cargo.toml", "[package]\nname = \"x\"\n");
        project
    }

    /// Writes a launch file of a kernel, with lines before all others.
    pub fn launch(&self, name: &str, ptx: &str, head: &str) {
        self.write(&format!("t/{name}"), format!("{head}{}", LAUNCH.replace("PTX", &format!("../ptx/{ptx}"))));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
        command.args(words).current_dir(self.0.path()).env("NO_COLOR", "1");
        command
    }

    pub fn run(&self, words: &[&str]) -> Said {
        let out = self.command(words).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Said { code: out.status.code(), out: text(&out.stdout), err: text(&out.stderr) }
    }

    /// Tests the files with further words; endless ones end soon.
    pub fn test(&self, words: &[&str]) -> Said {
        let time: &[&str] = if words.contains(&"--timeout") { &[] } else { &["--timeout", "400ms"] };
        self.run(&[&["test", "t"], time, words].concat())
    }

    /// The report of a suite, which keeps to its schema.
    pub fn json(&self, words: &[&str]) -> (Value, Said) {
        let said = self.test(&[words, &["--format", "json"]].concat());
        let value: Value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}{}", said.out, said.err));
        let schema = Schema::read("docs/schema/report.schema.json");
        assert_eq!(schema.complaint(&value), None, "{value:#}");
        assert_eq!(value["exit"].as_i64(), said.code.map(i64::from));
        (value, said)
    }
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The statuses of files by their names.
fn statuses(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    report["files"].as_array().unwrap().iter().map(|case| (text(&case["file"]), text(&case["status"]))).collect()
}

const ALL: [(&str, &str, i32); 6] = [
    ("a-good", "passed", 0),
    ("b-wrong", "failed", 1),
    ("c-far", "failed", 1),
    ("d-broken", "broken", 2),
    ("e-endless", "timed-out", 3),
    ("f-gap", "unsupported", 4),
];

#[test]
fn every_kind_of_end_has_its_status_and_exit_code() {
    let project = Project::full();
    for (name, status, exit) in ALL {
        let (report, said) = project.json(&["--filter", name]);
        assert_eq!(statuses(&report), [(format!("t/{name}.toml"), status.to_owned())], "{}", said.out);
        assert_eq!(said.code, Some(exit), "{name}");
    }
    let (report, said) = project.json(&[]);
    let wanted: Vec<_> = ALL.iter().map(|(name, status, _)| (format!("t/{name}.toml"), (*status).to_owned())).collect();
    assert_eq!((statuses(&report), said.code), (wanted, Some(2)));
    assert_eq!(report["left_alone"], serde_json::json!(["t/Cargo.toml"]));
    assert_eq!(report["counts"]["failed"], 2);
    // Wrong input is graver than a defect, that than a gap, that than a limit.
    for (skipped, exit) in [(&["d-"][..], 1), (&["d-", "b-", "c-"], 4), (&["d-", "b-", "c-", "f-"], 3)] {
        let words: Vec<&str> = skipped.iter().flat_map(|name| ["--skip", name]).collect();
        assert_eq!(project.test(&words).code, Some(exit), "{skipped:?}");
    }
}

#[test]
fn nothing_that_is_told_depends_on_jobs() {
    let project = Project::full();
    for format in ["text", "json", "github", "sarif"] {
        let one = project.test(&["--jobs", "1", "--format", format]);
        let four = project.test(&["--jobs", "4", "--format", format]);
        assert_eq!((one.out, one.code), (four.out, four.code), "{format}");
    }
}

#[test]
fn a_planted_failure_makes_a_passing_suite_fail() {
    let project = Project::new();
    let passing = project.test(&["--junit", "j.xml"]);
    assert_eq!(passing.code, Some(0), "{}{}", passing.out, passing.err);
    assert!(passing.out.contains("1 launch file: 1 passed, 0 failed") && !project.read("j.xml").contains("<failure"));
    project.launch("planted.toml", "far.ptx", "");
    let failing = project.test(&["--junit", "j.xml"]);
    assert_eq!(failing.code, Some(1));
    assert!(failing.out.contains("FAILED      t/planted.toml") && failing.out.contains("out-of-bounds"));
    assert!(project.read("j.xml").matches("<failure").count() == 1, "{}", project.read("j.xml"));
}

#[test]
fn what_failed_is_seen_again_as_it_is_told() {
    let project = Project::full();
    std::fs::copy(root().join("tests/schedules/atomicity.ptx"), project.path("t/atomicity.ptx")).unwrap();
    let launch = std::fs::read_to_string(root().join("tests/schedules/atomicity.toml")).unwrap();
    project.write("t/g-seeds.toml", launch);
    // The default schedule shows nothing; a seed does.
    assert_eq!(project.json(&["--filter", "g-"]).1.code, Some(0));
    let (report, said) = project.json(&["--filter", "g-", "--seeds", "60"]);
    assert_eq!(said.code, Some(1), "{report:#}");
    let finding = &report["files"][0]["findings"][0];
    assert!(finding["seed"].is_u64() && finding["code"] == "result-mismatch", "{finding:#}");
    for (filter, seeds, code) in
        [("g-", "60", "mismatch"), ("c-far", "0", "out-of-bounds"), ("b-wrong", "0", "mismatch")]
    {
        let (report, _) = project.json(&["--filter", filter, "--seeds", seeds]);
        let replay = report["files"][0]["findings"][0]["replay"].as_str().unwrap().to_owned();
        let words: Vec<&str> = replay.strip_prefix("warpstep ").unwrap().split(' ').collect();
        let again = project.run(&words);
        assert_eq!(again.code, Some(1), "{replay}: {}", again.err);
        assert!(again.err.contains(code), "{replay}: {}", again.err);
    }
}

#[test]
fn a_file_may_want_a_defect() {
    let project = Project::new();
    project.launch("want.toml", "far.ptx", "test.defect = \"out-of-bounds\"\n");
    let (report, said) = project.json(&["--sarif", "s.sarif"]);
    assert_eq!(said.code, Some(0), "{report:#}");
    assert!(report["files"][1]["findings"][0]["accepted"].is_string());
    let sarif: Value = serde_json::from_str(&project.read("s.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["suppressions"][0]["kind"], "inSource");
    // Repaired, or another defect than that.
    for (ptx, defect, code) in [("good.ptx", "out-of-bounds", "absent-defect"), ("far.ptx", "race", "out-of-bounds")] {
        project.launch("want.toml", ptx, &format!("test.defect = \"{defect}\"\n"));
        let (report, said) = project.json(&["--filter", "want"]);
        assert_eq!((said.code, report["files"][0]["findings"][0]["code"].as_str()), (Some(1), Some(code)));
    }
    // Its seeds and checks are done as well as those of the flags.
    project.launch("want.toml", "good.ptx", "test = { seeds = 3, check = [\"bounds\"] }\n");
    let (report, said) = project.json(&["--filter", "want", "--check", "uninit"]);
    let case = &report["files"][0];
    assert_eq!((said.code, case["runs"].as_u64()), (Some(0), Some(5)));
    assert_eq!(case["checks"], serde_json::json!(["uninit", "bounds"]));
    project.launch("want.toml", "good.ptx", "test = { check = [\"raices\"] }\n");
    let (report, said) = project.json(&["--filter", "want"]);
    assert_eq!((said.code, report["files"][0]["findings"][0]["code"].as_str()), (Some(2), Some("unknown-word")));
    project.launch("want.toml", "good.ptx", "test = { check = \"deterministic\" }\n");
    assert_eq!(project.json(&["--filter", "want"]).1.code, Some(2));
}

#[test]
fn a_known_defect_may_stay() {
    let project = Project::new();
    project.launch("known.toml", "far.ptx", "");
    let entry = |kind: &str| format!("[[suppress]]\nkind = \"{kind}\"\nreason = \"an example\"\n");
    project.write("known-defects.toml", entry("out-of-bounds") + &entry("race"));
    let words = ["--suppressions", "known-defects.toml", "--sarif", "s.sarif"];
    let (report, said) = project.json(&words);
    assert_eq!(said.code, Some(0), "{report:#}");
    assert!(report["files"][1]["findings"][0]["accepted"].as_str().unwrap().contains("an example"));
    // Used by one file, it is used; the other entry is by none.
    assert_eq!(report["unused_suppressions"].as_array().unwrap().len(), 1);
    let text = project.test(&words);
    assert!(text.err.contains("unused-suppression") && text.out.contains("1 suppressed: an example"), "{}", text.out);
}

#[test]
fn a_suite_can_end_at_the_first_failure() {
    let project = Project::full();
    for jobs in ["1", "4"] {
        let (report, said) = project.json(&["--fail-fast", "--jobs", jobs]);
        let ended: Vec<String> = statuses(&report).into_iter().map(|(_, status)| status).collect();
        assert_eq!(ended, ["passed", "failed", "not-run", "not-run", "not-run", "not-run"], "--jobs {jobs}");
        assert_eq!((said.code, report["ended"].as_str()), (Some(1), Some("fail-fast")));
    }
}

#[test]
fn where_nothing_is_to_be_tested_that_is_an_error() {
    let project = Project::full();
    project.write("empty/Cargo.toml", "[package]\n");
    for (words, code) in [
        (&["test", "empty"][..], "no-tests"),
        (&["test", "t", "empty"], "no-tests"),
        (&["test", "ptx/good.ptx"], "no-tests"),
        (&["test", "none"], "unreadable"),
        (&["test", "t", "--filter", "none"], "no-tests"),
        (&["test", "t", "--skip", "t*toml"], "no-tests"),
        (&["test", "t", "--check", "deterministic"], "bad-flag"),
        (&["test", "t", "--block", "3"], "bad-flag"),
        (&["test", "t", "--source-root", "none"], "unreadable"),
        (&["test", "t", "--junit", "x", "--sarif", "x"], "bad-flag"),
        (&["test", "t", "--junit", "none/j.xml"], "unwritable"),
        (&["test", "t", "--sarif", "none/s.sarif"], "unwritable"),
    ] {
        let said = project.run(words);
        // Told before anything runs.
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{words:?}");
        assert!(said.err.contains(&format!("[{code}]")), "{words:?}: {}", said.err);
    }
    // A file that is named twice, also through its folder, is tested once.
    let (report, _) = project.json(&["t", "t/a-good.toml", "--filter", "a-good"]);
    assert_eq!(report["files"].as_array().unwrap().len(), 1);
}

#[test]
fn host_scripts_are_tested_too() {
    let project = Project::new();
    let script = "[programs.p]\nptx = \"../ptx/FILE\"\n[contexts.c.buffers.o]\ntype = \"u32\"\ninit = \"zeros\"\nlen = 2\n\
        [[host]]\ndo = \"create\"\ncontext = \"c\"\n[[host]]\ndo = \"load\"\ncontext = \"c\"\nprogram = \"p\"\n\
        [[host]]\ndo = \"start\"\ncontext = \"c\"\nprogram = \"p\"\nlaunch = \"l\"\nentry = \"k\"\ngrid = 1\nblock = 2\n\
        args = [{ buffer = \"o\" }]\n[[host]]\ndo = \"wait\"\n\
        [[host]]\ndo = \"expect\"\ncontext = \"c\"\nbuffer = \"o\"\nvalues = [1, 0]\n";
    project.write("t/script.toml", script.replace("FILE", "good.ptx") + "[test]\nseeds = 4\n");
    project.write("t/wrong.toml", script.replace("FILE", "far.ptx"));
    let (report, said) = project.json(&["--skip", "a-good"]);
    assert_eq!(said.code, Some(1), "{report:#}");
    let runs: Vec<_> = report["files"].as_array().unwrap().iter().map(|case| case["runs"].as_u64().unwrap()).collect();
    assert_eq!(runs, [5, 1]);
    let replay = report["files"][1]["findings"][0]["replay"].as_str().unwrap();
    let words: Vec<&str> = replay.strip_prefix("warpstep ").unwrap().split(' ').collect();
    assert_eq!(project.run(&words).code, Some(1), "{replay}");
}
