//! Barriers in shared memory (`mbarrier`, PTX ISA 9.7.13.15), as the 64 bits that they are here (D-mbarrier).
//!
//! PTX keeps open what lies in the 64 bits. Here bit 0 is the phase, bits 1 to 20 are the pending arrivals, bits 21 to 40 the
//! expected ones, bits 41 to 61 the tx-count, and bits 62 and 63 a mark. The tx-count is stored with some of its bits inverted:
//! 23 bits of a barrier without transactions are a pattern then, which numbers and addresses rarely have.

/// The largest count of arrivals and of transactions (PTX ISA 9.7.13.15.2).
pub const MOST: u32 = (1 << 20) - 1;
/// The bit of the phase.
pub const PHASE: u64 = 1;
/// The first bit of the pending arrivals, which [`MOST`] masks.
pub const PENDING: u32 = 1;
const EXPECTED: u32 = 21;
const TX: u32 = 41;
/// The upper 23 bits of a barrier whose tx-count is 0; as the upper half of a pair of `f32`, about -2e-22.
const MARK: u64 = 0x9b6d_a000_0000_0000 >> TX;
const TX_BITS: u64 = (1 << 21) - 1;

/// What an operation does, as flags above the 32 bits of its amount: arrivals where it arrives, else transactions.
pub mod deed {
    /// It arrives: with one arrival where the amount is of transactions.
    pub const ARRIVES: u64 = 1 << 32;
    /// Its arrivals are expected no more in the next phases.
    pub const DROPS: u64 = 1 << 33;
    /// It must not complete the phase.
    pub const INCOMPLETE: u64 = 1 << 34;
    /// It expects transactions.
    pub const EXPECTS: u64 = 1 << 35;
    /// It completes transactions.
    pub const COMPLETES: u64 = 1 << 36;
    /// Its phase awaits so many arrivals more, which come later (`cp.async.mbarrier.arrive`).
    pub const AWAITS: u64 = 1 << 37;
}

/// A barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// The phase that is not complete is an odd one.
    pub odd: bool,
    /// Arrivals that this phase still awaits.
    pub pending: u32,
    /// Arrivals that each phase awaits.
    pub expected: u32,
    /// Transactions that this phase still awaits; negative where they were completed before they were expected.
    pub tx: i32,
}

/// Why an operation leaves its barrier as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// There is no barrier.
    NoBarrier,
    /// The count of arrivals is 0 or above [`MOST`].
    Count,
    /// There are more arrivals than are awaited.
    Arrivals,
    /// There are more transactions than a barrier can count.
    Transactions,
    /// It would complete the phase, and must not.
    Completes,
}

impl Object {
    /// The barrier that a word is.
    #[must_use]
    pub fn of(word: u64) -> Option<Self> {
        let field = |first: u32| (word >> first) as u32 & MOST;
        let upper = word >> TX ^ MARK;
        // The sign is that of 21 bits.
        let tx = ((upper & TX_BITS) as i32) << 11 >> 11;
        let object = Self { odd: word & PHASE != 0, pending: field(PENDING), expected: field(EXPECTED), tx };
        // Arrivals of copies are awaited beside those that are expected.
        let left = object.expected == 0 && object.pending > 0;
        let sound = upper <= TX_BITS && !left && tx.unsigned_abs() <= MOST;
        sound.then_some(object)
    }

    /// The word that it is.
    #[must_use]
    pub fn word(self) -> u64 {
        let upper = MARK ^ i64::from(self.tx).cast_unsigned() & TX_BITS;
        upper << TX
            | u64::from(self.expected & MOST) << EXPECTED
            | u64::from(self.pending & MOST) << PENDING
            | u64::from(self.odd)
    }

    /// Whether it is certainly one: nothing but a barrier is likely to look so.
    #[must_use]
    pub const fn is_idle(self) -> bool {
        self.tx == 0 && self.expected > 0
    }
}

/// Of the word of a new barrier: the part that its count is multiplied by, and the part that is added.
pub const NEW: (u64, u64) = (1 << PENDING | 1 << EXPECTED, MARK << TX);

