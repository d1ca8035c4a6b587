//! Device descriptions: the constants of a device (report, figure 3.2) as TOML, over a preset.

use super::file::text_of;
use super::problem::{Problem, ProblemKind};
use super::toml::{Table, document};
use crate::base::{FileId, SourceMap};
use crate::memory::fermi::model::{AcquireDiscards, CacheShape, DeviceModel};
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
        let unknown = || vec![ProblemKind::NoDevice { name: name.to_owned(), known: &DeviceModel::PRESETS }.at(None)];
        return DeviceModel::preset(name).ok_or_else(unknown);
    }
    let text = text_of(path).map_err(|p| vec![*p])?;
    let file = sources.add(path.display().to_string(), text);
    parse(sources.get(file).map_or("", |s| &s.text), file)
}

fn parse(text: &str, file: FileId) -> Result<DeviceModel, Vec<Problem>> {
    let table = document(text, file)?;
    let mut root = Table::root(&table, file);
    "the device description".clone_into(&mut root.name);
    let mut out = Vec::new();
    let model = read(&root, &mut out);
    if !out.is_empty() {
        return Err(out);
    }
    if let Some((field, wanted)) = model.fault() {
        let at = root.get(field).map_or(root.at, |v| root.place(v));
        return Err(vec![ProblemKind::Impossible { key: field, wanted }.at(at)]);
    }
    Ok(model)
}

fn read(root: &Table<'_, '_>, out: &mut Vec<Problem>) -> DeviceModel {
    root.only(ROOT, out);
    let mut model = DeviceModel::fermi();
    let mut on_chip = None;
    if let Some((name, at)) = word(root, "preset", out) {
        match DeviceModel::preset(&name) {
            Some(preset) => model = preset,
            None => out.push(ProblemKind::NoDevice { name, known: &DeviceModel::PRESETS }.at(at)),
        }
    }
    // The GTX 480 divides 64 KiB (report, figure 3.2: 16 or 48 KiB each); the other presets give sizes of their own.
    if ["fermi", "report"].contains(&model.name.as_str()) {
        on_chip = Some(64 << 10);
    }
    if let Some((name, _)) = word(root, "name", out) {
        model.name = name;
    }
    if let Some((what, at)) = word(root, "prefer", out) {
        let kib = match what.as_str() {
            "shared" => Some((16, 48)),
            "l1" => Some((48, 16)),
            _ => None,
        };
        match kib {
            Some((l1, shared)) => {
                let way = model.l1.ways * model.line_bytes;
                model.l1.sets = (l1 << 10) / way.max(1);
                model.shared_bytes = shared << 10;
            }
            None => out.push(ProblemKind::UnknownWord { key: "prefer", text: what, known: &["shared", "l1"] }.at(at)),
        }
    }
    let fields: [(&str, &mut u32); 8] = [
        ("processors", &mut model.processors),
        ("warp_size", &mut model.warp_size),
        ("resident_blocks", &mut model.resident_blocks),
        ("resident_threads", &mut model.resident_threads),
        ("concurrent_grids", &mut model.concurrent_grids),
        ("shared_bytes", &mut model.shared_bytes),
        ("banks", &mut model.banks),
        ("line_bytes", &mut model.line_bytes),
    ];
    for (key, field) in fields {
        if let Some(n) = number(root, key, out) {
            *field = n;
        }
    }
    cache(root, "l1", &mut model.l1, out);
    cache(root, "l2", &mut model.l2, out);
    if let Some(n) = number(root, "on_chip_bytes", out) {
        on_chip = Some(n);
    }
    if let Some((what, at)) = word(root, "fill", out) {
        match what.as_str() {
            "line" => model.fill = Fill::Line,
            "bytes" => model.fill = Fill::Bytes,
            _ => out.push(ProblemKind::UnknownWord { key: "fill", text: what, known: &["line", "bytes"] }.at(at)),
        }
    }
    if let Some((what, at)) = word(root, "acquire_discards", out) {
        match what.as_str() {
            "never" => model.acquire_discards = AcquireDiscards::Never,
            "sm70" => model.acquire_discards = AcquireDiscards::Sm70,
            "always" => model.acquire_discards = AcquireDiscards::Always,
            _ => {
                let known = &["never", "sm70", "always"];
                out.push(ProblemKind::UnknownWord { key: "acquire_discards", text: what, known }.at(at));
            }
        }
    }
    for (key, field) in [
        ("same_thread_order", &mut model.same_thread_order),
        ("volatile_shared_order", &mut model.volatile_shared_order),
        ("eager_local", &mut model.eager_local),
    ] {
        if root.get(key).is_some() {
            *field = root.flag(key, out);
        }
    }
    if let Some((what, at)) = word(root, "programs", out) {
        if ["fermi", "report"].contains(&what.as_str()) {
            model.programs = what;
        } else {
            out.push(ProblemKind::UnknownWord { key: "programs", text: what, known: &["fermi", "report"] }.at(at));
        }
    }
    let l1 = u64::from(model.l1.sets) * u64::from(model.l1.ways) * u64::from(model.line_bytes);
    if let Some(all) = on_chip.filter(|all| l1 + u64::from(model.shared_bytes) > u64::from(*all)) {
        let wanted = format!(
            "at most {all} bytes together with the L1 cache, which share one memory: the L1 cache has {l1} bytes, shared memory {}",
            model.shared_bytes
        );
        let at = ["shared_bytes", "l1", "line_bytes", "on_chip_bytes"].iter().find_map(|k| root.get(k));
        out.push(ProblemKind::Impossible { key: "shared_bytes", wanted }.at(at.map_or(root.at, |v| root.place(v))));
    }
    model
}

fn word(table: &Table<'_, '_>, key: &'static str, out: &mut Vec<Problem>) -> Option<(String, super::At)> {
    let value = table.get(key)?;
    Some((table.text(key, value, out)?, table.place(value)))
}

fn number(table: &Table<'_, '_>, key: &str, out: &mut Vec<Problem>) -> Option<u32> {
    let value = table.get(key)?;
    u32::try_from(table.count(key, value, u32::MAX.into(), out)?).ok()
}

fn cache(root: &Table<'_, '_>, key: &str, shape: &mut CacheShape, out: &mut Vec<Problem>) {
    let Some(table) = root.get(key).and_then(|v| root.sub(key, v, out)) else { return };
    table.only(CACHE, out);
    for (key, field) in [("sets", &mut shape.sets), ("ways", &mut shape.ways)] {
        if let Some(n) = number(&table, key, out) {
            *field = n;
        }
    }
}
