//! Warps and blocks as bytes: what later steps depend on, and nothing else.
//!
//! Left out are registers that no step writes (constants, parameters, thread indices: the block's issue fills them), lanes
//! beyond the warp size, and what only a scheduler remembers. Equal states have equal bytes: lists whose order means
//! nothing are sorted.

use crate::base::{Frame, LANES, Lanes32};
use crate::machine::block::barrier::{Arrival, Barriers, Open};
use crate::machine::block::state::Block;
use crate::machine::control::Explored;
use crate::machine::grid::loaded::Loaded;
use crate::machine::packed::{Unpack, put};
use crate::machine::warp::state::Warp;
use crate::memory::LocalMemory;
use crate::program::env::{FuncId, ProgEnv};
use crate::program::instr::{BarrierRed, STACK_BASE, STACK_TOP, Slot};
use crate::program::ops::Class;

/// The registers of an entry's frame that steps can change.
pub(super) struct Layout {
    w: Vec<Slot>,
    q: Vec<Slot>,
    p: Vec<Slot>,
    lanes: usize,
}

impl Layout {
    pub fn of(env: &ProgEnv, loaded: &Loaded) -> Self {
        let lanes = (loaded.warp_size as usize).min(LANES);
        let mut layout = Self { w: vec![], q: vec![], p: vec![], lanes };
        let Some(entry) = env.function(loaded.entry) else { return layout };
        let given = |class, slot| entry.preloads.iter().any(|p| (p.class, p.slot) == (class, slot));
        let stack = [STACK_BASE, STACK_TOP];
        let changes = |class: Class, slot: &Slot| {
            !given(class, *slot) && (class != Class::W || loaded.moves_stack || !stack.contains(slot))
        };
        let all = |class: Class, count: u16| (0..count).map(Slot).filter(|s| changes(class, s)).collect();
        layout.w = all(Class::W, entry.slots.w);
        layout.q = all(Class::Q, entry.slots.q);
        layout.p = all(Class::P, entry.slots.p);
        layout
    }

    fn pack_entry(&self, frame: &Frame, out: &mut Vec<u8>) {
        for row in self.w.iter().filter_map(|s| frame.w.get(s.index())) {
            row.0[..self.lanes].iter().for_each(|v| put(out, *v));
        }
        for row in self.q.iter().filter_map(|s| frame.q.get(s.index())) {
            row.0[..self.lanes].iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
        }
        self.p.iter().filter_map(|s| frame.p.get(s.index())).for_each(|v| put(out, v & self.live()));
    }

    fn unpack_entry(&self, frame: &mut Frame, from: &mut Unpack<'_>) {
        for slot in &self.w {
            let Some(row) = frame.w.get_mut(slot.index()) else { continue };
            row.0[..self.lanes].iter_mut().for_each(|v| *v = from.u32());
        }
        for slot in &self.q {
            let Some(row) = frame.q.get_mut(slot.index()) else { continue };
            row.0[..self.lanes].iter_mut().for_each(|v| *v = from.u64());
        }
        for slot in &self.p {
            let Some(mask) = frame.p.get_mut(slot.index()) else { continue };
            *mask = *mask & !self.live() | from.u32();
        }
    }

    const fn live(&self) -> u32 {
        if self.lanes >= LANES { !0 } else { (1 << self.lanes) - 1 }
    }

    /// The frames of callees: whole, since whose they are changes.
    fn pack_callee(&self, frame: &Frame, filled: Option<FuncId>, out: &mut Vec<u8>) {
        put(out, filled.map_or(0, |f| f.0 + 1));
        for count in [frame.w.len(), frame.q.len(), frame.p.len()] {
            put(out, u32::try_from(count).unwrap_or(u32::MAX));
        }
        frame.w.iter().for_each(|row| row.0[..self.lanes].iter().for_each(|v| put(out, *v)));
        frame.q.iter().for_each(|row| row.0[..self.lanes].iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes())));
        frame.p.iter().for_each(|v| put(out, *v));
    }

    fn unpack_callee(&self, frame: &mut Frame, filled: &mut Option<FuncId>, from: &mut Unpack<'_>) {
        *filled = from.u32().checked_sub(1).map(FuncId);
        let [w, q, p] = [from.u32() as usize, from.u32() as usize, from.u32() as usize];
        frame.grow(w, q, p);
        frame.w.truncate(w);
        frame.q.truncate(q);
        frame.p.truncate(p);
        frame.w.iter_mut().for_each(|row| row.0[..self.lanes].iter_mut().for_each(|v| *v = from.u32()));
        frame.q.iter_mut().for_each(|row| row.0[..self.lanes].iter_mut().for_each(|v| *v = from.u64()));
        frame.p.iter_mut().for_each(|v| *v = from.u32());
    }

    pub fn pack_warp<C: Explored>(&self, warp: &Warp<C>, out: &mut Vec<u8>) {
        warp.control.pack(out);
        let deepest = warp.control.deepest() as usize;
        put(out, warp.filled.first().copied().flatten().map_or(0, |f| f.0 + 1));
        if let Some((entry, callees)) = warp.frames.split_first() {
            self.pack_entry(entry, out);
            for (frame, filled) in callees.iter().zip(warp.filled.iter().skip(1)).take(deepest) {
                self.pack_callee(frame, *filled, out);
            }
        }
        self.pack_local(&warp.local, out);
    }

    pub fn unpack_warp<C: Explored>(&self, warp: &mut Warp<C>, from: &mut Unpack<'_>) {
        warp.control.unpack(from);
        let deepest = warp.control.deepest() as usize;
        let filled = from.u32().checked_sub(1).map(FuncId);
        if let Some(first) = warp.filled.first_mut() {
            *first = filled;
        }
        while warp.frames.len() <= deepest {
            warp.frames.push(Frame::default());
            warp.filled.push(None);
        }
        if let Some((entry, callees)) = warp.frames.split_first_mut() {
            self.unpack_entry(entry, from);
            for (frame, filled) in callees.iter_mut().zip(warp.filled.iter_mut().skip(1)).take(deepest) {
                self.unpack_callee(frame, filled, from);
            }
        }
        forget(warp);
        self.unpack_local(&mut warp.local, from);
    }

    fn pack_local(&self, local: &LocalMemory, out: &mut Vec<u8>) {
        put(out, local.extent());
        put(out, local.is_written().into());
        if local.is_written() {
            for row in local.rows() {
                row.0[..self.lanes].iter().for_each(|v| put(out, *v));
            }
        }
    }

    fn unpack_local(&self, local: &mut LocalMemory, from: &mut Unpack<'_>) {
        let extent = from.u32();
        let written = from.u32() == 1;
        if !written && !local.is_written() && local.extent() == extent {
            return;
        }
        local.renew(extent);
        if written {
            for offset in (0..u64::from(extent.div_ceil(4))).map(|k| k * 4) {
                let row = local.row_mut(offset).map(|row: &mut Lanes32| &mut row.0[..self.lanes]);
                row.into_iter().flatten().for_each(|v| *v = from.u32());
            }
        }
    }
}

