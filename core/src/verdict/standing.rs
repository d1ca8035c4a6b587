//! Where the warps were when a run was ended from outside.

use super::{Place, WaitingFor};
use serde::{Serialize, Serializer};

/// Live lanes that stand at one instruction, of all warps of a launch.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Standing {
    /// The instruction, and those of the first warp that stand there.
    #[serde(serialize_with = "instruction")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::base::Pc"))]
    pub place: Place,
    /// What they wait for.
    #[serde(rename = "waiting_for")]
    pub on: Option<WaitingFor>,
    /// How many lanes there are, of how many warps, of how many blocks.
    pub lanes: u64,
    /// See `lanes`.
    pub warps: u64,
    /// See `lanes`.
    pub blocks: u64,
}

fn instruction<S: Serializer>(place: &Place, serializer: S) -> Result<S::Ok, S::Error> {
    place.pc.serialize(serializer)
}
