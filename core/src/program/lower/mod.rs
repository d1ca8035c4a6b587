//! Lowering: syntax trees → the program environment (the report's 5.1.3, after its step 1).
//!
//! The steps are modules of their own: constant expressions (`consts`, step 2), stack frames and sizes (`layout`, steps
//! 3 and 4), the final `ret` or `exit` (`function`, step 5), injection (`flow`, step 6), scoping (`scope`, step 7).
//! `link` joins several modules. What an instruction is, checking has found out ([`Checked`]). A module with complaints
//! still lowers: what cannot be understood becomes an unsupported instruction.

mod bulk;
mod calls;
mod compute;
mod control;
mod copies;
mod dispatch;
mod error;
mod function;
mod init;
mod labels;
mod matrix;
mod mbarrier;
mod memory;
mod moves;
mod operand;
mod owners;
mod surface;
pub(super) mod symbol;
mod texture;
pub(super) mod types;
mod video;
mod warp;
mod wmma;
mod zeros;

#[cfg(test)]
mod forms_tests;
#[cfg(test)]
mod tests;

pub use error::{LowerError, LowerErrorKind};
pub(super) use init::initialise;

use super::check::Checked;
use super::env::{FuncId, ProgEnv, Target};
use super::instr::Syscall;
use super::scope::Scopes;
use super::{link, promote};
use crate::base::{FileId, Span};
use crate::ptx::tree::{Debugging, Function, Item, Module, Names};
use symbol::{Base, Sym};

/// What to do beside lowering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Inject CRS instructions (step 6), for the control model `crs`.
    pub inject: bool,
    /// Give common operations forms of their own (see `promote`).
    pub promote: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { inject: false, promote: true }
    }
}

/// A shared variable.
#[derive(Clone, Debug)]
pub(super) struct SharedVar {
    pub(super) name: String,
    pub(super) bytes: u32,
    pub(super) align: u32,
}

/// What a function needs of others.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    /// Shared variables.
    pub(super) shared: Vec<u32>,
    /// Functions it calls by name.
    pub(super) calls: Vec<FuncId>,
    /// Whether it calls through addresses.
    pub(super) indirect: bool,
}

/// A variable that accesses belong to (D-roots).
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) base: Base,
    pub(super) bytes: u32,
    pub(super) name: String,
    /// The entry that names it, when it is one.
    pub(super) entry: Option<FuncId>,
}

/// The program being built.
#[derive(Default)]
pub(super) struct Program {
    pub(super) env: ProgEnv,
    pub(super) errors: Vec<LowerError>,
    pub(super) shared: Vec<SharedVar>,
    /// The name of dynamic shared memory, the first where there are several.
    pub(super) dynamic_shared: Option<String>,
    /// By function.
    pub(super) uses: Vec<Uses>,
    /// Functions of the device runtime, by function.
    pub(super) syscalls: Vec<Option<Syscall>>,
    /// Functions whose address is taken.
    pub(super) taken: Vec<FuncId>,
    pub(super) owners: Vec<Owner>,
    /// Bytes of `.local` variables at module scope; they lie at the bottom of every thread's local memory.
    pub(super) local_bytes: u32,
    pub(super) aliases: Vec<(FuncId, FuncId)>,
}

impl Program {
    pub(super) fn complain(&mut self, file: FileId, kind: LowerErrorKind, span: Span) {
        let error = LowerError { file, span, kind };
        // An instruction may ask twice for a slot that there is none for.
        if self.errors.last() != Some(&error) {
            self.errors.push(error);
        }
    }
}

/// The number of an item of a short list that has each once.
fn intern<T: PartialEq>(list: &mut Vec<T>, item: T) -> u32 {
    let at = list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    });
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A module and what its names mean at module scope.
pub(super) struct Unit<'t> {
    pub(super) file: FileId,
    pub(super) module: &'t Module,
    pub(super) checked: &'t Checked,
    /// By name.
    pub(super) globals: Vec<Sym>,
    /// The function definitions that count, in source order, each with the number of its first instruction.
    pub(super) bodies: Vec<(&'t Function, FuncId, usize)>,
}

impl<'t> Unit<'t> {
    fn new((file, module, checked): (FileId, &'t Module, &'t Checked)) -> Self {
        Self { file, module, checked, globals: vec![Sym::None; module.names.len()], bodies: Vec::new() }
    }

    pub(super) fn names(&self) -> &'t Names {
        &self.module.names
    }
}

/// Builds the program environment of one or several checked modules, linked; complaints are in the order of the modules' text.
///
/// Functions with complaints are there too. An instruction that is not understood is [`super::instr::Op::Unsupported`].
#[must_use]
pub fn build(modules: &[(FileId, &Module, &Checked)], options: &Options) -> (ProgEnv, Vec<LowerError>) {
    let mut program = Program::default();
    let mut units: Vec<Unit<'_>> = modules.iter().map(|unit| Unit::new(*unit)).collect();
    program.env.target = target(modules);
    link::declare(&mut program, &mut units);
    program.env.injected = options.inject;
    for unit in &units {
        debugging(&mut program, unit);
        let mut scope = Scopes::new(unit.names());
        for body in &unit.bodies {
            function::lower(&mut program, unit, &mut scope, *body, options);
        }
    }
    link::finish(&mut program);
    if options.promote {
        promote::promote(&mut program.env);
    }
    let mut env = program.env;
    env.code.shrink_to_fit();
    env.origin.shrink_to_fit();
    env.requests.shrink_to_fit();
    (env, program.errors)
}

/// The newest target and version of several modules.
fn target(modules: &[(FileId, &Module, &Checked)]) -> Target {
    let checked = || modules.iter().map(|(.., checked)| checked);
    Target {
        sm: checked().map(|c| c.sm.into()).max().unwrap_or_default(),
        version: checked().map(|c| c.version).max().unwrap_or_default(),
        address_bits: if checked().any(|c| c.address_bits == 32) { 32 } else { 64 },
    }
}

/// `.file` directives.
fn debugging(program: &mut Program, unit: &Unit<'_>) {
    for item in &unit.module.items {
        if let Item::Debug(Debugging::File { index, path, .. }) = item {
            program.env.files.insert((unit.file.0, *index), path.clone());
        }
    }
}
