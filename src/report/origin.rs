//! Where things come from, in words: undefined values, and memory that device code allocated.

use super::bug::{inside_json, place_in};
use super::diagnostic::place as source_place;
use super::stop::{StopReport, who};
use crate::base::Pc;
use crate::verdict::{AllocKind, BugKind, Inside, LeakSite, Lifetime, Origin, Place, Writers};
use serde_json::{Value, json};

impl StopReport<'_> {
    /// An instruction as `FILE:LINE`.
    pub(super) fn file_line(&self, pc: Pc) -> String {
        let (file, span) = self.span(pc);
        self.sources.get(file).map_or_else(
            || "a line that is not known".to_owned(),
            |s| format!("{}:{}", s.name, s.line_col(span.start).0),
        )
    }

    /// More lines about a defect: where what is wrong comes from.
    pub(super) fn more(&self, kind: &BugKind) -> Option<String> {
        if let BugKind::Uninitialised { origin, .. } = kind {
            return origin.as_ref().map(|o| self.origin(o));
        }
        let Lifetime { allocated, freed } = life(kind)?;
        let one = |what, place: &Place| format!("{what} at {} by {}", self.file_line(place.pc), who(place));
        let freed = freed.as_ref().map(|f| format!("\n{}", one("freed", f)));
        Some(one("allocated", allocated) + &freed.unwrap_or_default())
    }

    /// The same as JSON, added to the particulars of the defect.
    pub(super) fn particulars(&self, kind: &BugKind, value: &mut Value) {
        let life_json = |life: &Lifetime| {
            let freed = life.freed.as_ref().map(|f| self.thread(f));
            json!({ "allocated": self.thread(&life.allocated), "freed": freed })
        };
        match kind {
            BugKind::Uninitialised { origin, .. } => {
                value["origin"] = origin.as_ref().map(|o| self.origin_json(o)).into();
            }
            BugKind::OutOfBounds { nearest: Some(near), .. } | BugKind::UseAfterFree { nearest: near, .. } => {
                value["nearest"]["life"] = near.life.as_deref().map(life_json).into();
            }
            BugKind::OutsideObject { .. } => value["origin"]["life"] = Value::Null,
            BugKind::BadFree { life, .. } => value["life"] = life.as_deref().map(life_json).into(),
            BugKind::Leak { sites } => {
                let site =
                    |s: &LeakSite| json!({ "thread": self.thread(&s.place), "blocks": s.blocks, "bytes": s.bytes });
                value["sites"] = sites.iter().map(site).collect();
            }
            _ => {}
        }
    }

    /// The origin of an undefined value, in one or two lines.
    pub(super) fn origin(&self, origin: &Origin) -> String {
        match origin {
            Origin::Register(Some(name)) => format!("origin: register {name}, which this thread had not written"),
            Origin::Register(None) => "origin: a register that this thread had not written".to_owned(),
            Origin::Absent(shuffle) => {
                let place = self.file_line(*shuffle);
                format!("origin: the shuffle at {place}; its source lane had exited or is not in its member mask")
            }
            Origin::Memory { inside, read, writers, .. } => {
                let what = variable(inside);
                let byte = format!("byte {} of {what}", inside.offset);
                let read = format!("origin: {byte}, read at {}; nobody had written it by then", self.file_line(*read));
                format!("{read}\n{}", self.writers(&what, space(inside.kind), writers))
            }
        }
    }

    fn writers(&self, what: &str, space: &str, writers: &Writers) -> String {
        let lines = |pcs: &[Pc]| {
            let mut lines: Vec<String> = pcs.iter().map(|pc| self.file_line(*pc)).collect();
            lines.dedup();
            lines.join(", ")
        };
        match writers {
            Writers::Beside(pcs) => format!("writes to {what} until then, elsewhere: {}", lines(pcs)),
            Writers::Later(pcs) => {
                format!("nothing was written to {what} until then; writes to {space}: {}", lines(pcs))
            }
            Writers::Nobody => format!("no instruction of the kernel writes to {space}"),
        }
    }

    /// The same as JSON: `register`; or the `shuffle` (a place); or `address`, `inside`, `read` (a place), and the `writers` with what they are.
    pub(super) fn origin_json(&self, origin: &Origin) -> Value {
        let place = |pc: &Pc| {
            let (file, span) = self.span(*pc);
            source_place(file, span, self.sources)
        };
        match origin {
            Origin::Register(name) => json!({ "register": name }),
            Origin::Absent(shuffle) => json!({ "shuffle": place(shuffle) }),
            Origin::Memory { address, inside, read, writers } => {
                let (found, pcs) = match writers {
                    Writers::Beside(pcs) => ("beside", pcs.as_slice()),
                    Writers::Later(pcs) => ("later", pcs.as_slice()),
                    Writers::Nobody => ("nobody", &[][..]),
                };
                json!({ "address": address, "inside": inside_json(inside), "read": place(read), "written": found,
                        "writers": pcs.iter().map(place).collect::<Vec<_>>() })
            }
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
