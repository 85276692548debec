//! The instruction counter.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

use crate::error::{closed, raise};

/// User-mode instructions of processes, and of the children that `with_children` fork.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct Instructions {
    inner: Mutex<Option<tare_probe::instructions::Instructions>>,
}

#[pymethods]
impl Instructions {
    fn read(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| {
            let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.as_ref().ok_or_else(|| closed("instruction counter"))?.read().map_err(raise)
        })
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.inner.lock().unwrap_or_else(PoisonError::into_inner).take()));
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
        .map(|counter| Instructions { inner: Mutex::new(Some(counter)) })
        .map_err(raise)
}
