//! PTX out of fat binaries, objects and executables: what nvcc made (`tests/fatbin/make.sh`), and damage to it.

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use warpstep::ptx::fatbin::{Fatbin, FatbinError, is_binary};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fatbin").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(file(name)).unwrap()
}

/// Those with PTX, with the architectures of that in each container.
const WITH: [(&str, &[&[u32]]); 8] = [
    ("none.fatbin", &[&[80, 90]]),
    ("lz4.fatbin", &[&[80, 90]]),
    ("zstd.fatbin", &[&[80, 90]]),
    ("concat.fatbin", &[&[80, 90]]),
    ("mixed.fatbin", &[&[80, 90]]),
    ("object.o", &[&[80]]),
    ("rdc.o", &[&[80]]),
    ("app", &[&[80], &[80]]),
];

const WITHOUT: [&str; 3] = ["sass.fatbin", "sass.cubin", "lto.fatbin"];

fn warpstep(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpstep"));
    command.args(words).current_dir(file("")).env("NO_COLOR", "1").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_form_has_the_same_ptx() {
    let plain = Fatbin::read(&bytes("none.fatbin")).unwrap();
    for (name, archs) in WITH {
        assert!(is_binary(&bytes(name)), "{name}");
        let read = Fatbin::read(&bytes(name)).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let of = |c: &warpstep::ptx::fatbin::Container| c.ptx.iter().map(|entry| entry.arch).collect::<Vec<_>>();
        let full = read.containers.iter().filter(|c| !c.ptx.is_empty());
        assert_eq!(full.map(of).collect::<Vec<_>>(), archs, "{name}");
        for entry in read.containers.iter().flat_map(|c| &c.ptx) {
            assert!(entry.text.contains(&format!(".target sm_{}", entry.arch)) && !entry.text.contains('\0'), "{name}");
        }
        if name.ends_with(".fatbin") {
            assert_eq!(read.containers[0].ptx, plain.containers[0].ptx, "{name}");
        }
    }
    let (ptx, machine) = Fatbin::read(&bytes("mixed.fatbin")).unwrap().architectures();
    assert_eq!((ptx, machine), (vec![80, 90], vec![80]));
}

/// The launch of the kernel `fill`, which every form has, by flags.
const FILL: [&str; 14] = [
    "--entry",
    "fill",
    "--block",
    "8",
    "--buffer",
    "o:u32:8",
    "--arg",
    "u32:8",
    "--arg",
    "u32:7",
    "--arg",
    "buffer:o",
    "--expect",
    "o=values:7,7,7,7,7,7,7,7",
];

#[test]
fn a_kernel_of_every_form_runs() {
    for (name, _) in WITH {
        let out = warpstep(&[&["run", name], &FILL[..]].concat());
        assert_eq!(out.status.code(), Some(0), "{name}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains("finished, as expected"), "{name}");
    }
    // Of a program of two files both are there, in one program.
    let out = warpstep(&[
        "run",
        "app",
        "--entry",
        "twice",
        "--block",
        "4",
        "--buffer",
        "o:u32:4",
        "--arg",
        "u32:4",
        "--arg",
        "buffer:o",
        "--expect",
        "o=values:0,2,4,6",
    ]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    // Other commands take them as well; a defect is told in the PTX, and its schedule replays.
    let folder = tempfile::tempdir().unwrap();
    let schedule = folder.path().join("s.schedule").display().to_string();
    let wrong = [
        "--entry", "fill", "--block", "8", "--buffer", "o:u32:4", "--arg", "u32:8", "--arg", "u32:7", "--arg",
        "buffer:o",
    ];
    let out = warpstep(&[&["hunt", "app"], &wrong[..], &["--save-schedule", &schedule]].concat());
    assert!(out.status.code() == Some(1) && text(&out.stderr).contains("app#1:"), "{}", text(&out.stderr));
    let out = warpstep(&["replay", &schedule]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
}

#[test]
fn a_launch_file_and_the_library_take_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(file("zstd.fatbin"), folder.path().join("k.fatbin")).unwrap();
    let launch = "ptx = \"k.fatbin\"\n[buffers.o]\ntype = \"u32\"\ninit = \"zeros\"\nlen = 2\n[[launch]]\nentry = \"fill\"\ngrid = 1\n\
        block = 2\nargs = [{ u32 = 2 }, { u32 = 7 }, { buffer = \"o\" }]\n[expect.o]\nvalues = [7, 7]\n";
    std::fs::write(folder.path().join("launch.toml"), launch).unwrap();
    let out = warpstep(&["test", folder.path().to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stdout));
    let module = warpstep::Module::from_file(file("app")).unwrap();
    assert_eq!(module.kernels().collect::<Vec<_>>(), ["saxpy", "fill", "twice"]);
    assert!(module.name().ends_with("app"), "{}", module.name());
    let mut out = [0u32; 4];
    module.kernel("twice").block(4).arg(4u32).arg(&mut out).run().unwrap();
    assert_eq!(out, [0, 2, 4, 6]);
    let error = warpstep::Module::from_file(file("sass.cubin")).unwrap_err();
    assert!(error.to_string().contains("no PTX"), "{error}");
}

#[test]
fn kernels_and_architectures_are_told() {
    let out = warpstep(&["check", "none.fatbin", "--dump", "kernels"]);
    assert_eq!(
        text(&out.stdout),
        "none.fatbin: sm_90: saxpy(u32, f32, u64, u64)\nnone.fatbin: sm_90: fill(u32, u32, u64)\n"
    );
    let out = warpstep(&["check", "none.fatbin", "--dump", "kernels", "--arch", "sm_80"]);
    assert!(text(&out.stdout).starts_with("none.fatbin: sm_80: saxpy"), "{}", text(&out.stdout));
    let out = warpstep(&["check", "concat.fatbin", "--dump", "text"]);
    assert!(out.status.success() && text(&out.stdout).contains(".target sm_90"));
    for (words, code, says) in [
        (&["check", "none.fatbin", "--arch", "sm_75"][..], "other-architecture", "has PTX for `sm_80`, `sm_90`"),
        (&["check", "sass.cubin"], "no-ptx", "machine code for `sm_80`, and no PTX"),
        (&["check", "sass.fatbin"], "no-ptx", "machine code for `sm_80`, and no PTX"),
        (&["check", "lto.fatbin"], "no-ptx", "link-time optimisation"),
        (&["check", "saxpy.cu", "--arch", "sm_80"], "bad-flag", "--arch chooses among those of a binary"),
    ] {
        let out = warpstep(words);
        let said = text(&out.stderr);
        assert!(
            out.status.code() == Some(2) && said.contains(&format!("[{code}]")) && said.contains(says),
            "{words:?}: {said}"
        );
    }
    // An executable without code for a GPU.
    let own = Fatbin::read(&std::fs::read(env!("CARGO_BIN_EXE_warpstep")).unwrap()).unwrap();
    assert_eq!(own.choose(None, 121), Err(FatbinError::Nothing));
}

/// Every beginning of a file is refused or has less, and nothing panics.
#[test]
fn what_is_cut_short_is_refused() {
    for name in WITH.iter().map(|(name, _)| *name).chain(WITHOUT) {
        let whole = bytes(name);
        for end in 0..whole.len() {
            let read = Fatbin::read(&whole[..end]);
            if name.ends_with(".fatbin") && end > 0 {
                assert!(read.is_err(), "{name} cut at {end}");
            }
        }
    }
}

/// A claim of 2^60 bytes, and a bomb: 256 MB of zeros in a few KB of Zstandard, take no such memory.
#[test]
fn claims_are_not_believed() {
    let mut claim = bytes("zstd.fatbin");
    claim[0x48..0x50].copy_from_slice(&(1u64 << 60).to_le_bytes());
    assert!(matches!(Fatbin::read(&claim), Err(FatbinError::TooLarge { .. })));
    let mut less = bytes("zstd.fatbin");
    less[0x48..0x50].copy_from_slice(&100u64.to_le_bytes());
    assert!(matches!(Fatbin::read(&less), Err(FatbinError::Packed { how: "Zstandard", .. })));
    let mut lz4 = bytes("lz4.fatbin");
    lz4[0x48..0x50].copy_from_slice(&(1u64 << 27).to_le_bytes());
    assert!(matches!(Fatbin::read(&lz4), Err(FatbinError::Packed { how: "LZ4", .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damage_is_no_accident(which in 0..WITH.len() + WITHOUT.len(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let name = WITH.iter().map(|(name, _)| *name).chain(WITHOUT).nth(which).unwrap();
        let mut all = bytes(name);
        for (at, with) in damage {
            let at = at.index(all.len());
            all[at] = with;
        }
        if let Ok(read) = Fatbin::read(&all) {
            let _ = read.choose(None, 121);
        }
    }
}
