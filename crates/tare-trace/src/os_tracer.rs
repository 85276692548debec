//! Counting what processes ask of the kernel.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use tare_probe::Result;

use crate::os::{Level, Snapshot};

/// Counts what processes, their threads and the children they fork ask of the kernel.
pub struct OsTracer {
    #[cfg(feature = "bpf")]
    inner: crate::bpf::Os,
}

impl OsTracer {
    /// Counts from now on. `nodes`: ids of processes, node by node.
    #[cfg(feature = "bpf")]
    pub fn start(level: Level, nodes: &[Vec<i32>]) -> Result<Self> {
        Ok(Self { inner: crate::bpf::Os::start(level, nodes)? })
    }

    /// Says why this build cannot.
    #[cfg(not(feature = "bpf"))]
    pub fn start(_level: Level, _nodes: &[Vec<i32>]) -> Result<Self> {
        Err(crate::tracer::without_bpf())
    }

    /// Why the kernel refuses a part.
    pub fn absent(&self) -> BTreeMap<&'static str, String> {
        #[cfg(feature = "bpf")]
        return self.inner.absent.clone();
        #[cfg(not(feature = "bpf"))]
        BTreeMap::new()
    }

    /// All counts now. Waits at most for `patience` until the requests submitted since the snapshot before are done.
    pub fn snapshot(&mut self, patience: Duration) -> Result<Snapshot> {
        #[cfg(feature = "bpf")]
        return self.inner.snapshot(patience);
        #[cfg(not(feature = "bpf"))]
        {
            let _ = patience;
            Ok(Snapshot::default())
        }
    }
}

impl fmt::Debug for OsTracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OsTracer").finish_non_exhaustive()
    }
}
