//! The instruction counter.

use pyo3::prelude::*;

use crate::error::raise;
use crate::held::Held;

/// User-mode instructions of processes, and of the children that `with_children` fork.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct Instructions {
    inner: Held<tare_probe::instructions::Instructions>,
}

#[pymethods]
impl Instructions {
    fn read(&self, py: Python<'_>) -> PyResult<u64> {
        self.inner.with(py, "instruction counter", |counter| counter.read())
    }

    fn close(&self, py: Python<'_>) {
        self.inner.let_go(py);
    }
}

/// Raises ProbeError where the CPU, the hypervisor or the rights give no counter.
#[pyfunction]
#[pyo3(signature = (pids, with_children=vec![]))]
pub(crate) fn count_instructions(
    py: Python<'_>,
    pids: Vec<i32>,
    with_children: Vec<i32>,
) -> PyResult<Instructions> {
    py.detach(|| tare_probe::instructions::Instructions::count(&pids, &with_children))
        .map(|counter| Instructions { inner: Held::new(counter) })
        .map_err(raise)
}
