//! Random damage to inputs of each kind, for a while: `cargo run --release --example fuzz -- KIND 60`, where KIND is `parse`,
//! `run`, `launch`, `script`, `schedule`, `memp`, `litmus`, `rsp`, `lockstep`, `cat`, `checkpoint` or `fatbin`.
//!
//! The bodies are also those of the targets in `fuzz/`; this loop needs no nightly compiler. A finding is a panic, or a second
//! of CPU time more than the limit allows; the seed that repeats it is printed: `-- run 60 SEED`. Where the process is ended
//! from outside, `target/fuzz-KIND.seed` has the seed.

mod bodies;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A small generator whose stream is fixed: xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }
}

/// The files in the folders of a folder, and in itself, with an extension, that are not large.
fn corpus(root: &str, extension: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    let entries =
        |p: &Path| -> Vec<PathBuf> { std::fs::read_dir(p).into_iter().flatten().flatten().map(|e| e.path()).collect() };
    let mut files = entries(&root);
    files.extend(files.clone().iter().flat_map(|p| entries(p)));
    files.retain(|f| {
        f.is_file() && f.extension().is_none_or(|e| e == extension) && f.extension().is_some() != extension.is_empty()
    });
    files.sort();
    let read = |f: PathBuf| std::fs::read(&f).ok().filter(|b| b.len() < 40_000).map(|b| (f, b));
    files.into_iter().filter_map(read).collect()
}

/// Swaps, drops, doubles or replaces a few words.
fn mutate(text: &str, random: &mut Random) -> String {
    const ODD: [&str; 9] =
        ["-1", "4294967295", "18446744073709551615", "1e400", "\"\"", "{", "*4294967295", "\u{1b}", "0"];
    let mut words: Vec<&str> = text.split_inclusive([' ', '\t', '\n', ',', '.', ';', '=', '/', '*']).collect();
    for _ in 0..=random.below(3) {
        let (a, b) = (random.below(words.len()), random.below(words.len()));
        match random.below(5) {
            _ if words.is_empty() => {}
            0 => words.swap(a, b),
            1 => drop(words.remove(a)),
            2 => words.insert(a, words[b]),
            3 => words[a] = ODD[random.below(ODD.len())],
            _ => words[a] = words[b],
        }
    }
    words.concat()
}

/// Changes, drops or doubles a few bytes.
fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(4) {
            _ if bytes.is_empty() => {}
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = [0, 0xff, 0x7f, 0x80][random.below(4)],
            2 => bytes.truncate(at),
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
    bytes
}

/// CPU time of this process, from `/proc`, in which a tick is a hundredth of a second; `None` where there is no such thing.
fn cpu() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// What is tried on an input written to a file of a folder; whether it got far.
type Body = Box<dyn Fn(&Path, &[u8]) -> bool>;

/// What a kind of input is damaged from, and what is done with it.
struct Kind {
    corpus: Vec<(PathBuf, Vec<u8>)>,
    body: Body,
    text: bool,
}

fn kind(name: &str) -> Option<Kind> {
    let small = bodies::Small::new();
    let text = |corpus, body: fn(&Path, &str) -> bool| Kind {
        corpus,
        body: Box::new(move |file, bytes| {
            body(file.parent().unwrap_or(file), std::str::from_utf8(bytes).unwrap_or(""))
        }),
        text: true,
    };
    let one = |bytes: Vec<u8>| vec![(PathBuf::new(), bytes)];
    Some(match name {
        "parse" => text(corpus("ptx-examples", "ptx"), |_, text| bodies::parse(text)),
        "run" => text(corpus("ptx-examples", "ptx"), |_, text| bodies::run(text)),
        "launch" => text(corpus("ptx-examples", "toml"), |folder, text| bodies::launch(text, folder)),
        "script" => text(corpus("tests/host", "toml"), |folder, text| bodies::script(text, folder)),
        "memp" => text(corpus("core/src/memory/fermi/programs", "memp"), |_, text| bodies::memory_programs(text)),
        "cat" => text(corpus("analysis/src/axiom/models", "cat"), |_, text| bodies::cat(text)),
        "litmus" => {
            // Those for Vulkan are a folder deeper.
            let both = ["tests/litmus", "tests/litmus_syntax"].map(|folder| corpus(folder, "litmus"));
            text(both.concat(), |_, text| bodies::litmus(text))
        }
        "rsp" => {
            let both = ["tests/litmus", "tests/litmus_syntax"].map(|folder| corpus(folder, "litmus"));
            let ours = |(_, text): &(PathBuf, Vec<u8>)| text.starts_with(b"OpenCL") || text.starts_with(b"RSP");
            text(both.concat().into_iter().filter(ours).collect(), |_, text| bodies::rsp(text))
        }
        "lockstep" => {
            let both = ["tests/litmus", "tests/litmus_syntax"].map(|folder| corpus(folder, "litmus"));
            let ours = |(_, text): &(PathBuf, Vec<u8>)| text.starts_with(b"LSC");
            text(both.concat().into_iter().filter(ours).collect(), |_, text| bodies::lockstep(text))
        }
        "fatbin" => {
            let all = ["fatbin", "cubin", "o", ""].map(|extension| corpus("tests/fatbin", extension));
            Kind { corpus: all.concat(), body: Box::new(|_, bytes| bodies::fatbin(bytes)), text: false }
        }
        "schedule" => {
            let corpus = one(small.schedule().into_bytes());
            Kind { corpus, body: Box::new(move |_, b| small.replay(&String::from_utf8_lossy(b))), text: true }
        }
        "checkpoint" => {
            let corpus = one(small.checkpoint());
            Kind { corpus, body: Box::new(move |_, bytes| small.resume(bytes)), text: false }
        }
        _ => return None,
    })
}

#[expect(clippy::disallowed_methods, reason = "how long to go on; no result depends on it")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "parse".into());
    let seconds = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(60);
    let fixed: Option<u64> = arguments.next().and_then(|s| s.parse().ok());
    let Some(kind) = kind(&what) else {
        eprintln!("no such kind: {what}");
        std::process::exit(2);
    };
    let note = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("target/fuzz-{what}.seed"));
    let (start, mut tried, mut ran) = (Instant::now(), 0u64, 0u64);
    for seed in fixed.map_or(1..u64::MAX, |s| s..s + 1) {
        if start.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
        // An allocation that fails ends the process at once.
        let _ = std::fs::write(&note, seed.to_string());
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let (file, bytes) = &kind.corpus[random.below(kind.corpus.len())];
        let input = match std::str::from_utf8(bytes) {
            Ok(text) if kind.text => mutate(text, &mut random).into_bytes(),
            _ => damage(bytes, &mut random),
        };
        let body = std::panic::AssertUnwindSafe(|| (kind.body)(file, &input));
        let before = cpu();
        let did = std::panic::catch_unwind(body);
        let took = cpu().zip(before).map(|(after, before)| after.saturating_sub(before));
        let late = took.filter(|t| *t > bodies::TIMEOUT + Duration::from_secs(1));
        if let Some(took) = late {
            eprintln!("{took:?} of CPU time, with a limit of {:?}", bodies::TIMEOUT);
        }
        let (Ok(did), None) = (did, late) else {
            eprintln!("finding: cargo run --release --example fuzz -- {what} {seconds} {seed}");
            std::process::exit(101);
        };
        ran += u64::from(did);
        tried += 1;
    }
    println!("{what}: {tried} inputs, {ran} of them went all the way, no finding");
}
