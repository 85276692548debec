//! Snapshots.

use pyo3::prelude::*;

use crate::process::Process;

/// All processes at one moment. Opaque and cheap; rows are made on demand.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct Snapshot {
    pub(crate) inner: tare_probe::snapshot::Snapshot,
}

#[pymethods]
impl Snapshot {
    #[getter]
    fn started_ns(&self) -> u64 {
        self.inner.started_ns
    }

    #[getter]
    fn ended_ns(&self) -> u64 {
        self.inner.ended_ns
    }

    #[getter]
    fn tier(&self) -> &'static str {
        self.inner.tier
    }

    #[getter]
    fn vanished(&self) -> usize {
        self.inner.vanished
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn processes(&self, py: Python<'_>) -> Vec<Process> {
        py.detach(|| self.inner.processes().into_iter().map(Process::from).collect())
    }

    fn threads(&self, py: Python<'_>, tgid: i32) -> Vec<Process> {
        py.detach(|| self.inner.threads(tgid).into_iter().map(Process::from).collect())
    }
}
