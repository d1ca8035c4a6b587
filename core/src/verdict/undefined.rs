//! Where undefined values come from (D-undefined).

use super::Inside;
use crate::base::Pc;
use serde::Serialize;

/// Where an undefined value comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A register that its thread had not written; its name, if it has one.
    Register(Option<String>),
    /// What a shuffle got from a lane that has exited, or that its member mask leaves out (D-shuffle).
    #[serde(rename = "shuffle")]
    Absent(Pc),
    /// A byte of memory that nobody had written.
    #[serde(untagged)]
    Memory {
        /// The byte, in the generic address space.
        address: u64,
        /// Where that is.
        inside: Inside,
        /// The instruction that read it.
        read: Pc,
        /// Who writes there.
        #[serde(flatten)]
        writers: Writers,
    },
}

/// Who would have written a byte of memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "written", content = "writers", rename_all = "lowercase")]
pub enum Writers {
    /// These instructions wrote other bytes of the same variable or buffer before.
    Beside(Vec<Pc>),
    /// None wrote to it before; these of the program write to its state space, or may.
    Later(Vec<Pc>),
    /// The program has no instruction that could.
    Nobody([Pc; 0]),
}
