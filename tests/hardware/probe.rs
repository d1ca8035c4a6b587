//! A kernel with its launch, whose results can be compared with those of a GPU.

use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::path::Path;
use warpstep::Kernel;

/// An argument: a buffer with what is in it, whose content afterwards is a result if it is `read`.
pub struct Buffer {
    pub bytes: Vec<u8>,
    pub read: bool,
}

impl Buffer {
    pub fn of<T: Copy, const N: usize>(words: &[T], bytes: impl Fn(T) -> [u8; N]) -> Self {
        Self { bytes: words.iter().flat_map(|word| bytes(*word)).collect(), read: false }
    }

    pub fn result(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes], read: true }
    }
}

/// A kernel with its launch.
pub struct Probe {
    pub name: String,
    pub ptx: String,
    pub grid: u32,
    pub block: u32,
    pub buffers: Vec<Buffer>,
}

impl Probe {
    /// What it leaves in the buffers that are read, one after the other.
    pub fn run(&self) -> Vec<u8> {
        self.run_with(|kernel| kernel)
    }

    /// The same of a kernel that something else was said of.
    pub fn run_with(&self, and: impl FnOnce(Kernel<'_>) -> Kernel<'_>) -> Vec<u8> {
        let mut buffers: Vec<Vec<u8>> = self.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
        let mut kernel = Kernel::from_ptx(&self.ptx).unwrap_or_else(|e| panic!("{}: {e}\n{}", self.name, self.ptx));
        kernel = kernel.grid(self.grid).block(self.block);
        for buffer in &mut buffers {
            kernel = kernel.arg(&mut buffer[..]);
        }
        and(kernel).run().unwrap_or_else(|e| panic!("{}: {e}\n{}", self.name, self.ptx));
        let read = buffers.iter().zip(&self.buffers).filter(|(_, given)| given.read);
        read.flat_map(|(bytes, _)| bytes.iter().copied()).collect()
    }
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Writes probes for the player: `probes.jsonl`, and the buffers in a file of their own.
pub fn write(folder: &Path, probes: &[Probe]) {
    std::fs::create_dir_all(folder).unwrap();
    let (mut lines, mut data) = (String::new(), Vec::new());
    // Many have operands in common.
    let mut places: FxHashMap<&[u8], usize> = FxHashMap::default();
    for probe in probes {
        let mut buffers = Vec::new();
        for buffer in &probe.buffers {
            let at = if buffer.read { 0 } else { *places.entry(&buffer.bytes).or_insert(data.len()) };
            buffers.push(format!("[{at}, {}, {}]", buffer.bytes.len(), buffer.read));
            if !buffer.read && at == data.len() {
                data.extend(&buffer.bytes);
            }
        }
        writeln!(
            lines,
            r#"{{"name": {}, "ptx": {}, "grid": {}, "block": {}, "buffers": [{}]}}"#,
            json(&probe.name),
            json(&probe.ptx),
            probe.grid,
            probe.block,
            buffers.join(", ")
        )
        .unwrap();
    }
    std::fs::write(folder.join("probes.jsonl"), lines).unwrap();
    std::fs::write(folder.join("probes.bin"), data).unwrap();
}

/// What the player brought back: the probe's name, and its bytes or why there are none.
pub fn played(folder: &Path) -> Vec<(String, Result<Vec<u8>, String>)> {
    let data = std::fs::read(folder.join("played.bin")).unwrap();
    let lines = std::fs::read_to_string(folder.join("played.jsonl")).unwrap();
    let one = |line: &str| {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let number = |key: &str| entry[key].as_u64().map(|n| n as usize);
        let bytes = match (number("at"), number("size")) {
            (Some(at), Some(size)) => Ok(data[at..at + size].to_vec()),
            _ => Err(entry["error"].as_str().unwrap_or_default().to_owned()),
        };
        (entry["name"].as_str().unwrap_or_default().to_owned(), bytes)
    };
    lines.lines().map(one).collect()
}
