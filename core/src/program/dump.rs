//! A program environment as text (`--dump program`): one line per instruction, for people and golden tests.

use super::env::{FuncId, Function, Init, ProgEnv};
use super::instr::{CacheOp, Instr, NO_SLOT, Op, Order, STACK_BASE, STACK_TOP, Slot, WarpRequest};
use super::ops::Class;
use super::uses::{reads, shape, writes};
use rustc_hash::FxHashMap;

/// What slots hold, for one function.
pub(super) struct Names<'e> {
    env: &'e ProgEnv,
    by_slot: FxHashMap<(Class, Slot), &'e str>,
    preloads: FxHashMap<(Class, Slot), Init>,
}

impl<'e> Names<'e> {
    pub fn of(env: &'e ProgEnv, f: &'e Function) -> Self {
        Self {
            env,
            by_slot: f.registers.iter().map(|(name, class, slot)| ((class, slot), name)).collect(),
            preloads: f.preloads.iter().map(|p| ((p.class, p.slot), p.init)).collect(),
        }
    }

    pub fn show(&self, class: Class, slot: Slot) -> String {
        let key = (class, slot);
        match (class, slot, self.by_slot.get(&key), self.preloads.get(&key)) {
            (_, NO_SLOT, ..) => "_".to_owned(),
            (_, _, Some(name), _) => (*name).to_owned(),
            (_, _, _, Some(init)) => self.init(*init),
            (Class::W, STACK_BASE, ..) => "%stackBase".to_owned(),
            (Class::W, STACK_TOP, ..) => "%stackTop".to_owned(),
            _ => format!("{class:?}{}", slot.0).to_lowercase(),
        }
    }

    fn init(&self, init: Init) -> String {
        match init {
            Init::Const(bits) if bits < 1024 => format!("{bits}"),
            Init::Const(bits) => format!("{bits:#x}"),
            Init::Special(special) => format!("{special:?}"),
            Init::Param { offset, bytes, signed, ext } => {
                format!("param[{offset}..{}]{}{ext}", offset + u32::from(bytes), if signed { 's' } else { 'u' })
            }
            Init::Variable { index, offset: at } => {
                let name = self.env.variables.get_index(index as usize).map_or("?", |(name, _)| name.as_str());
                format!("&{name}{}", offset(at))
            }
            Init::Function(id) => format!("&{}", self.env.function(id).map_or("?", |f| f.name.as_str())),
            Init::Code(pc) => format!("@{}", pc.0),
            Init::Within { of, offset } => u64::from(of.first).wrapping_add_signed(offset).to_string(),
            Init::DynamicShared(at) => format!("dynamic shared{}", offset(at)),
        }
    }
}

/// An offset with its sign, nothing when it is zero.
fn offset(offset: i64) -> String {
    if offset == 0 { String::new() } else { format!("{offset:+}") }
}

/// The text of an environment. With the PTX text of the only module, each line ends in the PTX instruction.
///
/// Lines read `pc: operation destinations <- sources`, with a guard before and `·` before hidden instructions.
#[must_use]
pub fn dump(env: &ProgEnv, source: Option<&str>) -> String {
    let target = env.target;
    let ((major, minor), bits) = (target.version, target.address_bits);
    let injected = if env.injected { ", injected" } else { "" };
    let mut out = format!("target sm_{}, PTX {major}.{minor}, {bits}-bit addresses{injected}\n", target.sm);
    for (name, v) in &env.variables {
        let space = if v.constant { "const" } else { "global" };
        let external = if v.external { ", extern" } else { "" };
        out += &format!("{space} {name}: {} bytes, align {}{external}\n", v.bytes, v.align);
    }
    for (id, function) in (0u32..).map(FuncId).zip(env.functions.values()) {
        let owner = env.origin.get(function.start.0 as usize).map(|origin| origin.function);
        match owner.filter(|owner| *owner != id && function.defined).and_then(|owner| env.function(owner)) {
            Some(owner) => out += &format!("func {}: alias of {}\n", function.name, owner.name),
            None => one(&mut out, env, function, source),
        }
    }
    out
}

