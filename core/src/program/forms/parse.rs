//! Reads the tables of forms. A line that is not understood is dropped; a test counts them.

use super::{Choice, Form, Need, OperandForm, OperandType, Role, Slot, Specific, Word, is_type};
use crate::program::ops::AluOp;
use crate::program::types::type_info;
use crate::ptx::tree::Names;
use crate::ptx::{Modifier, Opcode};
use rustc_hash::FxHashMap;

type Sets = FxHashMap<&'static str, Vec<Word>>;

/// The forms of all chapters, in order.
pub fn read(sets: &'static str, chapters: &[&'static str]) -> Vec<Form> {
    let mut common = Sets::default();
    for line in sets.lines() {
        read_set(line, &mut common);
    }
    let mut forms = Vec::new();
    for chapter in chapters {
        let mut sets = common.clone();
        for line in chapter.lines() {
            if line.starts_with('#') || read_set(line, &mut sets) {
                continue;
            }
            forms.extend(read_form(line, &sets));
        }
    }
    forms
}

fn read_set(line: &'static str, sets: &mut Sets) -> bool {
    let mut words = line.split_whitespace();
    if words.next() != Some("words") {
        return false;
    }
    if let Some(name) = words.next() {
        sets.insert(name, words.map(word).collect());
    }
    true
}

fn known(text: &str) -> Option<Modifier> {
    let mut names = Names::default();
    let modifier = Modifier::of(text, &mut names);
    modifier.is_known().then_some(modifier)
}

fn word(text: &'static str) -> Word {
    known(text).map_or(Word::Pattern(text), Word::Known)
}

fn alternatives(text: &'static str, sets: &Sets) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    for part in text.split('|') {
        match part.strip_prefix('$') {
            Some(set) => words.extend(sets.get(set)?),
            None => words.push(word(part)),
        }
    }
    Some(words)
}

fn read_form(line: &'static str, sets: &Sets) -> Option<Form> {
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
