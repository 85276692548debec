//! What the Linux kernel says of processes and of the machine, one file a source.
//!
//! Counters are cumulative and raw. Each interface is tried before it is used, and a refusal says why and
//! what to do about it.

#[cfg(feature = "bpf")]
pub mod bpf;
pub mod clock;
pub mod core_share;
pub mod delay;
pub mod error;
pub mod exit;
pub mod instructions;
pub mod machine;
pub mod page_cache;
mod poll;
pub mod probe;
pub mod process;
pub mod procfs;
pub mod snapshot;
pub mod split;
pub mod taskstats;
pub mod timeline;
pub mod title;

pub use error::{ProbeError, Result};
