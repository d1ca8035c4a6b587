//! Kernels as events: by cases, and against the machine.

mod cases;
mod generated;
mod machine;
mod mixed;

use super::Kernel;
use crate::axiom::{End, Event, Kind, Known, Program, Trace};
use crate::base::SourceMap;
use crate::launch::build;
use crate::machine::{Config, Context, ControlModel, Launch};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// More than any loop of a test.
const FAR: u32 = 1 << 20;

/// A module: declarations of its own, functions, and one kernel of a body.
fn module(before: &str, body: &str) -> String {
    format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n.global .align 16 .b8 x[64];\n.global .align 16 .b8 y[256];\n{before}\n\
         .visible .entry main()\n{{\n\
         .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .pred %p<8>; .reg .b16 %h<4>; .reg .f32 %f<4>;\n\
         .shared .align 8 .b8 tile[64]; .local .align 8 .b8 frame[64];\n\
         {body}\nret;\n}}\n"
    )
}

fn context(text: &str) -> Context {
    let mut sources = SourceMap::default();
    let file = sources.add("kernel.ptx", text.to_owned());
    let env = build(&[file], Some(ControlModel::Its), &sources).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    Context::new(Arc::new(env), Config::default()).unwrap()
}

fn launch(blocks: u32, threads: u32) -> Launch {
    Launch { entry: "main".into(), grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0, params: Vec::new() }
}

/// A kernel of a body, of so many blocks and threads.
fn kernel(body: &str, (blocks, threads): (u32, u32)) -> Kernel {
    Kernel::new(&context(&module("", body)), &launch(blocks, threads)).unwrap()
}

/// A thread whose reads are known as far as given.
fn traced(kernel: &Kernel, reads: &[Option<u64>], assumed: &[u64]) -> Trace {
    let assumed: Vec<(u32, u64)> = (0..).zip(assumed.iter().copied()).collect();
    kernel.run(0, Known { reads, assumed: &assumed, bound: FAR })
}

/// Bytes of memory that were written, by location and offset.
type Written = FxHashMap<(u32, u32), u8>;

/// What the reads of a trace find that do not depend on writes whose values are not known, when nobody else is there.
fn found(kernel: &Kernel, trace: &Trace, before: &Written) -> Vec<Option<u64>> {
    let mut own: FxHashMap<(u32, u32), Option<u8>> = FxHashMap::default();
    let mut reads = Vec::new();
    for event in &trace.events {
        let place = event.place.filter(|_| matches!(event.kind, Kind::Read | Kind::Write));
        let bytes = |k: u32| place.map(|p| (p.location, p.offset + k));
        let count = place.map_or(0, |p| p.bytes);
        let mut read = None;
        if event.kind == Kind::Read {
            let one = |k: u32| {
                let at = bytes(k)?;
                let first = || {
                    let byte = crate::axiom::Place { offset: at.1, bytes: 1, ..place? };
                    kernel.initial_value(byte).and_then(|v| u8::try_from(v).ok())
                };
                own.get(&at).copied().unwrap_or_else(|| before.get(&at).copied().or_else(first))
            };
            read = (0..count).rev().try_fold(0u64, |v, k| Some(v << 8 | u64::from(one(k)?)));
        } else if event.kind == Kind::Write {
            for k in 0..count {
                let byte = event.value.map(|v| (v >> (8 * k) & 0xff) as u8);
                own.extend(bytes(k).map(|at| (at, byte)));
            }
        }
        reads.push(read);
    }
    reads
}

/// A thread alone, to its end or to where it is stopped: its trace with all reads known, and what they returned. None: it
/// waits for others, or what it reads depends too often on what it has read.
fn alone(kernel: &Kernel, thread: usize, before: &Written) -> Option<(Trace, Vec<Option<u64>>)> {
    let mut reads = Vec::new();
    for _ in 0..25 {
        let trace = kernel.run(thread, Known { reads: &reads, assumed: &[], bound: FAR });
        let more = found(kernel, &trace, before);
        if more == reads {
            return Some((trace, reads));
        }
        reads = more;
    }
    None
}

/// What a trace writes.
fn commit(trace: &Trace, to: &mut Written) {
    for event in trace.events.iter().filter(|e| e.kind == Kind::Write) {
        let (place, value) = (event.place.unwrap(), event.value.unwrap());
        to.extend((0..place.bytes).map(|k| ((place.location, place.offset + k), (value >> (8 * k)) as u8)));
    }
}

/// Bytes that differ between what threads wrote, one after another, and the memory of a context after the machine's run.
fn differences(kernel: &Kernel, written: &Written, after: &Context) -> Vec<(String, usize)> {
    let mut wrong = Vec::new();
    for (location, name) in (0..).zip(&kernel.names) {
        let Some(real) = after.bytes(name.address, name.bytes) else { continue };
        let initial = kernel.apart.memory().bytes_at(name.address, name.bytes).unwrap_or(&[]);
        for (offset, (real, initial)) in (0..).zip(real.iter().zip(initial)) {
            if written.get(&(location, offset)).unwrap_or(initial) != real {
                wrong.push((name.name.clone(), offset as usize));
            }
        }
    }
    wrong
}

/// An event without what depends on values.
fn shape(event: &Event) -> Event {
    Event { value: None, ..event.clone() }
}

/// A run that knows less is the beginning of one that knows more.
fn begins(less: &Trace, more: &Trace) {
    assert!(less.events.len() <= more.events.len(), "{less:?}\n{more:?}");
    for (k, (a, b)) in less.events.iter().zip(&more.events).enumerate() {
        assert_eq!(shape(a), shape(b), "event {k}");
        assert!(a.value.is_none() || a.value == b.value, "event {k}: {a:?} {b:?}");
    }
    if !matches!(less.end, End::Stalled(_)) {
        assert_eq!((less.events.len(), &less.end), (more.events.len(), &more.end));
    }
}
