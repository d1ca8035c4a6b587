//! Machine code in memory, and the calls into it and back: the only `unsafe` of the machine.
//!
//! Why it is sound. Native code touches the slots of the frames of some warps, the bytes of device memory, a block's shared memory,
//! a list of sites and that of the code for some lanes, a list of rows, a list of numbers a warp, its contexts, a fixed number of partings and of places with room for numbers, a fixed number of runs, and the lanes, all by way of the pointers of [`Context`] and [`Common`];
//! [`Ready::push`] and [`Ready::run`] make these of exclusive references that a [`Ready`] holds until the code is back, and check
//! that each of them is as long as what the code was compiled for: slots of the function, numbers of lines, sites, rows of a segment,
//! bytes of shared memory. A context is linked to another one or to none, and the code goes on from one to the next. The code for all lanes calls that for some of them, on the same context and with that code's sites; both are of one kernel, which the session keeps. Offsets are constants, but for accesses of the program: those are in a block of device memory, found by [`locate`] and checked against its
//! end by the code before each access, or inside of shared memory, whose size is a constant. Sites are forgotten when blocks are
//! freed, and where at a call the bytes of device memory are no longer where they were; what is lent does not move. Where blocks run ahead (D-ahead), sites whose instructions only
//! load may be given bytes that other threads read as well, through an [`std::sync::Arc`], and nobody writes; a site of which an instruction stores is given bytes of a copy that is
//! the session's alone, whose room is not changed while it exists. While native
//! code has called back, it does not run; what it is called with is borrowed again from the same references. The code lives as long as the [`Code`], which
//! each session that runs it keeps. The code of a function that is called touches a part of local memory besides, whose rows are as many as it was compiled
//! for, at constant offsets; where its lanes call or return, the pointers are made anew of what the host borrows then ([`Context::run_on`]), and checked as before. It is plain data once it is finished, so that threads may share it.
#![expect(unsafe_code, reason = "machine code is called; the argument stands above")]

use super::apart::Apart;
use super::context::{Back, Common, Context, Exit, Site};
use super::emit::{Helpers, Made, Setting, emit};
use super::functions::{PLAIN, TRANSFER, define, fetch, look, module, signature};
use super::host::{Host, Placed, Transferred};
use super::parted::Partings;
use super::plan::Plan;
use crate::base::{Frame, LaneMask, Lanes32};
use crate::memory::LocalMemory;
use crate::program::env::ProgEnv;
use crate::program::instr::Slot;
use crate::program::ops::Class;
use crate::verdict::Row;
use cranelift_codegen::ir::types;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::Module;
use std::ffi::c_void;
use std::marker::PhantomData;

/// Runs the warps of a context and of those that it is linked to; gives the one that ran last.
type Function = unsafe extern "C" fn(*mut Context, *mut Common) -> *mut Context;

/// The machine code of a kernel: for whole warps, or for some of the lanes of one.
pub(super) struct Code {
    /// Owns the memory; taken when that is given back.
    module: Option<JITModule>,
    function: Function,
    /// Whether it is for some of the lanes.
    some: bool,
    /// By site: the instructions whose accesses it is for, but for those that are told.
    pub sites: Vec<Vec<u32>>,
    /// Accesses that a segment tells at most.
    rows: usize,
    slots: [usize; 3],
    scalars: usize,
    /// Places at which lanes may wait.
    places: usize,
    shared: usize,
    /// See [`Plan::stack`].
    stack: (usize, bool),
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
        f.debug_struct("Code").field("sites", &self.sites.len()).finish_non_exhaustive()
    }
}

/// The sites of some code, as they were found.
#[derive(Default, Debug)]
pub(super) struct Sites {
    all: Vec<Site>,
    /// Where the bytes of device memory were.
    place: usize,
}

impl Sites {
    /// Nothing is known any more of any.
    #[cold]
    pub fn forget(&mut self) {
        self.all.fill(Site::NONE);
    }

    /// At least so many, for bytes that are at a place.
    #[inline(always)]
    fn of(&mut self, count: usize, place: usize) -> &mut [Site] {
        if self.place != place {
            self.forget();
            self.place = place;
        }
        if self.all.len() < count {
            self.all.resize(count, Site::NONE);
        }
        &mut self.all
    }
}

