//! Memory programs and the table of rules on the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/memp").join(name)
}

fn warpstep(arguments: &[&str], path: Option<&Path>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpstep")).args(arguments).args(path).output().unwrap()
}

/// The command ends with the code and says every one of the words.
#[track_caller]
fn says(output: &Output, code: i32, words: &[&str]) {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "does not say {word:?}: {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn a_folder_serves_every_operation() {
    says(&warpstep(&["check"], Some(&folder("own"))), 0, &[]);
    let lacking = warpstep(&["check"], Some(&folder("lacking")));
    says(&lacking, 2, &["no program for mov, ld.global, ", " others", "stores.memp:4", "`use fermi;`"]);
    // By itself a file need not.
    says(&warpstep(&["check"], Some(&folder("lacking/stores.memp"))), 0, &[]);
    says(&warpstep(&["check"], Some(&folder("broken"))), 2, &["more.memp:4:1", "undefined for `st.shared`"]);
    says(&warpstep(&["check"], Some(&folder(""))), 2, &["has no memory programs"]);
    says(&warpstep(&["check"], Some(&folder("none.memp"))), 2, &["no such file"]);
    says(
        &warpstep(&["check", "--format", "json"], Some(&folder("broken"))),
        2,
        &["\"code\": \"undefined\"", "\"line\": 4"],
    );
}

#[test]
fn rules_are_listed() {
    says(&warpstep(&["rules"], None), 0, &["crs.braguard", "src/machine/control/crs.rs", "fire in the examples"]);
    let some = warpstep(&["rules", "cache.read", "--format", "json"], None);
    says(&some, 0, &["\"id\": \"cache.read-wait\"", "src/memory/fermi/cache/ops.rs"]);
    assert!(!String::from_utf8_lossy(&some.stdout).contains("crs."));
    says(&warpstep(&["rules", "cash"], None), 2, &["cash", "the beginning of a rule's id"]);
}
