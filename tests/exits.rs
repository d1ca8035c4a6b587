//! The way out: verdicts and their exit codes stay when something cannot be written, files are whole or as they were, and
//! what comes from inputs neither acts on a terminal nor fills it.
#![allow(clippy::disallowed_methods, reason = "these tests bound the time that messages take")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const STORE: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
";

const LAUNCH: &str = "\
ptx = \"store.ptx\"
[buffers.o]
type = \"u32\"
init = \"zeros\"
len = 1
[[launch]]
entry = \"k\"
grid = [1]
block = [2]
args = [{ buffer = \"o\" }]
[expect.o]
values = [9]
";

/// A folder with `store.ptx` and `launch.toml`, whose results are not as expected.
struct Folder(tempfile::TempDir);

/// What a command said.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("store.ptx", STORE);
        folder.write("launch.toml", LAUNCH);
        folder
    }

    /// The same, with results as expected.
    fn right() -> Self {
        let folder = Self::new();
        folder.write("launch.toml", LAUNCH.replace("[9]", "[1]"));
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
        command.args(words).current_dir(self.0.path());
        command
    }

    fn run(&self, words: &[&str]) -> Said {
        said(self.command(words).output().unwrap())
    }

    /// Runs a line of a shell, in which `$W` is the command.
    fn shell(&self, line: &str) -> Said {
        let mut command = Command::new("bash");
        command.arg("-c").arg(line).env("W", env!("CARGO_BIN_EXE_warpstep")).current_dir(self.0.path());
        said(command.output().unwrap())
    }
}

fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

impl Said {
    #[track_caller]
    fn expect(self, code: i32, words: &[&str]) -> Self {
        let all = format!("{}{}", self.out, self.err);
        assert_eq!(self.code, Some(code), "{all}");
        for word in words {
            assert!(all.contains(word), "no `{word}` in:\n{all}");
        }
        self
    }

    /// The words come in this order.
    #[track_caller]
    fn in_order(self, words: &[&str]) -> Self {
        let mut rest = self.err.as_str();
        for word in words {
            rest =
                rest.split_once(word).unwrap_or_else(|| panic!("no `{word}` where it should be in:\n{}", self.err)).1;
        }
        self
    }
}

const TOLD: [&str; 2] = ["differ from what is expected", "[unwritable] Error: cannot write"];

#[test]
fn a_verdict_stays_when_its_file_cannot_be_written() {
    let folder = Folder::new();
    for command in ["hunt", "prove"] {
        folder.run(&[command, ".", "--save-schedule", "/dev/full"]).expect(1, &[]).in_order(&TOLD);
        let said = folder.run(&[command, ".", "--save-schedule", "/dev/full", "--format", "json"]).expect(1, &[]);
        let value: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let list = if command == "hunt" { "findings" } else { "defects" };
        assert!(value[list][0]["schedule"].is_null() && said.err.contains("no space"), "{}{}", said.out, said.err);
    }
    folder.run(&["run", ".", "--trace", "/dev/full"]).expect(1, &[]).in_order(&TOLD);
    folder.run(&["run", ".", "--save", "o=/dev/full"]).expect(1, &[]).in_order(&TOLD[1..]);
    folder.run(&["prove", ".", "--dot", "/dev/full"]).expect(1, &[]).in_order(&TOLD);
    folder.run(&["hunt", "."]).expect(1, &["schedule written to"]);
    let schedule = folder.names().into_iter().find(|n| n.ends_with(".schedule")).unwrap();
    folder.run(&["minimise", &schedule, "--output", "/dev/full"]).expect(1, &[]).in_order(&TOLD);
    folder.run(&["replay", &schedule, "--save-schedule", "/dev/full"]).expect(1, &[]).in_order(&TOLD);
    folder.run(&["replay", &schedule, "--trace", "/dev/full"]).expect(1, &[]).in_order(&TOLD);
    // Where all is well but for the file, the command has failed nevertheless.
    let folder = Folder::right();
    folder.run(&["run", ".", "--save", "o=/dev/full"]).expect(2, &["as expected", "no space is left"]);
}

