//! A kernel for each instruction that computes registers from registers: the tables of forms say which there are.

use super::pools::Sort;
use chacha20::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use std::fmt::Write as _;
use warpstep::program::forms::{Form, OperandForm, OperandType, Role, Slot, Specific, Word, forms};
use warpstep::program::types::{Class, type_info};
use warpstep::ptx::tree::Names;
use warpstep::ptx::{Modifier, Opcode};

/// Instructions of one line of the tables, at most: more are a sample.
const PER_FORM: usize = 40;
/// Threads of a block.
pub const BLOCK: usize = 256;
/// Operands of an instruction, at most.
pub const OPERANDS: usize = 4;

/// An instruction, and the body of a kernel that runs it on every thread's operands.
pub struct Instruction {
    /// `add.sat.s32`, and what else tells it from others.
    pub name: String,
    /// The kernel, named `NAME`.
    pub ptx: String,
    /// Where its operands come from.
    pub sorts: [Sort; OPERANDS],
}

/// The head of a module of such kernels.
pub const HEAD: &str = ".version 8.8\n.target sm_90\n.address_size 64\n";

/// Lines without operations of their own that compute nevertheless.
fn computes(form: &Form) -> bool {
    let listed = matches!(form.opcode, Opcode::SETP | Opcode::SET | Opcode::SLCT | Opcode::CVT);
    let newer = form.need.sm > 90 || form.need.specific != Specific::No;
    (listed || !form.choices.is_empty()) && !newer
}

fn texts(slot: &Slot) -> Vec<String> {
    let names = Names::default();
    let absent = slot.optional.then(String::new);
    let word = |word: &Word| match word {
        Word::Known(modifier) => Some(format!(".{}", modifier.text(&names))),
        Word::Pattern(_) => None,
    };
    absent.into_iter().chain(slot.words.iter().filter_map(word)).collect()
}

/// All ways to fill slots.
fn product(slots: &[&Slot]) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for slot in slots {
        let texts = texts(slot);
        all = all
            .iter()
            .flat_map(|words| texts.iter().map(move |t| [words.as_slice(), std::slice::from_ref(t)].concat()))
            .collect();
    }
    all
}

fn modifier(text: &str) -> Modifier {
    Modifier::of(text, &mut Names::default())
}

/// A type's text, and its bits (1 for a predicate).
fn operand_type(operand: &OperandForm, types: &[String]) -> Option<(String, u32)> {
    let names = Names::default();
    let text = match operand.ty {
        OperandType::Of(n) => types.get(usize::from(n))?[1..].to_owned(),
        OperandType::Fixed(ty) => ty.text(&names).to_owned(),
        OperandType::Wide => {
            let (kind, bits) = types[0][1..].split_at(1);
            format!("{kind}{}", 2 * bits.parse::<u32>().ok()?)
        }
    };
    let info = type_info(modifier(&text))?;
    let bits = if info.class == Class::Pred { 1 } else { u32::from(info.bits) };
    Some((text, bits))
}

/// The register of a place for that many bits. What has 8 bits is in registers of 32.
fn register(bits: u32, place: usize) -> String {
    match bits {
        1 => format!("%p{place}"),
        16 => format!("%h{place}"),
        64 => format!("%d{place}"),
        _ => format!("%r{place}"),
    }
}

/// How a word of 64 bits in `%d20` gets into a register, or out of it.
fn unpack(bits: u32, place: usize) -> String {
    match bits {
        1 => format!("and.b64 %d20, %d20, 1; setp.ne.b64 %p{place}, %d20, 0;"),
        16 => format!("cvt.u16.u64 %h{place}, %d20;"),
        64 => format!("mov.b64 %d{place}, %d20;"),
        _ => format!("cvt.u32.u64 %r{place}, %d20;"),
    }
}

fn pack(bits: u32, place: usize) -> String {
    match bits {
        1 => format!("selp.b64 %d20, 1, 0, %p{place};"),
        16 => format!("cvt.u64.u16 %d20, %h{place};"),
        64 => format!("mov.b64 %d20, %d{place};"),
        _ => format!("cvt.u64.u32 %d20, %r{place};"),
    }
}

/// Where the results are, above the operands.
const RESULT: usize = 8;
const SECOND: usize = 9;

