//! A slice of a run as the text of a litmus test.

use super::refused::NotExtracted;
use crate::base::sort;
use crate::base::sorted::{SortedMap, SortedSet};
use crate::check::deeds::{Deed, Done, Source, Spot, Touch, What};
use crate::program::instr::{MemOp, Order, Scope};
use crate::program::ops::{AtomOp, AtomTy};
use std::fmt::Write;

/// How locations are called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// As buffers and variables are.
    Buffers,
    /// By letters: a buffer may have a name that is a word of the language.
    Letters,
}

/// A location of a test.
struct Location {
    name: String,
    initial: u64,
    /// The writes in the order in which they took effect, and what each writes.
    writes: Vec<(u32, u64)>,
    /// Values of the run do not tell the writes apart: they are numbered instead.
    numbered: bool,
    /// The value that is there in the end has to be asked about.
    asked: bool,
}

/// Makes the text.
struct Writer<'a> {
    done: &'a Done,
    deeds: &'a SortedSet<u32>,
    locations: SortedMap<Spot, Location>,
    /// What is asked.
    seen: Vec<String>,
}

/// The test of some deeds; what they read, and what the last of several writes left, is its condition.
///
/// # Errors
/// What of it a litmus test cannot say.
pub(super) fn write(name: &str, done: &Done, deeds: &SortedSet<u32>, naming: Naming) -> Result<String, NotExtracted> {
    let mut writer = Writer { done, deeds, locations: SortedMap::new(), seen: Vec::new() };
    writer.locate(naming)?;
    let mut threads: SortedMap<(u64, u64), Vec<u32>> = SortedMap::new();
    for k in deeds {
        let Some(deed) = writer.deed(*k) else { continue };
        threads.entry((deed.block, deed.thread)).or_default().push(*k);
    }
    let blocks: SortedSet<u64> = threads.keys().map(|(block, _)| *block).collect();
    let mut columns: Vec<Vec<String>> = Vec::new();
    for (k, ((block, _), code)) in threads.iter().enumerate() {
        let cta = blocks.iter().position(|other| other == block).unwrap_or(0);
        let mut column = vec![format!("P{k}@cta {cta},gpu 0")];
        let mut registers = 0;
        for deed in code {
            column.push(writer.instruction(*deed, k, registers)?);
            registers += usize::from(writer.deed(*deed).and_then(Deed::touch).is_some_and(Touch::reads));
        }
        columns.push(column);
    }
    let mut text = format!("PTX {name}\n{{\n");
    for location in writer.locations.values() {
        let _ = writeln!(text, "{}={};", location.name, location.initial.cast_signed());
    }
    text.push_str("}\n");
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells: Vec<&str> = columns.iter().map(|c| c.get(row).map_or("", String::as_str)).collect();
        let _ = writeln!(text, " {} ;", cells.join(" | "));
    }
    for location in writer.locations.values().filter(|location| location.asked) {
        if let Some((_, value)) = location.writes.last() {
            writer.seen.push(format!("{} == {}", location.name, value.cast_signed()));
        }
    }
    let _ = writeln!(text, "exists ({})", writer.seen.join(" /\\ "));
    Ok(text)
}

