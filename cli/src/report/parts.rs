//! What the reports of several commands have in common.

use super::memory::Environment;
use serde::Serialize;
use serde_json::Value;

/// The exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("enum" = [0, 1, 2, 3, 4, 101])))]
pub struct Exit(pub u8);

/// The races of a run. Only with `--check races`.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Races {
    /// Each pair of instructions once.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::report::data::Stopped<'_>>"))]
    pub races: Vec<Value>,
    /// Volatile data that nothing orders: warnings.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::report::diagnostic::Message<'_>>"))]
    pub unordered: Vec<Value>,
    /// Races that are no defects (--benign).
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::report::data::Stopped<'_>>"))]
    pub benign_races: Vec<Value>,
}

/// What flags of a command add to its report.
#[derive(Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Extra {
    /// The memory environment after steps of memory. Only with `--show memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Vec<Environment>>,
    /// Entries of the suppression file that nothing matched. Only with `--suppressions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<crate::report::diagnostic::Message<'_>>>"))]
    pub unused_suppressions: Option<Vec<Value>>,
}
