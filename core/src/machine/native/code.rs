//! Machine code in memory, and the calls into it and back: the only `unsafe` of the machine.
//!
//! Why it is sound. Native code touches the slots of one frame, the bytes of device memory, a block's shared memory, a list of
//! sites, a list of numbers and its context, all by way of the pointers of a [`Context`]; [`Code::enter`] makes these of
//! exclusive references that it holds until the code is back, and checks that each of them is as long as what the code was
//! compiled for: slots of the function, numbers of lines, sites, bytes of shared memory. Offsets in them are constants, but for
//! accesses of the program: those are in a block of device memory, found by [`locate`] and checked against its end by the code
//! before each access, or inside of shared memory, whose size is a constant. Sites are forgotten when blocks are freed, and the
//! bytes are looked up anew at each entry, so that they may move in between. While native code has called back, it does not run;
//! what it is called with is borrowed again from the same references. The code lives as long as the [`Code`], which each session
//! that runs it keeps. It is plain data once it is finished, so that threads may share it.
#![expect(unsafe_code, reason = "machine code is called; the argument stands above")]

use super::context::{Context, Exit, Site};
use super::emit::{Helpers, Setting, emit};
use super::plan::Plan;
use crate::base::{Frame, LaneMask, Lanes32, expand};
use crate::machine::warp::guarded::{guarded, near};
use crate::machine::warp::state::Shared;
use crate::memory::{Active, Cx, Fault, LocalMemory, Memory};
use crate::program::env::ProgEnv;
use crate::verdict::Sink;
use cranelift_codegen::ir::{AbiParam, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module};
use pulp::Simd;

type Function = unsafe extern "C" fn(*mut Context) -> u32;

/// The machine code of a kernel: for whole warps, or for some of the lanes of one.
pub(super) struct Code {
    /// Owns the memory; taken when that is given back.
    module: Option<JITModule>,
    function: Function,
    /// Sites that it has.
    pub sites: usize,
    slots: [usize; 3],
    scalars: usize,
    shared: usize,
}

// SAFETY: see above: finished code is only read.
unsafe impl Send for Code {}
// SAFETY: the same.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the functions are only called by way of `self`.
            unsafe { module.free_memory() };
        }
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("sites", &self.sites).finish_non_exhaustive()
    }
}

/// What a warp is run on.
pub(super) struct Entry<'a, 'l, 'c, V, M, S> {
    pub simd: V,
    pub frame: &'a mut Frame,
    pub sh: &'a mut Shared<'l>,
    pub local: &'a mut LocalMemory,
    pub mem: &'a mut M,
    pub cx: &'a mut Cx<'c, S>,
    pub sites: &'a mut [Site],
    pub scalars: &'a mut [u64],
    /// The lanes, and the same expanded.
    pub mask: LaneMask,
    pub lanes: &'a Lanes32,
    pub fuel: u32,
    /// The number of the entry.
    pub number: u32,
    pub watch: u32,
    pub trip: u32,
}

/// How it came back.
pub(super) struct Back {
    pub exit: Exit,
    pub pc: u32,
    /// Fuel that is left.
    pub left: u32,
    /// Instructions that were executed and are not counted.
    pub hidden: u32,
    pub taken: LaneMask,
    pub tokens: u32,
    pub fault: Option<Box<Fault>>,
}

/// What calls back are made on.
struct Host<'a, 'l, 'c, V, M, S> {
    simd: V,
    frame: *mut Frame,
    sh: &'a mut Shared<'l>,
    local: &'a mut LocalMemory,
    mem: &'a mut M,
    cx: &'a mut Cx<'c, S>,
    fault: Option<Box<Fault>>,
}

