//! The models that come along.

use super::compile::compile;
use crate::axiom::model::Model;
use crate::base::FileId;
use std::sync::OnceLock;

/// Their names.
pub const BUILTIN: &[&str] =
    &["ptx-v6.0", "ptx-v7.5", "vulkan", "vulkan-nochains", "rsp", "rsp-figure2", "rsp-strict", "sc", "lsc", "slsc"];

/// Files by name, those that others include among them.
const FILES: &[(&str, &str)] = &[
    ("ptx-v6.0.cat", include_str!("../models/ptx-v6.0.cat")),
    ("ptx-v7.5.cat", include_str!("../models/ptx-v7.5.cat")),
    ("vulkan.cat", include_str!("../models/vulkan.cat")),
    ("vulkan-nochains.cat", include_str!("../models/vulkan-nochains.cat")),
    ("rsp.cat", include_str!("../models/rsp.cat")),
    ("rsp-figure2.cat", include_str!("../models/rsp-figure2.cat")),
    ("rsp-strict.cat", include_str!("../models/rsp-strict.cat")),
    ("sc.cat", include_str!("../models/sc.cat")),
    ("lsc.cat", include_str!("../models/lsc.cat")),
    ("slsc.cat", include_str!("../models/slsc.cat")),
    ("memory-order.cat", include_str!("../models/memory-order.cat")),
    ("lockstep-order.cat", include_str!("../models/lockstep-order.cat")),
    ("rsp-names.cat", include_str!("../models/rsp-names.cat")),
    ("rsp-axioms.cat", include_str!("../models/rsp-axioms.cat")),
    ("vulkan-common.cat", include_str!("../models/vulkan-common.cat")),
];

static MODELS: [OnceLock<Option<Model>>; BUILTIN.len()] = [const { OnceLock::new() }; BUILTIN.len()];

/// The text of a file that comes along, by its name, e.g. `vulkan-common.cat`.
#[must_use]
pub fn source(file: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == file).map(|(_, text)| *text)
}

/// A model that comes along, by its name.
#[must_use]
pub fn builtin(name: &str) -> Option<&'static Model> {
    let place = BUILTIN.iter().position(|known| *known == name)?;
    let make = || {
        let include = &mut |file: &str| Ok((FileId(0), source(file).ok_or("no such file")?.to_owned()));
        compile(name, FileId(0), source(&format!("{name}.cat"))?, include).ok()
    };
    MODELS[place].get_or_init(make).as_ref()
}
