//! What `--help` shows: every flag is taken, every line fits, no paragraph is wrapped by hand; and what shells complete.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

const KERNEL: &str = "\
.version 7.0
.target sm_70
.address_size 64
.global .u32 g;
.visible .entry k(.param .u64 k_x)
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [k_x];
	st.global.u32 [%rd1], 1;
	ret;
}
";

/// A flag, the values that it is given, and what it asks for besides.
const FLAGS: &[(&str, &[&str])] = &[
    ("all", &[]),
    ("arch", &["sm_80"]),
    ("audit", &[]),
    ("no-symmetry", &[]),
    ("benign", &["same-value", "--check", "races"]),
    ("block", &["1"]),
    ("blocks", &[]),
    ("bound", &["2"]),
    ("check", &["races"]),
    ("checkpoint", &["kept"]),
    ("checkpoint-every", &["1m", "--checkpoint", "kept.every"]),
    ("compare", &[]),
    ("confine", &[]),
    ("continue", &[]),
    ("control", &["its"]),
    ("costs", &["--memory", "lsc-mutex"]),
    ("depth", &["2", "--strategy", "pct"]),
    ("device", &["tiny"]),
    ("dot", &["graph.dot"]),
    ("dump", &["tree"]),
    ("engine", &["native"]),
    ("entry", &["k"]),
    ("exists", &["x[0] == 1"]),
    ("expect", &["x=values:1;first=1"]),
    ("expect-stdout", &[""]),
    ("expected", &["verdicts.csv"]),
    ("fail-fast", &[]),
    ("fairness", &["weak"]),
    ("filter", &["launch"]),
    ("extract", &["race.schedule"]),
    ("first", &[]),
    ("first-seed", &["3"]),
    ("for", &["10s"]),
    ("format", &["json"]),
    ("global", &["g:u32=values:1"]),
    ("grid", &["1"]),
    ("hash", &[]),
    ("heap-size", &["1M"]),
    ("heap-stop", &[]),
    ("its-split", &[]),
    ("jobs", &["1"]),
    ("junit", &["junit.xml"]),
    ("keep-going", &[]),
    ("lanes", &["split"]),
    ("machine", &["rsp"]),
    ("merge", &["part.json", "--seeds", "2"]),
    ("max-choices", &["1000"]),
    ("max-errors", &["3"]),
    ("max-memory", &["1G"]),
    ("max-states", &["100"]),
    ("max-steps", &["1000"]),
    ("memory", &["flat"]),
    ("memory-programs", &["programs", "--memory", "fermi"]),
    ("mma", &["exact"]),
    ("model", &["ptx-v6.0"]),
    ("more", &[]),
    ("output", &["short.schedule"]),
    ("preemptions", &["1"]),
    ("print", &["x"]),
    ("ptx", &["k.ptx"]),
    ("progress", &["fair"]),
    ("property", &["drf"]),
    ("reduction", &["none"]),
    ("reps", &["1"]),
    ("sarif", &["found.sarif"]),
    ("scheme", &["original", "--memory", "rsp"]),
    ("rules", &[]),
    ("same-warp", &[]),
    ("sampler", &["s=filter=\"linear\""]),
    ("save", &["x=x.npy"]),
    ("save-schedule", &["found.schedule"]),
    ("schedules", &["folder"]),
    ("search-memory", &["1G"]),
    ("seed", &["3"]),
    ("seeds", &["2"]),
    ("shard", &["1/2"]),
    ("shared", &["16"]),
    ("shift", &["12"]),
    ("skip", &["none"]),
    ("source-root", &["."]),
    ("show", &["memory", "--memory", "fermi"]),
    ("stats", &[]),
    ("strategy", &["random"]),
    ("strong", &[]),
    ("surface", &["v=geometry=\"1d\",size=4,format=\"f32\",init=\"zeros\""]),
    ("suppressions", &["known.toml"]),
    ("texture", &["t=geometry=\"1d\",size=4,format=\"f32\",init=\"iota\""]),
    ("threads", &["2"]),
    ("timeout", &["10s"]),
    ("trace", &["run.json"]),
    ("trace-limit", &["1M", "--trace", "run.json"]),
    ("turns", &[]),
    ("volatile", &["weak", "--check", "races"]),
    ("warp-size", &["4"]),
    ("way", &["graphs"]),
    ("why", &[]),
];

