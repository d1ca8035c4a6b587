//! What a kernel's functions are compiled into, and the small functions that they call.

use super::context::Common;
use super::emit::Setting;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlags, Signature, Type, types};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module};
use std::mem::offset_of;

/// Bytes of addresses that the functions of a kernel have: they call each other over two gigabytes at most, and where memory is
/// taken piece by piece, pieces may lie farther apart than that. What is not used takes no memory.
const ROOM: usize = 1 << 24;

/// What functions are compiled into. Code that can be left without need is for tests, which compile far more than they run: it is
/// verified, and its registers are allocated in one pass.
pub(super) fn module(setting: Setting) -> Result<JITModule, String> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("enable_verifier", if cfg!(debug_assertions) || setting.trips { "true" } else { "false" }),
        ("regalloc_algorithm", if setting.trips { "single_pass" } else { "backtracking" }),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
    ] {
        flags.set(name, value).map_err(|e| e.to_string())?;
    }
    let isa = cranelift_native::builder()?.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())?;
    let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
    builder.memory_provider(Box::new(ArenaMemoryProvider::new_with_size(ROOM).map_err(|e| e.to_string())?));
    Ok(JITModule::new(builder))
}

/// The parameters of [`super::context::Transfer`], of [`super::context::Plain`], and those of [`super::context::Locate`].
pub(super) const TRANSFER: [Type; 4] = [types::I64, types::I64, types::I32, types::I64];
pub(super) const PLAIN: [Type; 4] = [types::I64, types::I64, types::I32, types::I32];
const LOCATE: [Type; 5] = [types::I64, types::I32, types::I64, types::I64, types::I32];

pub(super) fn signature(module: &JITModule, parameters: &[Type], result: Option<Type>) -> Signature {
    let mut signature = module.make_signature();
    signature.params.extend(parameters.iter().map(|ty| AbiParam::new(*ty)));
    signature.returns.extend(result.map(AbiParam::new));
    signature
}

/// Compiles a function; gives its number.
pub(super) fn define(
    module: &mut JITModule,
    name: &str,
    context: &mut cranelift_codegen::Context,
) -> Result<FuncId, String> {
    let id = module.declare_function(name, Linkage::Local, &context.func.signature).map_err(|e| e.to_string())?;
    module.define_function(id, context).map_err(|e| format!("{e:?}"))?;
    module.clear_context(context);
    Ok(id)
}

/// Makes the function by way of which blocks of memory are looked up: it leaves all registers of its caller as they are, so that what
/// is seldom called costs nothing where it is not. What it finds is in [`Common::found`].
pub(super) fn look(module: &mut JITModule) -> Result<FuncId, String> {
    let mut context = module.make_context();
    context.func.signature = Signature { call_conv: CallConv::PreserveAll, ..signature(module, &LOCATE, None) };
    let locate = signature(module, &LOCATE, Some(types::I32));
    let locate = context.func.import_signature(locate);
    let mut around = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut context.func, &mut around);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let arguments = b.block_params(block).to_vec();
    let at = |field: usize| i32::try_from(field).unwrap_or(i32::MAX);
    let function = b.ins().load(types::I64, MemFlags::trusted(), arguments[0], at(offset_of!(Common, locate)));
    let call = b.ins().call_indirect(locate, function, &arguments);
    let found = b.inst_results(call)[0];
    b.ins().store(MemFlags::trusted(), found, arguments[0], at(offset_of!(Common, found)));
    b.ins().return_(&[]);
    b.seal_all_blocks();
    b.finalize();
    define(module, "look", &mut context)
}

/// `prefetcht1 [rdi]`, `prefetcht1 [rdi + 64]`, `ret`: the compiler has no such instruction.
const FETCH: [u8; 8] = [0x0f, 0x18, 0x17, 0x0f, 0x18, 0x57, 64, 0xc3];

/// Makes the function that has two lines of memory brought near, whatever is at the address; it changes nothing.
pub(super) fn fetch(module: &mut JITModule) -> Result<FuncId, String> {
    let signature = Signature { call_conv: CallConv::PreserveAll, ..signature(module, &[types::I64], None) };
    let id = module.declare_function("fetch", Linkage::Local, &signature).map_err(|e| e.to_string())?;
    module.define_function_bytes(id, 16, &FETCH, &[]).map_err(|e| e.to_string())?;
    Ok(id)
}
