//! What people see of the command and of the library.

mod bounds_commands;
mod case;
mod cli;
mod consistency;
mod device;
mod exits;
mod fatbin;
mod golden;
mod help;
mod host;
mod internal;
mod left_out;
mod library;
mod library_addresses;
mod library_host;
mod library_module;
mod library_placed;
mod limits;
mod litmus_command;
mod litmus_compare;
mod litmus_extract;
mod litmus_kernels;
mod litmus_mixed;
mod litmus_syntax;
mod litmus_table7;
mod litmus_tool;
mod lsc_prove;
mod memenv;
mod memp;
mod native_commands;
mod prove;
mod readme;
mod reports;
mod rsp_prove;
mod rules;
mod shards;
mod suite;
mod threads_command;
mod undefined;

#[path = "case/folders.rs"]
mod folders;
#[path = "reports/schema.rs"]
mod schema;
