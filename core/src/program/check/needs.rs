//! What single modifiers need of version and target, beyond what the table of forms says.

use crate::program::forms::Need;
use crate::ptx::{Modifier, Opcode};

/// The first PTX version and target in which `opcode` may carry `modifier`.
#[must_use]
pub fn modifier_need(opcode: Opcode, modifier: Modifier) -> Option<Need> {
    use Modifier as M;
    let need = |major, minor, sm| Some(Need::new((major, minor), sm));
    match modifier {
        M::CLUSTER | M::SHARED_CLUSTER => need(7, 8, 90),
        M::SHARED_CTA => need(7, 8, 30),
        M::PARAM if matches!(opcode, Opcode::CVTA | Opcode::ISSPACEP) => need(7, 7, 70),
        M::PARAM_ENTRY if matches!(opcode, Opcode::CVTA | Opcode::ISSPACEP) => need(8, 3, 70),
        M::PARAM_ENTRY | M::PARAM_FUNC => need(8, 3, 0),
        M::L2_CACHE_HINT => need(7, 4, 80),
        M::L1_EVICT_NORMAL | M::L1_EVICT_UNCHANGED | M::L1_EVICT_FIRST | M::L1_EVICT_LAST | M::L1_NO_ALLOCATE => {
            need(7, 4, 70)
        }
        M::L2_64B | M::L2_128B => need(7, 4, 75),
        M::L2_256B => need(7, 4, 80),
        M::L2_EVICT_FIRST | M::L2_EVICT_LAST | M::L2_EVICT_NORMAL if matches!(opcode, Opcode::LD | Opcode::ST) => {
            need(8, 8, 100)
        }
        M::RELAXED | M::ACQUIRE | M::RELEASE | M::ACQ_REL if matches!(opcode, Opcode::ATOM | Opcode::RED) => {
            need(6, 0, 70)
        }
        M::CTA | M::GPU | M::SYS if matches!(opcode, Opcode::ATOM | Opcode::RED) => need(5, 0, 60),
        M::CTA if matches!(opcode, Opcode::BAR | Opcode::BARRIER) => need(7, 8, 30),
        M::ACQUIRE | M::RELEASE if opcode == Opcode::FENCE => need(8, 6, 90),
        M::B128 if matches!(opcode, Opcode::LD | Opcode::ST | Opcode::LDU) => need(8, 3, 70),
        M::F64 if matches!(opcode, Opcode::ATOM | Opcode::RED) => need(5, 0, 60),
        M::B16 if opcode == Opcode::ATOM => need(6, 3, 70),
        M::NAN_PROPAGATE => need(7, 0, 80),
        M::WEAK => need(6, 0, 70),
        M::UNIFIED => need(8, 0, 90),
        _ => None,
    }
}
