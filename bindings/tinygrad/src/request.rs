//! A launch as the mock asks for it: checked, and run.

use crate::bounds;
use crate::modules::module;
use crate::outcome::Failure;
use crate::process::Process;
use std::ffi::c_int;
use std::io::{Write, stdout};
use std::sync::Arc;
use warpstep::program::env::Param;
use warpstep::{Argument, HostMemory, Module};

/// What [`ptx_run`](crate::ptx_run) was called with.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Address of the text.
    pub source: u64,
    /// How many arguments there are.
    pub count: c_int,
    /// Address of the arguments.
    pub args: u64,
    /// Threads of a block.
    pub block: [c_int; 3],
    /// Blocks.
    pub grid: [c_int; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: c_int,
}

/// Bytes of a text at most.
const MOST_TEXT: u64 = 1 << 30;
/// Arguments at most: kernels have no more bytes of parameters than 32,764.
const MOST_ARGS: usize = 32_764;

impl Request {
    /// Runs the first kernel of the module.
    ///
    /// # Errors
    /// Something is wrong with the call or the text; the kernel did not come to its end.
    pub fn run(&self, process: Process) -> Result<(), Failure> {
        let module = module(&self.text(&process)?)?;
        if module.pointer_bytes() != 8 {
            return Err(Failure::input("the module has addresses of 32 bits, and this process has 64"));
        }
        let Some(name) = module.kernels().next() else {
            return Err(Failure::input("the module has no kernel"));
        };
        let [block, grid] = [sizes("block", self.block)?, sizes("grid", self.grid)?];
        let shared = u32::try_from(self.shared)
            .map_err(|_| Failure::input(format!("a block cannot have {} bytes of shared memory", self.shared)))?;
        let values = self.values(&process, &module, name)?;
        let mut kernel = module.kernel(name).block(block).grid(grid).shared(shared).host_memory(Arc::new(process));
        if let Some(time) = bounds::timeout()? {
            kernel = kernel.timeout(time);
        }
        if let Some(asked) = bounds::interrupts() {
            kernel = kernel.interrupt(asked);
        }
        let run = values.into_iter().fold(kernel, |kernel, value| kernel.arg(Argument::bytes(value))).run()?;
        // Nobody can be told that standard output is closed.
        let _ = stdout().write_all(&run.output).and_then(|()| stdout().flush());
        Ok(())
    }

    /// The text, which ends before the first zero byte.
    fn text(&self, process: &Process) -> Result<String, Failure> {
        /// Bytes that are read at once: a page has so many, so that no read goes on into one that is not there.
        const PAGE: u64 = 4096;
        let mut text = Vec::new();
        let mut at = self.source;
        loop {
            let old = text.len();
            let end = at.saturating_add(1).next_multiple_of(PAGE);
            text.resize(old + (end - at) as usize, 0);
            if self.source == 0 || text.len() as u64 > MOST_TEXT || !process.read(at, &mut text[old..]) {
                let at = self.source;
                return Err(Failure::input(format!("no text of PTX, with a zero byte behind it, lies at {at:#x}")));
            }
            if let Some(zero) = text[old..].iter().position(|byte| *byte == 0) {
                text.truncate(old + zero);
                break;
            }
            at = end;
        }
        String::from_utf8(text).map_err(|error| Failure::input(format!("the text of PTX is not UTF-8: {error}")))
    }

    /// The arguments' values, each as wide as its parameter.
    fn values(&self, process: &Process, module: &Module, kernel: &str) -> Result<Vec<Vec<u8>>, Failure> {
        let parameters = module.parameters(kernel).unwrap_or(&[]);
        let count = usize::try_from(self.count).ok().filter(|count| *count <= MOST_ARGS);
        let Some(count) = count.filter(|count| *count == parameters.len()) else {
            let (given, wanted) = (self.count, parameters.len());
            return Err(Failure::input(format!(
                "kernel `{kernel}` has {wanted} parameters, and {given} arguments are given"
            )));
        };
        let mut entries = vec![0; count * 8];
        if count > 0 && !process.read(self.args, &mut entries) {
            let at = self.args;
            return Err(Failure::input(format!("there are no {count} arguments at {at:#x}")));
        }
        parameters.iter().zip(entries.chunks(8)).map(|(parameter, entry)| value(parameter, entry)).collect()
    }
}

/// The low bytes of an entry, as many as the parameter has.
fn value(parameter: &Param, entry: &[u8]) -> Result<Vec<u8>, Failure> {
    let Param { name, bytes, .. } = parameter;
    entry.get(..*bytes as usize).map(<[u8]>::to_vec).ok_or_else(|| {
        Failure::input(format!("parameter `{name}` has {bytes} bytes, and the entry of an argument has 8"))
    })
}

/// Sizes along three axes, all of them above 0.
fn sizes(what: &str, [x, y, z]: [c_int; 3]) -> Result<(u32, u32, u32), Failure> {
    match [x, y, z].map(|n| u32::try_from(n).ok().filter(|n| *n > 0)) {
        [Some(x), Some(y), Some(z)] => Ok((x, y, z)),
        _ => Err(Failure::input(format!("there is no {what} of {x} x {y} x {z}"))),
    }
}
