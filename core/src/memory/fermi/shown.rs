//! One operation, or one cache, as data for people.

use super::cache::{Cache, DeviceSpace, EvClass, LineKey};
use super::environment::{STRIDE, owner_of, unmap_local};
use super::operation::{Part, offset_of};
use super::program::{At, AtomPlace, Program, Sigma};
use crate::base::LaneMask;
use crate::memory::Issuer;
use crate::verdict::{CacheView, LaneBytes, LineView, OperationView, Region};
use rustc_hash::FxHashMap;

/// What a fence without a program is shown as.
pub(super) const FENCE: Sigma = Sigma::Fence { holds: true };

/// What is shown of an operation.
pub(super) struct Shown<'a> {
    pub issuer: Issuer,
    pub lanes: LaneMask,
    /// Its program, and where it is there; none for a fence that has none.
    pub program: Option<(&'a Program, At)>,
    pub sigma: &'a Sigma,
    pub parts: &'a [Part],
}

impl Shown<'_> {
    pub fn view(&self) -> OperationView {
        let Shown { issuer, lanes, program, sigma, parts } = *self;
        OperationView {
            who: issuer.who,
            pc: issuer.pc,
            lanes,
            processor: issuer.sm,
            name: program.map_or("fence", |(program, _)| program.name()).to_owned(),
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
        DeviceSpace::Local => Region::Local(owner_of(key.owner)),
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
        let byte = |k: u16| match sigma {
            Sigma::Device(d) => d.value.get(usize::from(part.at + k)),
            Sigma::Atomic(a) => a.old().map(|old| old.to_le_bytes().get(usize::from(k)).copied().unwrap_or(0)),
            Sigma::Shared(s) => s.value.get(usize::from(part.at + k)).copied(),
            Sigma::Reg | Sigma::Fence { .. } => None,
        };
        let value = (0..u16::from(part.len).min(16)).try_fold(0, |value, k| {
            let byte = u128::from(byte(k)?);
            Some(value | byte << (8 * k))
        });
        let address = match sigma {
            Sigma::Device(d) if d.key.space == DeviceSpace::Local => {
                unmap_local(d.key.base + u64::from(part.at), STRIDE).1
            }
            Sigma::Device(d) => d.key.base + u64::from(part.at),
            Sigma::Shared(s) => offset_of(s, part.at),
            Sigma::Atomic(a) => match a.place {
                AtomPlace::Global { key, .. } => key.base + u64::from(part.at),
                AtomPlace::Shared(piece) => piece.offset.into(),
            },
            Sigma::Reg | Sigma::Fence { .. } => 0,
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
    CacheView { processor, shape: [shape.sets, shape.ways, shape.line], lines: lines.collect() }
}
