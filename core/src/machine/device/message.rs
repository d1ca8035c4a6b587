//! Messages between a host program and the device, and the lists they wait in (report, 5.7.2 and 5.8.2).
//!
//! Lists are unordered: which message is taken next, and when, is a choice of the device's step. One addition: a message
//! that is answered carries a tag of the host's, which the answer repeats. Without it a host that sends two `start`
//! messages could not tell which of the two `started` answers is whose (D-tags).

use crate::base::sort;
use crate::machine::grid::launch::Launch;
use crate::program::env::ProgEnv;
use std::sync::Arc;

/// A context of a device; never used again after it was destroyed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ContextId(pub u32);

/// A program of a context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProgramId(pub u32);

/// A grid of a device. The report wants it unique in its context (5.6); here it is in the device, so that an observer of
/// several contexts can tell grids apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GridId(pub u32);

/// A number by which the host finds the answer to a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tag(pub u32);

/// A program after the code transformations (5.1.3). Equal to itself only: texts are not compared.
#[derive(Clone, Debug)]
pub struct Program(pub Arc<ProgEnv>);

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Program {}

/// What the host tells a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContextInput {
    /// Launch an entry of a loaded program.
    Start(ProgramId, Box<Launch>, Tag),
    /// Remove a grid, wherever it is.
    Abort(GridId),
}

impl ContextInput {
    /// What tells a message from others.
    const fn key(&self) -> (u8, u32) {
        match self {
            Self::Start(_, _, tag) => (0, tag.0),
            Self::Abort(grid) => (1, grid.0),
        }
    }
}

/// What a context tells the host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ContextOutput {
    /// A grid has been made.
    Started(GridId, Tag),
    /// All blocks of a grid are complete.
    Completed(GridId),
}

/// What the host tells the device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeviceInput {
    /// Load a program into a context.
    Load(Program, ContextId, Tag),
    /// Make a context.
    Create(Tag),
    /// Destroy a context and all its grids.
    Destroy(ContextId),
    /// Hand a message on to a context.
    Context(ContextId, ContextInput),
}

/// What the device tells the host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DeviceOutput {
    /// A context has been made.
    Created(ContextId, Tag),
    /// A program has been loaded.
    Loaded(ProgramId, ContextId, Tag),
    /// A message of a context.
    Context(ContextId, ContextOutput),
}

/// Why the device does not accept a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MessageError {
    /// There is no such context: it was never made, or it was destroyed.
    NoContext(ContextId),
    /// The context has no such program.
    NoProgram(ContextId, ProgramId),
    /// The program has no such kernel.
    NoEntry(ProgramId, String),
    /// The context has no such grid: it has completed or was aborted, or an abort is on its way.
    NoGrid(ContextId, GridId),
    /// The program's addresses have another size than those of the context's programs.
    AddressSize(ContextId),
}

/// The message lists of a context.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ContextIo {
    /// From the host, not handled yet.
    pub inputs: Vec<ContextInput>,
    /// To the host, not sent yet.
    pub outputs: Vec<ContextOutput>,
}

impl ContextIo {
    /// A `start` has made a grid: the message is gone, the answer waits.
    ///
    /// Rule: cio.start
    pub fn start(&mut self, k: usize, grid: GridId) {
        if let ContextInput::Start(_, _, tag) = self.inputs.remove(k) {
            self.outputs.push(ContextOutput::Started(grid, tag));
        }
    }

    /// Messages in one order: lists are unordered.
    pub fn sort(&mut self) {
        sort::sort_by_key(&mut self.inputs, ContextInput::key);
        sort::sort(&mut self.outputs);
    }

    /// An `abort` is done; the host gets no answer.
    ///
    /// Rule: cio.abort
    pub fn abort(&mut self, k: usize) {
        self.inputs.remove(k);
    }

    /// A grid is complete.
    ///
    /// Rule: cio.compl
    pub fn complete(&mut self, grid: GridId) {
        self.outputs.push(ContextOutput::Completed(grid));
    }
}

/// The message lists of the device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeviceIo {
    /// From the host, not handled yet.
    pub inputs: Vec<DeviceInput>,
    /// To the host, not sent yet.
    pub outputs: Vec<DeviceOutput>,
}

impl DeviceIo {
    /// A `load` has loaded a program.
    ///
    /// Rule: dio.load
    pub fn load(&mut self, k: usize, program: ProgramId) {
        if let DeviceInput::Load(_, context, tag) = self.inputs.remove(k) {
            self.outputs.push(DeviceOutput::Loaded(program, context, tag));
        }
    }

    /// A `create` has made a context.
    ///
    /// Rule: dio.create
    pub fn create(&mut self, k: usize, context: ContextId) {
        if let DeviceInput::Create(tag) = self.inputs.remove(k) {
            self.outputs.push(DeviceOutput::Created(context, tag));
        }
    }

    /// Messages in one order: lists are unordered.
    pub fn sort(&mut self) {
        sort::sort_by_key(&mut self.inputs, |message| match message {
            DeviceInput::Create(tag) => (0, tag.0, (0, 0)),
            DeviceInput::Load(_, context, tag) => (1, context.0, (0, tag.0)),
            DeviceInput::Destroy(context) => (2, context.0, (0, 0)),
            DeviceInput::Context(context, message) => (3, context.0, message.key()),
        });
        sort::sort(&mut self.outputs);
    }

    /// A `destroy` is done; the host gets no answer.
    ///
    /// Rule: dio.destroy
    pub fn destroy(&mut self, k: usize) {
        self.inputs.remove(k);
    }
}
