//! Programs and launches that come to a context: addresses and initial values of variables, and what a launch fixes (report,
//! 5.1.3 and 5.7).

use crate::machine::config::{Config, ControlModel};
use crate::machine::context::state::{ContextState, LoadedProgram, stop};
use crate::machine::context::visible::Visible;
use crate::machine::control::{Control, Grouping};
use crate::machine::device::message::{GridId, Program, ProgramId, Tag};
use crate::machine::grid::launch::Launch;
use crate::machine::grid::loaded::{Loaded, arguments, per_block};
use crate::machine::images::{APART, Bound, What, initialised};
use crate::memory::{Environment, Uses};
use crate::program::env::{FuncId, GlobalVar, Init, Preload, ProgEnv, Special};
use crate::program::instr::Op;
use crate::verdict::{AllocKind, ImageKind, Stop};
use std::sync::Arc;

impl<C: Control, M: Environment> ContextState<C, M> {
    /// Loads a program: its variables get addresses and initial values (5.1.3).
    ///
    /// # Errors
    /// The memory cap.
    pub fn load(&mut self, program: &Program, tag: Tag) -> Result<ProgramId, Stop> {
        let env = &program.0;
        let mut variables = Vec::with_capacity(env.variables.len());
        for (name, v) in &env.variables {
            let kind = if v.constant { AllocKind::Const } else { AllocKind::Global };
            variables.push(self.memory.arena_mut().alloc(name, kind, v.bytes, v.align).map_err(|f| stop(*f))?);
        }
        for (k, address) in variables.iter().enumerate() {
            initialise(&mut self.memory, env, &variables, k, *address);
        }
        for ((name, v), address) in env.variables.iter().zip(&variables) {
            if let Some(reference) = &v.reference {
                // A sampler needs nothing that only a host knows.
                let what = match reference.kind {
                    ImageKind::Sampler => What::Sampler(initialised(reference, APART)),
                    kind => What::Nothing(kind),
                };
                let bound = Bound { name: name.clone(), what };
                Arc::make_mut(&mut self.images).bind(*address, bound);
            }
        }
        let visible = Arc::new(Visible::of(env, !C::JOINS, true, false));
        self.programs.push(LoadedProgram { program: program.clone(), tag, variables, visible });
        Ok(ProgramId(u32::try_from(self.programs.len() - 1).unwrap_or(u32::MAX)))
    }

    /// What a launch fixes.
    pub(in crate::machine) fn loaded(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        id: GridId,
        config: &Config,
    ) -> Result<Loaded, Stop> {
        let missing = || Stop::Unsupported(format!("no entry named {}", launch.entry), None);
        let of = self.programs.get(program.0 as usize).ok_or_else(missing)?;
        let env = &of.program.0;
        if !C::JOINS && !env.injected {
            return Err(Stop::Unsupported("control model crs for a program built without injection".into(), None));
        }
        let (k, _, entry) = env.functions.get_full(&launch.entry).ok_or_else(missing)?;
        // A cluster is one block (D-cluster).
        if let Some([x, y, z]) = entry.bounds.cluster.filter(|of| *of != [1; 3]) {
            let blocks = u64::from(x) * u64::from(y) * u64::from(z);
            let what =
                format!("`{}` with clusters of {blocks} blocks (`.reqnctapercluster {x}, {y}, {z}`)", launch.entry);
            return Err(Stop::Unsupported(what, None));
        }
        let (given, wanted) = (launch.params.len(), entry.param_bytes);
        if given < wanted as usize {
            let what = format!("a launch of `{}` with {given} of its {wanted} bytes of arguments", launch.entry);
            return Err(Stop::Unsupported(what, None));
        }
        let dynamic_at = entry.dynamic_shared_at();
        let cooperative = |p: &Preload| matches!(p.init, Init::Special(Special::EnvReg(_)));
        // Grid barriers may be in functions that it calls.
        let called = env.functions.values().filter(|f| !f.entry).flat_map(|f| &f.preloads);
        let workspace = if entry.preloads.iter().chain(called).any(cooperative) {
            self.memory.arena_mut().alloc("grid workspace", AllocKind::Buffer, 256, 256).map_err(|f| stop(*f))?
        } else {
            0
        };
        Ok(Loaded {
            program: of.tag.0,
            entry: FuncId(u32::try_from(k).unwrap_or(u32::MAX)),
            grid: launch.grid,
            block: launch.block,
            warp_size: config.warp_size.clamp(1, 32),
            grouping: config.control.map_or(Grouping::All, ControlModel::grouping),
            params: launch.params.clone(),
            shared_bytes: dynamic_at.saturating_add(launch.shared_bytes),
            dynamic_at,
            dynamic_bytes: launch.shared_bytes,
            sms: config.device.processors,
            number: id.0,
            variables: of.variables.clone(),
            bounds: config.bounds.clone(),
            stack_limit: config.stack_limit,
            mma_exact: config.mma_exact,
            images: Arc::clone(&self.images),
            heap: config.heap,
            workspace,
            moves_stack: env.code.iter().any(|i| matches!(i.op, Op::Alloca | Op::StackRestore)),
            arguments: arguments(env),
            per_block: per_block(&entry.preloads),
            uses: if M::IMMEDIATE { Vec::new() } else { Uses::of_program(env) },
        })
    }
}

/// Writes a variable's initial value.
fn initialise<M: Environment>(memory: &mut M, env: &ProgEnv, variables: &[u64], k: usize, address: u64) {
    let GlobalVar { bytes, init, relocations, .. } = &env.variables[k];
    let mut image = init.clone();
    image.resize(usize::try_from(*bytes).unwrap_or(0), 0);
    for r in relocations {
        let value = address_of(env, variables, r.of) >> r.shift;
        let (at, width) = (r.at as usize, usize::from(r.bytes.min(8)));
        image[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
    }
    if let Some(to) = memory.arena_mut().bytes_at_mut(address, *bytes) {
        to.copy_from_slice(&image);
    }
}

fn address_of(env: &ProgEnv, variables: &[u64], of: Init) -> u64 {
    let map = env.addresses();
    match of {
        Init::Const(v) => v,
        Init::Within { of, offset } => u64::from(of.first).wrapping_add_signed(offset),
        Init::Variable { index, offset } => variables[index as usize].wrapping_add_signed(offset),
        Init::Function(id) => map.code_of(env.functions[id.0 as usize].start),
        Init::Code(pc) => map.code_of(pc),
        Init::DynamicShared(_) | Init::Special(_) | Init::Param { .. } => {
            unreachable!("checking refuses such an initialiser")
        }
    }
}
