//! Accesses that are told as rows: what the cells of the shadow say of them without more being known.
//!
//! As [`access`](super::access) would: the same cells are asked in the same order, so that what is noted here cannot be told from
//! what is noted there. Where a cell objects, the access is told once more with all that belongs to it, and is looked at from its
//! beginning; the cells that had no objection find their own lanes there, and have none again.

use super::pattern::{FULL, HALF};
use super::quiet::Quiet;
use super::shadow::Shadow;
use super::sites::{AccessSite, Site, access_at};
use super::view::View;
use super::watch::Watch;
use crate::base::LaneMask;
use crate::program::instr::Space;
use crate::verdict::{AccessKind, Row, Who};

/// Bytes of a row of the shadow.
const ROW: u64 = 4 * HALF as u64;

impl Watch {
    /// Takes note of accesses of a warp, in their order, up to the first of which there is something to be told; gives how many
    /// that are.
    pub fn rows(&mut self, who: Who, rows: &[Row], sites: &[Site], quiet: &Quiet) -> usize {
        let (Some(at), Some(launch)) = (self.block(who), self.launch) else { return rows.len() };
        let warp = who.warp as usize;
        let Some(w) = self.blocks[at].as_mut().and_then(|block| block.warps.get_mut(warp)) else { return rows.len() };
        if !w.agrees() || self.copies.looks_at_all() {
            return 0;
        }
        let mut view = self.view_of((launch, at, warp), 0);
        for (done, row) in rows.iter().enumerate() {
            let Some(site) = access_at(sites, row.pc()) else { continue };
            if !site.is_word() || site.copies.is_some() || site.kind != row.kind() || quiet.strays(row, site) {
                return done;
            }
            let Some(block) = self.blocks[at].as_mut() else { return done };
            if let Some(w) = block.warps.get_mut(warp) {
                w.touched |= row.lanes;
            }
            let shared = site.space == Space::Shared;
            view.expired = block.expired(shared || launch.one_block);
            let shadow = if shared { &mut block.shared } else { &mut self.global };
            if !noted(shadow, &view, row, site) {
                return done;
            }
        }
        rows.len()
    }
}

/// Takes note of a row, if all is well with it.
#[inline(always)]
fn noted(shadow: &mut Shadow, view: &View, row: &Row, site: &AccessSite) -> bool {
    let [low, high] = row.first;
    let both = row.half(0) != 0 && row.half(1) != 0;
    if site.kind == AccessKind::Write && (row.step == 0 || both && meet(row)) {
        return false;
    }
    // Lanes of both halves that read one word, or one row, are noted as one.
    let whole_row = row.lanes == !0 && row.step != 0 && low == high && low.is_multiple_of(ROW);
    if whole_row && whole(shadow, view, row, low, 1 | 1 << HALF) {
        return true;
    }
    if let Some(address) = common(row).filter(|_| both) {
        return one(shadow, view, row, address, row.lanes);
    }
    (0..2).all(|half| {
        let (first, lanes) = (row.first[half], row.lanes & FULL << (half * HALF));
        if lanes == 0 {
            return true;
        }
        if row.step == 0 {
            return one(shadow, view, row, first, lanes);
        }
        let full = row.half(half) == FULL && first.is_multiple_of(ROW) && !whole_row;
        full && whole(shadow, view, row, first, 1 << (half * HALF)) || apart(shadow, view, row, lanes)
    })
}

/// Whether lanes of both halves may access a word in common, as far as their rows tell.
#[inline(always)]
const fn meet(row: &Row) -> bool {
    let [low, high] = row.first;
    let rows = low.is_multiple_of(ROW) && high.is_multiple_of(ROW) && low != high;
    !rows && (high < low || high - low < ROW)
}

/// The one address of all lanes of both halves.
#[inline(always)]
fn common(row: &Row) -> Option<u64> {
    let single = |half: usize| row.step == 0 || row.half(half).is_power_of_two();
    if !single(0) || !single(1) {
        return None;
    }
    let of = |half: usize| row.address(row.half(half).trailing_zeros() as usize % HALF + half * HALF);
    Some(of(0)).filter(|address| *address == of(1))
}

/// Half a warp accesses a row of the shadow; `lanes` are those of its first word.
#[inline(always)]
fn whole(shadow: &mut Shadow, view: &View, row: &Row, address: u64, lanes: LaneMask) -> bool {
    shadow.row(address, view, |cell, spill| match row.kind() {
        AccessKind::Read => cell.read(view, lanes, row.pc(), spill),
        _ => cell.write(view, lanes.trailing_zeros(), row.pc(), spill),
    })
}

/// Lanes read one word. Where words are shadowed by bytes, that is looked at otherwise.
#[inline(always)]
fn one(shadow: &mut Shadow, view: &View, row: &Row, address: u64, lanes: LaneMask) -> bool {
    let Some((cells, spill)) = shadow.words(address).filter(|_| address.is_multiple_of(4)) else { return false };
    cells[(address / 4) as usize % HALF].read(view, lanes, row.pc(), spill)
}

/// Lanes access a word each: those of one row of the shadow after one look for it.
fn apart(shadow: &mut Shadow, view: &View, row: &Row, lanes: LaneMask) -> bool {
    let mut rest = lanes;
    while rest != 0 {
        let place = row.address(rest.trailing_zeros() as usize) / ROW;
        let Some((cells, spill)) = shadow.words(place * ROW) else { return false };
        while rest != 0 {
            let lane = rest.trailing_zeros();
            let (address, bit) = (row.address(lane as usize), 1 << lane);
            if address / ROW != place {
                break;
            }
            let cell = &mut cells[(address / 4) as usize % HALF];
            let noted = address.is_multiple_of(4)
                && match row.kind() {
                    AccessKind::Read => cell.read(view, bit, row.pc(), spill),
                    _ => cell.write(view, lane, row.pc(), spill),
                };
            if !noted {
                return false;
            }
            rest &= rest - 1;
        }
    }
    true
}
