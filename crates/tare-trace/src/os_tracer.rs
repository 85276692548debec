//! Tracing what nodes ask of their operating system.

use tare_probe::Result;

use crate::os::{Level, Member, Snapshot};

/// Traces until it is dropped.
pub struct OsTracer {
    #[cfg(feature = "bpf")]
    inner: crate::bpf::Programs,
}

impl OsTracer {
    /// Traces from now on.
    #[cfg(feature = "bpf")]
    pub fn start(members: &[Member], level: Level) -> Result<Self> {
        Ok(Self { inner: crate::bpf::Programs::start(members, level)? })
    }

    /// Says why this build cannot.
    #[cfg(not(feature = "bpf"))]
    pub fn start(_members: &[Member], _level: Level) -> Result<Self> {
        Err(crate::no_programs())
    }

    /// Adds processes that were forked while the trace began, by parents that it did not know yet.
    #[cfg(feature = "bpf")]
    pub fn add(&mut self, members: &[Member]) -> Result<()> {
        self.inner.add(members)
    }

    /// Never called: there is no tracer in such a build.
    #[cfg(not(feature = "bpf"))]
    pub fn add(&mut self, _members: &[Member]) -> Result<()> {
        Ok(())
    }

    /// Accounts for all time up to now and returns the sums.
    #[cfg(feature = "bpf")]
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        self.inner.snapshot()
    }

    /// Never called: there is no tracer in such a build.
    #[cfg(not(feature = "bpf"))]
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        Ok(Snapshot::default())
    }

    /// Messages since the last call, oldest first for each CPU, `MESSAGE_BYTES` each: `struct message` of os.bpf.c.
    #[cfg(feature = "bpf")]
    pub fn messages(&mut self) -> Vec<u8> {
        self.inner.messages()
    }

    /// Never called: there is no tracer in such a build.
    #[cfg(not(feature = "bpf"))]
    pub fn messages(&mut self) -> Vec<u8> {
        Vec::new()
    }
}