#[test]
fn what_cannot_be_written_is_told_before_a_search() {
    let folder = Folder::new();
    for words in [
        &["hunt", ".", "--save-schedule", "/nonexistent/x"][..],
        &["hunt", ".", "--checkpoint", "/nonexistent/x"],
        &["prove", ".", "--save-schedule", "/nonexistent/x"],
        &["prove", ".", "--checkpoint", "/nonexistent/x"],
        &["run", ".", "--trace", "/nonexistent/x"],
        &["compare", ".", "--schedules", "/dev/null/x"],
    ] {
        let said = folder.run(words).expect(2, &["Error: cannot"]);
        assert!(!said.err.contains("differ from"), "{words:?}: {}", said.err);
    }
    assert_eq!(folder.names(), ["launch.toml", "store.ptx"]);
}

#[test]
fn a_full_disk_leaves_the_older_file() {
    let folder = Folder::new();
    folder.run(&["hunt", ".", "--save-schedule", "a.schedule"]).expect(1, &[]);
    let before = folder.read("a.schedule");
    // Nothing can be written to any file, which a process learns as it would of a full disk.
    let full = "trap '' XFSZ; ulimit -f 0; ";
    folder.shell(&format!("{full} $W hunt . --save-schedule a.schedule")).expect(1, &[]).in_order(&TOLD);
    assert_eq!(folder.read("a.schedule"), before);
    folder.run(&["prove", ".", "--checkpoint", "c", "--max-states", "1"]).expect(1, &[]);
    let before = std::fs::read(folder.path("c")).unwrap();
    folder.shell(&format!("{full} $W prove . --checkpoint c")).expect(1, &[]).in_order(&TOLD);
    assert_eq!(std::fs::read(folder.path("c")).unwrap(), before);
    assert!(folder.names().iter().all(|n| !n.ends_with(".tmp")), "{:?}", folder.names());
}

#[test]
fn processes_that_share_a_checkpoint_keep_their_verdicts() {
    let folder = Folder::new();
    let prove = || folder.command(&["prove", ".", "--checkpoint", "c"]).stderr(Stdio::piped()).spawn().unwrap();
    let all: Vec<_> = (0..3).map(|_| prove()).collect();
    for child in all {
        said(child.wait_with_output().unwrap()).expect(1, &["refuted"]);
    }
    folder.run(&["prove", ".", "--checkpoint", "c"]).expect(1, &["refuted"]);
    assert!(folder.names().iter().all(|n| !n.ends_with(".tmp")), "{:?}", folder.names());
}

#[test]
fn nothing_but_a_schedule_is_overwritten_by_one() {
    let folder = Folder::new();
    for command in ["hunt", "prove"] {
        folder.run(&[command, ".", "--save-schedule", "store.ptx"]).expect(2, &["is no schedule"]);
    }
    assert_eq!(folder.read("store.ptx"), STORE);
    let said = folder.run(&["hunt", "."]).expect(1, &[]);
    let name = said.err.split("schedule written to ").nth(1).unwrap().lines().next().unwrap().to_owned();
    // `prove` keeps what `hunt` wrote.
    let hunted = folder.read(&name);
    folder.run(&["prove", "."]).expect(1, &[".prove.schedule"]);
    assert_eq!(folder.read(&name), hunted);
    // A schedule is taken for one, an empty file for nothing.
    folder.run(&["prove", ".", "--save-schedule", &name]).expect(1, &[]);
    folder.write("empty", "");
    folder.run(&["hunt", ".", "--save-schedule", "empty"]).expect(1, &["written to empty"]);
    folder.run(&["minimise", "empty", "--output", "launch.toml"]).expect(2, &["is no schedule"]);
    // A default name that is taken is not used.
    folder.write(&name, "my timetable");
    let other = name.replace(".schedule", "-2.schedule");
    folder.run(&["hunt", "."]).expect(1, &[&format!("schedule written to {other}\n")]);
    assert_eq!(folder.read(&name), "my timetable");
}

#[test]
fn standard_output_that_cannot_be_written_is_told() {
    let folder = Folder::right();
    for line in [
        "run . --print o",
        "run . --hash",
        "run . --format json",
        "run . --format sarif",
        "hunt . --seeds 1 --format json",
        "prove . --format json",
        "check store.ptx --dump tree",
        "check store.ptx --format json",
        "rules",
    ] {
        folder.shell(&format!("$W {line} > /dev/full")).expect(2, &["cannot write `standard output`"]);
        // Somebody who has read enough is no error.
        let said = folder.shell(&format!("set -o pipefail; {{ $W {line}; echo $? >&2; }} | true"));
        assert_eq!(said.err.lines().last(), Some("0"), "{line}: {}", said.err);
    }
    folder.write("launch.toml", LAUNCH);
    folder.shell("$W run . --print o > /dev/full").expect(1, &["not as expected", "standard output"]);
}

