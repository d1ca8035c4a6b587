//! What native code calls back for: accesses and operations that it has no instructions for, and where blocks of memory are.

use super::each::{Access, Each, What};
use super::host::Host;
use crate::base::mutant::{Mutant, on};
use crate::base::{Best, Frame, LaneMask, Pc, expand, lanes_of};
use crate::machine::warp::exchange;
use crate::machine::warp::guarded::{guarded, near};
use crate::machine::warp::state::Shared;
use crate::memory::flat::Does;
use crate::memory::{Active, Cx, Fault, LocalMemory, Memory};
use crate::program::env::ProgEnv;
use crate::program::instr::{Instr, Op, Slot};
use crate::verdict::{Extent, Row, Sink, Who};
use pulp::{Simd, WithSimd};

/// What a warp runs on beside its registers.
pub(super) struct Calls<'a, 'l, 'c, M, S> {
    pub sh: &'a mut Shared<'l>,
    pub mem: &'a mut M,
    pub cx: &'a mut Cx<'c, S>,
    /// By site: the instructions whose accesses it is for, in the code for all lanes and in that for some.
    pub sites: [&'a [Vec<u32>]; 2],
    /// Depth of the call stack.
    pub depth: u32,
    /// Why an instruction failed.
    pub fault: Option<Box<Fault>>,
}

impl<M: Memory, S: Sink> Host for Calls<'_, '_, '_, M, S> {
    fn place(&mut self) -> usize {
        self.mem.arena_mut().begin(self.sh.who)
    }

    fn shared(&mut self) -> &mut [u8] {
        self.sh.shared
    }

    fn plain(&mut self, on: (u32, &mut Frame, &mut LocalMemory), pc: u32, mask: LaneMask) -> bool {
        let (warp, regs, local) = on;
        self.sh.who.warp = warp;
        let env = self.sh.env;
        let Some(i) = env.code.get(pc as usize) else { return true };
        match i.op {
            Op::Exchange | Op::WarpSync => return all_at_once(env, i, mask, self.sh.loaded.warp_size, regs),
            Op::Fence { scope, order } => {
                let at = self.sh.issuer(pc, self.depth);
                self.fault = self.mem.fence(at, mask, scope, order, self.cx).err();
                return self.fault.is_none();
            }
            Op::ProxyFence | Op::Nop | Op::Nanosleep => return true,
            _ => {}
        }
        let lanes = expand(mask, &self.cx.tables);
        let at = self.sh.issuer(pc, self.depth);
        let near = &mut near(self.sh, local, pc, self.mem);
        let on = Active { at, mask, lanes: &lanes, regs, near };
        self.fault = Best::hand(Plainly { env, i, on, mem: &mut *self.mem, cx: &mut *self.cx }).err();
        self.fault.is_none()
    }

    fn block(&mut self, (some, site): (bool, u32), address: u64, bytes: u64, unit: u32) -> Option<(u64, usize, u64)> {
        let owners = self.sites[usize::from(some)].get(site as usize)?;
        let all = owners.iter().map(|pc| does(self.sh.env, *pc));
        let (begin, place, len) = self.mem.arena_mut().block_to_use(address, bytes, Does::all(all))?;
        if !S::ON || on(Mutant::NativeQuiet) {
            return Some((begin, place, len));
        }
        let all = Extent { first: begin, bytes: len };
        let quiet = owners.iter().fold(all, |quiet, pc| quiet.and(self.cx.sink.quiet(Pc(*pc))));
        let from = (quiet.first - begin).next_multiple_of(unit.into());
        let to = (quiet.first - begin).saturating_add(quiet.bytes);
        let inside = address.checked_sub(begin)?;
        let holds = from <= inside && inside.saturating_add(bytes) <= to && from <= to && to <= len;
        holds.then_some((begin + from, place + from as usize, to - from))
    }

    fn note(&mut self, warp: u32, rows: &[Row]) -> bool {
        let who = Who { warp, ..self.sh.who };
        self.cx.sink.rows(who, rows) == rows.len()
    }
}

/// What an access does that native code makes itself.
fn does(env: &ProgEnv, pc: u32) -> Does {
    let i = env.code.get(pc as usize);
    let access = i.and_then(|i| Access::of(i, env)).map(|access| if access.load { What::Load } else { What::Store });
    match access.or_else(|| Some(Each::of(i?, env)?.what)) {
        Some(What::Load) => Does::LOADS,
        Some(What::Store) => Does::STORES,
        Some(What::Atomic(..)) | None => Does::BOTH,
    }
}

/// An instruction for some lanes, on the vector units that there are.
struct Plainly<'a, 'n, 'c, M, S> {
    env: &'a ProgEnv,
    i: &'a Instr,
    on: Active<'a, 'n>,
    mem: &'a mut M,
    cx: &'a mut Cx<'c, S>,
}

impl<M: Memory, S: Sink> WithSimd for Plainly<'_, '_, '_, M, S> {
    type Output = Result<(), Box<Fault>>;

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) -> Self::Output {
        let Self { env, i, on, mem, cx } = self;
        guarded(simd, env, i, on, mem, cx)
    }
}

/// Executes an exchange, or a `bar.warp.sync`, for lanes that name all of themselves and nobody else. False: they do not, and nothing
/// has been done.
fn all_at_once(env: &ProgEnv, i: &Instr, lanes: LaneMask, size: u32, regs: &mut Frame) -> bool {
    let named = |slot: Slot, regs: &Frame| {
        let masks = &regs.w[slot.index()].0;
        if lanes == !0 { masks.iter().all(|m| *m == !0) } else { lanes_of(lanes).all(|l| masks[l] == lanes) }
    };
    let Some(what) = env.exchange(i) else { return i.op == Op::WarpSync && named(i.a, regs) };
    let there = !what.sync || named(i.e, regs);
    if there {
        exchange::run(what.kind, i, lanes, size, regs);
    }
    there
}
