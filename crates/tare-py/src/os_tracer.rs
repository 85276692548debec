//! Sums of what processes ask of their operating system.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tare_trace::os::{COUNTS, HISTOGRAMS, LOST, Level, Member, Scope, Snapshot};

use crate::error::raise;
use crate::held::Held;

/// Traces nodes from its creation until `stop()`.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct OsTracer {
    inner: Held<tare_trace::OsTracer>,
}

#[pymethods]
impl OsTracer {
    #[new]
    fn new(
        py: Python<'_>,
        processes: Vec<(u32, u32)>,
        namespaces: Vec<(u32, u32)>,
        level: &str,
    ) -> PyResult<Self> {
        let level = match level {
            "light" => Level::Light,
            "full" => Level::Full,
            "messages" => Level::Messages,
            other => return Err(PyValueError::new_err(format!("no level {other}"))),
        };
        let member = |node, scope| Member { node, scope };
        let members: Vec<_> = processes
            .into_iter()
            .map(|(node, id)| member(node, Scope::Process(id)))
            .chain(namespaces.into_iter().map(|(node, id)| member(node, Scope::Namespace(id))))
            .collect();
        let tracer = py.detach(|| tare_trace::OsTracer::start(&members, level)).map_err(raise)?;
        Ok(Self { inner: Held::new(tracer) })
    }

    fn add(&self, py: Python<'_>, processes: Vec<(u32, u32)>) -> PyResult<()> {
        let members: Vec<_> =
            processes.into_iter().map(|(node, id)| Member { node, scope: Scope::Process(id) }).collect();
        self.inner.with(py, "trace", |tracer| tracer.add(&members))
    }

    fn snapshot(&self, py: Python<'_>) -> PyResult<OsSnapshot> {
        self.inner.with(py, "trace", |tracer| tracer.snapshot()).map(|inner| OsSnapshot { inner })
    }

    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.with(py, "trace", |tracer| Ok(tracer.messages()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn stop(&self, py: Python<'_>) {
        self.inner.let_go(py);
    }
}

/// All sums up to one moment.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct OsSnapshot {
    inner: Snapshot,
}

type CallRow = (u32, u32, u32, u64, u64, u64, [u64; 5]);

#[pymethods]
impl OsSnapshot {
    #[getter]
    fn at_ns(&self) -> u64 {
        self.inner.at_ns
    }

    fn calls(&self) -> Vec<CallRow> {
        let rows = self.inner.calls.iter();
        rows.map(|sum| (sum.node, sum.tgid, sum.call, sum.count, sum.errors, sum.bytes, sum.spent_ns))
            .collect()
    }

    fn counts(&self) -> Vec<(u32, u32, BTreeMap<&'static str, u64>)> {
        let rows = self.inner.sums.iter();
        rows.map(|sum| (sum.node, sum.tgid, COUNTS.into_iter().zip(sum.counts).collect())).collect()
    }

    fn processes(&self) -> Vec<(u32, u32, &str, &str)> {
        let rows = self.inner.processes.iter();
        rows.map(|process| (process.node, process.tgid, &*process.name, &*process.title)).collect()
    }

    fn histograms(&self) -> Vec<(u32, u32, &'static str, Vec<u64>)> {
        let rows = self.inner.histograms.iter();
        rows.filter_map(|row| {
            let name = HISTOGRAMS.get(row.kind as usize)?;
            Some((row.node, row.tgid, *name, row.slots.clone()))
        })
        .collect()
    }

    fn activities(&self) -> Vec<(u32, u64, u64)> {
        self.inner.activities.iter().map(|row| (row.node, row.io_ns, row.busy_ns)).collect()
    }

    #[getter]
    fn lost(&self) -> BTreeMap<&'static str, u64> {
        LOST.into_iter().zip(self.inner.lost).collect()
    }

    fn programs(&self) -> Vec<(&'static str, u64, u64, u64)> {
        let rows = self.inner.programs.iter();
        rows.map(|runs| (runs.name, runs.count, runs.ns, runs.passed_over)).collect()
    }
}
