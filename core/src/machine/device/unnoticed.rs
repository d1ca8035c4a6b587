//! Steps that only the warp that makes them notices: a search need not ask when they are made.

use crate::choice::{Alternative, Menu, Name, Oracle, Pick, Site};
use crate::machine::config::Config;
use crate::machine::context::state::{ContextState, place};
use crate::machine::control::Explored;
use crate::machine::device::message::{ContextId, ContextOutput, DeviceOutput, GridId};
use crate::machine::device::state::{Device, Move};
use crate::machine::grid::state::Grid;
use crate::memory::Environment;
use crate::verdict::Stop;
use std::num::NonZeroU32;

/// A step of the device that can as well be made at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unnoticed {
    /// The message at this place among those that can be handled only comes nearer to where it is handled.
    Message(u32),
    /// A warp executes instructions that change and read nothing but its own registers.
    Warp(Going),
}

/// A warp that goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Going {
    context: ContextId,
    grid: GridId,
    block: u64,
    warp: u32,
    /// Instructions, at least one.
    length: u32,
}

impl<C: Explored, M: Environment> Device<C, M> {
    /// The first step that nothing else notices; `host`: that includes what the host hears.
    pub(in crate::machine) fn unnoticed(&mut self, config: &Config, host: bool) -> Option<Unnoticed> {
        let only_moves = |step: &Move| match step {
            Move::FromContext(..) => true,
            // With caches, a message that waits in its context keeps warps from issuing operations, and whether a grid has
            // ended decides what the next one finds there (D-flush).
            Move::ToContext(_) | Move::Complete(..) => M::IMMEDIATE,
            // The host settles caches when it hears of an end.
            Move::Out(k) => host && (M::IMMEDIATE || !completed(&self.io.outputs[*k])),
            _ => false,
        };
        if let Some(k) = self.moves().iter().position(only_moves) {
            return Some(Unnoticed::Message(place(k)));
        }
        self.contexts.iter_mut().find_map(|context| context.unnoticed(config)).map(Unnoticed::Warp)
    }
}

const fn completed(message: &DeviceOutput) -> bool {
    matches!(message, DeviceOutput::Context(_, ContextOutput::Completed(_)))
}

impl<C: Explored, M: Environment> ContextState<C, M> {
    fn unnoticed(&mut self, config: &Config) -> Option<Going> {
        let room = self.room(config);
        // Which blocks are issued next, and where, is decided in the steps of warps.
        if self.drains() || self.grids.iter().any(|g| g.can_issue(&self.processors, room)) {
            return None;
        }
        let Self { id, grids, programs, .. } = self;
        grids.iter_mut().filter(|grid| !grid.completed).find_map(|grid| {
            let visible = &programs.get(grid.program.0 as usize)?.visible;
            grid.unnoticed(|pc| visible.hidden(pc)).map(|(block, warp, length)| Going {
                context: *id,
                grid: grid.id,
                block,
                warp,
                length,
            })
        })
    }
}

impl<C: Explored> Grid<C> {
    /// The block, the warp in it, and the number of instructions; `hidden`: how many there are from an address on.
    fn unnoticed(&mut self, hidden: impl Fn(u32) -> u32) -> Option<(u64, u32, u32)> {
        let (ready, shift) = (&self.ready, self.shift);
        let is_ready = |slot: usize, w: u32| {
            let index = (slot << shift) + w as usize;
            ready.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
        };
        let blocks = self.blocks.iter_mut().enumerate().filter_map(|(slot, block)| Some((slot, block.as_mut()?)));
        for (slot, block) in blocks {
            let linear = block.linear;
            for warp in block.warps.iter_mut().filter(|w| is_ready(slot, w.index)) {
                // Where lanes go apart, which of them run is a choice.
                let Ok(&[flow]) = warp.control.flows().as_deref() else { continue };
                match hidden(flow.pc) {
                    0 => {}
                    length => return Some((linear, warp.index, length)),
                }
            }
        }
        None
    }
}

impl Unnoticed {
    /// Warp instructions that it takes at most.
    #[must_use]
    pub fn length(self) -> u64 {
        match self {
            Self::Message(_) => 1,
            Self::Warp(going) => going.length.into(),
        }
    }

    /// An oracle that takes this step, and leaves what else is to be decided to another one.
    pub fn by(self, other: &mut dyn Oracle) -> impl Oracle {
        Towards { to: self, other }
    }
}

struct Towards<'a> {
    to: Unnoticed,
    other: &'a mut dyn Oracle,
}

impl Oracle for Towards<'_> {
    fn choose(&mut self, menu: Menu<'_>) -> Result<Pick, Stop> {
        let named = |number: u32| menu.find(Alternative::Numbered(menu.site, number.into()));
        let (index, lease) = match (self.to, menu.site) {
            (Unnoticed::Message(k), Site::Message) => (Some(k), 1),
            (Unnoticed::Message(_), _) => (None, 1),
            (Unnoticed::Warp(Going { context, grid, block, warp, length }), site) => {
                let index = match site {
                    // None for now is the last.
                    Site::Message => menu.offered().last(),
                    Site::Context => named(context.0),
                    Site::Grid => named(grid.0),
                    Site::Micro => menu.find(Alternative::Named(site, Name::End)),
                    Site::Warp => menu.find(Alternative::Warp { block, warp }),
                    _ => None,
                };
                (index, length)
            }
        };
        match (index, NonZeroU32::new(lease)) {
            (Some(index), Some(lease)) => Ok(Pick { index, lease }),
            _ => self.other.choose(menu),
        }
    }
}
