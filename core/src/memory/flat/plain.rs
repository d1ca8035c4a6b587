//! Plain 32-bit loads and stores of global and shared memory: the paths that decide the speed of most kernels.
//!
//! Addresses are classified per 16 lanes (a 16 × 16 block has two rows in a warp): one contiguous row, one address for
//! all, or anything else. Rows and single addresses are one bounds check and one vector access. A row is read whole even
//! when some lanes sit out, where all of it lies inside the block of memory; else lane by lane.

#![expect(
    clippy::needless_range_loop,
    reason = "adaptors are compiled for the common instruction set before they are inlined"
)]

use super::Arena;
use super::general::{carry_out, hand_on};
use super::place::fault;
use crate::base::{LANES, LaneMask, LaneTables, lanes_of};
use crate::memory::{Active, Cx, Fault, Hint, Plain32, Taken};
use crate::program::instr::{MemOp, Space};
use crate::program::origins::Room;
use crate::verdict::{Access, Extent, Sink, Stride};
use pulp::Simd;

/// Lanes classified together.
const HALF: usize = 16;
/// What each of them has.
type Half<T> = [T; HALF];
/// Bytes of a row of 32-bit words.
const ROW: u64 = 64;

/// The bytes that an access may touch, behind one check.
struct Region<'a> {
    arena: Option<&'a Arena>,
    hint: &'a mut Hint,
    len: u64,
    need: u8,
}

impl Region<'_> {
    /// Where `len` bytes at an address begin, when all may be accessed.
    #[inline(always)]
    fn locate(&mut self, address: u64, len: u64) -> Option<usize> {
        match self.arena {
            Some(arena) => arena.index(self.hint, address, len, self.need),
            None => (address < self.len && len <= self.len - address).then_some(address as usize),
        }
    }
}

/// Whether the lanes' addresses, each made less by what it is given, are all the same one. By vectors: which of them a
/// compiler would make of a loop is not to be relied on.
#[inline(always)]
fn alike<V: Simd>(simd: V, h: &Half<u64>, less: &Half<u64>, one: u64) -> bool {
    let ((h, _), (less, _)) = (V::as_simd_u64s(h), V::as_simd_u64s(less));
    let (one, mut differ) = (simd.splat_u64s(one), simd.splat_u64s(0));
    for (k, x) in h.iter().enumerate() {
        differ = simd.or_u64s(differ, simd.xor_u64s(simd.sub_u64s(*x, less[k]), one));
    }
    let mut bits = 0;
    for word in bytemuck::cast_slice::<_, u64>(std::slice::from_ref(&differ)) {
        bits |= word;
    }
    bits == 0
}

/// The addresses of the executing lanes, with what the others are to have.
#[inline(always)]
fn with_idle(h: &Half<u64>, lanes: &Half<u32>, idle: impl Fn(usize) -> u64) -> Half<u64> {
    let mut all = [0; HALF];
    for (k, x) in all.iter_mut().enumerate() {
        let runs = i64::from(lanes[k].cast_signed()).cast_unsigned();
        *x = (h[k] & runs) | (idle(k) & !runs);
    }
    all
}

#[inline(always)]
fn classify<V: Simd>(simd: V, h: &Half<u64>, half: LaneMask, t: &LaneTables, lanes: &Half<u32>, offset: u64) -> Stride {
    let times4 = half_of(&t.times4, 0);
    let lead = half.trailing_zeros() as usize & (HALF - 1);
    let (first, row) = (h[lead], h[lead].wrapping_sub(times4[lead]));
    let all = half == 0xffff;
    let is_row = if all {
        alike(simd, h, times4, row)
    } else {
        alike(simd, &with_idle(h, lanes, |k| row.wrapping_add(times4[k])), times4, row)
    };
    if is_row {
        return Stride::Row(row.wrapping_add(offset));
    }
    let is_same = if all {
        alike(simd, h, &[0; HALF], first)
    } else {
        alike(simd, &with_idle(h, lanes, |_| first), &[0; HALF], first)
    };
    if is_same { Stride::Same(first.wrapping_add(offset)) } else { Stride::Mixed }
}

