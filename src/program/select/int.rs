//! Selection of integer operations.