impl Writer<'_> {
    fn deed(&self, k: u32) -> Option<&Deed> {
        self.done.deeds.get(k as usize)
    }

    fn touches(&self) -> impl Iterator<Item = (u32, &Touch)> {
        self.deeds.iter().filter_map(|k| Some((*k, self.deed(*k)?.touch()?)))
    }

    /// Finds the locations, their values and their names.
    fn locate(&mut self, naming: Naming) -> Result<(), NotExtracted> {
        let mut places: SortedMap<Spot, Vec<(u32, &Touch)>> = SortedMap::new();
        for (k, touch) in self.touches() {
            let apart = |other: &Touch| touch.meets(other) && (touch.spot, touch.bytes) != (other.spot, other.bytes);
            if self.touches().any(|(_, other)| apart(other)) || matches!(touch.from, Source::Several(_)) {
                return Err(NotExtracted::Sizes);
            }
            places.entry(touch.spot).or_default().push((k, touch));
        }
        let mut all = SortedMap::new();
        let mut taken = SortedSet::new();
        for (spot, touches) in places {
            let bytes = touches.first().map_or(4, |(_, touch)| touch.bytes);
            let mut name = self.name(spot, bytes, naming, taken.len());
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            all.insert(spot, location(name, &touches)?);
        }
        self.locations = all;
        Ok(())
    }

    /// What a location is called: as its buffer and the number of its element, where that is not the first.
    fn name(&self, spot: Spot, bytes: u32, naming: Naming, number: usize) -> String {
        let letter = ["x", "y", "z"].get(number).map_or_else(|| format!("x{number}"), |letter| (*letter).to_owned());
        let inside = |n: &&crate::verdict::Named| spot.address.wrapping_sub(n.address) < n.bytes;
        let named = self.done.names.iter().find(inside).filter(|_| naming == Naming::Buffers && spot.block.is_none());
        let Some(named) = named else { return letter };
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut name: String = named.name.chars().map(plain).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name = format!("v{name}");
        }
        match spot.address.wrapping_sub(named.address) / u64::from(bytes.max(1)) {
            0 => name,
            element => format!("{name}_{element}"),
        }
    }

    /// A deed as an instruction; its register has a number of the thread's.
    fn instruction(&mut self, k: u32, thread: usize, register: usize) -> Result<String, NotExtracted> {
        let Some(deed) = self.deed(k) else { return Err(NotExtracted::Value) };
        let touch = match &deed.what {
            What::Access(touch) => touch,
            What::Fence(order @ (Order::AcqRel | Order::Sc), scope) => {
                return Ok(format!("fence.{}.{}", order.name(), reach(*scope)?));
            }
            What::Cluster => return Err(NotExtracted::Cluster),
            What::Fence(..) => return Err(NotExtracted::Fence),
            What::Meet { meeting, waits } => {
                let kind = if *waits { "sync" } else { "arrive" };
                return Ok(format!("bar.cta.{kind} {}", self.instance(*meeting)));
            }
        };
        let how = match (touch.order, touch.scope) {
            (Order::Mmio, _) => return Err(NotExtracted::Mmio),
            (Order::Weak, _) => "weak".to_owned(),
            // Volatile ones are relaxed (D-race).
            (Order::Volatile, _) => "relaxed.sys".to_owned(),
            (order, scope) => format!("{}.{}", order.name(), reach(scope)?),
        };
        let Some(place) = self.locations.get(&touch.spot) else { return Err(NotExtracted::Value) };
        let (x, written) = (&place.name, place.value(k));
        let found = touch.reads().then(|| place.read(touch)).flatten();
        let text = match (touch.op, found, written) {
            (MemOp::Load, Some(_), _) => format!("ld.{how} r{register}, {x}"),
            (MemOp::Store, _, Some(value)) => format!("st.{how} {x}, {}", value.cast_signed()),
            (MemOp::Atom(op, ty) | MemOp::Red(op, ty), Some(found), Some(value)) => {
                let (name, operands) = operation(op, ty, touch, (found, value), place.numbered)?;
                format!("atom.{how}.{name} r{register}, {x}, {operands}")
            }
            _ => return Err(NotExtracted::Value),
        };
        if let Some(value) = found {
            self.seen.push(format!("P{thread}:r{register} == {}", value.cast_signed()));
        }
        Ok(text)
    }

    /// The meetings are numbered in the order of their first deeds.
    fn instance(&self, meeting: u32) -> usize {
        let mut before = Vec::new();
        for k in self.deeds {
            if let Some(What::Meet { meeting, .. }) = self.deed(*k).map(|deed| &deed.what)
                && !before.contains(meeting)
            {
                before.push(*meeting);
            }
        }
        before.iter().position(|other| *other == meeting).unwrap_or(0)
    }
}

impl Location {
    /// What a write writes.
    fn value(&self, write: u32) -> Option<u64> {
        self.writes.iter().find(|(k, _)| *k == write).map(|(_, value)| *value)
    }

    /// What an access reads: where its source is no write of the test, that is the initial value.
    fn read(&self, touch: &Touch) -> Option<u64> {
        match touch.from {
            Source::Deed(from) => Some(self.value(from).unwrap_or(self.initial)),
            Source::Initial => Some(self.initial),
            Source::None | Source::Several(_) => None,
        }
    }
}

