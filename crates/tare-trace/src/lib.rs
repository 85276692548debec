//! Kernel traces of chosen processes, and what they say where time went.
//!
//! A trace is recorded as events and judged afterwards: `Tracer` records, `Recording` reduces. Nothing of the
//! reduction needs BPF. A trace that contradicts itself or the kernel's own counts says so, and where.

#[cfg(feature = "bpf")]
mod bpf;
pub mod disk;
pub mod event;
pub mod os;
pub mod os_tracer;
pub mod processor;
pub mod recording;
pub mod spans;
pub mod thread;
pub mod tracer;

pub use os_tracer::OsTracer;
pub use recording::{Recording, Weighed};
pub use tracer::Tracer;
