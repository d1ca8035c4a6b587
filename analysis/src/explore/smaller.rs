//! What is tried where a limit ended a search: a smaller question, which may have an answer.

use super::Target;
use super::proof::{Proof, Prove, Proved, Smaller};
use super::space::Options;
use crate::check::Observers;
use crate::machine::Launch;
use crate::verdict::LimitKind;

/// A launch with fewer blocks and threads.
fn fewer(launch: &Launch, most: u32) -> Launch {
    // The first dimension is the one along which most programs tell their threads apart.
    let of = |[x, y, z]: [u32; 3]| {
        let x = x.min(most);
        let y = y.min((most / x).max(1));
        [x, y, z.min((most / (x * y)).max(1))]
    };
    Launch { grid: of(launch.grid), block: of(launch.block), ..launch.clone() }
}

impl Target {
    /// Asks again with two blocks of two threads, with four of four, and so on, until a limit of `options` ends it or a defect is
    /// found. Gives the largest question that was answered.
    pub fn ask_less(
        &self,
        how: Prove,
        options: &mut Options<'_>,
        observers: &dyn Fn() -> Observers,
    ) -> Option<Smaller> {
        let mut answered = None;
        for most in (1..16).map(|k| 1 << k) {
            let launches: Vec<_> = self.launches().iter().map(|launch| fewer(launch, most)).collect();
            if launches == self.launches() {
                break;
            }
            let count =
                |of: fn(&Launch) -> [u32; 3]| launches.iter().map(|l| of(l).iter().product()).max().unwrap_or(0);
            let (blocks, threads) = (count(|l| l.grid), count(|l| l.block));
            // A kernel may ask for as many threads as it was launched with.
            let Ok(Proof { proved, counts, .. }) = self.shrunk(launches).prove(how, options, observers) else { break };
            let holds = match proved {
                Proved::Holds => true,
                Proved::Refuted => false,
                Proved::Limit(_) => break,
            };
            answered = Some(Smaller { blocks, threads, holds, states: counts.states });
            if !holds {
                break;
            }
        }
        answered
    }
}

/// Whether it makes sense to ask less where this limit ended a search.
#[must_use]
pub const fn may_be_less(limit: LimitKind) -> bool {
    matches!(limit, LimitKind::States(_) | LimitKind::Steps(_) | LimitKind::Time(_) | LimitKind::Search { .. })
}