#[inline(always)]
fn words(bytes: &[u8; ROW as usize]) -> Half<u32> {
    let (chunks, _) = bytes.as_chunks::<4>();
    let mut words = [0; HALF];
    for (k, w) in words.iter_mut().enumerate() {
        *w = u32::from_le_bytes(chunks[k]);
    }
    words
}

#[inline(always)]
fn unwords(words: &Half<u32>) -> [u8; ROW as usize] {
    let mut bytes = [0; ROW as usize];
    let (chunks, _) = bytes.as_chunks_mut::<4>();
    for (k, c) in chunks.iter_mut().enumerate() {
        *c = words[k].to_le_bytes();
    }
    bytes
}

#[inline(always)]
fn blend(d: &mut Half<u32>, new: &Half<u32>, half: LaneMask, lanes: &Half<u32>) {
    if half == 0xffff {
        *d = *new;
    } else {
        for (k, x) in d.iter_mut().enumerate() {
            *x = (new[k] & lanes[k]) | (*x & !lanes[k]);
        }
    }
}

#[inline(always)]
fn half_of<T>(v: &[T; LANES], g: usize) -> &Half<T> {
    let (halves, _) = v.as_chunks::<HALF>();
    &halves[g]
}

#[inline(always)]
fn half_of_mut<T>(v: &mut [T; LANES], g: usize) -> &mut Half<T> {
    let (halves, _) = v.as_chunks_mut::<HALF>();
    &mut halves[g]
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|c| u32::from_le_bytes(*c))
}

/// A load or a store.
#[inline(always)]
pub(super) fn access<V: Simd, S: Sink>(
    simd: V,
    arena: &mut Arena,
    on: Active<'_, '_>,
    site: Plain32,
    cx: &mut Cx<'_, S>,
) -> Taken {
    let known = if S::ON { tell(simd, arena, &on, site, cx)? } else { [Stride::Mixed; 2] };
    if arena.has_guests && site.space == Space::Global {
        let Active { at, mask, regs, near, .. } = on;
        if arena.words((at.who, mask), site, regs).is_some() {
            return Ok(());
        }
        let on = Active { at, mask, regs, near, lanes: on.lanes };
        let Active { at, mask, regs, near, .. } = &on;
        arena.fetch((at.who, *mask), &site.request(), regs, near, cx.hints.at(at.pc))?;
        // Rows are those of the vector.
        if arena.has_loans() {
            let Active { at, mask, regs, near, .. } = on;
            return carry_out(arena, mask, &site.request(), regs, near, cx.hints.at(at.pc));
        }
        return go_on(simd, arena, on, site, known, cx);
    }
    go_on(simd, arena, on, site, known, cx)
}

/// The same, when what is accessed is there.
#[inline(always)]
fn go_on<V: Simd, S: Sink>(
    simd: V,
    arena: &mut Arena,
    on: Active<'_, '_>,
    site: Plain32,
    known: [Stride; 2],
    cx: &mut Cx<'_, S>,
) -> Taken {
    if site.op == MemOp::Load {
        load(simd, arena, on, site, known, cx)
    } else {
        store(simd, arena, on, site, known, cx)
    }
}

