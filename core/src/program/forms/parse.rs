//! Reads the tables of forms. A line that is not understood is dropped; a test counts them.

use super::form::{Choice, Form, Need, OperandForm, OperandType, Role, Slot, Specific, Word};
use super::matching::is_type;
use crate::program::ops::AluOp;
use crate::program::types::type_info;
use crate::ptx::tree::Names;
use crate::ptx::{Modifier, Opcode};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Names of sets of words, with the words.
type Sets = FxHashMap<&'static str, &'static str>;

/// The tables of all chapters. A line is read when its opcode is first asked for: most programs have few.
pub struct Tables {
    sets: Sets,
    chapters: Vec<Sets>,
    opcodes: FxHashMap<Opcode, Lines>,
}

/// The lines of an opcode, each with its chapter, and what they say.
#[derive(Default)]
struct Lines {
    lines: Vec<(usize, &'static str)>,
    forms: OnceLock<Vec<Form>>,
}

/// The sets of words that a line may name.
#[derive(Clone, Copy)]
struct Named<'a> {
    own: &'a Sets,
    all: &'a Sets,
}

impl Named<'_> {
    fn get(self, name: &str) -> Option<impl Iterator<Item = Word> + use<>> {
        let words: &'static str = self.own.get(name).or_else(|| self.all.get(name))?;
        Some(words.split_whitespace().map(word))
    }
}

impl Tables {
    /// Of the sets of all chapters, and the chapters, in order.
    pub fn new(sets: &'static str, chapters: &[&'static str]) -> Self {
        let mut tables = Self { sets: Sets::default(), chapters: Vec::new(), opcodes: FxHashMap::default() };
        tables.sets.extend(sets.lines().filter_map(read_set));
        for (k, chapter) in chapters.iter().enumerate() {
            let mut own = Sets::default();
            for line in chapter.lines().filter(|line| !line.starts_with('#')) {
                match (read_set(line), line.split_whitespace().next()) {
                    (Some((name, words)), _) => _ = own.insert(name, words),
                    (None, Some(opcode)) => {
                        let opcode = Opcode::of(opcode, &mut Names::default());
                        tables.opcodes.entry(opcode).or_default().lines.push((k, line));
                    }
                    (None, None) => {}
                }
            }
            tables.chapters.push(own);
        }
        tables
    }

    /// The forms of an opcode, in the order of the tables.
    pub fn forms(&self, opcode: Opcode) -> &[Form] {
        let Some(Lines { lines, forms }) = self.opcodes.get(&opcode) else { return &[] };
        let form =
            |(k, line): &(usize, &'static str)| read_form(line, Named { own: &self.chapters[*k], all: &self.sets });
        forms.get_or_init(|| lines.iter().filter_map(form).collect())
    }
}

/// `words name word word`.
fn read_set(line: &'static str) -> Option<(&'static str, &'static str)> {
    let rest = line.strip_prefix("words ")?.trim_start();
    Some(rest.split_once(' ').unwrap_or((rest, "")))
}

fn known(text: &str) -> Option<Modifier> {
    let mut names = Names::default();
    let modifier = Modifier::of(text, &mut names);
    modifier.is_known().then_some(modifier)
}

fn word(text: &'static str) -> Word {
    known(text).map_or(Word::Pattern(text), Word::Known)
}

fn alternatives(text: &'static str, sets: Named<'_>) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    for part in text.split('|') {
        match part.strip_prefix('$') {
            Some(set) => words.extend(sets.get(set)?),
            None => words.push(word(part)),
        }
    }
    Some(words)
}