#[test]
fn only_regular_files_are_read() {
    let folder = Folder::new();
    let mkfifo = Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(mkfifo.success());
    folder.write("raw.toml", LAUNCH.replace("init = \"zeros\"", "init = { raw = \"/dev/zero\" }"));
    let start = Instant::now();
    for file in ["pipe", "/dev/zero"] {
        for name in ["a.ptx", "a.toml", "a.litmus", "a.memp", "a.schedule"] {
            let _ = std::fs::remove_file(folder.path(name));
            std::os::unix::fs::symlink(folder.path(file), folder.path(name)).unwrap();
        }
        for words in [
            &["check", "a.ptx"][..],
            &["check", "a.litmus"],
            &["check", "a.memp"],
            &["run", "a.toml"],
            &["run", "a.ptx"],
            &["prove", "a.litmus"],
            &["replay", "a.schedule"],
            &["run", ".", "--suppressions", "a.toml"],
            &["run", ".", "--memory", "fermi", "--device", "a.toml"],
            &["hunt", ".", "--checkpoint", "a.schedule"],
        ] {
            folder.run(words).expect(2, &["it is no regular file"]);
        }
    }
    folder.run(&["run", "raw.toml"]).expect(2, &["it is no regular file", "/dev/zero"]);
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn errors_are_counted_not_told_without_end() {
    let folder = Folder::new();
    let kernel =
        |body: String| format!(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {{\n{body}}}\n");
    let unknown = (0..16_000).map(|k| format!("foo{k}.u32 a,b;\n")).collect();
    let start = Instant::now();
    folder.write("unknown.ptx", kernel(unknown));
    folder.write("equal.ptx", kernel("add.u32 x,y,z;\n".repeat(35_000)));
    folder.write("line.ptx", kernel("add.u32 x,y,z;".repeat(20_000)));
    folder.write("line.toml", format!("ptx = [{}\n", "= ".repeat(200_000)));
    folder.write("keys.toml", (0..30_000).map(|k| format!("k{k} = 1\n")).collect::<String>());
    for words in [
        ["check", "unknown.ptx"],
        ["check", "equal.ptx"],
        ["check", "line.ptx"],
        ["run", "line.toml"],
        ["run", "keys.toml"],
    ] {
        let said = folder.run(&words).expect(2, &["more: --max-errors"]);
        assert!(said.err.len() < 200_000, "{words:?}: {}", said.err.len());
        let said = folder.run(&[&words[..], &["--format", "json"]].concat()).expect(2, &[]);
        let value: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(value["problems"].as_array().unwrap().len(), 100);
        assert!(value["omitted"].as_u64().unwrap() > 10_000 && said.out.len() < 4_000_000, "{}", said.out.len());
        folder.run(&[&words[..], &["--format", "sarif"]].concat()).expect(2, &["\"omitted\""]);
    }
    assert!(start.elapsed() < Duration::from_secs(300), "{:?}", start.elapsed());
    let said = folder.run(&["check", "line.ptx", "--max-errors", "3"]).expect(2, &[]);
    assert_eq!(said.err.matches("Error").count(), 3, "{}", said.err);
}

/// No line of what a command says begins as a command to a runner of continuous integration does, and no byte acts.
#[track_caller]
fn harmless(said: &Said) {
    for text in [&said.out, &said.err] {
        let acts = |c: char| c.is_control() && c != '\n' && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!text.contains(acts), "{text:?}");
        let command = |l: &str| l.trim_start().starts_with("::") || l.contains("##[");
        assert!(!text.lines().any(command), "{text}");
    }
}

const EVIL: &str = "x\\n::error file=a::pwned\\n\\u001b[31m\\u0007\\u009b2J\\u202e##[error]y";
const RAW: &str = "::error::pwned \u{1b}[31m \u{9b}2J \u{202e} ##[error]\r::error::x";

#[test]
fn text_from_inputs_does_nothing_but_appear() {
    let folder = Folder::new();
    let evil =
        LAUNCH.replace("buffers.o", &format!("buffers.\"{EVIL}\"")).replace("expect.o", &format!("expect.\"{EVIL}\""));
    folder.write("name.toml", evil.replace("buffer = \"o\"", &format!("buffer = \"{EVIL}\"")));
    folder.write("key.toml", format!("{LAUNCH}\n[\"{EVIL}\"]\na = 1\n"));
    folder.write("path.toml", LAUNCH.replace("store.ptx", EVIL));
    folder.write("entry.toml", LAUNCH.replace("entry = \"k\"", &format!("entry = \"{EVIL}\"")));
    folder.write("raw.toml", format!("{LAUNCH}\n# {RAW}\n{RAW}\n"));
    folder.write("known.toml", format!("[[suppress]]\nkind = \"race\"\nreason = \"{EVIL}\"\n"));
    folder.write("raw.ptx", format!("{STORE}\n{RAW}\n"));
    folder.write("file.ptx", STORE.replace("{\n", "{\n.loc 1 1 1\n trap;\n") + &format!(".file 1 \"{RAW}\"\n"));
    folder.write("raw.litmus", format!("PTX {RAW}\n{RAW}\n"));
    folder.write("raw.memp", RAW);
    folder.write("raw.schedule", format!("warpstep schedule 2\nversion {RAW}\ntarget {RAW}\nend\n"));
    folder.write(&RAW.replace('/', "_"), "");
    for words in [
        &["run", "name.toml"][..],
        &["hunt", "name.toml"],
        &["prove", "name.toml"],
        &["run", "name.toml", "--format", "json"],
        &["run", "name.toml", "--format", "sarif"],
        &["run", "key.toml"],
        &["run", "path.toml"],
        &["run", "path.toml", "--format", "json"],
        &["run", "entry.toml"],
        &["run", "raw.toml"],
        &["run", ".", "--suppressions", "known.toml"],
        &["check", "raw.ptx"],
        &["check", "raw.ptx", "--format", "json"],
        &["check", "file.ptx", "--dump", "tree"],
        &["run", "file.ptx", "--buffer", "o:u32:1=zeros", "--arg", "buffer:o", "--block", "1"],
        &["check", "raw.litmus"],
        &["prove", "raw.litmus"],
        &["check", "raw.memp"],
        &["replay", "raw.schedule"],
        &["check", RAW],
        &["run", ".", "--print", RAW],
    ] {
        let said = folder.run(words);
        assert!(said.code.is_some_and(|c| c < 100), "{words:?}: {}", said.err);
        harmless(&said);
    }
}

#[test]
fn a_timeline_is_cut_where_it_gets_too_long() {
    let folder = Folder::new();
    let spin = STORE.replace("    st.global", "L: bra L;\n    st.global");
    folder.write("store.ptx", spin);
    let said = folder.run(&["run", ".", "--trace", "t.json", "--trace-limit", "100K", "--max-steps", "20000"]);
    said.expect(3, &["t.json ends early", "--trace-limit"]);
    let text = folder.read("t.json");
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let last = value["traceEvents"].as_array().unwrap().last().unwrap();
    assert!(last["name"].as_str().unwrap().contains("--trace-limit") && text.len() < 120_000, "{last} {}", text.len());
    // The run itself is told as ever.
    folder.run(&["run", ".", "--trace", "t.json", "--max-steps", "20"]).expect(3, &[]);
    let value: serde_json::Value = serde_json::from_str(&folder.read("t.json")).unwrap();
    assert!(!value.to_string().contains("trace-limit"));
}

#[test]
fn a_schedule_has_a_timeline() {
    let folder = Folder::new();
    folder.run(&["hunt", ".", "--save-schedule", "a.schedule"]).expect(1, &[]);
    folder.run(&["run", ".", "--trace", "run.json"]).expect(1, &[]);
    folder.run(&["replay", "a.schedule", "--trace", "replay.json"]).expect(1, &["a defect"]);
    // It is the default schedule's, so that of a plain run.
    let slices = |name: &str| folder.read(name).matches("st.global").count();
    assert!(slices("run.json") > 0 && slices("run.json") == slices("replay.json"), "{}", folder.read("replay.json"));
    folder.run(&["replay", "a.schedule", "--turns"]).expect(1, &["block 0, warp 0"]);
}

/// A file of the repository.
fn file(name: &str) -> String {
    format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Sends a signal to a command that has worked for a while.
fn signalled(folder: &Folder, signal: &str, words: &[&str]) -> Said {
    let mut command = folder.command(words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success(), "it had ended before");
    said(child.wait_with_output().unwrap())
}

#[test]
fn searches_are_kept_when_they_are_ended() {
    let folder = Folder::new();
    let big = file("tests/prove/big.toml");
    for (kind, words) in [("prove", &["prove", &big, "--lanes", "split"][..]), ("hunt", &["hunt", &big, "--for", "1h"])]
    {
        let name = format!("{kind}.term");
        signalled(&folder, "-TERM", &[words, &["--checkpoint", &name]].concat()).expect(3, &["interrupted"]);
        assert!(std::fs::read(folder.path(&name)).unwrap().starts_with(b"warpstep checkpoint"));
        // Whoever is killed cannot write: there is what was written before.
        let name = format!("{kind}.kill");
        let said = signalled(&folder, "-KILL", &[words, &["--checkpoint", &name, "--checkpoint-every", "1s"]].concat());
        assert_eq!(said.code, None);
        let limit: &[&str] = if kind == "prove" { &["--max-states", "1"] } else { &["--seeds", "1"] };
        folder.run(&[words, &["--checkpoint", &name], limit].concat()).expect(if kind == "prove" { 3 } else { 0 }, &[]);
        assert!(std::fs::metadata(folder.path(&name)).unwrap().len() > 100);
    }
}

/// A checkpoint with other data, whose length and hash are right.
fn checkpoint(bytes: &[u8], data: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut lines = text.lines();
    let (magic, words) = (lines.next().unwrap(), lines.next().unwrap());
    let words: Vec<&str> = words.split(' ').collect();
    let hash = xxhash_rust::xxh3::xxh3_64(data);
    let mut out = format!("{magic}\n{} {} {hash:016x}\n", words[..4].join(" "), data.len()).into_bytes();
    out.extend_from_slice(data);
    out
}

/// What follows the second line.
fn data_of(bytes: &[u8]) -> Vec<u8> {
    bytes.splitn(3, |b| *b == b'\n').nth(2).unwrap().to_vec()
}

#[test]
fn a_checkpoint_that_was_edited_is_no_danger() {
    let folder = Folder::new();
    let words = ["prove", &file("tests/schedules/atomicity.toml"), "--checkpoint", "c"];
    let again = |bytes: &[u8]| {
        folder.write("c", bytes);
        folder.run(&words)
    };
    folder.run(&[&words[..], &["--max-states", "20"]].concat());
    let good = std::fs::read(folder.path("c")).unwrap();
    let data = data_of(&good);
    assert_eq!(checkpoint(&good, &data), good);
    again(&good).expect(1, &["refuted"]);
    // The graph's numbers lie at the end: states, steps, units.
    let mut refused = 0;
    for k in 0..80 {
        let at = data.len() - 1 - k * (data.len() - 9) / 80;
        let mut edited = data.clone();
        edited[at] ^= [0xff, 0x01, 0x80][k % 3];
        let said = again(&checkpoint(&good, &edited));
        assert!(said.code.is_some_and(|c| c <= 3), "byte {at}: {:?} {}", said.code, said.err);
        if said.code == Some(2) {
            assert!(said.err.contains("checkpoint-"), "byte {at}: {}", said.err);
            refused += 1;
        }
    }
    assert!(refused > 20, "{refused}");
    for at in (0..data.len()).step_by(data.len() / 7) {
        again(&checkpoint(&good, &data[..at])).expect(2, &["cut off or edited"]);
    }
}

#[test]
fn a_hunt_that_never_was_is_not_gone_on_with() {
    let folder = Folder::right();
    let words = ["hunt", ".", "--seeds", "9", "--checkpoint", "c"];
    folder.run(&words).expect(0, &[]);
    let good = std::fs::read(folder.path("c")).unwrap();
    let state: serde_json::Value = serde_json::from_slice(&data_of(&good)).unwrap();
    for (key, value) in [
        ("from", serde_json::json!(3)),
        ("next", serde_json::json!(u64::MAX)),
        ("limited", serde_json::json!(10)),
        ("found", serde_json::json!([[3, 1]])),
        ("found", serde_json::json!([[3, u64::MAX], [4, u64::MAX]])),
        ("found", serde_json::json!([[u64::MAX, 1]])),
    ] {
        let mut edited = state.clone();
        edited[key] = value.clone();
        folder.write("c", checkpoint(&good, edited.to_string().as_bytes()));
        let said = folder.run(&words);
        // That a hunt has got further than it has is believed: no data tells.
        let code = if key == "next" { 0 } else { 2 };
        assert_eq!(said.code, Some(code), "{key} {value}: {}{}", said.out, said.err);
    }
}

#[test]
fn launch_files_of_others_are_confined_to_their_folder() {
    let folder = Folder::right();
    folder.write("secret", [1, 0, 0, 0]);
    let inner = folder.path("inner");
    std::fs::create_dir(&inner).unwrap();
    folder.write("inner/k.ptx", STORE);
    folder.write("inner/data", [0, 0, 0, 0]);
    std::os::unix::fs::symlink("../secret", inner.join("link")).unwrap();
    let launch = LAUNCH.replace("store.ptx", "k.ptx").replace("[9]", "[1]");
    let with = |init: &str| launch.replace("init = \"zeros\"", &format!("init = {{ raw = \"{init}\" }}"));
    let secret = folder.path("secret").display().to_string();
    for (text, confined) in [
        (with("data"), 0),
        (with("./data"), 0),
        (with("../secret"), 2),
        (with("link"), 2),
        (with("../none"), 2),
        (with(&secret), 2),
        (launch.replace("k.ptx", "../store.ptx"), 2),
        (launch.replace("values = [1]", "raw = \"../secret\""), 2),
    ] {
        folder.write("inner/launch.toml", &text);
        let said = folder.run(&["run", "inner", "--confine"]).expect(confined, &[]);
        assert!(confined == 0 || said.err.contains("[outside]"), "{text}: {}", said.err);
        if !text.contains("none") {
            folder.run(&["run", "inner"]).expect(0, &[]);
        }
        for command in ["hunt", "prove"] {
            folder.run(&[command, "inner", "--confine"]).expect(confined, &[]);
        }
    }
    let script = std::fs::read_to_string(file("tests/host/abort.toml")).unwrap();
    folder.write("inner/script.toml", script.replace("kernels.ptx", "../kernels.ptx"));
    folder.run(&["run", "inner/script.toml", "--confine"]).expect(2, &["[outside]"]);
}

#[test]
fn a_line_table_names_no_file_of_others() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("inner")).unwrap();
    folder.write("secret", "the secret\n");
    let secret = folder.path("secret").display().to_string();
    let body = STORE.replace("    st.global.u32 [%rd1], %r1;", ".loc 1 1 1\n    trap;");
    folder.write("inner/k.ptx", format!("{body}.file 1 \"{secret}\"\n"));
    let words = ["run", "inner/k.ptx", "--block", "1", "--buffer", "o:u32:1=zeros", "--arg", "buffer:o"];
    folder.run(&words).expect(1, &["the secret"]);
    let said = folder.run(&[&words[..], &["--confine"]].concat()).expect(1, &[]);
    assert!(!said.err.contains("the secret"), "{}", said.err);
    std::os::unix::fs::symlink("../secret", folder.path("inner/secret")).unwrap();
    let said = folder.run(&[&words[..], &["--confine"]].concat()).expect(1, &[]);
    assert!(!said.err.contains("the secret"), "{}", said.err);
    // A file that never ends is no excerpt.
    folder.write("inner/k.ptx", format!("{body}.file 1 \"/dev/zero\"\n"));
    folder.run(&words).expect(1, &[]);
}

