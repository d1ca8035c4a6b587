//! The kernels of a program.

use super::terminal::{Text, inline};
use crate::program::env::ProgEnv;

/// A line for each kernel: the file, the architecture, the kernel with the types of its parameters.
#[must_use]
pub fn kernels(name: &str, env: &ProgEnv) -> Text {
    let entries = env.functions.values().filter(|f| f.entry && f.defined);
    let line = |f: &crate::program::env::Function| {
        let types: Vec<&str> = f.params.iter().map(|p| p.ty.as_str()).collect();
        format!("{}: sm_{}: {}({})\n", inline(name), env.target.sm, inline(&f.name), types.join(", "))
    };
    entries.map(line).collect::<String>().into()
}