/// One instruction of a form.
fn instruction(
    form: &Form,
    opcode: &str,
    words: &[String],
    types: &[String],
    random: &mut ChaCha8Rng,
) -> Option<Instruction> {
    let text = format!("{opcode}{}{}", words.concat(), types.concat());
    let mut name = text.clone();
    let (mut operands, mut body) = (Vec::new(), String::new());
    let mut sorts = [Sort::Int; OPERANDS];
    let (mut bits, mut second) = (0, false);
    let mut place = 0;
    for operand in &form.operands {
        match operand.role {
            _ if operand.optional => continue,
            Role::Dst | Role::PredDst => {
                bits = if operand.role == Role::PredDst { 1 } else { operand_type(operand, types)?.1 };
                second = operand.pair.is_some();
                let also = if second { format!("|%p{SECOND}") } else { String::new() };
                operands.push(register(bits, RESULT) + &also);
            }
            Role::Src | Role::Reg | Role::CvtSrc | Role::PredSrc => {
                let (ty, bits) = match operand.role {
                    Role::PredSrc => ("pred".to_owned(), 1),
                    _ => operand_type(operand, types)?,
                };
                sorts[place] = Sort::of(&ty);
                writeln!(
                    body,
                    "add.s64 %d20, %d{}, %d22; ld.global.b64 %d20, [%d20]; {}",
                    10 + place,
                    unpack(bits, place)
                )
                .ok()?;
                let selector =
                    if form.choices.iter().any(|c| format!("{:?}", c.op).starts_with('V')) && opcode.len() > 3 {
                        scalar_selector(opcode, operands.len(), random)
                    } else {
                        ""
                    };
                name += selector;
                operands.push(register(bits, place) + selector);
                place += 1;
            }
            Role::Imm => {
                let value = random.random_range(0..256);
                write!(name, " {value:#x}").ok()?;
                operands.push(value.to_string());
            }
            _ => return None,
        }
    }
    let carries = opcode == "addc" || opcode == "subc" || opcode == "madc";
    if carries {
        body += "add.s64 %d20, %d13, %d22; ld.global.b64 %d20, [%d20]; cvt.u32.u64 %r7, %d20; and.b32 %r7, %r7, 1; add.cc.u32 %r7, %r7, 4294967295;\n";
    }
    writeln!(body, "{text} {};", operands.join(", ")).ok()?;
    if words.iter().any(|word| word == ".cc") {
        second = true;
        writeln!(body, "addc.u32 %r7, 0, 0; setp.ne.u32 %p{SECOND}, %r7, 0;").ok()?;
    }
    writeln!(body, "{} st.global.b64 [%d21], %d20;", pack(bits, RESULT)).ok()?;
    if second {
        writeln!(body, "{} st.global.b64 [%d21+8], %d20;", pack(1, SECOND)).ok()?;
    }
    Some(Instruction { name, ptx: kernel(&body), sorts })
}

/// Bytes and halves that scalar video instructions take of their sources.
fn scalar_selector(opcode: &str, operands: usize, random: &mut ChaCha8Rng) -> &'static str {
    let packed = opcode.ends_with(['2', '4']);
    if packed || operands > 2 {
        return "";
    }
    ["", "", ".b0", ".b3", ".h0", ".h1"].choose(random).copied().unwrap_or("")
}

/// The kernel: pointers to four operands of each thread, and to room for 16 bytes of results.
fn kernel(body: &str) -> String {
    let mut text = String::from(
        ".visible .entry NAME(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 po)\n{\n\
         .reg .b16 %h<10>;\n.reg .b32 %r<12>;\n.reg .b64 %d<24>;\n.reg .pred %p<10>;\n\
         mov.u32 %r10, %tid.x; mov.u32 %r11, %ctaid.x; mad.lo.u32 %r10, %r11, 256, %r10;\n\
         mul.wide.u32 %d22, %r10, 8; mul.wide.u32 %d23, %r10, 16; ld.param.u64 %d21, [po]; add.s64 %d21, %d21, %d23;\n",
    );
    for place in 0..OPERANDS {
        writeln!(text, "ld.param.u64 %d{}, [p{place}];", 10 + place).unwrap();
    }
    text + body + "ret;\n}\n"
}

/// All instructions, or of long lists of them a sample.
pub fn instructions() -> Vec<Instruction> {
    let mut all: Vec<Instruction> = Vec::new();
    for opcode in Opcode::known() {
        let listed = forms(Opcode::of(opcode, &mut Names::default()));
        for (line, form) in listed.iter().enumerate().filter(|(_, form)| computes(form)) {
            let mut random = ChaCha8Rng::seed_from_u64(line as u64);
            let (flags, types): (Vec<&Slot>, Vec<&Slot>) =
                (form.heads.iter().chain(&form.flags).collect(), form.types.iter().collect());
            let mut ways: Vec<(Vec<String>, Vec<String>)> = Vec::new();
            let all_types = product(&types);
            for words in product(&flags) {
                ways.extend(all_types.iter().map(|types| (words.clone(), types.clone())));
            }
            let repeated = form.operands.iter().any(|operand| operand.role == Role::Imm);
            if repeated {
                ways = (0..16).flat_map(|_| ways.clone()).collect();
            }
            let some: Vec<_> = ways.sample(&mut random, PER_FORM).cloned().collect();
            let made = some.iter().filter_map(|(words, types)| instruction(form, opcode, words, types, &mut random));
            let checked = made.filter(|made| {
                let (module, syntax) = warpstep::ptx::parse(&format!("{HEAD}{}", made.ptx.replace("NAME", "k")));
                syntax.is_empty() && warpstep::program::check::check(&module).1.is_empty()
            });
            all.extend(checked);
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all.dedup_by(|a, b| a.name == b.name);
    all
}
