//! A program environment as text (`--dump program`): one line per instruction, for people and golden tests.

use super::env::{FuncId, Function, Init, ProgEnv};
use super::instr::{Instr, NO_SLOT, Op, STACK_BASE, STACK_TOP, Slot, WarpRequest};
use super::ops::Class;
use super::uses::{Tables, reads, shape, writes};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// What slots hold, for one function.
struct Names<'e> {
    by_slot: FxHashMap<(Class, Slot), &'e str>,
    preloads: FxHashMap<(Class, Slot), Init>,
}

const fn letter(class: Class) -> char {
    match class {
        Class::W => 'w',
        Class::Q => 'q',
        Class::P => 'p',
    }
}

impl Names<'_> {
    fn show(&self, out: &mut String, env: &ProgEnv, class: Class, slot: Slot) {
        let key = (class, slot);
        // Writing to a string does not fail.
        let _ = match (class, slot, self.by_slot.get(&key), self.preloads.get(&key)) {
            (_, NO_SLOT, ..) => write!(out, "_"),
            (_, _, Some(name), _) => write!(out, "{name}"),
            (_, _, _, Some(init)) => {
                self.init(out, env, *init);
                Ok(())
            }
            (Class::W, STACK_BASE, ..) => write!(out, "%stackBase"),
            (Class::W, STACK_TOP, ..) => write!(out, "%stackTop"),
            _ => write!(out, "{}{}", letter(class), slot.0),
        };
    }

    fn init(&self, out: &mut String, env: &ProgEnv, init: Init) {
        let _ = match init {
            Init::Const(bits) if bits < 1024 => write!(out, "{bits}"),
            Init::Const(bits) => write!(out, "{bits:#x}"),
            Init::Special(special) => write!(out, "{special:?}"),
            Init::Param { offset, bytes, signed, ext } => {
                write!(out, "param[{offset}..{}]{}{ext}", offset + u32::from(bytes), if signed { 's' } else { 'u' })
            }
            Init::Variable { index, offset } => {
                let name = env.variables.get_index(index as usize).map_or("?", |(name, _)| name.as_str());
                write!(out, "&{name}{}", Offset(offset))
            }
            Init::Function(id) => write!(out, "&{}", env.function(id).map_or("?", |f| f.name.as_str())),
            Init::Code(pc) => write!(out, "@{}", pc.0),
            Init::Within { of, offset } => write!(out, "{}", u64::from(of.first).wrapping_add_signed(offset)),
            Init::DynamicShared(offset) => write!(out, "dynamic shared{}", Offset(offset)),
        };
    }
}

/// An offset with its sign, nothing when it is zero.
struct Offset(i64);

impl std::fmt::Display for Offset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, "{:+}", self.0) }
    }
}

/// The text of an environment. With the PTX text of the only module, each line ends in the PTX instruction.
///
/// Lines read `pc: operation destinations <- sources`, with a guard before and `·` before hidden instructions.
#[must_use]
pub fn dump(env: &ProgEnv, source: Option<&str>) -> String {
    let mut out = String::new();
    let target = env.target;
    let _ = writeln!(
        out,
        "target sm_{}, PTX {}.{}, {}-bit addresses{}",
        target.sm,
        target.version.0,
        target.version.1,
        target.address_bits,
        if env.injected { ", injected" } else { "" }
    );
    for (name, v) in &env.variables {
        let space = if v.constant { "const" } else { "global" };
        let external = if v.external { ", extern" } else { "" };
        let _ = writeln!(out, "{space} {name}: {} bytes, align {}{external}", v.bytes, v.align);
    }
    for (id, function) in (0u32..).map(FuncId).zip(env.functions.values()) {
        let owner = env.origin.get(function.start.0 as usize).map(|origin| origin.function);
        match owner.filter(|owner| *owner != id && function.defined).and_then(|owner| env.function(owner)) {
            Some(owner) => {
                let _ = writeln!(out, "func {}: alias of {}", function.name, owner.name);
            }
            None => one(&mut out, env, function, source),
        }
    }
    out
}

