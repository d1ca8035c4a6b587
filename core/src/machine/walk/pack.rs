//! Warps and blocks as bytes: what later steps depend on, and nothing else.
//!
//! Left out are registers that no step writes (constants, parameters, thread indices: the block's issue fills them), registers
//! that are dead where a lane goes on, in each frame of its call stack (D-live), lanes that have exited or are beyond the warp
//! size, and what only a scheduler remembers. Equal states have equal bytes: lists whose order means nothing are sorted. What
//! was left out is zero when a state is put back.

use super::parts::mix;
use crate::base::mutant::{Mutant, on};
use crate::base::{Frame, LANES, LaneMask, Lanes32, lanes_of, sort};
use crate::machine::alike::{Follow, Steady, put_value};
use crate::machine::block::barrier::{Arrival, Barriers, Open};
use crate::machine::block::cluster::Arrivals;
use crate::machine::block::state::Block;
use crate::machine::control::{Explored, Wait};
use crate::machine::grid::loaded::Loaded;
use crate::machine::packed::{Unpack, put};
use crate::machine::warp::state::Warp;
use crate::memory::LocalMemory;
use crate::program::alive::Alive;
use crate::program::env::{FuncId, ProgEnv, Slots};
use crate::program::instr::{BarrierRed, STACK_BASE, STACK_TOP, Slot};
use crate::program::ops::Class;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// The registers of an entry's frame that steps can change, and which registers are alive where.
pub(super) struct Layout {
    w: Vec<Slot>,
    q: Vec<Slot>,
    p: Vec<Slot>,
    lanes: usize,
    env: Arc<ProgEnv>,
    /// `None`: all registers are told apart.
    alive: Option<Alive>,
    /// The entry's slots.
    entry: Slots,
    /// Whether registers of threads that have ended are looked at.
    kept: bool,
}

/// For each register of a frame, class by class, the lanes in which it is kept.
type Kept = SmallVec<[LaneMask; 64]>;