fn read_form(line: &'static str, sets: Named<'_>) -> Option<Form> {
    let (left, right) = line.split_once(" :")?;
    let mut words = left.split_whitespace();
    let opcode = Opcode::of(words.next()?, &mut Names::default());
    let mut form = Form {
        opcode,
        heads: Vec::new(),
        types: Vec::new(),
        flags: Vec::new(),
        open: false,
        operands: Vec::new(),
        need: Need::default(),
        choices: Vec::new(),
    };
    for text in words {
        if text == "~" {
            form.open = true;
        } else if let Some(rest) = text.strip_prefix('!') {
            form.heads.push(Slot { words: alternatives(rest, sets)?, optional: false });
        } else if let Some(rest) = text.strip_prefix('{') {
            let words = alternatives(rest.strip_suffix('}')?, sets)?;
            form.flags.push(Slot { words, optional: true });
        } else {
            let words = alternatives(text, sets)?;
            let typed = words.iter().all(|w| matches!(w, Word::Known(m) if is_type(*m)));
            let list = if typed { &mut form.types } else { &mut form.flags };
            list.push(Slot { words, optional: false });
        }
    }
    let (right, choices) = right.split_once(" = ").unwrap_or((right, ""));
    for text in choices.split_whitespace() {
        read_choice(text, &mut form)?;
    }
    for text in right.split_whitespace() {
        match text.strip_prefix('@') {
            Some(need) => form.need = read_need(need)?,
            None => form.operands.push(read_operand(text)?),
        }
    }
    Some(form)
}

/// `lo:MulLo#`, for each type that it stands for.
fn read_choice(text: &str, form: &mut Form) -> Option<()> {
    let (conditions, name) = text.split_once(':').unwrap_or(("", text));
    let words: Option<Vec<Modifier>> = conditions.split('.').filter(|w| !w.is_empty()).map(known).collect();
    let (types, flags): (Vec<_>, Vec<_>) = words?.into_iter().partition(|w| is_type(*w));
    if !name.contains(['#', '*']) {
        form.choices.push(Choice { types, flags, op: AluOp::named(name)? });
        return Some(());
    }
    for word in &form.types.first()?.words {
        let Word::Known(ty) = *word else { return None };
        // A type that an earlier choice serves needs no operation of this name.
        if form.choices.iter().any(|c| c.types == [ty] && c.flags == flags) {
            continue;
        }
        let text = ty.text(&Names::default()).to_owned();
        let (first, rest) = text.split_at(1);
        let name = name.replace('#', &type_info(ty)?.bits.to_string());
        let op = AluOp::named(&name.replace('*', &(first.to_uppercase() + rest)))?;
        form.choices.push(Choice { types: vec![ty], flags: flags.clone(), op });
    }
    Some(())
}

fn read_need(text: &str) -> Option<Need> {
    let (ptx, sm) = text.split_once('/')?;
    let (major, minor) = ptx.split_once('.')?;
    let ptx = (major.parse().ok()?, minor.parse().ok()?);
    if let Some(family) = sm.strip_suffix('f').filter(|family| !family.contains(',')) {
        return Some(Need { specific: Specific::Family, ..Need::new(ptx, family.parse().ok()?) });
    }
    if let Ok(sm) = sm.parse() {
        return Some(Need::new(ptx, sm));
    }
    let letter = if sm.ends_with('a') { 'a' } else { 'f' };
    let each: Option<Vec<u16>> = sm.split(',').map(|one| one.strip_suffix(letter)?.parse().ok()).collect();
    // The tables are read once.
    let all: &'static [u16] = each?.leak();
    let specific = if letter == 'a' { Specific::One(all) } else { Specific::Among(all) };
    Some(Need { specific, ..Need::new(ptx, *all.first()?) })
}

fn read_operand(text: &'static str) -> Option<OperandForm> {
    let mut rest = text;
    let pair = match text.split_once('|') {
        Some((first, second)) => {
            rest = first;
            Some(second.ends_with('?'))
        }
        None => None,
    };
    let range = match rest.split_once('(') {
        Some((first, range)) => {
            let (low, high) = range.strip_suffix(')')?.split_once(',')?;
            rest = first;
            Some((low.parse().ok()?, high.parse().ok()?))
        }
        None => None,
    };
    let role = Role::named(rest.get(..1)?)?;
    rest = &rest[1..];
    let mut flag = |c: char| match rest.strip_suffix(c) {
        Some(shorter) => {
            rest = shorter;
            true
        }
        None => false,
    };
    let optional = flag('?');
    let wider = flag('+');
    let sink = flag('_');
    let ty = match rest.strip_prefix(':') {
        None if rest.is_empty() => OperandType::Of(0),
        None => return None,
        Some("wide") => OperandType::Wide,
        Some(name) => match name.parse() {
            Ok(n) => OperandType::Of(n),
            Err(_) => OperandType::Fixed(known(name)?),
        },
    };
    Some(OperandForm { role, ty, wider, sink, optional, pair, range })
}
