//! The device (report, 5.8): contexts, and the messages between them and the host.

mod fingerprint;
mod handle;
pub mod message;
mod repeats;
mod run;
pub mod state;
mod unnoticed;

pub use unnoticed::Unnoticed;
