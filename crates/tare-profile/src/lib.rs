//! Which functions a transaction's time goes to.
//!
//! `image` reads a binary: functions, calls, heights. A `backend` puts probes on functions and hands over what threads
//! did, as records. `recording` keeps them in a file as they come. `transactions` makes of them intervals, call paths
//! and times, which add up to the nanosecond. What the times say is for the analysis above, which is not in Rust.

pub mod agent;
pub mod annotation;
#[cfg(feature = "bpf")]
pub mod attach;
pub mod backend;
pub mod burst;
mod detail;
pub mod image;
mod maps;
pub mod profile;
pub mod recording;
pub mod rules;
pub mod transactions;
pub mod xray;

pub use tare_probe::{ProbeError, Result};
