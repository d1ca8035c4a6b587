//! What somebody who observes a kernel has to be told of it while it runs natively (D-native-checks).
//!
//! An observer says of each instruction where its accesses need not be told ([`Needs::quiet`]). Those are made as if nobody
//! observed: a site never leads outside of that range, so that an access which leaves it is the interpreter's. The others are told
//! as rows ([`Row`](crate::verdict::Row)) behind all checks of their segment: what is not taken note of leaves the segment to the
//! interpreter, before anything was done. Accesses that are no rows of words are made by way of the machine, which tells them.

use super::each::{Access, Each};
use crate::base::Pc;
use crate::machine::grid::loaded::Loaded;
use crate::program::env::ProgEnv;
use crate::program::instr::{Instr, Op};
use crate::verdict::{Extent, Needs};
use std::collections::BTreeSet;

/// What is told of a kernel, by instruction from its start. Nothing, where nobody observes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Watch {
    /// Accesses that are told.
    accesses: BTreeSet<usize>,
    /// Instructions whose steps are told, but for exits, which are the machine's.
    steps: BTreeSet<usize>,
}

impl Watch {
    /// Of a launch that somebody observes who needs this.
    pub fn of(needs: &Needs, env: &ProgEnv, loaded: &Loaded) -> Self {
        let Some(function) = env.function(loaded.entry) else { return Self::default() };
        let range = function.start.0..function.end.0;
        let code = range.clone().zip(env.code.get(range.start as usize..range.end as usize).unwrap_or_default());
        let mut watch = Self::default();
        for (k, (pc, i)) in code.enumerate() {
            let stepped = needs.steps.as_ref().is_none_or(|steps| steps.contains(pc as usize));
            if stepped && i.op != Op::Exit {
                watch.steps.insert(k);
            }
            let quiet = needs.quiet.get(pc as usize).copied().unwrap_or_default();
            if is_told(i, Pc(pc), quiet, env, loaded) {
                watch.accesses.insert(k);
            }
        }
        watch
    }

    /// Whether an access is told.
    pub fn tells(&self, k: usize) -> bool {
        self.accesses.contains(&k)
    }

    /// Whether the step of an instruction is told.
    pub fn steps(&self, k: usize) -> bool {
        self.steps.contains(&k)
    }
}

/// Whether an access that native code may make itself is told; `quiet`: where it need not be.
fn is_told(i: &Instr, pc: Pc, quiet: Extent, env: &ProgEnv, loaded: &Loaded) -> bool {
    let plain = Access::of(i, env).map(|access| access.shared);
    let Some(shared) = plain.or_else(|| Each::of(i, env).map(|each| each.shared)) else { return false };
    if !shared {
        return quiet.bytes == 0;
    }
    // Native code holds it in the room that its address was made for, whoever observes: that has to be enough.
    let room = env.root(pc).room();
    let bytes = loaded.shared_bytes.saturating_sub(room.begin).min(room.bytes);
    let room = Extent { first: env.addresses().shared + u64::from(room.begin), bytes: bytes.into() };
    bytes == 0 || quiet.and(room) != room
}
