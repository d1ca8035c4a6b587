//! Programs of OpenCL with remote-scope promotion, after Wickerson, Batty, Beckmann, Donaldson, "Remote-Scope Promotion: Clarified,
//! Rectified, and Verified" (OOPSLA 2015): one tree ([`Test`]) for its lists of lists of lists (section 2.2) and for the litmus
//! tests in OpenCL that its section 4 asks herd about. Both are read by [`parse`](super::parse()) and written by [`print()`].

mod print;
mod threads;
mod tree;

pub use print::print;
pub use threads::threads;
pub use tree::{
    Access, Expected, Form, Home, Location, MemoryOrder, MemoryScope, Operation, Region, Statement, Stmt, Test, Thread,
};