/// A location with the accesses of it.
fn location(name: String, touches: &[(u32, &Touch)]) -> Result<Location, NotExtracted> {
    let mut writes = Vec::new();
    for (k, touch) in touches.iter().filter(|(_, touch)| touch.writes()) {
        let order = touch.arrived.map_or((1, u64::from(*k)), |arrived| (0, arrived));
        writes.push((order, *k, touch.wrote.ok_or(NotExtracted::Value)?));
    }
    sort::sort(&mut writes);
    let mut writes: Vec<(u32, u64)> = writes.into_iter().map(|(_, k, value)| (k, value)).collect();
    let here = |touch: &Touch| match touch.from {
        Source::Deed(from) => writes.iter().find(|(k, _)| *k == from).copied(),
        _ => None,
    };
    let mut initial = None;
    for (_, touch) in touches.iter().filter(|(_, touch)| touch.reads()) {
        let read = touch.read.ok_or(NotExtracted::Value)?;
        if here(touch).is_none() {
            initial = Some(read);
        }
    }
    // A value that nobody reads is any other than those that are read.
    let read = |value: u64| touches.iter().any(|(_, touch)| touch.read == Some(value));
    let initial = initial.unwrap_or_else(|| (0..).find(|value| !read(*value)).unwrap_or(0));
    // Nobody reads what he writes himself by the same instruction.
    let told_apart = |value: u64, own: Option<u32>| {
        let written = writes.iter().filter(|(k, _)| Some(*k) != own).map(|(_, value)| *value);
        written.chain([initial]).filter(|other| *other == value).count() == 1
    };
    // Where each write but the first one is of an atomic operation that read the one before, their order is known.
    let from = |k: u32| touches.iter().find(|(other, _)| *other == k).map(|(_, touch)| &touch.from);
    let asked = writes.windows(2).any(|pair| from(pair[1].0) != Some(&Source::Deed(pair[0].0)));
    let last = writes.last().filter(|_| asked);
    let numbered = !touches.iter().all(|(k, touch)| touch.read.is_none_or(|value| told_apart(value, Some(*k))))
        || last.is_some_and(|(_, value)| !told_apart(*value, None));
    if numbered {
        (1..).zip(&mut writes).for_each(|(number, (_, value))| *value = number);
    }
    Ok(Location { name, initial: if numbered { 0 } else { initial }, writes, numbered, asked })
}

/// A scope that litmus tests have; the system's where none is named.
const fn reach(scope: Scope) -> Result<&'static str, NotExtracted> {
    match scope {
        Scope::Cluster => Err(NotExtracted::Scope),
        Scope::Lane => Ok(Scope::Sys.name()),
        scope => Ok(scope.name()),
    }
}

/// An atomic operation that turns one value into another: its name and its operands.
fn operation(
    op: AtomOp,
    ty: AtomTy,
    touch: &Touch,
    (found, value): (u64, u64),
    numbered: bool,
) -> Result<(&'static str, String), NotExtracted> {
    let integer = !ty.is_float() && ty != AtomTy::B128;
    let [first, second] = touch.operands.map(u64::cast_signed);
    match op {
        AtomOp::Inc | AtomOp::Dec | AtomOp::Min | AtomOp::Max | AtomOp::Barrier => Err(NotExtracted::Atomic(op)),
        // What writes a number instead of its value is an exchange.
        _ if numbered && integer => Ok(("exch", value.to_string())),
        AtomOp::Exch if integer => Ok(("exch", first.to_string())),
        AtomOp::Cas if integer => Ok(("cas", format!("{first}, {second}"))),
        // Litmus tests have 64 bits: what is added there comes to the same.
        AtomOp::Add if integer => Ok(("add", value.wrapping_sub(found).cast_signed().to_string())),
        AtomOp::And if integer => Ok(("and", first.to_string())),
        AtomOp::Or if integer => Ok(("or", first.to_string())),
        AtomOp::Xor if integer => Ok(("xor", first.to_string())),
        _ => Err(NotExtracted::Atomic(op)),
    }
}
