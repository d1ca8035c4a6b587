//! Bad input: each case has its exit code and a message that names the cause.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const KERNEL: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
.visible .entry bounded() .reqntid 64
{
    ret;
}
.func helper()
{
    ret;
}
";

const LAUNCH: &str = "\
ptx = \"k.ptx\"
[buffers.out]
type = \"u32\"
init = \"zeros\"
len = 4
[[launch]]
entry = \"k\"
grid = [1]
block = [1]
args = [{ buffer = \"out\" }, { u32 = 7 }]
[expect.out]
values = [7, 0, 0, 0]
";

/// A folder with `k.ptx` and `launch.toml`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("k.ptx", KERNEL);
        folder.write("launch.toml", LAUNCH);
        folder
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(name)).unwrap()
    }
}

fn warpstep(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpstep")).args(args).current_dir(folder).output().unwrap()
}

/// The command ends with the code and its messages contain every one of the words.
#[track_caller]
fn expect(folder: &Folder, args: &[&str], code: i32, words: &[&str]) -> String {
    let output = warpstep(&folder.path(), args);
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{args:?} does not say {word:?}: {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// Runs the launch file with a part replaced.
#[track_caller]
fn edited(from: &str, to: &str, code: i32, words: &[&str]) {
    let folder = Folder::new();
    assert!(LAUNCH.contains(from), "{from}");
    folder.write("launch.toml", LAUNCH.replacen(from, to, 1));
    expect(&folder, &["run", "."], code, words);
}

#[test]
fn lanes_are_split_on_flat_memory_only() {
    let folder = Folder::new();
    let path = folder.path();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
        command.arg("run").arg(&path).args(arguments).output().unwrap()
    };
    assert_eq!(run(&["--lanes", "split"]).status.code(), Some(0));
    assert_eq!(run(&["--lanes", "whole", "--device", "tiny"]).status.code(), Some(0));
    let refused = run(&["--lanes", "split", "--memory", "fermi"]);
    assert_eq!(refused.status.code(), Some(2));
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("--lanes fermi") && text.contains("with --memory flat"), "{text}");
}

#[test]
fn a_good_launch_finishes() {
    let folder = Folder::new();
    expect(&folder, &["run", "."], 0, &["finished, as expected", "1 launch", "1 block"]);
    expect(&folder, &["run", "launch.toml", "--format", "json"], 0, &["\"exit\": 0"]);
    for control in ["crs", "its", "thread"] {
        expect(&folder, &["run", ".", "--control", control, "--seed", "5"], 0, &[]);
    }
}

