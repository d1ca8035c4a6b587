//! What a model says of a kernel: whether its results are always as its launch file expects, whether some execution leaves others,
//! and whether it has no data race.

use super::Kernel;
use super::asks::{Asks, Judged};
use super::hang::decide_hang;
use super::mixed::where_axioms_apply;
use super::watched::{Fate, Watched, first};
use crate::axiom::{Evaluation, Execution, Limits, Model, Place, Question, Searched, Way};
use crate::explore::Target;
use crate::launch::{Device, Expect, Mismatch, Spec, compare};
use crate::litmus::decided::{Decided, Property};
use crate::verdict::Stop;
use std::cell::Cell;

/// The most elements of buffers whose last values are asked about: each has a choice of its own.
const ASKED: usize = 4096;

/// A buffer whose contents are expected, and which of the places asked about are its elements.
struct Asked<'a> {
    name: &'a str,
    expect: &'a Expect,
    from: usize,
    count: usize,
}

impl Asked<'_> {
    /// What is other than expected, by the last values that are asked about; none: some value is not known.
    fn mismatch(&self, values: &[Option<u64>]) -> Option<Option<Mismatch>> {
        let size = self.expect.ty.size();
        let bytes: Option<Vec<u8>> = values[self.from..self.from + self.count]
            .iter()
            .map(|value| Some(value.as_ref()?.to_le_bytes()[..size].to_vec()))
            .collect::<Option<Vec<_>>>()
            .map(|parts| parts.concat());
        // That the lengths fit was seen when the target was made.
        Some(compare(self.name, self.expect, &bytes?).ok().flatten())
    }
}

/// Decides a property of the first launch of a target.
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
    let kernel = Kernel::of(target)?;
    let asks = match property {
        Property::Safety => Asks::Expected,
        Property::Drf => Asks::Races,
        Property::Liveness => Asks::Ends,
    };
    let judged = decide_kernel_until(&kernel, target, model, &asks, (way, limits), &|| false);
    Ok((judged.decided, kernel))
}

/// Decides what is asked of the first launch of a target, whose kernel is given; stops as at a limit of choices once `up` says so.
///
/// Rule: D-axiom-asked
#[must_use]
pub fn decide_kernel_until(
    kernel: &Kernel,
    target: &Target,
    model: &Model,
    asks: &Asks,
    (way, limits): (Way, Limits),
    up: &dyn Fn() -> bool,
) -> Judged {
    let judged = by_axioms(kernel, target, model, asks, (way, limits), up);
    where_axioms_apply(kernel, model, asks, (way, limits), up, judged)
}

/// What the axioms say, whether they apply or not.
fn by_axioms(
    kernel: &Kernel,
    target: &Target,
    model: &Model,
    asks: &Asks,
    (way, limits): (Way, Limits),
    up: &dyn Fn() -> bool,
) -> Judged {
    let (asked, finals) = match asks {
        Asks::Ends => return decide_hang(kernel, model, (way, limits), up),
        Asks::Races => Default::default(),
        Asks::Exists(goal) => (Vec::new(), goal.places.iter().map(|(place, _)| *place).collect()),
        Asks::Expected => match asked(target.start(), target.spec(), kernel) {
            Ok(asked) => asked,
            Err(what) => return unsupported(what),
        },
    };
    let stopped = Cell::new(false);
    let wanted = |values: &[Option<u64>]| {
        if up() {
            stopped.set(true);
            return Some(false);
        }
        match asks {
            Asks::Races | Asks::Ends => Some(true),
            Asks::Exists(goal) => goal.known(values),
            Asks::Expected => {
                let mut open = false;
                for buffer in &asked {
                    match buffer.mismatch(values) {
                        Some(Some(_)) => return Some(true),
                        Some(None) => {}
                        None => open = true,
                    }
                }
                if open { None } else { Some(false) }
            }
        }
    };
    let flagged = matches!(asks, Asks::Races);
    let watched = Watched::new(kernel, false);
    let ask = |_: &[&[Option<u64>]], values: &[Option<u64>]| wanted(values);
    let question = Question { finals: &finals, wanted: &ask, symmetries: &[], flagged };
    let (mut witness, mut searched) = first(way, &watched, model, &question, limits);
    let (mut defect, mut gap) = (None, watched.gap());
    // Where nothing is expected, no execution is wanted, and none was built.
    let unseen = searched.faults > 0 || asked.is_empty();
    if witness.is_none() && unseen && matches!(asks, Asks::Expected) && !stopped.get() {
        let fates = |registers: &[&[Option<u64>]], _: &[Option<u64>]| {
            if up() {
                stopped.set(true);
                return Some(false);
            }
            Fate::some_fault(registers)
        };
        let watched = Watched::new(kernel, true);
        let question = Question { finals: &[], wanted: &fates, symmetries: &[], flagged: false };
        let (found, more) = first(way, &watched, model, &question, limits);
        defect = found.as_ref().and_then(|execution| faulty(kernel, execution, limits));
        (witness, gap) = (found, gap.or(watched.gap()));
        searched.choices += more.choices;
        searched.mixed |= more.mixed;
        searched.limited |= more.limited;
        searched.bounded |= watched.bounded();
        searched.unsupported = searched.unsupported.or(more.unsupported);
    }
    searched.limited |= stopped.get();
    let left = witness.as_ref().filter(|_| defect.is_none()).map(last_values).unwrap_or_default();
    let mismatches = asked.iter().filter(|_| !left.is_empty()).filter_map(|b| b.mismatch(&left).flatten()).collect();
    let pass = witness.is_some() == matches!(asks, Asks::Exists(_));
    Judged { decided: Decided { pass, witness, lasso: None, searched }, mismatches, defect, gap }
}

