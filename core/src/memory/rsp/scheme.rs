//! Table 3: what each operation of the language is compiled to.

use super::assembly::{Level, Reach};
use crate::base::words;
use serde::{Deserialize, Serialize};

/// Operations, as table 3 tells them apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the operations of section 2.2; an update is any read-modify-write")]
pub enum Kind {
    Load,
    Store,
    Update,
}

words! {
    /// How wide an operation is. Those at scope WG are as narrow as plain ones, remote or not.
    #[derive(Serialize, Deserialize)]
    pub enum Width {
        /// `na`, `WG`
        Narrow = "WG",
        /// `DV,N`
        Device = "DV",
        /// `DV,R`
        DeviceRemote = "DV,R",
        /// `ALL,N`
        All = "ALL",
        /// `ALL,R`
        AllRemote = "ALL,R",
    }
}

impl Width {
    /// The width of an atomic access.
    #[must_use]
    pub const fn of(scope: Reach, remote: bool) -> Self {
        match (scope, remote) {
            (Reach::Group, _) => Self::Narrow,
            (Reach::Device, false) => Self::Device,
            (Reach::Device, true) => Self::DeviceRemote,
            (Reach::System, false) => Self::All,
            (Reach::System, true) => Self::AllRemote,
        }
    }

    /// Where an update takes place.
    #[must_use]
    pub const fn level(self) -> Level {
        match self {
            Self::Narrow => L1,
            Self::Device | Self::DeviceRemote => L2,
            Self::All | Self::AllRemote => Global,
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Row {
    /// The operation.
    pub kind: Kind,
    /// How wide it is.
    pub width: Width,
}

impl Row {
    /// All rows.
    pub fn all() -> impl Iterator<Item = Self> {
        let kinds = [Kind::Load, Kind::Store, Kind::Update];
        kinds.into_iter().flat_map(|kind| Width::ALL.iter().map(move |width| Self { kind, width: *width }))
    }
}

/// An instruction of a row; that which accesses memory is the operation's own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the instructions of table 1")]
pub enum Step {
    Access,
    Flush(Level, Reach),
    Invalidate(Level, Reach),
    Lock,
    Unlock,
    LockRmw(Reach),
    UnlockRmw(Reach),
}

use Level::{Global, L1, L2};
use Reach::{Device as DV, Group as WG, System as SY};
use Step::{Access as Own, Flush as Flu, Invalidate as Inv, Lock, LockRmw, Unlock, UnlockRmw};

const LONE: &[Step] = &[Own];

words! {
    /// The columns of the table.
    pub enum SchemeName {
        /// What was published first.
        Original = "original",
        /// What the paper proposes.
        Proposed = "proposed",
    }
}

/// A compilation scheme.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scheme {
    rows: Vec<(Row, Vec<Step>)>,
}

/// The column `Original`: what a row is compiled to. It has nothing for scope ALL.
const fn original(row: Row) -> Option<&'static [Step]> {
    Some(match (row.kind, row.width) {
        (_, Width::Narrow) => LONE,
        (Kind::Load, Width::Device) => &[Inv(L1, WG), Own],
        (Kind::Load, Width::DeviceRemote) => &[Lock, Flu(L1, DV), Inv(L1, WG), Own, Unlock],
        (Kind::Store, Width::Device) => &[Flu(L1, WG), Own],
        (Kind::Store, Width::DeviceRemote) => &[Lock, Flu(L1, WG), Own, Inv(L1, DV), Unlock],
        (Kind::Update, Width::Device) => &[Flu(L1, WG), Inv(L1, WG), Own],
        (Kind::Update, Width::DeviceRemote) => {
            &[LockRmw(DV), Lock, Flu(L1, DV), Inv(L1, WG), Own, Inv(L1, DV), Unlock, UnlockRmw(DV)]
        }
        (_, Width::All | Width::AllRemote) => return None,
    })
}

/// The column `Proposed`, and rows of ours for scope ALL (D-rsp-all): L2 caches are invalidated before L1 caches, since those could be
/// filled again from what is stale in these.
const fn proposed(row: Row) -> &'static [Step] {
    match (row.kind, row.width) {
        (_, Width::Narrow) => LONE,
        (Kind::Load, Width::Device) => &[Own, Inv(L1, WG)],
        (Kind::Load, Width::DeviceRemote) => &[Own, Flu(L1, DV), Inv(L1, WG)],
        (Kind::Store, Width::Device) => &[Flu(L1, WG), Own],
        (Kind::Store, Width::DeviceRemote) => {
            &[LockRmw(DV), Flu(L1, DV), Inv(L1, DV), Own, Flu(L1, WG), Inv(L1, DV), UnlockRmw(DV)]
        }
        (Kind::Update, Width::Device) => &[Flu(L1, WG), Own, Inv(L1, WG)],
        (Kind::Update, Width::DeviceRemote) => {
            &[LockRmw(DV), Flu(L1, DV), Inv(L1, DV), Own, Flu(L1, DV), Inv(L1, DV), UnlockRmw(DV)]
        }
        (Kind::Load, Width::All) => &[Own, Inv(L2, DV), Inv(L1, WG)],
        (Kind::Load, Width::AllRemote) => &[Own, Flu(L1, SY), Flu(L2, SY), Inv(L2, DV), Inv(L1, WG)],
        (Kind::Store, Width::All) => &[Flu(L1, WG), Flu(L2, DV), Own],
        (Kind::Store, Width::AllRemote) => &[
            LockRmw(SY),
            Flu(L1, SY),
            Flu(L2, SY),
            Inv(L2, SY),
            Inv(L1, SY),
            Own,
            Flu(L1, WG),
            Flu(L2, DV),
            Inv(L2, SY),
            Inv(L1, SY),
            UnlockRmw(SY),
        ],
        (Kind::Update, Width::All) => &[Flu(L1, WG), Flu(L2, DV), Own, Inv(L2, DV), Inv(L1, WG)],
        (Kind::Update, Width::AllRemote) => &[
            LockRmw(SY),
            Flu(L1, SY),
            Flu(L2, SY),
            Inv(L2, SY),
            Inv(L1, SY),
            Own,
            Flu(L1, SY),
            Flu(L2, SY),
            Inv(L2, SY),
            Inv(L1, SY),
            UnlockRmw(SY),
        ],
    }
}

