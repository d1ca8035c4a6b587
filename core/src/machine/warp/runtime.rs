//! The device runtime: `vprintf`, `malloc`, `free`, `__assertfail`.
//!
//! Arguments lie where a call's do: at the top of the caller's stack, the result first (report, 5.1.3 step 3).

use crate::base::{Pc, lanes_of};
use crate::machine::control::Control;
use crate::machine::warp::place::place;
use crate::machine::warp::slow_path::{Rare, Trouble};
use crate::machine::warp::state::Shared;
use crate::memory::{Fault, LocalMemory, Memory};
use crate::program::instr::{STACK_TOP, Syscall};
use crate::verdict::{BugKind, Event, FormatProblem, LimitKind, Sink};

/// The longest string that is read, in bytes; beyond it a missing terminator is more likely than a message.
const LONGEST: u64 = 1 << 16;
/// Addresses below this are null pointers, or fields of what one points to.
const FIRST_PAGE: u64 = 4096;

/// Where the runtime reads for a thread.
struct Reader<'a, M> {
    lane: usize,
    local: &'a LocalMemory,
    sh: &'a Shared<'a>,
    mem: &'a M,
}

impl<M: Memory> Reader<'_, M> {
    /// The byte at a generic address: device memory, or the thread's local or shared window.
    fn byte(&self, address: u64) -> Result<u8, Box<BugKind>> {
        let found = || {
            let at = address.wrapping_sub(self.sh.map.local);
            if at < self.sh.map.window {
                return (at < self.local.extent().into()).then(|| self.local.read(self.lane, at, 1) as u8);
            }
            let at = address.wrapping_sub(self.sh.map.shared);
            if at < self.sh.map.window {
                return self.sh.shared.get(usize::try_from(at).ok()?).copied();
            }
            self.mem.arena().bytes_at(address, 1)?.first().copied()
        };
        found().ok_or_else(|| {
            let (bytes, write, space) = (1, false, "generic");
            Box::new(if address < FIRST_PAGE {
                BugKind::Null { address, bytes, write, space }
            } else {
                BugKind::OutOfBounds { address, bytes, write, space, nearest: None }
            })
        })
    }

    /// A string, of which at most `most` bytes are looked at.
    fn text(&self, address: u64, most: Option<u64>) -> Result<Vec<u8>, Box<BugKind>> {
        let mut out = Vec::new();
        for k in 0..most.unwrap_or(u64::MAX) {
            if k == LONGEST {
                let problem = FormatProblem::Endless { address, bytes: LONGEST };
                return Err(Box::new(BugKind::BadFormat { problem }));
            }
            match self.byte(address.wrapping_add(k))? {
                0 => break,
                b => out.push(b),
            }
        }
        Ok(out)
    }

    /// A string as far as it can be read, for a message.
    fn message(&self, address: u64) -> Result<String, Box<BugKind>> {
        Ok(String::from_utf8_lossy(&self.text(address, Some(LONGEST))?).into_owned())
    }
}

impl<C: Control, M: Memory, S: Sink> Rare<'_, '_, '_, C, M, S> {
    /// Carries out a call, for its lanes in ascending order.
    pub(super) fn syscall(&mut self, call: Syscall) -> Result<(), Trouble> {
        let at = self.sh.issuer(self.flow.pc, self.flow.depth);
        self.mem.runtime_begins(at, self.local);
        self.run(call)?;
        self.mem.runtime_ends(at, self.local);
        Ok(())
    }

    fn run(&mut self, call: Syscall) -> Result<(), Trouble> {
        let Self { m, control, flow, regs, local, sh, mem, warp, cx, .. } = self;
        let place =
            |lane: usize| place(sh.env, sh.loaded, (sh.block, *warp), 1 << lane, Pc(flow.pc), control.calls(lane));
        let pointer = if sh.env.target.address_bits == 32 { 4 } else { 8 };
        let tops = regs.w[STACK_TOP.index()].0.map(|t| u64::from(t).next_multiple_of(16));
        for lane in lanes_of(*m) {
            let top = tops[lane];
            local.reach((top + 64) as u32);
            let arg = |local: &LocalMemory, at: u64, bytes: u32| local.read(lane, top + at, bytes);
            let fault = |f: Box<Fault>| match *f {
                Fault::Bug(kind, _) => Trouble::Fault(Fault::Bug(kind, 1 << lane)),
                other => Trouble::Fault(other),
            };
            let bug = |kind: Box<BugKind>| Trouble::Fault(Fault::Bug(*kind, 1 << lane));
            match call {
                Syscall::Vprintf => {
                    let first = u64::from(pointer);
                    let (format, mut values) =
                        (arg(local, first, pointer), arg(local, first + u64::from(pointer), pointer));
                    let reader = Reader { lane, local, sh, mem: &**mem };
                    let format = reader.text(format, None).map_err(bug)?;
                    let mut next = |size: u64| {
                        values = values.next_multiple_of(size);
                        let bytes = (0..size).rev().map(|k| reader.byte(values.wrapping_add(k)));
                        let value = bytes.into_iter().try_fold(0, |v, byte| Ok(v << 8 | u64::from(byte?)));
                        values = values.wrapping_add(size);
                        value
                    };
                    let string = |address: u64, most: Option<u64>| reader.text(address, most);
                    let (line, count) =
                        crate::machine::thread::format::printf(&format, &mut next, &string).map_err(bug)?;
                    (cx.out)(&line);
                    local.write(lane, top, 4, count);
                }
                Syscall::Malloc => {
                    let first = u64::from(pointer);
                    let (bytes, heap) = (arg(local, first, pointer), sh.loaded.heap);
                    let made = mem.arena_mut().malloc(bytes, heap.bytes, place(lane)).map_err(fault)?;
                    if made.is_none() && heap.stop {
                        let limit = LimitKind::Heap { size: heap.bytes, wanted: bytes };
                        return Err(Trouble::Fault(Fault::Limit(limit)));
                    }
                    if S::ON
                        && let Some(address) = made
                    {
                        let alloc = Event::Alloc { lane: u32::try_from(lane).unwrap_or(0), address, bytes };
                        cx.sink.event(sh.who, alloc)?;
                    }
                    local.write(lane, top, pointer, made.unwrap_or(0));
                }
                Syscall::Free => {
                    let address = arg(local, 0, pointer);
                    if address != 0 {
                        mem.arena_mut().free(address, place(lane)).map_err(fault)?;
                        cx.hints.clear();
                    }
                }
                Syscall::AssertFail => {
                    let p = u64::from(pointer);
                    let (message, file) = (arg(local, 0, pointer), arg(local, p, pointer));
                    let line = arg(local, 2 * p, 4) as u32;
                    let function = arg(local, (2 * p + 4).next_multiple_of(p), pointer);
                    let reader = Reader { lane, local, sh, mem: &**mem };
                    let read = |address| reader.message(address).map_err(bug);
                    let (message, file, function) = (read(message)?, read(file)?, read(function)?);
                    let kind = BugKind::Assertion { message, file, line, function };
                    return Err(Trouble::Fault(Fault::Bug(kind, 1 << lane)));
                }
            }
        }
        Ok(())
    }
}
