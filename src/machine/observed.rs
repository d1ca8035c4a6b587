//! An observer behind one type, so that the machine is compiled for observation once.

use crate::verdict::{Event, Sink, Stop, Who};

/// An observer.
pub type Tell<'a> = &'a mut dyn FnMut(Who, Event<'_>) -> Result<(), Stop>;

/// The same observer for a part of the time.
pub fn again<'s>(tell: &'s mut Option<Tell<'_>>) -> Option<Tell<'s>> {
    match tell {
        Some(tell) => Some(&mut **tell),
        None => None,
    }
}

/// Somebody observes, or nobody does and events go nowhere.
pub struct Observed<'a>(pub Option<Tell<'a>>);

impl Sink for Observed<'_> {
    const ON: bool = true;

    #[inline]
    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self.0.as_mut().map_or(Ok(()), |tell| tell(who, event))
    }
}