#[test]
fn flags_say_the_same() {
    let folder = Folder::new();
    let flags = ["run", "k.ptx", "--entry", "k", "--buffer", "out:u32:4", "--arg", "buffer:out", "--arg", "u32:7"];
    let with = |more: &[&'static str]| [&flags[..], more].concat();
    expect(&folder, &with(&["--print", "out"]), 0, &["0: 7 0 0 0"]);
    expect(&folder, &with(&["--expect", "out=values:7,0,0,0"]), 0, &["as expected"]);
    expect(&folder, &with(&["--expect", "out=values:8,0,0,0"]), 1, &["1 of 4 u32 elements differ", "8", "7"]);
    let mut wrong = flags.to_vec();
    wrong[9] = "u32:9";
    wrong[8] = "--arg";
    expect(&folder, &wrong, 0, &[]);
}

#[test]
fn machine_code_is_told_of() {
    let folder = Folder::new();
    let none =
        expect(&folder, &["run", ".", "--engine", "interpreter", "--stats"], 0, &["as expected", "machine code: 0 "]);
    if cfg!(all(feature = "native", target_arch = "x86_64")) {
        let all =
            expect(&folder, &["run", ".", "--engine", "native", "--stats"], 0, &["as expected", "100.0 % of all"]);
        assert_ne!(none, all);
    }
    let under = |checks: &str| {
        let checks = checks.split(',').flat_map(|check| ["--check", check]);
        let flags = ["run", ".", "--engine", "native", "--stats"].into_iter().chain(checks);
        expect(&folder, &flags.collect::<Vec<_>>(), 0, &["machine code: "])
    };
    if cfg!(all(feature = "native", target_arch = "x86_64")) {
        assert!(under("races").contains("100.0 % of all, under --check races"));
        assert!(under("races,bounds").contains("100.0 % of all, under --check races,bounds"));
    }
    assert!(
        under("races,div0").contains("machine code: 0 thread instructions, 0.0 % of all; a run under --check div0 is")
    );
    let flags = ["run", ".", "--engine", "native", "--stats", "--check", "races", "--hash"];
    expect(&folder, &flags, 0, &["a run with --hash is interpreted"]);
    let auto = expect(&folder, &["run", ".", "--stats"], 0, &["machine code: 0 "]);
    assert_eq!(none, auto);
}

#[test]
fn results_are_saved_and_hashed() {
    let folder = Folder::new();
    expect(&folder, &["run", ".", "--save", "out=out.npy", "--save", "out=out.bin"], 0, &[]);
    assert_eq!(folder.read("out.bin"), [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert!(folder.read("out.npy").starts_with(b"\x93NUMPY"));
    folder.write("again.toml", LAUNCH.replace("values = [7, 0, 0, 0]", "npy = \"out.npy\""));
    expect(&folder, &["run", "again.toml"], 0, &["as expected"]);
    let once = expect(&folder, &["run", ".", "--hash"], 0, &["memory "]);
    assert_eq!(once, expect(&folder, &["run", ".", "--hash"], 0, &[]));
    expect(&folder, &["run", ".", "--save", "nothing=x"], 2, &["nothing", "out"]);
    expect(&folder, &["run", ".", "--save", "out=missing/folder/x"], 2, &["cannot write"]);
    expect(&folder, &["run", ".", "--print", "ouf"], 2, &["did you mean `out`"]);
}

#[test]
fn files_that_are_not_there() {
    let folder = Folder::new();
    expect(&folder, &["run", "missing"], 2, &["missing", "no such file"]);
    expect(&folder, &["run", "missing.ptx", "--entry", "k"], 2, &["missing.ptx", "no such file"]);
    std::fs::remove_file(folder.path().join("launch.toml")).unwrap();
    expect(&folder, &["run", "."], 2, &["has no launch.toml"]);
    folder.write("launch.other.toml", LAUNCH);
    expect(&folder, &["run", "."], 2, &["launch.other.toml"]);
    expect(&folder, &["check", "missing.ptx"], 2, &["no such file"]);
    edited("\"k.ptx\"", "\"l.ptx\"", 2, &["l.ptx", "no such file", "launch.toml"]);
    edited("init = \"zeros\"", "init = { npy = \"in.npy\" }", 2, &["in.npy", "no such file"]);
}

#[test]
fn files_that_are_no_ptx() {
    let folder = Folder::new();
    let garbage: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for (name, bytes) in [
        ("empty.ptx", Vec::new()),
        ("prose.ptx", b"Dear reader,\nthis is no assembly.\n".to_vec()),
        ("binary.ptx", garbage),
        ("elf.ptx", b"\x7fELF\x02\x01\x01\0\0\0\0".to_vec()),
    ] {
        folder.write(name, bytes);
        expect(&folder, &["check", name], 2, &[name]);
        expect(&folder, &["run", name], 2, &[name]);
    }
    folder.write("k.txt", KERNEL);
    expect(&folder, &["run", "k.txt"], 2, &["neither a folder nor a .toml nor a .ptx"]);
    for cut in (0..KERNEL.len()).step_by(7) {
        folder.write("cut.ptx", &KERNEL[..cut]);
        let code = warpstep(&folder.path(), &["check", "cut.ptx"]).status.code();
        assert!(matches!(code, Some(0 | 2)), "cut at {cut}: {code:?}");
    }
}

#[test]
fn programs_with_errors() {
    let folder = Folder::new();
    folder.write("bad.ptx", KERNEL.replace("st.global.u32 [%rd2], %r1;", "st.globl.u32 [%rd2], %r7;"));
    expect(&folder, &["check", "bad.ptx"], 2, &["bad.ptx:11"]);
    let json = expect(&folder, &["check", "bad.ptx", "--format", "json"], 2, &["\"problems\"", "\"line\": 11"]);
    assert!(json.trim_start().starts_with('{'));
    expect(&folder, &["run", "bad.ptx", "--entry", "k"], 2, &["bad.ptx:11"]);
    expect(&folder, &["check", "k.ptx"], 0, &[]);
    for dump in ["tree", "program", "cfg", "affine"] {
        let text = expect(&folder, &["check", "k.ptx", "--dump", dump], 0, &[]);
        assert!(text.contains('k'), "{dump}: {text}");
    }
}

#[test]
fn what_is_put_into_the_code_is_dumped() {
    let folder = Folder::new();
    folder.write("d.ptx", DIVERGES);
    for (dump, words) in [("program", ["Ssy", "Sync"]), ("cfg", ["<ssy ", "<sync>"])] {
        expect(&folder, &["check", "d.ptx", "--dump", dump], 0, &words);
        let plain = expect(&folder, &["check", "d.ptx", "--dump", dump, "--control", "its"], 0, &[]);
        assert!(words.iter().all(|word| !plain.contains(word)), "{plain}");
    }
}

/// What the lanes of a warp have in common, of rows of half a warp: a loop that some leave before others, and what is not the same
/// behind it though each of them computed one value for all.
#[test]
fn what_lanes_have_in_common_is_dumped() {
    let folder = Folder::new();
    folder.write("a.ptx", APART);
    let text = expect(&folder, &["check", "a.ptx", "--dump", "affine", "--block", "16,16", "--control", "crs"], 0, &[]);
    let said: Vec<_> = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let wanted = [
        "entry k, blocks of 16 × 16 × 1: 6 results uniform, 5 affine, 3 vectors; lanes may part at 1 of 1 jumps; \
         1 widened on the assumption that no number wraps around",
        "0 ld.param.u64 %m, [p]; %m uniform",
        "1 mov.u32 %r0, %tid.x; %r0 (lane mod 16)",
        "2 mov.u32 %r1, %tid.y; %r1 one value for each half",
        "3 ld.global.u32 %r2, [%m]; %r2 uniform; at uniform",
        "4 mad.lo.u32 %r3, %r1, %r2, %r0; %r3 n + (lane mod 16), n for each half",
        "5 mul.wide.u32 %q, %r3, 4; %q 4n + 4 (lane mod 16), n for each half; if no number wraps around within the warp",
        "6 mov.u32 %r4, 0; %r4 = 0",
        "8 add.u32 %r4, %r4, 1; %r4 uniform",
        "9 mul.lo.u32 %r5, %r2, 8; %r5 uniform: 8n",
        "10 setp.lt.u32 %p, %r4, %r0; %p vector",
        "11 @%p bra LOOP; lanes may part",
        "13 add.u32 %r6, %r4, 1; %r6 vector",
        "14 add.u32 %r7, %r5, 1; %r7 uniform: 8n + 1",
        "15 mov.u32 %r8, %lanemask_lt; %r8 vector",
        "16 mul.wide.u32 %q1, %r1, -4; %q1 one value for each half: 4n",
        "17 ret;",
    ];
    assert_eq!(said, wanted);
    // Without tokens lanes meet behind the loop, too: nobody comes back into it.
    let its = expect(
        &folder,
        &["check", "a.ptx", "--dump", "affine", "--control", "its"],
        0,
        &["%r4 uniform", "%r6 vector", "uniform: 8n + 1"],
    );
    assert!(its.contains("blocks whose x is a multiple of 32") && its.contains("may meet wherever"), "{its}");
    folder.write("f.ptx", APART.replace("p)\n{", "p)\n.reqntid 64, 2\n{"));
    expect(&folder, &["check", "f.ptx", "--dump", "affine"], 0, &["blocks of 64 × 2 × 1"]);
    for wrong in ["x", "16,16,1,1", "16,0"] {
        let what = format!("--block {wrong}: not of the form X[,Y[,Z]]");
        expect(&folder, &["check", "a.ptx", "--dump", "affine", "--block", wrong], 2, &[&what]);
    }
}

const APART: &str = "\
.version 7.0
.target sm_50
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<9>; .reg .b64 %m, %q, %q1; .reg .pred %p;
    ld.param.u64 %m, [p];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    ld.global.u32 %r2, [%m];
    mad.lo.u32 %r3, %r1, %r2, %r0;
    mul.wide.u32 %q, %r3, 4;
    mov.u32 %r4, 0;
LOOP:
    add.u32 %r4, %r4, 1;
    mul.lo.u32 %r5, %r2, 8;
    setp.lt.u32 %p, %r4, %r0;
    @%p bra LOOP;
    add.u32 %r6, %r4, 1;
    add.u32 %r7, %r5, 1;
    mov.u32 %r8, %lanemask_lt;
    mul.wide.u32 %q1, %r1, -4;
    ret;
}
";

/// Lanes part and meet again.
const DIVERGES: &str = "\
.version 7.0
.target sm_50
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<2>;
    .reg .pred %p;
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p, %r0, 2;
    @%p bra A;
    mov.u32 %r1, 3;
A:
    mov.u32 %r0, 4;
    ret;
}
";

#[test]
fn variables_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let head = ".version 7.0\n.target sm_50\n.address_size 64\n";
    let local = |bytes: u32| format!("{head}.visible .entry k() {{ .local .b8 a[8]; .local .b8 b[{bytes}]; ret; }}\n");
    let constant = |bytes: u32| format!("{head}.const .b8 a[{bytes}];\n.const .b8 b[8];\n");
    for (fits, text) in
        [(true, local(524_280)), (false, local(524_281)), (true, constant(65_528)), (false, constant(65_529))]
    {
        folder.write("v.ptx", &text);
        let (code, words): (i32, &[&str]) = if fits { (0, &[]) } else { (2, &["no-room", "does not fit"]) };
        expect(&folder, &["check", "v.ptx"], code, words);
    }
}

