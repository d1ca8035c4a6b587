//! Which instructions others can notice, decided once per program.

use crate::base::mutant::{Mutant, on};
use crate::program::env::ProgEnv;
use crate::program::instr::{Instr, Op, Order, Space};

/// For each program address: how many instructions from there on nobody else can notice, up to and with the next that can
/// lead elsewhere. 0: the first can be noticed.
#[derive(PartialEq, Eq, Debug)]
pub(in crate::machine) struct Visible(Vec<u16>);

impl Visible {
    /// The table of a program. `warps_apart`: lanes of a warp never wait for each other (control model `crs`), so that
    /// exchanges are the warp's own affair. `ends`: the end of a thread can be noticed, because barriers count threads or a
    /// block waits for its place. `ordered`: so can whatever orders threads ([`Grain::Ordered`](crate::machine::walk::Grain)).
    pub fn of(env: &ProgEnv, warps_apart: bool, ends: bool, ordered: bool) -> Self {
        let meets = ordered && env.code.iter().any(|i| i.op == Op::WarpSync);
        let noticed = |instr: &Instr| match instr.op {
            Op::Fence { order: Order::Sc, .. } => ordered && !on(Mutant::FencesUnnoticed),
            Op::ProxyFence => ordered,
            Op::WarpSync | Op::Exit if meets => true,
            _ => noticed(env, instr, warps_apart, ends),
        };
        Self::up_to(env, noticed)
    }

    /// The table of a program where only accesses of shared memory take effect when they are executed (D-rsp-ptx-shared).
    pub fn of_shared(env: &ProgEnv) -> Self {
        Self::up_to(env, |instr| match instr.op {
            Op::Mem => {
                let space = env.requests.get(instr.imm as usize).map(|r| r.space);
                matches!(space, Some(Space::Shared | Space::Generic))
            }
            Op::LdShared32 | Op::StShared32 => true,
            _ => false,
        })
    }

    /// How many instructions there are from each on, up to the next that is noticed.
    fn up_to(env: &ProgEnv, noticed: impl Fn(&Instr) -> bool) -> Self {
        let mut table = vec![0u16; env.code.len()];
        let mut next = 0u16;
        for (length, instr) in table.iter_mut().zip(&env.code).rev() {
            *length = match noticed(instr) {
                true => 0,
                false if leads_away(instr.op) => 1,
                false => next.saturating_add(1),
            };
            next = *length;
        }
        Self(table)
    }

    /// Instructions from an address on that nobody can notice.
    #[inline(always)]
    pub fn hidden(&self, pc: u32) -> u32 {
        self.0.get(pc as usize).copied().unwrap_or(0).into()
    }
}

fn noticed(env: &ProgEnv, instr: &Instr, warps_apart: bool, ends: bool) -> bool {
    match instr.op {
        op if op.copies() || op.is_barrier() => true,
        Op::Mem => {
            let space = env.requests.get(instr.imm as usize).map(|r| r.space);
            !matches!(space, Some(Space::Param | Space::Const | Space::Local))
        }
        Op::LdGlobal32 | Op::StGlobal32 | Op::LdShared32 | Op::StShared32 => true,
        Op::Exchange | Op::Matrix | Op::WarpSync => !warps_apart,
        Op::Exit => ends,
        // Memory is made and freed, text is printed; a clock counts what others do.
        Op::Syscall(_) | Op::ReadSpecial(_) => true,
        // Where a run stops nobody does anything more, though others might have found another defect before.
        Op::Trap | Op::Brkpt | Op::Unsupported => true,
        _ => false,
    }
}

/// Whether the next instruction need not be the one behind it.
const fn leads_away(op: Op) -> bool {
    matches!(
        op,
        Op::Bra
            | Op::Brx
            | Op::Call
            | Op::CallIndirect
            | Op::Ret
            | Op::Exit
            | Op::Sync
            | Op::Break
            | Op::Trap
            | Op::Brkpt
            | Op::Unsupported
    )
}