/// Flags of `warpstep litmus` that are about machines.
const OF_MACHINES: [&str; 5] = ["control", "memory", "same-warp", "max-states", "search-memory"];
/// Flags of kernels, which no litmus test has.
const OF_KERNELS: [&str; 13] = [
    "arg",
    "block",
    "buffer",
    "entry",
    "exists",
    "expect",
    "expect-stdout",
    "global",
    "grid",
    "sampler",
    "shared",
    "surface",
    "texture",
];

/// Flags of litmus tests, which no kernel has.
const OF_LITMUS: [&str; 3] = ["all", "blocks", "same-warp"];

fn warpstep(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    command.args(arguments).current_dir(folder).env("COLUMNS", "80").env("NO_COLOR", "1").output().unwrap()
}

fn root_of() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder with all that the flags name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("k.ptx", KERNEL);
    std::fs::copy(root_of().join("tests/fatbin/none.fatbin"), folder.path().join("k.fatbin")).unwrap();
    for (file, ptx) in [("launch.toml", "k.ptx"), ("binary.toml", "k.fatbin")] {
        let (entry, args) = match ptx {
            "k.ptx" => ("k", "{ buffer = \"x\" }"),
            _ => ("fill", "{ u32 = 1 }, { u32 = 1 }, { buffer = \"x\" }"),
        };
        put(
            file,
            &format!(
                "ptx = \"{ptx}\"\n[buffers.x]\ntype = \"u32\"\nlen = 4\ninit = \"zeros\"\n[[launch]]\nentry = \"{entry}\"\n\
             grid = 1\nblock = 1\nargs = [{args}]\n"
            ),
        );
    }
    put("known.toml", "[[suppress]]\nkind = \"null\"\nreason = \"an example\"\n");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let test = std::fs::read_to_string(root.join("tests/litmus/MP-weak.litmus")).unwrap();
    put("MP.litmus", &test);
    put("RSP.litmus", &std::fs::read_to_string(root.join("tests/litmus/rsp/figure4.litmus")).unwrap());
    put("verdicts.csv", "path,model,property,expected\nMP.litmus,ptx-v7.5,safety,pass\n");
    std::fs::create_dir(folder.path().join("programs")).unwrap();
    put("programs/own.memp", "use fermi;\n");
    let target = root.join("tests/schedules/atomicity.toml").display().to_string();
    let found = warpstep(folder.path(), &["prove", &target, "--save-schedule", "k.schedule"]);
    assert_eq!(found.status.code(), Some(1), "{}", String::from_utf8_lossy(&found.stderr));
    let racy = root.join("tests/races/blocks_write.racy.ptx").display().to_string();
    let launch = ["--block", "64", "--grid", "2", "--buffer", "out:u32:1024", "--arg", "buffer:out"];
    let hunt =
        [&["hunt", &racy][..], &launch, &["--check", "races", "--seeds", "2", "--save-schedule", "race.schedule"]];
    assert_eq!(warpstep(folder.path(), &hunt.concat()).status.code(), Some(1));
    let part =
        [&["hunt"][..], &base("hunt", "merge"), &["--seeds", "2", "--shard", "1/1", "--format", "json"]].concat();
    put("part.json", &String::from_utf8(warpstep(folder.path(), &part).stdout).unwrap());
    folder
}

/// What a subcommand is given besides the flag.
fn base(command: &str, flag: &str) -> Vec<&'static str> {
    let one =
        |flag: &'static str, value: &'static str, other: &str| if other == flag { vec![] } else { vec![flag, value] };
    let launch = || {
        let some = [one("--block", "1", &format!("--{flag}")), vec!["--buffer", "x:u32:4", "--arg", "buffer:x"]];
        std::iter::once("k.ptx").chain(some.concat()).collect::<Vec<_>>()
    };
    const BINARY: [&str; 11] =
        ["k.fatbin", "--entry", "fill", "--block", "1", "--arg", "u32:0", "--arg", "u32:0", "--arg", "null"];
    match command {
        "check" if flag == "arch" => vec!["k.fatbin"],
        "test" if flag == "arch" => vec!["binary.toml"],
        "test" => vec!["launch.toml"],
        "replay" if flag == "arch" => [&["--seed", "1"], &BINARY[..]].concat(),
        _ if flag == "arch" => BINARY.to_vec(),
        "prove" if OF_LITMUS.contains(&flag) => vec!["MP.litmus"],
        "prove" if flag == "machine" => vec!["RSP.litmus"],
        "replay" if flag != "seed" => [vec!["--seed", "1"], launch()].concat(),
        "run" | "hunt" | "prove" | "compare" | "replay" => launch(),
        "litmus" if flag == "expected" => vec![],
        "litmus" if flag == "progress" => vec!["MP.litmus", "--property", "liveness"],
        "litmus" if flag == "extract" => vec![],
        "litmus" if flag == "output" => vec!["--extract", "race.schedule"],
        "litmus" if OF_MACHINES.contains(&flag) => vec!["MP.litmus", "--compare"],
        "litmus" if flag == "ptx" => launch()[1..].to_vec(),
        "litmus" if OF_KERNELS.contains(&flag) => launch(),
        "litmus" => vec!["MP.litmus"],
        "minimise" => vec!["k.schedule"],
        "check" => vec!["k.ptx"],
        "bench" if flag == "shift" => vec!["vecadd"],
        "bench" => vec!["vecadd", "--shift", "12"],
        _ => vec![],
    }
}