/// The word of a barrier after an operation: its flags ([`deed`]) and, in the low 32 bits, its amount.
///
/// # Errors
/// The operation may not be done.
pub fn perform(word: u64, request: u64) -> Result<u64, Refused> {
    let is = |flag: u64| request & flag != 0;
    let amount = request as u32;
    let mut object = Object::of(word).ok_or(Refused::NoBarrier)?;
    let transacts = is(deed::EXPECTS | deed::COMPLETES);
    if transacts {
        let few = i32::try_from(amount).ok().filter(|n| n.unsigned_abs() <= MOST).ok_or(Refused::Transactions)?;
        object.tx += if is(deed::EXPECTS) { few } else { -few };
        if object.tx.unsigned_abs() > MOST {
            return Err(Refused::Transactions);
        }
    }
    if is(deed::AWAITS) {
        object.pending = object.pending.checked_add(amount).filter(|pending| *pending <= MOST).ok_or(Refused::Count)?;
    }
    let expected = object.expected;
    if is(deed::ARRIVES) {
        let count = if transacts { 1 } else { amount };
        if !(1..=MOST).contains(&count) {
            return Err(Refused::Count);
        }
        object.pending = object.pending.checked_sub(count).ok_or(Refused::Arrivals)?;
        if is(deed::DROPS) {
            // No more are pending than are expected.
            object.expected = object.expected.saturating_sub(count);
        }
    }
    // A barrier that everybody has left has no phases any more.
    if !is(deed::AWAITS) && object.pending == 0 && object.tx == 0 && expected > 0 {
        if is(deed::INCOMPLETE) {
            return Err(Refused::Completes);
        }
        object.odd = !object.odd;
        object.pending = object.expected;
    }
    Ok(object.word())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(odd: bool, pending: u32, expected: u32, tx: i32) -> Object {
        Object { odd, pending, expected, tx }
    }

    #[test]
    fn words_and_barriers_are_the_same() {
        let most = MOST as i32;
        for pending in [0, 1, 2, 1000, MOST] {
            for expected in [pending, MOST] {
                for tx in [0, 1, -1, 77, most, -most] {
                    for odd in [false, true] {
                        let object = object(odd, pending, expected, tx);
                        assert_eq!(Object::of(object.word()), Some(object));
                    }
                }
            }
        }
        let made = 5 * NEW.0 + NEW.1;
        assert_eq!(Object::of(made), Some(object(false, 5, 5, 0)));
    }

    #[test]
    fn what_was_never_a_barrier_is_none() {
        let far = [u64::MAX, 1 << 62, 0x7eff_0000_0000, 0x4000_0000_4000_0000];
        for word in (0..2000).chain(far).chain([1.5f64.to_bits(), 7u64 << 32 | 3]) {
            assert_eq!(Object::of(word), None, "{word:#x}");
            assert_eq!(perform(word, deed::ARRIVES | 1), Err(Refused::NoBarrier));
        }
        // Arrivals pending though nobody is expected, and the tx-count that is too low.
        assert_eq!(Object::of(object(false, 3, 0, 0).word()), None);
        assert_eq!(Object::of(object(false, 1, 2, -(1 << 20)).word()), None);
    }

    #[test]
    fn phases_are_complete_when_nothing_is_awaited() {
        let after = |at: Object, request| perform(at.word(), request).map(|word| Object::of(word).unwrap());
        let two = object(false, 2, 2, 0);
        assert_eq!(after(two, deed::ARRIVES | 1), Ok(object(false, 1, 2, 0)));
        assert_eq!(after(two, deed::ARRIVES | 2), Ok(object(true, 2, 2, 0)));
        assert_eq!(after(two, deed::ARRIVES | deed::DROPS | 1), Ok(object(false, 1, 1, 0)));
        assert_eq!(after(two, deed::ARRIVES | deed::DROPS | 2), Ok(object(true, 0, 0, 0)));
        assert_eq!(after(two, deed::ARRIVES | deed::INCOMPLETE | 2), Err(Refused::Completes));
        // Arrivals of copies are awaited besides, also when all others have come.
        assert_eq!(after(two, deed::AWAITS | 3), Ok(object(false, 5, 2, 0)));
        assert_eq!(after(object(false, 5, 2, 0), deed::ARRIVES | 4), Ok(object(false, 1, 2, 0)));
        assert_eq!(after(object(false, 1, 2, 0), deed::ARRIVES | 1), Ok(object(true, 2, 2, 0)));
        assert_eq!(perform(object(false, MOST, 2, 0).word(), deed::AWAITS | 1), Err(Refused::Count));
        assert_eq!(after(two, deed::ARRIVES | 3), Err(Refused::Arrivals));
        assert_eq!(after(two, deed::ARRIVES), Err(Refused::Count));
        assert_eq!(after(two, deed::ARRIVES | 1 << 20), Err(Refused::Count));
        // Transactions keep a phase open, in either order.
        let one = object(true, 1, 1, 0);
        let waits = object(true, 0, 1, 8);
        assert_eq!(after(one, deed::ARRIVES | deed::EXPECTS | 8), Ok(waits));
        assert_eq!(after(waits, deed::COMPLETES | 8), Ok(object(false, 1, 1, 0)));
        assert_eq!(after(one, deed::COMPLETES | 8), Ok(object(true, 1, 1, -8)));
        assert_eq!(after(object(true, 1, 1, -8), deed::ARRIVES | deed::EXPECTS | 8), Ok(object(false, 1, 1, 0)));
        assert_eq!(after(waits, deed::EXPECTS | u64::from(MOST)), Err(Refused::Transactions));
        assert_eq!(after(waits, deed::COMPLETES | 1 << 20), Err(Refused::Transactions));
        // Everybody has left.
        let left = object(true, 0, 0, 0);
        assert_eq!(after(left, deed::ARRIVES | 1), Err(Refused::Arrivals));
        assert_eq!(after(left, deed::EXPECTS), Ok(left));
    }
}
