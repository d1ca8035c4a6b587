//! The memory of a litmus test.

use crate::axiom::Place;
use crate::litmus::check::Names;
use crate::litmus::tree::{DeclKind, Initial, Litmus, Proxy};
use indexmap::IndexMap;

/// Where addresses begin that registers hold; far from the numbers of tests.
const ADDRESSES: u64 = 0x6c69_746d_0000_0000;

/// The address of a location.
pub(super) const fn address(location: usize) -> u64 {
    ADDRESSES + location as u64
}

/// The location that an address is of.
pub(super) fn pointed(address: u64) -> Option<usize> {
    usize::try_from(address.checked_sub(ADDRESSES)?).ok()
}

/// The memory of a test.
#[derive(Clone, Debug, Default)]
pub(super) struct Locations {
    /// Its locations by name, in the order of their numbers; aliases among them.
    pub(super) names: Vec<String>,
    /// Where each is.
    pub(super) places: Vec<Place>,
    /// The places that are no aliases, with what they begin with.
    pub(super) initial: Vec<(Place, u64)>,
}

/// Memory: what is no alias is a location of its own. A generic alias is another address of its location; one of another proxy has
/// its target's address.
pub(super) fn locations(litmus: &Litmus, names: &Names<'_>) -> Locations {
    let mut values: IndexMap<&str, u64> = IndexMap::new();
    let mut places: IndexMap<&str, Place> = IndexMap::new();
    for (number, name) in (0..).zip(&names.locations) {
        places.insert(name, Place { location: number, address: number, offset: 0, bytes: 8 });
    }
    let mut aliases = Vec::new();
    for decl in &litmus.init {
        match &decl.kind {
            DeclKind::Location { name, value } => {
                let value = match value {
                    Initial::Number(n) => n.cast_unsigned(),
                    Initial::Of(of) => values.get(of.name.as_str()).copied().unwrap_or(0),
                };
                values.insert(&name.name, value);
            }
            DeclKind::Alias { name, proxy, of } => {
                let own = places[name.name.as_str()].address;
                let target = places[of.name.as_str()];
                let address = if *proxy == Proxy::Generic { own } else { target.address };
                places.insert(&name.name, Place { address, ..target });
                values.insert(&name.name, values.get(of.name.as_str()).copied().unwrap_or(0));
                aliases.push(name.name.as_str());
            }
            DeclKind::Register { .. } => {}
        }
    }
    let own = names.locations.iter().filter(|name| !aliases.contains(*name));
    let initial = own.map(|name| (places[name], values.get(name).copied().unwrap_or(0))).collect();
    let order = names.locations.iter().map(|name| (*name).to_owned()).collect();
    Locations { places: names.locations.iter().map(|name| places[name]).collect(), names: order, initial }
}
