//! What runs, searches and checks do, and the house rules.

mod affine;
mod ahead;
mod alive;
mod bench;
mod caches;
mod circles;
mod clusters;
mod conversions;
mod copies;
mod examples_observed;
mod foreseen;
mod hardware;
mod house;
mod injection;
mod interleavings;
mod lanes;
mod launch;
mod lockstep;
mod lockstep_mechanism;
mod lockstep_ptx;
mod mbarriers;
mod meetings;
mod mutations;
mod native;
mod native_checks;
mod native_runs;
mod programs;
mod programs_world;
mod progress;
mod races;
mod rsp_machine;
mod rsp_ptx;
mod schedules;
mod schedules_world;
mod scripts;
mod space;
mod spaces;
mod symmetry;
mod tensor;
mod texture;
mod threads;
mod triton;
mod video;
mod walk;
mod warp_size;

#[path = "shared/ahead_programs.rs"]
mod ahead_programs;
#[path = "shared/claims.rs"]
mod claims;
#[path = "shared/ends.rs"]
mod ends;
#[path = "shared/launches.rs"]
mod examples;
#[path = "shared/native_functions.rs"]
mod native_functions;
#[path = "shared/native_groups.rs"]
mod native_groups;
#[path = "shared/native_modes.rs"]
mod native_modes;
#[path = "shared/native_programs.rs"]
mod native_programs;
#[path = "shared/reference.rs"]
mod reference;
#[path = "shared/small.rs"]
mod small;
