//! Programs of OpenCL with remote-scope promotion, after Wickerson, Batty, Beckmann, Donaldson, "Remote-Scope Promotion: Clarified,
//! Rectified, and Verified" (OOPSLA 2015): one tree ([`Test`]) for its lists of lists of lists (section 2.2) and for the litmus
//! tests in OpenCL that its section 4 asks herd about. Both are read by [`parse`](super::parse()) and written by [`print()`].

mod access;
mod functions;
mod print;
mod threads;
mod tree;

pub use access::{Access, Home, MemoryOrder, MemoryScope, Region};
pub(super) use functions::{Does, LISTS, OPENCL, functions};
pub use print::print;
pub use threads::threads;
pub use tree::{Expected, Form, Location, Operation, Statement, Stmt, Test, Thread};