/// A load. `known`: how the addresses of each half lie, where an observer was told.
#[inline(always)]
fn load<V: Simd, S: Sink>(
    simd: V,
    arena: &mut Arena,
    on: Active<'_, '_>,
    site: Plain32,
    known: [Stride; 2],
    cx: &mut Cx<'_, S>,
) -> Taken {
    let Active { at, mask, lanes, regs, near } = on;
    // Rule: expr.add
    let offset = i64::from(site.offset).cast_unsigned();
    let global = site.space == Space::Global;
    let room = if global { Room::ALL } else { near.root.room() };
    let begin = u64::from(room.begin);
    let offset = offset.wrapping_sub(begin);
    let bytes: &[u8] = if global { &arena.bytes } else { words_of(near.shared, room) };
    let table = if global { Some(&*arena) } else { None };
    let len = bytes.len() as u64;
    let mut region = Region { arena: table, hint: cx.hints.at(at.pc), len, need: Hint::READ };
    let a = site.a.index();
    for g in 0..LANES / HALF {
        let half = mask >> (g * HALF) & 0xffff;
        if half == 0 {
            continue;
        }
        let lanes = half_of(&lanes.0, g);
        let h = half_of(&regs.q[a].0, g);
        let stride = if S::ON {
            known[g].moved(begin.wrapping_neg())
        } else {
            classify(simd, h, half, &cx.tables, lanes, offset)
        };
        match stride {
            Stride::Row(row) if row & 3 == 0 => {
                if let Some(o) = region.locate(row, ROW)
                    && let Some(chunk) = bytes.get(o..).and_then(|b| b.first_chunk())
                {
                    let new = words(chunk);
                    blend(half_of_mut(&mut regs.w[site.d.index()].0, g), &new, half, lanes);
                    continue;
                }
            }
            Stride::Same(one) if one & 3 == 0 => {
                if let Some(v) = region.locate(one, 4).and_then(|o| word(bytes, o)) {
                    blend(half_of_mut(&mut regs.w[site.d.index()].0, g), &[v; HALF], half, lanes);
                    continue;
                }
            }
            _ => {}
        }
        let mut new = *half_of(&regs.w[site.d.index()].0, g);
        if !gather(&mut region, bytes, h, half, offset, &mut new) {
            return Err(fault(arena, mask, &site.request(), regs, near));
        }
        *half_of_mut(&mut regs.w[site.d.index()].0, g) = new;
    }
    Ok(())
}

/// Loads from unrelated addresses; false when one is wrong.
#[inline(always)]
fn gather(
    region: &mut Region<'_>,
    bytes: &[u8],
    h: &Half<u64>,
    half: LaneMask,
    offset: u64,
    new: &mut Half<u32>,
) -> bool {
    if half == 0xffff {
        let (mut low, mut high, mut all) = (u64::MAX, 0, 0);
        for x in h {
            let x = x.wrapping_add(offset);
            low = low.min(x);
            high = high.max(x);
            all |= x;
        }
        if all & 3 == 0
            && let Some(o) = region.locate(low, (high - low).saturating_add(4))
        {
            // Not by number: the compiler would load some lanes one by one, also for `classify`.
            for (n, x) in new.iter_mut().zip(h) {
                let Some(v) = word(bytes, o + (x.wrapping_add(offset) - low) as usize) else { return false };
                *n = v;
            }
            return true;
        }
    }
    for k in lanes_of(half) {
        let address = h[k & (HALF - 1)].wrapping_add(offset);
        let Some(v) = region.locate(address, 4).filter(|_| address & 3 == 0).and_then(|o| word(bytes, o)) else {
            return false;
        };
        new[k & (HALF - 1)] = v;
    }
    true
}

