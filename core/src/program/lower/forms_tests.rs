//! Every form of the tables as instructions: what is made of each.

use super::{Options, build};
use crate::base::FileId;
use crate::program::check::check;
use crate::program::forms::{Form, OperandForm, OperandType, Role, Word, forms};
use crate::program::types::{Class, type_info};
use crate::ptx::tree::Names;
use crate::ptx::{Modifier, Opcode, parse};
use std::fmt::Write as _;

const TARGETS: [(&str, &str); 4] = [("9.5", "sm_100a"), ("9.5", "sm_90a"), ("8.0", "sm_80"), ("6.3", "sm_60")];

fn text(word: Word) -> String {
    match word {
        Word::Known(modifier) => modifier.text(&Names::default()).to_owned(),
        Word::Pattern(pattern) => pattern.to_owned(),
    }
}

/// Heads of a form: each word of each slot in at least one of them, beside the first ones of the others.
fn heads(form: &Form) -> Vec<(String, Vec<Modifier>, Vec<Modifier>)> {
    let slots: Vec<_> = form.heads.iter().chain(&form.flags).chain(&form.types).collect();
    let plain = form.heads.len() + form.flags.len();
    let mut all: Vec<Vec<Option<Word>>> = vec![slots.iter().map(|s| (!s.optional).then(|| s.words[0])).collect()];
    for (index, slot) in slots.iter().enumerate() {
        for word in &slot.words {
            let mut one = all[0].clone();
            one[index] = Some(*word);
            all.push(one);
            // With a type beside, for what depends on both.
            for (other, types) in slots.iter().enumerate().skip(plain).filter(|(other, _)| *other != index) {
                for ty in &types.words {
                    let mut one = all[0].clone();
                    (one[index], one[other]) = (Some(*word), Some(*ty));
                    all.push(one);
                }
            }
        }
    }
    let known = |word: &Word| if let Word::Known(m) = word { Some(*m) } else { None };
    all.iter()
        .map(|words| {
            let mods: Vec<Modifier> = words.iter().flatten().filter_map(known).collect();
            let types = words[plain..].iter().flatten().filter_map(known).collect();
            let head = words.iter().flatten().fold(form.opcode.text(&Names::default()).to_owned(), |mut text, word| {
                write!(text, ".{}", self::text(*word)).unwrap();
                text
            });
            (head, mods, types)
        })
        .collect()
}

/// A register of a type.
fn register(ty: Modifier, wider: bool, number: usize) -> String {
    let Some(info) = type_info(ty) else { return format!("%r{number}") };
    let file = match (info.class, info.bits) {
        (Class::Pred, _) => "p",
        (Class::Float, 32) if ty == Modifier::F32 => "f",
        (Class::Float, 64) if ty == Modifier::F64 => "fd",
        (_, 0..=8) if wider => "h",
        (_, 0..=8) => "c",
        (_, 16) => "h",
        (_, 32) => "r",
        (_, 64) => "d",
        _ => "q",
    };
    format!("%{file}{number}")
}

fn operand(want: &OperandForm, types: &[Modifier], lanes: usize, number: usize) -> Option<String> {
    let ty = match want.ty {
        OperandType::Of(n) => types.get(usize::from(n)).copied().unwrap_or(Modifier::B32),
        OperandType::Fixed(ty) => ty,
        OperandType::Wide => match type_info(*types.first()?)?.bits {
            16 => Modifier::U32,
            _ => Modifier::U64,
        },
    };
    let list = |ty, count: usize| {
        let all: Vec<String> = (0..count).map(|i| register(ty, want.wider, number * 8 + i)).collect();
        if count == 1 { all[0].clone() } else { format!("{{{}}}", all.join(", ")) }
    };
    let one = match want.role {
        Role::Dst | Role::Src | Role::Reg | Role::MovSrc | Role::CvtSrc => register(ty, want.wider, number),
        Role::VecDst | Role::VecSrc => list(ty, lanes),
        Role::Four => list(ty, 4),
        Role::PredDst | Role::PredSrc => format!("%p{number}"),
        Role::AddrSrc => "%d9".to_owned(),
        Role::Imm => want.range.map_or(8, |(low, _)| low).to_string(),
        Role::Mem => "[%d8]".to_owned(),
        Role::Label => "L".to_owned(),
        Role::Table => "T".to_owned(),
        Role::Policy => "%d7".to_owned(),
        Role::Pack | Role::Group | Role::Bracket | Role::Rest => return None,
    };
    let second = if want.pair == Some(false) { format!("|%p{}", number + 1) } else { String::new() };
    Some(one + &second)
}

/// What is refused when it is run.
const REFUSED: &[&str] =
    &["clusterlaunchcontrol", "cp.async.bulk", "cp.reduce.async.bulk", "st.async", "tensormap", "wgmma"];

/// What is made of an instruction, in the first target that has it: the heads that are refused when they are run; `None`
/// where none has it.
fn refused(head: &str, operands: &str) -> Option<Vec<String>> {
    TARGETS.iter().find_map(|(version, target)| {
        let wide = if *version > "8.2" { ".reg .b128 %q<99>;" } else { "" };
        let text = format!(
            ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .pred %p<9>; .reg .b8 %c<99>; .reg .b16 %h<99>; .reg .b32 %r<99>; .reg .b64 %d<99>;\n\
             .reg .f32 %f<99>; .reg .f64 %fd<99>; {wide}\nT: .branchtargets L;\nL: {head} {operands};\nret;\n}}\n"
        );
        let (module, syntax) = parse(&text);
        let (checked, errors) = check(&module);
        if !syntax.is_empty() || !errors.is_empty() {
            return None;
        }
        let (env, _) = build(&[(FileId(0), &module, &checked)], &Options::default());
        Some(env.unsupported.iter().cloned().collect())
    })
}

/// Every form whose operands are made here is executed, but for those.
#[test]
fn every_form_has_code() {
    let mut count = 0;
    for form in Opcode::known().iter().flat_map(|text| forms(Opcode::of(text, &mut Names::default()))) {
        let mut built = 0;
        for (head, mods, types) in heads(form) {
            let lanes = |m: &Modifier| Some(usize::from(crate::program::types::lanes(Some(*m)))).filter(|n| *n > 1);
            let lanes = mods.iter().find_map(lanes).unwrap_or(1);
            let hint = mods.contains(&Modifier::L2_CACHE_HINT);
            let wanted = form.operands.iter().filter(|o| o.role != Role::Policy || hint);
            let operands: Option<Vec<String>> = wanted.enumerate().map(|(i, o)| operand(o, &types, lanes, i)).collect();
            // Matrices, brackets and lists of anything are made elsewhere.
            let Some(operands) = operands else {
                built += 1;
                continue;
            };
            let Some(all) = refused(&head, &operands.join(", ")) else { continue };
            (count, built) = (count + 1, built + 1);
            let foreign = all.iter().find(|head| !REFUSED.iter().any(|known| head.starts_with(known)));
            assert_eq!(foreign, None);
        }
        assert!(built > 0, "no target has {} of {:?}", form.opcode.text(&Names::default()), heads(form)[0].0);
    }
    assert!(count > 10_000, "only {count} instructions");
}
