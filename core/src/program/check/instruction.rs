//! One instruction: its form, its guard, its operands.

use super::error::{CheckError, Problem};
use super::needs::modifier_need;
use super::{Checker, Typed, similar};
use crate::base::Span;
use crate::program::forms::{Form, Mismatch, Need, Role, Specific, Types, Word, forms};
use crate::program::select::select;
use crate::program::types::{Class, is_signed, lanes, state_space, type_info};
use crate::ptx::tree::{Instr, StateSpace};
use crate::ptx::{Modifier, Opcode};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::rc::Rc;

type Mods = SmallVec<[Modifier; 8]>;

/// What was found out about each opcode with its modifiers: a module has few different ones.
#[derive(Default)]
pub struct Cache(FxHashMap<Opcode, FxHashMap<Mods, Rc<Shape>>>);

/// What the modifiers of an instruction say.
pub struct Shape {
    /// The forms that they fit.
    pub forms: SmallVec<[(&'static Form, Types); 2]>,
    /// Where the first of them is in [`super::Checked::typed`]; the others follow.
    pub typed: u32,
    /// Complaints about them; the index is that of a modifier.
    pub problems: Vec<(Problem, Option<usize>)>,
    /// Elements of `.v2` and the like, else 1.
    pub lanes: u8,
    /// The state space named, when just one is.
    pub space: Option<StateSpace>,
    /// Whether several spaces are named, so that an address's space says nothing.
    pub spaces: bool,
}

impl Checker<'_> {
    /// Checks an instruction and notes its form.
    pub fn instruction(&mut self, instr: &Instr) {
        if let Some(guard) = instr.guard {
            self.guard(guard.pred.name, guard.pred.span);
        }
        let shape = self.shape(instr);
        for (problem, index) in &shape.problems {
            self.error(problem.clone(), index.map_or(instr.head, |i| self.modifier_span(instr, i)));
        }
        if shape.forms.is_empty() {
            self.checked.instructions.push(u32::MAX);
            self.names_of(&instr.operands);
            return;
        }
        if instr.opcode == Opcode::CALL {
            self.checked.instructions.push(shape.typed);
            self.call(instr);
            return;
        }
        let before = self.errors.len();
        self.names_of(&instr.operands);
        let mut first: Option<Box<CheckError>> = None;
        for ((form, types), typed) in shape.forms.iter().zip(shape.typed..) {
            match self.operands(instr, form, types, &shape) {
                Ok(()) => {
                    self.checked.instructions.push(typed);
                    return;
                }
                // An operand of the right count is nearer than a wrong count.
                Err(error) => match &first {
                    Some(old) if !matches!(old.kind, Problem::OperandCount { .. }) => {}
                    _ => first = Some(error),
                },
            }
        }
        self.checked.instructions.push(shape.typed);
        if let Some(error) = first.filter(|_| self.errors.len() == before) {
            self.errors.push(*error);
        }
    }

    fn guard(&mut self, name: crate::ptx::tree::Name, span: Span) {
        if self.register(name) == Some((Modifier::PRED, 1)) {
            return;
        }
        match self.found(name) {
            None => self.undeclared(name, span),
            Some(found) => self.error(Problem::Guard { found }, span),
        }
    }

    /// Where the n-th modifier stands; the whole head where the text does not tell.
    fn modifier_span(&self, instr: &Instr, index: usize) -> Span {
        // `opcode.a.b`: when nothing but the words and dots is there, positions follow from lengths.
        let mut start = instr.head.start + length(instr.opcode.text(self.names));
        for modifier in instr.mods.iter().take(index) {
            start += 1 + length(modifier.text(self.names));
        }
        let span = Span::new(start, start + 1 + instr.mods.get(index).map_or(0, |m| length(m.text(self.names))));
        let all: u32 = instr.mods.iter().map(|m| 1 + length(m.text(self.names))).sum();
        let whole = length(instr.opcode.text(self.names)) + all;
        if instr.head.end - instr.head.start == whole { span } else { instr.head }
    }

    fn shape(&mut self, instr: &Instr) -> Rc<Shape> {
        if let Some(shape) = self.cache.0.get(&instr.opcode).and_then(|by| by.get(instr.mods.as_slice())) {
            return Rc::clone(shape);
        }
        let mut shape = self.new_shape(instr.opcode, &instr.mods);
        shape.typed = u32::try_from(self.checked.typed.len()).unwrap_or(u32::MAX);
        self.checked.typed.extend(shape.forms.iter().map(|(form, types)| {
            let selected = select(form, types, &instr.mods);
            Typed { types: types.clone(), selected }
        }));
        let shape = Rc::new(shape);
        self.cache.0.entry(instr.opcode).or_default().insert(instr.mods.clone(), Rc::clone(&shape));
        shape
    }

    fn new_shape(&self, opcode: Opcode, mods: &[Modifier]) -> Shape {
        let mut shape =
            Shape { forms: SmallVec::new(), typed: 0, problems: Vec::new(), lanes: 1, space: None, spaces: false };
        if forms(opcode).is_empty() {
            let name = self.opcode(opcode);
            let similar = similar::opcode(&name);
            shape.problems.push((Problem::UnknownOpcode { name, similar }, None));
            return shape;
        }
        // ptx 1.x: `.const[2]`.
        let mut plain: Mods = SmallVec::from_slice(mods);
        for modifier in &mut plain {
            if modifier.text(self.names).starts_with("const[") {
                *modifier = Modifier::CONST;
            }
        }
        for modifier in &plain {
            if matches!(*modifier, Modifier::V2 | Modifier::V4 | Modifier::V8) {
                shape.lanes = lanes(Some(*modifier));
            } else if let Some(space) = state_space(*modifier, self.names).filter(|space| *space != StateSpace::Generic)
            {
                shape.spaces |= shape.space.is_some();
                shape.space = Some(space);
            }
        }
        let mut nearest: Option<(Mismatch, usize)> = None;
        let mut lacking: Option<Need> = None;
        for form in forms(opcode) {
            match form.fit(&plain, self.names) {
                Ok(fit) if self.has(form.need) => shape.forms.push((form, fit)),
                Ok(_) => lacking = Some(form.need),
                Err(miss) => {
                    if nearest.as_ref().is_none_or(|old| (miss.1, rank(&miss.0)) > (old.1, rank(&old.0))) {
                        nearest = Some(miss);
                    }
                }
            }
        }
        if shape.forms.is_empty() && self.legacy() {
            self.legacy_forms(opcode, &plain, &mut shape);
        }
        if shape.forms.is_empty() {
            let problem = match (lacking, nearest) {
                (Some(need), _) => (self.lacks(self.head(opcode, mods), need), None),
                (None, Some((miss, _))) => self.explain(opcode, &plain, miss),
                (None, None) => (Problem::UnknownOpcode { name: self.head(opcode, mods), similar: None }, None),
            };
            shape.problems.push(problem);
            return shape;
        }
        self.special_rules(opcode, &plain, &mut shape);
        shape
    }

    /// Old conversions could leave out the rounding, or round a narrowed float to an integer: the form is that of the
    /// first mode that fits.
    fn legacy_forms(&self, opcode: Opcode, mods: &[Modifier], shape: &mut Shape) {
        if opcode != Opcode::CVT {
            return;
        }
        let integer = |m: &Modifier| matches!(*m, Modifier::RNI | Modifier::RZI | Modifier::RMI | Modifier::RPI);
        for rounding in [Modifier::RN, Modifier::RZI] {
            let mut with: Mods = mods.iter().filter(|m| !integer(m)).copied().collect();
            with.push(rounding);
            let fits = forms(opcode).iter().find_map(|form| Some((form, form.fit(&with, self.names).ok()?)));
            if let Some(form) = fits {
                shape.forms.push(form);
                return;
            }
        }
    }

    /// The complaint about a modifier that the instruction does not take here.
    fn unwanted(&self, opcode: Opcode, modifier: Modifier) -> Problem {
        Problem::Modifier { opcode: self.opcode(opcode), modifier: self.word(modifier), similar: None }
    }

    /// Rules about modifiers that the table does not hold.
    fn special_rules(&self, opcode: Opcode, mods: &[Modifier], shape: &mut Shape) {
        for (index, modifier) in mods.iter().enumerate() {
            // What fences of proxies and of new barriers need, the table says.
            let other = |m: &Modifier| *m == Modifier::MBARRIER_INIT || m.text(self.names).starts_with("proxy");
            if opcode == Opcode::FENCE && mods.iter().any(other) {
                break;
            }
            if let Some(need) = modifier_need(opcode, *modifier).filter(|need| !self.has(*need)) {
                let feature = format!("{} of {}", self.word(*modifier), opcode.text(self.names));
                shape.problems.push((self.lacks(feature, need), Some(index)));
            }
        }
        let system = Need::new((8, 4), 70);
        if mods.contains(&Modifier::B128) && mods.contains(&Modifier::SYS) && !self.has(system) {
            shape.problems.push((self.lacks(".b128 with .sys".to_owned(), system), None));
        }
        let hint = mods.iter().position(|m| *m == Modifier::L2_CACHE_HINT);
        let plain = matches!(opcode, Opcode::LD | Opcode::ST | Opcode::ATOM | Opcode::RED);
        if let Some(index) = hint.filter(|_| plain && shape.space.is_some_and(|s| s != StateSpace::Global)) {
            shape.problems.push((self.unwanted(opcode, Modifier::L2_CACHE_HINT), Some(index)));
        }
        let warp = matches!(opcode, Opcode::SHFL | Opcode::VOTE) && !mods.contains(&Modifier::SYNC);
        if warp && self.checked.sm >= 70 && self.checked.version >= (6, 4) {
            let feature = self.head(opcode, mods);
            shape.problems.push((Problem::Withdrawn { feature, instead: ".sync and a member mask" }, None));
        }
        if let (Opcode::CVT, Some((_, types))) = (opcode, shape.forms.first())
            && let Some(index) = mods.iter().position(|m| *m == Modifier::SAT)
            && let [to, from] = types[..]
            && holds(to, from)
        {
            shape.problems.push((self.unwanted(opcode, Modifier::SAT), Some(index)));
        }
        if let Some((_, types)) = shape.forms.first()
            && let Some(problem) = self.matrix_form(opcode, mods, types)
        {
            shape.problems.push((problem, None));
        }
        shape.problems.extend(self.order_of_mbarrier(opcode, mods).map(|problem| (problem, None)));
        if let Some((_, types)) = shape.forms.first()
            && matches!(opcode, Opcode::MOV | Opcode::LD | Opcode::ST | Opcode::LDU)
            && let Some(info) = types.first().and_then(|t| type_info(*t))
        {
            let bits = u32::from(info.bits) * u32::from(shape.lanes);
            let wide = Need::new((8, 8), 100);
            let near = shape.space.is_some_and(|space| space != StateSpace::Global);
            let short = bits > 128 && (matches!(opcode, Opcode::MOV | Opcode::LDU) || near || info.bits == 128);
            let kept = mods.iter().position(|m| {
                matches!(*m, Modifier::L2_EVICT_FIRST | Modifier::L2_EVICT_LAST | Modifier::L2_EVICT_NORMAL)
            });
            if let Some(index) = kept.filter(|_| bits < 256) {
                shape.problems.push((self.unwanted(opcode, mods[index]), Some(index)));
            } else if short || bits > 256 {
                let given = mods.iter().map(|m| self.word(*m)).collect();
                let opcode = self.opcode(opcode);
                shape.problems.push((Problem::Types { opcode, given, allowed: Vec::new() }, None));
            } else if bits > 128 && !self.has(wide) {
                shape.problems.push((self.lacks(format!("a {bits}-bit access"), wide), None));
            }
        }
    }

    /// Whether the module's version and target have a feature.
    pub fn has(&self, need: Need) -> bool {
        let sm = self.checked.sm;
        let specific = match (need.specific, self.checked.suffix) {
            (Specific::No, _) | (Specific::Family, Some(_)) => true,
            (Specific::One(all), Some('a')) | (Specific::Among(all), Some(_)) => all.contains(&sm),
            _ => false,
        };
        self.legacy() && need.ptx <= (3, 1) || self.checked.version >= need.ptx && sm >= need.sm && specific
    }

    /// Whether the module is of PTX 3.1 or older: ptxas no longer says what its ancestors accepted, and old assemblers
    /// and emulators were lax.
    pub fn legacy(&self) -> bool {
        self.checked.version <= (3, 1)
    }

    /// The complaint that they have not.
    pub fn lacks(&self, feature: String, need: Need) -> Problem {
        Problem::Needs { feature, need, version: self.checked.version, sm: self.checked.sm }
    }

    pub fn head(&self, opcode: Opcode, mods: &[Modifier]) -> String {
        mods.iter().fold(self.opcode(opcode), |text, m| text + &self.word(*m))
    }

    fn explain(&self, opcode: Opcode, mods: &[Modifier], miss: Mismatch) -> (Problem, Option<usize>) {
        let name = self.opcode(opcode);
        match miss {
            Mismatch::Unexpected(index) => {
                let modifier = mods[index];
                let similar = similar::modifier(opcode, modifier, self.names);
                (Problem::Modifier { opcode: name, modifier: self.word(modifier), similar }, Some(index))
            }
            Mismatch::Repeated(first, index) => {
                let (first, modifier) = (self.word(mods[first]), self.word(mods[index]));
                (Problem::ModifierTwice { opcode: name, modifier, first }, Some(index))
            }
            Mismatch::Missing(words) => (
                Problem::ModifierMissing { opcode: name, one_of: words.iter().map(|w| self.word_text(*w)).collect() },
                None,
            ),
            Mismatch::Head => {
                let heads = forms(opcode).iter().filter_map(|form| form.heads.first());
                let words: BTreeSet<String> = heads.flat_map(|slot| &slot.words).map(|w| self.word_text(*w)).collect();
                (Problem::ModifierMissing { opcode: name, one_of: words.into_iter().collect() }, None)
            }
            Mismatch::Types => {
                let types = mods.iter().filter(|m| crate::program::forms::is_type(**m));
                let given = types.map(|m| self.word(*m)).collect();
                let slots = forms(opcode).iter().flat_map(|form| &form.types);
                let all: IndexSet<String> = slots.flat_map(|slot| &slot.words).map(|w| self.word_text(*w)).collect();
                (Problem::Types { opcode: name, given, allowed: all.into_iter().collect() }, None)
            }
        }
    }

    fn word_text(&self, word: Word) -> String {
        match word {
            Word::Known(modifier) => self.word(modifier),
            Word::Pattern(pattern) => format!(".{pattern}"),
        }
    }
}

/// Whether an integer type holds every value of another, so that saturating means nothing.
fn holds(to: Modifier, from: Modifier) -> bool {
    let of = |ty| type_info(ty).filter(|i| i.class == Class::Int).map(|i| i.bits);
    match (of(to), of(from)) {
        (Some(a), Some(b)) if is_signed(to) == is_signed(from) => a >= b,
        (Some(a), Some(b)) => is_signed(to) && a > b,
        _ => false,
    }
}

/// Whether a form has exactly one address, so that the instruction's space is the address's.
pub fn one_address(form: &Form) -> bool {
    form.operands.iter().filter(|o| o.role == Role::Mem).count() == 1
}

fn rank(miss: &Mismatch) -> u8 {
    match miss {
        Mismatch::Head => 0,
        Mismatch::Unexpected(_) => 1,
        Mismatch::Types => 2,
        Mismatch::Repeated(..) => 3,
        Mismatch::Missing(_) => 4,
    }
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}
