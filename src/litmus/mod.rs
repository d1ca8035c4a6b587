//! Layer 9: litmus files, and programs for the machine made of them.
//!
//! Knows nothing of how messages look (`report`), nor of the command line.
