//! Newtyped ids.

use serde::{Deserialize, Serialize, Serializer};

/// A source file of a [`SourceMap`](super::SourceMap).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A program address: an index into a program environment's instructions (the report's `ProgAddr`, 5.1.2).
///
/// As data it is an object with [`Pc::KEY`]: who knows the sources puts the instruction's place there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Address", into = "Address")]
pub struct Pc(pub u32);

/// A program address as data.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Address {
    #[serde(rename = "@instruction")]
    number: u32,
}

impl Pc {
    /// The key of the address in data.
    pub const KEY: &str = "@instruction";

    /// As data, the number alone.
    ///
    /// # Errors
    /// Those of the serialiser.
    pub fn number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl From<Pc> for Address {
    fn from(Pc(number): Pc) -> Self {
        Self { number }
    }
}

impl From<Address> for Pc {
    fn from(Address { number }: Address) -> Self {
        Self(number)
    }
}