/// A warp that is to run.
pub(super) struct Entry<'a> {
    /// Its number in the block.
    pub warp: u32,
    pub frame: &'a mut Frame,
    pub local: &'a mut LocalMemory,
    pub scalars: &'a mut [u64],
    pub fuel: u32,
    /// Instructions that the control model has not been told of, and what [`Context::patience`] says.
    pub untold: u32,
    pub patience: u32,
    /// The number of the entry, and its address.
    pub number: u32,
    pub from: u32,
}

/// What the warps that run have in common, beside memory.
pub(super) struct Along<'a> {
    pub sites: &'a mut Sites,
    /// The code for some lanes and its sites, where that for all may go on in it.
    pub beyond: Option<(&'a Code, &'a mut Sites)>,
    /// How many instructions lanes may execute while others wait of whom none has waited before.
    pub patience: u32,
    /// The lanes, and the same expanded.
    pub mask: LaneMask,
    pub lanes: &'a mut Lanes32,
    pub partings: &'a mut Partings,
    pub apart: &'a mut Apart,
    pub watch: u32,
    pub trip: u32,
    pub rows: &'a mut Vec<Row>,
}

impl Context {
    /// That of a warp; `slots` and `scalars`: what there is at least. `None`: there is not.
    #[inline(always)]
    fn of(on: Entry<'_>, [w, q, p]: [usize; 3], scalars: usize) -> Option<Self> {
        let Entry { warp, frame, local, scalars: values, fuel, untold, patience, number, from } = on;
        let fits = frame.w.len() >= w && frame.q.len() >= q && frame.p.len() >= p && values.len() >= scalars;
        fits.then(|| Self {
            w: frame.w.as_mut_ptr(),
            q: frame.q.as_mut_ptr(),
            p: frame.p.as_mut_ptr(),
            scalars: values.as_mut_ptr(),
            frame,
            local,
            entry: number,
            from,
            pc: from,
            warp,
            told: i64::from(fuel + untold) << 32,
            patience,
            ..Self::nowhere(fuel)
        })
    }

    /// That of a warp of which nothing is known but its fuel.
    #[inline(always)]
    const fn nowhere(fuel: u32) -> Self {
        Self {
            w: std::ptr::null_mut(),
            q: std::ptr::null_mut(),
            p: std::ptr::null_mut(),
            scalars: std::ptr::null_mut(),
            frame: std::ptr::null_mut(),
            local: std::ptr::null_mut(),
            stack: std::ptr::null_mut(),
            left: (fuel as i64) << 32,
            entry: 0,
            from: 0,
            pc: 0,
            exit: Exit::Outside as u32,
            taken: 0,
            tokens: 0,
            warp: 0,
            fewer: 0,
            told: (fuel as i64) << 32,
            patience: 0,
            given: 0,
            own: 0,
            beyond: 0,
            next: std::ptr::null_mut(),
        }
    }

    /// Lanes of a function are to run some code. False: what they are run on is not what that was compiled for.
    #[inline(always)]
    fn run_on(&mut self, common: &mut Common, code: &Code, placed: Placed<'_>) -> bool {
        let Placed { warp, frame, local, apart, stack, beyond, number, from } = placed;
        let ([w, q, p], (rows, stores)) = (code.slots, code.stack);
        let fits = frame.w.len() >= w && frame.q.len() >= q && frame.p.len() >= p && code.scalars == 0;
        let (Some((groups, numbers)), Some(part)) = (apart.room(code.places, 0), local.part(stack, rows, stores))
        else {
            return false;
        };
        (self.stack, common.groups, common.numbers) = (part.as_mut_ptr(), groups, numbers);
        (self.w, self.q, self.p) = (frame.w.as_mut_ptr(), frame.q.as_mut_ptr(), frame.p.as_mut_ptr());
        (self.frame, self.local, self.warp) = (frame, local, warp);
        (self.entry, self.from, self.beyond) = (number, from, beyond.into());
        fits
    }

    /// How its warp came back.
    #[inline(always)]
    pub fn back(&self) -> Option<Back> {
        let Self { left, pc, exit, taken, tokens, fewer, told, patience, given, own, .. } = *self;
        let hidden = left as u32;
        let [left, told] = [left, told].map(|fuel| u32::try_from(fuel >> 32).unwrap_or(0));
        Some(Back { exit: Exit::of(exit)?, pc, left, hidden, taken, tokens, fewer, told, patience, given, own })
    }
}