impl Layout {
    /// Of a launch. `kept`: registers of threads that have ended are looked at; `leaves_out`: what is dead is left out.
    pub fn of(env: &Arc<ProgEnv>, loaded: &Loaded, kept: bool, leaves_out: bool) -> Self {
        let lanes = (loaded.warp_size as usize).min(LANES);
        let kept = kept && !on(Mutant::DeadEnded);
        let alive = leaves_out.then(|| Alive::of(env, loaded.entry, kept));
        let (w, q, p) = (vec![], vec![], vec![]);
        let mut layout = Self { w, q, p, lanes, env: Arc::clone(env), alive, entry: Slots::default(), kept };
        let Some(entry) = env.function(loaded.entry) else { return layout };
        layout.entry = entry.slots;
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

    const fn live(&self) -> LaneMask {
        if self.lanes >= LANES { !0 } else { (1 << self.lanes) - 1 }
    }

    /// What is kept of a frame: of a function that fills it for all lanes, what it is filled with, too.
    fn kept<C: Explored>(&self, control: &C, depth: u32, of: &Rows<'_>, steady: Option<&Steady>) -> Kept {
        let live = self.live();
        let Some(alive) = &self.alive else {
            return smallvec![live; of.sizes.count()];
        };
        let mut kept: Kept = smallvec![0; of.sizes.count()];
        let mut keep = |slots: &mut dyn Iterator<Item = (Class, Slot)>, lanes: LaneMask| {
            for number in slots.filter_map(|(class, slot)| of.sizes.number(class, slot)) {
                if let Some(kept) = kept.get_mut(number) {
                    *kept |= lanes;
                }
            }
        };
        let exited = if self.kept && depth == 0 { !control.live() } else { 0 };
        // Lanes of which nothing is known keep everything.
        let mut rest = (control.live() | exited) & live;
        control.stands(depth, &mut |place, lanes| {
            let slots = place.map(|pc| alive.before(pc));
            if slots != Some(None) {
                rest &= !lanes;
            }
            let above = depth == control.deepest() || !on(Mutant::DeadCallers);
            if let Some(Some(slots)) = slots.filter(|_| above) {
                keep(&mut slots.iter().copied(), lanes);
            }
        });
        let filled = of.filled.filter(|_| !on(Mutant::DeadFilled));
        if let Some(function) = filled.and_then(|f| self.env.function(f)) {
            keep(&mut function.preloads.iter().map(|p| (p.class, p.slot)), live);
        }
        if rest != 0 {
            kept.iter_mut().for_each(|kept| *kept |= rest);
        }
        if let Some(steady) = steady.filter(|_| depth == 0) {
            control.stands(depth, &mut |place, lanes| {
                for follow in place.map_or(&[][..], |pc| steady.before(pc)) {
                    let number = of.sizes.number(follow.class, follow.slot);
                    let kept = number.and_then(|number| kept.get_mut(number));
                    kept.into_iter().for_each(|kept| *kept &= !(follow.lanes & lanes));
                }
            });
        }
        kept
    }

    /// Packs what is kept of a frame, and forgets the rest, so that the frame is what it will be when it is put back.
    fn pack_frame(&self, frame: &mut Frame, rows: &Rows<'_>, kept: &[LaneMask], out: &mut Vec<u8>) {
        let live = self.live();
        let [w, q, p] = rows.parts(kept);
        for (slot, kept) in w {
            let Some(row) = frame.w.get_mut(slot) else { continue };
            if kept == live {
                row.0[..self.lanes].iter().for_each(|v| put(out, *v));
                continue;
            }
            lanes_of(kept).for_each(|l| put(out, row.0[l]));
            lanes_of(live & !kept).for_each(|l| row.0[l] = 0);
        }
        for (slot, kept) in q {
            let Some(row) = frame.q.get_mut(slot) else { continue };
            lanes_of(kept).for_each(|l| out.extend_from_slice(&row.0[l].to_le_bytes()));
            lanes_of(live & !kept).for_each(|l| row.0[l] = 0);
        }
        for (slot, kept) in p {
            let Some(mask) = frame.p.get_mut(slot) else { continue };
            *mask &= kept | !live;
            if kept != 0 {
                put(out, *mask & kept);
            }
        }
    }

    fn unpack_frame(&self, frame: &mut Frame, rows: &Rows<'_>, kept: &[LaneMask], from: &mut Unpack<'_>) {
        let [w, q, p] = rows.parts(kept);
        for (slot, kept) in w {
            let Some(row) = frame.w.get_mut(slot) else { continue };
            row.0[..self.lanes].fill(0);
            lanes_of(kept).for_each(|l| row.0[l] = from.u32());
        }
        for (slot, kept) in q {
            let Some(row) = frame.q.get_mut(slot) else { continue };
            row.0[..self.lanes].fill(0);
            lanes_of(kept).for_each(|l| row.0[l] = from.u64());
        }
        for (slot, kept) in p {
            let Some(mask) = frame.p.get_mut(slot) else { continue };
            *mask = *mask & !self.live() | if kept == 0 { 0 } else { from.u32() };
        }
    }

    fn rows(&self) -> Rows<'_> {
        Rows { sizes: self.entry, some: Some([&self.w, &self.q, &self.p]), filled: None }
    }

    /// Packs a warp, of which nothing is left that is not packed but what follows from its index.
    pub fn pack_warp<C: Explored>(&self, warp: &mut Warp<C>, steady: Option<&Steady>, out: &mut Vec<u8>) {
        forget(warp);
        warp.control.pack(out);
        if on(Mutant::ClusterOutOfState) {
            warp.arrivals = Arrivals::default();
        }
        put(out, warp.arrivals.open);
        put(out, warp.arrivals.past);
        let deepest = warp.control.deepest() as usize;
        put(out, packed_filled(warp.filled.first().copied().flatten()));
        let frames = warp.frames.iter_mut().zip(&warp.filled).take(deepest + 1);
        for (depth, (frame, filled)) in (0..).zip(frames) {
            let rows = if depth == 0 { self.rows() } else { Rows::of(frame, *filled) };
            if depth > 0 {
                put(out, packed_filled(*filled));
                [rows.sizes.w, rows.sizes.q, rows.sizes.p].iter().for_each(|n| put(out, u32::from(*n)));
            }
            self.pack_frame(frame, &rows, &self.kept(&warp.control, depth, &rows, steady), out);
        }
        put_steady(warp, steady);
        Self::pack_local(&warp.local, self.stack_of(&warp.control), out);
    }

