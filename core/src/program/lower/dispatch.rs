//! Which part of lowering an opcode belongs to.

use super::function::{FnLower, Role};
use super::operand::nth;
use crate::program::instr::{Instr, Op, Slot};
use crate::program::ops::{Class, IntOp};
use crate::program::select::Selected;
use crate::program::video;
use crate::ptx::tree;
use crate::ptx::{Modifier as M, Opcode as O};

impl<'t> FnLower<'_, 't> {
    /// Lowers an instruction whose guard is known; `None` where it is not supported.
    pub(super) fn dispatch(&mut self, instr: &'t tree::Instr) -> Option<()> {
        // Asynchronous and bulk copies share opcodes with plain accesses.
        let copies = instr.mods.iter().any(|m| matches!(*m, M::ASYNC | M::BULK));
        match instr.opcode {
            O::ST if instr.mods.first() == Some(&M::BULK) => self.store_bulk(instr),
            O::ST | O::RED if copies => self.access_async(instr),
            O::LD | O::ATOM | O::PREFETCH if copies => None,
            O::MOV => self.mov(instr),
            O::LD | O::LDU => self.load(instr),
            O::ST => self.store(instr),
            O::ATOM => self.atomic(instr, false),
            O::RED => self.atomic(instr, true),
            O::SETP => self.setp(instr),
            O::SET => self.set(instr),
            O::SLCT => self.slct(instr),
            O::CVT => self.cvt(instr),
            O::LOP3 => self.lop3(instr),
            O::CVTA => self.cvta(instr),
            O::ISSPACEP => self.isspacep(instr),
            O::BRA => self.bra(instr),
            O::BRX => self.brx(instr),
            O::CALL => self.call(instr),
            O::RET => self.ret(),
            O::EXIT => self.plain(Op::Exit),
            O::TRAP => self.plain(Op::Trap),
            O::BRKPT => self.plain(Op::Brkpt),
            O::BAR | O::BARRIER => self.barrier(instr),
            O::MEMBAR | O::FENCE => self.fence(instr),
            O::SHFL | O::VOTE | O::MATCH | O::REDUX | O::ELECT | O::ACTIVEMASK => self.exchange(instr),
            O::CP => self.cp_async(instr),
            O::MMA => self.mma(instr),
            O::WMMA => self.wmma(instr),
            O::LDMATRIX => self.ldmatrix(instr),
            O::STMATRIX => self.stmatrix(instr),
            O::MOVMATRIX => self.movmatrix(instr),
            O::MBARRIER => self.mbarrier(instr),
            O::MAPA => self.mapa(instr),
            O::GETCTARANK => self.getctarank(instr),
            O::TEX | O::TLD4 => self.texture(instr),
            O::SULD => self.surface_load(instr),
            O::SUST => self.surface_store(instr),
            O::SURED => self.surface_reduce(instr),
            O::TXQ | O::SUQ => self.image_query(instr),
            O::ISTYPEP => self.istypep(instr),
            O::NANOSLEEP => self.nanosleep(instr),
            O::ALLOCA | O::STACKSAVE | O::STACKRESTORE => self.stack(instr),
            // Hints about caches, counters, dependent grids and register numbers.
            O::PREFETCH
            | O::PREFETCHU
            | O::APPLYPRIORITY
            | O::DISCARD
            | O::PMEVENT
            | O::GRIDDEPCONTROL
            | O::SETMAXNREG => self.plain(Op::Nop),
            // A cache policy is a hint, but it is a value, too.
            O::CREATEPOLICY => {
                let d = self.destination_of(nth(instr, 0)?, Class::Q)?;
                let zero = self.constant(Class::Q, 0)?;
                self.operation(IntOp::MovQ, d, &[zero])
            }
            opcode => match video::lanes(opcode, self.unit.names()) {
                Some(lanes) => self.video(instr, lanes),
                None => self.data(instr),
            },
        }
    }

    /// An instruction that stands for the whole of one of PTX.
    pub(super) fn plain(&mut self, instr: impl Into<Instr>) -> Option<()> {
        self.emit(Role::Main, instr.into());
        Some(())
    }

    /// A data operation that stands for the whole of an instruction, or for the rest of it.
    pub(super) fn operation(&mut self, op: impl Into<Selected>, d: Slot, sources: &[Slot]) -> Option<()> {
        self.alu(Role::Main, op, d, sources);
        Some(())
    }
}
