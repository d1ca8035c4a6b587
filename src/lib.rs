//! warpstep
