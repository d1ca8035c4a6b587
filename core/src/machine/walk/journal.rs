//! The state in sections, with a number for each, and the way back.
//!
//! A step changes a warp or two, a barrier, a few bytes: only their sections are packed again. Each content of a section is
//! kept once ([`Store`]), so that a state is a row of small numbers, a step's way back a few of them, and a step that is
//! known from before ([`Memo`](super::memo::Memo)) needs no device: the device follows when somebody looks at it. The
//! number of the state is the sum of its sections' numbers, each mixed with its place.

use super::memo::{Effect, Key};
use super::parts::{Known, Parts};
use super::store::{At, Content, MEMORY, Store};
use super::{Foreseen, Mark};
use crate::machine::packed::{Unpack, put};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::cell::RefCell;
use std::ops::Range;

/// What the first section says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    /// The current launch.
    pub launch: u32,
    /// All launches are complete.
    pub ended: bool,
    /// How many blocks of it have been issued.
    pub issued: u64,
    /// How many of these are not complete.
    pub resident: u32,
}

impl Head {
    /// Appends it.
    pub fn pack(self, out: &mut Vec<u8>) {
        put(out, self.launch);
        put(out, self.ended.into());
        out.extend_from_slice(&self.issued.to_le_bytes());
        put(out, self.resident);
    }

    pub fn unpack(from: &mut Unpack<'_>) -> Self {
        Self { launch: from.u32(), ended: from.u32() == 1, issued: from.u64(), resident: from.u32() }
    }
}

/// A section.
#[derive(Clone, Copy, Default)]
struct Section {
    now: Content,
    /// What the device holds. `None`: something else.
    held: Option<Content>,
    /// Whether it is in the list of those that the device may not hold.
    listed: bool,
}

/// Which memory it is, among all.
#[derive(Clone, Copy, Default)]
struct Which {
    /// The part of the state's number that memory makes.
    number: u128,
    /// The same, counted.
    id: u32,
}

/// The numbers of the state before a step.
#[derive(Clone, Copy)]
struct Numbers {
    at: usize,
    key: u128,
    memory: Which,
}

/// The state and the way back.
pub(super) struct Journal {
    pub store: Store,
    /// Agents that are alike.
    pub parts: Parts,
    /// Their numbers in the current state.
    pub known: RefCell<Known>,
    /// Sections of a block: its own and one for each warp.
    pub stride: u32,
    sections: Vec<Section>,
    /// Those of memory that all warps share.
    shared: Vec<Section>,
    key: u128,
    memory: Which,
    /// The numbers of all memories.
    memories: IndexSet<u128, FxBuildHasher>,
    undo: Vec<(At, Content)>,
    numbers: Vec<Numbers>,
    /// Sections that the device may not hold.
    stale: Vec<At>,
    scratch: Vec<u8>,
}

