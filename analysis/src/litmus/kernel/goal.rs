//! Conditions on the results of a launch: `out[0] == 1 && out[1] == 0`, in the notation of litmus tests or that of C.

use super::Kernel;
use crate::axiom::Place;
use crate::base::{FileId, sort};
use crate::launch::{Device, Meaning, Number, Problem, ProblemKind, Scalar};
use crate::litmus::error::LitmusError;
use crate::litmus::outcome::Observed;
use crate::litmus::parse::parse_condition;
use crate::litmus::tree::{Cond, Term, TermKind};

/// A condition on last values of buffers and variables.
#[derive(Clone, Debug)]
pub struct Goal {
    cond: Cond,
    observed: Observed,
    /// What it looks at, with the types of that.
    pub(super) places: Vec<(Place, Scalar)>,
}

/// Why there is no condition.
#[derive(Clone, Debug)]
pub enum NoGoal {
    /// The text is none.
    Syntax(Vec<LitmusError>),
    /// It asks about what is not there.
    Wrong(Vec<Problem>),
}

impl Goal {
    /// Reads the condition that is the text of a file. A name is that of a buffer or variable, and has an index if it has several elements.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(file: FileId, text: &str, kernel: &Kernel, device: &Device) -> Result<Self, NoGoal> {
        let cond = parse_condition(file, &in_litmus(text)).map_err(NoGoal::Syntax)?;
        let observed = Observed::of_condition(&cond);
        let mut problems = Vec::new();
        let mut terms = Vec::new();
        cond.terms(&mut terms);
        for term in &terms {
            if let Err(kind) = typed_place(&term.kind, kernel, device) {
                problems.push(kind.at(Some((file, term.span))));
            }
        }
        compare(&cond, &mut |one, two| {
            if let (TermKind::Number(n), Ok(Some((_, ty)))) = (&two.kind, typed_place(&one.kind, kernel, device))
                && ty.encode(&Number::Int((*n).into())).is_none()
            {
                let kind = ProblemKind::NoFit { text: n.to_string(), ty };
                problems.push(kind.at(Some((file, two.span))));
            }
        });
        if !problems.is_empty() {
            sort::sort_by_key(&mut problems, |problem| problem.at);
            problems.dedup();
            return Err(NoGoal::Wrong(problems));
        }
        let places = observed.places().filter_map(|term| typed_place(term, kernel, device).ok().flatten()).collect();
        Ok(Self { cond, observed, places })
    }

    /// What it is about.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        self.places.iter().map(|(place, _)| *place).collect()
    }

    /// Whether it holds of last values, as far as these are known.
    pub(super) fn known(&self, values: &[Option<u64>]) -> Option<bool> {
        let number = |((_, ty), value): (&(Place, Scalar), &Option<u64>)| value.map(|value| read_as(*ty, value));
        let values: Vec<Option<i64>> = self.places.iter().zip(values).map(number).collect();
        self.cond.known(&self.observed, &values)
    }
}

/// The text with the operators of litmus tests in place of those of C, at the same places.
fn in_litmus(text: &str) -> String {
    let negation = text.replace("!=", "\u{0}\u{0}").replace('!', "~").replace("\u{0}\u{0}", "!=");
    negation.replace("&&", "/\\").replace("||", "\\/")
}

/// Calls `with` on the terms of each comparison, both ways around.
fn compare(cond: &Cond, with: &mut dyn FnMut(&Term, &Term)) {
    match cond {
        Cond::Compare(left, _, right) => {
            with(left, right);
            with(right, left);
        }
        Cond::Not(inner) => compare(inner, with),
        Cond::And(list) | Cond::Or(list) => list.iter().for_each(|cond| compare(cond, with)),
    }
}

/// The place and type that a term stands for; none of a number.
fn typed_place(term: &TermKind, kernel: &Kernel, device: &Device) -> Result<Option<(Place, Scalar)>, ProblemKind> {
    let (name, element) = match term {
        TermKind::Number(_) => return Ok(None),
        TermKind::Register { thread, name } => {
            let text = format!("P{thread}:{name}");
            let why = "a condition is about the last values of buffers and variables, not about registers";
            return Err(ProblemKind::UnfitFlag { flag: "--exists", text, why });
        }
        TermKind::Location { name, element } => (name, *element),
    };
    let Some((ty, bytes)) = device.contents(name) else {
        let known = device.names().map(str::to_owned).collect();
        return Err(ProblemKind::UnknownVariable { name: name.clone(), known });
    };
    if matches!(ty.meaning, Meaning::Float | Meaning::Brain) {
        let why = "its elements are no integers: `[expect]` compares those";
        return Err(ProblemKind::UnfitFlag { flag: "--exists", text: name.clone(), why });
    }
    let elements = bytes.len() as u64 / u64::from(ty.bytes);
    let beyond = || ProblemKind::BeyondBuffer { name: name.clone(), element, elements };
    if element >= elements {
        return Err(beyond());
    }
    let offset = u32::try_from(element * u64::from(ty.bytes)).map_err(|_| beyond())?;
    kernel.place(name, offset, ty.bytes.into()).map(|place| Some((place, ty))).ok_or_else(beyond)
}

/// A number of a type, from its bytes.
const fn read_as(ty: Scalar, value: u64) -> i64 {
    let unused = 64 - 8 * ty.bytes as u32;
    match ty.meaning {
        Meaning::Signed => (value << unused).cast_signed() >> unused,
        _ => value.cast_signed(),
    }
}
