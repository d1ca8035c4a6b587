//! The programs that come with warpstep.

/// The presets: their names, and their files.
type Preset = (&'static str, &'static [(&'static str, &'static str)]);

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../programs/", $name)))),*]
    };
}

const PRESETS: &[Preset] = &[
    (
        "fermi",
        files!("fermi/registers.memp" "fermi/global.memp" "fermi/local.memp" "fermi/shared.memp" "fermi/atomic.memp"),
    ),
    ("report", files!("report/listings.memp")),
    ("sm80", files!("sm80/shared.memp")),
    ("write-through", files!("write-through/global.memp")),
    ("invalidate", files!("invalidate/global.memp")),
];

/// The names of the presets.
pub fn presets() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The files of a preset: names and texts.
#[must_use]
pub fn preset_files(name: &str) -> Option<&'static [(&'static str, &'static str)]> {
    PRESETS.iter().find(|(n, _)| *n == name).map(|(_, files)| *files)
}