const DEADLOCK: &str = "\
PTX deadlock
{ x = 0; }
 P0@cta 0, gpu 0 | P1@cta 0, gpu 0 ;
 bar.cta.sync 0  | bar.cta.sync 1  ;
 bar.cta.sync 1  | bar.cta.sync 0  ;
forall (x == 0)
";

#[test]
fn a_litmus_test_that_stops_is_one_report() {
    let folder = Folder::new();
    folder.write("stop.litmus", DEADLOCK);
    let said = folder.run(&["prove", "stop.litmus"]).expect(1, &["deadlock", "some runs stop before their end"]);
    assert!(!said.err.contains("every fair run ends"), "{}", said.err);
    for form in ["json", "sarif"] {
        let said = folder.run(&["prove", "stop.litmus", "--format", form]).expect(1, &[]);
        let value: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let stopped = if form == "json" { &value["stopped"] } else { &value["runs"][0]["results"] };
        assert_eq!(stopped.as_array().unwrap().len(), 1, "{value}");
    }
    for command in ["run", "hunt", "compare"] {
        folder.run(&[command, "stop.litmus"]).expect(2, &["litmus test", "warpstep prove stop.litmus"]);
    }
}

#[test]
fn a_file_that_is_no_text_is_told_where() {
    let folder = Folder::new();
    folder.write("bytes.ptx", b".version 8.0\n\xff");
    folder.write("bytes.toml", b"ptx = \"store.ptx\"\n\xff");
    for (words, byte) in [(["check", "bytes.ptx"], "byte 13"), (["run", "bytes.toml"], "byte 18")] {
        folder.run(&words).expect(2, &["not-text", "is no text", byte]);
    }
}