impl Scheme {
    /// The scheme of a name.
    #[must_use]
    pub fn of(name: SchemeName) -> Self {
        match name {
            SchemeName::Original => Self::original(),
            SchemeName::Proposed => Self::proposed(),
        }
    }

    /// What was published first (`Original`).
    #[must_use]
    pub fn original() -> Self {
        Self { rows: Row::all().filter_map(|row| Some((row, original(row)?.to_vec()))).collect() }
    }

    /// What the paper proposes (`Proposed`), extended to scope ALL.
    #[must_use]
    pub fn proposed() -> Self {
        Self { rows: Row::all().map(|row| (row, proposed(row).to_vec())).collect() }
    }

    /// What a row is compiled to; nothing where the scheme does not have it.
    #[must_use]
    pub fn row(&self, row: Row) -> Option<&[Step]> {
        self.rows.iter().find(|(r, _)| *r == row).map(|(_, steps)| steps.as_slice())
    }

    /// Its rows.
    pub fn rows(&self) -> impl Iterator<Item = (Row, &[Step])> {
        self.rows.iter().map(|(row, steps)| (*row, steps.as_slice()))
    }

    /// The scheme with other instructions for a row.
    #[must_use]
    pub fn with(mut self, row: Row, steps: Vec<Step>) -> Self {
        if let Some((_, kept)) = self.rows.iter_mut().find(|(r, _)| *r == row) {
            *kept = steps;
        }
        self
    }

    /// The scheme without an instruction of a row.
    #[must_use]
    pub fn without(&self, row: Row, position: usize) -> Self {
        let kept = |(k, step): (usize, &Step)| (k != position).then_some(*step);
        let steps = self.row(row).into_iter().flatten().enumerate().filter_map(kept).collect();
        self.clone().with(row, steps)
    }
}
