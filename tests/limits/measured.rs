//! The command, run while somebody looks at what it takes.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a run of the command came to.
pub struct Ran {
    pub code: Option<i32>,
    /// What it wrote on standard output and error.
    pub said: String,
    /// From the interruption, or else from the start, to the end.
    pub wall: Duration,
    /// CPU time; `None` where the system does not tell.
    pub cpu: Option<Duration>,
    /// Bytes of memory that were resident at most; `None` where the system does not tell.
    pub peak: Option<u64>,
}

/// Beyond this a run is taken to have no bound.
const FOR_EVER: Duration = Duration::from_secs(240);

fn read(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        // What was written until it ended is what there is.
        let _ = from.read_to_end(&mut all);
        all
    })
}

/// CPU time from `/proc/PID/stat`, in which a tick is a hundredth of a second on every Linux.
fn cpu(id: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

fn peak(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

fn interrupt(child: &Child) {
    let done = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(done.is_ok_and(|s| s.success()), "kill");
}

/// Runs `program` with words in a folder; presses Ctrl-C after a while, if asked to.
#[expect(clippy::disallowed_methods, reason = "it measures the limits of time themselves")]
pub fn measured(folder: &Path, program: &str, words: &[&str], press: Option<Duration>) -> Ran {
    let mut command = Command::new(program);
    command.args(words).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (out, err) = (read(child.stdout.take().unwrap()), read(child.stderr.take().unwrap()));
    let (mut start, mut pressed) = (Instant::now(), false);
    let (mut most, mut used) = (None, None);
    let code = loop {
        most = most.max(peak(child.id()));
        // It stays to be read of a process that has ended, until that is asked after.
        used = used.max(cpu(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if press.is_some_and(|after| !pressed && start.elapsed() >= after) {
            interrupt(&child);
            (start, pressed) = (Instant::now(), true);
        }
        if start.elapsed() > FOR_EVER {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let wall = start.elapsed();
    let said = [out.join().unwrap(), err.join().unwrap()].concat();
    Ran { code, said: String::from_utf8_lossy(&said).into_owned(), wall, cpu: used, peak: most }
}
