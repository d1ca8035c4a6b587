//! One operation, or one cache, as data for people.

use super::cache::{Cache, DeviceSpace, EvClass, LineKey};
use super::environment::unmap_local;
use super::operation::{Issued, Part, address_of, byte_of};
use super::program::{At, AtomPlace, Program, Sigma};
use crate::verdict::{CacheView, LaneBytes, LineView, OperationView, Region};
use rustc_hash::FxHashMap;

/// What is shown of an operation.
pub(super) struct Shown<'a> {
    pub issued: &'a Issued,
    /// Its program, and where it is there; none for a fence that has none.
    pub program: Option<(&'a Program, At)>,
    pub sigma: &'a Sigma,
}

impl Shown<'_> {
    pub fn view(&self) -> OperationView {
        let Shown { issued: &Issued { issuer, lanes, ref parts, .. }, program, sigma } = *self;
        OperationView {
            who: issuer.who,
            pc: issuer.pc,
            lanes,
            processor: issuer.sm,
            name: program.map_or_else(|| "fence".to_owned(), |(program, _)| program.name()),
            file: program.map_or("", |(program, _)| program.file()).to_owned(),
            line: program.map_or(0, |(program, at)| program.line(at)),
            region: region_of(sigma),
            accesses: accesses(sigma, parts),
            operands: match sigma {
                Sigma::Atomic(a) => vec![a.first, a.second],
                _ => Vec::new(),
            },
            ..OperationView::default()
        }
    }
}

/// The memory that a line is a copy of.
pub(super) fn region(key: LineKey) -> Region {
    match key.space {
        DeviceSpace::Global => Region::Global,
        DeviceSpace::Const => Region::Const,
        DeviceSpace::Param => Region::Param,
        DeviceSpace::Local => Region::Local(key.owner),
    }
}

fn region_of(sigma: &Sigma) -> Option<Region> {
    match sigma {
        Sigma::Shared(_) => Some(Region::Shared),
        Sigma::Atomic(a) if matches!(a.place, AtomPlace::Shared(_)) => Some(Region::Shared),
        _ => sigma.key().map(region),
    }
}

/// What each lane accesses: the parts of its elements, neighbours together.
fn accesses(sigma: &Sigma, parts: &[Part]) -> Vec<LaneBytes> {
    let mut all: Vec<LaneBytes> = Vec::new();
    for part in parts {
        let bytes = u32::from(part.len);
        let value = (0..u16::from(part.len).min(16)).try_fold(0, |value, k| {
            let byte = u128::from(byte_of(sigma, part.at + k)?);
            Some(value | byte << (8 * k))
        });
        let address = address_of(sigma, part.at);
        let address = match sigma {
            Sigma::Device(d) if d.key.space == DeviceSpace::Local => unmap_local(address).1,
            _ => address,
        };
        let lane = u32::from(part.lane);
        match all.last_mut().filter(|l| l.lane == lane && l.address + u64::from(l.bytes) == address) {
            Some(last) if last.bytes + bytes <= 16 => {
                last.value = last.value.zip(value).map(|(low, high)| low | high << (8 * last.bytes));
                last.bytes += bytes;
            }
            _ => all.push(LaneBytes { lane, address, bytes, value }),
        }
    }
    all
}

pub(super) fn cache_view(processor: Option<u32>, cache: &Cache, names: &FxHashMap<u32, usize>) -> CacheView {
    let shape = cache.shape();
    let mut ways: FxHashMap<usize, u32> = FxHashMap::default();
    let lines = cache.lines().map(|line| {
        let set = cache.set_of(line.key);
        let way = ways.entry(set).or_default();
        *way += 1;
        LineView {
            set: u32::try_from(set).unwrap_or(u32::MAX),
            way: *way - 1,
            region: region(line.key),
            base: line.key.base,
            bytes: (0..shape.line as usize).map(|k| line.bytes.get(k)).collect(),
            dirty: line.dirty,
            filling: line.fill,
            pins: line.pins.iter().filter_map(|pin| names.get(&pin.0).copied()).collect(),
            first: line.class == EvClass::First,
        }
    });
    CacheView { cache: processor.into(), shape: [shape.sets, shape.ways, shape.line], lines: lines.collect() }
}