/// A store. Lanes that write one location take effect in ascending order: the highest survives.
#[inline(always)]
fn store<V: Simd, S: Sink>(
    simd: V,
    arena: &mut Arena,
    on: Active<'_, '_>,
    site: Plain32,
    known: [Stride; 2],
    cx: &mut Cx<'_, S>,
) -> Taken {
    let Active { at, mask, lanes, regs, near } = on;
    let offset = i64::from(site.offset).cast_unsigned();
    let global = site.space == Space::Global;
    let room = if global { Room::ALL } else { near.root.room() };
    let begin = u64::from(room.begin);
    let offset = offset.wrapping_sub(begin);
    let len = if global { 0 } else { words_of(near.shared, room).len() as u64 };
    let a = site.a.index();
    for g in 0..LANES / HALF {
        let half = mask >> (g * HALF) & 0xffff;
        if half == 0 {
            continue;
        }
        let lanes = half_of(&lanes.0, g);
        let h = half_of(&regs.q[a].0, g);
        let data = half_of(&regs.w[site.d.index()].0, g);
        let stride = if S::ON {
            known[g].moved(begin.wrapping_neg())
        } else {
            classify(simd, h, half, &cx.tables, lanes, offset)
        };
        if let Stride::Row(row) = stride
            && row & 3 == 0
        {
            let table = if global { Some(&*arena) } else { None };
            let mut region = Region { arena: table, hint: cx.hints.at(at.pc), len, need: Hint::WRITE };
            if let Some(o) = region.locate(row, ROW) {
                let bytes = if global { &mut arena.bytes[..] } else { from(near.shared, room) };
                if let Some(chunk) = bytes.get_mut(o..).and_then(|b| b.first_chunk_mut()) {
                    if half == 0xffff {
                        *chunk = unwords(data);
                    } else {
                        let mut new = words(chunk);
                        blend(&mut new, data, half, lanes);
                        *chunk = unwords(&new);
                    }
                    continue;
                }
            }
        }
        for k in lanes_of(half) {
            let address = h[k & (HALF - 1)].wrapping_add(offset);
            let table = if global { Some(&*arena) } else { None };
            let mut region = Region { arena: table, hint: cx.hints.at(at.pc), len, need: Hint::WRITE };
            let place = region.locate(address, 4).filter(|_| address & 3 == 0);
            let bytes = if global { &mut arena.bytes[..] } else { from(near.shared, room) };
            let Some(chunk) = place.and_then(|o| bytes.get_mut(o..)).and_then(|b| b.first_chunk_mut::<4>()) else {
                return Err(fault(arena, mask, &site.request(), regs, near));
            };
            *chunk = data[k & (HALF - 1)].to_le_bytes();
        }
    }
    Ok(())
}

/// Tells the observer the footprints; gives how the addresses of each half lie in their memory.
#[inline(always)]
fn tell<V: Simd, S: Sink>(
    simd: V,
    arena: &Arena,
    on: &Active<'_, '_>,
    site: Plain32,
    cx: &mut Cx<'_, S>,
) -> Result<[Stride; 2], Box<Fault>> {
    let Active { at, mask, lanes, regs, near } = on;
    let window = if site.space == Space::Shared { near.map.shared } else { 0 };
    let offset = i64::from(site.offset).cast_unsigned();
    let shift = window.wrapping_add(offset);
    let base = &regs.q[site.a.index()].0;
    let mut found = [Stride::Mixed; 2];
    for g in 0..LANES / HALF {
        let half = *mask >> (g * HALF) & 0xffff;
        if half != 0 {
            found[g] = classify(simd, half_of(base, g), half, &cx.tables, half_of(&lanes.0, g), offset);
        }
    }
    let quiet = cx.sink.quiet(at.pc);
    if quiet.bytes != 0 {
        // The other way round than the addresses: those of the registers stay as they are.
        let quiet = Extent { first: quiet.first.wrapping_sub(shift), ..quiet };
        let strides = found.map(|stride| stride.moved(offset.wrapping_neg()));
        if quiet.outside((base, strides, 4), *mask) == 0 {
            return Ok(found);
        }
    }
    let mut addresses = *base;
    addresses.iter_mut().for_each(|x| *x = x.wrapping_add(shift));
    let access = Access {
        pc: at.pc,
        lanes: *mask,
        together: *mask,
        element: 0,
        kind: site.op.kind(),
        addresses: &addresses,
        strides: found.map(|stride| stride.moved(window)),
        bytes: 4,
        regs,
        memory: arena.contents(near),
        access_id: None,
    };
    hand_on(*at, &access, cx)?;
    Ok(found)
}

/// The words of shared memory that an instruction may access.
#[inline(always)]
fn words_of(shared: &[u8], room: Room) -> &[u8] {
    let rest = shared.get(room.begin as usize..).unwrap_or(&[]);
    rest.get(..room.bytes as usize).unwrap_or(rest)
}

/// Shared memory from the first of them on.
#[inline(always)]
fn from(shared: &mut [u8], room: Room) -> &mut [u8] {
    shared.get_mut(room.begin as usize..).unwrap_or(&mut [])
}
