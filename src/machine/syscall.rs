//! The device runtime: `vprintf`, `malloc`, `free`, `__assertfail`.
//!
//! Arguments lie where a call's do: at the top of the caller's stack, the result first (report, 5.1.3 step 3).

use super::rare::Trouble;
use super::warp::Shared;
use crate::base::{Frame, LaneMask, lanes_of};
use crate::memory::{Cx, Fault, LocalMemory, Memory};
use crate::program::instr::{STACK_TOP, Syscall};
use crate::verdict::{BugKind, Event, Sink};

/// The longest string that is read, in bytes; beyond it a missing terminator is more likely than a message.
const LONGEST: u64 = 1 << 16;

/// Reads a generic address: device memory or the thread's local window.
fn byte<M: Memory>(address: u64, lane: usize, local: &LocalMemory, sh: &Shared<'_>, mem: &M) -> Option<u8> {
    let at = address.wrapping_sub(sh.map.local);
    if at < sh.map.window {
        return (at < local.extent().into()).then(|| local.read(lane, at, 1) as u8);
    }
    let at = address.wrapping_sub(sh.map.shared);
    if at < sh.map.window {
        return sh.shared.get(usize::try_from(at).ok()?).copied();
    }
    mem.peek(address, 1)?.first().copied()
}

fn text<M: Memory>(
    address: u64,
    lane: usize,
    local: &LocalMemory,
    sh: &Shared<'_>,
    mem: &M,
) -> Result<Vec<u8>, Trouble> {
    let mut out = Vec::new();
    for k in 0..LONGEST {
        match byte(address.wrapping_add(k), lane, local, sh, mem) {
            Some(0) => break,
            Some(b) => out.push(b),
            None => {
                let address = address.wrapping_add(k);
                let kind = BugKind::OutOfBounds { address, bytes: 1, write: false, space: "generic", nearest: None };
                return Err(Trouble::Fault(Fault::Bug(kind, 1 << lane)));
            }
        }
    }
    Ok(out)
}

/// Carries out a call for `lanes`, in ascending order.
pub(super) fn run<M: Memory, S: Sink>(
    call: Syscall,
    lanes: LaneMask,
    regs: &Frame,
    local: &mut LocalMemory,
    sh: &Shared<'_>,
    mem: &mut M,
    cx: &mut Cx<'_, S>,
) -> Result<(), Trouble> {
    let pointer = if sh.env.target.address_bits == 32 { 4 } else { 8 };
    let tops = regs.w[STACK_TOP.index()].0.map(|t| u64::from(t).next_multiple_of(16));
    for lane in lanes_of(lanes) {
        let top = tops[lane];
        local.reach((top + 64) as u32);
        let arg = |local: &LocalMemory, at: u64, bytes: u32| local.read(lane, top + at, bytes);
        let fault = |f: Box<Fault>| match *f {
            Fault::Bug(kind, _) => Trouble::Fault(Fault::Bug(kind, 1 << lane)),
            other => Trouble::Fault(other),
        };
        match call {
            Syscall::Vprintf => {
                let first = u64::from(pointer);
                let format = text(arg(local, first, pointer), lane, local, sh, mem)?;
                let mut values = arg(local, first + u64::from(pointer), pointer);
                let mut next = |size: u64| {
                    values = values.next_multiple_of(size);
                    let v = (0..size)
                        .fold(0, |v, k| v | u64::from(byte(values + k, lane, local, sh, mem).unwrap_or(0)) << (8 * k));
                    values += size;
                    v
                };
                let (line, count) = super::format::printf(&format, &mut next, &|a| text(a, lane, local, sh, mem).ok());
                (cx.out)(&line);
                local.write(lane, top, 4, count);
            }
            Syscall::Malloc => {
                let first = u64::from(pointer);
                let bytes = arg(local, first, pointer);
                let address = mem.malloc(bytes).map_err(fault)?;
                if S::ON {
                    cx.sink.event(sh.who, Event::Alloc(address, bytes)).map_err(|s| Trouble::Fault(Fault::Stop(s)))?;
                }
                local.write(lane, top, pointer, address);
            }
            Syscall::Free => {
                let address = arg(local, 0, pointer);
                if address != 0 {
                    mem.free(address).map_err(fault)?;
                    cx.hints.clear();
                }
            }
            Syscall::AssertFail => {
                let p = u64::from(pointer);
                let (message, file) = (arg(local, 0, pointer), arg(local, p, pointer));
                let line = arg(local, 2 * p, 4) as u32;
                let function = arg(local, (2 * p + 4).next_multiple_of(p), pointer);
                let read = |a| text(a, lane, local, sh, mem).map(|t| String::from_utf8_lossy(&t).into_owned());
                let (message, file, function) = (read(message)?, read(file)?, read(function)?);
                let kind = BugKind::Assertion { message, file, line, function };
                return Err(Trouble::Fault(Fault::Bug(kind, 1 << lane)));
            }
        }
    }
    Ok(())
}