fn one(out: &mut String, env: &ProgEnv, f: &Function, source: Option<&str>) {
    let kind = if f.entry { "entry" } else { "func" };
    if !f.defined {
        *out += &format!("{kind} {} (declared)\n", f.name);
        return;
    }
    *out += &format!(
        "{kind} {}: w {} q {} p {}, frame {}, params {}, shared {}\n",
        f.name, f.slots.w, f.slots.q, f.slots.p, f.frame_bytes, f.param_bytes, f.shared_bytes
    );
    for (i, p) in f.params.iter().enumerate() {
        let role = if i < f.returns as usize { "return" } else { "param" };
        *out += &format!("  {role} {}: {} at {}, {} bytes, align {}\n", p.name, p.ty, p.offset, p.bytes, p.align);
    }
    let names = Names::of(env, f);
    for pc in f.start.0..f.end.0 {
        let (Some(instr), Some(origin)) = (env.code.get(pc as usize), env.origin.get(pc as usize)) else { continue };
        *out += &format!("{pc:5}:{}{}", if origin.hidden { "·" } else { " " }, line(&names, instr));
        if let Some(text) = source.filter(|_| !origin.hidden) {
            let words: Vec<&str> = origin.span.of(text).split_whitespace().collect();
            *out += &format!("    // {}", words.join(" "));
        }
        out.push('\n');
    }
}

fn line(names: &Names<'_>, instr: &Instr) -> String {
    let (env, imm) = (names.env, instr.imm);
    let mut out = String::new();
    if let Some(guard) = instr.guard {
        out = format!("@{}{} ", if guard.negated { "!" } else { "" }, names.show(Class::P, guard.pred));
    }
    let request = env.requests.get(imm as usize).filter(|_| instr.op == Op::Mem);
    out += &match instr.op {
        Op::Int(op) => format!("{op:?}"),
        Op::Float(op) => format!("{op:?}"),
        Op::Mem => request.map_or_else(|| "Mem ?".to_owned(), request_head),
        Op::Bra | Op::Ssy | Op::PreBrk | Op::PreRet | Op::Break => format!("{:?} @{imm}", instr.op),
        Op::Brx => format!("Brx {:?}", env.tables.get(imm as usize)),
        Op::Call => format!("Call {}", env.functions.get_index(imm as usize).map_or("?", |(name, _)| name.as_str())),
        Op::Bar => format!("{:?}", env.barriers.get(imm as usize)),
        Op::Exchange => match env.exchange(instr) {
            Some(exchange) => format!("{:?}{}", exchange.kind, if exchange.sync { ".sync" } else { "" }),
            None => "Exchange ?".to_owned(),
        },
        Op::Matrix => env.matrix(instr).map_or_else(|| "Matrix ?".to_owned(), |of| format!("{:?}", of.kind)),
        Op::Image => env.image(instr).map_or_else(|| "Image ?".to_owned(), |of| format!("{:?}", of.kind)),
        Op::Unsupported => {
            format!("Unsupported {}", env.unsupported.get_index(imm as usize).map_or("?", String::as_str))
        }
        op => format!("{op:?}"),
    };
    let (mut written, mut read) = (Vec::new(), Vec::new());
    writes(instr, env, |class, slot| written.push(names.show(class, slot)));
    reads(instr, env, |class, slot| {
        let guard = instr.guard.is_some_and(|g| class == Class::P && g.pred == slot);
        if !(read.is_empty() && guard) {
            read.push(names.show(class, slot));
        }
    });
    for (before, slots) in [(" ", written), (" <- ", read)] {
        if !slots.is_empty() {
            out += &(before.to_owned() + &slots.join(", "));
        }
    }
    if let Some(request) = request {
        let class = request.address_class();
        out += &format!(" [{}{}]", names.show(class, request.addr), offset(request.offset));
    }
    if shape(instr.op).is_some_and(|shape| shape.mode) {
        out += &format!(" mode {imm:#x}");
    }
    out
}

fn request_head(request: &WarpRequest) -> String {
    let mut out = format!("{:?} {:?} {}x{}", request.op, request.space, request.elems, request.width);
    if request.signed {
        out += &format!(" signed to {}", request.ext);
    }
    if request.order != Order::Weak {
        out += &format!(" {:?}.{:?}", request.order, request.scope);
    }
    if request.cache != CacheOp::Default {
        out += &format!(" {:?}", request.cache);
    }
    out
}