impl Code {
    /// Compiles a kernel, for whole warps or for `some` of the lanes.
    ///
    /// # Errors
    /// This computer's instruction set is not one that can be compiled for; an error of ours.
    pub fn of(plan: &Plan, env: &ProgEnv, setting: Setting, some: bool) -> Result<Self, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
        ] {
            flags.set(name, value).map_err(|e| said(&e))?;
        }
        let isa = cranelift_native::builder()?.finish(settings::Flags::new(flags)).map_err(|e| said(&e))?;
        let mut module = JITModule::new(JITBuilder::with_isa(isa, cranelift_module::default_libcall_names()));
        let mut context = module.make_context();
        context.func.signature.params.push(AbiParam::new(types::I64));
        context.func.signature.returns.push(AbiParam::new(types::I32));
        let mut signature = |parameters: &[types::Type]| {
            let mut signature = module.make_signature();
            signature.params.extend(parameters.iter().map(|ty| AbiParam::new(*ty)));
            signature.returns.push(AbiParam::new(types::I32));
            context.func.import_signature(signature)
        };
        let plain = signature(&[types::I64, types::I32, types::I32]);
        let locate = signature(&[types::I64, types::I32, types::I64, types::I64, types::I32]);
        let mut around = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut context.func, &mut around);
        let sites = emit(builder, (plan, env), setting, some, Helpers { plain, locate });
        let name = if some { "some" } else { "full" };
        let id = module.declare_function(name, Linkage::Local, &context.func.signature).map_err(|e| said(&e))?;
        module.define_function(id, &mut context).map_err(|e| format!("{e:?}"))?;
        module.clear_context(&mut context);
        module.finalize_definitions().map_err(|e| said(&e))?;
        let code = module.get_finalized_function(id);
        // SAFETY: it was compiled with this signature.
        let function = unsafe { std::mem::transmute::<*const u8, Function>(code) };
        let slots = plan.function.slots;
        Ok(Self {
            module: Some(module),
            function,
            sites,
            slots: [slots.w, slots.q, slots.p].map(usize::from),
            scalars: plan.scalars,
            shared: setting.shared_bytes as usize,
        })
    }

    /// Runs lanes of a warp from an entry on. `None`: what they are run on is not what was compiled for.
    #[inline(always)]
    pub fn enter<V: Simd, M: Memory, S: Sink>(&self, on: Entry<'_, '_, '_, V, M, S>) -> Option<Back> {
        let Entry { simd, frame, sh, local, mem, cx, sites, scalars, mask, lanes, fuel, number, watch, trip } = on;
        let [w, q, p] = self.slots;
        let fits = frame.w.len() >= w && frame.q.len() >= q && frame.p.len() >= p;
        if !fits || sites.len() < self.sites || scalars.len() < self.scalars || sh.shared.len() < self.shared {
            return None;
        }
        let frame: *mut Frame = frame;
        let memory = mem.arena_mut().bytes_mut().as_mut_ptr();
        let shared = sh.shared.as_mut_ptr();
        let mut host = Host { simd, frame, sh, local, mem, cx, fault: None };
        let host: *mut Host<'_, '_, '_, V, M, S> = &mut host;
        // SAFETY: the frame is borrowed exclusively; its slots stay where they are.
        let (w, q, p) = unsafe { ((*frame).w.as_mut_ptr(), (*frame).q.as_mut_ptr(), (*frame).p.as_mut_ptr()) };
        let mut context = Context {
            w,
            q,
            p,
            memory,
            shared,
            sites: sites.as_mut_ptr(),
            scalars: scalars.as_mut_ptr(),
            lanes,
            host: host.cast(),
            plain: plain::<V, M, S>,
            locate: locate::<V, M, S>,
            left: i64::from(fuel) << 32,
            pc: 0,
            entry: number,
            mask,
            taken: 0,
            tokens: 0,
            watch,
            trip,
        };
        // SAFETY: see the head of this file.
        let code = unsafe { (self.function)(&raw mut context) };
        // SAFETY: nobody else has it any more.
        let fault = unsafe { (*host).fault.take() };
        let left = u32::try_from(context.left >> 32).unwrap_or(0);
        let hidden = context.left as u32;
        let Context { pc, taken, tokens, .. } = context;
        Some(Back { exit: Exit::of(code)?, pc, left, hidden, taken, tokens, fault })
    }
}

/// See [`super::context::Plain`].
///
/// # Safety
/// The context is one that [`Code::enter`] made for this instruction set, memory and observer, and that runs.
unsafe extern "C" fn plain<V: Simd, M: Memory, S: Sink>(context: *mut Context, pc: u32, mask: LaneMask) -> u32 {
    // SAFETY: native code waits, and uses nothing of it meanwhile.
    let host = unsafe { &mut *(*context).host.cast::<Host<'_, '_, '_, V, M, S>>() };
    // SAFETY: the same.
    let regs = unsafe { &mut *host.frame };
    let env = host.sh.env;
    let Some(i) = env.code.get(pc as usize).filter(|_| mask != 0) else { return 0 };
    let lanes = expand(mask, &host.cx.tables);
    let at = host.sh.issuer(pc, 0);
    let near = &mut near::<M>(host.sh, host.local, pc);
    let on = Active { at, mask, lanes: &lanes, regs, near };
    match guarded(host.simd, env, i, on, host.mem, host.cx) {
        Ok(()) => 0,
        Err(fault) => {
            host.fault = Some(fault);
            1
        }
    }
}

/// See [`super::context::Locate`].
///
/// # Safety
/// As of [`plain`]; the context has a site of that number.
unsafe extern "C" fn locate<V: Simd, M: Memory, S: Sink>(
    context: *mut Context,
    site: u32,
    address: u64,
    bytes: u64,
    unit: u32,
) -> u32 {
    // SAFETY: native code waits, and uses nothing of it meanwhile.
    let host = unsafe { &mut *(*context).host.cast::<Host<'_, '_, '_, V, M, S>>() };
    let Some(block) = host.mem.arena().block_to_use(address, bytes) else { return 0 };
    if address.wrapping_sub(block.address) & u64::from(unit - 1) != 0 {
        return 0;
    }
    let shift = (block.at as u64).wrapping_sub(block.address);
    let found = Site { address: block.address, last: (block.len - bytes) >> unit.trailing_zeros(), shift };
    // SAFETY: native code knows the numbers of its sites only.
    unsafe { *(*context).sites.add(site as usize) = found };
    1
}