#[test]
fn entries() {
    edited("entry = \"k\"", "entry = \"kk\"", 2, &["no kernel `kk`", "did you mean `k`"]);
    edited("entry = \"k\"", "entry = \"helper\"", 2, &["`helper` is no kernel"]);
    let folder = Folder::new();
    expect(&folder, &["run", "k.ptx"], 2, &["several kernels", "bounded"]);
}

#[test]
fn arguments() {
    let args = "{ buffer = \"out\" }, { u32 = 7 }";
    edited(args, "{ buffer = \"out\" }", 2, &["has 2 parameters, 1 argument is given", "u32 n"]);
    edited(args, "{ buffer = \"out\" }, { u32 = 7 }, { u32 = 7 }", 2, &["3 arguments are given"]);
    edited(args, "{ u32 = 0 }, { u32 = 7 }", 2, &["argument 1", ".u64 (8 bytes)", "u32 (4 bytes)", "{ buffer"]);
    edited(args, "{ buffer = \"out\" }, { buffer = \"out\" }", 2, &["argument 2", "the address of buffer `out`"]);
    edited(args, "{ buffer = \"out\" }, { f32 = 7 }", 2, &["argument 2", "f32"]);
    edited(args, "{ buffer = \"out\" }, { bytes = \"00\" }", 2, &["argument 2", "1 byte", "exactly 4"]);
    edited(args, "{ buffer = \"out\", offset = 17 }, { u32 = 7 }", 2, &["offset 17", "16 bytes"]);
    edited(args, "{ buffer = \"ouf\" }, { u32 = 7 }", 2, &["no buffer `ouf`", "did you mean `out`"]);
    edited(args, "{ buffer = \"out\" }, { u32 = 4294967296 }", 2, &["4294967296 is no u32"]);
    edited(args, "{ buffer = \"out\" }, { int = 7 }", 2, &["no key `int`"]);
}

