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

/// Why a build without BPF programs traces nothing.
#[cfg(not(feature = "bpf"))]
fn no_programs() -> tare_probe::ProbeError {
    tare_probe::ProbeError::new(
        "this build has no BPF programs, so nothing can be traced",
        "install clang and the headers of libelf and zlib (Debian: clang libelf-dev zlib1g-dev), then install the \
         package again",
    )
}