fn one(out: &mut String, env: &ProgEnv, f: &Function, source: Option<&str>) {
    let kind = if f.entry { "entry" } else { "func" };
    if !f.defined {
        let _ = writeln!(out, "{kind} {} (declared)", f.name);
        return;
    }
    let _ = writeln!(
        out,
        "{kind} {}: w {} q {} p {}, frame {}, params {}, shared {}",
        f.name, f.slots.w, f.slots.q, f.slots.p, f.frame_bytes, f.param_bytes, f.shared_bytes
    );
    for (i, p) in f.params.iter().enumerate() {
        let role = if i < f.returns as usize { "return" } else { "param" };
        let _ = writeln!(out, "  {role} {}: {} at {}, {} bytes, align {}", p.name, p.ty, p.offset, p.bytes, p.align);
    }
    let names = Names {
        by_slot: f.registers.iter().map(|(name, class, slot)| ((class, slot), name)).collect(),
        preloads: f.preloads.iter().map(|p| ((p.class, p.slot), p.init)).collect(),
    };
    for pc in f.start.0..f.end.0 {
        let (Some(instr), Some(origin)) = (env.code.get(pc as usize), env.origin.get(pc as usize)) else { continue };
        let _ = write!(out, "{pc:5}:{}", if origin.hidden { "·" } else { " " });
        line(out, env, &names, instr);
        if let Some(text) = source
            && !origin.hidden
        {
            let _ = write!(out, "    // ");
            let words: Vec<&str> = origin.span.of(text).split_whitespace().collect();
            out.push_str(&words.join(" "));
        }
        out.push('\n');
    }
}

fn line(out: &mut String, env: &ProgEnv, names: &Names<'_>, instr: &Instr) {
    if let Some(guard) = instr.guard {
        out.push_str(if guard.negated { "@!" } else { "@" });
        names.show(out, env, Class::P, guard.pred);
        out.push(' ');
    }
    let imm = instr.imm;
    let _ = match instr.op {
        Op::Int(op) => write!(out, "{op:?}"),
        Op::Float(op) => write!(out, "{op:?}"),
        Op::Mem => match env.requests.get(imm as usize) {
            Some(request) => request_head(out, request),
            None => write!(out, "Mem ?"),
        },
        Op::Bra | Op::Ssy | Op::PreBrk | Op::PreRet | Op::Break => write!(out, "{:?} @{imm}", instr.op),
        Op::Brx => write!(out, "Brx {:?}", env.tables.get(imm as usize)),
        Op::Call => {
            let name = env.functions.get_index(imm as usize).map_or("?", |(name, _)| name.as_str());
            write!(out, "Call {name}")
        }
        Op::Bar => write!(out, "{:?}", env.barriers.get(imm as usize)),
        Op::Exchange => match env.exchanges.get((imm & 0xffff) as usize) {
            Some(exchange) => write!(out, "{:?}{}", exchange.kind, if exchange.sync { ".sync" } else { "" }),
            None => write!(out, "Exchange ?"),
        },
        Op::Unsupported => {
            write!(out, "Unsupported {}", env.unsupported.get(imm as usize).map_or("?", String::as_str))
        }
        op => write!(out, "{op:?}"),
    };
    let tables = Tables::of(env);
    let mut first = true;
    writes(instr, &tables, |class, slot| {
        out.push_str(if first { " " } else { ", " });
        first = false;
        names.show(out, env, class, slot);
    });
    let mut first = true;
    reads(instr, &tables, |class, slot| {
        if first && instr.guard.is_some_and(|g| class == Class::P && g.pred == slot) {
            return;
        }
        out.push_str(if first { " <- " } else { ", " });
        first = false;
        names.show(out, env, class, slot);
    });
    if instr.op == Op::Mem
        && let Some(request) = env.requests.get(imm as usize)
    {
        let _ = write!(out, " [");
        names.show(out, env, if request.addr_wide { Class::Q } else { Class::W }, request.addr);
        let _ = write!(out, "{}]", Offset(request.offset));
    }
    if shape(instr.op).is_some_and(|shape| shape.mode) {
        let _ = write!(out, " mode {imm:#x}");
    }
}

fn request_head(out: &mut String, request: &WarpRequest) -> std::fmt::Result {
    write!(out, "{:?} {:?} {}x{}", request.op, request.space, request.elems, request.width)?;
    if request.signed {
        write!(out, " signed to {}", request.ext)?;
    }
    if request.order != super::instr::Order::Weak {
        write!(out, " {:?}.{:?}", request.order, request.scope)?;
    }
    if request.cache != super::instr::CacheOp::Default {
        write!(out, " {:?}", request.cache)?;
    }
    Ok(())
}
