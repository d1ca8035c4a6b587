//! The library where kernels have pointers of the process: memory that lies at addresses of the host's choosing.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use warpstep::{Argument, Check, Error, HostMemory, HostRange, Kernel, MemoryModel};

/// Where the memory lies: in the midst of what addresses a process can have.
const AT: u64 = 0x7f00_1234_5010;

/// Memory whose second half may only be read.
struct Rows(Mutex<Vec<u8>>);

impl Rows {
    fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new((0..bytes).map(|k| u8::from(k % 4 == 0)).collect())))
    }

    fn words(&self) -> Vec<u32> {
        self.0.lock().unwrap().chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
    }

    fn place(address: u64, len: usize) -> Range<usize> {
        let at = usize::try_from(address - AT).unwrap();
        at..at + len
    }
}

impl HostMemory for Rows {
    fn range(&self, address: u64) -> Option<HostRange> {
        self.closest(address).filter(|range| range.addresses.contains(&address))
    }

    fn closest(&self, address: u64) -> Option<HostRange> {
        let half = self.0.lock().unwrap().len() as u64 / 2;
        let writable = address < AT + half;
        let addresses = if writable { AT..AT + half } else { AT + half..AT + 2 * half };
        Some(HostRange { name: "rows".into(), addresses, writable })
    }

    fn read(&self, address: u64, to: &mut [u8]) -> bool {
        to.copy_from_slice(&self.0.lock().unwrap()[Self::place(address, to.len())]);
        true
    }

    fn write(&self, address: u64, from: &[u8]) -> bool {
        self.0.lock().unwrap()[Self::place(address, from.len())].copy_from_slice(from);
        true
    }
}

/// Adds one to each word of `n` rows of 64, and to a variable of its own; `step` is the bytes from row to row.
const ADD: &str = ".version 7.8
.target sm_80
.address_size 64
.global .align 4 .u32 own;
.visible .entry add(.param .u64 x, .param .u32 n, .param .u32 step) {
    .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .pred %p;
    ld.param.u64 %d0, [x]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [step];
    mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1; cvt.u64.u32 %d2, %r2; mov.u32 %r3, 0;
LOOP:
    ld.global.u32 %r4, [%d0]; add.u32 %r4, %r4, 1; st.global.u32 [%d0], %r4;
    add.s64 %d0, %d0, %d2; add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r1; @%p bra LOOP;
    atom.global.add.u32 %r5, [own], 1;
    ret;
}";

fn launch<'a>(host: &Arc<Rows>, at: u64, n: u32, step: u32) -> Result<Kernel<'a>, Error> {
    let kernel = Kernel::from_ptx(ADD)?.block(64).host_memory(Arc::clone(host) as Arc<dyn HostMemory>);
    Ok(kernel.arg(Argument::bytes(at.to_le_bytes())).arg(n).arg(step))
}

#[test]
fn memory_is_read_where_it_lies_and_written_at_the_end() -> Result<(), Error> {
    // Many rows, so that the kernel becomes machine code, and rows far apart.
    for (n, step) in [(1, 256), (30_000, 256), (200, 65_536 - 256)] {
        let host = Rows::new(2 * n as usize * step as usize);
        let run = launch(&host, AT, n, step)?.run()?;
        assert!(run.stats.thread_instructions > u64::from(n) * 64 * 7);
        let words = host.words();
        let touched = |k: usize| k < words.len() / 2 && k * 4 % (step as usize) < 256;
        assert!(words.iter().enumerate().all(|(k, word)| *word == 1 + u32::from(touched(k))), "{n} rows");
    }
    let host = Rows::new(2 * 100 * 256);
    launch(&host, AT, 100, 256)?.check(Check::Races).seed(3).run()?;
    assert_eq!(host.words()[0], 2);
    Ok(())
}

#[test]
fn nothing_is_written_when_a_kernel_fails() -> Result<(), Error> {
    let host = Rows::new(2 * 100 * 256);
    let before = host.words();
    let fails = |at, n| launch(&host, at, n, 256).and_then(Kernel::run).unwrap_err();
    assert_eq!(fails(AT, 101).code(), "read-only");
    let error = fails(AT + 2 * 100 * 256 - 256, 2);
    assert_eq!(error.code(), "read-only");
    let error = fails(AT + 2 * 100 * 256, 1);
    assert!(
        error.code() == "out-of-bounds" && error.to_string().contains("just after the end of buffer `rows`"),
        "{error}"
    );
    assert_eq!((fails(0, 1).code(), fails(AT + 2, 1).code()), ("null", "misaligned"));
    // What a search, or a memory with caches, would be about is not the host's memory.
    let search = launch(&host, AT, 1, 256)?.hunt(0..2).unwrap_err();
    let caches = launch(&host, AT, 1, 256)?.memory(MemoryModel::preset("fermi").unwrap()).run().unwrap_err();
    assert_eq!((search.code(), caches.code()), ("unsupported", "unsupported"));
    assert_eq!(host.words(), before);
    Ok(())
}
