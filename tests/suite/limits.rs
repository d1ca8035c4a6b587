//! Limits of single files hold, on every memory and control model, and Ctrl-C loses nothing.
#![allow(clippy::disallowed_methods, reason = "these tests bound the time that a command takes")]

use super::Project;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A build that is slow, on a computer that does other things, is not late before.
const LATE: Duration = Duration::from_secs(60);

#[test]
fn time_ends_a_file_under_every_model() {
    let project = Project::full();
    for control in ["crs", "its", "thread"] {
        for memory in ["flat", "fermi", "rsp", "lsc", "slsc", "lsc-mutex"] {
            let start = Instant::now();
            let words = ["--filter", "e-", "--control", control, "--memory", memory, "--seeds", "2"];
            let (report, said) = project.json(&words);
            assert_eq!((said.code, report["files"][0]["status"].as_str()), (Some(3), Some("timed-out")), "{words:?}");
            assert!(start.elapsed() < LATE, "{words:?}: {:?}", start.elapsed());
        }
    }
}

/// Half a megabyte of local memory for each thread, which are a thousand.
const LOCAL: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
    .local .b8 a[524288];
    .reg .b64 %rd<2>;
    mov.u64 %rd1, a;
    st.local.u32 [%rd1], 1;
    bar.sync 0;
    ret;
}
";

#[test]
fn memory_ends_a_file_and_no_other() {
    let project = Project::new();
    project.write("ptx/local.ptx", LOCAL);
    project.launch("large.toml", "local.ptx", "");
    let large = project.read("t/large.toml").replace("block = 2", "block = 1024");
    project.write("t/large.toml", large);
    for k in 0..4 {
        project.launch(&format!("m{k}.toml"), "good.ptx", "");
    }
    for jobs in ["1", "4"] {
        let (report, said) = project.json(&["--max-memory", "64M", "--jobs", jobs, "--timeout", "60s"]);
        let of = |status: &str| {
            let files = report["files"].as_array().unwrap().iter();
            files.filter(|case| case["status"] == status).map(|case| case["file"].as_str().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!((said.code, of("limit"), of("passed").len()), (Some(3), vec!["t/large.toml"], 5), "--jobs {jobs}");
    }
}

#[cfg(unix)]
#[test]
fn an_interruption_keeps_what_is_known() {
    let project = Project::full();
    let words =
        ["test", "t", "--jobs", "2", "--timeout", "120s", "--junit", "j.xml", "--sarif", "s.sarif", "--skip", "d-"];
    let mut command = project.command(&words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // The endless file is among those that are tested by now.
    std::thread::sleep(Duration::from_secs(2));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let start = Instant::now();
    let status = child.wait().unwrap();
    assert!(start.elapsed() < LATE);
    let mut out = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut out).unwrap();
    // A failure that is known is graver than that not all is.
    assert_eq!(status.code(), Some(1), "{out}");
    assert!(out.contains("FAILED      t/c-far.toml") && out.contains("not run     t/e-endless.toml"), "{out}");
    assert!(out.ends_with("interrupted\n"), "{out}");
    let junit = project.read("j.xml");
    assert!(junit.contains("<failure") && junit.contains("<skipped"), "{junit}");
    let sarif: Value = serde_json::from_str(&project.read("s.sarif")).unwrap();
    assert!(sarif["runs"][0]["results"].as_array().unwrap().len() >= 2);
}
