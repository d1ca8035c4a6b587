//! Device descriptions: the constants of a device (report, figure 3.2) as TOML, over a preset.

use super::file::open;
use super::problem::{Problem, ProblemKind};
use super::toml::{Table, document};
use crate::base::SourceMap;
use crate::memory::fermi::model::{AcquireDiscards, DeviceModel};
use crate::memory::fermi::program::Fill;
use std::path::Path;

const ROOT: &[&str] = &[
    "name",
    "preset",
    "processors",
    "warp_size",
    "resident_blocks",
    "resident_threads",
    "concurrent_grids",
    "shared_bytes",
    "banks",
    "line_bytes",
    "l1",
    "l2",
    "on_chip_bytes",
    "prefer",
    "fill",
    "same_thread_order",
    "volatile_shared_order",
    "acquire_discards",
    "eager_local",
    "programs",
];
const CACHE: &[&str] = &["sets", "ways"];

/// The device of a preset's name or of a description: a `.toml` file. Its text is in `sources` then.
///
/// # Errors
/// No such preset or file; every problem of the file, with its place; the first thing that is impossible about the device.
pub fn device_model(name: &str, sources: &mut SourceMap) -> Result<DeviceModel, Vec<Problem>> {
    let path = Path::new(name);
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        let unknown = || ProblemKind::NoDevice { name: name.to_owned(), known: &DeviceModel::PRESETS }.into();
        return DeviceModel::preset(name).ok_or_else(unknown);
    }
    let file = open(path, sources)?;
    document(sources, file, "the device description", |root| {
        let model = read(root);
        if let Some((key, wanted)) = model.fault().filter(|_| root.all_is_well()) {
            let at = root.get(key).map_or(root.at, |item| item.at());
            root.problem(ProblemKind::Impossible { key, wanted: wanted.to_owned() }, at);
        }
        model
    })
}

fn read(root: &Table<'_, '_>) -> DeviceModel {
    root.only(ROOT);
    let mut model = preset(root).unwrap_or_else(DeviceModel::fermi);
    // The GTX 480 divides 64 KiB (report, figure 3.2: 16 or 48 KiB each); the other presets give sizes of their own.
    let divided = ["fermi", "report"].contains(&model.name.as_str()).then_some(64 << 10);
    if let Some(name) = root.text("name") {
        model.name = name;
    }
    if let Some((l1, shared)) = root.choice("prefer", &[("shared", (16, 48)), ("l1", (48, 16))]) {
        let way = model.l1.ways * model.line_bytes;
        model.l1.sets = (l1 << 10) / way.max(1);
        model.shared_bytes = shared << 10;
    }
    for (key, field) in [
        ("processors", &mut model.processors),
        ("warp_size", &mut model.warp_size),
        ("resident_blocks", &mut model.resident_blocks),
        ("resident_threads", &mut model.resident_threads),
        ("concurrent_grids", &mut model.concurrent_grids),
        ("shared_bytes", &mut model.shared_bytes),
        ("banks", &mut model.banks),
        ("line_bytes", &mut model.line_bytes),
    ] {
        set(field, root.number(key));
    }
    for (key, shape) in [("l1", &mut model.l1), ("l2", &mut model.l2)] {
        let Some(table) = root.get(key).and_then(|item| item.table()) else { continue };
        table.only(CACHE);
        set(&mut shape.sets, table.number("sets"));
        set(&mut shape.ways, table.number("ways"));
    }
    let on_chip = root.number("on_chip_bytes").or(divided);
    set(&mut model.fill, root.choice("fill", &[("line", Fill::Line), ("bytes", Fill::Bytes)]));
    let (never, sm70, always) = (AcquireDiscards::Never, AcquireDiscards::Sm70, AcquireDiscards::Always);
    let discards = root.choice("acquire_discards", &[("never", never), ("sm70", sm70), ("always", always)]);
    set(&mut model.acquire_discards, discards);
    for (key, field) in [
        ("same_thread_order", &mut model.same_thread_order),
        ("volatile_shared_order", &mut model.volatile_shared_order),
        ("eager_local", &mut model.eager_local),
    ] {
        set(field, root.get(key).map(|_| root.flag(key)));
    }
    if let Some(programs) = root.choice("programs", &[("fermi", "fermi"), ("report", "report")]) {
        programs.clone_into(&mut model.programs);
    }
    fits(root, &model, on_chip);
    model
}

/// The preset that a description is over.
fn preset(root: &Table<'_, '_>) -> Option<DeviceModel> {
    let item = root.get("preset")?;
    let name = item.text()?;
    let preset = DeviceModel::preset(&name);
    if preset.is_none() {
        item.problem(ProblemKind::NoDevice { name, known: &DeviceModel::PRESETS });
    }
    preset
}

fn set<T>(field: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *field = given;
    }
}

/// Complains of an L1 cache and shared memory that do not fit into the memory that they share.
fn fits(root: &Table<'_, '_>, model: &DeviceModel, on_chip: Option<u32>) {
    let l1 = u64::from(model.l1.sets) * u64::from(model.l1.ways) * u64::from(model.line_bytes);
    if let Some(all) = on_chip.filter(|all| l1 + u64::from(model.shared_bytes) > u64::from(*all)) {
        let wanted = format!(
            "at most {all} bytes together with the L1 cache, which share one memory: the L1 cache has {l1} bytes, shared memory {}",
            model.shared_bytes
        );
        let at = ["shared_bytes", "l1", "line_bytes", "on_chip_bytes"].iter().find_map(|k| root.get(k));
        root.problem(ProblemKind::Impossible { key: "shared_bytes", wanted }, at.map_or(root.at, |item| item.at()));
    }
}
