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
        Err(crate::no_programs())
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
