//! Calls and indirect branches: each lane has a target.

use crate::base::{LANES, LaneMask, lanes_of};
use crate::machine::control::{Control, Next};
use crate::machine::warp::slow_path::{Did, Rare, Trouble, bug};
use crate::memory::{Fault, Memory};
use crate::program::env::FuncId;
use crate::program::instr::Op;
use crate::verdict::{BugKind, Sink, Stop};

impl<C: Control, M: Memory, S: Sink> Rare<'_, '_, '_, C, M, S> {
    /// `call`, direct and indirect, and `brx.idx`.
    ///
    /// Rule: thread.call
    #[inline(never)]
    pub fn transfer(&mut self) -> Result<Did, Trouble> {
        let (i, m, env) = (self.i, self.m, self.sh.env);
        if i.op == Op::Brx {
            let table = &env.tables[i.imm as usize][..];
            let index = &self.regs.w[i.a.index()].0;
            let count = u32::try_from(table.len()).unwrap_or(u32::MAX);
            if let Some(l) = lanes_of(m).find(|&l| index[l] >= count) {
                let bad = lanes_of(m).filter(|&l| index[l] >= count).fold(0, |m, l| m | 1 << l);
                return Err(bug(BugKind::BadBranchIndex { index: index[l], targets: count }, bad));
            }
            // Lanes that do not branch have none.
            let targets = index.map(|k| table.get(k as usize).copied().unwrap_or(0));
            return self.branch(&targets).map(Did::Control);
        }
        let id = if i.op == Op::Call {
            FuncId(i.imm)
        } else {
            let address = self.regs.q[i.a.index()].0;
            let lead = lanes_of(m).next().unwrap_or(0);
            if lanes_of(m).any(|l| address[l] != address[lead]) {
                return self.call_many(&address);
            }
            self.target(address[lead], m)?
        };
        let function = env.function(id).ok_or_else(lost)?;
        if !function.defined && is_device_runtime(&function.name) {
            let what =
                format!("`{}` of CUDA's device runtime (launches and synchronisation by a kernel)", function.name);
            return Err(Trouble::Unsupported(what));
        }
        if !function.defined {
            return Err(bug(BugKind::Undefined { function: function.name.clone() }, m));
        }
        let next = self.control.call(self.flow, m, function.start.0);
        Ok(Did::Enter(id, m, next))
    }

    /// The function at a code address.
    fn target(&self, address: u64, lanes: LaneMask) -> Result<FuncId, Trouble> {
        let map = self.sh.map;
        let found = self.sh.env.functions.values().position(|f| f.defined && map.code_of(f.start) == address);
        let id = found.and_then(|k| u32::try_from(k).ok()).map(FuncId);
        id.ok_or_else(|| bug(BugKind::BadCallTarget { address }, lanes))
    }

    /// Where a function begins that is there.
    fn start(&self, id: FuncId) -> Result<u32, Trouble> {
        self.sh.env.function(id).map(|f| f.start.0).ok_or_else(lost)
    }

    /// An indirect call with several targets: those of one target go now, the rest come back to this instruction.
    ///
    /// Rule: D-callframe (the frame is pushed for the lanes that go, not for all).
    fn call_many(&mut self, address: &[u64; LANES]) -> Result<Did, Trouble> {
        let m = self.m;
        for l in lanes_of(m) {
            self.target(address[l], 1 << l)?;
        }
        if C::JOINS {
            // Independent threads: the lanes of one target call now, the others stay at the instruction.
            let lead = lanes_of(m).next().unwrap_or(0);
            let same = lanes_of(m).filter(|&l| address[l] == address[lead]).fold(0, |s, l| s | 1 << l);
            let id = self.target(address[lead], same)?;
            let start = self.start(id)?;
            let next = self.control.call_some(self.flow, same, m, start);
            return Ok(Did::Enter(id, same, next));
        }
        let mut starts = [0; LANES];
        for l in lanes_of(m) {
            let id = self.target(address[l], 1 << l)?;
            starts[l] = self.start(id)?;
        }
        let (now, next) = self.control.scatter(self.flow, m, &starts, true, self.cx.oracle)?;
        let lead = lanes_of(now).next().unwrap_or(0);
        let id = self.target(address[lead], now)?;
        Ok(Did::Enter(id, now, next))
    }

    /// A branch with a target per lane.
    fn branch(&mut self, targets: &[u32; LANES]) -> Result<Next, Trouble> {
        let m = self.m;
        let lead = targets[lanes_of(m).next().unwrap_or(0)];
        if lanes_of(m).all(|l| targets[l] == lead) {
            if m == self.flow.mask {
                self.flow.pc = lead;
                return Ok(Next::Go);
            }
            return Ok(self.control.diverge(self.flow, m, lead));
        }
        Ok(self.control.scatter(self.flow, m, targets, false, self.cx.oracle)?.1)
    }
}

/// That a function is not there to which an instruction or an address of code leads.
#[track_caller]
fn lost() -> Trouble {
    Trouble::Fault(Fault::Stop(Stop::internal("a function that was looked up is not there", None)))
}

/// Whether a function belongs to CUDA's device runtime, by which kernels launch kernels (dynamic parallelism): its
/// functions begin with `__cudaCDP`, or are called as the host's are.
fn is_device_runtime(function: &str) -> bool {
    let host = function.strip_prefix("cuda").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    host || function.starts_with("__cudaCDP")
}
