//! Definedness of registers: a mask of lanes for each byte of a slot, so that all lanes are handled at once.

use super::cause::Cause;
use crate::base::{LaneMask, Pc, put_mask};
use crate::program::env::Function;
use crate::program::instr::{NO_SLOT, STACK_BASE, STACK_TOP, Slot};
use crate::program::ops::Class;
use rustc_hash::FxHashMap;

/// For each byte of a value the lanes in which it is defined. Bytes that the class does not have are defined; a predicate
/// is byte 0.
pub(super) type Bytes = [LaneMask; 8];

/// Every byte defined in every lane.
pub(super) const DEFINED: Bytes = [!0; 8];

/// How many bytes of [`Bytes`] a class has.
pub(super) const fn size(class: Class) -> usize {
    class.bits().div_ceil(8) as usize
}

/// The lanes in which all bytes are defined.
pub(super) fn whole(bytes: &Bytes) -> LaneMask {
    bytes.iter().fold(!0, |m, b| m & b)
}

/// The undefined bytes of one lane, each as `0xff`.
pub(super) fn undefined(bytes: &Bytes, lane: usize) -> u64 {
    (0..8).filter(|k| bytes[*k] >> lane & 1 == 0).fold(0, |v, k| v | 0xff << (8 * k))
}

/// Sets one lane's bytes from a mask, byte 0 lowest.
pub(super) fn to_lane(bytes: &mut Bytes, lane: usize, defined: u32) {
    for (k, b) in bytes.iter_mut().enumerate() {
        *b = *b & !(1 << lane) | (defined >> k & 1) << lane;
    }
}

/// Makes one lane's bytes defined where `undefined` has no bit set.
pub(super) fn set_lane(bytes: &mut Bytes, lane: usize, undefined: u64) {
    let defined = |k: &u32| undefined >> (8 * k) & 0xff == 0;
    to_lane(bytes, lane, (0..8).filter(defined).fold(0, |m, k| m | 1 << k));
}

/// The shadow of a frame of registers.
#[derive(Clone, Debug, Default)]
pub(super) struct Regs {
    /// By class.
    slots: [Vec<Bytes>; 3],
    /// Why lanes of a slot are not defined, where something was written that is not; with the lane.
    causes: FxHashMap<(Class, Slot, usize), Cause>,
}

impl Regs {
    /// A slot's definedness; a slot that does not exist is defined.
    pub fn get(&self, class: Class, slot: Slot) -> Bytes {
        self.slots[class as usize].get(slot.index()).copied().unwrap_or(DEFINED)
    }

    /// Sets a slot's definedness for `lanes`.
    pub fn put(&mut self, class: Class, slot: Slot, lanes: LaneMask, bytes: &Bytes) {
        if let Some(to) = self.slots[class as usize].get_mut(slot.index()) {
            for (d, new) in to.iter_mut().zip(bytes).take(size(class)) {
                put_mask(d, *new, lanes);
            }
        }
    }

    /// Why a slot is not defined in a lane, for an instruction that uses it.
    pub fn cause(&self, class: Class, slot: Slot, lane: usize, by: Pc) -> Cause {
        self.causes.get(&(class, slot, lane)).copied().unwrap_or(Cause::Register { by, class, slot })
    }

    /// Says why a slot is not defined in some lanes.
    pub fn blame(&mut self, class: Class, slot: Slot, causes: impl IntoIterator<Item = (usize, Cause)>) {
        if slot != NO_SLOT {
            self.causes.extend(causes.into_iter().map(|(lane, cause)| ((class, slot, lane), cause)));
        }
    }

    /// The registers of `lanes` that enter a function: preloaded slots are defined, the others are not.
    pub fn enter(&mut self, f: &Function, lanes: LaneMask) {
        self.causes.retain(|(_, _, lane), _| lanes >> lane & 1 == 0);
        let counts = [(Class::W, f.slots.w.max(2)), (Class::Q, f.slots.q), (Class::P, f.slots.p)];
        for (class, count) in counts {
            let (slots, count) = (&mut self.slots[class as usize], usize::from(count));
            let mut nothing = DEFINED;
            nothing[..size(class)].fill(0);
            slots.resize(slots.len().max(count), nothing);
            slots.iter_mut().take(count).flat_map(|s| &mut s[..size(class)]).for_each(|s| *s &= !lanes);
        }
        for slot in [STACK_BASE, STACK_TOP] {
            self.put(Class::W, slot, lanes, &DEFINED);
        }
        for preload in &f.preloads {
            self.put(preload.class, preload.slot, lanes, &DEFINED);
        }
    }
}
