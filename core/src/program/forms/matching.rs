//! Does a form fit an instruction's modifiers?

use super::form::{Form, Slot, Word};
use crate::program::types::state_space;
use crate::ptx::tree::Names;
use crate::ptx::{Modifier, Opcode};
use smallvec::SmallVec;

/// The types of an instruction, in order.
pub type Types = SmallVec<[Modifier; 4]>;

/// Why a form does not fit; the later variants are the nearer misses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// A word that must follow the opcode does not.
    Head,
    /// The modifier at this index has no place in the form.
    Unexpected(usize),
    /// The types are not the form's.
    Types,
    /// The modifier at this index comes twice, or beside one that excludes it (the other index).
    Repeated(usize, usize),
    /// One of these is missing.
    Missing(Vec<Word>),
}

/// Whether a modifier is a type, and so keeps its order.
#[must_use]
pub fn is_type(modifier: Modifier) -> bool {
    modifier >= Modifier::U8 && modifier <= Modifier::S2F6X2
}

/// Modifiers that ptxas lets stand twice.
fn may_repeat(opcode: Opcode, modifier: Modifier) -> bool {
    use Opcode as O;
    let matrix = matches!(opcode, O::MMA | O::WMMA | O::LDMATRIX | O::STMATRIX | O::MOVMATRIX);
    match modifier {
        Modifier::SAT | Modifier::UNI | Modifier::SYNC | Modifier::APPROX | Modifier::CC => true,
        Modifier::ALIGNED => !matrix,
        _ => false,
    }
}

impl Word {
    /// Whether a modifier is this word.
    #[must_use]
    pub fn accepts(self, modifier: Modifier, names: &Names) -> bool {
        match self {
            Self::Known(word) => word == modifier,
            Self::Pattern(pattern) => !modifier.is_known() && glob(pattern, modifier.text(names)),
        }
    }
}

/// Whether `text` is `pattern` with digits for each star.
fn glob(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    for (index, part) in pattern.split('*').enumerate() {
        if index > 0 {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                return false;
            }
            rest = &rest[digits..];
        }
        match rest.strip_prefix(part) {
            Some(shorter) => rest = shorter,
            None => return false,
        }
    }
    rest.is_empty()
}

impl Slot {
    fn accepts(&self, modifier: Modifier, names: &Names) -> bool {
        self.words.iter().any(|word| word.accepts(modifier, names))
    }
}

impl Form {
    /// Fits the form to the modifiers of an instruction, and gives its types.
    ///
    /// # Errors
    /// The first reason why it does not fit, and how many modifiers had been placed: the form with most is the one to
    /// explain.
    pub fn fit(&self, mods: &[Modifier], names: &Names) -> Result<Types, (Mismatch, usize)> {
        let heads = self.heads.len();
        if mods.len() < heads || self.heads.iter().zip(mods).any(|(slot, m)| !slot.accepts(*m, names)) {
            return Err((Mismatch::Head, 0));
        }
        let mut types = Types::new();
        let mut taken: SmallVec<[Option<usize>; 16]> = SmallVec::from_elem(None, self.flags.len());
        let mut problem = None;
        let mut placed = heads;
        for (index, &modifier) in mods.iter().enumerate().skip(heads) {
            let fits = |slot: &&(usize, &Slot)| slot.1.accepts(modifier, names);
            let slots: SmallVec<[(usize, &Slot); 16]> = self.flags.iter().enumerate().collect();
            let mut places = slots.iter().filter(fits);
            match places.clone().find(|(slot, _)| taken[*slot].is_none()) {
                Some((slot, _)) => {
                    taken[*slot] = Some(index);
                    placed += 1;
                }
                None => match places.next() {
                    Some((slot, _)) => {
                        let other = taken[*slot].unwrap_or(index);
                        if mods[other] != modifier || !may_repeat(self.opcode, modifier) {
                            problem.get_or_insert(Mismatch::Repeated(other, index));
                        }
                    }
                    None if is_type(modifier) => types.push(modifier),
                    None if self.open => {}
                    None => {
                        problem.get_or_insert(Mismatch::Unexpected(index));
                    }
                },
            }
        }
        if let Some(problem) = problem {
            return Err((problem, placed));
        }
        let same = types.len() == self.types.len() && types.iter().zip(&self.types).all(|(t, s)| s.accepts(*t, names));
        if !same && !self.open {
            return Err((Mismatch::Types, placed));
        }
        if let Some(index) = self.out_of_place(&taken, names) {
            return Err((Mismatch::Unexpected(index), placed));
        }
        for (slot, index) in self.flags.iter().zip(&taken) {
            if !slot.optional && index.is_none() {
                return Err((Mismatch::Missing(slot.words.clone()), placed + types.len()));
            }
        }
        Ok(types)
    }

    /// The state space of a copy that does not stand where the form has it: where from and where to is told by the order.
    fn out_of_place(&self, taken: &[Option<usize>], names: &Names) -> Option<usize> {
        let space = |slot: &Slot| match slot.words.first() {
            Some(Word::Known(word)) => !slot.optional && state_space(*word, names).is_some(),
            _ => false,
        };
        let spaces = self.flags.iter().zip(taken).filter(|(slot, _)| space(slot));
        let mut last = None;
        spaces.filter_map(|(_, index)| *index).find(|index| last.replace(*index).is_some_and(|before| before > *index))
    }
}

#[cfg(test)]
mod tests {
    use super::super::forms;
    use super::*;

    fn fits(text: &str) -> bool {
        let mut names = Names::default();
        let mut words = text.split('.');
        let opcode = Opcode::of(words.next().unwrap_or(""), &mut names);
        let mods: Vec<Modifier> = words.map(|w| Modifier::of(w, &mut names)).collect();
        forms(opcode).iter().any(|form| form.fit(&mods, &names).is_ok())
    }

    #[test]
    fn modifiers_come_in_any_order_but_types_and_opcode_words_keep_theirs() {
        for good in [
            "add.s32.sat",
            "ld.f32.v2.global",
            "cvt.u32.rzi.f32",
            "setp.s32.and.eq",
            "bar.sync.sync",
            "cp.async.shared.global.ca",
        ] {
            assert!(fits(good), "{good}");
        }
        for bad in [
            "mul.s32.wide",
            "cvta.global.to.u64",
            "cvt.f32.u32",
            "add.s32.u32",
            "add.rn.rz.f32",
            "ld.global.shared.u32",
            "cp.async.ca.global.shared",
            "mbarrier.shared.init.b64",
            "movmatrix.sync.aligned.aligned.m8n8.trans.b16",
        ] {
            assert!(!fits(bad), "{bad}");
        }
    }

    #[test]
    fn shapes_match_by_pattern() {
        assert!(glob("m*n*k*", "m16n8k16"));
        assert!(!glob("m*n*k*", "m16n8"));
    }
}
