//! The probe itself.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

use crate::error::{closed, raise};
use crate::exits::ExitListener;
use crate::machine::Machine;
use crate::snapshot::Snapshot;
use crate::timeline::Follower;

/// One tier (or one capability) tried at start.
#[pyclass(module = "tare._probe", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct Attempt {
    name: &'static str,
    works: bool,
    reason: String,
    next_step: String,
}

/// Reads the kernel through the best tier that works for this user.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct Probe {
    #[pyo3(get)]
    tier: &'static str,
    #[pyo3(get)]
    attempts: Vec<Attempt>,
    inner: Mutex<Option<tare_probe::probe::Probe>>,
}

impl Probe {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut tare_probe::probe::Probe) -> tare_probe::Result<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            act(inner.as_mut().ok_or_else(|| closed("probe"))?).map_err(raise)
        })
    }
}

#[pymethods]
impl Probe {
    #[new]
    #[pyo3(signature = (tier=None))]
    fn new(py: Python<'_>, tier: Option<String>) -> PyResult<Self> {
        let probe = py.detach(|| tare_probe::probe::Probe::open(tier.as_deref())).map_err(raise)?;
        let attempts = probe.attempts.iter().cloned().map(Attempt::from).collect();
        Ok(Self { tier: probe.tier, attempts, inner: Mutex::new(Some(probe)) })
    }

    #[pyo3(signature = (threads_of=vec![]))]
    fn processes(&self, py: Python<'_>, threads_of: Vec<i32>) -> PyResult<Snapshot> {
        self.with(py, |probe| probe.processes(&threads_of)).map(|inner| Snapshot { inner })
    }

    fn machine(&self, py: Python<'_>) -> PyResult<Machine> {
        self.with(py, tare_probe::probe::Probe::machine).map(|inner| Machine { inner })
    }

    /// Raises ProbeError in the procfs tier.
    fn listen(&self, py: Python<'_>) -> PyResult<ExitListener> {
        self.with(py, |probe| probe.listen()).map(ExitListener::new)
    }

    /// Raises ProbeError outside the BPF tier.
    fn follow(&self, py: Python<'_>, tids: Vec<i32>) -> PyResult<Follower> {
        self.with(py, |probe| probe.follow(&tids)).map(Follower::new)
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.inner.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

impl From<tare_probe::probe::Attempt> for Attempt {
    fn from(tried: tare_probe::probe::Attempt) -> Self {
        let tare_probe::probe::Attempt { name, works, reason, next_step } = tried;
        Self { name, works, reason, next_step }
    }
}

/// kernel.task_delayacct; None where the kernel has none.
#[pyfunction]
pub(crate) fn delay_accounting(py: Python<'_>) -> Option<bool> {
    py.detach(tare_probe::delay::accounting)
}
