//! An observer behind one type, so that the machine is compiled for observation once.

use crate::base::Pc;
use crate::verdict::{Event, Extent, Needs, Row, Sink, Stop, Who};

/// Whoever listens to a machine: a function, or a [`Sink`] as [`Heard`].
pub trait Listen {
    /// Takes note of an event.
    ///
    /// # Errors
    /// It stops the run.
    fn hear(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop>;

    /// What it needs ([`Sink::needs`]).
    fn needs(&self) -> Needs;

    /// Takes note of accesses ([`Sink::rows`]).
    fn rows(&mut self, _: Who, _: &[Row]) -> usize {
        0
    }
}

impl<F: FnMut(Who, Event<'_>) -> Result<(), Stop>> Listen for F {
    fn hear(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self(who, event)
    }

    fn needs(&self) -> Needs {
        Needs::all()
    }
}

/// A sink as a listener.
pub struct Heard<'a, S>(pub &'a mut S);

impl<S: Sink> Listen for Heard<'_, S> {
    fn hear(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        self.0.event(who, event)
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn rows(&mut self, who: Who, rows: &[Row]) -> usize {
        self.0.rows(who, rows)
    }
}

/// An observer.
pub type Tell<'a> = &'a mut dyn Listen;

/// The same observer for a part of the time.
pub fn again<'s>(tell: &'s mut Option<Tell<'_>>) -> Option<Tell<'s>> {
    match tell {
        Some(tell) => Some(&mut **tell),
        None => None,
    }
}

/// Somebody observes, or nobody does and events go nowhere.
pub struct Observed<'a> {
    tell: Option<Tell<'a>>,
    needs: Needs,
    /// How many of the next accesses have been taken note of as rows: they are executed by the interpreter after all.
    noted: usize,
}

impl<'a> Observed<'a> {
    /// An observer, if there is one.
    pub fn new(tell: Option<Tell<'a>>) -> Self {
        let nothing = Needs { rules: false, ..Needs::all() };
        let needs = tell.as_ref().map_or(nothing, |tell| tell.needs());
        Self { tell, needs, noted: 0 }
    }
}

impl Sink for Observed<'_> {
    const ON: bool = true;

    #[inline]
    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        let Some(tell) = self.tell.as_mut() else { return Ok(()) };
        if self.noted > 0 && matches!(event, Event::Access(_)) {
            self.noted -= 1;
            return Ok(());
        }
        let launch = matches!(event, Event::Launch { .. });
        tell.hear(who, event)?;
        if launch {
            self.needs = tell.needs();
        }
        Ok(())
    }

    #[inline(always)]
    fn quiet(&self, pc: Pc) -> Extent {
        self.needs.quiet.get(pc.0 as usize).copied().unwrap_or_default()
    }

    fn takes_rows(&self) -> Option<&Needs> {
        Some(&self.needs).filter(|needs| needs.rows && self.tell.is_some())
    }

    #[inline(always)]
    fn wants_barriers(&self) -> bool {
        self.needs.barriers
    }

    fn rows(&mut self, who: Who, rows: &[Row]) -> usize {
        let noted = self.tell.as_mut().map_or(0, |tell| tell.rows(who, rows)).min(rows.len());
        self.noted = if noted == rows.len() { 0 } else { noted };
        noted
    }

    #[inline(always)]
    fn wants(&self, pc: Pc) -> bool {
        self.tell.is_some() && self.needs.steps.as_ref().is_none_or(|needs| needs.contains(pc.0 as usize))
    }

    #[inline(always)]
    fn wants_rules(&self) -> bool {
        self.needs.rules
    }
}