#[test]
fn grids_and_blocks() {
    edited("grid = [1]", "grid = [0]", 2, &["the grid is (0, 1, 1)"]);
    edited("block = [1]", "block = [32, 0]", 2, &["the block is (32, 0, 1)"]);
    edited("block = [1]", "block = [1025]", 2, &["1025", "1024"]);
    edited("block = [1]", "block = [64, 32]", 2, &["2048 threads", "1024"]);
    edited("grid = [1]", "grid = [1, 65536]", 2, &["65536", "65535"]);
    edited("grid = [1]", "grid = [4294967295]", 2, &["2147483647"]);
    edited("grid = [1]", "grid = [1, 2, 3, 4]", 2, &["one to three numbers"]);
    edited("grid = [1]", "grid = [1]\nshared = 100000000", 2, &["shared memory", "sm_70"]);
    let folder = Folder::new();
    expect(&folder, &["run", "k.ptx", "--entry", "bounded", "--block", "32"], 2, &[".reqntid (64, 1, 1)"]);
    expect(&folder, &["run", "k.ptx", "--entry", "bounded", "--block", "64"], 0, &[]);
}

#[test]
fn launch_files() {
    edited("grid = [1]", "grid = 1 1", 2, &["no TOML", "launch.toml:8"]);
    edited("grid = [1]", "gird = [1]", 2, &["no key `gird`", "did you mean `grid`"]);
    edited("len = 4", "", 2, &["lacks `len`"]);
    edited("type = \"u32\"", "type = \"int\"", 2, &["no element type `int`", "`s32`"]);
    edited("[[launch]]", "[[launches]]", 2, &["no key `launches`", "did you mean `launch`"]);
    edited("[expect.out]", "[expect.oud]", 2, &["no buffer `oud`"]);
    edited("init = \"zeros\"", "init = { values = [1, 2, 3] }", 2, &["3 elements", "`len` says 4"]);
    edited("values = [7, 0, 0, 0]", "values = [7, 0, 0, 0, 0]", 2, &["has 4 elements, 5 are expected"]);
    edited("values = [7, 0, 0, 0]", "values = [7, 0]", 2, &["`first = 2`"]);
    edited("values = [7, 0, 0, 0]", "values = [7, 0]\nfirst = 2", 0, &[]);
    edited("values = [7, 0, 0, 0]", "values = [7, 1, 2, 0]", 1, &["2 of 4", "index", "expected", "got"]);
    edited("values = [7, 0, 0, 0]", "hex = \"0\"", 2, &["hexadecimal"]);
    edited("ptx = \"k.ptx\"", "ptx = \"k.ptx\"\n[globals]\nx = { type = \"u8\", values = [1] }", 2, &["`x`"]);
}

