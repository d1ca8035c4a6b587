//! A propositional formula in the making, and the solver that holds it.

use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, lbool};
use smallvec::SmallVec;
use std::cell::Cell;

/// Whether something is so: never, always, or as a literal says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bit {
    No,
    Yes,
    If(Lit),
}

impl std::ops::Not for Bit {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Yes => Self::No,
            Self::If(lit) => Self::If(!lit),
        }
    }
}

/// Literals that hold together.
pub(super) type Term = SmallVec<[Lit; 4]>;

/// Bits that hold together; none where one never does.
pub(super) fn term(bits: &[Bit]) -> Option<Term> {
    let mut all = Term::new();
    for bit in bits {
        match bit {
            Bit::No => return None,
            Bit::Yes => {}
            Bit::If(lit) => all.push(*lit),
        }
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// Which way a definition has to be kept: a formula grows with the ways, and most definitions are looked at from one side only
/// (Plaisted and Greenbaum, 1986).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Needs {
    /// What is so is also called so.
    pub(super) up: bool,
    /// What is called so is so.
    pub(super) down: bool,
}

/// Whether time or memory is up.
type Up<'q> = &'q dyn Fn() -> bool;

/// Questions of the solver's after which that is asked.
const PATIENCE: u32 = 1 << 10;

/// The same of work on clauses: of clauses that are added, or terms that are looked at.
const WORK: usize = 1 << 10;

/// Stops a solver that learns more clauses than it may, or when its time is up.
struct Budget<'q> {
    learnt: u64,
    most: u64,
    asked: Cell<u32>,
    up: Up<'q>,
    /// Whether it is over: the solver asks once more behind each of its rounds, and goes on when it hears otherwise then.
    over: Cell<bool>,
}

impl Callbacks for Budget<'_> {
    fn on_new_clause(&mut self, _: &[Lit], _: batsat::ClauseKind) {
        self.learnt += 1;
    }

    fn stop(&self) -> bool {
        self.asked.set(self.asked.get().wrapping_add(1));
        let ask = || self.asked.get().is_multiple_of(PATIENCE) && (self.up)();
        self.over.set(self.over.get() || self.learnt > self.most || ask());
        self.over.get()
    }
}

/// Clauses.
pub(super) struct Formula<'q> {
    solver: Solver<Budget<'q>>,
    clause: Vec<Lit>,
    up: Up<'q>,
    /// Work done since it was last asked whether time is up.
    work: usize,
    /// Time was up before all clauses were there: it decides nothing.
    over: bool,
}

/// What a solver says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    Model,
    None,
    Limit,
}

impl<'q> Formula<'q> {
    /// No clauses; at most so many are to be learnt, until `up` says that time is.
    pub(super) fn new(most: u64, up: Up<'q>) -> Self {
        let budget = Budget { learnt: 0, most, asked: Cell::new(0), up, over: Cell::new(false) };
        let solver = Solver::new(SolverOpts::default(), budget);
        Self { solver, clause: Vec::new(), up, work: 0, over: false }
    }

    /// Whether time was up before all clauses were there.
    pub(super) const fn is_over(&self) -> bool {
        self.over
    }

    /// Whether to go on, now that so much more work was done. What is made when it is over decides nothing.
    pub(super) fn goes_on(&mut self, work: usize) -> bool {
        self.work += work;
        if self.work >= WORK {
            self.work = 0;
            self.over = self.over || (self.up)();
        }
        !self.over
    }