impl Common {
    /// That of warps that run some code. `None`: it is not what was compiled for.
    #[inline(always)]
    fn of<H: Host>(along: Along<'_>, host: &mut H, code: &Code) -> Option<Self> {
        let Along { sites, beyond, patience, mask, lanes, partings, apart, watch, trip, rows } = along;
        if host.shared().len() < code.shared {
            return None;
        }
        let sites = sites.of(code.sites.len(), host.place());
        let some = beyond.as_ref().map_or(code, |(some, _)| *some);
        let same = (some.slots, some.scalars, some.places, some.shared)
            == (code.slots, code.scalars, code.places, code.shared);
        if !same {
            return None;
        }
        let most = code.rows.max(some.rows);
        if rows.len() < most {
            rows.resize(most, Row::default());
        }
        let (some, others) = match beyond {
            Some((some, sites)) => {
                (some.function as *const c_void, sites.of(some.sites.len(), host.place()).as_mut_ptr())
            }
            None => (std::ptr::null(), std::ptr::null_mut()),
        };
        let (partings, parted, kept) = partings.clear(code.scalars)?;
        let (groups, numbers) = apart.room(code.places, code.scalars)?;
        Some(Self {
            shared: host.shared().as_mut_ptr(),
            sites: sites.as_mut_ptr(),
            some,
            others,
            lanes,
            partings,
            parted,
            kept,
            groups,
            numbers,
            rows: rows.as_mut_ptr(),
            note: note::<H>,
            host: std::ptr::from_mut(host).cast(),
            plain: plain::<H>,
            locate: locate::<H>,
            transfer: transfer::<H>,
            code: std::ptr::from_ref(code).cast(),
            found: 0,
            mask,
            watch,
            trip,
            part: code.some.into(),
            patience,
        })
    }
}

/// Warps that are ready to run the code of a kernel, in turn: a ring.
pub(super) struct Ready<'a> {
    contexts: Contexts,
    slots: [usize; 3],
    scalars: usize,
    /// The one that ran first, once they are linked.
    start: Option<usize>,
    warps: PhantomData<&'a mut Frame>,
}

impl<'a> Ready<'a> {
    /// None, for some code; `contexts`: what was used for that before, so that its room is used again.
    #[inline(always)]
    pub fn new(code: &Code, mut contexts: Contexts) -> Self {
        contexts.0.clear();
        Self { contexts, slots: code.slots, scalars: code.scalars, start: None, warps: PhantomData }
    }

    /// One more. False: it is not what was compiled for.
    #[inline(always)]
    pub fn push(&mut self, on: Entry<'a>) -> bool {
        self.start = None;
        let context = Context::of(on, self.slots, self.scalars);
        let fits = context.is_some();
        self.contexts.0.extend(context);
        fits
    }

    /// Runs them in turn, from the one at `start` on, up to the first that neither waits at a barrier natively nor has ended; gives
    /// how many ran. `None`: what they are run on is not what was compiled for.
    #[inline(always)]
    pub fn run<H: Host>(&mut self, start: usize, code: &Code, along: Along<'_>, host: &mut H) -> Option<usize> {
        let (count, same) = (self.len(), (self.slots, self.scalars) == (code.slots, code.scalars));
        if !same || start >= count {
            return None;
        }
        let mut common = Common::of(along, host, code)?;
        let first = self.link(start);
        self.start = Some(start);
        // SAFETY: see the head of this file; contexts are linked to each other, and the last one to none.
        let last = unsafe { (code.function)(first, &raw mut common) };
        let index = (last as usize).wrapping_sub(self.contexts.0.as_ptr() as usize) / size_of::<Context>();
        let before = if index < start { index + count - start } else { index - start };
        Some(before.min(count - 1) + 1)
    }

    /// Links each to the next one, the last to the first, and the one before `start` to none; gives that at `start`.
    #[inline(always)]
    fn link(&mut self, start: usize) -> *mut Context {
        let (count, first) = (self.len(), self.contexts.0.as_mut_ptr());
        let before = |k: usize| if k == 0 { count - 1 } else { k - 1 };
        match self.start {
            // They are linked but for the last one.
            Some(old) => self.contexts.0[before(old)].next = first.wrapping_add(old),
            None => {
                for k in 0..count {
                    self.contexts.0[before(k)].next = first.wrapping_add(k);
                }
            }
        }
        self.contexts.0[before(start)].next = std::ptr::null_mut();
        first.wrapping_add(start)
    }

