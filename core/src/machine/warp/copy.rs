//! Asynchronous copies: how they begin, become groups and are waited for (D-async).

use crate::base::expand;
use crate::machine::control::Control;
use crate::machine::warp::guarded::near;
use crate::machine::warp::slow_path::{Rare, Trouble};
use crate::memory::copies::begin::{arrive_later, look_at_source, take_in};
use crate::memory::copies::bulk::{begin_bulk, look_at_bulk};
use crate::memory::{Active, Memory};
use crate::program::instr::{BulkPart, Op};
use crate::verdict::Sink;

impl<C: Control, M: Memory, S: Sink> Rare<'_, '_, '_, C, M, S> {
    /// `cp.async` and what belongs to it (PTX ISA 9.7.9.25.3).
    pub fn copy(&mut self) -> Result<(), Trouble> {
        let (i, env, pc) = (self.i, self.sh.env, self.flow.pc);
        match i.op {
            Op::CopyCommit => self.mem.commit(self.sh.who, self.m, false),
            Op::BulkCommit => self.mem.commit(self.sh.who, self.m, true),
            // Whoever comes here has no copies in flight that it waits for.
            Op::CopyWait | Op::BulkWait { .. } => {}
            _ => {
                let lanes = expand(self.m, &self.cx.tables);
                let at = self.sh.issuer(pc, self.flow.depth);
                let near = &mut near(self.sh, self.local, pc, self.mem);
                let on = Active { at, mask: self.m, lanes: &lanes, regs: self.regs, near };
                if let (Op::Bulk(part), Some(bulk)) = (i.op, env.bulk(i)) {
                    match (part, bulk.request(part)) {
                        (BulkPart::Begin, _) => begin_bulk(self.mem, on, (bulk, i.b), self.cx)?,
                        (_, Some(side)) => look_at_bulk(self.mem.arena(), on, (side, i.b), self.cx)?,
                        (_, None) => {}
                    }
                    return Ok(());
                }
                match (env.copy(i), env.request(i)) {
                    (_, Some(at)) if i.op == Op::CopyArrive => arrive_later(self.mem, on, &at, self.cx)?,
                    (Some((from, to)), _) => take_in(self.mem, on, (from, to, i.b), self.cx)?,
                    (None, Some(from)) => look_at_source(self.mem.arena(), on, (&from, i.b), self.cx)?,
                    (None, None) => {}
                }
            }
        }
        Ok(())
    }
}