/// Nothing was searched, since something is not expressed.
fn unsupported(what: String) -> Judged {
    let searched = Searched { unsupported: Some(what), ..Searched::default() };
    let decided = Decided { pass: false, witness: None, lasso: None, searched };
    Judged { decided, mismatches: Vec::new(), defect: None, gap: None }
}

fn last_values(execution: &Execution) -> Vec<Option<u64>> {
    execution.finals.iter().map(|(_, value)| Some(*value)).collect()
}

/// Why the thread stops that comes to a defect.
fn faulty(kernel: &Kernel, execution: &Execution, limits: Limits) -> Option<Stop> {
    let thread = execution.registers.iter().position(|fate| fate.first() == Some(&Fate::Fault.number()))?;
    let reads = super::watched::reads(execution, thread);
    kernel.stop(thread, crate::axiom::Known { reads: &reads, assumed: &[], bound: limits.bound })
}

/// Whether an execution shows what it was given for, by the plainest reading of the model: an error of ours, if it does not.
///
/// # Errors
/// What is wrong with it, as a clause.
pub fn accept_kernel(model: &Model, asks: &Asks, judged: &Judged) -> Result<(), String> {
    let prefix = judged.decided.lasso.as_ref().and_then(|lasso| lasso.prefix.as_ref());
    let Some(execution) = judged.decided.witness.as_ref().or(prefix.map(|(execution, _)| execution)) else {
        return Ok(());
    };
    let evaluation = Evaluation::of(model, &execution.bases(model));
    if let Some(finding) = evaluation.failed() {
        return Err(format!("a witness is refused by the axiom `{}` of {}", finding.axiom.name, model.name));
    }
    let right = match asks {
        Asks::Races => !evaluation.flags().is_empty(),
        Asks::Ends => true,
        Asks::Expected => !judged.mismatches.is_empty() || judged.defect.is_some(),
        Asks::Exists(goal) => goal.known(&last_values(execution)) == Some(true),
    };
    if right { Ok(()) } else { Err("a witness is not what was asked for".to_owned()) }
}

/// What is expected of buffers, and the places of their elements.
fn asked<'a>(device: &Device, spec: &'a Spec, kernel: &Kernel) -> Result<(Vec<Asked<'a>>, Vec<Place>), String> {
    let (mut asked, mut finals) = (Vec::new(), Vec::new());
    // What prints has no events: a kernel that ends without them has printed nothing.
    if spec.stdout.as_ref().is_some_and(|expected| !expected.text.is_empty()) {
        return Err("what the kernel prints, which has no events here".to_owned());
    }
    for (name, expect) in &spec.expect {
        let Some((_, found)) = device.contents(name) else { continue };
        let size = expect.ty.size();
        let from = finals.len();
        let elements = found.len() / size;
        if from + elements > ASKED {
            return Err(format!("an expectation of more than {ASKED} elements"));
        }
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        finals.extend((0..elements).filter_map(|k| kernel.place(name, number(k * size), number(size))));
        if finals.len() != from + elements {
            return Err(format!("an expectation of `{name}`, which is no memory of the device"));
        }
        asked.push(Asked { name, expect, from, count: elements });
    }
    Ok((asked, finals))
}