#[test]
fn usage() {
    let folder = Folder::new();
    expect(&folder, &[], 2, &["Usage"]);
    expect(&folder, &["walk"], 2, &["walk"]);
    expect(&folder, &["run"], 2, &["PATH"]);
    expect(&folder, &["run", ".", "--control", "simd"], 2, &["crs", "its", "thread"]);
    expect(&folder, &["run", ".", "--timeout", "soon"], 2, &["10s"]);
    expect(&folder, &["run", ".", "--max-memory", "lots"], 2, &["512M"]);
    expect(&folder, &["run", ".", "--grid", "1"], 2, &["--grid"]);
    expect(&folder, &["run", "k.ptx", "--buffer", "x"], 2, &["NAME:TYPE"]);
    expect(&folder, &["run", "k.ptx", "--arg", "7"], 2, &["u32:1024"]);
    expect(&folder, &["--help"], 0, &["run", "check", "bench", "Exit codes"]);
    expect(&folder, &["run", "--help"], 0, &["Examples"]);
    expect(&folder, &["check", "--help"], 0, &["Examples"]);
}

#[test]
fn limits() {
    let folder = Folder::new();
    let spin = KERNEL.replace("st.global.u32", "AGAIN: bra AGAIN;\n    st.global.u32");
    folder.write("k.ptx", spin);
    expect(&folder, &["run", ".", "--max-steps", "1000"], 3, &["1000 warp instructions"]);
    expect(&folder, &["run", ".", "--timeout", "100ms"], 3, &["100 milliseconds"]);
    edited("len = 4", "len = 4000000000000", 3, &["device memory", "--max-memory"]);
    edited("len = 4", "len = 18446744073709551615", 2, &["larger than any address space"]);
    let folder = Folder::new();
    expect(&folder, &["run", ".", "--max-memory", "8"], 3, &["limit reached"]);
}