/// Frames deeper than any lane is hold nothing: what calls left there is packed nowhere, and would come into the state with
/// the next call, which fills only what is read.
pub(super) fn forget<C: Explored>(warp: &mut Warp<C>) {
    let beyond = warp.control.deepest() as usize + 1;
    for Frame { w, q, p } in warp.frames.iter_mut().skip(beyond) {
        w.clear();
        q.clear();
        p.clear();
    }
    warp.filled.iter_mut().skip(beyond).for_each(|f| *f = None);
}

/// A block's own section: who it is, its barriers, its shared memory, and how many of its warps have operations in flight, which
/// says whether it is complete by the end of one.
pub(super) fn pack_block<C>(block: &Block<C>, in_flight: Option<usize>, out: &mut Vec<u8>) {
    out.extend_from_slice(&block.linear.to_le_bytes());
    for value in [block.sm, block.running, block.live, block.kept.into()] {
        put(out, value);
    }
    pack_barriers(&block.barriers, out);
    out.extend_from_slice(&block.shared);
    in_flight.into_iter().for_each(|warps| put(out, u32::try_from(warps).unwrap_or(u32::MAX)));
}

/// The block whose section this is: its linear index and its multiprocessor.
pub(super) fn whose(section: &[u8]) -> (u64, u32) {
    let mut from = Unpack(section);
    (from.u64(), from.u32())
}

pub(super) fn unpack_block<C>(block: &mut Block<C>, section: &[u8]) {
    let mut from = Unpack(section);
    block.linear = from.u64();
    block.sm = from.u32();
    block.running = from.u32();
    block.live = from.u32();
    block.kept = from.u32() == 1;
    unpack_barriers(&mut block.barriers, &mut from);
    if let Some(bytes) = from.0.get(..block.shared.len()) {
        block.shared.copy_from_slice(bytes);
    }
}

fn pack_barriers(barriers: &Barriers, out: &mut Vec<u8>) {
    put(out, barriers.used().into());
    for (_, open) in barriers.all_open() {
        put(out, open.count.map_or(0, |n| n.saturating_add(1)));
        put(out, open.red.map_or(0, |r| r as u32 + 1));
        for value in [open.arrived, open.lanes, open.yes, open.given] {
            put(out, value);
        }
        out.extend_from_slice(&open.whole.to_le_bytes());
        let mut waiting = open.waiting.clone();
        waiting.sort_by_key(|a| (a.warp, a.lanes));
        put(out, u32::try_from(waiting.len()).unwrap_or(u32::MAX));
        for a in waiting {
            for value in [a.warp, a.lanes, a.depth, a.dest.0.into(), a.pc] {
                put(out, value);
            }
        }
    }
}

fn unpack_barriers(barriers: &mut Barriers, from: &mut Unpack<'_>) {
    barriers.clear();
    let used = from.u32();
    for id in (0..16).filter(|id| used >> id & 1 == 1) {
        let count = from.u32().checked_sub(1);
        let red = match from.u32() {
            1 => Some(BarrierRed::And),
            2 => Some(BarrierRed::Or),
            3 => Some(BarrierRed::Popc),
            _ => None,
        };
        let [arrived, lanes, yes, given] = [from.u32(), from.u32(), from.u32(), from.u32()];
        let whole = from.u64();
        let waiting = (0..from.u32())
            .map(|_| {
                let [warp, lanes, depth, dest, pc] = [from.u32(), from.u32(), from.u32(), from.u32(), from.u32()];
                Arrival { warp, lanes, depth, dest: Slot(u16::try_from(dest).unwrap_or(u16::MAX)), pc }
            })
            .collect();
        barriers.restore(id, Open { count, red, arrived, lanes, yes, given, whole, waiting });
    }
}
