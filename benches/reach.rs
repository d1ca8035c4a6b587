//! How far a proof reaches: `cargo bench --bench reach -- [NAME…] [--seconds N] [--command PATH] [--flags 'FLAG…']`.
//!
//! Each kernel of `benches/reach` is proved for 2, 4, 8, … 256 threads until a size does not end within the limits, and the last
//! one that did is told. It is `warpstep prove` that is asked, so that runs that never end are judged, too, and what is measured is
//! what users get. `--command` names another build of it, for comparisons; `--flags` are given to it besides.

use std::process::{Command, ExitCode};
use std::time::Instant;

/// The kernels, by their files.
const PROGRAMS: [&str; 9] =
    ["lock", "ticket", "back_off", "atm", "hash_table", "producer", "pipeline", "grid_barrier", "deque"];
/// What the lines of a kernel begin with that say how it is launched and what must come out.
const LAUNCH: &str = "// prove: ";
const SIZES: [usize; 8] = [2, 4, 8, 16, 32, 64, 128, 256];
const MEMORY: &str = "8G";

/// What the command line of the benchmark asks for.
struct Asked {
    names: Vec<String>,
    seconds: u64,
    command: String,
    flags: Vec<String>,
}

impl Asked {
    fn read() -> Self {
        let command = env!("CARGO_BIN_EXE_warpstep").to_owned();
        let mut asked = Self { names: Vec::new(), seconds: 60, command, flags: Vec::new() };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} needs a value"));
            match word.as_str() {
                // Cargo says this to every benchmark.
                "--bench" => {}
                "--seconds" => asked.seconds = value().parse().expect("--seconds takes a whole number"),
                "--command" => {
                    let path = std::path::absolute(value()).expect("--command names a file");
                    asked.command = path.display().to_string();
                }
                "--flags" => asked.flags = value().split_whitespace().map(str::to_owned).collect(),
                name if PROGRAMS.contains(&name) => asked.names.push(name.to_owned()),
                _ => panic!("{word} is none of {}, --seconds, --command, --flags", PROGRAMS.join(", ")),
            }
        }
        asked
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|asked| asked == name)
    }
}

/// What a search came to.
struct Found {
    verdict: String,
    states: u64,
    seconds: f64,
    /// Why it ended early, if it did.
    limit: Option<String>,
    /// What there is to read where the verdict is not the one that is expected.
    told: String,
}

/// What `hash_table.ptx` has at the end: four buckets, among which the threads are dealt.
fn table(threads: usize) -> String {
    let bucket = |k: usize| match (threads + 3 - k) / 4 {
        0 => "0,0,0".to_owned(),
        count => format!("0,{},{count}", k + 1),
    };
    [0, 1, 2, 3].map(bucket).join(",")
}

/// The flags of a launch of so many threads. `{n}` stands for their number; `{half}` for half of it; `{warp}` for lanes of a
/// warp, so that there are two warps at least.
fn launch(line: &str, threads: usize) -> Vec<String> {
    let half = threads / 2;
    let names = [("{n}", threads), ("{half}", half), ("{warp}", half.min(32))];
    let filled = names.iter().fold(line.to_owned(), |line, (name, n)| line.replace(name, &n.to_string()));
    filled.replace("{table}", &table(threads)).split_whitespace().map(str::to_owned).collect()
}

/// The flags of a launch without those that are about memory: what tells the launches of a kernel apart.
fn label(line: &str) -> String {
    let flags =
        line.split("--").skip(1).map(str::trim).filter(|f| !f.starts_with("global ") && !f.starts_with("expect "));
    let text = flags.map(|flag| format!("--{flag}")).collect::<Vec<_>>().join(" ");
    text.replace("{n}", "N").replace("{warp}", "N/2, at most 32")
}

/// Asks for a proof.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
fn prove(asked: &Asked, path: &str, flags: &[String]) -> Found {
    let begun = Instant::now();
    let mut command = Command::new(&asked.command);
    // Schedules of what should not have been found are left there.
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.args(["prove", path]).args(flags).args(&asked.flags);
    command.args(["--format", "json", "--search-memory", MEMORY, "--for"]).arg(format!("{}s", asked.seconds));
    let output = command.output().unwrap_or_else(|e| panic!("{}: {e}", asked.command));
    let seconds = begun.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let word = |key: &str| json[key].as_str().map(str::to_owned);
    Found {
        verdict: word("verdict").unwrap_or_else(|| "no verdict".to_owned()),
        states: json["states"].as_u64().unwrap_or(0),
        seconds,
        limit: word("limit"),
        told: format!("{command:?}\n{text}{}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// A number with commas between thousands.
fn counted(n: u64) -> String {
    let digits = n.to_string();
    let comma = |k: usize| if k > 0 && (digits.len() - k).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().map(|(k, digit)| format!("{}{digit}", comma(k))).collect()
}

/// Proves a kernel for more and more threads and prints the line of the largest number that ended. Tells whether every search
/// held or reached a limit.
fn reach(asked: &Asked, name: &str, path: &str, line: &str) -> bool {
    let (mut last, mut limit) = (None, "-".to_owned());
    let mut right = true;
    for threads in SIZES {
        let found = prove(asked, path, &launch(line, threads));
        eprintln!("{name} {threads}: {}, {} states, {:.2} s", found.verdict, counted(found.states), found.seconds);
        match found.verdict.as_str() {
            "holds" => last = Some((threads, found)),
            "limit" => {
                limit = format!("{threads}: {}", found.limit.unwrap_or_default());
                break;
            }
            _ => {
                eprintln!("\n!!! {name} of {threads} threads should hold: {}\n{}", found.verdict, found.told);
                limit = format!("{threads}: **{}**", found.verdict);
                right = false;
                break;
            }
        }
    }
    let (largest, counts, verdict) = last.map_or_else(
        || ("none".to_owned(), "-".to_owned(), "-".to_owned()),
        |(threads, f)| (threads.to_string(), format!("{}, {:.1} s", counted(f.states), f.seconds), f.verdict),
    );
    println!("| {name} | `{}` | {largest} | {counts} | {verdict} | {limit} |", label(line));
    right
}

fn main() -> ExitCode {
    let asked = Asked::read();
    println!("| program | block | largest | states, seconds | verdict | the next one |\n|---|---|---|---|---|---|");
    let mut right = true;
    for name in PROGRAMS.into_iter().filter(|name| asked.wants(name)) {
        let path = format!("{}/benches/reach/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        for line in text.lines().filter_map(|line| line.strip_prefix(LAUNCH)) {
            right &= reach(&asked, name, &path, line);
        }
    }
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
