//! The Trace Event Format, as ui.perfetto.dev and `chrome://tracing` read it: one event a line, written as it comes.

use serde_json::{Value, json};
use std::io::{self, Write};

/// A track: a "thread" of a "process" in the words of the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Track {
    pub pid: u32,
    pub tid: u32,
}

/// Writes events. Times must not go back; a unit is a warp instruction, which viewers show as a microsecond.
pub(super) struct Writer<W> {
    out: W,
    begun: bool,
    /// Bytes that may still be written.
    left: u64,
    /// Whether events were left out, since there was no room.
    cut: bool,
    /// The first thing that went wrong; nothing is written after it.
    failed: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    /// A writer of `most` bytes, and a few more that say so when that was too little.
    pub const fn new(out: W, most: u64) -> Self {
        Self { out, begun: false, left: most, cut: false, failed: None }
    }

    /// Whether nothing more can be written.
    pub const fn failed(&self) -> bool {
        self.failed.is_some() || self.cut
    }

    fn event(&mut self, ph: &str, track: Track, name: &str, more: Value) {
        if self.failed() {
            return;
        }
        let mut event = json!({ "ph": ph, "pid": track.pid, "tid": track.tid, "name": name });
        if let (Value::Object(event), Value::Object(more)) = (&mut event, more) {
            event.extend(more);
        }
        self.text(track, &event["ts"], &event.to_string());
    }

    /// An event as text, or that there is no room for it.
    fn text(&mut self, track: Track, ts: &Value, text: &str) {
        match self.left.checked_sub(text.len() as u64) {
            Some(left) => {
                self.left = left;
                self.put(text);
            }
            None => {
                let name = "cut: --trace-limit is reached";
                let cut = json!({ "ph": "i", "pid": track.pid, "tid": track.tid, "name": name, "ts": ts, "s": "g" });
                self.put(&cut.to_string());
                self.cut = true;
            }
        }
    }

    fn put(&mut self, event: &str) {
        let before = if self.begun { ",\n" } else { "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" };
        self.begun = true;
        if let Err(error) = write!(self.out, "{before}{event}") {
            self.failed = Some(error);
        }
    }

    /// Names a group of tracks; groups are shown in the order of their numbers.
    pub fn name_process(&mut self, pid: u32, name: &str) {
        let track = Track { pid, tid: 0 };
        self.event("M", track, "process_name", json!({ "args": { "name": name } }));
        self.event("M", track, "process_sort_index", json!({ "args": { "sort_index": pid } }));
    }

    /// Names a track.
    pub fn name_thread(&mut self, track: Track, name: &str) {
        self.event("M", track, "thread_name", json!({ "args": { "name": name } }));
        self.event("M", track, "thread_sort_index", json!({ "args": { "sort_index": track.tid } }));
    }

    /// An instruction, which takes a unit of time. `name` is a string of JSON, `args` the members of an object. There are so many of
    /// them that making values first would take most of the time.
    pub fn instruction(&mut self, Track { pid, tid }: Track, name: &str, ts: u64, args: &str) {
        if !self.failed() {
            let text = format!(
                r#"{{"ph":"X","pid":{pid},"tid":{tid},"name":{name},"cat":"instruction","ts":{ts},"dur":1,"args":{{{args}}}}}"#
            );
            self.text(Track { pid, tid }, &ts.into(), &text);
        }
    }

    /// Something begins that ends later on its track.
    pub fn begin(&mut self, track: Track, name: &str, cat: &str, ts: u64, args: Value) {
        self.event("B", track, name, json!({ "cat": cat, "ts": ts, "args": args }));
    }

    /// What began last on the track ends.
    pub fn end(&mut self, track: Track, name: &str, cat: &str, ts: u64, args: Value) {
        self.event("E", track, name, json!({ "cat": cat, "ts": ts, "args": args }));
    }

    /// Something that takes no time.
    pub fn instant(&mut self, track: Track, name: &str, cat: &str, ts: u64, args: Value) {
        self.event("i", track, name, json!({ "cat": cat, "ts": ts, "s": "t", "args": args }));
    }

    /// A point of an arrow: it starts (`s`), goes on (`t`) or ends (`f`) at what the track shows at that time.
    pub fn flow(&mut self, ph: &'static str, track: Track, name: &str, ts: u64, id: u64) {
        let mut more = json!({ "cat": name, "ts": ts, "id": id });
        if ph == "f" {
            // Without it an arrow ends at what begins next.
            more["bp"] = "e".into();
        }
        self.event(ph, track, name, more);
    }

    /// Ends the file; gives it back, and whether events were left out.
    pub fn finish(mut self) -> io::Result<(W, bool)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if !self.begun {
            self.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        Ok((self.out, self.cut))
    }
}
