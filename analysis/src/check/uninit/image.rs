//! Definedness through texture and surface instructions: handles and coordinates decide where they act, and a result is defined where all
//! texels are that it is made of.

use super::cause::Cause;
use super::shadow::{DEFINED, Regs, whole};
use crate::base::{Frame, LaneMask, Pc, lanes_of};
use crate::program::image::{ImageOp, ImagePart};
use crate::program::instr::Slot;
use crate::program::ops::Class;

/// The slots that decide where a part acts, the first that is not defined in some lanes, and which these are.
pub(super) fn deciding(
    part: &ImageOp,
    lanes: LaneMask,
    regs: &Frame,
    shadow: &Regs,
) -> Option<(Class, Slot, LaneMask)> {
    if !matches!(part.kind, ImagePart::Locate(_) | ImagePart::Reach(_)) {
        return None;
    }
    let lanes = match part.guard {
        Some(guard) => {
            let defined = shadow.get(Class::P, guard.pred)[0];
            if lanes & !defined != 0 {
                return Some((Class::P, guard.pred, lanes & !defined));
            }
            let holds = regs.p.get(guard.pred.index()).copied().unwrap_or(0);
            lanes & if guard.negated { !holds } else { holds }
        }
        None => lanes,
    };
    let mut found = None;
    part.slots(&mut |written, class, slot| {
        let bad = lanes & !whole(&shadow.get(class, slot));
        if !written && found.is_none() && bad != 0 {
            found = Some((class, slot, bad));
        }
    });
    found
}

/// Carries definedness through a part.
pub(super) fn run(part: &ImageOp, pc: Pc, lanes: LaneMask, shadow: &mut Regs) {
    let (mut defined, mut read, mut written) = (!0, Vec::new(), Vec::new());
    part.slots(&mut |writes, class, slot| if writes { written.push((class, slot)) } else { read.push((class, slot)) });
    // What is found is defined where it is used: who finds it has been looked at before.
    if !matches!(part.kind, ImagePart::Locate(_) | ImagePart::Reach(_)) {
        read.iter().for_each(|(class, slot)| defined &= whole(&shadow.get(*class, *slot)));
    }
    let causes: Vec<(usize, Cause)> = lanes_of(lanes & !defined)
        .filter_map(|lane| {
            let undefined = |(class, slot): &&(Class, Slot)| whole(&shadow.get(*class, *slot)) >> lane & 1 == 0;
            let (class, slot) = read.iter().find(undefined)?;
            Some((lane, shadow.cause(*class, *slot, lane, pc)))
        })
        .collect();
    for (class, slot) in written {
        shadow.put(class, slot, lanes, &if lanes & !defined == 0 { DEFINED } else { [defined; 8] });
        shadow.blame(class, slot, causes.iter().copied());
    }
}