    pub fn unpack_warp<C: Explored>(&self, warp: &mut Warp<C>, steady: Option<&Steady>, from: &mut Unpack<'_>) {
        let Warp { control, frames, filled, local, arrivals, .. } = warp;
        control.unpack(from);
        *arrivals = Arrivals { open: from.u32(), past: from.u32() };
        let deepest = control.deepest() as usize;
        let first = unpacked_filled(from);
        if let Some(filled) = filled.first_mut() {
            *filled = first;
        }
        while frames.len() <= deepest {
            frames.push(Frame::default());
            filled.push(None);
        }
        for (depth, (frame, filled)) in (0..).zip(frames.iter_mut().zip(filled.iter_mut()).take(deepest + 1)) {
            if depth > 0 {
                *filled = unpacked_filled(from);
                let [w, q, p] = [from.u32() as usize, from.u32() as usize, from.u32() as usize];
                frame.grow(w, q, p);
                frame.w.truncate(w);
                frame.q.truncate(q);
                frame.p.truncate(p);
            }
            let rows = if depth == 0 { self.rows() } else { Rows::of(frame, *filled) };
            let kept = self.kept(control, depth, &rows, steady);
            self.unpack_frame(frame, &rows, &kept, from);
        }
        let live = self.stack_of(control);
        Self::unpack_local(local, live, from);
        forget(warp);
        put_steady(warp, steady);
    }

    /// A number for each lane of a warp whose threads run on their own, without which lane it is: where it stands, what it
    /// waits for, and what is kept of its registers and its local memory. There are no calls in it (D-symmetry).
    pub fn lane_numbers<C: Explored>(&self, warp: &Warp<C>, steady: Option<&Steady>) -> Box<[u128]> {
        let mut numbers = vec![0; LANES];
        let Some(frame) = warp.frames.first() else { return numbers.into() };
        let rows = self.rows();
        let kept = self.kept(&warp.control, 0, &rows, steady);
        for lane in warp.control.lanes() {
            let l = lane.lane as usize;
            let (kind, of) = Wait::packed(lane.wait);
            let mut bytes = Vec::new();
            [lane.pc, lane.depth, kind, of].iter().for_each(|v| put(&mut bytes, *v));
            let [w, q, p] = rows.parts(&kept);
            let here = |kept: LaneMask| kept >> l & 1 == 1;
            w.filter(|(_, kept)| here(*kept)).for_each(|(slot, _)| put(&mut bytes, frame.w[slot].0[l]));
            q.filter(|(_, kept)| here(*kept)).for_each(|(slot, _)| bytes.extend(frame.q[slot].0[l].to_le_bytes()));
            p.filter(|(_, kept)| here(*kept)).for_each(|(slot, _)| put(&mut bytes, frame.p[slot] >> l & 1));
            warp.local.rows().iter().for_each(|row| put(&mut bytes, row.0[l]));
            numbers[l] = mix(xxh3_128(&bytes), 0);
        }
        numbers.into()
    }

    /// The lanes whose local memory is kept.
    fn stack_of<C: Explored>(&self, control: &C) -> LaneMask {
        self.live() & if self.alive.is_some() { control.live() } else { !0 }
    }

    fn pack_local(local: &LocalMemory, live: LaneMask, out: &mut Vec<u8>) {
        put(out, local.extent());
        put(out, local.is_written().into());
        if local.is_written() {
            for row in local.rows() {
                lanes_of(live).for_each(|l| put(out, row.0[l]));
            }
        }
    }

    fn unpack_local(local: &mut LocalMemory, live: LaneMask, from: &mut Unpack<'_>) {
        let extent = from.u32();
        let written = from.u32() == 1;
        if !written && !local.is_written() && local.extent() == extent {
            return;
        }
        local.renew(extent);
        if written {
            for offset in (0..u64::from(extent.div_ceil(4))).map(|k| k * 4) {
                let row = local.row_mut(offset).map(|row: &mut Lanes32| &mut row.0);
                row.into_iter().for_each(|row| lanes_of(live).for_each(|l| row[l] = from.u32()));
            }
        }
    }
}