    /// A register has a value in all lanes of all of them. False: it is not one of those that were compiled for.
    #[inline(always)]
    pub fn fill(&mut self, class: Class, slot: Slot, value: u64) -> bool {
        let (at, fits) = (slot.index(), |k: usize| slot.index() < self.slots[k]);
        for context in &self.contexts.0 {
            // SAFETY: the frame is borrowed as long as this is, and has slots up to those that were looked at in `push`.
            unsafe {
                match class {
                    Class::W if fits(0) => (*context.w.add(at)).0.fill(value as u32),
                    Class::Q if fits(1) => (*context.q.add(at)).0.fill(value),
                    _ => return false,
                }
            }
        }
        true
    }

    /// One begins anew, at an entry and its address, with so much fuel.
    #[inline(always)]
    pub fn again(&mut self, index: usize, (number, from): (u32, u32), fuel: u32) {
        if let Some(context) = self.contexts.0.get_mut(index) {
            (context.entry, context.from, context.left, context.fewer) = (number, from, i64::from(fuel) << 32, 0);
            context.told = context.left;
        }
    }

    /// One has so much fuel.
    #[inline(always)]
    pub fn fuel(&mut self, index: usize, fuel: u32) {
        if let Some(context) = self.contexts.0.get_mut(index) {
            context.left = i64::from(fuel) << 32;
            context.told = context.left;
        }
    }

    /// All begin anew as nobody has waited.
    pub fn patience(&mut self, patience: u32) {
        self.contexts.0.iter_mut().for_each(|context| context.patience = patience);
    }

    /// The room that they took, and how they came back.
    #[inline(always)]
    pub fn done(self) -> Contexts {
        self.contexts
    }
}

impl std::ops::Deref for Ready<'_> {
    type Target = Contexts;

    fn deref(&self) -> &Contexts {
        &self.contexts
    }
}

/// Warps that run or have run; where nobody is ready, what they were run on is not used.
#[derive(Default, Debug)]
pub(super) struct Contexts(Vec<Context>);

impl std::ops::Deref for Contexts {
    type Target = [Context];

    fn deref(&self) -> &[Context] {
        &self.0
    }
}

impl Code {
    /// Compiles a kernel, for whole warps or for `some` of the lanes.
    ///
    /// # Errors
    /// This computer's instruction set is not one that can be compiled for; an error of ours.
    pub fn of(plan: &Plan, env: &ProgEnv, setting: Setting, some: bool) -> Result<Self, String> {
        let mut module = module(setting)?;
        let (look, fetch) = (look(&mut module)?, fetch(&mut module)?);
        let mut context = module.make_context();
        context.func.signature = signature(&module, &[types::I64; 2], Some(types::I64));
        let plain = signature(&module, &PLAIN, Some(types::I32));
        let plain = context.func.import_signature(plain);
        let moves = signature(&module, &TRANSFER, Some(types::I32));
        let moves = context.func.import_signature(moves);
        let own = context.func.signature.clone();
        let own = context.func.import_signature(own);
        let [locate, fetch] = [look, fetch].map(|id| module.declare_func_in_func(id, &mut context.func));
        let mut around = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut context.func, &mut around);
        let helpers = Helpers { plain, transfer: moves, locate, fetch, own };
        let Made { sites, rows } = emit(builder, (plan, env), setting, some, helpers);
        let name = if some { "some" } else { "full" };
        let id = define(&mut module, name, &mut context)?;
        module.finalize_definitions().map_err(|e| e.to_string())?;
        let code = module.get_finalized_function(id);
        // SAFETY: it was compiled with this signature.
        let function = unsafe { std::mem::transmute::<*const u8, Function>(code) };
        let slots = plan.function.slots;
        Ok(Self {
            module: Some(module),
            function,
            some,
            sites,
            rows,
            slots: [slots.w, slots.q, slots.p].map(usize::from),
            scalars: plan.scalars,
            places: plan.meets.len(),
            shared: setting.shared_bytes as usize,
            stack: plan.stack,
        })
    }

    /// Runs lanes of one warp. `None`: what they are run on is not what was compiled for.
    #[inline(always)]
    pub fn enter<H: Host>(&self, on: Entry<'_>, along: Along<'_>, host: &mut H) -> Option<Back> {
        let mut context = Context::of(on, self.slots, self.scalars)?;
        let mut common = Common::of(along, host, self)?;
        // SAFETY: see the head of this file; the context is linked to none.
        unsafe { (self.function)(&raw mut context, &raw mut common) };
        context.back()
    }

    /// Runs lanes in a function that is called, where the host says, and those that follow them when they call and return. `None`: as
    /// of [`Code::enter`].
    #[inline(always)]
    pub fn nest<H: Host>(&self, fuel: u32, along: Along<'_>, host: &mut H) -> Option<Back> {
        let mut context = Context::nowhere(fuel);
        let mut common = Common::of(along, host, self)?;
        if !context.run_on(&mut common, self, host.placed()?) {
            return None;
        }
        // What it is called back for is borrowed from it again.
        common.host = std::ptr::from_mut(host).cast();
        // SAFETY: see the head of this file; the context is linked to none.
        unsafe { (self.function)(&raw mut context, &raw mut common) };
        context.back()
    }
}

