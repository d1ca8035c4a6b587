//! What a model says of a kernel: whether its results are always as its launch file expects, and whether it has no data race.

use super::Kernel;
use crate::axiom::{Limits, Model, Place, Question, Way, search_by};
use crate::explore::Target;
use crate::launch::{Device, Expect, Spec, compare};
use crate::litmus::decided::{Decided, Property};
use crate::verdict::Stop;
use std::ops::ControlFlow;

/// The most elements of buffers whose last values are asked about: each has a choice of its own.
const ASKED: usize = 4096;

/// A buffer whose contents are expected, and which of the places asked about are its elements.
struct Asked<'a> {
    name: &'a str,
    expect: Expect,
    from: usize,
    count: usize,
}

/// Decides a property of the first launch of a target.
///
/// `safety`: whether every execution leaves what is expected; `drf`: whether none raises a flag.
///
/// # Errors
/// More threads or memory than there are numbers for.
pub fn decide_kernel(
    target: &Target,
    model: &Model,
    property: Property,
    way: Way,
    limits: Limits,
) -> Result<(Decided, Kernel), Stop> {
    let (device, spec) = (target.start(), target.spec());
    let kernel = Kernel::new(device.context(), &target.launches()[0])?;
    let flagged = property == Property::Drf;
    let (asked, finals) = if flagged { (Vec::new(), Vec::new()) } else { asked(device, spec, &kernel) };
    let wanted = |_: &[&[Option<u64>]], values: &[Option<u64>]| {
        if flagged {
            return Some(true);
        }
        let mut open = false;
        for buffer in &asked {
            let size = buffer.expect.ty.size();
            let known: Option<Vec<u8>> = values[buffer.from..buffer.from + buffer.count]
                .iter()
                .map(|value| Some(value.as_ref()?.to_le_bytes()[..size].to_vec()))
                .collect::<Option<Vec<_>>>()
                .map(|parts| parts.concat());
            match known.map(|bytes| compare(buffer.name, &buffer.expect, &bytes)) {
                Some(Ok(Some(_))) => return Some(true),
                Some(_) => {}
                None => open = true,
            }
        }
        if open { None } else { Some(false) }
    };
    let question = Question { finals: &finals, wanted: &wanted, alike: &|_, _| false, flagged };
    let mut witness = None;
    let searched = search_by(way, &kernel, model, &question, limits, &mut |execution| {
        witness = Some(execution.clone());
        ControlFlow::Break(())
    });
    Ok((Decided { pass: witness.is_none(), witness, lasso: None, searched }, kernel))
}

/// What is expected of buffers, and the places of their elements.
fn asked<'a>(device: &Device, spec: &'a Spec, kernel: &Kernel) -> (Vec<Asked<'a>>, Vec<Place>) {
    let (mut asked, mut finals) = (Vec::new(), Vec::new());
    for (name, expect) in &spec.expect {
        let Some((_, found)) = device.contents(name) else { continue };
        let size = expect.ty.size();
        let from = finals.len();
        let elements = (found.len() / size).min(ASKED);
        for element in 0..elements {
            let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            finals.extend(kernel.place(name, number(element * size), number(size)));
        }
        asked.push(Asked { name, expect: expect.clone(), from, count: finals.len() - from });
    }
    (asked, finals)
}
