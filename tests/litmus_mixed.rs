//! `warpstep litmus` on kernels whose accesses overlap in part (D-axiom-mixed): verdicts by hand, in every way and under both models.

use crate::litmus_tool::Tool;

const TOOL: Tool = Tool { folder: "litmus_mixed", flags: &[] };

/// Two threads of a block: one does `first`, the other `second`. `x` has two numbers of eight bytes, `out` four of four.
fn kernel(first: &str, second: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 px, .param .u64 pout)\n{{\n\
         .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<8>;\n\
         ld.param.u64 %rd1, [px]; ld.param.u64 %rd2, [pout];\n\
         mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;\n\
         @%p1 bra SECOND;\n{first}\nret;\nSECOND:\n{second}\nret;\n}}\n"
    );
    std::fs::write(folder.path().join("k.ptx"), text).unwrap();
    folder
}

/// What is told, once all ways and models agree on the exit code and its words.
#[track_caller]
fn says((first, second): (&str, &str), arguments: &[&str], code: i32, words: &[&str]) -> String {
    let folder = kernel(first, second);
    let path = folder.path().join("k.ptx").display().to_string();
    let launch = ["--buffer", "x:u64:2", "--buffer", "out:u32:4", "--arg", "buffer:x", "--arg", "buffer:out"];
    let all = [&[&*path], &launch[..], &["--block", "2"], arguments].concat();
    for way in ["candidates", "sat"] {
        TOOL.says(&[&all[..], &["--way", way]].concat(), code, words);
    }
    TOOL.says(&[&all[..], &["--model", "ptx-v6.0"]].concat(), code, words);
    TOOL.json(&all, code);
    TOOL.says(&all, code, words)
}

const FLAG_AND_VALUE: &str = "st.u32 [%rd1], 1;\nst.u32 [%rd1+4], 2;\nbar.sync 0;";
const READ_BOTH: &str = "bar.sync 0;\nld.relaxed.gpu.u64 %rd4, [%rd1];\nst.u64 [%rd2], %rd4;";

#[test]
fn a_barrier_orders_what_overlaps_in_part() {
    let ordered = (FLAG_AND_VALUE, READ_BOTH);
    says(ordered, &["--exists", "out[0] == 1 && out[1] == 2"], 0, &["reachable"]);
    says(ordered, &["--exists", "out[0] != 1 || out[1] != 2"], 1, &["never reachable"]);
    says(ordered, &["--exists", "x[0] == 8589934593"], 0, &["reachable"]);
    says(ordered, &["--property", "drf"], 0, &["no execution has a data race"]);
    says(ordered, &["--property", "liveness"], 0, &["every execution ends"]);
}

/// Without the barrier races are told to be of a kind of their own, and nothing else is decided.
#[test]
fn a_race_of_different_widths_leaves_the_rest_open() {
    let (first, second) = (FLAG_AND_VALUE.replace("bar.sync 0;", ""), READ_BOTH.replace("bar.sync 0;", ""));
    let racing = (&*first, &*second);
    says(racing, &["--property", "drf"], 1, &["overlap in part", "flag `mixed-size-race` is raised"]);
    let open = ["different widths race", "--property drf"];
    says(racing, &["--property", "safety"], 4, &open);
    says(racing, &["--property", "liveness"], 4, &open);
    says(racing, &["--exists", "out[0] == 1 && out[1] == 0"], 4, &open);
    // Nor is anything known where atomic operations of different widths race, though they are atomic.
    let atomics = ("atom.add.u64 %rd4, [%rd1], 1;", "atom.add.u32 %r3, [%rd1+4], 1;");
    says(atomics, &["--property", "drf"], 1, &["mixed-size-race"]);
    says(atomics, &["--exists", "x[0] == 4294967297"], 4, &open);
    let apart = ("atom.add.u64 %rd4, [%rd1], 1;\nbar.sync 0;", "bar.sync 0;\natom.add.u32 %r3, [%rd1+4], 1;");
    says(apart, &["--exists", "x[0] != 4294967297"], 1, &["never reachable"]);
}

/// A model that says nothing of parts is not asked about them.
#[test]
fn a_model_has_to_know_parts() {
    let folder = kernel(FLAG_AND_VALUE, READ_BOTH);
    let (path, model) = (folder.path().join("k.ptx"), folder.path().join("sc.cat"));
    std::fs::write(&model, "PTX\nacyclic po | rf | co | fr as sc\n").unwrap();
    let (path, model) = (path.display().to_string(), model.display().to_string());
    let launch = ["--buffer", "x:u64:2", "--buffer", "out:u32:4", "--arg", "buffer:x", "--arg", "buffer:out"];
    let all = [&[&*path], &launch[..], &["--block", "2", "--property", "safety", "--model", &model]].concat();
    TOOL.says(&all, 4, &["different widths overlap", "`parts`"]);
}

/// What is weak may tear, and is shown as one access; what is morally strong does not.
#[test]
fn an_access_is_shown_once_with_its_parts() {
    let write = format!("{FLAG_AND_VALUE}\nmov.u64 %rd5, 12884901891;\nst.u64 [%rd1], %rd5;");
    let read = READ_BOTH.replace("ld.relaxed.gpu", "ld");
    let torn = ["--exists", "out[0] == 1 && out[1] == 3"];
    let told = says((&write, &read), &torn, 0, &["reads x[0] = 12884901889: bytes 0–3 = 1 from"]);
    TOOL.golden("torn.out", &told);
    let folder = tempfile::tempdir().unwrap();
    let dot = folder.path().join("it.dot").display().to_string();
    let kernel = kernel(&write, &read);
    let path = kernel.path().join("k.ptx").display().to_string();
    let launch = ["--buffer", "x:u64:2", "--buffer", "out:u32:4", "--arg", "buffer:x", "--arg", "buffer:out"];
    TOOL.says(&[&[&*path], &launch[..], &["--block", "2", "--dot", &dot], &torn].concat(), 0, &[]);
    TOOL.golden("torn.dot", &std::fs::read_to_string(&dot).unwrap());
    let strong = write.replace("st.u64", "st.relaxed.gpu.u64");
    says((&strong, READ_BOTH), &torn, 1, &["never reachable"]);
    says((&write, &read), &["--property", "drf"], 1, &["an execution has a data race\n", "flag `racy`"]);
}

/// A thread spins on all of what was written in halves before.
#[test]
fn who_spins_on_parts_is_told() {
    let spin = "bar.sync 0;\nL:\nld.relaxed.cta.u64 %rd4, [%rd1];\nsetp.eq.u64 %p3, %rd4, 0;\n@%p3 bra L;";
    let halves = "st.u32 [%rd1], 0;\nst.u32 [%rd1+4], 0;\nbar.sync 0;";
    let ends = |first: &str, code, words: &[&str]| says((first, spin), &["--property", "liveness"], code, words);
    ends(&format!("{halves}\nst.relaxed.cta.u64 [%rd1], 1;"), 0, &["every execution ends"]);
    ends(halves, 1, &["an execution never ends", "ld.relaxed.cta.u64"]);
}