#[test]
fn every_flag_that_is_shown_is_taken() {
    let folder = folder();
    let known: BTreeMap<&str, &[&str]> = FLAGS.iter().copied().collect();
    let mut wrong = Vec::new();
    let mut root = warpstep::cli::command();
    root.build();
    for command in root.get_subcommands().filter(|c| !["help", "completions"].contains(&c.get_name())) {
        let shown = command.get_arguments().filter(|a| !a.is_hide_set());
        for flag in shown.filter_map(|a| a.get_long()).filter(|f| !["help", "version", "buffer", "arg"].contains(f)) {
            let Some(values) = known.get(flag) else {
                wrong.push(format!("--{flag} has no value here to be tried with"));
                continue;
            };
            let name = format!("--{flag}");
            let values = match (command.get_name(), flag) {
                ("test", "format") => &["github"][..],
                ("check", "control") => &["its", "--dump", "program"][..],
                ("check", "block") => &["64", "--dump", "affine"],
                // All memories are compared.
                ("compare", "memory-programs") => &["programs"],
                _ => *values,
            };
            let given =
                [vec![command.get_name()], base(command.get_name(), flag), vec![&name], values.to_vec()].concat();
            let out = warpstep(folder.path(), &given);
            // Each command has its own form of them.
            ["kept", "kept.every"].iter().for_each(|f| _ = std::fs::remove_file(folder.path().join(f)));
            if !matches!(out.status.code(), Some(0 | 1 | 3)) {
                wrong.push(format!("{}: {}", given.join(" "), String::from_utf8_lossy(&out.stderr)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_line_is_wider_than_the_terminal_and_none_is_wrapped_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let mut root = warpstep::cli::command();
    root.build();
    for command in std::iter::once(&root).chain(root.get_subcommands()) {
        let named = [command.get_name(), "--help"];
        let arguments = if command.get_name() == root.get_name() { &named[1..] } else { &named[..] };
        if command.get_name() != "help" {
            let help = String::from_utf8(warpstep(folder.path(), arguments).stdout).unwrap();
            let wide = help.lines().filter(|l| l.chars().count() > 80);
            wrong.extend(wide.map(|l| format!("{}: wider than 80: {l}", command.get_name())));
        }
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let mut before = "";
        for line in after.lines() {
            let (example, goes_on) = (line.starts_with(' '), !before.is_empty() && !before.starts_with(' '));
            if example && line.chars().count() > 80 {
                wrong.push(format!("{}: would be broken: {line}", command.get_name()));
            }
            if !example && !line.is_empty() && goes_on {
                wrong.push(format!("{}: wrapped by hand: {line}", command.get_name()));
            }
            before = line;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A search does without the checks that look at runs, and the help of `prove` names exactly those.
#[test]
fn prove_names_the_checks_that_look_at_runs() {
    let root = warpstep::cli::command();
    let after = root.find_subcommand("prove").and_then(|prove| prove.get_after_help()).unwrap().to_string();
    let named =
        after.lines().find_map(|line| line.strip_prefix("--check ")?.split_once(" look at the runs")).unwrap().0;
    for check in warpstep::check::Check::ALL {
        let there = named.split([' ', ',']).any(|word| word == check.name());
        assert_eq!(there, check.looks_at_runs(), "{}: {named}", check.name());
    }
}

#[test]
fn shells_are_told_of_commands_and_flags() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let out = warpstep(folder.path(), &["completions", shell]);
        let text = String::from_utf8(out.stdout).unwrap();
        let told = ["minimise", "search-memory", "hsa_obe"].iter().filter(|word| text.contains(*word)).count();
        assert!(out.status.success() && told >= 2, "{shell}: {text}");
    }
}