impl Journal {
    /// Nothing yet.
    pub fn new(stride: u32) -> Self {
        Self {
            store: Store::new(),
            parts: Parts::default(),
            known: RefCell::default(),
            stride,
            sections: Vec::new(),
            shared: Vec::new(),
            key: 0,
            memory: Which::default(),
            memories: IndexSet::from_iter([0]),
            undo: Vec::new(),
            numbers: Vec::new(),
            stale: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// The number of the state; equal ones may differ in who is who among agents that are alike.
    pub fn key(&self) -> u128 {
        if self.parts.is_idle() { self.key } else { self.key.wrapping_add(self.number_of_blocks()) }
    }

    /// A number of the state in which everybody is told apart.
    pub fn exact(&self) -> u128 {
        if self.parts.is_idle() { self.key } else { self.key.wrapping_add(self.number_of_sections()) }
    }

    /// The part of the number that blocks and warps make where everybody is told apart.
    pub fn number_of_sections(&self) -> u128 {
        let sections = (0..).zip(&self.sections).skip(1);
        sections.fold(0, |sum: u128, (at, s)| sum.wrapping_add(self.store.number(at, s.now)))
    }

    pub const fn mark(&self) -> Mark {
        Mark(self.undo.len())
    }

    fn section_mut(&mut self, at: At) -> &mut Section {
        let (all, k) = if at >= MEMORY { (&mut self.shared, at - MEMORY) } else { (&mut self.sections, at) };
        if all.len() <= k as usize {
            all.resize(k as usize + 1, Section::default());
        }
        &mut all[k as usize]
    }

    /// What is at a place; the empty content where there is nothing.
    pub fn content(&self, at: At) -> Content {
        let (all, k) = if at >= MEMORY { (&self.shared, at - MEMORY) } else { (&self.sections, at) };
        all.get(k as usize).map_or_else(Content::default, |s| s.now)
    }

    /// What is at a place of a block or a warp, or at the first one.
    pub fn own(&self, at: At) -> Content {
        self.sections.get(at as usize).map_or_else(Content::default, |s| s.now)
    }

    /// The bytes at a place.
    pub fn bytes(&self, at: At) -> &[u8] {
        self.store.bytes(self.content(at))
    }

    /// The first section.
    pub fn head(&self) -> Head {
        Head::unpack(&mut Unpack(self.bytes(0)))
    }

    /// How many places of blocks and warps there are.
    pub fn places(&self) -> u32 {
        u32::try_from(self.sections.len()).unwrap_or(u32::MAX)
    }

    /// A step begins: the numbers of the state are kept for the way back.
    pub fn begin(&mut self) {
        self.numbers.push(Numbers { at: self.mark().0, key: self.key, memory: self.memory });
    }

    /// Puts a content at a place; `held`: the device holds it already.
    fn put(&mut self, at: At, content: Content, held: bool) {
        let section = self.section_mut(at);
        let before = std::mem::replace(&mut section.now, content);
        if held {
            section.held = Some(content);
        }
        self.undo.push((at, before));
        self.moved(at);
    }

    /// What is known of a slot is not so any more.
    fn moved(&mut self, at: At) {
        if at > 0 && at < MEMORY && !self.parts.is_idle() {
            self.known.get_mut().forget(((at - 1) / self.stride) as usize);
        }
    }

    fn list(&mut self, at: At) {
        let section = self.section_mut(at);
        if !std::mem::replace(&mut section.listed, true) {
            self.stale.push(at);
        }
    }

    /// Takes over a section as the device holds it: `pack` appends its bytes.
    pub fn update(&mut self, at: At, pack: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        pack(&mut bytes);
        if self.bytes(at) == bytes {
            let section = self.section_mut(at);
            section.held = Some(section.now);
        } else {
            let content = self.store.keep(&bytes);
            self.change(at, content);
        }
        self.scratch = bytes;
    }

    fn change(&mut self, at: At, content: Content) {
        let delta = self.delta(at, content);
        self.key = self.key.wrapping_add(delta);
        if at >= MEMORY {
            self.memory.number = self.memory.number.wrapping_add(delta);
        }
        self.put(at, content, true);
    }

    /// What a content adds to the number of the state in place of what is there.
    fn delta(&self, at: At, content: Content) -> u128 {
        // Those of blocks are added up when somebody asks: what they come to depends on each other.
        if at > 0 && at < MEMORY && !self.parts.is_idle() {
            return 0;
        }
        let place = if at >= MEMORY { 1 << 40 | u64::from(at - MEMORY) } else { at.into() };
        self.store.number(place, content).wrapping_sub(self.store.number(place, self.content(at)))
    }

    /// All sections of memory are taken over: which memory it is.
    pub fn note_memory(&mut self) {
        if self.memories[self.memory.id as usize] != self.memory.number {
            let (id, _) = self.memories.insert_full(self.memory.number);
            self.memory.id = u32::try_from(id).unwrap_or(u32::MAX);
        }
    }

    /// How many memories there have been.
    pub fn memories(&self) -> usize {
        self.memories.len()
    }

    /// Which memory it is.
    pub const fn memory(&self) -> u32 {
        self.memory.id
    }

    /// Forgets how to go back.
    pub fn settle(&mut self) {
        self.undo.clear();
        self.numbers.clear();
    }

    /// Goes back to a mark.
    pub fn back(&mut self, to: Mark) {
        while let Some(numbers) = self.numbers.pop_if(|n| n.at >= to.0) {
            (self.key, self.memory) = (numbers.key, numbers.memory);
        }
        while self.undo.len() > to.0
            && let Some((at, content)) = self.undo.pop()
        {
            self.section_mut(at).now = content;
            self.list(at);
            self.moved(at);
        }
    }

    /// What a step can depend on: its warp, its block, memory, and the launch. `warp` is the place of the warp, `block`
    /// that of its block; `who` and `which` tell who steps there.
    #[inline]
    pub fn key_of(&self, (warp, block): (At, At), who: At, which: u32) -> Key {
        let here = [self.own(warp), self.own(block), self.own(0)];
        Key::of(self.memory.id, here, who | warp, which)
    }

    /// A step that is known: the device stays where it was.
    pub fn apply(&mut self, effect: &Effect) {
        self.begin();
        self.key = self.key.wrapping_add(effect.delta);
        let number = self.memories[effect.memory as usize];
        self.memory = Which { number, id: effect.memory };
        for &(at, content) in &effect.changes {
            if effect.completes {
                self.key = self.key.wrapping_add(self.delta(at, content));
            }
            self.put(at, content, false);
            self.list(at);
        }
    }

    /// Where a step leads that is known. `None`: what its number is depends on more than the step.
    pub fn foresee(&self, effect: &Effect) -> Option<Foreseen> {
        let number = self.key.wrapping_add(effect.delta);
        (!effect.completes).then_some(Foreseen { number, used: effect.used })
    }

    /// What has changed since a mark, if that was only a warp, its block and memory; or, when its block is complete by
    /// that, besides these the block's other warps and the first section.
    pub fn effect(
        &self,
        since: Mark,
        (warp, block): (At, At),
        complete: Option<Range<At>>,
        used: u32,
    ) -> Option<Effect> {
        let numbers = self.numbers.last().filter(|n| n.at == since.0)?;
        let changed = self.undo.get(since.0..)?.iter();
        let whole = |at: At| complete.as_ref().is_some_and(|others| at == 0 || others.contains(&at));
        let own = |at: At| at == warp || at == block || at >= MEMORY || whole(at);
        let changes = changed.map(|(at, _)| own(*at).then(|| (*at, self.content(*at)))).collect::<Option<_>>()?;
        let delta = if complete.is_some() { 0 } else { self.key.wrapping_sub(numbers.key) };
        Some(Effect { delta, memory: self.memory.id, changes, used, completes: complete.is_some() })
    }

    /// A section that the device does not hold: where, and the bytes that it is to hold. It is taken to hold them then.
    pub fn next_stale(&mut self) -> Option<At> {
        while let Some(at) = self.stale.pop() {
            let section = self.section_mut(at);
            section.listed = false;
            if section.held.replace(section.now) != Some(section.now) {
                return Some(at);
            }
        }
        None
    }

    /// The device holds something else at a place.
    pub fn lost(&mut self, at: At) {
        self.section_mut(at).held = None;
        self.list(at);
    }

    /// Bytes that tables grow by when there are so many more memories or contents.
    pub fn grows(&self, more: usize) -> usize {
        let full = self.memories.len() + more > self.memories.capacity();
        self.store.grows(more) + if full { 2 * self.memories.capacity() * size_of::<usize>() } else { 0 }
    }

    /// How many bytes it has come to take, about.
    pub fn held(&self) -> usize {
        self.store.held()
            + self.parts.held()
            + self.memories.capacity() * (size_of::<u128>() + size_of::<(u64, usize)>())
    }

    /// Everything that the number of the state is made from.
    pub fn whole(&self) -> Vec<u8> {
        let mut all = self.whole_of_blocks();
        let told = if self.parts.is_idle() { self.sections.len() } else { 1 };
        for (at, section) in (0..).zip(&self.sections).take(told).chain((MEMORY..).zip(&self.shared)) {
            if section.now != Content::default() {
                let bytes = self.store.bytes(section.now);
                [at.into(), bytes.len() as u64].iter().for_each(|n| all.extend_from_slice(&n.to_le_bytes()));
                all.extend_from_slice(bytes);
            }
        }
        all
    }
}