/// The registers of a frame that are packed.
struct Rows<'a> {
    /// How many there are.
    sizes: Slots,
    /// Those that are; all where none are named.
    some: Option<[&'a [Slot]; 3]>,
    /// The function that the frame is filled for in all lanes.
    filled: Option<FuncId>,
}

impl Rows<'_> {
    /// All registers of a callee's frame: whose they are changes.
    fn of(frame: &Frame, filled: Option<FuncId>) -> Self {
        let [w, q, p] = [frame.w.len(), frame.q.len(), frame.p.len()].map(|n| u16::try_from(n).unwrap_or(u16::MAX));
        Self { sizes: Slots { w, q, p }, some: None, filled }
    }

    /// What is packed of each class: its index in the frame and the lanes in which it is kept.
    fn parts<'a>(&'a self, kept: &'a [LaneMask]) -> [impl Iterator<Item = (usize, LaneMask)> + 'a; 3] {
        let [w, q, p] = [self.sizes.w, self.sizes.q, self.sizes.p].map(usize::from);
        [(0, 0, w), (1, w, q), (2, w + q, p)].map(|(class, before, count)| {
            let some = self.some.map(|some| some[class]);
            (0..some.map_or(count, <[Slot]>::len)).map(move |k| {
                let slot = some.map_or(k, |some| some[k].index());
                (slot, kept.get(before + slot).copied().unwrap_or(0))
            })
        })
    }
}

fn packed_filled(filled: Option<FuncId>) -> u32 {
    filled.map_or(0, |f| f.0 + 1)
}

fn unpacked_filled(from: &mut Unpack<'_>) -> Option<FuncId> {
    from.u32().checked_sub(1).map(FuncId)
}

/// Frames deeper than any lane is hold nothing: what calls left there is packed nowhere, and would come into the state with
/// the next call, which fills only what is read.
fn forget<C: Explored>(warp: &mut Warp<C>) {
    let beyond = warp.control.deepest() as usize + 1;
    for Frame { w, q, p } in warp.frames.iter_mut().skip(beyond) {
        w.clear();
        q.clear();
        p.clear();
    }
    warp.filled.iter_mut().skip(beyond).for_each(|f| *f = None);
}

/// Registers that follow from the index get their values.
fn put_steady<C: Explored>(warp: &mut Warp<C>, steady: Option<&Steady>) {
    let (Some(steady), Some(frame)) = (steady, warp.frames.first_mut()) else { return };
    warp.control.stands(0, &mut |place, lanes| {
        for Follow { class, slot, lanes: follow, values } in place.map_or(&[][..], |pc| steady.before(pc)) {
            lanes_of(follow & lanes).for_each(|l| put_value(frame, *class, *slot, l, values[l]));
        }
    });
}

/// A block's own section without what follows from its warps (how many of these run) and who waits at its barriers; `anybody`:
/// without which block it is, and where, too.
pub(super) fn canonical<C>(block: &Block<C>, anybody: bool) -> Vec<u8> {
    let mut out = Vec::new();
    if !anybody {
        out.extend_from_slice(&block.linear.to_le_bytes());
        put(&mut out, block.sm);
    }
    put(&mut out, block.barriers.at_cluster());
    put(&mut out, block.barriers.used());
    for (_, open) in block.barriers.all_open() {
        pack_open(open, &mut out);
    }
    out.extend_from_slice(&block.shared);
    out
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

/// What an open barrier has counted, without who waits.
fn pack_open(open: &Open, out: &mut Vec<u8>) {
    put(out, open.count.map_or(0, |n| n.saturating_add(1)));
    put(out, open.red.map_or(0, |r| r as u32 + 1));
    for value in [open.arrived, open.lanes, open.yes, open.given] {
        put(out, value);
    }
}

fn pack_barriers(barriers: &Barriers, out: &mut Vec<u8>) {
    put(out, barriers.at_cluster());
    put(out, barriers.used());
    for (_, open) in barriers.all_open() {
        pack_open(open, out);
        out.extend_from_slice(&open.whole.to_le_bytes());
        let mut waiting = open.waiting.clone();
        sort::sort_by_key(&mut waiting, |a| (a.warp, a.lanes));
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
    barriers.put_at_cluster(from.u32());
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
