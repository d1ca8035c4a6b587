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
use crate::base::{Frame, LaneMask, Lanes32};
use crate::memory::Hint;
use crate::program::env::ProgEnv;
use cranelift_codegen::ir::{AbiParam, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module};

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

/// What native code works on beside a frame, and calls back for.
pub(super) trait Host {
    /// The bytes of device memory.
    fn memory(&mut self) -> &mut [u8];

    /// The block's shared memory.
    fn shared(&mut self) -> &mut [u8];

    /// Executes the instruction at an address on a frame, for some lanes. False: it failed; why is kept.
    fn plain(&mut self, frame: &mut Frame, pc: u32, lanes: LaneMask) -> bool;

    /// The block of device memory that all of `bytes` at an address lie in, when instructions may read and write them.
    fn block(&self, address: u64, bytes: u64) -> Option<Hint>;
}

/// What a warp is run on.
pub(super) struct Entry<'a, H> {
    pub frame: &'a mut Frame,
    pub host: &'a mut H,
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
    pub fn enter<H: Host>(&self, on: Entry<'_, H>) -> Option<Back> {
        let Entry { frame, host, sites, scalars, mask, lanes, fuel, number, watch, trip } = on;
        let [w, q, p] = self.slots;
        let fits = frame.w.len() >= w && frame.q.len() >= q && frame.p.len() >= p;
        if !fits || sites.len() < self.sites || scalars.len() < self.scalars || host.shared().len() < self.shared {
            return None;
        }
        let (memory, shared) = (host.memory().as_mut_ptr(), host.shared().as_mut_ptr());
        let mut context = Context {
            w: frame.w.as_mut_ptr(),
            q: frame.q.as_mut_ptr(),
            p: frame.p.as_mut_ptr(),
            memory,
            shared,
            sites: sites.as_mut_ptr(),
            scalars: scalars.as_mut_ptr(),
            lanes,
            frame,
            host: std::ptr::from_mut(host).cast(),
            plain: plain::<H>,
            locate: locate::<H>,
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
        let left = u32::try_from(context.left >> 32).unwrap_or(0);
        let hidden = context.left as u32;
        let Context { pc, taken, tokens, .. } = context;
        Some(Back { exit: Exit::of(code)?, pc, left, hidden, taken, tokens })
    }
}

/// See [`super::context::Plain`].
///
/// # Safety
/// The context is one that [`Code::enter`] made for this host, and that runs.
unsafe extern "C" fn plain<H: Host>(context: *mut Context, pc: u32, lanes: LaneMask) -> u32 {
    // SAFETY: native code waits, and uses nothing of them meanwhile.
    let (host, frame) = unsafe { (&mut *(*context).host.cast::<H>(), &mut *(*context).frame) };
    u32::from(lanes != 0 && !host.plain(frame, pc, lanes))
}

/// See [`super::context::Locate`].
///
/// # Safety
/// As of [`plain`]; the context has a site of that number.
unsafe extern "C" fn locate<H: Host>(context: *mut Context, site: u32, address: u64, bytes: u64, unit: u32) -> u32 {
    // SAFETY: native code waits, and uses nothing of it meanwhile.
    let host = unsafe { &*(*context).host.cast::<H>() };
    let Some(block) = host.block(address, bytes) else { return 0 };
    if address.wrapping_sub(block.address) & u64::from(unit - 1) != 0 {
        return 0;
    }
    let shift = (block.at as u64).wrapping_sub(block.address);
    let found = Site { address: block.address, last: (block.len - bytes) >> unit.trailing_zeros(), shift };
    // SAFETY: native code knows the numbers of its sites only.
    unsafe { *(*context).sites.add(site as usize) = found };
    1
}
