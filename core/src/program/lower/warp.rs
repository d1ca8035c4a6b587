//! Barriers, fences and exchanges between lanes (PTX ISA 9.7.13).

use super::function::{FnLower, Role};
use super::intern;
use super::memory::scope_word;
use super::operand::{constant_value, nth};
use super::types::{bits_type, class_of_type, constant_bits};
use crate::program::consts::Value;
use crate::program::instr::{
    Barrier, BarrierKind, BarrierRed, Exchange, ExchangeKind as K, Instr, Op, Order, Redux, Scope, Slot,
};
use crate::program::ops::Class;
use crate::ptx::tree::{self, OperandKind};
use crate::ptx::{Modifier as M, Opcode};

/// What the first modifier of a table stands for.
fn pick<T: Copy>(mods: &[M], words: &[(M, T)]) -> Option<T> {
    mods.iter().find_map(|m| words.iter().find(|(word, _)| word == m).map(|row| row.1))
}

impl<'t> FnLower<'_, 't> {
    /// `bar…`, `barrier…`.
    pub(super) fn barrier(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let mods = &instr.mods;
        let names = self.unit.names();
        if mods.iter().any(|m| !m.is_known() && m.text(names) == "warp") {
            let mask = self.source(nth(instr, 0)?, Class::W, M::B32)?;
            return self.plain(Instr { a: mask, ..Instr::new(Op::WarpSync) });
        }
        if mods.contains(&M::CLUSTER) {
            let aligned = mods.contains(&M::ALIGNED);
            return if mods.contains(&M::ARRIVE) {
                self.plain(Op::ClusterArrive { releases: !mods.contains(&M::RELAXED), aligned })
            } else {
                self.plain(Op::ClusterWait { aligned })
            };
        }
        let waits = pick(mods, &[(M::SYNC, BarrierKind::Sync), (M::ARRIVE, BarrierKind::Arrive)]);
        let reds = [(M::POPC, BarrierRed::Popc), (M::AND, BarrierRed::And), (M::OR, BarrierRed::Or)];
        let kind = match (waits, pick(mods, &reds)) {
            (Some(kind), _) => kind,
            (None, Some(red)) if mods.contains(&M::RED) => BarrierKind::Red(red),
            _ => return None,
        };
        let reduces = matches!(kind, BarrierKind::Red(_));
        let from = usize::from(reduces);
        let to = instr.operands.len().saturating_sub(usize::from(reduces));
        let a = self.source(nth(instr, from)?, Class::W, M::B32)?;
        let counted = to > from + 1;
        let b = if counted { self.source(nth(instr, from + 1)?, Class::W, M::B32)? } else { Slot(0) };
        let (mut c, mut d) = (Slot(0), Slot(0));
        if let BarrierKind::Red(red) = kind {
            c = self.source(nth(instr, to)?, Class::P, M::PRED)?;
            let class = if red == BarrierRed::Popc { Class::W } else { Class::P };
            d = self.destination_of(nth(instr, 0)?, class)?;
        }
        let aligned = instr.opcode == Opcode::BAR || mods.contains(&M::ALIGNED);
        let id = match constant_value(nth(instr, from)?) {
            Some(Value::Address(_)) | None => None,
            Some(value) => constant_bits(value, M::B32).and_then(|id| u8::try_from(id).ok()),
        };
        let barrier = Barrier { kind, aligned, counted, id };
        let imm = intern(&mut self.program.env.barriers, barrier);
        self.plain(Instr { a, b, c, d, imm, ..Instr::new(Op::Bar) })
    }

    /// `membar…`, `fence…`. Those between proxies do nothing, since memory is the same through all here; that between aliases lets a
    /// thread's own accesses wait for each other, which matters where memory keeps no order among them (D-prio).
    pub(super) fn fence(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let mods = &instr.mods;
        let names = self.unit.names();
        let proxy = mods
            .iter()
            .any(|m| matches!(*m, M::PROXY | M::MBARRIER_INIT | M::OP_RESTRICT) || m.text(names).starts_with("proxy"));
        if proxy && mods.contains(&M::ALIAS) {
            return self.plain(Op::Fence { scope: Scope::Cta, order: Order::Relaxed });
        }
        if proxy {
            let with_async = mods.iter().any(|m| m.text(names).starts_with("async"));
            return self.plain(if with_async { Op::ProxyFence } else { Op::Nop });
        }
        let orders = [(M::SC, Order::Sc), (M::ACQUIRE, Order::Acquire), (M::RELEASE, Order::Release)];
        let named = orders.iter().find(|(word, _)| mods.contains(word)).map_or(Order::AcqRel, |row| row.1);
        let order = if instr.opcode == Opcode::MEMBAR { Order::Sc } else { named };
        let scope = match scope_word(self.unit.names(), mods) {
            Scope::Lane => Scope::Sys,
            scope => scope,
        };
        self.plain(Op::Fence { scope, order })
    }

    /// What lanes exchange: `op{.sync} d{|p}, a{, b, c}{, mask}`.
    pub(super) fn exchange(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let (kind, sync) = (self.exchanged(instr)?, instr.mods.contains(&M::SYNC));
        let (classes, dest, _) = kind.shape();
        let mut slots = [Slot(0); 3];
        for (i, (slot, class)) in slots.iter_mut().zip(classes).enumerate() {
            let ty = if let K::Redux(_) = kind { *self.types.last()? } else { bits_type(class.bits().into()) };
            *slot = self.source(nth(instr, i + 1)?, *class, ty)?;
        }
        let [a, b, c] = slots;
        let e = if sync { self.source(nth(instr, classes.len() + 1)?, Class::W, M::B32)? } else { Slot(0) };
        let (d, p) = Self::pair(nth(instr, 0)?);
        let p = match p {
            Some(p) if !matches!(p.kind, OperandKind::Sink) => self.destination_of(p, Class::P)?.0,
            _ => u16::MAX,
        };
        let d = self.destination_of(d, dest)?;
        // There are far fewer kinds than 65,536.
        let index = intern(&mut self.program.env.exchanges, Exchange { kind, sync });
        self.plain(Instr { d, a, b, c, e, imm: index | u32::from(p) << 16, ..Instr::new(Op::Exchange) })
    }

    /// Which exchange it is: `shfl`, `vote`, `match`, `redux`, `elect` or `activemask`.
    fn exchanged(&self, instr: &tree::Instr) -> Option<K> {
        let mods = &instr.mods;
        match instr.opcode {
            Opcode::SHFL => {
                pick(mods, &[(M::UP, K::ShflUp), (M::DOWN, K::ShflDown), (M::BFLY, K::ShflBfly), (M::IDX, K::ShflIdx)])
            }
            Opcode::VOTE => pick(
                mods,
                &[(M::ALL, K::VoteAll), (M::ANY, K::VoteAny), (M::UNI, K::VoteUni), (M::BALLOT, K::VoteBallot)],
            ),
            Opcode::MATCH => Some(match (mods.contains(&M::ALL), self.types == [M::B64]) {
                (false, false) => K::MatchAny32,
                (false, true) => K::MatchAny64,
                (true, false) => K::MatchAll32,
                (true, true) => K::MatchAll64,
            }),
            Opcode::REDUX => self.reduction(mods).map(K::Redux),
            Opcode::ELECT => Some(K::Elect),
            _ => Some(K::ActiveMask),
        }
    }

    /// The operation of `redux.sync.op{.abs}{.NaN}.type`.
    fn reduction(&self, mods: &[M]) -> Option<Redux> {
        let ty = *self.types.last()?;
        let (abs, nan) = (mods.contains(&M::ABS), mods.contains(&M::NAN_PROPAGATE));
        mods.iter().find_map(|m| {
            Some(match (*m, ty) {
                (M::ADD, _) => Redux::Add,
                (M::MIN, M::F32) => Redux::MinF { abs, nan },
                (M::MAX, M::F32) => Redux::MaxF { abs, nan },
                (M::MIN, M::S32) => Redux::MinS,
                (M::MAX, M::S32) => Redux::MaxS,
                (M::MIN, _) => Redux::MinU,
                (M::MAX, _) => Redux::MaxU,
                (M::AND, _) => Redux::And,
                (M::OR, _) => Redux::Or,
                (M::XOR, _) => Redux::Xor,
                _ => return None,
            })
        })
    }

    /// `nanosleep.u32 t`.
    pub(super) fn nanosleep(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let a = self.source(nth(instr, 0)?, Class::W, M::U32)?;
        self.plain(Instr { a, ..Instr::new(Op::Nanosleep) })
    }

    /// `alloca.type d, size{, align}`, `stacksave.type d`, `stackrestore.type a`.
    pub(super) fn stack(&mut self, instr: &'t tree::Instr) -> Option<()> {
        let ty = *self.types.last()?;
        if instr.opcode == Opcode::STACKRESTORE {
            let a = self.source(nth(instr, 0)?, Class::Q, M::U64)?;
            return self.plain(Instr { a, ..Instr::new(Op::StackRestore) });
        }
        let class = class_of_type(ty);
        if class == Class::P {
            return None;
        }
        let mut made = Instr::new(Op::StackSave);
        if instr.opcode == Opcode::ALLOCA {
            let a = self.source(nth(instr, 1)?, Class::Q, M::U64)?;
            let align = match instr.operands.get(2) {
                Some(op) => u32::try_from(self.immediate(op)?).unwrap_or(8),
                None => 8,
            };
            made = Instr { a, imm: align, ..Instr::new(Op::Alloca) };
        }
        let d = self.destination_of(nth(instr, 0)?, class)?;
        if class == Class::Q {
            self.emit(Role::Main, Instr { d, ..made });
        } else {
            let t = self.temp(Class::Q)?;
            self.emit(Role::Main, Instr { d: t, ..made });
            self.alu(Role::Part, crate::program::ops::IntOp::TruncQW, d, &[t]);
        }
        Some(())
    }
}
