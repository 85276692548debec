//! Recording a trace.

use tare_probe::Result;

use crate::recording::Recording;

/// Records what chosen processes do, their threads and the children they fork, and the machine's disk and CPUs.
pub struct Tracer {
    #[cfg(feature = "bpf")]
    inner: crate::bpf::Audit,
}

impl Tracer {
    /// Records from now on. `processes` are ids of processes, not of threads.
    #[cfg(feature = "bpf")]
    pub fn start(processes: &[i32]) -> Result<Self> {
        Ok(Self { inner: crate::bpf::Audit::start(processes)? })
    }

    /// Says why this build cannot.
    #[cfg(not(feature = "bpf"))]
    pub fn start(_processes: &[i32]) -> Result<Self> {
        Err(without_bpf())
    }

    /// Stops, and puts together what was recorded.
    #[cfg(feature = "bpf")]
    pub fn finish(self) -> Result<Recording> {
        self.inner.finish().map(Recording::from)
    }

    /// Never called: there is no tracer in such a build.
    #[cfg(not(feature = "bpf"))]
    pub fn finish(self) -> Result<Recording> {
        Ok(crate::recording::Recorded::default().into())
    }
}

/// Why a build without BPF programs traces nothing.
#[cfg(not(feature = "bpf"))]
pub(crate) fn without_bpf() -> tare_probe::ProbeError {
    tare_probe::ProbeError::new(
        "this build has no BPF programs, so nothing can be traced",
        "install clang and the headers of libelf and zlib (Debian: clang libelf-dev zlib1g-dev), then install the \
         package again",
    )
}
