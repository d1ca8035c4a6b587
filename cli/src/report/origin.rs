//! Where things come from, in words: undefined values, and memory that device code allocated.

use super::stop::StopReport;
use super::words::{place_in, who};
use crate::base::Pc;
use crate::verdict::{AllocKind, BugKind, Inside, Lifetime, Origin, Place, Writers};

impl StopReport<'_> {
    /// An instruction as `FILE:LINE`.
    pub(super) fn file_line(&self, pc: Pc) -> Option<String> {
        let (file, span) = self.span(pc);
        self.sources.file_line(file, span)
    }

    fn known_line(&self, pc: Pc) -> String {
        self.file_line(pc).unwrap_or_else(|| "a line that is not known".to_owned())
    }

    /// More lines about a defect: where what is wrong comes from.
    pub(super) fn more(&self, kind: &BugKind) -> Option<String> {
        if let BugKind::Uninitialised { origin, .. } = kind {
            return origin.as_ref().map(|o| self.origin(o));
        }
        let Lifetime { allocated, freed } = life(kind)?;
        let one = |what, place: &Place| format!("{what} at {} by {}", self.known_line(place.pc), who(place));
        let freed = freed.as_ref().map(|f| format!("\n{}", one("freed", f)));
        Some(one("allocated", allocated) + &freed.unwrap_or_default())
    }

    /// The origin of an undefined value, in one or two lines.
    pub(super) fn origin(&self, origin: &Origin) -> String {
        match origin {
            Origin::Register(Some(name)) => format!("origin: register {name}, which this thread had not written"),
            Origin::Register(None) => "origin: a register that this thread had not written".to_owned(),
            Origin::Absent(shuffle) => {
                let place = self.known_line(*shuffle);
                format!("origin: the shuffle at {place}; its source lane had exited or is not in its member mask")
            }
            Origin::Memory { inside, read, writers, .. } => {
                let what = variable(inside);
                let byte = format!("byte {} of {what}", inside.offset);
                let read = format!("origin: {byte}, read at {}; nobody had written it by then", self.known_line(*read));
                format!("{read}\n{}", self.writers(&what, space(inside.kind), writers))
            }
        }
    }

    fn writers(&self, what: &str, space: &str, writers: &Writers) -> String {
        let lines = |pcs: &[Pc]| {
            let mut lines: Vec<String> = pcs.iter().map(|pc| self.known_line(*pc)).collect();
            lines.dedup();
            lines.join(", ")
        };
        match writers {
            Writers::Beside(pcs) => format!("writes to {what} until then, elsewhere: {}", lines(pcs)),
            Writers::Later(pcs) => {
                format!("nothing was written to {what} until then; writes to {space}: {}", lines(pcs))
            }
            Writers::Nobody(_) => format!("no instruction of the kernel writes to {space}"),
        }
    }
}

/// The life of the block of device memory that a defect is about.
fn life(kind: &BugKind) -> Option<&Lifetime> {
    match kind {
        BugKind::OutOfBounds { nearest: Some(near), .. } | BugKind::UseAfterFree { nearest: near, .. } => {
            near.life.as_deref()
        }
        BugKind::BadFree { life, .. } => life.as_deref(),
        _ => None,
    }
}

/// A variable, buffer or block, without the place in it.
fn variable(inside: &Inside) -> String {
    let start = Inside { offset: 0, ..inside.clone() };
    let kind = match inside.kind {
        AllocKind::Buffer => "buffer",
        AllocKind::Shared => "shared memory",
        AllocKind::Local => "the thread's local memory",
        AllocKind::Heap => "a block of the device's malloc",
        AllocKind::Global | AllocKind::Const | AllocKind::Param => "variable",
    };
    place_in(&start).map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}"))
}

const fn space(kind: AllocKind) -> &'static str {
    match kind {
        AllocKind::Shared => "shared memory",
        AllocKind::Local => "local memory",
        _ => "global memory",
    }
}