    pub(super) fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var_default(), true)
    }

    /// One of these is so.
    pub(super) fn clause(&mut self, bits: impl IntoIterator<Item = Bit>) {
        if !self.goes_on(1) {
            return;
        }
        self.clause.clear();
        for bit in bits {
            match bit {
                Bit::No => {}
                Bit::Yes => return,
                Bit::If(lit) => self.clause.push(lit),
            }
        }
        self.solver.add_clause_reuse(&mut self.clause);
    }

    /// These are not so together.
    pub(super) fn forbid(&mut self, bits: impl IntoIterator<Item = Bit>) {
        self.clause(bits.into_iter().map(|bit| !bit));
    }

    /// Where all of `premises` are so, `conclusion` is.
    pub(super) fn imply(&mut self, premises: &[Bit], conclusion: Bit) {
        self.clause(premises.iter().map(|bit| !*bit).chain([conclusion]));
    }

    /// At most one of these is so.
    pub(super) fn at_most_one(&mut self, bits: &[Bit]) {
        for (k, a) in bits.iter().enumerate() {
            bits[k + 1..].iter().for_each(|b| self.forbid([*a, *b]));
        }
    }

    /// Bits that hold together.
    pub(super) fn both(&mut self, bits: &[Bit], needs: Needs) -> Bit {
        self.some(term(bits).into_iter().collect(), needs)
    }

    /// That some of the terms is so.
    pub(super) fn some(&mut self, mut terms: Vec<Term>, needs: Needs) -> Bit {
        if terms.iter().any(SmallVec::is_empty) {
            return Bit::Yes;
        }
        terms.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        terms.dedup();
        let single = terms.iter().take_while(|term| term.len() == 1).map(|term| term[0]).collect::<Vec<Lit>>();
        terms.retain(|term| term.len() == 1 || !term.iter().any(|lit| single.contains(lit)));
        match &terms[..] {
            [] => return Bit::No,
            [only] if only.len() == 1 => return Bit::If(only[0]),
            _ => {}
        }
        let this = self.fresh();
        self.define(Bit::If(this), &terms, needs);
        Bit::If(this)
    }

    /// A bit is so where some of the terms is.
    pub(super) fn define(&mut self, this: Bit, terms: &[Term], needs: Needs) {
        if needs.up {
            for term in terms {
                self.clause(term.iter().map(|lit| Bit::If(!*lit)).chain([this]));
            }
        }
        if needs.down {
            let mut all = vec![!this];
            for term in terms {
                all.push(match &term[..] {
                    [] => Bit::Yes,
                    [only] => Bit::If(*only),
                    _ => {
                        let whole = Bit::If(self.fresh());
                        term.iter().for_each(|lit| self.imply(&[whole], Bit::If(*lit)));
                        whole
                    }
                });
            }
            self.clause(all);
        }
    }

    /// Looks for values that satisfy all clauses.
    pub(super) fn solve(&mut self) -> Answer {
        if self.over {
            return Answer::Limit;
        }
        match self.solver.solve_limited(&[]) {
            it if it == lbool::TRUE => Answer::Model,
            it if it == lbool::FALSE => Answer::None,
            _ => Answer::Limit,
        }
    }

    /// Whether a bit is so in what was found last.
    pub(super) fn holds(&self, bit: Bit) -> bool {
        match bit {
            Bit::No => false,
            Bit::Yes => true,
            Bit::If(lit) => self.solver.value_lit(lit) == lbool::TRUE,
        }
    }

    /// How often the solver chose.
    pub(super) fn decisions(&self) -> u64 {
        self.solver.num_decisions()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More pigeons than holes, which takes a solver that resolves clauses exponentially long (A. Haken, "The intractability of
    /// resolution", 1985).
    fn pigeons<'q>(up: Up<'q>) -> Formula<'q> {
        const HOLES: usize = 12;
        let mut formula = Formula::new(u64::MAX, up);
        let sits: Vec<Vec<Lit>> = (0..=HOLES).map(|_| (0..HOLES).map(|_| formula.fresh()).collect()).collect();
        for pigeon in &sits {
            formula.clause(pigeon.iter().copied().map(Bit::If));
        }
        for (k, one) in sits.iter().enumerate() {
            for other in &sits[..k] {
                one.iter().zip(other).for_each(|(one, other)| formula.clause([Bit::If(!*one), Bit::If(!*other)]));
            }
        }
        formula
    }

    #[test]
    fn a_solver_whose_time_is_up_ends() {
        let asked = Cell::new(0);
        let up = || {
            asked.set(asked.get() + 1);
            assert!(asked.get() < 100, "it goes on though its time is up");
            asked.get() > 3
        };
        assert_eq!(pigeons(&up).solve(), Answer::Limit);
    }
}
