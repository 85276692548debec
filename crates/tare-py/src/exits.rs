//! Exits.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

use crate::error::{closed, raise};
use crate::process::Process;

/// The last reading of a thread or process that ended.
#[pyclass(module = "tare._probe", frozen, get_all)]
pub(crate) struct Exit {
    process: Process,
    last_of_group: bool,
    ended_ns: u64,
    exit_code: i32,
}

/// Records every task that ends, from `Probe.listen()` until `stop()`.
#[pyclass(module = "tare._probe", frozen)]
pub(crate) struct ExitListener {
    how: &'static str,
    inner: Mutex<Inner>,
}

struct Inner {
    listener: Option<tare_probe::probe::ExitListener>,
    /// What the counts were when it was stopped.
    lost: u64,
    births: Option<u64>,
}

impl ExitListener {
    pub(crate) fn new(listener: tare_probe::probe::ExitListener) -> Self {
        let inner = Inner { listener: Some(listener), lost: 0, births: None };
        Self { how: inner.listener.as_ref().map_or("", |l| l.how), inner: Mutex::new(inner) }
    }

    fn with<T: Send>(&self, py: Python<'_>, act: impl FnOnce(&mut Inner) -> T + Send) -> T {
        py.detach(|| act(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl ExitListener {
    #[getter]
    fn how(&self) -> &'static str {
        self.how
    }

    /// The records so far, oldest first; each is handed out once.
    fn drain(&self, py: Python<'_>) -> PyResult<Vec<Exit>> {
        self.with(py, |inner| match &mut inner.listener {
            Some(listener) => listener.drain().map_err(raise),
            None => Err(closed("exit listener")),
        })
        .map(|exits| exits.into_iter().map(Exit::from).collect())
    }

    /// Records known to be lost since the start.
    fn lost(&self, py: Python<'_>) -> u64 {
        self.with(py, |inner| inner.listener.as_ref().map_or(inner.lost, |listener| listener.lost()))
    }

    /// Tasks (threads too) that were born since the start; None if not counted.
    fn births(&self, py: Python<'_>) -> Option<u64> {
        self.with(py, |inner| inner.listener.as_ref().map_or(inner.births, |listener| listener.births()))
    }

    fn stop(&self, py: Python<'_>) {
        self.with(py, |inner| {
            if let Some(listener) = inner.listener.take() {
                (inner.lost, inner.births) = (listener.lost(), listener.births());
            }
        });
    }
}

impl From<tare_probe::exit::Exit> for Exit {
    fn from(exit: tare_probe::exit::Exit) -> Self {
        let tare_probe::exit::Exit { process, last_of_group, ended_ns, exit_code } = exit;
        Self { process: process.into(), last_of_group, ended_ns, exit_code }
    }
}
