//! Definedness through exchanges between lanes, and through barriers that reduce.

use super::cause::Cause;
use super::shadow::{Bytes, DEFINED, Regs, whole};
use crate::base::{Frame, LANES, LaneMask, Pc, lanes_of};
use crate::machine::{Sources, shuffle_sources};
use crate::program::instr::{ExchangeKind, Instr, Slot};
use crate::program::ops::Class;

/// Who exchanges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchanging {
    /// The instruction.
    pub pc: Pc,
    /// The lanes that take part.
    pub lanes: LaneMask,
    /// The lanes that the warp has.
    pub size: u32,
}

/// Carries definedness through an exchange; `regs` are the registers before it.
pub(super) fn run(kind: ExchangeKind, i: &Instr, who: Exchanging, regs: &Frame, shadow: &mut Regs) {
    let Exchanging { lanes, size, .. } = who;
    let second = Slot((i.imm >> 16) as u16);
    // All lanes get the same: defined when it is so in every lane that takes part.
    let agreed = |m: LaneMask| if m & lanes == lanes { DEFINED } else { [0; 8] };
    let (class, (_, dest, beside)) = (operand(kind), kind.shape());
    let causes = causes(kind, i, who, regs, shadow);
    // The result, and the predicate beside it.
    let (result, predicate) = match kind {
        ExchangeKind::ShflUp | ExchangeKind::ShflDown | ExchangeKind::ShflBfly | ExchangeKind::ShflIdx => {
            let data = shadow.get(Class::W, i.a);
            let how = whole(&shadow.get(Class::W, i.b)) & whole(&shadow.get(Class::W, i.c));
            // What comes from a lane that takes no part is undefined (D-shuffle).
            let Sources { from, absent, .. } = shuffle_sources(kind, i, lanes, size, regs);
            let mut result = DEFINED;
            for (d, a) in result.iter_mut().zip(&data).take(4) {
                let known = lanes_of(lanes & !absent).filter(|l| a >> (from[*l] % LANES) & 1 == 1);
                *d = known.fold(0, |m, l| m | 1 << l) & how;
            }
            (result, Some([how; 8]))
        }
        ExchangeKind::VoteAll | ExchangeKind::VoteAny | ExchangeKind::VoteUni => {
            let known = shadow.get(Class::P, i.a)[0] & lanes;
            let votes = regs.p.get(i.a.index()).copied().unwrap_or(0);
            // One defined vote may decide alone.
            let decided = match kind {
                ExchangeKind::VoteAll => known & !votes != 0,
                ExchangeKind::VoteAny => known & votes != 0,
                _ => known & votes != 0 && known & !votes != 0,
            };
            (if decided { DEFINED } else { agreed(known) }, None)
        }
        ExchangeKind::VoteBallot => {
            let bad = lanes & !shadow.get(Class::P, i.a)[0];
            let mut result: Bytes = DEFINED;
            for (k, d) in result.iter_mut().enumerate().take(4) {
                if bad >> (8 * k) & 0xff != 0 {
                    *d = 0;
                }
            }
            (result, None)
        }
        ExchangeKind::Elect | ExchangeKind::ActiveMask => (DEFINED, beside.then_some(DEFINED)),
        _ => {
            let result = agreed(whole(&shadow.get(class, i.a)));
            (result, beside.then_some(result))
        }
    };
    shadow.put(dest, i.d, lanes, &result);
    if let Some(predicate) = predicate {
        shadow.put(Class::P, second, lanes, &predicate);
        shadow.blame(Class::P, second, causes.iter().copied());
    }
    shadow.blame(dest, i.d, causes);
}

/// The class of what lanes give for the exchange, where they give something.
fn operand(kind: ExchangeKind) -> Class {
    kind.shape().0.first().copied().unwrap_or(Class::W)
}

/// Why the result of an exchange is not defined in each lane, if it is not: why the source of a shuffle is not; otherwise
/// why the first lane's operand that is not.
fn causes(kind: ExchangeKind, i: &Instr, who: Exchanging, regs: &Frame, shadow: &Regs) -> Vec<(usize, Cause)> {
    use ExchangeKind as E;
    let Exchanging { pc, lanes, size } = who;
    if let E::Elect | E::ActiveMask = kind {
        return Vec::new();
    }
    let class = operand(kind);
    let bad = |lane: &usize| whole(&shadow.get(class, i.a)) >> lane & 1 == 0;
    if kind.is_shuffle() {
        let Sources { from, absent, .. } = shuffle_sources(kind, i, lanes, size, regs);
        let cause = |lane: usize| {
            if absent >> lane & 1 == 1 {
                return Some((lane, Cause::Absent { shuffle: pc }));
            }
            let how = [i.b, i.c].into_iter().find(|s| whole(&shadow.get(Class::W, *s)) >> lane & 1 == 0);
            let source = from[lane] % LANES;
            match how {
                Some(slot) => Some((lane, shadow.cause(Class::W, slot, lane, pc))),
                None => bad(&source).then(|| (lane, shadow.cause(class, i.a, source, pc))),
            }
        };
        return lanes_of(lanes).filter_map(cause).collect();
    }
    let first = lanes_of(lanes).find(bad).map(|lane| shadow.cause(class, i.a, lane, pc));
    first.into_iter().flat_map(|cause| lanes_of(lanes).map(move |lane| (lane, cause))).collect()
}

/// A barrier with a reduction that is under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Reduction {
    /// Warp, depth, slot and lanes of each result to come.
    pub waiting: Vec<(u32, u32, Class, Slot, LaneMask)>,
    /// Why a predicate was undefined, if one was.
    pub tainted: Option<Cause>,
}