/// See [`super::context::Plain`].
///
/// # Safety
/// The contexts are those that a [`Ready`] for this host has made, and that run.
unsafe extern "C" fn plain<H: Host>(context: *mut Context, common: *mut Common, pc: u32, lanes: LaneMask) -> u32 {
    // SAFETY: native code waits, and uses nothing of them meanwhile.
    let (host, on) = unsafe {
        let on = ((*context).warp, &mut *(*context).frame, &mut *(*context).local);
        (&mut *(*common).host.cast::<H>(), on)
    };
    u32::from(lanes != 0 && !host.plain(on, pc, lanes))
}

/// See [`super::context::Transfer`].
///
/// # Safety
/// As of [`plain`]; the code is the one that runs.
unsafe extern "C" fn transfer<H: Host>(context: *mut Context, common: *mut Common, pc: u32, left: i64) -> u32 {
    // SAFETY: native code waits, and uses nothing of them meanwhile; what it uses then is borrowed anew.
    let (host, context, common) = unsafe { (&mut *(*common).host.cast::<H>(), &mut *context, &mut *common) };
    // SAFETY: `Common::of` has made it of a reference that is held while the code runs.
    let code = unsafe { &*common.code.cast::<Code>() };
    match host.transfer(pc, left) {
        Transferred::No => 0,
        Transferred::Elsewhere(fewer) => {
            context.fewer += fewer;
            2
        }
        Transferred::On(fewer, placed) => {
            context.fewer += fewer;
            if context.run_on(common, code, placed) { 1 } else { 2 }
        }
    }
}

/// See [`Common::note`].
///
/// # Safety
/// As of [`plain`]; so many rows have been written, which there is room for.
unsafe extern "C" fn note<H: Host>(context: *mut Context, common: *mut Common, count: u32, _: LaneMask) -> u32 {
    // SAFETY: native code waits, and writes no more rows than its segments have, for which `Common::of` has made room.
    let (host, warp, rows) = unsafe {
        let rows = std::slice::from_raw_parts((*common).rows, count as usize);
        (&mut *(*common).host.cast::<H>(), (*context).warp, rows)
    };
    u32::from(host.note(warp, rows))
}

/// See [`super::context::Locate`].
///
/// # Safety
/// As of [`plain`]; there is a site of that number.
unsafe extern "C" fn locate<H: Host>(common: *mut Common, site: u32, address: u64, bytes: u64, unit: u32) -> u32 {
    // SAFETY: native code waits, and uses nothing of it meanwhile.
    let host = unsafe { &mut *(*common).host.cast::<H>() };
    // SAFETY: as above.
    let part = unsafe { (*common).part } != 0;
    let Some((begin, place, len)) = host.block((part, site), address, bytes, unit) else { return 0 };
    if address.wrapping_sub(begin) & u64::from(unit - 1) != 0 {
        return 0;
    }
    let Some(more) = len.checked_sub(bytes) else { return 0 };
    let count = (more >> unit.trailing_zeros()) + 1;
    let found = Site { address: begin, count, shift: (place as u64).wrapping_sub(begin) };
    // SAFETY: native code knows the numbers of its sites only.
    unsafe { *(*common).sites.add(site as usize) = found };
    1
}
